"""What a user holds while building a mechanism: bodies and markers on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zwang.arguments.values import vector
from zwang.multibody.inertia import axes_along, direction
from zwang.multibody.parameter_expression import ParameterExpression, evaluated, parameters_in
from zwang.terms import FloatArray

__all__ = ["BodyHandle", "MarkerExpression", "MarkerHandle"]


@dataclass(frozen=True, eq=False)
class BodyHandle:
    """A body of a mechanism under construction; `marker` gives points and axes fixed in it.

    Attributes
    ----------
    name : the user's.
    owner : the mechanism it belongs to.
    """

    name: str
    owner: Any

    def marker(self, at: Any = (0.0, 0.0, 0.0), axis: Any = None, reference: Any = None) -> Any:
        """A point of the body, with an axis z and a reference direction x, all in body axes."""
        if next(parameters_in((at, axis, reference)), None) is not None:
            return MarkerExpression(self, at, axis, reference)
        what = f"marker on {self.name!r}"
        z = None if axis is None else direction(f"axis of {what}", axis)
        x = None if reference is None else direction(f"reference of {what}", reference)
        axes = None if z is None else axes_along(z, x)
        point = self.owner.in_space(at)
        return MarkerHandle(self, vector(f"point of {what}", point), axes)

    def __repr__(self) -> str:
        return f"<body {self.name!r}>"


@dataclass(frozen=True, eq=False)
class MarkerHandle:
    """A marker given in the coordinates of its body; axes as columns, or None."""

    body: BodyHandle
    at: FloatArray
    axes: FloatArray | None

    def __post_init__(self) -> None:
        for array in (self.at, self.axes):
            if array is not None:
                array.flags.writeable = False


class MarkerExpression(ParameterExpression):
    """A marker whose point or axes depend on parameters."""

    def __init__(self, body: BodyHandle, at: Any, axis: Any, reference: Any) -> None:
        super().__init__(body.marker, (at, axis, reference))
        self.body = body

    def value(self, values: Mapping[str, Any]) -> MarkerHandle:
        """The marker for values of the parameters."""
        return self.body.marker(*evaluated(self.arguments, values))
