"""Collocation: events, and positions where constraint rows lose rank, within a step.

Such steps are long, but the states at their nodes are known as well as those at their ends. So the
parts between nodes are looked at as other methods look at their steps.
"""

from __future__ import annotations

import numpy as np

from zwang.codegen.jit import inlined, loop
from zwang.integrators.collocation.records import FIRST, POINT, CollocationStep, NodeSweeps
from zwang.integrators.event_detection import changed, dips_between, event_functions
from zwang.integrators.memory import APPROACHES, DEFICIT, SAVED
from zwang.integrators.projection import evaluate, pivot_of
from zwang.integrators.rank_loss import (
    expect,
    foresee,
    foreseeable,
    least_pivot,
    look_closer,
    may_pass,
    remember,
)
from zwang.integrators.records import (
    EventMemory,
    LoopEquations,
    LoopMemory,
    OutputBuffers,
    RankRoom,
    StepEnds,
)

__all__ = ["crosses", "watch"]


@loop
def column(array, j, out):
    """The state or the derivative at a node."""
    for i in range(out.shape[0]):
        out[i, 0] = array[i, j]


@loop
def crosses(
    equations: LoopEquations, events: EventMemory, sweeps: NodeSweeps, step: CollocationStep,
    moment, accepted,
):  # fmt: skip
    """Whether an event function changes its sign within a step or at its end.

    Writes the values at the new point to events.new.
    """
    found, nodes, functions = False, sweeps.Y.shape[1], equations.event_functions
    state, new, at = step.x[FIRST], step.x[POINT], sweeps.times
    values, times = np.empty(((nodes + 2) * functions, 1)), np.empty((nodes + 2, 1))
    times[0, 0], times[nodes + 1, 0] = step.start[0, 0], step.end[0, 0]
    for k in range(functions):
        values[k, 0] = events.values[k, 0]
    for j in range(nodes):
        column(sweeps.Y, j, state)
        moment[0, 0] = at[0, j]
        event_functions(equations, state, moment, events.new)
        found = found or changed(events, accepted, equations.lanes)
        times[j + 1, 0] = at[0, j]
        for k in range(functions):
            values[(j + 1) * functions + k, 0] = events.new[k, 0]
    event_functions(equations, new, step.end, events.new)
    for k in range(functions):
        values[(nodes + 1) * functions + k, 0] = events.new[k, 0]
    found = found or changed(events, accepted, equations.lanes)
    return found or dips_between(times, values, nodes + 2, functions, 0)


@inlined
def least_pivots(pivots, rows, dependent, leasts):
    """`least_pivot` at each node, rows by rows where none is dependent."""
    nodes = pivots.shape[1]
    for j in range(nodes):
        leasts[j] = np.inf if dependent == 0 else least_pivot(pivots, rows, dependent, j)
    if dependent == 0:
        for k in range(rows):
            for j in range(nodes):
                leasts[j] = min(leasts[j], pivot_of(pivots, k, rows, j))


@inlined
def ends_of_part(
    equations: LoopEquations, memory: LoopMemory, sweeps: NodeSweeps, step: CollocationStep, F, x,
    j, ended,
):  # fmt: skip
    """Write the ends of the part before node j to x, with derivatives; the last one if `ended`."""
    if j == 0:
        column(memory.y, 0, x[0])
        evaluate(equations, memory.y, step.start, x[1])
    else:
        column(sweeps.Y, j - 1, x[0])
        column(F, j - 1, x[1])
    if ended:
        column(step.x[POINT], 0, x[2])
        evaluate(equations, step.x[POINT], step.end, x[3])
    else:
        column(sweeps.Y, j, x[2])
        column(F, j, x[3])


@inlined
def foresee_from_half(
    equations: LoopEquations, memory: LoopMemory, sweeps: NodeSweeps, step: CollocationStep, F,
    leasts, passed, x, room: RankRoom,
):  # fmt: skip
    """What is ahead of the step, from its second half, if that is on this side of it."""
    nodes = sweeps.Y.shape[1]
    half = nodes // 2
    t0, t1 = sweeps.times[0, half], step.end[0, 0]
    expect(memory, leasts[half], leasts[nodes], passed >= half, t0, t1, 0)
    if foreseeable(memory.real, t0, t1, 0):
        column(sweeps.Y, half, x[0])
        column(F, half, x[1])
        column(step.x[POINT], 0, x[2])
        evaluate(equations, step.x[POINT], step.end, x[3])
        foresee(equations, memory, StepEnds(x[0], x[1], x[2], x[3], t0, t1), room, 0)


@loop
def watch(
    equations: LoopEquations, memory: LoopMemory, output: OutputBuffers, sweeps: NodeSweeps,
    step: CollocationStep, F, pivots, deficit, after, last,
):  # fmt: skip
    """Log changes of rank within an accepted step or at its end; whether rank was lost.

    Parameters
    ----------
    F : derivatives at the nodes.
    deficit, after : rows that are dependent at the end, and the least pivot of the others there.
    """
    count, x, rows = memory.counts, step.x[FIRST:], equations.rows
    nodes, lost = sweeps.Y.shape[1], False
    room = RankRoom(x[4:], memory.real[SAVED : SAVED + 1], pivots)
    for k in range(3 * rows, 4 * rows):  # the sizes of late that pivots are relative to
        for j in range(nodes):
            sweeps.pivots[k, j] = pivots[k, 0]
    leasts = np.empty(nodes + 1)
    counted, passed, approaches = -1, -1, count[APPROACHES, 0]
    for j in range(nodes + 1):
        known = count[DEFICIT, 0]
        if known != counted:
            least_pivots(sweeps.pivots, rows, known, leasts)
            leasts[nodes], counted = after, known
        ended, least = j == nodes, leasts[j]
        dependent = deficit if ended else known
        t0 = step.start[0, 0] if j == 0 else sweeps.times[0, j - 1]
        t1 = step.end[0, 0] if ended else sweeps.times[0, j]
        # What falls until the next node has no minimum before this one.
        falls = not ended and leasts[min(j + 1, nodes)] < least
        if dependent == known and (falls or not may_pass(memory, least, 0)):
            remember(memory, dependent, least, 0, t0, t1, 0)
            continue
        ends_of_part(equations, memory, sweeps, step, F, x, j, ended)
        found = look_closer(
            *(equations, memory, StepEnds(x[0], x[1], x[2], x[3], t0, t1)),
            *(dependent, least, last and ended, output, room, 0),
        )
        if found:
            lost, passed = True, j
    count[APPROACHES, 0] = approaches
    foresee_from_half(equations, memory, sweeps, step, F, leasts, passed, x, room)
    return lost
