"""Equations of a mechanism in rates of Euler parameters, and the formulations of bodies.

| name | equations | solved for |
| --- | --- | --- |
| nikravesh_1 | Formulation I, (11.42): singular mass, norms and joints as constraints | q̈, σ, λ |
| nikravesh_2 | Formulation II, (11.45): three equations of rotation, not symmetric | q̈, λ |
| nikravesh_3 | Formulation III, (11.49): Euler's equations | r̈, ω̇′, λ |
| singular_mass | the first's terms by Udwadia & Schutte's auxiliary system, (65)–(75), (94) | q̈ |

All are solved in Python, for reading and comparing; answers come in the velocities (ṙ, ω′) of the
mechanism, v̇ = W q̈, with the multipliers of its joints.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.equations.euler_parameter_model import (
    in_euler_parameters,
    velocity_map,
    with_mass_along_norms,
)
from zwang.equations.expression import ExpressionEquations
from zwang.formulations.udwadia_schutte import UdwadiaSchutte
from zwang.linalg.products import matvec, transpose_matvec
from zwang.linalg.rank import DEFAULT_TOLERANCES, RowGeometry, equilibrate, pinv_of_rank
from zwang.linalg.refinement import ExactResidual, refine
from zwang.multibody import nikravesh
from zwang.solvers.dense import solve_terms
from zwang.solvers.solution import Solution
from zwang.terms import EquationTerms, FloatArray

if TYPE_CHECKING:
    from zwang.equations.mechanism import MechanismEquations

__all__ = ["OF_BODIES", "EulerParameterEquations", "solve_by"]

#: Accelerations q̈ or v̇, and multipliers.
_Found = tuple[FloatArray, FloatArray]

#: Formulations of bodies, beside those of any terms in `zwang.FORMULATIONS`.
OF_BODIES = ("nikravesh_1", "nikravesh_2", "nikravesh_3", "singular_mass")


class EulerParameterEquations(ExpressionEquations):
    """A mechanism whose velocities are the rates of its coordinates, (ṙ, ṗ) for a body in space.

    Parameters
    ----------
    origin : the mechanism in the velocities (ṙ, ω′).

    Attributes
    ----------
    singular : the model without mass along the norms.
    """

    def __init__(self, origin: MechanismEquations) -> None:
        self.origin, parts = origin, origin.parts
        self.singular = in_euler_parameters(parts, origin.model)
        model = with_mass_along_norms(parts, origin.model, self.singular)
        super().__init__(model.definition, lambda: model)

    def velocity_map_at(
        self, q: FloatArray, q_dot: FloatArray, t: FloatArray, p: FloatArray
    ) -> FloatArray:
        """W of v = W q̇ and v̇ = W q̈, shape (…, nv, nq)."""
        (W,) = self.evaluated(
            "velocity_map",
            lambda m: {"W": velocity_map(self.origin.parts, m.state.q)},
            *(q, q_dot, t, p),
        )
        return W.reshape(*q.shape[:-1], len(self.origin.velocities), len(self.coordinates))

    def singular_terms_at(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> EquationTerms:
        """M*, g* − b*, and the rows Φ_q q̈ = γ and P q̈ = −c, with C = 0.

        M* = diag(N, 4LᵀJ′L) is singular, (11.26).
        """
        M, Q = self.evaluated(
            "singular", lambda _: {"M": self.singular.M, "Q": self.singular.Q}, q, v, t, p
        )
        terms = self.ideal_terms_at(q, v, t, p)
        return replace(terms, mass_matrix=M.reshape(terms.mass_matrix.shape), applied_force=Q)


def solve_by(
    formulation: str,
    mechanism: MechanismEquations,
    q: FloatArray,
    v: FloatArray,
    t: FloatArray,
    p: FloatArray,
    shift: FloatArray | None = None,
) -> Solution:
    """The answer of one of `OF_BODIES` at a state, or at many; see `zwang.System.solve`."""
    terms = mechanism.terms_at(q, v, t, p)
    m = terms.constraint_count
    added = np.zeros(m) if shift is None else shift
    terms = replace(terms, constraint_rhs=terms.constraint_rhs + added)
    # Refuses by name what has no motion, or several, and tells how many rows are redundant.
    known = solve_terms(terms)
    if formulation == "nikravesh_3":
        v_dot, multipliers = _third(terms, known.redundancy)
    else:
        own = mechanism.in_euler_parameters
        default = mechanism.parameter_vector()  # neither W nor q̇ depend on them
        W = own.velocity_map_at(q, np.zeros_like(q), t, default)
        q_dot = mechanism.position_rate_at(q, v, t, default)
        star = own.singular_terms_at(q, q_dot, t, p)
        b = star.constraint_rhs.copy()
        b[..., :m] += added
        star = replace(star, constraint_rhs=b).with_forces(
            star.applied_force, transpose_matvec(W, terms.nonideal_force)
        )
        if formulation == "nikravesh_1":
            q_ddot, multipliers = _first(star, terms, known.redundancy)
        elif formulation == "nikravesh_2":
            q_ddot, multipliers = _second(star, terms, W, known.redundancy)
        else:
            scales = equilibrate(
                own.ideal_terms_at(q, q_dot, t, p).mass_matrix, star.constraint_matrix
            )
            q_ddot, multipliers = _singular_mass(star, scales, known.redundancy)
        v_dot, multipliers = matvec(W, q_ddot), multipliers[..., :m]
    ideal = transpose_matvec(terms.constraint_matrix, multipliers)
    if np.any(known.redundancy):
        multipliers = _least_norm(terms, ideal, np.asarray(known.ranks.constraint))
    return replace(
        known,
        acceleration=v_dot,
        constraint_force=ideal + terms.nonideal_force,
        multipliers=multipliers,
        formulation=formulation,
        reason="as asked",
        corrections=(),
    )


def _first(star: EquationTerms, terms: EquationTerms, dependent: Any) -> _Found:
    B, P, gamma, c = _split(star, terms.constraint_count)
    answer = nikravesh.solve_1(star.mass_matrix, P, star.total_force, c, B, gamma, dependent)
    return answer.acceleration, answer.multipliers


def _second(star: EquationTerms, terms: EquationTerms, W: FloatArray, dependent: Any) -> _Found:
    B, P, gamma, c = _split(star, terms.constraint_count)
    modified, M = terms.constraint_matrix, terms.mass_matrix @ W  # diag(N, 2J′L), (11.34)
    answer = nikravesh.solve_2(M, P, terms.total_force, c, modified, B, gamma, dependent)
    return answer.acceleration, answer.multipliers


def _third(terms: EquationTerms, dependent: Any) -> _Found:
    answer = nikravesh.solve_3(
        terms.mass_matrix,
        terms.total_force,
        terms.constraint_matrix,
        terms.constraint_rhs,
        dependent,
    )
    return answer.acceleration, answer.multipliers


def _singular_mass(
    star: EquationTerms, scales: tuple[FloatArray, FloatArray], dependent: Any
) -> _Found:
    """By the auxiliary system of α = 1, z = b (Result 6), in scaled terms; joints, then norms."""
    ranks = star.constraint_count - np.broadcast_to(dependent, star.batch_shape)
    acceleration = np.empty(star.applied_force.shape)
    multipliers = np.empty(star.constraint_rhs.shape)
    for i in np.ndindex(star.batch_shape):
        one, d, e = star.system(i), scales[0][i], scales[1][i]
        A = one.constraint_matrix * d * e[:, None]
        force, rhs = one.total_force * d, one.constraint_rhs * e
        M = one.mass_matrix * d * d[:, None]
        scaled = EquationTerms(M, force, A, rhs, np.zeros_like(force))
        formulation = UdwadiaSchutte(scaled, RowGeometry.of(A, rank=int(ranks[i])))
        found = refine(
            formulation.respond,
            ExactResidual(M, A, force, rhs),
            *formulation.respond(force, rhs),
            DEFAULT_TOLERANCES.refinement,
        )
        acceleration[i], multipliers[i] = found.acceleration * d, found.multipliers * e
    return acceleration, multipliers


def _split(star: EquationTerms, m: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Φ_q and P, γ and c: joints come first, then norms."""
    A, b = star.constraint_matrix, star.constraint_rhs
    return A[..., :m, :], A[..., m:, :], b[..., :m], -b[..., m:]


def _least_norm(terms: EquationTerms, force: FloatArray, ranks: np.ndarray) -> FloatArray:
    """Of all multipliers that give a force, those of least norm, as for other formulations."""
    A = terms.constraint_matrix
    result = np.empty(terms.constraint_rhs.shape)
    for i in np.ndindex(terms.batch_shape):
        result[i] = force[i] @ pinv_of_rank(A[i], int(ranks[i]))
    return result
