"""Diagnosis by a geometric portrait: its figure, with matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.diagnosis.portrait import Portrait, Sides
from zwang.errors import MissingExtraError
from zwang.terms import FloatArray

try:
    import matplotlib.pyplot as plt
    from matplotlib.patches import FancyArrowPatch, Rectangle
    from matplotlib.patheffects import withStroke
except ImportError as error:
    raise MissingExtraError("geometric portrait", "matplotlib", "plot") from error

__all__ = ["draw"]

INK = "#22303c"
QUIET = "#8b98a5"
GIVEN = "#d1603d"  # what is applied
MOTION = "#1f6f8b"  # what the system does
ALLOWED = "#2a9d6f"  # what happens in N(A)
FIXED = "#7a3e9d"  # what the constraints prescribe


def draw(portrait: Portrait, ax: Any) -> Any:
    """Accelerations and forces, each in a plane with one axis in N(A) and one in N(A)⊥."""
    if ax is None:
        _, ax = plt.subplots(1, 2, figsize=(11.5, 5.8), layout="constrained")
    axes = np.ravel(np.asarray(ax, dtype=object))
    _accelerations(axes[0], portrait)
    if len(axes) > 1:
        _forces(axes[1], portrait)
    return axes[0].figure


def _accelerations(ax: Any, portrait: Portrait) -> None:
    tangent, normal = portrait.acceleration.lengths
    reach = 1.3 * (max(tangent, normal) or 1.0)
    low = -0.22 * reach
    _plane(ax, (low, reach), (low, reach), "Acceleration")
    corner = np.array([tangent, normal])
    _bounds(ax, portrait, reach)
    for end, color in (([tangent, 0.0], ALLOWED), ([0.0, normal], FIXED)):
        ax.plot(*zip(end, corner, strict=True), color=color, lw=1.0, ls=":", zorder=2)
        _arrow(ax, [0.0, 0.0], end, color, width=1.8)
    _arrow(ax, [0.0, 0.0], corner, MOTION, width=3.0)
    pad = 0.035 * reach
    _label(ax, corner + [pad, pad], rf"$\dot v$   {np.hypot(tangent, normal):.3g}", MOTION, size=14)
    if tangent > 0.02 * reach:
        text = rf"$\dot v_N = M_s^+\Delta$   {tangent:.3g}"
        _label(ax, [tangent / 2, -pad], text, ALLOWED, ha="center", va="top")
    if normal > 0.02 * reach:
        text = f"$A^+b$\n{normal:.3g}"
        _label(ax, [-pad, normal / 2], text, FIXED, ha="right", va="center")


def _bounds(ax: Any, portrait: Portrait, reach: float) -> None:
    """The region that the two bounds leave to v̇."""
    right, floor = portrait.tangent_bound, portrait.normal_bound
    inside = min(right, reach)
    region = Rectangle(
        (0.0, floor), inside, reach - floor, facecolor=MOTION, alpha=0.07, lw=0, zorder=0
    )
    ax.add_patch(region)
    dashed = {"lw": 1.4, "ls": (0, (5, 3)), "zorder": 1}
    ax.plot(
        [right, right] if right <= reach else [],
        [floor, reach] if right <= reach else [],
        color=ALLOWED,
        label=rf"$\Vert\dot v_N\Vert \leq \Vert M_s^+\Vert\,\Vert\Delta\Vert$ = {right:.3g}",
        **dashed,
    )
    ax.plot(
        [0.0, inside],
        [floor, floor],
        color=FIXED,
        label=rf"$\Vert\dot v_\perp\Vert \geq \Vert MA^+b\Vert\,/\,\Vert M\Vert$ = {floor:.3g}",
        **dashed,
    )
    ax.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 0.99),
        frameon=False,
        fontsize=10,
        labelcolor="linecolor",
    )


def _forces(ax: Any, portrait: Portrait) -> None:
    forces = (portrait.given_force, portrait.fixed_inertia, portrait.reduced_force)
    along = _unit([s.tangent for s in (forces[2], forces[0], forces[1])])
    across = _unit([s.normal for s in forces])

    def shadow(sides: Sides) -> FloatArray:
        return np.array([sides.vector @ along, sides.vector @ across])

    given, fixed, reduced = (shadow(sides) for sides in forces)
    origin, foot = np.zeros(2), np.array([reduced[0], 0.0])
    points = np.array([origin, given, fixed, foot])
    low, high = points.min(axis=0), points.max(axis=0)
    half = 0.75 * (max(high - low) or 1.0)
    centre = (low + high) / 2
    length = [float(np.linalg.norm(sides.vector)) for sides in forces]
    # More than two dimensions do not fit a plane; the triangle still closes, as shadows add up.
    flat = np.allclose([np.hypot(*given), np.hypot(*fixed)], length[:2], rtol=1e-9)
    title = "Force" if flat else "Force (shadows; numbers are true lengths)"
    _plane(ax, (centre[0] - half, centre[0] + half), (centre[1] - half, centre[1] + half), title)
    _arrow(ax, origin, foot, ALLOWED, width=1.8)
    _arrow(ax, origin, given, GIVEN, width=2.4)
    ax.plot(*zip(given, [given[0], 0.0], strict=True), color=QUIET, lw=1.0, ls=":", zorder=2)
    if length[1] > 1e-3 * half:
        _arrow(ax, origin, fixed, FIXED, width=2.0)
        _arrow(ax, fixed, given, MOTION, width=2.4)
        _at_tip(ax, fixed, fixed - given, f"$MA^+b$   {length[1]:.3g}", FIXED)
        side = np.array([given[1] - fixed[1], fixed[0] - given[0]])
        side *= -np.sign(side @ (origin - fixed)) or 1.0  # away from Q + C
        middle = (fixed + given) / 2 + 0.07 * half * side / (np.linalg.norm(side) or 1.0)
        text = rf"$\Delta$   {length[2]:.3g}"
        ha = "left" if side[0] >= 0 else "right"
        _label(ax, middle, text, MOTION, size=13, ha=ha, va="center")
        _at_tip(ax, given, given, f"$Q + C$   {length[0]:.3g}", GIVEN)
    else:
        _at_tip(ax, given, given, rf"$Q + C = \Delta$   {length[0]:.3g}", GIVEN)
    if np.abs(foot[0]) > 1e-3 * half:
        text = rf"$\Delta_N$   {portrait.reduced_force.lengths[0]:.3g}"
        _at_tip(ax, foot, np.array([foot[0], -np.abs(foot[0])]), text, ALLOWED)


def _at_tip(ax: Any, tip: FloatArray, away: FloatArray, text: str, color: str) -> None:
    """A label beside the tip of an arrow, on the side that `away` points to."""
    pad = 0.02 * (ax.get_xlim()[1] - ax.get_xlim()[0])
    right, up = away[0] >= 0.0, away[1] >= 0.0
    at = tip + [pad if right else -pad, pad if up else -pad]
    ha, va = ("left" if right else "right"), ("bottom" if up else "top")
    _label(ax, at, text, color, ha=ha, va=va)


# --- pieces ---------------------------------------------------------------------------------------


def _plane(ax: Any, x: tuple[float, float], y: tuple[float, float], title: str) -> None:
    ax.set_xlim(*x)
    ax.set_ylim(*y)
    ax.set_aspect("equal")
    ax.axhline(0.0, color=ALLOWED, lw=1.0, zorder=1)
    ax.axvline(0.0, color=QUIET, lw=1.0, zorder=1)
    ax.set_title(title, loc="left", fontsize=12, color=INK)
    ax.set_xlabel("$N(A)$, what the constraints allow", color=ALLOWED, fontsize=11)
    ax.set_ylabel(r"$N(A)^\perp$, what they prescribe", color=QUIET, fontsize=11)
    ax.tick_params(colors=QUIET, labelsize=9, length=3)
    for side in ax.spines.values():
        side.set_visible(False)


def _arrow(ax: Any, start: Any, end: Any, color: str, *, width: float) -> None:
    """An arrow that ends exactly at its point; none for a vanishing one."""
    span = ax.get_xlim()[1] - ax.get_xlim()[0]
    if np.hypot(*np.subtract(end, start)) < 1e-3 * span:
        return
    ax.add_patch(
        FancyArrowPatch(
            tuple(start),
            tuple(end),
            arrowstyle="-|>",
            mutation_scale=9 + 3 * width,
            lw=width,
            color=color,
            shrinkA=0,
            shrinkB=0,
            zorder=4 + width,
        )
    )


def _label(ax: Any, at: Any, text: str, color: str, *, size: float = 11, **style: Any) -> None:
    ax.text(
        at[0],
        at[1],
        text,
        color=color,
        fontsize=size,
        zorder=9,
        path_effects=[withStroke(linewidth=3, foreground="white")],
        **style,
    )


def _unit(candidates: list[FloatArray]) -> FloatArray:
    """Direction of the first vector that is not zero; the zero vector if there is none."""
    largest = max(float(np.linalg.norm(v)) for v in candidates)
    for v in candidates:
        length = float(np.linalg.norm(v))
        if length > 1e-9 * largest:
            return v / length
    return candidates[0] * 0.0
