"""What the reaction of a joint was computed from, for which of its numbers are rounding."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from zwang.multibody.frozen import Parts
from zwang.multibody.marker import Joint
from zwang.multibody.pose import SCALAR
from zwang.results.mechanism_run import parts_of
from zwang.results.run import Run

__all__ = ["forces_beside"]


def forces_beside(
    run: Run, largest: Mapping[str, float], unbounded: Collection[str]
) -> dict[str, float]:
    """Joint → the largest force that its reaction is in balance with [N].

    Of the other joints of bodies that it joins, directly or by way of others but not of the ground,
    and of applied forces on these at the first saved state. What is unbounded tells nothing of the
    size of others.

    Parameters
    ----------
    largest : joint → its largest force.
    unbounded : joints whose force grows without bound.
    """
    parts = parts_of(run)
    groups = _connected(parts, largest)
    applied = _applied(run, parts)
    sizes: dict[int, float] = {}
    for body, size in applied.items():
        sizes[groups[body]] = max(sizes.get(groups[body], 0.0), size)
    of_joints = {name: _moving(parts.joints[name]) for name in largest}
    for name, size in largest.items():
        for body in of_joints[name] if name not in unbounded else ():
            sizes[groups[body]] = max(sizes.get(groups[body], 0.0), size)
    return {
        name: max((sizes.get(groups[body], 0.0) for body in bodies), default=0.0)
        for name, bodies in of_joints.items()
    }


def _moving(joint: Joint) -> list[int]:
    """The bodies of a joint, without the ground."""
    return [m.body for m in (joint.a, joint.b) if m is not None and m.body >= 0]


def _connected(parts: Parts, joints: Collection[str]) -> list[int]:
    """Of each body the number of the bodies that joints connect it with."""
    groups = list(range(len(parts.bodies)))
    for name in joints:
        same = {groups[body] for body in _moving(parts.joints[name])}
        groups = [min(same) if group in same else group for group in groups]
    return groups


def _applied(run: Run, parts: Parts) -> dict[int, float]:
    """Body → the applied force on it at the first saved state."""
    force = run.system.terms(run.q[0], run.v[0], float(run.t[0]), parameters=run.parameters)
    Q, starts = force.applied_force, parts.places[1]
    found = {}
    for body in parts.bodies:
        if body.kind is not SCALAR:
            directions = 3 if body.kind.plane is None else 2
            own = Q[starts[body.index] : starts[body.index] + directions]
            found[body.index] = float(np.linalg.norm(own))
    return found
