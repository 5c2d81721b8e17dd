"""Channels that events watch, as expressions of a system's symbols."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import InputError, UnknownNameError
from zwang.results.channel_expressions import ChannelExpressions, needs_forces
from zwang.tracing.conditions import comparisons, margin, require_no_steps
from zwang.tracing.event import Bounce
from zwang.tracing.outputs import trace_extra
from zwang.tracing.own_output import of_parameter, traced_output

if TYPE_CHECKING:
    import casadi

    from zwang.system import System
    from zwang.tracing.event import Event

__all__ = ["EventExpression", "of_channels", "watched"]


@dataclass(frozen=True)
class EventExpression:
    """A value that crosses zero at an event.

    Attributes
    ----------
    value : g.
    facing : positive where a zero of g is the event; None if every zero is. The sine of an angle
        is zero at an offset of π too.
    rated : whether its rate and gradient are asked for; those of reactions are not.
    cut : positive where an angle in g jumps by 2π, which is no crossing; None if no angle is in it.
    solved : whether the equations of motion are solved for it.
    undefined_here : whether it has no value at the state that was given, a singular position.
    direction : in which g crosses zero: 1 from below, −1 from above, 0 both.
    parts : of a condition that joins several comparisons: what crosses zero where one changes.
    """

    value: casadi.SX
    facing: casadi.SX | None = None
    rated: bool = True
    cut: casadi.SX | None = None
    solved: bool = False
    undefined_here: bool = False
    direction: int = 0
    parts: tuple[casadi.SX, ...] = ()


def watched(
    system: System,
    name: str,
    event: Event,
    at: tuple[Any, ...] | None = None,
    whole: System | None = None,
) -> EventExpression:
    """What the event of this name watches in a system.

    Parameters
    ----------
    at : a state (q, v, t, p), at which dependent constraint equations are told from others.
    whole : the system with all its constraints, if some do not act.
    """
    function, state, where = event.function, system.equations.symbols, f"event {name!r}"
    if isinstance(function, str):
        return replace(_named(system, name, event, at, whole), direction=event.direction)
    if "c" in _arguments(function):
        _require_no_impact(name, event)
        channels = ChannelExpressions(system, at, whole)
        traced = channels.of_function(where, function)
        found = _of_channels(traced, channels, rated=False)
    else:
        traced = trace_extra(state, system.definition.parameters, where, function, 1)
        found = EventExpression(traced)
    value, direction = _crossing(where, event, traced, state.p)
    parts = tuple(comparisons(traced))
    return replace(found, value=value, direction=direction, parts=parts if len(parts) > 1 else ())


def _crossing(
    where: str, event: Event, value: casadi.SX, parameters: casadi.SX
) -> tuple[casadi.SX, int]:
    """What crosses zero and in which direction; a condition's margin does where it begins."""
    found = margin(where, value)
    if found is None:
        require_no_steps(where, value, parameters)
        return value - event.at, event.direction
    if event.at != 0.0:
        raise InputError(
            where,
            must="have no value at= where its function is a condition",
            but=f"at is {event.at:g}",
            advice="Write the value into the condition, or watch the quantity itself.",
        )
    return found, event.direction or 1


def of_channels(system: System, name: str, event: Event) -> str | None:
    """A text that is equal for equal events of channels; None for events of the state alone."""
    import casadi as ca

    from zwang.codegen.expression import read

    function, s = event.function, system.equations.symbols
    if isinstance(function, str):
        state = (*system.coordinates, *system.velocities, *system.channels)
        return None if function in state else f"channel {function}"
    if "c" not in _arguments(function):
        return None
    known, parameters = ChannelExpressions(system).vectors, system.definition.parameters
    traced = traced_output(f"event {name!r}", function, s, parameters, known)
    inputs = [s.q, s.v, s.t, s.p, *traced.channels.values()]
    digest = read(ca.Function("event", inputs, [ca.densify(traced.value)])).digest
    return f"{digest} {list(traced.channels)}"


def _of_channels(value: casadi.SX, channels: ChannelExpressions, *, rated: bool) -> EventExpression:
    """A function of channels, with what is known of those that it took."""
    import casadi as ca

    cut = ca.mmax(ca.vertcat(*channels.cuts)) if channels.cuts else None
    solved, undefined = channels.has_solved, channels.undefined_here
    return EventExpression(value, None, rated, cut, solved, undefined)


def _named(
    system: System,
    name: str,
    event: Event,
    at: tuple[Any, ...] | None,
    whole: System | None,
) -> EventExpression:
    """An event that watches a channel."""
    import casadi as ca

    function, level, state = str(event.function), event.at, system.equations.symbols
    if function in system.coordinates:
        return EventExpression(state.q[system.coordinates.index(function)] - level)
    if function in system.velocities:
        return EventExpression(state.v[system.velocities.index(function)] - level)
    if function not in system.channels:
        return _other(name, event, ChannelExpressions(system, at, whole))
    expression, rate = system.channel(function)
    if rate:
        return EventExpression(expression[-1] - level)
    if expression.numel() == 2:
        return EventExpression(expression[0] - level)
    sine, cosine = ca.SX(np.sin(level)), ca.SX(np.cos(level))
    return EventExpression(
        expression[0] * cosine - expression[1] * sine,  # sin(angle − at)
        expression[1] * cosine + expression[0] * sine,  # cos(angle − at)
    )


def _other(name: str, event: Event, found: ChannelExpressions) -> EventExpression:
    """An event that watches a body, a force, an energy or an output."""
    function = str(event.function)
    try:
        entry = found.entry(function)
    except UnknownNameError:
        what, parameters = f"quantity of event {name!r}", found.system.definition.parameters
        more = of_parameter(function) if function in parameters else ""
        raise UnknownNameError(what, function, found.entries, more) from None
    if entry.vector and function == entry.name:
        raise InputError(
            f"quantity of event {name!r}",
            expected="one number",
            found=f"the vector {function!r}",
            advice=f"Name a part of it: {function}.x, {function}.y, {function}.z or "
            f"{function}.magnitude.",
        )
    if entry.vector and function.endswith(".magnitude") and event.at <= 0.0:
        raise InputError(
            f"event {name!r}",
            must="watch what can cross its value",
            but=f"{function} is never below zero, and only touches {event.at:g}",
            advice=f"Watch a part of it, such as {entry.name}.x, or give at= a small positive "
            "number.",
        )
    rated = not needs_forces(entry) and entry.kind != "output"
    if not rated:
        _require_no_impact(name, event)
    return _of_channels(found[function] - event.at, found, rated=rated)


def _require_no_impact(name: str, event: Event) -> None:
    if any(isinstance(action, Bounce) for action in event.actions):
        raise InputError(
            f"event {name!r}",
            must="watch a position to be an impact",
            but="it watches a force or an output",
            advice="Give bounce to an event of a coordinate, and switch or stop to this one.",
        )


def _arguments(function: Any) -> tuple[str, ...]:
    """Names of a function's arguments; none where they cannot be known."""
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()
