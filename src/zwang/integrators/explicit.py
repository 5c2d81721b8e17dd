"""Explicit Runge–Kutta with error control, interpolation and projection: the compiled time loop.

One step of the loop, for each lane by itself:

1.  stages from y at t, the solution and its error estimate;
2.  error too large: reject, with a smaller h;
3.  project the new point onto φ = 0 and ψ = 0; a correction that does not contract means that the
    step went past where the constraints can be linearised: reject;
4.  save what lies within the step from the interpolant, projected;
5.  take the new point, and a new h from the error (proportional and integral control).

Near positions where the constraints lose rank two things go wrong otherwise: drift turns the path
onto another branch, and the error of stages off the constraints enters v̇ divided by the distance.
So every step is projected, and after a rejection all stages of the following steps are evaluated
at projected states, until three steps were accepted; raw and projected stages are never mixed.

All state of the loop lives in arrays, so that it may stop and go on anywhere with the same bits.
The same source serves one trajectory and several lanes: arrays are [entry][lane], and the number of
lanes is a constant of the compiled code (the length of the tuple `lanes`).
"""

from __future__ import annotations

import numpy as np

from zwang.integrators.shared import (
    ACCEPTS,
    ACTIVE,
    AT_STABILITY,
    AVOIDANCE,
    AVOIDANCES,
    AVOIDED,
    BUDGET,
    DEFICIT,
    DONE,
    ERROR,
    EVALUATIONS,
    EVENT,
    FAILED_PROJECTION,
    FULL,
    NEAR,
    NEXT,
    NOT_FINITE,
    PROJECTIONS,
    RANK_PIVOT,
    REJECTED,
    REJECTS,
    SAVED,
    STAGE_READY,
    TOO_SMALL,
    H,
    T,
    evaluate,
    projected,
)
from zwang.kernels.call import call
from zwang.kernels.jit import jit

__all__ = ["SAMPLE", "advance"]

PI_BETA = 0.05  # weight of the previous error in step control
SAFETY = 0.9
GROWTH, SHRINK = 6.0, 0.2  # largest and smallest change of h in a step
STAGES_KEPT = 3  # accepted steps with projected stages after a rejection
SAMPLE = 32  # steps between looks at stability
LARGEST_ERROR = 1e6  # above this the step is not looked at any further


@jit
def stage(kernels, w, t, p, out, buffers, nq, near, lanes):
    """Derivative at a stage; where `near`, v̇ is taken at the projected state and q̇ at the raw."""
    work, scratch, scratch2, pivots = buffers[0], buffers[1], buffers[2], buffers[3]
    W = len(lanes)
    evaluate(kernels, w, t, p, out, work, nq)
    any_near = False
    for lane in range(W):
        any_near = any_near or near[lane]
    if not any_near:
        return 1
    n = w.shape[0]
    # A stage may be far off; the second correction takes the factor at the corrected position.
    call(kernels[1], w[:nq], w[nq:], t, p, scratch2[:nq], scratch2[nq:], pivots, work)
    call(kernels[1], scratch2[:nq], scratch2[nq:], t, p, scratch[:nq], scratch[nq:], pivots, work)
    evaluate(kernels, scratch, t, p, scratch2, work, nq)
    for lane in range(W):
        if near[lane]:
            for i in range(nq, n):
                out[i, lane] = scratch2[i, lane]
    return 4


