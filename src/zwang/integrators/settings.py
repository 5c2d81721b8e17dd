"""Choices of a simulation, as data that is stored with its run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from zwang.errors import InputError, UnknownNameError
from zwang.integrators.tableaus import ORDER_5, ORDER_8, Tableau

__all__ = ["TABLEAUS", "Drift", "Settings"]

#: Explicit integrators by name.
TABLEAUS: dict[str, Tableau] = {"order8": ORDER_8, "order5": ORDER_5}


class Drift(StrEnum):
    """What keeps a motion on its constraints."""

    PROJECTION = "projection"
    BAUMGARTE = "baumgarte"
    NONE = "none"


@dataclass(frozen=True)
class Settings:
    """Every choice of a simulation that decides its numbers.

    Attributes
    ----------
    until : end of the simulation [s].
    tolerance : local error of a step, absolute relative to `scales` plus relative to the state.
    integrator : name of the method.
    drift : how constraints are kept.
    baumgarte : rate of Baumgarte's stabilisation [1/s], if that is chosen.
    step : fixed step [s], or 0 for error control.
    largest_step : limit of the step [s].
    """

    until: float
    tolerance: float = 1e-9
    integrator: str = "order8"
    drift: Drift = Drift.PROJECTION
    baumgarte: float = 20.0
    step: float = 0.0
    largest_step: float = float("inf")

    def __post_init__(self) -> None:
        if self.integrator not in TABLEAUS:
            raise UnknownNameError("integrator", self.integrator, TABLEAUS)
        if not 1e-14 <= self.tolerance <= 1e-1:
            raise InputError(
                "tolerance", found=repr(self.tolerance), expected="a number from 1e-14 to 0.1"
            )
        for name in ("step", "baumgarte"):
            if not 0.0 <= getattr(self, name) < float("inf"):
                raise InputError(name, found=repr(getattr(self, name)), expected="zero or positive")
        if not self.largest_step > 0.0:
            raise InputError(
                "largest_step", found=repr(self.largest_step), expected="a positive number"
            )

    @property
    def tableau(self) -> Tableau:
        """Coefficients of the method."""
        return TABLEAUS[self.integrator]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for storage."""
        return {**asdict(self), "drift": self.drift.value}
