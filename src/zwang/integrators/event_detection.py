"""Event detection within a step of the compiled integrators.

Steps are long where the motion is smooth, and a function of it may cross zero and come back within
one. So its sign is looked at not only at the end of a step but at points in between as well; and
where three points in a row show an extremum at zero or beyond, between them, that counts too. Where
exactly it crosses, and whether, is determined afterwards, from states that are integrated to there.
"""

from __future__ import annotations

import numpy as np

from zwang.codegen.call import call, part
from zwang.codegen.jit import inlined, loop
from zwang.integrators.records import EVENTS, EventMemory, LoopEquations

__all__ = ["PARTS", "changed", "crosses", "dips", "dips_between", "event_functions"]

#: Parts of a step at whose ends the signs of event functions are looked at.
PARTS = 8

#: An extremum as near to zero as this part of what the function changes by next to it may lie
#: beyond it: a parabola through three values misses it by less where the motion is smooth.
NEARLY = 0.1


@inlined
def dips(t0, t1, t2, g0, g1, g2):
    """Whether the parabola through three values of one sign has its extremum at zero or beyond.

    Or nearly so, and within t0 < t < t2: with the slopes s₀ = [g₀, g₁], s₁ = [g₁, g₂] and the
    curvature c = [g₀, g₁, g₂] it lies at t* = (t₀ + t₁)/2 − s₀/2c.
    """
    first = (g1 - g0) / (t1 - t0)
    second = (g2 - g1) / (t2 - t1)
    curvature = (second - first) / (t2 - t0)
    if g0 * g1 <= 0.0 or g1 * g2 <= 0.0 or curvature * g1 <= 0.0:
        return False
    at = 0.5 * (t0 + t1 - first / curvature)
    if not t0 < at < t2:
        return False
    least = g0 + (at - t0) * (first + curvature * (at - t1))
    swing = max(abs(g0), abs(g2)) - min(abs(g1), abs(least))
    return least * g1 <= 0.0 or abs(least) <= NEARLY * swing


@inlined
def dips_between(times, values, points, events, lane):
    """Whether one of the functions (points × events) may touch zero between the times."""
    found = False
    for k in range(events):
        least, most = abs(values[k, lane]), abs(values[k, lane])
        for j in range(1, points):
            size = abs(values[j * events + k, lane])
            least, most = min(least, size), max(most, size)
        if 2.0 * least > most:  # no parabola reaches beyond its three points by what they span
            continue
        for j in range(points - 2):
            g0, g1 = values[j * events + k, lane], values[(j + 1) * events + k, lane]
            g2 = values[(j + 2) * events + k, lane]
            if dips(times[j, lane], times[j + 1, lane], times[j + 2, lane], g0, g1, g2):
                found = True
    return found


@inlined
def changed(events: EventMemory, accepted, lanes):
    """Whether a function has another sign than before in some lane, or is no number any more."""
    found = False
    for lane in range(len(lanes)):
        for k in range(events.new.shape[0]):
            was, value = events.values[k, lane], events.new[k, lane]
            lost = not abs(value) <= np.inf and abs(was) <= np.inf
            crossed = was * value < 0.0 or (value == 0.0 and was != 0.0)
            if accepted[lane] and (crossed or lost):
                found = True
    return found


@inlined
def event_functions(equations: LoopEquations, y, t, out):
    """Out = the event functions at y, all lanes."""
    call(
        equations.kernels[EVENTS],
        *(y, part(y, equations.nq), t, equations.parameters, out, equations.work),
    )


@inlined
def cubic_at(s, y, rate, new, new_rate, t, ts, state, moment, lane):
    """State and time at the part s of a step, on the cubic through both ends with their rates."""
    rest, h = 1.0 - s, ts[0, lane] - t[0, lane]
    moment[0, lane] = t[0, lane] + s * h
    for i in range(y.shape[0]):
        state[i, lane] = (
            y[i, lane]
            + s * s * (3.0 - 2.0 * s) * (new[i, lane] - y[i, lane])
            + h * s * rest * (rest * rate[i, lane] - s * new_rate[i, lane])
        )


@loop
def crosses(
    equations: LoopEquations, events: EventMemory, y, rate, new, new_rate, t, ts, accepted, state,
    moment,
):  # fmt: skip
    """Whether a function changes its sign from y at t to `new` at ts, or does so in between.

    In between, states are those of the cubic through both ends with their rates: near enough to
    see signs. Writes the values at `new` to events.new; `state` and `moment` are to work with.
    """
    lanes, functions = equations.lanes, equations.event_functions
    event_functions(equations, new, ts, events.new)
    if changed(events, accepted, lanes):
        return True
    values = np.empty(((PARTS + 1) * functions, len(lanes)))
    times = np.empty((PARTS + 1, len(lanes)))
    for lane in range(len(lanes)):
        times[0, lane], times[PARTS, lane] = t[0, lane], ts[0, lane]
        for j in range(functions):
            values[j, lane] = events.values[j, lane]
            values[PARTS * functions + j, lane] = events.new[j, lane]
    for k in range(1, PARTS):
        for lane in range(len(lanes)):
            cubic_at(k / PARTS, y, rate, new, new_rate, t, ts, state, moment, lane)
        event_functions(equations, state, moment, events.new)
        if changed(events, accepted, lanes):
            event_functions(equations, new, ts, events.new)
            return True
        for lane in range(len(lanes)):
            times[k, lane] = moment[0, lane]
            for j in range(functions):
                values[k * functions + j, lane] = events.new[j, lane]
    event_functions(equations, new, ts, events.new)
    for lane in range(len(lanes)):
        if accepted[lane] and dips_between(times, values, PARTS + 1, functions, lane):
            return True
    return False
