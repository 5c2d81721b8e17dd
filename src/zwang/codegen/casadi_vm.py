"""CasADi's virtual machine in place of compiled kernels: same numbers, slower, no compiler.

The machine is given the expression that would have been compiled, and it is reached through an
address with the same arguments, so that compiled loops need not know.
"""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.codegen.call import IN_PYTHON
from zwang.codegen.llvm import LoadedCode

if TYPE_CHECKING:
    import casadi

    from zwang.codegen.expression import Expression

__all__ = ["interpret", "to_function"]

_VIEWS = 64  # that are kept of each argument


def to_function(expression: Expression) -> casadi.Function:
    """CasADi function of an expression: vectors of nonzeros in, vectors of nonzeros out."""
    import casadi

    ports = [casadi.SX.sym(f"i{k}", port.size) for k, port in enumerate(expression.inputs)]
    entries = [casadi.vertsplit(port) if port.numel() else [] for port in ports]
    values: list[casadi.SX] = []
    for operation, arguments in expression.instructions:
        if operation == "input":
            values.append(entries[arguments[0]][arguments[1]])
        elif operation == "const":
            values.append(casadi.SX(expression.constants[arguments[0]]))
        else:
            code = getattr(casadi, f"OP_{operation.upper()}")
            x = [values[a] for a in arguments]
            values.append(casadi.SX.unary(code, *x) if len(x) == 1 else casadi.SX.binary(code, *x))
    # A structural zero of CasADi's must stay an entry of the output.
    columns = [[casadi.SX(0.0)] * port.size for port in expression.outputs]
    for port, entry, value in expression.stores:
        columns[port][entry] = values[value]
    outputs = [casadi.densify(casadi.vertcat(*column)) for column in columns]
    return casadi.Function("machine", ports, outputs)


def interpret(
    expression: Expression, lanes: int, shared: frozenset[int] = frozenset()
) -> LoadedCode:
    """An address that runs an expression on CasADi's machine, lane by lane.

    The arguments are those of a compiled kernel; the work array is not used. Calls from several
    threads take turns.
    """
    function = to_function(expression)
    # Staging arrays, [lane][entry] for the machine, which evaluates lanes one after the other.
    inputs = [np.zeros((lanes, max(port.size, 1))) for port in expression.inputs]
    outputs = [np.zeros((lanes, max(port.size, 1))) for port in expression.outputs]
    buffers = [_buffer(function, inputs, outputs, lane) for lane in range(lanes)]
    sizes = [port.size for port in (*expression.inputs, *expression.outputs)]
    widths = [1 if k in shared else lanes for k in range(len(sizes))]
    types: list[Any] = [
        ctypes.c_double * max(size * width, 1) for size, width in zip(sizes, widths, strict=True)
    ]
    # Ports that are not empty: where they stand, their staging arrays, and views by address.
    ports = [(k, staged, {}) for k, staged in enumerate((*inputs, *outputs)) if sizes[k]]
    given = [port for port in ports if port[0] < len(inputs)]
    wanted = [port for port in ports if port[0] >= len(inputs)]
    lock = threading.Lock()

    def view_of(k: int, pointer: int, views: dict[int, np.ndarray]) -> np.ndarray:
        """Numbers at an address, [lane][entry]: calls come with the same few again and again."""
        view = views.get(pointer)
        if view is None:
            if len(views) >= _VIEWS:
                views.clear()
            view = np.frombuffer(types[k].from_address(pointer)).reshape(-1, widths[k]).T
            views[pointer] = view
        return view

    def run(*pointers: int) -> None:
        with lock:
            for k, staged, views in given:
                staged[...] = view_of(k, pointers[k], views)
            for _, evaluate in buffers:
                evaluate()
            for k, staged, views in wanted:
                view_of(k, pointers[k], views)[...] = staged

    prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(sizes) + 1))
    callback = prototype(run)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address is not None
    IN_PYTHON[address] = run
    return LoadedCode(address, (callback, run, buffers, function))


def _buffer(
    function: casadi.Function, inputs: list[np.ndarray], outputs: list[np.ndarray], lane: int
) -> tuple[Any, Any]:
    """CasADi's evaluation object for one lane, bound to its rows of the staging arrays."""
    buffer: Any
    buffer, evaluate = function.buffer()
    for k, array in enumerate(inputs):
        buffer.set_arg(k, memoryview(array[lane]))
    for k, array in enumerate(outputs):
        buffer.set_res(k, memoryview(array[lane]))
    return buffer, evaluate
