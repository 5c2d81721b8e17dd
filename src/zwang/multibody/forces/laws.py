"""Force elements as functions of frames: springs, dampers, bushings, forces and torques.

A law returns the potential and, for each body, the world force and the world moment about its
centre of mass, converted to generalized forces by `wrench`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zwang.multibody.checks import single
from zwang.multibody.pose import BodyKind, Frame, cross, generalized, zeros
from zwang.tracing.trace import call

__all__ = [
    "Applied",
    "between",
    "bushing",
    "cartesian_spring",
    "spring_damper",
    "torsion_spring",
    "wrench",
]

#: A law of a force element: (frame a, frame b, numbers) → (potential, force on b, moment on b), in
#: the world, at the origin of b; a gets the opposite.
Applied = Callable[[Frame, Frame, Any], tuple[Any, Any, Any]]


def wrench(kind: BodyKind, f: Frame, point: Any, force: Any, moment: Any) -> list[Any]:
    """Generalized force of a force at a point and a moment on the body of a frame."""
    about = moment + cross(point - f.pose.position, force)
    return generalized(kind, f.pose, force, about)


def between(kinds: tuple[BodyKind, ...], a: Frame, b: Frame, law: Applied, data: Any) -> list[Any]:
    """Potential and generalized forces of a law that acts and reacts, at the origin of b.

    A spring in world axes pulls each body at its own point.
    """
    V, force, moment = law(a, b, data)
    point = a.origin if law is cartesian_spring else b.origin
    return [
        V,
        wrench(kinds[0], a, point, -force, -moment),
        wrench(kinds[1], b, b.origin, force, moment),
    ]


def spring_damper(what: str, own: Callable[..., Any] | None) -> Applied:
    """Tension k (l − l₀) + c l̇ + own(l, l̇, t, p) along the line of two points."""

    def law(a: Frame, b: Frame, data: Any) -> tuple[Any, Any, Any]:
        d = b.origin - a.origin
        length = np.sqrt(d @ d)
        rate = d @ (b.velocity - a.velocity) / length
        stretch = length - data.length
        tension = data.stiffness * stretch + data.damping * rate
        if own is not None:
            tension = tension + _own(what, own, data, length=length, rate=rate)
        return 0.5 * data.stiffness * stretch * stretch, -tension * d / length, zeros(3)

    return law


def cartesian_spring(a: Frame, b: Frame, data: Any) -> tuple[Any, Any, Any]:
    """Forces −k (d − d₀) − c ḋ along the axes of the world; d from the point of a to that of b.

    Without d₀ this is a spring of zero length, which is regular where both points meet.
    """
    d = b.origin - a.origin - data.offset
    slip = b.velocity - a.velocity
    V = 0.5 * sum(data.stiffness[i] * d[i] * d[i] for i in range(3))
    force = zeros(3)
    for i in range(3):
        force[i] = -data.stiffness[i] * d[i] - data.damping[i] * slip[i]
    return V, force, zeros(3)


def torsion_spring(what: str, own: Callable[..., Any] | None) -> Applied:
    """Moment −k (θ − θ₀) − c θ̇ − own(θ, θ̇, t, p) about the common axis z, θ in (−π, π]."""

    def law(a: Frame, b: Frame, data: Any) -> tuple[Any, Any, Any]:
        sine, cosine = a.y @ b.x - a.x @ b.y, a.x @ b.x + a.y @ b.y
        rate = a.z @ (b.angular_velocity - a.angular_velocity)
        # The angle against the rest angle, so that half a revolution to each side of it is free of
        # jumps.
        s = sine * np.cos(data.angle) - cosine * np.sin(data.angle)
        c = cosine * np.cos(data.angle) + sine * np.sin(data.angle)
        twist = np.arctan2(s, c)
        moment = data.stiffness * twist + data.damping * rate
        if own is not None:
            moment = moment + _own(what, own, data, twist=twist, rate=rate)
        return 0.5 * data.stiffness * twist * twist, zeros(3), -moment * a.z

    return law


def _own(what: str, law: Callable[..., Any], data: Any, **motion: Any) -> Any:
    """What a law of the user's gives: one value."""
    return single(what, call(what, law, {**motion, "t": data.t, "p": data.p}))


def bushing(a: Frame, b: Frame, data: Any) -> tuple[Any, Any, Any]:
    """Elastic bed: forces −k d − c ḋ in the axes of a, and moments for small rotations alike.

    The potential Σ κᵢ (1 − aᵢᵀbᵢ) of the axes of both gives the moment −Σ κᵢ aᵢ × bᵢ, whatever the
    rotation. A small rotation about axis i meets the stiffness κⱼ + κₖ, so κᵢ = ½(kⱼ + kₖ − kᵢ).
    """
    d = b.origin - a.origin
    slip = b.velocity - a.velocity - cross(a.angular_velocity, d)
    spin = b.angular_velocity - a.angular_velocity
    k = data.turn_stiffness
    force, moment, V = zeros(3), zeros(3), 0.0
    for i, (axis, other) in enumerate(zip((a.x, a.y, a.z), (b.x, b.y, b.z), strict=True)):
        stretch = axis @ d
        force = force - (data.stiffness[i] * stretch + data.damping[i] * (axis @ slip)) * axis
        kappa = 0.5 * (k[0] + k[1] + k[2]) - k[i]
        moment = moment - kappa * cross(axis, other) - data.turn_damping[i] * (axis @ spin) * axis
        V = V + 0.5 * data.stiffness[i] * stretch**2 + kappa * (1.0 - axis @ other)
    return V, force, moment
