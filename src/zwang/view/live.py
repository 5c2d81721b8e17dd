"""A live view: the motion is integrated while it is drawn.

    state ─► simulate a short span ─► frames ─► page
      ▲                                          │ sliders
      └──────── nearest consistent state ◄───────┘

Time loops stay compiled: Python meets them between spans. Parameters are inputs of the compiled
equations, so that moving a slider compiles nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from zwang.errors import InputError, UnknownNameError, shown
from zwang.results.event_rows import changed
from zwang.results.mechanism_run import parts_of
from zwang.results.run import Run
from zwang.results.segments import Segment
from zwang.state import State
from zwang.view.scene import Scene, scene_of, statuses

__all__ = ["Live", "cut", "joined", "slider_limits"]

#: Frames of a span, and of the past that is kept.
SPAN_FRAMES, MOST_FRAMES = 12, 6000
#: What of a scene consists of arrays over frames.
MOVING = ("tracks", "lines", "arrows", "traces")
#: Sliders by default: more would fill the page.
MOST_SLIDERS = 8

Limits = Mapping[str, tuple[float, float]]


class Live:
    """Goes on with a run, span by span.

    Parameters
    ----------
    run : what there is to begin with.
    events : those it was made with.
    drawing : as for `scene_of`.
    """

    def __init__(self, run: Run, events: Mapping[str, Any], drawing: Mapping[str, Any]) -> None:
        self.first, self.events, self.drawing = run, dict(events), dict(drawing)
        choices = {**asdict(run.settings), "progress": False, "events": self.events}
        self._choices = {k: v for k, v in choices.items() if k not in ("until", "stop_saved")}
        self.known = statuses(run)
        self.parameters = dict(run.segments[-1].parameters)
        self._last = run

    def begin(self) -> Scene:
        """The run that there is."""
        return self._scene(self.first, {})

    def again(self) -> Scene:
        """A first frame at the start of the run, with the parameters of now."""
        run, begun = self.first, self.first.segments[0]
        return self._still(State(run.q[0], run.v[0], float(run.t[0])), begun)

    def change(self, values: Mapping[str, float], state: State) -> Scene:
        """A frame near a state, with other values of some parameters."""
        self.parameters |= values
        return self._still(state, self._last.segments[-1])

    def _still(self, state: State, like: Segment) -> Scene:
        """The nearest consistent state, as a run of one frame."""
        found = like.system.assemble(start=state, t=state.t, parameters=self.parameters)
        segment = Segment(0, 1, like.system, dict(self.parameters))
        self._last = changed(
            self.first,
            t=np.array([state.t]),
            q=found.q[None],
            v=found.v[None],
            segments=(segment,),
            events=(),
            ranks=(),
        )
        return self._scene(self._last, {"frames": 1})

    def go_on(self, span: float) -> Scene:
        """The next span of time [s]; the scene begins with the frame that the last one ended with.

        Raises
        ------
        ZwangError
            The motion cannot go on: what stops it, in a sentence.
        """
        last, segment = self._last, self._last.segments[-1]
        state = State(last.q[-1], last.v[-1], float(last.t[-1]))
        system = self.first.system
        inactive = set(system.constraints) - set(segment.system.constraints)
        run = system.simulate(
            state,
            until=state.t + span,
            save=np.linspace(state.t, state.t + span, SPAN_FRAMES),
            parameters=self.parameters,
            inactive=inactive,
            **self._choices,
        )
        if not run.finished or run.t[-1] < state.t + (1.0 - 1e-9) * span:  # an event may stop it
            raise InputError("the motion", must="continue", but=run.status)
        self.parameters = dict(run.segments[-1].parameters)  # events may have changed some
        self._last = run
        return self._scene(run, {"frames": SPAN_FRAMES})

    def _scene(self, run: Run, choices: Mapping[str, Any]) -> Scene:
        drawing = {**self.drawing, **choices}
        return scene_of(run, known=self.known, every_force=True, **drawing)


def joined(first: Scene, second: Scene) -> Scene:
    """Two scenes of the same things; the second begins with the last frame of the first.

    What does not change with time is that of the second. The oldest frames are dropped.
    """
    offset = len(first.times) - 1
    moved = [replace(s, first=s.first + offset, last=s.last + offset) for s in second.run.segments]
    moved[0] = replace(moved[0], first=offset + 1)
    run = changed(
        second.run,
        segments=(*first.run.segments, *(s for s in moved if s.last > s.first)),
        **{k: _both(getattr(first.run, k), getattr(second.run, k)) for k in ("t", "q", "v")},
    )
    times = _both(first.times, second.times)
    whole = replace(second, times=times, size=first.size, notes=first.notes, run=run)
    pairs = {name: zip(getattr(first, name), getattr(second, name), strict=True) for name in MOVING}
    whole = replace(
        whole,
        **{k: tuple(_framewise(b, _both, a) for a, b in both) for k, both in pairs.items()},
    )
    return cut(whole, max(len(times) - MOST_FRAMES, 0), len(times))


def cut(scene: Scene, first: int, last: int) -> Scene:
    """Frames first ≤ i < last of a scene."""
    run = scene.run
    segments = tuple(
        replace(s, first=max(s.first - first, 0), last=min(s.last, last) - first)
        for s in run.segments
        if s.last > first and s.first < last
    )
    states = {k: getattr(run, k)[first:last] for k in ("t", "q", "v")}
    moving = {
        name: tuple(_framewise(x, lambda own: own[first:last]) for x in getattr(scene, name))
        for name in MOVING
    }
    kept = changed(run, segments=segments, **states)
    return replace(scene, times=scene.times[first:last], run=kept, **moving)


def _both(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Frames of the first, then those of the second that are new."""
    return np.concatenate([first, second[1:]])


def _framewise(thing: Any, function: Callable[..., np.ndarray], *before: Any) -> Any:
    """A thing with a function applied to all its arrays over frames."""
    arrays = [f.name for f in fields(thing) if isinstance(getattr(thing, f.name), np.ndarray)]
    values = {k: function(*(getattr(b, k) for b in (*before, thing))) for k in arrays}
    return replace(thing, **values)


def slider_limits(run: Run, *, wanted: bool | Limits) -> dict[str, tuple[float, float]]:
    """Parameter → the least and the largest value of its slider.

    Without a choice: the user's own parameters, else the masses, from a quarter to four times.
    """
    numbers = {k: float(v) for k, v in run.parameters.items() if np.ndim(v) == 0}
    if not isinstance(wanted, Mapping):
        own = parts_of(run).parameters
        names = [k for k in numbers if k in own] or [k for k in numbers if k.endswith(".mass")]
        names = names[:MOST_SLIDERS] if wanted else []
        return {name: _around(numbers[name]) for name in names}
    for name, limits in wanted.items():
        if name not in numbers:
            raise UnknownNameError("live parameter", name, numbers)
        try:
            ends = np.asarray(limits, dtype=float)
        except (TypeError, ValueError):
            ends = np.zeros(0)
        if ends.shape != (2,) or not np.isfinite(ends).all() or not ends[0] < ends[1]:
            raise InputError(
                f"live parameter {name!r}",
                found=shown(limits),
                expected="the least and the largest value",
            )
    return {name: (float(low), float(high)) for name, (low, high) in wanted.items()}


def _around(value: float) -> tuple[float, float]:
    if value == 0.0:
        return -1.0, 1.0
    low, high = sorted((0.25 * value, 4.0 * value))
    return low, high
