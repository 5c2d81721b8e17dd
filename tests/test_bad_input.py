"""Bad input: one ZwangError that names what, found, expected and what to do; never a bare error."""

import re

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from scipy import sparse

import zwang as zw
from zwang.errors import (
    InconsistentConstraintsError,
    InputError,
    NotApplicableError,
    NotUniqueError,
    UnknownNameError,
    ZwangError,
)
from zwang.linalg.rank import equilibrate
from zwang.solvers.dense import FORMULATIONS

GOOD = {
    "M": [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]],
    "Q": [0.0, -20.0, 1.0],
    "A": [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    "b": [0.0, 2.0],
}


def bad(name, change, error, words):
    return pytest.param(change, error, words, id=name)


def entry(name, index, value):
    """GOOD with one entry of one term changed."""
    array = np.array(GOOD[name], dtype=object if isinstance(value, complex | str) else float)
    array[index] = value
    return {name: array.tolist()}


CASES = [
    # shapes
    bad("M scalar", {"M": 5.0}, InputError, r"square, \(…, n, n\) with n ≥ 1, but has shape \(\)"),
    bad("M flat", {"M": [1.0, 2.0, 3.0]}, InputError, r"n, n\) with n ≥ 1, but has shape \(3,\)"),
    bad(
        "M not square",
        {"M": np.ones((3, 2))},
        InputError,
        r"mass matrix M must be square, \(…, n, n\) with n ≥ 1, but has shape \(3, 2\)",
    ),
    bad("M empty", {"M": np.zeros((0, 0))}, InputError, r"n\) with n ≥ 1, but has shape \(0, 0\)"),
    bad("M nothing", {"M": None}, InputError, "be numbers that fit double precision, not None"),
    bad("M ragged", {"M": [[1.0, 0.0], [0.0]]}, InputError, "but has rows of unequal length"),
    bad(
        "Q too short",
        {"Q": [1.0, 2.0]},
        InputError,
        r"applied force Q must have shape \(…, 3\), one for.*but has shape \(2,\)",
    ),
    bad("Q too long", {"Q": np.zeros(4)}, InputError, r"\(…, 3\), one for.*but has shape \(4,\)"),
    bad("Q scalar", {"Q": 1.0}, InputError, r"have shape \(…, 3\), one for.*but has shape \(\)"),
    bad("Q a column", {"Q": np.zeros((3, 1))}, InputError, "It looks like a column: give it flat"),
    bad(
        "A flat",
        {"A": [1.0, 1.0, 0.0], "b": [0.0]},
        InputError,
        r"A single row is written \[\[…\]\]",
    ),
    bad("A scalar", {"A": 1.0}, InputError, r"have shape \(…, m, 3\), as M.*but has shape \(\)"),
    bad(
        "A too narrow",
        {"A": np.ones((2, 2))},
        InputError,
        r"constraint matrix A must have shape \(…, m, 3\), as M.*but has shape \(2, 2\)",
    ),
    bad("A turned", {"A": np.ones((3, 2))}, InputError, r"m, 3\), as M.*but has shape \(3, 2\)"),
    bad("A ragged", {"A": [[1.0, 0.0, 0.0], [1.0]]}, InputError, "but has rows of unequal length"),
    bad("A left out", {"A": None}, InputError, "side b must be omitted, as no constraint matrix A"),
    bad(
        "b too long", {"b": [0.0, 2.0, 1.0]}, InputError, r"\(…, 2\), one for.*but has shape \(3,\)"
    ),
    bad("b scalar", {"b": 0.0}, InputError, r"have shape \(…, 2\), one for.*but has shape \(\)"),
    bad("b left out", {"b": None}, InputError, r"one for each.*but was not given.*give zeros"),
    bad("C too short", {"C": [1.0]}, InputError, r"shape \(…, 3\), one for.*but has shape \(1,\)"),
    bad("C a matrix", {"C": np.eye(2)}, InputError, r"\(…, 3\), one for.*but has shape \(2, 2\)"),
    # batches
    bad(
        "batches that do not fit",
        {"Q": np.zeros((2, 3)), "b": np.zeros((5, 2))},
        InputError,
        r"axes must be equal or broadcastable.*but are M \(\), A \(\), Q \(2,\), b \(5,\), C \(\)",
    ),
    bad("an empty batch", {"Q": np.zeros((0, 3))}, InputError, r"one system, but has shape \(0,\)"),
    # values
    bad(
        "NaN in M", entry("M", (1, 1), np.nan), InputError, r"finite, but has nan at index \(1, 1\)"
    ),
    bad("infinity in M", entry("M", (0, 0), np.inf), InputError, r"but has inf at index \(0, 0\)"),
    bad("NaN in Q", entry("Q", 2, np.nan), InputError, r"be finite, but has nan at index \(2,\)"),
    bad(
        "infinity in A", entry("A", (0, 1), -np.inf), InputError, r"but has -inf at index \(0, 1\)"
    ),
    bad("NaN in b", entry("b", 1, np.nan), InputError, r"be finite, but has nan at index \(1,\)"),
    bad("NaN in C", {"C": [0.0, np.nan, 0.0]}, InputError, r"finite, but has nan at index \(1,\)"),
    bad("complex M", entry("M", (0, 0), 1 + 2j), InputError, "real numbers, not complex numbers"),
    bad("complex Q", {"Q": np.array([0, 1j, 0])}, InputError, r"not complex numbers.*real part"),
    bad("complex A", {"A": np.ones((2, 3)) * 1j}, InputError, "real numbers, not complex numbers"),
    bad("words", {"Q": ["a", "b", "c"]}, InputError, r"that fit double.*not values of type <U1"),
    bad("numbers as words", {"Q": ["1", "2", "3"]}, InputError, r"double.*not values of type <U1"),
    bad("dates", {"b": np.array(["2020", "2021"], "M8[Y]")}, InputError, r"type datetime64\[Y\]"),
    bad("None among numbers", {"b": [0.0, None]}, InputError, "fit double precision, not None"),
    bad("an integer too large", {"b": [0, 10**400]}, InputError, "not values of type object"),
    bad(
        "masked values",
        {"Q": np.ma.array([0.0, 1.0, 2.0], mask=[False, True, False])},
        InputError,
        "applied force Q must have a number in every place, but has masked values",
    ),
    # the mass matrix
    bad("not symmetric", entry("M", (0, 2), 0.5), InputError, r"M\[0, 2\] = 0\.5 and 0 across the"),
    bad(
        "negative mass",
        entry("M", (1, 1), -2.0),
        InputError,
        r"mass matrix M must be positive semi-definite.*but gives the kinetic energy −1 for the",
    ),
    bad(
        "indefinite",
        {"M": [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]},
        InputError,
        r"mass matrix M must be positive semi-definite.*but gives the kinetic energy −1 for the",
    ),
    bad(
        "coupling without mass",
        {"M": [[1.0, 0.0, 0.0], [0.0, 0.0, 3.0], [0.0, 3.0, 1.0]]},
        InputError,
        r"mass matrix M must be positive semi-definite.*but gives the kinetic energy −",
    ),
    # no answer
    bad(
        "neither mass nor constraint",
        {"M": np.diag([1.0, 1.0, 0.0]), "A": [[1.0, 1.0, 0.0]], "b": [0.0]},
        NotUniqueError,
        r"acceleration must be determined by mass or.*but there is a direction with neither",
    ),
    bad(
        "contradiction",
        {"A": [[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]], "b": [1.0, 3.0]},
        InconsistentConstraintsError,
        r"constraints row 0 and row 1 contradict each other: 2·row 0 − row 1 is.*Drop",
    ),
    bad(
        "zero row",
        {"A": [[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]], "b": [0.0, 1.0]},
        InconsistentConstraintsError,
        "constraint row 1 requires 0 = 1, as its row of A is zero",
    ),
    bad(
        "too many constraints",
        {"A": [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], "b": [1, 1, 1, 4]},
        InconsistentConstraintsError,
        "constraints row 0, row 1, row 2 and row 3",
    ),
    # options
    bad(
        "unknown formulation", {"formulation": "udwadia"}, UnknownNameError, "auto, udwadia_kalaba"
    ),
    bad("misspelt", {"formulation": "projektion"}, UnknownNameError, "Did you mean 'projection'"),
    bad("formulation is no name", {"formulation": 3}, UnknownNameError, r"one of auto,.*not '3'"),
    bad(
        "formulation is a list", {"formulation": ["auto"]}, UnknownNameError, r"not \"\['auto'\]\""
    ),
    bad("too few names", {"names": ["a"]}, InputError, "2, one for each row of A, but there are 1"),
    bad("names repeat", {"names": ["a", "a"]}, InputError, "but 'a' occurs more than once"),
    bad("names is a word", {"names": "ab"}, InputError, "2 names, one for each row of A, not 'ab'"),
    bad("names is a number", {"names": 2}, InputError, "of 2 names, one for each row of A, not 2"),
    bad("too many coordinates", {"coordinates": list("wxyz")}, InputError, "but there are 4"),
    bad("tolerances is a number", {"tolerances": 1e-9}, InputError, "Tolerances object, not 1e-09"),
    # sizes that double precision cannot square
    bad("huge mass", entry("M", (0, 0), 1e300), InputError, r"have masses from 1e\+00 to 1e\+300,"),
    bad("tiny mass", entry("M", (0, 0), 1e-300), InputError, r"have masses from 1e-300 to 2e\+00,"),
    bad("huge force", entry("Q", 0, 1e300), InputError, r"\|Q\| up to 1e\+300"),
    bad("huge right side", entry("b", 0, 1e300), InputError, r"\|b\| up to 1e\+300"),
]


