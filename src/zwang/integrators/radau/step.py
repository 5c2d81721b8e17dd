"""Radau IIA of order 5 with error control, interpolation and projection: the compiled time loop.

Hairer & Wanner, Solving Ordinary Differential Equations II, section IV.8 (their code RADAU5), on
the ordinary equations ẏ = f(t, y), y = (q, v), that the derivative kernel gives. One step:

1.  the stages by Newton's method with the Jacobian J of an earlier point, from the polynomial of
    the last step on, see `stages`;
2.  Newton does not converge, or the error is too large: reject, with a smaller h;
3.  project y + Z₃ onto φ = 0 and ψ = 0; no contraction: reject;
4.  save what lies within the step from the interpolant, projected;
5.  take the new point; the next h comes from the last two errors and steps (Gustafsson's predictive
    control). J is computed anew only when Newton got slow, factors only when h changes much.

The error estimate e = (γ/h − J)⁻¹ (f(t, y) − u′(t)), with u the collocation polynomial, is of order
3. It also tells how u misses the motion between the stages: u′ − f(u) vanishes at t + cᵢh, so it is
near M(θ)/M(0) times its value at t, M(θ) = (θ−c₁)(θ−c₂)(θ−1). Its integral, a multiple of e, is
added to u, which makes the interpolant of order 4; e is bounded however stiff f is.

One trajectory at a time; all state is in arrays, [entry][0] as everywhere.
"""

from __future__ import annotations

import numpy as np

from zwang.codegen.call import call
from zwang.codegen.jit import inlined, loop
from zwang.integrators.event_detection import crosses
from zwang.integrators.lu import substitute
from zwang.integrators.memory import (
    ACCEPTS,
    ACTIVE,
    AVOIDED,
    BUDGET,
    DEFICIT,
    DONE,
    ERROR,
    EVALUATIONS,
    EVENT,
    FACTORISATIONS,
    FULL,
    JACOBIANS,
    LAST_STEP,
    NEXT,
    NO_ROOT,
    NOT_FINITE,
    OFF_CONSTRAINTS,
    REJECTED,
    SAVED,
    SINGULAR,
    TOO_SMALL,
    T,
    evaluate,
    keep_sizes,
    projected,
    save,
    size_of,
)
from zwang.integrators.radau.stages import (
    C1,
    C2,
    CONVERGED,
    DEFECT,
    FACTORED_H,
    FRESH,
    GAMMA,
    ITERATIONS,
    LAST_H,
    SLOW,
    UNDEFINED,
    factorise_both,
    solve_stages,
    weights,
)
from zwang.integrators.rank_loss import watch_rank
from zwang.integrators.step_control import (
    end_step,
    has_room,
    landed,
    next_step,
    note_events,
    shorten,
    wanted_step,
)

__all__ = ["ERROR_ORDER", "advance"]

# The estimate is of order 4 in h, the error of interpolated states of order 5, that of steps of
# order 6; in stiff components all lose order and are near the estimate. Limiting the estimate to
# this power of the tolerance times a factor keeps saved states within a few tolerances, stiff or
# not: pendulums, orbits, the flyball governor.
ERROR_ORDER, ERROR_POWER, ERROR_FACTOR = 4, 0.9, 0.5

NEWTON_PART = 0.03  # of the tolerance, for the error of Newton's method
ROUNDING = 10.0 * 2.2e-16  # relative; what Newton's method cannot go below
SLOW_RATE = 1e-3  # J is kept while θ is below: an evaluation more costs less than J and factors
WANTED_RATE = 0.4  # θ grows like h; beyond this steps are lost to Newton (Gustafsson & Söderlind)
KEPT_STEPS = 1.0, 1.2  # h and its factors are kept for changes in between
NO_ERROR = 1e-10  # errors count as no less, so that they can be divided by
LEAST_BEFORE = 1e-2  # nor does the error of the step before in predicting the next one
SAFETY = 0.9
GROWTH, SHRINK = 8.0, 0.2  # largest and smallest change of h in a step


@loop
def norm(x, size):
    """Root mean square of x relative to size."""
    total = 0.0
    for i in range(x.shape[0]):
        total += (x[i] / size[i]) ** 2
    return np.sqrt(total / x.shape[0])


@inlined
def extrapolated(Z, h, last_h, stages, w):
    """Stages of a step from the polynomial of the last one."""
    for k in range(3):
        c = C1 if k == 0 else C2 if k == 1 else 1.0
        weights(1.0 + c * h / last_h, w)
        for i in range(Z.shape[1]):
            stages[k, i, 0] = w[0] * Z[0, i, 0] + w[1] * Z[1, i, 0] + (w[2] - 1.0) * Z[2, i, 0]


