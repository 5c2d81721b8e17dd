"""Simulation notes: velocities that change at once, where what a constraint prescribes does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["VelocityJumps"]


class VelocityJumps:
    """What a run says of such changes: the first one alone.

    Parameters
    ----------
    scales : of the state.
    tolerance : of the simulation. What it allows a step is no jump.
    """

    def __init__(self, system: System, scales: FloatArray, tolerance: float) -> None:
        self._system, self._scales, self._tolerance = system, scales, tolerance
        self._told = False

    def notes(self, t: float, before: FloatArray, after: FloatArray, by: str) -> list[str]:
        """A sentence on states before and after a loop began anew, if it is to be told of."""
        nq = len(self._system.coordinates)
        v, v_after = before[nq:], after[nq:]
        allowed = self._tolerance * (np.abs(self._scales[nq:]) + np.abs(v))
        change = np.abs(v_after - v)
        jumps = change > allowed
        if self._told or not jumps.any():
            return []
        self._told, k = True, int(np.argmax(np.where(jumps, change, 0.0)))
        note = (
            f"velocities change at once at t = {t:.6g} s, where {by} changes the speed that a "
            f"constraint prescribes: {self._system.velocities[k]} from {v[k]:.6g} to "
            f"{v_after[k]:.6g}, as by an impulse; later changes of this kind are not listed"
        )
        return [note]
