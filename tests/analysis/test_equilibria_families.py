"""Several equilibria: members of one family are one entry."""

import numpy as np

import zwang as zw


def test_a_cart_that_rests_anywhere_is_listed_once_for_each_position_of_its_pole():
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    cart = m.body("cart", mass=1.0, inertia=0.1)
    pole = m.body("pole", inertia=zw.inertia.rod(1.0, 1.0, "z"), position=(0, 0, -0.5))
    m.prismatic("rail", m.ground, cart, axis="x")
    m.revolute("pin", cart, pole, at=(0, 0, 0))
    found = m.equilibria(count=10)
    assert [one.stability for one in found] == ["marginal", "unstable"]
    assert all(one.families for one in found)


def test_a_family_that_bends_is_one():
    """A ball in the groove of a hat rests all round, and on the top."""
    hat = zw.System(["x", "y"], mass=lambda: np.eye(2), potential=lambda q: (q @ q - 1.0) ** 2)
    found = hat.equilibria(count=10)
    assert sorted(one.stability for one in found) == ["marginal", "unstable"]


def test_two_families_stay_two():
    """Two straight grooves side by side, with a ridge between them."""
    grooves = zw.System(
        ["x", "y"], mass=lambda: np.eye(2), potential=lambda q: (q[0] ** 2 - 1.0) ** 2
    )
    found = grooves.equilibria([[1.2, 0.0], [-1.1, 0.5], [0.9, 3.0], [0.1, 1.0]], count=4)
    places = sorted(round(float(one.q[0]), 6) + 0.0 for one in found)
    assert places == [-1.0, 0.0, 1.0]
