"""Independent coordinates of a linearization: displacements and velocities that parametrize it.

Candidates are the coordinates of the joints first, then those of bodies or of the system; of these
a rank-revealing QR decomposition chooses as many as there are freedoms. What a user names comes
first. A small turn of a body about one of its own axes is ``body.turn1``, in a plane ``body.turn``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.analysis.equations_of import EquationsOf
from zwang.caching import computed_once
from zwang.errors import InputError, UnknownNameError, shown
from zwang.terms import FloatArray

__all__ = ["Candidate", "CoordinateCandidates", "chosen", "named"]

#: Coordinates of joints are taken as long as they are this far from depending on each other.
CLEAR = 1e-2
#: Nearer they may be where they are complete: an open chain has its joints for states. As much is
#: lost of the sixteen digits.
COMPLETE = 1e-4
#: What a user names may be this close to depending on what comes before it.
BARELY = 1e-8
#: How much shorter each further candidate counts: nothing, but for ties.
TIE = 1e-7


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


class CoordinateCandidates:
    """Coordinates at a state: those of joints, and further ones, made when they are needed."""

    def __init__(self, equations: EquationsOf, q: FloatArray, v: FloatArray) -> None:
        self.equations, self.q, self.v = equations, q, v

    @computed_once
    def of_joints(self) -> list[Candidate]:
        """Coordinates of joints."""
        channels = self.equations.system.channels
        names = [c for c in channels if not c.endswith("_rate")]
        rows = self.equations.joint_channels(names, self.q, self.v) if names else []
        return [
            Candidate(name, f"{name}_rate", value.by_pi, rate.by_pi, rate.by_v)
            for name, (value, rate) in zip(names, rows, strict=True)
        ]

    @computed_once
    def further(self) -> list[Candidate]:
        """Those of bodies, or of the system."""
        equations, system = self.equations, self.equations.system
        if equations.parts is not None:
            return _of_bodies(equations)
        zero, unit = np.zeros(equations.nv), np.eye(equations.nv)
        if system.definition.kinematics is None:
            pairs = zip(system.coordinates, system.velocities, unit, strict=True)
            return [Candidate(c, w, row, zero, row) for c, w, row in pairs]
        N = equations.values(self.q).N
        positions = zip(system.coordinates, N, strict=True)
        rates = zip(system.velocities, unit, strict=True)
        return [
            *(Candidate(c, "", row, zero, zero) for c, row in positions),
            *(Candidate("", w, zero, zero, row) for w, row in rates),
        ]

    def positions(self) -> list[Callable[[], list[tuple[str, FloatArray]]]]:
        """Displacements by name, in groups."""
        return [
            lambda: [(c.name, c.by_pi) for c in self.of_joints if c.name],
            lambda: [(c.name, c.by_pi) for c in self.further if c.name],
        ]

    def rates(self) -> list[Callable[[], list[tuple[str, FloatArray]]]]:
        """Velocities by name, in groups."""
        return [
            lambda: [(c.rate, c.rate_by_v) for c in self.of_joints if c.rate],
            lambda: [(c.rate, c.rate_by_v) for c in self.further if c.rate],
        ]

    def named(self, name: str) -> Candidate:
        """That with the name of a displacement or of a velocity."""
        found = self._joints_by_name.get(name)
        return self._further_by_name[name] if found is None else found

    @computed_once
    def _joints_by_name(self) -> dict[str, Candidate]:
        return _by_name(self.of_joints)

    @computed_once
    def _further_by_name(self) -> dict[str, Candidate]:
        return _by_name(self.further)


def _by_name(candidates: list[Candidate]) -> dict[str, Candidate]:
    found = {c.rate: c for c in candidates if c.rate}
    found.update({c.name: c for c in candidates if c.name})
    return found


def _of_bodies(equations: EquationsOf) -> list[Candidate]:
    """Shifts and small turns of bodies."""
    parts, unit = equations.parts, np.eye(equations.nv)
    zero, found = np.zeros(equations.nv), []
    starts = parts.places[1]
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


def named(pool: CoordinateCandidates, independent: Sequence[str] | None) -> list[Candidate]:
    """What a user named."""
    if independent is None:
        return []
    if isinstance(independent, str) or not isinstance(independent, Sequence):
        raise InputError(
            "independent", found=shown(independent), expected="a list of names of coordinates"
        )
    known = {c.name: c for c in [*pool.of_joints, *pool.further] if c.name}
    known.update({c.rate: c for c in pool.further if not c.name})
    for name in independent:
        if name not in known:
            raise UnknownNameError("independent coordinate", str(name), known)
    twice = [name for name in independent if list(independent).count(name) > 1]
    if twice:
        raise InputError(
            "independent", must="have each name once", but=f"has {twice[0]!r} more than once"
        )
    return [known[name] for name in independent]


def chosen(
    given: Sequence[tuple[str, FloatArray]],
    first: Sequence[tuple[str, FloatArray]],
    groups: Sequence[Callable[[], list[tuple[str, FloatArray]]]],
    D: FloatArray,
    d: FloatArray,
) -> list[str]:
    """Names of as many rows as D has columns, independent along D.

    Parameters
    ----------
    given : named rows that must be taken.
    first : rows that are taken next, in their order, where they are clear of those before.
    groups : further ones, made when they are needed, those of the first group before those of the
        next.
    D, d : basis of what is allowed, and scales of the velocities.
    """
    count = D.shape[1]
    if len(given) > count:
        raise InputError(
            "independent",
            must=f"have at most {count} names, as many as there are degrees of freedom",
            but=f"has {len(given)} ({', '.join(name for name, _ in given)})",
        )
    choice = _ChosenRows(D, d)
    for name, row in given:
        if not choice.take(name, row, BARELY):
            raise InputError(
                f"independent coordinate {name!r}",
                must="change independently of the others",
                but="follows from those before it"
                if choice.names
                else "is fixed by the constraints",
                advice="Omit it: what is missing is chosen.",
            )
    if not choice.take_all(first):
        for name, row in first:
            choice.take(name, row, CLEAR)
    everything = list(first)
    for group in groups:
        if len(choice.names) == count:
            return choice.names
        pool = group()
        everything += pool
        if choice.fill(pool, CLEAR, COMPLETE):
            return choice.names
    choice.fill(everything, 0.0)
    return choice.names


class _ChosenRows:
    """Rows chosen so far, and an orthonormal basis of what they measure along D."""

    def __init__(self, D: FloatArray, d: FloatArray) -> None:
        self.D, self.d, self.count = D, d, D.shape[1]
        self.seen, self.names = np.zeros((0, self.count)), list[str]()

    def _along(self, rows: FloatArray) -> FloatArray:
        """Rows of unit length in scaled velocities, along D."""
        lengths = np.sqrt(np.vecdot(rows * self.d, rows * self.d))
        return (rows @ self.D) / np.maximum(lengths, 1e-300)[:, None]

    def take(self, name: str, row: FloatArray, least: float) -> bool:
        """Take a row if it is far enough from depending on those before."""
        if len(self.names) == self.count:
            return False
        left = self._along(row[None])[0]
        left = left - self.seen.T @ (self.seen @ left)
        size = float(np.linalg.norm(left))
        if not size > least:
            return False
        self.seen = np.vstack([self.seen, left / size])
        self.names.append(name)
        return True

    def take_all(self, rows: Sequence[tuple[str, FloatArray]]) -> bool:
        """Take rows in their order if every one is clear of those before it."""
        if not rows or self.names or len(rows) > self.count:
            return not rows
        Q, R = np.linalg.qr(self._along(np.array([row for _, row in rows])).T)
        if not np.abs(R.diagonal()).min() > CLEAR:
            return False
        self.seen, self.names = Q.T, [name for name, _ in rows]
        return True

    def fill(
        self, pool: Sequence[tuple[str, FloatArray]], least: float, complete: float = 0.0
    ) -> bool:
        """Take from a pool, what is farthest from depending on the others first (pivoted QR).

        Parameters
        ----------
        complete : distance that is enough where the pool has all that is missing; `least` is, else.
        """
        from scipy.linalg import lapack as routines

        lapack: Any = routines
        known = set(self.names)
        pool = [(name, row) for name, row in pool if name not in known]
        if not pool or len(self.names) == self.count:
            return len(self.names) == self.count
        left = self._along(np.array([row for _, row in pool]))
        for _ in range(2):  # once more, against what rounding left
            left = left - (left @ self.seen.T) @ self.seen
        # Of rows that are as good as each other the first is taken, not the one that rounding made
        # longer.
        left *= 1.0 - TIE * np.arange(len(left))[:, None]
        qr, order, tau, _, _ = lapack.dgeqp3(np.asfortranarray(left.T))
        sizes = np.abs(qr.diagonal())
        missing = self.count - len(self.names)
        most = min(missing, int(np.count_nonzero(sizes > least)))
        if complete and np.count_nonzero(sizes > complete) >= missing:
            most = missing
        self.names += [pool[k - 1][0] for k in order[:most]]
        if most == missing:
            return True
        Q, _, _ = lapack.dorgqr(qr[:, :most], tau[:most])
        self.seen = np.vstack([self.seen, Q.T])
        return False
