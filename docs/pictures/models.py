"""The model files: bodies where there are some, otherwise what is worth seeing of the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pictures.style import BLUE, CORAL, GREY, INK, PALE, TEAL, VIOLET, fading, plain, sheet

__all__ = ["PICTURES"]


def body_and_channels(*channels: str, t: float = 0.0, **drawing: Any) -> Callable[[Any], Any]:
    """A still of the mechanism beside some of its channels."""

    def picture(run: Any) -> Any:
        figure, axes = sheet(1, 2, width_ratios=(1.1, 1.0))
        right = axes[1]
        run.draw(t, axes=axes[0], **drawing)
        right.remove()
        grid = axes[1].get_subplotspec().subgridspec(len(channels), 1)
        for k, name in enumerate(channels):
            place = figure.add_subplot(grid[k])
            values, label = _channel(run, name)
            place.plot(run.t, values, color=(TEAL, CORAL, VIOLET)[k])
            place.set(ylabel=label, xlim=(run.t[0], run.t[-1]))
            last = k == len(channels) - 1
            place.tick_params(labelbottom=last)
            place.set_xlabel("t [s]" if last else "")
        return figure

    return picture


def _channel(run: Any, name: str) -> tuple[Any, str]:
    owner, _, kind = name.partition(".")
    if kind == "force":
        return np.linalg.norm(run.reaction(owner).force, axis=1), f"force in {owner} [N]"
    unit = {"angle": "rad", "angle_rate": "rad/s", "displacement": "m", "displacement_rate": "m/s"}
    return run[name], f"{name} [{unit.get(kind, 'm')}]"


def bouncing(run: Any) -> Any:
    """Angle of the pendulum over time, with its impacts."""
    figure, axes = sheet()
    angle = np.degrees(np.arctan2(run["x"], -run["y"]))
    axes.plot(run.t, angle, color=TEAL)
    for event in run.events:
        axes.axvline(event.t, color=PALE, zorder=0)
    axes.axhline(30.0, color=CORAL, lw=1.2)
    axes.text(4.05, 30.0, "wall", color=CORAL, va="center")
    axes.set(xlabel="t [s]", ylabel="angle [°]", xlim=(0, 4))
    return figure


def skate(run: Any) -> Any:
    """The track of the skate on the slope."""
    figure, axes = sheet()
    plain(axes)
    some = run.t <= 5.5
    fading(axes, np.column_stack([run["y"], -run["x"]])[some], run.t[some], width=2.4)
    for k in range(0, int(some.sum()), 16):
        x, y, phi = run.q[k]
        along = 0.12 * np.array([np.sin(phi), -np.cos(phi)])
        ends = np.array([[y, -x] - along, [y, -x] + along])
        axes.plot(*ends.T, color=INK, lw=2.2)
    axes.set_title("down the slope is down the page")
    return figure


def helix(run: Any) -> Any:
    """The bead from the side, and its height."""
    figure, (left, right) = sheet(1, 2, width_ratios=(0.7, 1.0))
    plain(left)
    z = np.linspace(run["bead.z"].min() - 0.1, 0.4, 600)
    turn = 2 * np.pi * z / 0.8
    left.plot(0.5 * np.cos(turn), z, color=PALE, lw=5)
    fading(left, np.column_stack([run["bead.x"], run["bead.z"]]), run.t, width=1.6)
    left.plot(run["bead.x"][0], run["bead.z"][0], "o", color=INK, markersize=7)
    right.plot(run.t, run["bead.z"], color=TEAL, label="bead")
    right.plot(run.t, run["counterweight"], color=CORAL, label="counterweight")
    right.set(xlabel="t [s]", ylabel="height [m]", xlim=(0, run.t[-1]))
    right.legend()
    return figure


def coin(run: Any) -> Any:
    """The coin at one time, with its track."""
    figure, (left, right) = sheet(1, 2)
    run.draw(0.0, axes=left)
    disk = run.body("disk")
    axis = disk.rotation[:, :, 1]
    down = -np.array([0.0, 0.0, 1.0]) + axis[:, 2:] * axis
    contact = disk.position + 0.5 * down / np.linalg.norm(down, axis=1, keepdims=True)
    right.plot(*contact[:, :2].T, color=TEAL, label="contact")
    right.plot(*disk.position[:, :2].T, color=CORAL, label="center")
    right.plot(*contact[0, :2], "o", color=INK, markersize=5)
    right.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
    right.legend(fontsize=8)
    return figure


def rosette(run: Any) -> Any:
    """The pendulum from above."""
    figure, axes = sheet()
    plain(axes)
    path = run.q[:, [0, 2]]
    fading(axes, path, run.t, width=1.4)
    axes.plot(0, 0, "+", color=GREY, markersize=9)
    axes.plot(*path[0], "o", color=INK, markersize=5)
    axes.set_title("from above", color=BLUE)
    return figure


PICTURES = {
    "bouncing_pendulum": bouncing,
    "bricard": body_and_channels("hinge1.angle", "hinge1.force", t=1.0, forces=True),
    "flyball_governor": body_and_channels(
        "slide.displacement", t=0.5, traces={"left": (1, 0, 0), "right": (1, 0, 0)}
    ),
    "flexible_joint": body_and_channels("shoulder.angle", "motor.angle", t=0.1),
    "four_bar": body_and_channels("D.angle", "B.force", t=0.0),
    "friction": body_and_channels("slide.displacement", "pin.angle", t=0.0),
    "gear_train": body_and_channels("shaft.angle_rate", "axle.angle_rate", elevation=0.9),
    "knife_edge": skate,
    "own_constraint": helix,
    "pendulum": body_and_channels("pin.angle", "pin.force", t=0.2, forces=True),
    "quick_return": body_and_channels("bed.displacement", "bed.displacement_rate", t=0.3),
    "rolling_disk": coin,
    "slider_crank": body_and_channels("A.angle_rate", "B.force", t=0.1),
    "spherical_pendulum": rosette,
}
