"""Instructions of compiled loops: arrays in memory, and places of values that change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir

from zwang.codegen.loops.arithmetic import Arithmetic
from zwang.codegen.loops.kinds import BOOL, COMPLEX, FLOAT, Array, Lanes, RuntimeNumber, alike
from zwang.codegen.loops.values import (
    BIT,
    BYTE,
    BYTES,
    REAL,
    STORED,
    TYPES,
    WORD,
    LoopError,
    described,
    is_static,
    is_thing,
    is_vector,
    kind_of,
    wide,
)
from zwang.codegen.writer import LIBRARY_PREFIX

__all__ = ["FunctionCode"]

#: Room for a value: `RuntimeNumber` or `Array` with pointers for its parts, or a tuple of such.
Place = Any


class FunctionCode(Arithmetic):
    """The instructions of one function in LLVM.

    Attributes
    ----------
    lanes : how many lanes what is being written is for; 0 where they are not side by side.
    mask : the lanes that it is for, as a vector in LLVM; None for all.
    """

    def __init__(self, builder: ir.IRBuilder) -> None:
        super().__init__(builder)
        self.lanes: int = 0
        self.mask: Any = None

    @contextmanager
    def side_by_side(self, lanes: int) -> Iterator[None]:
        """What is written within is done for all lanes at once."""
        if self.lanes:
            raise LoopError("lanes within lanes")
        self.lanes = lanes
        yield
        self.lanes = 0

    @contextmanager
    def where(self, test: Any) -> Iterator[None]:
        """What is written within counts in the lanes for which the test holds."""
        before = self.mask
        self.mask = test if before is None else self.builder.and_(before, test)
        yield
        self.mask = before

    @contextmanager
    def where_all(self) -> Iterator[None]:
        """What is written within counts in all lanes again."""
        before, self.mask = self.mask, None
        yield
        self.mask = before

    def kept(self, new: Any, old: Any) -> Any:
        """A new value in the lanes that count, else the old one."""
        return new if self.mask is None else self.builder.select(self.mask, new, old)

    def require_all_lanes(self) -> None:
        """Refuse what cannot be done in some of the lanes alone."""
        if self.mask is not None:
            raise LoopError("one number for all lanes, under a condition of each")

    def marked(self, marks: Array, lanes: int, least: int) -> RuntimeNumber:
        """Whether at least one (1) of the lanes is marked, or all of them (lanes)."""
        b, together = self.builder, ir.IntType(8 * lanes)
        bits = b.load(b.bitcast(marks.data, together.as_pointer()), align=1)
        if least == 1:
            return RuntimeNumber(BOOL, b.icmp_unsigned("!=", bits, together(0)))
        return RuntimeNumber(BOOL, b.icmp_unsigned("==", bits, together(int("01" * lanes, 16))))

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

    def entry(self, array: Array, indices: Sequence[Any]) -> RuntimeNumber:
        """One number of an array, or one for each lane."""
        if isinstance(indices[-1], Lanes):
            b, pointer = self.builder, self._pointer_to_lanes(array, indices)
            value = b.load(pointer, align=BYTES[array.kind])
            bits = array.kind == BOOL
            return RuntimeNumber(array.kind, b.trunc(value, wide(BIT, value)) if bits else value)
        b, data = self.builder, self.part(array, indices).data
        if array.kind == COMPLEX:
            return RuntimeNumber(COMPLEX, (b.load(data), b.load(b.gep(data, [WORD(1)]))))
        value = b.load(data)
        return RuntimeNumber(array.kind, b.trunc(value, BIT) if array.kind == BOOL else value)

    def write(self, array: Array, indices: Sequence[Any], value: Any) -> None:
        """Write one number of an array, or one for each lane."""
        if isinstance(indices[-1], Lanes):
            b, pointer = self.builder, self._pointer_to_lanes(array, indices)
            new = self.spread(self.number(value, array.kind), self.lanes).value
            new = b.zext(new, wide(BYTE, new)) if array.kind == BOOL else new
            align = BYTES[array.kind]
            old = None if self.mask is None else b.load(pointer, align=align)
            b.store(self.kept(new, old), pointer, align=align)
            return
        self.require_all_lanes()
        b, data = self.builder, self.part(array, indices).data
        number = self.number(value, array.kind).value
        if array.kind == COMPLEX:
            for k, part in enumerate(number):
                b.store(part, b.gep(data, [WORD(k)]))
        else:
            b.store(b.zext(number, BYTE) if array.kind == BOOL else number, data)

    def _pointer_to_lanes(self, array: Array, indices: Sequence[Any]) -> Any:
        """Where the numbers of all lanes are."""
        if array.kind == COMPLEX:
            raise LoopError("complex numbers for each lane")
        data = self.part(array, [*indices[:-1], 0]).data
        kind = ir.VectorType(STORED[array.kind], self.lanes)
        return self.builder.bitcast(data, kind.as_pointer())

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
        b, size = self.builder, WORD(BYTES[kind])
        for length in lengths:
            size = b.mul(size, length)
        place = self.place_for(BYTE.as_pointer())
        with b.goto_entry_block():
            b.store(BYTE.as_pointer()(None), place)
        memory = self.library_call(f"{LIBRARY_PREFIX}malloc", BYTE.as_pointer(), [size])
        b.store(memory, place)
        return Array(kind, b.bitcast(memory, STORED[kind].as_pointer()), tuple(lengths)), place

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
            return alike(value, [self.place(entry, new) for entry in value])
        if isinstance(value, Array):
            shape = tuple(new(WORD) for _ in value.shape)
            return Array(value.kind, new(value.data.type), shape)
        if is_thing(value):
            return value
        kind = kind_of(value)
        if self.lanes and (is_static(value) or is_vector(value)):
            return RuntimeNumber(kind, new(ir.VectorType(TYPES[kind], self.lanes)))
        return RuntimeNumber(kind, (new(REAL), new(REAL)) if kind == COMPLEX else new(TYPES[kind]))

    def put(self, place: Place, value: Any) -> None:
        """Write a value to its place."""
        b = self.builder
        if isinstance(place, tuple):
            if type(value) is not type(place) or len(value) != len(place):
                raise LoopError(f"{described(value)} where there was {described(place)}")
            for inner, entry in zip(place, value, strict=True):
                self.put(inner, entry)
        elif isinstance(place, Array):
            if not isinstance(value, Array) or len(value.shape) != len(place.shape):
                raise LoopError("something else where there was an array of other axes")
            for inner, entry in zip(
                (place.data, *place.shape), (value.data, *value.shape), strict=True
            ):
                b.store(entry, inner)
        elif isinstance(place, RuntimeNumber):
            self._put_number(place, self.number(value, place.kind))
        elif place is not value:
            raise LoopError(f"{value!r} where there was {place!r}")

    def _put_number(self, place: RuntimeNumber, number: RuntimeNumber) -> None:
        b = self.builder
        if place.kind == COMPLEX:
            for inner, part in zip(place.value, number.value, strict=True):
                b.store(part, inner)
        elif isinstance(place.value.type.pointee, ir.VectorType):
            new = self.spread(number, self.lanes).value
            b.store(self.kept(new, b.load(place.value)), place.value)
        elif is_vector(number):
            raise LoopError("a number for each lane where there was one for all")
        else:
            self.require_all_lanes()
            b.store(number.value, place.value)

    def get(self, place: Place) -> Any:
        """The value at a place."""
        b = self.builder
        if isinstance(place, tuple):
            return alike(place, map(self.get, place))
        if isinstance(place, Array):
            return Array(place.kind, b.load(place.data), tuple(map(b.load, place.shape)))
        if isinstance(place, RuntimeNumber):
            pair = place.kind == COMPLEX
            value = tuple(map(b.load, place.value)) if pair else b.load(place.value)
            return RuntimeNumber(place.kind, value)
        return place
