"""Units in a plan: values of one name are of one kind, and of the kind that the name is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zwang.model_files.document import Item
from zwang.model_files.units import dimension_of_text, dimension_of_unit, in_units, si_unit, unit_of

__all__ = ["given_unit", "require_kind", "unit_of_value", "written_unit"]


def _quantities(item: Item) -> Iterator[Item]:
    """All numbers with units among the values of a name: in lists, ranges and distributions."""
    if isinstance(item.value, str):
        if unit_of(item.value) is not None:
            yield item
    elif isinstance(item.value, dict | list):
        for inner in item:
            yield from _quantities(inner)


def require_kind(item: Item, unit: str = "") -> None:
    """Refuse numbers with units of another kind than `unit`, or than the first of them.

    Plain numbers are in SI units of any kind.
    """
    wanted, like = (dimension_of_unit(unit), unit) if unit else (None, "")
    for found in _quantities(item):
        dimension = dimension_of_text(found.value)
        if wanted is None:
            wanted, like = dimension, f"{found.value!r} beside it"
        elif dimension is not None and dimension != wanted:
            kind = in_units(dimension)
            raise found.error(
                found=f"{found.value!r}, of {kind}", expected=f"a quantity of the kind of {like}"
            )


def given_unit(item: Item) -> str:
    """The SI unit of the values of a name; empty where all are plain numbers."""
    for found in _quantities(item):
        return unit_of_value(found.value)
    return ""


def written_unit(item: Item) -> str:
    """The unit that all values of a name are written in; empty where they are not in one."""
    units = {unit_of(found.value) for found in _quantities(item)}
    return (units.pop() or "") if len(units) == 1 else ""


def unit_of_value(value: Any) -> str:
    """The SI unit that a value with a unit is read in; empty of others."""
    unit = unit_of(value) if isinstance(value, str) else None
    return "" if unit is None else si_unit(unit)
