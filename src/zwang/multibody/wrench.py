"""Force and moment of a joint at its point, from generalized forces on bodies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zwang.multibody.frozen import Parts
from zwang.multibody.marker import Joint, Marker
from zwang.multibody.pose import BodyKind
from zwang.rotation.quaternion import rotation_matrix
from zwang.terms import FloatArray

__all__ = ["Wrench", "ended", "joint_wrench", "pose", "wrench_expression"]


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


def ended(joint: Joint) -> Marker:
    """The marker on the body for which a reaction is told: on the second, or the first if that is
    the ground.
    """
    assert joint.a is not None
    assert joint.b is not None
    return joint.b if joint.b.body >= 0 else joint.a


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
    # On the second body, or what the first one gets, reversed.
    marker = ended(joint)
    sign = 1.0 if marker is joint.b else -1.0
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


def wrench_expression(kind: BodyKind, config: Any, force: Any, arm: Any, sign: float) -> Any:
    """`joint_wrench` as an expression: force and moment at a point of a body, in world axes.

    Six numbers, in a plane as well.

    Parameters
    ----------
    config : of the body, see `zwang.multibody.pose`.
    force : generalized, on the velocities of the body.
    arm : from its centre of mass to the point, body axes, (3,).
    """
    import casadi as ca

    if kind.plane is None:
        R = ca.reshape(config[3:12], 3, 3).T  # entries are told row by row
        about = ca.mtimes(R, force[3:6])
        return sign * ca.vertcat(force[:3], about - ca.cross(ca.mtimes(R, arm), force[:3]))
    a, b, k = kind.plane
    # (a, b, k) need not be right-handed: cos and sin turn about k from the axis after it on.
    cos, sin = config[2], config[3]
    first, second = (k + 1) % 3, (k + 2) % 3
    turned, push, about = (ca.SX.zeros(3, 1) for _ in range(3))
    turned[first] = cos * arm[first] - sin * arm[second]
    turned[second] = sin * arm[first] + cos * arm[second]
    turned[k] = arm[k]  # a point may be above the plane of the center
    push[a], push[b], about[k] = force[0], force[1], force[2]
    return sign * ca.vertcat(push, about - ca.cross(turned, push))
