"""Closed forms: decimals in place of ratios of long numbers.

Numbers are exact on the way, so that what cancels does. cos 20° is then a ratio of integers with 16
digits, and sums and products of it have more: these are written as decimals, with a sum's largest
factor in front of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sympy as sp

__all__ = ["too_long", "with_decimals"]

#: Integers with more digits are written as decimals, which have so many.
LONGEST, DIGITS = 8, 13
#: Decimals this near to a ratio of small numbers, relative, are that ratio: dimensions are written
#: with 13 digits, of which products of several leave 12.
SIMPLE_WITHIN, SMALL = 10.0 ** (1 - DIGITS), 100


def with_decimals(e: sp.Expr) -> sp.Expr:
    """The expression with decimals for ratios of long numbers; others stay exact."""
    import sympy as sp

    if not any(too_long(x) for x in e.atoms(sp.Rational)):
        return e
    if e.is_Add:  # a number before a sum would be multiplied into it, and alpha be 1.0*alpha
        summands: Any = e.args
        return sp.Add(*(with_decimals(x) for x in summands))
    coefficient, rest = _decimal(e)
    return _times(coefficient, rest)


def too_long(x: Any) -> bool:
    """Whether a ratio is of long numbers."""
    return max(abs(int(x.p)), int(x.q)) >= 10**LONGEST


def _decimal(e: Any) -> tuple[Any, Any]:
    """A number, and an expression whose sums have 1 as their largest factor; their product is e."""
    import sympy as sp

    if e.is_number and e.is_Rational:
        return e, sp.S.One
    if e.is_Mul:
        pairs = [_decimal(x) for x in e.args]
        return sp.Mul(*(c for c, _ in pairs)), sp.Mul(*(x for _, x in pairs))
    if e.is_Pow and e.exp.is_Integer:
        coefficient, rest = _decimal(e.base)
        return coefficient**e.exp, rest**e.exp
    if e.is_Add:
        pairs = [_decimal(x) for x in e.args]
        if not any(too_long(c) for c, _ in pairs if c.is_Rational):
            return sp.S.One, sp.Add(*(_times(c, x) for c, x in pairs))
        largest = max((c for c, _ in pairs), key=abs)
        return largest, sp.Add(*(_times(c / largest, x) for c, x in pairs))
    if e.args:
        return sp.S.One, e.func(
            *(with_decimals(x) if isinstance(x, sp.Expr) else x for x in e.args)
        )
    return sp.S.One, e


def _times(coefficient: Any, rest: Any) -> Any:
    """The product, with a decimal for a ratio of long numbers."""
    import sympy as sp

    if coefficient.is_Rational and too_long(coefficient):
        near = coefficient.limit_denominator(SMALL)
        meant = abs(near - coefficient) <= SIMPLE_WITHIN * abs(coefficient) and not too_long(near)
        coefficient = near if meant else sp.Float(coefficient, DIGITS)
    return coefficient * rest
