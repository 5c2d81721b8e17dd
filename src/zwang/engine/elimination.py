"""A fixed elimination order for [[M, Aᵀ], [A, −R]], found once from the pattern of its entries.

A constraint row comes after the velocities it acts on, so that its pivot is one of A M⁻¹ Aᵀ + R,
with M of the velocities so far, and never a small regularisation R alone; it is as small as R only
when the row depends on rows before it. It need not wait for all other velocities: where M couples
them, A M⁻¹ Aᵀ as a whole is full. Of all that may come next, a pivot of least degree does, which
gives no fill on trees and little on loops.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Elimination", "analyse"]


@dataclass(frozen=True)
class Elimination:
    """The order and the pattern of the factor L of K = L D Lᵀ.

    Attributes
    ----------
    order : indices of K in the order of elimination; below n velocities, from n on rows.
    below : for each pivot, in that order, the indices still to come that it is coupled to.
    """

    order: tuple[int, ...]
    below: tuple[tuple[int, ...], ...]

    @property
    def operations(self) -> int:
        """Multiplications of one factorisation."""
        return sum(len(column) * (len(column) + 3) // 2 for column in self.below)


def analyse(
    n: int, m: int, mass: Iterable[tuple[int, int]], constraint: Iterable[tuple[int, int]]
) -> Elimination:
    """Order of elimination for n velocities and m rows.

    Parameters
    ----------
    mass : (i, j) of the nonzeros of M, the diagonal may be left out.
    constraint : (row, velocity) of the nonzeros of A.
    """
    neighbours: list[set[int]] = [set() for _ in range(n + m)]
    for i, j in mass:
        if i != j:
            neighbours[i].add(j)
            neighbours[j].add(i)
    for row, j in constraint:
        neighbours[n + row].add(j)
        neighbours[j].add(n + row)
    acts_on = {row: set(neighbours[row]) for row in range(n, n + m)}
    rows_on = [[row for row in neighbours[j] if row >= n] for j in range(n)]
    waiting = _Buckets({k: len(neighbours[k]) for k in range(n)})
    for row, velocities in acts_on.items():
        if not velocities:
            waiting.add(row, 0)
    order: list[int] = []
    below: list[tuple[int, ...]] = []
    while waiting:
        pivot = waiting.pop()
        column = neighbours[pivot]
        order.append(pivot)
        below.append(tuple(sorted(column)))
        for i in column:
            neighbours[i].discard(pivot)
            neighbours[i] |= column
            neighbours[i].discard(i)
        for i in column:
            waiting.update(i, len(neighbours[i]))
        neighbours[pivot] = set()
        for row in sorted(rows_on[pivot]) if pivot < n else ():
            acts_on[row].discard(pivot)
            if not acts_on[row]:
                waiting.add(row, len(neighbours[row]))
    rank = {index: place for place, index in enumerate(order)}
    return Elimination(
        tuple(order), tuple(tuple(sorted(column, key=rank.__getitem__)) for column in below)
    )


class _Buckets:
    """Indices by degree; ties go to the smallest index, so that the order is always the same."""

    def __init__(self, degrees: dict[int, int]) -> None:
        self.degree = degrees
        self.buckets: dict[int, list[int]] = {}
        for index in sorted(degrees, reverse=True):
            self.buckets.setdefault(degrees[index], []).append(index)

    def __bool__(self) -> bool:
        return bool(self.degree)

    def add(self, index: int, degree: int) -> None:
        """Let an index take part from now on."""
        self.degree[index] = degree
        self.buckets.setdefault(degree, []).append(index)

    def update(self, index: int, degree: int) -> None:
        """Record a changed degree; stale entries are skipped when popped."""
        if index in self.degree and self.degree[index] != degree:
            self.degree[index] = degree
            self.buckets.setdefault(degree, []).append(index)

    def pop(self) -> int:
        """Take an index of least degree."""
        while True:
            least = min(self.buckets)
            bucket = self.buckets[least]
            index = bucket.pop()
            if not bucket:
                del self.buckets[least]
            if self.degree.get(index) == least:
                del self.degree[index]
                return index
