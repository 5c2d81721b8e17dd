"""Call a kernel by its address, from compiled loops and from Python alike.

In a function compiled by `zwang.kernels.jit.jit`

    call(address, q, v, result, work)

costs a plain C call: arrays are passed as pointers to their first numbers. With Numba switched off
(``NUMBA_DISABLE_JIT=1``) the same line runs in Python.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["call", "part"]


def call(address: int, *arrays: NDArray[np.float64] | int) -> None:
    """Call a kernel: its inputs, its outputs and its work array, in this order.

    Parameters
    ----------
    address : `Kernel.address`.
    arrays : contiguous arrays of float64; an integer is taken for an address. Nothing is checked:
        too few arrays, or too short ones, end the process.
    """
    pointers = [array if isinstance(array, int) else array.ctypes.data for array in arrays]
    _prototype(len(pointers))(int(address))(*pointers)


@cache
def _prototype(count: int) -> Any:
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)


@overload(call)
def _compiled_call(address: Any, *arrays: Any) -> Callable[..., None]:  # noqa: ARG001 - types only
    def implementation(address: Any, *arrays: Any) -> None:
        _call(address, arrays)  # pyright: ignore[reportCallIssue] - Numba passes the context

    return implementation


@intrinsic
def _call(typing_context: Any, address: Any, arrays: Any) -> Any:  # noqa: ARG001 - Numba's form
    """Type of a call, and the code to write for it."""
    for position, kind in enumerate(arrays.types):
        contiguous = isinstance(kind, types.Array) and kind.layout == "C"
        if isinstance(kind, types.Integer) or (contiguous and kind.dtype == types.float64):
            continue
        message = f"argument {position + 1} of a kernel call is {kind}, not a contiguous array"
        raise TypingError(message)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        pointers = []
        for place, kind in enumerate(signature.args[1].types):
            value = builder.extract_value(arguments[1], place)
            if isinstance(kind, types.Array):
                data = context.make_array(kind)(context, builder, value).data
                pointers.append(builder.bitcast(data, byte))
            else:
                pointers.append(builder.inttoptr(value, byte))
        function_type = ir.FunctionType(ir.VoidType(), [byte] * len(pointers))
        function = builder.inttoptr(arguments[0], function_type.as_pointer())
        builder.call(function, pointers)
        return context.get_dummy_value()

    return types.void(types.intp, arrays), generate


def part(array: NDArray[np.float64], first: int) -> int:
    """Address of array[first], to be passed to `call` in place of array[first:].

    Slicing an array looks at where it begins and ends; here nothing is checked.
    """
    return array.ctypes.data + first * array.strides[0]


@overload(part)
def _compiled_part(array: Any, first: Any) -> Callable[..., int]:  # noqa: ARG001 - types only
    def implementation(array: Any, first: Any) -> int:
        return _part(array, first)  # pyright: ignore[reportCallIssue] - Numba passes the context

    return implementation


@intrinsic
def _part(typing_context: Any, array: Any, first: Any) -> Any:  # noqa: ARG001 - Numba's form
    """Type of an address, and the code to write for it."""
    if not isinstance(array, types.Array) or array.layout != "C":
        raise TypingError(f"{array} is not a contiguous array")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        stride = builder.extract_value(view.strides, 0)
        base = builder.ptrtoint(view.data, stride.type)
        return builder.add(base, builder.mul(arguments[1], stride))

    return types.intp(array, types.intp), generate
