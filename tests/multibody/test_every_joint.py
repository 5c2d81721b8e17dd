"""Every kind of joint, from one list: equations hold, energy and momentum are kept, bodies agree.

Two bodies hang together by the joint, in space and without ground: then linear and angular
momentum are kept besides energy, whatever the joint does.
"""

import numpy as np
import pytest

import zwang as zw
from zwang.multibody.joints import KINDS

TOLERANCE = 1e-10
#: Invariants over two seconds at that tolerance, relative to their size of about ten.
KEPT = 1e-7

#: Kinds with ground of their own sense, or whose force is not a pair of equal and opposite ones.
ON_GROUND = {"gear", "rack_and_pinion"}

ARGUMENTS = {
    "screw": {"pitch": 0.3},
    "universal": {"axis_b": (0.2, 0.9, 0.4)},
    "constant_velocity": {"axis_b": (0.2, 0.9, 0.4)},
    "spherical_link": {"at": ((0.3, 0.1, 0.0), (0.8, 0.5, 0.2))},
    "revolute_spherical_link": {"at": ((0.3, 0.1, 0.0), (0.8, 0.5, 0.2))},
    "rolling_sphere": {"radius": 0.3, "at": ((0.0, 0.0, 0.0), (1.2, 0.4, 0.31)), "axis": "z"},
    "rolling_disk": {
        "radius": 0.3,
        "at": ((0.0, 0.0, 0.0), (1.2, 0.4, 0.28)),
        "axis": "z",
        "axis_b": (0.9, 0.3, 0.2),
    },
    "knife_edge": {"axis": "z", "reference": "x"},
}


def pair(kind):
    """Two spinning bodies in space joined by a joint of one kind."""
    m = zw.Mechanism()
    a = m.body("a", mass=2.0, inertia=(0.5, 0.6, 0.7), angular_velocity=(0.3, -0.2, 0.5))
    b = m.body(
        "b",
        mass=1.0,
        inertia=(0.2, 0.3, 0.25),
        position=(1.2, 0.4, 0.3),
        velocity=(0.1, 0.3, -0.2),
        angular_velocity=(0.8, 0.4, -0.6),
    )
    given = {"at": (0.5, 0.3, 0.2), **ARGUMENTS.get(kind, {})}
    if KINDS[kind].axis:
        given.setdefault("axis", (0.3, 0.8, 0.5))
    if kind in ("spherical_link", "revolute_spherical_link"):
        given["length"] = float(np.linalg.norm(np.subtract(*given["at"])))
    m.joint(kind, "joint", a, b, **given)
    return m


def momenta(run):
    """Linear and angular momentum, shape (nt, 6)."""
    total = np.zeros((len(run.t), 6))
    for name, mass, J in (("a", 2.0, (0.5, 0.6, 0.7)), ("b", 1.0, (0.2, 0.3, 0.25))):
        body = run.body(name)
        R, w = body.rotation, body.angular_velocity
        spin = np.einsum("tij,j,tkj,tk->ti", R, np.array(J), R, w)
        total[:, :3] += mass * body.velocity
        total[:, 3:] += spin + mass * np.cross(body.position, body.velocity)
    return total


@pytest.mark.parametrize("kind", sorted(set(KINDS) - ON_GROUND))
def test_a_pair_of_bodies_keeps_energy_and_momentum(kind):
    m = pair(kind)
    run = m.simulate(until=2.0, tolerance=TOLERANCE, save=0.1)
    assert run.finished
    assert np.ptp(run.energy) < KEPT
    assert np.ptp(momenta(run), axis=0).max() < KEPT
    assert run.worst_residual < 1e-12


@pytest.mark.parametrize("kind", sorted(set(KINDS) - ON_GROUND))
def test_a_joint_does_no_work(kind):
    system = pair(kind).system
    state = system.assemble()
    s = system.solve(state)
    assert abs(s.constraint_force @ state.v) < 1e-12


#: Central differences over a millisecond of motions with rates of about one.
DIFFERENCE = 1e-5


@pytest.mark.parametrize("kind", [k for k in sorted(KINDS) if KINDS[k].coordinates])
def test_rates_of_joint_coordinates_are_their_derivatives(kind):
    run = pair(kind).simulate(until=0.5, tolerance=TOLERANCE, save=1e-3)
    for coordinate in KINDS[kind].coordinates:
        value, rate = run[f"joint.{coordinate}"], run[f"joint.{coordinate}_rate"]
        slope = (value[2:] - value[:-2]) / (run.t[2:] - run.t[:-2])
        assert np.abs(slope - rate[1:-1]).max() < DIFFERENCE


