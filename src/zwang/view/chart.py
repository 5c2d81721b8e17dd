"""Line charts as inline SVG, for pages that must open without any package or network."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from zwang.terms import FloatArray
from zwang.view.packing import Packer

__all__ = ["ChartSheet", "chart", "ticks"]

WIDTH, HEIGHT = 560.0, 190.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 10.0, 22.0, 26.0
#: Widest letter of a tick on a phone, where letters are largest: 15 px, as in the style sheet.
LETTER = 9.6
#: Of the series, each seen on light and on dark cards (contrast above 3).
COLORS = ("#3b7dbd", "#c26f12", "#26917a", "#b8579b", "#7f70bd", "#83862f", "#c2524a", "#2f8fb5")
#: Below a chart of which the motion does not determine the dashed series.
DOUBT = "dashed: indeterminate, one of many values"
#: Before the names of series that cannot be distinguished.
ONE = "on one curve"
#: Marks the key of such a series.
OPEN = ' class="open"'
#: Change of slope on the page below which a point of a curve is left out.
STRAIGHT = 1e-9
#: What is less, on a logarithmic axis, is drawn here: below rounding, or two powers of ten below
#: the largest value if that is less still, differences tell nothing and zeros have no logarithm.
ROUNDING = 1e-17
#: Ticks below this have all their digits: 2500, 2e3, 1500 beside each other are hard to compare.
IN_FULL = 1e6
#: Least powers of ten of a logarithmic axis.
POWERS = 1.0
#: Least span of an axis relative to its values: below it rounding would fill the chart.
LEAST_SPAN = 1e-9
#: Width of a curve, as in the style sheet, and how much wider it is below each that covers it.
THIN, WIDER = 1.5, 2.0
#: Part of the height of a chart below which curves lie upon each other.
UPON = 2e-3


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers 1, 2 or 5 times a power of ten, within low … high."""
    span = high - low
    raw = span / count
    power = 10.0 ** np.floor(np.log10(raw))
    step = power * next(m for m in (1.0, 2.0, 5.0, 10.0) if m * power >= raw * (1.0 - 1e-9))
    first = int(np.ceil(low / step - 1e-9))
    last = int(np.floor(high / step + 1e-9))
    return [k * step for k in range(first, last + 1)]


class ChartSheet:
    """Charts of a page, with their numbers for the values under the pointer and for tables.

    ``charts.js`` shows values, hides series and writes CSV.
    """

    def __init__(self) -> None:
        self._packer = Packer()
        self._charts: list[dict[str, Any]] = []
        self._times: dict[int, dict[str, Any]] = {}

    def add(
        self,
        title: str,
        t: FloatArray,
        series: Mapping[str, FloatArray],
        *,
        unit: str = "",
        log: bool = False,
        doubtful: Collection[str] = (),
    ) -> str:
        """A chart as a figure element; series that are one value among many are dashed."""
        number = len(self._charts)
        if id(t) not in self._times:
            self._times[id(t)] = self._packer.numbers(t)
        self._charts.append(
            {
                "title": title,
                "unit": unit,
                "t": self._times[id(t)],
                "log": log,
                "series": [
                    {"name": name, "values": self._packer.numbers(y)} for name, y in series.items()
                ],
            }
        )
        svg = chart(title, t, series, unit=unit, log=log, doubtful=doubtful)
        keys = "".join(
            f'<button type="button" class="series" aria-pressed="true" data-series="{k}">'
            f'<i style="border-top-color:{COLORS[k % len(COLORS)]}"'
            f"{OPEN if name in doubtful else ''}></i>{escape(name)} "
            "<output></output></button>"
            for k, name in enumerate(series)
        )
        told = [DOUBT] if set(doubtful) & set(series) else []
        if not log:
            curves = {name: np.asarray(y, dtype=float) for name, y in series.items()}
            low, high = _limits(list(curves.values()), log=False)
            told += [f"{ONE}: {', '.join(g)}" for g in _together(curves, high - low)]
        said = "".join(f'<span class="soft">{escape(text)}</span>' for text in told)
        table = '<button type="button" class="tool csv">CSV</button>'
        return (
            f'<figure class="plot" data-chart="{number}">{svg}'
            f'<figcaption class="legend">{keys}{said}{table}</figcaption></figure>'
        )

    def data(self) -> str:
        """The numbers, for a script element of the page."""
        return self._packer.text({"charts": self._charts})


