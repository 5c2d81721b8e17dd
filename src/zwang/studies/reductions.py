"""What a study keeps of a motion as one number: peaks, means and others of a channel.

Values are arrays (N, nt), NaN after the end of a run. Between samples motions are smooth: peaks are
those of parabolas through three samples, integrals are Simpson's, crossings those of cubics. Where
values jump, at events, samples of controllers and switches in time, a run is reduced in pieces, and
nothing is interpolated from one to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from zwang.results.channel_summary import mean_over_time
from zwang.terms import FloatArray

__all__ = ["REDUCTIONS", "OutputReduction", "Pieces", "at_least", "last_valid"]

#: Values (n,) and times (n,) of one run between jumps, in order.
Pieces = Sequence[tuple[FloatArray, FloatArray]]

#: How many times as much as those of its neighbors a parabola may bend.
BENDS = 4.0
#: Halvings of an interval between samples: to the last bit of a time.
BISECTIONS = 55


@dataclass(frozen=True)
class OutputReduction:
    """A reduction by name.

    Attributes
    ----------
    arguments : how many; the first is a channel, or the name of an event.
    of : what it takes: "series", "end", "start", "event" or "energy".
    function : (values (N, nt), times (nt,), further arguments) → (N,).
    unit : None for that of the channel.
    joined : (pieces, further arguments) → the number of a run with jumps.
    """

    arguments: int
    of: str
    function: Callable[..., FloatArray]
    unit: str | None = None
    description: str = ""
    joined: Callable[..., float] | None = None

    def of_pieces(self, pieces: Pieces, further: Sequence[float] = ()) -> float:
        """The number of one run."""
        if len(pieces) == 1 or self.joined is None:
            (x, t), *_ = pieces
            return float(self.function(x[None], t, *further)[0])
        return float(self.joined(pieces, *further))


def last_valid(x: FloatArray) -> FloatArray:
    """The last value of each row that is a number, NaN where there is none."""
    ends = x[:, -1]
    early = np.flatnonzero(~np.isfinite(ends))
    if not len(early):
        return ends
    ends, rest = ends.copy(), x[early]
    good = np.isfinite(rest)
    last = x.shape[1] - 1 - np.argmax(good[:, ::-1], axis=1)
    ends[early] = np.where(good.any(axis=1), rest[np.arange(len(rest)), last], np.nan)
    return ends


def at_least(kind: str, found: FloatArray, x: FloatArray) -> FloatArray:
    """An extreme value (N,), or that of further samples (N, nt) if beyond; others as found."""
    if kind not in ("peak", "max", "min", "range"):
        return found
    high = np.fmax.reduce(x, axis=1, initial=-np.inf, where=np.isfinite(x))
    low = np.fmin.reduce(x, axis=1, initial=np.inf, where=np.isfinite(x))
    some = np.isfinite(high)
    if kind == "min":
        return np.where(some, np.fmin(found, low), found)
    more = {"max": high, "peak": np.fmax(high, -low), "range": high - low}[kind]
    return np.where(some, np.fmax(found, more), found)


def _extreme(x: FloatArray, t: FloatArray, sign: float) -> FloatArray:
    """Largest value of sign·x, by the parabola through the sample and its neighbors.

    Three equal samples are a limit that holds the value, as that of a motor: no parabola passes it.
    Nor one that bends several times as much as those of the neighbors do: there the value jumps, or
    has a corner.
    """
    y = np.where(np.isfinite(x), sign * x, -np.inf)
    k = np.argmax(y, axis=1)
    rows, nt = np.arange(len(x)), x.shape[1]
    top = y[rows, k]
    before, after = np.maximum(k - 1, 0), np.minimum(k + 1, nt - 1)
    with np.errstate(all="ignore"):
        left, right = top - y[rows, before], top - y[rows, after]  # how much lower they are
        h, g = t[k] - t[before], t[after] - t[k]
        slope = (left / h * g - right / g * h) / (h + g)
        curvature = _curvature(y, t, k)
        more = 0.25 * slope**2 / curvature
        for beside in (_curvature(y, t, k - 1), _curvature(y, t, k + 1)):
            more[curvature > BENDS * beside] = 0.0
    held = (k + 2 < nt) & (y[rows, after] == top) & (y[rows, np.minimum(k + 2, nt - 1)] == top)
    good = (k > 0) & (k < nt - 1) & np.isfinite(more) & ~held
    # No more than between even samples: one that is near and one that is far tell little.
    result = top + np.where(good, np.minimum(more, 0.125 * np.maximum(left, right)), 0.0)
    return sign * np.where(np.isfinite(result), result, np.nan)


def _curvature(y: FloatArray, t: FloatArray, k: np.ndarray) -> FloatArray:
    """Of the parabola through a sample of each row and its neighbors; NaN where it has not both."""
    rows, inside = np.arange(len(y)), (k > 0) & (k < y.shape[1] - 1)
    i = np.clip(k, 1, y.shape[1] - 2)
    before, after = (y[rows, i] - y[rows, j] for j in (i - 1, i + 1))
    h, g = t[i] - t[i - 1], t[i + 1] - t[i]
    found = (before / h + after / g) / (h + g)
    return np.where(inside & np.isfinite(found), found, np.nan)


def _peak(x: FloatArray, t: FloatArray) -> FloatArray:
    return np.fmax(_extreme(x, t, 1.0), -_extreme(x, t, -1.0))


def _integral(x: FloatArray, t: FloatArray) -> FloatArray:
    """∫ x dt to the end of each run; NaN where it has fewer than two samples."""
    from scipy.integrate import simpson

    lengths = np.isfinite(x).sum(axis=1)
    result = np.full(len(x), np.nan)
    for length in np.unique(lengths[lengths > 1]).tolist():
        rows = lengths == length
        result[rows] = simpson(x[rows, :length], x=t[:length], axis=1)
    return result


def _duration(x: FloatArray, t: FloatArray) -> FloatArray:
    lengths = np.isfinite(x).sum(axis=1)
    return t[np.maximum(lengths - 1, 0)] - t[0]


def _mean(x: FloatArray, t: FloatArray) -> FloatArray:
    """Mean over time, of what is undefined at some times over the others."""
    with np.errstate(all="ignore"):
        result = _integral(x, t) / _duration(x, t)
    good = np.isfinite(x)
    for k in np.flatnonzero((good[:, 1:] & ~good[:, :-1]).any(axis=1)).tolist():
        result[k] = mean_over_time(t, x[k])
    return result


def _rms(x: FloatArray, t: FloatArray) -> FloatArray:
    return np.sqrt(np.maximum(_mean(x * x, t), 0.0))


def _first_crossing(x: FloatArray, t: FloatArray, level: float) -> FloatArray:
    """When x first passes a level, by the cubic through the samples around it; NaN if never.

    A sample at the level itself, at the start, is no passing. Where there are fewer than four
    samples around it, the line between two of them is taken.
    """
    y = x - level
    with np.errstate(invalid="ignore"):
        passes = (y[:, :-1] * y[:, 1:] < 0.0) | ((y[:, 1:] == 0.0) & (y[:, :-1] != 0.0))
    rows, result = np.flatnonzero(passes.any(axis=1)), np.full(len(x), np.nan)
    if not len(rows):
        return result
    result[rows] = _passing(y[rows], t, np.argmax(passes[rows], axis=1))
    return result


def _settling_time(x: FloatArray, t: FloatArray, level: float, band: float) -> FloatArray:
    """When x last comes within a band of a level, to stay there until its end; NaN if it does not.

    A row that is never further away has settled at its first sample.
    """
    off = x - level
    valid = np.isfinite(off)
    with np.errstate(invalid="ignore"):
        outside = np.abs(off) > band
    count = x.shape[1]
    last = count - 1 - np.argmax(outside[:, ::-1], axis=1)  # outside
    end = count - 1 - np.argmax(valid[:, ::-1], axis=1)
    result = np.where(valid.any(axis=1), t[0], np.nan)
    result[outside.any(axis=1)] = np.nan
    rows = np.flatnonzero(outside.any(axis=1) & (last < end))
    if len(rows):
        k = last[rows]
        side = np.sign(off[rows, k])[:, None]
        result[rows] = _passing(side * off[rows] - band, t, k)
    return result


def _passing(y: FloatArray, t: FloatArray, k: np.ndarray) -> FloatArray:
    """When rows (N, nt) pass zero between their samples k and k + 1."""
    result, every = np.empty(len(y)), np.arange(len(y))
    first = np.clip(k - 1, 0, max(y.shape[1] - 4, 0))
    window = np.minimum(first[:, None] + np.arange(4), y.shape[1] - 1)
    values, times = y[every[:, None], window], t[window]
    whole = np.isfinite(values).all(axis=1) & (np.diff(times, axis=1) > 0.0).all(axis=1)
    ends = np.stack([k, k + 1], axis=1)
    for some, at in ((whole, window), (~whole, ends)):
        if some.any():
            here = every[some]
            result[here] = _root(
                t[at[some]], y[here[:, None], at[some]], t[k[some]], t[k[some] + 1]
            )
    return result


def _root(s: FloatArray, values: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Roots of the polynomials through samples (N, m) between two times (N,), by bisection."""
    newton, size = [values[:, 0]], s.shape[1]
    differences = values
    for order in range(1, size):
        span = s[:, order:] - s[:, : size - order]
        differences = (differences[:, 1:] - differences[:, :-1]) / span
        newton.append(differences[:, 0])

    def curve(time: FloatArray) -> FloatArray:
        result = newton[-1]
        for order in range(size - 2, -1, -1):
            result = newton[order] + (time - s[:, order]) * result
        return result

    rising = curve(low) < 0.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        before = (curve(middle) < 0.0) == rising
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return high


