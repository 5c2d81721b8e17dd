"""A mechanism from bodies, joints and forces: the builder, and what follows from it.

    bodies, joints, forces ─► parts (frozen) ─► system ─► solve, simulate, explain, …

A `Mechanism` collects parts and checks each as it comes. Its first use freezes a copy as a
`MechanismSystem`, a `zwang.System` like any other; adding parts afterwards makes a new copy at the
next use and leaves the old one, and its runs, alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.analysis.analyses import Analyses
from zwang.errors import InputError, UnknownNameError, ZwangError, shown
from zwang.keywords import known_keywords
from zwang.mechanism_system import MechanismSystem
from zwang.multibody.body import Body, Placement
from zwang.multibody.call_log import described
from zwang.multibody.element import Element, ElementLaw
from zwang.multibody.forces.laws import (
    bushing,
    cartesian_spring,
    spring_damper,
    torsion_spring,
)
from zwang.multibody.frozen import Parts
from zwang.multibody.geometry import GeometryParameters
from zwang.multibody.handles import BodyHandle, MarkerHandle
from zwang.multibody.inertia import number, point, vector
from zwang.multibody.joint_methods import Direction, JointBuilder, Place
from zwang.multibody.law_constants import LawConstants
from zwang.multibody.marker import Joint
from zwang.multibody.mesh import MeshFile
from zwang.multibody.mesh import mesh as mesh_of
from zwang.multibody.pickling import Recipe
from zwang.multibody.pose import GROUND, SCALAR, SPATIAL, Pose
from zwang.results.channel_catalog import ENERGIES
from zwang.state import State
from zwang.system import ONE_STORE
from zwang.tracing.own_output import outputs_of

if TYPE_CHECKING:
    from zwang.assembly.result import Assembly
    from zwang.closed_form.closed_form import ClosedForm
    from zwang.diagnosis.passport import Passport
    from zwang.diagnosis.splits import Splits
    from zwang.multibody.explanation import MechanismExplanation
    from zwang.results.run import Run
    from zwang.simulation.controllers import Controller
    from zwang.simulation.ensemble import Runs
    from zwang.simulation.progress import Report
    from zwang.solvers.solution import Solution
    from zwang.terms import EquationTerms
    from zwang.tracing.event import Watched

__all__ = ["Mechanism"]


class Mechanism(JointBuilder, Analyses):
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
    def point_on_curve(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
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
        constants = self._centers(bodies)
        center = np.zeros(3) if bodies[1] is None else bodies[1].inertia.center
        constants.add("at", second.arm + center, varies=bool(self._geometry))
        from zwang.multibody.joints.curves import curve_law

        law = curve_law(name, (kinds[0], kinds[1], SCALAR), constants, curve, self._kind.plane)
        self.coordinate(f"{name}_s", value=start)
        indices = (first.body, second.body, self._bodies[f"{name}_s"].index)
        self._constraints.append(Element(name, law, indices, constants.numbers))
        self._joints[name] = Joint(name, None, indices, first, second, layout, (name,))
        self._accept("joint", name)

    @described
    def constraint(
        self, name: str, bodies: Sequence[BodyHandle | str], f: Callable[..., Any]
    ) -> None:
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
        centers = self._centers(own)
        law = ElementLaw(
            ("own", name),
            "constraint",
            tuple(b.kind for b in own),
            centers.shapes,
            "detect",
            _of_bodies(what, f, centers),
        )
        indices = tuple(b.index for b in own)
        self._constraints.append(Element(name, law, indices, centers.numbers))
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
            a body; ``"ball.orientation"`` of the second body of a spherical joint against the
            first, of their markers.
        value : a number, or a function of (t, p), or of t alone.
        at : for a position, the point of the body in its own axes.
        """
        from zwang.multibody.joints.drivers import driver_law

        self._new_name("driver", name)
        if not isinstance(what, str):
            raise InputError(
                f"coordinate of driver {name!r}",
                found=shown(what),
                expected="a name such as 'pin.angle' or 'crank.position'",
            )
        owner, _, quantity = what.partition(".")
        constants = LawConstants()
        if "value" in self._varying:
            constants.add("value", value, varies=True)
        if owner in self._joints and self._joints[owner].kind is not None:
            joint = self._joints[owner]
            assert joint.kind is not None
            relative = quantity == "orientation" and not joint.kind.coordinates
            if quantity not in joint.kind.coordinates and not relative:
                known = [f"{owner}.{c}" for c in joint.kind.coordinates or ("orientation",)]
                raise UnknownNameError(f"coordinate of driver {name!r}", what, known)
            element = self._element_of(joint)
            law = driver_law(name, joint, element.law.kinds, quantity, value, constants)
            own = {**element.numbers, **constants.numbers}
            numbers = {k: own[k] for k in law.shapes}
            self._constraints.append(Element(name, law, joint.bodies, numbers))
            self._joints[name] = Joint(
                name,
                None,
                joint.bodies,
                joint.a,
                joint.b,
                joint.layout,
                (name,),
                drives="" if relative else what,
            )
        elif owner in self._bodies and quantity in ("position", "orientation"):
            body = self._bodies[owner]
            local = np.zeros(3) if at is None else vector("at", self.in_space(at))
            varies = "at" in self._varying or body.parametric
            constants.add("arm", local - body.inertia.center, varies=varies)
            law = driver_law(name, None, (body.kind,), quantity, value, constants)
            self._constraints.append(Element(name, law, (body.index,), constants.numbers))
            self._joints[name] = Joint(name, None, (body.index,), None, None, None, (name,))
        else:
            known = [
                f"{j.name}.{c}" for j in self._joints.values() if j.kind for c in j.kind.coordinates
            ]
            known += [f"{b}.position" for b in self._bodies]
            raise UnknownNameError(f"coordinate of driver {name!r}", what, known)
        self._accept("driver", name)

    @described
    def couple(self, name: str, first: str, second: str, ratio: float) -> None:
        """Tie the rates of two joint coordinates: the first is `ratio` times the second."""
        from zwang.multibody.joints.drivers import coupler_law

        self._new_name("coupler", name)
        joints = []
        for what in (first, second):
            owner, _, quantity = what.partition(".")
            joint = self._joints.get(owner)
            if joint is None or joint.kind is None or quantity not in joint.kind.coordinates:
                known = self.joint_coordinate_names()
                raise UnknownNameError(f"coordinate of coupler {name!r}", what, known)
            joints.append((joint, self._element_of(joint), quantity))
        law, numbers = coupler_law(name, joints, ratio)
        bodies = joints[0][0].bodies + joints[1][0].bodies
        self._constraints.append(Element(name, law, bodies, numbers))
        self._joints[name] = Joint(name, None, bodies, None, None, None, (name,), couples=first)
        self._accept("coupler", name)

    # --- forces -----------------------------------------------------------------------------------

    @described
    def spring_damper(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place,
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
        given = None if length is None else number(f"length of {what}", length)
        placed = self._length(what, a, b, at)
        free = placed if given is None else given
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
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place = (0.0, 0.0, 0.0),
        axis: Direction | None = None,
        stiffness: float = 0.0,
        damping: float = 0.0,
        angle: float = 0.0,
        moment: Callable[..., Any] | None = None,
    ) -> None:
        """A spring and damper that turn about an axis; `angle` is the rest angle from placement.

        A law of your own adds a moment f(twist, rate, t, p) against the turn.
        """
        axis = self._normal_axis(axis)
        if axis is None:
            raise InputError(
                f"torsion_spring {name!r}",
                must="have an axis: axis=, a direction in the world or 'x', 'y', 'z'",
            )
        self._between(
            "torsion_spring",
            name,
            a,
            b,
            torsion_spring(f"torsion_spring {name!r}", moment),
            {"stiffness": stiffness, "damping": damping, "angle": angle},
            own=moment,
            at=at,
            axis=axis,
        )

    @described
    def bushing(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place,
        axis: Direction | None = None,
        reference: Direction | None = None,
        stiffness: Any = (0.0, 0.0, 0.0),
        damping: Any = (0.0, 0.0, 0.0),
        turn_stiffness: Any = (0.0, 0.0, 0.0),
        turn_damping: Any = (0.0, 0.0, 0.0),
    ) -> None:
        """An elastic bed along and about three axes. Turns are small.

        Parameters
        ----------
        at : its point in the world as placed, or a pair of points or markers.
        axis : its z axis, in the world as placed; that of the world by default.
        reference : its x axis as far as that can be, where stiffness across z differs.
        stiffness, damping : along x, y and z [N/m, N s/m].
        turn_stiffness, turn_damping : about x, y and z [N m/rad, N m s/rad].
        """
        if reference is not None and axis is None:
            raise InputError(
                f"bushing {name!r}", must="have axis=, its z axis, in addition to reference="
            )
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
            **({} if axis is None else {"axis": axis, "reference": reference}),
        )

    @described
    def cartesian_spring(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place,
        stiffness: Any = 0.0,
        damping: Any = 0.0,
        offset: Any = (0.0, 0.0, 0.0),
    ) -> None:
        """A spring and damper between two points along the axes of the world.

        Parameters
        ----------
        at : a point or a pair of points or markers, one for each body; the points may coincide.
        stiffness, damping : along x, y, z of the world [N/m, N s/m], or one number for all.
        offset : from the point of a to that of b without force [m]; zero for a spring of zero
            length.
        """
        what = f"cartesian_spring {name!r}"
        numbers = {
            key: vector(f"{key} of {what}", np.full(3, value) if np.ndim(value) == 0 else value)
            for key, value in (("stiffness", stiffness), ("damping", damping))
        }
        numbers["offset"] = vector(f"offset of {what}", self.in_space(offset))
        self._between("cartesian_spring", name, a, b, cartesian_spring, numbers, own=None, at=at)

    @described
    def actuator(self, name: str, of: str, effort: Any) -> None:
        """A motor or cylinder at a joint: an effort along its coordinate, by a law of the state.

        Parameters
        ----------
        of : the joint coordinate, ``"pin.angle"`` or ``"slide.displacement"``.
        effort : torque [N m] or force [N], positive along the coordinate: a number, or a function
            of (c, t, p), or of some of these by name, with coordinates and rates of joints as
            ``c["pin.angle"]`` and ``c["pin.angle_rate"]``; angles are within half a turn.

        Examples
        --------
        A controller that holds a rod level:

        >>> import zwang as zw
        >>> m = zw.Mechanism(gravity=(0, 0, -9.81))
        >>> rod = m.body("rod", inertia=zw.inertia.rod(mass=1.0, length=1.0), position=(0.5, 0, 0))
        >>> m.revolute("pin", m.ground, rod, at=(0, 0, 0), axis="y")
        >>> m.actuator(
        ...     "motor",
        ...     "pin.angle",
        ...     lambda c: -80.0 * c["pin.angle"] - 10.0 * c["pin.angle_rate"],
        ... )
        >>> round(float(m.simulate(until=10.0)["motor.torque"][-1]), 4)
        -4.8958
        """
        from zwang.multibody.forces.actuators import actuator_element, names_read

        self._new_name("force", name)
        what = f"actuator {name!r}"
        known = {f"{c}{end}": c for c in self.joint_coordinate_names() for end in ("", "_rate")}
        if of not in self.joint_coordinate_names():
            raise UnknownNameError(f"coordinate of {what}", of, self.joint_coordinate_names())
        if not callable(effort):
            effort = number(f"effort of {what}", effort)
        names = names_read(what, effort, known, self._parameters)
        reads = {read: self._joint_coordinate(known[read]) for read in names}
        self._forces.append(actuator_element(name, self._joint_coordinate(of), reads, effort))
        self._accept("force", name)

    def _joint_coordinate(self, name: str) -> tuple[Joint, Element, str]:
        """Joint, its element and the coordinate of a name."""
        owner, _, coordinate = name.partition(".")
        joint = self._joints[owner]
        return joint, self._element_of(joint), coordinate

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
            raise InputError(what, must="have a force, a torque or both", but="has neither")
        (own,) = self._bodies_of(what, [body])
        if own.kind is SCALAR:
            raise InputError(
                what,
                must="act on a body",
                but=f"{own.name!r} is a coordinate",
                advice="m.user_force acts on coordinates.",
            )
        local = vector(f"point of {what}", self.in_space(at))
        if force is not None and not callable(force):
            self._require_within(what, vector(what, self.in_space(force)))
        from zwang.multibody.forces.applied import applied_law

        constants = self._centers([own])
        constants.add("at", local, varies="at" in self._varying)
        for key, given in (("force", force), ("torque", torque)):
            if key in self._varying:
                constants.add(key, given, varies=True)
        law = applied_law(name, own, force, torque, constants, turning=axes == "body")
        self._forces.append(Element(name, law, (own.index,), constants.numbers))
        self._accept("force", name)

    @described
    def user_force(
        self, name: str, bodies: Sequence[BodyHandle | str], f: Callable[..., Any]
    ) -> None:
        """Forces of your own on several bodies.

        `f` is a function of (bodies, t, p), or of some of these by name, and returns for each body
        a pair (force, moment about its centre of mass) in world axes, or one number for a further
        coordinate.
        """
        self._new_name("force", name)
        own = self._bodies_of(f"force {name!r}", bodies)
        from zwang.multibody.forces.applied import user_law

        centers = self._centers(own)
        law = user_law(name, own, f, centers)
        indices = tuple(b.index for b in own)
        self._forces.append(Element(name, law, indices, centers.numbers))
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
        effort: Callable[..., Any] | None = None,
    ) -> None:
        """Friction in a joint that depends on its reaction: a non-ideal constraint.

        The four numbers describe Coulomb's and viscous friction; `effort` is any other law.

        Parameters
        ----------
        joint : name of a revolute, prismatic or cylindrical joint.
        coefficient : Coulomb's, of the force across the axis.
        radius : of the bearing [m]; needed where the joint turns and `coefficient` is not zero.
        viscous : moment per rad/s, or force per m/s.
        velocity : over which the sign of the sliding velocity is smoothed [rad/s or m/s].
        effort : in place of these, of a revolute or prismatic joint: torque or force along its
            coordinate, as for `actuator`, a function of (pressure, rate, t, p) or of some of these
            by name, with `pressure` the force across the axis [N] and `rate` that of the joint.
        """
        from zwang.multibody.forces.friction import friction_by_law, friction_element

        if joint not in self._joints:
            raise UnknownNameError("joint with friction", joint, self._joints)
        if f"{joint}_friction" in self._names:
            raise InputError(
                f"friction in {joint!r}", must="be given once", but="the joint has friction already"
            )
        numbers = {
            "coefficient": coefficient,
            "radius": radius,
            "viscous": viscous,
            "velocity": velocity,
        }
        made = self._joints[joint], self._element_of(self._joints[joint])
        if effort is None:
            self._friction.append(friction_element(*made, numbers))
        else:
            self._friction.append(friction_by_law(*made, effort, numbers))
        self._accept("friction", f"{joint}_friction")

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
        if name in ENERGIES:
            raise InputError(
                f"output {name!r}", must="have a name of its own", but="a channel has the same name"
            )
        told = description or "output"
        self._outputs |= outputs_of({name: function})
        self._outputs[name] = replace(self._outputs[name], unit=unit, description=told)
        self._accept("output", name)

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
            dict(self._outputs),
            {
                c.arguments["name"]: c.arguments["of"]
                for c in self.description
                if c.method == "actuator"
            },
            GeometryParameters(tuple(self._geometry), self._recipe, _parts_of)
            if self._geometry
            else None,
        )

    @property
    def system(self) -> MechanismSystem:
        """The frozen copy as a system, with everything a `zwang.System` can do."""
        if self._system is None:
            self._system = MechanismSystem(self.parts)
            self._system.made_by = _system_of, (self._recipe,)
        return self._system

    _system: MechanismSystem | None = None

    def _analyzed(self) -> MechanismSystem:
        return self.system

    def _changed(self) -> None:
        self._system = None

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

    def _put_together(
        self, velocity: Any, t: Any, parameters: Mapping[str, Any] | None
    ) -> Assembly:
        """The placement put together, which is remembered for its time and parameters."""
        system = self.system
        if velocity is not None or not isinstance(t, int | float):
            return system.assemble(velocity=velocity, t=t, parameters=parameters)
        return system.assembled_placement(float(t), parameters)

    @property
    def _recipe(self) -> Recipe:
        plane = None if self._kind is SPATIAL else self._kind.name
        given = {"gravity": self._gravity, "parameters": self._parameters.copy(), "plane": plane}
        return Recipe(given, tuple(self.description))

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: how it was built; what was compiled is not part of it."""
        return _built, (type(self), self._recipe)

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
        """A consistent start near the placement; see `MechanismSystem.assemble`.

        Parameters
        ----------
        hold : joint coordinate (``pin.angle``), coordinate of a body (``crank.x``) or a body
            (``{"crank": True}``, as placed) → value, met exactly.
        prefer : the same, approached first and then let go; chooses between ways of assembling.
        velocity : ``{"hold": {…}, "prefer": {…}}`` of joint rates (``pin.angle_rate``) and of
            velocities (``crank.omega2``); or ``"exact"``, which refuses velocities of bodies that
            a joint or a driver does not allow.
        t : time [s].
        parameters : values that replace defaults.
        start : where the search begins in place of the placement: a state or an array.
        """
        return self.system.assemble(
            hold, prefer, velocity=velocity, t=t, parameters=parameters, start=start
        )

    # --- motions ----------------------------------------------------------------------------------

    @known_keywords()
    def simulate(
        self,
        q: Any = None,
        v: Any = None,
        *,
        until: float,
        start: float | None = None,
        tolerance: float = 1e-9,
        integrator: str = "auto",
        drift: str = "projection",
        baumgarte: float = 20.0,
        step: float = 0.0,
        largest_step: float = float("inf"),
        spectral_radius: float = 0.8,
        formulation: str = "auto",
        on_singular: str = "continue",
        coordinates: str = "auto",
        save: Any = None,
        scales: Mapping[str, float] | None = None,
        parameters: Mapping[str, Any] | None = None,
        events: Mapping[str, Watched] | None = None,
        controllers: Mapping[str, Controller] | None = None,
        inactive: Iterable[str] | str | None = (),
        store: str | PathLike[str] | None = None,
        store_every: float = 1.0,
        progress: bool | Report | None = None,
        certify: bool | float = False,
        forces: bool = False,
        velocity: Mapping[str, Mapping[str, float]] | str | None = None,
    ) -> Run:
        """Integrate from the placement, or from a start; see `zwang.System.simulate`.

        Parameters
        ----------
        q, v : start, or one state (a `State`, an `Assembly`) in place of both; the placement, put
            together by `assemble`, if not given.
        until : end of the simulation [s].
        start : time of the start [s], unless the state knows it.
        tolerance : local error of a step, relative to the state and to `scales`.
        integrator : ``"auto"``, which begins with ``"gauss"``, collocation of order 16, and changes
            to ``"order8"``, explicit, or ``"radau5"``, implicit, where these need less work; one
            of these by name, or ``"order5"``, all with error control; or with a fixed step
            ``"generalized_alpha"``, for stiff systems whose fast vibrations are to be damped away,
            and ``"rattle"``, symmetric, for very long runs.
        drift : ``"projection"``, ``"baumgarte"`` or ``"none"``: how constraints are kept.
        baumgarte : rate of Baumgarte's method [1/s].
        step : a fixed step [s] in place of error control, needed by those that have none.
        largest_step : a limit of the step [s].
        spectral_radius : ρ of generalized-α, what is left of the fastest vibrations after a step,
            from 0 to 1.
        formulation : ``"auto"`` for the compiled equations of motion, or a name in
            `zwang.FORMULATIONS` to compute accelerations by it, in Python and slower.
        on_singular : ``"continue"`` to go on, on the same branch, where constraints lose rank, or
            ``"stop"``; ``run.ranks`` lists such positions, if drift is removed by projection.
        coordinates : what a mechanism is integrated in: ``"auto"``, ``"absolute"`` for those of its
            bodies, ``"planar"``, ``"joint"``; the run is in those of its bodies in all cases.
        save : None or ``"steps"`` for every accepted step (``"dense"`` says the same: from these
            `Run.at` gives the state at any time), an interval [s] from the start on, or the times.
        scales : name → size below which the error of a coordinate or velocity counts as absolute.
        parameters : name → value in place of the default; nothing is recompiled.
        events : name → `zwang.event`; a bare function, or the name of a quantity, is watched for
            zero and recorded.
        controllers : name → `zwang.controller`: Python functions that are called at sampling times
            and set parameters, which are held until the next sample.
        inactive : constraints that do not act at the start, to be switched on by events.
        store : path of a new folder to write the run to while it is made, see `zwang.resume`.
        store_every : seconds between commits to the store.
        progress : a function that is given a `zwang.simulation.progress.Progress` about ten times a
            second; True for a bar, False for none, None for one in terminals and notebooks after a
            second.
        certify : True to solve a sample of saved states by every formulation at the end, a number
            for states as many seconds apart; ``run.certificate`` holds the worst.
        forces : True to compute multipliers, constraint forces, reactions of joints and energies at
            the saved states while the run is made, and to keep and store them with it; otherwise
            each is computed when it is first asked for.
        velocity : that of `assemble`, where the placement is put together: ``"exact"`` refuses
            velocities of bodies that a joint does not allow, which are changed by an impulse
            otherwise.
        """
        if hasattr(start, "q"):
            raise InputError(
                "start",
                found="a state",
                expected="a time [s]",
                advice="The state comes first: m.simulate(state, …), or q=state.",
            )
        if velocity is not None and q is not None:
            raise InputError(
                "velocity",
                must="be omitted where an initial state is given",
                advice="Give it to assemble, which computes the initial state.",
            )
        if q is None:
            at = 0.0 if start is None else start
            q = self._put_together(velocity, at, parameters)
        from zwang.simulation.simulation import simulate

        return simulate(
            self.system,
            q,
            v,
            until=until,
            start=start,
            tolerance=tolerance,
            integrator=integrator,
            drift=drift,
            baumgarte=baumgarte,
            step=step,
            largest_step=largest_step,
            spectral_radius=spectral_radius,
            formulation=formulation,
            on_singular=on_singular,
            coordinates=coordinates,
            save=save,
            scales=scales,
            parameters=parameters,
            events=events,
            controllers=controllers,
            inactive=inactive,
            store=store,
            store_every=store_every,
            progress=progress,
            certify=certify,
            forces=forces,
        )

    @known_keywords(refused=ONE_STORE)
    def simulate_many(
        self,
        q: Any = None,
        v: Any = None,
        *,
        until: float,
        start: float | None = None,
        tolerance: float = 1e-9,
        integrator: str = "auto",
        drift: str = "projection",
        baumgarte: float = 20.0,
        step: float = 0.0,
        largest_step: float = float("inf"),
        spectral_radius: float = 0.8,
        formulation: str = "auto",
        on_singular: str = "continue",
        coordinates: str = "auto",
        save: Any = None,
        scales: Mapping[str, float] | None = None,
        parameters: Mapping[str, Any] | None = None,
        events: Mapping[str, Watched] | None = None,
        inactive: Iterable[str] | str | None = (),
        threads: int | None = None,
        progress: bool | Report | None = None,
        certify: bool | float = False,
        forces: bool = False,
    ) -> Runs:
        """Many trajectories, see `zwang.System.simulate_many`.

        Parameters
        ----------
        q, v : starts, shapes (N, nq) and (N, nv), or a list of states; one start, (nq,) and (nv,),
            serves all. Without starts, each begins from the placement, put together with its own
            parameters.
        until : end of the simulations [s].
        start : time of all starts [s], unless the states know it.
        tolerance : local error of a step, relative to the state and to `scales`.
        integrator : ``"auto"``, which is ``"order8"`` here, explicit, trajectories side by side,
            with ``"radau5"``, implicit, for those that turn out stiff; one of these, ``"gauss"``
            or ``"order5"`` by name, all with error control; or with a fixed step
            ``"generalized_alpha"``, for stiff systems whose fast vibrations are to be damped away,
            and ``"rattle"``, symmetric, for very long runs.
        drift : ``"projection"``, ``"baumgarte"`` or ``"none"``: how constraints are kept.
        baumgarte : rate of Baumgarte's method [1/s].
        step : a fixed step [s] in place of error control, needed by those that have none.
        largest_step : a limit of the step [s].
        spectral_radius : ρ of generalized-α, what is left of the fastest vibrations after a step,
            from 0 to 1.
        formulation : ``"auto"`` for the compiled equations of motion, or a name in
            `zwang.FORMULATIONS` to compute accelerations by it, in Python and slower.
        on_singular : ``"continue"`` to go on, on the same branch, where constraints lose rank, or
            ``"stop"``; ``run.ranks`` lists such positions, if drift is removed by projection.
        coordinates : what a mechanism is integrated in: ``"auto"``, ``"absolute"`` for those of its
            bodies, ``"planar"``, ``"joint"``; the run is in those of its bodies in all cases.
        save : None or ``"steps"`` for every accepted step (``"dense"`` says the same: from these
            `Run.at` gives the state at any time), an interval [s] from the start on, or the times.
        scales : name → size below which the error of a coordinate or velocity counts as absolute.
        parameters : name → values, shape (N, …), or one value for all.
        events : name → `zwang.event`; a bare function, or the name of a quantity, is watched for
            zero and recorded.
        inactive : constraints that do not act at the start, to be switched on by events.
        threads : how many run at once; one for each processor if not given.
        progress : as in `simulate`, with a `zwang.simulation.progress.EnsembleProgress`.
        certify : as in `simulate`, for each run.
        forces : as in `simulate`, for each run.
        """
        if q is None:
            q = self._starts(parameters or {}, 0.0 if start is None else start)
        return self.system.simulate_many(
            q,
            v,
            until=until,
            start=start,
            tolerance=tolerance,
            integrator=integrator,
            drift=drift,
            baumgarte=baumgarte,
            step=step,
            largest_step=largest_step,
            spectral_radius=spectral_radius,
            formulation=formulation,
            on_singular=on_singular,
            coordinates=coordinates,
            save=save,
            scales=scales,
            parameters=parameters,
            events=events,
            inactive=inactive,
            threads=threads,
            progress=progress,
            certify=certify,
            forces=forces,
        )

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
                starts.append(State(*system.of_bodies.placement, t))
        return starts

    def solve(
        self,
        q: Any = None,
        v: Any = None,
        t: Any = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
        formulation: str = "auto",
        family: bool = False,
    ) -> Solution:
        """Accelerations and reactions at a state, as placed by default; see `zwang.System.solve`.

        Parameters
        ----------
        q, v, t : the state, or a state in place of all three.
        parameters : values that replace defaults.
        formulation : ``"auto"`` or one of `MechanismSystem.formulations`.
        family : where accelerations are not unique, return all of them instead of refusing.
        """
        return self.system.solve(
            self._start(q, t, parameters),
            v,
            t,
            parameters=parameters,
            formulation=formulation,
            family=family,
        )

    def terms(
        self,
        q: Any = None,
        v: Any = None,
        t: Any = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> EquationTerms:
        """M, Q, A, b, C at a state, as placed by default."""
        return self.system.terms(self._start(q, t, parameters), v, t, parameters=parameters)

    def explain(
        self,
        q: Any = None,
        v: Any = None,
        t: float = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> MechanismExplanation:
        """Loops, redundant equations, freedoms and contradictions, by joint and body."""
        return self.system.explain(self._start(q, t, parameters), v, t, parameters=parameters)

    def passport(
        self,
        q: Any = None,
        v: Any = None,
        t: float = 0.0,
        *,
        groups: Mapping[str, Iterable[int | str] | str] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Passport:
        """Which reactions are determinate at a state, as placed by default.

        The groups are joints and constraints, or yours: ``{"both": ["left", "right"]}`` asks for
        what two joints exert together.
        """
        state = self._start(q, t, parameters)
        return self.system.passport(state, v, t, groups=groups, parameters=parameters)

    def splits(
        self,
        q: Any = None,
        v: Any = None,
        t: float = 0.0,
        *,
        weights: ArrayLike | None = None,
        compliance: ArrayLike | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Splits:
        """Ways to share indeterminate reactions at a state; see `zwang.System.splits`."""
        return self.system.splits(
            self._start(q, t, parameters),
            v,
            t,
            weights=weights,
            compliance=compliance,
            parameters=parameters,
        )

    def degrees_of_freedom(
        self,
        q: Any = None,
        t: float = 0.0,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> int:
        """How many independent motions the joints allow at a state, as placed by default."""
        return self.explain(q, None, t, parameters=parameters).degrees_of_freedom

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
        and the parameters of the mechanism; dimensions are numbers. Joints that close loops stay
        constraints. ``m.system.derive()`` has the coordinates of the bodies instead.

        Parameters
        ----------
        simplify, solve, use_constraints, limit, seconds, progress : as of `System.derive`.
        parameters : letter → number or SymPy expression to put in its place.

        Raises
        ------
        NotApplicableError : the mechanism has friction that depends on reactions, is too large, or
            an expression outgrows the limit, or the time is over.
        """
        from zwang.closed_form.closed_form import derive
        from zwang.coordinates.joint.closed_form import projected
        from zwang.simulation.progress import reporting

        mechanism = projected(self.system.equations, self.parts)
        with reporting(progress=progress) as report:
            return derive(
                mechanism,
                mechanism.model,
                simplify=simplify,
                solve=solve,
                use_constraints=use_constraints,
                parameters=parameters,
                limit=limit,
                seconds=seconds,
                report=report,
            )

    def _start(self, q: Any, t: Any, parameters: Mapping[str, Any] | None) -> Any:
        """A state as it was given, or the placement at a time."""
        return self.system.assemble(t=t, parameters=parameters) if q is None else q

    def __repr__(self) -> str:
        where = "space" if self._kind is SPATIAL else f"the plane {self._kind.name}"
        return (
            f"<Mechanism in {where}: {len(self._bodies)} bodies, {len(self._joints)} joints, "
            f"{len(self._forces) + len(self._friction)} forces>"
        )

    def _repr_html_(self) -> str:
        from zwang.multibody.tables import mechanism_html

        return mechanism_html(
            repr(self).strip("<>"), tuple(self._bodies.values()), self._joints.values()
        )


def _built(kind: type[Mechanism], recipe: Recipe) -> Mechanism:
    return recipe.built(kind)


def _parts_of(recipe: Recipe) -> Parts:
    return recipe.built(Mechanism).parts


def _system_of(recipe: Recipe) -> MechanismSystem:
    return recipe.built(Mechanism).system


def _of_bodies(what: str, f: Callable[..., Any], centers: LawConstants) -> Callable[..., Any]:
    """A user's function of bodies as a law."""
    from zwang.tracing.trace import call

    def function(poses: Any, data: Any) -> Any:
        placed = [
            pose.about(centers.get(f"center_{k}", data)) if isinstance(pose, Pose) else pose
            for k, pose in enumerate(poses)
        ]
        return call(what, f, {"bodies": placed, "t": data.t, "p": data.p})

    return function
