"""The cache of programs: what is made once for a set of equations and kept as long as they are.

Programs are kept by a key that lists all that decided about them; whatever else is found once, by
its class. Nothing else is remembered with a system, and by no other way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar

from zwang.caching import PassedOn
from zwang.programs.contract import Program

__all__ = [
    "BlockKey",
    "ProgramCache",
    "ReferenceKey",
    "RenumberedKey",
    "TreeKey",
    "WholeKey",
]

T = TypeVar("T")
P = TypeVar("P", bound=Program)


class WholeKey(NamedTuple):
    """What decides about a program of one expression.

    Attributes
    ----------
    rows : which constraint rows act, a `zwang.equations.active_rows.ActiveRows`.
    singular_mass : whether M may be singular.
    lanes : trajectories side by side.
    baumgarte : rate of stabilization [1/s]; zero for none.
    """

    rows: Hashable
    singular_mass: bool
    lanes: int
    baumgarte: float = 0.0


class ReferenceKey(NamedTuple):
    """What decides about a program that is evaluated in Python.

    Attributes
    ----------
    rows : those that states are projected onto, a `zwang.equations.active_rows.ActiveRows`.
    """

    formulation: str
    redundant: bool
    singular_mass: bool
    baumgarte: float
    rows: Hashable


class BlockKey(NamedTuple):
    """What decides about a program block by block.

    Attributes
    ----------
    inactive_rows : numbers of the rows that do not act.
    distinct : whether the others are independent but for singular positions.
    """

    inactive_rows: tuple[int, ...]
    lanes: int
    distinct: bool


class TreeKey(NamedTuple):
    """What decides about the articulated-body recursion of a tree."""

    lanes: int


class RenumberedKey(NamedTuple):
    """A program in coordinates of its own, with its rows numbered as those of the mechanism."""

    inner: Hashable


class ProgramCache:
    """What was made for one set of equations.

    Attributes
    ----------
    programs : by their keys, and the kinds of these.
    """

    def __init__(self) -> None:
        self.programs: dict[tuple[type, Hashable], Program] = {}
        self._once: dict[type, Any] = {}

    def program(self, key: Hashable, make: Callable[[], P]) -> P:
        """The program of a key; made if there is none yet."""
        kind = type(key), key  # tuples of two kinds may be equal
        known: Any = self.programs.get(kind)
        if known is None:
            known = self.programs[kind] = make()
        return known

    def once(self, kind: type[T], make: Callable[[], T]) -> T:
        """The one object of a class that is kept here; made if there is none yet."""
        known = self._once.get(kind)
        if known is None:
            known = self._once[kind] = make()
        return known

    def for_another(self) -> ProgramCache:
        """That of equal equations: the same programs, and of all else what is `PassedOn`.

        What runs have left behind is not: what the guard has seen or doubts, loops that are ready
        for the next run, and which choice was made first where several are as good.
        """
        other = ProgramCache()
        other.programs = self.programs
        kept = self._once.copy()
        other._once = {k: x.for_another() for k, x in kept.items() if isinstance(x, PassedOn)}
        return other
