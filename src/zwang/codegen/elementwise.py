"""Compiled loops: formulas that hold for each entry of arrays by itself, several at a time.

    axpy = elementwise(lambda x, y, a: y + a * x)
    axpy(lanes, (out,), x, y, 2.0)               # in a function compiled by `zwang.codegen.jit`

The compiler cannot know that arrays do not overlap, so that from a plain loop it makes either one
entry after the other or a test of every pair of arrays, which for a few entries takes longer than
the formula. Here the formula is written down for short vectors of entries, and for the entry that
is left over; it is the same arithmetic for each entry wherever it stands.

What a formula is given, by the type of the argument:

*   an array [entry][lane] of the shape of the results gives the entry itself;
*   a table [row][entry][lane] gives all rows, so that table[row] is the entry there;
*   an array [lane] gives the number of the lane;
*   a number gives itself.

The results may overlap with arguments only where they are the same array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["elementwise", "greater", "several", "weighted"]


def weighted(weights: Iterable[float], table: Any) -> Any:
    """Σⱼ weights[j] table[j], zero weights left out, the last row last.

    Only the term of the last row has to wait for what computed it, if it was the newest.
    """
    used = [(j, float(weight)) for j, weight in enumerate(weights) if weight != 0.0]
    total: Any = 0.0
    for j, weight in used:
        newest = j == used[-1][0] and hasattr(table, "newest")
        total = weight * (table.newest(j) if newest else table[j]) + total
    return total


def greater(a: Any, b: Any) -> Any:
    """The greater of two entries."""
    return a.greater(b) if hasattr(a, "greater") else np.maximum(a, b)


def elementwise(formula: Callable[..., Any]) -> Callable[..., None]:
    """A function (lanes, results, *arguments) that writes what the formula gives for each entry.

    Parameters
    ----------
    formula : one value, or a tuple of as many as there are results. It may use +, −, *, /, abs and
        the functions of this module.
    """

    def apply(lanes: Any, results: Sequence[NDArray[np.float64]], *arguments: Any) -> None:  # noqa: ARG001 - the form of compiled calls
        values = formula(*arguments)
        for out, value in zip(results, several(values), strict=True):
            out[...] = value

    def compiled(code: Any, lanes: Any, results: Any, *arguments: Any) -> None:
        from zwang.codegen.loops.vectors import write_loops

        write_loops(code, formula, len(lanes), results, arguments)

    apply.compiled = compiled  # pyright: ignore[reportFunctionMemberAccess] - how it is compiled
    return apply


def several(values: Any) -> tuple[Any, ...]:
    """What a formula gives, as a tuple."""
    return values if isinstance(values, tuple) else (values,)
