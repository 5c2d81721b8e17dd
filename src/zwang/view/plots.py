"""Figures of runs with Matplotlib: channels over time, phase plots, stills and video."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import InputError, MissingExtraError, shown
from zwang.paths import path_of
from zwang.results.run import Run
from zwang.view.camera import Camera, camera_of, floor, line_points, painted
from zwang.view.channels import channel_of, single
from zwang.view.scene import Scene, scene_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["animate", "draw", "draw_scene", "plot"]

LINK, GRID = "#56606b", "#e3e7eb"
#: Arrows shorter than this, against half the picture, are all head.
SHORTEST = 0.01


def plot(run: Run, names: Sequence[str], against: str | None = None) -> Any:
    """Channels over time, one below the other, or against another channel."""
    figures = _figure_module("run.plot")
    chosen = tuple(names) or run.system.coordinates
    if against is not None:
        return _phase(figures, run, chosen, against)
    channels = [channel_of(run, name) for name in chosen]
    figure, axes = figures.subplots(
        len(channels), 1, sharex=True, squeeze=False, figsize=(7.0, 1.0 + 1.6 * len(channels))
    )
    for axis, channel in zip(axes[:, 0], channels, strict=True):
        for k, part in enumerate(channel.parts):
            style = {"color": "0.35", "linewidth": 0.9} if part == "size" else {}
            axis.plot(run.t, channel.values[:, k], label=part or None, **style)
        axis.set_ylabel(channel.label)
        if len(channel.parts) > 1:
            axis.legend(loc="upper right", ncols=len(channel.parts), fontsize="small")
        for e in run.events:
            axis.axvline(e.t, color="0.8", linewidth=0.8, zorder=0)
    axes[-1, 0].set_xlabel("t [s]")
    figure.tight_layout()
    return figure


def _phase(figures: Any, run: Run, names: tuple[str, ...], against: str) -> Any:
    across = single(run, against)
    channels = [single(run, name) for name in names]
    figure, axes = figures.subplots(
        1, len(channels), squeeze=False, figsize=(1.0 + 4.0 * len(channels), 4.0)
    )
    for axis, channel in zip(axes[0], channels, strict=True):
        axis.plot(across.values[:, 0], channel.values[:, 0], linewidth=1.0)
        axis.plot(across.values[:1, 0], channel.values[:1, 0], "o", color="0.2", markersize=4)
        axis.set_xlabel(across.label)
        axis.set_ylabel(channel.label)
    figure.tight_layout()
    return figure


def draw(
    run: Run,
    t: float | None = None,
    *,
    axes: Any = None,
    traces: Sequence[str] | Mapping[str, Any] | None = None,
    forces: bool = False,
    azimuth: float | None = None,
    elevation: float | None = None,
) -> Any:
    """A still of a mechanism at one time, as a Matplotlib figure."""
    figures = _figure_module("run.draw")
    if traces is None and not forces:
        at = run.t[0] if t is None else t
        scene, frame = scene_of(run, frames=1, start=at, end=at, forces=False), 0
    else:  # the whole run, for its traces and the scale of its arrows
        scene = scene_of(run, traces=traces, forces=forces)
        at = scene.times[0] if t is None else t
        frame = int(np.argmin(np.abs(scene.times - at)))
    if axes is None:
        _, axes = figures.subplots(figsize=(5.0, 5.0))
    draw_scene(axes, scene, camera_of(scene, azimuth, elevation), frame)
    return axes.figure


def draw_scene(axes: Axes, scene: Scene, camera: Camera, frame: int) -> None:
    """One frame of a scene into the axes of a figure."""
    from matplotlib.collections import LineCollection, PolyCollection

    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(-1.12, 1.12)
    axes.set_ylim(-1.12, 1.12)
    if camera.perspective:
        grid = [camera.project(line)[:, :2] for line in floor(scene)]
        axes.add_collection(LineCollection(grid, colors=GRID, linewidths=0.8, zorder=0))
    for trace in scene.traces:
        path = camera.project(trace.points[: frame + 1])[:, :2]
        axes.plot(path[:, 0], path[:, 1], color=trace.color, linewidth=1.0, alpha=0.8, zorder=1)
    for line in scene.lines:
        points = camera.project(line_points(scene, line.role, line.start[frame], line.end[frame]))
        width = 1.1 if line.role == "spring" else 2.4
        axes.plot(points[:, 0], points[:, 1], color=LINK, linewidth=width, zorder=2)
    faces = painted(scene, camera, frame)
    colors = [face.color for face in faces]
    axes.add_collection(
        PolyCollection(
            [face.corners for face in faces],
            facecolors=colors,
            edgecolors=colors,
            linewidths=0.5,
            zorder=3,
        )
    )
    for arrow in scene.arrows:
        start = arrow.point[frame]
        ends = camera.project(np.array([start, start + scene.newton * arrow.force[frame]]))
        tail, tip = (tuple(p.tolist()) for p in ends[:, :2])
        if np.hypot(tip[0] - tail[0], tip[1] - tail[1]) < SHORTEST:
            continue
        style: dict[str, Any] = {"arrowstyle": "-|>", "color": arrow.color, "linewidth": 1.4}
        if arrow.open:
            style["linestyle"] = (0, (3, 2))
        axes.annotate("", tip, tail, arrowprops={**style, "shrinkA": 0, "shrinkB": 0}, zorder=4)


# --- video ----------------------------------------------------------------------------------------

#: Name ending → container, codec and format of the pixels.
FORMATS = {
    ".mp4": ("mp4", "libx264", "yuv420p"),
    ".gif": ("gif", "gif", "rgb8"),
}


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
    _figure_module("run.animate")
    if not len(run):
        raise InputError("run", must="have at least one saved state to draw", but="has none")
    duration = float(run.t[-1] - run.t[0])
    frames = max(round(duration / speed * fps) + 1, 1)
    scene = scene_of(run, frames=frames, traces=traces, forces=forces)
    camera = camera_of(scene, azimuth, elevation)
    _encode(target, _pictures(scene, camera, size), fps, _even(size))
    return target


def _even(size: tuple[int, int]) -> tuple[int, int]:
    """Colours are stored for two by two pixels."""
    return size[0] // 2 * 2, size[1] // 2 * 2


def _pictures(scene: Scene, camera: Camera, size: tuple[int, int]) -> Iterator[np.ndarray]:
    """Frame after frame as arrays of pixels (height, width, 3)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    width, height = _even(size)
    dpi = 100
    figure: Figure = Figure(figsize=(width / dpi, height / dpi), dpi=dpi)
    canvas = FigureCanvasAgg(figure)
    for frame, t in enumerate(scene.times):
        figure.clear()
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        draw_scene(axes, scene, camera, frame)
        figure.text(0.03, 0.03, f"t = {t:.2f} s", family="monospace", color="0.3")
        canvas.draw()
        yield np.asarray(canvas.buffer_rgba())[:height, :width, :3]


def _encode(path: Path, pictures: Iterator[np.ndarray], fps: int, size: tuple[int, int]) -> None:
    try:
        import av
    except ImportError as error:
        raise MissingExtraError("run.animate", "av", "plot") from error
    container, codec, pixels = FORMATS[path.suffix.lower()]
    with av.open(str(path), "w", format=container) as file:
        stream: Any = file.add_stream(codec, rate=fps)
        stream.width, stream.height = size
        stream.pix_fmt = pixels
        for picture in pictures:
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            file.mux(stream.encode(frame.reformat(format=pixels)))
        file.mux(stream.encode())


def _figure_module(feature: str) -> Any:
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise MissingExtraError(feature, "matplotlib", "plot") from error
    return plt
