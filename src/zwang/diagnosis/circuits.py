"""Minimal dependent sets of constraint rows, and the smallest contradiction among them.

The dependencies of the rows of A are the vectors c with Aᵀc = 0. A dependency of smallest support
(no other one lives on fewer of its rows) is a *circuit* of the row matroid: drop any row of it and
the others are independent. With c comes a condition on the right side, cᵀb = 0; a circuit that
violates it is a contradiction, and an irreducible one.

All dependencies are c = Z y, with Z a basis of N(Aᵀ). A circuit is zero on so many rows that these
fix y up to a factor: it is found by choosing k − 1 rows of Z that are independent and taking the y
orthogonal to them (k is the number of columns of Z, taken for each connected part alone).

Everything here works on rows scaled to unit length; callers undo the scaling.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, islice
from math import comb

import numpy as np

from zwang.terms import FloatArray

__all__ = ["Circuit", "Conflict", "Part", "circuits", "minimal_conflict", "parts", "reduced_basis"]

#: An entry of a dependency below this fraction of its largest is zero. Z is good to 1e-16 times the
#: condition of A, at most 1e-5 by the rank tolerance, usually 1e-12; an honest coefficient in rows
#: of unit length that is smaller would make the group meaningless as a statement about rows.
SUPPORT_TOLERANCE = 1e-8

#: Choices of rows examined in search of circuits of one connected part. C(20, 10): parts of at most
#: 20 rows are always searched completely.
SEARCH_LIMIT = comb(20, 10)

#: More circuits than this in one connected part are no explanation; a basis is given instead.
CIRCUIT_LIMIT = 60

#: Choices examined for the list of all circuits, which no one should have to wait for.
LISTING_LIMIT = 30_000

#: Choices handled at once: some tens of megabytes.
CHUNK = 20_000

#: Orders in which rows are tried for deletion where a complete search is too long.
DELETION_ORDERS = 8


@dataclass(frozen=True)
class Circuit:
    """A minimal dependent set of rows: Σ coefficients[i] · (row rows[i]) = 0.

    Attributes
    ----------
    rows : row numbers, ascending.
    coefficients : shape (len(rows),), none of them zero.
    """

    rows: tuple[int, ...]
    coefficients: FloatArray


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


@dataclass(frozen=True)
class Part:
    """A connected part of the dependencies; parts share no rows.

    Attributes
    ----------
    rows : row numbers, ascending.
    basis : Z of the part alone, shape (len(rows), k), orthonormal.
    fundamental : k circuits that span the part, shape (k, len(rows)).
    """

    rows: np.ndarray
    basis: FloatArray
    fundamental: FloatArray

    @cached_property
    def classes(self) -> tuple[np.ndarray, FloatArray]:
        """Rows that occur in the same circuits: class of each row, and unit rows of Z by class."""
        unit = self.basis / np.linalg.norm(self.basis, axis=1, keepdims=True)
        lead = np.argmax(np.abs(unit) > 0.5 / np.sqrt(unit.shape[1]), axis=1)
        unit = unit * np.sign(unit[np.arange(len(unit)), lead])[:, None]
        label = np.full(len(unit), -1)
        found: list[FloatArray] = []
        for i, row in enumerate(unit):
            if label[i] < 0:
                gap = np.minimum(np.abs(unit - row).max(axis=1), np.abs(unit + row).max(axis=1))
                label[(label < 0) & (gap < SUPPORT_TOLERANCE)] = len(found)
                found.append(row)
        return label, np.array(found)

    @property
    def choices(self) -> int:
        """How many choices of rows a complete search examines."""
        return comb(len(self.classes[1]), self.basis.shape[1] - 1)

    def search(self) -> Iterator[FloatArray]:
        """Chunks of dependencies (N, len(rows)) of small support; every circuit is among them."""
        k = self.basis.shape[1]
        if k == 1:
            yield self.basis.T
            return
        representatives = self.classes[1]
        subsets = combinations(range(len(representatives)), k - 1)
        while chunk := list(islice(subsets, CHUNK)):
            index = np.fromiter(chain.from_iterable(chunk), dtype=int).reshape(-1, k - 1)
            chosen = np.swapaxes(representatives[index], 1, 2)  # (N, k, k−1)
            Q, R = np.linalg.qr(chosen, mode="complete")
            pivots = np.abs(np.diagonal(R, axis1=1, axis2=2))
            independent = pivots.min(axis=1) > SUPPORT_TOLERANCE
            c = Q[independent, :, -1] @ self.basis.T
            yield np.where(np.abs(c) > SUPPORT_TOLERANCE * np.abs(c).max(axis=1)[:, None], c, 0.0)


def reduced_basis(
    Z: FloatArray, tolerance: float = SUPPORT_TOLERANCE
) -> tuple[FloatArray, list[int]]:
    """Reduced row echelon form of Zᵀ with complete pivoting, shape (k, m), and its pivots.

    Row i is the only one with an entry at pivot i, where it is 1. Its support is minimal: these
    are the fundamental circuits of the rows that are no pivots.
    """
    R = Z.T.copy()
    k = len(R)
    pivots: list[int] = []
    for i in range(k):
        size = np.abs(R[i:])
        best = size.max()
        # The first among equals, so that rounding does not choose between them.
        column = int(np.argmax((size >= 0.999 * best).any(axis=0)))
        row = i + int(np.argmax(size[:, column]))
        R[[i, row]] = R[[row, i]]
        R[i] /= R[i, column]
        others = np.arange(k) != i
        R[others] -= np.outer(R[others, column], R[i])
        R[others, column] = 0.0
        pivots.append(column)
    R[np.abs(R) <= tolerance * np.abs(R).max(axis=1, initial=0.0, keepdims=True)] = 0.0
    order = np.argsort(pivots)
    return R[order], [pivots[i] for i in order]


def parts(Z: FloatArray) -> list[Part]:
    """Split the dependencies Z (m, k) into connected parts, by smallest row number."""
    fundamental, _ = reduced_basis(Z)
    used = fundamental != 0.0
    remaining = list(range(len(used)))
    result = []
    while remaining:
        members = [remaining.pop(0)]
        support = used[members[0]].copy()
        while joined := [i for i in remaining if (used[i] & support).any()]:
            members += joined
            support |= used[joined].any(axis=0)
            remaining = [i for i in remaining if i not in joined]
        rows = np.flatnonzero(support)
        own = fundamental[np.ix_(sorted(members), rows)]
        result.append(Part(rows, np.linalg.qr(own.T).Q, own))
    return sorted(result, key=lambda part: int(part.rows[0]))


def circuits(
    A: FloatArray, Z: FloatArray, limit: int = CIRCUIT_LIMIT
) -> tuple[list[Circuit], bool]:
    """The minimal dependent groups of rows of A, smallest first, and whether these are all.

    Parameters
    ----------
    A : rows of unit length, shape (m, n).
    Z : orthonormal basis of N(Aᵀ), shape (m, k).
    limit : a connected part with more circuits is represented by a basis of k of them.
    """
    found: list[Circuit] = []
    complete = True
    for part in parts(Z):
        supports = _all_supports(part, limit)
        if supports is None:
            supports = part.fundamental != 0.0
            complete = complete and len(supports) == 1
        found += [
            circuit
            for support in supports
            if (circuit := _circuit(A, part.rows[support])) is not None
        ]
    return sorted(found, key=lambda circuit: (len(circuit.rows), circuit.rows)), complete


def _all_supports(part: Part, limit: int) -> np.ndarray | None:
    """Supports (N, rows of the part) of all its circuits; None when there are too many."""
    if part.choices > LISTING_LIMIT:
        return None
    chunks = [np.unique(c != 0.0, axis=0) for c in part.search()]
    supports = np.unique(np.concatenate(chunks), axis=0)
    if len(supports) > 20 * limit:
        return None
    # What rounding left too large contains the circuit it comes from.
    supports = supports[np.argsort(supports.sum(axis=1), kind="stable")]
    minimal: list[np.ndarray] = []
    for support in supports:
        if not any((smaller <= support).all() for smaller in minimal):
            minimal.append(support)
    return np.array(minimal) if len(minimal) <= limit else None


def _circuit(A: FloatArray, rows: np.ndarray) -> Circuit | None:
    """Coefficients of a circuit, from its own rows alone; None if they are not dependent."""
    if len(rows) > A.shape[1] + 1:
        return None
    U, s, _ = np.linalg.svd(A[rows], full_matrices=len(rows) > A.shape[1])
    coefficients = U[:, -1]
    slack = s[-1] if len(rows) <= A.shape[1] else 0.0
    if slack > SUPPORT_TOLERANCE:
        return None
    return Circuit(tuple(int(i) for i in rows), coefficients)


def minimal_conflict(
    A: FloatArray, b: FloatArray, Z: FloatArray, size: FloatArray, tolerance: float
) -> Conflict | None:
    """An irreducible group of rows that contradict each other; None when all agree.

    The smallest one of its connected part whenever that has at most 20 rows (and often beyond, as
    long as at most `SEARCH_LIMIT` choices are to be examined); by deletion filtering otherwise.

    Parameters
    ----------
    A, b : rows of unit length, shapes (m, n) and (m,).
    Z : orthonormal basis of N(Aᵀ), shape (m, k).
    size : size of the terms of each row, shape (m,): a gap counts relative to Σ|cᵢ|·sizeᵢ.
    tolerance : relative gap from which on rows disagree.
    """
    best: Conflict | None = None
    for part in parts(Z):
        if relative_gap(part, b, size) <= tolerance:
            continue
        complete = part.choices <= SEARCH_LIMIT
        find = _smallest_support if complete else _support_by_deletion
        circuit = _circuit(A, part.rows[find(part, b[part.rows], size[part.rows], tolerance)])
        if circuit is None:
            continue
        rows, c = list(circuit.rows), circuit.coefficients
        conflict = Conflict(circuit, float(c @ b[rows]), complete)
        if best is None or len(rows) < len(best.circuit.rows):
            best = conflict
    return best


def relative_gap(part: Part, b: FloatArray, size: FloatArray) -> float:
    """‖Zᵀb‖ of a part relative to the largest size of its rows."""
    largest = float(size[part.rows].max())
    return float(np.linalg.norm(part.basis.T @ b[part.rows])) / largest if largest else 0.0


def _smallest_support(part: Part, b: FloatArray, size: FloatArray, tolerance: float) -> np.ndarray:
    best, count, clarity = np.ones(len(b), bool), len(b) + 1, 0.0
    for c in part.search():
        relative = np.abs(c @ b) / np.maximum(np.abs(c) @ size, 1e-300)
        counts = np.where(relative > tolerance, (c != 0.0).sum(axis=1), len(b) + 1)
        least = int(counts.min(initial=len(b) + 1))
        if least > count or least > len(b):
            continue
        # Among the smallest, the one that contradicts itself most clearly.
        first = int(np.argmax(np.where(counts == least, relative, -1.0)))
        if least < count or relative[first] > clarity * (1.0 + 1e-6):
            best, count, clarity = c[first] != 0.0, least, float(relative[first])
    return best


def _support_by_deletion(
    part: Part, b: FloatArray, size: FloatArray, tolerance: float
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
            if norm <= SUPPORT_TOLERANCE or W.shape[1] == 1:
                continue
            rest = _without(W, row / norm)
            if np.linalg.norm(rest.T @ b) > tolerance * size.max():
                W = rest
        support = np.abs(W[:, 0]) > SUPPORT_TOLERANCE * np.abs(W[:, 0]).max()
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
