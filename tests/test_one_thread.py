"""Products and triangular solutions in one thread are those of NumPy."""

import numpy as np
import pytest

from zwang.linalg import one_thread
from zwang.linalg.one_thread import (
    ONE_THREAD,
    product,
    triangular_solution,
)

#: Rounding of a sum of n products of numbers near one, with room for the order of summing.
ROUNDING = 1e-13


@pytest.mark.parametrize(
    "shape", [(3, 4, 5), (90, 105, 90), (300, 7, 300), (64, 64, 65), (0, 3, 2)]
)
def test_products(shape):
    m, k, n = shape
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    assert np.allclose(product(X, Y), X @ Y, rtol=ROUNDING, atol=ROUNDING * max(k, 1))


def test_no_part_of_a_product_is_large_enough_for_threads(monkeypatch):
    sizes = []
    made = np.matmul

    def counted(x, y, **more):
        sizes.append(x.shape[0] * y.shape[0] * y.shape[1])
        return made(x, y, **more)

    monkeypatch.setattr(one_thread.np, "matmul", counted)
    product(np.ones((200, 150)), np.ones((150, 100)))
    assert len(sizes) > 1
    assert max(sizes) <= ONE_THREAD


@pytest.mark.parametrize("rows", [5, 75, 220])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("columns", [1, 9])
def test_triangular_solutions(rows, transposed, lower, columns):
    rng = np.random.default_rng(2)
    S = np.eye(rows) + 0.5 / rows * rng.standard_normal((rows, rows))
    S = np.asfortranarray(np.tril(S) if lower else np.triu(S))
    rhs = rng.standard_normal((rows, columns))
    x = triangular_solution(S, rhs, lower=lower, transposed=transposed)
    assert np.allclose((S.T if transposed else S) @ x, rhs, rtol=0.0, atol=ROUNDING * rows)
