"""The page in three dimensions: a mechanism to rotate, play and scrub, in any browser."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from zwang.errors import InputError, UnknownNameError, ZwangError
from zwang.results.mechanism_run import parts_of
from zwang.results.run import Run
from zwang.state import State
from zwang.tracing.event import Watched
from zwang.view.camera import Camera, camera_of
from zwang.view.channels import single
from zwang.view.live import Limits, Live, cut, joined, slider_limits
from zwang.view.nodes import Drawn, set_stage
from zwang.view.page_charts import Charts
from zwang.view.page_recording import recorded, view_of
from zwang.view.scene import Scene, Solid, scene_of
from zwang.view.server import CHARTS_FOLDER, PageServer

__all__ = ["View", "view"]

#: Pictures, and drawings of charts, a second while playing.
RATE, CHART_RATE = 30.0, 6.0
#: A live motion is computed so many seconds of the wall clock ahead, in spans as long as this.
AHEAD, SPAN = 0.6, 0.2
#: How much is seen of runs that are laid over the first one, for comparison.
OVERLAID = 0.35
#: All nodes are below this one, which moves when the view follows a body.
WORLD = "/world"
#: Things that can be hidden, and what they are called.
SHOWN = {
    "reaction": "reactions",
    "applied": "applied forces",
    "trace": "traces",
    "joint": "joints",
    "name": "names",
}
#: The choice to follow no body.
NOBODY = "nothing"
#: Of buttons: black letters can be read on it.
BRAND = (42, 167, 155)


def view(
    run: Run,
    *others: Run,
    host: str = "127.0.0.1",
    port: int = 8080,
    live: bool | Limits = False,
    events: Mapping[str, Watched] | None = None,
    follow: str | None = None,
    plot: str | Sequence[str] = (),
    beside: bool = False,
    frames: int | None = None,
    start: float | None = None,
    end: float | None = None,
    traces: Sequence[str] | Mapping[str, Any] | None = None,
    forces: bool = True,
) -> View:
    """Serve a page with a run, and others laid over it, and return at once.

    Parameters
    ----------
    host, port : where to listen; this machine alone by default. If the port is taken the next free
        one is used: see `View.address`.
    live : whether the motion goes on beyond the end of the run, computed while it is shown. Names
        with limits, name → (least, largest), get sliders; True chooses them.
    events : of a live motion, as the run was made with.
    follow : a body that the camera goes along with.
    plot : channels drawn from the start; others can be chosen on the page.
    beside : whether the other runs stand beside the first in place of over it.
    frames, start, end, forces : as for `zwang.view.scene.scene_of`.
    traces : the same; the last body by default.
    """
    names = (plot,) if isinstance(plot, str) else tuple(plot)
    for name in names:
        single(run, name)  # refuses an unknown name before a server starts
    sliders = slider_limits(run, wanted=live)
    drawing: dict[str, Any] = {"frames": frames, "start": start, "end": end, "forces": forces}

    def traced(r: Run) -> dict[str, Any]:
        return {**drawing, "traces": _last_body(r) if traces is None else traces}

    motion = None if live is False else Live(run, events or {}, traced(run))
    first = scene_of(run, **traced(run)) if motion is None else motion.begin()
    _track(first, follow)
    scenes = [first, *(scene_of(r, **traced(r)) for r in others)]
    page = View(PageServer(host, port), scenes, names, motion, sliders)
    page.follow(follow)
    if beside:
        page.side_by_side(beside=True)
    return page


def _last_body(run: Run) -> list[str]:
    bodies = [b.name for b in parts_of(run).bodies if b.kind.nv > 1]
    return bodies[-1:]


def _track(scene: Scene, body: str | None) -> int | None:
    """Number of a body's track."""
    names = [track.name for track in scene.tracks]
    if body is None:
        return None
    if body not in names[1:]:
        raise UnknownNameError("body to follow", body, names[1:])
    return names.index(body)


