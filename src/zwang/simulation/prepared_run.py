"""Repeated simulations: what stays the same from one plain run to the next is prepared once.

Most runs are plain: one start, no events, nothing that is stored on the way, and the compiled loop
is at its end when it first returns. The first of them leaves its loop and what is known of its
program here; the next one with the same choices puts its start, its parameters and its times into
the same buffers. It is checked like any other: whether the start meets its constraints, unless it
is the start of the run before, which program it takes, and by the guard. Where there is anything to
look at or to say, the simulation proper takes over, from the start or from where the loop returned.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.caching import Remembered
from zwang.codegen import background
from zwang.integrators import memory as sh
from zwang.integrators.chunk_size import first_chunk
from zwang.integrators.registry import loop_settings
from zwang.integrators.settings import Drift, Settings
from zwang.simulation.all_rows import misses_a_row
from zwang.simulation.guard import Guard
from zwang.simulation.options import UNREMARKABLE, as_number, require_end, save_times
from zwang.simulation.plain_run import RepeatedRun, UnfinishedRun
from zwang.simulation.select_program import LatestProgram, ProgramStart
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations
    from zwang.integrators.contract import Loop

__all__ = ["MOST_ENTRIES", "PreparedRun", "PreparedRuns"]

#: Entries of a state up to which a loop is kept: more cost so much that Python does not count.
MOST_ENTRIES = 2000
#: Sets of choices for which a loop is kept.
KEPT = 4


class PreparedRun:
    """The loop of a plain run, ready for another one with the same choices.

    Attributes
    ----------
    settings : of the run before.
    scales : those of the system.
    notes : what runs of its program say.
    """

    def __init__(
        self,
        equations: Equations,
        settings: Settings,
        scales: FloatArray,
        loop: Loop,
        notes: tuple[str, ...],
    ) -> None:
        self.settings, self.scales, self.notes = settings, scales.copy(), notes
        self._equations, self._program, self._of_loop = equations, loop.program, loop.settings
        self._every_step, self._latest = loop.options[1], LatestProgram.of(equations)
        self._saved: tuple[tuple[Any, float, float], FloatArray | None] = (None, 0.0, 0.0), None
        self._unremarkable: Any = None  # state, time and parameters of the last start that was
        self._budget, self._rows = first_chunk(loop)
        loop.keeps_output = True
        self._spare = [loop]  # none while it runs, in another thread for one

    def choices(
        self, until: Any, start: float, save: Any
    ) -> tuple[Settings, FloatArray | None, FloatArray]:
        """Settings, times and scales of a run from a start to an end, checked."""
        settings, end = self.settings, as_number("until", until)
        if end != settings.until:
            settings = replace(settings, until=end)
        require_end(settings, start, until)
        return settings, self._save_times(save, start, end), self.scales

    def _save_times(self, save: Any, start: float, end: float) -> FloatArray | None:
        """Times to save at; those of the run before where the same is asked."""
        (known, *between), times = self._saved
        if between == [start, end] and _same(save, known):
            return times
        times = save_times(save, start, end)
        self._saved = (copy(save), start, end), times
        return times

    def run(
        self, settings: Settings, start: ProgramStart, times: FloatArray | None, guard: Guard
    ) -> RepeatedRun | UnfinishedRun | None:
        """The run from a start; None where there is something to say of it or to look at."""
        loop = self._begun(settings, start, times, guard)
        if loop is None:
            return None
        background.wake()
        loop.saves_present = True
        chunk = loop.advance(self._budget, self._rows)
        t, y = chunk.saved()
        quiet = chunk.code == sh.DONE and not loop.held_back()
        if not quiet or guard.wanted(1) or not self._met(loop, t, y, start.p):
            return UnfinishedRun(self.notes, loop, chunk, y[0].copy())
        ended, work, ranks = loop.memory.item(sh.T, 0), loop.work_done(), chunk.kept_ranks()
        self._spare.append(loop)
        return RepeatedRun(self._program, self.notes, t, y, work, ended, ranks)

    def take_back(self, loop: Loop) -> None:
        """Keep a loop that was gone on with, see `UnfinishedRun`, and is over, for the next run."""
        self._spare.append(loop)

    def _begun(
        self, settings: Settings, start: ProgramStart, times: FloatArray | None, guard: Guard
    ) -> Loop | None:
        """The loop at a start that is unremarkable; else None."""
        equations, (y, t, p) = self._equations, start
        if (times is None) is not self._every_step:
            return None
        key = y.tobytes(), t, p.tobytes()
        new = key != self._unremarkable
        if new:
            moment, nq = np.array([t]), len(equations.coordinates)
            if not equations.largest_miss(y[None], moment, p) <= UNREMARKABLE:
                return None
            equations.require_unique(y[:nq], y[nq:], moment[0], p)
        program = self._latest.select(equations, start, settings)
        if program is not self._program or not guard.trusts(program, p):
            return None
        try:  # whoever has the loop has the settings to itself as well
            loop = self._spare.pop()
        except IndexError:
            return None
        if settings is not self.settings:
            self.settings, self._of_loop = settings, loop_settings(program, settings)
        loop.restart(self._of_loop, t, y, p, times)
        if new and program.left_out:
            accelerations = loop.accelerations()
            if not equations.agree(loop.present.T, t, p[None], accelerations):
                return None
        self._unremarkable = key
        return loop

    def _met(self, loop: Loop, t: FloatArray, y: FloatArray, p: FloatArray) -> bool:
        """Whether rows that do not act were met all the way."""
        if not self._program.left_out or loop.settings.drift is not Drift.PROJECTION:
            return True
        if misses_a_row(self._equations, y, t, p):
            return False
        return bool(loop.met_all_rows() or t[-1] == loop.t[0])


def _same(save: Any, known: Any) -> bool:
    """Whether the same states are to be saved, as was asked for before."""
    if type(save) is not type(known):
        return False
    if isinstance(save, np.ndarray):
        alike = save.dtype == known.dtype and save.shape == known.shape
        return alike and save.tobytes() == known.tobytes()
    try:
        return bool(save == known)
    except ValueError:  # arrays among them
        return False


class PreparedRuns:
    """Those of a system, by their choices."""

    def __init__(self) -> None:
        self._kept: Remembered[tuple[Any, ...], PreparedRun] = Remembered(KEPT)

    @classmethod
    def of(cls, equations: Equations) -> PreparedRuns:
        """Kept with the equations."""
        return equations.cache.once(cls, cls)

    def find(self, how: Mapping[str, Any]) -> PreparedRun | None:
        """The one for some choices, as they were given."""
        try:
            return self._kept.get(tuple(how.values()))
        except TypeError:  # what cannot be looked up among choices is none
            return None

    def keep(self, how: Mapping[str, Any], prepared: PreparedRun) -> None:
        """Keep one for the next call with the same choices."""
        self._kept[tuple(how.values())] = prepared
