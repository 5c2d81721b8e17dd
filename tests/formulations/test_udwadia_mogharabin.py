"""Udwadia & Mogharabin (2022): motion and force on N(A) and N(A)⊥."""

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
from zwang.formulations.udwadia_mogharabin import UdwadiaMogharabin, fully_constrained, particle
from zwang.formulations.udwadia_phohomsiri import UdwadiaPhohomsiri
from zwang.solvers.dense import solve
from zwang.terms import EquationTerms


def projected_mass(s):
    """(15): M_s = (I − A⁺A) M (I − A⁺A)."""
    return tangent(s.A) @ s.M @ tangent(s.A)


def projected_mass_pinv(s):
    """M_s⁺; what is small against M itself is rounding (see the errata on (24))."""
    return plus(projected_mass(s), size=max(np.linalg.norm(s.M, 2), 1.0))


def delta(s):
    """Δ = Q + C − M A⁺b."""
    return s.Q + s.C - s.M @ plus(s.A) @ s.b


def null_basis(s):
    """V₂ of (43)."""
    return np.linalg.svd(s.A)[2][s.rank :].T if s.m else np.eye(s.n)


def product(B, x):
    return (B @ x[..., None])[..., 0]


# --- virtual displacements ------------------------------------------------------------------------


@with_any_mass
@pytest.mark.inventory("UM-02")
def test_virtual_displacements_are_all_vectors_the_constraints_allow(given):
    um = UdwadiaMogharabin(given.terms)
    v = np.random.default_rng(3).standard_normal((*given.batch, given.n))
    w = um.virtual_displacement(v)
    assert_close(w, product(given.each(lambda s: tangent(s.A)), v))  # (7)
    assert_zero(product(given.A, w))  # (5)
    assert_close(um.virtual_displacement(w), w)  # every one of them is reached, by itself
    span = given.each(
        lambda s: np.linalg.matrix_rank(UdwadiaMogharabin(s.terms).geometry.null_space)
    )
    assert_close(span, np.full(given.batch, given.n - given.rank))


@with_any_mass
@pytest.mark.inventory("UM-03")
def test_projected_constraint_force_is_the_projected_C(given):
    # (9): (I − A⁺A) Q^c = (I − A⁺A) C
    um = UdwadiaMogharabin(given.terms)
    assert_close(um.tangent_constraint_force, given.each(lambda s: tangent(s.A) @ s.C))
    assert_close(um.virtual_displacement(um.constraint_force), um.tangent_constraint_force)


@with_any_mass
@pytest.mark.inventory("UM-04")
def test_reaction_free_projected_equation(given):
    # (10): (I − A⁺A) M q̈ = (I − A⁺A) (Q + C), which holds no reaction
    um = UdwadiaMogharabin(given.terms)
    left = product(UdwadiaPhohomsiri(given.terms).stacked_matrix, um.acceleration)[..., : given.n]
    assert_close(left, um.virtual_displacement(given.Q + given.C))
    assert_close(left, given.each(lambda s: tangent(s.A) @ s.M @ motion(s)))


@with_any_mass
@pytest.mark.inventory("UM-05")
def test_acceleration_splits_into_orthogonal_parts(given):
    um = UdwadiaMogharabin(given.terms)
    assert_close(um.normal_acceleration, given.each(lambda s: plus(s.A) @ s.b))
    assert_close(um.normal_acceleration, given.each(lambda s: plus(s.A) @ s.A @ motion(s)))
    assert_close(um.tangent_acceleration, given.each(lambda s: tangent(s.A) @ motion(s)))
    assert_zero(np.sum(um.tangent_acceleration * um.normal_acceleration, axis=-1))


# --- matrices -------------------------------------------------------------------------------------


@with_any_mass
@pytest.mark.inventory("UM-06")
def test_projected_mass_and_stacked_matrix(given):
    um = UdwadiaMogharabin(given.terms)
    assert_close(um.projected_mass, given.each(projected_mass))
    assert_close(um.stacked_matrix, given.each(lambda s: np.vstack([projected_mass(s), s.A])))
    assert_close(um.mass_constraint_stack, given.each(lambda s: np.vstack([s.M, s.A])))


@with_any_mass
@pytest.mark.inventory("UM-08")
def test_unique_acceleration_through_the_stacked_pseudoinverse(given):
    # (14), (18): q̈ = M̃⁺ [(I − A⁺A) Δ; b]
    um = UdwadiaMogharabin(given.terms)
    right = given.each(lambda s: np.concatenate([tangent(s.A) @ delta(s), s.b]))
    assert_close(um.stacked_rhs, right)
    inverse = given.each(lambda s: plus(np.vstack([projected_mass(s), s.A])))
    assert_close(product(inverse, right), given.each(motion))
    assert_close(product(um.stacked_pinv, um.stacked_rhs), given.each(motion))


