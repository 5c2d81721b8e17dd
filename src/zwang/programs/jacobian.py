"""Programs of implicit methods: the Jacobian ∂(q̇, v̇)/∂(q, v) of a small system.

What v̇ solves is differentiated, not the way to its solution: with x any entry of (q, v), and v̇ and
λ held on the right,

    M ∂v̇ − Aᵀ ∂λ = ∂(Q + C + Aᵀλ − M v̇)/∂x + (∂C/∂λ) ∂λ,     A ∂v̇ = ∂(b − A v̇)/∂x,

one solve with the factor of v̇ for each x.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from zwang.programs.factor import Factor, ProgramExpressions, accelerate, law_slope, seen_by

if TYPE_CHECKING:
    import casadi

__all__ = ["along", "jacobian"]


def jacobian(e: ProgramExpressions) -> casadi.SX:
    """∂(q̇, v̇)/∂(q, v), shape (nq + nv, nq + nv)."""
    import casadi as ca

    return _changes(e, ca.jacobian)


def along(e: ProgramExpressions, direction: casadi.SX) -> casadi.SX:
    """The product of `jacobian` with a direction, shape (nq + nv, 1), by one solve."""
    import casadi as ca

    return _changes(e, lambda values, y: ca.jtimes(values, y, direction))


def _changes(
    e: ProgramExpressions, changed: Callable[[casadi.SX, casadi.SX], casadi.SX]
) -> casadi.SX:
    """Changes of q̇ and v̇ with y = (q, v), where `changed` gives those of explicit values."""
    import casadi as ca

    a, lam, factor = accelerate(e)
    y = ca.vertcat(e.q, e.v)
    if factor is None:
        return changed(ca.vertcat(e.q_dot, a), y)
    n = factor.n
    held, values, residual = _held(e, factor, a, lam)
    right = ca.substitute(changed(residual, y), held, values)
    sides = [(right[:n, k], right[n:, k]) for k in range(right.shape[1])]
    found = [factor.respond(*side) for side in sides]
    if e.law is not None:
        multipliers = held[n:]
        seen = seen_by(e.law, multipliers)
        dC = ca.substitute(ca.jacobian(e.law, multipliers[seen]), held, values)
        slope = law_slope(factor, dC, seen)
        forces = [ca.mtimes(dC, ca.solve(slope, dlam[seen])) for _, dlam in found]
        found = [factor.respond(f + more, b) for (f, b), more in zip(sides, forces, strict=True)]
    return ca.vertcat(changed(e.q_dot, y), ca.horzcat(*(da for da, _ in found)))


def _held(
    e: ProgramExpressions, factor: Factor, a: casadi.SX, lam: casadi.SX
) -> tuple[casadi.SX, casadi.SX, casadi.SX]:
    """Symbols for (v̇, λ), their values, and what the equations miss by with the former."""
    import casadi as ca

    held_a = ca.SX.sym("a", factor.n)
    held_lam = ca.SX.sym("lam", factor.m) if e.multipliers is None else e.multipliers
    force = e.force if e.law is None else e.force + e.law
    residual = ca.vertcat(
        force + ca.mtimes(e.A.T, held_lam) - ca.mtimes(e.M, held_a), e.b - ca.mtimes(e.A, held_a)
    )
    return ca.vertcat(held_a, held_lam), ca.vertcat(a, lam), residual
