"""Assembly of several configurations of the same constraints: many starts, periods of angles."""

from __future__ import annotations

import numpy as np

from zwang.assembly.points import ConditionPoint, PointConditions
from zwang.assembly.request import generic_values
from zwang.terms import FloatArray

__all__ = ["Periods", "distinct", "spread"]

#: Points closer than this, relative to their size, are the same.
SAME = 1e-6


def spread(turn: int, count: int) -> FloatArray:
    """Member `turn` of a sequence that fills the cube [−1, 1]ⁿ evenly (additive recurrence)."""
    ratio = 2.0
    for _ in range(40):  # the root of x^(n+1) = x + 1
        ratio = (1.0 + ratio) ** (1.0 / (count + 1))
    steps = ratio ** -np.arange(1.0, count + 1)
    return 2.0 * np.mod(0.5 + (turn + 1) * steps, 1.0) - 1.0


class Periods:
    """Which entries of x are angles: adding 2π to one changes none of the conditions.

    Parameters
    ----------
    conditions : of x.
    near : where they have values.
    """

    def __init__(self, conditions: PointConditions, near: FloatArray) -> None:
        self.angle = np.zeros(len(near), dtype=bool)
        places = [near + 0.3 * generic_values(len(near), turn) for turn in (1, 2)]
        values = [conditions(x) for x in places]
        for j in range(len(near)):
            turn = 2.0 * np.pi * np.eye(len(near))[j]
            self.angle[j] = any(point.jacobian[:, j].any() for point in values) and all(
                _same(conditions(x + turn), point) for x, point in zip(places, values, strict=True)
            )

    def nearest_turn(self, x: FloatArray, target: FloatArray) -> FloatArray | None:
        """X with its angles shifted to within π of the target; None if they are."""
        turns = np.where(self.angle, np.round((x - target) / (2.0 * np.pi)), 0.0)
        return x - 2.0 * np.pi * turns if turns.any() else None

    def apart(self, x: FloatArray, y: FloatArray) -> float:
        """Largest difference of two points, angles modulo 2π."""
        gap = x - y
        gap = np.where(self.angle, np.mod(gap + np.pi, 2.0 * np.pi) - np.pi, gap)
        return float(np.max(np.abs(gap), initial=0.0))


def _same(a: ConditionPoint, b: ConditionPoint) -> bool:
    size = 1.0 + np.linalg.norm(b.jacobian)
    return (
        a.finite
        and b.finite
        and bool(np.max(np.abs(a.value - b.value), initial=0.0) <= 1e-9 * size)
        and bool(np.max(np.abs(a.jacobian - b.jacobian), initial=0.0) <= 1e-9 * size)
    )


def distinct(points: list[ConditionPoint], periods: Periods) -> list[ConditionPoint]:
    """The points without repetitions, in the order given."""
    kept: list[ConditionPoint] = []
    for point in points:
        limit = SAME * (1.0 + float(np.max(np.abs(point.x), initial=0.0)))
        if all(periods.apart(point.x, other.x) > limit for other in kept):
            kept.append(point)
    return kept
