"""Search for static equilibria: descent on the constraints, Newton, continuation, relaxation.

At a configuration q on its constraints, with a basis D of the displacements that all rows allow,
the unbalanced force is g = Dᵀ(Q + C). Its slope against them is the reduced stiffness

    K = Dᵀ E_π D,    E = −Q − C − Aᵀλ,    λ = −(Aᵀ)⁺(Q + C)

which holds the geometric stiffness of the reactions. A step solves K s = g; where K is symmetric,
its negative eigenvalues are turned round, so that the energy falls and the search leaves saddles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zwang.analysis.equations_of import EquationsOf, Held, Spaces, Values, spaces_of
from zwang.simulation.state_kinds import displacement_sizes
from zwang.terms import FloatArray

__all__ = [
    "AT_ONCE",
    "Found",
    "Point",
    "is_symmetric",
    "newton_only",
    "point_at",
    "search",
    "stiffness",
    "tolerance",
]

#: How a start is told that is an equilibrium itself.
AT_ONCE = "the start is at rest"
#: Rounding of the unbalanced force, relative to forces and to stiffness times coordinates.
AT_REST = 1e-12
#: Share of K that may be skew for forces to count as having a potential.
SYMMETRIC = 1e-9
#: Steps of each method before the next one is tried.
DESCENT_STEPS, NEWTON_STEPS, CONTINUATION_STEPS, RELAXATION_STEPS = 400, 60, 400, 20000
#: Displacement, relative to the size of the coordinates, beyond which nothing is held.
FAR = 2e3
#: Eigenvalues of K below this share of the largest are raised to it in a descent step.
SOFT = 1e-6
HALVINGS = 40
#: A step is looked at on its way so often [rad or m], at most so many times; and the share of the
#: forces on the way that must work against it, and then for it, where it crosses a ridge.
LOOK, MOST_LOOKS, RIDGE = 0.05, 24, 1e-6
#: Newton steps for the last digits, and the longest of them, relative to the size of the
#: coordinates: a longer one would go elsewhere.
POLISHING_STEPS, LAST_DIGITS = 4, 1e-2
#: Share of the stiffnesses that cancel in K up to which a displacement is neutral, and share of all
#: stiffnesses: where a displacement meets none of them, nothing cancels.
NEUTRAL, NO_STIFFNESS = 1e-9, 1e-12
#: A reaction-dependent law is solved for its reactions by so many repetitions.
LAW_ROUNDS = 60


class Point(NamedTuple):
    """What is known at a configuration.

    Attributes
    ----------
    q : the configuration.
    values : terms at rest.
    spaces : of all rows, held ones last.
    force : Q + C.
    lam : multipliers of all rows, held ones last.
    g : unbalanced force along the columns of the basis.
    reach : the largest displacement that is as large as the configuration, in the coordinates that
        K is of.
    """

    q: FloatArray
    values: Values
    spaces: Spaces
    force: FloatArray
    lam: FloatArray
    g: FloatArray
    reach: float


@dataclass(frozen=True)
class Found:
    """Where a search ended, how, and whether it is at rest."""

    point: Point
    method: str
    steps: int
    at_rest: bool
    tried: tuple[str, ...] = ()


def point_at(equations: EquationsOf, q: FloatArray, held: Held | None = None) -> Point:
    """Forces, reactions and what is unbalanced at a configuration on its constraints."""
    values = equations.values(q)
    A = values.A if held is None else np.vstack([values.A, held.at(q)[1]])
    spaces = spaces_of(values.M, A)
    force = values.Q + values.C
    lam = spaces.multipliers(-force)
    if equations.system.equations.reaction_dependent:
        for _ in range(LAW_ROUNDS):
            values = equations.values(q, None, lam[: equations.rows])
            force = values.Q + values.C
            new = spaces.multipliers(-force)
            done = np.abs(new - lam).max(initial=0.0) <= 1e-14 * np.abs(new).max(initial=0.0)
            lam = new
            if done:
                break
    sizes = displacement_sizes(equations.system.equations, q) / spaces.d
    reach = float(sizes.max(initial=0.0))
    return Point(q, values, spaces, force, lam, spaces.basis.T @ force, reach)


def stiffness(equations: EquationsOf, at: Point, held: Held | None = None) -> FloatArray:
    """E_π at rest with the reactions of a point, shape (n, n); held rows add theirs."""
    rest = np.zeros(equations.nv)
    E_pi = equations.slopes(at.q, rest, rest, at.lam[: equations.rows]).E_pi
    if held is None or not held.names:
        return E_pi
    return E_pi - _held_stiffness(equations, at, held)


def _held_stiffness(equations: EquationsOf, at: Point, held: Held) -> FloatArray:
    """∂(Gᵀλ)/∂π of held rows, by central differences along the displacements.

    Channels are the only rows whose second derivatives are not traced; what is lost is digits of
    the speed of a search, and of a stability that is noted to be that under held values.
    """
    lam, n = at.lam[equations.rows :], equations.nv
    result, step = np.zeros((n, n)), 1e-5
    for j in range(n):
        e = np.zeros(n)
        e[j] = step
        ahead = held.at(equations.moved(at.q, e, at.values.N))[1]
        behind = held.at(equations.moved(at.q, -e, at.values.N))[1]
        result[:, j] = (ahead - behind).T @ lam / (2.0 * step)
    return result


def tolerance(at: Point, K: FloatArray) -> float:
    """What rounding may leave of g."""
    own = float(np.linalg.norm(at.spaces.d * at.force))
    carried = float(np.linalg.norm(at.spaces.d * np.abs(at.values.Q)))
    return AT_REST * max(own, carried) + 1e-14 * float(np.linalg.norm(K)) * at.reach


def search(equations: EquationsOf, q: FloatArray, held: Held | None = None) -> Found:
    """A configuration at rest, by the first method that finds one."""
    at = point_at(equations, q, held)
    K = reduced(equations, at, held)
    if np.linalg.norm(at.g) <= tolerance(at, K):
        return polished(equations, at, held, AT_ONCE, 0)
    tried: list[str] = []
    methods: list[tuple[str, Callable[..., tuple[Point, int]]]] = []
    if has_potential(equations, at, held) or _is_gradient(equations, at):
        methods.append(("descent", _descent))
    methods += [
        ("Newton", _newton),
        ("continuation", _continuation),
        ("dynamic relaxation", _relaxation),
    ]
    best, steps = at, 0
    for name, method in methods:
        try:
            reached, steps = method(equations, at, held)
        except np.linalg.LinAlgError:  # numbers left the range of doubles
            tried.append(f"{name} (out of range)")
            continue
        tried.append(f"{name} ({steps} steps)")
        K = reduced(equations, reached, held)
        if np.linalg.norm(reached.g) <= 1e3 * tolerance(reached, K):
            return polished(equations, reached, held, name, steps, tuple(tried))
        if np.linalg.norm(reached.g) < np.linalg.norm(best.g):
            best = reached
        if name == "descent" and _displacement(reached, at) > _limit(at):
            return Found(reached, name, steps, at_rest=False, tried=tuple(tried))
    return Found(best, "none", steps, at_rest=False, tried=tuple(tried))


def newton_only(equations: EquationsOf, q: FloatArray, held: Held | None = None) -> Found:
    """A configuration at rest by Newton's method alone, stable or not."""
    reached, steps = _newton(equations, point_at(equations, q, held), held)
    K = reduced(equations, reached, held)
    if np.linalg.norm(reached.g) <= 1e3 * tolerance(reached, K):
        return polished(equations, reached, held, "Newton", steps)
    return Found(reached, "Newton", steps, at_rest=False)


