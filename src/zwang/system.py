"""A mechanical system from functions: the public class, with its equations and what users ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

from numpy.typing import ArrayLike

from zwang.analysis.analyses import Analyses
from zwang.arguments.keywords import known_keywords, known_keywords_of_methods
from zwang.arguments.states import single_time
from zwang.caching import computed_once
from zwang.diagnosis.conflicts import conflicting_rows
from zwang.equations.contract import Equations
from zwang.equations.expression import ExpressionEquations
from zwang.errors import UnknownNameError
from zwang.simulation.motions import Motions
from zwang.terms import FloatArray
from zwang.tracing.constraint import Constraint
from zwang.tracing.definition import (
    checked_names,
    define,
    require_distinct,
)
from zwang.tracing.own_output import outputs_of
from zwang.tracing.traced_model import Definition, Lagrangian, TracedModel, trace

if TYPE_CHECKING:
    import casadi

    from zwang.assembly.assemble import Assembly, StartConditions
    from zwang.closed_form.closed_form import ClosedForm
    from zwang.control.control_force import ControlForce
    from zwang.multibody.frozen import Parts
    from zwang.reduction.forward_velocities import ForwardVelocities
    from zwang.reduction.integrability_report import Integrability, QuasiVelocities
    from zwang.reduction.system import ReducedSystem
    from zwang.tracing.own_output import OwnOutput

__all__ = ["ASSEMBLED", "System"]

#: What to give in place of a state that one might expect to be taken.
ASSEMBLED = (
    "Give values that must be met as hold={…}, values to come near as prefer={…}, and a state to "
    "begin with as start=…."
)


@known_keywords_of_methods
class System(Motions, Analyses):
    """A constrained system described by short functions.

    Functions are called with symbols, before any motion and twice, to see that they give the same;
    A, b and all derivatives come from automatic differentiation, and everything is compiled with
    the parameters as inputs. A function names the arguments it wants: q (coordinates), v
    (velocities), t (time), p (parameters, as ``p.m``).

    Parameters
    ----------
    coordinates : names of the coordinates q.
    mass : M(q, t, p), the mass matrix for the velocities, shape (nv, nv); an array if constant.
    force : Q(q, v, t, p), all applied forces, shape (nv,); an array if constant; when absent, minus
        the gradient of the potential, or zero. Beside a potential it must hold that gradient, or it
        is refused.
    constraints : name → `zwang.position`, `zwang.velocity`, `zwang.acceleration` or
        `zwang.constraint`; a bare function counts as `zwang.constraint`.
    parameters : name → default value, a number or an array.
    potential : V(q, t, p), for the energy; it acts by itself where no force is given.
    nonideal : name of a constraint → C(q, v, t, p) or C(q, v, t, p, reaction), the force whose
        work the constraint force does in virtual displacements.
    velocities : names of quasi-velocities v, with
    kinematics : N(q, t, p), or (N, n₀), of q̇ = N v + n₀; by default v = q̇, named ``x_dot``.
    outputs : name → function of (c, q, v, t, p), one value: quantities of your own, from channels
        such as ``c["rod.multiplier"]``.

    Examples
    --------
    >>> import numpy as np, zwang as zw
    >>> pendulum = zw.System(
    ...     coordinates=["x", "y"],
    ...     parameters={"m": 2.0, "g": 9.81, "L": 1.0},
    ...     mass=lambda p: np.diag([p.m, p.m]),
    ...     force=lambda p: [0.0, -p.m * p.g],
    ...     constraints={"rod": zw.position(lambda q, p: q[0] ** 2 + q[1] ** 2 - p.L**2)},
    ... )
    >>> s = pendulum.solve(q=[0.0, -1.0], v=[1.0, 0.0])
    >>> s.acceleration + 0.0
    array([0., 1.])
    """

    def __init__(
        self,
        coordinates: Sequence[str],
        *,
        mass: Callable[..., Any] | ArrayLike,
        force: Callable[..., Any] | ArrayLike | None = None,
        constraints: Mapping[str, Constraint | Callable[..., Any]] | None = None,
        parameters: Mapping[str, Any] | None = None,
        potential: Callable[..., Any] | None = None,
        nonideal: Mapping[str, Callable[..., Any]] | None = None,
        velocities: Sequence[str] | None = None,
        kinematics: Any = None,
        outputs: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        definition = define(
            coordinates,
            constraints,
            parameters,
            nonideal,
            velocities,
            kinematics,
            mass=mass,
            force=force,
            potential=potential,
            lagrangian=None,
            outputs=outputs_of(outputs),
        )
        self._use(ExpressionEquations.of_model(trace(definition)))

    def _use(self, equations: Equations) -> None:
        """Begin with some equations: what every kind of system does where it is made."""
        self.equations = equations
        #: A function and its arguments that give this system, where its definition does not.
        self.made_by: tuple[Callable[..., Any], tuple[Any, ...]] | None = None

    @staticmethod
    def of(definition: Definition) -> System:
        """A system from a definition that is already checked."""
        return DefinedSystem(definition)

    @classmethod
    def from_lagrangian(
        cls,
        coordinates: Sequence[str],
        *,
        T: Callable[..., Any],
        V: Callable[..., Any] | None = None,
        forces: Callable[..., Any] | None = None,
        dissipation: Callable[..., Any] | None = None,
        constraints: Mapping[str, Constraint | Callable[..., Any]] | None = None,
        parameters: Mapping[str, Any] | None = None,
        nonideal: Mapping[str, Callable[..., Any]] | None = None,
        outputs: Mapping[str, Callable[..., Any]] | None = None,
    ) -> System:
        """A system from its energies, with v = q̇.

        Parameters
        ----------
        T : kinetic energy T(q, v, t, p).
        V : potential energy V(q, t, p).
        forces : generalized forces not from V, Q(q, v, t, p).
        dissipation : Rayleigh's function R(q, v, t, p), with force −∂R/∂v.
        outputs : name → function of (c, q, v, t, p), with channels ``c["rod.multiplier"]``.
        """
        return cls.of(
            define(
                coordinates,
                constraints,
                parameters,
                nonideal,
                None,
                None,
                mass=None,
                force=forces,
                potential=None,
                lagrangian=Lagrangian(T, V, dissipation),
                outputs=outputs_of(outputs),
            )
        )

    @classmethod
    def from_acceleration_energy(
        cls,
        coordinates: Sequence[str],
        *,
        S: Callable[..., Any],
        force: Callable[..., Any] | ArrayLike | None = None,
        potential: Callable[..., Any] | None = None,
        constraints: Mapping[str, Constraint | Callable[..., Any]] | None = None,
        parameters: Mapping[str, Any] | None = None,
        nonideal: Mapping[str, Callable[..., Any]] | None = None,
        velocities: Sequence[str] | None = None,
        kinematics: Any = None,
    ) -> System:
        """A system by the equations of Gibbs and Appell, ∂S/∂v̇ = Q.

        The acceleration energy S = ½ Σ m |a|² takes quasi-velocities as they are, with no terms
        for their not being integrable; terms without v̇ may be left out of it.

        Parameters
        ----------
        S : acceleration energy S(q, v, a, t, p), quadratic in a = v̇.
        force : applied forces Q(q, v, t, p) that go with v; those of the potential are added.
        potential : V(q, t, p).
        velocities, kinematics : quasi-velocities, as for a `System`.

        Examples
        --------
        A bead on a rod that turns at the rate w, by its distance r: S = ½ m ((r̈ − r w²)² + …).

        >>> import zwang as zw
        >>> bead = zw.System.from_acceleration_energy(
        ...     ["r"],
        ...     parameters={"m": 2.0, "w": 3.0},
        ...     S=lambda q, a, p: 0.5 * p.m * (a[0] - q[0] * p.w**2) ** 2,
        ... )
        >>> bead.solve(q=[0.5]).acceleration
        array([4.5])
        """
        return cls.of(
            define(
                coordinates,
                constraints,
                parameters,
                nonideal,
                velocities,
                kinematics,
                mass=None,
                force=force,
                potential=potential,
                lagrangian=None,
                acceleration_energy=S,
            )
        )

    def without(self, constraints: Iterable[str]) -> System:
        """The same system with some constraints left out, by name."""
        removed = frozenset(constraints)
        if not removed:
            return self
        if removed not in self._less:
            for name in removed:
                if name not in self.definition.constraints:
                    raise UnknownNameError("constraint", name, self.definition.constraints)
            less = self._less[removed] = self._without(removed)
            less.made_by = System.without, (self, removed)
        return self._less[removed]

    @computed_once
    def _less(self) -> dict[frozenset[str], System]:
        """What was asked of `without`."""
        return {}

    def _without(self, removed: frozenset[str]) -> System:
        kept = {k: c for k, c in self.definition.constraints.items() if k not in removed}
        laws = {k: c for k, c in self.definition.nonideal.items() if k not in removed}
        return System.of(replace(self.definition, constraints=kept, nonideal=laws))

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: how it is made; what was compiled is not part of it."""
        return self.made_by or (System.of, (self.definition,))

    def _analyzed(self) -> System:
        return self

    def __repr__(self) -> str:
        c = ", ".join(f"{k} ({level})" for k, level in self.levels.items()) or "none"
        numerical = f"; called numerically: {', '.join(self.opaque)}" if self.opaque else ""
        return f"<System of {', '.join(self.coordinates)}; constraints: {c}{numerical}>"

    def _repr_html_(self) -> str:
        from zwang.display import html_table, written_out

        rows = [["coordinates", ", ".join(self.coordinates)]]
        rows += [[f"constraint {name}", f"{level} level"] for name, level in self.levels.items()]
        rows += [
            [f"parameter {name}", written_out(value)] for name, value in self.parameters.items()
        ]
        return html_table(["system", ""], rows)

    # --- names and sizes --------------------------------------------------------------------------

    @property
    def definition(self) -> Definition:
        """What the system was described by."""
        return self.equations.definition

    @property
    def model(self) -> TracedModel:
        """The traced expressions of its terms."""
        return self.equations.model

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of q."""
        return self.equations.coordinates

    @property
    def velocities(self) -> tuple[str, ...]:
        """Names of v."""
        return self.equations.velocities

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the constraints."""
        return self.equations.constraints

    @property
    def levels(self) -> dict[str, str]:
        """Constraint name → position, velocity or acceleration, as found; or several of these."""
        return self.equations.levels

    @property
    def groups(self) -> dict[str, list[int]]:
        """Constraint name → its row numbers in A."""
        return self.equations.groups

    @property
    def row_names(self) -> tuple[str, ...]:
        """``rod`` for a single row, ``pin[0]``, ``pin[1]`` for several."""
        return self.equations.row_names

    def row_levels(self) -> list[str]:
        """Position, velocity or acceleration, for each row of A."""
        return self.equations.row_levels()

    @property
    def parameters(self) -> dict[str, Any]:
        """Default values of the parameters."""
        return self.equations.parameters

    def parameter_values(self, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """All parameters by name, defaults replaced by the given values."""
        return self.equations.parameter_values(parameters)

    def parameter_vector(self, parameters: Mapping[str, Any] | None = None) -> FloatArray:
        """All parameters as one flat array, defaults replaced by the given values."""
        return self.equations.parameter_vector(parameters)

    def arguments(
        self, q: Any, v: Any, t: Any, parameters: Mapping[str, Any] | None
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Checked arrays q (…, nq), v (…, nv), t (…) and p of whatever may be given for them."""
        return self.equations.arguments(q, v, t, parameters)

    @property
    def formulations(self) -> tuple[str, ...]:
        """Names that `solve` and `simulate` take for ``formulation``, besides ``"auto"``."""
        return self.equations.formulations

    @property
    def opaque(self) -> tuple[str, ...]:
        """Names of the functions that are called numerically, see `zwang.opaque`."""
        return self.equations.opaque

    @property
    def outputs(self) -> Mapping[str, OwnOutput]:
        """Outputs of the user's by name."""
        return self.definition.outputs

    @property
    def mechanism(self) -> Parts | None:
        """Bodies, joints and forces as data; functions have none."""
        return self.equations.mechanism

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of what a run gives besides coordinates and velocities; see `MechanismSystem`."""
        return ()

    def channel(self, name: str) -> tuple[casadi.SX, bool]:
        """A channel as (value, rate) or (sin, cos, rate), and whether the rate is meant."""
        raise UnknownNameError("channel", name, self.channels)

    # --- closed forms -----------------------------------------------------------------------------

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
        """The equations in closed form, as SymPy expressions; needs the extra ``symbolic``.

        Terms M, Q, A, b, C and kinematics N, n₀, and, solved for, acceleration, constraint force
        and multipliers. The mass matrix may be singular and constraints may repeat. The result is
        checked against `solve` at sampled states.

        Parameters
        ----------
        simplify : False leaves terms as they were traced, and the motion as elimination left it.
        solve : False gives the terms alone, for systems too large to be solved by symbols.
        use_constraints : whether φ = 0, φ̇ = 0 and ψ = 0 are used to shorten the motion.
        parameters : name → number or SymPy expression to put in place of a parameter, or an array
            of these, such as ``{"J": sympy.diag(*sympy.symbols("J1 J2 J3"))}``.
        limit : number of terms an expression may have on the way.
        seconds : time of the processor it may take [s].
        progress : as of `simulate`: None shows a bar after a second, False nothing, True lines.

        Raises
        ------
        NotApplicableError : an expression outgrows the limit, the time is over, or a non-ideal law
            is not linear in its reaction.
        InputError : a function is opaque, or contains an operation without a closed form.

        Examples
        --------
        >>> from zwang import library
        >>> pendulum = library.spherical_pendulum()
        >>> pendulum.derive().multipliers[0]
        -m*(g*y + x_dot**2 + y_dot**2 + z_dot**2)/(x**2 + y**2 + z**2)
        >>> pendulum.derive(use_constraints=True).multipliers[0]
        -m*(g*y + x_dot**2 + y_dot**2 + z_dot**2)/L**2
        """
        from zwang.closed_form.closed_form import derive
        from zwang.simulation.progress import reporting

        with reporting(progress=progress) as report:
            return derive(
                self,
                self.model,
                simplify=simplify,
                solve=solve,
                use_constraints=use_constraints,
                limit=limit,
                seconds=seconds,
                report=report,
                **self._written(parameters),
            )

    def _written(self, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
        """With which letters closed forms are written: arguments of `closed_form.derive`."""
        return {"parameters": parameters}

    # --- a consistent start -----------------------------------------------------------------------

    @overload
    def assemble(
        self,
        hold: Mapping[str, float] | None = None,
        prefer: Mapping[str, float] | None = None,
        *,
        velocity: Mapping[str, Mapping[str, float]] | None = None,
        t: float = 0.0,
        weights: Mapping[str, float] | None = None,
        parameters: Mapping[str, Any] | None = None,
        branches: Literal[False] = False,
        start: Any = None,
    ) -> Assembly: ...
    @overload
    def assemble(
        self,
        hold: Mapping[str, float] | None = None,
        prefer: Mapping[str, float] | None = None,
        *,
        velocity: Mapping[str, Mapping[str, float]] | None = None,
        t: float = 0.0,
        weights: Mapping[str, float] | None = None,
        parameters: Mapping[str, Any] | None = None,
        branches: Literal[True],
        start: Any = None,
    ) -> list[Assembly]: ...
    @known_keywords(refused={"q": ASSEMBLED, "v": ASSEMBLED, "guess": ASSEMBLED})
    def assemble(
        self,
        hold: Mapping[str, float] | None = None,
        prefer: Mapping[str, float] | None = None,
        *,
        velocity: Mapping[str, Mapping[str, float]] | None = None,
        t: float = 0.0,
        weights: Mapping[str, float] | None = None,
        parameters: Mapping[str, Any] | None = None,
        branches: bool = False,
        start: Any = None,
    ) -> Assembly | list[Assembly]:
        """A state that satisfies all constraints, nearest to what is preferred.

        Held values are met exactly. Preferred ones are approached as closely as the constraints
        allow, in weighted distance; free ones follow. Velocities come after coordinates, nearest
        in the metric of the mass matrix unless weights are given.

        Parameters
        ----------
        hold, prefer : coordinate → value; all other coordinates are free.
        velocity : ``{"hold": {…}, "prefer": {…}, "weights": {…}}``, the same for velocities.
        t : time.
        weights : preferred coordinate → weight of its squared distance; 1 where not given.
        parameters : values that replace defaults.
        branches : look for several assemblies of a small system and return all that are found,
            the nearest first.
        start : where the search begins, and where free coordinates stay near: a state, an array or
            a mapping of some coordinates. It chooses between branches.

        Raises
        ------
        AssemblyError : no such state exists; the error has the nearest one and the conflict.

        Examples
        --------
        >>> import zwang as zw
        >>> pendulum = zw.System(
        ...     coordinates=["x", "y"],
        ...     mass=lambda: [[1.0, 0.0], [0.0, 1.0]],
        ...     constraints={"rod": zw.position(lambda q: q[0] ** 2 + q[1] ** 2 - 25.0)},
        ... )
        >>> state = pendulum.assemble(hold={"x": 3.0}, velocity={"hold": {"x_dot": 4.0}})
        >>> q, v = state
        >>> q, v
        (array([3., 4.]), array([ 4., -3.]))
        """
        from zwang.assembly.assemble import AssemblyRequest

        model = self._start_conditions
        request = AssemblyRequest.of(model, hold, prefer, weights, velocity, start)
        find = request.branches if branches else request.assemble
        return find(model, single_time(t), self.parameter_vector(parameters), conflicting_rows)

    @computed_once
    def _start_conditions(self) -> StartConditions:
        from zwang.assembly.assemble import StartConditions

        return StartConditions(self.equations.evaluator)

    # --- control ----------------------------------------------------------------------------------

    @property
    def program(self) -> tuple[str, ...]:
        """Names of the constraints that are programmed and not physical, see `with_program`."""
        return tuple(n for n in self.definition.program if n in self.definition.constraints)

    @known_keywords(renamed={"stabilise": "stabilize"})
    def with_program(
        self, program: Any, *, stabilize: Any = None, parameters: Mapping[str, Any] | None = None
    ) -> System:
        """The system that follows a program: constraints that a control force will keep.

        Its constraint force is that of physical and programmed constraints together; the part that
        must be supplied is told by `control_force`. A non-ideal law of the reaction sees here the
        multipliers of its own rows beside those of the program, whose force is A_cᵀ λ_c; under the
        cheapest control the reaction, and with it such a law, may differ.

        Parameters
        ----------
        program : name → constraint or function, as in `constraints`; or a list of these.
        stabilize : for a start off the program, (k₁, k₂) or a time constant as in `control_force`;
            then the program's rows are φ̈ + k₁ φ̇ + k₂ φ = 0, with the gains as parameters
            ``program_k1`` and ``program_k2``.
        parameters : further parameters that the program uses, with their values.
        """
        from zwang.control.program import programmed, require_used

        definition, named = programmed(self.definition, program, stabilize, parameters or {})
        result = System.of(definition)
        require_used(result.model, parameters or {}, named)
        return result

    @known_keywords(renamed={"stabilise": "stabilize"})
    def control_force(
        self,
        q: Any,
        v: Any = None,
        t: Any = 0.0,
        *,
        program: Any = None,
        weight: Any = None,
        actuators: Any = None,
        stabilize: Any = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> ControlForce:
        """The cheapest force that makes the system follow a program, at a state or at many.

        The physical constraints act by themselves; the control u does the rest, with the least
        uᵀ W u of all forces that do (Udwadia & Kalaba 1996, conclusion).

        Parameters
        ----------
        program : name → constraint or function, as in `constraints`, or a list of these; they may
            use the system's parameters and further ones given in `parameters`. A system made by
            `with_program` has its program.
        weight : W as a matrix, a vector for a diagonal one, or a function of (q, v, t, p) that
            returns either; by default M⁻¹, the weight of Gauss's principle. A singular M then
            needs rank [M; A] = n from the physical constraints; with a given weight it is enough
            that physical and programmed constraints have it together.
        actuators : B (n, k), or a function of (q, v, t, p), when only u = B τ can be supplied; a
            given weight is then that of τ, (k, k) or (k,).
        stabilize : (k₁, k₂), or a time constant T for k₁ = 2/T and k₂ = 1/T²: off the program, the
            error is led back by φ̈ + k₁ φ̇ + k₂ φ = 0, at velocity level by ψ̇ + k₁ ψ = 0.

        Raises
        ------
        InconsistentConstraintsError : the program contradicts physics or itself; names both.
        UnreachableError : the actuators cannot follow it; names the rows.

        Examples
        --------
        A particle of mass 2 made to circle the origin:

        >>> import numpy as np, zwang as zw
        >>> particle = zw.System(["x", "y"], mass=lambda: 2.0 * np.eye(2))
        >>> c = particle.control_force(
        ...     q=[1.0, 0.0],
        ...     v=[0.0, 3.0],
        ...     program={
        ...         "circle": lambda q: q @ q - 1.0,
        ...         "pace": zw.velocity(lambda q, v, p: q[0] * v[1] - q[1] * v[0] - p.w),
        ...     },
        ...     parameters={"w": 3.0},
        ... )
        >>> c.force.round(12) + 0.0
        array([-18.,   0.])
        """
        from zwang.control.program import control_force

        return control_force(
            self,
            q,
            v,
            t,
            program=program,
            weight=weight,
            actuators=actuators,
            stabilize=stabilize,
            parameters=parameters,
        )

    # --- fewer variables --------------------------------------------------------------------------

    def reduce(
        self,
        coordinates: Sequence[str] | None = None,
        velocities: Sequence[str] | None = None,
        *,
        map: Callable[..., Any] | None = None,  # noqa: A002 - the word for it
        basis: Callable[..., Any] | None = None,
        kinematics: Any = None,
        keep: Sequence[str] = (),
        at: Any = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> ReducedSystem:
        """The system in independent coordinates or velocities, with the way back to all.

        - ``reduce(["s"], map=g)``: coordinates s with q = g(s, t, p); velocities ṡ, or u with
          ṡ = Ã u + ã₀ by `velocities` and `kinematics` (Blajer 1992, section 4)
        - ``reduce(velocities=["u"], map=g)``: velocities u with v = g(q, u, t, p), linear in u or
          not (section 5)
        - ``reduce(velocities=["u"], basis=Dt)``: v = Dᵀ(q, t, p) u + v_u, orthogonal parts (5.3)
        - ``reduce(velocities=["x_dot"])``: the others follow from these
        - ``reduce()``: the same, the best choice at a state

        Constraints that the map satisfies for all values drop out. Position constraints that a
        coordinate map violates, and velocity constraints that a velocity map violates, are refused
        unless they are named in `keep`; all others that are not met stay as they are, so that a
        system can be reduced in stages.

        Parameters
        ----------
        coordinates, velocities : names of the independent ones.
        map, basis, kinematics : functions as above; `kinematics` is Ã(s, t, p) or (Ã, ã₀).
        keep : constraints that stay although the map is meant for their level.
        at : coordinates near which the map is checked (values of the new ones, s, if there are
            new ones), or at which velocities are chosen; a `State` or a pair (q, v) of them will
            do. Random ones if not given: s between −1 and 1, so that polar coordinates with r > 0
            need it.
        parameters : values at which maps are checked.

        Raises
        ------
        InputError : the map violates a constraint; its variables are dependent, or too few.

        Examples
        --------
        >>> import numpy as np, zwang as zw
        >>> pendulum = zw.System(
        ...     coordinates=["x", "y"],
        ...     parameters={"m": 2.0, "g": 10.0, "L": 0.5},
        ...     mass=lambda p: np.diag([p.m, p.m]),
        ...     force=lambda p: [0.0, -p.m * p.g],
        ...     constraints={"rod": zw.position(lambda q, p: q @ q - p.L**2)},
        ... )
        >>> by_angle = pendulum.reduce(
        ...     ["angle"], map=lambda s, p: [p.L * np.sin(s[0]), -p.L * np.cos(s[0])]
        ... )
        >>> by_angle.solve(q=[np.pi / 2], v=[0.0]).acceleration
        array([-20.])
        >>> full = by_angle.way_back(q=[np.pi / 2], v=[3.0])
        >>> full.reaction("rod").round(12) + 0.0
        array([-9.,  0.])
        """
        from zwang.reduction.reduce import CheckPoints, ReductionRequest, reduce
        from zwang.reduction.system import ReducedSystem

        request = ReductionRequest.of(
            None if coordinates is None else checked_names("independent coordinates", coordinates),
            None
            if velocities is None
            else checked_names("independent velocities", velocities, self.velocities),
            map,
            basis,
            kinematics,
        )
        reduction, partition = reduce(request, CheckPoints(self, at, parameters), tuple(keep))
        require_distinct(reduction.model.definition)
        reduced = ReducedSystem(self, reduction, partition)
        asked = {"map": map, "basis": basis, "kinematics": kinematics, "keep": tuple(keep)}
        asked |= {"at": at, "parameters": parameters}
        reduced.made_by = _reduced, (self, coordinates, velocities, asked)
        return reduced

    def forward_velocities(
        self,
        define: Callable[..., Any],
        q: Any,
        v: Any,
        t: float = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> ForwardVelocities:
        """Independent quasi-velocities u = γ(q, v, t, p) and their equations at a state.

        Defined forward (Blajer 1992, (5.8)), so that v need not be written as a function of u,
        which for constraints that are not linear in v seldom has a closed form.

        Parameters
        ----------
        define : γ, a function of (q, v, t, p) with one value for each freedom.
        q, v, t : one state that satisfies the constraints.

        Raises
        ------
        InputError : rank [φ_v; γ_v] is less than the number of velocities.
        """
        from zwang.reduction.forward_velocities import forward_velocities

        return forward_velocities(self.equations, define, q, v, t, parameters=parameters)

    # --- what can be integrated -------------------------------------------------------------------

    def integrability(
        self, *, at: Any = None, parameters: Mapping[str, Any] | None = None
    ) -> Integrability:
        """Which velocity constraints are position constraints in disguise, and with which others.

        Parameters
        ----------
        at : a state near which to look; otherwise any that satisfies the constraints.
        parameters : values that replace defaults.

        Examples
        --------
        A knife edge cannot be integrated; a wheel that rolls along a line can.

        >>> import numpy as np, zwang as zw
        >>> sleigh = zw.System(
        ...     coordinates=["x", "y", "angle", "roll"],
        ...     mass=lambda: np.eye(4),
        ...     constraints={
        ...         "edge": zw.velocity(lambda q, v: v[0] * np.sin(q[2]) - v[1] * np.cos(q[2])),
        ...         "wheel": zw.velocity(lambda v: v[0] - 0.3 * v[3]),
        ...     },
        ... )
        >>> print(sleigh.integrability())
        Of the linear velocity constraints 1 can be integrated, 1 cannot.
          edge: nonholonomic
          wheel: a position constraint in disguise
        Directions of motion in coordinates and time: 3 → 4
        """
        from zwang.reduction.integrability import integrability
        from zwang.reduction.reduce import CheckPoints

        places = CheckPoints(self, at, parameters)
        return integrability(self.model, places.anywhere(), places.on_constraints())

    def quasi_velocities(
        self, *, at: Any = None, parameters: Mapping[str, Any] | None = None
    ) -> QuasiVelocities:
        """Which velocities are the rate of some function of coordinates and time.

        The arguments are those of `integrability`.
        """
        from zwang.reduction.integrability import quasi_velocities
        from zwang.reduction.reduce import CheckPoints

        return quasi_velocities(self.model, CheckPoints(self, at, parameters).anywhere())


class DefinedSystem(System):
    """A system from a definition that is already checked: energies, programs, fewer constraints."""

    def __init__(self, definition: Definition) -> None:
        self._use(ExpressionEquations.of_model(trace(definition)))


def _reduced(
    system: System,
    coordinates: Sequence[str] | None,
    velocities: Sequence[str] | None,
    asked: dict[str, Any],
) -> ReducedSystem:
    """`System.reduce`, for a copy of what it gave."""
    return system.reduce(coordinates, velocities, **asked)
