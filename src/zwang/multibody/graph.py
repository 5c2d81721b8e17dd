"""The graph of a mechanism: bodies are its nodes, joints its edges, and loops close on themselves.

A basis of loops has as many as there are edges beyond a spanning tree; each is the tree's way
between the ends of one further joint, together with that joint. The tree is grown breadth first, so
that loops are short.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from zwang.multibody.marker import Joint

__all__ = ["is_loop", "loops"]


def loops(joints: Iterable[Joint]) -> list[tuple[str, ...]]:
    """A basis of the loops, each the names of its joints in the order in which they follow.

    Drivers, couplers and constraints of the user's join bodies in other ways and do not count.
    """
    edges = [(j.name, j.bodies[0], j.bodies[1]) for j in joints if j.kind is not None]
    around: dict[int, list[tuple[str, int]]] = {}
    for name, a, b in edges:
        around.setdefault(a, []).append((name, b))
        around.setdefault(b, []).append((name, a))
    before: dict[int, tuple[int, str]] = {}  # the body a step nearer to the root, and the joint
    seen: set[int] = set()
    for root in sorted(around):  # the ground, −1, first
        if root in seen:
            continue
        seen.add(root)
        queue = deque([root])
        while queue:
            here = queue.popleft()
            for name, there in around[here]:
                if there not in seen:
                    seen.add(there)
                    before[there] = here, name
                    queue.append(there)
    in_tree = {name for _, name in before.values()}

    def way(body: int) -> tuple[str, ...]:
        names: list[str] = []
        while body in before:
            body, name = before[body]
            names.append(name)
        return tuple(reversed(names))

    place = {name: i for i, (name, _, _) in enumerate(edges)}
    found = [_closed(way(a), name, way(b)) for name, a, b in edges if name not in in_tree]
    return [_from_first(loop, place) for loop in found]


def _closed(to_a: tuple[str, ...], name: str, to_b: tuple[str, ...]) -> tuple[str, ...]:
    """Out along one way, over the joint, and back along the other, without what they share."""
    shared = 0
    while shared < min(len(to_a), len(to_b)) and to_a[shared] == to_b[shared]:
        shared += 1
    return (*to_a[shared:], name, *reversed(to_b[shared:]))


def _from_first(loop: tuple[str, ...], place: dict[str, int]) -> tuple[str, ...]:
    """The same loop from its first joint on, round the way on which the earlier joint follows."""
    k = min(range(len(loop)), key=lambda i: place[loop[i]])
    onward = loop[k:] + loop[:k]
    back = (onward[0], *reversed(onward[1:]))
    return min(onward, back, key=lambda names: [place[name] for name in names])


def is_loop(joints: Iterable[Joint]) -> bool:
    """Whether joints form one loop: each of their bodies is shared by two of them."""
    ends: dict[int, int] = {}
    listed = list(joints)
    for joint in listed:
        if joint.kind is None or len(joint.bodies) != 2:
            return False
        for body in joint.bodies:
            ends[body] = ends.get(body, 0) + 1
    return len(listed) > 1 and all(count == 2 for count in ends.values())
