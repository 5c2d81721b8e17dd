"""The contract of a formulation: from M, Q, A, b and C to accelerations and constraint forces.

A formulation turns terms into motion. To add one, subclass `Formulation` and keep these promises:

1.  It is built from `EquationTerms` and a `RowGeometry` of the same constraint matrix (which it
    computes when none is given); the batch shares one rank of A.
2.  `name` is the word users write in ``zwang.solve(…, formulation=name)``.
3.  `obstacle(facts)` returns None when the formulation applies to a system with these facts, else
    a sentence with the reason. It decides from ranks alone, before any work is done.
4.  `respond(force, rhs)` returns (acceleration, multipliers) of the same M and A under the total
    force Q + C and the right side b. It is linear in (force, rhs): iterative refinement and the
    error estimate rely on it. The multipliers may be any λ with M v̇ = force + Aᵀ λ.
5.  `acceleration`, `constraint_force` and `multipliers` are the paper's own formulas, unrefined.
6.  It imports no other formulation. What they share lives in `zwang.linalg`.
7.  The module opens with a table: author's symbol, ours, equation number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zwang.caching import computed_once
from zwang.errors import NotApplicableError, NotUniqueError
from zwang.linalg.products import matvec, transpose, transpose_matvec
from zwang.linalg.rank import DEFAULT_TOLERANCES, RowGeometry
from zwang.terms import EquationTerms, FloatArray

__all__ = ["Facts", "Formulation"]


@dataclass(frozen=True)
class Facts:
    """What decides whether a formulation applies.

    Attributes
    ----------
    positive_definite : M has full rank in every system of the batch.
    unique : rank [M; A] = n in every system, so the acceleration is determined.
    """

    positive_definite: bool
    unique: bool


class Formulation(ABC):
    """One published way from terms to acceleration, constraint force and multipliers."""

    name: ClassVar[str]

    def __init__(self, terms: EquationTerms, geometry: RowGeometry | None = None) -> None:
        self.terms = terms
        self.geometry = geometry or RowGeometry.of(terms.constraint_matrix)
        #: Whoever gives the geometry has decided the ranks; otherwise they are checked here.
        self._checked_before = geometry is not None

    @classmethod
    def obstacle(cls, facts: Facts) -> str | None:
        """Why this formulation does not apply, or None."""
        if not facts.unique:
            return "the acceleration is not unique, as rank [M; A] < n"
        return None

    @abstractmethod
    def respond(self, force: FloatArray, rhs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Acceleration (…, n) and multipliers (…, m) under force (…, n) and right side (…, m)."""

    @computed_once
    def _response(self) -> tuple[FloatArray, FloatArray]:
        if not self._checked_before:
            self._require_unique()
        return self.respond(self.terms.total_force, self.terms.constraint_rhs)

    @property
    def acceleration(self) -> FloatArray:
        """v̇, shape (…, n)."""
        return self._response[0]

    @property
    def multipliers(self) -> FloatArray:
        """The least-norm λ with M v̇ = Q + C + Aᵀ λ, shape (…, m)."""
        return self.geometry.multipliers(self.constraint_force - self.terms.nonideal_force)

    @property
    def constraint_force(self) -> FloatArray:
        """Q_c = Aᵀ λ + C, shape (…, n)."""
        A, C = self.terms.constraint_matrix, self.terms.nonideal_force
        return transpose_matvec(A, self._response[1]) + C

    @property
    def constraint_residual(self) -> FloatArray:
        """b − A v̇, shape (…, m)."""
        return self.terms.constraint_rhs - matvec(self.terms.constraint_matrix, self.acceleration)

    def _require_unique(self) -> None:
        """V₂ᵀMV₂ must be regular, terms taken as they are."""
        M, V2 = self.terms.mass_matrix, self.geometry.null_space
        values = np.linalg.eigvalsh(transpose(V2) @ M @ V2)
        limit = DEFAULT_TOLERANCES.definite * M.max(axis=(-2, -1))
        if np.any(values.min(axis=-1, initial=np.inf) <= limit):
            raise self._not_unique()

    def _not_unique(self) -> NotUniqueError:
        return NotUniqueError(
            "accelerations",
            must="be determined by mass or constraints (rank [M; A] = n)",
            but="there is a direction with neither (V₂ᵀMV₂ is singular)",
            advice="zwang.explain names the direction; family=True returns all solutions.",
        )

    def _not_definite(self, factor: str) -> NotApplicableError:
        return NotApplicableError(
            self.name,
            must=f"be given a positive definite {factor}",
            but="it is singular",
            advice="Use 'udwadia_schutte', 'udwadia_mogharabin' or formulation='auto'.",
        )
