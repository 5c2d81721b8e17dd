"""From the scene to flat polygons: a view, shading, and the order from back to front."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.multibody.inertia import axes_along
from zwang.terms import FloatArray
from zwang.view.scene import Scene, Solid

__all__ = [
    "Camera",
    "Polygon",
    "VisibleFaces",
    "camera_of",
    "floor",
    "floor_of",
    "line_points",
    "painted",
    "visible_faces",
]

#: The default view of a mechanism in space: from the front, a little from the side and from above.
AZIMUTH, ELEVATION = 0.6, 0.42
#: The eye is so many radii away: depth is seen, without distortion.
DISTANCE = 5.0
#: Rounds in which a view with depth is fitted: each leaves a small share of what the last one left.
FITS = 6
#: A picture of something long and thin has this much room across it.
LEAST_EXTENT = 0.3
#: Direction of the light in the axes of the view (right, up, towards the eye), and its share.
LIGHT = np.array([-0.35, 0.7, 0.62])
AMBIENT = 0.55
#: Windings of a spring.
COILS = 9


@dataclass(frozen=True)
class Camera:
    """A view of a scene.

    Attributes
    ----------
    axes : rows are right, up and towards the eye, in the world.
    center, radius : what is looked at.
    perspective : whether nearer things are larger; not in views along the normal of a plane.
    extent : width and height of what is looked at, over two radii; the larger is about 1.
    """

    axes: FloatArray
    center: FloatArray
    radius: float
    perspective: bool
    extent: tuple[float, float] = (1.0, 1.0)

    def project(self, points: FloatArray) -> FloatArray:
        """(right, up, depth towards the eye) of world points, in units of the radius."""
        seen = (points - self.center) @ self.axes.T / self.radius
        if self.perspective:
            seen[..., :2] *= (DISTANCE / (DISTANCE - seen[..., 2:])).clip(0.1, 10.0)
        return seen


@dataclass(frozen=True)
class Polygon:
    """A face on the picture: corners (n, 2) and an sRGB colour."""

    corners: FloatArray
    color: tuple[float, float, float]


def camera_of(
    scene: Scene,
    azimuth: float | None = None,
    elevation: float | None = None,
    frame: int | None = None,
) -> Camera:
    """The view along the normal of a planar mechanism, else from the side and from above.

    Parameters
    ----------
    azimuth, elevation : of the eye about the upward direction and above the horizon [rad].
    frame : the one that it holds, with all of the traces; all frames if not given.
    """
    every = np.concatenate([scene.cloud, scene.arrow_tips])
    held = every if frame is None else scene.still(frame)
    if scene.normal is not None and azimuth is None and elevation is None:
        towards, upwards = scene.normal, scene.up
        if abs(upwards @ towards) > 0.5:  # gravity is normal to the plane
            upwards = np.eye(3)[_second_axis(scene)]
        rows = np.array([np.cross(upwards, towards), upwards, towards])
        return _fitted(scene, held, rows, perspective=False)
    angle = AZIMUTH if azimuth is None else azimuth
    height = ELEVATION if elevation is None else elevation
    horizon = horizontal_axes(scene.up)
    flat = np.cos(angle) * horizon[0] + np.sin(angle) * horizon[1]
    towards = np.cos(height) * flat + np.sin(height) * scene.up
    right = np.cross(scene.up, flat)
    rows = np.array([right, np.cross(towards, right), towards])
    return _fitted(scene, held, rows, perspective=True)


def _fitted(scene: Scene, points: FloatArray, axes: FloatArray, *, perspective: bool) -> Camera:
    """The view that holds points of a scene and little more."""
    seen = points @ axes.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)[:2]
    radius = float(half.max()) or scene.radius
    for _ in range(FITS if perspective else 0):  # what is near is larger, and moves outwards
        depth = (seen[:, 2] - middle[2]) / radius
        near = (DISTANCE / (DISTANCE - depth)).clip(0.1, 10.0)
        flat = (seen[:, :2] - middle[:2]) * near[:, None]
        middle[:2] += 0.5 * (flat.min(axis=0) + flat.max(axis=0))
        half = 0.5 * np.ptp(flat, axis=0)
        radius = float(half.max()) or scene.radius
    wide, tall = (max(float(x) / radius, LEAST_EXTENT) for x in half)
    return Camera(axes, middle @ axes, radius, perspective, (wide, tall))


def _second_axis(scene: Scene) -> int:
    """The axis of a plane that is drawn upwards where gravity does not decide it."""
    assert scene.normal is not None
    return {0: 2, 1: 2, 2: 1}[int(np.argmax(np.abs(scene.normal)))]


def horizontal_axes(up: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two horizontal directions from which azimuths count: the first as much along −y, x or z."""
    wanted = {0: (0.0, 0.0, 1.0), 1: (0.0, 0.0, 1.0), 2: (0.0, -1.0, 0.0)}[
        int(np.argmax(np.abs(up)))
    ]
    axes = axes_along(up, np.array(wanted))
    return axes[:, 0], axes[:, 1]


