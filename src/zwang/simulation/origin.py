"""All that decides a simulation, kept with its run: enough to make it, and to make it once more."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.arguments.values import angle_notes
from zwang.integrators.settings import Settings
from zwang.results.records import settings_of
from zwang.results.segments import RankChange
from zwang.simulation.options import JUMP_NOTE
from zwang.simulation.rank_report import always_dependent
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.programs.contract import Program
    from zwang.results.store import Stored
    from zwang.simulation.controllers import Controller
    from zwang.system import System
    from zwang.tracing.event import Event

__all__ = ["Origin"]


class Origin(NamedTuple):
    """All that decides a simulation: enough to make it, and to make it once more.

    Attributes
    ----------
    inactive : constraints that do not act at the start.
    parameters, p : the same numbers, by name and as one array.
    y, t : state and time of the start.
    notes : what was said when the start was found.
    """

    system: System
    settings: Settings
    times: FloatArray | None
    scales: FloatArray
    events: Mapping[str, Event]
    inactive: frozenset[str]
    parameters: Mapping[str, Any]
    p: FloatArray
    y: FloatArray
    t: float
    notes: tuple[str, ...] = ()
    controllers: Mapping[str, Controller] = MappingProxyType({})

    @classmethod
    def of(
        cls,
        stored: Stored,
        system: System,
        events: Mapping[str, Event],
        controllers: Mapping[str, Controller],
    ) -> Origin:
        """That of a stored run."""
        header = stored.header
        start = header["start"]
        values = {k: np.array(v) for k, v in header["parameters"].items()}
        return cls(
            system,
            settings_of(header),
            stored.times(),
            np.array(header["scales"]),
            dict(events),
            frozenset(start["inactive"]),
            values,
            system.parameter_vector(values),
            np.array([*start["q"], *start["v"]], dtype=float),
            start["t"],
            controllers=controllers,
        )

    @property
    def saves_start(self) -> bool:
        """Whether the start is among the states to be saved."""
        times = self.times
        return times is None or bool(len(times) and times[0] == self.t)

    def notes_at_start(self) -> list[str]:
        """What a run says before it begins."""
        parts = self.system.mechanism
        steps_over = self.settings.integrator == "gauss" and self.system.equations.jumps
        return [
            *self.notes,
            *(() if parts is None else parts.notes),
            *([JUMP_NOTE] if steps_over else []),
            *self._slow_controllers(),
            *self._far_angles(),
        ]

    def _far_angles(self) -> list[str]:
        """Of events at angles beyond a full turn: degrees may have been given for radians."""
        return [
            f"event {name!r}: {note}; angles of events count modulo 2π"
            for name, e in self.events.items()
            if isinstance(e.function, str) and e.function in self.system.channels
            for note in angle_notes({e.function: e.at})
        ]

    def _slow_controllers(self) -> list[str]:
        """Of controllers that would act once: a rate may have been given for a period."""
        span = self.settings.until - self.t
        return [
            f"controller {name!r} has a period of {c.period:g} s, longer than the {span:g} s that "
            f"are simulated, and acts once; {c.period:g} samples a second are a period of "
            f"{1.0 / c.period:g} s"
            for name, c in self.controllers.items()
            if c.period > span
        ]

    def ranks_at_start(self, program: Program) -> list[RankChange]:
        """Rows that do not act, as dependent from the start on."""
        if not program.idle_rows:
            return []
        return [always_dependent(self.system, program, self.y, self.t, self.parameters)]
