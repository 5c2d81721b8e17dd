"""The same disk on ice: nothing holds it sideways, and its center goes straight ahead.

The first stage of Blajer (1992), section 6: only the plane carries the disk. Momentum along the
plane is kept, so that the center moves on a straight line at constant speed, whatever the disk
does, while the point that touches the ice wanders about. The normal force is compared with the
closed form at rest, mgJ / (J + mr² sin²θ).
"""

import numpy as np

import zwang as zw

disk = zw.library.sliding_disk(m=1.0, r=0.5)


def main() -> zw.Run:
    """Solve at rest, then spin the disk on the ice."""
    lean, J = 0.6, 0.25 * 0.5**2
    pressure = disk.solve([0, 0, 0, 0, lean, 0]).multipliers[0]
    print(f"normal force at rest {pressure:.9f} N")
    print(f"closed form          {9.81 * J / (J + 0.25 * np.sin(lean) ** 2):.9f} N")

    start = disk.assemble(
        hold={"phi": 0.0, "theta": lean, "psi": 0.0, "x_P": 0.0, "y_P": 0.0},
        velocity={"hold": {"v1": 0.3, "v4": 0.0, "v5": 9.0, "v6": 3.0}},
    )
    run = disk.simulate(start, until=5.0, tolerance=1e-10, save=0.01)
    print(f"lean from {run['theta'].min():.3f} to {run['theta'].max():.3f} rad")
    print(f"normal force from {run.multipliers('plane').min():.3f} N", end="")
    print(f" to {run.multipliers('plane').max():.3f} N")
    print(f"energy kept to {np.ptp(run.energy):.1e} J")
    return run


if __name__ == "__main__":
    main()
