"""A state of a system, q, v and t; and how well it satisfies the constraints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from zwang.display import Displayed
from zwang.terms import FloatArray

__all__ = ["Residuals", "State"]


@dataclass(frozen=True, repr=False)
class State(Displayed):
    """Where a system is: q (…, nq), v (…, nv) and the time t. Unpacks as ``q, v = state``."""

    q: FloatArray
    v: FloatArray
    t: Any = 0.0

    def __iter__(self) -> Iterator[FloatArray]:
        return iter((self.q, self.v))


@dataclass(frozen=True, repr=False)
class Residuals(Displayed):
    """How well a state satisfies its constraints.

    Attributes
    ----------
    position : φ of the position constraints, shape (…, mp).
    velocity : φ̇ and ψ of position and velocity constraints, shape (…, mv).
    position_names, velocity_names : the rows' names.
    """

    position: FloatArray
    velocity: FloatArray
    position_names: tuple[str, ...]
    velocity_names: tuple[str, ...]
