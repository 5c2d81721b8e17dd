"""`passport`: what is determinate is the same for every admissible λ, and only that."""

import exact
import numpy as np
import pytest
from mechanisms import GRAVITY, door, three_cranks

import zwang as zw
from samples import assert_close, plus, with_any_mass, with_definite_mass
from zwang.diagnosis.passport import Status, passport, passport_terms
from zwang.errors import InputError, UnknownNameError
from zwang.formulations.udwadia_kalaba import UdwadiaKalaba

#: 'Determinate' means unchanged to this, relative to the terms that make up the force.
UNCHANGED = 1e-10

REDISTRIBUTIONS = 20


def random_redundant_system(seed):
    """Integer rows in groups, with dependencies planted within and across groups."""
    rng = np.random.default_rng([7, seed])
    n = int(rng.integers(4, 13))
    independent = int(rng.integers(1, n))
    while True:
        A = rng.integers(-2, 3, size=(independent, n))
        if exact.rank(A) == independent:
            break
    groups = [[i] for i in range(independent)]
    while len(groups) > 1 and rng.random() < 0.7:  # merge some rows into groups
        joined = groups.pop(int(rng.integers(len(groups))))
        groups[int(rng.integers(len(groups)))] += joined
    for _ in range(int(rng.integers(0, 4))):
        g = int(rng.integers(len(groups)))
        pool = groups[g] if rng.random() < 0.5 else list(range(len(A)))
        chosen = rng.choice(pool, size=min(len(pool), int(rng.integers(1, 5))), replace=False)
        row = rng.choice([-2, -1, 1, 2], size=len(chosen)) @ A[chosen]
        if not row.any():
            continue
        A = np.vstack([A, row])
        if rng.random() < 0.7:
            groups[g].append(len(A) - 1)
        else:
            groups.append([len(A) - 1])
    b = A @ rng.integers(-3, 4, size=n)
    root = rng.standard_normal((n, n if rng.random() < 0.6 else max(n - independent, 1)))
    M = root @ root.T
    if exact.rank(A) + root.shape[1] < n or np.linalg.cond(root.T @ root) > 1e6:
        M = M + np.eye(n)
    units = 2.0 ** rng.integers(-8, 9, size=len(A))  # exact, so the integers stay in reach
    return M, 5 * rng.standard_normal(n), A, b, units, groups, rng


def check_determinacy(seed):
    M, Q, A, b, units, groups, rng = random_redundant_system(seed)
    named = {f"g{k}": rows for k, rows in enumerate(groups)}
    found = passport(M, Q, A * units[:, None], b * units, groups=named)
    N = exact.nullspace(A.T) / units[:, None]  # independent of the library
    lam, rows = found.multipliers, A * units[:, None]
    assert found.basis.shape == N.shape
    others = []
    for _ in range(REDISTRIBUTIONS):
        step = N @ rng.standard_normal(N.shape[1])
        size = np.abs(units * step).max(initial=0.0)
        factor = (np.abs(units * lam).max() or 1.0) / size if size else 0.0
        others.append(lam + factor * step)
    others = np.array(others)
    for i, status in enumerate(found.statuses):
        change = np.abs(others[:, i] - lam[i]).max()
        unchanged = change <= UNCHANGED * np.abs(others[:, i]).max()
        assert unchanged == (status is Status.DETERMINATE)
    for group in found.groups.values():
        own = rows[list(group.rows)]
        forces = others[:, list(group.rows)] @ own
        terms = (np.abs(others[:, list(group.rows)]) @ np.abs(own)).max()
        change = np.abs(forces - group.force).max(axis=0)
        assert (change.max() <= UNCHANGED * terms) == (group.status is Status.DETERMINATE)
        assert np.array_equal(change <= UNCHANGED * terms, group.determinate_components)
        # Partly: some direction in which the group acts is determinate, and some is not.
        sure = group.determinate_directions
        assert np.abs((forces - group.force) @ sure).max(initial=0.0) <= UNCHANGED * terms
        acts, open_rank = exact.rank(A[list(group.rows)]), _rank_of(forces - group.force)
        assert sure.shape[1] == acts - open_rank
        expected = Status.PARTLY if 0 < open_rank < acts else Status.INDETERMINATE
        assert group.status is (Status.DETERMINATE if open_rank == 0 else expected)
    return found


def _rank_of(changes):
    s = np.linalg.svd(changes, compute_uv=False)
    return int(np.sum(s > 1e-8 * max(s[0], 1e-300))) if s[0] > 1e-9 else 0


@pytest.mark.inventory("UK-14", "UK-15")
@pytest.mark.parametrize("seed", range(60))
def test_determinate_is_what_no_redistribution_changes(seed):
    check_determinacy(seed)


@pytest.mark.campaign
@pytest.mark.inventory("UK-14", "UK-15")
@pytest.mark.parametrize("block", range(20))
def test_determinate_is_what_no_redistribution_changes_in_a_thousand_systems(block):
    for seed in range(50 * block, 50 * (block + 1)):
        check_determinacy(seed)


