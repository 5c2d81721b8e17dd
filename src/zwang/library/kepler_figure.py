"""Ready-made picture of Kepler's first two laws: the ellipse, its focus, and areas in equal times.

Udwadia & Kalaba (1996), Fig. 1. `swept_area` measures Kepler's second law on the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from zwang.results.run import Run
    from zwang.terms import FloatArray

__all__ = ["kepler_figure", "swept_area", "swept_sector"]

#: Points along the arc of a sector; the area of 400 triangles misses 1e-5 of the sector.
ARC = 400


def swept_sector(run: Run, start: float, end: float) -> FloatArray:
    """Corners of the sector that the radius sweeps: the focus, then the arc, shape (k, 2)."""
    if not start < end:
        raise InputError(
            "sector", must="end after it starts", but=f"goes from {start:g} to {end:g}"
        )
    arc = run.at(np.linspace(start, end, ARC + 1)).q[:, :2]
    return np.concatenate([np.zeros((1, 2)), arc])


def swept_area(run: Run, start: float, end: float) -> float:
    """The area swept from one time to another, positive when swept counter-clockwise.

    By the second law it is ½ c (end − start), with c = xẏ − yẋ.
    """
    x, y = swept_sector(run, start, end).T
    return 0.5 * float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))


def kepler_figure(run: Run, intervals: Sequence[tuple[float, float]], ax: Any = None) -> Any:
    """Draw the path of a run of `kepler_laws`, the focus, and the sectors swept in intervals.

    Parameters
    ----------
    run : a run of `zwang.library.kepler_laws`.
    intervals : (start, end) of the sectors to show; equal times have equal areas.
    ax : axes of matplotlib; a new figure if None.

    Returns
    -------
    matplotlib.figure.Figure
        That of the axes.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("figure of Kepler's laws", "matplotlib", "plot") from error
    if ax is None:
        _, ax = plt.subplots(figsize=(6.0, 4.5), layout="constrained")
    path = run.at(np.linspace(run.t[0], run.t[-1], ARC + 1)).q
    ax.plot(path[:, 0], path[:, 1], color="#1f6f8b", label="path")
    for start, end in intervals:
        area = swept_area(run, start, end)
        corners = swept_sector(run, start, end)
        ax.fill(corners[:, 0], corners[:, 1], color="#d1603d", alpha=0.35, linewidth=0)
        middle = 0.6 * corners[len(corners) // 2]
        ax.annotate(f"{area:.4g}", middle, ha="center", va="center", fontsize=9)
    ax.plot(0.0, 0.0, "o", color="#22303c", label="focus")
    ax.set(xlabel="x", ylabel="y", title="Equal areas in equal times", aspect="equal")
    ax.legend(loc="upper right", frameon=False)
    return ax.figure
