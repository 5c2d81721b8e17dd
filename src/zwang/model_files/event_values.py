"""The values that events of a model file watch for, in the unit of what they watch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from zwang.errors import ModelError
from zwang.model_files.dimensions import Measured, NamesMeasured, require_unit
from zwang.model_files.document import Item
from zwang.model_files.expressions import ExpressionError, parse_expression
from zwang.model_files.units import (
    Dimension,
    dimension_of_text,
    dimension_of_unit,
    in_units,
    is_quantity,
    quantity,
    unit_of,
)
from zwang.model_files.units_of_parts import unit_of_part

if TYPE_CHECKING:
    from zwang.multibody.frozen import Parts

__all__ = ["require_no_dimensions", "require_settable", "require_switchable", "value_watched"]


def value_watched(
    item: Item, at: float, source: Item, channels: Mapping[str, str], given: NamesMeasured
) -> float:
    """The value at which an event happens; refused in a unit that what it watches is not in.

    Parameters
    ----------
    item, at : what stands in the file, and the number that was read there, in SI units.
    source : what is watched, a channel or an expression.
    channels : name → unit, empty where it has none.
    given : what constants and parameters are measured in.
    """
    text, watched = item.value, source.value
    if not isinstance(text, str) or not isinstance(watched, str):
        return at
    unit = channels.get(watched.strip(), "").replace(" ", "*").replace("²", "^2")
    if unit == "1" or dimension_of_unit(unit) is None:  # the user's own
        return at
    if unit and is_quantity(text):
        try:  # an output of the file may be in kN
            return quantity(text, unit)
        except ExpressionError:
            raise _of_another_kind(item, watched, unit) from None
    known = {n: Measured(d) for n, u in channels.items() if u and (d := dimension_of_unit(u))}
    own = dimension_of_text(text) if is_quantity(text) else _dimension(text, given)
    wanted = dimension_of_unit(unit) if unit else _dimension(watched, {**known, **given})
    if unit and own is not None and any(own) and own == wanted:  # a constant in m, of one in mm
        return at * quantity(f"1 {in_units(own)}", unit)
    # A number without dimension may be of any, but not one with a unit such as rad.
    plain = own is None or not (any(own) or is_quantity(text))
    if plain or wanted is None or not (unit or any(wanted)) or own == wanted:
        return at
    raise _of_another_kind(item, watched, unit or in_units(wanted))


def require_no_dimensions(item: Item, values: Mapping[str, Any], parts: Parts) -> None:
    """Refuse to set a parameter that numbers of the mechanism were read with, at its line."""
    geometry = parts.geometry
    for name in values:
        if geometry is None or name not in geometry.names:
            continue
        defaults = {n: parts.parameters[n] for n in geometry.names}
        numbers = [n for n in sorted(geometry.derived) if name in geometry.sources(n, defaults)]
        forces = {element.name for element in parts.forces}
        advice = "Begin another simulation with other dimensions."
        if numbers and all(
            number.rpartition(".")[0] in forces and unit_of_part(parts, number) not in ("", "m")
            for number in numbers
        ):
            written = " and ".join(numbers)
            told = ", ".join(f'"{number}" = …' for number in numbers)
            advice = f"Give {written} without {name}, and write set = {{ {told} }}."
        raise item[name].error(
            must="be no parameter that numbers of the mechanism follow from",
            but=f"{' and '.join(numbers[:3])} follow{'s' * (len(numbers) == 1)} from {name}"
            if numbers
            else None,
            found=None if numbers else name,
            advice=advice,
        )


def require_settable(
    item: Item,
    values: Mapping[str, Any],
    parameters: Iterable[str],
    parts: Parts | None,
    given: NamesMeasured,
) -> None:
    """Refuse to set what is no parameter, or a parameter in a unit that it is not in, at its line.

    Parameters
    ----------
    parameters : names of those of the model.
    given : what constants and parameters of the file are measured in.
    """
    for name in values:
        if name not in parameters:
            raise item[name].unknown(name, parameters, "a parameter of the model", place=None)
        text = item[name].value
        unit = "" if parts is None else unit_of_part(parts, name)
        own = given.get(name)
        wanted = dimension_of_unit(unit) if unit else None if own is None else own.dimension
        if not isinstance(text, str) or wanted is None:
            continue
        found = dimension_of_text(text) if is_quantity(text) else _dimension(text, given)
        # A number without dimension may be of any.
        if found is not None and found != wanted and (any(found) or is_quantity(text)):
            told = unit or in_units(wanted)
            raise item[name].error(repr(text), f"a value of {name}, which is in {told}")


def require_switchable(item: Item, names: Iterable[str], constraints: Iterable[str]) -> None:
    """Refuse to switch what is no constraint, at its line."""
    for name in names:
        if name not in constraints:
            raise item.unknown(name, constraints, "a joint, driver or constraint")


def _dimension(text: str, names: NamesMeasured) -> Dimension | None:
    """Dimension of an expression; None where it is not known."""
    try:
        found = require_unit(text, parse_expression(text), names, None, "")
    except ExpressionError:  # told where the expression is used
        return None
    return None if found is None else found.dimension


def _of_another_kind(item: Item, watched: str, unit: str) -> ModelError:
    text = item.value.strip()
    number = text.removesuffix(unit_of(text) or "").strip()
    line = f'at = "{number} {unit}"' if is_quantity(text) else f'at = "1 {unit}"'
    return item.error(
        repr(text),
        f"a value of {watched.strip()}, which is in {unit}",
        f"Write it in that unit or one of its kind, as {line}.",
    )
