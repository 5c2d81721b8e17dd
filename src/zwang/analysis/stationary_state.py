"""What an equilibrium and a steady motion have in common: a state, and small motions about it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zwang.analysis.equations_of import EquationsOf
from zwang.arguments.keywords import known_keywords_of_methods
from zwang.caching import computed_once
from zwang.display import Displayed
from zwang.state import State
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.analysis.linearization import Linearization
    from zwang.system import System

__all__ = ["StationaryState"]


@known_keywords_of_methods
@dataclass(frozen=True, repr=False)
class StationaryState(Displayed, ABC):
    """A state that stays as it is, at rest or in a frame that moves with it.

    Attributes
    ----------
    q, v : coordinates, shape (nq,), and velocities, shape (nv,).
    t : time [s].
    """

    q: FloatArray
    v: FloatArray = field(repr=False)
    t: float
    _equations: EquationsOf = field(repr=False)

    @property
    def system(self) -> System:
        """The system that is in this state."""
        return self._equations.system

    @property
    def state(self) -> State:
        """The state, for `simulate` or `linearize`."""
        return State(self.q, self.v, self.t)

    @property
    def parameters(self) -> dict[str, Any] | None:
        """Values that replaced defaults."""
        return self._equations.parameters

    def __getitem__(self, name: str) -> float:
        """Value of a coordinate, a velocity or a channel of a joint."""
        return self._equations.channel(name, self.q, self.v).value

    @computed_once
    def linearization(self) -> Linearization:
        """Small motions about this state; see `zwang.System.linearize`."""
        return self.linearize()

    @abstractmethod
    def linearize(
        self,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        independent: Sequence[str] | None = None,
    ) -> Linearization:
        """The same with inputs, outputs or states of your choice; see `zwang.System.linearize`."""
