"""Blajer (1992): projection into the tangent and the orthogonal subspace.

| author | here | equation |
| --- | --- | --- |
| C (constraint matrix) | `constraint_matrix` A | (2.4) |
| c0* | −`constraint_rhs` = −b | (2.4) |
| h* | `total_force` Q + C | (2.3) |
| r* = Cᵀλ, r_i* | `constraint_force`, `reactions` | (2.7), (3.7) |
| Dᵀ, columns span the tangent subspace | `tangent_basis`, shape (…, n, k) | (3.1) |
| T | `transformation` | (3.2) |
| M_c = C M⁻¹Cᵀ | `orthogonal_metric` | (3.3) |
| M_d = D M Dᵀ | `tangent_metric` | (3.3) |
| h_t* = [−c0*; D h*] | `projected_force` | (3.5) |
| v* = M v (covariant) | `covariant` | (A.3) |

The author treats ideal, independent constraints and M > 0. Two things are added here. Dependent
rows are replaced by as many independent combinations U₁ᵀA as the rank, which span the same
orthogonal subspace. The tangent half [A; D M] v̇ = [b; D h] needs no M⁻¹, so it serves singular M
with rank [M; A] = n too; λ then comes from the balance (2.8a) instead of (3.6).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from zwang.caching import computed_once
from zwang.errors import InputError
from zwang.formulations.contract import Formulation
from zwang.linalg.products import dot, matvec, transpose, transpose_matvec
from zwang.linalg.rank import DEFAULT_TOLERANCES, RowGeometry, cholesky
from zwang.terms import EquationTerms, FloatArray

__all__ = [
    "Projection",
    "change_of_base",
    "contravariant",
    "covariant",
    "dot_product",
    "tangent_basis",
]


class Projection(Formulation):
    """Tangent projection for the motion, orthogonal projection for the reactions.

    Parameters
    ----------
    terms : the system.
    basis : Dᵀ, shape (…, n, k), columns with A Dᵀ = 0 chosen by the user (for instance the partial
        velocities of independent quasi-velocities); computed when None.
    """

    name = "projection"

    def __init__(
        self,
        terms: EquationTerms,
        geometry: RowGeometry | None = None,
        *,
        basis: ArrayLike | None = None,
    ) -> None:
        super().__init__(terms, geometry)
        self.basis = self.geometry.null_space if basis is None else self._checked(basis)

    def _checked(self, basis: ArrayLike) -> FloatArray:
        Dt = np.asarray(basis, dtype=float)
        n, k = self.terms.coordinate_count, self.terms.coordinate_count - self.geometry.rank
        if Dt.shape[-2:] != (n, k):
            raise InputError(
                "tangent basis",
                must=f"have shape (…, {n}, {k}), one column for each of the {k} degrees of freedom",
                but=f"has shape {Dt.shape}",
                advice="Columns are partial velocities; give D transposed if it has them as rows.",
            )
        product = self.terms.constraint_matrix @ Dt
        size = np.abs(self.terms.constraint_matrix) @ np.abs(Dt)
        if np.any(np.abs(product) > 1e-9 * np.maximum(size, np.max(size, initial=0.0) * 1e-3)):
            row, column = np.unravel_index(np.argmax(np.abs(product)), product.shape)[-2:]
            raise InputError(
                "tangent basis",
                must="satisfy A Dᵀ = 0",
                but=f"column {column} changes {self.terms.name(int(row))!r}",
                advice="Every column must be a motion the constraints allow.",
            )
        values = np.linalg.svd(Dt / np.linalg.norm(Dt, axis=-2, keepdims=True), compute_uv=False)
        if k and np.any(values[..., -1] <= DEFAULT_TOLERANCES.rank * values[..., 0]):
            raise InputError(
                "tangent basis", must=f"have rank {k}", but="its columns are linearly dependent"
            )
        return Dt

    def respond(self, force: FloatArray, rhs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Reaction-free equations for v̇, balance of forces for λ."""
        # (3.5a): [C; D M] v̇ = [−c0*; D h*], with C = U₁ᵀA
        right = np.concatenate(
            [transpose_matvec(self._range, rhs), transpose_matvec(self.basis, force)], axis=-1
        )
        acceleration = matvec(self._inverse_system, right)
        # (2.8a): Cᵀλ = M v̇ − h*
        reaction = matvec(self.terms.mass_matrix, acceleration) - force
        return acceleration, self.geometry.multipliers(reaction)

    @computed_once
    def _range(self) -> FloatArray:
        """U₁, shape (…, m, r): combinations that make the rows independent."""
        return self.geometry.U[..., : self.geometry.rank]

    @computed_once
    def independent_rows(self) -> FloatArray:
        """U₁ᵀA, shape (…, r, n): as many independent rows as the rank; A itself if it has it."""
        A = self.terms.constraint_matrix
        return A if self.geometry.rank == A.shape[-2] else transpose(self._range) @ A

    @computed_once
    def _inverse_system(self) -> FloatArray:
        rows = transpose(self._range) @ self.terms.constraint_matrix
        return np.linalg.inv(
            np.concatenate([rows, transpose(self.basis) @ self.terms.mass_matrix], axis=-2)
        )

    # --- the paper's quantities, for M > 0 ------------------------------------------------------

    @computed_once
    def _inverse_mass(self) -> FloatArray:
        L = cholesky(self.terms.mass_matrix)
        if L is None:
            raise self._not_definite("mass matrix M")
        root = np.linalg.inv(L)
        return transpose(root) @ root

    @computed_once
    def transformation(self) -> FloatArray:
        """T = [M⁻¹Cᵀ, Dᵀ], shape (…, n, n), with e_t = Tᵀ e_v (3.2)."""
        normal = self._inverse_mass @ transpose(self.independent_rows)
        return np.concatenate([normal, self.basis], axis=-1)

    @computed_once
    def metric(self) -> FloatArray:
        """M_t = Tᵀ M T = diag(M_c, M_d) (3.3), shape (…, n, n)."""
        return transpose(self.transformation) @ self.terms.mass_matrix @ self.transformation

    @computed_once
    def orthogonal_metric(self) -> FloatArray:
        """M_c = C M⁻¹ Cᵀ (3.3), shape (…, r, r)."""
        rows = self.independent_rows
        return rows @ self._inverse_mass @ transpose(rows)

    @computed_once
    def tangent_metric(self) -> FloatArray:
        """M_d = D M Dᵀ (3.3), shape (…, k, k): the mass matrix of the reduced equations."""
        return transpose(self.basis) @ self.terms.mass_matrix @ self.basis

    @computed_once
    def projected_force(self) -> FloatArray:
        """h_t* = [−c0*; D h*] of the reaction-free equations Tᵀ M v̇ = h_t* (3.5), shape (…, n)."""
        b = self.terms.constraint_rhs
        if self.geometry.rank != self.terms.constraint_count:
            b = transpose_matvec(self._range, b)
        tangent = transpose_matvec(self.basis, self.terms.total_force)
        return np.concatenate([b, tangent], axis=-1)

    @property
    def reaction_free_matrix(self) -> FloatArray:
        """Tᵀ M = [C; D M], shape (…, n, n) (3.5a)."""
        DM = transpose(self.basis) @ self.terms.mass_matrix
        return np.concatenate([self.independent_rows, DM], axis=-2)

    @property
    def orthogonal_multipliers(self) -> FloatArray:
        """λ = −M_c⁻¹ (c0* + C M⁻¹h*) (3.6), one for each independent row, shape (…, r)."""
        b = self.projected_force[..., : self.geometry.rank]
        pull = matvec(self.independent_rows, matvec(self._inverse_mass, self.terms.total_force))
        return np.linalg.solve(self.orthogonal_metric, (b - pull)[..., None])[..., 0]

    @property
    def reactions(self) -> FloatArray:
        """r_i* = c_i* λ_i of each constraint separately (3.7), shape (…, m, n)."""
        return self.terms.constraint_matrix * self.multipliers[..., None]

    @property
    def force_balance(self) -> dict[str, FloatArray]:
        """Inertial, applied and reaction force, whose sum vanishes (2.9); each (…, n)."""
        return {
            "inertial": -matvec(self.terms.mass_matrix, self.acceleration),
            "applied": self.terms.applied_force,
            "reaction": self.constraint_force,
        }

    def quasi_velocities(self, velocity: ArrayLike) -> FloatArray:
        """u with v = Dᵀu + v_⊥, v_⊥ M-orthogonal to the tangent subspace, shape (…, k) (5.2)."""
        momentum = matvec(self.terms.mass_matrix, np.asarray(velocity, dtype=float))
        right = transpose_matvec(self.basis, momentum)
        return np.linalg.solve(self.tangent_metric, right[..., None])[..., 0]


