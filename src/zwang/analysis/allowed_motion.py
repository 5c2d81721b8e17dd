"""Inverse dynamics analysis: whether a mechanism allows the positions and velocities of a motion.

A motion that was made elsewhere, the run of a mechanism whose pin is at another place, may have
accelerations that all constraints allow and yet be none that the mechanism can make. Residuals are
compared with what a row makes of displacements as large as the mechanism, and of its velocities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.analysis.equations_of import EquationsOf
from zwang.analysis.state_sizes import StateSizes
from zwang.errors import InputError
from zwang.integrators.settings import Drift
from zwang.linalg.residual_rounding import LEAST_SHARE, ROUNDINGS
from zwang.results.run import Run
from zwang.terms import EPSILON, FloatArray

if TYPE_CHECKING:
    from zwang.analysis.given_motion import GivenMotion
    from zwang.system import System

__all__ = ["allowed_share", "require_allowed"]

#: Rows of a motion that was made elsewhere may be missed by this, relative to their size; of a run
#: by so many tolerances, as errors of steps add up where it was not held by these constraints.
MISSED, TOLERANCES = 1e-6, 100.0
_ADVICE = (
    "Give the motion of a mechanism with the same constraints and parameters, parameters=… if they "
    "are not the defaults, or (times, {coordinate: function of t}): the rest follows."
)


def allowed_share(motion: object) -> float:
    """By how much rows may be missed, relative to their size."""
    return (
        max(MISSED, TOLERANCES * motion.settings.tolerance) if isinstance(motion, Run) else MISSED
    )


def require_allowed(
    system: System, motion: object, at: GivenMotion, p: FloatArray
) -> tuple[str, ...]:
    """Refuse positions or velocities that a system does not allow, by the row that is missed most.

    A run that was not projected on its constraints is taken with a sentence on what it misses.
    """
    equations = system.equations
    found = equations.residuals_at(at.q, at.v, at.t, p)
    levels = np.array(system.row_levels(), dtype=object)
    limit = allowed_share(motion)
    drifts = isinstance(motion, Run) and motion.settings.drift is not Drift.PROJECTION
    w, rates, moved = _sizes(system, at, p)
    for what, residual, rows, change in (
        ("positions", found.position, levels == "position", w),
        ("velocities", found.velocity, levels != "acceleration", rates),
    ):
        if not residual.size:
            continue
        miss = np.abs(residual)
        places = np.argmax(miss, axis=0)
        A = _rows(system, at, np.unique(places), p)
        reach = np.abs(
            np.array([A[int(k)][i] for k, i in zip(places, np.flatnonzero(rows), strict=True)])
        )
        most = miss.max(axis=0)
        size = reach @ change
        size = np.maximum(size, LEAST_SHARE * size.max(initial=0.0)) + np.finfo(float).tiny
        rounding = ROUNDINGS * np.sqrt(len(w)) * EPSILON * (reach @ moved) * (change / w).max()
        share = np.maximum(most - rounding, 0.0) / size
        worst = int(np.argmax(share))
        if not share[worst] > limit:
            continue
        name = system.row_names[int(np.flatnonzero(rows)[worst])].partition("[")[0]
        t = f"{at.t[places[worst]]:.6g}"
        if drifts:
            return (f"{what} miss {name!r} by up to {most[worst]:.3g}, at t = {t}: the run drifts",)
        raise InputError(
            "motion",
            must="be one of this mechanism",
            but=f"has {what} that {name!r} does not allow, at t = {t} by {most[worst]:.3g}",
            advice=_ADVICE,
        )
    return ()


def _rows(
    system: System, at: GivenMotion, places: np.ndarray, p: FloatArray
) -> dict[int, FloatArray]:
    """A at some states of a motion."""
    piece = at.piece(places)
    A = system.equations.ideal_terms_at(piece.q, piece.v, piece.t, p).constraint_matrix
    return {int(k): A[i] for i, k in enumerate(places)}


def _sizes(
    system: System, at: GivenMotion, p: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sizes of displacements and of velocities, and displacements as large as coordinates."""
    t = float(at.t[0])
    equations = EquationsOf(system, t, None)
    equations.p = p
    values = equations.values(at.q[0])
    fastest = np.abs(at.v).max(axis=0)
    span = float(at.t[-1] - at.t[0]) or 1.0
    sizes = StateSizes.of(system, at.q[0], values.N, values.M, fastest * span)
    moved = np.abs(np.linalg.pinv(values.N)) @ np.abs(at.q).max(axis=0)
    return sizes.w, fastest + sizes.w / span, moved
