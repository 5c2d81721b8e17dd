"""Simulation in one chunk: the run of a time loop that was over when it first returned."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from zwang.caching import computed_once
from zwang.codegen.environment import noted
from zwang.integrators import memory as sh
from zwang.integrators.settings import Settings
from zwang.results.run import Beginning, Counts, RankChange, Run, Segment
from zwang.results.status import status_of
from zwang.simulation.interpolate import states_between
from zwang.simulation.rank_report import left_out_note
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.integrators.contract import Loop
    from zwang.integrators.output import Chunk
    from zwang.programs.contract import Program
    from zwang.simulation.origin import Origin
    from zwang.system import System
    from zwang.tracing.event import Event

__all__ = ["PlainRun", "RepeatedRun", "UnfinishedRun", "program_notes"]


class RepeatedRun(NamedTuple):
    """What a loop did that had run before, and is over.

    Attributes
    ----------
    program, notes : what it integrated, and what runs of it say.
    t, y : states in the coordinates of the system, the start first.
    work : as counted.
    ended : when [s].
    """

    program: Program
    notes: tuple[str, ...]
    t: FloatArray
    y: FloatArray
    work: tuple[int, ...]
    ended: float


class UnfinishedRun(NamedTuple):
    """What a loop did that had run before, and is not over, or to be looked at.

    Attributes
    ----------
    notes : what runs of its program say.
    loop, chunk : where it returned, and what it saved, the start first.
    first : the start in the coordinates of the system.
    """

    notes: tuple[str, ...]
    loop: Loop
    chunk: Chunk
    first: FloatArray


class PlainRun(Run):
    """A run of one segment; what it says besides its states is put together when it is asked."""

    shown_as = "Run"
    _origin: Origin
    _done: RepeatedRun

    def __init__(self, origin: Origin, done: RepeatedRun) -> None:
        self.__dict__.update(system=origin.system, _origin=origin, _done=done)

    @computed_once
    def t(self) -> FloatArray:
        """Saved times."""
        return self._done.t[self._first :]

    @computed_once
    def q(self) -> FloatArray:
        """Coordinates at these times."""
        return self._done.y[self._first :, : len(self.system.coordinates)]

    @computed_once
    def v(self) -> FloatArray:
        """Velocities at these times."""
        return self._done.y[self._first :, len(self.system.coordinates) :]

    @property
    def _first(self) -> int:
        """The first state that is one of the run: all are known from the start on."""
        return 0 if self._origin.saves_start else 1

    @computed_once
    def finished(self) -> bool:
        """That it reached its end."""
        return True

    @computed_once
    def settings(self) -> Settings:
        """All choices that decide its numbers."""
        return self._origin.settings

    @computed_once
    def between(self) -> Callable[[Run, FloatArray], tuple[FloatArray, FloatArray]]:
        """States at other times."""
        return states_between

    @computed_once
    def scales(self) -> FloatArray:
        """Sizes below which errors are absolute."""
        return self._origin.scales.copy()

    @computed_once
    def again(self) -> Callable[[float, FloatArray], Run]:
        """Makes it once more."""
        return self._origin.again

    @computed_once
    def watched(self) -> dict[str, Event]:
        """No events."""
        return {}

    @computed_once
    def times(self) -> FloatArray | None:
        """Those at which states were to be saved."""
        times = self._origin.times
        return None if times is None else times.copy()

    @computed_once
    def status(self) -> str:
        """How it ended."""
        return status_of(self.counts, self._done.ended, sh.DONE, self.settings)

    @computed_once
    def segments(self) -> tuple[Segment, ...]:
        """The one that it consists of."""
        origin, began = self._origin, None
        if self._first:
            began = Beginning(origin.t, self._done.y[0].copy(), origin.y)
        return (Segment(0, len(self.t), self.system, origin.parameters, began),)

    @computed_once
    def counts(self) -> Counts:
        """Work done."""
        return Counts(*self._done.work)

    @computed_once
    def ranks(self) -> tuple[RankChange, ...]:
        """Rows that do not act."""
        return tuple(self._origin.ranks_at_start(self._done.program))

    @computed_once
    def notes(self) -> tuple[str, ...]:
        """What is to be said of it."""
        notes = self._origin.notes_at_start()
        return noted([*notes, *(note for note in self._done.notes if note not in notes)])


def program_notes(system: System, program: Program) -> tuple[str, ...]:
    """What runs of a program say of it."""
    notes = [left_out_note(system, program.left_out)] if program.left_out else []
    if program.carrier is not None:
        notes.append(f"integrated in {program.carrier.name} coordinates")
    return tuple(notes)
