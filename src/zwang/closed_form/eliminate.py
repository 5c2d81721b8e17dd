"""Closed forms: linear equations with symbolic coefficients, pivots chosen by numbers.

Gauss–Jordan elimination after Bareiss: every entry stays a polynomial, a minor of the matrix, and
the division by the pivot before the last leaves no remainder, so that no common divisor is looked
for until the end. A pivot must not vanish, and that is decided where the coefficients are numbers:
at sampled states. Among those that qualify, the shortest one with the least fill is taken. Right
sides stay out of it: a unit matrix takes their place, whose entries have the coefficients' few
symbols only, and they are multiplied in afterwards.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import NotApplicableError

if TYPE_CHECKING:
    from zwang.closed_form.algebra import Algebra
    from zwang.terms import FloatArray

__all__ = ["inverse", "product"]

#: Smallest pivot, relative to the largest entry that is left.
PIVOT_TOLERANCE = 1e-7


def inverse(
    K: list[list[Any]], samples: FloatArray, columns: list[int], algebra: Algebra, limit: int
) -> list[list[Any]]:
    """Columns of K⁻¹.

    Parameters
    ----------
    K : square, elements of the algebra's field.
    samples : the same at some states as numbers, shape (k, n, n), regular.
    columns : which columns of the inverse are requested.
    limit : number of terms an entry may grow to.

    Raises
    ------
    NotApplicableError : no pivot differs from zero at all samples, or the limit is exceeded.
    """
    n, ring = len(K), algebra.field.ring
    rows: list[list[Any]] = []
    for i, row in enumerate(K):
        common = reduce(lambda x, y: x.lcm(y), (x.denom for x in row), ring.one)
        unit = [common if i == j else ring.zero for j in columns]
        rows.append([*(x.numer * common.quo(x.denom) for x in row), *unit])
    numbers = np.array(samples, dtype=float)
    numbers /= np.abs(numbers).max(axis=(1, 2), initial=1e-300, keepdims=True)
    free = (set(range(n)), set(range(n)))
    pivots: list[tuple[int, int]] = []
    divisor = ring.one
    while free[0]:
        i, j = _pivot(rows, numbers, *free)
        pivots.append((i, j))
        free[0].remove(i)
        free[1].remove(j)
        algebra.budget.step()
        _clear(rows, i, j, divisor, algebra, limit)
        with_pivot = numbers[:, :, j] / numbers[:, i, j][:, None]
        with_pivot[:, i] = 0.0
        numbers -= with_pivot[:, :, None] * numbers[:, i][:, None, :]
        divisor = rows[i][j]
    result: list[list[Any]] = [[] for _ in range(n)]
    for i, j in pivots:
        result[j] = [algebra.fraction(x, rows[i][j]) for x in rows[i][n:]]
    return result


def _pivot(
    rows: list[list[Any]], numbers: FloatArray, free_rows: set[int], free_columns: set[int]
) -> tuple[int, int]:
    sizes = np.abs(numbers)
    largest = sizes[:, sorted(free_rows)][:, :, sorted(free_columns)].max(axis=(1, 2))
    in_column = {j: sum(bool(rows[i][j]) for i in free_rows) for j in free_columns}
    found = []
    for i in free_rows:
        in_row = sum(bool(rows[i][j]) for j in free_columns)
        for j in free_columns:
            if rows[i][j] and np.all(sizes[:, i, j] > PIVOT_TOLERANCE * largest):
                fill = (in_row - 1) * (in_column[j] - 1)
                found.append((len(rows[i][j]), fill, i, j))
    if not found:
        raise NotApplicableError(
            "closed form of the acceleration",
            must="have rank [M; A] = n",
            but="the system is singular at a sampled state",
        )
    return min(found)[2:]


def _clear(
    rows: list[list[Any]], i: int, j: int, divisor: Any, algebra: Algebra, limit: int
) -> None:
    """Make column j zero in all rows but row i: x ← (pivot·x − factor·y) / divisor."""
    pivot, zero = rows[i][j], rows[i][j].ring.zero
    for k, row in enumerate(rows):
        if k == i:
            continue
        factor = row[j]
        row[j] = zero
        for c, y in enumerate(rows[i]):
            x = row[c]
            if c == j or not (x or (factor and y)):
                continue
            algebra.budget.check()
            # A product has at most as many terms as pairs, and takes as many multiplications.
            check_length(max(len(pivot) * len(x), len(factor) * len(y)) // 20, limit)
            x = pivot * x - factor * y
            row[c] = x if divisor == 1 else x.quo(divisor)
            check_length(len(row[c]), limit)


def check_length(terms: int, limit: int) -> None:
    """Refuse expressions that outgrow the limit."""
    if terms > limit:
        raise NotApplicableError(
            "closed form of the acceleration",
            must=f"have at most {limit} terms",
            but=f"an intermediate expression has about {terms}",
            advice="Use derive(solve=False) for the terms alone, put numbers in for parameters "
            "with derive(parameters=…), or raise derive(limit=…).",
        )


def product(matrix: list[list[Any]], vector: list[Any], algebra: Algebra, limit: int) -> list[Any]:
    """Matrix times vector, each entry cancelled once."""
    result = []
    for row in matrix:
        parts = [x * y for x, y in zip(row, vector, strict=True) if x and y]
        entry = algebra.lowered(algebra.total(parts))
        check_length(len(entry.numer), limit)
        result.append(entry)
    return result
