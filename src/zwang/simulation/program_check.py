"""Guard of a simulation: what its program does at a state, against the full terms.

Three comparisons, in the coordinates of the system, with all rows, from its terms evaluated by
CasADi's own machine (element by element where a mechanism is large):

*   the state meets all rows, and q̇ = N v + n₀;
*   A v̇ = b;
*   M v̇ − Q − C lies in the range of Aᵀ. This one alone sees a mechanism that stands still though
    it is free to move.

A fourth one is for new programs, after some of their motion: a velocity that all rows
allow, drawn at random, is left as it is by the program's own correction. So the mobility in its
coordinates, with the rows that act there, is that of the full terms, whatever forces there are.

Residuals are compared with what was summed. Where a singular position is near, what divides by the
distance from it is allowed for, and nearer still nothing is said.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zwang.integrators.projection import derivative
from zwang.integrators.records import LoopEquations
from zwang.integrators.settings import Drift, Settings
from zwang.simulation.constraint_geometry import (
    RELATIVE,
    REST,
    ConstraintGeometry,
    DenseGeometry,
    row_lengths,
)
from zwang.simulation.full_terms import FullTerms, full_terms
from zwang.simulation.mass_check import indefinite
from zwang.simulation.state_kinds import StateKinds, largest_of_kind, moment_rounding
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations
    from zwang.programs.contract import Program

__all__ = [
    "Disagreement",
    "Miss",
    "ProgramState",
    "Surroundings",
    "freedom_lost",
    "look",
    "looks",
    "motion_of",
    "moved",
]

#: Share of a state by which it is shifted: terms change by about that share of what they sum, which
#: tells how large rounding may be where sums cancel.
SHIFT = 2.0**-10
#: Roundings that a term has room for.
ROUNDINGS = 256.0 * np.finfo(float).eps
#: A saved state may miss its rows by this much, relative, or by so many tolerances.
MISSED, TOLERANCES = 1e-6, 100.0
#: A start that meets its rows is moved by no more than this, relative, and one that does not by so
#: many times its miss: near singular positions a small one is far off.
STAYS, MOVES = 1e-6, 1e4
#: Step of the differences that give rates of carried states, in parts of the time they change in.
DIFFERENCE = 1e-3

#: Masses that are less than the first part of the largest are looked at by themselves, with this
#: share of their accelerations as the limit.
UNLIKE, OF_LIGHT = 1e-4, 1e-4

#: A velocity that all rows allow is added in this size, relative, and may change by this share of
#: it where it is corrected. Programs change 1e-11 of it; one freedom less of a hundred, a tenth.
NUDGE, KEPT_SHARE = 1e-4, 1e-2


class Disagreement(NamedTuple):
    """What a program does that the full terms do not say.

    Attributes
    ----------
    what : a sentence: which row or equation, and by how much.
    t : when [s].
    """

    what: str
    t: float

    def __str__(self) -> str:
        return f"at t = {self.t:.6g} s {self.what}"


class ProgramState(NamedTuple):
    """A state of a program in the coordinates of its equations.

    Attributes
    ----------
    y : (q, v).
    rates : (q̇, v̇).
    rough : how far these may be off, where they come from differences.
    """

    y: FloatArray
    rates: FloatArray
    rough: FloatArray


def motion_of(
    equations: Equations, program: Program, y: FloatArray, t: float, p: FloatArray
) -> ProgramState:
    """What a program makes of one of its states ŷ, in the coordinates of the equations.

    Of a carried state by differences along its motion, for which no further kernel is compiled.
    """
    rates, carrier, nq = _rates(program, y, t, p), program.carrier, program.nq
    if carrier is None:
        return ProgramState(y, rates, np.zeros(len(y)))
    h = DIFFERENCE / max(1.0, float(np.abs(rates[:nq]).max(initial=0.0)))
    if not h > 0.0:  # rates that are not finite
        return ProgramState(*(np.full(sum(carrier.outer), np.nan) for _ in range(3)))
    shifts = h * np.array([0.0, -1.0, 1.0, -0.5, 0.5])
    here, *there = carrier.leave(y + shifts[:, None] * rates, t + shifts, p)
    coarse, fine = (there[1] - there[0]) / (2.0 * h), (there[3] - there[2]) / h
    sizes, outer = _sizes(equations, here), len(equations.coordinates)
    if not here[outer:].any():
        sizes[outer:] = 0.0  # velocities from rest are rounded as themselves
    rough = np.abs(fine - coarse) + ROUNDINGS / h * sizes
    return ProgramState(here, fine + (fine - coarse) / 3.0, rough)


def _rates(program: Program, y: FloatArray, t: float, p: FloatArray) -> FloatArray:
    """(q̇, v̇) of one state by the kernel that the loop calls, whatever its lanes."""
    kernel, W = program.kernel("derivative"), program.lanes
    states, numbers = (np.repeat(x[:, None], W, axis=1) for x in (y, p))
    out = np.empty_like(states)
    addresses = np.array([kernel.address], dtype=np.int64)
    sizes = int(program.nq), 0, 0  # rows and event functions are not looked at
    equations = LoopEquations(addresses, numbers, kernel.work(), *sizes, (0,) * W)
    derivative(equations, states, np.full((1, W), t), out)
    return out[:, 0].copy()


class Surroundings(NamedTuple):
    """The full terms at a state and nearby, which all looks at the state share.

    Attributes
    ----------
    geometry : None where a singular position is near.
    """

    terms: FullTerms
    shifted: FullTerms
    geometry: ConstraintGeometry | None

    @classmethod
    def of(cls, equations: Equations, y: FloatArray, t: float, p: FloatArray) -> Surroundings:
        """Those of a state."""
        terms = full_terms(equations, y, t, p)
        kinds = StateKinds.of(equations).velocities
        shifted = full_terms(equations, _shifted(equations, y), t, p)
        return cls(terms, shifted, ConstraintGeometry.of(terms, shifted, kinds))


def look(
    equations: Equations,
    found: ProgramState,
    t: float,
    p: FloatArray,
    settings: Settings,
    around: Surroundings | None = None,
) -> Disagreement | None:
    """Compare a motion with the full terms of a system at its state; None if they agree."""
    for miss in looks(equations, found, t, p, settings, around):
        if not miss.ratio <= 1.0:
            return Disagreement(miss.what, t)
    return None


class Miss(NamedTuple):
    """The largest miss of a look, as a ratio to its limit, and what it is."""

    ratio: float
    what: str


def looks(
    equations: Equations,
    found: ProgramState,
    t: float,
    p: FloatArray,
    settings: Settings,
    around: Surroundings | None = None,
) -> list[Miss]:
    """The looks at a state one by one; none where nothing can be said."""
    if not np.isfinite(found.rates).all():
        return []  # the loop itself stops there, and says why
    terms, shifted, geometry = around or Surroundings.of(equations, found.y, t, p)
    if geometry is None:
        return []
    return [
        *_miss_of_mass(equations, terms),
        *_misses_of_state(equations, terms, found.y, settings),
        _miss_of_rates(equations, terms, found),
        *_miss_of_rows(equations, terms, shifted, geometry, found, settings),
        _miss_of_balance(equations, terms, shifted, geometry, found),
        *_miss_of_light_bodies(equations, terms, shifted, geometry, found),
    ]


def _miss_of_rows(
    equations: Equations,
    terms: FullTerms,
    shifted: FullTerms,
    geometry: ConstraintGeometry,
    found: ProgramState,
    settings: Settings,
) -> list[Miss]:
    """A v̇ = b."""
    if not len(terms.b):
        return []
    a, rough = (x[len(equations.coordinates) :] for x in (found.rates, found.rough))
    b = terms.b - _stabilisation(equations, terms, settings)
    summed = abs(terms.A) @ np.abs(a) + np.abs(b)
    changed = abs(shifted.A - terms.A) @ np.abs(a) + np.abs(shifted.b - terms.b)
    off = np.abs(terms.A @ a - b)
    limits = geometry.limit * np.maximum(summed, geometry.row_floor(terms, a)) + _room(changed)
    limits += abs(terms.A) @ rough
    worst, ratio = _worst(off, limits)
    return [
        Miss(
            ratio,
            f"the accelerations miss constraint {equations.row_names[worst]!r} by {off[worst]:.3g} "
            f"where {summed[worst]:.3g} is summed",
        )
    ]


def _miss_of_rates(equations: Equations, terms: FullTerms, found: ProgramState) -> Miss:
    """q̇ = N v + n₀."""
    nq, size = len(equations.coordinates), np.abs(terms.q_dot).max(initial=0.0)
    q_dot, off = found.rates[:nq], np.abs(found.rates[:nq] - terms.q_dot)
    floor = ROUNDINGS * np.abs(found.y).max(initial=1.0)
    worst, ratio = _worst(off, RELATIVE * size + floor + found.rough[:nq])
    return Miss(
        ratio,
        f"the rate of {equations.coordinates[worst]!r} is {q_dot[worst]:.6g}, by the velocities it "
        f"is {terms.q_dot[worst]:.6g}",
    )


def _miss_of_balance(
    equations: Equations,
    terms: FullTerms,
    shifted: FullTerms,
    geometry: ConstraintGeometry,
    found: ProgramState,
) -> Miss:
    """M v̇ − Q − C in the range of Aᵀ."""
    a, rough = (x[len(equations.coordinates) :] for x in (found.rates, found.rough))
    left, sizes = geometry.unbalanced(terms, a)
    changed = abs(shifted.M - terms.M) @ np.abs(a) + np.abs(shifted.Q - terms.Q)
    room = _room(changed) + abs(terms.M) @ rough
    size, off = float(np.linalg.norm(sizes)), float(np.linalg.norm(left))
    limit = geometry.limit * size + float(np.linalg.norm(geometry.d * room))
    worst = int(np.argmax(np.abs(left)))
    return Miss(
        _ratio(off, limit),
        "forces and accelerations do not balance in the motions that the constraints allow, most "
        f"of all for {equations.velocities[worst]!r}: {abs(left[worst] / geometry.d[worst]):.3g} "
        f"is left where {sizes[worst] / geometry.d[worst]:.3g} is summed",
    )


def _miss_of_light_bodies(
    equations: Equations,
    terms: FullTerms,
    shifted: FullTerms,
    geometry: ConstraintGeometry,
    found: ProgramState,
) -> list[Miss]:
    """The same as accelerations: of forces, the part that moves a light body is next to nothing."""
    diagonal = np.abs(terms.M.diagonal())
    some = diagonal[diagonal > 0.0]
    if not isinstance(geometry, DenseGeometry) or terms.law is not None or not len(some):
        return []
    if some.min() > UNLIKE * some.max():
        return []
    a, rough = (x[len(equations.coordinates) :] for x in (found.rates, found.rough))
    summed = abs(terms.M) @ np.abs(a) + np.abs(terms.Q)
    changed = abs(shifted.M - terms.M) @ np.abs(a) + np.abs(shifted.Q - terms.Q)
    force = terms.M @ a - terms.Q
    # An arm that is zero but for rounding gives a large reaction a moment, however small.
    lam, q = np.abs(geometry.multipliers(terms, force)), found.y[: len(equations.coordinates)]
    changed += np.abs(shifted.A - terms.A).T @ lam
    summed += moment_rounding(equations, q, np.abs(terms.A).T @ lam)
    rounding = ROUNDINGS * summed + _room(changed) + abs(terms.M) @ rough
    off, allowed = geometry.rebalancing(terms.M, force, rounding)
    alone = np.divide(np.abs(terms.Q), diagonal, out=np.zeros_like(a), where=diagonal > 0.0)
    sizes = np.abs(a) + alone + REST * np.abs(a).max(initial=0.0)
    worst, ratio = _worst(np.abs(off), OF_LIGHT * geometry.limit / RELATIVE * sizes + allowed)
    return [
        Miss(
            ratio,
            f"the acceleration {equations.velocities[worst]!r} is {a[worst]:.6g}, by the forces "
            f"and masses it is {a[worst] - off[worst]:.6g}",
        )
    ]


def _room(changed: FloatArray) -> FloatArray:
    """What rounding may leave of terms that a shift changes so much; nothing where it leads out
    of what they are defined for.
    """
    return ROUNDINGS / SHIFT * np.where(changed < np.inf, changed, 0.0)


def _ratio(off: float, limit: float) -> float:
    """off / limit, zero if both are."""
    return 0.0 if off == 0.0 else off / max(limit, np.finfo(float).tiny)


def _worst(off: FloatArray, limits: FloatArray) -> tuple[int, float]:
    """The entry that exceeds its limit most, and the ratio to it."""
    ratios = off / np.maximum(limits, np.finfo(float).tiny)
    worst = int(np.argmax(ratios))
    return worst, float(ratios[worst])


def _shifted(equations: Equations, y: FloatArray) -> FloatArray:
    """A state nearby, each entry moved by a share of the largest of its kind."""
    return y + _shares(len(y)) * _sizes(equations, y)


def _sizes(equations: Equations, y: FloatArray) -> FloatArray:
    """For each entry of a state the largest of its kind."""
    (q, v), kinds = np.split(np.abs(y), [len(equations.coordinates)]), StateKinds.of(equations)
    return np.concatenate(
        [largest_of_kind(q, kinds.coordinates), largest_of_kind(v, kinds.velocities)]
    )


@lru_cache
def _shares(count: int) -> FloatArray:
    shares = SHIFT * np.random.default_rng(1).uniform(0.5, 1.0, count)
    shares[1::2] *= -1.0
    return shares


def _stabilisation(
    equations: Equations, terms: FullTerms, settings: Settings
) -> FloatArray | float:
    """What Baumgarte's stabilisation takes from b."""
    if settings.drift is not Drift.BAUMGARTE:
        return 0.0
    r, levels = settings.baumgarte, np.array(equations.row_levels())
    value, rate = np.zeros(len(levels)), np.zeros(len(levels))
    value[levels == "position"] = terms.phi
    rate[levels != "acceleration"] = terms.psi
    return 2.0 * r * np.where(levels == "velocity", 0.5, 1.0) * rate + r * r * value


