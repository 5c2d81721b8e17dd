"""The parts of a mechanism as a user adds them: names, places and markers, each checked at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zwang.arguments.keywords import known_keywords_of_methods
from zwang.arguments.states import parameter_value
from zwang.arguments.values import check_name, number, vector
from zwang.errors import InputError, ModelError, UnknownNameError, shown
from zwang.multibody.body import Body, Placement
from zwang.multibody.call_log import BuilderCall
from zwang.multibody.element import Element, ElementLaw, LawConstants
from zwang.multibody.forces.angle_laws import AngleLaw
from zwang.multibody.forces.teeth import teeth_element
from zwang.multibody.gear_meshing import GearMesh, Wheel, gear, rack
from zwang.multibody.handles import BodyHandle, MarkerHandle
from zwang.multibody.inertia import Inertia, direction, point, principal, rotation
from zwang.multibody.inertia import tensor as inertia_tensor
from zwang.multibody.joints.kind import JointKind
from zwang.multibody.marker import IN_PLANE, FrameLayout, Joint, Marker, layout_of, marker_axes
from zwang.multibody.parameter_expression import (
    Evaluation,
    ParameterValue,
    evaluated,
    parameters_in,
)
from zwang.multibody.pose import GROUND, PLANES, SCALAR, SPATIAL, planar
from zwang.terms import FloatArray
from zwang.tracing.own_output import OwnOutput, require_no_energy

__all__ = ["MechanismBuilder", "checked_numbers", "in_space", "is_pair"]

#: Arguments that locate a joint.
WHERE = ("at", "axis", "axis_b", "reference")
#: Kinds of joints with teeth, and those whose axis may be that of a wheel.
TOOTHED = ("gear", "rack_and_pinion")
BEARINGS = ("revolute", "cylindrical", "screw")
#: Pressure angle of standard teeth.
STANDARD = np.pi / 9.0


@dataclass(frozen=True)
class Toothed:
    """A gear or a rack as described; which equations it has is found once all bearings are known.

    Attributes
    ----------
    pressure_angle : [rad], None for rates alone.
    pitch : the pitch point in the world, if it was given.
    centers : points of the axes of both in the world, if these were given.
    given : whether a pressure angle was asked for, so that axes must fit.
    """

    pressure_angle: float | None
    pitch: FloatArray | None
    centers: tuple[FloatArray, FloatArray] | None
    given: bool


@known_keywords_of_methods
class MechanismBuilder:
    """What has been described so far, and the checks that all descriptions pass.

    Attributes
    ----------
    ground : the body that does not move.
    description : the calls that described the rest, in order.
    """

    def __init__(
        self,
        gravity: Any = (0.0, 0.0, 0.0),
        *,
        parameters: Mapping[str, Any] | None = None,
        plane: str | None = None,
    ) -> None:
        if plane is not None and plane not in PLANES:
            raise UnknownNameError("plane", str(plane), PLANES)
        self._kind = SPATIAL if plane is None else planar(plane)
        self._bodies: dict[str, Body] = {}
        self._constraints: list[Element] = []
        self._forces: list[Element] = []
        self._friction: list[Element] = []
        self._joints: dict[str, Joint] = {}
        self._laws: dict[Any, ElementLaw] = {}  # of joints: those of a kind share one
        self._toothed: dict[str, Toothed] = {}  # joints that may have teeth, by name
        self._names: dict[str, str] = {"ground": "body", "gravity": "parameter"}
        self._free: set[str] = set()
        self._parameters: dict[str, np.ndarray] = {}
        self._evaluation = Evaluation(self._parameters)
        self._outputs: dict[str, OwnOutput] = {}
        self._effort_laws: dict[str, AngleLaw] = {}  # of actuators whose effort is a function
        self.description: list[BuilderCall] = []
        self._geometry: dict[str, None] = {}  # parameters that numbers of parts depend on
        self._varying: set[str] = set()  # arguments of the present call that depend on these
        self.ground = BodyHandle("ground", self)
        self._gravity = self._vector("gravity", gravity)
        self._require_within("gravity", self._gravity)
        for name, value in (parameters or {}).items():
            self._new_parameter(name, value)

    def _changed(self) -> None:
        """Called whenever a part comes in."""

    def parameter(self, name: str, value: Any = None) -> ParameterValue:
        """A parameter that numbers of the mechanism may depend on: lengths, points, axes, inertias.

        Changing its value later, ``m.simulate(parameters={"L": 0.35}, …)``, places and assembles
        the mechanism anew and compiles nothing.

        Parameters
        ----------
        name : of a new parameter, or of one that the mechanism has.
        value : default of a new one, a number or an array.

        Returns
        -------
        ParameterValue
            It stands for the value in arguments of the mechanism and of `zwang.inertia`, alone or
            in arithmetic and NumPy's functions: ``at=(L * np.cos(a), 0, 0)``.
        """
        if value is not None:
            self._new_parameter(name, value)
        elif name not in self._parameters:
            raise UnknownNameError("parameter", name, self._parameters)
        return ParameterValue(name, np.shape(self._parameters[name]))

    def with_numbers(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Arguments of a call with numbers in place of expressions of parameters."""
        if not self._parameters:
            return arguments
        names = {key: dict.fromkeys(parameters_in(x)) for key, x in arguments.items()}
        self._varying = {key for key, found in names.items() if found}
        if not self._varying:
            return arguments
        try:
            result = evaluated(arguments, self._evaluation)
        except ModelError:
            raise  # it has its place in a file
        except InputError as error:
            name = arguments.get("name")
            raise (error if name is None else error.about(f"{name!r}")) from None
        for key in self._varying:
            self._geometry |= names[key]
        return result

    def _centers(self, bodies: Sequence[Body | None]) -> LawConstants:
        """Centers of mass of bodies in their frames, ``center_0`` and so on."""
        constants = LawConstants()
        for k, body in enumerate(bodies):
            center = np.zeros(3) if body is None else body.inertia.center
            constants.add(f"center_{k}", center, varies=body is not None and body.parametric)
        return constants

    def _new_name(self, kind: str, name: str) -> None:
        """Refuse a name that is no word, or is taken."""
        check_name(kind, name)
        if name in self._names:
            raise InputError(
                f"{kind} {name!r}",
                must="have a name of its own",
                but=f"a {self._names[name]} has the same name",
                advice="Give it another name.",
            )

    def _new_parameter(self, name: str, value: Any) -> None:
        self._new_name("parameter", name)
        require_no_energy("parameter", name)
        self._parameters[name] = parameter_value(name, value)
        self._accept("parameter", name)

    def _accept(self, kind: str, name: str) -> None:
        """Take a part whose description was in order; what was refused leaves its name free."""
        self._names[name] = kind
        self._changed()

    def in_space(self, value: Any) -> Any:
        """Two coordinates in the plane of a planar mechanism as three in space."""
        return in_space(self._kind.plane, value)

    def _vector(self, what: str, value: Any) -> FloatArray:
        """Three finite numbers; in a planar mechanism two will do."""
        return vector(what, self.in_space(value), planar=self._kind.plane is not None)

    def _inertia(self, mass: float | None, inertia: Any) -> Inertia:
        plane = self._kind.plane
        if isinstance(inertia, Inertia):
            given = inertia.mass if mass is None else number("mass", mass)
            if abs(given - inertia.mass) > 1e-12 * abs(inertia.mass):
                raise InputError(
                    "mass",
                    must="be the same as in the inertia",
                    but=f"is {given:g} here and {inertia.mass:g} there",
                    advice="Omit mass=; the inertia contains it.",
                )
            return inertia
        m = 0.0 if mass is None else mass
        if inertia is None:
            return point(m)
        if plane is not None and np.ndim(inertia) == 0:
            moment = number("inertia", inertia)
            moments = np.full(3, 0.5 * moment)
            moments[plane[2]] = moment
            return principal(m, moments)
        return inertia_tensor(m, inertia)

    def _rotation(self, orientation: Any, angle: float | None) -> FloatArray:
        if angle is None:
            return np.eye(3) if orientation is None else rotation(orientation)
        plane = self._kind.plane
        if orientation is not None or plane is None:
            raise InputError(
                "angle",
                must="be given in a planar mechanism, in place of orientation=",
                but="this one is in space" if plane is None else "both were given",
            )
        from zwang.rotation.quaternion import from_axis_angle

        return rotation(from_axis_angle(np.eye(3)[plane[2]], number("angle", angle)))

    def _spin(self, value: Any) -> FloatArray:
        plane = self._kind.plane
        if plane is not None and np.isscalar(value):
            return number("angular velocity", value) * np.eye(3)[plane[2]]
        return vector("angular velocity", value)

    def _require_in_plane(self, what: str, body: Body) -> None:
        plane = body.kind.plane
        if plane is None:
            return
        k = plane[2]
        place = body.placement
        axis, omega = place.rotation[:, k].tolist(), place.omega.tolist()
        axis[k] -= 1.0
        omega[k] = 0.0
        parts = {
            "has a velocity of {:g} perpendicular to it": float(place.velocity[k]),
            "has axes rotated out of it by {:g}": max(map(abs, axis)),
            "has an angular velocity of {:g} in it": max(map(abs, omega)),
        }
        for found, off in parts.items():
            if abs(off) > IN_PLANE:
                raise InputError(
                    what,
                    must=f"move in the plane {body.kind.name}",
                    but=found.format(off),
                    advice="Omit plane= for motion in space.",
                )

    def _body_of(self, what: str, handle: Any) -> Body | None:
        """The body of a handle; None for the ground."""
        if isinstance(handle, str):
            if handle == "ground":
                return None
            if handle in self._bodies:
                return self._bodies[handle]
            raise UnknownNameError(f"body of {what}", handle, ["ground", *self._bodies])
        if not isinstance(handle, BodyHandle):
            raise InputError(
                what, found=shown(handle), expected="a body of the mechanism, or its name"
            )
        if handle.owner is not self:
            raise InputError(
                what,
                must="refer to a body of this mechanism",
                but=f"body {handle.name!r} belongs to another",
            )
        return None if handle.name == "ground" else self._bodies[handle.name]

    def _bodies_of(self, what: str, handles: Any) -> list[Body]:
        if isinstance(handles, BodyHandle | str):
            handles = [handles]
        if not isinstance(handles, Sequence):
            raise InputError(what, found=shown(handles), expected="a list of bodies")
        bodies = [self._body_of(what, h) for h in handles]
        if not bodies or any(b is None for b in bodies):
            raise InputError(
                what,
                must="have bodies that move",
                but="the ground is among them" if bodies else "has none",
            )
        return [b for b in bodies if b is not None]

    def _require_pair(self, what: str, a: Any, b: Any) -> None:
        first, second = self._body_of(what, a), self._body_of(what, b)
        if first is second:
            name = "the ground" if first is None else repr(first.name)
            raise InputError(
                what, must="connect two different bodies", but=f"{name} is on both sides"
            )
        for body in (first, second):
            if body is not None and body.kind is SCALAR:
                raise InputError(
                    what,
                    must="connect bodies",
                    but=f"the coordinate {body.name!r} is no body",
                    advice="Use m.constraint to constrain coordinates.",
                )

    def _require_planar(self, what: str, kind: JointKind, markers: Sequence[Marker]) -> None:
        """Refuse a joint whose axis would hold all of a planar body, or that has no use there."""
        plane = self._kind.plane
        if plane is None or kind.plane == "any":
            return
        if kind.plane == "never":
            raise InputError(
                what,
                must="be in a mechanism in space",
                but=f"the mechanism is planar, in {self._kind.name}",
                advice="Omit plane=, or use a joint that exists in a plane.",
            )
        normal = [abs(abs(marker.axes[plane[2], 2]) - 1.0) < IN_PLANE for marker in markers]
        if all(normal) if kind.plane == "normal" else not any(normal):
            return
        letter = "xyz"[plane[2]]
        raise InputError(
            f"axis of {what}",
            expected=f"the normal of the plane, {letter}"
            if kind.plane == "normal"
            else f"a direction in the plane {self._kind.name}",
            found=f"a direction in the plane {self._kind.name}"
            if kind.plane == "normal"
            else f"{letter}, the normal of the plane",
        )

    def _require_within(self, what: str, given: FloatArray) -> None:
        """Refuse a constant force normal to the plane, which would have no effect."""
        plane = self._kind.plane
        if plane is not None and abs(given[plane[2]]) > IN_PLANE:
            raise InputError(
                what,
                must=f"lie in the plane {self._kind.name}",
                but=f"has {given[plane[2]]:g} along {'xyz'[plane[2]]}, perpendicular to it",
                advice="Omit plane= to compute what joints carry perpendicular to the plane.",
            )

    def _require_connected(self) -> None:
        if not self._bodies:
            raise InputError(
                "mechanism",
                must="have at least one body",
                but="has none",
                advice="Add one with m.body.",
            )
        touched = {i for j in self._joints.values() for i in j.bodies}
        touched |= {i for e in self._forces for i in e.bodies}
        for body in self._bodies.values():
            if body.index not in touched and body.name not in self._free:
                raise InputError(
                    f"body {body.name!r}",
                    must="be connected to the rest of the mechanism",
                    but="has no joint or force",
                    advice="free=True declares that it moves freely.",
                )

    def _placement_of(self, body: Body | None) -> Placement:
        return Placement.at_rest(np.zeros(3), np.eye(3)) if body is None else body.placement

    def _frame_of(self, what: str, handle: BodyHandle | MarkerHandle) -> Placement:
        if isinstance(handle, MarkerHandle):
            place = self._placement_of(self._body_of(what, handle.body))
            axes = np.eye(3) if handle.axes is None else handle.axes
            return Placement.at_rest(place.point(handle.at), place.rotation @ axes)
        return self._placement_of(self._body_of(what, handle))

    def _markers(
        self,
        what: str,
        a: Any,
        b: Any,
        at: Any,
        *,
        axis: Any = None,
        axis_b: Any = None,
        reference: Any = None,
        kind: JointKind | None = None,
    ) -> tuple[Marker, Marker, FrameLayout]:
        """The two markers of a joint, and how their numbers are laid out."""
        bodies = (self._body_of(what, a), self._body_of(what, b))
        points = self._points(what, (a, b), at)
        z = None if axis is None else direction(f"axis of {what}", self.in_space(axis))
        given = [isinstance(x, MarkerHandle) and x.axes is not None for x in points]
        if kind is not None and kind.axis and z is None and not all(given):
            raise InputError(
                what, must="have an axis: axis=, a direction in the world or 'x', 'y', 'z'"
            )
        x = None
        if reference is not None:
            x = direction(f"reference of {what}", self.in_space(reference))
        second = z
        if axis_b is not None:
            second = direction(f"second axis of {what}", self.in_space(axis_b))
        layout = layout_of(what, self._kind, (z, second))
        if len(set(layout.normal)) > 1 and not (kind and kind.crossed):
            raise InputError(
                f"axes of {what}",
                must="be both normal to the plane or both in it",
                but="one is in the plane and one is normal to it",
            )
        markers = []
        try:
            alike = len(set(layout.normal)) == 1
            across = _common_normal(z, second) if x is None and axis_b is not None and alike else x
            frames = [marker_axes(self._kind, s, across) for s in (z, second)]
        except InputError as error:
            raise error.about(what) from None
        for body, where, axes in zip(bodies, points, frames, strict=True):
            place = self._placement_of(body)
            center = np.zeros(3) if body is None else body.inertia.center
            if isinstance(where, MarkerHandle):
                local = where.at
                own = where.axes if where.axes is not None else place.rotation.T @ axes
            else:
                local, own = place.local_point(where), place.rotation.T @ axes
            markers.append(Marker(-1 if body is None else body.index, local - center, own))
        return markers[0], markers[1], layout

    def _points(self, what: str, handles: tuple[Any, Any], at: Any) -> tuple[Any, Any]:
        """One place for each body: world points, or markers."""
        if isinstance(at, MarkerHandle):
            return self._points(what, handles, (at, at))
        if not isinstance(at, Sequence | np.ndarray) or isinstance(at, str):
            raise InputError(
                f"point of {what}", found=shown(at), expected="a point, a marker or a pair of these"
            )
        if not is_pair(at):
            world = self._vector(f"point of {what}", at)
            return world, world
        places: list[Any] = []
        for handle, where in zip(handles, at, strict=True):
            if isinstance(where, MarkerHandle):
                own, wanted = self._body_of(what, where.body), self._body_of(what, handle)
                if own is not wanted:
                    # A marker of the other body as placed: the same world point.
                    place = self._placement_of(own)
                    places.append(place.point(where.at))
                else:
                    places.append(where)
            else:
                places.append(self._vector(f"point of {what}", where))
        return places[0], places[1]

    def _world_points(self, what: str, a: Any, b: Any, at: Any) -> tuple[FloatArray, FloatArray]:
        points = []
        for where in self._points(what, (a, b), at):
            if isinstance(where, MarkerHandle):
                points.append(
                    self._placement_of(self._body_of("marker", where.body)).point(where.at)
                )
            else:
                points.append(where)
        return points[0], points[1]

    def _length(self, what: str, a: Any, b: Any, at: Any) -> float:
        """The length between two points as placed."""
        P, Q = self._world_points(what, a, b, (0.0, 0.0, 0.0) if at is None else at)
        length = float(np.linalg.norm(Q - P))
        if length == 0.0:
            raise InputError(
                f"points of {what}",
                must="be apart, as the line between them is its direction",
                but=f"are both at {tuple(P.tolist())}",
                advice="Give at= a pair of points, one for each body; m.cartesian_spring is a "
                "spring of zero length.",
            )
        return length

    def _normal_axis(self, axis: Any) -> Any:
        """The plane's normal where no axis is given."""
        if self._kind.plane is None or axis is not None:
            return axis
        return np.eye(3)[self._kind.plane[2]]

    def _add_joint(
        self,
        name: str,
        kind: JointKind,
        a: Marker,
        b: Marker,
        layout: FrameLayout,
        values: Mapping[str, np.ndarray],
    ) -> None:
        joint, elements = self._joint(name, kind, a, b, layout, values)
        self._constraints += elements
        self._joints[name] = joint
        self._accept("joint", name)

    def _joint(
        self,
        name: str,
        kind: JointKind,
        a: Marker,
        b: Marker,
        layout: FrameLayout,
        values: Mapping[str, np.ndarray],
    ) -> tuple[Joint, list[Element]]:
        """A joint, and its equations."""
        bodies = (a.body, b.body)
        kinds = tuple(GROUND if i < 0 else self._kind for i in bodies)
        numbers = {**layout.numbers(a, b), **values}
        elements = []
        both = kind.position is not None and kind.velocity is not None
        for level, equations in (("position", kind.position), ("velocity", kind.velocity)):
            if equations is None:
                continue
            element = f"{name}.rolling" if both and level == "velocity" else name
            key = (kind.name, level, kinds, layout, *((kind.variant,) if kind.variant else ()))
            law = self._laws.get(key)
            if law is None:
                shapes = {number: np.shape(value) for number, value in numbers.items()}
                what, function = f"{kind.name} joint", _of_frames(layout, equations)
                law = self._laws[key] = ElementLaw(key, what, kinds, shapes, level, function)
            elements.append(Element(element, law, bodies, numbers))
        names = tuple(element.name for element in elements)
        return Joint(name, kind, bodies, a, b, layout, names, values), elements

    # --- teeth ------------------------------------------------------------------------------------

    def _toothed_pair(
        self, what: str, a: Any, b: Any, at: Any, angle: Any, *, given: bool
    ) -> Toothed:
        """The given data of teeth, checked."""
        if angle is not None:
            angle = number(f"pressure_angle of {what}", angle)
            if not 0.0 <= angle < 0.5 * np.pi:
                raise InputError(
                    f"pressure_angle of {what}",
                    expected="in radians from 0 to less than π/2, or None to couple the rates only",
                    found=f"{angle:g}",
                )
        if at is None:
            return Toothed(angle, None, None, given)
        first, second = self._world_points(what, a, b, at)
        if is_pair(at):
            return Toothed(angle, None, (first, second), given)
        return Toothed(angle, first, None, given)

    def _with_teeth(self) -> tuple[tuple[Element, ...], dict[str, Joint], tuple[Element, ...]]:
        """Constraints and joints with the equations of teeth where wheels mesh, and their teeth."""
        constraints = {element.name: element for element in self._constraints}
        joints, teeth = dict(self._joints), []
        for name, toothed in self._toothed.items():
            if toothed.pressure_angle is None:
                continue
            try:
                mesh = self._mesh(joints[name], toothed)
            except InputError:
                if toothed.given:
                    raise
                continue
            joint = joints[name]
            assert joint.a is not None
            assert joint.b is not None
            assert joint.layout is not None
            a, b = self._moved(joint.a, mesh.a), self._moved(joint.b, mesh.b)
            joints[name], (element,) = self._joint(
                name, mesh.kind, a, b, joint.layout, joint.numbers
            )
            constraints[name] = element
            teeth.append(teeth_element(joints[name], element, toothed.pressure_angle, mesh.normal))
        return tuple(constraints.values()), joints, tuple(teeth)

    def _mesh(self, joint: Joint, toothed: Toothed) -> GearMesh:
        """Where the teeth of a joint meet, or an error with the reason why not."""
        assert joint.kind is not None
        what = f"{joint.kind.name} joint {joint.name!r}"
        a, b = self._wheel(joint, joint.a), self._wheel(joint, joint.b)
        if toothed.centers is not None:
            a = replace(a, points=(toothed.centers[0],))
            b = replace(b, points=(toothed.centers[1],))
        r = {name: float(value) for name, value in joint.numbers.items()}
        if joint.kind.name == "gear":
            return gear(what, a, b, (r["radius_a"], r["radius_b"]), toothed.pitch)
        pitch = toothed.pitch if toothed.centers is None else toothed.centers[1]
        return rack(what, a, b, r["radius"], pitch)

    def _wheel(self, joint: Joint, marker: Marker | None) -> Wheel:
        """One side of a mesh as placed, with the lines that may be its axis."""
        assert marker is not None
        body = None if marker.body < 0 else list(self._bodies.values())[marker.body]
        place = self._placement_of(body)
        axis = place.rotation @ marker.axes[:, 2]
        center = np.zeros(3) if body is None else body.inertia.center
        points = []
        for other in self._joints.values():
            if other.name == joint.name or other.kind is None or other.kind.name not in BEARINGS:
                continue
            for m in (other.a, other.b):
                if m is None or m.body != marker.body:
                    continue
                along = place.rotation @ m.axes[:, 2]
                if np.linalg.norm(np.cross(along, axis)) < IN_PLANE:
                    points.append(place.point(center + m.arm))
        middle = place.point(center)
        name = "ground" if body is None else body.name
        return Wheel(name, axis, (*points, place.position, middle), middle, body is None)

    def _moved(self, marker: Marker, point: FloatArray) -> Marker:
        """A marker at another point of the world, as placed."""
        body = None if marker.body < 0 else list(self._bodies.values())[marker.body]
        center = np.zeros(3) if body is None else body.inertia.center
        return replace(marker, arm=self._placement_of(body).local_point(point) - center)

    def joint_coordinate_names(self) -> list[str]:
        """Names of all joint coordinates."""
        return [
            f"{joint.name}.{coordinate}"
            for joint in self._joints.values()
            if joint.kind is not None
            for coordinate in joint.kind.coordinates
        ]

    def _element_of(self, joint: Joint) -> Element:
        return next(e for e in self._constraints if e.name == joint.elements[0])


