"""Reduction: all coordinates, velocities and accelerations as functions of the independent ones.

    coordinates  q = g(s, t), ṡ = Ã u + ã₀:   v = N⁻¹(J Ã u + J ã₀ + g_t − n₀)      (4.2)–(4.4)
    velocities   v = g(u, q, t), linear in u or not                                 (5.3), (5.9)

In both cases, with the partial velocities Dᵀ = ∂v/∂u (Blajer 1992, (4.9), (4.11)),

    v̇ = Dᵀ u̇ + a_u,      a_u = v_s ṡ + v_t                                         (4.5), (5.5)

by automatic differentiation. A `Lift` holds these as expressions of the independent symbols; it
puts them in place of the dependent ones in any expression of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from zwang.errors import InputError, NotApplicableError
from zwang.tracing.differentiate import Symbols, jacobian, rate
from zwang.tracing.opaque import OpaqueCall, recording
from zwang.tracing.outputs import arguments_of
from zwang.tracing.symbol import symbols_of
from zwang.tracing.trace import call, matrix, vector

if TYPE_CHECKING:
    import casadi

    from zwang.tracing.traced_model import TracedModel

__all__ = ["Lift", "basis_lift", "coordinate_lift", "velocity_lift"]


@dataclass(frozen=True)
class Lift:
    """The dependent variables of a model as expressions of independent ones.

    Attributes
    ----------
    model : the model with all its variables.
    state : the independent symbols; time and parameters are those of the model.
    q, v : g and v, shapes (nq, 1) and (nv, 1).
    partial_velocities : Dᵀ = ∂v/∂u, shape (nv, k).
    bias : a_u, the acceleration v̇ for u̇ = 0, shape (nv, 1).
    coordinates : whether the coordinates are new, or only the velocities.
    """

    model: TracedModel
    state: Symbols
    q: casadi.SX
    v: casadi.SX
    partial_velocities: casadi.SX
    bias: casadi.SX
    coordinates: bool

    @classmethod
    def of(
        cls,
        model: TracedModel,
        state: Symbols,
        q: casadi.SX,
        v: casadi.SX,
        *,
        coordinates: bool,
    ) -> Lift:
        """Differentiate v along the motion."""
        return cls(model, state, q, v, jacobian(v, state.v, state), rate(v, state), coordinates)

    def __call__(self, *expressions: casadi.SX) -> list[casadi.SX]:
        """Expressions of the model in terms of the independent symbols."""
        return _substituted(self.model, self.q, self.v, expressions)


def _substituted(
    model: TracedModel, q: casadi.SX, v: casadi.SX, expressions: Sequence[casadi.SX]
) -> list[casadi.SX]:
    import casadi as ca

    s = model.state
    return ca.substitute(list(expressions), [s.q, s.v], [q, v]) if expressions else []


def _lifted_calls(model: TracedModel, q: casadi.SX, v: casadi.SX) -> list[OpaqueCall]:
    """The opaque calls of the model with their arguments in terms of the independent symbols."""
    arguments = _substituted(model, q, v, [c.arguments for c in model.state.calls])
    return [replace(c, arguments=w) for c, w in zip(model.state.calls, arguments, strict=True)]


def coordinate_lift(
    model: TracedModel,
    count: int,
    function: Callable[..., Any],
    kinematics: tuple[Callable[..., Any], Callable[..., Any] | None] | None = None,
    velocity_count: int | None = None,
) -> Lift:
    """Independent coordinates: q = g(s, t, p), with ṡ = Ã u + ã₀ (by default ṡ = u).

    Parameters
    ----------
    count : how many coordinates s.
    function : g, a function of (s, t, p).
    kinematics : Ã and ã₀, functions of (s, t, p).
    """
    import casadi as ca

    s, nq = model.state, len(model.definition.coordinates)
    x = ca.SX.sym("s", count)
    u = ca.SX.sym("u", velocity_count or count)
    calls: list[OpaqueCall] = []
    own = arguments_of(model)
    arguments = {"s": symbols_of(x), "t": own["t"], "p": own["p"]}
    with recording(calls):
        g = vector("map", call("map", function, arguments))
        x_dot = u if kinematics is None else _kinematics(kinematics, arguments, x, u)
    if g.numel() != nq:
        names = ", ".join(model.definition.coordinates)
        raise InputError("map", must=f"return {nq} values ({names})", but=f"returns {g.numel()}")
    state = Symbols(x, u, s.t, s.p, x_dot, calls)
    g_dot = rate(g, state)
    no_velocity = ca.SX.zeros(s.v.shape)  # kinematics do not depend on v
    calls += _lifted_calls(model, g, no_velocity)
    v = _velocity(model, g, g_dot, no_velocity)
    lifted = _lifted_calls(model, g, v)
    calls[len(calls) - len(lifted) :] = lifted
    return Lift.of(model, state, g, v, coordinates=True)


def _kinematics(
    kinematics: tuple[Callable[..., Any], Callable[..., Any] | None],
    arguments: dict[str, Any],
    x: casadi.SX,
    u: casadi.SX,
) -> casadi.SX:
    import casadi as ca

    what = "kinematics of the independent velocities"
    A = matrix(what, call(what, kinematics[0], arguments), (x.numel(), u.numel()))
    a0 = ca.SX.zeros(x.shape)
    if kinematics[1] is not None:
        a0 = vector(what, call(what, kinematics[1], arguments))
        if a0.numel() != x.numel():
            raise InputError(what, must=f"return {x.numel()} values", but=f"returns {a0.numel()}")
    return ca.mtimes(A, u) + a0


def _velocity(
    model: TracedModel, q: casadi.SX, q_dot: casadi.SX, no_velocity: casadi.SX
) -> casadi.SX:
    """V = N⁻¹(q̇ − n₀) (2.2); by least squares where there are more coordinates than velocities."""
    import casadi as ca

    if model.definition.kinematics is None:
        return q_dot
    if ca.depends_on(model.N, model.state.v):
        raise NotApplicableError(
            "independent coordinates",
            must="have a system with q̇ = N v + n₀",
            but="here q̇ is not linear in the velocities",
            advice="Introduce the coordinates first, then the nonlinear velocities.",
        )
    N, n0 = _substituted(model, q, no_velocity, [model.N, model.n0])
    if N.shape[0] == N.shape[1]:
        return ca.solve(N, q_dot - n0)
    return ca.solve(ca.mtimes(N.T, N), ca.mtimes(N.T, q_dot - n0))


def velocity_lift(model: TracedModel, count: int, function: Callable[..., Any]) -> Lift:
    """Independent velocities: v = g(q, u, t, p), linear in u or not (5.9)."""
    import casadi as ca

    u = ca.SX.sym("u", count)
    calls: list[OpaqueCall] = []
    own = arguments_of(model)
    arguments = {"q": own["q"], "u": symbols_of(u), "t": own["t"], "p": own["p"]}
    with recording(calls):
        v = vector("map", call("map", function, arguments))
    nv = len(model.definition.velocities)
    if v.numel() != nv:
        names = ", ".join(model.definition.velocities)
        raise InputError("map", must=f"return {nv} values ({names})", but=f"returns {v.numel()}")
    return velocity_lift_of(model, u, v, calls)


def velocity_lift_of(
    model: TracedModel, u: casadi.SX, v: casadi.SX, calls: Sequence[OpaqueCall] = ()
) -> Lift:
    """The lift of velocities v given as an expression of u and the model's q, t, p."""
    s = model.state
    every = [*calls, *_lifted_calls(model, s.q, v)]
    (q_dot,) = _substituted(model, s.q, v, [s.q_dot])
    return Lift.of(model, Symbols(s.q, u, s.t, s.p, q_dot, every), s.q, v, coordinates=False)


