"""What pictures show under a mechanism: planes, rails and curves, as far as the motion goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zwang.multibody.frozen import Parts
from zwang.multibody.marker import Joint, Marker
from zwang.terms import FloatArray
from zwang.view.meshes import block, shaft
from zwang.view.solids import GROUND_COLOR, JOINT_COLOR, Solid, in_body, thickness

__all__ = ["Curve", "Ground", "Track", "grounds_of"]

#: Kinds of joints with a plane normal to z of the first marker.
ON_PLANES = ("rolling_disk", "rolling_sphere", "point_on_plane")
#: Kinds with a rail along z of the first marker.
ON_RAILS = ("prismatic", "point_on_line")
#: Margin of a ramp or a rail, its thickness, and its width in a planar mechanism, against the
#: size of the mechanism.
MARGIN, THICK, WIDE = 0.12, 0.006, 0.2
#: A plane is the floor if its normal is upwards to this.
LEVEL = 1e-6


@dataclass(frozen=True)
class Track:
    """A frame that moves: origin (nf, 3) and axes as columns (nf, 3, 3)."""

    name: str
    position: FloatArray
    rotation: FloatArray

    def points(self, local: FloatArray) -> FloatArray:
        """World positions of a point of the frame, shape (nf, 3)."""
        return self.position + self.rotation @ local


@dataclass(frozen=True)
class Curve:
    """A curve fixed in a track: points in its axes, shape (n, 3)."""

    name: str
    track: int
    points: FloatArray
    color: str = GROUND_COLOR


@dataclass(frozen=True)
class Ground:
    """Ramps and rails as solids, curves, and the height of a level floor, if there is one."""

    solids: tuple[Solid, ...]
    paths: tuple[Curve, ...]
    level: float | None


def grounds_of(parts: Parts, tracks: Sequence[Track], up: FloatArray, size: float) -> Ground:
    """Planes and curves of the joints, as large as what happens on them.

    Parameters
    ----------
    tracks : the ground and the bodies, at all frames.
    up : the upward direction.
    size : of the mechanism.
    """
    solids, paths, level = [], [], None
    curves = {e.name for e in parts.constraints if e.law.key[0] == "curve"}
    for joint in parts.joints.values():
        if joint.a is None or joint.b is None:
            continue
        track = tracks[joint.a.body + 1]
        there = tracks[joint.b.body + 1].points(in_body(parts, joint.b))
        local = np.einsum("nji,nj->ni", track.rotation, there - track.position)
        if joint.elements[0] in curves:
            paths.append(Curve(joint.name, joint.a.body + 1, local))
        elif joint.kind is not None and joint.kind.name in ON_PLANES:
            height = _floor(joint.a, in_body(parts, joint.a), up)
            if height is None:
                solids.append(_ramp(parts, joint, joint.a, local, size))
            elif level is None:
                level = height
        elif joint.kind is not None and joint.kind.name in ON_RAILS:
            solids.append(_rail(parts, joint, joint.a, local, size))
    return Ground(tuple(solids), tuple(paths), level)


def _floor(marker: Marker, origin: FloatArray, up: FloatArray) -> float | None:
    """Height of a plane that is level and does not move."""
    level = marker.body < 0 and marker.axes[:, 2] @ up > 1.0 - LEVEL
    return float(origin @ up) if level else None


def _ramp(parts: Parts, joint: Joint, marker: Marker, local: FloatArray, size: float) -> Solid:
    """A thin plate below the points, in the axes of the track."""
    origin = in_body(parts, marker)
    seen = (local - origin) @ marker.axes
    margin = MARGIN * size + float(joint.numbers.get("radius", 0.0))
    low, high = seen[:, :2].min(axis=0) - margin, seen[:, :2].max(axis=0) + margin
    if parts.kind.plane is not None:  # edge on, seen along the plane's normal
        across = int(np.argmax(np.abs(marker.axes[parts.kind.plane[2], :2])))
        low[across], high[across] = -0.5 * WIDE * size, 0.5 * WIDE * size
    wide = high - low
    middle = np.array([*(0.5 * (low + high)), -0.5 * THICK * size])
    plate = block(wide[0], wide[1], THICK * size).placed(middle, np.eye(3))
    return Solid(
        joint.name, "surface", marker.body + 1, plate.placed(origin, marker.axes), GROUND_COLOR
    )


def _rail(parts: Parts, joint: Joint, marker: Marker, local: FloatArray, size: float) -> Solid:
    """A thin rod along the way of a slider, in the axes of the track."""
    origin = in_body(parts, marker)
    along = (local - origin) @ marker.axes[:, 2]
    margin = MARGIN * size
    low, high = float(along.min()) - margin, float(along.max()) + margin
    rod = shaft(0.9 * thickness(parts, size), high - low)
    rod = rod.placed(np.array([0.0, 0.0, 0.5 * (low + high)]), np.eye(3))
    role, color = ("ground", GROUND_COLOR) if marker.body < 0 else ("joint", JOINT_COLOR)
    return Solid(joint.name, role, marker.body + 1, rod.placed(origin, marker.axes), color)
