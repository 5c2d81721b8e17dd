"""`zwang.solve`: what its docstring promises, on systems of every kind."""

import numpy as np
import pytest
from scipy import sparse

import zwang as zw
from samples import (
    assert_close,
    assert_zero,
    constraint_force,
    motion,
    plus,
    sample,
    with_any_mass,
)
from zwang.errors import (
    InconsistentConstraintsError,
    InputError,
    NotApplicableError,
    NotUniqueError,
)
from zwang.formulations.udwadia_kalaba import UdwadiaKalaba
from zwang.linalg.rank import Tolerances
from zwang.solvers.dense import FORMULATIONS
from zwang.solvers.sparse import SPARSE_SIZE

any_formulation = pytest.mark.parametrize("formulation", ["auto", *FORMULATIONS])

#: Refined answers: rounding of the last step, times the units that entries are compared in.
REFINED = 1e-12


# --- the answer -----------------------------------------------------------------------------------


@with_any_mass
def test_motion_force_and_least_norm_multipliers(given):
    s = zw.solve(given.M, given.Q, given.A, given.b, given.C)
    assert_close(s.acceleration, given.each(motion), REFINED)
    assert_close(s.constraint_force, given.each(constraint_force), REFINED)
    least = given.each(lambda x: plus(x.A.T) @ (constraint_force(x) - x.C))
    assert_close(s.multipliers, least, REFINED)
    assert_zero(s.constraint_residual, REFINED)


@any_formulation
@with_any_mass
def test_every_formulation_that_applies_gives_the_same_answer(given, formulation):
    singular = np.any(np.linalg.matrix_rank(given.M, tol=1e-9) < given.n)
    arguments = (given.M, given.Q, given.A, given.b, given.C)
    if formulation == "udwadia_kalaba" and singular:
        with pytest.raises(NotApplicableError, match="positive definite mass matrix"):
            zw.solve(*arguments, formulation=formulation)
        return
    s = zw.solve(*arguments, formulation=formulation)
    assert_close(s.acceleration, given.each(motion), REFINED)
    assert_close(s.constraint_force, given.each(constraint_force), REFINED)
    if formulation != "auto":
        assert (s.formulation, s.reason) == (formulation, "asked for by name")


@pytest.mark.parametrize(
    ("kind", "formulation", "words"),
    [
        ("one row", "udwadia_kalaba", "constraints are few (rank 1 of 3)"),
        ("no rows", "udwadia_kalaba", "no constraints"),
        ("full column rank", "udwadia_mogharabin", "A has full column rank"),
        ("singular mass", "udwadia_mogharabin", "M is singular (rank 4 of 6)"),
        ("no mass at all", "udwadia_mogharabin", "M is singular (rank 0 of 3)"),
    ],
)
def test_auto_says_what_it_chose_and_why(kind, formulation, words):
    given = sample(kind)
    s = zw.solve(given.M, given.Q, given.A, given.b)
    assert s.formulation == formulation
    assert words in s.reason
    assert f"solved by {formulation}: {s.reason}" in str(s)


def test_auto_looks_at_conditioning_and_at_the_number_of_freedoms():
    A = np.eye(3, 4)
    few = zw.solve(np.eye(4), np.zeros(4), A, np.zeros(3))
    assert (few.formulation, few.reason) == (
        "udwadia_mogharabin",
        "the degrees of freedom are few (1 of 4)",
    )
    # A badly conditioned M that no scaling of coordinates improves
    M = np.ones((4, 4)) + np.diag([0.0, 1e-9, 2e-9, 3e-9])
    bad = zw.solve(M, np.zeros(4), A[:1], np.zeros(1))
    assert bad.formulation == "udwadia_mogharabin"
    assert "badly conditioned" in bad.reason


def test_unrefined_answers_are_those_of_the_paper():
    given = sample("redundant rows")
    for formulation in FORMULATIONS:
        s = zw.solve(
            given.M, given.Q, given.A, given.b, given.C, formulation=formulation, refined=False
        )
        assert s.corrections == ()
        assert_close(s.acceleration, motion(given))


