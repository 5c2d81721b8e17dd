"""Pictures of systems of functions: coordinates that are named as positions of points.

A system knows no bodies, but its coordinates often are x and y of something: ``x, y``,
``x1, y1, x2, y2``, ``x_a, z_a`` or ``cart.x``. Those are drawn as balls with traces.
"""

from __future__ import annotations

import re
from itertools import product

import numpy as np

from zwang.errors import InputError
from zwang.results.resample import at_times
from zwang.results.run import Run
from zwang.terms import EPSILON, FloatArray
from zwang.view.grounds import Track
from zwang.view.meshes import ball
from zwang.view.scene import Scene, Trace, frame_times
from zwang.view.solids import COLORS, Solid

__all__ = ["named_points", "point_scene", "scene_of_points"]

#: ``x``, ``x1``, ``x_a``, ``x[0]``; or the letter last, ``cart.x``, ``cart_x``.
_FIRST = re.compile(r"^([xyz])([_\d].*|\[\d+\])?$")
_LAST = re.compile(r"^(.+)[._]([xyz])$")
#: Radius of a ball against what it travels through.
BALL = 0.03
#: Step of the differences of a potential, and the part of its rise along an axis that is gravity.
STEP, ALONG = 1e-4, 0.99
#: Configurations beside a run in which the rise must be the same, to so much of it and so many
#: roundings of the potential.
BESIDE, SAME, ROUNDINGS = 3, 1e-6, 64.0


def named_points(coordinates: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Name of a point → axis → coordinate, for points with at least two of x, y and z."""
    points: dict[str, dict[str, str]] = {}
    for name in coordinates:
        if match := _FIRST.match(name):
            axis, point = match[1], (match[2] or "").strip("_[]")
        elif match := _LAST.match(name):
            axis, point = match[2], match[1]
        else:
            continue
        points.setdefault(point, {})[axis] = name
    return {point: axes for point, axes in points.items() if len(axes) > 1}


def point_scene(
    run: Run, *, frames: int | None = None, start: float | None = None, end: float | None = None
) -> Scene | None:
    """The points of a system as balls; None where no coordinates are named as positions."""
    points = named_points(run.system.coordinates)
    if not points:
        return None
    moving = at_times(run, frame_times(run, frames, start, end))
    count = len(moving.t)
    still = np.broadcast_to(np.eye(3), (count, 3, 3))
    tracks, places = [Track("ground", np.zeros((count, 3)), still)], []
    for point, axes in points.items():
        place = np.zeros((count, 3))
        for axis, name in axes.items():
            place[:, "xyz".index(axis)] = moving[name]
        places.append(place)
        tracks.append(Track(point or "point", place, still))
    flat, upward = _plane(points), _against_gravity(run, points)
    every = np.concatenate(places)
    size = float(np.linalg.norm(np.ptp(every, axis=0))) or 1.0
    names = [track.name for track in tracks[1:]]
    colors = [COLORS[k % len(COLORS)] for k in range(len(names))]
    return Scene(
        moving.t,
        tuple(tracks),
        tuple(
            Solid(name, "body", k + 1, ball(BALL * size), colors[k]) for k, name in enumerate(names)
        ),
        (),
        (),
        tuple(Trace(n, p, c) for n, p, c in zip(names, places, colors, strict=True)),
        upward if upward is not None else _up(points),
        flat,
        size,
        moving,
        labels=(None, *(np.zeros(3) for _ in names)),
        about={f"body {name}": name for name in names},
        grounded=upward is not None,
    )


def scene_of_points(
    run: Run, *, frames: int | None = None, start: float | None = None, end: float | None = None
) -> Scene:
    """The same where a picture must be: without points it is refused."""
    scene = point_scene(run, frames=frames, start=start, end=end)
    if scene is None:
        raise InputError(
            "run",
            must="have something to draw",
            but=f"its coordinates, {', '.join(run.system.coordinates[:6])}, name no points",
            advice="Bodies of a Mechanism are drawn, and coordinates named as x and y.",
        )
    return scene


def _plane(points: dict[str, dict[str, str]]) -> FloatArray | None:
    """Direction from which a plane motion is looked at; None in space."""
    letters = set().union(*points.values())
    if len(letters) > 2:
        return None
    return np.array(
        {"xy": (0.0, 0.0, 1.0), "xz": (0.0, -1.0, 0.0), "yz": (1.0, 0.0, 0.0)}[
            "".join(sorted(letters))
        ]
    )


def _against_gravity(run: Run, points: dict[str, dict[str, str]]) -> FloatArray | None:
    """The axis along which the potential of all points together rises, wherever they are.

    None where there is no potential, or it rises along no axis: what is up is not known then. What
    rises here and not there is a spring or a center of attraction, and no gravity.
    """
    names = run.system.coordinates
    moved = [
        [names.index(axes[axis]) for axes in points.values() if axis in axes] for axis in "xyz"
    ]
    places = _places(run, sorted({k for along in moved for k in along}))
    step, rises, largest = STEP * (1.0 + np.abs(places).max()), [], 0.0
    for q in places:
        ends = np.zeros((3, 2))
        for k, side in product(range(3), (0, 1)):
            there = q.copy()
            there[moved[k]] += (step, -step)[side]
            V = run.system.energy(there, run.v[0], float(run.t[0]), parameters=run.parameters)[1]
            if V is None:
                return None
            ends[k, side] = V
        rises.append(ends[:, 0] - ends[:, 1])
        largest = max(largest, float(np.abs(ends).max()))
    rise = np.mean(rises, axis=0)
    allowed = SAME * np.abs(rise).max() + ROUNDINGS * EPSILON * largest
    rise[~(np.ptp(rises, axis=0) <= allowed)] = 0.0
    size, k = float(np.linalg.norm(rise)), int(np.argmax(np.abs(rise)))
    if not abs(rise[k]) > max(ALONG * size, allowed):
        return None
    return np.sign(rise[k]) * np.eye(3)[k]


def _places(run: Run, moved: list[int]) -> FloatArray:
    """Configurations in which a potential is looked at: some of the run, and some beside it."""
    q = run.q[np.unique(np.linspace(0, len(run) - 1, 3).astype(int))]
    beside = np.repeat(q[:1], BESIDE, axis=0)
    scale = 0.3 * (float(np.abs(run.q[:, moved]).max(initial=0.0)) or 1.0)
    beside[:, moved] += scale * np.cos(np.arange(1.0, 1.0 + BESIDE * len(moved))).reshape(
        BESIDE, -1
    )
    return np.concatenate([q, beside])


def _up(points: dict[str, dict[str, str]]) -> FloatArray:
    return np.eye(3)[2 if any("z" in axes for axes in points.values()) else 1]
