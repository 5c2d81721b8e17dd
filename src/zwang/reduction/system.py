"""The system reduced to independent coordinates or velocities, as `System.reduce` returns it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.equations.expression import ExpressionEquations
from zwang.state import State
from zwang.system import System

if TYPE_CHECKING:
    from zwang.reduction.partition import Partition
    from zwang.reduction.reduced_model import Reduction

__all__ = ["ReducedSystem"]


class ReducedSystem(System):
    """A system in independent variables that recovers all others; `System.reduce` makes it.

    Attributes
    ----------
    origin : the system it was reduced from.
    way_back : ``way_back(state)`` gives all coordinates, velocities, accelerations and reactions of
        the first system; see `zwang.reduction.way_back.WayBack`.
    """

    def __init__(self, origin: System, reduction: Reduction, partition: Partition | None) -> None:
        from zwang.reduction.way_back import WayBack

        self._use(ExpressionEquations.of_model(reduction.model))
        self.origin = origin
        self.way_back = WayBack(self, origin, reduction, partition)

    @property
    def eliminated(self) -> tuple[str, ...]:
        """Names of the constraint rows that dropped out."""
        return self.way_back.reduction.eliminated

    @property
    def invariants(self) -> tuple[str, ...]:
        """Position constraints met through the velocities: kept by motions that start on them."""
        return self.way_back.reduction.invariants

    def way_in(
        self,
        q: Any,
        v: Any = None,
        t: Any = 0.0,
        *,
        start: Any = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> State:
        """The state of this system that belongs to a state of the one it was reduced from.

        Parameters
        ----------
        start : where the search for independent coordinates begins, for example near the turn of
            an angle that is meant.
        """
        return State(*self.way_back.inverse(q, v, t, start=start, parameters=parameters))

    def quality(
        self, q: Any, v: Any = None, t: float = 0.0, *, parameters: Mapping[str, Any] | None = None
    ) -> float:
        """How well the chosen velocities determine the others at a state, from 0 to 1.

        For systems reduced without a map. Near 0 the equations lose their digits: see `switched`.
        """
        return self.way_back.quality(q, v, t, parameters=parameters)

    def switched(
        self,
        q: Any,
        v: Any = None,
        t: float = 0.0,
        *,
        below: float = 0.2,
        parameters: Mapping[str, Any] | None = None,
    ) -> ReducedSystem:
        """The system with the velocities that are best at a state, or itself if its own will do.

        ``new.way_in(old.way_back.lift(state))`` is the same state in the new velocities.

        Parameters
        ----------
        below : the `quality` under which others are chosen.
        """
        if self.quality(q, v, t, parameters=parameters) >= below:
            return self
        time = getattr(q, "t", t)
        at = State(getattr(q, "q", q), np.zeros(0), time)
        keep = [name for name in self.constraints if name in self.origin.constraints]
        return self.origin.reduce(at=at, keep=keep, parameters=parameters)
