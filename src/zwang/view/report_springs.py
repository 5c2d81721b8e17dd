"""Forces of springs and dampers in a report: a chart, and a table of their peaks."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

import numpy as np

from zwang.display import plain_number
from zwang.errors import ZwangError
from zwang.results.channel_summary import means
from zwang.results.held_means import Nodes
from zwang.results.run import Run
from zwang.terms import FloatArray

__all__ = ["SpringSeries", "first_largest", "spring_rows", "spring_series"]

#: Part of a largest value by which others are less than it through rounding alone.
SAME = 1e-9

#: Kind of force → quantity, unit, and which part of it is a number.
_KINDS = {
    "spring_damper": ("force", "N", ""),
    "torsion_spring": ("moment", "N m", ""),
    "cartesian_spring": ("force", "N", ".magnitude"),
}


class SpringSeries(NamedTuple):
    """The force or moment of a spring over time.

    Attributes
    ----------
    channel, unit : as in ``run[channel]``.
    values : at the saved states.
    """

    channel: str
    unit: str
    values: FloatArray


def spring_series(run: Run) -> list[SpringSeries]:
    """Forces of all springs and dampers; of a run without them none."""
    found = []
    for force in () if run.mechanism is None else run.mechanism.forces:
        if force.law.what not in _KINDS:
            continue
        quantity, unit, part = _KINDS[force.law.what]
        channel = f"{force.name}.{quantity}{part}"
        try:
            found.append(SpringSeries(channel, unit, run[channel]))
        except ZwangError:  # one that has no value here
            continue
    return found


def first_largest(values: FloatArray) -> int:
    """Where a quantity is first at its largest size, of a constant one the start.

    >>> first_largest(np.array([2.0 - 1e-15, -2.0, 1.0]))
    0
    """
    sizes = np.abs(values)
    return int(np.argmax(sizes >= (1.0 - SAME) * sizes.max()))


def spring_rows(run: Run, nodes: Nodes | None = None) -> list[list[str]]:
    """Channel, peak with its time, RMS and mean of each, as cells."""
    rows = []
    some = spring_series(nodes.run) if nodes is not None and nodes.run else []
    between = {spring.channel: spring.values for spring in some}
    for spring in spring_series(run):
        y = spring.values
        peak = first_largest(y)
        cells = [plain_number(y[peak]), f"{run.t[peak]:.3g}"]
        both = means(run.t, y, nodes, between.get(spring.channel))
        cells += [plain_number(x) if np.isfinite(x) else "–" for x in both]
        rows.append([escape(spring.channel), spring.unit, *cells])
    return rows
