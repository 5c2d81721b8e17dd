"""A time of a system at rest: units of time decide nothing that is compared with it.

With forces f, masses M and displacements as large as the system, L of places and one of rotations,

    T⁻² = Σ |f| L / Σ M L²,    where no force acts: Σ |K| L² / Σ M L²

A pendulum of length l has T = √(l/g), and a mass on a spring √(m/k). Sums, as one stiff spring or
light body among others does not make the whole fast.
"""

from __future__ import annotations

import numpy as np

from zwang.analysis.equations_of import EquationsOf
from zwang.analysis.sparse_terms import sparse_slopes, sparse_terms
from zwang.multibody.element_batches import Bulk
from zwang.simulation.state_kinds import displacement_sizes
from zwang.terms import FloatArray

__all__ = ["system_time"]


def system_time(equations: EquationsOf, q: FloatArray, lam: FloatArray) -> float:
    """The time T of a system at rest at a configuration with reactions λ [s]; 1 s without any."""
    own = equations.system.equations
    sizes = displacement_sizes(own, q)
    bulk = Bulk(equations.parts) if equations.is_large else None
    if bulk is not None:
        M, force, _ = sparse_terms(equations, bulk, q)
    else:
        now = equations.values(q)
        M, force = now.M, now.Q
    inertia = float(np.abs(M.diagonal()) @ sizes**2)
    square = float(np.abs(force) @ sizes)
    if square == 0.0 and inertia > 0.0:
        none = np.zeros(equations.nv)
        if bulk is not None:
            stiffness = sparse_slopes(equations, bulk, q, lam)[0]
        else:
            stiffness = equations.slopes(q, none, none, lam).E_pi
        square = float(np.abs(stiffness.diagonal()) @ sizes**2)
    known = inertia > 0.0 and 0.0 < square < np.inf
    return float(np.sqrt(inertia / square)) if known else 1.0
