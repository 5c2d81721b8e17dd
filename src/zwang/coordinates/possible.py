"""Which coordinates a mechanism can be integrated in besides those of its bodies, found once.

`zwang.simulation.select_program` chooses among them.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np

from zwang.caching import PassedOn, Remembered
from zwang.coordinates.folded import KEPT, FoldedEquations
from zwang.coordinates.planar.equations import PlanarEquations
from zwang.coordinates.planar.plane import Plane, find_plane
from zwang.multibody.constants import ConstantPattern
from zwang.multibody.frozen import Parts
from zwang.programs.cache import ProgramCache
from zwang.terms import FloatArray

__all__ = ["PossibleCoordinates"]


class PossibleCoordinates(PassedOn):
    """The planes of a mechanism, and its equations with structure folded in.

    Parameters
    ----------
    parts : of the mechanism.

    Attributes
    ----------
    planes, reasons : by parameters, the planes that were met so far, or why there are none.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts, self.structure = parts, ConstantPattern(parts)
        self.planes: dict[bytes, list[Plane]] = {}
        self.reasons: dict[bytes, str] = {}
        self._found: Remembered[tuple[bytes, bytes], Plane | str] = Remembered(KEPT)
        self._planar: dict[Any, PlanarEquations] = {}
        self._folded: dict[Any, FoldedEquations] = {}
        self._by_parameters: Remembered[bytes, FoldedEquations] = Remembered(KEPT)

    @classmethod
    def of(cls, parts: Parts, cache: ProgramCache) -> PossibleCoordinates:
        """Kept with the equations of the mechanism."""
        return cache.once(cls, lambda: cls(parts))

    def for_another(self) -> Self:
        """The same equations, without the planes that runs have met first."""
        other = copy(self)
        other.planes, other.reasons = {}, {}
        return other

    def folded(self, p: FloatArray) -> FoldedEquations:
        """The mechanism in its own coordinates."""
        numbers = p.tobytes()
        known = self._by_parameters.get(numbers)
        if known is None:
            key = self.structure.pattern(p)
            if key not in self._folded:
                constants = self.structure.constants(p)
                self._folded[key] = FoldedEquations.of_parts(self.parts, constants)
            known = self._by_parameters[numbers] = self._folded[key]
        return known

    def in_plane(self, y: FloatArray, p: FloatArray) -> PlanarEquations | str:
        """The mechanism in its plane, or what speaks against one."""
        plane = self.plane(y, p)
        return plane if isinstance(plane, str) else self._of_plane(plane, p)

    def plane(self, y: FloatArray, p: FloatArray) -> Plane | str:
        """The plane that a state moves in, or what speaks against one; no equations are written."""
        nq, decisive = len(self.parts.coordinates), self.structure.decisive(p)
        q, v = y[:nq], y[nq:]
        for plane in self.planes.get(decisive, ()):
            if not plane.reason_against(q, v):
                return plane
        # Joints that hold no bodies to a plane at one state do so at none.
        if decisive in self.reasons:
            return self.reasons[decisive]
        found = self._plane_at(y, p)
        if isinstance(found, str):
            self.reasons[decisive] = found
        else:
            self.planes.setdefault(decisive, []).append(found)
        return found

    def _plane_at(self, y: FloatArray, p: FloatArray) -> Plane | str:
        """The plane at a state, or what speaks against one; by this state and nothing else."""
        key, nq = (y.tobytes(), p.tobytes()), len(self.parts.coordinates)
        known = self._found.get(key)
        if known is None:
            known = self._found[key] = find_plane(self.parts, y[:nq], y[nq:], p)
        return known

    def _of_plane(self, plane: Plane, p: FloatArray) -> PlanarEquations:
        key = (plane.key, self.structure.pattern(p))
        if key not in self._planar:
            self._planar[key] = PlanarEquations(plane, self.structure.constants(p))
        return self._planar[key]

    def all_in_plane(
        self, Y: FloatArray, P: FloatArray
    ) -> list[tuple[PlanarEquations, np.ndarray]] | None:
        """`in_plane` of many states (N, n) with parameters (N, np), each with its members.

        None if there is no plane, or if it takes a look at each of them.
        """
        decisive = self.structure.decisive(P[0])
        if not self.structure.all_decisive_alike(P):
            return None
        found = self.in_plane(Y[0], P[0])
        if isinstance(found, str):
            return None
        for plane in self.planes[decisive]:
            held = plane.holds(Y)
            if plane is found.plane:
                if not held.all():
                    return None
                break
            if held.any():  # some would take this one, which comes first
                return None
        groups = self.structure.alike(P)
        return [(self._of_plane(found.plane, P[group[0]]), group) for group in groups]
