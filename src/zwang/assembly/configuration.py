"""Assembly of coordinates: the search for a configuration that satisfies the constraints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from zwang.assembly.branches import Periods, distinct, spread
from zwang.assembly.conditions import StartConditions
from zwang.assembly.contradiction import filtered
from zwang.assembly.least_squares import least_squares
from zwang.assembly.nearest import attain, nearest
from zwang.assembly.points import ConditionPoint, Metric, PointConditions
from zwang.assembly.request import RequestedValues
from zwang.assembly.result import Assembly, FindConflict, conflicting_group, impossible_error
from zwang.caching import computed_once
from zwang.errors import AssemblyError
from zwang.terms import FloatArray

__all__ = ["ConfigurationSearch"]

#: Other places to start from before the constraints are called impossible to meet …
ATTEMPTS = 24

#: … and before a configuration off its preferred values is called the nearest.
COMPARISONS = 6

#: Of more constraint rows and held values those that contradict are named by linearised conditions.
MOST_MEMBERS = 40


class ConfigurationSearch:
    """Conditions, request and measures of one search."""

    def __init__(
        self,
        model: StartConditions,
        request: RequestedValues,
        t: float,
        p: FloatArray,
        *,
        started: bool,
    ) -> None:
        self.all_conditions = model.positions(t, p)
        if not started:
            request = _in_scale(self.all_conditions, request)
        self.model, self.request, self.t, self.started = model, request, t, started
        self.unknown = request.unknown
        self.conditions = self.all_conditions.along(self.unknown, request.values)
        self.target = request.values[self.unknown]
        self.preferred = request.preferred_unknown
        n = len(self.unknown)
        weights = np.ones(len(self.preferred)) if request.weights is None else request.weights
        self.first = np.zeros((n, n))
        self.first[self.preferred, self.preferred] = weights
        # Preferred entries take part in the second measure too, to keep it definite.
        self.second = np.eye(n)
        self.failed: list[ConditionPoint] = []
        self.ends: list[ConditionPoint] = []

    def whole(self, x: FloatArray) -> FloatArray:
        """All coordinates, from the unknown ones."""
        q = self.request.values.copy()
        q[self.unknown] = x
        return q

    def distance(self, x: FloatArray) -> float:
        """Root of the weighted sum of squares over the preferred entries."""
        step = x - self.target
        return float(np.sqrt(step @ self.first @ step))

    def from_start(self, start: FloatArray, *, settle: bool = False) -> ConditionPoint | None:
        """The nearest configuration of the neighbourhood, or None.

        What is free may be anywhere, unless the user gave a start, or it is to settle.
        """
        anchored = self.started or settle
        arguments = (self.target, self.preferred, self.first, self.second)
        if len(self.preferred) == 0 and not anchored:
            point, ok = attain(self.conditions, start, Metric.of(self.second))
        else:
            point, ok = nearest(self.conditions, start, *arguments, anchored=anchored)
        if ok and np.max(np.abs(point.x - self.target), initial=0.0) > np.pi:
            turned = self.periods.nearest_turn(point.x, self.target)
            if turned is not None:
                point, ok = nearest(self.conditions, turned, *arguments, anchored=anchored)
        if ok:
            return point
        if point.finite:
            self.failed.append(point)
        return None

    @computed_once
    def periods(self) -> Periods:
        """Which unknown coordinates are angles."""
        return Periods(self.conditions, self.target)

    def starts(self, count: int) -> Iterator[FloatArray]:
        """Other starts, the farther the later."""
        n = len(self.unknown)
        size = 1.0 + float(np.max(np.abs(self.target), initial=0.0))
        for turn in range(count):
            reach = size * (0.3, 1.0, 1.0, 3.0)[turn % 4]
            yield self.target + reach * spread(turn, n)

    def best(self) -> ConditionPoint | None:
        """The nearest configuration found, or None.

        Where the requests are met, or the user gave a point to search from, the first is taken.
        """
        best = self.from_start(self.target)
        met = 1e-12 * (1.0 + float(np.max(np.abs(self.target), initial=0.0)))
        if best is not None and (self.started or self.distance(best.x) <= met):
            return best
        for turn, start in enumerate(self.starts(ATTEMPTS)):
            if best is not None and turn >= COMPARISONS:
                break
            point = self.from_start(start)
            if point is None:
                continue
            if best is None or self._nearer(point.x, best.x):
                best = point
            if self.distance(best.x) <= met:
                break
        return best

    def _nearer(self, x: FloatArray, y: FloatArray) -> bool:
        """Whether x is clearly the nearer one, by what is preferred or else by what is free."""
        a, b = self.distance(x), self.distance(y)
        if abs(a - b) > 1e-7 * (a + b):
            return a < b
        free, other = np.linalg.norm(x - self.target), np.linalg.norm(y - self.target)
        return bool(free < (1.0 - 1e-7) * other)

    def every(self) -> list[ConditionPoint]:
        """All configurations found, the nearest first."""
        n = len(self.unknown)
        count = min(160, 40 + 12 * n)
        found = [self.from_start(self.target, settle=True)]
        found += [self.from_start(start, settle=True) for start in self.starts(count)]
        points = [point for point in found if point is not None]
        points = distinct(points, self.periods)
        return sorted(points, key=self._order)

    def _order(self, point: ConditionPoint) -> tuple[float, ...]:
        step = point.x - self.target
        free = float(np.sqrt(step @ step))
        return (round(self.distance(point.x), 9), round(free, 9), *np.round(point.x, 9))

    def after_all(self) -> ConditionPoint | None:
        """A configuration found by descending from where searches ended, or None.

        The points reached are kept in order of their residual.
        """
        starts = [point.x for point in self.failed] or [self.target]
        ends = [least_squares(self.conditions, x) for x in starts[:ATTEMPTS]]
        ends = [end for end in ends if end.finite] or [self.conditions(self.target)]
        self.ends = sorted(ends, key=lambda end: float(np.linalg.norm(end.value)))
        if self.ends[0].excess <= 1e6:
            return self.from_start(self.ends[0].x)
        return None

    def impossible(self, find_conflict: FindConflict) -> AssemblyError:
        """The error for constraints that no configuration satisfies; after `after_all`."""
        end = self.ends[0]
        q = self.whole(end.x)
        full = self.all_conditions(q)
        names = self.model.position_rows
        group = self._irreducible(
            conflicting_group(full, self.request, names, find_conflict), names
        )
        state = Assembly(
            q,
            np.zeros(len(self.model.model.definition.velocities)),
            self.t,
            self.request.moved(q),
            self.distance(end.x),
            self.conditions.evaluations,
        )
        return impossible_error("configuration", full, names, state, group, len(self.ends))

    def _irreducible(self, likely: tuple[str, ...], rows: Sequence[str]) -> tuple[str, ...]:
        """The group of which each member is needed, by searches without some of them.

        What linearised conditions name is true near the nearest configuration alone.
        """
        request = self.request
        held = {f"hold {request.names[j]}": int(j) for j in request.held}
        if len(rows) + len(held) > MOST_MEMBERS:
            return likely
        ends = [self.whole(end.x) for end in self.ends[:1]]

        def hold_together(names: frozenset[str]) -> bool:
            kept = np.flatnonzero([name in names for name in rows])
            if not len(kept):
                return True
            free = np.setdiff1d(
                np.arange(len(request.names)), [j for name, j in held.items() if name in names]
            )
            conditions = self.all_conditions.only(kept).along(free, request.values)
            target, metric = request.values[free], Metric.of(np.eye(len(free)))
            size = 1.0 + float(np.max(np.abs(target), initial=0.0))
            starts = [target, *(q[free] for q in ends)]
            starts += [target + size * spread(turn, len(free)) for turn in range(COMPARISONS)]
            for start in starts:
                point, met = attain(conditions, start, metric)
                if met:
                    q = request.values.copy()
                    q[free] = point.x
                    ends[1:] = [q]
                    return True
            return False

        return filtered([*rows, *held], likely, hold_together).names


def _in_scale(conditions: PointConditions, request: RequestedValues) -> RequestedValues:
    """The request with the starts of free coordinates enlarged or reduced to the size of the
    system.

    Lengths may be millimetres or kilometres. The residual of constraints (value over slope),
    compared with the size of the start, is large for starts that are too small and settles for
    large ones; the scale of the system is where it has just settled. Angles stay as they are.
    """
    free = np.setdiff1d(request.unknown, request.preferred)
    angles = Periods(conditions.along(free, request.values), request.values[free]).angle
    lengths = free[~angles]

    def scaled(factor: float) -> FloatArray:
        values = request.values.copy()
        values[lengths] *= factor
        return values

    def residual(factor: float) -> float:
        point = conditions(scaled(factor))
        slope = np.linalg.norm(point.jacobian[:, lengths], axis=1)
        own = slope > 0.0
        if not point.finite or not own.any():
            return np.inf
        return float(np.median(np.abs(point.value[own]) / slope[own]) / factor)

    if len(lengths) == 0:
        return request
    factors = 10.0 ** np.arange(-6.0, 9.0)
    residuals = np.array([residual(factor) for factor in factors])
    scale = factors[np.argmax(residuals <= 2.0 * residuals[-1])]
    in_scale = not np.isfinite(residuals).all() or 0.1 <= scale <= 10.0
    return request if in_scale else replace(request, values=scaled(scale))
