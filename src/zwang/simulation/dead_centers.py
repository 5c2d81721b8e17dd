"""Simulation: singular positions in which no step is small enough, as dead centers of drivers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from zwang.results.status import AT_THE_END, singular_place, start_at_dead_center
from zwang.simulation.rank_report import near_dependence, nearly_dependent
from zwang.simulation.reach import AHEAD, drivers_beyond_reach, drivers_that_move
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.results.segments import RankChange
    from zwang.simulation.loop_segment import LoopSegment

__all__ = ["DeadCenterLooks", "began_dead", "place_of_end"]


class DeadCenterLooks:
    """Looks at whether a simulation stays at the dead center from which a segment of it began."""

    def __init__(self) -> None:
        self._left = np.nan  # when the segment began that is known to be off its dead center

    def stays(self, segment: LoopSegment, ranks: Sequence[RankChange]) -> bool:
        """Whether no look has seen a segment off its dead center.

        A healthy motion that passes many of them may be on one at any look, but not at every one.
        """
        if self._left == segment.t or not _begins_there(segment, ranks):
            return False
        y = segment.loop.present[:, 0]
        if nearly_dependent(segment.system, segment.program, y, segment.reached, segment.p):
            return True
        self._left = segment.t
        return False


def place_of_end(segment: LoopSegment, ranks: Sequence[RankChange]) -> str:
    """The singular position where no step was small enough, as a clause; else empty."""
    end, until = segment.reached, segment.settings.until
    if end - segment.t <= AT_THE_END * (until - segment.t) and (dead := began_dead(segment, ranks)):
        return dead
    drivers, moving = segment.equations.driver_names, partial(_moving, segment)
    found = singular_place(ranks, end, drivers, moving)
    if found:
        return found
    y, parameters = segment.loop.present[:, 0], segment.parameters
    near = near_dependence(segment.system, segment.program, y, end, parameters)
    return singular_place(near, end, drivers, moving)


def began_dead(segment: LoopSegment, ranks: Sequence[RankChange]) -> str:
    """That a segment began at a dead center of a driver, as a clause; else empty."""
    always, drivers = len(segment.program.idle_rows), segment.equations.driver_names
    return start_at_dead_center(ranks, segment.t, always, drivers, partial(_beyond_reach, segment))


def _begins_there(segment: LoopSegment, ranks: Sequence[RankChange]) -> bool:
    """`began_dead`, without asking what could be reached."""
    always, drivers = len(segment.program.idle_rows), segment.equations.driver_names
    return bool(start_at_dead_center(ranks, segment.t, always, drivers, tuple))


def _beyond_reach(segment: LoopSegment) -> tuple[str, ...]:
    """Drivers that ask for what cannot be reached a little later."""
    later = segment.reached + AHEAD * (segment.settings.until - segment.t)
    return drivers_beyond_reach(segment.equations, _here(segment), later, segment.p)


def _moving(segment: LoopSegment, names: Sequence[str]) -> tuple[str, ...]:
    """Drivers that move what some constraints join."""
    q, t = _here(segment), segment.reached
    return drivers_that_move(segment.equations, names, q, t, segment.p)


def _here(segment: LoopSegment) -> FloatArray:
    """Coordinates of the system, of the loop's present state."""
    return segment.loop.present[: len(segment.system.coordinates), 0]
