"""A Stewart platform under a load: thirteen bodies, eighteen joints, six freedoms.

A flight simulator's plate on six legs, each with a universal joint, a slide and a ball. The legs
are springs with dampers here; a load falls on the edge of the plate. The force in each leg is
read from the run.
"""

import numpy as np

import zwang as zw

platform = zw.library.stewart_platform(stiffness=4.0e3, damping=60.0)
platform.force(
    "load",
    "platform",
    lambda t: [0.0, 0.0, -zw.where(t < 1.0, 250.0, 0.0)],
    at=(0.3, 0.0, 0.0),
)


def main() -> zw.Run:
    """Load the plate for a second, then let go."""
    print(platform.explain())
    run = platform.simulate(until=2.5, save=0.02)
    plate = run.body("platform")
    print(f"plate sinks by {1e3 * (0.9 - plate.position[:, 2].min()):.1f} mm")
    for k in range(1, 7):
        ball = np.linalg.norm(run.reaction(f"ball{k}").force, axis=1)
        print(f"leg {k} carries up to {ball.max():.1f} N")
    return run


if __name__ == "__main__":
    main()
