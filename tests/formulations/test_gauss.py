"""Gauss's principle: the function, its minimum, and the certificate from it."""

import numpy as np
import pytest

from samples import (
    assert_close,
    motion,
    sample,
    tangent,
    with_any_mass,
    with_definite_mass,
)
from zwang.formulations.gauss import certificate, gauss_function, gauss_function_shifted
from zwang.formulations.udwadia_kalaba import UdwadiaKalaba
from zwang.linalg.rank import RowGeometry


def virtual_displacements(s, count=20):
    """Random vectors of N(A), as rows."""
    return np.random.default_rng(8).standard_normal((count, s.n)) @ tangent(s.A)


@with_definite_mass
@pytest.mark.inventory("UK-10")
def test_gauss_function_is_the_weighted_square_of_the_deviation(given):
    # (9): G(ÿ) = (ÿ − a)ᵀ M (ÿ − a), with the non-ideal force counted among the forces
    trial = np.random.default_rng(2).standard_normal((*given.batch, given.n))

    def formula(s, y):
        deviation = y - np.linalg.solve(s.M, s.Q + s.C)
        return deviation @ s.M @ deviation

    assert_close(gauss_function(given.terms, trial), given.each(formula, trial))


@with_definite_mass
@pytest.mark.inventory("UK-10")
def test_constrained_acceleration_is_the_global_minimum_of_gauss_function(given):
    for s in given.systems():
        terms = s.terms
        acceleration = UdwadiaKalaba(terms).acceleration
        assert_close(s.A @ acceleration, s.b)
        least = gauss_function(terms, acceleration)
        for u in virtual_displacements(s):
            # (13): every admissible trial v̇ + u has G1 = G + uᵀMu
            value = gauss_function(terms, acceleration + u)
            assert value == pytest.approx(least + u @ s.M @ u, rel=1e-10, abs=1e-10)
            assert value >= least * (1.0 - 1e-12)


@with_any_mass
@pytest.mark.inventory("UK-10")
def test_shifted_gauss_function_has_the_same_minimum_for_any_mass(given):
    for s in given.systems():
        acceleration = motion(s)
        least = gauss_function_shifted(s.terms, acceleration)
        for u in virtual_displacements(s):
            value = gauss_function_shifted(s.terms, acceleration + u)
            assert value == pytest.approx(least + u @ s.M @ u, rel=1e-10, abs=1e-10)


@with_definite_mass
def test_shifted_gauss_function_differs_by_a_constant(given):
    for s in given.systems():
        free = np.linalg.solve(s.M, s.Q + s.C)
        for y in virtual_displacements(s, 3):
            difference = gauss_function(s.terms, y) - gauss_function_shifted(s.terms, y)
            assert difference == pytest.approx(free @ s.M @ free, rel=1e-9)


@with_any_mass
@pytest.mark.inventory("UK-10")
def test_certificate_accepts_the_motion_and_nothing_near_it(given):
    terms, geometry = given.terms, RowGeometry.of(given.A)
    acceleration = given.each(motion)
    assert certificate(terms, acceleration, geometry).residual < 1e-11
    rng = np.random.default_rng(1)
    for _ in range(5):
        off = acceleration + 1e-3 * rng.standard_normal(acceleration.shape)
        assert certificate(terms, off, geometry).residual > 1e-6


@pytest.mark.inventory("UK-10")
def test_certificate_tells_a_broken_constraint_from_a_wrong_direction():
    s = sample("independent rows")
    geometry = RowGeometry.of(s.A)
    along = certificate(s.terms, motion(s) + 0.1 * geometry.null_space[:, 0], geometry)
    assert along.constraint < 1e-11
    assert along.gradient > 1e-3
    across = certificate(s.terms, motion(s) + 0.1 * geometry.row_space[:, 0], geometry)
    assert across.constraint > 1e-3
    assert across.residual == max(across.constraint, across.gradient)
