"""Simulation: runs that would not end, or fill the memory, and are stopped on the way."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from zwang.integrators import memory as sh
from zwang.results.status import stopped_by_collapse, stopped_by_memory
from zwang.simulation.dead_centers import DeadCenterLooks, began_dead

if TYPE_CHECKING:
    from zwang.integrators.chunk_size import ChunkSize
    from zwang.results.segments import RankChange
    from zwang.simulation.loop_segment import LoopSegment

__all__ = ["stopped_by_states", "stopped_by_steps"]

#: Part of the memory of a machine that saved states may take.
MOST_MEMORY = 0.25


def stopped_by_steps(
    pace: ChunkSize, segment: LoopSegment, ranks: Sequence[RankChange], looks: DeadCenterLooks
) -> str:
    """How a simulation ends whose steps have collapsed; empty if they have not."""
    if segment.settings.step != 0.0:
        return ""
    t, until, place = segment.reached, segment.settings.until, ""
    if not pace.collapsed:
        if not (pace.dragged and looks.stays(segment, ranks) and pace.dragging):
            return ""
        place = began_dead(segment, ranks)
    return stopped_by_collapse(t, float(segment.loop.memory[sh.H, 0]), until, place)


def stopped_by_states(t: float, saved: int, written: int, width: int) -> str:
    """How a simulation ends whose saved states fill the memory; empty if they do not.

    Parameters
    ----------
    t : time that it has reached [s].
    saved, written : how many states there are, and how many of them are in a store alone.
    width : numbers of a state.
    """
    kept = 8 * width * (saved - written)
    return stopped_by_memory(t, saved, kept) if kept > MOST_MEMORY * machine_memory() else ""


@cache
def machine_memory() -> float:
    """Bytes of memory of this machine; infinite where it does not tell."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")
