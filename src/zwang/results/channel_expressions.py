"""Channels as expressions of the state: what events watch, and outputs are made of.

Positions, rates and forces of elements are functions of q, v, t, p. Accelerations and reactions
follow from the equations of motion, which are solved as one expression, with rows gone that depend
on others, as for the saved states of a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.caching import computed_once
from zwang.equations.active_rows import redundant_rows
from zwang.errors import InputError, UnknownNameError
from zwang.multibody.pose import SCALAR, config_of, pose_of
from zwang.multibody.wrench import ended, wrench_expression
from zwang.programs.forces import ForceExpressions, solved
from zwang.results.channel_catalog import ACCELERATION, PARTS, ChannelEntry, catalog
from zwang.results.forces import dependent_rows
from zwang.tracing.differentiate import jacobian, rate
from zwang.tracing.own_output import circular_output, traced_output
from zwang.tracing.symbol import expression, symbols_of

if TYPE_CHECKING:
    import casadi

    from zwang.multibody.element import Element
    from zwang.multibody.terms import MechanismSymbols
    from zwang.system import System

__all__ = ["ChannelExpressions", "body_pose", "body_position", "needs_forces"]

#: Velocities and constraint equations together up to which reactions are made one expression.
LARGEST = 160
#: How near to ±π an angle is at its jump, where a crossing was located [rad].
NEXT_TO_CUT = 1e-6
#: Kinds of channels that the equations of motion have to be solved for.
SOLVED = ("reaction", "driver", "coupler", "friction", "multiplier")


def needs_forces(entry: ChannelEntry) -> bool:
    """Whether a channel follows from the equations of motion and not from the state alone."""
    acceleration = "acceleration" in entry.quantity
    return (entry.kind in SOLVED and entry.quantity != "speed") or acceleration or bool(entry.joint)


def body_pose(system: System, name: str, *, about_origin: bool = True) -> Any:
    """A body's pose as symbols, at its origin or its center of mass."""
    parts, s = system.mechanism, system.equations.symbols
    assert parts is not None
    body = next(b for b in parts.bodies if b.name == name)
    (q, v), i = parts.places, body.index
    config = config_of(body.kind, s.q[q[i] : q[i + 1]])
    pose = pose_of(body.kind, config, s.v[v[i] : v[i + 1]])
    if not about_origin:
        return pose
    center: Any = body.inertia.center
    if body.parametric:
        center = symbols_of(s.p[slice(*parts.slots[f"{name}.center"])])
    return pose.about(center)


def body_position(system: System, name: str, *, about_origin: bool = True) -> casadi.SX:
    """Position of a body's origin or center of mass; across its plane, if it has one, as placed."""
    import casadi as ca

    parts = system.mechanism
    assert parts is not None
    place = ca.vertcat(
        *map(expression, body_pose(system, name, about_origin=about_origin).position)
    )
    body = next(b for b in parts.bodies if b.name == name)
    if body.kind.plane is not None:
        k = body.kind.plane[2]
        center = np.zeros(3) if about_origin else body.inertia.center
        place[k] = float(body.placement.point(center)[k])
    return place


