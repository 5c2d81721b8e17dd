"""A mechanism as a system: what its joints answer beside what any system does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from zwang.arguments.states import single_time, state_arrays
from zwang.assembly.mechanism import AssemblyTable, assembled
from zwang.assembly.result import Assembly
from zwang.assembly.sparse import LargeTable, assembled_by_blocks
from zwang.caching import Remembered, computed_once
from zwang.diagnosis.passport import Passport
from zwang.equations.determinacy import determinate_joints, explanation_at, passport_at
from zwang.equations.elements import mechanism_equations
from zwang.equations.euler_parameters import EulerParameterEquations
from zwang.equations.mechanism import MechanismEquations
from zwang.errors import InputError
from zwang.linalg.products import matvec
from zwang.multibody.explanation import MechanismExplanation
from zwang.multibody.frozen import Parts
from zwang.state import State
from zwang.system import System
from zwang.terms import EquationTerms, FloatArray

if TYPE_CHECKING:
    import casadi

__all__ = ["EulerParameterSystem", "MechanismSystem"]

#: Times and parameters for which the assembled placement is remembered.
REMEMBERED = 8


class MechanismSystem(System):
    """The frozen copy of a `zwang.Mechanism`, with everything a `zwang.System` can do.

    Parameters
    ----------
    parts : bodies, joints and forces as data.
    kind : of its equations, as one expression or by elements; by its size if not given.

    Attributes
    ----------
    of_bodies : its equations, in the coordinates of its bodies.
    """

    def __init__(self, parts: Parts, kind: type[MechanismEquations] | None = None) -> None:
        self.parts = parts
        self.of_bodies = mechanism_equations(parts) if kind is None else kind(parts)
        self._use(self.of_bodies)
        self._placements: Remembered[tuple[float, bytes | None], Assembly] = Remembered(REMEMBERED)

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: the parts, which everything is made of."""
        return self.made_by or (MechanismSystem, (self.parts, type(self.of_bodies)))

    def _without(self, removed: frozenset[str]) -> System:
        return MechanismSystem(self.parts.without(removed), type(self.of_bodies))

    def __repr__(self) -> str:
        return (
            f"<MechanismSystem of {len(self.parts.bodies)} bodies and "
            f"{len(self.parts.joints)} joints>"
        )

    def in_euler_parameters(self) -> EulerParameterSystem:
        """The same mechanism with v = q̇ = (ṙ, ṗ): singular mass, and norms as constraints."""
        return self._in_euler_parameters

    @computed_once
    def _in_euler_parameters(self) -> EulerParameterSystem:
        return EulerParameterSystem(self)

    # --- answers by joint -------------------------------------------------------------------------

    def explain(
        self,
        q: Any = None,
        v: Any = None,
        t: float = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> MechanismExplanation:
        """Loops, redundant equations, freedoms and contradictions at a state, by joint and body.

        Without a state, the mechanism is put together as placed. Of the motions that a very large
        mechanism allows, the first are told.
        """
        if q is None:
            q = self.assemble(parameters=parameters, t=t)
        return explanation_at(self.of_bodies, self.arguments(q, v, t, parameters))

    def passport(
        self,
        q: Any,
        v: Any = None,
        t: float = 0.0,
        *,
        groups: Mapping[str, Iterable[int | str] | str] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Passport:
        """Which reactions are determinate at a state.

        The groups are joints and constraints, or yours: ``{"both": ["left", "right"]}`` asks for
        what two joints exert together.
        """
        return passport_at(self.of_bodies, self.arguments(q, v, t, parameters), groups)

    def determinate(
        self, q: Any, v: Any, t: float, parameters: Mapping[str, Any] | None
    ) -> dict[str, bool]:
        """Joint → whether its reaction follows from the motion, at a state."""
        return determinate_joints(self.of_bodies, self.arguments(q, v, t, parameters))

    # --- joint coordinates ------------------------------------------------------------------------

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the joints' coordinates and rates, for example ``pin.angle``."""
        return self.of_bodies.joint_channels.names

    def channel(self, name: str) -> tuple[casadi.SX, bool]:
        """A joint's coordinate as (value, rate) or (sin, cos, rate), and whether its rate is meant.

        In the symbols of the model.
        """
        channel = self.of_bodies.joint_channels[name]
        return self.of_bodies.joint_expression(channel), channel.rate

    def is_angle(self, name: str) -> bool:
        """Whether a channel is an angle, which is followed over full turns."""
        return self.of_bodies.joint_channels.is_angle(name)

    def joint_coordinate(
        self,
        name: str,
        q: Any,
        v: Any = None,
        t: Any = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> FloatArray:
        """A joint's coordinate or rate at a state, or at many; angles within half a turn.

        `name` is one of `channels`, for example ``pin.angle`` or ``pin.angle_rate``.
        """
        value, rate = self.joint_states(name, q, v, t, parameters=parameters)
        return rate if self.of_bodies.joint_channels[name].rate else value

    def joint_states(
        self,
        name: str,
        q: Any,
        v: Any = None,
        t: Any = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """A joint's coordinate and its rate."""
        return self.of_bodies.joint_states(name, q, v, t, parameters)

    # --- a consistent start -----------------------------------------------------------------------

    def assemble(  # type: ignore[override] - by joints and bodies, not by coordinates alone
        self,
        hold: Mapping[str, Any] | None = None,
        prefer: Mapping[str, Any] | None = None,
        *,
        velocity: Mapping[str, Mapping[str, float]] | str | None = None,
        t: float = 0.0,
        parameters: Mapping[str, Any] | None = None,
        start: Any = None,
    ) -> Assembly:
        """A state near the placement that satisfies all joints.

        Velocities that joints do not allow are changed as by an impulse of the joints, a blow: of
        all that they allow, those with the least ½ ΔvᵀM Δv. What was changed that had been given
        is told in `Assembly.notes`, and in the notes of a run from there.

        Parameters
        ----------
        hold : joint coordinate (``pin.angle``), coordinate of a body (``crank.x``) or a body
            (``{"crank": True}``, as placed) → value, met exactly.
        prefer : the same, approached first and then let go; chooses between ways of assembling.
        velocity : ``{"hold": {…}, "prefer": {…}}`` of joint rates (``pin.angle_rate``) and of
            velocities (``crank.omega2``); or ``"exact"``, which refuses velocities of bodies that
            a joint or a driver does not allow.
        t : time.
        parameters : values that replace defaults.
        start : where the search begins in place of the placement: a state or an array.

        Raises
        ------
        AssemblyError : the joints cannot be closed; the error names the loop and the gap.
        """
        time, p = single_time(t), self.parameter_vector(parameters)
        q, v = self._search_start(start, p)
        requests = hold or {}, prefer or {}, velocity or {}
        elements = self.equations.by_elements
        if elements is None:
            return assembled(AssemblyTable(self.of_bodies, time, p), q, v, *requests)
        if any(requests):
            return assembled(LargeTable(elements, time, p), q, v, *requests)
        return assembled_by_blocks(elements, q, v, time, p)

    def assembled_placement(self, t: float, parameters: Mapping[str, Any] | None) -> Assembly:
        """`assemble` without requests, remembered for its time and parameters."""
        key = t, self.parameter_vector(parameters).tobytes() if parameters else None
        found = self._placements.get(key)
        if found is None:
            found = self._placements[key] = self.assemble(t=t, parameters=parameters)
        return found

    def _search_start(self, start: Any, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Where a search for a consistent state begins: a state, coordinates, or the placement."""
        q, v = self.parts.at_vector(p).start
        if start is None:
            return q, v
        given = None if hasattr(start, "q") else v
        q, v, _ = state_arrays(start, given, 0.0, self.coordinates, self.velocities)
        if q.ndim > 1:
            raise InputError(
                "start", expected="one state", found=f"an array of states of shape {q.shape[:-1]}"
            )
        return self.of_bodies.on_unit_length(q), v


class EulerParameterSystem(System):
    """A mechanism whose velocities are the rates of its coordinates, (ṙ, ṗ) for a body in space.

    The norm of each body's Euler parameters is a constraint, ``crank.norm``, after those of the
    joints. Along the norms, where there is no mass, the mass matrix has that of Udwadia & Schutte's
    auxiliary system, which changes nothing and makes the system one like any other;
    `singular_terms` are without it.

    Attributes
    ----------
    origin : the mechanism in the velocities (ṙ, ω′).
    """

    def __init__(self, origin: MechanismSystem) -> None:
        self.origin = origin
        self._own: EulerParameterEquations = origin.of_bodies.in_euler_parameters
        self._use(self._own)

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: the mechanism it is of."""
        return EulerParameterSystem, (self.origin,)

    def _without(self, removed: frozenset[str]) -> System:
        """The same with some joints left out; norms stay."""
        less = cast("MechanismSystem", self.origin.without(removed))
        return less.in_euler_parameters()

    def way_in(self, q: Any, v: Any = None, t: Any = 0.0) -> State:
        """The state (q, q̇) that belongs to a state (q, v) of the mechanism, or to many."""
        q, v, t, _ = self.origin.arguments(q, v, t, None)
        return State(q, self.origin.position_rate(q, v, t), t)

    def way_back(self, q: Any, q_dot: Any = None, t: Any = 0.0) -> State:
        """The state (q, v) of the mechanism, v = W q̇."""
        q, q_dot, t, _ = self.arguments(q, q_dot, t, None)
        return State(q, matvec(self.velocity_map(q), q_dot), t)

    def velocity_map(self, q: Any) -> FloatArray:
        """W of v = W q̇ and v̇ = W q̈, shape (…, nv, nq)."""
        return self._own.velocity_map_at(*self.arguments(q, None, 0.0, None))

    def singular_terms(
        self, q: Any, v: Any = None, t: Any = 0.0, *, parameters: Mapping[str, Any] | None = None
    ) -> EquationTerms:
        """M*, g* − b*, and the rows Φ_q q̈ = γ and P q̈ = −c, at a state (q, q̇) or at many.

        M* = diag(N, 4LᵀJ′L) is singular, (11.26).
        """
        return self._own.singular_terms_at(*self.arguments(q, v, t, parameters))
