"""Moore–Penrose tools, scaling, subspaces and the spectrum of M."""

import numpy as np
import pytest

from samples import ROUNDING, assert_close, assert_zero, plus, sample, with_any_mass
from zwang.errors import InputError
from zwang.linalg.rank import (
    DEFAULT_TOLERANCES,
    RowGeometry,
    Tolerances,
    consistent_part,
    equilibrate,
    general_solution,
    inverse_power_of_two,
    mass_spectrum,
    moore_penrose_defect,
    nullspace,
    numerical_rank,
    pinv,
    pinv_of_rank,
    pinv_rate,
    scaled_rows,
    svd,
)


def matrices():
    """Matrices of planted rank: tall, wide, square, deficient, zero, empty."""
    rng = np.random.default_rng(3)
    for rows, columns, rank in [(5, 3, 3), (3, 5, 3), (4, 4, 2), (6, 4, 1), (3, 3, 0)]:
        left = rng.integers(-3, 4, size=(rows, rank)).astype(float)
        right = rng.integers(-3, 4, size=(rank, columns)).astype(float)
        yield pytest.param(left @ right, rank, id=f"{rows}x{columns} of rank {rank}")
    yield pytest.param(np.zeros((0, 3)), 0, id="no rows")
    yield pytest.param(np.zeros((3, 0)), 0, id="no columns")


any_matrix = pytest.mark.parametrize(("B", "rank"), list(matrices()))


# --- Moore–Penrose inverse ------------------------------------------------------------------------


@any_matrix
@pytest.mark.inventory("UK-06")
def test_pinv_satisfies_the_four_defining_conditions(B, rank):
    X = pinv(B)
    assert X.shape == B.shape[::-1]
    assert_close(B @ X @ B, B)
    assert_close(X @ B @ X, X)
    assert_close((B @ X).T, B @ X)
    assert_close((X @ B).T, X @ B)
    assert np.linalg.matrix_rank(X, tol=1e-9) == rank if X.size else True


@any_matrix
@pytest.mark.inventory("UK-06")
def test_pinv_is_numpys(B, rank):
    assert_close(pinv(B), plus(B))
    assert_close(pinv_of_rank(B, rank), plus(B))


@pytest.mark.inventory("UK-06")
def test_pinv_of_a_batch_is_that_of_each_matrix():
    A = sample("batch, redundant rows").A
    assert_close(pinv(A), np.array([plus(one) for one in A]))


@any_matrix
@pytest.mark.inventory("UK-06")
def test_moore_penrose_defect_vanishes_for_the_inverse_alone(B, rank):
    assert moore_penrose_defect(B, pinv(B)) < ROUNDING
    if not rank:
        return
    # Each of the four conditions is broken alone or with others by a wrong candidate.
    wrong = [2.0 * pinv(B), B.T, np.zeros(B.shape[::-1])]
    if rank < B.shape[1]:  # a generalised inverse that is not the least-norm one
        wrong.append(pinv(B) + nullspace(B)[:, :1] @ np.ones((1, B.shape[0])))
    for candidate in wrong:
        assert moore_penrose_defect(B, candidate) > 1e-2


@pytest.mark.parametrize(
    "candidate",
    [
        pytest.param([[1.0], [1.0]], id="B X B differs from B"),
        pytest.param([[1.0], [5.0]], id="X B is not symmetric"),
    ],
)
def test_moore_penrose_defect_sees_each_condition(candidate):
    assert moore_penrose_defect(np.array([[1.0, 0.0]]), np.array(candidate)) > 0.5


@pytest.mark.inventory("UK-21")
def test_pinv_of_a_row_is_its_transpose_over_its_square():
    u = np.array([[3.0, 0.0, -4.0, 12.0]])
    assert_close(pinv(u), u.T / 169.0)
    assert_zero(pinv(0.0 * u))


