"""A run of a mechanism as something to draw: solids that move, lines, arrows and traces.

All pictures are made from a `Scene`: stills, videos, the report and the page. It holds the poses of
the bodies at evenly spaced times, solids in their axes, and forces at points, in plain arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.diagnosis.passport import Status
from zwang.errors import InputError, UnknownNameError, ZwangError, shown
from zwang.multibody.frozen import Parts
from zwang.multibody.inertia import cross
from zwang.multibody.marker import Joint, Marker
from zwang.multibody.pose import SCALAR
from zwang.results.determined import motion_is_open
from zwang.results.mechanism_run import parts_of
from zwang.results.resample import at_times
from zwang.results.run import Run
from zwang.results.segments import no_state
from zwang.terms import FloatArray
from zwang.view.channels import PASSPORT_ROWS
from zwang.view.forces import Applied, applied_forces
from zwang.view.grounds import Curve, Track, grounds_of
from zwang.view.joints import joint_kind
from zwang.view.solids import (
    COLORS,
    Solid,
    box_around,
    doubtful_scales,
    in_body,
    size_of,
    solids_of,
)

if TYPE_CHECKING:
    from zwang.view.camera import Faces

__all__ = [
    "Arrow",
    "Line",
    "Scene",
    "Solid",
    "Trace",
    "Track",
    "farthest_body",
    "frame_count",
    "scene_of",
    "statuses",
]

#: Frames of an animation unless asked otherwise: ten seconds at 24 a second.
FRAMES = 241
#: Least and most frames of a page, the largest turn of a body between two of them [rad], and how
#: many numbers they may have altogether, some 150 kB.
LEAST_FRAMES, MOST_FRAMES, TURN, ROOM = 49, 2401, 0.25, 90_000
#: The largest arrow against the size of the mechanism, and which force that is: a share of the
#: forces may stick out, so that a blow does not make all others vanish.
ARROW, ARROW_SHARE = 0.3, 0.95
#: No arrow is longer than this against the size of the mechanism: near singular positions forces
#: have no bound.
LONGEST_ARROW = 0.6
#: Where a mechanism travels far, arrows count against this share of half the way.
ARROW_TRAVEL = 0.6

#: A center that moves by less of the size of the mechanism has no path to be seen: it is rounding,
#: or the error of a run.
STAYS = 1e-6

REACTION_COLOR, OPEN_COLOR, APPLIED_COLOR = "#b5303c", "#c77800", "#3d8f4d"


@dataclass(frozen=True)
class Line:
    """A straight line between two moving points, shapes (nf, 3): a link, or a spring."""

    name: str
    role: str
    start: FloatArray
    end: FloatArray


@dataclass(frozen=True)
class Arrow:
    """A force [N] at a moving point, shapes (nf, 3).

    Attributes
    ----------
    role : reaction or applied.
    status : whether the motion determines it, by `zwang.passport`; None where that is not known.
    """

    name: str
    role: str
    point: FloatArray
    force: FloatArray
    status: Status | None = Status.DETERMINATE

    @property
    def open(self) -> bool:
        """Whether the force, or part of it, does not follow from the motion."""
        return self.status in (Status.PARTLY, Status.INDETERMINATE)

    @property
    def color(self) -> str:
        """By what it stands for."""
        if self.role == "applied":
            return APPLIED_COLOR
        return OPEN_COLOR if self.open else REACTION_COLOR


@dataclass(frozen=True)
class Trace:
    """The path of a point, shape (nf, 3)."""

    name: str
    points: FloatArray
    color: str


@dataclass(frozen=True)
class Scene:
    """All there is to draw of a run.

    Attributes
    ----------
    times : of the frames, evenly spaced, shape (nf,).
    tracks : the ground, then the bodies.
    up : direction that is upwards, against gravity.
    normal : of the plane of a planar mechanism, else None.
    size : length of the mechanism at the start [m].
    run : the run, saved at the times of the frames.
    paths : curves fixed in a track, on which points move.
    level : height of the ground where something rolls on it, along `up`; None elsewhere.
    labels : where the name of each track is written, in its axes; None for what is no body.
    grounded : whether it is known what is up, so that there is a floor.
    about : what is said of a body or joint when it is clicked, ``"body rod"`` → words.
    notes : sentences on what could not be drawn.
    """

    times: FloatArray
    tracks: tuple[Track, ...]
    solids: tuple[Solid, ...]
    lines: tuple[Line, ...]
    arrows: tuple[Arrow, ...]
    traces: tuple[Trace, ...]
    up: FloatArray
    normal: FloatArray | None
    size: float
    run: Run = field(repr=False)
    notes: tuple[str, ...] = ()
    paths: tuple[Curve, ...] = ()
    level: float | None = None
    labels: tuple[FloatArray | None, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)
    grounded: bool = True

    @cached_property
    def faces(self) -> Faces:
        """The faces of all solids as arrays."""
        from zwang.view.camera import faces_of

        return faces_of(self)

    @cached_property
    def cloud(self) -> FloatArray:
        """Points that a picture should hold: corners of what encloses each solid, all frames."""
        every = np.concatenate([np.zeros((0, 3)), *self._corners])
        return every if len(every) else 0.5 * np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])

    @cached_property
    def _corners(self) -> list[FloatArray]:
        """The same one by one, (nf, 3) each."""
        points: list[FloatArray] = []
        for solid in self.solids:
            track = self.tracks[solid.track]
            points += [track.points(corner) for corner in box_around(solid.mesh.vertices)]
        return points + [end for line in self.lines for end in (line.start, line.end)]

    def still(self, frame: int) -> FloatArray:
        """Points that a picture of one frame should hold: solids and arrows there, all traces."""
        if not self._corners:
            return self.cloud
        paths = [*self._corners, *np.split(self.arrow_tips, max(len(self.arrows), 1))]
        there = [path[min(frame, len(path) - 1)][None] for path in paths if len(path)]
        return np.concatenate([*there, *(trace.points for trace in self.traces)])

    @cached_property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest corner of the space that the mechanism goes through."""
        return self.cloud.min(axis=0), self.cloud.max(axis=0)

    @property
    def center(self) -> FloatArray:
        """Middle of the bounds."""
        return 0.5 * (self.bounds[0] + self.bounds[1])

    @property
    def radius(self) -> float:
        """Half the diagonal of the bounds."""
        low, high = self.bounds
        return float(0.5 * np.linalg.norm(high - low)) or 0.5

    @cached_property
    def newton(self) -> float:
        """Length of an arrow for a force of one newton [m/N]."""
        sizes = [np.linalg.norm(a.force, axis=1) for a in self.arrows]
        every = np.concatenate([np.zeros(0), *sizes])
        largest = float(np.quantile(every, ARROW_SHARE, method="higher")) if every.size else 0.0
        return ARROW * self._reach / largest if largest > 0.0 else 1.0

    @property
    def _reach(self) -> float:
        """Length against which arrows are drawn: of the mechanism, or of its travel."""
        return max(self.size, ARROW_TRAVEL * self.radius)

    @property
    def longest_arrow(self) -> float:
        """Length at which arrows are cut [m]."""
        return LONGEST_ARROW * self._reach

    def arrow_tip(self, arrow: Arrow, frame: int) -> FloatArray:
        """Where an arrow ends in a frame, not too far from where it begins."""
        d = self.newton * arrow.force[frame]
        length = float(np.linalg.norm(d))
        return arrow.point[frame] + d * min(1.0, self.longest_arrow / max(length, 1e-300))

    @cached_property
    def arrow_tips(self) -> FloatArray:
        """Ends of all arrows, for which a picture has room unless they are exceptionally long."""
        most = ARROW * self._reach
        tips = [np.zeros((0, 3))]
        for arrow in self.arrows:
            d = self.newton * arrow.force
            length = np.linalg.norm(d, axis=1, keepdims=True)
            tips.append(arrow.point + d * np.minimum(1.0, most / np.maximum(length, 1e-300)))
        return np.concatenate(tips)

    @cached_property
    def ground_level(self) -> float:
        """Height of the ground along `up`: that of a plane to roll on, else below everything."""
        return float((self.cloud @ self.up).min()) if self.level is None else self.level


