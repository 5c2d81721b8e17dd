"""Accelerations by direct elimination: the equations themselves, next to singular positions too."""

import numpy as np
import pytest

import zwang as zw
from zwang import library
from zwang.codegen.expression import read
from zwang.codegen.schedule import contract, share_reciprocals
from zwang.equations.active_rows import redundant_rows
from zwang.integrators.settings import Coordinates, Settings
from zwang.programs.elimination import analyse
from zwang.simulation.select_program import ProgramStart, select_program

G = 9.81
RATE = 4.6  # of the cranks [rad/s], about that of the benchmark where it passes flat positions
#: Rounding of some hundred operations on numbers of size one, well-conditioned.
ROUNDING = 1e-12


def program_at(system, q, v):
    return select_program(
        system.equations,
        ProgramStart(np.concatenate([q, v]), 0.0, system.parameter_vector()),
        Settings(until=1.0, coordinates=Coordinates.ABSOLUTE),
    )


def expected(system, q, v):
    """v̇ from M v̇ = Q + Aᵀλ, A v̇ = b as one dense system."""
    terms = system.terms(q, v, 0.0)
    M, A = terms.mass_matrix, terms.constraint_matrix
    n, m = len(M), len(A)
    K = np.block([[M, -A.T], [A, np.zeros((m, m))]])
    right = np.concatenate([terms.applied_force, terms.constraint_rhs])
    return np.linalg.solve(K, right)[:n]


# --- pairs of a velocity and a row ----------------------------------------------------------------


