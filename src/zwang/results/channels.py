"""Named quantities of a run: one vocabulary for plots, tables and exports.

    crank.x, crank.omega2             coordinates and velocities of the system
    pin.angle, pin.angle_rate         coordinates of joints
    rod.position, .velocity, …        motion of bodies
    pin.force, pin.moment             reactions of joints, on the second body
    spring.force, bush.moment         forces of elements
    motor.torque, .speed, .power      drivers
    rod.multiplier                    multipliers of constraints
    energy, kinetic_energy, …         of the whole

Vectors are in ground axes; ``.x``, ``.y``, ``.z`` and ``.magnitude`` after a name give their parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from zwang.errors import UnknownNameError
from zwang.multibody.frozen import Parts
from zwang.multibody.pose import SCALAR
from zwang.results.driver_efforts import driver_effort, driver_power, driver_speed
from zwang.results.element_forces import element_force, marker_axis, spring_tension
from zwang.results.mechanism_run import body_motion, channel
from zwang.results.records import AbsentSystem
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.multibody.element import Element
    from zwang.multibody.marker import Joint
    from zwang.results.run import Run

__all__ = ["PARTS", "Channel", "ChannelTable", "channel_values", "channels_of"]

#: Endings that give a part of a vector.
PARTS = ("x", "y", "z", "magnitude")
#: What the energies of a run are called.
ENERGIES = {
    "energy": "kinetic plus potential energy",
    "kinetic_energy": "kinetic energy",
    "potential_energy": "potential energy",
}


@dataclass(frozen=True)
class Channel:
    """A named quantity of a run.

    Attributes
    ----------
    name : as in ``run[name]``.
    unit : empty where it is the user's own.
    description : what it is, in words.
    vector : whether it has three components, in ground axes.
    joint : the joint or constraint whose determinacy decides whether the motion determines it;
        empty for all that is always determined.
    """

    name: str
    unit: str
    description: str
    values: Callable[[Run], FloatArray] = field(repr=False, compare=False)
    vector: bool = False
    joint: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its columns in a table: those of the components of a vector."""
        return tuple(f"{self.name}.{part}" for part in "xyz") if self.vector else (self.name,)


class ChannelTable(Mapping[str, Channel]):
    """All channels of a run by name; printed, a table."""

    def __init__(self, run: Run, channels: Mapping[str, Channel]) -> None:
        self._run, self._channels = run, channels

    def __getitem__(self, name: str) -> Channel:
        if name not in self._channels:
            raise UnknownNameError("channel", name, self._channels)
        return self._channels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._channels)

    def __len__(self) -> int:
        return len(self._channels)

    def __contains__(self, name: object) -> bool:
        return name in self._channels

    def __repr__(self) -> str:
        return (
            f"<{len(self)} channels: {', '.join(list(self)[:4])}{', …' if len(self) > 4 else ''}>"
        )

    def __str__(self) -> str:
        rows = [("channel", "unit", "description"), *self._rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(2)]
        return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}" for a, b, c in rows)

    def _repr_html_(self) -> str:
        from html import escape

        head = "<tr><th>channel</th><th>unit</th><th>description</th></tr>"
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
            for row in self._rows()
        )
        return f"<table>{head}{body}</table>"

    def determinate(self, name: str) -> bool:
        """Whether the motion determines a channel, at the first saved state.

        ``run.reaction(joint).determinate`` decides it for every saved state.
        """
        joint = self[name].joint
        return not joint or self._statuses().get(joint, True)

    def _rows(self) -> list[tuple[str, str, str]]:
        doubtful = " (indeterminate: the value of least norm)"
        return [
            (c.name, c.unit, c.description + ("" if self.determinate(c.name) else doubtful))
            for c in self._channels.values()
        ]

    def _statuses(self) -> dict[str, bool]:
        """Joint or constraint → whether its force is determinate at the first saved state."""
        run = self._run
        if run.system.rows_independent or not len(run):
            return {}
        if "_first" not in vars(self):
            s = run.segments[0]
            groups = s.system.passport(
                run.q[0], run.v[0], float(run.t[0]), parameters=s.parameters
            ).groups
            self._first = {name: str(g.status) == "determinate" for name, g in groups.items()}
        return self._first


def channels_of(run: Run) -> dict[str, Channel]:
    """All channels of a run, without the parts of vectors."""
    if isinstance(run.system, AbsentSystem):  # names and states alone
        return {c.name: c for c in _states(run, None)}
    parts = run.mechanism
    found = [*_states(run, parts)]
    if parts is not None:
        found += [*_bodies(parts), *_joints(parts), *_forces(parts)]
    found += [*_multipliers(run, parts), *_energies(run, parts)]
    result: dict[str, Channel] = {}
    for c in found:
        result.setdefault(c.name, c)
    return result


def channel_values(run: Run, name: str) -> FloatArray:
    """Values of a channel at the saved states: (nt,), or (nt, 3) of a vector.

    Raises
    ------
    UnknownNameError : there is none of that name; the message lists those there are.
    """
    known = run.channels
    if name in known:
        return known[name].values(run)
    owner, _, part = name.rpartition(".")
    if part in PARTS and owner in known and known[owner].vector:
        values = known[owner].values(run)
        if part == "magnitude":
            return np.linalg.norm(values, axis=1)
        return values[:, PARTS.index(part)]
    raise UnknownNameError("channel", name, known)


# --- what there is --------------------------------------------------------------------------------


