"""Integrators: dense LU factors in compiled loops, real or complex, with row exchanges.

Written out, for compiled loops call no library that has them. A complex matrix is an array of its
real and its imaginary parts, (2, n, n): entries of a row that lie next to each other are changed
several at a time, twice as fast as pairs of them, with the same bits.
"""

from __future__ import annotations

from zwang.codegen.jit import loop

__all__ = ["factorise", "factorise_complex", "substitute", "substitute_complex"]


@loop
def factorise(A, exchanged):
    """Overwrite A with L (unit diagonal) and U, P A = L U; row k was exchanged[k] at step k.

    A singular A gives entries that are not finite, and with them a solution that is not.
    """
    n = A.shape[0]
    for k in range(n):
        best, most = k, abs(A[k, k])
        for i in range(k + 1, n):
            size = abs(A[i, k])
            if size > most:
                best, most = i, size
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


@loop
def factorise_complex(A, exchanged):
    """`factorise` of a matrix of real and imaginary parts."""
    R, I = A[0], A[1]
    n = R.shape[0]
    for k in range(n):
        best, most = k, abs(complex(R[k, k], I[k, k]))
        for i in range(k + 1, n):
            if abs(R[i, k]) + abs(I[i, k]) >= most:  # else it is less, and need not be known
                size = abs(complex(R[i, k], I[i, k]))
                if size > most:
                    best, most = i, size
        exchanged[k] = best
        if best != k:
            for j in range(n):
                R[k, j], R[best, j] = R[best, j], R[k, j]
                I[k, j], I[best, j] = I[best, j], I[k, j]
        inverse = 1.0 / complex(R[k, k], I[k, k])
        for i in range(k + 1, n):
            factor = complex(R[i, k], I[i, k]) * inverse
            a, b = factor.real, factor.imag
            R[i, k], I[i, k] = a, b
            if factor != 0.0:
                for j in range(k + 1, n):
                    r, s = R[k, j], I[k, j]
                    R[i, j] -= a * r - b * s
                    I[i, j] -= a * s + b * r


@loop
def substitute_complex(A, exchanged, x):
    """`substitute` of a matrix of real and imaginary parts; x is complex."""
    R, I = A[0], A[1]
    n = R.shape[0]
    for k in range(n):
        other = exchanged[k]
        if other != k:
            x[k], x[other] = x[other], x[k]
    for i in range(n):
        total = x[i]
        for j in range(i):
            total -= complex(R[i, j], I[i, j]) * x[j]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total -= complex(R[i, j], I[i, j]) * x[j]
        x[i] = total / complex(R[i, i], I[i, i])
