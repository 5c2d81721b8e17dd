"""A rigid body of a mechanism: mass, inertia, placement and kind of motion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zwang.multibody.inertia import Inertia, cross
from zwang.multibody.mesh import MeshFile
from zwang.multibody.pose import GROUND, SCALAR, BodyKind
from zwang.terms import FloatArray

__all__ = ["Body", "Placement"]

#: A moment of inertia below this share of the largest is none: rounding in a rod's tensor.
NO_INERTIA = 1e-11


@dataclass(frozen=True)
class Placement:
    """A pose and its rates: origin and axes of a body in the world.

    Attributes
    ----------
    position, velocity : of the body's origin, world axes.
    rotation : from body to world axes, shape (3, 3).
    omega : angular velocity in world axes.
    """

    position: FloatArray
    rotation: FloatArray
    velocity: FloatArray
    omega: FloatArray

    @classmethod
    def at_rest(cls, position: FloatArray, rotation: FloatArray) -> Placement:
        """A pose without motion."""
        return cls(position, rotation, np.zeros(3), np.zeros(3))

    def point(self, local: FloatArray) -> FloatArray:
        """World position of a point of the body."""
        return self.position + self.rotation @ local

    def local_point(self, world: FloatArray) -> FloatArray:
        """Where a world point is in the body."""
        return self.rotation.T @ (world - self.position)

    def point_velocity(self, local: FloatArray) -> FloatArray:
        """World velocity of a point of the body."""
        return self.velocity + cross(self.omega, self.rotation @ local)


@dataclass(frozen=True)
class Body:
    """One body, or an extra generalized coordinate.

    Attributes
    ----------
    name : the user's.
    index : place among the bodies of the mechanism; −1 for the ground.
    kind : what it moves in.
    inertia : mass, centre and tensor in body axes; for a coordinate its mass alone counts.
    placement : where it starts; for a coordinate value and rate are in its first components.
    mesh : what it looks like, in place of the shapes of its inertia.
    parametric : whether its inertia depends on parameters of the mechanism.
    """

    name: str
    index: int
    kind: BodyKind
    inertia: Inertia
    placement: Placement
    mesh: MeshFile | None = None
    parametric: bool = False

    @property
    def is_ground(self) -> bool:
        """Whether this is what does not move."""
        return self.kind is GROUND

    @cached_property
    def singular(self) -> bool:
        """Whether it can move without inertia: it has no mass, or is a point or a thin rod."""
        mass, J = self.inertia.mass, self.inertia.tensor
        if mass == 0.0 or self.kind is SCALAR:
            return mass == 0.0
        if self.kind.plane is not None:
            return float(J[self.kind.plane[2], self.kind.plane[2]]) <= 0.0
        off = J[0, 1] or J[0, 2] or J[1, 2]
        moments = np.linalg.eigvalsh(J) if off else np.sort(np.diag(J))
        return float(moments[0]) <= NO_INERTIA * float(moments[-1])

    def coordinates(self) -> FloatArray:
        """q at the start."""
        if self.kind is SCALAR:
            return self.placement.position[:1].copy()
        center = self.placement.point(self.inertia.center)
        R = self.placement.rotation
        if self.kind.plane is None:
            from zwang.rotation.quaternion import from_rotation_matrix

            return np.concatenate([center, from_rotation_matrix(R)])
        i, j, k = self.kind.plane
        a, b = (k + 1) % 3, (k + 2) % 3
        return np.array([center[i], center[j], R[a, a], R[b, a]])

    def velocities(self) -> FloatArray:
        """Velocities at the start."""
        place = self.placement
        if self.kind is SCALAR:
            return place.velocity[:1].copy()
        v = place.point_velocity(self.inertia.center)
        if self.kind.plane is None:
            return np.concatenate([v, place.rotation.T @ place.omega])
        i, j, k = self.kind.plane
        return np.array([v[i], v[j], place.omega[k]])
