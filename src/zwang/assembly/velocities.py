"""Assembly of velocities: φ̇ = 0 and ψ = 0, nearest to what is preferred.

Linear rows A v + r₀ = 0 are solved in order of importance: each level is a least-squares problem in
what the levels before left free.

    1  the constraints             2  preferred velocities, in the metric of M or by weights
    3  distance from the reference (preferred values, start or rest) in the metric of M
    4  the same, by plain size, for what has neither mass nor constraint

Constraints nonlinear in v go through `nearest`, with the same measures.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zwang.assembly.branches import spread
from zwang.assembly.conditions import StartConditions
from zwang.assembly.least_squares import least_squares
from zwang.assembly.nearest import nearest
from zwang.assembly.points import ConditionPoint, PointConditions
from zwang.assembly.request import RequestedValues, generic_values
from zwang.assembly.result import Assembly, FindConflict, conflicting_group, impossible_error
from zwang.linalg.rank import AT_A_STATE, DEFAULT_TOLERANCES, equilibrate, svd
from zwang.terms import FloatArray

__all__ = ["consistent_velocity", "in_order_of_importance"]

#: Starts tried for nonlinear constraints before they are called impossible to meet.
ATTEMPTS = 16


def consistent_velocity(
    model: StartConditions,
    q: FloatArray,
    request: RequestedValues,
    t: float,
    p: FloatArray,
    find_conflict: FindConflict,
) -> tuple[FloatArray, int]:
    """The nearest velocity that satisfies the constraints, and the number of evaluations.

    Raises
    ------
    AssemblyError : none exists.
    """
    conditions = model.rates(q, t, p)
    M = model.mass(q, request.values, t, p)
    find = _linear if model.linear else _nonlinear
    v = find(conditions, M, request)
    here = conditions(v)
    size = np.abs(here.value - here.jacobian @ v) + np.abs(here.jacobian) @ np.abs(v)
    if np.any(np.abs(here.value) > AT_A_STATE * np.maximum(size, here.limit)):
        state = Assembly(q, v, t, request.moved(v), iterations=conditions.evaluations)
        names = model.rate_rows
        group = conflicting_group(here, request, names, find_conflict)
        raise impossible_error("velocity", here, names, state, group)
    return v, conditions.evaluations


def in_order_of_importance(
    levels: Sequence[tuple[FloatArray, FloatArray]], x: FloatArray, scale: FloatArray
) -> FloatArray:
    """Least squares B x = c level by level, each in the subspace that the former ones leave.

    Parameters
    ----------
    levels : pairs B (m, n), c (m,), the most important first.
    x : where to start from, shape (n,).
    scale : sizes of the entries of x, against which ranks are decided, shape (n,).
    """
    free = np.diag(scale)
    for B, c in levels:
        # What is left of B is compared with B as it was: a row that the former levels have used up
        # is rounding now.
        largest = float(np.max(np.linalg.norm(B * scale, axis=1), initial=0.0))
        U, s, Vt = svd(B @ free)
        rank = int(np.sum(s > DEFAULT_TOLERANCES.rank * largest))
        x = x + free @ (Vt[:rank].T @ (U[:, :rank].T @ (c - B @ x) / s[:rank]))
        free = free @ Vt[rank:].T
    return x


def _linear(conditions: PointConditions, M: FloatArray, request: RequestedValues) -> FloatArray:
    unknown = request.unknown
    v = request.values.copy()
    here = conditions(v)
    d, e = equilibrate(M, here.jacobian)
    A, d = e[:, None] * here.jacobian[:, unknown], d[unknown]
    # A u = A u₀ − r(u₀), as r is linear
    constraints = (A, A @ v[unknown] - e * here.value)
    levels = [constraints, *_measures(M, request, d)]
    v[unknown] = in_order_of_importance(levels, v[unknown], d)
    # What rounding left of the constraints, taken back by the shortest way.
    here = conditions(v)
    again = [(A, A @ v[unknown] - e * here.value)]
    v[unknown] = in_order_of_importance(again, v[unknown], d)
    return v


def _measures(
    M: FloatArray, request: RequestedValues, d: FloatArray
) -> list[tuple[FloatArray, FloatArray]]:
    unknown, preferred = request.unknown, request.preferred_unknown
    reference = request.values[unknown]
    n = len(unknown)
    first = np.zeros((len(preferred), n))
    if request.weights is None:
        first[:, preferred] = _root(M[request.preferred[:, None], request.preferred])
    else:
        first[:, preferred] = np.diag(np.sqrt(request.weights))
    plain = np.eye(n)[preferred]
    mass = _root(M[unknown[:, None], unknown])
    size = np.diag(1.0 / d)
    return [(B, B @ reference) for B in (first, plain, mass, size)]


def _root(M: FloatArray) -> FloatArray:
    """R with Rᵀ R = M for M ≥ 0."""
    values, vectors = np.linalg.eigh(M)
    return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T


def _nonlinear(conditions: PointConditions, M: FloatArray, request: RequestedValues) -> FloatArray:
    unknown, preferred = request.unknown, request.preferred_unknown
    inner = conditions.along(unknown, request.values)
    target = request.values[unknown]
    n = len(unknown)
    own = M[unknown[:, None], unknown]
    d, _ = equilibrate(own, inner(target + 0.1 * generic_values(n)).jacobian)
    first = np.zeros((n, n))
    first[preferred[:, None], preferred] = (
        own[preferred[:, None], preferred] if request.weights is None else np.diag(request.weights)
    )
    second = own
    if np.linalg.eigvalsh(own * d * d[:, None])[0] < 1e-9:  # no measure without mass
        second = own + 1e-6 * np.diag(d**-2.0)
        first[preferred, preferred] += 1e-6 * d[preferred] ** -2.0
    failed: list[ConditionPoint] = []
    for turn in range(ATTEMPTS):
        # At rest nonlinear constraints often have no slope, so the first start is off it as well.
        reach = 0.1 if turn == 0 else 2.0 ** (turn % 4)
        shift = generic_values(n) if turn == 0 else spread(turn, n)
        moving = np.ones(n) if turn else np.isin(np.arange(n), preferred, invert=True)
        start = target + reach * shift * moving * d / d.max(initial=1e-300)
        point, ok = nearest(inner, start, target, preferred, first, second)
        if ok:
            break
        if point.finite:
            failed.append(point)
    else:
        ends = [least_squares(inner, f.x) for f in failed] or [inner(target)]
        point = min(ends, key=lambda end: float(np.linalg.norm(end.value)))
    conditions.evaluations += inner.evaluations
    v = request.values.copy()
    v[unknown] = point.x
    return v
