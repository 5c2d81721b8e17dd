"""Dry friction at rest against closed forms: blocks on slopes and ladders."""

from __future__ import annotations

import numpy as np
import pytest

import zwang as zw
from zwang.analysis.equations_of import EquationsOf
from zwang.analysis.sticking import held_by_friction
from zwang.model_files.examples import example_path

#: Ends of ranges are roots found to rounding.
END = 1e-11
G = 9.81
SLOPE, MASS, STIFFNESS = np.radians(20.0), 2.0, 300.0


def block(friction, spring=True):
    m = zw.Mechanism(plane="xz", gravity=(0, -G))
    body = m.body("block", mass=MASS, inertia=0.1)
    down = np.array([np.cos(SLOPE), -np.sin(SLOPE)])
    m.prismatic("slide", m.ground, body, axis=down, at=(0, 0))
    m.friction("slide", coefficient=friction)
    if spring:
        ends = (-down, (0, 0))
        m.spring_damper("tie", m.ground, body, at=ends, stiffness=STIFFNESS, length=1.0)
    return m


def test_a_block_on_a_spring_rests_between_two_positions():
    """k s = m g sin α ± μ m g cos α."""
    rest = block(0.25).equilibrium()
    middle, limit = MASS * G * np.sin(SLOPE) / STIFFNESS, 0.25 * MASS * G * np.cos(SLOPE)
    (one,) = rest.sticking
    assert (one.joint, one.coordinate, one.effort) == ("slide", "slide.displacement", 0.0)
    assert one.limit == pytest.approx(limit, rel=1e-12)
    assert one.low == pytest.approx(middle - limit / STIFFNESS, abs=END)
    assert one.high == pytest.approx(middle + limit / STIFFNESS, abs=END)
    (words,) = rest.families
    assert "friction in slide holds against up to" in words
    direction = rest.family_directions[:2, 0]
    np.testing.assert_allclose(direction, [np.cos(SLOPE), -np.sin(SLOPE)], atol=1e-12)
    assert rest.stability == "stable"


def test_friction_alone_holds_a_block_on_a_slope():
    """μ ≥ tan α."""
    rest = block(0.5, spring=False).equilibrium()
    assert (rest.method, rest.stability) == ("friction", "marginal")
    assert rest.holding["slide.displacement"] == pytest.approx(-MASS * G * np.sin(SLOPE), rel=1e-12)
    (one,) = rest.sticking
    assert (one.low, one.high) == (-np.inf, np.inf)
    assert one.limit == pytest.approx(0.5 * MASS * G * np.cos(SLOPE), rel=1e-12)
    assert len(rest.families) == 1
    assert f"{np.tan(SLOPE) / 0.5:.4g} of what it can exert" in rest.notes[-1]


def test_a_block_that_slides_has_no_rest_and_the_error_says_how_much_is_missing():
    with pytest.raises(zw.NoEquilibriumError, match=f"{np.tan(SLOPE) / 0.25:.4g} times as large"):
        block(0.25, spring=False).equilibrium()


LENGTH = 2.0


def ladder(angle, floor, wall=0.0):
    """A ladder between a floor and a wall on blocks without mass."""
    m = zw.Mechanism(plane="xz", gravity=(0, -G))
    x, z = LENGTH * np.cos(angle), LENGTH * np.sin(angle)
    foot = m.body("foot", mass=0.0, inertia=0.0, position=(x, 0))
    top = m.body("top", mass=0.0, inertia=0.0, position=(0, z))
    own = m.body("ladder", mass=10.0, inertia=10.0 * LENGTH**2 / 12, position=(x / 2, z / 2))
    m.prismatic("floor", m.ground, foot, axis=(1, 0), at=(x, 0))
    m.prismatic("wall", m.ground, top, axis=(0, 1), at=(0, z))
    m.revolute("A", foot, own, at=(x, 0))
    m.revolute("B", top, own, at=(0, z))
    for joint, mu in (("floor", floor), ("wall", wall)):
        if mu:
            m.friction(joint, coefficient=mu)
    return m


def test_a_ladder_against_a_smooth_wall_slips_at_the_angle_of_the_textbook():
    """tan θ = 1/(2 μ), on either side of the wall."""
    angle, mu = np.radians(70.0), 0.3
    rest = ladder(angle, mu).equilibrium(hold={"floor.displacement": 0.0})
    (one,) = rest.sticking
    x = LENGTH * np.cos(np.arctan(1.0 / (2.0 * mu)))
    assert one.effort == pytest.approx(-10.0 * G / (2.0 * np.tan(angle)), rel=1e-12)
    assert one.limit == pytest.approx(mu * 10.0 * G, rel=1e-12)
    assert one.high == pytest.approx(x - LENGTH * np.cos(angle), abs=END)
    assert one.low == pytest.approx(-x - LENGTH * np.cos(angle), abs=END)
    flat = ladder(np.radians(40.0), mu).equilibrium(hold={"floor.displacement": 0.0})
    assert "does not hold" in str(flat)


def test_friction_at_both_ends_is_shared_as_it_must_be():
    """tan θ = (1 − μ₁ μ₂)/(2 μ₁) at the limit, where the shares are indeterminate before."""
    floor, wall = 0.3, 0.4
    limit = np.arctan((1.0 - floor * wall) / (2.0 * floor))
    for angle, holds in ((limit + 0.01, True), (limit, None), (limit - 0.01, False)):
        m = ladder(angle, floor, wall)
        stuck = held_by_friction(EquationsOf(m.system, 0.0, None), m.assemble().q)
        assert stuck is not None
        if holds is None:
            assert stuck.share == pytest.approx(1.0, abs=1e-9)
        else:
            assert (stuck.share < 1.0) is holds


def test_a_start_that_friction_holds_is_told_beside_the_rest_without_it():
    rest = ladder(np.radians(70.0), 0.3).equilibrium()
    assert "Friction holds the start too" in rest.notes[-1]


def test_a_bearing_holds_a_pendulum_at_an_angle():
    """m g l sin θ = μ r N, with N = m g: the bearing carries the weight alone."""
    m = zw.Mechanism(plane="xz", gravity=(0, -G))
    rod = m.body("rod", mass=1.5, inertia=0.2, position=(0.0, -0.4))
    m.revolute("pin", m.ground, rod, at=(0, 0))
    m.friction("pin", coefficient=0.3, radius=0.05)
    (one,) = m.equilibrium().sticking
    end = np.arcsin(0.3 * 0.05 / 0.4)
    assert one.low == pytest.approx(-end, abs=END)
    assert one.high == pytest.approx(end, abs=END)


def test_other_values_of_the_coefficient_are_taken():
    rest = block(0.25).equilibrium(parameters={"slide.friction.coefficient": 0.1})
    (one,) = rest.sticking
    assert one.limit == pytest.approx(0.1 * MASS * G * np.cos(SLOPE), rel=1e-12)


def test_two_frictions_in_a_mechanism_of_two_freedoms():
    """Each range with the other joint free: a pendulum on the block hangs on."""
    model = zw.read_model(example_path("friction"))
    rest = model.equilibrium(hold={"slide.displacement": 0.0})
    slide, pin = rest.sticking
    weight = 2.5 * G
    assert slide.limit == pytest.approx(0.25 * weight * np.cos(SLOPE), rel=1e-9)
    assert "does not hold" in str(slide)  # tan 20° > 0.25
    end = np.arcsin(0.3 * 0.015 / 0.3)
    assert pin.high - pin.low == pytest.approx(2.0 * end, abs=END)
