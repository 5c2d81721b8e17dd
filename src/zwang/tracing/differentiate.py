"""From traced functions to the canonical terms, by automatic differentiation.

With q̇ = N v + n₀ (Blajer 1992, (2.1)) the total derivative of any e(q, t) is

    ė = e_q (N v + n₀) + e_t                                   `rate`

A position constraint φ has the rate ψ = φ̇; a velocity constraint is such a ψ by itself. In both
cases, with v̇ split off,

    A = ψ_v,      b = −(ψ_q q̇ + ψ_t)                          `rows`

which is (2.5), (2.6) there, through N and n₀ and for ψ nonlinear in v as well. Derivatives here are
total ones: where an expression contains opaque calls o = f(w), they follow the chain rule through
f_w and f_ww (`zwang.tracing.opaque`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zwang.errors import InputError
from zwang.tracing.opaque import OpaqueCall

if TYPE_CHECKING:
    import casadi

__all__ = [
    "Symbols",
    "TracedConstraint",
    "depends_on",
    "gradient",
    "jacobian",
    "lagrange",
    "rate",
    "rows",
    "stabilised",
]


@dataclass(frozen=True)
class Symbols:
    """The symbols everything is a function of, and the kinematics.

    Attributes
    ----------
    q, v, t, p : columns of symbols.
    q_dot : N v + n₀, shape (nq, 1).
    calls : opaque calls met so far while tracing, in order.
    """

    q: casadi.SX
    v: casadi.SX
    t: casadi.SX
    p: casadi.SX
    q_dot: casadi.SX
    calls: list[OpaqueCall] = field(default_factory=list)


@dataclass(frozen=True)
class TracedConstraint:
    """One constraint at all its levels, traced.

    Attributes
    ----------
    level : position, velocity or acceleration.
    value : φ, shape (m, 1), or None unless the level is position.
    rate : φ̇ or ψ, shape (m, 1), or None for the acceleration level.
    A, b : shapes (m, nv) and (m, 1).
    """

    level: str
    value: casadi.SX | None
    rate: casadi.SX | None
    A: casadi.SX
    b: casadi.SX


def rate(e: casadi.SX, s: Symbols) -> casadi.SX:
    """ė = e_q q̇ + e_t at fixed v."""
    import casadi as ca

    direct = ca.jtimes(e, s.q, s.q_dot) + ca.jtimes(e, s.t, ca.SX(1))
    return direct + _through_calls(e, s, lambda w: rate(w, s), ca.jtimes) if s.calls else direct


def jacobian(e: casadi.SX, x: casadi.SX, s: Symbols) -> casadi.SX:
    """e_x, shape (m, n), for a column x of symbols."""
    import casadi as ca

    direct = ca.jacobian(e, x)
    if not s.calls:
        return direct
    return direct + _through_calls(
        e, s, lambda w: jacobian(w, x, s), lambda e, o, o_x: ca.mtimes(ca.jacobian(e, o), o_x)
    )


def gradient(e: casadi.SX, x: casadi.SX, s: Symbols) -> casadi.SX:
    """e_xᵀ of a scalar e, shape (n, 1)."""
    import casadi as ca

    return jacobian(e, x, s).T if s.calls else ca.gradient(e, x)


def depends_on(e: casadi.SX, x: casadi.SX, s: Symbols) -> bool:
    """Whether e depends on any of the symbols x, directly or through opaque calls."""
    import casadi as ca

    if ca.depends_on(e, x):
        return True
    return any(
        depends_on(call.arguments, x, s)
        for call in s.calls
        if ca.depends_on(e, ca.veccat(call.values, call.jacobian, call.hessian))
    )


def _through_calls(
    e: casadi.SX,
    s: Symbols,
    derivative: Callable[[casadi.SX], casadi.SX],
    times: Callable[[casadi.SX, casadi.SX, casadi.SX], casadi.SX],
) -> casadi.SX | float:
    """Σ e_o o_x over the opaque calls in e, with o_x = f_w w_x."""
    import casadi as ca

    total: casadi.SX | float = 0.0
    for call in s.calls:
        if ca.depends_on(e, ca.vec(call.hessian)):
            raise InputError(
                f"opaque function {call.name!r}",
                found="a place where its third derivatives are needed",
                expected="uses that need two at most",
                advice="State the constraint at velocity level, or write the function traceably.",
            )
        if not ca.depends_on(e, ca.veccat(call.values, call.jacobian)):
            continue
        for symbols, chained in call.chain(derivative(call.arguments)):
            if ca.depends_on(e, symbols):
                total = total + times(e, symbols, chained)
    return total


def rows(level: str, e: casadi.SX, s: Symbols) -> TracedConstraint:
    """A and b of a position or velocity constraint e = 0."""
    psi = rate(e, s) if level == "position" else e
    return TracedConstraint(
        level, e if level == "position" else None, psi, jacobian(psi, s.v, s), -rate(psi, s)
    )


def stabilised(given: TracedConstraint, k1: casadi.SX, k2: casadi.SX) -> TracedConstraint:
    """φ̈ + k₁ φ̇ + k₂ φ = 0 or ψ̇ + k₁ ψ = 0 in place of a constraint: rows of acceleration level."""
    b = given.b
    if given.rate is not None:
        b = b - k1 * given.rate
    if given.value is not None:
        b = b - k2 * given.value
    return TracedConstraint("acceleration", None, None, given.A, b)


def lagrange(
    T: casadi.SX, V: casadi.SX, R: casadi.SX, generalized: casadi.SX, s: Symbols
) -> tuple[casadi.SX, casadi.SX]:
    """M and Q of Lagrange's equations for v = q̇.

    d/dt T_v − T_q + V_q = Q_gen − R_v, with d/dt T_v = T_vv v̇ + T_vq q̇ + T_vt, so that M = T_vv and
    Q = T_q − V_q + Q_gen − R_v − (T_vq q̇ + T_vt).
    """
    momentum = gradient(T, s.v, s)
    M = jacobian(momentum, s.v, s)
    Q = gradient(T - V, s.q, s) + generalized - gradient(R, s.v, s) - rate(momentum, s)
    return M, Q
