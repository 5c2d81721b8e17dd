"""`explain`: ranks, dependent groups, existence and uniqueness, freedoms."""

import json
from itertools import combinations

import exact
import numpy as np
import pytest
from mechanisms import door, terms_of, three_cranks

import zwang as zw
from samples import assert_close, with_any_mass, with_singular_mass
from zwang.diagnosis.circuits import CIRCUIT_LIMIT
from zwang.diagnosis.explain import explain, explain_terms
from zwang.errors import InputError
from zwang.formulations.udwadia_kalaba import UdwadiaKalaba
from zwang.terms import EquationTerms


def random_integer_system(seed):
    """M ≥ 0 and A of small integers, of every rank, well posed or not."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 9)), int(rng.integers(0, 9))
    root = rng.integers(-2, 3, size=(n, int(rng.integers(0, n + 1))))
    A = rng.integers(-2, 3, size=(m, n)) * (rng.random((m, n)) < 0.6)
    if m > 1 and rng.random() < 0.6:
        A[-1] = A[: m - 1].T @ rng.integers(-1, 2, size=m - 1)
    return (root @ root.T).astype(float), A.astype(float), rng


SEEDS = range(50)


@pytest.mark.inventory("XX-05", "UM-09", "US-06")
@pytest.mark.parametrize("seed", SEEDS)
def test_ranks_are_those_of_exact_arithmetic(seed):
    M, A, _ = random_integer_system(seed)
    found = explain(M, A, np.zeros(len(A)))
    assert found.ranks["A"] == exact.rank(A)
    assert found.ranks["M"] == exact.rank(M)
    assert found.ranks["[M; A]"] == exact.rank(np.vstack([M, A]))
    assert found.degrees_of_freedom == len(M) - exact.rank(A)
    assert found.unique == (exact.rank(np.vstack([M, A])) == len(M))
    assert found.multipliers_unique == (exact.rank(A) == len(A))


@pytest.mark.inventory("UM-24", "UM-18", "US-06")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_equivalent_tests_of_uniqueness_agree(seed):
    M, A, _ = random_integer_system(seed)
    found = explain(M, A)
    assert len(found.uniqueness_tests) == 4
    assert set(found.uniqueness_tests.values()) == {found.unique}
    assert found.one_to_one == found.unique


@pytest.mark.inventory("UM-24", "UM-18")
def test_an_indefinite_mass_matrix_sets_the_tests_against_each_other():
    # Errata: Lemmas 3 and 4 need M ≥ 0. [M; A] has rank 2, [M_s; A] has rank 1.
    found = explain(np.diag([1.0, -1.0]), [[1.0, -1.0]])
    assert not found.semidefinite
    assert not found.well_posed
    assert not found.one_to_one
    assert set(found.uniqueness_tests.values()) == {True, False}
    assert "not positive semi-definite" in str(found)
    # A direction with negative mass is no direction without mass.
    found = explain(np.diag([1.0, -1.0]), [[1.0, 0.0]])
    assert found.undetermined.shape == (2, 0)
    assert found.ranks["[M; A]"] == 2


@pytest.mark.inventory("UK-07")
@pytest.mark.parametrize("seed", SEEDS)
def test_consistent_exactly_when_b_adds_nothing_to_the_rank(seed):
    M, A, rng = random_integer_system(seed)
    b = A @ rng.integers(-3, 4, size=len(M))
    if rng.random() < 0.5 and len(b):
        b = b + rng.integers(-1, 2, size=len(b))
    assert explain(M, A, b).consistent == (not exact.contradicts(A, b))
    assert explain(M, A).consistent is (True if exact.rank(A) == len(A) else None)


@pytest.mark.inventory("UK-07")
def test_a_gap_at_rounding_level_is_no_contradiction_and_a_small_one_is():
    A = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 0.0], [2.0, 3.0, 3.0]])
    b = np.array([0.1, 0.2, 0.1 + 0.2])
    assert explain(np.eye(3), A, b + [0, 0, 1e-16]).consistent
    assert not explain(np.eye(3), A, b + [0, 0, 1e-13]).consistent
    # The motion may be large where b is small: rounding then goes by the motion.
    assert explain(np.eye(3), A, np.array([0, 0, 1e-13]), Q=[300.0, 0, 0]).consistent


@pytest.mark.inventory("UM-07", "UM-09")
@pytest.mark.parametrize("seed", SEEDS)
def test_an_acceleration_exists_exactly_when_the_equations_have_a_solution(seed):
    # [M −Aᵀ; A 0] (v̇, λ) = (Q, b), exactly; it may fail through b or through Q.
    M, A, rng = random_integer_system(seed)
    n, m = len(M), len(A)
    saddle = np.block([[M, -A.T], [A, np.zeros((m, m))]])
    right = saddle @ rng.integers(-2, 3, size=n + m)
    if rng.random() < 0.5:
        right[:n] += rng.integers(-1, 2, size=n)
    found = explain(M, A, right[n:], right[:n])
    assert found.exists == (not exact.contradicts(saddle, right))
    force_matters = not found.unique
    assert explain(M, A, right[n:]).exists == (None if force_matters else True)


@pytest.mark.inventory("UM-07")
def test_the_counterexample_of_the_errata_has_no_acceleration():
    M, A, b = np.diag([1.0, 0, 0]), [[1.0, 0, 0]], [2.0]
    assert explain(M, A, b, [0.0, 1, 0]).exists is False
    assert explain(M, A, b, [5.0, 0, 0]).exists is True
    assert "None exists" in str(explain(M, A, b, [0.0, 1, 0]))
    # The non-ideal force counts as well.
    assert explain(M, A, b, [0.0, 1, 0], [0.0, -1, 0]).exists is True


@pytest.mark.inventory("UM-07")
@pytest.mark.parametrize("seed", SEEDS)
def test_undetermined_directions_span_what_has_neither_mass_nor_constraint(seed):
    M, A, _ = random_integer_system(seed)
    w = explain(M, A).undetermined
    planted = exact.nullspace(np.vstack([M, A]))
    assert w.shape == planted.shape
    assert_close(np.vstack([M, A]) @ w, np.zeros((len(M) + len(A), w.shape[1])))
    assert np.linalg.matrix_rank(np.hstack([w, planted])) == planted.shape[1]


@pytest.mark.inventory("UK-15")
@with_any_mass
def test_multipliers_are_unique_exactly_when_the_rows_are_independent(given):
    for system in given.systems():
        found = explain_terms(system.terms)
        assert found.multipliers_unique == (system.rank == system.m)
        if found.ranks["M"] == system.n:
            assert found.multipliers_unique == UdwadiaKalaba(system.terms).multipliers_unique


@pytest.mark.inventory("XX-05")
@with_singular_mass
def test_well_posed_samples_are_reported_as_such(given):
    for system in given.systems():
        found = explain_terms(system.terms)
        assert found.well_posed
        assert found.exists
        assert "The acceleration is unique." in str(found)


@pytest.mark.inventory("XX-05")
@pytest.mark.parametrize("seed", SEEDS)
def test_freedoms_span_the_null_space_and_dependent_groups_the_left_one(seed):
    M, A, _ = random_integer_system(seed)
    found = explain(M, A)
    assert_close(A @ found.freedoms, np.zeros((len(A), found.degrees_of_freedom)))
    assert _rank(found.freedoms) == found.degrees_of_freedom
    dependencies = np.zeros((len(found.dependent_groups), len(A)))
    for k, group in enumerate(found.dependent_groups):
        dependencies[k, list(group.rows)] = group.coefficients
        # Irreducible: dependent, and independent without any one of its rows.
        assert exact.rank(A[list(group.rows)]) == len(group.rows) - 1
        assert np.all(group.coefficients != 0.0)
    assert_close(dependencies @ A, np.zeros((len(dependencies), len(M))))
    assert _rank(dependencies) == found.redundancy


def all_minimal_groups(A):
    """Every minimal dependent set of integer rows, by exact arithmetic on all subsets."""
    groups = []
    for size in range(1, A.shape[1] + 2):
        for rows in combinations(range(len(A)), size):
            smaller = any(set(group) <= set(rows) for group in groups)
            if not smaller and exact.rank(A[list(rows)]) < size:
                groups.append(rows)
    return groups


@pytest.mark.inventory("XX-05")
@pytest.mark.parametrize("seed", range(15))
def test_all_minimal_groups_are_those_found_by_trying_all_subsets(seed):
    rng = np.random.default_rng([11, seed])
    m, n = 8, 4
    A = rng.integers(-2, 3, size=(m, n))
    A[1] = A[0] * rng.choice([-1, 1])
    groups = all_minimal_groups(A)
    found = explain(np.eye(n), A)
    assert found.groups_complete == (len(groups) <= CIRCUIT_LIMIT)
    if found.groups_complete:
        assert sorted(group.rows for group in found.dependent_groups) == sorted(groups)
    else:
        assert {group.rows for group in found.dependent_groups} <= set(groups)


@pytest.mark.parametrize("seed", [35, 128, 192, 235, 257, 308, 578, 596])
def test_minimal_groups_with_very_uneven_coefficients_are_exact_too(seed):
    # Coefficients from 1e-4 to 1, so that those of combined groups go down to 1e-9. The seeds are
    # those that a coarser notion of zero gets wrong.
    rng = np.random.default_rng(seed)
    n, rank, more = 6, int(rng.integers(2, 5)), int(rng.integers(2, 5))
    base = rng.integers(-2, 3, size=(rank, n))
    uneven = rng.integers(-2, 3, size=(more, rank)) * 10 ** rng.integers(0, 5, size=(more, rank))
    A = np.vstack([base, uneven @ base])
    found = explain(np.eye(n), A)
    assert found.groups_complete
    assert sorted(group.rows for group in found.dependent_groups) == sorted(all_minimal_groups(A))


@pytest.mark.parametrize("small", [1e-3, 1e-5, 1e-6])
def test_rows_that_nearly_repeat_each_other_keep_their_own_groups(small):
    # Rows 1 and 2 nearly copy row 0; what depends is not they but the rows built from all three.
    rng = np.random.default_rng(12)
    a, b, c, d = rng.integers(-3, 4, size=(4, 7)).astype(float)
    rows = [a, a + small * b, a - small * c, d, small * b, small * c, 2 * a + d]
    found = explain(np.eye(7), np.array(rows))
    assert found.groups_complete
    assert [group.rows for group in found.dependent_groups] == [
        (0, 1, 4),
        (0, 2, 5),
        (0, 3, 6),
        (1, 2, 4, 5),
        (1, 3, 4, 6),
        (2, 3, 5, 6),
    ]


def _rank(B):
    return int(np.linalg.matrix_rank(B)) if B.size else 0


# --- hand-checked mechanisms ----------------------------------------------------------------------


@pytest.mark.inventory("XX-05", "UM-09")
def test_the_door_on_three_hinges_turns_about_its_edge():
    found = explain(**terms_of(door()))
    assert (found.constraint_count, found.ranks["A"], found.redundancy) == (15, 5, 10)
    # ω_z = 1 about the edge at x = −0.5 moves the centre by v_y = 0.5.
    assert found.freedom(0) == "vy and wz move together, wz = 2 vy"
    # Copies: v_z, ω_x and ω_y three times each, 9 pairs. Along x, the three points on a line and
    # the tilt ω_y: 1 triple of points, and 3 pairs of points with each of 3 copies; along y too.
    assert found.groups_complete
    assert len(found.dependent_groups) == 9 + 2 * (1 + 9)


@pytest.mark.inventory("XX-05")
def test_a_door_on_a_ball_and_two_rings_has_two_dependent_groups():
    # Three points on a line: x rows of low, middle, high add up as 1, −2, 1; y rows too.
    found = explain(**terms_of(door(("ball", "ring", "ring"))))
    assert found.groups_complete
    assert [group.names for group in found.dependent_groups] == [
        ("low[0]", "middle[0]", "high[0]"),
        ("low[1]", "middle[1]", "high[1]"),
    ]
    for group in found.dependent_groups:
        assert group.coefficients.tolist() == [1.0, -2.0, 1.0]
        assert str(group).endswith("] = 0")


@pytest.mark.inventory("XX-05")
def test_three_cranks_carry_one_state_of_self_stress():
    # Axial forces N in the cranks balance on the coupler when Σ N = 0 and Σ N x = 0, x = 0, 1, 3:
    # N = (2, −3, 1), along u = (0.6, 0.8).
    system, _ = three_cranks()
    found = explain(**terms_of(system))
    assert (found.ranks["A"], found.degrees_of_freedom, found.redundancy) == (11, 1, 1)
    (group,) = found.dependent_groups
    axial = {
        f"{pin}{k}[{axis}]": N * u * (1 if pin == "top" else -1)
        for k, N in enumerate((2, -3, 1))
        for axis, u in enumerate((3, 4))
        for pin in ("ground", "top")
    }
    expected = np.array([axial[name] for name in group.names])
    assert_close(group.coefficients / group.coefficients[0], expected / expected[0])
    assert len(group.names) == 12


def test_many_copies_of_one_row_are_told_pairwise_or_by_a_basis():
    few = explain(np.eye(2), np.ones((5, 2)))
    assert few.groups_complete
    assert len(few.dependent_groups) == 10
    many = explain(np.eye(2), np.ones((25, 2)))
    assert not many.groups_complete
    assert len(many.dependent_groups) == 24
    assert "more" in str(many)


# --- how it is said -------------------------------------------------------------------------------


def test_the_report_names_rows_coordinates_and_numbers():
    A = [[1.0, 0.5, 0], [2.0, 1.0, 0]]
    text = str(
        explain(np.diag([1.0, 1, 0]), A, [0, 0], names=["rod", "copy"], coordinates=list("xyz"))
    )
    assert "2·rod − copy = 0" in text
    assert "x and y move together, y = −2 x" in text
    assert "Neither mass nor constraint: z moves alone." in text
    assert "3 coordinates, 2 constraint rows of rank 1: 2 degrees of freedom." in text


@pytest.mark.inventory("XX-05")
def test_the_report_is_also_data_ready_for_json():
    system, _ = three_cranks()
    facts = json.loads(json.dumps(explain(**terms_of(system)).to_dict()))
    assert facts["ranks"]["A"] == 11
    assert facts["dependent_groups"][0]["names"][0] == "ground0[0]"
    assert facts["degrees_of_freedom"] == 1
    assert facts["contradictions"] == []
    assert facts["unique"] is True


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_units_do_not_decide_what_depends(scale):
    # The same rows in other units, and one coordinate in other units.
    A = np.array([[1.0, 2.0, 0.0], [1.0, 0.0, 1.0], [2.0, 2.0, 1.0]])
    units = np.array([1.0, scale, 1.0])
    M = np.diag(1.0 / units**2)
    rows = np.array([1.0, 1.0 / scale, scale])
    found = explain(M, rows[:, None] * A / units)
    assert found.ranks["A"] == 2
    (group,) = found.dependent_groups
    assert_close(group.coefficients * rows / (group.coefficients[0] * rows[0]), [1.0, 1.0, -1.0])


def test_no_constraints_and_no_freedom_are_both_described():
    free = explain(np.eye(2))
    assert free.degrees_of_freedom == 2
    assert free.consistent is True
    assert "x" not in str(free)
    held = explain(np.zeros((2, 2)), np.eye(2), [1.0, 2.0])
    assert held.unique
    assert "The constraints leave no degree of freedom" in str(held)


def test_a_batch_is_refused_with_advice():
    terms = EquationTerms.of(np.stack([np.eye(2)] * 3), np.zeros(2), [[1.0, 0.0]], [0.0])
    with pytest.raises(InputError, match=r"terms\.system\(0\)"):
        explain_terms(terms)


def test_sparse_matrices_are_explained_too():
    from scipy import sparse

    found = explain(sparse.eye_array(3), sparse.csr_array([[1.0, 1, 0], [2.0, 2, 0]]), [0.0, 1.0])
    assert found.consistent is False


# --- at a state ----------------------------------------------------------------------------------


def test_a_state_off_its_constraints_is_not_called_consistent():
    """Rows of two circles agree everywhere; a state is on one of them at most."""
    circles = {"circle": lambda q: q @ q - 1, "big": lambda q: q @ q - 4}
    found = zw.System(["x", "y"], mass=np.eye(2), constraints=circles).explain([1.0, 0.0])
    assert found.consistent
    assert not found.on_constraints
    assert not found.to_dict()["on_constraints"]
    assert "The constraints are consistent" not in str(found)
    assert "but the state does not satisfy the constraints" in str(found)
    assert "misses constraint 'big' by -3 at the level of position" in found.notes[0]


def test_velocities_count_too_and_rounding_does_not():
    circle = zw.System(["x", "y"], mass=np.eye(2), constraints={"c": lambda q: q @ q - 1})
    (note,) = circle.explain([1.0, 0.0], [1.0, 0.0]).notes
    assert "misses constraint 'c' by 2 at the level of velocity" in note
    on = circle.explain([1.0, 1e-9], [1e-9, 1.0])
    assert on.on_constraints
    assert on.notes == ()
    twice = {"one": lambda q: q @ q - 1, "two": lambda q: 2 * (q @ q) - 2}
    agreeing = zw.System(["x", "y"], mass=np.eye(2), constraints=twice).explain([1.0, 0.0])
    assert "The constraints are consistent." in str(agreeing)


def test_a_mechanism_off_its_joints_says_so():
    m = zw.Mechanism(plane="xz")
    ball = m.body("ball", mass=1.0, inertia=0.1, position=(1, 0))
    m.spherical_link("rod", m.ground, ball, at=((0, 0), (1, 0)))
    assert m.explain().on_constraints
    off = m.explain([2.0, 0.0, 1.0, 0.0])
    assert not off.on_constraints
    assert "misses constraint 'rod'" in off.notes[-1]
