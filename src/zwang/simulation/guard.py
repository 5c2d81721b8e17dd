"""The guard of a simulation: what its program does, against the full terms of the system as given.

A program is fast because it was chosen: other coordinates, rows left out, kernels of its own. None
of that is believed here. At the start and at saved states spread over a run three looks are taken,
in the coordinates of the system, with all rows, from its terms evaluated by CasADi's own machine
(element by element where a mechanism is large):

*   the state meets all rows, and q̇ = N v + n₀;
*   A v̇ = b;
*   M v̇ − Q − C lies in the range of Aᵀ. This one alone sees a mechanism that stands still though
    it is free to move.

Where a program is new a fourth one is taken, after some of its motion: a velocity that all rows
allow, drawn at random, is left as it is by the program's own correction. So the mobility in its
coordinates, with the rows that act there, is that of the full terms, whatever forces there are.

Residuals are compared with what was summed. Where a singular position is near, what divides by the
distance from it is allowed for, and nearer still nothing is said.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.caching import Remembered
from zwang.errors import ZwangError
from zwang.integrators.projection import derivative
from zwang.integrators.records import LoopEquations
from zwang.integrators.settings import Drift, Settings
from zwang.results.sparse_run import ByElements
from zwang.simulation.full_terms import FullTerms, full_terms
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.expression import Equations
    from zwang.programs.contract import Program

__all__ = [
    "Account",
    "Disagreement",
    "Guard",
    "Miss",
    "ProgramState",
    "freedom_lost",
    "look",
    "looks",
    "mass_beyond",
    "motion_of",
    "moved",
]

#: A residual that is this part of what was summed is no rounding, nor an error of a solve. Programs
#: reach 1e-11 away from singular positions; what is wrong misses by 1e-3 and more.
RELATIVE = 1e-6
#: Part of the forces that counts among what is summed where accelerations cancel, or are zero.
REST = 1e-5
#: Share of a state by which it is shifted: terms change by about that share of what they sum, which
#: tells how large rounding may be where sums cancel.
SHIFT = 2.0**-10
#: Roundings that a term has room for.
ROUNDINGS = 256.0 * np.finfo(float).eps
#: Singular values of the scaled rows below the first belong to dependent rows, which rounding and
#: what a projection leaves tell apart; above the second to independent ones. Between them a
#: singular position is so near that no rank is told.
NOISE, CLEAR = 1e-10, 1e-4
#: Velocities without mass count as having this part of the largest.
MASSLESS = 1e-12
#: Of very many rows singular values are not known: two regularisations, and a wider limit.
REGULARISATIONS, RELATIVE_OF_MANY = (1e-10, 1e-13), 1e-5
#: Errors of a solve grow as the square of the distance from a singular position falls.
NEAR = 1e-9
#: A saved state may miss its rows by this much, relative, or by so many tolerances.
MISSED, TOLERANCES = 1e-6, 100.0
#: A start that meets its rows is moved by no more than this, relative, and one that does not by so
#: many times its miss: near singular positions a small one is far off.
STAYS, MOVES = 1e-6, 1e4
#: An eigenvalue of M below minus this, in parts of its diagonal, is negative.
INDEFINITE = 1e-9
#: How long after the last state of a run a mass is looked for that made it stop, relative.
AFTERWARDS = (0.0, 1e-12, 1e-9, 1e-6, 1e-4)
#: Newton steps for multipliers that agree with a law of the reaction.
LAW_STEPS = 20
#: Step of the differences that give rates of carried states, in parts of the time they change in.
DIFFERENCE = 1e-3

#: A velocity that all rows allow is added in this size, relative, and may change by this share of
#: it where it is corrected. Programs change 1e-11 of it; one freedom less of a hundred, a tenth.
NUDGE, KEPT_SHARE = 1e-4, 1e-2

#: Part of the time of a run that looks may take, seconds for each run besides, and looks that the
#: first run of a program with some parameters takes whatever they cost.
SHARE, FOR_EACH, AT_FIRST = 0.03, 3e-6, 2
#: Seconds of a run that add nothing to what looks may take: in short ones all else is short too.
#: And seconds of looks that may be saved up.
SHORT, MOST_ALLOWANCE = 10e-3, 0.1
#: Velocities beyond which a look is dear, and its seconds for each of them, until it is measured.
MANY, COST_OF_MANY = 300, 3e-4
#: Looks at the states of one chunk at most.
MOST = 8
#: Programs with parameters that are remembered as looked at.
KEPT = 256


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
    """A state of a program in the coordinates of its system.

    Attributes
    ----------
    y : (q, v).
    rates : (q̇, v̇).
    rough : how far these may be off, where they come from differences.
    """

    y: FloatArray
    rates: FloatArray
    rough: FloatArray


# --- a program's motion ---------------------------------------------------------------------------


def motion_of(program: Program, y: FloatArray, t: float, p: FloatArray) -> ProgramState:
    """What a program makes of one of its states ŷ, in the coordinates of the system.

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
    rough = np.abs(fine - coarse) + ROUNDINGS / h * np.abs(here)
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


