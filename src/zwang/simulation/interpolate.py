"""Simulation between the saved states of a run, from the last state known before each time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zwang.errors import NotIntegratedError, TooManyStepsError, ZwangError
from zwang.integrators import memory as sh
from zwang.integrators.contract import Loop
from zwang.integrators.registry import start_loop
from zwang.integrators.settings import Drift, Settings
from zwang.programs.contract import Program
from zwang.results.run import Counts, Run
from zwang.results.segments import Segment
from zwang.results.status import ATTAINABLE, looser_tolerance, status_of
from zwang.simulation.all_rows import acting_rows_hold, on_all_rows
from zwang.simulation.program_check import Disagreement, look, motion_of
from zwang.simulation.select_program import LatestProgram, ProgramStart, select_program
from zwang.terms import FloatArray

__all__ = ["disagreements", "propagate", "states_between"]


#: Saved states between which states are asked for, from which on they are integrated in one go, and
#: from which on if they are half of those up to the last.
MANY, SOME = 12, 3
#: At so many saved states it is looked whether the motion is the same, the last among them.
LOOKED_AT = 8
#: What saved states may then differ by, in tolerances of the run.
SAME = 0.1


class ProgramBetween(LatestProgram):
    """Those of the segments in which states between saved ones were asked for last.

    Not the one that runs begin with: the next run is to find that.
    """

    most = 8


def disagreements(run: Run, count: int) -> list[str]:
    """What the programs of a run do that the full terms of its system do not say, sentences.

    Looked for at so many saved states of each segment, see `zwang.simulation.program_check`. Of
    each segment the first is told, and how many more there are.
    """
    told = []
    for segment in run.segments:
        system, p = segment.system, segment.system.parameter_vector(segment.parameters)
        rows = range(segment.first, segment.last)
        if not rows or not np.isfinite(run.q[rows]).all():
            continue
        program, found = _program_of(run, segment, run.settings), list[Disagreement]()
        for i in rows[:: max(len(rows) // count, 1)]:
            y, t = np.concatenate([run.q[i], run.v[i]]), float(run.t[i])
            doubt = _doubt(run, segment, program, y, t)
            left_out, equations = program.left_out, system.equations
            if (
                doubt is not None
                and left_out
                and not acting_rows_hold(equations, left_out, y, t, p)
            ):
                here = select_program(equations, ProgramStart(y, t, p), run.settings)
                doubt = _doubt(run, segment, here, y, t)
            found += [] if doubt is None else [doubt]
        if found:
            others = len(found) - 1
            more = f", and so at {others} more of the states looked at" if others else ""
            told.append(f"its program is not right: {found[0]}{more}")
    return told


def _doubt(
    run: Run, segment: Segment, program: Program, y: FloatArray, t: float
) -> Disagreement | None:
    """What a program does at a state that the full terms of the segment's system do not say."""
    p = segment.system.parameter_vector(segment.parameters)
    inner = (y, p) if program.carrier is None else program.carrier.entered(y, t, p)
    motion = motion_of(segment.system.equations, program, inner[0], t, inner[1])
    return look(segment.system.equations, motion, t, p, run.settings)


def _program_of(run: Run, segment: Segment, settings: Settings) -> Program:
    """The program that a segment began with."""
    if segment.began is not None:
        begun, first, _ = segment.began
    else:
        begun = float(run.t[segment.first])
        first = np.concatenate([run.q[segment.first], run.v[segment.first]])
    equations = segment.system.equations
    start = ProgramStart(first, begun, segment.p)
    return ProgramBetween.of(equations).select(equations, start, settings)


