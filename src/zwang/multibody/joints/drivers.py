"""Drivers: prescribed motions of joint coordinates, and couplers between joint coordinates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zwang.arguments.values import number
from zwang.multibody.checks import rotation, single, three
from zwang.multibody.element import (
    Element,
    ElementLaw,
    LawConstants,
    numbers_of,
    own_numbers,
)
from zwang.multibody.joints.primitives import distance
from zwang.multibody.marker import FrameLayout, Joint
from zwang.multibody.pose import BodyKind, frame, identity
from zwang.tracing.trace import call

__all__ = ["coupler_law", "driven_length", "driver_law"]


def driver_law(
    name: str,
    joint: Joint | None,
    kinds: tuple[BodyKind, ...],
    quantity: str,
    value: Any,
    constants: LawConstants,
) -> ElementLaw:
    """The equation that a coordinate has a given value.

    An angle θ is held at f(t) by sin(θ − f) = 0, which is 2π-periodic and regular.

    Parameters
    ----------
    value : a function of (t, p), or numbers.
    constants : ``arm`` from the center of mass to a driven point; ``value`` if that depends on
        parameters.
    """
    what = f"driver {name!r}"

    def given(data: Any) -> Any:
        if callable(value):
            return call(what, value, {"t": data.t, "p": data.p})
        return constants.get("value", data) if "value" in constants.numbers else value

    def of_joint(poses: Any, data: Any) -> list[Any]:
        assert joint is not None
        assert joint.kind is not None
        assert joint.layout is not None
        a, b = (joint.layout.frame(pose, data, s) for pose, s in zip(poses, "ab", strict=True))
        state, wanted = joint.kind.coordinates[quantity](a, b, data), single(what, given(data))
        if len(state) == 2:  # value and rate
            return [state[0] - wanted]
        sine, cosine = state[0], state[1]
        return [sine * np.cos(wanted) - cosine * np.sin(wanted)]

    def of_position(poses: Any, data: Any) -> list[Any]:
        wanted = three(what, given(data), None if kinds[0].plane is None else kinds[0].plane[:2])
        place = poses[0].position + poses[0].rotation @ constants.get("arm", data)
        return [place[k] - wanted[k] for k in range(3)]

    def of_orientation(poses: Any, data: Any) -> list[Any]:
        wanted = rotation(what, given(data))
        own = frame(poses[0], np.zeros(3), identity())
        x, y, z = (wanted[:, k] for k in range(3))
        return [y @ own.z, z @ own.x, x @ own.y]

    def of_relative(poses: Any, data: Any) -> list[Any]:
        assert joint is not None
        assert joint.layout is not None
        a, b = (joint.layout.frame(pose, data, s) for pose, s in zip(poses, "ab", strict=True))
        R = rotation(what, given(data))
        # Axes that b is to have, in the world: those of a, rotated.
        x, y, z = (a.x * R[0, k] + a.y * R[1, k] + a.z * R[2, k] for k in range(3))
        return [y @ b.z, z @ b.x, x @ b.y]

    functions = {"position": of_position, "orientation": of_orientation}
    if joint is None:
        law = functions[quantity]
        return ElementLaw(("drive", name), "driver", kinds, constants.shapes, "position", law)
    assert joint.layout is not None
    shapes = {
        **joint.layout.shapes,
        **{k: np.shape(v) for k, v in joint.numbers.items()},
        **constants.shapes,
    }
    law = of_relative if quantity == "orientation" else of_joint
    return ElementLaw(("drive", name), "driver", kinds, shapes, "position", law)


def driven_length(
    name: str, kinds: tuple[BodyKind, ...], layout: FrameLayout, length: Callable[..., Any]
) -> ElementLaw:
    """The equation that two points are apart by a given length."""
    what = f"spherical_link joint {name!r}"

    def function(poses: Any, data: Any) -> list[Any]:
        a, b = (layout.frame(pose, data, s) for pose, s in zip(poses, "ab", strict=True))
        wanted = single(f"length of {what}", call(what, length, {"t": data.t, "p": data.p}))
        return distance(a.origin, b.origin, wanted)

    return ElementLaw(
        ("drive", name), "spherical_link joint", kinds, layout.shapes, "position", function
    )


def coupler_law(
    name: str, joints: list[tuple[Joint, Element, str]], ratio: float
) -> tuple[ElementLaw, dict[str, Any], dict[str, str]]:
    """Rate of the first coordinate − ratio × rate of the second = 0; its numbers, and copied ones.

    See `Element`.
    """
    own, copied = numbers_of(joints)
    numbers = {"ratio": np.asarray(number(f"ratio of coupler {name!r}", ratio)), **own}
    kinds = tuple(kind for _, element, _ in joints for kind in element.law.kinds)

    def function(poses: Any, data: Any) -> list[Any]:
        rates = []
        for k, (joint, element, quantity) in enumerate(joints):
            assert joint.kind is not None
            assert joint.layout is not None
            own = own_numbers(element, k, data)
            pair = poses[2 * k : 2 * k + 2]
            a, b = (joint.layout.frame(pose, own, s) for pose, s in zip(pair, "ab", strict=True))
            rates.append(joint.kind.coordinates[quantity](a, b, own)[-1])
        return [rates[0] - data.ratio * rates[1]]

    key = (
        "coupler",
        kinds,
        *((element.law.key, joint.layout, q) for joint, element, q in joints),
    )
    shapes = {key: np.shape(value) for key, value in numbers.items()}
    return ElementLaw(key, "coupler", kinds, shapes, "velocity", function), numbers, copied
