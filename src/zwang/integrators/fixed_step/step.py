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
from zwang.codegen.jit import inlined, loop
from zwang.integrators.event_detection import changed, event_functions
from zwang.integrators.fixed_step.records import DiscreteStage, DiscreteStep, RootProblem
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
)
from zwang.integrators.output import save
from zwang.integrators.projection import (
    evaluate,
    keep_sizes,
    note_sizes,
    project_once,
    projected,
    size_of,
)
from zwang.integrators.rank_loss import deficit_of, least_pivot, may_pass, watch_rank
from zwang.integrators.records import (
    EventMemory,
    LoopChoices,
    LoopEquations,
    LoopMemory,
    OutputBuffers,
    ProjectionRoom,
    RankRoom,
    StepEnds,
)
from zwang.integrators.step_control import chosen_step, end_step, has_room, next_step, note_events

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
def advance(
    equations: LoopEquations,
    memory: LoopMemory,
    choices: LoopChoices,
    output: OutputBuffers,
    events: EventMemory,
    onto: ProjectionRoom,
    stages,  # two of `DiscreteStage`
    step: DiscreteStep,
    budget,
):
    """Run until `until`, or until a buffer is full, the budget is used up or an event is met."""
    y, count = memory.y, memory.counts
    for _ in range(budget):
        if not count[ACTIVE, 0]:
            return DONE
        t = memory.real[T, 0]
        h, end, last = next_step(memory, chosen_step(memory, choices), choices.until, LONGEST)
        if not has_room(end, memory, choices.times, output, 1):
            return FULL
        step.scalars[0, 0], step.scalars[1, 0] = t, h
        evaluations, factorisations = take_stages(equations, stages, y, step, choices.entry_sizes)
        if evaluations <= 0:
            return NOT_FINITE if evaluations == 0 else NO_ROOT
        save_within(equations, memory, choices, output, step, onto, t, end, h)
        event, singular = False, False
        step.moment[0, 0] = end
        if choices.watch_events:
            event_functions(equations, step.new, step.moment, events.new)
            onto.ok[0] = True
            event = changed(events, onto.ok, equations.lanes)
            note_events(events, t, y)
        if choices.project and equations.rows:
            singular = rank_lost(equations, memory, output, step, onto, t, end, last)
        copy(step.new, y)
        copy(step.memory_new, step.memory)
        count[ACCEPTS, 0] += 1
        count[EVALUATIONS, 0] += evaluations
        count[JACOBIANS, 0] += evaluations
        count[FACTORISATIONS, 0] += factorisations
        end_step(memory, h, end, 1.0, last, choices, output)
        if singular and choices.stop_where_singular:
            return SINGULAR
        if event:
            return EVENT
    return BUDGET


@inlined
def take_stages(equations: LoopEquations, stages, y, step: DiscreteStep, entry_sizes):
    """One stage after the other: how many evaluations and factorisations they took.

    The first number is 0 where a residual is not finite, −1 where there is no root.
    """
    copy(y, step.start)
    copy(step.memory, step.memory_start)
    evaluations = factorisations = 0
    for stage in stages:
        if stage.unknowns == 0:
            continue
        given = RootProblem(step.start, step.memory_start, step.scalars, equations.parameters)
        tries = root(
            *(stage, given, step.new, step.memory_new, step.unknowns[: stage.unknowns]),
            *(entry_sizes, equations.nq, equations.work),
        )
        if tries <= 0:
            return tries, factorisations
        evaluations += tries
        factorisations += tries - 1
        copy(step.new, step.start)
        copy(step.memory_new, step.memory_start)
    return evaluations, factorisations


@inlined
def save_within(
    equations: LoopEquations, memory: LoopMemory, choices: LoopChoices, output: OutputBuffers,
    step: DiscreteStep, onto: ProjectionRoom, t, end, h,
):  # fmt: skip
    """Save the states at times within the step, from an interpolant, projected."""
    y, times, moment = memory.y, choices.times, step.moment
    first = k = memory.counts[NEXT, 0]
    while k < times.shape[0] and times[k] < end:
        k += 1
    memory.counts[NEXT, 0] = k
    if k > first:
        rates_at_ends(equations, y, step, t, end)
    for place in range(first, k):
        moment[0, 0] = times[place]
        interpolate(y, step, (times[place] - t) / h, h, equations.nq)
        if choices.project:
            projected(equations, step.between, moment, onto)
        save(times[place], step.between, output, 0)


@inlined
def rates_at_ends(equations: LoopEquations, y, step: DiscreteStep, t, end):
    """Derivatives at both ends of the step."""
    step.moment[0, 0] = end
    evaluate(equations, step.new, step.moment, step.rate_new)
    step.moment[0, 0] = t
    evaluate(equations, y, step.moment, step.rate)


