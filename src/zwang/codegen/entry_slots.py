"""Entry points whose code can be exchanged while their addresses stay.

A kernel that is not compiled yet needs an address at once: of a few instructions that jump to
where a variable says. First that is the interpreter with the kernel's bytecode, later the compiled
kernel. Changing the variable is one write of eight bytes, which running code sees as a whole, so
that it may happen at any time, in any thread, in the middle of a step: both give the same bits.

Such entry points are made by the dozen: one object file has `COUNT` of them for one number of
arguments, and is in the cache like a time loop.
"""

from __future__ import annotations

import ctypes
import hashlib
import threading
from typing import TYPE_CHECKING, Any, Protocol

from zwang.codegen import cache as disk

if TYPE_CHECKING:
    import numpy as np

    from zwang.codegen.llvm import LoadedCode

__all__ = ["EntrySlot"]

#: Entry points in one object file.
COUNT = 16
_FIELDS = 4  # of the data of an entry point: interpreter, constants, code, number of calls
_lock = threading.Lock()
#: Entry points that nobody uses yet, by number of inputs and outputs and by processor.
_unused: dict[tuple[int, int, str], list[EntrySlot]] = {}


class _InterpreterInput(Protocol):
    """Bytecode, or something else that an interpreter is given: two arrays."""

    @property
    def code(self) -> np.ndarray: ...
    @property
    def constants(self) -> np.ndarray: ...


class EntrySlot:
    """An entry point.

    Attributes
    ----------
    address : to call; good for as long as this object lives.
    """

    def __init__(self, addresses: tuple[int, int, int], owner: object) -> None:
        self.address, target, data = addresses
        self._target = ctypes.c_void_p.from_address(target)
        self._data = (ctypes.c_void_p * _FIELDS).from_address(data)
        self._kept: list[Any] = [owner]

    @classmethod
    def interpreting(
        cls, bytecode: _InterpreterInput, interpreter: LoadedCode, inputs: int, outputs: int
    ) -> EntrySlot:
        """A new one, with so many arguments besides the work array, that runs some bytecode."""
        slot = _taken(inputs, outputs)
        slot.interpret(bytecode, interpreter)
        return slot

    def interpret(self, bytecode: _InterpreterInput, interpreter: LoadedCode) -> None:
        """Run some bytecode."""
        self._data[0] = interpreter.address
        self._data[1] = bytecode.constants.ctypes.data
        self._data[2] = bytecode.code.ctypes.data
        self._kept += [bytecode, interpreter]

    def interpret_by(self, interpreter: LoadedCode) -> None:
        """Run the same bytecode by another interpreter from now on."""
        self._kept.append(interpreter)
        self._data[0] = interpreter.address

    @property
    def calls(self) -> int:
        """How often bytecode was run."""
        return self._data[_FIELDS - 1] or 0

    def point_to(self, code: LoadedCode) -> None:
        """From now on run compiled code; what ran before stays valid for calls under way."""
        self._kept.append(code)
        self._target.value = code.address


def _taken(inputs: int, outputs: int) -> EntrySlot:
    """An unused entry point."""
    from zwang.codegen.llvm import host, is_object_code, load_names, object_code

    with _lock:
        kind = inputs, outputs, host().identity
        unused = _unused.setdefault(kind, [])
        if not unused:
            text = _assembly(inputs, outputs)
            key = hashlib.sha256(f"entry points {text} {kind}".encode()).hexdigest()
            code = disk.load(disk.LOOPS, key, is_object_code)
            if code is None:
                code = object_code(text)
                disk.save(disk.LOOPS, key, code)
            names = [f"{what}{k}" for k in range(COUNT) for what in ("entry", "target", "data")]
            found, owner = load_names(code, names)
            unused += [
                EntrySlot((found[3 * k], found[3 * k + 1], found[3 * k + 2]), owner)
                for k in range(COUNT)
            ]
        return unused.pop()


def _assembly(inputs: int, outputs: int) -> str:
    """LLVM assembly of `COUNT` entry points."""
    count = inputs + outputs + 1
    parameters = ", ".join(f"ptr %a{k}" for k in range(count))
    lines = []
    for k in range(COUNT):
        lines += [
            f"@target{k} = global ptr @interpreted{k}",
            f"@data{k} = global [{_FIELDS} x ptr] zeroinitializer",
            f"define void @entry{k}({parameters}) nounwind {{",
            f"  %target = load atomic ptr, ptr @target{k} monotonic, align 8",
            f"  musttail call void %target({parameters})",
            "  ret void",
            "}",
            f"define internal void @interpreted{k}({parameters}) nounwind {{",
            f"  call void @interpreted({parameters}, ptr @data{k})",
            "  ret void",
            "}",
        ]
    last = _FIELDS - 1
    lines += [
        f"define internal void @interpreted({parameters}, ptr %data) noinline nounwind {{",
        f"  %arrays = alloca [{count} x ptr], align 16",
    ]
    for k in range(count):
        lines += [
            f"  %at{k} = getelementptr [{count} x ptr], ptr %arrays, i64 0, i64 {k}",
            f"  store ptr %a{k}, ptr %at{k}",
        ]
    for k, name in enumerate(("interpreter", "constants", "code")):
        lines += [
            f"  %at_{name} = getelementptr [{_FIELDS} x ptr], ptr %data, i64 0, i64 {k}",
            f"  %{name} = load ptr, ptr %at_{name}",
        ]
    lines += [
        f"  %at_calls = getelementptr [{_FIELDS} x ptr], ptr %data, i64 0, i64 {last}",
        "  %calls = load i64, ptr %at_calls",
        "  %more = add i64 %calls, 1",
        "  store i64 %more, ptr %at_calls",
        f"  call void %interpreter(ptr %at0, ptr %at{inputs}, ptr %a{count - 1}, "  # noqa: ISC004 - one line of LLVM
        "ptr %constants, ptr %code)",
        "  ret void",
        "}",
    ]
    return "\n".join(lines) + "\n"
