"""Kernels: compiled functions of arrays, called by address or from Python."""

from __future__ import annotations

import ctypes
import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from zwang.codegen.background import enqueue
from zwang.codegen.environment import FAILURES, in_background, llvm_failed, target, uses_llvm
from zwang.codegen.expression import read
from zwang.codegen.machine_code import KernelJob, compiled, key_of, stored
from zwang.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import casadi
    from numpy.typing import ArrayLike, NDArray

    from zwang.codegen.expression import Expression, Port
    from zwang.codegen.llvm import LoadedCode
    from zwang.codegen.machine_code import MachineCode

__all__ = [
    "LANES",
    "InterpretedCode",
    "Kernel",
    "address",
    "cache_hits",
    "compilations",
    "compile",
    "compile_expression",
]

LANES = (1, 2, 4, 8)
_WORK_ALIGNMENT = 64  # bytes: a cache line, and the widest vector

_lock = threading.RLock()
_counts = {"compilations": 0, "cache hits": 0}
# Code already in this process. It is dropped when the last kernel that uses it is.
_loaded: WeakValueDictionary[tuple[Any, ...], _KernelCode] = WeakValueDictionary()


def compilations() -> int:
    """Number of kernels this process has compiled, as opposed to found in the cache or memory."""
    return _counts["compilations"]


def cache_hits() -> int:
    """Number of kernels this process has loaded from the cache on disk."""
    return _counts["cache hits"]


class _KernelCode:
    """Code in memory and the size of the work array it needs."""

    def __init__(self, loaded: LoadedCode, work_size: int, *, compiled: bool) -> None:
        self.loaded, self.work_size, self.compiled = loaded, work_size, compiled


class InterpretedCode(_KernelCode):
    """Bytecode that is run by the interpreter, until compiled code takes its place."""

    def __init__(self, expression: Expression, lanes: int, shared: frozenset[int]) -> None:
        from zwang.codegen.entry_slots import EntrySlot
        from zwang.codegen.interpreter import encode, interpreter
        from zwang.codegen.llvm import LoadedCode, host

        bytecode = encode(expression, lanes=lanes, fma=host().fma, shared=shared)
        sizes = len(expression.inputs), len(expression.outputs)
        self._slot = EntrySlot.interpreting(bytecode, interpreter(lanes), *sizes)
        self._operations = bytecode.operations
        loaded = LoadedCode(self._slot.address, self._slot)
        # Compiled code keeps some of its values in the work array, never more than there are.
        size = max(bytecode.slots, bytecode.operations) * lanes
        super().__init__(loaded, size, compiled=True)

    @property
    def operations_done(self) -> float:
        """How many operations were interpreted so far."""
        return self._slot.calls * self._operations

    def exchange(self, made: MachineCode) -> None:
        """Run compiled code from now on, with the same address."""
        from zwang.codegen.llvm import load

        if made.work_size > self.work_size:  # arrays that loops hold are as long as they are
            raise RuntimeError(f"a kernel has {made.work_size} places, {self.work_size} at most")
        self._slot.point_to(load(made.code))


class Kernel:
    """A function of arrays in machine code, or on CasADi's machine where that is not possible.

    In C it is ``void kernel(const double *input…, double *output…, double *work)``: one pointer
    for each of `inputs`, one for each of `outputs`, and one to `work_size` doubles (any pointer if
    that is 0). Arrays hold the structural nonzeros in CasADi's order, column by column; with L
    lanes entry i of lane k is at position i·L + k, but for inputs that lanes have in common, where
    entry i is at position i for all lanes. Inputs may share memory with each other, but
    outputs and work with nothing else. A kernel keeps no state: with a work array for each thread
    it may run in many threads.

    Attributes
    ----------
    name : for messages.
    address : of the code, for `zwang.codegen.call.call`; good for as long as this object lives.
    inputs, outputs : name and size of each array, the size counting entries of one lane.
    lanes : lane width.
    shared : numbers of the inputs that lanes have in common.
    work_size : length of the work array, all lanes counted.
    compiled : whether this is machine code.
    operations : how many operations compute one lane, where it is one expression; else None.
    failure : why the last call by address failed, for kernels that call Python; else None.

    Examples
    --------
    >>> import casadi
    >>> x = casadi.SX.sym("x", 2)
    >>> kernel = compile(casadi.Function("f", [x], [x[0] * x[1], x + 1]))
    >>> kernel([2.0, 3.0])
    (array([6.]), array([3., 4.]))
    """

    failure: BaseException | None = None

    shared: frozenset[int] = frozenset()
    operations: int | None = None

    def __init__(
        self,
        name: str,
        expression: Expression,
        lanes: int,
        code: _KernelCode,
        shared: frozenset[int] = frozenset(),
    ) -> None:
        self.name = name
        self.lanes, self.shared = lanes, shared
        self.inputs: tuple[Port, ...] = expression.inputs
        self.outputs: tuple[Port, ...] = expression.outputs
        self.work_size: int = code.work_size
        self.address: int = code.loaded.address
        self.compiled: bool = code.compiled
        self.operations = expression.operation_count
        self._code = code
        count = len(self.inputs) + len(self.outputs) + 1
        self._function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(self.address)

    def __call__(self, *inputs: ArrayLike) -> tuple[NDArray[np.float64], ...]:
        """Evaluate.

        Parameters
        ----------
        inputs : one array for each input, shape (size,), or (size, lanes) if there are lanes that
            do not share it; a number will do for an input of size 1 without lanes.

        Returns
        -------
        tuple of arrays, one for each output, of shape (size,) or (size, lanes).
        """
        arrays = self._checked(inputs)
        results = [np.empty(shape) for shape in self._shapes[1]]
        work = np.empty(max(self.work_size, 1))
        self._function(*[address(array) for array in (*arrays, *results, work)])
        return tuple(results)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{port.name}[{port.size}]" for port in self.inputs)
        outputs = ", ".join(f"{port.name}[{port.size}]" for port in self.outputs)
        return f"<Kernel {self.name}: ({inputs}) -> ({outputs}), lanes={self.lanes}>"

    def work(self) -> NDArray[np.float64]:
        """A new work array, at least one number long and, for lanes, aligned for vectors."""
        size = max(self.work_size, 1)
        if self.lanes == 1:
            return np.empty(size)
        spare = _WORK_ALIGNMENT // 8
        array = np.empty(size + spare)
        start = -address(array) % _WORK_ALIGNMENT // 8
        return array[start : start + size]

    @cached_property
    def _shapes(self) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """Shapes of the inputs and of the outputs."""
        inputs = [
            (port.size,) if k in self.shared else self._shape(port)
            for k, port in enumerate(self.inputs)
        ]
        return inputs, [self._shape(p) for p in self.outputs]

    def _shape(self, port: Port) -> tuple[int, ...]:
        return (port.size,) if self.lanes == 1 else (port.size, self.lanes)

    def _checked(self, inputs: tuple[ArrayLike, ...]) -> list[NDArray[np.float64]]:
        if len(inputs) != len(self.inputs):
            names = ", ".join(port.name for port in self.inputs)
            raise InputError(
                f"kernel '{self.name}'",
                must=f"have {len(self.inputs)} arguments ({names})",
                but=f"was given {len(inputs)}",
            )
        arrays: list[NDArray[np.float64]] = []
        for k, (given, shape) in enumerate(zip(inputs, self._shapes[0], strict=True)):
            array = np.ascontiguousarray(given, dtype=np.float64)  # at least one-dimensional
            if array.shape != shape:
                raise InputError(
                    f"kernel '{self.name}', input '{self.inputs[k].name}'",
                    must=f"have shape {shape}",
                    but=f"has shape {array.shape}",
                )
            arrays.append(array)
        return arrays


