"""Integration under way: the constraints and parameters of now, a program for them, and its loop.

It begins anew wherever one of them changes. What is saved goes to the history of the simulation,
and so does what is to be said of the program.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from zwang.integrators.registry import start_loop
from zwang.integrators.settings import Coordinates, Drift
from zwang.results.run import Counts
from zwang.results.segments import Beginning
from zwang.simulation.events import EventCrossing, Watch, Watches
from zwang.simulation.half_turns import HalfTurns
from zwang.simulation.impacts import Effect, dormant, effect_of, first_effective
from zwang.simulation.loop_ends import LoopEnds
from zwang.simulation.loop_segment import LoopSegment
from zwang.simulation.method_and_tolerance import MethodAndTolerance
from zwang.simulation.notes import OFF, off_constraints_note, program_notes
from zwang.simulation.open_laws import OpenMotion
from zwang.simulation.options import AT_A_SAMPLE, AT_A_SWITCH, require_law, require_position
from zwang.simulation.rank_report import always_dependent
from zwang.simulation.select_program import LatestProgram, ProgramStart, in_python
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.integrators.contract import Loop
    from zwang.programs.contract import Program
    from zwang.results.history import History
    from zwang.simulation.guard import Guard
    from zwang.simulation.origin import Origin
    from zwang.system import System

__all__ = ["Integration"]


class Integration:
    """What is integrated now, and by what.

    Attributes
    ----------
    settings : with coordinates that are not doubted.
    inactive, parameters, p : as they are now; events and controllers change them.
    segment : what the present loop integrates.
    kept : the method and the tolerance.
    ends : when a loop is to end before the simulation does.
    watches, watch : event functions, and those that the present loop sees, if there are any.
    open_motions : laws that use what is left open, by the constraints that do not act.
    start_due : whether the start is still to be saved.
    counts, open : work of the loops that ended, and whether that of the present one is to be added.
    """

    segment: LoopSegment

    def __init__(self, origin: Origin, guard: Guard, history: History) -> None:
        self.system, self.settings = origin.system, origin.settings
        self.inactive, self.parameters, self.p = origin.inactive, origin.parameters, origin.p
        self.kept = MethodAndTolerance(origin.settings.tolerance)
        self.ends, self.watches = LoopEnds(origin), Watches(origin.system, origin.events)
        self.watch: Watch | None = None
        self.open_motions: dict[frozenset[str], OpenMotion] = {}
        self.start_due, self.counts, self.open = False, Counts(), False
        self._origin, self._guard, self._history = origin, guard, history
        self._half_turns = HalfTurns(origin.system)

    @property
    def active(self) -> System:
        """The system with the constraints that act."""
        return self.system.without(self.inactive)

    def adopt(self, loop: Loop, began: Beginning | None) -> None:
        """Go on with a loop that began at the start of the simulation."""
        origin, history = self._origin, self._history
        own = self.system, self.settings, self.parameters, self.p
        self.segment = LoopSegment(*own, origin.t, origin.y, loop)
        history.begin_segment(self.system, self.parameters, began)
        self.open = True

    def begin_segment(self, y: FloatArray, t: float, found: FloatArray | None = None) -> None:
        """A new loop from a state on, put on the constraints of now, with the parameters of now.

        `found` is the state before impulses, if there are any.
        """
        active, history, p = self.active, self._history, self.p
        nq, equations = len(self.system.coordinates), active.equations
        laws = require_law(active, y[:nq], y[nq:], t, p, history.notes)
        note = in_python(equations, self.settings)
        if note:
            history.note([note])
            # Refuses what the formulation does not apply to, and errors of functions, by name.
            formulation = self.settings.formulation
            equations.solve_at(y[:nq], y[nq:], np.asarray(t), p, formulation=formulation)
        equations.require_unique(y[:nq], y[nq:], np.asarray(t), p)
        program = self.program(active, y, t)
        doubt = self._guard.account.doubt(program)
        if doubt:
            assert program.carrier is not None
            note = f"integrated in absolute coordinates: in {program.carrier.name} ones {doubt}"
            history.note([note])
            self.settings = replace(self.settings, coordinates=Coordinates.ABSOLUTE)
            program = self.program(active, y, t)
        self._guard.begin(program, p)
        if program.idle_rows:
            history.ranks.append(always_dependent(active, program, y, t, self.parameters))
        history.note(program_notes(active, program))
        if laws is not None and self.inactive not in self.open_motions:
            idle, tolerance = len(program.idle_rows), self.settings.tolerance
            self.open_motions[self.inactive] = OpenMotion(
                equations, (y, t, p), laws, idle=idle, tolerance=tolerance
            )
        if self._origin.events:
            self.watch = self.watches.of(active, self.inactive, program.carrier, (y, t, p))
        self._start_loop(active, program, y, t, found)

    def program(self, active: System, y: FloatArray, t: float) -> Program:
        """The program for a state and the parameters of now."""
        latest = LatestProgram.of(active.equations)
        return latest.select(active.equations, ProgramStart(y, t, self.p), self.settings)

    def _start_loop(
        self, active: System, program: Program, y: FloatArray, t: float, found: FloatArray | None
    ) -> None:
        """A loop with the parameters of now, up to the next sample or switch if there are any."""
        p, kept, origin = self.p, self.kept, self._origin
        settings = kept.settings(self.settings)
        ends = self.ends.after(t, p)
        self._history.note(self.ends.notes)
        if ends:
            settings = replace(settings, until=min(settings.until, *ends))
        loop = start_loop(
            program,
            settings,
            t,
            y[:, None],
            p[:, None],
            times=origin.times,
            scales=origin.scales,
            events=self.watch.kernel if self.watch else None,
            project=True,
            method=kept.method,
            may_leave=self.settings.integrator == "auto",
            returns=kept.returns,
        )
        self.segment = LoopSegment(active, self.settings, self.parameters, p, t, y, loop)
        began = None
        if not self.start_due:  # else it is the first saved state
            began = Beginning(t, self.segment.state, y if found is None else found)
        self._history.begin_segment(active, self.parameters, began, kept.method)
        self.open = True

    def begin_again(self, y: FloatArray) -> None:
        """A new segment at the time reached, from a state as it was reached or next to it."""
        before = self.segment
        self.close()
        self.begin_segment(y, before.reached)
        # On which side of its zero an event was left is not to be seen from the state alone.
        self.segment.loop.event_values[...] = before.loop.event_values

    def go_on(self, y: FloatArray, t: float) -> None:
        """A new loop for the same constraints, and a new segment if it takes another program."""
        active = self.segment.system
        program = self.program(active, y, t)
        if program is self.segment.program:  # other values of the same inputs
            self._start_loop(active, program, y, t, None)
        else:
            self.begin_segment(y, t)

    def sample(self, y: FloatArray, t: float) -> None:
        """Let the controllers act that are due at a time."""
        if self.ends.sampling is None:
            return
        self.parameters = self.ends.sampling.act(t, y, self.parameters)
        self.p = self.system.parameter_vector(self.parameters)
        # Else the state would be moved onto constraints that a controller has moved.
        self._require_position(y, t, AT_A_SAMPLE)

    def passed_switch(self, y: FloatArray, t: float) -> float:
        """Save what is to be saved while forces or drivers switch, if they do; the time after that.

        It is later by some neighboring numbers, in which nothing moves.
        """
        switch, times = self.ends.switch, self._origin.times
        if switch is None or t < switch.before:
            return t
        self._require_position(y, switch.after, AT_A_SWITCH)
        if times is not None:
            first, last = np.searchsorted(times, [t, switch.after], side="right")
            self.save(times[first:last].copy(), np.tile(y, (last - first, 1)))
        return switch.after

    def _require_position(self, y: FloatArray, t: float, when: str) -> None:
        active = self.active
        if self.settings.drift is Drift.PROJECTION and active.row_names:
            require_position(active, y, t, self.p, when)

    def save(self, t: FloatArray, y: FloatArray) -> None:
        """Keep states on the constraints of now; the arrays must be nobody else's."""
        history = self._history
        history.notes += self._half_turns.notes(t, y, self.parameters)
        if self.inactive in self.open_motions:
            history.note(self.open_motions[self.inactive].notes(t, y, self.p))
        history.save(t, y)

    def note_misses(self, t: FloatArray, y: FloatArray) -> None:
        """Say once if states saved between steps are off the constraints."""
        notes = self._history.notes
        if self._origin.times is None or any(note.startswith(OFF) for note in notes):
            return
        note = off_constraints_note(self.segment.equations, self.settings, t, y, self.p)
        notes += [note] if note else []

    def save_start(self) -> None:
        """Save the start, if it is among the times and not yet saved."""
        if self.start_due:
            loop = self.segment.loop
            self.save(loop.t.copy(), loop.present.T.copy())
            self.start_due = False

    def events_met(self) -> list[EventCrossing]:
        """The first event within the last step that changes something, and all that come with it.

        Those before it are recorded.
        """
        if self.watch is None:
            return []
        nq, inactive = len(self.system.coordinates), self.inactive
        found = self.watch.crossings(self.segment.loop, lambda event: dormant(event, inactive))
        earlier, together = first_effective(self._origin.events, found)
        for met in earlier:
            self._history.record(met.name, met.t, met.y, met.y, nq)
        return together

    def effect_of(self, together: list[EventCrossing]) -> Effect:
        """End the loop with events that happen at once; constraints and parameters are as they say.

        The state is that of the effect: a segment is to be begun from it.
        """
        assert self.watch is not None
        events, loop = self._origin.events, self.segment.loop
        effect = effect_of(events, together, self.watch, loop, self.parameters, self.inactive)
        self.inactive, self.parameters = effect.inactive, effect.parameters
        self.p = self.segment.system.parameter_vector(self.parameters)
        self.close()
        return effect

    def leave(self, together: list[EventCrossing]) -> None:
        """Tell the loop on which side of zero the motion leaves events that happened."""
        assert self.watch is not None
        for met in together:
            self.watch.after(self.segment.loop, met)

    def close(self) -> None:
        """Add up the work of the loop that ends."""
        self.counts, self.open = self.total(), False

    def total(self) -> Counts:
        """Work done so far."""
        return self.counts.plus(self.segment.loop.work_done()) if self.open else self.counts
