"""Docstrings and properties as we write them, made ready for the reference.

An extension of Griffe, the reader behind mkdocstrings. It does four things.

Our lists of parameters, attributes and errors say what a thing is, as its type stands in the
signature: ``M : mass matrix, shape (…, n, n).`` numpydoc would take that text for a type, so it is
moved to the next line, where descriptions belong; an entry for several names is repeated for each.

Tables are indented blocks, in which backticks are no marks but letters: they are left out there.

Methods decorated with ``computed_once`` are shown as the properties they are to a user.

Fields of dataclasses that begin with an underscore are left out of signatures: nobody gives them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import griffe

SECTIONS = {"Parameters", "Attributes", "Raises", "Returns", "Other Parameters", "Yields"}
UNDERLINE = re.compile(r"-{3,}")
#: A name between backticks, or the gap between two columns.
TICKED = re.compile(r"`(?P<name>[^`]+)`|(?P<gap>  +)")
ENTRY = re.compile(r"(?P<names>[*\w]+(?:, [*\w]+)*) : (?P<text>\S.*)")


def rewrite(docstring: str) -> str:
    """Put descriptions below names, in the sections that list names."""
    result: list[str] = []
    names: list[str] = []
    description: list[str] = []

    def finish() -> None:
        for name in names:
            result.extend([name, *description])
        names.clear()
        description.clear()

    lines = _tables_without_ticks(docstring.split("\n"))
    section = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if names and line.startswith("    "):
            description.append(line)
            continue
        finish()
        if line and UNDERLINE.fullmatch(following):
            section = line
        entry = ENTRY.fullmatch(line) if section in SECTIONS else None
        if entry is None:
            result.append(line)
        else:
            names.extend(entry["names"].split(", "))
            description.append(f"    {entry['text']}")
    finish()
    return "\n".join(result)


def _tables_without_ticks(lines: list[str]) -> list[str]:
    """The lines; in indented blocks, where backticks would be printed, names stand without them."""
    made, inside, before = [], False, ""
    for line in lines:
        inside = line.startswith("    ") and (inside or not before.strip())
        made.append(_without_ticks(line) if inside else line)
        before = line
    return made


def _without_ticks(line: str) -> str:
    """A row of a table without backticks, its columns where they were."""
    short = 0

    def plain(found: re.Match[str]) -> str:
        nonlocal short
        if found["name"]:
            short += 2
            return found["name"]
        room, short = found["gap"] + " " * short, 0
        return room

    return TICKED.sub(plain, line)


class HouseStyle(griffe.Extension):
    """Rewrite what Griffe has read of the package, before it is rendered."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Griffe calls this for every object it has read."""
        if obj.docstring is not None:
            obj.docstring.value = rewrite(obj.docstring.value)

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Griffe calls this for every class, when its members are known."""
        for name, member in list(cls.members.items()):
            if isinstance(member, griffe.Function) and any(
                str(decorator.value) == "computed_once" for decorator in member.decorators
            ):
                cls.set_member(name, _as_property(member))

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Griffe calls this at the end; dataclasses have their ``__init__`` by now."""
        for cls in _classes(pkg):
            start = cls.members.get("__init__")
            if "dataclass" in cls.labels and isinstance(start, griffe.Function):
                start.parameters = griffe.Parameters(
                    *(p for p in start.parameters if not p.name.startswith("_"))
                )


def _classes(container: griffe.Module | griffe.Class) -> Iterator[griffe.Class]:
    """All classes that are defined in a module and the modules in it."""
    for member in container.members.values():
        if isinstance(member, griffe.Class):
            yield member
        if isinstance(member, griffe.Module | griffe.Class):
            yield from _classes(member)


def _as_property(method: griffe.Function) -> griffe.Attribute:
    attribute = griffe.Attribute(
        method.name,
        lineno=method.lineno,
        endlineno=method.endlineno,
        annotation=method.returns,
        docstring=method.docstring,
    )
    attribute.labels |= {"property", "cached"}
    return attribute
