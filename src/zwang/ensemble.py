"""Many trajectories of one system: four side by side in vector lanes, groups of them in threads.

A lane keeps its own step and error control, so that a trajectory is the same, bit for bit, alone
and in company. What one of them cannot do does not stop the others: it ends with its own status.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from zwang.between import states_between
from zwang.choices import choices_of, require_law, require_start
from zwang.errors import InputError, ZwangError
from zwang.formulations.rank import equilibrate, mass_spectrum
from zwang.integrators import shared as sh
from zwang.integrators.choose import start_loop
from zwang.integrators.pace import Pace
from zwang.integrators.settings import OnSingular, Settings
from zwang.interrupt import Interrupt, postponed_interrupt
from zwang.programs import in_python, program_of
from zwang.progress import EnsembleProgress, Report, reporting
from zwang.redundancy import (
    always_dependent,
    chosen_rows_lost_rank,
    left_out_note,
    rank_changes,
)
from zwang.run.certificate import certified, interval_of
from zwang.run.run import Counts, RankChange, Run, Segment
from zwang.run.status import status_of, stopped_by_user
from zwang.simulate import simulate
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.engine.program import Program
    from zwang.integrators.loop import Chunk
    from zwang.system import System

__all__ = ["Runs", "simulate_many"]

#: Trajectories that run side by side in one thread.
LANES = 4

#: A start that misses its constraints by less is taken without a note, as in a single run.
UNREMARKABLE = 1e-9


class Runs(Sequence[Run]):
    """The runs of an ensemble, in the order of their starts.

    Attributes
    ----------
    runs : one for each start; one that could not begin has no states and says why.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = tuple(runs)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Runs: ...
    def __getitem__(self, index: int | slice) -> Run | Runs:
        return Runs(self.runs[index]) if isinstance(index, slice) else self.runs[index]

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __repr__(self) -> str:
        return f"<{len(self)} runs, {int(self.finished.sum())} finished>"

    @property
    def status(self) -> tuple[str, ...]:
        """How each run ended."""
        return tuple(run.status for run in self.runs)

    @property
    def finished(self) -> np.ndarray:
        """Which runs reached their end, booleans (N,)."""
        return np.array([run.finished for run in self.runs], dtype=bool)

    @property
    def last(self) -> tuple[FloatArray, FloatArray]:
        """Last saved q (N, nq) and v (N, nv) of each run, NaN where there is none."""

        def end(x: FloatArray) -> FloatArray:
            return x[-1] if len(x) else np.full(x.shape[1], np.nan)

        return np.array([end(r.q) for r in self.runs]), np.array([end(r.v) for r in self.runs])


@dataclass(frozen=True)
class _Start:
    """Where one trajectory begins, and with which parameters."""

    q: FloatArray
    v: FloatArray
    parameters: dict[str, Any]
    p: FloatArray
    notes: tuple[str, ...] = ()
    refusal: str = ""
    again: Callable[[float, FloatArray], Run] | None = None


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
        crew = _Crew(threads or os.cpu_count() or 1, interrupt, report)
        runs = _simulate_many(system, q, v, until, start, parameters or {}, choices, crew)
    return Runs([certified(run, interval) for run in runs])


