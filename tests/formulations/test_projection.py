"""Blajer (1992): projection into the tangent and the orthogonal subspace."""

import numpy as np
import pytest

from samples import (
    assert_close,
    assert_zero,
    constraint_force,
    motion,
    plus,
    sample,
    tangent,
    with_any_mass,
    with_definite_mass,
)
from zwang.errors import InputError
from zwang.formulations.projection import (
    Projection,
    change_of_base,
    contravariant,
    covariant,
    dot_product,
    tangent_basis,
)
from zwang.solvers.dense import solve
from zwang.terms import EquationTerms


def product(B, x):
    return (B @ x[..., None])[..., 0]


def turned(B):
    return np.swapaxes(B, -1, -2)


def own_basis(s, seed=2):
    """A basis of N(A) that is not orthonormal, as a user would have one."""
    V2 = np.linalg.svd(s.A)[2][s.rank :].T if s.m else np.eye(s.n)
    k = V2.shape[1]
    return V2 @ (np.eye(k) + 0.3 * np.random.default_rng(seed).standard_normal((k, k)))


# --- subspaces ------------------------------------------------------------------------------------


@with_any_mass
@pytest.mark.inventory("BL-09")
def test_orthogonal_complement_is_computed_or_taken_from_the_user(given):
    # (3.1): D Cᵀ = 0, that is A Dᵀ = 0 with as many columns as freedoms
    computed = Projection(given.terms)
    assert computed.basis.shape == (*given.batch, given.n, given.n - given.rank)
    assert_zero(given.A @ computed.basis)
    assert np.all(np.linalg.matrix_rank(computed.basis) == given.n - given.rank)
    D = given.each(own_basis)
    supplied = Projection(given.terms, basis=D)
    assert supplied.basis is D
    assert_close(supplied.acceleration, given.each(motion))
    assert_close(computed.acceleration, given.each(motion))
    assert_close(supplied.constraint_force, given.each(constraint_force))


@pytest.mark.parametrize("method", ["svd", "qr", "partition"])
@pytest.mark.parametrize("kind", ["redundant rows", "independent rows", "no rows", "one row"])
@pytest.mark.inventory("BL-09", "BL-51")
def test_tangent_basis_without_guessing(method, kind):
    s = sample(kind)
    D = tangent_basis(s.A, method)
    assert D.shape == (s.n, s.n - s.rank)
    assert_zero(s.A @ D)
    assert np.linalg.matrix_rank(D) == s.n - s.rank
    if method == "partition":  # each column has a coordinate of its own, with the value one
        assert all((row == D).all(axis=1).any() for row in np.eye(s.n - s.rank))
    else:
        assert_close(D.T @ D, np.eye(s.n - s.rank))
    assert_close(Projection(s.terms, basis=D).acceleration, motion(s))


@pytest.mark.inventory("BL-51")
def test_partition_names_independent_coordinates():
    # Each column gives one coordinate the value one and leaves the other independent ones alone.
    s = sample("redundant rows")
    D = tangent_basis(s.A, "partition")
    own = [np.flatnonzero((unit == D).all(axis=1)) for unit in np.eye(s.n - s.rank)]
    assert all(len(rows) for rows in own)
    assert np.max(np.abs(D)) < 10.0  # full pivoting keeps the others bounded


@pytest.mark.parametrize("method", ["svd", "qr", "partition"])
@pytest.mark.inventory("BL-51")
def test_tangent_basis_of_a_large_system(method):
    rng = np.random.default_rng(0)
    A = np.zeros((60, 80))
    for i in range(60):  # a chain: each row couples neighbours
        A[i, i : i + 3] = rng.integers(1, 4, size=3)
    A[59] = A[57] - 2.0 * A[58]
    D = tangent_basis(A, method)
    assert D.shape == (80, 21)
    assert np.max(np.abs(A @ D)) < 1e-11 * np.max(np.abs(D))


def test_tangent_basis_refuses_an_unknown_method():
    with pytest.raises(InputError, match="method must be 'svd', 'qr' or 'partition', not 'guess'"):
        tangent_basis([[1.0, 0.0]], "guess")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("basis", "words"),
    [
        pytest.param(
            np.zeros((3, 1)),
            r"tangent basis must have shape \(…, 3, 2\), one.*but has shape \(3, 1\)",
            id="too few columns",
        ),
        pytest.param(np.zeros((2, 3)), r"shape \(2, 3\).*give D transposed", id="rows"),
        pytest.param(
            [[1, 0], [0, 0], [0, 1]],
            "tangent basis must satisfy A Dᵀ = 0, but column 0 changes 'row 0'",
            id="leaves",
        ),
        pytest.param(
            [[0, 0], [1, 2], [0, 0]],
            "tangent basis must have rank 2, but its columns are linearly dependent",
            id="dependent",
        ),
    ],
)
def test_a_tangent_basis_that_is_none_is_refused(basis, words):
    terms = EquationTerms.of(np.eye(3), np.zeros(3), [[1, 0, 0]], [0])
    with pytest.raises(InputError, match=words):
        Projection(terms, basis=basis)


