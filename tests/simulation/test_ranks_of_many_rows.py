"""Ranks of very many rows are told by signs of pivots, as singular values would tell them."""

import numpy as np
import pytest
import scipy.sparse as sp

from zwang import library
from zwang.simulation import rank_report


def scaled(A, inertia):
    rows = A / np.sqrt(inertia)
    lengths = np.linalg.norm(rows, axis=1)
    return rows / np.where(lengths > 0.0, lengths, 1.0)[:, None]


@pytest.mark.parametrize("seed", range(40))
def test_pivots_count_as_many_as_singular_values(seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(2, 40, 2)
    A = sp.random_array((rows, columns), density=rng.uniform(0.05, 0.6), rng=rng).toarray()
    for _ in range(rng.integers(0, 4)):  # dependent ones, or zero
        A = np.vstack([A, rng.integers(0, 2) * (rng.standard_normal(len(A)) @ A)])
    inertia = 10.0 ** rng.uniform(-3.0, 3.0, columns)
    values = np.linalg.svd(scaled(A, inertia), compute_uv=False)
    for limit in (rank_report.LOST, 0.1):
        expected = len(A) - np.sum(values > limit)
        assert rank_report._singular_values_below(limit, inertia, A) == expected


def test_forty_four_bars_built_in_space_lose_as_many_ranks_as_in_the_plane():
    found = []
    for planar in (False, True):
        run = library.four_bars(40, planar=planar).simulate(until=2.0, save=0.5)
        assert run.finished
        always = run.ranks[0].dependent_rows if run.ranks and run.ranks[0].lasting else 0
        found.append([change.dependent_rows - always for change in run.ranks if not change.lasting])
    assert found[0] == found[1]
