"""The equations of a mechanism in the coordinates of its bodies, and as one expression.

What bodies have that functions have not: joints' coordinates, teeth, formulations of their own, and
motions that are named by body. Large mechanisms are in `zwang.equations.elements`. Layouts,
batches of elements and formulations of bodies load when they are first used.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from zwang.caching import computed_once
from zwang.diagnosis.passport import Groups, Passport
from zwang.diagnosis.wording import listing
from zwang.equations.contract import Equations, SolveRequest
from zwang.equations.determinacy import explanation_at, passport_at
from zwang.equations.expression import ExpressionEquations
from zwang.errors import InputError, NotUniqueError, UnknownNameError
from zwang.multibody.constants import sizes_of
from zwang.multibody.explanation import MechanismExplanation
from zwang.multibody.frozen import Parts, require_inertia
from zwang.multibody.joint_coordinates import Channels, JointChannel, value_and_rate
from zwang.multibody.motion_words import spins_in_place, undetermined_error
from zwang.multibody.terms import MechanismSymbols, definition_of, model_of, unit_groups
from zwang.solvers.dense import solve_terms
from zwang.solvers.solution import Solution
from zwang.terms import EquationTerms, FloatArray
from zwang.tracing.switches import TimeSwitch, function_jumps, function_switches, time_switches

if TYPE_CHECKING:
    import casadi

    from zwang.equations.euler_parameters import EulerParameterEquations
    from zwang.multibody.element_batches import Bulk
    from zwang.programs.blocks.layout import BlockLayout

__all__ = ["MechanismEquations", "MechanismExpression"]

#: Share of the largest force above which what acts along a motion without inertia is no rounding.
UNRESISTED = 1e-9


class MechanismEquations(Equations):
    """Equations of a mechanism in the coordinates of its bodies.

    Parameters
    ----------
    parts : bodies, joints and forces as data.
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__(definition_of(parts))
        self.parts = parts

    def for_another(self) -> Self:
        """The equations of a mechanism with the same parts: traced and compiled are these.

        What runs have left behind stays here, see `ProgramCache.for_another`.
        """
        other = copy(self)
        other.cache = self.cache.for_another()
        return other

    @property
    def mechanism(self) -> Parts:
        """Bodies, joints and forces as data."""
        return self.parts

    @property
    def body_starts(self) -> Sequence[int]:
        """Where the velocities of each body begin, and the end."""
        return self.parts.places[1]

    @property
    def of_bodies(self) -> MechanismEquations:
        """These."""
        return self

    @computed_once
    def placement(self) -> tuple[FloatArray, FloatArray]:
        """Coordinates and velocities of the bodies as placed, not yet assembled."""
        return self.parts.start

    @computed_once
    def _jumps(self) -> bool:
        laws = self.parts.traced.values()
        return any(function_jumps(law.function) for law in laws)

    @property
    def jumps(self) -> bool:
        """Whether a force or a driver is switched by comparisons, so that v̇ can jump."""
        return self._jumps

    @computed_once
    def _time_switches(self) -> tuple[TimeSwitch, ...]:
        traced, symbols, terms = self.parts.traced, self.element_symbols, []
        switching = {key for key, law in traced.items() if function_switches(law.function)}
        for element in (*self.parts.forces, *self.parts.constraints) if switching else ():
            if element.law.key in switching:
                terms += traced[element.law.key].function.call(symbols.columns(element))
        return time_switches(terms, symbols.t, symbols.p) if terms else ()

    @property
    def time_switches(self) -> tuple[TimeSwitch, ...]:
        """Functions of time and parameters alone by which forces or drivers switch."""
        return self._time_switches

    @property
    def rows_independent(self) -> bool:
        """Whether joints close no loop and nothing else constrains."""
        return self.parts.is_forest

    def parameter_sizes(self, p: FloatArray) -> FloatArray:
        """To which size each parameter is rounded."""
        return sizes_of(self.parts, p)

    def free_parameter(self, name: str) -> bool:
        """Whether a parameter may be any finite number, from which no other follows."""
        return not name.endswith((".mass", ".inertia")) and super().free_parameter(name)

    def consistent_parameters(self, p: FloatArray) -> FloatArray:
        """The flat array p with the numbers that follow from its parameters of geometry."""
        geometry = self.parts.geometry
        if geometry is None:
            return self._parameters.changed(p, {})
        values = {name: self._parameters.of(p, name) for name in geometry.names}
        return self._parameters.changed(p, geometry.following(values))

    def parameter_vector(self, parameters: Mapping[str, Any] | None = None) -> FloatArray:
        """All parameters as one flat array; masses and inertias no body can have are refused."""
        parameters = self._with_geometry(parameters)
        result = self._parameters.vector(parameters)
        if not parameters or self._parameters.are_defaults(parameters):
            return result
        defaults = self.definition.parameters
        for body in self.parts.bodies:
            names = [
                n
                for n in (f"{body.name}.mass", f"{body.name}.inertia")
                if n in parameters
                and not self._parameters.is_default(n, parameters[n])
                and not np.array_equal(parameters[n], defaults[n])
            ]
            if names:
                require_inertia(body, names, parameters)
        return result

    # --- elements ---------------------------------------------------------------------------------

    @computed_once
    def block_layout(self) -> BlockLayout:
        """Bodies, joints and forces as nodes and elements, with all equations."""
        from zwang.equations.block_layout import structure_of

        return structure_of(self.parts)

    @computed_once
    def bulk(self) -> Bulk:
        """Elements evaluated kind by kind."""
        from zwang.multibody.element_batches import Bulk

        return Bulk(self.parts)

    @computed_once
    @abstractmethod
    def element_symbols(self) -> MechanismSymbols:
        """The symbols of the model as elements are placed on them."""

    # --- formulations of bodies -------------------------------------------------------------------

    @property
    def in_euler_parameters(self) -> EulerParameterEquations:
        """The same mechanism with v = q̇ = (ṙ, ṗ): singular mass, and norms as constraints."""
        from zwang.equations.euler_parameters import EulerParameterEquations

        return self.cache.once(EulerParameterEquations, lambda: EulerParameterEquations(self))

    @property
    def formulations(self) -> tuple[str, ...]:
        """Names that `solve` and `simulate` take: those of `zwang.FORMULATIONS`, and of bodies."""
        from zwang.equations.euler_parameters import OF_BODIES

        return (*super().formulations, *OF_BODIES)

    def _solved(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray, request: SolveRequest
    ) -> Solution:
        """Acceleration, constraint force and multipliers; what is not unique is named by body."""
        formulation = request.formulation
        if formulation != "auto" and formulation not in self.formulations:
            raise UnknownNameError("formulation", str(formulation), ["auto", *self.formulations])
        if formulation == "auto" or formulation in super().formulations:
            try:
                return super()._solved(q, v, t, p, request)
            except NotUniqueError as error:
                raise self._in_words(error, q) from None
        if request.family:
            raise InputError(
                "family=True",
                must="be used with formulation='auto', for which accelerations need not be unique",
                but=f"the formulation is {formulation!r}",
            )
        from zwang.equations.euler_parameters import solve_by

        return solve_by(formulation, self, q, v, t, p, request.shift)

    def explain_at(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> MechanismExplanation:
        """Loops, redundant equations, degrees of freedom and contradictions, by joint and body."""
        return explanation_at(self, (q, v, t, p))

    def passport_at(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray, groups: Groups | None
    ) -> Passport:
        """Which reactions are determinate, of joints or of groups of them."""
        return passport_at(self, (q, v, t, p), groups)

    def _in_words(self, error: NotUniqueError, q: FloatArray) -> NotUniqueError:
        if q.ndim > 1 or error.directions is None:
            return error
        return undetermined_error(self.parts, q, np.asarray(error.directions))

    # --- teeth ------------------------------------------------------------------------------------

    def _with_teeth(
        self, terms: EquationTerms, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> EquationTerms:
        """Terms with the forces by which teeth push apart what bearings hold, as part of C.

        They do no work, so that C may hold them or not; with them, bearings show what they carry.
        """
        if not self.parts.workless:
            return terms
        lam = solve_terms(terms).multipliers
        flat_q, flat_v, flat_lam = (x.reshape(-1, x.shape[-1]) for x in (q, v, lam))
        found = self.bulk.laws(self.parts.workless, flat_q, flat_v, np.reshape(t, -1), p, flat_lam)
        return terms.with_forces(
            terms.applied_force, terms.nonideal_force + found.reshape(terms.applied_force.shape)
        )

    def tooth_force(
        self,
        name: str,
        q: FloatArray,
        v: FloatArray,
        t: FloatArray,
        multipliers: FloatArray,
        p: FloatArray,
    ) -> FloatArray:
        """Generalized force by which the teeth of a joint push apart at many states, (nt, nv).

        Parameters
        ----------
        multipliers : of the joint, the tangential force, shape (nt, 1).
        """
        laws = [x for x in self.parts.tooth_laws if x.element.name == f"{name}.teeth"]
        if not laws:
            return np.zeros_like(v)
        lam = np.zeros((len(q), self.parts.row_starts[-1]))
        lam[:, self.parts.row_starts[laws[0].constraint]] = multipliers[:, 0]
        return self.bulk.laws(laws, q, v, t, p, lam)

    def pitch_point(self, name: str, q: FloatArray, t: FloatArray, p: FloatArray) -> FloatArray:
        """Where the teeth of a joint meet, at many states, in the world, shape (nt, 3)."""
        from zwang.multibody.forces.teeth import pitch_point

        joint = self.parts.joints[name]
        element = next(e for e in self.parts.constraints if e.name == name)
        key = "pitch point", element.law.key
        function = pitch_point(joint, element, self.parts.parameters)
        configs = self.bulk.configs(q, dict.fromkeys(i for i in element.bodies if i >= 0))
        state = q, np.zeros((len(q), len(self.velocities))), t
        return self.bulk.evaluate(key, function, [element], state, p, configs)[0][0]

    # --- joint coordinates ------------------------------------------------------------------------

    @computed_once
    def joint_channels(self) -> Channels:
        """Coordinates and rates of the joints as functions of their elements."""
        return Channels(self.parts)

    def joint_expression(self, channel: JointChannel) -> casadi.SX:
        """(value, rate), or (sin, cos, rate), of a joint coordinate in the symbols of the model."""
        columns = self.element_symbols.columns(channel.element)
        return self.joint_channels.function(channel)(*columns)

    def joint_states(
        self, name: str, q: Any, v: Any, t: Any, parameters: Mapping[str, Any] | None
    ) -> tuple[FloatArray, FloatArray]:
        """A joint's coordinate and its rate at states; angles within half a turn."""
        channel, at = self.joint_channels[name], self.arguments(q, v, t, parameters)
        return value_and_rate(self.joint_states_at(channel, *at))

    @abstractmethod
    def joint_states_at(
        self, channel: JointChannel, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> FloatArray:
        """(value, rate), or (sin, cos, rate), of a joint coordinate; last axis."""

    @property
    def rows_of_joints(self) -> dict[str, list[int]]:
        """Joint or constraint → its rows, of those that act."""
        rows = self.groups
        return {name: rows[name] for name in self.parts.joints if name in rows}

    def on_unit_length(self, q: FloatArray) -> FloatArray:
        """The same coordinates with Euler parameters and (cos, sin) of unit length."""
        q = np.array(q)
        for index in self._unit_groups:
            length = np.linalg.norm(q[..., index], axis=-1, keepdims=True)
            if not np.all(length > 0.0):
                raise InputError(
                    listing([self.coordinates[i] for i in index]),
                    must="not all be zero, as they describe the orientation of a body",
                )
            q[..., index] /= length
        return q

    @computed_once
    def _unit_groups(self) -> list[list[int]]:
        return [list(group) for group in unit_groups(self.parts)]


class MechanismExpression(MechanismEquations, ExpressionEquations):
    """A mechanism as one expression, put together from its elements.

    Parameters
    ----------
    parts : bodies, joints and forces as data.
    symbols : that the expression is to be in; new ones if not given.
    """

    def __init__(self, parts: Parts, symbols: MechanismSymbols | None = None) -> None:
        model = model_of(parts, symbols)
        ExpressionEquations.__init__(self, model.definition, lambda: model)
        self.parts = parts

    @computed_once
    def element_symbols(self) -> MechanismSymbols:
        """The symbols of the model as elements are placed on them."""
        state = self.model.state
        return MechanismSymbols(self.parts, state.q, state.v, state.t, state.p)

    def _with_nonideal(
        self, terms: EquationTerms, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> EquationTerms:
        return self._with_teeth(super()._with_nonideal(terms, q, v, t, p), q, v, t, p)

    def require_unique(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> None:
        """Refuse a state at which the motion of some body is not determined, by name.

        What spins about its own centre without inertia, a thin rod or a point mass on a ball, may
        go on: nothing else notices, unless a moment acts on it, which nothing could resist.
        """
        try:
            super().require_unique(q, v, t, p)
        except NotUniqueError as error:
            directions = np.asarray(error.directions)
            noticed = [d for d in directions.T if not spins_in_place(self.parts, d)]
            if noticed:
                raise undetermined_error(self.parts, q, np.array(noticed).T) from None
            Q = self.ideal_terms_at(q, v, t, p).applied_force
            summed = np.abs(directions).T @ np.abs(Q)
            pushed = np.abs(directions.T @ Q) > UNRESISTED * np.maximum(summed, np.abs(Q).max())
            if pushed.any():
                raise undetermined_error(
                    self.parts, q, directions[:, pushed], pushed=True
                ) from None

    def joint_states_at(
        self, channel: JointChannel, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> FloatArray:
        """(value, rate), or (sin, cos, rate), of a joint coordinate; last axis."""
        (state,) = self.evaluated(
            f"joint{channel.label}", lambda _: {"state": self.joint_expression(channel)}, q, v, t, p
        )
        return state
