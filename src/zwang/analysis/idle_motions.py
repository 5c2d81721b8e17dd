"""Kinematic analysis: motions that drivers and joints leave open, and missing drivers.

The coupler of an RSSR linkage may turn about the line of its two ball joints: nothing else moves,
and no coordinate of a joint changes. Such a motion is idle and is kept as small as can be. All
others are drivers that are missing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zwang.analysis.dead_points import free_motions, moving_names
from zwang.analysis.path_following import Follower
from zwang.analysis.quantities import derivatives, parts_of, quantity
from zwang.diagnosis.wording import listing
from zwang.errors import InputError, NotUniqueError
from zwang.multibody.frozen import Parts
from zwang.terms import FloatArray

__all__ = ["require_driven"]

#: Rates below this, for a motion of unit size, are rounding.
NOTHING = 1e-7


def require_driven(
    follower: Follower, x: FloatArray, given: Sequence[str] | None = None
) -> list[str]:
    """Refuse a motion that drivers leave open; tell those that are idle.

    Parameters
    ----------
    given : quantities that are given in place of drivers.
    """
    if not follower.equations.row_names:
        raise InputError(
            "kinematics",
            must="have joints and drivers that determine the motion",
            but="there are no constraints",
        )
    if not follower.idle:
        return []
    system, motions = follower.equations.system, free_motions(follower, x)
    parts = parts_of(system)
    bodies = [] if parts is None else _idle_bodies(parts, follower, x, motions)
    if len(bodies) == motions.shape[1] == follower.idle:
        turning = f"{listing(bodies)} can turn idly about the line through the joints"
        return [f"{turning}; that is left at rest"]
    names = sorted({n for w in motions.T for n in moving_names(system, w)})
    count = motions.shape[1]
    if given is not None:
        raise NotUniqueError(
            f"motion of {', '.join(map(repr, given))}",
            directions=motions,
            must="determine the whole motion with the constraints, away from singular positions",
            but=f"leaves {count} motion{'s' if count > 1 else ''} open, of {listing(names)}",
            advice="Give quantities of these too. Where they are to move freely, drive what is "
            "given with m.drive and simulate, which has the effort of the driver, or find efforts "
            "with m.servo.",
        )
    raise NotUniqueError(
        "kinematics",
        directions=motions,
        must="have a driver for each degree of freedom, and no start in a singular position",
        but=f"no driver determines {count} motion{'s' if count > 1 else ''}, of {listing(names)}",
        advice="Drive a coordinate of these with m.drive, or go along one: along=(coordinate, "
        "values).",
    )


def _idle_bodies(parts: Parts, follower: Follower, x: FloatArray, motions: FloatArray) -> list[str]:
    """Bodies that turn in place in the free motions, one for each."""
    _, starts = parts.places
    found = []
    A = follower.equations.geometry(x).rows[:, :-1]
    for body in parts.bodies:
        own = slice(starts[body.index], starts[body.index + 1])
        _, values, Vt = np.linalg.svd(A[:, own])
        free = Vt[int(np.sum(values > 1e-9 * max(1.0, values.max(initial=0.0)))) :]
        for w in free:
            v = np.zeros(motions.shape[0])
            v[own] = w
            if _in_place(parts, body.index, w) and _unnoticed(follower, x, v):
                found.append(body.name)
    return found


def _in_place(parts: Parts, index: int, w: FloatArray) -> bool:
    """Whether a body turns about two of its joints, or about its own center."""
    if len(w) != 6:
        return False
    arms = [
        marker.arm
        for joint in parts.joints.values()
        for marker in (joint.a, joint.b)
        if marker is not None and marker.body == index
    ]
    center = float(np.abs(w[:3]).max())
    if center < NOTHING:
        return True
    axis = w[3:]
    apart = max((np.abs(a - b).max() for a in arms for b in arms), default=0.0)
    on_line = all(np.abs(np.cross(axis, a - arms[0])).max() < NOTHING for a in arms)
    return len(arms) >= 2 and apart > 0.0 and on_line


def _unnoticed(follower: Follower, x: FloatArray, v: FloatArray) -> bool:
    """Whether no coordinate of a joint changes in a motion."""
    equations = follower.equations
    system, t = equations.system, np.asarray(equations.frozen)
    q, zero = x[:-1], np.zeros_like(v)
    for name in system.channels:
        if name.endswith("_rate"):
            J = derivatives(system, quantity(system, name), q, zero, t, equations.p).jacobian
            if np.abs(J @ v).max(initial=0.0) > NOTHING:
                return False
    return True
