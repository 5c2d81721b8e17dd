"""Independent coordinates: which displacements and velocities name the state of a linearization.

Candidates are the coordinates of the joints first, then those of bodies or of the system; of these
a rank-revealing QR decomposition chooses as many as there are freedoms. What a user names comes
first. A small turn of a body about one of its own axes is ``body.turn1``, in a plane ``body.turn``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zwang.analysis.equations_of import EquationsOf
from zwang.errors import InputError, UnknownNameError, shown
from zwang.terms import FloatArray

__all__ = ["Candidate", "candidates", "chosen", "named"]

#: Coordinates of joints are taken as long as they are this far from depending on each other.
CLEAR = 1e-2
#: What a user names may be this close to depending on what comes before it.
BARELY = 1e-8


@dataclass(frozen=True)
class Candidate:
    """A coordinate with its rate.

    Attributes
    ----------
    name, rate : names of the displacement and of the velocity; empty if there is none.
    by_pi : derivatives of the coordinate by displacements, shape (n,).
    rate_by_pi, rate_by_v : those of the rate by displacements and velocities.
    """

    name: str
    rate: str
    by_pi: FloatArray
    rate_by_pi: FloatArray
    rate_by_v: FloatArray


def candidates(
    equations: EquationsOf, q: FloatArray, v: FloatArray, joints: Sequence[str] | None = None
) -> tuple[list[Candidate], list[Candidate]]:
    """Coordinates of joints, and those of bodies or of the system.

    Parameters
    ----------
    joints : channels to look at; all joint coordinates if not given.
    """
    system = equations.system
    names = [c for c in system.channels if not c.endswith("_rate")] if joints is None else joints
    rows = equations.joint_channels(names, q, v) if names else []
    of_joints = [
        Candidate(name, f"{name}_rate", value.by_pi, rate.by_pi, rate.by_v)
        for name, (value, rate) in zip(names, rows, strict=True)
    ]
    if equations.parts is not None:
        return of_joints, _of_bodies(equations)
    zero, unit = np.zeros(equations.nv), np.eye(equations.nv)
    if system.definition.kinematics is None:
        pairs = zip(system.coordinates, system.velocities, unit, strict=True)
        return of_joints, [Candidate(c, w, row, zero, row) for c, w, row in pairs]
    N = equations.values(q).N
    positions = [
        Candidate(c, "", row, zero, zero) for c, row in zip(system.coordinates, N, strict=True)
    ]
    rates = [
        Candidate("", w, zero, zero, row) for w, row in zip(system.velocities, unit, strict=True)
    ]
    return of_joints, positions + rates


def _of_bodies(equations: EquationsOf) -> list[Candidate]:
    """Shifts and small turns of bodies."""
    parts, unit = equations.parts, np.eye(equations.nv)
    zero, found = np.zeros(equations.nv), []
    _, starts = parts.places
    for body in parts.bodies:
        for k, ending in enumerate(body.kind.v):
            row = unit[starts[body.index] + k]
            if ending == "rate":
                name, rate = body.name, f"{body.name}.rate"
            else:
                short = ending.replace("omega", "turn") if "omega" in ending else ending[1:]
                name, rate = f"{body.name}.{short}", f"{body.name}.{ending}"
            found.append(Candidate(name, rate, row, zero, row))
    return found


def named(
    equations: EquationsOf,
    q: FloatArray,
    v: FloatArray,
    independent: Sequence[str] | None,
) -> tuple[list[Candidate], list[list[Candidate]]]:
    """What a user named, and the groups that the rest is chosen from."""
    of_joints, further = candidates(equations, q, v)
    if independent is None:
        return [], [of_joints, further]
    if isinstance(independent, str) or not isinstance(independent, Sequence):
        raise InputError(
            "independent", found=shown(independent), expected="a list of names of coordinates"
        )
    known = {c.name: c for c in [*of_joints, *further] if c.name}
    known.update({c.rate: c for c in further if not c.name})
    for name in independent:
        if name not in known:
            raise UnknownNameError("independent coordinate", str(name), known)
    twice = [name for name in independent if list(independent).count(name) > 1]
    if twice:
        raise InputError(
            "independent", found=f"{twice[0]!r} more than once", expected="each name once"
        )
    return [known[name] for name in independent], [of_joints, further]


def chosen(
    given: Sequence[tuple[str, FloatArray]],
    groups: Sequence[Sequence[tuple[str, FloatArray]]],
    D: FloatArray,
    d: FloatArray,
) -> list[str]:
    """Names of as many rows as D has columns, independent along D.

    Parameters
    ----------
    given : named rows that must be taken.
    groups : further ones, those of the first group before those of the next.
    D, d : basis of what is allowed, and scales of the velocities.
    """
    count = D.shape[1]
    if len(given) > count:
        raise InputError(
            "independent",
            found=f"{len(given)} names ({', '.join(name for name, _ in given)})",
            expected=f"at most {count}, as many as there are freedoms",
        )
    seen, picked = np.zeros((0, count)), list[str]()

    def rest(row: FloatArray) -> FloatArray:
        along = (row @ D) / max(float(np.linalg.norm(row * d)), 1e-300)
        return along - seen.T @ (seen @ along)

    def take(name: str, left: FloatArray) -> None:
        nonlocal seen
        seen = np.vstack([seen, left / np.linalg.norm(left)])
        picked.append(name)

    for name, row in given:
        left = rest(row)
        if np.linalg.norm(left) < BARELY:
            raise InputError(
                f"independent coordinate {name!r}",
                found="one that follows from those before it"
                if picked
                else "one that the constraints do not let change",
                expected="coordinates that can change independently of each other",
                advice="Leave it out: what is missing is chosen.",
            )
        take(name, left)
    everything = [one for group in groups for one in group]
    for group, threshold in [*((g, CLEAR) for g in groups), (everything, 0.0)]:
        pool = [(name, row) for name, row in group if name not in picked]
        if not pool or len(picked) == count:
            continue
        rows = np.array([row for _, row in pool])
        lengths = np.maximum(np.linalg.norm(rows * d, axis=1), 1e-300)
        left = (rows @ D) / lengths[:, None]
        left = left - (left @ seen.T) @ seen
        while len(picked) < count:
            sizes = np.linalg.norm(left, axis=1)
            best = int(sizes.argmax())
            if not sizes[best] > threshold:
                break
            # Once more, against what rounding left of those before.
            direction = left[best] - seen.T @ (seen @ left[best])
            take(pool[best][0], direction)
            left = left - np.outer(left @ seen[-1], seen[-1])
            left[best] = 0.0
    return picked
