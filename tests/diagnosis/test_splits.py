"""`splits`: one motion, several labelled ways to share the constraint force."""

import numpy as np
import pytest
from mechanisms import beam_on_springs, door, three_cranks
from scipy.optimize import linprog

from samples import assert_close, plus, with_any_mass
from zwang.diagnosis.minimax_split import smallest_maximum
from zwang.diagnosis.passport import Status, passport
from zwang.diagnosis.splits import splits, splits_terms
from zwang.errors import InputError, UnknownNameError
from zwang.linalg.scaling import ScaledTerms
from zwang.terms import EquationTerms

#: The splits must give one force, to rounding.
SAME_FORCE = 1e-12

#: The compliance split and the limit of growing stiffness.
STIFF_LIMIT = 1e-9

LABELS = [
    "minimum norm",
    "mass-weighted",
    "user-weighted",
    "compliance-weighted",
    "smallest maximum",
]


def all_splits(system, seed=0):
    rng = np.random.default_rng(seed)
    m = len(system["b"])
    weights, compliance = rng.uniform(0.1, 10, m), rng.uniform(0.1, 10, m)
    return (
        splits(**system, weights=weights, compliance=compliance),
        weights,
        compliance,
    )


@pytest.mark.parametrize("system", [three_cranks()[0], door(), beam_on_springs()])
def test_every_split_gives_the_same_motion_and_the_same_determinate_parts(system):
    found, *_ = all_splits(system)
    known = passport(**system)
    assert list(found) == LABELS
    assert found.force_spread <= SAME_FORCE
    for split in found.values():
        lam = split.multipliers
        size = (np.abs(system["A"]).T @ np.abs(lam)).max()
        assert np.abs(system["A"].T @ lam - known.ideal_force).max() <= SAME_FORCE * size
        for i, status in enumerate(known.statuses):
            if status is Status.DETERMINATE:
                assert lam[i] == known.multipliers[i]


@with_any_mass
def test_the_splits_agree_where_the_multipliers_are_unique(given):
    for s in given.systems():
        m = s.m
        weights = np.arange(1.0, m + 1)
        found = splits_terms(s.terms, weights=weights, compliance=np.ones(m))
        assert found.force_spread <= SAME_FORCE
        if s.rank == m:
            for split in found.values():
                assert_close(split.multipliers, found["minimum norm"].multipliers)
        assert_close(found["compliance-weighted"].multipliers, found["minimum norm"].multipliers)


@pytest.mark.parametrize("seed", range(5))
def test_each_split_is_the_least_by_its_own_measure(seed):
    system = door()
    found, weights, compliance = all_splits(system, seed)
    M, A = system["M"], system["A"]
    own = np.einsum("ij,jk,ik->i", A, np.linalg.inv(M), A)
    measures = {
        "minimum norm": lambda lam: np.sum(lam**2),
        "mass-weighted": lambda lam: np.sum(own * lam**2),
        "user-weighted": lambda lam: np.sum(weights * lam**2),
        "compliance-weighted": lambda lam: np.sum(compliance * lam**2),
        "smallest maximum": lambda lam: np.max(weights * np.abs(lam)),
    }
    known, rng = passport(**system), np.random.default_rng(seed)
    for label, measure in measures.items():
        least = measure(found[label].multipliers)
        for split in found.values():
            assert least <= measure(split.multipliers) * (1 + 1e-12)
        for size in (1e-4, 1e-2, 1.0, 100.0):
            step = known.basis @ rng.standard_normal(known.basis.shape[1])
            assert least <= measure(found[label].multipliers + size * step) * (1 + 1e-12)


def test_measured_by_the_inverse_mass_the_whole_force_cannot_choose():
    system = door()
    found, *_ = all_splits(system)
    A, inverse = system["A"], np.linalg.inv(system["M"])
    values = [s.multipliers @ A @ inverse @ A.T @ s.multipliers for s in found.values()]
    assert_close(values, [values[0]] * 5)


def test_a_matrix_of_weights_is_minimised_as_such():
    system = beam_on_springs()
    W = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 3.0]])
    found = splits(**system, weights=W, compliance=W)
    lam, z = found["user-weighted"].multipliers, np.array([1.0, -2.0, 1.0])
    assert z @ W @ lam == pytest.approx(0.0, abs=1e-12 * np.abs(lam).max())
    assert_close(found["compliance-weighted"].multipliers, lam)


# --- elastic joints -------------------------------------------------------------------------------


def stiff_limit(M, Q, A, ratios, orders=7):
    """Forces in springs of stiffness k·ratios as k → ∞, by Richardson's extrapolation.

    The springs replace the constraints: M v̇ = Q − k Aᵀ R A u. Under Q eᵗ the motion is u eᵗ with
    (M + k AᵀRA) u = Q, its acceleration is u, and the springs carry λ = −k R A u.
    """
    R = np.diag(ratios)
    table = []
    for j in range(orders):
        k = 1e3 * 2.0**j
        u = np.linalg.solve(M + k * A.T @ R @ A, Q)
        table.append(-k * R @ A @ u)
    for step in range(1, orders):  # the error is a series in 1/k
        table = [
            (2.0**step * table[i + 1] - table[i]) / (2.0**step - 1) for i in range(len(table) - 1)
        ]
    return table[0], u