def test_the_random_systems_show_every_status():
    statuses = set()
    for seed in range(60):
        found = check_determinacy(seed)
        statuses |= {group.status for group in found.groups.values()}
    assert statuses == set(Status)


@pytest.mark.inventory("UK-13")
@with_any_mass
def test_multipliers_exist_and_balance_the_motion_for_dependent_rows_too(given):
    for s in given.systems():
        found = passport_terms(s.terms)
        force = s.M @ found.acceleration - s.Q - s.C
        assert_close(s.A.T @ found.multipliers, force)
        assert_close(found.ideal_force, force)
        assert_close(s.A @ found.acceleration, s.b)


@pytest.mark.inventory("UK-09", "UK-14")
@with_definite_mass
def test_the_family_of_multipliers_is_that_of_equation_22(given):
    rng = np.random.default_rng(1)
    for s in given.systems():
        found = passport_terms(s.terms)
        assert_close(found.multipliers, plus(s.A.T) @ found.ideal_force)  # least norm
        for _ in range(5):
            other = UdwadiaKalaba(s.terms).all_multipliers(rng.standard_normal(s.m))
            # Every λ of (22) is in the family, and every member of the family solves (19).
            step = np.linalg.lstsq(found.basis, other - found.multipliers)[0]
            assert_close(found.redistribute(step), other)
            member = found.redistribute(rng.standard_normal(found.basis.shape[1]))
            assert_close(s.A.T @ member, found.ideal_force)


@pytest.mark.parametrize("small", [1e-2, 1e-5, 1e-7])
def test_nearly_parallel_rows_are_determinate_beside_a_redundant_pair(small):
    # Rows 0 and 1 nearly repeat each other and rounding in N(Aᵀ) grows as 1/small along them; only
    # rows 2, 3, 4 depend on each other.
    rng = np.random.default_rng(3)
    R = np.linalg.qr(rng.standard_normal((6, 6))).Q
    A = np.array([R[0], R[0] + small * R[1], R[2] + R[0], R[3], R[2] + R[0] - 2 * R[3]])
    found = passport(np.eye(6), rng.standard_normal(6), A, np.zeros(5))
    assert [status is Status.DETERMINATE for status in found.statuses] == [True] * 2 + [False] * 3
    assert_close(found.basis[:, 0], [0, 0, 1, -2, -1])


# --- hand-checked mechanisms ----------------------------------------------------------------------


@pytest.mark.inventory("UK-15")
@pytest.mark.parametrize("rate", [0.0, 1.5])
def test_three_cranks_are_indeterminate_along_the_cranks_only(rate):
    system, expected = three_cranks(rate=rate)
    found = passport(**system)
    assert_close(found.acceleration[[2, 5, 8]], [expected["angular_acceleration"]] * 3)
    assert found.basis.shape == (12, 1)
    assert set(found.statuses) == {Status.INDETERMINATE}
    assert list(found.groups) == ["ground0", "top0", "ground1", "top1", "ground2", "top2"]
    u, across = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
    for pin in found.groups.values():
        assert pin.status is Status.PARTLY
        rows = list(pin.rows)
        # Across the crank nothing is open; along it the self-stress may be added at will.
        assert_close(across @ found.basis[rows], [0.0])
        assert np.abs(u @ found.basis[rows]) > 0.1
        assert pin.determinate_directions.shape[1] == 1
    # A crank by hand, across it: F at the ground pin, T at the top pin,
    #   m (L/2) φ̈ = F + T − m g cos φ   and   I φ̈ = (L/2)(T − F).
    length, phi = expected["length"], expected["angular_acceleration"]
    mass, inertia = 1.0, length**2 / 12
    by_hand = 0.5 * (mass * length * phi / 2 + mass * GRAVITY * 0.6 - 2 * inertia * phi / length)
    for k in range(3):
        force = across @ found.multipliers[list(found.groups[f"ground{k}"].rows)]
        assert force == pytest.approx(by_hand, rel=1e-10)


@pytest.mark.inventory("UK-15")
def test_upright_cranks_leave_the_horizontal_forces_determinate():
    system, _ = three_cranks(sine=1.0, cosine=0.0)
    found = passport(**system)
    for name, status in zip(found.names, found.statuses, strict=True):
        assert status is (Status.DETERMINATE if name.endswith("[0]") else Status.INDETERMINATE)
    # Vertical forces at the coupler's pins, whatever they are, carry its weight.
    top = [found.names.index(f"top{k}[1]") for k in range(3)]
    for c in (0.0, 3.0):
        assert_close(found.redistribute([c])[top].sum(), -3.0 * GRAVITY)


