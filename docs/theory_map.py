"""The theory map: rows of the documents → functions that offer them → tests that prove them.

``docs/theory/map.toml`` lists the rows and functions; tests name the rows they prove with
``@pytest.mark.inventory("UK-04", …)``; ``docs/theory/snippets.toml`` has lines that run for each.
This script reads them, without running any, and writes the index of the page "Theory map" and the
pages of the documents. MkDocs calls it as a hook; the tests of the documentation use the same
functions. As a script it counts the equation numbers that are found in a built site:

    mkdocs build --strict && python docs/theory_map.py site
"""

from __future__ import annotations

import ast
import dataclasses
import html
import importlib
import re
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import misprints
from theory_snippets import PAGES, Snippet, documents, numbers
from theory_snippets import load as load_snippets

ROOT = Path(__file__).resolve().parent.parent
MAP_FILE = ROOT / "docs" / "theory" / "map.toml"
TESTS = ROOT / "tests"
#: What the pages ask for: the index, or the rows of a document.
INDEX = "<!-- index of equations -->"
ROWS = re.compile(r"<!-- rows of ([A-Z]{2}) -->")


@dataclasses.dataclass(frozen=True)
class Source:
    """One of the documents: the prefix of its ids and how many rows it has."""

    prefix: str
    rows: int
    short: str
    citation: str

    @property
    def ids(self) -> list[str]:
        """All ids of this source, ``UK-01`` to ``UK-25`` and so on."""
        return [f"{self.prefix}-{number:02d}" for number in range(1, self.rows + 1)]


@dataclasses.dataclass(frozen=True)
class Row:
    """One thing a document describes; see the head of ``map.toml`` for the fields."""

    id: str
    where: str
    says: str
    offers: tuple[str, ...]
    later: str | None = None


@dataclasses.dataclass(frozen=True)
class TheoryMap:
    """The whole of ``map.toml``."""

    sources: tuple[Source, ...]
    rows: tuple[Row, ...]

    @property
    def ids(self) -> list[str]:
        """The ids that must be present, from the counts of the sources."""
        return [row_id for source in self.sources for row_id in source.ids]


def load(path: Path = MAP_FILE) -> TheoryMap:
    """Read ``map.toml``; a missing or unknown field raises ``TypeError``."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return TheoryMap(
        sources=tuple(Source(**entry) for entry in data["source"]),
        rows=tuple(Row(**{**entry, "offers": tuple(entry["offers"])}) for entry in data["row"]),
    )


def resolve(dotted: str) -> Any:
    """Import what a dotted name stands for; ``LookupError`` reports which part is missing.

    A field of a dataclass counts as resolved although the class itself has no such attribute.
    """
    parts = dotted.split(".")
    module, rest = None, parts
    for size in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:size]))
        except ModuleNotFoundError:
            continue
        rest = parts[size:]
        break
    if module is None:
        message = f"{dotted}: there is no module {parts[0]!r}"
        raise LookupError(message)
    found: Any = module
    for position, name in enumerate(rest):
        if hasattr(found, name):
            found = getattr(found, name)
        elif position == len(rest) - 1 and name in _fields(found):
            return name
        else:
            message = f"{dotted}: {getattr(found, '__name__', found)!r} has no {name!r}"
            raise LookupError(message)
    return found


def _fields(owner: Any) -> set[str]:
    if not dataclasses.is_dataclass(owner):
        return set()
    return {field.name for field in dataclasses.fields(owner)}


# ------------------------------------------------------------------------------ marks in the tests


def proofs(tests: Path = TESTS) -> dict[str, list[str]]:
    """Tests that carry each row's mark: ``{"UK-04": ["tests/…/test_x.py::test_y"]}``.

    Marks count on functions, classes and parameter sets, and at the level of a module. Tests
    marked as campaigns are left out, since an ordinary run does not execute them.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(tests.rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        name = path.relative_to(tests.parent).as_posix()
        for row_id, test in _marks_of_body(tree.body, name, name):
            places = found.setdefault(row_id, [])
            if test not in places:
                places.append(test)
    return found


def _marks_of_body(body: list[ast.stmt], prefix: str, file: str) -> list[tuple[str, str]]:
    """Pairs (row id, test) of the statements of a module or of a class."""
    pairs = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            here = f"{prefix}::{node.name}"
            calls = [call for decorator in node.decorator_list for call in _marks(decorator)]
            if any(_mark_name(part) == "campaign" for d in node.decorator_list for part in _all(d)):
                continue
            pairs += [(row_id, here) for call in calls for row_id in _ids(call, file)]
            if isinstance(node, ast.ClassDef):
                pairs += _marks_of_body(node.body, here, file)
        else:
            pairs += [(row_id, prefix) for call in _marks(node) for row_id in _ids(call, file)]
    return pairs


def _all(node: ast.AST) -> list[ast.AST]:
    return list(ast.walk(node))


def _mark_name(node: ast.AST) -> str | None:
    """``inventory`` for the expression ``pytest.mark.inventory``, else None."""
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "mark"
    ):
        return node.attr
    return None


