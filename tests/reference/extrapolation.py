"""Ordinary differential equations in many digits: Gragg's midpoint rule, extrapolated.

Bulirsch and Stoer's method on mpmath numbers, as in Hairer, Nørsett & Wanner, Solving Ordinary
Differential Equations I, section II.9: the midpoint rule over H with n = 2, 4, 6, … substeps has an
error in even powers of H/n, which Aitken and Neville's table removes one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mpmath import mp, mpf

__all__ = ["integrate"]

#: Columns of the table before a step counts as too long.
COLUMNS = 22
#: Extrapolation over the harmonic sequence loses digits to cancellation; so many are added.
GUARD_DIGITS = 12

Vector = list[Any]


def integrate(
    f: Callable[[Any, Vector], Sequence[Any]],
    start: Sequence[Any],
    until: Any,
    *,
    steps: int,
    digits: int,
) -> Vector:
    """y(until) of y' = f(t, y), y(0) = start, every step converged to so many digits.

    Steps start as equal parts and are halved where the table does not converge.
    """
    with mp.workdps(digits + GUARD_DIGITS):
        y, t, until = [mpf(x) for x in start], mpf(0), mpf(until)
        H = until / steps
        while until - t > H * mpf(10) ** (-digits):
            H = min(H, until - t)
            new = _step(f, t, y, H, mpf(10) ** (-digits))
            if new is None:
                H /= 2
                continue
            y, t = new, t + H
        return y


def _step(f: Any, t: Any, y: Vector, H: Any, eps: Any) -> Vector | None:
    first = f(t, y)
    rows: list[Vector] = []
    counts: list[int] = []
    for column in range(COLUMNS):
        n = 2 * (column + 1)
        counts.append(n)
        entry = _midpoint(f, t, y, first, H, n)
        row = [entry]
        for k in range(1, column + 1):
            ratio = (mpf(n) / counts[column - k]) ** 2 - 1
            left, above = row[k - 1], rows[k - 1]
            row.append([a + (a - b) / ratio for a, b in zip(left, above, strict=True)])
        if column > 2:
            change = max(abs(a - b) for a, b in zip(row[-1], row[-2], strict=True))
            if change <= eps * max(1, *(abs(x) for x in row[-1])):
                return row[-1]
        rows = row
    return None


def _midpoint(f: Any, t: Any, y: Vector, first: Sequence[Any], H: Any, n: int) -> Vector:
    """n even: the odd last point is not smoothed, which keeps the expansion in even powers."""
    h = H / n
    before, now = y, [a + h * b for a, b in zip(y, first, strict=True)]
    for k in range(1, n):
        rate = f(t + k * h, now)
        before, now = now, [a + 2 * h * b for a, b in zip(before, rate, strict=True)]
    return now