@with_any_mass
@pytest.mark.inventory("UM-10")
def test_lemma_1_pseudoinverse_of_stacked_orthogonal_blocks(given):
    # [S; T]⁺ = [S⁺ | T⁺] when S Tᵀ = 0, and S⁺S + T⁺T = I for full column rank
    um = UdwadiaMogharabin(given.terms)
    S, T = um.projected_mass, given.A
    assert_zero(S @ np.swapaxes(T, -1, -2))  # (25)
    assert_close(um.stacked_pinv, given.each(lambda s, R: plus(R), um.stacked_matrix))
    whole = um.stacked_pinv @ um.stacked_matrix
    assert_close(whole, np.broadcast_to(np.eye(given.n), whole.shape))
    parts = um.projected_mass_pinv @ S + um.geometry.pinv @ T
    assert_close(parts, np.broadcast_to(np.eye(given.n), whole.shape))


@with_any_mass
@pytest.mark.inventory("UM-11")
def test_lemma_2_projected_mass_and_its_inverse_live_on_the_null_space(given):
    um = UdwadiaMogharabin(given.terms)
    P = given.each(lambda s: tangent(s.A))
    for matrix in (um.projected_mass, um.projected_mass_pinv):
        assert_close(P @ matrix, matrix)
        assert_close(matrix @ P, matrix)
        assert_close(np.swapaxes(matrix, -1, -2), matrix)
    assert_close(um.projected_mass_pinv, given.each(projected_mass_pinv))
    assert_close(um.projected_mass, given.each(lambda s: tangent(s.A) @ s.M @ tangent(s.A)))


@with_any_mass
@pytest.mark.inventory("UM-19")
def test_projected_mass_acts_on_the_part_of_a_vector_in_the_null_space(given):
    # (41), (42): M_s w = M_s w_N = M_N w_N, M_N = (I − A⁺A) M
    um = UdwadiaMogharabin(given.terms)
    w = np.random.default_rng(7).standard_normal((*given.batch, given.n))
    w_N = um.virtual_displacement(w)
    assert_close(product(um.projected_mass, w), product(um.projected_mass, w_N))
    M_N = given.each(lambda s: tangent(s.A) @ s.M)
    assert_close(product(um.projected_mass, w), product(M_N, w_N))


@with_any_mass
@pytest.mark.inventory("UM-20")
def test_null_space_basis_and_reduced_mass(given):
    # (43)–(45): M_s = V₂ (V₂ᵀ M V₂) V₂ᵀ
    um = UdwadiaMogharabin(given.terms)
    V2 = um.geometry.null_space
    V2t = np.swapaxes(V2, -1, -2)
    assert_zero(given.A @ V2)
    assert_close(V2 @ V2t, given.each(lambda s: tangent(s.A)))
    assert_close(um.reduced_mass, V2t @ given.M @ V2)
    assert_close(V2 @ um.reduced_mass @ V2t, given.each(projected_mass))
    # The basis is free up to a rotation; the eigenvalues are not.
    own = given.each(lambda s: np.linalg.eigvalsh(null_basis(s).T @ s.M @ null_basis(s)))
    assert_close(np.linalg.eigvalsh(um.reduced_mass), own)


@with_any_mass
@pytest.mark.inventory("UM-25")
def test_lemma_5_inverse_of_the_projected_mass(given):
    # M_s⁺ = V₂ (V₂ᵀ M V₂)⁻¹ V₂ᵀ and M_s M_s⁺ = M_s⁺ M_s = I − A⁺A
    def formula(s):
        V2 = null_basis(s)
        return V2 @ np.linalg.inv(V2.T @ s.M @ V2) @ V2.T

    um = UdwadiaMogharabin(given.terms)
    assert_close(um.projected_mass_pinv, given.each(formula))
    P = given.each(lambda s: tangent(s.A))
    assert_close(um.projected_mass @ um.projected_mass_pinv, P)
    assert_close(um.projected_mass_pinv @ um.projected_mass, P)


def test_inverse_of_the_projected_mass_is_zero_not_noise_for_full_column_rank():
    # M_s is rounding then; a pseudoinverse with a tolerance relative to itself would invert it.
    um = UdwadiaMogharabin(sample("full column rank").terms)
    assert not um.projected_mass_pinv.any()


