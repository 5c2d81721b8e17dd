"""A scene as text: a still in SVG, and the data that the report's player moves."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from zwang.terms import FloatArray
from zwang.view.camera import AMBIENT, DISTANCE, LIGHT, Camera, floor, line_points, painted
from zwang.view.scene import Scene

__all__ = ["player_data", "still"]

#: Size of a still in its own units.
SIDE = 480.0


def still(scene: Scene, camera: Camera, frame: int = 0) -> str:
    """One frame as an SVG element."""
    lines = []
    if camera.perspective:
        lines += [_line(camera, line, "#dde2e7", 1.0) for line in floor(scene)]
    for line in scene.lines:
        points = line_points(scene, line.role, line.start[frame], line.end[frame])
        lines.append(_line(camera, points, "#66717d", 1.3 if line.role == "spring" else 3.0))
    for face in painted(scene, camera, frame):
        color = "#" + "".join(f"{round(255 * c):02x}" for c in face.color)
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in _on_page(face.corners))
        lines.append(f'<polygon points="{points}" fill="{color}" stroke="{color}"/>')
    inside = "".join(lines)
    return (
        f'<svg id="still" viewBox="0 0 {SIDE:g} {SIDE:g}" role="img" stroke-width="0.6" '
        f'stroke-linejoin="round"><title>The mechanism at the start</title>{inside}</svg>'
    )


def _on_page(points: FloatArray) -> FloatArray:
    return 0.5 * SIDE + 0.46 * SIDE * points[:, :2] * [1.0, -1.0]


def _line(camera: Camera, points: FloatArray, color: str, width: float) -> str:
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in _on_page(camera.project(points)))
    return f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="{width:g}"/>'


def player_data(scene: Scene, camera: Camera) -> dict[str, Any]:
    """What ``player.js`` needs, ready for JSON; long arrays are base64 of 32-bit floats."""
    return {
        "times": scene.times.tolist(),
        "size": scene.size,
        "newton": scene.newton,
        "camera": {
            "axes": camera.axes.tolist(),
            "center": camera.center.tolist(),
            "radius": camera.radius,
            "perspective": camera.perspective,
            "distance": DISTANCE,
            "up": scene.up.tolist(),
            "light": LIGHT.tolist(),
            "ambient": AMBIENT,
        },
        "floor": [line.tolist() for line in floor(scene)],
        "tracks": [
            {
                "name": track.name,
                "poses": _packed(
                    np.concatenate([track.position, track.rotation.reshape(-1, 9)], axis=1)
                ),
            }
            for track in scene.tracks
        ],
        "solids": [
            {
                "name": solid.name,
                "role": solid.role,
                "track": solid.track,
                "color": solid.color,
                "vertices": _packed(solid.painted.vertices),
                "faces": [list(face) for face in solid.painted.faces],
            }
            for solid in scene.solids
        ],
        "lines": [
            {
                "name": line.name,
                "role": line.role,
                "points": _packed(np.concatenate([line.start, line.end], axis=1)),
            }
            for line in scene.lines
        ],
        "arrows": [
            {
                "name": arrow.name,
                "role": arrow.role,
                "color": arrow.color,
                "open": arrow.open,
                "points": _packed(np.concatenate([arrow.point, arrow.force], axis=1)),
            }
            for arrow in scene.arrows
        ],
        "traces": [
            {"name": trace.name, "color": trace.color, "points": _packed(trace.points)}
            for trace in scene.traces
        ],
    }


def _packed(array: FloatArray) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f4").tobytes()).decode("ascii")
