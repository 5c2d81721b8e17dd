"""Simulation of an ensemble: trajectories side by side in SIMD lanes, groups of them in threads.

A lane keeps its own step and error control, so that a trajectory is the same, bit for bit, alone
and in company. What one of them cannot do does not stop the others: it ends with its own status.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import InputError, ZwangError
from zwang.integrators import memory as sh
from zwang.integrators.chunk_size import DRAGGING, TEDIOUS, ChunkSize
from zwang.integrators.explicit.loop import ExplicitLoop
from zwang.integrators.lane_queue import LaneQueue
from zwang.integrators.registry import start_loop
from zwang.integrators.settings import Drift, OnSingular
from zwang.results.certificate import certified, interval_of
from zwang.results.force_record import with_forces
from zwang.results.run import Run
from zwang.results.status import start_at_dead_center
from zwang.simulation.all_rows import misses_a_row
from zwang.simulation.ensemble_check import SHARE, TOGETHER, EnsembleStates, can_check, suspicious
from zwang.simulation.ensemble_runs import EnsembleContext, Runs, Trajectory
from zwang.simulation.guard import Guard
from zwang.simulation.interrupt import postponed_interrupt
from zwang.simulation.options import choices_of, require_flag, start_time
from zwang.simulation.progress import Report, reporting
from zwang.simulation.rank_report import (
    chosen_rows_lost_rank,
    nearly_dependent,
    rank_changes,
)
from zwang.simulation.select_program import ProgramStart, in_python, select_program
from zwang.simulation.simulate import simulate
from zwang.simulation.start import LANES, Starts
from zwang.simulation.threads import ThreadTeam
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.integrators.output import RankLog
    from zwang.programs.contract import Program
    from zwang.system import System
    from zwang.tracing.event import Watched

__all__ = ["ThreadShare", "simulate_many"]

#: Parts of an ensemble for each thread, so that none is idle for long at the end; and trajectories
#: of a part in each lane, one after the other, at most.
PARTS, MOST_TURNS = 4, 512
#: Trajectories that are looked at by themselves because their starts are suspicious.
MOST_SUSPECTS = 4


def simulate_many(
    system: System,
    q: Any,
    v: Any = None,
    *,
    until: float,
    start: float | None = None,
    tolerance: float = 1e-9,
    integrator: str = "auto",
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
    forces: bool = False,
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
        "forces": forces,
    }
    require_flag("forces", forces)
    interval = interval_of(certify)
    with postponed_interrupt() as interrupt, reporting(progress=progress) as report:
        crew = ThreadTeam(_threads(threads), interrupt, report)
        begin = start_time(q, start)
        runs = _simulate_many(system, q, v, until, begin, parameters or {}, choices, crew)
    if interval is None:
        return runs
    return Runs(len(runs), {i: certified(run, interval) for i, run in enumerate(runs)})


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
        chosen = {"tolerance": tolerance, "save": times, "coordinates": "absolute"}
        return alone(i, **chosen, integrator=settings.integrator, forces=False)

    settings, times, scales = choices_of(system, until=until, start=start, **_plain(choices))
    one_by_one = any(choices.get(name) for name in ("events", "inactive"))
    one_by_one = one_by_one or bool(in_python(system.equations, settings))
    # Each trajectory begins anew where its own parameters let forces or drivers switch.
    one_by_one = one_by_one or bool(system.equations.time_switches and settings.step == 0.0)
    automatic = settings.integrator == "auto" and not one_by_one
    if automatic:  # of those that it chooses among, the one whose trajectories run side by side
        settings = settings.by_states
    context = EnsembleContext(starts, settings, times, scales, crew.interrupt, again, automatic)
    if not len(starts):
        return Runs(0, {})
    if one_by_one or not settings.method.lanes:
        return _one_by_one(context, alone, crew)
    return _in_lanes(context, alone, crew, forces=choices["forces"])


def _one_by_one(context: EnsembleContext, alone: Callable[[int], Run], crew: ThreadTeam) -> Runs:
    """Simulate each start by itself."""
    count = len(context.starts)
    runs: dict[int, Run | Trajectory] = {}

    def work(i: int) -> Iterator[int]:
        runs[i] = _caught(context, alone, i)
        yield 1

    crew.share(work, count, count)
    return Runs(count, runs)


def _in_lanes(
    context: EnsembleContext, alone: Callable[..., Run], crew: ThreadTeam, *, forces: bool
) -> Runs:
    """Simulate starts side by side; those that fail on the way by themselves."""
    starts, settings = context.starts, context.settings
    runs: dict[int, Run | Trajectory] = {}
    groups = [_TrajectoryGroup.of(context, *group) for group in starts.programs(settings)]
    parts = [part for group in groups for part in group.parts(context, crew.threads)]
    for i, refusal in starts.refusals.items():
        runs[i] = Trajectory(context, i, refusal=refusal)

    def work(k: int) -> Iterator[int]:
        part = parts[k]
        yield from part.run()
        for i, stiff in part.failed():
            method = "auto" if stiff else settings.integrator
            runs[i] = _caught(context, partial(alone, integrator=method), i)
        if forces:
            for place, i in enumerate(part.members.tolist()):
                if i not in runs:
                    runs[i] = with_forces(Trajectory(context, i, part, place).run)

    began = perf_counter()
    crew.share(work, len(parts), len(starts) - len(starts.refusals))
    _look_at_starts(context, groups, parts, SHARE * (perf_counter() - began))
    for part in parts:  # those that had ended before their program was doubted
        for i in part.members.tolist() if part.ended_too_soon() else ():
            runs[i] = _caught(context, partial(alone, integrator=settings.integrator), i)
    return Runs(len(starts), runs, parts)


def _look_at_starts(
    context: EnsembleContext,
    groups: Sequence[_TrajectoryGroup],
    parts: Sequence[ThreadShare],
    seconds: float,
) -> None:
    """Doubt programs that do what the full terms do not say at the start of some member.

    Of all members, or of as many as so many seconds allow, see `ensemble_check`.
    """
    starts = context.starts
    equations = starts.system.equations
    if context.interrupt.asked or not can_check(equations):
        return
    for group in groups:
        own = [part for part in parts if part.group is group and not part.doubted]
        counts = [len(part.good) for part in own]
        guard = Guard(equations, context.settings)
        calls = guard.calls_of_many(group.program, group.p, sum(counts), seconds / len(groups))
        if not calls:
            continue
        places, of = np.concatenate([part.good for part in own]), np.repeat(range(len(own)), counts)
        states = EnsembleStates(
            np.concatenate([part.relay.begun[part.good, 0] for part in own]),
            np.concatenate([part.relay.begun[part.good, 1] for part in own]),
            starts.t,
            np.concatenate([part.relay.parameters[part.good] for part in own]),
            starts.P[np.concatenate([part.members[part.good] for part in own])],
        )
        with guard.looking_at_many(calls):
            found = suspicious(equations, group.program, states, calls * TOGETHER)
        for i in found[:MOST_SUSPECTS].tolist():
            if not own[of[i]].agrees(guard, [int(places[i])], at_end=False):
                context.doubted.append(group.program)
                break


#: Choices of `simulate` that `choices_of` does not know.
_OF_ONE = {"events", "inactive", "forces"}


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
    members: np.ndarray
    y: FloatArray
    p: FloatArray
    scales: FloatArray

    @classmethod
    def of(
        cls, context: EnsembleContext, program: Program, members: np.ndarray
    ) -> _TrajectoryGroup:
        """Let starts enter the coordinates of a program."""
        starts, carrier, scales = context.starts, program.carrier, context.scales
        y = np.concatenate([starts.q[members], starts.v[members]], axis=1)
        p = starts.P[members]
        if carrier is not None:
            y, p = carrier.entered_rows(y, starts.t, p)
            scales = carrier.scales(scales)
        return cls(program, members, y, p, scales)

    def parts(self, context: EnsembleContext, threads: int) -> list[ThreadShare]:
        """Some for each thread, so that all of them have work until the end."""
        count = len(self.members)
        size = LANES * min(max(-(-count // (LANES * PARTS * threads)), 1), MOST_TURNS)
        return [ThreadShare(context, self, slice(k, k + size)) for k in range(0, count, size)]


class ThreadShare:
    """Trajectories of a group that one thread runs, see `zwang.integrators.lane_queue`.

    Python has little to do between: where it and compiled code take turns every tenth of a
    millisecond, two threads wait for each other longer than they work.
    """

    relay: LaneQueue

    def __init__(self, context: EnsembleContext, group: _TrajectoryGroup, which: slice) -> None:
        self.context, self.program = context, group.program
        self.members, self.which, self.group = group.members[which], which, group
        self.doubted, self.good = False, np.zeros(0, dtype=int)
        self.left_dead = set[int]()  # trajectories that are not at a dead center, or no longer

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
            may_leave=context.may_leave,
        )
        assert isinstance(loop, ExplicitLoop)
        saves_first = times is None or bool(len(times) > 0 and times[0] == starts.t)
        return LaneQueue(loop, y, p, saves_first=saves_first)

    def run(self) -> Iterator[int]:
        """Integrate to the end, or until the user stops it; how many have ended by and by."""
        context, told = self.context, 0
        # Only now: what looks may cost is a share of the time of this part alone.
        guard = Guard(context.starts.system.equations, context.settings, short=0.0)
        interrupt, relay = context.interrupt, self._begin()
        self.relay, pace, code = relay, ChunkSize(relay), sh.BUDGET
        while code != sh.DONE and not interrupt.asked:
            code = pace.advance_relay(relay)
            if code == sh.SINGULAR:
                for lane, k, logs in relay.news():
                    if logs and not self._may_go_on(lane, int(self.members[k]), logs):
                        relay.drop(lane)
            self._drop_dead(relay)
            if relay.ended > told:
                yield relay.ended - told
                told = relay.ended
        relay.close()
        if self.program.left_out:
            self._require_rows()
        self._look(guard)

    def _drop_dead(self, relay: LaneQueue) -> None:
        """End trajectories that do not get away from a dead center: alone they say so."""
        settings, starts = self.context.settings, self.context.starts
        drivers = starts.system.equations.driver_names
        if not drivers or settings.step > 0.0:
            return
        for lane, k in relay.running:
            t = float(relay.loop.t[lane])
            tried = int(relay.loop.counts[[sh.ACCEPTS, sh.REJECTS], lane].sum())
            if tried <= DRAGGING or tried * (settings.until - t) <= TEDIOUS * (t - starts.t):
                continue
            if k in self.left_dead:
                continue
            y, p = relay.loop.present[:, lane], starts.P[self.members[k]]
            if not nearly_dependent(starts.system, self.program, y, t, p):
                self.left_dead.add(k)
                continue
            values = starts.system.parameter_values(starts.given(int(self.members[k])))
            changes = rank_changes(starts.system, self.program, relay.ranks(k), values, starts.t)
            always = len(self.program.idle_rows)
            if start_at_dead_center(changes, starts.t, always, drivers):
                relay.drop(lane)

    def _look(self, guard: Guard) -> None:
        """Let all fail whose program does what the full terms of the system do not say.

        They are simulated one by one then, each with a guard of its own.
        """
        relay = self.relay
        good = np.flatnonzero((relay.counts[sh.ACTIVE] == 0) & (relay.outcomes == sh.DONE))
        self.good = good
        if not len(good):
            return
        guard.begin_ensemble(self.program)
        if not self.agrees(guard, good[guard.rows(len(good))].tolist()):
            self.doubted = True
            self.context.doubted.append(self.program)
            relay.outcomes[:] = sh.SINGULAR

    def ended_too_soon(self) -> bool:
        """Whether its program was doubted after it had ended."""
        doubted = any(self.program is program for program in self.context.doubted)
        return doubted and not self.doubted

    def agrees(self, guard: Guard, some: list[int], *, at_end: bool = True) -> bool:
        """Whether some trajectories agree with the full terms, at their starts and ends."""
        relay, program, starts = self.relay, self.program, self.context.starts
        for k in some:
            inner, p = relay.parameters[k], starts.P[self.members[k]]
            t, y = relay.saved_in_own(k)
            looks = [(relay.begun[k, 0], starts.t)]
            looks += zip(y[-1:], t[-1:].tolist(), strict=True) if at_end else []
            for state in looks:
                found = guard.look(starts.system.equations, program, state, inner, p)
                if found is not None:
                    guard.doubt(program, found)
                    return False
        return True

    def _may_go_on(self, lane: int, i: int, logs: list[RankLog]) -> bool:
        """Whether a lane passes where rank was lost, with the same rows acting as before."""
        context, program, loop = self.context, self.program, self.relay.loop
        starts, settings = context.starts, context.settings
        if settings.on_singular is not OnSingular.CONTINUE:
            return False
        values = starts.system.parameter_values(starts.given(i))
        if not chosen_rows_lost_rank(starts.system, program, logs, values):
            return True
        now = ProgramStart(loop.present[:, lane], float(loop.t[lane]), starts.P[i])
        other = select_program(starts.system.equations, now, settings)
        return other.left_out == program.left_out

    def _require_rows(self) -> None:
        """Let those fail in which a row that does not act is not met, at first or on the way."""
        relay, starts = self.relay, self.context.starts
        y, a = relay.starts_and_accelerations()
        agree = starts.system.equations.agree(y, starts.t, starts.P[self.members[: len(y)]], a)
        for k, i in enumerate(self.members[: len(y)].tolist()):
            if not agree[k] or self._contradicts(k, i):
                relay.outcomes[k] = sh.SINGULAR

    def _contradicts(self, k: int, i: int) -> bool:
        """Whether a row that does not act is missed along a motion: alone it is looked at."""
        context, relay = self.context, self.relay
        if context.settings.drift is not Drift.PROJECTION:
            return False
        (t, y), starts = relay.saved(k), context.starts
        return misses_a_row(starts.system.equations, y, t, starts.P[i])

    def failed(self) -> list[tuple[int, bool]]:
        """Starts that failed on the way; whether for being stiff, so that another method is due."""
        outcomes = self.relay.outcomes
        return [
            (int(self.members[k]), bool(outcomes[k] == sh.LEAVES))
            for k in np.flatnonzero(outcomes != sh.DONE).tolist()
        ]


def _caught(context: EnsembleContext, alone: Callable[[int], Run], i: int) -> Run | Trajectory:
    """One run by itself; an error becomes its status."""
    try:
        return alone(i)
    except ZwangError as error:
        return Trajectory(context, i, refusal=str(error))
