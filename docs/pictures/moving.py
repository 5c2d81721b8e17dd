"""The moving picture of the first page: Bricard's loop with its reactions, and a walking leg."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import zwang as zw
from pictures.style import GREY, use_style
from zwang.view.camera import camera_of
from zwang.view.plots import draw_scene
from zwang.view.scene import Scene, scene_of

__all__ = ["write"]

#: Frames a second, and how many pixels the picture has.
RATE, SIZE = 15, (860, 400)
#: Turns of the leg's crank while the loop swings there and back.
TURNS = 3


def period() -> float:
    """How long Bricard's loop takes to come back to its start at rest."""
    back = zw.event(lambda v: v[4], "stop", direction=1)  # the first bar turns about y
    run = zw.library.bricard().simulate(until=10.0, events={"back": back}, save=0.1)
    return float(run.t[-1])


def scenes(frames: int, duration: float) -> tuple[Scene, Scene]:
    """The loop, and the leg with the path of its foot, over one period."""
    loop = zw.library.bricard().simulate(until=duration, save=duration / 200)
    rate = TURNS * 2 * np.pi / duration
    leg = zw.library.theo_jansen_leg(rate=-rate)
    leg.drive("motor", "axle.angle", lambda t: rate * t)
    walk = leg.simulate(until=duration, save=duration / 200)
    lower = walk.body("lower")
    ankle = walk.body("f").point((0.197, 0, 0))[0] - lower.position[0]
    g = float(np.linalg.norm(ankle))
    along = (g**2 + 0.49**2 - 0.657**2) / (2 * g)
    across = np.array([-ankle[2], 0.0, ankle[0]]) / g
    foot = along * ankle / g + np.sqrt(0.49**2 - along**2) * across
    return scene_of(loop, frames=frames), scene_of(
        walk, frames=frames, traces={"lower": foot}, forces=False
    )


def write(target: Path, frames: int | None = None) -> None:
    """Write the picture as an animated WebP; it goes on for ever."""
    use_style()
    duration = period()
    count = frames or round(RATE * duration)
    both = scenes(count + 1, duration)  # the last frame is the first again
    cameras = [camera_of(scene, None, None) for scene in both]
    pictures = []
    dpi = 100
    for frame in range(count):
        figure = plt.figure(figsize=(SIZE[0] / dpi, SIZE[1] / dpi), dpi=dpi)
        for place, scene, camera in zip((0.0, 0.52), both, cameras, strict=True):
            axes = figure.add_axes((place, 0.02, 0.48, 0.96))
            draw_scene(axes, scene, camera, frame)
        figure.text(0.02, 0.03, f"t = {both[0].times[frame]:.2f} s", family="monospace", color=GREY)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png")
        plt.close(figure)
        pictures.append(Image.open(buffer).convert("RGB"))
    pictures[0].save(
        target,
        save_all=True,
        append_images=pictures[1:],
        duration=round(1000 / RATE),
        loop=0,
        quality=70,
        method=6,
    )
