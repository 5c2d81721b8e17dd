"""Analysis of equilibria: coordinates that are angles, where a turn brings back the equations.

That a function names a coordinate `theta` proves nothing, and neither does a sine in it: with a
torsion spring, full turns are different configurations. All terms are compared at states at random.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from zwang.analysis.equations_of import EquationsOf, Values
from zwang.errors import ZwangError
from zwang.terms import FloatArray

__all__ = ["TURN", "turning_coordinates"]

TURN = 2.0 * np.pi
#: States at which terms are compared, and how far these lie from the given one.
TRIED, AWAY = 3, 0.5
#: A shift that is no turn: what it leaves as it is too is a translation, not an angle.
NO_TURN = 1.0
#: Difference of equal terms, relative to their size: sines of larger angles round differently.
EQUAL = 1e-10


def turning_coordinates(
    equations: EquationsOf, q: FloatArray, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """For each coordinate whether it counts up to full turns, shape (nq,).

    Bodies of a mechanism have sines and cosines for coordinates, which repeat by themselves.
    """
    found = np.zeros(equations.nq, dtype=bool)
    if equations.parts is not None:
        return found
    states = [
        (q + AWAY * rng.standard_normal(equations.nq), rng.standard_normal(equations.nv))
        for _ in range(TRIED)
    ]
    try:
        before = [equations.values(x, v) for x, v in states]
        for k, step in enumerate(np.eye(equations.nq)):
            turned = [equations.values(x + TURN * step, v) for x, v in states]
            if not all(map(_equal, before, turned)):
                continue
            shifted = [equations.values(x + NO_TURN * step, v) for x, v in states]
            found[k] = not all(map(_equal, before, shifted))
    except ZwangError:  # terms that do not exist at a state at random
        found[:] = False
    return found


def _equal(a: Values, b: Values) -> bool:
    for one in fields(Values):
        x, y = getattr(a, one.name), getattr(b, one.name)
        if not np.abs(x - y).max(initial=0.0) <= EQUAL * max(1.0, np.abs(x).max(initial=0.0)):
            return False
    return True
