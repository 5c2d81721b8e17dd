"""Values in compiled loops: numbers, arrays and tuples of them, and the instructions on them.

What is known while a loop is compiled is an ordinary Python object; sums of such objects are
computed there and then. What is known only when it runs is a `Number` or an `Array`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir

from zwang.kernels.loops.kinds import BOOL, COMPLEX, FLOAT, INT, KINDS, Array, Number
from zwang.kernels.writer import LIBRARY_PREFIX

__all__ = [
    "BIT",
    "BYTE",
    "REAL",
    "WORD",
    "Code",
    "LoopError",
    "form",
    "is_static",
    "kind_of",
    "parts",
    "rebuilt",
    "room_in",
    "types",
]

BIT, BYTE, WORD, REAL = ir.IntType(1), ir.IntType(8), ir.IntType(64), ir.DoubleType()
#: What a number of a kind is in a register, and in an array; complex numbers are two reals.
_TYPES = {BOOL: BIT, INT: WORD, FLOAT: REAL, COMPLEX: REAL}
_STORED = {BOOL: BYTE, INT: WORD, FLOAT: REAL, COMPLEX: REAL}
_BYTES = {BOOL: 1, INT: 8, FLOAT: 8, COMPLEX: 16}

_ARITHMETIC: dict[Any, str] = {operator.add: "add", operator.sub: "sub", operator.mul: "mul"}
_COMPARISONS: dict[Any, str] = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}


class LoopError(Exception):
    """A loop says what has no compiled form: a mistake in the library, not of its user.

    `located` tells whether the message says where.
    """

    def __init__(self, message: str, *, located: bool = False) -> None:
        super().__init__(message)
        self.located = located


#: Room for a value: `Number` or `Array` with pointers for its parts, or a tuple of such.
Place = Any


def is_static(value: Any) -> bool:
    """Whether a value is known while the loop is compiled."""
    if isinstance(value, tuple):
        return all(map(is_static, value))
    return not isinstance(value, (Number, Array))


def kind_of(value: Any) -> str:
    """The kind of a number, known or not."""
    if isinstance(value, Number):
        return value.kind
    for kind, types in ((BOOL, (bool, np.bool_)), (INT, (int, np.integer))):
        if isinstance(value, types):
            return kind
    if isinstance(value, (float, np.floating)):
        return FLOAT
    if isinstance(value, (complex, np.complexfloating)):
        return COMPLEX
    raise LoopError(f"{value!r} is not a number")


class Code:
    """The instructions of one function in LLVM, written one after the other."""

    def __init__(self, builder: ir.IRBuilder) -> None:
        self.builder = builder

    # numbers

    def registered(self, value: Any) -> Any:
        """A value whose numbers are all in registers, known or not."""
        if isinstance(value, tuple):
            return tuple(map(self.registered, value))
        return value if isinstance(value, Array) or _is_thing(value) else self.number(value)

    def number(self, value: Any, kind: str | None = None) -> Number:
        """A number in a register, of a kind."""
        kind = kind or kind_of(value)
        if not isinstance(value, Number):
            value = _constant(value)
        for wider in KINDS[KINDS.index(value.kind) + 1 : KINDS.index(kind) + 1]:
            value = self._widened(value, wider)
        if value.kind != kind:
            raise LoopError(f"a number that is {value.kind} cannot become {kind}")
        return value

    def word(self, value: Any) -> Any:
        """A whole number as LLVM knows it."""
        return self.number(value, INT).value

    def _widened(self, value: Number, kind: str) -> Number:
        b = self.builder
        if kind == INT:
            return Number(INT, b.zext(value.value, WORD))
        if kind == FLOAT:
            return Number(FLOAT, b.sitofp(value.value, REAL))
        return Number(COMPLEX, (value.value, REAL(0.0)))

    def common(self, *values: Any) -> tuple[str, list[Number]]:
        """Numbers as numbers of one kind."""
        kind = max((kind_of(value) for value in values), key=KINDS.index)
        return kind, [self.number(value, kind) for value in values]

    def truth(self, value: Any) -> Any:
        """Whether a number is not zero; a Python bool if that is known."""
        if is_static(value):
            return bool(value)
        if not isinstance(value, Number):
            raise LoopError("an array is neither true nor false")
        if value.kind == BOOL:
            return value.value
        return self.compared(operator.ne, value, 0).value

    def binary(self, operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        """The result of an operator."""
        if is_static(a) and is_static(b):
            return operation(a, b)
        if operation is operator.pow:
            return self._power(a, b)
        if operation in (operator.floordiv, operator.mod):
            return self._divided_whole(operation, a, b)
        kind, (x, y) = self.common(a, b)
        if kind == BOOL or (operation is operator.truediv and kind == INT):
            kind = INT if operation is not operator.truediv else FLOAT
            x, y = self.number(x, kind), self.number(y, kind)
        if kind == COMPLEX:
            return Number(COMPLEX, self._complex(operation, x.value, y.value))
        if operation is operator.truediv:
            return Number(FLOAT, self.builder.fdiv(x.value, y.value))
        if operation not in _ARITHMETIC:
            raise LoopError(f"no compiled form of the operator {operation.__name__}")
        name = _ARITHMETIC[operation]
        write = getattr(self.builder, name if kind == INT else f"f{name}")
        return Number(kind, write(x.value, y.value))

    def _divided_whole(self, operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Number:
        """⌊a/b⌋ or a − b⌊a/b⌋; LLVM cuts off towards zero."""
        kind, (x, y) = self.common(a, b)
        if kind != INT:
            raise LoopError(f"{operation.__name__} of numbers that are not whole")
        write = self.builder
        quotient, rest = write.sdiv(x.value, y.value), write.srem(x.value, y.value)
        low = write.and_(
            write.icmp_signed("!=", rest, WORD(0)),
            write.icmp_signed("<", write.xor(rest, y.value), WORD(0)),
        )
        if operation is operator.floordiv:
            return Number(INT, write.sub(quotient, write.zext(low, WORD)))
        return Number(INT, write.add(rest, write.select(low, y.value, WORD(0))))

    def _power(self, a: Any, exponent: Any) -> Number:
        if is_static(exponent) and kind_of(exponent) == INT and exponent > 0:
            result, square, left = None, a, int(exponent)
            while left:
                if left & 1:
                    product = self.binary(operator.mul, result, square) if result else square
                    result = product
                left >>= 1
                if left:
                    square = self.binary(operator.mul, square, square)
            return self.number(result)
        return self.library("pow", a, exponent)

    def _complex(self, operation: Callable[[Any, Any], Any], x: Any, y: Any) -> tuple[Any, Any]:
        b, (p, q), (r, s) = self.builder, x, y
        if operation is operator.add:
            return b.fadd(p, r), b.fadd(q, s)
        if operation is operator.sub:
            return b.fsub(p, r), b.fsub(q, s)
        if operation is operator.mul:
            return (
                b.fsub(b.fmul(p, r), b.fmul(q, s)),
                b.fadd(b.fmul(p, s), b.fmul(q, r)),
            )
        if operation is not operator.truediv:
            raise LoopError(f"no compiled form of the operator {operation.__name__}")
        # Smith's way: the larger part of the divisor divides the smaller one, nothing overflows.
        swapped = b.fcmp_ordered(
            "<", self.magnitude(Number(FLOAT, r)).value, self.magnitude(Number(FLOAT, s)).value
        )
        big, small = b.select(swapped, s, r), b.select(swapped, r, s)
        ratio = b.fdiv(small, big)
        length = b.fadd(big, b.fmul(small, ratio))
        first, second = b.select(swapped, q, p), b.select(swapped, p, q)
        real = b.fdiv(b.fadd(first, b.fmul(second, ratio)), length)
        turned = b.fdiv(b.fsub(second, b.fmul(first, ratio)), length)
        return real, b.select(swapped, b.fneg(turned), turned)

    def negative(self, a: Any) -> Any:
        """The number with the other sign."""
        if is_static(a):
            return -a
        kind, b = a.kind, self.builder
        if kind == COMPLEX:
            return Number(COMPLEX, tuple(map(b.fneg, a.value)))
        return Number(FLOAT, b.fneg(a.value)) if kind == FLOAT else self.binary(operator.sub, 0, a)

    def compared(self, operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        """A comparison; with NaN nothing but ≠ holds."""
        if is_static(a) and is_static(b):
            return operation(a, b)
        if operation not in _COMPARISONS:
            raise LoopError(f"no compiled form of the comparison {operation.__name__}")
        kind, (x, y) = self.common(a, b)
        sign, write = _COMPARISONS[operation], self.builder
        if kind == COMPLEX:
            return self._complex_compared(operation, x.value, y.value)
        if kind == FLOAT:
            compare = write.fcmp_unordered if sign == "!=" else write.fcmp_ordered
        else:
            compare = write.icmp_signed if kind == INT else write.icmp_unsigned
        return Number(BOOL, compare(sign, x.value, y.value))

    def _complex_compared(self, operation: Callable[[Any, Any], Any], x: Any, y: Any) -> Number:
        if operation not in (operator.eq, operator.ne):
            raise LoopError("complex numbers are equal or not, neither less nor greater")
        pairs = zip(x, y, strict=True)
        parts = [self.compared(operation, Number(FLOAT, a), Number(FLOAT, b)) for a, b in pairs]
        join = self.builder.and_ if operation is operator.eq else self.builder.or_
        return Number(BOOL, join(parts[0].value, parts[1].value))

    def chosen(self, test: Any, a: Any, b: Any) -> Number:
        """The first number where the test holds, else the second."""
        kind, (x, y) = self.common(a, b)
        return Number(kind, self.builder.select(test, x.value, y.value))

    def extreme(self, operation: Callable[[Any, Any], Any], *values: Any) -> Any:
        """Python's ``min`` or ``max``: the first value but for such as compare true with it."""
        best, *others = values
        for value in others:
            if is_static(best) and is_static(value):
                best = value if operation(value, best) else best
            else:
                best = self.chosen(self.compared(operation, value, best).value, value, best)
        return best

    def magnitude(self, a: Any) -> Any:
        """|a|."""
        if is_static(a):
            return abs(a)
        if a.kind == FLOAT:
            return Number(FLOAT, self.library_call("llvm.fabs.f64", REAL, [a.value]))
        if a.kind == COMPLEX:
            return self.library("hypot", *(Number(FLOAT, part) for part in a.value))
        return self.chosen(self.compared(operator.lt, a, 0).value, self.negative(a), a)

    def root(self, a: Any) -> Number:
        """√a."""
        return Number(
            FLOAT, self.library_call("llvm.sqrt.f64", REAL, [self.number(a, FLOAT).value])
        )

    def library(self, name: str, *values: Any) -> Number:
        """A function of the C library."""
        reals = [self.number(value, FLOAT).value for value in values]
        return Number(FLOAT, self.library_call(LIBRARY_PREFIX + name, REAL, reals))

    def library_call(self, name: str, kind: Any, values: Sequence[Any]) -> Any:
        """Call a function that is known by its name; `kind` is the type of its result."""
        module, form = self.builder.module, ir.FunctionType(kind, [v.type for v in values])
        function = module.globals.get(name) or ir.Function(module, form, name)
        return self.builder.call(function, values)

    @contextmanager
    def counted(self, first: Any, last: Any, step: int = 1) -> Iterator[Any]:
        """What is written within is done for first, first + step, … below last."""
        b, counter = self.builder, self.place_for(WORD)
        again, inside, after = (b.append_basic_block(s) for s in ("for", "do", "done"))
        b.store(first, counter)
        b.branch(again)
        b.position_at_end(again)
        present = b.load(counter)
        b.cbranch(b.icmp_signed("<", present, last), inside, after)
        b.position_at_end(inside)
        yield present
        b.store(b.add(present, WORD(step)), counter)
        b.branch(again)
        b.position_at_end(after)

    # arrays

    def part(self, array: Array, indices: Sequence[Any]) -> Array:
        """What is left of an array at the first indices; the last may be a slice (start, stop).

        Indices count from the beginning. Nothing is checked.
        """
        b, shape, begin = self.builder, array.shape, WORD(0)
        if len(indices) > len(shape):
            raise LoopError(f"{len(indices)} indices for an array of {len(shape)} axes")
        last = indices[-1] if isinstance(indices[-1], slice) else None
        for axis, index in enumerate(indices):
            first = (index.start or 0) if isinstance(index, slice) else index
            if isinstance(index, slice) and (index.step is not None or axis < len(indices) - 1):
                raise LoopError("a slice with steps, or before other indices, would leave gaps")
            if is_static(first) and first < 0:
                raise LoopError("indices of loops count from the beginning")
            begin = b.add(b.mul(begin, shape[axis]), self.word(first)) if axis else self.word(first)
        rest = shape[len(indices) :]
        for length in rest:
            begin = b.mul(begin, length)
        if last is not None:
            stop = shape[len(indices) - 1] if last.stop is None else self.word(last.stop)
            rest = (b.sub(stop, self.word(last.start or 0)), *rest)
        if array.kind == COMPLEX:
            begin = b.mul(begin, WORD(2))
        return Array(array.kind, b.gep(array.data, [begin]), rest)

    def entry(self, array: Array, indices: Sequence[Any]) -> Number:
        """One number of an array."""
        b, data = self.builder, self.part(array, indices).data
        if array.kind == COMPLEX:
            return Number(COMPLEX, (b.load(data), b.load(b.gep(data, [WORD(1)]))))
        value = b.load(data)
        return Number(array.kind, b.trunc(value, BIT) if array.kind == BOOL else value)

    def write(self, array: Array, indices: Sequence[Any], value: Any) -> None:
        """Write one number of an array."""
        b, data = self.builder, self.part(array, indices).data
        number = self.number(value, array.kind).value
        if array.kind == COMPLEX:
            for k, part in enumerate(number):
                b.store(part, b.gep(data, [WORD(k)]))
        else:
            b.store(b.zext(number, BYTE) if array.kind == BOOL else number, data)

    def constant_array(self, values: np.ndarray, name: str) -> Array:
        """A table of reals that is known, in memory."""
        form = ir.ArrayType(REAL, values.size)
        module = self.builder.module
        table: Any = ir.GlobalVariable(module, form, module.get_unique_name(name))
        table.linkage, table.global_constant = "internal", True
        table.initializer = form([REAL(float(x)) for x in values.ravel()])
        data = self.builder.bitcast(table, REAL.as_pointer())
        return Array(FLOAT, data, tuple(WORD(n) for n in values.shape))

    def allocated(self, kind: str, shape: Sequence[Any]) -> tuple[Array, Any]:
        """A new array and the place that holds its address, to be freed."""
        lengths = [self.word(length) for length in shape]
        b, size = self.builder, WORD(_BYTES[kind])
        for length in lengths:
            size = b.mul(size, length)
        place = self.place_for(BYTE.as_pointer())
        with b.goto_entry_block():
            b.store(BYTE.as_pointer()(None), place)
        memory = self.library_call(f"{LIBRARY_PREFIX}malloc", BYTE.as_pointer(), [size])
        b.store(memory, place)
        return Array(kind, b.bitcast(memory, _STORED[kind].as_pointer()), tuple(lengths)), place

    def free(self, place: Any) -> None:
        """Give the memory of an array back."""
        self.library_call(f"{LIBRARY_PREFIX}free", ir.VoidType(), [self.builder.load(place)])

    # places: what a name of a loop stands for may change

    def place_for(self, kind: Any) -> Any:
        """Memory of the function for one value."""
        with self.builder.goto_entry_block():
            return self.builder.alloca(kind)

    def place(self, value: Any, new: Callable[[Any], Any] | None = None) -> Place:
        """Room for values like this one; `new` makes room for one in LLVM."""
        new = new or self.place_for
        if isinstance(value, tuple):
            return tuple(self.place(entry, new) for entry in value)
        if isinstance(value, Array):
            shape = tuple(new(WORD) for _ in value.shape)
            return Array(value.kind, new(value.data.type), shape)
        if _is_thing(value):
            return value
        kind = kind_of(value)
        return Number(kind, (new(REAL), new(REAL)) if kind == COMPLEX else new(_TYPES[kind]))

    def put(self, place: Place, value: Any) -> None:
        """Write a value to its place."""
        b = self.builder
        if isinstance(place, tuple):
            if not isinstance(value, tuple) or len(value) != len(place):
                raise LoopError(f"{value!r} where there were {len(place)} values")
            for inner, entry in zip(place, value, strict=True):
                self.put(inner, entry)
        elif isinstance(place, Array):
            if not isinstance(value, Array) or len(value.shape) != len(place.shape):
                raise LoopError("something else where there was an array of other axes")
            for inner, entry in zip(
                (place.data, *place.shape), (value.data, *value.shape), strict=True
            ):
                b.store(entry, inner)
        elif isinstance(place, Number):
            number = self.number(value, place.kind).value
            if place.kind == COMPLEX:
                for inner, part in zip(place.value, number, strict=True):
                    b.store(part, inner)
            else:
                b.store(number, place.value)
        elif place is not value:
            raise LoopError(f"{value!r} where there was {place!r}")

    def get(self, place: Place) -> Any:
        """The value at a place."""
        b = self.builder
        if isinstance(place, tuple):
            return tuple(map(self.get, place))
        if isinstance(place, Array):
            return Array(place.kind, b.load(place.data), tuple(map(b.load, place.shape)))
        if isinstance(place, Number):
            pair = place.kind == COMPLEX
            value = tuple(map(b.load, place.value)) if pair else b.load(place.value)
            return Number(place.kind, value)
        return place


