"""Udwadia & Mogharabin (2022): the alternative form, on N(A) and N(A)⊥.

| author | here | equation |
| --- | --- | --- |
| M_s = (I − A⁺A) M (I − A⁺A) | `projected_mass` | (15) |
| M̃ = [M_s; A] | `stacked_matrix` | (16) |
| M̂ = [M; A] | `mass_constraint_stack` | Lemma 3 |
| V₂ᵀ M V₂ (hat) | `reduced_mass` | (44) |
| M_s⁺ | `projected_mass_pinv` | Lemma 5 |
| Δ = Q + C − M A⁺b | `reduced_force` | (24) |
| q̈ on N(A), N(A)⊥ | `tangent_acceleration`, `normal_acceleration` | (29), (30) |
| Q^c on N(A), N(A)⊥ | `tangent_constraint_force`, `normal_constraint_force` | (34), (33) |
| γ | argument of `family` | (17) |

First the constraints: the least-norm A⁺b is the part of v̇ in N(A)⊥. Then the rest: M_s⁺Δ in N(A).
M may be singular, A of any rank. M_s⁺ is formed from V₂ (Lemma 5): when A has full column rank, M_s
is pure rounding and its pseudoinverse by a relative tolerance would invert the noise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from zwang.caching import computed_once
from zwang.errors import InputError
from zwang.formulations.contract import Formulation
from zwang.linalg.products import matvec, transpose, transpose_matvec
from zwang.linalg.rank import DEFAULT_TOLERANCES, PIVOT_TOLERANCE, pinv
from zwang.terms import FloatArray

__all__ = ["UdwadiaMogharabin", "fully_constrained", "particle"]


class UdwadiaMogharabin(Formulation):
    """v̇ = M_s⁺ Δ + A⁺b, (24) and, with V₂, (54)."""

    name = "udwadia_mogharabin"

    def respond(self, force: FloatArray, rhs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Acceleration by (54), multipliers from the balance of forces."""
        # (54): v̇ = V₂ (V₂ᵀ M V₂)⁻¹ V₂ᵀ (Q + C − M A⁺b) + A⁺b; then Aᵀλ = M v̇ − (Q + C)
        M, V2 = self.terms.mass_matrix, self.geometry.null_space
        normal = self.geometry.least_norm(rhs)
        u = self._solve_reduced(transpose_matvec(V2, force - matvec(M, normal)))
        acceleration = matvec(V2, u) + normal
        return acceleration, self.geometry.multipliers(matvec(M, acceleration) - force)

    def _solve_reduced(self, force: FloatArray) -> FloatArray:
        return matvec(self._inverse_reduced_mass, force)

    @computed_once
    def _inverse_reduced_mass(self) -> FloatArray:
        """(V₂ᵀ M V₂)⁻¹, shape (…, n−r, n−r)."""
        try:
            inverse = np.linalg.inv(self.reduced_mass)
        except np.linalg.LinAlgError:
            raise self._not_unique() from None
        # The inverse of a positive definite matrix has a positive diagonal, and none of its entries
        # is large against 1/‖M‖ unless V₂ᵀMV₂ is rounding along some direction.
        mobility = inverse.diagonal(axis1=-2, axis2=-1)
        mobility = mobility * self.terms.mass_matrix.max(axis=(-2, -1))[..., None]
        if not (
            mobility.min(initial=1.0) > 0.0 and PIVOT_TOLERANCE * mobility.max(initial=0.0) < 1.0
        ):
            raise self._not_unique()
        return inverse

    # --- the paper's matrices -------------------------------------------------------------------

    @computed_once
    def projected_mass(self) -> FloatArray:
        """M_s = (I − A⁺A) M (I − A⁺A) (15), shape (…, n, n)."""
        P = self.geometry.tangent_projector
        return P @ self.terms.mass_matrix @ P

    @computed_once
    def reduced_mass(self) -> FloatArray:
        """V₂ᵀ M V₂ (44), shape (…, n−r, n−r); M_s = V₂ (V₂ᵀ M V₂) V₂ᵀ (45)."""
        V2 = self.geometry.null_space
        return transpose(V2) @ self.terms.mass_matrix @ V2

    @computed_once
    def projected_mass_pinv(self) -> FloatArray:
        """M_s⁺ = V₂ (V₂ᵀ M V₂)⁻¹ V₂ᵀ (Lemma 5), shape (…, n, n)."""
        V2 = self.geometry.null_space
        return V2 @ self._inverse_reduced_mass @ transpose(V2)

    @computed_once
    def stacked_matrix(self) -> FloatArray:
        """M̃ = [M_s; A] (16), shape (…, n+m, n)."""
        return np.concatenate([self.projected_mass, self.terms.constraint_matrix], axis=-2)

    @computed_once
    def stacked_pinv(self) -> FloatArray:
        """M̃⁺ = [M_s⁺ | A⁺] (26), by Lemma 1, shape (…, n, n+m)."""
        return np.concatenate([self.projected_mass_pinv, self.geometry.pinv], axis=-1)

    @computed_once
    def stacked_rhs(self) -> FloatArray:
        """Right side of (14): [(I − A⁺A)Δ; b], shape (…, n+m)."""
        return np.concatenate(
            [self.geometry.tangent(self.reduced_force), self.terms.constraint_rhs], axis=-1
        )

    @computed_once
    def mass_constraint_stack(self) -> FloatArray:
        """M̂ = [M; A] (Lemma 3), shape (…, n+m, n)."""
        return np.concatenate([self.terms.mass_matrix, self.terms.constraint_matrix], axis=-2)

    # --- motion ---------------------------------------------------------------------------------

    @computed_once
    def reduced_force(self) -> FloatArray:
        """Δ = Q + C − M A⁺b (24), shape (…, n)."""
        return self.terms.total_force - matvec(self.terms.mass_matrix, self.normal_acceleration)

    @computed_once
    def normal_acceleration(self) -> FloatArray:
        """A⁺b, the part of v̇ in N(A)⊥ (30), step one of section 2.2."""
        return self.geometry.least_norm(self.terms.constraint_rhs)

    @computed_once
    def tangent_acceleration(self) -> FloatArray:
        """M_s⁺ Δ, the part of v̇ in N(A) (29), (47)."""
        return matvec(self.projected_mass_pinv, self.reduced_force)

    @property
    def acceleration(self) -> FloatArray:
        """v̇ = M_s⁺ Δ + A⁺b (24)."""
        return self.tangent_acceleration + self.normal_acceleration

    @computed_once
    def _ideal_force(self) -> FloatArray:
        """(M M_s⁺ − I) Δ, which lies in N(A)⊥ (36)."""
        M, delta = self.terms.mass_matrix, self.reduced_force
        return matvec(M, self.tangent_acceleration) - delta

    @property
    def constraint_force(self) -> FloatArray:
        """Q_c = (M M_s⁺ − I) Δ + C (32)."""
        return self._ideal_force + self.terms.nonideal_force

    @property
    def normal_constraint_force(self) -> FloatArray:
        """(M M_s⁺ − I) Δ + A⁺A C, the part of Q_c in N(A)⊥ (33)."""
        return self._ideal_force + self.geometry.normal(self.terms.nonideal_force)

    @property
    def tangent_constraint_force(self) -> FloatArray:
        """(I − A⁺A) C, the part of Q_c in N(A) (34)."""
        return self.geometry.tangent(self.terms.nonideal_force)

    def virtual_displacement(self, vector: ArrayLike) -> FloatArray:
        """(I − A⁺A) vector: every virtual displacement has this form (7)."""
        return self.geometry.tangent(np.asarray(vector, dtype=float))

    def family(self, gamma: ArrayLike, tolerance: float = DEFAULT_TOLERANCES.rank) -> FloatArray:
        """All accelerations where they are not unique: M̃⁺[…] + (I − M̃⁺M̃) γ (17).

        A solution exists when wᵀ(Q + C) = 0 for every w with M w = 0 and A w = 0 (and b is
        consistent); otherwise it is an error. `zwang.solve(…, family=True)` scales first.
        """
        stack, rhs = self.stacked_matrix, self.stacked_rhs
        inverse = pinv(stack, tolerance)
        gamma = np.asarray(gamma, dtype=float)
        q = matvec(inverse, rhs)
        left = np.linalg.norm(matvec(stack, q) - rhs, axis=-1)
        if np.any(left > 1e-8 * np.maximum(np.linalg.norm(rhs, axis=-1), 1e-300)):
            raise InputError(
                "force",
                must="satisfy wᵀ(Q + C) = 0 wherever M w = 0 and A w = 0",
                but="acts along a direction with neither mass nor constraint",
                advice="Give that direction mass or a constraint, or remove the force.",
            )
        return q + gamma - matvec(inverse, matvec(stack, gamma))

    @property
    def uniqueness_tests(self) -> dict[str, bool]:
        """The three equivalent tests of Remark 6, each from its own matrix, terms taken as is."""
        n = self.terms.coordinate_count

        def full(matrix: FloatArray, size: float) -> bool:
            values = np.linalg.svd(matrix, compute_uv=False)
            return bool(np.all(values[..., -1] > DEFAULT_TOLERANCES.rank * size))

        size = float(np.max(np.linalg.norm(self.mass_constraint_stack, axis=(-2, -1))))
        reduced = self.reduced_mass
        mass = max(float(np.max(np.abs(self.terms.mass_matrix))), 1e-300)
        return {
            "M̃ = [M_s; A] has full column rank": full(self.stacked_matrix, size),
            "M̂ = [M; A] has full column rank": full(self.mass_constraint_stack, size),
            "V₂ᵀMV₂ is nonsingular": n == self.geometry.rank or full(reduced, mass),
        }


def particle(
    mass: float, a: ArrayLike, A: ArrayLike, b: ArrayLike, d: ArrayLike = 0.0
) -> FloatArray:
    """One particle: v̇ = (I − A⁺A)(a + d) + A⁺b, with Q = m a and C = m d (28).

    The mass drops out; it is an argument to make that visible and is only checked.
    """
    if not mass > 0.0:
        raise InputError("mass", found=repr(mass), expected="a positive number")
    A, b = np.atleast_2d(np.asarray(A, float)), np.atleast_1d(np.asarray(b, float))
    free = np.asarray(a, dtype=float) + np.asarray(d, dtype=float)
    Ap = pinv(A)
    return free - Ap @ (A @ free) + Ap @ b


def fully_constrained(
    M: ArrayLike, Q: ArrayLike, A: ArrayLike, b: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """A of full column rank: v̇ = A⁺b (39) and Q_c = M A⁺b − Q (40), whatever the mass."""
    acceleration = pinv(np.asarray(A, float)) @ np.asarray(b, float)
    return acceleration, np.asarray(M, float) @ acceleration - np.asarray(Q, float)