@with_definite_mass
@pytest.mark.inventory("BL-06")
def test_constraint_vectors_span_the_orthogonal_subspace(given):
    # Covariant components are the rows of A; contravariant ones M⁻¹Cᵀ, and c_i ∘ w = 0 for every
    # virtual displacement w: the constraint vector is the gradient of its constraint.
    p = Projection(given.terms)
    rows = p.independent_rows
    if given.rank == given.m:
        assert rows is given.terms.constraint_matrix or np.array_equal(rows, given.A)
    else:  # combinations of the rows of A, with U₁ of its decomposition
        assert_close(rows, np.swapaxes(p.geometry.U[..., : given.rank], -1, -2) @ given.A)
    assert rows.shape == (*given.batch, given.rank, given.n)
    same = given.each(lambda s, own: plus(own) @ own, rows)
    assert_close(same, given.each(lambda s: plus(s.A) @ s.A))
    vectors = p.transformation[..., : given.rank]
    assert_close(given.M @ vectors, turned(rows))
    assert_zero(turned(vectors) @ given.M @ p.basis)


@with_definite_mass
@pytest.mark.inventory("BL-10")
def test_metric_of_the_projected_base_is_block_diagonal(given):
    # (3.2), (3.3): T = [M⁻¹Cᵀ, Dᵀ], M_t = TᵀMT = diag(C M⁻¹Cᵀ, D M Dᵀ)
    p = Projection(given.terms, basis=given.each(own_basis))
    r, rows = given.rank, p.independent_rows
    inverse = given.each(lambda s: np.linalg.inv(s.M))
    T = np.concatenate([inverse @ turned(rows), p.basis], axis=-1)
    assert_close(p.transformation, T)
    assert_close(p.metric, turned(T) @ given.M @ T)
    assert_close(p.metric[..., :r, :r], rows @ inverse @ turned(rows))
    assert_close(p.orthogonal_metric, rows @ inverse @ turned(rows))
    assert_close(p.metric[..., r:, r:], turned(p.basis) @ given.M @ p.basis)
    assert_close(p.tangent_metric, turned(p.basis) @ given.M @ p.basis)
    assert_zero(p.metric[..., :r, r:])
    assert np.all(np.abs(np.linalg.det(T)) > 1e-9)


# --- equations ------------------------------------------------------------------------------------


@with_definite_mass
@pytest.mark.inventory("BL-11")
def test_projections_of_the_equations_of_motion(given):
    # (3.4a): C v̇ = C M⁻¹h* + M_c λ, (3.4b): D M v̇ = D h*
    p = Projection(given.terms, basis=given.each(own_basis))
    h, v_dot = given.Q + given.C, given.each(motion)
    rows = p.independent_rows
    free = given.each(lambda s: np.linalg.solve(s.M, s.Q + s.C))
    orthogonal = product(rows, free) + product(p.orthogonal_metric, p.orthogonal_multipliers)
    assert_close(product(rows, v_dot), orthogonal)
    tangential = p.reaction_free_matrix[..., given.rank :, :]
    assert_close(tangential, turned(p.basis) @ given.M)
    assert_close(product(tangential, v_dot), product(turned(p.basis), h))
    assert_close(p.projected_force[..., given.rank :], product(turned(p.basis), h))


@with_any_mass
@pytest.mark.inventory("BL-12")
def test_reaction_free_equations(given):
    # (3.5): TᵀM v̇ = h_t*, TᵀM = [C; D M], h_t* = [−c₀*; D h*]
    p = Projection(given.terms, basis=given.each(own_basis))
    matrix, right = p.reaction_free_matrix, p.projected_force
    assert matrix.shape == (*given.batch, given.n, given.n)
    assert_close(product(matrix, given.each(motion)), right)
    assert_close(np.linalg.solve(matrix, right[..., None])[..., 0], given.each(motion))
    if given.rank == given.m:
        assert_close(matrix[..., : given.rank, :], given.A)
        assert_close(right[..., : given.rank], given.b)


