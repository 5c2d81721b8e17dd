"""First steps: one system in numbers, systems of functions, two mechanisms."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.patches import Circle, FancyBboxPatch

from pictures.style import AMBER, BLUE, CORAL, GREY, INK, PALE, TEAL, VIOLET, arrow, plain, sheet

__all__ = ["PICTURES"]


def train(solution: Any) -> Any:
    """Engine, massless coupling and wagon, with applied and constraint forces."""
    figure, axes = sheet()
    plain(axes)
    for x, width, label, mass in ((4.6, 2.0, "engine", "3 t"), (0.4, 1.7, "wagon", "2 t")):
        box = FancyBboxPatch(
            (x, 0.35), width, 1.1, boxstyle="round,pad=0.06", facecolor=PALE, edgecolor=INK, lw=1.4
        )
        axes.add_patch(box)
        axes.text(x + width / 2, 1.0, label, ha="center", color=INK, fontsize=11)
        axes.text(x + width / 2, 0.62, mass, ha="center", color=GREY)
        for wheel in (0.35, width - 0.35):
            axes.add_patch(Circle((x + wheel, 0.12), 0.17, facecolor="white", ec=INK, lw=1.4))
    axes.plot([-0.6, 7.6], [-0.07, -0.07], color=GREY, lw=1.2)
    axes.plot([2.16, 4.54], [0.75, 0.75], color=INK, lw=2.2)
    axes.add_patch(Circle((3.35, 0.75), 0.14, facecolor="white", edgecolor=VIOLET, lw=2, zorder=3))
    axes.text(3.35, 1.0, "coupling, no mass", ha="center", color=VIOLET, fontsize=8)
    chain = np.linspace(2.16, 4.54, 120)
    sag = 0.5 - 0.22 * (1 - ((chain - 3.35) / 1.19) ** 2)
    axes.plot(chain, sag + 0.02 * np.sin(40 * chain), color=AMBER, lw=1.4)
    axes.text(3.35, 0.06, "safety chain: redundant", ha="center", color=AMBER, fontsize=8)
    Q, Qc = solution.terms.applied_force, solution.constraint_force
    for x, value, y, color, name in (
        (5.6, Q[0], 1.95, CORAL, "Q"),
        (1.25, Q[2], 1.95, CORAL, "Q"),
        (5.6, Qc[0], 2.4, TEAL, "Q_c"),
        (1.25, Qc[2], 2.8, TEAL, "Q_c"),
    ):
        arrow(axes, (x, y), (0.095 * value, 0), color, 2.0)
        side = 0.12 * np.sign(value)
        axes.text(
            x + 0.095 * value + side,
            y,
            f"${name}$ = {value:.1f} kN",
            color=color,
            va="center",
            ha="left" if value > 0 else "right",
        )
    axes.set_xlim(-1.6, 9.6)
    axes.set_ylim(-0.9, 3.1)
    axes.text(
        3.95,
        -0.55,
        f"all accelerate at {solution.acceleration[0]:.1f} m/s²",
        ha="center",
        color=BLUE,
        fontsize=11,
    )
    return figure


def slack_rod(run: Any) -> Any:
    """Free fall, the catch, the swing on the sphere, seen from the side."""
    figure, axes = sheet()
    plain(axes)
    caught = run.segments[1].first
    circle = np.linspace(np.pi, 2 * np.pi, 200)
    axes.plot(2 * np.cos(circle), 2 * np.sin(circle), color=PALE, lw=6, zorder=0)
    swing = run.q[caught:]
    axes.plot(swing[:, 0], swing[:, 2], color=TEAL, lw=0.9, alpha=0.85)
    axes.plot(run.q[: caught + 1, 0], run.q[: caught + 1, 2], color=CORAL, lw=2.4)
    at = run.events[0].q
    axes.plot([0, at[0]], [0, at[2]], color=INK, lw=1.6)
    axes.plot(0, 0, "o", color=GREY, markersize=7)
    axes.plot(*run.q[0, [0, 2]], "o", color=CORAL, markersize=8)
    axes.plot(at[0], at[2], "o", color=INK, markersize=6)
    axes.annotate("let go, rod slack", run.q[0, [0, 2]], (1.15, 0.05), color=CORAL)
    axes.annotate(f"taut at {run.events[0].t:.3f} s", at[[0, 2]], (1.15, -1.72), color=INK)
    axes.set_xlim(-2.9, 3.3)
    return figure


def wall(run: Any) -> Any:
    """Phase portrait of the bounces."""
    figure, axes = sheet()
    axes.axvspan(-0.52, -0.4, color=PALE, zorder=0)
    axes.axvline(-0.4, color=GREY, lw=1.5)
    first = 0
    for segment in [*run.segments[1:], None]:
        last = len(run) if segment is None else segment.first
        axes.plot(run["x"][first:last], run["x_dot"][first:last], color=TEAL, lw=1.1)
        first = last
    for event in run.events:
        axes.plot(
            [event.q[0]] * 2, [event.v[0], event.v_after[0]], color=CORAL, lw=0.9, ls=(0, (2, 2))
        )
    axes.plot(run["x"][0], run["x_dot"][0], "o", color=INK, markersize=5)
    axes.text(-0.41, axes.get_ylim()[1] * 0.9, "wall ", color=GREY, ha="right")
    axes.set(xlabel="x [m]", ylabel="ẋ [m/s]", xlim=(-0.52, 0.9))
    return figure


def loop(run: Any) -> Any:
    """Bricard's mechanism at two times."""
    figure, row = sheet(1, 2)
    for axes, t in zip(row, (0.0, 1.5), strict=True):
        run.draw(t, axes=axes, traces={"bar2": (0.0, -0.5, 0.0)})
        axes.set_title(f"t = {t:g} s")
    return figure


def four_bar(run: Any) -> Any:
    """The linkage, and the forces in its pins as they turn."""
    figure, (left, right) = sheet(1, 2, width_ratios=(1.0, 1.2))
    run.draw(2.5, axes=left, traces={"coupler": (0.2, 0.0, 0.5)})
    for pin, color in zip("ABCD", (TEAL, BLUE, VIOLET, CORAL), strict=True):
        force = run.reaction(pin).force
        right.plot(force[:, 0], force[:, 2], color=color, lw=0.8, label=f"pin {pin}")
    right.axhline(0, color=PALE, zorder=0)
    right.axvline(0, color=PALE, zorder=0)
    right.set(xlabel="force along x [N]", ylabel="force along z [N]", aspect="equal")
    right.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=8, ncols=4)
    return figure


PICTURES = {
    "01_every_formulation": train,
    "02_constraint_as_a_function": slack_rod,
    "03_simulate_a_pendulum": wall,
    "04_bricard": loop,
    "05_four_bar": four_bar,
}
