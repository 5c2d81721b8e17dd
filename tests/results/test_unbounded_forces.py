"""Forces of drivers at dead centers: told as unbounded where they are, and not where they stay.

A slider pushed through the dead center of its crank has there no arm about the crank's pin. A
weight across asks it for an infinite force; without one, and at even speed, the force stays small.
"""

import re
from pathlib import Path

import numpy as np
import pytest

import zwang as zw
from zwang.model_files.examples import example_path
from zwang.results.unbounded import unbounded_at
from zwang.view.report_tables import reactions

R, L, START = 0.3, 0.8, -0.5


def pushed(turn, g=0.0):
    """A crank and slider whose slider moves as an even crank angle `turn` asks; dead at 0."""
    m = zw.Mechanism(plane="xy", gravity=(0, -g))
    y = R * np.sin(START)
    tilt = -np.arcsin(y / L)
    pin = (R * np.cos(START), y)
    end = (pin[0] + L * np.cos(tilt), 0.0)
    crank = m.body("crank", mass=1.0, inertia=0.01, position=(pin[0] / 2, pin[1] / 2), angle=START)
    rod = m.body(
        "rod", mass=2.0, inertia=0.1, position=((pin[0] + end[0]) / 2, pin[1] / 2), angle=tilt
    )
    block = m.body("block", mass=3.0, inertia=0.1, position=end)
    m.revolute("foot", m.ground, crank, at=(0, 0))
    m.revolute("knee", crank, rod, at=pin)
    m.revolute("wrist", rod, block, at=end)
    m.prismatic("rail", m.ground, block, at=(0, 0), axis="x")

    def place(t):
        theta = turn(t)
        return R * np.cos(theta) + np.sqrt(L**2 - (R * np.sin(theta)) ** 2) - end[0]

    m.drive("push", "rail.displacement", place)
    return m


def even(t):
    return START + t


def quicker(t):
    return START + 0.8 * t + 0.2 * t**2


def test_a_weight_across_a_dead_center_asks_for_an_infinite_force():
    run = pushed(even, g=9.81).simulate(until=1.0, save=0.03)
    assert [r.lasting for r in run.ranks] == [False]
    (center,) = run.unbounded_forces
    assert center.drivers == ("push",)
    assert abs(center.t - 0.5) < 1e-4
    (note,) = [note for note in run.notes if "unbounded" in note]
    assert note.startswith("the force of driver push is unbounded at t = 0.5 s, and so are those")
    assert "a dead center" in note
    assert unbounded_at(run, "push.effort") == center.t
    assert unbounded_at(run, "foot.force.x") == center.t
    # Its speed is zero there, and its power finite; so is all that the motion alone decides.
    for name in ("push.power", "push.speed", "rod.omega", "energy"):
        assert unbounded_at(run, name) is None, name


def test_the_same_is_told_of_stored_and_repeated_runs(tmp_path):
    m = pushed(even, g=9.81)
    first, again = (m.simulate(until=1.0, save=0.03).notes for _ in range(2))
    kept = m.simulate(until=1.0, save=0.03, store=tmp_path / "a.run")
    assert first == again == kept.notes
    assert any("unbounded" in note for note in first)
    loaded = zw.load(tmp_path / "a.run", m)
    assert loaded.notes == first
    assert [c.drivers for c in loaded.unbounded_forces] == [("push",)]


@pytest.mark.parametrize("at", [0.0, -0.1])
def test_an_event_that_is_recorded_there_does_not_hide_it(at):
    """Users put events just there, where the slider turns back."""
    top = {"top": zw.event("foot.angle", at=at)}
    run = pushed(even, g=9.81).simulate(until=1.0, save=0.03, events=top)
    assert [p.drivers for p in run.unbounded_forces] == [("push",)]


def test_of_many_bodies_no_dense_equations_are_solved(monkeypatch):
    m, last = pushed(even, g=9.81), None
    for k in range(60):
        body = m.body(f"rod{k}", mass=0.1, inertia=0.01, position=(3, -0.5 - k))
        m.revolute(f"pin{k}", last or m.ground, body, at=(3, -k))
        last = body
    assert m.system.equations.by_elements is not None
    monkeypatch.setattr(zw.Run, "solutions", property(lambda _: pytest.fail("all of them")))
    run = m.simulate(until=1.0, save=0.05)
    assert [p.drivers for p in run.unbounded_forces] == [("push",)]


def test_an_acceleration_across_is_enough():
    run = pushed(quicker).simulate(until=0.9)
    assert [c.drivers for c in run.unbounded_forces] == [("push",)]


