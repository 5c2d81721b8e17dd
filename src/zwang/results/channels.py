"""Channels of a run: the quantities of `channel_catalog` at its saved states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.display import html_table
from zwang.errors import UnknownNameError, ZwangError
from zwang.results.channel_catalog import ACCELERATION, ENERGIES, PARTS, ChannelEntry, catalog
from zwang.results.determinate_components import determinate_components
from zwang.results.determinate_outputs import Look, looks_at, output_is_determinate
from zwang.results.determined import motion_is_open
from zwang.results.driver_efforts import (
    driver_effort,
    driver_power,
    driver_speed,
    effort_along,
)
from zwang.results.element_forces import (
    about_center,
    element_force,
    element_named,
    generalized_on,
    marker_axis,
    spring_tension,
)
from zwang.results.friction_efforts import friction_effort
from zwang.results.mechanism_run import body_motion, channel, joint_acceleration, parts_of
from zwang.results.output_values import output_values
from zwang.results.records import AbsentSystem
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.results.run import Run

__all__ = ["Channel", "ChannelTable", "channel_values", "channels_of", "held_values"]

#: What the length of a vector is called elsewhere.
LENGTHS = ("mag", "abs", "norm", "total", "length", "value")
#: What a run that was loaded without its system lacks.
WITH_SYSTEM = (
    "The run was loaded without the system that made it. Joint angles, motions of bodies, and "
    "forces that were not kept need it: load the run as zw.load(path, system)."
)


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
    output : whether it is an output of the user's, a function of other channels.
    parameter : whether it is a parameter, which controllers or events changed.
    """

    name: str
    unit: str
    description: str
    values: Callable[[Run], FloatArray] = field(repr=False, compare=False)
    vector: bool = False
    joint: str = ""
    output: bool = False
    parameter: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its columns in a table: those of the components of a vector."""
        return tuple(f"{self.name}.{part}" for part in "xyz") if self.vector else (self.name,)

    @property
    def doubt(self) -> str:
        """What a table adds where the motion does not determine it."""
        if self.output:
            return " (of indeterminate reactions, at their values of least norm)"
        return " (indeterminate: the value of least norm)"


class ChannelTable(Mapping[str, Channel]):
    """All channels of a run by name; printed, a table."""

    def __init__(self, run: Run, channels: Mapping[str, Channel]) -> None:
        self._run, self._channels = run, channels
        self._found: dict[str, np.ndarray] | None = None
        self._seen: list[Look] | None = None
        self._outputs: dict[str, bool] = {}

    def __getitem__(self, name: str) -> Channel:
        if name not in self._channels:
            raise _unknown(self._run, name, self._channels)
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
        return html_table(["channel", "unit", "description"], self._rows())

    def determinate(self, name: str) -> bool:
        """Whether the motion determines a channel, or a component of one, ``"pin.force.x"``.

        A reaction that is not determinate at the first saved state may have components that are,
        at that state and at others along the run.
        ``run.reaction(joint).determinate`` decides it for every saved state. An output of the
        user's is determinate if no admissible forces change it: if it is a sum of components with
        factors that stays the same, as the load on both hinges of a door, or is made of such sums
        alone, as their magnitude. A comparison, a sign or a rounded number of anything else is
        not. Of a run that was loaded without its system components count as the whole reaction.
        Where a law of friction uses a reaction that is left open, no force is determinate.
        """
        owner, _, part = name.rpartition(".")
        component = name not in self and part in PARTS and owner in self and self[owner].vector
        own = self[owner if component else name]
        if own.output:
            return self._output_is_determinate(name)
        if not own.joint or self.statuses().get(own.joint, True):
            return True
        known = self._components(own)
        return bool(known[PARTS.index(part)] if component and part != "magnitude" else known.all())

    def _components(self, own: Channel) -> np.ndarray:
        """Which components of a channel of an indeterminate reaction are determinate."""
        quantity = own.name.removeprefix(f"{own.joint}.")
        unknown = isinstance(self._run.system, AbsentSystem) or motion_is_open(self._run)
        if unknown or not own.vector or quantity not in ("force", "moment"):
            return np.zeros(3, dtype=bool)
        if self._found is None:
            self._found = determinate_components(self._run, self._looks())
        none = np.zeros((2, 3), dtype=bool)
        return self._found.get(own.joint, none)[("force", "moment").index(quantity)]

    def _doubt(self, own: Channel) -> str:
        """What the table adds to a description."""
        if self.determinate(own.name):
            return ""
        known = () if own.output else self._components(own)
        some = [part for part, sure in zip("xyz", known, strict=False) if sure]
        if not some:
            return own.doubt
        return f" ({' and '.join(some)} determinate; else the value of least norm)"

    def _output_is_determinate(self, name: str) -> bool:
        if all(self.statuses().values()):
            return True
        if name not in self._outputs:
            run = self._run
            try:
                known = output_is_determinate(run, run.system.outputs[name], self._looks())
            except ZwangError:  # it has no values: the sentence is told where they are asked for
                known = False
            self._outputs[name] = known
        return self._outputs[name]

    def _looks(self) -> list[Look]:
        """What is known of multipliers at some saved states."""
        if self._seen is None:
            self._seen = looks_at(self._run)
        return self._seen

    def _rows(self) -> list[tuple[str, str, str]]:
        return [(c.name, c.unit, c.description + self._doubt(c)) for c in self._channels.values()]

    def statuses(self) -> dict[str, bool]:
        """Joint or constraint → whether its force is determinate at the first saved state."""
        run = self._run
        if motion_is_open(run):
            return {own.joint: False for own in self._channels.values() if own.joint}
        if isinstance(run.system, AbsentSystem):
            return self._stored_statuses(run.system.indeterminate)
        if run.system.equations.rows_independent or not len(run):
            return {}
        if "_first" not in vars(self):
            s = run.segments[0]
            groups = s.system.passport(
                run.q[0], run.v[0], float(run.t[0]), parameters=s.parameters
            ).groups
            self._first = {name: str(g.status) == "determinate" for name, g in groups.items()}
        return self._first

    def _stored_statuses(self, open_: tuple[str, ...]) -> dict[str, bool]:
        """The same of a run without its system, as far as it is stored."""
        record, found = self._run.force_record, dict.fromkeys(open_, False)
        if record is None or "determinate" not in record or not len(self._run):
            return found
        # Of joints it is kept for all states, and verified.
        return found | {name: bool(record.determinate(name)[0]) for name in record.layout.joints}


def channels_of(run: Run) -> dict[str, Channel]:
    """All channels of a run, without the parts of vectors."""
    if isinstance(run.system, AbsentSystem):  # names, states, and forces if they are kept
        found = {c.name: c for c in (*_states(run), *_recorded(run))}
    else:
        entries = catalog(run.system, run.mechanism)
        found = {name: _channel(entry) for name, entry in entries.items()}
    for name in changed_parameters(run):
        found.setdefault(name, _of_parameter(name))
    return found


def changed_parameters(run: Run) -> list[str]:
    """Parameters that controllers or events changed during a run, by the alphabet."""
    first = run.segments[0].parameters
    names = set(first)  # those that are as they were at first
    for segment in run.segments[1:]:
        names = {n for n in names if _equal(segment.parameters[n], first[n])}
    return sorted(set(first) - names)


def _equal(one: Any, other: Any) -> bool:
    return one is other or np.array_equal(one, other)


def _of_parameter(name: str) -> Channel:
    """A parameter with the values that it has at the saved states."""
    what = f"parameter {name}, as held until then"
    return Channel(name, "", what, lambda r: held_values(r, name), parameter=True)


def held_values(run: Run, name: str) -> FloatArray:
    """Values of a parameter at the saved states, as events and controllers changed it."""
    rows = [
        np.broadcast_to(value, (s.last - s.first, *np.shape(value)))
        for s in run.segments
        if s.last > s.first
        for value in (s.parameters[name],)
    ]
    return np.concatenate(rows).astype(float)


def _channel(e: ChannelEntry) -> Channel:
    values = partial(VALUES[e.kind], e)
    output = e.kind == "output"
    return Channel(
        e.name, e.unit, e.description, values, vector=e.vector, joint=e.joint, output=output
    )


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
    raise _unknown(run, name, known)


def _unknown(run: Run, name: str, known: Mapping[str, Channel]) -> UnknownNameError:
    """Of a part of a vector the parts that it has; without its system how to have the rest."""
    owner, _, part = name.rpartition(".")
    if owner in known and known[owner].vector:
        parts = [f"{owner}.{p}" for p in PARTS]
        more = f"Did you mean {parts[-1]!r}?" if part.lower() in LENGTHS else ""
        return UnknownNameError("channel", name, parts, more)
    absent = isinstance(run.system, AbsentSystem)
    return UnknownNameError("channel", name, known, WITH_SYSTEM if absent else "")


# --- values at the saved states -------------------------------------------------------------------


def _coordinate(e: ChannelEntry, run: Run) -> FloatArray:
    return run.q[:, run.system.coordinates.index(e.name)]


def _velocity(e: ChannelEntry, run: Run) -> FloatArray:
    return run.v[:, run.system.velocities.index(e.name)]


def _joint(e: ChannelEntry, run: Run) -> FloatArray:
    if e.quantity.endswith(ACCELERATION):
        return joint_acceleration(run, e.name.removesuffix(ACCELERATION))
    return channel(run, e.name)


def _body(e: ChannelEntry, run: Run) -> FloatArray:
    return getattr(body_motion(run, e.owner), e.quantity)


def _reaction(e: ChannelEntry, run: Run) -> FloatArray:
    return getattr(run.reaction(e.owner), e.quantity)


def _driver(e: ChannelEntry, run: Run) -> FloatArray:
    of = {"effort": driver_effort, "speed": driver_speed, "power": driver_power}[e.quantity]
    return of(run, parts_of(run).joints[e.owner])


def _multiplier(e: ChannelEntry, run: Run) -> FloatArray:
    return run.multipliers(e.owner)[:, int(e.quantity) if e.quantity.isdigit() else 0]


def _element(e: ChannelEntry, run: Run) -> FloatArray:
    parts = parts_of(run)
    return getattr(element_force(run, parts, element_named(parts, e.owner)), e.quantity)


def _on_body(e: ChannelEntry, run: Run) -> FloatArray:
    """What an element or a condition of the user's exerts on one of its bodies."""
    parts = parts_of(run)
    body = next(b.index for b in parts.bodies if b.name == e.body)
    if e.joint:
        start = parts.places[1][body]
        own = run.constraint_force(e.owner)[:, start : start + parts.bodies[body].kind.nv]
    else:
        own = generalized_on(run, parts, element_named(parts, e.owner), body)
    if not e.vector:
        return own[:, 0]
    return getattr(about_center(run, parts, body, own), e.quantity)


