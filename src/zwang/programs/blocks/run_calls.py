"""Block programs: machine code that runs a call list, kernel after kernel.

The code has the signature of any kernel, so that integrators see no difference. A call costs a jump
to the code of its pattern, an addition for each argument, and the call itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from zwang.codegen import cache as disk
from zwang.codegen.call import call
from zwang.codegen.emit import ENTRY_POINT
from zwang.codegen.glue import GlueKernel
from zwang.codegen.llvm import host, is_object_code, load, object_code
from zwang.programs.blocks.call_list import OUT, SPACES, WORK, EncodedCalls, P

if TYPE_CHECKING:
    from zwang.codegen.expression import Port
    from zwang.codegen.llvm import LoadedCode

__all__ = ["CallListKernel"]


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
        self._kept: list[object] = [stream]  # the code below holds their addresses

        def assembly() -> str:
            player = _player(stream.patterns)
            self._kept.append(player)
            return _start(len(inputs), len(outputs), stream, player)

        super().__init__(
            name,
            (inputs, outputs),
            assembly,
            _in_python(len(inputs), len(outputs), stream),
            stream.work_size,
            lanes=lanes,
            shared=frozenset([P] if shared else []),
        )


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


def _start(inputs: int, outputs: int, stream: EncodedCalls, player: LoadedCode) -> str:
    """LLVM assembly of the kernel: the player, with the addresses of this tape."""
    spaces = _spaces(inputs, outputs)
    parameters = ", ".join(f"ptr %a{space}" for space in spaces)
    lines = [
        f"define void @{ENTRY_POINT}({parameters}) nounwind {{",
        f"  %bases = alloca [{SPACES} x ptr], align 16",
    ]
    for space in spaces:
        lines += [
            f"  %b{space} = getelementptr [{SPACES} x ptr], ptr %bases, i64 0, i64 {space}",
            f"  store ptr %a{space}, ptr %b{space}",
        ]
    first = stream.words.ctypes.data
    lines += [
        f"  %player = inttoptr i64 {player.address} to ptr",
        f"  %words = inttoptr i64 {first} to ptr",
        f"  %end = inttoptr i64 {first + stream.words.nbytes} to ptr",
        f"  %kernels = inttoptr i64 {stream.addresses.ctypes.data} to ptr",
        "  call void %player(ptr %bases, ptr %words, ptr %end, ptr %kernels)",
        "  ret void",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _player(patterns: list[tuple[int, ...]]) -> LoadedCode:
    """The loop for tapes with some patterns of calls, from the cache on disk where it is there."""
    text = _loop(patterns)
    key = hashlib.sha256(f"player {text} {host().identity}".encode()).hexdigest()
    code = disk.load(disk.KERNELS, key, is_object_code)
    if code is None:
        code = object_code(text)
        disk.save(disk.KERNELS, key, code)
    return load(code)


def _loop(patterns: list[tuple[int, ...]]) -> str:
    """LLVM assembly of the loop over the words of a tape; one case for each pattern."""
    used = sorted({WORK, *(space for pattern in patterns for space in pattern)})
    lines = [
        f"define void @{ENTRY_POINT}(ptr %bases, ptr %words, ptr %end, ptr %kernels) nounwind {{",
        "start:",
    ]
    for space in used:
        lines += [
            f"  %at{space} = getelementptr ptr, ptr %bases, i64 {space}",
            f"  %b{space} = load ptr, ptr %at{space}",
        ]
    cases = range(len(patterns))
    arrivals = "".join(f", [ %w{k}, %case{k} ]" for k in cases)
    jumps = " ".join(f"i32 {k}, label %case{k}" for k in cases)
    lines += [
        "  br label %call",
        "call:",
        f"  %w = phi ptr [ %words, %start ]{arrivals}",
        "  %more = icmp ult ptr %w, %end",
        "  br i1 %more, label %read, label %finish",
        "read:",
        "  %header = load i32, ptr %w",
        "  %number = lshr i32 %header, 16",
        "  %slot = getelementptr ptr, ptr %kernels, i32 %number",
        "  %kernel = load ptr, ptr %slot",
        "  %pattern = and i32 %header, 65535",
        f"  switch i32 %pattern, label %finish [ {jumps} ]",
    ]
    for k, pattern in enumerate(patterns):
        lines.append(f"case{k}:")
        arguments = []
        for i, space in enumerate([*pattern, WORK]):
            x = f"{k}_{i}"
            lines += [
                f"  %p{x} = getelementptr i32, ptr %w, i64 {i + 1}",
                f"  %o{x} = load i32, ptr %p{x}",
                f"  %z{x} = zext i32 %o{x} to i64",
                f"  %r{x} = getelementptr i8, ptr %b{space}, i64 %z{x}",
            ]
            arguments.append(f"ptr %r{x}")
        lines += [
            f"  call void %kernel({', '.join(arguments)})",
            f"  %w{k} = getelementptr i32, ptr %w, i64 {len(pattern) + 2}",
            "  br label %call",
        ]
    lines += ["finish:", "  ret void", "}"]
    return "\n".join(lines) + "\n"
