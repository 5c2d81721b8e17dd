"""When forces and drivers of a simulation switch in time: found before it, so that steps end there.

An integrator that looks at a force at the stages of its steps does not see a pulse between two of
them. Where time and parameters alone decide a switch, `zwang.tracing.switches`, its moments
are found here, and a simulation begins anew at each of them.

Linear conditions are solved for whatever the length of a pulse. Others are looked at at equal
distances; their extrema in between are found where one rate of change is enough to see them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.caching import PassedOn, Remembered
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations
    from zwang.integrators.settings import Settings
    from zwang.tracing.switches import TimeSwitch

__all__ = ["Switching", "SwitchingTimes"]

#: Equal parts of a simulation at whose ends conditions are looked at.
PARTS = 4096
#: Switches at which a simulation begins anew at most; each costs some short steps.
MOST = 1000
#: Simulations whose switches are kept with a system: runs in a row have the same ones.
KEPT = 16
#: Halvings that lead from any interval to neighboring numbers.
HALVINGS = 80
#: A straight line gives its zero to within so many neighboring numbers.
NEXT_TO = 8.0
#: Steps end by so many neighboring numbers before a switch: stages at the end of a step may be
#: evaluated at t + h, which is rounded.
BEFORE = 4
#: Switches that are so many neighboring numbers of the largest time apart are one.
TOGETHER = 32.0


class Switching(NamedTuple):
    """A switch: the last time at which a step may end before it, and the first one after it."""

    before: float
    after: float


class SwitchingTimes:
    """The switches of a simulation, for the values that its parameters have.

    Parameters
    ----------
    equations : of the system, which switch in time.
    start, settings : where the simulation begins, and how it is made.

    Attributes
    ----------
    notes : what is to be said of them.
    """

    def __init__(self, equations: Equations, start: float, settings: Settings) -> None:
        self._equations = equations
        self._span = start, settings.until
        self._fixed = settings.step > 0.0
        self.notes: list[str] = []

    def after(self, t: float, p: FloatArray) -> Switching | None:
        """The next switch after a time, or the one that it is within, with parameters p."""
        equations = self._equations
        known = equations.cache.once(
            _KnownSwitches, lambda: _KnownSwitches(equations.time_switches)
        )
        key = (p[known.used].tobytes(), *self._span)
        found = known.get(key)
        if found is None:
            found = known[key] = _found(self._equations.time_switches, *self._span, p)
        switches, note = found
        if self._fixed and switches:
            note = (
                "steps of fixed length do not end where forces or drivers switch, first at "
                f"t = {switches[0].after:.6g} s: what is shorter than a step is not seen"
            )
            switches = []
        if note and note not in self.notes:
            self.notes.append(note)
        return next((s for s in switches if s.after > t), None)


class _KnownSwitches(Remembered[tuple[bytes, float, float], tuple[list[Switching], str]], PassedOn):
    """Switches of simulations before, and what is to be said of them.

    Attributes
    ----------
    used : numbers of the parameters that switches depend on. Those that a controller changes at
        every sample are hardly among them.
    """

    def __init__(self, switches: Sequence[TimeSwitch]) -> None:
        super().__init__(KEPT)
        used = {c for switch in switches for c in switch.function.jac_sparsity(0, 1).get_col()}
        self.used = np.array(sorted(used), dtype=int)


def _found(
    switches: Sequence[TimeSwitch], start: float, end: float, p: FloatArray
) -> tuple[list[Switching], str]:
    """All switches of a simulation, in order, and what is to be said of them."""
    equal, pairs = np.linspace(start, end, PARTS + 1), np.zeros((0, 2))
    for switch in switches:
        ends = equal[[0, -1]] if switch.straight else equal
        more = _moments(switch, np.unique(np.concatenate([ends, pairs.ravel()])), p)
        if len(pairs) + len(more) > MOST:
            return [], (
                f"forces or drivers switch more than {MOST} times; steps do not end there, and "
                "what is shorter than a step may be missed: give largest_step="
            )
        pairs = np.concatenate([pairs, more])
    if all(switch.straight for switch in switches):
        return _merged(pairs, start, end), ""
    apart = (end - start) / PARTS
    return _merged(pairs, start, end), (
        f"when forces or drivers switch was looked for at times {apart:.3g} s apart; a shorter "
        "pulse by a nonlinear condition may be missed"
    )


def _moments(switch: TimeSwitch, t: FloatArray, p: FloatArray) -> FloatArray:
    """Neighboring times (n, 2) between which a switch happens, from a look at some times."""
    s, rate = switch.values(t, p)
    if not switch.straight:
        t, s = _with_extrema(switch, t, s, rate, p)
    if not switch.whole:
        ends, values = np.stack([t[:-1], t[1:]], axis=1), np.stack([s[:-1], s[1:]], axis=1)
        return _bisected(switch, ends, values, p, np.zeros(len(ends)))
    lowest, highest = np.minimum(s[1:], s[:-1]), np.maximum(s[1:], s[:-1])
    with np.errstate(invalid="ignore"):
        count = np.where(np.isfinite(highest - lowest), np.floor(highest) - np.ceil(lowest) + 1, 0)
    if count.sum() > 4 * MOST + len(t):
        return np.zeros((MOST + 1, 2))
    count = count.astype(int)
    cell = np.repeat(np.arange(len(count)), count)
    place = np.arange(len(cell)) - np.repeat(np.cumsum(count) - count, count)
    levels = np.asarray(np.ceil(lowest)[cell] + place, dtype=float)
    ends = np.stack([t[cell], t[cell + 1]], axis=1)
    values = np.stack([s[cell], s[cell + 1]], axis=1) - levels[:, None]
    return _bisected(switch, ends, values, p, levels)


def _with_extrema(
    switch: TimeSwitch, t: FloatArray, s: FloatArray, rate: FloatArray, p: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Times and values with those of extrema between them, as far as rates show them."""
    turn = np.flatnonzero(rate[:-1] * rate[1:] < 0.0)
    if not len(turn):
        return t, s
    low, _ = _halved(lambda t: switch.values(t, p)[1] * rate[turn] > 0.0, t[turn], t[turn + 1])
    t = np.unique(np.concatenate([t, low]))
    return t, switch.values(t, p)[0]


