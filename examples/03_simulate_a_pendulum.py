"""A pendulum that bounces off a wall: from functions to a run, its forces and its account.

The wall stands upright at x = −0.4 m; each impact keeps eight tenths of the speed towards it.
"""

import numpy as np

import zwang as zw

pendulum = zw.System(
    coordinates=["x", "y"],
    parameters={"m": 2.0, "g": 9.81, "L": 1.0},
    mass=lambda p: p.m * np.eye(2),
    potential=lambda q, p: p.m * p.g * q[1],
    constraints={"rod": zw.position(lambda q, p: q @ q - p.L**2)},
)
wall = zw.event(lambda q: q[0] + 0.4, zw.bounce(0.8), direction=-1)


def main() -> zw.Run:
    """Simulate ten seconds and print a summary."""
    start = pendulum.assemble(hold={"x": 0.8}, prefer={"y": -1.0})
    run = pendulum.simulate(start, until=10.0, events={"wall": wall}, save=0.01, certify=True)
    tension = np.linalg.norm(run.constraint_force("rod"), axis=1)
    print(run)
    print(f"{len(run.events)} impacts, the first at t = {run.events[0].t:.6f} s")
    print(f"energy from {run.energy[0]:.3f} to {run.energy[-1]:.3f} J")
    print(f"largest tension {tension.max():.2f} N at t = {run.t[tension.argmax()]:.3f} s")
    print(f"largest violation of a constraint {run.worst_residual:.1e}")
    print(run.certificate)
    return run


if __name__ == "__main__":
    main()
