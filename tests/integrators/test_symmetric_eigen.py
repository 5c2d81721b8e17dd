"""Eigenvalues and vectors that the guard computes in one thread."""

import numpy as np
import pytest

from compiling import needs_compiler
from zwang.codegen import environment
from zwang.integrators import symmetric_eigen as module
from zwang.integrators.symmetric_eigen import ONE_THREAD, symmetric_eigen

#: Rounding of a few hundred rotations of numbers near one.
ROUNDING = 1e-12
SIZES = [1, 2, 25, 60, ONE_THREAD, ONE_THREAD + 1, 150, 240]


def matrix(n, values):
    Q, _ = np.linalg.qr(np.random.default_rng(n).standard_normal((n, n)))
    S = (Q * values) @ Q.T
    return 0.5 * (S + S.T)


def agrees(S, values):
    found, vectors = symmetric_eigen(S)
    n = len(S)
    size = np.abs(values).max()
    np.testing.assert_allclose(found, values, rtol=0.0, atol=ROUNDING * size)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), rtol=0.0, atol=ROUNDING)
    np.testing.assert_allclose(S @ vectors, vectors * found, rtol=0.0, atol=ROUNDING * size)


@pytest.mark.parametrize("n", SIZES)
def test_eigenvalues_and_vectors(n):
    """Many times the same, as equal links of a chain give, and zeros."""
    values = np.sort(np.repeat([0.0, 1e-3, 1.0, 2.0, 2.0], -(-n // 5))[:n])
    agrees(matrix(n, values), values)


@pytest.mark.parametrize("size", [1e-140, 1.0, 1e140])
def test_of_any_size(size):
    values = size * np.sort(np.random.default_rng(3).uniform(-1.0, 1.0, 130))
    agrees(matrix(130, values), values)


def test_a_matrix_that_is_tridiagonal_or_diagonal_already():
    n = ONE_THREAD + 20
    agrees(np.diag(np.arange(1.0, n + 1)), np.arange(1.0, n + 1))
    T = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    angles = np.arange(1, n + 1) * np.pi / (n + 1)
    agrees(T, 2.0 - 2.0 * np.cos(angles))


def test_what_is_given_is_left_as_it_is():
    S = matrix(ONE_THREAD + 5, np.arange(ONE_THREAD + 5.0))
    before = S.copy()
    symmetric_eigen(S)
    assert np.array_equal(S, before)


@needs_compiler
@pytest.mark.parametrize("n", [ONE_THREAD + 1, 180])
def test_no_library_with_threads_is_asked(n, monkeypatch):
    from scipy.linalg import lapack

    def refused(*_, **__):
        raise AssertionError("a call that takes threads")

    monkeypatch.setattr(lapack, "dsyevr", refused)
    monkeypatch.setattr(module.np.linalg, "eigh", refused)
    values = np.arange(float(n))
    agrees(matrix(n, values), values)


def test_without_llvm(monkeypatch):
    monkeypatch.setenv(environment.LLVM, "off")
    values = np.arange(150.0)
    agrees(matrix(150, values), values)
