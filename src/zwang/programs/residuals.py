"""By how much states and accelerations miss constraints: one compiled call for any number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.codegen.call import call
from zwang.codegen.jit import inlined, loop

if TYPE_CHECKING:
    from zwang.codegen.kernel import Kernel
    from zwang.terms import FloatArray

__all__ = ["disagreements", "evaluated", "largest_miss"]


def largest_miss(kernel: Kernel, nq: int, y: FloatArray, t: FloatArray, p: FloatArray) -> float:
    """Largest of |φ| and |ψ| at states y (rows, n) and times (rows,); infinite if one is no number.

    Parameters
    ----------
    kernel : (q, v, t, p) → (φ, ψ).
    """
    phi, psi = kernel.outputs
    sizes = nq, phi.size, psi.size, kernel.work_size
    y, t, p = np.ascontiguousarray(y), np.ascontiguousarray(t), np.ascontiguousarray(p)
    return _largest(kernel.address, y, t, p, sizes)


def evaluated(
    kernel: Kernel, Y: FloatArray, t: float, P: FloatArray, nq: int
) -> tuple[FloatArray, FloatArray]:
    """Both outputs (N, …) of a kernel (q, v, t, p) at N states with their parameters."""
    one, two = (np.empty((len(Y), port.size)) for port in kernel.outputs)
    Y, P = np.ascontiguousarray(Y), np.ascontiguousarray(P)
    _evaluated(kernel.address, Y, np.array([t]), P, nq, one, two, kernel.work())
    return one, two


def disagreements(
    kernel: Kernel, Y: FloatArray, t: float, P: FloatArray, a: FloatArray, nq: int
) -> FloatArray:
    """Largest |b − A v̇|, relative to |b| or 1, of accelerations (N, nv) at states (N, n).

    Parameters
    ----------
    kernel : (q, v, t, p, v̇) → (b − A v̇, b).
    P : parameters (N, np).
    """
    miss, b = (np.empty(port.size) for port in kernel.outputs)
    found = np.empty(len(Y))
    Y, P, a = np.ascontiguousarray(Y), np.ascontiguousarray(P), np.ascontiguousarray(a)
    _disagreements(kernel.address, Y, np.array([t]), P, a, nq, miss, b, found, kernel.work())
    return found


@inlined
def larger(values, most):
    """The largest of |values| and most."""
    for i in range(values.shape[0]):
        size = abs(values[i])
        if not size <= most:
            most = size if size < np.inf else np.inf  # noqa: FURB136 - NaN too
    return most


@loop
def _largest(kernel, y, t, p, sizes):
    """`largest_miss` by address; sizes are those of q, φ, ψ and the work array."""
    most, nq = 0.0, sizes[0]
    phi, psi, work = np.empty(sizes[1]), np.empty(sizes[2]), np.empty(sizes[3])
    for k in range(y.shape[0]):
        call(kernel, y[k, :nq], y[k, nq:], t[k:], p, phi, psi, work)
        most = larger(psi, larger(phi, most))
    return most


@loop
def _disagreements(kernel, Y, t, P, a, nq, miss, b, found, work):
    """`disagreements` by address."""
    for k in range(Y.shape[0]):
        call(kernel, Y[k, :nq], Y[k, nq:], t, P[k], a[k], miss, b, work)
        found[k] = larger(miss, 0.0) / larger(b, 1.0)


@loop
def _evaluated(kernel, Y, t, P, nq, one, two, work):
    """`evaluated` by address."""
    for k in range(Y.shape[0]):
        call(kernel, Y[k, :nq], Y[k, nq:], t, P[k], one[k], two[k], work)
