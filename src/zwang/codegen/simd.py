"""SIMD in compiled loops: what is done for each lane by itself, for all lanes at once.

    for lane in side_by_side(lanes):
        if error[lane] < 1.0:
            y[0, lane] = point[0, lane]

is written down with vectors of one number for each lane: what depends on the lane is a vector, an
``if`` of such a vector is carried out for all lanes and kept where it holds. With one lane it is
the plain loop. A lane rounds the same way wherever it stands.

In such a loop

*   an array that has the lane for its last index is read and written for all lanes at once;
*   names get numbers for each lane; those from outside cannot be given any, but `any_of` and
    `all_of` look at the lanes afterwards;
*   both sides of ``and``, ``or`` and of an ``if`` of lanes are worked out, so that no index may
    depend on what they say;
*   a lane cannot leave by itself: no ``continue``, ``break`` or ``return`` in an ``if`` of lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["all_of", "any_of", "side_by_side"]


def side_by_side(lanes: tuple[int, ...]) -> range:
    """The numbers of the lanes."""
    return range(len(lanes))


def any_of(marks: NDArray[np.bool_], lanes: tuple[int, ...]) -> bool:
    """Whether one of the lanes is marked."""
    return bool(np.any(marks[: len(lanes)]))


def all_of(marks: NDArray[np.bool_], lanes: tuple[int, ...]) -> bool:
    """Whether all lanes are marked."""
    return bool(np.all(marks[: len(lanes)]))


any_of.compiled = lambda code, marks, lanes: code.marked(marks, len(lanes), 1)  # pyright: ignore[reportFunctionMemberAccess] - how it is compiled
all_of.compiled = lambda code, marks, lanes: code.marked(marks, len(lanes), len(lanes))  # pyright: ignore[reportFunctionMemberAccess] - how it is compiled