@any_matrix
@pytest.mark.inventory("UK-07")
def test_consistent_part_is_what_the_equations_can_reach(B, rank):
    rng = np.random.default_rng(rank)
    rows, columns = B.shape
    reached = B @ rng.standard_normal(columns)
    outside = rng.standard_normal(rows)
    outside -= B @ (plus(B) @ outside)
    inside, rest = consistent_part(B, reached + outside)
    assert_close(inside, reached)
    assert_close(rest, outside)
    assert np.linalg.norm(consistent_part(B, reached)[1]) < ROUNDING


@any_matrix
@pytest.mark.inventory("UK-08")
def test_null_vectors_are_orthogonal_to_the_pseudoinverse(B, rank):
    x = nullspace(B)
    assert x.shape == (B.shape[1], B.shape[1] - rank)
    assert_zero(B @ x)
    assert_close(x.T @ x, np.eye(x.shape[1]))
    inverse = pinv(B)
    assert_zero(x.T @ inverse)
    # Not because one of them vanishes: B⁺ maps onto all that is orthogonal to x.
    assert_close(x @ x.T + inverse @ B, np.eye(B.shape[1]))


@any_matrix
@pytest.mark.inventory("UK-09")
def test_general_solution_is_every_solution(B, rank):
    rng = np.random.default_rng(rank)
    b = B @ rng.standard_normal(B.shape[1])
    h = rng.standard_normal(B.shape[1])
    x = general_solution(B, b, h)
    assert_close(x, plus(B) @ b + h - plus(B) @ (B @ h))
    assert_close(B @ x, b)
    # Every solution is reached: it is its own h.
    solution = plus(B) @ b + nullspace(B) @ rng.standard_normal(B.shape[1] - rank)
    assert_close(general_solution(B, b, solution), solution)


def test_svd_accepts_empty_matrices():
    for shape in [(0, 3), (3, 0), (2, 0, 3)]:
        U, s, Vt = svd(np.zeros(shape))
        assert s.shape == (*shape[:-2], 0)
        assert_close(U @ np.zeros(shape) @ Vt, np.zeros(shape))


def test_numerical_rank_is_relative_to_the_largest_singular_value():
    s = np.array([[1e6, 1.0, 1e-4], [1e-6, 1e-12, 0.0], [0.0, 0.0, 0.0]])
    assert numerical_rank(s, 1e-9).tolist() == [2, 2, 0]
    assert numerical_rank(s, 1e-11).tolist() == [3, 2, 0]
    assert numerical_rank(np.zeros((4, 0)), 1e-9).tolist() == [0, 0, 0, 0]


# --- scaling --------------------------------------------------------------------------------------


def test_inverse_power_of_two_is_within_a_factor_of_two():
    size = 10.0 ** np.linspace(-150, 150, 41)
    scale = inverse_power_of_two(size)
    assert np.all((size * scale >= 1.0) & (size * scale < 2.0))
    assert np.all(np.frexp(scale)[0] == 0.5)


@with_any_mass
def test_equilibrated_terms_do_not_depend_on_units(given):
    rng = np.random.default_rng(5)
    unit = 2.0 ** rng.integers(-20, 21, size=given.n)
    factor = 2.0 ** rng.integers(-20, 21, size=given.m)
    d, e = equilibrate(given.M, given.A)
    other_M = given.M * unit * unit[:, None]
    other_A = given.A * unit * factor[:, None]
    other_d, other_e = equilibrate(other_M, other_A)
    if np.all(np.diagonal(given.M, axis1=-2, axis2=-1) > 0.0):
        assert np.array_equal(other_d * unit, d)
        assert np.array_equal(other_e * factor, e)
    scaled = given.A * d[..., None, :] * e[..., None]
    length = np.linalg.norm(other_A * other_d[..., None, :] * other_e[..., None], axis=-1)
    assert np.all((length >= 1.0) & (length < 2.0))
    assert np.all(np.linalg.norm(scaled, axis=-1) < 2.0)


