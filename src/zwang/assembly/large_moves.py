"""Bodies that an assembly, or another search, has moved far from where they were placed."""

from __future__ import annotations

from dataclasses import dataclass
from math import degrees

import numpy as np

from zwang.multibody.body import Body
from zwang.multibody.frozen import Parts
from zwang.multibody.pose import SCALAR
from zwang.terms import FloatArray

__all__ = ["BodyMove", "extent", "large_moves"]

#: A body has moved far that went this share of the mechanism's size, or turned by this angle [rad]:
#: what was meant may be another of the positions that the joints allow.
FAR, TURNED = 0.25, 0.5


@dataclass(frozen=True)
class BodyMove:
    """How far a search has moved a body: distance of its center [m] and angle [rad]."""

    body: str
    distance: float
    angle: float

    def __str__(self) -> str:
        turned = f", turned by {degrees(self.angle):.0f}°" if self.angle > TURNED else ""
        return f"{self.body} by {self.distance:.2g} m{turned}"


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
    bodies = [body for body in parts.bodies if body.kind is not SCALAR]
    far = FAR * float(np.linalg.norm(extent(parts, parts.start[0])))
    start = parts.start[0] if start is None else start
    moves = [_move(parts, body, start, q) for body in bodies]
    found = [move for move in moves if move.distance > far or move.angle > TURNED]
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

    Each body reaches as far as the points of its joints and its radius of gyration: a wheel has its
    only joint in its center.
    """
    bodies = [body for body in parts.bodies if body.kind is not SCALAR]
    reach = {body.index: _gyration(body) for body in bodies}
    points = []
    for joint in parts.joints.values():
        for marker in (joint.a, joint.b):
            if marker is not None and marker.body < 0:
                points.append(marker.arm)
            elif marker is not None:
                arm = float(np.linalg.norm(marker.arm))
                reach[marker.body] = max(reach.get(marker.body, 0.0), arm)
    for body in bodies:
        center = np.zeros(3)
        own, axes = _own(parts, body, q)[0], body.kind.plane
        center[list(axes[:2]) if axes is not None else slice(None)] = own
        points += [center + reach[body.index], center - reach[body.index]]
    return np.ptp(points, axis=0) if points else np.zeros(3)


def _gyration(body: Body) -> float:
    """The largest radius of gyration [m]; 0 without mass."""
    mass, moments = body.inertia.mass, np.diag(body.inertia.tensor)
    return float(np.sqrt(moments.max() / mass)) if mass > 0.0 else 0.0
