"""Facts about one system that `explain` reports and errors cite, as arrays and row numbers."""

from __future__ import annotations

import numpy as np

from zwang.diagnosis.circuits import Part, parts, reduced_basis, support_tolerance
from zwang.diagnosis.conflicts import Conflict, conflict_of
from zwang.diagnosis.wording import tidy
from zwang.formulations.refine import ExactResidual, Refined, refine
from zwang.formulations.scaled import ScaledSystem
from zwang.formulations.udwadia_mogharabin import UdwadiaMogharabin
from zwang.terms import FloatArray

__all__ = [
    "conflicts",
    "freedoms",
    "indefinite",
    "respond",
    "right_side_sizes",
    "undetermined",
    "undetermined_scaled",
]


def respond(scaled_one: ScaledSystem) -> Refined:
    """Refined acceleration and multipliers in scaled terms, for rank [M; A] = n."""
    terms = scaled_one.scaled
    formulation = UdwadiaMogharabin(terms, scaled_one.geometry)
    force, rhs = terms.total_force, terms.constraint_rhs
    residual = ExactResidual(terms.mass_matrix, terms.constraint_matrix, force, rhs)
    start = formulation.respond(force, rhs)
    return refine(formulation.respond, residual, *start, scaled_one.tolerances.refinement)


def indefinite(scaled_one: ScaledSystem) -> bool:
    """Whether M has a negative eigenvalue that is not rounding."""
    mass = scaled_one.mass
    limit = scaled_one.tolerances.definite * max(float(mass.largest), 1.0)
    return not mass.estimated and bool(mass.smallest < -limit)


# --- directions -----------------------------------------------------------------------------------


def freedoms(scaled_one: ScaledSystem) -> FloatArray:
    """A sparse basis of N(A) in the given coordinates, shape (n, n − rank A)."""
    return _readable(scaled_one, scaled_one.geometry.null_space)


def undetermined(scaled_one: ScaledSystem) -> FloatArray:
    """A sparse basis of the directions with M w = 0 and A w = 0, shape (n, k)."""
    return _readable(scaled_one, undetermined_scaled(scaled_one))


def undetermined_scaled(scaled_one: ScaledSystem) -> FloatArray:
    """Orthonormal basis of the same directions in scaled coordinates, shape (n, k)."""
    M, V2 = scaled_one.scaled.mass_matrix, scaled_one.geometry.null_space
    values, vectors = np.linalg.eigh(V2.T @ M @ V2)
    return V2 @ vectors[:, np.abs(values) <= scaled_one.tolerances.definite]


def _readable(scaled_one: ScaledSystem, directions: FloatArray) -> FloatArray:
    """Scaled directions (n, k) as a sparse basis in the given coordinates, small numbers if any."""
    tolerance = support_tolerance(float(scaled_one.geometry.condition))
    reduced, _ = reduced_basis(directions, tolerance)
    own = [tidy(scaled_one.velocity_scale * row) for row in reduced]
    return np.array(own).T.reshape(directions.shape)


# --- contradictions -------------------------------------------------------------------------------


def right_side_sizes(scaled_one: ScaledSystem, *, force_known: bool = True) -> FloatArray:
    """max|b| + ‖v̇‖ in scaled terms: what disagreements of right sides are compared with, (m,).

    v̇ is the motion where the force is known and the motion unique, else the least A⁺b. A row whose
    right side is known to be off by rounding may be off by as much.
    """
    b = scaled_one.scaled.constraint_rhs
    if force_known and scaled_one.unique and not indefinite(scaled_one):
        acceleration = respond(scaled_one).acceleration
    else:
        acceleration = scaled_one.geometry.least_norm(b)
    whole = np.max(np.abs(b), initial=0.0) + np.linalg.norm(acceleration)
    rounding = scaled_one.scaled.rhs_rounding
    own = 0.0 if rounding is None else rounding / scaled_one.tolerances.consistency
    return np.full(len(b), whole) + own


def conflicts(
    scaled_one: ScaledSystem, *, force_known: bool = True, at_least_one: bool = False
) -> list[tuple[Part, Conflict]]:
    """The contradicting parts, each with its smallest irreducible conflict, smallest first.

    Parameters
    ----------
    at_least_one : the caller has found the constraints inconsistent; blame the worst part even
        if its gap is below the tolerance here.
    """
    A, b = scaled_one.scaled.constraint_matrix, scaled_one.scaled.constraint_rhs
    every = parts(scaled_one.geometry.dependencies, float(scaled_one.geometry.condition))
    if not every:
        return []
    size = right_side_sizes(scaled_one, force_known=force_known)
    tolerance = scaled_one.tolerances.consistency
    if at_least_one:
        tolerance = min(tolerance, 0.1 * max(part.gap(b, size) for part in every))
    found = [(part, conflict_of(part, A, b, size, tolerance)) for part in every]
    real = [(part, conflict) for part, conflict in found if conflict is not None]
    return sorted(real, key=lambda pair: len(pair[1].circuit.rows))
