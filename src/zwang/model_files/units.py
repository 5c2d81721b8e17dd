"""Units in model files, and what they measure.

``"12 mm"``, ``"30 deg"``, ``"50 N s/m"`` become SI numbers and radians, and a length given in
kilograms is refused; `dimensions` has what expressions are measured in.
"""

from __future__ import annotations

import math
import re
import sys
from functools import cache
from typing import Any

from zwang.model_files.arithmetic import ExpressionError

__all__ = [
    "COMMON",
    "PLAIN",
    "TURNS",
    "Dimension",
    "common_units",
    "dimension_of_text",
    "dimension_of_unit",
    "in_units",
    "is_quantity",
    "is_unit",
    "quantity",
    "si_unit",
    "size_of_product",
    "size_of_unit",
    "times",
    "unit_of",
]

_QUANTITY = re.compile(
    r"\s*(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<unit>[A-Za-zµμΩ°%].*?)\s*"
)
#: Products and quotients of units with small powers. Longer texts are none.
_UNIT = re.compile(
    r"[A-Za-zµμΩ°%]+(?:(?:\^|\*\*)-?\d)?(?:(?:\s*[*/·]\s*|\s+)[A-Za-zµμΩ°%]+(?:(?:\^|\*\*)-?\d)?)*"
)
LONGEST_UNIT = 40
#: Units of most files, by what they measure in SI, with pint's own factors: pint takes half a
#: second to begin with, and is loaded for all others.
COMMON: dict[str, dict[str, float]] = {
    "m": {"m": 1.0, "mm": 0.001, "cm": 0.01, "km": 1000.0},
    "kg": {"kg": 1.0, "g": 0.001, "t": 1000.0},
    "s": {"s": 1.0, "ms": 0.001, "min": 60.0, "h": 3600.0},
    "rad": {"rad": 1.0, "deg": 0.017453292519943295},
    "rad/s": {"rad/s": 1.0, "deg/s": 0.017453292519943295, "rpm": 0.10471975511965977},
    "N": {"N": 1.0, "kN": 1000.0},
    "J": {"J": 1.0, "kJ": 1000.0},
    "W": {"W": 1.0, "kW": 1000.0},
    "N*m": {"N*m": 1.0, "kN*m": 1000.0},
    "N/m": {"N/m": 1.0, "N/mm": 1000.0, "N/cm": 100.0, "kN/m": 1000.0},
    "N*s/m": {"N*s/m": 1.0, "kg/s": 1.0},
    "m/s": {"m/s": 1.0, "mm/s": 0.001, "cm/s": 0.01, "km/h": 0.2777777777777778},
    "m/s^2": {"m/s^2": 1.0, "mm/s^2": 0.001},
    "kg*m^2": {"kg*m^2": 1.0, "kg*cm^2": 0.0001, "kg*mm^2": 1e-06},
    "N*m/rad": {"N*m/rad": 1.0, "N*m/deg": 57.29577951308232},
    "N*m*s/rad": {"N*m*s/rad": 1.0},
}
_OF_ANY_KIND = {name: factor for names in COMMON.values() for name, factor in names.items()}

#: Units that count turns: whether 1/s counts these or radians, no dimension tells.
TURNS = re.compile(
    r"\b([kMm]?rpm|rps|(?:da|[pnuµμmcdhkMGT])?Hz|\w*hertz|rev\w*|turns?|cycles?)\b", re.IGNORECASE
)
#: Products without a sign between their symbols: to pint mNm is a fineness of yarn.
_JOINED = re.compile(r"(/\s*)?\b((?:da|[pnuµμmcdhkMGT])?)(?:(N)(mm|cm|dm|km|m)?(s)?|(W|J|Pa)(s))\b")
#: What pint raises besides its own errors, for texts that are no units or have huge powers.
_OF_PINT = (AttributeError, TypeError, ValueError, KeyError, AssertionError, ArithmeticError)
#: A turn, as users write it and pint does not.
_REVOLUTION = re.compile(r"\brevs?\b")
#: What is written in units; pint skips other signs: to it <b>N</b> is a newton.
_WRITTEN = re.compile(r"(?=.*(?:[^\W\d_]|[°%]))[\w\s*/^·⋅.()°%-]+")
#: One over a unit, without a product in it.
_INVERSE = re.compile(r"1\s*/\s*([^\W\d][^\s*/·⋅.()]*)")

#: Powers of metre, kilogram and second; angles have none.
Dimension = tuple[float, float, float]

PLAIN: Dimension = (0.0, 0.0, 0.0)
#: Decimals by which powers differ: less is rounding.
DECIMALS = 9
_SYMBOLS: dict[str, Dimension] = {
    "m": (1.0, 0.0, 0.0),
    "kg": (0.0, 1.0, 0.0),
    "s": (0.0, 0.0, 1.0),
    "rad": PLAIN,
    "N": (1.0, 1.0, -2.0),
    "J": (2.0, 1.0, -2.0),
    "W": (2.0, 1.0, -3.0),
}


