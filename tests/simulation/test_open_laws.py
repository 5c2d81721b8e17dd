"""Runs whose law of friction uses a reaction that redundant constraints leave open say so."""

from __future__ import annotations

import numpy as np
import pytest

import zwang as zw
from zwang.tracing.open_laws import OPEN


def block(extra, law=None, start=0.0):
    """A block on a floor, with further constraints and friction with the floor."""

    def friction(v, p, reaction):
        push = p.mu * abs(reaction.multipliers[0]) * np.tanh(v[0] / 1e-3)
        return -push * np.array([1.0, 0.0])

    return zw.System(
        ["x", "y"],
        parameters={"m": 3.0, "g": 9.81, "mu": 0.2, "push": start},
        mass=lambda p: p.m * np.eye(2),
        force=lambda p: [p.push, -p.m * p.g],
        constraints={"floor": zw.position(lambda q: q[1]), **extra},
        nonideal={"floor": law or friction},
    )


COPY = {"copy": zw.position(lambda q: q[1])}


def said(run):
    return [note for note in run.notes if OPEN in note]


@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_a_run_says_that_friction_on_a_floor_given_twice_is_not_determined(factor):
    system = block({"copy": zw.position(lambda q: factor * q[1])})
    (note,) = said(system.simulate([0, 0], [1.0, 0], until=0.3))
    assert "'floor'" in note
    assert "'copy'" not in note
    assert "not determined" in note
    assert "explain()" in note


def test_friction_on_one_floor_has_no_note():
    assert not said(block({}).simulate([0, 0], [1.0, 0], until=0.3))


def test_a_run_from_rest_says_it_though_friction_is_zero_there():
    system = block(COPY, start=20.0)
    assert not [note for note in system.solve([0, 0], [0.0, 0]).notes if OPEN in note]
    assert len(said(system.simulate([0, 0], [0.0, 0], until=0.3))) == 1


def test_friction_without_a_coefficient_or_of_both_floors_together_has_no_note():
    system = block(COPY)
    assert not said(system.simulate([0, 0], [1.0, 0], until=0.3, parameters={"mu": 0.0}))

    def half(v, p, reaction):
        push = p.mu * reaction.multipliers[0] * np.tanh(v[0] / 1e-3)
        return -push * np.array([1.0, 0.0])

    both = zw.System(
        ["x", "y"],
        parameters={"mu": 0.2},
        mass=lambda: np.eye(2),
        force=lambda: [0.0, -9.81],
        constraints={"floor": zw.position(lambda q: q[1]), **COPY},
        nonideal={"floor": half, "copy": half},
    )
    assert not said(both.simulate([0, 0], [1.0, 0], until=0.3))


@pytest.mark.parametrize("drift", ["projection", "baumgarte"])
def test_whatever_is_done_against_drift(drift):
    assert said(bricard(0.6).simulate(until=0.3, tolerance=1e-7, drift=drift))


def bricard(coefficient):
    m = zw.library.bricard()
    m.friction(m.system.constraints[0], coefficient=coefficient, radius=0.05, velocity=1e-2)
    return m


def test_ensembles_stored_runs_and_resumed_ones_say_it_too(tmp_path):
    system, path = block(COPY), tmp_path / "block.run"
    runs = system.simulate_many([[0, 0]] * 3, [[1.0, 0], [2.0, 0], [0.5, 0]], until=0.1)
    assert all(len(said(run)) == 1 for run in runs)
    assert not any(
        said(run) for run in block({}).simulate_many([[0, 0]] * 2, [[1.0, 0]] * 2, until=0.1)
    )
    (note,) = said(system.simulate([0, 0], [1.0, 0], until=0.1, store=path))
    assert said(zw.load(path, system)) == [note]
    assert said(zw.resume(path, system)) == [note]


def test_constraints_that_an_event_switches_on_are_looked_at():
    lands = zw.event(lambda q: q[0] - 0.05, then=zw.switch(on="copy"))
    events = {"lands": lands}
    system = block(COPY)
    alone = system.simulate([0, 0], [1.0, 0], until=0.04, inactive="copy", events=events)
    assert not said(alone)
    both = system.simulate([0, 0], [1.0, 0], until=0.2, inactive="copy", events=events)
    assert len(said(both)) == 1


def four_bar(ground, crank, coupler, rocker, coefficient, angle):
    """A four-bar in a plane that lies flat where the angle of its crank is zero, if it can."""
    m = zw.Mechanism(plane="xy", gravity=(0, -9.81))
    a = np.array([crank * np.cos(angle), crank * np.sin(angle)])
    to = np.array([ground, 0.0]) - a
    d = np.linalg.norm(to)
    along = (coupler**2 - rocker**2 + d * d) / (2 * d)
    across = np.sqrt(max(coupler**2 - along**2, 0.0))
    b = a + (along * to + across * np.array([-to[1], to[0]])) / d
    points = [np.zeros(2), a, b, np.array([ground, 0.0])]
    bars = []
    for name, p, q in zip("abc", points[:-1], points[1:], strict=True):
        turn = np.arctan2(*(q - p)[::-1])
        inertia = zw.inertia.rod(1.0, float(np.linalg.norm(q - p)), axis="x")
        bars.append(m.body(name, inertia=inertia, position=tuple((p + q) / 2), angle=turn))
    chain = [m.ground, *bars, m.ground]
    for k, point in enumerate(points):
        m.revolute(f"J{k}", chain[k], chain[k + 1], at=tuple(point))
    m.friction("J1", coefficient=coefficient, radius=0.02)
    return m


