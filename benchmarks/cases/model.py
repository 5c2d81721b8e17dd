"""What a work is: bodies, joints and forces in the world at the start, and where to be when.

Engines build it in their own way and hand back positions at given times. The error is the largest
distance to a reference that owes nothing to any engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

__all__ = ["GRAVITY", "INERTIA", "Body", "Joint", "Mount", "Spring", "Wheel", "Work", "Y", "rod"]

GRAVITY = 9.81
#: Principal moments of a rod of 1 kg and 1 m along its x axis, slender but not without axial
#: inertia, which some engines refuse.
INERTIA = np.array([1e-4, 1.0 / 12.0, 1.0 / 12.0])
Y = np.array([0.0, 1.0, 0.0])


def _zeros() -> np.ndarray:
    return np.zeros(3)


@dataclass(frozen=True)
class Body:
    """A rigid body: centre of mass, principal axes as columns, motion, mass, principal moments."""

    center: np.ndarray
    axes: np.ndarray
    velocity: np.ndarray = field(default_factory=_zeros)
    omega: np.ndarray = field(default_factory=_zeros)
    mass: float = 1.0
    inertia: np.ndarray = field(default_factory=lambda: INERTIA)


@dataclass(frozen=True)
class Joint:
    """A hinge or a guide between two bodies, −1 the ground; `closing` ones are cut from the tree.

    `rate` is the joint's at the start, of b against a: engines with joint coordinates need it.
    """

    a: int
    b: int
    point: np.ndarray
    axis: np.ndarray
    rate: float = 0.0
    closing: bool = False
    kind: str = "pin"  # or "slide"


@dataclass(frozen=True)
class Spring:
    """A spring with a damper between a point of one body and a point of another."""

    a: int
    b: int
    at_a: np.ndarray
    at_b: np.ndarray
    stiffness: float
    damping: float
    length: float


@dataclass(frozen=True)
class Mount:
    """A bushing: a point of a and one of b, both at `point` at the start, a vector d apart.

    The force on b is −k d − c ḋ, with the same stiffness and damping in all directions; turns are
    free.
    """

    a: int
    b: int
    point: np.ndarray
    stiffness: float
    damping: float


@dataclass(frozen=True)
class Wheel:
    """A body with a thin rim about an axis through its centre that rolls on the plane z = 0."""

    body: int
    axis: np.ndarray
    radius: float

    def contact(self, center: np.ndarray) -> np.ndarray:
        """The lowest point of the rim at the start."""
        up = np.array([0.0, 0.0, 1.0])
        up = up - self.axis[2] * self.axis
        return center - self.radius * up / np.linalg.norm(up)


@dataclass(frozen=True)
class Work:
    """A problem, how long it is watched, and where its points must be.

    Attributes
    ----------
    name, about : what it is called in tables, and one line on it.
    times : when positions are compared, from 0 on.
    find : computes where they must be, (times, points, 3) [m].
    source : where that comes from.
    watched : which bodies' centres are the points, all unless given; a work without bodies, stated
        by functions, says in `about` which points it means.
    bodies, joints, springs, torques, wheels, mounts, gravity : the mechanism; torques are (body,
        world vector).
    planar : whether it moves in the plane y = 0, hinges about y.
    touching : whether the points are where its wheels touch the ground.
    stiff : whether methods for stiff equations are tried on it.
    """

    name: str
    about: str
    times: np.ndarray
    find: Callable[[], np.ndarray]
    source: str
    watched: tuple[int, ...] | None = None
    bodies: tuple[Body, ...] = ()
    joints: tuple[Joint, ...] = ()
    springs: tuple[Spring, ...] = ()
    torques: tuple[tuple[int, np.ndarray], ...] = ()
    wheels: tuple[Wheel, ...] = ()
    mounts: tuple[Mount, ...] = ()
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -GRAVITY]))
    planar: bool = False
    touching: bool = False
    stiff: bool = False

    @property
    def until(self) -> float:
        """When it ends [s]."""
        return float(self.times[-1])

    @cached_property
    def tree(self) -> list[Joint]:
        """The joints that are not cut, parents before children and each branch in one piece.

        One of the engines (Pinocchio 4.1) gives wrong loop forces, silently, in any other order.
        """
        kept = [joint for joint in self.joints if not joint.closing]
        if all(joint.a == joint.b - 1 for joint in kept):
            return kept
        found: list[Joint] = []
        roots = {-1, *self.free}
        open_ = [joint for joint in reversed(kept) if joint.a in roots]
        while open_:
            joint = open_.pop()
            found.append(joint)
            open_ += [child for child in reversed(kept) if child.a == joint.b]
        return found

    @property
    def free(self) -> list[int]:
        """Bodies that no joint of the tree holds."""
        held = {joint.b for joint in self.joints if not joint.closing}
        return [k for k in range(len(self.bodies)) if k not in held]

    @property
    def loops(self) -> list[Joint]:
        """The joints that close loops."""
        return [joint for joint in self.joints if joint.closing]

    @property
    def points(self) -> list[int]:
        """Numbers of the bodies whose centres are compared."""
        return list(range(len(self.bodies))) if self.watched is None else list(self.watched)

    @property
    def start(self) -> list[np.ndarray]:
        """Where the points of its bodies are when it starts."""
        if self.touching:
            return [wheel.contact(self.bodies[wheel.body].center) for wheel in self.wheels]
        return [self.bodies[k].center for k in self.points]

    @cached_property
    def reference(self) -> np.ndarray:
        """Where the points must be, (times, points, 3) [m]."""
        return self.find()

    def error(self, places: np.ndarray) -> float:
        """Largest distance of a point from where it must be [m]; infinite for nonsense."""
        distance = np.linalg.norm(places - self.reference, axis=2).max()
        return float(distance) if np.isfinite(distance) else float("inf")


def rod(p: object, q: object, **motion: np.ndarray) -> Body:
    """A rod of 1 kg from p to q, its x axis along it; inertia for its length."""
    a, b = np.asarray(p, float), np.asarray(q, float)
    length = float(np.linalg.norm(b - a))
    x = (b - a) / length
    helper = Y if abs(x[1]) < 0.5 else np.array([0.0, 0.0, 1.0])
    z = np.cross(x, helper)
    z /= np.linalg.norm(z)
    axes = np.column_stack([x, np.cross(z, x), z])
    inertia = INERTIA * np.array([1.0, length**2, length**2])
    return Body((a + b) / 2, axes, inertia=inertia, **motion)