def polished(
    equations: EquationsOf,
    at: Point,
    held: Held | None,
    method: str,
    steps: int,
    tried: tuple[str, ...] = (),
) -> Found:
    """The last digits by Newton steps, as long as they help."""
    for _ in range(POLISHING_STEPS):
        step = at.spaces.basis @ _resisted(equations, at, held)
        longest = float(np.abs(step).max(initial=0.0))
        if longest > LAST_DIGITS * max(1.0, float(np.abs(at.q).max(initial=0.0))):
            break
        trial = _trial(equations, at, step, held)
        if trial is None or not np.linalg.norm(trial.g) < 0.5 * np.linalg.norm(at.g):
            break
        at = trial
    return Found(at, method, steps, at_rest=True, tried=tried)


def _resisted(equations: EquationsOf, at: Point, held: Held | None) -> FloatArray:
    """s of K s = g along displacements that meet a resistance, zero along neutral ones.

    Along a neutral displacement K and g are both rounding, and their ratio is any length: what K
    must exceed is a share of the stiffnesses that cancel in it, not of K itself.
    """
    E_pi, D, d = stiffness(equations, at, held), at.spaces.basis, at.spaces.d
    U, sizes, Vt = np.linalg.svd(D.T @ E_pi @ D)
    cancelled = float(np.linalg.norm(np.abs(D).T @ np.abs(E_pi) @ np.abs(D)))
    whole = float(np.linalg.norm(d[:, None] * E_pi * d))
    real = sizes > max(NEUTRAL * cancelled, NO_STIFFNESS * whole)
    return Vt[real].T @ ((U[:, real].T @ at.g) / sizes[real])


