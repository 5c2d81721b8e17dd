"""The one list of named quantities of a system: names, units, descriptions, kinds.

    crank.x, crank.omega2             coordinates and velocities of the system
    pin.angle, pin.angle_rate, …      coordinates of joints, their rates and accelerations
    rod.position, .velocity, …        motion of bodies
    pin.force, pin.moment             reactions of joints, on the second body
    spring.force, bush.moment         forces of elements
    pin.friction_torque               friction in joints
    motor.torque, .speed, .power      drivers and actuators
    coupler.torque, own.rod.force     couplers, and conditions of the user's on each body
    rod.multiplier                    multipliers of constraints
    energy, kinetic_energy, …         of the whole
    your own                          outputs

Vectors are in ground axes; ``.x``, ``.y``, ``.z`` and ``.magnitude`` after a name give their parts.
Runs evaluate these names at saved states (`channels`), events and outputs as expressions of the
state (`channel_expressions`), and analyses differentiate them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zwang.multibody.forces.friction import of_reaction
from zwang.multibody.pose import SCALAR
from zwang.tracing.own_output import ENERGIES

if TYPE_CHECKING:
    from zwang.multibody.element import Element
    from zwang.multibody.frozen import Parts
    from zwang.multibody.marker import Joint

__all__ = [
    "ACCELERATION",
    "ENERGIES",
    "OF_BODIES",
    "PARTS",
    "ChannelEntry",
    "catalog",
    "unit_of_state",
]

#: Endings that give a part of a vector.
PARTS = ("x", "y", "z", "magnitude")
#: Ending of the acceleration of a joint's coordinate.
ACCELERATION = "_acceleration"
#: Motion of a body: quantity → unit and description.
OF_BODIES = {
    "position": ("m", "position of the origin"),
    "velocity": ("m/s", "velocity of the origin"),
    "acceleration": ("m/s²", "acceleration of the origin"),
    "center": ("m", "position of the center of mass"),
    "angular_velocity": ("rad/s", "angular velocity"),
    "angular_acceleration": ("rad/s²", "angular acceleration"),
}
_WRENCH = (("force", "N"), ("moment", "N m"))


@dataclass(frozen=True)
class ChannelEntry:
    """A named quantity of a system.

    Attributes
    ----------
    name : of the quantity, without a part of a vector.
    unit : empty where it is the user's own.
    description : what it is, in words.
    kind : coordinate, velocity, joint, body, reaction, driver, coupler, on_body, spring, torsion,
        actuator, element, friction, multiplier, energy or output.
    owner : the body, joint, element or constraint.
    quantity : which one of the owner's; of a multiplier its row.
    body : of several, the one that it acts on.
    vector : whether it has three components, in ground axes.
    joint : the joint or constraint whose determinacy decides whether the motion determines it;
        empty for all that is always determined.
    """

    name: str
    unit: str
    description: str
    kind: str
    owner: str = ""
    quantity: str = ""
    body: str = ""
    vector: bool = False
    joint: str = ""


def catalog(system: Any, parts: Parts | None) -> dict[str, ChannelEntry]:
    """All named quantities of a system, in the order in which a name is looked up.

    Parameters
    ----------
    parts : its bodies, joints and forces, with the dimensions that are meant.
    """
    found = [*_states(system, parts)]
    if parts is not None:
        found += [*_bodies(parts), *_joints(parts), *_forces(parts), *_friction(parts)]
    found += [*_multipliers(system, parts), *_energies(system, parts)]
    for output in system.outputs.values():
        found.append(ChannelEntry(output.name, output.unit, output.description, "output"))
    result: dict[str, ChannelEntry] = {}
    for entry in found:
        result.setdefault(entry.name, entry)
    return result


def _states(system: Any, parts: Parts | None) -> Iterator[ChannelEntry]:
    """Coordinates, velocities, and the coordinates of joints."""
    for kind, names in (("coordinate", system.coordinates), ("velocity", system.velocities)):
        for name in names:
            unit = "" if parts is None else unit_of_state(name)
            yield ChannelEntry(name, unit, kind, kind)
    for name in system.channels:
        owner, _, quantity = name.partition(".")
        unit, rate = unit_of_state(name), quantity.endswith("_rate")
        what = f"{'rate' if rate else 'coordinate'} of joint {owner}"
        yield ChannelEntry(name, unit, what, "joint", owner, quantity)
        if rate:
            of = f"{quantity.removesuffix('_rate')}{ACCELERATION}"
            what = f"acceleration of joint {owner}"
            yield ChannelEntry(f"{owner}.{of}", f"{unit}²", what, "joint", owner, of)


def unit_of_state(name: str) -> str:
    """Unit of a coordinate or velocity of a body or a joint; extra coordinates have the user's."""
    end = name.rpartition(".")[2] if "." in name else ""
    if end.removesuffix("_rate").startswith(("angle", "displacement")):
        unit = "rad" if "angle" in end else "m"
        return f"{unit}/s" if end.endswith("_rate") else unit
    if end in ("x", "y", "z"):
        return "m"
    if end in ("vx", "vy", "vz"):
        return "m/s"
    return "rad/s" if end.startswith("omega") else ""


