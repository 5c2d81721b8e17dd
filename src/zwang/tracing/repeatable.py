"""Whether a user's function is one: a law with random numbers in it is not.

Functions are called before the motion, with symbols. What one draws at random, or reads from a
clock, would keep one value for the whole run, and noise would become a bias. So a function is
called again with the same symbols, and both results are evaluated at the same numbers: equal
expressions give equal bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import InputError
from zwang.tracing.symbol import Symbol

if TYPE_CHECKING:
    import casadi

__all__ = ["is_own", "require_repeatable"]

#: Multiples of the golden ratio modulo one are spread evenly.
GOLDEN = (5.0**0.5 - 1.0) / 2.0


def is_own(function: Callable[..., Any]) -> bool:
    """Whether a function is the user's, and not a law of Zwang's or a formula of a file."""
    module = getattr(function, "__module__", None) or type(function).__module__
    return not module.startswith("zwang.")


def require_repeatable(what: str, first: Any, second: Any) -> None:
    """Refuse a function that gave two results for the same arguments.

    Parameters
    ----------
    first, second : what it returned for the same symbols.
    """
    a, b = list(_entries(first)), list(_entries(second))
    if len(a) == len(b) and _alike(a, b):
        return
    raise InputError(
        what,
        must="be a function of its arguments",
        but="gives something else when it is called again with the same ones",
        advice="It is called before the motion, and what it draws at random, counts or reads from "
        "a clock would keep one value for the whole run. Compute that in a sampled zw.controller, "
        "which is called at each sample.",
    )


def _entries(value: Any) -> Iterator[Any]:
    """Numbers and expressions in a result, whatever it is nested in; other things are left out."""
    import casadi as ca

    if isinstance(value, Symbol):
        yield value.sx
    elif isinstance(value, ca.SX | ca.DM):
        yield ca.SX(value)
    elif isinstance(value, np.ndarray):
        if value.dtype == object:
            for entry in value.flat:
                yield from _entries(entry)
        elif value.dtype.kind in "biuf":
            yield from value.ravel().tolist()
    elif isinstance(value, int | float | np.number):
        yield float(value)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _entries(entry)


def _alike(first: list[Any], second: list[Any]) -> bool:
    """Whether two lists of numbers and expressions have the same values, as far as they can be."""
    import casadi as ca

    left, right = list[Any](), list[Any]()
    for a, b in zip(first, second, strict=True):
        if isinstance(a, float) and isinstance(b, float):
            if a != b and not (np.isnan(a) and np.isnan(b)):
                return False
            continue
        x, y = ca.SX(a), ca.SX(b)
        if x.shape != y.shape:
            return False
        if not ca.is_equal(x, y):
            left.append(ca.vec(ca.densify(x)))
            right.append(ca.vec(ca.densify(y)))
    return not left or _equal_at_numbers(ca.vertcat(*left), ca.vertcat(*right))


def _equal_at_numbers(x: casadi.SX, y: casadi.SX) -> bool:
    """Whether two expressions have equal bits at some numbers for their symbols."""
    import casadi as ca

    symbols = ca.symvar(ca.vertcat(x, y))
    function = ca.Function("again", [ca.vertcat(ca.SX(0, 1), *symbols)], [x, y])
    spread = GOLDEN * np.arange(1, len(symbols) + 1) % 1.0  # no two alike
    for low in (0.1, -1.0):  # positive, as lengths are, and of either sign
        at = low + (1.0 - low) * spread
        a, b = (np.array(found) for found in function(at))
        if not np.array_equal(a, b, equal_nan=True):
            return False
    return True
