"""Simulation: when a loop is to end before the simulation does, at samples and switches in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zwang.simulation.controllers import Sampling
from zwang.simulation.switching_times import Switching, SwitchingTimes
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.simulation.origin import Origin

__all__ = ["LoopEnds"]


class LoopEnds:
    """Samples of the controllers, and times at which forces or drivers switch.

    Attributes
    ----------
    sampling : None where there are no controllers.
    switch : the next one, if there is one, after the time that was last asked for.
    notes : what is to be said of switches.
    """

    def __init__(self, origin: Origin) -> None:
        self.sampling: Sampling | None = None
        if origin.controllers:
            self.sampling = Sampling(origin.system, origin.controllers, origin.t, origin.times)
        self.switch: Switching | None = None
        self.notes: list[str] = []
        self._origin, self._switching = origin, None

    def after(self, t: float, p: FloatArray) -> list[float]:
        """Times at which a loop is to end that begins at t with parameters p."""
        ends = [] if self.sampling is None else [self.sampling.next]
        equations = self._origin.system.equations
        if equations.time_switches:
            if self._switching is None:
                self._switching = SwitchingTimes(equations, self._origin.t, self._origin.settings)
            self.switch = self._switching.after(t, p)
            self.notes = self._switching.notes
        if self.switch is not None:
            ends.append(self.switch.before)
        return ends

    def sample_due(self, t: float) -> float | None:
        """When controllers are to act, if that is at a time or before."""
        due = None if self.sampling is None else self.sampling.next
        return None if due is None or due > t else due
