"""Blajer (1992), section 5, term by term: linear constraints C v + η = 0 and v = Dᵀ u + v_u.

| author | here | equation |
| --- | --- | --- |
| Dᵀ, v_u | `partial_velocities`, `offset` | (5.3) |
| c0* = Ċ v + η̇ | `constraint_bias` | (5.4) |
| d0* = (D M)˙ v − Ṁ_d u | `momentum_bias` | (5.4), with the sign corrected |
| a_u = −M⁻¹Cᵀ M_c⁻¹ c0* − Dᵀ M_d⁻¹ d0* | `bias` | (5.5), a sum |
| M_d, h_u* = D h* + d0* | `mass_matrix`, `force` | (5.6) |
| A Dᵀ, ξ | `kinematics`, `drift` | (5.7) |

u is defined by (5.2), M_d u = D M v, so that v_u must be orthogonal to Dᵀ in the metric of M: true
without η, and for systems reduced by a basis. The equations of `reduction` are found in another
way, by differentiating v; the two must agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import NotApplicableError
from zwang.terms import FloatArray
from zwang.tracing.differentiate import rate

if TYPE_CHECKING:
    import casadi

    from zwang.reduction.way_back import WayBack
    from zwang.tracing.traced_model import TracedModel

__all__ = ["MaggiTerms", "maggi_terms"]


@dataclass(frozen=True)
class MaggiTerms:
    """The terms at one state; the table above defines them."""

    partial_velocities: FloatArray
    offset: FloatArray
    constraint_bias: FloatArray
    momentum_bias: FloatArray
    bias: FloatArray
    mass_matrix: FloatArray
    force: FloatArray
    kinematics: FloatArray
    drift: FloatArray

    @property
    def acceleration(self) -> FloatArray:
        """u̇ of Maggi's equations M_d u̇ = D h* + d0*, shape (k,)."""
        return np.asarray(np.linalg.solve(self.mass_matrix, self.force), dtype=float)


def maggi_terms(
    way_back: WayBack,
    q: Any,
    u: Any,
    t: float = 0.0,
    *,
    parameters: Mapping[str, Any] | None = None,
) -> MaggiTerms:
    """Section 5 at a state of a system reduced by velocities, for all rows that dropped out.

    Parameters
    ----------
    way_back : of a system whose v is linear in u, with M > 0 and independent rows.
    q, u, t : one state of the reduced system.
    """
    import casadi as ca

    lift, linear = way_back.reduction.lift, way_back.reduction.linear
    model, s = lift.model, lift.state
    if lift.coordinates or not linear:
        raise NotApplicableError(
            "Maggi's equations",
            must="have velocities v = Dᵀ u + v_u",
            but="the system is reduced by coordinates, or by a map that is not linear in u",
        )
    names = model.row_names
    rows = [names.index(name) for name in way_back.reduction.eliminated]

    def outputs(_: TracedModel) -> dict[str, Any]:
        M, Q, C, A = lift(model.M, model.Q, model.C, model.A[rows, :])
        (eta,) = ca.substitute([_rates(model)[rows]], [model.state.v], [ca.SX.zeros(Q.shape)])
        D = lift.partial_velocities.T
        DM = ca.mtimes(D, M)
        M_d = ca.mtimes(DM, D.T)
        return {
            "D": D,
            "mass": M,
            "force": Q + C,
            "rows": A,
            "c0": ca.mtimes(_rate(A, s), lift.v) + rate(eta, s),
            "d0": ca.mtimes(_rate(DM, s), lift.v) - ca.mtimes(_rate(M_d, s), s.v),
            "offset": lift.v - ca.mtimes(D.T, s.v),
            "N": model.N,
            "n0": model.n0,
        }

    k, n = len(way_back.system.velocities), len(way_back.origin.velocities)
    q, u = np.asarray(q, dtype=float), np.asarray(u, dtype=float)
    p = way_back.system.parameter_vector(parameters)
    D, M, h, C, c0, d0, offset, N, n0 = way_back.system.equations.evaluator(
        "maggi", outputs, q, u, np.asarray(t, dtype=float), p
    )
    D, M = D.reshape(k, n), M.reshape(n, n)
    C, N = C.reshape(len(rows), n), N.reshape(len(q), n)
    if np.abs(D @ M @ offset).max(initial=0.0) > 1e-9 * np.abs(M).max() * np.abs(D).max():
        raise NotApplicableError(
            "Maggi's equations",
            must="have a system reduced by a basis, (5.2)",
            but="the velocities v_u are not orthogonal to the tangent basis",
        )
    M_d = D @ M @ D.T
    weighted = np.linalg.solve(M, C.T)
    bias = -weighted @ np.linalg.solve(C @ weighted, c0) - D.T @ np.linalg.solve(M_d, d0)
    force = D @ h + d0
    return MaggiTerms(D.T, offset, c0, d0, bias, M_d, force, N @ D.T, n0 + N @ offset)


def _rates(model: TracedModel) -> casadi.SX:
    """φ̇, ψ of all rows, zero for acceleration constraints."""
    import casadi as ca

    return ca.vertcat(
        ca.SX(0, 1),
        *(
            ca.SX.zeros(block.A.shape[0], 1) if block.rate is None else block.rate
            for block in model.blocks.values()
        ),
    )


def _rate(matrix: casadi.SX, s: Any) -> casadi.SX:
    """The time derivative of a matrix along the motion."""
    import casadi as ca

    return ca.reshape(rate(ca.vec(ca.densify(matrix)), s), *matrix.shape)