@pytest.mark.inventory("UK-15")
def test_no_hinge_of_the_door_alone_is_determinate_but_all_together_are():
    system = door()
    found = passport(**system)
    assert set(found.statuses) == {Status.INDETERMINATE}
    assert {g.status for g in found.groups.values()} == {Status.INDETERMINATE}
    whole = passport(**system, groups={"frame": ["low", "middle", "high"], "two": ["low", "high"]})
    frame = whole.groups["frame"]
    assert frame.status is Status.DETERMINATE
    assert whole.groups["two"].status is Status.INDETERMINATE
    # The frame carries the weight of 200 and its moment 200 · 0.5 about y. The drive turns the door
    # about its edge: 3 = (2 + 20 · 0.25) ω̇, and the centre needs 20 · 0.5 ω̇ along y.
    turn = 3.0 / (2.0 + 20.0 * 0.25)
    assert_close(whole.acceleration, [0, 0.5 * turn, 0, 0, 0, turn])
    assert_close(frame.force, [0, 20 * 0.5 * turn, 200, 0, 0, 2.0 * turn - 3.0])


def test_a_table_names_the_attribute_with_directions_askew():
    """A pin beside a rail across the diagonal: determinate along the rail, which is no axis."""
    A = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    found = passport(np.eye(2), [0.0, -1.0], A, np.zeros(3), groups={"pin": [0, 1], "rail": [2]})
    assert found.groups["pin"].status is Status.PARTLY
    assert "partly; see its determinate_directions" in str(found)
    assert_close(found.groups["pin"].determinate_directions.sum(axis=0), [0.0])


@pytest.mark.inventory("UK-15")
def test_a_door_on_one_ball_and_two_rings_hangs_on_the_ball():
    found = passport(**door(("ball", "ring", "ring")))
    low = found.groups["low"]
    assert low.status is Status.PARTLY
    assert found.status("low[2]") is Status.DETERMINATE
    assert found.multipliers[2] == pytest.approx(20 * GRAVITY, rel=1e-12)
    assert found.status("low[0]") is Status.INDETERMINATE
    # Low and high carry the moment 200 · 0.5 about y; the middle may add (1, −2, 1) at will.
    x = [found.names.index(f"{p}[0]") for p in ("low", "middle", "high")]
    forces = found.multipliers[x]
    assert forces.sum() == pytest.approx(0.0, abs=1e-12)
    assert abs(forces @ [-1, 0, 1]) == pytest.approx(100.0)
    assert low.determinate_components.tolist()[2] is True  # v_z
    assert "partly; determinate along vz" in str(found)
    assert "e-1" not in str(found)  # a middle hinge without load shows 0, not rounding


# --- how it is asked and said ---------------------------------------------------------------------


def test_unknown_rows_of_a_group_list_the_near_names():
    system = door(("ball", "ring", "ring"))
    with pytest.raises(UnknownNameError, match=r"Did you mean .*'low\[0\]'"):
        passport(**system, groups={"hinge": ["low[9]"]})
    with pytest.raises(InputError, match="row number from 0 to 6"):
        passport(**system, groups={"hinge": [7]})
    with pytest.raises(InputError, match="group 'hinge' must have at least one row, but has none"):
        passport(**system, groups={"hinge": []})
    with pytest.raises(UnknownNameError, match="group or row"):
        passport(**system).status("nothing")


def test_redistribution_wants_one_number_for_each_free_parameter():
    found = passport(**three_cranks()[0])
    with pytest.raises(
        InputError,
        match=r"redistribution c must have shape \(1,\), one number.*but has shape \(2,\)",
    ):
        found.redistribute([1.0, 2.0])


def test_independent_rows_are_all_determinate():
    found = passport(
        np.eye(3), [0, 0, -1], [[1.0, 0, 0], [0, 1.0, 1.0]], [0, 0], groups={"all": [0, 1]}
    )
    assert found.determinate
    assert found.groups["all"].status is Status.DETERMINATE
    assert found.groups["all"].determinate_directions.shape == (3, 2)
    assert str(found).startswith("All multipliers are determinate.")
    free = passport(np.eye(2), [1.0, 2.0], None, None)
    assert free.determinate
    assert_close(free.acceleration, [1.0, 2.0])


def test_a_pin_known_by_a_moment_alone_is_told_as_the_component_across():
    """Three parallel cranks, inclined: of their pins the component across each crank is known."""
    m = zw.Mechanism(plane="xy", gravity=(0, -9.81))
    bar = m.body("bar", mass=1.0, inertia=0.1, position=(1.6, 0.8))
    for k in range(3):
        crank = m.body(f"crank{k}", mass=1.0, inertia=0.1, position=(k + 0.3, 0.4))
        m.revolute(f"A{k}", m.ground, crank, at=(k, 0))
        m.revolute(f"B{k}", crank, bar, at=(k + 0.6, 0.8))
    told = str(m.passport())
    assert "determinate is what turns crank0 about its center of mass" in told
    assert "the component across the line to it" in told
    assert "determinate along crank0.omega" not in told
