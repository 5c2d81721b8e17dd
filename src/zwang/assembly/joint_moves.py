"""Held joint coordinates, set by moving whatever is beyond their joints as one rigid whole.

A joint that is in no loop divides a mechanism: whatever is beyond it can be turned and moved about
it, and no other joint notices. Beyond a joint of a held coordinate c the displacement ξ of the next
body, which keeps the joint closed, is

    A ξ = 0,   G ξ = c − c(q),      x ↦ T_parent exp(ξ) x   for all that is beyond

with A the joint's rows and G the slope of the coordinate, both by the velocities of that body. In
a mechanism without loops all held values are met so, and other joints stay as they were placed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.linalg.rank import nullspace
from zwang.multibody.frozen import Parts
from zwang.multibody.joint_coordinates import RATE, value_and_rate
from zwang.multibody.pose import SCALAR, BodyKind
from zwang.rotation.arrays import tilde
from zwang.rotation.quaternion import from_axis_angle, rotation_matrix
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.assembly.mechanism import AssemblyTable

__all__ = ["Branches", "moved_by_joints", "off_by"]

#: Rounds at most; joints of several coordinates turn by this [rad] a round, as their axes turn.
ROUNDS, TURN = 40, 0.5
#: Held values count as reached below this, relative to their size if that is large.
REACHED = 1e-13


@dataclass(frozen=True)
class Branches:
    """How bodies hang on the ground, or on the first of their own: a spanning forest.

    Attributes
    ----------
    order : (body, body it hangs on), the nearer to the root first.
    dividing : joint in no loop → the body beyond it.
    """

    order: tuple[tuple[int, int], ...]
    dividing: Mapping[str, int]

    @classmethod
    def of(cls, parts: Parts, names: Iterable[str], held: Iterable[int]) -> Branches:
        """Of the constraints of some names; held bodies count as joined to the ground."""
        around: dict[int, list[tuple[int, str, int]]] = {
            i: [] for i in range(-1, len(parts.bodies))
        }
        edges = [("", -1, body) for body in held]
        for name in names:
            joint = parts.joints[name]
            own = name if joint.kind is not None and len(joint.bodies) == 2 else ""
            absolute = not (own or joint.drives or joint.couples)  # a place in the world
            bodies = (-1, *joint.bodies) if absolute else joint.bodies
            edges += [(own, a, b) for a, b in pairwise(bodies) if a != b]
        for k, (name, a, b) in enumerate(edges):
            around[a].append((k, name, b))
            around[b].append((k, name, a))
        above: dict[int, tuple[int, int, str]] = {}
        seen: set[int] = set()
        for root in around:  # the ground first
            queue = deque([root] if root not in seen else [])
            seen.add(root)
            while queue:
                here = queue.popleft()
                for k, name, there in around[here]:
                    if there not in seen:
                        seen.add(there)
                        above[there] = here, k, name
                        queue.append(there)
        # Each further edge has a bit, at both its ends: in sums over what is beyond a joint those
        # cancel that do not lead back.
        in_tree = {k for _, k, _ in above.values()}
        bits = dict.fromkeys(around, 0)
        for k, (_, a, b) in enumerate(edges):
            if k not in in_tree:
                bits[a] ^= 1 << k
                bits[b] ^= 1 << k
        dividing: dict[str, int] = {}
        for body, (parent, _, name) in reversed(above.items()):
            if name and not bits[body]:
                dividing[name] = body
            bits[parent] ^= bits[body]
        return cls(tuple((body, parent) for body, (parent, _, _) in above.items()), dividing)


def moved_by_joints(
    table: AssemblyTable, q: FloatArray, held: Mapping[str, float], branches: Branches
) -> FloatArray:
    """q with held coordinates of joints that divide the mechanism, as far as they can be reached.

    Parameters
    ----------
    q : a configuration that satisfies the joints.
    held : joint coordinate → value.
    """
    rows: dict[str, list[int]] = {}
    for k, name in enumerate(table.names("position")):
        rows.setdefault(table.parts.owner(name.split("[")[0]), []).append(k)
    by_joint: dict[str, dict[str, float]] = {}
    for name, value in held.items():
        by_joint.setdefault(name.partition(".")[0], {})[name] = value
    for _ in range(ROUNDS):
        _, A = table.position_rows(q)
        steps: dict[int, tuple[FloatArray, FloatArray]] = {}
        for joint, values in by_joint.items():
            body, own = branches.dividing[joint], rows.get(joint, [])
            step = _displacement(table, q, joint, values, body, A[own])
            if step is not None:
                steps[body] = _screw(table.parts, q, body, step)
        if not steps:
            break
        q = _carried(table.parts, q, branches, steps)
    return q


def off_by(state: FloatArray, value: float) -> float:
    """How far a joint coordinate is from a value; angles by the shorter way round."""
    off = float(value_and_rate(state)[0] - value)
    return float((off + np.pi) % (2.0 * np.pi) - np.pi) if len(state) == 3 else off


def _displacement(
    table: AssemblyTable,
    q: FloatArray,
    joint: str,
    values: Mapping[str, float],
    body: int,
    rows: Any,
) -> FloatArray | None:
    """ξ of the body beyond a joint, of its velocities' kind; None where values are reached.

    Other coordinates of the joint stay, as far as it allows.
    """
    _, starts = table.parts.places
    own = slice(starts[body], starts[body + 1])
    channels = table.equations.joint_channels
    names = [n for n in channels.names if n.partition(".")[0] == joint and not n.endswith(RATE)]
    states = {name: table.state_and_slope(channels[name], q) for name in names}
    wanted = np.array([-off_by(states[name][0], value) for name, value in values.items()])
    if np.abs(wanted).max() <= REACHED * max(1.0, *map(abs, values.values())):
        return None
    A = np.asarray(rows[:, own] if isinstance(rows, np.ndarray) else rows.toarray()[:, own])
    held = np.concatenate([A, [states[name][1][own] for name in values]])
    right = np.concatenate([np.zeros(len(A)), wanted])
    step = np.linalg.lstsq(held, right, rcond=1e-10)[0]
    others = np.array([states[name][1][own] for name in names if name not in values])
    if len(others):
        free = nullspace(held, 1e-10)
        step = step - free @ np.linalg.lstsq(others @ free, others @ step, rcond=1e-10)[0]
    if len(names) > 1:
        step = step * min(1.0, TURN / max(float(np.abs(wanted).max()), TURN))
    return step


def _orientation(kind: BodyKind, own: FloatArray) -> FloatArray:
    """Euler parameters of a body."""
    if kind.plane is None:
        return own[3:]
    return from_axis_angle(np.eye(3)[kind.plane[2]], np.arctan2(own[3], own[2]))


def _screw(
    parts: Parts, q: FloatArray, body: int, step: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Euler parameters e and shift d of x ↦ R(e) x + d, the displacement ξ of a body."""
    (starts, _), kind = parts.places, parts.bodies[body].kind
    own = q[starts[body] : starts[body + 1]]
    r, v, turn = np.zeros(3), np.zeros(3), np.zeros(3)
    if kind.plane is None:
        r, v, turn = own[:3], step[:3], rotation_matrix(own[3:]) @ step[3:]
    else:
        r[list(kind.plane[:2])], v[list(kind.plane[:2])] = own[:2], step[:2]
        turn[kind.plane[2]] = step[2]
    angle = float(np.linalg.norm(turn))
    if angle == 0.0:
        return np.array([1.0, 0.0, 0.0, 0.0]), v
    n = turn / angle
    e = from_axis_angle(n, angle)
    at_origin = (v - np.cross(turn, r)) / angle
    # d = ∫ R(s) v₀ ds over the turn
    K = tilde(n)
    d = angle * np.eye(3) + (1.0 - np.cos(angle)) * K + (angle - np.sin(angle)) * K @ K
    return e, d @ at_origin


