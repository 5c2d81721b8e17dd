"""Units in model files: ``"12 mm"``, ``"30 deg"``, ``"50 N s/m"`` as SI numbers and radians."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any

from zwang.model_files.arithmetic import ExpressionError

__all__ = ["is_quantity", "quantity"]

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


def is_quantity(text: str) -> bool:
    """Whether a text looks like a number with a unit."""
    match = _QUANTITY.fullmatch(text)
    return match is not None and _UNIT.fullmatch(match["unit"]) is not None


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
    factor = _factor(name, unit)
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


def _factor(name: str, unit: str | None) -> float | str:
    """By what to multiply to get SI; or what the unit is of, if that is another one."""
    known = (_OF_ANY_KIND if unit is None else COMMON.get(unit, {})).get(name)
    return _factor_by_pint(name, unit) if known is None else known


@cache
def _factor_by_pint(name: str, unit: str | None) -> float | str:
    import pint

    registry = _registry()
    try:
        given = registry.Quantity(1.0, registry.parse_units(name.replace("·", "*")))
        if unit is None:
            return float(given.to_base_units().magnitude)
        if unit == "rad/s" and "hertz" in str(given.units):
            return "cycles and not of angles (use rpm)"
        wanted = registry.Quantity(1.0, registry.parse_units(unit or "dimensionless"))
        if given.dimensionality != wanted.dimensionality:
            return _words(given.dimensionality)
        return float(given.to(wanted.units).magnitude)
    except (pint.PintError, AttributeError, TypeError, ValueError, KeyError, AssertionError):
        return "unknown"


def _words(dimensionality: Any) -> str:
    text = str(dimensionality).replace("[", "").replace("]", "")
    return "no dimension" if text == "dimensionless" else text


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(cache_folder=None)
