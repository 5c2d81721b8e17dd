"""What there is of a simulation: its run, in memory and in a store, whenever it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.codegen.environment import noted
from zwang.results.certificate import RunCertificate, certificate_and_note
from zwang.results.records import StoredRun
from zwang.results.run import Run
from zwang.results.unbounded import told_unbounded
from zwang.simulation.interpolate import states_between
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.results.history import History
    from zwang.results.writer import RunWriter
    from zwang.simulation.integration import Integration
    from zwang.simulation.origin import Origin

__all__ = ["Outcome"]


class Outcome:
    """The run that a simulation has come to, and how it ended.

    Parameters
    ----------
    now, history : what is integrated, and what was saved and happened.
    again : makes the run once more, with another tolerance and other times.

    Attributes
    ----------
    status : how it ended; empty while it goes on.
    keeper : what writes to the store, if there is one.
    certify_every : time from one check to the next [s], if the run is to be certified.
    """

    def __init__(
        self,
        origin: Origin,
        now: Integration,
        history: History,
        again: Callable[[float, FloatArray], Run],
    ) -> None:
        self.origin, self.now, self.history, self.again = origin, now, history, again
        self.status, self.finished = "", False
        self.keeper: RunWriter | None = None
        self.certify_every: float | None = None
        self.certificate: RunCertificate | None = None

    def stop(self, status: str) -> None:
        """End here, if there is a reason."""
        if status:
            self.now.close()
            self.status = status

    def note_at_end(self) -> None:
        """What a whole run tells: open laws, unbounded forces, controllers that set nothing."""
        history, sampling = self.history, self.now.ends.sampling
        for motion in self.now.open_motions.values():
            history.note(motion.notes_at_end())
        if history.saved and any(not change.lasting for change in history.ranks):
            history.note(told_unbounded(self._as_kept()))
        history.notes += [] if sampling is None else sampling.idle()

    def certify(self) -> None:
        """Certify the run, all of which is committed first if it has a store."""
        if self.certify_every is None or not self.history.saved:
            return
        run = self._as_kept()
        self.certificate, note = certificate_and_note(run, self.certify_every)
        self.history.notes.append(note)

    # --- run --------------------------------------------------------------------------------------

    def so_far(self) -> Run:
        """What there is in memory."""
        origin, history, now = self.origin, self.history, self.now
        history.end_segment()
        nq, (t, y) = len(origin.system.coordinates), history.rows(len(origin.scales))
        return Run(
            origin.system,
            t,
            y[:, :nq],
            y[:, nq:],
            self.status,
            self.finished,
            now.kept.settings(now.settings),
            tuple(history.segments),
            now.total(),
            states_between,
            tuple(history.records),
            tuple(history.ranks),
            noted(history.notes),
            origin.scales,
            self.again,
            self.certificate,
            watched=origin.events,
            times=origin.times,
        )

    def result(self) -> Run:
        """What there is."""
        origin, keeper = self.origin, self.keeper
        if keeper is None:
            return self.so_far()
        if not self.history.t:
            stored = keeper.stored()
            return StoredRun.of(stored, origin.system, states_between, self.again, origin.events)
        keeper.fetch(self)
        return self.so_far()

    def abandoned(self, status: str) -> Run:
        """What there is where a function of the user's raised an error; stored, if it has a store.

        The store is left as that of a run that was interrupted here, or at its last commit.
        """
        if self.keeper is not None and self.open:
            return self._as_kept()
        if self.keeper is not None:
            self.keeper.fetch(self)
        return replace(self.so_far(), status=status)

    def _as_kept(self) -> Run:
        """What there is, all of which is committed first if it has a store."""
        if self.keeper is None:
            return self.so_far()
        self.keeper.commit(self)
        return StoredRun.of(self.keeper.stored(), self.origin.system, states_between)

    # --- store ------------------------------------------------------------------------------------

    @property
    def open(self) -> bool:
        """Whether its last loop is to be gone on with."""
        return self.now.open

    def controllers(self) -> dict[str, Any]:
        """What controllers remember, as plain values; empty where there are none."""
        sampling = self.now.ends.sampling
        return {} if sampling is None else sampling.to_dict()

    def memory(self) -> dict[str, np.ndarray]:
        """All that it takes to go on from here with the same bits."""
        now, segment, loop = self.now, self.now.segment, self.now.segment.loop
        return {
            **{name: getattr(loop, name) for name in loop.REMEMBERED},
            "origin": segment.y,
            "origin_time": np.array(segment.t),
            "closed_counts": np.array(list(asdict(now.counts).values())),
            "returns": np.array(now.kept.returns),
            "tolerance": np.array(now.kept.tolerance),
        }
