"""Integrators: how many steps the compiled loop takes before it returns to Python."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from zwang.codegen import background
from zwang.integrators import memory as sh

if TYPE_CHECKING:
    from zwang.integrators.contract import Loop
    from zwang.integrators.lane_queue import LaneQueue
    from zwang.integrators.output import Chunk

__all__ = ["DRAGGING", "TEDIOUS", "ChunkSize", "first_chunk"]

#: Seconds between returns: often enough for Ctrl-C and a moving bar, rarely enough to cost nothing.
TARGET = 0.1
#: Steps of the first chunk, which tells how fast the system is; compiled, as many as touch so many
#: entries of the state, within milliseconds: most runs are over by then.
FIRST_STEPS, MOST_FIRST_STEPS, FIRST_ENTRIES = 10, 5000, 40_000
#: Steps that nobody waits for, hours of them; and so many at a pace that asks for these tell that
#: steps have collapsed: at a position that no motion leads through they shrink and stay short.
HOPELESS, CREEPING = 3e9, 200_000
#: The same for steps that were short from the start, days of them.
ENDLESS = 6e10
#: The same, minutes of them, for steps that have become next to nothing beside those before.
TEDIOUS = 1e7
#: Steps at a pace at which so many would be left that tell of a run from a dead center of a driver
#: that it stays there: its steps are short from the start.
DRAGGING = 20_000
#: Part of the mean step so far above which those of a chunk have not shrunk: a run that is long
#: from the start is as its user wants it. And the part of the mean step of the best chunk below
#: which steps are next to nothing.
SHRUNK, VANISHED = 1e-3, 1e-5
#: Largest change of the number of steps from chunk to chunk.
GROWTH = 8.0
#: Rows of the output buffer at least, and numbers in it at most (32 MB).
SMALLEST_ROWS, LARGEST_BUFFER = 4096, 4_000_000


class ChunkSize:
    """Chunks of a loop that take about `TARGET` seconds each.

    What the loop computes does not depend on where its chunks end.
    """

    def __init__(self, loop: Loop | LaneQueue) -> None:
        #: Whether the first chunk takes milliseconds at most.
        self.brief = loop.program.kernel("derivative").compiled
        self.steps = _first_steps(loop) if self.brief else FIRST_STEPS
        self.tried, self.crept, self.dragged = loop.tried, 0, 0
        self.taken, self.gone = 0, 0.0  # steps of all chunks, and how far they led [s]
        self.best = 0.0  # the mean step of the chunk with the longest ones [s]

    @property
    def collapsed(self) -> bool:
        """Whether steps have become so short, and stayed so, that the end will not be reached."""
        return self.crept > CREEPING

    @property
    def dragging(self) -> bool:
        """Whether steps are so short, and stay so, that minutes of them are left."""
        return self.dragged > DRAGGING

    def advance(self, loop: Loop) -> Chunk:
        """The next chunk."""
        background.wake()
        began, t, tried = perf_counter(), float(loop.t[0]), loop.tried
        chunk = loop.advance(self.steps, _rows(loop, self.steps))
        done, moved = loop.tried - tried, float(loop.t[0]) - t
        left = loop.settings.until - t
        # Hopelessly many steps are left at this pace, and not for a moment alone.
        shrunk = moved * self.taken < SHRUNK * self.gone * done
        self.taken, self.gone = self.taken + done, self.gone + moved
        self.best = max(self.best, moved / max(done, 1))
        most = HOPELESS if shrunk else ENDLESS
        if moved < VANISHED * self.best * done:
            most = TEDIOUS
        self.dragged = self.dragged + done if done * left > TEDIOUS * moved else 0
        self.crept = self.crept + done if done * left > most * moved else 0
        if chunk.code != sh.DONE:
            self._adapt(loop, perf_counter() - began)
        return chunk

    def advance_relay(self, relay: LaneQueue) -> int:
        """The same for many trajectories; why it returned."""
        began = perf_counter()
        code = relay.advance(self.steps, _rows(relay, self.steps))
        self._adapt(relay, perf_counter() - began)
        return code

    def _adapt(self, loop: Loop | LaneQueue, seconds: float) -> None:
        """Choose steps for the next chunk.

        This one may have returned before its steps were used up, at an event or with full buffers.
        """
        tried = loop.tried
        wanted = TARGET * (tried - self.tried) / max(seconds, 1e-9)
        self.steps, self.tried = max(1, int(min(GROWTH * self.steps, wanted))), tried


def first_chunk(loop: Loop) -> tuple[int, int]:
    """Steps of the first chunk of a compiled loop, and rows of its output at most."""
    steps = _first_steps(loop)
    return steps, _rows(loop, steps)


def _first_steps(loop: Loop | LaneQueue) -> int:
    within = FIRST_ENTRIES // max(loop.state.size, 1)
    return max(FIRST_STEPS, min(MOST_FIRST_STEPS, within))


def _rows(loop: Loop | LaneQueue, steps: int) -> int:
    return max(SMALLEST_ROWS, min(steps, LARGEST_BUFFER // max(loop.state.size, 1)))
