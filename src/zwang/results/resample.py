"""A run at other times than those it was saved at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zwang.errors import InputError, shown
from zwang.results.event_rows import changed, with_instants
from zwang.results.run import Run
from zwang.terms import FloatArray

__all__ = ["at_times", "every_seconds"]

#: Times in one table at most: a mistyped interval is refused before it fills the memory.
MOST_TIMES = 10_000_000


def at_times(run: Run, times: FloatArray) -> Run:
    """The same run as if it had been saved at other times, with all that follows from states."""
    if np.array_equal(times, run.t):
        return run
    state, (run, _) = run.at(times), with_instants(run)
    before = np.clip(np.searchsorted(run.t, times, side="right") - 1, 0, len(run.t) - 1)
    ends = run.t[before] == times
    before[ends] = _first_alike(run)[before[ends]]
    segments = []
    for s in run.segments:
        own = np.flatnonzero((before >= s.first) & (before < s.last))
        if own.size:
            segments.append(replace(s, first=int(own[0]), last=int(own[-1]) + 1))
    return changed(run, t=times, q=state.q, v=state.v, segments=tuple(segments))


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
    if every is None or not len(run):
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
    return at_times(run, np.minimum(first + every * np.arange(count), last))
