"""A slack rod that becomes taut: a constraint written as a function, simulated, and checked.

A mass falls freely beside a slack rod until the rod is taut; from then on it swings. The rod is one
line. Its Jacobian, its second derivative and the compiled equations of motion follow from it.
"""

import numpy as np

import zwang as zw

system = zw.System(
    coordinates=["x", "y", "z"],
    parameters={"m": 1.0, "g": 9.81, "L": 2.0},
    mass=lambda p: np.diag([p.m] * 3),
    force=lambda p: [0.0, 0.0, -p.m * p.g],
    potential=lambda q, p: p.m * p.g * q[2],
    constraints={"rod": zw.position(lambda q, p: q @ q - p.L**2)},
)
taut = zw.event(lambda q, p: q @ q - p.L**2, zw.switch(on="rod"), direction=1)


def main() -> zw.Run:
    """Simulate the fall and the swing, and print what can be trusted about them."""
    run = system.simulate(
        q=[1.0, 0.0, 0.0],
        v=[0.0, 0.5, 0.0],
        until=10.0,
        tolerance=1e-10,
        inactive=["rod"],
        events={"taut": taut},
    )
    caught = run.events[0]
    swing = slice(run.segments[1].first, None)
    tension = -2.0 * run.multipliers("rod")[swing, 0] * system.parameters["L"]
    print(run)
    print(f"the rod is taut at t = {caught.t:.9f} s")
    before, after = np.linalg.norm(caught.v), np.linalg.norm(caught.v_after)
    print(f"speed before and after: {before:.6f} and {after:.6f} m/s")
    print(f"tension from {tension.min():.3f} to {tension.max():.3f} N")
    print(f"energy of the swing kept to {np.ptp(run.energy[swing]):.1e} J")
    print(f"largest violation of a constraint {run.worst_residual:.1e}")
    print()
    print(system.explain(run.q[-1], run.v[-1]))
    return run


if __name__ == "__main__":
    main()
