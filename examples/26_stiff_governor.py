"""A stiff governor: dampers ten thousand times faster than the motion, and an implicit integrator.

Benchmark A05 of the IFToMM library. Two balls on arms are tied to a block by springs of 8e5 N/m
with heavy dampers. An explicit method must follow the springs with tiny steps; `radau5` does
not. Both give the same motion.
"""

import numpy as np

import zwang as zw

governor = zw.library.ball_governor()


def main() -> zw.Run:
    """Simulate with both integrators, and compare steps and answers."""
    runs = {}
    for integrator, until in (("order8", 0.1), ("radau5", 4.0)):
        runs[integrator] = governor.simulate(
            until=until, integrator=integrator, tolerance=1e-7, save=0.01
        )
        steps = runs[integrator].counts.steps
        print(f"{integrator}: {steps} steps, {steps / until:.0f} a second")
    short, run = runs["order8"], runs["radau5"]
    apart = np.abs(run["slide.displacement"][: len(short)] - short["slide.displacement"])
    print(f"heights of the block differ by {apart.max():.1e} m")
    height = 0.5 + run["slide.displacement"]
    print(f"block between {height.min():.4f} and {height.max():.4f} m")
    return run


if __name__ == "__main__":
    main()
