"""What a simulation reports of dependent constraint rows: always, at a moment, or no longer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.caching import PassedOn, Remembered
from zwang.equations.active_rows import deficit, scaled_rows_at
from zwang.linalg.rank import scaled_rows
from zwang.results.segments import RankChange
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.integrators.output import RankLog
    from zwang.programs.contract import Program
    from zwang.system import System

__all__ = [
    "BROKEN",
    "always_dependent",
    "broken_row",
    "chosen_rows_lost_rank",
    "left_out_note",
    "near_dependence",
    "nearly_dependent",
    "rank_changes",
]

#: Rows left out whose residual exceeds this, relative, contradict the others: projection holds
#: what follows from the others to 1e-12.
BROKEN = 1e-6
#: A row takes part in a dependency if this share of it is its own. States on an interpolant know
#: the dependency to about 1e-3.
LEAST_PART = 0.02
#: Singular values of scaled rows on an interpolant below this belong to dependent rows.
LOST = 3e-3
#: Rows whose singular values are all above this are far from any singular position. Those of a
#: passage are below 1e-3, on an interpolant too.
REGULAR = 0.05
#: States for which it is remembered how many rows depend on others there.
KEPT = 64


def left_out_note(system: System, rows: tuple[int, ...]) -> str:
    """Which rows do not act because they follow from others, as a sentence."""
    names = system.row_names
    listed = ", ".join(names[i] for i in rows[:6]) + (", …" if len(rows) > 6 else "")
    return (
        f"{len(rows)} of {len(names)} constraint rows follow from the others and were left out of "
        f"the accelerations, their residuals still watched: {listed}"
    )


def broken_row(
    system: System,
    rows: tuple[int, ...],
    q: FloatArray,
    v: FloatArray,
    t: FloatArray,
    p: FloatArray,
) -> tuple[str, int]:
    """Which of the rows left out is not met by a motion (nt, …), as a status; empty if all are.

    And the first state that does not meet it. Rows that depend on others follow from them only as
    long as their right sides agree: two drivers of one angle may part at any time.
    """
    found = system.equations.residuals_at(q, v, t, p)
    left_out = {system.row_names[i] for i in rows}
    for values, names, size in (
        (found.position, found.position_names, q),
        (found.velocity, found.velocity_names, v),
    ):
        watched = [k for k, name in enumerate(names) if name in left_out]
        off = np.abs(values[:, watched]) > BROKEN * max(1.0, float(np.abs(size).max(initial=0.0)))
        if off.any():
            first, k = np.argwhere(off)[0]
            begun = max(int(first) - 1, 0)
            there = scaled_rows_at(system.equations, q[first], v[first], float(t[first]), p)
            if deficit(there) < len(rows):
                status = (
                    f"stopped at t = {t[first]:.6g} s: {names[watched[k]]!r} followed from other "
                    f"constraints near the start and was left out; from t = {t[begun]:.6g} s on it "
                    "says something of its own"
                )
            else:
                status = (
                    f"stopped at t = {t[first]:.6g} s by constraints that contradict each other: "
                    f"{names[watched[k]]!r} is missed by {values[first, watched[k]]:.3g} "
                    f"at t = {t[first]:.6g} s"
                )
            return status, int(first)
    return "", len(t)


def always_dependent(
    system: System, program: Program, y: FloatArray, t: float, parameters: Mapping[str, Any]
) -> RankChange:
    """That rows are left out of a program from a start on."""
    count = len(program.idle_rows)
    find = partial(_involved, system, (), y, t, parameters, count)
    return RankChange(t, count, lasting=True, find=find)


def rank_changes(
    system: System,
    program: Program,
    logs: Iterable[RankLog],
    parameters: Mapping[str, Any],
    begin: float,
) -> list[RankChange]:
    """What the loop saw of the rank of the rows that act, and all rows that depend on others.

    The pivots of a loop are coarse: rows of light and heavy bodies may come near to dependence and
    never reach it, and rows of bodies without mass have small ones everywhere. At the time of the
    beginning, whose state is exact, rows are counted again, and at a passage it is asked whether
    any of them comes near to depending on others.
    """
    gone = program.idle_rows
    changes = []
    for log in logs:
        count = log.dependent_rows
        if count and not (
            _all_lose_rank(system, log, parameters, len(gone))
            if program.left_out
            else log.lasting or _passed(system, log, parameters, len(gone), begin)
        ):
            continue
        involved = partial(_involved, system, gone, log.y, log.t, parameters, count)
        changes.append(RankChange(log.t, count + len(gone), log.lasting, involved))
    return changes


def _passed(
    system: System, log: RankLog, parameters: Mapping[str, Any], always: int, begin: float
) -> bool:
    """Whether rows depend on others that do not always, at a moment.

    The state of the beginning is exact, that of a passage on an interpolant.
    """
    if system.equations.by_elements is not None:
        return True
    nq, p = len(system.coordinates), system.parameter_vector(parameters)
    rows = scaled_rows_at(system.equations, log.y[:nq], log.y[nq:], log.t, p)
    if log.t == begin:
        return deficit(rows) > always
    return int(np.sum(np.linalg.svd(rows, compute_uv=False) < REGULAR)) > always


def chosen_rows_lost_rank(
    system: System, program: Program, logs: Iterable[RankLog], parameters: Mapping[str, Any]
) -> bool:
    """Whether rows that act lost rank where all rows, those left out among them, did not.

    Then rows that were left out would have held the motion, and others are to be left out.
    """
    always = len(program.idle_rows)
    return bool(program.left_out) and any(
        log.dependent_rows and not _all_lose_rank(system, log, parameters, always) for log in logs
    )


class _DependentRows(Remembered[tuple[float, bytes, bytes], int], PassedOn):
    """How many of all rows depend on others, by time, state and parameters."""


def _all_lose_rank(
    system: System, log: RankLog, parameters: Mapping[str, Any], always: int
) -> bool:
    """Whether all rows together lose rank, or only those chosen to act, which does no harm."""
    nq, p = len(system.coordinates), system.parameter_vector(parameters)
    known = system.equations.cache.once(_DependentRows, lambda: _DependentRows(KEPT))
    key = (log.t, log.y.tobytes(), p.tobytes())
    lost = known.get(key)
    if lost is None:
        lost = known[key] = _dependent(system, log.y[:nq], log.y[nq:], log.t, p)
    return lost >= log.dependent_rows + always


def _dependent(system: System, q: FloatArray, v: FloatArray, t: float, p: FloatArray) -> int:
    """How many of all rows depend on others at a state on an interpolant."""
    elements = system.equations.by_elements
    if elements is not None:
        M, _, A, *_ = elements.full_terms(q, v, t, p)
        return _singular_values_below(LOST, M.diagonal(), A)
    rows = scaled_rows_at(system.equations, q, v, t, p)
    return len(rows) - int(np.sum(np.linalg.svd(rows, compute_uv=False) > LOST))


def nearly_dependent(
    system: System, program: Program, y: FloatArray, t: float, p: FloatArray
) -> bool:
    """Whether more rows are next to depending on others at a state than always do."""
    nq = len(system.coordinates)
    return _dependent(system, y[:nq], y[nq:], t, p) > len(program.idle_rows)


def _singular_values_below(limit: float, inertia: FloatArray, A: Any) -> int:
    """Of many rows B, scaled to unit length: as many as B Bᵀ − limit² has negative pivots.

    That is Sylvester's law of inertia. Rows of a mechanism touch few others, so that the factors
    stay sparse; singular values of 600 rows take a hundred times as long.
    """
    from scipy.sparse import csr_array, diags_array, eye_array
    from scipy.sparse.linalg import splu

    massive = np.where(inertia > 0.0, inertia, np.max(inertia, initial=0.0) or 1.0)
    B: Any = csr_array(A) @ diags_array(1.0 / np.sqrt(massive))
    lengths = np.sqrt(B.multiply(B).sum(axis=1))
    B = diags_array(np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)) @ B
    shifted: Any = (B @ B.T - limit**2 * eye_array(len(lengths))).tocsc()
    factors = splu(
        shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    if np.array_equal(factors.perm_r, factors.perm_c):
        return int(np.sum(factors.U.diagonal() < 0.0))
    return int(np.sum(np.linalg.eigvalsh(shifted.toarray()) < 0.0))  # rows changed places


def near_dependence(
    system: System, program: Program, y: FloatArray, t: float, parameters: Mapping[str, Any]
) -> list[RankChange]:
    """That rows are next to depending on others at a state, if they are, whatever pivots tell.

    Of large mechanisms that are evaluated element by element nothing is told.
    """
    if system.equations.by_elements is not None or not system.row_names:
        return []
    nq, p = len(system.coordinates), system.parameter_vector(parameters)
    rows = scaled_rows_at(system.equations, y[:nq], y[nq:], t, p)
    gone = program.idle_rows
    count = int(np.sum(np.linalg.svd(rows, compute_uv=False) < LOST)) - len(gone)
    if count <= 0:
        return []
    find = partial(_involved, system, gone, y, t, parameters, count)
    return [RankChange(t, count, lasting=False, find=find)]


def _involved(
    system: System,
    gone: tuple[int, ...],
    y: FloatArray,
    t: float,
    parameters: Mapping[str, Any],
    count: int,
) -> tuple[str, ...]:
    """Names of the constraints whose position rows, but for those gone, are dependent at a state.

    The left singular vectors of the `count` least singular values of the scaled rows are the
    dependencies.
    """
    nq = len(system.coordinates)
    names = np.array([name for name, rows in system.groups.items() for _ in rows])
    levels = system.row_levels()
    kept = [i for i, level in enumerate(levels) if level == "position" and i not in gone]
    terms = system.ideal_terms(y[:nq], y[nq:], t, parameters=parameters)
    U, _, _ = np.linalg.svd(scaled_rows(terms.mass_matrix, terms.constraint_matrix[kept]))
    shares = np.linalg.norm(U[:, len(kept) - count :], axis=1)
    return tuple(dict.fromkeys(names[kept][shares > LEAST_PART].tolist())) if count else ()