def _simulate_many(
    system: System,
    q: Any,
    v: Any,
    until: float,
    start: float,
    parameters: Mapping[str, Any],
    choices: dict[str, Any],
    crew: _Crew,
) -> Runs:
    q, v, values = _broadcast(system, q, v, parameters)

    def alone(i: int, **other: Any) -> Run:
        mine = {name: array[i] for name, array in values.items()}
        chosen = {**choices, **other, "progress": False}
        return simulate(system, q[i], v[i], until=until, start=start, parameters=mine, **chosen)

    def again(i: int, tolerance: float, times: FloatArray) -> Run:
        return alone(i, tolerance=tolerance, save=times)

    one_by_one = {"events", "inactive", "store", "store_every"} & {
        k for k, c in choices.items() if c
    }
    if "store" in one_by_one:
        raise InputError(
            "store",
            found="one path for many runs",
            expected="none",
            advice="Save them one by one: run.save(path).",
        )
    settings, times, scales = choices_of(system, until=until, start=start, **_plain(choices))
    if not len(q):
        return Runs([])
    if one_by_one or not settings.method.lanes or in_python(system, settings):
        alone_each: list[Any] = [None] * len(q)

        def work_alone(i: int) -> int:
            alone_each[i] = _caught(system, settings, alone, i)
            return 1

        crew.share(work_alone, len(q), len(q))
        return Runs(alone_each)
    program_of(  # compiled once, before threads ask for it
        system, np.concatenate([q[0], v[0]]), start, system.parameter_vector(), settings, LANES
    )
    starts, regular = _prepare(system, q, v, start, values, again)
    context = _Context(system, settings, times, scales, start, crew.interrupt)
    runs: list[Run | None] = [None] * len(starts)
    groups: dict[int, list[int]] = {}
    for i, s in enumerate(starts):
        if s.refusal:
            runs[i] = _run(context, s, np.zeros(0), np.zeros((0, len(scales))), s.refusal)
        else:
            y, singular = np.concatenate([s.q, s.v]), False if regular else None
            program = program_of(system, y, start, s.p, settings, LANES, singular=singular)
            groups.setdefault(id(program), []).append(i)
            context.programs[id(program)] = program
    packs = [
        (key, members[k : k + LANES])
        for key, members in groups.items()
        for k in range(0, len(members), LANES)
    ]

    def work(k: int) -> int:
        key, members = packs[k]
        for i, run in zip(
            members, _together(context, key, [starts[i] for i in members]), strict=True
        ):
            runs[i] = run if run is not None else _caught(system, settings, alone, i)
        return len(members)

    crew.share(work, len(packs), sum(len(members) for _, members in packs))
    return Runs([run for run in runs if run is not None])


class _Context:
    """What all trajectories of an ensemble share."""

    def __init__(
        self,
        system: System,
        settings: Settings,
        times: FloatArray | None,
        scales: FloatArray,
        start: float,
        interrupt: Interrupt,
    ) -> None:
        self.system, self.settings, self.times, self.scales = system, settings, times, scales
        self.start, self.interrupt = start, interrupt
        self.programs: dict[int, Any] = {}


class _Crew:
    """Threads that share work, and the thread that reports on them and hears Ctrl-C."""

    #: Seconds after which the waiting thread looks up, for on some systems no signal wakes it.
    NAP = 0.1

    def __init__(self, threads: int, interrupt: Interrupt, report: Report | None) -> None:
        self.threads, self.interrupt, self.report = threads, interrupt, report
        self.began = monotonic()

    def share(self, work: Callable[[int], int], parts: int, count: int) -> None:
        """Do all parts of the work; each returns how many of the `count` trajectories it ended."""
        done = 0
        if self.threads == 1 or parts <= 1:
            for k in range(parts):
                done += work(k)
                self._tell(done, count)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            # In a copy of the context the work hears of Ctrl-C, which reaches this thread alone.
            waiting = {pool.submit(copy_context().run, work, k) for k in range(parts)}
            try:
                while waiting:
                    ended, waiting = wait(waiting, self.NAP, FIRST_COMPLETED)
                    done += sum(future.result() for future in ended)
                    if ended:
                        self._tell(done, count)
            except BaseException:
                self.interrupt.asked = True  # the others need not go on
                raise

    def _tell(self, done: int, count: int) -> None:
        if self.report is not None:
            self.report(EnsembleProgress(done, count, monotonic() - self.began))


def _plain(choices: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in choices.items() if k not in {"events", "inactive", "store_every"}}