def require_facts(error):
    """What it is about, what is wrong, and what to do unless the names to choose from do."""
    assert error.what
    assert error.found or error.expected, error
    assert error.advice or isinstance(error, UnknownNameError), error


@pytest.mark.parametrize(("change", "error", "words"), CASES)
def test_bad_input_is_refused_in_one_sentence(change, error, words):
    with pytest.raises(error, match=re.compile(words, re.DOTALL)) as caught:
        zw.solve(**{**GOOD, **change})
    require_facts(caught.value)
    assert str(caught.value).count("\n") == 0


def test_the_good_input_is_good():
    s = zw.solve(**GOOD)
    assert s.acceleration.tolist() == [5.0, -5.0, 2.0]


def test_a_formulation_that_does_not_apply_says_why_and_which_does():
    with pytest.raises(NotApplicableError) as caught:
        zw.solve([[1, 0], [0, 0]], [0, 0], [[0, 1]], [0], formulation="udwadia_kalaba")
    message = str(caught.value)
    assert "it needs a positive definite mass matrix, and M is singular" in message
    assert "udwadia_mogharabin" in message


def test_names_given_by_the_user_are_used_in_messages():
    with pytest.raises(NotUniqueError, match="Give z mass or a constraint"):
        zw.solve(np.diag([1.0, 0.0]), [0, 0], coordinates=["x", "z"])
    with pytest.raises(InconsistentConstraintsError, match="constraints rod and bar"):
        zw.solve(np.eye(2), [0, 0], [[1, 0], [1, 0]], [0, 1], names=["rod", "bar"])


