"""Runs of mechanisms: motion of bodies, coordinates of joints, reactions at their points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arguments.values import vector
from zwang.caching import computed_once
from zwang.display import Displayed, counted
from zwang.errors import InputError, UnknownNameError, ZwangError
from zwang.multibody.pose import SCALAR
from zwang.multibody.wrench import ended, joint_wrench, pose
from zwang.results.determined import motion_is_open
from zwang.results.forces import StretchForces
from zwang.results.unwrap import followed
from zwang.rotation.quaternion import from_rotation_matrix
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.mechanism import MechanismEquations
    from zwang.multibody.body import Body
    from zwang.multibody.frozen import Parts
    from zwang.multibody.marker import Joint, Marker
    from zwang.results.run import Run
    from zwang.results.segments import Segment
    from zwang.system import System

#: Saved states × (constraint rows)² up to which a reaction that is shown says whether it is
#: determinate: dense decompositions, about a second at this limit.
SHOWN_WORK = 1e6

__all__ = [
    "BodyMotion",
    "Reaction",
    "body_motion",
    "channel",
    "joint_rates",
    "joint_wrenches",
    "parts_of",
    "reaction",
]


@dataclass(frozen=True, repr=False)
class BodyMotion(Displayed):
    """Where a body was at the saved times.

    Attributes
    ----------
    name : of the body.
    position, velocity : of its origin, world axes, shape (nt, 3).
    center : centre of mass, shape (nt, 3).
    rotation : from body to world axes, shape (nt, 3, 3).
    angular_velocity : world axes, shape (nt, 3).
    """

    name: str
    position: FloatArray
    velocity: FloatArray
    center: FloatArray
    rotation: FloatArray
    angular_velocity: FloatArray
    _run: Run = field(repr=False)

    @computed_once
    def angular_acceleration(self) -> FloatArray:
        """World axes, shape (nt, 3)."""
        return self._accelerations[1]

    @computed_once
    def acceleration(self) -> FloatArray:
        """Of its origin, world axes, shape (nt, 3)."""
        of_center, alpha = self._accelerations
        arm, omega = self.position - self.center, self.angular_velocity
        return of_center + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))

    @computed_once
    def _accelerations(self) -> tuple[FloatArray, FloatArray]:
        """Of the centre of mass, and angular, world axes."""
        run = self._run
        parts = parts_of(run)
        body = next(b for b in parts.bodies if b.name == self.name)
        i, starts = body.index, parts.places[1]
        return _in_world(body, self.rotation, run.acceleration[:, starts[i] : starts[i + 1]])

    @computed_once
    def quaternion(self) -> FloatArray:
        """Orientation (w, x, y, z), continuous in time, shape (nt, 4)."""
        u = np.array([from_rotation_matrix(R) for R in self.rotation]).reshape(-1, 4)
        turns = np.sign(np.sum(u[1:] * u[:-1], axis=1))
        turns[turns == 0.0] = 1.0
        return u * np.concatenate([np.ones(min(1, len(u))), np.cumprod(turns)])[:, None]

    def point(self, local: Any) -> FloatArray:
        """World positions of a point given in the body's frame, shape (nt, 3)."""
        return self.position + self.rotation @ vector(f"point of body {self.name!r}", local)


