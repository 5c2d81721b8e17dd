"""Simulation of an ensemble, its result: runs by number, side by side as arrays.

Trajectories stay where they ran; the `zwang.Run` of one is made when it is first asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from zwang.codegen.environment import noted
from zwang.display import preformatted
from zwang.integrators import memory as sh
from zwang.integrators.contract import work_of
from zwang.integrators.explicit.loop import held_back
from zwang.integrators.settings import Settings
from zwang.results.run import Counts, Run
from zwang.results.segments import Segment, no_state
from zwang.results.status import status_of, stopped_by_user
from zwang.simulation.half_turns import HalfTurns
from zwang.simulation.interpolate import states_between
from zwang.simulation.interrupt import Interrupt
from zwang.simulation.open_laws import OpenMotion
from zwang.simulation.rank_report import always_dependent, left_out_note, rank_changes
from zwang.simulation.start import Starts
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.programs.contract import Program
    from zwang.simulation.ensemble import ThreadShare
    from zwang.simulation.ensemble_arrays import EnsembleArrays

__all__ = ["EnsembleContext", "EnsembleReaction", "Runs", "Trajectory"]

#: Reasons listed for runs that did not finish.
LISTED_FAILURES = 5


@dataclass(frozen=True)
class EnsembleReaction:
    """What a joint exerts on its second body in all runs of an ensemble.

    Attributes
    ----------
    joint : name.
    force, moment : shape (N, nt, 3), as of `zwang.Run.reaction`; NaN where a run has no state.
    determinate : whether they follow from the motion, booleans (N, nt).
    """

    joint: str
    force: FloatArray
    moment: FloatArray
    determinate: np.ndarray


def _side_by_side(count: int, found: Mapping[int, np.ndarray], empty: Any) -> np.ndarray:
    """Arrays (nt, …) of some of so many runs as one (N, nt, …)."""
    first = next(iter(found.values()))
    most = max(len(x) for x in found.values())
    result = np.full((count, most, *first.shape[1:]), empty, dtype=first.dtype)
    for i, values in found.items():
        result[i, : len(values)] = values
    return result


class Runs(Sequence[Run]):
    """The runs of an ensemble, in the order of their starts.

    One for each start; one that could not begin has no states and says why. A run is put together
    when it is first asked for.

    Parameters
    ----------
    count : how many.
    own : number of a start → its run, of those that ran by themselves or not at all.
    parts : of the ensemble, which have the others.
    """

    def __init__(
        self,
        count: int,
        own: Mapping[int, Run | Trajectory],
        parts: Sequence[ThreadShare] = (),
    ) -> None:
        self._count, self._own, self._parts = count, own, parts
        self._made: dict[int, Trajectory] = {}

    def _member(self, i: int) -> Run | Trajectory:
        found = self._own.get(i)  # which may have no states, and is one all the same
        found = self._made.get(i) if found is None else found
        if found is None:
            number, place = self._places[:, i].tolist()
            part = self._parts[number]
            found = self._made[i] = Trajectory(part.context, i, part, place)
        return found

    def _members(self) -> list[Run | Trajectory]:
        return [self._member(i) for i in range(len(self))]

    @cached_property
    def _places(self) -> np.ndarray:
        """The part that each start ran in, and its number there (2, N)."""
        result = np.zeros((2, len(self)), dtype=np.int64)
        for number, part in enumerate(self._parts):
            result[0, part.members] = number
            result[1, part.members] = np.arange(len(part.members))
        return result

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Runs: ...
    @overload
    def __getitem__(self, index: str) -> FloatArray: ...
    def __getitem__(self, index: int | slice | str) -> Run | Runs | FloatArray:
        """A run by number, some of them, or a channel of all by name, (N, nt) or (N, nt, 3).

        Names are those of ``run[name]``. Where a run has fewer saved states than others, what
        follows its last one is NaN.
        """
        if isinstance(index, str):
            return self._over_members(lambda run: run[index])
        if isinstance(index, slice):
            some = [self._member(i) for i in range(len(self))[index]]
            return Runs(len(some), dict(enumerate(some)))
        found = self._member(range(len(self))[index])
        return found if isinstance(found, Run) else found.run

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Run]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<{len(self)} runs, {int(self.finished.sum())} finished>"

    def _repr_html_(self) -> str:
        counts = Counter(self._member(i).status for i in np.flatnonzero(~self.finished).tolist())
        lines = [f"{count} × {why}" for why, count in counts.most_common(LISTED_FAILURES)]
        return preformatted("\n".join([repr(self).strip("<>"), *lines]))

    @property
    def runs(self) -> tuple[Run, ...]:
        """All of them."""
        return tuple(self)

    @property
    def status(self) -> tuple[str, ...]:
        """How each run ended."""
        return tuple(run.status for run in self._members())

    @property
    def finished(self) -> np.ndarray:
        """Which runs reached their end, booleans (N,)."""
        result = np.zeros(len(self), dtype=bool)
        for part in self._parts:
            result[part.members] = part.relay.counts[sh.ACTIVE] == 0
        for i, run in self._own.items():
            result[i] = run.finished
        return result

    @property
    def parted(self) -> list[int]:
        """Numbers of runs with events, samples of controllers or switches, in several segments."""
        own = self._own.items()
        return sorted(i for i, run in own if isinstance(run, Run) and len(run.segments) > 1)

    def arrays(self, count: int) -> EnsembleArrays:
        """Saved states, work and outcome of all runs as arrays, without a `Run` for each.

        Parameters
        ----------
        count : how many states each was to save.
        """
        from zwang.simulation.ensemble_arrays import ensemble_arrays

        size = 0
        if self._parts:
            size = len(self._parts[0].context.scales)
        elif len(self):
            size = self[0].q.shape[1] + self[0].v.shape[1]
        return ensemble_arrays(self._own, self._parts, (len(self), count, size))

    @property
    def t(self) -> FloatArray:
        """Saved times of each run (N, nt), NaN after its last one."""
        return self._over_members(lambda run: run.t)

    def reaction(self, joint: str, axes: str = "world") -> EnsembleReaction:
        """Force and moment of a joint in all runs, see `zwang.Run.reaction`."""
        found = {i: run.reaction(joint, axes) for i, run in enumerate(self) if len(run)}
        if not found:
            raise no_state()
        force, moment, determinate = (
            _side_by_side(len(self), {i: getattr(r, name) for i, r in found.items()}, empty)
            for name, empty in (("force", np.nan), ("moment", np.nan), ("determinate", False))
        )
        return EnsembleReaction(joint, force, moment, determinate)

    def multipliers(self, name: str | None = None) -> FloatArray:
        """λ of one constraint, or of all rows, in all runs, shape (N, nt, rows)."""
        return self._over_members(lambda run: run.multipliers(name))

    def _over_members(self, values: Callable[[Run], FloatArray]) -> FloatArray:
        """What each run with saved states gives, side by side."""
        found = {i: np.asarray(values(run)) for i, run in enumerate(self) if len(run)}
        if not found:
            raise no_state()
        return _side_by_side(len(self), found, np.nan)

    @property
    def last(self) -> tuple[FloatArray, FloatArray]:
        """Last saved q (N, nq) and v (N, nv) of each run, NaN where there is none.

        Those in which runs ended, by an event too, unless times were given to save at.
        """

        def end(x: FloatArray) -> FloatArray:
            return x[-1] if len(x) else np.full(x.shape[1], np.nan)

        runs = self._members()
        return np.array([end(r.q) for r in runs]), np.array([end(r.v) for r in runs])


@dataclass(frozen=True)
class EnsembleContext:
    """What all trajectories of an ensemble share.

    Attributes
    ----------
    may_leave : whether stiff ones may be left to another method than that of the settings.
    doubted : programs that do what the full terms of the system do not say.
    """

    starts: Starts
    settings: Settings
    times: FloatArray | None
    scales: FloatArray
    interrupt: Interrupt
    again: Callable[[int, float, FloatArray], Run]
    may_leave: bool
    doubted: list[Program] = field(default_factory=list)


@dataclass
class Trajectory:
    """A trajectory that has ended, or was refused; its `run` is made on first use.

    Attributes
    ----------
    number : of its start.
    part, place : the part of the ensemble that it ran in, and its number there.
    refusal : why there is none.
    """

    context: EnsembleContext
    number: int
    part: ThreadShare | None = None
    place: int = 0
    refusal: str = ""

    @property
    def finished(self) -> bool:
        """Whether it reached its end."""
        return self.part is not None and not self.part.relay.counts[sh.ACTIVE, self.place]

    @property
    def counts(self) -> Counts:
        """The work that it took."""
        if self.part is None:
            return Counts()
        return Counts(*work_of(self.part.relay.counts, self.place))

    @property
    def status(self) -> str:
        """How it ended, as a sentence."""
        if self.part is None:
            return self.refusal
        relay, k = self.part.relay, self.place
        end, stiff = float(relay.ends[k]), held_back(relay.counts[:, k])
        if not self.finished:
            return stopped_by_user(end)
        return status_of(self.counts, end, sh.DONE, self.context.settings, held_back=stiff)

    @cached_property
    def saved(self) -> tuple[FloatArray, FloatArray]:
        """Saved times (nt,) and states (nt, n)."""
        if self.part is None:
            return np.zeros(0), np.zeros((0, len(self.context.scales)))
        return self.part.relay.saved(self.place)

    @property
    def q(self) -> FloatArray:
        """Saved coordinates (nt, nq)."""
        return self.saved[1][:, : self.context.starts.q.shape[1]]

    @property
    def v(self) -> FloatArray:
        """Saved velocities (nt, nv)."""
        return self.saved[1][:, self.context.starts.q.shape[1] :]

    @cached_property
    def run(self) -> Run:
        """The same as `simulate` gives."""
        c, i = self.context, self.number
        system = c.starts.system
        parameters = system.parameter_values(c.starts.given(i))
        notes, ranks = c.starts.notes.get(i, ()), []
        if self.part is not None:
            program = self.part.program
            if program.idle_rows:
                notes = (*notes, left_out_note(system, program.idle_rows))
                start = c.starts.state(i), c.starts.t, parameters
                ranks.append(always_dependent(system, program, *start))
            if program.carrier is not None:
                notes = (*notes, f"integrated in {program.carrier.name} coordinates")
            notes = (*notes, *HalfTurns(system).notes(*self.saved, parameters))
            notes = (*notes, *self._open_motion(len(program.idle_rows)))
            logs = self.part.relay.ranks(self.place)
            ranks += rank_changes(system, program, logs, parameters, c.starts.t)
        return Run(
            system,
            self.saved[0],
            self.q,
            self.v,
            self.status,
            self.finished,
            c.settings,
            (Segment(0, len(self.saved[0]), system, parameters),),
            self.counts,
            states_between,
            (),
            tuple(ranks),
            noted(notes),
            c.scales,
            partial(c.again, i),
            times=c.times,
        )

    def _open_motion(self, idle: int) -> list[str]:
        """What there is to say of laws that use reactions which are not determinate."""
        starts, i = self.context.starts, self.number
        laws = starts.laws.get(i)
        if laws is None:
            return []
        start, tolerance = (starts.state(i), starts.t, starts.P[i]), self.context.settings.tolerance
        equations = starts.system.equations
        motion = OpenMotion(equations, start, laws, idle=idle, tolerance=tolerance)
        return motion.notes(*self.saved, starts.P[i]) or motion.notes_at_end()
