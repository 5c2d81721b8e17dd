"""How many steps the compiled loop takes before it returns to Python."""

from __future__ import annotations

from operator import add
from time import perf_counter
from typing import TYPE_CHECKING

from zwang.integrators import shared as sh

if TYPE_CHECKING:
    from zwang.integrators.loop import Chunk, Loop

__all__ = ["Pace"]

#: Seconds between returns: often enough for Ctrl-C and a moving bar, rarely enough to cost nothing.
TARGET = 0.1
#: Steps of the first chunk, which tells how fast the system is; compiled, as many as touch so many
#: entries of the state, within milliseconds: most runs are over by then.
FIRST_STEPS, MOST_FIRST_STEPS, FIRST_ENTRIES = 10, 5000, 40_000
#: Largest change of the number of steps from chunk to chunk.
GROWTH = 8.0
#: Rows of the output buffer at least, and numbers in it at most (32 MB).
SMALLEST_ROWS, LARGEST_BUFFER = 4096, 4_000_000


class Pace:
    """Chunks of a loop that take about `TARGET` seconds each.

    What the loop computes does not depend on where its chunks end.
    """

    def __init__(self, loop: Loop) -> None:
        #: Whether the first chunk takes milliseconds at most.
        self.brief = loop.program.kernel("derivative").compiled
        self.steps = FIRST_STEPS
        if self.brief:
            within = FIRST_ENTRIES // max(loop.state.size, 1)
            self.steps = max(FIRST_STEPS, min(MOST_FIRST_STEPS, within))
        self.tried = _tried(loop)

    def advance(self, loop: Loop) -> Chunk:
        """The next chunk."""
        rows = max(SMALLEST_ROWS, min(self.steps, LARGEST_BUFFER // max(loop.state.size, 1)))
        began = perf_counter()
        chunk = loop.advance(self.steps, rows)
        seconds = perf_counter() - began
        if chunk.code != sh.DONE:
            # It may have returned before its steps were used up, at an event or with full buffers.
            tried = _tried(loop)
            wanted = TARGET * (tried - self.tried) / max(seconds, 1e-9)
            self.steps, self.tried = max(1, int(min(GROWTH * self.steps, wanted))), tried
        return chunk


def _tried(loop: Loop) -> int:
    """Steps so far, accepted and rejected, of the lane that made most."""
    return max(map(add, loop.counts[sh.ACCEPTS].tolist(), loop.counts[sh.REJECTS].tolist()))
