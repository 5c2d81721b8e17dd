"""The car axis: a light axle on stiff springs, driven by a bumpy road.

A benchmark of the test set for initial value problems. The right wheel follows a sine; the
constraint on the left end moves with it, and the axle has a fixed length. The vibrations of its
hundredth-part mass are fast against the road. The published end point is compared.
"""

import numpy as np

import zwang as zw

axle = zw.library.car_axis()
#: x_l, y_l, x_r, y_r at t = 3, from the test set.
PUBLISHED = np.array([0.0493455784275402, 0.496989460230171, 1.0417425218855, 0.373911027265361])


def main() -> zw.Run:
    """Drive for three seconds."""
    run = axle.simulate(zw.library.start("car_axis"), until=3.0, tolerance=1e-10, save=5e-3)
    print(f"off the published end by {np.abs(run.q[-1] - PUBLISHED).max():.1e}")
    print(f"constraints kept to {run.worst_residual:.1e}")
    force = run.constraint_force("axle")
    print(f"force in the axle up to {np.linalg.norm(force[:, :2], axis=1).max():.4f}")
    print(f"work of the moving road {run.work.constraint[-1]:.2e}")
    return run


if __name__ == "__main__":
    main()
