"""A scene on a page of viser: its nodes, and where they are at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from zwang.rotation.quaternion import from_rotation_matrix
from zwang.terms import FloatArray
from zwang.view.camera import DISTANCE, Camera, camera_of, line_points, rgb
from zwang.view.scene import Scene, Solid
from zwang.view.solids import JOINT_COLOR

__all__ = ["Drawn", "set_stage"]

LINE_COLOR = (102, 113, 125)
#: Of the floor, seen on white and on black, and loud on neither.
FLOOR_COLOR = (140, 147, 154)
#: In the place of the paint of joints, which is dark on dark pages.
JOINT_PAINT = "#75818d"
#: How strong the light of the sky, of the sun and of a lamp beside the eye is.
SKY, SUN, LAMP = 1.2, 1.6, 0.5
#: Width over height of a screen from which on the first view has everything in it.
FREE = 0.85
#: Plane across each axis, for the floor.
PLANES: tuple[Literal["yz"], Literal["xz"], Literal["xy"]] = ("yz", "xz", "xy")
#: Thickness of lines and arrows against the size of the mechanism.
THIN = 0.006


class Drawn:
    """The nodes of one scene.

    Attributes
    ----------
    scene : what is drawn; `follow_on` replaces it by one that goes further.
    newton : length of an arrow for one newton [m/N]; it never grows, so that arrows do not jump.
    """

    def __init__(self, page: Any, root: str, scene: Scene, opacity: float | None = None) -> None:
        self.scene, self.newton = scene, scene.newton
        self._page, self._root = page, root
        add, thin = page.scene, THIN * scene.size
        self._place = add.add_frame(root, show_axes=False)
        self._frames, self._solids, self._lines, self._traces, self._arrows = [], [], [], [], {}
        self._nodes: list[tuple[Solid, Any]] = []
        self._quaternions = [_quaternions(track.rotation) for track in scene.tracks]
        for i, _ in enumerate(scene.tracks):
            self._frames.append(add.add_frame(f"{root}/{i}", show_axes=False))
        for i, solid in enumerate(scene.solids):
            for k, (color, triangles) in enumerate(solid.mesh.by_color(solid.color)):
                mesh = add.add_mesh_simple(
                    f"{root}/{solid.track}/solid{i}" + (f"-{k}" if k else ""),
                    solid.mesh.vertices.astype(np.float32),
                    triangles,
                    color=_bytes(JOINT_PAINT if color == JOINT_COLOR else color),
                    opacity=opacity,
                    flat_shading=True,
                )
                self._solids.append((solid.role, mesh))
                self._nodes.append((solid, mesh))
        for i, line in enumerate(scene.lines):
            points = _segments(line_points(scene, line.role, line.start[0], line.end[0]))
            self._lines.append(
                add.add_line_segments(f"{root}/line{i}", points, LINE_COLOR, thickness=thin)
            )
        for i, trace in enumerate(scene.traces):
            node = add.add_line_segments(
                f"{root}/trace{i}",
                _segments(trace.points),
                _bytes(trace.color),
                thickness=0.4 * thin,
            )
            self._traces.append(node)
        for role in ("reaction", "applied"):
            own = [a for a in scene.arrows if a.role == role]
            if own:
                self._arrows[role] = add.add_arrows(
                    f"{root}/{role}",
                    np.zeros((len(own), 2, 3), dtype=np.float32),
                    np.array([_linear(_bytes(a.color)) for a in own], dtype=np.uint8),
                    shaft_radius=thin,
                    head_radius=2.5 * thin,
                    head_length=6.0 * thin,
                )

        self._names = [
            add.add_label(f"{root}/{i}/name", track.name, position=point, visible=False)
            for i, (track, point) in enumerate(zip(scene.tracks, scene.labels, strict=False))
            if point is not None
        ]

    @property
    def roles(self) -> set[str]:
        """What there is to hide."""
        return {"joint", "name", *self._arrows, *(["trace"] if self._traces else [])}

    def on_pick(self, callback: Callable[[Drawn, Solid], None]) -> None:
        """Call a function with the solid that is clicked on."""
        for solid, node in self._nodes:
            node.on_click(lambda _, own=solid: callback(self, own))

    def label(self, solid: Solid) -> Any:
        """A label with what is known of a solid, which goes along with it."""
        kind = "body" if solid.role == "body" else "joint"
        text = self.scene.about.get(f"{kind} {solid.name}", solid.name)
        middle = 0.5 * (solid.mesh.vertices.min(axis=0) + solid.mesh.vertices.max(axis=0))
        return self._page.scene.add_label(
            f"{self._root}/{solid.track}/picked", text, position=middle
        )

    def set_beside(self, offset: FloatArray, opacity: float | None) -> None:
        """Move everything by a distance, and let it be seen through or not."""
        self._place.position = offset
        for _, node in self._nodes:
            node.opacity = opacity

    def show(self, role: str, *, visible: bool) -> None:
        """Hide or show all of a role; what belongs to the ground goes with the joints."""
        nodes = [n for r, n in self._solids if r == role or (role, r) == ("joint", "ground")]
        nodes += {"trace": self._traces, "name": self._names}.get(role, [])
        nodes += [self._arrows[role]] if role in self._arrows else []
        for node in nodes:
            node.visible = visible

    def place(self, t: float, scale: float = 1.0) -> None:
        """Move all nodes to a time; arrows are `scale` times as long as usual."""
        scene = self.scene
        i, w = between(scene.times, t)
        j = min(i + 1, len(scene.times) - 1)

        def mixed(values: FloatArray) -> FloatArray:
            return (1.0 - w) * values[i] + w * values[j]

        for node, track, u in zip(self._frames, scene.tracks, self._quaternions, strict=True):
            node.position = mixed(track.position)
            before, after = u[i], u[j] if u[i] @ u[j] >= 0.0 else -u[j]
            turned = (1.0 - w) * before + w * after
            node.wxyz = turned / np.linalg.norm(turned)
        for node, line in zip(self._lines, scene.lines, strict=True):
            ends = mixed(line.start), mixed(line.end)
            node.points = _segments(line_points(scene, line.role, *ends))
        for role, node in self._arrows.items():
            own = [a for a in scene.arrows if a.role == role]
            tails = np.array([mixed(a.point) for a in own])
            tips = tails + scale * self.newton * np.array([mixed(a.force) for a in own])
            node.points = np.stack([tails, tips], axis=1).astype(np.float32)

    def position(self, track: int, t: float) -> FloatArray:
        """Where a track is at a time."""
        i, w = between(self.scene.times, t)
        where = self.scene.tracks[track].position
        return (1.0 - w) * where[i] + w * where[min(i + 1, len(where) - 1)]

    def follow_on(self, scene: Scene) -> None:
        """Take a scene of the same things at other times."""
        self.newton = min(self.newton, scene.newton)
        self.scene = scene
        self._quaternions = [_quaternions(track.rotation) for track in scene.tracks]
        for node, trace in zip(self._traces, scene.traces, strict=True):
            node.points = _segments(trace.points)

    def remove(self) -> None:
        """Take all nodes from the page."""
        self._page.scene.remove_by_name(self._root)


def set_stage(page: Any, root: str, scene: Scene) -> None:
    """The same first view as in pictures, on a floor."""
    camera = camera_of(scene)
    away = 0.5 * DISTANCE * max(camera.radius, 0.3 * scene.size) * camera.axes[2]
    page.scene.set_up_direction(tuple(scene.up.tolist()))
    page.initial_camera.look_at = scene.center
    page.initial_camera.position = scene.center + away
    page.on_client_connect(lambda client: _stand_back(client, scene.center, away))
    _light(page, scene, camera)
    low = float((scene.cloud @ scene.up).min())
    middle = scene.center + (low - scene.center @ scene.up) * scene.up
    reach = 6.0 * scene.radius
    axis = int(np.argmax(np.abs(scene.up)))
    page.scene.add_grid(
        f"{root}/floor",
        width=reach,
        height=reach,
        plane=PLANES[axis],
        cell_size=reach / 60.0,
        section_size=reach / 12.0,
        cell_color=FLOOR_COLOR,
        section_color=FLOOR_COLOR,
        cell_thickness=0.5,
        section_thickness=1.2,
        position=middle,
    )


def _stand_back(client: Any, center: FloatArray, away: FloatArray) -> None:
    """On a screen that is much higher than wide, look from as far as the width needs.

    Parameters
    ----------
    away : from the center to the eye where the screen is wide.
    """
    aspect = client.camera.aspect
    if aspect < FREE:
        with client.atomic():
            client.camera.position = center + FREE / aspect * away
            client.camera.look_at = center


def _light(page: Any, scene: Scene, camera: Camera) -> None:
    """Light from the sky and from behind the eye, in which colours stay what they are."""
    add, (right, _, towards) = page.scene, camera.axes
    add.configure_default_lights(enabled=False)
    add.configure_environment_map(None)
    add.add_light_hemisphere("/lights/sky", intensity=SKY, position=tuple(scene.up.tolist()))
    for name, strength, side in (
        ("sun", SUN, scene.up + 0.5 * towards - 0.45 * right),
        ("lamp", LAMP, towards),
    ):
        place = tuple((scene.center + 4.0 * scene.radius * side).tolist())
        add.add_light_directional(
            f"/lights/{name}", intensity=strength, position=place, cast_shadow=name == "sun"
        )


def between(times: FloatArray, t: float) -> tuple[int, float]:
    """Frame before a time, and how far it is to the next."""
    if len(times) < 2:
        return 0, 0.0
    i = int(np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2))
    span = times[i + 1] - times[i]
    return i, float(np.clip((t - times[i]) / span, 0.0, 1.0)) if span > 0.0 else 0.0


def _quaternions(rotations: FloatArray) -> FloatArray:
    return np.array([from_rotation_matrix(R) for R in rotations])


def _segments(points: FloatArray) -> np.ndarray:
    """A polygon as pieces, shape (n − 1, 2, 3)."""
    if len(points) < 2:
        points = np.repeat(points, 2, axis=0)
    return np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)


def _linear(color: tuple[int, int, int]) -> tuple[int, int, int]:
    """A colour for arrows, which viser takes for shares of light and not for sRGB."""
    red, green, blue = (
        round(255 * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4))
        for c in (part / 255 for part in color)
    )
    return red, green, blue


def _bytes(color: str) -> tuple[int, int, int]:
    red, green, blue = (round(255 * c) for c in rgb(color))
    return red, green, blue
