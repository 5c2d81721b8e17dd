"""Playing a tape: machine code that walks its tables and calls kernel after kernel.

The code has the signature of any kernel, so that integrators see no difference. It holds the
addresses of its tables; a call costs loading its offsets and one jump.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zwang.engine.blocks.tape import ARITIES, SPACES, WORK
from zwang.kernels.element import Kernel
from zwang.kernels.emit import ENTRY_POINT
from zwang.kernels.expression import Port
from zwang.kernels.llvm import load, object_code

if TYPE_CHECKING:
    import numpy as np

__all__ = ["TapeKernel"]


class TapeKernel(Kernel):
    """A kernel that plays a tape; the same interface as any other."""

    def __init__(
        self,
        name: str,
        inputs: tuple[Port, ...],
        outputs: tuple[Port, ...],
        lanes: int,
        work_size: int,
        tables: tuple[np.ndarray, np.ndarray, list[Kernel]],
    ) -> None:
        self._tables = tables  # kept alive: the code holds their addresses
        code = load(object_code(_player(len(inputs), len(outputs), *tables[:2])))
        ports: Any = _Ports(inputs, outputs)
        loaded: Any = _Loaded(code, work_size)
        super().__init__(name, ports, lanes, loaded)


class _Ports:
    """Inputs and outputs, as a kernel asks for them."""

    def __init__(self, inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> None:
        self.inputs, self.outputs = inputs, outputs


class _Loaded:
    """Code in memory and what it needs, as a kernel asks for them."""

    def __init__(self, loaded: object, work_size: int) -> None:
        self.loaded, self.work_size, self.compiled = loaded, work_size, True


def _player(inputs: int, outputs: int, groups: np.ndarray, entries: np.ndarray) -> str:
    """LLVM assembly of the loop over groups and calls."""
    spaces = [*range(inputs), *(4 + k for k in range(outputs)), WORK]
    parameters = ", ".join(f"ptr %a{space}" for space in spaces)
    lines = [
        f"define void @{ENTRY_POINT}({parameters}) nounwind {{",
        "start:",
        f"  %bases = alloca [{SPACES} x ptr], align 16",
    ]
    for space in spaces:
        lines += [
            f"  %b{space} = getelementptr [{SPACES} x ptr], ptr %bases, i64 0, i64 {space}",
            f"  store ptr %a{space}, ptr %b{space}",
        ]
    lines += [
        f"  %groups = inttoptr i64 {groups.ctypes.data} to ptr",
        f"  %entries = inttoptr i64 {entries.ctypes.data} to ptr",
        "  br label %group",
        "group:",
        "  %g = phi i64 [ 0, %start ], [ %g_next, %end ]",
        f"  %more = icmp ult i64 %g, {len(groups)}",
        "  br i1 %more, label %read, label %finish",
        "read:",
        "  %row = shl i64 %g, 2",
    ]
    for k, name in enumerate(("address", "count", "arity", "first")):
        lines += [
            f"  %row{k} = add i64 %row, {k}",
            f"  %at{k} = getelementptr i64, ptr %groups, i64 %row{k}",
            f"  %{name} = load i64, ptr %at{k}",
        ]
    cases = " ".join(f"i64 {arity}, label %loop{arity}" for arity in ARITIES)
    lines += [
        "  %kernel = inttoptr i64 %address to ptr",
        "  %top = getelementptr i64, ptr %entries, i64 %first",
        f"  switch i64 %arity, label %end [ {cases} ]",
    ]
    for arity in ARITIES:
        lines += _loop(arity)
    lines += [
        "end:",
        "  %g_next = add i64 %g, 1",
        "  br label %group",
        "finish:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _loop(arity: int) -> list[str]:
    """The calls of one group, with so many arguments each."""
    n = arity
    lines = [
        f"loop{n}:",
        f"  %i{n} = phi i64 [ 0, %read ], [ %next{n}, %loop{n} ]",
        f"  %e{n} = phi ptr [ %top, %read ], [ %after{n}, %loop{n} ]",
    ]
    pointers = []
    for k in range(n):
        x = f"{n}_{k}"
        lines += [
            f"  %p{x} = getelementptr i64, ptr %e{n}, i64 {k}",
            f"  %x{x} = load i64, ptr %p{x}",
            f"  %s{x} = and i64 %x{x}, {SPACES - 1}",
            f"  %o{x} = and i64 %x{x}, -{SPACES}",
            f"  %q{x} = getelementptr [{SPACES} x ptr], ptr %bases, i64 0, i64 %s{x}",
            f"  %b{x} = load ptr, ptr %q{x}",
            f"  %r{x} = getelementptr i8, ptr %b{x}, i64 %o{x}",
        ]
        pointers.append(f"ptr %r{x}")
    lines += [
        f"  call void %kernel({', '.join(pointers)})",
        f"  %next{n} = add i64 %i{n}, 1",
        f"  %after{n} = getelementptr i64, ptr %e{n}, i64 {n}",
        f"  %more{n} = icmp ult i64 %next{n}, %count",
        f"  br i1 %more{n}, label %loop{n}, label %end",
    ]
    return lines
