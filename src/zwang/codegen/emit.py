"""LLVM assembly for an expression, at any lane width.

A kernel is ``void kernel(const double *input…, double *output…, double *work)``. With L lanes each
entry of an array is L neighbouring numbers, and every instruction works on all of them. Inputs that
lanes share have one number for each entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from zwang.codegen.expression import StoreOutput
from zwang.codegen.schedule import SINES, contract, cut, gather_sines, share_reciprocals
from zwang.codegen.trigonometry import sine_and_cosine
from zwang.codegen.writer import InstructionWriter

if TYPE_CHECKING:
    from collections.abc import Callable

    from zwang.codegen.expression import Expression

__all__ = ["ENTRY_POINT", "FORMS", "KernelAssembly", "assemble", "prepared"]

ENTRY_POINT = "zwang_kernel"
CHUNK = 250  # operations; fewer cost running time (values cross), more cost compile time
#: Angles whose sines and cosines are computed at once in code of one lane. Measured: Bricard's
#: loop, with five angles, takes 187 ns with one, 172 ns with two or four and 206 ns with eight,
#: since vectors of eight keep the processor from scalar work beside them.
ANGLES = 4


class KernelAssembly(NamedTuple):
    """LLVM assembly of a kernel and the number of doubles its work array must hold."""

    text: str
    work_size: int


def assemble(
    expression: Expression,
    *,
    lanes: int,
    fma: bool,
    shared: frozenset[int] = frozenset(),
    chunk: int = CHUNK,
) -> KernelAssembly:
    """Write the kernel of an expression.

    Parameters
    ----------
    lanes : numbers in each entry; 1 writes scalar code.
    fma : the processor multiplies and adds in one instruction.
    shared : numbers of the inputs that all lanes have in common.
    chunk : operations in one internal function, about.
    """
    expression = prepared(expression, fma=fma)
    plan = cut(expression, chunk)
    writer = InstructionWriter(lanes=lanes, fma=fma)
    inputs = [f"%in{i}" for i in range(len(expression.inputs))]
    others = [*(f"%out{i}" for i in range(len(expression.outputs))), "%work"]
    parameters = ", ".join(
        [f"ptr noalias readonly {name}" for name in inputs]
        + [f"ptr noalias {name}" for name in others]
    )
    bodies = [
        _InstructionChunk(writer, expression, plan.slots, shared).write(chunk)
        for chunk in plan.chunks
    ]
    text: list[str] = []
    if len(bodies) > 1:
        arguments = ", ".join(f"ptr {name}" for name in inputs + others)
        for place, body in enumerate(bodies):
            head = f"define internal void @chunk{place}({parameters}) noinline nounwind {{"
            text.append("\n".join([head, "start:", *body, "ret void", "}"]))
        bodies = [[f"call void @chunk{k}({arguments})" for k in range(len(bodies))]]
    head = f"define void @{ENTRY_POINT}({parameters}) nounwind {{"
    text.append("\n".join([head, "start:", *bodies[0], "ret void", "}"]))
    text.extend(writer.extras())
    return KernelAssembly("\n".join(text) + "\n", plan.work_size * lanes)


def prepared(expression: Expression, *, fma: bool) -> Expression:
    """The operations that code does, in their order; all rounding is decided here."""
    expression = share_reciprocals(expression)
    return gather_sines(contract(expression) if fma else expression)


class _InstructionChunk:
    """The instructions of one chunk."""

    def __init__(
        self,
        writer: InstructionWriter,
        expression: Expression,
        slots: dict[int, int],
        shared: frozenset[int],
    ) -> None:
        self._writer, self._expression, self._slots = writer, expression, slots
        self._shared = shared
        self._names: dict[int, str] = {}  # value number → name or literal, in this chunk

    def write(self, chunk: tuple[int | StoreOutput, ...]) -> list[str]:
        """Lines of the chunk."""
        writer, names = self._writer, self._names
        writer.begin()
        for place, step in enumerate(chunk):
            if isinstance(step, StoreOutput):
                writer.store(f"%out{step.port}", step.entry, self._name(step.value))
                continue
            operation, arguments = self._expression.instructions[step]
            if operation in SINES:
                if step not in names:
                    self._write_sines(chunk[place:])
            else:
                form = FORMS.get(operation)
                x = [self._name(a) for a in arguments]
                names[step] = form(writer, *x) if form else writer.library(operation, *x)
            if step in self._slots:
                writer.store("%work", self._slots[step], names[step])
        return writer.lines

    def _name(self, value: int) -> str:
        """A value's name; what the chunk has not seen yet is loaded."""
        name = self._names.get(value)
        if name is None:
            operation, arguments = self._expression.instructions[value]
            if operation == "const":
                name = self._writer.constant(self._expression.constants[arguments[0]])
            elif operation == "input":
                port, entry = arguments
                read = self._writer.load_shared if port in self._shared else self._writer.load
                name = read(f"%in{port}", entry)
            else:
                name = self._writer.load("%work", self._slots[value])
            self._names[value] = name
        return name

    def _write_sines(self, steps: tuple[int | StoreOutput, ...]) -> None:
        """Write the sines and cosines that these steps begin with, as many as fit a vector."""
        writer, instructions = self._writer, self._expression.instructions
        most = ANGLES if writer.lanes == 1 else 1
        found: dict[int, dict[str, int]] = {}  # angle → which function → its value number
        for step in steps:
            if isinstance(step, StoreOutput):
                continue
            operation, (angle, *_) = instructions[step]
            nested = bool(found) and instructions[angle][0] in SINES
            full = angle not in found and len(found) == most
            if operation not in SINES or nested or full:
                break
            found.setdefault(angle, {})[operation] = step
        wanted = frozenset(which for values in found.values() for which in values)
        angles = [self._name(angle) for angle in found]
        if len(angles) == 1:
            results = [sine_and_cosine(writer, angles[0], wanted)]
        else:
            with writer.joined(angles) as x:
                vectors = sine_and_cosine(writer, x, wanted)
            parts = {which: writer.parts(v, len(angles)) for which, v in vectors.items()}
            results = [{which: part[k] for which, part in parts.items()} for k in range(len(found))]
        for values, result in zip(found.values(), results, strict=True):
            self._names.update({number: result[which] for which, number in values.items()})


