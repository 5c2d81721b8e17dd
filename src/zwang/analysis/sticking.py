"""Statics with dry friction: what sticks, against how much, and between which positions.

A joint with Coulomb's friction exerts at rest any effort τ up to its limit along its coordinate,

    |τ| ≤ μ N of a slide,    |τ| ≤ μ r N of a bearing

with N the force across its axis, so that next to a rest without friction there are others. Along
one coordinate, with all others where they rest without friction, they reach as far as the effort
that holds the coordinate is below the limit. Where several joints hold one motion, their shares are
indeterminate; a position is at rest if any of them is within all limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.analysis.equations_of import EquationsOf, Held
from zwang.analysis.search import Found, Point, point_at, search
from zwang.analysis.turning import TURN
from zwang.terms import FloatArray

if TYPE_CHECKING:
    import casadi

__all__ = [
    "HeldByFriction",
    "Sticking",
    "frictions_of",
    "held_by_friction",
    "limits_at",
    "ranges",
    "sliding",
    "slopes_at_rest",
]

#: First step along a coordinate [rad, or the model's units], and how much longer the next is.
STEP, GROWTH = 1e-2, 1.5
#: Travel beyond which a range has no end: a turn, or so many times the size of the mechanism.
FAR = 1e3
#: Steps shorter than this find no further position: the coordinate ends there.
SHORTEST = 1e-7
#: Repetitions of the shares of friction with the pressures that they make, and when they agree.
ROUNDS, AGREED = 100, 1e-12
#: Share of the limits up to which friction holds, with rounding.
WITHIN = 1.0 + 1e-9


@dataclass(frozen=True)
class Sticking:
    """A coordinate that dry friction in its joint can hold.

    Attributes
    ----------
    joint : with the friction.
    coordinate : of the joint, along which it acts.
    effort : that holds it at the equilibrium, positive along the coordinate; 0 unless it is held.
    limit : largest effort that friction exerts there.
    low, high : values of the coordinate between which friction in this joint alone keeps the
        system at rest, all others at rest without friction; infinite where there is no end, and
        not a number where friction does not hold the equilibrium itself.
    """

    joint: str
    coordinate: str
    effort: float
    limit: float
    low: float
    high: float

    def __str__(self) -> str:
        if np.isnan(self.low):
            need = f"{abs(self.effort):.6g} needed, {self.limit:.6g} at most"
            return f"friction in {self.joint} does not hold {self.coordinate}: {need}"
        what = f"friction in {self.joint} holds {self.coordinate} against up to {self.limit:.6g}"
        if self.low == -np.inf and self.high == np.inf:
            return f"{what}, at all values"
        return f"{what}, at rest from {self.low:.6g} to {self.high:.6g}"


class Friction(NamedTuple):
    """Dry friction along a coordinate of a joint: the limit is `factor` times pressure `place`."""

    joint: str
    coordinate: str
    factor: float
    place: int


def frictions_of(equations: EquationsOf) -> list[Friction]:
    """Coordinates with dry friction; none of systems of functions."""
    parts = equations.parts
    found = []
    for place, friction in enumerate(() if parts is None else parts.frictions):
        if "coefficient" not in friction.element.law.shapes:
            continue  # teeth, or a law of the user's, which says nothing of what it can hold
        joint = friction.element.name.removesuffix(".friction")
        mu, radius = (
            float(equations.p[equations.parameter_place(f"{friction.element.name}.{name}")])
            for name in ("coefficient", "radius")
        )
        for kind, arm in (("angle", radius), ("displacement", 1.0)):
            name = f"{joint}.{kind}"
            if name in equations.system.channels and mu * arm > 0.0:
                found.append(Friction(joint, name, mu * arm, place))
    return found


def limits_at(
    equations: EquationsOf, frictions: Sequence[Friction], q: FloatArray, lam: FloatArray
) -> FloatArray:
    """Largest effort of each friction under multipliers, shape (k,)."""
    x = equations.expressions

    def outputs() -> dict[str, casadi.SX]:
        assert x.model.pressures is not None
        return {"N": x.model.pressures.values}

    rest = np.zeros(equations.nv)
    given = q, rest, [equations.t], equations.p, lam[: equations.rows]
    N = x.evaluate("pressures", outputs, {"lambda": x.lam}, *given)["N"][:, 0]
    return np.array([f.factor * N[f.place] for f in frictions])


def slopes_at_rest(equations: EquationsOf, q: FloatArray) -> list[str]:
    """Sentences on dry friction that a linearization about rest takes as viscous.

    μ N tanh(u/u₀) has the slope μ N/u₀ at rest, whatever friction would hold there.
    """
    frictions = frictions_of(equations)
    if not frictions:
        return []
    limits = limits_at(equations, frictions, q, point_at(equations, q).lam)
    notes = []
    for friction, limit in zip(frictions, limits.tolist(), strict=True):
        if not limit > 0.0:
            continue
        name = f"{friction.joint}.friction"
        width = float(equations.p[equations.parameter_place(f"{name}.velocity")])
        turning = friction.coordinate.endswith(".angle")
        slope, unit, speed = ("N m s", "N m", "rad/s") if turning else ("N s/m", "N", "m/s")
        notes.append(
            f"Friction in {friction.joint} is taken as viscous about rest, {limit / width:.6g} "
            f"{slope}: the slope of its {limit:.6g} {unit} over {width:g} {speed}, within which "
            "its sign is smooth. That holds for slower motions alone, and gains from it are of no "
            "use for others: linearize without it, "
            f'parameters={{"{name}.coefficient": 0.0}}, and add viscous friction where some is '
            "to stay."
        )
    return notes


def sliding(equations: EquationsOf, at: Point, K: FloatArray, coordinate: str) -> FloatArray | None:
    """The displacement by one unit of a coordinate with all others at rest; None if it is fixed.

    Parameters
    ----------
    K : reduced stiffness in the basis of the point.
    """
    D = at.spaces.basis
    row = equations.channel(coordinate, at.q, np.zeros(equations.nv)).by_pi @ D
    size = float(np.linalg.norm(row))
    if size <= 1e-9 * float(np.linalg.norm(D)):
        return None
    f = D.shape[1]
    scale = float(np.abs(K).max(initial=0.0)) or 1.0
    matrix = np.block([[K / scale, row[:, None] / size], [row[None] / size, np.zeros((1, 1))]])
    z = np.linalg.lstsq(matrix, np.append(np.zeros(f), 1.0 / size), rcond=1e-12)[0][:f]
    return D @ z


# --- ranges ---------------------------------------------------------------------------------------


class _Along:
    """A coordinate and the effort that holds it, from place to place."""

    def __init__(self, equations: EquationsOf, q: FloatArray, of: Friction, held: Sequence[str]):
        names = [of.coordinate, *(n for n in held if n != of.coordinate)]
        self.equations, self.of = equations, of
        self.held = Held(equations, q, names)
        self.start, self.q = self.held.targets[0], q

    def at(self, value: float, near: FloatArray) -> tuple[float, float, FloatArray] | None:
        """Effort, limit and configuration at a value; None where there is none."""
        self.held.targets[0] = value
        q, met = self.equations.corrected(near, self.held)
        if not met:
            return None
        found = search(self.equations, q, self.held)
        if not found.at_rest:
            return None
        lam = found.point.lam
        (limit,) = limits_at(self.equations, [self.of], found.point.q, lam)
        return float(lam[self.equations.rows]), float(limit), found.point.q

    def end(self, sign: float, farthest: float) -> float:
        """The value up to which friction holds, in one direction."""
        from scipy.optimize import brentq

        value, near, step = self.start, self.q, STEP
        while abs(value - self.start) < farthest:
            ahead = value + sign * step
            found = self.at(ahead, near)
            if found is None:
                step *= 0.5
                if step < SHORTEST:
                    return value
                continue
            effort, limit, q = found
            if abs(effort) > WITHIN * limit:
                here = near

                def excess(x: float, here: FloatArray = here) -> float:
                    at = self.at(x, here)
                    return np.inf if at is None else abs(at[0]) - at[1]

                root: Any = brentq(excess, value, ahead, xtol=1e-13)
                return float(root)
            value, near, step = ahead, q, step * GROWTH
        return sign * np.inf


def ranges(
    equations: EquationsOf, q: FloatArray, holding: dict[str, float]
) -> tuple[Sticking, ...]:
    """What friction can hold about an equilibrium, coordinate by coordinate."""
    found = []
    for of in frictions_of(equations):
        along = _Along(equations, q, of, list(holding))
        here = along.at(along.start, q)
        if here is None:
            continue  # the constraints leave it no motion
        effort, limit, _ = here
        angle = of.coordinate.endswith(".angle")
        farthest = TURN if angle else FAR * max(1.0, float(np.abs(q).max(initial=0.0)))
        low, high = np.nan, np.nan
        if abs(effort) <= WITHIN * limit:
            low, high = along.end(-1.0, farthest), along.end(1.0, farthest)
        effort = effort if of.coordinate in holding else 0.0
        found.append(Sticking(of.joint, of.coordinate, effort, limit, low, high))
    return tuple(found)


# --- held by friction alone -----------------------------------------------------------------------


class HeldByFriction(NamedTuple):
    """Rest with all coordinates of friction held.

    Attributes
    ----------
    found, held : where, and what is held.
    multipliers : of all rows, then the efforts of friction.
    share : of its limits that friction needs; above one, it does not hold.
    """

    found: Found
    held: Held
    multipliers: FloatArray
    share: float


def held_by_friction(equations: EquationsOf, q: FloatArray) -> HeldByFriction | None:
    """Rest at a start if friction is large enough; None where it would not be at rest either."""
    frictions = frictions_of(equations)
    if not frictions:
        return None
    held = Held(equations, q, [f.coordinate for f in frictions])
    found = search(equations, q, held)
    if not found.at_rest:
        return None
    return HeldByFriction(found, held, *_shared(equations, frictions, found.point))


def _shared(
    equations: EquationsOf, frictions: Sequence[Friction], at: Point
) -> tuple[FloatArray, float]:
    """λ with the efforts of friction that need the least share of the limits, and that share."""
    from scipy.optimize import linprog

    m, lam = equations.rows, at.lam
    free = at.spaces.idle
    free = free[:, np.abs(free[m:]).max(axis=0, initial=0.0) > 1e-12 * np.abs(free).max(initial=1)]
    share = np.inf
    for _ in range(ROUNDS):
        limits = np.maximum(limits_at(equations, frictions, at.q, lam), 1e-300)
        if not free.shape[1]:
            return lam, float(np.max(np.abs(lam[m:]) / limits))
        # Least s with |τ| ≤ s times the limits, under the pressures of the last round.
        across = free[m:] / limits[:, None]
        ones = np.ones((len(limits), 1))
        found: Any = linprog(
            np.append(np.zeros(free.shape[1]), 1.0),
            A_ub=np.block([[across, -ones], [-across, -ones]]),
            b_ub=np.concatenate([-at.lam[m:] / limits, at.lam[m:] / limits]),
            bounds=[(None, None)] * free.shape[1] + [(0.0, None)],
        )
        if not found.success:
            break
        lam, last, share = at.lam + free @ found.x[:-1], share, float(found.x[-1])
        if abs(share - last) <= AGREED * share:
            break
    return lam, share