def reduced(equations: EquationsOf, at: Point, held: Held | None) -> FloatArray:
    """K of a point."""
    D = at.spaces.basis
    return D.T @ stiffness(equations, at, held) @ D


def has_potential(equations: EquationsOf, at: Point, held: Held | None) -> bool:
    """Whether forces are those of a potential, as far as K at a point tells.

    Turns about the axes of a body do not commute: off equilibrium an unbalanced moment e makes K
    skew by ½ ẽ, whatever the forces, and is taken out.
    """
    E_pi, D = stiffness(equations, at, held), at.spaces.basis
    left = at.force + _stacked(equations, at, held).T @ at.lam
    for start in equations.turns:
        e = left[start : start + 3]
        E_pi[start : start + 3, start : start + 3] += 0.5 * np.cross(np.eye(3), e)
    return is_symmetric(D.T @ E_pi @ D)


def _stacked(equations: EquationsOf, at: Point, held: Held | None) -> FloatArray:
    """All rows, held ones last."""
    del equations
    return at.values.A if held is None else np.vstack([at.values.A, held.at(at.q)[1]])


def is_symmetric(K: FloatArray) -> bool:
    """Whether a stiffness is that of a potential, to rounding."""
    return bool(np.abs(K - K.T).max(initial=0.0) <= SYMMETRIC * np.abs(K).max(initial=0.0))


def _limit(at: Point) -> float:
    return FAR * max(1.0, float(np.abs(at.q).max(initial=0.0)))


def _displacement(a: Point, b: Point) -> float:
    return float(np.abs(a.q - b.q).max(initial=0.0))


def _trial(equations: EquationsOf, at: Point, step: FloatArray, held: Held | None) -> Point | None:
    """The point after a step, put back on the constraints; None where that fails."""
    q, met = equations.corrected(equations.moved(at.q, step, at.values.N), held)
    if not met or not np.isfinite(q).all():
        return None
    return point_at(equations, q, held)


