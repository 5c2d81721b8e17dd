"""Independent quasi-velocities defined forward: u = γ(v, q, t) beside φ(v, q, t) = 0.

Blajer (1992), (5.8), with what follows from it when both are differentiated once:

    [ φ_v ]      [ 0 ]   [ b             ]
    [ γ_v ] v̇ =  [ u̇ ] − [ γ_q q̇ + γ_t   ],      rank [φ_v; γ_v] = n is required,

so that v̇ = Dᵀ u̇ + a_u without ever solving for v = g(u, q, t) (5.9), which seldom has a closed
form. φ_v and b are the rows A and b of all constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import InputError
from zwang.linalg.rank import RowGeometry
from zwang.terms import FloatArray
from zwang.tracing.differentiate import jacobian, rate
from zwang.tracing.mixed_kernel import staged
from zwang.tracing.opaque import recording
from zwang.tracing.outputs import trace_extra

if TYPE_CHECKING:
    from zwang.equations.contract import Equations

__all__ = ["ForwardVelocities", "forward_velocities"]


@dataclass(frozen=True)
class ForwardVelocities:
    """Quasi-velocities and their equations at one state.

    Attributes
    ----------
    u : γ(v, q, t), shape (k,).
    matrix : [φ_v; γ_v], shape (n, n).
    partial_velocities : Dᵀ = ∂v/∂u = ∂v̇/∂u̇, shape (n, k).
    bias : a_u with v̇ = Dᵀ u̇ + a_u, shape (n,).
    mass_matrix, force : M_d = D M Dᵀ and D (h* − M a_u) of M_d u̇ = …, shapes (k, k) and (k,).
    """

    u: FloatArray
    matrix: FloatArray
    partial_velocities: FloatArray
    bias: FloatArray
    mass_matrix: FloatArray
    force: FloatArray

    @property
    def rate(self) -> FloatArray:
        """u̇, shape (k,)."""
        return np.linalg.solve(self.mass_matrix, self.force)

    @property
    def acceleration(self) -> FloatArray:
        """v̇ = Dᵀ u̇ + a_u, shape (n,)."""
        return self.partial_velocities @ self.rate + self.bias


def forward_velocities(
    system: Equations,
    function: Callable[..., Any],
    q: Any,
    v: Any,
    t: Any = 0.0,
    *,
    parameters: Mapping[str, Any] | None = None,
) -> ForwardVelocities:
    """Quasi-velocities u = γ(q, v, t, p) of a constrained system at a state, (5.8).

    Parameters
    ----------
    function : γ of (q, v, t, p), as many values as there are degrees of freedom.
    q, v, t : one state that satisfies the constraints.
    """
    arguments = system.arguments(q, v, t, parameters)
    terms = system.terms_at(*arguments)
    if terms.batch_shape:
        raise InputError("q, v, t", expected="one state", found="several states")
    A, b = terms.constraint_matrix, terms.constraint_rhs
    n, rank = A.shape[1], RowGeometry.of(A).rank

    s = system.model.state
    calls = list(s.calls)
    with recording(calls):
        what = "definition of u"
        gamma = trace_extra(s, system.model.definition.parameters, what, function)
    state = replace(s, calls=calls)
    inputs = {"q": s.q, "v": s.v, "t": s.t, "p": s.p}
    slope, along = jacobian(gamma, s.v, state), rate(gamma, state)
    outputs = {"u": gamma, "slope": slope.T, "along": along}
    kernel = staged("forward_velocities", inputs, outputs, calls)
    u, slope, along = kernel(arguments[0], arguments[1], np.atleast_1d(arguments[2]), arguments[3])
    slope = slope.reshape(len(u), n)
    if len(u) != n - rank:
        raise InputError(
            "definition of u",
            must=f"have {n - rank} values: {n} velocities less {rank} independent constraints",
            but=f"has {len(u)}",
        )
    whole = np.concatenate([A, slope])
    if (found := RowGeometry.of(_unit_rows(whole)).rank) < n:
        raise InputError(
            "definition of u",
            must=f"have rank [φ_v; γ_v] = {n}",
            but=f"it is {found} at this state",
            advice="u must distinguish all motions that the constraints allow.",
        )
    inverse = np.linalg.pinv(whole)
    Dt, bias = inverse[:, len(A) :], inverse @ np.concatenate([b, -along])
    M, h = terms.mass_matrix, terms.total_force
    return ForwardVelocities(u, whole, Dt, bias, Dt.T @ M @ Dt, Dt.T @ (h - M @ bias))


def _unit_rows(rows: FloatArray) -> FloatArray:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0.0, length, 1.0)
