"""Traced constraint rows that vanish through the kinematics, though not in each term.

With Euler parameters, q̇ = ½ Lᵀ ω keeps q·q by itself: the row of q·q = 1 is φ_q N = qᵀLᵀ, zero as
a sum but not term by term. Evaluated it is rounding, 1e-17, and rows are scaled to unit length
before ranks are decided, so that the rounding would be taken for a constraint. Such rows are found
when the system is traced, at random states, and become zero for good.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from zwang.tracing.differentiate import Symbols, TracedConstraint, jacobian, rate
from zwang.tracing.rhs_rounding import summed_sizes

if TYPE_CHECKING:
    import casadi

__all__ = ["without_vanishing_entries", "without_vanishing_rows"]

#: A row is zero when its terms cancel to this fraction at all states; rounding leaves 1e-15.
CANCELLED = 1e-12

#: Random states at which this is looked at.
STATES = 4


def without_vanishing_rows(
    blocks: Mapping[str, TracedConstraint], s: Symbols, N: casadi.SX, parameters: np.ndarray
) -> dict[str, TracedConstraint]:
    """The same constraints, with rows φ_q N that vanish identically set to zero.

    Parameters
    ----------
    N : the kinematics q̇ = N v + n₀.
    parameters : default values, flat.
    """
    return {
        name: _cleared(block, _vanishing(block, s, N, parameters), s)
        for name, block in blocks.items()
    }


def _vanishing(
    block: TracedConstraint, s: Symbols, N: casadi.SX, parameters: np.ndarray
) -> np.ndarray:
    import casadi as ca

    nothing = np.zeros(block.A.shape[0], dtype=bool)
    if block.value is None or s.calls:
        return nothing
    slope = jacobian(block.value, s.q, s)
    size = ca.mtimes(ca.fabs(slope), ca.fabs(N))
    terms = ca.Function("rows", [s.q, s.t, s.p], [ca.densify(block.A), ca.densify(size)])
    generator = np.random.default_rng(0)
    zero: np.ndarray | None = None
    for _ in range(STATES):
        q, t = generator.uniform(-1.0, 1.0, s.q.numel()), generator.uniform(0.0, 1.0)
        A, whole = (np.array(x) for x in terms(q, t, parameters))
        if not (np.isfinite(A).all() and np.isfinite(whole).all()):
            continue
        largest = whole.max(axis=1, initial=0.0)
        here = (np.abs(A).max(axis=1, initial=0.0) <= CANCELLED * largest) & (largest > 0.0)
        zero = here if zero is None else zero & here
    return nothing if zero is None else zero


def _cleared(block: TracedConstraint, zero: np.ndarray, s: Symbols) -> TracedConstraint:
    import casadi as ca

    if not zero.any() or block.rate is None:
        return block
    # φ̇ without the part A v that vanishes; its own derivative is −b.
    (at_rest,) = ca.substitute([block.rate], [s.v], [ca.SX.zeros(s.v.shape)])
    A, b, psi = ca.SX(block.A), ca.SX(block.b), ca.SX(block.rate)
    for i in np.flatnonzero(zero):
        k = int(i)
        A[k, :] = 0
        psi[k] = at_rest[k]
        b[k] = -rate(at_rest[k], s)
    return replace(block, A=ca.sparsify(A), b=b, rate=psi)


def without_vanishing_entries(
    expression: casadi.SX, inputs: Sequence[casadi.SX], parameters: np.ndarray, share: float
) -> casadi.SX:
    """The same matrix, with entries that are rounding of what was summed in them set to zero.

    Parameters
    ----------
    inputs : what the expression is of; the parameters come last.
    parameters : default values, flat.
    share : of what was summed that may be left of zero: how exact constants in it are.
    """
    import casadi as ca

    dense = ca.densify(expression)
    terms = ca.Function("entries", list(inputs), [dense, summed_sizes(dense, inputs)])
    generator = np.random.default_rng(0)
    zero = np.ones(dense.shape, dtype=bool)
    for _ in range(STATES):
        state = [generator.uniform(-1.0, 1.0, x.shape) for x in inputs[:-1]]
        values, sizes = (np.array(x) for x in terms(*state, parameters))
        zero &= np.abs(values) <= share * sizes  # what is no number stays
    cleared = ca.SX(expression)
    for i, j in np.argwhere(zero).tolist():
        cleared[i, j] = 0
    return ca.sparsify(cleared)
