"""Compiled evaluation of a traced model, for one state or many."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from zwang.codegen.kernel import Kernel
from zwang.terms import FloatArray
from zwang.tracing.differentiate import depends_on, jacobian
from zwang.tracing.mixed_kernel import Report, StagedKernel, staged

if TYPE_CHECKING:
    import casadi

    from zwang.tracing.traced_model import TracedModel

__all__ = ["Evaluator"]


class Evaluator:
    """Kernels of a model, compiled on first use, with parameters as inputs.

    Each method takes q (…, nq), v (…, nv), t (…) and the flat parameter vector p and returns
    arrays with the same leading axes.
    """

    def __init__(self, model: TracedModel) -> None:
        self.model = model
        self._kernels: dict[str, tuple[Kernel, list[tuple[int, ...]]]] = {}
        self._law: Kernel | None = None

    def kernel(
        self, name: str, outputs: Callable[[TracedModel], Mapping[str, casadi.SX]]
    ) -> Kernel:
        """The kernel of that name, compiled if this is its first use."""
        if name not in self._kernels:
            expressions = outputs(self.model)
            shapes = [tuple(e.shape) for e in expressions.values()]
            self._kernels[name] = self._compiled(name, expressions), shapes
        return self._kernels[name][0]

    def _compiled(
        self, name: str, outputs: Mapping[str, casadi.SX], *more: tuple[str, casadi.SX]
    ) -> Kernel:
        s = self.model.state
        inputs = {"q": s.q, "v": s.v, "t": s.t, "p": s.p, **dict(more)}
        return staged(name, inputs, outputs, s.calls)

    def law(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray, multipliers: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """C (n,) and ∂C/∂λ (n, m) at one state, for given multipliers λ."""
        if self._law is None:
            m = self.model
            outputs = {"C": m.C, "slope": jacobian(m.C, m.multipliers, m.state)}
            self._law = self._compiled("law", outputs, ("lambda", m.multipliers))
        C, slope = self._law(q, v, t, p, multipliers)
        return C, slope.reshape(len(multipliers), len(C)).T

    @cached_property
    def disagreement(self) -> Kernel:
        """(q, v, t, p, v̇) → (b − A v̇, b): what an acceleration leaves of the constraints."""
        import casadi as ca

        m = self.model
        a = ca.SX.sym("a", m.state.v.numel())
        return self._compiled("disagreement", {"miss": m.b - ca.mtimes(m.A, a), "b": m.b}, ("a", a))

    @cached_property
    def law_multipliers(self) -> list[int]:
        """Which multipliers C depends on."""
        m = self.model
        count = m.multipliers.numel()
        return [i for i in range(count) if depends_on(m.C, m.multipliers[i], m.state)]

    def opaque_reports(self, name: str) -> dict[str, Report]:
        """How the last evaluation of a kernel differentiated opaque functions, by their names."""
        kernel = self._kernels[name][0]
        return kernel.reports if isinstance(kernel, StagedKernel) else {}

    def __call__(
        self,
        name: str,
        outputs: Callable[[TracedModel], Mapping[str, casadi.SX]],
        q: FloatArray,
        v: FloatArray,
        t: FloatArray,
        p: FloatArray,
    ) -> list[FloatArray]:
        """Evaluate a named set of expressions; matrices come out as (…, rows, columns)."""
        kernel = self.kernel(name, outputs)
        if isinstance(kernel, StagedKernel):
            kernel.reset()
        shapes = self._kernels[name][1]
        batch = q.shape[:-1]
        if not batch:
            flat = kernel(q, v, np.atleast_1d(t), p)
            return [_shaped(x, shape, ()) for x, shape in zip(flat, shapes, strict=True)]
        flat_q = np.ascontiguousarray(q.reshape(-1, q.shape[-1]))
        flat_v = np.ascontiguousarray(
            np.broadcast_to(v, (*batch, v.shape[-1])).reshape(len(flat_q), -1)
        )
        flat_t = np.ascontiguousarray(np.broadcast_to(t, batch).reshape(-1, 1), dtype=float)
        results: list[FloatArray] = [np.empty((len(flat_q), port.size)) for port in kernel.outputs]
        if isinstance(kernel, StagedKernel):  # it may raise, which a call by address may not
            for i in range(len(flat_q)):
                for result, value in zip(
                    results, kernel(flat_q[i], flat_v[i], flat_t[i], p), strict=True
                ):
                    result[i] = value
        else:
            _map(kernel, [flat_q, flat_v, flat_t], np.ascontiguousarray(p, dtype=float), results)
        return [_shaped(x, shape, batch) for x, shape in zip(results, shapes, strict=True)]


def _shaped(flat: FloatArray, shape: tuple[int, ...], batch: tuple[int, ...]) -> FloatArray:
    """CasADi's column-major entries as an array; columns of one become vectors."""
    rows, columns = shape
    if columns == 1:
        return flat.reshape(*batch, rows)
    return np.swapaxes(flat.reshape(*batch, columns, rows), -1, -2)


def _map(
    kernel: Kernel, inputs: list[FloatArray], p: FloatArray, results: list[FloatArray]
) -> None:
    """Call the kernel for every row, moving pointers instead of making arrays."""
    count = len(inputs) + 2 + len(results)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(kernel.address)
    work = kernel.work()
    rows = [*map(_rows, inputs), repeat(p.ctypes.data), *map(_rows, results)]
    for pointers in zip(*rows, repeat(work.ctypes.data), strict=False):
        function(*pointers)


def _rows(array: FloatArray) -> Iterable[int]:
    """Addresses of the rows of an array."""
    first, step = array.ctypes.data, array.strides[0]
    return range(first, first + len(array) * step, step) if array.size else repeat(first)
