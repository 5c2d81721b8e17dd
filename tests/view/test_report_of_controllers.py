"""Means of what a controller holds, and the controllers, in reports and summaries."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zwang as zw
from zwang.results import held_means
from zwang.results.channel_summary import summary_of, summary_table
from zwang.results.held_means import nodes_of
from zwang.results.resample import at_times
from zwang.results.run import Run
from zwang.view.report_tables import drivers, made_with, springs

#: The tables have four digits.
DIGITS = 5e-4


def arm(*, strut: bool = False) -> zw.Mechanism:
    m = zw.Mechanism(plane="xz", gravity=(0, -9.81), parameters={"torque": 0.0})
    rod = m.body("rod", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(0.5, 0))
    m.revolute("shoulder", m.ground, rod, at=(0, 0))
    m.actuator("motor", "shoulder.angle", lambda p: p.torque)
    if strut:
        m.spring_damper("strut", m.ground, rod, at=((0, 1), (1, 0)), damping=0.1)
    return m


def holding(sample: Any) -> dict[str, float]:
    angle, rate = sample["shoulder.angle"], sample["shoulder.angle_rate"]
    return {"torque": 10.0 * (0.5 - angle) - 2.0 * rate}


def damping(sample: Any) -> dict[str, float]:
    return {"strut.damping": 0.1 * (sample.number % 2)}


#: Saved at samples alone, beside them, and more rarely than they are.
@pytest.fixture(scope="module", params=[0.05, 0.03, 0.5])
def run(request: pytest.FixtureRequest) -> Run:
    controllers = {"hold": zw.controller(holding, 0.05), "damp": zw.controller(damping, 0.1)}
    return arm(strut=True).simulate(until=1.0, save=request.param, controllers=controllers)


def finely(run: Run, channel: str) -> np.ndarray:
    """A channel in the middle of ten thousand even intervals."""
    return at_times(run, (np.arange(10_000) + 0.5) / 10_000)[channel]


def cells(table: str) -> list[list[str]]:
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>.*?</tr>", table)]
    return [row for row in rows if row]


def number(cell: str) -> float:
    return float(cell.replace("\N{MINUS SIGN}", "-"))


def test_means_in_reports_are_those_over_time(run: Run) -> None:
    nodes = nodes_of(run, run.t)
    torque, _, power = cells(drivers(run, nodes))
    for row, channel in ((torque, "motor.torque"), (power, "motor.power")):
        fine = finely(run, channel)
        assert number(row[-2]) == pytest.approx(np.sqrt(np.mean(fine**2)), rel=DIGITS)
        assert number(row[-1]) == pytest.approx(np.mean(fine), rel=DIGITS)
    (strut,) = cells(springs(run, nodes))
    assert number(strut[-1]) == pytest.approx(np.mean(finely(run, "strut.force")), rel=DIGITS)


def test_mean_power_is_the_work_over_the_time() -> None:
    """Without a damper no other force than the weight does work."""
    m = arm()
    controllers = {"hold": zw.controller(holding, 0.05)}
    run = m.simulate(until=1.0, save=0.05, controllers=controllers)
    mean = summary_of(run, ["motor.power"])["motor.power"]["mean"]
    assert mean == pytest.approx(run.energy[-1] - run.energy[0], rel=1e-6)


def test_where_it_would_take_long_no_mean_is_told(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_means, "MOST_ENTRIES", 0)
    facts = summary_of(run, ["rod.x", "motor.torque"])
    assert np.isfinite(facts["rod.x"]["mean"])
    assert np.isnan(facts["motor.torque"]["mean"])
    assert "motor.torque" in summary_table(facts)
    torque, _, _ = cells(drivers(run, nodes_of(run, run.t)))
    assert torque[-2:] == ["–", "–"]


@pytest.mark.parametrize("stored", [False, True])
def test_reports_list_controllers_and_what_they_set(run: Run, stored: bool, tmp_path: Path) -> None:
    if stored:
        run.save(tmp_path / "run")
        run = zw.load(tmp_path / "run", arm(strut=True))
    text = made_with(run)
    assert ["torque", "set by a controller"] in cells(text)
    assert ["hold", "0.05", "0"] in cells(text)


def test_a_constant_that_a_controller_sets_is_none_that_was_given() -> None:
    m, law = arm(), zw.controller(lambda sample: {"torque": 10.0}, 0.05)
    run = m.simulate(until=0.2, save=0.1, controllers={"c": law})
    assert ["torque", "set by a controller"] in cells(made_with(run))
    assert ["torque", "0"] in cells(made_with(m.simulate(until=0.2, save=0.1)))
