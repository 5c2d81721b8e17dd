"""The factorization by QR against the singular value decomposition."""

import numpy as np
import pytest

from zwang.library import chain
from zwang.linalg.rank import RowGeometry
from zwang.linalg.row_factor import RowFactor


@pytest.mark.parametrize(
    ("m", "n", "rank"), [(7, 9, 7), (20, 18, 17), (40, 40, 33), (4, 4, 2), (10, 4, 4), (3, 1, 1)]
)
def test_subspaces_and_inverses_are_those_of_singular_values(m: int, n: int, rank: int) -> None:
    rng = np.random.default_rng(m * n)
    U, V = (
        np.linalg.qr(rng.standard_normal((m, rank)))[0],
        np.linalg.qr(rng.standard_normal((n, n)))[0],
    )
    A = U @ np.diag(rng.uniform(0.5, 2.0, rank)) @ V[:rank]
    factor, reference = RowFactor.of(A), RowGeometry.of(A)
    assert isinstance(factor, RowFactor)
    assert factor.rank == reference.rank == rank
    rhs, force = rng.standard_normal((m, 3)), rng.standard_normal((n, 2))
    # Conditions are below 10: what is left is rounding.
    np.testing.assert_allclose(factor.least_norm(rhs), reference.pinv @ rhs, atol=1e-13)
    np.testing.assert_allclose(factor.multipliers(force), reference.pinv.T @ force, atol=1e-13)
    for mine, other in (
        (factor.null_space, reference.null_space),
        (factor.dependencies, reference.dependencies),
    ):
        np.testing.assert_allclose(mine @ mine.T, other @ other.T, atol=1e-13)


def test_a_doubtful_rank_is_left_to_singular_values() -> None:
    A = np.diag([1.0, 1.0, 1e-10])
    assert isinstance(RowFactor.of(A), RowGeometry)
    assert isinstance(RowFactor.of(np.zeros((2, 3))), RowGeometry)


def test_a_horizontal_chain_comes_down() -> None:
    # Nothing resists at the start: the stiffness is zero, and the step is limited by its radius.
    eq = chain(6).equilibrium()
    assert eq.stability == "stable"
    assert eq.q[1::4].max() < 0.0
