"""Scaled terms with all their ranks decided: what solving and diagnosing start from.

    M_s = D M D,   A_s = E A D,   f_s = D f,   b_s = E b,   v̇ = D v̇_s,   λ = E λ_s

with the powers of two D, E of `equilibrate`, so that the scaled system is the given one exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from zwang.formulations.lazy import computed_once
from zwang.formulations.linear import transpose
from zwang.formulations.rank import (
    DEFAULT_TOLERANCES,
    MassSpectrum,
    RowGeometry,
    Tolerances,
    equilibrate,
    mass_spectrum,
    numerical_rank,
    svd,
)
from zwang.terms import EquationTerms, FloatArray

__all__ = ["Group", "ScaledSystem"]


@dataclass(frozen=True)
class Group:
    """The systems of a batch that share one rank of A.

    Attributes
    ----------
    index : positions in the batch, flattened; None when the group is the whole of it.
    terms : the scaled terms of the group.
    geometry : the subspaces of its scaled constraint matrices.
    """

    index: np.ndarray | None
    terms: EquationTerms
    geometry: RowGeometry


@dataclass(frozen=True)
class ScaledSystem:
    """Terms, their scaled form and their ranks; the batch is flat, or absent for one system.

    Attributes
    ----------
    terms : the terms as given.
    scaled : the scaled terms, with at most one batch axis.
    velocity_scale, row_scale : D (…, n) and E (…, m).
    constraint_ranks : rank of A, per system.
    mass : rank and extreme eigenvalues of M_s, per system.
    """

    terms: EquationTerms
    scaled: EquationTerms
    velocity_scale: FloatArray
    row_scale: FloatArray
    decomposition: tuple[FloatArray, FloatArray, FloatArray]
    constraint_ranks: np.ndarray
    mass: MassSpectrum
    tolerances: Tolerances

    @classmethod
    def of(cls, terms: EquationTerms, tolerances: Tolerances = DEFAULT_TOLERANCES) -> ScaledSystem:
        """Scale the terms and decide the ranks of A and M."""
        flat = _flat(terms)
        d, e = equilibrate(flat.mass_matrix, flat.constraint_matrix)
        columns = d[..., None, :]
        scaled = EquationTerms(
            flat.mass_matrix * columns * d[..., None],
            flat.applied_force * d,
            flat.constraint_matrix * (columns * e[..., None]),
            flat.constraint_rhs * e,
            flat.nonideal_force * d,
            terms.names,
            terms.coordinates,
            rhs_rounding=None if flat.rhs_rounding is None else flat.rhs_rounding * e,
        )
        m, n = scaled.constraint_matrix.shape[-2:]
        decomposition = svd(scaled.constraint_matrix, full=n <= 64 or 2 * m >= n)
        ranks = numerical_rank(decomposition[1], tolerances.rank)
        mass = mass_spectrum(scaled.mass_matrix, tolerances.definite)
        return cls(terms, scaled, d, e, decomposition, ranks, mass, tolerances)

    @computed_once
    def scale_range(self) -> tuple[float, float]:
        """The smallest and the largest velocity scale of the batch."""
        return float(self.velocity_scale.min()), float(self.velocity_scale.max())

    @computed_once
    def lowest_rank(self) -> int:
        """The smallest rank of A in the batch."""
        ranks = self.constraint_ranks
        return int(ranks.min() if ranks.ndim else ranks)

    @computed_once
    def highest_rank(self) -> int:
        """The largest rank of A in the batch."""
        ranks = self.constraint_ranks
        return int(ranks.max() if ranks.ndim else ranks)

    def groups(self) -> Iterator[Group]:
        """The batch in parts of equal rank; the usual single rank costs no copying."""
        rank = self.highest_rank
        if rank == self.lowest_rank:
            geometry = RowGeometry(self.scaled.constraint_matrix, rank, *self.decomposition)
            yield Group(None, self.scaled, geometry)
            return
        for rank in np.unique(self.constraint_ranks):
            index = np.flatnonzero(self.constraint_ranks == rank)
            part = self.scaled.system(index)  # type: ignore[arg-type]
            U, s, Vt = (array[index] for array in self.decomposition)
            yield Group(index, part, RowGeometry(part.constraint_matrix, int(rank), U, s, Vt))

    @computed_once
    def geometry(self) -> RowGeometry:
        """Subspaces of A_s, for a system or batch of one rank."""
        (group,) = self.groups()
        return group.geometry

    @computed_once
    def stacked_ranks(self) -> np.ndarray:
        """rank [M; A] = rank A + rank V₂ᵀMV₂, per system; it is n when M is positive definite."""
        n = self.terms.coordinate_count
        if self.positive_definite:
            return self.mass.rank
        ranks = np.full(np.shape(self.constraint_ranks), n)
        for group in self.groups():
            values, _ = self._reduced(group)
            found = group.geometry.rank + np.sum(values > self.tolerances.definite, axis=-1)
            if group.index is None:
                ranks = np.broadcast_to(found, ranks.shape)
            else:
                ranks[group.index] = found
        return ranks

    @staticmethod
    def _reduced(group: Group) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues and vectors of V₂ᵀ M_s V₂."""
        V2 = group.geometry.null_space
        reduced = transpose(V2) @ group.terms.mass_matrix @ V2
        if reduced.shape[-1] == 0:
            return np.zeros(reduced.shape[:-1]), reduced
        values, vectors = np.linalg.eigh(reduced)
        return values, vectors

    def undetermined(self) -> FloatArray:
        """Directions w with M w = 0 and A w = 0 in given coordinates, shape (n, k), one system."""
        (group,) = self.groups()
        values, vectors = self._reduced(group)
        loose = vectors[:, values <= self.tolerances.definite]
        return self.velocity_scale[:, None] * (group.geometry.null_space @ loose)

    @computed_once
    def positive_definite(self) -> bool:
        """Whether M has full rank in every system."""
        return self.mass.estimated or bool((self.mass.rank == self.terms.coordinate_count).all())

    @computed_once
    def unique(self) -> bool:
        """Whether rank [M; A] = n in every system."""
        if self.positive_definite:
            return True
        return bool((self.stacked_ranks == self.terms.coordinate_count).all())

    def system(self, index: int) -> ScaledSystem:
        """One system of a flat batch."""
        mass = MassSpectrum(
            self.mass.rank[index], self.mass.values[index], estimated=self.mass.estimated
        )
        U, s, Vt = (array[index] for array in self.decomposition)
        return replace(
            self,
            terms=_flat(self.terms).system(index),
            scaled=self.scaled.system(index),
            velocity_scale=self.velocity_scale[index],
            row_scale=self.row_scale[index],
            decomposition=(U, s, Vt),
            constraint_ranks=self.constraint_ranks[index],
            mass=mass,
        )


def _flat(terms: EquationTerms) -> EquationTerms:
    """At most one batch axis."""
    if len(terms.batch_shape) <= 1:
        return terms
    own = {
        "mass_matrix": 2,
        "applied_force": 1,
        "constraint_matrix": 2,
        "constraint_rhs": 1,
        "nonideal_force": 1,
    }
    if terms.rhs_rounding is not None:
        own["rhs_rounding"] = 1
    parts = {name: getattr(terms, name) for name in own}
    count = math.prod(terms.batch_shape)  # not −1: arrays without rows are empty
    return replace(
        terms,
        **{name: parts[name].reshape(count, *parts[name].shape[-k:]) for name, k in own.items()},
    )
