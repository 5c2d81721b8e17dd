"""Fixed steps, each the root of discrete equations: the compiled time loop.

One step of the loop:

1.  the stages of the method, each a root of its residual by Newton's method;
2.  save what lies within the step from an interpolant, projected;
3.  look for events and changes of rank, take the new state.

The new state is on the constraints as far as the method puts it there; it is not projected.

All state of the loop lives in arrays, so that it may stop and go on anywhere with the same bits. It
runs one trajectory; arrays have a last axis of one lane, as everywhere.
"""

from __future__ import annotations

import numpy as np

from zwang.codegen.call import call
from zwang.codegen.jit import loop
from zwang.integrators.event_detection import changed
from zwang.integrators.lu import factorise, substitute
from zwang.integrators.memory import (
    ACCEPTS,
    ACTIVE,
    BUDGET,
    DEFICIT,
    DONE,
    EVALUATIONS,
    EVENT,
    FACTORISATIONS,
    FULL,
    JACOBIANS,
    NEXT,
    NO_ROOT,
    NOT_FINITE,
    SINGULAR,
    T,
    evaluate,
    keep_sizes,
    note_sizes,
    project_once,
    projected,
    save,
    size_of,
)
from zwang.integrators.rank_loss import deficit_of, least_pivot, may_pass, watch_rank
from zwang.integrators.step_control import end_step, has_room, next_step, note_events, wanted_step

__all__ = ["advance", "root", "solve"]

#: Newton corrections of a stage; from the step before, two to four are usual.
CORRECTIONS = 15
#: A change of the new state, relative, after which the next one is lost in rounding: Newton's
#: method squares it, and the regularisation leaves the part δ of it.
SETTLED = 1e-10
#: Below this a change that no longer becomes smaller is rounding: φ is divided by h².
ROUNDING = 1e-6
#: A last step up to this much longer than the others takes the place of a tiny one after it.
LONGEST = 1.001


@loop
def copy(x, out):
    """Write x (n, 1) to the first entries of out."""
    for i in range(x.shape[0]):
        out[i, 0] = x[i, 0]


@loop
def solve(K, x):
    """Overwrite x (n,) with K⁻¹x, and K (n, n) with factors; False where K is singular.

    Rows are brought to the same size first, so that pivots are chosen fairly: dynamics and
    constraints have different units.
    """
    n = K.shape[0]
    for i in range(n):
        size = 0.0
        for j in range(n):
            size = max(size, abs(K[i, j]))
        if not 0.0 < size < np.inf:
            return False
        for j in range(n):
            K[i, j] /= size
        x[i] /= size
    exchanged = np.empty(n, np.int64)
    factorise(K, exchanged)
    substitute(K, exchanged, x)
    finite = True
    for i in range(n):
        finite = finite and abs(x[i]) < np.inf
    return finite


@loop
def root(stage, q, v, m, s, p, new, m_new, x, entry_sizes, work):
    """Find x with r(x) = 0 from x = 0, and with it the state and memory the stage leads to.

    Parameters
    ----------
    stage : address of its kernel, rows and columns of the entries of its iteration matrix.

    Returns
    -------
    Number of evaluations, or 0 if r is not finite where it begins, −1 if Newton's method fails.
    """
    address, rows, columns = stage
    nq, n, size = q.shape[0], new.shape[0], x.shape[0]
    before = np.empty_like(new)
    r, entries, K = np.empty(size), np.empty((rows.shape[0], 1)), np.empty((size, size))
    for i in range(size):
        x[i, 0] = 0.0
    last = np.inf
    for k in range(CORRECTIONS + 1):
        call(address, q, v, m, x, s, p, new[:nq], new[nq:], m_new, r, entries, work)
        change = 0.0
        for i in range(n):
            if k > 0:
                difference = abs(new[i, 0] - before[i, 0])
                change = max(change, difference / size_of(entry_sizes, i, abs(new[i, 0]), 0))
            before[i, 0] = new[i, 0]
        finite = change < np.inf
        for i in range(size):
            finite = finite and abs(r[i]) < np.inf
        if not finite:
            return 0 if k == 0 else -1
        if k > 0 and (change <= SETTLED or (change < ROUNDING and change > 0.5 * last)):
            return k + 1
        last = change if k > 0 else np.inf
        for i in range(size):
            for j in range(size):
                K[i, j] = 0.0
        for i in range(rows.shape[0]):
            K[rows[i], columns[i]] = entries[i, 0]
        if not solve(K, r):
            return -1
        for i in range(size):
            x[i, 0] -= r[i]
    return -1


