"""Stability of rest by the constrained second variation.

At rest the second variation of the energy along displacements D z that the constraints allow is
½ zᵀ K z with

    K = Dᵀ (∂²V − Σ λ ∂²φ) D = Dᵀ E_π D

where the second term, the geometric stiffness, stays: a pendulum in Cartesian coordinates has no
other. K > 0 is stable (Lagrange and Dirichlet), a negative eigenvalue unstable. Where reactions are
indeterminate, λ may be λ + Z c; K does not depend on c if Dᵀ ∂(AᵀZ) D = 0, which is computed, and
is so wherever rows stay dependent along the motion: from AᵀZ = 0 follows ∂(Aᵀ)Z = −Aᵀ∂Z, and
DᵀAᵀ = 0. Where rows are dependent only there, as in a tensegrity, prestress decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zwang.analysis.equations_of import EquationsOf, Held, spaces_of
from zwang.analysis.search import Point, is_symmetric, stiffness
from zwang.terms import EPSILON, FloatArray

__all__ = ["Variation", "depends_on_sharing", "second_variation", "verdict"]

#: Eigenvalues of K, relative to the size of its terms, that count as zero.
NEUTRAL = 1e-9
#: What rounding leaves of a reaction that is zero, beside those that forces of any direction have.
OF_REACTIONS = 64.0 * EPSILON
#: Choices of signs of reactions by which the size of their stiffness is found.
SIGNS = 3
#: Share of ∂(AᵀZ) that may remain along allowed displacements where K does not depend on λ.
INDEPENDENT = 1e-7
#: Of the stiffness of forces, which is subtracted; larger by what INDEPENDENT takes of it.
ROUNDING = 1e-5
#: Growth rates below this share of the largest eigenvalue are rounding.
GROWTH = 1e-7


@dataclass(frozen=True)
class Variation:
    """The second variation at rest.

    Attributes
    ----------
    K : reduced stiffness in the basis D, shape (f, f).
    basis : D, shape (n, f).
    mass : DᵀM D.
    scale : size of the terms of K, beside which its eigenvalues are zero or not; at least so large
        that what rounding leaves of reactions that are zero is zero, too: that of a horizontal ring
        on a bead would make its rest stable or unstable.
    neutral : displacements with K z = 0, as columns, shape (n, k); of nonholonomic systems those
        of all positions.
    symmetric : whether K is that of a potential.
    holonomic : whether all rows restrict positions.
    """

    K: FloatArray
    basis: FloatArray
    mass: FloatArray
    scale: float
    neutral: FloatArray
    symmetric: bool
    holonomic: bool

    @property
    def eigenvalues(self) -> FloatArray:
        """Of the symmetric part of K, smallest first, in scaled displacements."""
        return np.linalg.eigvalsh(0.5 * (self.K + self.K.T)) if self.K.size else np.zeros(0)


def second_variation(equations: EquationsOf, at: Point, held: Held | None = None) -> Variation:
    """K at rest, and the displacements that nothing resists."""
    E_pi = stiffness(equations, at, held)
    D, d = at.spaces.basis, at.spaces.d
    K = D.T @ E_pi @ D
    scale = float(np.abs(d[:, None] * E_pi * d).max(initial=0.0))
    scale = max(scale, OF_REACTIONS / NEUTRAL * _of_reactions(equations, at))
    rows = at.values.A[equations.is_position]
    if held is not None:
        rows = np.vstack([rows, held.at(at.q)[1]])
    allowed = spaces_of(at.values.M, rows).basis
    across = D.T @ E_pi @ allowed
    holonomic = allowed.shape[1] == D.shape[1]
    if across.size:
        _, s, Vt = np.linalg.svd(across)
        rank = int(np.count_nonzero(s > NEUTRAL * scale))
        neutral = allowed @ Vt[rank:].T
    else:
        neutral = allowed
    mass = D.T @ at.values.M @ D
    return Variation(K, D, mass, scale, neutral, is_symmetric(K), holonomic)


def _of_reactions(equations: EquationsOf, at: Point) -> float:
    """Size of the stiffness of reactions to forces that are as large as those that act."""
    if not equations.rows:
        return 0.0
    rest, d = np.zeros(equations.nv), at.spaces.d
    drawn = np.random.default_rng(0)
    force = float(np.abs(d * at.force).max(initial=0.0)) / d
    lam = np.abs(at.spaces.multipliers(np.diag(force))).sum(axis=1)[: equations.rows]
    none = equations.slopes(at.q, rest, rest, 0.0 * lam).E_pi
    sizes = [
        equations.slopes(at.q, rest, rest, lam * _signs(drawn, len(lam))).E_pi - none
        for _ in range(SIGNS)
    ]
    return float(np.abs([d[:, None] * x * d for x in sizes]).max(initial=0.0))


def _signs(drawn: np.random.Generator, count: int) -> FloatArray:
    return drawn.choice([-1.0, 1.0], count)


def verdict(found: Variation, eigenvalues: FloatArray | None) -> str:
    """Stable, unstable, marginal or undecided.

    Parameters
    ----------
    eigenvalues : of the linearized motion, where it is known.
    """
    if found.symmetric and found.holonomic:
        values = found.eigenvalues
        if (values < -NEUTRAL * found.scale).any():
            return "unstable"
        return "marginal" if (values <= NEUTRAL * found.scale).any() else "stable"
    if eigenvalues is None:
        return "undecided"
    size = float(np.abs(eigenvalues).max(initial=0.0))
    growth = float(eigenvalues.real.max(initial=-np.inf))
    if growth > GROWTH * size:
        return "unstable"
    if growth < -GROWTH * size:
        return "stable"
    small = np.abs(eigenvalues) <= np.sqrt(GROWTH) * size
    if small.any() and (eigenvalues.real[~small] < -GROWTH * size).all():
        return "marginal"
    return "undecided"


def depends_on_sharing(equations: EquationsOf, at: Point) -> bool:
    """Whether K depends on which of the admissible multipliers is taken; see the module."""
    idle = at.spaces.idle[: equations.rows]
    if not idle.shape[1]:
        return False
    rest, D, d = np.zeros(equations.nv), at.spaces.basis, at.spaces.d
    none = equations.slopes(at.q, rest, rest, np.zeros(equations.rows)).E_pi
    left, sizes = [0.0], [ROUNDING * float(np.abs(d[:, None] * none * d).max(initial=0.0))]
    for Z in idle.T:
        unit = Z / max(float(np.abs(Z).max()), 1e-300)
        turned = equations.slopes(at.q, rest, rest, unit).E_pi - none
        # Rows given twice cancel to rounding: beside what they would do with one sign.
        alike = equations.slopes(at.q, rest, rest, np.abs(unit)).E_pi - none
        left.append(float(np.abs(D.T @ turned @ D).max(initial=0.0)))
        sizes += [float(np.abs(d[:, None] * x * d).max(initial=0.0)) for x in (turned, alike)]
    # Beside what all of them do: a combination may act on constant rows alone, and do nothing.
    return max(left) > INDEPENDENT * max(sizes)
