"""Scenes in a web page: the data of the 3-D player, its HTML and its scripts.

One implementation serves the report, the page without a server and notebooks. ``scene.js`` has time
and camera, ``painter.js`` paints, ``controls.js`` has buttons and gestures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from zwang.terms import FloatArray
from zwang.view.camera import DISTANCE, camera_of, floor_of
from zwang.view.packing import Packer
from zwang.view.scene import APPLIED_COLOR, OPEN_COLOR, REACTION_COLOR, Scene
from zwang.view.solids import Solid

__all__ = [
    "SCENE_SCRIPTS",
    "Amplitude",
    "Clip",
    "asset",
    "common_extent",
    "common_newton",
    "player_figure",
]

#: What a page with scenes needs, in this order.
SCENE_SCRIPTS = (
    "vectors.js",
    "reader.js",
    "painter.js",
    "overlay.js",
    "controls.js",
    "scene.js",
    "start.js",
)


def asset(name: str) -> str:
    """A script or style sheet of the pages."""
    return files("zwang.view").joinpath(name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Amplitude:
    """A slider that multiplies the motion away from a state of rest.

    Attributes
    ----------
    rest : the scene at rest, one frame.
    start, most : of the slider; at 1 the motion is as given.
    """

    rest: Scene
    start: float = 1.0
    most: float = 3.0


@dataclass(frozen=True)
class Clip:
    """One of the motions that a figure can show.

    Attributes
    ----------
    label, note : its name in the menu, and a sentence below the picture.
    pace : seconds of the motion in one of the wall clock.
    """

    scene: Scene
    label: str = ""
    note: str = ""
    pace: float = 1.0


def player_figure(
    clips: Sequence[Clip],
    *,
    name: str = "scene",
    choice: str = "show",
    amplitude: Amplitude | None = None,
    newton: float | None = None,
    extent: tuple[float, float] | None = None,
) -> str:
    """A figure element that plays motions of one mechanism.

    Parameters
    ----------
    clips : the first is shown at first.
    name : of the figure, for people who cannot see it.
    choice : what the menu of several clips is called.
    newton : length of an arrow for a force of one newton [m/N]; that of the clips by default.
    extent : half the width and height of what is looked at [m]; those of the motion by default.
    """
    packer = Packer()
    data = _data(packer, clips, choice, amplitude)
    if extent is not None:
        radius = max(extent)
        data["camera"] |= {"radius": radius, "extent": [x / radius for x in extent]}
    data["newton"] = common_newton([clip.scene for clip in clips]) if newton is None else newton
    return (
        f'<figure class="player"><canvas class="view" tabindex="0" role="img" '
        f'aria-label="{escape(name)}: drag to turn, click for names"></canvas>'
        "<noscript><p>The motion is shown by a script; this browser runs none.</p></noscript>"
        f'<script type="application/json">{packer.text(data)}</script></figure>'
    )


def common_newton(scenes: Sequence[Scene]) -> float:
    """Length of an arrow for one newton [m/N] with which no scene has longer ones than alone."""
    return min([s.newton for s in scenes if s.arrows], default=scenes[0].newton)


def common_extent(scenes: Sequence[Scene]) -> tuple[float, float]:
    """Half the width and height that hold each scene: pictures of one size have one scale."""
    cameras = [camera_of(scene) for scene in scenes]
    wide, tall = (max(c.radius * c.extent[k] for c in cameras) for k in range(2))
    return wide, tall


def _data(
    packer: Packer, clips: Sequence[Clip], choice: str, amplitude: Amplitude | None
) -> dict[str, Any]:
    scene = clips[0].scene
    camera = camera_of(scene)
    up = scene.up
    towards = camera.axes.T @ [-0.45, 0.0, 0.5] if abs(camera.axes[2] @ up) < 0.9 else np.zeros(3)
    light = up + towards - (towards @ up) * up
    return {
        "size": scene.size,
        "meters": scene.run.mechanism is not None,
        "longest": scene.longest_arrow,
        "camera": {
            "axes": camera.axes.tolist(),
            "center": camera.center.tolist(),
            "radius": camera.radius,
            "extent": camera.extent,
            "perspective": camera.perspective,
            "distance": DISTANCE,
            "up": up.tolist(),
        },
        "light": (light / np.linalg.norm(light)).tolist(),
        "floor": floor_of(scene),
        "colors": {"reaction": REACTION_COLOR, "open": OPEN_COLOR, "applied": APPLIED_COLOR},
        "tracks": [track.name for track in scene.tracks],
        "labels": [None if x is None else x.tolist() for x in scene.labels],
        "about": dict(scene.about),
        "solids": [_solid(packer, solid) for solid in scene.solids],
        "paths": [
            {"track": p.track, "color": p.color, "points": packer.numbers(p.points)}
            for p in scene.paths
        ],
        "choice": choice,
        "clips": [_clip(packer, clip, amplitude) for clip in clips],
        **_rest(amplitude),
    }


def _rest(amplitude: Amplitude | None) -> dict[str, Any]:
    if amplitude is None:
        return {}
    rest = [poses_of(track.position, track.rotation)[0] for track in amplitude.rest.tracks]
    return {
        "amplitude": {"start": amplitude.start, "most": amplitude.most},
        "rest": [pose.tolist() for pose in rest],
    }


def _solid(packer: Packer, solid: Solid) -> dict[str, Any]:
    mesh = solid.painted
    colors: dict[str, Any] = {}
    if mesh.colors is not None:
        palette, number = np.unique(np.array(mesh.triangle_colors), return_inverse=True)
        colors = {"palette": palette.tolist(), "paint": packer.indices(number)}
    return {
        "name": solid.name,
        "role": solid.role,
        "track": solid.track,
        "color": solid.color,
        "vertices": packer.motion(mesh.vertices),
        "triangles": packer.indices(mesh.triangles),
        **colors,
    }


def _clip(packer: Packer, clip: Clip, amplitude: Amplitude | None) -> dict[str, Any]:
    scene = clip.scene
    rest = {} if amplitude is None else {line.name: line for line in amplitude.rest.lines}
    return {
        "label": clip.label,
        "note": clip.note,
        "pace": clip.pace,
        "first": float(scene.times[0]),
        "last": float(scene.times[-1]),
        "count": len(scene.times),
        "poses": [packer.motion(poses_of(t.position, t.rotation)) for t in scene.tracks],
        "lines": [
            {
                "name": line.name,
                "role": line.role,
                "points": packer.motion(np.concatenate([line.start, line.end], axis=1)),
                **_line_rest(rest, line.name),
            }
            for line in scene.lines
        ],
        "arrows": [
            {
                "name": arrow.name,
                "role": arrow.role,
                "color": arrow.color,
                "open": arrow.open,
                "points": packer.motion(np.concatenate([arrow.point, arrow.force], axis=1)),
            }
            for arrow in scene.arrows
        ],
        "traces": [
            {"name": trace.name, "color": trace.color, "points": packer.motion(trace.points)}
            for trace in scene.traces
        ],
    }


def _line_rest(rest: Mapping[str, Any], name: str) -> dict[str, Any]:
    line = rest.get(name)
    return {} if line is None else {"rest": [*line.start[0].tolist(), *line.end[0].tolist()]}


def poses_of(position: FloatArray, rotation: FloatArray) -> FloatArray:
    """Origins and unit quaternions, shape (n, 7), of which neighbours have no opposite signs."""
    diagonal = np.diagonal(rotation, axis1=1, axis2=2)
    trace = diagonal.sum(axis=1)
    # Row k of the symmetric matrix 4 u uᵀ for each k, of which the one with the largest 4 uₖ².
    a, b, c = (rotation[:, i, j] - rotation[:, j, i] for i, j in ((2, 1), (0, 2), (1, 0)))
    d, e, f = (rotation[:, i, j] + rotation[:, j, i] for i, j in ((0, 1), (0, 2), (1, 2)))
    x, y, z = (1.0 + 2.0 * diagonal[:, k] - trace for k in range(3))
    rows = np.array([[1.0 + trace, a, b, c], [a, x, d, e], [b, d, y, f], [c, e, f, z]])
    best = np.argmax([1.0 + trace, x, y, z], axis=0)
    u = rows[best, :, np.arange(len(position))]
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    flips = np.cumprod(np.where(np.sum(u[1:] * u[:-1], axis=1) < 0.0, -1.0, 1.0))
    u[1:] *= flips[:, None]
    return np.concatenate([position, u], axis=1)
