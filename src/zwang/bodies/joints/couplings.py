"""Universal and constant-velocity joints, gears, rack and pinion, links.

Gears and racks tie rates together: at the level of positions they would have to count turns.
"""

from __future__ import annotations

from typing import Any

from zwang.bodies.joints.kind import JointKind
from zwang.bodies.joints.lower_pairs import angle
from zwang.bodies.joints.primitives import coincident, distance, perpendicular
from zwang.bodies.pose import Frame

__all__ = [
    "CONSTANT_VELOCITY",
    "GEAR",
    "RACK_AND_PINION",
    "REVOLUTE_SPHERICAL_LINK",
    "SPHERICAL_LINK",
    "UNIVERSAL",
]

#: The cross of a universal joint: its arms are x of the first marker and y of the second.
UNIVERSAL = JointKind(
    "universal",
    lambda a, b, _: [*coincident(a.origin, b.origin), *perpendicular(a.x, b.y)],
    coordinates={"angle": angle},
)

#: Both shafts turn alike however the joint is bent: y_a·x_b = x_a·y_b.
CONSTANT_VELOCITY = JointKind(
    "constant_velocity",
    lambda a, b, _: [*coincident(a.origin, b.origin), a.y @ b.x - a.x @ b.y],
)


def _gear(a: Frame, b: Frame, data: Any) -> list[Any]:
    """Teeth meet at the same speed: r_a ω_a + r_b ω_b = 0 about the shafts' axes, (−) inside."""
    return [data.radius_a * (a.z @ a.angular_velocity) + data.radius_b * (b.z @ b.angular_velocity)]


GEAR = JointKind("gear", None, velocity=_gear, numbers=("radius_a", "radius_b"))


def _rack(a: Frame, b: Frame, data: Any) -> list[Any]:
    """The rack b moves along its z axis as the pinion a turns about its own: ż = r ω."""
    return [b.z @ b.velocity - data.radius * (a.z @ a.angular_velocity)]


RACK_AND_PINION = JointKind("rack_and_pinion", None, velocity=_rack, numbers=("radius",))

SPHERICAL_LINK = JointKind(
    "spherical_link",
    lambda a, b, data: distance(a.origin, b.origin, data.length),
    numbers=("length",),
    axis=False,
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
