"""Segments of a run, and what is recorded within them: events, and changes of rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from zwang.caching import computed_once
from zwang.display import Displayed
from zwang.errors import InputError
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["Beginning", "EventRecord", "RankChange", "Segment"]


@dataclass(frozen=True)
class RankChange:
    """A moment at which constraint rows are dependent, become so, or are so no more.

    Attributes
    ----------
    t : when [s].
    dependent_rows : how many position rows depend on others then.
    lasting : whether they do from then on; otherwise the motion passes a singular position.
    find : finds the names of the constraints involved, when they are first asked for.
    """

    t: float
    dependent_rows: int
    lasting: bool = True
    find: Callable[[], tuple[str, ...]] = field(default=tuple, repr=False, compare=False)

    @computed_once
    def names(self) -> tuple[str, ...]:
        """The constraints with dependent rows, and those they depend on; none where rank returns.

        Distinguished at a state on the interpolant, good to a hundredth of the rows' size.
        """
        return self.find()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for storage."""
        return {
            "t": self.t,
            "dependent_rows": self.dependent_rows,
            "lasting": self.lasting,
            "names": list(self.names),
        }

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> RankChange:
        """From plain values; earlier versions stored no names."""
        names = tuple(plain.get("names", ()))
        return cls(plain["t"], plain["dependent_rows"], plain.get("lasting", True), lambda: names)


@dataclass(frozen=True, repr=False)
class EventRecord(Displayed):
    """An event that happened.

    Attributes
    ----------
    name, t : which, and when.
    q, v : the state it found.
    v_after : the velocities it left, other than v after an impulse.
    """

    name: str
    t: float
    q: FloatArray
    v: FloatArray
    v_after: FloatArray


class Beginning(NamedTuple):
    """Where a segment began.

    Attributes
    ----------
    t : when [s].
    left : the state (nq + nv,) that it began with, after impulses and on the constraints.
    found : the state that the event before it found.
    """

    t: float
    left: FloatArray
    found: FloatArray


def no_state() -> InputError:
    """What is wrong where something is asked of a run without saved states."""
    return InputError(
        "run",
        must="have at least one saved state",
        but="has none",
        advice="Request other times with save=…; events and the status are available.",
    )


@dataclass(frozen=True, repr=False, init=False)
class Segment(Displayed):
    """A segment of a run without change of constraints or parameters.

    Attributes
    ----------
    first, last : saved states first ≤ i < last belong to it.
    system : the system with the constraints that act.
    parameters : values of all parameters.
    began : where it began, which need not be among the saved states; None where that is the first
        saved one, or not known.
    integrator : the method that "auto" has chosen; empty where it is that of the settings.
    flat_parameters : the parameters as one array, where that is known.
    """

    first: int
    last: int
    system: System = field(repr=False)
    parameters: Mapping[str, Any]
    began: Beginning | None = field(default=None, repr=False, compare=False)
    integrator: str = field(default="", repr=False)
    flat_parameters: FloatArray | None = field(default=None, repr=False, compare=False)

    def __init__(
        self,
        first: int,
        last: int,
        system: System,
        parameters: Mapping[str, Any],
        began: Beginning | None = None,
        integrator: str = "",
        flat_parameters: FloatArray | None = None,
    ) -> None:
        # At once: every run has one, and fields of a frozen class one by one take three times that.
        self.__dict__.update(
            first=first,
            last=last,
            system=system,
            parameters=parameters,
            began=began,
            integrator=integrator,
            flat_parameters=flat_parameters,
        )

    @computed_once
    def p(self) -> FloatArray:
        """All parameters as one array, which is not to be written to."""
        known = self.flat_parameters
        return self.system.parameter_vector(self.parameters) if known is None else known
