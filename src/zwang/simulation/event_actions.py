"""What happens at an event: impulses, new parameters, constraints that begin or cease to act."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import UnknownNameError
from zwang.functions.event import Bounce, Event, SetParameters, Switch
from zwang.run.run import EventRecord
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.integrators.loop import Loop
    from zwang.simulation.watch import Met, Watch
    from zwang.system import System

__all__ = ["Effect", "accumulates", "dormant", "effect_of"]

#: So many events of one name within so short a time, relative, are an accumulation point (a ball
#: coming to rest) that no sequence of events gets past.
EVENTS_AT_ONCE = 8
INSTANT = 1e-8


@dataclass(frozen=True)
class Effect:
    """What an event leaves.

    Attributes
    ----------
    y : the state after impulses, not yet on constraints that begin to act.
    parameters : values of all from then on.
    inactive : constraints that do not act from then on.
    stop : whether the simulation ends.
    """

    y: FloatArray
    parameters: Mapping[str, Any]
    inactive: frozenset[str]
    stop: bool


def effect_of(
    system: System,
    event: Event,
    met: Met,
    watch: Watch,
    loop: Loop,
    parameters: Mapping[str, Any],
    inactive: frozenset[str],
) -> Effect:
    """Carry out the actions of an event that was met, in order.

    Parameters
    ----------
    system : with all its constraints.
    watch, loop : of those that act.
    parameters, inactive : as they were before.
    """
    y, nq, stop = met.y.copy(), len(system.coordinates), False
    for action in event.actions:
        if isinstance(action, Bounce):
            rate, normal = watch.impact(loop, met.name, y, met.t)
            if rate > 0.0 if met.rising else rate < 0.0:  # not if rounding has it leave already
                p = watch.system.parameter_vector(parameters)
                change = -(1.0 + action.restitution) * rate
                state = y[:nq], y[nq:], np.asarray(met.t), p
                y[nq:] = watch.system.after_impulse(*state, normal, change)
        elif isinstance(action, SetParameters):
            parameters = {**parameters, **action.values}
        elif isinstance(action, Switch):
            for name in (*action.on, *action.off):
                if name not in system.constraints:
                    raise UnknownNameError("constraint to switch", name, system.constraints)
            inactive = (inactive - {*action.on}) | {*action.off}
        stop = stop or action == "stop"
    return Effect(y, parameters, inactive, stop)


def dormant(event: Event, inactive: frozenset[str]) -> bool:
    """Whether all an event does is to switch constraints that are switched that way already.

    Its function may then be such a constraint, which stays at zero and crosses it by rounding.
    """
    switches = [a for a in event.actions if isinstance(a, Switch)]
    return len(switches) == len(event.actions) and all(
        not inactive & {*a.on} and {*a.off} <= inactive for a in switches
    )


def accumulates(records: Sequence[EventRecord]) -> bool:
    """Whether the last event comes so soon after others of its name that they have no end."""
    last = records[-1]
    same = [r.t for r in records if r.name == last.name][-EVENTS_AT_ONCE:]
    limit = INSTANT * max(1.0, abs(last.t))
    return len(same) == EVENTS_AT_ONCE and last.t - same[0] <= limit
