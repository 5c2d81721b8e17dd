"""A finished mechanism as data: bodies, joints, forces and parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import InputError
from zwang.multibody.body import Body
from zwang.multibody.element import Element, TracedLaw, trace_constraint, trace_force
from zwang.multibody.inertia import Inertia
from zwang.multibody.marker import Joint
from zwang.multibody.pose import GROUND, SCALAR, BodyKind

if TYPE_CHECKING:
    from zwang.multibody.forces.angle_laws import AngleLaw
    from zwang.multibody.forces.friction import JointFriction
    from zwang.multibody.geometry import GeometryParameters
    from zwang.tracing.own_output import OwnOutput

__all__ = ["Parts", "require_inertia", "require_no_geometry"]


@dataclass(frozen=True)
class Parts:
    """All of a mechanism, in the order in which it was described.

    Attributes
    ----------
    kind : what its bodies move in.
    bodies : without the ground.
    constraints, forces : elements.
    friction : elements whose force depends on the reaction of a constraint element.
    joints : name → joint, for reactions, joint coordinates and drawings.
    parameters : the user's, name → value.
    gravity : acceleration [m/s²], shape (3,).
    teeth : elements that push apart the wheels of a constraint element, by its reaction.
    outputs : name → output of the user's.
    actuated : name of an actuator → the joint coordinate that it acts along.
    effort_laws : name of an actuator → its effort, where that is a function.
    geometry : parameters that numbers of bodies and elements follow from, if there are any.
    origin : what it was before joints were left out; its parameters are those of all joints.
    """

    kind: BodyKind
    bodies: tuple[Body, ...]
    constraints: tuple[Element, ...]
    forces: tuple[Element, ...]
    friction: tuple[Element, ...]
    joints: Mapping[str, Joint]
    parameters: Mapping[str, np.ndarray]
    gravity: np.ndarray = field(default_factory=lambda: np.zeros(3))
    teeth: tuple[Element, ...] = ()
    outputs: Mapping[str, OwnOutput] = field(default_factory=dict, compare=False)
    actuated: Mapping[str, str] = field(default_factory=dict, compare=False)
    effort_laws: Mapping[str, AngleLaw] = field(default_factory=dict, compare=False, repr=False)
    geometry: GeometryParameters | None = field(default=None, compare=False, repr=False)
    origin: Parts | None = field(default=None, compare=False, repr=False)

    def at(self, values: Mapping[str, Any]) -> Parts:
        """The same mechanism with the dimensions and markers of values of all its parameters."""
        return self._with_dimensions(values).with_markers(values)

    def _with_dimensions(self, values: Mapping[str, Any]) -> Parts:
        """The same with the dimensions that follow from parameters of geometry."""
        geometry = self.geometry
        if geometry is None or all(
            np.array_equal(values[name], self.all_parameters[name]) for name in geometry.names
        ):
            return self
        found = geometry.parts(values)
        names = {self.owner(e.name) for e in found.constraints} - {
            self.owner(e.name) for e in self.constraints
        }
        return found.without(frozenset(names)) if names else found

    def at_vector(self, p: np.ndarray) -> Parts:
        """`at` for the flat array of all parameters."""
        if p.tobytes() == self._default_bits:
            return self
        if self.geometry is None and p[self._marker_places].tobytes() == self._marker_bits:
            return self
        names = () if self.geometry is None else self.geometry.names
        slots, known = self.slots, self.all_parameters
        return self.at(
            {
                name: p[slice(*slots[name])].reshape(known[name].shape)
                for name in (*names, *self._marker_names)
            }
        )

    @cached_property
    def _marker_names(self) -> tuple[str, ...]:
        """Parameters that are points and axes of joints."""
        return tuple(
            name
            for joint in self.joints.values()
            if joint.layout is not None
            for name in (f"{joint.name}.{number}" for number in joint.layout.shapes)
            if name in self.slots
        )

    @cached_property
    def _marker_places(self) -> np.ndarray:
        """Where they are among the flat array of all parameters."""
        places = [range(*self.slots[name]) for name in self._marker_names]
        return np.array([i for place in places for i in place], dtype=int)

    @cached_property
    def _default_bits(self) -> bytes:
        """All parameters as they are here, which most runs have: comparing takes least."""
        return self.defaults.tobytes()

    @cached_property
    def _marker_bits(self) -> bytes:
        """Their defaults; what differs in bits and not in value is found to be equal later."""
        return self.defaults[self._marker_places].tobytes()

    def with_markers(self, values: Mapping[str, Any]) -> Parts:
        """The same with other points and axes of joints, where they are given as parameters."""
        known, copied = self.all_parameters, self.copied
        values = {name: values[copied.get(name, name)] for name in self._marker_names}
        changed = {
            name.rpartition(".")[0]
            for name in self._marker_names
            if not np.array_equal(values[name], known[name])
        }
        if not changed:
            return self
        joints = {
            name: joint.with_markers(values) if name in changed else joint
            for name, joint in self.joints.items()
        }
        return replace(self, joints=joints)

    @property
    def whole(self) -> Parts:
        """What it was before any joints were left out."""
        return self if self.origin is None else self.origin.whole

    @property
    def elements(self) -> tuple[Element, ...]:
        """Constraints, forces, friction and teeth."""
        return self.constraints + self.forces + self.friction + self.teeth

    @cached_property
    def all_parameters(self) -> dict[str, np.ndarray]:
        """The user's parameters, gravity, then the numbers of bodies and elements by name."""
        if self.origin is not None:
            return self.origin.all_parameters
        values = dict(self.parameters)
        values["gravity"] = self.gravity
        for body in self.bodies:
            values[f"{body.name}.mass"] = np.array(body.inertia.mass)
            if body.kind.plane is not None:
                k = body.kind.plane[2]
                values[f"{body.name}.inertia"] = np.array(body.inertia.tensor[k, k])
            elif body.kind is not SCALAR:
                # A diagonal tensor stays one: its zeros are not stored.
                J = body.inertia.tensor
                diagonal = np.diag(J)
                short = not body.parametric and np.array_equal(J, np.diag(diagonal))
                values[f"{body.name}.inertia"] = diagonal.copy() if short else J
            if body.parametric:
                values[f"{body.name}.center"] = body.inertia.center
        for element in self.elements:
            for number, value in element.numbers.items():
                values[f"{element.name}.{number}"] = np.asarray(value, dtype=float)
        return values

    @cached_property
    def copied(self) -> dict[str, str]:
        """Parameters that are copies of others, as of a joint's points in the law of a motor."""
        if self.origin is not None:
            return self.origin.copied
        return {
            f"{element.name}.{number}": source
            for element in self.elements
            for number, source in element.copied.items()
        }

    @cached_property
    def defaults(self) -> np.ndarray:
        """Default values of all parameters as one flat array p."""
        return np.concatenate([np.zeros(0), *(x.ravel() for x in self.all_parameters.values())])

    @cached_property
    def traced(self) -> dict[Any, TracedLaw]:
        """Law key → its traced function; one for all elements of a kind."""
        found: dict[Any, TracedLaw] = {}
        for element in self.constraints + self.forces:
            key = element.law.key
            if key not in found:
                trace = trace_force if element.law.level == "force" else trace_constraint
                found[key] = trace(element.law, element.name, self.parameters)
        return found

    @cached_property
    def frictions(self) -> list[JointFriction]:
        """Laws of reactions that the motion depends on, one function for all joints of a kind.

        Friction in the joints that act, and the forces by which teeth push their wheels apart
        where that changes friction, or moves the wheels.
        """
        from zwang.multibody.forces.friction import joint_frictions

        friction = joint_frictions(self) if self.friction else []
        return friction + self.tooth_laws if friction or self.teeth_act_on_motion else []

    @cached_property
    def tooth_laws(self) -> list[JointFriction]:
        """The forces by which teeth push their wheels apart, in the joints that act."""
        if not self.teeth:
            return []
        from zwang.multibody.forces.teeth import tooth_laws

        return tooth_laws(self)

    @cached_property
    def teeth_act_on_motion(self) -> bool:
        """Whether bearings let teeth push their wheels apart."""
        from zwang.multibody.forces.teeth import acts_on_motion

        return bool(self.tooth_laws) and acts_on_motion(self)

    @property
    def workless(self) -> list[JointFriction]:
        """Laws of reactions that no motion depends on, for reactions alone."""
        return [] if self.frictions else self.tooth_laws

    @cached_property
    def row_starts(self) -> list[int]:
        """Where the rows of each constraint begin, and their number at the end."""
        starts = [0]
        for element in self.constraints:
            starts.append(starts[-1] + self.traced[element.law.key].rows)
        return starts

    @property
    def unknowns(self) -> int:
        """Velocities and constraint rows together: the size of the equations of motion."""
        return len(self.velocities) + self.row_starts[-1]

    @cached_property
    def is_forest(self) -> bool:
        """Whether joints close no loop and nothing else constrains: all rows are independent."""
        if any(joint.kind is None for joint in self.joints.values()):
            return False
        names = {name for joint in self.joints.values() for name in joint.elements}
        acting = {element.name for element in self.constraints}
        root = list(range(len(self.bodies) + 1))  # the ground is the last

        def find(i: int) -> int:
            while root[i] != i:
                root[i] = root[root[i]]
                i = root[i]
            return i

        for joint in self.joints.values():
            if not acting & set(joint.elements):
                continue
            a, b = (find(i) for i in joint.bodies)
            if a == b:
                return False
            root[a] = b
        return acting <= names

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What was accepted because it was asked for."""
        found = []
        for body in self.bodies:
            if not body.inertia.check:
                a, b, c = np.linalg.eigvalsh(body.inertia.tensor)
                if c > a + b:
                    told = f"{a:g}, {b:g} and {c:g}"
                    found.append(
                        f"body {body.name!r} has principal moments {told}, which no mass "
                        "distribution has"
                    )
        return tuple(found)

    @cached_property
    def slots(self) -> dict[str, tuple[int, int]]:
        """Parameter name → its place in p."""
        result, start = {}, 0
        for name, value in self.all_parameters.items():
            result[name] = (start, start + value.size)
            start += value.size
        return result

    @cached_property
    def places(self) -> tuple[list[int], list[int]]:
        """Where the coordinates and the velocities of each body begin."""
        q, v = [0], [0]
        for body in self.bodies:
            q.append(q[-1] + body.kind.nq)
            v.append(v[-1] + body.kind.nv)
        return q, v

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of q: ``crank.x``, or the name alone of an extra generalized coordinate."""
        return tuple(_joined(b.name, end) for b in self.bodies for end in b.kind.q)

    @cached_property
    def velocities(self) -> tuple[str, ...]:
        """Names of v."""
        return tuple(_joined(b.name, end) for b in self.bodies for end in b.kind.v)

    @cached_property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """q and v as placed, not yet assembled."""
        q = [np.zeros(0), *(b.coordinates() for b in self.bodies)]
        v = [np.zeros(0), *(b.velocities() for b in self.bodies)]
        return np.concatenate(q), np.concatenate(v)

    def kind_of(self, index: int) -> BodyKind:
        """What a body moves in; −1 is the ground."""
        return GROUND if index < 0 else self.bodies[index].kind

    @cached_property
    def owners(self) -> dict[str, str]:
        """Constraint element → name of its joint."""
        return {e: joint.name for joint in self.joints.values() for e in joint.elements}

    def owner(self, element: str) -> str:
        """Name of the joint that a constraint element belongs to."""
        return self.owners.get(element, element)

    def described(self, name: str) -> str:
        """``revolute joint pin``, ``driver motor``: a joint or constraint with what it is."""
        element = next((e for e in self.constraints if self.owner(e.name) == name), None)
        return name if element is None else f"{element.law.what} {name}"

    def without(self, names: frozenset[str]) -> Parts:
        """The same without some joints and constraints, and the friction in them.

        Their numbers stay parameters, so that one set of values serves a run in which joints are
        switched off and on.
        """
        return replace(
            self,
            constraints=tuple(e for e in self.constraints if self.owner(e.name) not in names),
            friction=tuple(e for e in self.friction if e.name.split(".")[0] not in names),
            teeth=tuple(e for e in self.teeth if e.name.split(".")[0] not in names),
            origin=self,
        )