# --- motion and force -----------------------------------------------------------------------------


@with_any_mass
@pytest.mark.inventory("UM-12")
def test_result_1_acceleration(given):
    # (24): q̈ = M_s⁺ Δ + A⁺b
    um = UdwadiaMogharabin(given.terms)
    assert_close(um.reduced_force, given.each(delta))
    formula = given.each(lambda s: projected_mass_pinv(s) @ delta(s) + plus(s.A) @ s.b)
    assert_close(um.acceleration, formula)
    assert_close(um.acceleration, given.each(motion))


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
@pytest.mark.inventory("UM-13")
def test_single_particle_moves_by_projections_alone(rows):
    # (28): q̈ = (I − A⁺A)(a + d) + A⁺b, whatever the mass
    rng = np.random.default_rng(rows)
    A = rng.integers(-2, 3, size=(rows, 3)).astype(float)
    A[-1] = 2.0 * A[0] if rows > 1 else A[0]
    b = A @ [1.0, -2.0, 3.0]
    a, d = rng.standard_normal(3), rng.standard_normal(3)
    expected = tangent(A) @ (a + d) + plus(A) @ b
    for mass in (0.2, 30.0):
        assert_close(particle(mass, a, A, b, d), expected)
        assert_close(solve(mass * np.eye(3), mass * a, A, b, mass * d).acceleration, expected)
    ideal = tangent(A) @ a + plus(A) @ b
    assert_close(particle(1.0, a, A, b), ideal)


@pytest.mark.parametrize("mass", [0.0, -1.0, np.nan])
def test_a_particle_has_a_positive_mass(mass):
    with pytest.raises(InputError, match=r"mass.*a positive number"):
        particle(mass, [0, 0, 0], [[1, 0, 0]], [0])


@with_any_mass
@pytest.mark.inventory("UM-15")
def test_result_2_constraint_force(given):
    # (32): Q^c = (M M_s⁺ − I) Δ + C, equal to (31): M q̈ − Q
    def formula(s):
        return (s.M @ projected_mass_pinv(s) - np.eye(s.n)) @ delta(s) + s.C

    um = UdwadiaMogharabin(given.terms)
    assert_close(um.constraint_force, given.each(formula))
    assert_close(um.constraint_force, given.each(constraint_force))


@with_any_mass
@pytest.mark.inventory("UM-16")
def test_projections_of_the_constraint_force(given):
    # (33): (M M_s⁺ − I) Δ + A⁺A C on N(A)⊥, (34): (I − A⁺A) C on N(A)
    def normal(s):
        ideal = (s.M @ projected_mass_pinv(s) - np.eye(s.n)) @ delta(s)
        return ideal + plus(s.A) @ s.A @ s.C

    um = UdwadiaMogharabin(given.terms)
    assert_close(um.normal_constraint_force, given.each(normal))
    onto = given.each(lambda s: plus(s.A) @ s.A @ constraint_force(s))
    assert_close(um.normal_constraint_force, onto)
    along = given.each(lambda s: tangent(s.A) @ constraint_force(s))
    assert_close(um.tangent_constraint_force, along)


@pytest.mark.parametrize("kind", ["full column rank", "singular mass, full column rank"])
@pytest.mark.inventory("UM-17")
def test_remark_3_fully_constrained_motion_is_the_constraints_alone(kind):
    # (39): q̈ = A⁺b, (40): Q^c = M A⁺b − Q
    s = sample(kind, 2)
    acceleration, force = fully_constrained(s.M, s.Q, s.A, s.b)
    assert_close(acceleration, plus(s.A) @ s.b)
    assert_close(force, s.M @ plus(s.A) @ s.b - s.Q)
    by_solve = solve(s.M, s.Q, s.A, s.b, s.C)
    assert_close(by_solve.acceleration, acceleration)
    assert_close(by_solve.constraint_force, force)
    um = UdwadiaMogharabin(s.terms)
    assert_zero(um.tangent_acceleration)
    assert_close(um.constraint_force, force)


@with_any_mass
@pytest.mark.inventory("UM-21")
def test_two_steps_least_norm_first_then_least_squares(given):
    # (46), (47): M_s q̈_A = C + Q − M A⁺b in the least-squares, least-norm sense
    def second_step(s):
        size = max(np.linalg.norm(s.M, 2), 1.0)
        M_s = projected_mass(s)
        M_s = np.where(np.abs(M_s) > 1e-9 * size, M_s, 0.0)  # rounding, if all is constrained
        return np.linalg.lstsq(M_s, s.Q + s.C - s.M @ first_step(s), rcond=1e-9)[0]

    def first_step(s):
        return np.linalg.lstsq(s.A, s.b, rcond=1e-9)[0] if s.m else np.zeros(s.n)

    um = UdwadiaMogharabin(given.terms)
    assert_close(um.normal_acceleration, given.each(first_step))
    assert_close(um.geometry.least_norm(given.b), given.each(first_step))
    assert_close(um.tangent_acceleration, given.each(second_step))


