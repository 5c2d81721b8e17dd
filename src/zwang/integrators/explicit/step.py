"""Explicit Runge–Kutta with error control, interpolation and projection: the compiled time loop.

One step of the loop, for each lane by itself:

1.  stages from y at t, the solution and its error estimate;
2.  error too large: reject, with a smaller h;
3.  project the new point onto φ = 0 and ψ = 0; a correction that does not contract means that the
    step went past where the constraints can be linearised: reject. The derivative there, the first
    stage of the next step, comes from the same call of a kernel as the residuals;
4.  save what lies within the step from the interpolant, projected;
5.  take the new point, and a new h from the error (proportional and integral control).

Near positions where the constraints lose rank two things go wrong otherwise: drift turns the path
onto another branch, and the error of stages off the constraints enters v̇ divided by the distance.
So every step is projected, and after a rejection for such an error all stages of the following
steps are evaluated at projected states, until three steps were accepted, or three after such a
position if one is near ahead; raw and projected stages are never mixed. Such positions are foreseen
and passed between stages, see `placed`; once raw stages were not good enough in a step that passes
one, by projected stages from the first.

All state of the loop lives in arrays, so that it may stop and go on anywhere with the same bits.
The same source serves one trajectory and several lanes: arrays are [entry][lane], and the number of
lanes is a constant of the compiled code (the length of the tuple `lanes`).
"""

from __future__ import annotations

import numpy as np

from zwang.codegen.jit import inlined, loop
from zwang.codegen.simd import all_of, any_of, side_by_side
from zwang.integrators.event_detection import crosses
from zwang.integrators.explicit.error_norm import EIGHT, LARGEST_ERROR, error_norm, tangential_error
from zwang.integrators.explicit.stage_sums import interpolation_of, stages_of
from zwang.integrators.explicit.tableaus import ORDER_5, ORDER_8
from zwang.integrators.memory import (
    ACCEPTS,
    ACTIVE,
    AHEAD,
    AT_STABILITY,
    AVOIDANCES,
    AVOIDED,
    BUDGET,
    DEFICIT,
    DONE,
    ERROR,
    EVALUATIONS,
    EVENT,
    FAILED_PROJECTION,
    FIXED_LIMIT,
    FULL,
    HANDOVER,
    LAST_STEP,
    LEAST_ERROR,
    LEFT,
    NEAR,
    NEXT,
    NO_ERROR,
    NOT_FINITE,
    OFF_CONSTRAINTS,
    PIVOT,
    PROJECTED,
    PROJECTIONS,
    REJECTED,
    REJECTS,
    SAFETY,
    SAVED,
    SHRINK,
    SINGULAR,
    STAGES_KEPT,
    TOO_SMALL,
    WARY,
    H,
    T,
    arrive,
    change_of_step,
    evaluate,
    keep_sizes,
    missed_most,
    note_sizes,
    project_between,
    project_once,
    save,
)
from zwang.integrators.rank_loss import (
    away,
    comes_near,
    deficit_of,
    foresee,
    foreseeable,
    least_pivot,
    look_closer,
    lowest_pivot,
    may_pass,
    placed,
    remember,
    rounding,
    slowed,
)

__all__ = ["INTEGERS", "MARKS", "NUMBERS", "OUTCOMES", "SAMPLE", "VECTORS", "advance"]

PASSING_PIVOT = 0.1  # stages of interpolants are projected in steps with pivots below this
GAP_8, GAP_5 = ORDER_8.gap, ORDER_5.gap
NEAR_EVALUATIONS = 4  # of a stage that is projected
ROUNDED = 0.99  # what an error counts as that is one of rounding
SAMPLE = 32  # steps between looks at stability

# Vectors like y that the loop works with: the stage or the projected point, the new point before
# it is projected, two for whatever comes, and one to keep the point in.
POINT, NEW, FIRST, SECOND, SPARE = 0, 1, 2, 3, 4
VECTORS = 5
# Rows of the other arrays that it works with.
NUMBERS, MARKS, INTEGERS = 9, 12, 5
OUTCOMES = 4  # the row of integers that tells why lanes have ended


