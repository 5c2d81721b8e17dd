"""What a study says of itself: events that stopped its runs, units, and values beyond a scale."""

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zwang as zw
from zwang.studies.plots import BEYOND, color_scale

EVENTS = {"low": zw.event("pin.angle", "stop", at=-0.5)}


def swinging() -> zw.Mechanism:
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81), parameters={"k": 0.0})
    rod = m.body("rod", mass=1.0, inertia=1.0)
    m.revolute("pin", m.ground, rod, at=((0, 0), (1, 0)))
    m.actuator("spring", "pin.angle", lambda c, p: -p.k * c["pin.angle"])
    return m


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The first two of three rods come down to where an event stops them."""
    plan = {
        "list": {"k": [0.0, 1.0, 500.0]},
        "until": 1.0,
        "outputs": ["swing = peak(pin.angle) * 180 / pi", "rate = 30 / pi * peak(pin.angle_rate)"],
    }
    path = tmp_path_factory.mktemp("stopped") / "a.zarr"
    return zw.study(swinging(), plan, output=path, events=EVENTS).run(workers=1, progress=False)


def test_runs_that_an_event_stopped_say_so(study: Any, tmp_path: Path) -> None:
    reasons = [str(x) for x in study.dataset["reason"].values]
    for i in (0, 1):
        assert reasons[i] == study.run_of(i).status
        assert "by event 'low'" in reasons[i]
    assert reasons[2] == ""
    assert study.counts()["finished"] == 3
    assert study.failed == {}
    text = study.report(tmp_path / "a.html").read_text(encoding="utf-8")
    assert "3 finished; 2 of those that finished stopped by an event" in text
    assert "those that an event stopped are yellow" in text
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert data["status"] == ["stopped by event", "stopped by event", "finished"]
    assert data["reasons"] == {"0": reasons[0], "1": reasons[1]}


def test_a_study_without_its_events_is_not_of_another_model(study: Any) -> None:
    with pytest.raises(zw.ZwangError, match=r"with events 'low', and no events were given"):
        zw.open_study(study.path, swinging())
    other = swinging()
    other.body("more", mass=1.0, inertia=1.0, free=True)
    with pytest.raises(zw.ZwangError, match=r"is of another model"):
        zw.open_study(study.path, other, events=EVENTS)


def test_angles_that_are_converted_by_hand_have_their_unit(study: Any) -> None:
    units = {x.name: x.unit for x in study.outputs.variables()}
    assert units == {"swing": "deg", "rate": "rpm"}
    assert study.dataset["swing"].values[0] == pytest.approx(np.degrees(0.5))


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("180 / pi * max(pin.angle)", "deg"),
        ("max(pin.angle) / pi * 180", "deg"),
        ("max(pin.angle_rate) * 180 / pi", "deg/s"),
        # Of these it is not known, or they are none.
        ("max(pin.angle) * 57.3", ""),
        ("max(pin.angle) * k * 180 / pi", ""),
        ("180 / pi / max(pin.angle)", ""),
        ("event_time(low) * 180 / pi", ""),
        ("max(pin.angle) * 30 / pi", ""),
        ("180 / pi", ""),
    ],
)
def test_other_products_have_none(text: str, unit: str, tmp_path: Path) -> None:
    plan = {"list": {"k": [0.0]}, "until": 1.0, "outputs": [f"x = {text}"]}
    study = zw.study(swinging(), plan, output=tmp_path / "a.zarr", events=EVENTS)
    assert [x.unit for x in study.outputs.variables()] == [unit]


def test_an_outlier_leaves_the_colors_to_the_others(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib.colors import to_rgba

    k = np.append(np.linspace(0.0, 1.0, 29), 4000.0)
    plan = {
        "list": {"k": k, "start.pin.angle": np.linspace(0.1, 0.6, 30)},
        "until": 0.01,
        "outputs": ["size = 2 * k"],
    }
    study = zw.study(swinging(), plan, output=tmp_path / "a.zarr").run(workers=1, progress=False)
    assert color_scale(study.dataset["size"].values) == (
        0.0,
        2.0,
        "max",
        "1 value beyond the scale, to 8000",
    )
    figure = study.plot("size", kind="map")
    assert figure.axes[0].get_title() == "1 value beyond the scale, to 8000"
    drawn = figure.axes[0].collections[0]
    assert drawn.get_clim() == (0.0, 2.0)
    figure.savefig(io.BytesIO())
    assert tuple(drawn.get_facecolors()[-1]) == to_rgba(BEYOND)


def test_a_scale_without_outliers_is_that_of_all_values() -> None:
    whole = (None, None, "neither", "")
    random = np.random.default_rng(1)
    for values in (
        random.normal(size=400),
        random.exponential(size=400),
        np.ones(20),
        np.full(5, np.nan),
        np.repeat([0.0, 1.0, 1000.0], 10),  # of so many none is an outlier
        np.append(np.ones(20), 2.0),  # what is the same but for one value
    ):
        assert color_scale(values) == whole
    values = np.concatenate([np.linspace(0.0, 1.0, 50), [-90.0, 70.0]])
    assert color_scale(values) == (0.0, 1.0, "both", "2 values beyond the scale, to -90 and 70")
