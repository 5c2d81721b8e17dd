"""Udwadia & Schutte (2010): the auxiliary system, its lemmas and results."""

import numpy as np
import pytest

from samples import (
    assert_close,
    assert_zero,
    constraint_force,
    inverse_root,
    motion,
    plus,
    root,
    sample,
    tangent,
    with_any_mass,
    with_definite_mass,
)
from zwang.errors import InputError
from zwang.formulations.udwadia_kalaba import UdwadiaKalaba
from zwang.formulations.udwadia_schutte import AuxiliarySystem, UdwadiaSchutte, is_well_posed
from zwang.solvers.dense import FORMULATIONS, solve
from zwang.terms import EquationTerms

#: The free scalar of the auxiliary system: other than one, negative too.
ALPHAS = (0.6, -1.7)


def augmented(s, alpha):
    """M_A = M + α²A⁺A."""
    return s.M + alpha**2 * plus(s.A) @ s.A


def auxiliary(given, alpha=0.6, seed=9):
    """Auxiliary system of all of `given` with a random z, and that z."""
    z = np.random.default_rng(seed).standard_normal((*given.batch, given.m))
    return AuxiliarySystem(given.terms, alpha, z), z


# --- the problem ----------------------------------------------------------------------------------


@with_any_mass
@pytest.mark.inventory("US-01", "US-46", "UM-01")
def test_systems_with_singular_mass_and_dependent_constraints_have_a_motion(given):
    # Scope: M ≥ 0 or > 0, any rank of A, C ≠ 0. The motion obeys M q̈ = Q + Q^c and A q̈ = b.
    s = solve(given.M, given.Q, given.A, given.b, given.C)
    assert_close((given.A @ s.acceleration[..., None])[..., 0], given.b)
    inertia = (given.M @ s.acceleration[..., None])[..., 0]
    assert_close(inertia, given.Q + s.constraint_force)
    assert np.all(np.asarray(s.ranks.constraint) == given.rank)


@pytest.mark.inventory("US-46")
def test_constraints_nonlinear_in_the_velocity_are_in_scope():
    # A particle kept at constant speed, |v|² = const, by Appell's constraint: v·v̇ = 0.
    v = np.array([1.0, -2.0, 2.0])
    s = solve(2.0 * np.eye(3), [0.0, 0.0, -20.0], [v], [0.0])
    force = np.array([0.0, 0.0, -20.0])
    assert_close(s.constraint_force, -(v @ force) / 9.0 * v)  # it takes the power of gravity out
    assert_zero(v @ s.acceleration)


@with_any_mass
@pytest.mark.inventory("US-04", "UM-03")
def test_constraint_force_does_the_work_of_C_in_virtual_displacements(given):
    # (6): vᵀQ^c = vᵀC for all v with A v = 0
    for name, kind in FORMULATIONS.items():
        if name == "udwadia_kalaba" and np.any(np.linalg.matrix_rank(given.M) < given.n):
            continue
        Q_c = kind(given.terms).constraint_force
        projected = given.each(lambda s: tangent(s.A) @ s.C)
        assert_close((given.each(lambda s: tangent(s.A)) @ Q_c[..., None])[..., 0], projected)
        ideal = kind(given.ideal.terms).constraint_force
        assert_zero((given.each(lambda s: tangent(s.A)) @ ideal[..., None])[..., 0])


# --- Lemma 1 --------------------------------------------------------------------------------------


@with_any_mass
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.inventory("US-08")
def test_augmented_mass_matrix_is_positive_definite_for_well_posed_systems(given, alpha):
    M_A = AuxiliarySystem(given.terms, alpha).mass_matrix
    assert_close(M_A, given.each(lambda s: augmented(s, alpha)))
    assert np.all(np.linalg.eigvalsh(M_A) > 1e-6)
    assert is_well_posed(given.terms, alpha)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(
    ("M", "A", "unique"),
    [
        pytest.param([[1, 0], [0, 0]], [[0, 1]], True, id="mass and constraint share the work"),
        pytest.param([[1, 0], [0, 0]], [[1, 0]], False, id="one direction has neither"),
        pytest.param([[1, -1], [-1, 1]], [[1, -1]], False, id="the sum moves freely"),
        pytest.param([[1, -1], [-1, 1]], [[1, 1], [2, 2]], True, id="redundant rows hold the sum"),
        pytest.param([[0, 0], [0, 0]], [[1, 2], [3, 4]], True, id="no mass, all constrained"),
        pytest.param([[2, 1], [1, 2]], np.zeros((0, 2)), True, id="mass alone"),
    ],
)
@pytest.mark.inventory("US-06", "US-08")
def test_well_posed_exactly_when_mass_and_constraints_together_have_full_rank(M, A, unique, alpha):
    rank = np.linalg.matrix_rank(np.vstack([M, A]))
    assert (rank == 2) == unique
    assert is_well_posed(EquationTerms.of(M, [0, 0], A, np.zeros(len(A))), alpha) == unique


