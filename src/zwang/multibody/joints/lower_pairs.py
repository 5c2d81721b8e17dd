"""Revolute, prismatic, cylindrical, screw, spherical, planar and fixed joints.

The axis of a joint is the z axis of both markers. Angles are those of the second body against the
first, positive about the axis; displacements those of the second marker along the first's axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.multibody.joints.kind import JointKind
from zwang.multibody.joints.primitives import coincident, perpendicular
from zwang.multibody.pose import Frame

__all__ = ["CYLINDRICAL", "FIXED", "PLANAR", "PRISMATIC", "REVOLUTE", "SCREW", "SPHERICAL"]


def axes_parallel(a: Frame, b: Frame) -> list[Any]:
    """The z axis of b is perpendicular to x and y of a."""
    return [*perpendicular(a.x, b.z), *perpendicular(a.y, b.z)]


def on_axis(a: Frame, b: Frame) -> list[Any]:
    """The origin of b lies on the z axis of a."""
    d = b.origin - a.origin
    return [*perpendicular(a.x, d), *perpendicular(a.y, d)]


def angle(a: Frame, b: Frame, _: Any) -> list[Any]:
    """Sine and cosine of the angle of b against a about z, and its rate."""
    sine, cosine = 0.5 * (a.y @ b.x - a.x @ b.y), 0.5 * (a.x @ b.x + a.y @ b.y)
    rate = a.z @ (b.angular_velocity - a.angular_velocity)
    return [sine, cosine, rate]


def displacement(a: Frame, b: Frame, _: Any) -> list[Any]:
    """How far b is along z of a, and its rate."""
    d = b.origin - a.origin
    from zwang.multibody.pose import cross

    rate = a.z @ (b.velocity - a.velocity - cross(a.angular_velocity, d))
    return [a.z @ d, rate]


def _screw_rate(a: Frame, b: Frame, data: Any) -> list[Any]:
    """Advance per radian: ṡ = pitch/(2π) θ̇."""
    advance, turn = displacement(a, b, data)[1], angle(a, b, data)[2]
    return [advance - data.pitch / (2.0 * np.pi) * turn]


SPHERICAL = JointKind(
    "spherical", lambda a, b, _: coincident(a.origin, b.origin), axis=False, plane="any"
)

REVOLUTE = JointKind(
    "revolute",
    lambda a, b, _: [*coincident(a.origin, b.origin), *axes_parallel(a, b)],
    coordinates={"angle": angle},
    plane="normal",
)

CYLINDRICAL = JointKind(
    "cylindrical",
    lambda a, b, _: [*on_axis(a, b), *axes_parallel(a, b)],
    coordinates={"angle": angle, "displacement": displacement},
)

PRISMATIC = JointKind(
    "prismatic",
    lambda a, b, _: [*on_axis(a, b), *axes_parallel(a, b), *perpendicular(a.x, b.y)],
    coordinates={"displacement": displacement},
    plane="within",
)

#: The advance is coupled to the rotation at velocity level: a position equation would have to
#: count revolutions.
SCREW = JointKind(
    "screw",
    lambda a, b, _: [*on_axis(a, b), *axes_parallel(a, b)],
    velocity=_screw_rate,
    coordinates={"angle": angle, "displacement": displacement},
    numbers=("pitch",),
)

PLANAR = JointKind(
    "planar",
    lambda a, b, _: [*perpendicular(a.z, b.origin - a.origin), *axes_parallel(a, b)],
    coordinates={"angle": angle},
)

FIXED = JointKind(
    "fixed",
    lambda a, b, _: [
        *coincident(a.origin, b.origin),
        *axes_parallel(a, b),
        *perpendicular(a.x, b.y),
    ],
    axis=False,
    plane="any",
)
