"""Assembly: constraints of a model as conditions on q and v, with their derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.assembly.points import ConditionPoint, PointConditions
from zwang.caching import computed_once
from zwang.terms import FloatArray
from zwang.tracing.differentiate import depends_on, jacobian
from zwang.tracing.mixed_kernel import staged

if TYPE_CHECKING:
    import casadi

    from zwang.codegen.kernel import Kernel
    from zwang.tracing.evaluator import Evaluator
    from zwang.tracing.traced_model import TracedModel

__all__ = ["StartConditions"]

#: Residuals count as rounding below this, relative to slope times size (at least to 1).
RESIDUAL = 1e-13


class StartConditions:
    """Constraints of a model as conditions on coordinates and velocities, with derivatives."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.model = evaluator.model
        names = self.model.row_names
        blocks = [b for b in self.model.blocks.values() for _ in range(b.A.shape[0])]
        self.position_rows = [n for n, b in zip(names, blocks, strict=True) if b.value is not None]
        self.rate_rows = [n for n, b in zip(names, blocks, strict=True) if b.rate is not None]

    # --- coordinates ----------------------------------------------------------------------------

    def positions(self, t: float, p: FloatArray) -> PointConditions:
        """φ(q, t) = 0 as conditions on q."""
        no_velocity = np.zeros(len(self.model.definition.velocities))

        def outputs(m: TracedModel) -> dict[str, Any]:
            phi = m.position_values
            return {"phi": phi, "phi_q": jacobian(phi, m.state.q, m.state)}

        def at(q: FloatArray) -> ConditionPoint:
            phi, slope = self.evaluator("assembly", outputs, q, no_velocity, np.asarray(t), p)
            return _point(q, phi, slope.reshape(len(phi), len(q)))

        def curvature(q: FloatArray, lam: FloatArray) -> FloatArray:
            return self._curvature(q, no_velocity, [t], p, lam)[0].reshape(len(q), len(q))

        return PointConditions(at, curvature)

    @computed_once
    def _curvature(self) -> Kernel:
        return self._second("assembly_curvature", self.model.position_values, self.model.state.q)

    @computed_once
    def _rate_curvature(self) -> Kernel:
        return self._second("velocity_curvature", self.model.rates, self.model.state.v)

    def _second(self, name: str, conditions: casadi.SX, of: casadi.SX) -> Kernel:
        """(q, v, t, p, λ) → Σ λᵢ ∇²cᵢ."""
        import casadi as ca

        s = self.model.state
        lam = ca.SX.sym("lambda", conditions.numel())
        total = ca.dot(lam, conditions) if conditions.numel() else ca.SX(0)
        second = jacobian(jacobian(total, of, s).T, of, s)
        inputs = {"q": s.q, "v": s.v, "t": s.t, "p": s.p, "lambda": lam}
        return staged(name, inputs, {"second": second}, s.calls)

    # --- velocities -----------------------------------------------------------------------------

    @computed_once
    def linear(self) -> bool:
        """Whether all velocity constraints are linear in v."""
        s = self.model.state
        return not depends_on(jacobian(self.model.rates, s.v, s), s.v, s)

    def rates(self, q: FloatArray, t: float, p: FloatArray) -> PointConditions:
        """φ̇ = 0 and ψ = 0 as conditions on v."""

        def outputs(m: TracedModel) -> dict[str, Any]:
            return {"rate": m.rates, "rate_v": jacobian(m.rates, m.state.v, m.state)}

        def at(v: FloatArray) -> ConditionPoint:
            rate, slope = self.evaluator("velocities", outputs, q, v, np.asarray(t), p)
            return _point(v, rate, slope.reshape(len(rate), len(v)))

        def curvature(v: FloatArray, lam: FloatArray) -> FloatArray:
            return self._rate_curvature(q, v, [t], p, lam)[0].reshape(len(v), len(v))

        return PointConditions(at, curvature)

    def mass(self, q: FloatArray, v: FloatArray, t: float, p: FloatArray) -> FloatArray:
        """M at a state, shape (nv, nv)."""
        M = self.evaluator("mass", lambda m: {"M": m.M}, q, v, np.asarray(t), p)[0]
        return M.reshape(len(v), len(v))


def _point(x: FloatArray, value: FloatArray, jacobian: FloatArray) -> ConditionPoint:
    slope = np.linalg.norm(jacobian, axis=1)
    limit = RESIDUAL * np.maximum(1.0, slope * np.linalg.norm(x))
    return ConditionPoint(x, value, jacobian, limit, slope)