@pytest.mark.parametrize("alpha", [0.0, np.nan, np.inf])
def test_alpha_is_a_finite_number_other_than_zero(alpha):
    with pytest.raises(InputError, match=r"alpha.*other than 0"):
        AuxiliarySystem(sample("one row").terms, alpha)


# --- Lemmas 2 to 4 --------------------------------------------------------------------------------


@with_definite_mass
@pytest.mark.inventory("US-09")
def test_lemma_2_weighted_tangent_projector_removes_the_normal_directions(given):
    # (21): (I − B⁺B) M^(−1/2) A⁺ = 0 with B = A M^(−1/2), from the library's own B and roots
    uk = UdwadiaKalaba(given.terms)
    B, W = uk.weighted_constraint_matrix, uk.mass_roots[1]
    assert_close(B, given.each(lambda s: s.A @ inverse_root(s.M)))
    projector = np.eye(given.n) - given.each(lambda s, own: plus(own) @ own, B)
    assert_zero(projector @ W @ uk.geometry.pinv)
    if given.rank < given.n:
        assert np.max(np.abs(projector @ W)) > 1e-3  # the identity is not void


@with_any_mass
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.inventory("US-09")
def test_lemma_2_holds_for_the_auxiliary_system(given, alpha):
    aux = AuxiliarySystem(given.terms, alpha)
    B, W = aux.weighted_constraint_matrix, aux.mass_roots[1]
    assert_close(B, given.each(lambda s: s.A @ inverse_root(augmented(s, alpha))))
    projector = np.eye(given.n) - given.each(lambda s, own: plus(own) @ own, B)
    assert_zero(projector @ W @ aux.geometry.pinv)


@with_any_mass
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.inventory("US-10")
def test_lemma_3_augmenting_the_mass_is_not_seen_along_the_constraints(given, alpha):
    # (23): (I − A⁺A) M = (I − A⁺A) M_A
    aux = AuxiliarySystem(given.terms, alpha)
    P = aux.geometry.tangent_projector
    assert_close(P @ aux.mass_matrix, given.each(lambda s: tangent(s.A) @ s.M))
    assert_close(aux.mass_matrix, given.each(lambda s: augmented(s, alpha)))


# --- Lemma 5 --------------------------------------------------------------------------------------


def rate(quantity, alpha, h=1e-3):
    """Derivative by α of a smooth matrix, by central differences of order 6.

    The error is h⁶ times a seventh derivative, 1e-18 · 1e4, and rounding 1e-13/h.
    """
    weights = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
    return sum(
        w * (quantity(alpha + k * h) - quantity(alpha - k * h)) / h for k, w in weights.items()
    )


#: Of the differences above; the formulas differ from other ones by more than 1e-3.
DIFFERENCES = 1e-8


def parts(s, alpha):
    """M_A⁻¹, H and H⁺ from their definitions."""
    inverse = np.linalg.inv(augmented(s, alpha))
    H = s.A @ inverse @ s.A.T
    return inverse, H, plus(H)


@with_any_mass
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.inventory("US-12")
def test_lemma_5_matrices_are_as_defined(given, alpha):
    aux = AuxiliarySystem(given.terms, alpha)
    assert_close(aux.inverse_mass_matrix, given.each(lambda s: parts(s, alpha)[0]))
    assert_close(aux.multiplier_matrix, given.each(lambda s: parts(s, alpha)[1]))
    assert_close(aux.multiplier_matrix_pinv, given.each(lambda s: parts(s, alpha)[2]))


