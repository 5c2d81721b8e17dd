"""A run in pieces on which its forces are smooth, with both sides of what parts them.

Events, samples of controllers and switches in time begin a new segment. Forces may jump there, so
that nothing is to be interpolated from one to the next, and both sides count.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from zwang.results.event_rows import changed, with_instants
from zwang.results.records import AbsentSystem
from zwang.results.run import Run
from zwang.terms import FloatArray

__all__ = ["FEWEST", "in_pieces", "joined_pieces", "with_sides"]

#: The state before an instant is taken so many neighboring numbers before it, where laws that
#: switch in time have not switched; those at once are 32 of them apart at most.
BEFORE = 64.0
#: Values whose sides differ by less, relative to the largest, do not jump.
JUMP = 1e-9
#: Rows that a piece has at least if it stands by itself without a jump.
FEWEST = 5
#: Segments of a run from which on tables and plots have its saved states alone: samples of a
#: controller are close together.
MOST_SEGMENTS = 200


def in_pieces(run: Run, times: FloatArray | None = None) -> tuple[Run, list[slice]]:
    """The run with both sides of each instant among its rows, and the rows of each piece.

    Within a piece times increase.

    Parameters
    ----------
    times : of the saved states that are kept besides the ends of pieces; all by default.
    """
    if len(run.segments) == 1:
        return run, [slice(0, len(run))]
    whole, _ = with_instants(run)
    t, rows = np.array(whole.t), list[np.ndarray]()
    largest = max(abs(t[0]), abs(t[-1])) if len(t) else 0.0
    before = BEFORE * float(np.spacing(largest))
    for k, s in enumerate(whole.segments):
        own = np.arange(s.first, s.last)
        following = whole.segments[k + 1].began if k + 1 < len(whole.segments) else None
        if len(own) and following is not None and t[own[-1]] == following.t:
            end = own[-1]
            if t[own[0]] < following.t - before:
                t[end] = following.t - before
            own = np.append(own[:-1][t[own[:-1]] < t[end]], end)
        kept = np.ones(len(own), dtype=bool)
        kept[1:] = t[own[1:]] > t[own[:-1]]
        if times is not None:
            kept[1:-1] &= np.isin(t[own[1:-1]], times)
        rows.append(own[kept])
    some, segments, pieces, start = np.concatenate(rows), [], [], 0
    for s, own in zip(whole.segments, rows, strict=True):
        segments.append(replace(s, first=start, last=start + len(own)))
        if len(own):
            pieces.append(slice(start, start + len(own)))
        start += len(own)
    parted = changed(whole, t=t[some], q=whole.q[some], v=whole.v[some], segments=tuple(segments))
    return parted, pieces


def with_sides(run: Run) -> Run:
    """The run with both sides of its events and switches among its rows, for plots and extremes.

    The run itself where there are none or too many, where a controller has samples, and where no
    system knows forces there.
    """
    known = not isinstance(run.system, AbsentSystem)
    if not (known and len(run) and 1 < len(run.segments) <= MOST_SEGMENTS):
        return run
    return run if _is_sampled(run) else in_pieces(run)[0]


def _is_sampled(run: Run) -> bool:
    """Whether a controller changes parameters, whose values are drawn as steps between samples."""
    events = {event.t for event in run.events}
    return any(
        after.parameters is not before.parameters
        and not (after.began is None or after.began.t in events)
        and not np.array_equal(after.p, before.p)
        for before, after in pairwise(run.segments)
    )


def joined_pieces(
    x: FloatArray, t: FloatArray, pieces: list[slice], *, smooth: bool
) -> list[tuple[FloatArray, FloatArray]]:
    """Values (n,) and times of a channel, of pieces between which it does not jump as of one.

    Parameters
    ----------
    smooth : whether it is smooth where it does not jump, as a coordinate is. Anything else has
        pieces of its own, unless they have few rows as those between samples of a controller.
    """
    if len(pieces) < 2:
        return [(x, t)]
    good = np.isfinite(x)
    allowed = JUMP * float(np.abs(x[good]).max(initial=0.0))
    found = [np.arange(pieces[0].start, pieces[0].stop)]
    for piece in pieces[1:]:
        a, b = x[piece.start - 1], x[piece.start]
        own = np.arange(piece.start, piece.stop)
        few = smooth or len(own) < FEWEST or len(found[-1]) < FEWEST
        if few and (a == b or abs(b - a) <= allowed):
            found[-1] = np.append(found[-1], own[1:])
        else:
            found.append(own)
    return [(x[rows], t[rows]) for rows in found]
