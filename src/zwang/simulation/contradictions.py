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
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations
    from zwang.simulation.full_terms import FullTerms

__all__ = ["LaterConflict", "first_conflict", "first_off"]

#: States that are asked about accelerations between the first that misses a row and the first that
#: misses it clearly.
ASKED = 50
#: States that miss rows by more tell nothing of accelerations at states that meet them.
NEAR = 1e-3
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


def first_off(equations: Equations, t: FloatArray, y: FloatArray, p: FloatArray) -> int:
    """The number of the first state that misses a row by more than rounding; else all of them."""
    return next((i for i in range(len(t)) if _off(equations, t, y, p, i)), len(t))


def first_conflict(
    equations: Equations, t: FloatArray, y: FloatArray, p: FloatArray
) -> LaterConflict | None:
    """Where and how constraints contradict each other at some of many states; None where unclear.

    Parameters
    ----------
    t, y : times (nt,) and states (nt, n), on the rows that act, one of which misses another row by
        more than `BROKEN`.

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
        if equations.largest_miss(y[i : i + 1], t[i : i + 1], p) > NEAR:
            break
        try:
            equations.require_agreement(y[i, :nq], y[i, nq:], t[i : i + 1], p)
        except InconsistentConstraintsError as error:
            if error.names:
                return LaterConflict(int(i), str(error))
        except ZwangError:  # a state that is none of the system
            break
    told = _apart(equations, full_terms(equations, nearest, float(t[last]), p), float(t[last]))
    return LaterConflict(first, told) if told else None


def _off(equations: Equations, t: FloatArray, y: FloatArray, p: FloatArray, i: int) -> bool:
    return misses_a_row(equations, y[i : i + 1], t[i : i + 1], p)


def _missed(equations: Equations, t: FloatArray, y: FloatArray, p: FloatArray, i: int) -> bool:
    """Whether a state misses a row by more than rounding and errors of steps can make it."""
    miss = equations.largest_miss(y[i : i + 1], t[i : i + 1], p)
    return bool(miss > BROKEN * max(1.0, float(np.abs(y[i]).max(initial=0.0))))


def _apart(equations: Equations, f: FullTerms, t: float) -> str:
    """Which rows cannot be met at the state that comes nearest to all, as a sentence."""
    levels = np.array(equations.row_levels())
    A = f.A if isinstance(f.A, np.ndarray) else f.A.toarray()
    for what, residual, rows in (
        ("position", f.phi, np.flatnonzero(levels == "position")),
        ("velocity", f.psi, np.flatnonzero(levels != "acceleration")),
    ):
        lengths = np.linalg.norm(A[rows], axis=1)
        lengths = np.where(lengths > 0.0, lengths, 1.0)
        if np.abs(residual / lengths).max(initial=0.0) <= LARGEST:
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
