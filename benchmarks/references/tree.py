"""Trees of hinges and guides in joint coordinates, by dense recursion; loops and rolling wheels.

Slow and plain: for references that are stored. All Jacobians J map joint rates to velocities in the
world; with v̇ = 0 the same recursion gives the accelerations that are left, and

    M = Σ m J_cᵀ J_c + J_ωᵀ I J_ω,     h = Σ m J_cᵀ (a_c − g) + J_ωᵀ (I α + ω × I ω).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.cases.model import Body, Joint

__all__ = ["Terms", "Tree", "rotation"]


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a × b without the cost of `numpy.cross`."""
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def rotation(vector: np.ndarray) -> np.ndarray:
    """Rotation by a vector (Rodrigues)."""
    angle = np.linalg.norm(vector)
    if angle < 1e-300:
        return np.eye(3)
    x, y, z = vector / angle
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


@dataclass(frozen=True)
class Moving:
    """A body under way: world = turn · start + origin; motion of its point P; Jacobians there."""

    turn: np.ndarray
    origin: np.ndarray
    omega: np.ndarray
    alpha: np.ndarray
    P: np.ndarray
    a: np.ndarray
    J: np.ndarray
    J_omega: np.ndarray

    def place(self, start: np.ndarray) -> np.ndarray:
        """Where a point is now that was at `start`."""
        return self.turn @ start + self.origin

    def acceleration(self, x: np.ndarray) -> np.ndarray:
        """Of the point now at x, for v̇ = 0."""
        r = x - self.P
        return self.a + cross(self.alpha, r) + cross(self.omega, cross(self.omega, r))

    def rows(self, x: np.ndarray) -> np.ndarray:
        """Jacobian of the point now at x."""
        return self.J + cross(self.J_omega, (x - self.P)[:, None] + 0 * self.J)


@dataclass(frozen=True)
class Terms:
    """Mass matrix, bias force, and the bodies."""

    M: np.ndarray
    h: np.ndarray
    moving: list[Moving]


class Tree:
    """Joint k carries body k (None: nothing); its parent is joint `a` or the ground, −1."""

    def __init__(self, joints: list[Joint], bodies: list[Body | None], gravity: np.ndarray) -> None:
        self.joints, self.bodies, self.gravity = joints, bodies, gravity

    def terms(self, q: np.ndarray, v: np.ndarray) -> Terms:
        """Everything at a state."""
        n = len(self.joints)
        zero, none = np.zeros(3), np.zeros((3, n))
        ground = Moving(np.eye(3), zero, zero, zero, zero, zero, none, none)
        moving: list[Moving] = []
        M, h = np.zeros((n, n)), np.zeros(n)
        for k, (joint, body) in enumerate(zip(self.joints, self.bodies, strict=True)):
            parent = ground if joint.a < 0 else moving[joint.a]
            moving.append(_child(parent, joint, k, q[k], v[k]))
            if body is None:
                continue
            m = moving[-1]
            center = m.place(body.center)
            axes = m.turn @ body.axes
            I = axes @ np.diag(body.inertia) @ axes.T
            J = m.rows(center)
            M += body.mass * J.T @ J + m.J_omega.T @ I @ m.J_omega
            h += body.mass * J.T @ (m.acceleration(center) - self.gravity)
            h += m.J_omega.T @ (I @ m.alpha + cross(m.omega, I @ m.omega))
        return Terms(M, h, moving)

    def centers(self, q: np.ndarray) -> list[np.ndarray]:
        """Centres of the bodies."""
        moving = self.terms(q, np.zeros(len(q))).moving
        pairs = zip(moving, self.bodies, strict=True)
        return [m.place(body.center) for m, body in pairs if body is not None]


def _child(parent: Moving, joint: Joint, k: int, q: float, v: float) -> Moving:
    point, axis = parent.place(joint.point), parent.turn @ joint.axis
    if joint.kind == "slide":
        shift = axis * q
        J = parent.rows(point + shift).copy()
        J[:, k] += axis
        a = parent.acceleration(point + shift) + 2.0 * cross(parent.omega, axis * v)
        return Moving(
            parent.turn,
            parent.origin + shift,
            parent.omega,
            parent.alpha,
            point + shift,
            a,
            J,
            parent.J_omega,
        )
    R = rotation(axis * q)
    J_omega = parent.J_omega.copy()
    J_omega[:, k] += axis
    return Moving(
        R @ parent.turn,
        R @ (parent.origin - point) + point,
        parent.omega + axis * v,
        parent.alpha + cross(parent.omega, axis * v),
        point,
        parent.acceleration(point),
        parent.rows(point),
        J_omega,
    )
