"""Coefficients of collocation at Gauss's points: order conditions and polynomials."""

import numpy as np
import pytest
from numpy.polynomial import legendre

from zwang.integrators.collocation import nodes, records
from zwang.integrators.collocation.coefficients import gauss

#: Of sums of eight numbers near one.
ROUNDING = 1e-15


@pytest.mark.parametrize("s", [1, 2, 3, 8])
def test_quadrature_is_exact_up_to_twice_the_nodes(s):
    rule = gauss(s)
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


@pytest.mark.parametrize("theta", [0.0, 0.1, 0.5, 0.99, 1.0])
def test_states_within_a_step_are_integrals_of_the_polynomial(theta):
    rule, h = gauss(8), 0.3
    F, y = np.stack([rule.c**7, 1.0 - rule.c**2]), np.array([[2.0], [-1.0]])
    out = np.empty((2, 1))
    nodes.between(theta, F, y, h, rule.analysis, np.empty((4, 8, 8)), out)
    integrals = [theta**8 / 8.0, theta - theta**3 / 3.0]
    np.testing.assert_allclose(out[:, 0], y[:, 0] + h * np.array(integrals), atol=ROUNDING)


@pytest.mark.parametrize("origin", [0.0, 1.0])  # of a step taken again, and of the next one
def test_a_step_begins_with_the_polynomial_of_the_last_one(origin):
    rule, last, h = gauss(8), 0.4, 0.2

    def motion(theta):
        return np.stack([1.0 - theta**3, 0.5 * theta**7])

    past = np.zeros(records.PAST)
    past[records.LENGTH], past[records.ORIGIN] = last, origin
    past[records.SPECTRUM :] = 1e-3 ** np.arange(8)  # falls faster than the terms grow ahead
    F, none = np.empty((2, 8)), np.empty((2, 8))
    method = records.CollocationMethod(
        np.zeros(3, np.int64), rule.c, rule.b, rule.integral, rule.analysis
    )
    before = records.StepBefore(motion(rule.c), past)
    sweeps = records.NodeSweeps(
        *(none, F, none, none[None], none, none, none[0], none[0]),
        *(np.empty((4, 8, 8)), np.zeros((8, 1))),
    )
    nodes.predict(method, before, sweeps, h)
    ahead = motion(origin + h / last * rule.c)
    # Of coefficients by P₇ at 2·1.5 − 1 = 2, some 5e2.
    np.testing.assert_allclose(F, ahead, atol=5e3 * ROUNDING)
    past[records.SPECTRUM + 4 :] = 1.0  # noise from degree 4 on, which is left out
    nodes.predict(method, before, sweeps, h)
    np.testing.assert_allclose(F[0], ahead[0], atol=5e3 * ROUNDING)
    assert np.abs(F[1] - ahead[1]).max() > 1e-3
