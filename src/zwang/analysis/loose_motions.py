"""Analysis of servo constraints: motions that nothing determines.

A velocity w with M w = 0, A w = 0, C w = 0, Bᵀw = 0 and Qᵀw = 0, in all states, as the turning of a
tool without inertia on a pin: its equation is 0 = 0, and neither the program nor any number of its
derivatives tells how it moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.analysis.dead_points import moving_names
from zwang.diagnosis.facts import undetermined_scaled
from zwang.linalg.scaling import ScaledTerms
from zwang.terms import EquationTerms, FloatArray
from zwang.tracing.differentiate import jacobian

if TYPE_CHECKING:
    import casadi

    from zwang.analysis.quantities import Quantity
    from zwang.system import System

__all__ = ["loose_names"]

#: States that are looked at beside the given one, and how far they are from it: what holds in them
#: all is no accident of one position.
STATES, APART = 3, 0.1
#: Units in the last place that a force along a motion may be off, for each velocity.
LAST_PLACES = 16.0 * float(np.finfo(float).eps)


def loose_names(
    system: System,
    programs: tuple[Quantity, ...],
    B: casadi.SX,
    z: FloatArray,
    t: float,
    p: FloatArray,
) -> tuple[str, ...]:
    """Names of what can move although nothing determines it, at states near z = (q, v, …)."""
    import casadi as ca

    model = system.model
    s, nq, nv = model.state, len(system.coordinates), len(system.velocities)
    rates = [of.rate["xyz".index(of.part)] if of.part else of.rate for of in programs]
    rows = ca.vertcat(model.A, jacobian(ca.vertcat(*rates), s.v, s), B.T)
    outputs = [ca.densify(ca.SX(x)) for x in (model.M, rows, model.Q, model.N)]
    function = ca.Function("loose", [s.q, s.v, s.t, s.p], outputs)
    random = np.random.default_rng(0)
    q, v = z[:nq], z[nq : nq + nv]
    found: FloatArray | None = None
    for i in range(STATES + 1):
        M, A, Q, N = (np.asarray(x.full()) for x in function(q, v, t, p))
        free = _free(M, A, Q[:, 0])
        force, size = np.abs(Q.T @ free), np.abs(Q).T @ np.abs(free)
        if not free.shape[1] or (force > nv * LAST_PLACES * size).any():
            return ()
        found = free if found is None else found
        if i < STATES:
            q = z[:nq] + N @ (APART * random.standard_normal(nv))
            v = random.standard_normal(nv)
            for group in model.unit:
                q[list(group)] /= np.linalg.norm(q[list(group)])
    assert found is not None
    return tuple(sorted({name for w in found.T for name in moving_names(system, w)}))


def _free(M: FloatArray, A: FloatArray, Q: FloatArray) -> FloatArray:
    """Velocities that rows allow and whose mass is rounding, (nv, f).

    As the diagnosis finds them: beside what is summed, so that a light part is not loose for what
    is heavy elsewhere.
    """
    scaled = ScaledTerms.decided(EquationTerms.of(M, Q, A, np.zeros(len(A))))
    return scaled.velocity_scale[:, None] * undetermined_scaled(scaled)
