"""Joints of a mechanism: one method for each kind, which shows all that the kind takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from zwang.arguments.keywords import known_keywords
from zwang.errors import InputError, UnknownNameError
from zwang.multibody.builder import (
    STANDARD,
    TOOTHED,
    MechanismBuilder,
    checked_numbers,
    is_pair,
)
from zwang.multibody.call_log import described
from zwang.multibody.element import Element
from zwang.multibody.handles import BodyHandle, MarkerHandle
from zwang.multibody.joints import KINDS
from zwang.multibody.joints.couplings import OBLIQUE_UNIVERSAL
from zwang.multibody.marker import FrameLayout, Joint, Marker
from zwang.multibody.pose import GROUND

__all__ = ["NUMBERS", "Direction", "JointBuilder", "Place"]

#: Where a joint is: a point of the world as placed, a marker, or a pair of these.
Place: TypeAlias = ArrayLike | MarkerHandle | Sequence[ArrayLike | MarkerHandle]

#: A direction in the world as placed: three numbers (two in a plane), or "x", "y", "z", "-x", ….
Direction: TypeAlias = ArrayLike

#: Numbers that some kinds of joints take.
NUMBERS = ("length", "pitch", "radius", "radius_a", "radius_b", "arm_angle", "pressure_angle")

#: Kinds of rods between two points, as long as they are placed unless a length is given.
LINKS = ("spherical_link", "revolute_spherical_link")

#: The default pressure angle: 20° if the wheels mesh, and rates alone if not.
AUTO = "auto"

P = ParamSpec("P")
R = TypeVar("R")


def _about(kind: str) -> Callable[[tuple[Any, ...], Mapping[str, Any]], str]:
    def about(args: tuple[Any, ...], given: Mapping[str, Any]) -> str:
        name = args[1] if len(args) > 1 else given.get("name")
        return f"{kind} joint {name!r}"

    return about


def _joint(method: Callable[P, R]) -> Callable[P, R]:
    """Let the method of a kind of joint refuse what the kind does not take, by the joint's name."""
    return known_keywords(about=_about(method.__name__))(method)