def tangent_basis(A: ArrayLike, method: Literal["svd", "qr", "partition"] = "svd") -> FloatArray:
    """Dᵀ with A Dᵀ = 0 for a single matrix, without guessing, shape (n, n−r).

    ``svd`` and ``qr`` give orthonormal columns; ``partition`` picks the best independent
    coordinates by elimination with full pivoting and gives each the value 1 in its own column.
    """
    A = np.asarray(A, dtype=float)
    geometry = RowGeometry.of(A)
    n, rank = A.shape[-1], geometry.rank
    if method == "svd":
        return geometry.null_space
    if method == "qr":
        return np.linalg.qr(geometry.row_space, mode="complete").Q[:, rank:]
    if method == "partition":
        dependent, reduced = _eliminate(transpose(geometry.row_space), rank)
        free = [j for j in range(n) if j not in dependent]
        Dt = np.zeros((n, n - rank))
        Dt[free, range(n - rank)] = 1.0
        Dt[dependent, :] = -reduced[:, free]
        return Dt
    raise InputError("method", found=repr(method), expected="'svd', 'qr' or 'partition'")


def _eliminate(rows: FloatArray, rank: int) -> tuple[list[int], FloatArray]:
    """Gauss–Jordan with full pivoting: pivot columns, and rows reduced to the identity there."""
    R = rows.copy()
    pivots: list[int] = []
    for i in range(rank):
        k, j = np.unravel_index(np.argmax(np.abs(R[i:])), R[i:].shape)
        R[[i, i + k]] = R[[i + k, i]]
        R[i] /= R[i, j]
        others = [row for row in range(rank) if row != i]
        R[others] -= np.outer(R[others, j], R[i])
        pivots.append(int(j))
    return pivots, R


