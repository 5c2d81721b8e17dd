"""Machine code called by its address, from compiled loops and from Python alike.

In a function compiled by `zwang.codegen.jit.loop`

    call(address, q, v, result, work)

costs a plain C call: arrays are passed as pointers to their first numbers. See
`zwang.codegen.loops.functions` for the compiled form; elsewhere the same line runs in Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["IN_PYTHON", "call", "part"]

#: What is at addresses of code in Python, for as long as that lives: it is called without a detour
#: through C, where no error can cross either.
IN_PYTHON: WeakValueDictionary[int, Callable[..., None]] = WeakValueDictionary()


def call(address: int, *arrays: NDArray[np.float64] | int) -> None:
    """Call a kernel: its inputs, its outputs and its work array, in this order.

    Parameters
    ----------
    address : `Kernel.address`.
    arrays : contiguous arrays of float64; an integer is taken for an address. Nothing is checked:
        too few arrays, or too short ones, end the process.
    """
    pointers = [array if isinstance(array, int) else array.ctypes.data for array in arrays]
    function = IN_PYTHON.get(address)
    if function is None:
        function = _prototype(len(pointers))(int(address))
    function(*pointers)


@cache
def _prototype(count: int) -> Any:
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)


def part(array: NDArray[np.float64], first: int) -> int:
    """Address of array[first], to be passed to `call` in place of array[first:].

    Slicing an array looks at where it begins and ends; here nothing is checked.
    """
    return array.ctypes.data + int(first) * array.strides[0]
