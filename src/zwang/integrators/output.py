"""What an integrator's compiled loop puts out: saved states and changes of rank."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from zwang.codegen.jit import inlined
from zwang.integrators import rank_loss as sg
from zwang.integrators.records import OutputBuffers
from zwang.programs.coordinate_change import CoordinateChange
from zwang.terms import FloatArray

__all__ = ["Chunk", "LoopOutput", "RankLog", "left", "rank_logs", "save"]

#: Changes of rank that are remembered until a loop returns.
RANK_ROWS = 256


class LoopOutput:
    """What a compiled loop writes to, for W trajectories of n entries.

    Attributes
    ----------
    t, y : saved times (W, rows) and states (W, rows, n), `filled` rows of each lane: lanes are at
        different rows, and what one writes lies together.
    ranks : each change of rank and the state there, `rank_rows` rows of each lane, see
        `zwang.integrators.rank_loss`.
    """

    def __init__(self, rows: int, n: int, W: int, rank_rows: int = RANK_ROWS) -> None:
        self.t, self.y = np.empty((W, rows)), np.empty((W, rows, n))
        self.filled = np.zeros(W, dtype=np.int64)
        self.ranks = np.empty((rank_rows, sg.LOG + n, W))
        self.rank_rows = np.zeros(W, dtype=np.int64)

    @property
    def buffers(self) -> OutputBuffers:
        """The arrays as compiled loops know them."""
        return OutputBuffers(self.t, self.y, self.filled, self.ranks, self.rank_rows)


@inlined
def save(t, y, output: OutputBuffers, lane):
    """Write a state of a lane to the output."""
    row = output.filled[lane]
    output.t[lane, row] = t
    for i in range(y.shape[0]):
        output.y[lane, row, i] = y[i, lane]
    output.filled[lane] = row + 1


class RankLog(NamedTuple):
    """A change of rank: when, how many position rows are dependent, for longer?, the state."""

    t: float
    dependent_rows: int
    lasting: bool
    y: FloatArray


class Chunk(NamedTuple):
    """What one call of the compiled loop produced.

    Attributes
    ----------
    code : why it returned, see `zwang.integrators.memory`.
    t, y : saved times (lanes, rows) and states (lanes, rows, n̂), `filled` rows of each lane.
    logs : what it wrote of changes of rank, (rows, …, lanes), `logged` rows of each lane.
    parameters : of the lanes.
    carrier : the way from the coordinates of the loop to those of the system, if they are others.
    """

    code: int
    t: FloatArray
    y: FloatArray
    filled: list[int]
    logs: FloatArray
    logged: list[int]
    parameters: FloatArray
    carrier: CoordinateChange | None

    def saved(self, lane: int = 0) -> tuple[FloatArray, FloatArray]:
        """Saved times (rows,) and states (rows, n) of a lane, in the coordinates of the system."""
        if self.carrier is None:
            return self.saved_in_own(lane)
        rows = self.filled[lane]
        t = self.t[lane, :rows].copy()
        return t, left(self.y[lane, :rows], t, self.carrier, self.parameters[:, lane])

    def saved_in_own(self, lane: int = 0) -> tuple[FloatArray, FloatArray]:
        """The same in the coordinates of the loop."""
        rows = self.filled[lane]
        return self.t[lane, :rows].copy(), self.y[lane, :rows].copy()

    def without_first(self) -> Chunk:
        """The same without the first saved state of each lane."""
        filled = [rows - 1 for rows in self.filled]
        return self._replace(t=self.t[:, 1:], y=self.y[:, 1:], filled=filled)

    def ranks(self, lane: int = 0) -> list[RankLog]:
        """Changes of rank of a lane."""
        rows = self.logs[: self.logged[lane], :, lane]
        return rank_logs(rows, self.carrier, self.parameters[:, lane])

    def kept_ranks(self, lane: int = 0) -> Callable[[], list[RankLog]]:
        """The same for later, when the loop may have gone on."""
        if not self.logged[lane]:
            return no_ranks
        rows = self.logs[: self.logged[lane], :, lane].copy()
        return partial(rank_logs, rows, self.carrier, self.parameters[:, lane].copy())


def no_ranks() -> list[RankLog]:
    """Of a loop in which the rank did not change."""
    return []


def left(
    y: FloatArray, t: FloatArray, carrier: CoordinateChange | None, p: FloatArray
) -> FloatArray:
    """States (rows, n̂) of a loop at times (rows,), in the coordinates of the system."""
    if carrier is None or not len(t):
        return y if carrier is None else np.empty((0, sum(carrier.outer)))
    return carrier.leave(y, t, p)


def rank_logs(rows: FloatArray, carrier: CoordinateChange | None, p: FloatArray) -> list[RankLog]:
    """What a loop wrote of changes of rank in a lane."""
    if not len(rows):
        return []
    states = left(rows[:, sg.STATE :].copy(), rows[:, 0].copy(), carrier, p)
    told = zip(rows[:, : sg.LOG].tolist(), states, strict=True)
    return [RankLog(t, int(dependent), bool(lasting), y) for (t, dependent, lasting), y in told]
