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
    FACTORISATIONS,
    FULL,
    GOES_ON,
    JACOBIANS,
    LAST_STEP,
    NEXT,
    NO_ROOT,
    NOT_FINITE,
    OFF_CONSTRAINTS,
    REJECTED,
    SAVED,
    TOO_SMALL,
    T,
)
from zwang.integrators.output import save
from zwang.integrators.projection import evaluate, keep_sizes, project_between, size_of
from zwang.integrators.radau.records import NewtonRoom, RadauMemory, RadauStep
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
from zwang.integrators.records import (
    FURTHER,
    EventMemory,
    LoopChoices,
    LoopEquations,
    LoopMemory,
    OutputBuffers,
    ProjectionRoom,
    RankRoom,
    StepEnds,
)
from zwang.integrators.step_control import (
    after_step,
    chosen_step,
    end_step,
    has_room,
    landed,
    next_step,
    note_events,
    shorten,
)
from zwang.integrators.stiffness import ERROR_FACTOR, ERROR_POWER, explicit_pays

__all__ = ["ERROR_ORDER", "advance"]

# The estimate is of order 4 in h, the error of interpolated states of order 5, that of steps of
# order 6; in stiff components all lose order and are near the estimate. Limiting the estimate to
# this power of the tolerance times a factor keeps saved states within a few tolerances, stiff or
# not: pendulums, orbits, the flyball governor.
ERROR_ORDER = 4

NEWTON_PART = 0.03  # of the tolerance, for the error of Newton's method
ROUNDING = 10.0 * 2.2e-16  # relative; what Newton's method cannot go below
SLOW_RATE = 1e-3  # J is kept while θ is below: an evaluation more costs less than J and factors
TARGET_RATE = 0.4  # θ grows like h; beyond this steps are lost to Newton (Gustafsson & Söderlind)
KEPT_STEPS = 1.0, 1.2  # h and its factors are kept for changes in between
NO_ERROR = 1e-10  # errors count as no less, so that they can be divided by
LEAST_BEFORE = 1e-2  # nor does the error of the step before in predicting the next one
SAFETY = 0.9
GROWTH, SHRINK = 8.0, 0.2  # largest and smallest change of h in a step


@loop
def advance(
    equations: LoopEquations,
    memory: LoopMemory,
    choices: LoopChoices,
    output: OutputBuffers,
    events: EventMemory,
    onto: ProjectionRoom,
    past: RadauMemory,
    room: NewtonRoom,
    step: RadauStep,
    budget,
):
    """Run until `until`, or until a buffer is full, the budget is used up or an event is met."""
    real, count, newton = memory.real, memory.counts, past.newton
    fixed = choices.fixed > 0.0
    allowed = ERROR_FACTOR * choices.tolerance**ERROR_POWER
    # How well Newton must solve: its error is one of the step, and of the states within it.
    goal = max(ROUNDING, NEWTON_PART * choices.tolerance) / allowed
    if newton[FACTORED_H] > 0.0:  # the factors are not stored, what they are made of is
        factorise_both(past.J, newton[FACTORED_H], equations.nq, room)
    for _ in range(budget):
        if not count[ACTIVE, 0]:
            return DONE
        step.start[0, 0] = real[T, 0]
        h, step.end[0, 0], last = next_step(
            memory, chosen_step(memory, choices), choices.until, LAST_STEP
        )
        if not step.end[0, 0] > step.start[0, 0]:
            return TOO_SMALL
        if not has_room(step.end[0, 0], memory, choices.times, output, 1):
            return FULL
        outcome, done, change = find_stages(
            equations, memory, choices, past, room, step, h, allowed, goal, fixed
        )
        if outcome != CONVERGED:
            ended = not_converged(memory, choices, newton, h, change, outcome == UNDEFINED)
            if ended != GOES_ON:
                return ended
            continue
        error = estimate_error(equations, memory, choices, past, room, step, h, allowed)
        if fixed and not error < np.inf:
            return NOT_FINITE
        error = max(error, NO_ERROR)
        change = change_by_error(error, done)
        accepted = fixed or error < 1.0
        accepted, change, deficit, arrived = project_end(
            equations, count, choices, step, onto, accepted, change, last
        )
        if change == 0.0:
            return OFF_CONSTRAINTS
        if not accepted:
            if not shorten(memory, h, change, choices):
                return TOO_SMALL if error < np.inf else NOT_FINITE
            continue
        save_within(equations, memory, choices, output, step, room.trial, onto, h)
        change = control_step(memory, past, error, h, change)
        evaluate(equations, step.point, step.end, step.rate)
        count[EVALUATIONS, 0] += 1
        event = watch_events(equations, memory, choices, events, past.f, step, onto)
        singular = False
        if choices.project and equations.rows:
            singular = rank_lost(
                equations, memory, output, past.f, step, onto.pivots, deficit, arrived, last
            )
        take_point(memory.y, past, step)
        if newton[SLOW] <= SLOW_RATE and KEPT_STEPS[0] <= change <= KEPT_STEPS[1]:
            change = 1.0
        leaves = explicit_pays(memory, choices, past.leaving, past.J, step.end[0, 0], step.looked)
        end_step(memory, h, step.end[0, 0], change, last, choices, output)
        ended = after_step(choices, singular, event, leaves)
        if ended != GOES_ON:
            return ended
    return BUDGET


