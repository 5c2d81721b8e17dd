"""A kernel at many states in one call: eight states side by side, block after block."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.codegen.call import call
from zwang.codegen.jit import loop
from zwang.codegen.node_sums import NODES

if TYPE_CHECKING:
    from zwang.codegen.kernel import Kernel
    from zwang.terms import FloatArray

__all__ = ["SIDE_BY_SIDE", "at_states"]

#: States that are evaluated side by side.
SIDE_BY_SIDE = NODES


def at_states(
    kernel: Kernel, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
) -> FloatArray:
    """The one output of a kernel (q, v, t, p) at states (nt, nq), (nt, nv), (nt,).

    Its shape is (size, nt): what is asked for is seldom all of it, and then lies together.

    Parameters
    ----------
    kernel : with `SIDE_BY_SIDE` lanes that have p in common.
    """
    q, v, t, p = (np.ascontiguousarray(x, dtype=float) for x in (q, v, t, p))
    (result,) = kernel.outputs
    lanes = kernel.lanes
    found = np.empty((result.size, len(q)))
    Q, V, T = np.empty((q.shape[1], lanes)), np.empty((v.shape[1], lanes)), np.empty((1, lanes))
    side = np.empty((result.size, lanes))
    _at_states(kernel.address, q, v, t, p, found, (Q, V, T, side, kernel.work()))
    return found


@loop
def _at_states(kernel, q, v, t, p, found, memory):
    """`at_states` by address; the last block goes on with the last state."""
    Q, V, T, side, work = memory
    count, lanes = q.shape[0], T.shape[1]
    first = 0
    while first < count:
        for k in range(lanes):
            i = min(first + k, count - 1)
            for j in range(q.shape[1]):
                Q[j, k] = q[i, j]
            for j in range(v.shape[1]):
                V[j, k] = v[i, j]
            T[0, k] = t[i]
        call(kernel, Q, V, T, p, side, work)
        last = min(lanes, count - first)
        for j in range(side.shape[0]):
            for k in range(last):
                found[j, first + k] = side[j, k]
        first += lanes
