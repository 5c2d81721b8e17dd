"""Inputs and outputs of a linearization, by name.

Inputs are generalized forces (the name of a velocity or coordinate), efforts at joints (a joint's
coordinate, or an actuator along it), parameters, and drivers, whose accelerations are the input.
Outputs are coordinates, velocities, channels of joints, multipliers of rows and the force or moment
of a joint.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.analysis.equations_of import EquationsOf
from zwang.errors import InputError, UnknownNameError, shown
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

__all__ = ["Input", "Output", "checked_names", "driver_rows", "input_of", "output_of"]

#: Derivatives below this share of the others are none.
NOTHING = 1e-12


class Input(NamedTuple):
    """A unit of an input as a force (n,) and as right sides of the rows (m,)."""

    force: FloatArray
    right: FloatArray


class Output(NamedTuple):
    """Derivatives of an output by displacements (n,), velocities (n,) and multipliers (m,)."""

    by_pi: FloatArray
    by_v: FloatArray
    by_lam: FloatArray


def checked_names(what: str, names: Sequence[str] | None) -> list[str]:
    """A list of different names."""
    if names is None:
        return []
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise InputError(what, found=shown(names), expected="a list of names")
    for name in names:
        if not isinstance(name, str):
            raise InputError(what, found=shown(name), expected="names")
        if list(names).count(name) > 1:
            raise InputError(what, must="have each name once", but=f"has {name!r} more than once")
    return list(names)


def driver_rows(equations: EquationsOf, names: Sequence[str]) -> dict[str, int]:
    """Inputs that are drivers → the row of each."""
    parts = equations.parts
    if parts is None:
        return {}
    groups = equations.system.groups
    drivers = {e.name for e in parts.constraints if e.law.what == "driver"}
    found: dict[str, int] = {}
    for name in names:
        owner, bracket, rest = name.partition("[")
        if owner not in drivers:
            continue
        rows = groups[owner]
        if bracket and rest.rstrip("]").isdigit() and int(rest.rstrip("]")) < len(rows):
            found[name] = rows[int(rest.rstrip("]"))]
        elif len(rows) == 1:
            found[name] = rows[0]
        else:
            raise InputError(
                f"input {name!r}",
                must="be one row of a driver",
                but=f"the driver has {len(rows)}",
                advice=f"Name it: '{owner}[0]' … '{owner}[{len(rows) - 1}]'.",
            )
    return found


def input_of(
    equations: EquationsOf,
    name: str,
    q: FloatArray,
    v: FloatArray,
    a: FloatArray,
    lam: FloatArray,
    drivers: dict[str, int],
) -> Input:
    """One input at a state."""
    system = equations.system
    force, right = np.zeros(equations.nv), np.zeros(equations.rows)
    along = {} if system.mechanism is None else system.mechanism.actuated
    if name not in system.definition.parameters:
        name = along.get(name, name)
    if name in drivers:
        right[drivers[name]] = 1.0
        return Input(force, right)
    known = [*system.velocities, *(c for c in system.channels if not c.endswith("_rate"))]
    same = system.definition.kinematics is None
    if name in system.velocities or (same and name in system.coordinates):
        names = system.velocities if name in system.velocities else system.coordinates
        force[names.index(name)] = 1.0
        return Input(force, right)
    if name in system.channels and not name.endswith("_rate"):
        return Input(equations.channel(f"{name}_rate", q, v).by_v, right)
    try:
        place = equations.parameter_place(name)
    except UnknownNameError as error:
        further = [*known, *(system.coordinates if same else ()), *error.known]
        raise UnknownNameError("input", name, [*further, *along]) from None
    found = equations.expressions.parameter_slopes(place, q, v, equations.t, equations.p, a, lam)
    moved = np.concatenate([found["phi"], found["rate"], found["H"]])
    if np.abs(moved).max(initial=0.0) > NOTHING:
        row = int(np.argmax(np.abs(found["H"]))) if found["H"].any() else 0
        raise InputError(
            f"input {name!r}",
            must="be a parameter of forces alone",
            but=f"moves a constraint ({system.row_names[row]})",
            advice="Give the motion as a driver, and name the driver.",
        )
    return Input(-found["E"], right)


def output_of(
    equations: EquationsOf, name: str, q: FloatArray, v: FloatArray, lam: FloatArray
) -> Output:
    """One output at a state."""
    system, none = equations.system, np.zeros(equations.rows)
    if name in system.velocities or name in system.coordinates or name in system.channels:
        row = equations.channel(name, q, v)
        return Output(row.by_pi, row.by_v, none)
    if name in system.row_names:
        by_lam = none.copy()
        by_lam[system.row_names.index(name)] = 1.0
        return Output(np.zeros(equations.nv), np.zeros(equations.nv), by_lam)
    found = _wrench(equations, name, q, v, lam)
    if found is not None:
        return found
    joints = [] if equations.parts is None else list(equations.parts.joints)
    further = [
        f"{j}.{what}.{axis}" for j in joints for what in ("force", "moment") for axis in "xyz"
    ]
    raise UnknownNameError("output", name, [*equations.known_channels, *system.row_names, *further])


def _wrench(
    equations: EquationsOf, name: str, q: FloatArray, v: FloatArray, lam: FloatArray
) -> Output | None:
    """``pin.force.x`` or ``pin.moment.z``, on the second body at the joint's point, world axes."""
    parts = equations.parts
    owner, _, rest = name.partition(".")
    what, _, axis = rest.partition(".")
    if parts is None or owner not in parts.joints or what not in ("force", "moment"):
        return None
    joint = parts.joints[owner]
    if axis not in ("x", "y", "z") or joint.a is None or joint.b is None:
        return None
    k, x = "xyz".index(axis), equations.expressions

    def outputs() -> dict[str, casadi.SX]:
        force, moment = _wrench_expression(equations, joint, x)
        e = (force if what == "force" else moment)[k]
        return {"by_q": x.jacobian(e, x.state.q), "by_lam": x.jacobian(e, x.lam), "N": x.model.N}

    arms = hashlib.sha256(joint.a.arm.tobytes() + joint.b.arm.tobytes()).hexdigest()[:16]
    label = f"wrench_{list(parts.joints).index(owner)}_{what}_{axis}_{arms}"
    found = x.evaluate(label, outputs, {"lambda": x.lam}, q, v, [equations.t], equations.p, lam)
    return Output((found["by_q"] @ found["N"])[0], np.zeros(equations.nv), found["by_lam"][0])


