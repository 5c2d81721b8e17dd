"""Forces that grow without bound where a run passes a singular position.

Where equations of joints come to depend on each other for an instant, and a load acts along the
freedom that is gained there, forces pass infinity: those of a driver at its dead center, those of
two supports whose distance vanishes, those in a parallelogram that swings through its flat
position. Saved states tell of it what their times happen to give. Beside the position, a distance
h in time before it and after, a bounded quantity x has h|x| → 0 and a pole does not: that is asked
of three distances. That equations depend on each other does not decide it: without such a load
forces stay bounded.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zwang.errors import ZwangError
from zwang.results.event_rows import changed
from zwang.results.resample import at_times
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.results.run import Run
    from zwang.results.segments import RankChange

__all__ = ["UnboundedForces", "told_unbounded", "unbounded_at", "unbounded_forces_of"]

#: Largest displacement [m or rad] from the singular position, and part of the time to the next one
#: or an end of the run, at the farthest distance.
AWAY, WITHIN = 1e-2, 0.25
#: Times nearer to each other, for times of unit size, are the same: steps that collapse at a
#: position meet it again and again.
INSTANT = 1e-9
#: Distances are such parts of each other. Of a quantity that stays bounded h|x| falls like them;
#: of one with a pole it stays, and falls to no less than this part once a pole dominates.
NEARER, DISTANCES, STAYS = 0.25, 3, 0.5
#: Parts of the greatest such force below which another value is rounding.
NOTHING = 1e-8
#: How often the place of a singular position is made better.
LOOKS = 3
#: Singular positions that are looked at: a motor back and forth passes many of them.
MOST = 10


class UnboundedForces(NamedTuple):
    """A singular position of a run at which forces are unbounded.

    Attributes
    ----------
    t : when it is passed [s].
    drivers : whose forces grow without bound there; it is their dead center.
    others : joints and constraints whose forces do so.
    beside : the run at times before it and after it.
    """

    t: float
    drivers: tuple[str, ...]
    others: tuple[str, ...]
    beside: Run

    def __repr__(self) -> str:
        return f"UnboundedForces(t={self.t!r}, drivers={self.drivers!r}, others={self.others!r})"

    def __str__(self) -> str:
        return self.told()

    def told(self, more: int = 0) -> str:
        """What happens there as a sentence, and at how many later times it does."""
        names, kind = (self.drivers, "driver") if self.drivers else (self.others, "")
        many = len(names) > 1
        of = f"{kind}{'s' if many else ''} " if kind else ""
        later = f" and at {more} more of the first {MOST} such times" if more else ""
        also = f", and so are those of {', '.join(self.others)}" if kind and self.others else ""
        where = "a dead center" if kind else "a singular position"
        return (
            f"the force{'s' if many else ''} of {of}{', '.join(names)} "
            f"{'are' if many else 'is'} unbounded at t = {self.t:.4g} s{later}{also}: "
            f"the mechanism passes {where} there"
        )


def told_unbounded(run: Run) -> tuple[str, ...]:
    """What a run says of unbounded forces, once of those that are alike.

    A mechanism that moves by itself is not held up by a question about its forces: it has no note,
    but whatever shows them asks.
    """
    if run.mechanism is None or not _drivers(run):
        return ()
    alike: dict[tuple[str, ...], list[UnboundedForces]] = {}
    for position in run.unbounded_forces:
        alike.setdefault(position.drivers or position.others, []).append(position)
    return tuple(positions[0].told(len(positions) - 1) for positions in alike.values())


def unbounded_at(run: Run, name: str) -> float | None:
    """When a channel of a run, or a component of one, is first unbounded; None if never."""
    for position in run.unbounded_forces:
        beside = position.beside
        try:
            values = np.asarray(beside[name], dtype=float)
        except ZwangError:  # it has no values there
            continue
        greatest = max(_sizes(beside, n).max() for n in (*position.drivers, *position.others))
        sizes = np.abs(values.reshape(len(values), -1)).max(axis=1, initial=0.0)
        if sizes.max() > NOTHING * greatest and _grows(sizes, beside.t, position.t):
            return position.t
    return None


def unbounded_forces_of(run: Run) -> tuple[UnboundedForces, ...]:
    """Singular positions that a run passes at which forces are unbounded.

    The first `MOST` positions are looked at, and as many in which a driver takes part.
    """
    if run.mechanism is None or len(run) < 2:
        return ()
    drivers, found, looked = _drivers(run), [], Counter[bool]()
    for change in _passed(run)[: 10 * MOST]:
        driven = bool(drivers) and not drivers.isdisjoint(change.names)
        if looked[driven] == MOST:
            continue
        looked[driven] += 1
        try:
            position = _examined(run, change, drivers)
        except ZwangError:  # no state beside it, or no forces
            continue
        found += [] if position is None else [position]
    return tuple(found)


def _drivers(run: Run) -> frozenset[str]:
    assert run.mechanism is not None
    return frozenset(e.name for e in run.mechanism.constraints if e.law.what == "driver")


def _passed(run: Run) -> list[RankChange]:
    return [r for r in run.ranks if not r.lasting and run.t[0] < r.t < run.t[-1]]


def _examined(run: Run, change: RankChange, drivers: frozenset[str]) -> UnboundedForces | None:
    """What becomes of forces beside a singular position."""
    t = change.t
    begun = (s.began.t for s in run.segments if s.began is not None)
    ends = [run.t[0], run.t[-1], *(r.t for r in run.ranks), *begun]
    room = min(abs(t - end) for end in ends if end != t)
    after = int(np.searchsorted(run.t, t))
    speed = float(np.abs(run.v[after - 1 : after + 1]).max(initial=0.0))
    farthest = min(WITHIN * room, AWAY / speed if speed > 0.0 else np.inf)
    if not INSTANT * max(1.0, abs(t)) < farthest < np.inf:
        return None
    h = farthest * NEARER ** np.arange(DISTANCES)
    kept = _without(run, np.abs(run.t - t) < 2.0 * farthest)
    beside = _beside(kept, t, h)
    for _ in range(LOOKS):
        sizes = np.sum([_sizes(beside, name) for name in change.names], axis=0)
        better = _placed(sizes, beside.t, t)
        if better is None or not abs(better - t) < farthest:
            break
        t = better
        beside = _beside(kept, t, h)
    load = _load(beside)
    growing = []
    for name in change.names:
        sizes = _sizes(beside, name)
        if sizes.max() > load and _grows(sizes, beside.t, t):
            growing.append(name)
    own = tuple(name for name in growing if name in drivers)
    others = tuple(name for name in growing if name not in drivers)
    if not growing:
        return None
    return UnboundedForces(_pole(beside, (own or others)[0], t), own, others, beside)


def _beside(run: Run, t: float, h: FloatArray) -> Run:
    """The run at distances before a time and after it."""
    return at_times(run, np.concatenate([t - h, (t + h)[::-1]]))


def _placed(sizes: FloatArray, times: FloatArray, t: float) -> float | None:
    """Where a pole is by the states farthest from a time, which is known to parts of a step.

    The inverse of a size falls to zero there, along a line on each side; None where these do not
    meet, and there is no pole.
    """
    found = []
    for one, two in ((0, 1), (-1, -2)):
        near, far = 1.0 / sizes[two], 1.0 / sizes[one]
        if not far > near > 0.0:
            return None
        found.append(float(times[two] + near * (times[two] - times[one]) / (far - near)))
    middle, apart = float(np.mean(found)), abs(found[0] - found[1])
    return middle if apart < abs(times[0] - t) else None


def _without(run: Run, rows: np.ndarray) -> Run:
    """The run without some saved states: from one that is nearly singular nothing can be begun."""
    kept = np.flatnonzero(~rows)
    ends = [np.searchsorted(kept, (s.first, s.last)).tolist() for s in run.segments]
    segments = tuple(
        replace(s, first=first, last=last)
        for s, (first, last) in zip(run.segments, ends, strict=True)
    )
    return changed(run, t=run.t[kept], q=run.q[kept], v=run.v[kept], segments=segments)


def _pole(beside: Run, name: str, t: float) -> float:
    """When a force is infinite: a change of rank is placed to parts of a step, its pole better.

    From each side the line through the inverses of its two largest values is zero there.
    """
    inverse = 1.0 / _sizes(beside, name)
    found = []
    for side in (beside.t < t, beside.t > t):
        at, y = beside.t[side], inverse[side]
        i, k = np.argsort(y)[:2]
        if y[k] > y[i]:
            found.append(float(at[i] - y[i] * (at[k] - at[i]) / (y[k] - y[i])))
    nearest = float(np.abs(beside.t - t).min())
    better = float(np.mean(found)) if found else t
    return better if abs(better - t) < nearest else t


def _load(run: Run) -> float:
    """The greatest applied force or force of inertia."""
    sizes = [0.0]
    if all(s.system.equations.by_elements is not None for s in run.segments):
        for s, forces in run.segment_forces:
            elements, here = s.system.equations.by_elements, slice(s.first, s.last)
            assert elements is not None
            state = run.q[here], run.v[here], run.t[here], s.p
            sizes.append(elements.greatest_load(*state, forces.acceleration))
        return max(sizes)
    for solution in run.solutions:
        inertia = np.einsum("...ij,...j->...i", solution.terms.mass_matrix, solution.acceleration)
        sizes += [np.abs(x).max(initial=0.0) for x in (inertia, solution.terms.total_force)]
    return float(max(sizes))


def _sizes(run: Run, name: str) -> FloatArray:
    """How large the generalized force of a constraint is at each state."""
    return np.abs(run.constraint_force(name)).max(axis=1, initial=0.0)


def _grows(sizes: FloatArray, times: FloatArray, t: float) -> bool:
    """Whether h |x| stays on the way to t, from one side or the other."""
    distance = np.abs(times - t)
    for side in (times < t, times > t):
        order = np.argsort(-distance[side])
        product = (distance[side] * sizes[side])[order]
        if all(nearer > STAYS * farther > 0.0 for farther, nearer in pairwise(product)):
            return True
    return False