def _drift(x: FloatArray, t: FloatArray) -> FloatArray:
    """Largest departure from the first value."""
    return _peak(x - x[:, :1], t)


def _top(pieces: Pieces, sign: float) -> float:
    """Largest value of sign·x of all pieces, times sign."""
    with np.errstate(invalid="ignore"):
        return sign * float(
            np.fmax.reduce([sign * _extreme(x[None], t, sign)[0] for x, t in pieces])
        )


def _size_of(pieces: Pieces) -> float:
    return float(np.fmax(_top(pieces, 1.0), -_top(pieces, -1.0)))


def _sum_of(pieces: Pieces) -> float:
    """∫ x dt of all pieces that last; NaN where none does."""
    parts = [_integral(x[None], t)[0] for x, t in pieces if len(t) > 1]
    return float(np.sum(parts)) if parts else float("nan")


def _mean_of(pieces: Pieces) -> float:
    x, t = (np.concatenate(both) for both in zip(*pieces, strict=True))
    if not np.isfinite(x).all():
        return mean_over_time(t, x)
    lasted = sum(t[-1] - t[0] for _, t in pieces)
    return _sum_of(pieces) / lasted if lasted > 0.0 else float("nan")


def _rms_of(pieces: Pieces) -> float:
    return float(np.sqrt(max(_mean_of([(x * x, t) for x, t in pieces]), 0.0)))


