"""Times that a report looks at: all saved states for tables, a part of them for its charts.

A peak of a force may last for a step or two. Tables of forces are therefore taken from every saved
state, and charts, which show fewer, keep the states around each largest and least value.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from zwang.errors import ZwangError
from zwang.results.pieces import with_sides
from zwang.results.resample import at_times
from zwang.results.run import Run
from zwang.terms import FloatArray
from zwang.view.channels import reacting_joints
from zwang.view.efforts import effort_series
from zwang.view.report_springs import spring_series
from zwang.view.scene import frame_times

__all__ = ["CHART_POINTS", "all_states", "chart_states", "smooth"]

#: Points of a chart: more than pixels across it are not seen.
CHART_POINTS = 481
#: Largest time between saved states, relative to that between pictures, that needs none between.
DENSE = 1.01
#: Entries of states, of all saved states together, from which on those of the charts will do: the
#: forces of so many take about ten seconds.
MOST_ENTRIES = 2e7


def all_states(
    run: Run, even: FloatArray, start: float | None = None, end: float | None = None
) -> Run:
    """The run at its saved states between two times, and at even ones where those are far apart.

    Parameters
    ----------
    even : times of the pictures.
    """
    frame_times(run, 1, start, end)  # refuses times outside the run
    first = run.t[0] if start is None else start
    last = run.t[-1] if end is None else end
    saved = run.t[(run.t >= first) & (run.t <= last)]
    if len(saved) * (run.q.shape[1] + run.v.shape[1]) > MOST_ENTRIES:
        return at_times(run, even)
    if len(saved) > 1 and np.diff(saved).max() <= DENSE * np.diff(even).max(initial=0.0):
        return with_sides(at_times(run, saved))  # the run itself if that is all of it
    return with_sides(at_times(run, np.union1d(saved, even)))


def smooth(run: Run) -> Run:
    """A run that was saved at its steps, which are far apart, with states between them.

    A run whose times were asked for stays as it is, and so does one that cannot be computed again.
    """
    if run.times is not None or len(run) < 2 or run.t[-1] <= run.t[0]:
        return run
    if len(run) * (run.q.shape[1] + run.v.shape[1]) > MOST_ENTRIES:
        return run
    even = frame_times(run, CHART_POINTS, None, None)
    if np.diff(run.t).max() <= DENSE * np.diff(even).max():
        return run
    before = [np.nextafter(e.t, run.t[0]) for e in run.events if run.t[0] < e.t <= run.t[-1]]
    try:
        return at_times(run, np.unique(np.concatenate([run.t, even, before])))
    except ZwangError:
        return run


def chart_states(whole: Run, points: int = CHART_POINTS) -> Run:
    """So many of the states of a run, and those around the extreme values of forces."""
    count = len(whole)
    if count <= points:
        return whole
    rows = set(np.linspace(0, count - 1, points).astype(int).tolist())
    for values in _watched(whole):
        for extreme in (int(np.argmin(values)), int(np.argmax(values))):
            rows |= set(range(max(extreme - 1, 0), min(extreme + 2, count)))
    return at_times(whole, np.unique(whole.t[sorted(rows)]))


def _watched(run: Run) -> Iterator[FloatArray]:
    """Own outputs, reactions, efforts and springs over time, as far as they can be computed."""
    for name in run.system.outputs:
        try:
            yield run[name]
        except ZwangError:  # its chart is left out
            continue
    yield from (spring.values for spring in spring_series(run))
    try:
        for name in reacting_joints(run):
            yield np.linalg.norm(run.reaction(name).force, axis=1)
        for of in effort_series(run):
            yield of.values
    except ZwangError:
        return
