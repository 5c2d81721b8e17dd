"""Spherical pendulum: the tension of its rod, against the closed form.

Example 1 of Udwadia and Kalaba (1996). A mass hangs on a rod and may swing in any direction; its
coordinates are Cartesian, y points down, and the rod is one constraint. The multiplier that the
simulation finds is compared with the formula of the paper, λ = −m (|v|² + g y) / L².
"""

import numpy as np

import zwang as zw

pendulum = zw.library.spherical_pendulum(m=1.5, L=2.0)


def main() -> zw.Run:
    """Swing for twenty seconds, and compare the rod's force with the formula."""
    start = pendulum.assemble(
        hold={"x": 0.8, "z": 0.0},
        prefer={"y": 2.0},
        velocity={"hold": {"z_dot": 1.1}, "prefer": {"x_dot": 0.0}},
    )
    run = pendulum.simulate(start, until=20.0, tolerance=1e-11, save=0.02)
    m, g, L = (run.parameters[name] for name in ("m", "g", "L"))
    speed_squared = (run.v**2).sum(axis=1)
    formula = -m * (speed_squared + g * run["y"]) / L**2
    found = run.multipliers("rod")[:, 0]
    print(f"tension from {-L * found.max():.4f} to {-L * found.min():.4f} N")
    print(f"multiplier against the formula: {np.abs(found - formula).max():.1e}")
    print(f"rod kept to {run.worst_residual:.1e} m², energy to {np.ptp(run.energy):.1e} J")
    return run


if __name__ == "__main__":
    main()
