"""Force and moment of a joint at its point, from generalized forces on bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zwang.multibody.frozen import Parts
from zwang.multibody.marker import Joint
from zwang.rotation.quaternion import rotation_matrix
from zwang.terms import FloatArray

__all__ = ["Wrench", "joint_wrench", "pose"]


class Wrench(NamedTuple):
    """What acts on a body, in the world, each (nt, 3); the moment is about the point."""

    force: FloatArray
    moment: FloatArray
    point: FloatArray


def pose(parts: Parts, index: int, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Centre of mass (nt, 3) and rotation (nt, 3, 3) of a body at states (nt, nq)."""
    body, starts = parts.bodies[index], parts.places[0]
    own = q[:, starts[index] : starts[index + 1]]
    if body.kind.plane is None:
        return own[:, :3], rotation_matrix(own[:, 3:])
    a, b, k = body.kind.plane
    center = np.zeros((len(q), 3))
    # What the plane leaves alone stays where the body was placed.
    center[:, k] = body.placement.point(body.inertia.center)[k]
    center[:, [a, b]] = own[:, :2]
    R = np.broadcast_to(np.eye(3), (len(q), 3, 3)).copy()
    first, second = (k + 1) % 3, (k + 2) % 3
    R[:, first, first] = R[:, second, second] = own[:, 2]
    R[:, second, first], R[:, first, second] = own[:, 3], -own[:, 3]
    return center, R


def joint_wrench(
    parts: Parts,
    joint: Joint,
    generalized: FloatArray,
    q: FloatArray,
    point: FloatArray | None = None,
) -> Wrench:
    """What a joint exerts on its second body, at its point on that body.

    Parameters
    ----------
    generalized : force of the joint on all velocities, shape (nt, nv).
    q : the states, shape (nt, nq).
    point : where it acts, if not at the marker, shape (nt, 3).
    """
    assert joint.a is not None
    assert joint.b is not None
    # On the second body, or what the first one gets, reversed.
    marker, sign = (joint.b, 1.0) if joint.b.body >= 0 else (joint.a, -1.0)
    body, start = parts.bodies[marker.body], parts.places[1][marker.body]
    center, R = pose(parts, marker.body, q)
    own = generalized[:, start : start + body.kind.nv]
    if body.kind.plane is None:
        force, about = own[:, :3], (R @ own[:, 3:, None])[..., 0]
    else:
        a, b, k = body.kind.plane
        force, about = np.zeros((len(own), 3)), np.zeros((len(own), 3))
        force[:, [a, b]], about[:, k] = own[:, :2], own[:, 2]
    arm = (R @ marker.arm) if point is None else point - center
    return Wrench(sign * force, sign * (about - np.cross(arm, force)), center + arm)
