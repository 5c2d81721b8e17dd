"""Linear algebra of ranks: scaling before any decision, named tolerances, and subspaces.

Every rank in the library is decided here, so that all formulations and all diagnoses agree.

A rank must not depend on units or on how a constraint is written, so the terms are scaled first
(`equilibrate`): velocities by the diagonal of M (by the constraints where it is zero), then each
constraint row to unit length. Scales are powers of two: scaling costs no rounding.

`RowGeometry` holds the singular value decomposition A = U Σ Vᵀ cut at the rank r,

    V1 (n, r)   spans N(A)⊥ = R(Aᵀ)      V2 (n, n−r)  spans N(A), the virtual displacements
    U1 (m, r)   spans R(A)               U2 (m, m−r)  spans N(Aᵀ), the dependencies of the rows

and A⁺ = V1 Σ1⁻¹ U1ᵀ (Udwadia & Kalaba 1996, property P1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.caching import computed_once
from zwang.errors import InputError
from zwang.linalg.products import matvec, transpose, transpose_matvec
from zwang.terms import FloatArray

__all__ = [
    "AT_A_STATE",
    "DEFAULT_TOLERANCES",
    "MassSpectrum",
    "RowGeometry",
    "Tolerances",
    "cholesky",
    "consistent_part",
    "equilibrate",
    "general_solution",
    "linked_sizes",
    "mass_spectrum",
    "moore_penrose_defect",
    "nullspace",
    "own_spectrum",
    "pinv",
    "pinv_of_rank",
    "pinv_rate",
    "scaled_rows",
]


@dataclass(frozen=True)
class Tolerances:
    """All thresholds of the dense solve, each relative and applied to scaled terms.

    Attributes
    ----------
    rank : a singular value below this fraction of the largest is zero. Rows that are dependent
        on paper come out below 1e-14 when computed in double precision; a direction weaker than
        1e-11 would leave its force fewer than five digits.
    definite : an eigenvalue of the scaled M below this fraction of the largest is zero, and M is
        indefinite when one lies below minus this. The same reasoning.
    consistency : A v̇ = b fails when the part of b outside R(A) exceeds this fraction of the size
        of b and A v̇. By default arrays must agree to rounding, and terms computed at a state to
        `AT_A_STATE`. Where it is given, it is what counts for both.
    refinement : a solution is refined until its last correction is below this fraction. As the
        next contracts at least by the same factor, and corrections of this size come with a
        condition number of 1e5, it would be below rounding even in a force in which multipliers
        of nearly dependent rows cancel.
    """

    rank: float = 1e-11
    definite: float = 1e-11
    consistency: float | None = None
    refinement: float = 1e-11

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and not 0.0 < value < 1.0:
                raise InputError(
                    f"tolerance {name!r}", found=repr(value), expected="a number between 0 and 1"
                )


DEFAULT_TOLERANCES = Tolerances()

#: Right sides computed at a state agree to 1e-12 where it satisfies its constraints; this leaves
#: room for states that do so to seven digits only.
AT_A_STATE = 1e-9

#: Rows of unit length that are dependent on paper, with entries off by ε, have singular values
#: below about √m ε; this leaves room for a few operations.
DEPENDENT = 16.0


# --- Moore–Penrose tools (Udwadia & Kalaba 1996, P1 to P4) ---------------------------------------


def svd(B: FloatArray, *, full: bool = True) -> tuple[FloatArray, FloatArray, FloatArray]:
    """`numpy.linalg.svd` that also accepts matrices without rows or columns."""
    rows, columns = B.shape[-2:]
    if rows and columns:
        return np.linalg.svd(B, full_matrices=full)
    batch = B.shape[:-2]
    U = np.broadcast_to(np.eye(rows, rows if full else 0), (*batch, rows, rows if full else 0))
    Vt = np.broadcast_to(
        np.eye(columns if full else 0, columns), (*batch, columns if full else 0, columns)
    )
    return U, np.zeros((*batch, 0)), Vt


def pinv(B: FloatArray, tolerance: float = DEFAULT_TOLERANCES.rank) -> FloatArray:
    """Moore–Penrose inverse through the singular value decomposition (P1).

    For a single row uᵀ this is u/(u·u). Rows and columns are taken as they are, without scaling:
    `RowGeometry` is the scaled way.
    """
    U, s, Vt = svd(np.asarray(B, dtype=float), full=False)
    large = s > tolerance * np.max(s, axis=-1, keepdims=True, initial=0.0)
    inverse = np.divide(1.0, s, out=np.zeros_like(s), where=large)
    return transpose(Vt) @ (inverse[..., None] * transpose(U))


def pinv_of_rank(B: FloatArray, rank: int) -> FloatArray:
    """Moore–Penrose inverse of a matrix whose rank is known."""
    U, s, Vt = svd(B, full=False)
    V1, U1 = transpose(Vt[..., :rank, :]), U[..., :rank]
    return (V1 / s[..., None, :rank]) @ transpose(U1)


def moore_penrose_defect(B: FloatArray, X: FloatArray) -> float:
    """Largest violation by X of the four conditions that define B⁺, relative to their sizes.

    B X B = B, X B X = X, B X and X B symmetric.
    """
    BX, XB = B @ X, X @ B
    size_B, size_X = np.linalg.norm(B), np.linalg.norm(X)
    return float(
        max(
            np.linalg.norm(BX @ B - B) / max(size_B, 1e-300),
            np.linalg.norm(XB @ X - X) / max(size_X, 1e-300),
            np.linalg.norm(BX - transpose(BX)),
            np.linalg.norm(XB - transpose(XB)),
        )
    )


def consistent_part(B: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split b = B B⁺ b + rest; the equations B x = b are consistent when the rest is zero (P2)."""
    inside = matvec(B, matvec(pinv(B), b))
    return inside, b - inside