def states_between(run: Run, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """States of a run at any times within it, integrated from the last state known before each."""
    if len(times) > 1 and np.all(times[1:] > times[:-1]):
        back = slice(None)
    else:
        times, back = np.unique(times, return_inverse=True)
    index = np.clip(np.searchsorted(run.t, times, side="right") - 1, 0, len(run.t) - 1)
    y = np.concatenate([run.q[index], run.v[index]], axis=1)
    begun = [-np.inf if s.began is None else s.began[0] for s in run.segments]
    segments = np.searchsorted(begun, times, side="right") - 1
    left = np.flatnonzero(times != run.t[index])
    for wanted in _alike(left, segments):
        k = int(segments[wanted[0]])
        found = None
        if k >= 0 and not _far_apart(index[wanted], run.segments[k].first):
            found = _in_one_go(run, k, times[wanted])
        if found is not None:
            y[wanted] = found
            continue
        for few in _alike(wanted, index):
            y[few] = _from_known(run, int(index[few[0]]), k, times[few])
    q, v = np.split(y[back], [run.q.shape[1]], axis=1)
    return q, v


def _alike(places: np.ndarray, of: np.ndarray) -> list[np.ndarray]:
    """Places one after the other at which a number is the same."""
    return np.split(places, np.flatnonzero(np.diff(of[places])) + 1) if len(places) else []


def _far_apart(saved: np.ndarray, first: int) -> bool:
    """Whether few states are asked for on the way from the first saved state of a segment."""
    changes = int(np.count_nonzero(np.diff(saved)))
    return changes < SOME or (changes < MANY and 2 * changes < int(saved.max()) - first)


def _in_one_go(run: Run, k: int, times: FloatArray) -> FloatArray | None:
    """States at many times of segment k, integrated from its beginning; None if that is not it.

    The same steps give the same states. That they are the same is seen at the saved ones: where a
    motion is very sensitive, or rows were chosen again, it may be another one after a while.
    """
    segment = run.segments[k]
    first = segment.first
    if segment.began is not None:
        t, y = segment.began[:2]
    elif segment.last > first:
        t, y = float(run.t[first]), np.concatenate([run.q[first], run.v[first]])
    else:
        return None
    end = np.searchsorted(run.t[: segment.last], times.max()) + 1
    saved = np.arange(first, min(end, segment.last))
    saved = saved[run.t[saved] > t][:: -max(len(saved) // LOOKED_AT, 1)]
    every, back = np.unique(np.concatenate([times, run.t[saved]]), return_inverse=True)
    if every[0] <= t:
        return None
    try:
        found = propagate(run, segment, run.settings, t, y, every)[back]
    except ZwangError:
        return None
    known = np.concatenate([run.q[saved], run.v[saved]], axis=1)
    scales = np.ones(len(y)) if run.scales is None else run.scales
    size = np.maximum(np.abs(known), scales)
    same = np.abs(found[len(times) :] - known) <= SAME * run.settings.tolerance * size
    return found[: len(times)] if same.all() else None


def _from_known(run: Run, start: int, k: int, times: FloatArray) -> FloatArray:
    """States after a saved state and before the next, in segment k, shape (len(times), n).

    From the saved state, or from where the segment began if that was later: an event between saved
    times has changed the motion.
    """
    segment = run.segments[k]
    if not segment.first <= start < segment.last:
        if segment.began is not None:
            return propagate(run, segment, run.settings, *segment.began[:2], times)
        segment = next(s for s in run.segments if s.first <= start < s.last)
    y, t = np.concatenate([run.q[start], run.v[start]]), float(run.t[start])
    return propagate(run, segment, run.settings, t, y, times)


def propagate(
    run: Run,
    segment: Segment,
    settings: Settings,
    t: float,
    y: FloatArray,
    times: FloatArray,
    *,
    most: float = np.inf,
) -> FloatArray:
    """States of a run at times after t, integrated from y, shape (len(times), n).

    By the equations that its segment began with: which redundant rows they leave out is a choice
    that takes longer than the way to the next state. Where rows that act lose rank on that way, or
    come so close to it that no step is small enough, it is made again, as the run did.

    Parameters
    ----------
    most : steps that may be tried; a force that jumps back and forth can ask for any number.
    """
    equations, p = segment.system.equations, segment.p
    ahead = replace(settings, until=float(times[-1]))
    scales = np.ones(len(y)) if run.scales is None else run.scales

    def loop_from(program: Program, t: float, y: FloatArray) -> Loop:
        # Collocation may not see that rows have to act that do not.
        by_states = ahead.by_states.integrator if program.left_out else ""
        return start_loop(
            *(program, ahead, t, y[:, None], p[:, None]),
            times=times,
            scales=scales,
            method=segment.integrator or by_states,
        )

    def on_all(y: FloatArray, t: FloatArray) -> FloatArray:
        projected = settings.drift is Drift.PROJECTION and program.left_out
        if not projected:
            return y
        met = loop.met_all_rows()
        return on_all_rows(equations, y, t, p, settings.tolerance, between=met)[0]

    program = _program_of(run, segment, settings)
    loop, states, tried, chosen_at = loop_from(program, t, y), [], Counts(), np.nan
    while True:
        chunk = loop.advance()
        work = tried.plus(loop.work_done())
        if work.steps + work.rejected > most:
            raise TooManyStepsError(
                "motion between saved states",
                must="take about as many steps as the run",
                but=f"took more than {most:.0f} up to t = {loop.t[0]:.6g} s",
            )
        reached, found = chunk.saved()
        states.append(on_all(found, reached))
        if chunk.code == sh.DONE:
            return np.concatenate(states)
        lost = chunk.code in sh.NO_FURTHER and len(program.left_out) > 0
        if chunk.code == sh.SINGULAR or lost:
            t, y = float(loop.t[0]), loop.present[:, 0].copy()
            other = select_program(equations, ProgramStart(y, t, p), settings)
            if other.left_out != program.left_out and not (lost and t == chosen_at):
                tried, chosen_at, y = work, t, on_all(y[None], loop.t[:1])[0]
                program, loop = other, loop_from(other, t, y)
                continue
        if chunk.code == sh.TOO_SMALL and ahead.tolerance < ATTAINABLE:
            ahead = replace(ahead, tolerance=looser_tolerance(ahead.tolerance))
            tried, t, y = work, float(loop.t[0]), loop.present[:, 0].copy()
            loop = loop_from(program, t, y)
            continue
        if chunk.code not in sh.UNDER_WAY:
            raise NotIntegratedError(
                "state between saved times",
                but="cannot be computed: the motion "
                f"{status_of(work, loop.t[0], chunk.code, ahead, program.failure())}",
            )
