"""From traced functions to the canonical terms, by automatic differentiation.

With q̇ = N v + n₀ (Blajer 1992, (2.1)) the total derivative of any e(q, t) is

    ė = e_q (N v + n₀) + e_t                                   `rate`

A position constraint φ has the rate ψ = φ̇; a velocity constraint is such a ψ by itself. In both
cases, with v̇ split off,

    A = ψ_v,      b = −(ψ_q q̇ + ψ_t)                          `rows`

which is (2.5), (2.6) there, through N and n₀ and for ψ nonlinear in v as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import casadi

__all__ = ["Rows", "State", "lagrange", "rate", "rows"]


@dataclass(frozen=True)
class State:
    """The symbols everything is a function of, and the kinematics.

    Attributes
    ----------
    q, v, t, p : columns of symbols.
    q_dot : N v + n₀, shape (nq, 1).
    """

    q: casadi.SX
    v: casadi.SX
    t: casadi.SX
    p: casadi.SX
    q_dot: casadi.SX


@dataclass(frozen=True)
class Rows:
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


def rate(e: casadi.SX, s: State) -> casadi.SX:
    """ė = e_q q̇ + e_t at fixed v."""
    import casadi as ca

    return ca.jtimes(e, s.q, s.q_dot) + ca.jtimes(e, s.t, ca.SX(1))


def rows(level: str, e: casadi.SX, s: State) -> Rows:
    """A and b of a position or velocity constraint e = 0."""
    import casadi as ca

    psi = rate(e, s) if level == "position" else e
    return Rows(
        level, e if level == "position" else None, psi, ca.jacobian(psi, s.v), -rate(psi, s)
    )


def lagrange(
    T: casadi.SX, V: casadi.SX, R: casadi.SX, generalized: casadi.SX, s: State
) -> tuple[casadi.SX, casadi.SX]:
    """M and Q of Lagrange's equations for v = q̇.

    d/dt T_v − T_q + V_q = Q_gen − R_v, with d/dt T_v = T_vv v̇ + T_vq q̇ + T_vt, so that M = T_vv and
    Q = T_q − V_q + Q_gen − R_v − (T_vq q̇ + T_vt).
    """
    import casadi as ca

    momentum = ca.gradient(T, s.v)
    M = ca.jacobian(momentum, s.v)
    Q = ca.gradient(T - V, s.q) + generalized - ca.gradient(R, s.v) - rate(momentum, s)
    return M, Q