@inlined
def find_stages(
    equations: LoopEquations,
    memory: LoopMemory,
    choices: LoopChoices,
    past: RadauMemory,
    room: NewtonRoom,
    step: RadauStep,
    h,
    allowed,
    goal,
    fixed,
):
    """Predict the stages of a step and solve for them: how that ended, iterations, change of h."""
    prepare_newton(equations, memory, past, room, step.start, h)
    predict_stages(memory.y, past, room, step, h, allowed, choices.entry_sizes)
    outcome, done, change = solve_stages(
        equations, memory.y, step.start[0, 0], h, step.stages, past.newton, goal, room, fixed
    )
    memory.counts[EVALUATIONS, 0] += done
    return outcome, done, change


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


@inlined
def prepare_newton(
    equations: LoopEquations, memory: LoopMemory, past: RadauMemory, room: NewtonRoom, t, h
):
    """A new Jacobian where Newton's method got slow, and factors for the length of the step."""
    y, nq, newton, count = memory.y, equations.nq, past.newton, memory.counts
    if not newton[FRESH] and (newton[FACTORED_H] == 0.0 or newton[SLOW] > SLOW_RATE):
        call(
            equations.kernels[FURTHER],
            *(y[:nq], y[nq:], t, equations.parameters, past.J, equations.work),
        )
        count[JACOBIANS, 0] += 1
        newton[FRESH], newton[FACTORED_H] = 1.0, 0.0
    if newton[FACTORED_H] != h:
        factorise_both(past.J, h, nq, room)
        count[FACTORISATIONS, 0] += 1
        newton[FACTORED_H] = h


@inlined
def predict_stages(
    y, past: RadauMemory, room: NewtonRoom, step: RadauStep, h, allowed, entry_sizes
):
    """Stages from the polynomial of the last step, and the magnitudes of the entries of y."""
    for i in range(y.shape[0]):
        room.size[i] = allowed * size_of(entry_sizes, i, abs(y[i, 0]), 0)
    if past.newton[LAST_H] > 0.0:
        extrapolated(past.Z, h, past.newton[LAST_H], step.stages, step.weights)
    else:
        for k in range(3):
            for i in range(y.shape[0]):
                step.stages[k, i, 0] = 0.0


@inlined
def not_converged(memory: LoopMemory, choices: LoopChoices, newton, h, change, undefined):
    """Try a shorter step, or the same with a new Jacobian; why the loop returns, or GOES_ON."""
    newton[LAST_H] = 0.0  # the extrapolation may have been what led astray
    newton[SLOW] = 1.0
    if not newton[FRESH]:
        return GOES_ON  # the same step with a new Jacobian
    if choices.fixed > 0.0:
        return NOT_FINITE if undefined else NO_ROOT
    if not shorten(memory, h, change, choices):
        return NOT_FINITE if undefined else TOO_SMALL
    return GOES_ON


@inlined
def estimate_error(
    equations: LoopEquations, memory: LoopMemory, choices: LoopChoices, past: RadauMemory,
    room: NewtonRoom, step: RadauStep, h, allowed,
):  # fmt: skip
    """The new point, and the error of the step in units of what is allowed."""
    y, stages, n = memory.y, step.stages, memory.y.shape[0]
    for i in range(n):
        step.new[i, 0] = y[i, 0] + stages[2, i, 0]
        step.defect[i] = (
            DEFECT[0] * stages[0, i, 0] + DEFECT[1] * stages[1, i, 0] + DEFECT[2] * stages[2, i, 0]
        ) / h
        step.error[i] = step.defect[i] + past.f[i, 0]
        larger = max(abs(y[i, 0]), abs(step.new[i, 0]))
        room.size[i] = allowed * size_of(choices.entry_sizes, i, larger, 0)
    substitute(room.real, room.exchanged[0], step.error)
    error = norm(step.error, room.size)
    first = past.newton[LAST_H] == 0.0 or memory.counts[REJECTED, 0]
    if not error < 1.0 and first and not choices.fixed > 0.0:
        # At a first step f may be far larger than along the motion; once more at y + e.
        for i in range(n):
            room.trial[i, 0] = y[i, 0] + step.error[i]
        evaluate(equations, room.trial, step.start, step.rate)
        memory.counts[EVALUATIONS, 0] += 1
        for i in range(n):
            step.error[i] = step.defect[i] + step.rate[i, 0]
        substitute(room.real, room.exchanged[0], step.error)
        error = norm(step.error, room.size)
    return error


