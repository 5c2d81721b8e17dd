"""Programs: a fixed elimination order for [[M, Aᵀ], [A, −R]], found once from its pattern.

A constraint row comes after the velocities it acts on, so that its pivot is one of A M⁻¹ Aᵀ + R,
with M of the velocities so far, and never a small regularisation R alone; it is as small as R only
when the row depends on rows before it. It need not wait for all other velocities: where M couples
them, A M⁻¹ Aᵀ as a whole is full. Of all that may come next, a pivot of least degree does, which
gives no fill on trees and little on loops.

Where R is zero, a row and a velocity that it acts on with a constant factor may also go together:
the row then gives the velocity from the others that it acts on, and the velocity's own equation the
multiplier. A pin does that for the centre of a body. What acted on the velocity acts on the others
from then on, and carries its mass. Such pairs come before other velocities of their rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Elimination", "analyse"]

#: One index of K, or a velocity and a row that are eliminated together.
Pivot = tuple[int] | tuple[int, int]


@dataclass(frozen=True)
class Elimination:
    """The order and the pattern of the factor L of K = L D Lᵀ.

    Attributes
    ----------
    pivots : indices of K in the order of elimination; below n velocities, from n on rows.
    below : for each pivot, in that order, the indices still to come that it is coupled to.
    """

    pivots: tuple[Pivot, ...]
    below: tuple[tuple[int, ...], ...]

    @property
    def order(self) -> tuple[int, ...]:
        """All indices, one after the other."""
        return tuple(index for pivot in self.pivots for index in pivot)

    @property
    def operations(self) -> int:
        """Multiplications of one factorisation without pairs."""
        return sum(len(column) * (len(column) + 3) // 2 for column in self.below)


def analyse(
    n: int,
    m: int,
    mass: Iterable[tuple[int, int]],
    constraint: Iterable[tuple[int, int]],
    constant: Iterable[tuple[int, int]] = (),
) -> Elimination:
    """Order of elimination for n velocities and m rows.

    Parameters
    ----------
    mass : (i, j) of the nonzeros of M, the diagonal may be left out.
    constraint : (row, velocity) of the nonzeros of A.
    constant : those of them that may go together.
    """
    search = _PivotSearch(n, m, mass, constraint, constant)
    pivots: list[Pivot] = []
    below: list[tuple[int, ...]] = []
    while search.waiting:
        pivot = search.waiting.pop()
        pivots.append(pivot)
        below.append(tuple(sorted(search.eliminate(pivot))))
    order = [index for pivot in pivots for index in pivot]
    rank = {index: place for place, index in enumerate(order)}
    columns = (tuple(sorted(column, key=rank.__getitem__)) for column in below)
    return Elimination(tuple(pivots), tuple(columns))


class _PivotSearch:
    """What is coupled to what, and which pivots may come next."""

    def __init__(
        self,
        n: int,
        m: int,
        mass: Iterable[tuple[int, int]],
        constraint: Iterable[tuple[int, int]],
        constant: Iterable[tuple[int, int]],
    ) -> None:
        self.n = n
        self.neighbours: list[set[int]] = [set() for _ in range(n + m)]
        for i, j in mass:
            if i != j:
                self._couple(i, j)
        for row, j in constraint:
            self._couple(n + row, j)
        # Partners of rows that may go in pairs, and rows that a velocity may go with.
        self.partners: dict[int, set[int]] = {}
        self.rows_for: list[set[int]] = [set() for _ in range(n)]
        for row, j in constant:
            self.partners.setdefault(n + row, set()).add(j)
            self.rows_for[j].add(n + row)
        self.acts_on = {row: set(self.neighbours[row]) for row in range(n, n + m)}
        self.rows_on = [{row for row in self.neighbours[j] if row >= n} for j in range(n)]
        degrees: dict[Pivot, int] = {(k,): self._degree((k,)) for k in range(n) if self._may_go(k)}
        degrees |= {(j, r): self._degree((j, r)) for j in range(n) for r in self.rows_for[j]}
        self.waiting = _Buckets(degrees)
        for row, velocities in self.acts_on.items():
            if not velocities:
                self.waiting.add((row,), 0)

    def _couple(self, i: int, j: int) -> None:
        self.neighbours[i].add(j)
        self.neighbours[j].add(i)

    def _degree(self, pivot: Pivot) -> int:
        found = set().union(*(self.neighbours[index] for index in pivot))
        return len(found.difference(pivot))

    def _may_go(self, velocity: int) -> bool:
        """Whether a velocity may go by itself: no row on it can go in a pair."""
        return not any(row in self.partners for row in self.neighbours[velocity])

    def eliminate(self, pivot: Pivot) -> set[int]:
        """Take a pivot away; what it was coupled to."""
        first, last = pivot[0], pivot[-1]
        column = by_first = by_last = self.neighbours[first]
        if len(pivot) == 2:
            by_first, by_last = by_first - {last}, self.neighbours[last] - {first}
            column = by_first | by_last
        for i in column:
            # A pair is zero at its row: only what the row acts on is coupled to all others.
            self.neighbours[i].difference_update(pivot)
            self.neighbours[i] |= column if i in by_last else by_last
            self.neighbours[i].discard(i)
        changed = dict.fromkeys(column)  # a set that keeps its order
        if len(pivot) == 2:
            for row in sorted(i for i in by_first if i >= self.n):
                self._substitute(row, {k for k in by_last if k < self.n}, changed)
            self._give_up(last, changed)
            del self.acts_on[last]
        for index in pivot:
            self.neighbours[index] = set()
        if first < self.n:
            for row in sorted(self.rows_for[first]):
                self._separate(row, first, changed)
        self._update(k for k in changed if k not in pivot)
        for row in sorted(self.rows_on[first]) if first < self.n else ():
            if row not in self.acts_on:
                continue  # it went in a pair
            self.acts_on[row].discard(first)
            if not self.acts_on[row]:
                self.waiting.add((row,), len(self.neighbours[row]))
        return column

    def _substitute(self, row: int, velocities: set[int], changed: dict[int, None]) -> None:
        """Let a row act on what a velocity it acted on was expressed by."""
        self.acts_on[row] |= velocities
        for k in velocities:
            self.rows_on[k].add(row)
            self._separate(row, k, changed)  # its factor is no longer constant

    def _separate(self, row: int, velocity: int, changed: dict[int, None]) -> None:
        """A row and a velocity cannot go together any more."""
        if velocity in self.partners.get(row, ()):
            self.partners[row].discard(velocity)
            self.rows_for[velocity].discard(row)
            self.waiting.drop((velocity, row))
            if not self.partners[row]:
                self._give_up(row, changed)

    def _give_up(self, row: int, changed: dict[int, None]) -> None:
        """A row goes in no pair any more: velocities need not wait for it."""
        for velocity in self.partners.pop(row, ()):
            self.rows_for[velocity].discard(row)
            self.waiting.drop((velocity, row))
        changed.update(dict.fromkeys(k for k in sorted(self.neighbours[row]) if k < self.n))

    def _update(self, changed: Iterable[int]) -> None:
        """Degrees of the pivots that hold one of these indices."""
        for i in changed:
            if i >= self.n:
                self.waiting.update((i,), len(self.neighbours[i]))
                pairs: list[Pivot] = [(j, i) for j in self.partners.get(i, ())]
            else:
                if self._may_go(i):
                    self.waiting.add((i,), len(self.neighbours[i]))
                else:
                    self.waiting.drop((i,))
                pairs = [(i, row) for row in self.rows_for[i]]
            for pair in pairs:
                self.waiting.update(pair, self._degree(pair))


class _Buckets:
    """Pivots by degree; of equal ones the last that changed is first, then the smallest index."""

    def __init__(self, degrees: dict[Pivot, int]) -> None:
        self.degree = degrees
        self.buckets: dict[int, list[Pivot]] = {}
        for pivot in sorted(degrees, reverse=True):
            self.buckets.setdefault(degrees[pivot], []).append(pivot)

    def __bool__(self) -> bool:
        return bool(self.degree)

    def add(self, pivot: Pivot, degree: int) -> None:
        """Let a pivot take part from now on, or record a changed degree."""
        if self.degree.get(pivot) != degree:
            self.degree[pivot] = degree
            self.buckets.setdefault(degree, []).append(pivot)

    def update(self, pivot: Pivot, degree: int) -> None:
        """Record a changed degree of a pivot that takes part; stale entries are skipped."""
        if pivot in self.degree:
            self.add(pivot, degree)

    def drop(self, pivot: Pivot) -> None:
        """Let a pivot take part no more."""
        self.degree.pop(pivot, None)

    def pop(self) -> Pivot:
        """Take a pivot of least degree."""
        while True:
            least = min(self.buckets)
            bucket = self.buckets[least]
            pivot = bucket.pop()
            if not bucket:
                del self.buckets[least]
            if self.degree.get(pivot) == least:
                del self.degree[pivot]
                return pivot
