"""The joints' own coordinates and rates, by name: ``pin.angle`` and ``pin.angle_rate``.

A coordinate is a function of the joint's element: of the configurations and velocities of its two
bodies and of the element's numbers. It gives (value, rate), or (sin, cos, rate) of an angle, which
may then be followed beyond ±π.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import UnknownNameError
from zwang.multibody.element import Arguments, Element
from zwang.multibody.frozen import Parts
from zwang.multibody.marker import Joint
from zwang.terms import FloatArray
from zwang.tracing.trace import vector

if TYPE_CHECKING:
    import casadi

__all__ = ["Channels", "JointChannel", "value_and_rate"]

RATE = "_rate"


@dataclass(frozen=True)
class JointChannel:
    """A joint's coordinate, or its rate.

    Attributes
    ----------
    number : of the joint among all.
    joint, element : the joint, and the first of its elements, which knows its bodies and numbers.
    coordinate : its name within the joint.
    rate : whether the rate is meant.
    """

    number: int
    joint: Joint
    element: Element
    coordinate: str
    rate: bool

    @property
    def label(self) -> str:
        """A name for kernels; the user's may be no name for CasADi."""
        return f"{self.number}_{self.coordinate}"

    @property
    def key(self) -> tuple[Any, ...]:
        """What the function depends on: joints of one kind share it."""
        return ("coordinate", self.coordinate, self.element.law.key)


class Channels:
    """All coordinates and rates of a mechanism's joints.

    Attributes
    ----------
    names : of all.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.names = tuple(
            f"{joint.name}.{coordinate}{ending}"
            for joint in parts.joints.values()
            if joint.kind is not None
            for coordinate in joint.kind.coordinates
            for ending in ("", RATE)
        )
        self._functions: dict[Any, casadi.Function] = {}

    def __getitem__(self, name: str) -> JointChannel:
        owner, _, quantity = name.partition(".")
        joint = self.parts.joints.get(owner)
        coordinate = quantity.removesuffix(RATE)
        if joint is None or joint.kind is None or coordinate not in joint.kind.coordinates:
            raise UnknownNameError("joint coordinate", name, self.names)
        return JointChannel(
            list(self.parts.joints).index(owner),
            joint,
            next(e for e in self.parts.whole.constraints if e.name == joint.elements[0]),
            coordinate,
            quantity.endswith(RATE),
        )

    def function(self, channel: JointChannel) -> casadi.Function:
        """The coordinate as a function of its element's columns; see `Arguments.columns`."""
        import casadi as ca

        if channel.key not in self._functions:
            joint, element, parameters = channel.joint, channel.element, self.parts.parameters
            assert joint.kind is not None
            assert joint.layout is not None
            equations, layout = joint.kind.coordinates[channel.coordinate], joint.layout

            def of_poses(poses: Any, data: Any) -> Any:
                a, b = (layout.frame(pose, data, x) for pose, x in zip(poses, "ab", strict=True))
                return equations(a, b, data)

            law = replace(element.law, function=of_poses)
            symbols = Arguments.of(law, parameters)
            state = vector(joint.name, symbols.evaluated(law, joint.name, parameters))
            function = ca.Function("coordinate", symbols.columns, [state])
            self._functions[channel.key] = function
        return self._functions[channel.key]

    def is_angle(self, name: str) -> bool:
        """Whether a channel is an angle, which is followed beyond ±π."""
        channel = self[name]
        return not channel.rate and self.function(channel).size1_out(0) == 3


def value_and_rate(state: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A coordinate and its rate from (value, rate) or (sin, cos, rate); angles in (−π, π].

    The last axis of `state` holds these.
    """
    if state.shape[-1] == 3:
        return np.arctan2(state[..., 0], state[..., 1]), state[..., 2]
    return state[..., 0], state[..., 1]