def _descent(equations: EquationsOf, at: Point, held: Held | None) -> tuple[Point, int]:
    """Steps along which the energy falls, until g is rounding or nothing holds the system."""
    first, radius = at, 0.5 * max(1.0, float(np.abs(at.q).max(initial=0.0)))
    V = equations.energy(at.q) if _is_gradient(equations, at) else None
    for count in range(DESCENT_STEPS):
        K = reduced(equations, at, held)
        if np.linalg.norm(at.g) <= tolerance(at, K) or _displacement(at, first) > _limit(first):
            return at, count
        w, U = np.linalg.eigh(0.5 * (K + K.T))
        # Where nothing resists at all, as in a horizontal pendulum, the radius limits the step.
        pull = float(np.linalg.norm(at.g)) / (at.reach or 1.0)
        floor = SOFT * max(float(np.abs(w).max(initial=0.0)), pull)
        s = U @ ((U.T @ at.g) / np.maximum(np.abs(w), floor))
        step = at.spaces.basis @ s
        longest = float(np.abs(step).max(initial=0.0))
        share = min(1.0, radius / max(longest, 1e-300))
        taken = _line_search(equations, at, share * step, held, V)
        if taken is None:
            return at, count
        new, part = taken
        radius *= 2.0 if part == 1.0 and share < 1.0 else (1.0 if part == 1.0 else 0.5)
        radius = max(radius, 1e-9)
        at = new
        V = None if V is None else equations.energy(at.q)
    return at, DESCENT_STEPS


def _line_search(
    equations: EquationsOf, at: Point, step: FloatArray, held: Held | None, V: float | None
) -> tuple[Point, float] | None:
    """A point along a step where the energy is lower, not across a ridge; the share of the step."""
    slope = -float(at.force @ step)  # of the energy: negative
    part = 1.0
    for _ in range(HALVINGS):
        new = _trial(equations, at, part * step, held)
        if (
            new is not None
            and _is_lower(equations, at, new, part * step, part * slope, V)
            and not _crosses_a_ridge(equations, at, part * step, held)
        ):
            return new, part
        part *= 0.5
    return None


def _crosses_a_ridge(
    equations: EquationsOf, at: Point, step: FloatArray, held: Held | None
) -> bool:
    """Whether the energy rises and falls again on the way of a long step.

    Beyond lies another valley, with a rest that nothing would roll to from here.
    """
    longest = float(np.abs(step).max(initial=0.0))
    looks = min(int(longest / LOOK), MOST_LOOKS)
    rising = False
    for k in range(1, looks + 1):
        there = _trial(equations, at, k / (looks + 1) * step, held)
        if there is None:
            return True
        D, d = there.spaces.basis, there.spaces.d
        along = D @ (D.T @ (step / d**2))  # what the constraints there allow of the step
        gained = float(there.force @ along)  # by a further displacement; negative uphill
        resisted = RIDGE * float(np.abs(there.force) @ np.abs(along))
        if rising and gained > resisted:
            return True
        rising = rising or gained < -resisted
    return False


def _is_lower(
    equations: EquationsOf,
    at: Point,
    new: Point,
    step: FloatArray,
    slope: float,
    V: float | None,
) -> bool:
    """Whether the energy fell, by its value, or else by its slope at the end of the step."""
    if V is not None:
        there = equations.energy(new.q)
        assert there is not None
        reach = max(1.0, float(np.abs(at.q).max(initial=0.0)))
        rounding = 1e-14 * (abs(V) + abs(there)) + 1e-15 * reach * float(np.abs(at.force).sum())
        if there <= V + 1e-4 * slope:
            return True
        return bool(there <= V + rounding) and bool(
            np.linalg.norm(new.g) < 0.9 * np.linalg.norm(at.g)
        )
    D, d = new.spaces.basis, new.spaces.d
    along = D @ (D.T @ (step / d**2))
    return bool(-float(new.force @ along) <= 0.5 * abs(slope))


def _is_gradient(equations: EquationsOf, at: Point) -> bool:
    """Whether the forces at rest are those of the potential energy alone, at a point and nearby."""
    if equations.system.model.V is None:
        return False
    rng = np.random.default_rng(0)
    for size in (0.0, 1e-2, 0.1):
        q = equations.moved(at.q, size * rng.standard_normal(equations.nv), at.values.N)
        values = equations.values(q)
        force, gradient = values.Q + values.C, equations.gradient(q)
        scale = np.abs(values.Q).max(initial=0.0) + np.abs(gradient).max(initial=0.0)
        if np.abs(force + gradient).max(initial=0.0) > 1e-9 * scale:
            return False
    return True


