"""Colours, sheets and strokes that all pictures of the gallery share."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap

__all__ = [
    "AMBER",
    "BLUE",
    "CORAL",
    "GREY",
    "INK",
    "PALE",
    "TEAL",
    "TIDE",
    "VIOLET",
    "arrow",
    "bare",
    "fading",
    "plain",
    "sheet",
    "use_style",
]

INK, GREY, PALE = "#22303c", "#78909c", "#e3e9ee"
TEAL, CORAL, BLUE, VIOLET, AMBER = "#00796b", "#ff6e40", "#1f6f8b", "#7a3e9d", "#c77f0a"
#: From calm to strong.
TIDE = LinearSegmentedColormap.from_list("tide", ["#9fd3c7", TEAL, "#2b4c7e", VIOLET, CORAL])

#: All pictures have these proportions [inch].
SIZE = (6.4, 4.0)


def use_style() -> None:
    """The look of all pictures."""
    plt.rcParams.update(
        {
            "svg.hashsalt": "zwang",
            "font.family": "DejaVu Sans",
            "font.size": 9,
            "axes.edgecolor": GREY,
            "axes.labelcolor": INK,
            "axes.titlecolor": INK,
            "axes.titlesize": 9.5,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "xtick.color": GREY,
            "ytick.color": GREY,
            "lines.linewidth": 1.4,
            "lines.solid_capstyle": "round",
            "legend.frameon": False,
            "figure.facecolor": "white",
        }
    )


def sheet(rows: int = 1, columns: int = 1, **layout: Any) -> tuple[Any, Any]:
    """A figure of the common size with its axes."""
    layout = {"figsize": SIZE, "layout": "constrained", **layout}
    return plt.subplots(rows, columns, **layout)


def plain(axes: Any) -> Any:
    """Axes to scale, without frame."""
    axes.set_aspect("equal")
    axes.set_axis_off()
    return axes


def bare(axes: Any, points: Any, *, zoom: float = 1.5, to_scale: bool = True) -> Any:
    """Axes in three dimensions with nothing but their content, which the points span."""
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    sides = np.maximum(high - low, 1e-9)
    axes.set_axis_off()
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(tuple(sides) if to_scale else (1.0, 1.0, 0.8), zoom=zoom)
    return axes


def fading(axes: Any, path: Any, values: Any, *, width: float = 1.8, cmap: Any = TIDE) -> Any:
    """A path whose colour follows a value."""
    points = np.asarray(path, dtype=float)
    pieces = np.stack([points[:-1], points[1:]], axis=1)
    lines = LineCollection(list(pieces), cmap=cmap, linewidths=width, capstyle="round")
    lines.set_array(np.asarray(values, dtype=float)[:-1])
    axes.add_collection(lines)
    axes.autoscale_view()
    return lines


def arrow(axes: Any, start: Any, by: Any, color: str, width: float = 1.4) -> None:
    """An arrow from a point by a vector, both in the plane of the picture."""
    tail = np.asarray(start, dtype=float)
    tip = tail + np.asarray(by, dtype=float)
    axes.annotate(
        "",
        tuple(tip),
        tuple(tail),
        arrowprops={"arrowstyle": "-|>", "color": color, "lw": width, "shrinkA": 0, "shrinkB": 0},
    )
