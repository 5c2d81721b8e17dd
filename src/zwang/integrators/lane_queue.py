"""Integrators: many trajectories in the lanes of one loop, each taken over where one ends.

Trajectories of an ensemble differ in their numbers of steps. If lanes waited for the longest of
those that began together, a fifth of the work of a thousand pendulums would be done in vain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zwang.codegen.jit import inlined, loop
from zwang.codegen.simd import side_by_side
from zwang.integrators import memory as sh
from zwang.integrators.explicit.records import (
    FIRST,
    OUTCOMES,
    POINT,
    ExplicitMethod,
    ExplicitRoom,
    ExplicitStep,
    step_of,
)
from zwang.integrators.explicit.step import advance
from zwang.integrators.memory import (
    ACTIVE,
    DONE,
    ENDED,
    FULL,
    HANDOVER,
    RANK_PIVOT,
    H,
    T,
)
from zwang.integrators.output import LoopOutput, RankLog, left, rank_logs, save
from zwang.integrators.projection import copy_lanes, evaluate, projected
from zwang.integrators.records import (
    BoolArray,
    EventMemory,
    FloatArray,
    IntArray,
    LoopChoices,
    LoopEquations,
    LoopMemory,
    OutputBuffers,
    ProjectionRoom,
)
from zwang.integrators.step_size import first_step

if TYPE_CHECKING:
    from zwang.integrators.explicit.loop import ExplicitLoop

__all__ = ["LaneQueue"]

# What is known of a lane: the trajectory that runs in it, or NOBODY, and the rows of output and of
# changes of rank from which on they are its own.
OWNER, ROW, LOG = 0, 1, 2
NOBODY = -1
# What is known of the relay: the next trajectory, and how many pieces are noted.
NEXT, NOTED = 0, 1
#: A piece of a trajectory: which, in which lane, its rows of output and of changes: first and last.
PIECE = 6


class Trajectories(NamedTuple):
    """The trajectories of a queue, and what is known of those that have begun or ended.

    Attributes
    ----------
    starts, parameters : where they begin, a row each.
    memory, counts : what a lane remembers, and has counted, when a trajectory begins.
    span : longest first step (lanes,).
    saves_first : whether to save where trajectories begin.
    begun : of those that have begun: state and derivative there (trajectories, 2, n).
    ends, counted, outcomes : of those that have ended: when, what they counted, and why.
    """

    starts: FloatArray
    parameters: FloatArray
    memory: FloatArray
    counts: IntArray
    span: FloatArray
    saves_first: bool
    begun: FloatArray
    ends: FloatArray
    counted: IntArray
    outcomes: IntArray


class LaneUse(NamedTuple):
    """Which trajectories run in which lanes.

    Attributes
    ----------
    places : OWNER, ROW and LOG of lanes.
    queue : NEXT and NOTED.
    pieces : of trajectories, (trajectories, PIECE).
    row_sizes : the part of the pivots that is remembered.
    fresh : whether a trajectory begins in a lane.
    steps : first steps of lanes.
    """

    places: IntArray
    queue: IntArray
    pieces: IntArray
    row_sizes: FloatArray
    fresh: BoolArray
    steps: FloatArray


@inlined
def take_over(
    equations: LoopEquations, memory: LoopMemory, all_: Trajectories, use: LaneUse, k, lane
):
    """Let a trajectory begin in a lane, as a loop of its own would."""
    for i in range(memory.y.shape[0]):
        memory.y[i, lane] = all_.starts[k, i]
    for i in range(equations.parameters.shape[0]):
        equations.parameters[i, lane] = all_.parameters[k, i]
    for i in range(memory.real.shape[0]):
        memory.real[i, lane] = all_.memory[i]
    for i in range(memory.counts.shape[0]):
        memory.counts[i, lane] = all_.counts[i]
    for i in range(use.row_sizes.shape[0]):
        use.row_sizes[i, lane] = 0.0


@inlined
def note(use: LaneUse, output: OutputBuffers, lane):
    """Note what the trajectory of a lane has put out since the last note."""
    places, pieces, piece = use.places, use.pieces, use.queue[NOTED]
    use.queue[NOTED] = piece + 1
    pieces[piece, 0], pieces[piece, 1] = places[OWNER, lane], lane
    pieces[piece, 2], pieces[piece, 3] = places[ROW, lane], output.filled[lane]
    pieces[piece, 4], pieces[piece, 5] = places[LOG, lane], output.rank_rows[lane]
    places[ROW, lane], places[LOG, lane] = output.filled[lane], output.rank_rows[lane]


@inlined
def end_trajectory(
    memory: LoopMemory, output: OutputBuffers, step: ExplicitStep, all_: Trajectories,
    use: LaneUse, k, lane,
):  # fmt: skip
    """Note when and why the trajectory of a lane ended, and what it has put out."""
    all_.ends[k], all_.outcomes[k] = memory.real[T, lane], step.outcome[lane]
    for i in range(memory.counts.shape[0]):
        all_.counted[i, k] = memory.counts[i, lane]
    note(use, output, lane)


@inlined
def hand_over(
    equations: LoopEquations, memory: LoopMemory, output: OutputBuffers, step: ExplicitStep,
    all_: Trajectories, use: LaneUse,
):  # fmt: skip
    """Let trajectories begin in lanes whose own have ended.

    Returns whether some run, whether some begin, and whether there is no room for one to begin.
    """
    running, some_fresh, full = False, False, False
    for lane in range(len(equations.lanes)):
        k, use.fresh[lane] = use.places[OWNER, lane], False
        if k != NOBODY and not memory.counts[ACTIVE, lane]:
            end_trajectory(memory, output, step, all_, use, k, lane)
            k = NOBODY
        if k == NOBODY and use.queue[NEXT] < all_.starts.shape[0]:
            if output.filled[lane] < output.t.shape[1]:
                k = use.queue[NEXT]
                use.queue[NEXT] = k + 1
                take_over(equations, memory, all_, use, k, lane)
                step.outcome[lane], use.fresh[lane], some_fresh = DONE, True, True
            else:
                full = True
        use.places[OWNER, lane] = k
        running = running or k != NOBODY
    return running, some_fresh, full


@inlined
def project_fresh(equations: LoopEquations, memory: LoopMemory, onto: ProjectionRoom, point, fresh):
    """Put the states of fresh lanes on their constraints; in other lanes nothing is kept."""
    lanes = equations.lanes
    copy_lanes(memory.y, point, lanes)
    projected(equations, point, memory.real[T : T + 1], onto)
    for lane in side_by_side(lanes):
        if fresh[lane]:
            # Rows that are dependent here and at the end of a step were so from the start.
            dependent = 0
            for k in range(equations.rows):
                dependent += 1 if onto.pivots[k, lane] < RANK_PIVOT else 0
            memory.counts[ENDED, lane] = dependent
            for i in range(point.shape[0]):
                memory.y[i, lane] = point[i, lane]


@inlined
def begin(
    equations: LoopEquations, memory: LoopMemory, choices: LoopChoices, onto: ProjectionRoom,
    method: ExplicitMethod, step: ExplicitStep, all_: Trajectories, use: LaneUse,
):  # fmt: skip
    """Put the states of fresh lanes on their constraints, with derivatives and first steps.

    Kernels compute all lanes; in those that are not fresh nothing is kept.
    """
    y, t, derivative, fresh = memory.y, memory.real[T : T + 1], step.x[FIRST], use.fresh
    if choices.project:
        project_fresh(equations, memory, onto, step.x[POINT], fresh)
    if all_.span[0] > 0.0:
        first_step(equations, y, t, derivative, choices, method.order, all_.span, use.steps)
    else:  # a simulation of no length
        evaluate(equations, y, t, derivative)
    for lane in side_by_side(equations.lanes):
        if fresh[lane]:
            memory.real[H, lane] = use.steps[lane]
            for i in range(y.shape[0]):
                step.K[0, i, lane] = derivative[i, lane]


@loop
def relay(
    equations: LoopEquations,
    memory: LoopMemory,
    choices: LoopChoices,
    output: OutputBuffers,
    events: EventMemory,
    onto: ProjectionRoom,
    method: ExplicitMethod,
    room: ExplicitRoom,
    budget,
    all_: Trajectories,
    use: LaneUse,
):
    """Run all trajectories, or until a buffer is full, the budget is used up or rank is lost."""
    code, y, step = HANDOVER, memory.y, step_of(room)
    while code == HANDOVER:
        running, some_fresh, full = hand_over(equations, memory, output, step, all_, use)
        if some_fresh:
            begin(equations, memory, choices, onto, method, step, all_, use)
            for lane in range(len(equations.lanes)):
                if use.fresh[lane]:
                    for i in range(y.shape[0]):
                        all_.begun[use.places[OWNER, lane], 0, i] = y[i, lane]
                        all_.begun[use.places[OWNER, lane], 1, i] = step.K[0, i, lane]
                    if all_.saves_first:
                        save(memory.real[T, lane], y, output, lane)
        if full:
            return FULL
        if not running:
            return DONE
        code = advance(equations, memory, choices, output, events, onto, method, room, budget)
    return code


class LaneQueue:
    """Trajectories that run in the lanes of a loop, one after the other.

    Parameters
    ----------
    loop : of one or more lanes, where trajectories begin; its own states are not looked at.
    y, p : states (N, n) and parameters (N, np) of the trajectories, in the coordinates of the loop.
    saves_first : whether to save where they begin, put on the constraints.

    Attributes
    ----------
    ends : last times (N,), of those that have ended or were under way.
    counts : what each has counted (COUNTS, N); ACTIVE if it has not ended.
    outcomes : why they have ended (N,), see `zwang.integrators.memory`.
    """

    def __init__(
        self, loop: ExplicitLoop, y: FloatArray, p: FloatArray, *, saves_first: bool
    ) -> None:
        W, count = len(loop.lanes), len(y)
        self.loop, self.program, self.saves_first = loop, loop.program, saves_first
        self.starts, self.parameters = np.ascontiguousarray(y), np.ascontiguousarray(p)
        self.first = loop.memory[:, 0].copy(), loop.counts[:, 0].copy()
        loop.counts[ACTIVE] = 0
        self.places = np.zeros((3, W), dtype=np.int64)
        self.places[OWNER] = NOBODY
        self.queue, self.pieces = np.zeros(2, dtype=np.int64), np.empty((count, PIECE), np.int64)
        self.begun = np.empty((count, 2, y.shape[1]))
        self.ends = np.full(count, self.first[0][T])
        self.counts = np.zeros((sh.COUNTS, count), dtype=np.int64)
        self.counts[ACTIVE] = 1
        self.outcomes = np.zeros(count, dtype=np.int64)
        span = min(loop.settings.until - self.ends[0], loop.settings.largest_step)
        self.span, self.spare = np.full(W, span), (np.zeros(W, dtype=bool), np.empty(W))
        self.out: LoopOutput | None = None
        self.roomier = 1
        #: Outputs, and the pieces of trajectories in them.
        self.noted: list[tuple[LoopOutput, np.ndarray]] = []
        self.tried = 0

    @property
    def state(self) -> FloatArray:
        """Present states, as those of a loop."""
        return self.loop.state

    @property
    def running(self) -> list[tuple[int, int]]:
        """Lanes in use and the trajectories in them."""
        return [(lane, k) for lane, k in enumerate(self.places[OWNER].tolist()) if k != NOBODY]

    @property
    def ended(self) -> int:
        """How many trajectories have ended."""
        return int(self.queue[NEXT]) - len(self.running)

    def starts_and_accelerations(self) -> tuple[FloatArray, FloatArray]:
        """States (N, n) and v̇ (N, nv) where trajectories began, in the system's coordinates."""
        count = self.queue[NEXT]
        y, rates, p = self.begun[:count, 0], self.begun[:count, 1], self.parameters[:count]
        carrier, t = self.program.carrier, float(self.first[0][T])
        if carrier is None:
            return y, rates[:, self.program.nq :]
        return carrier.leave(y, np.full(count, t), p), carrier.accelerations(y, rates, t, p)

    def advance(self, budget: int, rows: int) -> int:
        """Run until all have ended, or until `relay` returns for something else; why."""
        loop, (n, W) = self.loop, self.loop.state.shape
        if self.out is None:
            if not loop.options[1]:  # no more than there are times to save at
                rows = min(rows, (len(loop.times) + 2) * len(self.starts))
            self.out, self.places[ROW:] = LoopOutput(self.roomier * rows, n, W), 0
        code = self._run(self.out, budget)
        self.tried += int(loop.room.spent[0])
        if self.queue[NOTED]:
            self.noted.append((self.out, self.pieces[: self.queue[NOTED]].copy()))
            self.queue[NOTED] = 0
        if code == sh.FULL:
            all_ranks = self.out.rank_rows.max() == len(self.out.ranks)
            if 2 * self.out.filled.max() < self.out.t.shape[1] and not all_ranks:
                self.roomier *= 4  # more save times within one step than the buffer holds
            self._cut()
            self.out = None
        return code

    def _run(self, out: LoopOutput, budget: int) -> int:
        """Call the compiled loop."""
        loop = self.loop
        loop.room.spent[0] = 0
        return relay(
            loop.equations,
            loop.remembered_steps,
            loop.choices,
            out.buffers,
            loop.event_memory,
            loop.onto,
            loop.method,
            loop.room,
            budget,
            Trajectories(
                self.starts,
                self.parameters,
                *self.first,
                self.span,
                self.saves_first,
                self.begun,
                self.ends,
                self.counts,
                self.outcomes,
            ),
            LaneUse(self.places, self.queue, self.pieces, loop.row_sizes, *self.spare),
        )

    def _cut(self) -> None:
        """Take what trajectories under way have put out so far."""
        assert self.out is not None
        (owner, row, log), rows, logs = self.places, self.out.filled, self.out.rank_rows
        pieces = np.stack([owner, np.arange(len(owner)), row, rows, log, logs], axis=1)
        self.noted.append((self.out, pieces))
        self.places[ROW], self.places[LOG] = rows, logs

    def news(self) -> list[tuple[int, int, list[RankLog]]]:
        """Lanes, trajectories in them, and changes of rank since this was asked last."""
        assert self.out is not None
        rows, found = self.out.rank_rows.tolist(), []
        for lane, k in self.running:
            logs = self.out.ranks[self.places[LOG, lane] : rows[lane], :, lane]
            found.append((lane, k, rank_logs(logs, self.program.carrier, self.parameters[k])))
        self._cut()
        return found

    def drop(self, lane: int) -> None:
        """End the trajectory of a lane where rank was lost."""
        self.loop.room.integers[OUTCOMES, lane] = sh.SINGULAR
        self.loop.counts[ACTIVE, lane] = 0

    def close(self) -> None:
        """Take what there is of trajectories under way, and keep no more memory than needed."""
        out, loop = self.out, self.loop
        if out is not None:
            self._cut()
            for lane, k in self.running:
                self.ends[k], self.counts[:, k] = loop.memory[T, lane], loop.counts[:, lane]
            rows, logs = out.filled.max(), out.rank_rows.max()
            if 2 * rows < out.t.shape[1]:
                out.t, out.y = out.t[:, :rows].copy(), out.y[:, :rows].copy()
            out.ranks = out.ranks[:logs].copy()
        del self.loop, self.out, self.spare, self.places

    def _legs(self, k: int) -> list[tuple[LoopOutput, int, int, int, int, int]]:
        """Pieces of a trajectory: output, lane, rows of output and of changes of rank."""
        return [
            (out, *piece)
            for out, pieces in self.noted
            for piece in pieces[pieces[:, 0] == k, 1:].tolist()
        ]

    def saved(self, k: int) -> tuple[FloatArray, FloatArray]:
        """Saved times (rows,) and states (rows, n) of a trajectory, in the system's coordinates."""
        t, y = self.saved_in_own(k)
        return t, left(y, t, self.program.carrier, self.parameters[k])

    def saved_of_all(self, count: int) -> FloatArray:
        """Saved states of all (N, count, n), in the system's coordinates, NaN where there are none.

        Parameters
        ----------
        count : of states that each was to save.
        """
        N, n = self.starts.shape
        y, t = np.full((N, count, n), np.nan), np.full((N, count), np.nan)
        filled = np.zeros(N, dtype=np.int64)
        for out, pieces in self.noted:
            used = pieces[(pieces[:, 0] >= 0) & (pieces[:, 3] > pieces[:, 2])]
            owner, lane, first, rows = used[:, 0], used[:, 1], used[:, 2], used[:, 3] - used[:, 2]
            for size in np.flatnonzero(np.bincount(rows)).tolist():
                some = rows == size
                k, along = owner[some], np.arange(size)
                into = k[:, None], filled[k][:, None] + along
                source = lane[some][:, None], first[some][:, None] + along
                y[into], t[into] = out.y[source], out.t[source]
                filled[k] += size
        if self.program.carrier is None:
            return y
        if np.all(filled == count):
            P = np.repeat(self.parameters, count, axis=0)
            states = left(y.reshape(-1, n), t.ravel(), self.program.carrier, P)
            return states.reshape(N, count, -1)
        there = np.arange(count) < filled[:, None]
        P = self.parameters[np.nonzero(there)[0]]
        system_states = left(y[there], t[there], self.program.carrier, P)
        result = np.full((N, count, system_states.shape[1]), np.nan)
        result[there] = system_states
        return result

    def saved_in_own(self, k: int) -> tuple[FloatArray, FloatArray]:
        """The same in the coordinates of the loop."""
        legs = self._legs(k)
        t = np.concatenate([np.empty(0), *(out.t[lane, a:b] for out, lane, a, b, _, _ in legs)])
        y = np.concatenate([self.starts[:0], *(out.y[lane, a:b] for out, lane, a, b, _, _ in legs)])
        return t, y

    def ranks(self, k: int) -> list[RankLog]:
        """Changes of rank of a trajectory."""
        carrier, p = self.program.carrier, self.parameters[k]
        rows = [out.ranks[a:b, :, lane] for out, lane, _, _, a, b in self._legs(k)]
        return [log for part in rows for log in rank_logs(part, carrier, p)]
