"""Force distribution: the multipliers whose largest is the smallest, by linear programming."""

from __future__ import annotations

import numpy as np

from zwang.errors import ZwangError
from zwang.terms import FloatArray

__all__ = ["smallest_maximum"]

#: A multiplier of the linear programme above this belongs to a row that is at the maximum in every
#: optimal solution. They sum to one, and the solver's own tolerance is 1e-7.
BINDING = 1e-7

#: Room left around the maximum when the norm is made least, so that rounding in the maximum does
#: not make the second problem infeasible.
SLACK = 1e-12


#: Rows of an orthonormal basis shorter than this are zero but for rounding: what is determinate
#: keeps its value, and must not hold the others.
DETERMINATE = 1e-10


def smallest_maximum(lam: FloatArray, Z: FloatArray, weights: FloatArray) -> FloatArray:
    """λ + Z c with least max wᵢ|λᵢ|, and of all such the one of least norm, shape (m,).

    Parameters
    ----------
    lam : the least-norm multipliers, shape (m,), orthogonal to Z.
    Z : orthonormal basis of N(Aᵀ), shape (m, k).
    weights : w, shape (m,), positive.
    """
    start = weights * lam
    scale = float(np.max(np.abs(start), initial=0.0))
    if Z.shape[1] == 0 or scale == 0.0:
        return lam
    Z = np.where(np.linalg.norm(Z, axis=1, keepdims=True) > DETERMINATE, Z, 0.0)
    start, W = start / scale, weights[:, None] * Z
    signs = _signs_at_maximum(start, W)
    if not signs.any():  # the maximum is zero
        return lam
    c, free, height = _on_binding_rows(start, W, signs)
    # Least norm among the optimal ones: |start + W (c + N d)| ≤ height, ‖d‖ least.
    return lam + scale * (Z @ (c + free @ _least_distance(start + W @ c, W @ free, height)))


def _signs_at_maximum(start: FloatArray, W: FloatArray) -> FloatArray:
    """+1 or −1 for the rows that are at the maximum in every optimal solution, else 0."""
    from scipy.optimize import linprog

    m, k = W.shape
    column = -np.ones((m, 1))
    result = linprog(
        c=np.append(np.zeros(k), 1.0),
        A_ub=np.block([[W, column], [-W, column]]),
        b_ub=np.concatenate([-start, start]),
        bounds=[(None, None)] * k + [(0.0, None)],
        method="highs",
    )
    if not result.success:
        raise ZwangError(
            "smallest maximum", but=f"was not reached by the linear program ({result.message})"
        )
    upper, lower = np.split(-result.ineqlin.marginals, 2)
    return np.where(upper > BINDING, 1.0, 0.0) - np.where(lower > BINDING, 1.0, 0.0)


def _on_binding_rows(
    start: FloatArray, W: FloatArray, signs: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Solve signs·(start + W c) = height on the binding rows: least c, null basis, height.

    The linear program decides which rows; this gives their values to rounding instead of its
    tolerance.
    """
    rows = signs != 0.0
    equations = np.column_stack([signs[rows, None] * W[rows], -np.ones(int(rows.sum()))])
    solution = np.linalg.lstsq(equations, -signs[rows] * start[rows])[0]
    _, s, Vt = np.linalg.svd(W[rows])
    free = Vt[int(np.sum(s > 1e-10 * np.linalg.norm(W))) :].T
    c = solution[:-1]
    return c - free @ (free.T @ c), free, float(solution[-1])


def _least_distance(value: FloatArray, slope: FloatArray, height: float) -> FloatArray:
    """The least d with |value + slope d| ≤ height (Lawson & Hanson, least distance programming)."""
    from scipy.optimize import nnls

    room = height * (1.0 + SLACK) + SLACK
    G = np.vstack([-slope, slope])
    h = np.concatenate([value - room, -value - room])
    if slope.shape[1] == 0 or (h <= 0.0).all():
        return np.zeros(slope.shape[1])
    E = np.vstack([G.T, h])
    target = np.append(np.zeros(slope.shape[1]), 1.0)
    u, _ = nnls(E, target, maxiter=30 * E.shape[1])
    residual = E @ u - target
    return -residual[:-1] / residual[-1]
