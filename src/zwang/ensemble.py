"""Many trajectories of one system: four side by side in vector lanes, groups of them in threads.

A lane keeps its own step and error control, so that a trajectory is the same, bit for bit, alone
and in company. What one of them cannot do does not stop the others: it ends with its own status.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from zwang.between import states_between
from zwang.choices import choices_of, require_known
from zwang.crew import Crew
from zwang.errors import InputError, ZwangError
from zwang.integrators import shared as sh
from zwang.integrators.choose import start_loop
from zwang.integrators.loop import Loop, work_of
from zwang.integrators.pace import Pace
from zwang.integrators.settings import Drift, OnSingular, Settings
from zwang.interrupt import Interrupt, postponed_interrupt
from zwang.programs import in_python, program_of
from zwang.progress import Report, reporting
from zwang.redundancy import (
    BROKEN,
    always_dependent,
    broken_row,
    chosen_rows_lost_rank,
    left_out_note,
    rank_changes,
)
from zwang.run.certificate import certified, interval_of
from zwang.run.run import Counts, Run, Segment
from zwang.run.status import status_of, stopped_by_user
from zwang.simulate import CHOICES, simulate
from zwang.starts import LANES, Starts
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.integrators.loop import Chunk
    from zwang.system import System

__all__ = ["Runs", "simulate_many"]

#: Packs of trajectories that are made ready before they run: little memory, and enough for threads.
AT_ONCE = 256


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
    """A trajectory that has ended, or was refused; its `run` is made on first use."""

    context: _Context
    number: int
    pack: _Pack | None = None
    lane: int = 0
    refusal: str = ""

    @property
    def finished(self) -> bool:
        """Whether it reached its end."""
        return self.pack is not None and not self.pack.counts[sh.ACTIVE, self.lane]

    @property
    def status(self) -> str:
        """How it ended, as a sentence."""
        if self.pack is None:
            return self.refusal
        end, stiff = self.pack.ends[self.lane], self.pack.held_back[self.lane]
        if not self.finished:
            return stopped_by_user(end)
        settings, counts = self.context.settings, Counts(*work_of(self.pack.counts, self.lane))
        return status_of(counts, end, sh.DONE, settings, held_back=stiff)

    @cached_property
    def saved(self) -> tuple[FloatArray, FloatArray]:
        """Saved times (nt,) and states (nt, n)."""
        if self.pack is None:
            return np.zeros(0), np.zeros((0, len(self.context.scales)))
        return self.pack.saved(self.lane)

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
        notes, ranks, counts = c.starts.notes.get(i, ()), [], Counts()
        if self.pack is not None:
            program, counts = self.pack.program, Counts(*work_of(self.pack.counts, self.lane))
            if program.left_out:
                notes = (*notes, left_out_note(system, program.left_out))
                start = c.starts.state(i), c.starts.t, parameters
                ranks.append(always_dependent(system, program, *start))
            if program.carrier is not None:
                notes = (*notes, f"integrated in {program.carrier.name} coordinates")
            logs = [log for chunk in self.pack.chunks for log in chunk.ranks(self.lane)]
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
            counts,
            states_between,
            (),
            tuple(ranks),
            notes,
            c.scales,
            partial(c.again, i),
        )


def simulate_many(
    system: System,
    q: Any,
    v: Any = None,
    *,
    until: float,
    start: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
    threads: int | None = None,
    progress: bool | Report | None = None,
    certify: bool | float = False,
    **choices: Any,
) -> Runs:
    """Integrate many trajectories; `zwang.System.simulate_many` documents the arguments."""
    interval = interval_of(certify)
    with postponed_interrupt() as interrupt, reporting(progress=progress) as report:
        crew = Crew(threads or os.cpu_count() or 1, interrupt, report)
        runs = _simulate_many(system, q, v, until, start, parameters or {}, choices, crew)
    return runs if interval is None else Runs([certified(run, interval) for run in runs])


def _simulate_many(
    system: System,
    q: Any,
    v: Any,
    until: float,
    start: float,
    parameters: Mapping[str, Any],
    choices: dict[str, Any],
    crew: Crew,
) -> Runs:
    require_known("simulate_many", choices, ("threads", *CHOICES))
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
        return alone(i, tolerance=tolerance, save=times)

    if choices.get("store"):
        raise InputError(
            "store",
            found="one path for many runs",
            expected="none",
            advice="Save them one by one: run.save(path).",
        )
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

        def work_alone(i: int) -> int:
            runs[i] = _caught(context, alone, i)
            return 1

        crew.share(work_alone, len(starts), len(starts))
        return Runs(runs)
    packs = [pack for group in _groups(context) for pack in group.packs()]
    for i, refusal in starts.refusals.items():
        runs[i] = _without_states(context, i, refusal)
    total, ended = len(starts) - len(starts.refusals), 0
    for first in range(0, len(packs), AT_ONCE):
        few = [_Pack(context, *pack) for pack in packs[first : first + AT_ONCE]]
        crew.share(lambda k, few=few: few[k].run(), len(few), total, ended)
        for pack in few:
            ended += len(pack.members)
            for i, run in zip(pack.members, pack.ended(), strict=True):
                runs[i] = run if run is not None else _caught(context, alone, i)
    return Runs(runs)


def _plain(choices: Mapping[str, Any]) -> dict[str, Any]:
    return {
        k: v for k, v in choices.items() if k not in {"events", "inactive", "store", "store_every"}
    }


@dataclass(frozen=True)
class _Group:
    """Trajectories with one program, in the coordinates of that.

    Attributes
    ----------
    members : numbers of the starts.
    y, p : states and parameters of them, a row each.
    scales : of y.
    """

    program: Any
    members: list[int]
    y: FloatArray
    p: FloatArray
    scales: FloatArray

    @classmethod
    def of(cls, context: _Context, program: Any, members: list[int]) -> _Group:
        """Let starts enter the coordinates of a program."""
        starts, carrier, scales = context.starts, program.carrier, context.scales
        y = np.concatenate([starts.q[members], starts.v[members]], axis=1)
        p = starts.P[members]
        if carrier is not None:
            y, p = carrier.entered_rows(y, starts.t, p)
            scales = carrier.scales(scales)
        return cls(program, members, y, p, scales)

    def packs(self) -> list[tuple[_Group, slice]]:
        """Which of them run side by side."""
        count = len(self.members)
        return [(self, slice(k, min(k + LANES, count))) for k in range(0, count, LANES)]


def _groups(context: _Context) -> list[_Group]:
    """The starts by their programs."""
    groups: dict[int, tuple[Any, list[int]]] = {}
    for i, program in context.starts.programs(context.settings).items():
        groups.setdefault(id(program), (program, []))[1].append(i)
    return [_Group.of(context, *group) for group in groups.values()]


class _Pack:
    """Up to eight trajectories in lanes.

    They are made ready and put together one after the other, by one thread, and run by all threads
    at once: where Python and compiled code take turns every tenth of a millisecond, two threads
    wait for each other longer than they work.
    """

    def __init__(self, context: _Context, group: _Group, which: slice) -> None:
        starts, program = context.starts, group.program
        self.context, self.members, self.program = context, group.members[which], program
        lanes = np.minimum(np.arange(which.start, which.start + LANES), which.stop - 1)
        self.loop = start_loop(
            program,
            context.settings,
            starts.t,
            group.y[lanes].T,
            group.p[lanes].T,
            times=context.times,
            scales=group.scales,
            carried=True,
            project=True,
        )
        saves = context.times is None or (len(context.times) > 0 and context.times[0] == starts.t)
        self.first = self.loop.present.T.copy() if saves or program.left_out else np.zeros((0, 0))
        #: Whether all go on by themselves: whoever fails must not hold up the others.
        self.sound = not program.left_out or self._agree()
        self.saves_first = saves
        self.chunks: list[Chunk] = []

    def _agree(self) -> bool:
        """Whether the rows that do not act agree with the others where the lanes begin."""
        starts, count = self.context.starts, len(self.members)
        y, a = self.first[:count], self.loop.accelerations()[:count]
        return bool(starts.system.agree(y, starts.t, starts.P[self.members], a).all())

    def run(self) -> int:
        """Integrate to the end, or until the user stops it; how many trajectories ended."""
        context, code, pace = self.context, sh.BUDGET, Pace(self.loop)
        while self.sound and code != sh.DONE and not context.interrupt.asked:
            chunk = pace.advance(self.loop)
            code = chunk.code
            self.sound = code in (sh.DONE, sh.FULL, sh.BUDGET) or (
                code == sh.SINGULAR and _may_go_on(context, self.loop, chunk, self.members)
            )
            self.chunks.append(chunk.trimmed())
        if self.sound and self.loop.program.left_out:
            self.sound = not any(self._contradicts(k, i) for k, i in enumerate(self.members))
        return len(self.members)

    def _contradicts(self, k: int, i: int) -> bool:
        """Whether a row that does not act is missed along the motion of a lane."""
        context, loop = self.context, self.loop
        if context.settings.drift is not Drift.PROJECTION or loop.met_all_rows(k):
            return False
        (t, y), starts = self.saved(k), context.starts
        system, nq, p = starts.system, starts.q.shape[1], starts.P[i]
        if system.largest_miss(y, t, p) <= BROKEN:
            return False
        return bool(broken_row(system, self.program.left_out, y[:, :nq], y[:, nq:], t, p))

    def ended(self) -> list[_Trajectory | None]:
        """What there is of each; None for all when one of them failed on the way."""
        if not self.sound:
            return [None] * len(self.members)
        loop, lanes = self.loop, range(len(self.members))
        self.counts, self.ends = loop.counts, loop.t.tolist()
        self.held_back = [loop.held_back(k) for k in lanes]
        del self.loop  # and all it worked with
        return [_Trajectory(self.context, i, self, k) for k, i in enumerate(self.members)]

    def saved(self, k: int) -> tuple[FloatArray, FloatArray]:
        """Saved times (rows,) and states (rows, n) of a lane."""
        parts = [chunk.saved(k) for chunk in self.chunks]
        if self.saves_first:
            parts.insert(0, (np.array([self.context.starts.t]), self.first[k : k + 1]))
        if len(parts) == 1:
            return parts[0]
        nothing = np.zeros(0), np.zeros((0, len(self.context.scales)))
        t, y = zip(*(parts or [nothing]), strict=True)
        return np.concatenate(t), np.concatenate(y)


def _may_go_on(context: _Context, loop: Loop, chunk: Chunk, members: list[int]) -> bool:
    """Whether all lanes pass where rank was lost, with the same rows acting as before."""
    starts, program, settings = context.starts, loop.program, context.settings
    if settings.on_singular is not OnSingular.CONTINUE:
        return False
    for k, i in enumerate(members):
        values = starts.system.parameter_values(starts.given(i))
        if chosen_rows_lost_rank(starts.system, program, chunk.ranks(k), values):
            now = loop.present[:, k], float(loop.t[k]), starts.P[i]
            if program_of(starts.system, *now, settings).left_out != program.left_out:
                return False
    return True


def _without_states(context: _Context, i: int, refusal: str) -> _Trajectory:
    return _Trajectory(context, i, refusal=refusal)


def _caught(context: _Context, alone: Callable[[int], Run], i: int) -> Run | _Trajectory:
    """One run by itself; an error becomes its status."""
    try:
        return alone(i)
    except ZwangError as error:
        return _without_states(context, i, str(error))
