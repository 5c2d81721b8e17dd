"""Simulation: rows that were left out of the equations, at the states that a loop has saved.

They are met as long as they follow from those that act. Saved states are put on all of them; where
that is too far, either constraints contradict each other or the choice of rows no longer holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.integrators.settings import Drift
from zwang.simulation.all_rows import on_all_rows
from zwang.simulation.contradictions import breaks_rows, first_conflict
from zwang.simulation.rank_report import broken_row
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.integrators.output import Chunk
    from zwang.simulation.loop_segment import LoopSegment

__all__ = ["MISSED", "OR_RANK", "RowBreak", "SavedStates", "first_break", "saved_states"]

#: Against coordinates in which states between steps do not meet all constraints.
MISSED = "saved states miss constraints that follow from others"
OR_RANK = 'lost rank within a step: coordinates="absolute" tells which'


class SavedStates(NamedTuple):
    """What a chunk saved.

    Attributes
    ----------
    t, y : times (rows,) and states (rows, n) in the coordinates of the system.
    off : which of them missed a row that was left out, before they were put on all rows; empty
        where none was looked at.
    """

    t: FloatArray
    y: FloatArray
    off: Any = ()


class RowBreak(NamedTuple):
    """Where a motion misses a row that was left out.

    Attributes
    ----------
    t : time of the first state that tells it [s].
    status : how the simulation ends for it.
    by_rank : whether rows that act may have lost rank; else constraints contradict each other.
    """

    t: float
    status: str
    by_rank: bool


def saved_states(segment: LoopSegment, chunk: Chunk) -> SavedStates:
    """Times and states of a chunk, on all rows where some do not act."""
    t, y = chunk.saved()
    if not _watched(segment):
        return SavedStates(t, y)
    between = segment.loop.met_all_rows()
    tolerance = segment.settings.tolerance
    y, off = on_all_rows(segment.equations, y, t, segment.p, tolerance, between=between)
    return SavedStates(t, y, off)


def first_break(
    segment: LoopSegment, t: FloatArray, y: FloatArray, until: float = np.inf
) -> RowBreak | None:
    """Where saved states miss rows that were left out, if they do before a time.

    Without a time the state that the loop has reached is looked at as well.
    """
    if not _watched(segment) or segment.loop.met_all_rows():
        return None
    equations, loop, p = segment.equations, segment.loop, segment.p
    saved = t <= until
    t, y = t[saved], y[saved]
    if until == np.inf and (not len(t) or t[-1] != loop.t[0]):
        at, tolerance = loop.t[:1], segment.settings.tolerance
        # Where rows that act hold a direction no longer, the step has left its error in it.
        end = on_all_rows(equations, loop.present.T, at, p, tolerance)[0]
        t, y = np.append(t, at), np.concatenate([y, end])
    if not len(t) or not breaks_rows(equations, t, y, p):
        return None
    conflict = first_conflict(equations, t, y, p)
    if conflict is not None:
        when = float(t[conflict.state])
        status = f"stopped at t = {when:.6g} s: {conflict.sentence}"
        return RowBreak(when, status, by_rank=False)
    nq, idle = len(segment.system.coordinates), segment.program.idle_rows
    status, first = broken_row(segment.system, idle, y[:, :nq], y[:, nq:], t, p)
    return RowBreak(float(t[first]), status, by_rank=True) if status else None


def _watched(segment: LoopSegment) -> bool:
    """Whether rows were left out that are to be met all along.

    Without projection all rows are missed a little more with time.
    """
    return bool(segment.program.left_out) and segment.settings.drift is Drift.PROJECTION
