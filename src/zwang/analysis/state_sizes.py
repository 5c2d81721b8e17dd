"""Analysis of servo constraints: how large coordinates and velocities of a system are.

What counts as a small correction, or as a small error, must not depend on units. Places in a
mechanism are compared with its extent, and rotations with a radian. Of functions it is not known
what their coordinates are; there each is as large as the largest in kinetic energy, but no larger
than the largest as a number, so that neither a light part nor a small unit makes errors of others
large, and no larger than one, as it may be an angle beside long ways.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zwang.analysis.quantities import parts_of
from zwang.assembly.large_moves import extent
from zwang.multibody.pose import SCALAR
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["StateSizes"]

#: Numbers that may be what rounding left of zero tell no size.
ROUNDING = 1e-13


class StateSizes(NamedTuple):
    """Sizes of coordinates and of displacements.

    Attributes
    ----------
    q : of coordinates, shape (nq,).
    w : of displacements w, by which q changes by N w, shape (nv,).
    turning : which coordinates are, or may be, those of rotations, shape (nq,).
    """

    q: FloatArray
    w: FloatArray
    turning: np.ndarray

    @classmethod
    def of(
        cls, system: System, q: FloatArray, N: FloatArray, M: FloatArray, w: FloatArray
    ) -> StateSizes:
        """Those of a system at q that is to be displaced by w.

        Parameters
        ----------
        N, M : of q̇ = N v and of the kinetic energy ½ vᵀM v, at q.
        """
        moved = np.abs(N @ w)
        parts = parts_of(system)
        if parts is None:
            of_q = _of_functions(np.maximum(np.abs(q), moved), N, M)
            of_w = _of_displacements(of_q, N)
            return cls(of_q, of_w, np.ones(len(q), dtype=bool))
        starts = parts.places[0]
        scalar = [starts[body.index] for body in parts.bodies if body.kind is SCALAR]
        places = [
            starts[body.index] + i
            for body in parts.bodies
            if body.kind is not SCALAR
            for i in range(body.kind.nq)
            if i not in body.kind.unit
        ]
        length = float(np.linalg.norm(extent(parts, q)))
        length = length or float(moved[places].max(initial=0.0)) or 1.0
        other = _told(np.maximum(np.abs(q), moved)[scalar])
        of_q, of_w, turning = [], [], []
        for body in parts.bodies:
            kind, free = body.kind, body.kind is SCALAR
            turns = {6: 3, 3: 1}.get(kind.nv, 0)
            own = other if free else length
            of_q += [1.0 if i in kind.unit else own for i in range(kind.nq)]
            of_w += [own] * (kind.nv - turns) + [1.0] * turns
            turning += [free or i in kind.unit for i in range(kind.nq)]
        return cls(np.array(of_q), np.array(of_w), np.array(turning, dtype=bool))


def _told(sizes: FloatArray) -> float:
    """The largest, at most one; one where they are rounding."""
    largest = float(sizes.max(initial=0.0))
    return min(largest, 1.0) if largest > ROUNDING else 1.0


def _of_functions(sizes: FloatArray, N: FloatArray, M: FloatArray) -> FloatArray:
    """Those of coordinates that functions are of, by their values and changes."""
    whole = _told(sizes)
    result = np.full(len(sizes), whole)
    if N.shape[0] != N.shape[1] or not np.array_equal(N, np.eye(len(N))):
        return result
    root = np.sqrt(np.abs(M.diagonal()))
    energy = float((root * sizes).max(initial=0.0))
    if not energy > 0.0 or float(sizes.max(initial=0.0)) < ROUNDING:
        return result
    massive = root > 0.0
    result[massive] = np.minimum(whole, energy / root[massive])
    return result


def _of_displacements(of_q: FloatArray, N: FloatArray) -> FloatArray:
    """Displacements by each velocity that are as large as the first coordinate that they change."""
    sizes = np.abs(N) / of_q[:, None]
    most = sizes.max(axis=0, initial=0.0)
    return 1.0 / np.where(most > 0.0, most, 1.0)
