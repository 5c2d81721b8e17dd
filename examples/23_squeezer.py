"""Andrews' squeezing mechanism: seven bodies, ten pins, three loops and a very fast crank.

A benchmark of the multibody handbook and of the test set for initial value problems: a motor of
0.033 N·m turns a crank of seven millimetres, in thirty milliseconds it goes round five times. The
published solution at 30 ms is compared.
"""

import zwang as zw

squeezer = zw.library.andrews()
#: The crank's angle at 30 ms, and at the start, from the test set.
PUBLISHED, START = 15.81077, -0.0617139


def main() -> zw.Run:
    """Simulate the published interval."""
    run = squeezer.simulate(until=0.03, tolerance=1e-10, save=1e-4)
    crank = START + run["O.angle"][-1]
    print(f"crank at 30 ms: {crank:.5f} rad, published {PUBLISHED:.5f} rad")
    print(f"fastest {run['O.angle_rate'].max():.1f} rad/s")
    work = 0.033 * run["O.angle"]
    print(
        f"energy less the work of the motor: {abs(run.energy - work - run.energy[0]).max():.1e} J"
    )
    print(f"loops closed to {run.worst_residual:.1e} m")
    return run


if __name__ == "__main__":
    main()
