"""Collocation at Gauss's eight points, with error control, interpolation and projection.

One step of the loop:

1.  the nodes, by sweeps from the polynomial of the step before, see `nodes`; they do not
    converge: reject, with a smaller h;
2.  the error from the coefficients of the polynomial; too large: reject;
3.  project the new point onto φ = 0 and ψ = 0; no contraction: reject;
4.  save what lies within the step from the polynomial, projected;
5.  take the new point, and a new h from the error (proportional and integral control).

The error that is limited is that of the states within a step, of order 9 in h; at its end the order
is 17 and the error far smaller. Near singular positions the same is done as in `explicit`: they are
foreseen and passed between the nodes in the middle of a step, with accelerations at projected
nodes, as after a rejection until three steps were accepted.

One trajectory at a time, whose nodes are the lanes; its own arrays are [entry][0] as everywhere.
"""

from __future__ import annotations

import numpy as np

from zwang.codegen.call import call, part
from zwang.codegen.jit import inlined, loop
from zwang.codegen.node_sums import NODES
from zwang.integrators.collocation.events import crosses, watch
from zwang.integrators.collocation.nodes import (
    CONVERGED,
    DIVERGED,
    LAST,
    LENGTH,
    LOWEST_RATE,
    ORIGIN,
    RATE,
    TOO_LONG,
    UNDEFINED,
    WITHIN,
    between,
    estimate,
    finish,
    predict,
    solve,
)
from zwang.integrators.memory import (
    ACCEPTS,
    ACTIVE,
    AHEAD,
    AT_STABILITY,
    AVOIDED,
    BUDGET,
    DEFICIT,
    DONE,
    ERROR,
    EVALUATIONS,
    EVENT,
    FULL,
    GROWTH,
    LAST_STEP,
    LEAST_ERROR,
    NEAR,
    NEXT,
    NO_ERROR,
    NO_ROOT,
    NOT_FINITE,
    OFF_CONSTRAINTS,
    PARTS,
    PIVOT,
    REJECTED,
    SAVED,
    SHRINK,
    SINGULAR,
    STAGES_KEPT,
    TOO_SMALL,
    H,
    T,
    begin_step,
    keep_sizes,
    project_between,
    project_once,
    save,
    size_of,
)
from zwang.integrators.rank_loss import away, comes_near, placed, rounding, slowed
from zwang.integrators.step_control import (
    end_step,
    has_room,
    landed,
    next_step,
    note_events,
    shorten,
    wanted_step,
)

__all__ = ["ERROR_ORDER", "NODE_VECTORS", "advance", "begin"]

ERROR_ORDER = 9  # of the error within a step
SAFETY = 0.8  # its ninth power is what the error aims at: estimates vary, rejections are dear
LARGEST_ERROR = 1e6
WANTED_RATE = 0.12  # of convergence, which grows like h; longer steps cost as much in sweeps
ALONG = 0.1  # an error is one along the constraints if projecting leaves this part of it
FAR_BELOW = np.log(1e-4)  # an error that has not decided the step, its logarithm
DIVERGENCE = 0.5  # change of h where sweeps do not converge
# The same where nodes are projected already: one of them is too near a singular position. With a
# step that is hardly shorter it is another one, further away.
NEAR_DIVERGENCE = 0.8

ROUNDED = 0.99  # what an error counts as that is one of rounding
MIDDLE = NODES // 2  # the first node after the widest gap between them

# Vectors like y to work with: the new point, and six for whatever comes.
POINT, FIRST, SECOND, THIRD = 0, 1, 2, 3
VECTORS = 7
# Arrays [entry][node] to work with: states, derivatives before and after a sweep, projected states.
Y_, F_, G_, PROJECTED = 0, 1, 2, 3
NODE_VECTORS = 5


@inlined
def keep(kept, F, past, h, origin):
    """Let the next step begin with the polynomial of this one."""
    for i in range(F.shape[0]):
        for j in range(NODES):
            kept[i, j] = F[i, j]
    past[LENGTH], past[ORIGIN] = h, origin


@loop
def rise(F, y, h, weights, out):
    """The end of a step: out = y + h Σ b F."""
    for i in range(y.shape[0]):
        total = 0.0
        for j in range(NODES):
            total += weights[j] * F[i, j]
        out[i, 0] = y[i, 0] + h * total


@loop
def distance(a, b, part_of, h):
    """Root mean square of a − b in units of the tolerance."""
    total = 0.0
    for i in range(a.shape[0]):
        total += (part_of[i] * (a[i, 0] - b[i, 0])) ** 2
    return np.sqrt(total / a.shape[0]) / h


