"""A hook of the site: printed tables keep their columns on a phone, where sentences wrap.

What a program prints is mostly sentences, which wrap where the page is narrow. A table that wraps
cannot be read, nor can a drawing of letters; these scroll.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any

#: What a program printed, or a cell of a notebook showed: the class, and the text.
PRINTED = re.compile(
    r'<div class="(language-text highlight|output)"><pre>(.*?)</pre></div>', re.DOTALL
)
#: Blanks between two words that stand in columns.
COLUMNS = re.compile(r"\S {2,}\S")
#: Lines with columns that make a table.
FEWEST = 2
#: Letters that join to lines, two of them side by side.
LINES = re.compile(r"[\u2500-\u257f]{2}")


def on_page_content(html: str, /, **_: Any) -> str:
    """MkDocs hook: tables among what is printed get a class, and can be reached by keys."""
    return PRINTED.sub(_marked, html)


def is_table(text: str) -> bool:
    """Whether some lines of a text have columns, or lines are drawn in it."""
    columns = sum(COLUMNS.search(line) is not None for line in text.splitlines())
    return columns >= FEWEST or LINES.search(text) is not None


def _marked(found: re.Match[str]) -> str:
    kind, text = found.groups()
    if not is_table(unescape(re.sub(r"<[^>]*>", "", text))):
        return found[0]
    reached = ' tabindex="0"' if kind == "output" else ""  # code gets it from the theme
    return f'<div class="{kind} aligned"{reached}><pre>{text}</pre></div>'
