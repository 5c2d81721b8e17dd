"""Simulation of mechanisms with joints given twice, by the programs of each joint once.

A joint that has the law, the bodies and the numbers of another one, to the bit, has the same rows
in every configuration, on the constraints and off them. That is known without any rank and need not
be looked at again: a tree whose joints are given twice is a tree. Reactions belong to no program;
they are those of all joints, shared by the copies.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from zwang.caching import PassedOn
from zwang.equations.mechanism import MechanismEquations, MechanismExpression
from zwang.programs.cost import COST
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations
    from zwang.multibody.frozen import Parts
    from zwang.programs.contract import Program

__all__ = ["JointsOnce", "RepeatedJoints"]


class JointsOnce(PassedOn):
    """A mechanism with some of its joints left out, which others repeat.

    Parameters
    ----------
    equations : of the whole mechanism.
    names : of the joints that are left out.

    Attributes
    ----------
    equations : of the mechanism without them, with the same coordinates and parameters.
    kept : numbers, among all rows of the mechanism, of those that are left.
    """

    def __init__(self, equations: MechanismEquations, names: frozenset[str]) -> None:
        parts, kind = equations.parts.without(names), type(equations)
        if parts.unknowns < COST.element_unknowns:
            kind = MechanismExpression
        self.equations = kind(parts)
        self.kept, self._repeated = _rows(equations.parts, names)
        self._numbered: dict[int, tuple[Program, Program]] = {}

    def for_another(self) -> Self:
        """The same, with equations that know of no run."""
        other = copy(self)
        other.equations = self.equations.for_another()
        return other

    def numbered(self, program: Any) -> Program:
        """A program of the mechanism without the joints, as one of the whole mechanism."""
        if id(program) not in self._numbered:
            left_out = tuple(self.kept[i] for i in program.left_out)
            fulfilled = tuple(self.kept[i] for i in program.fulfilled)
            whole = replace(
                program, left_out=left_out, repeated=self._repeated, fulfilled=fulfilled
            )
            self._numbered[id(program)] = program, whole
        return self._numbered[id(program)][1]


def _rows(parts: Parts, names: frozenset[str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Numbers of the rows of other joints, and of those of some joints."""
    rows: tuple[list[int], list[int]] = [], []
    for element, first, end in zip(
        parts.constraints, parts.row_starts[:-1], parts.row_starts[1:], strict=True
    ):
        rows[parts.owner(element.name) in names].extend(range(first, end))
    return tuple(rows[0]), tuple(rows[1])


class RepeatedJoints(PassedOn):
    """Which joints of a mechanism repeat others, for parameters; kept with its equations.

    Attributes
    ----------
    once : names of joints that were left out → the mechanism without them.
    """

    def __init__(self, equations: MechanismEquations) -> None:
        self._equations, self._pairs = equations, _pairs(equations.parts)
        self.once: dict[frozenset[str], JointsOnce] = {}
        sizes = [len(places) for _, places, _ in self._pairs]
        self._starts = np.cumsum([0, *sizes[:-1]])
        self._earlier, self._later = (
            np.concatenate([np.zeros(0, dtype=int), *(pair[k] for pair in self._pairs)])
            for k in (1, 2)
        )

    def for_another(self) -> Self:
        """The same, with equations that know of no run."""
        other = copy(self)
        other.once = {names: joints.for_another() for names, joints in self.once.items()}
        return other

    @classmethod
    def of(cls, equations: Equations) -> RepeatedJoints | None:
        """Those of some equations; None where no joint has the law and the bodies of another."""
        bodies = equations.of_bodies
        if bodies is None:
            return None
        found = equations.cache.once(cls, lambda: cls(bodies))
        return found if found.possible else None

    @property
    def possible(self) -> bool:
        """Whether some joint has the law and the bodies of another."""
        return bool(self._pairs)

    def differ(self, P: FloatArray) -> bool:
        """Whether other joints repeat others for some of many parameters (N, np)."""
        alike = self._alike(P)
        return not bool(np.all(alike == alike[0]))

    def left_out(self, p: FloatArray) -> JointsOnce | None:
        """The mechanism without the joints that repeat others; None if none does."""
        places = np.flatnonzero(self._alike(p[None])[0])
        names = frozenset(self._pairs[k][0] for k in places)
        if not names:
            return None
        if names not in self.once:
            self.once[names] = JointsOnce(self._equations, names)
        return self.once[names]

    def _alike(self, P: FloatArray) -> np.ndarray:
        """Whether the numbers of each pair are the same, for parameters (N, np), (N, pairs)."""
        same = P[:, self._earlier] == P[:, self._later]
        return np.logical_and.reduceat(same, self._starts, axis=1)


def _pairs(parts: Parts) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Joints that differ in their numbers at most from an earlier one.

    Each with the places among p of the numbers of the earlier one, and of its own.
    """
    joints: dict[str, list[Any]] = {}
    for element in parts.constraints:
        joints.setdefault(parts.owner(element.name), []).append(element)
    pairs, groups = [], {}
    for name, elements in joints.items():
        slots = [parts.slots[f"{e.name}.{number}"] for e in elements for number in e.numbers]
        places = np.array([i for slot in slots for i in range(*slot)], dtype=int)
        if not len(places):
            continue
        earlier = groups.setdefault(tuple((e.law.key, e.bodies) for e in elements), [])
        pairs += [(name, other, places) for other in earlier]
        earlier.append(places)
    return pairs
