"""How Python hands arguments over to a compiled loop.

A loop's C function is called with the tuple of arguments and takes it apart itself, as a function
of an extension module would: from Python it takes twenty times as long, for some loops longer than
the loop. Offsets are those of Python's and NumPy's binary interfaces, which extension modules rely
on.

*   an array must be one of NumPy's, without gaps, of the right numbers and axes;
*   numbers must be ``float`` (or NumPy's, which is derived from it), ``int`` and ``bool``.

Where an argument is something else, nothing is done and the tuple is given back.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir

from zwang.codegen.loops.kinds import BOOL, COMPLEX, FLOAT, INT, Array, RuntimeNumber
from zwang.codegen.loops.values import BYTE, REAL, WORD, types

__all__ = ["things", "write_entry"]

_OBJECT = BYTE.as_pointer()
#: Objects and functions of Python that the C function is given the addresses of, in this order.
_OBJECTS = (np.ndarray, float, np.float64, int, tuple, True, False, None)
_FUNCTIONS = {
    "Py_IncRef": ir.FunctionType(ir.VoidType(), [_OBJECT]),
    "PyLong_AsLongLong": ir.FunctionType(WORD, [_OBJECT]),
    "PyLong_FromLongLong": ir.FunctionType(_OBJECT, [WORD]),
    "PyFloat_FromDouble": ir.FunctionType(_OBJECT, [REAL]),
    "PyEval_SaveThread": ir.FunctionType(_OBJECT, []),
    "PyEval_RestoreThread": ir.FunctionType(ir.VoidType(), [_OBJECT]),
}
_HEAD = object.__basicsize__  # count of references and type; the type is the last word of it
_TYPE = _HEAD - 8
_FLOAT_VALUE, _TUPLE_ITEMS = float.__basicsize__ - 8, tuple.__basicsize__
# PyArrayObject: data, number of axes, lengths, strides, base, description, flags.
_DATA, _AXES, _LENGTHS, _DESCRIPTION, _FLAGS = (_HEAD + 8 * k for k in (0, 1, 2, 5, 6))
_WANTED_FLAGS = 0x101  # NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_ALIGNED
# PyArray_Descr: the type of scalars, letters for kind, type and order of bytes, one more, a number.
_BYTE_ORDER, _TYPE_NUMBER = _HEAD + 10, _HEAD + 12
_I32 = ir.IntType(32)
_SCALARS = {FLOAT: np.float64, INT: np.int64, BOOL: np.bool_, COMPLEX: np.complex128}


@cache
def things() -> ctypes.Array[ctypes.c_int64]:
    """The addresses that every C function is given."""
    addresses = [id(thing) for thing in _OBJECTS]
    for name in _FUNCTIONS:
        function = getattr(ctypes.pythonapi, name)
        addresses.append(ctypes.cast(function, ctypes.c_void_p).value or 0)
    return (ctypes.c_int64 * len(addresses))(*addresses)


def write_entry(inner: ir.Function, forms: tuple[Any, ...], result: Any, name: str) -> None:
    """The C function (arguments, things) → result, around a function of the loop."""
    _EntryPoint(inner.module, name).write(inner, forms, result)


class _EntryPoint:
    def __init__(self, module: ir.Module, name: str) -> None:
        kind = ir.FunctionType(_OBJECT, [_OBJECT, WORD.as_pointer()])
        self.function = ir.Function(module, kind, name)
        self.b = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.refused = self.b.append_basic_block("refused")

    def write(self, inner: ir.Function, forms: tuple[Any, ...], result: Any) -> None:
        b, (arguments, _) = self.b, self.function.args
        place = b.alloca(WORD)
        parts = self.parts(forms, arguments)
        thread = self.call("PyEval_SaveThread")  # others may run while the loop does
        b.call(inner, [*parts, place])
        self.call("PyEval_RestoreThread", thread)
        b.ret(self.given_back(result, place))
        b.position_at_end(self.refused)
        b.ret(self.counted(arguments))

    def given_back(self, result: Any, place: Any) -> Any:
        """The result as a Python object."""
        b = self.b
        if result is None:
            return self.counted(self.thing(None))
        value = b.load(b.bitcast(place, types(result)[0].as_pointer()))
        if result.kind == FLOAT:
            return self.call("PyFloat_FromDouble", value)
        if result.kind == INT:
            return self.call("PyLong_FromLongLong", value)
        return self.counted(b.select(value, *map(self.thing, (True, False))))

    def parts(self, form: Any, given: Any) -> list[Any]:
        """The parts of an argument, see `zwang.codegen.loops.values.parts`."""
        if isinstance(form, tuple):
            self.require_type(given, tuple)
            self.require_equal(self.at(given, _HEAD, WORD), WORD(len(form)))
            items = [self.at(given, _TUPLE_ITEMS + 8 * k, _OBJECT) for k in range(len(form))]
            return [
                part for x, item in zip(form, items, strict=True) for part in self.parts(x, item)
            ]
        return (
            self.of_array(form, given) if isinstance(form, Array) else [self.of_number(form, given)]
        )

    def of_number(self, form: RuntimeNumber, given: Any) -> Any:
        if form.kind == FLOAT:
            self.require_type(given, float, np.float64)
            return self.at(given, _FLOAT_VALUE, REAL)
        if form.kind == INT:
            self.require_type(given, int)
            return self.call("PyLong_AsLongLong", given)
        yes, no = (self.same(given, self.thing(value)) for value in (True, False))
        self.require(self.b.or_(yes, no))
        return yes

    def of_array(self, form: Array, given: Any) -> list[Any]:
        b = self.b
        self.require_type(given, np.ndarray)
        self.require_equal(self.at(given, _AXES, _I32), _I32(len(form.shape)))
        description, wanted = self.at(given, _DESCRIPTION, _OBJECT), np.dtype(_SCALARS[form.kind])
        self.require_equal(self.at(description, _TYPE_NUMBER, _I32), _I32(wanted.num))
        self.require_equal(self.at(description, _BYTE_ORDER, BYTE), BYTE(ord(wanted.byteorder)))
        flags = b.and_(self.at(given, _FLAGS, _I32), _I32(_WANTED_FLAGS))
        self.require_equal(flags, _I32(_WANTED_FLAGS))
        lengths = self.at(given, _LENGTHS, _OBJECT)
        shape = [self.at(lengths, 8 * k, WORD) for k in range(len(form.shape))]
        return [self.at(given, _DATA, types(form)[0]), *shape]

    # pieces

    def at(self, pointer: Any, offset: int, kind: Any) -> Any:
        """What lies some bytes behind a pointer."""
        b = self.b
        return b.load(b.bitcast(b.gep(pointer, [WORD(offset)]), kind.as_pointer()))

    def thing(self, thing: Any) -> Any:
        """One of Python's objects."""
        place = next(k for k, known in enumerate(_OBJECTS) if known is thing)
        return self._address(place, _OBJECT)

    def call(self, name: str, *arguments: Any) -> Any:
        """One of Python's functions."""
        place = len(_OBJECTS) + list(_FUNCTIONS).index(name)
        return self.b.call(self._address(place, _FUNCTIONS[name].as_pointer()), arguments)

    def _address(self, place: int, kind: Any) -> Any:
        b = self.b
        return b.inttoptr(b.load(b.gep(self.function.args[1], [WORD(place)])), kind)

    def counted(self, thing: Any) -> Any:
        """An object with a reference more, as who is given it expects."""
        self.call("Py_IncRef", thing)
        return thing

    def same(self, a: Any, b: Any) -> Any:
        """Whether two addresses are equal."""
        return self.b.icmp_unsigned("==", self.b.ptrtoint(a, WORD), self.b.ptrtoint(b, WORD))

    def require_type(self, given: Any, *kinds: type) -> None:
        """Go on if an object is of one of these types."""
        found = self.at(given, _TYPE, _OBJECT)
        holds = self.same(found, self.thing(kinds[0]))
        for kind in kinds[1:]:
            holds = self.b.or_(holds, self.same(found, self.thing(kind)))
        self.require(holds)

    def require_equal(self, a: Any, b: Any) -> None:
        """Go on if two numbers are equal."""
        self.require(self.b.icmp_signed("==", a, b))

    def require(self, holds: Any) -> None:
        """Go on if something holds, else refuse."""
        further = self.b.append_basic_block("further")
        self.b.cbranch(holds, further, self.refused)
        self.b.position_at_end(further)
