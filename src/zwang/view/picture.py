"""A still of a scene as text, in SVG."""

from __future__ import annotations

from zwang.terms import FloatArray
from zwang.view.camera import Camera, floor, line_points, painted
from zwang.view.scene import Scene

__all__ = ["still"]

#: Size of a still in its own units.
SIDE = 480.0
#: Behind it, for notebooks in dark colours: joints are dark.
PAPER = "#f6f8fa"


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
        f'<svg id="still" viewBox="0 0 {SIDE:g} {SIDE:g}" role="img" stroke-width="1.7" '
        f'stroke-linejoin="round" style="background:{PAPER}; border-radius:6px">'
        f"<title>The mechanism at the start</title>{inside}</svg>"
    )


def _on_page(points: FloatArray) -> FloatArray:
    return 0.5 * SIDE + 0.46 * SIDE * points[:, :2] * [1.0, -1.0]


def _line(camera: Camera, points: FloatArray, color: str, width: float) -> str:
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in _on_page(camera.project(points)))
    return f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="{width:g}"/>'
