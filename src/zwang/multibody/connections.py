"""Bodies and what holds them together, counted: joints, drivers, couplers, own constraints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from zwang.display import counted
from zwang.multibody.marker import Joint
from zwang.multibody.pose import SCALAR, BodyKind

__all__ = ["bodies_in_words", "connections", "connections_in_words"]


def bodies_in_words(kinds: Iterable[BodyKind]) -> str:
    """``2 bodies``; extra coordinates, which are bodies to the equations, are counted apart."""
    extra = [kind is SCALAR for kind in kinds]
    words = counted(extra.count(False), "body", "bodies")
    return f"{words}, {counted(sum(extra), 'extra coordinate')}" if any(extra) else words


def connections(joints: Iterable[Joint]) -> dict[str, int]:
    """Kind → how many; joints always, others where there are some."""
    found = {"joint": 0}
    for joint in joints:
        kind = _kind(joint)
        found[kind] = found.get(kind, 0) + 1
    return found


def _kind(joint: Joint) -> str:
    if joint.kind is not None:
        return "joint"
    if joint.prescribes:
        return "driver"
    return "coupler" if joint.couples else "own constraint"


def connections_in_words(found: Mapping[str, int]) -> str:
    """``8 joints, 1 driver``."""
    return ", ".join(counted(count, kind) for kind, count in found.items())
