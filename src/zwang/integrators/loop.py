"""The time loop seen from Python: buffers around the compiled `advance`, chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zwang.engine.program import Program
from zwang.integrators import explicit as ex
from zwang.integrators.settings import Drift, Settings
from zwang.kernels.element import Kernel
from zwang.terms import FloatArray

__all__ = ["Chunk", "Loop"]

#: Rows of the output buffer: enough to keep the interpreter out of the loop, little memory.
BUFFER_ROWS = 4096
#: Steps between returns to Python, for progress and Ctrl-C; some tens of milliseconds of work.
STEPS_PER_CHUNK = 20_000
#: Rank changes remembered between returns.
RANK_ROWS = 256


@dataclass(frozen=True)
class Chunk:
    """What one call of the compiled loop produced.

    Attributes
    ----------
    code : why it returned, see `zwang.integrators.explicit`.
    t, y : saved times and states of each lane, lists of (rows,) and (rows, n).
    ranks : (time, deficit) of each change, per lane.
    """

    code: int
    t: list[FloatArray]
    y: list[FloatArray]
    ranks: list[list[tuple[float, int]]]


class Loop:
    """A simulation under way: all it needs to go on is in `state`, `memory` and `counts`.

    Parameters
    ----------
    program : what to integrate; its lanes are the trajectories.
    settings : how.
    t, y, p : start time, states (n, lanes) and parameters (np, lanes).
    times : times to save at; None saves every accepted step.
    scales : size of each entry of the state below which its error counts as absolute, (n,).
    events : kernel of the event functions.
    """

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
    ) -> None:
        tableau, W, n = settings.tableau, program.lanes, program.nq + program.nv
        self.program, self.settings = program, settings
        self.state = np.array(y, dtype=float, order="C")  # the loop works in place
        self.parameters = np.array(p, dtype=float, order="C")
        self.memory = np.zeros((ex.REALS, W))
        self.counts = np.zeros((ex.COUNTS, W), dtype=np.int64)
        self.stages = np.zeros((len(tableau.C), n, W))
        self.memory[ex.T], self.memory[ex.ERROR] = t, 1e-4
        self.counts[ex.ACTIVE] = 1
        self.times = np.zeros(0) if times is None else np.ascontiguousarray(times, dtype=float)
        self.counts[ex.NEXT] = np.searchsorted(self.times, t, side="right")
        self.scales = np.ascontiguousarray(scales, dtype=float)
        self.lanes = (0,) * W
        self.event_count = 0 if events is None else events.outputs[0].size
        self._events = events
        self._work = program.work(events)
        self._addresses = program.addresses(events)
        project = settings.drift is Drift.PROJECTION and program.rows[1] > 0
        self._options = (project, times is None, self.event_count > 0)
        self.event_values = np.zeros((max(self.event_count, 1), W))
        self.event_before = np.zeros((max(self.event_count, 1), W))
        self.previous = np.zeros((3, max(n, 2), W))
        if t < settings.until:
            self.restart()
        else:
            self.counts[ex.ACTIVE] = 0

    def restart(self) -> None:
        """Evaluate the derivative at the present state and choose a step, as at the start."""
        tableau, W = self.settings.tableau, len(self.lanes)
        step = np.zeros(W)
        span = np.full(
            W, min(self.settings.until - self.memory[ex.T].max(), self.settings.largest_step)
        )
        ex.first_step(
            self._addresses,
            self.state,
            self.memory[ex.T : ex.T + 1],
            self.parameters,
            self.stages[0],
            self._work,
            self.program.nq,
            self.settings.tolerance,
            self.scales,
            tableau.error_order,
            span,
            step,
            self.lanes,
        )
        self.memory[ex.H] = step
        self.counts[ex.EVALUATIONS] += 2
        self.counts[ex.REJECTED] = self.counts[ex.NEAR] = 0
        if self._events is not None:
            from zwang.kernels.call import call

            nq = self.program.nq
            call(
                self._events.address,
                self.state[:nq],
                self.state[nq:],
                self.memory[ex.T : ex.T + 1],
                self.parameters,
                self.event_values,
                self._work,
            )

    @property
    def t(self) -> FloatArray:
        """Present time of each lane."""
        return self.memory[ex.T]

    @property
    def finished(self) -> bool:
        """Whether every lane has reached its end."""
        return not self.counts[ex.ACTIVE].any()

    def project(self) -> bool:
        """Put the present state on its constraints; whether that converged."""
        n, W = self.state.shape
        ok = np.ones(W, dtype=bool)
        if not self._options[0]:
            return True
        sizes = self.program.rows
        ex.projected(
            self._addresses,
            self.state,
            self.memory[ex.T : ex.T + 1],
            self.parameters,
            np.empty((max(sizes[0], 1), W)),
            np.empty((max(sizes[1], 1), W)),
            self._work,
            self.program.nq,
            self.settings.tolerance * np.maximum(self.scales, 1e-300),
            ok,
            np.empty(W),
            np.empty(W, dtype=bool),
            np.empty((n, W)),
            self.lanes,
        )
        return bool(ok.all())

    def advance(self, budget: int = STEPS_PER_CHUNK, rows: int = BUFFER_ROWS) -> Chunk:
        """Run until done, a buffer is full, the budget of steps is used or an event is met."""
        tableau, settings, W = self.settings.tableau, self.settings, len(self.lanes)
        n = self.state.shape[0]
        while True:
            out_t, out_y = np.empty((rows, W)), np.empty((rows, n, W))
            filled = np.zeros(W, dtype=np.int64)
            rank_log, rank_rows = np.empty((RANK_ROWS, 2, W)), np.zeros(W, dtype=np.int64)
            code = ex.advance(
                self._addresses,
                np.array(
                    [self.program.nq, self.program.rows[0], self.program.rows[1], self.event_count]
                ),
                self.state,
                self.parameters,
                self.memory,
                self.counts,
                self.stages,
                (tableau.A, tableau.B, tableau.C, tableau.E, tableau.P),
                tableau.stages,
                tableau.error_order,
                settings.until,
                settings.tolerance,
                self.scales,
                (self._smallest_step(), settings.largest_step, settings.step),
                self._options,
                self.times,
                out_t,
                out_y,
                filled,
                rank_log,
                rank_rows,
                self.event_values,
                self.event_before,
                self.previous,
                self._work,
                budget,
                self.lanes,
            )
            if code == ex.FULL and not filled.any() and not rank_rows.any():
                rows *= 4  # more save times within one step than the buffer holds
                continue
            return Chunk(
                code,
                [out_t[: filled[k], k].copy() for k in range(W)],
                [out_y[: filled[k], :, k].copy() for k in range(W)],
                [[(float(a), int(b)) for a, b in rank_log[: rank_rows[k], :, k]] for k in range(W)],
            )

    def _smallest_step(self) -> float:
        """Below this, t + h is no longer told from t."""
        return 16.0 * np.finfo(float).eps * max(abs(self.settings.until), 1e-6)
