"""Reductions of motions whose peaks are shorter than the time between two samples.

Samples at even times are enough for most motions, and cost nothing besides the run. Where they are
not, the motion is looked at where its integrator took steps, and at even times within each step: it
is smooth there, and steps are short where it is not. That is made finer until the number no longer
changes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zwang.results.resample import at_times
from zwang.results.run import Run
from zwang.studies.reductions import OutputReduction
from zwang.terms import FloatArray

__all__ = ["finer_value", "unresolved"]

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


def finer_value(
    run: Run, channel: str, reduction: OutputReduction, even: float, further: Sequence[float]
) -> float:
    """A reduction of a run that was saved at every step.

    Parameters
    ----------
    even : time between samples that is allowed at most.
    """
    steps = np.unique(run.t)
    if len(steps) < 2:
        return float(reduction.function(run[channel][None], np.asarray(run.t), *further)[0])
    parts = 4 * np.ceil(np.maximum(np.diff(steps) / (4.0 * even), 1.0)).astype(int)
    doublings = 0
    while True:
        t = _within(steps, parts)
        values = at_times(run, t)[channel][None]
        coarse = unresolved(reduction, values, t, further)[0]
        if not coarse or doublings == DOUBLINGS or 2 * len(t) > MOST_SAMPLES:
            return float(reduction.function(values, t, *further)[0])
        parts, doublings = 2 * parts, doublings + 1


def _within(steps: FloatArray, parts: np.ndarray) -> FloatArray:
    """Times of steps, with each step divided evenly into so many parts."""
    which = np.repeat(np.arange(len(parts)), parts)
    place = np.arange(len(which)) - np.repeat(np.cumsum(parts) - parts, parts)
    t = steps[which] + place / parts[which] * np.diff(steps)[which]
    return np.unique(np.append(t, steps[-1]))
