"""The picture of the tutorial: a spherical pendulum from above, and the tension of its rod.

Run: python docs/figures/pendulum.py [FILE.svg]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import zwang as zw

HERE = Path(__file__).parent
PATH, START, FORCE = "#00796b", "#ff6e40", "#455a64"


def pendulum() -> zw.System:
    """The system of the tutorial."""
    return zw.System(
        coordinates=["x", "y", "z"],
        parameters={"m": 2.0, "g": 9.81, "L": 1.5},
        mass=lambda p: p.m * np.eye(3),
        potential=lambda q, p: p.m * p.g * q[2],
        constraints={"rod": zw.position(lambda q, p: q @ q - p.L**2)},
    )


def draw(target: Path) -> None:
    """Simulate ten seconds and draw them."""
    system = pendulum()
    start = system.assemble(
        hold={"x": 0.9},
        prefer={"y": 0.0, "z": -1.0},
        velocity={"hold": {"y_dot": 1.2}, "prefer": {"x_dot": 0.0}},
    )
    run = system.simulate(start, until=10.0, save=0.02)
    tension = -2.0 * 1.5 * run.multipliers("rod")[:, 0]

    plt.rcParams.update({"svg.hashsalt": "zwang", "font.size": 9, "axes.edgecolor": FORCE})
    figure, (above, over_time) = plt.subplots(
        1, 2, figsize=(8.0, 3.4), width_ratios=(1.0, 1.5), layout="constrained"
    )
    above.plot(run["x"], run["y"], color=PATH, linewidth=1.3)
    above.plot(run["x"][0], run["y"][0], "o", color=START, markersize=6)
    above.annotate("start", (run["x"][0], run["y"][0]), xytext=(7, -3), textcoords="offset points")
    above.set(xlabel="x [m]", ylabel="y [m]", title="from above", aspect="equal")
    over_time.plot(run.t, tension, color=PATH, linewidth=1.3)
    over_time.axhline(2.0 * 9.81, color=FORCE, linewidth=0.8, linestyle="--")
    over_time.annotate(
        "weight", (10.1, 2.0 * 9.81), color=FORCE, va="center", annotation_clip=False
    )
    over_time.set(xlabel="t [s]", ylabel="tension [N]", title="force of the rod", xlim=(0, 10))
    for axes in (above, over_time):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "images" / "pendulum.svg")
