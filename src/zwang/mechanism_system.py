"""A mechanism as a system: the terms of its elements, its joints' coordinates and reactions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.bodies.explained import MechanismExplanation, explained
from zwang.bodies.inertia import number
from zwang.bodies.joints.kind import JointKind
from zwang.bodies.loops import is_loop
from zwang.bodies.marker import Joint
from zwang.bodies.model import Symbols, model_of
from zwang.bodies.motions import spins_in_place, undetermined_error
from zwang.bodies.parts import Parts, require_inertia
from zwang.bodies.place import Conditions, place, set_velocities
from zwang.bodies.pose import SCALAR, pose_of
from zwang.carried import carried_program, carried_programs
from zwang.diagnosis.conflicts import conflicting_rows
from zwang.diagnosis.explain import explain_terms
from zwang.diagnosis.passport import Passport, passport_terms
from zwang.diagnosis.wording import listing
from zwang.errors import AssemblyError, InputError, NotUniqueError, UnknownNameError, shown
from zwang.euler_parameter_system import OF_BODIES, EulerParameterSystem, solve_by
from zwang.functions.arguments import single_time
from zwang.functions.assembly.result import Assembly
from zwang.functions.symbol import SymbolArray, symbols_of
from zwang.functions.trace import vector
from zwang.solution import Solution
from zwang.system import System
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

    from zwang.integrators.settings import Settings

__all__ = ["MechanismSystem"]


#: Velocities plus constraint rows from which a mechanism is carried by blocks. Measured: in space
#: blocks win from 10 bodies on (110 here); in a plane the single expression is still ahead there,
#: but its build time grows faster than its size.
LARGE = 110


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

    def without(self, constraints: Iterable[str]) -> System:
        """The same mechanism with some joints or constraints left out, by name."""
        removed = frozenset(constraints)
        if not removed:
            return self
        cache: dict[frozenset[str], System] = self.__dict__.setdefault("_without", {})
        if removed not in cache:
            for name in removed:
                if name not in self.definition.constraints:
                    raise UnknownNameError("constraint", name, self.definition.constraints)
            cache[removed] = type(self).of_parts(self.parts.without(removed))
        return cache[removed]

    def __repr__(self) -> str:
        return (
            f"<MechanismSystem of {len(self.parts.bodies)} bodies and "
            f"{len(self.parts.joints)} joints>"
        )

    @property
    def note(self) -> str:
        """What a run should tell of how the mechanism is carried; empty if nothing."""
        if self.parts.friction and self.parts.unknowns >= LARGE:
            return (
                "friction depends on the reactions of joints: the mechanism was written down as "
                "one expression, which takes longer to prepare the larger it is"
            )
        return super().note

    # --- formulations of bodies -------------------------------------------------------------------

    def in_euler_parameters(self) -> EulerParameterSystem:
        """The same mechanism with v = q̇ = (ṙ, ṗ): singular mass, and norms as constraints."""
        if "_in_euler_parameters" not in self.__dict__:
            self.__dict__["_in_euler_parameters"] = EulerParameterSystem.of_mechanism(self)
        return self.__dict__["_in_euler_parameters"]

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

    def own_program(
        self, y: FloatArray, t: float, p: FloatArray, settings: Settings, lanes: int
    ) -> Any:
        """The program in other coordinates than those of bodies, where that is faster, or None."""
        return carried_program(self, y, t, p, settings, lanes)

    def own_programs(
        self,
        Y: FloatArray,
        t: float,
        P: FloatArray,
        settings: Settings,
        lanes: int,
        M: FloatArray,
        A: FloatArray,
    ) -> list[Any]:
        """`own_program` for many starts (N, n), with M and A there at hand."""
        return carried_programs(self, Y, t, P, settings, lanes, M, A)

    def constraint_rows(self, y: FloatArray, t: float, p: FloatArray) -> FloatArray:
        """A at a state, shape (m, nv)."""
        nq = len(self.coordinates)
        return self.ideal_terms_at(y[:nq], y[nq:], np.asarray(t), p).constraint_matrix

    @property
    def rows_independent(self) -> bool:
        """Whether joints close no loop and nothing else constrains."""
        return self.parts.is_forest

    @property
    def placement(self) -> tuple[FloatArray, FloatArray]:
        """Coordinates and velocities of the bodies as placed, not yet assembled."""
        return self.parts.start

    # --- refusals ---------------------------------------------------------------------------------

    def parameter_vector(self, parameters: Mapping[str, Any] | None = None) -> FloatArray:
        """All parameters as one flat array; masses and inertias no body can have are refused."""
        result = super().parameter_vector(parameters)
        if not parameters:
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
        rows = self.groups
        joints = {
            joint.name: [i for e in joint.elements for i in rows.get(e, ())]
            for joint in self.parts.joints.values()
        }
        joints = {name: own for name, own in joints.items() if own}
        chosen: dict[str, list[int | str]] = {}
        for name, members in (joints if groups is None else groups).items():
            chosen[name] = []
            for member in [members] if isinstance(members, str) else members:
                known = isinstance(member, str) and member in joints
                chosen[name] += joints[str(member)] if known else [member]
        return passport_terms(self.terms(q, v, t, parameters=parameters), groups=chosen)

    # --- joint coordinates ------------------------------------------------------------------------

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the joints' coordinates and rates, for example ``pin.angle``."""
        return tuple(
            f"{joint.name}.{coordinate}{ending}"
            for joint in self.parts.joints.values()
            if joint.kind is not None
            for coordinate in joint.kind.coordinates
            for ending in ("", "_rate")
        )

    def _channel(self, name: str) -> tuple[Joint, str, bool]:
        """Joint, coordinate and whether the rate is meant."""
        owner, _, quantity = name.partition(".")
        joint = self.parts.joints.get(owner)
        rate = quantity.endswith("_rate")
        coordinate = quantity.removesuffix("_rate")
        if joint is None or joint.kind is None or coordinate not in joint.kind.coordinates:
            raise UnknownNameError("joint coordinate", name, self.channels)
        return joint, coordinate, rate

    def is_angle(self, name: str) -> bool:
        """Whether a channel is an angle, which is followed over full turns."""
        joint, coordinate, rate = self._channel(name)
        return not rate and self._joint_state(joint, coordinate).numel() == 3

    def _kernel_name(self, prefix: str, joint: Joint, coordinate: str) -> str:
        """A name for a kernel; the user's may be no name for CasADi."""
        return f"{prefix}{list(self.parts.joints).index(joint.name)}_{coordinate}"

    def _joint_state(self, joint: Joint, coordinate: str) -> casadi.SX:
        """(value, rate), or (sin, cos, rate), of a joint coordinate as expressions."""
        state = self.model.state
        s = Symbols(self.parts, state.q, state.v, state.t, state.p)
        element = next(e for e in self.parts.constraints if e.name == joint.elements[0])
        columns = s.columns(element)
        kinds = element.law.kinds
        poses = [pose_of(k, c, v) for k, c, v in zip(kinds, columns[:2], columns[2:4], strict=True)]
        data = _Numbers()
        for name, shape in element.law.shapes.items():
            entries = symbols_of(s.parameter(f"{element.name}.{name}"))
            setattr(data, name, entries.reshape(shape).view(SymbolArray) if shape else entries[0])
        assert isinstance(joint.kind, JointKind)
        assert joint.layout is not None
        a, b = (joint.layout.frame(pose, data, x) for pose, x in zip(poses, "ab", strict=True))
        return vector(f"{joint.name}.{coordinate}", joint.kind.coordinates[coordinate](a, b, data))

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
        return rate if self._channel(name)[2] else value

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
        joint, coordinate, _ = self._channel(name)
        arguments = self.arguments(q, v, t, parameters)
        (state,) = self._evaluate(
            self._kernel_name("joint", joint, coordinate),
            lambda _: {"state": self._joint_state(joint, coordinate)},
            *arguments,
        )
        if state.shape[-1] == 3:
            return np.arctan2(state[..., 0], state[..., 1]), state[..., 2]
        return state[..., 0], state[..., 1]

    # --- a consistent start -----------------------------------------------------------------------

    def assemble(  # type: ignore[override]
        self,
        hold: Mapping[str, Any] | None = None,
        prefer: Mapping[str, Any] | None = None,
        *,
        velocity: Mapping[str, Mapping[str, float]] | None = None,
        t: float = 0.0,
        parameters: Mapping[str, Any] | None = None,
        start: Any = None,
    ) -> Assembly:
        """A state near the placement that satisfies all joints.

        Parameters
        ----------
        hold : joint coordinate (``pin.angle``), coordinate of a body (``crank.x``) or a body
            (``{"crank": True}``, as placed) → value, met exactly.
        prefer : the same, approached first and then let go; chooses between ways of assembling.
        velocity : ``{"hold": {…}, "prefer": {…}}`` of joint rates (``pin.angle_rate``) and of
            velocities (``crank.omega2``).
        t : time.
        parameters : values that replace defaults.
        start : where the search begins in place of the placement: a state or an array.

        Raises
        ------
        AssemblyError : the joints cannot be closed; the error names the loop and the gap.
        """
        time, p = single_time(t), self.parameter_vector(parameters)
        q, v = self.parts.start
        if start is not None:
            q, v, _, _ = self.arguments(start, None if hasattr(start, "q") else v, t, parameters)
        kept = self._wishes("hold", hold)
        if prefer:
            both = {**self._wishes("prefer", prefer), **kept}
            q = place(self._conditions(both, time, p), q).q
        conditions = self._conditions(kept, time, p)
        found = place(conditions, q)
        names = [
            *self._position_names,
            *(f"hold {name}" for name in kept for _ in self._rows(name)),
        ]
        if not found.met:
            raise self._open(found.q, found.values, found.slopes, names, v, time)
        v, iterations = self._velocities(velocity or {}, found.q, v, time, p), found.iterations
        moved = found.q - self.parts.start[0]
        named = dict(zip(self.coordinates, moved.tolist(), strict=True))
        return Assembly(found.q, v, time, named, float(np.linalg.norm(moved)), iterations)

    @property
    def _position_names(self) -> list[str]:
        levels = zip(self.model.row_names, self.row_levels(), strict=True)
        return [name for name, level in levels if level == "position"]

    @property
    def _rate_names(self) -> list[str]:
        levels = zip(self.model.row_names, self.row_levels(), strict=True)
        return [name for name, level in levels if level != "acceleration"]

    def _wishes(self, what: str, given: Mapping[str, Any] | None) -> dict[str, Any]:
        known = [*self.channels, *self.coordinates, *(b.name for b in self.parts.bodies)]
        for name in given or {}:
            if name not in known or name.endswith("_rate"):
                raise UnknownNameError(what, name, [k for k in known if not k.endswith("_rate")])
        return {name: self._wished(what, name, value) for name, value in (given or {}).items()}

    def _wished(self, what: str, name: str, value: Any) -> Any:
        """A value for a coordinate; a body is held as it was placed."""
        if name in self.channels or name in self.coordinates:
            return number(f"{what} {name!r}", value)
        if value is not True:
            raise InputError(
                f"{what} {name!r}",
                found=shown(value),
                expected="True: a body is held as it was placed",
                advice=f"Coordinates such as {self._first_coordinate(name)!r} take values.",
            )
        return value

    def _first_coordinate(self, body: str) -> str:
        return next(name for name in self.coordinates if name.startswith(f"{body}."))

    def _rows(self, name: str) -> range:
        """As many rows as a held thing has conditions."""
        for body in self.parts.bodies:
            if body.name == name and body.kind is not SCALAR:
                return range(body.kind.nv)
        return range(1)

    def _conditions(self, wishes: Mapping[str, Any], t: float, p: FloatArray) -> Conditions:
        """Constraints and wishes as conditions on q."""
        nq, nv = len(self.coordinates), len(self.velocities)
        rest, time = np.zeros(nv), np.asarray(t)
        held = [self._held(name, value) for name, value in wishes.items()]

        def values(q: FloatArray) -> tuple[FloatArray, FloatArray]:
            phi, A = self._evaluate(
                "placing",
                lambda m: {"position": m.position_values, "A": _position_rows(m, nv)},
                q,
                rest,
                time,
                p,
            )
            parts = [(phi, A.reshape(len(phi), nv)), *(h(q, time, p) for h in held)]
            return (
                np.concatenate([np.atleast_1d(g) for g, _ in parts]),
                np.concatenate([np.atleast_2d(G) for _, G in parts]),
            )

        def move(q: FloatArray, step: FloatArray) -> FloatArray:
            (N,) = self._evaluate("N", lambda m: {"N": m.N}, q, rest, time, p)
            return self.on_unit_length(q + N.reshape(nq, nv) @ step)

        size = self._size
        return Conditions(values, move, self._weights(size), size)

    def on_unit_length(self, q: FloatArray) -> FloatArray:
        """The same coordinates with Euler parameters and (cos, sin) of unit length."""
        q = np.array(q)
        for group in self.model.unit:
            index = list(group)
            q[..., index] /= np.linalg.norm(q[..., index], axis=-1, keepdims=True)
        return q

    @property
    def _size(self) -> float:
        """A length of the mechanism: how far its markers and bodies spread."""
        arms = [np.linalg.norm(m.arm) for j in self.parts.joints.values() for m in (j.a, j.b) if m]
        places = [np.linalg.norm(b.placement.position) for b in self.parts.bodies]
        largest = max([*arms, *places], default=1.0)
        return float(largest) or 1.0

    def _weights(self, size: float) -> FloatArray:
        weights = []
        for body in self.parts.bodies:
            turns = {6: 3, 3: 1}.get(body.kind.nv, 0)
            weights += [1.0] * (body.kind.nv - turns) + [size**2] * turns
        return np.array(weights)

    def _held(self, name: str, value: Any) -> Any:
        """A held coordinate as a condition: (q, t, p) → (g, G)."""
        nq, nv = len(self.coordinates), len(self.velocities)
        rest = np.zeros(nv)
        if name in self.channels:
            joint, coordinate, _ = self._channel(name)

            def of_joint(q: FloatArray, t: FloatArray, p: FloatArray) -> Any:
                state, slope = self._evaluate(
                    self._kernel_name("held", joint, coordinate),
                    lambda m: self._state_and_slope(joint, coordinate, m),
                    q,
                    rest,
                    t,
                    p,
                )
                if len(state) == 3:
                    off = np.arctan2(state[0], state[1]) - value
                    return (off + np.pi) % (2.0 * np.pi) - np.pi, slope.reshape(1, nv)
                return state[0] - value, slope.reshape(1, nv)

            return of_joint
        bodies = {b.name: i for i, b in enumerate(self.parts.bodies)}
        q0 = self.parts.start[0]
        if name in bodies and name not in self.coordinates:
            i = bodies[name]
            q_starts, v_starts = self.parts.places
            index = np.arange(q_starts[i], q_starts[i + 1])

            def of_body(q: FloatArray, t: FloatArray, p: FloatArray) -> Any:
                (N,) = self._evaluate("N", lambda m: {"N": m.N}, q, rest, t, p)
                columns = slice(v_starts[i], v_starts[i + 1])
                block = N.reshape(nq, nv)[index, columns]
                G = np.zeros((columns.stop - columns.start, nv))
                G[:, columns] = np.eye(columns.stop - columns.start)
                return np.linalg.lstsq(block, q[index] - q0[index], rcond=None)[0], G

            return of_body
        k = self.coordinates.index(name)

        def of_coordinate(q: FloatArray, t: FloatArray, p: FloatArray) -> Any:
            (N,) = self._evaluate("N", lambda m: {"N": m.N}, q, rest, t, p)
            return q[k] - value, N.reshape(nq, nv)[k]

        return of_coordinate

    def _state_and_slope(self, joint: Joint, coordinate: str, m: Any) -> dict[str, casadi.SX]:
        import casadi as ca

        state = self._joint_state(joint, coordinate)
        return {"state": state, "slope": ca.jacobian(state[-1], m.state.v)}

    def _velocities(
        self,
        wishes: Mapping[str, Mapping[str, float]],
        q: FloatArray,
        v: FloatArray,
        t: float,
        p: FloatArray,
    ) -> FloatArray:
        """Velocities nearest to those wished for that satisfy the constraints."""
        for key in wishes:
            if key not in ("hold", "prefer"):
                raise UnknownNameError("velocity", key, ["hold", "prefer"])
        nv, time = len(self.velocities), np.asarray(t)
        known = [*(c for c in self.channels if c.endswith("_rate")), *self.velocities]
        held, preferred = dict(wishes.get("hold", {})), dict(wishes.get("prefer", {}))
        for key, given in (("hold", held), ("prefer", preferred)):
            for name, value in given.items():
                if name not in known:
                    raise UnknownNameError(f"{key} velocity", name, known)
                given[name] = number(f"{key} velocity {name!r}", value)

        def row(name: str) -> tuple[FloatArray, FloatArray]:
            """The rate at rest and its derivative by v."""
            if name in self.velocities:
                return np.zeros(()), np.eye(nv)[self.velocities.index(name)]
            joint, coordinate, _ = self._channel(name)
            state, slope = self._evaluate(
                self._kernel_name("held", joint, coordinate),
                lambda m: self._state_and_slope(joint, coordinate, m),
                q,
                np.zeros(nv),
                time,
                p,
            )
            return state[-1], slope.ravel()

        weights = self._weights(self._size)
        if preferred:
            wanted = {**preferred, **held}
            v, _, _ = set_velocities(self._rates(q, time, p, wanted, row), v, weights)
        rates = self._rates(q, time, p, held, row)
        v, psi, slopes = set_velocities(rates, v, weights)
        size = max(1.0, float(np.abs(v).max(initial=0.0)))
        if np.abs(psi).max(initial=0.0) > 1e-9 * size:
            names = [*self._rate_names, *(f"hold {name}" for name in held)]
            raise self._impossible("velocity", Assembly(q, v, t), psi, slopes, names)
        return v

    def _rates(
        self, q: FloatArray, t: FloatArray, p: FloatArray, held: Mapping[str, float], row: Any
    ) -> Any:
        nv = len(self.velocities)
        lines = [(row(name), value) for name, value in held.items()]

        def rates(v: FloatArray) -> tuple[FloatArray, FloatArray]:
            psi, A = self._evaluate(
                "rates", lambda m: {"velocity": m.rates, "A": _rate_rows(m, nv)}, q, v, t, p
            )
            psi, A = np.atleast_1d(psi), A.reshape(-1, nv)
            more = [rest + slope @ v - value for (rest, slope), value in lines]
            slopes = [slope for (_, slope), _ in lines]
            return (
                np.concatenate([psi, np.array(more)]),
                np.concatenate([A, np.array(slopes).reshape(-1, nv)]),
            )

        return rates

    def _open(
        self,
        q: FloatArray,
        values: FloatArray,
        slopes: FloatArray,
        names: list[str],
        v: FloatArray,
        t: float,
    ) -> AssemblyError:
        return self._impossible("configuration", Assembly(q, v, t), values, slopes, names)

    def _impossible(
        self,
        what: str,
        nearest: Assembly,
        values: FloatArray,
        slopes: FloatArray,
        names: list[str],
    ) -> AssemblyError:
        """The error of joints that cannot be closed, or of drivers and held values that clash."""
        lengths = np.linalg.norm(slopes, axis=1)
        scale = np.where(lengths > 1e-12, 1.0 / np.where(lengths > 1e-12, lengths, 1.0), 1.0)
        rows = conflicting_rows(slopes * scale[:, None], -values * scale)
        if rows is None:
            share = np.abs(values)
            rows = tuple(int(i) for i in np.flatnonzero(share > 1e-3 * share.max(initial=0.0)))
        owners = [self.parts.owner(name.split("[")[0]) for name in names]
        group = tuple(dict.fromkeys(owners[i] for i in rows))
        gaps = {
            name: float(
                np.linalg.norm([x for x, o in zip(values, owners, strict=True) if o == name])
            )
            for name in group
        }
        worst = max(gaps, key=lambda name: gaps[name])
        joints = [self.parts.joints[name] for name in group if name in self.parts.joints]
        unit = ""
        if what == "configuration" and len(joints) == len(group) and is_loop(joints):
            unit = " m"
            found = f"that the loop of joints {listing(group)} cannot be closed"
            advice = "Move a body or a joint's point, or change a length"
        else:
            found = f"that {listing([self.parts.described(name) for name in group])} contradict "
            found += "each other" if len(group) > 1 else "the placement"
            advice = "Let go of one of these, or change its value"
        return AssemblyError(
            f"assembly, {what}",
            nearest=nearest,
            gap=sum(gaps.values()),
            group=group,
            found=f"{found}; at the nearest {what} the gaps add up to {sum(gaps.values()):.3g}"
            f"{unit}, the largest {gaps[worst]:.3g}{unit} in {worst}",
            expected="placements, held values and drivers that agree",
            advice=f"{advice}; .nearest of this error is the nearest state.",
        )


class _Numbers:
    """Numbers of an element as attributes."""


def _position_rows(m: Any, nv: int) -> casadi.SX:
    import casadi as ca

    rows = [b.A for b in m.blocks.values() if b.value is not None]
    return ca.vertcat(*rows) if rows else ca.SX(0, nv)


def _rate_rows(m: Any, nv: int) -> casadi.SX:
    import casadi as ca

    rows = [b.A for b in m.blocks.values() if b.rate is not None]
    return ca.vertcat(*rows) if rows else ca.SX(0, nv)