def _broadcast(
    system: System, q: Any, v: Any, parameters: Mapping[str, Any]
) -> tuple[FloatArray, FloatArray, dict[str, FloatArray]]:
    """Starts (N, nq) and (N, nv), and parameters (N, …), from what was given."""
    if v is None and not hasattr(q, "q") and len(q) and hasattr(q[0], "q"):
        q, v = np.array([s.q for s in q]), np.array([s.v for s in q])
    elif hasattr(q, "q"):
        q, v = q.q, q.v
    q = np.asarray(q, dtype=float)
    v = np.zeros(len(system.velocities)) if v is None else np.asarray(v, dtype=float)
    shapes = {k: x.shape for k, x in system.definition.parameters.items()}
    values = {name: np.asarray(value, dtype=float) for name, value in parameters.items()}
    sizes = {"q": q.shape[0]} if q.ndim == 2 else {}
    sizes |= {"v": v.shape[0]} if v.ndim == 2 else {}
    for name, value in values.items():
        if name in shapes and value.ndim == len(shapes[name]) + 1:
            sizes[f"parameter {name!r}"] = len(value)
    if len(set(sizes.values())) > 1:
        raise InputError(
            "ensemble",
            found=", ".join(f"{count} of {name}" for name, count in sizes.items()),
            expected="the same number of each, or one for all",
        )
    count = next(iter(sizes.values()), 1)
    system.parameter_vector(  # refuses unknown names and wrong shapes
        {k: x[0] if f"parameter {k!r}" in sizes and count else x for k, x in values.items()}
    )
    spread = {
        name: value
        if f"parameter {name!r}" in sizes
        else np.broadcast_to(value, (count, *value.shape))
        for name, value in values.items()
    }
    q, v = (x if x.ndim == 2 else np.broadcast_to(x, (count, x.size)) for x in (q, v))
    for name, array, names in (("q", q, system.coordinates), ("v", v, system.velocities)):
        if array.shape != (count, len(names)):
            raise InputError(
                name, found=f"shape {array.shape}", expected=f"shape ({count}, {len(names)})"
            )
    return q, v, spread


def _prepare(
    system: System,
    q: FloatArray,
    v: FloatArray,
    t: float,
    values: Mapping[str, FloatArray],
    again: Callable[[int, float, FloatArray], Run],
) -> tuple[list[_Start], bool]:
    """All starts, checked; and whether every mass matrix is regular by a wide margin."""
    defaults, sizes = system.parameters, system.definition.parameters
    places = np.cumsum([0, *(x.size for x in sizes.values())])
    P = np.tile(system.parameter_vector(), (len(q), 1))
    for name, place in zip(sizes, places, strict=False):
        if name in values:
            P[:, place : place + sizes[name].size] = values[name].reshape(len(q), -1)
    plain, regular = _screened(system, q, v, t, P)
    starts = []
    for i in range(len(q)):
        mine = {**defaults, **{name: array[i] for name, array in values.items()}}
        notes: list[str] = []
        refusal = ""
        try:
            if not plain[i]:
                require_start(system, q[i], v[i], t, P[i], notes)
            require_law(system, q[i], v[i], t, P[i], notes)
        except ZwangError as error:
            refusal = str(error)
        starts.append(_Start(q[i], v[i], mine, P[i], tuple(notes), refusal, partial(again, i)))
    return starts, regular


def _screened(
    system: System, q: FloatArray, v: FloatArray, t: float, P: FloatArray
) -> tuple[np.ndarray, bool]:
    """Which starts satisfy their constraints with nothing to remark, and are all masses regular.

    Four at a time. What does not pass is looked at one by one, as a single run would be.
    """
    import casadi as ca

    from zwang.kernels.element import compile as compile_kernel

    kernels = system.__dict__.setdefault("_screens", {})
    if not kernels:
        m, s = system.model, system.model.state
        outputs = [ca.densify(x) for x in (ca.vertcat(m.position_values, m.rates), m.M)]
        function = ca.Function("screen", [s.q, s.v, s.t, s.p], outputs)
        kernels[0] = compile_kernel(function, lanes=LANES)
    count, nv = len(q), len(system.velocities)
    plain, masses = np.zeros(count, dtype=bool), np.empty((count, nv, nv))
    moment = np.full((1, LANES), t)
    for k in range(0, count, LANES):
        rows = np.minimum(np.arange(k, k + LANES), count - 1)
        residuals, M = kernels[0](q[rows].T, v[rows].T, moment, P[rows].T)
        # Values that are not finite pass no screen.
        plain[rows] = np.all(np.abs(residuals) <= UNREMARKABLE, axis=0)
        masses[rows] = M.T.reshape(LANES, nv, nv)
    if not np.isfinite(masses).all():
        return plain, False
    d, _ = equilibrate(masses, np.zeros((count, 0, nv)))
    spectrum = mass_spectrum(masses * d[..., None] * d[..., None, :])
    return plain, bool(np.all(spectrum.rank == nv) and spectrum.estimated)


