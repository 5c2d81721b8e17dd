"""What holds bodies together, counted by what it is: joints, drivers, couplers, own constraints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from zwang.display import counted
from zwang.multibody.marker import Joint

__all__ = ["connections", "connections_in_words"]


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
