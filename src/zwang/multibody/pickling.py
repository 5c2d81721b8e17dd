"""Pickling of a mechanism: how it was built, as data for another process.

The functions of elements are made within functions, and cannot be sent. The calls that built the
mechanism can, if the user's own functions can; whoever repeats them builds the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zwang.multibody.call_log import BuilderCall
from zwang.multibody.handles import BodyHandle, MarkerExpression, MarkerHandle
from zwang.terms import FloatArray

__all__ = ["Recipe"]


@dataclass(frozen=True)
class Recipe:
    """What a builder was given, and the calls that followed.

    Attributes
    ----------
    given : arguments of the builder itself.
    calls : in order; bodies and markers in them belong to the builder.
    """

    given: Mapping[str, Any]
    calls: Sequence[BuilderCall]

    def __reduce__(self) -> tuple[Any, ...]:
        """Without what belongs to a builder: bodies and markers by name and place."""
        free = self.freed
        return Recipe, (dict(free.given), free.calls)

    @property
    def freed(self) -> Recipe:
        """The same with bodies and markers by name and place, for another builder."""
        calls = [
            BuilderCall(c.method, {k: _sent(v) for k, v in c.arguments.items()}) for c in self.calls
        ]
        return Recipe(self.given, calls)

    def built(self, kind: Callable[..., Any]) -> Any:
        """A builder of some kind after all calls."""
        builder = kind(**self.given)
        for call in self.calls:
            method = getattr(builder, call.method)
            arguments = {k: _received(v, builder) for k, v in call.arguments.items()}
            method(**arguments)
        return builder


@dataclass(frozen=True)
class _Named:
    """A body, by name."""

    name: str


@dataclass(frozen=True)
class _PickledMarker:
    """A marker, by the name of its body."""

    name: str
    at: FloatArray
    axes: FloatArray | None


@dataclass(frozen=True)
class _PickledMarkerExpression:
    """A marker of parameters, by the name of its body."""

    name: str
    arguments: tuple[Any, ...]


def _sent(value: Any) -> Any:
    if isinstance(value, MarkerExpression):
        return _PickledMarkerExpression(value.body.name, value.arguments)
    if isinstance(value, BodyHandle):
        return _Named(value.name)
    if isinstance(value, MarkerHandle):
        return _PickledMarker(value.body.name, value.at, value.axes)
    return _inside(value, _sent)


def _received(value: Any, builder: Any) -> Any:
    if isinstance(value, _Named | _PickledMarker | _PickledMarkerExpression):
        body = builder.ground if value.name == "ground" else BodyHandle(value.name, builder)
        if isinstance(value, _PickledMarkerExpression):
            return body.marker(*value.arguments)
        return body if isinstance(value, _Named) else MarkerHandle(body, value.at, value.axes)
    return _inside(value, lambda entry: _received(entry, builder))


def _inside(value: Any, change: Callable[[Any], Any]) -> Any:
    """A list, tuple or dictionary with its entries changed; anything else as it is."""
    if type(value) in (list, tuple):
        return type(value)(change(entry) for entry in value)
    if type(value) is dict:
        return {name: change(entry) for name, entry in value.items()}
    return value