def chart(
    title: str,
    t: FloatArray,
    series: Mapping[str, FloatArray],
    *,
    unit: str = "",
    log: bool = False,
    doubtful: Collection[str] = (),
) -> str:
    """Quantities over time; `log` draws their decimal logarithms, what is below rounding there.

    `doubtful` are names of series that are drawn dashed.
    """
    drawn = {name: np.asarray(y, dtype=float) for name, y in series.items()}
    if log:
        drawn = _logarithms(drawn)
    low, high = _limits(list(drawn.values()), log=log)
    start, end = float(t[0]), float(t[-1])
    if end == start:
        end = start + 1.0

    def x(time: FloatArray | float) -> FloatArray | float:
        return LEFT + (time - start) / (end - start) * (WIDTH - LEFT - RIGHT)

    def y(value: FloatArray | float) -> FloatArray | float:
        return TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM)

    opening = (
        f'<svg class="chart" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'data-start="{start!r}" data-end="{end!r}" data-left="{LEFT:g}" '
        f'data-right="{WIDTH - RIGHT:g}"><title>{escape(title)}</title>'
    )
    parts = [opening]
    head = f"{title} [{unit}]" if unit else title
    parts.append(f'<text class="head" x="{LEFT:g}" y="13">{escape(head)}</text>')
    levels = _powers(low, high) if log else ticks(low, high, 6)
    labels = [_power(value) if log else _number(value, high - low) for value in levels]
    longest = 0 if log else max(map(len, labels), default=0)
    kind = "tick long" if LETTER * longest > LEFT - 5.0 else "tick"
    for value, label in zip(levels, labels, strict=True):
        height = y(value)
        parts.append(
            f'<line class="grid" x1="{LEFT:g}" x2="{WIDTH - RIGHT:g}" y1="{height:.1f}" '
            f'y2="{height:.1f}"/><text class="{kind}" x="{LEFT - 5:g}" y="{height + 3.5:.1f}" '
            f'text-anchor="end">{label}</text>'
        )
    for value in ticks(start, end, 8):
        place, label = float(x(value)), _number(value, end - start)
        # One that would reach beyond the picture, with the large letters of a phone, ends with it.
        beyond = place + 0.5 * LETTER * len(label) > WIDTH
        at, anchor = (f"{WIDTH:g}", "end") if beyond else (f"{place:.1f}", "middle")
        parts.append(
            f'<line class="grid" y1="{TOP:g}" y2="{HEIGHT - BOTTOM:g}" x1="{place:.1f}" '
            f'x2="{place:.1f}"/><text class="tick" x="{at}" y="{HEIGHT - 9:g}" '
            f'text-anchor="{anchor}">{label}</text>'
        )
    parts.append(
        f'<text class="tick" x="{LEFT - 18:g}" y="{HEIGHT - 9:g}" text-anchor="end">t [s]</text>'
    )
    above = {n: len(g) - k - 1 for g in _together(drawn, high - low) for k, n in enumerate(g)}
    for k, (name, line) in enumerate(drawn.items()):
        color = COLORS[k % len(COLORS)]
        path = _path(np.asarray(x(t)), np.asarray(y(line)))
        dashes = ' stroke-dasharray="5 3"' if name in doubtful else ""
        wide = f' style="stroke-width:{THIN + WIDER * above[name]:g}"' if above.get(name) else ""
        parts.append(
            f'<path d="{path}" data-series="{k}" stroke="{color}"{dashes}{wide}>'
            f"<title>{escape(name)}</title></path>"
        )
    parts.append(f'<line class="cursor" y1="{TOP:g}" y2="{HEIGHT - BOTTOM:g}" x1="-9" x2="-9"/>')
    return "".join([*parts, "</svg>"])


def _limits(curves: Sequence[FloatArray], *, log: bool) -> tuple[float, float]:
    """Least and largest value of an axis, with some room around the curves."""
    values = np.concatenate([np.zeros(0), *(y[np.isfinite(y)] for y in curves)])
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    if log and np.floor(high) - np.ceil(low) < POWERS:  # so that there are powers of ten to read
        low = float(np.floor(low))
        high = max(float(np.ceil(high)), low + POWERS)
    largest = max(abs(low), abs(high))
    if high - low <= LEAST_SPAN * largest:  # constant: a line in the middle, with round ticks
        room = 0.1 * largest or 1.0
        low, high = low - room, high + room
    margin = 0.06 * (high - low)
    return low - margin, high + margin


def _together(curves: Mapping[str, FloatArray], span: float) -> list[list[str]]:
    """Names of curves that cannot be distinguished, where there are several on one line."""
    groups: list[list[str]] = []
    for name, y in curves.items():
        for group in groups:
            first = curves[group[0]]
            if np.all(np.isclose(first, y, rtol=0.0, atol=UPON * span, equal_nan=True)):
                group.append(name)
                break
        else:
            groups.append([name])
    return [group for group in groups if len(group) > 1]


def _path(x: FloatArray, y: FloatArray) -> str:
    """Points as a path; it breaks where a value is not finite, and leaves out what is straight."""
    pieces = []
    finite = np.isfinite(y)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], finite.astype(int), [0]])))
    for first, last in edges.reshape(-1, 2):
        u, w = np.round(x[first:last], 1), np.round(y[first:last], 1)
        turns = np.ones(len(u), dtype=bool)
        turns[1:-1] = np.abs(np.diff(np.diff(w) / np.maximum(np.diff(u), 1e-9))) > STRAIGHT
        points = [f"{a:g} {b:g}" for a, b in zip(u[turns], w[turns], strict=True)]
        pieces.append(f"M{' '.join(points)}")
    return "".join(pieces)


def _number(value: float, span: float) -> str:
    """A tick in as many digits as distinguish it from its neighbours, below a million in full."""
    if abs(value) < 1e-9 * span:
        return "0"
    digits = int(np.ceil(np.log10(max(abs(value) / span, 1e-300)))) + 3
    text = f"{value:.{max(min(digits, 9), 2)}g}"
    if "e+" in text and abs(value) < IN_FULL:
        text = f"{float(text):.0f}"
    return text.replace("-", "−").replace("e−0", "e−").replace("e+0", "e")


def _logarithms(series: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Decimal logarithms, of what is below rounding that of rounding."""
    positive = np.concatenate([np.zeros(0), *(y[y > 0.0] for y in series.values())])
    largest = float(positive.max(initial=0.0)) or 1.0
    floor = max(float(positive.min(initial=largest)), min(ROUNDING, 1e-2 * largest))
    return {name: np.log10(np.maximum(y, floor)) for name, y in series.items()}


def _powers(low: float, high: float) -> list[float]:
    """Whole powers of ten within low … high, at least two where there are as many."""
    whole = [value for value in ticks(low, high, 6) if value == round(value)]
    if len(whole) > 1:
        return whole
    return [float(k) for k in range(int(np.ceil(low)), int(np.floor(high)) + 1)]


def _power(value: float) -> str:
    if value == 0.0:
        return "1"
    return f'10<tspan dy="-.35em" font-size="80%">{f"{value:g}".replace("-", "−")}</tspan>'
