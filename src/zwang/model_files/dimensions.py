"""Dimensions of expressions in model files: a length given in kilograms is refused.

Only what is certain counts. Plain numbers may be of any dimension, ``"40 + load"``, also in
products, ``"7850 * L * w * h"``; names that were given with a unit have that of the unit.
"""

from __future__ import annotations

from functools import cache

from zwang.model_files.expressions import Chain, FunctionCall, Name, Node, Prefix
from zwang.model_files.units import COMMON, dimensions_by_pint, unit_of

__all__ = [
    "Dimension",
    "dimension_of_text",
    "dimension_of_unit",
    "dimension_of_value",
    "in_units",
]

#: Powers of metre, kilogram and second; angles have none.
Dimension = tuple[float, float, float]

_PLAIN: Dimension = (0.0, 0.0, 0.0)
_SYMBOLS: dict[str, Dimension] = {
    "m": (1.0, 0.0, 0.0),
    "kg": (0.0, 1.0, 0.0),
    "s": (0.0, 0.0, 1.0),
    "rad": _PLAIN,
    "N": (1.0, 1.0, -2.0),
}
#: Functions whose value is a plain number, and those whose value is of the kind of an argument.
_OF_ANGLES = {"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "tanh", "sign"}
_OF_ARGUMENT = {"abs", "min", "max"}


def dimension_of_text(text: str) -> Dimension | None:
    """Dimension of a number with a unit, ``"1.2 m"``; None where it has no unit."""
    unit = unit_of(text)
    return None if unit is None else dimension_of_unit(unit)


@cache
def dimension_of_unit(unit: str) -> Dimension | None:
    """Dimension of a unit; None of one that is not known or not of mechanics."""
    if not unit:
        return _PLAIN
    for kind, names in COMMON.items():
        if unit == kind or unit in names:
            return _of_symbols(kind)
    return dimensions_by_pint(unit)


def _of_symbols(kind: str) -> Dimension:
    """Dimension of a product such as ``N*m/rad``."""
    total = _PLAIN
    for k, factor in enumerate(kind.replace("*", "/*").split("/")):
        symbol, _, power = factor.lstrip("*").partition("^")
        sign = 1.0 if k == 0 or factor.startswith("*") else -1.0
        total = _times(total, _SYMBOLS[symbol], sign * float(power or 1))
    return total


def in_units(dimension: Dimension) -> str:
    """A dimension in SI units: ``kg m/s^2``."""
    over, under = [], []
    for symbol, power in zip(("m", "kg", "s"), dimension, strict=True):
        if power:
            size = abs(power)
            (over if power > 0 else under).append(symbol if size == 1 else f"{symbol}^{size:g}")
    return "/".join([" ".join(over) or "1", *under]) if over or under else "plain numbers"


def _times(a: Dimension, b: Dimension, power: float = 1.0) -> Dimension:
    return (a[0] + power * b[0], a[1] + power * b[1], a[2] + power * b[2])


def dimension_of_value(tree: Node, names: dict[str, Dimension | None]) -> Dimension | None:
    """Dimension of an expression of names; None where that is not certain."""
    match tree:
        case Name():
            return names.get(tree.text)
        case Prefix(sign="-"):
            return dimension_of_value(tree.operand, names)
        case FunctionCall() if tree.function in _OF_ANGLES:
            return _PLAIN
        case FunctionCall(function="sqrt"):
            inner = dimension_of_value(tree.arguments[0], names)
            return None if inner is None else _times(_PLAIN, inner, 0.5)
        case FunctionCall() if tree.function in _OF_ARGUMENT:
            return _first_known([dimension_of_value(a, names) for a in tree.arguments])
        case Chain():
            operands = [tree.first, *(operand for _, operand in tree.rest)]
            found = [dimension_of_value(operand, names) for operand in operands]
            signs = [sign for sign, _ in tree.rest]
            if set(signs) <= {"+", "-"}:
                return _first_known(found)
            if set(signs) <= {"*", "/"}:
                return _of_product(found, signs)
    return None


def _first_known(found: list[Dimension | None]) -> Dimension | None:
    """That of the terms of a sum, or of arguments; uncertain where they differ."""
    known = {one for one in found if one is not None}
    return known.pop() if len(known) == 1 else None


def _of_product(found: list[Dimension | None], signs: list[str]) -> Dimension | None:
    total = found[0]
    for sign, one in zip(signs, found[1:], strict=True):
        if total is None or one is None:
            return None
        total = _times(total, one, 1.0 if sign == "*" else -1.0)
    return total
