"""Numbers of a study do not depend on which times of a channel it keeps besides them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studies.study_models import pendulum

import zwang as zw
from zwang.studies.reductions import REDUCTIONS

#: Samples are 10 ms apart in a swing of some 2 s: parabolas are that good.
PARABOLAS = 1e-6
OUTPUTS = ["most = peak(x)", "least = min(x)", "wide = range(x)", "level = mean(y)", "p = rms(x)"]


def swing(path: Path, **other: Any) -> Any:
    """What is kept of a pendulum that swings for 2 s."""
    plan = {
        "list": {"start.x_dot": [1.3]},
        "start": {"x": 0.0, "y": "-L"},
        "until": 2.0,
        "outputs": OUTPUTS,
        **other,
    }
    return zw.study(pendulum(), plan, output=path).run(workers=1, progress=False).dataset


#: Between the even samples, near one of them, and finer than they are.
@pytest.mark.parametrize("times", [11, 301, [0.3001, 0.36, 0.361], 2001])
def test_extremes_do_not_become_worse_by_times(times: Any, tmp_path: Path) -> None:
    alone = swing(tmp_path / "alone.zarr")
    beside = swing(tmp_path / "beside.zarr", times=times)
    for name in ("most", "least", "wide", "level", "p"):
        assert beside[name].item() == pytest.approx(alone[name].item(), rel=PARABOLAS), name


def test_no_state_that_is_kept_is_beyond_the_extreme(tmp_path: Path) -> None:
    data = swing(tmp_path / "kept.zarr", times=1999, outputs=["x", *OUTPUTS], resolution=21)
    kept = data["x"].values
    assert data["most"].item() >= np.abs(kept).max()
    assert data["least"].item() <= kept.min()
    assert data["wide"].item() >= np.ptp(kept)


def test_settling_is_when_the_band_is_last_entered() -> None:
    """Of 1 + e^(−t) cos 2πt: the last time at which it is 0.1 from 1, by bisection."""
    t = np.linspace(0.0, 8.0, 401)
    x = 1.0 + np.exp(-t) * np.cos(2.0 * np.pi * t)
    fine = np.linspace(0.0, 8.0, 4_000_001)
    expected = fine[np.exp(-fine) * np.abs(np.cos(2.0 * np.pi * fine)) > 0.1][-1]
    settled = REDUCTIONS["settling_time"].function
    assert settled(x[None], t, 1.0, 0.1)[0] == pytest.approx(expected, abs=1e-5)
    ended = np.where(t > 1.0, np.nan, x)
    rows = np.stack([x, ended, 1.0 + 0.0 * t, np.full_like(t, np.nan)])
    found = settled(rows, t, 1.0, 0.1)
    assert np.isnan(found[[1, 3]]).all()  # outside at its end; without values
    assert found[2] == 0.0


def test_settling_of_a_run_is_an_output_in_seconds(tmp_path: Path) -> None:
    """A cart on a spring and a damper, x = e^(−t) (1 + t): within 0.01 from t = 6.638352 on."""
    m = zw.Mechanism(plane="xz")
    cart = m.body("cart", mass=1.0, inertia=1.0)
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    m.actuator(
        "motor",
        "rail.displacement",
        lambda c: -c["rail.displacement"] - 2.0 * c["rail.displacement_rate"],
    )
    plan = {
        "list": {"start.rail.displacement": [1.0]},
        "until": 10.0,
        "outputs": ["settled = settling_time(rail.displacement, 0, 0.01)"],
    }
    data = zw.study(m, plan, output=tmp_path / "s.zarr").run(workers=1, progress=False).dataset
    assert data["settled"].attrs["units"] == "s"
    assert data["settled"].item() == pytest.approx(6.638352, abs=1e-5)