@pytest.mark.parametrize("ratios", [(1.0, 1.0, 1.0), (1.0, 2.0, 5.0), (3.0, 0.2, 1.0)])
def test_the_compliance_split_is_the_limit_of_stiff_springs(ratios):
    system = beam_on_springs()
    limit, _ = stiff_limit(system["M"], system["Q"], system["A"], ratios)
    found = splits(**system, compliance=1.0 / np.array(ratios))
    lam = found["compliance-weighted"].multipliers
    assert np.abs(lam - limit).max() <= STIFF_LIMIT * np.abs(limit).max()
    # The limit is a real choice: with uneven springs it is not the least norm.
    uneven = len(set(ratios)) > 1
    assert (np.abs(lam - found["minimum norm"].multipliers).max() > 1e-2) == uneven


def test_the_compliance_split_of_the_door_is_the_limit_of_stiff_hinges():
    system = door()
    ratios = np.random.default_rng(0).uniform(0.2, 5.0, 15)
    limit, _ = stiff_limit(system["M"], system["Q"], system["A"], ratios)
    lam = splits(**system, compliance=1.0 / ratios)["compliance-weighted"].multipliers
    assert np.abs(lam - limit).max() <= STIFF_LIMIT * np.abs(limit).max()


def test_a_beam_with_one_rigid_support_beside_soft_ones():
    # By hand: weight 40 at the middle of supports at −1, 0, 1; λ = 40/3 + c (1, −2, 1).
    A, M, Q = [[1, -1], [1, 0], [1, 1]], np.diag([4.0, 1.0]), [-40.0, 0.0]
    lam = splits(M, Q, A, [0, 0, 0], compliance=[1, 2, 1])["compliance-weighted"].multipliers
    assert_close(lam, [16, 8, 16])
    # A rigid middle support takes all, as far as the compliant ones are asked.
    lam = splits(M, Q, A, [0, 0, 0], compliance=[1, 0, 1])["compliance-weighted"].multipliers
    assert_close(lam, [0, 40, 0])


# --- the other measures ---------------------------------------------------------------------------


def test_the_mass_weighting_goes_by_each_rows_own_inertia():
    # Two unit rows along x on a mass of 1, written once in metres and once in millimetres: the
    # weight aᵢM⁻¹aᵢᵀ undoes the units, so each carries half of the force.
    found = splits(np.eye(2), [-10.0, 0.0], [[1.0, 0.0], [1000.0, 0.0]], [0.0, 0.0])
    lam = found["mass-weighted"].multipliers
    assert_close(lam * [1.0, 1000.0], [5.0, 5.0])
    assert not np.allclose(found["minimum norm"].multipliers * [1.0, 1000.0], [5.0, 5.0])


def test_the_mass_weighting_of_a_singular_mass_uses_the_augmented_one():
    M = np.diag([1.0, 0.0, 1.0])
    A = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.5, -1.0, 0.0]])
    b = np.zeros(3)
    scaled = ScaledTerms.of(EquationTerms.of(M, b, A, b))
    assert np.all(scaled.velocity_scale == 1.0)  # so that the formula can be checked as it stands
    assert np.all(scaled.row_scale == 1.0)
    lam = splits(M, [3.0, -10.0, 1.0], A, b)["mass-weighted"].multipliers
    own = np.einsum("ij,jk,ik->i", A, np.linalg.inv(M + plus(A) @ A), A)
    (z,) = np.linalg.svd(A)[0][:, 2:].T
    assert z @ (own * lam) == pytest.approx(0.0, abs=1e-12)


def independent_programme(lam, basis, weights):
    """The smallest maximum by another formulation: variables are λ itself and the maximum."""
    m, k = basis.shape
    left = np.linalg.svd(basis)[0][:, k:].T  # conditions that fix λ modulo the basis
    result = linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=np.block(
            [[np.diag(weights), -np.ones((m, 1))], [-np.diag(weights), -np.ones((m, 1))]]
        ),
        b_ub=np.zeros(2 * m),
        A_eq=np.hstack([left, np.zeros((m - k, 1))]),
        b_eq=left @ lam,
        bounds=[(None, None)] * m + [(0, None)],
        method="highs-ipm",
    )
    return result.fun


