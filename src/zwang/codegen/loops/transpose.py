"""The functions of `zwang.codegen.transpose` in LLVM: vectors of eight numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from zwang.codegen.loops.code import FunctionCode
from zwang.codegen.loops.kinds import Array
from zwang.codegen.loops.values import BYTE, REAL, WORD
from zwang.codegen.transpose import LINE, STREAMED, WIDTH

__all__ = ["write_apart", "write_apart_to_memory", "write_beside"]

_VECTOR = ir.VectorType(REAL, WIDTH)
#: Tables, one behind the other, that are written after one whose memory is fetched meanwhile.
AHEAD = 8


def write_beside(code: FunctionCode, out: Array, y: Array, first: Any, column: Any) -> None:
    """out[j, k] = y[first + k, column + j]; where there are no more states, the last one."""
    t, b = _Tiles(code), code.builder
    last = b.sub(y.shape[0], WORD(1))
    states = [t.least(b.add(code.word(first), WORD(k)), last) for k in range(WIDTH)]
    rows = [b.add(b.mul(i, y.shape[1]), code.word(column)) for i in states]

    def tile(j: Any) -> None:
        vectors = t.transposed([t.vector(y, b.add(row, j)) for row in rows])
        for k, vector in enumerate(vectors):
            t.store(vector, out, b.mul(b.add(j, WORD(k)), WORD(WIDTH)))

    def single(j: Any) -> None:
        for k, row in enumerate(rows):
            t.copy(y, b.add(row, j), out, b.add(b.mul(j, WORD(WIDTH)), WORD(k)))

    t.cover(out.shape[0], tile, single)


def write_apart(code: FunctionCode, table: Array, first: Any, side: Array, row: Any) -> None:
    """table[first + k, j] = side[row + j, k], as far as the table goes.

    Rows of fewer numbers than a vector has are written with what follows, which the next rows
    replace; those of the end are written number by number.
    """
    t, b = _Tiles(code), code.builder
    columns, begin = table.shape[1], code.word(row)
    left = b.sub(table.shape[0], code.word(first))
    starts = [b.mul(b.add(code.word(first), WORD(k)), columns) for k in range(WIDTH)]

    def rows(j: Any) -> list[Any]:
        at = b.mul(b.add(begin, j), WORD(WIDTH))
        return t.transposed([t.vector(side, b.add(at, WORD(WIDTH * k))) for k in range(WIDTH)])

    def tile(j: Any) -> None:
        for k, vector in enumerate(rows(j)):
            with b.if_then(b.icmp_signed("<", WORD(k), left)):
                t.store(vector, table, b.add(starts[k], j))

    def narrow() -> None:
        ahead = b.mul(b.mul(table.shape[0], columns), WORD(AHEAD))
        for k in range(WIDTH):
            t.fetch(table, b.add(b.add(starts[0], ahead), b.mul(columns, WORD(k))))
        states = t.least(left, WORD(WIDTH))
        apart = t.least(b.sdiv(WORD(WIDTH - 1), t.most(columns, WORD(1))), states)
        whole = b.sub(states, apart)
        for k, vector in enumerate(rows(WORD(0))):
            with b.if_then(b.icmp_signed("<", WORD(k), whole)):
                t.store(vector, table, starts[k])
        with code.counted(whole, states) as k, code.counted(WORD(0), columns) as j:
            to = b.add(b.mul(b.add(code.word(first), k), columns), j)
            t.copy(side, b.add(b.mul(b.add(begin, j), WORD(WIDTH)), k), table, to)

    with b.if_else(b.icmp_signed("<", columns, WORD(WIDTH))) as (few, many):
        with few:
            narrow()
        with many:
            t.cover(columns, tile, None)


def write_apart_to_memory(
    code: FunctionCode, table: Array, first: Any, side: Array, row: Any
) -> None:
    """The same of `WIDTH` rows of `STREAMED` numbers, whole lines of memory without a gap."""
    t, b = _Tiles(code), code.builder
    begin = b.mul(code.word(row), WORD(WIDTH))
    columns = [t.vector(side, b.add(begin, WORD(WIDTH * j))) for j in range(STREAMED)]
    rows = t.transposed([*columns, *columns[: WIDTH - STREAMED]])
    start = b.mul(code.word(first), WORD(STREAMED))
    for line in range(STREAMED):  # of the numbers of all rows, one after the other
        places = [divmod(line * WIDTH + k, STREAMED) for k in range(WIDTH)]
        one, two = places[0][0], places[-1][0]  # a line has numbers of two rows
        mask = _constant([j + WIDTH * (k - one) for k, j in places])
        vector = b.shuffle_vector(rows[one], rows[two], mask)
        t.store_to_memory(vector, table, b.add(start, WORD(line * WIDTH)))


class _Tiles:
    """Tiles of eight by eight numbers in compiled code."""

    def __init__(self, code: FunctionCode) -> None:
        self.code, self.builder = code, code.builder

    def least(self, a: Any, b: Any) -> Any:
        """The lesser of two whole numbers."""
        return self.builder.select(self.builder.icmp_signed("<", a, b), a, b)

    def most(self, a: Any, b: Any) -> Any:
        """The greater of two whole numbers."""
        return self.builder.select(self.builder.icmp_signed(">", a, b), a, b)

    def fetch(self, array: Array, place: Any) -> None:
        """Have memory ready that is written to soon; beyond an array nothing happens."""
        pointer = self.builder.bitcast(self.builder.gep(array.data, [place]), BYTE.as_pointer())
        choices = [ir.IntType(32)(k) for k in (1, 3, 1)]  # for writing, to be kept, no code
        self.code.library_call("llvm.prefetch.p0i8", ir.VoidType(), [pointer, *choices])

    def vector(self, array: Array, place: Any) -> Any:
        """Eight numbers of an array."""
        return self.builder.load(self._pointer(array, place), align=8)

    def store(self, vector: Any, array: Array, place: Any) -> None:
        """Write eight numbers."""
        self.builder.store(vector, self._pointer(array, place), align=8)

    def store_to_memory(self, vector: Any, array: Array, place: Any) -> None:
        """Write a line of memory past the caches, which neither read it before nor keep it."""
        store = self.builder.store(vector, self._pointer(array, place), align=LINE)
        hint = self.builder.module.add_metadata([ir.IntType(32)(1)])
        store.set_metadata("nontemporal", hint)

    def copy(self, source: Array, at: Any, target: Array, to: Any) -> None:
        """Copy one number."""
        b = self.builder
        b.store(b.load(b.gep(source.data, [at])), b.gep(target.data, [to]))

    def _pointer(self, array: Array, place: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(array.data, [place]), _VECTOR.as_pointer())

    def cover(
        self, count: Any, tile: Callable[[Any], None], single: Callable[[Any], None] | None
    ) -> None:
        """Tiles from 0 on, the last one so that it ends at the count, in part once more.

        Fewer than a tile has one by one; with None there are never fewer.
        """
        b = self.builder
        end = b.sub(count, WORD(WIDTH))
        enough = b.icmp_signed(">=", end, WORD(0))
        with b.if_then(enough), self.code.counted(WORD(0), count, WIDTH) as j:
            tile(self.least(j, end))
        if single is not None:
            with b.if_then(b.not_(enough)), self.code.counted(WORD(0), count) as j:
                single(j)

    def transposed(self, vectors: list[Any]) -> list[Any]:
        """Entry j of vector i as entry i of vector j, by exchanging halves of pairs of vectors."""
        b, span = self.builder, 1
        while span < WIDTH:
            found = list(vectors)
            for i in range(WIDTH):
                if not i & span:
                    one, two = vectors[i], vectors[i + span]
                    found[i] = b.shuffle_vector(one, two, _mask(span, 0))
                    found[i + span] = b.shuffle_vector(one, two, _mask(span, span))
            vectors, span = found, 2 * span
        return vectors


def _mask(span: int, shift: int) -> Any:
    """Which of the numbers of two vectors one takes that keeps those of its own half."""
    places = [k + WIDTH - span + shift if k & span else k + shift for k in range(WIDTH)]
    return _constant(places)


def _constant(places: list[int]) -> Any:
    """The mask of a shuffle."""
    return ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), places)