def _spring(e: ChannelEntry, run: Run) -> FloatArray:
    parts = parts_of(run)
    return spring_tension(run, parts, element_named(parts, e.owner))


def _actuator(e: ChannelEntry, run: Run) -> FloatArray:
    """Effort e of Q = Jᵀe along the coordinate of a joint, its rate, or their product, (nt,)."""
    parts = parts_of(run)
    rate = f"{parts.actuated[e.owner]}_rate"
    if e.quantity == "speed":
        return channel(run, rate)
    element = element_named(parts, e.owner)
    Q = np.zeros_like(run.v)
    for i in dict.fromkeys(i for i in element.bodies[:2] if i >= 0):
        start, end = parts.places[1][i : i + 2]
        Q[:, start:end] = generalized_on(run, parts, element, i)
    effort = effort_along(run, rate, Q)
    return effort if e.quantity == "effort" else effort * channel(run, rate)


def _torsion(e: ChannelEntry, run: Run) -> FloatArray:
    """Moment by which a torsion spring resists its twist, (nt,)."""
    parts = parts_of(run)
    element = element_named(parts, e.owner)
    moment = element_force(run, parts, element).moment
    return -np.einsum("ti,ti->t", moment, marker_axis(run, parts, element))


def _friction(e: ChannelEntry, run: Run) -> FloatArray:
    return friction_effort(run, parts_of(run).joints[e.owner], e.quantity)