def _together(context: _Context, key: int, starts: list[_Start]) -> list[Run | None]:
    """Up to four trajectories in lanes; None for all when one of them fails on the way."""
    count = len(starts)
    padded = starts + [starts[-1]] * (LANES - count)
    settings = context.settings
    loop = start_loop(
        context.programs[key],
        settings,
        context.start,
        np.stack([np.concatenate([s.q, s.v]) for s in padded], axis=1),
        np.stack([s.p for s in padded], axis=1),
        times=context.times,
        scales=context.scales,
    )
    loop.project()
    t: list[list[FloatArray]] = [[] for _ in range(count)]
    y: list[list[FloatArray]] = [[] for _ in range(count)]
    left_out = loop.program.left_out
    ranks: list[list[RankChange]] = [[] for _ in range(count)]
    if left_out:
        for k, s in enumerate(starts):
            y0 = np.concatenate([s.q, s.v])
            ranks[k].append(
                always_dependent(context.system, loop.program, y0, context.start, s.parameters)
            )
    if context.times is None or (len(context.times) and context.times[0] == context.start):
        for k in range(count):
            t[k].append(np.array([context.start]))
            y[k].append(loop.present[:, k][None].copy())
    code, pace = sh.BUDGET, Pace(loop)
    while code != sh.DONE and not context.interrupt.asked:
        chunk = pace.advance(loop)
        code = chunk.code
        if code not in (sh.DONE, sh.FULL, sh.BUDGET) and not (
            code == sh.SINGULAR and _may_go_on(context, loop.program, chunk, starts)
        ):
            return [None] * count  # whoever failed must not hold up the others: each alone
        for k in range(count):
            t[k].append(chunk.t[k])
            y[k].append(chunk.y[k])
            ranks[k] += rank_changes(
                context.system, loop.program, chunk.ranks[k], starts[k].parameters
            )
    runs: list[Run | None] = []
    empty = np.zeros((0, len(context.scales)))
    for k, s in enumerate(starts):
        counts = Counts(*loop.work_done(k))
        end, finished = float(loop.t[k]), not loop.counts[sh.ACTIVE, k]
        status = (
            status_of(counts, end, sh.DONE, settings, held_back=loop.held_back(k))
            if finished
            else stopped_by_user(end)
        )
        rows = np.concatenate([np.zeros(0), *t[k]]), np.concatenate([empty, *y[k]])
        run = _run(context, s, *rows, status, counts, ranks[k], finished=finished)
        if loop.program.carrier is not None:
            note = f"integrated in {loop.program.carrier.name} coordinates"
            run = replace(run, notes=(*run.notes, note))
        if left_out:
            run = replace(run, notes=(*run.notes, left_out_note(context.system, left_out)))
        runs.append(run)
    return runs


def _may_go_on(context: _Context, program: Program, chunk: Chunk, starts: Sequence[_Start]) -> bool:
    """Whether all lanes pass where rank was lost, with the same rows acting as before."""
    return context.settings.on_singular is OnSingular.CONTINUE and not any(
        chosen_rows_lost_rank(context.system, program, chunk.ranks[k], s.parameters)
        for k, s in enumerate(starts)
    )


def _run(
    context: _Context,
    start: _Start,
    t: FloatArray,
    y: FloatArray,
    status: str,
    counts: Counts | None = None,
    ranks: Sequence[RankChange] = (),
    *,
    finished: bool = False,
) -> Run:
    nq = len(context.system.coordinates)
    return Run(
        context.system,
        t,
        y[:, :nq],
        y[:, nq:],
        status,
        finished,
        context.settings,
        (Segment(0, len(t), context.system, start.parameters),),
        counts or Counts(),
        states_between,
        (),
        tuple(ranks),
        start.notes,
        context.scales,
        start.again,
    )


def _caught(system: System, settings: Settings, alone: Callable[[int], Run], i: int) -> Run:
    """One run by itself; an error becomes its status."""
    try:
        return alone(i)
    except ZwangError as error:
        nq, nv = len(system.coordinates), len(system.velocities)
        return Run(
            system,
            np.zeros(0),
            np.zeros((0, nq)),
            np.zeros((0, nv)),
            str(error),
            finished=False,
            settings=settings,
            segments=(Segment(0, 0, system, system.parameters),),
            counts=Counts(),
            between=states_between,
        )
