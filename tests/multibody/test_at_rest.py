"""Redundant mechanisms whose motion and right sides are zero on paper: rounding refuses nothing."""

import numpy as np
import pytest

import zwang as zw


def turned(rng):
    """A rotation, so that nothing lies along an axis."""
    Q = np.linalg.qr(rng.standard_normal((3, 3))).Q
    return Q * np.sign(np.linalg.det(Q))


def platform(rng, gravity):
    """Seven legs hold what six would."""
    m = zw.Mechanism(gravity=gravity)
    top = m.body("top", inertia=zw.inertia.box(5.0, (1.0, 1.0, 0.1)), position=(0, 0, 1.0))
    for k in range(7):
        angle, off = 2 * np.pi * k / 7, 0.05 * rng.standard_normal((2, 3))
        foot = np.array([1.2 * np.cos(angle + 0.3), 1.2 * np.sin(angle + 0.3), 0.0]) + off[0]
        head = np.array([0.5 * np.cos(angle), 0.5 * np.sin(angle), 1.0]) + off[1]
        m.spherical_link(f"leg{k}", m.ground, top, at=(foot, head))
    return m


def rotor(rng, gravity):
    """A shaft in three bearings, turning evenly."""
    axis, center = turned(rng)[2], rng.standard_normal(3)
    m = zw.Mechanism(gravity=gravity)
    rotor = m.body(
        "rotor",
        inertia=zw.inertia.cylinder(3.0, 0.2, 1.0, axis=axis),
        position=center,
        angular_velocity=2.0 * axis,
    )
    for k in range(3):
        at = center + (0.5 * k - 0.5) * axis
        m.revolute(f"bearing{k}", m.ground, rotor, at=at, axis=axis)
    return m


def held_door(rng, gravity):
    """Two hinges, and a driver that holds one of them at zero."""
    R = turned(rng)
    m = zw.Mechanism(gravity=gravity)
    door = m.body("door", inertia=zw.inertia.sphere(20.0, 0.5), position=R @ [0.4, 0.0, 1.0])
    for k in range(2):
        m.revolute(f"hinge{k}", m.ground, door, at=R @ [0.0, 0.0, 0.3 + k], axis=R[:, 2])
    m.drive("hold", "hinge0.angle", 0.0)
    return m


@pytest.mark.parametrize("gravity", [(0.0, 0.0, -9.81), (0.0, 0.0, 0.0)], ids=["heavy", "free"])
@pytest.mark.parametrize("make", [platform, rotor, held_door])
def test_nothing_is_called_contradictory(make, gravity):
    for seed in range(4):
        m = make(np.random.default_rng(seed), gravity)
        spin = np.linalg.norm(m.solve().acceleration)
        assert spin < 1e-12 * max(1.0, abs(gravity[2]))
        assert m.explain().consistent


def test_reactions_of_a_platform_at_rest_add_up_to_its_weight():
    m = platform(np.random.default_rng(0), (0.0, 0.0, -9.81))
    run = m.simulate(until=0.2, save=0.1)
    total = sum(run.reaction(f"leg{k}").force for k in range(7))
    np.testing.assert_allclose(total, np.tile([0.0, 0.0, 5.0 * 9.81], (len(run.t), 1)), atol=1e-9)