@with_definite_mass
@pytest.mark.inventory("BL-13")
def test_multipliers_from_the_orthogonal_projection(given):
    # (3.6): λ = −M_c⁻¹ (c₀* + C M⁻¹h*), one for each independent row
    p = Projection(given.terms)
    rows = p.independent_rows
    lam = p.orthogonal_multipliers
    assert_close(product(turned(rows), lam) + given.C, given.each(constraint_force))
    if given.rank == given.m:

        def formula(s):
            M_c = s.A @ np.linalg.solve(s.M, s.A.T)
            c0 = -s.b
            return -np.linalg.solve(M_c, c0 + s.A @ np.linalg.solve(s.M, s.Q + s.C))

        assert_close(lam, given.each(formula))
        assert_close(p.multipliers, lam)


@with_any_mass
@pytest.mark.inventory("BL-07", "BL-14")
def test_reaction_of_each_constraint(given):
    # (2.7), (3.7): r_i* = c_i* λ_i, and their sum is r* = Cᵀλ
    p = Projection(given.terms)
    lam = given.each(lambda s: plus(s.A.T) @ (constraint_force(s) - s.C))
    assert p.reactions.shape == (*given.batch, given.m, given.n)
    for i in range(given.m):
        assert_close(p.reactions[..., i, :], given.A[..., i, :] * lam[..., i, None])
    total = p.reactions.sum(axis=-2)
    assert_close(total + given.C, p.constraint_force)
    assert_close(total + given.C, given.each(constraint_force))


@pytest.mark.inventory("BL-14")
def test_reactions_of_independent_constraints_hold_alone():
    # Particle on the edge of two perpendicular smooth planes: each carries its own normal force.
    terms = EquationTerms.of(2.0 * np.eye(3), [3.0, -8.0, 5.0], [[0, 1, 0], [0, 0, 4]], [0, 0])
    reactions = Projection(terms).reactions
    assert_close(reactions, [[0.0, 8.0, 0.0], [0.0, 0.0, -5.0]])


@with_any_mass
@pytest.mark.inventory("BL-52")
def test_inertial_applied_and_reaction_force_balance(given):
    # (2.9): −M v̇ + h* + r* = 0, for display
    balance = Projection(given.terms).force_balance
    assert set(balance) == {"inertial", "applied", "reaction"}
    assert_close(balance["inertial"], -given.each(lambda s: s.M @ motion(s)))
    assert_close(balance["applied"], given.Q)
    assert_close(balance["reaction"], given.each(constraint_force))
    assert_zero(sum(balance.values()))


@with_definite_mass
def test_quasi_velocities_of_a_velocity(given):
    # (5.2): u with v − Dᵀu orthogonal, in the metric M, to the tangent subspace
    p = Projection(given.terms, basis=given.each(own_basis))
    v = np.random.default_rng(5).standard_normal((*given.batch, given.n))
    u = p.quasi_velocities(v)
    rest = v - product(p.basis, u)
    assert_zero(product(turned(p.basis) @ given.M, rest))
    allowed = given.each(lambda s, x: tangent(s.A) @ x, v)
    assert_close(product(p.basis, p.quasi_velocities(allowed)), allowed)


# --- quasi-velocities and the metric --------------------------------------------------------------


@pytest.mark.inventory("BL-02")
def test_base_change_to_quasi_velocities():
    # e_v = Aᵀe_x with ẋ = A v: a planar body's velocity in its own axes. Forces are covariant.
    angle, m, J = 0.7, 3.0, 0.4
    c, s = np.cos(angle), np.sin(angle)
    N = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    skew = N @ np.array([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 2.0]])
    M, force = np.diag([m, m, J]), np.array([1.0, -4.0, 0.3])
    for A in (N, skew):
        metric, components = change_of_base(A, M, force)
        v = np.array([0.2, -1.0, 0.5])
        x_dot = A @ v
        assert v @ metric @ v == pytest.approx(x_dot @ M @ x_dot)  # kinetic energy
        assert components @ v == pytest.approx(force @ x_dot)  # power
        assert_close(
            covariant(metric, v), A.T @ [m * x_dot[0], m * x_dot[1], J * x_dot[2]]
        )  # momenta
        assert_close(contravariant(metric, components), np.linalg.solve(A, force / np.diag(M)))


