"""One example for each kind of constraint: moving, nonholonomic, nonlinear, of accelerations, …."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from pictures.style import (
    AMBER,
    BLUE,
    CORAL,
    GREY,
    INK,
    PALE,
    SIZE,
    TEAL,
    TIDE,
    VIOLET,
    bare,
    fading,
    plain,
    sheet,
)

__all__ = ["PICTURES"]


def shaken(runs: Any) -> Any:
    """Tilt of both pendulums over time."""
    figure, axes = sheet()
    rows = (runs, (100.0, 45.0), (TEAL, CORAL), ("shaken fast: stands", "shaken slowly: falls"))
    for run, Omega, color, label in zip(*rows, strict=True):
        support = 0.05 * np.cos(Omega * run.t)
        tilt = np.degrees(np.unwrap(np.arctan2(run["x"], run["y"] - support)))
        axes.plot(run.t, tilt, color=color, label=label, lw=1.2)
    axes.axhline(0, color=GREY, lw=0.8)
    axes.axhline(180, color=GREY, lw=0.8, ls="--")
    axes.text(4.05, 0, "upright", color=GREY, va="center")
    axes.text(4.05, 180, "hanging", color=GREY, va="center")
    axes.set(xlabel="t [s]", ylabel="tilt [°]", xlim=(0, 4))
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    return figure


def sleighs(runs: Any) -> Any:
    """Tracks of the sleighs."""
    figure, axes = sheet()
    plain(axes)
    colors = TIDE(np.linspace(0.1, 1.0, len(runs)))
    for run, color in zip(runs, colors, strict=True):
        axes.plot(run["x"], run["y"], color=color, lw=1.5)
        axes.plot(run["x"][-1], run["y"][-1], "o", color=color, markersize=3.5)
    axes.plot(0, 0, "o", color=INK, markersize=6)
    return figure


def machine(run: Any) -> Any:
    """The way of the machine on the ground, and the weight below it."""
    figure = plt.figure(figsize=SIZE)
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d")
    axes.plot(run["x"], run["y"], 0, color=GREY, lw=1)
    for k in range(0, len(run), 8):
        x, y, z = run.q[k]
        axes.plot([x, x], [y, y], [0, z], color=PALE, lw=0.8)
    colors = TIDE(np.linspace(0, 1, len(run)))
    for k in range(0, len(run) - 1, 3):
        axes.plot(*run.q[k : k + 4].T, color=colors[k], lw=2)
    bare(axes, np.vstack([run.q, np.zeros(3)]), zoom=1.25, to_scale=False)
    axes.view_init(elev=20, azim=-50)
    return figure


def spiral(run: Any) -> Any:
    """Euler's spiral."""
    figure, axes = sheet()
    plain(axes)
    fading(axes, run.q[:, :2], run["s"], width=3.0)
    fading(axes, -run.q[:, :2], run["s"], width=3.0)
    axes.plot(0, 0, "o", color=INK, markersize=5)
    axes.set_title("curvature grows with the way")
    return figure


def wires(runs: Any) -> Any:
    """Paths of the bead, with the wire at some times."""
    figure, axes = sheet()
    plain(axes)
    for k, (mu, run) in enumerate(runs.items()):
        color = (TEAL, BLUE, CORAL)[k]
        axes.plot(run["x"], run["y"], color=color, lw=2.0, label=f"μ = {mu:g}")
        axes.plot(run["x"][-1], run["y"][-1], "o", color=color, markersize=5)
    free = next(iter(runs.values()))
    for k in range(0, len(free), 2):
        axes.plot([0, free["x"][k]], [0, free["y"][k]], color=PALE, lw=0.9, zorder=0)
    axes.legend(loc="lower right")
    return figure


def door(run: Any) -> Any:
    """The door with its reactions; those that are not determinate are drawn open."""
    figure, row = sheet(1, 2)
    for axes, t in zip(row, (0.0, 2.0), strict=True):
        run.draw(t, axes=axes, forces=True, elevation=0.3)
        axes.set_title(f"t = {t:g} s")
    figure.supxlabel("dashed: reactions that the motion leaves open", fontsize=8.5, color=AMBER)
    return figure


def formation(runs: Any) -> Any:
    """The formation in space, and its thrust over one orbit."""
    figure = plt.figure(figsize=SIZE, layout="constrained")
    left: Any = figure.add_subplot(1, 2, 1, projection="3d")
    right = figure.add_subplot(1, 2, 2)
    for k, (rho, run) in enumerate(runs.items()):
        color, size = (TEAL, VIOLET, CORAL)[k], (0.35, 0.65, 1.0)[k]
        left.plot(*(size * run.q.T / rho), color=color, lw=2)
        left.scatter(*(size * run.q[0] / rho), color=color, s=22)
        thrust = 1e6 * np.linalg.norm(run.constraint_force(), axis=1) / (rho / 1e3) ** 2
        style: Any = ("-", (0, (6, 4)), (0, (1, 2.5)))[k]
        right.plot(
            run.t / run.t[-1], thrust, color=color, ls=style, lw=2, label=f"{rho / 1e3:.0f} km"
        )
    left.scatter(0, 0, 0, color=INK, s=40)
    left.text(0.0, 0.0, 0.12, "chief", color=INK, ha="center")
    bare(left, np.array([[-0.5, -1, -1], [0.5, 1, 1]]), zoom=1.5)
    left.view_init(elev=22, azim=-35)
    right.set(xlabel="orbits", ylabel="thrust [µN] for each km²", xlim=(0, 1))
    right.set_ylim(0, None)
    right.legend(loc="lower right")
    return figure


PICTURES = {
    "16_shaken_pendulum": shaken,
    "17_chaplygin_sleigh": sleighs,
    "18_appell_hamel": machine,
    "19_easement_curve": spiral,
    "20_rough_wire": wires,
    "21_door": door,
    "22_formation": formation,
}
