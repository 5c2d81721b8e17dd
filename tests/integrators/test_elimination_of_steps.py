"""The elimination in the Newton iteration of fixed-step methods."""

import numpy as np
import pytest

from zwang.integrators.fixed_step.step import solve

#: What elimination with pivots loses beyond the condition of the matrix, in units of rounding.
GROWTH = 100.0 * np.finfo(float).eps


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_solution_is_as_good_as_the_condition_allows_whatever_the_size_of_the_rows(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        sizes = 10.0 ** rng.uniform(-6.0, 6.0, (n, 1))
        K = sizes * (rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.6) + 2.0 * np.eye(n))
        right = sizes[:, 0] * rng.normal(size=n)
        x = right.copy()
        assert solve(K.T.copy(), x)
        exact = np.linalg.solve(K / sizes, right / sizes[:, 0])
        limit = GROWTH * np.linalg.cond(K / sizes) * np.abs(exact).max()
        assert np.abs(x - exact).max() < limit


def test_zero_on_the_diagonal_takes_another_row():
    x = np.array([2.0, 3.0])
    assert solve(np.array([[0.0, 1.0], [1.0, 0.0]]), x)
    assert np.array_equal(x, [3.0, 2.0])


@pytest.mark.parametrize("K", [np.zeros((2, 2)), np.ones((3, 3)), np.full((2, 2), np.nan)])
def test_a_singular_matrix_is_refused(K):
    assert not solve(K.copy(), np.ones(len(K)))
