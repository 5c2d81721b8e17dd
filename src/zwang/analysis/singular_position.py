"""Whether constraint rows depend on each other in one position alone: a singular one.

Rows that repeat others do so wherever a mechanism is. Rows that do so in one position, a dead point
or a linkage in one line, are independent next to it: the mechanism has freedoms more there, and may
leave the position in more ways than one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.equations_of import EquationsOf
from zwang.diagnosis.explanation import Explanation
from zwang.errors import ZwangError
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["rows_redundant_here_alone"]

#: How far positions next to another are: largest entry of a displacement [m or rad], and time [s].
NEARBY = 1e-2
#: Directions that are tried.
MOST_DIRECTIONS = 6


def rows_redundant_here_alone(
    system: System, state: Any, found: Explanation, parameters: Mapping[str, Any]
) -> int:
    """How many rows depend on others at a state and not next to it; 0 where that is not known.

    Parameters
    ----------
    found : `System.explain` at the state.
    """
    equations = EquationsOf(system, float(state.t), parameters)
    if not found.redundancy or equations.is_large:
        return 0
    fewest = found.redundancy
    try:
        for q, t in _nearby(equations, state, found):
            there = system.explain(q, None, t, parameters=parameters)
            fewest = min(fewest, there.redundancy)
    except ZwangError:  # laws that have no values there
        return 0
    return found.redundancy - fewest


def _nearby(
    equations: EquationsOf, state: Any, found: Explanation
) -> Iterator[tuple[FloatArray, float]]:
    """Positions that a mechanism can go to: along its freedoms, and as its drivers move it.

    At a dead center drivers hold a position that they would let go along a freedom if they moved:
    there it is those that joints alone allow. Values of drivers have no part in how rows depend.
    """
    q, v, t = np.asarray(state.q), np.asarray(state.v), float(state.t)
    size = float(np.abs(v).max(initial=0.0))
    if size > 0.0:
        ahead = EquationsOf(equations.system, t + NEARBY / size, equations.parameters)
        moved, met = ahead.corrected(ahead.moved(q, v * (NEARBY / size)))
        if met:
            yield moved, ahead.t
    directions = np.asarray(found.freedoms).T[:MOST_DIRECTIONS]
    if directions.ndim != 2 or directions.shape[1] != equations.nv:
        return
    groups = equations.system.groups
    drivers = [k for name in equations.system.equations.driver_names for k in groups[name]]
    for direction in directions:
        for sign in (1.0, -1.0):
            step = sign * NEARBY * direction / np.abs(direction).max()
            for released in ((), drivers) if drivers else ((),):
                moved, met = equations.corrected(equations.moved(q, step), without=released)
                if met and np.abs(moved - q).max() > 0.1 * NEARBY:
                    yield moved, t
                    break
