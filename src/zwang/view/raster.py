"""Pictures of a scene as pixels, many a second: what does not move is painted once.

Polygons are painted from back to front at twice the size with Pillow, and only what has changed
since the last picture is painted and reduced again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import MissingExtraError
from zwang.terms import FloatArray
from zwang.view.camera import Camera, VisibleFaces, floor, line_points, visible_faces
from zwang.view.scene import Arrow, Scene

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Rasterizer"]

Color = tuple[int, int, int]

#: Sub-pixels along a pixel.
FINE = 2
PAPER, GRID, SHADOW = (255, 255, 255), (226, 230, 235), (214, 219, 224)
LINK, INK = (86, 96, 107), (77, 84, 92)
#: The light for shadows comes from above, a little from the left and the front of the picture.
SLANT = (-0.35, 0.35)
#: Pixels at the border that arrows do not reach.
BORDER = 8.0


class Rasterizer:
    """Paints frames of a scene, one after the other.

    Parameters
    ----------
    size : width and height in pixels.
    """

    def __init__(self, scene: Scene, camera: Camera, size: tuple[int, int]) -> None:
        try:
            from PIL import Image, ImageDraw, ImageFont
        except ImportError as error:
            raise MissingExtraError("run.animate", "pillow", "plot") from error
        self._image, self._draw = Image, ImageDraw
        self.scene, self.camera, self.size = scene, camera, size
        wide, high = size
        extent = camera.extent
        share = 0.44 if camera.perspective else 0.46
        self._k = FINE * share * min(wide / extent[0], high / extent[1])
        self._middle = 0.5 * FINE * np.array([wide, high])
        self._thin = max(FINE * min(size) / 720.0, 1.0)
        self._font = ImageFont.load_default(max(round(min(size) / 36), 8))
        self._canvas = Image.new("RGB", (FINE * wide, FINE * high), PAPER)
        self._ground = self._canvas.copy()
        self._picture = Image.new("RGB", size, PAPER)
        if camera.perspective:
            pen = ImageDraw.Draw(self._ground)
            for line in floor(scene):
                self._line(pen, line, GRID, 1.0)
        self._dirty = (0, 0, FINE * wide, FINE * high)
        self._traced = 0
        self._canvas.paste(self._ground)

    def picture(self, frame: int) -> Image:
        """A frame as an image; the next one is painted into the same."""
        self._trace(frame)
        self._canvas.paste(self._ground.crop(self._dirty), self._dirty[:2])
        pen = self._draw.Draw(self._canvas)
        used: list[FloatArray] = [np.zeros((0, 2))]
        faces = visible_faces(self.scene, self.camera, frame)
        seen = self._on_page(faces.seen)
        if self.camera.perspective:
            used.append(self._shadows(pen, faces))
        for line in self.scene.lines:
            points = line_points(self.scene, line.role, line.start[frame], line.end[frame])
            used.append(self._line(pen, points, LINK, 1.1 if line.role == "spring" else 2.4))
        flat, colors = seen.ravel().tolist(), np.rint(255.0 * faces.colors).astype(int)
        for a, b, color in zip(*_slices(faces), colors[faces.order].tolist(), strict=True):
            pen.polygon(flat[a:b], fill=tuple(color))
        used.append(seen)
        used += [self._arrow(pen, arrow, frame) for arrow in self.scene.arrows]
        box = self._box(np.concatenate(used))
        self._reduce(_union(self._dirty, box))
        self._dirty = box
        self._clock(float(self.scene.times[frame]))
        return self._picture

    def _on_page(self, seen: FloatArray) -> FloatArray:
        """Places on the canvas of what the camera projects."""
        return self._middle + self._k * seen * [1.0, -1.0]

    def _box(self, points: FloatArray) -> tuple[int, int, int, int]:
        """Pixels that enclose some points and the thickness of lines."""
        if not len(points):
            return (0, 0, 0, 0)
        wide, high = FINE * self.size[0], FINE * self.size[1]
        room = 6.0 * self._thin
        low = np.clip(np.floor((points.min(axis=0) - room) / FINE) * FINE, 0, (wide, high))
        most = np.clip(np.ceil((points.max(axis=0) + room) / FINE) * FINE, 0, (wide, high))
        return int(low[0]), int(low[1]), int(most[0]), int(most[1])

    def _reduce(self, box: tuple[int, int, int, int]) -> None:
        """What was painted, at half the size."""
        if box[2] > box[0] and box[3] > box[1]:
            part = self._canvas.reduce(FINE, box)
            self._picture.paste(part, (box[0] // FINE, box[1] // FINE))

    def _line(self, pen: Any, points: FloatArray, color: Color, width: float) -> FloatArray:
        seen = self._on_page(self.camera.project(points)[:, :2])
        path = [tuple(p) for p in seen.tolist()]
        pen.line(path, fill=color, width=max(round(width * self._thin), 1), joint="curve")
        return seen

    def _trace(self, frame: int) -> None:
        """Traces grow: what is new of them is painted on the ground."""
        first = min(self._traced, frame)
        if self.scene.traces and frame > first:
            pen = self._draw.Draw(self._ground)
            for trace in self.scene.traces:
                color = _bytes(trace.color)
                seen = self._line(pen, trace.points[first : frame + 1], color, 1.0)
                self._dirty = _union(self._dirty, self._box(seen))
        self._traced = frame

    def _shadows(self, pen: Any, faces: VisibleFaces) -> FloatArray:
        """All faces along the light onto the floor, in one colour."""
        scene, axes = self.scene, self.camera.axes
        up = scene.up
        slant = SLANT[0] * axes[0] + SLANT[1] * axes[2]
        light = up + slant - (slant @ up) * up
        height = faces.world @ up - scene.ground_level
        flat = faces.world - height[:, None] * light
        seen = self._on_page(self.camera.project(flat)[:, :2])
        places = seen.ravel().tolist()
        for a, b in zip(*_slices(faces), strict=True):
            pen.polygon(places[a:b], fill=SHADOW)
        return seen

    def _arrow(self, pen: Any, arrow: Arrow, frame: int) -> FloatArray:
        """A force; it ends before the border of the picture."""
        ends = np.array([arrow.point[frame], self.scene.arrow_tip(arrow, frame)])
        tail, tip = self._on_page(self.camera.project(ends)[:, :2])
        d, limit = tip - tail, FINE * np.array(self.size) - FINE * BORDER
        inside = np.all(tail > FINE * BORDER) and np.all(tail < limit)
        if not inside or np.linalg.norm(d) < 4.0 * self._thin:
            return np.zeros((0, 2))
        rooms = np.where(d > 0.0, limit - tail, tail - FINE * BORDER)
        d = d * min(1.0, float((rooms / np.abs(d).clip(1e-9)).min()))
        length = float(np.linalg.norm(d))
        u, tip = d / length, tail + d
        head = min(11.0 * self._thin, 0.5 * length)
        side = 0.4 * head * np.array([-u[1], u[0]])
        base = tip - head * u
        color = _bytes(arrow.color)
        width = max(round(1.6 * self._thin), 1)
        dashes = np.arange(0.0, length - head, 7.0 * self._thin) if arrow.open else np.zeros(1)
        for begin in dashes:
            end = min(begin + 4.0 * self._thin, length - head) if arrow.open else length - head
            path = [tuple((tail + x * u).tolist()) for x in (begin, end)]
            pen.line(path, fill=color, width=width)
        corners = [tuple(p.tolist()) for p in (tip, base + side, base - side)]
        pen.polygon(corners, fill=None if arrow.open else color, outline=color)
        return np.array([tail, tip, base + side, base - side])

    def _clock(self, t: float) -> None:
        wide, high = self.size
        pen = self._draw.Draw(self._picture)
        place = (round(0.03 * wide), high - round(0.06 * min(self.size)))
        text = f"t = {t + 0.0:.2f} s"
        box = pen.textbbox(place, text, font=self._font)
        # The clock has a strip of its own, painted anew each time.
        left, top = max(int(box[0]) - 2, 0), max(int(box[1]) - 2, 0)
        right, low = min(int(box[2]) + 12, wide), min(int(box[3]) + 2, high)
        part = self._canvas.reduce(FINE, (FINE * left, FINE * top, FINE * right, FINE * low))
        self._picture.paste(part, (left, top))
        pen.text(place, text, fill=INK, font=self._font)


def _bytes(color: str) -> Color:
    red, green, blue = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue


def _slices(faces: VisibleFaces) -> tuple[list[int], list[int]]:
    """Where the flat coordinates of each visible face begin and end, from back to front."""
    starts = 2 * faces.starts[faces.order]
    return starts.tolist(), (starts + 2 * faces.counts[faces.order]).tolist()


def _union(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Pixels that enclose two boxes."""
    if a[2] <= a[0]:
        return b[0], b[1], b[2], b[3]
    if b[2] <= b[0]:
        return a[0], a[1], a[2], a[3]
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])