@with_any_mass
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.inventory("US-12")
def test_lemma_5_a_e_g_rates_with_alpha(given, alpha):
    aux = AuxiliarySystem(given.terms, alpha)
    for actual, part in (
        (aux.inverse_mass_rate, 0),  # (28)
        (aux.multiplier_matrix_rate, 1),  # (32)
        (aux.multiplier_matrix_pinv_rate, 2),  # (34), the derivative of a pseudoinverse
    ):
        expected = given.each(lambda s, k=part: rate(lambda x: parts(s, x)[k], alpha))
        assert_close(actual, expected, DIFFERENCES)
        if given.rank:
            assert np.max(np.abs(expected)) > 1e-3  # the test can tell the rates from zero


@with_any_mass
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.inventory("US-12")
def test_lemma_5_b_c_d_f_identities(given, alpha):
    aux = AuxiliarySystem(given.terms, alpha)
    A, Ap = given.A, aux.geometry.pinv
    inverse, H, Hp = aux.inverse_mass_matrix, aux.multiplier_matrix, aux.multiplier_matrix_pinv
    one, At = np.eye(given.n), np.swapaxes(given.A, -1, -2)
    row_one = np.eye(given.m)
    assert_zero((one - At @ Hp @ A @ inverse) @ Ap)  # (29)
    assert_zero(H @ (row_one - H @ Hp))  # (30)
    assert_zero((row_one - Hp @ H) @ A @ inverse @ Ap)  # (31)
    H_rate = np.swapaxes(aux.multiplier_matrix_rate, -1, -2)
    assert_zero(H_rate @ (row_one - H @ Hp))  # (33)
    assert_zero((row_one - Hp @ H) @ H_rate)


@with_any_mass
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.inventory("US-12")
def test_lemma_5_h_the_gain_of_b_does_not_depend_on_alpha(given, alpha):
    # (35): ∂(M_A⁻¹AᵀH⁺)/∂α = 0, from the library's rates by the product rule
    aux = AuxiliarySystem(given.terms, alpha)
    At = np.swapaxes(given.A, -1, -2)
    gain_rate = aux.inverse_mass_rate @ At @ aux.multiplier_matrix_pinv
    gain_rate = gain_rate + aux.inverse_mass_matrix @ At @ aux.multiplier_matrix_pinv_rate
    assert_zero(gain_rate)


@with_any_mass
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.inventory("US-17", "US-48")
def test_57_the_response_to_forces_does_not_change_with_alpha(given, alpha):
    aux = AuxiliarySystem(given.terms, alpha)

    def response(s, x):
        inverse, _, Hp = parts(s, x)
        return inverse - inverse @ s.A.T @ Hp @ s.A @ inverse

    assert_close(aux.force_response, given.each(lambda s: response(s, alpha)))
    assert_close(aux.force_response, given.each(lambda s: response(s, 1.7)))
    first, second = aux.force_response_rates
    expected = given.each(lambda s: rate(lambda x: parts(s, x)[0], alpha))
    assert_close(first, expected, DIFFERENCES)
    assert_close(
        second,
        given.each(lambda s: rate(lambda x: response(s, x) - parts(s, x)[0], alpha)),
        DIFFERENCES,
    )
    assert_zero(first + second)


# --- acceleration: Results 1 to 4 -----------------------------------------------------------------


@with_any_mass
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.inventory("US-13")
def test_result_1_auxiliary_system_moves_like_the_real_one(given, alpha):
    aux, z = auxiliary(given, alpha)
    assert_close(aux.applied_force, given.each(lambda s, x: s.Q + plus(s.A) @ x, z))  # (45)
    # The auxiliary system is a system like any other, with M_A, Q_z and the same A, b, C.
    other = EquationTerms.of(aux.mass_matrix, aux.applied_force, given.A, given.b, given.C)
    assert_close(UdwadiaKalaba(other).acceleration, given.each(motion))
    assert_close(aux.acceleration, given.each(motion))


@with_any_mass
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.inventory("US-14")
def test_result_2_explicit_acceleration(given, alpha):
    # (49)–(52): q̈ = a + M_A^(−1/2) B_A⁺ (b − A a) + M_A^(−1/2) (I − B_A⁺B_A) M_A^(−1/2) C
    def formula(s, z):
        M_A = augmented(s, alpha)
        W = inverse_root(M_A)
        a, B = np.linalg.solve(M_A, s.Q + plus(s.A) @ z), s.A @ W
        Bp = plus(B)
        return a + W @ Bp @ (s.b - s.A @ a) + W @ (np.eye(s.n) - Bp @ B) @ W @ s.C

    aux, z = auxiliary(given, alpha)
    assert_close(aux.acceleration, given.each(formula, z))
    free = given.each(lambda s, x: np.linalg.solve(augmented(s, alpha), s.Q + plus(s.A) @ x), z)
    assert_close(aux.free_acceleration, free)
    B = given.each(lambda s: s.A @ inverse_root(augmented(s, alpha)))
    assert_close(aux.weighted_constraint_matrix, B)


