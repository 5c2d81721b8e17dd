"""Extreme and mean values of channels over a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.display import plain_number
from zwang.results.determined import ONE_OF_MANY, STAR
from zwang.results.held_means import Nodes, nodes_of
from zwang.results.pieces import with_sides
from zwang.results.tables import table_of
from zwang.results.unbounded import unbounded_at
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.results.run import Run

__all__ = ["mean_over_time", "means", "rms_over_time", "summary_of", "summary_table"]

#: Columns of the table for people.
_SHOWN = ("least", "at", "greatest", "at", "mean", "RMS")
#: After the name of what is unbounded, and what is said of it below.
DAGGER = "\N{DAGGER}"
UNBOUNDED = (
    "Unbounded at t = {} s, where the mechanism passes a singular position: its numbers depend on "
    "which times were saved."
)


def mean_over_time(t: FloatArray, y: FloatArray) -> float:
    """∫y dt over the time, by the trapezoidal rule; of one state its value.

    Where y is undefined, as 0/0, the time next to it does not count; NaN where it is nowhere
    defined.
    """
    good = np.isfinite(y)
    both = good[1:] & good[:-1]
    spans = np.diff(t)[both]
    if spans.sum() > 0.0:
        return float((0.5 * (y[1:] + y[:-1]))[both] @ spans / spans.sum())
    return float(y[good].mean()) if good.any() else float("nan")


def rms_over_time(t: FloatArray, y: FloatArray) -> float:
    """Root mean square over the time."""
    return float(np.sqrt(mean_over_time(t, y * y)))


def means(
    t: FloatArray, y: FloatArray, nodes: Nodes | None, between: FloatArray | None
) -> tuple[float, float]:
    """Root mean square and mean of values at saved times, or from those at nodes; else NaN.

    Parameters
    ----------
    nodes : where parameters change along the run.
    between : values at these; None where they cannot be had.
    """
    if nodes is None:
        return rms_over_time(t, y), mean_over_time(t, y)
    if between is None:
        return float("nan"), float("nan")
    return nodes.rms(between), nodes.mean(between)


def summary_of(
    run: Run,
    channels: Sequence[str] | None = None,
    every: float | None = None,
    *,
    degrees: bool = False,
) -> dict[str, dict[str, Any]]:
    """Column → unit, least and greatest value with their times, mean and root mean square.

    And whether the motion determines it; else it is one admissible value among many. Extremes are
    those of the saved states and both sides of events, or of the times asked for; where a channel
    is unbounded in between, it says when. Of a column that is undefined at some of them, as 0/0,
    all are of its defined values; how many are not is under ``"undefined"``. How many are infinite,
    as 1/0, is under ``"infinite"``: extremes may be, mean and root mean square are of the others.

    Where controllers or events change parameters, forces jump, and means are those between the
    saved states; where these are so many that it would take long they are NaN, but of states.

    Parameters
    ----------
    channels, every, degrees : as in `zwang.Run.to_csv`.
    """
    table = table_of(with_sides(run) if every is None else run, channels, every, degrees=degrees)
    nodes, found = nodes_of(run, table.t), {}
    finer = None if nodes is None else nodes.run
    between = {} if finer is None else table_of(finer, channels, degrees=degrees).columns
    states = {*run.system.coordinates, *run.system.velocities}
    for name, values in table.columns.items():
        missing, infinite = np.isnan(values), np.isinf(values)
        low = int(np.argmin(np.where(missing, np.inf, values)))
        high = int(np.argmax(np.where(missing, -np.inf, values)))
        smooth = nodes is None or (finer is None and name in states)
        rms, mean = means(table.t, values, None if smooth else nodes, between.get(name))
        found[name] = {
            "unit": table.units[name],
            "least": float(values[low]) if not missing.all() else float("nan"),
            "at_least": float(table.t[low]),
            "greatest": float(values[high]) if not missing.all() else float("nan"),
            "at_greatest": float(table.t[high]),
            "mean": mean,
            "rms": rms,
            "undefined": int(np.count_nonzero(missing)),
            "infinite": int(np.count_nonzero(infinite)),
            "values": len(values),
            "determinate": name not in table.indeterminate,
        }
        moment = unbounded_at(run, name)
        if moment is not None:
            found[name]["unbounded_at"] = moment
    return found


def summary_table(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The same for people: a line for each column, times in seconds, a note on starred ones."""
    keys = ("least", "at_least", "greatest", "at_greatest", "mean", "rms")
    rows = [["channel", "unit", *_SHOWN]]
    for name, facts in found.items():
        star = "" if facts.get("determinate", True) else f" {STAR}"
        star += f" {DAGGER}" if "unbounded_at" in facts else ""
        rows.append([name + star, facts["unit"], *(plain_number(facts[key], 5) for key in keys)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        words = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        numbers = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        lines.append("  ".join([*words, *numbers]))
    for name, facts in found.items():
        counted = [kind for kind in ("undefined", "infinite") if facts.get(kind)]
        lines += [f"{name}: {facts[kind]} of {facts['values']} {kind}" for kind in counted]
    if not all(facts.get("determinate", True) for facts in found.values()):
        lines.append(f"{STAR} {ONE_OF_MANY}")
    times = sorted(x["unbounded_at"] for x in found.values() if "unbounded_at" in x)
    if times:
        moments = dict.fromkeys(plain_number(t, 4) for t in times)
        lines.append(f"{DAGGER} {UNBOUNDED.format(' and '.join(moments))}")
    return "\n".join(lines)
