"""A simulation under way: the one place where model, program, integrator and result meet.

    start → consistent → program → loop ⟲ (chunks, events) → run

A simulation is a sequence of segments between events that change something; within a segment a
compiled loop integrates one program, and Python only collects what it saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from os import PathLike
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.codegen.environment import noted
from zwang.errors import UnknownNameError, ZwangError
from zwang.integrators import memory as sh
from zwang.integrators.chunk_size import ChunkSize
from zwang.integrators.output import Chunk
from zwang.integrators.registry import start_loop
from zwang.integrators.settings import Coordinates, Drift, OnSingular, Settings
from zwang.results.certificate import RunCertificate, certificate_and_note
from zwang.results.force_record import ForceLayout
from zwang.results.history import History
from zwang.results.model_digest import describe_events
from zwang.results.records import (
    StoredRun,
    header_of,
)
from zwang.results.run import Counts, Run
from zwang.results.segments import Beginning
from zwang.results.status import (
    AT_THE_END,
    ATTAINABLE,
    looser_tolerance,
    method_note,
    rounding_note,
    status_of,
    stopped_at_singular,
    stopped_by_user,
)
from zwang.results.store import Store
from zwang.results.unbounded import told_unbounded
from zwang.results.writer import RunWriter
from zwang.simulation.all_rows import on_all_rows
from zwang.simulation.broken_rows import MISSED, OR_RANK, SavedStates, first_break, saved_states
from zwang.simulation.controllers import Sampling
from zwang.simulation.dead_centers import DeadCenterLooks, place_of_end
from zwang.simulation.events import EventCrossing, Watch
from zwang.simulation.guard import Guard
from zwang.simulation.guard_looks import DoubtedError, look_at, require_own_coordinates
from zwang.simulation.half_turns import HalfTurns
from zwang.simulation.hopeless import stopped_by_states, stopped_by_steps
from zwang.simulation.impacts import (
    accumulates,
    at_once,
    dormant,
    effect_of,
    require_actions,
)
from zwang.simulation.interpolate import states_between
from zwang.simulation.interrupt import postponed_interrupt
from zwang.simulation.mass_check import mass_beyond
from zwang.simulation.notes import OFF, off_constraints_note, program_notes
from zwang.simulation.open_laws import OpenMotion
from zwang.simulation.options import (
    AT_A_SAMPLE,
    AT_A_SWITCH,
    require_law,
    require_position,
    require_start,
)
from zwang.simulation.origin import Origin
from zwang.simulation.plain_run import UnfinishedRun
from zwang.simulation.prepared_run import MOST_ENTRIES
from zwang.simulation.program_check import Disagreement
from zwang.simulation.progress import Progress, Report
from zwang.simulation.rank_report import (
    always_dependent,
    chosen_rows_lost_rank,
    rank_changes,
)
from zwang.simulation.select_program import (
    LatestProgram,
    ProgramStart,
    in_python,
)
from zwang.simulation.stretch import Stretch
from zwang.simulation.switching_times import Switching, SwitchingTimes
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.programs.contract import Program
    from zwang.programs.coordinate_change import CoordinateChange
    from zwang.system import System

__all__ = ["Simulation", "run_again"]

#: What a run tells once of rows chosen again.
ACT_AGAIN = "rows that had been left out had to act in place of others"


class Simulation:
    """A simulation under way."""

    def __init__(self, origin: Origin, guard: Guard | None = None) -> None:
        self.origin, self.system, self.settings = origin, origin.system, origin.settings
        self.times, self.scales, self.events = origin.times, origin.scales, origin.events
        # As they are now: events may change them.
        self.inactive, self.parameters, self.p = origin.inactive, origin.parameters, origin.p
        for name in self.inactive:
            if name not in self.system.constraints:
                known = self.system.constraints
                raise UnknownNameError("inactive constraint", str(name), known)
        if self.events:
            require_actions(self.system, self.events)
        self.sampling: Sampling | None = None
        if origin.controllers:
            controllers, saved = origin.controllers, origin.times
            self.sampling = Sampling(self.system, controllers, origin.t, saved)
        self.switching: SwitchingTimes | None = None
        self.history = History(origin.notes_at_start())
        self.watches: dict[frozenset[str], Watch] = {}
        self.half_turns = HalfTurns(self.system)
        self.open_motions: dict[frozenset[str], OpenMotion] = {}  # of the constraints that act
        self.counts = Counts()
        self.status, self.finished = "", False
        self.start_due = False  # whether the start is still to be saved
        self.open = False  # whether the work of the present segment is still to be added
        self.keeper: RunWriter | None = None
        self.certify_every: float | None = None
        self.certificate: RunCertificate | None = None
        self.guard = guard or Guard(self.system.equations, self.settings)
        self.watch: Watch | None = None
        self.next_switch: Switching | None = None
        self.jumped = False
        self.dead_centers = DeadCenterLooks()
        # The method that "auto" has changed to, if it has, and how often from implicit to explicit.
        self.method, self.returns = "", 0
        # The tolerance that is kept, and when it was raised, from what, with what note.
        self.tolerance = self.settings.tolerance
        self.loosened: list[tuple[float, float, str]] = []

    @classmethod
    def begun(
        cls, origin: Origin, guard: Guard | None = None, unfinished: UnfinishedRun | None = None
    ) -> Simulation:
        """A simulation that has begun, in coordinates that are not doubted.

        Parameters
        ----------
        guard : that of the simulation, if there is one already.
        unfinished : the loop in which it has begun, and its first chunk.
        """
        try:
            simulation = cls(origin, guard)
            if unfinished is None:
                simulation.begin()
            else:
                simulation._take_over(unfinished)
        except DoubtedError:
            simulation = cls(origin)
            simulation.begin()
        return simulation

    def run_guarded(self, report: Report | None = None) -> Simulation:
        """`run`; a simulation that was led astray is made again in coordinates of its own."""
        try:
            self.run(report)
        except DoubtedError:
            again = Simulation.begun(self.origin)
            again.certify_every = self.certify_every
            again.run(report)
            return again
        return self

    def begin(self) -> None:
        """Check the start, put it on the constraints and set up the first segment."""
        y, t = self.origin.y, self.origin.t
        require_start(self.system.without(self.inactive), y, t, self.p, self.history.notes)
        self.start_due = self.origin.saves_start
        self._sample(y, t)
        self.begin_segment(y, t)
        if self.watch is not None:
            self.watch.begin(self.stretch.loop)
        stretch = self.stretch
        equations, loop = stretch.equations, stretch.loop
        if stretch.program.left_out:
            y, nq = loop.present.T, len(self.system.coordinates)
            if not equations.agree(y, t, self.p[None], loop.accelerations()):
                equations.require_agreement(y[0, :nq], y[0, nq:], np.array([t]), self.p)
            self._save_start()
        if self.guard.wanted(1):
            doubt = self.guard.start(equations, self.origin.y, loop.present[:, 0], t, self.p)
            self._look(loop.state[:, :1].T, loop.t[:1], doubt)

    def _take_over(self, begun: UnfinishedRun) -> None:
        """Go on with a loop that has returned, see `PreparedRun.run`."""
        origin, chunk, settings = self.origin, begun.chunk, self.settings
        own = self.system, settings, self.parameters, self.p
        self.stretch = Stretch(*own, origin.t, origin.y, begun.loop)
        self.history.ranks += origin.ranks_at_start(self.stretch.program)
        self.history.note(begun.notes)
        began = None
        if not origin.saves_start:
            began, chunk = Beginning(origin.t, begun.first, origin.y), chunk.without_first()
        self.history.begin_segment(self.system, self.parameters, began)
        self.open = True
        self._take(chunk)

    def may_be_repeated(self) -> bool:
        """Whether its loop is of use to the next simulation with the same choices."""
        equations, plain = self.system.equations, self.settings is self.origin.settings
        return (
            self.finished
            and plain
            and len(self.history.segments) == 1
            and not equations.time_switches
            and len(self.stretch.loop.state) <= MOST_ENTRIES
            and self.stretch.program.kernel("derivative").compiled
            and not equations.reaction_dependent
            and not in_python(equations, self.settings)
        )

    def _save_start(self) -> None:
        """Save the start, if it is among the times and not yet saved."""
        if self.start_due:
            self._save(self.stretch.loop.t.copy(), self.stretch.loop.present.T.copy())
            self.start_due = False

    def begin_segment(self, y: FloatArray, t: float, found: FloatArray | None = None) -> None:
        """A new loop from a state on, put on the constraints of now, with the parameters of now.

        `found` is the state before impulses, if there are any.
        """
        active = self.system.without(self.inactive)
        nq, p, equations = len(self.system.coordinates), self.p, active.equations
        laws = require_law(active, y[:nq], y[nq:], t, p, self.history.notes)
        note = in_python(equations, self.settings)
        if note:
            self.history.note([note])
            # Refuses what the formulation does not apply to, and errors of functions, by name.
            formulation = self.settings.formulation
            equations.solve_at(y[:nq], y[nq:], np.asarray(t), p, formulation=formulation)
        equations.require_unique(y[:nq], y[nq:], np.asarray(t), p)
        program = self._program(active, ProgramStart(y, t, p))
        doubt = self.guard.account.doubt(program)
        if doubt:
            assert program.carrier is not None
            note = f"integrated in absolute coordinates: in {program.carrier.name} ones {doubt}"
            self.history.note([note])
            self.settings = replace(self.settings, coordinates=Coordinates.ABSOLUTE)
            program = self._program(active, ProgramStart(y, t, p))
        self.guard.begin(program, p)
        if program.idle_rows:
            self.history.ranks.append(always_dependent(active, program, y, t, self.parameters))
        self.history.note(program_notes(active, program))
        if laws is not None and self.inactive not in self.open_motions:
            idle, tolerance = len(program.idle_rows), self.settings.tolerance
            self.open_motions[self.inactive] = OpenMotion(
                equations, (y, t, p), laws, idle=idle, tolerance=tolerance
            )
        self.watch = self._watch(active, program.carrier, y, t, p) if self.events else None
        self._start_loop(active, program, y, t, found)

    def _start_loop(
        self, active: System, program: Program, y: FloatArray, t: float, found: FloatArray | None
    ) -> None:
        """A loop with the parameters of now, up to the next sample or switch if there are any."""
        settings, p = self._kept_settings(), self.p
        ends = [] if self.sampling is None else [self.sampling.next]
        if self.system.equations.time_switches:
            self._find_next_switch(t)
        if self.next_switch is not None:
            ends.append(self.next_switch.before)
        if ends:
            settings = replace(settings, until=min(settings.until, *ends))
        loop = start_loop(
            program,
            settings,
            t,
            y[:, None],
            p[:, None],
            times=self.times,
            scales=self.scales,
            events=self.watch.kernel if self.watch else None,
            project=True,
            method=self.method,
            may_leave=self.settings.integrator == "auto",
            returns=self.returns,
        )
        self.stretch = Stretch(active, self.settings, self.parameters, p, t, y, loop)
        began = None
        if not self.start_due:  # else it is the first saved state
            began = Beginning(t, self.stretch.state, y if found is None else found)
        self.history.begin_segment(active, self.parameters, began, self.method)
        self.open = True

    def _find_next_switch(self, t: float) -> None:
        """Know when forces or drivers switch next in time."""
        if self.switching is None:
            self.switching = SwitchingTimes(self.system.equations, self.origin.t, self.settings)
        self.next_switch = self.switching.after(t, self.p)
        self.history.note(self.switching.notes)

    def _sample(self, y: FloatArray, t: float) -> None:
        """Let the controllers act that are due at a time."""
        if self.sampling is None:
            return
        self.parameters = self.sampling.act(t, y, self.parameters)
        self.p = self.system.parameter_vector(self.parameters)
        active = self.system.without(self.inactive)
        if self.settings.drift is Drift.PROJECTION and active.row_names:
            # Else the state would be moved onto constraints that a controller has moved.
            require_position(active, y, t, self.p, AT_A_SAMPLE)

    def _went_on(self, code: int) -> bool:
        """Whether a loop ended at a sample or a switch: then another one goes on from there."""
        t, before = self.stretch.reached, self.stretch.loop
        if code != sh.DONE or t >= self.settings.until:
            return False
        y, under_way = before.present[:, 0].copy(), (self.counts, self.open)
        self._close()
        by, sampled = "a switch in time", False
        try:
            if self.next_switch is not None and t >= self.next_switch.before:
                t = self._passed(self.next_switch, t, y)
            if self.sampling is not None and self.sampling.next <= t:
                by, sampled = "a controller", True
                self._sample(y, self.sampling.next)
            active = self.stretch.system
            program = self._program(active, ProgramStart(y, t, self.p))
            if program is before.program:  # other values of the same inputs
                self._start_loop(active, program, y, t, None)
            else:
                self.begin_segment(y, t)
        except ZwangError as error:  # keep what there is
            status = f"stopped at t = {t:.6g} s by {by}: {error}"
            if error.__cause__ is not None:  # a mistake in a law of the user's
                due = self.sampling is not None and self.sampling.next <= t
                if due and self.stretch.loop is before and t == float(before.t[0]):
                    self.counts, self.open = under_way  # to go on from here with another law
                error.run = self._abandoned(status)
                raise
            self.status = status
            if sampled:
                self.history.notes.append(
                    f"what a controller gave ended the run at t = {t:.6g} s: run.status says why"
                )
            return True
        self._note_jump(y, t, by)
        if self.watch is not None and sampled:
            self.watch.begin(self.stretch.loop)
        elif self.watch is not None:  # on which side of zero an event was left
            self.stretch.loop.event_values[...] = before.event_values
        return True

    def _abandoned(self, status: str) -> Run:
        """What there is where a function of the user's raised an error; stored, if it has a store.

        The store is left as that of a run that was interrupted here, or at its last commit.
        """
        if self.keeper is None:
            return replace(self.so_far(), status=status)
        if self.open:
            self.keeper.commit(self)
            return StoredRun.of(self.keeper.stored(), self.system, states_between)
        self.keeper.fetch(self)
        return replace(self.so_far(), status=status)

    def _note_jump(self, y: FloatArray, t: float, by: str) -> None:
        """Say so the first time that velocities changed at once where a loop began anew."""
        nq = len(self.system.coordinates)
        before, after = y[nq:], self.stretch.loop.present[nq:, 0]
        # What the tolerance allows a step is no jump.
        allowed = self.settings.tolerance * (np.abs(self.scales[nq:]) + np.abs(before))
        change = np.abs(after - before)
        jumps = change > allowed
        if not self.jumped and jumps.any():
            self.jumped, k = True, int(np.argmax(np.where(jumps, change, 0.0)))
            self.history.notes.append(
                f"velocities change at once at t = {t:.6g} s, where {by} changes the speed that a "
                f"constraint prescribes: {self.system.velocities[k]} from {before[k]:.6g} to "
                f"{after[k]:.6g}, as by an impulse; later changes of this kind are not listed"
            )

    def _passed(self, switch: Switching, t: float, y: FloatArray) -> float:
        """Save what is to be saved while forces or drivers switch; the time after that.

        It is later by some neighboring numbers, in which nothing moves.
        """
        active = self.system.without(self.inactive)
        if self.settings.drift is Drift.PROJECTION and active.row_names:
            require_position(active, y, switch.after, self.p, AT_A_SWITCH)
        if self.times is not None:
            first, last = np.searchsorted(self.times, [t, switch.after], side="right")
            times = self.times[first:last]
            self._save(times.copy(), np.tile(y, (len(times), 1)))
        return switch.after

    def _watch(
        self,
        active: System,
        carrier: CoordinateChange | None,
        y: FloatArray,
        t: float,
        p: FloatArray,
    ) -> Watch:
        """Event functions of the constraints of now, compiled when these first act."""
        known = self.watches.get(self.inactive)
        if known is None or known.carrier is not carrier:
            nq = len(active.coordinates)
            at = y[:nq], y[nq:], np.asarray(t), p
            known = Watch(active, self.events, carrier, at, self.system)
            self.watches[self.inactive] = known
        return known

    def _save(self, t: FloatArray, y: FloatArray) -> None:
        """Keep rows; the arrays must be nobody else's."""
        self.history.notes += self.half_turns.notes(t, y, self.parameters)
        if self.inactive in self.open_motions:
            self.history.note(self.open_motions[self.inactive].notes(t, y, self.p))
        self.history.save(t, y)

    def run(self, report: Report | None = None) -> None:
        """Integrate to the end, as far as it goes, or until the user stops it."""
        if self.status:  # the start does not agree with the full terms
            self._save_start()
            return
        pace, began, begun_at = ChunkSize(self.stretch.loop), monotonic(), self.stretch.reached

        def chunk() -> None:
            if self.keeper is not None:
                self.keeper.commit_if_due(self)
            self._take(pace.advance(self.stretch.loop))
            if not self.status:
                self._stop(self._hopeless(pace))
            if report is not None:
                report(self._progress(monotonic() - began, begun_at))

        if pace.brief and report is None and self.keeper is None and self.certify_every is None:
            self.stretch.loop.saves_present, self.start_due = self.start_due, False
            chunk()  # most runs end here, before anybody could ask them to
            if self.status:
                self._note_at_end()
                return
        self._save_start()
        with postponed_interrupt() as interrupt:
            while not self.status:
                if interrupt.asked:
                    path = None if self.keeper is None else str(self.keeper.store.path)
                    self.status = stopped_by_user(self.stretch.loop.t[0], path)
                    break
                chunk()
            else:
                self._note_at_end()
                self._certify()
            if self.keeper is not None:
                self.keeper.close(self)

    def _note_idle_controllers(self) -> None:
        """Say at the end which controllers never set anything."""
        self.history.notes += [] if self.sampling is None else self.sampling.idle()

    def _certify(self) -> None:
        """Certify the run, all of which is committed first if it has a store."""
        if self.certify_every is None or not self.history.saved:
            return
        run = self._as_kept()
        self.certificate, note = certificate_and_note(run, self.certify_every)
        self.history.notes.append(note)

    def _as_kept(self) -> Run:
        """What there is, all of which is committed first if it has a store."""
        if self.keeper is None:
            return self.so_far()
        self.keeper.commit(self)
        return StoredRun.of(self.keeper.stored(), self.system, states_between)

    def _note_at_end(self) -> None:
        """What a whole run tells: open laws, unbounded forces, controllers that set nothing."""
        for motion in self.open_motions.values():
            self.history.note(motion.notes_at_end())
        self._note_unbounded_forces()
        self._note_idle_controllers()

    def _note_unbounded_forces(self) -> None:
        """Say where forces were unbounded, if a singular position was passed."""
        if self.history.saved and any(not change.lasting for change in self.history.ranks):
            self.history.note(told_unbounded(self._as_kept()))

    def _look(self, y: FloatArray, t: FloatArray, doubt: Disagreement | None = None) -> bool:
        """Whether states ŷ (rows, n̂) of the loop at times (rows,) agree with the full terms."""
        start, stored = self.origin.t, self.keeper is not None
        status = look_at(self.guard, self.stretch, y, t, doubt, start=start, stored=stored)
        if status:
            self._stop(status)
        return not status

    def _agrees(self, chunk: Chunk, off: Any) -> bool:
        """Whether some of the states that a chunk saved agree with the full terms.

        Those that were off rows tell nothing of the steps, which do not end there.
        """
        if self.sampling is not None and not self.sampling.is_looked_at(
            ended=chunk.code == sh.DONE
        ):
            return True
        ended = self.stretch.reached >= self.settings.until  # though its steps were used up
        rows = self.guard.rows(chunk.filled[0], ended=ended)
        rows = [k for k in rows if k >= len(off) or not off[k]]
        return not rows or self._look(chunk.y[0, rows], chunk.t[0, rows])

    def _take(self, chunk: Chunk) -> None:
        """Keep what a chunk saved, and let happen what it met."""
        found = saved_states(self.stretch, chunk)
        undefined = ~np.isfinite(found.y).all(axis=1)
        if not undefined.any():
            self._take_states(chunk, found)
            return
        first = int(undefined.argmax())  # of a stage that only states between steps need
        failure, when = self.stretch.program.failure(), float(found.t[first])
        self._save(found.t[:first], found.y[:first])
        self._close()
        self.status = status_of(self.counts, when, sh.NOT_FINITE, self.settings, failure)

    def _take_states(self, chunk: Chunk, found: SavedStates) -> None:
        """`_take` for states that all have a value."""
        (t, y, off), stretch = found, self.stretch
        system, program = stretch.system, stretch.program
        failure, logs, parameters = program.failure(), chunk.ranks(), stretch.parameters
        changes = rank_changes(system, program, logs, parameters, stretch.t) if logs else []
        self.history.ranks += changes
        stops = chunk.code == sh.SINGULAR and self.settings.on_singular is OnSingular.STOP
        if stops and changes and changes[-1].t > stretch.t:
            before = t <= changes[-1].t
            self._save(t[before], y[before])
            self._stop(stopped_at_singular(changes[-1]))
            return
        try:
            met = self._met() if self.watch and chunk.code in (sh.EVENT, sh.SINGULAR) else []
        except ZwangError as error:  # an event function that has no value any more
            self._save(t, y)
            self._stop(f"stopped at t = {stretch.reached:.6g} s: {error}")
            return
        if met:
            if self._broke(t, y, met[0].t) or not self._agrees(chunk, off):
                return
            before = t <= met[0].t
            self._save(t[before], y[before])
            self._act(met)
            return
        if self._broke(t, y):
            return
        self._save(t, y)
        self._note_misses(t, y)
        if not self._agrees(chunk, off):
            return
        if chunk.code in sh.NO_FURTHER and self._choose_rows_again():
            pass  # those that acted came to depend on each other, which nothing else does
        elif self._goes_on(chunk.code):
            pass
        elif chunk.code not in sh.UNDER_WAY:
            self._end(chunk.code, failure)
        elif chosen_rows_lost_rank(system, program, logs, parameters):
            self._choose_rows_again()

    def _goes_on(self, code: int) -> bool:
        """Whether a loop that returned was followed by another one."""
        return self._changed_method(code) or self._went_on(code) or self._loosened(code)

    def _end(self, code: int, failure: ZwangError | None) -> None:
        """End where the loop did, at the end or before."""
        self.finished, stretch = code == sh.DONE, self.stretch
        self._close()
        end, place = stretch.reached, ""
        stiff = stretch.loop.held_back() and self.settings.integrator != "auto"
        lost = _lost_mass(stretch) if code in (sh.NOT_FINITE, sh.TOO_SMALL, sh.NO_ROOT) else ""
        if lost:
            self.status = f"stopped at t = {end:.6g} s: {lost}"
            return
        if code == sh.TOO_SMALL:
            self._take_back(end)
            place = place_of_end(stretch, self.history.ranks)
        kept = self._kept_settings()
        self.status = status_of(self.counts, end, code, kept, failure, held_back=stiff, place=place)

    def _broke(self, t: FloatArray, y: FloatArray, until: float = np.inf) -> bool:
        """End where rows that were left out are missed, if they are before a time.

        Where constraints contradict each other, what was right before is kept. Otherwise rows that
        act may have lost rank within a step; those of other coordinates need not, and the run
        begins anew in absolute ones.
        """
        found = first_break(self.stretch, t, y, until)
        if found is None:
            return False
        before, status = t < found.t, found.status
        self._save(t[before], y[before])
        self.history.keep_before(found.t)
        if found.by_rank:
            doubt, stored = Disagreement(MISSED, self.stretch.reached), self.keeper is not None
            if require_own_coordinates(self.guard, self.stretch, doubt, stored=stored):
                carrier = self.stretch.program.carrier
                assert carrier is not None
                status += f", or equations that act in {carrier.name} coordinates and {OR_RANK}"
        self._stop(status)
        return True

    def _note_misses(self, t: FloatArray, y: FloatArray) -> None:
        """Say once if states saved between steps are off the constraints."""
        if self.times is None or any(note.startswith(OFF) for note in self.history.notes):
            return
        note = off_constraints_note(self.stretch.equations, self.settings, t, y, self.p)
        self.history.notes += [note] if note else []

    def _program(self, active: System, start: ProgramStart) -> Program:
        """The program of the constraints that act."""
        equations = active.equations
        return LatestProgram.of(equations).select(equations, start, self.settings)

    def _choose_rows_again(self) -> bool:
        """Go on with other rows acting, if others are to be left out from the present state on."""
        y, t = self.stretch.state, self.stretch.reached
        if not self.stretch.program.left_out or self.stretch.loop.finished or t == self.stretch.t:
            return False
        program = self._program(self.stretch.system, ProgramStart(y, t, self.p))
        if program.left_out == self.stretch.program.left_out:
            return False
        self._note_rows(t)
        self.watches = {key: w for key, w in self.watches.items() if not w.solves}
        self._close()
        before = self.stretch.loop
        if self.settings.drift is Drift.PROJECTION:  # those that acted were nearly dependent here
            at, tolerance = np.array([t]), self.settings.tolerance
            y = on_all_rows(self.stretch.equations, y[None], at, self.p, tolerance)[0][0]
        self.begin_segment(y, t)
        # On which side of its zero an event was left is not to be seen from the state alone.
        self.stretch.loop.event_values[...] = before.event_values
        return True

    def _note_rows(self, t: float) -> None:
        """Say that rows act that did not, the first time alone."""
        if not any(note.endswith(ACT_AGAIN) for note in self.history.notes):
            self.history.notes.append(f"at t = {t:.6g} s {ACT_AGAIN}")

    def _changed_method(self, code: int) -> bool:
        """Whether a loop left to the method that "auto" chooses from the present state on."""
        if code not in (sh.LEAVES, sh.ROWS_NEAR):
            return False
        if code == sh.ROWS_NEAR and self._choose_rows_again():
            return True
        y, t, before = self.stretch.state, self.stretch.reached, self.stretch.loop
        was = before.settings.integrator
        self.method = before.next_method()
        self.returns += was == "radau5"
        note = method_note(was, self.method, t, rows_near=code == sh.ROWS_NEAR)
        kind = note.partition(" from t = ")[0]
        if not any(known.startswith(kind) for known in self.history.notes):  # the first time alone
            self.history.notes.append(note)
        self._close()
        self.begin_segment(y, t)
        if set(before.program.left_out) - set(self.stretch.program.left_out):
            self._note_rows(t)
        # On which side of its zero an event was left is not to be seen from the state alone.
        self.stretch.loop.event_values[...] = before.event_values
        return True

    def _loosened(self, code: int) -> bool:
        """Whether it goes on with a tolerance that rounding leaves, where it was asked for less."""
        if code != sh.TOO_SMALL or not self.tolerance < ATTAINABLE:
            return False
        t, y = self.stretch.reached, self.stretch.state
        kept = looser_tolerance(self.tolerance)
        note = rounding_note(t, self.tolerance, kept)
        self.loosened.append((t, self.tolerance, note))
        self.history.notes.append(note)
        self.tolerance, before = kept, self.stretch.loop
        self._close()
        self.begin_segment(y, t)
        self.stretch.loop.event_values[...] = before.event_values
        return True

    def _take_back(self, end: float) -> None:
        """Take back tolerances with which no step was small enough either: not for rounding."""
        while self.loosened and end - self.loosened[-1][0] <= AT_THE_END * abs(end):
            _, self.tolerance, note = self.loosened.pop()
            self.history.notes = [known for known in self.history.notes if known != note]

    def _kept_settings(self) -> Settings:
        """The settings with the tolerance that is kept."""
        if self.tolerance == self.settings.tolerance:
            return self.settings
        return replace(self.settings, tolerance=self.tolerance)

    def _progress(self, seconds: float, begun_at: float) -> Progress:
        work = self.total()
        t, until = self.stretch.reached, self.settings.until
        return Progress(t, self.origin.t, until, work.steps, work.rejected, seconds, begun_at)

    def _hopeless(self, pace: ChunkSize) -> str:
        """How it ends where steps have collapsed or saved states fill the memory; else empty."""
        history, stretch = self.history, self.stretch
        written = 0 if self.keeper is None else self.keeper.store.rows
        return stopped_by_steps(
            pace, stretch, history.ranks, self.dead_centers
        ) or stopped_by_states(stretch.reached, history.saved, written, len(self.scales))

    def _stop(self, status: str) -> None:
        """End here, if there is a reason."""
        if status:
            self._close()
            self.status = status

    def _close(self) -> None:
        """Add up the work of the stretch that ends."""
        self.counts, self.open = self.total(), False

    def total(self) -> Counts:
        """Work done so far."""
        if not self.open:
            return self.counts
        return self.counts.plus(self.stretch.loop.work_done())

    # --- storage ----------------------------------------------------------------------------------

    def keep(
        self,
        path: str | PathLike[str],
        every: float,
        companions: Mapping[str, bytes] | None,
        *,
        forces: bool,
    ) -> None:
        """Store the simulation from here on, with forces if they are asked for."""
        (q, v), t = np.split(self.origin.y, [len(self.system.coordinates)]), self.origin.t
        start = {"t": t, "q": q, "v": v, "inactive": sorted(self.inactive)}
        described = describe_events(self.system, self.events)
        layout = ForceLayout.of_system(self.system) if forces else None
        given = self.origin.parameters
        header = header_of(self.system, self.settings, self.scales, start, given, described, layout)
        if self.origin.controllers:
            header["controllers"] = {k: c.describe() for k, c in self.origin.controllers.items()}
        self.keeper = RunWriter(Store.create(path, header, self.times, companions), every, layout)

    def release(self) -> None:
        """Let others write the store."""
        if self.keeper is not None:
            self.keeper.store.release()

    def controllers(self) -> dict[str, Any]:
        """What controllers remember, as plain values; empty where there are none."""
        return {} if self.sampling is None else self.sampling.to_dict()

    def memory(self) -> dict[str, np.ndarray]:
        """All that it takes to go on from here with the same bits."""
        closed = self.counts
        return {
            **{name: getattr(self.stretch.loop, name) for name in self.stretch.loop.REMEMBERED},
            "origin": self.stretch.y,
            "origin_time": np.array(self.stretch.t),
            "closed_counts": np.array(list(asdict(closed).values())),
            "returns": np.array(self.returns),
            "tolerance": np.array(self.tolerance),
        }

    def result(self) -> Run:
        """What there is."""
        if self.keeper is not None and not self.history.t:
            stored = self.keeper.stored()
            again = partial(run_again, self.origin)
            return StoredRun.of(stored, self.system, states_between, again, self.events)
        if self.keeper is not None:
            self.keeper.fetch(self)
        return self.so_far()

    def so_far(self) -> Run:
        """What there is in memory."""
        history, nq = self.history, len(self.system.coordinates)
        history.end_segment()
        t, y = history.rows(len(self.scales))
        return Run(
            self.system,
            t,
            y[:, :nq],
            y[:, nq:],
            self.status,
            self.finished,
            self._kept_settings(),
            tuple(self.history.segments),
            self.total(),
            states_between,
            tuple(self.history.records),
            tuple(self.history.ranks),
            noted(self.history.notes),
            self.scales,
            partial(run_again, self.origin),
            self.certificate,
            watched=self.events,
            times=self.times,
        )

    # --- events -----------------------------------------------------------------------------------

    def _met(self) -> list[EventCrossing]:
        """The first event within the last step that changes something, and all that come with it.

        Those before it are recorded.
        """
        assert self.watch is not None
        found = self.watch.crossings(self.stretch.loop, lambda event: dormant(event, self.inactive))
        first = next((m for m in found if self.events[m.name].actions != ("record",)), None)
        together = [] if first is None else at_once(found, first)
        nq = len(self.system.coordinates)
        for met in found[: found.index(together[0])] if together else found:
            self.history.record(met.name, met.t, met.y, met.y, nq)
        return together

    def _act(self, together: list[EventCrossing]) -> None:
        """Let events happen: impulses, parameters, constraints; then go on from there."""
        assert self.watch is not None
        t, found = together[0].t, together[0].y
        now = self.parameters, self.inactive
        effect = effect_of(self.events, together, self.watch, self.stretch.loop, *now)
        self.inactive, self.parameters = effect.inactive, effect.parameters
        self.p = self.stretch.system.parameter_vector(self.parameters)
        self._close()
        if self.times is None or (effect.stopped_by and self._is_besides(t)):
            self._save(np.array([t]), found[None].copy())
        y, last, nq = effect.y, effect.happened[-1][0], len(self.system.coordinates)
        if not effect.stopped_by:
            try:
                # A constraint switched on takes away the velocity it forbids, but moves nothing.
                if self.settings.drift is Drift.PROJECTION:
                    require_position(self.system.without(self.inactive), y, t, self.p)
                self.begin_segment(y, t, found)
            except ZwangError as error:  # no motion goes on from here: keep what there is
                self.status = f"stopped at t = {t:.6g} s by event {last!r}: {error}"
                return
            y = self.stretch.state
        for name, before, after in effect.happened:
            self.history.record(name, t, before, y if after is effect.y else after, nq)
        if effect.stopped_by:
            self.finished = True
            self.status = f"stopped at t = {t:.6g} s by event {effect.stopped_by!r}"
        elif accumulates(self.history.records):
            self.status = (
                f"stopped at t = {t:.6g} s by events that accumulate, {last!r} the last; where a "
                "motion comes to rest, zw.switch(on=…) goes on with a constraint"
            )
        else:
            for met in together:
                self.watch.after(self.stretch.loop, met)
            if self.times is None:
                self._save(np.array([t]), y[None])

    def _is_besides(self, t: float) -> bool:
        """Whether the state in which an event stops it is to be saved beside the times given."""
        return self.settings.stop_saved and not bool(np.any(self.times == t))


def _lost_mass(stretch: Stretch) -> str:
    """Which mass is not positive where a loop could not go on, as a sentence; else empty."""
    y, t, a = stretch.loop.present[:, 0], stretch.reached, stretch.loop.accelerations()[0]
    return mass_beyond(stretch.equations, y, t, stretch.p, a, stretch.settings.step)


def run_again(origin: Origin, tolerance: float, times: FloatArray) -> Run:
    """The same simulation with another tolerance, saved at other times.

    In the coordinates of the system itself: an error of others would be made twice.
    """
    absolute = Coordinates.ABSOLUTE
    chosen = {"tolerance": tolerance, "coordinates": absolute, "stop_saved": False}
    settings = replace(origin.settings, **chosen)
    simulation = Simulation.begun(origin._replace(settings=settings, times=times))
    return simulation.run_guarded().result()
