"""What an event does to a simulation: impulses, new parameters, constraints that begin or end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import UnknownNameError
from zwang.multibody.frozen import require_no_geometry
from zwang.results.segments import EventRecord
from zwang.terms import FloatArray
from zwang.tracing.event import Bounce, Event, SetParameters, Switch

if TYPE_CHECKING:
    from zwang.integrators.contract import Loop
    from zwang.simulation.events import EventCrossing, Watch
    from zwang.system import System

__all__ = [
    "Effect",
    "accumulates",
    "dormant",
    "effect_of",
    "first_effective",
    "require_actions",
]

#: So many events of one name within so short a time, relative, are an accumulation point (a ball
#: coming to rest) that no sequence of events gets past.
EVENTS_AT_ONCE = 8
INSTANT = 1e-8

#: Events that differ by no more than this in time, relative, happen at once: rounding decides which
#: comes first, and on which side of the others' zeros it finds the motion.
AT_ONCE = 1e-12

#: Impacts that happen at once are repeated until none sends the motion into another, at most so
#: often; in a corner of angle α it takes π / α of them.
MOST_IMPACTS = 100
#: An impact that changes velocities by less, relative, is rounding.
NO_IMPACT = 1e-12


@dataclass(frozen=True)
class Effect:
    """What an event leaves.

    Attributes
    ----------
    y : the state after impulses, not yet on constraints that begin to act.
    parameters : values of all from then on.
    inactive : constraints that do not act from then on.
    stopped_by : name of the event that ends the simulation, if one does.
    happened : names of events in order, with the states each found and left.
    """

    y: FloatArray
    parameters: Mapping[str, Any]
    inactive: frozenset[str]
    stopped_by: str
    happened: list[tuple[str, FloatArray, FloatArray]]


def require_actions(system: System, events: Mapping[str, Event]) -> None:
    """Refuse constraints and parameters that the system does not have, before anything runs."""
    for event in events.values():
        for action in event.actions:
            if isinstance(action, SetParameters):
                system.parameter_vector(action.values)
                require_no_geometry(system.mechanism, action.values, "an event")
            elif isinstance(action, Switch):
                for name in (*action.on, *action.off):
                    if name not in system.constraints:
                        raise UnknownNameError("constraint to switch", name, system.constraints)


def first_effective(
    events: Mapping[str, Event], found: Sequence[EventCrossing]
) -> tuple[Sequence[EventCrossing], list[EventCrossing]]:
    """Of events found within a step, the first that changes something with all that come with it.

    And before them, those that come earlier and are only recorded; all of them if none changes any.
    """
    first = next((met for met in found if events[met.name].actions != ("record",)), None)
    if first is None:
        return found, []
    together = _at_once(found, first)
    return found[: found.index(together[0])], together


def _at_once(found: Sequence[EventCrossing], first: EventCrossing) -> list[EventCrossing]:
    """Events that happen together with one of them, each name once."""
    limit, names = AT_ONCE * max(1.0, abs(first.t)), {}
    for met in found:
        if abs(met.t - first.t) <= limit:
            names.setdefault(met.name, met)
    return list(names.values())


def effect_of(
    events: Mapping[str, Event],
    together: Sequence[EventCrossing],
    watch: Watch,
    loop: Loop,
    parameters: Mapping[str, Any],
    inactive: frozenset[str],
) -> Effect:
    """Carry out the actions of events that were met at once, in order.

    Parameters
    ----------
    together : the events met, all of them at the state that the first one found.
    watch, loop : of those that act.
    parameters, inactive : as they were before.
    """
    y, stopped_by, happened = together[0].y.copy(), "", []
    for met in together:
        before = y
        for action in events[met.name].actions:
            if isinstance(action, Bounce):
                y = _after_impact(y, met, action, watch, loop, parameters)
            elif isinstance(action, SetParameters):
                parameters = {**parameters, **action.values}
            elif isinstance(action, Switch):
                inactive = (inactive - {*action.on}) | {*action.off}
            elif action == "stop":
                stopped_by = stopped_by or met.name
        happened.append((met.name, before, y))
    impacts = [
        (met, action)
        for met in together
        for action in events[met.name].actions
        if isinstance(action, Bounce)
    ]
    if len(impacts) > 1:
        happened += _repeated(impacts, y, watch, loop, parameters)
    return Effect(happened[-1][2], parameters, inactive, stopped_by, happened)


def _repeated(
    impacts: Sequence[tuple[EventCrossing, Bounce]],
    y: FloatArray,
    watch: Watch,
    loop: Loop,
    parameters: Mapping[str, Any],
) -> list[tuple[str, FloatArray, FloatArray]]:
    """Impacts at once, until none sends the motion into another."""
    happened = []
    for _ in range(MOST_IMPACTS):
        again = y
        for met, action in impacts:
            before, y = y, _after_impact(y, met, action, watch, loop, parameters)
            if y is not before:
                happened.append((met.name, before, y))
        if y is again:
            break
    return happened


def _after_impact(
    y: FloatArray,
    met: EventCrossing,
    action: Bounce,
    watch: Watch,
    loop: Loop,
    parameters: Mapping[str, Any],
) -> FloatArray:
    """The state after an impact; the same one if the motion leaves already, but for rounding."""
    nq = len(watch.system.coordinates)
    rate, normal = watch.impact(loop, met.name, y, met.t)
    if not (rate > 0.0 if met.rising else rate < 0.0):
        return y
    change = -(1.0 + action.restitution) * rate
    state = y[:nq], y[nq:], np.asarray(met.t), watch.system.parameter_vector(parameters)
    v = watch.system.equations.after_impulse(*state, normal, change)
    if np.linalg.norm(v - y[nq:]) <= NO_IMPACT * np.linalg.norm(y[nq:]):
        return y
    return np.concatenate([y[:nq], v])


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
