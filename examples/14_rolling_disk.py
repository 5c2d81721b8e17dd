"""A rolling disk, from six dependent velocities down to three free ones.

Section 6 of Blajer (1992). The constraints of rolling can be kept as they are stated, two of them
can be left to a smaller set of coordinates, or all can be projected away. The motion is the same;
the force of the ground is found in each form that still has constraints.
"""

import numpy as np

import zwang as zw

#: heading, lean and spin, and their rates, at the start
ANGLES, RATES = np.array([0.0, 0.1, 0.0]), np.array([3.0, 0.0, -1.0])
RADIUS = 0.5


def main() -> zw.Run:
    """Roll for eight seconds in three forms, and compare them."""
    velocities = zw.library.rolling_disk("velocities", r=RADIUS)
    free = velocities.simulate([0, 0, *ANGLES], RATES, until=8.0, tolerance=1e-11, save=0.02)

    coordinates = zw.library.rolling_disk("coordinates", r=RADIUS)
    rolling = -RADIUS * RATES[2] * np.array([1.0, 0.0])  # along the heading, which is x
    start = [0, 0, *ANGLES], [*rolling, *RATES]
    held = coordinates.simulate(*start, until=8.0, tolerance=1e-11, save=0.02)

    print(f"forms differ by {np.abs(free.q - held.q).max():.1e}")
    print(f"rolling kept to {held.worst_residual:.1e} m/s, energy to {np.ptp(held.energy):.1e} J")
    ground = held.multipliers()
    print(f"horizontal force of the ground up to {np.linalg.norm(ground, axis=1).max():.3f} N")
    return held


if __name__ == "__main__":
    main()