def test_corrections_tell_the_error_of_the_formulation_by_itself():
    # A condition of 1e8 by near-dependent rows: unrefined answers lose half of the digits.
    A = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0 + 1e-8]])
    M, Q, b = np.diag([1.0, 2.0, 5.0]), [1.0, -2.0, 0.5], [3.0, -4.0]
    rough = zw.solve(M, Q, A, b, refined=False)
    fine = zw.solve(M, Q, A, b)
    size = np.max(np.abs(fine.acceleration))
    error = np.max(np.abs(rough.acceleration - fine.acceleration)) / size
    assert fine.corrections[-1] < 1e-9
    assert error < 10.0 * max(fine.corrections[0], 1e-16)


def test_more_rows_than_needed_are_noted_and_the_multipliers_are_least():
    given = sample("redundant rows")
    s = zw.solve(given.M, given.Q, given.A, given.b)
    assert (s.redundancy, s.degrees_of_freedom) == (2, 3)
    (note,) = s.notes
    assert note.startswith(
        "2 of 5 constraint rows are redundant; the multipliers are those of least"
    )
    Z = np.linalg.svd(given.A.T)[2][given.rank :].T
    assert_zero(Z.T @ s.multipliers, REFINED)  # nothing along N(Aᵀ)
    assert f"note: {note}" in str(s)


def test_least_norm_multipliers_of_rows_in_other_units():
    # The same constraint in metres and in micrometres: least norm in the rows as they were given.
    A = np.array([[1.0, 1.0], [1e6, 1e6]])
    s = zw.solve(np.eye(2), [3.0, 0.0], A, [0.0, 0.0])
    assert_close(s.multipliers, plus(A.T) @ s.constraint_force, REFINED)
    assert s.multipliers[0] == pytest.approx(1e-6 * s.multipliers[1])


def test_ranks_residual_and_free_acceleration_are_reported():
    given = sample("singular mass, redundant rows")
    s = zw.solve(given.M, given.Q, given.A, given.b)
    assert (s.ranks.constraint, s.ranks.mass, s.ranks.stacked) == (3, 4, 6)
    assert s.free_acceleration is None
    regular = sample("redundant rows")
    free = zw.solve(regular.M, regular.Q, regular.A, regular.b, regular.C).free_acceleration
    assert_close(free, np.linalg.solve(regular.M, regular.Q))


@with_any_mass
def test_condition_is_that_of_the_scaled_saddle_point_system(given):
    s = zw.solve(given.M, given.Q, given.A, given.b)
    assert s.scaled is not None
    terms = s.scaled.scaled
    M = terms.mass_matrix.reshape(given.M.shape)
    A = terms.constraint_matrix.reshape(given.A.shape)

    def formula(x, M_s, A_s):
        saddle = np.block([[M_s, A_s.T], [A_s, np.zeros((x.m, x.m))]])
        values = np.linalg.svd(saddle, compute_uv=False)
        return values[0] / values[x.n + x.rank - 1]

    assert_close(s.condition, given.each(formula, M, A))


def test_text_of_a_solution_names_coordinates():
    s = zw.solve(np.eye(2), [0, -9.81], [[1, 1]], [0], names=["rail"], coordinates=["x", "y"])
    text = str(s)
    assert "2 coordinates, 1 constraint rows of rank 1, 1 degree of freedom" in text
    assert "x" in text
    assert "4.905" in text
    assert "batch (3,)" in str(zw.solve(np.eye(2), np.zeros((3, 2))))


# --- special cases --------------------------------------------------------------------------------


@any_formulation
def test_no_constraints_at_all(formulation):
    s = zw.solve([[2.0, 1.0], [1.0, 2.0]], [3.0, 0.0], C=[0.0, 3.0], formulation=formulation)
    assert_close(s.acceleration, [1.0, 1.0], REFINED)
    assert_close(s.constraint_force, [0.0, 3.0], REFINED)  # all of C does work
    assert s.multipliers.shape == (0,)
    assert s.ranks.constraint == 0


@any_formulation
def test_full_column_rank_leaves_nothing_to_the_forces(formulation):
    given = sample("full column rank")
    s = zw.solve(given.M, given.Q, given.A, given.b, given.C, formulation=formulation)
    assert_close(s.acceleration, plus(given.A) @ given.b, REFINED)
    assert_close(s.constraint_force, given.M @ s.acceleration - given.Q, REFINED)


