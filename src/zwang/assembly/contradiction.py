"""An irreducible group of joints and held values that no configuration satisfies together.

What linearised conditions tell of a contradiction is true near one configuration: a joint may leave
no gap there and yet be needed, as the pin in the middle of two crossed arms that do not reach far
enough. Therefore subsets are assembled, by a deletion filter (Chinneck and Dravnieks, ORSA Journal
on Computing 3, 1991, 157): one member after the other is released, and stays out if the others
still cannot be met. What is left over cannot be met, and without any one of its members it can; the
second half of this is certain, since a configuration was found, the first as certain as searches
from several starts are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from zwang.assembly.branches import spread
from zwang.assembly.newton import NewtonConditions, NewtonResult, search
from zwang.multibody.frozen import Parts
from zwang.multibody.graph import loops
from zwang.terms import FloatArray

__all__ = [
    "IrreducibleGroup",
    "Subsets",
    "filtered",
    "irreducible_contradiction",
    "with_a_loop",
]

#: Starts away from those known, and how far: parts of the size, or of a radian.
STARTS, REACH = 4, 0.7
#: Operations of all searches together after which members are no longer released, some seconds;
#: and those of a step beside its least-squares solution.
MOST_WORK, STEP_WORK = 2e10, 2e6
#: Configurations found without a member from which others are looked for.
KEPT = 2


class IrreducibleGroup(NamedTuple):
    """Joints and held values that cannot hold together.

    Attributes
    ----------
    names : in the order of their conditions.
    irreducible : whether all members were released in turn; otherwise some may not take part.
    """

    names: tuple[str, ...]
    irreducible: bool


@dataclass
class Subsets:
    """Assembly of some of the conditions, the others left out.

    Attributes
    ----------
    conditions, owners : all of them, and the joint or held value of each.
    starts : configurations to search from.
    bodies : joint or held value → numbers of the bodies that it is about, −1 the ground.
    joints : names of those that some pose of any one of their bodies satisfies, wherever the
        others are. Together they can always be met if they form no loop.
    columns : numbers of the velocities of each body.
    """

    conditions: NewtonConditions
    owners: Sequence[str]
    starts: Sequence[FloatArray]
    bodies: Mapping[str, frozenset[int]]
    joints: frozenset[str]
    columns: Sequence[range]
    found: list[FloatArray] = field(default_factory=list)
    work: float = 0.0

    @classmethod
    def of(
        cls,
        parts: Parts,
        conditions: NewtonConditions,
        starts: Sequence[FloatArray],
        owners: Sequence[str],
    ) -> Subsets:
        """Of the joints and held values of a mechanism."""
        _, at = parts.places
        columns = [range(*at[i : i + 2]) for i in range(len(parts.bodies))]
        slopes = [abs(conditions.values(q)[1]) for q in starts]
        G: Any = sum(slopes[1:], slopes[0])
        depends = np.array([np.asarray(G[:, [*own]].sum(axis=1)).ravel() > 0 for own in columns])
        bodies: dict[str, frozenset[int]] = {}
        for name in dict.fromkeys(owners):
            rows = [k for k, owner in enumerate(owners) if owner == name]
            own = frozenset(np.flatnonzero(depends[:, rows].any(axis=1)).tolist())
            bodies[name] = own | frozenset(
                parts.joints[name].bodies if name in parts.joints else ()
            )
        joints = frozenset(
            name for name in bodies if name in parts.joints and parts.joints[name].kind is not None
        )
        return cls(conditions, owners, starts, bodies, joints, columns)

    @property
    def worn_out(self) -> bool:
        """Whether no more work is to be done."""
        return self.work > MOST_WORK

    def hold_together(self, names: frozenset[str]) -> bool:
        """Whether a configuration is found that satisfies those of some names."""
        if names <= self.joints and not self.looped(names):
            return True
        rows = np.flatnonzero([owner in names for owner in self.owners])
        part = self._part(rows, names)
        for q in [*self.found[:KEPT], *self.starts]:
            end = self._searched(part, q, len(rows))
            if end.met:
                self.found.insert(0, end.q)
                return True
        count = len(part.weights)
        for turn in range(STARTS):
            nudge = REACH * part.size / np.sqrt(part.weights) * spread(turn, count)
            end = self._searched(part, part.move(self.starts[0], nudge), len(rows))
            if end.met:
                self.found.insert(0, end.q)
                return True
        return False

    def looped(self, names: Iterable[str]) -> frozenset[str]:
        """Those that are left when joints to bodies that nothing else joins are taken off."""
        left = set(names)
        while True:
            count = Counter(i for name in left for i in self.bodies[name] if i >= 0)
            ends = {name for name in left if any(count[i] == 1 for i in self.bodies[name])}
            if not ends:
                return frozenset(left)
            left -= ends

    def _part(self, rows: np.ndarray, names: Iterable[str]) -> NewtonConditions:
        """Some rows, with the velocities of their bodies."""
        whole = self.conditions
        about = sorted({i for name in names for i in self.bodies[name] if i >= 0})
        moving = np.array([k for i in about for k in self.columns[i]], dtype=int)

        def values(q: FloatArray) -> tuple[FloatArray, Any]:
            g, G = whole.values(q)
            return g[rows], G[rows][:, moving]

        def move(q: FloatArray, step: FloatArray) -> FloatArray:
            every = np.zeros(len(whole.weights))
            every[moving] = step
            return whole.move(q, every)

        return replace(whole, values=values, move=move, weights=whole.weights[moving])

    def _searched(self, part: NewtonConditions, q: FloatArray, rows: int) -> NewtonResult:
        end = search(part, q)
        m, n = rows, len(part.weights)
        self.work += (1 + end.iterations) * (STEP_WORK + 10.0 * m * n * min(m, n))
        return end


def irreducible_contradiction(subsets: Subsets, likely: Sequence[str]) -> IrreducibleGroup:
    """A group of joints and held values of which each is needed for the contradiction.

    Parameters
    ----------
    subsets : of conditions that cannot be met together.
    likely : a group that linearised conditions name. It is kept as far as possible.
    """
    names = list(dict.fromkeys(subsets.owners))
    aside = set(names) - subsets.looped(names)
    return filtered(
        names, likely, subsets.hold_together, aside=aside, worn_out=lambda: subsets.worn_out
    )


def filtered(
    names: Sequence[str],
    likely: Sequence[str],
    hold_together: Callable[[frozenset[str]], bool],
    *,
    aside: Container[str] = (),
    worn_out: Callable[[], bool] = lambda: False,
) -> IrreducibleGroup:
    """What is left of names that cannot hold together when each is released that is not needed.

    Parameters
    ----------
    likely : some that may do alone, and are released last.
    hold_together : whether some of the names can be met.
    aside : those that probably have no part in it, released first.
    worn_out : whether nothing more is to be released.
    """
    kept = list(dict.fromkeys(names))
    if 0 < len(set(likely)) < len(kept) and not hold_together(frozenset(likely)):
        kept = [name for name in kept if name in likely]
    # Many at once that are likely to have no part in it, then those that may have one.
    first = [name for name in kept if name in aside]
    others = [name for name in kept if name not in aside and name not in likely]
    single = [[name] for name in kept if name not in aside and name in likely]
    queue = [chunk for chunk in (first, others, *single) if chunk]
    group = frozenset(kept)
    while queue and not worn_out():
        chunk = queue.pop(0)
        if not hold_together(group - set(chunk)):
            group -= set(chunk)
        elif len(chunk) > 1:
            half = len(chunk) // 2
            queue[:0] = [chunk[:half], chunk[half:]]
    return IrreducibleGroup(tuple(name for name in kept if name in group), not queue)


def with_a_loop(
    parts: Parts, group: Sequence[str], owners: Iterable[str], worst: str
) -> tuple[str, ...]:
    """A group with the joints of a loop through one of them, if there is one.

    Joints that form no loop can always be met.
    """
    through = [loop for loop in loops(parts.joints.values()) if worst in loop]
    loop = min(through, key=len, default=())
    return tuple(name for name in dict.fromkeys(owners) if name in {*group, *loop})
