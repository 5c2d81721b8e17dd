"""Diagnosis of large systems: which reactions are determinate, from sparse matrices.

The force of a group of rows is determinate when A_gᵀ Z_g = 0, with Z an orthonormal basis of N(Aᵀ)
(see `passport`). Where rows are many, the basis is not needed. The part of a random vector in
N(Aᵀ), y = Z c, has random c, so that A_gᵀ y_g = A_gᵀ Z_g c vanishes, but for chance of measure
zero, just where A_gᵀ Z_g does. It is what

    y ← δ (A Aᵀ + δI)⁻¹ y

leaves of the vector: by each, what belongs to a singular value σ of A shrinks by δ/(σ² + δ). A Aᵀ
is not formed: z = (A Aᵀ + δI)⁻¹ y solves [[I, Aᵀ], [A, −δI]] (x, −z) = (0, y).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from zwang.terms import FloatArray

__all__ = [
    "dependencies",
    "determinate_groups",
    "open_multipliers",
    "regularised",
    "unit_rows",
]

#: Regularisation of rows of unit length. A chain of a thousand bodies has singular values down to
#: 1e-5 or so; after all repetitions what belongs to 1e-6 has shrunk by 1e-12.
DELTA = 1e-14
REPETITIONS = 6
#: Random vectors; a second one, lest the first be orthogonal to something by chance of rounding.
PROBES = 2
#: What counts as no share in a dependency. Rounding and δ leave 1e-11 of vectors of size 1.
NO_SHARE = 1e-8
#: Vectors that the search for a basis of N(Aᵀ) begins with, and repetitions for a block of them:
#: vectors of N(Aᵀ) keep their length, what belongs to a singular value of 1e-5 keeps 1e-12 of it.
FIRST_BLOCK = 8
BLOCK_REPETITIONS = 3
SURVIVES = 0.5


def unit_rows(M: Any, A: Any) -> tuple[Any, FloatArray]:
    """A in velocities scaled by the diagonal of M, with rows of unit length, and their lengths."""
    from scipy import sparse

    mass = M.diagonal()
    scaled = (A @ sparse.diags_array(1.0 / np.sqrt(np.where(mass > 0.0, mass, 1.0)))).tocsr()
    length = np.sqrt((scaled * scaled).sum(axis=1))
    length = np.where(length > 0.0, length, 1.0)
    return (sparse.diags_array(1.0 / length) @ scaled).tocsr(), length


def regularised(S: Any) -> Callable[[FloatArray], FloatArray]:
    """(y, r) ↦ (x, −z), the solution of [[I, Sᵀ], [S, −δI]] (x, −z) = (y, r)."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    m, n = S.shape
    K = sparse.block_array(
        [[sparse.eye_array(n), S.T], [S, -DELTA * sparse.eye_array(m)]], format="csc"
    )
    return splu(K).solve


def dependencies(S: Any) -> FloatArray:
    """Orthonormal basis of N(Sᵀ) for rows of unit length, shape (m, k).

    By the same repetitions, for a block of vectors of which not all survive. How many do is first
    estimated: what is left of a random vector has the squared length k in the mean.
    """
    m, n = S.shape
    solve, random = regularised(S), np.random.default_rng(0)

    def repeated(Y: FloatArray) -> FloatArray:
        right = np.zeros((n + m, Y.shape[1]))
        right[n:] = Y
        for _ in range(BLOCK_REPETITIONS):
            right[n:] = -DELTA * solve(right)[n:]
        return right[n:]

    left = repeated(random.standard_normal((m, FIRST_BLOCK)))
    block = FIRST_BLOCK + int(1.2 * np.sum(left**2) / FIRST_BLOCK)
    while True:
        # Once to leave N(Aᵀ) alone, and once more to distinguish its vectors, of length 1, from
        # rounding.
        near = np.linalg.qr(repeated(random.standard_normal((m, min(block, m))))).Q
        left, values, _ = np.linalg.svd(repeated(near), full_matrices=False)
        found = left[:, values > SURVIVES]
        if found.shape[1] < near.shape[1] or near.shape[1] == m:
            return found
        block *= 2


def determinate_groups(M: Any, A: Any, groups: Mapping[str, Sequence[int]]) -> dict[str, bool]:
    """Whether the force A_gᵀ λ_g of each group of rows is determinate.

    Parameters
    ----------
    M, A : sparse, shapes (n, n) and (m, n); of M the diagonal counts, as a scale of velocities.
    groups : name → numbers of its rows.
    """
    from scipy import sparse

    m = A.shape[0]
    scaled, _ = unit_rows(M, A)
    probes = _probes(scaled)
    members = [len(rows) for rows in groups.values()]
    ends = np.concatenate([[0], np.cumsum(members)])
    rows = [i for own in groups.values() for i in own]
    among = sparse.csr_array((np.ones(len(rows)), rows, ends), shape=(len(groups), m))
    share = np.zeros(len(groups))
    for y in probes.T:  # A_gᵀ y_g of all groups, one a row
        forces = among @ sparse.diags_array(y) @ scaled
        share = np.maximum(share, abs(forces).max(axis=1).toarray().ravel())
    return dict(zip(groups, (share <= NO_SHARE).tolist(), strict=True))


def open_multipliers(M: Any, A: Any) -> FloatArray:
    """Random λ with Aᵀλ = 0, shape (m, 2); zero in rows, and of rows, that take no part in any.

    Parameters
    ----------
    M, A : as of `determinate_groups`.
    """
    scaled, length = unit_rows(M, A)
    probes = _probes(scaled)
    return np.where(np.abs(probes) > NO_SHARE, probes, 0.0) / length[:, None]


def _probes(S: Any) -> FloatArray:
    """What N(Sᵀ) has of random vectors, for rows of unit length, shape (m, 2)."""
    m, n = S.shape
    solve = regularised(S)
    right: FloatArray = np.zeros((n + m, PROBES))
    right[n:] = np.random.default_rng(0).standard_normal((m, PROBES))
    for _ in range(REPETITIONS):
        right[n:] = -DELTA * solve(right)[n:]
    return right[n:]
