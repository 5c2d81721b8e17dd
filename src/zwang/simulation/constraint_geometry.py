"""Guard of a simulation: scaled constraint rows at a state, and how near they are to rank loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from zwang.integrators.symmetric_eigen import symmetric_eigen
from zwang.linalg.one_thread import product
from zwang.simulation.full_terms import FullTerms
from zwang.simulation.state_kinds import Kinds, largest_of_kind
from zwang.terms import FloatArray

__all__ = [
    "CLEAR",
    "NOISE",
    "RELATIVE",
    "REST",
    "ConstraintGeometry",
    "DenseGeometry",
    "row_lengths",
    "velocity_scales",
]

#: A residual that is this part of what was summed is no rounding, nor an error of a solve. Programs
#: reach 1e-11 away from singular positions; what is wrong misses by 1e-3 and more.
RELATIVE = 1e-6
#: Part of the forces that counts among what is summed where accelerations cancel, or are zero.
REST = 1e-5
#: Singular values of the scaled rows below the first belong to dependent rows, which rounding and
#: what a projection leaves tell apart; above the second to independent ones. Between them a
#: singular position is so near that no rank is told.
NOISE, CLEAR = 1e-10, 1e-4
#: Rows or velocities up to which singular values are computed as such.
FEW = 40
#: Velocities with less than this part of the largest mass are scaled as if they had so much, and
#: those without as the largest.
LIGHT = 1e-8
#: Of very many rows singular values are not known: two regularisations, and a wider limit.
REGULARISATIONS, RELATIVE_OF_MANY = (1e-10, 1e-13), 1e-5
#: Errors of a solve grow as the square of the distance from a singular position falls.
NEAR = 1e-9
#: Newton steps for multipliers that agree with a law of the reaction.
LAW_STEPS = 20


class ConstraintGeometry(ABC):
    """Scaled rows at a state: their range, and how near they are to losing rank.

    Attributes
    ----------
    d : scales of velocities, such that masses are about one.
    lengths : of the rows then, or what a shift of the state makes of them if that is more: a row
        that vanishes here is none.
    limit : parts of what is summed that misses may be.
    """

    def __init__(self, d: FloatArray, lengths: FloatArray, limit: float = RELATIVE) -> None:
        self.d, self.lengths, self.limit = d, lengths, limit

    @staticmethod
    def of(terms: FullTerms, shifted: FullTerms, kinds: Kinds) -> ConstraintGeometry | None:
        """None where a singular position is so near that no rank is told, or terms overflow.

        `kinds` are those of the velocities.
        """
        d = velocity_scales(terms.M.diagonal(), kinds)
        lengths, changed = row_lengths(terms.A, d), row_lengths(shifted.A - terms.A, d)
        lengths = np.maximum(lengths, np.where(changed < np.inf, changed, 0.0))
        if not np.isfinite(lengths).all():
            return None
        kind = DenseGeometry if isinstance(terms.A, np.ndarray) else SparseGeometry
        return kind.at(terms, d, lengths)

    def row_floor(self, terms: FullTerms, a: FloatArray) -> FloatArray:
        """What rows sum at least: a part of the accelerations that the forces alone would cause.

        Where all is at rest nothing else tells what accelerations are zero beside.
        """
        whole = np.linalg.norm(a / self.d) + np.linalg.norm(self.d * terms.Q)
        return REST * whole * self.lengths

    def unbalanced(self, terms: FullTerms, a: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What is left of M v̇ − Q − C off the range of Aᵀ, and the sizes of what was summed."""
        force = terms.M @ a - terms.Q
        sizes = self.d * (abs(terms.M) @ np.abs(a) + np.abs(terms.Q))
        if terms.law is None:
            return self.off_range(self.d * force), sizes
        least, best, largest = np.inf, sizes, sizes
        lam = self.multipliers(terms, force) if terms.witness is None else terms.witness
        for _ in range(LAW_STEPS):
            C, slope = terms.law(lam)
            left = self.d * (force - C - terms.A.T @ lam)
            size = float(np.linalg.norm(left))
            if size < least:
                least, best, largest = size, left, sizes + self.d * np.abs(C)
            if slope is None:
                break
            slopes = self.d[:, None] * (terms.A.T + slope)
            lam = lam + np.linalg.lstsq(slopes, left, rcond=NOISE)[0]
        return best, largest

    def multipliers(self, terms: FullTerms, force: FloatArray) -> FloatArray:
        """Those whose force Aᵀλ is next to a given one."""
        return np.linalg.lstsq((terms.A * self.d).T, self.d * force, rcond=NOISE)[0]

    @abstractmethod
    def off_range(self, force: FloatArray) -> FloatArray:
        """What is left of a scaled force off the range of the scaled Aᵀ."""


