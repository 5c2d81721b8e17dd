"""Exact integer linear algebra, for questions of rank that rounding must not decide."""

from __future__ import annotations

import flint
import numpy as np


def rank(matrix: np.ndarray) -> int:
    """Rank of an integer matrix."""
    whole = np.asarray(matrix)
    if 0 in whole.shape:
        return 0
    return flint.fmpz_mat([[int(x) for x in row] for row in whole]).rank()


def nullspace(matrix: np.ndarray) -> np.ndarray:
    """Integer columns that span the null space of an integer matrix, shape (n, k)."""
    whole = np.asarray(matrix)
    n = whole.shape[1]
    if whole.shape[0] == 0:
        return np.eye(n)
    basis, nullity = flint.fmpz_mat([[int(x) for x in row] for row in whole]).nullspace()
    table = np.array([[float(basis[i, j]) for j in range(nullity)] for i in range(n)])
    table = table.reshape(n, nullity)
    return table / np.maximum(np.abs(table).max(axis=0, initial=1.0), 1.0)


def contradicts(A: np.ndarray, b: np.ndarray) -> bool:
    """Whether A x = b has no solution, for integers."""
    return rank(np.column_stack([A, b])) > rank(A)
