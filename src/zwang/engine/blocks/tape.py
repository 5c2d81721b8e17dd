"""A tape of kernel calls: what to call, in which order, on which stretches of memory.

Arguments are offsets, in numbers of one lane, into a few spaces: the arrays a program is called
with, and its work array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.engine.blocks.specialise import Constants, Special
from zwang.kernels.element import Kernel, compile_expression
from zwang.kernels.expression import read

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import casadi

    from zwang.kernels.expression import Expression

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
    """Calls, collected and then made into a stream.

    Parameters
    ----------
    constants : entries of p that are known; then calls are made special, see `specialise`.
    shared : whether lanes have p in common.
    """

    def __init__(
        self, lanes: int, constants: Mapping[int, float] | None = None, *, shared: bool = False
    ) -> None:
        self.lanes, self.work = lanes, Work()
        self._constants, self._shared = constants, shared
        self._calls: list[tuple[int, tuple[Place, ...]]] = []
        self._kernels: list[Kernel] = []
        self._numbers: dict[int, int] = {}
        self._functions: list[casadi.Function] = []  # kept: their identity is a key

    def call(self, function: casadi.Function, *places: Place) -> None:
        """Add a call."""
        number = self._numbers.get(id(function))
        if number is None:
            number = self._numbers[id(function)] = len(self._functions)
            self._functions.append(function)
        self._calls.append((number, places))

    def _compile(self) -> None:
        """Make kernels of the functions that are called."""
        if self._constants is None:
            expressions = [read(f) for f in self._functions]
            calls = [(expressions[n], self._functions[n].name(), at) for n, at in self._calls]
        else:
            calls = _special(self._functions, self._calls, self._constants)
        numbers: dict[tuple[int, tuple[int, ...]], int] = {}
        numbered: list[tuple[int, tuple[Place, ...]]] = []
        for expression, name, places in calls:
            common: tuple[int, ...] = ()
            if self._shared:
                given = enumerate(places[: len(expression.inputs)])
                common = tuple(k for k, (space, _) in given if space == P)
            number = numbers.get((id(expression), common))
            if number is None:
                number = numbers[id(expression), common] = len(self._kernels)
                kernel = compile_expression(expression, lanes=self.lanes, shared=common, name=name)
                self._kernels.append(kernel)
            numbered.append((number, places))
        self._calls = numbered

    def stream(self) -> Stream:
        """The tape ready to be played."""
        self._compile()
        width = 8 * self.lanes
        offsets, scratch = self._placed()
        patterns: dict[tuple[int, ...], int] = {}
        words: list[int] = []
        for (number, places), own in zip(self._calls, offsets, strict=True):
            pattern = tuple([space for space, _ in places])
            index = patterns.setdefault(pattern, len(patterns))
            words.append(number << 16 | index)
            words += [
                offset * (8 if self._shared and space == P else width)
                for (space, _), offset in zip(places, own, strict=True)
            ]
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


def _special(
    functions: list[casadi.Function],
    calls: list[tuple[int, tuple[Place, ...]]],
    constants: Mapping[int, float],
) -> list[tuple[Expression, str, tuple[Place, ...]]]:
    """The calls that are needed, each with what is left of its function, see `specialise`."""
    sizes = [[f.nnz_in(k) for k in range(f.n_in())] for f in functions]
    found: dict[tuple[int, tuple[Constants, ...]], Special] = {}
    known: dict[int, Constants] = {}  # of the stretches of the work array, as they are by now

    def entries(place: Place, size: int) -> Constants:
        space, at = place
        if space == WORK:
            return known.get(at, ())
        if space != P:
            return ()
        return tuple((k, constants[at + k]) for k in range(size) if at + k in constants)

    made: list[Special] = []
    for number, places in calls:
        given = tuple(map(entries, places, sizes[number]))
        key = (number, given)
        if key not in found:
            found[key] = Special(functions[number], given)
        special = found[key]
        made.append(special)
        for (space, at), values in zip(places[len(given) :], special.constants, strict=True):
            if space == WORK:
                known[at] = values
    needed: dict[int, int] = {}  # bits of the entries that later calls look at
    kept: list[tuple[Expression, str, tuple[Place, ...]]] = []
    for (number, places), special in zip(reversed(calls), reversed(made), strict=True):
        count = len(sizes[number])
        needs = tuple(
            special.everything(k) if space != WORK else needed.pop(at, 0) & special.variable(k)
            for k, (space, at) in enumerate(places[count:])
        )
        if not any(needs):
            continue
        expression, seen = special.for_needs(needs)
        for (space, at), bits in zip(places, seen, strict=False):
            if space == WORK:
                needed[at] = needed.get(at, 0) | bits
        kept.append((expression, special.name, places))
    return kept[::-1]
