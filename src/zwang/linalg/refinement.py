"""Residuals in about twice the working precision, and the refinement that uses them.

For a solution (v̇, λ) of scaled terms the residuals

    r₁ = f + Aᵀ λ − M v̇,      r₂ = b − A v̇

vanish up to rounding, and what is left of them in double precision is noise. Here each product is
taken apart without error: M = M₁ + M₂ and v̇ = v̇₁ + v̇₂ with so few bits in the first parts that
M₁ v̇₁ is exact in double precision; the other parts are 2⁻²¹ times smaller and carry the rounding.
The residual is then good to about 2⁻⁷⁴ of its terms, and a correction solved from it makes the
solution of any formulation accurate to rounding, as long as the formulation itself is right to a
digit or two. The method is Ozaki's splitting, cut to two parts. The choice of the least-norm
multipliers among all, where rows are dependent, is refined in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from zwang.linalg.products import matvec, transpose_matvec
from zwang.linalg.rank import RowGeometry
from zwang.terms import FloatArray

__all__ = ["ExactResidual", "Refined", "SplitMatrix", "least_norm_multipliers", "refine"]

#: Bits kept in the first part of a split number: two such factors and the carries of a sum over at
#: most 2¹¹ terms fit the 53 bits of a double. Longer sums round their last bits, which is harmless.
LEADING_BITS = 21
SHIFT = 2.0 ** (54 - LEADING_BITS)

#: What vanishes on paper comes out as rounding, which is all wrong relative to itself. So a change
#: of acceleration or multipliers, which have the same unit in scaled terms, is compared with at
#: least this fraction of the larger of the two.
NEGLIGIBLE = 1e-6

#: Keeps 0/0 at 0.
TINY = 1e-300

Response = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


def leading_part(x: FloatArray, axes: tuple[int, ...]) -> FloatArray:
    """x rounded to multiples of some power of two above 2^−LEADING_BITS · max|x| over the axes."""
    # x + shift is rounded to its last bit, which is worth more than 2⁻⁵⁴ shift; that x is small
    # against the shift makes the difference exact.
    if x.ndim == 1:
        shift = SHIFT * np.abs(x).max(initial=0.0)
    else:
        shift = SHIFT * np.abs(x).max(axis=axes, keepdims=True, initial=0.0)
    return (x + shift) - shift


def two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """a + b as a rounded sum and its exact error (Knuth)."""
    total = a + b
    rest = total - a
    return total, (a - (total - rest)) + (b - rest)


class SplitMatrix:
    """B = B₁ + B₂, one matrix or a batch, where leading parts B₁ multiply without rounding."""

    def __init__(self, B: FloatArray, lead: FloatArray) -> None:
        self.whole, self.lead, self.rest = B, lead, B - lead

    @classmethod
    def of(cls, B: FloatArray) -> SplitMatrix:
        """Split B."""
        return cls(B, leading_part(B, (-2, -1)))

    def times(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """B x as an exact part and a small rest."""
        x1 = leading_part(x, (-1,))
        return matvec(self.lead, x1), matvec(self.lead, x - x1) + matvec(self.rest, x)

    def transpose_times(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bᵀ x as an exact part and a small rest."""
        x1 = leading_part(x, (-1,))
        rest = transpose_matvec(self.lead, x - x1) + transpose_matvec(self.rest, x)
        return transpose_matvec(self.lead, x1), rest


