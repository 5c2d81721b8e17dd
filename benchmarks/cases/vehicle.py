"""A vehicle on a test rig whose axles are mounted on rubber bushings, stiff."""

from __future__ import annotations

import numpy as np

from benchmarks.cases.model import Body, Joint, Mount, Spring, Work
from benchmarks.references import stored

__all__ = ["vehicle"]

#: Height of the center of the chassis; places of the axles along it [m].
HEIGHT, AXLES = 0.6, (1.3, -1.3)
#: The chassis lands with this velocity, rolling and pitching [m/s, rad/s].
VELOCITY, TURNING = np.array([0.0, 0.0, -1.0]), np.array([0.3, 0.2, 0.0])
#: Stiffness and damping [N/m, N s/m]: of a bushing (a loss factor of 1/4 at 10 Hz), of a tire.
BUSHING, TIRE = (1e7, 4e4), (2e5, 5e2)
#: Stiffness, damping and free length of a suspension spring [N/m, N s/m, m].
SUSPENSION = (6.4e4, 3.8e3, 0.567)


def _body(mass: float, inertia: tuple[float, float, float], center: np.ndarray) -> Body:
    """A body that moves with the landing chassis."""
    velocity = VELOCITY + np.cross(TURNING, center - np.array([0.0, 0.0, HEIGHT]))
    return Body(center, np.eye(3), velocity, TURNING, mass, np.array(inertia))


def vehicle() -> Work:
    """Chassis, two subframes on four bushings each, four arms with wheels on hinges.

    Bushings and tires are isotropic: a force −k d − c ḋ where d is the distance of two points.
    """
    bodies = [_body(1200.0, (400.0, 1500.0, 1700.0), np.array([0.0, 0.0, HEIGHT]))]
    bodies += [_body(25.0, (2.0, 1.0, 2.5), np.array([x, 0.0, 0.35])) for x in AXLES]
    joints, springs, mounts = [], [], []
    for axle, x in enumerate(AXLES, start=1):
        corners = [(x + along, across) for along in (0.2, -0.2) for across in (0.4, -0.4)]
        mounts += [Mount(0, axle, np.array([*corner, 0.4]), *BUSHING) for corner in corners]
        for side in (1.0, -1.0):
            arm = len(bodies)
            bodies.append(_body(40.0, (0.8, 0.8, 0.8), np.array([x, 0.65 * side, 0.31])))
            hinge = np.array([x, 0.35 * side, 0.33])
            joints.append(Joint(axle, arm, hinge, np.array([1.0, 0.0, 0.0])))
            ends = np.array([x, 0.5 * side, 0.8]), np.array([x, 0.6 * side, 0.32])
            springs.append(Spring(0, arm, *ends, *SUSPENSION))
            mounts.append(Mount(-1, arm, np.array([x, 0.75 * side, 0.3]), *TIRE))
    return Work(
        "vehicle",
        "a vehicle lands on a test rig, its axles mounted on stiff rubber bushings, 5 s",
        np.linspace(0.0, 5.0, 11),
        lambda: stored("vehicle"),
        "22 joint coordinates, Lagrange's equations; DOP853",
        bodies=tuple(bodies),
        joints=tuple(joints),
        springs=tuple(springs),
        mounts=tuple(mounts),
        stiff=True,
    )
