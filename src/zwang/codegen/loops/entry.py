"""How Python hands arguments over to a compiled loop.

A loop's C function is called with the tuple of arguments and takes it apart itself, as a function
of an extension module would: from Python it takes twenty times as long, for some loops longer than
the loop.

Of Python it uses functions of the stable interface alone, no layout of objects. The public way to
the numbers of an array is the buffer protocol, at 0.15 µs for each new array of NumPy, of which a
short run has sixty: 4 % of all it takes. So the fields of an array are read where NumPy's own
macros (``PyArray_DATA`` and the like) read them in every extension module. `check_layout` compares
them with what NumPy reports, once in a process; where they differ loops are not compiled.

*   an array must be one of NumPy's, without gaps, of the right numbers and axes;
*   numbers must be ``float`` (or NumPy's, which is derived from it), ``int`` and ``bool``;
*   a tuple must be a plain one, a record one of its class.

Where an argument is something else, nothing is done and the tuple is given back.
"""

from __future__ import annotations

import ctypes
from functools import cache
from itertools import count
from typing import Any

import numpy as np
from llvmlite import ir

from zwang.codegen.loops.kinds import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    Array,
    RuntimeNumber,
    is_record,
    record_classes,
)
from zwang.codegen.loops.values import BYTE, REAL, WORD, types

__all__ = ["check_layout", "things", "write_entry"]

_OBJECT = BYTE.as_pointer()
#: Objects and functions of Python that the C function is given the addresses of, in this order;
#: then come the classes of records among its arguments.
_OBJECTS = (np.ndarray, float, np.float64, int, tuple, True, False, None)
_FUNCTIONS = {
    "Py_IncRef": ir.FunctionType(ir.VoidType(), [_OBJECT]),
    "Py_DecRef": ir.FunctionType(ir.VoidType(), [_OBJECT]),
    "PyObject_Type": ir.FunctionType(_OBJECT, [_OBJECT]),
    "PyTuple_Size": ir.FunctionType(WORD, [_OBJECT]),
    "PyTuple_GetItem": ir.FunctionType(_OBJECT, [_OBJECT, WORD]),
    "PyFloat_AsDouble": ir.FunctionType(REAL, [_OBJECT]),
    "PyLong_AsLongLong": ir.FunctionType(WORD, [_OBJECT]),
    "PyLong_FromLongLong": ir.FunctionType(_OBJECT, [WORD]),
    "PyFloat_FromDouble": ir.FunctionType(_OBJECT, [REAL]),
    "PyEval_SaveThread": ir.FunctionType(_OBJECT, []),
    "PyEval_RestoreThread": ir.FunctionType(ir.VoidType(), [_OBJECT]),
}
_HEAD = object.__basicsize__  # what every object begins with
# PyArrayObject: data, number of axes, lengths, strides, base, description, flags.
_DATA, _AXES, _LENGTHS, _DESCRIPTION, _FLAGS = (_HEAD + 8 * k for k in (0, 1, 2, 5, 6))
_WANTED_FLAGS = 0x101  # NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_ALIGNED
# PyArray_Descr: the type of scalars, letters for kind, type and order of bytes, one more, a number.
_BYTE_ORDER, _TYPE_NUMBER = _HEAD + 10, _HEAD + 12
_I32 = ir.IntType(32)
_SCALARS = {FLOAT: np.float64, INT: np.int64, BOOL: np.bool_, COMPLEX: np.complex128}


def things(forms: tuple[Any, ...]) -> ctypes.Array[ctypes.c_int64]:
    """The addresses that the C function for arguments of these forms is given."""
    addresses = [*_common_things(), *map(id, record_classes(forms))]
    return (ctypes.c_int64 * len(addresses))(*addresses)


@cache
def _common_things() -> tuple[int, ...]:
    addresses = [id(thing) for thing in _OBJECTS]
    for name in _FUNCTIONS:
        function = getattr(ctypes.pythonapi, name)
        addresses.append(ctypes.cast(function, ctypes.c_void_p).value or 0)
    return tuple(addresses)