# --- the looks ------------------------------------------------------------------------------------


def look(
    system: Equations, found: ProgramState, t: float, p: FloatArray, settings: Settings
) -> Disagreement | None:
    """Compare a motion with the full terms of a system at its state; None if they agree."""
    for miss in looks(system, found, t, p, settings):
        if not miss.ratio <= 1.0:
            return Disagreement(miss.what, t)
    return None


class Miss(NamedTuple):
    """The largest miss of a look, as a ratio to its limit, and what it is."""

    ratio: float
    what: str


def looks(
    system: Equations, found: ProgramState, t: float, p: FloatArray, settings: Settings
) -> list[Miss]:
    """The looks at a state one by one; none where nothing can be said."""
    if not np.isfinite(found.rates).all():
        return []  # the loop itself stops there, and says why
    terms = full_terms(system, found.y, t, p)
    shifted = full_terms(system, _shifted(found.y, len(system.coordinates)), t, p)
    geometry = _Geometry.of(terms, shifted)
    if geometry is None:
        return []
    return [
        *_miss_of_mass(system, terms),
        *_misses_of_state(system, terms, found.y, settings),
        _miss_of_rates(system, terms, found),
        *_miss_of_rows(system, terms, shifted, geometry, found, settings),
        _miss_of_balance(system, terms, shifted, geometry, found),
    ]


def _miss_of_rows(
    system: Equations,
    terms: FullTerms,
    shifted: FullTerms,
    geometry: _Geometry,
    found: ProgramState,
    settings: Settings,
) -> list[Miss]:
    """A v̇ = b."""
    if not len(terms.b):
        return []
    a, rough = (x[len(system.coordinates) :] for x in (found.rates, found.rough))
    b = terms.b - _stabilisation(system, terms, settings)
    summed = abs(terms.A) @ np.abs(a) + np.abs(b)
    changed = abs(shifted.A - terms.A) @ np.abs(a) + np.abs(shifted.b - terms.b)
    off = np.abs(terms.A @ a - b)
    limits = geometry.limit * np.maximum(summed, geometry.row_floor(terms, a)) + _room(changed)
    limits += abs(terms.A) @ rough
    worst, ratio = _worst(off, limits)
    return [
        Miss(
            ratio,
            f"the accelerations miss constraint {system.row_names[worst]!r} by {off[worst]:.3g} "
            f"where {summed[worst]:.3g} is summed",
        )
    ]


def _miss_of_rates(system: Equations, terms: FullTerms, found: ProgramState) -> Miss:
    """q̇ = N v + n₀."""
    nq, size = len(system.coordinates), np.abs(terms.q_dot).max(initial=0.0)
    q_dot, off = found.rates[:nq], np.abs(found.rates[:nq] - terms.q_dot)
    floor = ROUNDINGS * np.abs(found.y).max(initial=1.0)
    worst, ratio = _worst(off, RELATIVE * size + floor + found.rough[:nq])
    return Miss(
        ratio,
        f"the rate of {system.coordinates[worst]!r} is {q_dot[worst]:.6g}, by the velocities it "
        f"is {terms.q_dot[worst]:.6g}",
    )


