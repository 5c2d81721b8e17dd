"""Extreme and mean values of channels over a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.display import plain_number
from zwang.results.determined import ONE_OF_MANY, STAR
from zwang.results.tables import table_of
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.results.run import Run

__all__ = ["mean_over_time", "rms_over_time", "summary_of", "summary_table"]

#: Columns of the table for people.
_SHOWN = ("least", "at", "greatest", "at", "mean", "RMS")


def mean_over_time(t: FloatArray, y: FloatArray) -> float:
    """∫y dt over the time, by the trapezoidal rule; of one state its value."""
    return float(np.trapezoid(y, t) / (t[-1] - t[0])) if t[-1] > t[0] else float(y[0])


def rms_over_time(t: FloatArray, y: FloatArray) -> float:
    """Root mean square over the time."""
    return float(np.sqrt(mean_over_time(t, y * y)))


def summary_of(
    run: Run,
    channels: Sequence[str] | None = None,
    every: float | None = None,
    *,
    degrees: bool = False,
) -> dict[str, dict[str, Any]]:
    """Column → unit, least and greatest value with their times, mean and root mean square.

    And whether the motion determines it; else it is one admissible value among many. Extremes are
    those of the saved states, or of the times asked for.

    Parameters
    ----------
    channels, every, degrees : as in `zwang.Run.to_csv`.
    """
    table = table_of(run, channels, every, degrees=degrees)
    found = {}
    for name, values in table.columns.items():
        low, high = int(np.argmin(values)), int(np.argmax(values))
        found[name] = {
            "unit": table.units[name],
            "least": float(values[low]),
            "at_least": float(table.t[low]),
            "greatest": float(values[high]),
            "at_greatest": float(table.t[high]),
            "mean": mean_over_time(table.t, values),
            "rms": rms_over_time(table.t, values),
            "determinate": name not in table.indeterminate,
        }
    return found


def summary_table(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The same for people: a line for each column, times in seconds, a note on starred ones."""
    keys = ("least", "at_least", "greatest", "at_greatest", "mean", "rms")
    rows = [["channel", "unit", *_SHOWN]]
    for name, facts in found.items():
        star = "" if facts.get("determinate", True) else f" {STAR}"
        rows.append([name + star, facts["unit"], *(plain_number(facts[key], 5) for key in keys)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        words = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        numbers = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        lines.append("  ".join([*words, *numbers]))
    if not all(facts.get("determinate", True) for facts in found.values()):
        lines.append(f"{STAR} {ONE_OF_MANY}")
    return "\n".join(lines)