def test_massless_coordinates_take_their_scale_from_the_constraints():
    M = np.diag([1.0, 0.0, 0.0])
    A = np.array([[1.0, 1e9, 0.0], [0.0, 1e9, -1e-7]])
    d, e = equilibrate(M, A)
    scaled = np.abs(A * d * e[:, None])
    assert d[0] == 1.0
    assert np.all(scaled.max(axis=0)[1:] > 0.2)
    assert np.linalg.cond(scaled) < 100.0  # 1e16 before


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-160, 1e160, 1e200, 1e300])
def test_rows_far_from_one_are_scaled_like_any_other(size):
    M = np.eye(3)
    A = size * np.array([[1.0, 2.0, 2.0], [0.0, 3.0, 4.0]])
    with np.errstate(all="ignore"):  # as in `solve`
        d, e = equilibrate(M, A)
    length = np.linalg.norm(A * (d * e[:, None]), axis=-1)
    assert np.all((length >= 1.0) & (length < 2.0))


@pytest.mark.parametrize("shape", ["rows", "entries"])
def test_a_row_within_its_rounding_is_zero(shape):
    rng = np.random.default_rng(3)
    M = np.diag([4.0, 1e-6, 1e6])
    A = rng.standard_normal((5, 3))
    A[1] *= 2e-16
    A[3] *= 1e-9  # small, but nothing cancelled in it
    rounding = np.array([1e-15, 1e-15, 1e-15, 1e-24, 1e-15])
    if shape == "entries":
        rounding = np.repeat(rounding[:, None], 3, axis=1)
    found, plain = scaled_rows(M, A, rounding), scaled_rows(M, A)
    assert not found[1].any()
    assert np.linalg.norm(plain[1]) >= 0.5  # taken at its word without
    kept = [0, 2, 3, 4]
    np.testing.assert_array_equal(found[kept], plain[kept])
    both = scaled_rows(np.stack([M, M]), np.stack([A, A]), np.stack([rounding, rounding]))
    np.testing.assert_array_equal(both, np.stack([found, found]))


def test_a_zero_row_has_some_scale():
    _, e = equilibrate(np.eye(2), np.array([[0.0, 0.0], [4.0, 0.0]]))
    assert 0.5 <= e[0] <= 2.0
    assert e[1] == 0.25


# --- subspaces ------------------------------------------------------------------------------------


@with_any_mass
def test_row_geometry_splits_both_spaces(given):
    g = RowGeometry.of(given.A)
    assert g.rank == given.rank
    for V, dimension in ((g.row_space, given.rank), (g.null_space, given.n - given.rank)):
        assert V.shape == (*given.batch, given.n, dimension)
    one = np.broadcast_to(np.eye(given.n), (*given.batch, given.n, given.n))
    assert_close(g.tangent_projector + g.normal_projector, one)
    assert_zero(given.A @ g.null_space)
    assert_zero(np.swapaxes(given.A, -1, -2) @ g.dependencies)
    assert g.dependencies.shape == (*given.batch, given.m, given.m - given.rank)
    assert_close(g.pinv, given.each(lambda s: plus(s.A)))


@with_any_mass
def test_row_geometry_applies_its_projectors(given):
    g = RowGeometry.of(given.A)
    rng = np.random.default_rng(1)
    x, y = (
        rng.standard_normal((*given.batch, given.n)),
        rng.standard_normal((*given.batch, given.m)),
    )
    by_matrix = (g.pinv @ y[..., None])[..., 0]
    assert_close(g.least_norm(y), by_matrix)
    assert_close(g.multipliers(x), (np.swapaxes(g.pinv, -1, -2) @ x[..., None])[..., 0])
    assert_close(g.tangent(x), (g.tangent_projector @ x[..., None])[..., 0])
    assert_close(g.normal(x), (g.normal_projector @ x[..., None])[..., 0])
    assert_close(g.tangent(x) + g.normal(x), x)


def test_a_few_rows_of_a_long_system_have_a_full_null_space():
    rng = np.random.default_rng(2)
    A = rng.integers(-2, 3, size=(3, 80)).astype(float)
    A[2] = A[0] - A[1]
    g = RowGeometry.of(A)
    assert g.rank == 2
    assert g.null_space.shape == (80, 78)
    assert_zero(A @ g.null_space)
    assert_close(g.null_space.T @ g.null_space, np.eye(78))
    assert_zero(A.T @ g.dependencies)
    assert g.dependencies.shape == (3, 1)