@loop
def advance(
    kernels,  # addresses: derivative, project, residual, events
    sizes,  # nq, position rows, residual rows, event functions
    y,  # state (n, 1)
    p,  # parameters
    real,  # REALS × 1
    count,  # COUNTS × 1
    stages,  # two stages: address, rows, columns, unknowns; a second without unknowns is none
    m,  # what the method remembers
    s,  # t, h and coefficients of the method
    entry_sizes,  # absolute size of each entry of y, and the share of |y| that adds to it (2, n, 1)
    until,
    limits,  # smallest h, largest h, fixed h
    options,  # project?, save every step?, look for events?, stop where rank is lost?
    times,  # times to save at
    out_t,  # saved times (1, rows)
    out_y,  # saved states (1, rows, n)
    filled,  # rows filled
    rank_log,  # (rows, LOG + n, 1): each change of rank and the state there, see `rank_loss`
    rank_rows,  # rows filled
    event_values,  # g at y
    event_before,  # g at the start of the last step
    previous,  # time and state at the start of the last step
    pivots,  # of the position rows and their sizes, see `memory` (PARTS · rows, 1)
    atol,  # absolute part of the tolerance (n,)
    work,
    budget,
    lanes,
):
    """Run until `until`, or until a buffer is full, the budget is used up or an event is met."""
    nq, events = sizes[0], sizes[3]
    project, every_step, watch, stop = options
    n = y.shape[0]
    start, new = np.empty_like(y), np.empty_like(y)
    m_start, m_new = np.empty_like(m), np.empty_like(m)
    unknowns = 0
    for stage in stages:
        unknowns = max(unknowns, stage[3])
    x = np.empty((unknowns, 1))
    scratch, between = np.empty_like(y), np.empty_like(y)
    rate, rate_new, looked = np.empty_like(y), np.empty_like(y), np.empty((2, n, 1))
    ratio = np.empty((max(sizes[2], 1), 1))
    g_new = np.empty((max(events, 1), 1))
    ok, settled, before = np.empty(1, np.bool_), np.empty(1, np.bool_), np.empty(1)
    moment = np.empty((1, 1))
    onto = (pivots, ratio, work, nq, atol, ok, before, settled, scratch, lanes)
    around = (p, looked, moment, pivots, work, nq, sizes[1], real, count)
    for _ in range(budget):
        if not count[ACTIVE, 0]:
            return DONE
        t = real[T, 0]
        h, t_new, last = next_step(real, wanted_step(real, limits), until, LONGEST)
        if not has_room(t_new, count, times, out_t, filled, 1, rank_log, rank_rows):
            return FULL
        s[0, 0], s[1, 0] = t, h

        # stages
        copy(y, start)
        copy(m, m_start)
        evaluations = factorisations = 0
        for stage in stages:
            if stage[3] == 0:
                continue
            found = root(
                *(stage[:3], start[:nq], start[nq:], m_start, s, p, new, m_new),
                *(x[: stage[3]], entry_sizes, work),
            )
            if found <= 0:
                return NOT_FINITE if found == 0 else NO_ROOT
            evaluations += found
            factorisations += found - 1
            copy(new, start)
            copy(m_new, m_start)

        # states within the step
        first = k = count[NEXT, 0]
        while k < times.shape[0] and times[k] < t_new:
            k += 1
        count[NEXT, 0] = k
        if k > first:
            moment[0, 0] = t_new
            evaluate(kernels, new, moment, p, rate_new, work, nq)
            moment[0, 0] = t
            evaluate(kernels, y, moment, p, rate, work, nq)
        for place in range(first, k):
            moment[0, 0] = times[place]
            interpolate(y, new, rate, rate_new, m_new, (times[place] - t) / h, h, nq, between)
            if project:
                projected(kernels, between, moment, p, *onto)
            save(times[place], between, out_t, out_y, filled, 0)

        # acceptance
        met = False
        moment[0, 0] = t_new
        if watch:
            call(kernels[3], new[:nq], new[nq:], moment, p, g_new, work)
            ok[0] = True
            met = changed(event_values, g_new, ok, events, lanes)
            note_events(previous, t, y, event_values, event_before, g_new, events)
        singular = False
        if project and sizes[1]:
            project_once(kernels, new, moment, p, scratch, pivots, work, nq)
            note_sizes(pivots, sizes[1], 0)
            deficit = deficit_of(pivots, sizes[1], 0)
            arrived = least_pivot(pivots, sizes[1], count[DEFICIT, 0], 0)
            if may_pass(real, count, arrived, 0):
                evaluate(kernels, new, moment, p, rate_new, work, nq)
                moment[0, 0] = t
                evaluate(kernels, y, moment, p, rate, work, nq)
            singular = watch_rank(
                *(kernels, y, rate, new, rate_new, t, t_new, *around),
                *(deficit, arrived, last, rank_log, rank_rows, 0),
            )
            keep_sizes(pivots, sizes[1], 0)
        copy(new, y)
        copy(m_new, m)
        count[ACCEPTS, 0] += 1
        count[EVALUATIONS, 0] += evaluations
        count[JACOBIANS, 0] += evaluations
        count[FACTORISATIONS, 0] += factorisations
        end_step(real, count, h, t_new, 1.0, last, y, times, every_step, out_t, out_y, filled)
        if singular and stop:
            return SINGULAR
        if met:
            return EVENT
    return BUDGET


@loop
def interpolate(y, new, rate, rate_new, m, theta, h, nq, out):
    """The state at t + θ h, to the order of the method.

    q is Hermite's cubic. v is the quadratic through both ends whose mean is the mean velocity w of
    the step, for q̇ = v the derivative of that cubic. Accelerations do not enter: they may be large
    where the system is stiff.
    """
    a, b = 1.0 - theta, theta
    for i in range(nq):
        rise = new[i, 0] - y[i, 0]
        slope = a * (h * rate[i, 0] - rise) - b * (h * rate_new[i, 0] - rise)
        out[i, 0] = a * y[i, 0] + b * new[i, 0] + a * b * slope
    for i in range(nq, y.shape[0]):
        excess = m[i - nq, 0] - 0.5 * (y[i, 0] + new[i, 0])
        out[i, 0] = a * y[i, 0] + b * new[i, 0] + 6.0 * a * b * excess
