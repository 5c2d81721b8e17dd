"""Joint coordinates: how each body stands on its parent in the tree.

At a state on the joints of the tree the coordinates of a branch follow from the two bodies it
joins alone. With the markers' axes X and origins o,

    R = X_aᵀ X_b,   s = X_aᵀ (o_b − o_a),
    ṡ = X_aᵀ (ȯ_b − ȯ_a − ω_a × (o_b − o_a)),   ω_ab = ω_b − ω_a.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zwang.codegen.casadi_operators import written_once
from zwang.coordinates.joint.articulated_body import product
from zwang.coordinates.joint.link_constants import CYCLES, LinkConstants
from zwang.coordinates.joint.tree import Branch, Tree
from zwang.multibody.pose import SCALAR, config_of

if TYPE_CHECKING:
    import casadi

__all__ = ["entered", "entered_branch", "marker_names"]


@dataclass(frozen=True)
class _BodyPose:
    """Place, axes and velocities of a body, all in the world, and its Euler parameters."""

    r: casadi.SX
    R: casadi.SX
    velocity: casadi.SX
    spin: casadi.SX
    e: casadi.SX


def entered(
    tree: Tree, q: casadi.SX, v: casadi.SX, p: casadi.SX, numbers: LinkConstants
) -> tuple[casadi.SX, casadi.SX]:
    """q̂ and v̂ of a state of the mechanism on the joints of the tree."""
    import casadi as ca

    q_joint, v_joint = ca.SX.zeros(tree.nq, 1), ca.SX.zeros(tree.nv, 1)
    (starts, v_starts), slots = tree.parts.places, tree.parts.slots
    for branch in tree.branches:
        if not branch.steps:
            continue
        states = [
            (q[starts[i] : starts[i + 1]], v[v_starts[i] : v_starts[i + 1]])
            if i >= 0
            else (ca.SX(0, 1), ca.SX(0, 1))
            for i in (branch.parent, branch.child)
        ]
        marks = [p[slice(*slots[name])] for name in marker_names(branch)]
        offsets = [numbers.offset[k] for k in branch.links]
        value, rate = entered_branch(tree, branch, states, marks, offsets)
        link = tree.links[branch.links[0]]
        q_joint[link.q : link.q + value.numel()] = value
        v_joint[link.v : link.v + rate.numel()] = rate
    return q_joint, v_joint


def entered_branch(
    tree: Tree,
    branch: Branch,
    states: Sequence[tuple[casadi.SX, casadi.SX]],
    marks: Sequence[casadi.SX],
    offsets: Sequence[casadi.SX],
) -> tuple[casadi.SX, casadi.SX]:
    """q̂ and v̂ of the links of a branch.

    Parameters
    ----------
    states : q and v of the parent and of the child; empty for the ground.
    marks : what `marker_names` names.
    offsets : of the links.
    """
    import casadi as ca

    motion = tree.links[branch.links[0]].motion
    if motion in ("free", "scalar"):  # the coordinates of the body itself
        return states[1]
    ends = zip((branch.parent, branch.child), states, strict=True)
    a, b = (_body(tree, i, *state) for i, state in ends)
    if motion == "spherical":
        conjugate = ca.vertcat(a.e[0], -a.e[1:])
        return product(conjugate, b.e), ca.mtimes(b.R.T, b.spin - a.spin)
    found = _steps(branch, a, b, _markers(tree, branch, marks))
    values = [value + offset for (value, _), offset in zip(found, offsets, strict=True)]
    return ca.vertcat(*values), ca.vertcat(*(rate for _, rate in found))


def marker_names(branch: Branch) -> list[str]:
    """Names of the parameters of a branch's markers: arm and axes on the parent, on the child."""
    joint = branch.joint
    if joint is None:
        return []
    assert joint.layout is not None
    axes = "axes" if joint.layout.plane is None else "along"
    ends = "ba" if branch.reverse else "ab"
    return [f"{joint.elements[0]}.{what}_{end}" for end in ends for what in ("at", axes)]


def _steps(
    branch: Branch, a: _BodyPose, b: _BodyPose, markers: list[tuple[casadi.SX, casadi.SX]]
) -> list[tuple[casadi.SX, casadi.SX]]:
    """Slide or angle, and its rate, of each link of a branch."""
    import casadi as ca

    poses = [(x.r, x.R, x.velocity, x.spin) for x in (a, b)]
    A, B, R, apart, moving, spin = _relative(*poses[0], *poses[1], *markers[0], *markers[1])
    turns = [axis for motion, axis in branch.steps if motion == "revolute"]
    found = []
    for motion, axis in branch.steps:
        if motion == "prismatic":
            found.append((apart[axis], moving[axis]))
        elif len(turns) == 1:
            i, j = (axis + 1) % 3, (axis + 2) % 3
            angle = ca.atan2(R[j, i] - R[i, j], R[i, i] + R[j, j])
            found.append((angle, ca.dot(A[:, axis], spin)))
        else:
            bend = _oblique_bend if branch.oblique else _bend
            found.append(bend(R, A, B, spin, turns, axis))
    return found


