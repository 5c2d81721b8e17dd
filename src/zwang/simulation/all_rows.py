"""Simulation: saved states on all constraint rows, where those that act nearly lose rank.

Of redundant rows some are left out of the equations. The others may come close to losing rank in a
configuration that is not singular; an interpolated state, put on the rows that act, then misses
those that do not by its error divided by the distance. Such a state is put on all rows of the
system as it was given, by the smallest correction in terms of kinetic energy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang.equations.active_rows import may_go, scaled_rows_at
from zwang.simulation.constraint_geometry import (
    CLEAR,
    NOISE,
    row_lengths,
    velocity_scales,
)
from zwang.simulation.full_terms import full_terms
from zwang.simulation.state_kinds import Kinds, StateKinds, length_of
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations

__all__ = ["LARGEST", "acting_rows_hold", "misses_a_row", "nearest_to_all_rows", "on_all_rows"]

#: Residuals up to which states count as on their constraints, for states of unit size: well below
#: what `zwang.verify` allows (1e-12), and above what projections leave (1e-13).
MET = 3e-13
#: Corrections that a state may need, and in tolerances of its run; more is no interpolated state,
#: but a contradiction. Where rows that act hold a direction no longer, errors of a step stay in it.
LARGEST, OF_TOLERANCE = 1e-6, 100.0
#: Corrections that a state between steps may need where these end on all rows, so that none of them
#: contradicts the others: near a lost rank, an interpolant over a kink of friction is that far off.
LARGEST_BETWEEN = 1e-3
#: Tolerances that a state may be off in its coordinates where only its velocities are off by more:
#: where rows that act come close to losing rank, an interpolant loses digits of these alone.
IN_PLACE = 10.0
#: Newton steps, each of which squares the error, and where some rows take no part at first.
STEPS, MORE_STEPS = 2, 4
#: Steps to the state that comes nearest to all rows, wherever that is.
MANY_STEPS = 20
#: Entries of A up to which dense matrices serve.
MOST = 250_000


def acting_rows_hold(
    equations: Equations, left_out: tuple[int, ...], y: FloatArray, t: float, p: FloatArray
) -> bool:
    """Whether the rows that act imply those left out at a state, by a wide margin.

    Where they do not, what a program with these rows does there tells nothing against it.
    """
    q, v = np.split(y, [len(equations.coordinates)])
    return bool(may_go(scaled_rows_at(equations, q, v, t, p), left_out))


def misses_a_row(equations: Equations, y: FloatArray, t: FloatArray, p: FloatArray) -> bool:
    """Whether states (rows, n) at times (rows,) miss a row by more than rounding."""
    if not len(t):
        return False
    miss, nq = equations.largest_miss(y, t, p), len(equations.coordinates)
    if miss <= MET or miss <= MET * float(np.abs(y[:, :nq]).max(initial=0.0)):
        return False
    return any(_is_off(equations, y[i], float(t[i]), p) for i in range(len(t)))


def _is_off(equations: Equations, y: FloatArray, t: float, p: FloatArray) -> bool:
    """Whether a state misses a row: a position row in its coordinates, others in its velocities."""
    q, v = np.split(y, [len(equations.coordinates)])
    f = full_terms(equations, y, t, p)
    return not all(
        np.abs(residual).max(initial=0.0) <= MET * max(1.0, float(np.abs(size).max(initial=0.0)))
        for residual, size in ((f.phi, q), (f.psi, v))
    )


def on_all_rows(
    equations: Equations,
    y: FloatArray,
    t: FloatArray,
    p: FloatArray,
    tolerance: float = 0.0,
    *,
    between: bool = False,
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """The states with those that miss a row put on all of them, and which were off.

    Parameters
    ----------
    tolerance : of the run which they are states of.
    between : whether they are states between steps that end on all rows.
    """
    off = np.zeros(len(t), dtype=bool)
    if not misses_a_row(equations, y, t, p) or not np.isfinite(y).all():
        return y, off
    y = y.copy()
    for i in range(len(t)):
        off[i] = misses_a_row(equations, y[i : i + 1], t[i : i + 1], p)
        if off[i]:
            most = max(LARGEST_BETWEEN if between else LARGEST, OF_TOLERANCE * tolerance)
            y[i] = _corrected(equations, y[i], float(t[i]), p, (most, IN_PLACE * tolerance))
    return y, off


def nearest_to_all_rows(
    equations: Equations, y: FloatArray, t: float, p: FloatArray
) -> FloatArray | None:
    """The state nearest to all rows in the sense of least squares, however far; None if unknown.

    Where rows contradict each other it misses them still.
    """
    nq = len(equations.coordinates)
    levels = np.array(equations.row_levels())
    at_position, rated = levels == "position", levels != "acceleration"
    kinds = StateKinds.of(equations).velocities
    for _ in range(MANY_STEPS):
        f = full_terms(equations, y, t, p)
        change = _least(f, at_position, f.phi, kinds, clear=False)
        if change is None:
            return None
        moved = full_terms(equations, np.concatenate([y[:nq], y[nq:] + change]), t, p)
        further = moved.q_dot - f.q_dot
        y = np.concatenate([y[:nq] + further, y[nq:]])
        if not np.isfinite(y).all():
            return None
        size = length_of(equations, y[:nq])
        size = size if size < 1.0 else max(1.0, float(np.abs(y[:nq]).max()))
        if np.abs(further).max(initial=0.0) <= LARGEST * size:
            break
    f = full_terms(equations, y, t, p)
    change = _least(f, rated, f.psi, kinds, clear=False)
    return None if change is None else np.concatenate([y[:nq], y[nq:] + change])


def _corrected(
    equations: Equations, y: FloatArray, t: float, p: FloatArray, most: tuple[float, float]
) -> FloatArray:
    """A state on all rows; as it is where none is near.

    Parameters
    ----------
    most : how far it may be, or how far in its coordinates if its velocities are farther off: what
        drifts along a direction that no row holds is off in both.
    """
    found = _stepped(equations, y, t, p, STEPS)
    if found is None:
        # Rows that are dependent on the constraints are not where a state is off them. Without
        # those that are nearly so it may come to meet all.
        found = _stepped(equations, y, t, p, MORE_STEPS, clear=False)
        if found is None or not np.isfinite(found).all() or _is_off(equations, found, t, p):
            return y
    nq, off = len(equations.coordinates), np.abs(found - y)
    size = max(1.0, float(np.abs(y).max()))
    if not np.isfinite(found).all():
        return y
    near = off.max(initial=0.0) <= most[0] * size
    near = near or (
        off[:nq].max(initial=0.0) <= most[1] * size
        and off[nq:].max(initial=0.0) <= LARGEST_BETWEEN * size
        and not _is_off(equations, found, t, p)
    )
    return found if near else y


def _stepped(
    equations: Equations, y: FloatArray, t: float, p: FloatArray, steps: int, *, clear: bool = True
) -> FloatArray | None:
    """A state after some Newton steps to all rows; None where their rank is not `clear`."""
    nq = len(equations.coordinates)
    levels = np.array(equations.row_levels())
    at_position, rated = levels == "position", levels != "acceleration"
    kinds = StateKinds.of(equations).velocities
    for _ in range(steps):
        f = full_terms(equations, y, t, p)
        change = _least(f, at_position, f.phi, kinds, clear=clear)
        if change is None:
            return None
        moved = full_terms(equations, np.concatenate([y[:nq], y[nq:] + change]), t, p)
        y = np.concatenate([y[:nq] + moved.q_dot - f.q_dot, y[nq:]])
        f = full_terms(equations, y, t, p)
        change = _least(f, rated, f.psi, kinds, clear=clear)
        if change is None:
            return None
        y = np.concatenate([y[:nq], y[nq:] + change])
    return y


def _least(
    f: Any, rows: NDArray[np.bool_], residual: FloatArray, kinds: Kinds, *, clear: bool = True
) -> FloatArray | None:
    """The smallest δ with A δ = −residual on some rows; None where their rank is not `clear`."""
    if f.A.shape[0] * f.A.shape[1] > MOST:
        return None
    A = (f.A if isinstance(f.A, np.ndarray) else f.A.toarray())[rows]
    d = velocity_scales(f.M.diagonal(), kinds)
    lengths = row_lengths(A, d)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    U, sizes, Vt = np.linalg.svd(A * d / lengths[:, None], full_matrices=False)
    share = sizes / max(float(sizes.max(initial=0.0)), np.finfo(float).tiny)
    if clear and np.any((share > NOISE) & (share < CLEAR)):  # a singular position is near
        return None
    kept = share >= CLEAR
    along = (U[:, kept].T @ (residual / lengths)) / sizes[kept]
    return -d * (Vt[kept].T @ along)
