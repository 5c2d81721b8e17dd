"""Formulas that hold for each entry of arrays by itself, in compiled loops, several at a time.

    axpy = elementwise(lambda x, y, a: y + a * x)
    axpy(lanes, (out,), x, y, 2.0)               # in a function compiled by `zwang.kernels.jit`

The compiler cannot know that arrays do not overlap, so that from a plain loop it makes either one
entry after the other or a test of every pair of arrays, which for a few entries takes longer than
the formula. Here the formula is written down for short vectors of entries, and for the entry that
is left over; it is the same arithmetic for each entry wherever it stands.

What a formula is given, by the type of the argument:

*   an array [entry][lane] of the shape of the results gives the entry itself;
*   a table [row][entry][lane] gives all rows, so that table[row] is the entry there;
*   an array [lane] gives the number of the lane;
*   a number gives itself.

The results may overlap with arguments only where they are the same array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["elementwise", "greater", "weighted"]

#: Numbers side by side, by the number of lanes; one by one for other numbers of lanes. With one
#: lane two (measured: wider vectors take longer to fill with what a kernel wrote one by one).
WIDTHS = {1: 2, 4: 4}
_NUMBER = ir.DoubleType()


def weighted(weights: Iterable[float], table: Any) -> Any:
    """Σⱼ weights[j] table[j], zero weights left out, the last row last.

    Only the term of the last row has to wait for what computed it, if it was the newest.
    """
    used = [(j, float(weight)) for j, weight in enumerate(weights) if weight != 0.0]
    total: Any = 0.0
    for j, weight in used:
        newest = isinstance(table, _Table) and j == used[-1][0]
        total = weight * (table.newest(j) if newest else table[j]) + total
    return total


def greater(a: Any, b: Any) -> Any:
    """The greater of two entries."""
    return a.greater(b) if isinstance(a, _Value) else np.maximum(a, b)


def elementwise(formula: Callable[..., Any]) -> Callable[..., None]:
    """A function (lanes, results, *arguments) that writes what the formula gives for each entry.

    Parameters
    ----------
    formula : one value, or a tuple of as many as there are results. It may use +, −, *, /, abs and
        the functions of this module.
    """

    def apply(lanes: Any, results: Sequence[NDArray[np.float64]], *arguments: Any) -> None:  # noqa: ARG001
        values = formula(*arguments)
        for out, value in zip(results, _several(values), strict=True):
            out[...] = value

    @intrinsic
    def compiled(typing_context: Any, lanes: Any, results: Any, arguments: Any) -> Any:  # noqa: ARG001
        for kind in (*results, *arguments):
            if isinstance(kind, types.Array) and kind.layout != "C":
                raise TypingError(f"{kind} is not contiguous")

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            outs = _views(context, builder, signature.args[1], values[1])
            views = _views(context, builder, signature.args[2], values[2])
            _write_loops(builder, formula, len(signature.args[0]), outs, views)
            return context.get_dummy_value()

        return types.void(lanes, results, arguments), generate

    @overload(apply)
    def _apply(lanes: Any, results: Any, *arguments: Any) -> Callable[..., None]:  # noqa: ARG001
        def implementation(lanes: Any, results: Any, *arguments: Any) -> None:
            compiled(lanes, results, arguments)  # pyright: ignore[reportCallIssue] - as in `call`

        return implementation

    return apply


def _several(values: Any) -> tuple[Any, ...]:
    return values if isinstance(values, tuple) else (values,)


class _View:
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
        return _Table(self, place, count, kind, by_lanes=lane is not None)

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
            pointer = self._pointer(b.add(place, place.type(k)), _NUMBER)
            number = b.load_atomic(pointer, "monotonic", align=8)
            value = b.insert_element(value, number, ir.IntType(32)(k))
        return _Value(b, value)

    def _pointer(self, place: Any, kind: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(self.data, [place]), kind.as_pointer())


class _Table:
    """The rows of a table at a place."""

    def __init__(self, view: _View, place: Any, count: Any, kind: Any, *, by_lanes: bool) -> None:
        self.view, self.place, self.count, self.kind = view, place, count, kind
        self.by_lanes = by_lanes

    def __getitem__(self, row: int) -> _Value:
        return self.view.load(self._at(row), self.kind)

    def newest(self, row: int) -> _Value:
        """As [row], of a row that was written just before.

        A kernel for one lane writes numbers one by one. A processor waits with reading several of
        them at once until they have left for its cache, some twelve cycles.
        """
        if self.by_lanes or self.kind is _NUMBER:
            return self[row]
        return self.view.load_apart(self._at(row), self.kind)

    def _at(self, row: int) -> Any:
        b = self.view.builder
        return b.add(self.place, b.mul(self.count, self.count.type(row)))


def _views(context: Any, builder: Any, kinds: Any, values: Any) -> list[_View]:
    views = []
    for k, kind in enumerate(kinds):
        value = builder.extract_value(values, k)
        if isinstance(kind, types.Array):
            array = context.make_array(kind)(context, builder, value)
            views.append(_View(builder, array.data, cgutils.unpack_tuple(builder, array.shape)))
        else:
            views.append(_View(builder, context.cast(builder, value, kind, types.float64), []))
    return views


def _write_loops(
    builder: Any, formula: Callable[..., Any], lanes: int, outs: list[_View], views: list[_View]
) -> None:
    """Vectors as far as they fit, then single entries.

    Lanes lie side by side: with one lane a vector holds entries of one lane, with as many lanes as
    a vector is wide those of one entry.
    """
    entries = outs[0].shape[0]
    integer, width = entries.type, WIDTHS.get(lanes, 1)
    count = builder.mul(entries, integer(lanes))
    zero, whole = integer(0), builder.mul(builder.sdiv(count, integer(width)), integer(width))

    def each(first: Any, last: Any, width: int) -> None:
        kind = _NUMBER if width == 1 else ir.VectorType(_NUMBER, width)
        with cgutils.for_range_slice(builder, first, last, integer(width), integer) as (place, _):
            lane = None if lanes == 1 else builder.srem(place, integer(lanes))
            given = [view.read(place, lane, count, kind) for view in views]
            for out, value in zip(outs, _several(formula(*given)), strict=True):
                out.write(place, value)

    each(zero, whole, width)
    if lanes == 1:
        each(whole, count, 1)


def _spread(builder: Any, number: Any, kind: Any) -> Any:
    if kind is _NUMBER:
        return number
    vector = kind(ir.Undefined)
    for k in range(kind.count):
        vector = builder.insert_element(vector, number, ir.IntType(32)(k))
    return vector


class _Value:
    """A number or a vector in compiled code, with the arithmetic of a formula."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def _like(self, other: Any) -> Any:
        if isinstance(other, _Value):
            return other.value
        kind = self.value.type
        return kind(float(other)) if kind is _NUMBER else kind([float(other)] * kind.count)

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
    suffix = "f64" if kind is _NUMBER else f"v{kind.count}f64"
    function_type = ir.FunctionType(kind, [kind] * len(values))
    function = cgutils.get_or_insert_function(builder.module, function_type, f"{name}.{suffix}")
    return builder.call(function, values)