def test_condition_is_that_of_the_rows_on_their_range():
    A = np.array([[3.0, 0.0, 0.0], [0.0, 0.5, 0.0], [3.0, 0.0, 0.0]])
    assert_close(RowGeometry.of(A).condition, np.sqrt(18.0) / 0.5)
    assert RowGeometry.of(np.zeros((0, 3))).condition == 1.0


def test_a_batch_of_mixed_ranks_is_refused_where_one_rank_is_needed():
    A = np.array([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]])
    with pytest.raises(InputError, match=r"ranks from 1 to 2.*zwang\.solve handles mixed ranks"):
        RowGeometry.of(A)


# --- the spectrum of M ----------------------------------------------------------------------------


@with_any_mass
def test_mass_spectrum_has_the_rank_of_M(given):
    d, _ = equilibrate(given.M, given.A)
    spectrum = mass_spectrum(given.M * d[..., None, :] * d[..., None])
    expected = given.each(lambda s: np.linalg.matrix_rank(s.M, tol=1e-9))
    assert_close(spectrum.rank, expected)


def test_mass_spectrum_settles_the_usual_case_by_pivots():
    assert mass_spectrum(np.eye(3)).estimated
    exact = mass_spectrum(np.diag([1.0, 1e-6]))
    assert not exact.estimated
    assert (exact.smallest, exact.largest, exact.rank) == (1e-6, 1.0, 2)


def test_mass_spectrum_keeps_the_sign_of_a_negative_eigenvalue():
    spectrum = mass_spectrum(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert_close(spectrum.smallest, -1.0)
    assert spectrum.rank == 1


# --- tolerances -----------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, 1.0, -1e-9, np.nan, np.inf])
@pytest.mark.parametrize("name", ["rank", "definite", "consistency", "refinement"])
def test_tolerances_lie_between_zero_and_one(name, value):
    with pytest.raises(InputError, match=f"tolerance '{name}'.*between 0 and 1"):
        Tolerances(**{name: value})


def test_the_default_tolerances_are_used_where_none_are_given():
    weak = np.diag([1.0, 0.5 * DEFAULT_TOLERANCES.rank])
    assert RowGeometry.of(weak).rank == 1
    assert RowGeometry.of(weak, tolerance=0.1 * DEFAULT_TOLERANCES.rank).rank == 2


# --- the derivative of a pseudoinverse ------------------------------------------------------------


def along(s, shape, rank):
    """A matrix of constant rank that depends on s, and its derivative."""
    rng = np.random.default_rng(rank)
    L0, L1 = rng.standard_normal((2, shape[0], rank))
    R0, R1 = rng.standard_normal((2, rank, shape[1]))
    L, R = L0 + np.sin(s) * L1, R0 + s**2 * R1
    return L @ R, np.cos(s) * L1 @ R + L @ (2 * s * R1)


@pytest.mark.inventory("US-12", "US-47")
@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (4, 4)])
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_derivative_of_a_pseudoinverse_is_that_of_43(shape, rank):
    s, h = 0.6, 1e-4
    B, rate = along(s, shape, rank)
    # Fourth-order differences: h⁴ and rounding/h stay below 1e-9 of entries of some ten.
    near = {k: np.linalg.pinv(along(s + k * h, shape, rank)[0], rcond=1e-9) for k in (-2, -1, 1, 2)}
    expected = (8 * (near[1] - near[-1]) - (near[2] - near[-2])) / (12 * h)
    found = pinv_rate(B, rate)
    assert found.shape == shape[::-1]
    assert np.abs(found - expected).max() <= 1e-7 * (1 + np.abs(expected).max())


@pytest.mark.inventory("US-47")
def test_for_an_invertible_matrix_it_is_the_derivative_of_the_inverse_and_batches_are_taken():
    rng = np.random.default_rng(0)
    B = rng.standard_normal((3, 4, 4)) + 4 * np.eye(4)
    rate, inverse = rng.standard_normal((3, 4, 4)), np.linalg.inv(B)
    assert_close(pinv_rate(B, rate), -inverse @ rate @ inverse)