@with_any_mass
@pytest.mark.inventory("US-15")
def test_force_form_of_the_auxiliary_system(given):
    # (53): M_A q̈ = Q + A⁺z + M_A^(1/2) B_A⁺ (b − A a) + M_A^(1/2) (I − B_A⁺B_A) M_A^(−1/2) C
    aux, z = auxiliary(given)
    expected = given.each(lambda s, x: s.Q + plus(s.A) @ x + auxiliary_force(s, x, 0.6), z)
    assert_close(aux.applied_force + aux.auxiliary_constraint_force, expected)
    assert_close(aux.applied_force, given.each(lambda s, x: s.Q + plus(s.A) @ x, z))
    inertia = (aux.mass_matrix @ given.each(motion)[..., None])[..., 0]
    assert_close(aux.applied_force + aux.auxiliary_constraint_force, inertia)


@with_any_mass
@pytest.mark.inventory("US-16")
def test_corollary_1a_the_acceleration_does_not_depend_on_z(given):
    accelerations = [auxiliary(given, 0.8, seed)[0].acceleration for seed in range(3)]
    accelerations.append(AuxiliarySystem(given.terms, 0.8, np.zeros(given.m)).acceleration)  # (54)
    for acceleration in accelerations:
        assert_close(acceleration, given.each(motion))


@with_any_mass
@pytest.mark.inventory("US-17")
def test_corollary_1b_the_acceleration_does_not_depend_on_alpha(given):
    for alpha in (0.3, 1.0, -2.0, 5.0):
        aux, _ = auxiliary(given, alpha)
        assert_close(aux.acceleration, given.each(motion), 1e-9)  # α² = 25 against 0.09
        # (56): q̈ = M_A⁻¹ (I − AᵀH⁺A M_A⁻¹) (Q + A⁺z + C) + M_A⁻¹AᵀH⁺ b
        At, inverse = np.swapaxes(given.A, -1, -2), aux.inverse_mass_matrix
        gain = inverse @ At @ aux.multiplier_matrix_pinv
        force = aux.applied_force + given.C
        by_H = (inverse @ force[..., None] - gain @ given.A @ inverse @ force[..., None])[..., 0]
        by_H = by_H + (gain @ given.b[..., None])[..., 0]
        assert_close(by_H, given.each(motion), 1e-9)


@with_definite_mass
@pytest.mark.inventory("US-18")
def test_corollary_2_the_same_formulas_serve_a_definite_mass_matrix(given):
    expected = UdwadiaKalaba(given.terms).acceleration
    assert_close(auxiliary(given)[0].acceleration, expected)
    assert_close(UdwadiaSchutte(given.terms).acceleration, expected)


@with_any_mass
@pytest.mark.inventory("US-19")
def test_result_3_replace_M_by_M_plus_A_plus_A(given):
    # (59), α = 1, z = 0: the fundamental equation with another mass matrix and nothing else changed
    other = given.each(lambda s: s.M + plus(s.A) @ s.A)
    terms = EquationTerms.of(other, given.Q, given.A, given.b, given.C)
    simplest = UdwadiaSchutte(given.terms).simplest_acceleration
    assert_close(simplest, UdwadiaKalaba(terms).acceleration)
    assert_close(simplest, given.each(motion))


@with_any_mass
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.inventory("US-20")
def test_result_4_ideal_constraints(given, alpha):
    # (62): q̈ = a_{A,z} + M_A^(−1/2) B_A⁺ (b − A a_{A,z})
    def formula(s, z):
        M_A = augmented(s, alpha)
        W, a = inverse_root(M_A), np.linalg.solve(M_A, s.Q + plus(s.A) @ z)
        return a + W @ plus(s.A @ W) @ (s.b - s.A @ a)

    aux, z = auxiliary(given.ideal, alpha)
    assert_close(aux.acceleration, given.ideal.each(formula, z))
    assert_close(aux.acceleration, given.ideal.each(motion))
    assert_zero(aux.nonideal_part)