@cache
def check_layout() -> None:
    """Compare the fields of arrays with what NumPy reports of them.

    Raises
    ------
    RuntimeError
        They are elsewhere: this is another NumPy, or another Python, than is known here.
    """
    for kind in _SCALARS.values():
        for array in (np.zeros((2, 3), kind), np.zeros((4, 5, 6), kind)[:, :, ::2]):
            if _fields(array) != _reported(array):
                raise RuntimeError(
                    f"arrays of NumPy {np.__version__} have another layout in memory than loops "
                    "are compiled for"
                )


def _fields(array: np.ndarray) -> tuple[Any, ...]:
    """What compiled code reads of an array."""

    def read(kind: Any, address: int) -> Any:
        return kind.from_address(address).value

    at, description = id(array), read(ctypes.c_int64, id(array) + _DESCRIPTION)
    axes, lengths = read(ctypes.c_int32, at + _AXES), read(ctypes.c_int64, at + _LENGTHS)
    if axes != array.ndim or description != id(array.dtype):
        return ()  # what else is there may be no address
    return (
        read(ctypes.c_int64, at + _DATA),
        tuple(read(ctypes.c_int64, lengths + 8 * k) for k in range(axes)),
        read(ctypes.c_int32, description + _TYPE_NUMBER),
        chr(read(ctypes.c_uint8, description + _BYTE_ORDER)),
        read(ctypes.c_int32, at + _FLAGS) & _WANTED_FLAGS == _WANTED_FLAGS,
    )


def _reported(array: np.ndarray) -> tuple[Any, ...]:
    """The same as NumPy reports it."""
    described, flags = array.dtype, array.flags
    sound = flags.c_contiguous and flags.aligned
    return array.ctypes.data, array.shape, described.num, described.byteorder, sound


def write_entry(inner: ir.Function, forms: tuple[Any, ...], result: Any, name: str) -> None:
    """The C function (arguments, things) → result, around a function of the loop."""
    _EntryPoint(inner.module, name).write(inner, forms, result)


class _EntryPoint:
    def __init__(self, module: ir.Module, name: str) -> None:
        kind = ir.FunctionType(_OBJECT, [_OBJECT, WORD.as_pointer()])
        self.function = ir.Function(module, kind, name)
        self.b = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.refused = self.b.append_basic_block("refused")
        self.records = count()

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
            if is_record(type(form)):
                self.require_type(given, self.record())
            else:
                self.require_type(given, self.thing(tuple))
            self.require_equal(self.call("PyTuple_Size", given), WORD(len(form)))
            items = [self.call("PyTuple_GetItem", given, WORD(k)) for k in range(len(form))]
            return [
                part for x, item in zip(form, items, strict=True) for part in self.parts(x, item)
            ]
        return (
            self.of_array(form, given) if isinstance(form, Array) else [self.of_number(form, given)]
        )

    def of_number(self, form: RuntimeNumber, given: Any) -> Any:
        if form.kind == FLOAT:
            self.require_type(given, self.thing(float), self.thing(np.float64))
            return self.call("PyFloat_AsDouble", given)
        if form.kind == INT:
            self.require_type(given, self.thing(int))
            return self.call("PyLong_AsLongLong", given)
        yes, no = (self.same(given, self.thing(value)) for value in (True, False))
        self.require(self.b.or_(yes, no))
        return yes

    def of_array(self, form: Array, given: Any) -> list[Any]:
        b = self.b
        self.require_type(given, self.thing(np.ndarray))
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

    def record(self) -> Any:
        """The class of the next record among the arguments."""
        return self._address(len(_OBJECTS) + len(_FUNCTIONS) + next(self.records), _OBJECT)

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

    def require_type(self, given: Any, *kinds: Any) -> None:
        """Go on if the type of an object is one of these."""
        own = self.call("PyObject_Type", given)
        self.call("Py_DecRef", own)  # the object holds it as well
        holds = self.same(own, kinds[0])
        for kind in kinds[1:]:
            holds = self.b.or_(holds, self.same(own, kind))
        self.require(holds)

    def require_equal(self, a: Any, b: Any) -> None:
        """Go on if two numbers are equal."""
        self.require(self.b.icmp_signed("==", a, b))

    def require(self, holds: Any) -> None:
        """Go on if something holds, else refuse."""
        further = self.b.append_basic_block("further")
        self.b.cbranch(holds, further, self.refused)
        self.b.position_at_end(further)
