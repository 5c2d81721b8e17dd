"""Expressions of channels in a model file: outputs, and what events watch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from zwang.errors import InputError
from zwang.model_files.document import Item
from zwang.model_files.formulas import Definitions, Formula, Scope, names_used
from zwang.multibody.frozen import Parts
from zwang.multibody.joint_coordinates import Channels
from zwang.results.channel_catalog import PARTS, catalog
from zwang.tracing.symbol import symbols_of

__all__ = ["MechanismNames", "channel_formula", "channel_units", "require_one_value"]


class MechanismNames:
    """What the catalog of channels asks of a mechanism that is not traced yet.

    Parameters
    ----------
    outputs : names of outputs that stand before.
    """

    def __init__(self, parts: Parts, outputs: Mapping[str, Any]) -> None:
        self.coordinates, self.velocities = parts.coordinates, parts.velocities
        self.channels, self.outputs = Channels(parts).names, outputs
        # Rows are counted when laws are traced; of one row there is one multiplier.
        self.groups = {name: [0] for name, joint in parts.joints.items() if joint.a is None}


def channel_units(system: Any, parts: Parts | None) -> dict[str, str]:
    """All names of channels, parts of vectors included, with their units."""
    units: dict[str, str] = {}
    for entry in catalog(system, parts).values():
        units[entry.name] = entry.unit
        units |= {f"{entry.name}.{part}": entry.unit for part in PARTS} if entry.vector else {}
    return units


def channel_formula(
    item: Item,
    channels: Mapping[str, str],
    parameters: tuple[str, ...],
    definitions: Definitions,
    unit: str | None = None,
) -> Formula:
    """An expression of channels, time and parameters, as a function of (c, t, p).

    Parameters
    ----------
    channels : name → unit.
    unit : that the value is measured in; None for any.
    """
    scope = Scope((*channels, "t", *parameters), units=channels)
    used = tuple(name for name in names_used(item, definitions) if name in channels)
    values = partial(_values, used, parameters)
    return Formula(item, ("c", "t", "p"), scope, definitions, values, unit)


def require_one_value(
    item: Item, function: Formula, channels: Mapping[str, str], parameters: Mapping[str, Any]
) -> None:
    """Refuse an output that is a vector, which has no place in a table.

    Parameters
    ----------
    channels : those that it may use, parts of vectors among them.
    parameters : name → value.
    """
    import casadi as ca

    vectors = {name.removesuffix(".magnitude") for name in channels if name.endswith(".magnitude")}
    symbols = _SomeValues(vectors & channels.keys())
    (t,) = symbols_of(ca.SX.sym("t"))
    try:
        count = np.size(np.array(function(c=symbols, t=t, p=parameters), dtype=object))
    except InputError:
        return  # the sentence is told with the place of what is wrong
    if count == 1:
        return
    advice = "Give each entry an output of its own."
    used = [name for name in symbols.asked if name in vectors]
    if used:
        advice = f"Write {used[0]}.magnitude, or {used[0]}.x for a component."
    where = item["value"] if isinstance(item.value, dict) else item
    raise where.error(expected="one number", but=f"it has {count}", advice=advice)


class _SomeValues(Mapping[str, Any]):
    """Channels as symbols, of which the names are taken."""

    def __init__(self, vectors: Iterable[str]) -> None:
        self._vectors, self.asked = frozenset(vectors), list[str]()

    def __getitem__(self, name: str) -> Any:
        import casadi as ca

        self.asked.append(name)
        entries = symbols_of(ca.SX.sym("c", 3))
        return entries if name in self._vectors else entries[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._vectors)

    def __len__(self) -> int:
        return len(self._vectors)


def _values(
    channels: tuple[str, ...], parameters: tuple[str, ...], given: Mapping[str, Any]
) -> dict[str, Any]:
    values = {name: given["p"][name] for name in parameters}
    return {**values, "t": given["t"], **{name: given["c"][name] for name in channels}}
