r"""Mathematics of the pages as MathML, written when the site is built.

A hook of MkDocs. Formulas stand in the pages as ``$…$`` and ``$$…$$``; the extension arithmatex
finds them, and this turns them into MathML, which browsers show without scripts or fonts of ours.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
#: What arithmatex leaves: \(…\) in a span, \[…\] in a div.
FORMULA = re.compile(
    r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL | re.MULTILINE
)


def on_page_content(page: str, /, **_: Any) -> str:
    """MkDocs hook: every formula of the page."""
    return FORMULA.sub(_mathml, page)


def _mathml(formula: re.Match[str]) -> str:
    from latex2mathml.converter import convert

    block = formula[1] == "div"
    text = html.unescape(formula[2]).strip()
    made = convert(text, display="block" if block else "inline")
    if "<mi>&</mi>" in made or "\\" in re.sub(r"<[^>]*>", "", made):
        message = f"a formula was not understood: {text}"
        raise ValueError(message)
    return f'<div class="formula">{made}</div>' if block else made
