"""What expressions of model files are measured in, as far as that is certain.

Names that were given with a unit have that of the unit. Plain numbers may be of any dimension,
``"40 + load"``, also in products, ``"7850 * L * w * h"``; so may results that are plain,
``"sin(w * t)"``. Time, positions and rates count only where they stand in a product with a name
that was given with a unit: ``"t"`` may be an angle, and ``"-length"`` a force. What is certain must
agree: in sums, with definitions in between, and with what the place in the file asks for; sines,
exponentials and exponents are of plain numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from zwang.model_files.arithmetic import ExpressionError
from zwang.model_files.expressions import (
    Chain,
    FunctionCall,
    ListLiteral,
    Name,
    Node,
    NumberLiteral,
    Prefix,
    VectorEntry,
    names_in,
)
from zwang.model_files.units import PLAIN, Dimension, dimension_of_unit, in_units, times

__all__ = ["COMPARISONS", "OF_ARGUMENTS", "Measured", "NamesMeasured", "require_unit"]


class Measured(NamedTuple):
    """What something is measured in.

    Attributes
    ----------
    dimension : powers of metre, kilogram and second.
    given : whether a unit is written in the file.
    """

    dimension: Dimension
    given: bool = True


#: Name → what it is measured in, None where that is not known.
NamesMeasured = Mapping[str, Measured | None]

#: Functions of angles, and of plain numbers, whose values are plain numbers.
_OF_ANGLES = {"sin", "cos", "tan"}
_OF_NUMBERS = {"asin", "acos", "atan", "exp", "log", "log10", "sinh", "cosh", "tanh"}
#: Functions whose value is of the kind of their arguments.
OF_ARGUMENTS = {"abs", "min", "max", "hypot", "norm", "sum"}
COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}


def require_unit(
    text: str, tree: Node, names: NamesMeasured, unit: str | None, words: str
) -> Measured | None:
    """What an expression is measured in; refused where that is certainly not a unit.

    Parameters
    ----------
    text, tree : the expression, as it is written and parsed.
    unit : that is wanted; None for any.
    words : what is wanted, for the message.

    Raises
    ------
    ExpressionError
        The expression is measured in something else, or its terms are of several kinds.
    """
    found = _measured(tree, names)
    if unit is None or found is None or not _certain(found):
        return found
    wanted = dimension_of_unit(unit)
    if wanted is not None and found.dimension != wanted:
        told = f"{in_units(found.dimension)}{_told(tree, names)}"
        raise ExpressionError(f"{text!r}, which is in {told}", words)
    return found


def _certain(found: Measured) -> bool:
    """Whether a sum or a place must agree with it; a plain number may be of any unit."""
    return found.given and found.dimension != PLAIN


def _measured(tree: Node, names: NamesMeasured) -> Measured | None:
    match tree:
        case Name():
            return names.get(tree.text)
        case Prefix():
            found = _measured(tree.operand, names)
            return found if tree.sign == "-" else Measured(PLAIN)
        case ListLiteral():
            for entry in tree.entries:
                _measured(entry, names)
            return None
        case VectorEntry():
            return _measured(tree.base, names)
        case FunctionCall():
            return _of_function(tree, names)
        case Chain():
            return _of_chain(tree, names)
    return None


def _of_function(tree: FunctionCall, names: NamesMeasured) -> Measured | None:
    found = [_measured(argument, names) for argument in tree.arguments]
    if tree.function in _OF_ANGLES | _OF_NUMBERS:
        wanted = "an angle or a number" if tree.function in _OF_ANGLES else "a number"
        _require_plain(tree.function, tree, found[0], names, wanted)
        return Measured(PLAIN)
    if tree.function == "atan2":
        _of_terms(tree, found, names)
        return Measured(PLAIN)
    if tree.function == "sign":
        return Measured(PLAIN)
    if tree.function in OF_ARGUMENTS:
        return _of_terms(tree, found, names)
    if tree.function == "where":
        return _of_terms(tree, found[1:], names)
    if tree.function in ("dot", "cross"):
        return _of_product(found, ("*",))
    if tree.function == "sqrt":
        return _power(found[0], 0.5)
    return None


def _require_plain(
    what: str, tree: Node, found: Measured | None, names: NamesMeasured, wanted: str
) -> None:
    """Refuse what is certainly measured in something where a plain number belongs."""
    if found is None or not _certain(found):
        return
    unit = in_units(found.dimension)
    raise ExpressionError(
        f"{what} of something in {unit}{_told(tree, names)}",
        f"{what} of {wanted}",
        "A rate times the time is an angle, such as w * t."
        if found.dimension == dimension_of_unit("1/s")
        else f"Divide by another value in {unit}.",
    )


def _of_chain(tree: Chain, names: NamesMeasured) -> Measured | None:
    found = [_measured(node, names) for node in (tree.first, *(node for _, node in tree.rest))]
    signs = [sign for sign, _ in tree.rest]
    if set(signs) <= {"+", "-"}:
        return _of_terms(tree, found, names)
    if set(signs) <= {"*", "/"}:
        return _of_product(found, signs)
    if set(signs) <= COMPARISONS:
        _of_terms(tree, found, names)
        return Measured(PLAIN)
    exponent = tree.rest[0][1]
    if signs == ["^"]:
        _require_plain("a power", tree, found[1], names, "a number as its exponent")
    if signs == ["^"] and isinstance(exponent, NumberLiteral):
        return _power(found[0], exponent.value)
    return None


def _of_terms(
    tree: Node, found: Iterable[Measured | None], names: NamesMeasured
) -> Measured | None:
    """That of the terms of a sum, or of arguments; those that are certain must agree."""
    known = dict.fromkeys(one for one in found if one is not None)
    certain = [one for one in known if _certain(one)]
    if len(certain) > 1:
        kinds = " and ".join(in_units(one.dimension) for one in certain[:2])
        raise ExpressionError(f"terms in {kinds}{_told(tree, names)}", "terms in the same unit")
    if certain:
        return certain[0]
    return next(iter(known)) if len(known) == 1 else None


def _of_product(found: Iterable[Measured | None], signs: Iterable[str]) -> Measured | None:
    total, *rest = found
    for sign, one in zip(signs, rest, strict=True):
        if total is None or one is None:
            return None
        dimension = times(total.dimension, one.dimension, 1.0 if sign == "*" else -1.0)
        total = Measured(dimension, total.given or one.given)
    return total


def _power(base: Measured | None, exponent: float) -> Measured | None:
    return None if base is None else Measured(times(PLAIN, base.dimension, exponent), base.given)


def _told(tree: Node, names: NamesMeasured) -> str:
    """Names of the terms of an expression with their units."""
    used = dict.fromkeys(name.text for name in names_in(tree, conditions=False))
    told = [f"{n} in {in_units(m.dimension)}" for n in used if (m := names.get(n)) is not None]
    return f" ({', '.join(told)})" if told else ""
