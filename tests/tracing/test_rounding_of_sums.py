"""What rounding leaves of a sum that cancels is told by the sizes of what was summed."""

import casadi as ca
import numpy as np
import pytest

import zwang as zw
from zwang.tracing.rhs_rounding import summed_sizes

EPS = np.finfo(float).eps


def cancelling(x):
    """Sums that vanish on paper, each in its own way."""
    a, b, c = x
    rotated = ca.cos(a) * (ca.cos(a) * b - ca.sin(a) * c) + ca.sin(a) * (
        ca.sin(a) * b + ca.cos(a) * c
    )
    return [
        ca.sqrt(a * b) * ca.sqrt(a * c) - a * ca.sqrt(b * c),
        (a + b) * (a - b) - (a**2 - b**2),
        rotated - b,
        ca.log(ca.exp(a) * 3.0) - ca.log(3.0) - a,
        ca.tan(b) * ca.cos(b) - ca.sin(b),
        1e6 * c / (3 * c) - 1e6 / 3,
        ca.atan2(ca.sin(b), ca.cos(b)) - b,
    ]


def test_what_is_left_of_a_sum_that_cancels_is_within_a_few_roundings_of_its_terms():
    x = ca.SX.sym("x", 3)
    sums = ca.vertcat(*cancelling(ca.vertsplit(x)))
    both = ca.Function("both", [x], [sums, summed_sizes(sums, [x])])
    rng, worst = np.random.default_rng(4), np.zeros(sums.numel())
    for _ in range(500):
        left, size = (np.array(y)[:, 0] for y in both(rng.uniform(0.1, 1.5, 3)))
        worst = np.maximum(worst, np.abs(left) / size)
    assert (worst <= EPS).all()
    assert (worst > 0).all()  # each of them does round


def test_a_sum_that_does_not_cancel_is_far_above():
    x = ca.SX.sym("x", 2)
    value = ca.sin(x[0]) * x[1] + x[0] ** 3 / x[1]
    both = ca.Function("both", [x], [value, summed_sizes(value, [x])])
    left, size = (float(y) for y in both([0.7, 1.1]))
    assert size < 20 * abs(left)


def test_constants_are_exact():
    x = ca.SX.sym("x")
    assert float(ca.Function("f", [x], [summed_sizes(x**2, [x])])(3.0)) == pytest.approx(27.0)


def leaning_rod(length, mass, gravity, *, stated):
    """A rod on a floor in the quasi-velocities of its centre, along floor and rod.

    Coordinates are the foot and the lean, so that turning about the centre takes the foot along;
    its weight has no part in that, on paper.
    """

    def kinematics(q, p):
        s, c = np.sin(q[2]), np.cos(q[2])
        return [[1, 0, -p.h * c], [0, 1, p.h * s], [0, 0, 1]]

    weight = -1.0 if stated else 0.0
    return zw.System(
        coordinates=["x", "y", "lean"],
        velocities=["u", "w", "turn"],
        kinematics=kinematics,
        parameters={"m": mass, "h": length / 2, "g": gravity},
        mass=lambda p: np.diag([p.m, p.m, p.m * p.h**2 / 3]),
        force=lambda p: [0.0, weight * p.m * p.g, 0.0],
        potential=lambda q, p: p.m * p.g * (q[1] + p.h * np.cos(q[2])),
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_potential_whose_force_cancels_is_not_missed(seed):
    length, mass, gravity = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, 3)
    rod = leaning_rod(length, mass, gravity, stated=True)
    found = rod.solve(q=[0.0, 0.0, 0.4], v=np.zeros(3)).acceleration
    np.testing.assert_allclose(found, [0.0, -gravity, 0.0], rtol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_one_that_does_not_cancel_still_is(seed):
    length, mass, gravity = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, 3)
    with pytest.raises(
        zw.InputError,
        match=r"force must include all forces, also.*but lacks that of the potential along w",
    ):
        leaning_rod(length, mass, gravity, stated=False)
