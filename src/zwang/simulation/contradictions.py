"""Simulation: constraints that come to contradict each other on the way, by name.

Rows that depend on others follow from them as long as their right sides agree. Two drivers of one
angle agree while both are at rest and part later; a driver and a hinge about a wrong axis do. From
then on no motion satisfies all of them, and states on the rows that act are none of the system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zwang.diagnosis.conflicts import conflicting_rows
from zwang.diagnosis.wording import listing
from zwang.errors import InconsistentConstraintsError, ZwangError
from zwang.simulation.all_rows import LARGEST, misses_a_row, nearest_to_all_rows
from zwang.simulation.full_terms import full_terms
from zwang.simulation.rank_report import BROKEN
from zwang.simulation.state_kinds import length_of, row_sizes
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations
    from zwang.simulation.full_terms import FullTerms

__all__ = ["LaterConflict", "breaks_rows", "first_conflict", "first_off"]

#: States that are asked about accelerations between the first that misses a row and the first that
#: misses it clearly.
ASKED = 50
#: States that miss rows by more tell nothing of accelerations at states that meet them.
NEAR = 1e-3
#: Misses up to which no state is looked at in more detail: what `zwang.verify` allows.
SMALL = 1e-12
#: Part of a miss that is left in the nearest state where rows contradict each other: they share it.
#: Where a state on all rows is near, less than that is left after one step of Newton's method.
LEFT = 1e-3


class LaterConflict(NamedTuple):
    """Constraints that contradict each other.

    Attributes
    ----------
    state : number of the first state that tells it.
    sentence : which they are, and by how much.
    """

    state: int
    sentence: str


def breaks_rows(equations: Equations, t: FloatArray, y: FloatArray, p: FloatArray) -> bool:
    """Whether a state misses a row by more than `BROKEN`, or by that part of what the row sums.

    In a mechanism of micrometers a miss of one is all that there is.
    """
    miss = equations.largest_miss(y, t, p)
    if miss > BROKEN or equations.by_elements is not None:
        return miss > BROKEN
    if not miss > SMALL:
        return False
    nq = len(equations.coordinates)
    found = np.abs(equations.residuals_at(y[:, :nq], y[:, nq:], t, p).position)
    found = found[np.isfinite(found).all(axis=1)]
    if not found.size or not found.max() > SMALL:
        return False
    i = int(found.max(axis=1).argmax())
    at_position = np.array(equations.row_levels()) == "position"
    f = full_terms(equations, y[i], float(t[i]), p)
    A = (f.A if isinstance(f.A, np.ndarray) else f.A.toarray())[at_position]
    return bool((found[i] > BROKEN * row_sizes(equations, A, y[i, :nq])).any())


def first_off(equations: Equations, t: FloatArray, y: FloatArray, p: FloatArray) -> int:
    """The number of the first state that misses a row by more than rounding; else all of them."""
    return next((i for i in range(len(t)) if _off(equations, t, y, p, i)), len(t))


def first_conflict(
    equations: Equations, t: FloatArray, y: FloatArray, p: FloatArray
) -> LaterConflict | None:
    """Where and how constraints contradict each other at some of many states; None where unclear.

    Parameters
    ----------
    t, y : times (nt,) and states (nt, n), on the rows that act, one of which breaks another row,
        see `breaks_rows`.

    Notes
    -----
    That rows are missed is no contradiction yet: rows that act may have lost rank. It is one if no
    state on all rows is near. What accelerations are asked for tells it before states are far off.
    """
    if equations.by_elements is not None:
        return None
    nq, first = len(equations.coordinates), first_off(equations, t, y, p)
    last = next((i for i in range(first, len(t)) if _missed(equations, t, y, p, i)), None)
    if last is None:
        return None
    there = t[last : last + 1]
    nearest = nearest_to_all_rows(equations, y[last], float(t[last]), p)
    most = LEFT * equations.largest_miss(y[last : last + 1], there, p)
    if nearest is None or equations.largest_miss(nearest[None], there, p) <= most:
        return None
    for i in np.unique(np.linspace(first, last, min(ASKED, last - first + 1)).astype(int)):
        length = min(1.0, length_of(equations, y[i, :nq]))
        if equations.largest_miss(y[i : i + 1], t[i : i + 1], p) > NEAR * length:
            break
        try:
            equations.require_agreement(y[i, :nq], y[i, nq:], t[i : i + 1], p)
        except InconsistentConstraintsError as error:
            if error.names:
                return LaterConflict(int(i), str(error))
        except ZwangError:  # a state that is none of the system
            break
    least = LARGEST * min(1.0, length_of(equations, nearest[:nq]))
    f = full_terms(equations, nearest, float(t[last]), p)
    told = _apart(equations, f, float(t[last]), least)
    return LaterConflict(first, told) if told else None


def _off(equations: Equations, t: FloatArray, y: FloatArray, p: FloatArray, i: int) -> bool:
    return misses_a_row(equations, y[i : i + 1], t[i : i + 1], p)


def _missed(equations: Equations, t: FloatArray, y: FloatArray, p: FloatArray, i: int) -> bool:
    """Whether a state misses a row by more than rounding and errors of steps can make it."""
    one = slice(i, i + 1)
    if equations.largest_miss(y[one], t[one], p) <= BROKEN:
        return breaks_rows(equations, t[one], y[one], p)
    size = max(1.0, float(np.abs(y[i]).max(initial=0.0)))
    return bool(equations.largest_miss(y[one], t[one], p) > BROKEN * size)


def _apart(equations: Equations, f: FullTerms, t: float, least: float) -> str:
    """Which rows cannot be met at the state that comes nearest to all, as a sentence.

    Misses up to the `least` are none.
    """
    levels = np.array(equations.row_levels())
    A = f.A if isinstance(f.A, np.ndarray) else f.A.toarray()
    for what, residual, rows in (
        ("position", f.phi, np.flatnonzero(levels == "position")),
        ("velocity", f.psi, np.flatnonzero(levels != "acceleration")),
    ):
        lengths = np.linalg.norm(A[rows], axis=1)
        lengths = np.where(lengths > 0.0, lengths, 1.0)
        if np.abs(residual / lengths).max(initial=0.0) <= least:
            continue
        found = conflicting_rows(A[rows] / lengths[:, None], -residual / lengths)
        if found is None:
            continue
        names = [equations.row_names[rows[k]] for k in found]
        worst = max(found, key=lambda k: abs(residual[k]))
        who = f"constraints {listing(names)} contradict" if len(names) > 1 else f"{names[0]} is not"
        how = " each other" if len(names) > 1 else " met"
        return (
            f"{who}{how}: the nearest {what} at t = {t:.6g} s misses "
            f"{equations.row_names[rows[worst]]} by {abs(residual[worst]):.3g}. "
            "Drop one of them, or correct what it prescribes."
        )
    return ""
