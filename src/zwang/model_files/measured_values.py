"""What one value of an expression is measured in, and what numbers make of its unit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from zwang.model_files.arithmetic import CONSTANTS, ExpressionError
from zwang.model_files.units import (
    PLAIN,
    TURNS,
    Dimension,
    dimension_of_unit,
    in_units,
    size_of_product,
    size_of_unit,
    times,
)

__all__ = [
    "Found",
    "MeasuredValue",
    "PlainNumber",
    "among",
    "common_sizes",
    "is_angular",
    "is_rate",
    "measured_number",
    "measured_unit",
    "power_of",
    "product_of",
    "size_of",
]

#: Relative difference of two sizes of units that are the same, one of them written as a number:
#: 57.3 for the degrees of a radian.
SAME = 1e-3
#: Sizes of units to distinguish; products of more numbers may be of any.
MOST_SIZES = 256
#: Power of a metre, kilogram or second up to which a unit that follows is told.
MOST_POWER = 100.0
#: Powers of a thousand of which units are made; numbers reach no further.
MOST_THOUSANDS = 100
#: Relative difference of a factor from a power of a thousand that is rounding.
EXACT = 1e-9
#: Units that numbers make besides those with a prefix for a thousand: kind → unit.
_MADE: dict[str, tuple[str, ...]] = {
    "m": ("cm",),
    "m/s": ("km/h",),
    "s": ("min", "h"),
    "J": ("kWh", "Wh"),
    "rad": ("deg",),
    "rad/s": ("rpm", "deg/s"),
    "rad/s^2": ("deg/s^2",),
}
#: What a thousand and its powers make.
_PREFIXES = {1e-6: "µ", 1e-3: "m", 1e3: "k", 1e6: "M", 1e9: "G"}
_OF_MASS = {1e-3: "g", 1e3: "t"}


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
    factors : of one quantity, product of the numbers that multiply it, and that without counts;
        None of products of several.
    pi : power of pi among its numbers, not a number where terms of a sum have several.
    """

    dimension: Dimension = PLAIN
    unit: str = ""
    scale: float = 1.0
    sizes: frozenset[float] | None = frozenset({1.0})
    free: bool = False
    factors: tuple[float, float] | None = (1.0, 1.0)
    pi: float = 0.0

    @property
    def told(self) -> str:
        """Its unit, for messages."""
        return self.unit or in_units(self.dimension)

    @property
    def label(self) -> str:
        """The unit that follows; empty where none does, as of an angle over 2 pi: turns."""
        if self.pi and is_angular(self.unit):
            exact = (
                abs(factor / number - 1.0) < EXACT
                for factor in self.factors or ()
                for number in (180.0 / math.pi, 30.0 / math.pi)
            )
            return self.made_unit if any(exact) else ""
        if self.free:
            return ""
        in_si = self.scale == 1.0 and any(self.dimension)
        in_si = in_si and all(abs(power) <= MOST_POWER for power in self.dimension)
        return self.unit or (in_units(self.dimension) if in_si else "")

    @property
    def _base(self) -> str:
        return self.unit.replace("²", "^2") or in_units(self.dimension)

    @cached_property
    def made(self) -> float | None:
        """What one of the unit is in SI units that numbers make of it; None if none converts."""
        if self.factors is None or not math.isfinite(self.scale):
            return None
        for factor in self.factors:
            thousands = round(math.log(factor, 1000.0)) if factor > 0.0 else 0
            if (
                0 < abs(thousands) <= MOST_THOUSANDS
                and abs(factor / 1000.0**thousands - 1.0) < EXACT
            ):
                return self.scale / 1000.0**thousands
            for size in map(size_of_unit, _MADE.get(self._base, ())):
                if factor > 0.0 and abs(self.scale / factor / size - 1.0) < SAME:
                    return size
        return None

    @cached_property
    def made_unit(self) -> str:
        """Name of the unit that numbers make; empty where it has none."""
        made, base = self.made, self._base if self.scale == 1.0 else in_units(self.dimension)
        if made is None:
            return ""
        names = [base, *_MADE.get(base, ())]
        names += [
            unit if base == "kg" else f"{unit}{base}"
            for size, unit in (_OF_MASS if base == "kg" else _PREFIXES).items()
            if abs(made / size - 1.0) < EXACT
        ]
        alike = (n for n in names if dimension_of_unit(n) == self.dimension and size_of(n) > 0.0)
        return next((n for n in alike if abs(size_of(n) / made - 1.0) < SAME), "")


