"""Assembly by iteration on conditions c(x) = 0: residual, Jacobian, distances between points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from zwang.terms import FloatArray

__all__ = ["ConditionPoint", "Metric", "PointConditions"]


@dataclass(frozen=True)
class ConditionPoint:
    """A point and the conditions there.

    Attributes
    ----------
    x : shape (n,).
    value, jacobian : c (m,) and its derivative (m, n).
    limit : the residual that counts as rounding, shape (m,).
    slope : length of each row of the derivative with respect to everything, held values included;
        what is rounding beside it is no slope at all. Shape (m,).
    """

    x: FloatArray
    value: FloatArray
    jacobian: FloatArray
    limit: FloatArray
    slope: FloatArray

    @property
    def finite(self) -> bool:
        """Whether the conditions have a value and a derivative here."""
        return bool(np.isfinite(self.value).all() and np.isfinite(self.jacobian).all())

    @property
    def excess(self) -> float:
        """Largest residual as a multiple of its limit; at most 1 when the conditions hold."""
        return float(np.max(np.abs(self.value) / self.limit, initial=0.0))


@dataclass
class PointConditions:
    """c(x) = 0 with its derivatives.

    Attributes
    ----------
    at : x → the conditions there.
    curvature : (x, λ) → Σ λᵢ ∇²cᵢ, shape (n, n).
    evaluations : how often `at` was asked.
    """

    at: Callable[[FloatArray], ConditionPoint]
    curvature: Callable[[FloatArray, FloatArray], FloatArray]
    evaluations: int = 0

    def __call__(self, x: FloatArray) -> ConditionPoint:
        """The conditions at x."""
        self.evaluations += 1
        return self.at(x)

    def along(self, index: np.ndarray, base: FloatArray) -> PointConditions:
        """The same conditions as functions of some entries of x, the others as in `base`."""

        def whole(part: FloatArray) -> FloatArray:
            x = base.copy()
            x[index] = part
            return x

        def at(part: FloatArray) -> ConditionPoint:
            point = self.at(whole(part))
            return replace(point, x=part, jacobian=point.jacobian[:, index])

        def curvature(part: FloatArray, lam: FloatArray) -> FloatArray:
            return self.curvature(whole(part), lam)[index[:, None], index]

        return PointConditions(at, curvature)

    def only(self, rows: np.ndarray) -> PointConditions:
        """Some of the conditions, by number."""

        def at(x: FloatArray) -> ConditionPoint:
            here = self.at(x)
            return ConditionPoint(
                x, here.value[rows], here.jacobian[rows], here.limit[rows], here.slope[rows]
            )

        def curvature(x: FloatArray, lam: FloatArray) -> FloatArray:
            every = np.zeros(len(self.at(x).value))
            every[rows] = lam
            return self.curvature(x, every)

        return PointConditions(at, curvature)

    def weighted(self, scale: FloatArray) -> PointConditions:
        """The same conditions, each multiplied by a number."""

        def at(x: FloatArray) -> ConditionPoint:
            here = self.at(x)
            rows = here.jacobian * scale[:, None]
            return ConditionPoint(
                x, here.value * scale, rows, here.limit * scale, here.slope * scale
            )

        return PointConditions(at, lambda x, lam: self.curvature(x, lam * scale))


@dataclass(frozen=True)
class Metric:
    """W and a root R with R Rᵀ = W⁻¹, shapes (n, n)."""

    matrix: FloatArray
    root: FloatArray

    @classmethod
    def of(cls, matrix: FloatArray) -> Metric:
        """A metric from a positive definite matrix."""
        values, vectors = np.linalg.eigh(matrix)
        return cls(matrix, vectors / np.sqrt(values))

    def half_square(self, x: FloatArray) -> float:
        """½ xᵀ W x."""
        return 0.5 * float(x @ self.matrix @ x)
