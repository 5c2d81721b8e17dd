"""Right sides are judged by the rounding of the numbers as they were given, and digits are told."""

import numpy as np
import pytest

import zwang as zw
from zwang.errors import InconsistentConstraintsError
from zwang.terms import EquationTerms

THREE = [[1, 0, 0], [0, 1, 0], [1, 1, 0]]
TWICE = [[1, 1], [2, 2]]


def accuracy_notes(s):
    return [note for note in s.notes if "redundant" not in note]


def test_a_zero_within_the_rounding_of_forces_contradicts_nothing():
    s = zw.solve(np.eye(3), [10, 3, 5], THREE, [0, 0, 1e-15])
    np.testing.assert_allclose(s.acceleration, [0, 0, 5], atol=1e-14)
    assert accuracy_notes(s) == []
    assert zw.explain(np.eye(3), THREE, [0, 0, 1e-15], [10, 3, 5]).consistent


@pytest.mark.parametrize(
    ("M", "Q", "b"),
    [
        (np.eye(2), [10, -10], [200, 400 + 2.4e-7]),  # 6e-10 of it
        (np.diag([1e-8, 1e-8]), [10, -10], [0, 1]),  # small beside the motion, 1e9
        (np.eye(2), [0, 0], [1, 2 + 1e-13]),
    ],
)
def test_more_than_rounding_in_exact_numbers_is_a_contradiction(M, Q, b):
    with pytest.raises(InconsistentConstraintsError, match="2·row 0 − row 1") as caught:
        zw.solve(M, Q, TWICE, b)
    assert caught.value.rows == (0, 1)
    assert not zw.explain(M, TWICE, b, Q).consistent
    with pytest.raises(InconsistentConstraintsError):
        zw.passport(M, Q, TWICE, b)


def test_right_sides_known_to_fewer_digits_may_be_said_to_be():
    loose = zw.Tolerances(consistency=1e-9)
    s = zw.solve(np.eye(2), [10, -10], TWICE, [200, 400 + 1e-8], tolerances=loose)
    np.testing.assert_allclose(s.acceleration, [110, 90], rtol=1e-9)


def test_rows_in_single_precision_depend_on_each_other_as_on_paper():
    A = np.array([[0.1, 0.2, 0.3], [0.3, 0.1, 0.7], [0.4, 0.3, 1.0]], dtype=np.float32)
    b = np.array([0.1, 0.2, 0.3], dtype=np.float32)
    s = zw.solve(np.eye(3), [1, 2, 3], A, b)
    assert s.ranks.constraint == 2
    assert np.abs(s.multipliers).max() < 10.0
    assert accuracy_notes(s) == []
    for as_given in (list(A), [list(row) for row in A]):
        assert zw.solve(np.eye(3), [1, 2, 3], as_given, b).ranks.constraint == 2
    with pytest.raises(InconsistentConstraintsError):
        zw.solve(np.eye(3), [1, 2, 3], A, np.array([0.1, 0.2, 0.301], dtype=np.float32))
    # Taken at their word, they are three rows, and the answer says what that is worth.
    exact = zw.solve(np.eye(3), [1, 2, 3], A.astype(float), b.astype(float))
    assert exact.ranks.constraint == 3
    assert any("condition number of" in note for note in exact.notes)


def test_a_mass_matrix_in_single_precision_is_symmetric_and_semidefinite_to_its_rounding():
    rng = np.random.default_rng(2)
    for _ in range(20):
        R = np.linalg.qr(rng.standard_normal((4, 4))).Q.astype(np.float32)
        M = (R * np.array([1.0, 2.0, 3.0, 0.0], np.float32)) @ R.T
        M = M + np.float32(3e-7) * rng.standard_normal((4, 4)).astype(np.float32)
        hold = R[:, 3:].T  # the direction without mass
        s = zw.solve(M, np.ones(4), hold, [0.0])
        assert s.ranks.mass == 3
        with pytest.raises(zw.InputError, match=r"symmetric|negative"):
            zw.solve(M.astype(float), np.ones(4), hold, [0.0])


