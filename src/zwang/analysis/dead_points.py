"""Kinematic analysis: dead points and change points of driven mechanisms, by name.

At a dead point the drivers hold the mechanism no longer in one direction: A w = 0 has a solution
w ≠ 0, a motion with all drivers at rest, and the driver's own value has reached an end of its range
(a limb in line with another). At a change point two ways to go on cross.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from zwang.analysis.path_equations import PathEquations
from zwang.analysis.path_following import DEAD, Follower, Singular
from zwang.analysis.quantities import parts_of
from zwang.diagnosis.wording import listing
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["DeadPoint", "DriverRange", "free_motions", "moving_names", "named", "reach"]

#: How far, in units of a displacement, ends of a driver's range are looked for.
FAR = 200.0
#: Entries of a motion below this share of the largest are rounding.
MOVES = 1e-6


@dataclass(frozen=True)
class DeadPoint:
    """A position in which drivers do not determine the motion.

    Attributes
    ----------
    kind : ``"dead point"``, where the driver can go no further, or ``"change point"``, where two
        ways to go on cross.
    variable : what the path is over, ``"t"`` or a coordinate such as ``"slide.displacement"``.
    value : its value there.
    q : the configuration, shape (nq,).
    names : bodies or coordinates that can move although all drivers stand still.
    motion : velocities of that motion, shape (nv,), the largest of them 1.
    """

    kind: str
    variable: str
    value: float
    q: FloatArray = field(repr=False)
    names: tuple[str, ...]
    motion: FloatArray = field(repr=False)

    def __str__(self) -> str:
        moving = listing(list(self.names))
        end = (
            "the driver can go no further"
            if self.kind == DEAD
            else "two branches cross; the path keeps to its own"
        )
        return (
            f"{self.kind} at {self.variable} = {self.value:.9g}: {moving} can move with all "
            f"drivers at rest; {end}"
        )


@dataclass(frozen=True)
class DriverRange:
    """How far a driver can go from a configuration without taking the mechanism apart.

    Attributes
    ----------
    driver : the coordinate.
    low, high : its range; −∞ or ∞ where no end was found.
    full_turn : whether an angle can turn for ever.
    dead_points : the ends.
    """

    driver: str
    low: float
    high: float
    full_turn: bool
    dead_points: tuple[DeadPoint, ...]

    def __str__(self) -> str:
        if self.full_turn:
            return f"{self.driver} can turn fully"
        return f"{self.driver} can go from {self.low:.9g} to {self.high:.9g}"


def named(follower: Follower, place: Singular) -> DeadPoint:
    """A singular place of a path, with the motion that is free there."""
    equations = follower.equations
    A = equations.geometry(place.x).rows[:, :-1]
    scaled = follower.E[:, None] * A * follower.D[:-1]
    # The least singular value that is not one of an idle motion.
    _, _, Vt = np.linalg.svd(scaled)
    w = follower.D[:-1] * Vt[equations.nv - follower.idle - 1]
    w = w / w[np.argmax(np.abs(w))]
    q = place.x[:-1]
    return DeadPoint(
        place.kind,
        equations.variable,
        float(place.x[-1]),
        q,
        moving_names(equations.system, w),
        w,
    )


def free_motions(follower: Follower, x: FloatArray) -> FloatArray:
    """Motions that rows allow with the path's variable held, shape (nv, k)."""
    A = follower.equations.geometry(x).rows[:, :-1]
    scaled = follower.E[:, None] * A * follower.D[:-1]
    _, values, Vt = np.linalg.svd(scaled)
    rank = int(np.sum(values > MOVES * values.max(initial=1.0)))
    return follower.D[:-1, None] * Vt[rank:].T


def moving_names(system: System, v: FloatArray) -> tuple[str, ...]:
    """Bodies of a mechanism, or velocities of a system, that take part in a motion."""
    limit = MOVES * np.abs(v).max(initial=0.0)
    parts = parts_of(system)
    if parts is None:
        return tuple(n for n, x in zip(system.velocities, v, strict=True) if abs(x) > limit)
    _, starts = parts.places
    return tuple(
        body.name
        for i, body in enumerate(parts.bodies)
        if np.abs(v[starts[i] : starts[i + 1]]).max(initial=0.0) > limit
    )


def reach(equations: PathEquations, x: FloatArray, *, turns: bool) -> DriverRange:
    """The range of a driver's coordinate about a configuration."""
    ends, found = [], []
    for direction in (-1.0, 1.0):
        follower = Follower(equations, x, 2.0 * np.pi if turns else 1.0)
        far = x[-1] + direction * (2.0 * np.pi + 1e-6 if turns else FAR)
        path = follower.follow(follower.start(x, direction), far)
        dead = [named(follower, p) for p in path.singular if p.kind == DEAD]
        if not path.reached and dead:
            ends.append(dead[0].value)
            found.append(dead[0])
        else:
            ends.append(direction * np.inf)
    full = turns and not found
    return DriverRange(equations.variable, ends[0], ends[1], full, tuple(found))
