"""The same terms through every formulation: a vote, a certificate and an error estimate.

Three independent grounds to trust an answer:

* the *spread*: how far the formulations, each as published and unrefined, differ from each other;
* the *Gauss residual*: the returned acceleration against Gauss's principle, a stranger to them all;
* the *error estimate*: what one more correction by the residual in doubled precision would change,
  which is the error of the returned numbers to first order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.arguments.keywords import known_keywords, known_keywords_of_methods
from zwang.display import Displayed
from zwang.formulations.contract import Facts
from zwang.formulations.gauss import certificate
from zwang.linalg.products import matvec, transpose_matvec
from zwang.linalg.rank import DEFAULT_TOLERANCES, Tolerances
from zwang.linalg.refinement import ExactResidual
from zwang.linalg.scaling import ScaledTerms
from zwang.solvers.dense import FORMULATIONS, solve_terms
from zwang.solvers.solution import Solution
from zwang.terms import EquationTerms, FloatArray

__all__ = ["Certificate", "FormulationErrors", "certify", "certify_terms"]

#: The estimate is the next correction; its own relative error is that of one unrefined solve, so
#: twice its size covers the true error whenever the terms are not singular to working precision.
SAFETY = 2.0


@dataclass(frozen=True)
class FormulationErrors:
    """Relative errors of the three answers, per system of the batch."""

    acceleration: float | FloatArray
    constraint_force: float | FloatArray
    multipliers: float | FloatArray


@known_keywords_of_methods
@dataclass(frozen=True, repr=False)
class Certificate(Displayed):
    """A solution and the grounds to trust it.

    Attributes
    ----------
    solution : the answer, by ``formulation="auto"``, refined.
    answers : the answers of all formulations that apply, as published, unrefined.
    not_applicable : formulation → why it does not apply.
    spread : largest difference between any two formulations, relative, for each quantity.
    gauss_residual : how far the answer is from Gauss's minimum, relative, per system.
    error_estimate : estimated relative error of the returned numbers, for exact input.
    """

    solution: Solution
    answers: dict[str, Solution]
    not_applicable: dict[str, str]
    spread: FormulationErrors
    gauss_residual: float | FloatArray
    error_estimate: FormulationErrors

    def differences(self, name: str) -> FormulationErrors:
        """How far one formulation, as published, is from the returned answer."""
        return _differences(self.solution, [self.answers[name]])

    def __str__(self) -> str:
        def worst(value: float | FloatArray) -> str:
            return f"{float(np.max(value)):.1e}"

        lines = [f"{'formulation':<20} {'acceleration':>13} {'force':>9} {'multipliers':>12}"]
        for name in self.answers:
            d = self.differences(name)
            lines.append(
                f"{name:<20} {worst(d.acceleration):>13} {worst(d.constraint_force):>9} "
                f"{worst(d.multipliers):>12}"
            )
        lines += [f"{name:<20} does not apply: {why}" for name, why in self.not_applicable.items()]
        e = self.error_estimate
        lines.append(
            f"{'error estimate':<20} {worst(e.acceleration):>13} {worst(e.constraint_force):>9} "
            f"{worst(e.multipliers):>12}"
        )
        lines.append(
            f"Gauss residual {worst(self.gauss_residual)}; returned {self.solution.formulation}, "
            "refined"
        )
        lines += [f"note: {note}" for note in self.solution.terms.notes]
        return "\n".join(lines)

    def __repr__(self) -> str:
        error = float(np.max(self.error_estimate.acceleration))
        return f"<Certificate of {len(self.answers)} formulations, error estimate {error:.1e}>"


@known_keywords()
def certify(
    M: Any,
    Q: ArrayLike,
    A: Any = None,
    b: ArrayLike | None = None,
    C: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    coordinates: Sequence[str] | None = None,
    tolerances: Tolerances = DEFAULT_TOLERANCES,
) -> Certificate:
    """Solve the same terms by all applicable formulations and certify the answer.

    Parameters are those of `zwang.solve`, and so are the errors.

    Examples
    --------
    >>> import zwang as zw
    >>> c = zw.certify([[2, 0], [0, 2]], [0, -20], [[1, 1], [2, 2]], [0, 0])
    >>> sorted(c.answers) == sorted(zw.FORMULATIONS)
    True
    >>> bool(c.spread.acceleration < 1e-14 and c.gauss_residual < 1e-14)
    True
    """
    terms = EquationTerms.of(M, Q, A, b, C, names=names, coordinates=coordinates)
    return certify_terms(terms, tolerances=tolerances)


def certify_terms(
    terms: EquationTerms, *, tolerances: Tolerances = DEFAULT_TOLERANCES
) -> Certificate:
    """`certify` for terms that are already checked."""
    solution = solve_terms(terms, tolerances=tolerances)
    system = solution.scaled
    assert system is not None  # solve_terms always scales
    facts = Facts(positive_definite=system.positive_definite, unique=system.unique)
    answers: dict[str, Solution] = {}
    not_applicable: dict[str, str] = {}
    for name, kind in FORMULATIONS.items():
        obstacle = kind.obstacle(facts)
        if obstacle is None:
            answers[name] = solve_terms(
                terms, formulation=name, refined=False, tolerances=tolerances
            )
        else:
            not_applicable[name] = obstacle
    return Certificate(
        solution,
        answers,
        not_applicable,
        _differences(solution, list(answers.values())),
        _gauss_residual(solution, system),
        _error_estimate(solution, system),
    )


def _differences(reference: Solution, answers: list[Solution]) -> FormulationErrors:
    """Largest pairwise difference of each quantity, with the reference counted in."""
    system = reference.scaled
    assert system is not None
    shape = reference.terms.batch_shape
    d, e = _given(system.velocity_scale, shape), _given(system.row_scale, shape)

    def spread(values: list[FloatArray], scale: FloatArray, size: FloatArray) -> FloatArray:
        scaled = np.stack([value * scale for value in values])
        return _ratio(np.linalg.norm(np.ptp(scaled, axis=0), axis=-1), size)

    every = [reference, *answers]
    sizes = _sizes(reference, d, e)
    return FormulationErrors(
        _plain(spread([s.acceleration for s in every], 1.0 / d, sizes[0])),
        _plain(spread([s.constraint_force for s in every], d, sizes[1])),
        _plain(spread([s.multipliers for s in every], 1.0 / e, sizes[2])),
    )


def _sizes(s: Solution, d: FloatArray, e: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Norms that errors are compared with, in scaled coordinates.

    What all but vanishes is compared with a millionth of what it balances, since no more of it can
    be known: a force or multiplier with that of the forces, an acceleration with that of the one
    the forces alone would give.
    """
    norm = np.linalg.norm
    applied = norm(s.terms.total_force * d, axis=-1)
    balanced = applied + norm(matvec(s.terms.mass_matrix, s.acceleration) * d, axis=-1)
    return (
        np.maximum(norm(s.acceleration / d, axis=-1), 1e-6 * applied),
        np.maximum(norm(s.constraint_force * d, axis=-1), 1e-6 * balanced),
        np.maximum(norm(s.multipliers / e, axis=-1), 1e-6 * balanced),
    )


