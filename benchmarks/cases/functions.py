"""Works without bodies: a condition on velocities, and a base that is driven."""

from __future__ import annotations

import numpy as np

from benchmarks.cases.model import Work
from benchmarks.references import known_motion

__all__ = ["car_axis", "particle"]


def car_axis() -> Work:
    """Two masses on rods and springs, the right wheel's base going up and down."""
    motion = known_motion("car_axis")

    def places() -> np.ndarray:
        ends = np.array([motion["q"], motion["q_end"]]).reshape(2, 2, 2)
        return np.insert(ends, 1, 0.0, axis=2)

    return Work(
        "car_axis",
        "the car axis of the Test Set for IVP Solvers, driven base, 3 s; both ends at the end",
        np.array([0.0, motion["until"]]),
        places,
        "two degrees of freedom in 36 digits (tests/reference/make_motions.py)",
    )


def particle() -> Work:
    """ẏ = zẋ + sin t under forces that depend on time."""
    motion = known_motion("nonholonomic_particle")
    return Work(
        "nonholonomic_particle",
        "a particle with ẏ = zẋ + sin t, 8 s; its place at the end",
        np.array([0.0, motion["until"]]),
        lambda: np.array([[motion["q"]], [motion["q_end"]]]),
        "closed form for z, the rest in 36 digits (tests/reference/make_motions.py)",
    )
