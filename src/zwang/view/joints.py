"""What pictures show of each kind of joint, in the axes of its markers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from zwang.multibody.frozen import Parts
from zwang.multibody.marker import Joint, Marker
from zwang.view.meshes import Mesh, ball, block, join, shaft

__all__ = ["joint_kind", "joint_solids"]

#: Solids at the marker on the first body and on the second, from the thickness of thin things, the
#: size of the mechanism and the joint's own numbers.
Look = Callable[[float, float, Mapping[str, float]], tuple[Mesh | None, Mesh | None]]

#: Rotations that bring z to x, and to y.
ALONG_X = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
ALONG_Y = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])


def joint_solids(joint: Joint, thin: float, size: float) -> list[tuple[Marker, Mesh]]:
    """Solids of a joint, each fixed at one of its two markers.

    Parameters
    ----------
    thin : thickness of thin things.
    size : of the mechanism.
    """
    if joint.kind is None or joint.a is None or joint.b is None:
        return []
    numbers = {name: float(value) for name, value in joint.numbers.items()}
    first, second = LOOKS.get(joint.kind.name, _balls)(thin, size, numbers)
    pairs = [(joint.a, first), (joint.b, second)]
    return [(marker, mesh) for marker, mesh in pairs if mesh is not None]


def joint_kind(parts: Parts, joint: Joint) -> str:
    """What a joint is in the field's words: its kind, ``driver``, ``coupler``, ``constraint``."""
    if joint.kind is not None:
        return joint.kind.name.replace("_", " ")
    laws = (e.law.what for e in parts.constraints if e.name == joint.elements[0])
    what = next(laws, "constraint")  # of one that is switched off nothing more is known
    return what.removesuffix(" joint").replace("_", " ")


def spokes(radius: float, length: float, count: int = 2) -> Mesh:
    """Bars across a wheel about z, by which its rotation is seen."""
    bars = []
    for k in range(count):
        c, s = np.cos(np.pi * k / count), np.sin(np.pi * k / count)
        turned = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        bars.append(block(2.0 * radius, 0.07 * radius, length).placed(np.zeros(3), turned))
    return join(bars)


def bands(radius: float) -> Mesh:
    """Two meridians of a ball, by which its rotation is seen."""
    ring = shaft(1.006 * radius, 0.09 * radius, 0.97 * radius)
    return join([ring.placed(np.zeros(3), axes) for axes in (ALONG_X, ALONG_Y)])


def _balls(thin: float, *_: object) -> tuple[Mesh, Mesh]:
    """Spherical and constant-velocity joints, and the ends of links."""
    return ball(1.8 * thin), ball(2.2 * thin)


def _hinge(thin: float, *_: object) -> tuple[Mesh, Mesh]:
    return shaft(2.0 * thin, 3.5 * thin), shaft(1.3 * thin, 5.5 * thin)


def _sleeve(thin: float, *_: object) -> tuple[Mesh, Mesh]:
    return shaft(2.0 * thin, 3.5 * thin), shaft(1.3 * thin, 12.0 * thin)


def _slide(thin: float, *_: object) -> tuple[None, Mesh]:
    return None, block(4.4 * thin, 4.4 * thin, 7.0 * thin)  # on a rail as long as the way


def _cross(thin: float, *_: object) -> tuple[Mesh, Mesh]:
    """Arms of the cross: x of the first marker, y of the second."""
    arm = shaft(1.2 * thin, 8.0 * thin)
    return arm.placed(np.zeros(3), ALONG_X), arm.placed(np.zeros(3), ALONG_Y)


def _table(thin: float, size: float, _: object) -> tuple[Mesh, Mesh]:
    return block(0.4 * size, 0.4 * size, 0.5 * thin), ball(2.0 * thin)


def _rim(thin: float, _: float, numbers: Mapping[str, float]) -> tuple[None, Mesh]:
    radius = numbers["radius"]
    inner = np.clip(radius - 2.0 * thin, 0.5 * radius, 0.93 * radius)
    return None, join([shaft(radius, 1.2 * thin, inner), spokes(inner, 0.6 * thin, 3)])


def _wheel(radius: float, thin: float) -> Mesh:
    """A disk with spokes, a little smaller than the body that may have the same shape."""
    return join([shaft(0.985 * radius, 2.0 * thin), spokes(0.96 * radius, 2.6 * thin)])


def _gears(thin: float, _: float, numbers: Mapping[str, float]) -> tuple[Mesh, Mesh]:
    """Disks, and a ring where the radius is negative."""

    def look(radius: float) -> Mesh:
        if radius < 0.0:
            return shaft(-1.1 * radius, thin, -radius)
        return _wheel(radius, thin)

    return look(numbers["radius_a"]), look(numbers["radius_b"])


def _rack(thin: float, size: float, numbers: Mapping[str, float]) -> tuple[Mesh, Mesh]:
    return _wheel(abs(numbers["radius"]), thin), block(2.0 * thin, 2.0 * thin, 0.5 * size)


#: Kind of joint → its look; all others are balls.
LOOKS: dict[str, Look] = {
    "revolute": _hinge,
    "cylindrical": _sleeve,
    "screw": _sleeve,
    "prismatic": _slide,
    "universal": _cross,
    "fixed": lambda thin, *_: (None, block(5.0 * thin, 5.0 * thin, 5.0 * thin)),
    "planar": _table,
    "point_on_plane": lambda thin, *_: (None, ball(2.0 * thin)),  # the plane is a surface
    "point_on_line": lambda thin, *_: (None, ball(2.0 * thin)),  # on a rail
    "rolling_disk": _rim,
    "rolling_sphere": lambda _, __, numbers: (None, ball(numbers["radius"])),
    "knife_edge": lambda thin, *_: (None, block(12.0 * thin, 0.6 * thin, 3.0 * thin)),
    "gear": _gears,
    "rack_and_pinion": _rack,
}
