"""Rotation matrices and others from their entries, for numbers and for symbols alike.

Every function here takes arrays with leading axes as a batch. An object array of symbols, as the
functions of a `zwang.System` receive them, goes through unchanged; plain numbers become floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.terms import FloatArray

__all__ = [
    "array",
    "dot",
    "from_entries",
    "identity_plus",
    "matvec",
    "outer",
    "solve",
    "tilde",
    "transpose",
]


def array(value: Any) -> FloatArray:
    """Numbers as floats; symbols as an object array."""
    result = np.asarray(value)
    return result if result.dtype == object else np.asarray(result, dtype=float)


def transpose(matrix: FloatArray) -> FloatArray:
    """Last two axes exchanged."""
    return np.swapaxes(matrix, -1, -2)


def matvec(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Matrix times vector, shapes (…, m, n) and (…, n)."""
    return (matrix @ vector[..., None])[..., 0]


def solve(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """The x with matrix x = vector; numbers only."""
    return np.asarray(np.linalg.solve(matrix, vector[..., None])[..., 0], dtype=float)


def dot(x: FloatArray, y: FloatArray) -> FloatArray:
    """Scalar product xᵀy, shape (…)."""
    return np.asarray((x * y).sum(axis=-1))


def outer(x: FloatArray, y: FloatArray) -> FloatArray:
    """Dyad x yᵀ, shape (…, m, n)."""
    return x[..., :, None] * y[..., None, :]


def from_entries(rows: list[list[Any]]) -> FloatArray:
    """A matrix (…, m, n) from its entries, each of shape (…)."""
    entries = [[np.asarray(entry) for entry in row] for row in rows]
    batch = np.broadcast_shapes(*(entry.shape for row in entries for entry in row))
    kind = np.result_type(float, *(entry.dtype for row in entries for entry in row))
    result = np.empty((*batch, len(rows), len(rows[0])), dtype=kind)
    for i, row in enumerate(entries):
        for j, entry in enumerate(row):
            result[..., i, j] = entry
    return result


def identity_plus(scalar: FloatArray, matrix: FloatArray) -> FloatArray:
    """Scalar · I + matrix, shapes (…) and (…, n, n)."""
    return scalar[..., None, None] * np.eye(matrix.shape[-1]) + matrix


def tilde(vector: Any) -> FloatArray:
    """Matrix x̃ of the cross product, x̃ y = x × y, shape (…, 3, 3).

    Udwadia & Schutte (2010), equation (111); Nikravesh's tilde.

    Examples
    --------
    >>> tilde([1.0, 2.0, 3.0])
    array([[ 0., -3.,  2.],
           [ 3.,  0., -1.],
           [-2.,  1.,  0.]])
    """
    vector = array(vector)
    x, y, z = (vector[..., k] for k in range(3))
    return from_entries([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
