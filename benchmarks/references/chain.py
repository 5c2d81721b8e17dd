"""The open chain of any length, in time proportional to it.

Rod k has the angle θ (x along the rod is (cos θ, −sin θ) in x and z), its two pins carry F_k and
F_{k+1}. With u = (cos θ, −sin θ) along and n = (−sin θ, −cos θ) across the rod, rods of mass 1,
length 1 and moment J about the centre c

    c̈ = F_k − F_{k+1} + g,     J θ̈ = −½ n · (F_k + F_{k+1}),

and that the end of one rod is the beginning of the next,

    c̈_k + ½ (n θ̈ − u θ̇²)_k = c̈_{k+1} − ½ (n θ̈ − u θ̇²)_{k+1},

gives a system for the forces with three blocks of 2 × 2 a row, solved as a band.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import solve_banded

__all__ = ["angular_accelerations", "chain_centers"]

MOMENT = 1.0 / 12.0


def angular_accelerations(angle: np.ndarray, rate: np.ndarray, gravity: float) -> np.ndarray:
    """θ̈ of all rods."""
    n = len(angle)
    u = np.stack([np.cos(angle), -np.sin(angle)], axis=1)
    across = np.stack([-np.sin(angle), -np.cos(angle)], axis=1)
    # Both ends move by ± ½ n θ̈ with θ̈ = −½ n·(F_k + F_{k+1}) / J: a symmetric block of each rod.
    turn = across[:, :, None] * across[:, None, :] / (4.0 * MOMENT)
    eye = np.eye(2)
    diagonal = np.zeros((n, 2, 2))
    # Row k: the acceleration of pin k seen from rod k less that from rod k − 1 (the ground: 0).
    diagonal += eye + turn
    diagonal[1:] += eye + turn[:-1]
    upper = -eye + turn[:-1]  # of F_{k+1} in row k, and of F_k in row k + 1
    spin = 0.5 * u * (rate**2)[:, None]
    right = np.zeros((n, 2))
    right[0] = -np.array([0.0, -gravity]) - spin[0]
    right[1:] = -spin[1:] - spin[:-1]
    force = solve_banded((3, 3), _band(diagonal, upper), right.ravel()).reshape(n, 2)
    both = force + np.concatenate([force[1:], np.zeros((1, 2))])
    return -0.5 * np.einsum("ki,ki->k", across, both) / MOMENT


def _band(diagonal: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """A symmetric block tridiagonal matrix in the layout of `solve_banded`."""
    n = len(diagonal)
    band = np.zeros((7, 2 * n))
    for i in range(2):
        for j in range(2):
            band[3 + i - j, j::2] = diagonal[:, i, j]
            band[3 + i - j - 2, 2 + j :: 2] = upper[:, i, j]
            band[3 + i - j + 2, j : 2 * n - 2 : 2] = upper[:, j, i]
    return band


def chain_centers(n: int, gravity: float, times: np.ndarray) -> np.ndarray:
    """Centres of the rods at the times, from the horizontal at rest, (times, n, 3)."""

    def f(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], angular_accelerations(y[:n], y[n:], gravity)])

    span = (0.0, float(times[-1]))
    y = solve_ivp(
        f, span, np.zeros(2 * n), method="DOP853", rtol=3e-14, atol=1e-14, t_eval=times
    ).y.T
    x, z = np.cos(y[:, :n]), -np.sin(y[:, :n])
    centers = np.zeros((len(times), n, 3))
    centers[:, :, 0] = np.cumsum(x, axis=1) - x / 2
    centers[:, :, 2] = np.cumsum(z, axis=1) - z / 2
    return centers