@pytest.mark.parametrize(
    "formulation", ["auto", *(f for f in FORMULATIONS if f != "udwadia_kalaba")]
)
def test_no_mass_at_all_but_full_column_rank(formulation):
    A, b = [[1.0, 2.0], [3.0, 4.0], [4.0, 6.0]], [5.0, 11.0, 16.0]
    s = zw.solve(np.zeros((2, 2)), [7.0, -1.0], A, b, formulation=formulation)
    assert_close(s.acceleration, [1.0, 2.0], REFINED)
    assert_close(s.constraint_force, [-7.0, 1.0], REFINED)


def test_zero_rows_with_zero_right_side_say_nothing():
    s = zw.solve(np.eye(2), [1.0, 2.0], [[0.0, 0.0], [1.0, 0.0]], [0.0, 0.0])
    assert s.redundancy == 1
    assert_close(s.acceleration, [0.0, 2.0])
    assert_close(s.multipliers, [0.0, -1.0])


def test_one_coordinate():
    assert zw.solve([[2.0]], [6.0]).acceleration.tolist() == [3.0]
    assert zw.solve([[2.0]], [6.0], [[1.0]], [5.0]).acceleration.tolist() == [5.0]
    assert zw.solve([[0.0]], [6.0], [[-4.0]], [2.0]).acceleration.tolist() == [-0.5]


# --- invariance -----------------------------------------------------------------------------------


@with_any_mass
@pytest.mark.parametrize("power", [-6, 6])
def test_scaling_rows_changes_neither_motion_nor_force(given, power):
    rng = np.random.default_rng(1)
    factor = np.where(rng.random(given.m) < 0.5, 10.0**power, 1.0)
    s = zw.solve(given.M, given.Q, given.A * factor[:, None], given.b * factor, given.C)
    assert_close(s.acceleration, given.each(motion), 1e-11)
    assert_close(s.constraint_force, given.each(constraint_force), 1e-11)
    assert np.all(np.asarray(s.ranks.constraint) == given.rank)


@with_any_mass
@pytest.mark.parametrize("power", [-6, 6])
def test_units_of_a_coordinate_change_nothing_but_the_units(given, power):
    unit = np.ones(given.n)
    unit[given.n // 2] = 10.0**power  # v = unit · v′
    s = zw.solve(
        given.M * unit * unit[:, None], given.Q * unit, given.A * unit, given.b, given.C * unit
    )
    assert_close(s.acceleration * unit, given.each(motion), 1e-11)
    assert_close(s.constraint_force / unit, given.each(constraint_force), 1e-11)
    assert np.all(np.asarray(s.ranks.stacked) == given.n)


def test_duplicated_and_reordered_rows_change_neither_motion_nor_force():
    given = sample("singular mass")
    order = [2, 0, 1, 0, 2, 2]
    s = zw.solve(given.M, given.Q, given.A[order], given.b[order], given.C)
    assert_close(s.acceleration, motion(given), REFINED)
    assert_close(s.constraint_force, constraint_force(given), REFINED)
    assert s.redundancy == 3


# --- batches --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed():
    """Eight systems of n = 4, m = 4 with ranks of A from 0 to 4, singular masses among them."""
    rng = np.random.default_rng(0)
    M, A = np.empty((8, 4, 4)), np.empty((8, 4, 4))
    for i, (rank, mass_rank) in enumerate(
        [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4), (2, 3), (4, 1), (3, 2)]
    ):
        while True:
            R = rng.integers(-2, 3, size=(4, mass_rank))
            A[i] = rng.integers(-2, 3, size=(4, rank)) @ rng.integers(-2, 3, size=(rank, 4))
            M[i] = R @ R.T + (np.eye(4) if mass_rank == 4 else 0.0)
            if (
                np.linalg.matrix_rank(A[i]) == rank
                and np.linalg.matrix_rank(M[i]) == mass_rank
                and np.linalg.matrix_rank(np.vstack([M[i], A[i]])) == 4
            ):
                break
    Q, C = rng.standard_normal((2, 8, 4))
    return M, Q, A, (A @ rng.integers(-2, 3, size=(8, 4, 1)))[..., 0], C