def _bisected(
    switch: TimeSwitch, ends: FloatArray, values: FloatArray, p: FloatArray, levels: FloatArray
) -> FloatArray:
    """Neighboring times where the sign of s − level is another one, of intervals where it is.

    A sign is −, 0 or +: what leads from − to + may be zero at some numbers in between.
    """
    found: list[FloatArray] = [np.zeros((0, 2))]
    signs = np.sign(values)
    changes = (signs[:, 0] != signs[:, 1]) & ~np.isnan(signs).any(axis=1)
    ends, values, levels = ends[changes], values[changes], levels[changes]
    for _ in range(2):
        if not len(ends):
            break
        first, last = np.sign(values).T

        def same(t: FloatArray, levels: FloatArray = levels, first: FloatArray = first) -> Any:
            return np.sign(switch.values(t, p)[0] - levels) == first

        low, high = _halved(same, *_narrowed(same, ends, values))
        found.append(np.stack([low, high], axis=1))
        value = switch.values(high, p)[0] - levels
        again = np.sign(value) != last
        ends = np.stack([high, ends[:, 1]], axis=1)[again]
        values, levels = np.stack([value, values[:, 1]], axis=1)[again], levels[again]
    return np.concatenate(found)


def _narrowed(
    same: Callable[[FloatArray], Any], ends: FloatArray, values: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Intervals cut to what is next to the zero of a straight line between their ends."""
    low, high = ends.T
    with np.errstate(all="ignore"):
        zero = low - values[:, 0] * ((high - low) / (values[:, 1] - values[:, 0]))
    zero = np.clip(np.where(np.isfinite(zero), zero, low), low, high)
    for side in (-NEXT_TO, NEXT_TO):
        t = np.clip(zero + side * np.spacing(np.abs(zero)), low, high)
        before = same(t)
        low, high = np.where(before, t, low), np.where(before, high, t)
    return low, high


def _halved(
    same: Callable[[FloatArray], Any], low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Intervals halved down to neighboring numbers: `same` at the first, not at the second."""
    for _ in range(HALVINGS):
        if (np.nextafter(low, np.inf) >= high).all():
            break
        middle = 0.5 * (low + high)
        before = same(middle)
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return low, high


def _merged(pairs: FloatArray, start: float, end: float) -> list[Switching]:
    """Switches within a simulation in order, those at once together, with room before them."""
    largest = max(abs(start), abs(end))
    near = TOGETHER * float(np.spacing(largest))
    found: list[Switching] = []
    for low, high in pairs[np.argsort(pairs[:, 0])].tolist():
        before = low - BEFORE * float(np.spacing(max(abs(low), np.finfo(float).eps * largest)))
        if found and before <= found[-1].after + near:
            found[-1] = Switching(found[-1].before, max(high, found[-1].after))
        else:
            found.append(Switching(before, high))
    return [s for s in found if s.before > start and s.after < end]
