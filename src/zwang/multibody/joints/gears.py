"""Wheels and racks: rates tied together, and teeth that press on each other at the pitch point.

At the pitch point P the material points of both wheels move alike along the common tangent τ,

    τ·(v_a(P) − v_b(P)) = 0,        P = C_a + r_a e,   τ = z_a × e

with e from the centre C_a towards P. Its multiplier is the tangential force F of the teeth [N],
which acts at P on one wheel and, reversed, on the other; where the centres rest the equation is
r_a ω_a + r_b ω_b = 0, and on a carrier it is Willis's. Flanks lean by the pressure angle α: teeth
also push apart, with |F| tan α along the normal n, whichever way they are driven.

Without a pressure angle rates alone are tied, against the world: no tooth force is known then.
The level is that of velocities: positions would have to count revolutions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zwang.multibody.joints.kind import JointKind
from zwang.multibody.pose import Frame, cross

__all__ = [
    "BEVEL_TEETH",
    "GEAR",
    "RACK_AND_PINION",
    "RACK_TEETH",
    "SPUR_TEETH",
    "Contact",
    "separation",
]


class Contact(NamedTuple):
    """Where teeth meet.

    Attributes
    ----------
    point : the pitch point P.
    tangent : unit vector τ of the tangential force on the first body, for a positive multiplier.
    radial : unit vector e from the axis of the first wheel to P.
    """

    point: Any
    tangent: Any
    radial: Any


def _gear(a: Frame, b: Frame, data: Any) -> list[Any]:
    """Rates alone: r_a ω_a + r_b ω_b = 0 about the shafts' axes, (−) inside."""
    return [data.radius_a * (a.z @ a.angular_velocity) + data.radius_b * (b.z @ b.angular_velocity)]


GEAR = JointKind("gear", None, velocity=_gear, numbers=("radius_a", "radius_b"), plane="normal")


def _rack(a: Frame, b: Frame, data: Any) -> list[Any]:
    """Rates alone: the rack b moves along its z axis as the pinion a rotates, ż = r ω."""
    return [b.z @ b.velocity - data.radius * (a.z @ a.angular_velocity)]


RACK_AND_PINION = JointKind(
    "rack_and_pinion", None, velocity=_rack, numbers=("radius",), crossed=True, plane="any"
)


def _across(a: Frame, b: Frame) -> Any:
    """From the centre of a to that of b, perpendicular to the axis of a."""
    line = b.origin - a.origin
    return line - (line @ a.z) * a.z


def _spur(a: Frame, b: Frame, data: Any) -> Contact:
    """P divides the line of centres as the radii do, whatever its length; outside it for a ring."""
    across, both = _across(a, b), data.radius_a + data.radius_b
    e = (both / np.sqrt(both * both * (across @ across))) * across
    return Contact(a.origin + (data.radius_a / both) * across, cross(a.z, e), e)


def _bevel(a: Frame, b: Frame, data: Any) -> Contact:
    """P lies in the plane of the axes, on the side of a where the marker of b is."""
    across = _across(a, b)
    e = across / np.sqrt(across @ across)
    return Contact(a.origin + data.radius_a * e, cross(a.z, e), e)


def _pitch_line(a: Frame, b: Frame, data: Any) -> Contact:
    """P is the foot of the pinion's centre on the pitch line of the rack, along z of b."""
    e = cross(b.z, a.z)
    return Contact(a.origin + data.radius * e, -b.z, e)


def _no_slip(contact: Any) -> Any:
    def equations(a: Frame, b: Frame, data: Any) -> list[Any]:
        P, tangent, _ = contact(a, b, data)
        of_a = a.velocity + cross(a.angular_velocity, P - a.origin)
        of_b = b.velocity + cross(b.angular_velocity, P - b.origin)
        return [tangent @ (of_a - of_b)]

    return equations


def _teeth(of: JointKind, variant: str, contact: Any, plane: Any) -> JointKind:
    return JointKind(
        of.name,
        None,
        velocity=_no_slip(contact),
        numbers=of.numbers,
        crossed=of.crossed,
        plane=plane,
        variant=variant,
        contact=contact,
    )


#: Parallel axes, one wheel beside the other or inside it.
SPUR_TEETH = _teeth(GEAR, "spur", _spur, "normal")
#: Axes that meet.
BEVEL_TEETH = _teeth(GEAR, "bevel", _bevel, "never")
RACK_TEETH = _teeth(RACK_AND_PINION, "rack", _pitch_line, "any")


def separation(a: Frame, contact: Contact, data: Any, size: Any) -> tuple[Any, Any]:
    """P, and the force on b by which teeth push apart.

    Parameters
    ----------
    data : the pressure angle, and the components of n along e and along the axis of a.
    size : |F|, of the tangential force.
    """
    n = data.normal_radial * contact.radial + data.normal_axial * a.z
    return contact.point, size * np.tan(data.pressure_angle) * n