def _truth(predicate: str) -> Callable[[InstructionWriter, str, str], str]:
    return lambda w, x, y: w.number(w.compare(predicate, x, y))


def _logic(instruction: str) -> Callable[[InstructionWriter, str, str], str]:
    def form(w: InstructionWriter, x: str, y: str) -> str:
        zero = w.constant(0.0)
        return w.number(w.logic(instruction, w.compare("une", x, zero), w.compare("une", y, zero)))

    return form


def _extreme(predicate: str) -> Callable[[InstructionWriter, str, str], str]:
    def form(w: InstructionWriter, x: str, y: str) -> str:
        # A not-a-number loses against a number, as in C.
        first = w.logic("or", w.compare(predicate, x, y), w.compare("uno", y, y))
        return w.select(first, x, y)

    return form


def _sign(w: InstructionWriter, x: str) -> str:
    # ±1; zeros and not-a-number stay as they are.
    one = w.intrinsic("copysign", w.constant(1.0), x)
    return w.select(w.compare("one", x, w.constant(0.0)), one, x)


def _if_else_zero(w: InstructionWriter, x: str, y: str) -> str:
    zero = w.constant(0.0)
    return w.select(w.compare("oeq", x, zero), zero, y)


# How operations are written. Those that are not here are functions of the C library.
FORMS: dict[str, Callable[..., str]] = {
    "add": lambda w, x, y: w.binary("fadd", x, y),
    "sub": lambda w, x, y: w.binary("fsub", x, y),
    "mul": lambda w, x, y: w.binary("fmul", x, y),
    "div": lambda w, x, y: w.binary("fdiv", x, y),
    "fma": lambda w, x, y, z: w.fma(x, y, z),
    "fms": lambda w, x, y, z: w.fma(x, y, w.negative(z)),
    "fnma": lambda w, x, y, z: w.fma(w.negative(x), y, z),
    "neg": lambda w, x: w.negative(x),
    "sq": lambda w, x: w.binary("fmul", x, x),
    "twice": lambda w, x: w.binary("fadd", x, x),
    "inv": lambda w, x: w.binary("fdiv", w.constant(1.0), x),
    "sqrt": lambda w, x: w.intrinsic("sqrt", x),
    "fabs": lambda w, x: w.intrinsic("fabs", x),
    "floor": lambda w, x: w.intrinsic("floor", x),
    "ceil": lambda w, x: w.intrinsic("ceil", x),
    "copysign": lambda w, x, y: w.intrinsic("copysign", x, y),
    "constpow": lambda w, x, y: w.library("pow", x, y),
    "sign": _sign,
    "fmin": _extreme("ole"),
    "fmax": _extreme("oge"),
    "lt": _truth("olt"),
    "le": _truth("ole"),
    "eq": _truth("oeq"),
    "ne": _truth("une"),
    "not": lambda w, x: w.number(w.compare("oeq", x, w.constant(0.0))),
    "and": _logic("and"),
    "or": _logic("or"),
    "if_else_zero": _if_else_zero,
}