@with_any_mass
@pytest.mark.inventory("US-21")
def test_corollary_3_ideal_constraints_with_M_plus_A_plus_A(given):
    # (63)
    def formula(s):
        M_A = augmented(s, 1.0)
        W, a = inverse_root(M_A), np.linalg.solve(M_A, s.Q)
        return a + W @ plus(s.A @ W) @ (s.b - s.A @ a)

    assert_close(UdwadiaSchutte(given.ideal.terms).simplest_acceleration, given.ideal.each(formula))


# --- constraint force: Results 5 and 6 ------------------------------------------------------------


def auxiliary_force(s, z, alpha):
    """(65): Q^c_{A,z}."""
    M_A = augmented(s, alpha)
    R, W = root(M_A), inverse_root(M_A)
    a, B = np.linalg.solve(M_A, s.Q + plus(s.A) @ z), s.A @ W
    Bp = plus(B)
    return R @ Bp @ (s.b - s.A @ a) + R @ (np.eye(s.n) - Bp @ B) @ W @ s.C


@with_any_mass
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.inventory("US-23")
def test_constraint_force_of_the_auxiliary_system(given, alpha):
    aux, z = auxiliary(given, alpha)
    expected = given.each(lambda s, x: auxiliary_force(s, x, alpha), z)
    assert_close(aux.auxiliary_constraint_force, expected)
    assert_close(aux.ideal_force + aux.nonideal_part, expected)
    # (66): q̈ = M_A⁻¹ (Q_z + Q^c_{A,z})
    moved = np.linalg.solve(aux.mass_matrix, (aux.applied_force + expected)[..., None])[..., 0]
    assert_close(moved, given.each(motion))


@with_any_mass
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.inventory("US-24")
def test_real_constraint_force_from_the_auxiliary_one_for_any_z(given, alpha):
    # (71): Q^c = Q_z + Q^c_{A,z} − Q_{α²b}
    def formula(s, z):
        change = plus(s.A) @ (z - alpha**2 * s.b)
        return change + auxiliary_force(s, z, alpha)

    aux, z = auxiliary(given, alpha)
    assert_close(aux.constraint_force, given.each(formula, z))
    assert_close(aux.constraint_force, given.each(constraint_force))
    if given.rank:
        assert np.max(np.abs(aux.auxiliary_constraint_force - aux.constraint_force)) > 1e-3


@with_any_mass
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.inventory("US-25")
def test_result_5_with_z_as_alpha_squared_b_both_forces_are_equal(given, alpha):
    aux = AuxiliarySystem(given.terms, alpha)  # z = α²b is the default
    assert_close(aux.z, alpha**2 * given.b)
    assert_close(aux.auxiliary_constraint_force, given.each(constraint_force))
    assert_close(aux.constraint_force, given.each(constraint_force))


@with_any_mass
@pytest.mark.inventory("US-26")
def test_result_6_one_equation_for_motion_and_force(given):
    # (72)–(75), α = 1 and z = b
    us = UdwadiaSchutte(given.terms)
    assert_close(us.constraint_force, given.each(lambda s: auxiliary_force(s, s.b, 1.0)))
    assert_close(us.constraint_force, given.each(constraint_force))
    right = given.each(lambda s: s.Q + plus(s.A) @ s.b) + us.constraint_force
    M_A = given.each(lambda s: augmented(s, 1.0))
    assert_close(us.acceleration, np.linalg.solve(M_A, right[..., None])[..., 0])
    assert_close(us.acceleration, given.each(motion))
    acceleration, lam = us.respond(given.Q + given.C, given.b)
    assert_close(acceleration, given.each(motion))
    force = (np.swapaxes(given.A, -1, -2) @ lam[..., None])[..., 0] + given.C
    assert_close(force, given.each(constraint_force))


@with_any_mass
@pytest.mark.inventory("US-27")
def test_the_three_steps_as_one_call(given):
    s = solve(given.M, given.Q, given.A, given.b, given.C, formulation="udwadia_schutte")
    assert s.formulation == "udwadia_schutte"
    # (i) mass M + A⁺A, (ii) force Q + A⁺b, (iii) the fundamental equation
    other = EquationTerms.of(
        given.each(lambda x: x.M + plus(x.A) @ x.A),
        given.each(lambda x: x.Q + plus(x.A) @ x.b),
        given.A,
        given.b,
        given.C,
    )
    uk = UdwadiaKalaba(other)
    assert_close(s.acceleration, uk.acceleration)
    assert_close(s.constraint_force, uk.constraint_force)
