"""Ranks, dependent rows and undetermined directions of one system, as arrays, for the diagnosis."""

from __future__ import annotations

import math

import numpy as np

from zwang.diagnosis.circuits import ConnectedPart, parts, reduced_basis, support_tolerance
from zwang.diagnosis.conflicts import Conflict, conflict_of
from zwang.diagnosis.wording import tidy
from zwang.formulations.udwadia_mogharabin import UdwadiaMogharabin
from zwang.linalg.refinement import ExactResidual, Refined, refine
from zwang.linalg.residual_rounding import contradicts, linked_limits, shares
from zwang.linalg.scaling import ScaledTerms
from zwang.terms import FloatArray

__all__ = [
    "PULL",
    "accuracy_notes",
    "conflicts",
    "disagree",
    "freedoms",
    "indefinite",
    "miss_and_limits",
    "motion_to_judge_by",
    "relative_miss",
    "respond",
    "settled",
    "undetermined",
    "undetermined_scaled",
]


#: Keeps 0/0 at 0.
SMALLEST = 1e-300


def respond(scaled_one: ScaledTerms) -> Refined:
    """Refined acceleration and multipliers in scaled terms, for rank [M; A] = n."""
    terms = scaled_one.scaled
    formulation = UdwadiaMogharabin(terms, scaled_one.geometry)
    force, rhs = terms.total_force, terms.constraint_rhs
    residual = ExactResidual(terms.mass_matrix, terms.constraint_matrix, force, rhs)
    start = formulation.respond(force, rhs)
    return refine(formulation.respond, residual, *start, scaled_one.tolerances.refinement)


def indefinite(scaled_one: ScaledTerms) -> bool:
    """Whether M has a negative eigenvalue that is not rounding."""
    mass = scaled_one.mass
    limit = scaled_one.tolerances.definite * max(float(mass.largest), 1.0)
    return not mass.estimated and bool(mass.smallest < -limit)


# --- directions -----------------------------------------------------------------------------------


def freedoms(scaled_one: ScaledTerms) -> FloatArray:
    """A sparse basis of N(A) in the given coordinates, shape (n, n − rank A)."""
    return _readable(scaled_one, scaled_one.geometry.null_space)


def undetermined(scaled_one: ScaledTerms) -> FloatArray:
    """A sparse basis of the directions with M w = 0 and A w = 0, shape (n, k)."""
    return _readable(scaled_one, undetermined_scaled(scaled_one))


def undetermined_scaled(scaled_one: ScaledTerms) -> FloatArray:
    """Orthonormal basis of the same directions in scaled coordinates, shape (n, k)."""
    M, V2 = scaled_one.scaled.mass_matrix, scaled_one.geometry.null_space
    values, vectors = np.linalg.eigh(V2.T @ M @ V2)
    return V2 @ vectors[:, np.abs(values) <= scaled_one.tolerances.definite]


def _readable(scaled_one: ScaledTerms, directions: FloatArray) -> FloatArray:
    """Scaled directions (n, k) as a sparse basis in the given coordinates, small numbers if any."""
    tolerance = support_tolerance(float(scaled_one.geometry.condition))
    reduced, _ = reduced_basis(directions, tolerance)
    own = [tidy(scaled_one.velocity_scale * row) for row in reduced]
    return np.array(own).T.reshape(directions.shape)


# --- contradictions -------------------------------------------------------------------------------


#: A force along a direction with neither mass nor constraint below this part of all is rounding.
PULL = 1e-9


def motion_to_judge_by(scaled_one: ScaledTerms, *, force_known: bool = True) -> FloatArray:
    """The v̇ by which right sides are judged, (n,): the motion where it is known, else A⁺b."""
    if force_known and scaled_one.unique and not indefinite(scaled_one):
        return respond(scaled_one).acceleration
    return scaled_one.geometry.least_norm(scaled_one.scaled.constraint_rhs)


