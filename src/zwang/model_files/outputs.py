"""Expressions of channels in a model file: outputs, and what events watch."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from zwang.model_files.document import Item
from zwang.model_files.formulas import Definitions, Formula, Scope, names_used
from zwang.multibody.frozen import Parts
from zwang.multibody.joint_coordinates import Channels
from zwang.results.channel_catalog import PARTS, catalog

__all__ = ["MechanismNames", "channel_formula", "channel_units"]


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


def _values(
    channels: tuple[str, ...], parameters: tuple[str, ...], given: Mapping[str, Any]
) -> dict[str, Any]:
    values = {name: given["p"][name] for name in parameters}
    return {**values, "t": given["t"], **{name: given["c"][name] for name in channels}}
