"""Forces and torques that a user prescribes, as laws of elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zwang.bodies.body import Body
from zwang.bodies.element import Law
from zwang.bodies.inertia import vector
from zwang.bodies.pose import SCALAR, Pose, cross, generalized, zeros
from zwang.errors import InputError
from zwang.functions.symbol import Symbol, SymbolArray
from zwang.functions.trace import call
from zwang.terms import FloatArray

__all__ = ["applied_law", "user_law"]


def applied_law(
    name: str, body: Body, force: Any, torque: Any, at: FloatArray, *, turning: bool
) -> Law:
    """A force at a point and a torque on one body."""
    what = f"force {name!r}"
    arm = at - body.inertia.center

    def function(poses: Any, data: Any) -> list[Any]:
        (pose,) = poses
        seen = pose.about(body.inertia.center)

        def value(given: Any) -> Any:
            if given is None:
                return zeros(3)
            if callable(given):
                given = call(what, given, {"body": seen, "t": data.t, "p": data.p})
            result = three(what, given)
            return pose.rotation @ result if turning else result

        F, n = value(force), value(torque)
        return [0.0, generalized(body.kind, pose, F, n + cross(pose.rotation @ arm, F))]

    for given in (force, torque):
        if given is not None and not callable(given):
            vector(what, given)
    return Law(("applied", name), "force", (body.kind,), {}, "force", function)


def user_law(name: str, bodies: Sequence[Body], f: Callable[..., Any]) -> Law:
    """Forces on several bodies from one function of the user's."""
    what = f"force {name!r}"

    def function(poses: Any, data: Any) -> list[Any]:
        seen = [
            pose.about(body.inertia.center) if isinstance(pose, Pose) else pose
            for pose, body in zip(poses, bodies, strict=True)
        ]
        given = call(what, f, {"bodies": seen, "t": data.t, "p": data.p})
        given = [given] if len(bodies) == 1 and not _listed(given, 1) else list(given)
        if len(given) != len(bodies):
            raise InputError(
                what,
                found=f"{len(given)} results",
                expected=f"one for each of {len(bodies)} bodies",
            )
        efforts = []
        for body, pose, effort in zip(bodies, poses, given, strict=True):
            if body.kind is SCALAR:
                efforts.append([effort])
                continue
            F, n = effort
            efforts.append(generalized(body.kind, pose, three(what, F), three(what, n)))
        return [0.0, *efforts]

    return Law(("user", name), "force", tuple(b.kind for b in bodies), {}, "force", function)


def three(what: str, value: Any) -> Any:
    """Three symbols or numbers."""
    entries = [value] if isinstance(value, Symbol) else list(value)
    if len(entries) != 3:
        raise InputError(what, found=f"{len(entries)} values", expected="three")
    result = np.empty(3, dtype=object)
    result[:] = entries
    return result.view(SymbolArray)


def _listed(given: Any, count: int) -> bool:
    """Whether a result is a list of `count` efforts rather than one effort."""
    return isinstance(given, list | tuple) and len(given) == count