@loop
def near_stage(kernels, x, row, t, p, out, pivots, work, nq, near, lanes):
    """Derivative at x[row]; where `near`, v̇ is taken at the projected state and q̇ at the raw.

    Returns how many evaluations that took.
    """
    w, first, second = x[row], x[FIRST], x[SECOND]
    evaluate(kernels, w, t, p, out, work, nq)
    # A stage may be far off; the second correction takes the factor at the corrected position.
    project_once(kernels, w, t, p, second, pivots, work, nq)
    project_once(kernels, second, t, p, first, pivots, work, nq)
    evaluate(kernels, first, t, p, second, work, nq)
    for lane in range(len(lanes)):
        if near[lane]:
            for i in range(nq, w.shape[0]):
                out[i, lane] = second[i, lane]
    return NEAR_EVALUATIONS


@inlined
def stage(out, ts, x, p, near, any_near, pivots, kernels, nq, work, lanes):
    """Derivative at x[POINT]; how many evaluations that took."""
    if any_near:
        return near_stage(kernels, x, POINT, ts, p, out, pivots, work, nq, near, lanes)
    evaluate(kernels, x[POINT], ts, p, out, work, nq)
    return 1


stages_8, stages_5 = stages_of(ORDER_8, stage), stages_of(ORDER_5, stage)
interpolation_8, interpolation_5 = interpolation_of(ORDER_8), interpolation_of(ORDER_5)


@loop
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


@loop
def interpolant(
    kernels, tableau, stages, K, y, t, h, p, x, near, projects, real, pivots, work, nq, lanes
):  # fmt: skip
    """The stages that only the interpolant needs; how many evaluations each took at most.

    They are projected where `projects` says so. Where `near`, those that correct the interpolant
    are left out: one of them is in the gap in which a singular position is passed.
    """
    _, _, C, _, S = tableau
    state, moment = x[NEW], real[SAVED : SAVED + 1]
    correcting = C.shape[0] - S.shape[0]
    any_near, done = any_of(projects, lanes), 1
    for s in range(stages + 1, C.shape[0]):
        if stages == EIGHT:
            interpolation_8(s, lanes, (state,), y, h, K)
        else:
            interpolation_5(s, lanes, (state,), y, h, K)
        for lane in range(len(lanes)):
            moment[0, lane] = t[0, lane] + C[s] * h[lane]
        if any_near:
            done = near_stage(kernels, x, NEW, moment, p, K[s], pivots, work, nq, projects, lanes)
        else:
            evaluate(kernels, state, moment, p, K[s], work, nq)
        for lane in range(len(lanes)):
            if near[lane] and s >= correcting:
                for i in range(y.shape[0]):
                    slope = 0.0
                    for j in range(correcting):
                        slope += S[s - correcting, j] * K[j, i, lane]
                    K[s, i, lane] = slope
    return done


@inlined
def interpolated(K, P, y, h, theta, out, lane, lanes):
    """The state of a lane at θ of the step, written for all lanes."""
    for i in range(y.shape[0]):
        total = 0.0
        for s in range(P.shape[0]):
            value = P[s, P.shape[1] - 1]
            for j in range(P.shape[1] - 2, -1, -1):
                value = value * theta + P[s, j]
            total += value * theta * K[s, i, lane]
        for other in range(len(lanes)):
            out[i, other] = y[i, lane] + h[lane] * total


@loop
def integrated(kernels, stages, K, y, t, h, p, x, near, real, pivots, work, nq, lanes):
    """Write the end of a step to x[NEW], as from projected stages where `near`.

    The stages K are those of this step then; x[POINT] is left as it was. Returns how many
    evaluations that took.
    """
    point, spare, ts = x[POINT], x[SPARE], real[SAVED : SAVED + 1]
    for lane in range(len(lanes)):
        for i in range(y.shape[0]):
            spare[i, lane] = point[i, lane]
    tools = (pivots, kernels, nq, work, lanes)
    if stages == EIGHT:
        done = stages_8(y, t, h, K, POINT, NEW, ts, x, p, near, any_of(near, lanes), *tools)
    else:
        done = stages_5(y, t, h, K, POINT, NEW, ts, x, p, near, any_of(near, lanes), *tools)
    for lane in range(len(lanes)):
        for i in range(y.shape[0]):
            point[i, lane] = spare[i, lane]
    return done


