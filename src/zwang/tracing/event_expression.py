"""What an event watches, as an expression of a system's symbols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zwang.errors import UnknownNameError
from zwang.tracing.outputs import trace_extra

if TYPE_CHECKING:
    import casadi

    from zwang.system import System
    from zwang.tracing.event import Event

__all__ = ["Watched", "watched"]


@dataclass(frozen=True)
class Watched:
    """A value that crosses zero at an event.

    Attributes
    ----------
    value : g.
    facing : positive where a zero of g is the event; None if every zero is. The sine of an angle
        is zero at an offset of π too.
    """

    value: casadi.SX
    facing: casadi.SX | None = None


def watched(system: System, name: str, event: Event) -> Watched:
    """What the event of this name watches in a system."""
    import casadi as ca

    function, at, state = event.function, event.at, system.symbols
    if not isinstance(function, str):
        parameters = system.definition.parameters
        return Watched(trace_extra(state, parameters, f"event {name!r}", function, 1) - at)
    if function in system.coordinates:
        return Watched(state.q[system.coordinates.index(function)] - at)
    if function in system.velocities:
        return Watched(state.v[system.velocities.index(function)] - at)
    if function not in system.channels:
        known = [*system.coordinates, *system.velocities, *system.channels]
        raise UnknownNameError(f"quantity of event {name!r}", function, known)
    expression, rate = system.channel(function)
    if rate:
        return Watched(expression[-1] - at)
    if expression.numel() == 2:
        return Watched(expression[0] - at)
    sine, cosine = ca.SX(np.sin(at)), ca.SX(np.cos(at))
    return Watched(
        expression[0] * cosine - expression[1] * sine,  # sin(angle − at)
        expression[1] * cosine + expression[0] * sine,  # cos(angle − at)
    )
