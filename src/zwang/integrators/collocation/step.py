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
nodes, as after a rejection until three steps were accepted. Where rows do not act because they
follow from others, what comes near may be no singular position, but one in which they have to: the
loop returns before it, for a method whose steps are looked at one by one.

One trajectory at a time, whose nodes are the lanes; its own arrays are [entry][0] as everywhere.
"""

from __future__ import annotations

import numpy as np

from zwang.codegen.jit import inlined, loop
from zwang.codegen.node_sums import NODES
from zwang.integrators.collocation.events import crosses, watch
from zwang.integrators.collocation.nodes import (
    CONVERGED,
    DIVERGED,
    LOWEST_RATE,
    TOO_LONG,
    UNDEFINED,
    WITHIN,
    between,
    estimate,
    finish,
    node_pivots,
    predict,
    solve,
)
from zwang.integrators.collocation.records import (
    FIRST,
    LAST,
    LENGTH,
    ORIGIN,
    POINT,
    RATE,
    SECOND,
    THIRD,
    CollocationMethod,
    CollocationStep,
    NodeSweeps,
    StepBefore,
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
    FULL,
    GOES_ON,
    GROWTH,
    LAST_STEP,
    LEAST_ERROR,
    NEAR,
    NEXT,
    NO_ERROR,
    NO_ROOT,
    NOT_FINITE,
    OFF_CONSTRAINTS,
    PIVOT,
    REJECTED,
    ROWS_NEAR,
    SAVED,
    SHRINK,
    STAGES_KEPT,
    TOO_SMALL,
    H,
    T,
)
from zwang.integrators.output import save
from zwang.integrators.projection import LARGEST, keep_sizes, project_between, project_once, size_of
from zwang.integrators.rank_loss import away, comes_near, placed, rounding, slowed
from zwang.integrators.records import (
    EventMemory,
    LoopChoices,
    LoopEquations,
    LoopMemory,
    MotionSamples,
    OutputBuffers,
    ProjectionRoom,
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
from zwang.integrators.step_size import begin_step
from zwang.integrators.stiffness import (
    held_by_sweeps,
    implicit_pays_after_sweeps,
    note_sweeps,
)

__all__ = ["ERROR_ORDER", "advance", "begin"]

ERROR_ORDER = 9  # of the error within a step
SAFETY = 0.8  # its ninth power is what the error aims at: estimates vary, rejections are dear
LARGEST_ERROR = 1e6
TARGET_RATE = 0.12  # of convergence, which grows like h; longer steps cost as much in sweeps
ALONG = 0.1  # an error is one along the constraints if projecting leaves this part of it
FAR_BELOW = np.log(1e-4)  # an error that has not decided the step, its logarithm
DIVERGENCE = 0.5  # change of h where sweeps do not converge
# The same where nodes are projected already: one of them is too near a singular position. With a
# step that is hardly shorter it is another one, further away.
NEAR_DIVERGENCE = 0.8

# Tolerances by which a step may be moved onto its constraints. Its end is far more accurate than
# states within it, unless constraints have a kink there.
PROJECTED = 10.0

# A pivot, relative to its row, above which rows are far from depending on each other: the error of
# an interpolated state across the constraints grows by its root at most, some ten times.
CLEAR_PIVOT = 0.01

ROUNDED = 0.99  # what an error counts as that is one of rounding
MIDDLE = NODES // 2  # the first node after the widest gap between them


@loop
def advance(
    equations: LoopEquations,
    memory: LoopMemory,
    choices: LoopChoices,
    output: OutputBuffers,
    events: EventMemory,
    onto: ProjectionRoom,
    method: CollocationMethod,
    before: StepBefore,
    sweeps: NodeSweeps,
    step: CollocationStep,
    samples: MotionSamples,
    budget,
):
    """Run until `until`, or until a buffer is full, the budget is used up or an event is met."""
    real, count, y = memory.real, memory.counts, memory.y
    fixed, watches_rank = choices.fixed > 0.0, choices.project and equations.rows > 0
    for _ in range(budget):
        if not count[ACTIVE, 0]:
            return DONE
        h, is_near, short, allowed = place_step(method, memory, choices)
        if choices.keeps_clear and (is_near or comes_near(h, real, 0)):
            return ROWS_NEAR
        h, end, last = next_step(memory, h, choices.until, LAST_STEP)
        if not end > real[T, 0]:
            return TOO_SMALL
        if not has_room(end, memory, choices.times, output, NODES + 1 if watches_rank else 0):
            return FULL  # at most so many changes of rank are logged in a step
        step.start[0, 0], step.end[0, 0] = real[T, 0], end
        outcome, swept = sweep_nodes(equations, method, memory, choices, before, sweeps, h, is_near)
        F = sweeps.G if swept % 2 else sweeps.F
        G = sweeps.F if swept % 2 else sweeps.G
        outcome, error, across = estimate_error(
            *(equations, method, memory, choices, before, sweeps, step, onto.pivots),
            *(F, G, h, outcome, is_near, allowed),
        )
        known = outcome == CONVERGED or outcome == TOO_LONG  # noqa: PLR1714 - no sets in loops
        if fixed and (outcome == UNDEFINED or not error < np.inf):
            return NOT_FINITE if outcome == UNDEFINED else NO_ROOT
        accepted = fixed or (error < 1.0 and outcome == CONVERGED)
        logarithm = np.log(min(max(error, NO_ERROR), LARGEST_ERROR))
        change = change_by_error(logarithm, known, is_near and outcome == DIVERGED)
        deficit, arrived = count[DEFICIT, 0], np.inf
        if accepted:
            rise(F, y, h, method.weights, step.x[POINT])
            if choices.project:
                accepted, change, across, deficit, arrived = project_end(
                    *(equations, memory, choices, step, onto, sweeps.part_of, h),
                    *(change, across, last, is_near),
                )
                if change == 0.0:
                    return OFF_CONSTRAINTS
        if not accepted:
            near = watches_rank and not fixed and (across or not known or real[AHEAD, 0] < np.inf)
            slow = outcome == DIVERGED and not is_near
            if not refuse(memory, choices, before, F, h, change, known, near, slow):
                return NOT_FINITE if outcome == UNDEFINED else TOO_SMALL
            continue
        if watches_rank and come_close(equations, method, choices, sweeps, onto, arrived, is_near):
            return ROWS_NEAR
        save_within(equations, method, memory, choices, output, sweeps, step, onto, F, h)
        event = watch_events(equations, memory, choices, events, sweeps, step, onto.ok)
        change = control_step(memory, before.numbers, logarithm, change, h, is_near, arrived)
        singular = watches_rank and rank_lost(
            *(equations, memory, output, sweeps, step, onto.pivots, F, deficit, arrived, last)
        )
        take_step(y, before, step, F, h)
        change = real[H, 0] / h if short else change  # it was shortened for its place alone
        end_step(memory, h, end, change, last, choices, output)
        leaves = sees_stiffness(memory, choices, samples, h, last)
        outcome = after_step(choices, singular, event, leaves)
        if outcome != GOES_ON:
            return outcome
    return BUDGET


@inlined
def sees_stiffness(memory: LoopMemory, choices: LoopChoices, samples: MotionSamples, h, last):
    """Whether another method is to take over from the present state on."""
    leaves = False
    if choices.may_leave and not last:
        leaves = implicit_pays_after_sweeps(memory, choices, samples)
        leaves = leaves or held_by_sweeps(memory, choices, h)
    return leaves


@inlined
def refuse(
    memory: LoopMemory, choices: LoopChoices, before: StepBefore, F, h, change, known, near, slow
):
    """Go on with a shorter step in place of one that is refused; whether there is one.

    `known` tells whether its polynomial serves the shorter one, `near` that rank may be lost,
    `slow` that its sweeps did not converge.
    """
    if slow:
        note_sweeps(memory.counts, slow)
    if near:
        memory.counts[NEAR, 0] = STAGES_KEPT
    if known:
        keep(before, F, h, 0.0)
    return shorten(memory, h, change, choices)


@inlined
def take_step(y, before: StepBefore, step: CollocationStep, F, h):
    """The end of an accepted step as the present state, and its polynomial for the next one."""
    for i in range(y.shape[0]):
        y[i, 0] = step.x[POINT, i, 0]
    keep(before, F, h, 1.0)


@loop
def begin(equations: LoopEquations, memory: LoopMemory, choices: LoopChoices, before: StepBefore):
    """A first h; the derivative at y stands for those at the nodes of a step before."""
    derivative, past = np.empty_like(memory.y), before.numbers
    begin_step(equations, memory, derivative, choices, ERROR_ORDER)
    for i in range(memory.y.shape[0]):
        for j in range(NODES):
            before.F[i, j] = derivative[i, 0]
    for k in range(past.shape[0]):
        past[k] = 0.0
    past[LENGTH] = past[LAST] = memory.real[H, 0]
    past[RATE] = LOWEST_RATE


@inlined
def keep(before: StepBefore, F, h, origin):
    """Let the next step begin with the polynomial of this one."""
    for i in range(F.shape[0]):
        for j in range(NODES):
            before.F[i, j] = F[i, j]
    before.numbers[LENGTH], before.numbers[ORIGIN] = h, origin


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


@inlined
def place_step(method: CollocationMethod, memory: LoopMemory, choices: LoopChoices):
    """The length of a step, so that a singular position ahead lies between its middle nodes.

    Also whether accelerations are to be taken at projected nodes, whether the step was shortened
    for its place, and the error that need not be controlled because it is one of rounding.
    """
    real, nodes = memory.real, method.nodes
    h, short, allowed = chosen_step(memory, choices), False, 1.0
    is_near = memory.counts[NEAR, 0] > 0 or slowed(memory, 0)
    if not choices.fixed > 0.0 and comes_near(h, real, 0):
        gap = nodes[MIDDLE - 1], nodes[MIDDLE]
        short, h = placed(h, real, gap, nodes, NODES - 1, True, 0)  # noqa: FBT003 - loops take positions
        is_near = is_near or real[AHEAD, 0] < real[T, 0] + h
    if is_near:
        allowed = max(allowed, rounding(real[PIVOT, 0], choices.tolerance))
    return h, is_near, short, allowed


@inlined
def sweep_nodes(
    equations: LoopEquations, method: CollocationMethod, memory: LoopMemory, choices: LoopChoices,
    before: StepBefore, sweeps: NodeSweeps, h, is_near,
):  # fmt: skip
    """Solve for the derivatives at the nodes: how that went, and after how many sweeps."""
    y, t, tolerance = memory.y, memory.real[T, 0], choices.tolerance
    for j in range(NODES):
        sweeps.times[0, j] = t + method.nodes[j] * h
    for i in range(y.shape[0]):
        size = size_of(choices.entry_sizes, i, abs(y[i, 0]), 0)
        sweeps.part_of[i] = h / (tolerance * size)
    predict(method, before, sweeps, h)
    outcome, count_of_sweeps = solve(
        equations, method, before, sweeps, y, h, is_near, choices.fixed > 0.0, tolerance
    )
    memory.counts[EVALUATIONS, 0] += NODES * count_of_sweeps
    return outcome, count_of_sweeps


@inlined
def estimate_error(
    equations: LoopEquations, method: CollocationMethod, memory: LoopMemory, choices: LoopChoices,
    before: StepBefore, sweeps: NodeSweeps, step: CollocationStep, pivots, F, G, h, outcome,
    is_near, allowed,
):  # fmt: skip
    """How the sweeps ended, the error of the step, and whether projecting removes most of it."""
    y, error, across = memory.y, np.inf, False
    if outcome == DIVERGED and is_near:
        finish(equations, method, sweeps, F, y, h)
        finish(equations, method, sweeps, G, y, h)
        across = agree(equations, method, sweeps, step, F, G, y, h, pivots, allowed)
        outcome = CONVERGED if across else DIVERGED
    if outcome == CONVERGED or outcome == TOO_LONG:  # noqa: PLR1714 - no sets in loops
        finish(equations, method, sweeps, F, y, h)
        error = estimate(method, before.numbers, sweeps, F, 0)
        held = choices.project and equations.rows > 0 and not choices.fixed > 0.0
        if held and 1.0 <= error < LARGEST_ERROR:
            share = share_along(equations, method, sweeps, step, F, y, h, pivots)
            across = across or share < ALONG
            error *= share
        if error < allowed:
            error = min(error, ROUNDED)
    return outcome, error, across


@inlined
def change_by_error(logarithm, known, near_diverged):
    """By how much h may change for its error, or where sweeps did not converge."""
    change = min(GROWTH, SAFETY * np.exp(-logarithm / ERROR_ORDER))
    if not known:
        change = NEAR_DIVERGENCE if near_diverged else DIVERGENCE
    return change


@loop
def agree(
    equations: LoopEquations, method: CollocationMethod, sweeps: NodeSweeps, step: CollocationStep,
    F, G, y, h, pivots, allowed,
):  # fmt: skip
    """Whether the last two sweeps end at one point of the constraints, to what is allowed.

    Near a singular position accelerations carry a large error of rounding across the constraints,
    along which the motion is hardly held there. At the end of the step it is held again, and the
    projection takes that error away; sweeps need not agree further than that.
    """
    x = step.x
    rise(F, y, h, method.weights, x[POINT])
    rise(G, y, h, method.weights, x[THIRD])
    project_once(equations, x[POINT], step.end, x[FIRST], pivots)
    project_once(equations, x[THIRD], step.end, x[SECOND], pivots)
    return distance(x[FIRST], x[SECOND], sweeps.part_of, h) < allowed


@loop
def share_along(
    equations: LoopEquations, method: CollocationMethod, sweeps: NodeSweeps, step: CollocationStep,
    F, y, h, pivots,
):  # fmt: skip
    """The part of the error that lies along the constraints and that projecting leaves.

    That of the last two coefficients of the polynomial, the larger one: along few free directions
    one of them is easily near zero by chance.
    """
    x, part_of = step.x, sweeps.part_of
    rise(F, y, h, method.weights, x[POINT])
    project_once(equations, x[POINT], step.end, x[FIRST], pivots)
    share = 0.0
    for m in range(NODES - 2, NODES):
        for i in range(y.shape[0]):
            total = 0.0
            for j in range(NODES):
                total += method.analysis[j, m] * F[i, j]
            x[SECOND, i, 0] = x[POINT, i, 0] + WITHIN * h * total
        full = distance(x[SECOND], x[POINT], part_of, h)
        project_once(equations, x[SECOND], step.end, x[THIRD], pivots)
        if full > 0.0:
            share = max(share, distance(x[THIRD], x[FIRST], part_of, h) / full)
    return min(share, 1.0)


@inlined
def project_end(
    equations: LoopEquations, memory: LoopMemory, choices: LoopChoices, step: CollocationStep,
    onto: ProjectionRoom, part_of, h, change, across, last, is_near,
):  # fmt: skip
    """Project the new point, which is no node: a kink behind the last one shows here alone.

    Whether it is accepted, the change of h (0 for a fixed step that cannot be put on its
    constraints), whether projecting removes most of the error, dependent rows, the least pivot.
    """
    real, end, accepted, x = memory.real, step.end[0, 0], True, step.x
    passes = real[AHEAD, 0] < end
    for i in range(x.shape[1]):
        x[THIRD, i, 0] = x[POINT, i, 0]
    shorter, deficit, arrived = landed(
        equations, memory.counts, step.x[POINT], step.end, onto, choices, last or passes
    )
    if shorter < 1.0:
        accepted, change, across = False, shorter, across or not onto.ok[0]
        if onto.ok[0]:  # it ends at a singular position, and is placed before that
            change, real[AHEAD, 0] = 1.0, end
    elif not (is_near or passes or choices.fixed > 0.0) and memory.counts[ACCEPTS, 0] > 0:
        # A start that is off its constraints is one of the first step alone.
        if distance(x[POINT], x[THIRD], part_of, h) > PROJECTED:
            accepted, change = False, DIVERGENCE
    return accepted, change, across, deficit, arrived


@inlined
def save_within(
    equations: LoopEquations, method: CollocationMethod, memory: LoopMemory, choices: LoopChoices,
    output: OutputBuffers, sweeps: NodeSweeps, step: CollocationStep, onto: ProjectionRoom, F, h,
):  # fmt: skip
    """Save the states at times within the step, if there are any."""
    k, times = memory.counts[NEXT, 0], choices.times
    if k < times.shape[0] and times[k] < step.end[0, 0]:
        save_between(equations, method, memory, choices, output, sweeps, step, onto, F, h)


@loop
def save_between(
    equations: LoopEquations, method: CollocationMethod, memory: LoopMemory, choices: LoopChoices,
    output: OutputBuffers, sweeps: NodeSweeps, step: CollocationStep, onto: ProjectionRoom, F, h,
):  # fmt: skip
    """Save the states at times within the step from its polynomial, projected."""
    state, moment, times = step.x[SECOND], memory.real[SAVED : SAVED + 1], choices.times
    t, end, k = step.start[0, 0], step.end[0, 0], memory.counts[NEXT, 0]
    usual = np.inf if choices.fixed > 0.0 else choices.tolerance
    while k < times.shape[0] and times[k] < end:
        theta = (times[k] - t) / h
        between(theta, F, memory.y, h, method.analysis, sweeps.tables, state)
        if choices.project:
            moment[0, 0] = times[k]
            project_between(
                equations, state, step.x[THIRD], moment, onto, choices.entry_sizes, usual, 0
            )
        save(times[k], state, output, 0)
        k += 1
    memory.counts[NEXT, 0] = k


@inlined
def watch_events(
    equations: LoopEquations, memory: LoopMemory, choices: LoopChoices, events: EventMemory,
    sweeps: NodeSweeps, step: CollocationStep, accepted,
):  # fmt: skip
    """Whether an event function changes its sign within the step."""
    event = False
    if choices.watch_events:
        accepted[0] = True
        moment = memory.real[SAVED : SAVED + 1]
        event = crosses(equations, events, sweeps, step, moment, accepted)
        note_events(events, step.start[0, 0], memory.y)
    return event


@inlined
def control_step(memory: LoopMemory, past, logarithm, change, h, is_near, arrived):
    """The change of h after an accepted step, from errors, their trend and the rate of sweeps."""
    real, count = memory.real, memory.counts
    # Near a singular position the next two measure the distance to it; steps that they made
    # shorter would creep up to it.
    least = min(change, 1.0) if is_near or real[AHEAD, 0] < np.inf else 0.0
    if count[ACCEPTS, 0] > 0:  # as errors grew over the last two steps, they may go on
        trend = (real[ERROR, 0] - logarithm) / ERROR_ORDER
        change = min(change, change * np.exp(trend) * h / past[LAST])
    held = change > TARGET_RATE / past[RATE]
    if held:
        change = max(SHRINK, TARGET_RATE / past[RATE])
    held = held and logarithm < FAR_BELOW
    count[AT_STABILITY, 0] += 1 if held else 0
    note_sweeps(count, held)
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
    return change


@inlined
def come_close(
    equations: LoopEquations, method: CollocationMethod, choices: LoopChoices, sweeps: NodeSweeps,
    onto: ProjectionRoom, arrived, is_near,
):  # fmt: skip
    """Find the pivots at the nodes; whether rows that act come so near to depending on each other,
    there or at the end of the step, that others may have to act.

    At its end all rows are to be met.
    """
    rows, projected = equations.rows, sweeps.projected[0]
    if not is_near:  # otherwise sweeps have left the pivots there
        node_pivots(equations, method, sweeps.Y, sweeps.times, projected, sweeps.pivots)
    close = choices.keeps_clear and (arrived < CLEAR_PIVOT or not onto.settled[0])
    for k in range(rows if choices.keeps_clear else 0):
        largest = max(onto.pivots[LARGEST * rows + k, 0], onto.pivots[rows + k, 0])
        for j in range(NODES):
            pivot, size = sweeps.pivots[k, j], sweeps.pivots[rows + k, j]
            close = close or not pivot * min(size, largest) > CLEAR_PIVOT * largest
    return close


@inlined
def rank_lost(
    equations: LoopEquations, memory: LoopMemory, output: OutputBuffers, sweeps: NodeSweeps,
    step: CollocationStep, pivots, F, deficit, arrived, last,
):  # fmt: skip
    """Log changes of rank in the step; whether rank was lost."""
    lost = watch(equations, memory, output, sweeps, step, F, pivots, deficit, arrived, last)
    keep_sizes(pivots, equations.rows, 0)
    if memory.counts[NEAR, 0] > 0 and memory.real[AHEAD, 0] < np.inf:
        memory.counts[NEAR, 0] = STAGES_KEPT  # until after it is passed
    return lost
