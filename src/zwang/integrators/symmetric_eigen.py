"""Integrators: eigenvalues and vectors of symmetric matrices in one thread, for the guard.

LAPACK multiplies with threads from a hundred rows on, as NumPy does from 26 on, in pieces so small
that on a busy machine the threads wait for each other most of the time: 240 rows take 5 ms of
processor time in one thread, and up to half a second in two. How many it may take is a setting of
the whole process, which is not ours to change. So the part of the work that has threads, to
tridiagonal form and back (Householder), is a compiled loop of ours; what is between, which is a
tenth of it, is LAPACK's relatively robust representations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.codegen.environment import llvm_works
from zwang.codegen.jit import loop
from zwang.terms import FloatArray

__all__ = ["symmetric_eigen"]

#: Rows up to which LAPACK takes one thread where it is given the least workspace.
ONE_THREAD = 100


def symmetric_eigen(S: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of a symmetric matrix, the least first, and an eigenvector for each, a column."""
    from scipy.linalg import LinAlgError, eigh_tridiagonal
    from scipy.linalg import lapack as routines

    n = len(S)
    if n <= ONE_THREAD or not llvm_works("loops"):
        lapack: Any = routines
        values, vectors, _, _, failed = lapack.dsyevr(S, lwork=max(26 * n, 1))
        return np.linalg.eigh(S) if failed else (values, vectors)
    reflectors, factors, diagonal, beside = np.zeros((n, n)), np.zeros(n), np.empty(n), np.empty(n)
    tridiagonal(np.array(S, order="C"), reflectors, factors, diagonal, beside)
    try:
        values, vectors = eigh_tridiagonal(diagonal, beside[:-1], check_finite=False)
    except LinAlgError:
        return np.linalg.eigh(S)
    vectors = np.ascontiguousarray(vectors)
    reflected(vectors, reflectors, factors)
    return values, vectors


@loop
def tridiagonal(S, reflectors, factors, diagonal, beside):
    """T = H … H S H … H with H = 1 − f w wᵀ; S is overwritten, row k of `reflectors` is w.

    Each w leaves one entry beside the diagonal of its row: with p = f S w − ½ f (f wᵀS w) w the
    rest becomes S − w pᵀ − p wᵀ.
    """
    n = S.shape[0]
    p = np.empty(n)
    for k in range(n - 2):
        w, row = reflectors[k], S[k]
        first, rest = row[k + 1], 0.0
        for i in range(k + 2, n):
            rest += row[i] * row[i]
        diagonal[k], beside[k] = row[k], first
        if rest > 0.0:
            size = np.sqrt(first * first + rest)
            size = -size if first > 0.0 else size
            inverse, f = 1.0 / (first - size), (size - first) / size
            beside[k], factors[k] = size, f
            w[k + 1] = 1.0
            for i in range(k + 2, n):
                w[i] = row[i] * inverse
            for i in range(k + 1, n):
                p[i] = 0.0
            for j in range(k + 1, n):
                here, weight = S[j], f * w[j]
                for i in range(k + 1, n):
                    p[i] += weight * here[i]
            both = 0.0
            for i in range(k + 1, n):
                both += p[i] * w[i]
            both *= 0.5 * f
            for i in range(k + 1, n):
                p[i] -= both * w[i]
            for j in range(k + 1, n):
                here, a, b = S[j], w[j], p[j]
                for i in range(k + 1, n):
                    here[i] -= a * p[i] + b * w[i]
    if n > 1:
        diagonal[n - 2], beside[n - 2] = S[n - 2, n - 2], S[n - 2, n - 1]
    diagonal[n - 1] = S[n - 1, n - 1]


@loop
def reflected(vectors, reflectors, factors):
    """Overwrite the eigenvectors of T, columns, by those of S."""
    n = vectors.shape[0]
    sums = np.empty(n)
    for m in range(n - 2):
        k = n - 3 - m
        w, f = reflectors[k], factors[k]
        if f != 0.0:
            for i in range(n):
                sums[i] = 0.0
            for j in range(k + 1, n):
                here, weight = vectors[j], f * w[j]
                for i in range(n):
                    sums[i] += weight * here[i]
            for j in range(k + 1, n):
                here, weight = vectors[j], w[j]
                for i in range(n):
                    here[i] -= weight * sums[i]
