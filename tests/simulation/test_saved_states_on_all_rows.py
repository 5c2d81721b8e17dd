"""Rows that act come close to losing rank where all rows do not: saved states meet all of them."""

from pathlib import Path

import numpy as np
import pytest

import zwang as zw
from zwang.simulation.all_rows import misses_a_row, on_all_rows

#: What saved states may miss a constraint by, relative: that of `verify`.
RESIDUAL = 1e-11


def bennett(
    a: float, b: float = 0.6, twist: float = np.pi / 3.0, angle: float = 1.745
) -> zw.Mechanism:
    """Bennett's linkage of two pairs of links, its closing angle from the condition of Bennett."""
    other = np.arcsin(b * np.sin(twist) / a)
    ratio = np.sin((other + twist) / 2) / np.sin((other - twist) / 2)
    second = 2.0 * np.arctan(ratio / np.tan(angle / 2))
    turns = (angle, second, -angle, -second)
    R, place = np.eye(3), np.zeros(3)
    places, axes = [place], [R[:, 2]]
    for turn, (length, tilt) in zip(turns, ((a, twist), (b, other)) * 2, strict=True):
        c, s, ct, st = np.cos(turn), np.sin(turn), np.cos(tilt), np.sin(tilt)
        R = R @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        place = place + length * R[:, 0]
        R = R @ np.array([[1, 0, 0], [0, ct, -st], [0, st, ct]])
        places.append(place)
        axes.append(R[:, 2])
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    bodies = [m.ground]
    for k, mass in enumerate((1.0, 1.5, 0.8)):
        along = places[k + 1] - places[k]
        inertia = zw.inertia.rod(mass, float(np.linalg.norm(along)), axis=along)
        bodies.append(m.body(f"link{k}", inertia=inertia, position=(places[k] + places[k + 1]) / 2))
    for k in range(4):
        pair = (bodies[k], bodies[k + 1]) if k < 3 else (m.ground, bodies[3])
        m.revolute(f"hinge{k}", *pair, at=places[k], axis=axes[k])
    return m


# Which rows act is a choice that rounding may make; these pass such a place on one machine.
@pytest.mark.parametrize(
    ("a", "coordinates"), [(0.95, "auto"), (0.75, "absolute"), (1.2, "absolute")]
)
def test_saved_states_meet_the_rows_that_do_not_act(
    a: float, coordinates: str, tmp_path: Path
) -> None:
    m = bennett(a)
    run = m.simulate(until=2.0, save=0.01, tolerance=1e-10, coordinates=coordinates)
    assert run.finished
    assert run.worst_residual < RESIDUAL
    assert np.isfinite(run.reaction("hinge1").force).all()
    run.save(tmp_path / "run")
    outcome = zw.verify(tmp_path / "run", m)
    assert outcome, str(outcome)


def test_states_that_miss_rows_are_put_on_all_of_them() -> None:
    m = bennett(0.9)
    equations = m.system.equations
    p = equations.parameter_vector({})
    run = m.simulate(until=0.5, save=0.1)
    y = np.hstack([run.q, run.v])
    same, off = on_all_rows(equations, y, run.t, p)
    assert same is y
    assert not off.any()
    moved = y.copy()
    moved[2, :3] += 1e-9
    moved[2, run.q.shape[1] :] += 1e-8
    back, off = on_all_rows(equations, moved, run.t, p)
    assert off.tolist() == [k == 2 for k in range(len(y))]
    assert not misses_a_row(equations, back, run.t, p)
    assert np.abs(back - moved).max() < 1e-6
    far = y.copy()
    far[2, -1] += 1e-2  # a contradiction, not an interpolated state: left for others to say
    np.testing.assert_array_equal(on_all_rows(equations, far, run.t, p)[0], far)


