"""Integrators: the length of the first step, and how it changes from one to the next."""

from __future__ import annotations

import numpy as np

from zwang.codegen.jit import inlined, loop
from zwang.codegen.simd import side_by_side
from zwang.integrators.memory import EVALUATIONS, GROWTH, PI_BETA, SAFETY, SHRINK, H, T
from zwang.integrators.projection import evaluate, size_of
from zwang.integrators.records import LoopChoices, LoopEquations, LoopMemory

__all__ = ["begin_step", "change_of_step", "first_step"]

# A first step is no shorter, in parts of the time and of what is ahead. Where derivatives overflow,
# the rule that chooses it asks for a step of no length, which would be accepted for ever.
SHORTEST_FIRST = 1e-15


@inlined
def change_of_step(logarithm, before, order):
    """By how much h may change after an accepted step: error^(0.75 β − 1/order) before^β.

    Proportional and integral control; of both errors the logarithm is given.
    """
    slope = 0.75 * PI_BETA - 1.0 / order
    factor = SAFETY * np.exp(slope * logarithm + PI_BETA * before)
    return min(GROWTH, max(SHRINK, factor))


@loop
def first_step(equations: LoopEquations, y, t, k0, choices: LoopChoices, order, span, h):
    """A first h for each lane (Hairer, Nørsett & Wanner II.4), and k0 the derivative at y.

    `span` is the longest first step of each lane.
    """
    n, lanes = y.shape[0], equations.lanes
    tolerance, entry_sizes = choices.tolerance, choices.entry_sizes
    evaluate(equations, y, t, k0)
    trial, k1, t1 = np.empty_like(y), np.empty_like(y), np.empty_like(t)
    for lane in side_by_side(lanes):
        d0 = d1 = 0.0
        for i in range(n):
            sc = tolerance * size_of(entry_sizes, i, abs(y[i, lane]), lane)
            d0 += (y[i, lane] / sc) ** 2
            d1 += (k0[i, lane] / sc) ** 2
        d0, d1 = np.sqrt(d0 / n), np.sqrt(d1 / n)
        first = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
        least = SHORTEST_FIRST * (abs(t[0, lane]) + span[lane])
        h[lane] = min(max(least, first), span[lane])  # in this order NaN gives the least
        t1[0, lane] = t[0, lane] + h[lane]
        for i in range(n):
            trial[i, lane] = y[i, lane] + h[lane] * k0[i, lane]
    evaluate(equations, trial, t1, k1)
    for lane in side_by_side(lanes):
        d1 = d2 = 0.0
        for i in range(n):
            sc = tolerance * size_of(entry_sizes, i, abs(y[i, lane]), lane)
            d1 += (k0[i, lane] / sc) ** 2
            d2 += ((k1[i, lane] - k0[i, lane]) / sc) ** 2
        d1, d2 = np.sqrt(d1 / n), np.sqrt(d2 / n) / h[lane]
        top = max(d1, d2)
        better = max(1e-6, h[lane] * 1e-3) if not top > 1e-15 else (0.01 / top) ** (1.0 / order)
        least = SHORTEST_FIRST * (abs(t[0, lane]) + span[lane])
        h[lane] = min(100.0 * h[lane], max(least, better), span[lane])


@loop
def begin_step(equations: LoopEquations, memory: LoopMemory, k0, choices: LoopChoices, order):
    """`first_step` for a loop that begins: what it remembers and counts."""
    real, count = memory.real, memory.counts
    span = np.empty(len(equations.lanes))
    for lane in range(len(equations.lanes)):
        span[lane] = min(choices.until - real[T, lane], choices.largest)
        count[EVALUATIONS, lane] += 2
    first_step(equations, memory.y, real[T : T + 1], k0, choices, order, span, real[H])
