"""Integrators: dense LU factors in compiled loops, real or complex, with row exchanges.

Written out, for compiled loops call no library that has them. Of a matrix A[j] is column j, and of
a complex one A[0] has the real and A[1] the imaginary parts: entries that lie next to each other
are changed several at a time, and a zero of a row leaves a whole column as it is.

The first rows of a stiff system are q̇ = B(q) v, which hold few numbers besides their diagonal. The
first columns take their pivots from those rows alone: nothing is to be done then in most columns,
and what is left to be factored is as large as v.
"""

from __future__ import annotations

from zwang.codegen.jit import loop

__all__ = ["factorise", "factorise_complex", "substitute", "substitute_complex"]


@loop
def factorise(A, exchanged, first):
    """Overwrite A with L (unit diagonal) and U, P A = L U; row k was exchanged[k] at step k.

    The first columns have their pivots in as many first rows. U has the reciprocals of its
    diagonal. A singular A gives entries that are not finite, and with them a solution that is not.
    """
    n = A.shape[0]
    for k in range(n):
        best, most = k, abs(A[k, k])
        for i in range(k + 1, first if k < first else n):
            size = abs(A[k, i])
            if size > most:
                best, most = i, size
        exchanged[k] = best
        if best != k:
            for j in range(n):
                A[j, k], A[j, best] = A[j, best], A[j, k]
        inverse = 1.0 / A[k, k]
        A[k, k] = inverse
        for i in range(k + 1, n):
            A[k, i] *= inverse
        for j in range(k + 1, n):
            factor = A[j, k]
            if factor != 0.0:
                for i in range(k + 1, n):
                    A[j, i] -= factor * A[k, i]


@loop
def substitute(A, exchanged, x):
    """Overwrite x by the solution of A x = x, with A as `factorise` left it."""
    n = A.shape[0]
    for k in range(n):
        other = exchanged[k]
        if other != k:
            x[k], x[other] = x[other], x[k]
    for j in range(n):
        factor = x[j]
        for i in range(j + 1, n):
            x[i] -= factor * A[j, i]
    for j in range(n - 1, -1, -1):
        factor = x[j] * A[j, j]
        x[j] = factor
        for i in range(j):
            x[i] -= factor * A[j, i]


@loop
def factorise_complex(A, exchanged, first):
    """`factorise` of a matrix of real and imaginary parts."""
    R, I = A[0], A[1]
    n = R.shape[0]
    for k in range(n):
        best, most = k, abs(R[k, k]) + abs(I[k, k])
        for i in range(k + 1, first if k < first else n):
            size = abs(R[k, i]) + abs(I[k, i])
            if size > most:
                best, most = i, size
        exchanged[k] = best
        if best != k:
            for j in range(n):
                R[j, k], R[j, best] = R[j, best], R[j, k]
                I[j, k], I[j, best] = I[j, best], I[j, k]
        inverse = 1.0 / complex(R[k, k], I[k, k])
        a, b = inverse.real, inverse.imag
        R[k, k], I[k, k] = a, b
        for i in range(k + 1, n):
            r, s = R[k, i], I[k, i]
            R[k, i] = a * r - b * s
            I[k, i] = a * s + b * r
        for j in range(k + 1, n):
            a, b = R[j, k], I[j, k]
            if a != 0.0 or b != 0.0:
                for i in range(k + 1, n):
                    r, s = R[k, i], I[k, i]
                    R[j, i] -= a * r - b * s
                    I[j, i] -= a * s + b * r


@loop
def substitute_complex(A, exchanged, x):
    """`substitute` of a matrix of real and imaginary parts, with those of x in x[0] and x[1]."""
    R, I, X, Y = A[0], A[1], x[0], x[1]
    n = R.shape[0]
    for k in range(n):
        other = exchanged[k]
        if other != k:
            X[k], X[other] = X[other], X[k]
            Y[k], Y[other] = Y[other], Y[k]
    for j in range(n):
        a, b = X[j], Y[j]
        for i in range(j + 1, n):
            r, s = R[j, i], I[j, i]
            X[i] -= a * r - b * s
            Y[i] -= a * s + b * r
    for j in range(n - 1, -1, -1):
        r, s = R[j, j], I[j, j]
        a, b = r * X[j] - s * Y[j], r * Y[j] + s * X[j]
        X[j], Y[j] = a, b
        for i in range(j):
            r, s = R[j, i], I[j, i]
            X[i] -= a * r - b * s
            Y[i] -= a * s + b * r