def address(array: Any) -> int:
    """Address of the first number; three times faster than ``array.ctypes.data`` where it can."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):  # read-only, or empty
        return array.ctypes.data


def compile(  # noqa: A001 - used as kernels.compile
    function: casadi.Function,
    *,
    lanes: int = 1,
    shared: Iterable[int] = (),
    name: str | None = None,
) -> Kernel:
    """Kernel of a CasADi function.

    Equal expressions share their code, in memory and on disk; the numbers that go into a kernel
    are arguments, so new values never compile anything. With ``ZWANG_LLVM=off`` in the environment,
    and after one logged warning where compiling fails, the kernel runs on CasADi's machine.

    Parameters
    ----------
    function : of SX symbols (of MX symbols, if CasADi can expand it).
    lanes : 1, 2, 4 or 8 sets of inputs evaluated at once; each gives bit by bit what one lane does.
    shared : numbers of the inputs that all lanes have in common.
    name : for messages; the function's name if not given.

    Raises
    ------
    UnsupportedOperationError
        The function contains an operation that has no compiled form; the message names it.
    """
    if lanes not in LANES:
        raise InputError("lanes", found=repr(lanes), expected=f"one of {LANES}")
    label = name or function.name()
    return compile_expression(read(function), lanes=lanes, shared=shared, name=label)


def compile_expression(
    expression: Expression, *, lanes: int, shared: Iterable[int] = (), name: str
) -> Kernel:
    """Kernel of a list of instructions; outputs that nothing is stored to are left as they are."""
    common = frozenset(shared) if lanes > 1 else frozenset()
    wanted = uses_llvm("kernels")
    with _lock:
        # Held by a local name until the kernel holds it: the table's references are weak.
        key = (expression.key, lanes, common, target() if wanted else None)
        code = _loaded.get(key)
        if code is None:
            make = _compiled_code if wanted else _interpreted
            code = _loaded[key] = make(expression, lanes, common)
    return Kernel(name, expression, lanes, code, common)


def _interpreted(expression: Expression, lanes: int, shared: frozenset[int]) -> _KernelCode:
    from zwang.codegen.casadi_vm import interpret

    return _KernelCode(interpret(expression, lanes, shared), 0, compiled=False)


def _compiled_code(expression: Expression, lanes: int, shared: frozenset[int]) -> _KernelCode:
    """Code from the cache or compiled now; on CasADi's machine if this platform cannot."""
    try:
        return _from_cache_or_compiler(expression, lanes, shared)
    except FAILURES as error:
        llvm_failed(error)
        return _interpreted(expression, lanes, shared)


def _from_cache_or_compiler(
    expression: Expression, lanes: int, shared: frozenset[int]
) -> _KernelCode:
    from zwang.codegen.llvm import load

    key = key_of(expression, lanes, shared)
    found = stored(key)
    if found is not None:
        _counts["cache hits"] += 1
        return _KernelCode(load(found.code), found.work_size, compiled=True)
    if in_background():
        code = InterpretedCode(expression, lanes, shared)
        enqueue(code, KernelJob(expression, lanes, shared, key))
    else:
        made = compiled(expression, lanes, shared, key)
        code = _KernelCode(load(made.code), made.work_size, compiled=True)
    _counts["compilations"] += 1
    return code
