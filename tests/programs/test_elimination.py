"""The elimination order: legal, complete, and cheap where the mechanism is a chain."""

import numpy as np
import pytest

from zwang.programs.elimination import analyse


def random_pattern(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    m = int(rng.integers(0, n + 3))
    mass = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.15 * (seed % 4)]
    rows = [(r, int(j)) for r in range(m) for j in rng.choice(n, rng.integers(0, 3), replace=False)]
    return n, m, mass, rows


def linkages(count):
    """N four-bars in the points between their rods: neighbours are coupled by M and by A."""
    mass = [(2 * i + 2 + axis, 2 * i + axis) for i in range(count) for axis in (0, 1)]
    cranks = [(i, 2 * i + axis) for i in range(count + 1) for axis in (0, 1)]
    couplers = [(count + i, 2 * i - 2 + k) for i in range(1, count + 1) for k in range(4)]
    return 2 * (count + 1), 2 * count + 1, mass, cranks + couplers


@pytest.mark.parametrize("seed", range(12))
def test_rows_come_after_the_velocities_they_act_on(seed):
    n, m, mass, rows = random_pattern(seed)
    order = analyse(n, m, mass, rows).order
    assert sorted(order) == list(range(n + m))
    for row, velocity in rows:
        assert order.index(n + row) > order.index(velocity)


@pytest.mark.parametrize("seed", range(12))
def test_factor_in_this_order_has_no_entry_outside_its_pattern(seed):
    n, m, mass, rows = random_pattern(seed)
    rng = np.random.default_rng(seed)
    K = np.zeros((n + m, n + m))
    for i, j in mass:
        K[i, j] = K[j, i] = rng.uniform(-1.0, 1.0)
    K[:n, :n] += np.diag(1.0 + np.abs(K[:n, :n]).sum(axis=0))
    for row, j in rows:
        K[n + row, j] = K[j, n + row] = rng.uniform(0.5, 1.0)
    K[range(n, n + m), range(n, n + m)] = -0.1
    plan = analyse(n, m, mass, rows)
    rest = K.copy()
    for pivot, below in zip(plan.order, plan.below, strict=True):
        column = rest[:, pivot].copy()
        column[pivot] = 0.0
        assert set(np.flatnonzero(column)) <= set(below)
        rest -= np.outer(column, column) / rest[pivot, pivot]
        rest[pivot, :] = rest[:, pivot] = 0.0


def test_work_grows_in_proportion_to_a_chain_with_coupled_masses():
    ten, forty = (analyse(*linkages(count)).operations for count in (10, 40))
    assert forty < 4.5 * ten
