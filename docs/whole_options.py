"""A hook of the site: options of commands are not broken after their hyphens.

Browsers break lines after hyphens, also in `--set`, of which the first would then stand alone.
"""

from __future__ import annotations

import re
from typing import Any

#: Code within a line, which has no attributes and no marks of its own.
CODE = re.compile(r"<code>([^<>]*)</code>")
#: An option, long or of one letter.
OPTION = re.compile(r"(?<![\w.-])(--?[A-Za-z][\w-]*)")


def on_page_content(html: str, /, **_: Any) -> str:
    """MkDocs hook: options in code within lines stay in one piece."""
    return CODE.sub(_marked, html)


def _marked(found: re.Match[str]) -> str:
    return f"<code>{OPTION.sub(_whole, found[1])}</code>"


def _whole(found: re.Match[str]) -> str:
    return f'<span class="whole">{found[1]}</span>'
