"""Friction in joints along a run: torque or force along the joint's coordinate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.linalg.products import dot
from zwang.multibody.wrench import joint_wrench, pose
from zwang.results.forces import forces_along
from zwang.results.mechanism_run import joint_rates, parts_of
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.multibody.marker import Joint
    from zwang.results.run import Run

__all__ = ["friction_effort"]


def friction_effort(run: Run, joint: Joint, quantity: str) -> FloatArray:
    """Torque or force of friction along a joint's coordinate, on its second body, (nt,).

    Parameters
    ----------
    quantity : ``"torque"`` or ``"force"``.
    """
    assert joint.kind is not None
    Q = _generalized(run, joint)
    if len(joint.kind.coordinates) > 1:
        return _along_axis(run, joint, Q, quantity)
    (coordinate,) = joint.kind.coordinates
    rate = f"{joint.name}.{coordinate}_rate"
    # As for drivers: Q = Jᵀe, so that e = |Q|² / (J Q).
    along = joint_rates(run, rate, Q) - joint_rates(run, rate, np.zeros_like(Q))
    return np.divide(dot(Q, Q), along, out=np.zeros(len(run)), where=along != 0.0)


def _generalized(run: Run, joint: Joint) -> FloatArray:
    """Generalized force of the friction in a joint, (nt, nv)."""
    found = np.zeros_like(run.v)
    for s, forces in forces_along(run):
        here = slice(s.first, s.last)
        bodies = s.system.equations.of_bodies
        assert bodies is not None
        parts = bodies.parts
        laws = [f for f in parts.frictions if f.element.name == f"{joint.name}.friction"]
        if not laws or s.last <= s.first:
            continue
        p = s.system.parameter_vector(s.parameters)
        state = run.q[here], run.v[here], run.t[here]
        found[here] = bodies.bulk.laws(laws, *state, p, forces.multipliers)
    return found


def _along_axis(run: Run, joint: Joint, Q: FloatArray, quantity: str) -> FloatArray:
    """The part along the axis of a joint that rotates and slides."""
    parts = parts_of(run)
    assert joint.a is not None
    wrench = joint_wrench(parts, joint, Q, run.q)
    axis = joint.a.axes[:, 2]
    z = np.broadcast_to(axis, (len(run), 3))
    if joint.a.body >= 0:
        z = pose(parts, joint.a.body, run.q)[1] @ axis
    return np.einsum("ti,ti->t", wrench.moment if quantity == "torque" else wrench.force, z)
