"""Display of results: one line at the prompt, text and tables in a notebook."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

__all__ = [
    "Displayed",
    "VideoPath",
    "counted",
    "html_table",
    "plain_number",
    "power_of_ten",
    "preformatted",
    "residual_size",
    "shown_once",
    "typeset",
    "without_rounding",
    "written_out",
]

#: Arrays with at most so many entries are written out at the prompt, of others the shape.
WRITTEN_OUT = 6
#: What is less has lost digits, and is what is left of a zero.
SUBNORMAL = float(np.finfo(float).tiny)
#: Numbers from here on are written with a power of ten in tables.
LONGEST_WHOLE = 1e7
#: Videos that a notebook shows, and up to how many bytes they are put into it.
VIDEOS = {".mp4": "video/mp4", ".gif": "image/gif", ".webp": "image/webp"}
LARGEST_SHOWN = 20_000_000
#: Parts of the numbers that a value is computed from below which it is their rounding.
ROUNDED = 1e-12
#: Letters of a field at the prompt, and of a whole line there.
FIELD, LINE = 60, 200
#: Numbers of a column are set flush right, as on paper, and so is what stands above them.
_TITLE = "text-align:left; font-weight:bold; padding:0.15em 0.7em"
_BELOW = "margin-bottom:0.7em"
_CELL = "text-align:{side}; padding:0.15em 0.7em"
#: A unit at the end of a heading.
_UNIT = re.compile(r" \[[^\]]*\]$")


class VideoPath(type(Path())):
    """The path of a video, which a notebook shows."""

    def _repr_html_(self) -> str | None:
        kind = self.suffix.lower()
        if kind not in VIDEOS or not self.is_file() or self.stat().st_size > LARGEST_SHOWN:
            return None
        source = f"data:{VIDEOS[kind]};base64,{b64encode(self.read_bytes()).decode()}"
        if kind == ".mp4":
            return f'<video src="{source}" controls loop style="max-width:100%"></video>'
        return f'<img src="{source}" alt="{escape(self.name)}" style="max-width:100%">'


class Displayed:
    """A result that is one line at the prompt and its whole text in a notebook.

    Of a class with a text of its own the line is the first of it, of others it lists the fields,
    long arrays by their shape. A dataclass says ``repr=False`` for it to hold.
    """

    #: What it is called, where that is not the name of its class.
    shown_as: ClassVar[str] = ""
    #: Whether its text is sentences, which a notebook breaks where they must be, and no table.
    sentences: ClassVar[bool] = False

    def __repr__(self) -> str:
        name = self.shown_as or type(self).__name__
        if type(self).__str__ is not object.__str__:
            return f"<{name}: {_cut(str(self).partition(chr(10))[0], LINE)}>"
        shown = (f"{f.name}={brief(getattr(self, f.name))}" for f in fields(self) if f.repr)  # type: ignore[arg-type] - all who use it are dataclasses
        return f"{name}({_cut(', '.join(shown), LINE)})"

    def _repr_html_(self) -> str:
        return preformatted(str(self), wrapped=self.sentences)


def brief(value: Any) -> str:
    """A value in a few letters: short arrays written out, long ones by their shape."""
    if isinstance(value, np.ndarray):
        if value.size <= WRITTEN_OUT and value.ndim <= 1:
            if value.dtype.kind == "f":
                value = np.where(np.abs(value) < SUBNORMAL, 0.0, value)  # −0 too
            return np.array2string(value, precision=6, separator=", ")
        return f"array of shape {value.shape}"
    if isinstance(value, float):
        return f"{value:.6g}"
    return _cut(repr(value), FIELD)


def plain_number(value: float, digits: int = 4) -> str:
    """A number of a table: so many digits, no minus zero, powers of ten only where it needs them.

    >>> plain_number(15964.23), plain_number(-0.0), plain_number(3.2e-7)
    ('15964', '0', '3.2e-07')
    """
    value = float(value) + 0.0
    if 10.0 ** (digits - 1) <= abs(value) < LONGEST_WHOLE:
        return f"{value:.{max(digits - len(f'{abs(value):.0f}'), 0)}f}"
    return f"{value:.{digits}g}"


def power_of_ten(text: str) -> str:
    """A number as charts and tables have it.

    >>> power_of_ten("-1.5e-09")
    '−1.5e−9'
    """
    return text.replace("e-0", "e-").replace("e+0", "e").replace("-", "\N{MINUS SIGN}")


def residual_size(value: float) -> str:
    """The size of an error in two digits.

    >>> residual_size(4.44e-16), residual_size(0.0)
    ('4.4e−16', '0')
    """
    return power_of_ten(f"{value:.1e}") if value else "0"


def written_out(value: Any) -> str:
    """A number, or numbers in brackets, row by row.

    >>> written_out([0.0, -9.81])
    '[0, −9.81]'
    """
    if np.ndim(value):
        return f"[{', '.join(written_out(part) for part in value)}]"
    return power_of_ten(f"{float(value) + 0.0:.6g}")


def typeset(unit: str) -> str:
    """A unit as it is printed.

    >>> typeset("N*m/rad")
    'N m/rad'
    """
    return unit.replace("*", " ")


def without_rounding(value: float, size: float, share: float = ROUNDED) -> float:
    """The value, or 0 where it is what rounding leaves of numbers of a size: a share of it.

    >>> without_rounding(3.1e-17, 1.0), without_rounding(0.02, 1.0)
    (0.0, 0.02)
    """
    return 0.0 if abs(value) <= share * size else float(value)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def counted(number: int, thing: str, things: str | None = None) -> str:
    """A number and what it counts, in the singular or plural."""
    return f"{number} {thing if number == 1 else things or thing + 's'}"


def shown_once(figures: Any, figure: Any) -> Any:
    """A figure that a notebook shows as the value of its cell, and not once more at the end.

    Parameters
    ----------
    figures : ``matplotlib.pyplot``.
    """
    if "inline" in figures.get_backend().lower():
        figures.close(figure)
    return figure


def preformatted(text: str, *, wrapped: bool = False) -> str:
    """Plain text for a notebook: its columns kept, or its sentences broken where they must be."""
    style = ' style="white-space:pre-wrap"' if wrapped else ""
    return f"<pre{style}>{escape(text)}</pre>"


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """A table for a notebook: cells as plain text, columns of numbers flush right."""
    rows = [tuple(row) for row in rows]
    columns = [[row[k] for row in rows if k < len(row)] for k in range(len(head))]
    sides = ["right" if cells and all(map(_number, cells)) else "left" for cells in columns]
    # A caption would be as wide as its table, and a narrow one higher than its rows.
    title = f'<div style="{_TITLE}">{escape(caption)}</div>' if caption else ""
    top = _line("th", [_UNIT.sub(_together, text) for text in head], sides)
    body = "".join(_line("td", row, sides) for row in rows)
    return f'{title}<table style="{_BELOW}"><thead>{top}</thead><tbody>{body}</tbody></table>'


def _together(unit: re.Match[str]) -> str:
    """A unit in brackets, which stays in one line where a table is narrow."""
    return unit[0].replace(" ", "\N{NBSP}")


def _line(tag: str, cells: Sequence[str], sides: Sequence[str]) -> str:
    """A row of a table, each cell on the side of its column."""
    made = (
        f'<{tag} style="{_CELL.format(side=side)}">{escape(text)}</{tag}>'
        for text, side in zip(cells, sides, strict=False)
    )
    return f"<tr>{''.join(made)}</tr>"


def _number(text: str) -> bool:
    try:
        float(text.replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        return not text
    return True
