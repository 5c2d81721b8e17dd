"""Diagnosis: minimal dependent sets of constraint rows.

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

__all__ = [
    "Circuit",
    "ConnectedPart",
    "circuit_on",
    "circuits",
    "parts",
    "reduced_basis",
    "support_tolerance",
]

#: An entry of a dependency, in rows of unit length, below this fraction of its largest is zero: ten
#: times the rank tolerance, so that a row is not called part of a group by what rank calls zero.
SUPPORT_TOLERANCE = 1e-10

#: Rounding in a computed null space, per unit of condition number, with room for the elimination.
ROUNDING = 1e-14

#: No entry above this is called zero, however badly the null space is known.
COARSEST = 1e-2

#: Rows of Z, of unit length, that are chosen to be zero must be independent by this much, or y is
#: not fixed to any digit that counts.
SMALLEST_PIVOT = 1e-8

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
class ConnectedPart:
    """A connected part of the dependencies; parts share no rows.

    Attributes
    ----------
    rows : row numbers, ascending.
    basis : Z of the part alone, shape (len(rows), k), orthonormal.
    fundamental : k circuits that span the part, shape (k, len(rows)).
    tolerance : entries of a unit dependency below this are rounding.
    """

    rows: np.ndarray
    basis: FloatArray
    fundamental: FloatArray
    tolerance: float

    @cached_property
    def classes(self) -> tuple[np.ndarray, FloatArray]:
        """Rows that occur in the same circuits: class of each row, and unit rows of Z by class."""
        unit = self.basis / np.linalg.norm(self.basis, axis=1, keepdims=True)
        label = np.full(len(unit), -1)
        found: list[FloatArray] = []
        for i, row in enumerate(unit):
            if label[i] < 0:
                gap = np.minimum(np.abs(unit - row).max(axis=1), np.abs(unit + row).max(axis=1))
                label[(label < 0) & (gap < 10.0 * self.tolerance)] = len(found)
                found.append(row)
        return label, np.array(found)

    @property
    def choices(self) -> int:
        """How many choices of rows a complete search examines."""
        return comb(len(self.classes[1]), self.basis.shape[1] - 1)

    def circuits(self, A: FloatArray, limit: int = CIRCUIT_LIMIT) -> tuple[list[Circuit], bool]:
        """Its circuits, or a basis of them, and whether these are all."""
        found = _all_circuits(self, A, limit)
        if found is not None:
            return found, True
        basis = [circuit_on(A, self.rows[support]) for support in self.fundamental != 0.0]
        return [circuit for circuit in basis if circuit is not None], len(basis) == 1

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
            c = Q[pivots.min(axis=1) > SMALLEST_PIVOT, :, -1] @ self.basis.T
            yield np.where(np.abs(c) > self.tolerance * np.abs(c).max(axis=1)[:, None], c, 0.0)


def support_tolerance(condition: float) -> float:
    """What counts as zero in a null space of a matrix with this condition number."""
    return min(max(SUPPORT_TOLERANCE, ROUNDING * condition), COARSEST)


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


def parts(Z: FloatArray, condition: float = 1.0) -> list[ConnectedPart]:
    """Split the dependencies Z (m, k) into connected parts, by smallest row number.

    Parameters
    ----------
    condition : condition number of A on its range, which limits the accuracy of Z.
    """
    tolerance = support_tolerance(condition)
    fundamental, _ = reduced_basis(Z, tolerance)
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
        result.append(ConnectedPart(rows, np.linalg.qr(own.T).Q, own, tolerance))
    return sorted(result, key=lambda part: int(part.rows[0]))


def circuits(
    A: FloatArray, Z: FloatArray, condition: float = 1.0, limit: int = CIRCUIT_LIMIT
) -> tuple[list[Circuit], bool]:
    """The minimal dependent groups of rows of A, smallest first, and whether these are all.

    Parameters
    ----------
    A : rows of unit length, shape (m, n).
    Z : orthonormal basis of N(Aᵀ), shape (m, k).
    condition : condition number of A on its range.
    limit : a connected part with more circuits is represented by a basis of k of them.
    """
    found: list[Circuit] = []
    complete = True
    for part in parts(Z, condition):
        own, all_of_part = part.circuits(A, limit)
        found += own
        complete = complete and all_of_part
    return sorted(found, key=lambda circuit: (len(circuit.rows), circuit.rows)), complete


def _all_circuits(part: ConnectedPart, A: FloatArray, limit: int) -> list[Circuit] | None:
    """All circuits of a part; None when there are too many."""
    if part.choices > LISTING_LIMIT:
        return None
    chunks = [np.unique(c != 0.0, axis=0) for c in part.search()]
    if not chunks:  # rows too much alike to choose as many as a circuit omits
        return None
    supports = np.unique(np.concatenate(chunks), axis=0)
    if len(supports) > 20 * limit:
        return None
    # Rounding may leave rows too many where the chosen rows were nearly dependent; taken from the
    # rows themselves, coefficients decide.
    exact = {c.rows: c for s in supports if (c := circuit_on(A, part.rows[s])) is not None}
    # At least k circuits span the part; fewer mean that rounding hid some.
    return list(exact.values()) if part.basis.shape[1] <= len(exact) <= limit else None


def circuit_on(A: FloatArray, rows: np.ndarray) -> Circuit | None:
    """The one circuit within these rows, from them alone; None if there is none or several."""
    U, s, _ = np.linalg.svd(A[rows], full_matrices=len(rows) > A.shape[1])
    s = np.append(s, np.zeros(len(rows) - len(s)))
    if len(rows) == 1:
        return Circuit((int(rows[0]),), np.ones(1)) if s[0] == 0.0 else None
    if s[-1] > SUPPORT_TOLERANCE * s[0] or s[-2] <= ROUNDING * s[0]:
        return None
    # The null vector carries rounding over the gap to the next singular value.
    c = U[:, -1]
    tolerance = support_tolerance(float(s[0] / s[-2]))
    used = np.abs(c) > tolerance * np.abs(c).max()
    if used.all():
        return Circuit(tuple(int(i) for i in rows), c)
    return circuit_on(A, rows[used])
