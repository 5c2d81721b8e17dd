"""Sums over eight numbers in compiled loops, and kernels whose lanes share an input."""

import casadi as ca
import numpy as np
import pytest

from zwang.codegen import compile as compile_kernel
from zwang.codegen.jit import loop
from zwang.codegen.node_sums import NODES, change, mix, spread

ENTRIES, FIRST, LAST = 7, 2, 6


@loop
def all_sums(out, totals, weights, F, G, scale, start, size, first, last):
    mix(out, weights, F, scale, start, first, last)
    spread(totals[0], weights, F, size, first, last)
    change(totals[1], F, G, size, first, last)


@pytest.fixture
def arrays():
    generator = np.random.default_rng(3)
    F, G = generator.normal(size=(2, ENTRIES, NODES))
    weights, size = generator.normal(size=(NODES, NODES)), generator.normal(size=ENTRIES)
    return weights, F, G, generator.normal(size=(ENTRIES, 1)), size


def test_sums_are_those_of_matrices(arrays):
    weights, F, G, start, size = arrays
    out, totals = np.full((ENTRIES, NODES), 7.0), np.empty((2, NODES))
    all_sums(out, totals, weights, F, G, 0.3, start, size, FIRST, LAST)
    rows = slice(FIRST, LAST)
    np.testing.assert_allclose(out[rows], start[rows] + 0.3 * F[rows] @ weights, rtol=1e-13)
    np.testing.assert_array_equal(np.delete(out, np.arange(FIRST, LAST), axis=0), 7.0)
    weighted = size[rows, None] * (F[rows] @ weights)
    np.testing.assert_allclose(totals[0], (weighted**2).sum(axis=0), rtol=1e-13)
    moved = size[rows, None] * (F - G)[rows]
    np.testing.assert_allclose(totals[1], (moved**2).sum(axis=0), rtol=1e-13)


def test_the_same_lines_work_in_python(arrays):
    weights, F, G, start, size = arrays
    found = [(np.zeros((ENTRIES, NODES)), np.zeros((2, NODES))) for _ in range(2)]
    rest = (weights, F, G, 0.3, start, size, FIRST, LAST)
    all_sums(*found[0], *rest)
    all_sums.function(*found[1], *rest)  # pyright: ignore[reportFunctionMemberAccess]
    for compiled, plain in zip(*found, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-13)


@pytest.mark.parametrize("llvm", ["on", "off"])
def test_lanes_that_share_an_input_give_what_each_gives_alone(llvm, monkeypatch):
    monkeypatch.setenv("ZWANG_LLVM", llvm)
    x, p = ca.SX.sym("x", 3), ca.SX.sym("p", 2)
    function = ca.Function("f", [x, p], [ca.sin(p[0] * x) + p[1] * ca.sumsqr(x), x[0] / p[1]])
    X, numbers = np.random.default_rng(0).normal(size=(3, 8)), np.array([1.3, 0.4])
    together = compile_kernel(function, lanes=8, shared=[1])(X, numbers)
    one = compile_kernel(function)
    for lane in range(8):
        for found, alone in zip(together, one(X[:, lane], numbers), strict=True):
            assert found[:, lane].tobytes() == alone.tobytes()
