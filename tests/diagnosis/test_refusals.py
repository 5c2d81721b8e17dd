"""Ill-posed systems are refused with an error that names the direction."""

import exact
import numpy as np
import pytest

from samples import assert_close
from zwang.diagnosis.explain import explain, indefinite_error, not_unique_error
from zwang.diagnosis.passport import passport
from zwang.diagnosis.splits import splits
from zwang.errors import InconsistentConstraintsError, InputError, NotUniqueError
from zwang.linalg.scaling import ScaledTerms
from zwang.solvers.dense import solve_terms
from zwang.terms import EquationTerms


def ill_posed(seed):
    """Integer M ≥ 0 and A that both vanish along planted integer directions w."""
    rng = np.random.default_rng([3, seed])
    n, loose = int(rng.integers(4, 10)), 1 + seed % 2
    while True:
        w = np.zeros((n, loose), dtype=int)
        for k in range(loose):
            support = rng.choice(n, size=int(rng.integers(1, 4)), replace=False)
            w[support, k] = rng.choice([-3, -2, -1, 1, 2, 3], size=len(support))
        if exact.rank(w) == loose:
            break
    across = exact.nullspace(w.T).T  # rows orthogonal to the planted directions
    across = np.round(across * 2 * 3 * 2 * 3 * 5 * 7)  # small denominators: integers again
    while True:
        mix = rng.integers(-1, 2, size=(n, len(across)))
        M = mix @ across
        M = M.T @ M
        A = rng.integers(-1, 2, size=(max(n - 3, 1), len(across))) @ across
        if exact.rank(np.vstack([M, A])) == n - loose and np.abs(A).sum(axis=1).all():
            return M / np.abs(M).max(), A / np.abs(across).max(), w


@pytest.mark.inventory("US-06", "UM-09")
@pytest.mark.parametrize("seed", range(40))
def test_directions_without_mass_or_constraint_are_named(seed):
    M, A, w = ill_posed(seed)
    n = len(M)
    coordinates = [f"u{j}" for j in range(n)]
    terms = EquationTerms.of(M, np.zeros(n), A, np.zeros(len(A)), coordinates=coordinates)
    error = not_unique_error(ScaledTerms.of(terms))
    assert isinstance(error, NotUniqueError)
    assert error.directions.shape == w.shape
    # The same space as the planted one, and its coordinates in words.
    assert np.linalg.matrix_rank(np.hstack([error.directions, w]), tol=1e-8) == w.shape[1]
    for name, row in zip(coordinates, w, strict=True):
        assert (name in str(error)) == bool(row.any())
    found = explain(M, A, coordinates=coordinates)
    assert not found.unique
    assert not found.well_posed
    with pytest.raises(
        NotUniqueError,
        match=r"acceleration must be determined by mass or constraints \(needs rank \[M; A\] =",
    ):
        solve_terms(terms)


def test_the_direction_is_told_in_words():
    M = np.diag([1.0, 0.0, 0.0])
    error = not_unique_error(
        ScaledTerms.of(EquationTerms.of(M, [0, 0, 0], [[0, 2, 1]], [0], coordinates=list("xyz")))
    )
    assert str(error) == (
        "acceleration must be determined by mass or constraints (needs rank [M; A] = 3), but "
        "there is a direction with neither (y and z move together, z = −2 y). Give y or z mass "
        "or a constraint, or ask for all solutions with family=True."
    )
    assert_close(error.directions, [[0], [1], [-2]])


@pytest.mark.parametrize("seed", range(10))
def test_the_direction_of_negative_energy_is_named(seed):
    rng = np.random.default_rng([4, seed])
    n, bad = 5, seed % 5
    R = rng.standard_normal((n, n))
    M = R @ R.T + np.eye(n)
    M[bad, :] = M[:, bad] = 0.0
    M[bad, bad] = -2.0
    error = indefinite_error(
        ScaledTerms.of(EquationTerms.of(M, np.zeros(n), coordinates=list("abcde")))
    )
    assert isinstance(error, InputError)
    assert f"for the velocity {'abcde'[bad]} = 1." in str(error)
    assert "kinetic energy −1 for" in str(error)
    assert not explain(M).semidefinite


def test_passport_and_splits_refuse_what_has_no_single_motion():
    for call in (passport, splits):
        with pytest.raises(NotUniqueError, match="q1 moves alone"):
            call(np.diag([1.0, 0.0]), [0, 0], [[1.0, 0.0]], [0])
        with pytest.raises(InconsistentConstraintsError, match="row 0 − row 1"):
            call(np.eye(2), [0, 0], [[1.0, 0.0], [1.0, 0.0]], [0, 1])
        with pytest.raises(InputError, match="positive semi-definite"):
            call(np.diag([1.0, -1.0]), [0, 0], [[1.0, 0.0]], [0])
        with pytest.raises(InputError, match="single system"):
            call(np.stack([np.eye(2)] * 2), [0, 0], [[1.0, 0.0]], [0])
