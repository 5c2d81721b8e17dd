"""What outputs of a model file are measured in, and whether that is the unit they are given.

    spindle.effort + weight           N: terms of a sum are of one kind
    spindle.effort / 1000             N, or kN: a number may convert
    sin(2 * pin.angle) * lever        of the kind of `lever`, which has a unit
    9.81 * load.mass                  of any kind: a number may have a unit of its own
    0.3 * sin(pin.angle)              of any kind

Small whole numbers, halves and pi have no unit. Values are in SI units, as those of channels and
parameters are, but for outputs that stand before with a unit such as kN. Nothing is converted: a
unit of another kind or size is refused, with the line to write.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from zwang.model_files.arithmetic import CONSTANTS, ExpressionError
from zwang.model_files.dimensions import COMPARISONS, OF_ARGUMENTS
from zwang.model_files.document import Item
from zwang.model_files.expressions import (
    Chain,
    FunctionCall,
    ListLiteral,
    Name,
    Node,
    NumberLiteral,
    Prefix,
    VectorEntry,
    evaluate,
    names_in,
    parse_expression,
)
from zwang.model_files.fields import expression_error
from zwang.model_files.formulas import Definitions
from zwang.model_files.units import (
    PLAIN,
    TURNS,
    Dimension,
    dimension_of_unit,
    in_units,
    is_quantity,
    size_of_unit,
    times,
)

__all__ = ["MeasuredValue", "unit_of_output"]

#: Relative difference of two sizes of units that are the same, one of them written as a number:
#: 57.3 for the degrees of a radian.
SAME = 1e-3
#: Sizes of units to distinguish; products of more numbers may be of any.
MOST_SIZES = 256
_ANGLES = {"asin", "acos", "atan", "atan2"}
_PRODUCTS = {"dot", "cross"}
_ADVICE = (
    "A number that has a unit can be a constant of the file with it, [constants] rate = '0.2 m/s'."
)


@dataclass(frozen=True)
class MeasuredValue:
    """What a value is measured in.

    Attributes
    ----------
    dimension : powers of metre, kilogram and second.
    unit : as channels write it; empty where it is none of theirs.
    scale : what one of it is in SI units, if no number in it converts.
    sizes : what one of it may be in SI units; None for any.
    free : whether a number in it may have a unit of its own, so that it may be of any kind.
    """

    dimension: Dimension = PLAIN
    unit: str = ""
    scale: float = 1.0
    sizes: frozenset[float] | None = frozenset({1.0})
    free: bool = False

    @property
    def told(self) -> str:
        """Its unit, for messages."""
        return self.unit or in_units(self.dimension)

    @property
    def label(self) -> str:
        """The unit that follows; empty where none does."""
        if self.free:
            return ""
        in_si = self.scale == 1.0 and any(self.dimension)
        return self.unit or (in_units(self.dimension) if in_si else "")


@dataclass(frozen=True)
class _PlainNumber:
    """A number that is no channel: of any kind in sums, and a factor in products."""

    sizes: frozenset[float] | None = frozenset({1.0})
    free: bool = False


_Found = MeasuredValue | _PlainNumber | None


def unit_of_output(
    item: Item, unit: str | None, channels: Mapping[str, str], definitions: Definitions
) -> str:
    """The unit of an output: the one given, or the one that follows from its value.

    Parameters
    ----------
    item : the output, ``value`` with other keys or the value alone.
    unit : that is given; None where the unit is to follow.
    channels : name → unit, outputs that stand before included.

    Raises
    ------
    ModelError
        Terms of the value are of several kinds, or the value is not in the unit.
    """
    source = item.under("value")
    if not isinstance(source.value, str) or is_quantity(source.value):
        return unit or ""
    value = _OutputExpression(parse_expression(source.value), channels, definitions)
    try:
        found = value.measured
    except ExpressionError as error:
        raise expression_error(source, error) from None
    if not isinstance(found, MeasuredValue) or unit == "":
        return unit or ""
    if unit is None:
        return found.label
    _require(item.under("unit"), unit, source.value.strip(), found, value)
    return unit


class _OutputExpression:
    """An expression with what its names are measured in."""

    def __init__(self, tree: Node, channels: Mapping[str, str], definitions: Definitions) -> None:
        self.tree, self.channels, self.definitions = tree, channels, definitions
        self._defined: dict[str, _Found] = {}

    @cached_property
    def measured(self) -> _Found:
        """What it is measured in; None where that is not known."""
        return self._of(self.tree)

    @cached_property
    def units(self) -> dict[str, str]:
        """Its names with their units."""
        known = {name.text: self._name(name.text) for name in names_in(self.tree)}
        return {n: found.told for n, found in known.items() if isinstance(found, MeasuredValue)}

    @property
    def named(self) -> str:
        """Names with their units for messages, where there are several."""
        if len(self.units) < 2:
            return ""
        return f" ({', '.join(f'{name} in {unit}' for name, unit in self.units.items())})"

    def _name(self, name: str) -> _Found:
        if name in CONSTANTS:
            return _number(CONSTANTS[name])
        if name in self.channels:
            return _of_unit(self.channels[name])
        if name in self.definitions.entries:
            if name not in self._defined:
                tree = self.definitions.entries[name].tree
                self._defined[name] = None if tree is None else self._of(tree)
            return self._defined[name]
        given = self.definitions.given.get(name)
        return None if given is None else MeasuredValue(given.dimension)

    def _of(self, tree: Node) -> _Found:
        match tree:
            case NumberLiteral():
                return _number(tree.value)
            case Name():
                return self._name(tree.text)
            case Prefix():
                found = self._of(tree.operand)
                return found if tree.sign == "-" else _PlainNumber()
            case VectorEntry():
                return self._of(tree.base)
            case FunctionCall():
                return self._of_function(tree)
            case ListLiteral():
                for entry in tree.entries:
                    self._of(entry)
                return None
        return self._of_chain(tree)

    def _of_function(self, tree: FunctionCall) -> _Found:
        found = [self._of(argument) for argument in tree.arguments]
        if tree.function in _ANGLES:
            self._of_terms(found)
            return MeasuredValue(unit="rad")
        if tree.function in OF_ARGUMENTS:
            return self._of_terms(found)
        if tree.function == "where":
            return self._of_terms(found[1:])
        if tree.function in _PRODUCTS:
            return _product(found[0], found[1], 1.0)
        if tree.function == "sqrt":
            return _power(found[0], 0.5)
        return _PlainNumber(free=True)

    def _of_chain(self, tree: Chain) -> _Found:
        found = [self._of(node) for node in (tree.first, *(node for _, node in tree.rest))]
        signs = [sign for sign, _ in tree.rest]
        if set(signs) <= {"+", "-"}:
            return self._of_terms(found)
        if set(signs) <= {"*", "/"}:
            total = found[0]
            for sign, one in zip(signs, found[1:], strict=True):
                total = _product(total, one, 1.0 if sign == "*" else -1.0)
            return total
        if signs == ["^"]:
            exponent = tree.rest[0][1]
            if any(name.text not in CONSTANTS for name in names_in(exponent)):
                return _PlainNumber(free=True) if isinstance(found[0], _PlainNumber) else None
            return _power(found[0], evaluate(exponent, {}))
        if set(signs) <= COMPARISONS:
            self._of_terms(found)
        return _PlainNumber()

    def _of_terms(self, found: Iterable[_Found]) -> _Found:
        """That of the terms of a sum: of one kind, and of one size."""
        terms = [*found]
        known = [term for term in terms if isinstance(term, MeasuredValue)]
        certain = [term for term in known if not term.free]
        kinds = {term.dimension: term for term in certain or known}
        if len(kinds) > 1:
            if not certain:
                return None  # the unit of a number in each decides
            raise self._mixed([*kinds.values()])
        if not known:
            return None if None in terms else _PlainNumber(free=True)
        like = (certain or known)[0]
        alike = [term for term in known if term.dimension == like.dimension]
        sizes = alike[0].sizes
        for term in alike[1:]:
            both = _common(sizes, term.sizes)
            if both is not None and not both:
                raise self._mixed([alike[0], term])
            sizes = both
        units = {term.unit for term in alike if term.unit or any(term.dimension)}
        scales = {term.scale for term in certain or known}
        unit = units.pop() if len(units) == 1 else ""
        scale = scales.pop() if len(scales) == 1 else math.nan
        return MeasuredValue(like.dimension, unit, scale, sizes, like.free)

    def _mixed(self, terms: list[MeasuredValue]) -> ExpressionError:
        kinds = " and ".join(dict.fromkeys(term.told for term in terms[:2]))
        return ExpressionError(f"terms in {kinds}{self.named}", "terms in the same unit", _ADVICE)


def _number(value: float) -> _PlainNumber:
    """A number as it is written: whether it may have a unit, and that it may convert."""
    counts = abs(value) <= 4.0 and 2.0 * value == int(2.0 * value)
    free = not (counts or value in CONSTANTS.values())
    return _PlainNumber(frozenset({1.0, 1.0 / value} if value else {1.0}), free)


def _of_unit(unit: str) -> MeasuredValue | None:
    """That of a channel; None where its unit is not known."""
    dimension = PLAIN if unit == "1" else dimension_of_unit(unit) if unit else None
    if dimension is None:
        return None
    size = _size(unit)
    return MeasuredValue(dimension, unit, size, frozenset({size}))


def _size(unit: str) -> float:
    """What one of a unit is in SI units; not a number where it is not known."""
    try:
        return 1.0 if unit == "1" else size_of_unit(unit)
    except ExpressionError:
        return math.nan


def _product(a: _Found, b: _Found, power: float) -> _Found:
    if a is None or b is None:
        return None
    sizes = _each(a.sizes, b.sizes, lambda x, y: x * y**power)
    free = a.free or b.free
    if isinstance(a, _PlainNumber):
        if isinstance(b, _PlainNumber):
            return _PlainNumber(sizes, free)
        unit = b.unit if power == 1.0 else ""
        return MeasuredValue(times(PLAIN, b.dimension, power), unit, b.scale**power, sizes, free)
    if isinstance(b, _PlainNumber):
        return MeasuredValue(a.dimension, a.unit, a.scale, sizes, free)
    dimension = times(a.dimension, b.dimension, power)
    return MeasuredValue(dimension, "", a.scale * b.scale**power, sizes, free)


def _power(base: _Found, exponent: float) -> _Found:
    if base is None:
        return None
    sizes = _each(base.sizes, frozenset({1.0}), lambda x, _: x**exponent)
    if isinstance(base, _PlainNumber):
        return _PlainNumber(sizes, base.free)
    unit = base.unit if exponent == 1.0 else ""
    dimension = times(PLAIN, base.dimension, exponent)
    return MeasuredValue(dimension, unit, base.scale**exponent, sizes, base.free)


def _each(
    a: frozenset[float] | None,
    b: frozenset[float] | None,
    combined: Callable[[float, float], float],
) -> frozenset[float] | None:
    if a is None or b is None or len(a) * len(b) > MOST_SIZES:
        return None
    try:
        return frozenset(abs(combined(abs(x), abs(y))) for x in a for y in b)
    except (OverflowError, ZeroDivisionError):
        return None


def _common(a: frozenset[float] | None, b: frozenset[float] | None) -> frozenset[float] | None:
    if a is None or b is None:
        return b if a is None else a
    return frozenset(x for x in a if _among(x, b))


def _among(size: float, sizes: frozenset[float] | None) -> bool:
    return sizes is None or any(abs(size - one) <= SAME * abs(one) for one in sizes)


def _require(
    item: Item, unit: str, text: str, found: MeasuredValue, value: _OutputExpression
) -> None:
    """Refuse a unit of another kind than that of the value, or of another size."""
    dimension = PLAIN if unit == "1" else dimension_of_unit(unit)
    if dimension != found.dimension:
        if found.free:
            return
        one = found.unit if text in value.units else ""
        own = f"{one!r}, the unit of {text}" if one else f"one for a value in {found.told}"
        said = "" if one else f", as {text} is{value.named}"
        unknown = ", which is no unit of mechanics" if dimension is None else ""
        raise item.error(f"{unit!r}{unknown}", f"{own}{said}")
    size = _size(unit)
    if _among(size, found.sizes) or not math.isfinite(found.scale * size):
        return
    turning = any(own.startswith(("rad", "deg", "rpm")) for own in value.units.values())
    if TURNS.search(unit) and not turning and _among(size / (2.0 * math.pi), found.sizes):
        return  # of no angle: turns, counted
    own = f"{found.told!r}, the unit of {text}" if found.unit else f"a unit that {text} is in"
    line = _divided(text, value.tree, size / found.scale)
    raise item.error(
        repr(unit), own, f'Values are not converted: write value = "{line}" for {unit}.'
    )


def _divided(text: str, tree: Node, factor: float) -> str:
    """An expression divided by a number, as a person would write it."""
    signs = {sign for sign, _ in tree.rest} if isinstance(tree, Chain) else set[str]()
    source = text if signs <= {"*", "/", "^"} else f"({text})"
    inverse = 1.0 / factor
    for number, written in (
        (180.0 / math.pi, "* 180 / pi"),
        (30.0 / math.pi, "* 30 / pi"),
        (0.5 / math.pi, "/ (2 * pi)"),
    ):
        if abs(inverse / number - 1.0) < 1e-9:
            return f"{source} {written}"
    whole = round(inverse)
    if factor < 1.0 and abs(inverse - whole) <= 1e-9 * inverse:
        return f"{source} * {whole}"
    return f"{source} / {factor:.12g}"
