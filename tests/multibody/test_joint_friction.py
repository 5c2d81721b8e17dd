"""Friction in joints, which depends on the reaction, wherever terms are asked for."""

import numpy as np
import pytest

import zwang as zw
from zwang.programs.cost import CostModel

MASS, ARM, RADIUS, COEFFICIENT = 2.0, 0.4, 0.1, 0.3
RATE = 2.0


def pendulum():
    """A point mass on a massless arm, at rest straight down but for its rate about y."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    bob = m.body(
        "bob",
        mass=MASS,
        position=(0, 0, -ARM),
        velocity=(-RATE * ARM, 0, 0),
        inertia=(0.1, 0.1, 0.1),
        angular_velocity=(0, RATE, 0),
    )
    m.revolute("pin", m.ground, bob, at=(0, 0, 0), axis="y")
    m.friction("pin", coefficient=COEFFICIENT, radius=RADIUS)
    return m


@pytest.mark.parametrize("formulation", ["auto", *zw.FORMULATIONS])
def test_friction_acts_in_solve_as_in_simulate(formulation):
    # Straight down gravity does not turn the pendulum. Friction turns it with −μ r N, and what
    # speeds the bob up along its path presses on the pin: N² = (m (g + L θ̇²))² + (m L θ̈)².
    inertia = 0.1 + MASS * ARM**2
    across = MASS * (9.81 + ARM * RATE**2)
    turning = 0.0
    for _ in range(60):
        normal = np.hypot(across, MASS * ARM * turning)
        turning = -COEFFICIENT * RADIUS * normal / inertia
    m = pendulum()
    s = m.solve(formulation=formulation)
    assert s.acceleration[4] == pytest.approx(turning, rel=1e-10)
    run = m.simulate(until=1e-4)
    slope = (run["pin.angle_rate"][-1] - RATE) / 1e-4
    assert slope == pytest.approx(turning, rel=1e-2)  # by then it has hardly turned


def test_a_run_tells_what_is_not_looked_for_in_a_large_mechanism(monkeypatch):
    assert not any("this large" in note for note in pendulum().simulate(until=1e-4).notes)
    monkeypatch.setattr("zwang.mechanism.COST", CostModel(element_unknowns=10))
    assert any("this large" in note for note in pendulum().simulate(until=1e-4).notes)


def test_friction_without_numbers_is_refused():
    m = zw.Mechanism(plane="xz")
    m.prismatic("rail", m.ground, m.body("cart", mass=1.0, inertia=0.1), at=(0, 0, 0), axis="x")
    with pytest.raises(zw.InputError, match=r"friction in 'rail' must have a coefficient="):
        m.friction("rail")
    with pytest.raises(zw.InputError, match=r"friction in 'rail' must have a coefficient="):
        m.friction("rail", velocity=1e-2)
    m.friction("rail", viscous=0.0)  # may become another number in a sweep


def test_joints_that_can_have_friction_are_offered():
    m = zw.Mechanism(plane="xz")
    cart = m.body("cart", mass=1, inertia=1)
    arm = m.body("arm", mass=1, inertia=1)
    tool = m.body("tool", mass=1, inertia=1)
    m.prismatic("rail", m.ground, cart, at=(0, 0), axis="x")
    m.revolute("pin", cart, arm, at=(0, 0))
    m.fixed("bolts", arm, tool, at=(0, 0))
    m.drive("motor", "rail.displacement", 0.0)
    with pytest.raises(zw.InputError, match="must be one of rail, pin, not 'rai'"):
        m.friction("rai", coefficient=0.1)
    with pytest.raises(zw.InputError, match="in a joint of this body, rail or pin, but it is"):
        m.friction("cart", coefficient=0.1)
    with pytest.raises(zw.InputError, match="this body that is revolute, prismatic or cyl"):
        m.friction("tool", coefficient=0.1)
    with pytest.raises(zw.InputError, match="this body that is revolute or prismatic, but"):
        m.friction("tool", effort=lambda pressure: pressure)