def miss_and_limits(
    scaled_one: ScaledTerms, acceleration: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """b − A v̇ and what rounding may leave of it, shapes (m,)."""
    terms = scaled_one.scaled
    miss = terms.constraint_rhs - terms.constraint_matrix @ acceleration
    return miss, linked_limits(terms, acceleration, shares(terms, scaled_one.tolerances))


def disagree(scaled_one: ScaledTerms, acceleration: FloatArray) -> bool:
    """Whether right sides contradict each other, judged by the motion of `motion_to_judge_by`."""
    Z = scaled_one.geometry.dependencies
    return Z.shape[1] > 0 and contradicts(Z, *miss_and_limits(scaled_one, acceleration))


def relative_miss(scaled_one: ScaledTerms, acceleration: FloatArray) -> float:
    """The largest |b − A v̇| relative to the sizes it is compared with; zero within rounding."""
    miss, limits = miss_and_limits(scaled_one, acceleration)
    beyond = np.abs(miss) > limits
    if not beyond.any():
        return 0.0
    share = shares(scaled_one.scaled, scaled_one.tolerances).largest
    with np.errstate(divide="ignore"):
        return float(share * np.max(np.abs(miss[beyond]) / limits[beyond]))


def settled(scaled_one: ScaledTerms, *, force_known: bool = True) -> ScaledTerms:
    """The system with rows independent that only nearly depend on each other, if b requires it."""
    if scaled_one.highest_ranks == scaled_one.constraint_ranks:
        return scaled_one
    if disagree(scaled_one, motion_to_judge_by(scaled_one, force_known=force_known)):
        return scaled_one.with_ranks(scaled_one.highest_ranks)
    return scaled_one


def conflicts(
    scaled_one: ScaledTerms, *, force_known: bool = True, at_least_one: bool = False
) -> list[tuple[ConnectedPart, Conflict]]:
    """The contradicting parts, each with its smallest irreducible conflict, smallest first.

    Parameters
    ----------
    at_least_one : the caller has found the constraints inconsistent; blame the worst part even
        if its gap is below the tolerance here.
    """
    acceleration = motion_to_judge_by(scaled_one, force_known=force_known)
    if not at_least_one and not disagree(scaled_one, acceleration):
        return []
    A = scaled_one.scaled.constraint_matrix
    miss, limits = miss_and_limits(scaled_one, acceleration)
    every = parts(scaled_one.geometry.dependencies, float(scaled_one.geometry.condition))
    if not every:
        return []
    size = np.maximum(limits, SMALLEST)
    worst = max(part.gap(miss, size) for part in every)
    tolerance = min(1.0, 0.1 * worst)
    found = [(part, conflict_of(part, A, miss, size, tolerance)) for part in every]
    real = [(part, conflict) for part, conflict in found if conflict is not None]
    return sorted(real, key=lambda pair: len(pair[1].circuit.rows))


# --- accuracy -------------------------------------------------------------------------------------


def accuracy_notes(system: ScaledTerms) -> list[str]:
    """What to know of the digits of an answer, of one system or the worst of a batch."""
    notes: list[str] = []
    precision, at_state = system.terms.precision, system.terms.at_state
    s, rank = system.decomposition[1], system.lowest_rank
    usual = s.ndim == 1 and system.mass.estimated and rank == len(s)
    if usual and (not rank or s[0] * math.sqrt(precision.rows) <= s[-1]):
        return notes
    for what, condition, rounding in (
        ("the constraint matrix", system.row_conditions(), precision.rows),
        ("the mass matrix", system.mass_conditions(), precision.mass),
    ):
        worst = float(np.max(condition))
        if worst * math.sqrt(rounding) > 1.0:  # more than half of the digits
            change = min(worst * rounding, 1.0)
            notes.append(
                f"{what} has a condition number of {worst:.0e}: rounding of the given numbers "
                f"alone can change the answer by {change:.0e}, relative"
            )
    if system.lowest_rank == min(system.scaled.constraint_matrix.shape[-2:]):
        return notes
    if not at_state and (near := system.highest_ranks > system.constraint_ranks).any():
        next_one = np.asarray(system.constraint_ranks)[..., None]
        weakest = np.take_along_axis(s, np.minimum(next_one, s.shape[-1] - 1), axis=-1)[..., 0]
        share = float(np.max(np.where(near, weakest / s[..., 0], 0.0)))
        notes.append(
            f"rows that depend on each other but for {share:.0e} are taken as dependent; "
            "Tolerances(rank=…) distinguishes them"
        )
    if (system.hidden_ranks > 0).any():
        notes.append(
            "rows that are independent look dependent beside masses of such different size, and "
            "are taken as dependent"
        )
    return notes