def _bodies(parts: Parts) -> Iterator[ChannelEntry]:
    for body in parts.bodies:
        if body.kind is SCALAR:
            continue
        for quantity, (unit, what) in OF_BODIES.items():
            name, of = f"{body.name}.{quantity}", f"{what} of body {body.name}"
            yield ChannelEntry(name, unit, of, "body", body.name, quantity, vector=True)


def _joints(parts: Parts) -> Iterator[ChannelEntry]:
    for joint in parts.joints.values():
        name = joint.name
        if joint.drives:
            yield from _driver(joint)
        if joint.couples:
            unit, effort = ("N m", "torque") if "angle" in joint.couples else ("N", "effort")
            what = f"{effort} of coupler {name} along {joint.couples}"
            yield ChannelEntry(f"{name}.{effort}", unit, what, "coupler", name, effort, joint=name)
        elif joint.a is None or joint.b is None:
            yield from _on_bodies(parts, name, joint.bodies, "constraint", joint=name)
        if joint.a is None or joint.b is None:
            continue
        for quantity, unit in _WRENCH:
            of, what = (
                f"{name}.{quantity}",
                f"{quantity} of {parts.described(name)} on its second body",
            )
            yield ChannelEntry(of, unit, what, "reaction", name, quantity, vector=True, joint=name)


def _driver(joint: Joint) -> Iterator[ChannelEntry]:
    """Effort, speed and power of a driver of a joint coordinate."""
    angle = "angle" in joint.drives.partition(".")[2]
    effort, unit, speed = ("torque", "N m", "rad/s") if angle else ("effort", "N", "m/s")
    of, name = f"of driver {joint.name}, along {joint.drives}", joint.name
    what = f"{effort if angle else 'force'} {of}"
    yield ChannelEntry(f"{name}.{effort}", unit, what, "driver", name, "effort", joint=name)
    yield ChannelEntry(f"{name}.speed", speed, f"speed {of}", "driver", name, "speed")
    yield ChannelEntry(f"{name}.power", "W", f"power {of}", "driver", name, "power", joint=name)


def _on_bodies(
    parts: Parts, name: str, bodies: tuple[int, ...], kind: str, joint: str = ""
) -> Iterator[ChannelEntry]:
    """Force and moment about the center of mass on each body, effort on each coordinate."""
    for i in dict.fromkeys(i for i in bodies if i >= 0):
        body = parts.bodies[i]
        quantities = (("effort", ""),) if body.kind is SCALAR else _WRENCH
        for quantity, unit in quantities:
            about = ", about its center of mass" if quantity == "moment" else ""
            yield ChannelEntry(
                f"{name}.{body.name}.{quantity}",
                unit,
                f"{quantity} of {kind} {name} on {body.name}{about}",
                "on_body",
                name,
                quantity,
                body.name,
                vector=body.kind is not SCALAR,
                joint=joint,
            )


