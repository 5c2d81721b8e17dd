"""Equation numbers and runnable snippets of the theory map.

``docs/theory/snippets.toml`` has a snippet for each row of the map and the numbers of all equations
of each document. The numbers a row stands for are those its ``where`` gives, ranges written out.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SNIPPETS_FILE = ROOT / "docs" / "theory" / "snippets.toml"
#: The page of each document's rows.
PAGES = {
    "UK": "map-udwadia-kalaba.md",
    "US": "map-udwadia-schutte.md",
    "UM": "map-udwadia-mogharabin.md",
    "NI": "map-nikravesh.md",
    "BL": "map-blajer.md",
    "XX": "map-across.md",
}
#: The longest a snippet may be.
MOST_LINES = 5

_NUMBER = r"\((?:[A-Z]\.|\d+\.)?\d+\)"
_RANGE = re.compile(rf"({_NUMBER})(?:–({_NUMBER}))?")
#: A place between equations, such as "after (3)", is not the equation.
_NEAR = re.compile(rf"(?:after|before|above|below) {_NUMBER}")


@dataclasses.dataclass(frozen=True)
class Snippet:
    """A few lines that call what a row offers, and what they print."""

    code: str
    prints: str

    @property
    def lines(self) -> list[str]:
        """The lines of code that are not empty."""
        return [line for line in self.code.splitlines() if line.strip()]

    def run(self) -> str:
        """What the lines print, in a namespace of their own."""
        import numpy as np

        printed = io.StringIO()
        namespace: dict[str, Any] = {"__name__": "__main__"}
        with np.printoptions(precision=6, suppress=True), contextlib.redirect_stdout(printed):
            exec(compile(self.code, "<snippet>", "exec"), namespace)  # noqa: S102 - our own lines
        return printed.getvalue()


def load(path: Path = SNIPPETS_FILE) -> dict[str, Snippet]:
    """The snippets by row, each with the lines of its setup in front."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    setup = {name: lines.strip() for name, lines in data["setup"].items()}
    found = {}
    for row, entry in data.items():
        if row in {"setup", "equations"}:
            continue
        lines = [setup[entry["after"]]] if "after" in entry else []
        code = "\n".join([*lines, entry["run"].strip()])
        found[row] = Snippet(code, entry.get("prints", "").strip("\n"))
    return found


def documents(path: Path = SNIPPETS_FILE) -> dict[str, list[str]]:
    """The numbers of all equations of each document: ``{"UK": ["(1)", "(2)", …]}``."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return {prefix: numbers(where) for prefix, where in data["equations"].items()}


def numbers(where: str) -> list[str]:
    """Every equation number of a place, ranges written out, in their order.

    Examples
    --------
    >>> numbers("Lemma 1 (9)–(11), after (13)")
    ['(9)', '(10)', '(11)']
    """
    found: list[str] = []
    for first, last in _RANGE.findall(_NEAR.sub("", where)):
        section, start = _split(first)
        end = _split(last)[1] if last else start
        found += [f"({section}{number})" for number in range(start, end + 1)]
    return list(dict.fromkeys(found))


def _split(number: str) -> tuple[str, int]:
    """``("6.", 15)`` for ``(6.15)``, ``("", 9)`` for ``(9)``."""
    section, dot, last = number.strip("()").rpartition(".")
    return section + dot, int(last)
