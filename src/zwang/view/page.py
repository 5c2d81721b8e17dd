"""The page in three dimensions: a mechanism to turn, play and scrub, in any browser."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np

from zwang.errors import InputError, UnknownNameError, ZwangError, shown
from zwang.rotation.quaternion import from_rotation_matrix
from zwang.run.run import Run
from zwang.terms import FloatArray
from zwang.view.camera import DISTANCE, camera_of, line_points, rgb
from zwang.view.channels import channel_names, single
from zwang.view.scene import Scene, scene_of
from zwang.view.server import PageServer

__all__ = ["View", "view"]

#: Pictures, and drawings of charts, a second while playing.
RATE, CHART_RATE = 30.0, 6.0
#: How much is seen of runs that are laid over the first one, for comparison.
OVERLAID = 0.35
#: Plane across each axis, for the floor.
PLANES: tuple[Literal["yz"], Literal["xz"], Literal["xy"]] = ("yz", "xz", "xy")
#: Things that can be hidden, and what they are called.
SHOWN = {
    "reaction": "reactions",
    "applied": "applied forces",
    "trace": "traces",
    "joint": "joints",
}


def view(
    run: Run,
    *others: Run,
    host: str = "127.0.0.1",
    port: int = 8080,
    live: Mapping[str, tuple[float, float]] | None = None,
    plot: str | Sequence[str] = (),
    **drawing: Any,
) -> View:
    """Serve a page with a run, and others laid over it, and return at once.

    Parameters
    ----------
    host, port : where to listen; this machine alone by default. If the port is taken the next free
        one is used: `View.address` tells.
    live : parameters to get a slider, name → (least, largest); the run is made anew when one moves.
    plot : channels drawn from the start; others can be chosen on the page.
    drawing : `frames`, `start`, `end`, `traces`, as for `zwang.view.scene.scene_of`.
    """
    names = (plot,) if isinstance(plot, str) else tuple(plot)
    for name in names:
        single(run, name)  # tells an unknown name before a server starts
    _require_live(run, live or {})
    scenes = [scene_of(r, **{"traces": _last_body(r), **drawing}) for r in (run, *others)]
    return View(PageServer(host, port), scenes, names, dict(live or {}), drawing)


def _last_body(run: Run) -> list[str]:
    bodies = [b.name for b in run.system.parts.bodies if b.kind.nv > 1]  # type: ignore[attr-defined]
    return bodies[-1:]


def _require_live(run: Run, live: Mapping[str, tuple[float, float]]) -> None:
    numbers = [k for k, v in run.parameters.items() if np.ndim(v) == 0]
    for name, limits in live.items():
        if name not in numbers:
            raise UnknownNameError("live parameter", name, numbers)
        ends = np.asarray(limits, dtype=float)
        if ends.shape != (2,) or not ends[0] < ends[1]:
            raise InputError(
                f"live parameter {name!r}",
                found=shown(limits),
                expected="the least and the largest value",
            )


@dataclass
class _Drawn:
    """The nodes of one scene on the page."""

    scene: Scene
    frames: list[Any] = field(default_factory=list)
    lines: list[Any] = field(default_factory=list)
    arrows: dict[str, Any] = field(default_factory=dict)
    traces: list[Any] = field(default_factory=list)
    solids: list[tuple[str, Any]] = field(default_factory=list)
    quaternions: list[FloatArray] = field(default_factory=list)


@dataclass
class _Chart:
    """A chart of one channel: times, then its values in all runs."""

    name: str
    curves: tuple[FloatArray, ...]
    node: Any


class View:
    """A page that is being served.

    Attributes
    ----------
    t : time that is shown [s]; `seek` changes it.
    playing : whether time runs.
    """

    def __init__(
        self,
        server: PageServer,
        scenes: Sequence[Scene],
        plot: Sequence[str] = (),
        live: Mapping[str, tuple[float, float]] | None = None,
        drawing: Mapping[str, Any] | None = None,
    ) -> None:
        self.server = server
        self._page = server.viser
        self._drawing = dict(drawing or {})
        self._lock = threading.RLock()
        self._stopped = threading.Event()
        self.start = min(float(s.times[0]) for s in scenes)
        self.end = max(float(s.times[-1]) for s in scenes)
        self.t, self.playing, self.speed = self.start, False, 1.0
        self._scale, self._grown = 1.0, 0.0
        self._charts: list[_Chart] = []
        self._hidden: set[str] = set()
        self._drawn = [self._draw(k, scene) for k, scene in enumerate(scenes)]
        self._look(scenes[0])
        self._controls(scenes[0], plot, live or {})
        self.seek(self.start)
        self._clock = threading.Thread(target=self._run, daemon=True, name="zwang view")
        self._clock.start()

    # --- for users --------------------------------------------------------------------------------

    @property
    def address(self) -> str:
        """Where a browser finds the page."""
        return self.server.address

    def __repr__(self) -> str:
        return f"<View at {self.address}>"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.address}" width="100%" height="560" style="border:0"></iframe>'

    def seek(self, t: float) -> None:
        """Show the mechanism at a time; before the start and after the end are these."""
        with self._lock:
            self.t = float(np.clip(t, self.start, self.end))
            with self._page.atomic():
                for drawn in self._drawn:
                    self._place(drawn)
            self._moment.value = self.t
            if not self.playing or time.perf_counter() - self._grown > 1.0 / CHART_RATE:
                self._grow()

    def play(self) -> None:
        """Let time run; from the start again when it is at the end."""
        if self.t >= self.end:
            self.seek(self.start)
        self.playing = True
        self._button.label = "Pause"

    def pause(self) -> None:
        """Let time stand still."""
        self.playing = False
        self._button.label = "Play"

    def wait(self) -> None:
        """Serve until Ctrl-C or `close`."""
        try:
            while not self._stopped.wait(0.2):
                pass
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """End the page."""
        if not self._stopped.is_set():
            self._stopped.set()
            self._clock.join(timeout=2.0)
            self.server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- drawing ----------------------------------------------------------------------------------

    def _draw(self, k: int, scene: Scene) -> _Drawn:
        """Put the nodes of a scene on the page."""
        add, drawn, thin = self._page.scene, _Drawn(scene), 0.006 * scene.size
        opacity = None if k == 0 else OVERLAID
        for i, track in enumerate(scene.tracks):
            drawn.frames.append(add.add_frame(f"/run{k}/{i}", show_axes=False))
            drawn.quaternions.append(np.array([from_rotation_matrix(R) for R in track.rotation]))
        for i, solid in enumerate(scene.solids):
            mesh = add.add_mesh_simple(
                f"/run{k}/{solid.track}/solid{i}",
                solid.mesh.vertices.astype(np.float32),
                solid.mesh.triangles,
                color=_bytes(solid.color),
                opacity=opacity,
                flat_shading=True,
            )
            drawn.solids.append((solid.role, mesh))
        for i, line in enumerate(scene.lines):
            points = _segments(line_points(scene, line.role, line.start[0], line.end[0]))
            node = add.add_line_segments(
                f"/run{k}/line{i}", points, (102, 113, 125), thickness=thin
            )
            drawn.lines.append(node)
        for i, trace in enumerate(scene.traces):
            node = add.add_line_segments(
                f"/run{k}/trace{i}",
                _segments(trace.points),
                _bytes(trace.color),
                thickness=0.4 * thin,
            )
            drawn.traces.append(node)
        for role in ("reaction", "applied"):
            own = [a for a in scene.arrows if a.role == role]
            if own:
                drawn.arrows[role] = add.add_arrows(
                    f"/run{k}/{role}",
                    np.zeros((len(own), 2, 3), dtype=np.float32),
                    np.array([_bytes(a.color) for a in own], dtype=np.uint8),
                    shaft_radius=thin,
                    head_radius=2.5 * thin,
                    head_length=6.0 * thin,
                )
        return drawn

    def _place(self, drawn: _Drawn) -> None:
        """Move all nodes of a scene to the present time."""
        scene = drawn.scene
        i, w = _between(scene.times, self.t)
        j = min(i + 1, len(scene.times) - 1)

        def mixed(values: FloatArray) -> FloatArray:
            return (1.0 - w) * values[i] + w * values[j]

        for node, track, u in zip(drawn.frames, scene.tracks, drawn.quaternions, strict=True):
            node.position = mixed(track.position)
            before, after = u[i], u[j] if u[i] @ u[j] >= 0.0 else -u[j]
            turned = (1.0 - w) * before + w * after
            node.wxyz = turned / np.linalg.norm(turned)
        for node, line in zip(drawn.lines, scene.lines, strict=True):
            ends = mixed(line.start), mixed(line.end)
            node.points = _segments(line_points(scene, line.role, *ends))
        for role, node in drawn.arrows.items():
            own = [a for a in scene.arrows if a.role == role]
            tails = np.array([mixed(a.point) for a in own])
            tips = tails + self._scale * scene.newton * np.array([mixed(a.force) for a in own])
            node.points = np.stack([tails, tips], axis=1).astype(np.float32)

    def _look(self, scene: Scene) -> None:
        """The same first view as in pictures, on a floor."""
        camera = camera_of(scene)
        page = self._page
        page.scene.set_up_direction(tuple(scene.up.tolist()))
        page.initial_camera.look_at = scene.center
        page.initial_camera.position = (
            scene.center + 0.5 * DISTANCE * max(camera.radius, 0.3 * scene.size) * camera.axes[2]
        )
        low = float((scene.cloud @ scene.up).min())
        middle = scene.center + (low - scene.center @ scene.up) * scene.up
        reach = 6.0 * scene.radius
        axis = int(np.argmax(np.abs(scene.up)))
        page.scene.add_grid(
            "/floor",
            width=reach,
            height=reach,
            plane=PLANES[axis],
            cell_size=reach / 60.0,
            section_size=reach / 12.0,
            cell_color=(228, 232, 236),
            section_color=(205, 211, 217),
            position=middle,
        )

    # --- controls ---------------------------------------------------------------------------------

    def _controls(
        self, scene: Scene, plot: Sequence[str], live: Mapping[str, tuple[float, float]]
    ) -> None:
        gui = self._page.gui
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(15, 118, 110))
        gui.set_panel_label("Zwang")
        self._button = gui.add_button("Play")
        self._button.on_click(lambda _: self.pause() if self.playing else self.play())
        span = max(self.end - self.start, 1e-9)
        self._moment = gui.add_slider(
            "t [s]", self.start, self.start + span, span / 1000, self.start
        )
        self._moment.on_update(self._scrubbed)
        speeds = ("0.05", "0.1", "0.25", "0.5", "1", "2", "5")
        speed = gui.add_dropdown("speed", speeds, initial_value="1")
        speed.on_update(lambda _: setattr(self, "speed", float(speed.value)))
        present = self._present()
        for role, label in SHOWN.items():
            if role in present:
                box = gui.add_checkbox(label, initial_value=True)
                box.on_update(lambda _, role=role, box=box: self._show(role, visible=box.value))
        if scene.arrows:
            scale = gui.add_slider("arrows, 10^", -1.5, 1.5, 0.05, 0.0)
            scale.on_update(lambda _: self._rescale(10.0**scale.value))
            if any(a.open for a in scene.arrows):
                gui.add_markdown("Orange: the motion does not determine this reaction.")
        for note in scene.notes:
            gui.add_markdown(note)
        if live:
            self._live_controls(scene, live)
        self._plots(scene, plot)

    def _present(self) -> set[str]:
        found = {role for d in self._drawn for role in d.arrows}
        found |= {"trace"} if any(d.traces for d in self._drawn) else set()
        return found | {"joint"}

    def _scrubbed(self, event: Any) -> None:
        if event.client is not None:  # moved by hand, not by the clock
            self.pause()
            self.seek(self._moment.value)

    def _show(self, role: str, *, visible: bool) -> None:
        (self._hidden.discard if visible else self._hidden.add)(role)
        for drawn in self._drawn:
            nodes = [n for r, n in drawn.solids if r == role or (role, r) == ("joint", "ground")]
            nodes += drawn.traces if role == "trace" else []
            nodes += [drawn.arrows[role]] if role in drawn.arrows else []
            for node in nodes:
                node.visible = visible

    def _rescale(self, scale: float) -> None:
        self._scale = scale
        self.seek(self.t)

    def _plots(self, scene: Scene, chosen: Sequence[str]) -> None:
        """A chart of a channel that can be chosen, for all runs, and those asked for."""
        gui = self._page.gui
        names = channel_names(scene.run)
        first = chosen[0] if chosen else next((n for n in names if ".angle" in n), names[0])
        menu = gui.add_dropdown("plot", names, initial_value=first)
        self._charts = [self._chart(name) for name in (first, *chosen[1:])]

        def choose(_: Any) -> None:
            try:
                curves, series = self._series(menu.value)
            except ZwangError:
                return  # not for this run: the chart stays as it is
            chart = self._charts[0]
            with self._lock:
                chart.name, chart.curves, chart.node.series = menu.value, curves, series
                self._grow()

        menu.on_update(choose)

    def _chart(self, name: str) -> _Chart:
        curves, series = self._series(name)
        scales: dict[str, Any] = {"x": {"time": False}}
        shown = (*curves, curves[1])
        return _Chart(
            name, curves, self._page.gui.add_uplot(shown, series, aspect=1.6, scales=scales)
        )

    def _grow(self) -> None:
        """Draw the curve of the first run in bold, as far as it has got."""
        self._grown = time.perf_counter()
        for chart in self._charts:
            times, *curves = chart.curves
            chart.node.data = (*chart.curves, np.where(times <= self.t, curves[0], np.nan))

    def _series(self, name: str) -> tuple[tuple[FloatArray, ...], tuple[Any, ...]]:
        """Times and values of a channel in all runs, at the frames of the first."""
        times = self._drawn[0].scene.times
        found = [single(d.scene.run, name) for d in self._drawn]
        values = [
            np.interp(times, d.scene.times, c.values[:, 0])
            for d, c in zip(self._drawn, found, strict=True)
        ]
        colors = ("#0f766e", "#e08a2c", "#3b7dbd", "#b8579b")
        lines = [
            {
                "label": found[0].label if k == 0 else f"run {k + 1}",
                "stroke": colors[k % len(colors)],
                "width": 2,
            }
            for k in range(len(values))
        ]
        past = {"label": "so far", "stroke": "#1d2630", "width": 3}
        return (times, *values), ({"label": "t [s]"}, *lines, past)

    # --- live -------------------------------------------------------------------------------------

    def _live_controls(self, scene: Scene, live: Mapping[str, tuple[float, float]]) -> None:
        gui = self._page.gui
        run = scene.run
        sliders = {}
        with gui.add_folder("parameters"):
            for name, (low, high) in live.items():
                value = float(np.clip(run.parameters[name], low, high))
                sliders[name] = gui.add_slider(name, low, high, (high - low) / 200, value)
            told = gui.add_markdown("")

        def again(event: Any) -> None:
            if event.client is None:
                return
            try:
                self._simulate(run, {name: s.value for name, s in sliders.items()})
                told.content = ""
            except ZwangError as error:
                told.content = f"{error}"

        for slider in sliders.values():
            slider.on_update(again)

    def _simulate(self, run: Run, values: Mapping[str, float]) -> None:
        """Make the first run anew with other parameters, from the nearest possible start."""
        parameters = {**run.parameters, **values}
        system, s = run.system, run.settings
        start = system.assemble(start=run.at(run.t[0]), parameters=parameters)
        anew = system.simulate(
            start,
            until=self.end,
            tolerance=s.tolerance,
            integrator=s.integrator,
            parameters=parameters,
            progress=False,
        )
        scene = scene_of(anew, **{"traces": _last_body(anew), **self._drawing})
        with self._lock:
            self._page.scene.remove_by_name("/run0")
            self._drawn[0] = self._draw(0, scene)
            for chart in self._charts:
                chart.curves, _ = self._series(chart.name)
            for role in self._hidden:
                self._show(role, visible=False)
            self.seek(self.t)

    # --- the clock --------------------------------------------------------------------------------

    def _run(self) -> None:
        """Advance the time while playing, at the pace of the clock on the wall."""
        last = time.perf_counter()
        while not self._stopped.wait(1.0 / RATE):
            now = time.perf_counter()
            if self.playing:
                t = self.t + (now - last) * self.speed
                self.seek(t if t < self.end else self.start)
            last = now


def _between(times: FloatArray, t: float) -> tuple[int, float]:
    """Frame before a time, and how far it is to the next."""
    i = int(np.clip(np.searchsorted(times, t, side="right") - 1, 0, max(len(times) - 2, 0)))
    if len(times) < 2:
        return 0, 0.0
    return i, float(np.clip((t - times[i]) / (times[i + 1] - times[i]), 0.0, 1.0))


def _segments(points: FloatArray) -> np.ndarray:
    """A polygon as pieces, shape (n − 1, 2, 3)."""
    if len(points) < 2:
        points = np.repeat(points, 2, axis=0)
    return np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)


def _bytes(color: str) -> tuple[int, int, int]:
    red, green, blue = (round(255 * c) for c in rgb(color))
    return red, green, blue
