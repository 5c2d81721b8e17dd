"""What happens within a collocation step: events, and positions where constraint rows lose rank.

Such steps are long, but the states at their nodes are known as well as those at their ends. So the
parts between nodes are looked at as other methods look at their steps.
"""

from __future__ import annotations

import numpy as np

from zwang.codegen.call import call, part
from zwang.codegen.jit import inlined, loop
from zwang.integrators.event_detection import changed, dips_between
from zwang.integrators.memory import APPROACHES, DEFICIT, evaluate, pivot_of
from zwang.integrators.rank_loss import (
    expect,
    foresee,
    foreseeable,
    least_pivot,
    look_closer,
    may_pass,
    remember,
)

__all__ = ["crosses", "watch"]


@loop
def column(array, j, out):
    """The state or the derivative at a node."""
    for i in range(out.shape[0]):
        out[i, 0] = array[i, j]


@loop
def crosses(
    kernels, Y, at, new, start, ts, p, g, g_new, state, moment, accepted, work, nq, events, lanes,
):  # fmt: skip
    """Whether an event function changes its sign within a step or at its end.

    Writes the values at the new point to g_new.
    """
    found, nodes = False, Y.shape[1]
    values, times = np.empty(((nodes + 2) * events, 1)), np.empty((nodes + 2, 1))
    times[0, 0], times[nodes + 1, 0] = start, ts[0, 0]
    for k in range(events):
        values[k, 0] = g[k, 0]
    for j in range(nodes):
        column(Y, j, state)
        moment[0, 0] = at[0, j]
        call(kernels[3], state, part(state, nq), moment, p, g_new, work)
        found = found or changed(g, g_new, accepted, events, lanes)
        times[j + 1, 0] = at[0, j]
        for k in range(events):
            values[(j + 1) * events + k, 0] = g_new[k, 0]
    call(kernels[3], new, part(new, nq), ts, p, g_new, work)
    for k in range(events):
        values[(nodes + 1) * events + k, 0] = g_new[k, 0]
    found = found or changed(g, g_new, accepted, events, lanes)
    return found or dips_between(times, values, nodes + 2, events, 0)


@inlined
def least_pivots(node_pivots, rows, dependent, leasts):
    """`least_pivot` at each node, rows by rows where none is dependent."""
    nodes = node_pivots.shape[1]
    for j in range(nodes):
        leasts[j] = np.inf if dependent == 0 else least_pivot(node_pivots, rows, dependent, j)
    if dependent == 0:
        for k in range(rows):
            for j in range(nodes):
                leasts[j] = min(leasts[j], pivot_of(node_pivots, k, rows, j))


@loop
def watch(
    kernels, Y, F, at, node_pivots, y, new, start, ts, p, x, moment, pivots, work, nq, rows, real,
    count, deficit, after, last, log, log_rows,
):  # fmt: skip
    """Log changes of rank within an accepted step or at its end; whether rank was lost.

    Parameters
    ----------
    node_pivots : pivots and sizes of rows at the nodes, as those at the end.
    x : four vectors like y for the ends of a part and their derivatives, and two to work with.
    deficit, after : rows that are dependent at the end, and the least pivot of the others there.
    """
    nodes, lost = Y.shape[1], False
    for k in range(3 * rows, 4 * rows):  # the sizes of late that pivots are relative to
        for j in range(nodes):
            node_pivots[k, j] = pivots[k, 0]
    leasts = np.empty(nodes + 1)
    counted, passed, approaches = -1, -1, count[APPROACHES, 0]
    for j in range(nodes + 1):
        known = count[DEFICIT, 0]
        if known != counted:
            least_pivots(node_pivots, rows, known, leasts)
            leasts[nodes], counted = after, known
        ended, least = j == nodes, leasts[j]
        dependent = deficit if ended else known
        t0 = start[0, 0] if j == 0 else at[0, j - 1]
        t1 = ts[0, 0] if ended else at[0, j]
        # What falls until the next node has no minimum before this one.
        falls = not ended and leasts[min(j + 1, nodes)] < least
        if dependent == known and (falls or not may_pass(real, count, least, 0)):
            remember(real, count, dependent, least, 0, t0, t1, 0)
            continue
        if j == 0:
            column(y, 0, x[0])
            evaluate(kernels, y, start, p, x[1], work, nq)
        else:
            column(Y, j - 1, x[0])
            column(F, j - 1, x[1])
        if ended:
            column(new, 0, x[2])
            evaluate(kernels, new, ts, p, x[3], work, nq)
        else:
            column(Y, j, x[2])
            column(F, j, x[3])
        found = look_closer(
            kernels, x[0], x[1], x[2], x[3], t0, t1, p, x[4:], moment, pivots, work, nq, rows, real,
            count, dependent, least, last and ended, log, log_rows, 0,
        )  # fmt: skip
        if found:
            lost, passed = True, j
    # What is ahead of the step is told from its second half, if that is on this side of it.
    half = nodes // 2
    count[APPROACHES, 0] = approaches
    ends = at[0, half], ts[0, 0]
    expect(real, count, leasts[half], leasts[nodes], passed >= half, *ends, 0)
    if foreseeable(real, *ends, 0):
        column(Y, half, x[0])
        column(F, half, x[1])
        column(new, 0, x[2])
        evaluate(kernels, new, ts, p, x[3], work, nq)
        foresee(
            *(kernels, x[0], x[1], x[2], x[3], *ends, p, x[4:], moment, pivots, work, nq, rows),
            *(real, count, 0),
        )
    return lost
