"""The picture of the tutorial on simulation: a pendulum and a wall.

Run: python docs/figures/first_simulation.py [FILE.svg]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import zwang as zw

HERE = Path(__file__).parent
PATH, WALL, GREY = "#00796b", "#ff6e40", "#455a64"


def draw(target: Path) -> None:
    """Simulate the run of the tutorial and draw it."""
    pendulum = zw.System(
        coordinates=["x", "y"],
        parameters={"m": 2.0, "g": 9.81, "L": 1.0},
        mass=lambda p: p.m * np.eye(2),
        potential=lambda q, p: p.m * p.g * q[1],
        constraints={"rod": zw.position(lambda q, p: q @ q - p.L**2)},
    )
    wall = zw.event(lambda q: q[0] + 0.4, zw.bounce(0.8), direction=-1)
    start = pendulum.assemble(hold={"x": 0.8}, prefer={"y": -1.0})
    run = pendulum.simulate(start, until=6.0, events={"wall": wall}, save=0.01)
    tension = np.linalg.norm(run.constraint_force("rod"), axis=1)

    plt.rcParams.update({"svg.hashsalt": "zwang", "font.size": 9, "axes.edgecolor": GREY})
    figure, (upper, lower) = plt.subplots(
        2, 1, figsize=(7.0, 4.0), sharex=True, layout="constrained"
    )
    upper.plot(run.t, run["x"], color=PATH, linewidth=1.3)
    upper.axhline(-0.4, color=WALL, linewidth=1.0)
    upper.annotate("wall", (5.6, -0.37), color=WALL)
    upper.set(ylabel="x [m]")
    lower.plot(run.t, tension, color=PATH, linewidth=1.3)
    lower.axhline(2.0 * 9.81, color=GREY, linewidth=0.8, linestyle="--")
    lower.text(6.05, 2.0 * 9.81, "weight", color=GREY, va="center")
    lower.set(xlabel="t [s]", ylabel="tension [N]", xlim=(0.0, 6.0))
    for axes in (upper, lower):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    drawn = HERE.parent / "images" / "first_simulation.svg"
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else drawn)
