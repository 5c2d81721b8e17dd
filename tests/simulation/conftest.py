"""Systems with motions known by other means."""

import numpy as np
import pytest

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
