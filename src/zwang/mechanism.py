"""A mechanism from bodies, joints and forces: the builder, and what follows from it.

    bodies, joints, forces ─► parts (frozen) ─► system ─► solve, simulate, explain, …

A `Mechanism` collects parts and checks each as it comes. Its first use freezes a copy as a
`MechanismSystem`, a `zwang.System` like any other; adding parts afterwards makes a new copy at the
next use and leaves the old one, and its runs, alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.bodies.body import Body, Placement
from zwang.bodies.builder import STANDARD, TOOTHED, Builder, checked_numbers
from zwang.bodies.described import described
from zwang.bodies.element import Element, Law
from zwang.bodies.forces.laws import bushing, spring_damper, torsion_spring
from zwang.bodies.handles import BodyHandle, MarkerHandle
from zwang.bodies.inertia import number, point, vector
from zwang.bodies.joints import KINDS
from zwang.bodies.marker import Joint
from zwang.bodies.mesh import MeshFile
from zwang.bodies.mesh import mesh as mesh_of
from zwang.bodies.parts import Parts
from zwang.bodies.pose import GROUND, SCALAR, SPATIAL, Pose
from zwang.bodies.recipe import Recipe
from zwang.errors import InputError, UnknownNameError, ZwangError, shown
from zwang.large_mechanism import mechanism_system
from zwang.mechanism_system import MechanismSystem
from zwang.state import State
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.bodies.explained import MechanismExplanation
    from zwang.diagnosis.passport import Passport
    from zwang.diagnosis.splits import Splits
    from zwang.ensemble import Runs
    from zwang.functions.assembly.result import Assembly
    from zwang.run.run import Run
    from zwang.solution import Solution
    from zwang.terms import EquationTerms

__all__ = ["Mechanism"]


class Mechanism(Builder):
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
            p = vector("position", self.in_space(position))
            v = vector("velocity", self.in_space(velocity))
            w = self._spin(angular_velocity)
            look = mesh if mesh is None or isinstance(mesh, MeshFile) else mesh_of(mesh)
        except InputError as error:
            raise error.about(what) from None
        if relative_to is not None:
            base = self._frame_of(f"relative_to of {what}", relative_to)
            p, R = base.point(p), base.rotation @ R
        body = Body(name, len(self._bodies), self._kind, made, Placement(p, R, v, w), look)
        self._require_in_plane(what, body)
        self._bodies[name] = body
        if free:
            self._free.add(name)
        self._accept("body", name)
        return BodyHandle(name, self)

    @described
    def coordinate(
        self, name: str, mass: float = 0.0, *, value: float = 0.0, rate: float = 0.0
    ) -> BodyHandle:
        """Add a further generalized coordinate with a mass of its own, for constraints of yours."""
        self._new_name("coordinate", name)
        first = np.array([1.0, 0.0, 0.0])
        try:
            made, x, u = point(mass), number("value", value), number("rate", rate)
        except InputError as error:
            raise error.about(f"coordinate {name!r}") from None
        self._bodies[name] = Body(
            name,
            len(self._bodies),
            SCALAR,
            made,
            Placement(x * first, np.eye(3), u * first, np.zeros(3)),
        )
        self._free.add(name)
        self._accept("coordinate", name)
        return BodyHandle(name, self)

    # --- joints -----------------------------------------------------------------------------------

    @described
    def joint(
        self,
        kind: str,
        name: str,
        a: BodyHandle,
        b: BodyHandle,
        *,
        at: Any = None,
        axis: Any = None,
        axis_b: Any = None,
        reference: Any = None,
        **numbers: Any,
    ) -> None:
        """Join two bodies by a joint of a kind.

        Parameters
        ----------
        kind : one of the names in `zwang.bodies.joints.KINDS`; each is also a method.
        a, b : the bodies, `ground` among them.
        at : the joint's point in the world, as placed; or a pair of points or markers, one for
            each body: points are in the world, markers in their body. The origin by default.
        axis : the joint's axis, in the world as placed; of the first body if `axis_b` is given.
        axis_b : the axis in the second body where it differs, in the world.
        reference : direction of the markers' x axes, from which angles count.
        numbers : what else the kind needs: radius, length, pitch.
        """
        if kind not in KINDS:
            raise UnknownNameError("kind of joint", kind, KINDS)
        found = KINDS[kind]
        what = f"{found.name} joint {name!r}"
        self._new_name("joint", name)
        self._require_pair(what, a, b)
        toothed = None
        if kind in TOOTHED:
            given = "pressure_angle" in numbers
            angle = numbers.pop("pressure_angle", STANDARD)
            toothed = self._toothed_pair(what, a, b, at, angle, given=given)
        values = checked_numbers(what, found.numbers, numbers)
        markers = self._markers(
            what,
            a,
            b,
            (0.0, 0.0, 0.0) if at is None else at,
            axis=axis,
            axis_b=axis_b,
            reference=reference,
            kind=found,
        )
        self._require_planar(what, found, markers[:2])
        if toothed is not None:
            self._toothed[name] = toothed
        self._add_joint(name, found, *markers, values)

    def revolute(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """A hinge: one angle about `axis` through `at`."""
        self.joint("revolute", name, a, b, **self._normal_axis(where))

    def prismatic(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """A slide: one displacement along `axis`."""
        self.joint("prismatic", name, a, b, **where)

    def cylindrical(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """A sleeve: angle about and displacement along `axis`."""
        self.joint("cylindrical", name, a, b, **where)

    def screw(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """A nut on a screw: it advances by `pitch` in a turn about `axis`."""
        self.joint("screw", name, a, b, **where)

    def spherical(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """A ball in a socket at `at`."""
        self.joint("spherical", name, a, b, **where)

    def planar(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """A plane on a plane, whose normal is `axis`."""
        self.joint("planar", name, a, b, **where)

    def fixed(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """A weld at `at`."""
        self.joint("fixed", name, a, b, **where)

    def universal(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """Hooke's joint at `at`; the shafts are `axis` and `axis_b`.

        Its cross turns by ``angle_a`` about the fork of the first body, and the second body by
        ``angle_b`` about the other arm.
        """
        self.joint("universal", name, a, b, **where)

    def constant_velocity(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """Shafts `axis` and `axis_b` that turn alike however they are bent at `at`."""
        self.joint("constant_velocity", name, a, b, **where)

    def gear(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """Wheels of `radius_a`, `radius_b` about `axis`, `axis_b`; a ring gear is negative.

        Their teeth press on each other at the pitch point `at`, with flanks that lean by
        `pressure_angle` (20° unless given). In place of the pitch point `at` may be the pair of the
        wheels' centres, or be left out where bearings or origins of the wheels tell their axes.
        Bevel gears have axes that meet. With ``pressure_angle=None``, and where none was given and
        the axes do not fit the radii, rates against the world are tied and no tooth force is known:
        reactions that depend on it are reported as indeterminate.
        """
        self.joint("gear", name, a, b, **self._normal_axis(where))

    def rack_and_pinion(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """A pinion a of `radius` about `axis` drives a rack b along `axis_b`.

        Teeth as for `gear`; the pitch point lies from the pinion's axis along `axis_b` × `axis`.
        """
        self.joint("rack_and_pinion", name, a, b, **self._normal_axis(where))

    def spherical_link(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """A massless rod between balls at a pair of points; `length` as placed by default.

        A function of (t, p), or of some of these by name, makes it an actuator: a cylinder whose
        length is driven.
        """
        if callable(where.get("length")):
            self._actuator(name, a, b, **where)
            return
        self._link("spherical_link", name, a, b, where)

    def revolute_spherical_link(
        self, name: str, a: BodyHandle, b: BodyHandle, **where: Any
    ) -> None:
        """A massless rod with a pin about `axis` on the first body and a ball on the second."""
        self._link("revolute_spherical_link", name, a, b, where)

    def _link(
        self, kind: str, name: str, a: BodyHandle, b: BodyHandle, where: dict[str, Any]
    ) -> None:
        self._require_pair(f"{kind} joint {name!r}", a, b)
        self.joint(kind, name, a, b, **self._length(f"{kind} joint {name!r}", a, b, where))

    def _actuator(
        self, name: str, a: BodyHandle, b: BodyHandle, *, at: Any, length: Callable[..., Any]
    ) -> None:
        """A link whose length is a function of time."""
        from zwang.bodies.joints.drivers import driven_length

        what = f"spherical_link joint {name!r}"
        self._new_name("joint", name)
        self._require_pair(what, a, b)
        self._length(what, a, b, {"at": at})
        first, second, layout = self._markers(what, a, b, at)
        bodies = (first.body, second.body)
        kinds = tuple(GROUND if i < 0 else self._kind for i in bodies)
        law = driven_length(name, kinds, layout, length)
        self._constraints.append(Element(name, law, bodies, layout.numbers(first, second)))
        kind = KINDS["spherical_link"]
        self._joints[name] = Joint(name, kind, bodies, first, second, layout, (name,))
        self._accept("joint", name)

    def point_on_line(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """A point of b stays on a line of a along `axis`."""
        self.joint("point_on_line", name, a, b, **where)

    def point_on_plane(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """A point of b stays in a plane of a with normal `axis`."""
        self.joint("point_on_plane", name, a, b, **where)

    @described
    def point_on_curve(
        self,
        name: str,
        a: BodyHandle,
        b: BodyHandle,
        *,
        curve: Callable[..., Any],
        at: Any = (0.0, 0.0, 0.0),
        start: float = 0.0,
    ) -> None:
        """A point of b stays on a curve of a.

        Parameters
        ----------
        curve : f(s), or of (s, t, p) by name, the curve in the frame of a.
        at : the point of b, in the world as placed, or a marker of b.
        start : where on the curve the point is at first, about. Where it is over time is the
            coordinate ``name_s``.
        """
        what = f"point_on_curve joint {name!r}"
        self._new_name("joint", name)
        self._require_pair(what, a, b)
        if not callable(curve):
            raise InputError(
                f"curve of {what}", found=shown(curve), expected="a function of the coordinate s"
            )
        first, second, layout = self._markers(what, a, b, at)
        bodies = (self._body_of(what, a), self._body_of(what, b))
        kinds = [GROUND if body is None else body.kind for body in bodies]
        centers = [np.zeros(3) if body is None else body.inertia.center for body in bodies]
        from zwang.bodies.joints.curves import curve_law

        law = curve_law(
            name,
            (kinds[0], kinds[1], SCALAR),
            (centers[0], centers[1]),
            second.arm + centers[1],
            curve,
            self._kind.plane,
        )
        self.coordinate(f"{name}_s", value=start)
        indices = (first.body, second.body, self._bodies[f"{name}_s"].index)
        self._constraints.append(Element(name, law, indices, {}))
        self._joints[name] = Joint(name, None, indices, first, second, layout, (name,))
        self._accept("joint", name)

    def rolling_sphere(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """A ball b of `radius` rolls on a plane of a with normal `axis`.

        `at` is a pair: a point of the plane, and the centre of the ball.
        """
        self.joint("rolling_sphere", name, a, b, **where)

    def rolling_disk(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """A thin disk b of `radius` about `axis_b` rolls on a plane of a with normal `axis`.

        `at` is a pair: a point of the plane, and the centre of the disk. In a planar mechanism the
        disk's axis is the plane's normal, and it rolls as a ball does.
        """
        if self._kind.plane is not None:
            where.pop("axis_b", None)
            self.joint("rolling_sphere", name, a, b, **where)
            return
        if "axis_b" not in where:
            raise InputError(
                f"rolling_disk joint {name!r}",
                found="no axis_b",
                expected="axis_b=, the axis of the disk, besides axis=, the normal of the plane",
            )
        self.joint("rolling_disk", name, a, b, **where)

    def knife_edge(self, name: str, a: BodyHandle, b: BodyHandle, **where: Any) -> None:
        """A blade of b along `reference` moves only along itself in a plane with normal `axis`."""
        if where.get("reference") is None and not _has_markers(where.get("at")):
            raise InputError(
                f"knife_edge joint {name!r}",
                found="no reference",
                expected="reference=, the direction of its blade, besides axis=",
            )
        self.joint("knife_edge", name, a, b, **where)

    @described
    def constraint(self, name: str, bodies: Sequence[BodyHandle], f: Callable[..., Any]) -> None:
        """A condition of your own, zero when it holds.

        Parameters
        ----------
        bodies : the bodies it is about.
        f : f(bodies, t, p), or of some of these by name; each body has ``point(local)``,
            ``vector(local)``, ``point_velocity(local)``, ``position`` and ``velocity`` of its
            origin, ``rotation``, ``angular_velocity``, and a further coordinate ``value`` and
            ``rate``. A function that uses velocities is a velocity constraint.
        """
        self._new_name("constraint", name)
        what = f"constraint {name!r}"
        own = self._bodies_of(what, bodies)
        law = Law(
            ("own", name),
            "constraint",
            tuple(b.kind for b in own),
            {},
            "detect",
            _of_bodies(what, f, [b.inertia.center for b in own]),
        )
        indices = tuple(b.index for b in own)
        self._constraints.append(Element(name, law, indices, {}))
        self._joints[name] = Joint(name, None, indices, None, None, None, (name,))
        self._accept("constraint", name)

    # --- drivers ----------------------------------------------------------------------------------

    @described
    def drive(self, name: str, what: str, value: Any, *, at: Any = None) -> None:
        """Prescribe a motion.

        Parameters
        ----------
        what : a joint coordinate, ``"pin.angle"`` or ``"slide.displacement"``, or
            ``"crank.position"`` (three values), ``"crank.orientation"`` (a matrix or quaternion) of
            a body.
        value : a number, or a function of (t, p), or of t alone.
        at : for a position, the point of the body in its own axes.
        """
        from zwang.bodies.joints.drivers import driver_law

        self._new_name("driver", name)
        if not isinstance(what, str):
            raise InputError(
                f"coordinate of driver {name!r}",
                found=shown(what),
                expected="a name such as 'pin.angle' or 'crank.position'",
            )
        owner, _, quantity = what.partition(".")
        given = value if callable(value) else (lambda: value)
        if owner in self._joints and self._joints[owner].kind is not None:
            joint = self._joints[owner]
            assert joint.kind is not None
            if quantity not in joint.kind.coordinates:
                known = [f"{owner}.{c}" for c in joint.kind.coordinates]
                raise UnknownNameError(f"driver {name!r}, coordinate", what, known)
            element = self._element_of(joint)
            law = driver_law(name, joint, element.law.kinds, quantity, given)
            numbers = {k: element.numbers[k] for k in law.shapes}
            self._constraints.append(Element(name, law, joint.bodies, numbers))
            self._joints[name] = Joint(
                name, None, joint.bodies, joint.a, joint.b, joint.layout, (name,)
            )
        elif owner in self._bodies and quantity in ("position", "orientation"):
            body = self._bodies[owner]
            local = np.zeros(3) if at is None else vector("at", self.in_space(at))
            law = driver_law(name, None, (body.kind,), quantity, given, local - body.inertia.center)
            self._constraints.append(Element(name, law, (body.index,), {}))
            self._joints[name] = Joint(name, None, (body.index,), None, None, None, (name,))
        else:
            known = [
                f"{j.name}.{c}" for j in self._joints.values() if j.kind for c in j.kind.coordinates
            ]
            known += [f"{b}.position" for b in self._bodies]
            raise UnknownNameError(f"driver {name!r}, coordinate", what, known)
        self._accept("driver", name)

    @described
    def couple(self, name: str, first: str, second: str, ratio: float) -> None:
        """Tie the rates of two joint coordinates: the first is `ratio` times the second."""
        from zwang.bodies.joints.drivers import coupler_law

        self._new_name("coupler", name)
        joints = []
        for what in (first, second):
            owner, _, quantity = what.partition(".")
            joint = self._joints.get(owner)
            if joint is None or joint.kind is None or quantity not in joint.kind.coordinates:
                known = self._joint_coordinates()
                raise UnknownNameError(f"coupler {name!r}, coordinate", what, known)
            joints.append((joint, self._element_of(joint), quantity))
        law, numbers = coupler_law(name, joints, ratio)
        bodies = joints[0][0].bodies + joints[1][0].bodies
        self._constraints.append(Element(name, law, bodies, numbers))
        self._joints[name] = Joint(name, None, bodies, None, None, None, (name,))
        self._accept("coupler", name)

    # --- forces -----------------------------------------------------------------------------------

    @described
    def spring_damper(
        self,
        name: str,
        a: BodyHandle,
        b: BodyHandle,
        *,
        at: Any,
        stiffness: float = 0.0,
        damping: float = 0.0,
        length: float | None = None,
        force: Callable[..., Any] | None = None,
    ) -> None:
        """A spring with damper and actuator between two points.

        Parameters
        ----------
        at : a pair of points or markers, one for each body.
        stiffness, damping, length : of the linear part, free length as placed by default.
        force : a further tension f(length, rate, t, p) of your own, for nonlinear laws.
        """
        what = f"spring_damper {name!r}"
        self._require_pair(what, a, b)
        given = {} if length is None else {"length": number(f"length of {what}", length)}
        free = self._length(what, a, b, {"at": at, **given})["length"]
        if free < 0.0:
            raise InputError(f"length of {what}", found=f"{free:g}", expected="zero or positive")
        self._between(
            "spring_damper",
            name,
            a,
            b,
            spring_damper(what, force),
            {"stiffness": stiffness, "damping": damping, "length": free},
            own=force,
            at=at,
        )

    @described
    def torsion_spring(
        self,
        name: str,
        a: BodyHandle,
        b: BodyHandle,
        *,
        at: Any = (0.0, 0.0, 0.0),
        axis: Any = None,
        stiffness: float = 0.0,
        damping: float = 0.0,
        angle: float = 0.0,
        moment: Callable[..., Any] | None = None,
    ) -> None:
        """A spring and damper that turn about an axis; `angle` is the rest angle from placement.

        A law of your own adds a moment f(twist, rate, t, p) against the turn.
        """
        where = self._normal_axis({"at": at, "axis": axis} if axis is not None else {"at": at})
        if "axis" not in where:
            raise InputError(
                f"torsion_spring {name!r}",
                found="no axis",
                expected="axis=, a direction in the world or 'x', 'y', 'z'",
            )
        self._between(
            "torsion_spring",
            name,
            a,
            b,
            torsion_spring(f"torsion_spring {name!r}", moment),
            {"stiffness": stiffness, "damping": damping, "angle": angle},
            own=moment,
            **where,
        )

    @described
    def bushing(
        self,
        name: str,
        a: BodyHandle,
        b: BodyHandle,
        *,
        at: Any,
        axis: Any = None,
        stiffness: Any = (0.0, 0.0, 0.0),
        damping: Any = (0.0, 0.0, 0.0),
        turn_stiffness: Any = (0.0, 0.0, 0.0),
        turn_damping: Any = (0.0, 0.0, 0.0),
    ) -> None:
        """An elastic bed along and about three axes; z lies along `axis`. Turns are small."""
        numbers = {
            key: vector(f"{key} of bushing {name!r}", value)
            for key, value in (
                ("stiffness", stiffness),
                ("damping", damping),
                ("turn_stiffness", turn_stiffness),
                ("turn_damping", turn_damping),
            )
        }
        self._between(
            "bushing",
            name,
            a,
            b,
            bushing,
            numbers,
            own=None,
            at=at,
            **({} if axis is None else {"axis": axis}),
        )

    @described
    def force(
        self,
        name: str,
        body: BodyHandle | str,
        force: Any = None,
        *,
        at: Any = (0.0, 0.0, 0.0),
        torque: Any = None,
        axes: str = "world",
    ) -> None:
        """A force, a torque or both on one body.

        Parameters
        ----------
        body : the body, or its name.
        force, torque : three numbers, or a function f(body, t, p), or of some of these by name.
        at : point of the body, in its own frame.
        axes : ``"world"``, or ``"body"`` for components that turn with it.
        """
        self._new_name("force", name)
        what = f"force {name!r}"
        if axes not in ("world", "body"):
            raise UnknownNameError(f"axes of {what}", axes, ["world", "body"])
        if force is None and torque is None:
            raise InputError(what, found="neither force nor torque", expected="one or both")
        (own,) = self._bodies_of(what, [body])
        if own.kind is SCALAR:
            raise InputError(
                what,
                found=f"the coordinate {own.name!r}",
                expected="a body",
                advice="m.user_force acts on coordinates.",
            )
        local = vector(f"point of {what}", self.in_space(at))
        if force is not None and not callable(force):
            self._require_within(what, vector(what, self.in_space(force)))
        from zwang.bodies.forces.applied import applied_law

        law = applied_law(name, own, force, torque, local, turning=axes == "body")
        self._forces.append(Element(name, law, (own.index,), {}))
        self._accept("force", name)

    @described
    def user_force(self, name: str, bodies: Sequence[BodyHandle], f: Callable[..., Any]) -> None:
        """Forces of your own on several bodies.

        `f` is a function of (bodies, t, p), or of some of these by name, and returns for each body
        a pair (force, moment about its centre of mass) in world axes, or one number for a further
        coordinate.
        """
        self._new_name("force", name)
        own = self._bodies_of(f"force {name!r}", bodies)
        from zwang.bodies.forces.applied import user_law

        law = user_law(name, own, f)
        self._forces.append(Element(name, law, tuple(b.index for b in own), {}))
        self._accept("force", name)

    @described
    def friction(
        self,
        joint: str,
        *,
        coefficient: float = 0.0,
        radius: float | None = None,
        viscous: float = 0.0,
        velocity: float = 1e-3,
    ) -> None:
        """Friction in a joint that depends on its reaction: a non-ideal constraint.

        Parameters
        ----------
        joint : name of a revolute, prismatic or cylindrical joint.
        coefficient : Coulomb's, of the force across the axis.
        radius : of the bearing [m]; needed where the joint turns and `coefficient` is not zero.
        viscous : moment per rad/s, or force per m/s.
        velocity : over which the sign of the sliding velocity is smoothed [rad/s or m/s].
        """
        from zwang.bodies.forces.friction import friction_element

        if joint not in self._joints:
            raise UnknownNameError("joint with friction", joint, self._joints)
        if f"{joint}_friction" in self._names:
            raise InputError(
                f"friction in {joint!r}",
                found="friction that it has already",
                expected="one law for each joint",
            )
        numbers = {
            "coefficient": coefficient,
            "radius": radius,
            "viscous": viscous,
            "velocity": velocity,
        }
        self._friction.append(
            friction_element(self._joints[joint], self._element_of(self._joints[joint]), numbers)
        )
        self._accept("friction", f"{joint}_friction")

    # --- use --------------------------------------------------------------------------------------

    @property
    def parts(self) -> Parts:
        """A frozen copy of all there is."""
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
        )

    @property
    def system(self) -> MechanismSystem:
        """The frozen copy as a system, with everything a `zwang.System` can do."""
        if self._system is None:
            self._system = mechanism_system(self.parts)
            self._system.made_by = _system_of, (self._recipe,)
        return self._system

    _system: MechanismSystem | None = None

    def _changed(self) -> None:
        self._system = None

    @property
    def _recipe(self) -> Recipe:
        plane = None if self._kind is SPATIAL else self._kind.name
        given = {"gravity": self._gravity, "parameters": self._parameters.copy(), "plane": plane}
        return Recipe(given, tuple(self.description))

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: how it was built; what was compiled is not part of it."""
        return _built, (type(self), self._recipe)

    def assemble(self, **wishes: Any) -> Assembly:
        """A consistent start near the placement; see `MechanismSystem.assemble`."""
        return self.system.assemble(**wishes)

    def simulate(
        self,
        start: Any = None,
        v: Any = None,
        *,
        velocity: Mapping[str, Mapping[str, float]] | str | None = None,
        **choices: Any,
    ) -> Run:
        """Integrate from the placement, or from a start; see `zwang.System.simulate`.

        `velocity` is that of `assemble`, where the placement is put together: ``"exact"`` refuses
        velocities of bodies that a joint does not allow, which are changed by an impulse otherwise.
        """
        if velocity is not None:
            if start is not None:
                raise InputError(
                    "velocity",
                    found="a start beside it",
                    expected="one of them",
                    advice="Give it to assemble, which makes the start.",
                )
            start = self.system.assemble(
                velocity=velocity,
                t=choices.get("start") or 0.0,
                parameters=choices.get("parameters"),
            )
        return self.system.simulate(self._start(start, choices), v, **choices)

    def simulate_many(self, q: Any = None, v: Any = None, **choices: Any) -> Runs:
        """Many trajectories, see `zwang.System.simulate_many`.

        Without starts, each begins from the placement, put together with its own parameters.
        """
        if q is None:
            q = self._starts(choices.get("parameters") or {}, choices.get("start") or 0.0)
        return self.system.simulate_many(q, v, **choices)

    def _starts(self, parameters: Mapping[str, Any], t: float) -> Any:
        """The assembled placement for each set of parameters; as placed where that fails.

        Such a start is refused, by its trajectory alone.
        """
        system = self.system
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
                starts.append(State(*system.placement, t))
        return starts

    def solve(self, q: Any = None, v: Any = None, t: Any = 0.0, **choices: Any) -> Solution:
        """Accelerations and reactions at a state, as placed by default."""
        return self.system.solve(self._start(q, choices), v, t, **choices)

    def terms(self, q: Any = None, v: Any = None, t: Any = 0.0, **choices: Any) -> EquationTerms:
        """M, Q, A, b, C at a state, as placed by default."""
        return self.system.terms(self._start(q, choices), v, t, **choices)

    def explain(
        self, q: Any = None, v: Any = None, t: float = 0.0, **choices: Any
    ) -> MechanismExplanation:
        """Loops, redundant equations, freedoms and contradictions, by joint and body."""
        return self.system.explain(self._start(q, choices), v, t, **choices)

    def passport(self, q: Any = None, v: Any = None, t: float = 0.0, **choices: Any) -> Passport:
        """Which reactions are determinate at a state, as placed by default."""
        return self.system.passport(self._start(q, choices), v, t, **choices)

    def splits(self, q: Any = None, v: Any = None, t: float = 0.0, **choices: Any) -> Splits:
        """Ways to share indeterminate reactions at a state; see `zwang.System.splits`."""
        return self.system.splits(self._start(q, choices), v, t, **choices)

    def degrees_of_freedom(self, q: Any = None, t: float = 0.0, **choices: Any) -> int:
        """How many independent motions the joints allow at a state, as placed by default."""
        return self.explain(q, None, t, **choices).degrees_of_freedom

    def _start(self, q: Any, choices: Mapping[str, Any]) -> Any:
        if q is not None:
            return q
        return self.system.assemble(parameters=choices.get("parameters"))

    def __repr__(self) -> str:
        where = "space" if self._kind is SPATIAL else f"the plane {self._kind.name}"
        return (
            f"<Mechanism in {where}: {len(self._bodies)} bodies, {len(self._joints)} joints, "
            f"{len(self._forces) + len(self._friction)} forces>"
        )


def _built(kind: type[Mechanism], recipe: Recipe) -> Mechanism:
    return recipe.built(kind)


def _system_of(recipe: Recipe) -> MechanismSystem:
    return recipe.built(Mechanism).system


def _has_markers(at: Any) -> bool:
    """Whether a place is given by markers, which have axes of their own."""
    places = at if isinstance(at, Sequence) and not isinstance(at, str) else [at]
    return any(isinstance(place, MarkerHandle) for place in places)


def _of_bodies(what: str, f: Callable[..., Any], centers: list[FloatArray]) -> Callable[..., Any]:
    """A user's function of bodies as a law."""
    from zwang.functions.trace import call

    def function(poses: Any, data: Any) -> Any:
        placed = [
            pose.about(center) if isinstance(pose, Pose) else pose
            for pose, center in zip(poses, centers, strict=True)
        ]
        return call(what, f, {"bodies": placed, "t": data.t, "p": data.p})

    return function