def frame_times(run: Run, frames: int | None, start: float | None, end: float | None) -> FloatArray:
    """Evenly spaced times within a run."""
    if not len(run):
        raise no_state()
    count = FRAMES if frames is None else frames
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InputError("frames", found=shown(frames), expected="a positive whole number")
    first = float(run.t[0]) if start is None else float(start)
    last = float(run.t[-1]) if end is None else float(end)
    if not run.t[0] <= first <= last <= run.t[-1]:
        raise InputError(
            "times to draw",
            expected=f"from {run.t[0]:g} to {run.t[-1]:g} s, as simulated",
            found=f"from {first:g} to {last:g} s",
        )
    return np.linspace(first, last, count if last > first else 1)


def frame_count(run: Run) -> int:
    """Frames that show a motion as it is, in a page that stays small.

    `FRAMES`, and more where a body would turn by more than `TURN` from one to the next, as far as
    `ROOM` numbers of 16 bits allow.
    """
    if not len(run):
        raise no_state()
    parts = parts_of(run)
    moving = [b for b in parts.bodies if b.kind is not SCALAR]
    duration = float(run.t[-1] - run.t[0])
    fastest = 0.0
    if duration > 0.0:
        every = slice(None, None, max(len(run) // 500, 1))
        rates = [np.abs(run.body(b.name).angular_velocity[every]).max(initial=0.0) for b in moving]
        fastest = max([0.0, *map(float, rates)])
    wanted = max(FRAMES, int(np.ceil(duration * fastest / TURN * (1.0 - 1e-9))) + 1)
    width = 7 * len(moving) + 6 * (len(parts.joints) + len(parts.forces)) or 1
    return int(min(wanted, max(ROOM // width, LEAST_FRAMES), MOST_FRAMES))


def farthest_body(run: Run) -> list[str]:
    """The body that gets about most, to leave a trace unless asked otherwise; none if all stay."""
    parts = parts_of(run)
    moved = {
        b.name: float(np.ptp(run.body(b.name).center, axis=0).max())
        for b in parts.bodies
        if b.kind is not SCALAR
    }
    farthest = max(moved, key=lambda name: moved[name], default=None)
    return [] if farthest is None or moved[farthest] <= STAYS * size_of(parts) else [farthest]


def scene_of(
    run: Run,
    *,
    frames: int | None = None,
    start: float | None = None,
    end: float | None = None,
    traces: Sequence[str] | Mapping[str, Any] | None = None,
    forces: bool = True,
    every_force: bool = False,
    known: Mapping[str, Status | None] | None = None,
) -> Scene:
    """The drawing data of a run of a mechanism.

    Parameters
    ----------
    frames : how many, evenly spaced from `start` to `end`, by default from begin to end of the run.
    traces : bodies whose centre of mass leaves a trace, or body → point of it; none by default.
    forces : whether reactions and applied forces are computed.
    every_force : whether forces that are zero all the time are among them.
    known : joint → how much of its reaction is determinate, where that has been asked before.
    """
    parts = as_simulated(run)
    moving = at_times(run, frame_times(run, frames, start, end))
    count = len(moving.t)
    still = np.broadcast_to(np.eye(3), (count, 3, 3))
    tracks = [Track("ground", np.zeros((count, 3)), still)]
    for body in parts.bodies:
        if body.kind is SCALAR:
            tracks.append(Track(body.name, np.zeros((count, 3)), still))
        else:
            motion = moving.body(body.name)
            tracks.append(Track(body.name, motion.position, motion.rotation))
    size = size_of(parts)
    g = parts.gravity
    plane = parts.kind.plane
    normal = None if plane is None else np.eye(3)[plane[2]]
    up = -g / np.linalg.norm(g) if np.any(g) else np.eye(3)[2 if plane is None else plane[1]]
    ground = grounds_of(parts, tracks, up, size)
    applied = applied_forces(moving, parts, evaluate=forces)
    lines = [*_links(parts, tracks), *_springs(applied)]
    arrows, notes = _applied(applied, every=every_force), doubtful_scales(parts)
    if forces:
        try:
            arrows += _reactions(moving, parts, known, every=every_force)
        except ZwangError as error:
            notes = (*notes, f"reactions are not drawn: {error}")
    return Scene(
        moving.t,
        tuple(tracks),
        (*solids_of(parts, size), *ground.solids),
        tuple(lines),
        tuple(arrows),
        tuple(_traces(parts, tracks, traces)),
        up,
        _towards_viewer(parts, normal),
        size,
        moving,
        notes,
        ground.paths,
        ground.level,
        (None, *(None if b.kind is SCALAR else b.inertia.center for b in parts.bodies)),
        _about(parts),
    )


def _about(parts: Parts) -> dict[str, str]:
    about = {f"body {b.name}": f"body {b.name}" for b in parts.bodies}
    joints = parts.joints.values()
    return about | {f"joint {j.name}": f"{j.name}: {joint_kind(parts, j)}" for j in joints}


def as_simulated(run: Run) -> Parts:
    """The mechanism of a run, its joints where the parameters of the run have them."""
    parts: Parts = parts_of(run)
    joints = {}
    for name, joint in parts.joints.items():
        moved = joint
        for side in "ab":
            marker: Marker | None = getattr(joint, side)
            at = run.parameters.get(f"{joint.elements[0]}.at_{side}")
            if marker is not None and at is not None:
                arm = marker.arm.copy()
                arm[list(range(3) if parts.kind.plane is None else parts.kind.plane[:2])] = at
                moved = replace(moved, **{side: replace(marker, arm=arm)})
        joints[name] = moved
    return replace(parts, joints=joints)


def _towards_viewer(parts: Parts, normal: FloatArray | None) -> FloatArray | None:
    """The normal on the side from which the plane's first axis points to the right."""
    if normal is None or parts.kind.plane is None:
        return None
    a, b, _ = parts.kind.plane
    right, upwards = np.eye(3)[a], np.eye(3)[b]
    return cross(right, upwards)


# --- lines, arrows, traces ------------------------------------------------------------------------


def _links(parts: Parts, tracks: list[Track]) -> list[Line]:
    """Massless links, which are joints with a length."""
    links = []
    for joint in parts.joints.values():
        if joint.kind is None or not joint.kind.name.endswith("link"):
            continue
        if joint.a is not None and joint.b is not None:
            ends = [tracks[m.body + 1].points(in_body(parts, m)) for m in (joint.a, joint.b)]
            links.append(Line(joint.name, "link", ends[0], ends[1]))
    return links


def _springs(applied: Sequence[Applied]) -> list[Line]:
    return [Line(a.name, "spring", a.start, a.point) for a in applied if a.start is not None]


def _applied(applied: Sequence[Applied], *, every: bool) -> list[Arrow]:
    return [
        Arrow(a.name, "applied", a.point, a.force)
        for a in applied
        if a.force is not None and (every or np.any(a.force))
    ]


def _reactions(
    run: Run, parts: Parts, known: Mapping[str, Status | None] | None, *, every: bool
) -> list[Arrow]:
    known = statuses(run) if known is None else known
    arrows = []
    for joint in parts.joints.values():
        if joint.a is None or joint.b is None:
            continue
        reaction = run.reaction(joint.name)
        if every or np.any(reaction.force):
            arrows.append(
                Arrow(joint.name, "reaction", reaction.point, reaction.force, known[joint.name])
            )
    return arrows


def statuses(run: Run) -> dict[str, Status | None]:
    """Joint → how much of its reaction the motion determines, at its worst.

    Asked at the beginning of each segment between events and in the middle of the run: rank, and
    with it determinacy, changes at singular configurations alone. None where the mechanism is too
    large.
    """
    joints: Mapping[str, Joint] = parts_of(run).joints
    if motion_is_open(run):
        return dict.fromkeys(joints, Status.INDETERMINATE)
    rows = sum(len(rows) for rows in run.system.groups.values())
    if rows > PASSPORT_ROWS:
        return dict.fromkeys(joints)
    order = [Status.DETERMINATE, Status.PARTLY, Status.INDETERMINATE]
    worst = dict.fromkeys(joints, 0)
    for i in sorted({s.first for s in run.segments} | {len(run.t) // 2}):
        segment = next(s for s in run.segments if s.first <= i < s.last)
        try:
            passport = segment.system.passport(
                run.q[i], run.v[i], float(run.t[i]), parameters=segment.parameters
            )
        except ZwangError:
            return dict.fromkeys(joints)  # no unique motion there: nothing is known
        for name in joints:
            if name in passport.groups:
                status = passport.groups[name].status
                worst[name] = max(worst[name], order.index(status))
    return {name: order[k] for name, k in worst.items()}


def _traces(
    parts: Parts, tracks: list[Track], wanted: Sequence[str] | Mapping[str, Any] | None
) -> list[Trace]:
    bodies = {b.name: b for b in parts.bodies if b.kind is not SCALAR}
    chosen = {} if wanted is None else wanted
    if isinstance(chosen, str):
        chosen = [chosen]
    if not isinstance(chosen, Mapping):
        chosen = dict.fromkeys(chosen)
    found = []
    for name, local in chosen.items():
        if name not in bodies:
            raise UnknownNameError("body to trace", name, bodies)
        body = bodies[name]
        point = body.inertia.center if local is None else np.asarray(local, dtype=float)
        if point.shape == (2,) and parts.kind.plane is not None:
            point = np.insert(point, parts.kind.plane[2], 0.0)
        if point.shape != (3,) or not np.isfinite(point).all():
            raise InputError(
                f"trace of {name!r}",
                found=shown(local),
                expected="a point, three numbers, or two in a plane",
            )
        color = COLORS[body.index % len(COLORS)]
        found.append(Trace(name, tracks[body.index + 1].points(point), color))
    return found