@jit
def tangential_error(
    kernels, y, new, h, K, E, stages, t, p, error, tolerance, scale, nq, buffers, base, lanes
):
    """Replace an error above one by that of the projected solution, per lane.

    Near a singular position the stages carry a large error across the constraints, along which
    the motion is hardly held there. At the end of the step it is held again, and the projection
    takes that error away; only what lies along the constraints counts.
    """
    W = len(lanes)
    n = y.shape[0]
    work, scratch, scratch2, pivots = buffers[0], buffers[1], buffers[2], buffers[3]
    wanted = False
    for lane in range(W):
        wanted = wanted or 1.0 <= error[lane] < LARGEST_ERROR
    if not wanted:
        return
    call(kernels[1], new[:nq], new[nq:], t, p, base[:nq], base[nq:], pivots, work)
    sums = np.zeros((2, W))
    for k in range(2):
        for i in range(n):
            for lane in range(W):
                total = 0.0
                for j in range(stages + 1):
                    total += E[k, j] * K[j, i, lane]
                scratch[i, lane] = new[i, lane] + h[lane] * total
        call(
            kernels[1], scratch[:nq], scratch[nq:], t, p, scratch2[:nq], scratch2[nq:], pivots, work
        )
        for i in range(n):
            for lane in range(W):
                sc = tolerance * (scale[i] + max(abs(y[i, lane]), abs(new[i, lane])))
                sums[k, lane] += ((scratch2[i, lane] - base[i, lane]) / sc) ** 2
    for lane in range(W):
        if 1.0 <= error[lane] < LARGEST_ERROR:
            e5, e3 = sums[0, lane], sums[1, lane]
            along = 0.0 if e5 == 0.0 else e5 / np.sqrt((e5 + 0.01 * e3) * n)
            error[lane] = min(error[lane], along)


@jit
def at_stability(h, K, A, B, stages, limit, lane):
    """Whether h is about as long as stability allows (Hairer & Wanner, section IV.2).

    The last stage and the new point have the same time; what f changes between them, relative to
    the distance, is a lower bound of the size of its Jacobian.
    """
    n = K.shape[1]
    moved = changed = 0.0
    for i in range(n):
        distance = 0.0
        for j in range(stages):
            distance += (A[stages - 1, j] - B[j]) * K[j, i, lane]
        moved += (h * distance) ** 2
        changed += (K[stages - 1, i, lane] - K[stages, i, lane]) ** 2
    return h * h * changed > limit * limit * moved > 0.0


