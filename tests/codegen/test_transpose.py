"""States put side by side and back, in vectors: the same as in NumPy, at every place and size."""

from __future__ import annotations

import numpy as np
import pytest

from zwang.codegen.jit import loop
from zwang.codegen.transpose import STREAMED, WIDTH, apart, apart_to_memory, beside

#: Fewer numbers than a vector has, as many, and more with all remainders; a state, a block, three.
ENTRIES = (0, 1, 2, 3, 4, 6, 7, 8, 9, 13, 16, 41)
STATES = (1, 5, 8, 21)


@loop
def _beside(out, y, first, column):
    beside(out, y, first, column)


@loop
def _apart(tables, which, first, side, row):
    apart(tables[which], first, side, row)


@loop
def _to_memory(tables, which, first, side, row):
    apart_to_memory(tables[which], first, side, row)


@pytest.mark.parametrize("entries", ENTRIES)
@pytest.mark.parametrize("states", STATES)
def test_states_stand_side_by_side(states: int, entries: int) -> None:
    rng = np.random.default_rng(entries)
    y = rng.random((states, entries + 4))
    for first in range(0, states, WIDTH):
        found, wanted = np.empty((entries, WIDTH)), np.empty((entries, WIDTH))
        _beside(found, y, first, 2)
        beside(wanted, y, first, 2)
        assert np.array_equal(found, wanted)
        assert all(
            wanted[j, k] == y[min(first + k, states - 1), 2 + j]
            for j, k in np.ndindex(wanted.shape)
        )


@pytest.mark.parametrize("entries", ENTRIES[1:])
@pytest.mark.parametrize("states", STATES)
def test_tables_are_filled_and_nothing_else_is(states: int, entries: int) -> None:
    """Tables lie one behind the other: what one writes beyond its end would be in the next."""
    rng = np.random.default_rng(entries)
    side = rng.random((5 + 3 * entries + WIDTH, WIDTH))
    found = rng.random((3, states, entries))
    wanted = found.copy()
    for first in range(0, states, WIDTH):
        for which in (2, 0, 1):
            _apart(found, which, first, side, 5 + which * entries)
            apart(wanted[which], first, side, 5 + which * entries)
            assert np.array_equal(found, wanted)
    assert wanted[1, 0, 0] == side[5 + entries, 0]


@pytest.mark.parametrize("blocks", [1, 3])
def test_whole_lines_of_memory_are_written_as_other_tables_are(blocks: int) -> None:
    rng = np.random.default_rng(blocks)
    side = rng.random((5 + 3 * STREAMED, WIDTH))
    flat = rng.random(3 * blocks * WIDTH * STREAMED + 8)
    begin = -flat.ctypes.data % 64 // 8
    found = flat[begin : len(flat) - 8 + begin].reshape(3, blocks * WIDTH, STREAMED)
    wanted, around = found.copy(), flat.copy()
    for first in range(0, blocks * WIDTH, WIDTH):
        for which in (2, 0, 1):
            _to_memory(found, which, first, side, 5 + which * STREAMED)
            apart_to_memory(wanted[which], first, side, 5 + which * STREAMED)
            assert np.array_equal(found, wanted)
    assert wanted[1, 3, 2] == side[5 + STREAMED + 2, 3]
    outside = np.r_[0:begin, begin + found.size : len(flat)]
    assert np.array_equal(flat[outside], around[outside])
