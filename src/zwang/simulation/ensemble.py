"""Many trajectories of one system: eight side by side in vector lanes, parts of them in threads.

A lane keeps its own step and error control, so that a trajectory is the same, bit for bit, alone
and in company. What one of them cannot do does not stop the others: it ends with its own status.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from zwang.codegen.environment import noted
from zwang.errors import InputError, ZwangError
from zwang.integrators import memory as sh
from zwang.integrators.chunk_size import ChunkSize
from zwang.integrators.contract import met_all_rows, work_of
from zwang.integrators.explicit.loop import ExplicitLoop, held_back
from zwang.integrators.lane_queue import LaneQueue
from zwang.integrators.registry import start_loop
from zwang.integrators.settings import Drift, OnSingular, Settings
from zwang.results.certificate import certified, interval_of
from zwang.results.run import Counts, Run, Segment
from zwang.results.status import status_of, stopped_by_user
from zwang.simulation.guard import Guard
from zwang.simulation.interpolate import states_between
from zwang.simulation.interrupt import Interrupt, postponed_interrupt
from zwang.simulation.options import choices_of
from zwang.simulation.progress import Report, reporting
from zwang.simulation.rank_report import (
    BROKEN,
    always_dependent,
    broken_row,
    chosen_rows_lost_rank,
    left_out_note,
    rank_changes,
)
from zwang.simulation.select_program import ProgramStart, in_python, select_program
from zwang.simulation.simulation import simulate
from zwang.simulation.start import LANES, Starts, start_time
from zwang.simulation.threads import ThreadTeam
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.integrators.output import RankLog
    from zwang.programs.contract import Program
    from zwang.system import System
    from zwang.tracing.event import Watched

__all__ = ["Runs", "simulate_many"]

#: Parts of an ensemble for each thread, so that none is idle for long at the end; and trajectories
#: of a part in each lane, one after the other, at most.
PARTS, MOST_TURNS = 4, 64


class Runs(Sequence[Run]):
    """The runs of an ensemble, in the order of their starts.

    One for each start; one that could not begin has no states and says why. A run is put together
    when it is first asked for.
    """

    def __init__(self, runs: Sequence[Run | _Trajectory]) -> None:
        self._runs = list(runs)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Runs: ...
    def __getitem__(self, index: int | slice) -> Run | Runs:
        if isinstance(index, slice):
            return Runs(self._runs[index])
        found = self._runs[index]
        return found if isinstance(found, Run) else found.run

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<{len(self)} runs, {int(self.finished.sum())} finished>"

    @property
    def runs(self) -> tuple[Run, ...]:
        """All of them."""
        return tuple(self)

    @property
    def status(self) -> tuple[str, ...]:
        """How each run ended."""
        return tuple(run.status for run in self._runs)

    @property
    def finished(self) -> np.ndarray:
        """Which runs reached their end, booleans (N,)."""
        return np.array([run.finished for run in self._runs], dtype=bool)

    @property
    def last(self) -> tuple[FloatArray, FloatArray]:
        """Last saved q (N, nq) and v (N, nv) of each run, NaN where there is none."""

        def end(x: FloatArray) -> FloatArray:
            return x[-1] if len(x) else np.full(x.shape[1], np.nan)

        return np.array([end(r.q) for r in self._runs]), np.array([end(r.v) for r in self._runs])


@dataclass(frozen=True)
class _Context:
    """What all trajectories of an ensemble share."""

    starts: Starts
    settings: Settings
    times: FloatArray | None
    scales: FloatArray
    interrupt: Interrupt
    again: Callable[[int, float, FloatArray], Run]


@dataclass
class _Trajectory:
    """A trajectory that has ended, or was refused; its `run` is made on first use.

    Attributes
    ----------
    number : of its start.
    part, place : the part of the ensemble that it ran in, and its number there.
    refusal : why there is none.
    """

    context: _Context
    number: int
    part: _ThreadShare | None = None
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
            if program.left_out:
                notes = (*notes, left_out_note(system, program.left_out))
                start = c.starts.state(i), c.starts.t, parameters
                ranks.append(always_dependent(system, program, *start))
            if program.carrier is not None:
                notes = (*notes, f"integrated in {program.carrier.name} coordinates")
            logs = self.part.relay.ranks(self.place)
            ranks += rank_changes(system, program, logs, parameters)
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


def simulate_many(
    system: System,
    q: Any,
    v: Any = None,
    *,
    until: float,
    start: float | None = None,
    tolerance: float = 1e-9,
    integrator: str = "order8",
    drift: str = "projection",
    baumgarte: float = 20.0,
    step: float = 0.0,
    largest_step: float = float("inf"),
    spectral_radius: float = 0.8,
    formulation: str = "auto",
    on_singular: str = "continue",
    coordinates: str = "auto",
    save: Any = None,
    scales: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | None = None,
    events: Mapping[str, Watched] | None = None,
    inactive: Iterable[str] | str | None = (),
    threads: int | None = None,
    progress: bool | Report | None = None,
    certify: bool | float = False,
) -> Runs:
    """Integrate many trajectories; `zwang.System.simulate_many` documents the arguments."""
    choices = {
        "tolerance": tolerance,
        "integrator": integrator,
        "drift": drift,
        "baumgarte": baumgarte,
        "step": step,
        "largest_step": largest_step,
        "spectral_radius": spectral_radius,
        "formulation": formulation,
        "on_singular": on_singular,
        "coordinates": coordinates,
        "save": save,
        "scales": scales,
        "events": events,
        "inactive": inactive,
    }
    interval = interval_of(certify)
    with postponed_interrupt() as interrupt, reporting(progress=progress) as report:
        crew = ThreadTeam(_threads(threads), interrupt, report)
        begin = start_time(q, start)
        runs = _simulate_many(system, q, v, until, begin, parameters or {}, choices, crew)
    return runs if interval is None else Runs([certified(run, interval) for run in runs])


def _threads(given: int | None) -> int:
    """How many threads to take: one for each processor, if nobody says."""
    if given is None:
        return os.cpu_count() or 1
    if not isinstance(given, (int, np.integer)) or given < 1:
        raise InputError("threads", found=repr(given), expected="a positive whole number")
    return int(given)


def _simulate_many(
    system: System,
    q: Any,
    v: Any,
    until: float,
    start: float,
    parameters: Mapping[str, Any],
    choices: dict[str, Any],
    crew: ThreadTeam,
) -> Runs:
    starts = Starts(system, q, v, start, parameters)

    def alone(i: int, **other: Any) -> Run:
        chosen = {**choices, **other, "progress": False}
        return simulate(
            system,
            starts.q[i],
            starts.v[i],
            until=until,
            start=start,
            parameters=starts.given(i),
            **chosen,
        )

    def again(i: int, tolerance: float, times: FloatArray) -> Run:
        return alone(i, tolerance=tolerance, save=times, coordinates="absolute")

    settings, times, scales = choices_of(system, until=until, start=start, **_plain(choices))
    context = _Context(starts, settings, times, scales, crew.interrupt, again)
    runs: list[Any] = [None] * len(starts)
    if not len(starts):
        return Runs([])
    if (
        any(choices.get(name) for name in ("events", "inactive"))
        or not settings.method.lanes
        or in_python(system, settings)
    ):

        def work_alone(i: int) -> Iterator[int]:
            runs[i] = _caught(context, alone, i)
            yield 1

        crew.share(work_alone, len(starts), len(starts))
        return Runs(runs)
    groups = [_TrajectoryGroup.of(context, *group) for group in starts.programs(settings)]
    parts = [part for group in groups for part in group.parts(context, crew.threads)]
    for i, refusal in starts.refusals.items():
        runs[i] = _Trajectory(context, i, refusal=refusal)

    def work(k: int) -> Iterator[int]:
        yield from parts[k].run()
        for i, run in zip(parts[k].members, parts[k].ended(), strict=True):
            runs[i] = run if run is not None else _caught(context, alone, i)

    crew.share(work, len(parts), len(starts) - len(starts.refusals))
    return Runs(runs)


#: Choices of `simulate` that `choices_of` does not know.
_OF_ONE = {"events", "inactive"}


def _plain(choices: Mapping[str, Any]) -> dict[str, Any]:
    """The choices that decide the numbers of every trajectory alike."""
    return {name: value for name, value in choices.items() if name not in _OF_ONE}


@dataclass(frozen=True)
class _TrajectoryGroup:
    """Trajectories with one program, in the coordinates of that.

    Attributes
    ----------
    members : numbers of the starts.
    y, p : states and parameters of them, a row each.
    scales : of y.
    """

    program: Program
    members: list[int]
    y: FloatArray
    p: FloatArray
    scales: FloatArray

    @classmethod
    def of(cls, context: _Context, program: Program, members: list[int]) -> _TrajectoryGroup:
        """Let starts enter the coordinates of a program."""
        starts, carrier, scales = context.starts, program.carrier, context.scales
        y = np.concatenate([starts.q[members], starts.v[members]], axis=1)
        p = starts.P[members]
        if carrier is not None:
            y, p = carrier.entered_rows(y, starts.t, p)
            scales = carrier.scales(scales)
        return cls(program, members, y, p, scales)

    def parts(self, context: _Context, threads: int) -> list[_ThreadShare]:
        """Some for each thread, so that all of them have work until the end."""
        count = len(self.members)
        size = LANES * min(max(-(-count // (LANES * PARTS * threads)), 1), MOST_TURNS)
        return [_ThreadShare(context, self, slice(k, k + size)) for k in range(0, count, size)]


class _ThreadShare:
    """Trajectories of a group that one thread runs, see `zwang.integrators.lane_queue`.

    Python has little to do between: where it and compiled code take turns every tenth of a
    millisecond, two threads wait for each other longer than they work.
    """

    relay: LaneQueue

    def __init__(self, context: _Context, group: _TrajectoryGroup, which: slice) -> None:
        self.context, self.program = context, group.program
        self.members, self.which, self.group = group.members[which], which, group
        self.guard = Guard(context.starts.system, context.settings)

    def _begin(self) -> LaneQueue:
        context, program, group = self.context, self.program, self.group
        starts, times = context.starts, context.times
        y, p = group.y[self.which], group.p[self.which]
        some = np.arange(LANES) % len(y)
        loop = start_loop(
            program,
            context.settings,
            starts.t,
            y[some].T,
            p[some].T,
            times=times,
            scales=group.scales,
            carried=True,
        )
        assert isinstance(loop, ExplicitLoop)
        saves_first = times is None or (len(times) > 0 and times[0] == starts.t)
        return LaneQueue(loop, y, p, saves_first=saves_first)

    def run(self) -> Iterator[int]:
        """Integrate to the end, or until the user stops it; how many have ended by and by."""
        interrupt, relay, told = self.context.interrupt, self._begin(), 0
        self.relay, pace, code = relay, ChunkSize(relay), sh.BUDGET
        while code != sh.DONE and not interrupt.asked:
            code = pace.advance_relay(relay)
            if code == sh.SINGULAR:
                for lane, k, logs in relay.news():
                    if logs and not self._may_go_on(lane, self.members[k], logs):
                        relay.drop(lane)
            if relay.ended > told:
                yield relay.ended - told
                told = relay.ended
        relay.close()
        if self.program.left_out:
            self._require_rows()
        self._look()

    def _look(self) -> None:
        """Let all fail whose program does what the full terms of the system do not say.

        They are simulated one by one then, each with a guard of its own.
        """
        context, relay, program = self.context, self.relay, self.program
        starts, guard = context.starts, self.guard
        good = (relay.counts[sh.ACTIVE] == 0) & (relay.outcomes == sh.DONE)
        for k in np.flatnonzero(good).tolist():
            guard.begin(program, starts.P[self.members[k]])
            if not guard.wanted(1):
                continue
            inner, p = relay.parameters[k], starts.P[self.members[k]]
            t, y = relay.saved_in_own(k)
            looks = [(relay.begun[k, 0], starts.t), *zip(y[-1:], t[-1:].tolist(), strict=True)]
            for state in looks:
                found = guard.look(starts.system, program, state, inner, p)
                if found is not None:
                    guard.doubt(program, found)
                    relay.outcomes[:] = sh.SINGULAR
                    return

    def _may_go_on(self, lane: int, i: int, logs: list[RankLog]) -> bool:
        """Whether a lane passes where rank was lost, with the same rows acting as before."""
        context, program, loop = self.context, self.program, self.relay.loop
        starts, settings = context.starts, context.settings
        if settings.on_singular is not OnSingular.CONTINUE:
            return False
        values = starts.system.parameter_values(starts.given(i))
        if not chosen_rows_lost_rank(starts.system, program, logs, values):
            return True
        now, system = (
            ProgramStart(loop.present[:, lane], float(loop.t[lane]), starts.P[i]),
            starts.system,
        )
        other = select_program(system, now, settings, system.cache)
        return other.left_out == program.left_out

    def _require_rows(self) -> None:
        """Let those fail in which a row that does not act is not met, at first or on the way."""
        relay, starts = self.relay, self.context.starts
        y, a = relay.starts_and_accelerations()
        agree = starts.system.agree(y, starts.t, starts.P[self.members[: len(y)]], a)
        for k, i in enumerate(self.members[: len(y)]):
            if not agree[k] or self._contradicts(k, i):
                relay.outcomes[k] = sh.SINGULAR

    def _contradicts(self, k: int, i: int) -> bool:
        """Whether a row that does not act is missed along a motion."""
        context, relay = self.context, self.relay
        met = met_all_rows(self.program, relay.counts[:, k])
        if context.settings.drift is not Drift.PROJECTION or met:
            return False
        (t, y), starts = relay.saved(k), context.starts
        system, nq, p = starts.system, starts.q.shape[1], starts.P[i]
        if system.largest_miss(y, t, p) <= BROKEN:
            return False
        return bool(broken_row(system, self.program.left_out, y[:, :nq], y[:, nq:], t, p))

    def ended(self) -> list[_Trajectory | None]:
        """What there is of each; None for one that failed on the way."""
        outcomes = self.relay.outcomes.tolist()
        return [
            _Trajectory(self.context, i, self, k) if outcomes[k] == sh.DONE else None
            for k, i in enumerate(self.members)
        ]


def _caught(context: _Context, alone: Callable[[int], Run], i: int) -> Run | _Trajectory:
    """One run by itself; an error becomes its status."""
    try:
        return alone(i)
    except ZwangError as error:
        return _Trajectory(context, i, refusal=str(error))