def test_many_unbounded_forces_are_told_of_once():
    run = pushed(lambda t: START + 4.0 * t, g=9.81).simulate(until=14.0, save=0.5)
    assert len(run.unbounded_forces) == 10
    (note,) = [note for note in run.notes if "unbounded" in note]
    assert "at t = 0.125 s and at 9 more of the first 10 such times" in note


def test_a_run_that_ends_at_a_singular_position_has_no_dead_center_there(tmp_path):
    """Its steps collapse there, and meet the position again and again."""
    text = example_path("four_bar").read_text(encoding="utf-8")
    longer = re.sub(r"(?m)^crank_length = .*$", "crank_length = 1.7", text)
    (tmp_path / "long.toml").write_text(longer, encoding="utf-8")
    run = zw.read_model(tmp_path / "long.toml").simulate(until=0.5, save=None)
    assert "a singular position: driver motor may ask" in run.status
    assert len(run.ranks) > 10
    assert run.unbounded_forces == ()


def test_without_a_load_across_the_force_stays_bounded():
    run = pushed(even).simulate(until=1.0, save=0.03)
    assert [r.lasting for r in run.ranks] == [False]
    assert "push" in run.ranks[0].names
    assert run.unbounded_forces == ()
    assert not any("unbounded" in note for note in run.notes)
    assert np.abs(run["push.effort"]).max() < 10.0


def door():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    leaf = m.body("leaf", mass=20.0, inertia=(1, 1, 1), position=(0.4, 0, 1))
    for name, height in (("low", 0.2), ("high", 1.8)):
        m.revolute(name, m.ground, leaf, at=(0, 0, height), axis="z")
    m.drive("closer", "low.angle", lambda t: t**2)
    return m


def parallelogram():
    """Two equal cranks and a rod as long as the ground: flat at t = 0.5, pushed through."""
    m = zw.Mechanism(plane="xy", gravity=(0, -9.81))
    a = 0.5
    tip = np.array([np.cos(a), np.sin(a)])
    one = m.body("one", mass=1.0, inertia=0.1, position=tip / 2, angle=a)
    two = m.body("two", mass=1.0, inertia=0.1, position=tip / 2 + (2, 0), angle=a)
    rod = m.body("rod", mass=1.0, inertia=0.3, position=tip + (1, 0))
    m.revolute("A", m.ground, one, at=(0, 0))
    m.revolute("B", m.ground, two, at=(2, 0))
    m.revolute("C", one, rod, at=tip)
    m.revolute("D", two, rod, at=tip + (2, 0))
    return m


def three_cranks():
    m = parallelogram()
    tip = np.array([np.cos(0.5), np.sin(0.5)])
    third = m.body("three", mass=1.0, inertia=0.1, position=tip / 2 + (1, 0), angle=0.5)
    m.revolute("E", m.ground, third, at=(1, 0))
    m.revolute("F", third, "rod", at=tip + (1, 0))
    return m


@pytest.mark.parametrize("make", [door, three_cranks])
def test_lasting_redundancy_is_no_singular_position(make):
    m = make()
    if make is not door:
        m.drive("motor", "A.angle", lambda t: -t)
    run = m.simulate(until=1.0, save=0.05)
    assert run.finished
    assert run.ranks
    assert run.unbounded_forces == ()
    assert not any("unbounded" in note for note in run.notes)


def growth(make, t, joint):
    """Sizes of a joint's force at a hundredth, a thousandth, … of a second before t."""
    times = t - 10.0 ** -np.arange(2.0, 6.0)
    run = make().simulate(until=t + 0.1, save=times, tolerance=1e-11, coordinates="absolute")
    return np.linalg.norm(run.reaction(joint).force, axis=1)


def test_a_driven_parallelogram_has_unbounded_forces_where_it_is_flat():
    def make():
        m = parallelogram()
        m.drive("motor", "A.angle", lambda t: -t)
        return m

    run = make().simulate(until=1.0, save=0.05)
    (position,) = run.unbounded_forces
    assert position.drivers == ()
    assert position.others == ("A", "B", "C", "D")
    assert abs(position.t - 0.5) < 1e-4
    (note,) = [note for note in run.notes if "unbounded" in note]
    assert note.startswith("the forces of A, B, C, D are unbounded at t = 0.5 s: ")
    assert "passes a singular position" in note
    assert unbounded_at(run, "C.force.x") == position.t
    assert unbounded_at(run, "motor.effort") is None
    sizes = growth(make, 0.5, "C")
    assert (sizes[1:] > 8.0 * sizes[:-1]).all()


