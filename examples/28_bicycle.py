"""A bicycle that rides by itself: stable at 5 m/s, not at 3 m/s.

Whipple's bicycle with the parameters of the published benchmark: frame with rider, fork, two
wheels that roll without slipping, four constraints that cannot be integrated among its equations.
Pushed sideways it steers into the fall and rights itself, if it is fast enough. The benchmark
gives the range of speeds in which it does: 4.29 to 6.02 m/s.
"""

import numpy as np

import zwang as zw


def main() -> dict[float, zw.Run]:
    """Push the bicycle at three speeds, and watch its lean."""
    runs = {}
    for speed in (3.0, 5.0, 7.0):
        bicycle = zw.library.whipple_bicycle(speed=speed, lean_rate=0.15)
        until = 2.5 if speed < 4 else 5.0
        run = bicycle.simulate(until=until, tolerance=1e-7, save=0.04)
        axle = run.body("frame").rotation[:, 2, 1]  # how far the frame's y axis rises
        lean = np.degrees(np.arcsin(axle))
        print(
            f"{speed} m/s: lean up to {np.abs(lean).max():.1f}, at the end {lean[-1]:.2f} degrees"
        )
        print(
            f"  rolling kept to {run.worst_residual:.1e} m/s, energy to {np.ptp(run.energy):.1e} J"
        )
        runs[speed] = run
    return runs


if __name__ == "__main__":
    main()
