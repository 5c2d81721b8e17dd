"""Pictures of a study: maps, points, lines, envelopes, histograms, parallel coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.display import counted
from zwang.errors import InputError, MissingExtraError, UnknownNameError
from zwang.studies.samples import GridSamples
from zwang.terms import FloatArray
from zwang.view.plot_styles import figure_style, titled

if TYPE_CHECKING:
    from zwang.studies.study import Study

__all__ = ["BEYOND", "ENOUGH", "KINDS", "color_scale", "plot_study"]

KINDS = ("map", "scatter", "line", "envelope", "histogram", "parallel")
#: Runs that a picture shows at most, evenly spread over all.
MOST_POINTS, MOST_LINES = 20_000, 500
#: Runs up to which each is drawn as a large point, and from which on a histogram tells something.
FEW, ENOUGH = 100, 12
#: Width of a page of two columns and the gap between them, 178 mm, against a column, 86 mm.
TWO_COLUMNS = 178.0 / 86.0
#: Parts of all runs that an envelope shows, and how much darker each is than the one around it.
BANDS = ((0.0, 1.0, 0.12), (0.05, 0.95, 0.22), (0.25, 0.75, 0.35))
#: Lines that can be told from each other.
MOST_LINES = 10
#: Values that lie further from the middle half of all than so many times its width are beyond the
#: scale of a map, if they are no more than this part of all.
FAR, RARE = 10.0, 0.05
#: Their color, which no other value has.
BEYOND = "#d62728"
#: Part of a colormap that is seen on white.
DARK_ENOUGH = 0.85


def plot_study(
    study: Study,
    names: Sequence[str],
    kind: str | None,
    against: Sequence[str] | None,
    titles: Mapping[str, str],
    style: str,
) -> Any:
    """A Matplotlib figure of a study, see `Study.plot`."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise MissingExtraError("study.plot", "matplotlib", "plot") from None
    del mpl
    outputs = [x.name for x in study.outputs.variables()]
    for name in names:
        if name not in outputs:
            raise UnknownNameError("output", name, outputs)
    for name in against or ():
        if name not in study.plan.names:
            raise UnknownNameError("name that varies", name, study.plan.names)
    for name in titles:
        if name not in outputs and name not in study.plan.names:
            raise UnknownNameError("name in titles", name, [*outputs, *study.plan.names])
    data = _titled(study.dataset, titles)
    chosen = list(names) or outputs[:1]
    if kind is None:
        kind = _natural(study, data, chosen[0])
    if kind not in KINDS:
        raise UnknownNameError("kind of plot", str(kind), KINDS)
    draw = {
        "map": _map,
        "scatter": _scatter,
        "line": _line,
        "envelope": _envelope,
        "histogram": _histogram,
        "parallel": _parallel,
    }[kind]
    words = list(study.plan.names) if kind == "scatter" else []
    with figure_style(style) as sizes:
        figure = draw(study, data, chosen, list(against or _numeric(study, data) or words))
        if style == "paper":
            _fit(figure, sizes.width)
    return figure


def _titled(data: Any, titles: Mapping[str, str]) -> Any:
    """The dataset with titles among the attributes of its variables; itself is left alone."""
    data = data.copy()
    for name, title in titles.items():
        data[name] = data[name].assign_attrs(title=title)
    return data


def _fit(figure: Any, column: float) -> None:
    """A figure of one panel across fits a column of a journal, of more panels two and the gap."""
    across = figure.axes[0].get_gridspec().ncols
    width = column if across == 1 else column * TWO_COLUMNS
    before = figure.get_size_inches()
    figure.set_size_inches(width, before[1] * width / before[0])


def _natural(study: Study, data: Any, name: str) -> str:
    """What shows an output best."""
    if data[name].ndim > 1:
        return "envelope"
    block = study.plan.samples[0]
    one_grid = len(study.plan.samples) == 1 and isinstance(block, GridSamples)
    if one_grid and len(block.names) == 2 and len(_numeric(study, data)) == 2:
        return "map"
    if one_grid and len(block.names) == 1 and len(_numeric(study, data)) == 1:
        return "line"
    return "histogram" if len(_numeric(study, data)) > 4 else "scatter"


def _numeric(study: Study, data: Any) -> list[str]:
    return [n for n in study.plan.names if data[n].dtype.kind == "f"]


