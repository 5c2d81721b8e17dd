"""Systems of functions that several tests of this folder use."""

from __future__ import annotations

import numpy as np

import zwang as zw


def pendulum(**more):
    """A particle on a rod, y downwards."""
    return zw.System(
        coordinates=["x", "y", "z"],
        parameters={"m": 1.5, "g": 9.81, "L": 2.0},
        mass=lambda p: np.diag([p.m] * 3),
        force=lambda p: [0.0, p.m * p.g, 0.0],
        potential=lambda q, p: -p.m * p.g * q[1],
        constraints={"rod": zw.position(lambda q, p: q @ q - p.L**2)},
        **more,
    )


def planar_pendulum():
    """A particle on a rod in a vertical plane, y downwards."""
    return zw.System(
        coordinates=["x", "y"],
        parameters={"m": 1.5, "g": 9.81, "L": 2.0},
        mass=lambda p: np.diag([p.m] * 2),
        force=lambda p: [0.0, p.m * p.g],
        potential=lambda q, p: -p.m * p.g * q[1],
        constraints={"rod": zw.position(lambda q, p: q @ q - p.L**2)},
    )


def double_pendulum():
    """Two particles on two rods in a vertical plane, y downwards."""
    return zw.System(
        coordinates=["x1", "y1", "x2", "y2"],
        parameters={"m": [1.0, 2.0], "g": 9.81, "L": [1.0, 0.7]},
        mass=lambda p: np.diag([p.m[0], p.m[0], p.m[1], p.m[1]]),
        force=lambda p: [0.0, p.m[0] * p.g, 0.0, p.m[1] * p.g],
        constraints={
            "upper": zw.position(lambda q, p: q[0] ** 2 + q[1] ** 2 - p.L[0] ** 2),
            "lower": zw.position(
                lambda q, p: (q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - p.L[1] ** 2
            ),
        },
    )


def four_bar(lengths=(1.0, 3.0, 2.5), ground=3.0):
    """Crank, coupler and rocker as bars with centre and angle: 9 coordinates, 8 conditions."""

    def end(q, k, side, p):
        x, y, angle = q[3 * k], q[3 * k + 1], q[3 * k + 2]
        return np.array([x, y]) + side * 0.5 * p.L[k] * np.array([np.cos(angle), np.sin(angle)])

    names = ["crank", "coupler", "rocker"]
    return zw.System(
        coordinates=[f"{name}_{c}" for name in names for c in ("x", "y", "angle")],
        parameters={"L": list(lengths), "ground": ground, "m": [1.0, 2.0, 1.5], "g": 9.81},
        mass=lambda p: np.diag(
            [e for k in range(3) for e in (p.m[k], p.m[k], p.m[k] * p.L[k] ** 2 / 12)]
        ),
        force=lambda p: [e for k in range(3) for e in (0.0, -p.m[k] * p.g, 0.0)],
        constraints={
            "base": zw.position(lambda q, p: end(q, 0, -1, p)),
            "elbow": zw.position(lambda q, p: end(q, 0, 1, p) - end(q, 1, -1, p)),
            "wrist": zw.position(lambda q, p: end(q, 1, 1, p) - end(q, 2, 1, p)),
            "foot": zw.position(lambda q, p: end(q, 2, -1, p) - np.array([p.ground, 0.0])),
        },
    )


def disk_kinematics(q, p):
    """A of Blajer (6.2), as corrected: ẋ = A v for x_P, y_P, z_P, φ, θ, ψ."""
    phi, theta = q[3], q[4]
    s, c, sp, cp = np.sin(theta), np.cos(theta), np.sin(phi), np.cos(phi)
    A1 = [[cp, -s * sp, c * sp], [sp, s * cp, -c * cp], [0.0, c, s]]
    A2 = [[0.0, 1 / c, 0.0], [-1.0, 0.0, 0.0], [0.0, -s / c, 1.0]]
    A3 = [[-p.r * c * sp, p.r * s / c * cp, 0.0], [p.r * c * cp, p.r * s / c * sp, 0.0]]
    A3 += [[-p.r * s, 0.0, 0.0]]
    upper = [[*A1[i], *A3[i]] for i in range(3)]
    return upper + [[0.0, 0.0, 0.0, *A2[i]] for i in range(3)]


def disk_force(q, v, p):
    """h* of Blajer (6.10)."""
    theta = q[4]
    s, c, tan = np.sin(theta), np.cos(theta), np.tan(theta)
    return [
        p.m * v[4] * (v[1] * tan - v[2]),
        p.m * (v[3] * v[2] - v[4] * v[0] * tan - p.g * c),
        p.m * (v[4] * v[0] - v[3] * v[1] - p.g * s),
        p.J * v[4] * (v[4] * tan - 2 * v[5]),
        p.J * v[3] * (2 * v[5] - v[4] * tan),
        0.0,
    ]


def rolling_disk():
    """Blajer's disk in quasi-velocities, (6.1)–(6.10): contact holonomic, rolling not."""

    def rolling(q, v, p):
        x_dot = np.array(disk_kinematics(q, p)) @ v
        return [
            x_dot[0] + p.r * x_dot[5] * np.cos(q[3]),
            x_dot[1] + p.r * x_dot[5] * np.sin(q[3]),
        ]

    return zw.System(
        coordinates=["x", "y", "z", "phi", "theta", "psi"],
        velocities=["v1", "v2", "v3", "v4", "v5", "v6"],
        kinematics=disk_kinematics,
        parameters={"m": 2.0, "r": 0.5, "J": 0.125, "g": 9.81},
        mass=lambda p: np.diag([p.m, p.m, p.m, p.J, p.J, 2 * p.J]),
        force=disk_force,
        constraints={
            "contact": zw.position(lambda q: q[2]),
            "rolling": zw.velocity(rolling),
        },
    )
