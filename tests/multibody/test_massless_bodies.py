"""Bodies without mass: they move as if eliminated, or are refused by name."""

import numpy as np
import pytest

import zwang as zw
from zwang.errors import NotUniqueError

#: Positions after two seconds, with massless bodies and without them [m].
SAME = 1e-10
CHOICES = {"until": 2.0, "tolerance": 1e-12, "save": 0.5}


def crank_and_rocker(m, z=0.0):
    """Two bars on pins at the ground."""
    crank = m.body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.15, 0, 0.2))
    rocker = m.body("rocker", mass=2.0, inertia=(0.2, 0.2, 0.2), position=(1.9, z, 0.5))
    m.revolute("A", m.ground, crank, at=(0, 0, 0), axis="y")
    m.revolute("D", m.ground, rocker, at=(2.0, z, 0), axis="y")
    return crank, rocker, (0.3, 0, 0.4), (1.8, z, 1.0)


def assert_same(a, b, names):
    assert a.finished
    assert b.finished
    for name in names:
        assert np.abs(a.body(name).position - b.body(name).position).max() < SAME
        assert np.abs(a.body(name).rotation - b.body(name).rotation).max() < SAME


def test_massless_coupler_in_a_plane():
    coupled = zw.Mechanism(gravity=(0, 0, -9.81), plane="xz")
    crank, rocker, B, C = crank_and_rocker(coupled)
    coupler = coupled.body("coupler", position=(1.0, 0, 0.7))
    coupled.revolute("B", crank, coupler, at=B)
    coupled.revolute("C", coupler, rocker, at=C)
    linked = zw.Mechanism(gravity=(0, 0, -9.81), plane="xz")
    crank, rocker, B, C = crank_and_rocker(linked)
    linked.spherical_link("rod", crank, rocker, at=(B, C))
    a, b = coupled.simulate(**CHOICES), linked.simulate(**CHOICES)
    assert_same(a, b, ("crank", "rocker"))
    # The coupler carries a force along itself, the same as the link.
    assert np.abs(a.reaction("C").force - b.reaction("rod").force).max() < 1e-8
    assert np.abs(a.reaction("C").force + a.reaction("B").force * [-1, 1, -1]).max() < 1e-8


@pytest.mark.campaign
def test_massless_coupler_in_space():
    """A cross at one end keeps it from spinning about itself."""
    coupled = zw.Mechanism(gravity=(0, 0, -9.81))
    crank, rocker, B, C = crank_and_rocker(coupled, z=0.3)
    coupler = coupled.body("coupler", position=(1.0, 0.15, 0.7))
    along = np.subtract(C, B)
    coupled.universal("B", crank, coupler, at=B, axis="y", axis_b=along)
    coupled.spherical("C", coupler, rocker, at=C)
    linked = zw.Mechanism(gravity=(0, 0, -9.81))
    crank, rocker, B, C = crank_and_rocker(linked, z=0.3)
    linked.spherical_link("rod", crank, rocker, at=(B, C))
    assert_same(coupled.simulate(**CHOICES), linked.simulate(**CHOICES), ("crank", "rocker"))


@pytest.mark.campaign
def test_two_massless_bodies_make_a_universal_joint_and_a_sleeve():
    """Ground – yoke (about y) – bob (about x) is a cross; a carrier on a slide is a sleeve."""

    def bob(m):
        return m.body("bob", mass=1.0, inertia=(0.2, 0.3, 0.1), position=(0.1, 0.2, -1.0))

    crossed = zw.Mechanism(gravity=(0, 0, -9.81))
    body, yoke = bob(crossed), crossed.body("yoke")
    crossed.revolute("first", crossed.ground, yoke, axis="x")
    crossed.revolute("second", yoke, body, axis="y")
    joined = zw.Mechanism(gravity=(0, 0, -9.81))
    body = bob(joined)
    joined.spherical("ball", joined.ground, body)
    joined.constraint("cross", [body], lambda bodies: bodies[0].vector((0.0, 1.0, 0.0))[0])
    assert_same(crossed.simulate(**CHOICES), joined.simulate(**CHOICES), ("bob",))

    slid = zw.Mechanism(gravity=(1.0, 0, -9.81))
    body, carrier = bob(slid), slid.body("carrier")
    slid.prismatic("slide", slid.ground, carrier, axis="x")
    slid.revolute("pin", carrier, body, axis="x")
    sleeve = zw.Mechanism(gravity=(1.0, 0, -9.81))
    sleeve.cylindrical("sleeve", sleeve.ground, bob(sleeve), axis="x")
    assert_same(slid.simulate(**CHOICES), sleeve.simulate(**CHOICES), ("bob",))


def dangling():
    m = zw.Mechanism(gravity=(0, 0, -9.81), plane="xz")
    ghost = m.body("ghost", position=(1, 0, 0))
    m.revolute("pin", m.ground, ghost, at=(0, 0, 0))
    return m


def beside_another():
    m = dangling()
    bar = m.body("bar", mass=1.0, inertia=0.1, position=(0, 0, 1))
    m.revolute("hinge", m.ground, bar, at=(0, 0, 0))
    return m


def on_one_ball():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    ghost = m.body("ghost", position=(1, 0, 0))
    m.spherical("ball", m.ground, ghost, at=(0, 0, 0))
    return m


def between_balls():
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    crank, rocker, B, C = crank_and_rocker(m)
    ghost = m.body("ghost", position=(1.05, 0, 0.7))
    m.spherical("B", crank, ghost, at=B)
    m.spherical("C", ghost, rocker, at=C)
    return m


def test_the_direction_that_nothing_decides_about_is_told():
    """A rod between balls may spin about the line between them, from (0.3, 0.4) to (1.8, 1)."""
    with pytest.raises(NotUniqueError) as caught:
        between_balls().solve()
    along = np.array([1.5, 0.0, 0.6]) / np.hypot(1.5, 0.6)
    said = f"ghost turns about ({along[0]:.4g}, 0, {along[2]:.4g}) through (1.05, 0, 0.7)"
    assert said in str(caught.value)


@pytest.mark.parametrize("build", [dangling, beside_another, on_one_ball, between_balls])
def test_a_body_that_nothing_decides_about_is_refused_by_name(build):
    m = build()
    with pytest.raises(NotUniqueError, match="body 'ghost'"):
        m.solve()
    with pytest.raises(NotUniqueError, match="body 'ghost'"):
        m.simulate(until=1.0)
