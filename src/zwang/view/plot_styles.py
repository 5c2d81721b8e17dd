"""Size, letters and settings of figures: for a screen and for a column of a journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from zwang.display import typeset
from zwang.errors import UnknownNameError

__all__ = ["PlotStyle", "figure_style", "titled", "with_room"]

#: Letters as outlines of TrueType (42); Matplotlib's default, Type 3, is refused by journals.
TRUE_TYPE = {"pdf.fonttype": 42, "ps.fonttype": 42}

#: What a panel has beside its axis [in], and by how much letters on a screen are wider.
BESIDE, HINTED = 0.12, 1.14


@dataclass(frozen=True)
class PlotStyle:
    """Size and letters of a figure: width and height of a panel over time [in], label of time.

    Panels of a figure for a `column` of a journal are one below the other, keys above them.
    """

    width: float
    panel: float
    time: str
    settings: Mapping[str, Any]
    column: bool = False


#: For a screen, and for a column of a journal: 86 mm, the letters of a printed page.
STYLES = {
    "screen": PlotStyle(7.5, 1.7, "t [s]", TRUE_TYPE),
    "paper": PlotStyle(
        86.0 / 25.4,
        1.15,
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
        column=True,
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
    return f"{title} [{typeset(unit)}]" if unit and not title.endswith("]") else title


def with_room(axes: Iterable[Any], height: float) -> float:
    """Break labels before their units where panels of some height [in] have no room for them.

    Returns
    -------
    The height that panels need for what cannot be broken [in].
    """
    for axis in axes:
        _length(axis.xaxis.label)  # for what is no formula
        label = axis.yaxis.label
        title, bracket, unit = label.get_text().rpartition(" [")
        if bracket and _length(label) > height - BESIDE:
            label.set_text(f"{title}\n[{unit}")
        height = max(height, _length(label) + BESIDE)
    return height


def _length(label: Any) -> float:
    """Length of the longest line of a label [in]; a label that is no formula is text from now on.

    Dollars are money, too.
    """
    from matplotlib.cbook import is_math_text
    from matplotlib.textpath import TextToPath

    measure, font = TextToPath(), label.get_fontproperties()
    lines = label.get_text().split("\n")

    def width(text: str) -> float:
        formula = is_math_text(text) and label.get_parse_math()
        shown = text if formula else text.replace(r"\$", "$")
        return measure.get_text_width_height_descent(shown, font, ismath=formula)[0]

    try:
        points = max(map(width, lines))
    except ValueError:  # Matplotlib cannot read it
        label.set_parse_math(False)
        points = max(map(width, lines))
    return HINTED * points / 72.0
