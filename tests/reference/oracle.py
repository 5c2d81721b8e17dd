"""The exact solution of M v̇ = Q + Q_c under A v̇ = b, in rational arithmetic.

Floats are rationals with a power of two below, so terms given as float64 are taken at their word
and solved without rounding (python-flint's `fmpq`). Nothing of the library is imported.

With A₁ as many rows of A as the rank r, and A = T A₁ (both from the reduced echelon form of Aᵀ),
the least-norm multipliers lie in R(A) = R(T), so λ = T μ, and

    [ M   A₁ᵀTᵀT ] [  v̇ ]   [ Q + C ]
    [ A₁     0   ] [ −μ ] = [  b₁   ]

is one regular system with small entries whenever rank [M; A] = n. Ranks are exact as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

__all__ = ["DoubleDouble", "ExactSolution", "NoUniqueSolutionError", "rationals", "solve_exactly"]

FloatArray = NDArray[np.float64]


class NoUniqueSolutionError(ArithmeticError):
    """The terms contradict each other, or leave an acceleration undetermined."""


@dataclass(frozen=True)
class DoubleDouble:
    """An exact vector as the unevaluated sum of two float64 vectors, good to 32 digits."""

    high: FloatArray
    low: FloatArray

    @classmethod
    def of(cls, values: list[fmpq]) -> DoubleDouble:
        """Round each rational twice; Python's division of integers rounds correctly."""
        high, low = np.empty(len(values)), np.empty(len(values))
        for i, value in enumerate(values):
            p, q = int(value.p), int(value.q)
            high[i] = p / q
            a, b = high[i].as_integer_ratio()
            low[i] = (p * b - a * q) / (q * b)
        return cls(high, low)

    def error(self, approximation: FloatArray) -> FloatArray:
        """approximation − exact, element by element; rounded only once it is a small difference."""
        return (approximation - self.high) - self.low

    def relative_error(self, approximation: FloatArray, if_zero: float = 0.0) -> float:
        """|approximation − exact| / |exact| in the Euclidean norm.

        Where the exact vector is zero, the error is compared with `if_zero` instead.
        """
        error = float(np.linalg.norm(self.error(approximation)))
        size = float(np.linalg.norm(self.high)) or if_zero
        return error / size if error else 0.0


@dataclass(frozen=True)
class ExactSolution:
    """What the terms say, without rounding.

    Attributes
    ----------
    acceleration, constraint_force, multipliers : v̇, Q_c = Aᵀλ + C, and the least-norm λ.
    constraint_rank, mass_rank, stacked_rank : ranks of A, M and [M; A].
    """

    acceleration: DoubleDouble
    constraint_force: DoubleDouble
    multipliers: DoubleDouble
    constraint_rank: int
    mass_rank: int
    stacked_rank: int


def rationals(array: FloatArray) -> fmpq_mat:
    """A float matrix, or a vector as a column, as the rationals that it holds."""
    matrix = np.asarray(array, dtype=float)
    if matrix.ndim == 1:
        matrix = matrix[:, None]
    entries = [fmpq(*x.as_integer_ratio()) for x in matrix.ravel().tolist()]
    return fmpq_mat(*matrix.shape, entries)


def solve_exactly(
    M: FloatArray, Q: FloatArray, A: FloatArray, b: FloatArray, C: FloatArray | None = None
) -> ExactSolution:
    """The exact acceleration, constraint force, least-norm multipliers and ranks of one system."""
    C = np.zeros_like(Q) if C is None else C
    n = M.shape[0]
    rows, T = independent_rows(A)
    A1, b1, rhs = rationals(A[rows]), rationals(b[rows]), rationals(b)
    stacked_rank = rationals(np.vstack([M, A])).rank()
    if stacked_rank < n:
        raise NoUniqueSolutionError(f"rank [M; A] = {stacked_rank} < {n}")
    if T * b1 != rhs:
        raise NoUniqueSolutionError("b is not in the range of A")

    force = rationals(Q) + rationals(C)
    saddle = _blocks(rationals(M), A1.transpose() * (T.transpose() * T), A1)
    solution = saddle.solve(_column(force.entries() + b1.entries()))
    values = solution.entries()
    acceleration, mu = values[:n], _column([-x for x in values[n:]])
    multipliers = (T * mu).entries()
    ideal_force = rationals(A).transpose() * _column(multipliers)
    return ExactSolution(
        DoubleDouble.of(acceleration),
        DoubleDouble.of((ideal_force + rationals(C)).entries()),
        DoubleDouble.of(multipliers),
        len(rows),
        rationals(M).rank(),
        stacked_rank,
    )


def independent_rows(A: FloatArray) -> tuple[list[int], fmpq_mat]:
    """Numbers of r independent rows, and T (m × r) with A = T A[rows]."""
    echelon, rank = rationals(A).transpose().rref()
    m = A.shape[0]
    rows = [next(j for j in range(m) if echelon[i, j] != 0) for i in range(rank)]
    T = fmpq_mat(m, rank, [echelon[i, j] for j in range(m) for i in range(rank)])
    return rows, T


def _column(entries: list[fmpq]) -> fmpq_mat:
    return fmpq_mat(len(entries), 1, entries)


def _blocks(M: fmpq_mat, B: fmpq_mat, A: fmpq_mat) -> fmpq_mat:
    """[[M, B], [A, 0]]."""
    n, r = B.nrows(), B.ncols()
    top = [x for i in range(n) for x in [M[i, j] for j in range(n)] + [B[i, j] for j in range(r)]]
    low = [x for i in range(r) for x in [A[i, j] for j in range(n)] + [fmpq(0)] * r]
    return fmpq_mat(n + r, n + r, top + low)
