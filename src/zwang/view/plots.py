"""Figures of runs with Matplotlib: channels over time, phase plots, and stills."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.display import shown_once
from zwang.errors import InputError, MissingExtraError, UnknownNameError, ZwangError, shown
from zwang.multibody.pose import SCALAR
from zwang.results.channel_catalog import PARTS
from zwang.results.pieces import with_sides
from zwang.results.records import AbsentSystem
from zwang.results.run import Run
from zwang.results.segments import no_state
from zwang.view.camera import Camera, camera_of, floor, line_points, painted
from zwang.view.channels import Series, series_of, single
from zwang.view.chart import LEAST_SPAN
from zwang.view.plot_styles import PlotStyle, figure_style, titled, with_room
from zwang.view.report_times import smooth
from zwang.view.scene import Scene, scene_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw", "draw_scene", "plot"]

#: A picture without axes takes the whole figure.
WHOLE = {"left": 0.0, "right": 1.0, "bottom": 0.0, "top": 1.0}
LINK, GRID = "#56606b", "#e3e7eb"
#: Arrows shorter than this, against half the picture, are all head.
SHORTEST = 0.01
#: Over the first panel of what the motion does not determine, because constraints are redundant.
ONE_OF_MANY = "dashed: indeterminate, the value of least norm"
#: Height of the keys above a panel for a paper, and of what may be said below them [in].
KEYS = 0.35
#: Change of the energy, against the largest kinetic one, that is the tolerance of a run.
CONSERVED = 1e-6
#: Change of the energy, against itself, that rounding leaves of a constant.
ROUNDED_ENERGY = 1e-12
#: How much wider a curve of one run is for each other that may cover it, and for how many at most.
WIDER, MOST_WIDER = 0.7, 3
#: Panels of joints, and of drivers, in a figure for which no channels were named.
MOST_PANELS = 8


@dataclass(frozen=True)
class Wording:
    """How axes are labeled: whether angles are in degrees, and titles in place of names."""

    degrees: bool
    titles: Mapping[str, str]

    def label(self, name: str, series: Series) -> str:
        """Title or name, and the unit; a title that ends in brackets has its own."""
        if name not in self.titles:
            return series.label
        return titled(self.titles[name], series.unit)

    def within(self, name: str, part: str, series: Series, *, alike: bool) -> str:
        """A channel in the key of a panel of several, whose axis has the unit if it is one."""
        own = self.titles.get(name, name) if alike else self.label(name, series)
        return f"|{own}|" if part == "magnitude" else f"{own}{part}"


def plot(
    runs: Sequence[Run],
    names: Sequence[str | Sequence[str]],
    against: str | None = None,
    *,
    degrees: bool = False,
    labels: Sequence[str] | None = None,
    titles: Mapping[str, str] | None = None,
    style: str = "screen",
) -> Any:
    """Channels of one run or several: over time, in panels, or against another channel."""
    figures = _figure_module("run.plot")
    if not all(len(run) for run in runs):
        raise no_state()
    panels = _panels(names, against) if names else [(x,) for x in default_channels(runs[0])]
    chosen = [name for panel in panels for name in panel]
    marks = _labels(runs, labels)
    wording = Wording(degrees, dict(titles or {}))
    runs = [with_sides(_smooth(run, [*chosen, *([against] if against else [])])) for run in runs]
    _check_titles(runs[0], wording.titles, {*chosen, against})
    with figure_style(style) as chosen_style:
        draw_into = _over_times if against is None else partial(_phase, against=against)
        return shown_once(
            figures, draw_into(figures, chosen_style, runs, panels, marks=marks, wording=wording)
        )


def _panels(names: Sequence[Any], against: str | None) -> list[tuple[str, ...]]:
    """The channels of each panel: one, or those of a list."""
    panels = []
    for given in names:
        panel = tuple(given) if isinstance(given, list | tuple) else (given,)
        if not panel or not all(isinstance(name, str) for name in panel):
            raise InputError(
                "channel of a plot",
                found=shown(given),
                expected="a name, or a list of names that share a panel",
            )
        if against is not None and len(panel) > 1:
            raise InputError(
                "channels against another",
                found=shown(given),
                expected="names, which have a panel each",
            )
        panels.append(panel)
    return panels


def _smooth(run: Run, names: Sequence[str]) -> Run:
    """A run with states between its steps, unless something to be drawn has no value there."""
    finer = smooth(run)
    try:
        for name in names if finer is not run else ():
            series_of(finer, name)
    except ZwangError:
        return run
    return finer


def _over_times(
    figures: Any,
    style: PlotStyle,
    runs: Sequence[Run],
    panels: Sequence[tuple[str, ...]],
    *,
    marks: Sequence[str],
    wording: Wording,
) -> Any:
    """Channels over time, in panels."""
    from zwang.view.styled_figure import StyledFigure

    below, count = style.width / 7.5, len(panels)
    figure, axes = figures.subplots(
        count,
        1,
        sharex=True,
        squeeze=False,
        figsize=(style.width, below + style.panel * count),
        FigureClass=StyledFigure,
        layout="constrained",
    )
    for axis, panel in zip(axes[:, 0], panels, strict=True):
        _over_time(axis, runs, panel, marks, wording, column=style.column)
    _legends_once(axes[:, 0])
    room = with_room(axes[:, 0], style.panel)
    above = (
        KEYS * sum(axis.get_legend() is not None for axis in axes[:, 0]) if style.column else 0.0
    )
    figure.set_size_inches(style.width, below + room * count + above)
    axes[-1, 0].set_xlabel(style.time)
    figure.align_ylabels(axes[:, 0])
    return figure


def default_channels(run: Run) -> tuple[str, ...]:
    """What is worth a look first: joints, drivers, actuators, energy; else coordinates."""
    if isinstance(run.system, AbsentSystem):
        return run.system.coordinates[:MOST_PANELS]
    parts = run.mechanism
    if parts is None:
        return run.system.coordinates
    joints = [name for name in run.system.channels if not name.endswith("_rate")]
    driving = [*(j.name for j in parts.joints.values() if j.drives), *parts.actuated]
    drivers = [
        name for of in driving for name in (f"{of}.torque", f"{of}.effort") if name in run.channels
    ]
    bodies = [] if joints else [f"{b.name}.position" for b in parts.bodies if b.kind is not SCALAR]
    extra = [b.name for b in parts.bodies if b.kind is SCALAR]
    return (*[*joints, *extra, *bodies][:MOST_PANELS], *drivers[:MOST_PANELS], "energy")


def _check_titles(run: Run, titles: Mapping[str, str], drawn: Container[str | None]) -> None:
    """Titles are those of what is drawn, or of channels, as one table may serve many figures."""
    known = run.channels
    for name in titles:
        whole, _, part = name.rpartition(".")
        of_vector = part in PARTS and whole in known and known[whole].vector
        if name not in drawn and name not in known and not of_vector:
            raise UnknownNameError("channel in titles", name, known)


def _labels(runs: Sequence[Run], labels: Sequence[str] | None) -> list[str]:
    if labels is None:
        return [f"run {k + 1}" for k in range(len(runs))] if len(runs) > 1 else [""]
    if isinstance(labels, str) or len(labels) != len(runs):
        raise InputError(
            "labels", found=shown(labels), expected=f"a list of {len(runs)}, one for each run"
        )
    return [str(label) for label in labels]


def _over_time(
    axis: Axes,
    runs: Sequence[Run],
    names: tuple[str, ...],
    marks: Sequence[str],
    wording: Wording,
    *,
    column: bool = False,
) -> None:
    """Channels of all runs in one panel; of several, vectors are their magnitudes."""
    lines = [(name, run, mark) for name in names for run, mark in zip(runs, marks, strict=True)]
    shared = [series_of(runs[0], name, degrees=wording.degrees) for name in names]
    alike = len({series.unit for series in shared}) == 1
    for number, (name, run, mark) in enumerate(lines):
        series = series_of(run, name, degrees=wording.degrees)
        columns = list(enumerate(series.parts))
        if len(lines) > 1 and series.parts[-1] == "magnitude":
            columns = columns[-1:]
        for k, part in columns:
            style = {"color": "0.35", "linewidth": 0.9} if part == "magnitude" else {}
            style = {} if len(lines) > 1 else style
            if len(runs) > 1:
                style = _under(len(runs) - 1 - number % len(runs))
            if not series.is_known(k):
                style["linestyle"] = "--"
                _say_once(axis)
            if series.held:
                style["drawstyle"] = "steps-pre"
            said = wording.within(name, part, series, alike=alike) if len(names) > 1 else part
            label = " ".join(filter(None, [mark, said]))
            axis.plot(run.t, series.values[:, k], label=label or None, **style)
    if len(names) == 1:
        axis.set_ylabel(wording.label(names[0], shared[0]))
    elif alike and shared[0].unit:
        axis.set_ylabel(titled("", shared[0].unit).strip())
    axis.grid(visible=True, color="0.9", linewidth=0.8)
    _without_rounding(axis, runs if names == ("energy",) else ())
    if len(axis.get_lines()) > 1 and column:  # above, where it takes no width from the curves
        axis.legend(
            loc="lower left",
            bbox_to_anchor=(0.0, 1.16 if axis.get_title("right") else 1.0),
            borderaxespad=0.1,
            ncols=min(4, len(axis.get_lines())),
            columnspacing=1.2,
            handlelength=1.4,
            fontsize="small",
            frameon=False,
        )
    elif len(axis.get_lines()) > 1:
        axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small", frameon=False)
    for e in runs[0].events:
        axis.axvline(e.t, color="0.7", linewidth=0.8, zorder=0)


def _under(above: int) -> dict[str, Any]:
    """The style of a curve that others may cover: it is wider, and seen on both sides of them."""
    from matplotlib import rcParams

    return {"linewidth": rcParams["lines.linewidth"] * (1.0 + WIDER * min(above, MOST_WIDER))}


def _without_rounding(axis: Axes, energies: Sequence[Run]) -> None:
    """Limits within which what is constant is a line in the middle, and ticks in full.

    Parameters
    ----------
    energies : runs whose energy is drawn; it is constant where it changes by less than the
        tolerance of a run against the energies that go back and forth.
    """
    values = [np.asarray(line.get_ydata(), dtype=float) for line in axis.get_lines()]
    every = np.concatenate([np.zeros(0), *(y[np.isfinite(y)] for y in values)])
    axis.ticklabel_format(axis="y", useOffset=False)
    if not every.size:
        return
    low, high = float(every.min()), float(every.max())
    size = max(abs(low), abs(high))
    nothing = LEAST_SPAN * size
    if energies:  # a potential is known but for a constant: that one rounds, and sets no scale
        moving = max(float(np.max(run.kinetic_energy, initial=0.0)) for run in energies)
        nothing = max(CONSERVED * moving, ROUNDED_ENERGY * size)
        size = moving if moving > LEAST_SPAN * size else size
    if high - low <= nothing:
        middle, room = 0.5 * (low + high), 0.1 * size or 1.0
        axis.set_ylim(middle - room, middle + room)


def _phase(
    figures: Any,
    style: PlotStyle,
    runs: Sequence[Run],
    panels: Sequence[tuple[str, ...]],
    *,
    against: str,
    marks: Sequence[str],
    wording: Wording,
) -> Any:
    """Channels against another: phase portraits, coupler curves."""
    from zwang.view.styled_figure import StyledFigure

    count, side = len(panels), style.width * 4.0 / 7.5
    shape = (count, 1) if style.column else (1, count)
    across, high = side / 4.0 + side * count, side
    if style.column:  # one below the other, in the shape that one has on a screen
        across, high = style.width, 0.8 * style.width * count
    figure, axes = figures.subplots(
        *shape,
        squeeze=False,
        figsize=(across, high),
        FigureClass=StyledFigure,
        layout="constrained",
    )
    for axis, (name,) in zip(axes.flat, panels, strict=True):
        for run, mark in zip(runs, marks, strict=True):
            across = single(run, against, degrees=wording.degrees)
            series = single(run, name, degrees=wording.degrees)
            x, y = across.values[:, 0], series.values[:, 0]
            known = across.determinate and series.determinate
            if not known:
                _say_once(axis)
            (line,) = axis.plot(
                x, y, linewidth=1.0, label=mark or None, linestyle="-" if known else "--"
            )
            axis.plot(x[:1], y[:1], "o", color=line.get_color(), markersize=4)
            axis.set_xlabel(wording.label(against, across))
            axis.set_ylabel(wording.label(name, series))
            if across.unit == series.unit == "m":
                axis.set_aspect("equal", adjustable="datalim")
        axis.grid(visible=True, color="0.9", linewidth=0.8)
        if len(runs) > 1:
            axis.legend(fontsize="small", frameon=False)
    _legends_once(axes.flat)
    with_room(axes.flat, high / shape[0])
    return figure


def _say_once(axis: Axes) -> None:
    """What dashes mean, above the first panel of a figure that has some."""
    if not any(other.get_title("right") for other in axis.figure.axes):
        axis.set_title(ONE_OF_MANY, loc="right", fontsize="small", color="0.35")


def _legends_once(axes: Any) -> None:
    """Of panels with the same legend, one below or beside the other, only the first keeps it."""
    before: list[str] = []
    for axis in axes:
        legend = axis.get_legend()
        labels = [] if legend is None else [text.get_text() for text in legend.get_texts()]
        if legend is not None and labels == before:
            legend.remove()
        before = labels


def draw(
    run: Run,
    t: float | None = None,
    *,
    axes: Any = None,
    traces: Sequence[str] | Mapping[str, Any] | None = None,
    forces: bool = False,
    azimuth: float | None = None,
    elevation: float | None = None,
) -> Any:
    """A still of a mechanism at one time, as a Matplotlib figure."""
    figures = _figure_module("run.draw")
    if not len(run):
        raise no_state()
    if traces is None and not forces:
        at = run.t[0] if t is None else t
        scene, frame = scene_of(run, frames=1, start=at, end=at, forces=False), 0
    else:  # the whole run, for its traces and the scale of its arrows
        scene = scene_of(run, traces=traces, forces=forces)
        at = scene.times[0] if t is None else t
        frame = int(np.argmin(np.abs(scene.times - at)))
    if axes is None:
        _, axes = figures.subplots(figsize=(5.0, 5.0), gridspec_kw=WHOLE)
    draw_scene(axes, scene, camera_of(scene, azimuth, elevation, frame), frame, ahead=True)
    return axes.figure


def draw_scene(
    axes: Axes, scene: Scene, camera: Camera, frame: int, *, ahead: bool = False
) -> None:
    """One frame of a scene into the axes of a figure, with traces as far as they are gone, or all.

    The way ahead is lighter.
    """
    from matplotlib.collections import LineCollection, PolyCollection

    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(-1.12, 1.12)
    axes.set_ylim(-1.12, 1.12)
    if camera.perspective:
        grid = [camera.project(line)[:, :2] for line in floor(scene)]
        axes.add_collection(LineCollection(grid, colors=GRID, linewidths=0.8, zorder=0))
    for trace in scene.traces:
        ways = [(trace.points[: frame + 1], 0.9), (trace.points[frame:], 0.4)]
        for points, alpha in ways[: 1 + ahead]:
            path = camera.project(points)[:, :2]
            axes.plot(*path.T, color=trace.color, linewidth=1.4, alpha=alpha, zorder=1)
    for line in scene.lines:
        points = camera.project(line_points(scene, line.role, line.start[frame], line.end[frame]))
        width = 1.1 if line.role == "spring" else 2.4
        axes.plot(points[:, 0], points[:, 1], color=LINK, linewidth=width, zorder=2)
    faces = painted(scene, camera, frame)
    colors = [face.color for face in faces]
    axes.add_collection(
        PolyCollection(
            [face.corners for face in faces],
            facecolors=colors,
            edgecolors=colors,
            linewidths=0.5,
            zorder=3,
        )
    )
    for arrow in scene.arrows:
        start = arrow.point[frame]
        ends = camera.project(np.array([start, scene.arrow_tip(arrow, frame)]))
        tail, tip = (tuple(p.tolist()) for p in ends[:, :2])
        if np.hypot(tip[0] - tail[0], tip[1] - tail[1]) < SHORTEST:
            continue
        style: dict[str, Any] = {"arrowstyle": "-|>", "color": arrow.color, "linewidth": 1.4}
        if arrow.open:
            style["linestyle"] = (0, (3, 2))
        axes.annotate("", tip, tail, arrowprops={**style, "shrinkA": 0, "shrinkB": 0}, zorder=4)


def _figure_module(feature: str) -> Any:
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise MissingExtraError(feature, "matplotlib", "plot") from error
    return plt