@pytest.mark.parametrize(("change", "error", "words"), CASES)
def test_certify_refuses_the_same(change, error, words):
    if {"formulation"} & set(change):
        return
    with pytest.raises(ZwangError):
        zw.certify(**{**GOOD, **change})


# --- large sparse input ---------------------------------------------------------------------------

N = 301


def large():
    A = sparse.csr_array(([1.0, -1.0], ([0, 0], [0, 1])), shape=(1, N))
    return {"M": sparse.eye_array(N, format="csr"), "Q": np.ones(N), "A": A, "b": [0.0]}


def with_value(matrix, i, j, value):
    changed = sparse.lil_array(matrix, dtype=complex if isinstance(value, complex) else float)
    changed[i, j] = value
    return changed.tocsr()


SPARSE_CASES = [
    bad("M not square", lambda g: {"M": g["M"][:, :-1]}, InputError, r"\(m, n\), but have shapes"),
    bad("A narrow", lambda g: {"A": g["A"][:, :-1]}, InputError, r"and \(m, n\), but have shapes"),
    bad("A dense flat", lambda g: {"A": np.ones(N)}, InputError, r"A is.*but has shape \(301,\)"),
    bad(
        "A a batch",
        lambda g: {"A": np.ones((2, 1, N))},
        InputError,
        r"constraint matrix A must have two axes, as M or A is.*but has shape \(2, 1, 301\)",
    ),
    bad("M a batch", lambda g: {"M": np.ones((2, N, N))}, InputError, r"has shape \(2, 301, 301\)"),
    bad("M ragged", lambda g: {"M": [[1.0], [1.0, 2.0]]}, InputError, "has rows of unequal length"),
    bad("Q short", lambda g: {"Q": np.ones(3)}, InputError, r"301\), one.*but has shape \(3,\)"),
    bad(
        "Q a batch",
        lambda g: {"Q": np.ones((2, N))},
        InputError,
        r"applied force Q must be of a single system, as M.*but is a batch of shape \(2,\)",
    ),
    bad("b left out", lambda g: {"b": None}, InputError, r"one for each.*but was not given"),
    bad("b long", lambda g: {"b": [0.0, 1.0]}, InputError, r"1\), one for.*but has shape \(2,\)"),
    bad("NaN", lambda g: {"M": with_value(g["M"], 7, 7, np.nan)}, InputError, r"at index \(7,\)"),
    bad("complex", lambda g: {"A": with_value(g["A"], 0, 5, 1j)}, InputError, "complex numbers"),
    bad(
        "not symmetric",
        lambda g: {"M": with_value(g["M"], 5, 9, 0.3)},
        InputError,
        r"mass matrix M must be symmetric, but M\[5, 9\] = 0\.3 and M\[9, 5\] = 0",
    ),
    bad("negative", lambda g: {"M": with_value(g["M"], 8, 8, -1.0)}, InputError, "velocity q8 = 1"),
    bad(
        "no mass", lambda g: {"M": with_value(g["M"], 8, 8, 0.0)}, NotUniqueError, "q8 moves alone"
    ),
    bad(
        "contradiction",
        lambda g: {"A": sparse.vstack([g["A"], 2.0 * g["A"]]), "b": [1.0, 0.0]},
        InconsistentConstraintsError,
        "constraints row 0 and row 1",
    ),
    bad("names", lambda g: {"names": ["a", "b"]}, InputError, "for each row of A, but there are 2"),
    bad("formulation", lambda g: {"formulation": "best"}, UnknownNameError, r"auto,.*not 'best'"),
    bad("huge", lambda g: {"Q": np.full(N, 1e308), "C": np.full(N, 1e308)}, InputError, r"1e\+00,"),
]


