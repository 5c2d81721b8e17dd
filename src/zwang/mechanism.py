"""A mechanism from bodies, joints and forces, and the system that it becomes.

    bodies, joints, forces ─► parts (frozen) ─► system ─► solve, simulate, explain, …

A `Mechanism` collects parts and checks each as it comes. Its first use freezes a copy as a
`MechanismSystem`, a `zwang.System` like any other; adding parts afterwards makes a new copy at the
next use and leaves the old one, and its runs, alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from zwang.analysis.analyses import Analyses
from zwang.arguments.keywords import known_keywords, known_keywords_of_methods
from zwang.arguments.states import single_time, state_arrays
from zwang.assembly.mechanism import AssemblyTable, assembled
from zwang.assembly.result import Assembly
from zwang.caching import PassedOn, Remembered, computed_once
from zwang.codegen.environment import settings
from zwang.display import counted
from zwang.equations.determinacy import determinate_joints
from zwang.equations.mechanism import MechanismEquations, MechanismExpression
from zwang.errors import AssemblyError, InputError, UnknownNameError, ZwangError
from zwang.linalg.products import matvec
from zwang.multibody.body import Body, Placement
from zwang.multibody.call_log import described
from zwang.multibody.connections import bodies_in_words, connections, connections_in_words
from zwang.multibody.constraint_methods import ConstraintBuilder
from zwang.multibody.equal_descriptions import LatestOfEach, recipe_key
from zwang.multibody.explanation import MechanismExplanation
from zwang.multibody.force_methods import ForceBuilder
from zwang.multibody.frozen import Parts
from zwang.multibody.geometry import GeometryParameters
from zwang.multibody.handles import BodyHandle, MarkerHandle
from zwang.multibody.joint_methods import JointBuilder
from zwang.multibody.mesh import MeshFile
from zwang.multibody.mesh import mesh as mesh_of
from zwang.multibody.pickling import Recipe
from zwang.multibody.pose import SPATIAL
from zwang.programs.cost import COST
from zwang.simulation.motions import Motions
from zwang.state import State
from zwang.system import ASSEMBLED, System
from zwang.terms import EquationTerms, FloatArray
from zwang.tracing.own_output import outputs_of, require_no_energy

if TYPE_CHECKING:
    import casadi

    from zwang.closed_form.closed_form import ClosedForm
    from zwang.equations.euler_parameters import EulerParameterEquations

__all__ = ["EulerParameterSystem", "Mechanism", "MechanismSystem"]

#: Times and parameters for which the assembled placement is remembered.
REMEMBERED = 8
#: Systems whose traced equations and programs serve mechanisms of the same description: so many,
#: with so many velocities and constraint rows in all, by which their memory is bounded.
LATEST: LatestOfEach[MechanismSystem] = LatestOfEach(most=16, largest=4000)
#: Calls of a description that is compared; more make a larger mechanism than is kept.
MOST_CALLS = 1000


class Placements(Remembered[tuple[float, bytes | None], Assembly], PassedOn):
    """The assembled placement of a mechanism, by time and parameters."""


class WithoutJoints(dict[frozenset[str], MechanismEquations], PassedOn):
    """The equations of a mechanism without some joints, by their names."""

    def for_another(self) -> WithoutJoints:
        """Those of another mechanism, which know of no run."""
        return WithoutJoints({names: found.for_another() for names, found in self.items()})


@known_keywords_of_methods
class MechanismMotions(Motions):
    """What a mechanism answers by its joints and bodies, as placed if no state is given."""

    @abstractmethod
    def _analyzed(self) -> MechanismSystem:
        """The frozen copy."""

    def explain(
        self,
        q: Any = None,
        v: Any = None,
        t: float = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> MechanismExplanation:
        """Loops, redundant equations, degrees of freedom and contradictions, by joint and body.

        Without a state, the mechanism is assembled near its placement. Of the motions that a very
        large mechanism allows, the first are listed.
        """
        found = super().explain(q, v, t, parameters=parameters)
        return cast("MechanismExplanation", found)

    @known_keywords(refused={"q": ASSEMBLED, "v": ASSEMBLED, "guess": ASSEMBLED})
    def assemble(
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
            (``{"crank": True}``, as placed) → value, met exactly. Joints that are not named stay
            as placed, where they are not part of a loop that has to follow.
        prefer : the same, approached first and then let go; chooses between ways of assembling.
        velocity : ``{"hold": {…}, "prefer": {…}}`` of joint rates (``pin.angle_rate``) and of
            velocities (``crank.omega2``); or ``"exact"``, which refuses velocities of bodies that
            a joint or a driver does not allow.
        t : time.
        parameters : values that replace defaults.
        start : where the search begins in place of the placement: a state, an array, or some
            coordinates of joints and bodies by name.

        Raises
        ------
        AssemblyError : the joints cannot be closed; the error names the loop and the gap.
        """
        system, at = self._analyzed(), single_time(t)
        requests = hold or {}, prefer or {}, velocity or {}
        if start is not None or any(requests):
            return system.assembled_near(start, at, parameters, requests)
        found = system.assembled_placement(at, parameters)
        return replace(found, q=found.q.copy(), v=found.v.copy(), moved=dict(found.moved))

    def _placed(
        self, t: Any, parameters: Mapping[str, Any] | None, velocity: Any = None
    ) -> Assembly:
        """The placement, assembled, which is remembered for its time and parameters."""
        if velocity is not None or not isinstance(t, int | float):
            return self.assemble(velocity=velocity, t=t, parameters=parameters)
        return self._analyzed().assembled_placement(float(t), parameters)

    def _placed_many(self, parameters: Mapping[str, Any], t: Any) -> Any:
        """The assembled placement for each set of parameters; as placed where that fails.

        Such an initial state is refused, by its trajectory alone.
        """
        system = self._analyzed()
        shapes = {name: np.ndim(x) + 1 for name, x in system.definition.parameters.items()}
        try:
            many = {k: x for k, x in parameters.items() if np.ndim(x) == shapes.get(k)}
        except ValueError:  # rows of different lengths, refused later
            many = {}
        counts = {len(x) for x in many.values()}
        if len(counts) != 1:  # one start for all; different numbers of values are refused later
            return system.assemble(t=t, parameters=None if counts else parameters)
        starts: list[Any] = []
        for values in zip(*many.values(), strict=True):
            try:
                given = {**parameters, **dict(zip(many, values, strict=True))}
                starts.append(system.assemble(t=t, parameters=given))
            except ZwangError:
                starts.append(State(*system.of_bodies.placement, t))
        return starts


