"""Bounds on the rounding in b − A v̇: a larger residual is a contradiction or a lost digit.

Rows and right sides are known to a rounding, of the type in which they were handed in or of what
was summed up in them, and so is what they are compared with: the accelerations that enter a row,
those of the motion and those that the forces alone would give. Nothing of a row may be compared
with parts of the system that it has nothing to do with, but for a floor: a zero within one
rounding of all sizes of the system contradicts nothing.

All terms are scaled (`ScaledSystem`), but for those of `beyond_rounding`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from zwang.linalg.products import matvec
from zwang.linalg.rank import AT_A_STATE, Tolerances, linked_sizes
from zwang.terms import EPSILON, EquationTerms, FloatArray

__all__ = [
    "LEAST_SHARE",
    "ROUNDINGS",
    "Shares",
    "beyond_rounding",
    "contradicts",
    "free_acceleration",
    "linked_limits",
    "own_limits",
    "rounding_of_rows",
    "shares",
]

#: Roundings that a sum over one coordinate has room for; over n of them √n times as many.
ROUNDINGS = 8.0
#: Rows whose terms are smaller than this share of the largest are compared with the share.
LEAST_SHARE = 1e-3


class Shares(NamedTuple):
    """How far b and A may be off, relative to |b| and to |A|·|a|.

    Attributes
    ----------
    forces : of `rows`, the part that is rounding. What a state or the tolerances leave room for is
        relative to the motion: forces that the constraints hold, those of a wheel that spins about
        a skew axis for one, are large beside it and would hide contradictions.
    """

    rhs: float
    rows: float
    forces: float

    @property
    def largest(self) -> float:
        """That of b or of A, whichever is more."""
        return max(self.rhs, self.rows)


def shares(terms: EquationTerms, tolerances: Tolerances) -> Shares:
    """A few roundings of the numbers as given, or the tolerances if they are more."""
    few = ROUNDINGS * math.sqrt(terms.coordinate_count)
    least = tolerances.consistency or (AT_A_STATE if terms.at_state else 0.0)
    precision = terms.precision
    rows = max(few * precision.rows, least)
    return Shares(max(few * precision.rhs, least), rows, few * precision.rows / rows)


def entering(terms: EquationTerms, acceleration: FloatArray, share: Shares) -> FloatArray:
    """|v̇| and a share of what the forces alone would give where there is mass, shape (…, n)."""
    massive = terms.mass_matrix.diagonal(axis1=-2, axis2=-1) > 0.0
    return np.abs(acceleration) + np.abs(terms.total_force) * (massive * share.forces)


def own_limits(terms: EquationTerms, acceleration: FloatArray, share: Shares) -> FloatArray:
    """What rounding may leave of each row of b − A v̇ by itself, shape (…, m)."""
    A, b = terms.constraint_matrix, terms.constraint_rhs
    limit = share.rhs * np.abs(b) + share.rows * matvec(
        np.abs(A), entering(terms, acceleration, share)
    )
    return limit if terms.rhs_rounding is None else limit + terms.rhs_rounding


def linked_limits(terms: EquationTerms, acceleration: FloatArray, share: Shares) -> FloatArray:
    """The same beside all that is linked to each row through M or other rows, and the floor of the
    whole, shape (m,), for one system.
    """
    A, b = terms.constraint_matrix, np.abs(terms.constraint_rhs)
    if terms.rhs_rounding is not None:  # a right side may be off as much as one that size
        b = b + terms.rhs_rounding / share.largest
    a = entering(terms, acceleration, share)
    forces = np.abs(terms.total_force).max(initial=0.0)
    whole = b.max(initial=0.0) + a.max(initial=0.0) + forces
    # A zero row is linked to nothing: it is compared with all there is.
    sizes = np.where(A.any(axis=-1), linked_sizes(terms.mass_matrix, A, b, a), whole)
    return share.largest * sizes + EPSILON * whole


def free_acceleration(force: FloatArray, mass: FloatArray) -> FloatArray:
    """Sizes of what the forces alone would give, 0 without mass; `mass` is the diagonal of M."""
    return np.divide(np.abs(force), mass, out=np.zeros_like(force), where=mass > 0.0)


def rounding_of_rows(
    summed: FloatArray, coordinates: int, in_rhs: FloatArray | None = None
) -> FloatArray:
    """What rounding may leave of A a − b, the same for all rows, shape (…, 1).

    Where nothing accelerates, a structure at rest or a shaft that spins, a and b are nothing but
    rounding: a of what the forces alone would give, b of the products of velocities summed in it.
    It is passed on from row to row, so that all rows have that of the largest.

    Parameters
    ----------
    summed : |b| + |A|·(|a| + the accelerations that the forces alone would give), shape (…, m).
    in_rhs : what rounding may leave in b, if that is known, shape (…, m).
    """
    limit = ROUNDINGS * math.sqrt(coordinates) * EPSILON * summed
    if in_rhs is not None:
        limit = limit + in_rhs
    return np.max(limit, axis=-1, keepdims=True, initial=0.0)


def beyond_rounding(
    terms: EquationTerms, acceleration: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """|A a − b| less what rounding explains, and the size of what was summed, (…, m) each.

    Rows with small terms are compared with a share of the largest.
    """
    A, b = terms.constraint_matrix, terms.constraint_rhs
    mass = terms.mass_matrix.diagonal(axis1=-2, axis2=-1)
    free = free_acceleration(terms.total_force, mass)
    size = matvec(np.abs(A), np.abs(acceleration)) + np.abs(b)
    limit = rounding_of_rows(
        size + matvec(np.abs(A), free), terms.coordinate_count, terms.rhs_rounding
    )
    miss = np.maximum(np.abs(matvec(A, acceleration) - b) - limit, 0.0)
    return miss, np.maximum(size, np.max(size, axis=-1, keepdims=True, initial=0.0) * LEAST_SHARE)


def contradicts(Z: FloatArray, miss: FloatArray, limits: FloatArray) -> bool:
    """Whether right sides disagree: the part of b − A v̇ in N(Aᵀ), spanned by Z, is no rounding.

    That part is the one of b; rounding of Z counts in b − A v̇ for nothing, as that is small
    wherever right sides agree. One system.
    """
    onto = Z @ Z.T
    return bool((np.abs(onto @ miss) > np.abs(onto) @ limits).any())