def require_inertia(body: Body, names: Sequence[str], values: Mapping[str, Any]) -> None:
    """Refuse a mass or inertia given as a parameter that no body can have."""
    mass = values.get(f"{body.name}.mass", body.inertia.mass)
    tensor = np.asarray(values.get(f"{body.name}.inertia", body.inertia.tensor), dtype=float)
    if body.kind.plane is not None and tensor.ndim == 0:
        moments = np.full(3, 0.5 * float(tensor))
        moments[body.kind.plane[2]] = float(tensor)
        tensor = np.diag(moments)
    try:
        Inertia(mass, body.inertia.center, tensor, check=body.inertia.check)
    except InputError as error:
        raise error.about(f"body {body.name!r}, parameter {' and '.join(names)}") from None


def require_no_geometry(mechanism: Parts | None, values: Mapping[str, Any], of: str) -> None:
    """Refuse to change dimensions of a mechanism while it moves."""
    geometry = None if mechanism is None else mechanism.geometry
    for name in () if geometry is None else geometry.names:
        if name in values:
            raise InputError(
                f"parameter {name!r} of {of}",
                must="not be one that dimensions of the mechanism follow from",
                advice="Begin another simulation with other dimensions.",
            )


def _joined(name: str, ending: str) -> str:
    return f"{name}.{ending}" if ending else name