@loop
def agree(kernels, F, G, y, h, t, p, x, weights, part_of, pivots, work, nq, allowed):
    """Whether the last two sweeps end at one point of the constraints, to what is allowed.

    Near a singular position accelerations carry a large error of rounding across the constraints,
    along which the motion is hardly held there. At the end of the step it is held again, and the
    projection takes that error away; sweeps need not agree further than that.
    """
    rise(F, y, h, weights, x[POINT])
    rise(G, y, h, weights, x[THIRD])
    project_once(kernels, x[POINT], t, p, x[FIRST], pivots, work, nq)
    project_once(kernels, x[THIRD], t, p, x[SECOND], pivots, work, nq)
    return distance(x[FIRST], x[SECOND], part_of, h) < allowed


@loop
def share_along(kernels, F, y, h, t, p, x, weights, analysis, part_of, pivots, work, nq):
    """The part of the error that lies along the constraints and that projecting leaves.

    That of the last two coefficients of the polynomial, the larger one: along few free directions
    one of them is easily near zero by chance.
    """
    rise(F, y, h, weights, x[POINT])
    project_once(kernels, x[POINT], t, p, x[FIRST], pivots, work, nq)
    share = 0.0
    for m in range(NODES - 2, NODES):
        for i in range(y.shape[0]):
            total = 0.0
            for j in range(NODES):
                total += analysis[j, m] * F[i, j]
            x[SECOND, i, 0] = x[POINT, i, 0] + WITHIN * h * total
        full = distance(x[SECOND], x[POINT], part_of, h)
        project_once(kernels, x[SECOND], t, p, x[THIRD], pivots, work, nq)
        if full > 0.0:
            share = max(share, distance(x[THIRD], x[FIRST], part_of, h) / full)
    return min(share, 1.0)


@loop
def save_between(
    kernels, F, y, t, ts, h, p, x, project, real, count, times, out_t, out_y, filled, analysis,
    tables, onto, size, tolerance,
):  # fmt: skip
    """Save the states at times within the step from t to ts, from its polynomial, projected.

    `onto` is what `projected` takes beside state and time.
    """
    state, moment, k = x[SECOND], real[SAVED : SAVED + 1], count[NEXT, 0]
    while k < times.shape[0] and times[k] < ts:
        between((times[k] - t) / h, F, y, h, analysis, tables, state)
        if project:
            moment[0, 0] = times[k]
            project_between(kernels, state, x[THIRD], moment, p, onto, size, tolerance, 0)
        save(times[k], state, out_t, out_y, filled, 0)
        k += 1
    count[NEXT, 0] = k


@inlined
def clear(array):
    """All entries of an array (rows, columns) zero."""
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            array[i, j] = 0.0


@loop
def begin(
    kernels, y, real, count, p, kept, past, work, nq, tolerance, size, until, h_max, lanes
):  # fmt: skip
    """A first h; the derivative at y stands for those at the nodes of a step before."""
    derivative = np.empty_like(y)
    begin_step(
        kernels, y, real, count, p, derivative, work, nq, tolerance, size, ERROR_ORDER, until,
        h_max, lanes,
    )  # fmt: skip
    for i in range(y.shape[0]):
        for j in range(NODES):
            kept[i, j] = derivative[i, 0]
    for k in range(past.shape[0]):
        past[k] = 0.0
    past[LENGTH] = past[LAST] = real[H, 0]
    past[RATE] = LOWEST_RATE


