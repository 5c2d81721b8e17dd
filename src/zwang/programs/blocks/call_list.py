"""Block programs as call lists: which kernel to call, in which order, on which part of memory.

Arguments are offsets, in numbers of one lane, into a few spaces: the arrays a program is called
with, and its work array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.codegen.expression import read
from zwang.codegen.kernel import Kernel, compile_expression
from zwang.programs.blocks.fold_constants import Constants, Special

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import casadi

    from zwang.codegen.expression import Expression

__all__ = [
    "OUT",
    "WORK",
    "CallList",
    "EncodedCalls",
    "P",
    "Place",
    "Q",
    "T",
    "V",
    "WorkArray",
    "offset_of",
    "place",
    "space_of",
]

#: Spaces: the arguments q, v, t, p of a program, its outputs, its work array.
Q, V, T, P, OUT, WORK = 0, 1, 2, 3, 4, 7
SPACES = 8

#: Blocks of the work array begin at multiples of so many numbers. More costs memory, and with it
#: time where a tape does not fit the fast one; less makes pairs of numbers straddle cache lines.
ALIGNED = 2

#: A stretch of memory, a space and an offset in it, as one number: see `place`. Tapes are long, and
#: numbers are written and collected faster than pairs of them.
Place = int


def place(space: int, offset: int) -> Place:
    """The stretch of a space that begins at an offset."""
    return offset * SPACES + space


def space_of(at: Place) -> int:
    """The space in which a stretch is."""
    return at % SPACES


def offset_of(at: Place) -> int:
    """Where in its space a stretch begins; of the work array, its number."""
    return at // SPACES


class WorkArray:
    """Names stretches of the work array; where they lie is decided when the tape is complete.

    Attributes
    ----------
    sizes : of the stretches, by number.
    """

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self._places: dict[Hashable, Place] = {}

    def at(self, what: Hashable, size: int) -> Place:
        """The stretch for something, by any name; its offset is a number for it."""
        found = self._places.get(what)
        if found is None:
            found = self._places[what] = self.new(size)
        return found

    def new(self, size: int) -> Place:
        """A stretch without a name."""
        self.sizes.append(-(-max(size, 1) // ALIGNED) * ALIGNED)
        return place(WORK, len(self.sizes) - 1)


class EncodedCalls:
    """A tape made ready to be played.

    Attributes
    ----------
    words : for each call a header, kernel·2¹⁶ + pattern, and the byte offset of each argument.
    headers : which of the words are headers.
    patterns : the spaces of the arguments of a call, in order.
    kernels : what is called; their addresses are in `addresses`.
    work_size : length of the work array, all lanes counted.
    """

    def __init__(
        self,
        words: np.ndarray,
        headers: np.ndarray,
        patterns: list[tuple[int, ...]],
        kernels: list[Kernel],
        work_size: int,
    ) -> None:
        assert max(len(patterns), len(kernels)) < 2**16
        self.words, self.headers, self.patterns = words, headers, patterns
        self.kernels, self.work_size = kernels, work_size
        self.addresses = np.array([kernel.address for kernel in kernels], dtype=np.int64)

    def then(self, other: EncodedCalls, outputs: int) -> EncodedCalls:
        """Play another tape after this one; its outputs come after so many of this one's."""
        words = other.words.copy()
        words[other.headers] += np.uint32(len(self.kernels) << 16 | len(self.patterns))
        patterns = [
            tuple(x + outputs if OUT <= x < WORK else x for x in own) for own in other.patterns
        ]
        return EncodedCalls(
            np.concatenate([self.words, words]),
            np.concatenate([self.headers, len(self.words) + other.headers]),
            self.patterns + patterns,
            self.kernels + other.kernels,
            max(self.work_size, other.work_size),
        )