@pytest.mark.inventory("BL-03")
def test_unconstrained_equations_in_quasi_velocities():
    # (2.3): M v̇ = h*. A planar body in its own axes, with the gyroscopic terms in h*.
    m, J, om, vx, vy, angle = 2.0, 0.5, 1.3, 0.4, -0.9, 0.6
    c, s = np.cos(angle), np.sin(angle)
    N = np.array([[c, -s], [s, c]])
    force, torque = np.array([3.0, -5.0]), 0.8
    gyroscopic = m * om * np.array([vy, -vx])
    body = solve(np.diag([m, m, J]), [*(N.T @ force + gyroscopic), torque])
    # v = Nᵀẋ gives ẍ = N v̇ + Ṅ v
    N_dot = om * np.array([[-s, -c], [c, -s]])
    x_ddot = N @ body.acceleration[:2] + N_dot @ [vx, vy]
    assert_close(x_ddot, force / m)
    assert body.acceleration[2] == pytest.approx(torque / J)
    # A subsystem already reduced, the body on a rail along its own axis, against a constraint
    reduced = solve([[m]], [(N.T @ force + gyroscopic)[0]])
    whole = solve(np.diag([m, m, J]), [*(N.T @ force + gyroscopic), torque], [[0, 1, 0]], [0])
    assert reduced.acceleration[0] == pytest.approx(whole.acceleration[0])


@with_definite_mass
@pytest.mark.inventory("BL-53")
def test_metric_tensor_components_and_dot_products(given):
    rng = np.random.default_rng(11)
    a, b = rng.standard_normal((2, *given.batch, given.n))
    a_star, b_star = covariant(given.M, a), covariant(given.M, b)
    assert_close(a_star, given.each(lambda s, x: s.M @ x, a))  # (A.3)
    assert_close(contravariant(given.M, a_star), a)
    # (A.4), in four ways
    expected = given.each(lambda s, x, y: x @ s.M @ y, a, b)
    assert_close(dot_product(given.M, a, b), expected)
    assert_close(np.sum(a * b_star, axis=-1), expected)
    assert_close(np.sum(a_star * contravariant(given.M, b_star), axis=-1), expected)
    assert_close(np.sum(a_star * b, axis=-1), expected)
    # (A.2): M is the metric of the base e with M = e eᵀ, here e = L of a Cholesky factor
    e = np.linalg.cholesky(given.M)
    assert_close(
        dot_product(given.M, a, b), np.sum(product(turned(e), a) * product(turned(e), b), -1)
    )


@with_definite_mass
@pytest.mark.inventory("BL-53")
def test_change_of_base_keeps_dot_products(given):
    # (A.5), (A.6): M̂ = BᵀMB, â* = Bᵀa*, a = B â
    rng = np.random.default_rng(12)
    B = np.eye(given.n) + 0.2 * rng.standard_normal((*given.batch, given.n, given.n))
    a = rng.standard_normal((*given.batch, given.n))
    metric, a_star = change_of_base(B, given.M, covariant(given.M, a))
    assert_close(metric, turned(B) @ given.M @ B)
    a_hat = np.linalg.solve(B, a[..., None])[..., 0]
    assert_close(covariant(metric, a_hat), a_star)
    assert_close(dot_product(metric, a_hat, a_hat), dot_product(given.M, a, a))


@pytest.mark.inventory("BL-54")
def test_equations_without_an_energy_function():
    # A bead on a rotating wire: forces and the constraint are enough, no T is differentiated.
    m, om, angle, r, r_dot = 0.5, 2.0, 0.4, 1.2, 0.3
    c, s = np.cos(angle), np.sin(angle)
    # −x sin ωt + y cos ωt = 0, two times differentiated
    x, y = r * c, r * s
    vx, vy = r_dot * c - r * om * s, r_dot * s + r * om * c
    b = [2 * om * (vx * c + vy * s) + om**2 * (-x * s + y * c)]
    terms = EquationTerms.of(m * np.eye(2), [0.0, 0.0], [[-s, c]], b)
    p = Projection(terms, basis=[[c], [s]])
    for acceleration in (p.acceleration, solve(m * np.eye(2), [0, 0], [[-s, c]], b).acceleration):
        # Known: r̈ = r ω² in the rotating frame; along the wire a = r̈ − r ω² = 0, across it 2ṙω
        assert acceleration @ [c, s] == pytest.approx(0.0, abs=1e-12)
        assert acceleration @ [-s, c] == pytest.approx(2 * om * r_dot)
    assert p.multipliers[0] == pytest.approx(2 * m * om * r_dot)  # Coriolis force of the wire
