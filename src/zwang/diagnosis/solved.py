"""Diagnosis of one system with its solution, for determinacy, force distribution and portrait."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zwang.diagnosis.circuits import reduced_basis, support_tolerance
from zwang.diagnosis.explain import (
    inconsistent_error,
    indefinite_error,
    not_unique_error,
    require_single,
)
from zwang.diagnosis.facts import conflicts, indefinite, respond, settled
from zwang.diagnosis.wording import tidy
from zwang.linalg.rank import DEFAULT_TOLERANCES, Tolerances
from zwang.linalg.scaling import ScaledTerms
from zwang.terms import EquationTerms, FloatArray

__all__ = ["SolvedTerms"]


@dataclass(frozen=True)
class SolvedTerms:
    """The motion of one system, its least multipliers, and all others.

    Attributes
    ----------
    terms, scaled : the system as given, and scaled with its ranks.
    acceleration : v̇, shape (n,).
    multipliers : the least-norm λ with M v̇ = Q + C + Aᵀλ, shape (m,).
    dependencies : orthonormal basis of N(Aᵀ) in the given rows, shape (m, k); every
        ``multipliers + dependencies @ c`` gives the same motion. Rows in no dependency are zero.
    circuits : another basis of N(Aᵀ), sparse and in small numbers, shape (m, k).
    zero : what counts as zero in scaled dependencies.
    """

    terms: EquationTerms
    scaled: ScaledTerms
    acceleration: FloatArray
    multipliers: FloatArray
    dependencies: FloatArray
    circuits: FloatArray
    zero: float

    @classmethod
    def of(cls, terms: EquationTerms, tolerances: Tolerances = DEFAULT_TOLERANCES) -> SolvedTerms:
        """Solve, or refuse by name what has no single answer."""
        require_single(terms)
        system = ScaledTerms.decided(terms, tolerances)
        if indefinite(system):
            raise indefinite_error(system)
        if not system.unique:
            raise not_unique_error(system)
        system = settled(system)
        if conflicts(system):
            raise inconsistent_error(system)
        solution = respond(system)
        scale = system.row_scale
        tolerance = support_tolerance(float(system.geometry.condition))
        reduced, _ = reduced_basis(system.geometry.dependencies, tolerance)
        Z = _orthonormal(system, tolerance)
        used = np.any(Z, axis=1)
        circuits = np.array([tidy(scale * row * used) for row in reduced]).T.reshape(Z.shape)
        lam = scale * solution.multipliers
        for _ in range(2):  # the second pass removes what rounding left of the first
            lam = lam - Z @ (Z.T @ lam)
        acceleration = system.velocity_scale * solution.acceleration
        return cls(terms, system, acceleration, lam, Z, circuits, tolerance)

    @property
    def ideal_force(self) -> FloatArray:
        """Aᵀλ, the force of the constraints without the non-ideal part, shape (n,)."""
        return self.terms.constraint_matrix.T @ self.multipliers


def _orthonormal(system: ScaledTerms, tolerance: float) -> FloatArray:
    """N(Aᵀ) = E N(A_sᵀ), with rows that occur in no dependency exactly zero."""
    U2 = system.geometry.dependencies
    used = np.linalg.norm(U2, axis=1) > tolerance
    Z = np.zeros_like(U2)
    Z[used] = np.linalg.qr(system.row_scale[used, None] * U2[used]).Q
    return Z
