"""Udwadia & Schutte (2010): singular mass matrices through an auxiliary system.

| author | here | equation |
| --- | --- | --- |
| M_A = M + α²A⁺A | `mass_matrix` of `AuxiliarySystem` | (46), Lemma 1 |
| Q_z = Q + A⁺z | `applied_force` of `AuxiliarySystem` | (45) |
| a_{A,z} = M_A⁻¹Q_z | `free_acceleration` | (51) |
| B_A = A M_A^(−1/2) | `weighted_constraint_matrix` | (52) |
| H = A M_A⁻¹Aᵀ | `multiplier_matrix` | Lemma 5 |
| Q^c_{A,z} | `auxiliary_constraint_force` | (65) |
| Q^c | `constraint_force` | (64), (71), (75) |

Give every direction in N(A)⊥ the mass α² and add A⁺z to the force: the auxiliary system has a
positive definite mass matrix exactly when rank [M; A] = n (Lemma 1), obeys the same constraints,
and has the acceleration of the real system for every α ≠ 0 and z (Results 1 and 2). With z = α²b it
has its constraint force as well (Result 5); α = 1, z = b is Result 6.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from zwang.caching import computed_once
from zwang.errors import InputError, NotUniqueError
from zwang.formulations.contract import Formulation
from zwang.linalg.products import matvec, symmetric_roots, transpose, transpose_matvec
from zwang.linalg.rank import DEFAULT_TOLERANCES, RowGeometry, cholesky
from zwang.terms import EquationTerms, FloatArray

__all__ = ["AuxiliarySystem", "UdwadiaSchutte", "is_well_posed"]


class AuxiliarySystem:
    """The auxiliary system S_A of a constrained system, with α and z free (Result 1).

    Parameters
    ----------
    terms : the real system.
    alpha : any number but zero.
    z : any vector, shape (…, m); None means z = α²b, for which the constraint force of the
        auxiliary system is that of the real one (Result 5).
    """

    def __init__(
        self,
        terms: EquationTerms,
        alpha: float = 1.0,
        z: ArrayLike | None = None,
        geometry: RowGeometry | None = None,
    ) -> None:
        if not np.isfinite(alpha) or alpha == 0.0:
            raise InputError("alpha", found=repr(alpha), expected="a finite number other than 0")
        self.terms = terms
        self.alpha = float(alpha)
        self.geometry = geometry or RowGeometry.of(terms.constraint_matrix)
        b = terms.constraint_rhs
        self.z = alpha**2 * b if z is None else np.broadcast_to(np.asarray(z, float), b.shape)

    @computed_once
    def mass_matrix(self) -> FloatArray:
        """M_A = M + α² A⁺A (46), shape (…, n, n)."""
        return self.terms.mass_matrix + self.alpha**2 * self.geometry.normal_projector

    @computed_once
    def applied_force(self) -> FloatArray:
        """Q_z = Q + A⁺ z (45), shape (…, n)."""
        return self.terms.applied_force + self.geometry.least_norm(self.z)

    @computed_once
    def _inverse_root(self) -> FloatArray:
        """L⁻¹ with M_A = L Lᵀ; L⁻ᵀ serves as M_A^(−1/2)."""
        # A⁺A is rounding along N(A), so that a pivot is compared with the largest entry.
        largest = self.mass_matrix.max(axis=(-2, -1))[..., None]
        L = cholesky(self.mass_matrix, largest)
        if L is None:
            raise NotUniqueError(
                "auxiliary mass matrix M + α²A⁺A",
                must="be positive definite, that is rank [M; A] = n (Lemma 1)",
                but="is singular",
                advice="zwang.explain names the direction with neither mass nor constraint.",
            )
        return np.linalg.inv(L)

    @computed_once
    def inverse_mass_matrix(self) -> FloatArray:
        """M_A⁻¹, shape (…, n, n)."""
        return transpose(self._inverse_root) @ self._inverse_root

    @computed_once
    def mass_roots(self) -> tuple[FloatArray, FloatArray]:
        """The symmetric roots M_A^(1/2) and M_A^(−1/2)."""
        return symmetric_roots(self.mass_matrix)

    @computed_once
    def weighted_constraint_matrix(self) -> FloatArray:
        """B_A = A M_A^(−1/2) (52), shape (…, m, n)."""
        return self.terms.constraint_matrix @ self.mass_roots[1]

    @computed_once
    def _weighted(self) -> RowGeometry:
        G = self.terms.constraint_matrix @ transpose(self._inverse_root)  # A L⁻ᵀ
        return RowGeometry.of(G, rank=self.geometry.rank)

    @computed_once
    def free_acceleration(self) -> FloatArray:
        """a_{A,z} = M_A⁻¹ Q_z (51), shape (…, n)."""
        return self._inverse_mass_times(self.applied_force)

    def respond(self, force: FloatArray, rhs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Acceleration and multipliers of the auxiliary system under other force and right side."""
        a = self._inverse_mass_times(force)
        y = self._weighted.least_norm(rhs - matvec(self.terms.constraint_matrix, a))
        return a + transpose_matvec(self._inverse_root, y), self._weighted.multipliers(y)

    @computed_once
    def auxiliary_constraint_force(self) -> FloatArray:
        """Q^c_{A,z} = M_A^(1/2) B_A⁺ (b − A a_{A,z}) + M_A^(1/2)(I − B_A⁺B_A) M_A^(−1/2) C (65)."""
        return self.ideal_force + self.nonideal_part

    @computed_once
    def ideal_force(self) -> FloatArray:
        """M_A^(1/2) B_A⁺ (b − A a_{A,z}), shape (…, n): the ideal part of (65), as in (62)."""
        A, b = self.terms.constraint_matrix, self.terms.constraint_rhs
        y = self._weighted.least_norm(b - matvec(A, self.free_acceleration))
        return transpose_matvec(A, self._weighted.multipliers(y))

    @computed_once
    def nonideal_part(self) -> FloatArray:
        """M_A^(1/2)(I − B_A⁺B_A) M_A^(−1/2) C, shape (…, n): the last term of (65)."""
        C = self.terms.nonideal_force
        y = self._weighted.normal(matvec(self._inverse_root, C))  # B_A⁺B_A M_A^(−1/2) C
        return C - transpose_matvec(self.terms.constraint_matrix, self._weighted.multipliers(y))

    @computed_once
    def acceleration(self) -> FloatArray:
        """v̇ = M_A⁻¹ (Q_z + Q^c_{A,z}) (66), Result 2; the same for every α and z."""
        return self._inverse_mass_times(self.applied_force + self.auxiliary_constraint_force)

    @computed_once
    def constraint_force(self) -> FloatArray:
        """Q^c = Q_z + Q^c_{A,z} − Q_{α²b} (71), the force on the real system for any z."""
        wanted = self.terms.applied_force + self.geometry.least_norm(
            self.alpha**2 * self.terms.constraint_rhs
        )
        return self.applied_force + self.auxiliary_constraint_force - wanted

    # --- Lemma 5: H = A M_A⁻¹ Aᵀ and rates of change with α ---------------------------------------

    @computed_once
    def multiplier_matrix(self) -> FloatArray:
        """H = A M_A⁻¹ Aᵀ, shape (…, m, m)."""
        A = self.terms.constraint_matrix
        return A @ self.inverse_mass_matrix @ transpose(A)

    @computed_once
    def multiplier_matrix_pinv(self) -> FloatArray:
        """H⁺, shape (…, m, m)."""
        Gp = self._weighted.pinv
        return transpose(Gp) @ Gp

    @property
    def inverse_mass_rate(self) -> FloatArray:
        """∂M_A⁻¹/∂α = −2α M_A⁻¹ A⁺A M_A⁻¹ (28)."""
        inverse = self.inverse_mass_matrix
        return -2.0 * self.alpha * inverse @ self.geometry.normal_projector @ inverse

    @property
    def multiplier_matrix_rate(self) -> FloatArray:
        """∂H/∂α = −2α A M_A⁻¹ A⁺ H (32)."""
        A, inverse = self.terms.constraint_matrix, self.inverse_mass_matrix
        return -2.0 * self.alpha * A @ inverse @ self.geometry.pinv @ self.multiplier_matrix

    @property
    def multiplier_matrix_pinv_rate(self) -> FloatArray:
        """∂H⁺/∂α = 2α H⁺ A M_A⁻¹ A⁺ H H⁺ (34)."""
        A, inverse, Hp = (
            self.terms.constraint_matrix,
            self.inverse_mass_matrix,
            self.multiplier_matrix_pinv,
        )
        return (
            2.0 * self.alpha * Hp @ A @ inverse @ self.geometry.pinv @ self.multiplier_matrix @ Hp
        )

    @computed_once
    def force_response(self) -> FloatArray:
        """M_A⁻¹ (I − Aᵀ H⁺ A M_A⁻¹), shape (…, n, n): ∂v̇/∂Q; the same for every α (57)."""
        A, inverse = self.terms.constraint_matrix, self.inverse_mass_matrix
        return inverse - inverse @ transpose(A) @ self.multiplier_matrix_pinv @ A @ inverse

    @property
    def force_response_rates(self) -> tuple[FloatArray, FloatArray]:
        """∂/∂α of the two parts of `force_response`, which cancel (57); each (…, n, n).

        They are ∂M_A⁻¹/∂α (28) and −∂(M_A⁻¹ Aᵀ H⁺ A M_A⁻¹)/∂α by the product rule with (28), (34).
        """
        A, inverse = self.terms.constraint_matrix, self.inverse_mass_matrix
        first, middle = self.inverse_mass_rate, transpose(A) @ self.multiplier_matrix_pinv @ A
        outer = first @ middle @ inverse
        inner = inverse @ transpose(A) @ self.multiplier_matrix_pinv_rate @ A @ inverse
        return first, -(outer + inner + transpose(outer))

    def _inverse_mass_times(self, force: FloatArray) -> FloatArray:
        return transpose_matvec(self._inverse_root, matvec(self._inverse_root, force))


