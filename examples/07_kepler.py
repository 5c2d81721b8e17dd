"""Kepler's laws as constraints: the force that makes a planet move like that.

Example 2 of Udwadia and Kalaba (1996). A free particle is told to stay on an ellipse and to sweep
equal areas in equal times, nothing else. The constraint force that this takes is Newton's law:
(c²/p) m / r², towards the focus.
"""

import numpy as np

import zwang as zw

planet = zw.library.kepler_laws(epsilon=0.6, p=1.0, c=1.0)


def main() -> zw.Run:
    """Follow one orbit, and fit the power law of the force."""
    start = planet.assemble(hold={"x": 2.5, "y": 0.0})
    period = 2.0 * np.pi * (1.0 / (1.0 - 0.6**2)) ** 1.5
    run = planet.simulate(start, until=period, save=period / 400)
    force = run.constraint_force()
    radius = np.linalg.norm(run.q, axis=1)
    power = np.polyfit(np.log(radius), np.log(np.linalg.norm(force, axis=1)), 1)[0]
    sideways = run.q[:, 0] * force[:, 1] - run.q[:, 1] * force[:, 0]
    print(f"the force goes with r to the power {power:.9f}")
    print(f"its part across the radius is {np.abs(sideways).max():.1e}")
    print(f"against (c²/p) m/r²: {np.abs(np.linalg.norm(force, axis=1) * radius**2 - 1).max():.1e}")
    print(f"back at the start to {np.linalg.norm(run.q[-1] - run.q[0]):.1e}")
    return run


if __name__ == "__main__":
    main()
