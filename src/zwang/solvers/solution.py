"""What `zwang.solve` returns: acceleration, constraint forces, multipliers, ranks and notes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from zwang.caching import computed_once
from zwang.display import Displayed, html_table, preformatted, without_rounding
from zwang.linalg.products import matvec, transpose
from zwang.linalg.scaling import ScaledTerms
from zwang.terms import EquationTerms, FloatArray

__all__ = ["Ranks", "Solution"]

#: Coordinates of a system whose numbers are written out.
WRITTEN_OUT = 20
#: Share of the largest that rounding leaves of a zero, in what is shown.
ROUNDED = 1e-15


@dataclass(frozen=True)
class Ranks:
    """Ranks that decide what can be known, per system of the batch.

    Attributes
    ----------
    constraint : rank of A; the degrees of freedom are n minus this.
    mass : rank of M.
    stacked : rank of [M; A]; the acceleration is unique when it is n.
    """

    constraint: int | np.ndarray
    mass: int | np.ndarray
    stacked: int | np.ndarray


@dataclass(frozen=True, repr=False)
class Solution(Displayed):
    """Acceleration, constraint force and multipliers of one system or a batch.

    Attributes
    ----------
    terms : the terms that were solved.
    acceleration : v̇, shape (…, n).
    constraint_force : Q_c = M v̇ − Q = Aᵀλ + C, shape (…, n).
    multipliers : λ, shape (…, m); of all that give this force, those of least norm.
    ranks : ranks of A, M and [M; A].
    formulation, reason : the formulation used, and why.
    corrections : relative size of the refinement steps; the first is the error that the
        formulation had by itself, the last a bound on what is left.
    family : shape (n, k), only where accelerations are not unique and ``family=True``: every
        ``acceleration + family @ c`` is one.
    notes : sentences on anything altered, redundant or doubtful.
    """

    terms: EquationTerms
    acceleration: FloatArray
    constraint_force: FloatArray
    multipliers: FloatArray
    ranks: Ranks
    formulation: str
    reason: str
    corrections: tuple[float, ...]
    family: FloatArray
    notes: tuple[str, ...] = ()
    scaled: ScaledTerms | None = field(default=None, repr=False, compare=False)

    @property
    def degrees_of_freedom(self) -> int | np.ndarray:
        """n − rank A."""
        return self.terms.coordinate_count - self.ranks.constraint

    @property
    def redundancy(self) -> int | np.ndarray:
        """m − rank A: how many constraint rows are redundant."""
        return self.terms.constraint_count - self.ranks.constraint

    @computed_once
    def free_acceleration(self) -> FloatArray | None:
        """a with M a = Q, the motion without constraints; None where M is singular."""
        if np.any(self.ranks.mass != self.terms.coordinate_count):
            return None
        M, Q = self.terms.mass_matrix, self.terms.applied_force
        return np.linalg.solve(M, Q[..., None])[..., 0]

    @property
    def constraint_residual(self) -> FloatArray:
        """b − A v̇, shape (…, m)."""
        return self.terms.constraint_rhs - matvec(self.terms.constraint_matrix, self.acceleration)

    @computed_once
    def condition(self) -> float | FloatArray | None:
        """κ: how much a relative change of the scaled terms can change the answer, per system.

        The ratio of the largest to the smallest nonzero eigenvalue of [[M, Aᵀ], [A, 0]] after
        scaling. None for sparse systems, where it would cost more than the solution.
        """
        if self.scaled is None:
            return None
        terms = self.scaled.scaled
        M, A = terms.mass_matrix, terms.constraint_matrix
        zero = np.zeros((*A.shape[:-1], A.shape[-2]))
        saddle = np.concatenate(
            [np.concatenate([M, transpose(A)], -1), np.concatenate([A, zero], -1)], -2
        )
        values = np.sort(np.abs(np.linalg.eigvalsh(saddle)), axis=-1)
        dropped = (
            self.scaled.constraint_ranks
            - terms.constraint_count
            + (terms.coordinate_count - self.scaled.stacked_ranks)
        )
        first = np.asarray(-dropped)[..., None]
        kappa = values[..., -1] / np.take_along_axis(values, first, axis=-1)[..., 0]
        return kappa.reshape(self.terms.batch_shape) if kappa.ndim else float(kappa)

    def __str__(self) -> str:
        n, m = self.terms.coordinate_count, self.terms.constraint_count
        batch = self.terms.batch_shape
        head = f"{n} coordinates, {m} constraint rows"
        if batch:
            head = f"batch {batch}: {head}"
        else:
            free = self.degrees_of_freedom
            head += f" of rank {self.ranks.constraint}, {free} degree{'s' * (free != 1)} of freedom"
        lines = [head, f"solved by {self.formulation}: {self.reason}"]
        if not batch and n <= WRITTEN_OUT:
            lines.append(f"{'coordinate':>14} {'acceleration':>16} {'constraint force':>17}")
            lines += [
                f"{self.terms.coordinate(j):>14} {a:16.8g} {force:17.8g}"
                for j, (a, force) in enumerate(self._shown())
            ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _shown(self) -> Iterator[tuple[float, float]]:
        """Accelerations with constraint forces; what is rounding against the largest is 0."""
        pair = self.acceleration, self.constraint_force
        sizes = [float(np.abs(x).max(initial=0.0)) for x in pair]
        for values in zip(*pair, strict=True):
            a, force = (
                without_rounding(x, size, ROUNDED) for x, size in zip(values, sizes, strict=True)
            )
            yield a, force

    def _repr_html_(self) -> str:
        n = self.terms.coordinate_count
        if self.terms.batch_shape or n > WRITTEN_OUT:
            return preformatted(str(self))
        head, solved, *_ = str(self).splitlines()
        rows = (
            [self.terms.coordinate(j), f"{a:.8g}", f"{force:.8g}"]
            for j, (a, force) in enumerate(self._shown())
        )
        table = html_table(["coordinate", "acceleration", "constraint force"], rows, caption=head)
        said = "\n".join([solved, *(f"note: {x}" for x in self.notes)])
        return table + preformatted(said, wrapped=True)