def _newton(equations: EquationsOf, at: Point, held: Held | None) -> tuple[Point, int]:
    """Damped Newton steps on g = 0."""
    return _root(equations, at, held, np.zeros(equations.nv), NEWTON_STEPS)


def _root(
    equations: EquationsOf, at: Point, held: Held | None, offset: FloatArray, most: int
) -> tuple[Point, int]:
    """Newton steps on Dᵀ(force − offset) = 0, halved until what is left falls."""
    for count in range(most):
        D = at.spaces.basis
        left = at.g - D.T @ offset
        K = reduced(equations, at, held)
        if np.linalg.norm(left) <= tolerance(at, K):
            return at, count
        step = D @ np.linalg.lstsq(K, left, rcond=1e-12)[0]
        longest = float(np.abs(step).max(initial=0.0))
        step *= min(1.0, max(1.0, float(np.abs(at.q).max(initial=0.0))) / max(longest, 1e-300))
        for _ in range(HALVINGS // 2):
            new = _trial(equations, at, step, held)
            if new is not None:
                rest = np.linalg.norm(new.g - new.spaces.basis.T @ offset)
                if rest < np.linalg.norm(left):
                    break
            step = 0.5 * step
        else:
            return at, count
        at = new
    return at, most


def _continuation(equations: EquationsOf, at: Point, held: Held | None) -> tuple[Point, int]:
    """Take away, little by little, a force that balances the start."""
    start, left, share, count = at.force.copy(), 1.0, 0.25, 0
    while left > 0.0 and count < CONTINUATION_STEPS:
        wanted = max(0.0, left - share)
        new, used = _root(equations, at, held, wanted * start, 12)
        count += max(used, 1)
        rest = np.linalg.norm(new.g - wanted * (new.spaces.basis.T @ start))
        if rest <= 1e-6 * np.linalg.norm(at.spaces.d * start):
            at, left, share = new, wanted, 1.5 * share
        else:
            share *= 0.5
            if share < 1e-4:
                break
    return at, count


def _relaxation(equations: EquationsOf, at: Point, held: Held | None) -> tuple[Point, int]:
    """A damped motion in an artificial time, with unit masses in scaled velocities.

    The rule of Bitzek et al. (2006): the velocity is turned towards the force, and is taken away
    whenever it works against it.
    """
    h, mix, uphill, goal = 0.05, 0.1, 0, 1e-3 * float(np.linalg.norm(at.g))
    v = np.zeros(equations.nv)
    best, first = at, at
    for count in range(RELAXATION_STEPS):
        D, d = at.spaces.basis, at.spaces.d
        f = D @ (D.T @ at.force)  # acceleration of unit scaled masses
        if float(v / d @ (f / d)) > 0.0:
            uphill += 1
            speed, size = np.linalg.norm(v / d), np.linalg.norm(f / d)
            v = (1.0 - mix) * v + mix * f * speed / max(size, 1e-300)
            if uphill > 5:
                h, mix = min(1.1 * h, 2.0), 0.99 * mix
        else:
            uphill, v, h, mix = 0, 0.0 * v, 0.5 * h, 0.1
        v = v + h * f
        longest = 0.1 * max(1.0, float(np.abs(at.q).max(initial=0.0)))
        step = h * v * min(1.0, longest / max(float(np.abs(h * v).max(initial=0.0)), 1e-300))
        new = _trial(equations, at, step, held)
        if new is None:
            h, v = 0.5 * h, 0.0 * v
            if h < 1e-9:
                break
            continue
        D = new.spaces.basis
        v, at = D @ (D.T @ (v / new.spaces.d**2)), new
        if np.linalg.norm(at.g) < np.linalg.norm(best.g):
            best = at
        if np.linalg.norm(at.g) <= goal:
            near, _ = _root(equations, at, held, np.zeros(equations.nv), 12)
            K = reduced(equations, near, held)
            if np.linalg.norm(near.g) <= 1e3 * tolerance(near, K):
                return near, count
            goal *= 0.1
        if _displacement(at, first) > _limit(first):
            return best, count
    return best, RELAXATION_STEPS
