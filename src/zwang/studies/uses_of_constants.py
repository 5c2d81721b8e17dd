"""Where a model file uses its constants: in numbers of parts alone, or in what is written besides.

Numbers of bodies, joints and springs are parameters of the equations, which take other values as
they are. Laws, outputs, events and settings have constants in their expressions: for other values
the file is read anew.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["constants_in_expressions"]

#: Keys of tables of the file whose values are numbers of parts.
OF_PARTS: Mapping[str, frozenset[str]] = {
    "mechanism": frozenset(["gravity"]),
    "body": frozenset(["mass", "inertia", "shape", "position", "angle", "orientation", "center"]),
    "joint": frozenset(["at", "axis"]),
    "force": frozenset(["at", "stiffness", "damping", "length"]),
}
_NAME = re.compile(r"[^\W\d]\w*")


def constants_in_expressions(text: str) -> frozenset[str]:
    """Constants of a file, and those that others of these follow from."""
    tables = tomllib.loads(text)
    constants = tables.get("constants", {})
    found = {
        name
        for table, content in tables.items()
        if table != "constants"
        for key, value in _entries(table, content)
        if key not in OF_PARTS.get(table, ())
        for name in _names(value)
        if name in constants
    }
    waiting = list(found)
    while waiting:
        for name in _names(constants[waiting.pop()]):
            if name in constants and name not in found:
                found.add(name)
                waiting.append(name)
    return frozenset(found)


def _entries(table: str, content: Any) -> Iterator[tuple[str, Any]]:
    """Keys and values of a table, or of the parts in it."""
    if not isinstance(content, dict):
        yield "", content
    elif table == "mechanism":
        yield from content.items()
    else:
        for part in content.values():
            yield from part.items() if isinstance(part, dict) else [("", part)]


def _names(value: Any) -> Iterator[str]:
    """Names in all texts of a value."""
    if isinstance(value, str):
        yield from _NAME.findall(value)
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _names(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _names(entry)
