"""Simulation in one chunk: the run of a time loop that was over when it first returned."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from zwang.caching import computed_once
from zwang.codegen.environment import noted
from zwang.integrators import memory as sh
from zwang.programs.at_states import joined
from zwang.results.event_rows import changed
from zwang.results.run import Counts, Run
from zwang.results.segments import Beginning, RankChange, Segment
from zwang.results.status import status_of
from zwang.results.unbounded import told_unbounded
from zwang.simulation.interpolate import states_between
from zwang.simulation.notes import off_constraints_note
from zwang.simulation.rank_report import rank_changes
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.integrators.contract import Loop
    from zwang.integrators.output import Chunk, RankLog
    from zwang.programs.contract import Program
    from zwang.simulation.origin import Origin

__all__ = ["PlainRun", "RepeatedRun", "UnfinishedRun"]


#: What makes a run once more, with another tolerance and other times.
Again = Callable[[float, FloatArray], Run]


class RepeatedRun(NamedTuple):
    """What a loop did that had run before, and is over.

    Attributes
    ----------
    program, notes : what it integrated, and what runs of it say.
    t, y : states in the coordinates of the system, the start first.
    work : as counted.
    ended : when [s].
    ranks : what it wrote of changes of rank; they are looked at when they are asked for.
    """

    program: Program
    notes: tuple[str, ...]
    t: FloatArray
    y: FloatArray
    work: tuple[int, ...]
    ended: float
    ranks: Callable[[], list[RankLog]]


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
    """A run of one segment; its fields are put together when they are first asked for.

    Attributes
    ----------
    origin : what it was made from.
    done : what the loop did.
    """

    shown_as = "Run"
    origin: Origin
    done: RepeatedRun

    def __init__(
        self,
        origin: Origin | None = None,
        done: RepeatedRun | None = None,
        again: Again | None = None,
        **fields: Any,
    ) -> None:
        if origin is None:  # `dataclasses.replace` gives all fields, and nothing is to be asked for
            super().__init__(again=again, **fields)
        else:
            self.__dict__.update(system=origin.system, again=again, origin=origin, done=done)

    @computed_once
    def first(self) -> int:
        """Number of the first saved state among those of the loop."""
        return 0 if self.origin.saves_start else 1

    @computed_once
    def joined_states(self) -> FloatArray:
        """q and v side by side; of the loop's states the first is the start, saved or not."""
        if "done" not in self.__dict__:
            return joined(self.q, self.v)
        return self.done.y[self.first :]


def _times(run: PlainRun) -> FloatArray | None:
    times = run.origin.times
    return None if times is None else times.copy()


def _segments(run: PlainRun) -> tuple[Segment, ...]:
    origin, began = run.origin, None
    if run.first:
        began = Beginning(origin.t, run.done.y[0].copy(), origin.y)
    p = origin.p
    return (Segment(0, len(run.t), run.system, origin.parameters, began, flat_parameters=p),)


def _ranks(run: PlainRun) -> tuple[RankChange, ...]:
    origin, (program, *_), logs = run.origin, run.done, run.done.ranks()
    met = rank_changes(origin.system, program, logs, origin.parameters, origin.t)
    return (*origin.ranks_at_start(program), *met)


def _notes(run: PlainRun) -> tuple[str, ...]:
    origin, done = run.origin, run.done
    notes = origin.notes_at_start()
    notes += [note for note in done.notes if note not in notes]
    if origin.times is not None:
        equations = origin.system.equations
        off = off_constraints_note(equations, origin.settings, done.t, done.y, origin.p)
        notes += [off] if off else []
    # Unbounded forces are looked for in runs at other times, which have the notes of this one.
    return noted([*notes, *told_unbounded(changed(run, notes=noted(notes)))])


#: Field of a run → how it is made of what the loop did.
WHEN_ASKED: dict[str, Callable[[PlainRun], Any]] = {
    "t": lambda run: run.done.t[run.first :],
    "q": lambda run: run.joined_states[:, : len(run.system.coordinates)],
    "v": lambda run: run.joined_states[:, len(run.system.coordinates) :],
    "status": lambda run: status_of(run.counts, run.done.ended, sh.DONE, run.settings),
    "finished": lambda _: True,
    "settings": lambda run: run.origin.settings,
    "segments": _segments,
    "counts": lambda run: Counts(*run.done.work),
    "between": lambda _: states_between,
    "ranks": _ranks,
    "notes": _notes,
    "scales": lambda run: run.origin.scales.copy(),
    "watched": lambda _: {},
    "times": _times,
}
for _field, _make in WHEN_ASKED.items():
    setattr(PlainRun, _field, computed_once(_make, _field))
