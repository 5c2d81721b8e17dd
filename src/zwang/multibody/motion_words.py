"""Multibody motions in words: the axis of rotation, the line of translation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zwang.diagnosis.wording import listing
from zwang.errors import NotUniqueError
from zwang.multibody.body import Body
from zwang.multibody.frozen import Parts
from zwang.multibody.marker import Marker
from zwang.multibody.pose import SCALAR
from zwang.rotation.quaternion import rotation_matrix
from zwang.terms import FloatArray

__all__ = [
    "RateRows",
    "body_motion",
    "joint_rates",
    "moving_bodies",
    "one_by_one",
    "spins_in_place",
    "undetermined_error",
]

#: Parts of a motion below this, relative to the largest, are rounding.
NOISE = 1e-9
#: Entries of undetermined motions, of unit length together, above this are more than what
#: corrections left of others.
TELLING = 1e-4
#: Motions listed in an error before the rest is only counted.
TOLD = 4


def undetermined_error(
    parts: Parts, q: FloatArray, directions: FloatArray, *, pushed: bool = False
) -> NotUniqueError:
    """The error of bodies that neither mass nor constraint hold, in words of their motions.

    Parameters
    ----------
    directions : basis of the undetermined velocities, shape (nv, k).
    pushed : whether forces or moments act along them.
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
        must="have every motion determined by mass, inertia or a joint",
        but=f"there is a motion with none of these ({'; '.join(said)})"
        + (", and a force or moment acts along it" if pushed else ""),
        advice=f"Give {listing([b.name for b in bodies], 'or')} mass and inertia, or a joint that "
        "holds it.",
    )


def one_by_one(parts: Parts, basis: FloatArray) -> FloatArray:
    """A basis of the same motions, each with a rotation, or else a translation, that the others
    lack.

    Parameters
    ----------
    basis : orthonormal, shape (nv, k).
    """
    _, starts = parts.places
    turns, shifts = [], []
    for body in parts.bodies:
        own = list(range(starts[body.index], starts[body.index + 1]))
        count = {6: 3, 3: 1}.get(body.kind.nv, 0)
        shifts += own[: len(own) - count]
        turns += own[len(own) - count :]
    chosen: list[int] = []
    seen = np.zeros((0, basis.shape[1]))
    for i in turns + shifts:
        rest = basis[i] - seen.T @ (seen @ basis[i])
        size = float(np.linalg.norm(rest))
        if size > TELLING:
            chosen.append(i)
            seen = np.vstack([seen, rest / size])
    if len(chosen) < basis.shape[1]:
        return basis
    return np.linalg.solve(basis[chosen].T, basis.T).T