def test_a_singular_position_on_the_way_or_at_the_start_is_no_reason_for_a_note():
    m = four_bar(2.0, 1.0, 2.0, 1.0, 0.1, 0.0)  # a parallelogram, flat
    state = m.assemble(velocity={"hold": {"J0.angle_rate": 3.0, "J3.angle_rate": -3.0}})
    assert [note for note in m.solve(state).notes if OPEN in note]  # there it is left open
    run = m.simulate(state, until=0.5)
    assert run.finished
    assert not said(run)


def test_friction_in_the_hinges_of_a_door_is_noted_and_that_of_one_hinge_is_not():
    for hinges, notes in ((2, 1), (1, 0)):
        m = zw.library.door(hinges=hinges)
        m.friction(m.system.constraints[0], coefficient=0.1, radius=0.02)
        assert len(said(m.simulate(until=0.5))) == notes


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("choices", [{}, {"save": 1e-3}, {"largest_step": 0.005}])
def test_whether_it_is_said_does_not_depend_on_what_is_saved(choices, many):
    """A door that is at rest for long: at the first states that were looked at nothing rubs."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    inertia = np.diag([3.0, 4.0, 2.0])
    door = m.body("door", mass=20.0, inertia=inertia, position=(0.4, 0, 0))
    for name, z in (("low", -1), ("high", 1)):
        m.revolute(name, m.ground, door, at=(0, 0, z), axis="z")
    m.friction("low", coefficient=0.2, radius=0.02)
    m.actuator("push", "low.angle", lambda t: zw.where(t > 50, 8 * (1 - np.exp(50 - t)), 0.0))
    if many:
        runs = m.simulate_many([m.assemble().q] * 2, until=60.0, **choices)
    else:
        runs = [m.simulate(until=60.0, **choices)]
    assert all(len(said(run)) == 1 for run in runs)


def test_certificates_say_it():
    system = block(COPY)
    assert OPEN in str(system.certify([0, 0], [1.0, 0]))
    run = system.simulate([0, 0], [1.0, 0], until=0.3, certify=True)
    assert run.certificate.notes == tuple(said(run))
    assert OPEN in str(run.certificate)
    alone = block({}).simulate([0, 0], [1.0, 0], until=0.3, certify=True)
    assert OPEN not in str(alone.certificate)


def test_a_large_mechanism_says_it():
    for redundant in (True, False):
        m = zw.Mechanism(gravity=(0, 0, -9.81))
        for k in range(20):
            inertia = zw.inertia.box(2.0, (0.5, 0.1, 0.1))
            door = m.body(f"door_{k}", inertia=inertia, position=(0.25, k, 0))
            m.revolute(f"hinge_{k}", m.ground, door, at=(0, k, 0), axis="y")
            if redundant and k == 7:
                m.revolute("second", m.ground, door, at=(0, k, 0), axis="y")
            m.friction(f"hinge_{k}", coefficient=0.2, radius=0.05)
        assert m.system.equations.by_elements is not None
        notes = said(m.simulate(until=0.05))
        assert len(notes) == redundant
        assert not redundant or "'hinge_7'" in notes[0]
        assert not redundant or "'hinge_6'" not in notes[0]


@pytest.mark.parametrize("mast", [False, True])
def test_a_driver_against_friction_of_an_open_reaction_is_marked(mast, tmp_path):
    """The mast and the guide share a side load in any way, and friction in the guide by that."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    table = m.body("table", mass=10.0, inertia=(1, 1, 1), position=(0.3, 0, 1))
    m.prismatic("guide", m.ground, table, at=(0, 0, 1), axis="z")
    if mast:
        m.prismatic("mast", m.ground, table, at=(0.6, 0, 1), axis="z")
    m.friction("guide", coefficient=0.15, radius=0.1)
    m.force("side", table, lambda t: [50.0, 0.0, 0.0])
    m.drive("lift", "guide.displacement", lambda t: 0.1 * t)
    m.output("held", lambda c: c["lift.effort"] / 1000, unit="kN")
    run = m.simulate(until=0.5, save=0.1)
    assert bool(said(run)) is mast
    for name in ("lift.effort", "held", "guide.force", "guide.force.x"):
        assert run.channels.determinate(name) is not mast, name
    assert run.reaction("guide").determinate.all() == (not mast)
    assert run.channels.determinate("table.position")
    path = run.to_csv(tmp_path / "run.csv", ["lift.effort"], units=True)
    assert ("indeterminate" in path.read_text(encoding="utf-8")) is mast


def test_reports_and_studies_mark_it_too(tmp_path):
    """The spindle of a lift was called determinate there, and starred in tables."""
    from zwang.view.scene import statuses

    m = zw.Mechanism(gravity=(0, 0, -9.81))
    table = m.body("table", mass=10.0, inertia=(1, 1, 1), position=(0.3, 0, 1))
    for name, x in (("guide", 0.0), ("mast", 0.6)):
        m.prismatic(name, m.ground, table, at=(x, 0, 1), axis="z")
    m.friction("guide", coefficient=0.15, radius=0.1)
    m.force("side", table, lambda t: [50.0, 0.0, 0.0])
    m.drive("lift", "guide.displacement", lambda t: 0.1 * t)
    run = m.simulate(until=0.5, save=0.1)
    assert set(map(str, statuses(run).values())) == {"indeterminate"}
    plan = {"list": {"table.mass": [10.0]}, "until": 0.5, "outputs": ["peak(lift.effort)"]}
    study = zw.study(m, plan, output=tmp_path / "a.zarr").run(workers=1, progress=False)
    assert study.dataset["peak(lift.effort)"].attrs["determinate"] == 0
