"""Gauss's principle: the function that constrained motion minimizes, and the certificate from it.

    G(ÿ) = (ÿ − a)ᵀ M (ÿ − a),      M a = Q (+ C)         Udwadia & Kalaba (1996), (9)

Among all ÿ with A ÿ = b, the motion makes G least: for any admissible trial, G(v̇ + u) = G(v̇) + uᵀMu
((13) there). When M is singular a does not exist; then ÿᵀMÿ − 2 ÿᵀ(Q + C) is the same function up
to a constant, and has the same minimum.

The certificate uses no formulation: v̇ is the minimum exactly when A v̇ = b and the gradient
M v̇ − (Q + C) has no component along any virtual displacement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zwang.linalg.products import dot, matvec
from zwang.linalg.rank import RowGeometry
from zwang.linalg.residual_rounding import beyond_rounding
from zwang.terms import EquationTerms, FloatArray

__all__ = ["GaussCertificate", "certificate", "gauss_function", "gauss_function_shifted"]


def gauss_function(terms: EquationTerms, trial: FloatArray) -> FloatArray:
    """G(ÿ) = (ÿ − a)ᵀ M (ÿ − a) of a trial acceleration, shape (…); needs M positive definite."""
    M, f = terms.mass_matrix, terms.total_force
    a = np.linalg.solve(M, f[..., None])[..., 0]
    deviation = np.asarray(trial, dtype=float) - a
    return dot(deviation, matvec(M, deviation))


def gauss_function_shifted(terms: EquationTerms, trial: FloatArray) -> FloatArray:
    """ÿᵀ M ÿ − 2 ÿᵀ (Q + C), shape (…): Gauss's function less the constant aᵀMa, any M."""
    y = np.asarray(trial, dtype=float)
    return dot(y, matvec(terms.mass_matrix, y) - 2.0 * terms.total_force)


@dataclass(frozen=True)
class GaussCertificate:
    """How far an acceleration is from Gauss's minimum, without reference to any formulation.

    Attributes
    ----------
    gradient : largest |wᵀ(M v̇ − Q − C)| over unit virtual displacements w, relative to the forces.
    constraint : largest |A v̇ − b| beyond the rounding of b, relative to the terms of the rows.
    """

    gradient: FloatArray
    constraint: FloatArray

    @property
    def residual(self) -> float:
        """The worse of the two, over the batch."""
        return float(max(np.max(self.gradient, initial=0.0), np.max(self.constraint, initial=0.0)))


def certificate(
    terms: EquationTerms, acceleration: FloatArray, geometry: RowGeometry
) -> GaussCertificate:
    """Gauss residual of an acceleration; `geometry` gives the virtual displacements N(A)."""
    M, f = terms.mass_matrix, terms.total_force
    inertia = matvec(M, acceleration)
    slope = np.linalg.norm(geometry.tangent(inertia - f), axis=-1)
    forces = np.linalg.norm(inertia, axis=-1) + np.linalg.norm(f, axis=-1)
    miss, size = beyond_rounding(terms, acceleration)
    return GaussCertificate(
        gradient=_ratio(slope, forces),
        constraint=np.max(_ratio(miss, size), axis=-1, initial=0.0),
    )


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0)
