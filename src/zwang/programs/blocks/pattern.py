"""Block programs: which constraints meet at which bodies, and what their elimination couples.

The matrix S = A M⁻¹ Aᵀ has a block for each pair of constraints that meet at a node.
"""

from __future__ import annotations

from typing import NamedTuple

from zwang.programs.blocks.layout import BlockLayout, ElementType
from zwang.programs.blocks.order import BlockOrder, block_order

__all__ = ["Meeting", "Pattern", "Side"]


class Side(NamedTuple):
    """One end of a constraint at a node.

    Attributes
    ----------
    constraint : its number.
    place : which of the constraint's nodes it is.
    block : the same among those that are no ground, as the blocks of A are counted.
    """

    constraint: int
    place: int
    block: int


class Meeting(NamedTuple):
    """Two constraints at one node, the one that is eliminated first and the other."""

    node: int
    early: Side
    late: Side


class Pattern:
    """The pattern of S and of its factor.

    Attributes
    ----------
    sides : the ends of constraints at each node, those of a kind together.
    order : of elimination, and which blocks each column of the factor holds.
    meetings : (later constraint, earlier one) → where they meet; several nodes for some.
    reach : for each constraint, those eliminated before whose column holds it, in order.
    """

    def __init__(self, s: BlockLayout) -> None:
        kinds: dict[ElementType, int] = {}
        self.sides: list[list[Side]] = [[] for _ in s.nodes]
        for e, element in enumerate(s.constraints):
            kinds.setdefault(element.type, len(kinds))
            moving = [i for i, node in enumerate(element.nodes) if node >= 0]
            for block, i in enumerate(moving):
                self.sides[element.nodes[i]].append(Side(e, i, block))
        for ends in self.sides:
            ends.sort(key=lambda side: (kinds[s.constraints[side.constraint].type], side.place))
        pairs = [
            (n, a, b)
            for n, ends in enumerate(self.sides)
            for k, a in enumerate(ends)
            for b in ends[k + 1 :]
            if a.constraint != b.constraint
        ]
        sizes = [e.type.rows for e in s.constraints]
        self.order: BlockOrder = block_order(
            sizes, [(a.constraint, b.constraint) for _, a, b in pairs]
        )
        rank = [0] * len(sizes)
        for place, e in enumerate(self.order.order):
            rank[e] = place
        self.meetings: dict[tuple[int, int], list[Meeting]] = {}
        for n, a, b in pairs:
            early, late = (a, b) if rank[a.constraint] < rank[b.constraint] else (b, a)
            key = (late.constraint, early.constraint)
            self.meetings.setdefault(key, []).append(Meeting(n, early, late))
        self.reach: list[list[int]] = [[] for _ in sizes]
        for column in self.order.order:
            for row in self.order.below[column]:
                self.reach[row].append(column)
