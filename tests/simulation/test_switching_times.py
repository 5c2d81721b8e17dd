"""Forces and drivers that switch in time: steps end there, however short a pulse is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zwang as zw
from compiling import without_llvm
from zwang.integrators.settings import Settings
from zwang.simulation import switching_times
from zwang.simulation.notes import off_constraints_note

PUSH, LONG, UNTIL = 20.0, 0.05, 8.0
#: What a tolerance of 1e-9 may leave of a motion in pieces of constant acceleration, which every
#: method here integrates exactly, relative.
CLOSE = 1e-8


def pulse(t: Any, p: Any) -> list[Any]:
    return [zw.where((t > p.begin) & (t < p.begin + LONG), PUSH, 0.0)]


def mass(force: Any = pulse) -> zw.System:
    """A free mass of 1 kg with a force of time alone."""
    return zw.System(["x"], parameters={"begin": 3.0}, mass=lambda: [[1.0]], force=force)


def place(t: Any, begin: float = 3.0) -> Any:
    """Where a mass at rest is that the pulse has pushed."""
    during, after = np.clip(t - begin, 0.0, LONG), np.maximum(t - begin - LONG, 0.0)
    return PUSH * (0.5 * during**2 + LONG * after)


@pytest.fixture(scope="module")
def system() -> zw.System:
    return mass()


@pytest.mark.parametrize("method", ["auto", "order8", "order5", "radau5", "gauss"])
@pytest.mark.parametrize("save", [None, 0.5, [3.0, 3.05, 8.0]])
def test_a_short_pulse_is_not_stepped_over(system: zw.System, method: str, save: Any) -> None:
    run = system.simulate([0.0], until=UNTIL, integrator=method, save=save)
    assert run.finished
    assert run.counts.rejected == 0  # neither side sees the force of the other
    np.testing.assert_allclose(run["x"], place(run.t), rtol=CLOSE, atol=CLOSE)
    if save is not None:
        np.testing.assert_array_equal(run.t, np.arange(17) / 2 if save == 0.5 else save)
    assert abs(run.at(3.02).q[0] - place(3.02)) < CLOSE


def test_parameters_move_the_switch(system: zw.System) -> None:
    for begin in (5.5, 1.25, 9.0, 2.0):  # one of them after the end
        run = system.simulate([0.0], until=UNTIL, parameters={"begin": begin})
        assert run["x"][-1] == pytest.approx(place(UNTIL, begin), rel=CLOSE, abs=CLOSE)


def test_only_parameters_that_decide_a_switch_let_it_be_looked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A controller changes one at every sample; where the pulse begins is another."""
    looked: list[float] = []
    found = switching_times._found

    def counted(*arguments: Any) -> Any:
        looked.append(arguments[1])
        return found(*arguments)

    monkeypatch.setattr(switching_times, "_found", counted)
    system = zw.System(
        ["x"],
        parameters={"u": 0.0, "begin": 3.0},
        mass=lambda: [[1.0]],
        force=lambda t, p: [pulse(t, p)[0] + p.u],
    )
    law = zw.controller(lambda s: {"u": 0.1 * s.number}, 0.5)
    run = system.simulate([0.0], until=UNTIL, controllers={"motor": law})
    held = np.arange(16)  # 0.1 k N for half a second each
    moved = sum(0.1 * k * (0.125 + 0.5 * (UNTIL - 0.5 * (k + 1))) for k in held)
    assert run["x"][-1] == pytest.approx(place(UNTIL) + moved, rel=CLOSE)
    assert len(looked) == 1
    system.simulate([0.0], until=UNTIL, parameters={"begin": 5.5})
    assert len(looked) == 2


def test_trajectories_of_an_ensemble_switch_by_their_own_parameters(system: zw.System) -> None:
    begin = np.array([1.0, 3.0, 6.5])
    runs = system.simulate_many(
        np.zeros((3, 1)), until=UNTIL, parameters={"begin": begin}, save=[UNTIL]
    )
    found = [run["x"][-1] for run in runs]
    np.testing.assert_allclose(found, [place(UNTIL, b) for b in begin], rtol=CLOSE)


