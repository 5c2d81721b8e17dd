"""Simulation: the one place where model, engine, integrator and result meet.

    start → consistent → program → loop ⟲ (chunks, events) → run

A simulation is a sequence of stretches between events that change something; within a stretch a
compiled loop integrates one program, and Python only collects what it saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from os import PathLike
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.between import states_between
from zwang.choices import choices_of, require_known, require_law, require_start
from zwang.errors import UnknownNameError, ZwangError
from zwang.functions.event import Bounce, Event, SetParameters, Switch
from zwang.integrators import shared as sh
from zwang.integrators.choose import start_loop
from zwang.integrators.events import impulse
from zwang.integrators.loop import Chunk
from zwang.integrators.pace import Pace
from zwang.integrators.settings import Drift, OnSingular, Settings
from zwang.interrupt import postponed_interrupt
from zwang.programs import in_python, program_of
from zwang.progress import Progress, Report, reporting
from zwang.redundancy import (
    always_dependent,
    broken_row,
    chosen_rows_lost_rank,
    left_out_note,
    rank_changes,
)
from zwang.run.certificate import RunCertificate, certificate_and_note, interval_of
from zwang.run.keeper import Keeper
from zwang.run.records import (
    StoredRun,
    header_of,
    require_same_events,
    require_same_memory,
    require_same_model,
    require_same_versions,
)
from zwang.run.run import Counts, EventRecord, RankChange, Run, Segment
from zwang.run.status import status_of, stopped_at_singular, stopped_by_user
from zwang.run.store import Store, Stored, read_store
from zwang.state import State
from zwang.terms import FloatArray
from zwang.watch import Met, Watch

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["CHOICES", "rerun_of", "resume", "simulate"]

#: So many events of one name within so short a time, relative, are an accumulation point (a ball
#: coming to rest) that no sequence of events gets past.
EVENTS_AT_ONCE = 8
INSTANT = 1e-8

#: What a run tells once of rows chosen again.
ACT_AGAIN = "rows that had been left out had to act in place of others"


def simulate(
    system: System,
    q: Any,
    v: Any = None,
    *,
    until: float,
    start: float = 0.0,
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
    events: Mapping[str, Event] | None = None,
    inactive: Iterable[str] = (),
    store: str | PathLike[str] | None = None,
    store_every: float = 1.0,
    progress: bool | Report | None = None,
    certify: bool | float = False,
    companions: Mapping[str, bytes] | None = None,
    **unknown: Any,
) -> Run:
    """Integrate a system; `zwang.System.simulate` documents the arguments.

    `companions` are files to go along with the stored run, name → content.
    """
    require_known("simulate", unknown, CHOICES)
    if hasattr(q, "t"):
        start = float(q.t)
    settings, times, sizes = choices_of(
        system,
        until=until,
        start=start,
        tolerance=tolerance,
        integrator=integrator,
        drift=drift,
        baumgarte=baumgarte,
        step=step,
        largest_step=largest_step,
        spectral_radius=spectral_radius,
        formulation=formulation,
        on_singular=on_singular,
        coordinates=coordinates,
        save=save,
        scales=scales,
    )
    q, v, _, p = system.arguments(q, v, start, parameters)
    simulation = _Simulation(
        system,
        settings,
        times,
        sizes,
        dict(events or {}),
        set(inactive),
        system.parameter_values(parameters),
        p,
    )
    simulation.certify_every = interval_of(certify)
    with reporting(progress=progress) as report:
        simulation.begin(q, v, start)
        if store is None:
            simulation.run(report)
        else:
            with postponed_interrupt():  # half a store would be of no use
                simulation.keep(store, store_every, companions)
                simulation.run(report)
    return simulation.result()


#: Names of all choices.
CHOICES = ("until", *(simulate.__kwdefaults__ or ()))


def resume(
    path: str | PathLike[str],
    system: System,
    *,
    events: Mapping[str, Event] | None = None,
    store_every: float = 1.0,
    progress: bool | Report | None = None,
    certify: bool | float = False,
) -> Run:
    """Go on with a stored run that was interrupted; `zwang.resume` documents it."""
    stored = read_store(path)
    stored.require_sound()
    require_same_model(stored, system)
    if stored.commits[-1]["finished"] or not stored.commits[-1]["open"]:
        return StoredRun.of(stored, system, states_between, rerun_of(stored, system, events or {}))
    require_same_versions(stored)
    require_same_events(stored, system, events or {})
    simulation = _Simulation.restored(stored, system, dict(events or {}), store_every)
    simulation.certify_every = interval_of(certify)
    with reporting(progress=progress) as report:
        simulation.run(report)
    return simulation.result()


def rerun_of(
    stored: Stored, system: System, events: Mapping[str, Event]
) -> Callable[[float, FloatArray], Run]:
    """What makes a stored run once more, with another tolerance and other times."""

    def again(tolerance: float, times: FloatArray) -> Run:
        require_same_events(stored, system, events)
        start = stored.header["start"]
        settings = StoredRun.of(stored, system, states_between).settings
        values = {k: np.array(v) for k, v in stored.header["parameters"].items()}
        simulation = _Simulation(
            system,
            replace(settings, tolerance=tolerance),
            times,
            np.array(stored.header["scales"]),
            dict(events),
            set(start["inactive"]),
            values,
            system.parameter_vector(values),
        )
        simulation.begin(np.array(start["q"]), np.array(start["v"]), start["t"])
        simulation.run()
        return simulation.result()

    return again


class _Simulation:
    """A simulation under way."""

    def __init__(
        self,
        system: System,
        settings: Settings,
        times: FloatArray | None,
        scales: FloatArray,
        events: dict[str, Event],
        inactive: set[str],
        parameters: dict[str, Any],
        p: FloatArray,
    ) -> None:
        self.system, self.settings, self.times, self.scales = system, settings, times, scales
        self.events, self.inactive = events, inactive
        self.parameters, self.p = parameters, p  # the same numbers, by name and as one array
        for name in inactive:
            if name not in system.constraints:
                raise UnknownNameError("inactive constraint", name, system.constraints)
        self.t: list[FloatArray] = []
        self.y: list[FloatArray] = []
        self.saved = 0
        self.segments: list[Segment] = []
        self.ranks: list[RankChange] = []
        self.records: list[EventRecord] = []
        self.notes: list[str] = []
        self.counts = Counts()
        self.status, self.finished = "", False
        self.open = False  # whether the work of the present stretch is still to be added
        self.keeper: Keeper | None = None
        self.certify_every: float | None = None
        self.certificate: RunCertificate | None = None

    def begin(self, q: FloatArray, v: FloatArray, t: float) -> None:
        """Check the start, put it on the constraints and set up the first stretch."""
        self.start = State(q.copy(), v.copy(), t)
        active = self._active_system()
        require_start(active, q, v, t, self.p, self.notes)
        self._stretch(np.concatenate([q, v]), t)
        self.loop.project()
        if self.loop.program.left_out:
            nq, y = len(q), self.loop.present[:, 0]
            state = y[:nq], y[nq:], np.array([t]), self.p
            program = self.loop.program
            a = None if program.carrier else program.kernel("derivative")(*state)[1]
            active.require_agreement(*state, a)
        if self.times is None or (len(self.times) and self.times[0] == t):
            self._save(np.array([t]), self.loop.present.T.copy())

    def _active_system(self) -> System:
        return self.system.without(self.inactive)

    def _stretch(self, y: FloatArray, t: float) -> None:
        """A new loop from a state on, with the constraints and parameters of now."""
        self.active, self.origin = self._active_system(), State(y.copy(), y[:0], t)
        nq, p = len(self.system.coordinates), self.p
        require_law(self.active, y[:nq], y[nq:], t, p, self.notes)
        note = in_python(self.active, self.settings)
        if note:
            if note not in self.notes:
                self.notes.append(note)
            # Refuses what the formulation does not apply to, and errors of functions, by name.
            formulation = self.settings.formulation
            self.active.solve_at(y[:nq], y[nq:], np.asarray(t), p, formulation=formulation)
        self.active.require_unique(y[:nq], y[nq:], np.asarray(t), p)
        program = program_of(self.active, y, t, p, self.settings)
        if self.active.note and self.active.note not in self.notes:
            self.notes.append(self.active.note)
        if program.left_out:
            note = left_out_note(self.active, program.left_out)
            self.notes += [note] if note not in self.notes else []
            self.ranks.append(always_dependent(self.active, program, y, t, self.parameters))
        if program.carrier is not None:
            note = f"integrated in {program.carrier.name} coordinates"
            self.notes += [note] if note not in self.notes else []
        self.watch = Watch(self.active, self.events, program.carrier) if self.events else None
        self.loop = start_loop(
            program,
            self.settings,
            t,
            y[:, None],
            p[:, None],
            times=self.times,
            scales=self.scales,
            events=self.watch.kernel if self.watch else None,
        )
        self._end_segment()
        self.segments.append(Segment(self.saved, self.saved, self.active, dict(self.parameters)))
        self.open = True

    def _save(self, t: FloatArray, y: FloatArray) -> None:
        """Keep rows; the arrays must be nobody else's."""
        self.t.append(t)
        self.y.append(y)
        self.saved += len(t)

    def _end_segment(self) -> None:
        """Count what was saved so far to the present stretch."""
        if self.segments:
            self.segments[-1] = replace(self.segments[-1], last=self.saved)

    def run(self, report: Report | None = None) -> None:
        """Integrate to the end, as far as it goes, or until the user stops it."""
        pace, began, begun_at = Pace(self.loop), monotonic(), float(self.loop.t[0])

        def chunk() -> None:
            if self.keeper is not None:
                self.keeper.commit_if_due(self)
            self._take(pace.advance(self.loop))
            if report is not None:
                report(self._progress(monotonic() - began, begun_at))

        if pace.brief and report is None and self.keeper is None and self.certify_every is None:
            chunk()  # most runs end here, before anybody could ask them to
            if self.status:
                return
        with postponed_interrupt() as interrupt:
            while not self.status:
                if interrupt.asked:
                    path = None if self.keeper is None else str(self.keeper.store.path)
                    self.status = stopped_by_user(self.loop.t[0], path)
                    break
                chunk()
            else:
                self._certify()
            if self.keeper is not None:
                self.keeper.close(self)

    def _certify(self) -> None:
        """Certify the run, all of which is committed first if it has a store."""
        if self.certify_every is None or not self.saved:
            return
        run: Run = self.so_far()
        if self.keeper is not None:
            self.keeper.commit(self)
            run = StoredRun.of(self.keeper.stored(), self.system, states_between)
        self.certificate, note = certificate_and_note(run, self.certify_every)
        self.notes.append(note)

    def _take(self, chunk: Chunk) -> None:
        """Keep what a chunk saved, and let happen what it met."""
        failure = self.loop.program.failure()
        program, logs = self.loop.program, chunk.ranks[0]
        changes = rank_changes(self.active, program, logs, self.parameters)
        self.ranks += changes
        stops = chunk.code == sh.SINGULAR and self.settings.on_singular is OnSingular.STOP
        if stops and changes and changes[-1].t > self.origin.t:
            before = chunk.t[0] <= changes[-1].t
            self._save(chunk.t[0][before], chunk.y[0][before])
            self._close()
            self.status = stopped_at_singular(changes[-1])
            return
        met = self._met() if self.watch and chunk.code in (sh.EVENT, sh.SINGULAR) else None
        if met is not None:
            before = chunk.t[0] <= met.t
            self._save(chunk.t[0][before], chunk.y[0][before])
            self._act(met)
            return
        self._save(chunk.t[0], chunk.y[0])
        broken = self._contradiction(chunk)
        if broken:
            self._close()
            self.status = broken
        elif chunk.code not in (sh.FULL, sh.BUDGET, sh.EVENT, sh.SINGULAR):
            self.finished = chunk.code == sh.DONE
            self._close()
            t, code = self.loop.t[0], chunk.code
            stiff = self.loop.held_back()
            self.status = status_of(self.counts, t, code, self.settings, failure, held_back=stiff)
        elif chosen_rows_lost_rank(self.active, program, logs, self.parameters):
            self._choose_rows_again()

    def _choose_rows_again(self) -> None:
        """Go on with other rows acting, if others are to be left out from the present state on."""
        y, t = self.loop.present[:, 0].copy(), float(self.loop.t[0])
        program = program_of(self.active, y, t, self.p, self.settings)
        if program.left_out == self.loop.program.left_out or self.loop.finished:
            return
        if not any(note.endswith(ACT_AGAIN) for note in self.notes):  # the first time alone
            self.notes.append(f"at t = {t:.6g} s {ACT_AGAIN}")
        self._close()
        self._stretch(y, t)
        self.loop.project()
        self.loop.restart()

    def _contradiction(self, chunk: Chunk) -> str:
        """Which row that was left out is not met after all, and since when; empty if all are."""
        if not self.loop.program.left_out or self.settings.drift is not Drift.PROJECTION:
            return ""  # without projection all rows are missed a little more with time
        if self.loop.met_all_rows():
            return ""
        nq = len(self.system.coordinates)
        t = np.append(chunk.t[0], self.loop.t[0])
        y = np.concatenate([chunk.y[0], self.loop.present[:, 0][None]])
        return broken_row(self.active, self.loop.program.left_out, y[:, :nq], y[:, nq:], t, self.p)

    def _progress(self, seconds: float, begun_at: float) -> Progress:
        work = self.total()
        t, until = float(self.loop.t[0]), self.settings.until
        return Progress(t, self.start.t, until, work.steps, work.rejected, seconds, begun_at)

    def _close(self) -> None:
        """Add up the work of the stretch that ends."""
        self.counts, self.open = self.total(), False

    def total(self) -> Counts:
        """Work done so far."""
        if not self.open:
            return self.counts
        return self.counts + Counts(*self.loop.work_done())

    # --- storage ----------------------------------------------------------------------------------

    def keep(
        self, path: str | PathLike[str], every: float, companions: Mapping[str, bytes] | None
    ) -> None:
        """Store the simulation from here on."""
        s = self.start
        start = {"t": s.t, "q": s.q, "v": s.v, "inactive": sorted(self.inactive)}
        header = header_of(
            self.system, self.settings, self.scales, start, self.parameters, self.events
        )
        self.keeper = Keeper(Store.create(path, header, self.times, companions), every)

    @classmethod
    def restored(
        cls, stored: Stored, system: System, events: dict[str, Event], every: float
    ) -> _Simulation:
        """A stored simulation as it stood at its last commit."""
        state, last = stored.state(), StoredRun.of(stored, system, states_between)
        segment, start = last.segments[-1], stored.header["start"]
        inactive = set(system.constraints) - set(segment.system.constraints)
        simulation = cls(
            system,
            last.settings,
            stored.times(),
            np.array(stored.header["scales"]),
            events,
            inactive,
            dict(segment.parameters),
            system.parameter_vector(segment.parameters),
        )
        simulation.start = State(np.array(start["q"]), np.array(start["v"]), start["t"])
        simulation._stretch(state["origin"], float(state["origin_time"]))
        require_same_memory(stored, state, simulation.memory())
        for name in simulation.loop.REMEMBERED:
            getattr(simulation.loop, name)[...] = state[name]
        simulation.saved, simulation.segments = stored.rows, list(last.segments)
        simulation.ranks, simulation.records = list(last.ranks), list(last.events)
        simulation.notes = list(last.notes)
        simulation.counts = Counts(*(int(k) for k in state["closed_counts"]))
        simulation.keeper = Keeper(stored.reopen(), every)
        simulation.keeper.remember(simulation)
        return simulation

    def memory(self) -> dict[str, np.ndarray]:
        """All that it takes to go on from here with the same bits."""
        closed = self.counts
        return {
            **{name: getattr(self.loop, name) for name in self.loop.REMEMBERED},
            "origin": self.origin.q,
            "origin_time": np.array(self.origin.t),
            "closed_counts": np.array(list(asdict(closed).values())),
        }

    def again(self, tolerance: float, times: FloatArray) -> Run:
        """The same simulation with another tolerance, saved at other times."""
        once_more = _Simulation(
            self.system,
            replace(self.settings, tolerance=tolerance),
            times,
            self.scales,
            self.events,
            {*self.system.constraints} - {*self.segments[0].system.constraints},
            dict(self.segments[0].parameters),
            self.system.parameter_vector(self.segments[0].parameters),
        )
        once_more.begin(self.start.q, self.start.v, self.start.t)
        once_more.run()
        return once_more.result()

    def result(self) -> Run:
        """What there is."""
        if self.keeper is not None and not self.t:
            stored = self.keeper.stored()
            return StoredRun.of(stored, self.system, states_between, self.again)
        if self.keeper is not None:
            self.keeper.fetch(self)
        return self.so_far()

    def so_far(self) -> Run:
        """What there is in memory."""
        self._end_segment()
        nq, n = len(self.system.coordinates), len(self.scales)
        y = np.concatenate(self.y) if self.y else np.zeros((0, n))
        return Run(
            self.system,
            np.concatenate(self.t) if self.t else np.zeros(0),
            y[:, :nq],
            y[:, nq:],
            self.status,
            self.finished,
            self.settings,
            tuple(self.segments),
            self.total(),
            states_between,
            tuple(self.records),
            tuple(self.ranks),
            tuple(self.notes),
            self.scales,
            self.again,
            self.certificate,
        )

    # --- events -----------------------------------------------------------------------------------

    def _met(self) -> Met | None:
        """The first event within the last step that changes something; others are recorded."""
        assert self.watch is not None
        found = self.watch.crossings(self.loop, self.dormant)
        for met in found:
            if self.events[met.name].actions == ("record",):
                self._record(met, met.y)
            else:
                return met
        return None

    def dormant(self, event: Event) -> bool:
        """Whether all an event does is to switch constraints that are switched that way already.

        Its function may then be such a constraint, which stays at zero and crosses it by rounding.
        """
        switches = [a for a in event.actions if isinstance(a, Switch)]
        return len(switches) == len(event.actions) and all(
            not self.inactive & set(a.on) and set(a.off) <= self.inactive for a in switches
        )

    def _record(self, met: Met, after: FloatArray) -> None:
        nq = len(self.system.coordinates)
        self.records.append(EventRecord(met.name, met.t, met.y[:nq], met.y[nq:], after[nq:].copy()))

    def _act(self, met: Met) -> None:
        """Let an event happen: impulses, parameters, constraints; then go on from there."""
        assert self.watch is not None
        y, nq = met.y.copy(), len(self.system.coordinates)
        stop = False
        for action in self.events[met.name].actions:
            if isinstance(action, Bounce):
                rate, normal, M, A = self.watch.impact(
                    self.loop, met.name, y, met.t, self.parameters
                )
                if rate > 0.0 if met.rising else rate < 0.0:  # not if rounding has it leave already
                    y[nq:] = impulse(M, A, normal, y[nq:], -(1.0 + action.restitution) * rate)
            elif isinstance(action, SetParameters):
                self.parameters.update(action.values)
                self.p = self.active.parameter_vector(self.parameters)
            elif isinstance(action, Switch):
                self._switch(action)
            stop = stop or action == "stop"
        self._close()
        if self.times is None:
            self._save(np.array([met.t]), met.y[None].copy())
        if not stop:
            try:
                self._stretch(y, met.t)
            except ZwangError as error:  # no motion goes on from here: keep what there is
                self.status = f"stopped at t = {met.t:.6g} s by event {met.name!r}: {error}"
                return
            self.loop.project()  # a constraint switched on takes away the velocity it forbids
            y = self.loop.present[:, 0].copy()
        self._record(met, y)
        same = [r.t for r in self.records if r.name == met.name][-EVENTS_AT_ONCE:]
        crowded = len(same) == EVENTS_AT_ONCE and met.t - same[0] <= INSTANT * max(1.0, abs(met.t))
        if stop or crowded:
            self.finished = stop
            what = (
                f"event {met.name!r}" if stop else f"events that accumulate, {met.name!r} the last"
            )
            self.status = f"stopped at t = {met.t:.6g} s by {what}"
            return
        self.loop.restart()
        if self.watch:
            self.watch.after(self.loop, met.name)
        if self.times is None:
            self._save(np.array([met.t]), self.loop.present.T.copy())

    def _switch(self, action: Any) -> None:
        for name in (*action.on, *action.off):
            if name not in self.system.constraints:
                raise UnknownNameError("constraint to switch", name, self.system.constraints)
        self.inactive = (self.inactive - set(action.on)) | set(action.off)
