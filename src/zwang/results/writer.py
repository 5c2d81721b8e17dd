"""Writing a simulation to its store while it goes on."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import Protocol

import numpy as np

from zwang.errors import StoreError
from zwang.results.records import closing_attributes, news_of
from zwang.results.run import EventRecord, RankChange, Run, Segment
from zwang.results.store import Store, Stored, read_store
from zwang.terms import FloatArray

__all__ = ["RunContents", "RunWriter"]


class RunContents(Protocol):
    """What is kept: rows that are not committed yet, and how it stands."""

    t: list[FloatArray]
    y: list[FloatArray]
    segments: list[Segment]
    records: list[EventRecord]
    ranks: list[RankChange]
    open: bool

    def so_far(self) -> Run:
        """What there is in memory."""
        ...

    def memory(self) -> dict[str, np.ndarray]:
        """All that it takes to go on."""
        ...


#: Rows that are kept in memory at most before they are committed.
ROWS_IN_MEMORY = 65_536


class RunWriter:
    """Writes a simulation to its store while it goes on.

    Parameters
    ----------
    store : where to.
    every : seconds between commits, unless rows fill the memory sooner.
    """

    def __init__(self, store: Store, every: float) -> None:
        self.store, self.every = store, every
        self.known = {"segments": 0, "events": 0, "ranks": 0}
        self.last = -np.inf

    def commit_if_due(self, simulation: RunContents) -> None:
        """Commit when it is time."""
        rows = sum(len(t) for t in simulation.t)
        if monotonic() - self.last >= self.every or rows >= ROWS_IN_MEMORY:
            self.commit(simulation)

    def commit(self, simulation: RunContents) -> None:
        """Write what is new; where that fails, the error carries the run."""
        run = simulation.so_far()
        news = {**news_of(run, self.known), "open": simulation.open}
        memory = simulation.memory() if simulation.open else None
        try:
            self.store.commit(simulation.t, simulation.y, news, memory)
        except StoreError as error:
            error.run = self._all(simulation)
            raise
        simulation.t, simulation.y = [], []
        self.remember(simulation)

    def remember(self, simulation: RunContents) -> None:
        """Everything so far is in the store."""
        self.known = {
            "segments": len(simulation.segments),
            "events": len(simulation.records),
            "ranks": len(simulation.ranks),
        }
        self.last = monotonic()

    def close(self, simulation: RunContents) -> None:
        """The last commit."""
        self.commit(simulation)
        self.store.close(closing_attributes(simulation.so_far()))

    def stored(self) -> Stored:
        """What is committed."""
        return read_store(self.store.path)

    def fetch(self, simulation: RunContents) -> None:
        """Put the committed rows before those in memory."""
        stored = self.stored()
        q, v = stored.read("q"), stored.read("v")
        simulation.t.insert(0, stored.read("time"))
        simulation.y.insert(0, np.concatenate([q, v], axis=1))

    def _all(self, simulation: RunContents) -> Run:
        self.fetch(simulation)
        run = simulation.so_far()
        return replace(run, status=f"stopped at t = {run.t[-1]:.6g} s: its store failed")
