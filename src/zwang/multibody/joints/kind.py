"""What a kind of joint is: its equations, its own coordinates, and the numbers it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from zwang.multibody.pose import Frame

__all__ = ["Equations", "JointKind"]

#: Equations of two frames and the joint's data: f(a, b, data) → list of values that are zero.
Equations = Callable[[Frame, Frame, Any], list[Any]]


@dataclass(frozen=True)
class JointKind:
    """A kind of joint between a marker on one body and a marker on another.

    Attributes
    ----------
    name : what the user calls it.
    position : equations of positions, or None.
    velocity : equations of velocities, or None.
    coordinates : name → (value, rate) of the joint's own coordinates; an angle comes as the pair
        (sin, cos), so that it can be followed beyond ±π.
    numbers : names of further numbers the joint is described by, each a parameter.
    axis : whether the joint has an axis, the z axes of its markers.
    crossed : whether in a plane one axis may be its normal and the other lie in it.
    plane : what its axis is in a planar mechanism: ``"normal"``, a direction ``"within"`` it, or
        ``"any"`` where it has none or may have both; ``"never"`` for joints that make sense in
        space alone.
    variant : which of several sets of equations of this name it has; empty for the plain one.
    contact : where teeth of both bodies meet, f(a, b, data) → point, tangent, radial direction; the
        reaction acts at that point.
    """

    name: str
    position: Equations | None
    velocity: Equations | None = None
    coordinates: Mapping[str, Equations] = field(default_factory=dict)
    numbers: tuple[str, ...] = ()
    axis: bool = True
    crossed: bool = False
    plane: Literal["normal", "within", "any", "never"] = "never"
    variant: str = ""
    contact: Callable[[Frame, Frame, Any], Any] | None = None