@pytest.mark.parametrize("condition", [1e10, 1e11, 1e12])
def test_rows_of_full_rank_are_not_called_contradictory(condition):
    rng = np.random.default_rng(3)
    for _ in range(20):
        U, V = (np.linalg.qr(rng.standard_normal((5, 5))).Q for _ in range(2))
        A = (U * np.geomspace(1.0, 1.0 / condition, 5)) @ V.T
        x = rng.standard_normal(5)
        s = zw.solve(np.eye(5), np.ones(5), A, A @ x)
        assert accuracy_notes(s)  # no digit of six is sure
        np.testing.assert_allclose(A @ s.acceleration, A @ x, atol=1e-9)


def test_rows_that_are_dependent_but_for_little_are_noted():
    A = np.array([[1.0, 0.0, 0.0], [1.0, 3e-13, 0.0]])
    s = zw.solve(np.eye(3), [1.0, 0.0, 3.0], A, [0.0, 0.0])
    assert s.ranks.constraint == 1
    (note,) = accuracy_notes(s)
    assert "dependent" in note
    assert note in zw.explain(np.eye(3), A, [0.0, 0.0], [1.0, 0.0, 3.0]).notes
    # A motion that would miss the second row, or its right side, settle it.
    for Q, b, y in (([1.0, 2.0, 3.0], 0.0, 0.0), ([1.0, 0.0, 3.0], 3e-13, 1.0)):
        s = zw.solve(np.eye(3), Q, A, [0.0, b])
        assert s.ranks.constraint == 2
        np.testing.assert_allclose(s.acceleration, [0.0, y, 3.0], atol=1e-6)
        assert zw.explain(np.eye(3), A, [0.0, b], Q).ranks["A"] == 2


def test_a_weak_mass_or_constraint_is_one_as_long_as_rounding_cannot_have_left_it():
    M = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-40]])
    s = zw.solve(M, [0.0, 2.0**-40])
    np.testing.assert_allclose(s.acceleration, [-1.0, 1.0], rtol=1e-3)
    assert any("mass matrix has a condition number" in note for note in s.notes)
    with pytest.raises(zw.NotUniqueError):
        zw.solve(np.ones((2, 2)), [1.0, 1.0])


def test_masses_that_hide_constraints_are_told():
    # 2⁵⁰ apart: beside the light coordinate the rows look the same.
    M = np.diag([2.0**50, 1.0, 2.0**50])
    A = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    s = zw.solve(M, [0.0, 1.0, 0.0], A, [0.0, 0.0])
    assert s.notes == () or accuracy_notes(s)
    np.testing.assert_allclose(A @ s.acceleration, 0.0, atol=1e-12)


def test_a_batch_is_judged_system_by_system():
    A = np.array([[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [1.0, 3e-13]], [[1.0, 0.0], [0.0, 1.0]]])
    b = np.array([[1.0, 1.0], [0.0, 3e-13], [1.0, 2.0]])
    s = zw.solve(np.eye(2), [0.0, 0.0], A, b)
    assert s.ranks.constraint.tolist() == [1, 2, 2]
    for k in range(3):
        alone = zw.solve(np.eye(2), [0.0, 0.0], A[k], b[k]).acceleration
        np.testing.assert_allclose(s.acceleration[k], alone, rtol=1e-12, atol=1e-15)
    b[2] = [1.0, 2.0]
    b[0, 1] = 1.0 + 1e-12
    with pytest.raises(InconsistentConstraintsError, match="system 0 of the batch: "):
        zw.solve(np.eye(2), [0.0, 0.0], A, b)


def test_joined_terms_are_as_precise_as_the_coarsest():
    one = EquationTerms.of(np.eye(1, dtype=np.float32), [1.0])
    joined = zw.join([one, EquationTerms.of(np.eye(1), [1.0])], [[1.0, -1.0]], [0.0])
    assert joined.precision.mass == np.finfo(np.float32).eps
    assert joined.precision.rows == np.finfo(float).eps
    assert not joined.at_state
