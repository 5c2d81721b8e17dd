"""Compiled loops: states that lie one after the other put side by side, and back.

    beside(out, y, first, column)
    apart(table, first, side, row)
    apart_to_memory(table, first, side, row)

A kernel in lanes takes arrays [entry][lane], and runs have arrays [state][entry]. They
transpose eight by eight numbers at a time in vectors, which compilers do not find by themselves:
they cannot know that arrays do not overlap. Number by number it takes longer than many kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.codegen.node_sums import NODES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["LINE", "STREAMED", "WIDTH", "apart", "apart_to_memory", "beside"]

#: Lanes, and states that are transposed together.
WIDTH = NODES
#: Columns of tables that are written past the caches: a force and a moment.
STREAMED = 6
#: Bytes of a line of memory, which is written past the caches as a whole or not at all.
LINE = 64


def beside(out: Array, y: Array, first: int, column: int) -> None:
    """out[j, k] = y[first + k, column + j]; where there are no more states, the last one."""
    states = np.minimum(first + np.arange(WIDTH), len(y) - 1)
    out[...] = y[states, column : column + len(out)].T


def apart(table: Array, first: int, side: Array, row: int) -> None:
    """table[first + k, j] = side[row + j, k], as far as the table goes.

    `side` has `WIDTH` rows more than are filled; what is there does not count.
    """
    states = table[first : first + WIDTH]
    states[...] = side[row : row + table.shape[1], : len(states)].T


def apart_to_memory(table: Array, first: int, side: Array, row: int) -> None:
    """The same of `WIDTH` states and `STREAMED` columns, past the caches.

    Row `first` begins where a line of memory does. What is larger than the caches would only drive
    out of them what is still to be read, and be read itself before it is written.
    """
    table[first : first + WIDTH] = side[row : row + STREAMED].T


def _loops(name: str) -> Callable[..., None]:
    """What writes a function into a loop, see `zwang.codegen.loops.transpose`."""

    def compiled(code: Any, *arguments: Any) -> None:
        from zwang.codegen.loops import transpose

        getattr(transpose, f"write_{name}")(code, *arguments)

    return compiled


for _function in (beside, apart, apart_to_memory):
    _function.compiled = _loops(_function.__name__)  # pyright: ignore[reportFunctionMemberAccess] - how it is compiled
