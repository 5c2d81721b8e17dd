"""Sums and products of CasADi's scalar expressions, at a tenth of the time of its operators.

An operator of CasADi accepts numbers, arrays and expressions of each of its kinds, and tries one
after the other: 20 µs for a product of two symbols, most of the time in which the equations of a
new model are written down. `SX.binary` is what it arrives at in the end, with the same result.
What has nothing to do, as `densify` of what is dense, takes as long. A function of vectors and
matrices, however many operators it has, is `written_once`, and put in for the same 20 µs from then
on.
"""

from __future__ import annotations

from functools import cache, partial, wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import casadi

__all__ = [
    "dense",
    "divided",
    "inverse",
    "is_zero",
    "minus",
    "plus",
    "smaller",
    "times",
    "written_once",
]


@cache
def _operation(name: str) -> Callable[[casadi.SX, casadi.SX], casadi.SX]:
    import casadi

    return partial(casadi.SX.binary, getattr(casadi, name))


@cache
def _number(value: float) -> casadi.SX:
    import casadi

    return casadi.SX(value)


def plus(x: casadi.SX, y: casadi.SX) -> casadi.SX:
    """x + y."""
    return _operation("OP_ADD")(x, y)


def minus(x: casadi.SX, y: casadi.SX) -> casadi.SX:
    """x − y."""
    return _operation("OP_SUB")(x, y)


def times(x: casadi.SX, y: casadi.SX) -> casadi.SX:
    """x y, entry by entry."""
    return _operation("OP_MUL")(x, y)


def divided(x: casadi.SX, y: casadi.SX) -> casadi.SX:
    """x/y."""
    return _operation("OP_DIV")(x, y)


def inverse(x: casadi.SX) -> casadi.SX:
    """1/x."""
    return divided(_number(1.0), x)


def smaller(x: casadi.SX, y: casadi.SX) -> casadi.SX:
    """The smaller of x and y."""
    return _operation("OP_FMIN")(x, y)


def is_zero(x: casadi.SX) -> casadi.SX:
    """1 where x is zero, otherwise 0."""
    return _operation("OP_EQ")(x, _number(0.0))


def dense(x: casadi.SX) -> casadi.SX:
    """With all entries, zeros too."""
    import casadi

    return x if x.is_dense() else casadi.densify(x)


def written_once(
    *shapes: int | tuple[int, int],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a function of expressions of these shapes be traced once, and put in where it is called.

    What comes out has the operations that calling it would write, as simplified: zeros and ones
    among the arguments take their products and sums away in both. The function must not look at
    what its arguments are, as `is_zero` does; entries of its results are all there, zeros too.
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @cache
        def made() -> tuple[casadi.Function, bool]:
            import casadi as ca

            sizes = [(n, 1) if isinstance(n, int) else n for n in shapes]
            symbols = [ca.SX.sym(f"x{k}", *size) for k, size in enumerate(sizes)]
            found = function(*symbols)
            several = isinstance(found, tuple)
            outputs = [ca.densify(x) for x in (found if several else (found,))]
            return ca.Function(function.__name__.strip("_"), symbols, outputs), several

        @wraps(function)
        def put_in(*arguments: Any) -> Any:
            traced, several = made()
            found = traced.call(arguments)
            return tuple(found) if several else found[0]

        return put_in

    return decorated