def test_a_stored_run_goes_on_to_the_same_bits(system: zw.System, tmp_path: Path) -> None:
    whole = system.simulate([0.0], until=UNTIL)
    calls = 0

    def interrupt(_: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        system.simulate(
            [0.0], until=UNTIL, store=tmp_path / "run", store_every=0.0, progress=interrupt
        )
    run = zw.resume(tmp_path / "run", system)
    np.testing.assert_array_equal(run.t, whole.t)
    np.testing.assert_array_equal(run.q, whole.q)
    assert zw.verify(tmp_path / "run", system).ok


def test_events_and_samples_at_a_switch_happen_once(system: zw.System) -> None:
    events = {"now": zw.event(lambda t: t - 3.0)}
    run = system.simulate([0.0], until=UNTIL, events=events)
    assert [e.t for e in run.events] == pytest.approx([3.0])
    assert run["x"][-1] == pytest.approx(place(UNTIL), rel=CLOSE)
    seen = []

    def law(sample: Any) -> dict[str, float]:
        seen.append(sample.t)
        return {}

    run = system.simulate([0.0], until=UNTIL, controllers={"c": zw.controller(law, 1.0)})
    assert seen == pytest.approx(list(range(8)))
    assert seen[3] == 3.0
    assert run["x"][-1] == pytest.approx(place(UNTIL), rel=CLOSE)


def test_periods_whole_numbers_and_kinks_are_found() -> None:
    def force(t: Any) -> list[Any]:
        short = zw.where(t % 1.0 < 1e-3, 1000.0, 0.0)
        return [short + np.floor(t) + np.maximum(t - 2.5, 0.0) + abs(t - 0.75)]

    run = zw.System(["x"], mass=lambda: [[1.0]], force=force).simulate([0.0], until=4.0)
    kinks = (4.0 - 2.5) ** 2 / 2 + (0.75**2 + 3.25**2) / 2
    assert run.v[-1, 0] == pytest.approx(4.0 + 6.0 + kinks, rel=CLOSE)
    assert without_llvm(run.notes) == ()
    assert len(run.segments) == 10  # until 0.001, 0.75, 1, 1.001, 2, 2.001, 2.5, 3, 3.001 and 4


def test_what_was_assumed_or_left_undone_is_said(system: zw.System) -> None:
    nonlinear = mass(lambda t: [zw.where((t - 3.0) * (t - 3.00001) < 0.0, 1e6, 0.0)])
    run = nonlinear.simulate([0.0], until=UNTIL)
    assert run.v[-1, 0] == pytest.approx(10.0, rel=1e-6)  # as long as 3.00001 − 3.0 is
    assert any("0.00195 s apart" in note for note in run.notes)
    often = mass(lambda t: [np.floor(1000.0 * t)]).simulate([0.0], until=UNTIL, save=[UNTIL])
    assert any("more than 1000 times" in note for note in often.notes)
    fixed = system.simulate([0.0], until=UNTIL, integrator="order8", step=0.5)
    assert any("first at t = 3 s" in note for note in fixed.notes)


def slider(way: Any) -> tuple[zw.Mechanism, Any]:
    mechanism = zw.Mechanism(plane="xz", parameters={"T": 2.5})
    block = mechanism.body("block", inertia=zw.inertia.box(1.0, (0.1, 0.1, 0.1)))
    mechanism.prismatic("rail", mechanism.ground, block, at=(0, 0), axis="x")
    mechanism.drive("motor", "rail.displacement", way)
    return mechanism, mechanism.assemble()


def test_a_driver_with_a_kink_stays_on_its_way() -> None:
    def way(t: Any, p: Any) -> Any:
        u = np.minimum(t / p.T, 1.0)
        return 0.4 * (10 * u**3 - 15 * u**4 + 6 * u**5)

    mechanism, start = slider(way)
    run = mechanism.simulate(start, until=4.0, tolerance=1e-5, save=0.05)
    u = np.minimum(run.t / 2.5, 1.0)
    exact = 0.4 * (10 * u**3 - 15 * u**4 + 6 * u**5)
    np.testing.assert_allclose(run["rail.displacement"], exact, atol=1e-12)
    assert len(run.segments) == 2


def test_a_driver_that_jumps_stops_the_run() -> None:
    mechanism, start = slider(lambda t: zw.where(t > 1.0, 0.1, 0.0))
    run = mechanism.simulate(start, until=4.0)
    assert not run.finished
    assert "t = 1 s" in run.status
    assert "may not jump" in run.status


def test_states_within_a_step_over_a_sharp_bend_of_a_driver_are_on_it() -> None:
    def way(t: Any, p: Any) -> Any:
        r = t / p.T - 1.0
        u = 1.0 + (r - np.sqrt(r * r + 1e-14)) / 2.0  # no comparison that could be seen
        return 30.0 * (10 * u**3 - 15 * u**4 + 6 * u**5)

    mechanism, start = slider(way)
    for tolerance in (1e-5, 1e-8):  # the interpolant was off by a meter, and by 19 cm
        run = mechanism.simulate(
            start, until=5.0, tolerance=tolerance, save=0.05, integrator="order8"
        )
        assert run.worst_residual < 1e-12
        assert without_llvm(run.notes) == ()


def test_saved_states_off_their_constraints_are_told() -> None:
    system = slider(lambda t: 0.1 * t)[0].system
    settings = Settings(until=1.0, tolerance=1e-9)
    q, v = system.mechanism.start
    t, y = np.zeros(2), np.tile(np.concatenate([q, v]), (2, 1))
    y[:, len(q)] = 0.1  # as fast as its driver
    p = system.parameter_vector(system.parameter_values())
    assert off_constraints_note(system.equations, settings, t, y, p) == ""
    y[1, 0] += 2.5e-3
    assert "by up to 0.0025" in off_constraints_note(system.equations, settings, t, y, p)


def test_a_driver_whose_speed_jumps_gives_an_impulse_and_says_so() -> None:
    mechanism, start = slider(lambda t: zw.where(t < 1.0, 0.2 * t, 0.5 * t - 0.3))
    run = mechanism.simulate(start, until=2.0, save=0.25)
    np.testing.assert_allclose(run["rail.displacement_rate"][[0, -1]], [0.2, 0.5], atol=1e-12)
    (note,) = [note for note in run.notes if "velocities change at once" in note]
    assert "t = 1 s" in note
    assert "from 0.2 to 0.5" in note
    assert run.work.impulses[-1] == pytest.approx((0.5**2 - 0.2**2) / 2)  # 1 kg


def test_a_bend_of_a_driver_is_no_jump() -> None:
    mechanism, start = slider(lambda t: zw.where(t < 1.0, t * t, 2.0 * t - 1.0))
    run = mechanism.simulate(start, until=2.0)
    assert len(run.segments) == 2
    assert not [note for note in run.notes if "at once" in note]
