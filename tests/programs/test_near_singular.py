"""The compiled acceleration next to a position where the constraints lose rank."""

import numpy as np
import pytest

from zwang import library
from zwang.integrators.settings import Settings
from zwang.simulation.select_program import ProgramStart, select_program

G = 9.81
RATE = 4.6  # of the cranks [rad/s], about that of the benchmark where it passes flat positions


def linkages_near_flat(n, angle):
    """State of N four-bars with their cranks at an angle from the upward vertical, and v̇.

    One freedom: θ̈ = g ((N + 1)/2 + N)/((N + 1)/3 + N) sin θ.
    """
    x, y = np.sin(angle), np.cos(angle)
    turning = G * ((n + 1) / 2 + n) / ((n + 1) / 3 + n) * x
    q = np.array([z for i in range(n + 1) for z in (i + x, y)])
    v = np.array([RATE * y, -RATE * x] * (n + 1))
    v_dot = np.array([turning * y - RATE**2 * x, -turning * x - RATE**2 * y] * (n + 1))
    return q, v, v_dot


@pytest.mark.parametrize("distance", [1e-1, 1e-2, 1e-3, 3e-4])
def test_acceleration_is_good_next_to_a_flat_position(distance):
    n = 2
    system = library.n_four_bar(n)
    p = system.parameter_vector()
    rng = np.random.default_rng(7)
    # Rounding of the state is magnified by 1/σ, the regularisation leaves (δ/σ²)².
    limit = 1e-13 / distance + 100 * (1e-12 / distance**2) ** 2
    for _ in range(20):
        q, v, expected = linkages_near_flat(n, np.pi / 2 + distance * rng.uniform(0.9, 1.1))
        program = select_program(
            system.equations,
            ProgramStart(np.concatenate([q, v]), 0.0, p),
            Settings(until=1.0),
        )
        v_dot, _ = program.kernel("forces")(q, v, 0.0, p)
        assert np.abs(np.ravel(v_dot) - expected).max() < limit * np.abs(expected).max()
