"""Integrators: dense LU factors in compiled loops, real or complex, with row exchanges.

Written out, for compiled loops call no library that has them.
"""

from __future__ import annotations

from zwang.codegen.jit import loop

__all__ = ["factorise", "substitute"]


@loop
def factorise(A, exchanged):
    """Overwrite A with L (unit diagonal) and U, P A = L U; row k was exchanged[k] at step k.

    A singular A gives entries that are not finite, and with them a solution that is not.
    """
    n = A.shape[0]
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        exchanged[k] = best
        if best != k:
            for j in range(n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            factor = A[i, k] * inverse
            A[i, k] = factor
            if factor != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= factor * A[k, j]


@loop
def substitute(A, exchanged, x):
    """Overwrite x by the solution of A x = x, with A as `factorise` left it."""
    n = A.shape[0]
    for k in range(n):
        other = exchanged[k]
        if other != k:
            x[k], x[other] = x[other], x[k]
    for i in range(n):
        total = x[i]
        for j in range(i):
            total -= A[i, j] * x[j]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total -= A[i, j] * x[j]
        x[i] = total / A[i, i]