@jit
def advance(
    kernels,  # addresses: derivative, project, residual, events
    sizes,  # nq, position rows, residual rows, event functions
    y,  # state (n, lanes)
    p,  # parameters (np, lanes)
    real,  # REALS × lanes
    count,  # COUNTS × lanes
    K,  # stages (all stages, n, lanes)
    tableau,  # A, B, C, E, P
    stability,  # h times the size of the Jacobian must stay below
    stages,
    order,
    until,
    tolerance,
    scale,  # size of each entry of y below which its error is absolute
    limits,  # smallest h, largest h, fixed h or 0
    options,  # project?, save every step?, look for events?
    times,  # times to save at, shared by all lanes
    out_t,  # saved times (rows, lanes)
    out_y,  # saved states (rows, n, lanes)
    filled,  # rows filled, per lane
    rank_log,  # (rows, 2, lanes) time and deficit of each rank change
    rank_rows,  # rows filled, per lane
    event_values,  # g at y (events, lanes)
    event_before,  # g at the start of the last step
    previous,  # state and K at the start of the last step, for events
    work,
    budget,
    lanes,
):
    """Run until `until`, or until a buffer is full, the budget is used up or an event is met."""
    W = len(lanes)
    A, B, C, E, P = tableau
    nq, events = sizes[0], sizes[3]
    project, every_step, watch = options[0], options[1], options[2]
    h_min, h_max, h_fixed = limits
    n = y.shape[0]
    two_estimates = np.any(E[1] != 0.0)
    w, new, err5, err3 = np.empty_like(y), np.empty_like(y), np.empty(W), np.empty(W)
    scratch, scratch2 = np.empty_like(y), np.empty_like(y)
    pivots = np.empty((max(sizes[1], 1), W))
    ratio = np.empty((max(sizes[2], 1), W))
    g_new = np.empty((max(events, 1), W))
    atol = np.empty(n)
    for i in range(n):
        atol[i] = tolerance * max(scale[i], 1e-300)
    t, ts = np.empty((1, W)), np.empty((1, W))
    h = np.empty(W)
    ok = np.empty(W, dtype=np.bool_)
    before, settled = np.empty(W), np.empty(W, dtype=np.bool_)
    near = np.empty(W, dtype=np.bool_)
    last = np.empty(W, dtype=np.bool_)
    avoided = np.zeros(W, dtype=np.bool_)
    deficit = np.zeros(W, dtype=np.int64)
    evaluations, projections = np.empty(W, dtype=np.int64), np.empty(W, dtype=np.int64)
    accepted = np.empty(W, dtype=np.bool_)
    buffers = (work, scratch, scratch2, pivots)
    extra = C.shape[0] - stages - 1
    used = 0
    while used < budget:
        active = False
        for lane in range(W):
            t[0, lane] = real[T, lane]
            h[lane] = 0.0
            near[lane] = count[NEAR, lane] > 0
            last[lane] = False
            if count[ACTIVE, lane]:
                active = True
                left = until - real[T, lane]
                step = h_fixed if h_fixed > 0.0 else min(real[H, lane], h_max)
                if step * 1.0000001 >= left:
                    step, last[lane] = left, True
                h[lane] = step
                if filled[lane] >= out_t.shape[0] or rank_rows[lane] >= rank_log.shape[0]:
                    return FULL
            evaluations[lane] = count[EVALUATIONS, lane]
            projections[lane] = count[PROJECTIONS, lane]
        if not active:
            return DONE
        used += 1
        any_near = False
        for lane in range(W):
            any_near = any_near or near[lane]

        # stages
        for s in range(1, stages):
            for lane in range(W):
                ts[0, lane] = t[0, lane] + C[s] * h[lane]
            for i in range(n):
                for lane in range(W):
                    w[i, lane] = A[s, 0] * K[0, i, lane]
            for j in range(1, s):
                a = A[s, j]
                if a != 0.0:
                    for i in range(n):
                        for lane in range(W):
                            w[i, lane] += a * K[j, i, lane]
            for i in range(n):
                for lane in range(W):
                    w[i, lane] = y[i, lane] + h[lane] * w[i, lane]
            if any_near:
                done = stage(kernels, w, ts, p, K[s], buffers, nq, near, lanes)
            else:
                call(kernels[0], w[:nq], w[nq:], ts, p, K[s, :nq], K[s, nq:], work)
                done = 1
            for lane in range(W):
                count[EVALUATIONS, lane] += done
        for i in range(n):
            for lane in range(W):
                w[i, lane] = B[0] * K[0, i, lane]
        for j in range(1, stages):
            b = B[j]
            if b != 0.0:
                for i in range(n):
                    for lane in range(W):
                        w[i, lane] += b * K[j, i, lane]
        for i in range(n):
            for lane in range(W):
                new[i, lane] = y[i, lane] + h[lane] * w[i, lane]
        for lane in range(W):
            ts[0, lane] = until if last[lane] else t[0, lane] + h[lane]
        if any_near:
            done = stage(kernels, new, ts, p, K[stages], buffers, nq, near, lanes)
        else:
            call(kernels[0], new[:nq], new[nq:], ts, p, K[stages, :nq], K[stages, nq:], work)
            done = 1
        for lane in range(W):
            count[EVALUATIONS, lane] += done

        # error
        for lane in range(W):
            err5[lane] = err3[lane] = 0.0
        for i in range(n):
            for lane in range(W):
                sc = tolerance * (scale[i] + max(abs(y[i, lane]), abs(new[i, lane])))
                a5 = a3 = 0.0
                for j in range(stages + 1):
                    a5 += E[0, j] * K[j, i, lane]
                    if two_estimates:
                        a3 += E[1, j] * K[j, i, lane]
                err5[lane] += (a5 / sc) ** 2
                err3[lane] += (a3 / sc) ** 2
        any_accepted = False
        for lane in range(W):
            avoided[lane] = False
            e5, e3 = err5[lane], err3[lane]
            if two_estimates:
                error = 0.0 if e5 == 0.0 else h[lane] * e5 / np.sqrt((e5 + 0.01 * e3) * n)
            else:
                error = h[lane] * np.sqrt(e5 / n)
            err5[lane] = error
            if h_fixed > 0.0 and not error < np.inf:
                return NOT_FINITE
        if project and h_fixed == 0.0:
            tangential_error(
                kernels,
                y,
                new,
                h,
                K,
                E,
                stages,
                ts,
                p,
                err5,
                tolerance,
                scale,
                nq,
                buffers,
                w,
                lanes,
            )
        for lane in range(W):
            error = err5[lane]
            accepted[lane] = count[ACTIVE, lane] != 0 and (error < 1.0 or h_fixed > 0.0)
            any_accepted = any_accepted or accepted[lane]

        # projection
        for i in range(n):
            for lane in range(W):
                w[i, lane] = new[i, lane]
        if project and any_accepted:
            done = projected(
                kernels,
                w,
                ts,
                p,
                pivots,
                ratio,
                work,
                nq,
                atol,
                ok,
                before,
                settled,
                scratch,
                lanes,
            )
            for lane in range(W):
                count[PROJECTIONS, lane] += done
                if not ok[lane] and h_fixed == 0.0:
                    accepted[lane] = False
                deficit[lane] = 0
                for k in range(sizes[1]):
                    if pivots[k, lane] < RANK_PIVOT:
                        deficit[lane] += 1
                # A singular position is passed in a step, not stopped at: there the acceleration
                # along the branch cannot be told from others. So end the step before it.
                if (
                    accepted[lane]
                    and h_fixed == 0.0
                    and deficit[lane] > count[DEFICIT, lane]
                    and count[AVOIDED, lane] < AVOIDANCES
                    and not last[lane]
                ):
                    count[AVOIDED, lane] += 1
                    real[H, lane] = h[lane] * AVOIDANCE
                    avoided[lane], accepted[lane] = True, False

        # rejection
        for lane in range(W):
            if not count[ACTIVE, lane] or accepted[lane]:
                continue
            error = err5[lane]
            count[REJECTS, lane] += 1
            count[REJECTED, lane] = 1
            if avoided[lane]:
                continue
            factor = FAILED_PROJECTION
            if not error < 1.0:
                factor = max(SHRINK, SAFETY * error ** (-1.0 / order)) if error < np.inf else SHRINK
            if project and count[NEAR, lane] == 0:
                factor = max(factor, 0.5)
            count[NEAR, lane] = STAGES_KEPT if project else 0
            real[H, lane] = h[lane] * factor
            if not real[H, lane] > h_min:
                return NOT_FINITE if not error < np.inf else TOO_SMALL

        # interpolated states
        interpolate = False
        for lane in range(W):
            k = count[NEXT, lane]
            while accepted[lane] and k < times.shape[0] and times[k] < ts[0, lane]:
                interpolate = True
                k += 1
            if filled[lane] + k - count[NEXT, lane] >= out_t.shape[0]:
                # No room for all of this step: leave, and take the same step again afterwards.
                for other in range(W):
                    count[EVALUATIONS, other] = evaluations[other]
                    count[PROJECTIONS, other] = projections[other]
                return FULL
        if interpolate and extra > 0:
            for s in range(stages + 1, stages + 1 + extra):
                for i in range(n):
                    for lane in range(W):
                        total = 0.0
                        for j in range(s):
                            total += A[s, j] * K[j, i, lane]
                        scratch2[i, lane] = y[i, lane] + h[lane] * total
                for lane in range(W):
                    real[SAVED, lane] = t[0, lane] + C[s] * h[lane]
                call_t = real[SAVED : SAVED + 1]
                evaluate(kernels, scratch2, call_t, p, K[s], work, nq)
                for lane in range(W):
                    count[EVALUATIONS, lane] += 1
        if interpolate:
            for lane in range(W):
                if not accepted[lane]:
                    continue
                k = count[NEXT, lane]
                while k < times.shape[0] and times[k] < ts[0, lane]:
                    theta = (times[k] - t[0, lane]) / h[lane]
                    for i in range(n):
                        total = 0.0
                        for s in range(C.shape[0]):
                            value = P[s, P.shape[1] - 1]
                            for j in range(P.shape[1] - 2, -1, -1):
                                value = value * theta + P[s, j]
                            total += value * theta * K[s, i, lane]
                        for other in range(W):
                            scratch2[i, other] = y[i, lane] + h[lane] * total
                    if project:
                        for other in range(W):
                            real[SAVED, other] = times[k]
                        call_t = real[SAVED : SAVED + 1]
                        projected(
                            kernels,
                            scratch2,
                            call_t,
                            p,
                            pivots,
                            ratio,
                            work,
                            nq,
                            atol,
                            ok,
                            before,
                            settled,
                            scratch,
                            lanes,
                        )
                    row = filled[lane]
                    out_t[row, lane] = times[k]
                    for i in range(n):
                        out_y[row, i, lane] = scratch2[i, lane]
                    filled[lane] += 1
                    k += 1
                count[NEXT, lane] = k

        # acceptance
        met = False
        if watch and any_accepted:
            call(kernels[3], w[:nq], w[nq:], ts, p, g_new, work)
            for lane in range(W):
                if accepted[lane]:
                    for k in range(events):
                        if event_values[k, lane] * g_new[k, lane] < 0.0 or (
                            g_new[k, lane] == 0.0 and event_values[k, lane] != 0.0
                        ):
                            met = True
        for lane in range(W):
            if not accepted[lane]:
                continue
            error = max(err5[lane], 1e-9)
            factor = (
                SAFETY * error ** (-1.0 / order + 0.75 * PI_BETA) * real[ERROR, lane] ** PI_BETA
            )
            factor = min(GROWTH, max(SHRINK, factor))
            if count[REJECTED, lane]:
                factor = min(factor, 1.0)
            if watch:
                previous[0, 0, lane] = t[0, lane]
                previous[0, 1, lane] = h[lane]
                for i in range(n):
                    previous[1, i, lane] = y[i, lane]
                    previous[2, i, lane] = K[0, i, lane]
                for k in range(events):
                    event_before[k, lane] = event_values[k, lane]
                    event_values[k, lane] = g_new[k, lane]
            real[ERROR, lane] = max(err5[lane], 1e-4)
            count[REJECTED, lane] = 0
            count[AVOIDED, lane] = 0
            count[ACCEPTS, lane] += 1
            if count[ACCEPTS, lane] % SAMPLE == 0 and not near[lane]:
                if at_stability(h[lane], K, A, B, stages, stability, lane):
                    count[AT_STABILITY, lane] += 1
            if count[NEAR, lane] > 0:
                count[NEAR, lane] -= 1
            moved = False
            for i in range(n):
                if abs(w[i, lane] - new[i, lane]) > 1e-3 * (atol[i] + tolerance * abs(w[i, lane])):
                    moved = True
                y[i, lane] = w[i, lane]
            count[STAGE_READY, lane] = 0 if moved else 1
            for i in range(n):
                K[0, i, lane] = K[stages, i, lane]
            real[T, lane] = ts[0, lane]
            if not last[lane]:
                real[H, lane] = h[lane] * factor
            elif factor < 1.0:
                real[H, lane] = h[lane] * factor
            if last[lane]:
                count[ACTIVE, lane] = 0
            k = count[NEXT, lane]
            on_time = k < times.shape[0] and times[k] <= real[T, lane]
            if every_step or on_time:
                row = filled[lane]
                out_t[row, lane] = real[T, lane]
                for i in range(n):
                    out_y[row, i, lane] = y[i, lane]
                filled[lane] += 1
                if on_time:
                    count[NEXT, lane] = k + 1
            if project and deficit[lane] != count[DEFICIT, lane]:
                count[DEFICIT, lane] = deficit[lane]
                row = rank_rows[lane]
                if row < rank_log.shape[0]:
                    rank_log[row, 0, lane] = real[T, lane]
                    rank_log[row, 1, lane] = deficit[lane]
                    rank_rows[lane] += 1
        again = False
        for lane in range(W):
            again = again or (accepted[lane] and count[STAGE_READY, lane] == 0)
        if again:
            for lane in range(W):
                t[0, lane] = real[T, lane]
            evaluate(kernels, y, t, p, scratch, work, nq)
            for lane in range(W):
                if accepted[lane] and count[STAGE_READY, lane] == 0:
                    count[EVALUATIONS, lane] += 1
                    for i in range(n):
                        K[0, i, lane] = scratch[i, lane]
        if met:
            return EVENT
    return BUDGET
