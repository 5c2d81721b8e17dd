"""Quantities that analyses prescribe or return by name: coordinates, joints, points of bodies.

A quantity c(q, t) has the rate ċ = c_q q̇ + c_t and the acceleration c̈ = J v̇ + c̈₀ with J = ∂ċ/∂v;
the value, the rate or the acceleration is meant by the name: ``slider.position``,
``slider.velocity``, ``slider.acceleration``; ``pin.angle``, ``pin.angle_rate``,
``pin.angle_acceleration``. Vectors are in ground axes, with parts ``.x``, ``.y``, ``.z`` and
``.magnitude``.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zwang.errors import InputError, UnknownNameError, ZwangError
from zwang.multibody.pose import SCALAR
from zwang.results.channel_catalog import ACCELERATION, PARTS, catalog
from zwang.results.channel_expressions import ChannelExpressions, body_pose, body_position
from zwang.terms import FloatArray
from zwang.tracing.differentiate import jacobian, rate
from zwang.tracing.symbol import expression

if TYPE_CHECKING:
    import casadi

    from zwang.multibody.body import Body
    from zwang.multibody.frozen import Parts
    from zwang.system import System
    from zwang.tracing.traced_model import TracedModel

__all__ = [
    "Quantity",
    "QuantityDerivatives",
    "derivatives",
    "parts_of",
    "quantity",
    "quantity_names",
    "values_of",
]

#: What a quantity of a body is a derivative of, and how often it is differentiated.
_DERIVATIVES = {
    "position": ("position", 0),
    "velocity": ("position", 1),
    "acceleration": ("position", 2),
    "center": ("center", 0),
    "angular_velocity": ("rotation", 1),
    "angular_acceleration": ("rotation", 2),
}


@dataclass(frozen=True)
class Quantity:
    """What a name means.

    Attributes
    ----------
    name : of the quantity itself, without derivative and part.
    order : 0 for its value, 1 for its rate, 2 for its acceleration.
    part : ``"x"``, ``"y"``, ``"z"``, ``"magnitude"`` of a vector, or empty.
    value : c, (k, 1), or (sin, cos) of an angle; None where there is a rate alone.
    rate : ċ, shape (k, 1).
    angle : whether the value is the pair (sin, cos).
    """

    name: str
    order: int
    part: str
    value: casadi.SX | None
    rate: casadi.SX
    angle: bool = False


class QuantityDerivatives(NamedTuple):
    """A quantity at states (n, …): value (n, k) or None, rate (n, k), J (n, k, nv), c̈₀ (n, k)."""

    value: FloatArray | None
    rate: FloatArray
    jacobian: FloatArray
    bias: FloatArray


def quantity_names(system: System) -> tuple[str, ...]:
    """Names of all quantities of motion, without the parts of vectors, as in the catalog."""
    entries = catalog(system, system.mechanism).values()
    return tuple(e.name for e in entries if e.kind in ("coordinate", "velocity", "joint", "body"))


def quantity(system: System, name: str, what: str = "channel") -> Quantity:
    """The quantity of a name.

    Raises
    ------
    UnknownNameError : there is none; the message lists those there are.
    """
    if not isinstance(name, str):
        raise UnknownNameError(what, repr(name), quantity_names(system))
    s = system.model.state
    if name in system.coordinates:
        i = system.coordinates.index(name)
        return Quantity(name, 0, "", s.q[i], s.q_dot[i])
    if name in system.velocities:
        return Quantity(name, 1, "", None, s.v[system.velocities.index(name)])
    order, joint = 0, name
    if name.endswith(ACCELERATION):
        order, joint = 2, name.removesuffix(ACCELERATION)
    if joint in system.channels and not (order and joint.endswith("_rate")):
        state, is_rate = system.channel(joint)
        last = state.numel() - 1
        base = joint.removesuffix("_rate") if is_rate else joint
        return Quantity(base, 1 if is_rate else order, "", state[:last], state[last], last == 2)
    owner, _, rest = name.partition(".")
    kind, _, part = rest.partition(".")
    bodies = _bodies(system)
    if owner in bodies and kind in _DERIVATIVES and part in ("", *PARTS):
        of, order = _DERIVATIVES[kind]
        value, own_rate = _of_body(system, owner, of)
        return Quantity(f"{owner}.{of}", order, part, value, own_rate)
    if name in system.outputs:
        return _of_output(system, name, what)
    raise UnknownNameError(what, name, [*quantity_names(system), *system.outputs])


def _of_output(system: System, name: str, what: str) -> Quantity:
    """An output of the user's that is a function of positions and time."""
    import casadi as ca

    channels, s = ChannelExpressions(system), system.model.state
    value = ca.SX(0, 1)  # of functions that are called, and of reactions that are not determinate
    if not system.opaque:
        with suppress(ZwangError):
            value = ca.densify(channels[name])
    known = ca.vertcat(s.q, s.t, s.p)
    if value.numel() != 1 or any(not ca.depends_on(known, x) for x in ca.symvar(value)):
        raise InputError(
            f"{what} {name!r}",
            must="be a function of positions and time, one number, where it is an output",
            but="is a vector"
            if value.numel() > 1
            else "depends on velocities or forces, or on functions that are called numerically",
            advice="Name a coordinate of a joint, or a component of the position of a body, as "
            "'load.position.x': a body's origin may be any point of it, and a body that is fixed "
            "to another by m.fixed marks one more.",
        )
    return Quantity(name, 0, "", value, rate(value, s))