def _marks(node: ast.AST) -> list[ast.Call]:
    return [
        part
        for part in ast.walk(node)
        if isinstance(part, ast.Call) and _mark_name(part.func) == "inventory"
    ]


def _ids(call: ast.Call, file: str) -> list[str]:
    ids = []
    for argument in call.args:
        if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
            message = f"{file}:{call.lineno}: inventory ids are given as plain strings"
            raise TypeError(message)
        ids.append(argument.value)
    return ids


# --------------------------------------------------------------------------------------- the pages


def index(theory: TheoryMap) -> str:
    """Every equation number of every document, each a link to its row."""
    lines = []
    for source in theory.sources:
        rows = [row for row in theory.rows if row.id.startswith(source.prefix)]
        page = PAGES[source.prefix]
        lines += [f"## {source.short}", "", f"{source.citation} [All entries]({page}).", ""]
        found = where_found(rows)
        links = [
            f"[{number}]({page}#{found[number]})" for number in documents().get(source.prefix, [])
        ]
        if links:
            lines += ["Equations: " + " ".join(links), ""]
        places = [(row, place) for row in rows if (place := _place(row.where))]
        named = [f"[{_plain(place)}]({page}#{row.id})" for row, place in places]
        lines += ["Other places: " + " · ".join(named), ""]
    return "\n".join(lines)


def where_found(rows: list[Row]) -> dict[str, str]:
    """The first row that stands for each equation number."""
    found: dict[str, str] = {}
    for row in rows:
        for number in numbers(row.where):
            found.setdefault(number, row.id)
    return found


def _place(where: str) -> str:
    """What a place says besides equation numbers: an example, a lemma, a table."""
    rest = re.sub(r"^[\s,–]+|[\s,–]+$", "", re.sub(r"\([A-Z\d.]+\)[,–\s]*", "", where))
    return where if re.search(r"[A-Za-z]", rest) else ""


def markdown(
    theory: TheoryMap, prefix: str, tests: dict[str, list[str]], snippets: dict[str, Snippet]
) -> str:
    """The rows of one document, a section for each."""
    wrong = misprints.by_row()
    return "\n".join(
        _section(row, tests.get(row.id, []), snippets.get(row.id), wrong.get(row.id, []))
        for row in theory.rows
        if row.id.startswith(prefix)
    )


def _section(
    row: Row, tests: list[str], snippet: Snippet | None, wrong: list[misprints.Misprint]
) -> str:
    lines = [f"## {row.id} · {_plain(row.where)} {{ #{row.id} }}", "", f"{_set(row.says)}.", ""]
    given = numbers(row.where)
    if len(given) > 1 and not row.id.startswith("XX"):  # each a word of its own, for searches
        lines += [f"Equations {' '.join(given)}.", ""]
    functions = ", ".join(f"[`{_short(name)}`][{anchor(name)}]" for name in row.offers)
    if row.later:
        functions = functions or f"*comes with {row.later}*"
    lines += [f"Implemented by {functions}.", ""]
    if wrong:
        links = ", ".join(f"[{_plain(m.place)}](misprints.md#{m.anchor})" for m in wrong)
        lines += [f"Misprint: {links}.", ""]
    if snippet is not None:
        lines += ["```python", snippet.code, "```", "", "```text", snippet.prints, "```", ""]
    if tests:
        claims = "; ".join(_claim(test) for test in tests)
        lines += [f"<small>Verified by: {claims}.</small>", ""]
    return "\n".join(lines)