def _constant(value: Any) -> Number:
    kind = kind_of(value)
    if kind == COMPLEX:
        return Number(COMPLEX, (REAL(float(value.real)), REAL(float(value.imag))))
    return Number(kind, REAL(float(value)) if kind == FLOAT else _TYPES[kind](int(value)))


def form(value: Any) -> Any:
    """A value without what it holds: equal for values of one type.

    Numbers that are known have the form of those that are not.
    """
    if isinstance(value, tuple):
        return tuple(map(form, value))
    if isinstance(value, Array):
        return Array(value.kind, None, (None,) * len(value.shape))
    return value if _is_thing(value) else Number(kind_of(value), None)


def parts(value: Any) -> list[Any]:
    """The values in LLVM that a value is made of."""
    if isinstance(value, tuple):
        return [part for entry in value for part in parts(entry)]
    if isinstance(value, Array):
        return [value.data, *value.shape]
    if isinstance(value, Number):
        return list(value.value) if value.kind == COMPLEX else [value.value]
    return []


def types(shape: Any) -> list[Any]:
    """Types in LLVM of the parts of a form."""
    if isinstance(shape, tuple):
        return [kind for entry in shape for kind in types(entry)]
    if isinstance(shape, Array):
        return [_STORED[shape.kind].as_pointer(), *(WORD for _ in shape.shape)]
    if isinstance(shape, Number):
        return [_TYPES[shape.kind]] * (2 if shape.kind == COMPLEX else 1)
    return []


def rebuilt(shape: Any, given: Iterator[Any]) -> Any:
    """A value of a form, from its parts."""
    if isinstance(shape, tuple):
        return tuple(rebuilt(entry, given) for entry in shape)
    if isinstance(shape, Array):
        return Array(shape.kind, next(given), tuple(next(given) for _ in shape.shape))
    if isinstance(shape, Number):
        pair = shape.kind == COMPLEX
        return Number(shape.kind, (next(given), next(given)) if pair else next(given))
    return shape


def _is_thing(value: Any) -> bool:
    """Whether a known value is no number: it stays what it is."""
    return value is None or callable(value) or isinstance(value, (str, type, np.ndarray))


def room_in(b: ir.IRBuilder, area: Any) -> Callable[[Any], Any]:
    """Gives one word of an area after the other."""
    used = iter(range(1 << 30))

    def new(kind: Any) -> Any:
        with b.goto_entry_block():
            return b.bitcast(b.gep(area, [WORD(next(used))]), kind.as_pointer())

    return new
