"""Subspaces of a constraint matrix by a pivoted QR factorization, several times as fast as an SVD.

With Aᵀ P = Q R and the rank r from the diagonal of R, a second factorization of the first r rows of
R, where rows are dependent, gives the complete orthogonal decomposition

    A = W S Q₁ᵀ,    W (m, r) and Q₁ (n, r) orthonormal, S (r, r) triangular

(Golub & Van Loan, section 5.4.7). The diagonal tells the rank where it falls from what counts to
rounding; where an entry lies between, singular values decide (`zwang.linalg.rank.RowGeometry`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.caching import computed_once
from zwang.linalg.one_thread import product, triangular_solution
from zwang.linalg.rank import DEFAULT_TOLERANCES, RowGeometry
from zwang.terms import FloatArray

__all__ = ["RowFactor"]

#: An entry of the diagonal of R, relative to the first, that is neither rounding nor clearly more.
DOUBTFUL = (1e-14, 1e-6)


@dataclass(frozen=True)
class RowFactor:
    """A = W S Q₁ᵀ of one matrix.

    Attributes
    ----------
    rank : r.
    Q : orthogonal, its first r columns Q₁, shape (n, n).
    W : orthogonal, its first r columns W, shape (m, m); None where S has its rows permuted by
        `order` in place of it, the rows being independent.
    S : shape (r, r), triangular.
    order : of the rows.
    """

    rank: int
    Q: FloatArray
    W: FloatArray | None
    S: FloatArray
    order: np.ndarray

    @classmethod
    def of(cls, A: FloatArray) -> RowFactor | RowGeometry:
        """Factorize a matrix (m, n) with rows of length near one."""
        from scipy.linalg import lapack as routines

        lapack: Any = routines

        m, n = A.shape
        if not m or not n or not np.isfinite(A).all():
            return RowGeometry.of(A)
        qr, order, tau, _, _ = lapack.dgeqp3(np.asfortranarray(A.T))
        size = np.abs(qr.diagonal())
        doubtful = (size > DOUBTFUL[0] * size[0]) & (size < DOUBTFUL[1] * size[0])
        if doubtful.any() or not size[0] > 0.0:
            return RowGeometry.of(A)
        rank = int(np.count_nonzero(size > DEFAULT_TOLERANCES.rank * size[0]))
        full = np.zeros((n, n), order="F")
        k = len(tau)
        full[:, :k] = qr[:, :k]
        Q, _, _ = lapack.dorgqr(full, tau)
        R = np.triu(qr[:rank])
        order = order - 1
        if rank == m:
            return cls(rank, Q, None, np.asfortranarray(R.T), order)
        qr, tau, _, _ = lapack.dgeqrf(np.asfortranarray(R.T))
        full = np.zeros((m, m), order="F")
        full[:, :rank] = qr
        W = np.empty((m, m))
        W[order], _, _ = lapack.dorgqr(full, tau)
        return cls(rank, Q, W, np.asfortranarray(np.triu(qr[:rank])), order)

    @property
    def null_space(self) -> FloatArray:
        """Orthonormal basis of N(A), shape (n, n − r)."""
        return self.Q[:, self.rank :]

    @computed_once
    def dependencies(self) -> FloatArray:
        """Orthonormal basis of N(Aᵀ), shape (m, m − r)."""
        return np.zeros((len(self.order), 0)) if self.W is None else self.W[:, self.rank :]

    def least_norm(self, rhs: FloatArray) -> FloatArray:
        """A⁺ rhs of a matrix (m, k)."""
        if self.W is None:
            y = self._solved(rhs[self.order], transposed=False)
        else:
            y = self._solved(product(self.W[:, : self.rank].T, rhs), transposed=False)
        return product(self.Q[:, : self.rank], y)

    def multipliers(self, force: FloatArray) -> FloatArray:
        """(Aᵀ)⁺ force of a matrix (n, k)."""
        y = self._solved(product(self.Q[:, : self.rank].T, force), transposed=True)
        if self.W is not None:
            return product(self.W[:, : self.rank], y)
        result = np.empty_like(y)
        result[self.order] = y
        return result

    def _solved(self, rhs: FloatArray, *, transposed: bool) -> FloatArray:
        """S⁻¹ rhs or S⁻ᵀ rhs; S is lower triangular with independent rows, else upper."""
        if not self.rank:
            return np.zeros((0, rhs.shape[1]))
        return triangular_solution(self.S, rhs, lower=self.W is None, transposed=transposed)
