"""Segments of a simulation under way: one loop each, with what is needed to judge it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations
    from zwang.integrators.contract import Loop
    from zwang.integrators.settings import Settings
    from zwang.programs.contract import Program
    from zwang.system import System

__all__ = ["LoopSegment"]


class LoopSegment(NamedTuple):
    """A loop of a simulation, and what it integrates from one change to the next.

    Attributes
    ----------
    system : with the constraints that act.
    settings : of the simulation; the loop may keep another tolerance and end before.
    parameters, p : the same numbers, by name and as one array.
    t, y : time and state from which it began.
    """

    system: System
    settings: Settings
    parameters: Mapping[str, Any]
    p: FloatArray
    t: float
    y: FloatArray
    loop: Loop

    @property
    def equations(self) -> Equations:
        """Those of the constraints that act."""
        return self.system.equations

    @property
    def program(self) -> Program:
        """What the loop integrates."""
        return self.loop.program

    @property
    def reached(self) -> float:
        """Time that the loop has reached [s]."""
        return float(self.loop.t[0])

    @property
    def state(self) -> FloatArray:
        """State that the loop has reached, in the coordinates of the system; a copy."""
        return self.loop.present[:, 0].copy()