def basis_lift(
    model: TracedModel, count: int, function: Callable[..., Any], rows: casadi.SX, *, mass: bool
) -> Lift:
    """Independent velocities by a tangent basis: v = Dᵀ u + v_u (5.3).

    u is what (5.2) defines: the part v_u = −M⁻¹Cᵀ M_c⁻¹ η, which the constraints C v + η = 0 ask
    for by themselves, is orthogonal to the columns of Dᵀ in the metric of M.

    Parameters
    ----------
    function : Dᵀ(q, t, p), shape (nv, count).
    rows : independent velocity constraints C v + η, expressions of the model.
    mass : whether M is positive definite; otherwise the unit matrix takes its place.
    """
    import casadi as ca

    s, nv = model.state, len(model.definition.velocities)
    calls: list[OpaqueCall] = []
    own = arguments_of(model)
    with recording(calls):
        arguments = {"q": own["q"], "t": own["t"], "p": own["p"]}
        Dt = matrix("basis", call("basis", function, arguments), (nv, count))
    u = ca.SX.sym("u", count)
    C = jacobian(rows, s.v, s)
    (eta,) = _substituted(model, s.q, ca.SX.zeros(s.v.shape), [rows])
    v = ca.mtimes(Dt, u)
    if eta.nnz() and not eta.is_zero():
        weighted = ca.solve(model.M, C.T) if mass else C.T
        v = v - ca.mtimes(weighted, ca.solve(ca.mtimes(C, weighted), eta))
    return velocity_lift_of(model, u, v, calls)
