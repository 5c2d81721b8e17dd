"""Contradictory constraints: the planted group is found, named, and shown how to resolve."""

import time

import exact
import numpy as np
import pytest

from samples import assert_close
from zwang.diagnosis.circuits import circuit_on, circuits
from zwang.diagnosis.conflicts import minimal_conflict
from zwang.diagnosis.explain import explain, explain_terms, inconsistent_error
from zwang.errors import InconsistentConstraintsError
from zwang.linalg.scaling import ScaledTerms
from zwang.solvers.dense import solve_terms
from zwang.terms import EquationTerms


def nonzero(rng, size):
    return rng.choice([-3, -2, -1, 1, 2, 3], size=size)


def faulty_system(seed):
    """Integer rows with one contradictory group of 2 to 8 rows, among consistent dependencies.

    A third of the dependencies share a row with the group, so that other, larger groups
    contradict as well. Rows come in random order and in units of 1e-3 to 1e3.
    """
    rng = np.random.default_rng([2, seed])
    size = 2 + seed % 7
    n = int(rng.integers(18, 24))
    while True:
        free = rng.integers(-2, 3, size=(n, n))
        if exact.rank(free) == n:
            break
    used = size - 1
    group = np.vstack([free[:used], nonzero(rng, used) @ free[:used]])
    rows, faulty = [group], int(rng.integers(0, size))
    for k in range(int(rng.integers(1, 4))):  # consistent dependencies
        width = int(rng.integers(3, 6))
        if used + width > n:
            break
        own = free[used : used + width]
        used += width
        shared = group[[(faulty + 1) % size]] if k % 3 == 2 else np.zeros((1, n), dtype=int)
        rows.append(np.vstack([own, nonzero(rng, width) @ own + shared]))
    rows.append(free[used : used + 3])  # unrelated rows
    A = np.vstack(rows)
    b = A @ rng.integers(-4, 5, size=n)
    gap = int(rng.choice([-2, -1, 1, 2]))
    b[faulty] += gap
    order = rng.permutation(len(A))
    A, b = A[order], b[order]
    where = {int(old): new for new, old in enumerate(order)}
    units = 10.0 ** rng.integers(-3, 4, size=len(A))
    planted = tuple(sorted(where[i] for i in range(size)))
    return A, b, units, planted, where[faulty], gap


FAULTY = range(50)


@pytest.mark.inventory("UK-07", "XX-05")
@pytest.mark.parametrize("seed", FAULTY)
def test_explain_finds_exactly_the_planted_group(seed):
    A, b, units, planted, faulty, gap = faulty_system(seed)
    names = [f"c{i}" for i in range(len(A))]
    found = explain(np.eye(A.shape[1]), A * units[:, None], b * units, names=names)
    assert found.consistent is False
    first = found.contradictions[0]
    assert first.rows == planted
    assert first.smallest
    assert first.names == tuple(names[i] for i in planted)
    # The gap is that of the planted mistake, weighted as the row is weighted in the group.
    weight = first.coefficients[planted.index(faulty)]
    assert first.gap == pytest.approx(weight * gap * units[faulty], rel=1e-9)
    assert first.coefficients @ (A * units[:, None])[list(planted)] == pytest.approx(0, abs=1e-6)
    # Every contradiction listed is one, irreducible, and gone without the faulty row.
    for item in found.contradictions:
        rows = list(item.rows)
        assert exact.contradicts(A[rows], b[rows])
        for i in rows:
            rest = [j for j in rows if j != i]
            assert not exact.contradicts(A[rest], b[rest])
    assert names[faulty] in first.drop_any
    rest = [i for i, name in enumerate(names) if name not in first.drop]
    assert not exact.contradicts(A[rest], b[rest])


@pytest.mark.inventory("UK-07")
@pytest.mark.parametrize("seed", range(0, 50, 5))
def test_the_error_names_the_group_and_what_to_drop(seed):
    A, b, units, planted, faulty, _ = faulty_system(seed)
    names = [f"c{i}" for i in range(len(A))]
    n = A.shape[1]
    terms = EquationTerms.of(np.eye(n), np.zeros(n), A * units[:, None], b * units, names=names)
    error = inconsistent_error(ScaledTerms.of(terms))
    assert isinstance(error, InconsistentConstraintsError)
    assert error.rows == planted
    assert error.names == tuple(names[i] for i in planted)
    with pytest.raises(InconsistentConstraintsError) as raised:
        solve_terms(terms)
    assert raised.value.rows == planted
    assert "Drop" in error.advice
    assert names[faulty] in error.advice.split(";")[0]
    # The right side it proposes makes the constraints agree.
    named, value = error.advice.split("or give ")[1].rstrip(".").split(" the right side ")
    corrected = (b * units).copy()
    corrected[names.index(named)] = _value(value)
    assert explain(np.eye(n), A * units[:, None], corrected, tolerances=_loose()).consistent


def _value(text):
    """The number in a message, which is rounded to six digits."""
    text = text.replace("−", "-")
    if "/" in text:
        above, below = text.split("/")
        return float(above) / float(below)
    return float(text)


def _loose():
    from zwang.linalg.rank import Tolerances

    return Tolerances(consistency=1e-4)


def test_a_row_of_zeros_with_a_right_side_is_named_alone():
    error = inconsistent_error(
        ScaledTerms.of(
            EquationTerms.of(np.eye(2), [0, 0], [[1, 1], [0, 0]], [1, 2], names=["a", "b"])
        )
    )
    assert error.rows == (1,)
    assert "its row of A is zero" in str(error)
    found = explain(np.eye(2), [[1, 1], [0, 0]], [1, 2], names=["a", "b"])
    assert found.contradictions[0].names == ("b",)