def _miss_of_balance(
    system: Equations,
    terms: FullTerms,
    shifted: FullTerms,
    geometry: _Geometry,
    found: ProgramState,
) -> Miss:
    """M v̇ − Q − C in the range of Aᵀ."""
    a, rough = (x[len(system.coordinates) :] for x in (found.rates, found.rough))
    left, sizes = geometry.unbalanced(terms, a)
    changed = abs(shifted.M - terms.M) @ np.abs(a) + np.abs(shifted.Q - terms.Q)
    room = _room(changed) + abs(terms.M) @ rough
    size, off = float(np.linalg.norm(sizes)), float(np.linalg.norm(left))
    limit = geometry.limit * size + float(np.linalg.norm(geometry.d * room))
    worst = int(np.argmax(np.abs(left)))
    return Miss(
        _ratio(off, limit),
        "forces and accelerations do not balance in the motions that the constraints allow, most "
        f"of all for {system.velocities[worst]!r}: {abs(left[worst] / geometry.d[worst]):.3g} is "
        f"left where {sizes[worst] / geometry.d[worst]:.3g} is summed",
    )


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


def _shifted(y: FloatArray, nq: int) -> FloatArray:
    """A state nearby, each entry moved by a share of the largest of its kind."""
    q, v = np.abs(y[:nq]).max(initial=0.0), np.abs(y[nq:]).max(initial=0.0)
    shift = _shares(len(y)).copy()
    shift[:nq] *= q or 1.0
    shift[nq:] *= v or 1.0
    return y + shift


@lru_cache
def _shares(count: int) -> FloatArray:
    shares = SHIFT * np.random.default_rng(1).uniform(0.5, 1.0, count)
    shares[1::2] *= -1.0
    return shares


def _stabilisation(system: Equations, terms: FullTerms, settings: Settings) -> FloatArray | float:
    """What Baumgarte's stabilisation takes from b."""
    if settings.drift is not Drift.BAUMGARTE:
        return 0.0
    r, levels = settings.baumgarte, np.array(system.row_levels())
    value, rate = np.zeros(len(levels)), np.zeros(len(levels))
    value[levels == "position"] = terms.phi
    rate[levels != "acceleration"] = terms.psi
    return 2.0 * r * np.where(levels == "velocity", 0.5, 1.0) * rate + r * r * value


def moved(
    system: Equations, given: FloatArray, begun: FloatArray, t: float, p: FloatArray
) -> Disagreement | None:
    """Where a start that meets its rows, put on them, did not stay put; None if it did."""
    nq = len(system.coordinates)
    q, terms = given[:nq], full_terms(system, given, t, p)
    on_length = getattr(system, "on_unit_length", None)
    q = q if on_length is None else on_length(q)
    missed = np.abs(terms.phi).max(initial=0.0)
    limit = (STAYS + MOVES * missed) * np.abs(q).max(initial=1.0)
    worst, ratio = _worst(np.abs(begun[:nq] - q), np.full(nq, limit))
    if ratio <= 1.0:
        return None
    return Disagreement(
        f"{system.coordinates[worst]!r} of the start is {q[worst]:.6g}, and became "
        f"{begun[worst]:.6g} where it was put on its constraints",
        t,
    )


def freedom_lost(
    system: Equations, program: Program, found: ProgramState, t: float, p: FloatArray
) -> Disagreement | None:
    """A velocity that all rows allow and a program does not; None if it keeps them all.

    Of the subspace N(A) a direction at random lies in no smaller one, so that one look tells
    whether any freedom is missing. Nothing is said where a singular position is near.
    """
    nq = len(system.coordinates)
    q, v = found.y[:nq], found.y[nq:]
    terms = full_terms(system, found.y, t, p)
    geometry = _Geometry.of(terms, full_terms(system, _shifted(found.y, nq), t, p))
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
        f"the program rules out a motion that all constraints allow, most of all "
        f"{system.velocities[worst]!r}",
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


