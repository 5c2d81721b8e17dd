"""Playing a tape: machine code that walks along its words and calls kernel after kernel.

The code has the signature of any kernel, so that integrators see no difference. A call costs a jump
to the code of its pattern, an addition for each argument, and the call itself.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from zwang.engine.blocks.tape import OUT, SPACES, WORK, P, Stream
from zwang.kernels import cache
from zwang.kernels.element import Kernel
from zwang.kernels.emit import ENTRY_POINT
from zwang.kernels.llvm import host, load, object_code

if TYPE_CHECKING:
    from zwang.kernels.expression import Port
    from zwang.kernels.llvm import LoadedCode

__all__ = ["Loaded", "Ports", "TapeKernel"]


class TapeKernel(Kernel):
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
        stream: Stream,
        *,
        shared: bool = False,
    ) -> None:
        player = _player(stream.patterns)
        self._kept = stream, player  # the code below holds their addresses
        code = load(object_code(_start(len(inputs), len(outputs), stream, player)))
        ports: Any = Ports(inputs, outputs)
        loaded: Any = Loaded(code, stream.work_size)
        super().__init__(name, ports, lanes, loaded, frozenset([P] if shared else []))


class Ports:
    """Inputs and outputs, as a kernel asks for them."""

    def __init__(self, inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> None:
        self.inputs, self.outputs = inputs, outputs


class Loaded:
    """Code in memory and what it needs, as a kernel asks for them."""

    def __init__(self, loaded: object, work_size: int) -> None:
        self.loaded, self.work_size, self.compiled = loaded, work_size, True


def _start(inputs: int, outputs: int, stream: Stream, player: LoadedCode) -> str:
    """LLVM assembly of the kernel: the player, with the addresses of this tape."""
    spaces = [*range(inputs), *(OUT + k for k in range(outputs)), WORK]
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
    code = cache.load(cache.KERNELS, key)
    if code is None:
        code = object_code(text)
        cache.save(cache.KERNELS, key, code)
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
