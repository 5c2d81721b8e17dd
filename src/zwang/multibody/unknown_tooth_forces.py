"""Multibody models with gears that have no pressure angle: what their teeth exert besides.

Teeth act on both wheels with some force and moment, of which such a joint knows one component. The
others load whatever holds the wheels: any part of the relative motion w of the two bodies that the
constraints rule out, w = K v with K in the row space of A, may transmit a force that nothing
determines. With K beside A, reactions that it changes are those that are not determinate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.linalg.least_change import least_change
from zwang.multibody.frozen import Parts
from zwang.multibody.marker import Joint
from zwang.rotation.quaternion import rotation_matrix
from zwang.terms import FloatArray

__all__ = ["UNTOLD", "untold_joints", "untold_rows"]

#: The note about such a joint.
UNTOLD = "ties rates alone: what its teeth exert on bearings is not known"

#: Kinds of joints that tie rates as teeth do.
WITHOUT_TEETH = ("gear", "rack_and_pinion")
#: What the constraints leave of a relative motion, relative, if they rule it out.
RULED_OUT = 1e-6


def untold_joints(parts: Parts) -> list[Joint]:
    """Gears and racks that act, of whose teeth no force is known."""
    acting = {parts.owner(element.name) for element in parts.constraints}
    return [
        joint
        for joint in parts.joints.values()
        if joint.kind is not None
        and joint.kind.name in WITHOUT_TEETH
        and joint.kind.contact is None
        and joint.name in acting
    ]


def untold_rows(parts: Parts, joint: Joint, q: FloatArray, A: Any) -> FloatArray:
    """K of one joint at a state, shape (k, nv), each row a combination of those of A."""
    W = _relative(parts, joint, q)
    transposed = A.T if isinstance(A, np.ndarray) else A.T.tocsr()
    left = np.empty(W.T.shape)
    for i, w in enumerate(W):
        weights = np.ones(A.shape[0])
        left[:, i] = w - transposed @ least_change(transposed, w, weights)
    _, values, directions = np.linalg.svd(left, full_matrices=False)
    sizes = np.zeros(len(W))
    sizes[: len(values)] = values
    return directions[sizes <= RULED_OUT * np.linalg.norm(W)] @ W


def _relative(parts: Parts, joint: Joint, q: FloatArray) -> FloatArray:
    """Rows of the motion of the second body against the first, at a point of the first."""
    q_starts, v_starts = parts.places
    assert joint.a is not None
    plane = parts.kind.plane
    W = np.zeros((6, len(parts.velocities)))
    at = _origin(parts, joint, q)
    for i, sign in zip(joint.bodies, (-1.0, 1.0), strict=True):
        if i < 0:
            continue
        own, columns = q[q_starts[i] : q_starts[i + 1]], slice(v_starts[i], v_starts[i + 1])
        if plane is None:
            R, arm = rotation_matrix(own[3:7]), at - own[:3]
            turned = np.column_stack([np.cross(R[:, k], arm) for k in range(3)])
            W[:, columns] = sign * np.block([[np.eye(3), turned], [np.zeros((3, 3)), R]])
        else:
            first, second, normal = plane
            arm = np.zeros(3)
            arm[[first, second]] = at[[first, second]] - own[:2]
            W[first, columns.start] = W[second, columns.start + 1] = sign
            W[:3, columns.start + 2] = sign * np.cross(np.eye(3)[normal], arm)
            W[3 + normal, columns.start + 2] = sign
    return W[np.any(W, axis=1)]


def _origin(parts: Parts, joint: Joint, q: FloatArray) -> FloatArray:
    """The point of the joint on its first body, in the world."""
    marker = joint.a
    assert marker is not None
    if marker.body < 0:
        return marker.arm
    start = parts.places[0][marker.body]
    plane = parts.kind.plane
    if plane is None:
        return q[start : start + 3] + rotation_matrix(q[start + 3 : start + 7]) @ marker.arm
    point = np.zeros(3)  # any point of the plane will do: the moment about it is as unknown
    point[list(plane[:2])] = q[start : start + 2]
    return point
