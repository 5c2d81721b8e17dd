"""Motions of the pendulum and the parallelogram, by other means than the library."""

import mpmath
import numpy as np
from scipy.integrate import solve_ivp

G = 9.81


def pendulum_angle(t, amplitude, length=1.0):
    """Angle from the downward vertical, released at rest, by Jacobi's elliptic functions."""
    k = mpmath.sin(mpmath.mpf(amplitude) / 2)
    w = mpmath.sqrt(mpmath.mpf(G) / length)
    sn = mpmath.ellipfun("sn", mpmath.ellipk(k**2) - w * mpmath.mpf(t), m=k**2)
    return float(2 * mpmath.asin(k * sn))


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
