"""Diagnosis of constraints: degrees of freedom, redundant and contradictory rows, by name.

`explain` answers all questions at once (Udwadia & Schutte 2010, section 2 and Lemma 1; Udwadia &
Mogharabin 2022, Remarks 1, 4, 6): ranks, dependent rows, consistency, existence and uniqueness of
the acceleration, uniqueness of the multipliers. The errors here are what `zwang.solve` raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.arguments.keywords import known_keywords
from zwang.diagnosis.circuits import Circuit, circuits
from zwang.diagnosis.conflicts import resolving_rows, rows_to_drop
from zwang.diagnosis.explanation import Contradiction, DependentGroup, Explanation
from zwang.diagnosis.facts import (
    PULL,
    accuracy_notes,
    conflicts,
    freedoms,
    indefinite,
    miss_and_limits,
    motion_to_judge_by,
    settled,
    undetermined,
    undetermined_scaled,
)
from zwang.diagnosis.wording import combination, listing, motion, number, tidy
from zwang.errors import InconsistentConstraintsError, InputError, NotUniqueError
from zwang.formulations.udwadia_mogharabin import UdwadiaMogharabin
from zwang.formulations.udwadia_schutte import is_well_posed
from zwang.linalg.rank import DEFAULT_TOLERANCES, Tolerances
from zwang.linalg.scaling import ScaledTerms
from zwang.terms import EquationTerms, FloatArray

__all__ = [
    "explain",
    "explain_terms",
    "inconsistent_error",
    "indefinite_error",
    "not_unique_error",
]

#: Rows of a conflict that are written out with their factors; of more the constraints are named.
FEW_ROWS = 6


@known_keywords()
def explain(
    M: Any,
    A: Any = None,
    b: ArrayLike | None = None,
    Q: ArrayLike | None = None,
    C: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    coordinates: Sequence[str] | None = None,
    tolerances: Tolerances = DEFAULT_TOLERANCES,
) -> Explanation:
    """The diagnosis of a system: ranks, dependent rows, contradictions, degrees of freedom.

    Parameters
    ----------
    M : mass matrix, shape (n, n).
    A : constraint matrix, shape (m, n).
    b : right sides, shape (m,); without them contradictions are not looked for.
    Q, C : applied and non-ideal force, shape (n,); they matter only where the acceleration is not
        unique, for whether one exists at all.
    names, coordinates : names of the rows and of the coordinates.
    tolerances : thresholds for ranks and consistency.

    Returns
    -------
    Explanation : print it for a report; its fields and `to_dict()` hold the same facts.

    Examples
    --------
    >>> import numpy as np
    >>> from zwang.diagnosis.explain import explain
    >>> A = [[1, 1, 0], [2, 2, 0], [0, 0, 1]]
    >>> names = ["rod", "copy", "rail"]
    >>> print(explain(np.eye(3), A, [0, 1, 0], names=names, coordinates=["x", "y", "z"]))
    3 coordinates, 3 constraint rows of rank 2: 1 degree of freedom.
    M is positive definite.
    1 row is redundant. Dependent are (all minimal groups):
      2·rod − copy = 0
    The constraints contradict each other:
      2·rod − copy is zero on the left but −1 on the right
    Drop any one of rod or copy, or correct its right side.
    Multipliers are not unique; zwang.passport reports which forces are.
    The constraints allow 1 motion:
      x and y move together, y = −x
    """
    n = np.shape(M)[-1] if np.ndim(M) else 1
    rows = 0 if A is None else np.shape(A)[0]
    terms = EquationTerms.of(
        M,
        np.zeros(n) if Q is None else Q,
        A,
        np.zeros(rows) if b is None else b,
        C,
        names=names,
        coordinates=coordinates,
    )
    return _explain(
        terms, tolerances, rhs_known=b is not None, force_known=Q is not None or C is not None
    )


def explain_terms(terms: EquationTerms, tolerances: Tolerances = DEFAULT_TOLERANCES) -> Explanation:
    """`explain` for terms that are already checked."""
    return _explain(terms, tolerances, rhs_known=True, force_known=True)


def _explain(
    terms: EquationTerms, tolerances: Tolerances, *, rhs_known: bool, force_known: bool
) -> Explanation:
    require_single(terms)
    system = ScaledTerms.decided(terms, tolerances)
    if rhs_known:
        system = settled(system, force_known=force_known)
    A, Z = system.scaled.constraint_matrix, system.geometry.dependencies
    found, complete = circuits(A, Z, float(system.geometry.condition))
    semidefinite = not indefinite(system)
    free = undetermined_scaled(system)
    contradictions = _contradictions(system, found, force_known=force_known) if rhs_known else None
    tests = UdwadiaMogharabin(system.scaled, system.geometry).uniqueness_tests
    tests["M + A⁺A is positive definite"] = is_well_posed(system.scaled)
    return Explanation(
        coordinates=_coordinate_names(terms),
        names=tuple(terms.name(i) for i in range(terms.constraint_count)),
        ranks={
            "A": int(system.constraint_ranks),
            "M": int(system.mass.rank),
            "[M; A]": terms.coordinate_count - free.shape[1],
        },
        dependent_groups=tuple(DependentGroup(*_in_given_rows(system, c)) for c in found),
        groups_complete=complete,
        contradictions=contradictions,
        freedoms=freedoms(system),
        undetermined=undetermined(system),
        semidefinite=semidefinite,
        uniqueness_tests=tests,
        exists=_exists(system, free, contradictions, force_known=force_known),
        notes=(*terms.notes, *accuracy_notes(system)),
    )


def _exists(
    system: ScaledTerms,
    free: FloatArray,
    contradictions: tuple[Contradiction, ...] | None,
    *,
    force_known: bool,
) -> bool | None:
    """Whether an acceleration exists: A A⁺b = b, and wᵀ(Q + C) = 0 where M w = 0 and A w = 0."""
    if contradictions:
        return False
    force = system.scaled.total_force
    if free.shape[1] and not force_known:
        return None
    pull = np.max(np.abs(free.T @ force), initial=0.0)
    if pull > PULL * np.linalg.norm(force):
        return False
    return None if contradictions is None else True


def _contradictions(
    system: ScaledTerms, found: list[Circuit], *, force_known: bool
) -> tuple[Contradiction, ...]:
    """Smallest first: those of the complete search, then all other dependent groups with a gap."""
    b, limits = miss_and_limits(system, motion_to_judge_by(system, force_known=force_known))
    result: list[Contradiction] = []
    for part, conflict in conflicts(system, force_known=force_known):
        drop = tuple(system.terms.name(i) for i in rows_to_drop(part, b))
        single = resolving_rows(part, b)
        others = [
            circuit
            for circuit in found
            if circuit.rows[0] in part.rows
            and circuit.rows != conflict.circuit.rows
            and _has_a_gap(circuit, b, limits)
        ]
        for circuit in [conflict.circuit, *others]:
            rows, names, c = _in_given_rows(system, circuit)
            gap = float(c @ system.terms.constraint_rhs[list(rows)])
            drop_any = tuple(system.terms.name(i) for i in single if i in rows)
            smallest = conflict.smallest and circuit is conflict.circuit
            result.append(Contradiction(rows, names, c, gap, drop, drop_any, smallest))
    return tuple(result)


def _has_a_gap(circuit: Circuit, b: FloatArray, limits: FloatArray) -> bool:
    rows, c = list(circuit.rows), circuit.coefficients
    return bool(abs(c @ b[rows]) > np.abs(c) @ limits[rows])


def _in_given_rows(
    system: ScaledTerms, circuit: Circuit
) -> tuple[tuple[int, ...], tuple[str, ...], FloatArray]:
    rows = list(circuit.rows)
    c = tidy(circuit.coefficients * system.row_scale[rows])
    return circuit.rows, tuple(system.terms.name(i) for i in rows), c


def _coordinate_names(terms: EquationTerms) -> tuple[str, ...]:
    return tuple(terms.coordinate(j) for j in range(terms.coordinate_count))


def require_single(terms: EquationTerms) -> None:
    """Diagnosis describes one system at a time."""
    if terms.batch_shape:
        raise InputError(
            "diagnosis",
            must="be of a single system",
            but=f"this is a batch of shape {terms.batch_shape}",
            advice="Pick one: terms.system(0).",
        )


# --- refusals -------------------------------------------------------------------------------------


def not_unique_error(scaled_one: ScaledTerms) -> NotUniqueError:
    """The error for a system with rank [M; A] < n: which coordinates move freely, in words."""
    names = _coordinate_names(scaled_one.terms)
    directions = undetermined(scaled_one)
    said = [motion(direction, names) for direction in directions.T]
    many = f"there are {len(said)} directions" if len(said) > 1 else "there is a direction"
    return NotUniqueError(
        "acceleration",
        directions=directions,
        must=f"be determined by mass or constraints (needs rank [M; A] = {len(names)})",
        but=f"{many} with neither ({'; '.join(said)})",
        advice=f"Give {listing(_moved(directions, names), 'or')} mass or a constraint, "
        "or ask for all solutions with family=True.",
    )


def inconsistent_error(scaled_one: ScaledTerms) -> InconsistentConstraintsError:
    """The error for constraints that contradict each other: an irreducible group and its gap."""
    terms = scaled_one.terms
    found = conflicts(scaled_one, at_least_one=True)
    if not found:  # the disagreement is too small to name a group of rows
        return InconsistentConstraintsError(
            "constraints", but="contradict each other: A A⁺ b differs from b"
        )
    part, conflict = found[0]
    rows, names, c = _in_given_rows(scaled_one, conflict.circuit)
    gap = float(c @ terms.constraint_rhs[list(rows)])
    owners = _owners(names)
    few = len(rows) <= FEW_ROWS or len(owners) == len(rows)
    if len(rows) == 1:
        what = f"constraint {names[0]}"
        reason = f"requires 0 = {number(gap)}, as its row of A is zero"
    elif not few:
        what = f"constraints {listing(owners)}"
        reason = f"contradict each other: {len(rows)} of their equations cannot be met together"
    else:
        what = f"constraints {listing(names)}"
        reason = (
            f"contradict each other: {combination(c, names)} is zero on the left "
            f"and {number(gap)} on the right"
        )
    b, _ = miss_and_limits(scaled_one, motion_to_judge_by(scaled_one))
    enough = [i for i in resolving_rows(part, b) if i in rows]
    if enough:
        value = float(terms.constraint_rhs[enough[-1]] - gap / c[rows.index(enough[-1])])
        each = [terms.name(i) for i in enough]
        each = each if few else _owners(each)
        which = f"any one of {listing(each, 'or')}" if len(each) > 1 else each[0]
        other = f"; or give {terms.name(enough[-1])} the right side {number(value)}" if few else ""
        advice = f"Drop {which}{other}."
    else:
        drop = listing([terms.name(i) for i in rows_to_drop(part, b)])
        advice = f"There are more conflicts; dropping {drop} removes all. zwang.explain lists them."
    return InconsistentConstraintsError(what, rows=rows, names=names, but=reason, advice=advice)


def _owners(names: Sequence[str]) -> list[str]:
    """Constraints and joints that rows are of, each once."""
    return list(dict.fromkeys(name.partition("[")[0] for name in names))


def indefinite_error(scaled_one: ScaledTerms) -> InputError:
    """The error for a mass matrix with a negative eigenvalue: which coordinates it concerns."""
    terms = scaled_one.terms
    negative = np.linalg.eigh(scaled_one.scaled.mass_matrix)[1][:, 0]
    # Coordinates with a hundredth of the largest share tell where to look; the rest distracts.
    share = np.where(np.abs(negative) > 1e-2 * np.abs(negative).max(), negative, 0.0)
    v = tidy(scaled_one.velocity_scale * share)
    energy = 0.5 * float(v @ terms.mass_matrix @ v)
    names = _coordinate_names(terms)
    moving = _moved(v[:, None], names)
    speeds = [f"{name} = {number(x)}" for name, x in zip(names, v, strict=True) if x]
    return InputError(
        "mass matrix M",
        must="be positive semi-definite",
        but=f"gives the kinetic energy {number(energy)} for the velocity {listing(speeds)}",
        advice=f"Look at the rows of M for {listing(moving)}.",
    )


def _moved(directions: FloatArray, names: Sequence[str]) -> list[str]:
    return [name for name, row in zip(names, directions, strict=True) if np.any(row)]
