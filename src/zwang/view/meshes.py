"""Solids of polygons: what bodies and joints are drawn with, on every kind of output.

Faces are listed counter-clockwise seen from outside. Pictures are painted from back to front, face
by face, so long faces are cut into pieces that can be sorted by depth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zwang.multibody.inertia import Shape, axes_along
from zwang.multibody.mesh import MeshFile
from zwang.terms import FloatArray

__all__ = ["Mesh", "ball", "block", "coarse", "join", "of_file", "of_shape", "rod", "shaft"]

#: Faces around a shaft, and pieces of a ball from pole to pole: round enough at the size of a page.
AROUND = 18
#: The same around wheels, whose rim is what one looks at.
AROUND_WHEEL = 40
BELTS = 8
#: Faces of one solid where pictures are painted face by face: more would make the motion jerk.
MOST_FACES = 4000
#: Long shapes are cut into at most so many pieces.
MOST_PIECES = 8


@dataclass(frozen=True)
class Mesh:
    """Vertices, shape (n, 3), faces as tuples of their numbers, and colours of faces if any."""

    vertices: FloatArray
    faces: tuple[tuple[int, ...], ...]
    colors: tuple[str, ...] | None = None

    def placed(self, position: FloatArray, axes: FloatArray) -> Mesh:
        """Rotated by the axes, which are columns, then translated."""
        return Mesh(self.vertices @ axes.T + position, self.faces, self.colors)

    @property
    def triangles(self) -> np.ndarray:
        """All faces as fans of triangles, shape (m, 3)."""
        fans = [(f[0], f[k], f[k + 1]) for f in self.faces for k in range(1, len(f) - 1)]
        return np.array(fans, dtype=np.uint32).reshape(-1, 3)

    @property
    def triangle_colors(self) -> list[str]:
        """Colours of `triangles`, in their order; none of a mesh in one colour."""
        pairs = zip(self.faces, self.colors or (), strict=False)
        return [color for face, color in pairs for _ in range(len(face) - 2)]

    def by_color(self, otherwise: str) -> list[tuple[str, np.ndarray]]:
        """Triangles of each colour, for pictures that paint a mesh in one; all in one without."""
        every, own = self.triangles, np.array(self.triangle_colors)
        if not len(own):
            return [(otherwise, every)]
        return [(str(color), every[own == color]) for color in np.unique(own)]


def join(meshes: Sequence[Mesh]) -> Mesh:
    """Several solids as one."""
    vertices: list[FloatArray] = [np.zeros((0, 3))]
    faces: list[tuple[int, ...]] = []
    start = 0
    for mesh in meshes:
        vertices.append(mesh.vertices)
        faces += [tuple(start + i for i in face) for face in mesh.faces]
        start += len(mesh.vertices)
    return Mesh(np.concatenate(vertices), tuple(faces))


def block(x: float, y: float, z: float) -> Mesh:
    """A box about the origin with edges along the axes."""
    size = np.array([x, y, z])
    pieces = np.clip(np.ceil(size / (2.0 * np.sort(size)[1])), 1, MOST_PIECES).astype(int)
    sides = []
    for k in range(3):
        a, b = (k + 1) % 3, (k + 2) % 3
        for sign in (1.0, -1.0):
            u, w = (np.linspace(-0.5, 0.5, pieces[i] + 1) * size[i] for i in (a, b))
            grid = np.zeros((len(u), len(w), 3))
            grid[..., k] = 0.5 * sign * size[k]
            grid[..., a], grid[..., b] = np.meshgrid(u, w, indexing="ij")
            sides.append(_patch(grid, flipped=sign < 0.0))
    return join(sides)


def shaft(radius: float, length: float, inner: float = 0.0) -> Mesh:
    """A cylinder along z about the origin, or a tube if there is an inner radius."""
    pieces = int(np.clip(np.ceil(length / (4.0 * radius)), 1, MOST_PIECES))
    heights = np.linspace(-0.5 * length, 0.5 * length, pieces + 1)
    around = AROUND if length > radius else AROUND_WHEEL
    sides = [_patch(_ring(radius, heights, around))]
    if inner:
        sides.append(_patch(_ring(inner, heights, around), flipped=True))
    for z, flipped in ((heights[-1], False), (heights[0], True)):
        outer = _ring(radius, np.array([z]), around)[:, 0]
        if inner:
            cap = np.stack([outer, _ring(inner, np.array([z]), around)[:, 0]], axis=1)
            sides.append(_patch(cap, flipped=flipped))
        else:
            rim = tuple(range(around))
            sides.append(Mesh(outer[:-1], (rim[::-1] if flipped else rim,)))
    return join(sides)


def ball(radius: float) -> Mesh:
    """A sphere about the origin."""
    polar = np.linspace(np.pi, 0.0, BELTS + 1)
    around = np.linspace(0.0, 2.0 * np.pi, AROUND + 1)
    grid = np.stack(
        [
            np.outer(np.cos(around), np.sin(polar)),
            np.outer(np.sin(around), np.sin(polar)),
            np.broadcast_to(np.cos(polar), (AROUND + 1, BELTS + 1)),
        ],
        axis=-1,
    )
    return _patch(radius * grid)


def rod(start: FloatArray, end: FloatArray, radius: float) -> Mesh:
    """A thin shaft from one point to another; a ball where they are the same."""
    d = end - start
    length = float(np.linalg.norm(d))
    if length < 1e-9 * radius:
        return ball(radius).placed(start, np.eye(3))
    return shaft(radius, length).placed(0.5 * (start + end), axes_along(d / length))


def of_shape(shape: Shape, thin: float) -> Mesh:
    """The solid of a body's shape; rods and plates, which have no thickness, get `thin`."""
    size = shape.size
    made = {
        "rod": lambda: shaft(thin, size[0]),
        "box": lambda: block(*size),
        "cylinder": lambda: shaft(*size),
        "sphere": lambda: ball(*size),
        "tube": lambda: shaft(size[1], size[2], size[0]),
        "plate": lambda: block(size[0], size[1], 0.5 * thin),
    }[shape.kind]()
    return made.placed(shape.center, shape.axes)