def in_space(plane: tuple[int, int, int] | None, value: Any) -> Any:
    """Two coordinates in a plane as three in space; anything else as it is."""
    if plane is None or isinstance(value, str):
        return value
    try:
        given = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return value  # whoever asked refuses it by name
    if given.shape != (2,):
        return value
    result = np.zeros(3)
    result[list(plane[:2])] = given
    return result


def is_pair(at: Any) -> bool:
    """Whether a place is one for each body."""
    listed = isinstance(at, Sequence) and not isinstance(at, str)
    return listed and len(at) == 2 and not all(np.isscalar(x) for x in at)


def _of_frames(layout: FrameLayout, equations: Any) -> Callable[..., Any]:
    def function(poses: Any, data: Any) -> Any:
        a, b = (layout.frame(pose, data, side) for pose, side in zip(poses, "ab", strict=True))
        return equations(a, b, data)

    return function


def _common_normal(z: FloatArray | None, other: FloatArray | None) -> FloatArray | None:
    """A direction across both axes, from which angles count alike; None if they are parallel."""
    if z is None or other is None:
        return None
    normal = np.cross(z, other)
    length = float(np.linalg.norm(normal))
    return normal / length if length > 1e-9 else None


def checked_numbers(
    what: str, names: Sequence[str], given: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """The numbers a kind of joint is described by, all of them and no others."""
    for name in given:
        if name not in names:
            raise UnknownNameError(f"argument of {what}", name, [*names, *WHERE])
    result = {}
    for name in names:
        if name not in given:
            raise InputError(what, must=f"be given {name}=, a number")
        value = number(f"{name} of {what}", given[name])
        if name in ("length", "radius") and not value > 0.0:
            raise InputError(f"{name} of {what}", found=f"{value:g}", expected="a positive number")
        if name in ("radius_a", "radius_b") and value == 0.0:
            raise InputError(
                f"{name} of {what}",
                expected="a nonzero radius, negative for a ring gear",
                found="0",
            )
        if name == "arm_angle" and not 0.0 < value < np.pi:
            raise InputError(
                f"{name} of {what}",
                found=f"{value:g}",
                expected="an angle in radians between 0 and pi, not 0 and not pi",
            )
        result[name] = np.asarray(value)
    return result