class CallList:
    """Calls, collected and then made into a stream.

    Parameters
    ----------
    constants : entries of p that are known; then calls are made special, see `fold_constants`.
    shared : whether lanes have p in common.
    """

    def __init__(
        self, lanes: int, constants: Mapping[int, float] | None = None, *, shared: bool = False
    ) -> None:
        self.lanes, self.work = lanes, WorkArray()
        self._constants, self._shared = constants, shared
        self._calls: list[int] = []  # numbers of functions
        self._places: list[Place] = []  # arguments of one call after the other
        self._numbers: dict[int, int] = {}
        self._functions: list[casadi.Function] = []  # kept: their identity is a key
        self._counts: list[int] = []  # numbers of their arguments

    def call(self, function: casadi.Function, *places: Place) -> None:
        """Add a call."""
        number = self._numbers.get(id(function))
        if number is None:
            number = self._numbers[id(function)] = len(self._functions)
            self._functions.append(function)
            self._counts.append(len(places))
        self._calls.append(number)
        self._places += places

    def stream(self) -> EncodedCalls:
        """The tape ready to be played."""
        if self._constants is None:
            expressions = [read(f) for f in self._functions]
            names = [f.name() for f in self._functions]
            calls, places = self._calls, self._places
        else:
            expressions, names, calls, places = self._special(self._constants)
        counts = np.array([len(e.inputs) + len(e.outputs) for e in expressions], dtype=np.int64)
        own = counts[calls] if calls else np.zeros(0, dtype=np.int64)
        at, owners = np.array(places, dtype=np.int64), np.repeat(np.arange(len(calls)), own)
        spaces = at % SPACES
        headers, patterns, kernels = self._headers(expressions, names, calls, own, spaces)
        offsets, scratch = self._placed(at, spaces, owners)
        width = 8 * self.lanes
        offsets *= np.where(spaces == P, 8, width) if self._shared else width
        # A word before the arguments of each call, and one after them.
        words = np.full(len(at) + 2 * len(calls), scratch * width, dtype=np.int64)
        words[np.arange(len(at)) + 2 * owners + 1] = offsets
        firsts = np.cumsum(own) - own + 2 * np.arange(len(calls))
        words[firsts] = headers
        assert words.max(initial=0) < 2**32
        needed = max((kernel.work_size for kernel in kernels), default=0)
        work_size = (scratch + ALIGNED) * self.lanes + needed
        return EncodedCalls(words.astype(np.uint32), firsts, patterns, kernels, work_size)

    def _headers(
        self,
        expressions: list[Expression],
        names: list[str],
        calls: list[int],
        counts: np.ndarray,
        spaces: np.ndarray,
    ) -> tuple[list[int], list[tuple[int, ...]], list[Kernel]]:
        """The header of each call, and the patterns and kernels they tell of.

        Parameters
        ----------
        calls, counts : for each call the number of its expression, and of its arguments.
        spaces : of the arguments of all calls.
        """
        kernels: list[Kernel] = []
        numbers: dict[tuple[int, tuple[int, ...]], int] = {}
        patterns: dict[bytes, int] = {}
        known: dict[tuple[int, bytes], int] = {}
        headers, start, letters = [], 0, spaces.astype(np.uint8).tobytes()
        for call, count in zip(calls, counts.tolist(), strict=True):
            pattern = letters[start : start + count]
            start += count
            header = known.get((call, pattern))
            if header is None:
                expression, common = expressions[call], ()
                if self._shared:
                    given = enumerate(pattern[: len(expression.inputs)])
                    common = tuple(k for k, space in given if space == P)
                number = numbers.setdefault((call, common), len(kernels))
                if number == len(kernels):
                    choices = {"lanes": self.lanes, "shared": common, "name": names[call]}
                    kernels.append(compile_expression(expression, **choices))
                header = number << 16 | patterns.setdefault(pattern, len(patterns))
                known[call, pattern] = header
            headers.append(header)
        return headers, [tuple(pattern) for pattern in patterns], kernels

    def _placed(
        self, at: np.ndarray, spaces: np.ndarray, owners: np.ndarray
    ) -> tuple[np.ndarray, int]:
        """Offsets of all arguments, and of the stretch that kernels use as their own.

        A stretch is taken at its first call and given back after its last one, so that what lives
        for a moment stays in the fastest memory, however long the tape is.
        """
        offsets = at // SPACES
        used = np.flatnonzero(spaces == WORK)
        numbers, calls = offsets[used], owners[used]
        first, last = (np.full(len(self.work.sizes), -1) for _ in range(2))
        last[numbers] = calls  # the last of several values stays
        first[numbers[::-1]] = np.arange(len(used))[::-1]
        taken = np.argsort(first, kind="stable")
        taken = taken[first[taken] >= 0]
        over = taken[np.argsort(last[taken], kind="stable")]
        sizes, size, lies = self.work.sizes, 0, np.zeros(len(self.work.sizes), dtype=np.int64)
        free: dict[int, list[int]] = {}
        where: dict[int, int] = {}
        given_back = iter(zip(over.tolist(), last[over].tolist(), strict=True))
        gone, until = next(given_back, (-1, len(at)))
        for number, call in zip(taken.tolist(), calls[first[taken]].tolist(), strict=True):
            while until < call:
                free.setdefault(sizes[gone], []).append(where[gone])
                gone, until = next(given_back)
            own = sizes[number]
            if free.get(own):
                where[number] = free[own].pop()
            else:
                where[number] = size
                size += own
        lies[taken] = [where[number] for number in taken.tolist()]
        offsets[used] = lies[numbers]
        return offsets, size

    def _special(
        self, constants: Mapping[int, float]
    ) -> tuple[list[Expression], list[str], list[int], list[Place]]:
        """What is left of the calls: expressions, their names, which are called, and on what."""
        calls, end = [], 0
        for number in self._calls:
            start, end = end, end + self._counts[number]
            calls.append((number, tuple(self._places[start:end])))
        numbers: dict[int, int] = {}
        expressions: list[Expression] = []
        names: list[str] = []
        kept: list[int] = []
        places: list[Place] = []
        for expression, name, own in _special(self._functions, calls, constants):
            number = numbers.setdefault(id(expression), len(expressions))
            if number == len(expressions):
                expressions.append(expression)
                names.append(name)
            kept.append(number)
            places += own
        return expressions, names, kept, places


