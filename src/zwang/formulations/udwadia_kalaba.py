"""Udwadia & Kalaba (1996): the explicit equation of motion through the Moore–Penrose inverse.

| author | here | equation |
| --- | --- | --- |
| F, Q | `applied_force` Q | (1) |
| a = M⁻¹F | `free_acceleration` | (1) |
| A M^(−1/2), also B, C | `weighted_constraint_matrix` B | after (3), (20) |
| e = b − A a | `dissatisfaction` | after (14) |
| ẍ − a | `deviation` | (14) |
| K₁ = M^(−1/2) B⁺ | `acceleration_gain` | (15) |
| F^c | `constraint_force` | (16) |
| K = M^(1/2) B⁺ | `force_gain` | (17) |
| λ, h | `multipliers`, `all_multipliers(h)` | (22) |
| K₂ = (A M⁻¹ Aᵀ)⁺ | `multiplier_gain` | (23) |
| C (non-ideal) | `nonideal_force` C | (7) of Udwadia & Schutte (2010) |

M must be positive definite; A may have any rank. With the Cholesky factor M = L Lᵀ, L⁻ᵀ serves as
M^(−1/2): put y = Lᵀ(v̇ − a); then |y|² is Gauss's measure, (A L⁻ᵀ) y = e, and the least-norm y is
(A L⁻ᵀ)⁺ e. The gains K, K₁, K₂ do not depend on which root of M is taken.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from zwang.caching import computed_once
from zwang.formulations.contract import Facts, Formulation
from zwang.linalg.products import matvec, symmetric_roots, transpose, transpose_matvec
from zwang.linalg.rank import RowGeometry, cholesky
from zwang.terms import FloatArray

__all__ = ["UdwadiaKalaba"]


class UdwadiaKalaba(Formulation):
    """The fundamental equation, for positive definite M and any A."""

    name = "udwadia_kalaba"

    @classmethod
    def obstacle(cls, facts: Facts) -> str | None:
        """M must be positive definite."""
        if not facts.positive_definite:
            return "it needs a positive definite mass matrix, and M is singular"
        return None

    def respond(self, force: FloatArray, rhs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Acceleration by (5), multipliers by (23)."""
        # (5): v̇ = a + M^(−1/2) (A M^(−1/2))⁺ (b − A a), with a = M⁻¹(Q + C)
        # (23): λ = (A M⁻¹ Aᵀ)⁺ (b − A a)
        a = self._inverse_mass_times(force)
        e = rhs - matvec(self.terms.constraint_matrix, a)
        y = self._weighted.least_norm(e)  # (A L⁻ᵀ)⁺ e
        lam = self._weighted.multipliers(y)  # ((A L⁻ᵀ)⁺)ᵀ (A L⁻ᵀ)⁺ e = (A M⁻¹ Aᵀ)⁺ e
        return a + transpose_matvec(self._inverse_root, y), lam

    @computed_once
    def _inverse_root(self) -> FloatArray:
        """L⁻¹ with M = L Lᵀ."""
        L = cholesky(self.terms.mass_matrix)
        if L is None:
            raise self._not_definite("mass matrix M")
        return np.linalg.inv(L)

    @computed_once
    def _weighted(self) -> RowGeometry:
        """A L⁻ᵀ, whose rank is that of A."""
        G = self.terms.constraint_matrix @ transpose(self._inverse_root)
        return RowGeometry.of(G, rank=self.geometry.rank)

    def _inverse_mass_times(self, force: FloatArray) -> FloatArray:
        return transpose_matvec(self._inverse_root, matvec(self._inverse_root, force))

    # --- the paper's quantities -----------------------------------------------------------------

    @computed_once
    def free_acceleration(self) -> FloatArray:
        """a = M⁻¹ Q: the acceleration without constraints (1)."""
        return self._inverse_mass_times(self.terms.applied_force)

    @computed_once
    def mass_roots(self) -> tuple[FloatArray, FloatArray]:
        """The symmetric roots M^(1/2) and M^(−1/2)."""
        return symmetric_roots(self.terms.mass_matrix)

    @computed_once
    def weighted_constraint_matrix(self) -> FloatArray:
        """B = A M^(−1/2), the paper's Constraint Matrix (after (3)), shape (…, m, n)."""
        return self.terms.constraint_matrix @ self.mass_roots[1]

    @computed_once
    def dissatisfaction(self) -> FloatArray:
        """e = b − A a: how far the free acceleration violates the constraints (14)."""
        return self.terms.constraint_rhs - matvec(
            self.terms.constraint_matrix, self.free_acceleration
        )

    @computed_once
    def acceleration_gain(self) -> FloatArray:
        """K₁ = M^(−1/2) (A M^(−1/2))⁺, with v̇ − a = K₁ e (15), shape (…, n, m)."""
        return transpose(self._inverse_root) @ self._weighted.pinv

    @computed_once
    def force_gain(self) -> FloatArray:
        """K = M^(1/2) (A M^(−1/2))⁺, with Q_c = K e (17), shape (…, n, m)."""
        return self.terms.mass_matrix @ self.acceleration_gain

    @computed_once
    def multiplier_gain(self) -> FloatArray:
        """K₂ = (A M⁻¹ Aᵀ)⁺, with λ = K₂ e, shape (…, m, m).

        (23) has the inverse, for independent rows. With dependent rows the pseudoinverse gives
        multipliers of least norm, h = 0 in (22).
        """
        Gp = self._weighted.pinv
        return transpose(Gp) @ Gp

    @computed_once
    def deviation(self) -> FloatArray:
        """v̇ − a = K₁ e, the deviation from free motion (14); with C the share of C is added."""
        return matvec(self.acceleration_gain, self.dissatisfaction) + self.nonideal_acceleration

    @computed_once
    def nonideal_acceleration(self) -> FloatArray:
        """M^(−1/2) (I − B⁺B) M^(−1/2) C, the part of v̇ due to non-ideal constraints (7)."""
        y = self._weighted.tangent(matvec(self._inverse_root, self.terms.nonideal_force))
        return transpose_matvec(self._inverse_root, y)

    @property
    def acceleration(self) -> FloatArray:
        """v̇ = a + K₁ e + M^(−1/2)(I − B⁺B)M^(−1/2) C, (5) and, with C, (7)."""
        return self.free_acceleration + self.deviation

    @property
    def constraint_force(self) -> FloatArray:
        """Q_c = K e (17), plus M^(1/2)(I − B⁺B)M^(−1/2) C for non-ideal constraints."""
        nonideal = matvec(self.terms.mass_matrix, self.nonideal_acceleration)
        return matvec(self.force_gain, self.dissatisfaction) + nonideal

    @property
    def force_form(self) -> FloatArray:
        """M v̇ = Q + M^(1/2)(A M^(−1/2))⁺(b − A M⁻¹Q) (4), shape (…, n)."""
        return self.terms.applied_force + self.constraint_force

    @property
    def multipliers_unique(self) -> bool:
        """Whether λ is unique: rank A = m (after (22))."""
        return self.geometry.rank == self.terms.constraint_count

    def all_multipliers(self, h: ArrayLike) -> FloatArray:
        """λ = (Aᵀ)⁺ (Q_c − C) + [I − (Aᵀ)⁺Aᵀ] h for a chosen h (22), shape (…, m)."""
        U2 = self.geometry.dependencies
        h = np.broadcast_to(np.asarray(h, dtype=float), self.terms.constraint_rhs.shape)
        return self.multipliers + matvec(U2, transpose_matvec(U2, h))

    @property
    def multiplier_existence(self) -> float:
        """Relative size of what Bᵀλ = B⁺e leaves unsolved (21); zero but for rounding."""
        y = self._weighted.least_norm(self.dissatisfaction)
        size = float(np.linalg.norm(y))
        return float(np.linalg.norm(self._weighted.tangent(y))) / size if size else 0.0