#: What dimensions of mechanics are called, where that is not in metre, kilogram and second.
_NAMED: dict[Dimension, str] = {
    (1.0, 1.0, -2.0): "N",
    (0.0, 1.0, -2.0): "N/m",
    (0.0, 1.0, -1.0): "N s/m",
    (2.0, 1.0, -2.0): "N m",
    (2.0, 1.0, -1.0): "N m s",
    (1.0, 1.0, -1.0): "N s",
    (2.0, 1.0, -3.0): "W",
    (-1.0, 1.0, -2.0): "Pa",
}
#: A product or quotient of those symbols.
_OF_SYMBOLS = re.compile(r"(?:{0})(?:\^\d)?(?:[*/](?:{0})(?:\^\d)?)*".format("|".join(_SYMBOLS)))


def _spelled(unit: str) -> str:
    """A unit with the signs between its symbols: N*m of Nm, rad/N/m of rad/Nm."""

    def split(found: re.Match[str]) -> str:
        over, prefix, *rest = found.groups("")
        first, *others = filter(None, rest)
        return over + ("/" if over else "*").join((prefix + first, *others))

    unit = unit.replace("²", "^2").replace("³", "^3")
    return _REVOLUTION.sub("turn", _JOINED.sub(split, unit))


def is_quantity(text: str) -> bool:
    """Whether a text looks like a number with a unit."""
    return unit_of(text) is not None


def unit_of(text: str) -> str | None:
    """The unit of a number with one, as it is written; None of other texts."""
    match = _QUANTITY.fullmatch(text)
    return match["unit"] if match is not None and _UNIT.fullmatch(match["unit"]) else None


