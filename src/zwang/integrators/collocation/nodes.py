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

__all__ = [
    "CONVERGED",
    "DIVERGED",
    "LAST",
    "LENGTH",
    "LOWEST_RATE",
    "ORIGIN",
    "PAST",
    "RATE",
    "SPECTRUM",
    "TOO_LONG",
    "UNDEFINED",
    "between",
    "estimate",
    "finish",
    "predict",
    "solve",
]

# What is remembered of the step before: its length, where in it the present step begins (0 or 1),
# the rate at which its sweeps converged, the length of the last accepted step, and the sizes of the
# coefficients of its polynomial.
LENGTH, ORIGIN, RATE, LAST, SPECTRUM = 0, 1, 2, 3, 4
PAST = SPECTRUM + NODES

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
def predict(F, kept, past, h, nodes, analysis, tables, zeros, n):
    """F at the nodes of a step from the polynomial of the step before.

    Continued beyond its step, the terms of the polynomial grow with their degree; those after the
    smallest one are noise, and are left out.
    """
    P, weights, x = tables[0], tables[1], tables[2, 0]
    ratio = h / past[LENGTH]
    for j in range(NODES):
        x[j] = 2.0 * (past[ORIGIN] + ratio * nodes[j]) - 1.0
    legendre(x, P)
    degree, least = NODES, np.inf
    for m in range(NODES):
        term = past[SPECTRUM + m] * abs(P[m, NODES - 1])
        if m > 1 and term < least:
            degree, least = m + 1, term
    for m in range(degree, NODES):
        for j in range(NODES):
            P[m, j] = 0.0
    mix(weights, P, analysis, 1.0, zeros, 0, NODES)
    mix(F, weights, kept, 1.0, zeros, 0, n)


@inlined
def velocities(Y, F, y, h, integral, nq, n):
    """V = v + h A v̇."""
    mix(Y[nq:], integral, F[nq:], h, y[nq:], 0, n - nq)


@inlined
def positions(kernels, Y, G, y, h, t, p, integral, work, nq):
    """G = q̇ at Q and V, then Q = q + h A q̇; without a kernel of rates, q̇ = V."""
    if kernels[1] == 0:
        mix(Y, integral, Y[nq:], h, y, 0, nq)
    else:
        call(kernels[1], Y, part(Y, nq), t, p, G, work)
        mix(Y, integral, G, h, y, 0, nq)


@loop
def accelerations_near(kernels, Y, G, t, p, near, pivots, work, nq):
    """As below, at projected states; the second correction takes the factor at the first."""
    a, b = near[0], near[1]
    call(kernels[2], Y, part(Y, nq), t, p, a, part(a, nq), pivots, work)
    call(kernels[2], a, part(a, nq), t, p, b, part(b, nq), pivots, work)
    call(kernels[0], b, part(b, nq), t, p, part(G, nq), work)


@inlined
def accelerations(kernels, Y, G, t, p, work, nq):
    """G = v̇ at the nodes."""
    call(kernels[0], Y, part(Y, nq), t, p, part(G, nq), work)


@inlined
def estimate(F, analysis, size, past, total, first):
    """Error of the states within the step, in units of the tolerance; the spectrum is kept.

    The coefficients of smooth functions fall by the same factor from one to the next but for odd
    and even ones apart, so that the first one left out follows from the last two pairs. Entries
    from `first` on are looked at.
    """
    n = F.shape[0]
    spread(total, analysis, F, size, first, n)
    for m in range(NODES):
        past[SPECTRUM + m] = np.sqrt(total[m] / n)
    low = total[NODES - 4] + total[NODES - 3]
    high = total[NODES - 2] + total[NODES - 1]
    if not high > 0.0:
        return high
    fall = min(1.0, np.sqrt(np.sqrt(high / low))) if low > 0.0 else 1.0
    return WITHIN * np.sqrt(high / n) * fall * np.sqrt(fall)


@loop
def solve(
    kernels, Y, F, G, y, h, t, p, integral, analysis, size, past, total, is_near, near, pivots,
    work, nq, fixed, tolerance,
):  # fmt: skip
    """Sweep until F is right to a part of the tolerance; how that went, and after how many.

    Where `is_near`, accelerations are taken at projected states; `near` is room for two like Y.

    The result is in F after an even number of sweeps, in G after an odd one.
    """
    n = y.shape[0]
    plain = kernels[1] == 0
    first = nq if plain else 0
    expected = min(SLOWEST, max(past[RATE] * h / past[LENGTH], LOWEST_RATE))
    rate, before, begun = expected, np.inf, np.inf
    scale = 1.0 / (NODES * (n - first))
    if not plain:
        mix(Y, integral, F, h, y, 0, nq)
    for k in range(1, (FIXED_SWEEPS if fixed else SWEEPS) + 1):
        velocities(Y, F, y, h, integral, nq, n)
        positions(kernels, Y, G, y, h, t, p, integral, work, nq)
        if is_near:
            accelerations_near(kernels, Y, G, t, p, near, pivots, work, nq)
        else:
            accelerations(kernels, Y, G, t, p, work, nq)
        change(total, F, G, size, first, n)
        squares = 0.0
        for j in range(NODES):
            squares += total[j]
        error = np.sqrt(scale * squares)
        F, G = G, F
        if not error < np.inf:
            return UNDEFINED, k
        if k == 1:
            begun = error
        elif error >= before:
            if error < max(LEFT, ROUNDING / tolerance):  # nothing but that is left
                return CONVERGED, k
            if k > 2:
                return DIVERGED, k
            rate = STALLED
        else:
            # What converges fast may hide what does not: slower than before is believed at once,
            # faster by and by.
            rate = max(error / before, expected)
        if error * rate <= LEFT * (1.0 - rate):
            mean = LOWEST_RATE if k == 1 else max(error / begun, 1e-300) ** (1.0 / (k - 1))
            past[RATE] = max(mean, expected * (FORGET if k > 2 else FORGET_SOON))
            return CONVERGED, k
        before = error
        # Where sweeps converge, the polynomial is soon near enough to tell whether it will do.
        if k == EARLY and rate < SURE and not fixed and not is_near:
            if estimate(F, analysis, size, past, total, first) > FAR:
                return TOO_LONG, k
    return DIVERGED, FIXED_SWEEPS if fixed else SWEEPS


@inlined
def finish(kernels, Y, F, y, h, t, p, integral, work, nq):
    """The rates of the coordinates that belong to the accelerations found."""
    n = y.shape[0]
    velocities(Y, F, y, h, integral, nq, n)
    if kernels[1] == 0:
        for i in range(nq):
            for j in range(NODES):
                F[i, j] = Y[nq + i, j]
    else:
        call(kernels[1], Y, part(Y, nq), t, p, F, work)


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
