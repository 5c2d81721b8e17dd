"""What a simulation under way has to show: saved rows, segments, events, changes of rank, notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.results.segments import Beginning, EventRecord, RankChange, Segment
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["History"]


class History:
    """All that a run consists of, as it grows.

    Attributes
    ----------
    t, y : times and states, in pieces; those that are committed to a store are there alone.
    saved : how many states were saved, those in a store too.
    segments : the last one goes on; where it ends is known by `end_segment`.
    """

    def __init__(self, notes: list[str]) -> None:
        self.t: list[FloatArray] = []
        self.y: list[FloatArray] = []
        self.saved = 0
        self.segments: list[Segment] = []
        self.ranks: list[RankChange] = []
        self.records: list[EventRecord] = []
        self.notes = notes

    def save(self, t: FloatArray, y: FloatArray) -> None:
        """Keep rows; the arrays must be nobody else's."""
        self.t.append(t)
        self.y.append(y)
        self.saved += len(t)

    def note(self, found: Iterable[str]) -> None:
        """Notes, those that are new."""
        self.notes += [note for note in found if note not in self.notes]

    def note_first(self, note: str, *, begins: str) -> None:
        """A note, if none begins like it."""
        if not any(known.startswith(begins) for known in self.notes):
            self.notes.append(note)

    def record(self, name: str, t: float, found: FloatArray, after: FloatArray, nq: int) -> None:
        """An event with its states before and after; the first `nq` numbers are coordinates."""
        self.records.append(EventRecord(name, t, found[:nq], found[nq:], after[nq:].copy()))

    def begin_segment(
        self,
        system: System,
        parameters: Mapping[str, Any],
        began: Beginning | None,
        integrator: str = "",
    ) -> None:
        """End the last segment, and begin one; `began` is None where its first state is saved."""
        self.end_segment()
        self.segments.append(Segment(self.saved, self.saved, system, parameters, began, integrator))

    def end_segment(self) -> None:
        """Count what was saved so far to the present segment."""
        if self.segments:
            self.segments[-1] = replace(self.segments[-1], last=self.saved)

    def keep_before(self, t: float) -> None:
        """Forget what happened from a time on."""
        self.ranks = [change for change in self.ranks if change.t < t]
        self.records = [record for record in self.records if record.t < t]

    def rows(self, width: int) -> tuple[FloatArray, FloatArray]:
        """Times and states in memory, one after the other."""
        return _joined(self.t, (0,)), _joined(self.y, (0, width))


def _joined(parts: list[FloatArray], none: tuple[int, ...]) -> FloatArray:
    """Rows one after the other; `none` is the shape if there are none."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(none)
