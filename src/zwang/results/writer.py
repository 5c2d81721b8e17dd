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
from zwang.results.history import History
from zwang.results.records import closing_attributes, determinacy_news, news_of
from zwang.results.run import Run
from zwang.results.store import Store, Stored, read_store
from zwang.terms import FloatArray

__all__ = ["RunContents", "RunWriter"]


class RunContents(Protocol):
    """What is kept: rows that are not committed yet, and how it stands."""

    history: History

    @property
    def open(self) -> bool:
        """Whether its last loop is to be gone on with."""
        ...

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
        rows = sum(len(t) for t in simulation.history.t)
        if monotonic() - self.last >= self.every or rows >= self._most_rows(simulation):
            self.commit(simulation)

    def _most_rows(self, simulation: RunContents) -> int:
        """Rows that are kept in memory at most before they are committed."""
        if self.forces is None or not simulation.history.y:
            return ROWS_IN_MEMORY
        width = simulation.history.y[0].shape[1]
        return min(ROWS_IN_MEMORY, NUMBERS_IN_MEMORY // (width + self.forces.width(width)) + 1)

    def commit(self, simulation: RunContents) -> None:
        """Write what is new; where that fails, the run is an attribute of the error."""
        run, history = simulation.so_far(), simulation.history
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
            self.store.commit(history.t, history.y, news, memory, forces)
        except StoreError as error:
            error.run = self._all(simulation)
            raise
        history.t, history.y = [], []
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
        simulation.history.note(notes)
        return arrays

    def remember(self, simulation: RunContents) -> None:
        """Everything so far is in the store."""
        history = simulation.history
        self.known = {
            "segments": len(history.segments),
            "events": len(history.records),
            "ranks": len(history.ranks),
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
        simulation.history.t.insert(0, stored.read("time"))
        simulation.history.y.insert(0, np.concatenate([q, v], axis=1))

    def _all(self, simulation: RunContents) -> Run:
        self.fetch(simulation)
        run = simulation.so_far()
        return replace(run, status=f"stopped at t = {run.t[-1]:.6g} s: its store failed")
