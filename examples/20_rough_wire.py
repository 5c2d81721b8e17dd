"""Coulomb friction: a bead on a turning wire, pressed by a force that friction itself changes.

A non-ideal constraint. The wire turns in a horizontal plane and throws the bead outwards; friction
is μ times the pressure, which depends on the motion. The law is stated with the reaction, and
both are found together. The distance is compared with the equation of the sliding bead,
s̈ = Ω² s − μ √(4 Ω² ṡ² + g²).
"""

import numpy as np
from scipy.integrate import solve_ivp

import zwang as zw

OMEGA, MU, G = 3.0, 0.25, 9.81


def sliding(_t: float, y: np.ndarray) -> list[float]:
    """The bead's distance and its rate, while it slides outwards."""
    s, rate = y
    return [rate, OMEGA**2 * s - MU * np.hypot(2 * OMEGA * rate, G)]


def main() -> dict[float, zw.Run]:
    """Throw the bead out with more and more friction."""
    runs = {}
    for mu in (0.0, 0.1, MU):
        bead = zw.library.rough_wire_bead(mu=mu, Omega=OMEGA, g=G)
        run = bead.simulate([0.3, 0, 0], [1.0, 0.3 * OMEGA, 0], until=1.2, save=0.04)
        lost = run.work.nonideal[-1]
        print(f"μ = {mu}: thrown out to {np.hypot(run['x'], run['y'])[-1]:.4f} m, ", end="")
        print(f"work of friction {lost:.4f} J")
        runs[mu] = run
    exact = solve_ivp(sliding, (0, 1.2), [0.3, 1.0], rtol=1e-11, atol=1e-11).y[0, -1]
    print(f"the equation of sliding says {exact:.4f} m for μ = {MU}")
    return runs


if __name__ == "__main__":
    main()