class DenseGeometry(ConstraintGeometry):
    """By the singular values of all rows."""

    V: FloatArray
    #: By how much rounding may turn directions that the constraints allow.
    turned: float = 0.0

    @classmethod
    def at(cls, terms: FullTerms, d: FloatArray, lengths: FloatArray) -> DenseGeometry | None:
        """None where a singular position is near."""
        found = cls(d, lengths)
        scales = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0.0)
        rows = terms.A * d * scales[:, None]
        parts = _by_products(rows) if min(rows.shape) > FEW else _by_singular_values(rows)
        if parts is None:
            return None
        found.V, least = parts
        if len(found.V):
            found.limit = max(RELATIVE, NEAR / least**2)
            found.turned = len(d) * np.finfo(float).eps / least
        return found

    def off_range(self, force: FloatArray) -> FloatArray:
        """What is left of a scaled force off the range of the scaled Aᵀ."""
        return force - self.V.T @ (self.V @ force)

    def rebalancing(
        self, M: FloatArray, force: FloatArray, rounding: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The accelerations that a force causes in what the constraints allow, D (DᵀMD)⁻¹ Dᵀf.

        And what rounding of the force, entry by entry, and of D may be of them: a large force of
        the constraints, all of it at right angles to D, has a part along D that is none.
        """
        Z = self.d[:, None] * _orthogonal_complement(self.V).T
        inverse = np.linalg.pinv(Z.T @ M @ Z, rcond=np.finfo(float).eps, hermitian=True)
        response = Z @ inverse
        astray = self.turned * float(np.linalg.norm(self.d * force))
        return response @ (Z.T @ force), np.abs(response) @ (np.abs(Z).T @ rounding + astray)


def _orthogonal_complement(V: FloatArray) -> FloatArray:
    """Orthonormal rows at right angles to orthonormal rows."""
    return np.linalg.svd(V, full_matrices=True)[2][len(V) :]


def _by_singular_values(rows: FloatArray) -> tuple[FloatArray, float] | None:
    """Orthonormal rows of the same range, and the least singular value; None if that is unclear."""
    _, s, V = np.linalg.svd(rows, full_matrices=False)
    if np.any((s > NOISE) & (s < CLEAR)):
        return None
    rank = int(np.sum(s > CLEAR))
    return V[:rank], float(s[rank - 1]) if rank else 0.0


def _by_products(rows: FloatArray) -> tuple[FloatArray, float] | None:
    """The same of many rows, from the eigenvalues of B Bᵀ or Bᵀ B, a tenth of the work.

    Squares tell singular values from `CLEAR` on; those that are smaller are looked for where they
    are, in the few directions that are left: there they are as accurate as by themselves.
    """
    wide = rows.shape[0] <= rows.shape[1]
    B = rows if wide else rows.T
    values, vectors = symmetric_eigen(product(B, B.T))
    clear = values > CLEAR**2
    rest = product(B.T, vectors[:, ~clear])
    if rest.size and np.linalg.norm(rest, axis=0).max() > NOISE:
        return None
    least = float(np.sqrt(values[clear].min(initial=1.0)))
    kept = vectors[:, clear]
    return (product(kept.T, B) / np.sqrt(values[clear])[:, None] if wide else kept.T), least


class SparseGeometry(ConstraintGeometry):
    """By regularised factors of very many rows, of which no singular values are known.

    What is left with either of two regularisations must be no rounding: next to a singular position
    one of them goes astray.
    """

    factors: list[Any]
    rows: Any

    @classmethod
    def at(cls, terms: FullTerms, d: FloatArray, lengths: FloatArray) -> SparseGeometry:
        """Factor [[1, Bᵀ], [B, −δ]] with the scaled rows B."""
        from scipy.sparse import block_array, diags_array
        from scipy.sparse.linalg import splu

        found = cls(d, lengths, RELATIVE_OF_MANY)
        scales = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0.0)
        B = diags_array(scales) @ terms.A @ diags_array(d)
        found.rows = B
        one, rows = diags_array(np.ones(len(d))), np.ones(len(lengths))
        found.factors = [
            splu(block_array([[one, B.T], [B, diags_array(-delta * rows)]], format="csc"))
            for delta in REGULARISATIONS
        ]
        return found

    def off_range(self, force: FloatArray) -> FloatArray:
        """The lesser of what two regularisations leave, each corrected once."""
        left = []
        for factor in self.factors:
            rest = force
            for _ in range(2):
                solved = factor.solve(np.concatenate([rest, np.zeros(self.rows.shape[0])]))
                rest = rest - self.rows.T @ solved[len(force) :]
            left.append(rest)
        return min(left, key=np.linalg.norm)


def velocity_scales(masses: FloatArray, kinds: Kinds) -> FloatArray:
    """Scales of velocities with masses (…, nv) that make these about one; that of the largest
    without mass.

    Any scales tell whether a force is one of the constraints. Large ones of massless velocities
    would make rows that hold them look alike, and every position singular. A mass is compared with
    those of its kind.
    """
    masses = np.abs(masses)
    largest = largest_of_kind(masses, kinds)
    return 1.0 / np.sqrt(np.where(masses > 0.0, np.maximum(masses, LIGHT * largest), largest))


def row_lengths(A: Any, d: FloatArray) -> FloatArray:
    """Of the rows of a matrix, with columns scaled by d."""
    return np.sqrt((A * A if isinstance(A, np.ndarray) else A.multiply(A)) @ (d * d))