def general_solution(B: FloatArray, b: FloatArray, h: FloatArray) -> FloatArray:
    """All solutions of a consistent set B x = b: B⁺ b + (I − B⁺ B) h for any h (P4)."""
    return h + matvec(pinv(B), b - matvec(B, h))


def pinv_rate(B: FloatArray, B_rate: FloatArray) -> FloatArray:
    """∂B⁺/∂s of a matrix B(s) whose rank does not change, from ∂B/∂s; shape (…, n, m).

    −B⁺ B′ B⁺ + B⁺B⁺ᵀ B′ᵀ (I − B B⁺) + (I − B⁺B) B′ᵀ B⁺ᵀB⁺ (Udwadia & Schutte 2010, (43)): the
    first term is that of an inverse, the others turn range and null space. Where the rank changes
    B⁺ has no derivative.

    Examples
    --------
    >>> pinv_rate(np.array([[2.0]]), np.array([[1.0]]))
    array([[-0.25]])
    """
    X, rate, rate_T = pinv(B), np.asarray(B_rate, dtype=float), transpose(np.asarray(B_rate, float))
    beside = rate_T - rate_T @ B @ X
    across = rate_T - X @ B @ rate_T
    return -X @ rate @ X + X @ transpose(X) @ beside + across @ transpose(X) @ X


def nullspace(B: FloatArray, tolerance: float = DEFAULT_TOLERANCES.rank) -> FloatArray:
    """Orthonormal basis of N(B) as columns, for a single matrix taken as it is."""
    _, s, Vt = svd(B)
    rank = int(np.sum(s > tolerance * np.max(s, initial=0.0)))
    return Vt[rank:].T


def linked_sizes(M: FloatArray, A: FloatArray, b: FloatArray, a: FloatArray) -> FloatArray:
    """For each row, the largest |b| and |a| among all that is linked to it, added, shape (m,).

    Coordinates are linked when M or a row of A couples them. One system.
    """
    touches = A != 0.0
    linked = (touches.T.astype(float) @ touches > 0.0) | (M != 0.0) | np.eye(len(a), dtype=bool)
    for _ in range(len(a).bit_length()):  # paths of doubled length each time
        linked = linked.astype(float) @ linked > 0.0
    motion = np.where(linked, np.abs(a), 0.0).max(axis=1)
    right = np.where(touches, np.abs(b)[:, None], 0.0).max(axis=0, initial=0.0)
    right = np.where(linked, right, 0.0).max(axis=1)
    return np.where(touches, motion + right, 0.0).max(axis=1, initial=0.0)


