"""Inverse dynamics analysis: the efforts of actuators that a wanted motion needs.

See `effort_rules` for the balance of forces, `given_motion` for how motions are given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.actuators import Actuators, actuators_of
from zwang.analysis.allowed_motion import require_allowed
from zwang.analysis.effort_kernel import EffortKernel
from zwang.analysis.effort_result import InverseDynamics
from zwang.analysis.effort_rules import Efforts, balance, chosen, weights_of
from zwang.analysis.given_motion import MISSED, GivenMotion, given_motion
from zwang.errors import InputError, NotApplicableError
from zwang.linalg.residual_rounding import LEAST_SHARE, beyond_rounding
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System
    from zwang.terms import EquationTerms

__all__ = ["InverseDynamics", "efforts", "inverse_dynamics"]

#: States that are balanced at once: a compromise between calls and memory.
CHUNK = 256
#: States of a motion made elsewhere whose accelerations are compared with constraints, compiled
#: efforts or not.
LOOKED_AT = 20


def inverse_dynamics(
    system: System,
    motion: Any,
    actuators: Sequence[str],
    rule: str = "least norm",
    weights: Any = None,
    *,
    start: Any = None,
    parameters: Mapping[str, Any] | None = None,
) -> InverseDynamics:
    """See `zwang.Mechanism.inverse_dynamics`."""
    acting = actuators_of(system, actuators)
    w = weights_of(rule, weights, acting.names)
    own = acting.system
    if own.equations.reaction_dependent:
        raise NotApplicableError(
            "inverse dynamics",
            must="have forces that follow from the state",
            but="there is a law that depends on its reaction, such as friction in a joint",
            advice="Drive the coordinates with m.drive and simulate: run.reaction of the driver is "
            "the effort, friction included.",
        )
    p = own.parameter_vector(parameters)
    at = given_motion(own, motion, parameters, start)
    notes = [*at.notes]
    if not isinstance(motion, tuple | list):
        notes += require_allowed(own, motion, at, p)
        some = at.piece(np.unique(np.linspace(0, len(at.t) - 1, LOOKED_AT).astype(int)))
        terms = own.equations.terms_at(some.q, some.v, some.t, p)
        _require_possible(acting, terms, some)
    found = efforts(acting, at, p, rule, w)
    _, rates = acting.rates(at, p)
    if len({Z.shape[1] for Z in found.family}) > 1:
        notes.append("actuators lose or gain independence on the way: see the sizes of family")
    return InverseDynamics(
        acting, at, found.tau, rates, found.missed, found.family, rule, tuple(notes), p
    )


def efforts(
    acting: Actuators, at: GivenMotion, p: FloatArray, rule: str, weights: FloatArray
) -> Efforts:
    """Efforts at all states of a motion, compiled where that pays and ranks allow."""
    kernel = EffortKernel.of(acting, at, p)
    found = None if kernel is None else kernel.solved(at, p)
    return _by_states(acting, at, p, rule, weights) if found is None else found


def _by_states(
    acting: Actuators, at: GivenMotion, p: FloatArray, rule: str, weights: FloatArray
) -> Efforts:
    """Efforts by dense matrices, any ranks allowed."""
    parts = []
    for first in range(0, len(at.t), CHUNK):
        here = slice(first, first + CHUNK)
        piece = at.piece(here)
        terms = acting.system.equations.terms_at(piece.q, piece.v, piece.t, p)
        _require_possible(acting, terms, piece)
        r, size = remainder(terms, piece.acceleration)
        B, _ = acting.rates(piece, p)
        M, A = terms.mass_matrix, terms.constraint_matrix
        parts.append(chosen(balance(M, A, B, r, size), rule, weights))
    return Efforts(
        np.concatenate([x.tau for x in parts]),
        np.concatenate([x.missed for x in parts]),
        [Z for x in parts for Z in x.family],
    )


def remainder(terms: EquationTerms, a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """M a − Q − C, and the size of what was summed, shapes (n, nv)."""
    M = terms.mass_matrix
    inertial = np.einsum("nij,nj->ni", M, a)
    r = inertial - terms.applied_force - terms.nonideal_force
    size = np.einsum("nij,nj->ni", np.abs(M), np.abs(a)) + np.abs(terms.applied_force)
    return r, size + np.abs(terms.nonideal_force)


def _require_possible(acting: Actuators, terms: EquationTerms, at: GivenMotion) -> None:
    """Refuse a motion that constraints do not allow, by the name of the worst row."""
    if not terms.constraint_count:
        return
    miss, size = beyond_rounding(terms, at.acceleration)
    share = miss / (np.maximum(size, size.max() * LEAST_SHARE) + np.finfo(float).tiny)
    worst = np.unravel_index(np.argmax(share), share.shape)
    if share[worst] > MISSED:
        row = acting.system.row_names[int(worst[1])].partition("[")[0]
        raise InputError(
            "motion",
            must="be one of this mechanism",
            but=f"has accelerations that {row!r} does not allow, at t = {at.t[worst[0]]:.6g} by "
            f"{miss[worst]:.3g}",
        )
