"""Coefficients of collocation at Gauss's points: order conditions and polynomials."""

import numpy as np
import pytest
from numpy.polynomial import legendre

from zwang.integrators.collocation import gauss

#: Of sums of eight numbers near one.
ROUNDING = 1e-15


@pytest.mark.parametrize("s", [1, 2, 3, 8])
def test_quadrature_is_exact_up_to_twice_the_nodes(s):
    rule = gauss(s)
    assert rule.order == 2 * s
    for k in range(1, 2 * s + 1):
        assert abs(rule.b @ rule.c ** (k - 1) - 1.0 / k) < ROUNDING
    missed = rule.b @ rule.c ** (2 * s) - 1.0 / (2 * s + 1)
    assert abs(missed) > 1e-12  # it is no better than that


@pytest.mark.parametrize("s", [1, 2, 3, 8])
def test_integrals_up_to_nodes_are_exact_for_polynomials_through_them(s):
    rule = gauss(s)
    for k in range(1, s + 1):
        found = rule.c ** (k - 1) @ rule.integral
        np.testing.assert_allclose(found, rule.c**k / k, rtol=0.0, atol=ROUNDING)


def test_two_points_are_those_of_hammer_and_hollingsworth():
    root = np.sqrt(3.0)
    A = [[0.25, 0.25 - root / 6.0], [0.25 + root / 6.0, 0.25]]
    np.testing.assert_allclose(gauss(2).integral.T, A, atol=ROUNDING)
    np.testing.assert_allclose(gauss(2).c, [0.5 - root / 6.0, 0.5 + root / 6.0], atol=ROUNDING)


def test_analysis_finds_the_coefficients_of_a_polynomial():
    rule, wanted = gauss(8), np.array([0.3, -1.0, 2.0, 0.0, 0.7, -0.2, 0.1, 1.5])
    values = legendre.legval(2.0 * rule.c - 1.0, wanted)
    np.testing.assert_allclose(values @ rule.analysis, wanted, atol=20 * ROUNDING)


def test_within_a_step_f_and_its_integral_are_those_of_the_polynomial():
    rule, theta = gauss(8), np.linspace(-0.5, 1.5, 9)
    values = rule.c**7
    np.testing.assert_allclose(values @ rule.at(theta), theta**7, atol=1e-11)
    np.testing.assert_allclose(values @ rule.within(theta), theta**8 / 8, atol=1e-11)
