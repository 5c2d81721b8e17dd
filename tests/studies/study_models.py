"""Models that the tests of studies share, and digests of datasets."""

import hashlib
from pathlib import Path

import numpy as np

import zwang as zw


def rod_mass(q, p):
    return [[p.m, 0.0], [0.0, p.m]]


def rod_force(q, p):
    return [0.0, -p.m * p.g]


def rod_length(q, p):
    return q[0] ** 2 + q[1] ** 2 - p.L**2


def pendulum() -> zw.System:
    """A mass on a rod, its functions in a module, so that other processes find them."""
    return zw.System(
        ["x", "y"],
        mass=rod_mass,
        force=rod_force,
        constraints={"rod": rod_length},
        parameters={"m": 1.0, "g": 9.81, "L": 1.0},
    )


def pendulum_plan(count: int = 40, **other) -> dict:
    """Lengths and velocities on a grid."""
    return {
        "grid": {"L": np.linspace(0.5, 1.5, count // 4), "start.x_dot": [0.5, 1.0, 1.5, 2.0]},
        "start": {"x": 0.0, "y": "-L"},
        "until": 1.0,
        "times": 3,
        "outputs": ["x", "end(y)", "peak(x)", "turn = first_crossing(x_dot, 0)"],
        "settings": {"tolerance": 1e-8, "integrator": "order8"},
        "shard": 16,
        **other,
    }


def digest(folder: Path) -> str:
    """Of all files of a dataset but wall times, with their names."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        if path.is_file() and place.parts[:2] not in (("record", "log"), ("record", "lock")):
            found.update(f"{place} ".encode() + path.read_bytes())
    return found.hexdigest()