@inlined
def rank_lost(
    equations: LoopEquations, memory: LoopMemory, output: OutputBuffers, step: DiscreteStep,
    onto: ProjectionRoom, t, end, last,
):  # fmt: skip
    """Log changes of rank in the step; whether rank was lost."""
    rows, pivots = equations.rows, onto.pivots
    project_once(equations, step.new, step.moment, onto.scratch, pivots)
    note_sizes(pivots, rows, 0)
    deficit = deficit_of(pivots, rows, 0)
    arrived = least_pivot(pivots, rows, memory.counts[DEFICIT, 0], 0)
    if may_pass(memory, arrived, 0):
        rates_at_ends(equations, memory.y, step, t, end)
    lost = watch_rank(
        *(equations, memory, StepEnds(memory.y, step.rate, step.new, step.rate_new, t, end)),
        *(deficit, arrived, last, output, RankRoom(step.looked, step.moment, pivots), 0),
    )
    keep_sizes(pivots, rows, 0)
    return lost


@loop
def copy(x, out):
    """Write x (n, 1) to the first entries of out."""
    for i in range(x.shape[0]):
        out[i, 0] = x[i, 0]


@loop
def solve(K, x):
    """Overwrite x (n,) with K⁻¹x, and K (n, n) with factors; False where K is singular.

    K[j] is column j. Rows are brought to the same size first, so that pivots are chosen fairly:
    dynamics and constraints have different units.
    """
    n = K.shape[0]
    for i in range(n):
        size = 0.0
        for j in range(n):
            size = max(size, abs(K[j, i]))
        if not 0.0 < size < np.inf:
            return False
        for j in range(n):
            K[j, i] /= size
        x[i] /= size
    exchanged = np.empty(n, np.int64)
    factorise(K, exchanged, 0)
    substitute(K, exchanged, x)
    finite = True
    for i in range(n):
        finite = finite and abs(x[i]) < np.inf
    return finite


@inlined
def change_of(new, before, entry_sizes):
    """The largest change of a state, relative to its entries; `before` becomes the state."""
    change = 0.0
    for i in range(new.shape[0]):
        difference = abs(new[i, 0] - before[i, 0])
        change = max(change, difference / size_of(entry_sizes, i, abs(new[i, 0]), 0))
        before[i, 0] = new[i, 0]
    return change


@loop
def root(stage: DiscreteStage, given: RootProblem, new, memory_new, x, entry_sizes, nq, work):
    """Find x with r(x) = 0 from x = 0, and with it the state and memory the stage leads to.

    Returns
    -------
    Number of evaluations, or 0 if r is not finite where it begins, −1 if Newton's method fails.
    """
    size, rows, columns = x.shape[0], stage.rows, stage.columns
    before = np.empty_like(new)
    r, entries, K = np.empty(size), np.empty((rows.shape[0], 1)), np.empty((size, size))
    for i in range(size):
        x[i, 0] = 0.0
    last = np.inf
    for k in range(CORRECTIONS + 1):
        call(
            stage.address,
            *(given.y[:nq], given.y[nq:], given.memory, x, given.scalars, given.parameters),
            *(new[:nq], new[nq:], memory_new, r, entries, work),
        )
        change = 0.0
        if k > 0:
            change = change_of(new, before, entry_sizes)
        else:
            copy(new, before)
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
            K[columns[i], rows[i]] = entries[i, 0]
        if not solve(K, r):
            return -1
        for i in range(size):
            x[i, 0] -= r[i]
    return -1


@loop
def interpolate(y, step: DiscreteStep, theta, h, nq):
    """The state at t + θ h, to the order of the method.

    q is Hermite's cubic. v is the quadratic through both ends whose mean is the mean velocity w of
    the step, for q̇ = v the derivative of that cubic. Accelerations do not enter: they may be large
    where the system is stiff.
    """
    new, rate, rate_new = step.new, step.rate, step.rate_new
    m, out = step.memory_new, step.between
    a, b = 1.0 - theta, theta
    for i in range(nq):
        rise = new[i, 0] - y[i, 0]
        slope = a * (h * rate[i, 0] - rise) - b * (h * rate_new[i, 0] - rise)
        out[i, 0] = a * y[i, 0] + b * new[i, 0] + a * b * slope
    for i in range(nq, y.shape[0]):
        excess = m[i - nq, 0] - 0.5 * (y[i, 0] + new[i, 0])
        out[i, 0] = a * y[i, 0] + b * new[i, 0] + 6.0 * a * b * excess
