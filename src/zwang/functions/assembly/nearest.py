"""The point nearest to given values among those that satisfy conditions c(x) = 0.

    minimise ½ (x − x̂)ᵀ W (x − x̂)   subject to   c(x) = 0

Newton's method on the set itself: a step in the tangent space with the exact curvature of the
conditions, then back to the set by the shortest way in the metric W. In the coordinates y with
x = R y, W = (R Rᵀ)⁻¹, distances are plain, and with J R = U Σ Vᵀ

    J Δx = −c            Δy = −V₁ Σ⁻¹ U₁ᵀ c                         `restore`
    tangent Newton step  Δy = −V₂ (V₂ᵀ Rᵀ H R V₂)⁻¹ V₂ᵀ Rᵀ W (x − x̂)   `minimise`
    H = W + Σ λᵢ ∇²cᵢ,   Jᵀλ = −W (x − x̂) in the least-squares sense

Ranks are decided on rows of unit length, so that dependent conditions are no obstacle and their
units play no part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from zwang.formulations.rank import svd
from zwang.terms import FloatArray

__all__ = ["Conditions", "Metric", "Point", "minimise", "nearest", "restore"]

#: A direction in which unit rows change less than this, relatively, is not restricted by them.
#: Coarser than the rank tolerance of the solve: Newton's steps may not be led by noise.
RANK = 1e-9

#: Rows are measured at least by this fraction of the largest slope they have shown, so that a
#: condition near a point without slope does not drown the others.
LEAST_SLOPE = 1e-3

#: A Newton step below this fraction of the size of x is in the range of quadratic convergence.
NEAR = 1e-4

#: Weight of what is free beside what is preferred. Its effect is removed by extrapolation up to
#: the third power, 1e-15; rounding enters free values divided by it, 1e-11.
EPSILON = 1e-5


@dataclass(frozen=True)
class Point:
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
class Conditions:
    """c(x) = 0 with its derivatives.

    Attributes
    ----------
    at : x → the conditions there.
    curvature : (x, λ) → Σ λᵢ ∇²cᵢ, shape (n, n).
    evaluations : how often `at` was asked.
    """

    at: Callable[[FloatArray], Point]
    curvature: Callable[[FloatArray, FloatArray], FloatArray]
    evaluations: int = 0

    def __call__(self, x: FloatArray) -> Point:
        """The conditions at x."""
        self.evaluations += 1
        return self.at(x)

    def along(self, index: np.ndarray, base: FloatArray) -> Conditions:
        """The same conditions as functions of some entries of x, the others as in `base`."""

        def whole(part: FloatArray) -> FloatArray:
            x = base.copy()
            x[index] = part
            return x

        def at(part: FloatArray) -> Point:
            point = self.at(whole(part))
            return replace(point, x=part, jacobian=point.jacobian[:, index])

        def curvature(part: FloatArray, lam: FloatArray) -> FloatArray:
            return self.curvature(whole(part), lam)[np.ix_(index, index)]

        return Conditions(at, curvature)


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


@dataclass(frozen=True)
class _Rows:
    """The rows of J R at unit length, decomposed and cut at their rank."""

    scale: FloatArray
    U: FloatArray
    s: FloatArray
    V1: FloatArray
    V2: FloatArray


def _rows(point: Point, root: FloatArray, largest: FloatArray | None = None) -> _Rows:
    B = point.jacobian @ root
    length = np.linalg.norm(B, axis=1)
    noise = length <= 1e-14 * point.slope * np.max(np.abs(root), initial=0.0)
    B[noise], length[noise] = 0.0, 0.0
    if largest is not None:
        np.maximum(largest, length, out=largest)
        length = np.maximum(length, LEAST_SLOPE * largest)
    scale = 1.0 / np.where(length > 0.0, length, 1.0)
    U, s, Vt = svd(B * scale[:, None])
    rank = int(np.sum(s > RANK * np.max(s, initial=0.0)))
    return _Rows(scale, U[:, :rank], s[:rank], Vt[:rank].T, Vt[rank:].T)


def restore(
    conditions: Conditions, x: FloatArray, metric: Metric, *, iterations: int = 80
) -> tuple[Point, bool]:
    """From x to a point where the conditions hold, and whether one was reached.

    Gauss–Newton in the metric; where a step does not bring the conditions closer (each measured by
    its distance, value over slope) it is damped after Levenberg and Marquardt.
    """
    here = conditions(x)
    if not here.finite:
        return here, False
    largest = np.zeros(len(here.value))
    damping = 0.0
    for _ in range(iterations):
        if here.excess <= 1.0:
            return _polished(conditions, here, metric), True
        rows = _rows(here, metric.root, largest)
        if rows.s.size == 0:
            return here, False
        distance = rows.scale * here.value
        components = rows.U.T @ distance
        top = float(rows.s[0]) ** 2
        while True:
            y = -(rows.V1 @ (rows.s / (rows.s**2 + damping) * components))
            trial = conditions(here.x + _limited(metric.root @ y, here.x))
            closer = trial.finite and np.linalg.norm(rows.scale * trial.value) < (
                1.0 - 1e-4
            ) * np.linalg.norm(distance)
            if closer:
                break
            damping = max(4.0 * damping, 1e-4 * top)
            if damping > 1e10 * top:
                return here, _at_rounding(here, rows, distance)
        damping = 0.0 if damping < 1e-3 * top else 0.1 * damping
        here = trial
    return here, here.excess <= 1.0


def _limited(step: FloatArray, x: FloatArray) -> FloatArray:
    """The step, shortened so that no entry changes by much more than its own size."""
    excess = float(np.max(np.abs(step) / (0.5 + 0.5 * np.abs(x)), initial=0.0))
    return step if excess <= 1.0 else step / excess


def _at_rounding(here: Point, rows: _Rows, distance: FloatArray) -> bool:
    """Whether what is left is the rounding of x itself: a step no number can make smaller."""
    outside = distance - rows.U @ (rows.U.T @ distance)
    size = 1e-14 * (1.0 + float(np.max(np.abs(here.x), initial=0.0)))
    step = rows.V1 @ (rows.U.T @ distance / rows.s)
    return bool(np.linalg.norm(step) <= size and np.linalg.norm(outside) <= size)


def _polished(conditions: Conditions, here: Point, metric: Metric) -> Point:
    """One more Newton step, kept if it helps."""
    if here.excess == 0.0:
        return here
    rows = _rows(here, metric.root)
    if rows.s.size == 0:
        return here
    y = -(rows.V1 @ (rows.U.T @ (rows.scale * here.value) / rows.s))
    trial = conditions(here.x + metric.root @ y)
    return trial if trial.finite and trial.excess < here.excess else here


def minimise(
    conditions: Conditions,
    start: Point,
    target: FloatArray,
    metric: Metric,
    *,
    iterations: int = 60,
) -> Point:
    """From a point that satisfies the conditions to a nearest one, to rounding."""
    here, previous = start, np.inf
    for _ in range(iterations):
        step, convex = _tangent_step(conditions, here, target, metric)
        length = _relative(step, here.x)
        if length <= 1e-15 or (convex and length < 1e-9 and length >= 0.3 * previous):
            break
        if convex and length < NEAR and length < 0.5 * previous:
            # Distances no longer tell points apart; steps that shrink do.
            trial, ok = restore(conditions, here.x + step, metric)
            if not ok:
                break
        else:
            found = _line_search(conditions, here, step, target, metric)
            if found is None:
                break
            trial = found
        here, previous = trial, length
    return here


def _relative(step: FloatArray, x: FloatArray) -> float:
    return float(np.max(np.abs(step), initial=0.0) / (1.0 + np.max(np.abs(x), initial=0.0)))


def _tangent_step(
    conditions: Conditions, here: Point, target: FloatArray, metric: Metric
) -> tuple[FloatArray, bool]:
    """Newton's step along the set, and whether the distance is convex there."""
    R = metric.root
    rows = _rows(here, R)
    gradient = R.T @ (metric.matrix @ (here.x - target))
    lam = rows.scale * (rows.U @ (rows.V1.T @ -gradient / rows.s))
    bend = R.T @ conditions.curvature(here.x, lam) @ R
    # Rᵀ W R is the identity.
    curvature, directions = np.linalg.eigh(
        np.eye(rows.V2.shape[1]) + rows.V2.T @ (0.5 * (bend + bend.T)) @ rows.V2
    )
    slope = directions.T @ (rows.V2.T @ gradient)
    if not np.isfinite(slope).all() or slope.size == 0:
        return np.zeros_like(here.x), True
    y = -slope / np.maximum(np.abs(curvature), 1e-8)
    y[np.abs(slope) <= 1e-15 * np.linalg.norm(gradient)] = 0.0
    convex = bool(curvature[0] > 1e-8)
    if curvature[0] < -1e-6 and np.linalg.norm(slope) <= 1e-6 * (1.0 + np.linalg.norm(gradient)):
        # A point of largest distance: leave it along the direction that bends most.
        y[0] += 0.1 * max(1.0, float(np.linalg.norm(gradient)))
    return R @ (rows.V2 @ (directions @ y)), convex


