"""Linear algebra of matrices so small that several threads take longer to meet than one to finish.

BLAS takes threads by the size of a call, and does so for matrices of a hundred rows, whose work is
over in some microseconds; on a busy machine the threads then wait for each other for milliseconds.
How many it may take is a setting of the whole process, which is not ours to change. What is here
makes calls that are too small for threads, up to sizes for which these pay.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.terms import FloatArray

__all__ = ["product", "triangular_solution"]

#: Multiplications of a product up to which OpenBLAS makes it in one thread (2¹⁸), and from which on
#: threads pay.
ONE_THREAD, THREADS_PAY = 262_144, 50_000_000
#: Rows of a square matrix up to which OpenBLAS solves in one thread: it has fewer than 40,000
#: entries. Its solution with a triangular matrix takes threads for any size.
MOST_ROWS = 199


def product(X: FloatArray, Y: FloatArray) -> FloatArray:
    """X Y of two matrices, by as many rows of X at a time as are made in one thread."""
    columns = Y.shape[0] * Y.shape[1]
    work = X.shape[0] * columns
    if work <= ONE_THREAD or work >= THREADS_PAY or columns > ONE_THREAD:
        return X @ Y
    rows = ONE_THREAD // columns
    result = np.empty((X.shape[0], Y.shape[1]))
    for first in range(0, len(X), rows):
        np.matmul(X[first : first + rows], Y, out=result[first : first + rows])
    return result


def triangular_solution(
    S: FloatArray, rhs: FloatArray, *, lower: bool, transposed: bool
) -> FloatArray:
    """S⁻¹ rhs or S⁻ᵀ rhs of a triangular matrix (r, r) and columns (r, k)."""
    if rhs.shape[1] == 1:
        from scipy.linalg import blas as level_two

        blas: Any = level_two
        return blas.dtrsv(S, rhs[:, 0], lower=int(lower), trans=int(transposed))[:, None]
    if len(S) <= MOST_ROWS:
        return np.linalg.solve(S.T if transposed else S, rhs)
    from scipy.linalg import lapack as routines

    lapack: Any = routines
    columns = np.asfortranarray(rhs)
    return lapack.dtrtrs(S, columns, lower=lower, trans=int(transposed))[0]
