"""Ready-made mechanism: the bicycle of Whipple, with the parameters of the published benchmark."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.mechanism import Mechanism
from zwang.multibody import inertia
from zwang.multibody.handles import BodyHandle
from zwang.terms import FloatArray

__all__ = ["whipple_bicycle"]

#: Published axes (x forward, y to the right, z down) in ours (x forward, y to the left, z up).
TURN = np.diag([1.0, -1.0, -1.0])
#: Wheel base and trail [m], tilt of the steer axis from the vertical [rad].
WHEEL_BASE, TRAIL, TILT = 1.02, 0.08, np.pi / 10.0
REAR_RADIUS, FRONT_RADIUS = 0.3, 0.35


def whipple_bicycle(*, speed: float = 5.0, lean_rate: float = 0.0, g: float = 9.81) -> Mechanism:
    """Whipple's bicycle: a frame with its rider, a fork, two thin wheels that roll.

    Wheels roll without slipping on the plane z = 0. The axis of the fork crosses the ground ahead
    of the front contact by the trail. ``frame`` and ``rear_wheel`` meet at ``rear_hub``, ``frame``
    and ``fork`` at ``head``, ``fork`` and ``front_wheel`` at ``front_hub``. 21
    equations for 24 velocities: three degrees of freedom in velocity (lean, steer, speed), seven of
    position. It starts upright, straight ahead along x.

    Source: J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab: Linearized dynamics
    equations for the balance and steer of a bicycle: a benchmark and review, Proceedings of the
    Royal Society A 463 (2007) 1955–1982; table 1, where z points down and y to the right.

    Parameters
    ----------
    speed : forward [m/s].
    lean_rate : of the whole about the line between the contacts, to the right [rad/s].
    g : gravity [m/s²].

    Examples
    --------
    >>> whipple_bicycle().explain().degrees_of_freedom
    3
    """
    m = Mechanism(gravity=(0.0, 0.0, -g))
    lean = np.array([lean_rate, 0.0, 0.0])

    def motion(at: Any, spin: float = 0.0) -> dict[str, Any]:
        forward = np.array([speed, 0.0, 0.0])
        return {
            "position": np.asarray(at, dtype=float),
            "velocity": forward + np.cross(lean, at),
            "angular_velocity": lean + np.array([0.0, spin, 0.0]),
        }

    def body(name: str, mass: float, at: FloatArray, J: list[list[float]]) -> BodyHandle:
        made = inertia.tensor(mass, J, axes=TURN)
        return m.body(name, inertia=made, **motion(at))

    def wheel(
        name: str, mass: float, x: float, radius: float, moments: tuple[float, float]
    ) -> BodyHandle:
        across, about = moments
        return m.body(
            name,
            mass=mass,
            inertia=(across, about, across),
            **motion((x, 0.0, radius), speed / radius),
        )

    rear = wheel("rear_wheel", 2.0, 0.0, REAR_RADIUS, (0.0603, 0.12))
    front = wheel("front_wheel", 3.0, WHEEL_BASE, FRONT_RADIUS, (0.1405, 0.28))
    frame = body(
        "frame",
        85.0,
        np.array([0.3, 0.0, 0.9]),
        [[9.2, 0.0, 2.4], [0.0, 11.0, 0.0], [2.4, 0.0, 2.8]],
    )
    fork = body(
        "fork",
        4.0,
        np.array([0.9, 0.0, 0.7]),
        [[0.05892, 0.0, -0.00756], [0.0, 0.06, 0.0], [-0.00756, 0.0, 0.00708]],
    )
    head = np.array([WHEEL_BASE + TRAIL, 0.0, 0.0])
    m.revolute("rear_hub", frame, rear, at=(0.0, 0.0, REAR_RADIUS), axis="y")
    m.revolute("head", frame, fork, at=head, axis=(-np.sin(TILT), 0.0, np.cos(TILT)))
    m.revolute("front_hub", fork, front, at=(WHEEL_BASE, 0.0, FRONT_RADIUS), axis="y")
    for name, body_, x, radius in (
        ("rear_contact", rear, 0.0, REAR_RADIUS),
        ("front_contact", front, WHEEL_BASE, FRONT_RADIUS),
    ):
        at = ((0.0, 0.0, 0.0), (x, 0.0, radius))
        m.rolling_disk(name, m.ground, body_, at=at, axis="z", axis_b="y", radius=radius)
    return m
