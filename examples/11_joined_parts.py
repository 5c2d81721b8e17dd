"""Parts joined by constraints: a chain of springs whose mass matrix is singular.

Each part of the chain is written down as if it hung on a support of its own; the joints then say
that the supports move with the part before. A support has no mass, so M has rank 3 for five
coordinates, and formulas that invert it fail. With the constraints the motion is unique
(Udwadia and Schutte 2010; Udwadia and Mogharabin 2022).
"""

import numpy as np

import zwang as zw

chain = zw.library.three_mass_chain()


def main() -> zw.Run:
    """Explain, simulate, and compare with the chain written in three coordinates."""
    start = chain.assemble(hold={"x1": 0.1, "x2": -0.2, "x3": 0.3})
    print(chain.explain(start))
    run = chain.simulate(start, until=10.0, tolerance=1e-11, save=0.02)

    # The same chain without redundant coordinates: K u = ω² M u, started at rest.
    masses, k1, k2, k3 = np.diag([1.0, 2.0, 0.5]), 30.0, 20.0, 10.0
    K = np.array([[k1 + k2, -k2, 0], [-k2, k2 + k3, -k3], [0, -k3, k3]])
    places = np.column_stack([run["x1"], run["q1"] + run["x2"], run["q2"] + run["x3"]])
    root = np.sqrt(np.diag(masses))
    squares, modes = np.linalg.eigh(K / np.outer(root, root))
    weights = modes.T @ (root * places[0])
    exact = (modes @ (weights[:, None] * np.cos(np.sqrt(squares)[:, None] * run.t))).T / root
    print(f"against the three modes of vibration: {np.abs(places - exact).max():.1e} m")
    print(f"force in the last joint is that of its spring: {run.multipliers('second_joint')[0]} N")
    return run


if __name__ == "__main__":
    main()
