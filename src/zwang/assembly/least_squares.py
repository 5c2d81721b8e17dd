"""Assembly where conditions cannot all hold: the configuration of least residual."""

from __future__ import annotations

import numpy as np

from zwang.assembly.points import ConditionPoint, PointConditions
from zwang.terms import FloatArray

__all__ = ["least_squares"]


def least_squares(
    conditions: PointConditions, start: FloatArray, *, iterations: int = 200
) -> ConditionPoint:
    """A point where ½ Σ cᵢ² is least, for conditions that cannot hold.

    Newton's method with the full second derivative Jᵀ J + Σ cᵢ ∇²cᵢ, made convex where it is not.
    """
    here = conditions(start)
    for _ in range(iterations):
        gradient = here.jacobian.T @ here.value
        H = here.jacobian.T @ here.jacobian + conditions.curvature(here.x, here.value)
        if not (np.isfinite(H).all() and np.isfinite(gradient).all()):
            break
        curvature, directions = np.linalg.eigh(0.5 * (H + H.T))
        floor = 1e-10 * max(float(np.max(np.abs(curvature), initial=0.0)), 1e-300)
        slope = directions.T @ gradient
        step = -(directions @ (slope / np.maximum(np.abs(curvature), floor)))
        now = 0.5 * float(here.value @ here.value)
        fraction, found = 1.0, None
        for _ in range(40):
            trial = conditions(here.x + fraction * step)
            less = now - 0.5 * float(trial.value @ trial.value) if trial.finite else -1.0
            if less > 0.0 and less >= -1e-4 * fraction * float(gradient @ step):
                found = trial
                break
            fraction *= 0.5
        if found is None:
            break
        here = found
        change = np.max(np.abs(fraction * step), initial=0.0)
        if change <= 1e-15 * (1.0 + np.max(np.abs(here.x), initial=0.0)):
            break
    return _without_slope(conditions, here)


def _without_slope(conditions: PointConditions, here: ConditionPoint) -> ConditionPoint:
    """A last Newton step or two where the sum of squares no longer distinguishes points."""
    for _ in range(3):
        gradient = here.jacobian.T @ here.value
        H = here.jacobian.T @ here.jacobian + conditions.curvature(here.x, here.value)
        if not np.isfinite(H).all():
            return here
        step = -np.linalg.lstsq(H, gradient, rcond=1e-9)[0]
        trial = conditions(here.x + step)
        if not trial.finite or np.linalg.norm(trial.jacobian.T @ trial.value) >= np.linalg.norm(
            gradient
        ):
            return here
        here = trial
    return here
