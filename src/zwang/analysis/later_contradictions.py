"""Whether what drivers prescribe later is beyond what other constraints leave, told at the start.

At rest nothing contradicts: a driver that begins gently agrees with a pin that holds what it is to
move. Its speeds at later instants do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.equations_of import EquationsOf
from zwang.errors import ZwangError
from zwang.linalg.rank import DEFAULT_TOLERANCES, equilibrate
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["speeds_may_contradict"]

#: Instants that are tried.
INSTANTS = 20
#: Speeds disagree if they miss by more than this part of the largest.
APART = 1e-6


def speeds_may_contradict(
    system: System, state: Any, until: float, parameters: Mapping[str, Any]
) -> float | None:
    """The first of some later instants whose prescribed speeds no velocity has; None if all agree.

    In the configuration of the start: where the mechanism moves to another one in between, speeds
    may be possible there. So this is a suspicion, and a run until then decides.
    """
    t0 = float(state.t)
    if not np.isfinite(until) or until <= t0:
        return None
    q, at_rest = np.asarray(state.q), np.zeros(len(system.velocities))
    try:
        for t in np.linspace(t0, until, INSTANTS + 1)[1:].tolist():
            equations = EquationsOf(system, t, parameters)
            if equations.is_large:
                return None
            there = equations.values(q, at_rest)
            if _apart(there.M, there.A[equations.is_rated], there.rate):
                return float(t)
    except ZwangError:  # laws that have no values there
        return None
    return None


def _apart(M: FloatArray, G: FloatArray, rate: FloatArray) -> bool:
    """Whether no v has G v = −rate."""
    d, _ = equilibrate(M, G)
    v = d * np.linalg.lstsq(G * d, -rate, rcond=DEFAULT_TOLERANCES.rank)[0]
    size = float(np.abs(rate).max(initial=0.0))
    return bool(np.abs(G @ v + rate).max(initial=0.0) > APART * max(size, APART))
