"""A pendulum that stands on its head, because its support is shaken.

A constraint that depends on time (rheonomic): the rod keeps its length to a support that moves up
and down, fast. Kapitza's condition for the upright position to be stable is (a Ω)² > 2 g L; one
run obeys it and stands, the other falls.
"""

import numpy as np

import zwang as zw

pendulum = zw.System(
    coordinates=["x", "y"],
    parameters={"m": 1.0, "g": 9.81, "L": 0.5, "a": 0.05, "Omega": 100.0},
    mass=lambda p: p.m * np.eye(2),
    potential=lambda q, p: p.m * p.g * q[1],
    constraints={
        "rod": zw.position(
            lambda q, t, p: q[0] ** 2 + (q[1] - p.a * np.cos(p.Omega * t)) ** 2 - p.L**2
        )
    },
)


def main() -> tuple[zw.Run, zw.Run]:
    """Start both 20° off the top, and see where they go."""
    runs = []
    for Omega in (100.0, 45.0):
        parameters = {"Omega": Omega}
        start = pendulum.assemble(
            hold={"x": 0.5 * np.sin(np.radians(20.0))},
            prefer={"y": 0.5},
            parameters=parameters,
        )
        run = pendulum.simulate(start, until=4.0, save=2e-3, parameters=parameters)
        index = (0.05 * Omega) ** 2 / (2 * 9.81 * 0.5)
        support = 0.05 * np.cos(Omega * run.t)
        tilt = np.degrees(np.arctan2(np.abs(run["x"]), run["y"] - support))
        print(f"(aΩ)²/2gL = {index:.2f}: largest tilt from upright {tilt.max():.1f} degrees")
        print(f"  energy from {run.energy.min():.2f} to {run.energy.max():.2f} J: it works")
        runs.append(run)
    return runs[0], runs[1]


if __name__ == "__main__":
    main()
