"""Markers: a point and axes fixed in a body, and joints as pairs of them.

In space a marker is a point and three axes. In a plane a direction is enough: of the x axis when
the marker's axis z is the plane's normal, of z itself when that lies in the plane.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zwang.errors import InputError
from zwang.multibody.inertia import UNIT, axes_along
from zwang.multibody.joints.kind import JointKind
from zwang.multibody.pose import BodyKind, Frame, Pose, frame, identity, zeros
from zwang.terms import FloatArray

__all__ = ["FrameLayout", "Joint", "Marker", "layout_of"]

#: A direction counts as parallel or perpendicular to the plane's normal to this.
IN_PLANE = 1e-9


@dataclass(frozen=True)
class Marker:
    """A frame fixed in a body.

    Attributes
    ----------
    body : index of the body, −1 for the ground.
    arm : from the body's centre of mass to the marker, body axes.
    axes : x, y, z as columns, body axes.
    """

    body: int
    arm: FloatArray
    axes: FloatArray


@dataclass(frozen=True)
class Joint:
    """What joins two bodies.

    Attributes
    ----------
    kind : of joint, or None for a user's own constraint.
    a, b : markers on the first and on the second body; a user's constraint may have none.
    layout : how the markers' numbers are laid out.
    elements : names of the constraint elements it consists of.
    numbers : further numbers.
    drives : of a driver, the coordinate of a joint that it prescribes, ``"pin.angle"``; else empty.
    couples : of a coupler, its first coordinate; else empty.
    prescribes : whether it is a driver, of a coordinate of a joint or of a body.
    """

    name: str
    kind: JointKind | None
    bodies: tuple[int, ...]
    a: Marker | None
    b: Marker | None
    layout: FrameLayout | None
    elements: tuple[str, ...]
    numbers: Mapping[str, Any] = field(default_factory=dict)
    drives: str = ""
    couples: str = ""
    prescribes: bool = False

    @property
    def toothed(self) -> bool:
        """Whether it acts by teeth."""
        return self.kind is not None and self.kind.contact is not None

    def with_markers(self, values: Mapping[str, Any]) -> Joint:
        """The same with the markers that some values of its parameters stand for."""
        assert self.a is not None
        assert self.b is not None
        assert self.layout is not None
        own = {name: np.asarray(values[f"{self.name}.{name}"]) for name in self.layout.shapes}
        a, b = (
            self.layout.marker(marker, own, side)
            for marker, side in zip((self.a, self.b), "ab", strict=True)
        )
        return replace(self, a=a, b=b)


@dataclass(frozen=True)
class FrameLayout:
    """How the frames of an element are made from its numbers.

    Attributes
    ----------
    plane : axes and normal of a planar mechanism, or None in space.
    normal : in a plane, whether z of each marker is the plane's normal.
    """

    plane: tuple[int, int, int] | None = None
    normal: tuple[bool, bool] = (True, True)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Numbers of a pair of markers."""
        one = {"at": (3,), "axes": (3, 3)} if self.plane is None else {"at": (2,), "along": (2,)}
        return {f"{name}_{side}": shape for side in "ab" for name, shape in one.items()}

    def numbers(self, a: Marker, b: Marker) -> dict[str, np.ndarray]:
        """The numbers of two markers."""
        result = {}
        for side, marker, normal in zip("ab", (a, b), self.normal, strict=True):
            if self.plane is None:
                result[f"at_{side}"], result[f"axes_{side}"] = marker.arm, marker.axes
            else:
                pair = list(self.plane[:2])
                result[f"at_{side}"] = marker.arm[pair]
                result[f"along_{side}"] = marker.axes[pair, 0 if normal else 2]
        return result

    def marker(self, marker: Marker, numbers: Mapping[str, FloatArray], side: str) -> Marker:
        """A marker with other numbers, as `numbers` tells them."""
        at = numbers[f"at_{side}"]
        if self.plane is None:
            return replace(marker, arm=at, axes=numbers[f"axes_{side}"].reshape(3, 3))
        pair, k = list(self.plane[:2]), self.plane[2]
        arm, along, n = marker.arm.copy(), np.zeros(3), np.eye(3)[k]
        arm[pair], along[pair] = at, numbers[f"along_{side}"]
        x, z = (along, n) if self.normal["ab".index(side)] else (n, along)
        return replace(marker, arm=arm, axes=np.stack([x, np.cross(z, x), z], axis=1))

    def frame(self, pose: Pose, data: Any, side: str) -> Frame:
        """The marker of one side in the world, as symbols."""
        at = getattr(data, f"at_{side}")
        if self.plane is None:
            return frame(pose, at, getattr(data, f"axes_{side}"))
        i, j, k = self.plane
        arm, along, n = zeros(3), zeros(3), identity()[:, k]
        arm[i], arm[j] = at[0], at[1]
        direction = getattr(data, f"along_{side}")
        along[i], along[j] = direction[0], direction[1]
        from zwang.multibody.pose import cross

        x, z = (along, n) if self.normal["ab".index(side)] else (n, along)
        axes = np.empty((3, 3), dtype=object)
        axes[:, 0], axes[:, 1], axes[:, 2] = x, cross(z, x), z
        return frame(pose, arm, axes)


def layout_of(
    what: str, kind: BodyKind, axes: tuple[FloatArray | None, FloatArray | None]
) -> FrameLayout:
    """The layout for two axes, refused where one is neither in the plane nor its normal."""
    if kind.plane is None:
        return FrameLayout()
    first, second = (_is_normal(what, kind, axis) for axis in axes)
    return FrameLayout(kind.plane, (first, second))


def _is_normal(what: str, kind: BodyKind, axis: FloatArray | None) -> bool:
    assert kind.plane is not None
    along = 1.0 if axis is None else abs(axis[kind.plane[2]])
    if abs(along - 1.0) < IN_PLANE:
        return True
    if along < IN_PLANE:
        return False
    assert axis is not None
    raise InputError(
        f"axis of {what}",
        found=f"{tuple(axis.tolist())}",
        expected=f"the normal of the plane {kind.name}, or a direction in it",
    )


def marker_axes(
    kind: BodyKind, axis: FloatArray | None, reference: FloatArray | None
) -> FloatArray:
    """World axes of a joint's markers: z along the axis, in a plane x along the normal or in it."""
    if axis is None:
        if kind.plane is None:
            return np.eye(3)
        i, _, k = kind.plane
        return axes_along(UNIT[k], UNIT[i])
    if reference is None and kind.plane is not None:
        i, _, k = kind.plane
        reference = UNIT[i] if abs(axis[k]) > 0.5 else UNIT[k]
    return axes_along(axis, reference)
