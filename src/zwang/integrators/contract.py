"""What an integrator is to a simulation: buffers around its compiled method, run chunk by chunk.

To add an integrator: name it in `settings.METHODS`, derive its loop from `Loop` and enter that in
`registry.LOOPS`. A loop

1.  names in `REMEMBERED` every array it needs to go on with the same bits;
2.  names in `KERNELS` what it calls besides derivative, project, residual and events;
3.  sets up its own arrays in `prepare`, besides those of `Loop`, and in `begin` what it must know
    at the present state; what is the same in all loops of a program is in its `LoopSetup`;
4.  in `run` integrates from `state` at `memory[T]`, fills the output and returns why it ended; its
    compiled loop takes the records of `records`, and those of its own.

Everything else, here and in the driver, is the same for all methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from operator import add, itemgetter
from typing import ClassVar

import numpy as np

from zwang.caching import computed_once
from zwang.codegen.call import call
from zwang.codegen.kernel import Kernel
from zwang.integrators import memory as sh
from zwang.integrators.event_detection import PARTS
from zwang.integrators.output import RANK_ROWS, Chunk, LoopOutput, left
from zwang.integrators.projection import (
    CORRECTIONS,
    LARGEST,
    PIVOT_ARRAYS,
    derivative,
    project_start,
)
from zwang.integrators.records import (
    EventMemory,
    LoopChoices,
    LoopEquations,
    LoopMemory,
    ProjectionRoom,
)
from zwang.integrators.settings import Settings
from zwang.integrators.setup import LoopSetup
from zwang.integrators.step_size import begin_step
from zwang.integrators.stiffness import NEXT_METHOD
from zwang.programs.contract import Program
from zwang.terms import FloatArray

__all__ = ["WORK", "Loop", "met_all_rows", "work_of"]

#: Rows of the output buffer: enough to keep the interpreter out of the loop, little memory.
BUFFER_ROWS = 4096
#: Steps between returns to Python, for progress and Ctrl-C; some tens of milliseconds of work.
STEPS_PER_CHUNK = 20_000
#: Numbers in an output that is kept for the next chunk.
LARGEST_KEPT = 100_000
#: Setups that are kept with a program.
SETUPS = 32


class Loop(ABC):
    """A simulation under way: all it needs to go on is in the arrays it names in `REMEMBERED`.

    Parameters
    ----------
    program : what to integrate; its lanes are the trajectories.
    settings : how.
    t, y, p : start time, states (n, lanes) and parameters (np, lanes).
    times : times to save at; None saves every accepted step.
    scales : size of each entry of the state below which its error counts as absolute, (n,); with
        a minus where it is absolute whatever the entry, as for angles.
    events : kernel of the event functions.
    may_leave : return LEAVES where another method would do with less work, see `stiffness`.
    returns : how often an implicit method has returned to an explicit one before.
    carried : that y, p and scales are in the coordinates of the program's carrier already.
    project : put the start on its constraints first.
    """

    #: Arrays that hold all a loop remembers.
    REMEMBERED: ClassVar[tuple[str, ...]] = (
        "state",
        "parameters",
        "memory",
        "counts",
        "row_sizes",
        "event_values",
        "event_before",
        "previous",
    )
    #: Where in a step the method looks for events, besides its ends.
    LOOKS: ClassVar[tuple[float, ...]] = tuple(k / PARTS for k in range(1, PARTS))
    #: Kernels of the program that the method calls besides those that all do.
    KERNELS: ClassVar[tuple[str, ...]] = ()
    #: Whether the next chunk is to begin with the present state.
    saves_present: bool = False
    #: Whether chunks may write to the output of the one before, for those who copy what they need.
    keeps_output: bool = False
    _output: LoopOutput | None = None

    def __init__(
        self,
        program: Program,
        settings: Settings,
        t: float,
        y: FloatArray,
        p: FloatArray,
        *,
        times: FloatArray | None,
        scales: FloatArray,
        events: Kernel | None = None,
        carried: bool = False,
        project: bool = False,
        may_leave: bool = False,
        returns: int = 0,
    ) -> None:
        if program.carrier is not None and not carried:
            y, p = program.carrier.enter(y, t, p)
        W, n = program.lanes, program.nq + program.nv
        self.program, self.settings, self._events = program, settings, events
        self.may_leave, self.returns = may_leave, returns
        every_step = times is None
        frame = self._frame = self._setup(scales, every_step=every_step, carried=carried)
        self.scales, self.absolute = frame.scales, frame.absolute
        self.entry_sizes = frame.entry_sizes
        self.addresses, self.sizes, self.options = frame.addresses, frame.sizes, frame.options
        self.event_count = frame.event_count
        self.state = np.array(y, dtype=float, order="C")  # the loop works in place
        self.parameters = np.array(p, dtype=float, order="C")
        self.memory, self.counts = frame.memory.copy(), frame.counts.copy()
        self._set_times(t, times)
        self.lanes = (0,) * W
        self.largest = frame.largest
        #: Pivots of position rows and what they are compared with, which is remembered.
        self.pivots = self.room_for_pivots(W)
        rows = max(program.rows[0], 1)
        self.row_sizes = self.pivots[LARGEST * rows : (LARGEST + 1) * rows]
        ok, settled = np.zeros((2, W), dtype=bool)
        residuals, scratch = np.empty((max(program.rows[1], 1), W)), np.empty((n, W))
        self.onto = ProjectionRoom(
            self.pivots, residuals, self.absolute, ok, np.empty(W), settled, scratch
        )
        functions = max(self.event_count, 1)
        self.event_values, self.event_before, self.event_new = np.zeros((3, functions, W))
        #: Time and state at the start of the last step, for events.
        self.previous = np.zeros((2, n, W))
        self.prepare()
        self._make_records()
        self._begin(t, project=project)

    def _set_times(self, t: float, times: FloatArray | None) -> None:
        """What the loop is to save, from where it begins."""
        self.times = np.zeros(0) if times is None else np.ascontiguousarray(times, dtype=float)
        self._begin_times(t)

    def _begin_times(self, t: float) -> None:
        """Where the loop begins, and which of the times come next."""
        self.memory[sh.T] = t
        if len(self.times) and self.times.item(0) <= t:
            self.counts[sh.NEXT] = self.times.searchsorted(t, side="right")

    def _begin(self, t: float, *, project: bool) -> None:
        """Put the start on its constraints, and make ready to go on from there."""
        if project and self.options[0]:
            self._project()
        if t < self.settings.until:
            self.begin()
            if self._events is not None:
                self._look(self._events)
        else:
            self.counts[sh.ACTIVE] = 0

    def restart(
        self, settings: Settings, t: float, y: FloatArray, p: FloatArray, times: FloatArray | None
    ) -> None:
        """Begin anew in the same buffers, put on the constraints: the same bits as a new loop.

        Of loops of one trajectory.

        Parameters
        ----------
        settings : which differ from those before in their end alone.
        t, y, p : start time, state (n,) and parameters (np,).
        times : to save at, for every step or not as before.
        """
        if self.program.carrier is not None:
            y, p = self.program.carrier.entered(y, t, p)
        self.clear()
        self.state[:, 0], self.parameters[:, 0] = y, p
        if settings is not self.settings or times is not self.times:
            self.settings = settings
            self._set_times(t, times)
            self._make_choices()
        else:
            self._begin_times(t)
        self._begin(t, project=True)

    def clear(self) -> None:
        """Give all that is remembered the values that it has before a loop begins."""
        for array in self._cleared:
            array.fill(0)
        self.memory[...], self.counts[...] = self._frame.memory, self._frame.counts

    @computed_once
    def _cleared(self) -> list[np.ndarray]:
        """What is remembered and has no value before a loop begins."""
        given = {"state", "parameters", "memory", "counts"}
        if self._events is None:  # nothing is written there
            given |= {"event_values", "event_before", "previous"}
        return [getattr(self, name) for name in self.REMEMBERED if name not in given]

    def _setup(self, scales: FloatArray, *, every_step: bool, carried: bool) -> LoopSetup:
        """What loops of the program have in common, kept with it unless there are events."""
        program, settings, events = self.program, self.settings, self._events
        chosen = settings.tolerance, settings.drift, settings.on_singular, self.KERNELS
        key = *chosen, every_step, carried, scales.tobytes()
        found = program.frames.get(key) if events is None else None
        if found is None:
            given = program, settings, scales, events, self.KERNELS
            found = LoopSetup.of(*given, every_step=every_step, carried=carried)
            if events is None:
                if len(program.frames) >= SETUPS:
                    program.frames.clear()
                program.frames[key] = found
        return found

    def room_for_pivots(self, lanes: int) -> FloatArray:
        """The array that `project_once` and others know as pivots."""
        return np.zeros((PIVOT_ARRAYS * max(self.program.rows[0], 1), lanes))

    def prepare(self) -> None:
        """Set up the arrays that the method has of its own, and room for kernels to work in."""
        self.work = self.largest.work()

    @abstractmethod
    def begin(self) -> None:
        """Make ready to go on from the present state: its derivative, a first step."""

    @abstractmethod
    def run(self, out: LoopOutput, budget: int) -> int:
        """Call the compiled loop; why it returned."""

    def _make_records(self) -> None:
        """The arrays as compiled loops know them."""
        nq, rows, _, events = self.sizes
        self.equations = LoopEquations(
            self.addresses, self.parameters, self.work, nq, rows, events, self.lanes
        )
        self.remembered_steps = LoopMemory(self.state, self.memory, self.counts)
        self._make_choices()
        self.event_memory = EventMemory(
            self.event_values, self.event_before, self.event_new, self.previous
        )

    def _make_choices(self) -> None:
        """What was asked for, as compiled loops know it."""
        settings = self.settings
        self.choices = LoopChoices(
            settings.until,
            *settings.limits,
            settings.tolerance,
            self.entry_sizes,
            self.times,
            *self.options,
            self.may_leave,
            len(self.program.left_out) > 0 and (self.may_leave or not self.settings.method.nodes),
        )

    def _look(self, events: Kernel) -> None:
        """The event functions at the present state."""
        nq = self.program.nq
        call(
            events.address,
            self.state[:nq],
            self.state[nq:],
            self.memory[sh.T : sh.T + 1],
            self.parameters,
            self.event_values,
            self.work,
        )

    @property
    def t(self) -> FloatArray:
        """Present time of each lane."""
        return self.memory[sh.T]

    @property
    def tried(self) -> int:
        """Steps so far, accepted and rejected, of the lane that made most."""
        counts = self.counts
        return max(map(add, counts[sh.ACCEPTS].tolist(), counts[sh.REJECTS].tolist()))

    @property
    def finished(self) -> bool:
        """Whether every lane has reached its end."""
        return not self.counts[sh.ACTIVE].any()

    @property
    def present(self) -> FloatArray:
        """Present state of each lane (n, lanes), in the coordinates of the system."""
        if self.program.carrier is None:
            return self.state
        return self.program.carrier.leave(self.state.T, self.t, self.parameters.T).T

    def in_system(self, y: FloatArray, t: FloatArray, lane: int = 0) -> FloatArray:
        """States (rows, n) of a lane at times (rows,), in the coordinates of the system."""
        return left(y, t, self.program.carrier, self.parameters[:, lane])

    def accelerations(self) -> FloatArray:
        """v̇ of the system at the present state of each lane, (lanes, nv); all at one time."""
        rates = np.empty_like(self.state)
        derivative(self.equations, self.state, self.memory[sh.T : sh.T + 1], rates)
        if self.program.carrier is None:
            return np.ascontiguousarray(rates[self.program.nq :].T)
        return self.program.carrier.accelerations(
            self.state.T, rates.T, float(self.t[0]), self.parameters.T
        )

    def _project(self) -> None:
        """Put the present state on its constraints."""
        project_start(self.equations, self.remembered_steps, self.onto)

    def first_step(self, derivative: FloatArray, error_order: int) -> None:
        """Choose a first step, and write the derivative at the present state."""
        begin_step(self.equations, self.remembered_steps, derivative, self.choices, error_order)

    def advance(self, budget: int = STEPS_PER_CHUNK, rows: int = BUFFER_ROWS) -> Chunk:
        """Run until done, a buffer is full, the budget of steps is used or an event is met."""
        n, W = self.state.shape
        projects, every_step, _, _ = self.options
        if not every_step:  # no more than there are times to come
            nearest = self.counts.item(sh.NEXT, 0) if W == 1 else int(self.counts[sh.NEXT].min())
            ahead = len(self.times) - nearest
            rows = min(rows, ahead + 3)
        rank_rows = RANK_ROWS if projects and self.program.rows[0] else 1
        while True:
            out = self._room_for_output(rows, n, W, rank_rows)
            if self.saves_present:
                out.t[:, 0], out.y[:, 0] = self.memory[sh.T], self.state.T
                out.filled.fill(1)
                self.saves_present = False
            code = self.run(out, budget)
            filled, logged = out.filled.tolist(), out.rank_rows.tolist()
            if code == sh.FULL and not any(filled) and not any(logged):
                rows *= 4  # more save times within one step than the buffer holds
                continue
            carrier = self.program.carrier
            return Chunk(code, out.t, out.y, filled, out.ranks, logged, self.parameters, carrier)

    def _room_for_output(self, rows: int, n: int, W: int, rank_rows: int) -> LoopOutput:
        """Empty output of so many rows, that of the last chunk where it will do."""
        out = self._output
        if out is None or out.t.shape[1] != rows or out.ranks.shape[0] != rank_rows:
            out = LoopOutput(rows, n, W, rank_rows)
            self._output = out if self.keeps_output and out.y.size <= LARGEST_KEPT else None
        else:
            out.filled.fill(0)
            out.rank_rows.fill(0)
        return out

    def work_done(self, lane: int = 0) -> tuple[int, ...]:
        """Steps, rejected ones, evaluations, projections, Jacobians, factorisations."""
        return work_of(self.counts, lane)

    def met_all_rows(self, lane: int = 0) -> bool:
        """Whether every step surely ended on all rows, those that do not act included.

        A projection that leaves a residual has used up its corrections; so many more than one a
        step there must have been.
        """
        return met_all_rows(self.program, self.counts[:, lane])

    def next_method(self) -> str:
        """The method that takes over where this one leaves."""
        return NEXT_METHOD[self.settings.integrator]

    def held_back(self, lane: int = 0) -> bool:  # noqa: ARG002 - methods may know better
        """Whether stability and not accuracy decided the step, so that another method would do."""
        return False


def met_all_rows(program: Program, counts: np.ndarray) -> bool:
    """`Loop.met_all_rows` from what a lane counted."""
    more = counts[sh.PROJECTIONS] - counts[sh.ACCEPTS]
    return bool(program.watches_all_rows and 0 <= more < CORRECTIONS - 1)


def work_of(counts: np.ndarray, lane: int) -> tuple[int, ...]:
    """`Loop.work_done` from what a loop counted."""
    return _WORK(counts[:, lane].tolist())


#: Where the work of a loop is counted, in the order of `zwang.results.run.Counts`.
WORK = (sh.ACCEPTS, sh.REJECTS, sh.EVALUATIONS, sh.PROJECTIONS, sh.JACOBIANS, sh.FACTORISATIONS)
_WORK = itemgetter(*WORK)
