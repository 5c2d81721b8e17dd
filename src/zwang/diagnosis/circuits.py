"""Minimal dependent sets of constraint rows.

The dependencies of the rows of A are the vectors c with Aᵀc = 0. A dependency of smallest support
(no other one lives on fewer of its rows) is a *circuit* of the row matroid: drop any row of it and
the others are independent.

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

__all__ = ["Circuit", "Part", "circuit_on", "circuits", "parts", "reduced_basis"]

#: An entry of a dependency below this fraction of its largest is zero. Z is good to 1e-16 times the
#: condition of A, at most 1e-5 by the rank tolerance, usually 1e-12; an honest coefficient in rows
#: of unit length that is smaller would make the group meaningless as a statement about rows.
SUPPORT_TOLERANCE = 1e-8

#: More circuits than this in one connected part are no explanation; a basis is given instead.
CIRCUIT_LIMIT = 60

#: Choices examined for the list of all circuits, which no one should have to wait for.
LISTING_LIMIT = 30_000

#: Choices handled at once: some tens of megabytes.
CHUNK = 20_000


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

    def circuits(self, A: FloatArray, limit: int = CIRCUIT_LIMIT) -> tuple[list[Circuit], bool]:
        """Its circuits, or a basis of them, and whether these are all."""
        supports = _all_supports(self, limit)
        complete = supports is not None or len(self.fundamental) == 1
        if supports is None:
            supports = self.fundamental != 0.0
        found = [circuit_on(A, self.rows[support]) for support in supports]
        return [circuit for circuit in found if circuit is not None], complete

    def gap(self, b: FloatArray, size: FloatArray) -> float:
        """‖Zᵀb‖ relative to the largest size of its rows; zero when the right sides agree."""
        largest = float(size[self.rows].max())
        return float(np.linalg.norm(self.basis.T @ b[self.rows])) / largest if largest else 0.0

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
        own = fundamental[sorted(members)][:, rows]
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
        own, all_of_part = part.circuits(A, limit)
        found += own
        complete = complete and all_of_part
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


def circuit_on(A: FloatArray, rows: np.ndarray) -> Circuit | None:
    """The circuit on exactly these rows, from them alone; None if they are not dependent."""
    if len(rows) > A.shape[1] + 1:
        return None
    U, s, _ = np.linalg.svd(A[rows], full_matrices=len(rows) > A.shape[1])
    coefficients = U[:, -1]
    slack = s[-1] if len(rows) <= A.shape[1] else 0.0
    if slack > SUPPORT_TOLERANCE:
        return None
    return Circuit(tuple(int(i) for i in rows), coefficients)