@with_any_mass
@pytest.mark.inventory("UM-26")
def test_result_3_only_the_reduced_mass_is_inverted(given):
    # (54): q̈ = V₂ (V₂ᵀMV₂)⁻¹ V₂ᵀ Δ + A⁺b, (55): Q^c = M V₂ (…)⁻¹ V₂ᵀ Δ + M A⁺b − Q
    def acceleration(s):
        V2 = null_basis(s)
        return V2 @ np.linalg.solve(V2.T @ s.M @ V2, V2.T @ delta(s)) + plus(s.A) @ s.b

    um = UdwadiaMogharabin(given.terms)
    found, lam = um.respond(given.Q + given.C, given.b)
    assert_close(found, given.each(acceleration))
    force = product(np.swapaxes(given.A, -1, -2), lam) + given.C
    assert_close(force, given.each(lambda s: s.M @ acceleration(s) - s.Q))
    for s in given.systems():
        solved = solve(s.M, s.Q, s.A, s.b, s.C, formulation="udwadia_mogharabin")
        assert_close(solved.acceleration, acceleration(s))
        assert_close(solved.constraint_force, s.M @ acceleration(s) - s.Q)


# --- uniqueness -----------------------------------------------------------------------------------

#: M, A, whether rank [M; A] = n.
POSED = [
    pytest.param([[1, 0], [0, 0]], [[0, 1]], True, id="shared work"),
    pytest.param([[1, 0], [0, 0]], [[1, 0]], False, id="neither mass nor constraint"),
    pytest.param([[1, -1], [-1, 1]], [[1, -1], [2, -2]], False, id="the sum moves freely"),
    pytest.param([[1, -1], [-1, 1]], [[1, 1], [2, 2]], True, id="redundant rows hold the sum"),
    pytest.param([[0, 0], [0, 0]], [[1, 2], [3, 4]], True, id="all constrained"),
    pytest.param([[1, 0], [0, 0]], np.zeros((0, 2)), False, id="singular mass alone"),
]


@pytest.mark.parametrize(("M", "A", "unique"), POSED)
@pytest.mark.inventory("UM-22", "UM-23", "UM-24")
def test_the_three_uniqueness_tests_agree(M, A, unique):
    terms = EquationTerms.of(M, [0, 0], A, np.zeros(len(A)))
    um = UdwadiaMogharabin(terms)
    # Lemma 3 and Lemma 4, each rank by itself
    assert (np.linalg.matrix_rank(np.vstack([M, A])) == 2) == unique
    assert (np.linalg.matrix_rank(um.mass_constraint_stack, tol=1e-9) == 2) == unique
    assert (np.linalg.matrix_rank(um.stacked_matrix, tol=1e-9) == 2) == unique
    V2 = um.geometry.null_space
    assert_close(um.reduced_mass, V2.T @ np.asarray(M, float) @ V2)
    freedoms = um.reduced_mass.shape[0]
    assert (freedoms == 0 or np.linalg.matrix_rank(um.reduced_mass, tol=1e-9) == freedoms) == unique
    tests = um.uniqueness_tests
    assert len(tests) == 3
    assert set(tests.values()) == {unique}


@with_any_mass
@pytest.mark.inventory("UM-22", "UM-23", "UM-24")
def test_well_posed_samples_pass_all_three_uniqueness_tests(given):
    tests = UdwadiaMogharabin(given.terms).uniqueness_tests
    assert list(tests.values()) == [True, True, True]


def test_uniqueness_tests_may_differ_for_an_indefinite_matrix():
    # Lemmas 3 and 4 need M ≥ 0: here [M; A] has rank 2 and [M_s; A] rank 1.
    terms = EquationTerms.of([[1, 0], [0, -1]], [0, 0], [[1, -1]], [0])
    tests = UdwadiaMogharabin(terms).uniqueness_tests
    assert tests["M̂ = [M; A] has full column rank"]
    assert not tests["M̃ = [M_s; A] has full column rank"]


# A particle on a line y = const, with a coordinate z that has no mass and no constraint.
LOOSE = {"M": np.diag([2.0, 2.0, 0.0]), "A": np.array([[0.0, 1.0, 0.0]]), "b": np.array([3.0])}