def spins_in_place(parts: Parts, v: FloatArray) -> bool:
    """Whether all that moves is bodies with mass that rotate about their own centres of mass."""
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

    The motion of a rigid body with velocity u of its centre r and angular velocity ω is a rotation
    about the line through r + ω × u/ω² along ω, and a slide ω·u/ω² along it for each radian.
    """
    if body.kind is SCALAR:
        return f"{body.name} changes"
    center, u, omega = _moving(parts, body.index, q, v)
    turn = float(np.linalg.norm(omega))
    if turn <= NOISE * float(np.abs(u).max(initial=0.0)):
        return f"{body.name} moves along {_direction(u)}"
    axis = omega / turn
    through = _rounded(center + np.cross(omega, u) / turn**2)
    slide = float(axis @ u) / turn
    along = f", {slide:.4g} m along it for each radian" if abs(slide) > NOISE else ""
    return f"{body.name} turns about {_direction(axis)} through {_listed(through)}{along}"


@dataclass(frozen=True)
class RateRows:
    """Rates of joints as rows of a matrix by the velocities, with its entries.

    Attributes
    ----------
    names : ``pin.angle`` for each row, for the angles and displacements of all joints.
    rows, columns, entries : where it is not zero.
    """

    names: tuple[str, ...]
    rows: list[int]
    columns: list[int]
    entries: list[float]

    def times(self, V: FloatArray) -> FloatArray:
        """Rates for velocities V, shape (rows, k) for V of shape (nv, k)."""
        found = np.zeros((len(self.names), V.shape[1]))
        np.add.at(found, self.rows, np.array(self.entries)[:, None] * V[self.columns])
        return found


def joint_rates(parts: Parts, q: FloatArray) -> RateRows:
    """Rates of the joints' angles, z·(ω_b − ω_a), and displacements along z, at a configuration."""
    names: list[str] = []
    rows: list[int] = []
    columns: list[int] = []
    entries: list[float] = []

    def add(marker: Marker, shift: FloatArray, turn: FloatArray) -> None:
        """shift·u + rotation·ω, of the velocity u of a body's centre and its angular velocity."""
        if marker.body < 0:
            return
        body, start = parts.bodies[marker.body], parts.places[1][marker.body]
        plane = body.kind.plane
        if plane is None:
            own = [*shift, *(_posed(parts, marker.body, q)[1].T @ turn)]
        else:
            own = [shift[plane[0]], shift[plane[1]], turn[plane[2]]]
        rows.extend([len(names) - 1] * len(own))
        columns.extend(range(start, start + len(own)))
        entries.extend(own)

    for joint in parts.joints.values():
        if joint.kind is None or joint.a is None or joint.b is None:
            continue
        for name in joint.kind.coordinates:
            if name not in ("angle", "displacement"):
                continue
            (P, axes, arm_a), (Q, _, arm_b) = (_marked(parts, m, q) for m in (joint.a, joint.b))
            z, none = axes[:, 2], np.zeros(3)
            names.append(f"{joint.name}.{name}")
            if name == "angle":
                add(joint.b, none, z)
                add(joint.a, none, -z)
            else:  # z·(u_b + ω_b × arm_b − u_a − ω_a × (arm_a + Q − P))
                add(joint.b, z, np.cross(arm_b, z))
                add(joint.a, -z, -np.cross(arm_a + Q - P, z))
    return RateRows(tuple(names), rows, columns, entries)


def _marked(parts: Parts, marker: Marker, q: FloatArray) -> tuple[FloatArray, ...]:
    """Origin and axes of a marker in the world, and its arm from the centre of its body."""
    if marker.body < 0:
        return marker.arm, marker.axes, np.zeros(3)
    center, R = _posed(parts, marker.body, q)
    arm = R @ marker.arm
    return center + arm, R @ marker.axes, arm


def _posed(parts: Parts, index: int, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Centre of mass and rotation of a body."""
    own = q[parts.places[0][index] :]
    plane = parts.bodies[index].kind.plane
    if plane is None:
        return own[:3], rotation_matrix(own[3:7])
    a, b, k = plane
    center, R = np.zeros(3), np.eye(3)
    center[[a, b]] = own[:2]
    first, second = (k + 1) % 3, (k + 2) % 3
    R[first, first] = R[second, second] = own[2]
    R[second, first], R[first, second] = own[3], -own[3]
    return center, R


def _moving(
    parts: Parts, index: int, q: FloatArray, v: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Centre of mass, its velocity and the angular velocity of a body, world axes."""
    center, R = _posed(parts, index, q)
    rate, plane = v[parts.places[1][index] :], parts.bodies[index].kind.plane
    if plane is None:
        return center, rate[:3], R @ rate[3:6]
    a, b, k = plane
    u, omega = np.zeros(3), np.zeros(3)
    u[[a, b]], omega[k] = rate[:2], rate[2]
    return center, u, omega


def _direction(d: FloatArray) -> str:
    """``x`` for an axis of the world, else three numbers, the first of them positive."""
    unit = _rounded(d / np.linalg.norm(d))
    unit = unit * np.sign(unit[unit != 0.0][0]) + 0.0
    for k, letter in enumerate("xyz"):
        if abs(abs(unit[k]) - 1.0) < NOISE:
            return letter
    return _listed(unit)


def _rounded(values: FloatArray) -> FloatArray:
    return np.round(values, 6) + 0.0


def _listed(values: Sequence[float] | FloatArray) -> str:
    return f"({', '.join(f'{x:.4g}' for x in values)})".replace("-", "−")