def mass_beyond(
    system: Equations, y: FloatArray, t: float, p: FloatArray, a: FloatArray, step: float
) -> str:
    """Which mass is not positive at a state or soon after, as a sentence; empty if all are.

    Soon is within times that are hardly told from none, or within a fixed step if there is one.
    """
    if system.opaque or isinstance(system, ByElements) or system.mass_is_constant:
        return ""
    rates = np.concatenate([full_terms(system, y, t, p).q_dot, a])
    rates = np.where(np.isfinite(rates), rates, 0.0)
    for h in (*(share * max(abs(t), 1.0) for share in AFTERWARDS), 0.5 * step, step):
        found = _indefinite(system, full_terms(system, y + h * rates, t + h, p).M)
        if found:
            return f"{found} beyond it; expected a mass matrix that stays positive"
    return ""


def _indefinite(system: Equations, M: FloatArray) -> str:
    """Which mass is not positive, as the beginning of a sentence; empty if none is."""
    if not np.isfinite(M).all():
        return ""
    diagonal = M.diagonal()
    worst = int(np.argmin(diagonal))
    if diagonal[worst] <= 0.0:
        return f"the mass of {system.velocities[worst]!r} is {diagonal[worst]:.3g}"
    d = 1.0 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(d[:, None] * M * d)
    if values[0] < -INDEFINITE:
        largest = int(np.argmax(np.abs(vectors[:, 0])))
        return (
            f"the mass matrix has a negative eigenvalue, {values[0]:.3g} in parts of its diagonal, "
            f"most of all in {system.velocities[largest]!r}"
        )
    return ""


def _miss_of_mass(system: Equations, terms: FullTerms) -> list[Miss]:
    """M is positive, or zero."""
    if system.opaque or isinstance(system, ByElements) or system.mass_is_constant:
        return []
    if not np.all(terms.M.diagonal() > 0.0):  # massless velocities, or the loop stops by itself
        return []
    what = _indefinite(system, terms.M)
    return [Miss(np.inf if what else 0.0, what)]


def _misses_of_state(
    system: Equations, terms: FullTerms, y: FloatArray, settings: Settings
) -> list[Miss]:
    """φ = 0 and ψ = 0 of all rows."""
    if settings.drift is not Drift.PROJECTION:
        return []
    nq, allowed = len(system.coordinates), max(MISSED, TOLERANCES * settings.tolerance)
    levels, found = system.row_levels(), []
    position = [i for i, level in enumerate(levels) if level == "position"]
    moving = [i for i, level in enumerate(levels) if level != "acceleration"]
    for values, rows, part in ((terms.phi, position, y[:nq]), (terms.psi, moving, y[nq:])):
        if rows:
            lengths = _lengths(terms.A, np.ones(terms.A.shape[1]))[rows]
            limits = allowed * np.maximum(1.0, lengths * np.linalg.norm(part))
            worst, ratio = _worst(np.abs(values), limits)
            name = system.row_names[rows[worst]]
            found.append(Miss(ratio, f"constraint {name!r} is missed by {values[worst]:.3g}"))
    return found