class MechanismSystem(MechanismMotions, System):  # type: ignore[override] - assembled by joints and bodies, not by coordinates alone
    """The frozen copy of a `zwang.Mechanism`, with everything a `zwang.System` can do.

    Parameters
    ----------
    parts : bodies, joints and forces as data.
    kind : of its equations, as one expression or by elements; by its size if not given.
    equations : of these parts, where there are some already.

    Attributes
    ----------
    of_bodies : its equations, in the coordinates of its bodies.
    """

    def __init__(
        self,
        parts: Parts,
        kind: type[MechanismEquations] | None = None,
        *,
        equations: MechanismEquations | None = None,
    ) -> None:
        self.parts = parts
        self.of_bodies = equations or (kind or _kind_for(parts))(parts)
        self._use(self.of_bodies)

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: the parts, which everything is made of."""
        return self.made_by or (MechanismSystem, (self.parts, type(self.of_bodies)))

    def _without(self, removed: frozenset[str]) -> System:
        known = self.equations.cache.once(WithoutJoints, WithoutJoints)
        if removed not in known:
            known[removed] = type(self.of_bodies)(self.parts.without(removed))
        return MechanismSystem(known[removed].parts, equations=known[removed])

    def __repr__(self) -> str:
        return (
            f"<MechanismSystem of {bodies_in_words(b.kind for b in self.parts.bodies)} and "
            f"{connections_in_words(connections(self.parts.joints.values()))}>"
        )

    def _analyzed(self) -> MechanismSystem:
        return self

    def _written(self, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
        from zwang.coordinates.joint.dimensions import separated
        from zwang.multibody.formula_letters import in_letters, owned_names

        numbers, kept = separated(self.parts, parameters)
        if kept:
            raise InputError(
                f"dimension {kept[0]!r}",
                must="be a number in the coordinates of bodies",
                but="is given as an expression",
                advice="Mechanism.derive, in the coordinates of joints, keeps it a letter.",
            )
        given = {k: x for k, x in (parameters or {}).items() if k not in numbers}
        return {
            "parameters": in_letters(self.parts, self.parameter_values(numbers), given),
            "owned": owned_names((*self.coordinates, *self.velocities)),
        }

    def in_euler_parameters(self) -> EulerParameterSystem:
        """The same mechanism with v = q̇ = (ṙ, ṗ): singular mass, and norms as constraints."""
        return self._in_euler_parameters

    @computed_once
    def _in_euler_parameters(self) -> EulerParameterSystem:
        return EulerParameterSystem(self)

    # --- answers by joint -------------------------------------------------------------------------

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

    def assembled_near(
        self,
        start: Any,
        t: float,
        parameters: Mapping[str, Any] | None,
        requests: tuple[Any, Any, Any],
    ) -> Assembly:
        """What `assemble` returns; the requests are what is held, preferred, and of velocities."""
        p = self.parameter_vector(parameters)
        if isinstance(start, Mapping):  # coordinates of joints and bodies, the others as placed
            try:
                start = self.assembled_near(None, t, parameters, ({}, start, {}))
            except InputError as error:
                raise error.about("start") from None
        q, v = self._search_start(start, p)
        elements = self.equations.by_elements
        if elements is None:
            return assembled(AssemblyTable(self.of_bodies, t, p), q, v, *requests)
        from zwang.assembly.sparse import LargeTable, assembled_by_blocks

        if any(requests):
            return assembled(LargeTable(elements, t, p), q, v, *requests)
        return assembled_by_blocks(elements, q, v, t, p)

    def assembled_placement(self, t: float, parameters: Mapping[str, Any] | None) -> Assembly:
        """`assemble` without requests, remembered for its time and parameters."""
        key = t, self.parameter_vector(parameters).tobytes() if parameters else None
        known = self.equations.cache.once(Placements, lambda: Placements(REMEMBERED))
        found = known.get(key)
        if found is None:
            found = known[key] = self.assembled_near(None, t, parameters, ({}, {}, {}))
        return found

    def _search_start(self, start: Any, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Where a search for a consistent state begins: a state, coordinates, or the placement."""
        q, v = self.parts.at_vector(p).start
        if start is None:
            return q, v
        given = None if hasattr(start, "q") else v
        try:
            q, v, _ = state_arrays(start, given, 0.0, self.coordinates, self.velocities)
        except InputError as error:
            raise error.about("start") from None
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


