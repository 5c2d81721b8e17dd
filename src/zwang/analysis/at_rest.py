"""Quantities of a mechanism at rest by name: joints, bodies, springs, drivers and own outputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import InputError, ZwangError

if TYPE_CHECKING:
    from zwang.analysis.statics import Equilibrium
    from zwang.results.run import Run

__all__ = ["HOLDING", "effort_unit", "value_at_rest", "values_at_rest"]

#: Ending of the effort that holds a coordinate.
HOLDING = ".holding"
#: Kinds of channels that are told of a mechanism at rest.
_TOLD = ("joint", "spring", "torsion", "actuator", "driver", "output")


def effort_unit(coordinate: str) -> str:
    """Unit of the effort along a coordinate of a joint or a body; empty where it is the user's."""
    from zwang.results.channel_catalog import unit_of_state

    return {"m": "N", "rad": "N m"}.get(unit_of_state(coordinate), "")


def value_at_rest(rest: Equilibrium, name: str) -> Any:
    """A channel, or with ``.holding`` after a held coordinate the effort that holds it."""
    held = name.removesuffix(HOLDING)
    if held != name and held in rest.holding:
        return rest.holding[held]
    run = rest.as_run()
    if rest.holding and _needs_motion(run, name):
        raise InputError(
            f"quantity {name!r}",
            must="not depend on forces of constraints where coordinates are held",
            but="does",
            advice=f"{next(iter(rest.holding))}{HOLDING} is the effort that holds it.",
        )
    values = run[name][0]
    return float(values) if np.ndim(values) == 0 else values


def _needs_motion(run: Run, name: str) -> bool:
    """Whether a channel is computed from accelerations, which what is held does not have."""
    from zwang.results.output_values import channels_used

    known = run.channels
    own = name if name in known else name.rpartition(".")[0]
    if own not in known:
        return False
    of = channels_used(run, run.system.outputs[own]) if known[own].output else {own}
    return any("acceleration" in n or (n in known and bool(known[n].joint)) for n in of)


def values_at_rest(rest: Equilibrium) -> Iterator[tuple[str, Any, str]]:
    """Name, value and unit of what there is to tell of a mechanism at rest."""
    from zwang.results.channel_catalog import catalog

    parts = rest.system.mechanism
    if parts is None:
        return
    for entry in catalog(rest.system, parts).values():
        moving = entry.name.endswith(("_rate", "_acceleration", ".speed", ".power"))
        placed = entry.kind == "body" and entry.quantity == "position"
        if moving or not (placed or entry.kind in _TOLD):
            continue
        try:
            yield entry.name, value_at_rest(rest, entry.name), entry.unit
        except ZwangError:  # it has no value at rest
            continue
