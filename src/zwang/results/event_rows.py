"""A run with the states before and after each event among its saved states.

Saved times may lie on either side of an event. What follows the motion between saved states must
not integrate across it, so both sides are put in: the state that the event found, as the end of one
segment, and the one it left, as the beginning of the next.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from zwang.results.run import Run
from zwang.terms import FloatArray

__all__ = ["changed", "with_instants", "with_stop"]


def changed(run: Run, **values: Any) -> Run:
    """A run with some of its fields replaced; one that was stored is one in memory then.

    With other states the forces of the present ones go.
    """
    kept = [f.name for f in fields(Run) if f.init and f.name not in values]
    fixed = {name: getattr(run, name) for name in kept}
    if values.keys() & {"t", "q", "v", "segments"}:
        fixed["force_record"] = None
    return Run(**{**fixed, **values})


def with_instants(run: Run) -> tuple[Run, np.ndarray]:
    """The run with the start and both sides of each event as rows; where its own rows are then."""
    missing = [_missing(run, k) for k in range(len(run.segments))]
    if not any(missing):
        return run, np.arange(len(run))
    t: list[FloatArray] = []
    y: list[FloatArray] = []
    segments, own, rows = [], [], 0

    def add(times: FloatArray, states: FloatArray) -> None:
        nonlocal rows
        t.append(times)
        y.append(states)
        rows += len(times)

    for k, s in enumerate(run.segments):
        first = rows
        if missing[k] and s.began is not None:
            add(np.array([s.began.t]), s.began.left[None])
        own.append(np.arange(rows, rows + s.last - s.first))
        kept = slice(s.first, s.last)
        add(run.t[kept], np.concatenate([run.q[kept], run.v[kept]], axis=1))
        following = run.segments[k + 1].began if k + 1 < len(run.segments) else None
        if following is not None and missing[k + 1]:
            add(np.array([following.t]), following.found[None])
        segments.append(replace(s, first=first, last=rows))
    states = np.concatenate(y)
    q, v = np.split(states, [run.q.shape[1]], axis=1)
    whole = changed(run, t=np.concatenate(t), q=q, v=v, segments=tuple(segments))
    return whole, np.concatenate(own)


def with_stop(run: Run) -> Run:
    """The run with the state in which an event stopped it as its last row, saved or not."""
    if not run.events or (len(run) and run.t[-1] >= run.events[-1].t):
        return run
    stop = run.events[-1]
    segments = (*run.segments[:-1], replace(run.segments[-1], last=len(run) + 1))
    return changed(
        run,
        t=np.append(run.t, stop.t),
        q=np.concatenate([run.q, stop.q[None]]),
        v=np.concatenate([run.v, stop.v[None]]),
        segments=segments,
    )


def _missing(run: Run, k: int) -> bool:
    """Whether the beginning of a segment, and the end of the one before, are not both rows."""
    s = run.segments[k]
    if s.began is None:
        return False
    saved = s.last > s.first and run.t[s.first] == s.began.t
    if k == 0:
        return not saved
    return not (saved and s.first > 0 and run.t[s.first - 1] == s.began.t)