@pytest.mark.parametrize("seed", range(20))
def test_the_smallest_maximum_is_that_of_an_independent_programme(seed):
    rng = np.random.default_rng([8, seed])
    n, rank, m = 6, 3, 7
    A = rng.integers(-2, 3, size=(m - rank, rank)) @ (base := rng.integers(-2, 3, size=(rank, n)))
    A = np.vstack([base, A]).astype(float)
    A = A[np.any(A, axis=1)]
    weights = rng.uniform(0.5, 2.0, len(A))
    Q = rng.standard_normal(n)
    known = passport(np.eye(n), Q, A, np.zeros(len(A)))
    found = splits(np.eye(n), Q, A, np.zeros(len(A)), weights=weights)
    lam = found["smallest maximum"].multipliers
    best = independent_programme(known.multipliers, known.basis, weights)
    assert np.max(weights * np.abs(lam)) == pytest.approx(best, rel=1e-6)
    assert found.force_spread <= SAME_FORCE
    # Least norm among the optimal ones: no step that keeps the maximum makes it shorter.
    for _ in range(200):
        step = known.basis @ rng.standard_normal(known.basis.shape[1])
        for size in (1e-3, 1e-1):
            trial = lam + size * step
            if np.max(weights * np.abs(trial)) <= np.max(weights * np.abs(lam)) * (1 + 1e-12):
                assert np.linalg.norm(trial) >= np.linalg.norm(lam) * (1 - 1e-9)


def test_ties_of_the_smallest_maximum_go_to_the_least_norm():
    # Row 0 alone must carry 100; the copies 1, 2, 3 share 9 as they like below that.
    A = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    lam = splits(np.eye(2), [-100.0, -9.0], A, np.zeros(4))["smallest maximum"].multipliers
    assert_close(lam, [100.0, 3.0, 3.0, 3.0])


def test_the_smallest_maximum_is_exact_to_rounding():
    # Supports at −1, 0, 2 under a load at 0: λ = (0, 30, 0) + c (2, −3, 1), largest least at c = 6.
    A = [[1.0, -1.0], [1.0, 0.0], [1.0, 2.0]]
    lam = splits(np.eye(2), [-30.0, 0.0], A, np.zeros(3))["smallest maximum"].multipliers
    assert_close(lam, [12.0, 12.0, 6.0], 1e-13)


# --- how it is asked and said ---------------------------------------------------------------------


def test_what_is_determinate_but_for_rounding_does_not_hold_the_others():
    """The largest is determinate, and its row of the basis is 1e-16 in place of zero."""
    lam, along = np.array([-50.0, 100.0, 60.0, 80.0]), np.array([0.0, 1e-16, -0.8, 0.6])
    weights = np.array([1.0, 1.0, 1.0, 1.5])
    found = smallest_maximum(lam, along[:, None], weights)
    assert np.max(weights * np.abs(found)) == pytest.approx(100.0, rel=1e-11)
    assert found[3] == pytest.approx(100.0 / 1.5)


def test_bad_weights_are_refused_by_name():
    system = beam_on_springs()
    with pytest.raises(InputError, match="weights must be positive numbers, not 0 for row 1"):
        splits(**system, weights=[1.0, 0.0, 1.0])
    with pytest.raises(
        InputError, match="compliance must be non-negative numbers, not -1 for row 2"
    ):
        splits(**system, compliance=[1.0, 0.0, -1.0])
    with pytest.raises(InputError, match=r"shape \(2,\)"):
        splits(**system, weights=[1.0, 1.0])
    with pytest.raises(
        InputError,
        match="weights must be a symmetric positive definite matrix, not an asymmetric one",
    ):
        splits(**system, weights=np.triu(np.ones((3, 3))))
    with pytest.raises(InputError, match="eigenvalue"):
        splits(**system, weights=np.ones((3, 3)))
    with pytest.raises(InputError, match="not finite"):
        splits(**system, weights=[1.0, np.nan, 1.0])
    with pytest.raises(UnknownNameError, match="minimum norm"):
        splits(**system)["minimum"]


def test_the_table_shows_each_split_and_what_it_minimises():
    found, *_ = all_splits(door())
    text = str(found)
    assert "low[0]" in text
    for label in LABELS:
        assert f"{label}: least " in text


@pytest.mark.parametrize("mass", [1e-200, 1e-150, 1.0, 1e150, 1e200])
@pytest.mark.parametrize("row", [1e-150, 1.0, 1e150])
def test_numbers_of_any_size_are_shared_out_or_refused_without_a_warning(mass, row):
    A = row * np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    each = -5.0 * (mass / row)
    try:
        found = splits(mass * np.eye(2), [10.0 * mass, 0.0], A, np.zeros(3))
    except InputError:
        assert np.log10(mass) - np.log10(row) > 290  # multipliers near the largest double
        return
    for split in found.values():
        np.testing.assert_allclose(split.multipliers, [each, each, 0.0], rtol=1e-12)


def test_numbers_by_joint_are_refused_with_the_order_of_the_rows():
    terms = EquationTerms.of(
        np.eye(2), [0.0, -1.0], [[0.0, 1.0], [0.0, 1.0]], [0.0, 0.0], names=["legs[0]", "legs[1]"]
    )
    for given in ({"compliance": {"legs": 1.0}}, {"weights": {"legs": 1.0}}):
        with pytest.raises(InputError, match=r"2 .* numbers, one for each row") as refused:
            splits_terms(terms, **given)
        assert "{'legs': 1.0}" in str(refused.value)
        assert "The order of the rows is legs[0], legs[1]" in str(refused.value)
