"""What an engine of the comparison offers.

A module of this package is an engine. It has

    MODULE, PACKAGES    what is imported, and the distributions whose version and size count
    STEPPED             how it goes through time, for tables
    settings(work)      name → function that builds the work, runs it and returns `Ran`, from coarse
                        to fine; raises `CannotError` with a sentence where the engine cannot do it
    evaluation(work)    a function (count) → None that evaluates accelerations so often, or None
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

__all__ = ["CannotError", "Ran", "Settings"]


class CannotError(Exception):
    """The engine cannot do the work; the sentence says what happens when one tries."""


@dataclass(frozen=True)
class Ran:
    """One run of one setting.

    Attributes
    ----------
    cpu : seconds of processor time of the motion, without building the model.
    places : where the points were, (times, points, 3), or what tells it when it is asked.
    build : seconds of processor time to build the model, where it was built anew.
    advance : for Zwang, seconds in the compiled time loop alone; `cpu` is the whole call.
    evaluations : how often accelerations were computed, where it is known.
    """

    cpu: float
    places: np.ndarray | Callable[[], np.ndarray]
    build: float | None = None
    advance: float | None = None
    evaluations: int | None = None


Settings = dict[str, Callable[[], Ran]]
