"""Systems with motions known by other means."""

import mpmath
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import zwang as zw

G = 9.81


@pytest.fixture(scope="session")
def pendulum():
    """A mass on a rod in Cartesian coordinates, y up."""
    return zw.System(
        ["x", "y"],
        parameters={"m": 1.3, "g": G, "L": 1.0},
        mass=lambda p: np.diag([p.m, p.m]),
        force=lambda p: [0.0, -p.m * p.g],
        potential=lambda q, p: p.m * p.g * q[1],
        constraints={"rod": zw.position(lambda q, p: q[0] ** 2 + q[1] ** 2 - p.L**2)},
    )


def pendulum_angle(t, amplitude, length=1.0):
    """Angle from the downward vertical, released at rest, by Jacobi's elliptic functions."""
    k = mpmath.sin(mpmath.mpf(amplitude) / 2)
    w = mpmath.sqrt(mpmath.mpf(G) / length)
    sn = mpmath.ellipfun("sn", mpmath.ellipk(k**2) - w * mpmath.mpf(t), m=k**2)
    return float(2 * mpmath.asin(k * sn))


@pytest.fixture(scope="session")
def parallelogram():
    """One four-bar of three equal rods that folds flat twice a turn, each rod as (x, y, angle)."""

    def end(q, i, side):
        return [
            q[3 * i] + side * 0.5 * np.cos(q[3 * i + 2]),
            q[3 * i + 1] + side * 0.5 * np.sin(q[3 * i + 2]),
        ]

    def meet(i, a, j, b):
        return zw.position(lambda q: np.array(end(q, i, a)) - np.array(end(q, j, b)))

    return zw.System(
        [f"{c}{i}" for i in range(3) for c in ("x", "y", "a")],
        parameters={"m": 1.0, "g": G},
        mass=lambda p: np.diag([p.m, p.m, p.m / 12.0] * 3),
        force=lambda p: [0.0, -p.m * p.g, 0.0] * 3,
        constraints={
            "A": zw.position(lambda q: end(q, 0, -1)),
            "B": meet(0, 1, 1, -1),
            "C": meet(1, 1, 2, 1),
            "D": zw.position(lambda q: np.array(end(q, 2, -1)) - np.array([1.0, 0.0])),
        },
    )


def parallelogram_state(angle, rate):
    """State of the mechanism with both cranks at an angle, coupler level."""
    c, s = np.cos(angle), np.sin(angle)
    crank, crank_rate = [0.5 * c, 0.5 * s, angle], [-0.5 * s * rate, 0.5 * c * rate, rate]
    q = [*crank, c + 0.5, s, 0.0, 1.0 + crank[0], crank[1], angle]
    v = [*crank_rate, -s * rate, c * rate, 0.0, *crank_rate]
    return np.array(q), np.array(v)


def parallelogram_angle(t, angle, rate):
    """Crank angle at time t from the equation of one freedom, in 13 digits."""
    inertia, lever = 2.0 / 3.0 + 1.0, 2.0  # two cranks about their pins, the coupler in translation
    found = solve_ivp(
        lambda _, y: [y[1], -G * lever / inertia * np.cos(y[0])],
        (0.0, t),
        [angle, rate],
        method="DOP853",
        rtol=1e-13,
        atol=1e-14,
    )
    return found.y[0, -1]