def parts_of(system: System) -> Parts | None:
    """Bodies and joints of a mechanism's system; a system of functions has none."""
    return system.mechanism


def _bodies(system: System) -> dict[str, Body]:
    parts = parts_of(system)
    return {} if parts is None else {b.name: b for b in parts.bodies if b.kind is not SCALAR}


def _of_body(system: System, name: str, of: str) -> tuple[casadi.SX | None, casadi.SX]:
    """Position and velocity of a body's origin or center, or nothing and its angular velocity."""
    import casadi as ca

    pose = body_pose(system, name, about_origin=of != "center")
    if of == "rotation":
        return None, ca.vertcat(*map(expression, pose.angular_velocity))
    place = body_position(system, name, about_origin=of != "center")
    return place, ca.vertcat(*map(expression, pose.velocity))


def derivatives(
    system: System, of: Quantity, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
) -> QuantityDerivatives:
    """Value, rate, J and c̈₀ of a quantity at states (n, …)."""

    def outputs(model: TracedModel) -> dict[str, casadi.SX]:
        s = model.state
        parts = {} if of.value is None else {"value": of.value}
        return {**parts, "rate": of.rate, "J": jacobian(of.rate, s.v, s), "bias": rate(of.rate, s)}

    label = hashlib.sha256(of.name.encode()).hexdigest()[:16]
    found = system.equations.evaluated(f"quantity_{label}", outputs, q, v, t, p)
    value = None if of.value is None else found[0]
    own_rate, J, bias = found[-3:]
    k = own_rate.shape[-1]
    if value is not None and of.angle:
        value = np.arctan2(value[..., :1], value[..., 1:])
    return QuantityDerivatives(value, own_rate, J.reshape(*q.shape[:-1], k, v.shape[-1]), bias)


def values_of(of: Quantity, found: QuantityDerivatives, acceleration: FloatArray) -> FloatArray:
    """What the name means at the states, shape (n,) or (n, 3); angles within half a turn."""
    if of.order == 2:
        values = np.einsum("...ij,...j->...i", found.jacobian, acceleration) + found.bias
    else:
        values = found.rate if of.order else found.value
    assert values is not None
    if of.part == "magnitude":
        return np.linalg.norm(values, axis=-1)
    if of.part:
        return values[..., "xyz".index(of.part)]
    return values[..., 0] if values.shape[-1] == 1 else values
