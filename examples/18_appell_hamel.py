"""Appell and Hamel's machine: a constraint that is nonlinear in the velocities.

A weight hangs on a thread that is wound on a drum; the drum is fixed to a wheel that rolls on the
ground in whichever direction it is turned. With massless wheels only the speeds are tied,
ẋ² + ẏ² = κ² ż². Here the machine is steered by a force at right angles to its way. The weight falls
with g / (1 + κ²), whatever the heading does.
"""

import numpy as np

import zwang as zw

machine = zw.System(
    coordinates=["x", "y", "z"],
    parameters={"m": 1.0, "g": 9.81, "kappa": 1.5, "steer": 3.0},
    mass=lambda p: p.m * np.eye(3),
    force=lambda v, p: [-p.steer * v[1], p.steer * v[0], -p.m * p.g],
    potential=lambda q, p: p.m * p.g * q[2],
    constraints={
        "roll": zw.velocity(lambda v, p: (v[0] ** 2 + v[1] ** 2 - (p.kappa * v[2]) ** 2) / 2)
    },
)


def main() -> zw.Run:
    """Let it run round and round, and compare the fall with the formula."""
    start = machine.assemble(
        hold={"x": 0.0, "y": 0.0, "z": 0.0},
        velocity={"hold": {"y_dot": 0.0, "z_dot": -0.4}, "prefer": {"x_dot": 1.0}},
    )
    run = machine.simulate(start, until=4.0, save=0.01)
    expected = -0.4 * run.t - 0.5 * 9.81 / (1 + 1.5**2) * run.t**2
    print(f"fall against g/(1 + κ²): {np.abs(run['z'] - expected).max():.1e} m")
    print(f"speeds stay tied to {run.worst_residual:.1e} m²/s²")
    print(f"work of the constraint {run.work.constraint[-1]:.1e} J, energy kept", end="")
    print(f" to {np.ptp(run.energy):.1e} J")
    return run


if __name__ == "__main__":
    main()
