"""Mechanisms in independent velocities: joints with rows of two levels, friction, own names."""

import numpy as np
import pytest

import zwang as zw

#: What two runs at a tolerance of 1e-9 may differ by after a second [m, rad].
SAME_MOTION = 1e-8


def ball() -> zw.Mechanism:
    """A ball that rolls on a plane, pulled sideways."""
    m = zw.Mechanism(gravity=(1.0, 0.5, -9.81))
    b = m.body(
        "ball",
        inertia=zw.inertia.sphere(1.0, 0.5),
        position=(0, 0, 0.5),
        velocity=(0.5, 0, 0),
        angular_velocity=(0, 1.0, 0.3),
    )
    m.rolling_sphere("road", m.ground, b, at=((0, 0, 0), (0, 0, 0.5)), axis="z", radius=0.5)
    return m


def pendulum(coefficient: float = 0.0) -> zw.Mechanism:
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, 1.0, axis="x"), position=(0.5, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    if coefficient:
        m.friction("pin", coefficient=coefficient, radius=0.05)
    return m


def test_rolling_is_nonholonomic_though_contact_is_a_position() -> None:
    report = ball().system.integrability()
    kinds = {name: row.kind for name, row in report.rows.items()}
    assert kinds == {"road[1]": "nonholonomic", "road[2]": "nonholonomic"}


def test_rolling_in_a_plane_can_be_integrated() -> None:
    m = zw.Mechanism(plane="xz")
    wheel = m.body("wheel", inertia=zw.inertia.sphere(1.0, 0.5), position=(0, 0.5))
    m.rolling_disk("road", m.ground, wheel, at=((0, 0), (0, 0.5)), axis="z", radius=0.5)
    report = m.system.integrability()
    assert {name: row.kind for name, row in report.rows.items()} == {"road[1]": "holonomic"}


@pytest.mark.parametrize("names", [None, ["ball.omega1", "ball.omega2", "ball.omega3"]])
def test_a_rolling_ball_in_independent_velocities_moves_as_it_does(
    names: list[str] | None,
) -> None:
    m = ball()
    start = m.assemble()
    reduced = m.system.reduce(velocities=names, at=start)
    own = [m.system.velocities.index(name) for name in reduced.velocities]
    assert len(own) == 3
    whole = m.simulate(start, until=1.0, save=0.25)
    less = reduced.simulate(start.q, start.v[own], until=1.0, save=0.25)
    np.testing.assert_allclose(less.q, whole.q, atol=SAME_MOTION)
    assert np.ptp(whole["ball.position"][:, 1]) > 0.1  # it does move


def test_a_rolling_joint_can_be_kept() -> None:
    m = ball()
    start = m.assemble()
    kept = m.system.reduce(velocities=list(m.system.velocities), keep=["road"], at=start)
    assert kept.groups == {"road": [0, 1, 2]}
    found = kept.solve(q=start.q, v=start.v).acceleration
    np.testing.assert_allclose(found, m.solve(start).acceleration, atol=1e-10)


def test_friction_that_depends_on_reactions_is_not_dropped() -> None:
    m = pendulum(coefficient=0.3)
    with pytest.raises(zw.NotApplicableError, match="reactions which the map removes"):
        m.system.reduce(velocities=["rod.omega2"], at=m.assemble())
    reduced = pendulum().system.reduce(velocities=["rod.omega2"], at=m.assemble())
    assert reduced.velocities == ("rod.omega2",)


def test_a_driven_mechanism_has_nothing_to_reduce_to() -> None:
    m = pendulum()
    m.drive("motor", "pin.angle", lambda t: 2.0 * t)
    with pytest.raises(zw.NotApplicableError, match="determine all velocities"):
        m.system.reduce(at=m.assemble())
