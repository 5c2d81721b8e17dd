"""Simulation: the method and the tolerance that are kept, where those asked for do not serve."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from zwang.results.status import AT_THE_END, ATTAINABLE, looser_tolerance, rounding_note

if TYPE_CHECKING:
    from zwang.integrators.contract import Loop
    from zwang.integrators.settings import Settings

__all__ = ["MethodAndTolerance"]


class MethodAndTolerance:
    """How a simulation integrates from now on.

    Attributes
    ----------
    method : that "auto" has changed to, if it has.
    returns : how often from implicit to explicit.
    tolerance : that is kept.
    """

    def __init__(self, tolerance: float) -> None:
        self.method, self.returns, self.tolerance = "", 0, tolerance
        # When the tolerance was raised, from what, with what note.
        self._loosened: list[tuple[float, float, str]] = []

    def settings(self, asked: Settings) -> Settings:
        """The settings with the tolerance that is kept."""
        if self.tolerance == asked.tolerance:
            return asked
        return replace(asked, tolerance=self.tolerance)

    def change_method(self, loop: Loop) -> None:
        """Take the method that is to follow a loop."""
        self.method = loop.next_method()
        self.returns += loop.settings.integrator == "radau5"

    @property
    def may_loosen(self) -> bool:
        """Whether rounding may leave less than the tolerance asks for."""
        return self.tolerance < ATTAINABLE

    def loosen(self, t: float) -> str:
        """Keep a tolerance that rounding leaves, from a time on; a note on it."""
        kept = looser_tolerance(self.tolerance)
        note = rounding_note(t, self.tolerance, kept)
        self._loosened.append((t, self.tolerance, note))
        self.tolerance = kept
        return note

    def take_back(self, end: float) -> list[str]:
        """Take back tolerances with which no step was small enough either; the notes on them."""
        notes = []
        while self._loosened and end - self._loosened[-1][0] <= AT_THE_END * abs(end):
            _, self.tolerance, note = self._loosened.pop()
            notes.append(note)
        return notes
