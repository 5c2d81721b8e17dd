"""Whether the motion determines a channel, and how tables tell that it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zwang.errors import ZwangError
from zwang.tracing.open_laws import OPEN

if TYPE_CHECKING:
    from zwang.results.run import Run

__all__ = [
    "ONE_OF_MANY",
    "PASSPORT_ROWS",
    "STAR",
    "determined",
    "motion_is_open",
    "open_constraints",
]

#: Constraint rows beyond which determinacy of reactions, which takes dense decompositions, is not
#: computed.
PASSPORT_ROWS = 400
#: After a name in a table, and what is said of it below.
STAR = "*"
ONE_OF_MANY = (
    "Indeterminate: constraints are redundant, and the motion leaves open how joints share their "
    "load. The numbers are those of least norm, one choice among many."
)


def motion_is_open(run: Run) -> bool:
    """Whether a law uses a reaction that redundant constraints leave open, as the run has noted.

    Then no force follows from the motion: a driver holds against friction, say, which is another
    for each way in which joints share their load.
    """
    return any(OPEN in note for note in run.notes)


def determined(run: Run, name: str) -> bool:
    """Whether the motion determines a channel, as far as that is known."""
    try:
        rows = sum(len(rows) for rows in run.system.groups.values())
        return rows > PASSPORT_ROWS or run.channels.determinate(name)
    except ZwangError:  # no channel, no unique motion there, or no system: nothing is known
        return True


def open_constraints(run: Run) -> list[str] | None:
    """Joints and constraints whose forces the motion leaves open at the first saved state.

    They are stored with forces, for readers without the system; None where they are not known.
    """
    if sum(len(rows) for rows in run.system.groups.values()) > PASSPORT_ROWS:
        return None
    try:
        return [name for name, known in run.channels.statuses().items() if not known]
    except ZwangError:  # no unique motion there
        return None
