"""Dense solve of the equations of motion: chooses a formulation, refines, and reports.

`solve` scales the terms, decides the ranks, refuses what has no answer with a sentence that names
what is at fault, chooses a formulation, and refines its answer with residuals in doubled precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from zwang.arguments.keywords import known_keywords
from zwang.diagnosis.explain import inconsistent_error, indefinite_error, not_unique_error
from zwang.diagnosis.facts import PULL, accuracy_notes, disagree, relative_miss
from zwang.errors import (
    InputError,
    NotApplicableError,
    NotUniqueError,
    UnknownNameError,
    ZwangError,
)
from zwang.formulations.contract import Facts, Formulation
from zwang.formulations.projection import Projection
from zwang.formulations.saddle_point import SaddlePoint
from zwang.formulations.udwadia_kalaba import UdwadiaKalaba
from zwang.formulations.udwadia_mogharabin import UdwadiaMogharabin
from zwang.formulations.udwadia_phohomsiri import UdwadiaPhohomsiri
from zwang.formulations.udwadia_schutte import UdwadiaSchutte
from zwang.linalg.products import matvec, transpose_matvec
from zwang.linalg.rank import DEFAULT_TOLERANCES, Tolerances
from zwang.linalg.refinement import ExactResidual, least_norm_multipliers, refine
from zwang.linalg.residual_rounding import own_limits, shares
from zwang.linalg.scaling import RankGroup, ScaledTerms
from zwang.solvers.solution import Ranks, Solution
from zwang.terms import EPSILON, EquationTerms, FloatArray, finite, out_of_range

__all__ = ["FORMULATIONS", "choose", "solve", "solve_terms"]

FORMULATIONS: dict[str, type[Formulation]] = {
    kind.name: kind
    for kind in (
        UdwadiaKalaba,
        UdwadiaPhohomsiri,
        UdwadiaSchutte,
        UdwadiaMogharabin,
        Projection,
        SaddlePoint,
    )
}

#: Above this condition number of M, M⁻¹ costs half of the digits, and the form that inverts M only
#: on the degrees of freedom is taken instead.
WELL_CONDITIONED_MASS = 1e8

#: Velocity scales within these bounds (masses within 1e±200), and scaled forces and right sides
#: below the third, keep squares and products of a few of them within the range of doubles, 1e±308.
SMALLEST_SCALE, LARGEST_SCALE, LARGEST = 1e-100, 1e100, 1e140

#: A last correction below this means six digits or more; above, the answer is looked at again.
REFINED = 1e-6

#: Constraint residuals above this, relative, are no motion, whatever the condition.
MISSED = 1e-9
#: The note of a solution that is one of a family.
NOT_UNIQUE = (
    "the acceleration is not unique: {} direction(s) have neither mass nor constraint; the one of "
    "least norm is given, and `family` spans the rest"
)

NOT_MISSED = np.zeros((), dtype=bool)

#: A mass this much smaller than the largest is not below what rounding leaves of a zero.
DOUBTFUL_MASS = 1e-15


@known_keywords()
def solve(
    M: Any,
    Q: ArrayLike,
    A: Any = None,
    b: ArrayLike | None = None,
    C: ArrayLike | None = None,
    *,
    formulation: str = "auto",
    names: Sequence[str] | None = None,
    coordinates: Sequence[str] | None = None,
    family: bool = False,
    refined: bool = True,
    tolerances: Tolerances = DEFAULT_TOLERANCES,
) -> Solution:
    """Acceleration, constraint force and multipliers of M v̇ = Q + Q_c under A v̇ = b.

    Parameters
    ----------
    M : mass matrix, shape (…, n, n), symmetric positive semi-definite; array or scipy.sparse.
    Q : applied force with gyroscopic terms, shape (…, n).
    A, b : constraint rows A v̇ = b, shapes (…, m, n) and (…, m); rows may repeat. Leave both out
        for a free system.
    C : non-ideal force, shape (…, n): Q_c does the work wᵀC in every virtual displacement w.
    formulation : ``"auto"`` or a name in `FORMULATIONS`.
    names, coordinates : names of rows and of coordinates, used in every message.
    family : where accelerations are not unique, return all of them instead of refusing.
    refined : correct the answer by its residual in doubled precision (the default).
    tolerances : thresholds for ranks and consistency.

    Raises
    ------
    InputError : a shape or value is wrong, or M is indefinite.
    NotUniqueError : a direction has neither mass nor constraint (and `family` is not set).
    InconsistentConstraintsError : constraints contradict; the error names an irreducible group.
    NotApplicableError : the named formulation does not apply; the error names those that do.

    Examples
    --------
    A particle of mass 2 under gravity on the incline y = −x, held by the same constraint twice:

    >>> import zwang as zw
    >>> s = zw.solve([[2, 0], [0, 2]], [0, -20], [[1, 1], [2, 2]], [0, 0])
    >>> s.acceleration
    array([ 5., -5.])
    >>> s.constraint_force
    array([10., 10.])
    """
    _require_options(formulation, tolerances)
    if _is_sparse(M) or _is_sparse(A):
        from zwang.solvers.sparse import SPARSE_SIZE, solve_sparse, sparse_terms

        # A family, or a formulation that has no sparse form, is solved densely.
        large = (M.shape[0] if _is_sparse(M) else A.shape[-1]) > SPARSE_SIZE
        if large and not family and formulation in ("auto", SaddlePoint.name):
            terms = sparse_terms(M, Q, A, b, C, names=names, coordinates=coordinates)
            return solve_sparse(terms, tolerances)
    terms = EquationTerms.of(M, Q, A, b, C, names=names, coordinates=coordinates)
    return solve_terms(
        terms, formulation=formulation, family=family, refined=refined, tolerances=tolerances
    )


def solve_terms(
    terms: EquationTerms,
    *,
    formulation: str = "auto",
    family: bool = False,
    refined: bool = True,
    tolerances: Tolerances = DEFAULT_TOLERANCES,
) -> Solution:
    """`solve` for terms that are already checked."""
    _require_options(formulation, tolerances)
    if terms.batch_shape and 0 in terms.batch_shape:
        raise InputError(
            "batch",
            must="have at least one system",
            but=f"has shape {terms.batch_shape}",
            advice="Omit empty batches before solving.",
        )
    with np.errstate(all="ignore"):  # what leaves the range of doubles is refused, not warned of
        try:
            return _solve_terms(terms, formulation, tolerances, family=family, refined=refined)
        except np.linalg.LinAlgError as error:
            raise out_of_range(terms) from error


def _solve_terms(
    terms: EquationTerms, formulation: str, tolerances: Tolerances, *, family: bool, refined: bool
) -> Solution:
    system = ScaledTerms.decided(terms, tolerances)
    _require_range(system)
    _require_semidefinite(system)
    doubts = _doubtful_masses(system)
    notes = [*terms.notes, *doubts]
    undetermined = _undetermined(system) if family else np.zeros((terms.coordinate_count, 0))
    if not undetermined.shape[-1] and not system.unique:
        raise _in_batch(system, system.stacked_ranks < terms.coordinate_count, not_unique_error)

    n, m = terms.coordinate_count, terms.constraint_count
    system, kind, reason, answer, missed = _settled(
        system, formulation, undetermined, refined=refined
    )
    corrections = answer.corrections
    if refined and not corrections[-1] < REFINED:
        _require_constraints(system, kind, answer.acceleration)
        notes.append(
            f"refinement stopped at a relative correction of {corrections[-1]:.1e}: the terms are "
            "badly conditioned, and the result may have few correct digits"
        )
    notes += [*_miss_notes(system, missed, answer.checked), *accuracy_notes(system)]

    # Back from scaled terms, which are exact up to powers of two.
    d = system.velocity_scale
    acceleration, ideal_force = answer.acceleration * d, answer.ideal_force / d
    redundant = m - system.lowest_rank
    if redundant:
        notes.append(
            f"{'up to ' if terms.batch_shape else ''}{redundant} of {m} constraint rows are "
            "redundant; the multipliers are those of least norm, see zwang.passport"
        )
    basis = undetermined * d[:, None] if undetermined.shape[-1] else undetermined
    if basis.shape[-1]:
        acceleration = acceleration - basis @ np.linalg.lstsq(basis, acceleration)[0]
        notes.append(NOT_UNIQUE.format(basis.shape[-1]))
    multipliers, batch = answer.multipliers, terms.batch_shape
    if not (finite(multipliers) and finite(acceleration)):
        raise out_of_range(terms)
    if doubts:
        notes += _miss_as_given(system, answer.acceleration)
    ranks = (system.constraint_ranks, system.mass.rank, system.stacked_ranks)
    if not batch:
        ranks = tuple(int(rank) for rank in ranks)
    elif len(batch) > 1:  # the work was done on one flat axis
        acceleration, ideal_force = acceleration.reshape(*batch, n), ideal_force.reshape(*batch, n)
        multipliers = multipliers.reshape(*batch, m)
        ranks = tuple(rank.reshape(batch) for rank in ranks)
    return Solution(
        terms,
        acceleration,
        ideal_force + terms.nonideal_force,
        multipliers,
        Ranks(*ranks),
        kind.name,
        reason,
        corrections,
        basis,
        tuple(notes),
        system,
    )


def _settled(
    system: ScaledTerms, formulation: str, undetermined: FloatArray, *, refined: bool
) -> tuple[ScaledTerms, type[Formulation], str, _ScaledAnswer, np.ndarray]:
    """The answer, with the ranks that right sides ask for, and the systems that violate
    constraints.

    Constraints that contradict each other are refused.
    """
    kind, reason, answer = _answered(system, formulation, undetermined, refined=refined)
    missed = _missed(system, answer.checked)
    if not missed.any():
        return system, kind, reason, answer, missed
    ranks = _ranks_that_agree(system, missed, answer.checked)
    if ranks is not None:
        system = system.with_ranks(ranks)
        kind, reason, answer = _answered(system, formulation, undetermined, refined=refined)
        missed = _missed(system, answer.checked)
    contradicting = _contradicting(system, missed, answer.checked)
    if contradicting.any():
        if (contradicting & (system.hidden_ranks > 0)).any():
            raise _masses_too_different()
        raise _in_batch(system, contradicting, inconsistent_error)
    return system, kind, reason, answer, missed


def _answered(
    system: ScaledTerms, formulation: str, undetermined: FloatArray, *, refined: bool
) -> tuple[type[Formulation], str, _ScaledAnswer]:
    """The formulation, why it was taken, and its answer for scaled terms."""
    kind, reason = _kind(formulation, system, family=bool(undetermined.shape[-1]))
    groups = list(system.groups())
    if undetermined.shape[-1]:
        groups = [_with_mass_along(group, undetermined) for group in groups]
    answers = [_solve_group(kind, system, group, refined=refined) for group in groups]
    return kind, reason, _joined(groups, answers)


def choose(system: ScaledTerms) -> tuple[type[Formulation], str]:
    """The formulation `auto` takes, and why, from ranks and conditioning alone."""
    n, m = system.terms.coordinate_count, system.terms.constraint_count
    rank = system.highest_rank
    if not system.positive_definite:
        low = int(np.min(system.mass.rank))
        return UdwadiaMogharabin, f"M is singular (rank {low} of {n})"
    if m == 0 or rank == 0:
        return UdwadiaKalaba, "there are no constraints, v̇ = M⁻¹(Q + C)"
    if system.lowest_rank == n:
        return UdwadiaMogharabin, "A has full column rank: the constraints alone fix v̇ = A⁺b"
    if not system.mass.estimated:
        condition = float(np.max(system.mass.largest / system.mass.smallest))
        if condition > WELL_CONDITIONED_MASS:
            return (
                UdwadiaMogharabin,
                f"M is badly conditioned ({condition:.0e}) and is not inverted",
            )
    if 2 * rank <= n:
        return (
            UdwadiaKalaba,
            f"M is positive definite and the constraints are few (rank {rank} of {n})",
        )
    return UdwadiaMogharabin, f"the degrees of freedom are few ({n - rank} of {n})"


def _kind(name: str, system: ScaledTerms, *, family: bool) -> tuple[type[Formulation], str]:
    if family:
        return UdwadiaMogharabin, "accelerations are not unique, equation (17)"
    if name == "auto":
        return choose(system)
    facts = Facts(positive_definite=system.positive_definite, unique=system.unique)
    obstacle = FORMULATIONS[name].obstacle(facts)
    if obstacle is not None:
        others = [k for k, kind in FORMULATIONS.items() if kind.obstacle(facts) is None]
        raise NotApplicableError(
            f"formulation {name!r} does not apply: {obstacle}",
            advice=f"These apply: {', '.join(others)}, or 'auto'.",
        )
    return FORMULATIONS[name], "asked for by name"


class _ScaledAnswer(NamedTuple):
    """Acceleration and ideal force Aᵀλ of scaled terms; least-norm λ of the rows as given.

    `checked` is the acceleration by which constraints are judged, refined in any case.
    """

    acceleration: FloatArray
    ideal_force: FloatArray
    multipliers: FloatArray
    corrections: tuple[float, ...]
    checked: FloatArray


def _solve_group(
    kind: type[Formulation], system: ScaledTerms, group: RankGroup, *, refined: bool
) -> _ScaledAnswer:
    terms, geometry, tolerances = group.terms, group.geometry, system.tolerances
    formulation = kind(terms, geometry)
    force, rhs = terms.total_force, terms.constraint_rhs
    acceleration, multipliers = formulation.respond(force, rhs)
    residual = ExactResidual(terms.mass_matrix, terms.constraint_matrix, force, rhs)
    if refined:
        acceleration, multipliers, ideal_force, corrections = refine(
            formulation.respond, residual, acceleration, multipliers, tolerances.refinement
        )
        checked = acceleration
    else:
        ideal_force = transpose_matvec(terms.constraint_matrix, multipliers)
        corrections = ()
        checked = acceleration + formulation.respond(*residual(acceleration, multipliers))[0]
    row_scale = system.row_scale if group.index is None else system.row_scale[group.index]
    if geometry.rank == terms.constraint_count:
        multipliers = multipliers * row_scale
    else:
        multipliers = least_norm_multipliers(geometry, residual.rows, row_scale, ideal_force)
    return _ScaledAnswer(acceleration, ideal_force, multipliers, corrections, checked)


def _joined(groups: list[RankGroup], answers: list[_ScaledAnswer]) -> _ScaledAnswer:
    """The answers in the order of the batch."""
    if len(answers) == 1:
        return answers[0]
    indices = [group.index for group in groups if group.index is not None]
    order = np.argsort(np.concatenate(indices))
    acceleration, ideal_force, multipliers, corrections, checked = zip(*answers, strict=True)
    return _ScaledAnswer(
        np.concatenate(acceleration)[order],
        np.concatenate(ideal_force)[order],
        np.concatenate(multipliers)[order],
        max(corrections, key=lambda sizes: sizes[-1] if sizes else 0.0),
        np.concatenate(checked)[order],
    )


# --- refusals -------------------------------------------------------------------------------------


def _require_options(formulation: str, tolerances: Tolerances) -> None:
    if not isinstance(formulation, str) or (
        formulation != "auto" and formulation not in FORMULATIONS
    ):
        raise UnknownNameError("formulation", str(formulation), ["auto", *FORMULATIONS])
    if not isinstance(tolerances, Tolerances):
        raise InputError(
            "tolerances",
            expected="a Tolerances object",
            found=repr(tolerances),
            advice="Write tolerances=zwang.Tolerances(rank=1e-11), with the names of those to set.",
        )


def _require_range(system: ScaledTerms) -> None:
    """Nothing may be so large or so small that its square is not a double."""
    f, b = system.scaled.total_force, system.scaled.constraint_rhs
    low, high = system.scale_range
    mild = low > SMALLEST_SCALE and high < LARGEST_SCALE
    if not (mild and max(np.abs(x).max(initial=0.0) for x in (f, b)) < LARGEST):
        raise out_of_range(system.terms)


def _require_constraints(
    system: ScaledTerms, kind: type[Formulation], acceleration: FloatArray
) -> None:
    """An answer that was not refined to six digits must be finite and satisfy the constraints."""
    A, b = system.scaled.constraint_matrix, system.scaled.constraint_rhs
    miss = np.abs(b - matvec(A, acceleration)).max(axis=-1, initial=0.0)
    size = np.abs(b).max(axis=-1, initial=0.0) + np.linalg.norm(acceleration, axis=-1)
    most = system.tolerances.consistency or MISSED
    if (miss <= most * size).all():
        return
    raise NotApplicableError(
        f"formulation {kind.name!r}",
        must=f"satisfy the constraints to {most:.0e}, relative",
        but=f"leaves a residual of {np.max(miss / size):.0e}",
        advice="The terms are too ill-conditioned for it: use formulation='auto', or units in "
        "which masses, forces and constraints have similar magnitudes.",
    )


def _miss_as_given(system: ScaledTerms, acceleration: FloatArray) -> list[str]:
    """Residuals of constraints in the given units where a mass is next to nothing.

    A velocity is scaled by its mass. Where that is only what a zero happens to be at some state, a
    diagonal entry of 4LᵀJL for one, its column swallows the rows it stands in, and these look
    dependent, which is refused.
    """
    A, b, e = system.scaled.constraint_matrix, system.scaled.constraint_rhs, system.row_scale
    miss = np.abs(b - matvec(A, acceleration)) / e
    size = (np.abs(b) + matvec(np.abs(A), np.abs(acceleration))) / e
    size = size.max(axis=-1, keepdims=True, initial=0.0)
    beyond = miss > (system.tolerances.consistency or MISSED) * size
    if not beyond.any():
        return []
    if (beyond.any(axis=-1) & (system.hidden_ranks > 0)).any():
        raise _masses_too_different()
    worst = np.max(np.divide(miss, size, out=np.zeros_like(miss), where=beyond))
    return [f"constraints have residuals of up to {worst:.0e}, relative, with such small masses"]


def _masses_too_different() -> InputError:
    return InputError(
        "masses",
        must="be of similar magnitude where constraints act",
        but="some are so much smaller than others that independent constraints appear dependent",
        advice="If a mass is zero except for the state or for rounding, give its direction mass "
        "along which the constraints prescribe the motion: M + α²AᵀA and Q + α²Aᵀb have the same "
        "solution.",
    )


def _require_semidefinite(system: ScaledTerms) -> None:
    mass = system.mass
    if mass.estimated:
        return
    negative = mass.smallest < -system.tolerances.definite * np.maximum(mass.largest, 1.0)
    if np.any(negative):
        raise _in_batch(system, negative, indefinite_error)


def _missed(system: ScaledTerms, acceleration: FloatArray) -> np.ndarray:
    """Which systems violate a constraint by more than rounding in its own row can explain."""
    terms = system.scaled
    miss = np.abs(terms.constraint_rhs - matvec(terms.constraint_matrix, acceleration))
    if miss.ndim == 1 and miss.max(initial=0.0) <= EPSILON * np.abs(acceleration).max():
        return NOT_MISSED  # within the floor of `linked_limits`
    limits = own_limits(terms, acceleration, shares(terms, system.tolerances))
    return np.asarray(~(miss <= limits).all(axis=-1))


def _ranks_that_agree(
    system: ScaledTerms, missed: np.ndarray, acceleration: FloatArray
) -> np.ndarray | None:
    """Higher ranks of A where rows called dependent are only nearly so, and b requires it."""
    higher = missed & (system.highest_ranks > system.constraint_ranks)
    if not higher.any():
        return None
    higher = _contradicting(system, higher, acceleration)
    if not higher.any():
        return None
    return np.where(higher, system.highest_ranks, system.constraint_ranks)


def _contradicting(system: ScaledTerms, which: np.ndarray, acceleration: FloatArray) -> np.ndarray:
    """Which of some systems have right sides that disagree, as `zwang.explain` decides it."""
    found = np.zeros_like(which)
    for index in np.argwhere(which):
        i = tuple(int(k) for k in index)
        one = system.system(*i) if i else system
        found[i] = disagree(one, acceleration[i])
    return found


def _miss_notes(system: ScaledTerms, missed: np.ndarray, acceleration: FloatArray) -> list[str]:
    """Residuals of constraints that do not contradict each other."""
    worst = 0.0
    for index in np.argwhere(missed):
        i = tuple(int(k) for k in index)
        worst = max(worst, relative_miss(system.system(*i) if i else system, acceleration[i]))
    if not worst:
        return []
    note = (
        f"constraints have residuals of up to {worst:.0e}, relative, more than rounding of the "
        "given numbers explains"
    )
    return [note]


def _in_batch(system: ScaledTerms, bad: np.ndarray, describe: Any) -> ZwangError:
    """The error for the first bad system, with its index in the batch."""
    if not system.terms.batch_shape:
        return describe(system)
    flat = int(np.flatnonzero(bad)[0])
    error: ZwangError = describe(system.system(flat))
    return error.in_batch("system", system.terms.batch_shape, flat, int(np.sum(bad)) - 1)


def _undetermined(system: ScaledTerms) -> FloatArray:
    """Scaled directions with neither mass nor constraint, when a family is asked for."""
    if system.terms.batch_shape:
        raise InputError(
            "family=True",
            must="be used with a single system",
            but=f"this is a batch of shape {system.terms.batch_shape}",
            advice="Families of different sizes do not fit one array; solve system by system.",
        )
    undetermined = system.undetermined() / system.velocity_scale[:, None]
    force = system.scaled.total_force
    pull = transpose_matvec(undetermined, force)
    if undetermined.shape[-1] and np.max(np.abs(pull)) > PULL * np.linalg.norm(force):
        error = not_unique_error(system)
        raise NotUniqueError(
            "no acceleration exists",
            directions=error.directions,
            found=f"a force acts where acceleration is not determined, as {error.found}",
            advice="Give such a direction mass or a constraint, or remove the force.",
        )
    return undetermined


def _with_mass_along(group: RankGroup, undetermined: FloatArray) -> RankGroup:
    # M + W Wᵀ with W in N(M) ∩ N(A): the acceleration with no part along W, all else the same.
    M = group.terms.mass_matrix + undetermined @ undetermined.T
    terms = EquationTerms(
        M,
        group.terms.applied_force,
        group.terms.constraint_matrix,
        group.terms.constraint_rhs,
        group.terms.nonideal_force,
    )
    return RankGroup(group.index, terms, group.geometry)


def _doubtful_masses(system: ScaledTerms) -> list[str]:
    low, high = system.scale_range
    if high < 2.0**23 * low:  # scales are roots of masses to a factor of two: 2⁻⁴⁸ > 1e-15
        return []
    inertia = system.terms.mass_matrix.diagonal(axis1=-2, axis2=-1)
    doubtful = DOUBTFUL_MASS * inertia.max(axis=-1, keepdims=True)
    small = (inertia > 0.0) & (inertia < doubtful)
    if not small.any():
        return []
    columns = np.flatnonzero(small.reshape(-1, inertia.shape[-1]).any(axis=0))
    listed = ", ".join(system.terms.coordinate(int(j)) for j in columns[:5])
    note = (
        f"the mass of {listed} is below 1e-15 of the largest and is taken at its word; "
        "if it is rounding left of a zero, set it to zero"
    )
    return [note]


def _is_sparse(matrix: Any) -> bool:
    return hasattr(matrix, "toarray") and hasattr(matrix, "nnz")
