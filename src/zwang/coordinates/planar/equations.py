"""Planar coordinates: the equations of a mechanism whose bodies are held to a plane."""

from __future__ import annotations

import numpy as np

from zwang.coordinates.folded import FoldedEquations
from zwang.coordinates.planar.plane import Plane
from zwang.multibody.constants import Pattern
from zwang.programs.coordinate_change import CoordinateChangeByExpression
from zwang.terms import FloatArray

__all__ = ["PlanarEquations"]


class PlanarEquations(FoldedEquations):
    """A mechanism in its plane, with its numbers that are structure folded in.

    Parameters
    ----------
    plane : that its bodies are held to.
    pattern : numbers that are structure.

    Attributes
    ----------
    plane : the plane.
    rows_of_mechanism : whether each row is one of the mechanism's, and not a combination.
    """

    def __init__(self, plane: Plane, pattern: Pattern) -> None:
        self.plane = plane
        found, q, v = plane.motion(pattern)
        super().__init__(plane.parts, found)
        s, nq = found.model.state, len(plane.parts.coordinates)

        def into(Y: FloatArray, t: float, P: FloatArray) -> tuple[FloatArray, FloatArray]:
            del t
            q, v, distances = plane.enter(Y[:, :nq], Y[:, nq:])
            return np.concatenate([q, v], axis=1), np.concatenate([P, distances], axis=1)

        symbols = (s.q, s.v, s.t, s.p)
        self.carrier = CoordinateChangeByExpression("planar", into, plane.scales, symbols, q, v)
        self.spins = plane.C[:, 2]
        self.rows_of_mechanism = not plane.askew