@loop
def save_between(
    kernels, stages, error_vector, y, t, ts, h, p, state, w, project, real, count, times, out_t,
    out_y, filled, onto,
):  # fmt: skip
    """Save the states at times within the step from t to ts, from its interpolant, projected.

    `onto` is what `projected` takes beside state and time.
    """
    k = count[NEXT, 0]
    while k < times.shape[0] and times[k] < ts:
        theta = (times[k] - t) / h
        weights(theta, w)
        # γ ∫ M(s)/M(0) ds from 0 to θ; it vanishes at 0 and 1.
        g = GAMMA * theta * (1.0 - theta * (4.5 - theta * (6.0 - theta * 2.5)))
        for i in range(y.shape[0]):
            state[i, 0] = (
                y[i, 0]
                + w[0] * stages[0, i, 0]
                + w[1] * stages[1, i, 0]
                + w[2] * stages[2, i, 0]
                + g * error_vector[i]
            )
        if project:
            real[SAVED, 0] = times[k]
            projected(kernels, state, real[SAVED : SAVED + 1], p, *onto)
        save(times[k], state, out_t, out_y, filled, 0)
        k += 1
    count[NEXT, 0] = k


@loop
def advance(
    kernels,  # addresses: derivative, project, residual, events, jacobian
    sizes,  # nq, position rows, residual rows, event functions
    y,  # state (n, 1)
    p,  # parameters (np, 1)
    real,  # REALS × 1
    count,  # COUNTS × 1
    f,  # derivative at y (n, 1)
    Z,  # stages of the last accepted step (3, n, 1)
    J,  # Jacobian, column by column (n², 1)
    newton,  # NEWTON
    tolerance,
    entry_sizes,  # absolute size of each entry of y, and the share of |y| that adds to it (2, n, 1)
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
    pivots,  # of the position rows and their sizes, see `memory` (PARTS · rows, 1)
    atol,  # absolute part of the tolerance (n,)
    work,
    budget,
    lanes,
):
    """Run until `until`, or until a buffer is full, the budget is used up or an event is met."""
    n, nq, events = y.shape[0], sizes[0], sizes[3]
    project, every_step, watch, stop = options
    fixed = limits[2] > 0.0
    factors = (np.empty((n, n)), np.empty((n, n), dtype=np.complex128), np.empty((2, n), np.int64))
    stages, trial = np.empty((3, n, 1)), np.empty((n, 1))
    buffers = (
        trial,
        np.empty((3, n, 1)),
        np.empty((3, n)),
        np.empty(n),
        np.empty(n, dtype=np.complex128),
    )
    new, state, scratch = np.empty((n, 1)), np.empty((n, 1)), np.empty((n, 1))
    f_new, looked = np.empty((n, 1)), np.empty((2, n, 1))
    error_vector, defect, size = np.empty(n), np.empty(n), np.empty(n)
    ratio = np.empty((max(sizes[2], 1), 1))
    g_new = np.empty((max(events, 1), 1))
    ok, before, settled = np.empty(1, np.bool_), np.empty(1), np.empty(1, np.bool_)
    t, ts, w = np.empty((1, 1)), np.empty((1, 1)), np.empty(3)
    onto = (pivots, ratio, work, nq, atol, ok, before, settled, scratch, lanes)
    around = (p, looked, real[SAVED : SAVED + 1], pivots, work, nq, sizes[1], real, count)
    allowed = ERROR_FACTOR * tolerance**ERROR_POWER
    # How well Newton must solve: its error is one of the step, and of the states within it.
    goal = max(ROUNDING, NEWTON_PART * tolerance) / allowed
    if newton[FACTORED_H] > 0.0:  # the factors are not stored, what they are made of is
        factorise_both(J, newton[FACTORED_H], factors[0], factors[1], factors[2])
    for _ in range(budget):
        if not count[ACTIVE, 0]:
            return DONE
        t[0, 0] = real[T, 0]
        h, ts[0, 0], last = next_step(real, wanted_step(real, limits), until, LAST_STEP)
        if not ts[0, 0] > t[0, 0]:
            return TOO_SMALL
        if not has_room(ts[0, 0], count, times, out_t, filled, 1, rank_log, rank_rows):
            return FULL

        # Jacobian and factors
        if not newton[FRESH] and (newton[FACTORED_H] == 0.0 or newton[SLOW] > SLOW_RATE):
            call(kernels[4], y[:nq], y[nq:], t, p, J, work)
            count[JACOBIANS, 0] += 1
            newton[FRESH], newton[FACTORED_H] = 1.0, 0.0
        if newton[FACTORED_H] != h:
            factorise_both(J, h, factors[0], factors[1], factors[2])
            count[FACTORISATIONS, 0] += 1
            newton[FACTORED_H] = h

        # stages
        for i in range(n):
            size[i] = allowed * size_of(entry_sizes, i, abs(y[i, 0]), 0)
        if newton[LAST_H] > 0.0:
            extrapolated(Z, h, newton[LAST_H], stages, w)
        else:
            for k in range(3):
                for i in range(n):
                    stages[k, i, 0] = 0.0
        outcome, done, change = solve_stages(
            kernels, y, t, p, h, stages, newton, goal, size, factors, buffers, work, nq, fixed
        )
        count[EVALUATIONS, 0] += done
        if outcome != CONVERGED:
            newton[LAST_H] = 0.0  # the extrapolation may have been what led astray
            newton[SLOW] = 1.0
            if not newton[FRESH]:
                continue  # the same step with a new Jacobian
            if fixed:
                return NOT_FINITE if outcome == UNDEFINED else NO_ROOT
            if not shorten(real, count, h, change, limits):
                return NOT_FINITE if outcome == UNDEFINED else TOO_SMALL
            continue

        # error
        for i in range(n):
            new[i, 0] = y[i, 0] + stages[2, i, 0]
            defect[i] = (
                DEFECT[0] * stages[0, i, 0]
                + DEFECT[1] * stages[1, i, 0]
                + DEFECT[2] * stages[2, i, 0]
            ) / h
            error_vector[i] = defect[i] + f[i, 0]
            larger = max(abs(y[i, 0]), abs(new[i, 0]))
            size[i] = allowed * size_of(entry_sizes, i, larger, 0)
        substitute(factors[0], factors[2][0], error_vector)
        error = norm(error_vector, size)
        if not error < 1.0 and (newton[LAST_H] == 0.0 or count[REJECTED, 0]) and not fixed:
            # At a first step f may be far larger than along the motion; once more at y + e.
            for i in range(n):
                trial[i, 0] = y[i, 0] + error_vector[i]
            evaluate(kernels, trial, t, p, scratch, work, nq)
            count[EVALUATIONS, 0] += 1
            for i in range(n):
                error_vector[i] = defect[i] + scratch[i, 0]
            substitute(factors[0], factors[2][0], error_vector)
            error = norm(error_vector, size)
        if fixed and not error < np.inf:
            return NOT_FINITE
        # Many iterations are a sign of a step too long for Newton: be more careful.
        factor = SAFETY * (2.0 * ITERATIONS + 1.0) / (2.0 * ITERATIONS + done // 3)
        error = max(error, NO_ERROR)
        change = factor * error ** (-1.0 / ERROR_ORDER) if error < np.inf else SHRINK
        change = min(GROWTH, max(SHRINK, change))
        accepted = fixed or error < 1.0

        # projection
        for i in range(n):
            state[i, 0] = new[i, 0]
        deficit, arrived = count[DEFICIT, 0], np.inf
        if accepted and project:
            shorter, deficit, arrived = landed(
                kernels, state, ts, p, onto, count, sizes[1], fixed, last
            )
            if shorter == 0.0:
                return OFF_CONSTRAINTS
            if shorter < 1.0:
                accepted, change = False, shorter
        if not accepted:
            if not shorten(real, count, h, change, limits):
                return TOO_SMALL if error < np.inf else NOT_FINITE
            continue

        if count[NEXT, 0] < times.shape[0] and times[count[NEXT, 0]] < ts[0, 0]:
            save_between(
                kernels, stages, error_vector, y, t[0, 0], ts[0, 0], h, p, trial, w, project, real,
                count, times, out_t, out_y, filled, onto,
            )  # fmt: skip

        # acceptance
        if newton[LAST_H] > 0.0:
            predicted = SAFETY * h / newton[LAST_H] * (real[ERROR, 0] / error**2) ** 0.25
            change = min(change, max(SHRINK, predicted))
        change = min(change, WANTED_RATE / max(newton[SLOW], SLOW_RATE))
        if count[REJECTED, 0]:
            change = min(change, 1.0)
        real[ERROR, 0] = max(error, LEAST_BEFORE)
        count[REJECTED, 0] = count[AVOIDED, 0] = 0
        count[ACCEPTS, 0] += 1
        newton[LAST_H], newton[FRESH] = h, 0.0
        evaluate(kernels, state, ts, p, f_new, work, nq)
        count[EVALUATIONS, 0] += 1
        met, singular = False, False
        if watch:
            ok[0] = True
            met = crosses(
                kernels, y, f, state, f_new, t, ts, p, event_values, g_new, ok,
                scratch, real[SAVED : SAVED + 1], work, nq, events, lanes,
            )  # fmt: skip
            note_events(previous, t[0, 0], y, event_values, event_before, g_new, events)
        if project and sizes[1]:
            singular = watch_rank(
                *(kernels, y, f, state, f_new, t[0, 0], ts[0, 0], *around),
                *(deficit, arrived, last, rank_log, rank_rows, 0),
            )
            keep_sizes(pivots, sizes[1], 0)
        for i in range(n):
            y[i, 0], f[i, 0] = state[i, 0], f_new[i, 0]
            for k in range(3):
                Z[k, i, 0] = stages[k, i, 0]
        if newton[SLOW] <= SLOW_RATE and KEPT_STEPS[0] <= change <= KEPT_STEPS[1]:
            change = 1.0
        end_step(real, count, h, ts[0, 0], change, last, y, times, every_step, out_t, out_y, filled)
        if singular and stop:
            return SINGULAR
        if met:
            return EVENT
    return BUDGET
