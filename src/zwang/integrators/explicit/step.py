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
from zwang.integrators.explicit.dense_output import save_between
from zwang.integrators.explicit.error_norm import (
    EIGHT,
    LARGEST_ERROR,
    error_norm,
    tangential_error,
)
from zwang.integrators.explicit.records import (
    FIRST,
    NEW,
    POINT,
    ExplicitMethod,
    ExplicitRoom,
    ExplicitStep,
    step_of,
)
from zwang.integrators.explicit.stages import (
    NEAR_EVALUATIONS,
    at_stability,
    near_stage,
    take_stages,
)
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
    FULL,
    GOES_ON,
    HANDOVER,
    LAST_STEP,
    LEAST_ERROR,
    LEAVES,
    NEAR,
    NEXT,
    NO_ERROR,
    NOT_FINITE,
    OFF_CONSTRAINTS,
    PIVOT,
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
)
from zwang.integrators.output import save
from zwang.integrators.projection import (
    FIXED_LIMIT,
    arrive,
    copy_lanes,
    evaluate,
    keep_sizes,
    largest_residual,
    note_sizes,
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
from zwang.integrators.records import (
    EventMemory,
    LoopChoices,
    LoopEquations,
    LoopMemory,
    MotionSamples,
    OutputBuffers,
    ProjectionRoom,
    RankRoom,
    StepEnds,
)
from zwang.integrators.step_size import change_of_step
from zwang.integrators.stiffness import implicit_pays

__all__ = ["SAMPLE", "advance"]

PASSING_PIVOT = 0.1  # stages of interpolants are projected in steps with pivots below this
GAP_8, GAP_5 = ORDER_8.gap, ORDER_5.gap
ROUNDED = 0.99  # what an error counts as that is one of rounding
SAMPLE = 32  # steps between looks at stability


@loop
def advance(
    equations: LoopEquations,
    memory: LoopMemory,
    settings: LoopChoices,
    output: OutputBuffers,
    events: EventMemory,
    onto: ProjectionRoom,
    method: ExplicitMethod,
    room: ExplicitRoom,
    budget,
):
    """Run until `until`, or until a buffer is full, the budget is used up or an event is met.

    With several lanes, also until one of them ends; step.outcome[lane] is why.
    """
    step, lanes = step_of(room), equations.lanes
    choices = settings._replace(tolerance=min(settings.tolerance, method.loosest))
    while step.spent[0] < budget:
        begin_steps(memory, choices, output, step, lanes)
        if not any_of(step.active, lanes):
            return DONE if len(lanes) == 1 else HANDOVER
        if any_of(step.full, lanes):
            return FULL
        step.spent[0] += 1
        place_steps(method, memory, choices, step, lanes)
        any_near = any_of(step.near, lanes)
        end_at_last(choices, step, lanes)
        done = evaluate_stages(equations, method, memory, choices, step, onto.pivots, any_near)
        if not estimate_error(equations, method, memory, choices, step, onto):
            return NOT_FINITE
        any_accepted = any_of(step.accepted, lanes)
        if any_accepted:
            move_to_end(equations, method, memory, choices, step, onto)
        count_stages(memory, step, done, any_near, lanes)
        if choices.project and any_accepted:
            look_at_end(equations, memory, choices, step, onto)
        if len(lanes) == 1 and not step.active[0]:
            return OFF_CONSTRAINTS
        outcome = reject(memory, choices, step, method.order, lanes)
        if outcome != GOES_ON:
            return outcome
        if not save_within(equations, method, memory, choices, output, step, onto):
            return FULL
        event = False
        if choices.watch_events:
            if any_accepted:
                event = look_for_events(equations, memory, events, step, method.stages)
            note_events_of_lanes(memory, events, step, lanes)
        still = control_step(method, memory, step, lanes)
        leaves = False
        if choices.may_leave:
            leaves = look_for_stiffness(memory, choices, step, lanes)
        singular = False
        if choices.project and equations.rows:
            singular = watch_rank_of_lanes(
                equations, memory, output, step, onto.pivots, method.stages
            )
        accept(memory, choices, output, step, method.stages, lanes)
        outcome = outcome_of(memory, choices, step, lanes, still, singular, event)
        if outcome == GOES_ON and leaves:
            return LEAVES
        if outcome != GOES_ON:
            return outcome
    return BUDGET


@inlined
def begin_steps(
    memory: LoopMemory, choices: LoopChoices, output: OutputBuffers, step: ExplicitStep, lanes
):
    """Time, length and marks of the next step; `some` marks singular positions near ahead."""
    real, count, fixed = memory.real, memory.counts, choices.fixed
    for lane in side_by_side(lanes):
        step.start[0, lane] = real[T, lane]
        step.active[lane] = count[ACTIVE, lane] != 0
        step.h[lane] = fixed if fixed > 0.0 else min(real[H, lane], choices.largest)
        step.near[lane] = count[NEAR, lane] > 0 or slowed(memory, lane)
        step.short[lane] = False
        controlled = step.active[lane] and not fixed > 0.0
        step.some[lane] = controlled and comes_near(step.h[lane], real, lane)
        filled = output.filled[lane] >= output.t.shape[1]
        no_room = filled or output.rank_rows[lane] >= output.rank_log.shape[0]
        step.full[lane] = step.active[lane] and no_room
        step.evaluations[lane] = count[EVALUATIONS, lane]
        step.projections[lane] = count[PROJECTIONS, lane]


@inlined
def place_steps(
    method: ExplicitMethod, memory: LoopMemory, choices: LoopChoices, step: ExplicitStep, lanes
):
    """Shorten steps so that singular positions ahead lie between their stages.

    Where rows are left out it is those that act which lose rank, and the mechanism does not: its
    other rows would hold what raw stages miss by more and more.
    """
    if any_of(step.some, lanes):
        real, count, near = memory.real, memory.counts, step.near
        gap = GAP_8 if method.stages == EIGHT else GAP_5
        for lane in range(len(lanes)):
            if step.some[lane]:
                wary = count[WARY, lane] > 0
                step.short[lane], step.h[lane] = placed(
                    *(step.h[lane], real, gap, method.C, method.stages),
                    *(near[lane] or wary, lane),
                )
                passes = real[AHEAD, lane] < step.start[0, lane] + step.h[lane]
                near[lane] = near[lane] or choices.keeps_clear or (wary and passes)


@inlined
def end_at_last(choices: LoopChoices, step: ExplicitStep, lanes):
    """Let the last step end at the end of the simulation; lanes that are not active stand still."""
    for lane in side_by_side(lanes):
        left = choices.until - step.start[0, lane]
        step.last[lane] = step.active[lane] and step.h[lane] * LAST_STEP >= left
        h = left if step.last[lane] else step.h[lane]
        step.h[lane] = h if step.active[lane] else 0.0


@inlined
def evaluate_stages(
    equations: LoopEquations, method: ExplicitMethod, memory: LoopMemory, choices: LoopChoices,
    step: ExplicitStep, pivots, any_near,
):  # fmt: skip
    """Stages, solution and the time where the step ends; how many evaluations that took."""
    new, end, K = step.x[NEW], step.end, step.K
    done = take_stages(equations, method, memory.y, step, end, pivots, any_near)
    for lane in side_by_side(equations.lanes):
        end[0, lane] = choices.until if step.last[lane] else step.start[0, lane] + step.h[lane]
    if method.stages != EIGHT:  # the estimate of order 4 takes the derivative at the new point
        if any_near:
            done += near_stage(equations, new, end, K[method.stages], step.x, pivots, step.near)
        else:
            evaluate(equations, new, end, K[method.stages])
            done += 1
    return done


@inlined
def estimate_error(
    equations: LoopEquations, method: ExplicitMethod, memory: LoopMemory, choices: LoopChoices,
    step: ExplicitStep, onto: ProjectionRoom,
):  # fmt: skip
    """Errors of the step, and which lanes accept it; False if a single lane is not finite.

    Of several lanes those that are not finite in a fixed step end.
    """
    lanes, real, count, error = equations.lanes, memory.real, memory.counts, step.error
    fixed = choices.fixed
    error_norm(method, memory.y, step, choices, lanes)
    for lane in side_by_side(lanes):
        step.across[lane] = True
        step.some[lane] = 1.0 <= error[lane] < LARGEST_ERROR
        if not error[lane] < 1.0 and real[AHEAD, lane] < step.end[0, lane]:
            count[WARY, lane] = 1  # raw stages are not good enough
        onto.ok[lane] = error[lane] < np.inf
    if fixed > 0.0 and not all_of(onto.ok, lanes):
        if len(lanes) == 1:
            return False
        for lane in side_by_side(lanes):
            if step.active[lane] and not onto.ok[lane]:
                step.outcome[lane], count[ACTIVE, lane] = NOT_FINITE, 0
                step.active[lane] = False
    if any_of(step.some, lanes) and choices.project and fixed == 0.0:
        tangential_error(equations, method, memory, step, choices, onto.pivots)
    for lane in side_by_side(lanes):
        if step.near[lane] and error[lane] < rounding(real[PIVOT, lane], choices.tolerance):
            error[lane] = min(error[lane], ROUNDED)  # no other step would do better
        step.avoided[lane] = False
        step.accepted[lane] = step.active[lane] and (error[lane] < 1.0 or fixed > 0.0)
    return True


@inlined
def move_to_end(
    equations: LoopEquations, method: ExplicitMethod, memory: LoopMemory, choices: LoopChoices,
    step: ExplicitStep, onto: ProjectionRoom,
):  # fmt: skip
    """The new point, projected, and the derivative there."""
    count, lanes, accepted = memory.counts, equations.lanes, step.accepted
    point, rate = step.x[POINT], step.K[method.stages]
    copy_lanes(step.x[NEW], point, lanes)
    if choices.project:
        arrive(equations, point, step.end, rate, onto, step.taken)
        for lane in side_by_side(lanes):
            if accepted[lane]:
                count[PROJECTIONS, lane] += step.taken[lane]
                count[EVALUATIONS, lane] += step.taken[lane]
    elif method.stages == EIGHT:
        evaluate(equations, step.x[NEW], step.end, rate)
        for lane in side_by_side(lanes):
            if accepted[lane]:
                count[EVALUATIONS, lane] += 1


@inlined
def count_stages(memory: LoopMemory, step: ExplicitStep, done, any_near, lanes):
    """Count the evaluations that a lane would have taken alone."""
    alone = done // NEAR_EVALUATIONS if any_near else done
    for lane in side_by_side(lanes):
        if step.active[lane]:
            memory.counts[EVALUATIONS, lane] += done if step.near[lane] else alone


@inlined
def saves_within(memory: LoopMemory, choices: LoopChoices, step: ExplicitStep, lane):
    """Whether a state is to be saved before the end of a step."""
    k, times = memory.counts[NEXT, lane], choices.times
    return k < times.shape[0] and times[k] < step.end[0, lane]


@inlined
def look_at_end(
    equations: LoopEquations, memory: LoopMemory, choices: LoopChoices, step: ExplicitStep,
    onto: ProjectionRoom,
):  # fmt: skip
    """Pivots at the new point, and whether the step may end there.

    A singular position is passed in a step, not stopped at: there the acceleration along the branch
    cannot be distinguished from others. So a step that would end there is to end before it, and so
    is the last one if states within it are saved, for which that acceleration counts as well.
    """
    real, count, lanes, rows = memory.real, memory.counts, equations.lanes, equations.rows
    pivots, fixed, accepted = onto.pivots, choices.fixed, step.accepted
    for lane in side_by_side(lanes):
        note_sizes(pivots, rows, lane)
        step.deficit[lane] = deficit_of(pivots, rows, lane)
        step.arrived[lane] = lowest_pivot(pivots, rows, lane)
        step.some[lane] = count[DEFICIT, lane] > 0
    if any_of(step.some, lanes):
        for lane in range(len(lanes)):
            step.arrived[lane] = least_pivot(pivots, rows, count[DEFICIT, lane], lane)
    for lane in range(len(lanes)):  # whether it may end anywhere
        step.some[lane] = step.last[lane] and not saves_within(memory, choices, step, lane)
    for lane in side_by_side(lanes):
        accepted[lane] = accepted[lane] and (onto.ok[lane] or fixed > 0.0)
        off = accepted[lane] and not onto.ok[lane]
        off = off and largest_residual(onto.residuals, lane) > FIXED_LIMIT
        if off:  # a fixed step, which no shorter one can take the place of
            step.outcome[lane], count[ACTIVE, lane] = OFF_CONSTRAINTS, 0
            accepted[lane], step.active[lane] = False, False
        if (
            accepted[lane]
            and fixed == 0.0
            and step.deficit[lane] > count[DEFICIT, lane]
            and count[AVOIDED, lane] < AVOIDANCES
            and not step.some[lane]
            and not real[AHEAD, lane] < step.end[0, lane]
        ):
            count[AVOIDED, lane] += 1
            real[H, lane], real[AHEAD, lane] = step.h[lane], step.end[0, lane]
            step.avoided[lane], accepted[lane] = True, False


@inlined
def reject(memory: LoopMemory, choices: LoopChoices, step: ExplicitStep, order, lanes):
    """A shorter step where this one is rejected; why the loop returns if that is too short."""
    real, count = memory.real, memory.counts
    for lane in range(len(lanes)):
        if all_of(step.accepted, lanes):
            break
        if not step.active[lane] or step.accepted[lane]:
            continue
        error = step.error[lane]
        count[REJECTS, lane] += 1
        count[REJECTED, lane] = 1
        if step.avoided[lane]:
            continue
        factor = FAILED_PROJECTION
        if not error < 1.0:
            factor = max(SHRINK, SAFETY * error ** (-1.0 / order)) if error < np.inf else SHRINK
        if choices.project and (step.across[lane] or real[AHEAD, lane] < np.inf):
            if count[NEAR, lane] == 0 or real[AHEAD, lane] < step.end[0, lane]:
                factor = max(factor, 0.5)  # stages were at fault, and not the length
            count[NEAR, lane] = STAGES_KEPT
        real[H, lane] = step.h[lane] * factor
        if not real[H, lane] > choices.smallest:
            outcome = NOT_FINITE if not error < np.inf else TOO_SMALL
            if len(lanes) == 1:
                return outcome
            step.outcome[lane], count[ACTIVE, lane] = outcome, 0
    return GOES_ON


@inlined
def save_within(
    equations: LoopEquations, method: ExplicitMethod, memory: LoopMemory, choices: LoopChoices,
    output: OutputBuffers, step: ExplicitStep, onto: ProjectionRoom,
):  # fmt: skip
    """Save states within accepted steps; False if there is no room for all of one.

    The loop is to return then, and to take the same step again.
    """
    count, times, lanes, interpolate = memory.counts, choices.times, equations.lanes, False
    for lane in range(len(lanes)):
        if times.shape[0] == 0:
            break
        least = min(memory.real[PIVOT, lane], step.arrived[lane])
        step.within[lane] = choices.project and (step.near[lane] or least < PASSING_PIVOT)
        k = count[NEXT, lane]
        while step.accepted[lane] and k < times.shape[0] and times[k] < step.end[0, lane]:
            interpolate = True
            k += 1
        if output.filled[lane] + k - count[NEXT, lane] >= output.t.shape[1]:
            for other in range(len(lanes)):
                if step.accepted[other]:  # what was rejected is not repeated, but tried shorter
                    count[EVALUATIONS, other] = step.evaluations[other]
                    count[PROJECTIONS, other] = step.projections[other]
            return False
    if interpolate:
        save_between(equations, method, memory, step, choices, output, onto)
    return True


@inlined
def look_for_events(
    equations: LoopEquations, memory: LoopMemory, events: EventMemory, step: ExplicitStep, stages
):
    """Whether an event function changes its sign within an accepted step."""
    return crosses(
        *(equations, events, memory.y, step.K[0], step.x[POINT], step.K[stages]),
        *(step.start, step.end, step.accepted, step.x[FIRST], memory.real[SAVED : SAVED + 1]),
    )


@inlined
def note_events_of_lanes(memory: LoopMemory, events: EventMemory, step: ExplicitStep, lanes):
    """Remember where accepted steps began, and the event functions at both of their ends."""
    for lane in side_by_side(lanes):
        if step.accepted[lane]:
            events.previous[0, 0, lane] = step.start[0, lane]
            for i in range(memory.y.shape[0]):
                events.previous[1, i, lane] = memory.y[i, lane]
            for k in range(events.new.shape[0]):
                events.before[k, lane] = events.values[k, lane]
                events.values[k, lane] = events.new[k, lane]


@inlined
def control_step(method: ExplicitMethod, memory: LoopMemory, step: ExplicitStep, lanes):
    """Change of h from the error; whether time stands still, in steps that are never rejected.

    Now and then, whether stability limits the step.
    """
    real, count, still = memory.real, memory.counts, False
    for lane in side_by_side(lanes):
        if step.accepted[lane]:
            logarithm = np.log(max(step.error[lane], NO_ERROR))
            change = change_of_step(logarithm, real[ERROR, lane], method.order)
            step.change[lane] = min(change, 1.0) if count[REJECTED, lane] else change
            real[ERROR, lane] = max(logarithm, LEAST_ERROR)
            count[REJECTED, lane] = 0
            if away(real, step.arrived[lane], lane):
                count[AVOIDED, lane] = 0
            count[ACCEPTS, lane] += 1
            if count[NEAR, lane] > 0:
                count[NEAR, lane] -= 1
        sampled = count[ACCEPTS, lane] % SAMPLE == 0
        step.some[lane] = step.accepted[lane] and sampled and not step.near[lane]
    if any_of(step.some, lanes):
        for lane in range(len(lanes)):
            if step.some[lane] and at_stability(method, step.h[lane], step.K, lane):
                count[AT_STABILITY, lane] += 1
            if step.some[lane] and not step.end[0, lane] > step.start[0, lane]:
                step.outcome[lane], count[ACTIVE, lane], still = TOO_SMALL, 0, True
    return still


@inlined
def look_for_stiffness(memory: LoopMemory, choices: LoopChoices, step: ExplicitStep, lanes):
    """Whether an implicit method is to take over; of several lanes those end where it is."""
    leaves = False
    for lane in range(len(lanes)):
        if step.accepted[lane] and not step.near[lane] and not step.last[lane]:
            pays = implicit_pays(
                *(memory, choices, MotionSamples(step.sample_times, step.samples, step.leaving)),
                *(step.x[POINT], step.end[0, lane], lane),
            )
            if pays and len(lanes) > 1:
                step.outcome[lane], memory.counts[ACTIVE, lane] = LEAVES, 0
            leaves = leaves or (pays and len(lanes) == 1)
    return leaves


@inlined
def watch_rank_of_lanes(
    equations: LoopEquations, memory: LoopMemory, output: OutputBuffers, step: ExplicitStep,
    pivots, stages,
):  # fmt: skip
    """Log changes of rank in accepted steps, and foresee the next; whether rank was lost."""
    real, count, lanes, singular = memory.real, memory.counts, equations.lanes, False
    room = RankRoom(step.x[FIRST:], real[SAVED : SAVED + 1], pivots)
    y, rate, point, new_rate = memory.y, step.K[0], step.x[POINT], step.K[stages]
    start, end = step.start, step.end
    for lane in side_by_side(lanes):
        changed = step.deficit[lane] != count[DEFICIT, lane]
        changed = changed or may_pass(memory, step.arrived[lane], lane)
        step.some[lane] = step.accepted[lane] and changed
        if step.accepted[lane] and not changed:
            deficit, arrived = step.deficit[lane], step.arrived[lane]
            remember(memory, deficit, arrived, 0, start[0, lane], end[0, lane], lane)
    if any_of(step.some, lanes):
        for lane in range(len(lanes)):
            if step.some[lane]:
                ends = StepEnds(y, rate, point, new_rate, start[0, lane], end[0, lane])
                lost = look_closer(
                    *(equations, memory, ends, step.deficit[lane], step.arrived[lane]),
                    *(step.last[lane], output, room, lane),
                )
                singular = singular or lost
    for lane in side_by_side(lanes):
        if step.accepted[lane] and count[NEAR, lane] > 0 and real[AHEAD, lane] < np.inf:
            count[NEAR, lane] = STAGES_KEPT  # until after it is passed
        ahead = foreseeable(real, start[0, lane], end[0, lane], lane)
        step.some[lane] = step.accepted[lane] and ahead
    if any_of(step.some, lanes):
        for lane in range(len(lanes)):
            if step.some[lane]:
                ends = StepEnds(y, rate, point, new_rate, start[0, lane], end[0, lane])
                foresee(equations, memory, ends, room, lane)
    for lane in side_by_side(lanes):
        if step.accepted[lane]:
            keep_sizes(pivots, equations.rows, lane)
    return singular


@inlined
def accept(
    memory: LoopMemory, choices: LoopChoices, output: OutputBuffers, step: ExplicitStep, stages,
    lanes,
):  # fmt: skip
    """Take the new point, its time and the next h, and save the point if it is asked for."""
    y, real, count, times = memory.y, memory.real, memory.counts, choices.times
    point = step.x[POINT]
    for lane in side_by_side(lanes):
        if step.accepted[lane]:
            for i in range(y.shape[0]):
                y[i, lane] = point[i, lane]
                step.K[0, i, lane] = step.K[stages, i, lane]
            real[T, lane] = step.end[0, lane]
            change = step.change[lane]
            if not step.short[lane] and (not step.last[lane] or change < 1.0):
                real[H, lane] = step.h[lane] * change
            if step.last[lane]:
                count[ACTIVE, lane] = 0
    for lane in range(len(lanes)):
        if not step.accepted[lane]:
            continue
        k = count[NEXT, lane]
        on_time = k < times.shape[0] and times[k] <= real[T, lane]
        if choices.every_step or on_time:
            save(real[T, lane], y, output, lane)
            if on_time:
                count[NEXT, lane] = k + 1


@inlined
def outcome_of(
    memory: LoopMemory, choices: LoopChoices, step: ExplicitStep, lanes, still, singular, event
):
    """Why the loop returns after a step, or GOES_ON."""
    if still and len(lanes) == 1:
        return TOO_SMALL
    if singular and choices.stop_where_singular:
        return SINGULAR
    if event:
        return EVENT
    if len(lanes) > 1:
        for lane in side_by_side(lanes):
            step.some[lane] = memory.counts[ACTIVE, lane] == 0
        if any_of(step.some, lanes):
            return HANDOVER
    return GOES_ON
