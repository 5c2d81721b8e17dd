"""Products and transposes of batches of matrices and vectors, written once."""

from __future__ import annotations

import numpy as np

from zwang.terms import FloatArray

__all__ = ["dot", "matvec", "symmetric_roots", "transpose", "transpose_matvec"]


def transpose(B: FloatArray) -> FloatArray:
    """Bᵀ of each matrix of a batch."""
    return B.mT


def matvec(B: FloatArray, x: FloatArray) -> FloatArray:
    """B x: (…, m, n) with (…, n) gives (…, m)."""
    if x.ndim == 1:  # half the time of the general form, which matters for a single system
        return B @ x
    return (B @ x[..., None])[..., 0]


def transpose_matvec(B: FloatArray, x: FloatArray) -> FloatArray:
    """Bᵀ x: (…, m, n) with (…, m) gives (…, n)."""
    if x.ndim == 1:
        return x @ B
    return (x[..., None, :] @ B)[..., 0, :]


def dot(x: FloatArray, y: FloatArray) -> FloatArray:
    """xᵀ y: (…, n) with (…, n) gives (…)."""
    return np.sum(x * y, axis=-1)


def symmetric_roots(M: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The symmetric roots M^(1/2) and M^(−1/2) of positive definite matrices."""
    values, vectors = np.linalg.eigh(M)
    root = np.sqrt(values)
    return (
        (vectors * root[..., None, :]) @ transpose(vectors),
        (vectors / root[..., None, :]) @ transpose(vectors),
    )
