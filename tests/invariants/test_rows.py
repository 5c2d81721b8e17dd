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
from reference.systems import Draws, Systems, random_systems

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


def combined_by_fractions(draws: Draws, systems: Systems) -> tuple[Systems, Systems]:
    """P A v̇ = P b with a dense P of condition near 100, in multiples of 2⁻¹². Exact.

    Rows have up to 21 bits, so that the products and their sums fit the 53 bits of a double.
    """
    while True:
        P = np.round(_dense_combination(draws, systems.b.shape[-1], 80.0) * 2.0**12) / 2.0**12
        if np.linalg.cond(P) <= COMBINATION:
            return systems, systems.with_rows(P @ systems.A, systems.b @ P.T)


def combined_and_rounded(draws: Draws, systems: Systems) -> tuple[Systems, Systems]:
    """P A v̇ = P b with a dense P of condition 100, all digits of it. The products are rounded.

    So the rewritten system is not quite the same, and what that does to the answer is found by
    rounding it once more: see `allowed`.
    """
    P = _dense_combination(draws, systems.b.shape[-1], COMBINATION)
    return systems, systems.with_rows(P @ systems.A, systems.b @ P.T)


def _dense_combination(draws: Draws, m: int, condition: float) -> np.ndarray:
    """X diag(1 … 1/condition) Yᵀ with orthogonal X and Y."""
    X, Y = (np.linalg.qr(draws.integers(-1000, 1000, m, m)).Q for _ in range(2))
    return (X * np.geomspace(1.0, 1.0 / condition, m)) @ Y.T


TRANSFORMS: list[Transform] = [
    duplicated,
    reordered,
    scaled,
    scaled_and_rounded,
    combined,
    combined_by_fractions,
    combined_and_rounded,
]


def change(before: Systems, after: Systems) -> tuple[np.ndarray, np.ndarray]:
    """Relative change of acceleration and of force, per system; the ranks must be the same."""
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


def allowed(transform: Transform, draws: Draws, after: Systems) -> tuple[np.ndarray, np.ndarray]:
    """How much acceleration and force may change: the promise, and what rounding the data does.

    Where a transform rounds sums of up to 68 products, every number is moved by one or two units
    in the last place at random, and a hundred times the change of the answer is allowed on top.
    """
    if transform is not combined_and_rounded:
        return (np.full(len(after), PROMISED),) * 2
    noise = [1.0 + 2.0**-52 * draws.integers(-2, 2, *x.shape) for x in (after.A, after.b)]
    moved = change(after, after.with_rows(after.A * noise[0], after.b * noise[1]))
    return PROMISED + 100.0 * moved[0], PROMISED + 100.0 * moved[1]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda t: t.__name__)
@pytest.mark.parametrize(
    "size", [(1, 2), (3, 2), (5, 7), (8, 4), (12, 8), (20, 24), (35, 18)], ids=str
)
def test_rewriting_the_rows_changes_nothing(transform, size):
    draws = Draws(17, *size)
    systems = random_systems(draws, 30, *size)
    before, after = transform(draws, systems)
    for found, limit in zip(change(before, after), allowed(transform, draws, after), strict=True):
        assert np.all(found <= limit), (found, limit)


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
    for found, limit in zip(change(before, after), allowed(transform, draws, after), strict=True):
        assert np.all(found <= limit), (found, limit)


@pytest.mark.campaign
@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda t: t.__name__)
def test_rewriting_the_rows_of_10_000_systems_changes_nothing(transform):
    worst = {"acceleration": 0.0, "constraint force": 0.0}
    count = batch = exceeded = above = 0
    while count < 10_000:
        draws = Draws(19, batch)
        n = draws.integer(1, 60)
        before, after = transform(draws, random_systems(draws, 25, n, draws.integer(1, n + 8)))
        limits = allowed(transform, draws, after)
        for name, found, limit in zip(worst, change(before, after), limits, strict=True):
            worst[name] = max(worst[name], float(np.max(found)))
            exceeded += int(np.sum(found > limit))
            above += int(np.sum(found > PROMISED))
        count, batch = count + len(before), batch + 1
    print(f"\n{transform.__name__}: {count} systems, worst {worst}, {above} above {PROMISED}")
    assert exceeded == 0
