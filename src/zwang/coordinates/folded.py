"""Coordinates of the bodies to integrate in: one expression with structural constants folded in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from zwang.caching import Remembered, computed_once
from zwang.coordinates.embedding import Embedded, as_it_is, has_massless_motion
from zwang.equations.active_pivots import rows_without_pivot
from zwang.equations.active_rows import ActiveRows
from zwang.equations.expression import ExpressionEquations
from zwang.equations.program_expressions import expressions_of
from zwang.multibody.constants import Pattern, sizes_of, with_equal_masses
from zwang.multibody.frozen import Parts
from zwang.multibody.terms import body_slots
from zwang.programs.cache import WholeKey
from zwang.programs.coordinate_change import CoordinateChangeByExpression
from zwang.programs.whole import WholeProgram, fuse
from zwang.terms import FloatArray

__all__ = ["KEPT", "FoldedEquations"]

#: Sets of parameters for which what is found is remembered.
KEPT = 64


class FoldedEquations(ExpressionEquations):
    """A mechanism with its numbers that are structure folded in, in the coordinates of its bodies.

    Parameters
    ----------
    parts : of the mechanism.
    found : its terms.

    Attributes
    ----------
    rows : numbers, among the mechanism's, of its constraint rows.
    spins : the only axis, in body axes, that each body turns about, (bodies, 3); None if any.
    carrier : the way into other coordinates and back; None for those of the mechanism.
    """

    spins: FloatArray | None = None
    carrier: CoordinateChangeByExpression | None = None

    def __init__(self, parts: Parts, found: Embedded) -> None:
        super().__init__(found.model.definition, lambda: found.model)
        self.parts, self.rows = parts, found.rows

    @classmethod
    def of_parts(cls, parts: Parts, pattern: Pattern) -> FoldedEquations:
        """A mechanism in its own coordinates."""
        return cls(parts, as_it_is(parts, pattern))

    @computed_once
    def placement(self) -> tuple[FloatArray, FloatArray]:
        """The q and v that the mechanism was described at, in these coordinates."""
        if self.carrier is None:
            return self.parts.start
        return self.carrier.placed(*self.parts.start, self.parts.defaults)

    def parameter_sizes(self, p: FloatArray) -> FloatArray:
        """To which size each parameter is rounded; those of the coordinates come last."""
        own = self.parts.defaults.size
        return np.concatenate([sizes_of(self.parts, p[:own]), np.abs(p[own:])])

    @property
    def body_starts(self) -> Sequence[int]:
        """Where the velocities of each body begin, and the end; empty where bodies differ in it."""
        count, bodies = len(self.velocities), len(self.parts.bodies)
        if self.carrier is None:
            return self.parts.places[1]
        each = count // max(bodies, 1)
        return range(0, count + 1, each) if each and each * bodies == count else ()

    @property
    def rows_independent(self) -> bool:
        """Whether the mechanism's joints close no loop and nothing else constrains."""
        return self.parts.is_forest

    def entered(self, y: FloatArray, t: float, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """State and parameters of the mechanism in these coordinates."""
        return (y, p) if self.carrier is None else self.carrier.entered(y, t, p)

    def rows_by_pivots(self, y: FloatArray, t: float, p: FloatArray) -> ActiveRows:
        """Rows that act, by the pivots of all of them; `y` and `p` in these coordinates."""
        own = self.parts.defaults.size
        whole = self.program(ActiveRows(), p[:own], lanes=1)
        placed = [i for i, level in enumerate(self.row_levels()) if level == "position"]
        alike = p.copy()
        alike[:own] = with_equal_masses(self.parts, p[:own])
        found = rows_without_pivot(
            whole, y[: whole.nq], t, alike, lambda q: self._rows(q, t, p)[placed]
        )
        return ActiveRows(tuple(placed[i] for i in found.inactive), found.distinct)

    def _rows(self, q: FloatArray, t: float, p: FloatArray) -> FloatArray:
        """A at rest."""
        rest = np.zeros(len(self.velocities))
        (A,) = self.evaluator("rows", lambda m: {"A": m.A}, q, rest, np.asarray(t), p)
        return A.reshape(-1, len(rest))

    def program(self, rows: ActiveRows, p: FloatArray, lanes: int) -> WholeProgram:
        """The program in which some rows act, for parameters of the mechanism."""
        return self.program_of(rows, lanes, singular=self._singular_mass(p))

    def program_of(self, rows: ActiveRows, lanes: int, *, singular: bool) -> WholeProgram:
        """The program in which some rows act, where M is singular or not."""

        def made() -> WholeProgram:
            e = expressions_of(self, rows, singular=singular)
            return fuse(e, lanes=lanes, left_out=rows.inactive, carrier=self.carrier)

        return self.cache.program(WholeKey(rows, singular, lanes), made)

    def singular_masses(self, P: FloatArray) -> np.ndarray:
        """Whether M is singular for each of many parameters (N, np)."""
        inertias = P[:, self._inertias]
        if np.all(inertias == inertias[0]):
            return np.full(len(P), self._singular_mass(P[0]))
        return np.array([self._singular_mass(p) for p in P])

    def key(self, rows: ActiveRows, p: FloatArray, lanes: int) -> WholeKey:
        """What decides about the program in which some rows act."""
        return WholeKey(rows, self._singular_mass(p), lanes)

    def _singular_mass(self, p: FloatArray) -> bool:
        """Whether some body, or some motion of it, has no inertia; M is block diagonal."""
        key = p[self._inertias].tobytes()
        found = self._singular_masses.get(key)
        if found is None:
            found = has_massless_motion(self.parts, p, self.spins)
            self._singular_masses[key] = found
        return found

    @cached_property
    def _singular_masses(self) -> Remembered[bytes, bool]:
        return Remembered(KEPT)

    @cached_property
    def _inertias(self) -> np.ndarray:
        """Where masses and inertias are in p."""
        slots = self.parts.slots
        places = [range(*body_slots(slots, body.name)) for body in self.parts.bodies]
        return np.array([i for place in places for i in place], dtype=int)
