"""Events that users state as functions: what is traced and crosses zero, and what happens then."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from zwang.arguments.keywords import known_keywords
from zwang.errors import InputError, shown

__all__ = [
    "Bounce",
    "Event",
    "SetParameters",
    "Switch",
    "Watched",
    "bounce",
    "event",
    "events_of",
    "set_parameters",
    "switch",
]


@dataclass(frozen=True)
class SetParameters:
    """Change parameters at the event; the state goes on unchanged."""

    values: Mapping[str, Any]


@dataclass(frozen=True)
class Bounce:
    """An impulse along the gradient of the event function, consistent with the constraints.

    Attributes
    ----------
    restitution : e in ġ⁺ = −e ġ⁻; 0 is a plastic impact, 1 an elastic one.
    """

    restitution: float = 1.0


@dataclass(frozen=True)
class Switch:
    """Constraints that begin or cease to act at the event.

    Velocities that a new constraint does not allow are taken away by an impulse of the constraints
    (a plastic impact); its position must hold already.
    """

    on: tuple[str, ...] = ()
    off: tuple[str, ...] = ()


Action = SetParameters | Bounce | Switch | Literal["record", "stop"]


@dataclass(frozen=True)
class Event:
    """A quantity and what happens when it crosses a value.

    Attributes
    ----------
    function : g(q, v, t, p), one value, or the name of a coordinate, velocity or joint coordinate.
    direction : 1 for crossings from below, −1 from above, 0 for both.
    actions : what happens, in order.
    at : the value that is crossed.
    """

    function: Callable[..., Any] | str
    direction: int = 0
    actions: tuple[Action, ...] = field(default=("record",))
    at: float = 0.0


#: What may be watched for: an event, or a function or name that is recorded where it is zero.
Watched: TypeAlias = Event | Callable[..., Any] | str


@known_keywords()
def event(
    function: Callable[..., Any] | str,
    then: Action | Sequence[Action] = "record",
    *,
    at: float = 0.0,
    direction: int = 0,
) -> Event:
    """An event for ``simulate(events={name: …})``.

    Parameters
    ----------
    function : what crosses a value at the event: g(q, v, t, p), or a name that a run knows, such
        as ``"x"``, ``"crank.omega"`` or a joint's ``"pin.angle"``; angles count modulo 2π, and
        within functions of channels, ``lambda c: c["pin.angle"] - 1``, they are within half a turn.
        A condition, ``lambda q: q[0] > 1``, is met where it begins to hold; with direction −1
        where it ceases to. Conditions are joined by ``&``, ``|`` and ``~``.
    then : ``"record"``, ``"stop"``, `bounce`, `set_parameters`, `switch`, or several in order.
    at : the value.
    direction : 1 only from below, −1 only from above, 0 both.

    Examples
    --------
    >>> import numpy as np, zwang as zw
    >>> floor = zw.event(lambda q: q[1], zw.bounce(0.8), direction=-1)
    >>> upright = zw.event("pin.angle", "stop", at=np.pi / 2)
    """
    actions = tuple(then) if isinstance(then, Sequence) and not isinstance(then, str) else (then,)
    for action in actions:
        if not isinstance(action, SetParameters | Bounce | Switch) and action not in (
            "record",
            "stop",
        ):
            raise InputError(
                "event action",
                found=repr(action),
                expected="'record', 'stop', bounce(…), set_parameters(…) or switch(…)",
            )
    if direction not in (-1, 0, 1):
        raise InputError("event direction", found=repr(direction), expected="1, −1 or 0")
    if not isinstance(function, str) and not callable(function):
        raise InputError(
            "event",
            found=shown(function),
            expected="a function of (q, v, t, p), or the name of a quantity in quotation marks",
        )
    try:
        level = float(at)
    except (TypeError, ValueError):
        level = np.nan
    if not np.isfinite(level):
        raise InputError("event, at", found=shown(at), expected="a number")
    return Event(function, direction, actions, level)


def events_of(given: Any) -> dict[str, Event]:
    """Events by name, as a user gives them; a bare function or name is watched and recorded."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(
            "events", found=shown(given), expected="a dictionary of names and zw.event(…)"
        )
    return {name: e if isinstance(e, Event) else event(e) for name, e in given.items()}


@known_keywords()
def bounce(restitution: float = 1.0) -> Bounce:
    """An impact with ġ⁺ = −e ġ⁻ that keeps all constraints; see `event`."""
    try:
        e = float(restitution)
    except (TypeError, ValueError):
        e = np.nan
    if not 0.0 <= e <= 1.0:
        raise InputError("restitution", found=shown(restitution), expected="a number from 0 to 1")
    return Bounce(e)


def set_parameters(**values: Any) -> SetParameters:
    """New values of parameters from the event on; see `event`."""
    return SetParameters(values)


@known_keywords()
def switch(*, on: Sequence[str] | str = (), off: Sequence[str] | str = ()) -> Switch:
    """Constraints that act, or cease to act, from the event on; see `event`."""

    def names(given: Sequence[str] | str) -> tuple[str, ...]:
        return (given,) if isinstance(given, str) else tuple(given)

    return Switch(names(on), names(off))