# --- scaling --------------------------------------------------------------------------------------

#: Rows longer or shorter than this are measured with care: their squares would leave the range of
#: doubles, 1e±308.
SHORT, LONG = 1e-120, 1e120


def equilibrate(M: FloatArray, A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Scales d (…, n) of the velocities and e (…, m) of the rows, all powers of two.

    diag(d) M diag(d) has a diagonal near one, and the rows of diag(e) A diag(d) length near one,
    so that a constraint in millimetres and its copy in metres are the same row, and so are one
    coordinate in millimetres or in metres. A coordinate without mass takes its scale from the
    constraints.
    """
    inertia = M.diagonal(axis1=-2, axis2=-1)
    if inertia.min() > 0.0:
        d = inverse_power_of_two(np.sqrt(inertia))
    else:
        massive = inertia > 0.0
        d = inverse_power_of_two(np.sqrt(np.where(massive, inertia, 1.0)))
        d = _scale_massless(np.abs(A), d, massive)
    rows = A * d[..., None, :]
    length = np.sqrt(np.vecdot(rows, rows))
    if not (length.min(initial=1.0) > SHORT and length.max(initial=1.0) < LONG):
        return d, _careful_scale(A, d)
    return d, inverse_power_of_two(length)


def scaled_rows(M: FloatArray, A: FloatArray, rounding: FloatArray | None = None) -> FloatArray:
    """diag(e) A diag(d) with the scales of `equilibrate`; rows without a length are left zero.

    Parameters
    ----------
    rounding : how far rounding may put the entries of A off, shape (…, m, n), or (…, m) for those
        of a row alike. A row within it is zero: scaled to unit length, what rounding left of a row
        that vanishes on paper would count as a constraint.
    """
    d, e = equilibrate(M, A)
    rows = A * d[..., None, :] * np.where(np.isfinite(e), e, 0.0)[..., None]
    if rounding is None:
        return rows
    if rounding.ndim < A.ndim:
        rounding = np.broadcast_to(rounding[..., None], A.shape)
    noise = np.linalg.norm(rounding * d[..., None, :] * e[..., None], axis=-1)
    return np.where((np.linalg.norm(rows, axis=-1) > noise)[..., None], rows, 0.0)


def _careful_scale(A: FloatArray, d: FloatArray) -> FloatArray:
    """Row scales where squares, but not the rows themselves, may leave the range of doubles.

    One for a zero row; not a number where the scaled row has no length that is a double.
    """
    size = np.abs(A).max(axis=-1, initial=0.0)
    shape = A / np.where(size > 0.0, size, 1.0)[..., None] * d[..., None, :]
    middle = np.abs(shape).max(axis=-1, initial=0.0)
    middle = np.where(middle > 0.0, middle, 1.0)
    length = size * middle * np.sqrt(((shape / middle[..., None]) ** 2).sum(axis=-1))
    measured = (length > np.finfo(float).tiny) & (length < np.inf)
    scale = np.where(measured, inverse_power_of_two(length), np.nan)
    return np.where(size > 0.0, scale, 1.0)


def _scale_massless(size: FloatArray, d: FloatArray, massive: np.ndarray) -> FloatArray:
    # Alternate between rows and massless columns, each brought to a largest entry of one. The
    # entries settle within a factor of two in a few sweeps, whatever the units were.
    for _ in range(4):
        row = np.max(size * d[..., None, :], axis=-1, initial=0.0)
        e = np.divide(1.0, row, out=np.ones_like(row), where=row > 0.0)
        column = np.max(size * e[..., None], axis=-2, initial=0.0)
        balanced = np.divide(1.0, column, out=np.ones_like(column), where=column > 0.0)
        d = np.where(massive, d, balanced)
    return np.where(massive, d, inverse_power_of_two(1.0 / d))


def inverse_power_of_two(size: FloatArray) -> FloatArray:
    """1/size, rounded to a power of two; 2 for a size of zero."""
    _, exponent = np.frexp(size)
    return np.ldexp(1.0, 1 - exponent)


#: Pivots of a matrix that is singular on paper come out below this fraction of its diagonal.
PIVOT_TOLERANCE = 1e-14


def cholesky(M: FloatArray, size: FloatArray | None = None) -> FloatArray | None:
    """L with M = L Lᵀ, or None where M is singular to working precision or indefinite.

    Pivots are compared with `size`, shape (…, n) or (…, 1), by default the diagonal of M.
    """
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return None
    pivots = L.diagonal(axis1=-2, axis2=-1)
    limit = PIVOT_TOLERANCE * (M.diagonal(axis1=-2, axis2=-1) if size is None else size)
    return L if (pivots * pivots > limit).all() else None


# --- subspaces ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowGeometry:
    """The subspaces of a constraint matrix of rank r; a batch must share one rank.

    Attributes
    ----------
    matrix : A, shape (…, m, n).
    rank : r.
    U, singular_values, Vt : the decomposition A = U Σ Vᵀ; U and Vt may be thin.
    """

    matrix: FloatArray
    rank: int
    U: FloatArray
    singular_values: FloatArray
    Vt: FloatArray

    @classmethod
    def of(
        cls, A: FloatArray, rank: int | None = None, tolerance: float = DEFAULT_TOLERANCES.rank
    ) -> RowGeometry:
        """Decompose A; the rank is found with the tolerance unless it is given."""
        m, n = A.shape[-2:]
        # The full n × n basis pays for itself unless A is a few rows of a long system.
        U, s, Vt = svd(A, full=n <= 64 or 2 * m >= n)
        if rank is None:
            ranks = numerical_rank(s, tolerance)
            rank = int(np.max(ranks, initial=0))
            if np.any(ranks != rank):
                raise InputError(
                    "constraint matrices of the batch",
                    must="have the same rank",
                    but=f"have ranks from {int(np.min(ranks))} to {rank}",
                    advice="zwang.solve handles mixed ranks; give systems of equal rank here.",
                )
        return cls(A, rank, U, s, Vt)

    @computed_once
    def row_space(self) -> FloatArray:
        """V1, shape (…, n, r): orthonormal basis of N(A)⊥."""
        return transpose(self.Vt[..., : self.rank, :])

    @computed_once
    def null_space(self) -> FloatArray:
        """V2, shape (…, n, n−r): orthonormal basis of N(A), the virtual displacements."""
        n = self.matrix.shape[-1]
        if self.Vt.shape[-2] == n:
            return transpose(self.Vt[..., self.rank :, :])
        return np.linalg.qr(self.row_space, mode="complete").Q[..., self.rank :]

    @computed_once
    def dependencies(self) -> FloatArray:
        """U2, shape (…, m, m−r): orthonormal basis of N(Aᵀ); its columns show which rows depend."""
        m = self.matrix.shape[-2]
        if self.U.shape[-1] == m:
            return self.U[..., self.rank :]
        return np.linalg.qr(self.U[..., : self.rank], mode="complete").Q[..., self.rank :]

    @computed_once
    def pinv(self) -> FloatArray:
        """A⁺, shape (…, n, m)."""
        U1 = self.U[..., : self.rank]
        return (self.row_space / self.singular_values[..., None, : self.rank]) @ transpose(U1)

    def least_norm(self, rhs: FloatArray) -> FloatArray:
        """A⁺ rhs."""
        return matvec(self.pinv, rhs)

    def multipliers(self, force: FloatArray) -> FloatArray:
        """(Aᵀ)⁺ force: the least-norm λ with Aᵀ λ = the part of the force in R(Aᵀ)."""
        return transpose_matvec(self.pinv, force)

    def normal(self, vector: FloatArray) -> FloatArray:
        """A⁺A vector: the part in N(A)⊥."""
        return matvec(self.row_space, transpose_matvec(self.row_space, vector))

    def tangent(self, vector: FloatArray) -> FloatArray:
        """(I − A⁺A) vector: the part in N(A)."""
        return vector - self.normal(vector)

    @computed_once
    def tangent_projector(self) -> FloatArray:
        """I − A⁺A = V2 V2ᵀ, shape (…, n, n)."""
        return self.null_space @ transpose(self.null_space)

    @computed_once
    def normal_projector(self) -> FloatArray:
        """A⁺A = V1 V1ᵀ, shape (…, n, n)."""
        return self.row_space @ transpose(self.row_space)

    @property
    def condition(self) -> FloatArray:
        """σ₁/σ_r, the condition number of A on its own range; 1 without constraints."""
        if self.rank == 0:
            return np.ones(self.matrix.shape[:-2])
        return self.singular_values[..., 0] / self.singular_values[..., self.rank - 1]


def numerical_rank(singular_values: FloatArray, tolerance: float) -> Any:
    """How many singular values count, shape of the batch."""
    if singular_values.shape[-1] == 0:
        return np.zeros(singular_values.shape[:-1], dtype=int)
    if singular_values.ndim == 1:
        return np.intp(np.count_nonzero(singular_values > tolerance * singular_values[0]))
    return np.count_nonzero(singular_values > tolerance * singular_values[..., :1], axis=-1)


@dataclass(frozen=True)
class MassSpectrum:
    """What the eigenvalues of a scaled mass matrix show, per system of the batch.

    Attributes
    ----------
    rank : number of eigenvalues that count.
    values : the eigenvalues; the squared pivots of the Cholesky factor where `estimated`.
    """

    rank: np.ndarray
    values: FloatArray
    estimated: bool

    @property
    def smallest(self) -> np.ndarray:
        """Smallest eigenvalue; where `estimated`, a bound from above."""
        return self.values.min(axis=-1)

    @property
    def largest(self) -> np.ndarray:
        """Largest eigenvalue, at least zero; where `estimated`, a bound from below."""
        return self.values.max(axis=-1, initial=0.0)


def own_spectrum(M: FloatArray) -> MassSpectrum:
    """`mass_spectrum` of M (…, n, n) scaled by its diagonal alone, whatever constrains it."""
    d, _ = equilibrate(M, np.zeros((*M.shape[:-2], 0, M.shape[-1])))
    return mass_spectrum(M * d[..., None] * d[..., None, :])


#: Size of M up to which Cholesky pivots determine its rank: 4¹² · 1e-11 is below 1e-3.
PIVOTS_SUFFICE = 13


def mass_spectrum(M: FloatArray, tolerance: float = DEFAULT_TOLERANCES.definite) -> MassSpectrum:
    """Rank and extreme eigenvalues of M (scaled by `equilibrate`).

    A Cholesky factor with no small pivot settles the usual case at a tenth of the cost.
    """
    n = M.shape[-1]
    try:
        pivots = np.linalg.cholesky(M).diagonal(axis1=-2, axis2=-1) ** 2
    except np.linalg.LinAlgError:
        pivots = None
    # The smallest pivot is not below the smallest eigenvalue, and above it by a factor of at most
    # about 4ⁿ⁻¹ (Kahan's matrices), in practice a few. For small n a pivot above 1e-3 settles it;
    # large ones take their eigenvalues, where they cost little beside the rest.
    if pivots is not None and n <= PIVOTS_SUFFICE and pivots.min() > 1e-3:
        return MassSpectrum(np.full(M.shape[:-2], n), pivots, estimated=True)
    # Entries of a semi-definite M do not exceed its diagonal, which is below 4; larger ones make it
    # indefinite, whatever their size.
    values = np.linalg.eigvalsh(np.clip(M, -1e10, 1e10))
    largest = np.maximum(values[..., -1:], 0.0)
    return MassSpectrum(np.sum(values > tolerance * largest, axis=-1), values, estimated=False)
