"""A hook of the site: pages without needless blanks, and none over a limit.

The tools that make the pages indent and space them as programs; about a fifth of a page of the
reference is blanks that nobody sees. A page that is still too large is a warning, and an error
with ``mkdocs build --strict``: it is to be divided.
"""

from __future__ import annotations

import logging
import re
from typing import Any

#: What a page may have [bytes], without pictures and what all pages share.
MOST = 300_000
#: Text whose blanks are seen, or mean something.
KEPT = re.compile(r"(<(pre|script|style|textarea)\b.*?</\2>)", re.DOTALL)
LOG = logging.getLogger("mkdocs.hooks.page_size")


def on_post_page(output: str, /, page: Any, **_: Any) -> str:
    """MkDocs hook: the page as it is written."""
    text = without_blanks(output)
    size = len(text.encode())
    if size > MOST:
        LOG.warning("%s has %d kB, and may have %d", page.file.src_uri, size // 1000, MOST // 1000)
    return text


def without_blanks(page: str) -> str:
    """The same page; blanks at the ends of lines, indentation and empty lines are one line end."""
    parts = KEPT.split(page)  # text, kept, name of its element, text, …
    for i in range(0, len(parts), 3):
        parts[i] = re.sub(r"\s*\n\s*", "\n", parts[i])
    return "".join(part for i, part in enumerate(parts) if i % 3 != 2)
