"""A constraint on accelerations: a craft whose path bends by a plan.

Roads and railways bend gently: curvature grows in proportion to the way. Asked of a free particle
this is one condition on its acceleration, ẋÿ − ẏẍ = κ(s) |v|³ with κ = s / a²; no condition on
positions or velocities says the same. The force comes out at right angles to the path, so speed is
kept, and the path is Euler's spiral, which ends in two points.
"""

import numpy as np
from scipy.special import fresnel

import zwang as zw

craft = zw.System(
    coordinates=["x", "y", "s"],
    parameters={"m": 1.0, "a": 1.0},
    mass=lambda p: np.diag([p.m, p.m, 0.0]),  # the length of the way has no mass
    constraints={
        "way": zw.velocity(lambda v: v[2] - np.sqrt(v[0] ** 2 + v[1] ** 2)),
        "bend": zw.acceleration(
            lambda v: [[-v[1], v[0], 0.0]],
            lambda q, v, p: [q[2] / p.a**2 * (v[0] ** 2 + v[1] ** 2) ** 1.5],
        ),
    },
)


def main() -> zw.Run:
    """Drive from the middle of the spiral, and compare the path with Fresnel's integrals."""
    run = craft.simulate([0, 0, 0], [1.0, 0.0, 1.0], until=9.0, tolerance=1e-11, save=0.01)
    print(f"speed kept to {np.ptp(np.hypot(run['x_dot'], run['y_dot'])):.1e} m/s")
    sine, cosine = fresnel(run["s"] / np.sqrt(np.pi))  # ∫sin(s²/2) ds = √π S(s/√π)
    spiral = np.sqrt(np.pi) * np.column_stack([cosine, sine])
    print(f"off Euler's spiral by {np.abs(run.q[:, :2] - spiral).max():.1e} m")
    print(f"sideways force in the end {np.linalg.norm(run.constraint_force()[-1]):.6f} N")
    return run


if __name__ == "__main__":
    main()
