"""Misprints of the documents: ``docs/theory/misprints.toml`` as the tables of the page "Misprints".

A hook of MkDocs; the theory map links its rows to the entries.
"""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path
from typing import Any

from theory_snippets import PAGES

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "docs" / "theory" / "misprints.toml"
PAGE = ROOT / "docs" / "theory" / "misprints.md"
PLACEHOLDER = "<!-- misprints -->"

#: Kinds of entries, in the order of the page: heading and a sentence about them.
KINDS = {
    "numbers": (
        "Misprints that change results",
        "The printed formula gives wrong numbers, whether by author, printer or scanner.",
    ),
    "marks": (
        "Lost marks",
        "A dot, accent, prime, index or font is missing; the meaning is not in doubt.",
    ),
    "words": ("References and words", "Wrong references, and statements that mean something else."),
    "conditions": (
        "Conditions",
        "Correct under a condition that is not stated, or that a program must respect.",
    ),
}


@dataclasses.dataclass(frozen=True)
class Misprint:
    """One entry; see the head of ``misprints.toml``."""

    anchor: str
    document: str
    place: str
    kind: str
    printed: str
    correct: str
    check: str
    rows: tuple[str, ...]


def load(path: Path = FILE) -> list[Misprint]:
    """All entries, with anchors numbered by document; an unknown field raises ``TypeError``."""
    counts: dict[str, int] = {}
    found = []
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["misprint"]:
        name = entry["document"]
        counts[name] = counts.get(name, 0) + 1
        rows = tuple(entry.pop("rows"))
        found.append(Misprint(f"{name.lower()}-{counts[name]}", rows=rows, **entry))
    return found


def by_row() -> dict[str, list[Misprint]]:
    """The entries that belong to each row of the theory map."""
    found: dict[str, list[Misprint]] = {}
    for misprint in load():
        for row in misprint.rows:
            found.setdefault(row, []).append(misprint)
    return found


def markdown(misprints: list[Misprint]) -> str:
    """A table for each kind."""
    lines = []
    for kind, (heading, sentence) in KINDS.items():
        lines += [f"## {heading}", "", sentence, ""]
        lines += ["| place | as printed | corrected, and a line that checks it |", "|---|---|---|"]
        lines += [_line(entry) for entry in misprints if entry.kind == kind]
        lines.append("")
    return "\n".join(lines)


def _line(entry: Misprint) -> str:
    rows = " ".join(f"[{row}]({PAGES[row[:2]]}#{row})" for row in entry.rows)
    place = f'<span id="{entry.anchor}">{entry.document}</span> {_plain(entry.place)}<br>{rows}'
    correct = f"{_plain(entry.correct)}<br><code>{_plain(entry.check)}</code>"
    return f"| {place} | {_plain(entry.printed)} | {correct} |"


def _plain(text: str) -> str:
    """Protect the characters that Markdown tables and emphasis would take for their own."""
    for character in "\\|*_[]<>~":
        text = text.replace(character, f"&#{ord(character)};")
    return text


def on_page_markdown(text: str, /, **_: Any) -> str:
    """MkDocs hook: put the tables where the page asks for them."""
    if PLACEHOLDER not in text:
        return text
    return text.replace(PLACEHOLDER, markdown(load()))
