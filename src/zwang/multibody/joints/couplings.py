"""Universal, constant-velocity and Oldham joints, and links."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.multibody.joints.kind import JointKind
from zwang.multibody.joints.lower_pairs import axes_parallel
from zwang.multibody.joints.primitives import coincident, distance, perpendicular
from zwang.multibody.pose import Frame

__all__ = [
    "CONSTANT_VELOCITY",
    "OBLIQUE_UNIVERSAL",
    "OLDHAM",
    "REVOLUTE_SPHERICAL_LINK",
    "SPHERICAL_LINK",
    "UNIVERSAL",
]


def _bend_of_cross(a: Frame, b: Frame, _: Any) -> list[Any]:
    """Sine, cosine and rate of rotation of the cross relative to the first body, about x of a."""
    return [a.z @ b.y, a.y @ b.y, a.x @ (b.angular_velocity - a.angular_velocity)]


def _bend_on_cross(a: Frame, b: Frame, _: Any) -> list[Any]:
    """Sine, cosine and rate of rotation of the second body relative to the cross, about y of b."""
    return [a.x @ b.z, a.x @ b.x, b.y @ (b.angular_velocity - a.angular_velocity)]


#: The cross of a universal joint: its arms are x of the first marker and y of the second, about
#: which the bodies rotate relative to it; the relative angular velocity is α̇ x_a + β̇ y_b.
UNIVERSAL = JointKind(
    "universal",
    lambda a, b, _: [*coincident(a.origin, b.origin), *perpendicular(a.x, b.y)],
    coordinates={"angle_a": _bend_of_cross, "angle_b": _bend_on_cross},
)


def _rate_about(arm: Any, other: Any, a: Frame, b: Frame, data: Any) -> Any:
    """α̇ of a relative angular velocity α̇ u + β̇ w, with arms u and w at the angle of the cross."""
    cosine, relative = np.cos(data.arm_angle), b.angular_velocity - a.angular_velocity
    return (arm @ relative - cosine * (other @ relative)) / np.sin(data.arm_angle) ** 2


def _bend_of_oblique_cross(a: Frame, b: Frame, data: Any) -> list[Any]:
    sine, cosine, _ = _bend_of_cross(a, b, data)
    size = np.sin(data.arm_angle)
    return [sine / size, cosine / size, _rate_about(a.x, b.y, a, b, data)]


def _bend_on_oblique_cross(a: Frame, b: Frame, data: Any) -> list[Any]:
    sine, cosine, _ = _bend_on_cross(a, b, data)
    size = np.sin(data.arm_angle)
    return [sine / size, cosine / size, _rate_about(b.y, a.x, a, b, data)]


#: A cross whose arms meet at an angle γ other than a right one: x_a·y_b = cos γ. The part of the
#: second arm across the first, and of the first across the second, has the length sin γ.
OBLIQUE_UNIVERSAL = JointKind(
    "universal",
    lambda a, b, data: [*coincident(a.origin, b.origin), a.x @ b.y - np.cos(data.arm_angle)],
    coordinates={"angle_a": _bend_of_oblique_cross, "angle_b": _bend_on_oblique_cross},
    numbers=("arm_angle",),
    variant="oblique",
)

#: Both shafts rotate alike however the joint is bent: y_a·x_b = x_a·y_b.
CONSTANT_VELOCITY = JointKind(
    "constant_velocity",
    lambda a, b, _: [*coincident(a.origin, b.origin), a.y @ b.x - a.x @ b.y],
)


#: Two parallel shafts rotate alike wherever the disk between them lets their axes move: nothing
#: rotates the second body relative to the first, and it does not slide along the axis.
OLDHAM = JointKind(
    "oldham",
    lambda a, b, _: [
        *perpendicular(a.z, b.origin - a.origin),
        *axes_parallel(a, b),
        *perpendicular(a.x, b.y),
    ],
)


SPHERICAL_LINK = JointKind(
    "spherical_link",
    lambda a, b, data: distance(a.origin, b.origin, data.length),
    numbers=("length",),
    axis=False,
    plane="any",
)

#: A massless link with a pin on the first body (axis z) and a ball on the second.
REVOLUTE_SPHERICAL_LINK = JointKind(
    "revolute_spherical_link",
    lambda a, b, data: [
        *distance(a.origin, b.origin, data.length),
        *perpendicular(a.z, b.origin - a.origin),
    ],
    numbers=("length",),
)
