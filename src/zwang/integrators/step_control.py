"""Integrators: step control of one trajectory; choose a length, reject a step, end the run.

Arrays are [entry][0].
"""

from __future__ import annotations

from zwang.codegen.jit import inlined
from zwang.integrators.memory import (
    ACTIVE,
    AVOIDANCE,
    AVOIDANCES,
    AVOIDED,
    DEFICIT,
    EVENT,
    FAILED_PROJECTION,
    GOES_ON,
    LEAVES,
    NEXT,
    PROJECTIONS,
    REJECTED,
    REJECTS,
    SINGULAR,
    H,
    T,
)
from zwang.integrators.output import save
from zwang.integrators.projection import FIXED_LIMIT, largest_residual, note_sizes, projected
from zwang.integrators.rank_loss import deficit_of, least_pivot
from zwang.integrators.records import (
    EventMemory,
    LoopChoices,
    LoopEquations,
    LoopMemory,
    OutputBuffers,
    ProjectionRoom,
)

__all__ = [
    "after_step",
    "chosen_step",
    "end_step",
    "has_room",
    "landed",
    "next_step",
    "note_events",
    "shorten",
]


@inlined
def chosen_step(memory: LoopMemory, choices: LoopChoices):
    """Length of the next step, if it is not the last."""
    return choices.fixed if choices.fixed > 0.0 else min(memory.real[H, 0], choices.largest)


@inlined
def next_step(memory: LoopMemory, h, until, longest):
    """Length and end of the next step, and whether it is the last: up to `longest` h are left."""
    t = memory.real[T, 0]
    left = until - t
    last = h * longest >= left
    if last:
        h = left
    return h, until if last else t + h, last


@inlined
def has_room(end, memory: LoopMemory, times, output: OutputBuffers, logs):
    """Whether there is room for the states of a step that ends there, and for so many logs."""
    k, first = memory.counts[NEXT, 0], memory.counts[NEXT, 0]
    while k < times.shape[0] and times[k] <= end:
        k += 1
    room = output.t.shape[1] - output.filled[0]
    return k - first + 1 <= room and output.rank_rows[0] + logs <= output.rank_log.shape[0]


@inlined
def shorten(memory: LoopMemory, h, change, choices: LoopChoices):
    """Try a step of h times `change` next; False if that is too short."""
    memory.counts[REJECTS, 0] += 1
    memory.counts[REJECTED, 0] = 1
    memory.real[H, 0] = h * change
    return memory.real[H, 0] > choices.smallest


@inlined
def landed(
    equations: LoopEquations, count, point, ts, onto: ProjectionRoom, choices: LoopChoices, ends
):
    """Project the end of a step, and count the rows that are dependent there.

    `ends` means that the step is to end here even if rows are. Returns by how much h is to change
    if the step is to be rejected, else 1, 0 for a fixed step that cannot be put on its constraints;
    the dependent rows; the least pivot of the others.
    """
    rows, fixed, change = equations.rows, choices.fixed > 0.0, 1.0
    count[PROJECTIONS, 0] += projected(equations, point, ts, onto)
    note_sizes(onto.pivots, rows, 0)
    deficit = deficit_of(onto.pivots, rows, 0)
    contracted = onto.ok[0]
    if fixed and not contracted and largest_residual(onto.residuals, 0) > FIXED_LIMIT:
        change = 0.0
    elif not fixed and not contracted:
        change = FAILED_PROJECTION
    elif not fixed and deficit > count[DEFICIT, 0] and not ends and count[AVOIDED, 0] < AVOIDANCES:
        # A singular position is passed in a step, not stopped at, as in `explicit`.
        count[AVOIDED, 0] += 1
        change = AVOIDANCE
    return change, deficit, least_pivot(onto.pivots, rows, count[DEFICIT, 0], 0)


@inlined
def note_events(events: EventMemory, t, y):
    """Remember where a step began, and the event functions at both of its ends."""
    events.previous[0, 0, 0] = t
    for i in range(y.shape[0]):
        events.previous[1, i, 0] = y[i, 0]
    for k in range(events.new.shape[0]):
        events.before[k, 0], events.values[k, 0] = events.values[k, 0], events.new[k, 0]


@inlined
def end_step(memory: LoopMemory, h, end, change, last, choices: LoopChoices, output: OutputBuffers):
    """End a step at y: its time, the length of the next one, and what is saved there."""
    real, count, times = memory.real, memory.counts, choices.times
    real[T, 0] = end
    if not last or change < 1.0:
        real[H, 0] = h * change
    if last:
        count[ACTIVE, 0] = 0
    k = count[NEXT, 0]
    on_time = k < times.shape[0] and times[k] <= end
    if choices.every_step or on_time:
        save(end, memory.y, output, 0)
        if on_time:
            count[NEXT, 0] = k + 1


@inlined
def after_step(choices: LoopChoices, singular, event, leaves):
    """Why the loop returns after an accepted step, or GOES_ON."""
    if singular and choices.stop_where_singular:
        return SINGULAR
    if event:
        return EVENT
    return LEAVES if leaves else GOES_ON
