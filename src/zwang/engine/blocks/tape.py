"""A tape of kernel calls: what to call, in which order, on which stretches of memory.

Arguments are offsets, in numbers of one lane, into a few spaces: the arrays a program is called
with, and its work array. Calls of one kernel that do not depend on each other form a group; where
each call needs the one before, as in a factorisation, the calls stand one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from zwang.kernels.element import Kernel
from zwang.kernels.element import compile as compile_kernel

if TYPE_CHECKING:
    import casadi

__all__ = ["OUT", "WORK", "P", "Place", "Q", "T", "Tape", "V", "Work"]

#: Spaces: the arguments q, v, t, p of a program, its outputs, its work array.
Q, V, T, P, OUT, WORK = 0, 1, 2, 3, 4, 7
SPACES = 8

#: Calls come in these numbers of arguments; what is missing is filled with pointers not looked at.
ARITIES = (4, 6, 9, 14, 24, 40, 80)


@dataclass(frozen=True)
class Place:
    """A stretch of memory: a space and an offset in it."""

    space: int
    offset: int


class Work:
    """Hands out stretches of the work array."""

    def __init__(self) -> None:
        self.size = 0

    def take(self, size: int) -> Place:
        """A new stretch; eight numbers are a cache line, on which blocks begin."""
        place = Place(WORK, self.size)
        self.size += -(-max(size, 1) // 4) * 4
        return place


@dataclass
class _Group:
    kernel: Kernel
    calls: list[tuple[Place, ...]] = field(default_factory=list)


class Tape:
    """Calls, collected and then frozen into tables."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.groups: list[_Group] = []
        self.work_size = 0
        self._kernels: dict[int, Kernel] = {}
        self._functions: list[casadi.Function] = []  # kept: their identity is a key

    def kernel(self, function: casadi.Function) -> Kernel:
        """The compiled form of a function."""
        key = id(function)
        if key not in self._kernels:
            self._functions.append(function)
            self._kernels[key] = compile_kernel(function, lanes=self.lanes)
            self.work_size = max(self.work_size, self._kernels[key].work_size)
        return self._kernels[key]

    def call(self, function: casadi.Function, *places: Place) -> None:
        """Add a call; after one of the same kernel it joins its group."""
        kernel = self.kernel(function)
        if not self.groups or self.groups[-1].kernel is not kernel:
            self.groups.append(_Group(kernel))
        self.groups[-1].calls.append(places)

    def tables(self, scratch: int) -> tuple[np.ndarray, np.ndarray, list[Kernel]]:
        """Group table (n, 4), argument table, and the kernels to keep alive.

        A group is (address, calls, arity, first entry); entries are offsets in bytes, all lanes
        counted, with the space in the three bits that are free in them.

        Parameters
        ----------
        scratch : offset in the work array of the stretch that kernels use as their own.
        """
        groups = np.empty((len(self.groups), 4), dtype=np.int64)
        entries: list[int] = []
        own = Place(WORK, scratch)
        for k, group in enumerate(self.groups):
            count = len(group.calls[0]) + 1
            arity = next(a for a in ARITIES if a >= count)
            groups[k] = group.kernel.address, len(group.calls), arity, len(entries)
            for places in group.calls:
                padded = [*places, own, *([own] * (arity - count))]
                entries += [(p.offset * self.lanes) * SPACES + p.space for p in padded]
        return groups, np.array(entries, dtype=np.int64), list(self._kernels.values())
