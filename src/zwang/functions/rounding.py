"""How far rounding may put the right sides of constraints off.

b = −(ψ_q q̇ + ψ_t) sums products of velocities that may cancel: where a body spins about the axis
of its own hinge nothing is left of them but rounding, and nothing else at the state tells how large
that may be. The terms show when the velocities are shifted: a shift by a share of their size
changes b by about that share of its terms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zwang.terms import FloatArray

__all__ = ["rhs_rounding"]

#: Share of the velocities by which they are shifted; b is smooth over it.
SHIFT = 2.0**-10
#: Roundings a right side has room for: some ten operations, and a shift that happens to change a
#: row little.
ROUNDINGS = 64.0 * np.finfo(float).eps


def rhs_rounding(
    right_sides: Callable[[FloatArray], FloatArray], M: Any, v: FloatArray, b: FloatArray
) -> FloatArray:
    """A bound for the rounding in b, shape (…, m).

    Parameters
    ----------
    right_sides : b at the same place for other velocities.
    M, v, b : at the state, or at many; of one M may be sparse.
    """
    dense = isinstance(M, np.ndarray)
    inertia = M.diagonal(axis1=-2, axis2=-1) if dense else M.diagonal()
    root = np.sqrt(np.maximum(inertia, 0.0))
    # Velocities are known to a rounding of what has the kinetic energy of the whole.
    whole = np.linalg.norm(root * v, axis=-1, keepdims=True)
    size = np.divide(whole, root, out=np.zeros_like(v), where=root > 0.0)
    signs = np.random.default_rng(0).standard_normal(v.shape[-1])
    shifted = v + SHIFT * np.maximum(size, np.abs(v)) * signs
    return ROUNDINGS / SHIFT * np.abs(right_sides(shifted) - b)
