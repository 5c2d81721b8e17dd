"""A run at other times than those it was saved at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zwang.errors import InputError, shown
from zwang.results.event_rows import changed, with_instants
from zwang.results.force_record import ForceRecord
from zwang.results.records import AbsentSystem
from zwang.results.run import Run
from zwang.results.segments import Segment, no_state
from zwang.terms import EPSILON, FloatArray

__all__ = ["at_times", "every_seconds"]

#: Times in one table at most: a mistyped interval is refused before it fills the memory.
MOST_TIMES = 10_000_000
#: Multiples of an interval are off by so many roundings.
ROUNDINGS = 8.0
#: Times that differ by so many roundings are the same.
ROUNDINGS = 64.0


def at_times(run: Run, times: FloatArray) -> Run:
    """The same run as if it had been saved at other times, with all that follows from states."""
    if np.array_equal(times, run.t):
        return run
    if isinstance(run.system, AbsentSystem):
        rows = _saved_rows(run, times)
        if rows is not None:
            return _of_rows(run, rows)
    state, (run, _) = run.at(times), with_instants(run)
    before = np.clip(np.searchsorted(run.t, times, side="right") - 1, 0, len(run.t) - 1)
    ends = run.t[before] == times
    before[ends] = _first_alike(run)[before[ends]]
    return changed(run, t=times, q=state.q, v=state.v, segments=_segments_of(run, before))


def _segments_of(run: Run, rows: np.ndarray) -> tuple[Segment, ...]:
    """The segments of a run that has such of the rows of another."""
    segments = []
    for s in run.segments:
        own = np.flatnonzero((rows >= s.first) & (rows < s.last))
        if own.size:
            segments.append(replace(s, first=int(own[0]), last=int(own[-1]) + 1))
    return tuple(segments)


def _saved_rows(run: Run, times: FloatArray) -> np.ndarray | None:
    """The saved states at some times, where there is one at each of them but for rounding."""
    off = ROUNDINGS * EPSILON * np.maximum(1.0, np.abs(times))
    rows = np.searchsorted(run.t, times + off, side="right") - 1
    if not np.all((rows >= 0) & (np.abs(run.t[rows] - times) <= off)):
        return None
    return _first_alike(run)[rows]


def _of_rows(run: Run, rows: np.ndarray) -> Run:
    """The run with some of its saved states, and with the forces that were kept of these."""
    kept = run.force_record
    q, v, segments = run.q[rows], run.v[rows], _segments_of(run, rows)
    some = changed(run, t=run.t[rows], q=q, v=v, segments=segments)
    if kept is None:
        return some
    record = ForceRecord(kept.layout, lambda name: kept[name][rows])
    return replace(some, force_record=record)


def _first_alike(run: Run) -> np.ndarray:
    """For each saved state the first at the same time, if no event happened then.

    Where a controller changes a parameter it is the end of the interval before, as of states that
    are saved there; an event begins what follows it. States are not compared: both sides of a
    sample are one state, but each put on the constraints by itself.
    """
    same = np.zeros(len(run.t), dtype=bool)
    same[1:] = (run.t[1:] == run.t[:-1]) & ~np.isin(run.t[1:], [event.t for event in run.events])
    return np.maximum.accumulate(np.where(same, 0, np.arange(len(same))))


def every_seconds(run: Run, every: float | None) -> Run:
    """The run at even times from its first saved state on; the run itself without an interval.

    Parameters
    ----------
    every : interval between the times [s].
    """
    if not len(run):
        raise no_state()
    if every is None:
        return run
    number = isinstance(every, int | float | np.number) and not isinstance(every, bool)
    if not number or not np.isfinite(every) or not every > 0.0:
        raise InputError("every", found=shown(every), expected="an interval in seconds, above zero")
    first, last = float(run.t[0]), float(run.t[-1])
    # The last time counts as reached where rounding alone keeps it away.
    count = int(np.floor((last - first) / every * (1.0 + 1e-12))) + 1
    if count > MOST_TIMES:
        raise InputError(
            "every",
            found=f"{every:g} s, which gives {count} times",
            expected=f"an interval that gives at most {MOST_TIMES}",
        )
    times = np.minimum(first + every * np.arange(count), last)
    # A time that a saved one is, but for rounding, is that one: a sample may lie between them.
    near = run.t[np.clip(np.searchsorted(run.t, times), 1, len(run.t) - 1) - np.array([[1], [0]])]
    limit = ROUNDINGS * np.finfo(float).eps * np.abs(times)
    for saved in near if len(run.t) > 1 else ():
        times = np.where(np.abs(saved - times) <= limit, saved, times)
    return at_times(run, times)
