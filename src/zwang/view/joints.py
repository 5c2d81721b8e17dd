"""What each kind of joint looks like, in the axes of its markers: z is the joint's axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from zwang.multibody.marker import Joint, Marker
from zwang.view.meshes import Mesh, ball, block, shaft

__all__ = ["joint_solids"]

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


def _balls(thin: float, *_: object) -> tuple[Mesh, Mesh]:
    """Spherical and constant-velocity joints, and the ends of links."""
    return ball(1.8 * thin), ball(2.2 * thin)


def _hinge(thin: float, *_: object) -> tuple[Mesh, Mesh]:
    return shaft(2.0 * thin, 3.5 * thin), shaft(1.3 * thin, 5.5 * thin)


def _sleeve(thin: float, *_: object) -> tuple[Mesh, Mesh]:
    return shaft(2.0 * thin, 3.5 * thin), shaft(1.3 * thin, 12.0 * thin)


def _slide(thin: float, size: float, _: object) -> tuple[Mesh, Mesh]:
    return block(4.4 * thin, 4.4 * thin, 7.0 * thin), shaft(1.2 * thin, 0.2 * size)


def _cross(thin: float, *_: object) -> tuple[Mesh, Mesh]:
    """Arms of the cross: x of the first marker, y of the second."""
    arm = shaft(1.2 * thin, 8.0 * thin)
    return arm.placed(np.zeros(3), ALONG_X), arm.placed(np.zeros(3), ALONG_Y)


def _table(thin: float, size: float, _: object) -> tuple[Mesh, Mesh]:
    return block(0.4 * size, 0.4 * size, 0.5 * thin), ball(2.0 * thin)


def _wire(thin: float, size: float, _: object) -> tuple[Mesh, Mesh]:
    return shaft(0.7 * thin, size), ball(2.0 * thin)


def _rim(thin: float, _: float, numbers: Mapping[str, float]) -> tuple[None, Mesh]:
    radius = numbers["radius"]
    return None, shaft(radius, 1.2 * thin, max(radius - 2.0 * thin, 0.5 * radius))


def _gears(thin: float, _: float, numbers: Mapping[str, float]) -> tuple[Mesh, Mesh]:
    """Disks, and a ring where the radius is negative."""

    def look(radius: float) -> Mesh:
        return shaft(radius, 2.0 * thin) if radius > 0.0 else shaft(-1.1 * radius, thin, -radius)

    return look(numbers["radius_a"]), look(numbers["radius_b"])


def _rack(thin: float, size: float, numbers: Mapping[str, float]) -> tuple[Mesh, Mesh]:
    pinion = shaft(abs(numbers["radius"]), 2.0 * thin)
    return pinion, block(2.0 * thin, 2.0 * thin, 0.5 * size)


#: Kind of joint → its look; all others are balls.
LOOKS: dict[str, Look] = {
    "revolute": _hinge,
    "cylindrical": _sleeve,
    "screw": _sleeve,
    "prismatic": _slide,
    "universal": _cross,
    "fixed": lambda thin, *_: (None, block(5.0 * thin, 5.0 * thin, 5.0 * thin)),
    "planar": _table,
    "point_on_plane": _table,
    "point_on_line": _wire,
    "rolling_disk": _rim,
    "rolling_sphere": lambda _, __, numbers: (None, ball(numbers["radius"])),
    "knife_edge": lambda thin, *_: (None, block(12.0 * thin, 0.6 * thin, 3.0 * thin)),
    "gear": _gears,
    "rack_and_pinion": _rack,
}
