"""Programs of implicit methods: a Jacobian column by column, one kernel called for each.

Written down as a whole, the Jacobian of n equations is n solves in one expression: 60 freedoms make
half a million operations, which take a minute to compile and do not fit any cache. The product with
one direction is a few times the size of the equations.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from zwang.codegen.call import call
from zwang.codegen.emit import ENTRY_POINT
from zwang.codegen.expression import Port
from zwang.codegen.glue import GlueKernel
from zwang.codegen.kernel import compile as compile_kernel
from zwang.programs.blocks.algebra import zeros

if TYPE_CHECKING:
    from zwang.codegen.kernel import Kernel

__all__ = ["ColumnsKernel"]


class ColumnsKernel(GlueKernel):
    """(q, v, t, p) → J, column after column, from (q, v, t, p, direction) → J·direction."""

    def __init__(self, name: str, product: Kernel) -> None:
        n = product.outputs[0].size
        nothing = compile_kernel(zeros(n))
        self._kept = product, nothing  # the code below holds their addresses

        def plain(q: int, v: int, t: int, p: int, out: int, work: int) -> None:
            direction, rest = (ctypes.c_double * n).from_address(work), work + 8 * n
            direction[:] = [0.0] * n
            for k in range(n):
                direction[k] = 1.0
                call(product.address, q, v, t, p, work, out + 8 * n * k, rest)
                direction[k] = 0.0

        super().__init__(
            name,
            (product.inputs[:-1], (Port(name, n * n),)),
            lambda: _loop(product.address, nothing.address, n),
            plain,
            n + max(product.work_size, nothing.work_size),
        )


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