@written_once(3, (3, 3), 3, 3, 3, (3, 3), 3, 3, 3, (3, 3), 3, (3, 3))
def _relative(
    r_a: casadi.SX,
    R_a: casadi.SX,
    velocity_a: casadi.SX,
    spin_a: casadi.SX,
    r_b: casadi.SX,
    R_b: casadi.SX,
    velocity_b: casadi.SX,
    spin_b: casadi.SX,
    arm_a: casadi.SX,
    X_a: casadi.SX,
    arm_b: casadi.SX,
    X_b: casadi.SX,
) -> tuple[casadi.SX, ...]:
    """Axes of two markers, those of the second in those of the first, s, ṡ and ω_ab."""
    import casadi as ca

    A, B = ca.mtimes(R_a, X_a), ca.mtimes(R_b, X_b)
    at_a, at_b = ca.mtimes(R_a, arm_a), ca.mtimes(R_b, arm_b)
    apart = r_b + at_b - r_a - at_a
    moving = velocity_b + ca.cross(spin_b, at_b) - velocity_a - ca.cross(spin_a, at_a)
    moving = ca.mtimes(A.T, moving - ca.cross(spin_a, apart))
    return A, B, ca.mtimes(A.T, B), ca.mtimes(A.T, apart), moving, spin_b - spin_a


def _bend(
    R: casadi.SX, A: casadi.SX, B: casadi.SX, spin: casadi.SX, turns: list[int], axis: int
) -> tuple[casadi.SX, casadi.SX]:
    """One of two turns R = R_i(α) R_j(β), about the parent's axis i and then the child's axis j.

    With k the third axis and ± as (i, j, k) are in cyclic order or not,
    R_kj = ± cos-free sin α, R_jj = cos α and R_ik = ± sin β, R_ii = cos β.
    """
    import casadi as ca

    i, j = turns
    k, sign = 3 - i - j, 1.0 if (i + 1) % 3 == j else -1.0
    if axis == i:
        return ca.atan2(sign * R[k, j], R[j, j]), ca.dot(A[:, i], spin)
    return ca.atan2(sign * R[i, k], R[i, i]), ca.dot(B[:, j], spin)


def _oblique_bend(
    R: casadi.SX, A: casadi.SX, B: casadi.SX, spin: casadi.SX, turns: list[int], axis: int
) -> tuple[casadi.SX, casadi.SX]:
    """The same where the axes u of A and w of B meet at γ: u·w = cos γ is an entry of R.

    The entries for the angles have a common factor sin γ, and spin = α̇ u + β̇ w.
    """
    import casadi as ca

    i, j = turns
    angle, _ = _bend(R, A, B, spin, turns, axis)
    own, other = (A[:, i], B[:, j]) if axis == i else (B[:, j], A[:, i])
    cosine = R[i, j]
    return angle, (ca.dot(own, spin) - cosine * ca.dot(other, spin)) / (1 - cosine**2)


def _markers(
    tree: Tree, branch: Branch, marks: Sequence[casadi.SX]
) -> list[tuple[casadi.SX, casadi.SX]]:
    """Arm and axes of the markers on parent and child, in the axes of their bodies."""
    import casadi as ca

    joint = branch.joint
    if joint is None:
        plane = tree.parts.bodies[branch.child].kind.plane
        k = 2 if plane is None else plane[2]
        axes = ca.SX(ca.DM(CYCLES[(k + 1) % 3]))
        return [(ca.SX.zeros(3, 1), axes)] * 2
    assert joint.layout is not None
    found = []
    for at, directions in (marks[:2], marks[2:]):
        if joint.layout.plane is None:
            found.append((at, ca.reshape(directions, 3, 3).T))
            continue
        i, j, k = joint.layout.plane
        arm, along, normal = ca.SX.zeros(3, 1), ca.SX.zeros(3, 1), ca.SX.zeros(3, 1)
        arm[i], arm[j], normal[k] = at[0], at[1], 1
        along[i], along[j] = directions[0], directions[1]
        x, z = (along, normal) if joint.layout.normal[0] else (normal, along)
        found.append((arm, ca.horzcat(x, ca.cross(z, x), z)))
    return found


def _body(tree: Tree, i: int, own: casadi.SX, speed: casadi.SX) -> _BodyPose:
    import casadi as ca

    zero, one = ca.SX.zeros(3, 1), ca.SX(ca.DM([1, 0, 0, 0]))
    if i < 0:
        return _BodyPose(zero, ca.SX.eye(3), zero, zero, one)
    kind = tree.parts.bodies[i].kind
    assert kind is not SCALAR
    if kind.plane is None:
        R = ca.reshape(config_of(kind, own)[3:], 3, 3).T
        return _BodyPose(own[:3], R, speed[:3], ca.mtimes(R, speed[3:]), own[3:])
    a, b, k = kind.plane
    r, velocity, spin, R = (ca.SX.zeros(3, n) for n in (1, 1, 1, 3))
    r[a], r[b], velocity[a], velocity[b], spin[k] = own[0], own[1], speed[0], speed[1], speed[2]
    i, j = (k + 1) % 3, (k + 2) % 3
    R[k, k], R[i, i], R[j, j], R[i, j], R[j, i] = 1, own[2], own[2], -own[3], own[3]
    return _BodyPose(r, R, velocity, spin, one)
