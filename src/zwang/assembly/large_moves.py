"""Bodies that an assembly, or another search, has moved far from where they were placed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import degrees

import numpy as np

from zwang.multibody.body import Body
from zwang.multibody.frozen import Parts
from zwang.multibody.inertia import Shape
from zwang.multibody.pose import SCALAR
from zwang.multibody.wrench import pose
from zwang.terms import FloatArray

__all__ = ["BodyMove", "extent", "large_moves", "notable_moves"]

#: A body has moved far that went this share of the mechanism's size, or turned by this angle [rad]:
#: what was meant may be another of the positions that the joints allow.
FAR, TURNED = 0.25, 0.5
#: By less than these, of the size and [rad], rounding of the numbers that place a body may move it.
NOTABLE, NOTABLY_TURNED = 0.01, np.radians(1.0)
#: A distance below this share of the size is none.
ROUNDING = 1e-9


@dataclass(frozen=True)
class BodyMove:
    """How far a search has moved a body: distance of its center [m] and angle [rad]."""

    body: str
    distance: float
    angle: float

    def __str__(self) -> str:
        parts = [f" by {self.distance:.2g} m"] if self.distance else []
        if self.angle > NOTABLY_TURNED or not parts:
            parts.append(f" turned by {degrees(self.angle):.0f}°")
        return f"{self.body}{','.join(parts)}"


def large_moves(
    parts: Parts, q: FloatArray, start: FloatArray | None = None
) -> tuple[BodyMove, ...]:
    """Bodies that are far from where they were, for the size of the mechanism, or turned.

    Parameters
    ----------
    q : coordinates after assembly, or after a search.
    start : those before; where bodies were placed if not given.

    Returns
    -------
    The farthest first.
    """
    return _moves(parts, q, start, FAR, TURNED)


def notable_moves(parts: Parts, q: FloatArray) -> tuple[BodyMove, ...]:
    """Bodies that an assembly has moved by more than rounding of what they were placed with.

    The farthest first.
    """
    return _moves(parts, q, None, NOTABLE, NOTABLY_TURNED)


def _moves(
    parts: Parts, q: FloatArray, start: FloatArray | None, far: float, turned: float
) -> tuple[BodyMove, ...]:
    """Bodies moved by more than a share of the size, or turned by more than an angle."""
    bodies = [body for body in parts.bodies if body.kind is not SCALAR]
    size = float(np.linalg.norm(extent(parts, parts.start[0])))
    start = parts.start[0] if start is None else start
    moves = [_move(parts, body, start, q) for body in bodies]
    moves = [m if m.distance > ROUNDING * size else replace(m, distance=0.0) for m in moves]
    found = [move for move in moves if move.distance > far * size or move.angle > turned]
    return tuple(sorted(found, key=lambda move: (move.distance, move.angle), reverse=True))


def _own(parts: Parts, body: Body, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coordinates of a body's center, and those of unit length that its orientation has."""
    first, last = parts.places[0][body.index], parts.places[0][body.index + 1]
    own = q[first:last]
    count = min(body.kind.unit)
    return own[:count], own[count:]


def _move(parts: Parts, body: Body, start: FloatArray, q: FloatArray) -> BodyMove:
    (was, before), (now, after) = _own(parts, body, start), _own(parts, body, q)
    cosine = float(before @ after)
    if body.kind.plane is None:  # Euler parameters, of which ±e are one orientation
        angle = 2.0 * np.arccos(min(abs(cosine), 1.0))
    else:
        angle = np.arccos(np.clip(cosine, -1.0, 1.0))
    return BodyMove(body.name, float(np.linalg.norm(now - was)), float(angle))


def extent(parts: Parts, q: FloatArray) -> FloatArray:
    """Edges of the box around all bodies and joints [m], shape (3,).

    Each body reaches as far as its shapes and the points of its joints, turned as it is. One
    without a shape reaches as far as its radius of gyration to all sides.
    """
    bodies = {body.index: body for body in parts.bodies if body.kind is not SCALAR}
    poses = {index: [part[0] for part in pose(parts, index, q[None])] for index in bodies}
    points = [corner for index in bodies for corner in _corners(bodies[index], *poses[index])]
    for joint in parts.joints.values():
        for marker in (joint.a, joint.b):
            if marker is not None and marker.body < 0:
                points.append(marker.arm)
            elif marker is not None and marker.body in poses:
                center, R = poses[marker.body]
                points.append(center + R @ marker.arm)
    return np.ptp(points, axis=0) if points else np.zeros(3)


def _corners(body: Body, center: FloatArray, R: FloatArray) -> list[FloatArray]:
    """Corners of boxes along the axes of the world around the shapes of a body."""
    found = []
    for shape in body.inertia.shapes:
        middle = center + R @ (shape.center - body.inertia.center)
        reach = np.abs(R @ shape.axes) @ _half_edges(shape)
        found += [middle + reach, middle - reach]
    gyration = _gyration(body)
    return found or [center + gyration, center - gyration]


def _half_edges(shape: Shape) -> FloatArray:
    """Half the edges of the box around a shape [m], along its own axes."""
    size = shape.size
    if shape.kind == "box":
        return 0.5 * np.array(size)
    if shape.kind == "rod":
        return np.array([0.0, 0.0, 0.5 * size[0]])
    if shape.kind == "sphere":
        return np.full(3, size[0])
    if shape.kind == "plate":
        return 0.5 * np.array([*size, 0.0])
    return np.array([size[-2], size[-2], 0.5 * size[-1]])  # cylinders and tubes


def _gyration(body: Body) -> float:
    """The largest radius of gyration [m]; 0 without mass."""
    mass, moments = body.inertia.mass, np.diag(body.inertia.tensor)
    return float(np.sqrt(moments.max() / mass)) if mass > 0.0 else 0.0
