"""The benchmark of `zwang.solve` runs, measures what it says, and tells by its exit code."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import zwang as zw
from benchmarks import solve


@pytest.fixture(scope="module")
def benchmark():
    return solve


def test_systems_have_the_ranks_they_are_named_after(benchmark):
    assert zw.solve(*benchmark.terms(12, 8)).ranks.constraint == 8
    assert zw.solve(*benchmark.terms(12, 8, redundant=2)).ranks.constraint == 6
    s = zw.solve(*benchmark.terms(12, 8, massless=4))
    assert (s.ranks.mass, s.ranks.stacked) == (8, 12)


def test_chain_is_solved_as_sparse_and_as_dense_terms_alike(benchmark):
    M, Q, A, b = benchmark.chain(200)
    sparse, dense = zw.solve(M, Q, A, b), zw.solve(M.toarray(), Q, A.toarray(), b)
    assert sparse.scaled is None  # it was not made dense
    np.testing.assert_allclose(sparse.acceleration, dense.acceleration, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(sparse.multipliers, dense.multipliers, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(("goal", "code"), [(1e9, 0), (1e-9, 1), (None, 0)])
def test_exit_code_tells_whether_a_goal_is_missed(benchmark, goal, code, monkeypatch, capsys):
    M, Q, A, b = benchmark.terms(3, 1)
    case = benchmark.Case(
        "a small one",
        lambda: zw.solve(M, Q, A, b),
        lambda: np.linalg.svd(A),
        calls=3,
        passes=2,
        goal=goal,
    )
    monkeypatch.setattr(benchmark, "cases", lambda: [case])
    monkeypatch.setattr(sys, "argv", ["solve.py", "--json"])
    assert benchmark.main() == code
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert result["ratio"] == pytest.approx(result["seconds"] / result["yardstick_seconds"])
    assert result["missed"] == bool(code)
