"""Linear algebra of equation terms: scaled by powers of two, with all ranks decided.

    M_s = D M D,   A_s = E A D,   f_s = D f,   b_s = E b,   v̇ = D v̇_s,   λ = E λ_s

with the powers of two D, E of `equilibrate`, so that the scaled system is the given one exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from zwang.caching import computed_once
from zwang.linalg.products import transpose
from zwang.linalg.rank import (
    DEFAULT_TOLERANCES,
    DEPENDENT,
    MassSpectrum,
    RowGeometry,
    Tolerances,
    equilibrate,
    inverse_power_of_two,
    mass_spectrum,
    numerical_rank,
    svd,
)
from zwang.terms import DOUBLE, EquationTerms, FloatArray

__all__ = ["RankGroup", "ScaledTerms"]

#: Roots of masses that differ by less than this leave rows of A as independent as they are.
SIMILAR_SCALES = 2.0**10


@dataclass(frozen=True)
class RankGroup:
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
class ScaledTerms:
    """Terms, their scaled form and their ranks; the batch is flat, or absent for one system.

    Attributes
    ----------
    terms : the terms as given.
    scaled : the scaled terms, with at most one batch axis.
    velocity_scale, row_scale : D (…, n) and E (…, m).
    constraint_ranks : rank of A, per system.
    mass : rank and extreme eigenvalues of M_s, per system.
    tolerances : the thresholds, those of ranks at least what rounding of the numbers makes of zero.
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
    def of(cls, terms: EquationTerms, tolerances: Tolerances = DEFAULT_TOLERANCES) -> ScaledTerms:
        """Scale the terms and decide the ranks of A and M."""
        flat = _flat(terms)
        if terms.precision != DOUBLE:
            tolerances = _at_precision(terms, tolerances)
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
            precision=terms.precision,
            at_state=terms.at_state,
        )
        m, n = scaled.constraint_matrix.shape[-2:]
        decomposition = svd(scaled.constraint_matrix, full=n <= 64 or 2 * m >= n)
        ranks = numerical_rank(decomposition[1], tolerances.rank)
        mass = mass_spectrum(scaled.mass_matrix, tolerances.definite)
        return cls(terms, scaled, d, e, decomposition, ranks, mass, tolerances)

    @classmethod
    def decided(
        cls, terms: EquationTerms, tolerances: Tolerances = DEFAULT_TOLERANCES
    ) -> ScaledTerms:
        """`of`, where a direction without mass or constraint has no more of it than rounding."""
        system = cls.of(terms, tolerances)
        if terms.at_state or system.unique:
            return system
        rounding = DEPENDENT * math.sqrt(terms.coordinate_count) * terms.precision.mass
        finer = cls.of(terms, replace(tolerances, definite=min(tolerances.definite, rounding)))
        return finer if finer.unique else finer.with_ranks(finer.highest_ranks)

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

    @computed_once
    def highest_ranks(self) -> np.ndarray:
        """The ranks of A if all that exceeds rounding of its numbers counted, per system.

        Rows computed at a state are not known better than the rank tolerance.
        """
        m = self.terms.constraint_count
        if self.terms.at_state or not m:
            return self.constraint_ranks
        rounding = DEPENDENT * math.sqrt(m) * self.terms.precision.rows
        ranks = numerical_rank(self.decomposition[1], min(rounding, self.tolerances.rank))
        return np.maximum(ranks, self.constraint_ranks)

    def with_ranks(self, ranks: np.ndarray) -> ScaledTerms:
        """The same with other ranks of A."""
        return replace(self, constraint_ranks=ranks)

    @computed_once
    def hidden_ranks(self) -> np.ndarray:
        """How many rows of A are independent, but not beside such masses, per system.

        Velocities are scaled by masses; where these differ by very much, a light coordinate
        swallows the rows it stands in. By rows and columns of A alone they are distinguished.
        """
        low, high = self.scale_range
        lowest = self.lowest_rank
        if high < SIMILAR_SCALES * low or lowest == min(self.scaled.constraint_matrix.shape[-2:]):
            return np.zeros_like(self.constraint_ranks)
        A = np.abs(self.scaled.constraint_matrix)
        d, e = np.ones((*A.shape[:-2], A.shape[-1])), np.ones(A.shape[:-1])
        for _ in range(8):
            e = _inverse(np.max(A * d[..., None, :], axis=-1, initial=0.0))
            d = _inverse(np.max(A * e[..., None], axis=-2, initial=0.0))
        alone = self.scaled.constraint_matrix * (d[..., None, :] * e[..., None])
        return np.maximum(
            numerical_rank(svd(alone)[1], self.tolerances.rank) - self.constraint_ranks, 0
        )

    def row_conditions(self) -> np.ndarray:
        """The condition number of A on its range, per system; 1 without constraints."""
        s, last = self.decomposition[1], np.asarray(self.constraint_ranks) - 1
        if not s.shape[-1]:
            return np.ones(last.shape)
        smallest = np.take_along_axis(s, np.maximum(last, 0)[..., None], axis=-1)[..., 0]
        return np.divide(s[..., 0], smallest, out=np.ones(last.shape), where=last >= 0)

    def mass_conditions(self) -> np.ndarray:
        """The condition number of M, or of M on N(A) where it is singular, per system.

        One where Cholesky pivots have shown that it is small.
        """
        ones = np.ones(np.shape(self.constraint_ranks))
        if self.mass.estimated:
            return ones
        if self.positive_definite:
            return self.mass.largest / self.mass.smallest
        for group in self.groups():
            values, _ = self._reduced(group)
            least = np.where(values > self.tolerances.definite, values, np.inf).min(
                axis=-1, initial=np.inf
            )
            where = ... if group.index is None else group.index
            ones[where] = np.maximum(np.maximum(self.mass.largest[where], 1.0) / least, 1.0)
        return ones

    def groups(self) -> Iterator[RankGroup]:
        """The batch in parts of equal rank; the usual single rank costs no copying."""
        rank = self.highest_rank
        if rank == self.lowest_rank:
            geometry = RowGeometry(self.scaled.constraint_matrix, rank, *self.decomposition)
            yield RankGroup(None, self.scaled, geometry)
            return
        for rank in np.unique(self.constraint_ranks):
            index = np.flatnonzero(self.constraint_ranks == rank)
            part = self.scaled.system(index)
            U, s, Vt = (array[index] for array in self.decomposition)
            yield RankGroup(index, part, RowGeometry(part.constraint_matrix, int(rank), U, s, Vt))

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
    def _reduced(group: RankGroup) -> tuple[FloatArray, FloatArray]:
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
        undetermined = vectors[:, values <= self.tolerances.definite]
        return self.velocity_scale[:, None] * (group.geometry.null_space @ undetermined)

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

    def system(self, index: int) -> ScaledTerms:
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


def _at_precision(terms: EquationTerms, tolerances: Tolerances) -> Tolerances:
    """Thresholds of ranks that are not below what rounding of coarser numbers makes of zero."""
    n, m = terms.coordinate_count, terms.constraint_count
    return replace(
        tolerances,
        rank=min(max(tolerances.rank, DEPENDENT * math.sqrt(m) * terms.precision.rows), 0.5),
        definite=min(
            max(tolerances.definite, DEPENDENT * math.sqrt(n) * terms.precision.mass), 0.5
        ),
    )


def _inverse(x: FloatArray) -> FloatArray:
    """1/x as a power of two, and 1 for zero."""
    return np.where(x > 0.0, inverse_power_of_two(x), 1.0)


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