def moved(
    equations: Equations, given: FloatArray, begun: FloatArray, t: float, p: FloatArray
) -> Disagreement | None:
    """Where a start that meets its rows, put on them, did not stay put; None if it did."""
    nq = len(equations.coordinates)
    q, terms = given[:nq], full_terms(equations, given, t, p)
    bodies = equations.of_bodies
    q = q if bodies is None else bodies.on_unit_length(q)
    missed = np.abs(terms.phi).max(initial=0.0)
    limit = (STAYS + MOVES * missed) * np.abs(q).max(initial=1.0)
    worst, ratio = _worst(np.abs(begun[:nq] - q), np.full(nq, limit))
    if ratio <= 1.0:
        return None
    return Disagreement(
        f"{equations.coordinates[worst]!r} of the start is {q[worst]:.6g}, and became "
        f"{begun[worst]:.6g} where it was put on its constraints",
        t,
    )


def freedom_lost(
    equations: Equations,
    program: Program,
    found: ProgramState,
    t: float,
    p: FloatArray,
    geometry: ConstraintGeometry | None,
) -> Disagreement | None:
    """A velocity that all rows allow and a program does not; None if it keeps them all.

    Of the subspace N(A) a direction at random lies in no smaller one, so that one look tells
    whether any freedom is missing. Nothing is said where a singular position is near.
    """
    nq = len(equations.coordinates)
    q, v = found.y[:nq], found.y[nq:]
    if geometry is None:
        return None
    free = geometry.off_range(np.random.default_rng(0).standard_normal(len(v)))
    length = float(np.linalg.norm(free))
    if not length > RELATIVE * np.sqrt(len(v)):
        return None  # nothing is free to move
    nudge = NUDGE / length * max(1.0, float(np.linalg.norm(v / geometry.d))) * geometry.d * free
    before, after = (_corrected(program, np.concatenate([q, x]), t, p) for x in (v, v + nudge))
    lost = ((after - before)[nq:] - nudge) / geometry.d
    if not float(np.linalg.norm(lost)) > KEPT_SHARE * float(np.linalg.norm(nudge / geometry.d)):
        return None
    worst = int(np.argmax(np.abs(lost)))
    return Disagreement(
        f"velocity {equations.velocities[worst]!r} could change by all constraints, but not by the "
        f"equations as integrated, in which it is held",
        t,
    )