@dataclass(frozen=True)
class VisibleFaces:
    """Faces of all solids on a picture, and which of them are seen.

    Attributes
    ----------
    seen, world : corners of all faces one after the other, on the picture (n, 2) and in the world
        (n, 3).
    starts, counts : where the corners of each face begin, and how many there are, (m,).
    order : the faces towards the eye, from back to front.
    colors : of all faces, in the light, sRGB between 0 and 1, (m, 3).
    """

    seen: FloatArray
    world: FloatArray
    starts: np.ndarray
    counts: np.ndarray
    order: np.ndarray
    colors: FloatArray


def visible_faces(scene: Scene, camera: Camera, frame: int) -> VisibleFaces:
    """Faces in the light, those towards the eye sorted by depth."""
    faces = scene.faces
    R = np.array([t.rotation[frame] for t in scene.tracks])[faces.track]
    at = np.array([t.position[frame] for t in scene.tracks])[faces.track]
    vertices = np.einsum("nij,nj->ni", R, faces.vertices) + at
    projected = camera.project(vertices)
    (ax, ay), (bx, by), (cx, cy) = (projected[faces.three[:, k], :2].T for k in range(3))
    # Twice the area of three corners, which is positive for faces towards the eye.
    towards = np.flatnonzero((bx - ax) * (cy - ay) - (by - ay) * (cx - ax) > 0.0)
    a, b, c = (vertices[faces.three[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True).clip(1e-300)
    light = camera.axes.T @ (LIGHT / np.linalg.norm(LIGHT))
    bright = AMBIENT + (1.0 - AMBIENT) * (normal @ light).clip(0.0)
    colors = (faces.colors * bright[:, None]).clip(0.0, 1.0)
    seen = projected[faces.corners]
    sums = np.add.reduceat(seen[:, 2], faces.starts) if len(faces.starts) else np.zeros(0)
    order = towards[np.argsort((sums / faces.counts)[towards], kind="stable")]
    return VisibleFaces(
        seen[:, :2], vertices[faces.corners], faces.starts, faces.counts, order, colors
    )


def painted(scene: Scene, camera: Camera, frame: int) -> list[Polygon]:
    """Faces of all solids towards the eye, from back to front."""
    faces = visible_faces(scene, camera, frame)
    ends = faces.starts + faces.counts
    return [
        Polygon(faces.seen[faces.starts[i] : ends[i]], tuple(faces.colors[i].tolist()))
        for i in faces.order
    ]


@dataclass(frozen=True)
class Faces:
    """All faces of a scene in one piece.

    Attributes
    ----------
    vertices, track : (n, 3) in the axes of their tracks, and these, (n,).
    corners : numbers of the vertices of all faces, one face after the other.
    starts, counts : where each face begins among these, and how many corners it has, (m,).
    three : three corners of each face far from each other, (m, 3).
    colors : (m, 3).
    """

    vertices: FloatArray
    track: np.ndarray
    corners: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    three: np.ndarray
    colors: FloatArray


def faces_of(scene: Scene) -> Faces:
    """The faces of a scene, which keeps them."""
    meshes = [solid.painted for solid in scene.solids]
    begins = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    corners = np.array(
        [b + i for b, mesh in zip(begins, meshes, strict=False) for f in mesh.faces for i in f],
        dtype=int,
    )
    counts = np.array([len(f) for mesh in meshes for f in mesh.faces], dtype=int)
    starts = np.cumsum(counts) - counts
    three = corners[starts[:, None] + counts[:, None] * np.arange(3) // 3]
    return Faces(
        np.concatenate([np.zeros((0, 3)), *(mesh.vertices for mesh in meshes)]),
        np.repeat([s.track for s in scene.solids], np.diff(begins)).astype(int),
        corners,
        starts,
        counts,
        three,
        np.array([rgb(c) for s in scene.solids for c in _face_colors(s)]).reshape(-1, 3),
    )


def _face_colors(solid: Solid) -> tuple[str, ...]:
    mesh = solid.painted
    return mesh.colors or (solid.color,) * len(mesh.faces)


def rgb(color: str) -> tuple[float, float, float]:
    """Red, green and blue of a colour ``#rrggbb``, between 0 and 1."""
    red, green, blue = (int(color[k : k + 2], 16) / 255.0 for k in (1, 3, 5))
    return red, green, blue


def line_points(scene: Scene, role: str, start: FloatArray, end: FloatArray) -> FloatArray:
    """A straight line, or the zigzag of a spring, as points in the world."""
    if role != "spring":
        return np.array([start, end])
    along = end - start
    length = float(np.linalg.norm(along))
    if length == 0.0:
        return np.array([start, end])
    side = np.cross(along, scene.up if scene.normal is None else scene.normal)
    if np.linalg.norm(side) < 1e-9 * length:
        side = np.cross(along, [1.0, 0.3, 0.2])
    side *= 0.02 * scene.size / np.linalg.norm(side)
    share = np.linspace(0.15, 0.85, 2 * COILS)
    sign = np.where(np.arange(2 * COILS) % 2 == 0, 1.0, -1.0)
    middle = start + share[:, None] * along + sign[:, None] * side
    return np.concatenate([[start], middle, [end]])


def floor_of(scene: Scene) -> dict[str, Any] | None:
    """The ground of a scene: a plane with a grid, in round lengths; None where there is none.

    Returns its center, two directions a and b in it, up, the length of a cell of the grid and how
    far it reaches.
    """
    if not scene.grounded:
        return None
    a, b = horizontal_axes(scene.up)
    cell = 0.22 * scene.radius
    power = 10.0 ** np.floor(np.log10(cell))
    cell = float(power * max(m for m in (1.0, 2.0, 5.0) if m * power <= cell * (1.0 + 1e-12)))
    middle = scene.center + (scene.ground_level - scene.center @ scene.up) * scene.up
    # Lines of the grid go through round coordinates, counted from the origin.
    middle -= sum(((middle @ w) - cell * np.rint((middle @ w) / cell)) * w for w in (a, b))
    return {
        "center": middle.tolist(),
        "a": a.tolist(),
        "b": b.tolist(),
        "up": scene.up.tolist(),
        "cell": cell,
        "reach": 4.0 * scene.radius,
    }


def floor(scene: Scene) -> list[FloatArray]:
    """A grid of lines on the ground, each two points in the world."""
    if not scene.grounded:
        return []
    a, b = horizontal_axes(scene.up)
    reach = 1.05 * scene.radius
    middle = scene.center + (scene.ground_level - scene.center @ scene.up) * scene.up
    return [
        np.array([middle + k * u - reach * w, middle + k * u + reach * w])
        for u, w in ((a, b), (b, a))
        for k in np.linspace(-reach, reach, 9)
    ]
