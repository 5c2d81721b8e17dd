"""Compiled loops: sums over eight numbers side by side, with eight numbers as the result.

What is known of a motion at eight nodes of a step is an array [entry][node]; a value in between, an
integral up to a node or a coefficient of the polynomial through them is a sum over the nodes. For
eight such sums the weights are a table [node][sum], and

    mix(out, weights, F, scale, start, first, last)
    spread(total, weights, F, size, first, last)
    change(total, F, G, size, first, last)

write, for entries from `first` up to `last`, a sum added to a start and sums of squares. They are
written down as vectors of eight, which compilers do not find by themselves: they cannot know that
arrays do not overlap. Results may not overlap with arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["NODES", "change", "mix", "spread"]

#: Nodes of a step, and lanes of kernels that are evaluated at them: two or four vectors of most
#: processors, one of the widest.
NODES = 8


def mix(
    out: Array, weights: Array, F: Array, scale: float, start: Array, first: int, last: int
) -> None:
    """out[i, :] = start[i, 0] + scale Σₖ weights[k, :] F[i, k]."""
    rows = slice(first, last)
    out[rows] = start[rows] + scale * (F[rows] @ weights)


def spread(total: Array, weights: Array, F: Array, size: Array, first: int, last: int) -> None:
    """total[:] = Σᵢ (size[i] Σₖ weights[k, :] F[i, k])²."""
    rows = slice(first, last)
    total[...] = np.sum((size[rows, None] * (F[rows] @ weights)) ** 2, axis=0)


def change(total: Array, F: Array, G: Array, size: Array, first: int, last: int) -> None:
    """total[:] = Σᵢ (size[i] (F[i, :] − G[i, :]))²."""
    rows = slice(first, last)
    total[...] = np.sum((size[rows, None] * (F[rows] - G[rows])) ** 2, axis=0)


def _loops(name: str) -> Callable[..., None]:
    """What writes a function into a loop, see `zwang.codegen.loops.node_sums`."""

    def compiled(code: Any, *arguments: Any) -> None:
        from zwang.codegen.loops import node_sums

        getattr(node_sums, f"write_{name}")(code, *arguments)

    return compiled


for _function in (mix, spread, change):
    _function.compiled = _loops(_function.__name__)  # pyright: ignore[reportFunctionMemberAccess] - how it is compiled
