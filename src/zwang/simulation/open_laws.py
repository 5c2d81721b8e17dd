"""Simulation notes: a motion that is not determined, as a law uses reactions that are left open.

At rest friction is zero whatever the reaction, and in a singular position more is left open than
along the motion. So a run is not judged by its start alone: where rows depend on each other there,
some saved states are looked at, until one has a law that uses what is open. The first ones may all
be at rest; so some more are looked at at the end of the run, of those spread over it the fastest.
Where no rows depend on others, as in most runs with friction, the start tells it, and nothing else
is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zwang.errors import ZwangError
from zwang.simulation.all_rows import on_all_rows
from zwang.terms import FloatArray
from zwang.tracing.open_laws import OpenLaws, motion_note

if TYPE_CHECKING:
    from zwang.equations.contract import Equations

__all__ = ["OpenMotion"]

#: Saved states that are looked at, of all and of those that come together.
LOOKS, TOGETHER = 4, 3
#: States that miss constraints by more, relative, do not tell which rows depend on each other.
ON = 1e-12
#: States spread over a run that are kept for a look at its end.
SPREAD = 32


class _KeptState(NamedTuple):
    """A saved state that may be looked at later.

    Attributes
    ----------
    row : which of the saved states it is.
    speed : the norm of its velocities.
    """

    row: int
    speed: float
    y: FloatArray
    t: float
    p: FloatArray


class _SpreadStates:
    """Some states of a run, spread over it, however many are saved, and the fastest of all."""

    def __init__(self, nq: int) -> None:
        self._nq, self._count, self._stride = nq, 0, 1
        self._kept: list[_KeptState] = []
        self._fastest: _KeptState | None = None

    def take(self, t: FloatArray, y: FloatArray, p: FloatArray) -> None:
        """Saved states (rows, n) that follow those before."""
        if not len(t):
            return
        speeds = np.sqrt(np.square(y[:, self._nq :]).sum(axis=1))
        k = int(speeds.argmax())
        if self._fastest is None or speeds[k] > self._fastest.speed:
            self._fastest = _KeptState(
                self._count + k, float(speeds[k]), y[k].copy(), float(t[k]), p
            )
        for i in range(-self._count % self._stride, len(t), self._stride):
            row = self._count + i
            if row % self._stride == 0:  # the stride may have become longer
                self._kept.append(_KeptState(row, float(speeds[i]), y[i].copy(), float(t[i]), p))
            if len(self._kept) > SPREAD:
                self._stride *= 2
                self._kept = [one for one in self._kept if one.row % self._stride == 0]
        self._count += len(t)

    def fastest(self, count: int) -> list[_KeptState]:
        """So many of them, the fastest first."""
        every = {one.row: one for one in self._kept}
        if self._fastest is not None:
            every[self._fastest.row] = self._fastest
        return sorted(every.values(), key=lambda one: -one.speed)[:count]


class OpenMotion:
    """What a run says of laws that use reactions which redundant constraints leave open.

    Parameters
    ----------
    equations : of the constraints that act.
    start : y, t and p where they begin to.
    at_start : which laws do so there.
    idle : how many rows depend on others there and nearby, if that is known; else zero.
    tolerance : of the simulation.
    """

    def __init__(
        self,
        equations: Equations,
        start: tuple[FloatArray, float, FloatArray],
        at_start: OpenLaws,
        *,
        idle: int,
        tolerance: float,
    ) -> None:
        self._equations, self._t, self._tolerance = equations, start[1], tolerance
        self._seen = [at_start] if self._is_on(*start) else []
        # A start at which no more rows depend on others than nearby is no singular position.
        self._enough = 1 if idle and idle == at_start.redundant else 2
        self._left, self._done = LOOKS, False
        self._spread = _SpreadStates(len(equations.coordinates))

    def notes(self, t: FloatArray, y: FloatArray, p: FloatArray) -> list[str]:
        """Sentences on saved states (rows, n) that follow those before; at most one in all."""
        later = np.zeros(0, dtype=int) if self._done else np.flatnonzero(t > self._t)
        spread = (np.arange(1, TOGETHER + 1) * len(later)) // TOGETHER - 1
        for row in dict.fromkeys(later[spread[spread >= 0]].tolist()):
            if self._is_told() or not self._left:
                break
            self._left -= 1
            self._look(y[row], float(t[row]), p)
        if self._done:
            return []
        if not self._is_told():
            self._spread.take(t[later], y[later], p)
            return []
        return self._tell()

    def notes_at_end(self) -> list[str]:
        """Sentences on a run that is over, if nothing was told before."""
        if self._done:
            return []
        for one in self._spread.fastest(LOOKS):
            if self._is_told():
                break
            self._look(one.y, one.t, one.p)
        return self._tell()

    def _tell(self) -> list[str]:
        """What is known by now, for all times."""
        self._done = True
        names = self._names()
        return [motion_note(names)] if names else []

    def _is_told(self) -> bool:
        """Whether nothing more has to be looked at: no row depends on others, or a law is open."""
        return any(not seen.redundant for seen in self._seen) or bool(self._names())

    def _names(self) -> tuple[str, ...]:
        """Laws that use what is open, once a state is known that is no singular position."""
        if len(self._seen) < self._enough:
            return ()
        fewest = min(seen.redundant for seen in self._seen)
        regular = (seen.names for seen in self._seen if seen.redundant == fewest)
        return next((names for names in regular if names), ())

    def _look(self, y: FloatArray, t: float, p: FloatArray) -> None:
        equations, nq = self._equations, len(self._equations.coordinates)
        try:
            if not self._is_on(y, t, p):
                y = on_all_rows(equations, y[None], np.array([t]), p, self._tolerance)[0][0]
                if not self._is_on(y, t, p):
                    return
            self._seen.append(equations.open_laws_at(y[:nq], y[nq:], np.asarray(t), p))
        except ZwangError:  # no unique motion there: nothing is known
            return

    def _is_on(self, y: FloatArray, t: float, p: FloatArray) -> bool:
        miss = self._equations.largest_miss(y[None], np.array([t]), p)
        return bool(miss <= ON * max(1.0, float(np.abs(y).max(initial=0.0))))