# --- metric tensor (Appendix) ---------------------------------------------------------------------


def covariant(M: FloatArray, contravariant_components: ArrayLike) -> FloatArray:
    """a* = M a (A.3): velocities are contravariant, forces and momenta covariant."""
    return matvec(np.asarray(M, float), np.asarray(contravariant_components, float))


def contravariant(M: FloatArray, covariant_components: ArrayLike) -> FloatArray:
    """a = M⁻¹ a* (A.3)."""
    right = np.asarray(covariant_components, float)[..., None]
    return np.linalg.solve(np.asarray(M, float), right)[..., 0]


def dot_product(M: FloatArray, a: ArrayLike, b: ArrayLike) -> FloatArray:
    """a ∘ b = aᵀ M b of contravariant components (A.4); ½ v ∘ v is the kinetic energy."""
    return dot(np.asarray(a, float), covariant(M, b))


def change_of_base(B: ArrayLike, M: ArrayLike, force: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Metric BᵀMB and covariant components Bᵀa* in the base ê = Bᵀe, where a = B â (A.5), (A.6).

    With ẋ = B v this turns M and forces for ẋ into those for the quasi-velocities v (e_v = Bᵀe_x).
    """
    B = np.asarray(B, dtype=float)
    return transpose(B) @ np.asarray(M, float) @ B, transpose_matvec(B, np.asarray(force, float))