class _Geometry(ABC):
    """Scaled rows at a state: their range, and how near they are to losing rank.

    Attributes
    ----------
    d : scales of velocities, such that masses are about one.
    lengths : of the rows then, or what a shift of the state makes of them if that is more: a row
        that vanishes here is none.
    limit : parts of what is summed that misses may be.
    """

    def __init__(self, d: FloatArray, lengths: FloatArray, limit: float = RELATIVE) -> None:
        self.d, self.lengths, self.limit = d, lengths, limit

    @staticmethod
    def of(terms: FullTerms, shifted: FullTerms) -> _Geometry | None:
        """None where a singular position is so near that no rank is told, or terms overflow."""
        diagonal = np.abs(terms.M.diagonal())
        floor = MASSLESS * diagonal.max(initial=0.0) or 1.0
        d = 1.0 / np.sqrt(np.maximum(diagonal, floor))
        lengths, changed = _lengths(terms.A, d), _lengths(shifted.A - terms.A, d)
        lengths = np.maximum(lengths, np.where(changed < np.inf, changed, 0.0))
        if not np.isfinite(lengths).all():
            return None
        kind = _Dense if isinstance(terms.A, np.ndarray) else _Sparse
        return kind.at(terms, d, lengths)

    def row_floor(self, terms: FullTerms, a: FloatArray) -> FloatArray:
        """What rows sum at least: a part of the accelerations that the forces alone would cause.

        Where all is at rest nothing else tells what accelerations are zero beside.
        """
        whole = np.linalg.norm(a / self.d) + np.linalg.norm(self.d * terms.Q)
        return REST * whole * self.lengths

    def unbalanced(self, terms: FullTerms, a: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What is left of M v̇ − Q − C off the range of Aᵀ, and the sizes of what was summed."""
        force = terms.M @ a - terms.Q
        sizes = self.d * (abs(terms.M) @ np.abs(a) + np.abs(terms.Q))
        if terms.law is None:
            return self.off_range(self.d * force), sizes
        least, best, largest = np.inf, sizes, sizes
        lam = terms.witness
        if lam is None:
            lam = np.linalg.lstsq((terms.A * self.d).T, self.d * force, rcond=NOISE)[0]
        for _ in range(LAW_STEPS):
            C, slope = terms.law(lam)
            left = self.d * (force - C - terms.A.T @ lam)
            size = float(np.linalg.norm(left))
            if size < least:
                least, best, largest = size, left, sizes + self.d * np.abs(C)
            if slope is None:
                break
            slopes = self.d[:, None] * (terms.A.T + slope)
            lam = lam + np.linalg.lstsq(slopes, left, rcond=NOISE)[0]
        return best, largest

    @abstractmethod
    def off_range(self, force: FloatArray) -> FloatArray:
        """What is left of a scaled force off the range of the scaled Aᵀ."""


class _Dense(_Geometry):
    """By the singular values of all rows."""

    V: FloatArray

    @classmethod
    def at(cls, terms: FullTerms, d: FloatArray, lengths: FloatArray) -> _Dense | None:
        """None where a singular position is near."""
        found = cls(d, lengths)
        scales = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0.0)
        _, s, V = np.linalg.svd(terms.A * d * scales[:, None], full_matrices=False)
        if np.any((s > NOISE) & (s < CLEAR)):
            return None
        rank = int(np.sum(s > CLEAR))
        found.V = V[:rank]
        if rank:
            found.limit = max(RELATIVE, NEAR / float(s[rank - 1]) ** 2)
        return found

    def off_range(self, force: FloatArray) -> FloatArray:
        """What is left of a scaled force off the range of the scaled Aᵀ."""
        return force - self.V.T @ (self.V @ force)


class _Sparse(_Geometry):
    """By regularised factors of very many rows, of which no singular values are known.

    What is left with either of two regularisations must be no rounding: next to a singular position
    one of them goes astray.
    """

    factors: list[Any]
    rows: Any

    @classmethod
    def at(cls, terms: FullTerms, d: FloatArray, lengths: FloatArray) -> _Sparse:
        """Factor [[1, Bᵀ], [B, −δ]] with the scaled rows B."""
        from scipy.sparse import block_array, diags_array
        from scipy.sparse.linalg import splu

        found = cls(d, lengths, RELATIVE_OF_MANY)
        scales = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0.0)
        B = diags_array(scales) @ terms.A @ diags_array(d)
        found.rows = B
        one, rows = diags_array(np.ones(len(d))), np.ones(len(lengths))
        found.factors = [
            splu(block_array([[one, B.T], [B, diags_array(-delta * rows)]], format="csc"))
            for delta in REGULARISATIONS
        ]
        return found

    def off_range(self, force: FloatArray) -> FloatArray:
        """The lesser of what two regularisations leave, each corrected once."""
        left = []
        for factor in self.factors:
            rest = force
            for _ in range(2):
                solved = factor.solve(np.concatenate([rest, np.zeros(self.rows.shape[0])]))
                rest = rest - self.rows.T @ solved[len(force) :]
            left.append(rest)
        return min(left, key=np.linalg.norm)


def _lengths(A: Any, d: FloatArray) -> FloatArray:
    """Of the rows of a matrix, with columns scaled by d."""
    return np.sqrt((A * A if isinstance(A, np.ndarray) else A.multiply(A)) @ (d * d))


# --- along a simulation ---------------------------------------------------------------------------


class Account:
    """What is known of the programs of a system, and what looks at them may cost; kept with it.

    Attributes
    ----------
    seen : programs with parameters that were looked at.
    doubted : carriers that lead astray, and a sentence on each.
    dear : whether a look may cost more than a run, so that even the first waits for its allowance.
    allowance : seconds that looks may take.
    cost : of a look, as last measured [s].
    """

    def __init__(self, size: int) -> None:
        self.seen: Remembered[tuple[int, bytes], Any] = Remembered(KEPT)
        self.doubted: dict[int, tuple[Any, str]] = {}
        self.allowance, self.dear = 0.0, size > MANY
        self.cost = size * COST_OF_MANY if self.dear else 0.0

    @classmethod
    def of(cls, system: Equations) -> Account:
        """That of a system."""
        return system.cache.once(cls, lambda: cls(len(system.velocities)))

    def doubt(self, program: Program) -> str:
        """Why a program's coordinates are not believed; empty if nothing speaks against them."""
        carrier = program.carrier
        found = None if carrier is None else self.doubted.get(id(carrier))
        return "" if found is None else found[1]


class Guard:
    """Looks along one simulation, as many as cost little.

    The first run of a program with some parameters is looked at whatever that costs, at its start
    and at its end; all others as far as the allowance of the system goes, which every run adds to.
    """

    def __init__(self, system: Equations, settings: Settings) -> None:
        account = self.account = Account.of(system)
        self.settings = settings
        account.allowance = min(account.allowance, 2.0 * account.cost) + FOR_EACH
        self.due, self.since = 0, perf_counter() + SHORT

    def begin(self, program: Program, p: FloatArray) -> None:
        """Know the program that the following states are of."""
        key = (id(program), p.tobytes())
        if key not in self.account.seen:
            self.account.seen[key] = program
            self.due = AT_FIRST

    def wanted(self, most: int) -> int:
        """How many looks may be taken now, of so many."""
        account, now = self.account, perf_counter()
        cost = account.cost
        if now > self.since:
            saved = account.allowance + SHARE * (now - self.since)
            account.allowance, self.since = min(saved, max(MOST_ALLOWANCE, 2.0 * cost)), now
        asked = 0 if account.dear else min(self.due, 1)
        affordable = int(account.allowance / cost) if cost else 0
        return min(most, max(affordable, asked))

    def start(
        self, system: Equations, given: FloatArray, begun: FloatArray, t: float, p: FloatArray
    ) -> Disagreement | None:
        """Whether a start stayed put, see `moved`."""
        began = perf_counter()
        found = moved(system, given, begun, t, p)
        self._charge(began)
        return found

    def look(
        self,
        system: Equations,
        program: Program,
        state: tuple[FloatArray, float],
        *numbers: FloatArray,
    ) -> Disagreement | None:
        """Look at a state ŷ, t of a program with parameters p̂ and, in the system, p."""
        began = perf_counter()
        (y, t), (inner, p) = state, numbers
        try:
            motion = motion_of(program, y, t, inner)
            found = look(system, motion, t, p, self.settings)
            if found is None and self.due == 1 and self._corrects(program):
                found = freedom_lost(system, program, motion, t, p)
        except ZwangError:  # a function of the user's that fails nearby
            found = None
        self.due = max(self.due - 1, 0)
        self.account.cost = self._charge(began)
        return found

    def _corrects(self, program: Program) -> bool:
        """Whether a program puts states back on rows of its own, by a kernel that is compiled."""
        return self.settings.drift is Drift.PROJECTION and program.rows[1] > 0

    def _charge(self, began: float) -> float:
        """Take what was spent since then from the allowance."""
        now = perf_counter()
        self.account.allowance -= now - began
        self.since += now - began
        return now - began

    def doubt(self, program: Program, found: Disagreement) -> bool:
        """Remember that a program disagrees; whether it may be for the coordinates it is in."""
        self.account.seen.clear()  # all that follow are looked at
        carrier = program.carrier
        if carrier is not None:
            self.account.doubted[id(carrier)] = carrier, str(found)
        return carrier is not None

    def rows(self, count: int) -> list[int]:
        """Which of so many saved states to look at now, spread over them, the last among them."""
        wanted = self.wanted(min(MOST, count))
        return [count - 1 - (k * count) // wanted for k in range(wanted)] if wanted else []
