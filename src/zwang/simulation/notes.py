"""Simulation notes: in what coordinates a run was made, and saved states off constraints.

States between steps come from an interpolant and are projected. Where that would change a velocity
by much more than the tolerance, as next to a singular position onto another branch, they stay as
they were; so do states within a step over a kink of a driver that the step did not see. A run says
by how much such states miss their constraints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.integrators.settings import Drift, Settings
from zwang.simulation.options import UNREMARKABLE
from zwang.simulation.rank_report import left_out_note
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations
    from zwang.programs.contract import Program
    from zwang.system import System

__all__ = ["OFF", "off_constraints_note", "program_notes"]

#: How the note begins.
OFF = "saved states miss their constraints"


def off_constraints_note(
    equations: Equations, settings: Settings, t: FloatArray, y: FloatArray, p: FloatArray
) -> str:
    """What a run says of saved states (rows, n) off its constraints; empty where none is."""
    if settings.drift is not Drift.PROJECTION or not len(t):
        return ""
    miss = equations.largest_miss(y, t, p)
    if miss <= UNREMARKABLE * max(1.0, float(np.abs(y).max())) or not np.isfinite(miss):
        return ""
    return (
        f"{OFF} by up to {miss:.2g} from t = {t[0]:.6g} to {t[-1]:.6g} s, between steps that "
        "do not: give a smaller tolerance or largest_step="
    )


def program_notes(system: System, program: Program) -> tuple[str, ...]:
    """What runs of a program say of it."""
    idle = program.idle_rows
    notes = [left_out_note(system, idle)] if idle else []
    if program.carrier is not None:
        notes.append(f"integrated in {program.carrier.name} coordinates")
    return tuple(notes)
