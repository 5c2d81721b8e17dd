"""Glue between kernels in machine code: a few lines that call other kernels by their addresses."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zwang.codegen.environment import FAILURES, llvm_failed, uses_llvm
from zwang.codegen.kernel import Kernel
from zwang.codegen.llvm import LoadedCode, load, object_code

if TYPE_CHECKING:
    from zwang.codegen.expression import Port

__all__ = ["GlueKernel"]


class GlueKernel(Kernel):
    """A kernel made of calls of others, whose addresses are in its code.

    Parameters
    ----------
    assembly : gives the LLVM assembly of it, or code that is there already.
    plain : the same in Python, for where LLVM is not used: a function of its pointers.
    work_size : length of its work array, all lanes counted.
    """

    def __init__(
        self,
        name: str,
        ports: tuple[tuple[Port, ...], tuple[Port, ...]],
        assembly: Callable[[], str | LoadedCode],
        plain: Callable[..., None],
        work_size: int,
        *,
        lanes: int = 1,
        shared: frozenset[int] = frozenset(),
    ) -> None:
        code = _compiled(assembly) if uses_llvm("kernels") else None
        written: Any = _Ports(*ports)
        compiled = code is not None
        loaded: Any = _Loaded(code or _called(plain, sum(map(len, ports)) + 1), work_size, compiled)
        super().__init__(name, written, lanes, loaded, shared)


class _Ports:
    """Inputs and outputs, as a kernel asks for them."""

    operation_count = None  # it is not one expression

    def __init__(self, inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> None:
        self.inputs, self.outputs = inputs, outputs


class _Loaded:
    """Code in memory and what it needs, as a kernel asks for them."""

    def __init__(self, loaded: LoadedCode, work_size: int, compiled: bool) -> None:  # noqa: FBT001 - one caller
        self.loaded, self.work_size, self.compiled = loaded, work_size, compiled


def _compiled(assembly: Callable[[], str | LoadedCode]) -> LoadedCode | None:
    try:
        made = assembly()
        return load(object_code(made)) if isinstance(made, str) else made
    except FAILURES as error:
        llvm_failed(error)
        return None


def _called(plain: Callable[..., None], pointers: int) -> LoadedCode:
    callback = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * pointers)(plain)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address is not None
    return LoadedCode(address, callback)
