"""A constraint that depends on time and on velocities, and cannot be integrated.

Example 3 of Udwadia and Kalaba (1996): a particle obeys ẏ = z ẋ + α(t) under a given force. The
constraint says nothing about positions: the particle reaches every point of space. Simulation and
the closed form of the paper are compared, and `derive` finds that form by itself (extra
``symbolic``).
"""

import numpy as np

import zwang as zw

particle = zw.library.nonholonomic_particle(
    alpha=lambda t: np.sin(2 * t),
    force=lambda t: [np.cos(t), 0.4 * np.sin(3 * t), 0.5 * np.cos(1.5 * t)],
)


def closed_form(run: zw.Run) -> np.ndarray:
    """Accelerations by the paper's (37), with m = 1."""
    z, (x_dot, _, z_dot), t = run["z"], run.v.T, run.t
    X, Y, Z = np.cos(t), 0.4 * np.sin(3 * t), 0.5 * np.cos(1.5 * t)
    missing = x_dot * z_dot + 2 * np.cos(2 * t) - (Y - z * X)  # b − A a
    return np.column_stack([X - z * missing / (1 + z**2), Y + missing / (1 + z**2), Z])


def main() -> zw.Run:
    """Simulate, compare, and ask whether the constraint can be integrated."""
    start = particle.assemble(hold={"x": 0.0, "y": 0.0, "z": -0.2})
    run = particle.simulate(start, until=12.0, save=0.02)
    difference = np.abs(run.acceleration - closed_form(run)).max()
    print(f"acceleration against the closed form: {difference:.1e}")
    print(f"constraint kept to {run.worst_residual:.1e} m/s")
    print(particle.integrability())
    return run


if __name__ == "__main__":
    main()
