"""Reductions of motions whose peaks are shorter than the time between two samples.

Samples at even times are enough for most motions, and cost nothing besides the run. Where they are
not, the motion is looked at where its integrator took steps, and at even times within each step: it
is smooth there, and steps are short where it is not. That is made finer until the number no longer
changes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zwang.results.pieces import FEWEST, in_pieces, joined_pieces
from zwang.results.resample import at_times
from zwang.results.run import Run
from zwang.studies.reductions import OutputReduction, Pieces
from zwang.terms import FloatArray

__all__ = ["finer_value", "pieces_of", "unresolved", "unresolved_pieces"]

#: Change of a number, relative to the largest value of its channel, when every second sample is
#: left out, up to which samples are enough: with parabolas the error is a tenth of it or less.
RESOLVED = 1e-3
#: Samples for each step of the integrator, from which on even ones show short peaks of forces.
SAMPLES_PER_STEP = 4
#: How often samples are doubled, and how many of a motion there may be.
DOUBLINGS, MOST_SAMPLES = 3, 200_000


def unresolved(
    reduction: OutputReduction, x: FloatArray, t: FloatArray, further: Sequence[float] = ()
) -> np.ndarray:
    """Which rows of samples (N, nt) are too coarse for a reduction, booleans (N,)."""
    count = len(t)
    if count < 5:
        return np.ones(len(x), dtype=bool)
    every = np.unique([*range(0, count, 2), count - 1])
    full = reduction.function(x, t, *further)
    half = reduction.function(x[:, every], t[every], *further)
    with np.errstate(invalid="ignore"):
        size = np.abs(np.where(np.isfinite(x), x, 0.0)).max(axis=1)
    if reduction.unit == "s":  # a time
        size = np.full(len(x), t[-1] - t[0])
    elif reduction.unit == "":  # an integral
        size = size * (t[-1] - t[0])
    both = np.isfinite(full) & np.isfinite(half)
    with np.errstate(invalid="ignore"):
        moved = np.abs(full - half) > RESOLVED * size
    return np.where(both, moved, np.isfinite(full) != np.isfinite(half))


def pieces_of(run: Run, name: str, times: FloatArray | None = None, *, smooth: bool) -> Pieces:
    """Values and times of a channel between its jumps.

    Parameters
    ----------
    times : of the saved states that are samples; all by default. Ends of pieces always are.
    smooth : whether the channel is smooth where it does not jump.
    """
    parted, pieces = in_pieces(run, times)
    return joined_pieces(parted[name], np.asarray(parted.t), pieces, smooth=smooth)


def unresolved_pieces(
    reduction: OutputReduction, pieces: Pieces, further: Sequence[float] = ()
) -> bool:
    """Whether samples of one run are too coarse for a reduction."""
    if len(pieces) == 1:
        (x, t), *_ = pieces
        return bool(unresolved(reduction, x[None], t, further)[0])
    half = []
    for x, t in pieces:
        if 2 < len(t) < FEWEST:
            return True
        every = np.unique([*range(0, len(t), 2), len(t) - 1])
        half.append((x[every], t[every]))
    both = np.array([reduction.of_pieces(p, further) for p in (pieces, half)])
    if not np.isfinite(both).all():
        return bool(np.isfinite(both).any())
    size = max(float(np.abs(x[np.isfinite(x)]).max(initial=0.0)) for x, _ in pieces)
    if reduction.unit == "s":  # a time
        size = float(pieces[-1][1][-1] - pieces[0][1][0])
    elif reduction.unit == "":  # an integral
        size = reduction.of_pieces([(np.abs(x), t) for x, t in pieces])
    return bool(abs(both[0] - both[1]) > RESOLVED * size)


def finer_value(
    run: Run,
    channel: str,
    reduction: OutputReduction,
    even: float,
    further: Sequence[float],
    *,
    smooth: bool = False,
) -> float:
    """A reduction of a run that was saved at every step.

    Parameters
    ----------
    even : time between samples that is allowed at most.
    smooth : whether the channel is smooth where it does not jump.
    """
    steps = np.unique(run.t)
    if len(steps) < 2:
        return reduction.of_pieces(pieces_of(run, channel, smooth=smooth), further)
    parts = 4 * np.ceil(np.maximum(np.diff(steps) / (4.0 * even), 1.0)).astype(int)
    doublings = 0
    while True:
        t = _within(steps, parts)
        pieces = pieces_of(at_times(run, t), channel, smooth=smooth)
        coarse = unresolved_pieces(reduction, pieces, further)
        if not coarse or doublings == DOUBLINGS or 2 * len(t) > MOST_SAMPLES:
            return reduction.of_pieces(pieces, further)
        parts, doublings = 2 * parts, doublings + 1


def _within(steps: FloatArray, parts: np.ndarray) -> FloatArray:
    """Times of steps, with each step divided evenly into so many parts."""
    which = np.repeat(np.arange(len(parts)), parts)
    place = np.arange(len(which)) - np.repeat(np.cumsum(parts) - parts, parts)
    t = steps[which] + place / parts[which] * np.diff(steps)[which]
    return np.unique(np.append(t, steps[-1]))
