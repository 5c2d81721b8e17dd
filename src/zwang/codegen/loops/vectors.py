"""Formulas of `zwang.codegen.elementwise` in LLVM: for several entries at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from zwang.codegen.elementwise import several
from zwang.codegen.loops.code import FunctionCode
from zwang.codegen.loops.kinds import FLOAT, Array, RuntimeNumber
from zwang.codegen.loops.values import REAL

__all__ = ["write_loops"]

#: Numbers side by side, by the number of lanes; one by one for other numbers of lanes. With one
#: lane two (measured: wider vectors take longer to fill with what a kernel wrote one by one).
WIDTHS = {1: 2, 4: 4, 8: 8}


class _ArrayView:
    """An argument in compiled code: its first number and how many axes it has."""

    def __init__(self, builder: Any, data: Any, shape: list[Any]) -> None:
        self.builder, self.data, self.shape = builder, data, shape

    def read(self, place: Any, lane: Any, count: Any, kind: Any) -> Any:
        """What the formula is given at a place, which is entry times lanes plus lane."""
        b = self.builder
        if len(self.shape) == 0:
            return _Value(b, _spread(b, self.data, kind))
        if len(self.shape) == 1:
            return self.load(lane, kind) if lane else _Value(b, _spread(b, b.load(self.data), kind))
        if len(self.shape) == 2:
            return self.load(place, kind)
        return _TableRows(self, place, count, kind, by_lanes=lane is not None)

    def write(self, place: Any, value: _Value) -> None:
        """Write a value to a place."""
        self.builder.store(value.value, self._pointer(place, value.value.type), align=8)

    def load(self, place: Any, kind: Any) -> _Value:
        """The entry, or the entries, from a place on."""
        return _Value(self.builder, self.builder.load(self._pointer(place, kind), align=8))

    def load_apart(self, place: Any, kind: Any) -> _Value:
        """As `load`, each number by itself; the compiler must not join the loads."""
        b, value = self.builder, kind(ir.Undefined)
        for k in range(kind.count):
            pointer = self._pointer(b.add(place, place.type(k)), REAL)
            number = b.load_atomic(pointer, "monotonic", align=8)
            value = b.insert_element(value, number, ir.IntType(32)(k))
        return _Value(b, value)

    def _pointer(self, place: Any, kind: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(self.data, [place]), kind.as_pointer())


class _TableRows:
    """The rows of a table at a place."""

    def __init__(
        self, view: _ArrayView, place: Any, count: Any, kind: Any, *, by_lanes: bool
    ) -> None:
        self.view, self.place, self.count, self.kind = view, place, count, kind
        self.by_lanes = by_lanes

    def __getitem__(self, row: int) -> _Value:
        return self.view.load(self._at(row), self.kind)

    def newest(self, row: int) -> _Value:
        """As [row], of a row that was written just before.

        A kernel for one lane writes numbers one by one. A processor waits with reading several of
        them at once until they have left for its cache, some twelve cycles.
        """
        if self.by_lanes or self.kind is REAL:
            return self[row]
        return self.view.load_apart(self._at(row), self.kind)

    def _at(self, row: int) -> Any:
        b = self.view.builder
        return b.add(self.place, b.mul(self.count, self.count.type(row)))


def _view(code: FunctionCode, value: Any) -> _ArrayView:
    if isinstance(value, Array):
        return _ArrayView(code.builder, value.data, list(value.shape))
    return _ArrayView(code.builder, code.number(value, FLOAT).value, [])


def write_loops(
    code: FunctionCode,
    formula: Callable[..., Any],
    lanes: int,
    results: Sequence[Any],
    arguments: Sequence[Any],
) -> None:
    """Vectors as far as they fit, then single entries.

    Lanes lie side by side: with one lane a vector holds entries of one lane, with as many lanes as
    a vector is wide those of one entry.
    """
    builder = code.builder
    outs, views = [_view(code, x) for x in results], [_view(code, x) for x in arguments]
    entries = outs[0].shape[0]
    integer, width = entries.type, WIDTHS.get(lanes, 1)
    count = builder.mul(entries, integer(lanes))
    zero, whole = integer(0), builder.mul(builder.sdiv(count, integer(width)), integer(width))

    def each(first: Any, last: Any, width: int) -> None:
        kind = REAL if width == 1 else ir.VectorType(REAL, width)
        with code.counted(first, last, width) as place:
            lane = None if lanes == 1 else builder.srem(place, integer(lanes))
            given = [view.read(place, lane, count, kind) for view in views]
            for out, value in zip(outs, several(formula(*given)), strict=True):
                out.write(place, value)

    each(zero, whole, width)
    if lanes == 1:
        each(whole, count, 1)


def _spread(builder: Any, number: Any, kind: Any) -> Any:
    if kind is REAL:
        return number
    return FunctionCode(builder).spread(RuntimeNumber(FLOAT, number), kind.count).value


class _Value:
    """A number or a vector in compiled code, with the arithmetic of a formula."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def _like(self, other: Any) -> Any:
        if isinstance(other, _Value):
            return other.value
        kind = self.value.type
        return kind(float(other)) if kind is REAL else kind([float(other)] * kind.count)

    def __mul__(self, other: Any) -> _Value:
        return _Product(self.builder, self.value, self._like(other))

    __rmul__ = __mul__

    def __add__(self, other: Any) -> _Value:
        if isinstance(other, _Product):
            return other + self
        if not isinstance(other, _Value) and other == 0.0:
            return self
        return _Value(self.builder, self.builder.fadd(self.value, self._like(other)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> _Value:
        return _Value(self.builder, self.builder.fsub(self.value, self._like(other)))

    def __truediv__(self, other: Any) -> _Value:
        return _Value(self.builder, self.builder.fdiv(self.value, self._like(other)))

    def __rtruediv__(self, other: Any) -> _Value:
        return _Value(self.builder, self.builder.fdiv(self._like(other), self.value))

    def __abs__(self) -> _Value:
        return _Value(self.builder, _call(self.builder, "llvm.fabs", self.value))

    def greater(self, other: Any) -> _Value:
        """The greater one; this one if they do not compare."""
        b, second = self.builder, self._like(other)
        return _Value(b, b.select(b.fcmp_ordered(">", second, self.value), second, self.value))


class _Product(_Value):
    """A product that may be joined with a sum into one rounding, where the processor can."""

    def __init__(self, builder: Any, a: Any, b: Any) -> None:
        self.builder, self.factors = builder, (a, b)
        self._whole: Any = None

    @property
    def value(self) -> Any:
        """The product by itself."""
        if self._whole is None:
            self._whole = self.builder.fmul(*self.factors)
        return self._whole

    def __add__(self, other: Any) -> _Value:
        if not isinstance(other, _Value) and other == 0.0:
            return self
        term = self._like(other)
        return _Value(self.builder, _call(self.builder, "llvm.fmuladd", *self.factors, term))

    __radd__ = __add__


def _call(builder: Any, name: str, *values: Any) -> Any:
    kind = values[0].type
    suffix = "f64" if kind is REAL else f"v{kind.count}f64"
    return FunctionCode(builder).library_call(f"{name}.{suffix}", kind, values)
