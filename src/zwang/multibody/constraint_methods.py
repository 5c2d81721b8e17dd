"""Constraints of a mechanism besides joints: drivers, couplings, curves, conditions of the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zwang.arguments.values import number
from zwang.errors import InputError, UnknownNameError, shown
from zwang.multibody.body import Body, Placement
from zwang.multibody.builder import MechanismBuilder
from zwang.multibody.call_log import described
from zwang.multibody.element import Element, ElementLaw, LawConstants
from zwang.multibody.handles import BodyHandle
from zwang.multibody.inertia import point
from zwang.multibody.marker import Joint
from zwang.multibody.pose import GROUND, SCALAR, Pose

__all__ = ["ConstraintBuilder"]


class ConstraintBuilder(MechanismBuilder):
    """What prescribes or ties motions: see `zwang.Mechanism`."""

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
            origin, ``rotation``, ``angular_velocity``, and a `coordinate` has ``value`` and
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
            copied = {k: f"{element.name}.{k}" for k in numbers if k in element.numbers}
            self._constraints.append(Element(name, law, joint.bodies, numbers, copied))
            self._joints[name] = Joint(
                name,
                None,
                joint.bodies,
                joint.a,
                joint.b,
                joint.layout,
                (name,),
                drives="" if relative else what,
                prescribes=True,
            )
        elif owner in self._bodies and quantity in ("position", "orientation"):
            body = self._bodies[owner]
            local = np.zeros(3) if at is None else self._vector("at", at)
            varies = "at" in self._varying or body.parametric
            constants.add("arm", local - body.inertia.center, varies=varies)
            law = driver_law(name, None, (body.kind,), quantity, value, constants)
            self._constraints.append(Element(name, law, (body.index,), constants.numbers))
            self._joints[name] = Joint(
                name, None, (body.index,), None, None, None, (name,), prescribes=True
            )
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
        law, numbers, copied = coupler_law(name, joints, ratio)
        bodies = joints[0][0].bodies + joints[1][0].bodies
        self._constraints.append(Element(name, law, bodies, numbers, copied))
        self._joints[name] = Joint(name, None, bodies, None, None, None, (name,), couples=first)
        self._accept("coupler", name)


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
