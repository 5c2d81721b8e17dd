"""Charts of channels on a page of viser, which grow with the time that is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from zwang.results.run import Run
from zwang.terms import FloatArray
from zwang.view.channels import single

__all__ = ["Charts"]

#: More would fill the page, and each is drawn several times a second.
MOST_CHARTS = 6
#: Around a chart, clockwise from above [px]: half the height of a number that stands at its edge.
ROOM = (10, 18, 0, 0)
#: Of the runs, and of the first one as far as time has got: seen on white and on black.
COLORS, PAST = ("#1c8c80", "#3b7dbd", "#b8579b", "#8c8f3a"), "#c26f12"


@dataclass
class _Chart:
    """A chart of one channel: times, then its values in all runs."""

    name: str
    curves: tuple[FloatArray, ...]
    node: Any


def _room(add: Any) -> dict[str, Any]:
    """Room for numbers at the edges, where viser lets it be chosen; others are cut off there."""
    return {"padding": ROOM} if "padding" in signature(add).parameters else {}


class Charts:
    """Charts of some channels in several runs.

    Parameters
    ----------
    gui : of the page.
    runs : the first is shown in bold as far as time has got.
    names : channels, one chart each.
    folder : of the page, in which they are.
    """

    def __init__(self, gui: Any, runs: Sequence[Run], names: Sequence[str], folder: Any) -> None:
        self.runs = list(runs)
        self._gui, self._folder = gui, folder
        self._known: dict[tuple[int, str], FloatArray] = {}
        self._charts: list[_Chart] = []
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        """One more chart; the pointer marks the same time in all of them."""
        if len(self._charts) >= MOST_CHARTS:
            return
        curves, series = self._series(name)
        scales: dict[str, Any] = {"x": {"time": False}}
        cursor: Any = {"sync": {"key": "zwang"}}
        with self._folder:
            node = self._gui.add_uplot(
                (*curves, curves[1]),
                series,
                aspect=1.6,
                scales=scales,
                cursor=cursor,
                **_room(self._gui.add_uplot),
            )
        self._charts.append(_Chart(name, curves, node))

    def drop(self) -> None:
        """Take the last chart away; the first one stays."""
        if len(self._charts) > 1:
            self._charts.pop().node.remove()

    def choose(self, name: str) -> None:
        """Let the first chart show another channel."""
        chart = self._charts[0]
        chart.curves, chart.node.series = self._series(name)
        chart.name = name

    def grow(self, t: float) -> None:
        """Draw the curves of the first run in bold, as far as it has got."""
        for chart in self._charts:
            times, first, *_ = chart.curves
            chart.node.data = (*chart.curves, np.where(times <= t, first, np.nan))

    def follow_on(self, run: Run, news: Run) -> None:
        """Take more of the first run.

        Parameters
        ----------
        run : all of it that is kept.
        news : its last part, from the state on that was known last.
        """
        self.runs[0] = run
        for chart in self._charts:
            more = single(news, chart.name).values[1:, 0]
            first = np.concatenate([chart.curves[1], more])[-len(run.t) :]
            chart.curves = (run.t, first, *self._others(chart.name, run.t))

    def begin_again(self, run: Run, known: int = 0) -> None:
        """Take another first run, which agrees with the old one in its first states.

        Parameters
        ----------
        known : how many these are.
        """
        self.runs[0] = run
        for chart in self._charts:
            first = chart.curves[1][:known]
            if len(first) < len(run.t):
                first = single(run, chart.name).values[:, 0]
            chart.curves = (run.t, first, *self._others(chart.name, run.t))

    def _others(self, name: str, times: FloatArray) -> list[FloatArray]:
        """A channel in the runs that are laid over the first, at its times."""
        found = []
        for run in self.runs[1:]:
            key = (id(run), name)
            if key not in self._known:
                self._known[key] = single(run, name).values[:, 0]
            found.append(np.interp(times, run.t, self._known[key]))
        return found

    def _series(self, name: str) -> tuple[tuple[FloatArray, ...], tuple[Any, ...]]:
        """Times and values of a channel in all runs, at the times of the first."""
        times = self.runs[0].t
        first = single(self.runs[0], name)
        values = [first.values[:, 0], *self._others(name, times)]
        lines = [
            {
                "label": first.label if k == 0 else f"run {k + 1}",
                "stroke": COLORS[k % len(COLORS)],
                "width": 2,
            }
            for k in range(len(values))
        ]
        past = {"label": "so far", "stroke": PAST, "width": 3}
        return (times, *values), ({"label": "t [s]"}, *lines, past)
