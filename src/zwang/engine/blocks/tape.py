"""A tape of kernel calls: what to call, in which order, on which stretches of memory.

Arguments are offsets, in numbers of one lane, into a few spaces: the arrays a program is called
with, and its work array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.kernels.element import Kernel
from zwang.kernels.element import compile as compile_kernel

if TYPE_CHECKING:
    from collections.abc import Hashable

    import casadi

__all__ = ["OUT", "WORK", "P", "Place", "Q", "Stream", "T", "Tape", "V", "Work"]

#: Spaces: the arguments q, v, t, p of a program, its outputs, its work array.
Q, V, T, P, OUT, WORK = 0, 1, 2, 3, 4, 7
SPACES = 8

#: Blocks of the work array begin at multiples of so many numbers. More costs memory, and with it
#: time where a tape does not fit the fast one; less makes pairs of numbers straddle cache lines.
ALIGNED = 2

#: A stretch of memory: a space and an offset in it.
Place = tuple[int, int]


class Work:
    """Names stretches of the work array; where they lie is decided when the tape is complete."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self._places: dict[Hashable, Place] = {}

    def at(self, what: Hashable, size: int) -> Place:
        """The stretch for something, by any name; its offset is a number for it."""
        place = self._places.get(what)
        if place is None:
            place = self._places[what] = (WORK, len(self.sizes))
            self.sizes.append(-(-max(size, 1) // ALIGNED) * ALIGNED)
        return place


class Stream:
    """A tape made ready to be played.

    Attributes
    ----------
    work_size : length of the work array, all lanes counted.
    words : for each call a header, kernel·2¹⁶ + pattern, and the byte offset of each argument.
    patterns : the spaces of the arguments of a call, in order.
    kernels : what is called; their addresses are in `addresses`.
    """

    def __init__(
        self,
        words: np.ndarray,
        patterns: list[tuple[int, ...]],
        kernels: list[Kernel],
        work_size: int,
    ) -> None:
        self.words, self.patterns, self.kernels = words, patterns, kernels
        self.work_size = work_size
        self.addresses = np.array([kernel.address for kernel in kernels], dtype=np.int64)


class Tape:
    """Calls, collected and then made into a stream."""

    def __init__(self, lanes: int) -> None:
        self.lanes, self.work = lanes, Work()
        self._calls: list[tuple[int, tuple[Place, ...]]] = []
        self._kernels: list[Kernel] = []
        self._numbers: dict[int, int] = {}
        self._functions: list[casadi.Function] = []  # kept: their identity is a key

    def call(self, function: casadi.Function, *places: Place) -> None:
        """Add a call."""
        number = self._numbers.get(id(function))
        if number is None:
            number = self._numbers[id(function)] = len(self._kernels)
            self._kernels.append(compile_kernel(function, lanes=self.lanes))
            self._functions.append(function)
        self._calls.append((number, places))

    def stream(self) -> Stream:
        """The tape ready to be played."""
        width = 8 * self.lanes
        offsets, scratch = self._placed()
        patterns: dict[tuple[int, ...], int] = {}
        words: list[int] = []
        for (number, places), own in zip(self._calls, offsets, strict=True):
            pattern = tuple([space for space, _ in places])
            index = patterns.setdefault(pattern, len(patterns))
            words.append(number << 16 | index)
            words += [offset * width for offset in own]
            words.append(scratch * width)
        assert max(len(patterns), len(self._kernels)) < 2**16
        assert max(words, default=0) < 2**32
        needed = max((kernel.work_size for kernel in self._kernels), default=0)
        return Stream(
            np.array(words, dtype=np.int64).astype(np.uint32),
            list(patterns),
            self._kernels,
            (scratch + ALIGNED) * self.lanes + needed,
        )

    def _placed(self) -> tuple[list[list[int]], int]:
        """Offsets of all arguments, and of the stretch that kernels use as their own.

        A stretch is taken at its first call and given back after its last one, so that what lives
        for a moment stays in the fastest memory, however long the tape is.
        """
        last: dict[int, int] = {}
        for k, (_, places) in enumerate(self._calls):
            for space, number in places:
                if space == WORK:
                    last[number] = k
        ends: list[list[int]] = [[] for _ in self._calls]
        for number, k in last.items():
            ends[k].append(number)
        sizes, at, size = self.work.sizes, {}, 0
        free: dict[int, list[int]] = {}
        offsets: list[list[int]] = []
        for (_, places), over in zip(self._calls, ends, strict=True):
            own = []
            for space, offset in places:
                if space != WORK:
                    own.append(offset)
                    continue
                if offset not in at:
                    given_back = free.get(sizes[offset])
                    if given_back:
                        at[offset] = given_back.pop()
                    else:
                        at[offset] = size
                        size += sizes[offset]
                own.append(at[offset])
            offsets.append(own)
            for number in over:
                free.setdefault(sizes[number], []).append(at[number])
        return offsets, size