class ExactResidual:
    """r₁ = f + Aᵀλ − M v̇ and r₂ = b − A v̇ of one system or a batch, in doubled precision.

    Attributes
    ----------
    rows : A, split.
    ideal_force : Aᵀλ of the last call, as an exact part and a small rest.
    """

    def __init__(self, M: FloatArray, A: FloatArray, force: FloatArray, rhs: FloatArray) -> None:
        self.n = M.shape[-1]
        self.right = np.concatenate([force, rhs], axis=-1)
        self.stack = SplitMatrix.of(np.concatenate([M, A], axis=-2))
        self.rows = SplitMatrix(A, self.stack.lead[..., self.n :, :])
        self.ideal_force = (force, force)

    def __call__(
        self, acceleration: FloatArray, multipliers: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """r₁ (…, n) and r₂ (…, m)."""
        n = self.n
        product, product_rest = self.stack.times(acceleration)
        force, force_rest = self.ideal_force = self.rows.transpose_times(multipliers)
        s, error = two_sum(self.right, -product)
        error = error - product_rest
        r1, error_1 = two_sum(s[..., :n], force)
        return r1 + (error_1 + error[..., :n] + force_rest), s[..., n:] + error[..., n:]

    def force_defect(self, force: FloatArray, multipliers: FloatArray) -> FloatArray:
        """Aᵀλ − force, what rounding left of the product, shape (…, n)."""
        product, rest = self.rows.transpose_times(multipliers)
        s, error = two_sum(product, -force)
        return s + (error + rest)


class Refined(NamedTuple):
    """A refined solution and how the corrections went.

    Attributes
    ----------
    acceleration, multipliers : shapes (…, n) and (…, m).
    ideal_force : Aᵀλ, shape (…, n), from a λ of more digits than `multipliers` can hold: where rows
        are nearly dependent, large multipliers cancel in it.
    corrections : relative size of each correction, the worst system of the batch, in order. The
        first is the error of the formulation as it stands; the last bounds what is left.
    """

    acceleration: FloatArray
    multipliers: FloatArray
    ideal_force: FloatArray
    corrections: tuple[float, ...]


def refine(
    respond: Response,
    residual: ExactResidual,
    acceleration: FloatArray,
    multipliers: FloatArray,
    tolerance: float,
    *,
    steps: int = 4,
) -> Refined:
    """Correct a solution by its exact residual until the correction is below the tolerance.

    A correction that is not smaller than half the one before is not applied: then the terms are
    too badly conditioned for refinement, and the earlier solution stands. In a batch this is
    decided system by system, so that each comes out as it would alone.
    """
    single = acceleration.ndim == 1
    corrections: list[float] = []
    size: FloatArray | float = 1.0
    dlam = multipliers
    for _ in range(steps):
        da, dlam = respond(*residual(acceleration, multipliers))
        before, size = size, correction_size(da, dlam, acceleration, multipliers)
        converging = size < 0.5 * before
        if single:
            corrections.append(float(size))
            done = size <= tolerance
            if not converging:
                dlam = np.zeros_like(dlam)
                break
        else:
            corrections.append(float(size.max()))
            if not converging.all():
                accepted = converging[..., None]  # what is not may be no number at all
                da, dlam = np.where(accepted, da, 0.0), np.where(accepted, dlam, 0.0)
                size = np.where(converging, size, 0.0)  # no later correction is below half of 0
            done = (size <= tolerance).all()
        acceleration, multipliers = acceleration + da, multipliers + dlam
        if done:
            break
    force, rest = residual.ideal_force  # of the multipliers before the last change
    force = force + (rest + transpose_matvec(residual.rows.whole, dlam))
    return Refined(acceleration, multipliers, force, tuple(corrections))


def correction_size(
    da: FloatArray, dlam: FloatArray, acceleration: FloatArray, multipliers: FloatArray
) -> FloatArray:
    """|change| / |value| of acceleration or multipliers, the larger, shape of the batch."""
    larger = max if da.ndim == 1 else np.maximum
    a, lam = length(acceleration), length(multipliers)
    floor = NEGLIGIBLE * larger(a, lam) + TINY
    return larger(length(da) / larger(a, floor), length(dlam) / larger(lam, floor))


def length(x: FloatArray) -> FloatArray:
    """|x| over the last axis."""
    if x.ndim == 1:
        return math.sqrt(np.vdot(x, x))  # type: ignore[return-value] - a number, for speed
    return np.sqrt(np.vecdot(x, x))


#: Units of rows further apart than this: what rounding leaves of a large row is no longer small
#: beside the others, and all that a small row may carry is nothing beside what large ones do.
FAR_APART = 2.0**40
#: A scaled row of which this is left, relative, depends on those that were taken before it.
DEPENDENT = 1e-9


def least_norm_multipliers(
    geometry: RowGeometry, rows: SplitMatrix, row_scale: FloatArray, force: FloatArray
) -> FloatArray:
    """The least-norm λ, of rows E⁻¹A, with (E⁻¹A)ᵀ λ = force; refined, shape (…, m).

    `geometry` and `rows` are those of the scaled rows A, and `row_scale` is E: by it, rows that
    say the same may differ by many powers of ten as they were given, and so the least λ differs
    from E times the least one of the scaled rows.
    """
    spread = np.max(row_scale, axis=-1) / np.min(row_scale, axis=-1)
    if np.max(spread, initial=1.0) > FAR_APART:
        return _multipliers_of_large_rows(geometry, rows, row_scale, force)
    # λ is least when it lies in the range of the rows: with A = U₁ Σ V₁ᵀ and W = E⁻¹U₁,
    #   λ = W η,    Wᵀ λ = U₁ᵀ E⁻¹ λ = Σ⁻¹ V₁ᵀ force,    y = V₁ Σ⁻¹ η  gives  λ = E⁻¹A y.
    # W = Y R by Householder reflections is accurate row by row when large rows come first.
    inverse_s = 1.0 / geometry.singular_values[..., : geometry.rank]
    W = geometry.U[..., : geometry.rank] / row_scale[..., None]
    order = np.argsort(row_scale, axis=-1)[..., None]
    Y_sorted, R = np.linalg.qr(np.take_along_axis(W, order, axis=-2))
    Y, inverse_R = np.empty_like(Y_sorted), np.linalg.inv(R)
    np.put_along_axis(Y, order, Y_sorted, axis=-2)

    def coefficients(force: FloatArray) -> FloatArray:
        """R⁻ᵀ Σ⁻¹ V₁ᵀ force, with λ = Y times these."""
        return transpose_matvec(inverse_R, inverse_s * transpose_matvec(geometry.row_space, force))

    def missing_force(lam: FloatArray) -> FloatArray:
        """Force − Aᵀ E⁻¹ λ in doubled precision."""
        product, rest = rows.transpose_times(lam / row_scale)
        s, error = two_sum(force, -product)
        return s + (error - rest)

    h = coefficients(force)
    lam = matvec(Y, h)
    y = matvec(geometry.row_space, inverse_s * matvec(inverse_R, h))
    # U₁ is rounded. Both conditions are corrected in the rows themselves, λ by E⁻¹A y − λ where it
    # leaves their range; at last the force alone, which a λ of large norm must still give.
    product, rest = rows.times(y)
    s, error = two_sum(product, -row_scale * lam)
    stray = (s + (error + rest)) / row_scale
    h = coefficients(missing_force(lam)) - transpose_matvec(Y, stray)
    lam = lam + (matvec(Y, h) + stray)
    return lam + matvec(Y, coefficients(missing_force(lam)))


def _multipliers_of_large_rows(
    geometry: RowGeometry, rows: SplitMatrix, row_scale: FloatArray, force: FloatArray
) -> FloatArray:
    """`least_norm_multipliers` where units of rows are very far apart, system by system."""
    shape = np.broadcast_shapes(row_scale.shape[:-1], force.shape[:-1], geometry.matrix.shape[:-2])
    m, n = geometry.matrix.shape[-2:]
    B = np.broadcast_to(geometry.matrix, (*shape, m, n)).reshape(-1, m, n)
    E = np.broadcast_to(row_scale, (*shape, m)).reshape(-1, m)
    F = np.broadcast_to(force, (*shape, n)).reshape(-1, n)
    found = [_of_large_rows(B[i], E[i], F[i], geometry.rank) for i in range(len(B))]
    lam, solve = np.array([x for x, _ in found]), [x for _, x in found]
    # What rounding of λ left of the force, once more.
    product, rest = rows.transpose_times((lam / E).reshape(*shape, m))
    s, error = two_sum(force, -product)
    missing = (s + (error - rest)).reshape(-1, n)
    lam += np.array([again(f) for again, f in zip(solve, missing, strict=True)])
    return lam.reshape(*shape, m)


def _of_large_rows(
    B: FloatArray, E: FloatArray, force: FloatArray, rank: int
) -> tuple[FloatArray, Callable[[FloatArray], FloatArray]]:
    """λ of one system, and λ of those rows alone that were taken for some other force.

    Rows K are taken in turn, the largest as given first, until all others G depend on those taken
    before them, a_g = Σ x_gk a_k. With λ⁰ the multipliers of K alone, all of them are
    λ_K = λ⁰ − Xᵀλ_G, and the least are λ_G = X (I + XᵀX)⁻¹ λ⁰. No x is large, since rows taken
    before are longer, and the same x in both keep the force.
    """
    left, waiting = B.copy(), np.ones(len(B), dtype=bool)
    taken: list[int] = []
    before = np.zeros(len(B), dtype=int)  # how many rows each depends on, at most
    for _ in range(rank):
        lengths = np.linalg.norm(left, axis=1)
        waiting &= lengths > DEPENDENT
        if not waiting.any():
            break
        k = int(np.argmax(np.where(waiting, lengths / E, -1.0)))
        taken.append(k)
        waiting[k] = False
        direction = left[k] / lengths[k]
        for _ in range(2):
            left -= np.outer(left @ direction, direction)
        before[waiting] = len(taken)
    K, G = np.array(taken, dtype=int), np.setdiff1d(np.arange(len(B)), taken)
    X = np.zeros((len(G), len(K)))
    for i, g in enumerate(G):
        first = K[: before[g]]
        X[i, : len(first)] = np.linalg.lstsq(B[first].T, B[g], rcond=None)[0] * E[first] / E[g]

    def alone(force: FloatArray) -> FloatArray:
        lam = np.zeros(len(B))
        lam[K] = E[K] * np.linalg.lstsq(B[K].T, force, rcond=None)[0]
        return lam

    lam = alone(force)
    lam[G] = X @ np.linalg.solve(np.eye(len(K)) + X.T @ X, lam[K])
    lam[K] -= X.T @ lam[G]
    return lam, alone
