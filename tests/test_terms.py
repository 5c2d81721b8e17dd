"""EquationTerms: what it accepts, completes and keeps; joining components into a whole."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from samples import assert_close, assert_zero, sample
from zwang.errors import InputError
from zwang.solvers.dense import solve, solve_terms
from zwang.terms import EquationTerms, join

# --- completing -----------------------------------------------------------------------------------


@pytest.mark.inventory("US-01", "UM-01")
def test_terms_hold_what_was_given():
    s = sample("singular mass, redundant rows")
    terms = EquationTerms.of(s.M, s.Q, s.A, s.b, s.C)
    for field, value in zip(
        ("mass_matrix", "applied_force", "constraint_matrix", "constraint_rhs", "nonideal_force"),
        (s.M, s.Q, s.A, s.b, s.C),
        strict=True,
    ):
        assert np.array_equal(getattr(terms, field), value)
    assert (terms.coordinate_count, terms.constraint_count, terms.batch_shape) == (6, 5, ())
    assert_close(terms.total_force, s.Q + s.C)
    assert terms.notes == ()


def test_constraints_and_nonideal_force_may_be_left_out():
    terms = EquationTerms.of(np.eye(2), [1, 2])
    assert terms.constraint_matrix.shape == (0, 2)
    assert terms.constraint_rhs.shape == (0,)
    assert not terms.nonideal_force.any()
    assert EquationTerms.of(np.eye(2), [1, 2], np.zeros((0, 2))).constraint_count == 0
    assert EquationTerms.of(np.eye(2), [1, 2], b=[]).constraint_count == 0


@pytest.mark.parametrize(
    "Q",
    [
        [1, 2],
        (1.0, 2.0),
        np.array([1, 2], dtype=np.int8),
        np.array([1, 2], dtype=np.float32),
        [True, 2],
        [Fraction(1), Decimal(2)],
        np.ma.array([1.0, 2.0]),
    ],
    ids=["list", "tuple", "int8", "float32", "bool", "exact", "unmasked"],
)
def test_all_kinds_of_real_numbers_become_float64(Q):
    terms = EquationTerms.of(np.eye(2), Q)
    assert terms.applied_force.dtype == np.float64
    assert terms.applied_force.tolist() == [1.0, 2.0]


def test_sparse_matrices_are_made_dense():
    s = sample("redundant rows")
    terms = EquationTerms.of(sparse.csr_array(s.M), s.Q, sparse.coo_matrix(s.A), s.b)
    assert np.array_equal(terms.mass_matrix, s.M)
    assert np.array_equal(terms.constraint_matrix, s.A)


def test_batch_axes_are_broadcast_against_each_other():
    terms = EquationTerms.of(
        np.eye(3), np.zeros((5, 3)), np.zeros((4, 1, 2, 3)), np.zeros(2), np.zeros((4, 5, 3))
    )
    assert terms.batch_shape == (4, 5)
    assert terms.mass_matrix.shape == (4, 5, 3, 3)
    assert terms.constraint_matrix.shape == (4, 5, 2, 3)
    assert terms.constraint_rhs.shape == (4, 5, 2)


def test_one_system_of_a_batch():
    s = sample("batch, singular mass")
    one = EquationTerms.of(s.M, s.Q, s.A, s.b, s.C, names=list("abcd")).system((1, 0))
    assert one.batch_shape == ()
    assert np.array_equal(one.mass_matrix, s.M[1, 0])
    assert np.array_equal(one.constraint_rhs, s.b[1, 0])
    assert one.names == ("a", "b", "c", "d")


def test_an_asymmetry_of_rounding_is_averaged_and_said():
    M = np.array([[2.0, 1.0 + 1e-13], [1.0, 2.0]])
    terms = EquationTerms.of(M, [0, 0])
    assert np.array_equal(terms.mass_matrix, terms.mass_matrix.T)
    assert terms.mass_matrix[0, 1] == pytest.approx(1.0 + 0.5e-13, abs=1e-16)
    assert "not exactly symmetric (by 5.0e-14" in terms.notes[0]
    assert terms.notes[0] in solve(M, [0, 0]).notes


def test_symmetry_is_judged_in_each_coordinate_s_own_units():
    # An error of 1e-13 beside masses of 1e12 and 1e-12 is an error of size 1e-13 in 1.
    M = np.array([[1e12, 0.3], [0.3 * (1 + 1e-7), 1e-12]])
    with pytest.raises(
        InputError,
        match=r"mass matrix M must be symmetric.*but M\[0, 1\] = 0\.3 and 0\.3 across the",
    ):
        EquationTerms.of(M, [0, 0])


def test_names_of_rows_and_coordinates():
    terms = EquationTerms.of(
        np.eye(2), [0, 0], [[1, 0]], [0], names=["rod"], coordinates=["x", "y"]
    )
    assert (terms.name(0), terms.coordinate(1)) == ("rod", "y")
    plain = EquationTerms.of(np.eye(2), [0, 0], [[1, 0]], [0])
    assert (plain.name(0), plain.coordinate(1)) == ("row 0", "q1")


def test_the_same_system_under_other_forces():
    terms = sample("independent rows").terms
    other = terms.with_forces([1, 2, 3, 4, 5])
    assert other.applied_force.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert not other.nonideal_force.any()
    assert other.constraint_matrix is terms.constraint_matrix
    both = terms.with_forces(np.zeros(5), np.ones(5))
    assert_close(both.total_force, np.ones(5))


# --- joining components ---------------------------------------------------------------------------


def mass_on_spring(mass, force):
    """A free mass, its position the only coordinate."""
    return EquationTerms.of([[mass]], [force], coordinates=["x"])


@pytest.mark.inventory("UM-31")
def test_two_masses_joined_end_to_end():
    # The second is described by its distance from the first and again by its position: the joined
    # coordinates are redundant, and the distance carries no mass.
    m1, m2, k1, k2 = 2.0, 3.0, 50.0, 80.0
    x, d = 0.1, -0.05  # displacement of the first, stretch of the second spring
    first = EquationTerms.of([[m1]], [-k1 * x], coordinates=["x"])
    second = EquationTerms.of(
        [[m2, 0.0], [0.0, 0.0]], [0.0, 0.0], coordinates=["position", "stretch"]
    )
    pulled = first.with_forces([-k1 * x + k2 * d]), second.with_forces([-k2 * d, 0.0])
    whole = join(
        {"first": pulled[0], "second": pulled[1]},
        A=[[1.0, -1.0, 1.0]],  # position of the second = x + stretch
        b=[0.0],
        names=["joint"],
    )
    assert whole.coordinates == ("first.x", "second.position", "second.stretch")
    assert whole.names == ("joint",)
    assert np.linalg.matrix_rank(whole.mass_matrix) == 2
    s = solve_terms(whole)
    # By hand, in x and position: independent masses on springs
    a1, a2 = (-k1 * x + k2 * d) / m1, -k2 * d / m2
    assert_close(s.acceleration, [a1, a2, a2 - a1])
    assert_zero(s.constraint_force)


@pytest.mark.inventory("UM-31")
def test_three_cars_coupled_into_a_train():
    masses, force = [4.0, 2.0, 1.0], 21.0
    cars = [mass_on_spring(m, 0.0) for m in masses]
    cars[0] = mass_on_spring(masses[0], force)
    couplings = [[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, -1.0]]  # the third is redundant
    whole = join(cars, couplings, [0.0, 0.0, 0.0])
    assert whole.coordinates == ("0.x", "1.x", "2.x")
    assert whole.names == ("link 0", "link 1", "link 2")
    s = solve_terms(whole)
    assert_close(s.acceleration, [3.0, 3.0, 3.0])
    assert s.redundancy == 1
    assert_close(s.constraint_force, [-9.0, 6.0, 3.0])


@pytest.mark.inventory("UM-31")
def test_components_keep_their_own_constraints_and_nonideal_forces():
    # A bead on a wire x = y with friction C, joined by a massless link to a slider on a rail.
    bead = EquationTerms.of(
        2.0 * np.eye(2), [0.0, -20.0], [[1.0, -1.0]], [0.0], [0.5, 0.5],
        names=["wire"], coordinates=["x", "y"],
    )  # fmt: skip
    slider = EquationTerms.of([[3.0]], [6.0], coordinates=["s"])
    whole = join({"bead": bead, "slider": slider}, [[0.0, 1.0, -1.0]], [0.0], names=["link"])
    assert whole.names == ("bead.wire", "link")
    s = solve_terms(whole)
    # (2 + 2 + 3) a = −20 + 6 + 0.5 + 0.5
    assert_close(s.acceleration, np.full(3, -13.0 / 7.0))
    assert_close(whole.nonideal_force, [0.5, 0.5, 0.0])
    alone = solve_terms(bead).acceleration
    unlinked = solve_terms(join({"bead": bead, "slider": slider}))
    assert_close(unlinked.acceleration, [*alone, 2.0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(
            ([],), "components must have at least one EquationTerms, but are empty", id="nothing"
        ),
        pytest.param(
            ([mass_on_spring(1.0, 0.0)], [[1.0, 2.0]], [0.0]),
            r"constraint matrix A must have shape \(…, m, 1\), as M.*but has shape \(1, 2\)",
            id="link of the wrong width",
        ),
        pytest.param(
            ([mass_on_spring(1.0, 0.0)], [[1.0]]),
            r"constraint right side b must have 1 values, one for each.*but was not given",
            id="b",
        ),
        pytest.param(
            ([EquationTerms.of(np.eye(2), np.zeros((3, 2)))],),
            r"0 must be a single system, not a batch of shape \(3,\).*Join system by system",
            id="batch",
        ),
        pytest.param(
            ([np.eye(2)],), "component 0 must be an EquationTerms, not a ndarray", id="an array"
        ),
    ],
)
def test_what_cannot_be_joined_is_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        join(*arguments)
