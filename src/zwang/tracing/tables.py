"""Tables in traced functions: ``np.interp`` of a symbol.

Linear interpolation is a sum of ramps, one for each interval of the table,

    f(x) = f₀ + Σₖ (fₖ₊₁ − fₖ)/(xₖ₊₁ − xₖ) (rₖ − rₖ₊₁),      rₖ = max(x − xₖ, 0)

with x held within the table. This is compiled and differentiated like any other expression. Beyond
the table the first and last values hold, or those that are given. Where time alone decides, the
points of the table are switches at which steps end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.tracing.symbol import ValueNeededError, where

__all__ = ["interpolated"]


def interpolated(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """``np.interp`` with symbols among x or the values fp of the table.

    Parameters
    ----------
    x : where, a scalar or an array.
    xp : points of the table, numbers that increase.
    fp : values there.
    left, right : values beyond the table; by default the first and the last.
    """
    if period is not None:
        raise ValueNeededError(
            "np.interp with a period", "Take the remainder first: np.interp(x % period, …)."
        )
    try:
        points = np.asarray(xp, dtype=float)
    except (TypeError, ValueNeededError):
        raise ValueNeededError(
            "np.interp of a table whose points are symbols",
            "The points must be numbers; the values may be symbols.",
        ) from None
    values = np.asarray(fp, dtype=object)
    if points.ndim != 1 or points.shape != values.shape or not len(points):
        raise ValueNeededError(
            f"np.interp of points of shape {points.shape} and values of shape {values.shape}",
            "Give as many values as points.",
        )
    if not (np.diff(points) > 0.0).all():
        raise ValueNeededError(
            "np.interp of points that do not increase", "Sort the table, each point once."
        )
    inside = np.minimum(np.maximum(x, points[0]), points[-1])
    ramps = [inside - points[0], *(np.maximum(inside - at, 0.0) for at in points[1:-1]), 0.0]
    result = values[0] + 0.0 * inside
    for k, slope in enumerate(np.diff(values) / np.diff(points)):
        result = result + slope * (ramps[k] - ramps[k + 1])
    if left is not None:
        result = where(x < points[0], left, result)
    return result if right is None else where(x > points[-1], right, result)
