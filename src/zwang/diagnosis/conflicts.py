"""Diagnosis of contradictions: circuits whose right sides disagree, and what to drop.

Each dependency c of the rows, Aᵀc = 0, asks cᵀb = 0 of the right sides. A circuit that violates it
is an irreducible contradiction: without any one of its rows the others agree. With c = Z y and
g = Zᵀb the gap is gᵀy; a part contradicts itself exactly when its g is not zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from zwang.diagnosis.circuits import Circuit, ConnectedPart, circuit_on, parts
from zwang.linalg.products import matvec
from zwang.terms import FloatArray

__all__ = [
    "Conflict",
    "conflict_of",
    "conflicting_rows",
    "minimal_conflict",
    "resolving_rows",
    "rows_to_drop",
]

#: Choices of rows examined in search of circuits of one connected part. C(20, 10): parts of at most
#: 20 rows are always searched completely.
SEARCH_LIMIT = comb(20, 10)

#: Orders in which rows are tried for deletion where a complete search is too long.
DELETION_ORDERS = 8


#: Dropping rows resolves a contradiction when what is left of it is below this fraction. Right
#: sides agree to the consistency tolerance of 1e-9; a real remainder is of the order of one.
RESOLVED = 1e-6

#: Sets of rows examined for the smallest one whose removal resolves all contradictions.
DROP_LIMIT = 20_000


@dataclass(frozen=True)
class Conflict:
    """A circuit whose right sides disagree.

    Attributes
    ----------
    circuit : the irreducible group.
    gap : cᵀb.
    smallest : whether no smaller conflict exists among the rows it is connected with (proved by a
        complete search); otherwise the group is irreducible but there may be a smaller one.
    """

    circuit: Circuit
    gap: float
    smallest: bool


def minimal_conflict(
    A: FloatArray,
    b: FloatArray,
    Z: FloatArray,
    size: FloatArray,
    tolerance: float,
    condition: float = 1.0,
) -> Conflict | None:
    """An irreducible group of rows that contradict each other; None when all agree.

    The smallest one whenever the conflicting rows depend on at most 20 others (and often beyond,
    as long as at most `SEARCH_LIMIT` choices are to be examined); by deletion filtering otherwise.

    Parameters
    ----------
    A, b : rows of unit length, shapes (m, n) and (m,).
    Z : orthonormal basis of N(Aᵀ), shape (m, k).
    size : size of the terms of each row, shape (m,): a gap counts relative to Σ|cᵢ|·sizeᵢ.
    tolerance : relative gap from which on rows disagree.
    condition : condition number of A on its range.
    """
    found = [conflict_of(part, A, b, size, tolerance) for part in parts(Z, condition)]
    real = [conflict for conflict in found if conflict is not None]
    return min(real, key=lambda conflict: len(conflict.circuit.rows), default=None)


def conflict_of(
    part: ConnectedPart, A: FloatArray, b: FloatArray, size: FloatArray, tolerance: float
) -> Conflict | None:
    """An irreducible contradiction among the rows of a part; None when they agree.

    The arguments are those of `minimal_conflict`.
    """
    if part.gap(b, size) <= tolerance:
        return None
    searches = [_smallest_support] if part.choices <= SEARCH_LIMIT else []
    for find in [*searches, _support_by_deletion]:
        circuit = circuit_on(A, part.rows[find(part, b[part.rows], size[part.rows], tolerance)])
        if circuit is None:
            continue
        rows, c = list(circuit.rows), circuit.coefficients
        if abs(c @ b[rows]) > tolerance * (np.abs(c) @ size[rows]):
            return Conflict(circuit, float(c @ b[rows]), find is _smallest_support)
    # Rows too much alike to be distinguished: the dependency of the whole part with the largest
    # gap.
    whole = part.basis @ (part.basis.T @ b[part.rows])
    circuit = Circuit(tuple(int(i) for i in part.rows), whole / np.linalg.norm(whole))
    return Conflict(circuit, float(circuit.coefficients @ b[part.rows]), smallest=False)


def _smallest_support(
    part: ConnectedPart, b: FloatArray, size: FloatArray, tolerance: float
) -> np.ndarray:
    best, count, clarity = np.ones(len(b), bool), len(b) + 1, 0.0
    for c in part.search():
        relative = np.abs(c @ b) / np.maximum(np.abs(c) @ size, 1e-300)
        counts = np.where(relative > tolerance, (c != 0.0).sum(axis=1), len(b) + 1)
        least = int(counts.min(initial=len(b) + 1))
        if least > count or least > len(b):
            continue
        # Among the smallest, one that contradicts itself clearly; of those the first rows.
        clearest = float(relative[counts == least].max())
        if least < count or clearest > 2.0 * clarity:
            clear = c[(counts == least) & (relative >= 0.5 * clearest)] != 0.0
            best = clear[np.lexsort(clear.T[::-1])[-1]]
            count, clarity = least, clearest
    return best


def _support_by_deletion(
    part: ConnectedPart, b: FloatArray, size: FloatArray, tolerance: float
) -> np.ndarray:
    # A row may go when the others still disagree: among the dependencies that are zero on all rows
    # deleted so far (columns of W) there is one that is zero here too and has a gap.
    best = np.ones(len(b), bool)
    generator = np.random.default_rng(0)
    for attempt in range(DELETION_ORDERS):
        # First from the end, as later rows are the likelier extras.
        order = generator.permutation(len(b)) if attempt else np.arange(len(b))[::-1]
        W = part.basis
        for i in order:
            row = W[i]
            norm = np.linalg.norm(row)
            if norm <= part.tolerance or W.shape[1] == 1:
                continue
            rest = _without(W, row / norm)
            if np.linalg.norm(rest.T @ b) > tolerance * size.max():
                W = rest
        support = np.abs(W[:, 0]) > part.tolerance * np.abs(W[:, 0]).max()
        if W.shape[1] == 1 and support.sum() < best.sum():
            best = support
    return best


def _without(W: FloatArray, unit: FloatArray) -> FloatArray:
    """W restricted to the combinations of its columns orthogonal to the unit vector."""
    k = len(unit)
    pivot = int(np.argmax(np.abs(unit)))
    v = unit.copy()
    v[pivot] += np.copysign(1.0, unit[pivot])  # Householder: unit ↦ ∓e_pivot
    reflected = W - np.outer(W @ v, v) * (2.0 / (v @ v))
    return reflected[:, np.arange(k) != pivot]


def resolving_rows(part: ConnectedPart, b: FloatArray) -> list[int]:
    """Rows any one of which, dropped alone, leaves the others of the part consistent.

    What is left without row i are the dependencies Z y with Zᵢ y = 0; none of them has a gap
    gᵀy, g = Zᵀb, exactly when g is a multiple of Zᵢ.
    """
    every = np.arange(len(part.rows))[:, None]
    return [int(row) for row in part.rows[_unresolved(part, b, every) <= RESOLVED]]


def rows_to_drop(part: ConnectedPart, b: FloatArray) -> list[int]:
    """A set of rows without which the part is consistent: the smallest one while that is cheap.

    Without the rows T there is no gap when g lies in the span of Z_T; as many rows of Z as it has
    columns always suffice.
    """
    count, k = len(part.rows), part.basis.shape[1]
    for size in range(1, k + 1):
        if comb(count, size) > DROP_LIMIT:
            break
        sets = np.array(list(combinations(range(count), size)))
        left = _unresolved(part, b, sets)
        if left.min() <= RESOLVED:
            # The last rows of equals: what was added later is the likelier mistake.
            best = sets[np.flatnonzero(left <= RESOLVED)[-1]]
            return [int(row) for row in part.rows[best]]
    chosen: list[int] = []
    while len(chosen) < k:
        trial = np.array([[*chosen, i] for i in range(count) if i not in chosen])
        left = _unresolved(part, b, trial)
        chosen = [int(i) for i in trial[int(np.argmin(left))]]
        if left.min() <= RESOLVED:
            break
    return sorted(int(row) for row in part.rows[chosen])


def _unresolved(part: ConnectedPart, b: FloatArray, sets: np.ndarray) -> FloatArray:
    """The fraction of the gap that is left when the rows of each set (N, s) are dropped."""
    g = part.basis.T @ b[part.rows]
    g = g / np.linalg.norm(g)
    Q, R = np.linalg.qr(np.swapaxes(part.basis[sets], 1, 2))  # (N, k, s) and (N, s, s)
    # A row that depends on those before it adds nothing to the span.
    new = np.abs(np.diagonal(R, axis1=1, axis2=2)) > part.tolerance * np.linalg.norm(R, axis=1)
    along = new * (np.swapaxes(Q, 1, 2) @ g)
    return np.linalg.norm(g - matvec(Q, along), axis=-1)


def conflicting_rows(A: FloatArray, b: FloatArray) -> tuple[int, ...] | None:
    """An irreducible group of linear equations A x = b, rows of unit length, that contradict.

    Rows come from a point found by iteration, so that dependence is decided to 1e-6.
    """
    U, s, _ = np.linalg.svd(A)
    rank = int(np.sum(s > 1e-6))
    size = np.full(len(b), np.abs(b).max(initial=0.0))
    found = minimal_conflict(A, b, U[:, rank:], size, 1e-6)
    return None if found is None else found.circuit.rows
