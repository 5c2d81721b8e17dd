"""Traced non-ideal laws such as Coulomb friction: the reactions that agree with them.

A law gives C(q, v, t, p, λ), but C changes the reaction: λ is linear in the force,

    λ = λ₀ + L C,       λ₀ the reaction of the ideal system, L = ∂λ/∂(Q + C)

so that λ is sought with

    g(λ) = λ − λ₀ − L C(λ) = 0.

Newton's method with ∂C/∂λ by differentiation, damped, on the multipliers the law looks at; laws
with |λ| are piecewise smooth, which it survives. A piecewise linear law may have no solution, or
several (Painlevé 1895), so it is started in every orthant.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from zwang.errors import InputError, PainleveError
from zwang.formulations.udwadia_mogharabin import UdwadiaMogharabin
from zwang.linalg.rank import pinv_of_rank
from zwang.linalg.scaling import ScaledTerms
from zwang.terms import EquationTerms, FloatArray
from zwang.tracing.open_laws import NONE_OPEN, OpenLaws, open_laws, open_note

if TYPE_CHECKING:
    from zwang.tracing.evaluator import Evaluator

__all__ = [
    "NonidealLaw",
    "Reactions",
    "agreeing_reactions",
    "reaction_response",
    "solve_reaction_law",
]

#: |g| against the sum of its terms. Rounding leaves 1e-15; a solution that is ten times worse
#: conditioned than that is still distinguished from none.
AGREEMENT = 1e-12

#: Two solutions that differ by less than this fraction are one.
DISTINCT = 1e-6

#: Up to this many multipliers, Newton's method starts in every orthant.
ORTHANTS = 5


def solve_reaction_law(
    evaluator: Evaluator,
    terms: EquationTerms,
    ideal: FloatArray,
    scaled: ScaledTerms,
    q: FloatArray,
    v: FloatArray,
    t: FloatArray,
    p: FloatArray,
) -> tuple[EquationTerms, OpenLaws]:
    """The terms with the C that agrees with the reaction it causes, for one state or a batch.

    And which laws use a reaction that is not determinate, at the first state where any does.

    Parameters
    ----------
    terms : of the ideal system.
    ideal, scaled : its multipliers, shape (…, m), and its scaled form.
    q, v, t, p : the states, shapes (…, nq), (…, nv), (…), and the parameters.

    Raises
    ------
    PainleveError : no reaction, or more than one, agrees with the law.
    """
    batch, n = terms.batch_shape, terms.coordinate_count
    flat_q, flat_v = q.reshape(-1, q.shape[-1]), v.reshape(-1, v.shape[-1])
    flat_t, flat_ideal = np.reshape(t, (-1,)), ideal.reshape(-1, ideal.shape[-1])
    C = np.empty((len(flat_q), n))
    left_open = NONE_OPEN
    for i in range(len(flat_q)):
        law = NonidealLaw(evaluator, flat_q[i], flat_v[i], flat_t[i], p)
        one = scaled.system(i) if batch else scaled
        reactions = agreeing_reactions(law, flat_ideal[i], reaction_response(one))
        try:
            C[i] = reactions.only(law)
        except PainleveError as error:
            raise (error.in_batch("state", batch, i) if batch else error) from None
        if not left_open.names:
            left_open = open_laws(law, one, reactions.solutions[0])
    result = terms.with_forces(terms.applied_force, C.reshape(*batch, n))
    if left_open.names:
        result = replace(result, notes=(*result.notes, open_note(left_open.names)))
    return result, left_open


class NonidealLaw:
    """C and ∂C/∂λ of a model at one state, as functions of the multipliers λ (m,)."""

    def __init__(
        self, evaluator: Evaluator, q: FloatArray, v: FloatArray, t: float, p: FloatArray
    ) -> None:
        self.evaluator = evaluator
        self.state = (q, v, np.atleast_1d(t), p)

    def __call__(self, multipliers: FloatArray) -> tuple[FloatArray, FloatArray]:
        """C (n,) and its slope (n, m)."""
        return self.evaluator.law(*self.state, multipliers)

    @property
    def seen(self) -> list[int]:
        """Which multipliers the law looks at."""
        return self.evaluator.law_multipliers

    @property
    def constraints(self) -> list[str]:
        """Names of the constraints they belong to."""
        return self.names(self.seen)

    def names(self, rows: Sequence[int]) -> list[str]:
        """Names of the constraints with these rows."""
        groups = self.evaluator.model.groups.items()
        return [name for name, members in groups if set(members) & set(rows)]


@dataclass(frozen=True)
class Reactions:
    """What the search found.

    Attributes
    ----------
    solutions : all λ (m,) found that agree with the law; the largest reaction first.
    forces : their C (n,).
    starts : how many starts were made.
    mismatch : the smallest |g| relative to its terms; below `AGREEMENT` if there are solutions.
    """

    solutions: tuple[FloatArray, ...]
    forces: tuple[FloatArray, ...]
    starts: int
    mismatch: float

    def only(self, law: NonidealLaw) -> FloatArray:
        """C of the one solution, or an error with the number of solutions."""
        if len(self.solutions) == 1:
            return self.forces[0]
        names = law.constraints
        listed = " and ".join(repr(name) for name in names)
        what = f"non-ideal law of constraint{'s' if len(names) > 1 else ''} {listed}"
        if not np.isfinite(self.mismatch):
            raise InputError(
                what,
                must="be finite at this state",
                but="has no finite value for any reaction that was tried",
            )
        advice = "In a Painlevé situation rigid bodies with such friction have no unique motion: "
        if not self.solutions:
            raise PainleveError(
                what,
                names=names,
                must="allow exactly one reaction at this state",
                but=f"allows none (the search from {self.starts} starting points leaves a "
                f"relative residual of {self.mismatch:.1g})",
                advice=advice + "let the law depend on velocity or reaction more smoothly.",
            )
        seen = law.seen
        values = "; ".join(
            ", ".join(f"{x:.6g}" for x in solution[seen]) for solution in self.solutions[:4]
        )
        more = ", …" if len(self.solutions) > 4 else ""
        raise PainleveError(
            what,
            names=names,
            solutions=self.solutions,
            must="allow exactly one reaction at this state",
            but=f"allows {len(self.solutions)} (λ = {values}{more})",
            advice=advice + "system.reaction_solutions lists the possible ones.",
        )


def reaction_response(scaled: ScaledTerms) -> FloatArray:
    """L = ∂λ/∂(Q + C) of one system, shape (m, n), for the multipliers of least norm."""
    d, e, geometry = scaled.velocity_scale, scaled.row_scale, scaled.geometry
    terms = scaled.scaled
    n, m = terms.coordinate_count, terms.constraint_count
    formulation = UdwadiaMogharabin(terms, geometry)
    _, multipliers = formulation.respond(np.diag(d), np.zeros((n, m)))  # one force a row
    if geometry.rank == m:
        return (multipliers * e).T
    forces = multipliers @ terms.constraint_matrix / d
    return (forces @ pinv_of_rank(scaled.terms.constraint_matrix, geometry.rank)).T


def agreeing_reactions(
    law: Callable[[FloatArray], tuple[FloatArray, FloatArray]] | NonidealLaw,
    ideal: FloatArray,
    response: FloatArray,
    seen: Sequence[int] | None = None,
    *,
    thorough: bool = False,
) -> Reactions:
    """All λ with λ = λ₀ + L C(λ) that can be found.

    Parameters
    ----------
    law : λ (m,) to C (n,) and ∂C/∂λ (n, m).
    ideal, response : λ₀ (m,) and L (m, n).
    seen : multipliers the law looks at; those of the law itself if it is a `NonidealLaw`.
    thorough : with a single multiplier, look along the whole line for changes of sign as well;
        otherwise this is done only when nothing else was found.
    """
    rows = list(law.seen if isinstance(law, NonidealLaw) else seen or range(len(ideal)))
    with np.errstate(all="ignore"):
        mismatch = _Mismatch(law, ideal, response, rows)
    found: list[FloatArray] = []
    least, starts = np.inf, 0

    def add(x: FloatArray) -> None:
        size = max(np.max(np.abs(x), initial=0.0), mismatch.scale)
        if not any(np.max(np.abs(x - y), initial=0.0) <= DISTINCT * size for y in found):
            found.append(x)

    with np.errstate(all="ignore"):
        for start in _starts(mismatch):
            starts += 1
            x, left = _newton(mismatch, start)
            least = min(least, left)
            if left <= AGREEMENT:
                add(x)
        if len(rows) == 1 and (thorough or not found):
            for start in _crossings(mismatch):
                starts += 1
                x, left = _newton(mismatch, start)
                if left <= AGREEMENT:
                    add(x)
    found.sort(key=lambda x: -float(np.linalg.norm(x)))
    full = [mismatch.embedded(x) for x in found]
    forces = [law(lam)[0] for lam in full]
    solutions = [ideal + response @ C for C in forces]
    return Reactions(tuple(solutions), tuple(forces), starts, least)


class _Mismatch:
    """g of the seen multipliers x (k,), its slope, and the size of its terms."""

    def __init__(
        self,
        law: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
        ideal: FloatArray,
        response: FloatArray,
        rows: list[int],
    ) -> None:
        self.law, self.rows, self.count = law, rows, len(ideal)
        self.ideal, self.response = ideal[rows], response[rows]
        caused = self.response @ law(self.embedded(self.ideal))[0]
        sizes = np.maximum(np.abs(self.ideal), np.where(np.isfinite(caused), np.abs(caused), 0.0))
        self.scale = float(np.max(sizes, initial=0.0)) or 1.0
        self.sizes = np.maximum(sizes, 1e-3 * self.scale)

    def embedded(self, x: FloatArray) -> FloatArray:
        """All multipliers λ (m,), those that do not matter at zero."""
        lam = np.zeros(self.count)
        lam[self.rows] = x
        return lam

    def proportional(self, x: FloatArray) -> bool:
        """Whether ten times the reaction gives ten times the force."""
        once, ten = self.law(self.embedded(x))[0], self.law(self.embedded(10.0 * x))[0]
        return bool(np.all(np.abs(ten - 10.0 * once) <= 1e-14 * np.max(np.abs(ten), initial=0.0)))

    def __call__(self, x: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        C, slope = self.law(self.embedded(x))
        g = x - self.ideal - self.response @ C
        terms = np.abs(x) + np.abs(self.ideal) + np.abs(self.response) @ np.abs(C)
        return g, np.eye(len(x)) - self.response @ slope[:, self.rows], float(np.max(terms))


def _newton(mismatch: _Mismatch, x: FloatArray) -> tuple[FloatArray, float]:
    """A root of g from a start, and |g| there relative to its terms (infinite if not finite)."""
    g, slope, size = mismatch(x)
    for _ in range(60):
        if _relative(g, size) <= 0.01 * AGREEMENT or not np.isfinite(slope).all():
            break
        if len(g) == 1 and slope[0, 0] != 0.0:
            step = -g / slope[0, 0]
        else:
            step = -np.linalg.lstsq(slope, g)[0]
        for halving in range(14):
            trial = x + 0.5**halving * step
            new_g, new_slope, new_size = mismatch(trial)
            if np.linalg.norm(new_g) < (1.0 - 1e-4 * 0.5**halving) * np.linalg.norm(g):
                break
        else:
            break
        x, g, slope, size = trial, new_g, new_slope, new_size
    return x, _relative(g, size)


def _relative(g: FloatArray, size: float) -> float:
    worst = float(np.max(np.abs(g), initial=0.0))
    if not np.isfinite(worst) or not np.isfinite(size):
        return np.inf
    return worst / size if size > 0.0 else 0.0


def _starts(mismatch: _Mismatch) -> Iterator[FloatArray]:
    """The ideal reaction, zero, and a point in every orthant.

    Where the law is not proportional to the reaction, a second one ten times as far out.
    """
    k, sizes = len(mismatch.rows), mismatch.sizes
    yield mismatch.ideal
    yield np.zeros(k)
    if k <= ORTHANTS:
        signs = [np.array(s, dtype=float) for s in itertools.product((1, -1), repeat=k)]
    else:  # one reaction at a time, all at once, and a fixed random choice
        own = np.where(mismatch.ideal < 0.0, -1.0, 1.0)
        signs = [own, -own, *(own * np.where(np.arange(k) == i, -1.0, 1.0) for i in range(k))]
        signs += list(np.random.default_rng(0).choice([-1.0, 1.0], size=(16, k)))
    for sign in signs:
        yield sign * sizes
        if not mismatch.proportional(sign * sizes):
            yield 10.0 * sign * sizes


def _crossings(mismatch: _Mismatch) -> Iterator[FloatArray]:
    """Where g of a single multiplier changes sign along the line, bisected."""

    def value(x: float) -> float:
        return float(mismatch(np.array([x]))[0][0])

    outward = mismatch.scale * np.geomspace(1e-6, 1e6, 121)
    line = np.concatenate([-outward[::-1], [0.0], outward])
    values = [value(x) for x in line]
    for (a, b), (at_a, at_b) in zip(
        itertools.pairwise(line), itertools.pairwise(values), strict=True
    ):
        low, high = float(a), float(b)
        if not at_a * at_b < 0.0:
            continue
        for _ in range(80):
            middle = 0.5 * (low + high)
            if value(middle) * at_a > 0.0:
                low = middle
            else:
                high = middle
        yield np.array([0.5 * (low + high)])