def pattern_with_constants(seed):
    """Velocities coupled here and there, and rows some of whose factors are constant."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 25))
    m = int(rng.integers(1, n))
    mass = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.1 * (seed % 3)]
    rows = [(r, int(j)) for r in range(m) for j in rng.choice(n, rng.integers(1, 4), replace=False)]
    return n, m, mass, rows, [entry for entry in rows if rng.random() < 0.5]


@pytest.mark.parametrize("seed", range(12))
def test_pairs_leave_no_entry_outside_the_pattern(seed):
    n, m, mass, rows, constant = pattern_with_constants(seed)
    plan = analyse(n, m, mass, rows, constant)
    assert sorted(plan.order) == list(range(n + m))
    rng = np.random.default_rng(seed)
    K = np.zeros((n + m, n + m))
    for i, j in mass:
        K[i, j] = K[j, i] = rng.uniform(-1.0, 1.0)
    K[:n, :n] += np.diag(1.0 + np.abs(K[:n, :n]).sum(axis=0))
    for row, j in rows:
        K[n + row, j] = K[j, n + row] = rng.uniform(0.5, 1.0)
    for pivot, below in zip(plan.pivots, plan.below, strict=True):
        index = list(pivot)
        if len(pivot) == 2:
            velocity, row = pivot
            assert velocity < n <= row
            assert abs(K[row, row]) < ROUNDING  # so that a pair takes no division
            assert (row - n, velocity) in constant
        coupled = np.flatnonzero(np.abs(K[index]).max(axis=0) > ROUNDING)
        assert set(coupled) <= {*pivot, *below}
        columns = K[:, index].copy()
        if np.linalg.matrix_rank(K[np.ix_(index, index)]) == len(index):
            K -= columns @ np.linalg.solve(K[np.ix_(index, index)], columns.T)
        K[index, :] = K[:, index] = 0.0


def test_a_pin_eliminates_the_centre_of_its_body():
    """x, z and an angle of each of N bodies in a row, each pinned to the one before."""
    bodies = 5
    rows = [
        (2 * k + axis, 3 * (k - near) + coordinate)
        for k in range(bodies)
        for axis in (0, 1)
        for near in (0, 1)
        if k >= near
        for coordinate in (axis, 2)
    ]
    constant = [(row, j) for row, j in rows if j % 3 != 2]
    plan = analyse(3 * bodies, 2 * bodies, [], rows, constant)
    pairs = [pivot for pivot in plan.pivots if len(pivot) == 2]
    assert len(pairs) == 2 * bodies
    assert all(velocity % 3 == (row - 3 * bodies) % 2 for velocity, row in pairs)


# --- accelerations --------------------------------------------------------------------------------

MECHANISMS = {
    "four-bar": lambda: library.four_bar(rate=3.0),
    "two four-bars": lambda: library.four_bars(2),
    "slider-crank": lambda: library.slider_crank(rate=2.0),
    "leg": lambda: library.theo_jansen_leg(rate=2.0),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_accelerations_solve_the_equations(name):
    mechanism = MECHANISMS[name]()
    q, v = mechanism.assemble()
    program = program_at(mechanism.system, q, v)
    _, found = program.kernel("derivative")(q, v, 0.0, mechanism.system.parameter_vector())
    v_dot = expected(mechanism.system, q, v)
    assert np.abs(found - v_dot).max() < ROUNDING * np.abs(v_dot).max()


@pytest.mark.parametrize("seed", range(8))
def test_rows_with_constant_factors_in_any_place(seed):
    rng = np.random.default_rng(seed)
    n, m = 7, int(rng.integers(1, 6))
    root = rng.standard_normal((n, n))
    M = root @ root.T + np.eye(n) if seed % 2 else np.diag(rng.uniform(0.5, 2.0, n))
    B = rng.integers(-2, 3, (m, n)) * (rng.random((m, n)) < 0.5)
    C = rng.standard_normal((m, n)) * (rng.random((m, n)) < 0.3)
    force = rng.standard_normal(n)
    system = zw.System(
        [f"q{i}" for i in range(n)],
        mass=lambda: M,
        force=lambda: force,
        constraints={"rows": zw.position(lambda q: B @ q + C @ (q * q) + q[:m] ** 3)},
    )
    q, v = rng.standard_normal(n), rng.standard_normal(n)
    program = program_at(system, q, v)
    _, found = program.kernel("derivative")(q, v, 0.0, system.parameter_vector())
    terms = system.terms(q, v, 0.0)
    condition = np.linalg.cond(terms.constraint_matrix) ** 2
    v_dot = expected(system, q, v)
    assert np.abs(found - v_dot).max() < ROUNDING * condition * np.abs(v_dot).max()


@pytest.mark.parametrize("distance", [1e-1, 1e-2, 1e-3, 1e-4, 1e-5])
def test_mechanism_is_good_next_to_a_flat_position(distance):
    """A parallelogram at θ from upright is a pendulum, θ̈ = 6/5 g sin θ; see `near_singular`."""
    mechanism = library.four_bars(1)
    start = mechanism.assemble()
    program = program_at(mechanism.system, *start)
    angle = np.pi / 2 + distance
    x, z = np.sin(angle), np.cos(angle)
    turning = 1.2 * G * x
    rate = RATE * np.array([z, -x])
    acceleration = turning * np.array([z, -x]) - RATE**2 * np.array([x, z])
    crank = [x / 2, z / 2, np.cos(angle - np.pi / 2), np.sin(angle - np.pi / 2)]
    q = [*crank, 1.0 + crank[0], *crank[1:], 0.5 + x, z, 1.0, 0.0]
    v = [*rate / 2, RATE] * 2 + [*rate, 0.0]
    v_dot = [*acceleration / 2, turning] * 2 + [*acceleration, 0.0]
    p = mechanism.system.parameter_vector()
    _, found = program.kernel("derivative")(q, v, 0.0, p)
    # Rounding of the state, 1e-16, is magnified by one over the distance.
    assert np.abs(found - v_dot).max() < 1e-15 / distance * np.abs(v_dot).max()


def test_a_singular_position_itself_has_a_finite_acceleration():
    system = library.n_four_bar(1)
    q, v = np.array([1.0, 0.0, 2.0, 0.0]), np.array([0.0, -1.0, 0.0, -1.0])
    start = library.start("n_four_bar", n=1)
    program = program_at(system, *start)
    _, found = program.kernel("derivative")(q, v, 0.0, system.parameter_vector())
    assert np.isfinite(found).all()


def test_a_four_bar_takes_half_the_operations():
    """Its 2 rows that close the loop and 3 angles are left: 364 operations with all 8 rows."""
    mechanism = library.four_bars(1)
    q, v = mechanism.assemble()
    program = program_at(mechanism.system, q, v)
    expression = contract(share_reciprocals(read(program._function("derivative"))))
    assert expression.operation_count < 200


# --- rows that act and depend on others -----------------------------------------------------------


def acting(mechanism):
    system, (q, v) = mechanism.system, mechanism.assemble()
    y, p = np.concatenate([q, v]), system.parameter_vector()
    return redundant_rows(system.equations, y, 0.0, p, 1.0)


def test_one_row_of_three_parallel_cranks_goes():
    """One row is too many, another one near a flat position than upright: one that may go here."""
    three = acting(library.parallelogram())
    assert (len(three.inactive), three.distinct) == (1, True)
    assert acting(library.four_bars(2)) == ((), True)


def test_rows_of_which_none_may_go_are_not_taken_for_independent(monkeypatch):
    for name in ("LEAST_SHARE", "LEAST_SHARE_NEAR"):
        monkeypatch.setattr(f"zwang.equations.active_rows.{name}", 2.0)
    three = acting(library.parallelogram())
    assert (three.inactive, three.distinct) == ((), False)
