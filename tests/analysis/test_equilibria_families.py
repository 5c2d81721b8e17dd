"""Several equilibria: members of one family are one entry."""

import numpy as np
import pytest

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


@pytest.mark.parametrize("size", [4e-4, 1e-2, 1.0])
def test_equilibria_of_a_small_mechanism_stay_apart(size):
    """Two hollows and the ridge between them, half a millimeter apart or meters."""
    switch = zw.System(
        ["x"],
        mass=lambda: np.eye(1),
        parameters={"a": size},
        potential=lambda q, p: (q[0] ** 2 - p.a**2) ** 2 / p.a**2,
    )
    found = switch.equilibria([[-1.1 * size], [0.1 * size], [1.1 * size]], count=0)
    assert [one.stability for one in found] == ["stable", "unstable", "stable"]


def test_equilibria_near_one_another_far_from_the_origin_stay_apart():
    switch = zw.System(
        ["x", "y", "z"],
        mass=lambda: np.eye(3),
        potential=lambda q: (q[0] ** 2 - 0.04) ** 2 + (q[1] - 1000.0) ** 2,
    )
    found = switch.equilibria([[x, 1000.0, z] for x, z in ((-0.2, 0), (0, 900), (0.2, 2))], count=0)
    assert sorted(round(float(one.q[0]), 6) + 0.0 for one in found) == [-0.2, 0.0, 0.2]
