"""Guard of a simulation: which entries of a state are of one kind, and how large these are.

Places, Euler parameters, velocities, spins: where lengths are 1e8 m, moments of inertia are 1e16
times the masses, and none of both is small for that. For systems of functions kinds are not known,
and all coordinates count as one, and so do all velocities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations

__all__ = [
    "Kinds",
    "StateKinds",
    "displacement_sizes",
    "largest_of_kind",
    "length_of",
    "moment_rounding",
    "row_sizes",
]

#: Places of entries of the same kind, for each of the kinds.
Kinds = tuple[np.ndarray, ...]


class StateKinds:
    """The kinds of coordinates and of velocities.

    Attributes
    ----------
    coordinates : places, angles and further coordinates; those of unit length together.
    velocities : those of places, of rotations and of further coordinates.
    unit, turns : which coordinates are of unit length together, and which velocities are of
        rotations.
    owners : number of the body of each velocity; of functions all are of one.
    """

    def __init__(self, equations: Equations) -> None:
        counts = len(equations.coordinates), len(equations.velocities)
        units, speeds = (np.zeros(count, dtype=int) for count in counts)
        self.owners = np.zeros(counts[1], dtype=int)
        if equations.mechanism is not None:
            bodies = [body.kind for body in equations.mechanism.bodies]
            units[:] = [i in kind.unit for kind in bodies for i in range(kind.nq)]
            of_name = {"omega": 1, "rate": 2}
            self.owners[:] = [k for k, kind in enumerate(bodies) for _ in range(kind.nv)]
            speeds[:] = [of_name.get(name.rstrip("123"), 0) for kind in bodies for name in kind.v]
        self.coordinates, self.velocities = _groups(units), _groups(speeds)
        self.unit, self.turns = units.astype(bool), speeds == 1

    @classmethod
    def of(cls, equations: Equations) -> StateKinds:
        """Those of some equations, kept with them."""
        return equations.cache.once(cls, lambda: cls(equations))


def _groups(kinds: np.ndarray) -> Kinds:
    return tuple(np.flatnonzero(kinds == kind) for kind in np.unique(kinds))


def largest_of_kind(sizes: FloatArray, kinds: Kinds) -> FloatArray:
    """For each of some sizes (…, n) the largest of its kind; of all, or one, where that is zero."""
    whole = sizes.max(axis=-1, initial=0.0, keepdims=True)
    largest = np.array(np.broadcast_to(np.where(whole > 0.0, whole, 1.0), sizes.shape))
    for own in kinds if len(kinds) > 1 else ():
        most = sizes[..., own].max(axis=-1, keepdims=True)
        largest[..., own] = np.where(most > 0.0, most, largest[..., own])
    return largest


def moment_rounding(equations: Equations, q: FloatArray, pulls: FloatArray) -> FloatArray:
    """Moments, in roundings, that forces on bodies have by arms that are rounded as places are.

    Parameters
    ----------
    pulls : sizes of all that pulls along the velocities, shape (nv,).
    """
    kinds = StateKinds.of(equations)
    forces = np.bincount(kinds.owners, weights=np.where(kinds.turns, 0.0, pulls))
    return np.where(kinds.turns, length_of(equations, q) * forces[kinds.owners], 0.0)


def length_of(equations: Equations, q: FloatArray) -> float:
    """The largest coordinate of a configuration but for those of unit length; one if it is zero."""
    own = q[~StateKinds.of(equations).unit]
    return float(np.abs(own).max(initial=0.0)) or 1.0


def displacement_sizes(equations: Equations, q: FloatArray) -> FloatArray:
    """Displacements by each velocity that are as large as a configuration: one of rotations."""
    return np.where(StateKinds.of(equations).turns, 1.0, length_of(equations, q))


def row_sizes(equations: Equations, A: FloatArray, q: FloatArray) -> FloatArray:
    """What rows of A sum at a configuration: |A| times the largest coordinate of its kind.

    A rotation counts as one; so rows of a mechanism of micrometers are as small as it is. One for a
    row in which nothing is.
    """
    turns = StateKinds.of(equations).turns
    places = np.abs(A[:, ~turns]).max(axis=1, initial=0.0) * length_of(equations, q)
    sizes = np.maximum(places, np.abs(A[:, turns]).max(axis=1, initial=0.0))
    return np.where(sizes > 0.0, sizes, 1.0)
