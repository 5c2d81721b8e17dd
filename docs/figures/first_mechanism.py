"""The picture of the tutorial on mechanisms: a four-bar, its motion, and the force in a pin.

Run: python docs/figures/first_mechanism.py [FILE.svg]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import zwang as zw

HERE = Path(__file__).parent
BARS, PATH, GREY = "#00897b", "#ff6e40", "#78909c"
PINS = np.array([[0, 0, 0], [0, 0, 0.4], [1, 0, 0.9], [1, 0, 0]])


def four_bar() -> zw.Mechanism:
    """The mechanism of the tutorial."""
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    bodies = [m.ground]
    masses = {"crank": 1.0, "coupler": 2.0, "rocker": 1.5}
    for (name, mass), P, Q in zip(masses.items(), PINS, PINS[1:], strict=False):
        shape = zw.inertia.cylinder(mass, radius=0.02, length=np.linalg.norm(Q - P), axis=Q - P)
        bodies.append(m.body(name, inertia=shape, position=(P + Q) / 2))
    bodies.append(m.ground)
    for k, name in enumerate("ABC"):
        m.revolute(name, bodies[k], bodies[k + 1], at=PINS[k], axis="y")
    m.revolute("D", m.ground, bodies[3], at=PINS[3], axis="y")
    return m


def draw(target: Path) -> None:
    """Simulate the run of the tutorial and draw it."""
    m = four_bar()
    start = m.assemble(velocity={"hold": {"A.angle_rate": 6.0}})
    run = m.simulate(start, until=4.0, save=0.01)
    force = np.linalg.norm(run.reaction("B").force, axis=1)

    plt.rcParams.update({"svg.hashsalt": "zwang", "font.size": 9, "axes.edgecolor": GREY})
    figure = plt.figure(figsize=(8.0, 3.6), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.25))
    scene = figure.add_subplot(grid[:, 0])
    upper = figure.add_subplot(grid[0, 1])
    lower = figure.add_subplot(grid[1, 1], sharex=upper)

    coupler = run.body("coupler")
    middle = (PINS[1] + PINS[2]) / 2
    # Pins B and C are points of the coupler, given in its own axes.
    places = [coupler.point(P - middle) for P in (PINS[1], PINS[2])]
    turned = run["A.angle"] - run["A.angle"][0]
    shown = [int(np.argmax(turned >= a)) for a in np.linspace(0.0, 2.0 * np.pi, 9)[:-1]]
    for k in reversed(shown):
        corners = np.array([PINS[0], places[0][k], places[1][k], PINS[3]])
        first = k == shown[0]
        scene.plot(
            corners[:, 0],
            corners[:, 2],
            color=BARS,
            alpha=1.0 if first else 0.22,
            linewidth=3.5 if first else 1.5,
            solid_joinstyle="round",
        )
    path = coupler.point((0.1, 0, 0.5))
    turn = turned <= 2.0 * np.pi
    scene.plot(path[turn, 0], path[turn, 2], color=PATH, linewidth=1.3)
    scene.plot(*path[0, [0, 2]], "o", color=PATH, markersize=4)
    scene.plot(PINS[:, 0], PINS[:, 2], "o", color=GREY, markerfacecolor="white", zorder=3)
    for name, P, shift in zip("ABCD", PINS, (-0.12, -0.12, 0.08, 0.08), strict=True):
        scene.annotate(name, (P[0] + shift, P[2] - 0.03), color=GREY, ha="center")
    scene.set_aspect("equal")
    scene.set_axis_off()

    upper.plot(run.t, force, color=BARS, linewidth=1.2)
    upper.set(ylabel="force in pin B [N]")
    upper.tick_params(labelbottom=False)
    lower.plot(run.t, np.degrees(run["D.angle"]), color=PATH, linewidth=1.2)
    lower.set(xlabel="t [s]", ylabel="D.angle [°]", xlim=(0.0, 4.0))
    for axes in (upper, lower):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    drawn = HERE.parent / "images" / "first_mechanism.svg"
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else drawn)
