"""Residuals in about twice the working precision, and the refinement that uses them.

For a solution (v̇, λ) of scaled terms the residuals

    r₁ = f + Aᵀ λ − M v̇,      r₂ = b − A v̇

vanish up to rounding, and what is left of them in double precision is noise. Here each product is
taken apart without error: M = M₁ + M₂ and v̇ = v̇₁ + v̇₂ with so few bits in the first parts that
M₁ v̇₁ is exact in double precision; the other parts are 2⁻²¹ times smaller and carry the rounding.
The residual is then good to about 2⁻⁷⁴ of its terms, and a correction solved from it makes the
solution of any formulation accurate to rounding, as long as the formulation itself is right to a
digit or two. The method is Ozaki's splitting, cut to two parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from zwang.formulations.linear import matvec, transpose_matvec
from zwang.terms import FloatArray

__all__ = ["ExactResidual", "Refined", "refine"]

#: Bits kept in the first part of a split number: two such factors and the carries of a sum over at
#: most 2¹¹ terms fit the 53 bits of a double. Longer sums round their last bits, which is harmless.
LEADING_BITS = 21

Response = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


def leading_part(x: FloatArray, axes: tuple[int, ...]) -> FloatArray:
    """x rounded to a multiple of 2^(e − LEADING_BITS), where |x| < 2^e over the axes."""
    _, exponent = np.frexp(np.abs(x).max(axis=axes, keepdims=True, initial=0.0))
    # Adding 1.5·2⁵² units makes the last bit of the sum one unit; subtracting leaves x rounded.
    shift = np.ldexp(1.5, 52 - LEADING_BITS + exponent)
    return (x + shift) - shift


def two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """a + b as a rounded sum and its exact error (Knuth)."""
    total = a + b
    rest = total - a
    return total, (a - (total - rest)) + (b - rest)


class ExactResidual:
    """r₁ = f + Aᵀλ − M v̇ and r₂ = b − A v̇ of one system or a batch, in doubled precision."""

    def __init__(self, M: FloatArray, A: FloatArray, force: FloatArray, rhs: FloatArray) -> None:
        self.n = M.shape[-1]
        self.force, self.rhs = force, rhs
        stack = np.concatenate([M, A], axis=-2)
        self.lead = leading_part(stack, (-2, -1))
        self.rest = stack - self.lead
        self.A_lead, self.A_rest = self.lead[..., self.n :, :], self.rest[..., self.n :, :]

    def __call__(
        self, acceleration: FloatArray, multipliers: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """r₁ (…, n) and r₂ (…, m)."""
        n, a, lam = self.n, acceleration, multipliers
        a1, lam1 = leading_part(a, (-1,)), leading_part(lam, (-1,))
        top = matvec(self.lead, a1)  # exact
        low = matvec(self.lead, a - a1) + matvec(self.rest, a)
        force_top = transpose_matvec(self.A_lead, lam1)  # exact
        force_low = transpose_matvec(self.A_lead, lam - lam1) + transpose_matvec(self.A_rest, lam)
        s, error_1 = two_sum(self.force, -top[..., :n])
        s, error_2 = two_sum(s, force_top)
        r1 = s + (error_1 + error_2 + (force_low - low[..., :n]))
        s, error = two_sum(self.rhs, -top[..., n:])
        return r1, s + (error - low[..., n:])

    def force_defect(self, force: FloatArray, multipliers: FloatArray) -> FloatArray:
        """Aᵀλ − force, what rounding left of the product, shape (…, n)."""
        lam1 = leading_part(multipliers, (-1,))
        low = transpose_matvec(self.A_lead, multipliers - lam1)
        s, error = two_sum(transpose_matvec(self.A_lead, lam1), -force)
        return s + (error + low + transpose_matvec(self.A_rest, multipliers))


@dataclass(frozen=True)
class Refined:
    """A refined solution and how the corrections went.

    Attributes
    ----------
    acceleration, multipliers : shapes (…, n) and (…, m).
    corrections : relative size of each correction, the worst system of the batch, in order. The
        first is the error of the formulation as it stands; the last bounds what is left.
    """

    acceleration: FloatArray
    multipliers: FloatArray
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
    too badly conditioned for refinement, and the earlier solution stands.
    """
    corrections: list[float] = []
    for _ in range(steps):
        da, dlam = respond(*residual(acceleration, multipliers))
        size = max(relative(da, acceleration), relative(dlam, multipliers))
        if not size < (0.5 * corrections[-1] if corrections else 0.5):
            corrections.append(size)
            break
        corrections.append(size)
        acceleration, multipliers = acceleration + da, multipliers + dlam
        if size <= tolerance:
            break
    return Refined(acceleration, multipliers, tuple(corrections))


def relative(change: FloatArray, value: FloatArray) -> float:
    """Largest max|change| / max|value| over the batch; 0 where both vanish."""
    if change.shape[-1] == 0:
        return 0.0
    top, size = np.abs(change).max(axis=-1), np.abs(value).max(axis=-1)
    if change.ndim == 1:
        return float(top / size) if size else (0.0 if not top else float("inf"))
    ratio = np.divide(top, size, out=np.where(top > 0.0, np.inf, 0.0), where=size > 0.0)
    return float(ratio.max(initial=0.0))
