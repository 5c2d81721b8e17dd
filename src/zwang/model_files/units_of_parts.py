"""Units of the numbers that bodies, joints and forces have as parameters: ``crank.mass``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from zwang.model_files.layout import FORCES

if TYPE_CHECKING:
    from zwang.multibody.frozen import Parts

__all__ = ["UNITS_OF_PARTS", "unit_of_part"]

#: Units of the numbers that every body, joint and gravity have, by the last part of the name.
UNITS_OF_PARTS: Mapping[str, str] = {
    "mass": "kg",
    "inertia": "kg*m^2",
    "gravity": "m/s^2",
    "at_a": "m",
    "at_b": "m",
}


def unit_of_part(parts: Parts, name: str) -> str:
    """The SI unit of a number of a mechanism by its dotted name; empty where it is not known."""
    of, _, number = name.partition("[")[0].rpartition(".")
    if number in UNITS_OF_PARTS:
        return UNITS_OF_PARTS[number]
    kinds = [e.law.key[0] for e in parts.forces if e.name == of]
    table = FORCES.get(kinds[0]) if kinds else None
    field = None if table is None else table.fields.get(number)
    return getattr(field.kind, "unit", None) or "" if field is not None else ""
