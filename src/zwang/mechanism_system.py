"""A mechanism as a system: the terms of its elements, its joints' coordinates and reactions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.assembly.mechanism import AssemblyTable, assembled
from zwang.assembly.result import Assembly
from zwang.caching import computed_once
from zwang.coordinates.blocks import structure_of
from zwang.coordinates.constants import sizes_of
from zwang.diagnosis.explain import explain_terms
from zwang.diagnosis.passport import (
    Passport,
    Status,
    chosen_groups,
    passport_terms,
    require_groups,
    with_untold,
)
from zwang.diagnosis.wording import listing
from zwang.equations.euler_parameters import OF_BODIES, EulerParameterSystem, solve_by
from zwang.errors import InputError, NotUniqueError, UnknownNameError
from zwang.multibody.element_batches import Bulk
from zwang.multibody.explanation import MechanismExplanation, explained
from zwang.multibody.frozen import Parts, require_inertia
from zwang.multibody.joint_coordinates import Channels, JointChannel, value_and_rate
from zwang.multibody.motion_words import spins_in_place, undetermined_error
from zwang.multibody.terms import MechanismSymbols, model_of, unit_groups
from zwang.multibody.unknown_tooth_forces import UNTOLD, untold_joints, untold_rows
from zwang.multibody.wrench import joint_wrench
from zwang.solvers.dense import solve_terms
from zwang.solvers.solution import Solution
from zwang.system import System
from zwang.terms import FloatArray
from zwang.tracing.arguments import single_time, state_arrays

if TYPE_CHECKING:
    import casadi

    from zwang.programs.blocks.layout import BlockLayout
    from zwang.terms import EquationTerms

__all__ = ["MechanismSystem", "about_untold"]


class MechanismSystem(System):
    """The frozen copy of a `zwang.Mechanism`, with everything a `zwang.System` can do.

    Attributes
    ----------
    parts : bodies, joints and forces as data.
    """

    parts: Parts

    @classmethod
    def of_parts(cls, parts: Parts) -> MechanismSystem:
        """The system of a mechanism's parts."""
        system = cls.__new__(cls)
        system.parts = parts
        system.model = model_of(parts)
        system.definition = system.model.definition
        return system

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: the parts, which everything is made of."""
        return self.made_by or (type(self).of_parts, (self.parts,))

    def _without(self, removed: frozenset[str]) -> System:
        return type(self).of_parts(self.parts.without(removed))

    def __repr__(self) -> str:
        return (
            f"<MechanismSystem of {len(self.parts.bodies)} bodies and "
            f"{len(self.parts.joints)} joints>"
        )

    @property
    def mechanism(self) -> Parts:
        """Bodies, joints and forces as data."""
        return self.parts

    # --- formulations of bodies -------------------------------------------------------------------

    def in_euler_parameters(self) -> EulerParameterSystem:
        """The same mechanism with v = q̇ = (ṙ, ṗ): singular mass, and norms as constraints."""
        return self._in_euler_parameters

    @computed_once
    def _in_euler_parameters(self) -> EulerParameterSystem:
        return EulerParameterSystem.of_mechanism(self)

    @property
    def formulations(self) -> tuple[str, ...]:
        """Names that `solve` and `simulate` take: those of `zwang.FORMULATIONS`, and of bodies."""
        return (*super().formulations, *OF_BODIES)

    def solve_at(
        self,
        q: FloatArray,
        v: FloatArray,
        t: FloatArray,
        p: FloatArray,
        *,
        formulation: str = "auto",
        family: bool = False,
        shift: FloatArray | None = None,
    ) -> Solution:
        """`solve` for what `arguments` returns; see `zwang.System.solve_at`."""
        if formulation != "auto" and formulation not in self.formulations:
            raise UnknownNameError("formulation", str(formulation), ["auto", *self.formulations])
        if formulation not in OF_BODIES:
            try:
                return super().solve_at(
                    q, v, t, p, formulation=formulation, family=family, shift=shift
                )
            except NotUniqueError as error:
                raise self._in_words(error, q) from None
        if family:
            raise InputError(
                "family=True",
                found=f"formulation {formulation!r}",
                expected="'auto', for which accelerations need not be unique",
            )
        return solve_by(formulation, self, q, v, t, p, shift)

    @computed_once
    def block_layout(self) -> BlockLayout:
        """Bodies, joints and forces as nodes and elements, with all equations."""
        return structure_of(self.parts)

    # --- teeth ------------------------------------------------------------------------------------

    @computed_once
    def bulk(self) -> Bulk:
        """Elements evaluated kind by kind."""
        return Bulk(self.parts)

    def _with_nonideal(
        self, terms: EquationTerms, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> EquationTerms:
        return self._with_teeth(super()._with_nonideal(terms, q, v, t, p), q, v, t, p)

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

    def parameter_sizes(self, p: FloatArray) -> FloatArray:
        """To which size each parameter is rounded."""
        return sizes_of(self.parts, p)

    @property
    def rows_independent(self) -> bool:
        """Whether joints close no loop and nothing else constrains."""
        return self.parts.is_forest

    @computed_once
    def placement(self) -> tuple[FloatArray, FloatArray]:
        """Coordinates and velocities of the bodies as placed, not yet assembled."""
        return self.parts.start

    # --- refusals ---------------------------------------------------------------------------------

    def parameter_vector(self, parameters: Mapping[str, Any] | None = None) -> FloatArray:
        """All parameters as one flat array; masses and inertias no body can have are refused."""
        result = super().parameter_vector(parameters)
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

    def require_unique(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> None:
        """Refuse a state at which the motion of some body is not determined, by name.

        What spins about its own centre without inertia, a thin rod or a point mass on a ball, may
        go on: nothing else notices.
        """
        try:
            super().require_unique(q, v, t, p)
        except NotUniqueError as error:
            directions = np.asarray(error.directions)
            noticed = [d for d in directions.T if not spins_in_place(self.parts, d)]
            if noticed:
                raise undetermined_error(self.parts, q, np.array(noticed).T) from None

    def _in_words(self, error: NotUniqueError, q: FloatArray) -> NotUniqueError:
        if q.ndim > 1 or error.directions is None:
            return error
        return undetermined_error(self.parts, q, np.asarray(error.directions))

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

        Without a state, the mechanism is put together as placed.
        """
        if q is None:
            q = self.assemble(parameters=parameters, t=t)
        position = self.arguments(q, v, t, parameters)[0]
        terms = self.ideal_terms(q, v, t, parameters=parameters)
        return explained(self.parts, position, terms, explain_terms(terms))

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
        terms = self.terms(q, v, t, parameters=parameters)
        chosen = self.groups_of_joints(groups)
        found = self._with_wrenches(
            passport_terms(terms, groups=chosen), self.arguments(q, v, t, parameters)
        )
        untold = self._untold(self.arguments(q, v, t, parameters)[0], terms.constraint_matrix)
        if not untold:
            return found
        K = np.concatenate(list(untold.values()))
        beside = replace(
            terms,
            constraint_matrix=np.concatenate([terms.constraint_matrix, K]),
            constraint_rhs=np.concatenate([terms.constraint_rhs, K @ found.acceleration]),
            names=(*terms.names, *(f"teeth {i}" for i in range(len(K)))),
            rhs_rounding=None,
        )
        wider = self._with_untold(chosen_groups(terms, chosen), terms.constraint_count, untold)
        told = passport_terms(beside, groups=wider)
        return with_untold(found, told, about_untold(untold))

    def _with_wrenches(self, found: Passport, at: tuple[FloatArray, ...]) -> Passport:
        """A passport with force and moment at their points of the groups that are joints."""
        parts, (q, v, t, p) = self.parts, at
        state = q[None], v[None], np.reshape(t, 1)
        groups = dict(found.groups)
        names = {tuple(rows): name for name, rows in self.rows_of_joints.items()}
        for key, group in found.groups.items():
            name = names.get(tuple(group.rows))
            joint = None if name is None else parts.joints[name]
            if name is None or joint is None or joint.a is None or joint.b is None:
                continue
            rows = list(group.rows)
            force, point = group.force[None], None
            if joint.kind is not None and joint.kind.contact is not None:
                force = force + self.tooth_force(name, *state, found.multipliers[None, rows], p)
                point = self.pitch_point(name, state[0], state[2], p)
            wrench = joint_wrench(parts, joint, force, state[0], point)
            groups[key] = replace(group, resultant=wrench.force[0], moment=wrench.moment[0])
        return replace(found, groups=groups)

    def _untold(self, q: FloatArray, A: Any) -> dict[str, FloatArray]:
        """Gear or rack without a known tooth force → rows that carry it; see
        `unknown_tooth_forces`.
        """
        found = {
            joint.name: untold_rows(self.parts, joint, q, A) for joint in untold_joints(self.parts)
        }
        return {name: K for name, K in found.items() if len(K)}

    def _with_untold(
        self,
        groups: Mapping[str, Iterable[int]],
        first: int,
        untold: Mapping[str, FloatArray],
    ) -> dict[str, list[int]]:
        """Groups of rows with those of unknown tooth forces, which begin at `first`."""
        result = {name: list(rows) for name, rows in groups.items()}
        for joint, K in untold.items():
            for rows in result.values():
                if set(self.groups[joint]) & set(rows):
                    rows.extend(range(first, first + len(K)))
            first += len(K)
        return result

    def groups_of_joints(
        self, groups: Mapping[str, Iterable[int | str] | str] | None
    ) -> dict[str, list[int | str]]:
        """Groups with joints given by name as rows; without any, all joints one by one."""
        joints = self.rows_of_joints
        chosen: dict[str, list[int | str]] = {}
        for name, members in (joints if groups is None else require_groups(groups)).items():
            chosen[name] = []
            for member in [members] if isinstance(members, str) else members:
                known = isinstance(member, str) and member in joints
                chosen[name] += joints[str(member)] if known else [member]
        return chosen

    @property
    def rows_of_joints(self) -> dict[str, list[int]]:
        """Joint or constraint → its rows, of those that act."""
        rows = self.groups
        return {name: rows[name] for name in self.parts.joints if name in rows}

    def determinate(
        self, q: FloatArray, v: FloatArray, t: float, parameters: Mapping[str, Any]
    ) -> dict[str, bool]:
        """Joint → whether its reaction follows from the motion, at a state."""
        groups = self.passport(q, v, t, parameters=parameters).groups
        return {name: group.status is Status.DETERMINATE for name, group in groups.items()}

    # --- joint coordinates ------------------------------------------------------------------------

    @computed_once
    def joint_channels(self) -> Channels:
        """Coordinates and rates of the joints as functions of their elements."""
        return Channels(self.parts)

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the joints' coordinates and rates, for example ``pin.angle``."""
        return self.joint_channels.names

    def channel(self, name: str) -> tuple[casadi.SX, bool]:
        """A joint's coordinate as (value, rate) or (sin, cos, rate), and whether its rate is meant.

        In the symbols of the model.
        """
        channel = self.joint_channels[name]
        return self.joint_expression(channel), channel.rate

    def is_angle(self, name: str) -> bool:
        """Whether a channel is an angle, which is followed over full turns."""
        return self.joint_channels.is_angle(name)

    def joint_expression(self, channel: JointChannel) -> casadi.SX:
        """(value, rate), or (sin, cos, rate), of a joint coordinate in the symbols of the model."""
        symbols = self.element_symbols
        return self.joint_channels.function(channel)(*symbols.columns(channel.element))

    @computed_once
    def element_symbols(self) -> MechanismSymbols:
        """The symbols of the model as elements are placed on them."""
        state = self.model.state
        return MechanismSymbols(self.parts, state.q, state.v, state.t, state.p)

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
        return rate if self.joint_channels[name].rate else value

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
        channel, arguments = self.joint_channels[name], self.arguments(q, v, t, parameters)
        return value_and_rate(self.joint_states_at(channel, *arguments))

    def joint_states_at(
        self, channel: JointChannel, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> FloatArray:
        """(value, rate), or (sin, cos, rate), for what `arguments` returns; last axis."""
        (state,) = self.evaluated(
            f"joint{channel.label}", lambda _: {"state": self.joint_expression(channel)}, q, v, t, p
        )
        return state

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
        at = *self._search_start(start), single_time(t), self.parameter_vector(parameters)
        return self._assembled(*at, hold or {}, prefer or {}, velocity or {})

    def _assembled(
        self, q: FloatArray, v: FloatArray, t: float, p: FloatArray, *wishes: Any
    ) -> Assembly:
        """`assemble` from a state, with what is held, preferred, and wished of velocities."""
        return assembled(AssemblyTable(self, t, p), q, v, *wishes)

    def _search_start(self, start: Any) -> tuple[FloatArray, FloatArray]:
        """Where a search for a consistent state begins: a state, coordinates, or the placement."""
        q, v = self.parts.start
        if start is None:
            return q, v
        given = None if hasattr(start, "q") else v
        q, v, _ = state_arrays(start, given, 0.0, self.coordinates, self.velocities)
        if q.ndim > 1:
            raise InputError("start", found=f"states of shape {q.shape[:-1]}", expected="one state")
        return self.on_unit_length(q), v

    def on_unit_length(self, q: FloatArray) -> FloatArray:
        """The same coordinates with Euler parameters and (cos, sin) of unit length."""
        q = np.array(q)
        for index in self._unit_groups:
            length = np.linalg.norm(q[..., index], axis=-1, keepdims=True)
            if not np.all(length > 0.0):
                raise InputError(
                    listing([self.coordinates[i] for i in index]),
                    found="zeros",
                    expected="numbers of which not all are zero: they tell how a body is turned",
                )
            q[..., index] /= length
        return q

    @computed_once
    def _unit_groups(self) -> list[list[int]]:
        return [list(group) for group in unit_groups(self.parts)]


def about_untold(untold: Iterable[str]) -> list[str]:
    """Sentences on gears whose tooth forces are not known."""
    return [f"{name} {UNTOLD}." for name in untold]