class ChannelExpressions:
    """Channels of a system as expressions of its symbols.

    Parameters
    ----------
    system : with the constraints that act.
    at : a state (q, v, t, p) at which dependent constraint equations are told from others.
    whole : the same system with all its constraints, whose channels these are; forces of those that
        do not act are zero.

    Attributes
    ----------
    cuts : of angles that were asked for: positive next to ±π, where such an angle jumps by 2π.
    undefined_here : whether reactions were asked for and have no value at the state, a singular
        position.
    """

    def __init__(
        self, system: System, at: tuple[Any, ...] | None = None, whole: System | None = None
    ) -> None:
        self.system, self.at = system, at
        self.cuts: list[casadi.SX] = []
        self.undefined_here = False
        self._outputs_under_way: list[str] = []
        self.s = system.equations.symbols
        named = system if whole is None else whole
        self.entries = catalog(named, named.mechanism)

    @property
    def vectors(self) -> Mapping[str, bool]:
        """Channel → whether it is a vector."""
        return {name: entry.vector for name, entry in self.entries.items()}

    def __getitem__(self, name: str) -> casadi.SX:
        """The expression of a channel or of a part of one, (1, 1) or (3, 1)."""
        import casadi as ca

        if name in self.entries:
            entry = self.entries[name]
            return getattr(self, f"_{entry.kind}")(entry)
        owner, _, part = name.rpartition(".")
        if part in PARTS and owner in self.entries and self.entries[owner].vector:
            value = self[owner]
            return ca.norm_2(value) if part == "magnitude" else value[PARTS.index(part)]
        raise UnknownNameError("channel", name, self.entries)

    def entry(self, name: str) -> ChannelEntry:
        """What a name, or the vector that it is a part of, is."""
        if name not in self.entries and name.rpartition(".")[0] in self.entries:
            name = name.rpartition(".")[0]
        if name not in self.entries:
            raise UnknownNameError("channel", name, self.entries)
        return self.entries[name]

    def of_function(self, what: str, function: Any) -> casadi.SX:
        """A user's function of channels and the state."""
        import casadi as ca

        parameters = self.system.definition.parameters
        traced = traced_output(what, function, self.s, parameters, self.vectors)
        if not traced.channels:
            return traced.value
        values = [ca.densify(self[name]) for name in traced.channels]
        return ca.substitute([traced.value], list(traced.channels.values()), values)[0]

    # --- the equations of motion ------------------------------------------------------------------

    @property
    def has_solved(self) -> bool:
        """Whether the equations of motion were solved for what was asked for."""
        return "_solved" in vars(self)

    @computed_once
    def _solved(self) -> tuple[casadi.SX, casadi.SX]:
        """v̇ and the multipliers of all rows."""
        system = self.system
        size = len(system.velocities) + len(system.row_names)
        if size > LARGEST or system.opaque:
            raise InputError(
                "reactions and accelerations in events and outputs",
                must=f"be of a system of {LARGEST} velocities and constraint equations or fewer, "
                "whose functions can be traced",
                but=f"there are {size}" if size > LARGEST else "some functions cannot be traced",
                advice="The run has them at its saved states: run[name].",
            )
        model, s = system.model, system.model.state
        law = model.reaction_dependent
        gone, singular = self._gone()
        return solved(
            ForceExpressions(
                *(s.q, s.v, s.t, s.p),
                *(model.M, model.Q, model.A, model.b, model.C),
                multipliers=model.multipliers if law else None,
                pressures=model.pressures if law else None,
                gone=gone,
                singular_mass=singular,
                independent=system.equations.rows_independent,
            )
        )

    def _gone(self) -> tuple[tuple[int, ...], bool]:
        """Rows that depend on others at the state, and whether the mass matrix is singular."""
        system = self.system.equations
        if self.at is None:
            if system.rows_independent:
                return (), False
            raise InputError(
                "reactions in outputs", must="be asked for where a state is known, in a run"
            )
        q, v, t, p = self.at
        singular = bool(system.mass_is_singular(q, v, t, p))
        if system.rows_independent or not system.row_names:
            return (), singular
        terms = system.ideal_terms_at(q, v, t, p)
        gone = dependent_rows(terms.mass_matrix, terms.constraint_matrix)
        if gone:
            along = redundant_rows(system, np.concatenate([q, v]), float(t), p, 0.0)
            # More depend on others at a singular position, which the motion leaves.
            self.undefined_here = along.distinct and len(along.inactive) < len(gone)
            gone = along.inactive if self.undefined_here else gone
        if gone and system.reaction_dependent:
            raise InputError(
                "reactions in events",
                must="be determinate where a law depends on them",
                but=f"{len(gone)} constraint equations depend on others",
            )
        return gone, singular

    def _force_of(self, name: str) -> casadi.SX:
        """A_gᵀ λ_g of a constraint."""
        import casadi as ca

        rows = self.system.groups[name]
        return ca.mtimes(self.system.model.A[rows, :].T, self._solved[1][rows])

    # --- kinds ------------------------------------------------------------------------------------

    def _coordinate(self, entry: ChannelEntry) -> casadi.SX:
        return self.s.q[self.system.coordinates.index(entry.name)]

    def _velocity(self, entry: ChannelEntry) -> casadi.SX:
        return self.s.v[self.system.velocities.index(entry.name)]

    def _joint(self, entry: ChannelEntry) -> casadi.SX:
        """A joint's coordinate, an angle within half a turn; its rate or acceleration."""
        import casadi as ca

        base = entry.name.removesuffix(ACCELERATION)
        state, is_rate = self.system.channel(base)
        last = state.numel() - 1
        if base != entry.name:
            return self._differentiated(state[last])
        if is_rate:
            return state[last]
        if last != 2:
            return state[0]
        angle = ca.atan2(state[0], state[1])
        self.cuts.append(ca.fabs(angle) - (np.pi - NEXT_TO_CUT))
        return angle

    def _differentiated(self, of_rate: casadi.SX) -> casadi.SX:
        """d/dt of a rate along the motion."""
        import casadi as ca

        J = jacobian(of_rate, self.s.v, self.s)
        return ca.mtimes(J, self._solved[0]) + rate(of_rate, self.s)

    def pose(self, name: str, *, about_origin: bool = True) -> Any:
        """A body's pose as symbols, at its origin or its center of mass."""
        return body_pose(self.system, name, about_origin=about_origin)

    def _body(self, entry: ChannelEntry) -> casadi.SX:
        import casadi as ca

        what = entry.quantity
        pose = self.pose(entry.owner)
        if what in ("position", "center"):
            return body_position(self.system, entry.owner, about_origin=what == "position")

        def column(values: Any) -> casadi.SX:
            return ca.vertcat(*map(expression, values))

        if what in ("velocity", "angular_velocity"):
            return column(getattr(pose, what))
        return self._differentiated(
            column(pose.velocity if what == "acceleration" else pose.angular_velocity)
        )

    @property
    def _element_symbols(self) -> MechanismSymbols:
        bodies = self.system.equations.of_bodies
        assert bodies is not None
        return bodies.element_symbols

    @property
    def _parts(self) -> Any:
        parts: Any = self.system.mechanism
        assert parts is not None
        return parts

    def _reaction(self, entry: ChannelEntry) -> casadi.SX:
        """Force or moment of a joint on its second body, at its point there."""
        if entry.owner not in self.system.groups:
            return _nothing(3)  # switched off
        parts = self._parts
        joint = parts.joints[entry.owner]
        marker = ended(joint)
        arm = self._arm(entry.owner, "b" if marker is joint.b else "a", marker)
        force = self._on(marker.body, self._force_of(entry.owner))
        sign = 1.0 if marker is joint.b else -1.0
        return self._wrench(marker.body, force, arm, sign, entry.quantity)

    def _arm(self, owner: str, side: str, marker: Any) -> Any:
        """Point of a marker from the center of mass of its body, as symbols where it has some."""
        import casadi as ca

        parts = self._parts
        place = parts.slots.get(f"{owner}.at_{side}")
        if place is None:
            return ca.SX(ca.DM(marker.arm))
        given, plane = self.s.p[slice(*place)], parts.kind.plane
        if plane is None:
            return given
        arm = ca.SX.zeros(3, 1)
        arm[plane[0]], arm[plane[1]] = given[0], given[1]
        return arm

    def _on(self, body: int, generalized: casadi.SX) -> casadi.SX:
        starts = self._parts.places[1]
        return generalized[starts[body] : starts[body + 1]]

    def _wrench(
        self, body: int, force: casadi.SX, arm: Any, sign: float, quantity: str
    ) -> casadi.SX:
        """Force or moment at a point of a body, ground axes, three components."""
        parts = self._parts
        kind, start = parts.bodies[body].kind, parts.places[0][body]
        config = config_of(kind, self.s.q[start : start + kind.nq])
        found = wrench_expression(kind, config, force, arm, sign)
        return found[:3] if quantity == "force" else found[3:]

    def _driver(self, entry: ChannelEntry) -> casadi.SX:
        """Speed, effort or power of a driver: e with Aᵀλ = Jᵀe."""
        driver = self._parts.joints[entry.owner]
        state, _ = self.system.channel(f"{driver.drives}_rate")
        speed = state[state.numel() - 1]
        if entry.quantity == "speed":
            return speed
        effort = self._along(entry.owner, speed)
        return effort if entry.quantity == "effort" else effort * speed

    def _along(self, name: str, speed: casadi.SX) -> casadi.SX:
        """What a constraint of one row exerts along a coordinate with this rate."""
        import casadi as ca

        if name not in self.system.groups:
            return _nothing(1)
        J = jacobian(speed, self.s.v, self.s)
        return ca.mtimes(J, self._force_of(name)) / ca.mtimes(J, J.T)

    def _coupler(self, entry: ChannelEntry) -> casadi.SX:
        """Effort of a coupler along its first coordinate: its multiplier."""
        return self._multiplier(entry)

    def _multiplier(self, entry: ChannelEntry) -> casadi.SX:
        if entry.owner not in self.system.groups:
            return _nothing(1)
        row = int(entry.quantity) if entry.quantity.isdigit() else 0
        return self._solved[1][self.system.groups[entry.owner][row]]

    def _on_body(self, entry: ChannelEntry) -> casadi.SX:
        """What a constraint or an element exerts on one of its bodies, at its center of mass."""
        import casadi as ca

        parts = self._parts
        body = next(b for b in parts.bodies if b.name == entry.body)
        element = next((e for e in parts.forces if e.name == entry.owner), None)
        if element is not None:
            force = self._effort(element, body.index)
        elif entry.owner not in self.system.groups:
            return _nothing(3 if entry.vector else 1)
        else:
            force = self._on(body.index, self._force_of(entry.owner))
        if body.kind is SCALAR:
            return force
        return self._wrench(body.index, force, ca.SX.zeros(3, 1), 1.0, entry.quantity)

    def _effort(self, element: Element, body: int) -> casadi.SX:
        """Generalized force of an element on one of its bodies."""
        symbols = self._element_symbols
        function = self._parts.traced[element.law.key].function
        _, *efforts = function.call(symbols.columns(element))
        total = _nothing(self._parts.bodies[body].kind.nv)
        for i, effort in zip(element.bodies, efforts, strict=True):
            total = total + effort if i == body else total
        return total

    def _element(self, entry: ChannelEntry) -> casadi.SX:
        """Force or moment of an element on its last body, at its marker there."""
        import casadi as ca

        parts = self._parts
        e = next(e for e in parts.forces if e.name == entry.owner)
        on = e.bodies[-1]
        sign, body = (1.0, on) if on >= 0 else (-1.0, next(i for i in e.bodies if i >= 0))
        side = "ab"[e.bodies.index(body)]
        arm: Any = ca.SX.zeros(3, 1)
        if f"{e.name}.at_{side}" in parts.slots:
            arm = self._arm(e.name, side, None)
        found = self._wrench(body, self._effort(e, body), arm, sign, entry.quantity)
        if entry.quantity == "force" or on >= 0 or f"{e.name}.at_b" not in parts.slots:
            return found
        force = self._wrench(body, self._effort(e, body), arm, sign, "force")
        shift = self._point(e, "a") - self._point(e, "b")
        return found + ca.cross(shift, force)

    def _point(self, element: Element, side: str) -> casadi.SX:
        """An element's marker of one side in the world."""
        import casadi as ca

        i = element.bodies["ab".index(side)]
        arm = self._arm(element.name, side, None)
        if i < 0:
            return arm
        pose = self.pose(self._parts.bodies[i].name, about_origin=False)
        return ca.vertcat(*map(expression, pose.point(symbols_of(arm))))

    def _spring(self, entry: ChannelEntry) -> casadi.SX:
        """Tension along the line of a spring's points."""
        import casadi as ca

        e = next(e for e in self._parts.forces if e.name == entry.owner)
        body = next(i for i in reversed(e.bodies) if i >= 0)
        sign = -1.0 if body == e.bodies[-1] else 1.0
        force = self._wrench(body, self._effort(e, body), ca.SX.zeros(3, 1), 1.0, "force")
        d = self._point(e, "b") - self._point(e, "a")
        return sign * ca.dot(force, d) / ca.norm_2(d)

    def _actuator(self, entry: ChannelEntry) -> casadi.SX:
        """Speed, effort or power of an actuator: e with Q = Jᵀe."""
        import casadi as ca

        e = next(e for e in self._parts.forces if e.name == entry.owner)
        state, _ = self.system.channel(f"{self._parts.actuated[entry.owner]}_rate")
        speed = state[state.numel() - 1]
        if entry.quantity == "speed":
            return speed
        J = jacobian(speed, self.s.v, self.s)
        Q = _nothing(self.s.v.numel())
        for i in dict.fromkeys(i for i in e.bodies[:2] if i >= 0):
            place = slice(*self._parts.places[1][i : i + 2])
            Q[place] = self._effort(e, i)
        effort = ca.mtimes(J, Q) / ca.mtimes(J, J.T)
        return effort if entry.quantity == "effort" else effort * speed

    def _torsion(self, entry: ChannelEntry) -> casadi.SX:
        """Moment by which a torsion spring resists its twist."""
        import casadi as ca

        e = next(e for e in self._parts.forces if e.name == entry.owner)
        body = next(i for i in reversed(e.bodies) if i >= 0)
        sign = -1.0 if body == e.bodies[-1] else 1.0
        moment = self._wrench(body, self._effort(e, body), ca.SX.zeros(3, 1), 1.0, "moment")
        return sign * ca.dot(moment, self._axis(e))

    def _axis(self, e: Element) -> casadi.SX:
        """z of an element's first marker in the world."""
        import casadi as ca

        parts = self._parts
        plane = parts.kind.plane
        if plane is not None:
            return ca.SX(ca.DM(np.eye(3)[plane[2]]))
        axes = self.s.p[slice(*parts.slots[f"{e.name}.axes_a"])]
        z = ca.vertcat(axes[2], axes[5], axes[8])
        if e.bodies[0] < 0:
            return z
        pose = self.pose(parts.bodies[e.bodies[0]].name, about_origin=False)
        return ca.vertcat(*map(expression, pose.vector(symbols_of(z))))

    def _friction(self, entry: ChannelEntry) -> casadi.SX:
        """Torque or force of friction along a joint's coordinate, on its second body."""
        import casadi as ca

        parts = self._parts
        name = f"{entry.owner}.friction"
        law = next((f for f in parts.frictions if f.element.name == name), None)
        if law is None:
            return _nothing(1)
        symbols = self._element_symbols
        element = parts.constraints[law.constraint]
        own = ca.vertcat(
            *(symbols.parameter(f"{law.element.name}.{n}") for n in law.element.law.shapes)
        )
        first, last = parts.row_starts[law.constraint : law.constraint + 2]
        given = [*symbols.columns(element), own, self._solved[1][first:last]]
        joint = parts.joints[entry.owner]
        if len(joint.kind.coordinates) > 1:
            marker = ended(joint)
            side, sign = ("b", 1.0) if marker is joint.b else ("a", -1.0)
            effort = law.function.call(given)["ab".index(side)]
            quantity = "moment" if entry.quantity == "torque" else "force"
            arm = self._arm(entry.owner, side, marker)
            found = self._wrench(marker.body, effort, arm, sign, quantity)
            return ca.dot(found, self._axis(element))
        coordinate = "angle" if entry.quantity == "torque" else "displacement"
        state, _ = self.system.channel(f"{entry.owner}.{coordinate}_rate")
        J = jacobian(state[state.numel() - 1], self.s.v, self.s)
        whole = _nothing(self.s.v.numel())
        for i, effort in zip(element.bodies, law.function.call(given), strict=True):
            if i >= 0:
                place = slice(parts.places[1][i], parts.places[1][i + 1])
                whole[place] = whole[place] + effort
        return ca.mtimes(J, whole) / ca.mtimes(J, J.T)

    def _energy(self, entry: ChannelEntry) -> casadi.SX:
        import casadi as ca

        model = self.system.model
        V = ca.SX(0) if model.V is None else model.V
        return {"kinetic_energy": model.T, "potential_energy": V, "energy": model.T + V}[entry.name]

    def _output(self, entry: ChannelEntry) -> casadi.SX:
        output, path = self.system.outputs[entry.name], self._outputs_under_way
        if entry.name in path:
            raise circular_output(entry.name, path)
        path.append(entry.name)
        value = self.of_function(f"output {entry.name!r}", output.function)
        path.pop()
        return value


def _nothing(size: int) -> casadi.SX:
    import casadi as ca

    return ca.SX.zeros(size, 1)