def _claim(test: str) -> str:
    """The claim a test is named after, with the way to run it as its tooltip."""
    last = test.rpartition("::")[2].rpartition("/")[2].removesuffix(".py")
    words = last.removeprefix("test_").replace("_", " ")
    return f'<span title="{test}">{words}</span>'


def anchor(dotted: str) -> str:
    """Where the reference documents a name: fields and inherited members with their class."""
    owner, _, name = dotted.rpartition(".")
    if owner and isinstance(found := resolve(owner), type):
        if name in _fields(found):
            return owner
        for base in found.__mro__:
            home = f"{base.__module__}.{base.__qualname__}"
            if name in vars(base) or name in _inherited().get(home, ()):
                return f"{home}.{name}"
    return dotted


@cache
def _inherited() -> dict[str, list[str]]:
    """Class → names that the reference shows with it although a base has them."""
    pages = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "docs/reference").glob("*.md"))
    listed = re.compile(r"^::: ([\w.]+)\n(?:    .*\n)*? +inherited_members: \[(.*)\]", re.MULTILINE)
    return {owner: names.split(", ") for owner, names in listed.findall(pages)}


def _plain(text: str) -> str:
    """Protect the characters that Markdown tables and emphasis would take for their own."""
    for character in "\\|*_[]<>":
        text = text.replace(character, f"&#{ord(character)};")
    return text


#: A letter with an index, ``M_s`` or ``Q_{A,z}``, as `_plain` leaves it; and what is raised.
WITH_INDEX = re.compile(
    "((?:[A-ZΑ-Ωα-ω]|(?<![a-z])[a-z])[\u0300-\u036f′]*(?:<sup>[^<]*</sup>)?)"
    r"&#95;(?:\{([^}]*)\}|([A-Za-z0-9⊥α-ω])(?![a-z]))"
)
RAISED = re.compile(r"\^(?:\(([^()]*)\)|([A-Za-z])(?![a-z]))")


def _set(text: str) -> str:
    """A claim with its indices below the line, and powers above it."""
    raised = RAISED.sub(lambda m: f"<sup>{m[1] or m[2]}</sup>", _plain(text))
    return WITH_INDEX.sub(lambda m: f"{m[1]}<sub>{m[2] or m[3]}</sub>", raised)


def _short(dotted: str) -> str:
    """The last words of a dotted name: the function, or class and method."""
    parts = dotted.split(".")
    start = -2 if len(parts) > 1 and parts[-2][:1].isupper() else -1
    return ".".join(parts[start:])


def on_page_markdown(text: str, /, **_: Any) -> str:
    """MkDocs hook: put the index and the rows where the pages ask for them."""
    if INDEX in text:
        return text.replace(INDEX, index(load()))
    if asked := ROWS.search(text):
        return text.replace(asked[0], markdown(load(), asked[1], proofs(), load_snippets()))
    return text


# ---------------------------------------------------------------------------- the built site


def found_in(page: str) -> dict[str, list[str]]:
    """Equation numbers in the text of a built page: number → rows with it that have a snippet."""
    found: dict[str, list[str]] = {}
    parts = re.split(r'<h2[^>]*\bid="?([A-Z]{2}-\d{2})', page)
    for row, part in zip(parts[1::2], parts[2::2], strict=True):
        if "<code" not in part:
            continue
        text = html.unescape(re.sub(r"<[^>]*>", "", part))
        for number in set(re.findall(r"\((?:[A-Z]\.|\d+\.)?\d+\)", text)):
            found.setdefault(number, []).append(row)
    return found


def count(site: Path) -> int:
    """Print how many equations of each document the built site has; the number of those missing."""
    missing = 0
    for prefix, wanted in documents().items():
        page = (site / "theory" / PAGES[prefix]).with_suffix(".html")
        found = found_in(page.read_text(encoding="utf-8"))
        absent = [number for number in wanted if number not in found]
        missing += len(absent)
        note = f", missing {' '.join(absent)}" if absent else ""
        print(f"{prefix}: {len(wanted) - len(absent)} of {len(wanted)} equations found{note}")
    return missing


if __name__ == "__main__":
    sys.exit(1 if count(Path(sys.argv[1])) else 0)
