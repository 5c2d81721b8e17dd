"""Poses, points and frames of bodies made of symbols, as laws of joints and forces see them.

A joint or force is written once, for points and directions in space. What a body moves in decides
how its pose is made: in space from r and the nine entries of the rotation matrix, in a plane from
two coordinates and (cos, sin), the rest being zeros that disappear from the expressions. In all
cases the rates of the configuration are linear in the velocities,

    ṙ = v,   Ṙ = R ω̃′                              in space, ω′ in body axes
    ċ = −s ω,   ṡ = c ω                             in a plane
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import shown
from zwang.tracing.symbol import Symbol, SymbolArray, symbols_of

if TYPE_CHECKING:
    import casadi

__all__ = ["GROUND", "PLANES", "SCALAR", "SPATIAL", "BodyKind", "Frame", "Pose", "Scalar", "planar"]


@dataclass(frozen=True)
class BodyKind:
    """What a body moves in.

    Attributes
    ----------
    name : space, ground, coordinate, or a plane.
    q, v : endings of the names of coordinates and velocities.
    config : numbers that functions of the pose depend on.
    plane : two axes of the plane and its normal, as indices, or None.
    """

    name: str
    q: tuple[str, ...]
    v: tuple[str, ...]
    config: int
    plane: tuple[int, int, int] | None = None

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.q)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.v)

    @property
    def unit(self) -> tuple[int, ...]:
        """Coordinates of unit length together: Euler parameters, or (cos, sin)."""
        return {7: (3, 4, 5, 6), 4: (2, 3)}.get(self.nq, ())


SPATIAL = BodyKind(
    "space",
    ("x", "y", "z", "e0", "e1", "e2", "e3"),
    ("vx", "vy", "vz", "omega1", "omega2", "omega3"),
    12,
)
GROUND = BodyKind("ground", (), (), 0)
SCALAR = BodyKind("coordinate", ("",), ("rate",), 1)

#: Plane → its two axes and its normal. Angles are positive about the normal.
PLANES = {"xy": (0, 1, 2), "xz": (0, 2, 1), "yz": (1, 2, 0)}


def planar(plane: str) -> BodyKind:
    """The kind of bodies that move in a plane."""
    i, j, _ = PLANES[plane]
    a, b = "xyz"[i], "xyz"[j]
    return BodyKind(plane, (a, b, "cos", "sin"), (f"v{a}", f"v{b}", "omega"), 4, PLANES[plane])


class Pose:
    """Where a body is and how it moves.

    Functions of yours see the body's origin, where `position` of `Mechanism.body` and of runs is;
    joints and forces count from the centre of mass.

    Attributes
    ----------
    position, velocity : of the origin, world axes, shape (3,).
    rotation : from body to world axes, shape (3, 3).
    omega : angular velocity in body axes, shape (3,).
    """

    def __init__(
        self,
        position: Any,
        rotation: Any,
        velocity: Any,
        omega: Any,
        plane: tuple[int, int, int] | None = None,
    ) -> None:
        self.position, self.rotation = position, rotation
        self.velocity, self.omega = velocity, omega
        self._plane = plane

    def about(self, center: Any) -> Pose:
        """The same body seen from its origin, in whose frame the centre of mass is at `center`."""
        origin, velocity = self.point(-center), self.point_velocity(-center)
        return Pose(origin, self.rotation, velocity, self.omega, self._plane)

    def _local(self, value: Any) -> Any:
        """Three numbers or symbols in body axes; two are those in the plane of a planar body."""
        given = _array(value)
        if given.shape == (2,) and self._plane is not None:
            placed = zeros(3)
            placed[list(self._plane[:2])] = given
            return placed
        if given.shape != (3,):
            message = f"a point or vector of a body takes three numbers, not {shown(value)}"
            raise ValueError(message)
        return given

    @property
    def angular_velocity(self) -> Any:
        """Angular velocity in world axes."""
        return self.rotation @ self.omega

    def point(self, local: Any) -> Any:
        """World position of a point given in the body's frame."""
        return self.position + self.rotation @ self._local(local)

    def vector(self, local: Any) -> Any:
        """World components of a vector given in the body's axes."""
        return self.rotation @ self._local(local)

    def point_velocity(self, local: Any) -> Any:
        """Velocity of a point of the body."""
        return self.velocity + self.rotation @ cross(self.omega, self._local(local))


@dataclass(frozen=True)
class Scalar:
    """An extra generalized coordinate of a mechanism: its value and rate."""

    value: Any
    rate: Any


@dataclass(frozen=True)
class Frame:
    """A marker in the world: origin, axes x, y, z, and the motion of its body.

    Attributes
    ----------
    arm : from the body's centre of mass to the origin, body axes.
    """

    origin: Any
    x: Any
    y: Any
    z: Any
    pose: Pose
    arm: Any

    @property
    def velocity(self) -> Any:
        """Velocity of the origin, world axes."""
        return self.pose.velocity + self.pose.rotation @ cross(self.pose.omega, self.arm)

    @property
    def angular_velocity(self) -> Any:
        """Angular velocity of the body, world axes."""
        return self.pose.angular_velocity


def frame(pose: Pose, at: Any, axes: Any) -> Frame:
    """The marker at `at`, from the centre of mass, with axes as columns, in body axes."""
    R = pose.rotation
    return Frame(pose.position + R @ at, R @ axes[:, 0], R @ axes[:, 1], R @ axes[:, 2], pose, at)


