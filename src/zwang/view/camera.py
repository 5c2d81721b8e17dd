"""From the scene to flat polygons: a view, shading, and the order from back to front."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zwang.multibody.inertia import axes_along
from zwang.terms import FloatArray
from zwang.view.scene import Scene

__all__ = ["Camera", "Polygon", "camera_of", "floor", "line_points", "painted"]

#: The default view of a mechanism in space: from the front, a little from the side and from above.
AZIMUTH, ELEVATION = 0.6, 0.42
#: The eye is so many radii away: depth is seen, without distortion.
DISTANCE = 5.0
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
    """

    axes: FloatArray
    center: FloatArray
    radius: float
    perspective: bool

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


def camera_of(scene: Scene, azimuth: float | None = None, elevation: float | None = None) -> Camera:
    """The view along the normal of a planar mechanism, else from the side and from above.

    Parameters
    ----------
    azimuth, elevation : of the eye about the upward direction and above the horizon [rad].
    """
    if scene.normal is not None and azimuth is None and elevation is None:
        towards, upwards = scene.normal, scene.up
        if abs(upwards @ towards) > 0.5:  # gravity is normal to the plane
            upwards = np.eye(3)[_second_axis(scene)]
        rows = np.array([np.cross(upwards, towards), upwards, towards])
        return _fitted(scene, rows, perspective=False)
    angle = AZIMUTH if azimuth is None else azimuth
    height = ELEVATION if elevation is None else elevation
    horizon = horizontal_axes(scene.up)
    flat = np.cos(angle) * horizon[0] + np.sin(angle) * horizon[1]
    towards = np.cos(height) * flat + np.sin(height) * scene.up
    right = np.cross(scene.up, flat)
    rows = np.array([right, np.cross(towards, right), towards])
    return _fitted(scene, rows, perspective=True)


def _fitted(scene: Scene, axes: FloatArray, *, perspective: bool) -> Camera:
    """The view that holds all of the scene, at all times, and little more."""
    seen = scene.cloud @ axes.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    radius = 0.5 * float((high - low)[:2].max()) * (1.1 if perspective else 1.0)
    return Camera(axes, 0.5 * (low + high) @ axes, radius or scene.radius, perspective)


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


def painted(scene: Scene, camera: Camera, frame: int) -> list[Polygon]:
    """Faces of all solids towards the eye, from back to front."""
    faces = faces_of(scene)
    R = np.array([t.rotation[frame] for t in scene.tracks])[faces.track]
    at = np.array([t.position[frame] for t in scene.tracks])[faces.track]
    world = np.einsum("nij,nj->ni", R, faces.vertices) + at
    seen = camera.project(world)[faces.corners]
    x, y = seen[..., 0], seen[..., 1]
    # Twice the area, which is positive for faces towards the eye; repeated corners add nothing.
    area = np.sum(x * np.roll(y, -1, axis=1) - y * np.roll(x, -1, axis=1), axis=1)
    own = world[faces.corners]
    normal = np.cross(own, np.roll(own, -1, axis=1)).sum(axis=1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True).clip(1e-300)
    light = camera.axes.T @ (LIGHT / np.linalg.norm(LIGHT))
    bright = AMBIENT + (1.0 - AMBIENT) * (normal @ light).clip(0.0)
    colors = (faces.colors * bright[:, None]).clip(0.0, 1.0)
    inside = np.arange(faces.corners.shape[1]) < faces.counts[:, None]
    depth = np.sum(seen[..., 2] * inside, axis=1) / faces.counts
    order = np.argsort(depth, kind="stable")
    return [
        Polygon(seen[i, : faces.counts[i], :2], tuple(colors[i].tolist()))
        for i in order[area[order] > 0.0]
    ]


@dataclass(frozen=True)
class Faces:
    """All faces of a scene in one piece.

    Attributes
    ----------
    vertices, track : (n, 3) in the axes of their tracks, and these, (n,).
    corners : (m, k) numbers of vertices, the last one repeated in faces with fewer corners.
    counts, colors : corners of each face (m,) and its colour (m, 3).
    """

    vertices: FloatArray
    track: np.ndarray
    corners: np.ndarray
    counts: np.ndarray
    colors: FloatArray


def faces_of(scene: Scene) -> Faces:
    """The faces of a scene, assembled on first use."""
    kept = scene.__dict__.get("_faces")
    if kept is not None:
        return kept
    every = [(solid, face) for solid in scene.solids for face in solid.painted.faces]
    widest = max((len(face) for _, face in every), default=3)
    starts = np.cumsum([0, *(len(s.painted.vertices) for s in scene.solids)])
    begin = {id(solid): int(start) for solid, start in zip(scene.solids, starts, strict=False)}
    corners = [[begin[id(s)] + i for i in (*f, *[f[-1]] * (widest - len(f)))] for s, f in every]
    found = Faces(
        np.concatenate([np.zeros((0, 3)), *(s.painted.vertices for s in scene.solids)]),
        np.repeat([s.track for s in scene.solids], np.diff(starts)).astype(int),
        np.array(corners, dtype=int).reshape(-1, widest),
        np.array([len(f) for _, f in every], dtype=int),
        np.array([rgb(s.color) for s, _ in every]).reshape(-1, 3),
    )
    object.__setattr__(scene, "_faces", found)
    return found


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


def floor(scene: Scene) -> list[FloatArray]:
    """A grid of lines on the ground, each two points in the world."""
    a, b = horizontal_axes(scene.up)
    low, high = scene.bounds
    corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, 8).T
    height = float((corners @ scene.up).min())
    reach = 1.05 * scene.radius
    middle = scene.center + (height - scene.center @ scene.up) * scene.up
    return [
        np.array([middle + k * u - reach * w, middle + k * u + reach * w])
        for u, w in ((a, b), (b, a))
        for k in np.linspace(-reach, reach, 9)
    ]
