"""Forces and torques that a user prescribes, as laws of elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from zwang.errors import InputError, shown
from zwang.multibody.body import Body
from zwang.multibody.checks import moment, single, three
from zwang.multibody.element import ElementLaw
from zwang.multibody.pose import SCALAR, Pose, cross, generalized, zeros
from zwang.terms import FloatArray
from zwang.tracing.trace import call

__all__ = ["applied_law", "user_law"]


def applied_law(
    name: str, body: Body, force: Any, torque: Any, at: FloatArray, *, turning: bool
) -> ElementLaw:
    """A force at a point and a torque on one body."""
    what = f"force {name!r}"
    arm = at - body.inertia.center
    pair, normal = _plane(body)

    def function(poses: Any, data: Any) -> list[Any]:
        (pose,) = poses
        seen = pose.about(body.inertia.center)

        def value(given: Any, checked: Callable[..., Any], side: Any) -> Any:
            if given is None:
                return zeros(3)
            if callable(given):
                given = call(what, given, {"body": seen, "t": data.t, "p": data.p})
            result = checked(what, given, side)
            return pose.rotation @ result if turning else result

        F, n = value(force, three, pair), value(torque, moment, normal)
        return [0.0, generalized(body.kind, pose, F, n + cross(pose.rotation @ arm, F))]

    if force is not None and not callable(force):
        three(what, force, pair)
    if torque is not None and not callable(torque):
        moment(f"torque of {what}", torque, normal)
    return ElementLaw(("applied", name), "force", (body.kind,), {}, "force", function)


def user_law(name: str, bodies: Sequence[Body], f: Callable[..., Any]) -> ElementLaw:
    """Forces on several bodies from one function of the user's."""
    what = f"force {name!r}"

    def function(poses: Any, data: Any) -> list[Any]:
        seen = [
            pose.about(body.inertia.center) if isinstance(pose, Pose) else pose
            for pose, body in zip(poses, bodies, strict=True)
        ]
        given = call(what, f, {"bodies": seen, "t": data.t, "p": data.p})
        given = [given] if len(bodies) == 1 and not _listed(given, 1) else given
        if not _listed(given, len(bodies)):
            raise InputError(
                what,
                found=f"{len(given)} results" if isinstance(given, list | tuple) else shown(given),
                expected=f"a list of {len(bodies)}, one for each body",
            )
        efforts = []
        for body, pose, effort in zip(bodies, poses, given, strict=True):
            if body.kind is SCALAR:
                efforts.append([single(f"{what} on {body.name!r}", effort)])
                continue
            if not isinstance(effort, list | tuple) or len(effort) != 2:
                raise InputError(
                    f"{what} on {body.name!r}",
                    found=shown(effort),
                    expected="a pair (force, moment about the centre of mass)",
                )
            pair, normal = _plane(body)
            F = three(f"force of {what} on {body.name!r}", effort[0], pair)
            n = moment(f"moment of {what} on {body.name!r}", effort[1], normal)
            efforts.append(generalized(body.kind, pose, F, n))
        return [0.0, *efforts]

    return ElementLaw(("user", name), "force", tuple(b.kind for b in bodies), {}, "force", function)


def _listed(given: Any, count: int) -> bool:
    """Whether a result is a list of `count` efforts rather than one effort."""
    return isinstance(given, list | tuple) and len(given) == count


def _plane(body: Body) -> tuple[tuple[int, int] | None, int | None]:
    """Axes in the plane of a planar body, and its normal."""
    plane = body.kind.plane
    return (None, None) if plane is None else (plane[:2], plane[2])
