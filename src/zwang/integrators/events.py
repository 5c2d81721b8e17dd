"""Integrators: the moment of an event within a step, and impulses that keep the constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zwang.integrators.event_detection import dips
from zwang.linalg.rank import RowGeometry
from zwang.terms import FloatArray

__all__ = ["along", "crossing", "response", "with_dips"]

#: How well the time of an event is found, in units of the step that holds it.
TIME_TOLERANCE = 1e-13

#: How well the extremum between two crossings is found, in units of the time looked at: it has only
#: to lie between them.
DIP_TOLERANCE = 1e-6
#: A function that goes beyond zero by less than this part of its values next to there touches it.
TOUCHES = 1e-12


def crossing(g: Callable[[float], float], a: float, b: float) -> float:
    """A zero of g after a and not after b, by Brent's method.

    g changes sign in between; at a itself it may be zero from an event before.
    """
    from scipy.optimize import brentq

    left, g_b = a, g(b)
    if g_b == 0.0:
        return b
    if not g(a) * g_b < 0.0:
        # Move away from a until the sign that led here shows; it does within the step.
        for k in range(1, 60):
            left = a + (b - a) * 0.5**k
            if g(left) * g_b < 0.0:
                break
        else:
            return a
    nearest = max(TIME_TOLERANCE * (b - a), 4e-16 * abs(b))
    root: Any = brentq(g, left, b, xtol=nearest, rtol=np.float64(1e-15))
    return float(root)


def with_dips(
    g: Callable[[float], float], times: Sequence[float], values: Sequence[float]
) -> list[tuple[float, float]]:
    """Times and values of g, with extrema beyond zero in between of which these saw nothing."""
    from scipy.optimize import minimize_scalar

    looks = list(zip(times, values, strict=True))
    found = {}
    for (t0, g0), (t1, g1), (t2, g2) in zip(looks, looks[1:], looks[2:], strict=False):
        if dips(t0, t1, t2, g0, g1, g2):
            sign, nearest = np.sign(g1), DIP_TOLERANCE * (t2 - t0)
            least: Any = minimize_scalar(
                lambda t, sign=sign: sign * g(t),
                bounds=(t0, t2),
                method="bounded",
                options={"xatol": nearest},
            )
            # What touches zero is below it by rounding.
            if least.fun < -TOUCHES * max(abs(g0), abs(g2)):
                found[float(least.x)] = float(sign * least.fun)
    return sorted([*looks, *found.items()])


def response(M: FloatArray, A: FloatArray, n: FloatArray) -> FloatArray:
    """The change of velocities by a unit impulse along n that keeps A v, but for its size.

    M δ = Aᵀ π + n with A δ = 0: the direction of the least change, in the metric of M, that
    changes n·v.
    """
    V2 = RowGeometry.of(A).null_space
    return V2 @ np.linalg.solve(V2.T @ M @ V2, V2.T @ n)


def along(
    direction: FloatArray, n: FloatArray, velocity: FloatArray, change: float, mass: float
) -> FloatArray:
    """Velocities moved along the response to an impulse n until n·v has changed by `change`.

    `mass` is a mean one, to tell a response from rounding.
    """
    response = float(n @ direction)
    if not response > 1e-12 * float(n @ n) / max(mass, 1e-300):
        return velocity  # the constraints hold this direction: no impulse can act along it
    return velocity + direction * (change / response)
