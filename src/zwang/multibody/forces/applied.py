"""Forces and torques that a user prescribes, as laws of elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from zwang.errors import InputError, shown
from zwang.multibody.body import Body
from zwang.multibody.checks import moment, single, three
from zwang.multibody.element import ElementLaw, LawConstants
from zwang.multibody.pose import SCALAR, Pose, cross, generalized, zeros
from zwang.tracing.trace import call

__all__ = ["applied_law", "user_law"]


def applied_law(
    name: str, body: Body, force: Any, torque: Any, constants: LawConstants, *, turning: bool
) -> ElementLaw:
    """A force at a point and a torque on one body.

    Parameters
    ----------
    constants : the point ``at`` and the center of mass ``center_0``, in the body's frame; force and
        torque too where they depend on parameters.
    """
    what = f"force {name!r}"
    pair, normal = _plane(body)

    def function(poses: Any, data: Any) -> list[Any]:
        (pose,) = poses
        center = constants.get("center_0", data)
        seen, arm = pose.about(center), constants.get("at", data) - center

        def value(name: str, given: Any, checked: Callable[..., Any], side: Any) -> Any:
            if given is None:
                return zeros(3)
            if name in constants.numbers:
                given = constants.get(name, data)
            elif callable(given):
                given = call(what, given, {"body": seen, "t": data.t, "p": data.p})
            result = checked(what, given, side)
            return pose.rotation @ result if turning else result

        F = value("force", force, three, pair)
        n = value("torque", torque, moment, normal)
        return [0.0, generalized(body.kind, pose, F, n + cross(pose.rotation @ arm, F))]

    if force is not None and not callable(force):
        three(what, force, pair)
    if torque is not None and not callable(torque):
        moment(f"torque of {what}", torque, normal)
    return ElementLaw(("applied", name), "force", (body.kind,), constants.shapes, "force", function)


def user_law(
    name: str, bodies: Sequence[Body], f: Callable[..., Any], centers: LawConstants
) -> ElementLaw:
    """Forces on several bodies from one function of the user's."""
    what = f"force {name!r}"

    def function(poses: Any, data: Any) -> list[Any]:
        seen = [
            pose.about(centers.get(f"center_{k}", data)) if isinstance(pose, Pose) else pose
            for k, pose in enumerate(poses)
        ]
        given = call(what, f, {"bodies": seen, "t": data.t, "p": data.p})
        given = [given] if len(bodies) == 1 and not _listed(given, 1) else given
        if not _listed(given, len(bodies)):
            raise InputError(
                what,
                expected=f"a list of {len(bodies)} results, one for each body",
                found=f"a list of {len(given)}"
                if isinstance(given, list | tuple)
                else shown(given),
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

    kinds = tuple(b.kind for b in bodies)
    return ElementLaw(("user", name), "force", kinds, centers.shapes, "force", function)


def _listed(given: Any, count: int) -> bool:
    """Whether a result is a list of `count` efforts rather than one effort."""
    return isinstance(given, list | tuple) and len(given) == count


def _plane(body: Body) -> tuple[tuple[int, int] | None, int | None]:
    """Axes in the plane of a planar body, and its normal."""
    plane = body.kind.plane
    return (None, None) if plane is None else (plane[:2], plane[2])