@loop
def save_between(
    kernels, tableau, stages, K, y, t, ts, h, p, x, near, projects, accepted, project, real, count,
    times, out_t, out_y, filled, onto, size, tolerance, lanes,
):  # fmt: skip
    """Save the states at times within the step from t to ts, from the interpolant, projected.

    `onto` is what `projected` takes beside state and time, `near` tells which stages were
    projected and `projects` where those of the interpolant are. A step that passes a singular
    position with raw stages may be far off the constraints on its way: where that shows, it is gone
    over again with projected ones. If a stage is so near that position that this does not help
    either, states are integrated to, each by a step of its own.
    """
    W, P = len(lanes), tableau[3]
    pivots, ratio, work, nq, atol, ok, before, settled = onto
    whole = (pivots, ratio, work, nq, atol, ok, before, settled, x[FIRST], lanes)
    state, moment = x[NEW], real[SAVED : SAVED + 1]
    rest = (real, pivots, work, nq, lanes)
    done = interpolant(kernels, tableau, stages, K, y, t, h, p, x, near, projects, *rest)
    for lane in range(W):
        k = count[NEXT, lane]
        if accepted[lane] and k < times.shape[0] and times[k] < ts[0, lane]:
            count[EVALUATIONS, lane] += (P.shape[0] - stages - 1) * (done if projects[lane] else 1)
    for lane in range(W):
        if not accepted[lane]:
            continue
        k, again, lost, whole_step = count[NEXT, lane], False, False, h[lane]
        while k < times.shape[0] and times[k] < ts[0, lane]:
            if lost:
                h[lane] = times[k] - t[0, lane]
                count[EVALUATIONS, lane] += integrated(
                    kernels, stages, K, y, t, h, p, x, near, *rest
                )
                h[lane] = whole_step
            else:
                interpolated(K, P, y, h, (times[k] - t[0, lane]) / whole_step, state, lane, lanes)
            for other in range(W):
                moment[0, other] = times[k]
            if project:
                how = project_between(
                    kernels, state, x[SECOND], moment, p, whole, size, tolerance, lane
                )
                if how != PROJECTED and not near[lane]:
                    near[lane] = projects[lane] = again = True
                    count[EVALUATIONS, lane] += integrated(
                        kernels, stages, K, y, t, h, p, x, near, *rest
                    ) + (P.shape[0] - stages - 1) * interpolant(
                        kernels, tableau, stages, K, y, t, h, p, x, near, projects, *rest
                    )
                    continue
                if how == LEFT and again and not lost:
                    lost = True
                    continue
            save(times[k], state, out_t, out_y, filled, lane)
            k += 1
        count[NEXT, lane] = k


