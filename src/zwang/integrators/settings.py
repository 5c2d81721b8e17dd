"""Settings of an integrator: method, tolerance, drift, coordinates; stored with the run."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from zwang.errors import InputError, UnknownNameError

__all__ = ["METHODS", "Coordinates", "Drift", "Method", "OnSingular", "Settings"]

#: Steps below this, relative to the end of the simulation, are no longer told from none.
SMALLEST_STEP = 16.0 * sys.float_info.epsilon


@dataclass(frozen=True)
class Method:
    """What must be known of an integrator before it begins.

    Attributes
    ----------
    lanes : whether it runs several trajectories side by side.
    nodes : whether it evaluates several states of one trajectory side by side, where it can.
    fixed_step : whether it has no error control and must be given a step.
    """

    lanes: bool = False
    nodes: bool = False
    fixed_step: bool = False


#: Integrators by name; "auto" begins with "gauss" where equations can be evaluated at nodes, else
#: with "order8", and changes to others where they do with less work, see `stiffness`.
METHODS: dict[str, Method] = {
    "auto": Method(nodes=True),
    "gauss": Method(nodes=True),
    "order8": Method(lanes=True),
    "order5": Method(lanes=True),
    "radau5": Method(),
    "generalized_alpha": Method(fixed_step=True),
    "rattle": Method(fixed_step=True),
}


class Drift(StrEnum):
    """What keeps a motion on its constraints."""

    PROJECTION = "projection"
    BAUMGARTE = "baumgarte"
    NONE = "none"


class OnSingular(StrEnum):
    """What is done where constraint rows lose rank."""

    CONTINUE = "continue"
    STOP = "stop"


class Coordinates(StrEnum):
    """What a mechanism is carried in."""

    AUTO = "auto"
    ABSOLUTE = "absolute"
    PLANAR = "planar"
    JOINT = "joint"


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
    spectral_radius : part of the fastest oscillations that generalized-α leaves after a step.
    formulation : what computes accelerations, "auto" for the compiled equations.
    on_singular : whether to go on where constraint rows lose rank.
    coordinates : what a mechanism is integrated in; results are those of its system in all cases.
    stop_saved : whether the state in which an event stops it is saved beside the times asked for.
    """

    until: float
    tolerance: float = 1e-9
    integrator: str = "auto"
    drift: Drift = Drift.PROJECTION
    baumgarte: float = 20.0
    step: float = 0.0
    largest_step: float = float("inf")
    spectral_radius: float = 0.8
    formulation: str = "auto"
    on_singular: OnSingular = OnSingular.CONTINUE
    coordinates: Coordinates = Coordinates.AUTO
    stop_saved: bool = False

    def __post_init__(self) -> None:
        if self.integrator not in METHODS:
            raise UnknownNameError("integrator", self.integrator, METHODS)
        if not 1e-14 <= self.tolerance <= 1e-1:
            raise InputError(
                "tolerance", found=repr(self.tolerance), expected="a number from 1e-14 to 0.1"
            )
        for name in ("step", "baumgarte"):
            if not 0.0 <= getattr(self, name) < float("inf"):
                raise InputError(name, found=repr(getattr(self, name)), expected="zero or positive")
        if self.method.fixed_step and self.step == 0.0:
            raise InputError(
                "step", must=f"be given in seconds, as {self.integrator!r} has no error control"
            )
        if self.method.fixed_step and self.drift is Drift.BAUMGARTE:
            raise InputError(
                "drift",
                expected=f"'projection' or 'none' with integrator={self.integrator!r}, which "
                "solves for positions",
                found="'baumgarte'",
            )
        if not 0.0 <= self.spectral_radius <= 1.0:
            raise InputError(
                "spectral_radius", found=repr(self.spectral_radius), expected="a number from 0 to 1"
            )
        if not self.largest_step > 0.0:
            raise InputError(
                "largest_step", found=repr(self.largest_step), expected="a positive number"
            )
        smallest = self.limits[0]
        for name in ("step", "largest_step"):
            if 0.0 < getattr(self, name) < smallest:
                raise InputError(
                    name,
                    expected=f"{smallest:.1e} s or more, the resolution of time at t = "
                    f"{self.until:g}",
                    found=repr(getattr(self, name)),
                )

    @property
    def method(self) -> Method:
        """What is known of the integrator."""
        return METHODS[self.integrator]

    @cached_property
    def at_nodes(self) -> Settings:
        """The same, with "auto" decided for equations that can be evaluated at nodes."""
        return replace(self, integrator="gauss") if self.integrator == "auto" else self

    @cached_property
    def by_states(self) -> Settings:
        """The same, with "auto" decided for equations that are evaluated state by state."""
        return replace(self, integrator="order8") if self.integrator == "auto" else self

    @cached_property
    def limits(self) -> tuple[float, float, float]:
        """Smallest step, below which t + h is no longer told from t; largest; fixed or 0."""
        smallest = SMALLEST_STEP * max(abs(self.until), 1e-6)
        return smallest, float(self.largest_step), float(self.step)

    @cached_property
    def but_end(self) -> tuple[Any, ...]:
        """All choices but the end, in order."""
        return tuple(getattr(self, f.name) for f in fields(self) if f.name != "until")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for storage."""
        chosen = {
            name: getattr(self, name).value for name in ("drift", "on_singular", "coordinates")
        }
        plain = {**asdict(self), **chosen}
        if not self.stop_saved:  # as it was before there was a choice
            del plain["stop_saved"]
        return plain