@loop
def advance(
    kernels,  # addresses: derivative, project, residual, events
    sizes,  # nq, position rows, residual rows, event functions
    y,  # state (n, 1)
    p,  # parameters (np, 1)
    real,  # REALS × 1
    count,  # COUNTS × 1
    node_kernels,  # addresses for nodes: acceleration, rates or 0, project or 0
    kept,  # derivatives at the nodes of the last step (n, NODES)
    past,  # what is remembered of it, see `nodes`
    coefficients,  # nodes, weights, integral, analysis
    tolerance,
    size,  # absolute size of each entry of y, and the share of |y| that adds to it (2, n, 1)
    until,
    limits,  # smallest h, largest h, fixed h or 0
    options,  # project?, save every step?, look for events?, stop where rank is lost?
    times,  # times to save at
    out_t,  # saved times (1, rows)
    out_y,  # saved states (1, rows, n)
    filled,  # rows filled (1,)
    rank_log,  # (rows, LOG + n, 1): each change of rank and the state there, see `rank_loss`
    rank_rows,  # rows filled (1,)
    event_values,  # g at y (events, 1)
    event_before,  # g at the start of the last step
    previous,  # time and state at the start of the last step, for events
    at_nodes,  # NODE_VECTORS arrays (n, NODES) to work with
    tables,  # (4, NODES, NODES) to work with
    pivots,  # of the position rows and their sizes, see `memory` (PARTS · rows, 1)
    atol,  # absolute part of the tolerance (n,)
    work,
    budget,
    lanes,
):
    """Run until `until`, or until a buffer is full, the budget is used up or an event is met."""
    n, nq, events = y.shape[0], sizes[0], sizes[3]
    project, every_step, watch_events, stop = options
    nodes, weights, integral, analysis = coefficients
    fixed = limits[2] > 0.0
    logs = NODES + 1 if project and sizes[1] else 0  # changes of rank that a step may log
    x, part_of = np.empty((VECTORS, n, 1)), np.empty(n)  # what an error counts as, times h
    zeros, node_pivots = np.empty((max(n, NODES), 1)), np.empty((PARTS * max(sizes[1], 1), NODES))
    clear(zeros)
    clear(node_pivots)
    ratio, g_new = np.empty((max(sizes[2], 1), 1)), np.empty((max(events, 1), 1))
    start, ts = np.empty((1, 1)), np.empty((1, 1))
    ok, before, settled = np.empty(1, np.bool_), np.empty(1), np.empty(1, np.bool_)
    onto = (pivots, ratio, work, nq, atol, ok, before, settled, x[FIRST], lanes)
    point, at, total = x[POINT], tables[3, 0:1], tables[3, 1]
    Y, first, second, near = at_nodes[Y_], at_nodes[F_], at_nodes[G_], at_nodes[PROJECTED:]
    for _ in range(budget):
        if not count[ACTIVE, 0]:
            return DONE
        t = real[T, 0]
        h, short, allowed = wanted_step(real, limits), False, 1.0
        is_near = count[NEAR, 0] > 0 or slowed(real, count, 0)
        if not fixed and comes_near(h, real, 0):
            gap = nodes[MIDDLE - 1], nodes[MIDDLE]
            short, h = placed(h, real, gap, nodes, NODES - 1, not fixed, 0)
            is_near = is_near or real[AHEAD, 0] < t + h
        if is_near:
            allowed = max(allowed, rounding(real[PIVOT, 0], tolerance))
        h, end, last = next_step(real, h, until, LAST_STEP)
        if not end > t:
            return TOO_SMALL
        if not has_room(end, count, times, out_t, filled, logs, rank_log, rank_rows):
            return FULL

        # nodes
        for j in range(NODES):
            at[0, j] = t + nodes[j] * h
        for i in range(n):
            part_of[i] = h / (tolerance * size_of(size, i, abs(y[i, 0]), 0))
        predict(first, kept, past, h, nodes, analysis, tables, zeros, n)
        outcome, sweeps = solve(
            node_kernels, Y, first, second, y, h, at, p, integral, analysis, part_of, past,
            total, is_near, near, node_pivots, work, nq, fixed,
            tolerance,
        )  # fmt: skip
        count[EVALUATIONS, 0] += NODES * sweeps
        F = second if sweeps % 2 else first

        # error
        error, accepted, across = np.inf, False, False
        start[0, 0], ts[0, 0] = t, end
        held = project and sizes[1] > 0 and not fixed
        if outcome == DIVERGED and is_near:
            G = first if sweeps % 2 else second
            finish(node_kernels, Y, F, y, h, at, p, integral, work, nq)
            finish(node_kernels, Y, G, y, h, at, p, integral, work, nq)
            across = agree(
                kernels, F, G, y, h, ts, p, x, weights, part_of, pivots, work, nq, allowed
            )
            outcome = CONVERGED if across else DIVERGED
        known = outcome == CONVERGED or outcome == TOO_LONG  # noqa: PLR1714 - no sets in loops
        if known:
            finish(node_kernels, Y, F, y, h, at, p, integral, work, nq)
            error = estimate(F, analysis, part_of, past, total, 0)
            if held and 1.0 <= error < LARGEST_ERROR:
                share = share_along(
                    kernels, F, y, h, ts, p, x, weights, analysis, part_of, pivots, work, nq
                )
                across = across or share < ALONG
                error *= share
            if error < allowed:
                error = min(error, ROUNDED)
            accepted = error < 1.0 and outcome == CONVERGED
        logarithm = np.log(min(max(error, NO_ERROR), LARGEST_ERROR))
        change = min(GROWTH, SAFETY * np.exp(-logarithm / ERROR_ORDER))
        if not known:
            change = NEAR_DIVERGENCE if is_near and outcome == DIVERGED else DIVERGENCE
        if fixed:
            if outcome == UNDEFINED or not error < np.inf:
                return NOT_FINITE if outcome == UNDEFINED else NO_ROOT
            accepted = True

        # the new point: projection, rank
        deficit, arrived = count[DEFICIT, 0], np.inf
        across = across or not known
        if accepted:
            rise(F, y, h, weights, point)
            if project:
                passes = real[AHEAD, 0] < end
                shorter, deficit, arrived = landed(
                    kernels, point, ts, p, onto, count, sizes[1], fixed, last or passes
                )
                if shorter == 0.0:
                    return OFF_CONSTRAINTS
                if shorter < 1.0:
                    accepted, change, across = False, shorter, across or not ok[0]
                    if ok[0]:  # it ends at a singular position, and is placed before that
                        change, real[AHEAD, 0] = 1.0, end
        if not accepted:
            if held and (across or real[AHEAD, 0] < np.inf):
                count[NEAR, 0] = STAGES_KEPT
            if known:  # what was found of the step that was too long serves the shorter one
                keep(kept, F, past, h, 0.0)
            if not shorten(real, count, h, change, limits):
                return NOT_FINITE if outcome == UNDEFINED else TOO_SMALL
            continue

        if count[NEXT, 0] < times.shape[0] and times[count[NEXT, 0]] < end:
            save_between(
                kernels, F, y, t, end, h, p, x, project, real, count, times, out_t, out_y,
                filled, analysis, tables, onto, size, np.inf if fixed else tolerance,
            )  # fmt: skip

        # acceptance
        met = False
        if watch_events:
            ok[0] = True
            met = crosses(
                kernels, Y, at, point, t, ts, p, event_values, g_new, x[FIRST],
                real[SAVED : SAVED + 1], ok, work, nq, events, lanes,
            )  # fmt: skip
            note_events(previous, t, y, event_values, event_before, g_new, events)
        # Near a singular position the next two tell of the distance to it; steps that they made
        # shorter would creep up to it.
        least = min(change, 1.0) if is_near or real[AHEAD, 0] < np.inf else 0.0
        if count[ACCEPTS, 0] > 0:  # as errors grew over the last two steps, they may go on
            trend = (real[ERROR, 0] - logarithm) / ERROR_ORDER
            change = min(change, change * np.exp(trend) * h / past[LAST])
        if change > WANTED_RATE / past[RATE]:
            change = max(SHRINK, WANTED_RATE / past[RATE])
            if logarithm < FAR_BELOW:
                count[AT_STABILITY, 0] += 1
        change = max(change, least)
        if count[REJECTED, 0]:
            change = min(change, 1.0)
        past[LAST] = h
        real[ERROR, 0] = max(logarithm, LEAST_ERROR)
        count[REJECTED, 0] = 0
        if away(real, arrived, 0):
            count[AVOIDED, 0] = 0
        count[ACCEPTS, 0] += 1
        count[NEAR, 0] = max(0, count[NEAR, 0] - 1)
        singular = False
        if project and sizes[1]:
            if not is_near:  # otherwise sweeps have left the pivots there
                call(
                    node_kernels[2], Y, part(Y, nq), at, p, near[0], part(near[0], nq), node_pivots,
                    work,
                )  # fmt: skip
            singular = watch(
                kernels, Y, F, at, node_pivots, y, point, start, ts, p, x[FIRST:],
                real[SAVED : SAVED + 1], pivots, work, nq, sizes[1], real, count, deficit,
                arrived, last, rank_log, rank_rows,
            )  # fmt: skip
            keep_sizes(pivots, sizes[1], 0)
            if count[NEAR, 0] > 0 and real[AHEAD, 0] < np.inf:
                count[NEAR, 0] = STAGES_KEPT  # until after it is passed
        for i in range(n):
            y[i, 0] = point[i, 0]
        keep(kept, F, past, h, 1.0)
        if short:
            change = real[H, 0] / h  # it was shortened for its place alone
        end_step(real, count, h, end, change, last, y, times, every_step, out_t, out_y, filled)
        if singular and stop:
            return SINGULAR
        if met:
            return EVENT
    return BUDGET
