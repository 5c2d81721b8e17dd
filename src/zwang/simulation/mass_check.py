"""Guard of a simulation: whether the mass matrix is positive, at a state and soon after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang.simulation.full_terms import full_terms
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations
    from zwang.simulation.loop_segment import LoopSegment

__all__ = ["indefinite", "mass_beyond", "mass_lost"]

#: An eigenvalue of M below minus this, in parts of its diagonal, is negative.
INDEFINITE = 1e-9
#: How long after the last state of a run a mass is looked for that made it stop, relative.
AFTERWARDS = (0.0, 1e-12, 1e-9, 1e-6, 1e-4)


def mass_lost(segment: LoopSegment) -> str:
    """Which mass is not positive where a loop could not go on, as a sentence; empty if all are."""
    y, a = segment.loop.present[:, 0], segment.loop.accelerations()[0]
    step = segment.settings.step
    return mass_beyond(segment.equations, y, segment.reached, segment.p, a, step)


def mass_beyond(
    equations: Equations, y: FloatArray, t: float, p: FloatArray, a: FloatArray, step: float
) -> str:
    """Which mass is not positive at a state or soon after, as a sentence; empty if all are.

    Soon is within times that are hardly told from none, or within a fixed step if there is one.
    """
    if equations.opaque or equations.by_elements is not None or equations.mass_is_constant:
        return ""
    rates = np.concatenate([full_terms(equations, y, t, p).q_dot, a])
    rates = np.where(np.isfinite(rates), rates, 0.0)
    for h in (*(share * max(abs(t), 1.0) for share in AFTERWARDS), 0.5 * step, step):
        found = indefinite(equations, full_terms(equations, y + h * rates, t + h, p).M)
        if found:
            return f"{found} beyond it; expected a mass matrix that stays positive"
    return ""


def indefinite(equations: Equations, M: FloatArray) -> str:
    """Which mass is not positive, as the beginning of a sentence; empty if none is."""
    if not np.isfinite(M).all():
        return ""
    diagonal = M.diagonal()
    worst = int(np.argmin(diagonal))
    if diagonal[worst] <= 0.0:
        return f"the mass of {equations.velocities[worst]!r} is {diagonal[worst]:.3g}"
    d = 1.0 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(d[:, None] * M * d)
    if values[0] < -INDEFINITE:
        largest = int(np.argmax(np.abs(vectors[:, 0])))
        return (
            f"the mass matrix has a negative eigenvalue, {values[0]:.3g} in parts of its diagonal, "
            f"most of all in {equations.velocities[largest]!r}"
        )
    return ""