def test_angles_of_a_universal_joint_compose_to_its_rotation():
    run = pair("universal").simulate(until=1.0, tolerance=TOLERANCE, save=0.1)
    marker_a, marker_b = (getattr(run.system.parts.joints["joint"], s).axes for s in "ab")
    alpha, beta = run["joint.angle_a"], run["joint.angle_b"]
    for R_a, R_b, x, y in zip(
        run.body("a").rotation, run.body("b").rotation, alpha, beta, strict=True
    ):
        X = [[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]]
        Y = [[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]]
        found = (R_a @ marker_a).T @ R_b @ marker_b
        assert np.abs(found - np.array(X) @ np.array(Y)).max() < 1e-11


def test_gear_ties_the_rates():
    m = zw.Mechanism()
    a = m.body("a", mass=1.0, inertia=(0.1, 0.1, 0.2))
    b = m.body("b", mass=1.0, inertia=(0.1, 0.1, 0.05), position=(0.3, 0, 0))
    m.revolute("left", m.ground, a, at=(0, 0, 0), axis="z")
    m.revolute("right", m.ground, b, at=(0.3, 0, 0), axis="z")
    m.gear("teeth", a, b, axis="z", radius_a=0.2, radius_b=0.1)
    m.force("motor", a, torque=(0, 0, 1.0))
    run = m.simulate(until=3.0, save=0.5)
    # (J_a + J_b (r_a/r_b)²) θ̈ = 1
    expected = run.t**2 / 2.0 / (0.2 + 0.05 * 4.0)
    assert np.abs(run["left.angle"] - expected).max() < 1e-8
    assert np.abs(run["right.angle"] + 2.0 * expected).max() < 1e-8


@pytest.mark.parametrize("plane", [None, "xy"])
def test_rack_follows_its_pinion(plane):
    m = zw.Mechanism(plane=plane)
    a = m.body("a", mass=1.0, inertia=(0.1, 0.1, 0.2))
    b = m.body("b", mass=2.0, inertia=(0.1, 0.1, 0.05))
    m.revolute("shaft", m.ground, a, axis="z")
    m.prismatic("guide", m.ground, b, axis="x")
    m.rack_and_pinion("teeth", a, b, axis="z", axis_b="x", radius=0.1)
    m.force("motor", a, torque=(0, 0, 1.0))
    run = m.simulate(until=2.0, save=0.5)
    angle = run.t**2 / 2.0 / (0.2 + 2.0 * 0.1**2)
    assert np.abs(run["shaft.angle"] - angle).max() < 1e-8
    assert np.abs(run["guide.displacement"] - 0.1 * angle).max() < 1e-8


@pytest.mark.parametrize("kind", ["rolling_sphere", "rolling_disk", "screw"])
def test_all_rows_of_a_joint_stand_under_its_name(kind):
    """Rows of positions and of velocities alike: their force is what the second body is pushed."""
    m = pair(kind)
    run = m.simulate(until=0.5, tolerance=TOLERANCE, save=0.25)
    names = run.system.row_names
    assert names == tuple(f"joint[{k}]" for k in range(len(names)))
    assert list(run.system.groups) == ["joint"]
    assert run.multipliers("joint").shape == (3, len(names))
    # Nothing else acts in space: M v̇ = Q + the joint's force, body by body.
    force = run.constraint_force("joint")
    for k, (name, mass) in enumerate((("a", 2.0), ("b", 1.0))):
        found = mass * run.acceleration[:, 6 * k : 6 * k + 3]
        assert np.abs(found - force[:, 6 * k : 6 * k + 3]).max() < 1e-9, name
    assert np.abs(run.reaction("joint").force - force[:, 6:9]).max() < 1e-12


def test_a_rolling_joint_is_switched_off_as_a_whole():
    m = zw.Mechanism()
    ball = m.body(
        "ball",
        mass=1.0,
        inertia=(0.1, 0.1, 0.1),
        position=(0, 0, 0.5),
        velocity=(1.0, 0, 0),
        angular_velocity=(0, 2.0, 0),
    )
    m.rolling_sphere("road", m.ground, ball, at=((0, 0, 0), (0, 0, 0.5)), axis="z", radius=0.5)
    m.force("brake", ball, torque=(0, -0.3, 0))
    lift = zw.event(lambda t: t - 0.5, zw.switch(off="road"))
    run = m.simulate(until=1.0, save=0.25, events={"lift": lift})
    spin = run.body("ball").angular_velocity[:, 1]
    # After the lift the torque alone turns the ball, which no longer slows down.
    assert (spin[4] - spin[3]) / 0.25 == pytest.approx(-3.0, rel=1e-6)
    assert run.body("ball").velocity[4, 0] == pytest.approx(
        run.body("ball").velocity[3, 0], rel=1e-9
    )
