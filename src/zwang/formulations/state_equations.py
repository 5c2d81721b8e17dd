"""Formulation as one linear set of equations for the rates of the whole state.

    2n + m equations for v̇, ẋ, λ (Blajer 1992, (2.8))     2n equations for v̇, ẋ, free of λ (3.5)

    M v̇ − Aᵀλ = h*                                         A v̇   = b
    ẋ         = N v + n₀                                    D M v̇ = D h*
    A v̇       = b                                           ẋ     = N v + n₀

His C is A here, his c0* is −b, his A and a₀ are N and n₀. Where there are more coordinates than
quasi-velocities, n + nx take the place of 2n.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from zwang.linalg.products import transpose, transpose_matvec
from zwang.linalg.rank import RowGeometry
from zwang.terms import EquationTerms, FloatArray

__all__ = ["StateEquations", "full_equations", "reaction_free_equations"]


class StateEquations(NamedTuple):
    """matrix · (v̇, ẋ) or matrix · (v̇, ẋ, λ) = right side.

    Attributes
    ----------
    matrix, right_side : shapes (…, k, k) and (…, k).
    """

    matrix: FloatArray
    right_side: FloatArray

    def solve(self) -> FloatArray:
        """The unknowns, shape (…, k); the matrix is regular for M > 0 and independent rows."""
        return np.linalg.solve(self.matrix, self.right_side[..., None])[..., 0]


def full_equations(terms: EquationTerms, position_rate: ArrayLike) -> StateEquations:
    """(2.8): 2n + m equations for (v̇, ẋ, λ).

    Parameters
    ----------
    terms : the system at a state, or at many.
    position_rate : ẋ = N v + n₀ there, shape (…, nx), as `System.position_rate` gives it.
    """
    M, A = terms.mass_matrix, terms.constraint_matrix
    rate = np.asarray(position_rate, dtype=float)
    n, nx, m = M.shape[-1], rate.shape[-1], A.shape[-2]
    matrix = np.zeros((*terms.batch_shape, n + nx + m, n + nx + m))
    matrix[..., :n, :n] = M
    matrix[..., :n, n + nx :] = -transpose(A)
    matrix[..., n : n + nx, n : n + nx] = np.eye(nx)
    matrix[..., n + nx :, :n] = A
    right = np.concatenate([terms.total_force, rate, terms.constraint_rhs], axis=-1)
    return StateEquations(matrix, right)


def reaction_free_equations(
    terms: EquationTerms, position_rate: ArrayLike, basis: ArrayLike | None = None
) -> StateEquations:
    """(3.5): 2n equations for (v̇, ẋ), without reactions.

    Parameters
    ----------
    terms, position_rate : as for `full_equations`; the rows A independent.
    basis : Dᵀ with A Dᵀ = 0, shape (…, n, n − m); an orthonormal one is computed if None.
    """
    M, A = terms.mass_matrix, terms.constraint_matrix
    rate = np.asarray(position_rate, dtype=float)
    Dt = RowGeometry.of(A).null_space if basis is None else np.asarray(basis, dtype=float)
    n, nx, m = M.shape[-1], rate.shape[-1], A.shape[-2]
    matrix = np.zeros((*terms.batch_shape, n + nx, n + nx))
    matrix[..., :m, :n] = A
    matrix[..., m:n, :n] = transpose(Dt) @ M
    matrix[..., n:, n:] = np.eye(nx)
    tangent = transpose_matvec(Dt, terms.total_force)
    right = np.concatenate([terms.constraint_rhs, tangent, rate], axis=-1)
    return StateEquations(matrix, right)
