"""Kinematic analysis along a path: time, or the value of a driver, as one more coordinate.

With s for the path's variable and x = (q, s), w = (v, s′), all position rows are

    φ(x) = 0,      Â w = 0,      Â w′ = b̂(x, w),      Â = [A  φ_s]

a mechanism of one degree of freedom that knows no time: s may turn back at a dead point, where A
loses rank and Â does not. Rows of velocities, linear in them, are rows of Â without a φ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.quantities import parts_of
from zwang.errors import InputError, UnknownNameError
from zwang.terms import FloatArray
from zwang.tracing.differentiate import Symbols, TracedConstraint, depends_on, jacobian, rows
from zwang.tracing.evaluator import Evaluator
from zwang.tracing.traced_model import TracedModel

if TYPE_CHECKING:
    import casadi

    from zwang.system import System

__all__ = ["PathEquations", "PathRows", "driven_coordinate"]


@dataclass(frozen=True)
class PathRows:
    """TracedConstraint at one place of a path, or at many.

    Attributes
    ----------
    phi : φ of the position rows, zero for rows of velocities, shape (…, m).
    rows : Â, shape (…, m, nv + 1).
    """

    phi: FloatArray
    rows: FloatArray


class PathEquations:
    """The constraints of a system along one variable.

    Attributes
    ----------
    system : whose constraints they are.
    variable : ``"t"``, or the coordinate that is varied.
    driver : name of the driver whose place the variable takes, or None.
    row_names : of all rows.
    valued : which rows have a φ.
    frozen : the time at which all else stands, where the variable is not the time; one for all, or
        one for each place that is asked for.
    """

    def __init__(
        self,
        system: System,
        parameters: Mapping[str, Any] | None = None,
        along: str | None = None,
        frozen: float | FloatArray = 0.0,
    ) -> None:
        self.system, self.p = system, system.parameter_vector(parameters)
        self.frozen: Any = frozen
        self.variable, self.driver = "t", None
        if along is None:
            model = _over_time(system.model)
        else:
            self.variable, self.driver = driven_coordinate(system, along)
            model = _over_coordinate(system, self.variable, self.driver)
        self.model, self._evaluator = model, Evaluator(model)
        self.row_names = model.row_names
        blocks = model.blocks.values()
        self.valued = np.array(
            [b.level == "position" for b in blocks for _ in range(b.A.shape[0])], dtype=bool
        )
        self._own_valued = self.valued
        self.nq, self.nv = len(system.coordinates), len(system.velocities)

    def geometry(self, x: FloatArray) -> PathRows:
        """φ and Â at x = (q, s), shape (…, nq + 1)."""
        phi, A = self._evaluate("geometry", _geometry, x, np.zeros((*x.shape[:-1], self.nv + 1)))
        full = np.zeros((*x.shape[:-1], len(self._own_valued)))
        full[..., self._own_valued] = phi
        return PathRows(full, A.reshape(*x.shape[:-1], -1, self.nv + 1))

    def bias(self, x: FloatArray, w: FloatArray) -> FloatArray:
        """b̂ of Â w′ = b̂ for velocities w along the path, shape (…, m)."""
        return self._evaluate("bias", lambda m: {"b": m.b}, x, w)[0]

    def rate(self, x: FloatArray, w: FloatArray) -> FloatArray:
        """x′ of velocities w along the path, shape (…, nq + 1)."""
        return self._evaluate("rate", lambda m: {"x_dot": m.state.q_dot}, x, w)[0]

    def moved(self, x: FloatArray, step: FloatArray) -> FloatArray:
        """x after a small motion along velocities, with unit lengths kept."""
        return self.unit(x + self.rate(x, step))

    def unit(self, x: FloatArray) -> FloatArray:
        """The same with Euler parameters and pairs (cos, sin) of unit length."""
        for group in self.model.unit:
            index = list(group)
            x[..., index] /= np.linalg.norm(x[..., index], axis=-1, keepdims=True)
        return x

    def _evaluate(self, name: str, outputs: Any, x: FloatArray, w: FloatArray) -> list[FloatArray]:
        t = np.broadcast_to(np.asarray(self.frozen, dtype=float), x.shape[:-1])
        return self._evaluator(name, outputs, x, w, t, self.p)


def driven_coordinate(system: System, along: str) -> tuple[str, str | None]:
    """The coordinate that a driver or a channel names, and the driver that holds it, if any."""
    drives: dict[str, str] = {}
    parts = parts_of(system)
    for name, joint in ({} if parts is None else parts.joints).items():
        if joint.drives and name in system.constraints:
            drives[name] = joint.drives
    known = [c for c in system.channels if not c.endswith("_rate")]
    coordinates = [] if known else list(system.coordinates)
    if along in drives:
        return drives[along], along
    if along in known or along in system.coordinates:
        return along, next((name for name, what in drives.items() if what == along), None)
    raise UnknownNameError("driver to go along", str(along), [*drives, *known, *coordinates])


def _geometry(model: TracedModel) -> dict[str, casadi.SX]:
    return {"phi": model.position_values, "A": model.A}


def _over_time(model: TracedModel) -> TracedModel:
    """TracedConstraint with time as the last coordinate."""
    import casadi as ca

    s = model.state
    rate, idle = ca.SX.sym("path_rate"), ca.SX.sym("idle")
    N, n0 = model.N, model.n0
    state = Symbols(
        ca.vertcat(s.q, s.t),
        ca.vertcat(s.v, rate),
        idle,
        s.p,
        ca.vertcat(ca.mtimes(N, s.v) + n0 * rate, rate),
        s.calls,
    )
    blocks = {
        name: _row(name, block, s, state, rate, timed=True) for name, block in model.blocks.items()
    }
    return _extended(model, state, blocks)


def _over_coordinate(system: System, coordinate: str, driver: str | None) -> TracedModel:
    """TracedConstraint with the value of a coordinate as the last one, and time standing still."""
    import casadi as ca

    model = system.model
    s = model.state
    value, rate, idle = ca.SX.sym("path"), ca.SX.sym("path_rate"), ca.SX.sym("idle")
    q, v = ca.vertcat(s.q, value), ca.vertcat(s.v, rate)
    x_dot = ca.vertcat(ca.mtimes(model.N, s.v), rate)
    moving = Symbols(q, v, idle, s.p, x_dot, s.calls)
    blocks = {
        name: _row(name, block, s, moving, rate, timed=False)
        for name, block in model.blocks.items()
        if name != driver
    }
    if coordinate in system.coordinates:
        held = s.q[system.coordinates.index(coordinate)] - value
    else:
        state, _ = system.channel(coordinate)
        held = state[0] - value
        if state.numel() == 3:
            held = state[0] * ca.cos(value) - state[1] * ca.sin(value)
    blocks[driver or coordinate] = rows("position", held, moving)
    return _extended(model, Symbols(q, v, s.t, s.p, x_dot, s.calls), blocks)


def _row(
    name: str, block: TracedConstraint, s: Symbols, path: Symbols, rate: casadi.SX, *, timed: bool
) -> TracedConstraint:
    """One constraint along a path."""
    import casadi as ca

    if block.level == "position":
        assert block.value is not None
        return rows("position", block.value, path)
    if block.level == "velocity":
        assert block.rate is not None
        A = jacobian(block.rate, s.v, s)
        if not depends_on(A, s.v, s):
            own = ca.substitute(block.rate, s.v, ca.SX.zeros(s.v.shape))
            return rows("velocity", ca.mtimes(A, s.v) + (own * rate if timed else 0), path)
    kind = "not linear in velocities" if block.level == "velocity" else "of accelerations"
    raise InputError(
        f"constraint {name!r}",
        must="be one of positions, or linear in velocities, for kinematics",
        but=f"is {kind}",
        advice="simulate follows it.",
    )


def _extended(
    model: TracedModel, state: Symbols, blocks: dict[str, TracedConstraint]
) -> TracedModel:
    """A model of these rows alone, for its names and kernels."""
    given = model.definition
    definition = replace(
        given,
        coordinates=(*given.coordinates, "path"),
        velocities=(*given.velocities, "path_rate"),
    )
    return replace(model, definition=definition, state=state, blocks=blocks)
