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
    from zwang.simulation.stretch import Stretch

__all__ = ["DeadCenterLooks", "began_dead", "place_of_end"]


class DeadCenterLooks:
    """Looks at whether a simulation stays at the dead center from which a stretch of it began."""

    def __init__(self) -> None:
        self._left = np.nan  # when the stretch began that is known to be off its dead center

    def stays(self, stretch: Stretch, ranks: Sequence[RankChange]) -> bool:
        """Whether no look has seen a stretch off its dead center.

        A healthy motion that passes many of them may be on one at any look, but not at every one.
        """
        if self._left == stretch.t or not _begins_there(stretch, ranks):
            return False
        y = stretch.loop.present[:, 0]
        if nearly_dependent(stretch.system, stretch.program, y, stretch.reached, stretch.p):
            return True
        self._left = stretch.t
        return False


def place_of_end(stretch: Stretch, ranks: Sequence[RankChange]) -> str:
    """The singular position where no step was small enough, as a clause; else empty."""
    end, until = stretch.reached, stretch.settings.until
    if end - stretch.t <= AT_THE_END * (until - stretch.t) and (dead := began_dead(stretch, ranks)):
        return dead
    drivers, moving = stretch.equations.driver_names, partial(_moving, stretch)
    found = singular_place(ranks, end, drivers, moving)
    if found:
        return found
    y, parameters = stretch.loop.present[:, 0], stretch.parameters
    near = near_dependence(stretch.system, stretch.program, y, end, parameters)
    return singular_place(near, end, drivers, moving)


def began_dead(stretch: Stretch, ranks: Sequence[RankChange]) -> str:
    """That a stretch began at a dead center of a driver, as a clause; else empty."""
    always, drivers = len(stretch.program.idle_rows), stretch.equations.driver_names
    return start_at_dead_center(ranks, stretch.t, always, drivers, partial(_beyond_reach, stretch))


def _begins_there(stretch: Stretch, ranks: Sequence[RankChange]) -> bool:
    """`began_dead`, without asking what could be reached."""
    always, drivers = len(stretch.program.idle_rows), stretch.equations.driver_names
    return bool(start_at_dead_center(ranks, stretch.t, always, drivers, tuple))


def _beyond_reach(stretch: Stretch) -> tuple[str, ...]:
    """Drivers that ask for what cannot be reached a little later."""
    later = stretch.reached + AHEAD * (stretch.settings.until - stretch.t)
    return drivers_beyond_reach(stretch.equations, _here(stretch), later, stretch.p)


def _moving(stretch: Stretch, names: Sequence[str]) -> tuple[str, ...]:
    """Drivers that move what some constraints join."""
    q, t = _here(stretch), stretch.reached
    return drivers_that_move(stretch.equations, names, q, t, stretch.p)


def _here(stretch: Stretch) -> FloatArray:
    """Coordinates of the system, of the loop's present state."""
    return stretch.loop.present[: len(stretch.system.coordinates), 0]