def test_a_repeated_run_and_one_in_company_are_the_same() -> None:
    m = bennett(0.9)
    start = m.assemble()
    how = {"until": 2.0, "save": 0.01, "tolerance": 1e-10, "integrator": "order8"}
    first, again = (m.simulate(start, **how) for _ in range(2))
    np.testing.assert_array_equal(again.q, first.q)
    np.testing.assert_array_equal(again.v, first.v)
    many = m.simulate_many(np.array([start.q] * 3), np.array([start.v] * 3), **how)
    for run in many:
        np.testing.assert_array_equal(run.v, first.v)
    assert not misses_a_row(
        m.system.equations,
        np.hstack([first.q, first.v]),
        first.t,
        m.system.equations.parameter_vector({}),
    )


def turntable(speed: float = np.pi / 4, length: float = 1.0, angle: float = 0.0) -> zw.Mechanism:
    """A plank on two ball joints of a turntable: the equation that follows from the others turns.

    The table turns evenly, and steps are long: they reach over the place where the equations that
    were chosen at the start do not hold the plank.
    """
    end = length / 2 * np.array([np.cos(angle), np.sin(angle), 0.0])
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    disk = m.body("disk", inertia=zw.inertia.cylinder(5.0, 0.6, 0.05))
    plank = m.body("plank", inertia=zw.inertia.box(2.0, (1.0, 0.2, 0.02)), position=(0, 0, 0.1))
    m.revolute("axle", m.ground, disk, at=(0, 0, 0), axis="z")
    m.drive("motor", "axle.angle", lambda t: speed * t)
    m.spherical("left", disk, plank, at=[0, 0, 0.1] - end)
    m.spherical("right", disk, plank, at=[0, 0, 0.1] + end)
    return m


@pytest.mark.parametrize("until", [2.0, 3.0])
def test_rows_that_lose_rank_within_a_long_step_do_not_end_a_motion(until):
    m = turntable()
    for save in (0.125, 1.0):
        run = m.simulate(until=until, save=save)
        assert run.finished, run.status
        spin = run.body("plank").angular_velocity
        np.testing.assert_allclose(spin, [[0.0, 0.0, np.pi / 4]] * len(run.t), atol=1e-9)
        assert run.worst_residual < 1e-10


@pytest.mark.parametrize("integrator", ["auto", "order5", "radau5"])
def test_a_stored_motion_saved_where_rows_lose_rank_is_right(integrator: str, tmp_path: Path):
    """At t = 2 s, between two steps, the rows that act do not hold the plank; all of them do."""
    m = turntable()
    run = m.simulate(until=3.0, save=1.0, integrator=integrator, store=tmp_path / "run")
    assert run.finished, run.status
    spin = run.body("plank").angular_velocity
    np.testing.assert_allclose(spin, [[0.0, 0.0, np.pi / 4]] * len(run.t), atol=1e-9)
    assert run.worst_residual < 1e-10
    outcome = zw.verify(tmp_path / "run", m)
    assert outcome, str(outcome)


def test_a_stored_motion_that_ends_where_rows_lose_rank_says_what_tells(tmp_path: Path):
    m = turntable(length=1.0162962010651728)
    run = m.simulate(until=4.0, save=0.1, integrator="gauss", store=tmp_path / "run")
    assert run.finished or 'coordinates="absolute" tells which' in run.status


def test_states_between_steps_that_end_on_all_rows_may_be_further_off() -> None:
    m = bennett(0.9)
    equations = m.system.equations
    p = equations.parameter_vector({})
    run = m.simulate(until=0.5, save=0.1)
    y = np.hstack([run.q, run.v])
    moved = y.copy()
    moved[2, run.q.shape[1] :] += 2e-5  # as an interpolant leaves them over a kink of friction
    np.testing.assert_array_equal(on_all_rows(equations, moved, run.t, p)[0], moved)
    back, off = on_all_rows(equations, moved, run.t, p, between=True)
    assert off[2]
    assert not misses_a_row(equations, back, run.t, p)
    assert np.abs(back - y)[2].max() < 1e-4
    far = y.copy()
    far[2, -1] += 1e-2
    np.testing.assert_array_equal(on_all_rows(equations, far, run.t, p, between=True)[0], far)