@dataclass(frozen=True)
class PlainNumber:
    """A number that is no channel: of any kind in sums, and a factor in products."""

    sizes: frozenset[float] | None = frozenset({1.0})
    free: bool = False
    factors: tuple[float, float] | None = None
    pi: float = 0.0


Found = MeasuredValue | PlainNumber | None


def measured_number(value: float) -> PlainNumber:
    """A number as it is written: whether it may have a unit, and that it may convert."""
    counts = abs(value) <= 4.0 and 2.0 * value == int(2.0 * value)
    free = not (counts or value in CONSTANTS.values())
    factors = (abs(value), 1.0 if counts else abs(value)) if value else None
    sizes = frozenset({1.0, 1.0 / value} if value else {1.0})
    return PlainNumber(sizes, free, factors, 1.0 if value == math.pi else 0.0)


def is_angular(unit: str) -> bool:
    """Whether a unit counts angles or turns, which no dimension tells."""
    return unit.startswith(("rad", "deg", "°")) or TURNS.search(unit) is not None


def measured_unit(unit: str) -> MeasuredValue | None:
    """That of a channel; None where its unit is not known."""
    dimension = PLAIN if unit == "1" else dimension_of_unit(unit) if unit else None
    if dimension is None:
        return None
    size = size_of(unit)
    sizes = {size, 2.0 * math.pi * size} if is_rate(unit) and size != 1.0 else {size}
    return MeasuredValue(dimension, unit, size, frozenset(sizes))


def is_rate(unit: str) -> bool:
    """Whether a unit is one over a time, as 1/min, which may count radians or turns."""
    return dimension_of_unit(unit) == (0.0, 0.0, -1.0) and not is_angular(unit)


def size_of(unit: str) -> float:
    """What one of a unit is in SI units; not a number where it is not known."""
    try:
        return 1.0 if unit == "1" else size_of_unit(unit)
    except ExpressionError:
        return math.nan


def product_of(a: Found, b: Found, power: float) -> Found:
    """A product of one and a power of another, 1 or -1."""
    if a is None or b is None:
        return None
    sizes = _each(a.sizes, b.sizes, lambda x, y: x * y**power)
    free = a.free or b.free
    factors, pi = _all_factors(a.factors, b.factors, power), a.pi + power * b.pi
    if isinstance(a, PlainNumber):
        if isinstance(b, PlainNumber):
            return PlainNumber(sizes, free, factors, pi)
        unit = b.unit if power == 1.0 else ""
        own = factors if power == 1.0 else None
        scale = size_of_product(1.0, b.scale, power)
        return MeasuredValue(times(PLAIN, b.dimension, power), unit, scale, sizes, free, own, pi)
    if isinstance(b, PlainNumber):
        return MeasuredValue(a.dimension, a.unit, a.scale, sizes, free, factors, pi)
    dimension = times(a.dimension, b.dimension, power)
    scale = size_of_product(a.scale, b.scale, power)
    return MeasuredValue(dimension, "", scale, sizes, free, None, pi)


def _all_factors(
    a: tuple[float, float] | None, b: tuple[float, float] | None, power: float
) -> tuple[float, float] | None:
    """Numbers of both sides of a product or a quotient."""
    if a is None or b is None:
        return None
    try:
        both = (a[0] * b[0] ** power, a[1] * b[1] ** power)
    except (OverflowError, ZeroDivisionError):
        return None
    return both if all(0.0 < x < math.inf for x in both) else None


def power_of(base: Found, exponent: float) -> Found:
    """A power."""
    if base is None:
        return None
    sizes, pi = _each(base.sizes, frozenset({1.0}), lambda x, _: x**exponent), base.pi * exponent
    if isinstance(base, PlainNumber):
        factors = _all_factors((1.0, 1.0), base.factors, exponent)  # 10^3
        return PlainNumber(sizes, base.free, factors, pi)
    unit = base.unit if exponent == 1.0 else ""
    dimension = times(PLAIN, base.dimension, exponent)
    scale = size_of_product(1.0, base.scale, exponent)
    return MeasuredValue(dimension, unit, scale, sizes, base.free, None, pi)


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


def common_sizes(a: frozenset[float] | None, b: frozenset[float] | None) -> frozenset[float] | None:
    """Sizes that both may be of; None for any."""
    if a is None or b is None:
        return b if a is None else a
    return frozenset(x for x in a if among(x, b))


def among(size: float, sizes: frozenset[float] | None) -> bool:
    """Whether a size is one of several, up to how numbers are written."""
    return sizes is None or any(abs(size - one) <= SAME * abs(one) for one in sizes)
