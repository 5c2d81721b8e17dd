"""The solids of a mechanism: bodies by their mesh, shapes or joints, and joints by their kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from zwang.multibody.body import Body
from zwang.multibody.frozen import Parts
from zwang.multibody.marker import Marker
from zwang.multibody.pose import SCALAR
from zwang.terms import FloatArray
from zwang.view.joints import bands, joint_solids, spokes
from zwang.view.meshes import Mesh, ball, coarse, join, of_file, of_shape, rod

__all__ = [
    "COLORS",
    "Solid",
    "box_around",
    "darker",
    "doubtful_scales",
    "in_body",
    "size_of",
    "solids_of",
    "thickness",
]

#: Thickness of thin things against the size of the mechanism, and at most of its bodies.
THIN, THIN_BODY = 0.014, 0.04
#: Thickness of a joint's parts against the smaller of its bodies, so that they do not bury it.
THIN_JOINT = 0.08
#: Cylinders that are not longer than this many radii are wheels, and have spokes.
LONGEST_WHEEL = 4.0
#: A mesh that is so many times larger or smaller than the mechanism is in other units than given.
MOST_RATIO = 50.0

#: Colours of bodies in sequence, distinguishable by all eyes (after Okabe and Ito).
COLORS = ("#3b7dbd", "#e08a2c", "#2f9e83", "#b8579b", "#7a6bb8", "#8c8f3a", "#c2524a", "#4aa3c7")
JOINT_COLOR, GROUND_COLOR = "#3c4650", "#8b95a1"


@dataclass(frozen=True)
class Solid:
    """Something rigid: a mesh in the axes of the track that moves it.

    Attributes
    ----------
    role : body, joint, ground, or surface on which something rolls or slides.
    track : number of the track.
    """

    name: str
    role: str
    track: int
    mesh: Mesh
    color: str

    @cached_property
    def painted(self) -> Mesh:
        """The mesh for pictures that are painted face by face."""
        return coarse(self.mesh)


def in_body(parts: Parts, marker: Marker) -> FloatArray:
    """A marker's place in the axes of its body, from the body's origin."""
    return marker.arm if marker.body < 0 else parts.bodies[marker.body].inertia.center + marker.arm


def size_of(parts: Parts) -> float:
    """How far the mechanism spreads as placed: the diagonal of its joints, bodies and shapes."""
    points = []
    for body in parts.bodies:
        if body.kind is SCALAR:
            continue
        points.append(body.placement.point(body.inertia.center))
        if body.mesh is not None:
            points += [body.placement.point(corner) for corner in box_around(body.mesh.vertices)]
            continue
        for s in body.inertia.shapes:
            reach = 0.5 * max(s.size) * (2.0 if s.kind in ("sphere", "tube") else 1.0)
            middle = body.placement.point(s.center)
            points += [middle - reach, middle + reach]
    for joint in parts.joints.values():
        for marker in (joint.a, joint.b):
            if marker is None:
                continue
            local = in_body(parts, marker)
            on_ground = marker.body < 0
            place = None if on_ground else parts.bodies[marker.body].placement
            points.append(local if place is None else place.point(local))
    if not points:
        return 1.0
    every = np.array(points)
    return float(np.linalg.norm(every.max(axis=0) - every.min(axis=0))) or 1.0


def doubtful_scales(parts: Parts) -> tuple[str, ...]:
    """Sentences on meshes that cannot be in the units that their scale implies."""
    plain = replace(parts, bodies=tuple(replace(body, mesh=None) for body in parts.bodies))
    size, told = size_of(plain), []
    for body in parts.bodies:
        if body.mesh is None:
            continue
        own = float(np.linalg.norm(np.ptp(body.mesh.vertices, axis=0)))
        if not size / MOST_RATIO < own < size * MOST_RATIO:
            told.append(
                f"the mesh of {body.name!r} is {own:.3g} m long and the mechanism without it "
                f"{size:.3g} m; its scale, {body.mesh.scale:g}, is the length in metres of one "
                "unit of its file."
            )
    return tuple(told)


def box_around(points: FloatArray) -> FloatArray:
    """Corners of what encloses some points, shape (8, 3)."""
    ends = zip(points.min(axis=0), points.max(axis=0), strict=True)
    return np.array(np.meshgrid(*ends)).reshape(3, 8).T


def solids_of(parts: Parts, size: float) -> list[Solid]:
    """Solids of all bodies, then those of all joints.

    Parameters
    ----------
    size : of the mechanism.
    """
    thin = thickness(parts, size)
    places = _joint_points(parts)
    solids = []
    for body in parts.bodies:
        if body.kind is SCALAR:
            continue
        color = COLORS[body.index % len(COLORS)]
        mesh = _body_mesh(body, places.get(body.index, []), thin)
        solids.append(Solid(body.name, "body", body.index + 1, mesh, color))
        marks = _wheel_marks(parts, body)
        if marks is not None:
            solids.append(Solid(body.name, "body", body.index + 1, marks, darker(color)))
    lengths = {b.index: _length(b, places.get(b.index, [])) for b in parts.bodies}
    for joint in parts.joints.values():
        near = [lengths[i] for i in joint.bodies if lengths.get(i, 0.0) > 0.0]
        own = min([thin, *(THIN_JOINT * length for length in near)])
        for marker, mesh in joint_solids(joint, own, size):
            placed = mesh.placed(in_body(parts, marker), marker.axes)
            ground = marker.body < 0
            color, role = (GROUND_COLOR, "ground") if ground else (JOINT_COLOR, "joint")
            solids.append(Solid(joint.name, role, marker.body + 1, placed, color))
    return solids


def thickness(parts: Parts, size: float) -> float:
    """Thickness of thin things, less where a large mechanism consists of small bodies."""
    lengths = [max(s.size) for b in parts.bodies for s in b.inertia.shapes]
    return min(THIN * size, THIN_BODY * float(np.median(lengths))) if lengths else THIN * size


def _body_mesh(body: Body, points: list[FloatArray], thin: float) -> Mesh:
    """The mesh of a body, its shapes and point masses, or rods between its joints and a ball."""
    if body.mesh is not None:
        return of_file(body.mesh)
    weights = [ball(2.0 * thin).placed(place, np.eye(3)) for place in body.inertia.points]
    if body.inertia.shapes:
        return join([*(of_shape(s, thin) for s in body.inertia.shapes), *weights])
    center = body.inertia.center
    pairs = list(pairwise(points))
    if len(points) > 2:
        pairs.append((points[-1], points[0]))
    if points:
        pairs.append((center, min(points, key=lambda p: float(np.linalg.norm(p - center)))))
    heavy = [ball(2.0 * thin).placed(center, np.eye(3))] if len(weights) < 2 else weights
    return join([*(rod(a, b, 0.8 * thin) for a, b in pairs), *heavy])


def _length(body: Body, points: list[FloatArray]) -> float:
    """How long a body is drawn; 0 where nothing says it."""
    if body.mesh is not None:
        return float(np.linalg.norm(np.ptp(body.mesh.vertices, axis=0)))
    reach = [max(2.0 * s.size[0], s.size[-1]) for s in body.inertia.shapes]
    between = [float(np.linalg.norm(a - b)) for a, b in pairwise(points)]
    arms = [float(np.linalg.norm(p - body.inertia.center)) for p in points]
    return max([0.0, *reach, *between, *arms])


def _wheel_marks(parts: Parts, body: Body) -> Mesh | None:
    """Spokes of a body's wheels and bands of its balls, which show how they turn."""
    if body.mesh is not None:
        return None
    made = []
    for shape in body.inertia.shapes:
        if shape.kind == "cylinder" and shape.size[1] <= LONGEST_WHEEL * shape.size[0]:
            mark = spokes(0.96 * shape.size[0], 1.04 * shape.size[1])
        elif shape.kind == "tube" and shape.size[2] <= LONGEST_WHEEL * shape.size[1]:
            mark = spokes(1.01 * shape.size[0], 0.5 * shape.size[2], 3)
        else:
            continue
        made.append(mark.placed(shape.center, shape.axes))
    for joint in parts.joints.values():
        rolls = joint.kind is not None and joint.kind.name == "rolling_sphere"
        if rolls and joint.b is not None and joint.b.body == body.index:
            made.append(
                bands(float(joint.numbers["radius"])).placed(in_body(parts, joint.b), np.eye(3))
            )
    return join(made) if made else None


def darker(color: str) -> str:
    """A colour at six tenths of its brightness."""
    return "#" + "".join(f"{round(0.6 * int(color[k : k + 2], 16)):02x}" for k in (1, 3, 5))


def _joint_points(parts: Parts) -> dict[int, list[FloatArray]]:
    """Body → its joints' points in its axes, each place once."""
    found: dict[int, list[FloatArray]] = {}
    for joint in parts.joints.values():
        for marker in (joint.a, joint.b):
            if marker is not None and marker.body >= 0:
                own = found.setdefault(marker.body, [])
                point = in_body(parts, marker)
                if not any(np.allclose(point, other) for other in own):
                    own.append(point)
    return found
