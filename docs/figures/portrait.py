"""Draw docs/images/portrait.svg: a constrained system and its geometry in acceleration space.

Two sliders on perpendicular rails, joined by a rod: x² + y² = L², so A = [x y] and
b = −(ẋ² + ẏ²). The slider masses differ, which makes Gauss's measure a family of ellipses.

    python docs/figures/portrait.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle, Ellipse, FancyArrowPatch, Rectangle

import zwang as zw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

IMAGE = Path(__file__).resolve().parent.parent / "images" / "portrait.svg"

INK = "#22303c"
QUIET = "#8b98a5"
FREE = "#d1603d"  # what the system would do
FORCE = "#7a3e9d"  # what the constraint adds
MOTION = "#1f6f8b"  # what it does
ALLOWED = "#2a9d6f"  # what the constraint allows

# The sliders: 1 kg on the x rail, 2.5 kg on the y rail, a rod of 1 m.
M = np.diag([1.0, 2.5])
position = np.array([0.6, 0.8])
velocity = np.array([0.72, -0.54])
Q = np.array([3.5, 1.2])
A = position[None, :]
b = np.array([-velocity @ velocity])


def pair(vector: Any) -> tuple[float, float]:
    """A vector as the pair of floats that matplotlib asks for."""
    return float(vector[0]), float(vector[1])


def arrow(
    axes: Axes, start: np.ndarray, end: np.ndarray, color: str, *, width: float = 2.4, **style: Any
) -> None:
    """An arrow that ends exactly at its point."""
    patch = FancyArrowPatch(
        pair(start),
        pair(end),
        arrowstyle="-|>",
        mutation_scale=15,
        linewidth=width,
        color=color,
        shrinkA=0,
        shrinkB=0,
        **{"zorder": 5, **style},
    )
    axes.add_patch(patch)


def label(axes: Axes, at: Any, text: str, color: str = INK, **style: Any) -> None:
    """Text at a point, with a white edge so that lines do not cut it."""
    from matplotlib.patheffects import withStroke

    axes.text(
        at[0],
        at[1],
        text,
        color=color,
        path_effects=[withStroke(linewidth=3, foreground="white")],
        **{"fontsize": 12, "zorder": 8, **style},
    )


def draw_system(axes: Axes, constraint_force: np.ndarray) -> None:
    """The two sliders, the forces on them and the forces of the rod."""
    x, y = position
    for low, high, horizontal in ((-0.15, 1.2, True), (-0.15, 1.2, False)):
        for offset in (-0.055, 0.055):
            ends = ([low, high], [offset, offset])
            axes.plot(*(ends if horizontal else ends[::-1]), color=QUIET, linewidth=1.2, zorder=1)
    axes.plot([x, 0], [0, y], color=INK, linewidth=5, solid_capstyle="round", zorder=3)
    for centre, size in (((x, 0), 0.085), ((0, y), 0.125)):
        corner = (centre[0] - size, centre[1] - 0.75 * size)
        if centre[0] == 0:
            corner = (centre[0] - 0.75 * size, centre[1] - size)
        width, height = (2 * size, 1.5 * size) if centre[0] else (1.5 * size, 2 * size)
        axes.add_patch(
            Rectangle(corner, width, height, facecolor="#dfe6ec", edgecolor=INK, lw=1.5, zorder=4)
        )
        axes.add_patch(Circle(centre, 0.022, facecolor=INK, zorder=6))
    scale = 0.1
    below, left = np.array([0, -0.19]), np.array([-0.19, 0])
    for point, shift, unit, index in (
        (np.array([x, 0]), below, np.array([1, 0]), 0),
        (np.array([0, y]), left, np.array([0, 1]), 1),
    ):
        arrow(axes, point, point + scale * Q[index] * unit, FREE, zorder=7)
        start = point + shift
        arrow(axes, start, start + scale * constraint_force[index] * unit, FORCE, zorder=7)
    label(axes, (x + 0.39, 0.0), "$Q_1$", FREE, va="center")
    label(axes, (0.0, y + 0.21), "$Q_2$", FREE, ha="center")
    label(axes, (x - 0.14, -0.34), "$Q_{c1}$", FORCE, ha="center")
    label(axes, (-0.24, y - 0.25), "$Q_{c2}$", FORCE, ha="right")
    label(axes, (0.36, 0.44), "rod:  $x^2 + y^2 = L^2$", INK)
    label(axes, (x, 0.11), "1 kg", INK, fontsize=10)
    label(axes, (0.13, y + 0.06), "2.5 kg", INK, fontsize=10)
    axes.set_title("Two sliders on a rod", loc="left", fontsize=13, color=INK)
    axes.set_xlim(-0.5, 1.25)
    axes.set_ylim(-0.5, 1.25)
    axes.set_aspect("equal")
    axes.axis("off")


def draw_portrait(axes: Axes, acceleration: np.ndarray, constraint_force: np.ndarray) -> None:
    """Free and constrained acceleration, Gauss's ellipses, N(A) and its complement."""
    free = np.linalg.solve(M, Q)
    foot = np.linalg.pinv(A) @ b  # A⁺b, the part the constraint fixes
    normal = A[0] / np.linalg.norm(A[0])
    tangent = np.array([-normal[1], normal[0]])
    origin = np.zeros(2)

    # The subspaces, and the accelerations the constraint allows.
    axes.axline(
        pair(origin), pair(tangent), color=ALLOWED, linewidth=1.1, linestyle=(0, (5, 4)), zorder=1
    )
    axes.axline(
        pair(origin), pair(normal), color=QUIET, linewidth=1.1, linestyle=(0, (5, 4)), zorder=1
    )
    axes.axline(pair(foot), pair(foot + tangent), color=ALLOWED, linewidth=2.6, zorder=2)

    # Gauss's measure (v̇ − a)ᵀM(v̇ − a); the ellipse that touches is the smallest.
    deviation = acceleration - free
    smallest = deviation @ M @ deviation
    for factor in (0.1, 0.4, 1.0):
        axes.add_patch(
            Ellipse(
                pair(free),
                2 * np.sqrt(factor * smallest / M[0, 0]),
                2 * np.sqrt(factor * smallest / M[1, 1]),
                facecolor="none",
                edgecolor=FREE,
                linewidth=1.9 if factor == 1.0 else 0.9,
                alpha=0.95 if factor == 1.0 else 0.5,
                zorder=2,
            )
        )

    arrow(axes, origin, free, FREE)
    arrow(axes, origin, acceleration, MOTION, width=3.0)
    arrow(axes, free, acceleration, FORCE)
    arrow(axes, origin, foot, INK, width=1.6)
    arrow(axes, foot, acceleration, ALLOWED, width=1.6, zorder=4)
    arrow(axes, acceleration, acceleration + 0.18 * constraint_force, FORCE, width=1.3, zorder=4)
    for point, color in ((free, FREE), (acceleration, MOTION), (origin, INK)):
        axes.add_patch(Circle(pair(point), 0.045, facecolor=color, edgecolor="white", zorder=7))

    # The right angle between the constraint force and what the constraint allows.
    corner = acceleration + 0.13 * np.array([-normal, -normal + tangent, tangent])
    axes.plot(corner[:, 0], corner[:, 1], color=FORCE, linewidth=1.0, zorder=4)

    label(axes, free + [0.12, 0.12], "$a$  free acceleration", FREE)
    label(axes, acceleration + [0.1, -0.42], r"$\dot v$", MOTION, fontsize=16)
    label(axes, [1.95, -0.62], r"$M^{-1}Q_c$", FORCE)
    tip = acceleration + 0.18 * constraint_force
    label(axes, tip + [0.12, -0.12], r"$Q_c = A^T\lambda$", FORCE)
    label(axes, foot + [-0.16, -0.28], "$A^+b$", INK, ha="right")
    label(axes, foot + 1.0 * tangent + [-0.12, -0.22], r"$A\,\dot v = b$", ALLOWED, ha="right")
    label(axes, 1.6 * tangent + [0.05, 0.12], "$N(A)$", ALLOWED, fontsize=11)
    label(axes, 2.6 * normal + [0.15, -0.1], r"$N(A)^\perp$", QUIET, fontsize=11)
    label(axes, [3.6, -1.7], "Gauss: the first ellipse\nto touch the line", FREE, fontsize=10)
    axes.set_title("Its portrait among accelerations", loc="left", fontsize=13, color=INK)
    axes.set_xlim(-2.4, 7.8)
    axes.set_ylim(-2.5, 3.2)
    axes.set_aspect("equal")
    axes.axis("off")


def main(target: Path = IMAGE) -> None:
    """Solve the system and draw both panels."""
    solution = zw.solve(M, Q, A, b)
    plt.rcParams.update(
        {"font.family": "DejaVu Sans", "mathtext.fontset": "dejavuserif", "svg.hashsalt": "zwang"}
    )
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), width_ratios=[0.6, 1.0])
    draw_system(left, solution.constraint_force)
    draw_portrait(right, solution.acceleration, solution.constraint_force)
    figure.tight_layout()
    metadata = {"Date": None} if target.suffix == ".svg" else {}
    figure.savefig(target, dpi=110, metadata=metadata, facecolor="white")


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
