"""Writing a simulation to its store while it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import monotonic
from typing import Any, Protocol

import numpy as np

from zwang.errors import StoreError
from zwang.results.event_rows import changed
from zwang.results.force_record import ForceLayout, computed_forces
from zwang.results.records import closing_attributes, determinacy_news, news_of
from zwang.results.run import Run
from zwang.results.segments import EventRecord, RankChange, Segment
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
    notes: list[str]
    open: bool

    def so_far(self) -> Run:
        """What there is in memory."""
        ...

    def controllers(self) -> dict[str, Any]:
        """What its controllers remember, as plain values; empty where there are none."""
        ...

    def memory(self) -> dict[str, np.ndarray]:
        """All that it takes to go on."""
        ...


#: Rows that are kept in memory at most before they are committed.
ROWS_IN_MEMORY = 65_536
#: Numbers of states and forces, of runs with forces.
NUMBERS_IN_MEMORY = 16_777_216


class RunWriter:
    """Writes a simulation to its store while it goes on.

    Parameters
    ----------
    store : where to.
    every : seconds between commits, unless rows fill the memory sooner.
    forces : the layout of forces that are computed and kept with the states; None if none are.
    """

    def __init__(self, store: Store, every: float, forces: ForceLayout | None = None) -> None:
        self.store, self.every, self.forces = store, every, forces
        self.known = {"segments": 0, "events": 0, "ranks": 0}
        self.last = -np.inf

    def commit_if_due(self, simulation: RunContents) -> None:
        """Commit when it is time."""
        rows = sum(len(t) for t in simulation.t)
        if monotonic() - self.last >= self.every or rows >= self._most_rows(simulation):
            self.commit(simulation)

    def _most_rows(self, simulation: RunContents) -> int:
        """Rows that are kept in memory at most before they are committed."""
        if self.forces is None or not simulation.y:
            return ROWS_IN_MEMORY
        width = simulation.y[0].shape[1]
        return min(ROWS_IN_MEMORY, NUMBERS_IN_MEMORY // (width + self.forces.width(width)) + 1)

    def commit(self, simulation: RunContents) -> None:
        """Write what is new; where that fails, the run is an attribute of the error."""
        run = simulation.so_far()
        forces = self._computed(simulation, run)
        run = simulation.so_far() if forces else run  # with notes on them
        news = {**news_of(run, self.known), "open": simulation.open}
        if self.store.rows == 0:
            news |= determinacy_news(run, self.forces)
        sampled = simulation.controllers()
        if sampled:
            news["controllers"] = sampled
        memory = simulation.memory() if simulation.open else None
        try:
            self.store.commit(simulation.t, simulation.y, news, memory, forces)
        except StoreError as error:
            error.run = self._all(simulation)
            raise
        simulation.t, simulation.y = [], []
        self.remember(simulation)

    def _computed(self, simulation: RunContents, run: Run) -> Mapping[str, FloatArray] | None:
        """Forces at the rows that are new."""
        if self.forces is None:
            return None
        rows, known = len(run.t), self.store.rows
        own = [
            replace(s, first=max(s.first - known, 0), last=s.last - known)
            for s in run.segments
            if s.last > known
        ]
        assert rows == (own[-1].last if own else 0)
        arrays, notes = computed_forces(changed(run, segments=tuple(own)), self.forces)
        simulation.notes += [note for note in notes if note not in simulation.notes]
        return arrays

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
