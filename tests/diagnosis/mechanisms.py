"""Mechanisms small enough to be checked by hand, with redundant joints."""

from __future__ import annotations

import numpy as np

GRAVITY = 10.0


def three_cranks(
    sine: float = 0.8, cosine: float = 0.6, rate: float = 0.0
) -> tuple[dict, dict[str, float]]:
    """A parallelogram with three equal, parallel cranks on ground pins, and a coupler on top.

    Planar bodies (x, y, angle): cranks 1, 2, 3 of length 2 and mass 1, rods; coupler of mass 3.
    Ground pins at x = 0, 1, 3. Twelve rows of rank 11, one freedom.
    """
    length, mass, coupler_mass = 2.0, 1.0, 3.0
    u = np.array([cosine, sine])
    turn = np.array([-sine, cosine])  # derivative of u by the angle
    pins = [0.0, 1.0, 3.0]
    inertia = mass * length**2 / 12
    n = 12
    M = np.diag([mass, mass, inertia] * 3 + [coupler_mass, coupler_mass, 2.0])
    Q = np.zeros(n)
    Q[[1, 4, 7]] = -mass * GRAVITY
    Q[10] = -coupler_mass * GRAVITY
    rows, rhs, names = [], [], []
    for k, x in enumerate(pins):
        # Ground pin: centre − (L/2) u = (x, 0); coupler pin: centre + (L/2) u = point of coupler.
        # The coupler's own frame is at its first pin; its points are (x, 0) away and do not turn.
        for axis in range(2):
            ground, top = np.zeros(n), np.zeros(n)
            ground[3 * k + axis], top[3 * k + axis] = 1.0, 1.0
            ground[3 * k + 2] = -0.5 * length * turn[axis]
            top[3 * k + 2] = 0.5 * length * turn[axis]
            top[9 + axis] = -1.0
            top[11] = -(0.0 if axis == 0 else x)
            rows += [ground, top]
            swing = 0.5 * length * rate**2 * u[axis]  # −(L/2) u φ̇² on the other side
            rhs += [-swing, swing]
            names += [f"ground{k}[{axis}]", f"top{k}[{axis}]"]
    coordinates = [f"{q}{k}" for k in (1, 2, 3) for q in ("x", "y", "a")] + ["xc", "yc", "ac"]
    system = {
        "M": M,
        "Q": Q,
        "A": np.array(rows),
        "b": np.array(rhs),
        "names": names,
        "coordinates": coordinates,
    }
    # Lagrange with the angle alone: (Σ I + m_c L²) φ̈ = −(3 m L/2 + m_c L) g cos φ
    moment = (3 * mass * length / 2 + coupler_mass * length) * GRAVITY * cosine
    total = 3 * (inertia + mass * length**2 / 4) + coupler_mass * length**2
    return system, {"angular_acceleration": -moment / total, "length": length}


def door(kinds: tuple[str, str, str] = ("hinge", "hinge", "hinge")) -> dict:
    """A door of mass 20 on three hinges on its edge x = −0.5, at heights −1, 0 and 1.

    Velocities of the centre and angular velocities (vx, vy, vz, wx, wy, wz). A ``hinge`` holds its
    point and both tilts (5 rows), a ``ball`` its point (3), a ``ring`` its point but not its
    height (2).
    """
    M = np.diag([20.0, 20.0, 20.0, 7.0, 9.0, 2.0])
    Q = np.array([0.0, 0.0, -20.0 * GRAVITY, 0.0, 0.0, 3.0])
    rows, names = [], []
    for kind, label, z in zip(kinds, ("low", "middle", "high"), (-1.0, 0.0, 1.0), strict=True):
        r = np.array([-0.5, 0.0, z])
        cross = np.array([[0, r[2], -r[1]], [-r[2], 0, r[0]], [r[1], -r[0], 0]])  # ω × r
        held = np.hstack([np.eye(3), cross])
        tilt = np.hstack([np.zeros((2, 3)), np.eye(3)[:2]])
        own = {"hinge": np.vstack([held, tilt]), "ball": held, "ring": held[:2]}[kind]
        rows.append(own)
        names += [f"{label}[{i}]" for i in range(len(own))]
    A = np.vstack(rows)
    return {
        "M": M,
        "Q": Q,
        "A": A,
        "b": np.zeros(len(A)),
        "names": names,
        "coordinates": ["vx", "vy", "vz", "wx", "wy", "wz"],
    }


def beam_on_springs() -> dict:
    """A rigid beam on three supports at −1, 0.5 and 2, with a swinging load that accelerates.

    Coordinates: height, angle, and the load's own coordinate, which is coupled through M.
    """
    M = np.array([[5.0, 1.0, 2.0], [1.0, 3.0, -1.0], [2.0, -1.0, 4.0]])
    Q = np.array([-50.0, 7.0, 3.0])
    A = np.array([[1.0, -1.0, 0.0], [1.0, 0.5, 0.0], [1.0, 2.0, 0.0]])
    return {"M": M, "Q": Q, "A": A, "b": np.zeros(3)}


def terms_of(system: dict) -> dict:
    """The keywords that `explain` takes: everything but the force."""
    return {key: value for key, value in system.items() if key != "Q"}
