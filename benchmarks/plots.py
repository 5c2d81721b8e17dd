"""Draw the stored results: error against processor time, and cost against the number of bodies."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from benchmarks.comparison import OURS
from benchmarks.rows import Row

__all__ = ["draw_errors", "draw_growth", "draw_scan"]

COLORS = {
    "Zwang": "#d1603d",
    "MuJoCo": "#1f6f8b",
    "Pinocchio": "#7a3e9d",
    "Exudyn": "#2a9d6f",
    "Drake": "#b8860b",
    "OpenSim": "#8b98a5",
    "SymPy": "#22303c",
}
SHOWN = (
    *("chain(10)", "chain(100)", "skew_chain(10)", "four_bars(1)", "four_bars(40)", "bricard"),
    *("slider_crank", "governor", "vehicle"),
)
STYLE = {
    "font.family": "DejaVu Sans",
    "svg.hashsalt": "zwang",
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def draw_errors(rows: list[dict[str, Any]], target: Path) -> None:
    """One panel a work; each engine's fastest settings, from coarse to fine."""
    names = [name for name in SHOWN if any(row["work"] == name for row in rows)]
    with plt.rc_context(STYLE):
        rows_of_panels = -(-len(names) // 3)
        size = (11.0, 0.9 + 2.9 * rows_of_panels)
        figure, axes = plt.subplots(rows_of_panels, 3, figsize=size, squeeze=False)
        for panel, name in zip(axes.flat, names, strict=False):
            here = [row for row in rows if row["work"] == name and row["error"]]
            for engine, color in COLORS.items():
                mine = [row for row in here if row["engine"] == engine]
                _front(panel, mine, "cpu", color, engine)
                if engine == OURS:
                    _front(panel, mine, "advance", color, "Zwang, time loop alone", dashed=True)
            panel.set(xscale="log", yscale="log", ylim=(1e-13, 10.0))
            panel.set_title(name, loc="left", fontsize=11)
            panel.grid(visible=True, linewidth=0.4, alpha=0.5)
        for panel in axes.flat[len(names) :]:
            panel.axis("off")
        for panel in axes[:, 0]:
            panel.set_ylabel("largest error [m]")
        for panel in axes.flat[max(0, len(names) - 3) : len(names)]:
            panel.set_xlabel("processor time [ms]")
        found: dict[str, Any] = {}
        for panel in axes.flat:
            handles, labels = panel.get_legend_handles_labels()
            found |= dict(zip(labels, handles, strict=True))
        figure.legend(found.values(), found.keys(), loc="upper center", ncols=8, frameon=False)
        figure.tight_layout(rect=(0.0, 0.0, 1.0, 1.0 - 0.4 / size[1]))
        _save(figure, target)


def _front(
    panel: Any,
    rows: list[dict[str, Any]],
    key: str,
    color: str,
    label: str,
    *,
    dashed: bool = False,
) -> None:
    """Settings that no other of the same engine beats in both time and error."""
    rows = sorted(rows, key=lambda row: row[key])
    best, kept = float("inf"), []
    for row in rows:
        if row["error"] < best:
            best = row["error"]
            kept.append(row)
    if kept:
        panel.plot(
            [1e3 * row[key] for row in kept],
            [max(row["error"], 1e-13) for row in kept],
            color=color,
            label=label,
            marker="o",
            markersize=3.5,
            linewidth=2.0 if label.startswith(OURS) else 1.3,
            linestyle="--" if dashed else "-",
            alpha=0.6 if dashed else 1.0,
        )


def draw_growth(found: dict[str, dict[str, float]], target: Path) -> None:
    """Cost of one evaluation of the chain against its number of rods."""
    sizes = {int(m[1]): times for name, times in found.items() if (m := _chain(name))}
    with plt.rc_context(STYLE):
        figure, panel = plt.subplots(figsize=(6.4, 4.4))
        for engine, color in COLORS.items():
            points = [(n, times[engine]) for n, times in sorted(sizes.items()) if engine in times]
            if points:
                x, y = zip(*points, strict=True)
                panel.plot(
                    x, [1e6 * t for t in y], color=color, label=engine, marker="o", markersize=4
                )
        panel.set(xscale="log", yscale="log")
        panel.set_xlabel("rods of the chain")
        panel.set_ylabel("one evaluation [µs]")
        panel.grid(visible=True, linewidth=0.4, alpha=0.5)
        panel.legend(frameon=False)
        figure.tight_layout()
        _save(figure, target)


def draw_scan(rows: list[Row], target: Path) -> None:
    """Cost of a body and evaluation of the chain against its number of bodies."""
    with plt.rc_context(STYLE):
        figure, panel = plt.subplots(figsize=(6.4, 4.0))
        for where, marker in (("plane", "o"), ("space", "s")):
            costs: dict[int, float] = {}
            for row in rows:
                if row.what.endswith(where):
                    costs[_bodies(row.beside)], costs[_bodies(row.what)] = row.yardstick, row.ours
            x = sorted(costs)
            y = [1e6 * costs[n] for n in x]
            panel.plot(x, y, label=f"built in {where}", marker=marker, markersize=4)
        panel.set(xscale="log", yscale="log")
        panel.set_xlabel("bodies of the chain")
        panel.set_ylabel("a body and evaluation [µs]")
        panel.grid(visible=True, linewidth=0.4, alpha=0.5)
        panel.legend(frameon=False)
        figure.tight_layout()
        _save(figure, target)


def _bodies(what: str) -> int:
    return int(what.partition("(")[2].partition(")")[0])


def _chain(name: str) -> re.Match[str] | None:
    return re.fullmatch(r"chain\((\d+)\)", name)


def _save(figure: Any, target: Path) -> None:
    metadata = {"Date": None} if target.suffix == ".svg" else {}
    figure.savefig(target, dpi=110, metadata=metadata, facecolor="white")
    plt.close(figure)