def test_two_separate_mistakes_are_both_told():
    A = [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]]
    b = [0, 1, 0, 0, 5]
    found = explain(np.eye(3), A, b)
    assert [item.rows for item in found.contradictions] == [(0, 1), (2, 3, 4)]
    assert str(found).count("Drop any one of") == 2


def test_entangled_mistakes_ask_for_several_rows_to_be_dropped():
    # Three copies that all disagree: no single row resolves it, any two do.
    found = explain(np.eye(2), [[1, 1]] * 3, [0, 1, 3])
    assert all(item.drop_any == () for item in found.contradictions)
    drop = found.contradictions[0].drop
    assert len(drop) == 2
    assert f"Drop {drop[0]} and {drop[1]}, or correct their right sides." in str(found)
    error = inconsistent_error(
        ScaledTerms.of(EquationTerms.of(np.eye(2), [0, 0], [[1, 1]] * 3, [0, 1, 3]))
    )
    assert "removes all" in error.advice


def test_rows_that_always_occur_together_count_once_when_dropping():
    # x is said to be 0, 1 and, through x + y and y, 5. Dropping x + y and y leaves 0 against 1.
    found = explain(np.eye(2), [[1, 0], [1, 0], [1, 1], [0, 1]], [0, 1, 5, 0])
    drop = set(found.contradictions[0].drop)
    assert len(drop) == 2
    assert drop != {"row 2", "row 3"}


def test_twenty_generic_rows_are_searched_completely_in_seconds():
    # Any 11 rows are dependent, the most choices there can be; the last nine are by themselves,
    # and show up in the first choices only. The faulty row counts little in them.
    rng = np.random.default_rng(10)
    A = rng.standard_normal((20, 10))
    own = np.array([4, -2, 3, -0.25, 2, -3, 1, 5])
    A[11] = own @ A[12:]
    b = A @ rng.standard_normal(10)
    b[15] += 1.0
    start = time.process_time()
    found = explain(np.eye(10), A, b)
    assert time.process_time() - start < 20.0  # of the processor: a second or two
    first = found.contradictions[0]
    assert first.smallest
    assert first.rows == tuple(range(11, 20))
    assert_close(first.coefficients, [4, *(-4 * own)])
    assert first.drop_any == ("row 15",)


@pytest.mark.parametrize("faulty", [2, 11, 40, 57])
def test_large_entangled_systems_give_an_irreducible_group_by_deletion(faulty):
    rng = np.random.default_rng([5, faulty])
    A = rng.integers(-2, 3, size=(60, 25))
    b = A @ rng.integers(-2, 3, size=25)
    b[faulty] += 1
    found = explain(np.eye(25), A.astype(float), b)
    first = found.contradictions[0]
    assert not first.smallest
    rows = list(first.rows)
    assert faulty in rows
    assert exact.contradicts(A[rows], b[rows])
    for i in rows:
        rest = [j for j in rows if j != i]
        assert not exact.contradicts(A[rest], b[rest])
    assert first.drop == (f"row {faulty}",)


def test_the_smallest_conflict_agrees_with_trying_all_subsets():
    from itertools import combinations

    for seed in range(12):
        rng = np.random.default_rng([6, seed])
        m, n = 9, 5
        A = rng.integers(-1, 2, size=(m, n))
        b = A @ rng.integers(-2, 3, size=n) + (rng.random(m) < 0.25)
        sizes = [
            size
            for size in range(1, m + 1)
            if any(exact.contradicts(A[list(s)], b[list(s)]) for s in combinations(range(m), size))
        ]
        found = explain(np.eye(n), A, b)
        assert found.consistent == (not sizes)
        if sizes:
            assert len(found.contradictions[0].rows) == sizes[0]


def test_a_system_without_contradiction_has_no_minimal_conflict():
    A = np.array([[1.0, 0.0], [0.6, 0.8], [0.8, 0.6]])
    Z = np.linalg.svd(A)[0][:, 2:]
    assert minimal_conflict(A, A @ [1.0, 2.0], Z, np.ones(3), 1e-9) is None
    conflict = minimal_conflict(A, A @ [1.0, 2.0] + [0, 0, 1], Z, np.ones(3), 1e-9)
    assert conflict.circuit.rows == (0, 1, 2)
    assert circuits(A, Z)[1]


def test_a_circuit_is_found_within_rows_only_if_it_is_the_only_one():
    A = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [0.6, 0.8, 0], [0.8, 0.6, 0]])
    assert circuit_on(A, np.array([0, 1, 3])).rows == (0, 1, 3)
    assert circuit_on(A, np.array([0, 1, 2, 3])).rows == (0, 1, 3)  # row 2 has no part in it
    assert circuit_on(A, np.array([0, 1, 3, 4])) is None  # two dependencies
    assert circuit_on(A, np.array([0, 1, 2])) is None  # none


def test_rows_to_drop_is_as_small_as_the_mistakes():
    rng = np.random.default_rng(8)
    A = rng.standard_normal((10, 4))
    b = A @ rng.standard_normal(4)
    b[[2, 6]] += [1.0, -0.7]
    found = explain(np.eye(4), A, b)
    assert found.contradictions[0].drop == ("row 2", "row 6")


def test_solving_and_explaining_agree_on_what_is_a_contradiction():
    rng = np.random.default_rng(9)
    A = rng.integers(-2, 3, size=(6, 4)).astype(float)
    x = rng.integers(-2, 3, size=4)
    for size in (1e-13, 1e-11, 1e-7, 1.0):
        b = A @ x
        b[3] += size
        terms = EquationTerms.of(np.eye(4), rng.standard_normal(4), A, b)
        if explain_terms(terms).consistent:
            solve_terms(terms)
        else:
            with pytest.raises(InconsistentConstraintsError):
                solve_terms(terms)
