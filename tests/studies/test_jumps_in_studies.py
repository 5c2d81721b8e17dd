"""Numbers of motions with jumps: at events and at switches in time nothing is interpolated."""

import numpy as np
import pytest
from tests import braked_cart

import zwang as zw
from zwang.model_files.read import model_of
from zwang.results.pieces import in_pieces
from zwang.studies.reductions import REDUCTIONS

CART = f'{braked_cart.CART}[simulation]\nuntil = "20 s"\n'
SWITCHED = CART[: CART.index("[event.brake]")] + CART[CART.index("[simulation]") :]
SWITCHED = SWITCHED.replace('"-c * rail', '"where(t > 3, -400, 0) * rail')
MASS, FORCE = 8.0, 400.0
OUTPUTS = [
    "peak(damper.effort)",
    "min(damper.effort)",
    "range(damper.effort)",
    "max(damper.power)",
    "integral(damper.power)",
    "mean(damper.effort)",
    "rms(damper.effort)",
    "first_crossing(damper.effort, -100)",
    "first_crossing(rail.displacement_rate, 0.5)",
]
EXACT = [
    FORCE,
    -FORCE,
    FORCE,
    0.0,
    -MASS / 2,
    -MASS / 20,
    np.sqrt(FORCE**2 * MASS / FORCE / 2 / 20),
    3.0,
    3.0 + np.log(2) * MASS / FORCE,
]
#: Simpson's rule on parts of steps, of what decays within a thousandth of the motion.
ALLOWED = 2e-4


@pytest.mark.parametrize("text", [CART, SWITCHED], ids=["event", "switch"])
def test_numbers_of_a_force_that_jumps(text, tmp_path):
    path = tmp_path / "cart.toml"
    path.write_text(text)
    plan = {"outputs": OUTPUTS, "list": {"cart.mass": [MASS]}}
    data = zw.study(path, plan, output=tmp_path / "a.zarr").run(workers=1, progress=False).dataset
    found = [float(data[name][0]) for name in OUTPUTS]
    np.testing.assert_allclose(found, EXACT, rtol=ALLOWED, atol=1e-6)


def test_peaks_at_even_samples_have_both_sides_of_an_event(tmp_path):
    """With a resolution, too, which has no sample at the event."""
    path = tmp_path / "cart.toml"
    path.write_text(CART)
    plan = {"outputs": OUTPUTS[:2], "list": {"cart.mass": [MASS]}, "resolution": 100}
    data = zw.study(path, plan, output=tmp_path / "a.zarr").run(workers=1, progress=False).dataset
    assert float(data[OUTPUTS[0]][0]) == pytest.approx(FORCE, rel=1e-9)
    assert float(data[OUTPUTS[1]][0]) == pytest.approx(-FORCE, rel=1e-9)


@pytest.mark.parametrize("text", [CART, SWITCHED], ids=["event", "switch"])
def test_pieces_end_on_either_side(text):
    model = model_of(text, "cart.toml", "cart")
    run, pieces = in_pieces(model.simulate(save=np.linspace(0.0, 20.0, 101)))
    before, after = pieces
    force = run["damper.effort"]
    assert run.t[before][-1] == pytest.approx(3.0) == run.t[after][0]
    assert not np.any(force[before])
    assert force[after][0] == pytest.approx(-FORCE)
    assert all(np.all(np.diff(run.t[piece]) > 0.0) for piece in pieces)


def test_a_jump_over_a_level_is_a_crossing_at_its_instant():
    t = np.linspace(0.0, 1.0, 5)
    pieces = [(np.zeros(5), t), (np.full(5, 2.0), t + 1.0), (np.full(5, -1.0), t + 2.0)]
    crossing = REDUCTIONS["first_crossing"]
    assert crossing.of_pieces(pieces, [1.0]) == 1.0
    assert crossing.of_pieces(pieces, [-0.5]) == 2.0
    assert np.isnan(crossing.of_pieces(pieces, [3.0]))
    settling = REDUCTIONS["settling_time"]
    assert settling.of_pieces(pieces, [-1.0, 0.5]) == 2.0
    assert settling.of_pieces(pieces[:2], [2.0, 0.5]) == 1.0
    assert np.isnan(settling.of_pieces(pieces, [0.0, 0.5]))
    assert settling.of_pieces(pieces, [0.0, 5.0]) == 0.0
    assert all(
        reduction.joined is not None
        for reduction in REDUCTIONS.values()
        if reduction.of in ("series", "energy")
    )
    assert REDUCTIONS["integral"].of_pieces(pieces) == pytest.approx(1.0)
    assert REDUCTIONS["mean"].of_pieces(pieces) == pytest.approx(1.0 / 3.0)
    assert REDUCTIONS["range"].of_pieces(pieces) == 3.0
