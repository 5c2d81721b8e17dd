"""What compiled loops work on: numbers of four kinds, arrays of them, tuples of either.

The same classes describe values in a loop that is being translated, where they hold values of LLVM,
and arguments that it is called with, their *form*, where they hold None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["BOOL", "COMPLEX", "FLOAT", "INT", "KINDS", "Array", "Lanes", "RuntimeNumber"]

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