@pytest.mark.parametrize("shape", [(8,), (2, 4), (2, 2, 2)])
def test_a_batch_of_mixed_ranks_is_each_system_alone(mixed, shape):
    M, Q, A, b, C = (x.reshape(*shape, *x.shape[1:]) for x in mixed)
    together = zw.solve(M, Q, A, b, C)
    assert together.acceleration.shape == (*shape, 4)
    assert np.ravel(together.ranks.constraint).tolist() == [0, 1, 2, 3, 4, 2, 4, 3]
    assert np.ravel(together.ranks.mass).tolist() == [4, 4, 4, 4, 4, 3, 1, 2]
    assert np.ravel(together.redundancy).tolist() == [4, 3, 2, 1, 0, 2, 0, 1]
    for i in np.ndindex(shape):
        alone = zw.solve(M[i], Q[i], A[i], b[i], C[i], formulation=together.formulation)
        assert_close(together.acceleration[i], alone.acceleration, REFINED)
        assert_close(together.constraint_force[i], alone.constraint_force, REFINED)
        assert_close(together.multipliers[i], alone.multipliers, REFINED)


def test_leading_axes_are_broadcast():
    given = sample("redundant rows")
    Q = np.random.default_rng(2).standard_normal((3, 1, given.n))
    b = given.b * np.array([[1.0], [2.0]])
    s = zw.solve(given.M, Q, given.A, b)
    assert s.acceleration.shape == (3, 2, given.n)
    assert s.multipliers.shape == (3, 2, given.m)
    for i, j in np.ndindex(3, 2):
        alone = zw.solve(given.M, Q[i, 0], given.A, b[j])
        assert_close(s.acceleration[i, j], alone.acceleration, REFINED)
    free = s.free_acceleration
    assert free is not None
    assert free.shape == (3, 2, given.n)


def test_a_batch_of_one_keeps_its_axis():
    s = zw.solve(np.eye(2)[None], [[1.0, 2.0]], [[[1.0, 0.0]]], [[0.0]])
    assert s.acceleration.shape == (1, 2)
    assert np.shape(s.ranks.constraint) == (1,)
    assert np.shape(s.condition) == (1,)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        pytest.param(
            {"b": (5, [1.0, 1.0])},
            InconsistentConstraintsError,
            r"system 5 of the batch: constraints row 0 and row 1",
            id="inconsistent",
        ),
        pytest.param(
            {"M": (3, np.diag([1.0, 0.0, 1.0]))},
            NotUniqueError,
            r"system 3 of the batch: acceleration.*q1 moves alone",
            id="not unique",
        ),
        pytest.param(
            {"M": (6, np.diag([1.0, -2.0, 1.0]))},
            InputError,
            r"matrix M must be positive semi-definite.*but gives the kinetic energy −1 for the",
            id="indefinite",
        ),
    ],
)
def test_a_bad_system_of_a_batch_is_named(change, error, words):
    M = np.broadcast_to(np.eye(3), (8, 3, 3)).copy()
    A = np.broadcast_to([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]], (8, 2, 3)).copy()
    b = np.zeros((8, 2))
    arrays = {"M": M, "b": b}
    for name, (index, value) in change.items():
        arrays[name][index] = value
    with pytest.raises(error, match=words):
        zw.solve(M, np.zeros(3), A, b)


def test_further_bad_systems_of_a_batch_are_counted():
    b = np.zeros((2, 3, 2))
    b[0, 2], b[1, 0], b[1, 1] = [1, 1], [0, 1], [3, 0]
    with pytest.raises(InconsistentConstraintsError, match=r"system \(0, 2\).*\(and 2 more\)"):
        zw.solve(np.eye(2), [0, 0], [[1, 0], [2, 0]], b)


# --- what has no answer ---------------------------------------------------------------------------


def test_contradicting_constraints_are_named():
    with pytest.raises(InconsistentConstraintsError) as caught:
        zw.solve(
            np.eye(3), [0, 0, 0], [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]], [1, 1, 3, 5],
            names=["a", "b", "c", "d"],
        )  # fmt: skip
    assert caught.value.names == ("a", "b", "c")
    assert caught.value.rows == (0, 1, 2)
    assert "Drop any one of a, b or c" in str(caught.value)


def test_a_zero_row_with_a_right_side_is_a_contradiction():
    with pytest.raises(
        InconsistentConstraintsError,
        match="constraint locked requires 0 = 2, as its row of A is zero",
    ) as caught:
        zw.solve(np.eye(2), [0, 0], [[1, 0], [0, 0]], [0, 2], names=["rail", "locked"])
    assert caught.value.rows == (1,)


