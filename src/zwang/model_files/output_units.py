"""What outputs of a model file are measured in, and whether that is the unit they are given.

    spindle.effort + weight           N: terms of a sum are of one kind
    spindle.effort / 1000             kN: a thousand converts
    spindle.effort / 7                N, or 7 N: a number may convert
    sin(2 * pin.angle) * lever        of the kind of `lever`, which has a unit
    9.81 * load.mass                  of any kind: a number may have a unit of its own
    0.3 * sin(pin.angle)              of any kind

Small whole numbers, halves and pi have no unit. Values are in SI units, as those of channels and
parameters are, but for outputs that stand before with a unit such as kN. Nothing is converted: a
unit of another kind or size is refused, with the line to write. Numbers that make another unit of
one channel, 1000, 180 / pi or 3.6, are no quantities: they convert, and the label is the unit that
they make, unless it says a share.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property

from zwang.errors import near_names
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
from zwang.model_files.measured_values import (
    SAME,
    Found,
    MeasuredValue,
    PlainNumber,
    among,
    common_sizes,
    is_angular,
    is_rate,
    measured_number,
    measured_unit,
    power_of,
    product_of,
    size_of,
)
from zwang.model_files.units import (
    PLAIN,
    TURNS,
    common_units,
    dimension_of_unit,
    in_units,
    is_quantity,
    is_unit,
)

__all__ = ["unit_of_output"]

#: Labels of numbers that have no unit, as shares of a limit: 1000 may be one of any kind.
SHARES = frozenset({"1", "%"})
_ANGLES = {"asin", "acos", "atan", "atan2"}
_PRODUCTS = {"dot", "cross"}
_ADVICE = (
    "A number that has a unit can be a constant of the file with it, [constants] rate = '0.2 m/s'."
)


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
        return _known(item, unit)
    value = _OutputExpression(parse_expression(source.value), channels, definitions)
    try:
        found = value.measured
    except ExpressionError as error:
        raise expression_error(source, error) from None
    if not isinstance(found, MeasuredValue):
        return _known(item, unit)
    if not unit:
        return found.label if unit is None else ""
    if found.free and found.made is None:
        _known(item, unit)
    _require(item.under("unit"), unit, source.value.strip(), found, value)
    return unit


def _known(item: Item, unit: str | None) -> str:
    """A unit of a value of any kind, which is refused where there is no such unit."""
    if unit and not is_unit(unit):
        raise item.under("unit").error(
            f"{unit!r}, which is no unit",
            "a unit such as 'N' or 'kW', or '1' of a number",
            f"{_meant(unit)}Other words belong to the description.",
        )
    return unit or ""


def _meant(unit: str) -> str:
    """What an unknown unit is like, as a question."""
    near = [] if is_unit(unit) else near_names(unit, common_units())
    return f"Did you mean {' or '.join(repr(n) for n in near)}? " if near else ""


class _OutputExpression:
    """An expression with what its names are measured in."""

    def __init__(self, tree: Node, channels: Mapping[str, str], definitions: Definitions) -> None:
        self.tree, self.channels, self.definitions = tree, channels, definitions
        self._defined: dict[str, Found] = {}

    @cached_property
    def measured(self) -> Found:
        """What it is measured in; None where that is not known."""
        return self._of(self.tree)

    @cached_property
    def units(self) -> dict[str, str]:
        """Its names with their units."""
        return self._units_in(self.tree)

    def named(self, tree: Node | None = None) -> str:
        """Names of the whole or a part with their units for messages, where there are several."""
        units = self.units if tree is None else self._units_in(tree)
        if len(units) < 2:
            return ""
        return f" ({', '.join(f'{name} in {unit}' for name, unit in units.items())})"

    def _units_in(self, tree: Node) -> dict[str, str]:
        names = names_in(tree, conditions=False)
        known = {name.text: self._name(name.text) for name in names}
        return {n: found.told for n, found in known.items() if isinstance(found, MeasuredValue)}

    def conversion(self, unit: str, size: float) -> str:
        """How a name of the kind of a unit is converted to it; empty where there is none."""
        dimension = dimension_of_unit(unit)
        for name in names_in(self.tree, conditions=False):
            found = self._name(name.text)
            if not isinstance(found, MeasuredValue) or found.free or found.dimension != dimension:
                continue
            factor = size / found.scale
            if math.isfinite(factor) and abs(factor - 1.0) > SAME:
                line = _divided(name.text, name, factor)
                return f"for {unit} convert from {found.told}: {line}"
        return ""

    def _name(self, name: str) -> Found:
        if name in CONSTANTS:
            return measured_number(CONSTANTS[name])
        if name in self.channels:
            return measured_unit(self.channels[name])
        if name in self.definitions.entries:
            if name not in self._defined:
                tree = self.definitions.entries[name].tree
                self._defined[name] = None if tree is None else self._of(tree)
            return self._defined[name]
        given = self.definitions.given.get(name)
        return None if given is None else MeasuredValue(given.dimension)

    def _of(self, tree: Node) -> Found:
        match tree:
            case NumberLiteral():
                return measured_number(tree.value)
            case Name():
                return self._name(tree.text)
            case Prefix():
                found = self._of(tree.operand)
                return found if tree.sign == "-" else PlainNumber()
            case VectorEntry():
                return self._of(tree.base)
            case FunctionCall():
                return self._of_function(tree)
            case ListLiteral():
                for entry in tree.entries:
                    self._of(entry)
                return None
        return self._of_chain(tree)

    def _of_function(self, tree: FunctionCall) -> Found:
        found = [self._of(argument) for argument in tree.arguments]
        if tree.function in _ANGLES:
            self._of_terms(tree, found)
            return MeasuredValue(unit="rad")
        if tree.function in OF_ARGUMENTS:
            return self._of_terms(tree, found)
        if tree.function == "where":
            return self._of_terms(tree, found[1:])
        if tree.function in _PRODUCTS:
            return product_of(found[0], found[1], 1.0)
        if tree.function == "sqrt":
            return power_of(found[0], 0.5)
        return PlainNumber(free=True)

    def _of_chain(self, tree: Chain) -> Found:
        found = [self._of(node) for node in (tree.first, *(node for _, node in tree.rest))]
        signs = [sign for sign, _ in tree.rest]
        if set(signs) <= {"+", "-"}:
            return self._of_terms(tree, found)
        if set(signs) <= {"*", "/"}:
            total = found[0]
            for sign, one in zip(signs, found[1:], strict=True):
                total = product_of(total, one, 1.0 if sign == "*" else -1.0)
            return total
        if signs == ["^"]:
            exponent = tree.rest[0][1]
            if any(name.text not in CONSTANTS for name in names_in(exponent)):
                return PlainNumber(free=True) if isinstance(found[0], PlainNumber) else None
            return power_of(found[0], evaluate(exponent, {}))
        if set(signs) <= COMPARISONS:
            self._of_terms(tree, found)
        return PlainNumber()

    def _of_terms(self, tree: Node, found: Iterable[Found]) -> Found:
        """That of the terms of a sum: of one kind, and of one size."""
        terms = [*found]
        known = [term for term in terms if isinstance(term, MeasuredValue)]
        certain = [term for term in known if not term.free]
        kinds = {term.dimension: term for term in certain or known}
        if len(kinds) > 1:
            if not certain:
                return None  # the unit of a number in each decides
            raise self._mixed(tree, [*kinds.values()])
        if not known:
            return None if None in terms else PlainNumber(free=True)
        like = (certain or known)[0]
        alike = [term for term in known if term.dimension == like.dimension]
        sizes = alike[0].sizes
        for term in alike[1:]:
            both = common_sizes(sizes, term.sizes)
            if both is not None and not both:
                raise self._mixed(tree, [alike[0], term])
            sizes = both
        units = {term.unit for term in alike if term.unit or any(term.dimension)}
        scales = {term.scale for term in certain or known}
        factors = {term.factors for term in alike}
        unit = units.pop() if len(units) == 1 else ""
        scale = scales.pop() if len(scales) == 1 else math.nan
        both = factors.pop() if len(factors) == 1 else None
        powers = {term.pi for term in alike}
        pi = powers.pop() if len(powers) == 1 else math.nan
        return MeasuredValue(like.dimension, unit, scale, sizes, like.free, both, pi)

    def _mixed(self, tree: Node, terms: list[MeasuredValue]) -> ExpressionError:
        kinds = " and ".join(dict.fromkeys(term.told for term in terms[:2]))
        return ExpressionError(
            f"terms in {kinds}{self.named(tree)}", "terms in the same unit", _ADVICE
        )


def _require(
    item: Item, unit: str, text: str, found: MeasuredValue, value: _OutputExpression
) -> None:
    """Refuse a unit of another kind than that of the value, or of another size."""
    dimension = PLAIN if unit == "1" else dimension_of_unit(unit)
    made = None if unit in SHARES else found.made
    if dimension != found.dimension:
        if found.free and made is None:
            return
        one = found.unit if text in value.units else ""
        told = found.told if made is None else found.made_unit or found.told
        own = f"{one!r}, the unit of {text}" if one else f"one for a value in {told}"
        said = "" if one else f", as {text} is{value.named()}"
        unknown = "" if dimension is not None else ", which is no unit"
        unknown += " of mechanics" if unknown and is_unit(unit) else ""
        line = _meant(unit)
        if made is not None:
            line = f'Write unit = "{found.made_unit}". ' if found.made_unit else ""
            line += _ADVICE
        raise item.error(f"{unit!r}{unknown}", f"{own}{said}", line.rstrip() or None)
    size = size_of(unit)
    if not (math.isfinite(size) and size > 0.0):
        raise item.error(
            f"{unit!r}, whose size is not known", f"{in_units(found.dimension)!r}, or alike"
        )
    sizes = found.sizes if made is None else frozenset({made})
    if among(size, sizes) or not math.isfinite(found.scale):
        return
    turning = any(is_angular(own) for own in value.units.values())
    if TURNS.search(unit) and not turning and among(size / (2.0 * math.pi), sizes):
        return  # of no angle: turns, counted
    if turning and is_rate(unit):  # 1/min, of turns
        size *= 2.0 * math.pi
        if among(size, sizes):
            return
    own = f"{found.told!r}, the unit of {text}" if found.unit else f"a unit that {text} is in"
    if made is not None:
        own = f"a unit of {made:.6g} {in_units(found.dimension)}, as {text} is in"
        own = f"{found.made_unit!r}, the unit of {text}" if found.made_unit else own
    line = _line(unit, size, text, found, value)
    raise item.error(repr(unit), own, f"Values are not converted{line}")


def _line(unit: str, size: float, text: str, found: MeasuredValue, value: _OutputExpression) -> str:
    """What to write for a unit of another size, after "Values are not converted"."""
    if not (found.free or (found.pi and is_angular(found.unit))):
        line = _divided(text, value.tree, size / found.scale)
        return f': write value = "{line}" for {unit}.'
    # A number in the value may convert already: what is divided again is wrong twice.
    plain = _without_factor(value.tree) if size == found.scale else ""
    other = f'value = "{plain}" for {unit}' if plain else value.conversion(unit, size)
    own = f'write unit = "{found.made_unit}"' if found.made is not None and found.made_unit else ""
    both = ", or ".join(filter(None, (own, other)))
    return f": {both}." if both else f". {_ADVICE}"


def _without_factor(tree: Node) -> str:
    """The name that a number multiplies or divides; empty of others."""
    if not isinstance(tree, Chain) or len(tree.rest) != 1 or not isinstance(tree.first, Name):
        return ""
    return tree.first.text if isinstance(tree.rest[0][1], NumberLiteral) else ""


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
