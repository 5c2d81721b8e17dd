"""A mechanism in its plane, or in its own coordinates with numbers that are structure folded in."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from zwang.caching import Remembered, computed_once
from zwang.coordinates.constants import Pattern, sizes_of, with_equal_masses
from zwang.coordinates.planar.embedding import Embedded, as_it_is, has_massless_motion
from zwang.coordinates.planar.plane import Plane
from zwang.equations.active_pivots import rows_without_pivot
from zwang.equations.active_rows import ActiveRows, redundant_rows
from zwang.equations.expression import Equations
from zwang.integrators.settings import Settings
from zwang.multibody.frozen import Parts
from zwang.multibody.terms import body_slots
from zwang.programs.coordinate_change import CoordinateChangeByExpression
from zwang.programs.cost import COST
from zwang.programs.whole import WholeProgram, fuse
from zwang.simulation.select_program import expressions_of
from zwang.terms import FloatArray

__all__ = ["KEPT", "CarriedSystem"]

#: Sets of parameters for which what is found is remembered.
KEPT = 64


class CarriedSystem(Equations):
    """A mechanism with its numbers that are structure folded in, in its plane if it has one.

    Attributes
    ----------
    carrier : the way into other coordinates and back; None for those of the mechanism.
    rows : numbers, among the mechanism's, of its constraint rows.
    spins : the only axis, in body axes, that each body turns about, (bodies, 3); None if any.
    rows_of_mechanism : whether each row is one of the mechanism's, and not a combination.
    """

    parts: Parts
    carrier: CoordinateChangeByExpression | None
    rows: tuple[int, ...]
    spins: FloatArray | None
    rows_of_mechanism: bool = True

    @classmethod
    def of_terms(
        cls,
        parts: Parts,
        found: Embedded,
        carrier: CoordinateChangeByExpression | None = None,
        spins: FloatArray | None = None,
    ) -> CarriedSystem:
        """From the terms of a mechanism in some coordinates."""
        system = cls.__new__(cls)
        system.spins = spins
        system.parts, system.carrier = parts, carrier
        system.model, system.rows = found.model, found.rows
        system.definition = found.model.definition
        return system

    @classmethod
    def folded(cls, parts: Parts, pattern: Pattern) -> CarriedSystem:
        """A mechanism in its own coordinates."""
        return cls.of_terms(parts, as_it_is(parts, pattern))

    @classmethod
    def in_plane(cls, plane: Plane, pattern: Pattern) -> CarriedSystem:
        """A mechanism in its plane."""
        found, q, v = plane.motion(pattern)
        s = found.model.state

        nq = len(plane.parts.coordinates)

        def into(Y: FloatArray, t: float, P: FloatArray) -> tuple[FloatArray, FloatArray]:
            del t
            parts = [plane.enter(y[:nq], y[nq:]) for y in Y]
            distances = np.array([d for _, _, d in parts])
            rows = np.array([np.concatenate([q, v]) for q, v, _ in parts])
            return rows, np.concatenate([P, distances], axis=1)

        symbols = (s.q, s.v, s.t, s.p)
        carrier = CoordinateChangeByExpression("planar", into, plane.scales, symbols, q, v)
        system = cls.of_terms(plane.parts, found, carrier, plane.C[:, 2])
        system.rows_of_mechanism = not plane.askew
        return system

    @computed_once
    def placement(self) -> tuple[FloatArray, FloatArray]:
        """The q and v that the mechanism was described at, in the coordinates it is carried in."""
        if self.carrier is None:
            return self.parts.start
        return self.carrier.placed(*self.parts.start, self.parts.defaults)

    def parameter_sizes(self, p: FloatArray) -> FloatArray:
        """To which size each parameter is rounded; distances from the plane come last."""
        own = self.parts.defaults.size
        return np.concatenate([sizes_of(self.parts, p[:own]), np.abs(p[own:])])

    @property
    def rows_independent(self) -> bool:
        """Whether the mechanism's joints close no loop and nothing else constrains."""
        return self.parts.is_forest

    def program_at(
        self, y: FloatArray, t: float, p: FloatArray, settings: Settings, lanes: int
    ) -> WholeProgram:
        """The program for a state and parameters of the mechanism."""
        singular = self._singular_mass(p)
        acting = ActiveRows()
        if not self.rows_independent:
            if self.carrier is not None:
                y, p = self.carrier.entered(y, t, p)
            if len(self.velocities) < COST.pivot_velocities:
                acting = redundant_rows(self, y, t, p, settings.until - t)
            else:
                whole = self._program(ActiveRows(), singular=singular, lanes=1)
                placed = [i for i, level in enumerate(self.row_levels()) if level == "position"]
                alike, own = p.copy(), self.parts.defaults.size
                alike[:own] = with_equal_masses(self.parts, p[:own])
                found = rows_without_pivot(
                    whole, y[: whole.nq], t, alike, lambda q: self._rows(q, t, p)[placed]
                )
                acting = ActiveRows(tuple(placed[i] for i in found.gone), found.distinct)
        return self._program(acting, singular=singular, lanes=lanes)

    def _rows(self, q: FloatArray, t: float, p: FloatArray) -> FloatArray:
        """A at rest."""
        rest = np.zeros(len(self.velocities))
        (A,) = self.evaluator("rows", lambda m: {"A": m.A}, q, rest, np.asarray(t), p)
        return A.reshape(-1, len(rest))

    def program_with(self, acting: ActiveRows, p: FloatArray, lanes: int) -> WholeProgram:
        """The program in which some rows act, for parameters of the mechanism."""
        return self._program(acting, singular=self._singular_mass(p), lanes=lanes)

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

    def _program(self, acting: ActiveRows, *, singular: bool, lanes: int) -> WholeProgram:
        programs: dict[Any, WholeProgram] = self.__dict__.setdefault("_programs", {})
        key = (acting, singular, lanes)
        if key not in programs:
            e = expressions_of(self, acting, singular=singular)
            programs[key] = fuse(e, lanes=lanes, left_out=acting.gone, carrier=self.carrier)
        return programs[key]