@pytest.mark.parametrize("force", [1e3, 1e10, 1e14])
@pytest.mark.parametrize("b", [[0.0, 1.0], [1.0, -1.0]])
def test_a_fast_part_does_not_hide_a_contradiction_in_another(force, b):
    # x is free and accelerates at 1e14; y is told two things at once.
    A = [[0.0, 1.0], [0.0, 1.0]]
    with pytest.raises(InconsistentConstraintsError) as caught:
        zw.solve(np.eye(2), [force, 0.0], A, b)
    assert caught.value.rows == (0, 1)
    batch = np.zeros((3, 2))
    batch[1] = b
    with pytest.raises(InconsistentConstraintsError, match="system 1 of the batch"):
        zw.solve(np.eye(2), [force, 0.0], A, batch)


def test_a_large_right_side_does_not_hide_a_contradiction_in_another_part():
    A = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    with pytest.raises(InconsistentConstraintsError) as caught:
        zw.solve(np.eye(2), [0.0, 0.0], A, [1e10, 0.0, 1.0])
    assert caught.value.rows == (1, 2)


def test_rounding_in_rows_that_hardly_move_is_no_contradiction():
    # Two rows along y, which is held: right sides of 1e-15 are rounding beside the motion of x that
    # the third row links to y; 1e-12 is more.
    A = [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]]
    s = zw.solve(np.eye(3), [0.0, 0.0, 9.81], A, [1e-15, -1e-15, 9.81])
    assert_close(s.acceleration, [9.81, 0.0, 9.81], 1e-11)
    with pytest.raises(InconsistentConstraintsError, match="row 0 − row 1"):
        zw.solve(np.eye(3), [0.0, 0.0, 9.81], A, [1e-12, -1e-12, 9.81])


def test_right_sides_that_differ_by_rounding_agree():
    A = np.array([[0.1, 0.2], [0.3, 0.6]])
    s = zw.solve(np.eye(2), [1, 1], A, [0.1, 0.3 * (1 + 1e-14)])
    assert s.redundancy == 1
    strict = Tolerances(consistency=1e-15)
    with pytest.raises(InconsistentConstraintsError):
        zw.solve(np.eye(2), [1, 1], A, [0.1, 0.3 * (1 + 1e-12)], tolerances=strict)


def test_a_direction_with_neither_mass_nor_constraint_is_named():
    with pytest.raises(NotUniqueError) as caught:
        zw.solve(
            np.diag([1.0, 0.0, 0.0]), [0, 0, 0], [[0, 1, -1]], [0], coordinates=["x", "y", "z"]
        )
    assert "y and z move together, z = y" in str(caught.value)
    w = np.asarray(caught.value.directions)
    assert_close(w[:, 0] / w[1, 0], [0.0, 1.0, 1.0])


# --- families -------------------------------------------------------------------------------------


@pytest.mark.inventory("UM-07")
def test_family_of_all_accelerations():
    # Two sliders tied together by a rod of which neither end has mass along z.
    M = np.diag([1.0, 2.0, 0.0, 0.0])
    A, b = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]]), np.array([0.0, 3.0])
    Q = np.array([6.0, 0.0, 5.0, -5.0])  # no force along z₁ = z₂
    with pytest.raises(NotUniqueError):
        zw.solve(M, Q, A, b)
    s = zw.solve(M, Q, A, b, family=True)
    assert s.family.shape == (4, 1)
    assert_close(s.acceleration, [2.0, 2.0, 1.5, -1.5], REFINED)
    assert_close(s.family[:, 0] / s.family[2, 0], [0.0, 0.0, 1.0, 1.0])
    for c in (-4.0, 0.3):
        other = s.acceleration + s.family @ [c]
        assert_close(A @ other, b, REFINED)
        assert_close(M @ other, Q + s.constraint_force, REFINED)
        assert np.linalg.norm(other) > np.linalg.norm(s.acceleration)
    assert "not unique: 1 direction(s)" in s.notes[-1]
    assert s.ranks.stacked == 3


