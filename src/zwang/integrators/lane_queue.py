"""Many trajectories in the lanes of one loop: where one ends, the next takes over its lane.

Trajectories of an ensemble differ in their numbers of steps. If lanes waited for the longest of
those that began together, a fifth of the work of a thousand pendulums would be done in vain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.codegen.jit import inlined, loop
from zwang.codegen.simd import side_by_side
from zwang.integrators import memory as sh
from zwang.integrators.explicit.step import FIRST, OUTCOMES, POINT, advance
from zwang.integrators.memory import (
    ACTIVE,
    DONE,
    ENDED,
    FULL,
    HANDOVER,
    RANK_PIVOT,
    H,
    T,
    evaluate,
    first_step,
    projected,
    save,
)
from zwang.integrators.output import LoopOutput, RankLog, left, rank_logs

if TYPE_CHECKING:
    from zwang.integrators.explicit.loop import ExplicitLoop
    from zwang.terms import FloatArray

__all__ = ["LaneQueue"]

# What is known of a lane: the trajectory that runs in it, or NOBODY, and the rows of output and of
# changes of rank from which on they are its own.
OWNER, ROW, LOG = 0, 1, 2
NOBODY = -1
# What is known of the relay: the next trajectory, and how many pieces are noted.
NEXT, NOTED = 0, 1
#: A piece of a trajectory: which, in which lane, its rows of output and of changes: first and last.
PIECE = 6


@inlined
def take_over(lane, y, p, memory, counts, state, parameters, real, count, sizes):
    """Let a trajectory begin in a lane, as a loop of its own would."""
    for i in range(y.shape[0]):
        state[i, lane] = y[i]
    for i in range(p.shape[0]):
        parameters[i, lane] = p[i]
    for i in range(real.shape[0]):
        real[i, lane] = memory[i]
    for i in range(count.shape[0]):
        count[i, lane] = counts[i]
    for i in range(sizes.shape[0]):
        sizes[i, lane] = 0.0


@inlined
def note(lane, places, queue, pieces, filled, rank_rows):
    """Note what the trajectory of a lane has put out since the last note."""
    piece = queue[NOTED]
    queue[NOTED] = piece + 1
    pieces[piece, 0], pieces[piece, 1] = places[OWNER, lane], lane
    pieces[piece, 2], pieces[piece, 3] = places[ROW, lane], filled[lane]
    pieces[piece, 4], pieces[piece, 5] = places[LOG, lane], rank_rows[lane]
    places[ROW, lane], places[LOG, lane] = filled[lane], rank_rows[lane]


@inlined
def begin(
    kernels, y, t, p, pivots, ratio, work, nq, atol, ok, before, settled, x, real, count, K,
    tolerance, size, order, span, rows, project, fresh, steps, lanes,
):  # fmt: skip
    """Put the states of fresh lanes on their constraints, with derivatives and first steps.

    Kernels compute all lanes; in those that are not fresh nothing is kept.
    """
    n, point, derivative = y.shape[0], x[POINT], x[FIRST]
    if project:
        for lane in side_by_side(lanes):
            for i in range(n):
                point[i, lane] = y[i, lane]
        projected(
            kernels, point, t, p, pivots, ratio, work, nq, atol, ok, before, settled, derivative,
            lanes,
        )  # fmt: skip
        for lane in side_by_side(lanes):
            if fresh[lane]:
                # Rows that are dependent here and at the end of a step were so from the start.
                dependent = 0
                for k in range(rows):
                    dependent += 1 if pivots[k, lane] < RANK_PIVOT else 0
                count[ENDED, lane] = dependent
                for i in range(n):
                    y[i, lane] = point[i, lane]
    if span[0] > 0.0:
        first_step(
            kernels, y, t, p, derivative, work, nq, tolerance, size, order, span, steps, lanes
        )
    else:  # a simulation of no length
        evaluate(kernels, y, t, p, derivative, work, nq)
    for lane in side_by_side(lanes):
        if fresh[lane]:
            real[H, lane] = steps[lane]
            for i in range(n):
                K[0, i, lane] = derivative[i, lane]


@loop
def relay(
    arguments,  # of `advance`, and some of them by themselves
    kernels,
    sizes,
    y,
    p,
    real,
    count,
    K,
    order,
    tolerance,
    project,
    output,  # times, states, rows filled and rows of changes
    x,
    pivots,
    ratio,
    row_sizes,
    atol,
    ok,
    settled,
    before,
    reasons,  # why lanes have ended
    work,
    size,
    starts,  # states and parameters of the trajectories, a row each
    parameters,
    memory,  # what a lane remembers, and has counted, when a trajectory begins
    counts,
    span,  # longest first step (lanes,)
    saves_first,  # whether to save where trajectories begin
    places,  # OWNER, ROW and LOG of lanes
    queue,  # NEXT and NOTED
    pieces,  # (trajectories, PIECE)
    begun,  # of trajectories that have begun: state and derivative there (trajectories, 2, n)
    ends,  # of those that have ended: when, what they counted, and why
    counted,
    outcomes,
    fresh,  # a mark and a number for each lane to work with
    steps,
    lanes,
):
    """Run all trajectories, or until a buffer is full, the budget is used up or rank is lost."""
    out_t, out_y, filled, rank_rows = output
    code = HANDOVER
    while code == HANDOVER:
        running, some_fresh, full = False, False, False
        for lane in range(len(lanes)):
            k, fresh[lane] = places[OWNER, lane], False
            if k != NOBODY and not count[ACTIVE, lane]:
                ends[k], outcomes[k] = real[T, lane], reasons[lane]
                for i in range(count.shape[0]):
                    counted[i, k] = count[i, lane]
                note(lane, places, queue, pieces, filled, rank_rows)
                k = NOBODY
            if k == NOBODY and queue[NEXT] < starts.shape[0]:
                if filled[lane] < out_t.shape[1]:
                    k = queue[NEXT]
                    queue[NEXT] = k + 1
                    begin_with = starts[k], parameters[k], memory, counts
                    take_over(lane, *begin_with, y, p, real, count, row_sizes)
                    reasons[lane], fresh[lane], some_fresh = DONE, True, True
                else:
                    full = True
            places[OWNER, lane] = k
            running = running or k != NOBODY
        if some_fresh:
            begin(
                kernels, y, real[T : T + 1], p, pivots, ratio, work, sizes[0], atol, ok, before,
                settled, x, real, count, K, tolerance, size, order, span, sizes[1], project,
                fresh, steps, lanes,
            )  # fmt: skip
            for lane in range(len(lanes)):
                if fresh[lane]:
                    for i in range(y.shape[0]):
                        begun[places[OWNER, lane], 0, i] = y[i, lane]
                        begun[places[OWNER, lane], 1, i] = K[0, i, lane]
                    if saves_first:
                        save(real[T, lane], y, out_t, out_y, filled, lane)
        if full:
            return FULL
        if not running:
            return DONE
        code = advance(*arguments)
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
        self.tried += int(loop.spent[0])
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
        return relay(
            loop.arguments(out, budget),
            loop.addresses,
            loop.sizes,
            loop.state,
            loop.parameters,
            loop.memory,
            loop.counts,
            loop.stages,
            loop.tableau.error_order,
            loop.settings.tolerance,
            loop.options[0],
            (out.t, out.y, out.filled, out.rank_rows),
            loop.vectors,
            loop.pivots,
            loop.ratio,
            loop.row_sizes,
            loop.absolute,
            loop.marks[0],
            loop.marks[1],
            loop.numbers[2],
            loop.integers[OUTCOMES],
            loop.work,
            loop.entry_sizes,
            self.starts,
            self.parameters,
            *self.first,
            self.span,
            self.saves_first,
            self.places,
            self.queue,
            self.pieces,
            self.begun,
            self.ends,
            self.counts,
            self.outcomes,
            *self.spare,
            loop.lanes,
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
        self.loop.integers[OUTCOMES, lane] = sh.SINGULAR
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