def test_linkages_without_a_driver_have_marks_and_no_note():
    """Two parallelograms in a row that swing through their flat position."""
    run = zw.library.four_bars().simulate(until=1.0, save=0.05)
    (position,) = run.unbounded_forces
    assert run.notes == ("integrated in joint coordinates",)
    assert unbounded_at(run, "A1.force") == position.t
    assert unbounded_at(run, "energy") is None
    sizes = growth(zw.library.four_bars, position.t, "A1")
    assert sizes[-1] > 20.0 * sizes[-3]  # a hundred times from a thousandth of a second on


def test_one_parallelogram_by_itself_has_bounded_forces():
    """Its cranks turn alike, so that nothing loads the freedom that is gained."""
    run = parallelogram().simulate(until=2.0, save=0.05)
    assert run.ranks
    assert run.unbounded_forces == ()
    assert growth(parallelogram, run.ranks[0].t, "C")[:3].max() < 10.0


def test_tables_mark_what_is_unbounded():
    from zwang.results.channel_summary import summary_of, summary_table

    run = pushed(even, g=9.81).simulate(until=1.0, save=0.03)
    found = summary_of(run, ["push.effort", "push.power"])
    assert abs(found["push.effort"]["unbounded_at"] - 0.5) < 1e-4
    assert "unbounded_at" not in found["push.power"]
    text = summary_table(found)
    assert "push.effort †" in text
    assert "† Unbounded at t = 0.5 s" in text
    from zwang.view.report_tables import drivers, reactions

    force = drivers(run).split("force [N]")[1].split("</tr>")[0]
    assert force.count("unbounded") == 2
    assert "unbounded" in reactions(run, run)


def test_a_study_has_no_peak_of_an_unbounded_force(tmp_path):
    plan = {
        "list": {"crank.mass": [1.0]},
        "until": 1.0,
        "outputs": ["peak(push.effort)", "peak(push.power)", "end(push.effort)"],
    }
    told = {}
    for name, g in (("loaded", 9.81), ("free", 0.0)):
        study = zw.study(pushed(even, g=g), plan, output=tmp_path / f"{name}.zarr")
        told[name] = study.run(workers=1, progress=False).dataset
    loaded, free = told["loaded"], told["free"]
    assert np.isnan(loaded["peak(push.effort)"].item())
    assert "unbounded at t = 0.5 s" in str(loaded["reason"].values[0])
    assert 0.0 < free["peak(push.effort)"].item() < 10.0
    for data in (loaded, free):
        assert np.isfinite(data["peak(push.power)"].item())
        assert np.isfinite(data["end(push.effort)"].item())


def test_a_report_tells_the_force_of_a_joint_beside_an_unbounded_one():
    """Of 5e10 N next to a dead center a ten-thousand-millionth is 5 N: that is no rounding here."""
    m = pushed(even, g=9.81)
    light = m.body("light", mass=1e-3, inertia=1e-5, position=(3.0, 0.0))
    m.revolute("held", m.ground, light, at=(2.9, 0.0))
    run = m.simulate(until=1.0, save=[0.0, 0.3, 0.4, 0.5 - 1e-9, 0.6, 1.0])
    exact = np.linalg.norm(run["held.force"], axis=1).max()
    assert np.abs(run["foot.force"]).max() > 1e10 * exact
    row = re.search(r"<tr><td>held</td>.*?</tr>", reactions(run, run))[0]
    assert np.isclose(float(re.findall(r"<td class=n>(.*?)</td>", row)[0]), exact, rtol=1e-3)
    row = re.search(r"<tr><td>foot</td>.*?</tr>", reactions(run, run))[0]
    assert re.findall(r"<td class=n>(.*?)</td>", row)[::2] == ["unbounded", "0"]


@pytest.mark.parametrize("high", [91, 97, 100, 122])
def test_positions_that_are_passed_within_long_steps_are_placed_first(high):
    """A change of rank is known to a hundredth of a second there, and forces have their pole."""
    model = zw.read_model(Path(__file__).with_name("upright_lift.toml"))
    run = model.simulate(parameters={"high": np.radians(high)})
    (position,) = run.unbounded_forces
    low, u = np.radians(20), np.linspace(0.0, 1.0, 1_000_001)
    angle = low + (np.radians(high) - low) * u**3 * (10 - 15 * u + 6 * u**2)
    upright = 10.0 * np.interp(np.pi / 2, angle, u)
    assert abs(position.t - upright) < 1e-3
    assert unbounded_at(run, "track.force.z") == position.t
