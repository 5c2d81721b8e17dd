"""What users feel, as rows: our time, that of a yardstick in the same run, and the goal.

Sections of `python -m benchmarks` that are lists of such rows are shown in the first table of the
page and among the goals; a section is added in `benchmarks.__main__` and in `FELT`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.comparison import IN_A_ROW, SHORT
from zwang.codegen import background

__all__ = ["FELT", "PASSES", "Row", "least", "rows_of", "table", "warm"]

PASSES = 7
#: Sections of rows, in the order in which the page has them → what it calls them.
FELT = {
    "motion and forces": "Motion to 1e-6 m by a call with defaults, beside the best peer",
    "forces": "Forces and moments of all joints at 501 states",
    "energy balance": "Energies and energy balance at 501 states, beside the run itself",
    "natural call": "Short calls, again from the same start",
    "built again": "Equal mechanisms built anew, beside another call of one",
    "first result": "First result of a new model",
    "scan over size": "Growth with the number of bodies",
    "stiff": "Stiff motions by a call with defaults",
}


@dataclass(frozen=True)
class Row:
    """A measurement.

    Attributes
    ----------
    section, what : of the page, and what was measured.
    beside : what the yardstick is.
    ours, yardstick : processor times [s].
    goal : largest ratio.
    around : seconds that are allowed beyond the ratio, for what Python does around any call.
    """

    section: str
    what: str
    beside: str
    ours: float
    yardstick: float
    goal: float
    around: float = 0.0

    @property
    def ratio(self) -> float:
        """Of processor times, but for what is allowed around a call."""
        return max(self.ours - self.around, 0.0) / self.yardstick

    @property
    def kept(self) -> bool:
        """Whether the goal is kept."""
        return self.ratio <= self.goal

    def plain(self) -> dict[str, Any]:
        """For storage."""
        return asdict(self)


def rows_of(stored: dict[str, Any], section: str) -> list[Row]:
    """The rows of a stored section; none if it is not there or is something else."""
    found = stored.get(section, {}).get("results", [])
    keys = {"section", "what", "beside", "ours", "yardstick", "goal"}
    plain = isinstance(found, list) and all(isinstance(x, dict) and keys <= x.keys() for x in found)
    return [Row(**x) for x in found] if plain else []


def warm(*calls: Callable[[], Any]) -> None:
    """Call functions until all is compiled, which happens in the background."""
    for _ in range(2):
        for call in calls:
            for _ in range(3):
                call()
        background.finish()


def least(*functions: Callable[[], Any], passes: int = PASSES) -> list[float]:
    """The least CPU time of each, in turns; a function may return what of its time counts.

    What takes a few milliseconds runs some times in a row in each turn, which caches take to fill
    after another; see `benchmarks.comparison`.
    """
    best = [np.inf] * len(functions)
    for _ in range(passes):
        for k, function in enumerate(functions):
            for _ in range(IN_A_ROW):
                began = time.process_time()
                counted = function()
                spent = time.process_time() - began
                best[k] = min(best[k], counted if isinstance(counted, float) else spent)
                if spent > SHORT:
                    break
    return best


def table(rows: Iterable[Row]) -> list[str]:
    """Lines for a terminal."""
    lines = []
    for row in rows:
        kept = "kept" if row.kept else "MISSED"
        ours, theirs = 1e3 * row.ours, 1e3 * row.yardstick
        numbers = f"{ours:9.3f} ms {theirs:9.3f} ms  {row.ratio:6.3f}  ≤ {row.goal:g}"
        lines.append(f"{row.section:18s} {row.what:32s} {row.beside:20s} {numbers}  {kept}")
    return lines
