"""The sums of `zwang.codegen.node_sums` in LLVM: vectors of eight numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from zwang.codegen.loops.code import FunctionCode
from zwang.codegen.loops.kinds import FLOAT, Array, RuntimeNumber
from zwang.codegen.loops.values import REAL, WORD
from zwang.codegen.node_sums import NODES

__all__ = ["write_change", "write_mix", "write_spread"]

_VECTOR = ir.VectorType(REAL, NODES)


def write_mix(
    code: FunctionCode, out: Array, weights: Array, F: Array, scale: Any, start: Array, *ends: Any
) -> None:
    """out[i] = start[i] + scale Σₖ weights[k] F[i, k]."""
    v = _Vectors(code)
    table, h = v.table(weights), v.spread(code.number(scale, FLOAT).value)
    with code.counted(*map(code.word, ends)) as i:
        row = code.builder.mul(i, i.type(NODES))
        v.store(v.times_plus(h, v.mixed(table, F, row), v.number(start, i)), out, row)


def write_spread(
    code: FunctionCode, total: Array, weights: Array, F: Array, size: Array, *ends: Any
) -> None:
    """total = Σᵢ (size[i] Σₖ weights[k] F[i, k])²."""
    v = _Vectors(code)
    table = v.table(weights)
    v.sum_of_squares(total, size, ends, lambda row: v.mixed(table, F, row))


def write_change(
    code: FunctionCode, total: Array, F: Array, G: Array, size: Array, *ends: Any
) -> None:
    """total = Σᵢ (size[i] (F[i] − G[i]))²."""
    v = _Vectors(code)
    v.sum_of_squares(
        total, size, ends, lambda row: code.builder.fsub(v.vector(F, row), v.vector(G, row))
    )


class _Vectors:
    """Vectors of eight numbers in compiled code."""

    def __init__(self, code: FunctionCode) -> None:
        self.code, self.builder = code, code.builder

    def spread(self, number: Any) -> Any:
        """A number eight times."""
        return self.code.spread(RuntimeNumber(FLOAT, number), NODES).value

    def number(self, array: Array, place: Any) -> Any:
        """A number of an array, eight times."""
        return self.spread(self.builder.load(self.builder.gep(array.data, [place])))

    def vector(self, array: Array, place: Any) -> Any:
        """Eight numbers of an array."""
        return self.builder.load(self._pointer(array, place), align=8)

    def store(self, vector: Any, array: Array, place: Any) -> None:
        """Write eight numbers."""
        self.builder.store(vector, self._pointer(array, place), align=8)

    def _pointer(self, array: Array, place: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(array.data, [place]), _VECTOR.as_pointer())

    def times_plus(self, a: Any, x: Any, y: Any) -> Any:
        """a x + y, in one rounding where the processor can."""
        return self.code.library_call(f"llvm.fmuladd.v{NODES}f64", _VECTOR, [a, x, y])

    def table(self, weights: Array) -> list[Any]:
        """All eight rows of weights."""
        return [self.vector(weights, WORD(NODES * k)) for k in range(NODES)]

    def mixed(self, weights: list[Any], F: Array, row: Any) -> Any:
        """Σₖ weights[k] F[k] at a row, as two sums that need not wait for each other."""
        b, half, total = self.builder, NODES // 2, []
        for first in (0, half):
            part = None
            for k in range(first, first + half):
                x = self.number(F, b.add(row, row.type(k)))
                w = weights[k]
                part = b.fmul(w, x) if part is None else self.times_plus(w, x, part)
            total.append(part)
        return b.fadd(*total)

    def sum_of_squares(
        self, total: Array, size: Array, ends: Any, value: Callable[[Any], Any]
    ) -> None:
        """total = Σᵢ (size[i] value(row i))²."""
        b, held = self.builder, self.code.place_for(_VECTOR)
        b.store(_VECTOR([0.0] * NODES), held)
        with self.code.counted(*map(self.code.word, ends)) as i:
            x = b.fmul(value(b.mul(i, i.type(NODES))), self.number(size, i))
            b.store(self.times_plus(x, x, b.load(held)), held)
        self.store(b.load(held), total, WORD(0))
