"""Display of results: one line at the prompt, text and tables in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from html import escape
from typing import Any, ClassVar

import numpy as np

__all__ = [
    "Displayed",
    "counted",
    "html_table",
    "plain_number",
    "preformatted",
    "shown_once",
    "without_rounding",
]

#: Arrays with at most so many entries are written out at the prompt, of others the shape.
WRITTEN_OUT = 6
#: What is less has lost digits, and is what is left of a zero.
SUBNORMAL = float(np.finfo(float).tiny)
#: Numbers from here on are written with a power of ten in tables.
LONGEST_WHOLE = 1e7
#: Parts of the numbers that a value is computed from below which it is their rounding.
ROUNDED = 1e-12
#: Letters of a field at the prompt, and of a whole line there.
FIELD, LINE = 60, 200
#: Numbers of a table are set flush right, like those of a column on paper.
_TITLE = "text-align:left; font-weight:bold; white-space:nowrap"
_CELL = "text-align:{side}; padding:0.15em 0.7em"


class Displayed:
    """A result that is one line at the prompt and its whole text in a notebook.

    Of a class with a text of its own the line is the first of it, of others it lists the fields,
    long arrays by their shape. A dataclass says ``repr=False`` for it to hold.
    """

    #: What it is called, where that is not the name of its class.
    shown_as: ClassVar[str] = ""

    def __repr__(self) -> str:
        name = self.shown_as or type(self).__name__
        if type(self).__str__ is not object.__str__:
            return f"<{name}: {_cut(str(self).partition(chr(10))[0], LINE)}>"
        shown = (f"{f.name}={brief(getattr(self, f.name))}" for f in fields(self) if f.repr)  # type: ignore[arg-type] - all who use it are dataclasses
        return f"{name}({_cut(', '.join(shown), LINE)})"

    def _repr_html_(self) -> str:
        return preformatted(str(self))


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


def without_rounding(value: float, size: float) -> float:
    """The value, or 0 where it is what rounding leaves of numbers of a size.

    >>> without_rounding(3.1e-17, 1.0), without_rounding(0.02, 1.0)
    (0.0, 0.02)
    """
    return 0.0 if abs(value) <= ROUNDED * size else float(value)


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


def preformatted(text: str) -> str:
    """Plain text for a notebook, its columns kept."""
    return f"<pre>{escape(text)}</pre>"


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """A table for a notebook: cells as plain text, numbers flush right."""
    title = f'<caption style="{_TITLE}">{escape(caption)}</caption>' if caption else ""
    top = "".join(f'<th style="{_CELL.format(side="left")}">{escape(name)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table>{title}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    return (
        f'<td style="{_CELL.format(side="right" if _number(text) else "left")}">{escape(text)}</td>'
    )


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
