"""Inverse dynamics analysis of a fully actuated mechanism as one compiled function.

With as many independent rows and actuators as velocities, K x = r with K = [Aᵀ B] and x = (λ, τ) is
a square system whose zeros are known beforehand. It is eliminated once in symbols, in an order that
keeps it sparse (Markowitz 1957) with pivots that are large at several states of the motion, and
compiled together with M, Q, A and B. What is left of the equations shows where the order does not
suit a state; such a motion is solved by dense matrices instead.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from zwang.analysis.effort_rules import Efforts
from zwang.codegen.kernel import Kernel
from zwang.terms import FloatArray
from zwang.tracing.differentiate import jacobian
from zwang.tracing.mixed_kernel import staged

if TYPE_CHECKING:
    import casadi

    from zwang.analysis.actuators import Actuators
    from zwang.analysis.given_motion import GivenMotion
    from zwang.system import System

__all__ = ["EffortKernel"]

#: Numbers of dense matrices, states × velocities², from which compiling pays, and velocities up to
#: which the whole elimination is one function of reasonable size.
WORTHWHILE, MOST = 500_000, 300
#: A pivot is at least this share of its row at the states that are looked at.
PIVOT = 0.05
#: What may be left of the equations, relative to the largest term in them.
LEFT = 1e-9
#: States at which the order of elimination is chosen.
LOOKED_AT = 5

_known: WeakKeyDictionary[System, dict[tuple[str, ...], EffortKernel | None]] = WeakKeyDictionary()


@dataclass(frozen=True)
class EffortKernel:
    """(q, v, t, a, p) → τ, and what is left of the equations."""

    kernel: Kernel

    @classmethod
    def of(cls, acting: Actuators, at: GivenMotion, p: FloatArray) -> EffortKernel | None:
        """The kernel for named actuators; None where the equations are not square or small."""
        system, (nt, nv) = acting.system, at.v.shape
        if nt * nv**2 < WORTHWHILE or nv > MOST or system.opaque:
            return None
        kept = _known.setdefault(system, {})
        if acting.names not in kept:
            kept[acting.names] = _made(acting, at, p)
        return kept[acting.names]

    def solved(self, at: GivenMotion, p: FloatArray) -> Efforts | None:
        """Efforts at all states, or None where the elimination does not suit them."""
        n, k = len(at.t), self.kernel.outputs[0].size
        tau, left = np.empty((n, k)), np.empty((n, 2))
        inputs = [
            np.ascontiguousarray(x, dtype=float)
            for x in (at.q, at.v, at.t.reshape(-1, 1), at.acceleration)
        ]
        _called(self.kernel, inputs, np.ascontiguousarray(p, dtype=float), [tau, left])
        if not np.isfinite(left).all() or (left[:, 0] > LEFT * left[:, 1]).any():
            return None
        return Efforts(tau, np.zeros_like(at.v), [np.zeros((k, 0))] * n)


def _called(
    kernel: Kernel, inputs: list[FloatArray], p: FloatArray, results: list[FloatArray]
) -> None:
    """Call a kernel for every row."""
    count = len(inputs) + 2 + len(results)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(kernel.address)
    work = kernel.work()
    rows: list[Any] = [range(x.ctypes.data, x.ctypes.data + x.nbytes, x.strides[0]) for x in inputs]
    rows += [repeat(p.ctypes.data)]
    rows += [range(x.ctypes.data, x.ctypes.data + x.nbytes, x.strides[0]) for x in results]
    for pointers in zip(*rows, repeat(work.ctypes.data), strict=False):
        function(*pointers)


def _made(acting: Actuators, at: GivenMotion, p: FloatArray) -> EffortKernel | None:
    import casadi as ca

    system = acting.system
    model = system.model
    if not model.ideal:
        return None
    s, nv = model.state, len(system.velocities)
    looked = np.unique(np.linspace(0, len(at.t) - 1, LOOKED_AT).astype(int))
    terms = system.equations.ideal_terms_at(at.q[looked], at.v[looked], at.t[looked], p)
    rows = _independent(terms.constraint_matrix, nv - len(acting.names))
    if rows is None:
        return None
    columns = [
        ca.SX(of.rate["xyz".index(of.part)]) if of.part else of.rate for of in acting.quantities
    ]
    B = ca.vertcat(*(jacobian(c, s.v, s) for c in columns)).T
    K = ca.horzcat(model.A[rows, :].T, B)
    a = ca.SX.sym("a", nv)
    r = ca.mtimes(model.M, a) - model.Q
    piece = at.piece(looked)
    values = np.concatenate(
        [np.swapaxes(terms.constraint_matrix[:, rows], 1, 2), acting.rates(piece, p)[0]], axis=2
    )
    x = eliminated(K, r, values)
    if x is None:
        return None
    left = ca.mtimes(K, x) - r
    size = ca.mtimes(ca.fabs(model.M), ca.fabs(a)) + ca.fabs(model.Q)
    checks = ca.vertcat(ca.norm_1(left), ca.sum1(size) + ca.SX(1e-300))
    kernel = staged(
        "efforts",
        {"q": s.q, "v": s.v, "t": s.t, "a": a, "p": s.p},
        {"tau": x[len(rows) :], "checks": checks},
        s.calls,
    )
    return EffortKernel(kernel)


def _independent(A: FloatArray, count: int) -> list[int] | None:
    """Rows that are independent at all states, as many as asked for and as there are, or None."""
    from scipy.linalg import qr

    if count < 0 or A.shape[1] < count:
        return None
    if not count:
        return []
    found: Any = qr(A[len(A) // 2].T, mode="r", pivoting=True)
    R, order = found[0], found[1]
    size = np.abs(np.diagonal(R))
    rank = int(np.sum(size > 1e-9 * size[0]))
    return sorted(int(i) for i in order[:count]) if rank == count else None


def eliminated(K: casadi.SX, r: casadi.SX, values: FloatArray) -> casadi.SX | None:
    """x of K x = r in symbols, with pivots that are large in K's values (n, nv, nv); or None."""
    import casadi as ca

    n = K.shape[0]
    pattern = K.sparsity()
    rows: list[dict[int, casadi.SX]] = [{} for _ in range(n)]
    numbers: list[dict[int, FloatArray]] = [{} for _ in range(n)]
    for j in range(n):
        for at in range(pattern.colind(j), pattern.colind(j + 1)):
            i = pattern.row(at)
            if not K[i, j].is_zero():
                rows[i][j], numbers[i][j] = K[i, j], values[:, i, j]
    right = [r[i] for i in range(n)]
    order: list[tuple[int, int]] = []
    waiting = set(range(n))
    while waiting:
        pivot = _pivot(numbers, waiting)
        if pivot is None:
            return None
        i, j = pivot
        waiting.remove(i)
        order.append(pivot)
        for k in [k for k in waiting if j in rows[k]]:
            factor = rows[k].pop(j) / rows[i][j]
            number = numbers[k].pop(j) / numbers[i][j]
            for c, entry in rows[i].items():
                if c != j:
                    rows[k][c] = rows[k].get(c, ca.SX(0)) - factor * entry
                    numbers[k][c] = numbers[k].get(c, 0.0) - number * numbers[i][c]
            right[k] = right[k] - factor * right[i]
    x: dict[int, casadi.SX] = {}
    for i, j in reversed(order):
        known = right[i]
        for c, entry in rows[i].items():
            if c != j:
                known = known - entry * x[c]
        x[j] = known / rows[i][j]
    return ca.vertcat(*(x[j] for j in range(n)))


def _pivot(numbers: list[dict[int, FloatArray]], waiting: set[int]) -> tuple[int, int] | None:
    """The sparsest entry that is large in its row at all states."""
    used: dict[int, int] = {}
    for i in waiting:
        for j in numbers[i]:
            used[j] = used.get(j, 0) + 1
    best: tuple[int, tuple[int, int]] | None = None
    for i in waiting:
        own = numbers[i]
        if not own:
            return None
        largest = np.max([np.abs(x) for x in own.values()], axis=0)
        for j, x in own.items():
            cost = (len(own) - 1) * (used[j] - 1)
            if best is not None and cost >= best[0]:
                continue
            if (np.abs(x) >= PIVOT * largest).all() and (largest > 0.0).all():
                best = cost, (i, j)
    return None if best is None else best[1]