def _corrected(program: Program, y: FloatArray, t: float, p: FloatArray) -> FloatArray:
    """A state of the system after one correction of a program's onto its rows."""
    carrier, nq = program.carrier, program.nq
    inner = p
    if carrier is not None:
        (y,), (inner,) = carrier.entered_rows(y[None], t, p[None])
    W = program.lanes
    arguments = (y[:nq], y[nq:], np.array([t]), inner)
    kernel = program.kernel("project")
    if W > 1:
        arguments = tuple(np.repeat(x[:, None], W, axis=1) for x in arguments)
    q, v, *_ = kernel(*arguments)
    y = np.concatenate([np.reshape(x, (-1, W))[:, 0] for x in (q, v)])
    return y if carrier is None else carrier.leave(y[None], np.array([t]), inner)[0]


def _miss_of_mass(equations: Equations, terms: FullTerms) -> list[Miss]:
    """M is positive, or zero."""
    if equations.opaque or equations.by_elements is not None or equations.mass_is_constant:
        return []
    if not np.all(terms.M.diagonal() > 0.0):  # massless velocities, or the loop stops by itself
        return []
    what = indefinite(equations, terms.M)
    return [Miss(np.inf if what else 0.0, what)]


def _misses_of_state(
    equations: Equations, terms: FullTerms, y: FloatArray, settings: Settings
) -> list[Miss]:
    """φ = 0 and ψ = 0 of all rows."""
    if settings.drift is not Drift.PROJECTION:
        return []
    nq, allowed = len(equations.coordinates), max(MISSED, TOLERANCES * settings.tolerance)
    levels, found = equations.row_levels(), []
    position = [i for i, level in enumerate(levels) if level == "position"]
    moving = [i for i, level in enumerate(levels) if level != "acceleration"]
    for values, rows, part in ((terms.phi, position, y[:nq]), (terms.psi, moving, y[nq:])):
        if rows:
            lengths = row_lengths(terms.A, np.ones(terms.A.shape[1]))[rows]
            limits = allowed * np.maximum(1.0, lengths * np.linalg.norm(part))
            worst, ratio = _worst(np.abs(values), limits)
            name = equations.row_names[rows[worst]]
            found.append(Miss(ratio, f"constraint {name!r} is missed by {values[worst]:.3g}"))
    return found