def _label(data: Any, name: str, *, end: bool = True) -> str:
    """Title and unit, with `end` of the last value of an output over time."""
    attributes = data[name].attrs
    title = attributes.get("title", name)
    if end and data[name].ndim > 1 and "title" not in attributes:
        title = f"{title} at the end"
    label = titled(title, attributes.get("units", ""))
    return label if attributes.get("determinate", 1) else f"{label}, indeterminate"


def _figure(columns: int = 1, rows: int = 1, size: tuple[float, float] = (6.4, 4.4)) -> Any:
    from zwang.view.styled_figure import StyledFigure

    figure = StyledFigure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def _some(count: int, most: int) -> np.ndarray:
    """Numbers of at most so many runs, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(int))


def _scalar(data: Any, name: str) -> FloatArray:
    """Values (N,) of a quantity: of an output over time those at its end."""
    values = data[name] if name in data.coords else _finished(data, name)
    values = np.asarray(values)
    return values if values.ndim == 1 else values[:, -1]


def _finished(data: Any, name: str) -> FloatArray:
    """Values (N, …) of an output, NaN for runs that did not finish.

    What such a run has until it stops, often a singular position, is not to be compared with others
    and may exceed them by orders of magnitude.
    """
    values = np.array(data[name].values, dtype=float)
    values[data["status"].values != 0] = np.nan
    return values


def _without_values(names: Sequence[str]) -> InputError:
    what = f"output {names[0]!r}" if len(names) == 1 else f"outputs {', '.join(names)}"
    return InputError(what, must="have values", but="no run that finished has any")


def _map(study: Study, data: Any, names: list[str], against: list[str]) -> Any:
    """An output over two quantities: a colored grid, or points where there is no grid."""
    from matplotlib import colormaps

    if len(against) != 2:
        raise InputError(
            "map",
            must="be over two quantities",
            but=f"{len(against)} vary" if len(against) != 1 else "one varies",
            advice="Name two: against=['L', 'speed']." if len(against) > 2 else None,
        )
    figure, axes = _figure(len(names), size=(1.0 + 5.2 * len(names), 4.4))
    block = study.plan.samples[0]
    on_grid = len(study.plan.samples) == 1 and isinstance(block, GridSamples)
    on_grid = on_grid and set(block.names) == set(against)
    bad = data["status"].values != 0
    for ax, name in zip(axes[0], names, strict=True):
        x, y, z = data[against[0]].values, data[against[1]].values, _scalar(data, name)
        colors = colormaps["viridis"].with_extremes(over=BEYOND, under=BEYOND)
        low, high, extend, note = color_scale(z)
        scale = {"vmin": low, "vmax": high, "cmap": colors, "rasterized": True}
        if on_grid and isinstance(block, GridSamples):
            shape = [len(axis) for axis in block.axes]
            order = [block.names.index(n) for n in (against[1], against[0])]
            X, Y, Z = (a.reshape(shape).transpose(order) for a in (x, y, z))
            # Cells reach half way to the next value: values may be listed in any order.
            rows, columns = np.argsort(Y[:, 0]), np.argsort(X[0])
            X, Y, Z = (a[np.ix_(rows, columns)] for a in (X, Y, Z))
            drawn = ax.pcolormesh(X, Y, Z, shading="nearest", **scale)
        else:
            some = _some(len(z), MOST_POINTS)
            size = 8 if len(some) > FEW else 60
            drawn = ax.scatter(x[some], y[some], c=z[some], s=size, **scale)
        if bad.any():
            ax.plot(x[bad], y[bad], "x", color="0.35", markersize=3, label="not finished")
            # Above the picture, which is full of colors.
            above = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
            ax.legend(**above, fontsize="small", frameon=False)
        figure.colorbar(drawn, ax=ax, label=_label(data, name), extend=extend)
        if note:
            ax.set_title(note, fontsize="small", loc="left")
        ax.set_xlabel(_label(data, against[0]))
        ax.set_ylabel(_label(data, against[1]))
    return figure


def color_scale(values: FloatArray) -> tuple[float | None, float | None, str, str]:
    """Limits of a scale of colors, on which sides values are beyond them, and a note on these.

    One value that is a thousand times the others would leave them in a single color.
    """
    values = values[np.isfinite(values)]
    if not len(values):
        return None, None, "neither", ""
    first, third = np.quantile(values, [0.25, 0.75])
    off = np.maximum(first - values, values - third)
    far = off > FAR * (third - first)
    if third == first or not far.any() or np.count_nonzero(far) > max(RARE * len(values), 1.0):
        return None, None, "neither", ""
    low, high = float(values[~far].min()), float(values[~far].max())
    sides = values[far].min() < low, values[far].max() > high
    count = int(np.count_nonzero(far))
    ends = [x for x, side in zip((values.min(), values.max()), sides, strict=True) if side]
    note = (
        f"{counted(count, 'value')} beyond the scale, to {' and '.join(f'{x:.4g}' for x in ends)}"
    )
    return low, high, {(True, True): "both", (True, False): "min"}.get(sides, "max"), note


def _scatter(study: Study, data: Any, names: list[str], against: list[str]) -> Any:
    """Every output over every quantity that varies."""
    del study
    count = min(len(against), 6)
    figure, axes = _figure(count, len(names), size=(1.2 + 2.6 * count, 0.8 + 2.3 * len(names)))
    for row, name in zip(axes, names, strict=True):
        values = _scalar(data, name)
        some = _some(len(values), MOST_POINTS)
        for ax, quantity in zip(row, against, strict=False):
            ax.plot(data[quantity].values[some], values[some], ".", **_dots(len(some)))
            ax.set_xlabel(_label(data, quantity))
        row[0].set_ylabel(_label(data, name))
    return figure


def _line(study: Study, data: Any, names: list[str], against: list[str]) -> Any:
    """An output over one quantity; of a grid a line for each value of a second one.

    Runs that did not finish are gaps.
    """
    del study
    if len(against) not in (1, 2):
        raise InputError(
            "line",
            must="be over one quantity, with another for the lines if there is one",
            but=f"{len(against)} vary",
            advice="Name one or two: against=['L', 'speed'].",
        )
    figure, axes = _figure(len(names), size=(1.0 + 5.2 * len(names), 4.0))
    x, failed = data[against[0]].values, int(np.sum(data["status"].values != 0))
    others = data[against[1]].values if len(against) == 2 else np.zeros(len(x))
    values_of_lines = np.unique(others)
    if len(values_of_lines) > MOST_LINES:
        raise InputError(
            "lines",
            must=f"be {MOST_LINES} at most",
            but=f"{against[1]!r} has {len(values_of_lines)} values",
            advice=f"Draw over it, against=[{against[1]!r}, {against[0]!r}], or a map.",
        )
    for ax, name in zip(axes[0], names, strict=True):
        y = _scalar(data, name)
        for value in values_of_lines:
            rows = np.flatnonzero(others == value)
            rows = rows[np.argsort(x[rows], kind="stable")]
            label = f"{value:.6g}" if len(against) == 2 else None
            ax.plot(x[rows], y[rows], ".-", label=label)
        ax.set_xlabel(_label(data, against[0]))
        ax.set_ylabel(_label(data, name))
        if len(against) == 2:
            ax.legend(title=_label(data, against[1]), fontsize="small")
        if failed:
            ax.set_title(f"{failed} of {len(x)} runs did not finish", fontsize="small", loc="left")
    return figure


def _dots(count: int) -> dict[str, float]:
    """Size and opacity of so many points: few are to be seen, many to be told apart."""
    return {"markersize": 2.0, "alpha": 0.5} if count > FEW else {"markersize": 9.0, "alpha": 0.9}


def _envelope(study: Study, data: Any, names: list[str], against: list[str]) -> Any:
    """Median and bands of an output over time, with some of the runs."""
    from matplotlib.colors import to_rgb

    del against
    time = study.outputs.time_name
    figure, axes = _figure(1, len(names), size=(6.4, 1.0 + 3.2 * len(names)))
    for (ax,), name in zip(axes, names, strict=True):
        values = _finished(data, name)
        if values.ndim < 2:
            raise InputError(f"output {name!r}", must="be kept over time", but="is a single value")
        good = values[np.isfinite(values).any(axis=1)]
        if not len(good):
            raise _without_values([name])
        t = data[time].values
        seen = 0.0  # bands lie over each other: the color of each, as it is seen, on white
        for low, high, alpha in BANDS:
            a, b = np.nanquantile(good, [low, high], axis=0)
            seen = 1.0 - (1.0 - seen) * (1.0 - alpha)
            color = 1.0 - seen * (1.0 - np.array(to_rgb("C0")))
            label = f"{100 * low:g} % to {100 * high:g} %"
            ax.fill_between(t, a, b, color=color, linewidth=0, label=label)
        ax.plot(t, np.nanmedian(good, axis=0), color="C0", label="median")
        ax.set_xlabel(f"{time} [{study.outputs.time_unit}]" if study.outputs.time_unit else time)
        ax.set_ylabel(_label(data, name, end=False))
        ax.margins(x=0)
    # Above the pictures: bands fill them, and the curve is below whatever lies in them.
    bands = axes[0, 0].get_legend_handles_labels()
    figure.legend(*bands, loc="outside upper center", ncols=2, fontsize="small", frameon=False)
    return figure


def _histogram(study: Study, data: Any, names: list[str], against: list[str]) -> Any:
    """How often outputs have which values, with mean and the bounds of 90 %."""
    del study, against
    figure, axes = _figure(len(names), size=(1.0 + 4.2 * len(names), 3.6))
    for ax, name in zip(axes[0], names, strict=True):
        values = _scalar(data, name)
        values = values[np.isfinite(values)]
        if not len(values):
            raise _without_values([name])
        ax.hist(values, bins="auto" if len(values) < 10_000 else 100, color="#6fa8d3")
        low, high = np.quantile(values, [0.05, 0.95])
        ax.axvline(values.mean(), color="C1", label=f"mean {values.mean():.4g}")
        label = f"90 %: {low:.4g} to {high:.4g}"
        ax.axvspan(low, high, color="C1", alpha=0.12, label=label, zorder=0)  # behind the bars
        ax.set_xlabel(_label(data, name))
        ax.set_ylabel("runs")
        ax.yaxis.get_major_locator().set_params(integer=True)
        ax.legend(fontsize="small")
    return figure


def _parallel(study: Study, data: Any, names: list[str], against: list[str]) -> Any:
    """One line a run across axes of all quantities, colored by the first output."""
    del study
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection
    from matplotlib.colors import ListedColormap, Normalize

    quantities = [*against, *names]
    columns = np.stack([_scalar(data, n) for n in quantities], axis=1)
    columns = columns[np.isfinite(columns).all(axis=1)]
    if not len(columns):
        raise _without_values(names)
    columns = columns[_some(len(columns), MOST_LINES)]
    low, high = columns.min(axis=0), columns.max(axis=0)
    scaled = (columns - low) / np.where(high > low, high - low, 1.0)
    figure, ((ax,),) = _figure(size=(1.5 + 1.5 * len(quantities), 4.2))
    places = np.arange(len(quantities))
    # Without the yellow end, which is not seen on paper.
    shades = ListedColormap(colormaps["viridis"](np.linspace(0.0, DARK_ENOUGH, 256)))
    first = len(against)
    scale = Normalize(low[first], high[first] if high[first] > low[first] else low[first] + 1.0)
    lines = [np.column_stack([places, row]) for row in scaled]
    drawn = LineCollection(lines, cmap=shades, norm=scale, linewidths=0.7, alpha=0.6)
    drawn.set_array(columns[:, first])
    ax.add_collection(drawn)
    bar = figure.colorbar(drawn, ax=ax, label=_label(data, names[0]), pad=0.02)
    bar.solids.set_alpha(1.0)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.85}
    for place, (a, b) in enumerate(zip(low, high, strict=True)):
        ax.axvline(place, color="0.6", linewidth=0.8)
        ax.text(place, -0.02, f"{a:.4g}", ha="center", va="top", fontsize="small", bbox=box)
        ax.text(place, 1.02, f"{b:.4g}", ha="center", va="bottom", fontsize="small", bbox=box)
    ax.set_xlim(-0.3, len(quantities) - 0.7)
    ax.set_ylim(-0.12, 1.12)
    ax.set_xticks(places, [_label(data, n) for n in quantities], rotation=15, ha="right")
    ax.set_yticks([])
    for side in ("top", "right", "left", "bottom"):
        ax.spines[side].set_visible(False)
    return figure
