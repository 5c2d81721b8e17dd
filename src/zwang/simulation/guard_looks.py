"""Looks of the guard at states of a simulation, and what follows where its program disagrees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.errors import ZwangError
from zwang.results.status import stopped_by_guard
from zwang.simulation.all_rows import acting_rows_hold
from zwang.simulation.select_program import ProgramStart, select_program
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.simulation.guard import Guard
    from zwang.simulation.loop_segment import LoopSegment
    from zwang.simulation.program_check import Disagreement

__all__ = ["DoubtedError", "look_at", "require_own_coordinates"]


class DoubtedError(Exception):
    """A run under way turned out to be led astray by the coordinates it is carried in."""


def look_at(
    guard: Guard,
    segment: LoopSegment,
    y: FloatArray,
    t: FloatArray,
    doubt: Disagreement | None = None,
    *,
    start: float,
    stored: bool,
) -> str:
    """How a simulation ends whose states do not agree with the full terms; empty if they do.

    Parameters
    ----------
    y, t : states ŷ (rows, n̂) of the loop, and their times (rows,).
    doubt : one that there is already.
    start : of the simulation, where constraints that contradict each other are refused.
    stored : whether a store has what was done; else it is begun anew by `DoubtedError` where other
        coordinates than the system's own are to blame.
    """
    for state in zip(y, t.tolist(), strict=True):
        doubt = _doubt_at(guard, segment, *state) if doubt is None else doubt
    if doubt is None:
        return ""
    contradiction = _conflict(segment, y[0], t[:1], start)
    if contradiction:  # no program could do what the system asks for
        return f"stopped at t = {t[0]:.6g} s: {contradiction}"
    require_own_coordinates(guard, segment, doubt, stored=stored)
    return stopped_by_guard(doubt, segment.program.carrier)


def require_own_coordinates(
    guard: Guard, segment: LoopSegment, doubt: Disagreement, *, stored: bool
) -> bool:
    """Whether a doubt may be for the coordinates; then what is not stored is begun anew."""
    carried = guard.doubt(segment.program, doubt)
    if carried and not stored:
        raise DoubtedError
    return carried


def _doubt_at(guard: Guard, segment: LoopSegment, y: FloatArray, t: float) -> Disagreement | None:
    """What the program does at a state ŷ of the loop that the full terms do not say.

    Rows that act may lose rank at a state where all do not: there those count that would be
    chosen there.
    """
    equations, program, p = segment.equations, segment.program, segment.p
    doubt = guard.look(equations, program, (y, t), segment.loop.parameters[:, 0], p)
    if doubt is None or not program.left_out:
        return doubt
    here = segment.loop.in_system(y[None], np.array([t]))[0]
    try:
        if acting_rows_hold(equations, program.left_out, here, t, p):
            return doubt
        other = select_program(equations, ProgramStart(here, t, p), segment.settings)
    except ZwangError:  # a state that is no state of the system
        return doubt
    y, inner = (here, p) if other.carrier is None else other.carrier.entered(here, t, p)
    return guard.look(equations, other, (y, t), inner, p)


def _conflict(segment: LoopSegment, y: FloatArray, t: FloatArray, start: float) -> str:
    """Which constraints contradict each other at a state ŷ, as a sentence; else empty.

    A start is refused for it.
    """
    equations = segment.equations
    if equations.by_elements is not None:
        return ""
    nq, here = len(segment.system.coordinates), segment.loop.in_system(y[None], t)[0]
    try:
        equations.require_agreement(here[:nq], here[nq:], t, segment.p)
    except ZwangError as error:
        if t[0] == start:
            raise
        return str(error)
    return ""