def of_file(given: MeshFile) -> Mesh:
    """The mesh of a user's file; where there is no inside, it is seen from both sides."""
    triangles, colors = given.triangles, given.colors
    if not given.closed:
        triangles = np.concatenate([triangles, triangles[:, ::-1]])
        colors = 2 * colors if colors is not None else None
    return Mesh(given.vertices, tuple(map(tuple, triangles.tolist())), colors)


def coarse(mesh: Mesh, most: int = MOST_FACES) -> Mesh:
    """A mesh with not too many faces: corners that share a cell of a grid become one.

    The cells grow until few enough faces are left that still have corners in three of them.
    """
    if len(mesh.faces) <= most:
        return mesh
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    triangles, cells = mesh.triangles, np.sqrt(2.0 * most)
    while True:
        cell = np.floor((mesh.vertices - low) / (high - low).max() * cells)
        _, number = np.unique(cell, axis=0, return_inverse=True)
        number = number.reshape(-1)
        a, b, c = corners = number[triangles].T
        whole = np.flatnonzero((a != b) & (b != c) & (c != a))
        left, kept = np.unique(corners.T[whole], axis=0, return_index=True)
        if len(left) <= most:
            break
        cells *= 0.8
    count = np.bincount(number)
    middle = [np.bincount(number, mesh.vertices[:, k]) / count for k in range(3)]
    every = mesh.triangle_colors
    colors = tuple(every[i] for i in whole[kept]) if every else None
    return Mesh(np.stack(middle, axis=1), tuple(map(tuple, left.tolist())), colors)


def _ring(radius: float, heights: FloatArray, around: int) -> FloatArray:
    """Points around z at some heights, the first again at the end, shape (n + 1, heights, 3)."""
    angles = np.linspace(0.0, 2.0 * np.pi, around + 1)
    ring = np.zeros((around + 1, len(heights), 3))
    ring[..., 0], ring[..., 1] = radius * np.cos(angles)[:, None], radius * np.sin(angles)[:, None]
    ring[..., 2] = heights
    return ring


def _patch(grid: FloatArray, *, flipped: bool = False) -> Mesh:
    """A grid of points, shape (a, b, 3), as quadrilaterals."""
    a, b, _ = grid.shape
    number = np.arange(a * b).reshape(a, b)
    corners = np.stack(
        [number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]], axis=-1
    ).reshape(-1, 4)
    faces = [tuple(int(i) for i in (f[::-1] if flipped else f)) for f in corners]
    return Mesh(grid.reshape(-1, 3), tuple(faces))
