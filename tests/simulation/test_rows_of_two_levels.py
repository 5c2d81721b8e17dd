"""Rows of positions and of velocities that depend on each other: positions are kept, not let drift.

A disk rolls in a parabola without slipping. It touches by two equations of positions, with the
place of contact as a coordinate of its own, and its lowest point rests by two of velocities: one of
the four follows from the others. The motion is that of one equation, derived apart.
"""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import zwang as zw

MASS, RADIUS, GRAVITY = 1.0, 0.1, 9.81
#: Tolerances that the contact may be off by after 5 s: where rows take over from others some ten
#: are lost, and where depends on the processor. An equation of positions that drifts costs 1800.
OFF = 200.0


def disk_in_parabola(k: float) -> zw.System:
    """The disk at (x, z), turned by th, over the ground z = k x²/2, which it touches at x = u."""

    def normal(u):
        n = np.array([-k * u, 1.0])
        return n / np.sqrt(n @ n)

    def touch(q):
        return q[:2] - np.array([q[3], k * q[3] ** 2 / 2]) - RADIUS * normal(q[3])

    def roll(q, v):
        n = normal(q[3])
        return [v[0] - RADIUS * n[1] * v[2], v[1] + RADIUS * n[0] * v[2]]

    return zw.System(
        ["x", "z", "th", "u"],
        mass=np.diag([MASS, MASS, MASS * RADIUS**2 / 2, 0.0]),
        potential=lambda q: MASS * GRAVITY * q[1],
        constraints={"touch": zw.position(touch), "roll": zw.velocity(roll)},
    )


def contact_by_one_equation(k: float, u: float, times: np.ndarray) -> np.ndarray:
    """Places of contact of the disk from rest: energy with the speed of the center as s' u̇.

    s' is the slope of its way: (1 + k²u²)^½ − R k/(1 + k²u²); its kinetic energy ¾ m ṡ².
    """

    def rates(_, y):
        u, speed = y
        root = np.sqrt(1.0 + (k * u) ** 2)
        slope = root - RADIUS * k / root**2
        curve = k * k * u / root + 2.0 * RADIUS * k**3 * u / root**4
        height = k * u - RADIUS * k * k * u / root**3  # dz/du of the center
        return [speed, -(GRAVITY * height / 1.5 + slope * curve * speed**2) / slope**2]

    found = solve_ivp(
        rates, (0.0, times[-1]), [u, 0.0], method="DOP853", t_eval=times, rtol=1e-13, atol=1e-14
    )
    return found.y[0]


@pytest.mark.parametrize("k", [0.7, 1.2, 1.9])
@pytest.mark.parametrize("integrator", ["auto", "gauss"])
def test_positions_are_kept_where_velocities_say_the_same(k: float, integrator: str) -> None:
    system = disk_in_parabola(k)
    start = system.assemble(hold={"u": 0.5, "th": 0.0}, prefer={"x": 0.5, "z": 0.2})
    for tolerance in (1e-6, 1e-9):
        run = system.simulate(
            start, until=5.0, tolerance=tolerance, save=0.01, integrator=integrator
        )
        assert run.finished, run.status
        assert run.worst_residual < 1e-11
        expected = contact_by_one_equation(k, 0.5, run.t)
        assert np.abs(run.q[:, 3] - expected).max() < OFF * tolerance
        left_out = [note for note in run.notes if "follow from the others" in note]
        assert left_out
        assert all(note.rpartition(": ")[2].startswith("roll") for note in left_out)


def test_such_a_run_is_verified(tmp_path: Path) -> None:
    system = disk_in_parabola(1.2)
    start = system.assemble(hold={"u": 0.5, "th": 0.0}, prefer={"x": 0.5, "z": 0.2})
    system.simulate(start, until=5.0, tolerance=1e-9, save=0.05).save(tmp_path / "run")
    outcome = zw.verify(tmp_path / "run", system)
    assert outcome, str(outcome)
