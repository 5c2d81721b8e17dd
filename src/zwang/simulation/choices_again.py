"""Simulation: rows, method or tolerance chosen again, where the present ones lead no further."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.integrators import memory as sh
from zwang.integrators.settings import Drift
from zwang.results.status import method_note
from zwang.simulation.all_rows import on_all_rows

if TYPE_CHECKING:
    from zwang.results.history import History
    from zwang.simulation.integration import Integration

__all__ = ["change_method", "choose_rows_again", "loosen"]

#: What a run tells once of rows chosen again.
ACT_AGAIN = "rows that had been left out had to act in place of others"


def choose_rows_again(now: Integration, history: History) -> bool:
    """Whether it goes on with other rows, if others are to be left out from the state reached."""
    before, settings = now.segment, now.settings
    y, t = before.state, before.reached
    if not before.program.left_out or before.loop.finished or t == before.t:
        return False
    if now.program(before.system, y, t).left_out == before.program.left_out:
        return False
    _note_rows(history, t)
    now.watches.forget_solved()
    if settings.drift is Drift.PROJECTION:  # those that acted were nearly dependent here
        at, tolerance = np.array([t]), settings.tolerance
        y = on_all_rows(before.equations, y[None], at, now.p, tolerance)[0][0]
    now.begin_again(y)
    return True


def change_method(now: Integration, history: History, code: int) -> bool:
    """Whether a loop left to the method that "auto" chooses from the present state on."""
    if code not in (sh.LEAVES, sh.ROWS_NEAR):
        return False
    if code == sh.ROWS_NEAR and choose_rows_again(now, history):
        return True
    before, t = now.segment, now.segment.reached
    y, was = before.state, before.loop.settings.integrator
    now.kept.change_method(before.loop)
    note = method_note(was, now.kept.method, t, rows_near=code == sh.ROWS_NEAR)
    history.note_first(note, begins=note.partition(" from t = ")[0])
    now.begin_again(y)
    if set(before.program.left_out) - set(now.segment.program.left_out):
        _note_rows(history, t)
    return True


def loosen(now: Integration, history: History, code: int) -> bool:
    """Whether it goes on with a tolerance that rounding leaves, where it was asked for less."""
    if code != sh.TOO_SMALL or not now.kept.may_loosen:
        return False
    history.notes.append(now.kept.loosen(now.segment.reached))
    now.begin_again(now.segment.state)
    return True


def _note_rows(history: History, t: float) -> None:
    """Say that rows act that did not, the first time alone."""
    if not any(note.endswith(ACT_AGAIN) for note in history.notes):
        history.notes.append(f"at t = {t:.6g} s {ACT_AGAIN}")
