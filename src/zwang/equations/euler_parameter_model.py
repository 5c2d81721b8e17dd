"""Equations of a mechanism in rates of Euler parameters, v = (ṙ, ṗ), with pᵀp = 1 as constraints.

    T = ½ q̇ᵀ Wᵀ M W q̇,   v = W q̇,   ω′ = 2 L ṗ

gives by Lagrange's equations the singular mass matrix diag(N, 4LᵀJ′L) of Nikravesh's Formulation I,
(11.26), and of Udwadia & Schutte's quaternion form, (91). Constraints of joints are differentiated
anew, by all seven coordinates of a body and with the book's A(p): Φ_q q̈ = γ, (11.41). A planar body
has (cos, sin) in place of p.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from zwang.multibody.frozen import Parts
from zwang.multibody.pose import SPATIAL, rates
from zwang.tracing.constraint import Constraint
from zwang.tracing.differentiate import Symbols, TracedConstraint, lagrange, rows
from zwang.tracing.traced_model import TracedModel

if TYPE_CHECKING:
    import casadi

__all__ = ["in_euler_parameters", "velocity_map", "with_mass_along_norms"]


def velocity_map(parts: Parts, q: casadi.SX) -> casadi.SX:
    """W of v = W q̇, shape (nv, nq)."""
    import casadi as ca

    starts, _ = parts.places
    blocks = [rates(body.kind, q[starts[i] : starts[i + 1]]) for i, body in enumerate(parts.bodies)]
    return ca.diagcat(*blocks)


def in_euler_parameters(parts: Parts, model: TracedModel) -> TracedModel:
    """The model of the same mechanism with v = q̇; rows of the norms follow those of the joints."""
    import casadi as ca

    given = model.state
    q_dot = ca.SX.sym("q_dot", given.q.numel())
    state = Symbols(given.q, q_dot, given.t, given.p, q_dot)
    W = velocity_map(parts, given.q)
    v = ca.mtimes(W, q_dot)

    def seen(e: casadi.SX) -> casadi.SX:
        return ca.substitute(e, given.v, v)

    applied = seen(model.Q + _gyroscopic(parts, model))
    zero = ca.SX(0)
    T = seen(model.T)
    M, Q = lagrange(T, zero, zero, ca.mtimes(W.T, applied), state)
    blocks: dict[str, TracedConstraint] = {}
    for name, block in model.blocks.items():
        if block.value is not None:
            blocks[name] = rows("position", block.value, state)
        else:
            assert block.rate is not None  # joints know no level of accelerations alone
            blocks[name] = rows("velocity", seen(block.rate), state)
    norms = _norms(parts, model, state)
    multipliers = ca.SX.sym("lambda", model.multipliers.numel() + len(norms))
    own = multipliers[: model.multipliers.numel(), :]  # a column even if there are none
    C = ca.substitute(seen(model.C), model.multipliers, own)
    definition = replace(
        model.definition,
        velocities=tuple(f"{name}_dot" for name in model.definition.coordinates),
        constraints={
            **model.definition.constraints,
            **{name: Constraint("position", (_from_bodies,)) for name in norms},
        },
        kinematics=None,
    )
    return replace(
        model,
        definition=definition,
        state=state,
        N=ca.SX.eye(q_dot.numel()),
        M=M,
        Q=Q,
        T=T,
        blocks={**blocks, **norms},
        multipliers=multipliers,
        C=ca.mtimes(W.T, C),
        unit=(),
    )


def with_mass_along_norms(parts: Parts, own: TracedModel, singular: TracedModel) -> TracedModel:
    """The auxiliary system of Udwadia & Schutte, (94): α²ppᵀ added to M, and α²p times −ṗᵀṗ to Q.

    Motion along p is prescribed, so that mass there changes neither motion nor forces (Result 5).
    With α² the mean of the other eigenvalues of a body's 4LᵀJ′L, all four parameters have a mass of
    the same size wherever p is, while of M* alone the diagonal vanishes in places, at p = (1, 0, 0,
    0) for one, and says nothing about the scale of a parameter there.
    """
    import casadi as ca

    M, Q = singular.M, singular.Q
    _, starts = parts.places
    turning = [(i, body) for i, body in enumerate(parts.bodies) if body.kind.unit]
    for i, body in turning:
        norm = singular.blocks[f"{body.name}.norm"]
        if body.kind is SPATIAL:
            J = own.M[starts[i] + 3 : starts[i + 1], starts[i] + 3 : starts[i + 1]]
            alpha_2 = 4.0 / 3.0 * ca.trace(J)
        else:
            alpha_2 = own.M[starts[i] + 2, starts[i] + 2]
        M = M + alpha_2 * ca.mtimes(norm.A.T, norm.A)
        Q = Q + alpha_2 * ca.mtimes(norm.A.T, norm.b)
    return replace(singular, M=M, Q=Q)


def _gyroscopic(parts: Parts, model: TracedModel) -> casadi.SX:
    """ω̃′J′ω′ of the bodies in space, which Lagrange's equations bring by themselves."""
    import casadi as ca

    momentum = ca.gradient(model.T, model.state.v)
    _, starts = parts.places
    result = ca.SX.zeros(model.state.v.numel(), 1)
    for i, body in enumerate(parts.bodies):
        if body.kind is SPATIAL:
            turning = slice(starts[i] + 3, starts[i + 1])
            result[turning] = ca.cross(model.state.v[turning], momentum[turning])
    return result


def _norms(parts: Parts, model: TracedModel, state: Symbols) -> dict[str, TracedConstraint]:
    """½(pᵀp − 1) = 0 of each body, (11.15)."""
    import casadi as ca

    names = [body.name for body in parts.bodies if body.kind.unit]
    result = {}
    for name, group in zip(names, model.unit, strict=True):
        u = state.q[list(group)]
        result[f"{name}.norm"] = rows("position", 0.5 * (ca.sumsqr(u) - 1.0), state)
    return result


def _from_bodies() -> None:
    message = "the norm of Euler parameters is not traced from a function"
    raise AssertionError(message)
