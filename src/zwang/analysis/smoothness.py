"""Analysis of servo constraints: whether a prescribed function of time is smooth enough."""

from __future__ import annotations

import numpy as np

from zwang.analysis.time_functions import TimeFunction
from zwang.errors import InputError
from zwang.terms import FloatArray

__all__ = ["require_smooth"]

#: Pieces that times are cut into, and halvings of a suspicious one.
PIECES, HALVINGS = 8, 40
#: A jump of this share of a derivative's size is one.
JUMP = 1e-4


def require_smooth(name: str, f: TimeFunction, times: FloatArray, order: int) -> None:
    """Refuse a program one of whose derivatives up to an order is not continuous, with the time."""
    share = np.linspace(0.0, 1.0, PIECES, endpoint=False)
    fine = np.append((times[:-1, None] + np.diff(times)[:, None] * share).ravel(), times[-1])
    for j in range(order + 1):
        values = f(fine, j)[:, 0]
        if not np.isfinite(values).all():
            raise _rough(name, j, order, float(fine[np.argmin(np.isfinite(values))]))
        size = float(np.abs(values).max()) or 1.0
        # The next derivative, traced, knows no jump: what it does not explain may be one.
        slope = f(fine, j + 1)[:, 0]
        explained = 0.5 * (slope[1:] + slope[:-1]) * np.diff(fine)
        for i in np.flatnonzero(np.abs(np.diff(values) - explained) > JUMP * size):
            a, b = float(fine[i]), float(fine[i + 1])
            for _ in range(HALVINGS):
                middle = 0.5 * (a + b)
                low, mid, high = f(np.array([a, middle, b]), j)[:, 0]
                a, b = (a, middle) if abs(mid - low) > abs(high - mid) else (middle, b)
            low, high = f(np.array([a, b]), j)[:, 0]
            if abs(high - low) > JUMP * size:
                raise _rough(name, j, order, b)


def _rough(name: str, j: int, order: int, t: float) -> InputError:
    what = "its value" if j == 0 else f"its derivative of order {j}"
    return InputError(
        f"program of {name!r}",
        must=f"be continuous with its derivatives up to order {order}"
        if order
        else "be continuous",
        but=f"is not smooth enough: {what} jumps at t = {t:.6g}",
        advice="Join its pieces by a polynomial of higher degree.",
    )
