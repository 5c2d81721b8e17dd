"""Large sparse systems: the saddle-point system by sparse factorisation, redundancy kept.

Scaled as in `ScaledTerms`, the matrix

    K_δ = [ M + δI   Aᵀ ]          δ = 1e-10
          [ A       −δI ]

is regular whatever the ranks are, and is factorised once. From x = (v̇, −λ) = 0 the iteration
x ← x + K_δ⁻¹ (right side − K x) converges to a solution of the unregularised system whenever there
is one, by a factor δ/|μ| for every nonzero eigenvalue μ of K. The same iteration with right side
zero, started from a random block, leaves just the null space of K: dependencies Z of the rows and
directions w with neither mass nor constraint, which decide ranks, consistency and uniqueness.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, eigsh, splu

from zwang.diagnosis.explain import inconsistent_error, indefinite_error, not_unique_error
from zwang.errors import InputError, NotApplicableError
from zwang.linalg.rank import AT_A_STATE, Tolerances, inverse_power_of_two
from zwang.linalg.refinement import correction_size, leading_part, two_sum
from zwang.linalg.residual_rounding import shares
from zwang.linalg.scaling import ScaledTerms
from zwang.solvers.solution import Ranks, Solution
from zwang.terms import (
    EPSILON,
    SYMMETRY_ROUNDINGS,
    SYMMETRY_TOLERANCE,
    EquationTerms,
    FloatArray,
    Precision,
    checked_array,
    checked_labels,
    checked_vector,
    out_of_range,
    rounding_of,
)

__all__ = ["SPARSE_SIZE", "solve_sparse", "sparse_terms"]

#: Systems with at most this many coordinates are solved densely: faster, and more can be told.
SPARSE_SIZE = 300

#: Regularisation relative to the scaled terms. Large enough for the factorisation to be stable,
#: small enough that two corrections reach rounding on terms with a condition of 1e6.
DELTA = 1e-10

#: A last correction below this means six digits or more; above, the answer is looked at again.
REFINED = 1e-6

#: A null vector survives the iteration whole, anything else shrinks by δ/|μ| each time. What has
#: lost less than half is null: eigenvalues below δ.
SURVIVES = 0.5


def solve_sparse(terms: EquationTerms, tolerances: Tolerances) -> Solution:
    """`zwang.solve` for the large sparse M and A of `sparse_terms`."""
    with np.errstate(all="ignore"):  # what leaves the range of doubles is refused, not warned of
        try:
            return _solve_checked(terms, tolerances)
        except (np.linalg.LinAlgError, RuntimeError) as error:  # SuperLU raises the latter
            raise out_of_range(terms) from error


def _solve_checked(terms: EquationTerms, tolerances: Tolerances) -> Solution:
    scaled = _Scaled.of(terms)
    if not (np.isfinite(scaled.force).all() and np.isfinite(scaled.rhs).all()):
        raise out_of_range(terms)
    _require_semidefinite(terms, scaled, tolerances)
    correct = _factorise(scaled)
    loose, dependent = _null_space(scaled, correct)
    if loose.shape[1]:
        columns = _columns_of(loose)
        error = not_unique_error(_part(terms, columns, None, tolerances))
        found: Any = error.directions
        directions = np.zeros((loose.shape[0], found.shape[1]))
        directions[columns] = found
        error.directions = directions
        raise error
    acceleration, multipliers, corrections = _iterate(scaled, correct)

    if not (np.isfinite(acceleration).all() and np.isfinite(multipliers).all()):
        raise out_of_range(terms)
    miss = scaled.rhs - scaled.A @ acceleration
    limits = _limits(scaled, acceleration, terms, tolerances)
    onto = np.abs(dependent @ (dependent.T @ miss))
    if (onto > np.abs(dependent) @ (np.abs(dependent).T @ limits)).any():
        rows = _columns_of(dependent)
        error = inconsistent_error(_part(terms, None, rows, tolerances))
        error.rows = tuple(int(rows[i]) for i in error.rows)
        raise error

    notes = list(terms.notes)
    if not corrections[-1] < REFINED:
        most = tolerances.consistency or AT_A_STATE
        size = np.max(np.abs(scaled.rhs), initial=0.0) + np.linalg.norm(acceleration)
        largest = float(np.max(np.abs(miss), initial=0.0))
        if largest > most * size:
            raise NotApplicableError(
                "sparse terms",
                found=f"an answer that misses the constraints by {largest / size:.0e}, relative",
                expected=f"at most {most:.0e}",
                advice="They are too badly conditioned for it: give dense M and A.",
            )
        notes.append(
            f"refinement stopped at a relative correction of {corrections[-1]:.1e}: the terms are "
            "badly conditioned, and the result may have few correct digits"
        )
    n, m = terms.coordinate_count, terms.constraint_count
    rank = m - dependent.shape[1]
    ideal_force = (scaled.A.T @ multipliers) / scaled.d
    multipliers = multipliers * scaled.e
    if rank < m:
        order = np.argsort(-scaled.e)  # large rows first: reflections are then accurate by rows
        Z = np.empty_like(dependent)
        Z[order] = np.linalg.qr(scaled.e[order, None] * dependent[order]).Q
        for _ in range(2):
            multipliers = multipliers - Z @ (Z.T @ multipliers)
        notes.append(
            f"{m - rank} of {m} constraint rows are redundant; the multipliers are those of least "
            "norm, see zwang.passport"
        )
    mass_rank = n if _definite(scaled.M, 0.0) else n - 1
    if mass_rank < n:
        notes.append("M is singular; for sparse terms its rank is only known to be below n")
    return Solution(
        terms,
        acceleration * scaled.d,
        ideal_force + terms.nonideal_force,
        multipliers,
        Ranks(rank, mass_rank, n),
        "saddle_point",
        f"the terms are sparse and large ({n} coordinates): regularised factorisation, refined",
        corrections,
        np.zeros((n, 0)),
        tuple(notes),
        None,
    )


def sparse_terms(
    M: Any,
    Q: ArrayLike,
    A: Any,
    b: ArrayLike | None,
    C: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    coordinates: Sequence[str] | None = None,
) -> EquationTerms:
    """Checked terms whose matrices stay sparse (csr)."""
    precision = Precision(rounding_of(M), rounding_of(A), rounding_of(b))
    M = _checked_matrix("mass matrix M", M)
    n = M.shape[0]
    A = sparse.csr_array((0, n)) if A is None else _checked_matrix("constraint matrix A", A)
    m = A.shape[0]
    if M.shape != (n, n) or A.shape[1] != n:
        raise InputError(
            "sparse M and A",
            found=f"shapes {M.shape} and {A.shape}",
            expected="(n, n) and (m, n)",
            advice="Give both one column for each coordinate.",
        )
    M, notes = _symmetric(M, precision.mass)
    if b is None and m:
        raise InputError(
            "constraint right side b",
            found="nothing",
            expected=f"{m} values, one for each row of A",
            advice="For constraints with A v̇ = 0 give zeros.",
        )
    vectors = {
        "applied force Q": (Q, n),
        "constraint right side b": (np.zeros(0) if b is None else b, m),
        "non-ideal force C": (np.zeros(n) if C is None else C, n),
    }
    checked = [checked_vector(what, value, size) for what, (value, size) in vectors.items()]
    for what, vector in zip(vectors, checked, strict=True):
        if vector.ndim > 1:
            raise InputError(
                what,
                found=f"a batch of shape {vector.shape[:-1]}",
                expected="a single system, since M or A is sparse and large",
                advice="Solve system by system.",
            )
    return EquationTerms(
        M,
        checked[0],
        A,
        checked[1],
        checked[2],
        checked_labels("names", names, m, "row of A"),
        checked_labels("coordinates", coordinates, n, "coordinate"),
        notes,
        precision=precision,
    )


def _checked_matrix(what: str, matrix: Any) -> Any:
    """A finite csr array of doubles, or an error that says what is wrong with it."""
    if not sparse.issparse(matrix):
        matrix = checked_array(what, matrix)
    if len(matrix.shape) != 2:
        raise InputError(
            what,
            found=f"shape {matrix.shape}",
            expected="two axes, since M or A is sparse and large",
            advice="Solve a batch system by system.",
        )
    matrix = sparse.csr_array(matrix)
    data = checked_array(what, matrix.data)
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _symmetric(M: Any, rounding: float) -> tuple[Any, tuple[str, ...]]:
    """The symmetric part, and a note if it is not the whole; as for dense M."""
    difference = (0.5 * M - 0.5 * M.T).tocoo()
    worst = float(abs(difference).max()) if difference.nnz else 0.0
    if worst == 0.0:
        return M, ()
    root = np.sqrt(np.abs(M.diagonal()))
    size = np.abs(M[difference.row, difference.col])
    size = np.maximum(size, np.abs(M[difference.col, difference.row]))
    size = np.maximum(size, root[difference.row] * root[difference.col])
    relative = np.divide(
        np.abs(difference.data), size, out=np.zeros_like(difference.data), where=size > 0.0
    )
    k = int(np.argmax(relative))
    ratio, i, j = 2.0 * float(relative[k]), int(difference.row[k]), int(difference.col[k])
    if ratio > max(SYMMETRY_TOLERANCE, SYMMETRY_ROUNDINGS * rounding):
        raise InputError(
            "mass matrix M",
            found=f"M[{i}, {j}] = {M[i, j]:g} but {M[j, i]:g} across the diagonal",
            expected="a symmetric matrix",
            advice="Use (M + M.T) / 2 if only the symmetric part is meant.",
        )
    note = f"M was not exactly symmetric (by {ratio:.1e}, relative); its symmetric part is used"
    return 0.5 * M + 0.5 * M.T, (note,)


@dataclass(frozen=True)
class _Scaled:
    """M_s, A_s (csr), f_s, b_s and the scales d, e."""

    M: Any
    A: Any
    force: FloatArray
    rhs: FloatArray
    d: FloatArray
    e: FloatArray

    @classmethod
    def of(cls, terms: EquationTerms) -> _Scaled:
        M: Any = terms.mass_matrix
        A: Any = terms.constraint_matrix
        inertia = M.diagonal()
        d = np.where(
            inertia > 0.0, inverse_power_of_two(np.sqrt(np.abs(inertia) + (inertia == 0.0))), 1.0
        )
        massless = inertia <= 0.0
        if massless.any() and A.shape[0]:
            for _ in range(4):  # as in rank.equilibrate: rows and massless columns in turn
                row = abs(A @ sparse.diags_array(d)).max(axis=1).toarray().ravel()
                e = 1.0 / np.where(row > 0.0, row, 1.0)
                column = abs(sparse.diags_array(e) @ A).max(axis=0).toarray().ravel()
                d = np.where(massless, 1.0 / np.where(column > 0.0, column, 1.0), d)
            d = np.where(massless, inverse_power_of_two(1.0 / d), d)
        length = np.sqrt((A * A) @ (d * d))
        e = inverse_power_of_two(np.where(length > 0.0, length, 1.0))
        D, E = sparse.diags_array(d), sparse.diags_array(e)
        return cls(
            (D @ M @ D).tocsr(),
            (E @ A @ D).tocsr(),
            terms.total_force * d,
            terms.constraint_rhs * e,
            d,
            e,
        )


Correction = Callable[[FloatArray], FloatArray]


def _factorise(scaled: _Scaled) -> Correction:
    """right side ↦ K_δ⁻¹ right side."""
    n, m = scaled.M.shape[0], scaled.A.shape[0]
    K = sparse.block_array(
        [
            [scaled.M + DELTA * sparse.eye_array(n), scaled.A.T],
            [scaled.A, -DELTA * sparse.eye_array(m)],
        ],
        format="csc",
    )
    return splu(K).solve


def _iterate(
    scaled: _Scaled, correct: Correction
) -> tuple[FloatArray, FloatArray, tuple[float, ...]]:
    """Acceleration and multipliers of the scaled terms, by correction from exact residuals."""
    n = scaled.M.shape[0]
    residual = _Residual(scaled)
    a, lam = np.zeros(n), np.zeros(scaled.A.shape[0])
    corrections: list[float] = []
    for _ in range(12):
        x = correct(np.concatenate(residual(a, lam)))
        da, dlam = x[:n], -x[n:]
        a, lam = a + da, lam + dlam
        size = float(correction_size(da, dlam, a, lam))
        if len(corrections) > 1 and size > 0.5 * corrections[-1]:
            break
        corrections.append(size)
        if size < 1e-15:
            break
    return a, lam, tuple(corrections[1:])


class _Residual:
    """The residuals of `ExactResidual` for one system with sparse matrices."""

    def __init__(self, scaled: _Scaled) -> None:
        self.force, self.rhs = scaled.force, scaled.rhs
        self.M, self.A = (self._split(matrix) for matrix in (scaled.M, scaled.A))

    @staticmethod
    def _split(matrix: Any) -> tuple[Any, Any]:
        lead = matrix.copy()
        lead.data = leading_part(matrix.data, (-1,))
        rest = matrix.copy()
        rest.data = matrix.data - lead.data
        return lead, rest

    def __call__(self, a: FloatArray, lam: FloatArray) -> tuple[FloatArray, FloatArray]:
        a1, lam1 = leading_part(a, (-1,)), leading_part(lam, (-1,))
        (M1, M2), (A1, A2) = self.M, self.A
        s, error_1 = two_sum(self.force, -(M1 @ a1))
        s, error_2 = two_sum(s, A1.T @ lam1)
        low = A1.T @ (lam - lam1) + A2.T @ lam - M1 @ (a - a1) - M2 @ a
        r1 = s + (error_1 + error_2 + low)
        s, error = two_sum(self.rhs, -(A1 @ a1))
        return r1, s + (error - A1 @ (a - a1) - A2 @ a)


def _null_space(scaled: _Scaled, correct: Correction) -> tuple[FloatArray, FloatArray]:
    """Orthonormal bases of {w: M w = 0, A w = 0}, shape (n, ·), and of N(Aᵀ), shape (m, ·)."""
    n, m = scaled.M.shape[0], scaled.A.shape[0]
    random = np.random.default_rng(0)
    block = 8
    while True:
        X = np.linalg.qr(random.standard_normal((n + m, min(block, n + m)))).Q
        s = np.zeros(0)
        for _ in range(3):
            X[n:] *= -1.0
            # I − K_δ⁻¹K = δ K_δ⁻¹ diag(I, −I)
            X, s, _ = np.linalg.svd(DELTA * correct(X), full_matrices=False)
        null = X[:, s > SURVIVES]
        if null.shape[1] < X.shape[1] or X.shape[1] == n + m:
            break
        block *= 4
    return _half(null[:n]), _half(null[n:])


def _limits(
    scaled: _Scaled, acceleration: FloatArray, terms: EquationTerms, tolerances: Tolerances
) -> FloatArray:
    """What rounding may leave of b − A v̇; as `linked_limits` of dense terms."""
    share, rounding = shares(terms, tolerances), terms.rhs_rounding
    A, b = scaled.A, np.abs(scaled.rhs)
    if rounding is not None:
        b = b + rounding * scaled.e / share.largest
    force = np.abs(scaled.force)
    a = np.abs(acceleration) + force * ((scaled.M.diagonal() > 0.0) * share.forces)
    m = A.shape[0]
    graph = sparse.block_array([[None, A], [A.T, scaled.M]])
    count, label = connected_components(graph, directed=False)
    sizes = np.zeros((2, count))
    np.maximum.at(sizes[0], label[:m], b)
    np.maximum.at(sizes[1], label[m:], a)
    whole = b.max(initial=0.0) + a.max(initial=0.0) + force.max(initial=0.0)
    linked = np.where(np.diff(A.indptr) > 0, sizes.sum(axis=0)[label[:m]], whole)
    return share.largest * linked + EPSILON * whole


def _half(X: FloatArray) -> FloatArray:
    """Orthonormal basis of the columns of one half of the null vectors."""
    if X.shape[1] == 0:
        return X
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    return U[:, s > 1e-6]


def _definite(M: Any, shift: float) -> bool:
    """Whether M + shift·I is positive definite, from the signs of unpivoted elimination."""
    try:
        factor = splu(
            (M + shift * sparse.eye_array(M.shape[0])).tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # exactly singular
        return False
    return bool(np.all(factor.U.diagonal() > 1e-11)) and bool(
        np.all(factor.perm_r == factor.perm_c)
    )


def _require_semidefinite(terms: EquationTerms, scaled: _Scaled, tolerances: Tolerances) -> None:
    if np.all(scaled.M.diagonal() >= 0.0) and _definite(scaled.M, DELTA):
        return
    # The coordinates that M couples to each other form blocks; name the one that is indefinite.
    count, label = connected_components(scaled.M, directed=False)
    for block in range(count):
        columns = np.flatnonzero(label == block)
        if columns.size > SPARSE_SIZE:
            columns = columns[_lightest(scaled.M[columns][:, columns])]
        values = np.linalg.eigvalsh(scaled.M[columns][:, columns].toarray())
        if values[0] < -DELTA * max(values[-1], 1.0):
            raise indefinite_error(_part(terms, columns, np.zeros(0, dtype=int), tolerances))
    raise InputError(
        "mass matrix M",
        found="a negative pivot in elimination",
        expected="a positive semi-definite matrix",
        advice="Look for a velocity with negative kinetic energy vᵀMv.",
    )


def _lightest(M: Any) -> np.ndarray:
    """The coordinates of a large block that move most in its velocity of least kinetic energy."""
    start: Any = np.random.default_rng(0).standard_normal(M.shape[0])
    accuracy: Any = 1e-3  # SciPy's annotations know whole numbers alone
    try:
        _, vectors = eigsh(M, k=1, which="SA", v0=start, tol=accuracy)
    except ArpackNoConvergence:
        return np.arange(SPARSE_SIZE)
    return np.sort(np.argsort(-np.abs(vectors[:, 0]))[:SPARSE_SIZE])


def _columns_of(vectors: FloatArray) -> np.ndarray:
    """Indices that take part in any of the vectors."""
    size = np.max(np.abs(vectors), axis=1, initial=0.0)
    return np.flatnonzero(size > 1e-8 * np.max(size, initial=0.0))


def _part(
    terms: EquationTerms,
    columns: np.ndarray | None,
    rows: np.ndarray | None,
    tolerances: Tolerances,
) -> ScaledTerms:
    """The dense part of a sparse system that an error is about."""
    A: Any = terms.constraint_matrix
    M: Any = terms.mass_matrix
    if rows is None:
        assert columns is not None
        rows = np.unique(A[:, columns].nonzero()[0])
    if columns is None:
        touched = np.unique(A[rows].nonzero()[1])
        columns = touched if touched.size else np.arange(A.shape[1])
    part = EquationTerms.of(
        M[columns][:, columns].toarray(),
        terms.applied_force[columns],
        A[rows][:, columns].toarray(),
        terms.constraint_rhs[rows],
        terms.nonideal_force[columns],
        names=[terms.name(int(i)) for i in rows],
        coordinates=[terms.coordinate(int(j)) for j in columns],
    )
    part = replace(part, precision=terms.precision, at_state=terms.at_state)
    return ScaledTerms.of(part, tolerances)
