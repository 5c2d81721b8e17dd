"""Numbers in compiled loops: what is known is worked out at once, the rest when the loop runs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from zwang.codegen.loops.kinds import BOOL, COMPLEX, FLOAT, INT, KINDS, Array, RuntimeNumber, alike
from zwang.codegen.loops.values import (
    REAL,
    TYPES,
    WORD,
    LoopError,
    is_static,
    is_thing,
    is_vector,
    kind_of,
    wide,
)
from zwang.codegen.writer import LIBRARY_PREFIX

__all__ = ["Arithmetic"]

_I32 = ir.IntType(32)
_ARITHMETIC: dict[Any, str] = {operator.add: "add", operator.sub: "sub", operator.mul: "mul"}
_COMPARISONS: dict[Any, str] = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}


class Arithmetic:
    """Instructions on numbers, written one after the other."""

    def __init__(self, builder: ir.IRBuilder) -> None:
        self.builder = builder

    def registered(self, value: Any) -> Any:
        """A value whose numbers are all in registers, known or not."""
        if isinstance(value, tuple):
            return alike(value, map(self.registered, value))
        return value if isinstance(value, Array) or is_thing(value) else self.number(value)

    def number(self, value: Any, kind: str | None = None) -> RuntimeNumber:
        """A number in a register, of a kind."""
        kind = kind or kind_of(value)
        if not isinstance(value, RuntimeNumber):
            value = _constant(value)
        for wider in KINDS[KINDS.index(value.kind) + 1 : KINDS.index(kind) + 1]:
            value = self._widened(value, wider)
        if value.kind != kind:
            raise LoopError(f"a number that is {value.kind} cannot become {kind}")
        return value

    def word(self, value: Any) -> Any:
        """A whole number as LLVM knows it."""
        return self.number(value, INT).value

    def _widened(self, value: RuntimeNumber, kind: str) -> RuntimeNumber:
        b = self.builder
        if kind == INT:
            return RuntimeNumber(INT, b.zext(value.value, wide(WORD, value.value)))
        if kind == FLOAT:
            return RuntimeNumber(FLOAT, b.sitofp(value.value, wide(REAL, value.value)))
        return RuntimeNumber(COMPLEX, (value.value, REAL(0.0)))

    def common(self, *values: Any) -> tuple[str, list[RuntimeNumber]]:
        """Numbers as numbers of one kind."""
        kind = max((kind_of(value) for value in values), key=KINDS.index)
        numbers = [self.number(value, kind) for value in values]
        lanes = next((n.value.type.count for n in numbers if is_vector(n)), 0)
        return kind, [self.spread(n, lanes) for n in numbers] if lanes else numbers

    def spread(self, number: RuntimeNumber, lanes: int) -> RuntimeNumber:
        """A number for each lane: the same one, unless it was one for each already."""
        if is_vector(number):
            return number
        b, one, vector = self.builder, number.value, ir.VectorType(number.value.type, lanes)
        if isinstance(one, ir.Constant):
            return RuntimeNumber(number.kind, vector([one.constant] * lanes))
        first = b.insert_element(vector(ir.Undefined), one, _I32(0))
        mask = ir.VectorType(_I32, lanes)([0] * lanes)
        return RuntimeNumber(number.kind, b.shuffle_vector(first, vector(ir.Undefined), mask))

    def truth(self, value: Any) -> Any:
        """Whether a number is not zero; a Python bool if that is known."""
        if is_static(value):
            return bool(value)
        if not isinstance(value, RuntimeNumber):
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
            return RuntimeNumber(COMPLEX, self._complex(operation, x.value, y.value))
        if operation is operator.truediv:
            return RuntimeNumber(FLOAT, self.builder.fdiv(x.value, y.value))
        if operation not in _ARITHMETIC:
            raise LoopError(f"no compiled form of the operator {operation.__name__}")
        name = _ARITHMETIC[operation]
        write = getattr(self.builder, name if kind == INT else f"f{name}")
        return RuntimeNumber(kind, write(x.value, y.value))

    def _divided_whole(self, operation: Callable[[Any, Any], Any], a: Any, b: Any) -> RuntimeNumber:
        """⌊a/b⌋ or a − b⌊a/b⌋; LLVM cuts off towards zero."""
        kind, (x, y) = self.common(a, b)
        if kind != INT:
            raise LoopError(f"{operation.__name__} of numbers that are not whole")
        write = self.builder
        zero = self.common(x, 0)[1][1].value
        quotient, rest = write.sdiv(x.value, y.value), write.srem(x.value, y.value)
        low = write.and_(
            write.icmp_signed("!=", rest, zero),
            write.icmp_signed("<", write.xor(rest, y.value), zero),
        )
        if operation is operator.floordiv:
            return RuntimeNumber(INT, write.sub(quotient, write.zext(low, zero.type)))
        return RuntimeNumber(INT, write.add(rest, write.select(low, y.value, zero)))

    def _power(self, a: Any, exponent: Any) -> RuntimeNumber:
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
            "<",
            self.magnitude(RuntimeNumber(FLOAT, r)).value,
            self.magnitude(RuntimeNumber(FLOAT, s)).value,
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
            return RuntimeNumber(COMPLEX, tuple(map(b.fneg, a.value)))
        return (
            RuntimeNumber(FLOAT, b.fneg(a.value))
            if kind == FLOAT
            else self.binary(operator.sub, 0, a)
        )

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
        return RuntimeNumber(BOOL, compare(sign, x.value, y.value))

    def _complex_compared(
        self, operation: Callable[[Any, Any], Any], x: Any, y: Any
    ) -> RuntimeNumber:
        if operation not in (operator.eq, operator.ne):
            raise LoopError("complex numbers are equal or not, neither less nor greater")
        pairs = zip(x, y, strict=True)
        parts = [
            self.compared(operation, RuntimeNumber(FLOAT, a), RuntimeNumber(FLOAT, b))
            for a, b in pairs
        ]
        join = self.builder.and_ if operation is operator.eq else self.builder.or_
        return RuntimeNumber(BOOL, join(parts[0].value, parts[1].value))

    def chosen(self, test: Any, a: Any, b: Any) -> RuntimeNumber:
        """The first number where the test holds, else the second."""
        kind, numbers = self.common(a, b)
        if isinstance(test.type, ir.VectorType):
            numbers = [self.spread(number, test.type.count) for number in numbers]
        return RuntimeNumber(kind, self.builder.select(test, *(number.value for number in numbers)))

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
            return self._intrinsic("fabs", a)
        if a.kind == COMPLEX:
            return self.library("hypot", *(RuntimeNumber(FLOAT, part) for part in a.value))
        return self.chosen(self.compared(operator.lt, a, 0).value, self.negative(a), a)

    def root(self, a: Any) -> RuntimeNumber:
        """√a."""
        return self._intrinsic("sqrt", self.number(a, FLOAT))

    def _intrinsic(self, name: str, a: RuntimeNumber) -> RuntimeNumber:
        """What LLVM knows by name for numbers and vectors of them."""
        kind = a.value.type
        suffix = f"v{kind.count}f64" if is_vector(a) else "f64"
        return RuntimeNumber(FLOAT, self.library_call(f"llvm.{name}.{suffix}", kind, [a.value]))

    def library(self, name: str, *values: Any) -> RuntimeNumber:
        """A function of the C library, called once for each lane."""
        _, numbers = self.common(*(self.number(value, FLOAT) for value in values))
        name, reals = LIBRARY_PREFIX + name, [number.value for number in numbers]
        if not is_vector(numbers[0]):
            return RuntimeNumber(FLOAT, self.library_call(name, REAL, reals))
        b, result = self.builder, reals[0].type(ir.Undefined)
        for lane in map(_I32, range(reals[0].type.count)):
            one = self.library_call(name, REAL, [b.extract_element(x, lane) for x in reals])
            result = b.insert_element(result, one, lane)
        return RuntimeNumber(FLOAT, result)

    def library_call(self, name: str, kind: Any, values: Sequence[Any]) -> Any:
        """Call a function that is known by its name; `kind` is the type of its result."""
        module, form = self.builder.module, ir.FunctionType(kind, [v.type for v in values])
        function = module.globals.get(name) or ir.Function(module, form, name)
        return self.builder.call(function, values)


def _constant(value: Any) -> RuntimeNumber:
    kind = kind_of(value)
    if kind == COMPLEX:
        return RuntimeNumber(COMPLEX, (REAL(float(value.real)), REAL(float(value.imag))))
    return RuntimeNumber(kind, REAL(float(value)) if kind == FLOAT else TYPES[kind](int(value)))
