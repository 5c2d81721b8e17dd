"""Expressions of channels in a model file: outputs, and what events watch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from zwang.model_files.document import Item
from zwang.model_files.formulas import Definitions, Formula, Scope, names_used
from zwang.multibody.frozen import Parts
from zwang.multibody.joint_coordinates import Channels
from zwang.results.channel_catalog import PARTS, catalog

__all__ = ["MechanismNames", "channel_formula", "channel_names"]


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


def channel_names(system: Any, parts: Parts | None) -> tuple[str, ...]:
    """All names of channels, parts of vectors included."""
    names: list[str] = []
    for entry in catalog(system, parts).values():
        names.append(entry.name)
        names += [f"{entry.name}.{part}" for part in PARTS] if entry.vector else []
    return tuple(names)


def channel_formula(
    item: Item, names: Iterable[str], parameters: tuple[str, ...], definitions: Definitions
) -> Formula:
    """An expression of channels, time and parameters, as a function of (c, t, p)."""
    channels = tuple(names)
    scope = Scope((*channels, "t", *parameters))
    used = names_used(item, definitions)
    values = partial(_values, tuple(n for n in used if n in set(channels)), parameters)
    return Formula(item, ("c", "t", "p"), scope, definitions, values)


def _values(
    channels: tuple[str, ...], parameters: tuple[str, ...], given: Mapping[str, Any]
) -> dict[str, Any]:
    values = {name: given["p"][name] for name in parameters}
    return {**values, "t": given["t"], **{name: given["c"][name] for name in channels}}