@dataclass(frozen=True, repr=False, init=False)
class Reaction(Displayed):
    """What a joint exerts on its second body, at the joint's point on that body.

    Attributes
    ----------
    joint : name.
    force, moment : shape (nt, 3), in the axes asked for; the moment is about `point`.
    """

    joint: str
    force: FloatArray
    moment: FloatArray
    _run: Run = field(repr=False)

    def __init__(self, joint: str, force: FloatArray, moment: FloatArray, run: Run) -> None:
        # At once: fields of a frozen class one by one take longer than all else of a reaction.
        self.__dict__.update(joint=joint, force=force, moment=moment, _run=run)

    def __str__(self) -> str:
        if not len(self._run):
            return f"reaction of {self.joint} at no state"
        sizes = [np.linalg.norm(x, axis=1) for x in (self.force, self.moment)]
        force, moment = (f"{size.min():.4g} to {size.max():.4g}" for size in sizes)
        return (
            f"reaction of {self.joint} at {counted(len(self._run), 'state')}: "
            f"force {force} N, moment {moment} N m; {self._determinacy()}"
        )

    def _determinacy(self) -> str:
        record = self._run.force_record
        kept = record is not None and "determinate" in record
        kept = kept or self._run.system.equations.rows_independent
        rows = sum(len(group) for group in self._run.system.groups.values())
        if not kept and len(self._run) * rows**2 > SHOWN_WORK:
            return "determinate tells whether the motion determines it"
        try:
            known = int(np.sum(self.determinate))
        except ZwangError as error:
            return f"determinacy unknown: {error}"
        if known == len(self._run):
            return "determinate"
        where = "" if not known else f" at {len(self._run) - known} of them"
        return f"indeterminate{where}, the values of least norm"

    @computed_once
    def point(self) -> FloatArray:
        """Where it acts, in the world, shape (nt, 3)."""
        parts = parts_of(self._run)
        joint = parts.joints[self.joint]
        if joint.toothed:
            return np.concatenate(
                [_pitch_points(self._run, s, self.joint) for s in self._run.segments]
            )
        points = []
        for s in self._run.segments:
            marker = ended(_parts_in(self._run, s).joints[self.joint])
            center, R = pose(parts, marker.body, self._run.q[s.first : s.last])
            points.append(center + R @ marker.arm)
        return np.concatenate(points)

    @computed_once
    def determinate(self) -> np.ndarray:
        """Whether force and moment follow from the motion at each saved time, shape (nt,)."""
        if motion_is_open(self._run):
            return np.zeros(len(self._run.t), dtype=bool)
        record = self._run.force_record
        if record is not None and "determinate" in record:
            return record.determinate(self.joint)
        if self._run.system.equations.rows_independent:
            return np.ones(len(self._run.t), dtype=bool)
        # Where a joint is switched off there is no force, which is known.
        return np.concatenate(
            [
                forces.determinate(self.joint)
                if self.joint in forces.groups
                else np.ones(segment.last - segment.first, dtype=bool)
                for segment, forces in self._run.segment_forces
            ]
        )


class ToldReaction(Reaction):
    """One of all that a kernel told together; its arrays are parts of what was told, (nt, 6)."""

    shown_as = "Reaction"
    _told: FloatArray

    def __init__(self, joint: str, told: FloatArray, run: Run) -> None:
        fields = self.__dict__
        fields["joint"], fields["_told"], fields["_run"] = joint, told, run

    @computed_once
    def force(self) -> FloatArray:  # pyright: ignore[reportIncompatibleVariableOverride] - a field that is made when it is asked for
        """Shape (nt, 3), world axes."""
        return self._told[:, :3]

    @computed_once
    def moment(self) -> FloatArray:  # pyright: ignore[reportIncompatibleVariableOverride] - the same
        """About `point`, shape (nt, 3), world axes."""
        return self._told[:, 3:]


def parts_of(run: Run) -> Parts:
    """The mechanism behind a run."""
    if run.mechanism is None:
        raise InputError(
            "run", must="be of a mechanism of bodies and joints", but="is of a system of functions"
        )
    return run.mechanism


def _of_bodies(system: System) -> MechanismEquations:
    """The equations of a system of which it is known that it is a mechanism's."""
    found = system.equations.of_bodies
    assert found is not None
    return found


def body_motion(run: Run, name: str) -> BodyMotion:
    """Motion of one body."""
    parts = parts_of(run)
    bodies = {b.name: b for b in parts.bodies if b.kind is not SCALAR}
    if name not in bodies:
        raise UnknownNameError("body", name, bodies)
    body = bodies[name]
    center, R, v, omega = poses(run, body)
    arm = R @ -body.inertia.center
    return BodyMotion(name, center + arm, v + np.cross(omega, arm), center, R, omega, run)


