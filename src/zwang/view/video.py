"""Video of a run: MP4, and GIF and WebP for pages that play no video."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.values import path_of
from zwang.errors import InputError, MissingExtraError, shown
from zwang.results.run import Run
from zwang.view.camera import camera_of
from zwang.view.points import scene_of_points
from zwang.view.raster import Rasterizer
from zwang.view.scene import scene_of

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["FORMATS", "animate", "write_video"]

#: Name endings, in the order in which messages list them.
FORMATS = (".mp4", ".gif", ".webp")
#: Fast to encode at a quality that shows no blocks; the files are small, as little moves.
ENCODER = {"preset": "superfast", "crf": "23"}
#: The quickest search, and each picture as the change of the one before: whole ones are tried
#: beside them only where Pillow is asked for key frames.
WEBP = {"quality": 80, "method": 0, "kmin": 9, "kmax": 1000}
#: Least time of a picture of an animated image [ms]: browsers show shorter ones for 100 ms.
LEAST_TIME = 20
#: Units in which the files count the times of pictures [ms].
TIME_UNITS = {".gif": 10, ".webp": 1}


def animate(
    run: Run,
    path: str | PathLike[str],
    *,
    fps: int = 30,
    speed: float = 1.0,
    size: tuple[int, int] = (720, 720),
    traces: Sequence[str] | Mapping[str, Any] | None = None,
    forces: bool = True,
    azimuth: float | None = None,
    elevation: float | None = None,
) -> Path:
    """Write a video of a mechanism; no display and no encoder of the system is needed."""
    target = path_of(path, "video")
    if target.suffix.lower() not in FORMATS:
        raise InputError(
            "video", found=repr(target.name), expected=f"a name ending in {' or '.join(FORMATS)}"
        )
    for what, value in (("fps", fps), ("speed", speed), ("size", min(size))):
        if not value > 0:
            raise InputError(what, found=shown(value), expected="a positive number")
    if not len(run):
        raise InputError("run", must="have at least one saved state to draw", but="has none")
    if target.suffix.lower() in TIME_UNITS:
        fps = min(fps, 1000 // LEAST_TIME)
    duration = float(run.t[-1] - run.t[0])
    frames = max(round(duration / speed * fps) + 1, 1)
    if run.mechanism is None:
        scene = scene_of_points(run, frames=frames)
    else:
        scene = scene_of(run, frames=frames, traces=traces, forces=forces)
    camera = camera_of(scene, azimuth, elevation)
    write_video(target, Rasterizer(scene, camera, _even(size)), fps)
    return target


def write_video(
    path: Path, raster: Rasterizer, fps: int, frames: Sequence[int] | None = None
) -> None:
    """Frames of a scene, all by default, as a file of the kind that its name ends in."""
    chosen = range(len(raster.scene.times)) if frames is None else frames
    pictures = (raster.picture(frame) for frame in chosen)
    try:
        if path.suffix.lower() == ".mp4":
            _encode(path, pictures, fps, raster.size)
        else:
            _animation(path, pictures, fps)
    except OSError as error:
        raise InputError(
            f"video {str(path)!r}",
            must="be a file that can be written",
            but=(error.strerror or str(error)).lower(),
            advice="Choose another place.",
        ) from None


def _even(size: tuple[int, int]) -> tuple[int, int]:
    """Colours are stored for two by two pixels."""
    return max(size[0] // 2 * 2, 2), max(size[1] // 2 * 2, 2)


def _encode(path: Path, pictures: Iterator[Image], fps: int, size: tuple[int, int]) -> None:
    try:
        import av
    except ImportError as error:
        raise MissingExtraError("run.animate", "av", "plot") from error
    with av.open(str(path), "w", format="mp4") as file:
        stream: Any = file.add_stream("libx264", rate=fps, options=ENCODER)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        for picture in pictures:
            frame = av.VideoFrame.from_ndarray(np.asarray(picture), format="rgb24")
            file.mux(stream.encode(frame.reformat(format="yuv420p")))
        file.mux(stream.encode())


def _picture_times(count: int, fps: float, unit: int) -> list[int]:
    """How long each of `count` pictures is shown [ms], in whole units.

    Each ends at the unit nearest to its time in the video, so that differences do not add up:
    thirty a second are 30 and 40 ms in a GIF.
    """
    ends = [unit * round(k * 1000.0 / (fps * unit)) for k in range(count + 1)]
    return [max(b - a, LEAST_TIME) for a, b in pairwise(ends)]


def _animation(path: Path, pictures: Iterator[Image], fps: int) -> None:
    """GIF in colours of its own choice, or WebP; browsers play them as images, again and again."""
    from PIL.Image import Dither

    every, ending = [picture.copy() for picture in pictures], path.suffix.lower()
    choices: dict[str, Any] = WEBP
    if ending == ".gif":
        # One palette, of a picture in the middle, so that nothing flickers.
        palette = every[len(every) // 2].quantize(colors=255, dither=Dither.NONE)
        every = [picture.quantize(palette=palette, dither=Dither.NONE) for picture in every]
        choices = {}
    times = _picture_times(len(every), fps, TIME_UNITS[ending])
    first, *rest = every
    first.save(path, save_all=True, append_images=rest, duration=times, loop=0, **choices)