def _line_search(
    conditions: Conditions, here: Point, step: FloatArray, target: FloatArray, metric: Metric
) -> Point | None:
    now = metric.half_square(here.x - target)
    slope = float(step @ metric.matrix @ (here.x - target))
    fraction = 1.0
    for _ in range(30):
        trial, ok = restore(conditions, here.x + fraction * step, metric, iterations=20)
        decrease = now - metric.half_square(trial.x - target)
        if ok and decrease > max(1e-4 * fraction * -slope, 0.0):
            return trial
        fraction *= 0.5
    return None


def nearest(
    conditions: Conditions,
    start: FloatArray,
    target: FloatArray,
    preferred: np.ndarray,
    first: FloatArray,
    second: FloatArray,
) -> tuple[Point, bool]:
    """The nearest point by a first measure and, where that leaves a choice, by a second one.

    If the preferred values can be met exactly, they are. Otherwise the second measure takes part
    with a small factor ε; what it adds to the result is a power series in ε, which extrapolation
    from ε, 2ε and 4ε removes up to the third power.

    Parameters
    ----------
    start : where the search begins, shape (n,).
    target : x̂, shape (n,).
    preferred : numbers of the entries of x that the first measure is about.
    first, second : matrices of the measures, of all entries, shape (n, n); `first` is zero outside
        the preferred entries, `second` is positive definite.
    """
    others = np.setdiff1d(np.arange(len(start)), preferred)
    if len(preferred) == 0 or len(others) == 0:
        metric = Metric.of(first if len(preferred) else second)
        point, ok = restore(conditions, start, metric)
        return (minimise(conditions, point, target, metric) if ok else point), ok
    met = _with_preferred_met(conditions, start, target, others, second)
    if met is not None:
        return met, True
    point, ok = restore(conditions, start, Metric.of(first + second))
    if not ok:
        return point, False
    # A mild factor leads to the neighbourhood.
    metric = Metric.of(first + 1e-2 * second)
    point = minimise(conditions, point, target, metric)
    met = _with_preferred_met(conditions, point.x, target, others, second)
    if met is not None:
        return met, True
    found = []
    for factor in (4.0, 2.0, 1.0):
        metric = Metric.of(first + factor * EPSILON * second)
        point = minimise(conditions, point, target, metric)
        found.append(point.x)
    limit, ok = restore(conditions, (8.0 * found[2] - 6.0 * found[1] + found[0]) / 3.0, metric)
    # Near a fold the series does not serve; the last point is then the better one.
    agrees = ok and _relative(limit.x - found[2], limit.x) <= 1e3 * EPSILON
    return (limit if agrees else point), True


def _with_preferred_met(
    conditions: Conditions,
    near: FloatArray,
    target: FloatArray,
    others: np.ndarray,
    second: FloatArray,
) -> Point | None:
    """The nearest point with the preferred values exactly, if there is one close by."""
    base = target.copy()
    base[others] = near[others]
    inner = conditions.along(others, base)
    metric = Metric.of(second[np.ix_(others, others)])
    point, ok = restore(inner, near[others], metric, iterations=40)
    if ok:
        point = minimise(inner, point, target[others], metric)
        base[others] = point.x
    conditions.evaluations += inner.evaluations
    return conditions(base) if ok else None
