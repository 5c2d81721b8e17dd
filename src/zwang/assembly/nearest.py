"""Assembly: the configuration nearest to given values among those with c(x) = 0.

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

from dataclasses import dataclass

import numpy as np

from zwang.assembly.least_squares import least_squares
from zwang.assembly.points import ConditionPoint, Metric, PointConditions
from zwang.linalg.rank import svd
from zwang.terms import FloatArray

__all__ = ["attain", "minimise", "nearest", "restore"]

#: A direction in which unit rows change less than this, relatively, is not restricted by them.
#: Coarser than the rank tolerance of the solve: Newton's steps may not be led by noise.
RANK = 1e-9

#: Rows are measured at least by this fraction of the largest slope they have shown, so that a
#: condition near a point without slope does not drown the others.
LEAST_SLOPE = 1e-3

#: A Newton step below this fraction of the size of x is in the range of quadratic convergence.
NEAR = 1e-4

#: Weight of what is free beside what is preferred, times the remaining distance. Its effect is
#: removed by extrapolation up to the third power, 1e-15; rounding enters free values divided by it,
#: 1e-11.
EPSILON = 1e-5


@dataclass(frozen=True)
class _UnitRows:
    """The rows of J R at unit length, decomposed and cut at their rank."""

    scale: FloatArray
    U: FloatArray
    s: FloatArray
    V1: FloatArray
    V2: FloatArray


def _rows(point: ConditionPoint, root: FloatArray, largest: FloatArray | None = None) -> _UnitRows:
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
    return _UnitRows(scale, U[:, :rank], s[:rank], Vt[:rank].T, Vt[rank:].T)


def restore(
    conditions: PointConditions, x: FloatArray, metric: Metric, *, iterations: int = 40
) -> tuple[ConditionPoint, bool]:
    """From x to a point where the conditions hold, and whether one was reached.

    Gauss–Newton in the metric. A step that would change an entry by much more than its own size is
    shortened, less and less as long as shortened steps do what they promise; where a step does not
    bring the conditions closer (each measured by its distance, value over slope) it is damped after
    Levenberg and Marquardt.
    """
    here = conditions(x)
    if not here.finite:
        return here, False
    largest = np.zeros(len(here.value))
    damping, reach = 0.0, 1.0
    for _ in range(iterations):
        if here.excess <= 1.0:
            return _polished(conditions, here, metric), True
        rows = _rows(here, metric.root, largest)
        if rows.s.size == 0:
            return here, False
        distance = rows.scale * here.value
        now = float(np.linalg.norm(distance))
        components = rows.U.T @ distance
        top = float(rows.s[0]) ** 2
        while True:
            step = metric.root @ -(rows.V1 @ (rows.s / (rows.s**2 + damping) * components))
            fraction = min(1.0, reach / _excess(step, here.x))
            trial = conditions(here.x + fraction * step)
            then = float(np.linalg.norm(rows.scale * trial.value)) if trial.finite else np.inf
            if then < (1.0 - 1e-4) * now:
                break
            damping = max(4.0 * damping, 1e-4 * top)
            if damping > 1e10 * top:
                return here, _at_rounding(here, rows, distance)
        if fraction < 1.0:
            kept_promise = then <= (1.0 - 0.5 * fraction) * now
            reach = 2.0 * reach if kept_promise else max(0.5 * reach, 0.25)
        damping = 0.0 if damping < 1e-3 * top else 0.1 * damping
        here = trial
    return here, here.excess <= 1.0


def attain(
    conditions: PointConditions, x: FloatArray, metric: Metric
) -> tuple[ConditionPoint, bool]:
    """Like `restore`, from far away: by descent on the sum of squares where that fails.

    Newton's method on the sum, with the second derivatives of the conditions, unfolds what
    linearised conditions cannot; rows count by their slope at the start, whatever their units.
    """
    point, ok = restore(conditions, x, metric)
    if ok:
        return point, True
    start = conditions(x)
    if not start.finite:
        return point, False
    slope = np.linalg.norm(start.jacobian, axis=1)
    scale = 1.0 / np.maximum(slope, 1e-6 * np.max(slope, initial=1e-300))
    weighted = conditions.weighted(scale)
    end = least_squares(weighted, x)
    conditions.evaluations += weighted.evaluations
    nearer, ok = restore(conditions, end.x, metric)
    return (nearer if ok or nearer.finite else point), ok


def _excess(step: FloatArray, x: FloatArray) -> float:
    """The largest change of an entry relative to its size, where 0.5 is the least size."""
    return float(np.max(np.abs(step) / (0.5 + 0.5 * np.abs(x)), initial=1e-300))


def _at_rounding(here: ConditionPoint, rows: _UnitRows, distance: FloatArray) -> bool:
    """Whether what is left is the rounding of x itself: a step no number can make smaller."""
    outside = distance - rows.U @ (rows.U.T @ distance)
    size = 1e-14 * (1.0 + float(np.max(np.abs(here.x), initial=0.0)))
    step = rows.V1 @ (rows.U.T @ distance / rows.s)
    return bool(np.linalg.norm(step) <= size and np.linalg.norm(outside) <= size)


def _polished(conditions: PointConditions, here: ConditionPoint, metric: Metric) -> ConditionPoint:
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
    conditions: PointConditions,
    start: ConditionPoint,
    target: FloatArray,
    metric: Metric,
    *,
    iterations: int = 60,
) -> ConditionPoint:
    """From a point that satisfies the conditions to a nearest one, to rounding."""
    here, previous = start, np.inf
    for _ in range(iterations):
        step, convex = _tangent_step(conditions, here, target, metric)
        length = _relative(step, here.x)
        if length <= 1e-15 or (convex and length < 1e-9 and length >= 0.3 * previous):
            break
        if convex and length < NEAR and length < 0.5 * previous:
            # Distances no longer distinguish points; steps that shrink do.
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
    conditions: PointConditions, here: ConditionPoint, target: FloatArray, metric: Metric
) -> tuple[FloatArray, bool]:
    """Newton's step along the set, and whether the distance is convex there."""
    R = metric.root
    rows = _rows(here, R)
    gradient = R.T @ (metric.matrix @ (here.x - target))
    lam = rows.scale * (rows.U @ (rows.V1.T @ -gradient / rows.s))
    bend = R.T @ conditions.curvature(here.x, lam) @ R
    if not np.isfinite(bend).all():
        return np.zeros_like(here.x), True
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
    conditions: PointConditions,
    here: ConditionPoint,
    step: FloatArray,
    target: FloatArray,
    metric: Metric,
) -> ConditionPoint | None:
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
    conditions: PointConditions,
    start: FloatArray,
    target: FloatArray,
    preferred: np.ndarray,
    first: FloatArray,
    second: FloatArray,
    *,
    anchored: bool = True,
) -> tuple[ConditionPoint, bool]:
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
    anchored : whether the target means something for the other entries too; if not, they stay near
        where they first satisfy the conditions.
    """
    others = np.setdiff1d(np.arange(len(start)), preferred)
    if len(preferred) == 0 or len(others) == 0:
        metric = Metric.of(first if len(preferred) else second)
        point, ok = attain(conditions, start, metric)
        return (minimise(conditions, point, target, metric) if ok else point), ok
    met = _with_preferred_met(conditions, start, target, others, second, anchored=anchored)
    if met is not None:
        return met, True
    point, ok = attain(conditions, start, Metric.of(first + second))
    if not ok:
        return point, False
    if not anchored:
        target = target.copy()
        target[others] = point.x[others]
    # A mild factor leads to the neighbourhood. Factors count relative to the sizes of the measures.
    unit = np.trace(first) / len(preferred) / np.mean(second[others, others])
    metric = Metric.of(first + 1e-2 * unit * second)
    point = minimise(conditions, point, target, metric)
    met = _with_preferred_met(conditions, point.x, target, others, second, anchored=anchored)
    if met is not None:
        return met, True
    point = minimise(conditions, point, target, Metric.of(first + EPSILON * unit * second))
    # Free entries are held in place by the curvature of the conditions times the residual, so the
    # factor must be small compared with that.
    step = point.x - target
    residual = float(np.sqrt(step @ first @ step / np.trace(first)))
    epsilon = EPSILON * unit * min(1.0, max(residual, 1e-6))
    found = []
    for factor in (4.0, 2.0, 1.0):
        metric = Metric.of(first + factor * epsilon * second)
        point = minimise(conditions, point, target, metric)
        found.append(point.x)
    limit, ok = restore(conditions, (8.0 * found[2] - 6.0 * found[1] + found[0]) / 3.0, metric)
    # Near a fold the series does not serve; the last point is then the better one.
    agrees = ok and _relative(limit.x - found[2], limit.x) <= 1e3 * EPSILON
    return (limit if agrees else point), True


def _with_preferred_met(
    conditions: PointConditions,
    near: FloatArray,
    target: FloatArray,
    others: np.ndarray,
    second: FloatArray,
    *,
    anchored: bool,
) -> ConditionPoint | None:
    """The nearest point with the preferred values exactly, if there is one close by."""
    base = target.copy()
    base[others] = near[others]
    inner = conditions.along(others, base)
    metric = Metric.of(second[others[:, None], others])
    point, ok = restore(inner, near[others], metric)
    if ok and anchored:
        point = minimise(inner, point, target[others], metric)
    base[others] = point.x
    conditions.evaluations += inner.evaluations
    return conditions(base) if ok else None