def _forces(parts: Parts) -> Iterator[ChannelEntry]:
    """Springs, bushings, applied forces."""
    for e in parts.forces:
        if e.law.what == "spring_damper":
            what = f"tension of spring {e.name}, positive where it pulls"
            yield ChannelEntry(f"{e.name}.force", "N", what, "spring", e.name)
        elif e.law.what == "torsion_spring":
            what = f"moment of torsion spring {e.name}, positive where its twist is"
            yield ChannelEntry(f"{e.name}.moment", "N m", what, "torsion", e.name)
        elif e.law.what == "actuator":
            yield from _actuator(parts, e)
        elif e.law.what == "cartesian_spring":
            what = f"force of spring {e.name} on its second body"
            yield ChannelEntry(
                f"{e.name}.force", "N", what, "element", e.name, "force", vector=True
            )
        elif _acts_as_one(parts, e):
            of = f"of {e.law.what} {e.name} on its {'second ' if len(e.bodies) > 1 else ''}body"
            for quantity, unit in _WRENCH:
                name, what = f"{e.name}.{quantity}", f"{quantity} {of}"
                yield ChannelEntry(name, unit, what, "element", e.name, quantity, vector=True)
        else:
            yield from _on_bodies(parts, e.name, e.bodies, "force")


def _actuator(parts: Parts, e: Element) -> Iterator[ChannelEntry]:
    """Effort, speed and power of an actuator along its joint's coordinate, `Parts.actuated`."""
    along, name = parts.actuated[e.name], e.name
    angle = "angle" in along.partition(".")[2]
    effort, unit, speed = ("torque", "N m", "rad/s") if angle else ("effort", "N", "m/s")
    of = f"of actuator {name}, along {along}"
    yield ChannelEntry(f"{name}.{effort}", unit, f"{effort} {of}", "actuator", name, "effort")
    yield ChannelEntry(f"{name}.speed", speed, f"speed {of}", "actuator", name, "speed")
    yield ChannelEntry(f"{name}.power", "W", f"power {of}", "actuator", name, "power")


def _acts_as_one(parts: Parts, e: Element) -> bool:
    """Whether an element acts on one body, or on two by action and reaction."""
    moving = [i for i in e.bodies if i >= 0]
    return len(set(e.bodies)) <= 2 and all(parts.bodies[i].kind is not SCALAR for i in moving)


def _friction(parts: Parts) -> Iterator[ChannelEntry]:
    for e in parts.friction:
        name = e.name.removesuffix(".friction")
        kind = parts.joints[name].kind
        coordinates = () if kind is None else kind.coordinates
        for quantity, unit, of in (("torque", "N m", "angle"), ("force", "N", "displacement")):
            if of in coordinates:
                what = f"{quantity} of friction in joint {name}, along its {of}"
                whole = f"{name}.friction_{quantity}"
                # What is viscous alone follows from the rate, whatever the reaction is.
                joint = name if of_reaction(e) else ""
                yield ChannelEntry(whole, unit, what, "friction", name, quantity, joint=joint)


def _multipliers(system: Any, parts: Parts | None) -> Iterator[ChannelEntry]:
    """Of constraints that act at no point; joints have forces and moments."""
    joints = {} if parts is None else parts.joints
    for name, rows in system.groups.items():
        known = joints.get(name)
        if known is not None and known.a is not None and known.b is not None:
            continue
        for k in range(len(rows)):
            row = name if len(rows) == 1 else f"{name}[{k}]"
            what = f"Lagrange multiplier of {row}"
            yield ChannelEntry(
                f"{row}.multiplier", "", what, "multiplier", name, str(k), joint=name
            )


def _energies(system: Any, parts: Parts | None) -> Iterator[ChannelEntry]:
    for name, what in ENERGIES.items():
        if name == "potential_energy" and parts is None and system.model.V is None:
            continue
        yield ChannelEntry(name, "" if parts is None else "J", what, "energy")
