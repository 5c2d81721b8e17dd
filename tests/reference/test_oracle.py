"""The exact solver: its answers satisfy the defining equations without any rounding.

What an answer must satisfy is checked in rationals, by other means than those that found it, and a
worked example by hand. The stored answers are those that their script writes.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from reference.make_agreement import FILE, entry, read, seeds, system
from reference.oracle import (
    DoubleDouble,
    NoUniqueSolutionError,
    independent_rows,
    rationals,
    solve_exactly,
)
from reference.systems import Draws, Systems, condition, random_systems

STORED = json.loads(FILE.read_text(encoding="utf-8"))


def test_incline_with_a_doubled_constraint_by_hand():
    # Mass 2 under gravity 10 on y = −x: half of gravity along the incline. Of λ₁ + 2 λ₂ = 10 the
    # least-norm solution is (2, 4).
    M, Q = 2.0 * np.eye(2), np.array([0.0, -20.0])
    exact = solve_exactly(M, Q, np.array([[1.0, 1.0], [2.0, 2.0]]), np.zeros(2))
    assert exact.acceleration.high.tolist() == [5.0, -5.0]
    assert exact.constraint_force.high.tolist() == [10.0, 10.0]
    assert exact.multipliers.high.tolist() == [2.0, 4.0]
    assert (exact.constraint_rank, exact.mass_rank, exact.stacked_rank) == (1, 2, 2)


@pytest.mark.parametrize("size", [(1, 2), (3, 2), (4, 6), (7, 7), (10, 4)])
def test_answers_satisfy_the_equations_without_rounding(size, monkeypatch):
    # Keep the rationals instead of rounding them to pairs of floats.
    monkeypatch.setattr(DoubleDouble, "of", classmethod(lambda cls, values: list(values)))
    systems = random_systems(Draws(1, *size), 5, *size)
    for k in range(len(systems)):
        one = systems[k]
        exact = solve_exactly(*one.terms)
        M, Q, A, b, C = (rationals(part) for part in one.terms)
        v_dot, Q_c, lam = (
            fmpq_mat(len(x), 1, x)
            for x in (exact.acceleration, exact.constraint_force, exact.multipliers)
        )
        assert M * v_dot == Q + Q_c
        assert A * v_dot == b
        assert A.transpose() * lam + C == Q_c
        # Least norm: orthogonal to every dependency of the rows, here by elimination of [A λ].
        assert _joined(A, lam).rank() == A.rank()


def _joined(A: fmpq_mat, column: fmpq_mat) -> fmpq_mat:
    rows = [[*(A[i, j] for j in range(A.ncols())), column[i, 0]] for i in range(A.nrows())]
    return fmpq_mat(A.nrows(), A.ncols() + 1, [x for row in rows for x in row])


def test_independent_rows_generate_all_rows():
    A = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 0.0], [0.5, 0.0, 3.0]])
    rows, T = independent_rows(A)
    assert rows == [0, 3]
    assert T * rationals(A[rows]) == rationals(A)


def test_double_double_keeps_thirty_digits():
    third = DoubleDouble.of([fmpq(1, 3)])
    assert abs(fmpq(1, 3) - _exact(third.high[0]) - _exact(third.low[0])) < fmpq(1, 10**32)
    # One ulp of 1/3 is 2^−54; the error of the rounded value is known to many digits of its own.
    assert third.error(np.array([1.0 / 3.0]))[0] == pytest.approx(-1.850371707708594e-17, rel=1e-14)


def _exact(x: float) -> fmpq:
    return fmpq(*float(x).as_integer_ratio())


def test_systems_without_a_unique_answer_are_refused():
    one, zero = np.ones(1), np.zeros(1)
    with pytest.raises(NoUniqueSolutionError, match="rank"):
        solve_exactly(np.zeros((1, 1)), one, np.zeros((1, 1)), zero)
    with pytest.raises(NoUniqueSolutionError, match="range"):
        solve_exactly(np.eye(1), one, np.ones((2, 1)), np.array([1.0, 2.0]))


def test_condition_of_known_systems():
    # A unit mass on one unit row: eigenvalues of [[1, 1], [1, 0]] are (1 ± √5)/2.
    unit = Systems(*(np.array(x)[None] for x in ([[1.0]], [0.0], [[1.0]], [0.0], [0.0])))
    assert condition(unit) == pytest.approx([(1 + 5**0.5) / (5**0.5 - 1)])
    # Neither units of the coordinates nor those of the rows count.
    scaled = Systems(*(np.array(x)[None] for x in ([[9.0]], [0.0], [[700.0]], [0.0], [0.0])))
    assert condition(scaled) == pytest.approx(condition(unit))
    loose = Systems(*(np.array(x)[None] for x in ([[0.0]], [0.0], [[0.0]], [0.0], [0.0])))
    assert condition(loose) == [np.inf]


def test_stored_systems_cover_all_kinds_of_rank():
    ranks = [entry["ranks of A, M, [M; A]"] for entry in STORED]
    sizes = [(entry["n"], entry["m"]) for entry in STORED]
    kinds = {
        (r_M < n, r_A < m, r_A == n) for (n, m), (r_A, r_M, _) in zip(sizes, ranks, strict=True)
    }
    assert len(kinds) == 8  # M singular or not, rows redundant or not, A of full column rank or not
    assert max(n for n, _ in sizes) == 60
    assert any(m > n for n, m in sizes)


@pytest.mark.parametrize("stored", STORED, ids=lambda s: f"{s['n']}x{s['m']}-{s['seed']}")
def test_stored_systems_are_those_of_the_seed(stored):
    assert system(stored["n"], stored["m"], stored["seed"]).checksum() == stored["checksum"]


def test_stored_answers_are_those_of_the_script():
    assert [(s["n"], s["m"], s["seed"]) for s in STORED] == seeds()
    small = [s for s in STORED if s["n"] <= 15]
    assert [entry(s["n"], s["m"], s["seed"]) for s in small] == small
    assert read(STORED[0]).stacked_rank == STORED[0]["n"]


@pytest.mark.campaign
def test_all_stored_answers_are_those_of_the_script():
    assert [entry(*seed) for seed in seeds()] == STORED