def quantity(text: str, unit: str | None) -> float:
    """A number with a unit in SI units, or in those of `unit`, which it must be measured in.

    Raises
    ------
    ExpressionError
        The unit is not known, or of another kind.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None or len(match["unit"]) > LONGEST_UNIT:
        raise ExpressionError(repr(text), _wanted(unit))
    name = match["unit"]
    factor = _factor(_spelled(name), None if unit is None else _spelled(unit))
    if isinstance(factor, str):
        near = (name, _common()) if factor == "unknown" else None
        found = f"{text!r}, of {factor}" if near is None else repr(text)
        raise ExpressionError(found, _wanted(unit), near=near)
    number = float(match["number"]) * factor
    if not math.isfinite(number):
        raise ExpressionError(repr(text), "a finite number")
    return number


def _wanted(unit: str | None) -> str:
    if unit is None:
        return "a number with a unit, such as '12 mm'"
    example = {"m": "'12 mm'", "rad": "'30 deg'", "kg": "'200 g'", "s": "'5 ms'"}.get(unit)
    kind = f"a number in {unit}" if unit else "a plain number"
    return kind if example is None else f"{kind}, or with a unit: {example}"


def _common() -> tuple[str, ...]:
    return ("m", "mm", "cm", "km", "kg", "g", "s", "ms", "min", "deg", "rad", "rpm", "N", "kN", "J")


def common_units() -> tuple[str, ...]:
    """Units that are known without looking further."""
    return tuple(_OF_ANY_KIND)


def _factor(name: str, unit: str | None) -> float | str:
    """By what to multiply to get SI; or what the unit is of, if that is another one."""
    known = (_OF_ANY_KIND if unit is None else COMMON.get(unit, {})).get(name)
    return _factor_by_pint(name, unit) if known is None else known


@cache
def _factor_by_pint(name: str, unit: str | None) -> float | str:
    import pint

    registry = _registry()
    try:
        given = registry.Quantity(1.0, _parsed(name))
        if registry.Quantity(0.0, given.units).to_base_units().magnitude:
            return "a scale with a zero of its own"
        if unit is None:
            return float(given.to_base_units().magnitude)
        if unit == "rad/s" and "hertz" in str(given.units):
            return "cycles and not of angles (use rpm)"
        wanted = registry.Quantity(1.0, registry.parse_units(unit or "dimensionless"))
        if given.dimensionality != wanted.dimensionality:
            return _words(given.dimensionality)
        return float(given.to(wanted.units).magnitude)
    except (pint.PintError, *_OF_PINT):
        return "unknown"


@cache
def _dimension_by_pint(name: str) -> Dimension | None:
    """Powers of length, mass and time of a unit; None of others, and where it is not known."""
    import pint

    try:
        found = dict(_parsed(name).dimensionality)
    except (pint.PintError, *_OF_PINT):
        return None
    powers = [float(found.pop(kind, 0)) for kind in ("[length]", "[mass]", "[time]")]
    return None if found else (powers[0], powers[1], powers[2])


def _parsed(name: str) -> Any:
    """A unit as pint has it; ValueError of a text that is none."""
    if len(name) > LONGEST_UNIT or not _WRITTEN.fullmatch(name):
        raise ValueError
    return _registry().parse_units(name.replace("·", "*"))


def _words(dimensionality: Any) -> str:
    text = str(dimensionality).replace("[", "").replace("]", "")
    return "no dimension" if text == "dimensionless" else text


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(cache_folder=None)


def dimension_of_text(text: str) -> Dimension | None:
    """Dimension of a number with a unit, ``"1.2 m"``; None where it has no unit."""
    unit = unit_of(text)
    return None if unit is None else dimension_of_unit(unit)


@cache
def dimension_of_unit(unit: str) -> Dimension | None:
    """Dimension of a unit; None of one that is not known or not of mechanics."""
    if not unit:
        return PLAIN
    unit = _spelled(unit)
    for kind, names in COMMON.items():
        if unit == kind or unit in names:
            return _of_symbols(kind)
    kind = unit.replace(" ", "*")  # as units of channels are written
    if _OF_SYMBOLS.fullmatch(kind):
        return _of_symbols(kind)
    if (over := _INVERSE.fullmatch(unit)) is not None:
        dimension = dimension_of_unit(over[1])
        return None if dimension is None else times(PLAIN, dimension, -1.0)
    return _dimension_by_pint(unit)


@cache
def is_unit(unit: str) -> bool:
    """Whether a unit is known, of mechanics or not."""
    if unit in ("1", "%") or dimension_of_unit(unit) is not None:
        return True
    return _factor_by_pint(_spelled(unit), None) != "unknown"


def _of_symbols(kind: str) -> Dimension:
    """Dimension of a product such as ``N*m/rad``."""
    total = PLAIN
    for k, factor in enumerate(kind.replace("*", "/*").split("/")):
        symbol, _, power = factor.lstrip("*").partition("^")
        sign = 1.0 if k == 0 or factor.startswith("*") else -1.0
        total = times(total, _SYMBOLS[symbol], sign * float(power or 1))
    return total


def size_of_unit(unit: str) -> float:
    """What one of a unit is in SI units and radians: 1000.0 for kN; a cycle is a turn.

    Raises
    ------
    ExpressionError
        The unit is not known, or numbers do not reach its size.
    """
    unit = _spelled(unit)
    joined = unit.replace(" ", "*")
    for name in (unit, joined):
        if name in _OF_ANY_KIND:
            return _OF_ANY_KIND[name]
    if _OF_SYMBOLS.fullmatch(joined):
        return 1.0
    if (over := _INVERSE.fullmatch(unit)) is not None:
        return 1.0 / size_of_unit(over[1])
    size = _factor(unit, None) if unit.startswith("1/") else quantity(f"1 {unit}", None)
    if isinstance(size, str) or not sys.float_info.min <= size < math.inf:
        raise ExpressionError(repr(unit), "a unit")
    return size * (2.0 * math.pi) ** _power_of_hertz(unit)


@cache
def _power_of_hertz(unit: str) -> float:
    """The power of cycles per second in a known unit: 2.0 of Hz^2, -1.0 of N/kHz."""
    names = dict(_registry().Quantity(1.0, _parsed(unit)).unit_items())
    return float(sum(power for name, power in names.items() if name.endswith("hertz")))


def size_of_product(a: float, b: float, power: float) -> float:
    """Size of a product of one unit and a power of another; not a number where that is too far."""
    try:
        size = a * b**power
    except (OverflowError, ZeroDivisionError):
        return math.nan
    return size if 0.0 < size < math.inf else math.nan


def in_units(dimension: Dimension) -> str:
    """A dimension in SI units: ``N``, ``N/m``, ``m/s^2``."""
    if dimension in _NAMED:
        return _NAMED[dimension]
    over, under = [], []
    for symbol, power in zip(("m", "kg", "s"), dimension, strict=True):
        if power:
            size = abs(power)
            (over if power > 0 else under).append(symbol if size == 1 else f"{symbol}^{size:g}")
    return "/".join([" ".join(over) or "1", *under]) if over or under else "plain numbers"


def si_unit(unit: str) -> str:
    """The SI unit that values in a unit are read in; empty of numbers of no dimension."""
    unit = _spelled(unit)
    for kind, names in COMMON.items():
        if unit == kind or unit in names:
            return kind.replace("*", " ")
    dimension = dimension_of_unit(unit)
    return "" if dimension is None or not any(dimension) else in_units(dimension)


def times(a: Dimension, b: Dimension, power: float = 1.0) -> Dimension:
    """Dimension of a product of one thing and a power of another.

    Powers are rounded: m^0.1 times m^0.2 is m^0.3.
    """
    x, y, z = (round(one + power * other, DECIMALS) for one, other in zip(a, b, strict=True))
    return x, y, z