@known_keywords_of_methods
class Mechanism(JointBuilder, ConstraintBuilder, ForceBuilder, MechanismMotions, Analyses):
    """A mechanism in space, or in a plane.

    Parameters
    ----------
    gravity : acceleration [m/s²], world axes.
    parameters : name → value, for functions of time, forces and constraints of your own.
    plane : ``"xy"``, ``"xz"`` or ``"yz"`` for a planar mechanism: three velocities a body, and
        points may be given by their two coordinates. Angles are positive about the normal.

    Examples
    --------
    A pendulum of one rod:

    >>> import zwang as zw
    >>> m = zw.Mechanism(gravity=(0, 0, -9.81))
    >>> rod = m.body("rod", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(0.5, 0, 0))
    >>> m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
    >>> m.solve().acceleration.round(3) + 0.0
    array([  0.   ,   0.   ,  -7.358,   0.   ,  14.715,   0.   ])
    """

    # --- bodies -----------------------------------------------------------------------------------

    @described
    def body(
        self,
        name: str,
        mass: float | None = None,
        inertia: Any = None,
        *,
        position: Any = (0.0, 0.0, 0.0),
        orientation: Any = None,
        angle: float | None = None,
        velocity: Any = (0.0, 0.0, 0.0),
        angular_velocity: Any = (0.0, 0.0, 0.0),
        relative_to: BodyHandle | MarkerHandle | None = None,
        free: bool = False,
        mesh: str | PathLike[str] | MeshFile | None = None,
    ) -> BodyHandle:
        """Add a rigid body.

        Parameters
        ----------
        mass : [kg]; may be left to `inertia`. Without both the body is massless.
        inertia : a `zwang.inertia` shape, three principal moments, or a tensor about the centre of
            mass in body axes [kg m²]; a number about the normal in a planar mechanism.
        position : of the body's origin, in the world or in `relative_to`.
        orientation : rotation from body to world axes, a quaternion (w, x, y, z) or a matrix.
        angle : the same in a plane, about its normal [rad].
        velocity, angular_velocity : of the origin, and of the body, world axes.
        relative_to : a body or a marker whose frame position and orientation refer to.
        free : that the body is meant to move without joints or forces.
        mesh : what pictures show in place of the shapes of `inertia`: an STL or OBJ file in metres,
            or `zwang.mesh` for other units and axes.
        """
        self._new_name("body", name)
        what = f"body {name!r}"
        try:
            made = self._inertia(mass, inertia)
            R = self._rotation(orientation, angle)
            p = self._vector("position", position)
            v = self._vector("velocity", velocity)
            w = self._spin(angular_velocity)
            look = mesh if mesh is None or isinstance(mesh, MeshFile) else mesh_of(mesh)
        except InputError as error:
            raise error.about(what) from None
        if relative_to is not None:
            base = self._frame_of(f"relative_to of {what}", relative_to)
            p, R = base.point(p), base.rotation @ R
        body = Body(
            name,
            len(self._bodies),
            self._kind,
            made,
            Placement(p, R, v, w),
            look,
            parametric="inertia" in self._varying,
        )
        self._require_in_plane(what, body)
        self._bodies[name] = body
        if free:
            self._free.add(name)
        self._accept("body", name)
        return BodyHandle(name, self)

    # --- outputs ----------------------------------------------------------------------------------

    @described
    def output(
        self, name: str, function: Callable[..., Any], *, unit: str = "", description: str = ""
    ) -> None:
        """A quantity of your own: ``run[name]``, in tables, plots and events like any channel.

        Parameters
        ----------
        function : of (c, q, v, t, p), or of some of these by name, that returns one value:
            ``c["pin.force.x"]`` is a channel, ``p.L`` a parameter.
        unit, description : for tables and labels.

        Examples
        --------
        >>> import zwang as zw
        >>> m = zw.Mechanism(gravity=(0, 0, -10.0))
        >>> rod = m.body("rod", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(0.5, 0, 0))
        >>> m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
        >>> m.output("load", lambda c: c["pin.force.magnitude"] / 100.0, unit="1")
        >>> m.simulate(until=0.1)["load"][0].round(6)
        np.float64(0.025)
        """
        self._new_name("output", name)
        require_no_energy("output", name)
        self._outputs |= outputs_of({name: function})
        description = description or "output"
        self._outputs[name] = replace(self._outputs[name], unit=unit, description=description)
        self._accept("output", name)

    # --- use --------------------------------------------------------------------------------------

    @property
    def parts(self) -> Parts:
        """A frozen copy of all there is."""
        if self._parts is None:
            self._parts = self._frozen()
        return self._parts

    _parts: Parts | None = None

    def _frozen(self) -> Parts:
        self._require_connected()
        constraints, joints, teeth = self._with_teeth()
        return Parts(
            self._kind,
            tuple(self._bodies.values()),
            constraints,
            tuple(self._forces),
            tuple(self._friction),
            joints,
            dict(self._parameters),
            self._gravity,
            teeth,
            dict(self._outputs),
            {
                c.arguments["name"]: c.arguments["of"]
                for c in self.description
                if c.method == "actuator"
            },
            dict(self._effort_laws),
            GeometryParameters(tuple(self._geometry), self._recipe, _parts_of)
            if self._geometry
            else None,
        )

    @property
    def system(self) -> MechanismSystem:
        """The frozen copy as a system, with everything a `zwang.System` can do."""
        if self._system is None:
            self._system = self._as_system()
        return self._system

    _system: MechanismSystem | None = None

    def _as_system(self) -> MechanismSystem:
        """The system of the parts; like that of an equal mechanism, if there was one lately."""
        recipe = self._recipe
        short = type(self) is Mechanism and len(recipe.calls) <= MOST_CALLS
        key = recipe_key(recipe) if short else None
        if key is None:
            system = MechanismSystem(self.parts)
            system.made_by = _system_of, (recipe,)
            return system
        key = key, tuple(self._names.items()), settings(), COST
        like = LATEST.find(key)
        if like is None:
            system = MechanismSystem(self.parts)
            system.made_by = _system_of, (recipe.freed,)
        else:
            system = MechanismSystem(like.parts, equations=like.of_bodies.for_another())
            system.made_by = like.made_by
        LATEST.keep(key, system, system.parts.unknowns)
        return system

    def _analyzed(self) -> MechanismSystem:
        return self.system

    def _changed(self) -> None:
        self._parts = self._system = None

    def with_parameters(self, **values: Any) -> Mechanism:
        """The same mechanism with other default values of its parameters.

        Numbers that follow from them, ``at=(L, 0, 0)``, are those of the new values; what is
        compiled serves both.

        Parameters
        ----------
        values : name → value.
        """
        for name in values:
            if name not in self._parameters:
                raise UnknownNameError("parameter", name, self._parameters)
        recipe = self._recipe.freed
        given = {**recipe.given["parameters"], **values}
        return Recipe({**recipe.given, "parameters": given}, recipe.calls).built(type(self))

    @property
    def _recipe(self) -> Recipe:
        plane = None if self._kind is SPATIAL else self._kind.name
        given = {"gravity": self._gravity, "parameters": self._parameters.copy(), "plane": plane}
        return Recipe(given, tuple(self.description))

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: how it was built; what was compiled is not part of it."""
        return _built, (type(self), self._recipe)

    def __copy__(self) -> Mechanism:
        """Another one with the same parts so far."""
        if type(self) is not Mechanism:
            return self._recipe.built(type(self))
        other = Mechanism(self._gravity, plane=self._recipe.given["plane"])
        for name, value in vars(self).items():
            if isinstance(value, dict | list | set):
                setattr(other, name, value.copy())
        other._parts = self._parts
        return other

    def derive(
        self,
        *,
        simplify: bool = True,
        solve: bool = True,
        use_constraints: bool = False,
        parameters: Mapping[str, Any] | None = None,
        limit: int = 500,
        seconds: float = 60.0,
        progress: bool | Callable[..., Any] | None = None,
    ) -> ClosedForm:
        """The equations of motion in the coordinates of the joints, as SymPy expressions.

        A joint with one coordinate gives it its name, so that a hinge called ``theta`` has
        ``theta``, ``theta_dot`` and ``theta_ddot``, zero as placed. Letters are g, the masses
        ``m_body``, moments of inertia ``J_body``, stiffness ``k_spring``, damping ``c_spring``
        and the parameters of the mechanism; dimensions are numbers, unless `parameters` has letters
        for parameters that they follow from. Joints that close loops stay
        constraints. Balls, and free bodies that are part of something, have three turns ``psi``,
        ``theta``, ``phi``, which the notes explain. ``m.system.derive()`` has the coordinates of
        the bodies instead.

        Parameters
        ----------
        simplify, solve, use_constraints, limit, seconds, progress : as of `System.derive`.
        parameters : letter → number or SymPy expression to put in its place. A parameter of
            dimensions takes numbers, and stays a letter with ``{"L": sympy.Symbol("L")}``.

        Raises
        ------
        NotApplicableError : the mechanism has friction that depends on reactions, is too large, or
            an expression outgrows the limit, or the time is over.
        """
        from zwang.closed_form.closed_form import derive
        from zwang.coordinates.joint.closed_form import projected
        from zwang.coordinates.joint.dimensions import separated
        from zwang.simulation.progress import reporting

        numbers, kept = separated(self.parts, parameters)
        of = self.with_parameters(**numbers) if numbers else self
        mechanism = projected(
            of.system.equations,
            of.parts,
            kept,
            on_constraints=use_constraints,
            contradicting=of._contradicting,  # noqa: SLF001 - of the same class
        )
        letters = {k: x for k, x in (parameters or {}).items() if k not in numbers}
        with reporting(progress=progress) as report:
            return derive(
                mechanism,
                mechanism.model,
                simplify=simplify,
                solve=solve,
                use_constraints=use_constraints,
                parameters=letters,
                limit=limit,
                seconds=seconds,
                report=report,
                notes=(*mechanism.notes, *mechanism.fixed_dimensions(numbers)),
                of_drivers=True,
                acute=mechanism.acute,
                owned=mechanism.owned,
            )

    def _contradicting(self) -> tuple[str, ...]:
        """Joints, drivers and constraints that contradict each other as placed; none if all hold.

        One alone is not among them: it may only want to be told which way it moves.
        """
        try:
            self.assemble()
        except AssemblyError as error:
            return error.group if len(error.group) > 1 else ()
        return ()

    def __repr__(self) -> str:
        where = "space" if self._kind is SPATIAL else f"the plane {self._kind.name}"
        return (
            f"<Mechanism in {where}: {bodies_in_words(b.kind for b in self._bodies.values())}, "
            f"{connections_in_words(connections(self._joints.values()))}, "
            f"{counted(len(self._forces) + len(self._friction), 'force')}>"
        )

    def _repr_html_(self) -> str:
        from zwang.multibody.tables import mechanism_html
        from zwang.view.notebook import with_picture

        return with_picture(
            self,
            mechanism_html(
                repr(self).strip("<>"),
                tuple(self._bodies.values()),
                self._joints.values(),
                (*self._forces, *self._friction),
                self._parameters,
            ),
        )


def _kind_for(parts: Parts) -> type[MechanismEquations]:
    """One expression, or elements with block programs, which small mechanisms do not load."""
    if parts.unknowns < COST.element_unknowns:
        return MechanismExpression
    from zwang.equations.elements import ElementEquations

    return ElementEquations


def _built(kind: type[Mechanism], recipe: Recipe) -> Mechanism:
    return recipe.built(kind)


def _parts_of(recipe: Recipe) -> Parts:
    return recipe.built(Mechanism).parts


def _system_of(recipe: Recipe) -> MechanismSystem:
    return recipe.built(Mechanism).system
