"""A hundred double pendulums that start alike, and where chance takes over.

The starts differ by a millionth of a degree. `simulate_many` runs them in vector lanes and
threads; for some seconds they move as one, then they part: the double pendulum is chaotic. How
long they stay together measures the rate at which errors grow.
"""

from collections.abc import Sequence

import numpy as np

import zwang as zw

pendulum = zw.System(
    coordinates=["x1", "y1", "x2", "y2"],
    parameters={"m": 1.0, "g": 9.81, "L": 1.0},
    mass=lambda p: p.m * np.eye(4),
    potential=lambda q, p: p.m * p.g * (q[1] + q[3]),
    constraints={
        "upper": zw.position(lambda q, p: q[0] ** 2 + q[1] ** 2 - p.L**2),
        "lower": zw.position(lambda q, p: (q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - p.L**2),
    },
)


def main() -> Sequence[zw.Run]:
    """Start a hundred, and follow how far they are apart."""
    first = np.radians(170.0 + 1e-6 * np.arange(100))
    second = np.radians(150.0)
    x, y = np.sin(first), -np.cos(first)
    q = np.column_stack([x, y, x + np.sin(second), y - np.cos(second)])
    runs = pendulum.simulate_many(q, np.zeros((100, 4)), until=12.0, save=0.02)
    tips = np.array([run.q[:, 2:] for run in runs])
    spread = np.ptp(tips, axis=0).max(axis=-1)
    t = runs[0].t
    apart = t[np.argmax(spread > 0.1)]
    rate = np.polyfit(t[t < apart], np.log(spread[t < apart]), 1)[0]
    print(f"{len(runs)} runs finished: {all(runs.finished)}")
    print(f"together for {apart:.1f} s, differences grow by e every {1 / rate:.2f} s")
    print(f"energy of each kept to {max(np.ptp(run.energy) for run in runs):.1e} J")
    return runs


if __name__ == "__main__":
    main()
