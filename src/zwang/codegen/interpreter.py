"""An interpreter of expressions: machine code that is compiled once a machine, for all kernels.

A kernel that was never compiled runs here at once, until its own machine code is ready (see
`zwang.codegen.background`). The cases of the interpreter are written by the same functions as
compiled kernels, and instructions come from the same passes, so that both give the same bits.

An instruction is five numbers of 32 bits: the case, and byte offsets into the work array of the
result and of up to three operands. Inputs and constants are copied there first, outputs last; the
second result of ``sincos`` takes the place of the third operand.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zwang.codegen import cache as disk
from zwang.codegen.emit import ENTRY_POINT, FORMS, prepared
from zwang.codegen.instruction_passes import FIRST_OPERATION, NUMBER_OF_ARGUMENTS, take_places
from zwang.codegen.operations import ARITIES, NAMES
from zwang.codegen.schedule import SINES
from zwang.codegen.trigonometry import sine_and_cosine
from zwang.codegen.writer import InstructionWriter

if TYPE_CHECKING:
    from zwang.codegen.expression import Expression
    from zwang.codegen.llvm import LoadedCode

__all__ = ["Bytecode", "encode", "interpreter"]

_WORDS = 5  # of an instruction
#: Cases besides the operations; ``load`` and ``store`` name an array and an offset in it.
_MOVES = ("end", "load", "load_shared", "constant", "store", "sincos")
_CASES = (*_MOVES, *NAMES[FIRST_OPERATION:])
_NUMBERS = {name: number for number, name in enumerate(_CASES)}
_MOVE_CASES = np.array(
    [*(_NUMBERS[name] for name in ("load", "load_shared", "constant", "sincos")), len(_MOVES)]
)


class Bytecode(NamedTuple):
    """Instructions of a kernel, ready to be run.

    Attributes
    ----------
    code : five numbers for each instruction, the last of which says that it ends.
    constants : numbers that the code refers to.
    slots : places of the work array, each one number for each lane.
    operations : how many instructions compute.
    """

    code: np.ndarray
    constants: np.ndarray
    slots: int
    operations: int


def encode(expression: Expression, *, lanes: int, fma: bool, shared: frozenset[int]) -> Bytecode:
    """Instructions of an expression; a place is used again when its value is done with."""
    expression = prepared(expression, fma=fma)
    code, targets, width = expression.code, expression.targets, 8 * lanes
    n = len(code)
    last, places, free = np.full((3, n), -1)
    last[targets[:, 2]] = n
    common = np.zeros(len(expression.inputs), dtype=bool)
    common[list(shared)] = True
    # The last row says that the code ends.
    words, sizes = np.zeros((n + len(targets) + 1, _WORDS), dtype=np.int64), np.zeros(3, dtype=int)
    arguments = last, _MOVE_CASES, common, width, places, free, words, sizes
    take_places(code, NUMBER_OF_ARGUMENTS, *arguments)
    operations, slots, _ = sizes.tolist()
    stores = words[operations : operations + len(targets)]
    stores[:, 0], stores[:, 1] = _NUMBERS["store"], targets[:, 0]
    stores[:, 2], stores[:, 3] = places[targets[:, 2]] * width, targets[:, 1] * width
    constants = np.array(expression.constants or (0.0,), dtype=float)
    whole = words[: operations + len(targets) + 1].astype(np.uint32).ravel()
    return Bytecode(whole, constants, slots, operations)


_loaded: dict[tuple[int, str], LoadedCode] = {}


def interpreter(lanes: int) -> LoadedCode:
    """The interpreter for a lane width, from the cache or compiled now.

    In C it is ``void interpret(double **inputs, double **outputs, double *work, const double
    *constants, const uint32_t *code)``.
    """
    from zwang.codegen.llvm import host, is_object_code, load, object_code

    machine = host()
    known = _loaded.get((lanes, machine.identity))
    if known is None:
        version = disk.source_digest(Path(__file__).parent)
        parts = f"interpreter {lanes} {machine.identity} {version}"
        key = hashlib.sha256(parts.encode()).hexdigest()
        code = disk.load(disk.LOOPS, key, is_object_code)
        if code is None:
            code = object_code(_assembly(lanes, fma=machine.fma))
            disk.save(disk.LOOPS, key, code)
        known = _loaded[lanes, machine.identity] = load(code)
    return known


def _assembly(lanes: int, *, fma: bool) -> str:
    """LLVM assembly of the interpreter."""
    writer = InstructionWriter(lanes=lanes, fma=fma)
    labels = [f"label %case{k}" for k in range(len(_CASES))]
    table = ", ".join(f"ptr blockaddress(@{ENTRY_POINT}, %case{k})" for k in range(len(_CASES)))
    arrivals = ", ".join(f"[ %after, %done{k} ]" for k in range(1, len(_CASES)))
    lines = [
        f"@cases = private constant [{len(_CASES)} x ptr] [{table}]",
        f"define void @{ENTRY_POINT}(ptr %inputs, ptr %outputs, ptr noalias %work, "  # noqa: ISC004 - one line of LLVM
        "ptr noalias readonly %constants, ptr noalias readonly %code) nounwind {",
        "start:",
        "br label %next",
        "next:",
        f"%at = phi ptr [ %code, %start ], {arrivals}",
        "%case = load i32, ptr %at, align 4",
    ]
    for k, name in enumerate(("d", "a", "b", "c")):
        lines += [
            f"%at_{name} = getelementptr inbounds i32, ptr %at, i64 {k + 1}",
            f"%word_{name} = load i32, ptr %at_{name}, align 4",
            f"%{name}_offset = zext i32 %word_{name} to i64",
            f"%{name} = getelementptr inbounds i8, ptr %work, i64 %{name}_offset",
        ]
    lines += [
        f"%after = getelementptr inbounds i32, ptr %at, i64 {_WORDS}",
        "%jump = getelementptr inbounds ptr, ptr @cases, i32 %case",
        "%target = load ptr, ptr %jump",
        f"indirectbr ptr %target, [{', '.join(labels)}]",
        "case0:",
        "ret void",
    ]
    for number, name in enumerate(_CASES[1:], 1):
        writer.begin(f"case{number}")
        _write_case(writer, name)
        lines += [f"case{number}:", *writer.lines, f"br label %done{number}"]
        lines += [f"done{number}:", "br label %next"]
    return "\n".join([*lines, "}", *writer.extras()]) + "\n"


def _write_case(w: InstructionWriter, name: str) -> None:
    """The body of one case."""
    if name in {"load", "load_shared"}:
        at = w.element("%inputs", "%a_offset", "%b_offset")
        w.store("%d", 0, w.load(at, 0) if name == "load" else w.load_shared(at, 0))
    elif name == "constant":
        w.store("%d", 0, w.load_shared(w.offset("%constants", "%a_offset"), 0))
    elif name == "store":
        w.store(w.element("%outputs", "%d_offset", "%b_offset"), 0, w.load("%a", 0))
    elif name == "sincos":
        found = sine_and_cosine(w, w.load("%a", 0), SINES)
        w.store("%d", 0, found["sin"])
        w.store("%c", 0, found["cos"])
    elif name in SINES:
        w.store("%d", 0, sine_and_cosine(w, w.load("%a", 0), frozenset([name]))[name])
    else:
        x = [w.load(f"%{letter}", 0) for letter in "abc"[: ARITIES[name]]]
        form = FORMS.get(name)
        w.store("%d", 0, form(w, *x) if form else w.library(name, *x))