class JointBuilder(MechanismBuilder):
    """What joins bodies: see `zwang.Mechanism`."""

    @described
    def joint(
        self,
        kind: str,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
        length: float | Callable[..., Any] | None = None,
        pitch: float | None = None,
        radius: float | None = None,
        radius_a: float | None = None,
        radius_b: float | None = None,
        arm_angle: float | None = None,
        pressure_angle: float | Literal["auto"] | None = AUTO,
    ) -> None:
        """Join two bodies by a joint of a kind.

        Parameters
        ----------
        kind : one of the names in `zwang.multibody.joints.KINDS`; each is also a method, which
            shows the numbers that it takes.
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : the joint's point in the world, as placed; or a pair of points or markers, one for
            each body: points are in the world, markers in their body. The origin by default.
        axis : the joint's axis, in the world as placed; of the first body if `axis_b` is given.
        axis_b : the axis in the second body where it differs, in the world.
        reference : direction of the markers' x axes, from which angles count.
        length : of a link [m].
        pitch : of a screw, its advance per revolution [m].
        radius : of a pinion, a ball or a disk [m].
        radius_a, radius_b : of the wheels of a gear [m], negative for a ring gear.
        arm_angle : between the arms of the cross of a universal joint [rad], see `universal`.
        pressure_angle : of teeth [rad], see `gear`.
        """
        if kind not in KINDS:
            raise UnknownNameError("kind of joint", kind, KINDS)
        oblique = kind == "universal" and arm_angle is not None
        found = OBLIQUE_UNIVERSAL if oblique else KINDS[kind]
        what = f"{found.name} joint {name!r}"
        self._new_name("joint", name)
        self._require_pair(what, a, b)
        sizes = {"length": length, "pitch": pitch, "radius": radius}
        sizes |= {"radius_a": radius_a, "radius_b": radius_b, "arm_angle": arm_angle}
        numbers = {key: value for key, value in sizes.items() if value is not None}
        toothed, automatic = None, isinstance(pressure_angle, str) and pressure_angle == AUTO
        if kind in TOOTHED:
            angle = STANDARD if automatic else pressure_angle
            toothed = self._toothed_pair(what, a, b, at, angle, given=not automatic)
        elif not automatic:
            numbers["pressure_angle"] = pressure_angle
        if kind in LINKS:
            placed = self._length(what, a, b, at)
            numbers.setdefault("length", placed)
        if kind == "spherical_link" and callable(length):
            checked_numbers(what, found.numbers, {**numbers, "length": 1.0})
            self._driven_link(what, name, a, b, at, length, (axis, axis_b, reference))
            return
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
        if oblique:
            markers = self._with_oblique_arm(markers, at, values["arm_angle"])
        self._add_joint(name, found, *markers, values)

    def _with_oblique_arm(
        self, markers: tuple[Marker, Marker, FrameLayout], at: Any, angle: Any
    ) -> tuple[Marker, Marker, FrameLayout]:
        """Rotate the second fork about its shaft, so that the arms meet at the angle as placed."""
        first, second, layout = markers
        where = at if isinstance(at, MarkerHandle) else at[1] if is_pair(at) else None
        if isinstance(where, MarkerHandle) and where.axes is not None:
            return markers  # the arm is y of the marker that was given
        s, c = -np.cos(angle), np.sin(angle)  # of angle − π/2
        about_z = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        return first, replace(second, axes=second.axes @ about_z), layout

    def _driven_link(
        self,
        what: str,
        name: str,
        a: Any,
        b: Any,
        at: Any,
        length: Callable[..., Any],
        axes: Sequence[Any],
    ) -> None:
        """A link whose length is a function of time."""
        from zwang.multibody.joints.drivers import driven_length

        if any(axis is not None for axis in axes):
            raise InputError(
                what,
                must="be given at=, a pair of points, alone when its length is driven",
                but="axis or reference was given too",
            )
        first, second, layout = self._markers(what, a, b, at)
        bodies = (first.body, second.body)
        kinds = tuple(GROUND if i < 0 else self._kind for i in bodies)
        law = driven_length(name, kinds, layout, length)
        self._constraints.append(Element(name, law, bodies, layout.numbers(first, second)))
        kind = KINDS["spherical_link"]
        self._joints[name] = Joint(name, kind, bodies, first, second, layout, (name,))
        self._accept("joint", name)

    @_joint
    def revolute(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
    ) -> None:
        """A hinge: one angle about `axis` through `at`.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : the joint's point in the world as placed, or a pair of points or markers, one for each
            body; the origin by default.
        axis : of the hinge, in the world as placed; in a planar mechanism its normal by default.
        axis_b : the axis in the second body where it differs, in the world.
        reference : direction of the markers' x axes, from which angles count.
        """
        self.joint(
            "revolute",
            name,
            a,
            b,
            at=at,
            axis=self._normal_axis(axis),
            axis_b=axis_b,
            reference=reference,
        )

    @_joint
    def prismatic(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
    ) -> None:
        """A slide: one displacement along `axis`.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : the joint's point in the world as placed, or a pair of points or markers, one for each
            body; the origin by default.
        axis : along which it slides, in the world as placed; needed unless `at` has markers with
            axes.
        axis_b : the axis in the second body where it differs, in the world.
        reference : direction of the markers' x axes, from which angles count.
        """
        self.joint("prismatic", name, a, b, at=at, axis=axis, axis_b=axis_b, reference=reference)

    @_joint
    def cylindrical(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
    ) -> None:
        """A sleeve: angle about and displacement along `axis`.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : the joint's point in the world as placed, or a pair of points or markers, one for each
            body; the origin by default.
        axis : of the sleeve, in the world as placed; needed unless `at` has markers with axes.
        axis_b : the axis in the second body where it differs, in the world.
        reference : direction of the markers' x axes, from which angles count.
        """
        self.joint("cylindrical", name, a, b, at=at, axis=axis, axis_b=axis_b, reference=reference)

    @_joint
    def screw(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
        pitch: float,
    ) -> None:
        """A nut on a screw: it advances by `pitch` per revolution about `axis`.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : the joint's point in the world as placed, or a pair of points or markers, one for each
            body; the origin by default.
        axis : of the screw, in the world as placed; needed unless `at` has markers with axes.
        axis_b : the axis in the second body where it differs, in the world.
        reference : direction of the markers' x axes, from which angles count.
        pitch : advance per revolution [m].
        """
        self.joint(
            "screw", name, a, b, at=at, axis=axis, axis_b=axis_b, reference=reference, pitch=pitch
        )

    @_joint
    def spherical(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
    ) -> None:
        """A ball in a socket at `at`.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : the joint's point in the world as placed, or a pair of points or markers, one for each
            body; the origin by default.
        axis : direction of the markers' z axes, if they matter.
        axis_b : the axis in the second body where it differs, in the world.
        reference : direction of the markers' x axes.
        """
        self.joint("spherical", name, a, b, at=at, axis=axis, axis_b=axis_b, reference=reference)

    @_joint
    def planar(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
    ) -> None:
        """A plane on a plane, whose normal is `axis`.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : the joint's point in the world as placed, or a pair of points or markers, one for each
            body; the origin by default.
        axis : normal of the planes, in the world as placed; needed unless `at` has markers with
            axes.
        axis_b : the axis in the second body where it differs, in the world.
        reference : direction of the markers' x axes, from which angles count.
        """
        self.joint("planar", name, a, b, at=at, axis=axis, axis_b=axis_b, reference=reference)

    @_joint
    def fixed(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
    ) -> None:
        """A weld at `at`.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : the joint's point in the world as placed, or a pair of points or markers, one for each
            body; the origin by default.
        axis : direction of the markers' z axes, if they matter.
        axis_b : the axis in the second body where it differs, in the world.
        reference : direction of the markers' x axes.
        """
        self.joint("fixed", name, a, b, at=at, axis=axis, axis_b=axis_b, reference=reference)

    @_joint
    def universal(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
        arm_angle: float | None = None,
    ) -> None:
        """Hooke's joint at `at`; the shafts are `axis` and `axis_b`.

        Its cross rotates by ``angle_a`` about the fork of the first body, and the second body by
        ``angle_b`` about the other arm. Two hinges whose axes u and w meet are this joint with
        axis = u × w, reference = u and arm_angle the angle from u to w.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : the joint's point in the world as placed, or a pair of points or markers, one for each
            body; the origin by default.
        axis : shaft of the first body, in the world as placed; needed unless `at` has markers with
            axes.
        axis_b : shaft of the second body, in the world; that of the first by default.
        reference : direction of the markers' x axes, from which angles count: of the arm in the
            first body; the common normal of both shafts by default.
        arm_angle : between the arms of the cross [rad], between 0 and π; a right angle by default.
        """
        self.joint(
            "universal",
            name,
            a,
            b,
            at=at,
            axis=axis,
            axis_b=axis_b,
            reference=reference,
            arm_angle=arm_angle,
        )

    @_joint
    def constant_velocity(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
    ) -> None:
        """Shafts `axis` and `axis_b` that rotate alike however they are bent at `at`.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : the joint's point in the world as placed, or a pair of points or markers, one for each
            body; the origin by default.
        axis : shaft of the first body, in the world as placed; needed unless `at` has markers with
            axes.
        axis_b : shaft of the second body, in the world; that of the first by default.
        reference : direction of the markers' x axes, from which angles count.
        """
        self.joint(
            "constant_velocity", name, a, b, at=at, axis=axis, axis_b=axis_b, reference=reference
        )

    @_joint
    def oldham(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        reference: Direction | None = None,
    ) -> None:
        """An Oldham coupling: parallel shafts along `axis` that rotate alike, however far apart.

        The disk between them has no mass; it lets the second shaft move across the first.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : a point of both shafts in the world as placed, or a pair of points or markers, one for
            each shaft, at the same height along the axis; the origin by default.
        axis : direction of both shafts, in the world as placed; needed unless `at` has markers with
            axes.
        reference : direction of the markers' x axes.
        """
        self.joint("oldham", name, a, b, at=at, axis=axis, reference=reference)

    @_joint
    def gear(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
        radius_a: float,
        radius_b: float,
        pressure_angle: float | Literal["auto"] | None = AUTO,
    ) -> None:
        """Wheels of `radius_a`, `radius_b` about `axis`, `axis_b`; a ring gear is negative.

        Their teeth press on each other at the pitch point. Bevel gears have axes that meet. Where
        rates alone are tied, rates against the world, no tooth force is known: reactions that
        depend on it are reported as indeterminate.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : the pitch point in the world as placed, or the pair of the wheels' centers; it may be
            omitted where bearings or origins of the wheels determine their axes.
        axis : of the first wheel, in the world as placed; in a planar mechanism its normal by
            default.
        axis_b : of the second wheel where it differs, in the world.
        reference : direction of the markers' x axes, from which angles count.
        radius_a, radius_b : of the wheels [m], negative for a ring gear.
        pressure_angle : by which the flanks of the teeth lean [rad], or None for rates alone;
            ``"auto"`` is 20° where the axes fit the radii, and None where they do not.
        """
        self.joint(
            "gear",
            name,
            a,
            b,
            at=at,
            axis=self._normal_axis(axis),
            axis_b=axis_b,
            reference=reference,
            radius_a=radius_a,
            radius_b=radius_b,
            pressure_angle=pressure_angle,
        )

    @_joint
    def rack_and_pinion(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
        radius: float,
        pressure_angle: float | Literal["auto"] | None = AUTO,
    ) -> None:
        """A pinion a of `radius` about `axis` drives a rack b along `axis_b`.

        Teeth as for `gear`; the pitch point lies from the pinion's axis along `axis_b` × `axis`.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : the pitch point in the world as placed, or a pair, a point of the pinion's axis and the
            pitch point; it may be omitted where bearings or origins determine the axis.
        axis : of the pinion, in the world as placed; in a planar mechanism its normal by default.
        axis_b : along which the rack moves, in the world.
        reference : direction of the markers' x axes, from which angles count.
        radius : of the pinion [m].
        pressure_angle : of the teeth [rad], as for `gear`.
        """
        self.joint(
            "rack_and_pinion",
            name,
            a,
            b,
            at=at,
            axis=self._normal_axis(axis),
            axis_b=axis_b,
            reference=reference,
            radius=radius,
            pressure_angle=pressure_angle,
        )

    @_joint
    def spherical_link(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
        length: float | Callable[..., Any] | None = None,
    ) -> None:
        """A massless rod between balls at a pair of points.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : a pair of points in the world as placed, or of markers, one for each body.
        axis : direction of the markers' z axes, if they matter.
        axis_b : the axis in the second body where it differs, in the world.
        reference : direction of the markers' x axes.
        length : of the rod [m], as placed by default. A function of (t, p), or of some of these by
            name, makes it an actuator: a cylinder whose length is driven.
        """
        self.joint(
            "spherical_link",
            name,
            a,
            b,
            at=at,
            axis=axis,
            axis_b=axis_b,
            reference=reference,
            length=length,
        )

    @_joint
    def revolute_spherical_link(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
        length: float | None = None,
    ) -> None:
        """A massless rod with a pin about `axis` on the first body and a ball on the second.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : a pair of points in the world as placed, or of markers, one for each body.
        axis : of the pin, in the world as placed; needed unless `at` has markers with axes.
        axis_b : the axis in the second body where it differs, in the world.
        reference : direction of the markers' x axes, from which angles count.
        length : of the rod [m], as placed by default.
        """
        self.joint(
            "revolute_spherical_link",
            name,
            a,
            b,
            at=at,
            axis=axis,
            axis_b=axis_b,
            reference=reference,
            length=length,
        )

    @_joint
    def point_on_line(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
    ) -> None:
        """A point of b stays on a line of a along `axis`.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : the joint's point in the world as placed, or a pair of points or markers, one for each
            body; the origin by default.
        axis : along the line, in the world as placed; needed unless `at` has markers with axes.
        axis_b : the axis in the second body where it differs, in the world.
        reference : direction of the markers' x axes, from which angles count.
        """
        self.joint(
            "point_on_line", name, a, b, at=at, axis=axis, axis_b=axis_b, reference=reference
        )

    @_joint
    def point_on_plane(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
    ) -> None:
        """A point of b stays in a plane of a with normal `axis`.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : the joint's point in the world as placed, or a pair of points or markers, one for each
            body; the origin by default.
        axis : normal of the plane, in the world as placed; needed unless `at` has markers with
            axes.
        axis_b : the axis in the second body where it differs, in the world.
        reference : direction of the markers' x axes, from which angles count.
        """
        self.joint(
            "point_on_plane", name, a, b, at=at, axis=axis, axis_b=axis_b, reference=reference
        )

    @_joint
    def rolling_sphere(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
        radius: float,
    ) -> None:
        """A ball b of `radius` rolls on a plane of a with normal `axis`.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : a pair: a point of the plane, and the center of the ball.
        axis : normal of the plane, in the world as placed; needed unless `at` has markers with
            axes.
        axis_b : the axis in the second body where it differs, in the world.
        reference : direction of the markers' x axes, from which angles count.
        radius : of the ball [m].
        """
        self.joint(
            "rolling_sphere",
            name,
            a,
            b,
            at=at,
            axis=axis,
            axis_b=axis_b,
            reference=reference,
            radius=radius,
        )

    @_joint
    def rolling_disk(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
        radius: float,
    ) -> None:
        """A thin disk b of `radius` about `axis_b` rolls on a plane of a with normal `axis`.

        In a planar mechanism the disk's axis is the plane's normal, and it rolls as a ball does.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : a pair: a point of the plane, and the center of the disk.
        axis : normal of the plane, in the world as placed; needed unless `at` has markers with
            axes.
        axis_b : the disk's axis, in the world; needed in space.
        reference : direction of the markers' x axes, from which angles count.
        radius : of the disk [m].
        """
        if self._kind.plane is not None:
            self.joint(
                "rolling_sphere", name, a, b, at=at, axis=axis, reference=reference, radius=radius
            )
            return
        if axis_b is None:
            raise InputError(
                f"rolling_disk joint {name!r}",
                must="have axis_b=, the axis of the disk, in addition to axis=, the normal of the "
                "plane",
            )
        self.joint(
            "rolling_disk",
            name,
            a,
            b,
            at=at,
            axis=axis,
            axis_b=axis_b,
            reference=reference,
            radius=radius,
        )

    @_joint
    def knife_edge(
        self,
        name: str,
        a: BodyHandle | str,
        b: BodyHandle | str,
        *,
        at: Place | None = None,
        axis: Direction | None = None,
        axis_b: Direction | None = None,
        reference: Direction | None = None,
    ) -> None:
        """A blade of b along `reference` moves only along itself in a plane with normal `axis`.

        Parameters
        ----------
        name : what the joint is called.
        a, b : the bodies or their names, `ground` among them.
        at : the joint's point in the world as placed, or a pair of points or markers, one for each
            body; the origin by default.
        axis : normal of the plane, in the world as placed; needed unless `at` has markers with
            axes. In a planar mechanism its normal by default.
        axis_b : the axis in the second body where it differs, in the world.
        reference : direction of the blade, in the world as placed; needed unless `at` has markers.
        """
        if reference is None and not _has_markers(at):
            raise InputError(
                f"knife_edge joint {name!r}",
                must="have reference=, the direction of its blade, in addition to axis=",
            )
        axis = self._normal_axis(axis)
        self.joint("knife_edge", name, a, b, at=at, axis=axis, axis_b=axis_b, reference=reference)


def _has_markers(at: Any) -> bool:
    """Whether a place is given by markers, which have axes of their own."""
    places = at if isinstance(at, Sequence) and not isinstance(at, str) else [at]
    return any(isinstance(place, MarkerHandle) for place in places)
