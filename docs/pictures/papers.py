"""Worked examples of the five documents."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse, Polygon

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
    arrow,
    bare,
    fading,
    plain,
    sheet,
)

__all__ = ["PICTURES"]


def pendulum(run: Any) -> Any:
    """From above, colored by the tension, and the tension with the formula on it."""
    figure, (left, right) = sheet(1, 2, width_ratios=(1.0, 1.15))
    tension = -2.0 * run.multipliers("rod")[:, 0]
    fading(left, run.q[:, [0, 2]], tension, width=1.3)
    left.plot(0, 0, "+", color=GREY)
    left.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", title="from above")
    right.plot(run.t, tension, color=TEAL)
    some = slice(None, None, 25)
    m, g, L = 1.5, 9.81, 2.0
    formula = m * ((run.v**2).sum(axis=1) + g * run["y"]) / L
    right.plot(run.t[some], formula[some], "o", color=CORAL, markersize=3, label="formula")
    right.axhline(m * g, color=GREY, lw=0.8, ls="--")
    right.set(xlabel="t [s]", ylabel="tension [N]", xlim=(0, 10))
    right.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0))
    return figure


def kepler(run: Any) -> Any:
    """Equal areas in equal times, and the force that this takes."""
    figure, axes = sheet()
    plain(axes)
    marks = np.linspace(0, len(run) - 1, 13).astype(int)
    for k, (first, last) in enumerate(pairwise(marks)):
        sector = np.vstack([[0, 0], run.q[first : last + 1]])
        axes.add_patch(Polygon(sector, facecolor=TEAL, alpha=0.10 + 0.12 * (k % 2), lw=0))
    axes.plot(*run.q.T, color=INK, lw=1.4)
    axes.plot(0, 0, "o", color=AMBER, markersize=13)
    force = run.constraint_force()
    for k in marks[:-1]:
        arrow(axes, run.q[k], 0.25 * force[k] / np.linalg.norm(force[k]) ** 0.5, CORAL)
        axes.plot(*run.q[k], "o", color=INK, markersize=3.5)
    axes.set_title("equal areas in equal times, and the force found")
    return figure


def ellipse(run: Any) -> Any:
    """The force on a bead on an ellipse, at right angles to it."""
    figure, axes = sheet()
    plain(axes)
    axes.plot(*run.q.T, color=INK, lw=2.0)
    force = run.constraint_force("ellipse")
    for k in range(0, len(run), 9):
        axes.plot(*np.array([run.q[k], run.q[k] + 0.22 * force[k]]).T, color=VIOLET, lw=0.9)
    ends = run.q + 0.22 * force
    axes.plot(*ends.T, color=VIOLET, lw=0.7, alpha=0.5)
    axes.plot(0, 0, "o", color=AMBER, markersize=9)
    axes.set_title("the wire pushes at right angles, strongest where it bends most")
    return figure


def nonholonomic(run: Any) -> Any:
    """The path in space, with its shadow."""
    figure = plt.figure(figsize=SIZE)
    axes: Any = figure.add_axes((0.0, -0.3, 1.0, 1.6), projection="3d")
    low = run["z"].min() - 0.25 * np.ptp(run["z"])
    axes.plot(run["x"], run["y"], low, color=PALE, lw=3)
    colors = TIDE(np.linspace(0, 1, len(run)))
    for k in range(0, len(run) - 1, 3):
        axes.plot(*run.q[k : k + 4].T, color=colors[k], lw=2)
    axes.scatter(*run.q[0], color=INK, s=20)
    bare(axes, np.vstack([run.q, [*run.q[0, :2], low]]), zoom=0.82, to_scale=False)
    axes.view_init(elev=24, azim=-58)
    return figure


def portrait(found: Any) -> Any:
    """The picture that the library draws of any system."""
    figure, axes = sheet(1, 2, figsize=(9.6, 6.0))
    found.plot(axes)
    return figure


def chain(run: Any) -> Any:
    """Places of the three masses over time, over their springs at the start."""
    figure, axes = sheet()
    places = [run["x1"], run["q1"] + run["x2"], run["q2"] + run["x3"]]
    for k, (place, color) in enumerate(zip(places, (TEAL, BLUE, VIOLET), strict=True)):
        axes.plot(run.t, (k + 1) + place, color=color)
        axes.axhline(k + 1, color=PALE, zorder=0)
        axes.text(10.15, k + 1, f"mass {k + 1}", color=color, va="center")
    axes.plot(run.t, 0 * run.t, color=INK, lw=3)
    axes.text(10.15, 0, "wall", color=INK, va="center")
    axes.set(xlabel="t [s]", ylabel="place along the chain [m]", xlim=(0, 10), yticks=[0, 1, 2, 3])
    return figure


def tumbling(run: Any) -> Any:
    """Angular velocity on the ellipsoid of energy: it runs along the separatrix, near it."""
    figure = plt.figure(figsize=SIZE)
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d")
    J = np.array([1.0, 1.5, 2.0])
    radii = np.sqrt(2 * run.energy[0] / J)
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 49), np.linspace(0, np.pi, 25))
    surface = [radii[0] * np.cos(u) * np.sin(v), radii[1] * np.sin(u) * np.sin(v)]
    surface.append(radii[2] * np.cos(v))
    axes.plot_surface(*surface, color=PALE, alpha=0.25, lw=0, shade=False)
    axes.plot_wireframe(*surface, color="#c9d4dc", lw=0.4, rstride=4, cstride=4)
    axes.plot(*run.v.T, color=CORAL, lw=2)
    for k in range(3):
        end = np.zeros(3)
        end[k] = 1.35 * radii[k]
        axes.plot(*np.array([-end, end]).T, color=GREY, lw=0.8)
        axes.text(*(1.08 * end), f"$\\omega_{k + 1}$", color=INK)
    bare(axes, np.array([-1.35 * radii, 1.35 * radii]), zoom=1.75)
    axes.view_init(elev=18, azim=-28)
    return figure


def thrown(run: Any) -> Any:
    """The two bodies at two times."""
    figure, row = sheet(1, 2)
    for axes, t in zip(row, (0.1, 0.7), strict=True):
        run.draw(t, axes=axes, forces=True, traces=["one", "two"])
        axes.set(xlim=(-0.75, 0.75), ylim=(-0.05, 1.1))
        axes.set_title(f"t = {t:g} s")
    return figure


def rolling(run: Any) -> Any:
    """The track of the disk from above, and the disk along it."""
    figure, axes = sheet()
    plain(axes)
    speed = np.linalg.norm(run.multipliers(), axis=1)
    radius = 0.5
    for k in range(0, len(run), 9):
        x, y, phi, theta, _ = run.q[k]
        # Seen from above a leaning disk is an ellipse; its center stands beside the contact.
        aside = radius * np.sin(theta) * np.array([-np.sin(phi), np.cos(phi)])
        axes.add_patch(
            Ellipse(
                (x + aside[0], y + aside[1]),
                2 * radius,
                2 * radius * abs(np.sin(theta)),
                angle=np.degrees(phi),
                facecolor=TEAL,
                alpha=0.10,
                edgecolor=TEAL,
                lw=0.7,
            )
        )
    fading(axes, run.q[:, :2], speed, width=2.2)
    axes.plot(*run.q[0, :2], "o", color=INK, markersize=5)
    axes.set_title("track of the contact, colored by the force of the ground")
    return figure


def sliding(run: Any) -> Any:
    """Contact point and center of the disk on ice."""
    figure, (left, right) = sheet(1, 2, width_ratios=(1.2, 1.0))
    phi, theta = run["phi"], run["theta"]
    aside = 0.5 * np.sin(theta)[:, None] * np.column_stack([-np.sin(phi), np.cos(phi)])
    center = run.q[:, :2] + aside
    left.plot(*run.q[:, :2].T, color=TEAL, lw=1.0, label="contact")
    left.plot(*center.T, color=CORAL, lw=2.4, label="center")
    left.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
    left.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    right.plot(run.t, run.multipliers("plane")[:, 0], color=VIOLET)
    right.axhline(9.81, color=GREY, lw=0.8, ls="--")
    right.set(xlabel="t [s]", ylabel="normal force [N]", xlim=(0, 5))
    return figure


PICTURES = {
    "06_spherical_pendulum": pendulum,
    "07_kepler": kepler,
    "08_bead_on_an_ellipse": ellipse,
    "09_nonholonomic_particle": nonholonomic,
    "10_portrait": portrait,
    "11_joined_parts": chain,
    "12_turning_body": tumbling,
    "13_two_bodies": thrown,
    "14_rolling_disk": rolling,
    "15_smooth_plane": sliding,
}
