"""The time loop seen from Python: buffers around a compiled method, chunk by chunk.

To add an integrator: name it in `settings.METHODS`, derive its loop from `Loop` and enter that in
`choose.LOOPS`. A loop

1.  names in `REMEMBERED` every array it needs to go on with the same bits;
2.  names in `KERNELS` what it calls besides derivative, project, residual and events;
3.  sets up its own arrays in `prepare`, and in `begin` what it must know at the present state;
4.  in `run` integrates from `state` at `memory[T]`, fills the output and tells why it returned.

Everything else, here and in the driver, is the same for all methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from zwang.engine.program import Program
from zwang.integrators import shared as sh
from zwang.integrators import singular as sg
from zwang.integrators.settings import Drift, OnSingular, Settings
from zwang.kernels.element import Kernel
from zwang.terms import FloatArray

__all__ = ["Chunk", "Loop", "Output", "RankLog"]

#: Rows of the output buffer: enough to keep the interpreter out of the loop, little memory.
BUFFER_ROWS = 4096
#: Steps between returns to Python, for progress and Ctrl-C; some tens of milliseconds of work.
STEPS_PER_CHUNK = 20_000
#: Rank changes remembered between returns.
RANK_ROWS = 256


@dataclass(frozen=True)
class RankLog:
    """A change of rank: when, how many position rows are dependent, for longer?, the state."""

    t: float
    dependent_rows: int
    lasting: bool
    y: FloatArray

    @classmethod
    def of(cls, row: FloatArray) -> RankLog:
        """From a row of what the compiled loop wrote."""
        t, dependent, lasting = row[: sg.LOG]
        return cls(float(t), int(dependent), bool(lasting), row[sg.STATE :].copy())


@dataclass(frozen=True)
class Chunk:
    """What one call of the compiled loop produced.

    Attributes
    ----------
    code : why it returned, see `zwang.integrators.shared`.
    t, y : saved times and states of each lane, lists of (rows,) and (rows, n).
    ranks : changes of rank, per lane.
    """

    code: int
    t: list[FloatArray]
    y: list[FloatArray]
    ranks: list[list[RankLog]]


class Output:
    """What a compiled loop writes to, for W trajectories of n entries.

    Attributes
    ----------
    t, y : saved times (rows, W) and states (rows, n, W), `filled` rows of each lane.
    ranks : each change of rank and the state there, `rank_rows` rows of each lane, see
        `zwang.integrators.singular`.
    """

    def __init__(self, rows: int, n: int, W: int) -> None:
        self.t, self.y = np.empty((rows, W)), np.empty((rows, n, W))
        self.filled = np.zeros(W, dtype=np.int64)
        self.ranks = np.empty((RANK_ROWS, sg.LOG + n, W))
        self.rank_rows = np.zeros(W, dtype=np.int64)

    def chunk(self, code: int) -> Chunk:
        """What was written, lane by lane."""
        lanes = range(len(self.filled))
        return Chunk(
            code,
            [self.t[: self.filled[k], k].copy() for k in lanes],
            [self.y[: self.filled[k], :, k].copy() for k in lanes],
            [[RankLog.of(row) for row in self.ranks[: self.rank_rows[k], :, k]] for k in lanes],
        )


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
    carried : that y, p and scales are in the coordinates of the program's carrier already.
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
    #: Kernels of the program that the method calls besides those that all do.
    KERNELS: ClassVar[tuple[str, ...]] = ()

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
    ) -> None:
        if program.carrier is not None and not carried:
            y, p = program.carrier.enter(y, t, p)
            scales = program.carrier.scales(scales)
        W, n = program.lanes, program.nq + program.nv
        self.program, self.settings = program, settings
        self.state = np.array(y, dtype=float, order="C")  # the loop works in place
        self.parameters = np.array(p, dtype=float, order="C")
        self.memory = np.zeros((sh.REALS, W))
        self.counts = np.zeros((sh.COUNTS, W), dtype=np.int64)
        self.memory[sh.T], self.memory[sh.ERROR] = t, 1e-4
        self.memory[sh.PIVOT] = self.memory[sh.AHEAD] = np.inf  # not known
        self.counts[sh.ACTIVE] = self.counts[sh.FALLING] = 1
        self.times = np.zeros(0) if times is None else np.ascontiguousarray(times, dtype=float)
        if len(self.times):
            self.counts[sh.NEXT] = np.searchsorted(self.times, t, side="right")
        self.scales = np.ascontiguousarray(scales, dtype=float)
        #: Absolute part of the tolerance, (n,).
        self.absolute = settings.tolerance * np.maximum(np.abs(self.scales), 1e-300)
        self.lanes = (0,) * W
        self.event_count = 0 if events is None else events.outputs[0].size
        self._events = events
        self.work = program.work(events, self.KERNELS)
        self.addresses = program.addresses(events, self.KERNELS)
        #: Position rows, rows of residuals and event functions after the number of coordinates.
        self.sizes = np.array([program.nq, *program.rows[:2], self.event_count])
        #: Pivots of position rows and what they are compared with, which is remembered.
        self.pivots = sh.room_for_pivots(program.rows[0], W)
        self.row_sizes = self.pivots[(sh.PARTS - 1) * program.rows[0] :]
        projects = settings.drift is Drift.PROJECTION and program.rows[1] > 0
        #: Whether to project, to save every step, to look for events, to return where rank is lost:
        #: the run is to stop there, or rows left out may have to act in place of others.
        stops = settings.on_singular is OnSingular.STOP or len(program.left_out) > 0
        self.options = (projects, times is None, self.event_count > 0, stops)
        self.event_values = np.zeros((max(self.event_count, 1), W))
        self.event_before = np.zeros((max(self.event_count, 1), W))
        #: Time and state at the start of the last step, for events.
        self.previous = np.zeros((3, max(n, 2), W))
        self.prepare()
        if t < settings.until:
            self.restart()
        else:
            self.counts[sh.ACTIVE] = 0

    @abstractmethod
    def prepare(self) -> None:
        """Set up the arrays that the method has of its own."""

    @abstractmethod
    def begin(self) -> None:
        """Make ready to go on from the present state: its derivative, a first step."""

    @abstractmethod
    def run(self, out: Output, budget: int) -> int:
        """Call the compiled loop; why it returned."""

    def restart(self) -> None:
        """Forget the past and go on from the present state, as at the start."""
        self.begin()
        self.counts[sh.REJECTED] = self.counts[sh.NEAR] = 0
        if self._events is not None:
            from zwang.kernels.call import call

            nq = self.program.nq
            call(
                self._events.address,
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
    def finished(self) -> bool:
        """Whether every lane has reached its end."""
        return not self.counts[sh.ACTIVE].any()

    @property
    def present(self) -> FloatArray:
        """Present state of each lane (n, lanes), in the coordinates of the system."""
        if self.program.carrier is None:
            return self.state
        lanes = range(len(self.lanes))
        rows = [self.in_system(self.state[:, k][None], self.t[k : k + 1], k)[0] for k in lanes]
        return np.stack(rows, axis=1)

    def in_system(self, y: FloatArray, t: FloatArray, lane: int = 0) -> FloatArray:
        """States (rows, n) of a lane at times (rows,), in the coordinates of the system."""
        if self.program.carrier is None:
            return y
        return self.program.carrier.leave(y, t, self.parameters[:, lane])

    def project(self) -> bool:
        """Put the present state on its constraints; whether that converged."""
        if not self.options[0]:
            return True
        n, W = self.state.shape
        ok = np.empty(W, dtype=bool)
        sizes = self.program.rows
        sh.projected(
            self.addresses,
            self.state,
            self.memory[sh.T : sh.T + 1],
            self.parameters,
            self.pivots,
            np.empty((max(sizes[1], 1), W)),
            self.work,
            self.program.nq,
            self.absolute,
            ok,
            np.empty(W),
            np.empty(W, dtype=bool),
            np.empty((n, W)),
            self.lanes,
        )
        # Rows that are dependent here and at the end of a step were so from the start.
        self.counts[sh.ENDED] = (self.pivots[: sizes[0]] < sh.RANK_PIVOT).sum(axis=0)
        return bool(ok.all())

    def first_step(self, derivative: FloatArray, error_order: int) -> None:
        """Choose a first step, and write the derivative at the present state."""
        span = min(self.settings.until - self.memory[sh.T, 0], self.settings.largest_step)
        sh.first_step(
            self.addresses,
            self.state,
            self.memory[sh.T : sh.T + 1],
            self.parameters,
            derivative,
            self.work,
            self.program.nq,
            self.settings.tolerance,
            self.scales,
            error_order,
            np.array([span] * len(self.lanes)),
            self.memory[sh.H],
            self.lanes,
        )
        self.counts[sh.EVALUATIONS] += 2

    def advance(self, budget: int = STEPS_PER_CHUNK, rows: int = BUFFER_ROWS) -> Chunk:
        """Run until done, a buffer is full, the budget of steps is used or an event is met."""
        return self._handed_over(self.advance_in_own(budget, rows))

    def advance_in_own(self, budget: int = STEPS_PER_CHUNK, rows: int = BUFFER_ROWS) -> Chunk:
        """`advance`, with what it saves left in the coordinates of the loop."""
        n, W = self.state.shape
        while True:
            out = Output(rows, n, W)
            code = self.run(out, budget)
            if code == sh.FULL and not out.filled.any() and not out.rank_rows.any():
                rows *= 4  # more save times within one step than the buffer holds
                continue
            return out.chunk(code)

    def _handed_over(self, chunk: Chunk) -> Chunk:
        """What a chunk holds in the coordinates of the system."""
        if self.program.carrier is None:
            return chunk
        lanes = range(len(self.lanes))
        return Chunk(
            chunk.code,
            chunk.t,
            [self.in_system(chunk.y[k], chunk.t[k], k) for k in lanes],
            [
                [
                    replace(log, y=self.in_system(log.y[None], np.array([log.t]), k)[0])
                    for log in logs
                ]
                for k, logs in zip(lanes, chunk.ranks, strict=True)
            ],
        )

    def work_done(self, lane: int = 0) -> tuple[int, ...]:
        """Steps, rejected ones, evaluations, projections, Jacobians, factorisations."""
        entries = (
            sh.ACCEPTS,
            sh.REJECTS,
            sh.EVALUATIONS,
            sh.PROJECTIONS,
            sh.JACOBIANS,
            sh.FACTORISATIONS,
        )
        counts = self.counts[:, lane].tolist()
        return tuple(counts[k] for k in entries)

    def met_all_rows(self, lane: int = 0) -> bool:
        """Whether every step surely ended on all rows, those that do not act included.

        A projection that leaves a residual has used up its corrections; so many more than one a
        step there must have been.
        """
        more = self.counts[sh.PROJECTIONS, lane] - self.counts[sh.ACCEPTS, lane]
        return bool(self.program.watches_all_rows and 0 <= more < sh.CORRECTIONS - 1)

    def held_back(self, lane: int = 0) -> bool:  # noqa: ARG002 - methods may know better
        """Whether stability and not accuracy decided the step, so that another method would do."""
        return False

    @property
    def limits(self) -> tuple[float, float, float]:
        """Smallest step, below which t + h is no longer told from t; largest; fixed or 0."""
        smallest = 16.0 * np.finfo(float).eps * max(abs(self.settings.until), 1e-6)
        return smallest, self.settings.largest_step, self.settings.step
