"""Acceleration, multipliers and constraint force in closed form.

    [ M  −(Aᵀ + C_λ) ] [ v̇ ]   [ Q + C₀ ]
    [ A       0      ] [ λ ] = [   b    ]           C = C₀ + C_λ λ

with independent rows of A only. Which rows are independent is seen at sampled states on the
constraints, as rank [M; A] = n is, so that M may be singular and rows may repeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.closed_form.eliminate import inverse, product
from zwang.errors import NotApplicableError

if TYPE_CHECKING:
    from zwang.closed_form.algebra import Algebra
    from zwang.closed_form.samples import SampledValues
    from zwang.terms import FloatArray

__all__ = ["AlgebraMotion", "AlgebraTerms", "independent_rows", "solve"]

#: Smallest part of a row across the rows before it that makes it independent of them.
ROW_TOLERANCE = 1e-7

Matrix = list[list[Any]]


@dataclass(frozen=True)
class AlgebraTerms:
    """Elements of an algebra: matrices as lists of rows, vectors as lists.

    Attributes
    ----------
    M, Q, A, b : the terms.
    C, C_lam : C = C + C_lam λ.
    """

    M: Matrix
    Q: list[Any]
    A: Matrix
    b: list[Any]
    C: list[Any]
    C_lam: Matrix


@dataclass(frozen=True)
class AlgebraMotion:
    """Elements of an algebra.

    Attributes
    ----------
    acceleration, force, multipliers : v̇, Q_c, λ.
    rows : numbers of the independent rows.
    least_norm : whether λ is the least-norm one; else that of the independent rows, others zero.
    """

    acceleration: list[Any]
    force: list[Any]
    multipliers: list[Any]
    rows: list[int]
    least_norm: bool


def independent_rows(A: FloatArray) -> list[int]:
    """Numbers of rows that are independent at all samples, A of shape (k, m, n).

    First rows come first: a row is omitted where it follows from those before it.
    """
    chosen: list[int] = []
    bases: list[list[FloatArray]] = [[] for _ in A]
    for i in range(A.shape[1]):
        rests = []
        for sample, basis in zip(A, bases, strict=True):
            size = np.linalg.norm(sample[i])
            rest = sample[i] / size if size else sample[i]
            for _ in range(2):  # twice, for rounding
                for e in basis:
                    rest = rest - (e @ rest) * e
            rests.append(rest)
        if all(np.linalg.norm(rest) > ROW_TOLERANCE for rest in rests):
            chosen.append(i)
            for rest, basis in zip(rests, bases, strict=True):
                basis.append(rest / np.linalg.norm(rest))
    return chosen


def solve(
    terms: AlgebraTerms, samples: SampledValues, algebra: Algebra, limit: int
) -> AlgebraMotion:
    """Motion from terms.

    Raises
    ------
    NotApplicableError : an expression outgrows the limit, or the equations are singular.
    """
    n, zero = len(terms.M), algebra.field.zero
    rows = independent_rows(samples.A)
    redundant = len(rows) < len(terms.A)
    if redundant and any(x for row in terms.C_lam for x in row):
        raise NotApplicableError(
            "closed form of the acceleration",
            must="have constraints that are independent or ideal",
            but="has a force that depends on reactions which are not unique",
            advice="Use derive(solve=False) for the terms alone.",
        )
    A, r = [terms.A[i] for i in rows], len(rows)
    across = [[A[k][i] + terms.C_lam[i][rows[k]] for k in range(r)] for i in range(n)]
    K = [[*terms.M[i], *(-x for x in across[i])] for i in range(n)]
    K += [[*A[k], *([zero] * r)] for k in range(r)]
    right = [algebra.total([q, c]) for q, c in zip(terms.Q, terms.C, strict=True)]
    right += [terms.b[i] for i in rows]
    columns = [j for j, x in enumerate(right) if x]
    algebra.budget.begin(1, len(K))
    inverted = inverse(K, _bordered(samples, rows), columns, algebra, limit)
    x = product(inverted, [right[j] for j in columns], algebra, limit)
    acceleration, lam = x[:n], x[n:]
    force = [
        algebra.lowered(algebra.total([terms.C[i], *_products(across[i], lam)])) for i in range(n)
    ]
    if not redundant:
        return AlgebraMotion(acceleration, force, lam, rows, least_norm=True)
    try:
        shared = _least_norm(terms.A, rows, lam, samples.A, algebra, limit)
    except NotApplicableError:
        shared = [zero] * len(terms.A)
        for i, x in zip(rows, lam, strict=True):
            shared[i] = x
        return AlgebraMotion(acceleration, force, shared, rows, least_norm=False)
    return AlgebraMotion(acceleration, force, shared, rows, least_norm=True)


def _products(xs: Sequence[Any], ys: Sequence[Any]) -> list[Any]:
    return [x * y for x, y in zip(xs, ys, strict=True) if x and y]


def _bordered(samples: SampledValues, rows: list[int]) -> FloatArray:
    """The matrix as numbers, where C_λ = 0; it is as regular there as anywhere nearby."""
    A = samples.A[:, rows]
    k, n, r = len(A), samples.M.shape[-1], len(rows)
    K = np.zeros((k, n + r, n + r))
    K[:, :n, :n], K[:, n:, :n] = samples.M, A
    K[:, :n, n:] = -np.swapaxes(A, -1, -2)
    return K


def _least_norm(
    A: Matrix, rows: list[int], lam: list[Any], samples: FloatArray, algebra: Algebra, limit: int
) -> list[Any]:
    """Least-norm multipliers of all rows from those of the independent ones.

    All rows are R times the independent ones; with J columns in which these are regular,
    R = A_J (A_iJ)⁻¹. Then A_iᵀ λ_i = Aᵀ λ is Rᵀ λ = λ_i, whose least-norm solution is
    λ = R (RᵀR)⁻¹ λ_i.
    """
    J = independent_rows(np.swapaxes(samples[:, rows], -1, -2))
    square = [[A[i][j] for j in J] for i in rows]
    every = list(range(len(rows)))
    inverted = inverse(square, samples[:, rows][:, :, J], every, algebra, limit)
    columns = list(zip(*inverted, strict=True))
    R = [product([list(c) for c in columns], [row[j] for j in J], algebra, limit) for row in A]
    normal = [
        [algebra.lowered(algebra.total(_products(x, y))) for y in zip(*R, strict=True)]
        for x in zip(*R, strict=True)
    ]
    numbers = samples[:, :, J] @ np.linalg.inv(samples[:, rows][:, :, J])
    gram = inverse(normal, np.swapaxes(numbers, -1, -2) @ numbers, every, algebra, limit)
    return product(R, product(gram, lam, algebra, limit), algebra, limit)
