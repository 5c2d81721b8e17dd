"""The shortest solution δ of G δ = r in weighted length, by least squares, G dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.terms import FloatArray

__all__ = ["least_change"]

#: Directions that are this much weaker than the strongest are not used.
WEAK = 1e-9
#: The same for sparse G, relative to rows of unit length, as a regularisation of G W⁻¹ Gᵀ: what is
#: stronger than its root is met in one step or few, and gaps that cannot be closed are distributed
#: to four digits in spite of multipliers of 1/δ.
DELTA = 1e-12


def least_change(G: Any, rhs: FloatArray, weights: FloatArray) -> FloatArray:
    """The δ of least weighted length with G δ = rhs, in the sense of least squares."""
    if not len(rhs):
        return np.zeros(G.shape[1])
    root = 1.0 / np.sqrt(weights)
    if isinstance(G, np.ndarray):
        return root * np.linalg.lstsq(G * root, rhs, rcond=WEAK)[0]
    return (root * _least_change_sparse(G, rhs, root).T).T


def _least_change_sparse(G: Any, rhs: FloatArray, root: FloatArray) -> FloatArray:
    """x = Sᵀ(S Sᵀ + δI)⁻¹ r, S with rows of unit length, from [[I, Sᵀ], [S, −δI]] (x, −z).

    For one right side, shape (m,), or several, (m, k).
    """
    from scipy import sparse
    from scipy.sparse.linalg import splu

    m, n = G.shape
    S = sparse.csr_array(G @ sparse.diags_array(root))
    length = np.sqrt((S * S).sum(axis=1))
    scale = 1.0 / np.where(length > 0.0, length, 1.0)
    S = sparse.diags_array(scale) @ S
    K = sparse.block_array(
        [[sparse.eye_array(n), S.T], [S, -DELTA * sparse.eye_array(m)]], format="csc"
    )
    right = np.zeros((n + m, *rhs.shape[1:]))
    right[n:] = (scale * rhs.T).T
    return splu(K).solve(right)[:n]
