"""The nodes of a collocation step, found by sweeps of Picard's iteration, eight at a time.

A step asks for F[k] = f(t + c_k h, Y[k]) with Y = y + h A F at the eight points of Gauss. A sweep
makes Y from the last F and F from that Y: eight evaluations that do not wait for each other, one
call of a kernel with eight lanes. The second order of the equations is used: velocities from
accelerations first, positions from these velocities, accelerations there. One sweep then does what
two would, and the error falls like (h²)ᵏ/(2k)! where forces depend on positions alone.

Arrays are [entry][node], entries of a state q then v. The sweeps begin with the polynomial of the
step before, continued.
"""

from __future__ import annotations

import numpy as np

from zwang.codegen.call import call, part
from zwang.codegen.jit import inlined, loop
from zwang.codegen.node_sums import NODES, change, mix, spread
from zwang.integrators.collocation.records import (
    LENGTH,
    ORIGIN,
    RATE,
    SPECTRUM,
    CollocationMethod,
    NodeSweeps,
    StepBefore,
)
from zwang.integrators.records import LoopEquations

__all__ = [
    "CONVERGED",
    "DIVERGED",
    "LOWEST_RATE",
    "TOO_LONG",
    "UNDEFINED",
    "between",
    "estimate",
    "finish",
    "node_pivots",
    "predict",
    "solve",
]

# How sweeps ended.
CONVERGED, TOO_LONG, DIVERGED, UNDEFINED = 0, 1, 2, 3

SWEEPS, FIXED_SWEEPS = 14, 50  # at most, and where the step is fixed
LEFT = 0.01  # part of the tolerance that the error of sweeps may have: it adds up from step to step
EARLY, SURE, FAR = 2, 0.3, 3.0  # after so many sweeps, at this rate, so large an error stays
ROUNDING = 1e-13  # of derivatives, relative, at which sweeps end
LOWEST_RATE = 0.01  # of convergence that is believed
SLOWEST = 0.5  # rate that is expected of a longer step at most
STALLED = 0.9  # what is taken for the rate where one sweep was no better than the last
FORGET = 0.8  # share of the rate of convergence that is expected of the next step at least
FORGET_SOON = 0.5  # the same after so few sweeps that the rate hardly shows
#: The error of what lies within a step is h a₈ ∫P₈, with a₈ the first coefficient left out, and
#: ∫P₈ = (P₉ − P₇)/34, in size at most this.
WITHIN = 0.016


@inlined
def legendre(x, P):
    """P[m, j] = P_m(x[j])."""
    for j in range(NODES):
        P[0, j], P[1, j] = 1.0, x[j]
    for m in range(1, NODES - 1):
        for j in range(NODES):
            P[m + 1, j] = ((2 * m + 1) * x[j] * P[m, j] - m * P[m - 1, j]) / (m + 1)


@loop
def predict(method: CollocationMethod, before: StepBefore, sweeps: NodeSweeps, h):
    """F at the nodes of a step from the polynomial of the step before.

    Continued beyond its step, the terms of the polynomial grow with their degree; those after the
    smallest one are noise, and are left out.
    """
    P, weights, x = sweeps.tables[0], sweeps.tables[1], sweeps.tables[2, 0]
    past, zeros = before.numbers, sweeps.zeros
    ratio = h / past[LENGTH]
    for j in range(NODES):
        x[j] = 2.0 * (past[ORIGIN] + ratio * method.nodes[j]) - 1.0
    legendre(x, P)
    degree, least = NODES, np.inf
    for m in range(NODES):
        term = past[SPECTRUM + m] * abs(P[m, NODES - 1])
        if m > 1 and term < least:
            degree, least = m + 1, term
    for m in range(degree, NODES):
        for j in range(NODES):
            P[m, j] = 0.0
    mix(weights, P, method.analysis, 1.0, zeros, 0, NODES)
    mix(sweeps.F, weights, before.F, 1.0, zeros, 0, sweeps.F.shape[0])


@inlined
def velocities(method: CollocationMethod, Y, F, y, h, nq):
    """V = v + h A v̇."""
    mix(Y[nq:], method.integral, F[nq:], h, y[nq:], 0, y.shape[0] - nq)


@inlined
def positions(equations: LoopEquations, method: CollocationMethod, Y, G, y, h, t):
    """G = q̇ at Q and V, then Q = q + h A q̇; without a kernel of rates, q̇ = V."""
    nq = equations.nq
    if method.kernels[1] == 0:
        mix(Y, method.integral, Y[nq:], h, y, 0, nq)
    else:
        call(method.kernels[1], Y, part(Y, nq), t, equations.parameters, G, equations.work)
        mix(Y, method.integral, G, h, y, 0, nq)


@inlined
def node_pivots(equations: LoopEquations, method: CollocationMethod, Y, t, out, pivots):
    """Out = states after one correction onto the constraints, and the pivots, at all nodes."""
    nq = equations.nq
    call(
        method.kernels[2],
        *(Y, part(Y, nq), t, equations.parameters, out, part(out, nq), pivots, equations.work),
    )


@loop
def accelerations_near(
    equations: LoopEquations, method: CollocationMethod, Y, G, t, projected, pivots
):
    """As below, at projected states; the second correction takes the factor at the first."""
    a, b = projected[0], projected[1]
    node_pivots(equations, method, Y, t, a, pivots)
    node_pivots(equations, method, a, t, b, pivots)
    accelerations(equations, method, b, G, t)


@inlined
def accelerations(equations: LoopEquations, method: CollocationMethod, Y, G, t):
    """G = v̇ at the nodes."""
    nq = equations.nq
    call(
        method.kernels[0],
        *(Y, part(Y, nq), t, equations.parameters, part(G, nq), equations.work),
    )


