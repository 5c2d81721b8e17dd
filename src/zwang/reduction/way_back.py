"""Recovery of all variables and reactions from the independent ones, and the inverse.

    q = g(s, t),   v = v(s, u, t),   v̇ = Dᵀ u̇ + a_u,   Aᵀλ = M v̇ − Q − C

(Blajer 1992, after (4.10) and after (5.7): reactions as functions of the independent variables.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.states import refuse_pair
from zwang.errors import InputError, NotApplicableError, UnknownNameError
from zwang.linalg.products import matvec
from zwang.reduction.recover import Lifted, Recovered, recover, solve_map
from zwang.terms import FloatArray
from zwang.tracing.differentiate import jacobian, rate

if TYPE_CHECKING:
    from zwang.reduction.partition import Partition
    from zwang.reduction.reduced_model import Reduction
    from zwang.system import System
    from zwang.tracing.traced_model import TracedModel

__all__ = ["WayBack"]


class WayBack:
    """From a state of a reduced system to all variables and reactions of the one it comes from.

    Calling it goes through all stages of reduction to the first system; `lift` goes one stage.

    Attributes
    ----------
    system, origin : the reduced system, and the one it was reduced from.
    reduction : the expressions, and which constraints dropped out.
    partition : which velocities were chosen, for systems reduced without a map.
    """

    def __init__(
        self,
        system: System,
        origin: System,
        reduction: Reduction,
        partition: Partition | None,
    ) -> None:
        self.system, self.origin = system, origin
        self.reduction, self.partition = reduction, partition

    def __call__(
        self,
        q: Any,
        v: Any = None,
        t: Any = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
        acceleration: Any = None,
    ) -> Recovered:
        """All coordinates, velocities, accelerations and reactions.

        Parameters
        ----------
        q, v, t : a state of the reduced system, or many: (…, nq), (…, k), (…).
        acceleration : u̇ if it is known already, shape (…, k); otherwise it is solved for.
        """
        q, v, t = _state(self.system, q, v, t)
        if acceleration is None:
            acceleration = self.system.solve(q, v, t, parameters=parameters).acceleration
        v_dot = np.asarray(acceleration, dtype=float)
        way: WayBack | None = self
        origin = self.origin
        while way is not None:
            lifted = way.lift(q, v, t, parameters=parameters)
            q, v, v_dot = lifted.q, lifted.v, lifted.acceleration(v_dot)
            origin = way.origin
            way = getattr(origin, "way_back", None)
        terms = origin.terms(q, v, t, parameters=parameters)
        return recover(q, v, t, v_dot, terms, origin.model.groups)

    def lift(
        self, q: Any, v: Any = None, t: Any = 0.0, *, parameters: Mapping[str, Any] | None = None
    ) -> Lifted:
        """Variables of the system one stage back, with partial velocities Dᵀ and a_u."""
        q, v, t = _state(self.system, q, v, t)
        lift = self.reduction.lift

        def outputs(_: TracedModel) -> dict[str, Any]:
            return {
                "full_q": lift.q,
                "full_v": lift.v,
                "D": lift.partial_velocities,
                "a": lift.bias,
            }

        p = self.system.parameter_vector(parameters)
        full_q, full_v, D, bias = self.system.equations.evaluator("lift", outputs, q, v, t, p)
        D = D.reshape(*full_v.shape, v.shape[-1])
        if not all(np.isfinite(x).all() for x in (full_q, full_v, D, bias)):
            raise InputError(
                "map of the reduced system",
                must="be finite",
                but="has a value that is not finite at this state",
                advice="Choose other independent variables; see switched().",
            )
        return Lifted(full_q, full_v, t, D, bias)

    def inverse(
        self,
        q: Any,
        v: Any = None,
        t: Any = 0.0,
        *,
        start: Any = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> tuple[FloatArray, FloatArray, float]:
        """Independent coordinates and velocities, and the time, of a state of the origin.

        Parameters
        ----------
        start : where the search for independent coordinates begins; it chooses between several
            values that give the same configuration, such as revolutions of an angle.
        """
        q, v, t = _state(self.origin, q, v, t)
        if q.ndim != 1:
            raise InputError(
                "state", expected="one state", found=f"a batch of shape {q.shape[:-1]}"
            )
        p, k = self.system.parameter_vector(parameters), len(self.system.velocities)
        lift = self.reduction.lift
        at_rest = np.zeros(k)

        def outputs(m: TracedModel) -> dict[str, Any]:
            return {"full_q": lift.q, "q_s": jacobian(lift.q, m.state.q, m.state)}

        def coordinates(x: FloatArray) -> tuple[FloatArray, FloatArray]:
            value, slope = self.system.equations.evaluator("map", outputs, x, at_rest, t, p)
            return value, slope.reshape(len(value), len(x))

        s = np.array(q)
        if lift.coordinates:
            s = solve_map("configuration", coordinates, s, len(self.system.coordinates), start)

        def velocities(u: FloatArray) -> tuple[FloatArray, FloatArray]:
            lifted = self.lift(s, u, t, parameters=parameters)
            return lifted.v, lifted.partial_velocities

        first = at_rest if self.reduction.linear else None
        return s, solve_map("velocity", velocities, np.array(v), k, first), float(t)

    def partial_accelerations(
        self, q: Any, v: Any = None, t: Any = 0.0, *, parameters: Mapping[str, Any] | None = None
    ) -> FloatArray:
        """∂v̇/∂u̇, by differentiating v̇ itself: Dᵀ again (4.11), shape (…, nv, k)."""
        import casadi as ca

        q, v, t = _state(self.system, q, v, t)
        lift = self.reduction.lift

        def outputs(_: TracedModel) -> dict[str, Any]:
            s = lift.state
            u_dot = ca.SX.sym("u_dot", s.v.numel())
            v_dot = rate(lift.v, s) + ca.jtimes(lift.v, s.v, u_dot)
            return {"slope": ca.jacobian(v_dot, u_dot)}

        p = self.system.parameter_vector(parameters)
        (slope,) = self.system.equations.evaluator("partial_accelerations", outputs, q, v, t, p)
        return slope.reshape(*q.shape[:-1], len(self.origin.velocities), v.shape[-1])

    def identities(
        self,
        q: Any,
        v: Any = None,
        t: Any = 0.0,
        *,
        rows: Sequence[str] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """A Dᵀ and A a_u − b of rows of the origin; zero for those that dropped out.

        (4.7) and (4.8). For a row that stayed they are its A and −b in the reduced system.

        Parameters
        ----------
        rows : names of rows, as in ``origin.row_names``; those that dropped out if None.
        """
        lifted = self.lift(q, v, t, parameters=parameters)
        A, b, _ = self._rows(lifted, parameters, rows)
        return A @ lifted.partial_velocities, matvec(A, lifted.bias) - b

    def quality(
        self, q: Any, v: Any = None, t: Any = 0.0, *, parameters: Mapping[str, Any] | None = None
    ) -> float:
        """How well the chosen velocities determine the others at a state, from 0 to 1."""
        if self.partition is None:
            raise NotApplicableError(
                "quality of the independent velocities",
                must="be asked of velocities chosen among those of the original system",
                but="this system was reduced by a map",
            )
        q, v, t = _state(self.system, q, v, t)
        # M and A of the linear rows do not depend on velocities.
        A, _, M = self._rows(
            Lifted(q, np.zeros(len(self.origin.velocities)), t, np.zeros((0, 0)), np.zeros(0)),
            parameters,
        )
        return self.partition.quality(A, M)

    def _rows(
        self,
        lifted: Lifted,
        parameters: Mapping[str, Any] | None,
        wanted: Sequence[str] | None = None,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        terms = self.origin.terms(lifted.q, lifted.v, lifted.t, parameters=parameters)
        names = self.origin.model.row_names
        for name in wanted or ():
            if name not in names:
                raise UnknownNameError("row", name, names)
        rows = [names.index(name) for name in (wanted or self.reduction.eliminated)]
        A, b = terms.constraint_matrix[..., rows, :], terms.constraint_rhs[..., rows]
        return A, b, terms.mass_matrix


def _state(system: System, q: Any, v: Any, t: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A state, or arrays, as arrays with one batch."""
    if hasattr(q, "q") and hasattr(q, "v"):
        v = q.v if v is None else v
        t, q = getattr(q, "t", t), q.q
    elif v is None:
        refuse_pair(q)
    q = _array("q", q, system.coordinates)
    v = np.zeros(len(system.velocities)) if v is None else _array("v", v, system.velocities)
    t = np.asarray(t, dtype=float)
    batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], t.shape)
    return (
        np.broadcast_to(q, (*batch, q.shape[-1])),
        np.broadcast_to(v, (*batch, v.shape[-1])),
        np.broadcast_to(t, batch),
    )


def _array(letter: str, value: Any, names: Sequence[str]) -> FloatArray:
    if isinstance(value, Mapping):
        value = [value.get(name, np.nan) for name in names]
    array = np.asarray(value, dtype=float)
    if array.ndim == 0 or array.shape[-1] != len(names) or not np.isfinite(array).all():
        raise InputError(
            letter,
            expected=f"{len(names)} finite numbers ({', '.join(names)})",
            found=f"an array of shape {array.shape}"
            if np.isfinite(array).all()
            else "values that are not finite",
        )
    return array
