"""Satellites in formation: the thrust that keeps a plan exactly, at each instant.

A wish instead of a joint: seen from the earth, three deputies are to circle their chief at
different distances. Written as constraints, the wish gives the control force, without linearising
anything (Udwadia and Kalaba 1996, conclusion). Far away the thrust grows with the square of
the distance: near-by, nature does it alone.
"""

import numpy as np

import zwang as zw
from zwang.library.satellites import EARTH, formation_program

ORBIT = 7.0e6
RATE = np.sqrt(EARTH / ORBIT**3)


def main() -> dict[float, zw.Run]:
    """Keep the formation for one orbit at three distances, and report the thrust."""
    formation, runs = zw.library.satellite_formation(R=ORBIT), {}
    for rho in (1e3, 1e4, 1e5):
        q = np.array([0.0, rho, 0.0])
        v = np.array([rho / 2 * RATE, 0.0, rho * RATE])
        run = formation.simulate(
            q, v, until=2 * np.pi / RATE, save=30.0, parameters={"rho": rho}, tolerance=1e-10
        )
        thrust = np.linalg.norm(run.constraint_force(), axis=1)
        off = np.abs(np.hypot(run["y1"], run["z1"]) - rho).max()
        print(f"{rho / 1e3:6.0f} km: thrust up to {thrust.max():.3e} N, off the circle {off:.1e} m")
        runs[rho] = run

    # The same from satellites that are free: the cheapest control that keeps the program.
    free = zw.library.satellite_formation(R=ORBIT, kept=False)
    state = runs[1e5].at(1000.0)
    wish = {"program": formation_program(), "parameters": {"rho": 1e5}}
    control = free.control_force(state, **wish).force
    kept = formation.solve(state, parameters={"rho": 1e5}).constraint_force
    print(f"control force and constraint force differ by {np.abs(control - kept).max():.1e} N")
    return runs


if __name__ == "__main__":
    main()
