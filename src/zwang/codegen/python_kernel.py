"""Kernels in Python, with an address that compiled loops can call."""

from __future__ import annotations

import ctypes
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.codegen.expression import Port
from zwang.codegen.kernel import Kernel

__all__ = ["CalledKernel"]


class CalledKernel(Kernel):
    """A kernel that calls Python; the same interface, one lane.

    Its `address` is that of a callback, so that compiled loops can use it like any other. No error
    may cross them: a call that fails there leaves NaN in the outputs and the reason in `failure`.
    """

    def __init__(self, name: str, inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> None:
        self.name = name
        self.inputs, self.outputs = inputs, outputs
        self.lanes, self.work_size, self.compiled = 1, 0, False
        self._function = self._callback()
        self.address = ctypes.cast(self._function, ctypes.c_void_p).value or 0
        self.failure = None

    @abstractmethod
    def __call__(self, *inputs: Any) -> tuple[NDArray[np.float64], ...]:
        """Evaluate; see `Kernel`."""

    def _callback(self) -> Any:
        sizes = [port.size for port in (*self.inputs, *self.outputs)]
        types: list[Any] = [ctypes.c_double * size for size in sizes]
        count = len(self.inputs)

        def run(*pointers: int) -> None:
            views = [
                np.frombuffer(kind.from_address(pointer)) if size else np.zeros(0)
                for pointer, size, kind in zip(pointers, sizes, types, strict=False)
            ]
            if not all(np.isfinite(view).all() for view in views[:count]):
                for view in views[count:]:  # a stage after one that failed, for its own reason
                    view[...] = np.nan
                return
            try:
                results = self(*views[:count])
            except BaseException as error:  # noqa: BLE001 - Ctrl-C cannot cross either
                self.failure = error
                for view in views[count:]:
                    view[...] = np.nan
                return
            for view, result in zip(views[count:], results, strict=True):
                view[...] = result

        return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(sizes) + 1))(run)