@inlined
def estimate(method: CollocationMethod, past, sweeps: NodeSweeps, F, first):
    """Error of the states within the step, in units of the tolerance; the spectrum is kept.

    The coefficients of smooth functions fall by the same factor from one to the next but for odd
    and even ones apart, so that the first one left out follows from the last two pairs. Entries
    from `first` on are looked at.
    """
    n, total = F.shape[0], sweeps.total
    spread(total, method.analysis, F, sweeps.part_of, first, n)
    for m in range(NODES):
        past[SPECTRUM + m] = np.sqrt(total[m] / n)
    low = total[NODES - 4] + total[NODES - 3]
    high = total[NODES - 2] + total[NODES - 1]
    if not high > 0.0:
        return high
    fall = min(1.0, np.sqrt(np.sqrt(high / low))) if low > 0.0 else 1.0
    return WITHIN * np.sqrt(high / n) * fall * np.sqrt(fall)


@inlined
def sweep(
    equations: LoopEquations, method: CollocationMethod, sweeps: NodeSweeps, F, G, y, h, is_near
):
    """G from F: velocities, positions, and accelerations there."""
    velocities(method, sweeps.Y, F, y, h, equations.nq)
    positions(equations, method, sweeps.Y, G, y, h, sweeps.times)
    if is_near:
        accelerations_near(
            equations, method, sweeps.Y, G, sweeps.times, sweeps.projected, sweeps.pivots
        )
    else:
        accelerations(equations, method, sweeps.Y, G, sweeps.times)


@inlined
def sweep_error(sweeps: NodeSweeps, F, G, first):
    """How much a sweep has changed the derivatives, root mean square in units of the tolerance."""
    n = F.shape[0]
    change(sweeps.total, F, G, sweeps.part_of, first, n)
    squares = 0.0
    for j in range(NODES):
        squares += sweeps.total[j]
    scale = 1.0 / (NODES * (n - first))
    return np.sqrt(scale * squares)


@loop
def solve(
    equations: LoopEquations, method: CollocationMethod, before: StepBefore, sweeps: NodeSweeps, y,
    h, is_near, fixed, tolerance,
):  # fmt: skip
    """Sweep until F is right to a part of the tolerance; how that went, and after how many.

    Where `is_near`, accelerations are taken at projected states.

    The result is in F after an even number of sweeps, in G after an odd one.
    """
    past, F, G = before.numbers, sweeps.F, sweeps.G
    plain = method.kernels[1] == 0
    first = equations.nq if plain else 0
    expected = min(SLOWEST, max(past[RATE] * h / past[LENGTH], LOWEST_RATE))
    rate, last, begun = expected, np.inf, np.inf
    if not plain:
        mix(sweeps.Y, method.integral, F, h, y, 0, equations.nq)
    for k in range(1, (FIXED_SWEEPS if fixed else SWEEPS) + 1):
        sweep(equations, method, sweeps, F, G, y, h, is_near)
        error = sweep_error(sweeps, F, G, first)
        F, G = G, F
        if not error < np.inf:
            return UNDEFINED, k
        if k == 1:
            begun = error
        elif error >= last:
            if error < max(LEFT, ROUNDING / tolerance):  # nothing but that is left
                return CONVERGED, k
            if k > 2:
                return DIVERGED, k
            rate = STALLED
        else:
            # What converges fast may hide what does not: slower than before is believed at once,
            # faster by and by.
            rate = max(error / last, expected)
        if error * rate <= LEFT * (1.0 - rate):
            mean = LOWEST_RATE if k == 1 else max(error / begun, 1e-300) ** (1.0 / (k - 1))
            past[RATE] = max(mean, expected * (FORGET if k > 2 else FORGET_SOON))
            return CONVERGED, k
        last = error
        # Where sweeps converge, the polynomial is soon near enough to decide whether it will do.
        if k == EARLY and rate < SURE and not fixed and not is_near:
            if estimate(method, past, sweeps, F, first) > FAR:
                return TOO_LONG, k
    return DIVERGED, FIXED_SWEEPS if fixed else SWEEPS


@inlined
def finish(equations: LoopEquations, method: CollocationMethod, sweeps: NodeSweeps, F, y, h):
    """The rates of the coordinates that belong to the accelerations of the last sweep."""
    nq, Y = equations.nq, sweeps.Y
    velocities(method, Y, F, y, h, nq)
    if method.kernels[1] == 0:
        for i in range(nq):
            for j in range(NODES):
                F[i, j] = Y[nq + i, j]
    else:
        call(
            method.kernels[1],
            *(Y, part(Y, nq), sweeps.times, equations.parameters, F, equations.work),
        )


@loop
def between(theta, F, y, h, analysis, tables, out):
    """The state at θ within the step: y + h ∫₀^θ f."""
    P, weights, x = tables[0], tables[1, 0], 2.0 * theta - 1.0
    before, value = 1.0, x
    P[0, 0] = 0.5 * (x + 1.0)
    for m in range(1, NODES):
        after = ((2 * m + 1) * x * value - m * before) / (m + 1)
        P[0, m] = 0.5 * (after - before) / (2 * m + 1)
        before, value = value, after
    for k in range(NODES):
        total = 0.0
        for m in range(NODES):
            total += analysis[k, m] * P[0, m]
        weights[k] = h * total
    for i in range(y.shape[0]):
        total = 0.0
        for k in range(NODES):
            total += weights[k] * F[i, k]
        out[i, 0] = y[i, 0] + total
