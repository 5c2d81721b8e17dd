"""Block programs: a fixed order of elimination, and the pattern of the factor."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["BlockOrder", "block_order"]


@dataclass(frozen=True)
class BlockOrder:
    """Order and pattern.

    Attributes
    ----------
    order : blocks in the order of elimination.
    below : for each block, the later ones its column of the factor holds, in that order.
    """

    order: list[int]
    below: dict[int, list[int]]


def block_order(sizes: Sequence[int], couplings: Iterable[tuple[int, int]]) -> BlockOrder:
    """Blocks of least degree first, weighted by size: no fill on trees, little on loops."""
    neighbours: list[set[int]] = [set() for _ in sizes]
    for i, j in couplings:
        if i != j:
            neighbours[i].add(j)
            neighbours[j].add(i)
    degree = [sum(sizes[j] for j in near) for near in neighbours]
    heap = [(degree[i], i) for i in range(len(sizes))]
    heapq.heapify(heap)
    done = [False] * len(sizes)
    order: list[int] = []
    columns: dict[int, list[int]] = {}
    while heap:
        d, i = heapq.heappop(heap)
        if done[i] or d != degree[i]:
            continue
        done[i] = True
        order.append(i)
        near = neighbours[i]
        columns[i] = list(near)
        for j in near:
            others = neighbours[j]
            others.discard(i)
            others |= near
            others.discard(j)
            degree[j] = sum(sizes[k] for k in others)
            heapq.heappush(heap, (degree[j], j))
        neighbours[i] = set()
    place = {block: k for k, block in enumerate(order)}
    below = {i: sorted(column, key=place.__getitem__) for i, column in columns.items()}
    return BlockOrder(order, below)
