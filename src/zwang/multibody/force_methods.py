"""Forces of a mechanism: springs, dampers, bushings, actuators, applied loads, friction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from zwang.arguments.values import number, vector
from zwang.diagnosis.wording import listing
from zwang.errors import InputError, UnknownNameError
from zwang.multibody.builder import MechanismBuilder
from zwang.multibody.call_log import described
from zwang.multibody.element import Element, ElementLaw
from zwang.multibody.forces.laws import (
    Applied,
    between,
    bushing,
    cartesian_spring,
    spring_damper,
    torsion_spring,
)
from zwang.multibody.handles import BodyHandle
from zwang.multibody.joint_methods import Direction, Place
from zwang.multibody.marker import Joint
from zwang.multibody.pose import GROUND, SCALAR

__all__ = ["ForceBuilder"]


class ForceBuilder(MechanismBuilder):
    """What acts on bodies: see `zwang.Mechanism`."""

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
        numbers["offset"] = self._vector(f"offset of {what}", offset)
        self._between("cartesian_spring", name, a, b, cartesian_spring, numbers, own=None, at=at)

    @described
    def actuator(self, name: str, of: str, effort: Any) -> None:
        """A motor or cylinder at a joint: an effort along its coordinate, by a law of the state.

        Parameters
        ----------
        of : the joint coordinate, ``"pin.angle"`` or ``"slide.displacement"``.
        effort : torque [N m] or force [N], positive along the coordinate: a number, or a function
            of (c, t, p), or of some of these by name, with coordinates and rates of joints as
            ``c["pin.angle"]`` and ``c["pin.angle_rate"]``; angles are within half a turn, and a run
            in which one passes it where the effort jumps has a note.

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
        from zwang.multibody.forces.actuators import actuator_element, law_read

        self._new_name("force", name)
        what = f"actuator {name!r}"
        known = {f"{c}{end}": c for c in self.joint_coordinate_names() for end in ("", "_rate")}
        if of not in self.joint_coordinate_names():
            raise UnknownNameError(f"coordinate of {what}", of, self.joint_coordinate_names())
        if not callable(effort):
            effort = number(f"effort of {what}", effort)
        law = law_read(name, effort, known, self._parameters)
        names = () if law is None else law.reads
        reads = {read: self._joint_coordinate(known[read]) for read in names}
        self._forces.append(actuator_element(name, self._joint_coordinate(of), reads, effort))
        if law is not None:
            self._effort_laws[name] = law
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
        local = self._vector(f"point of {what}", at)
        if force is not None and not callable(force):
            self._require_within(what, self._vector(what, force))
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
        coefficient: float | None = None,
        radius: float | None = None,
        viscous: float | None = None,
        velocity: float = 1e-3,
        effort: Callable[..., Any] | None = None,
    ) -> None:
        """Friction in a joint that depends on its reaction: a non-ideal constraint.

        The four numbers describe Coulomb's and viscous friction; `effort` is any other law.

        Parameters
        ----------
        joint : name of a revolute, prismatic or cylindrical joint.
        coefficient : Coulomb's, of the force across the axis. Without it friction is viscous alone
            and follows from the state, whatever the reaction.
        radius : of the bearing [m]; needed where the joint turns and `coefficient` is not zero.
        viscous : moment per rad/s, or force per m/s; none beside a `coefficient` by default.
        velocity : over which the sign of the sliding velocity is smoothed [rad/s or m/s].
        effort : in place of these, of a revolute or prismatic joint: torque or force along its
            coordinate, as for `actuator`, a function of (pressure, rate, t, p) or of some of these
            by name, with `pressure` the force across the axis [N] and `rate` that of the joint.
        """
        from zwang.multibody.forces.friction import friction_by_law, friction_element, kinds_for

        if joint not in self._joints:
            raise self._no_friction_in(joint, kinds_for(effort))
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

    def _no_friction_in(self, name: str, kinds: tuple[str, ...]) -> InputError:
        """The error for what is no joint: with those that can have friction, of a body its own."""
        joints = [j for j in self._joints.values() if j.kind is not None and j.kind.name in kinds]
        if name not in self._bodies:
            return UnknownNameError("joint with friction", name, [j.name for j in joints])
        body = self._bodies[name].index
        own = [j.name for j in joints if body in j.bodies]
        which = f", {listing(own, 'or')}" if own else f" that is {listing(kinds, 'or')}"
        return InputError(
            f"friction in {name!r}", must=f"be in a joint of this body{which}", but="it is the body"
        )

    def _between(
        self,
        kind: str,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        law: Applied,
        values: Mapping[str, Any],
        *,
        own: Callable[..., Any] | None,
        **where: Any,
    ) -> None:
        """Add a force element between two markers."""
        self._new_name("force", name)
        what = f"{kind} {name!r}"
        self._require_pair(what, a, b)
        checked = {
            key: value
            if isinstance(value, np.ndarray)
            else np.asarray(number(f"{key} of {what}", value))
            for key, value in values.items()
        }
        ma, mb, layout = self._markers(
            what,
            a,
            b,
            where.get("at", (0.0, 0.0, 0.0)),
            axis=where.get("axis"),
            reference=where.get("reference"),
        )
        kinds = tuple(GROUND if m.body < 0 else self._kind for m in (ma, mb))
        numbers = {**layout.numbers(ma, mb), **checked}

        def function(poses: Any, data: Any) -> Any:
            frames = [
                layout.frame(pose, data, side) for pose, side in zip(poses, "ab", strict=True)
            ]
            return between(kinds, frames[0], frames[1], law, data)

        key = (kind, kinds, layout, *(() if own is None else (name,)))
        shapes = {k: np.shape(x) for k, x in numbers.items()}
        self._forces.append(
            Element(
                name,
                ElementLaw(key, kind, kinds, shapes, "force", function),
                (ma.body, mb.body),
                numbers,
            )
        )
        self._accept("force", name)
