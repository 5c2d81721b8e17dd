"""Motion and force do not depend on how the constraints are written.

Of random systems (all ranks, sizes to 60, κ ≤ 1e4) the rows are duplicated, scaled by 1e±6 each on
its own, combined, and reordered, one transform at a time. Acceleration, total constraint force and
ranks must stay. Changes are norms in the coordinates as given, relative to the norm itself.

    python -m pytest -m campaign tests/invariants        10,000 systems, some minutes
"""

from __future__ import annotations

from collections.abc import Callable

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import zwang as zw
from reference.systems import Draws, Systems, condition, random_systems

#: What is promised for κ ≤ 1e4.
PROMISED = 1e-11

#: A combination of rows may be this badly conditioned.
COMBINATION = 100.0

Transform = Callable[[Draws, Systems], tuple[Systems, Systems]]


def duplicated(draws: Draws, systems: Systems) -> tuple[Systems, Systems]:
    """Up to m rows twice, at the end. Exact."""
    m = systems.b.shape[-1]
    again = [draws.integer(0, m - 1) for _ in range(draws.integer(1, m))]
    rows = [*range(m), *again]
    return systems, systems.with_rows(systems.A[:, rows], systems.b[:, rows])


def reordered(draws: Draws, systems: Systems) -> tuple[Systems, Systems]:
    """The rows in another order. Exact."""
    order = draws.order(systems.b.shape[-1])
    return systems, systems.with_rows(systems.A[:, order], systems.b[:, order])


def scaled(draws: Draws, systems: Systems) -> tuple[Systems, Systems]:
    """Each row by 1e6, 1e-6 or 1. Exact, as rows to be scaled down start as multiples of 1e6."""
    m = systems.b.shape[-1]
    power = draws.integers(-1, 1, m)
    start = np.where(power < 0.0, 1e6, 1.0)
    end = np.where(power > 0.0, 1e6, 1.0)
    return _times(systems, start), _times(systems, end)


def scaled_and_rounded(draws: Draws, systems: Systems) -> tuple[Systems, Systems]:
    """Each row by 10^p with p from −6 to 6. The products are rounded.

    Rounding makes another system: rows that depended on each other now do so up to 1e-16, and the
    answer may move by κ·1e-16 ≤ 1e-12, which is within the promise.
    """
    m = systems.b.shape[-1]
    return systems, _times(systems, 10.0 ** draws.integers(-6, 6, m))


def _times(systems: Systems, factor: np.ndarray) -> Systems:
    return systems.with_rows(systems.A * factor[:, None], systems.b * factor)


def combined(draws: Draws, systems: Systems) -> tuple[Systems, Systems]:
    """P A v̇ = P b with integers P of condition ≤ 100. Exact."""
    m = systems.b.shape[-1]
    while True:
        P = draws.integers(-1, 1, m, m) + np.diag(draws.integers(1, 2 + int(2 * m**0.5), m))
        if np.linalg.cond(P) <= COMBINATION:
            return systems, systems.with_rows(P @ systems.A, systems.b @ P.T)


def combined_and_rounded(draws: Draws, systems: Systems) -> tuple[Systems, Systems]:
    """P A v̇ = P b with P = X diag(1 … 1/100) Yᵀ, X and Y orthogonal. The products are rounded.

    So the rewritten system is not quite the same: its answer is another by the rounding of the
    products times its own κ. This stays within the promise where κ ≤ 1e4 holds for the rewritten
    system too; the others are left out.
    """
    m = systems.b.shape[-1]
    X, Y = (np.linalg.qr(draws.integers(-1000, 1000, m, m)).Q for _ in range(2))
    P = (X * np.logspace(0.0, -2.0, m)) @ Y.T
    after = systems.with_rows(P @ systems.A, systems.b @ P.T)
    mild = condition(after) <= 1e4
    return systems[mild], after[mild]


TRANSFORMS: list[Transform] = [
    duplicated,
    reordered,
    scaled,
    scaled_and_rounded,
    combined,
    combined_and_rounded,
]


def change(before: Systems, after: Systems) -> tuple[np.ndarray, np.ndarray]:
    """Relative change of acceleration and of force, per system; the ranks must be the same."""
    if not len(before):
        return np.zeros(0), np.zeros(0)
    one, two = zw.solve(*before.terms), zw.solve(*after.terms)
    for name in ("constraint", "mass", "stacked"):
        np.testing.assert_array_equal(getattr(one.ranks, name), getattr(two.ranks, name))
    forces = np.linalg.norm(before.Q, axis=-1) + np.linalg.norm(before.C, axis=-1)
    return (
        relative(one.acceleration, two.acceleration, np.ones(len(before))),
        relative(one.constraint_force, two.constraint_force, forces),
    )


def relative(x: np.ndarray, y: np.ndarray, if_zero: np.ndarray) -> np.ndarray:
    """|x − y| / |x|; what vanishes on paper, and is rounding here, is compared with `if_zero`."""
    size = np.linalg.norm(x, axis=-1)
    size = np.where(size > 1e-13 * if_zero, size, if_zero)
    difference = np.linalg.norm(x - y, axis=-1)
    return np.divide(difference, size, out=np.zeros_like(size), where=size > 0.0)


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda t: t.__name__)
@pytest.mark.parametrize(
    "size", [(1, 2), (3, 2), (5, 7), (8, 4), (12, 8), (20, 24), (35, 18)], ids=str
)
def test_rewriting_the_rows_changes_nothing(transform, size):
    draws = Draws(17, *size)
    systems = random_systems(draws, 30, *size)
    before, after = transform(draws, systems)
    for found in change(before, after):
        assert np.all(found <= PROMISED), found.max()


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 8),
    m=st.integers(1, 10),
    transform=st.sampled_from(TRANSFORMS),
)
def test_rewriting_the_rows_of_any_small_system_changes_nothing(seed, n, m, transform):
    draws = Draws(seed)
    systems = random_systems(draws, 1, n, m)
    before, after = transform(draws, systems)
    for found in change(before, after):
        assert np.all(found <= PROMISED), found.max()


@pytest.mark.campaign
@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda t: t.__name__)
def test_rewriting_the_rows_of_10_000_systems_changes_nothing(transform):
    worst = {"acceleration": 0.0, "constraint force": 0.0}
    count, batch = 0, 0
    while count < 10_000:
        draws = Draws(19, batch)
        n = draws.integer(1, 60)
        before, after = transform(draws, random_systems(draws, 25, n, draws.integer(1, n + 8)))
        count, batch = count + len(before), batch + 1
        for name, found in zip(worst, change(before, after), strict=True):
            worst[name] = max(worst[name], float(np.max(found, initial=0.0)))
    print(f"\n{transform.__name__}: {count} systems, {worst}")
    assert max(worst.values()) <= PROMISED
