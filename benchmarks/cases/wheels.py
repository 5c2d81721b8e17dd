"""Wheels that roll without slipping on the plane z = 0: a disk alone, and a bicycle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.cases.model import Body, Joint, Wheel, Work, Y
from benchmarks.references import known_motion, stored

__all__ = ["FRONT", "LEAN_RATE", "REAR", "SPEED", "bicycle", "disk"]

X, Z = np.eye(3)[0], np.eye(3)[2]

# --- a disk ---------------------------------------------------------------------------------------

RADIUS = 0.5


def disk() -> Work:
    """A thin disk of 1 kg that rolls and wobbles; axes ξ, η, ζ as in Blajer (1992), section 6."""
    motion = known_motion("rolling_disk")
    lean, rates = motion["q"][3], motion["v"][2:]
    up = np.array([0.0, np.sin(lean), np.cos(lean)])
    axle = np.cross(X, up)
    omega = rates[0] * Z - rates[1] * X + rates[2] * axle
    across = RADIUS**2 / 4.0
    body = Body(
        RADIUS * up,
        np.column_stack([X, up, axle]),
        velocity=np.cross(omega, RADIUS * up),
        omega=omega,
        inertia=np.array([across, across, 2.0 * across]),
    )

    def places() -> np.ndarray:
        return np.array([[[q[0], q[1], 0.0]] for q in (motion["q"], motion["q_end"])])

    return Work(
        "rolling_disk",
        "a thin disk that rolls and wobbles, 5 s; its point of contact at the end",
        np.array([0.0, motion["until"]]),
        places,
        "Euler angles in 36 digits (tests/reference/make_motions.py)",
        bodies=(body,),
        wheels=(Wheel(0, axle, RADIUS),),
        touching=True,
    )


# --- a bicycle ------------------------------------------------------------------------------------

#: Meijaard, Papadopoulos, Ruina & Schwab (2007), table 1; x forward, y to the left, z up.
WHEEL_BASE, TRAIL, TILT = 1.02, 0.08, np.pi / 10.0
REAR, FRONT, SPEED, LEAN_RATE = 0.3, 0.35, 5.0, 0.5


def _body(mass: float, center: tuple[float, float, float], tensor: list[list[float]]) -> Body:
    """A body by its inertia tensor in the axes of the bicycle."""
    moments, axes = np.linalg.eigh(np.array(tensor))
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    return _moving(Body(np.array(center), axes, mass=mass, inertia=moments), 0.0)


def _wheel(mass: float, x: float, radius: float, across: float, about: float) -> Body:
    """A wheel with its axle along y."""
    inertia = np.array([across, about, across])
    body = Body(np.array([x, 0.0, radius]), np.eye(3), mass=mass, inertia=inertia)
    return _moving(body, SPEED / radius)


def _moving(body: Body, spin: float) -> Body:
    """The body, going ahead and leaning with all others, and turning about its axle."""
    velocity = SPEED * X + np.cross(LEAN_RATE * X, body.center)
    return replace(body, velocity=velocity, omega=LEAN_RATE * X + spin * Y)


def bicycle() -> Work:
    """Whipple's bicycle, pushed to the side: rolls, leans and steers.

    Frame, rear wheel, fork, front wheel; at the start upright, straight ahead.
    """
    hub, front_hub = np.array([0.0, 0.0, REAR]), np.array([WHEEL_BASE, 0.0, FRONT])
    head = np.array([WHEEL_BASE + TRAIL, 0.0, 0.0])
    steer = np.array([-np.sin(TILT), 0.0, np.cos(TILT)])
    fork_tensor = [[0.05892, 0, 0.00756], [0, 0.06, 0], [0.00756, 0, 0.00708]]
    return Work(
        "bicycle",
        "Whipple's bicycle at 5 m/s, pushed to the side at 0.5 rad/s, 5 s",
        np.linspace(0.0, 5.0, 26),
        lambda: stored("bicycle"),
        "nine joint coordinates and six rolling conditions, dense recursion; DOP853",
        bodies=(
            _body(85.0, (0.3, 0.0, 0.9), [[9.2, 0, -2.4], [0, 11.0, 0], [-2.4, 0, 2.8]]),
            _wheel(2.0, 0.0, REAR, 0.0603, 0.12),
            _body(4.0, (0.9, 0.0, 0.7), fork_tensor),
            _wheel(3.0, WHEEL_BASE, FRONT, 0.1405, 0.28),
        ),
        joints=(
            Joint(0, 1, hub, Y, rate=SPEED / REAR),
            Joint(0, 2, head, steer),
            Joint(2, 3, front_hub, Y, rate=SPEED / FRONT),
        ),
        wheels=(Wheel(1, Y, REAR), Wheel(3, Y, FRONT)),
    )
