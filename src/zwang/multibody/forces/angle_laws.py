"""Laws of actuators that read angles: whether they jump where an angle passes half a turn.

A law sees angles in (−π, π], as a state has them. One of sines and cosines goes on beyond half a
turn, one that is proportional to the angle jumps there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

__all__ = ["AngleLaw"]

#: Difference of efforts to both sides of half a turn, relative to the largest at some angles, up to
#: which they are equal: the sine of the nearest number to π is 1e-16, which a law may multiply.
SAME_EFFORT = 1e-9
#: These angles, besides half a turn.
ELSEWHERE = (0.0, 0.5 * np.pi, -0.5 * np.pi, 1.0)


@dataclass(frozen=True, eq=False)
class AngleLaw:
    """The effort of an actuator as a function of what its law reads.

    Attributes
    ----------
    actuator : name.
    reads : names of joint coordinates and rates.
    angles : those of them that are angles.
    parameters : names of the parameters that a law may use, in order.
    effort : (values read, t, parameters in one column) → effort.
    """

    actuator: str
    reads: tuple[str, ...]
    angles: tuple[str, ...]
    parameters: tuple[str, ...]
    effort: casadi.Function

    @property
    def is_held(self) -> bool:
        """Whether it depends on parameters alone, and changes only where one of them does."""
        return not self.reads and not self.effort.jac_sparsity(0, 1).nnz()

    def jumps(
        self, angle: str, read: Mapping[str, float], t: float, parameters: Mapping[str, Any]
    ) -> bool:
        """Whether the effort is another one at π than at −π, the others as they are."""
        p = np.concatenate([np.zeros(0), *(np.ravel(parameters[n]) for n in self.parameters)])
        both = [self._effort({**read, angle: side}, t, p) for side in (np.pi, -np.pi)]
        largest = max(
            *map(abs, both), *(abs(self._effort({**read, angle: x}, t, p)) for x in ELSEWHERE)
        )
        return bool(abs(both[0] - both[1]) > SAME_EFFORT * largest)

    def _effort(self, read: Mapping[str, float], t: float, p: FloatArray) -> float:
        return float(self.effort([read[name] for name in self.reads], t, p))
