"""Products and transposes of batches of matrices and vectors, written once."""

from __future__ import annotations

import numpy as np

from zwang.terms import FloatArray

__all__ = ["dot", "matvec", "transpose", "transpose_matvec"]


def transpose(B: FloatArray) -> FloatArray:
    """Bᵀ of each matrix of a batch."""
    return np.swapaxes(B, -1, -2)


def matvec(B: FloatArray, x: FloatArray) -> FloatArray:
    """B x: (…, m, n) with (…, n) gives (…, m)."""
    return (B @ x[..., None])[..., 0]


def transpose_matvec(B: FloatArray, x: FloatArray) -> FloatArray:
    """Bᵀ x: (…, m, n) with (…, m) gives (…, n)."""
    return (x[..., None, :] @ B)[..., 0, :]


def dot(x: FloatArray, y: FloatArray) -> FloatArray:
    """xᵀ y: (…, n) with (…, n) gives (…)."""
    return np.sum(x * y, axis=-1)
