"""Structural constants of a mechanism: zeros, and the ones of axes, that never change.

Parameters are inputs of kernels, never part of them. But a hinge along y of two bodies is more than
nine numbers each: that six of them vanish decides which products there are at all. So the entries
of markers, tensors and gravity that are zero, and those of axes that are one, are made part of the
expressions, and which ones these are is part of what a program is known by. A sweep over lengths or
masses compiles nothing; turning an axis away from y does, once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from zwang.multibody.frozen import Parts
from zwang.multibody.terms import body_slots
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

__all__ = ["NEGLIGIBLE", "ConstantPattern", "Pattern", "folded", "sizes_of", "with_equal_masses"]

#: Entries of axes and, relative to the largest of their kind, of points and tensors below this are
#: zero: what a rotation by π/2 leaves in place of it is smaller.
NEGLIGIBLE = 1e-14

#: Which entries of p are constants, and their values 0, 1 or −1.
Pattern = tuple[tuple[int, float], ...]


class ConstantPattern:
    """Where the numbers of a mechanism that may be structure are in its parameters."""

    def __init__(self, parts: Parts) -> None:
        axes: list[int] = []
        values: list[int] = []
        groups: list[int] = []  # where each set of values that are of one size begins
        for name, (start, end) in parts.slots.items():
            ending = name.rpartition(".")[2]
            if ending in ("axes_a", "axes_b", "along_a", "along_b"):
                axes += range(start, end)
            elif ending in ("at_a", "at_b", "inertia") or name == "gravity":
                groups.append(len(values))
                values += range(start, end)
        self.axes, self.values = np.array(axes, dtype=int), np.array(values, dtype=int)
        self._groups = np.array(groups, dtype=int)
        counts = np.diff(np.append(self._groups, len(values)))
        self._group_of = np.repeat(np.arange(len(groups)), counts)
        #: Whether functions of the user's may make structure of any parameter.
        joints = {name for joint in parts.joints.values() if joint.kind for name in joint.elements}
        self._any = any(element.name not in joints for element in parts.constraints)

    def decisive(self, p: FloatArray) -> bytes:
        """The values by which directions are along or across each other."""
        return p.tobytes() if self._any else p[self.axes].tobytes()

    def pattern(self, p: FloatArray) -> bytes:
        """Equal for parameters with the same constants."""
        zeros, ones = self._marks(p)
        return zeros.tobytes() + ones.tobytes()

    def constants(self, p: FloatArray) -> Pattern:
        """The entries that are constants."""
        zeros, ones = self._marks(p)
        found = [(int(i), 0.0) for i in self.values[zeros]]
        return (
            *found,
            *((int(i), float(s)) for i, s in zip(self.axes, ones, strict=True) if s < 2),
        )

    def all_decisive_alike(self, P: FloatArray) -> bool:
        """Whether `decisive` is the same for all of many parameters (N, np)."""
        decisive = P if self._any else P[:, self.axes]
        return bool(np.all(decisive == decisive[0]))

    def alike(self, P: FloatArray) -> list[np.ndarray]:
        """Numbers of parameters (N, np) with the same constants, together."""
        if np.all(P[0] == P):
            return [np.arange(len(P))]
        values, axes = np.abs(P[:, self.values]), P[:, self.axes]
        zeros = np.zeros(values.shape, dtype=bool)
        if values.size:
            sizes = np.maximum.reduceat(values, self._groups, axis=1)
            zeros = values <= NEGLIGIBLE * sizes[:, self._group_of]
        marks = np.concatenate([zeros.astype(np.int8), _ones(axes)], axis=1)
        if np.all(marks == marks[0]):
            return [np.arange(len(P))]
        groups: dict[bytes, list[int]] = {}
        for i, row in enumerate(marks):
            groups.setdefault(row.tobytes(), []).append(i)
        return [np.array(members) for members in groups.values()]

    def _marks(self, p: FloatArray) -> tuple[np.ndarray, np.ndarray]:
        """Which values vanish; and of axes 0, 1 or −1 where they are, 2 elsewhere."""
        values, axes = np.abs(p[self.values]), p[self.axes]
        sizes = np.maximum.reduceat(values, self._groups) if values.size else values
        return values <= NEGLIGIBLE * sizes[self._group_of], _ones(axes)


def _ones(axes: FloatArray) -> np.ndarray:
    """0, 1 or −1 where entries of axes are, 2 elsewhere."""
    ones = np.where(np.abs(axes) <= NEGLIGIBLE, 0, 2).astype(np.int8)
    ones[np.abs(np.abs(axes) - 1.0) <= NEGLIGIBLE] = 1
    ones[np.abs(axes + 1.0) <= NEGLIGIBLE] = -1
    return ones


def sizes_of(parts: Parts, p: FloatArray) -> FloatArray:
    """To which size each number of a mechanism is rounded.

    Axes have length one, and points the size of the mechanism, whatever single entries are.
    """
    sizes, points = np.abs(p), []
    for name, (start, end) in parts.slots.items():
        ending = name.rpartition(".")[2]
        if ending in ("axes_a", "axes_b", "along_a", "along_b"):
            sizes[start:end] = 1.0
        elif ending in ("at_a", "at_b"):
            points += range(start, end)
    sizes[points] = np.max(sizes[points], initial=0.0)
    return sizes


def with_equal_masses(parts: Parts, p: FloatArray) -> FloatArray:
    """The numbers of a mechanism with all masses one, and all moments of inertia alike."""
    p, moments = p.copy(), []
    for body in parts.bodies:
        first, last = body_slots(parts.slots, body.name)
        size = np.abs(p[first + 1 : last]).max(initial=0.0)
        if p[first] > 0.0 and size > 0.0:
            moments.append(size / p[first])
    moment = float(np.exp(np.mean(np.log(moments)))) if moments else 1.0
    for body in parts.bodies:
        first, last = body_slots(parts.slots, body.name)
        shape = last - first - 1
        p[first] = 1.0
        p[first + 1 : last] = moment * (np.eye(3).ravel() if shape == 9 else np.ones(shape))
    return p


def folded(x: casadi.SX, entries: Iterable[tuple[int, float]]) -> casadi.SX:
    """A column with some entries replaced by constants."""
    import casadi as ca

    result, constants = ca.densify(x), dict(entries)
    if constants:
        result[list(constants)] = ca.DM(list(constants.values()))
    return result