@pytest.mark.parametrize(("change", "error", "words"), SPARSE_CASES)
def test_bad_sparse_input_is_refused_in_one_sentence(change, error, words):
    arguments = large()
    with pytest.raises(error, match=re.compile(words, re.DOTALL)) as caught:
        zw.solve(**{**arguments, **change(arguments)})
    require_facts(caught.value)


def test_the_good_sparse_input_is_good():
    assert np.allclose(zw.solve(**large()).acceleration, 1.0, rtol=0, atol=1e-14)


# --- fuzzing --------------------------------------------------------------------------------------

TAME = st.sampled_from([0.0, 0.0, 1.0, -1.0, 2.0, 0.5, -3.0, 0.1])
WILD = st.one_of(
    TAME,
    st.sampled_from([1e300, -1e300, 1e-300, 5e-324, 1e160, 1e-160, 1e8, 1e-8, 1e-17, 1e154]),
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(-10, 10),
)


@st.composite
def systems(draw):
    """Small M, Q, A, b, C of any kind: definite, singular, indefinite; consistent or not."""
    n, m = draw(st.integers(1, 4)), draw(st.integers(0, 4))
    values = draw(st.sampled_from([TAME, TAME, WILD]))

    def array(*shape):
        size = int(np.prod(shape))
        return np.array(draw(st.lists(values, min_size=size, max_size=size))).reshape(shape)

    with np.errstate(all="ignore"):
        R = array(n, draw(st.integers(0, n)))
        M = draw(st.sampled_from([R @ R.T, np.diag(np.abs(np.diag(R @ R.T))), R @ R.T - np.eye(n)]))
        A = array(m, n)
        b = A @ array(n) if draw(st.booleans()) else array(m)
    C = array(n) if draw(st.booleans()) else None
    return M, array(n), A, b, C