def poses(run: Run, body: Body) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Centre of mass, rotation, velocity and angular velocity in world axes of one body."""
    parts, i = parts_of(run), body.index
    center, R = pose(parts, i, run.q)
    v = run.v[:, parts.places[1][i] : parts.places[1][i + 1]]
    return center, R, *_in_world(body, R, v)


def _in_world(body: Body, R: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Linear and angular part in world axes of a body's own velocities or accelerations (nt, nv).

    Those about body axes rotate into the world alike: d/dt (R ω′) = R ω̇′, as ω × ω = 0.
    """
    if body.kind.plane is None:
        return v[:, :3], (R @ v[:, 3:, None])[..., 0]
    a, b, k = body.kind.plane
    linear, angular = np.zeros((len(v), 3)), np.zeros((len(v), 3))
    linear[:, [a, b]], angular[:, k] = v[:, :2], v[:, 2]
    return linear, angular


def channel(run: Run, name: str) -> FloatArray:
    """A joint's coordinate or rate over time; angles continue beyond ±π."""
    parts_of(run)
    parts = [
        _of_bodies(s.system).joint_states(
            name,
            run.q[s.first : s.last],
            run.v[s.first : s.last],
            run.t[s.first : s.last],
            s.parameters,
        )
        for s in run.segments
        if s.last > s.first
    ]
    value, rate = (np.concatenate([p[k] for p in parts]) for k in range(2))
    if name.endswith("_rate"):
        return rate
    if not _of_bodies(run.system).joint_channels.is_angle(name):
        return value

    def between(times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """By the parameters of the present: what a joint's coordinate is may depend on them."""
        q, v = run.between(run, times)
        begun = [-np.inf if s.began is None else s.began[0] for s in run.segments]
        found = np.empty((2, len(times)))
        for k in np.unique(at := np.searchsorted(begun, times, side="right") - 1):
            s, here = run.segments[k], at == k
            found[:, here] = _of_bodies(s.system).joint_states(
                name, q[here], v[here], times[here], s.parameters
            )
        return found[0], found[1]

    return followed(run.t, value, rate, between)


def joint_acceleration(run: Run, name: str) -> FloatArray:
    """Second derivative of a joint's coordinate at the saved states, (nt,).

    d/dt (J v + r₀) = J v̇ + J̇ v + ṙ₀, with J v̇ by the rate of the joint at the velocities v̇, and
    the rest along the motion.
    """
    from zwang.tracing.differentiate import rate

    parts_of(run)
    found = []
    for s in run.segments:
        if s.last <= s.first:
            continue
        here, system = slice(s.first, s.last), _of_bodies(s.system)
        chosen = system.joint_channels[name]

        def drift(model: Any, system: Any = system, chosen: Any = chosen) -> dict[str, Any]:
            state = system.joint_expression(chosen)
            return {"drift": rate(state[state.numel() - 1], model.state)}

        p = system.parameter_vector(s.parameters)
        arguments = run.q[here], run.v[here], run.t[here], p
        (own,) = system.evaluated(f"drift{chosen.label}", drift, *arguments)
        found.append(np.asarray(own).reshape(-1))
    Jv = joint_rates(run, f"{name}_rate", run.acceleration)
    return Jv - joint_rates(run, f"{name}_rate", np.zeros_like(run.v)) + np.concatenate(found)


def joint_rates(run: Run, name: str, v: FloatArray) -> FloatArray:
    """A joint's rate at the saved positions with other velocities (nt, nv), shape (nt,)."""
    parts_of(run)
    rates = [
        _of_bodies(s.system).joint_states(
            name,
            run.q[s.first : s.last],
            v[s.first : s.last],
            run.t[s.first : s.last],
            s.parameters,
        )[1]
        for s in run.segments
        if s.last > s.first
    ]
    return np.concatenate(rates)


def reaction(run: Run, name: str, axes: str = "world") -> Reaction:
    """Force and moment that a joint exerts on its second body."""
    if axes == "world":
        told = run.told_wrenches.get(name)
        if told is not None:
            return ToldReaction(name, told, run)
    record = run.force_record
    if record is not None and axes == "world" and name in record.layout.joints:
        return Reaction(name, *record.reaction(name), run)
    parts = parts_of(run)
    if name not in parts.joints:
        raise UnknownNameError("joint", name, parts.joints)
    joint: Joint = parts.joints[name]
    if axes not in ("world", "body", "joint"):
        raise UnknownNameError("axes of a reaction", axes, ["world", "body", "joint"])
    if joint.a is None or joint.b is None:
        raise InputError(
            f"reaction of {name!r}",
            must="be that of a joint",
            but="this is a user constraint, which acts at no point",
            advice="run.constraint_force gives its generalized force.",
        )
    force, moment = joint_wrenches(run, joint) if record is None else record.reaction(name)
    if axes != "world":
        seen = _axes(run, parts, joint.a if axes == "joint" else joint.b, own=axes == "joint")
        force, moment = (np.einsum("tji,tj->ti", seen, x) for x in (force, moment))
    return Reaction(name, force, moment, run)


def told_wrenches(run: Run) -> Mapping[str, FloatArray]:
    """Joint → force and moment (nt, 6) where one kernel tells those of all joints of a run."""
    if run.force_record is not None or run.mechanism is None or not len(run):
        return {}
    (_, forces), *further = run.segment_forces
    return {} if further else forces.wrenches


def joint_wrenches(run: Run, joint: Joint) -> tuple[FloatArray, FloatArray]:
    """Force and moment of a joint at all saved states, in the world, each (nt, 3)."""
    along = run.segment_forces
    if len(along) == 1:
        return _wrench(run, *along[0], joint)
    force, moment = zip(*(_wrench(run, segment, f, joint) for segment, f in along), strict=True)
    return np.concatenate(force), np.concatenate(moment)


def _wrench(
    run: Run, segment: Segment, forces: StretchForces, joint: Joint
) -> tuple[FloatArray, FloatArray]:
    """Force and moment of a joint over a segment of a run, in the world, each (n, 3)."""
    name, toothed = joint.name, joint.toothed
    told = forces.wrenches.get(name)
    if told is not None:
        return told[:, :3], told[:, 3:]
    if name not in forces.groups:
        count = segment.last - segment.first
        return np.zeros((count, 3)), np.zeros((count, 3))
    generalized, at = forces.group_force(name), None
    if toothed:
        generalized = generalized + _pushed_apart(run, segment, name)
        at = _pitch_points(run, segment, name)
    q, parts = run.q[segment.first : segment.last], _parts_in(run, segment)
    return joint_wrench(parts, parts.joints[name], generalized, q, at)[:2]


def _parts_in(run: Run, segment: Segment) -> Parts:
    """The mechanism of a segment, whose points may be those of other parameters."""
    if segment.parameters is run.parameters:
        return parts_of(run)
    parts = run.system.mechanism
    assert parts is not None
    return parts.at(segment.parameters)


def _pushed_apart(run: Run, segment: Segment, name: str) -> FloatArray:
    """Generalized force by which teeth push apart, over a segment of a run."""
    here = slice(segment.first, segment.last)
    lam = run.multipliers(name)[here]
    state = run.q[here], run.v[here], run.t[here]
    p = segment.system.parameter_vector(segment.parameters)
    return _of_bodies(segment.system).tooth_force(name, *state, lam, p)


def _pitch_points(run: Run, segment: Segment, name: str) -> FloatArray:
    """Where teeth meet over a segment of a run; of all joints, also inactive ones."""
    here = slice(segment.first, segment.last)
    equations = _of_bodies(run.system)
    p = equations.parameter_vector(segment.parameters)
    return equations.pitch_point(name, run.q[here], run.t[here], p)


def _axes(run: Run, parts: Parts, marker: Marker, *, own: bool) -> FloatArray:
    """Axes, as columns, of a marker or of its body, shape (nt, 3, 3)."""
    R = (
        np.broadcast_to(np.eye(3), (len(run.t), 3, 3))
        if marker.body < 0
        else poses(run, parts.bodies[marker.body])[1]
    )
    return R @ marker.axes if own else R