def pose_of(kind: BodyKind, config: casadi.SX, v: casadi.SX) -> Any:
    """A `Pose`, or a `Scalar`, from the symbols of a configuration and of velocities."""
    c, w = symbols_of(config), symbols_of(v)
    if kind is SCALAR:
        return Scalar(c[0], w[0])
    if kind is GROUND:
        zero = zeros(3)
        return Pose(zero, identity(), zero, zero)
    if kind.plane is None:
        return Pose(c[:3], c[3:].reshape(3, 3), w[:3], w[3:])
    i, j, k = kind.plane
    position, velocity, omega, R = zeros(3), zeros(3), zeros(3), identity()
    position[i], position[j] = c[0], c[1]
    velocity[i], velocity[j] = w[0], w[1]
    omega[k] = w[2]
    # Positive about the normal: the axis after it turns towards the one before.
    a, b = (k + 1) % 3, (k + 2) % 3
    R[a, a], R[b, b], R[a, b], R[b, a] = c[2], c[2], -c[3], c[3]
    return Pose(position, R, velocity, omega, kind.plane)


def config_rate(kind: BodyKind, config: casadi.SX, v: casadi.SX) -> casadi.SX:
    """Rates of the configuration, linear in v."""
    import casadi as ca

    if kind is GROUND:
        return ca.SX(0, 1)
    if kind is SCALAR:
        return v
    if kind.plane is not None:
        return ca.vertcat(v[0], v[1], -config[3] * v[2], config[2] * v[2])
    R = ca.reshape(config[3:], 3, 3).T  # entries by rows
    spin = ca.mtimes(R, ca.skew(v[3:]))
    return ca.vertcat(v[:3], ca.vec(spin.T))


def config_of(kind: BodyKind, q: casadi.SX) -> casadi.SX:
    """The configuration from the coordinates."""
    if kind.plane is not None or kind is not SPATIAL:
        return q
    return _config_in_space().call([q])[0]


@cache
def _config_in_space() -> casadi.Function:
    """q of a body in space → its configuration; called, it is written down at once."""
    import casadi as ca

    q = ca.SX.sym("q", SPATIAL.nq)
    e0, e1, e2, e3 = (q[k] for k in range(3, 7))
    # Nikravesh's A; every entry that squares one parameter less is one rounding less.
    R = [
        [2 * (e0 * e0 + e1 * e1) - 1, 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2)],
        [2 * (e1 * e2 + e0 * e3), 2 * (e0 * e0 + e2 * e2) - 1, 2 * (e2 * e3 - e0 * e1)],
        [2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), 2 * (e0 * e0 + e3 * e3) - 1],
    ]
    config = ca.vertcat(q[:3], *(entry for row in R for entry in row))
    return ca.Function("config", [q], [config])


def kinematics(kind: BodyKind, q: casadi.SX) -> casadi.SX:
    """N of q̇ = N v for one body: identity for positions, ½ Lᵀ for Euler parameters."""
    return _kinematics(kind).call([q])[0]


@cache
def _kinematics(kind: BodyKind) -> casadi.Function:
    """q of a body of some kind → its N."""
    import casadi as ca

    q, N = ca.SX.sym("q", kind.nq), ca.SX(kind.nq, kind.nv)
    if kind is SCALAR:
        N[0, 0] = 1
    elif kind.plane is not None:
        N[0, 0], N[1, 1], N[2, 2], N[3, 2] = 1, 1, -q[3], q[2]
    elif kind is SPATIAL:
        for k in range(3):
            N[k, k] = 1
        e0, e1, e2, e3 = (q[k] for k in range(3, 7))
        half = [[-e1, -e2, -e3], [e0, -e3, e2], [e3, e0, -e1], [-e2, e1, e0]]
        for i, row in enumerate(half):
            for j, entry in enumerate(row):
                N[3 + i, 3 + j] = 0.5 * entry
    return ca.Function("kinematics", [q], [N])


def rates(kind: BodyKind, q: casadi.SX) -> casadi.SX:
    """W of v = W q̇ for one body: identity for positions, 2 L for Euler parameters.

    W N = I for coordinates of unit length, and Ẇ q̇ = 0, so that v̇ = W q̈.
    """
    W = kinematics(kind, q).T
    if kind is SPATIAL:
        W[3:, 3:] *= 4  # from ½ L to 2 L
    return W


def generalized(kind: BodyKind, pose: Pose, force: Any, moment: Any) -> list[Any]:
    """Force on the velocities of a body of a world force and a world moment about its centre."""
    if kind is GROUND:
        return []
    about = pose.rotation.T @ moment
    if kind.plane is None:
        return [*force, *about]
    i, j, k = kind.plane
    return [force[i], force[j], about[k]]


def zeros(n: int) -> SymbolArray:
    """Zeros that disappear from expressions."""
    import casadi as ca

    return symbols_of(ca.SX.zeros(n, 1))


def identity() -> Any:
    """The unit matrix of order 3."""
    import casadi as ca

    return symbols_of(ca.vec(ca.SX(ca.DM.eye(3)))).reshape(3, 3)


def cross(a: Any, b: Any) -> Any:
    """a × b, for symbols."""
    result = np.empty(3, dtype=object)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        result[k] = a[i] * b[j] - a[j] * b[i]
    return result.view(SymbolArray)


def _array(value: Any) -> Any:
    if isinstance(value, SymbolArray):
        return value
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value
    parts = list(value) if isinstance(value, Iterable) else [value]
    if any(isinstance(x, Symbol) for x in parts):
        result = np.empty(len(parts), dtype=object)
        result[:] = parts
        return result.view(SymbolArray)
    return np.asarray(parts, dtype=float)
