"""A Jacobian column by column: one kernel for its product with a direction, called for each.

Written down as a whole, the Jacobian of n equations is n solves in one expression: 60 freedoms make
half a million operations, which take a minute to compile and do not fit any cache. The product with
one direction is a few times the size of the equations.
"""

from __future__ import annotations

from typing import Any

from zwang.engine.blocks.algebra import zeros
from zwang.engine.blocks.play import Loaded, Ports
from zwang.kernels.element import Kernel
from zwang.kernels.element import compile as compile_kernel
from zwang.kernels.emit import ENTRY_POINT
from zwang.kernels.expression import Port
from zwang.kernels.llvm import load, object_code

__all__ = ["ColumnsKernel"]


class ColumnsKernel(Kernel):
    """(q, v, t, p) → J, column after column, from (q, v, t, p, direction) → J·direction."""

    def __init__(self, name: str, product: Kernel) -> None:
        n = product.outputs[0].size
        nothing = compile_kernel(zeros(n))
        self._kept = product, nothing  # the code below holds their addresses
        code = load(object_code(_loop(product.address, nothing.address, n)))
        ports: Any = Ports(product.inputs[:-1], (Port(name, n * n),))
        work_size = n + max(product.work_size, nothing.work_size)
        loaded: Any = Loaded(code, work_size)
        super().__init__(name, ports, 1, loaded)


def _loop(product: int, nothing: int, n: int) -> str:
    """LLVM assembly of the loop; the direction begins the work array."""
    names = ["q", "v", "t", "p", "out", "work"]
    return f"""define void @{ENTRY_POINT}({", ".join(f"ptr %{name}" for name in names)}) nounwind {{
start:
  %product = inttoptr i64 {product} to ptr
  %nothing = inttoptr i64 {nothing} to ptr
  %rest = getelementptr double, ptr %work, i64 {n}
  call void %nothing(ptr %work, ptr %rest)
  br label %column
column:
  %k = phi i64 [ 0, %start ], [ %next, %column ]
  %entry = getelementptr double, ptr %work, i64 %k
  store double 1.0, ptr %entry
  %first = mul i64 %k, {n}
  %at = getelementptr double, ptr %out, i64 %first
  call void %product(ptr %q, ptr %v, ptr %t, ptr %p, ptr %work, ptr %at, ptr %rest)
  store double 0.0, ptr %entry
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, {n}
  br i1 %more, label %column, label %finish
finish:
  ret void
}}
"""
