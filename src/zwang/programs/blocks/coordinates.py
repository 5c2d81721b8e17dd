"""Block programs in other coordinates: a coordinate change whose way back is a call list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zwang.codegen.call import call
from zwang.codegen.emit import ENTRY_POINT
from zwang.codegen.glue import GlueKernel
from zwang.codegen.kernel import Kernel
from zwang.codegen.kernel import compile as compile_kernel
from zwang.programs.coordinate_change import CoordinateChange, through
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

__all__ = ["CoordinateChangeByCalls"]


@dataclass(frozen=True)
class CoordinateChangeByCalls(CoordinateChange):
    """A carrier of a large system.

    Attributes
    ----------
    way_back : makes the kernels ``leave``, (q̂, v̂, t, p̂) → (q, v), and ``rates``, the same of
        ((q̂, q̂̇), (v̂, v̂̇), t, p̂) → (q̇, v̇).
    """

    way_back: Callable[[str], Kernel] = field(repr=False)

    @property
    def leaving(self) -> Kernel:
        """(q̂, v̂, t, p̂) → (q, v)."""
        return self._leaving

    @cached_property
    def _leaving(self) -> Kernel:
        return self.way_back("leave")

    @cached_property
    def _rates(self) -> Kernel:
        return self.way_back("rates")

    def accelerations(
        self, Y: FloatArray, rates: FloatArray, t: float, P: FloatArray
    ) -> FloatArray:
        """v̇ (N, nv) of the system from Ŷ (N, n̂), its rates and P̂ (N, np̂)."""
        n = self.inner[0]
        rows = np.concatenate([Y[:, :n], rates[:, :n], Y[:, n:], rates[:, n:]], axis=1)
        return through(self._rates, rows, np.full(len(Y), t), P)[:, self.outer[0] :]

    def seen(self, name: str, e: casadi.SX, symbols: tuple[casadi.SX, ...]) -> Kernel:
        """A kernel of the carrier's for an expression of the system's symbols q, v, t, p."""
        import casadi as ca

        function = ca.Function(name, list(symbols), [ca.densify(e)])
        return _After(self.leaving, compile_kernel(function, name=name))


class _After(GlueKernel):
    """A kernel of (q, v, t, p) with one result, evaluated where another kernel leads."""

    def __init__(self, first: Kernel, then: Kernel) -> None:
        nq, nv = (port.size for port in first.outputs)
        self._kept = first, then  # the code below holds their addresses

        def plain(q: int, v: int, t: int, p: int, out: int, work: int) -> None:
            there, rest = work + 8 * nq, work + 8 * (nq + nv)
            call(first.address, q, v, t, p, work, there, rest)
            call(then.address, work, there, t, p, out, rest)

        super().__init__(
            then.name,
            (first.inputs, then.outputs),
            lambda: _both(first.address, then.address, nq, nv),
            plain,
            nq + nv + max(first.work_size, then.work_size),
        )


def _both(first: int, then: int, q: int, v: int) -> str:
    """LLVM assembly that calls the one and then the other; (q, v) begin the work array."""
    names = ["q", "v", "t", "p", "out", "work"]
    return f"""define void @{ENTRY_POINT}({", ".join(f"ptr %{name}" for name in names)}) nounwind {{
  %first = inttoptr i64 {first} to ptr
  %then = inttoptr i64 {then} to ptr
  %there = getelementptr double, ptr %work, i64 {q}
  %rest = getelementptr double, ptr %work, i64 {q + v}
  call void %first(ptr %q, ptr %v, ptr %t, ptr %p, ptr %work, ptr %there, ptr %rest)
  call void %then(ptr %work, ptr %there, ptr %t, ptr %p, ptr %out, ptr %rest)
  ret void
}}
"""
