"""What families are drawn with: a mechanism under way, its masses, and loops of hinges.

A joint of `zwang.Mechanism` is closed wherever it is placed, so that any points and axes make a
closed linkage; what a family adds are the relations between them that let it move, or lock it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import zwang as zw

__all__ = [
    "Draft",
    "Drawn",
    "Friction",
    "Swing",
    "across",
    "geared",
    "plane_axes",
    "turn",
    "unit",
]

#: Gravity of all that has weight [m/s²].
GRAVITY = np.array([0.0, 0.0, -9.81])


@dataclass(frozen=True)
class Friction:
    """Friction in a hinge as stated: bodies by name (None for the ground), its axis as placed."""

    joint: str
    a: str | None
    b: str
    axis: np.ndarray
    coefficient: float
    radius: float
    viscous: float
    velocity: float


@dataclass(frozen=True)
class Drawn:
    """A mechanism drawn at random, and what is known of it without the library.

    Attributes
    ----------
    freedoms : independent motions, counted by hand.
    masses : of its bodies by name, all with their origin at the centre of mass.
    gravity : that acts on them.
    lossless : whether energy is kept.
    friction : in hinges.
    spread : ratio of the largest mass to the smallest, where accuracy suffers from it.
    planar : whether all bodies move in one plane although they are built in space.
    redundant_in_plane : whether rows follow from others even when it is written in that plane.
    carried : whether other coordinates than those of its bodies are there to be chosen.
    exact : times → position of a named body by equations written down for this family alone,
        from a start at rest.
    """

    mechanism: zw.Mechanism
    freedoms: int
    masses: dict[str, float]
    gravity: np.ndarray
    lossless: bool = True
    friction: tuple[Friction, ...] = ()
    spread: float = 1.0
    planar: bool = False
    redundant_in_plane: bool = False
    carried: bool = True
    exact: tuple[str, Callable[[np.ndarray], np.ndarray]] | None = None


@dataclass(frozen=True)
class Swing:
    """A body that turns about a fixed line: J θ̈ = z·(r(θ) × W)."""

    at: np.ndarray
    axis: np.ndarray
    r: np.ndarray
    J: float
    weight: np.ndarray

    def moment(self, angle: float) -> float:
        """Of its weight, about the line."""
        return float(self.axis @ np.cross(turn(self.axis, angle) @ self.r, self.weight))

    def position(self, angle: float) -> np.ndarray:
        """Of its center of mass."""
        return self.at + turn(self.axis, angle) @ self.r


def geared(swings: Sequence[Swing], ratios: Sequence[float], t: np.ndarray) -> np.ndarray:
    """Angle of the first of bodies that turn by fixed ratios of it, from rest, at times t."""
    J = sum(s.J * k**2 for s, k in zip(swings, ratios, strict=True))

    def rate(_: float, y: np.ndarray) -> list[float]:
        moment = sum(k * s.moment(k * y[0]) for s, k in zip(swings, ratios, strict=True))
        return [y[1], moment / J]

    found = solve_ivp(rate, (0.0, t[-1]), [0.0, 0.0], "DOP853", t, rtol=1e-12, atol=1e-12)
    return found.y[0]


@dataclass
class Draft:
    """A mechanism under way."""

    rng: np.random.Generator
    gravity: np.ndarray = field(default_factory=lambda: GRAVITY)
    plane: str | None = None
    parameters: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.m = zw.Mechanism(
            gravity=self.gravity, plane=self.plane, parameters=self.parameters or None
        )
        self.masses: dict[str, float] = {}
        self.moments: dict[str, np.ndarray] = {}
        self.friction: list[Friction] = []

    @property
    def ground(self) -> Any:
        return self.m.ground

    def body(self, name: str, at: Any, mass: float | None = None, size: float = 0.4) -> Any:
        """A box of random sides with its centre of mass at a point."""
        mass = float(self.rng.uniform(0.5, 2.0)) if mass is None else mass
        sides = size * self.rng.uniform(0.3, 1.0, 3)
        self.masses[name] = mass
        self.moments[name] = mass * (sides @ sides - sides**2) / 12.0
        at = np.asarray(at, dtype=float)
        if self.plane is not None:
            moment = mass * (sides[0] ** 2 + sides[1] ** 2) / 12.0
            return self.m.body(name, mass=mass, inertia=moment, position=at)
        return self.m.body(name, inertia=zw.inertia.box(mass, sides), position=at)

    def link(self, name: str, p: Any, q: Any, mass: float | None = None) -> Any:
        """A body somewhere about the middle of two points."""
        p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
        middle = p + self.rng.uniform(0.3, 0.7) * (q - p)
        return self.body(name, middle, mass, size=float(np.linalg.norm(q - p)) + 0.05)

    def loop(self, points: Sequence[Any], axes: Sequence[Any] | None, name: str = "") -> list[Any]:
        """A loop of hinges through points about axes, closed by the ground; its bodies."""
        bodies = [
            self.link(f"{name}link{k}", points[k - 1], points[k]) for k in range(1, len(points))
        ]
        around = [self.ground, *bodies, self.ground]
        for k, point in enumerate(points):
            where = {} if axes is None else {"axis": axes[k]}
            self.m.revolute(f"{name}hinge{k}", around[k], around[k + 1], at=point, **where)
        return bodies

    def rub(self, joint: str, a: str | None, b: str, axis: Any, dry: float = 0.0) -> None:
        """Friction in a hinge, viscous and, if asked for, dry."""
        law = {
            "coefficient": dry,
            "radius": float(self.rng.uniform(0.01, 0.05)),
            "viscous": float(self.rng.uniform(0.02, 0.2)),
            "velocity": 0.3,
        }
        self.m.friction(joint, **law)
        self.friction.append(Friction(joint, a, b, unit(axis), **law))

    def done(self, freedoms: int, **known: Any) -> Drawn:
        """What was drawn."""
        known.setdefault("lossless", not self.friction)
        return Drawn(
            self.m, freedoms, self.masses, self.gravity, friction=tuple(self.friction), **known
        )

    def swinging(self, name: str, at: np.ndarray, axis: np.ndarray, center: np.ndarray) -> Swing:
        """How a body turns about a line through a point, from where it is placed."""
        r = center - at
        arm = r - (r @ axis) * axis
        J = axis @ (self.moments[name] * axis) + self.masses[name] * (arm @ arm)
        return Swing(at, axis, r, float(J), self.masses[name] * self.gravity)

    # --- random directions and places -------------------------------------------------------------

    def direction(self) -> np.ndarray:
        """One of any direction."""
        return unit(self.rng.standard_normal(3))

    def point(self, size: float = 0.6) -> np.ndarray:
        """A point in a cube."""
        return self.rng.uniform(-size, size, 3)

    def plane_axes(self) -> np.ndarray:
        """Axes (columns u, v, n) of a plane: one of the world's, at 45° to it, or any."""
        normals = [(0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, -1), None, None]
        normal = normals[self.rng.integers(len(normals))]
        return plane_axes(self.direction() if normal is None else np.array(normal, dtype=float))


def unit(x: Any) -> np.ndarray:
    """Of length one."""
    x = np.asarray(x, dtype=float)
    return x / np.linalg.norm(x)


def across(n: np.ndarray) -> np.ndarray:
    """A unit vector normal to another: exactly so along the world's axes and at 45° to them."""
    k = int(np.argmin(np.abs(n)))
    return unit(np.cross(n, np.eye(3)[k]))


def plane_axes(normal: np.ndarray) -> np.ndarray:
    """Axes u, v, n of a plane, as columns."""
    n = unit(normal)
    u = across(n)
    return np.column_stack([u, np.cross(n, u), n])


def turn(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation about an axis (Rodrigues)."""
    x, y, z = unit(axis)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