@loop
def advance(
    kernels,  # addresses: derivative, project, residual, events, arrival
    sizes,  # nq, position rows, residual rows, event functions
    y,  # state (n, lanes)
    p,  # parameters (np, lanes)
    real,  # REALS × lanes
    count,  # COUNTS × lanes
    K,  # stages (all stages, n, lanes)
    tableau,  # A, B, C, P, S
    stability,  # h times the size of the Jacobian must stay below
    stages,
    order,
    tolerance,
    size,  # absolute size of each entry of y, and the share of |y| that adds to it (2, n, lanes)
    until,
    limits,  # smallest h, largest h, fixed h or 0
    options,  # project?, save every step?, look for events?, stop where rank is lost?
    times,  # times to save at, shared by all lanes
    out_t,  # saved times (lanes, rows)
    out_y,  # saved states (lanes, rows, n)
    filled,  # rows filled, per lane
    rank_log,  # (rows, LOG + n, lanes): each change of rank and the state there, see `rank_loss`
    rank_rows,  # rows filled, per lane
    event_values,  # g at y (events, lanes)
    event_before,  # g at the start of the last step
    previous,  # time and state at the start of the last step, for events
    x,  # VECTORS like y to work with
    moments,  # (2, lanes): times at the start of a step and of a stage
    ratio,  # relative residuals (rows, lanes)
    g_new,  # g at the new point (events, lanes)
    numbers,  # NUMBERS × lanes, marks and integers to work with
    marks,
    integers,
    spent,  # steps so far (1,)
    pivots,  # of the position rows and their sizes, see `memory` (PARTS · rows, lanes)
    atol,  # absolute part of the tolerance (n,)
    work,
    budget,
    lanes,
):
    """Run until `until`, or until a buffer is full, the budget is used up or an event is met.

    With several lanes, also until one of them ends; outcomes[lane] tells why.
    """
    W = len(lanes)
    A, B, nodes, _, _ = tableau
    nq, events = sizes[0], sizes[3]
    project, every_step, watch, stop = options
    h_min, h_max, h_fixed = limits
    n = y.shape[0]
    t, ts = moments[0:1], moments[1:2]
    point, new, scratch, scratch2 = x[POINT], x[NEW], x[FIRST], x[SECOND]
    h, err, before, arrived = numbers[0], numbers[1], numbers[2], numbers[3]
    squares, sums, longer = numbers[4:6], numbers[6:8], numbers[8]
    ok, settled, near, last = marks[0], marks[1], marks[2], marks[3]
    across, avoided, accepted = marks[4], marks[5], marks[6]
    short, within = marks[7], marks[8]
    active, full, some = marks[9], marks[10], marks[11]
    deficit, taken, outcomes = integers[0], integers[3], integers[OUTCOMES]
    evaluations, projections = integers[1], integers[2]
    gap = GAP_8 if stages == EIGHT else GAP_5
    asked = tolerance if h_fixed == 0.0 else np.inf
    tools = (pivots, kernels, nq, work, lanes)
    onto = (pivots, ratio, work, nq, atol, ok, before, settled)
    around = (p, x[FIRST:], real[SAVED : SAVED + 1], pivots, work, nq, sizes[1], real, count)
    while spent[0] < budget:
        for lane in side_by_side(lanes):
            t[0, lane] = real[T, lane]
            active[lane] = count[ACTIVE, lane] != 0
            h[lane] = h_fixed if h_fixed > 0.0 else min(real[H, lane], h_max)
            near[lane] = count[NEAR, lane] > 0 or slowed(real, count, lane)
            short[lane] = False
            some[lane] = active[lane] and not h_fixed > 0.0 and comes_near(h[lane], real, lane)
            no_room = filled[lane] >= out_t.shape[1] or rank_rows[lane] >= rank_log.shape[0]
            full[lane] = active[lane] and no_room
            evaluations[lane] = count[EVALUATIONS, lane]
            projections[lane] = count[PROJECTIONS, lane]
        if not any_of(active, lanes):
            return DONE if W == 1 else HANDOVER
        if any_of(full, lanes):
            return FULL
        spent[0] += 1
        if any_of(some, lanes):
            for lane in range(W):
                if some[lane]:
                    short[lane], h[lane] = placed(
                        h[lane], real, gap, nodes, stages, near[lane] or count[WARY, lane] > 0, lane
                    )
                    passes = real[AHEAD, lane] < t[0, lane] + h[lane]
                    near[lane] = near[lane] or (count[WARY, lane] > 0 and passes)
        any_near = any_of(near, lanes)
        for lane in side_by_side(lanes):
            left = until - t[0, lane]
            last[lane] = active[lane] and h[lane] * LAST_STEP >= left
            step = left if last[lane] else h[lane]
            h[lane] = step if active[lane] else 0.0

        # stages
        if stages == EIGHT:
            done = stages_8(y, t, h, K, POINT, NEW, ts, x, p, near, any_near, *tools)
        else:
            done = stages_5(y, t, h, K, POINT, NEW, ts, x, p, near, any_near, *tools)
        for lane in side_by_side(lanes):
            ts[0, lane] = until if last[lane] else t[0, lane] + h[lane]
        if stages != EIGHT:  # the estimate of order 4 looks at the derivative at the new point
            if any_near:
                done += near_stage(kernels, x, NEW, ts, p, K[stages], pivots, work, nq, near, lanes)
            else:
                evaluate(kernels, new, ts, p, K[stages], work, nq)
                done += 1

        # error
        error_norm(stages, K, y, new, h, size, tolerance, err, squares, scratch, scratch2, lanes)
        for lane in side_by_side(lanes):
            across[lane] = True
            some[lane] = 1.0 <= err[lane] < LARGEST_ERROR
            if not err[lane] < 1.0 and real[AHEAD, lane] < ts[0, lane]:
                count[WARY, lane] = 1  # raw stages are not good enough
            ok[lane] = err[lane] < np.inf
        if h_fixed > 0.0 and not all_of(ok, lanes):
            if W == 1:
                return NOT_FINITE
            for lane in side_by_side(lanes):
                if active[lane] and not ok[lane]:
                    outcomes[lane], count[ACTIVE, lane], active[lane] = NOT_FINITE, 0, False
        if any_of(some, lanes) and project and h_fixed == 0.0:
            tangential_error(
                *(kernels, stages, K, y, new, h, ts, p, size, tolerance, err, squares, across),
                *(real[PIVOT], pivots, point, scratch, scratch2, sums, work, nq, sizes[1], lanes),
            )
        for lane in side_by_side(lanes):
            if near[lane] and err[lane] < rounding(real[PIVOT, lane], tolerance):
                err[lane] = min(err[lane], ROUNDED)  # no other step would do better
            avoided[lane] = False
            accepted[lane] = active[lane] and (err[lane] < 1.0 or h_fixed > 0.0)
        any_accepted = any_of(accepted, lanes)

        # the new point: projection, derivative, rank
        if any_accepted:
            for lane in side_by_side(lanes):
                for i in range(n):
                    point[i, lane] = new[i, lane]
            if project:
                arrive(kernels, point, ts, p, K[stages], *onto, taken, scratch, lanes)
                for lane in side_by_side(lanes):
                    if accepted[lane]:
                        count[PROJECTIONS, lane] += taken[lane]
                        count[EVALUATIONS, lane] += taken[lane]
            elif stages == EIGHT:
                evaluate(kernels, new, ts, p, K[stages], work, nq)
                for lane in side_by_side(lanes):
                    if accepted[lane]:
                        count[EVALUATIONS, lane] += 1
        alone = done // NEAR_EVALUATIONS if any_near else done
        for lane in side_by_side(lanes):  # what the lane would have taken alone
            if active[lane]:
                count[EVALUATIONS, lane] += done if near[lane] else alone
        if project and any_accepted:
            for lane in side_by_side(lanes):
                note_sizes(pivots, sizes[1], lane)
                deficit[lane] = deficit_of(pivots, sizes[1], lane)
                arrived[lane] = lowest_pivot(pivots, sizes[1], lane)
                some[lane] = count[DEFICIT, lane] > 0
            if any_of(some, lanes):
                for lane in range(W):
                    arrived[lane] = least_pivot(pivots, sizes[1], count[DEFICIT, lane], lane)
            for lane in side_by_side(lanes):
                accepted[lane] = accepted[lane] and (ok[lane] or h_fixed > 0.0)
                off = accepted[lane] and not ok[lane] and missed_most(ratio, lane) > FIXED_LIMIT
                if off:  # a fixed step, which no shorter one can take the place of
                    outcomes[lane], count[ACTIVE, lane] = OFF_CONSTRAINTS, 0
                    accepted[lane], active[lane] = False, False
                # A singular position is passed in a step, not stopped at: there the acceleration
                # along the branch cannot be told from others. So end the step before it.
                if (
                    accepted[lane]
                    and h_fixed == 0.0
                    and deficit[lane] > count[DEFICIT, lane]
                    and count[AVOIDED, lane] < AVOIDANCES
                    and not last[lane]
                    and not real[AHEAD, lane] < ts[0, lane]
                ):
                    count[AVOIDED, lane] += 1
                    real[H, lane], real[AHEAD, lane] = h[lane], ts[0, lane]
                    avoided[lane], accepted[lane] = True, False

        if W == 1 and not active[0]:
            return OFF_CONSTRAINTS

        # rejection
        for lane in range(W):
            if all_of(accepted, lanes):
                break
            if not active[lane] or accepted[lane]:
                continue
            error = err[lane]
            count[REJECTS, lane] += 1
            count[REJECTED, lane] = 1
            if avoided[lane]:
                continue
            factor = FAILED_PROJECTION
            if not error < 1.0:
                factor = max(SHRINK, SAFETY * error ** (-1.0 / order)) if error < np.inf else SHRINK
            if project and (across[lane] or real[AHEAD, lane] < np.inf):
                if count[NEAR, lane] == 0 or real[AHEAD, lane] < ts[0, lane]:
                    factor = max(factor, 0.5)  # stages were at fault, and not the length
                count[NEAR, lane] = STAGES_KEPT
            real[H, lane] = h[lane] * factor
            if not real[H, lane] > h_min:
                outcome = NOT_FINITE if not error < np.inf else TOO_SMALL
                if W == 1:
                    return outcome
                outcomes[lane], count[ACTIVE, lane] = outcome, 0

        # interpolated states
        interpolate = False
        for lane in range(W):
            if times.shape[0] == 0:
                break
            least = min(real[PIVOT, lane], arrived[lane])
            within[lane] = project and (near[lane] or least < PASSING_PIVOT)
            k = count[NEXT, lane]
            while accepted[lane] and k < times.shape[0] and times[k] < ts[0, lane]:
                interpolate = True
                k += 1
            if filled[lane] + k - count[NEXT, lane] >= out_t.shape[1]:
                # No room for all of this step: leave, and take the same step again afterwards.
                for other in range(W):
                    if accepted[other]:  # what was rejected is not repeated, but tried shorter
                        count[EVALUATIONS, other] = evaluations[other]
                        count[PROJECTIONS, other] = projections[other]
                return FULL
        if interpolate:
            save_between(
                *(kernels, tableau, stages, K, y, t, ts, h, p, x, near, within, accepted, project),
                *(real, count, times, out_t, out_y, filled, onto, size, asked, lanes),
            )

        # acceptance
        met, singular, still = False, False, False
        if watch and any_accepted:
            met = crosses(
                kernels, y, K[0], point, K[stages], t, ts, p, event_values, g_new, accepted,
                scratch, real[SAVED : SAVED + 1], work, nq, events, lanes,
            )  # fmt: skip
        if watch:
            for lane in side_by_side(lanes):
                if accepted[lane]:
                    previous[0, 0, lane] = t[0, lane]
                    for i in range(n):
                        previous[1, i, lane] = y[i, lane]
                    for k in range(events):
                        event_before[k, lane] = event_values[k, lane]
                        event_values[k, lane] = g_new[k, lane]
        for lane in side_by_side(lanes):
            if accepted[lane]:
                logarithm = np.log(max(err[lane], NO_ERROR))
                change = change_of_step(logarithm, real[ERROR, lane], order)
                longer[lane] = min(change, 1.0) if count[REJECTED, lane] else change
                real[ERROR, lane] = max(logarithm, LEAST_ERROR)
                count[REJECTED, lane] = 0
                if away(real, arrived[lane], lane):
                    count[AVOIDED, lane] = 0
                count[ACCEPTS, lane] += 1
                if count[NEAR, lane] > 0:
                    count[NEAR, lane] -= 1
            some[lane] = accepted[lane] and count[ACCEPTS, lane] % SAMPLE == 0 and not near[lane]
        if any_of(some, lanes):
            for lane in range(W):
                if some[lane] and at_stability(h[lane], K, A, B, stages, stability, lane):
                    count[AT_STABILITY, lane] += 1
                if some[lane] and not ts[0, lane] > t[0, lane]:
                    # Time stands still, in steps that are never rejected.
                    outcomes[lane], count[ACTIVE, lane], still = TOO_SMALL, 0, True
        if project and sizes[1]:
            for lane in side_by_side(lanes):
                changed = deficit[lane] != count[DEFICIT, lane]
                changed = changed or may_pass(real, count, arrived[lane], lane)
                some[lane] = accepted[lane] and changed
                if accepted[lane] and not changed:
                    ends = t[0, lane], ts[0, lane]
                    remember(real, count, deficit[lane], arrived[lane], 0, *ends, lane)
            if any_of(some, lanes):
                for lane in range(W):
                    if some[lane]:
                        lost = look_closer(
                            *(kernels, y, K[0], point, K[stages], t[0, lane], ts[0, lane], *around),
                            *(deficit[lane], arrived[lane], last[lane], rank_log, rank_rows, lane),
                        )
                        singular = singular or lost
            for lane in side_by_side(lanes):
                if accepted[lane] and count[NEAR, lane] > 0 and real[AHEAD, lane] < np.inf:
                    count[NEAR, lane] = STAGES_KEPT  # until after it is passed
                ahead = foreseeable(real, t[0, lane], ts[0, lane], lane)
                some[lane] = accepted[lane] and ahead
            if any_of(some, lanes):
                for lane in range(W):
                    if some[lane]:
                        foresee(
                            *(kernels, y, K[0], point, K[stages], t[0, lane], ts[0, lane], *around),
                            lane,
                        )
            for lane in side_by_side(lanes):
                if accepted[lane]:
                    keep_sizes(pivots, sizes[1], lane)
        for lane in side_by_side(lanes):
            if accepted[lane]:
                for i in range(n):
                    y[i, lane] = point[i, lane]
                    K[0, i, lane] = K[stages, i, lane]
                real[T, lane] = ts[0, lane]
                if not short[lane] and (not last[lane] or longer[lane] < 1.0):
                    real[H, lane] = h[lane] * longer[lane]
                if last[lane]:
                    count[ACTIVE, lane] = 0
        for lane in range(W):
            if not accepted[lane]:
                continue
            k = count[NEXT, lane]
            on_time = k < times.shape[0] and times[k] <= real[T, lane]
            if every_step or on_time:
                save(real[T, lane], y, out_t, out_y, filled, lane)
                if on_time:
                    count[NEXT, lane] = k + 1
        if still and W == 1:
            return TOO_SMALL
        if singular and stop:
            return SINGULAR
        if met:
            return EVENT
        if W > 1:
            for lane in side_by_side(lanes):
                some[lane] = count[ACTIVE, lane] == 0
            if any_of(some, lanes):
                return HANDOVER
    return BUDGET
