"""What is wrong with a system, and with which part of it, by name."""

from __future__ import annotations

import numpy as np

from zwang.diagnosis.circuits import (
    Conflict,
    Part,
    minimal_conflict,
    parts,
    reduced_basis,
    relative_gap,
)
from zwang.diagnosis.wording import combination, listing, motion, number, tidy
from zwang.errors import InconsistentConstraintsError, InputError, NotUniqueError
from zwang.formulations.linear import matvec
from zwang.formulations.scaled import ScaledSystem
from zwang.terms import FloatArray

__all__ = ["inconsistent_error", "indefinite_error", "not_unique_error"]


def not_unique_error(scaled_one: ScaledSystem) -> NotUniqueError:
    """The error for a system with rank [M; A] < n: which coordinates move freely, in words."""
    terms = scaled_one.terms
    names = [terms.coordinate(j) for j in range(terms.coordinate_count)]
    directions = undetermined(scaled_one)
    said = [motion(direction, names) for direction in directions.T]
    many = f"{len(said)} directions" if len(said) > 1 else "a direction"
    return NotUniqueError(
        "acceleration",
        directions=directions,
        found=f"{many} with neither mass nor constraint ({'; '.join(said)})",
        expected=f"rank [M; A] = {terms.coordinate_count}",
        advice=(
            f"Give {listing(_moved(directions, names), 'or')} mass or a constraint, "
            "or ask for all solutions with family=True."
        ),
    )


def inconsistent_error(scaled_one: ScaledSystem) -> InconsistentConstraintsError:
    """The error for constraints that contradict each other: an irreducible group and its gap."""
    terms = scaled_one.terms
    conflict = worst_conflict(scaled_one)
    if conflict is None:  # the disagreement is below what a group of rows can be blamed for
        return InconsistentConstraintsError(
            "constraints", found="right sides b that disagree", expected="A A⁺ b = b"
        )
    rows = list(conflict.circuit.rows)
    c = tidy(conflict.circuit.coefficients * scaled_one.row_scale[rows])
    gap = float(c @ terms.constraint_rhs[rows])
    names = [terms.name(i) for i in rows]
    if len(rows) == 1:
        what, found = f"constraint {names[0]}", f"0 = {number(gap)}, as its row of A is zero"
    else:
        what = f"constraints {listing(names)}"
        found = f"a contradiction, since {combination(c, names)} is zero on the left and {number(gap)} on the right"
    return InconsistentConstraintsError(
        what,
        rows=rows,
        names=names,
        found=found,
        expected="right sides that agree where rows depend on each other",
        advice=_what_to_drop(scaled_one, conflict, c, gap),
    )


def indefinite_error(scaled_one: ScaledSystem) -> InputError:
    """The error for a mass matrix with a negative eigenvalue: which coordinates it concerns."""
    terms = scaled_one.terms
    values, vectors = np.linalg.eigh(scaled_one.scaled.mass_matrix)
    direction = scaled_one.velocity_scale * vectors[:, 0]
    names = [terms.coordinate(j) for j in range(terms.coordinate_count)]
    # Coordinates with a hundredth of the largest share tell where to look; the rest distracts.
    direction = np.where(np.abs(vectors[:, 0]) > 1e-2 * np.abs(vectors[:, 0]).max(), direction, 0.0)
    direction = tidy(direction)
    energy = 0.5 * float(direction @ terms.mass_matrix @ direction)
    if np.count_nonzero(direction) == 1:
        moving = f"when {names[int(np.argmax(direction != 0))]} moves alone at speed 1"
    else:
        moving = f"for the velocity {combination(direction[direction != 0], [n for n, x in zip(names, direction, strict=True) if x])}"
    return InputError(
        "mass matrix M",
        found=f"a negative kinetic energy, {number(energy)}, {moving}",
        expected="a positive semi-definite matrix",
        advice=f"Look at the rows of M for {listing(_moved(direction[:, None], names))}.",
    )


# --- the directions and groups behind these sentences ---------------------------------------------


def undetermined(scaled_one: ScaledSystem) -> FloatArray:
    """Directions with M w = 0 and A w = 0, shape (n, k), as few coordinates in each as possible."""
    M, V2 = scaled_one.scaled.mass_matrix, scaled_one.geometry.null_space
    values, vectors = np.linalg.eigh(V2.T @ M @ V2)
    loose = V2 @ vectors[:, np.abs(values) <= scaled_one.tolerances.definite]
    return readable(scaled_one, loose)


def readable(scaled_one: ScaledSystem, directions: FloatArray) -> FloatArray:
    """Scaled directions (n, k) as a sparse basis in the given coordinates, small numbers if any."""
    reduced, _ = reduced_basis(directions)
    own = [tidy(scaled_one.velocity_scale * row) for row in reduced]
    return np.array(own).T.reshape(directions.shape)


def row_sizes(scaled_one: ScaledSystem) -> FloatArray:
    """Size of the terms of each scaled row, |b| + |A| |A⁺b|, shape (m,)."""
    A, b = scaled_one.scaled.constraint_matrix, scaled_one.scaled.constraint_rhs
    return np.abs(b) + matvec(np.abs(A), np.abs(scaled_one.geometry.least_norm(b)))


def worst_conflict(scaled_one: ScaledSystem) -> Conflict | None:
    """The smallest irreducible contradiction, even of a system that is only just inconsistent."""
    A, b = scaled_one.scaled.constraint_matrix, scaled_one.scaled.constraint_rhs
    Z, size = scaled_one.geometry.dependencies, row_sizes(scaled_one)
    gap = max((relative_gap(part, b, size) for part in parts(Z)), default=0.0)
    # Whoever calls found the system inconsistent; a stricter measure here must not find nothing.
    tolerance = min(scaled_one.tolerances.consistency, 0.1 * gap)
    return minimal_conflict(A, b, Z, size, tolerance) if gap > 0.0 else None


def resolving_rows(part: Part, b: FloatArray) -> list[int]:
    """Rows of a part any one of which, dropped alone, leaves the others of the part consistent.

    What is left without row i are the dependencies Z y with Zᵢ y = 0; none of them has a gap
    gᵀy, g = Zᵀb, exactly when g is a multiple of Zᵢ.
    """
    g = part.basis.T @ b[part.rows]
    length = np.linalg.norm(part.basis, axis=1) * np.linalg.norm(g)
    along = part.basis @ g
    aside = np.sqrt(np.maximum(length**2 - along**2, 0.0))
    return [int(row) for row, x, y in zip(part.rows, aside, length, strict=True) if x <= 1e-6 * y]


def _what_to_drop(scaled_one: ScaledSystem, conflict: Conflict, c: FloatArray, gap: float) -> str:
    terms, rows = scaled_one.terms, conflict.circuit.rows
    (part,) = (p for p in parts(scaled_one.geometry.dependencies) if rows[0] in p.rows)
    enough = [i for i in resolving_rows(part, scaled_one.scaled.constraint_rhs) if i in rows]
    if not enough:
        return "Drop one of them or correct its right side; zwang.explain lists further contradictions."
    i = enough[-1]
    value = float(terms.constraint_rhs[i] - gap / c[rows.index(i)])
    either = (
        f"any one of {listing([terms.name(i) for i in enough], 'or')}"
        if len(enough) > 1
        else terms.name(i)
    )
    return f"Drop {either}; or give {terms.name(i)} the right side {number(value)}."


def _moved(directions: FloatArray, names: list[str]) -> list[str]:
    return [name for name, row in zip(names, directions, strict=True) if np.any(row)]
