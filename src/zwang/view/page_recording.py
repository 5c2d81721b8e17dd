"""A video of what a browser shows of a page: the same view, painted here and sent there."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from zwang.terms import FloatArray
from zwang.view.camera import Camera
from zwang.view.raster import Rasterizer
from zwang.view.scene import Scene
from zwang.view.video import write_video

__all__ = ["recorded", "view_of"]

#: Width and height in pixels, and pictures a second.
SIZE, FPS = (1280, 720), 30
#: Half the height of a picture in radii of what is looked at, see `Rasterizer`.
HALF = 0.5 / 0.44
#: Pictures of one recording: a minute.
MOST_PICTURES = 60 * FPS


def view_of(client: Any) -> Camera:
    """The camera of a browser, as cameras are here."""
    seen = client.camera
    position, look_at, up = (
        np.asarray(x, dtype=float) for x in (seen.position, seen.look_at, seen.up_direction)
    )
    return camera_at(position, look_at, up, float(seen.fov))


def camera_at(position: FloatArray, look_at: FloatArray, up: FloatArray, fov: float) -> Camera:
    """A view from a position that shows as much around what it looks at.

    Parameters
    ----------
    fov : vertical field of view [rad].
    """
    away = position - look_at
    distance = float(np.linalg.norm(away)) or 1.0
    towards = away / distance
    right = np.cross(up, towards)
    if np.linalg.norm(right) < 1e-6:  # from straight above
        right = np.cross([0.3, 1.0, 0.2], towards)
    right /= np.linalg.norm(right)
    axes = np.array([right, np.cross(towards, right), towards])
    return Camera(axes, look_at, distance * np.tan(0.5 * fov) / HALF, perspective=True)


def recorded(scene: Scene, camera: Camera, speed: float = 1.0) -> bytes:
    """An MP4 file of a scene from its first frame to its last.

    Parameters
    ----------
    speed : seconds of the motion in one of the video.
    """
    first, last = float(scene.times[0]), float(scene.times[-1])
    count = min(max(round((last - first) / speed * FPS) + 1, 1), MOST_PICTURES)
    times = np.linspace(first, last, count)
    frames = np.searchsorted(0.5 * (scene.times[1:] + scene.times[:-1]), times)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "motion.mp4"
        write_video(path, Rasterizer(scene, camera, SIZE), FPS, frames.tolist())
        return path.read_bytes()
