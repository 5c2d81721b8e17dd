"""A simulation under way: the one place where model, program, integrator and result meet.

    start → consistent → program → loop ⟲ (chunks, events) → run

A simulation is a sequence of segments between events that change something; within a segment a
compiled loop integrates one program, and Python only collects what it saved.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any

import numpy as np

from zwang.errors import UnknownNameError, ZwangError
from zwang.integrators import memory as sh
from zwang.integrators.chunk_size import ChunkSize
from zwang.integrators.output import Chunk
from zwang.integrators.settings import Coordinates, Drift, OnSingular
from zwang.results.history import History
from zwang.results.run import Run
from zwang.results.segments import Beginning
from zwang.results.status import status_of, stopped_at_singular, stopped_by_user
from zwang.simulation.broken_rows import MISSED, OR_RANK, SavedStates, first_break, saved_states
from zwang.simulation.choices_again import change_method, choose_rows_again, loosen
from zwang.simulation.dead_centers import DeadCenterLooks, place_of_end
from zwang.simulation.events import EventCrossing
from zwang.simulation.guard import Guard
from zwang.simulation.guard_looks import DoubtedError, look_at, require_own_coordinates
from zwang.simulation.hopeless import stopped_by_states, stopped_by_steps
from zwang.simulation.impacts import accumulates, require_actions
from zwang.simulation.integration import Integration
from zwang.simulation.interrupt import postponed_interrupt
from zwang.simulation.mass_check import mass_lost
from zwang.simulation.options import require_position, require_start
from zwang.simulation.origin import Origin
from zwang.simulation.outcome import Outcome
from zwang.simulation.plain_run import UnfinishedRun
from zwang.simulation.program_check import Disagreement
from zwang.simulation.progress import Progress, Report
from zwang.simulation.rank_report import chosen_rows_lost_rank, rank_changes
from zwang.simulation.velocity_jumps import VelocityJumps
from zwang.terms import FloatArray

__all__ = ["Simulation", "run_again"]


class Simulation:
    """A simulation under way.

    Attributes
    ----------
    now : the constraints, parameters and program of now, and the loop that integrates them.
    history : what was saved, and what happened.
    outcome : how it ended, and the run that there is.
    """

    def __init__(self, origin: Origin, guard: Guard | None = None) -> None:
        self.origin, self.system, known = origin, origin.system, origin.system.constraints
        for name in origin.inactive:
            if name not in known:
                raise UnknownNameError("inactive constraint", str(name), known)
        if origin.events:
            require_actions(origin.system, origin.events)
        self.history = History(origin.notes_at_start())
        self.guard = guard or Guard(origin.system.equations, origin.settings)
        self.now = Integration(origin, self.guard, self.history)
        self.outcome = Outcome(origin, self.now, self.history, partial(run_again, origin))
        self._dead_centers = DeadCenterLooks()
        self._jumps = VelocityJumps(origin.system, origin.scales, origin.settings.tolerance)

    # --- start ------------------------------------------------------------------------------------

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

    def begin(self) -> None:
        """Check the start, put it on the constraints and set up the first segment."""
        now, y, t = self.now, self.origin.y, self.origin.t
        require_start(now.active, y, t, now.p, self.history.notes)
        now.start_due = self.origin.saves_start
        now.sample(y, t)
        now.begin_segment(y, t)
        equations, loop = now.segment.equations, now.segment.loop
        if now.watch is not None:
            now.watch.begin(loop)
        if loop.program.left_out:
            y, nq = loop.present.T, len(self.system.coordinates)
            if not equations.agree(y, t, now.p[None], loop.accelerations()):
                equations.require_agreement(y[0, :nq], y[0, nq:], np.array([t]), now.p)
            now.save_start()
        if self.guard.wanted(1):
            doubt = self.guard.start(equations, self.origin.y, loop.present[:, 0], t, now.p)
            self._look(loop.state[:, :1].T, loop.t[:1], doubt)

    def _take_over(self, begun: UnfinishedRun) -> None:
        """Go on with a loop that has returned, see `PreparedRun.run`."""
        origin, chunk, began = self.origin, begun.chunk, None
        self.history.ranks += origin.ranks_at_start(begun.loop.program)
        self.history.note(begun.notes)
        if not origin.saves_start:
            began, chunk = Beginning(origin.t, begun.first, origin.y), chunk.without_first()
        self.now.adopt(begun.loop, began)
        self._take(chunk)

    # --- loop -------------------------------------------------------------------------------------

    def run_guarded(self, report: Report | None = None) -> Simulation:
        """`run`; a simulation that was led astray is made again in coordinates of its own."""
        try:
            self.run(report)
        except DoubtedError:
            again = Simulation.begun(self.origin)
            again.outcome.certify_every = self.outcome.certify_every
            again.run(report)
            return again
        return self

    def run(self, report: Report | None = None) -> None:
        """Integrate to the end, as far as it goes, or until the user stops it."""
        now, outcome, keeper = self.now, self.outcome, self.outcome.keeper
        if outcome.status:  # the start does not agree with the full terms
            now.save_start()
            return
        pace, began, begun_at = ChunkSize(now.segment.loop), monotonic(), now.segment.reached

        def chunk() -> None:
            if keeper is not None:
                keeper.commit_if_due(outcome)
            self._take(pace.advance(now.segment.loop))
            if not outcome.status:
                outcome.stop(self._hopeless(pace))
            if report is not None:
                report(self._progress(monotonic() - began, begun_at))

        if pace.brief and report is None and keeper is None and outcome.certify_every is None:
            now.segment.loop.saves_present, now.start_due = now.start_due, False
            chunk()  # most runs end here, before anybody could ask them to
            if outcome.status:
                outcome.note_at_end()
                return
        now.save_start()
        with postponed_interrupt() as interrupt:
            while not outcome.status:
                if interrupt.asked:
                    path = None if keeper is None else str(keeper.store.path)
                    outcome.status = stopped_by_user(now.segment.reached, path)
                    break
                chunk()
            else:
                outcome.note_at_end()
                outcome.certify()
            if keeper is not None:
                keeper.close(outcome)

    def _take(self, chunk: Chunk) -> None:
        """Keep what a chunk saved, and let happen what it met."""
        now, found = self.now, saved_states(self.now.segment, chunk)
        undefined = ~np.isfinite(found.y).all(axis=1)
        if not undefined.any():
            self._take_states(chunk, found)
            return
        first = int(undefined.argmax())  # of a stage that only states between steps need
        failure, when = now.segment.program.failure(), float(found.t[first])
        now.save(found.t[:first], found.y[:first])
        now.close()
        self.outcome.status = status_of(now.counts, when, sh.NOT_FINITE, now.settings, failure)

    def _take_states(self, chunk: Chunk, found: SavedStates) -> None:
        """`_take` for states that all have a value."""
        (t, y, off), now, history = found, self.now, self.history
        segment, code, logs = now.segment, chunk.code, chunk.ranks()
        system, program, parameters = segment.system, segment.program, segment.parameters
        failure = program.failure()
        changes = rank_changes(system, program, logs, parameters, segment.t) if logs else []
        history.ranks += changes
        stops = code == sh.SINGULAR and now.settings.on_singular is OnSingular.STOP
        if stops and changes and changes[-1].t > segment.t:
            before = t <= changes[-1].t
            now.save(t[before], y[before])
            self.outcome.stop(stopped_at_singular(changes[-1]))
            return
        try:
            met = now.events_met() if code in (sh.EVENT, sh.SINGULAR) else []
        except ZwangError as error:  # an event function that has no value any more
            now.save(t, y)
            self.outcome.stop(f"stopped at t = {segment.reached:.6g} s: {error}")
            return
        if met:
            if self._broke(t, y, met[0].t) or not self._agrees(chunk, off):
                return
            before = t <= met[0].t
            now.save(t[before], y[before])
            self._act(met)
            return
        if self._broke(t, y):
            return
        now.save(t, y)
        now.note_misses(t, y)
        if not self._agrees(chunk, off):
            return
        if code in sh.NO_FURTHER and choose_rows_again(now, history):
            pass  # those that acted came to depend on each other, which nothing else does
        elif change_method(now, history, code) or self._went_on(code) or loosen(now, history, code):
            pass
        elif code not in sh.UNDER_WAY:
            self._end(code, failure)
        elif chosen_rows_lost_rank(system, program, logs, parameters):
            choose_rows_again(now, history)

    def _went_on(self, code: int) -> bool:
        """Whether a loop ended at a sample or a switch: then another one goes on from there."""
        now, before = self.now, self.now.segment
        t, ends = before.reached, now.ends
        if code != sh.DONE or t >= now.settings.until:
            return False
        y, under_way = before.state, (now.counts, now.open)
        now.close()
        by, sampled = "a switch in time", False
        try:
            t = now.passed_switch(y, t)
            due = ends.sample_due(t)
            if due is not None:
                by, sampled = "a controller", True
                now.sample(y, due)
            now.go_on(y, t)
        except ZwangError as error:  # keep what there is
            status = f"stopped at t = {t:.6g} s by {by}: {error}"
            if error.__cause__ is not None:  # a mistake in a law of the user's
                if ends.sample_due(t) is not None and now.segment is before and t == before.reached:
                    now.counts, now.open = under_way  # to go on from here with another law
                error.run = self.outcome.abandoned(status)
                raise
            self.outcome.status = status
            if sampled:
                self.history.notes.append(
                    f"what a controller gave ended the run at t = {t:.6g} s: run.status says why"
                )
            return True
        self.history.notes += self._jumps.notes(t, y, now.segment.loop.present[:, 0], by)
        if now.watch is not None and sampled:
            now.watch.begin(now.segment.loop)
        elif now.watch is not None:  # on which side of zero an event was left
            now.segment.loop.event_values[...] = before.loop.event_values
        return True

    # --- events -----------------------------------------------------------------------------------

    def _act(self, together: list[EventCrossing]) -> None:
        """Let events happen: impulses, parameters, constraints; then go on from there."""
        now, history, times = self.now, self.history, self.origin.times
        t, found, nq = together[0].t, together[0].y, len(self.system.coordinates)
        effect = now.effect_of(together)
        # The state in which an event stops it is saved beside the times given.
        besides = bool(effect.stopped_by) and now.settings.stop_saved
        if times is None or (besides and not np.any(times == t)):
            now.save(np.array([t]), found[None].copy())
        y, last = effect.y, effect.happened[-1][0]
        if not effect.stopped_by:
            try:
                # A constraint switched on takes away the velocity it forbids, but moves nothing.
                if now.settings.drift is Drift.PROJECTION:
                    require_position(now.active, y, t, now.p)
                now.begin_segment(y, t, found)
            except ZwangError as error:  # no motion goes on from here: keep what there is
                self.outcome.status = f"stopped at t = {t:.6g} s by event {last!r}: {error}"
                return
            y = now.segment.state
        for name, before, after in effect.happened:
            history.record(name, t, before, y if after is effect.y else after, nq)
        if effect.stopped_by:
            self.outcome.finished = True
            self.outcome.status = f"stopped at t = {t:.6g} s by event {effect.stopped_by!r}"
        elif accumulates(history.records):
            self.outcome.status = (
                f"stopped at t = {t:.6g} s by events that accumulate, {last!r} the last; where a "
                "motion comes to rest, zw.switch(on=…) goes on with a constraint"
            )
        else:
            now.leave(together)
            if times is None:
                now.save(np.array([t]), y[None])

    # --- end --------------------------------------------------------------------------------------

    def _end(self, code: int, failure: ZwangError | None) -> None:
        """End where the loop did, at the end or before."""
        now, segment, place = self.now, self.now.segment, ""
        self.outcome.finished = code == sh.DONE
        now.close()
        end = segment.reached
        stiff = segment.loop.held_back() and now.settings.integrator != "auto"
        if code in (sh.NOT_FINITE, sh.TOO_SMALL, sh.NO_ROOT) and (lost := mass_lost(segment)):
            self.outcome.status = f"stopped at t = {end:.6g} s: {lost}"
            return
        if code == sh.TOO_SMALL:
            taken_back = now.kept.take_back(end)
            self.history.notes = [note for note in self.history.notes if note not in taken_back]
            place = place_of_end(segment, self.history.ranks)
        kept = now.kept.settings(now.settings)
        self.outcome.status = status_of(
            now.counts, end, code, kept, failure, held_back=stiff, place=place
        )

    def _hopeless(self, pace: ChunkSize) -> str:
        """How it ends where steps have collapsed or saved states fill the memory; else empty."""
        segment, history = self.now.segment, self.history
        written = 0 if self.outcome.keeper is None else self.outcome.keeper.store.rows
        return stopped_by_steps(
            pace, segment, history.ranks, self._dead_centers
        ) or stopped_by_states(segment.reached, history.saved, written, len(self.origin.scales))

    def _look(self, y: FloatArray, t: FloatArray, doubt: Disagreement | None = None) -> bool:
        """Whether states ŷ (rows, n̂) of the loop at times (rows,) agree with the full terms."""
        start, stored = self.origin.t, self.outcome.keeper is not None
        status = look_at(self.guard, self.now.segment, y, t, doubt, start=start, stored=stored)
        self.outcome.stop(status)
        return not status

    def _agrees(self, chunk: Chunk, off: Any) -> bool:
        """Whether some of the states that a chunk saved agree with the full terms.

        Those that were off rows tell nothing of the steps, which do not end there.
        """
        now, sampling = self.now, self.now.ends.sampling
        if sampling is not None and not sampling.is_looked_at(ended=chunk.code == sh.DONE):
            return True
        ended = now.segment.reached >= now.settings.until  # though its steps were used up
        rows = self.guard.rows(chunk.filled[0], ended=ended)
        rows = [k for k in rows if k >= len(off) or not off[k]]
        return not rows or self._look(chunk.y[0, rows], chunk.t[0, rows])

    def _broke(self, t: FloatArray, y: FloatArray, until: float = np.inf) -> bool:
        """End where rows that were left out are missed, if they are before a time.

        Where constraints contradict each other, what was right before is kept. Otherwise rows that
        act may have lost rank within a step; those of other coordinates need not, and the run
        begins anew in absolute ones.
        """
        segment = self.now.segment
        found = first_break(segment, t, y, until)
        if found is None:
            return False
        before, status = t < found.t, found.status
        self.now.save(t[before], y[before])
        self.history.keep_before(found.t)
        if found.by_rank:
            doubt, stored = Disagreement(MISSED, segment.reached), self.outcome.keeper is not None
            if require_own_coordinates(self.guard, segment, doubt, stored=stored):
                carrier = segment.program.carrier
                assert carrier is not None
                status += f", or equations that act in {carrier.name} coordinates and {OR_RANK}"
        self.outcome.stop(status)
        return True

    def _progress(self, seconds: float, begun_at: float) -> Progress:
        now, work = self.now, self.now.total()
        start, t, until = self.origin.t, now.segment.reached, now.settings.until
        return Progress(t, start, until, work.steps, work.rejected, seconds, begun_at)


def run_again(origin: Origin, tolerance: float, times: FloatArray) -> Run:
    """The same simulation with another tolerance, saved at other times.

    In the coordinates of the system itself: an error of others would be made twice.
    """
    absolute = Coordinates.ABSOLUTE
    chosen = {"tolerance": tolerance, "coordinates": absolute, "stop_saved": False}
    settings = replace(origin.settings, **chosen)
    simulation = Simulation.begun(origin._replace(settings=settings, times=times))
    return simulation.run_guarded().outcome.result()