class UdwadiaSchutte(Formulation):
    """Result 6: α = 1 and z = b give acceleration and constraint force in one equation."""

    name = "udwadia_schutte"

    @computed_once
    def auxiliary(self) -> AuxiliarySystem:
        """The auxiliary system with α = 1, z = b."""
        return AuxiliarySystem(self.terms, geometry=self.geometry)

    def respond(self, force: FloatArray, rhs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Acceleration by (74), multipliers of the force (75)."""
        # (72)–(75): M_A v̇ = (Q + C + A⁺b) + M_A^(1/2) B_A⁺ (b − A a_{A,b})
        return self.auxiliary.respond(force + self.geometry.least_norm(rhs), rhs)

    @property
    def acceleration(self) -> FloatArray:
        """v̇ by (74)."""
        return self.auxiliary.acceleration

    @property
    def constraint_force(self) -> FloatArray:
        """Q_c by (75)."""
        return self.auxiliary.auxiliary_constraint_force

    @property
    def simplest_acceleration(self) -> FloatArray:
        """v̇ by (59), Result 3: M replaced by M + A⁺A in the fundamental equation (z = 0)."""
        zero = np.zeros_like(self.terms.constraint_rhs)
        return AuxiliarySystem(self.terms, z=zero, geometry=self.geometry).acceleration


def is_well_posed(
    terms: EquationTerms, alpha: float = 1.0, tolerance: float = DEFAULT_TOLERANCES.definite
) -> bool:
    """Lemma 1 as a test: M + α²A⁺A is positive definite exactly when rank [M; A] = n.

    The terms are taken as they are; `zwang.explain` scales them first and names the direction.
    """
    values = np.linalg.eigvalsh(AuxiliarySystem(terms, alpha).mass_matrix)
    return bool(np.all(values[..., 0] > tolerance * values[..., -1]))
