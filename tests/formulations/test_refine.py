"""Residuals in doubled precision against 60-digit ones, and the refinement that uses them."""

import mpmath as mp
import numpy as np
import pytest

from samples import assert_close, motion, sample, with_any_mass
from zwang.formulations.udwadia_mogharabin import UdwadiaMogharabin
from zwang.linalg.refinement import ExactResidual, leading_part, refine, two_sum


def exact(M, A, force, rhs, a, lam):
    """r₁ = f + Aᵀλ − M v̇ and r₂ = b − A v̇ in 60 digits."""
    with mp.workdps(60):
        M, A, f, b, a, lam = (
            mp.matrix(np.atleast_1d(x).tolist()) for x in (M, A, force, rhs, a, lam)
        )
        r1, r2 = f + A.T * lam - M * a, b - A * a
        return np.array(list(r1), dtype=float), np.array(list(r2), dtype=float)


@pytest.mark.parametrize("size", [4, 30])
def test_residual_of_a_rounded_solution_has_correct_digits(size):
    rng = np.random.default_rng(size)
    R = rng.standard_normal((size, size))
    M, A = R @ R.T, rng.standard_normal((size // 2, size))
    a, lam = rng.standard_normal(size), rng.standard_normal(size // 2)
    f, b = M @ a - A.T @ lam, A @ a  # rounded: what is left is all rounding
    r1, r2 = ExactResidual(M, A, f, b)(a, lam)
    e1, e2 = exact(M, A, f, b, a, lam)
    # About 2⁻⁷⁴ of the terms, six digits of a residual that is 2⁻⁵³ of them.
    terms = max(np.max(np.abs(M)), np.max(np.abs(A))) * (np.sum(np.abs(a)) + np.sum(np.abs(lam)))
    assert np.max(np.abs(r1 - e1)) <= 2.0**-71 * terms
    assert np.max(np.abs(r2 - e2)) <= 2.0**-71 * terms
    plain = f + A.T @ lam - M @ a
    assert np.max(np.abs(plain - e1)) > 1e3 * np.max(np.abs(r1 - e1))


def test_residuals_of_a_batch_are_those_of_each_system():
    s = sample("batch, redundant rows")
    rng = np.random.default_rng(1)
    a, lam = rng.standard_normal((*s.batch, s.n)), rng.standard_normal((*s.batch, s.m))
    r1, r2 = ExactResidual(s.M, s.A, s.Q, s.b)(a, lam)
    for i, one in enumerate(s.systems()):
        e1, e2 = exact(one.M, one.A, one.Q, one.b, a[i], lam[i])
        assert_close(r1[i], e1, 1e-15)
        assert_close(r2[i], e2, 1e-15)


def test_force_defect_is_what_rounding_left_of_a_product():
    rng = np.random.default_rng(2)
    A, lam = rng.standard_normal((6, 8)), rng.standard_normal(6)
    force = A.T @ lam
    defect = ExactResidual(np.eye(8), A, np.zeros(8), np.zeros(6)).force_defect(force, lam)
    with mp.workdps(60):
        expected = mp.matrix(A.T.tolist()) * mp.matrix(lam.tolist()) - mp.matrix(force.tolist())
    assert np.allclose(defect, np.array(list(expected), dtype=float), rtol=1e-4, atol=1e-22)


def test_two_sum_is_exact():
    a, b = np.array([1.0, 1e16, -3.5]), np.array([1e-17, 1.0, 3.5])
    total, error = two_sum(a, b)
    for x, y, s, e in zip(a, b, total, error, strict=True):
        with mp.workdps(60):
            assert mp.mpf(float(x)) + mp.mpf(float(y)) == mp.mpf(float(s)) + mp.mpf(float(e))


def test_leading_parts_multiply_without_rounding():
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal(500), rng.standard_normal(500)
    x1, y1 = leading_part(x, (-1,)), leading_part(y, (-1,))
    assert np.max(np.abs(x - x1)) <= 2.0**-19 * np.max(np.abs(x))
    with mp.workdps(60):
        whole = mp.fdot(x1.tolist(), y1.tolist())
    assert float(x1 @ y1) == whole
    assert not leading_part(np.zeros(3), (-1,)).any()


@with_any_mass
def test_refinement_repairs_a_response_good_to_three_digits(given):
    terms = given.terms
    um = UdwadiaMogharabin(terms)

    def rough(force, rhs):
        acceleration, lam = um.respond(force, rhs)
        return acceleration * 1.001, lam * 0.999

    force = given.Q + given.C
    residual = ExactResidual(given.M, given.A, force, given.b)
    refined = refine(rough, residual, *rough(force, given.b), 1e-12, steps=8)
    assert_close(refined.acceleration, given.each(motion), 1e-12)
    assert 1e-4 < refined.corrections[0] < 1e-2  # the error of the response by itself
    assert refined.corrections[-1] < 1e-12
    assert list(refined.corrections) == sorted(refined.corrections, reverse=True)


def test_corrections_that_do_not_shrink_are_not_applied():
    s = sample("independent rows")
    acceleration, lam = UdwadiaMogharabin(s.terms).respond(s.Q + s.C, s.b)

    def useless(force, rhs):
        return 3.0 * acceleration, 3.0 * lam

    residual = ExactResidual(s.M, s.A, s.Q + s.C, s.b)
    refined = refine(useless, residual, acceleration, lam, 1e-12)
    assert np.array_equal(refined.acceleration, acceleration)
    assert refined.corrections[-1] >= 0.5


def test_a_system_is_refined_in_a_batch_as_it_is_alone():
    # One of the three systems gets a response too rough to converge; the others do not notice.
    given = sample("batch, redundant rows")
    rough = np.array([1.001, 3.0, 1.0001])[:, None]
    um = UdwadiaMogharabin(given.terms)

    def respond(force, rhs):
        acceleration, lam = um.respond(force, rhs)
        return acceleration * rough, lam * rough

    force = given.Q + given.C
    residual = ExactResidual(given.M, given.A, force, given.b)
    refined = refine(respond, residual, *respond(force, given.b), 1e-12, steps=8)
    for i in (0, 2):
        assert_close(refined.acceleration[i], motion(list(given.systems())[i]), 1e-12)
    assert_close(refined.acceleration[1], 3.0 * motion(list(given.systems())[1]))


def test_an_acceleration_that_is_zero_is_refined_to_zero():
    # M v̇ = f on a coordinate that is held: v̇ = 0 while the forces are large. Rounding must go.
    from zwang.solvers.dense import FORMULATIONS, solve

    for formulation in FORMULATIONS:
        s = solve([[6.0]], [9e-17], [[2.0], [-1.0]], [0.0, 0.0], [8e11], formulation=formulation)
        assert abs(s.acceleration[0]) < 1e-12
        assert_close(s.constraint_force, [-9e-17])