@pytest.mark.inventory("UM-07")
@pytest.mark.parametrize("seed", range(5))
def test_family_of_a_random_ill_posed_system(seed):
    rng = np.random.default_rng(seed)
    T = rng.integers(-2, 3, size=(6, 6)) + 5.0 * np.eye(6)  # coordinates mixed
    M = T.T @ np.diag([1.0, 2.0, 3.0, 0.0, 0.0, 0.0]) @ T
    A = np.array([[1.0, 0, 0, 1, 0, 0], [0, 1, 0, 1, 0, 0], [1, 1, 0, 2, 0, 0]]) @ T
    b = A @ rng.integers(-2, 3, size=6)
    Q = T.T @ np.array([*rng.standard_normal(4), 0.0, 0.0])  # nothing along the free directions
    s = zw.solve(M, Q, A, b, family=True)
    assert s.family.shape == (6, 2)
    assert np.linalg.matrix_rank(s.family) == 2
    assert_zero(M @ s.family, 1e-10)
    assert_zero(A @ s.family, 1e-10)
    for c in rng.standard_normal((3, 2)):
        v = s.acceleration + s.family @ c
        assert_close(A @ v, b, 1e-10)
        assert_close(M @ v, Q + s.constraint_force, 1e-10)
    assert_zero(s.family.T @ s.acceleration, 1e-10)  # the one of least norm


@pytest.mark.inventory("UM-07")
def test_family_is_refused_where_a_force_acts_on_nothing():
    # The errata's counterexample: no acceleration exists.
    with pytest.raises(
        NotUniqueError,
        match=r"no acceleration exists: a force acts where.*not determined, as there are 2",
    ):
        zw.solve(np.diag([1.0, 0, 0]), [0, 1, 0], [[1, 0, 0]], [2], family=True)


def test_family_of_a_well_posed_system_is_empty():
    given = sample("singular mass")
    s = zw.solve(given.M, given.Q, given.A, given.b, family=True)
    assert s.family.shape == (6, 0)
    assert_close(s.acceleration, zw.solve(given.M, given.Q, given.A, given.b).acceleration)


def test_families_of_a_batch_are_refused():
    with pytest.raises(
        InputError,
        match=r"family=True must be used with a single system.*but this is a batch of shape \(3,\)",
    ):
        zw.solve(np.eye(2), np.zeros((3, 2)), family=True)


# --- notes ----------------------------------------------------------------------------------------


def test_a_mass_that_may_be_rounding_left_of_a_zero_is_noted():
    s = zw.solve(np.diag([1.0, 1e-17]), [1.0, 1e-17], coordinates=["x", "dust"])
    assert_close(s.acceleration, [1.0, 1.0], REFINED)
    assert "the mass of dust is below 1e-15 of the largest" in s.notes[0]


def test_nothing_is_noted_where_there_is_nothing_to_say():
    assert zw.solve(np.eye(2), [1, 2], [[1, 0]], [0]).notes == ()


def test_an_answer_that_misses_the_constraints_is_refused(monkeypatch):
    # An answer no refinement can save: the response is wrong by a factor.
    given = sample("independent rows")
    right = UdwadiaKalaba.respond

    def wrong(self, force, rhs):
        acceleration, lam = right(self, force, rhs)
        return 3.0 * acceleration, lam

    monkeypatch.setattr(UdwadiaKalaba, "respond", wrong)
    with pytest.raises(NotApplicableError) as caught:
        zw.solve(given.M, given.Q, given.A, given.b, formulation="udwadia_kalaba")
    assert "'udwadia_kalaba' must satisfy the constraints to" in str(caught.value)


# --- sparse input ---------------------------------------------------------------------------------


@with_any_mass
def test_small_sparse_input_is_solved_densely(given):
    for one in given.systems():
        dense = zw.solve(one.M, one.Q, one.A, one.b, one.C)
        for kind in (sparse.csr_array, sparse.coo_matrix):
            s = zw.solve(kind(one.M), one.Q, kind(one.A), one.b, one.C)
            assert np.array_equal(s.acceleration, dense.acceleration)
            assert np.array_equal(s.multipliers, dense.multipliers)
        mixed = zw.solve(one.M, one.Q, sparse.csr_array(one.A), one.b, one.C)
        assert np.array_equal(mixed.acceleration, dense.acceleration)


def ladder(n, *, massless=(), extra=()):
    """A chain of n coordinates: neighbours tied in threes, with repeated and combined rows."""
    rng = np.random.default_rng(7)
    mass = 1.0 + rng.random(n)
    mass[list(massless)] = 0.0
    coupling = np.where((mass[:-1] > 0) & (mass[1:] > 0), 0.2, 0.0)
    M = sparse.diags_array([coupling, mass, coupling], offsets=[-1, 0, 1], format="csr")
    rows = [(i, i + 1, i + 2) for i in range(0, n - 2, 2)]
    A = sparse.lil_array((len(rows) + len(extra), n))
    for r, (i, j, k) in enumerate(rows):
        A[r, i], A[r, j], A[r, k] = 1.0, -2.0 if i % 4 else 2.0, 1.0
    for r, combination in enumerate(extra, start=len(rows)):
        for row, factor in combination.items():
            A[[r], :] = A[[r], :] + factor * A[[row], :]
    A = A.tocsr()
    x = rng.integers(-3, 4, size=n).astype(float)
    return M, rng.standard_normal(n), A, A @ x, rng.standard_normal(n)


