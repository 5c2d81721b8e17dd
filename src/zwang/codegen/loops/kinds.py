"""What compiled loops work on: numbers of four kinds, arrays of them, tuples and records of either.

The same classes describe values in a loop that is being translated, where they hold values of LLVM,
and arguments that it is called with, their *form*, where they hold None.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

__all__ = [
    "BOOL",
    "COMPLEX",
    "FLOAT",
    "INT",
    "KINDS",
    "Array",
    "Lanes",
    "RuntimeNumber",
    "alike",
    "is_record",
    "record_classes",
    "signature",
]

# Kinds of numbers, in the order in which one turns into the other.
BOOL, INT, FLOAT, COMPLEX = KINDS = ("bool", "int", "float", "complex")


@dataclass(frozen=True)
class RuntimeNumber:
    """A number that is known when a loop runs: one value in LLVM, for COMPLEX a pair of them.

    Where lanes are side by side, the value is a vector if the number is another in each.
    """

    kind: str
    value: Any = None


@dataclass(frozen=True)
class Lanes:
    """All lanes at once, as an index."""

    count: int


@dataclass(frozen=True)
class Array:
    """An array in memory, row by row without gaps: its first number and its lengths."""

    kind: str
    data: Any
    shape: tuple[Any, ...]


def is_record(kind: Any) -> bool:
    """Whether something is a class of named tuples."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def alike(value: tuple[Any, ...], entries: Iterable[Any]) -> tuple[Any, ...]:
    """Other entries as a tuple or record of the class of a given one."""
    return type(value)(*entries) if is_record(type(value)) else tuple(entries)


def signature(form: Any) -> Any:
    """A form by which code is remembered: records of two classes differ, though they are equal."""
    if not isinstance(form, tuple):
        return form
    return (type(form), *map(signature, form))


def record_classes(form: Any) -> list[type]:
    """The classes of the records in a form, in the order in which arguments are taken apart."""
    if not isinstance(form, tuple):
        return []
    own = [type(form)] if is_record(type(form)) else []
    return own + [kind for entry in form for kind in record_classes(entry)]
