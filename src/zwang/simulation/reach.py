"""Simulation: whether drivers ask for positions that a mechanism cannot reach, where a run ends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from zwang.assembly.contradiction import Subsets, irreducible_contradiction
from zwang.assembly.mechanism import AssemblyTable
from zwang.assembly.newton import place
from zwang.errors import ZwangError
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations

__all__ = ["AHEAD", "drivers_beyond_reach", "drivers_that_move"]

#: The number that joints have for the ground.
GROUND = -1
#: How far ahead of its end a run is looked at, in parts of the time that it was to take.
AHEAD = 1e-3
#: Of more constraint rows it is not asked.
LARGEST = 500


def drivers_beyond_reach(
    equations: Equations, q: FloatArray, t: float, p: FloatArray
) -> tuple[str, ...]:
    """Drivers that have a part in it that no configuration is found at a time; none if one is.

    Parameters
    ----------
    q : configuration to search from, as shortly before.
    """
    bodies, drivers = equations.of_bodies, equations.driver_names
    if bodies is None or equations.by_elements is not None or not drivers:
        return ()
    if len(bodies.row_names) > LARGEST:
        return ()
    try:
        table = AssemblyTable(bodies, t, p)
        conditions = table.conditions({})
        found = place(conditions, q)
        if found.met:
            return ()
        parts = table.parts
        owners = [parts.owner(name.split("[")[0]) for name in table.names("position")]
        subsets = Subsets.of(parts, conditions, (q, found.q), owners)
        group = irreducible_contradiction(subsets, ()).names
    except ZwangError:  # laws that have no values there
        return ()
    return tuple(name for name in drivers if name in group)


def drivers_that_move(
    equations: Equations, names: Iterable[str], q: FloatArray, t: float, p: FloatArray
) -> tuple[str, ...]:
    """Drivers with a rate at a time, of bodies that are joined to those of some constraints.

    Where constraints without a driver among them depend on each other, as those of a lift whose
    arms stand upright, it is these that take the mechanism there. Joints to the ground do not join
    bodies to each other.
    """
    bodies, drivers = equations.of_bodies, equations.driver_names
    if bodies is None or equations.by_elements is not None or not drivers:
        return ()
    try:
        table = AssemblyTable(bodies, t, p)
        rates, _ = table.rate_rows(q, np.zeros(table.nv))
    except ZwangError:  # laws that have no values there
        return ()
    joints = table.parts.joints
    rows = table.names("position", "velocity")
    moving = {name.split("[")[0] for name, rate in zip(rows, rates, strict=True) if rate != 0.0}
    joined = {i for name in names if name in joints for i in joints[name].bodies} - {GROUND}
    grown = -1
    while grown != len(joined):
        grown = len(joined)
        joined |= {i for j in joints.values() if joined & set(j.bodies) for i in j.bodies} - {
            GROUND
        }
    ends = {element.name: element.bodies for element in table.parts.constraints}
    return tuple(name for name in drivers if name in moving and joined & set(ends[name]))
