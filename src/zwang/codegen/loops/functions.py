"""Functions of Python, NumPy and the C library that loops may call."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from zwang.codegen.call import call, part
from zwang.codegen.loops.code import FunctionCode
from zwang.codegen.loops.kinds import BOOL, COMPLEX, FLOAT, INT, Array, RuntimeNumber
from zwang.codegen.loops.values import BYTE, WORD, LoopError, kind_of

__all__ = ["FUNCTIONS", "KINDS_OF_TYPES", "PLAIN"]


def _call(code: FunctionCode, address: Any, *arrays: Any) -> None:
    b, byte, pointers = code.builder, BYTE.as_pointer(), []
    for position, array in enumerate(arrays):
        if isinstance(array, Array) and array.kind == FLOAT:
            pointers.append(b.bitcast(array.data, byte))
        elif not isinstance(array, Array) and kind_of(array) == INT:
            pointers.append(b.inttoptr(code.word(array), byte))
        else:
            raise LoopError(f"argument {position + 1} of a kernel call is no array of float64")
    function = ir.FunctionType(ir.VoidType(), [byte] * len(pointers))
    b.call(b.inttoptr(code.word(address), function.as_pointer()), pointers)


def _part(code: FunctionCode, array: Array, first: Any) -> RuntimeNumber:
    inner = code.part(array, [slice(first, None)])
    return RuntimeNumber(INT, code.builder.ptrtoint(inner.data, WORD))


#: Function → what writes its instructions, given `FunctionCode` and its arguments.
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    abs: FunctionCode.magnitude,
    min: lambda code, *values: code.extreme(operator.lt, *values),
    max: lambda code, *values: code.extreme(operator.gt, *values),
    float: lambda code, value: code.number(value, FLOAT),
    complex: lambda code, re, im: RuntimeNumber(
        COMPLEX, tuple(code.number(x, FLOAT).value for x in (re, im))
    ),
    np.sqrt: FunctionCode.root,
    math.sqrt: FunctionCode.root,
    len: lambda _, value: (
        RuntimeNumber(INT, value.shape[0]) if isinstance(value, Array) else len(value)
    ),
}
for _name in ("exp", "log", "sin", "cos", "tan"):
    for _module in (np, math):
        FUNCTIONS[getattr(_module, _name)] = lambda code, x, name=_name: code.library(name, x)

#: Those that Python works out itself where all arguments are known.
PLAIN = frozenset(FUNCTIONS)
FUNCTIONS |= {call: _call, part: _part}

#: Kinds of numbers by what arrays are made of.
KINDS_OF_TYPES = {np.float64: FLOAT, float: FLOAT, np.int64: INT, int: INT}
KINDS_OF_TYPES |= {np.bool_: BOOL, bool: BOOL, np.complex128: COMPLEX, complex: COMPLEX}
