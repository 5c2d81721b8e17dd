"""The ellipse alone: without the law of areas the force is no longer Newton's.

The remark to example 2 of Udwadia and Kalaba (1996). The same particle, held to the same ellipse
and left to itself otherwise, slides along it at constant speed. The force stands at right angles
to the ellipse: neither central nor inverse-square.
"""

import numpy as np

import zwang as zw

bead = zw.library.kepler_ellipse(epsilon=0.6, p=1.0)


def main() -> zw.Run:
    """Go round once, and compare the force with that of attraction."""
    start = bead.assemble(hold={"x": 2.5, "y": 0.0}, velocity={"hold": {"y_dot": 1.0}})
    run = bead.simulate(start, until=8.9, save=0.02)
    force = run.constraint_force("ellipse")
    radius = np.linalg.norm(run.q, axis=1)
    size = np.linalg.norm(force, axis=1)
    across = np.abs(run.q[:, 0] * force[:, 1] - run.q[:, 1] * force[:, 0]) / (radius * size)
    print(f"speed from {np.linalg.norm(run.v, axis=1).min():.9f} to 1")
    print(f"force up to {np.degrees(np.arcsin(across.max())):.1f} degrees off the radius")
    print(f"|F| r² from {(size * radius**2).min():.3f} to {(size * radius**2).max():.3f}")
    return run


if __name__ == "__main__":
    main()
