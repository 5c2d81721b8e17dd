"""Motions of bodies in words: about which axis one turns, along which line it moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zwang.bodies.body import Body
from zwang.bodies.parts import Parts
from zwang.bodies.pose import SCALAR
from zwang.diagnosis.wording import listing
from zwang.errors import NotUniqueError
from zwang.rotation.quaternion import rotation_matrix
from zwang.terms import FloatArray

__all__ = ["body_motion", "moving_bodies", "spins_in_place", "undetermined_error"]

#: Parts of a motion below this, relative to the largest, are rounding.
NOISE = 1e-9
#: Motions told in an error before the rest is only counted.
TOLD = 4


def undetermined_error(parts: Parts, q: FloatArray, directions: FloatArray) -> NotUniqueError:
    """The error of bodies that neither mass nor constraint hold, in words of their motions.

    Parameters
    ----------
    directions : basis of the undetermined velocities, shape (nv, k).
    """
    bodies = [b for b in parts.bodies if any(b in moving_bodies(parts, d) for d in directions.T)]
    said = [
        listing([body_motion(parts, b, q, d) for b in moving_bodies(parts, d)])
        for d in directions.T[:TOLD]
    ]
    more = directions.shape[1] - len(said)
    said += [f"{more} more"] if more else []
    names = listing([repr(b.name) for b in bodies])
    kinds = {"coordinate" if b.kind is SCALAR else "body" for b in bodies}
    kind = kinds.pop() if len(bodies) == 1 else "bodies"
    return NotUniqueError(
        f"{kind} {names}",
        directions=directions,
        found=f"a motion with neither mass nor constraint ({'; '.join(said)})",
        expected="that mass, inertia or a joint determines every motion",
        advice=f"Give {listing([b.name for b in bodies], 'or')} mass and inertia, or a joint that "
        "holds it.",
    )


def spins_in_place(parts: Parts, v: FloatArray) -> bool:
    """Whether all that moves is bodies with mass that turn about their own centres of mass."""
    _, starts = parts.places
    limit = NOISE * float(np.abs(v).max(initial=0.0))
    for body in moving_bodies(parts, v):
        turns = {6: 3, 3: 1}.get(body.kind.nv, 0)
        shift = v[starts[body.index] : starts[body.index + 1] - turns]
        if body.inertia.mass == 0.0 or np.abs(shift).max(initial=0.0) > limit:
            return False
    return True


def moving_bodies(parts: Parts, v: FloatArray) -> list[Body]:
    """Bodies that take part in a motion."""
    _, starts = parts.places
    limit = NOISE * float(np.abs(v).max(initial=0.0))
    return [
        b
        for i, b in enumerate(parts.bodies)
        if np.abs(v[starts[i] : starts[i + 1]]).max(initial=0.0) > limit
    ]


def body_motion(parts: Parts, body: Body, q: FloatArray, v: FloatArray) -> str:
    """``rod turns about y through (1, 0, 0)``, ``slider moves along x``.

    The motion of a rigid body with velocity u of its centre r and angular velocity ω is a turn
    about the line through r + ω × u/ω² along ω, and a slide ω·u/ω² along it for each radian.
    """
    q_starts, v_starts = parts.places
    i = body.index
    own, rate = q[q_starts[i] : q_starts[i + 1]], v[v_starts[i] : v_starts[i + 1]]
    if body.kind is SCALAR:
        return f"{body.name} changes"
    center, u, omega = np.zeros(3), np.zeros(3), np.zeros(3)
    if body.kind.plane is None:
        center, u = own[:3], rate[:3]
        omega = rotation_matrix(own[3:]) @ rate[3:]
    else:
        a, b, k = body.kind.plane
        center[[a, b]], u[[a, b]], omega[k] = own[:2], rate[:2], rate[2]
    turn = float(np.linalg.norm(omega))
    if turn <= NOISE * float(np.abs(rate).max(initial=0.0)):
        return f"{body.name} moves along {_direction(u)}"
    axis = omega / turn
    through = _rounded(center + np.cross(omega, u) / turn**2)
    slide = float(axis @ u) / turn
    along = f", {slide:.4g} m along it for each radian" if abs(slide) > NOISE else ""
    return f"{body.name} turns about {_direction(axis)} through {_listed(through)}{along}"


def _direction(d: FloatArray) -> str:
    """``x`` for an axis of the world, else three numbers."""
    unit = _rounded(d / np.linalg.norm(d))
    for k, letter in enumerate("xyz"):
        if abs(abs(unit[k]) - 1.0) < NOISE:
            return letter
    return _listed(unit)


def _rounded(values: FloatArray) -> FloatArray:
    return np.round(values, 6) + 0.0


def _listed(values: Sequence[float] | FloatArray) -> str:
    return f"({', '.join(f'{x:.4g}' for x in values)})"