def _wrench_expression(equations: EquationsOf, joint: Any, x: Any) -> tuple[Any, Any]:
    """Force and moment as in `zwang.multibody.wrench.joint_wrench`, as expressions of q and λ."""
    import casadi as ca

    parts, system = equations.parts, equations.system
    marker, sign = (joint.b, 1.0) if joint.b.body >= 0 else (joint.a, -1.0)
    body, start = parts.bodies[marker.body], parts.places[1][marker.body]
    rows = system.groups[joint.name]
    own = ca.mtimes(x.model.A[rows, start : start + body.kind.nv].T, x.lam[rows])
    first = parts.places[0][marker.body]
    from zwang.multibody.pose import config_of

    config = config_of(body.kind, x.state.q[first : first + body.kind.nq])
    if body.kind.plane is None:
        R = ca.reshape(config[3:], 3, 3).T
        force, about = own[:3], ca.mtimes(R, own[3:])
    else:
        i, j, k = body.kind.plane
        R, force, about = ca.SX.eye(3), ca.SX.zeros(3, 1), ca.SX.zeros(3, 1)
        a, b = (k + 1) % 3, (k + 2) % 3
        R[a, a] = R[b, b] = config[2]
        R[b, a], R[a, b] = config[3], -config[3]
        force[i], force[j], about[k] = own[0], own[1], own[2]
    arm = ca.mtimes(R, ca.SX(ca.DM(marker.arm)))
    return sign * force, sign * (about - ca.cross(arm, force))
