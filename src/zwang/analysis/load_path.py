"""Load stepping: equilibria while a parameter changes, past turning points, to buckling loads.

With μ the parameter, equilibria satisfy φ(q, μ) = 0 and Dᵀ E(q, λ, μ) = 0. The path through them
has at each point the tangent (δπ, δμ) with

    φ_π δπ + φ_μ δμ = 0,     Dᵀ(E_π δπ + E_μ δμ) = 0

where Dᵀ takes away what the reactions would change. It is followed by its arc length (Riks,
Keller): a step along the tangent, corrected across it, goes on where the load has a maximum or a
minimum, a turning point (δμ = 0). Where K loses rank and the path does not turn, another path
branches off: a buckling load.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from zwang.analysis.equations_of import EquationsOf, Spaces, spaces_of
from zwang.analysis.search import point_at
from zwang.analysis.stability import NEUTRAL
from zwang.analysis.statics import Equilibrium, at_rest, equilibrium
from zwang.analysis.time_dependence import changes_with_time
from zwang.arguments.values import positive
from zwang.display import Displayed
from zwang.errors import InputError, NoEquilibriumError, shown
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.system import System

__all__ = ["CriticalPoint", "LoadPath", "load_path"]

#: A correction is done when it changes coordinates by less than this, relative.
CORRECTED = 1e-13
#: Corrections of a step before it is halved, and how often that may be.
CORRECTIONS, HALVINGS = 12, 30
#: Length of the first step, relative to the size of the coordinates.
FIRST_STEP = 0.02


@dataclass(frozen=True)
class CriticalPoint:
    """Where stability may change along a path.

    Attributes
    ----------
    kind : ``"turning point"``, where the load is largest or least, or ``"buckling"``, where another
        path branches off.
    value : of the parameter there.
    q : coordinates there, shape (nq,).
    motion : the displacement that meets no resistance, in words.
    """

    kind: str
    value: float
    q: FloatArray = field(repr=False)
    motion: str


@dataclass(frozen=True, repr=False)
class LoadPath(Displayed):
    """Equilibria along a parameter.

    Attributes
    ----------
    parameter : its name.
    values, q : of all points of the path in order, shapes (k,) and (k, nq).
    stability : of each point, by the second variation; undecided where something changes with
        time.
    smallest_stiffness : smallest eigenvalue of the second variation at each, scaled by masses.
    critical : turning points and buckling loads in the order in which the path meets them.
    equilibria : those at the values that were asked for, the first that the path meets at each;
        None where it does not.
    notes : why the path ends, if before the last value.
    """

    parameter: str
    values: FloatArray
    q: FloatArray = field(repr=False)
    stability: tuple[str, ...] = field(repr=False)
    smallest_stiffness: FloatArray = field(repr=False)
    critical: tuple[CriticalPoint, ...]
    equilibria: tuple[Equilibrium | None, ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def turning_points(self) -> tuple[CriticalPoint, ...]:
        """Where the load is largest or least."""
        return tuple(x for x in self.critical if x.kind == "turning point")

    @property
    def buckling(self) -> tuple[CriticalPoint, ...]:
        """Where another path branches off."""
        return tuple(x for x in self.critical if x.kind == "buckling")

    def __str__(self) -> str:
        lines = [
            (
                f"Load path over {self.parameter}: {len(self.values)} points, "
                f"{self.values.min():.6g} to {self.values.max():.6g}."
            )
        ]
        lines += [f"  {c.kind} at {c.value:.9g}: {c.motion}" for c in self.critical]
        return "\n".join([*lines, *self.notes])

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


class _Here(NamedTuple):
    """A point of the path with its tangent, of unit length in scaled displacements."""

    q: FloatArray
    value: float
    pi: FloatArray
    rate: float
    lowest: float
    negative: int
    soft: FloatArray


class _LoadFollower:
    """Points and tangents of one path."""

    def __init__(self, equations: EquationsOf, place: int, size: float) -> None:
        self.equations, self.place = equations, place
        self.load = size

    def _matrices(
        self, q: FloatArray, value: float
    ) -> tuple[EquationsOf, FloatArray, FloatArray, Spaces, FloatArray]:
        """Jacobian of (φ, Dᵀ force) by (π/d, μ/load), what is left of them, bases and K."""
        at = self.equations.with_value(self.place, value)
        values = at.values(q)
        spaces = spaces_of(values.M, values.A)
        force, D, d = values.Q + values.C, spaces.basis, spaces.d
        lam, rest = spaces.multipliers(-force), np.zeros(at.nv)
        E_pi = at.slopes(q, rest, rest, lam).E_pi
        by_value = at.expressions.parameter_slopes(self.place, q, rest, at.t, at.p, rest, lam)
        G, e = values.A[at.is_position], spaces.e[at.is_position]
        top = np.hstack([e[:, None] * G * d, (e * by_value["phi"] * self.load)[:, None]])
        K = D.T @ E_pi
        below = np.hstack([K * d, (D.T @ by_value["E"] * self.load)[:, None]])
        scale = max(float(np.abs(below).max(initial=0.0)), 1e-300)
        left = np.concatenate([-e * values.phi, D.T @ force / scale])
        return at, np.vstack([top, below / scale]), left, spaces, K @ D

    def here(self, q: FloatArray, value: float, before: FloatArray | None) -> _Here:
        """Tangent and stiffness at a point, the tangent along that before."""
        _, J, _, spaces, K = self._matrices(q, value)
        _, s, Vt = np.linalg.svd(J)
        tangent = Vt[-1]
        if before is not None:
            # Near a branch the null space has two directions: that before it is kept.
            wide = np.concatenate([s, np.zeros(len(Vt) - len(s))]) <= 1e-9 * s[0]
            if np.count_nonzero(wide) > 1:
                tangent = Vt[wide].T @ (Vt[wide] @ before)
                tangent /= np.linalg.norm(tangent)
            tangent = tangent if tangent @ before >= 0.0 else -tangent
        w, U = np.linalg.eigh(0.5 * (K + K.T)) if K.size else (np.zeros(0), np.zeros((0, 0)))
        k = int(np.abs(w).argmin()) if w.size else 0
        soft = spaces.basis @ U[:, k] if w.size else np.zeros(len(spaces.d))
        lowest = float(w.min(initial=np.inf)) if w.size else 0.0
        return _Here(
            q, value, spaces.d * tangent[:-1], tangent[-1], lowest, int((w < 0.0).sum()), soft
        )

    def unit(self, here: _Here) -> FloatArray:
        """A tangent as one vector in scaled displacements and load."""
        d = spaces_of(*self._mass_rows(here)).d
        return np.concatenate([here.pi / d, [here.rate]])

    def _mass_rows(self, here: _Here) -> tuple[FloatArray, FloatArray]:
        values = self.equations.with_value(self.place, here.value).values(here.q)
        return values.M, values.A

    def step(self, here: _Here, length: float) -> tuple[FloatArray, float] | None:
        """The point of the path at a length along the tangent, or None."""
        equations = self.equations
        N = equations.values(here.q).N
        q = equations.moved(here.q, length * here.pi, N)
        value = here.value + length * here.rate * self.load
        across = self.unit(here)
        last = np.inf
        for _ in range(CORRECTIONS):
            at, J, left, spaces, _ = self._matrices(q, value)
            if not (np.isfinite(J).all() and np.isfinite(left).all()):
                return None
            change = np.linalg.lstsq(np.vstack([J, across]), np.append(left, 0.0), rcond=1e-11)[0]
            size = float(np.linalg.norm(change))
            q = at.moved(q, spaces.d * change[:-1])
            value += change[-1] * self.load
            if size <= CORRECTED * (1.0 + abs(value / self.load)) or (
                size < 1e-9 and size > 0.3 * last
            ):
                return q, value
            if size > 4.0 * last or size > 4.0 * abs(length):
                return None
            last = size
        return (q, value) if last < 1e-9 else None


def load_path(
    system: System,
    parameter: str,
    values: Any,
    start: Any = None,
    t: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
    largest_step: float | None = None,
    limit: int = 2000,
) -> LoadPath:
    """Equilibria along a parameter; see `zwang.System.load_path`."""
    wanted = _checked(parameter, values)
    if not isinstance(limit, int | np.integer) or isinstance(limit, bool) or limit < 2:
        raise InputError("limit", found=shown(limit), expected="a number of points, 2 or more")
    if largest_step is not None:
        largest_step = positive("largest_step", largest_step)
    equations = EquationsOf(system, t, parameters)
    place = equations.parameter_place(parameter)
    size = max(float(np.ptp(wanted)), 1e-12 * float(np.abs(wanted).max(initial=0.0)), 1e-300)
    first = equilibrium(
        system, start, None, None, t, _given(equations, parameter, place, float(wanted[0]))
    )
    follower = _LoadFollower(equations, place, size)
    reach = max(1.0, float(np.abs(first.q).max(initial=0.0)))
    longest = 0.1 if largest_step is None else largest_step / reach
    points, critical, why = _followed(follower, first.q, wanted, longest, limit)
    found = _at_values(follower, points, wanted)
    lowest = np.array([p.lowest for p in points])
    scale = max(float(np.abs(lowest[np.isfinite(lowest)]).max(initial=0.0)), 1e-300)
    stability = tuple(
        "stable" if x > NEUTRAL * scale else "unstable" if x < -NEUTRAL * scale else "marginal"
        for x in lowest
    )
    at_first = equations.with_value(place, float(wanted[0]))
    if changes_with_time(at_first, first.q, point_at(at_first, first.q).lam).now:
        stability = ("undecided",) * len(points)
    return LoadPath(
        parameter,
        np.array([p.value for p in points]),
        np.array([p.q for p in points]),
        stability,
        lowest,
        tuple(critical),
        found,
        why,
    )


def _checked(parameter: Any, values: Any) -> FloatArray:
    if not isinstance(parameter, str):
        raise InputError("parameter", found=shown(parameter), expected="the name of a parameter")
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.ndim != 1 or len(found) < 2 or not np.isfinite(found).all():
        raise InputError(
            f"values of {parameter!r}",
            found=shown(values),
            expected="a list of at least two finite numbers",
        )
    if not (np.diff(found) > 0.0).all() and not (np.diff(found) < 0.0).all():
        raise InputError(
            f"values of {parameter!r}",
            must="rise or fall",
            but="go up and down, or repeat",
            advice="The path itself goes back where the load has a maximum.",
        )
    return found


def _given(equations: EquationsOf, parameter: str, place: int, value: float) -> dict[str, Any]:
    """Parameters with one number replaced."""
    given = dict(equations.parameters or {})
    names = equations.system.definition.parameters
    if parameter in names:
        return {**given, parameter: value}
    owner, _, part = parameter.rpartition(".")
    whole = np.array(given.get(owner, names[owner]), dtype=float)
    whole["xyz".index(part)] = value
    del place
    return {**given, owner: whole}


def _followed(
    follower: _LoadFollower, q: FloatArray, wanted: FloatArray, longest: float, limit: int
) -> tuple[list[_Here], list[CriticalPoint], tuple[str, ...]]:
    """Points until the last value is reached."""
    end, upward = float(wanted[-1]), float(wanted[-1]) > float(wanted[0])
    here = follower.here(q, float(wanted[0]), None)
    if (here.rate > 0.0) != upward:
        here = here._replace(pi=-here.pi, rate=-here.rate)
    points, critical, length = [here], list[CriticalPoint](), min(FIRST_STEP, longest)
    far = 10.0 * abs(end - float(wanted[0])) + abs(end)
    while len(points) < limit:
        new = _advanced(follower, here, length)
        if new is None:
            length *= 0.5
            if length < FIRST_STEP * 0.5**HALVINGS:
                at = f"{here.value:.6g}"
                return points, critical, (f"The path could not be followed beyond {at}.",)
            continue
        critical += _critical(follower, here, new, length)
        points.append(new)
        turned = float(follower.unit(here) @ follower.unit(new))
        length = min(longest, length * (1.5 if turned > 0.995 else 0.7 if turned < 0.97 else 1.0))
        here = new
        if (new.value >= end) if upward else (new.value <= end):
            return points, critical, ()
        if abs(new.value - end) > far:
            return points, critical, (f"The path leads away, to {new.value:.6g}.",)
    return points, critical, (f"The path has more than {limit} points.",)


def _advanced(follower: _LoadFollower, here: _Here, length: float) -> _Here | None:
    """The next point, whose tangent must not turn by much."""
    found = follower.step(here, length)
    if found is None:
        return None
    before = follower.unit(here)
    new = follower.here(*found, before)
    if float(before @ follower.unit(new)) < 0.8:
        return None
    # More than one eigenvalue at a time is one step too far.
    return new if abs(new.negative - here.negative) <= 1 or length < 1e-6 else None


def _critical(
    follower: _LoadFollower, here: _Here, new: _Here, length: float
) -> list[CriticalPoint]:
    """Turning points and branches between two points, located along the arc."""
    turns = here.rate * new.rate < 0.0
    branches = not turns and here.negative != new.negative
    if not turns and not branches:
        return []
    before = follower.unit(here)

    def at(s: float) -> _Here:
        if s == 0.0:
            return here
        found = follower.step(here, s)
        return new if found is None else follower.here(*found, before)

    def measure(s: float) -> float:
        point = at(s)
        if turns:
            return point.rate
        return _crossing(point, here, new)

    values = measure(0.0), measure(length)
    if values[0] * values[1] > 0.0:
        return []
    root: Any = brentq(measure, 0.0, length, xtol=1e-15, maxiter=200)
    s = float(root)
    point = at(s)
    words = follower.equations.motion_in_words(point.q, point.soft)
    kind = "turning point" if turns else "buckling"
    return [CriticalPoint(kind, float(point.value), point.q, words)]


def _crossing(point: _Here, here: _Here, new: _Here) -> float:
    """A number that changes sign with the eigenvalue that does, between two points."""
    least = min(here.negative, new.negative)
    if least == 0:
        return point.lowest
    return 0.5 - (point.negative - least)


def _at_values(
    follower: _LoadFollower, points: list[_Here], wanted: FloatArray
) -> tuple[Equilibrium | None, ...]:
    """Equilibria at the values asked for, where the path first meets each."""
    found: list[Equilibrium | None] = []
    for value in wanted:
        found.append(None)
        for a, b in itertools.pairwise(points):
            if (a.value - value) * (b.value - value) > 0.0:
                continue
            share = (value - a.value) / (b.value - a.value) if b.value != a.value else 0.0
            at = follower.equations.with_value(follower.place, float(value))
            q = at.on_unit_length(a.q + share * (b.q - a.q))
            try:
                found[-1] = _nearest(at, q)
            except NoEquilibriumError:
                continue
            break
    return tuple(found)


def _nearest(at: EquationsOf, q: FloatArray) -> Equilibrium:
    """The equilibrium next to a configuration on a path."""
    from zwang.analysis.search import newton_only

    on, met = at.corrected(q)
    found = newton_only(at, on)
    if not met or not found.at_rest:
        raise NoEquilibriumError("load path", but="has no equilibrium at this value")
    return at_rest(at, found.point.q, "load path", found.steps)
