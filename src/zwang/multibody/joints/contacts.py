"""Points on lines, planes and curves; rolling without slip; knife edges.

A contact lies at a marker of the first body: points move along its z axis, or in the plane whose
normal that is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.multibody.joints.kind import JointKind
from zwang.multibody.joints.lower_pairs import displacement, on_axis
from zwang.multibody.joints.primitives import perpendicular
from zwang.multibody.pose import Frame, cross

__all__ = [
    "KNIFE_EDGE",
    "POINT_ON_LINE",
    "POINT_ON_PLANE",
    "ROLLING_DISK",
    "ROLLING_SPHERE",
]

POINT_ON_LINE = JointKind(
    "point_on_line",
    lambda a, b, _: on_axis(a, b),
    coordinates={"displacement": displacement},
    plane="within",
)

POINT_ON_PLANE = JointKind(
    "point_on_plane", lambda a, b, _: perpendicular(a.z, b.origin - a.origin), plane="within"
)


def _sliding(a: Frame, b: Frame, contact: Any) -> list[Any]:
    """Velocity of the material point of b at a contact against a, along x and y of a."""
    of_b = b.velocity + cross(b.angular_velocity, contact - b.origin)
    of_a = a.velocity + cross(a.angular_velocity, contact - a.origin)
    slip = of_b - of_a
    return [a.x @ slip, a.y @ slip]


def _sphere_contact(a: Frame, b: Frame, data: Any) -> Any:
    return b.origin - data.radius * a.z


ROLLING_SPHERE = JointKind(
    "rolling_sphere",
    lambda a, b, data: [a.z @ (b.origin - a.origin) - data.radius],
    velocity=lambda a, b, data: _sliding(a, b, _sphere_contact(a, b, data)),
    numbers=("radius",),
    plane="within",
)


def _lowest(a: Frame, b: Frame, data: Any) -> Any:
    """From the centre of a disk with axis z of b to its lowest point above the plane of a."""
    across = a.z - (a.z @ b.z) * b.z
    return -data.radius * across / np.sqrt(across @ across)


ROLLING_DISK = JointKind(
    "rolling_disk",
    lambda a, b, data: [a.z @ (b.origin + _lowest(a, b, data) - a.origin)],
    velocity=lambda a, b, data: _sliding(a, b, b.origin + _lowest(a, b, data)),
    numbers=("radius",),
)

#: The blade lies along x of the second marker, in the plane normal to z of the first.
KNIFE_EDGE = JointKind(
    "knife_edge",
    None,
    velocity=lambda a, b, _: [
        cross(a.z, b.x) @ (b.velocity - a.velocity - cross(a.angular_velocity, b.origin - a.origin))
    ],
    plane="normal",
)