def answer(call):
    """What the call returns, or None where it refuses; any other error is a failure."""
    try:
        return call()
    except ZwangError as error:
        refusal = error
    assert refusal.what
    return None


def satisfied(M, Q, A, b, C, s):
    """Whether finite, M v̇ = Q + Q_c and A v̇ = b: in scaled terms, to six digits of the largest.

    An acceleration that all but vanishes beside the forces is known to 1e-12 of these only.
    """
    force = Q if C is None else Q + C
    for x in (s.acceleration, s.constraint_force, s.multipliers):
        if not np.isfinite(x).all():
            return False
    with np.errstate(all="ignore"):
        d, e = equilibrate(M, A)
        a, f, rhs = s.acceleration / d, np.max(np.abs(force * d)), b * e
        size = np.max(np.abs(a)) + np.max(np.abs(rhs), initial=0.0)
        floor = 1e-12 * f + 1e-290
        miss = np.max(np.abs((A * (d * e[:, None])) @ a - rhs), initial=0.0)
        balance = (M * d * d[:, None]) @ a - (Q + s.constraint_force) * d
        forces = size + f + np.max(np.abs(s.constraint_force * d))
    return miss <= 1e-6 * size + floor and np.max(np.abs(balance)) <= 1e-6 * forces + 1e-290


@settings(max_examples=600, deadline=None, derandomize=True)
@drawn(systems(), st.sampled_from(["auto", "auto", *FORMULATIONS]), st.booleans())
def test_solve_answers_or_refuses_but_never_errs(system, formulation, family):
    M, Q, A, b, C = system
    s = answer(lambda: zw.solve(M, Q, A, b, C, formulation=formulation, family=family))
    if s is None:
        return
    assert satisfied(M, Q, A, b, C, s)


@settings(max_examples=150, deadline=None, derandomize=True)
@drawn(
    st.lists(st.integers(0, 4), max_size=4),
    st.lists(st.integers(0, 4), max_size=3),
    st.lists(st.integers(0, 4), max_size=4),
    st.lists(st.integers(0, 4), max_size=3),
)
def test_any_shapes_are_answered_or_refused(M, Q, A, b):
    s = answer(lambda: zw.solve(np.ones(M), np.ones(Q), np.ones(A), np.ones(b)))
    if s is None:
        return
    assert np.isfinite(s.acceleration).all()


@settings(max_examples=150, deadline=None, derandomize=True)
@drawn(systems())
def test_certify_answers_or_refuses_but_never_errs(system):
    M, Q, A, b, C = system
    c = answer(lambda: zw.certify(M, Q, A, b, C))
    if c is None:
        return
    assert satisfied(M, Q, A, b, C, c.solution)
    assert not np.isnan(c.gauss_residual)
