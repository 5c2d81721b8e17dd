"""Traced kinematics inverted: quasi-velocities from rates, v = B q̇ + b₀ (Blajer 1992, (2.2))."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.states import named_vector
from zwang.errors import InputError, NotApplicableError
from zwang.linalg.products import matvec, transpose
from zwang.terms import FloatArray
from zwang.tracing.differentiate import depends_on, jacobian

if TYPE_CHECKING:
    from zwang.equations.contract import Equations
    from zwang.tracing.traced_model import TracedModel

__all__ = ["velocity_from_rate"]

#: A rate that some v gives is met to a few ε of its terms; this leaves room for their condition.
GIVEN_BY_A_VELOCITY = 1e-10


def velocity_from_rate(
    system: Equations, q: Any, position_rate: Any, t: Any, parameters: Mapping[str, Any] | None
) -> FloatArray:
    """See `System.velocity_from_rate`."""
    model = system.model
    if depends_on(
        jacobian(model.state.q_dot, model.state.v, model.state), model.state.v, model.state
    ):
        raise NotApplicableError(
            "velocities from rates",
            must="have a system with q̇ = N v + n₀",
            but="here q̇ is not linear in the velocities",
        )
    q, v, t, p = system.arguments(q, None, t, parameters)
    rate = named_vector("position_rate", position_rate, system.coordinates)

    def outputs(m: TracedModel) -> dict[str, Any]:
        return {"N": jacobian(m.state.q_dot, m.state.v, m.state), "n0": m.n0}

    N, n0 = system.evaluated("inverse_kinematics", outputs, q, v, t, p)
    N = N.reshape(*q.shape[:-1], q.shape[-1], v.shape[-1])
    rest = rate - n0
    if N.shape[-2] == N.shape[-1]:
        return np.linalg.solve(N, rest[..., None])[..., 0]
    Nt = transpose(N)
    found = np.linalg.solve(Nt @ N, matvec(Nt, rest)[..., None])[..., 0]
    missed = np.abs(matvec(N, found) - rest).max(initial=0.0)
    if missed > GIVEN_BY_A_VELOCITY * max(np.abs(rate).max(), np.abs(n0).max(initial=0.0)):
        raise InputError(
            "position_rate",
            must="satisfy q̇ = N v + n₀ for some v",
            but=f"no velocities give it; the nearest leave a residual of {missed:.3g}",
            advice="There are more coordinates than velocities: rates must preserve what N "
            "preserves, such as pᵀṗ = 0.",
        )
    return found
