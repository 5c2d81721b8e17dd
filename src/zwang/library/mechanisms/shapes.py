"""Points and bars that the ready-made linkages of the library are made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zwang.errors import InputError
from zwang.mechanism import Mechanism
from zwang.multibody import inertia
from zwang.multibody.handles import BodyHandle
from zwang.multibody.inertia import Inertia
from zwang.terms import FloatArray

__all__ = [
    "PlanePoint",
    "bar",
    "circling",
    "fixed",
    "meeting",
    "plate",
    "require_count",
    "rod",
    "upright",
    "vertical",
]

#: Inertia of a bar about its own axis against that across it: a thin rod in all that matters, but
#: one that can spin about itself on ball joints at a finite rate.
AXIAL = 0.01


@dataclass(frozen=True)
class PlanePoint:
    """A point of the plane xz and its velocity, as vectors of space."""

    at: FloatArray
    velocity: FloatArray = field(default_factory=lambda: np.zeros(3))


def vertical(*, planar: bool, g: float) -> Mechanism:
    """An empty mechanism in the vertical plane xz, or in space, under gravity along −z."""
    return Mechanism(gravity=(0.0, 0.0, -g), plane="xz" if planar else None)


def fixed(x: float, z: float) -> PlanePoint:
    """A point of the ground."""
    return PlanePoint(np.array([x, 0.0, z]))


def circling(center: PlanePoint, radius: float, angle: float, rate: float) -> PlanePoint:
    """The end of a crank; its angle is counted from x upwards."""
    arm = radius * np.array([np.cos(angle), 0.0, np.sin(angle)])
    turned = radius * np.array([-np.sin(angle), 0.0, np.cos(angle)])
    return PlanePoint(center.at + arm, center.velocity + rate * turned)


def meeting(a: PlanePoint, ra: float, b: PlanePoint, rb: float, side: int) -> PlanePoint:
    """The point at distance ra from a and rb from b.

    `side` is +1 to the left of the way from a to b, z upwards and x to the right, −1 to the right.
    """
    d = b.at - a.at
    distance = float(np.linalg.norm(d))
    if not abs(ra - rb) <= distance <= ra + rb:
        raise InputError(
            "lengths",
            must="reach from one point to the other",
            but=f"lengths of {ra:g} and {rb:g} cannot join points {distance:g} apart",
        )
    along = (distance**2 + ra**2 - rb**2) / (2.0 * distance)
    height = np.sqrt(max(ra**2 - along**2, 0.0))
    x, y = d / distance, np.array([-d[2], 0.0, d[0]]) / distance
    at = a.at + along * x + side * height * y
    # Neither length changes: (at − a)·(v − v_a) = 0, and the same for b.
    rows = np.array([(at - a.at)[[0, 2]], (at - b.at)[[0, 2]]])
    rates = [(at - a.at) @ a.velocity, (at - b.at) @ b.velocity]
    v = np.linalg.lstsq(rows, rates, rcond=1e-9)[0]
    return PlanePoint(at, np.array([v[0], 0.0, v[1]]))


def bar(mass: float, length: float) -> Inertia:
    """A thin uniform bar along x, with a little inertia about its own axis."""
    thin = inertia.rod(mass, length, "x")
    across = thin.tensor[1, 1]
    return replace(thin, tensor=np.diag([AXIAL * across, across, across]))


def rod(
    m: Mechanism, name: str, start: PlanePoint, end: PlanePoint, mass: float | None = None
) -> BodyHandle:
    """A bar between two points, its x axis from start to end, its origin midway.

    Without a mass it weighs 1 kg a metre.
    """
    d = end.at - start.at
    length = inertia.length_of(d)
    return m.body(
        name,
        inertia=bar(length if mass is None else mass, length),
        position=(start.at + end.at) / 2.0,
        orientation=upright(d),
        velocity=(start.velocity + end.velocity) / 2.0,
        angular_velocity=inertia.cross(d, end.velocity - start.velocity) / length**2,
    )


def plate(
    m: Mechanism,
    name: str,
    corners: tuple[PlanePoint, PlanePoint, PlanePoint],
    density: float = 1.0,
) -> BodyHandle:
    """A triangle of bars [kg/m], axes as those of the world, origin at the first corner."""
    first, second, third = corners
    sides = [(first, second), (second, third), (third, first)]
    bars = []
    for P, Q in sides:
        d = Q.at - P.at
        length = float(np.linalg.norm(d))
        bars.append(bar(density * length, length).at((P.at + Q.at) / 2.0 - first.at, upright(d)))
    d, v = second.at - first.at, second.velocity - first.velocity
    return m.body(
        name,
        inertia=inertia.composite(*bars),
        position=first.at,
        velocity=first.velocity,
        angular_velocity=inertia.cross(d, v) / (d @ d),
    )


def upright(x: FloatArray) -> FloatArray:
    """Axes as columns: the first along x, the second horizontal; y of the world in the plane xz."""
    first = x / inertia.length_of(x)
    across = np.array([-first[1], first[0], 0.0])  # z × first
    steep = abs(first[1]) < 1e-15
    second = np.array([0.0, 1.0, 0.0]) if steep else across / inertia.length_of(across)
    return inertia.as_columns(first, second, inertia.cross(first, second))


def require_count(what: str, value: Any, least: int = 1) -> int:
    """A whole number that is large enough."""
    if not isinstance(value, int | np.integer) or value < least:
        raise InputError(what, found=repr(value), expected=f"a whole number of at least {least}")
    return int(value)