@pytest.mark.inventory("UM-07")
def test_family_holds_every_acceleration_where_they_are_not_unique():
    # (17): M̃⁺ [(I − A⁺A) Δ; b] + (I − M̃⁺M̃) γ
    Q = np.array([8.0, 1.0, 0.0])
    um = UdwadiaMogharabin(EquationTerms.of(LOOSE["M"], Q, LOOSE["A"], LOOSE["b"]))
    assert_close(um.family(np.zeros(3)), [4.0, 3.0, 0.0])
    assert_close(um.family([1.0, 2.0, 5.0]), [4.0, 3.0, 5.0])


@pytest.mark.inventory("UM-07")
def test_family_of_a_unique_acceleration_is_that_acceleration():
    s = sample("singular mass, redundant rows")
    gamma = np.random.default_rng(1).standard_normal(s.n)
    assert_close(UdwadiaMogharabin(s.terms).family(gamma), motion(s))


@pytest.mark.inventory("UM-07")
def test_family_is_refused_where_no_acceleration_exists():
    # The errata's counterexample: a force along the direction with neither mass nor constraint.
    um = UdwadiaMogharabin(EquationTerms.of(np.diag([1.0, 0, 0]), [0, 1, 0], [[1, 0, 0]], [2]))
    with pytest.raises(
        InputError,
        match=r"force must satisfy wᵀ\(Q \+ C\) = 0.*but acts along a direction with neither",
    ):
        um.family(np.zeros(3))


# --- reduction to the fundamental equation, M > 0 -------------------------------------------------


@with_definite_mass
@pytest.mark.inventory("UM-27")
def test_lemma_6_weighted_stack_has_full_column_rank(given):
    # (56): [(I − A⁺A) M^(1/2); A M^(−1/2)], whose blocks are orthogonal (57)
    uk = UdwadiaKalaba(given.terms)
    half, _ = uk.mass_roots
    top = uk.geometry.tangent_projector @ half
    assert_close(top, given.each(lambda s: tangent(s.A) @ root(s.M)))
    assert_zero(top @ np.swapaxes(uk.weighted_constraint_matrix, -1, -2))
    stack = np.concatenate([top, uk.weighted_constraint_matrix], axis=-2)
    assert np.all(np.linalg.matrix_rank(stack, tol=1e-6) == given.n)


@with_definite_mass
@pytest.mark.inventory("UM-28")
def test_lemma_7(given):
    # (58): I − M_s⁺M = M^(−1/2) B⁺ A
    left = np.eye(given.n) - UdwadiaMogharabin(given.terms).projected_mass_pinv @ given.M
    right = given.each(lambda s: inverse_root(s.M) @ plus(s.A @ inverse_root(s.M)) @ s.A)
    assert_close(left, right)
    W = UdwadiaKalaba(given.terms).mass_roots[1]
    B = UdwadiaKalaba(given.terms).weighted_constraint_matrix
    assert_close(W @ given.each(lambda s, own: plus(own), B) @ given.A, right)


@with_definite_mass
@pytest.mark.inventory("UM-29")
def test_projected_mass_inverse_by_roots_of_the_mass(given):
    # (61): M_s⁺ = M^(−1/2) (I − B⁺B) M^(−1/2)
    def formula(s):
        W = inverse_root(s.M)
        B = s.A @ W
        return W @ (np.eye(s.n) - plus(B) @ B) @ W

    assert_close(UdwadiaMogharabin(given.terms).projected_mass_pinv, given.each(formula))
    B = UdwadiaKalaba(given.terms).weighted_constraint_matrix
    assert_close(B, given.each(lambda s: s.A @ inverse_root(s.M)))


@with_definite_mass
@pytest.mark.inventory("UM-30")
def test_result_4_reduction_to_the_fundamental_equation(given):
    # (62): q̈ = a + M^(−1/2) B⁺ (b − A a) + M^(−1/2) (I − B⁺B) M^(−1/2) C
    def formula(s):
        a, W = np.linalg.solve(s.M, s.Q), inverse_root(s.M)
        B = s.A @ W
        Bp = plus(B)
        return a + W @ Bp @ (s.b - s.A @ a) + W @ (np.eye(s.n) - Bp @ B) @ W @ s.C

    um, uk = UdwadiaMogharabin(given.terms), UdwadiaKalaba(given.terms)
    assert_close(um.acceleration, given.each(formula))
    assert_close(um.acceleration, uk.acceleration)
    assert_close(um.constraint_force, uk.constraint_force)