def _carried(
    parts: Parts,
    q: FloatArray,
    branches: Branches,
    steps: Mapping[int, tuple[FloatArray, FloatArray]],
) -> FloatArray:
    """q after displacements, each of a body and of all that is beyond it."""
    q, (starts, _) = q.copy(), parts.places
    whole: dict[int, tuple[FloatArray, FloatArray]] = {}
    for body, parent in branches.order:
        before, step = whole.get(parent), steps.get(body)
        if before is not None and step is not None:
            step = _product(before[0], step[0]), rotation_matrix(before[0]) @ step[1] + before[1]
        found = step if step is not None else before
        kind = parts.bodies[body].kind
        if found is None or kind is SCALAR:
            continue
        whole[body], (e, d) = found, found
        own = q[starts[body] : starts[body + 1]]
        turned = _product(e, _orientation(kind, own))
        if kind.plane is None:
            own[:3], own[3:] = rotation_matrix(e) @ own[:3] + d, turned / np.linalg.norm(turned)
            continue
        pair, r = list(kind.plane[:2]), np.zeros(3)
        r[pair] = own[:2]
        own[:2] = (rotation_matrix(e) @ r + d)[pair]
        angle = 2.0 * np.arctan2(turned[1 + kind.plane[2]], turned[0])
        own[2], own[3] = np.cos(angle), np.sin(angle)
    return q


def _product(a: FloatArray, b: FloatArray) -> FloatArray:
    """Euler parameters of R(a) R(b)."""
    return np.concatenate(
        [[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])]
    )