def _states(run: Run, parts: Parts | None) -> Iterator[Channel]:
    """Coordinates, velocities, and the coordinates of joints."""
    for i, name in enumerate(run.system.coordinates):
        unit = "" if parts is None else _unit_of_coordinate(name)
        yield Channel(name, unit, "coordinate", lambda r, i=i: r.q[:, i])
    for i, name in enumerate(run.system.velocities):
        unit = "" if parts is None else _unit_of_coordinate(name)
        yield Channel(name, unit, "velocity", lambda r, i=i: r.v[:, i])
    for name in run.system.channels:
        base = "rad" if "angle" in name.partition(".")[2] else "m"
        rate = name.endswith("_rate")
        what = f"{'rate' if rate else 'coordinate'} of joint {name.partition('.')[0]}"
        unit = f"{base}/s" if rate else base
        yield Channel(name, unit, what, lambda r, n=name: channel(r, n))


def _unit_of_coordinate(name: str) -> str:
    """Of a body's own coordinates and velocities; extra coordinates have units of the user's."""
    end = name.rpartition(".")[2] if "." in name else ""
    if end in ("x", "y", "z"):
        return "m"
    if end in ("vx", "vy", "vz"):
        return "m/s"
    return "rad/s" if end.startswith("omega") else ""


def _bodies(parts: Parts) -> Iterator[Channel]:
    quantities = {
        "position": ("m", "position of the origin"),
        "velocity": ("m/s", "velocity of the origin"),
        "acceleration": ("m/s²", "acceleration of the origin"),
        "center": ("m", "position of the center of mass"),
        "angular_velocity": ("rad/s", "angular velocity"),
        "angular_acceleration": ("rad/s²", "angular acceleration"),
    }
    for body in parts.bodies:
        if body.kind is SCALAR:
            continue
        for quantity, (unit, what) in quantities.items():
            yield Channel(
                f"{body.name}.{quantity}",
                unit,
                f"{what} of body {body.name}",
                lambda r, b=body.name, k=quantity: getattr(body_motion(r, b), k),
                vector=True,
            )


def _joints(parts: Parts) -> Iterator[Channel]:
    for joint in parts.joints.values():
        if joint.drives:
            yield from _driver(joint)
        if joint.a is None or joint.b is None:
            continue
        for quantity, unit in (("force", "N"), ("moment", "N m")):
            yield Channel(
                f"{joint.name}.{quantity}",
                unit,
                f"{quantity} of {parts.described(joint.name)} on its second body",
                lambda r, j=joint.name, k=quantity: getattr(r.reaction(j), k),
                vector=True,
                joint=joint.name,
            )


def _driver(joint: Joint) -> Iterator[Channel]:
    """Effort, speed and power of a driver of a joint coordinate."""
    angle = "angle" in joint.drives.partition(".")[2]
    effort, unit, speed = ("torque", "N m", "rad/s") if angle else ("effort", "N", "m/s")
    of, name = f"of driver {joint.name}, along {joint.drives}", joint.name
    yield Channel(
        f"{name}.{effort}",
        unit,
        f"{effort if angle else 'force'} {of}",
        lambda r, j=joint: driver_effort(r, j),
        joint=name,
    )
    yield Channel(f"{name}.speed", speed, f"speed {of}", lambda r, j=joint: driver_speed(r, j))
    yield Channel(
        f"{name}.power", "W", f"power {of}", lambda r, j=joint: driver_power(r, j), joint=name
    )


def _forces(parts: Parts) -> Iterator[Channel]:
    """Springs, bushings, applied forces."""
    for e in parts.forces:
        moving = [i for i in e.bodies if i >= 0]
        if e.law.what == "spring_damper":
            yield Channel(
                f"{e.name}.force",
                "N",
                f"tension of spring {e.name}, positive where it pulls",
                lambda r, e=e: spring_tension(r, parts, e),
            )
        elif e.law.what == "torsion_spring":
            yield Channel(
                f"{e.name}.moment",
                "N m",
                f"moment of torsion spring {e.name}, positive where its twist is",
                lambda r, e=e: _torsion(r, parts, e),
            )
        elif len(set(e.bodies)) <= 2 and all(parts.bodies[i].kind is not SCALAR for i in moving):
            of = f"of {e.law.what} {e.name} on its {'second ' if len(e.bodies) > 1 else ''}body"
            for quantity, unit in (("force", "N"), ("moment", "N m")):
                yield Channel(
                    f"{e.name}.{quantity}",
                    unit,
                    f"{quantity} {of}",
                    lambda r, e=e, k=quantity: getattr(element_force(r, parts, e), k),
                    vector=True,
                )


def _torsion(run: Run, parts: Parts, element: Element) -> FloatArray:
    """Moment by which a torsion spring resists its twist, (nt,)."""
    moment = element_force(run, parts, element).moment
    return -np.einsum("ti,ti->t", moment, marker_axis(run, parts, element))


def _multipliers(run: Run, parts: Parts | None) -> Iterator[Channel]:
    """Of constraints that act at no point; joints have forces and moments."""
    joints = {} if parts is None else parts.joints
    for name, rows in run.system.groups.items():
        known = joints.get(name)
        if known is not None and known.a is not None and known.b is not None:
            continue
        for k in range(len(rows)):
            row = name if len(rows) == 1 else f"{name}[{k}]"
            yield Channel(
                f"{row}.multiplier",
                "",
                f"Lagrange multiplier of {row}",
                lambda r, n=name, k=k: r.multipliers(n)[:, k],
                joint=name,
            )


def _energies(run: Run, parts: Parts | None) -> Iterator[Channel]:
    for name, what in ENERGIES.items():
        if name == "potential_energy" and parts is None and run.system.model.V is None:
            continue
        unit = "" if parts is None else "J"
        yield Channel(name, unit, what, lambda r, n=name: np.asarray(getattr(r, n)))