def _special(
    functions: list[casadi.Function],
    calls: list[tuple[int, tuple[Place, ...]]],
    constants: Mapping[int, float],
) -> list[tuple[Expression, str, tuple[Place, ...]]]:
    """The calls that are needed, each with what is left of its function, see `fold_constants`."""
    sizes = [[f.nnz_in(k) for k in range(f.n_in())] for f in functions]
    found: dict[tuple[int, tuple[Constants, ...]], Special] = {}
    known: dict[int, Constants] = {}  # of the stretches of the work array, as they are by now

    def entries(where: Place, size: int) -> Constants:
        space, at = space_of(where), offset_of(where)
        if space == WORK:
            return known.get(where, ())
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
        for at, values in zip(places[len(given) :], special.constants, strict=True):
            if space_of(at) == WORK:
                known[at] = values
    needed: dict[int, int] = {}  # bits of the entries that later calls look at
    kept: list[tuple[Expression, str, tuple[Place, ...]]] = []
    for (number, places), special in zip(reversed(calls), reversed(made), strict=True):
        count = len(sizes[number])
        needs = tuple(
            needed.pop(at, 0) & special.variable(k)
            if space_of(at) == WORK
            else special.everything(k)
            for k, at in enumerate(places[count:])
        )
        if not any(needs):
            continue
        expression, seen = special.for_needs(needs)
        for at, bits in zip(places, seen, strict=False):
            if space_of(at) == WORK:
                needed[at] = needed.get(at, 0) | bits
        kept.append((expression, special.name, places))
    return kept[::-1]
