"""The theory map: rows of the documents → functions that offer them → tests that prove them.

``docs/theory/map.toml`` lists the rows and functions; tests name the rows they prove with
``@pytest.mark.inventory("UK-04", …)``. This script reads both, without running any test, and
writes the table of the page "Theory map". MkDocs calls it as a hook; the tests of the
documentation use the same functions.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MAP_FILE = ROOT / "docs" / "theory" / "map.toml"
TESTS = ROOT / "tests"
PLACEHOLDER = "<!-- theory map -->"


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
    """Import what a dotted name stands for; ``LookupError`` says which part is missing.

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


# ---------------------------------------------------------------------------------------- the page


def markdown(theory: TheoryMap, tests: dict[str, list[str]]) -> str:
    """The tables of the page, one for each source."""
    lines = []
    for source in theory.sources:
        lines += [f"## {source.short}", "", source.citation, ""]
        lines += ["| row | where | what | function | proved by |", "|---|---|---|---|---|"]
        lines += [
            _table_line(row, tests.get(row.id, []))
            for row in theory.rows
            if row.id.startswith(source.prefix)
        ]
        lines.append("")
    return "\n".join(lines)


def _table_line(row: Row, tests: list[str]) -> str:
    functions = "<br>".join(f"[`{_short(name)}`][{anchor(name)}]" for name in row.offers)
    if row.later:
        functions = functions or f"*comes with {row.later}*"
    proved = "<br>".join(_claim(test) for test in tests)
    cells = [f'<span id="{row.id}">{row.id}</span>', _plain(row.where), _plain(row.says)]
    return "| " + " | ".join([*cells, functions, proved]) + " |"


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
        home = next((base for base in found.__mro__ if name in vars(base)), found)
        return f"{home.__module__}.{home.__qualname__}.{name}"
    return dotted


def _plain(text: str) -> str:
    """Protect the characters that Markdown tables and emphasis would take for their own."""
    for character in "\\|*_[]<>":
        text = text.replace(character, f"&#{ord(character)};")
    return text


def _short(dotted: str) -> str:
    """The last words of a dotted name: the function, or class and method."""
    parts = dotted.split(".")
    start = -2 if len(parts) > 1 and parts[-2][:1].isupper() else -1
    return ".".join(parts[start:])


def on_page_markdown(text: str, /, **_: Any) -> str:
    """MkDocs hook: put the tables where the page asks for them."""
    if PLACEHOLDER not in text:
        return text
    return text.replace(PLACEHOLDER, markdown(load(), proofs()))
