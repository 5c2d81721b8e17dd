"""Chaplygin's sleigh: a blade that cannot slip sideways, and a motion that looks damped.

A linear nonholonomic constraint. Energy is kept, yet every start ends in the same way: the sleigh
stops turning and runs straight, its mass ahead of the blade. Several starts are simulated at once.
"""

from collections.abc import Sequence

import numpy as np

import zwang as zw

sleigh = zw.library.chaplygin_sleigh(m=2.0, I=0.7, a=0.4)


def main() -> Sequence[zw.Run]:
    """Push off backwards with different rates of turn."""
    rates = np.linspace(0.2, 3.0, 8)
    q = np.zeros((8, 3))
    v = np.column_stack([np.full(8, -1.0), np.zeros(8), rates])
    runs = sleigh.simulate_many(q, v, until=12.0, save=0.02)
    for rate, run in zip(rates, runs, strict=True):
        speed = np.hypot(run["x_dot"][-1], run["y_dot"][-1])
        print(
            f"turning at {rate:.1f} rad/s: ends with {run['theta_dot'][-1]:.1e} rad/s"
            f" and {speed:.4f} m/s, energy kept to {np.ptp(run.energy):.0e} J"
        )
    print(sleigh.integrability())
    return runs


if __name__ == "__main__":
    main()