EXTRA = ({3: 1.0}, {10: 2.0, 11: -1.0}, {20: 1.0, 40: 3.0})


def test_sparse_equals_dense():
    M, Q, A, b, C = ladder(320, massless=(5, 7, 31), extra=EXTRA)
    fast = zw.solve(M, Q, A, b, C)
    dense = zw.solve(M.toarray(), Q, A.toarray(), b, C)
    assert "sparse and large" in fast.reason
    assert_close(fast.acceleration, dense.acceleration, 1e-11)
    assert_close(fast.constraint_force, dense.constraint_force, 1e-11)
    assert_close(fast.multipliers, dense.multipliers, 1e-11)
    assert fast.ranks.constraint == dense.ranks.constraint
    assert fast.redundancy == 3
    by_name = zw.solve(M, Q, A, b, C, formulation="udwadia_mogharabin")
    assert by_name.formulation == "udwadia_mogharabin"
    assert_close(by_name.acceleration, fast.acceleration, 1e-11)


def test_a_large_sparse_system_with_redundant_rows_and_massless_coordinates():
    M, Q, A, b, C = ladder(2000, massless=range(1, 2000, 50), extra=EXTRA)
    s = zw.solve(M, Q, A, b, C)
    assert s.redundancy == 3
    assert s.condition is None
    assert_zero(A @ s.acceleration - b, 1e-10)
    assert_zero(M @ s.acceleration - Q - s.constraint_force, 1e-10)
    assert_close(A.T @ s.multipliers + C, s.constraint_force, 1e-10)
    # No work of the ideal part in a virtual displacement: w = v̇ of the same system without b
    w = zw.solve(M, C, A, np.zeros(A.shape[0])).acceleration
    assert_zero(A @ w, 1e-10)
    assert abs(w @ (s.constraint_force - C)) < 1e-9 * np.linalg.norm(w) * np.linalg.norm(Q)


def test_contradicting_rows_of_a_large_sparse_system_are_named():
    M, Q, A, b, _ = ladder(600, extra=EXTRA)
    b = b.copy()
    b[-2] += 0.5  # the second extra row: twice row 10 minus row 11
    names = [f"tie {i}" for i in range(A.shape[0])]
    with pytest.raises(InconsistentConstraintsError) as caught:
        zw.solve(M, Q, A, b, names=names)
    assert sorted(caught.value.names) == sorted(["tie 10", "tie 11", names[-2]])
    assert [names[row] for row in caught.value.rows] == list(caught.value.names)


def test_a_fast_part_of_a_large_sparse_system_does_not_hide_a_contradiction():
    M, Q, A, b, _ = ladder(600, extra=EXTRA)
    whole = sparse.block_diag([M, sparse.eye_array(1)], format="csr")
    A = sparse.hstack([A, sparse.csr_array((A.shape[0], 1))], format="csr")
    fast = np.append(Q, 1e13)
    assert zw.solve(whole, fast, A, b).acceleration[-1] == pytest.approx(1e13)
    b = b.copy()
    b[-2] += 0.5
    with pytest.raises(InconsistentConstraintsError) as caught:
        zw.solve(whole, fast, A, b)
    assert caught.value.rows == (10, 11, A.shape[0] - 2)


def test_a_loose_direction_of_a_large_sparse_system_is_named():
    M, _, A, _, _ = ladder(600)
    M = M.tolil()
    for j in (200, 201, 202):  # tied to each other, but with no mass among them
        M[[j], :] = 0.0
        M[:, [j]] = 0.0
    A = A.tolil()
    for row in range(A.shape[0]):
        if A[row, 200] or A[row, 202]:
            A[[row], :] = 0.0
    A[100, 200], A[100, 201] = 1.0, -1.0
    b = A.tocsr() @ np.zeros(600)
    with pytest.raises(
        NotUniqueError,
        match=r"must be determined by mass or.*but there are 2 directions with neither",
    ) as caught:
        zw.solve(M.tocsr(), np.zeros(600), A.tocsr(), b)
    assert "q202 moves alone" in str(caught.value)
    assert "q200 and q201 move together, q201 = q200" in str(caught.value)
    w = np.asarray(caught.value.directions)
    assert w.shape == (600, 2)
    assert_zero(M.tocsr() @ w)
    assert_zero(A.tocsr() @ w)


