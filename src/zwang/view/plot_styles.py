"""Size, letters and settings of figures: for a screen and for a column of a journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from zwang.errors import UnknownNameError

__all__ = ["PlotStyle", "figure_style", "titled"]

#: Letters as outlines of TrueType (42); Matplotlib's default, Type 3, is refused by journals.
TRUE_TYPE = {"pdf.fonttype": 42, "ps.fonttype": 42}


@dataclass(frozen=True)
class PlotStyle:
    """Size and letters of a figure: its width [in], the label of time, Matplotlib's settings."""

    width: float
    time: str
    settings: Mapping[str, Any]


#: For a screen, and for a column of a journal: 86 mm, the letters of a printed page.
STYLES = {
    "screen": PlotStyle(7.5, "t [s]", TRUE_TYPE),
    "paper": PlotStyle(
        86.0 / 25.4,
        r"$t$ [s]",
        {
            **TRUE_TYPE,
            "font.family": "STIXGeneral",
            "mathtext.fontset": "stix",
            "font.size": 8.0,
            "axes.linewidth": 0.6,
            "lines.linewidth": 0.9,
            "legend.fontsize": 7.0,
            "savefig.dpi": 600,
        },
    ),
}


@contextmanager
def figure_style(name: str) -> Iterator[PlotStyle]:
    """Matplotlib's settings of a style while a figure is made; others' figures keep theirs."""
    if name not in STYLES:
        raise UnknownNameError("style of a plot", name, STYLES)
    from matplotlib import rc_context

    settings: Any = dict(STYLES[name].settings)  # Matplotlib annotates its own names as literals
    with rc_context(settings):
        yield STYLES[name]


def titled(title: str, unit: str) -> str:
    """Title and unit of an axis; a title that ends in brackets has its own."""
    return f"{title} [{unit}]" if unit and not title.endswith("]") else title