def _first_crossing_of(pieces: Pieces, level: float) -> float:
    """Within a piece, or the instant at which the value jumps over the level."""
    last = 0.0
    for x, t in pieces:
        first = x[0] - level
        if last * first < 0.0 or (first == 0.0 and last != 0.0):
            return float(t[0])
        found = float(_first_crossing(x[None], t, level)[0])
        if np.isfinite(found):
            return found
        last = x[-1] - level
    return float("nan")


def _settling_time_of(pieces: Pieces, level: float, band: float) -> float:
    """Within the last piece that is outside at all, or at the instant at which it ends."""
    following = float("nan")
    for x, t in reversed(pieces):
        if np.any(np.abs(x - level) > band):
            found = float(_settling_time(x[None], t, level, band)[0])
            return found if np.isfinite(found) else following
        following = float(t[0])
    return following


def _drift_of(pieces: Pieces) -> float:
    first = pieces[0][0][0]
    return _size_of([(x - first, t) for x, t in pieces])


REDUCTIONS: dict[str, OutputReduction] = {
    "end": OutputReduction(1, "end", lambda x, _: last_valid(x), description="value at the end"),
    "start": OutputReduction(
        1, "start", lambda x, _: x[:, 0], description="value at the beginning"
    ),
    "peak": OutputReduction(
        1, "series", _peak, description="largest absolute value", joined=_size_of
    ),
    "max": OutputReduction(
        1,
        "series",
        lambda x, t: _extreme(x, t, 1.0),
        description="largest value",
        joined=lambda pieces: _top(pieces, 1.0),
    ),
    "min": OutputReduction(
        1,
        "series",
        lambda x, t: _extreme(x, t, -1.0),
        description="least value",
        joined=lambda pieces: _top(pieces, -1.0),
    ),
    "range": OutputReduction(
        1,
        "series",
        lambda x, t: _extreme(x, t, 1.0) - _extreme(x, t, -1.0),
        description="largest minus least value",
        joined=lambda pieces: _top(pieces, 1.0) - _top(pieces, -1.0),
    ),
    "mean": OutputReduction(1, "series", _mean, description="mean over time", joined=_mean_of),
    "rms": OutputReduction(
        1, "series", _rms, description="root of the mean square over time", joined=_rms_of
    ),
    "integral": OutputReduction(1, "series", _integral, "", "integral over time", _sum_of),
    "first_crossing": OutputReduction(
        2,
        "series",
        _first_crossing,
        "s",
        "when a channel first passes a level",
        _first_crossing_of,
    ),
    "settling_time": OutputReduction(
        3,
        "series",
        _settling_time,
        "s",
        "when a channel last comes within a band of a level",
        _settling_time_of,
    ),
    "energy_drift": OutputReduction(
        0, "energy", _drift, "J", "largest departure of the energy from its first value", _drift_of
    ),
    "event_time": OutputReduction(1, "event", lambda x, _: x, "s", "when an event first happens"),
    "event_count": OutputReduction(1, "event", lambda x, _: x, "", "how often an event happens"),
}