def _gauss_residual(solution: Solution, system: ScaledTerms) -> float | FloatArray:
    a = solution.acceleration.reshape(system.velocity_scale.shape) / system.velocity_scale
    residuals = np.empty(np.shape(system.constraint_ranks))
    for group in system.groups():
        where = ... if group.index is None else group.index
        found = certificate(group.terms, a[where], group.geometry)
        residuals[where] = np.maximum(found.gradient, found.constraint)
    return _plain(residuals.reshape(solution.terms.batch_shape))


def _error_estimate(solution: Solution, system: ScaledTerms) -> FormulationErrors:
    """The next correction by the residual in doubled precision, relative, times a safety factor."""
    d, e = system.velocity_scale, system.row_scale
    shape = solution.terms.batch_shape
    a = solution.acceleration.reshape(d.shape) / d
    lam = solution.multipliers.reshape(e.shape) / e
    ideal = solution.constraint_force - solution.terms.nonideal_force
    force = ideal.reshape(d.shape) * d
    errors = [np.empty(np.shape(system.constraint_ranks)) for _ in range(3)]
    for group in system.groups():
        where = ... if group.index is None else group.index
        terms = group.terms
        exact = ExactResidual(
            terms.mass_matrix, terms.constraint_matrix, terms.total_force, terms.constraint_rhs
        )
        kind = FORMULATIONS[solution.formulation](terms, group.geometry)
        da, dlam = kind.respond(*exact(a[where], lam[where]))
        dforce = transpose_matvec(terms.constraint_matrix, dlam)
        dforce = dforce + exact.force_defect(force[where], lam[where])
        errors[0][where] = np.linalg.norm(da, axis=-1)
        # Adding C rounds once more.
        added = np.linalg.norm(
            np.spacing(np.abs(force[where]) + np.abs(terms.nonideal_force)), axis=-1
        )
        errors[1][where] = np.linalg.norm(dforce, axis=-1) + added
        errors[2][where] = np.linalg.norm(dlam, axis=-1) + _choice_error(group, lam[where])
    sizes = _sizes(solution, _given(d, shape), _given(e, shape))
    return FormulationErrors(
        *(
            _plain(SAFETY * _ratio(x.reshape(shape), size))
            for x, size in zip(errors, sizes, strict=True)
        )
    )


def _choice_error(group: Any, lam: FloatArray) -> FloatArray:
    """Redundant rows: how far rounding in N(Aᵀ) may have moved the least-norm choice."""
    if group.geometry.rank == group.terms.constraint_count:
        return np.zeros(lam.shape[:-1])
    return np.finfo(float).eps * group.geometry.condition * np.linalg.norm(lam, axis=-1)


def _given(scale: FloatArray, batch: tuple[int, ...]) -> FloatArray:
    return scale.reshape(*batch, scale.shape[-1])


def _ratio(error: FloatArray, size: FloatArray) -> FloatArray:
    error, size = np.asarray(error), np.asarray(size)
    fallback = np.where(error > 0.0, np.inf, 0.0)
    return np.divide(error, size, out=fallback, where=size > 0.0)


def _plain(value: FloatArray) -> float | FloatArray:
    return value if np.ndim(value) else float(value)