def test_an_indefinite_large_sparse_mass_matrix_is_refused():
    M, Q, A, b, _ = ladder(600)
    M = M.tolil()
    M[321, 321] = -1.0
    with pytest.raises(
        InputError,
        match=r"matrix M must be positive semi-definite.*but gives the kinetic energy −0\.518958",
    ):
        zw.solve(M.tocsr(), Q, A, b)


def test_a_large_sparse_system_without_constraints():
    M, Q, _, _, _ = ladder(400)
    s = zw.solve(M, Q)
    assert_close(M @ s.acceleration, Q, 1e-12)
    assert s.multipliers.shape == (0,)


def test_batches_of_several_axes_without_constraints_are_solved():
    M = np.broadcast_to(2.0 * np.eye(3), (2, 4, 3, 3))
    Q = np.arange(24.0).reshape(2, 4, 3)
    solution = zw.solve(M, Q)
    assert np.array_equal(solution.acceleration, Q / 2.0)
    assert solution.multipliers.shape == (2, 4, 0)


def test_a_mass_next_to_nothing_does_not_hide_constraints():
    # A body in Euler parameters at p = (1, ε, ε, ε): 4LᵀJL has the entry ε² for the first, by whose
    # scale the three rows below, all with a part in it, would look like one.
    p = np.array([1.0, 1e-17, 2e-17, -1e-17])
    L = np.array(
        [[-p[1], p[0], p[3], -p[2]], [-p[2], -p[3], p[0], p[1]], [-p[3], p[2], -p[1], p[0]]]
    )
    M = 4.0 * L.T @ np.diag([1.0, 2.0, 3.0]) @ L
    M = 0.5 * (M + M.T)
    A = np.array([p, [1.0, 0.5, 0.2, 0.1], [2.0, -0.3, 0.7, 0.4]])
    Q, b = np.array([0.1, 1.0, -2.0, 0.5]), np.array([-0.3, 0.8, 0.2])
    with pytest.raises(
        zw.InputError,
        match=r"masses must be of similar magnitude.*but some are so much smaller than",
    ):
        zw.solve(M, Q, A, b)
    # With the mass of the constraints' own directions added, as the error advises:
    s = zw.solve(M + A.T @ A, Q + A.T @ b, A, b)
    v = np.linalg.svd(A)[2][3]  # the only direction left free
    assert np.abs(A @ s.acceleration - b).max() < 1e-12
    assert abs(v @ (M @ s.acceleration - Q)) < 1e-12


@pytest.mark.parametrize("size", [3, SPARSE_SIZE + 1])
def test_a_sparse_row_without_a_second_axis_is_refused_in_a_sentence(size):
    row = sparse.coo_array(np.ones(size))
    with pytest.raises(
        zw.InputError, match=rf"constraint matrix A must have .*but has shape \({size},\)"
    ):
        zw.solve(np.eye(size), np.ones(size), row, [0.0])


def test_a_state_off_its_constraints_is_said_to_be():
    """As where parameters that it was assembled with are forgotten."""
    pendulum = zw.System(
        ["x", "y"],
        parameters={"L": 1.0},
        mass=np.eye(2),
        force=lambda: [0.0, -9.81],
        constraints={"rod": zw.position(lambda q, p: q @ q - p.L**2)},
    )
    state = pendulum.assemble(hold={"x": 0.5}, prefer={"y": -2.0}, parameters={"L": 2.0})
    for found in (pendulum.solve(state), pendulum.passport(state)):
        assert "misses constraint 'rod' by 3 at the level of position" in found.notes[-1]
    assert not pendulum.solve(state, parameters={"L": 2.0}).notes
    assert "level of velocity" in pendulum.solve([1.0, 0.0], [1.0, 1.0]).notes[-1]
    assert not pendulum.solve(np.array([[1.0, 0.5]] * 2)).notes  # samples may lie anywhere
