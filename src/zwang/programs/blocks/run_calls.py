"""Block programs: machine code that runs a call list, kernel after kernel.

The code has the signature of any kernel, so that integrators see no difference. A call costs a jump
to the code of its pattern, an addition for each argument, and the call itself.

What a player is given is what the interpreter of kernels is given (`zwang.codegen.interpreter`):
arrays, the table of kernels in place of constants, and words. So a tape needs no code of its own.
One player, compiled once a machine, looks up the pattern of each call in a table; one for the
patterns of a tape is compiled in the background and takes its place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zwang.codegen import cache as disk
from zwang.codegen.background import enqueue
from zwang.codegen.call import call
from zwang.codegen.emit import ENTRY_POINT
from zwang.codegen.environment import in_background
from zwang.codegen.glue import GlueKernel
from zwang.codegen.machine_code import LoopJob
from zwang.programs.blocks.call_list import OUT, WORK, EncodedCalls, P

if TYPE_CHECKING:
    from zwang.codegen.expression import Port
    from zwang.codegen.llvm import LoadedCode
    from zwang.codegen.machine_code import MachineCode

__all__ = ["CallListKernel"]

#: Arguments of a call, the work array among them, that the player for all patterns knows.
MOST_ARGUMENTS = 32
#: In place of a header, after the last call.
_END = np.array([2**32 - 1], dtype=np.uint32)


class CallListKernel(GlueKernel):
    """A kernel that plays a tape; the same interface as any other.

    Parameters
    ----------
    shared : whether lanes have the parameters in common.
    """

    def __init__(
        self,
        name: str,
        inputs: tuple[Port, ...],
        outputs: tuple[Port, ...],
        lanes: int,
        stream: EncodedCalls,
        *,
        shared: bool = False,
    ) -> None:
        sizes = len(inputs), len(outputs)
        super().__init__(
            name,
            (inputs, outputs),
            lambda: self._playing(sizes, stream),
            _in_python(*sizes, stream),
            stream.work_size,
            lanes=lanes,
            shared=frozenset([P] if shared else []),
        )

    def _playing(self, sizes: tuple[int, int], stream: EncodedCalls) -> LoadedCode:
        """The player at work on a tape."""
        from zwang.codegen.llvm import LoadedCode

        self._tape = PlayedTape(sizes, stream)
        return LoadedCode(self._tape.address, self._tape)


class PlayedTape:
    """An entry point that plays a tape, by the player for all patterns or by one for its own."""

    def __init__(self, sizes: tuple[int, int], stream: EncodedCalls) -> None:
        from zwang.codegen.entry_slots import EntrySlot
        from zwang.codegen.llvm import host, load

        rows = _pattern_rows(*sizes, stream.patterns)
        table = np.array([rows.ctypes.data, *stream.addresses], dtype=np.int64)
        words = np.concatenate([stream.words, _END])
        self._kept, self._length = (stream, rows), len(words)
        text = _player(stream.patterns)
        key = hashlib.sha256(f"player {text} {host().identity}".encode()).hexdigest()
        job = LoopJob(text, key, disk.KERNELS)
        longest = max(map(len, stream.patterns), default=0) + 1
        made = job.done()
        if made is None and not (in_background() and longest <= MOST_ARGUMENTS):
            made = job.make()
        player = player_of_all_patterns() if made is None else load(made.code)
        self._slot = EntrySlot.interpreting(_Tape(words, table), player, *sizes)
        self.address = self._slot.address
        if made is None:
            enqueue(self, job)

    @property
    def operations_done(self) -> float:
        """About how many arguments were looked up so far."""
        return float(self._slot.calls * self._length)

    def exchange(self, made: MachineCode) -> None:
        """Play by the player for the patterns of this tape from now on."""
        from zwang.codegen.llvm import load

        self._slot.interpret_by(load(made.code))


class _Tape(NamedTuple):
    """Words and the table of kernels, as an entry point is given them."""

    code: np.ndarray
    constants: np.ndarray


def _pattern_rows(inputs: int, outputs: int, patterns: list[tuple[int, ...]]) -> np.ndarray:
    """Number of arguments of each pattern, and which of the arguments of the kernel they are in."""
    places = {space: k for k, space in enumerate(_spaces(inputs, outputs))}
    rows = np.zeros((max(len(patterns), 1), MOST_ARGUMENTS + 1), dtype=np.uint32)
    for k, pattern in enumerate(patterns):
        own = [places[space] for space in (*pattern, WORK)][:MOST_ARGUMENTS]
        rows[k, : len(own) + 1] = len(own), *own
    return rows


def _spaces(inputs: int, outputs: int) -> list[int]:
    """The spaces that the arguments of the kernel are."""
    return [*range(inputs), *(OUT + k for k in range(outputs)), WORK]


def _in_python(inputs: int, outputs: int, stream: EncodedCalls) -> Callable[..., None]:
    """What the kernel does, call after call, where LLVM is not used."""
    spaces = _spaces(inputs, outputs)

    @cache
    def calls() -> list[tuple[int, list[tuple[int, int]]]]:
        """Address of the kernel and, for each argument, its space and offset."""
        words, found, at = stream.words.tolist(), [], 0
        while at < len(words):
            number, pattern = words[at] >> 16, (*stream.patterns[words[at] & 0xFFFF], WORK)
            end = at + 1 + len(pattern)
            arguments = list(zip(pattern, words[at + 1 : end], strict=True))
            found.append((stream.kernels[number].address, arguments))
            at = end
        return found

    def plain(*pointers: int) -> None:
        bases = {space: at or 0 for space, at in zip(spaces, pointers, strict=True)}  # None: null
        for address, arguments in calls():
            call(address, *(bases[space] + offset for space, offset in arguments))

    return plain


_HEAD = (
    f"define void @{ENTRY_POINT}(ptr %inputs, ptr %outputs, ptr %work, ptr %table, ptr %words) "
    "nounwind {"
)
#: The kernel of a call; the first entry of the table is not one.
_KERNEL = [
    "  %number = lshr i32 %header, 16",
    "  %entry = add i32 %number, 1",
    "  %slot = getelementptr ptr, ptr %table, i32 %entry",
    "  %kernel = load ptr, ptr %slot",
    "  %pattern = and i32 %header, 65535",
]


def _player(patterns: list[tuple[int, ...]]) -> str:
    """LLVM assembly of the loop over the words of a tape; one case for each pattern."""
    lines = [_HEAD, "start:"]
    for space in sorted({space for pattern in patterns for space in pattern} - {WORK}):
        array, k = ("inputs", space) if space < OUT else ("outputs", space - OUT)
        lines += [
            f"  %at{space} = getelementptr ptr, ptr %{array}, i64 {k}",
            f"  %b{space} = load ptr, ptr %at{space}",
        ]
    cases = range(len(patterns))
    arrivals = "".join(f", [ %w{k}, %case{k} ]" for k in cases)
    jumps = " ".join(f"i32 {k}, label %case{k}" for k in cases)
    lines += [
        "  br label %call",
        "call:",
        f"  %w = phi ptr [ %words, %start ]{arrivals}",
        "  %header = load i32, ptr %w",
        "  %over = icmp eq i32 %header, -1",
        "  br i1 %over, label %finish, label %read",
        "read:",
        *_KERNEL,
        f"  switch i32 %pattern, label %finish [ {jumps} ]",
    ]
    for k, pattern in enumerate(patterns):
        lines.append(f"case{k}:")
        arguments = []
        for i, space in enumerate([*pattern, WORK]):
            x = f"{k}_{i}"
            base = "%work" if space == WORK else f"%b{space}"
            lines += [
                f"  %p{x} = getelementptr i32, ptr %w, i64 {i + 1}",
                f"  %o{x} = load i32, ptr %p{x}",
                f"  %z{x} = zext i32 %o{x} to i64",
                f"  %r{x} = getelementptr i8, ptr {base}, i64 %z{x}",
            ]
            arguments.append(f"ptr %r{x}")
        lines += [
            f"  call void %kernel({', '.join(arguments)})",
            f"  %w{k} = getelementptr i32, ptr %w, i64 {len(pattern) + 2}",
            "  br label %call",
        ]
    lines += ["finish:", "  ret void", "}"]
    return "\n".join(lines) + "\n"


@cache
def _loaded_player(text: str, identity: str) -> LoadedCode:
    """The player for all patterns, from the cache on disk where it is there."""
    from zwang.codegen.llvm import load

    key = hashlib.sha256(f"player {text} {identity}".encode()).hexdigest()
    job = LoopJob(text, key)
    return load((job.done() or job.make()).code)


def player_of_all_patterns() -> LoadedCode:
    """The player that looks up patterns in the table of a tape."""
    from zwang.codegen.llvm import host

    return _loaded_player(_general_player(), host().identity)


@cache
def _general_player() -> str:
    """LLVM assembly of the player for all patterns; one case for each number of arguments."""
    counts = range(1, MOST_ARGUMENTS + 1)
    jumps = " ".join(f"i32 {k}, label %case{k}" for k in counts)
    lines = [
        _HEAD,
        "start:",
        f"  %given = alloca [{MOST_ARGUMENTS} x ptr], align 16",
        "  %patterns = load ptr, ptr %table",
        "  br label %call",
        "call:",
        f"  %w = phi ptr [ %words, %start ]{''.join(f', [ %after, %case{k} ]' for k in counts)}",
        "  %header = load i32, ptr %w",
        "  %over = icmp eq i32 %header, -1",
        "  br i1 %over, label %finish, label %read",
        "read:",
        *_KERNEL,
        f"  %row = mul i32 %pattern, {MOST_ARGUMENTS + 1}",
        "  %places = getelementptr i32, ptr %patterns, i32 %row",
        "  %count = load i32, ptr %places",
        "  br label %argument",
        "argument:",
        "  %i = phi i32 [ 0, %read ], [ %next, %argument ]",
        "  %next = add i32 %i, 1",
        "  %at_place = getelementptr i32, ptr %places, i32 %next",
        "  %place = load i32, ptr %at_place",
        "  %at_base = getelementptr ptr, ptr %inputs, i32 %place",
        "  %base = load ptr, ptr %at_base",
        "  %at_offset = getelementptr i32, ptr %w, i32 %next",
        "  %offset = load i32, ptr %at_offset",
        "  %far = zext i32 %offset to i64",
        "  %address = getelementptr i8, ptr %base, i64 %far",
        "  %at_given = getelementptr ptr, ptr %given, i32 %i",
        "  store ptr %address, ptr %at_given",
        "  %more = icmp ult i32 %next, %count",
        "  br i1 %more, label %argument, label %ready",
        "ready:",
        "  %length = add i32 %count, 1",
        "  %after = getelementptr i32, ptr %w, i32 %length",
        f"  switch i32 %count, label %finish [ {jumps} ]",
    ]
    for k in counts:
        lines.append(f"case{k}:")
        for i in range(k):
            x = f"{k}_{i}"
            lines += [
                f"  %at{x} = getelementptr ptr, ptr %given, i32 {i}",
                f"  %a{x} = load ptr, ptr %at{x}",
            ]
        arguments = ", ".join(f"ptr %a{k}_{i}" for i in range(k))
        lines += [f"  call void %kernel({arguments})", "  br label %call"]
    lines += ["finish:", "  ret void", "}"]
    return "\n".join(lines) + "\n"