class View:
    """A page that is being served.

    Attributes
    ----------
    t : time that is shown [s]; `seek` changes it.
    start, end : of what there is to see; a live motion moves the end on.
    playing : whether time runs.
    speed : seconds of the motion in one on the wall.
    """

    def __init__(
        self,
        server: PageServer,
        scenes: Sequence[Scene],
        plot: Sequence[str] = (),
        live: Live | None = None,
        sliders: Limits | None = None,
    ) -> None:
        self.server = server
        self._page = server.viser
        self._live, self._over = live, False
        # What is shown changes under the one, what is computed under the other, taken first.
        self._lock, self._work = threading.RLock(), threading.RLock()
        self._stopped = threading.Event()
        self.start = min(float(s.times[0]) for s in scenes)
        self.end = max(float(s.times[-1]) for s in scenes)
        self.t, self.playing, self.speed = self.start, False, 1.0
        self._scale, self._grown = 1.0, 0.0
        self._followed: int | None = None
        self._home = np.zeros(3)
        self._hidden: set[str] = {"name"}
        self._picked: tuple[Solid, Any] | None = None
        self._started = False
        self._side: Any = None
        self._world = self._page.scene.add_frame(WORLD, show_axes=False)
        self._drawn = [self._draw(k, scene) for k, scene in enumerate(scenes)]
        self._share_scale()
        set_stage(self._page, WORLD, scenes[0])
        self._controls(scenes[0], plot, sliders or {})
        self.seek(self.start)
        loops = [self._run] if live is None else [self._run, self._compute]
        self._threads = [threading.Thread(target=loop, daemon=True) for loop in loops]
        for thread in self._threads:
            thread.start()

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
                    drawn.place(self.t, self._scale)
                if self._followed is not None:
                    here = self._drawn[0].position(self._followed, self.t)
                    self._world.position = self._home - here
            self._moment.value = self.t
            if not self.playing or time.perf_counter() - self._grown > 1.0 / CHART_RATE:
                self._grow()

    def play(self) -> None:
        """Let time run; from the start again when it is at the end, unless the motion is live."""
        if self.t >= self.end and self._live is None:
            self.seek(self.start)
        self.playing = True
        self._button.label = "Pause"

    def play_when_seen(self) -> None:
        """Let time run as soon as somebody opens the page, and stand still when nobody looks."""

        def opened(_: Any) -> None:
            if not self._started:
                self._started = True
                self.play()

        def closed(_: Any) -> None:
            if not self._page.get_clients():
                self.pause()
                self._started = False

        self._page.on_client_connect(opened)
        self._page.on_client_disconnect(closed)

    def side_by_side(self, *, beside: bool) -> None:
        """Put the other runs beside the first, or over it again."""
        first = self._drawn[0].scene
        right = camera_of(first).axes[0]
        step = 1.25 * float(np.ptp(first.cloud @ right)) * right
        middle = 0.5 * (len(self._drawn) - 1)
        with self._lock:
            for k, drawn in enumerate(self._drawn):
                through = OVERLAID if k and not beside else None
                drawn.set_beside((k - middle) * step if beside else 0.0 * step, through)
            if self._side is not None:
                self._side.value = beside

    def record(self, camera: Camera | None = None) -> bytes:
        """A video of the first run as an MP4 file, from a camera or as it was first seen."""
        scene = self._drawn[0].scene
        return recorded(scene, camera_of(scene) if camera is None else camera, self.speed)

    def pause(self) -> None:
        """Let time stand still."""
        self.playing = False
        self._button.label = "Play"

    def follow(self, body: str | None) -> None:
        """Let the camera go along with a body, or with None stand still again."""
        with self._lock:
            self._followed = _track(self._drawn[0].scene, body)
            self._world.position = np.zeros(3)
            if self._followed is not None:
                self._home = self._drawn[0].position(self._followed, self.t)
            self._follow_menu.value = body or NOBODY

    def restart(self) -> None:
        """Begin a live motion again, with the parameters of now; else go to the start."""
        if self._live is None:
            self.seek(self.start)
            return
        with self._work:
            frame = self._live.again()
            with self._lock:
                self._begin_at(frame, frame)

    def set_parameters(self, values: Mapping[str, float]) -> None:
        """Let a live motion go on from the time that is shown with other values of parameters."""
        if self._live is None:
            raise InputError(
                "set_parameters",
                must="be called on a live page",
                but="this page shows a finished run",
                advice="run.view(live=True) makes one.",
            )
        with self._work:
            past = self._drawn[0].scene
            last = max(int(np.searchsorted(past.times, self.t, side="right")), 1)
            past = cut(past, 0, last)
            state = State(past.run.q[-1], past.run.v[-1], float(past.times[-1]))
            frame = self._live.change(values, state)
            with self._lock:
                self._begin_at(joined(past, frame), frame)

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
            for thread in self._threads:
                thread.join(timeout=5.0)
            self.server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- drawing ----------------------------------------------------------------------------------

    def _draw(self, k: int, scene: Scene) -> Drawn:
        drawn = Drawn(self._page, f"{WORLD}/run{k}", scene, OVERLAID if k else None)
        for role in self._hidden:
            drawn.show(role, visible=False)
        drawn.on_pick(self._pick)
        self._picked = None
        return drawn

    def _share_scale(self) -> None:
        """Let arrows of all runs have one scale, so that they can be compared."""
        own = [drawn.newton for drawn in self._drawn if drawn.scene.arrows]
        newton = min(own, default=self._drawn[0].newton)
        for drawn in self._drawn:
            drawn.newton = newton

    def _pick(self, drawn: Drawn, solid: Solid) -> None:
        """Name what is clicked on; a second click takes the name away."""
        with self._lock:
            before, self._picked = self._picked, None
            if before is not None:
                before[1].remove()
            if before is None or before[0] is not solid:
                self._picked = solid, drawn.label(solid)

    # --- controls ---------------------------------------------------------------------------------

    def _controls(self, scene: Scene, plot: Sequence[str], sliders: Limits) -> None:
        gui = self._page.gui
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND)
        gui.set_panel_label("Zwang")
        self._button = gui.add_button("Play")
        self._button.on_click(lambda _: self.pause() if self.playing else self.play())
        if self._live is not None:
            gui.add_button("Restart").on_click(lambda _: self._try(self.restart))
        span = max(self.end - self.start, 1e-9)
        self._moment = gui.add_slider(
            "t [s]", self.start, self.start + span, span / 1000, self.start
        )
        self._moment.on_update(self._scrubbed)
        for name, limits in sliders.items():
            self._slider(name, *limits)
        self._told = gui.add_markdown("")
        # Folded: on a phone what is open here lies over the mechanism.
        with gui.add_folder("view, forces", expand_by_default=False):
            self._ways_to_look(scene)
        for note in scene.notes:
            gui.add_markdown(note)
        self._chart_controls(scene, plot)

    def _ways_to_look(self, scene: Scene) -> None:
        """Pace, what the camera follows, what is hidden, and the scale of arrows."""
        gui = self._page.gui
        speeds = ("0.05", "0.1", "0.25", "0.5", "1", "2", "5")
        speed = gui.add_dropdown("speed", speeds, initial_value="1")
        speed.on_update(lambda _: setattr(self, "speed", float(speed.value)))
        bodies = [track.name for track in scene.tracks[1:]]
        self._follow_menu = gui.add_dropdown("follow", (NOBODY, *bodies), initial_value=NOBODY)
        self._follow_menu.on_update(self._follow_chosen)
        present = set.union(*(drawn.roles for drawn in self._drawn))
        for role, label in SHOWN.items():
            if role in present:
                box = gui.add_checkbox(label, initial_value=role not in self._hidden)
                box.on_update(lambda _, role=role, box=box: self._show(role, visible=box.value))
        if scene.arrows:
            scale = gui.add_slider("arrows, 10^", -1.5, 1.5, 0.05, 0.0)
            self._legend = gui.add_markdown("")
            scale.on_update(lambda _: self._rescale(10.0**scale.value))
            self._tell_scale()
            if any(a.open for a in scene.arrows):
                gui.add_markdown("Orange: the motion does not determine this reaction.")
        if len(self._drawn) > 1:
            side = self._side = gui.add_checkbox("side by side", initial_value=False)
            side.on_update(self._side_chosen)
        gui.add_button("Record video").on_click(lambda event: self._try(self._send, event))

    def _chart_controls(self, scene: Scene, plot: Sequence[str]) -> None:
        """Charts, and the menu of what the first one shows."""
        gui = self._page.gui
        names = tuple(scene.run.channels)
        first = plot[0] if plot else next((n for n in names if ".angle" in n), names[0])
        folder = gui.add_folder(CHARTS_FOLDER, expand_by_default=bool(plot))
        with folder:
            menu = gui.add_dropdown("plot", names, initial_value=first)
        runs = [drawn.scene.run for drawn in self._drawn]
        self._charts = Charts(gui, runs, [first, *plot[1:]], folder)
        menu.on_update(lambda _: self._plot(menu.value))
        with folder:
            more, less = gui.add_button("Add chart"), gui.add_button("Remove chart")
        more.on_click(lambda _: self._try(self._charts.add, menu.value))
        less.on_click(lambda _: self._charts.drop())

    def _send(self, event: Any) -> None:
        """Paint what a browser shows, and let it save that."""
        self._told.content = "The video is being painted …"
        client = event.client
        data = self.record(None if client is None else view_of(client))
        if client is not None:
            client.send_file_download("motion.mp4", data)

    def _slider(self, name: str, low: float, high: float) -> None:
        """A slider for a parameter of a live motion."""
        assert self._live is not None
        value = float(np.clip(self._live.parameters[name], low, high))
        slider = self._page.gui.add_slider(name, low, high, (high - low) / 200, value)

        def moved(event: Any) -> None:
            if event.client is not None:  # by hand
                self._try(lambda: self.set_parameters({name: slider.value}))

        slider.on_update(moved)

    def _try(self, action: Callable[..., None], *arguments: Any) -> None:
        """Do what may be impossible, and report that on the page."""
        try:
            action(*arguments)
            self._told.content = ""
        except ZwangError as error:
            self._told.content = f"{error}"

    def _scrubbed(self, event: Any) -> None:
        if event.client is not None:  # moved by hand, not by the clock
            self.pause()
            self.seek(self._moment.value)

    def _side_chosen(self, event: Any) -> None:
        if event.client is not None and self._side is not None:
            self.side_by_side(beside=self._side.value)

    def _follow_chosen(self, event: Any) -> None:
        if event.client is not None:
            self.follow(None if self._follow_menu.value == NOBODY else self._follow_menu.value)

    def _show(self, role: str, *, visible: bool) -> None:
        (self._hidden.discard if visible else self._hidden.add)(role)
        for drawn in self._drawn:
            drawn.show(role, visible=visible)

    def _rescale(self, scale: float) -> None:
        self._scale = scale
        self._tell_scale()
        self.seek(self.t)

    def _tell_scale(self) -> None:
        force = 0.1 * self._drawn[0].scene.size / (self._scale * self._drawn[0].newton)
        length = 0.1 * self._drawn[0].scene.size
        self._legend.content = f"An arrow of {length:.2g} m is {force:.3g} N."

    def _plot(self, name: str) -> None:
        with self._lock:
            try:
                self._charts.choose(name)
            except ZwangError:
                return  # not for this run: the chart stays as it is
            self._grow()

    def _grow(self) -> None:
        self._grown = time.perf_counter()
        self._charts.grow(self.t)

    # --- the clock --------------------------------------------------------------------------------

    def _run(self) -> None:
        """Advance the time while playing, at the pace of the clock on the wall."""
        last = time.perf_counter()
        while not self._stopped.wait(1.0 / RATE):
            now = time.perf_counter()
            if self.playing:
                t = self.t + (now - last) * self.speed
                self.seek(self.start if t >= self.end and self._live is None else t)
            last = now

    # --- live -------------------------------------------------------------------------------------

    def _compute(self) -> None:
        """Keep a live motion a little ahead of the time that is shown."""
        assert self._live is not None
        while not self._stopped.wait(1.0 / RATE):
            with self._work:
                if self._over or not self.playing or self.end - self.t > AHEAD * self.speed:
                    continue
                try:
                    news = self._live.go_on(SPAN * self.speed)
                except ZwangError as error:
                    self._told.content, self._over = f"{error}", True
                    continue
                scene = joined(self._drawn[0].scene, news)
                with self._lock:
                    self._drawn[0].follow_on(scene)
                    self._share_scale()
                    self._charts.follow_on(scene.run, news.run)
                    self._set_times()

    def _begin_at(self, scene: Scene, frame: Scene) -> None:
        """Show another past of a live motion, and go on from its last frame."""
        self._drawn[0].remove()
        self._drawn[0] = self._draw(0, scene)
        self._share_scale()
        known = len(scene.times) if scene is not frame else 0
        self._charts.begin_again(scene.run, known)
        self._over = False
        self._set_times()
        self.seek(float(scene.times[-1]))

    def _set_times(self) -> None:
        times = self._drawn[0].scene.times
        others = [drawn.scene.times for drawn in self._drawn[1:]]
        self.start = float(min(times[0], *(t[0] for t in others)) if others else times[0])
        self.end = float(times[-1])
        self._moment.min, self._moment.max = self.start, max(self.end, self.start + 1e-9)
        if hasattr(self, "_legend"):
            self._tell_scale()