@inlined
def change_by_error(error, done):
    """By how much h may change for its error, after so many evaluations of Newton's method."""
    # Many iterations are a sign of a step too long for Newton: be more careful.
    factor = SAFETY * (2.0 * ITERATIONS + 1.0) / (2.0 * ITERATIONS + done // 3)
    change = factor * error ** (-1.0 / ERROR_ORDER) if error < np.inf else SHRINK
    return min(GROWTH, max(SHRINK, change))


@inlined
def project_end(
    equations: LoopEquations, count, choices: LoopChoices, step: RadauStep, onto: ProjectionRoom,
    accepted, change, last,
):  # fmt: skip
    """Project the new point: whether it is accepted, the change of h, dependent rows, least pivot.

    The change is 0 for a fixed step that cannot be put on its constraints.
    """
    for i in range(step.new.shape[0]):
        step.point[i, 0] = step.new[i, 0]
    deficit, arrived = count[DEFICIT, 0], np.inf
    if accepted and choices.project:
        shorter, deficit, arrived = landed(
            equations, count, step.point, step.end, onto, choices, last
        )
        if shorter < 1.0:
            accepted, change = False, shorter
    return accepted, change, deficit, arrived


@inlined
def save_within(
    equations: LoopEquations, memory: LoopMemory, choices: LoopChoices, output: OutputBuffers,
    step: RadauStep, state, onto: ProjectionRoom, h,
):  # fmt: skip
    """Save the states at times within the step, if there are any."""
    k, times = memory.counts[NEXT, 0], choices.times
    if k < times.shape[0] and times[k] < step.end[0, 0]:
        save_between(equations, memory, choices, output, step, state, onto, h)


@loop
def save_between(
    equations: LoopEquations, memory: LoopMemory, choices: LoopChoices, output: OutputBuffers,
    step: RadauStep, state, onto: ProjectionRoom, h,
):  # fmt: skip
    """Save the states at times within the step from its interpolant, projected."""
    y, stages, w, times = memory.y, step.stages, step.weights, choices.times
    moment, k = memory.real[SAVED : SAVED + 1], memory.counts[NEXT, 0]
    t, end = step.start[0, 0], step.end[0, 0]
    usual = choices.tolerance if choices.fixed == 0.0 else np.inf
    while k < times.shape[0] and times[k] < end:
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
                + g * step.error[i]
            )
        if choices.project:
            moment[0, 0] = times[k]
            project_between(
                equations, state, step.looked[0], moment, onto, choices.entry_sizes, usual, 0
            )
        save(times[k], state, output, 0)
        k += 1
    memory.counts[NEXT, 0] = k


@inlined
def control_step(memory: LoopMemory, past: RadauMemory, error, h, change):
    """The change of h after an accepted step, by Gustafsson's predictive control."""
    real, count, newton = memory.real, memory.counts, past.newton
    if newton[LAST_H] > 0.0:
        predicted = SAFETY * h / newton[LAST_H] * (real[ERROR, 0] / error**2) ** 0.25
        change = min(change, max(SHRINK, predicted))
    change = min(change, TARGET_RATE / max(newton[SLOW], SLOW_RATE))
    if count[REJECTED, 0]:
        change = min(change, 1.0)
    real[ERROR, 0] = max(error, LEAST_BEFORE)
    count[REJECTED, 0] = count[AVOIDED, 0] = 0
    count[ACCEPTS, 0] += 1
    newton[LAST_H], newton[FRESH] = h, 0.0
    return change


@inlined
def watch_events(
    equations: LoopEquations, memory: LoopMemory, choices: LoopChoices, events: EventMemory, f,
    step: RadauStep, onto: ProjectionRoom,
):  # fmt: skip
    """Whether an event function changes its sign within the step."""
    event = False
    if choices.watch_events:
        onto.ok[0] = True
        event = crosses(
            *(equations, events, memory.y, f, step.point, step.rate, step.start, step.end),
            *(onto.ok, onto.scratch, memory.real[SAVED : SAVED + 1]),
        )
        note_events(events, step.start[0, 0], memory.y)
    return event


@inlined
def rank_lost(
    equations: LoopEquations, memory: LoopMemory, output: OutputBuffers, f, step: RadauStep,
    pivots, deficit, arrived, last,
):  # fmt: skip
    """Log changes of rank in the step; whether rank was lost."""
    t, end = step.start[0, 0], step.end[0, 0]
    room = RankRoom(step.looked, memory.real[SAVED : SAVED + 1], pivots)
    lost = watch_rank(
        *(equations, memory, StepEnds(memory.y, f, step.point, step.rate, t, end)),
        *(deficit, arrived, last, output, room, 0),
    )
    keep_sizes(pivots, equations.rows, 0)
    return lost


@inlined
def take_point(y, past: RadauMemory, step: RadauStep):
    """Take the new point, its derivative, and the stages for the next step."""
    for i in range(y.shape[0]):
        y[i, 0], past.f[i, 0] = step.point[i, 0], step.rate[i, 0]
        for k in range(3):
            past.Z[k, i, 0] = step.stages[k, i, 0]