def _energy(e: ChannelEntry, run: Run) -> FloatArray:
    return np.asarray(getattr(run, e.name))


def _output(e: ChannelEntry, run: Run) -> FloatArray:
    return output_values(run, run.system.outputs[e.name])


#: How each kind of channel is evaluated.
VALUES: dict[str, Callable[[ChannelEntry, Run], FloatArray]] = {
    "coordinate": _coordinate,
    "velocity": _velocity,
    "joint": _joint,
    "body": _body,
    "reaction": _reaction,
    "driver": _driver,
    "coupler": _multiplier,
    "multiplier": _multiplier,
    "on_body": _on_body,
    "element": _element,
    "actuator": _actuator,
    "spring": _spring,
    "torsion": _torsion,
    "friction": _friction,
    "energy": _energy,
    "output": _output,
}


# --- runs whose system is not known ---------------------------------------------------------------


def _states(run: Run) -> Iterator[Channel]:
    """Coordinates and velocities, of which the names are known."""
    for i, name in enumerate(run.system.coordinates):
        yield Channel(name, "", "coordinate", lambda r, i=i: r.q[:, i])
    for i, name in enumerate(run.system.velocities):
        yield Channel(name, "", "velocity", lambda r, i=i: r.v[:, i])


def _recorded(run: Run) -> Iterator[Channel]:
    """What the record of a run has, whose system is not known."""
    record = run.force_record
    if record is None:
        return
    for joint in record.layout.joints:
        for quantity, unit in (("force", "N"), ("moment", "N m")):
            yield Channel(
                f"{joint}.{quantity}",
                unit,
                f"{quantity} of {joint} on its second body",
                lambda r, j=joint, k=quantity: getattr(r.reaction(j), k),
                vector=True,
                joint=joint,
            )
    owners = {k: name for name, rows in record.layout.groups.items() for k in rows}
    for k, row in enumerate(record.layout.rows):
        yield Channel(
            f"{row}.multiplier",
            "",
            f"Lagrange multiplier of {row}",
            lambda _, k=k, record=record: record["multiplier"][:, k],
            joint=owners.get(k, ""),
        )
    unit = "J" if record.layout.mechanism else ""
    for name, what in ENERGIES.items():
        if name in record or name == "energy":
            yield Channel(name, unit, what, lambda r, n=name: np.asarray(getattr(r, n)))
