"""Forces that grow without bound where a run passes a singular position.

At a dead center of a driver its equation depends on those of the joints: no force along its
coordinate moves the mechanism, and where a load acts along the freedom that is gained there, the
driver's force passes infinity. Saved states tell of it what their times happen to give. Beside the
position, a distance h in time before it and after, a bounded quantity x has h|x| → 0 and a pole
does not: that is asked of three distances. That rows depend on each other does not decide it: at
the flat position of a linkage without load forces stay bounded.
"""

from __future__ import annotations

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

__all__ = ["DeadCenter", "dead_centers_of", "told_dead_centers", "unbounded_at"]

#: Largest displacement [m or rad] from the singular position, and part of the time to the next one
#: or an end of the run, at the farthest distance.
AWAY, WITHIN = 1e-2, 0.25
#: Times nearer to each other, for times of unit size, are the same: steps that collapse at a
#: position meet it again and again.
INSTANT = 1e-9
#: Distances are such parts of each other. Of a quantity that stays bounded h|x| falls like them;
#: of one with a pole it stays, and falls to no less than this part once a pole dominates.
NEARER, DISTANCES, STAYS = 0.25, 3, 0.5
#: Parts of the greatest force of a driver below which another value is rounding.
NOTHING = 1e-8
#: Singular positions of drivers that are looked at: a motor back and forth passes many of them.
MOST = 10


class DeadCenter(NamedTuple):
    """A singular position of a run at which forces of drivers are unbounded.

    Attributes
    ----------
    t : when it is passed [s].
    drivers : whose forces grow without bound there.
    others : joints and constraints whose forces do so, too.
    beside : the run at times before it and after it.
    """

    t: float
    drivers: tuple[str, ...]
    others: tuple[str, ...]
    beside: Run

    def __repr__(self) -> str:
        return f"DeadCenter(t={self.t!r}, drivers={self.drivers!r}, others={self.others!r})"

    def __str__(self) -> str:
        return self.told()

    def told(self, more: int = 0) -> str:
        """What happens there as a sentence, and at how many later times it does."""
        many = len(self.drivers) > 1
        later = f" and at {more} more of the first {MOST} such times" if more else ""
        also = f", and so are those of {', '.join(self.others)}" if self.others else ""
        return (
            f"the force{'s' if many else ''} of driver{'s' if many else ''} "
            f"{', '.join(self.drivers)} {'are' if many else 'is'} unbounded at "
            f"t = {self.t:.4g} s{later}{also}: the mechanism passes a dead center there"
        )


def told_dead_centers(run: Run) -> tuple[str, ...]:
    """What a run says of its dead centers, once of those that are alike."""
    alike: dict[tuple[str, ...], list[DeadCenter]] = {}
    for center in run.dead_centers:
        alike.setdefault(center.drivers, []).append(center)
    return tuple(centers[0].told(len(centers) - 1) for centers in alike.values())


def unbounded_at(run: Run, name: str) -> float | None:
    """When a channel of a run, or a component of one, is first unbounded; None if never."""
    for center in run.dead_centers:
        try:
            values = np.asarray(center.beside[name], dtype=float)
        except ZwangError:  # it has no values there
            continue
        greatest = max(np.abs(_sizes(center.beside, name)).max() for name in center.drivers)
        sizes = np.abs(values.reshape(len(values), -1)).max(axis=1, initial=0.0)
        if sizes.max() > NOTHING * greatest and _grows(sizes, center.beside.t, center.t):
            return center.t
    return None


def dead_centers_of(run: Run) -> tuple[DeadCenter, ...]:
    """Singular positions that a run passes at which forces of drivers are unbounded.

    Of the first of those at which drivers' rows depend on others.
    """
    if run.mechanism is None or len(run) < 2:
        return ()
    drivers = {e.name for e in run.mechanism.constraints if e.law.what == "driver"}
    found, looked = [], 0
    for change in _passed(run)[: 10 * MOST] if drivers else ():
        if drivers.isdisjoint(change.names):
            continue
        looked += 1
        if looked > MOST:
            break
        try:
            center = _examined(run, change, drivers)
        except ZwangError:  # no state beside it, or no forces
            continue
        found += [] if center is None else [center]
    return tuple(found)


def _passed(run: Run) -> list[RankChange]:
    return [r for r in run.ranks if not r.lasting and run.t[0] < r.t < run.t[-1]]


def _examined(run: Run, change: RankChange, drivers: set[str]) -> DeadCenter | None:
    """What becomes of forces beside a singular position."""
    t = change.t
    ends = [run.t[0], run.t[-1], *(r.t for r in run.ranks), *(e.t for e in run.events)]
    room = min(abs(t - end) for end in ends if end != t)
    after = int(np.searchsorted(run.t, t))
    speed = float(np.abs(run.v[after - 1 : after + 1]).max(initial=0.0))
    farthest = min(WITHIN * room, AWAY / speed if speed > 0.0 else np.inf)
    if not INSTANT * max(1.0, abs(t)) < farthest < np.inf:
        return None
    h = farthest * NEARER ** np.arange(DISTANCES)
    beside = at_times(
        _without(run, np.abs(run.t - t) < farthest), np.concatenate([t - h, (t + h)[::-1]])
    )
    load = _load(beside)
    growing = []
    for name in change.names:
        sizes = _sizes(beside, name)
        if sizes.max() > load and _grows(sizes, beside.t, t):
            growing.append(name)
    own = tuple(name for name in growing if name in drivers)
    others = tuple(name for name in growing if name not in drivers)
    return DeadCenter(_pole(beside, own[0], t), own, others, beside) if own else None


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
    for s in run.solutions:
        inertia = np.einsum("...ij,...j->...i", s.terms.mass_matrix, s.acceleration)
        sizes += [np.abs(x).max(initial=0.0) for x in (inertia, s.terms.total_force)]
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
