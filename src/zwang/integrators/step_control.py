"""What loops of one trajectory do around a step: choose its length, reject it, end it.

Arrays are [entry][0]; `limits` are the smallest, the largest and the fixed step, 0 where none is.
"""

from __future__ import annotations

from zwang.codegen.jit import inlined
from zwang.integrators.memory import (
    ACTIVE,
    AVOIDANCE,
    AVOIDANCES,
    AVOIDED,
    DEFICIT,
    FAILED_PROJECTION,
    FIXED_LIMIT,
    NEXT,
    PROJECTIONS,
    REJECTED,
    REJECTS,
    H,
    T,
    missed_most,
    note_sizes,
    projected,
    save,
)
from zwang.integrators.rank_loss import deficit_of, least_pivot

__all__ = ["end_step", "has_room", "landed", "next_step", "note_events", "shorten", "wanted_step"]


@inlined
def wanted_step(real, limits):
    """Length of the next step, if it is not the last."""
    return limits[2] if limits[2] > 0.0 else min(real[H, 0], limits[1])


@inlined
def next_step(real, h, until, longest):
    """Length and end of the next step, and whether it is the last: up to `longest` h are left."""
    left = until - real[T, 0]
    last = h * longest >= left
    if last:
        h = left
    return h, until if last else real[T, 0] + h, last


@inlined
def has_room(end, count, times, out_t, filled, logs, rank_log, rank_rows):
    """Whether there is room for the states of a step that ends there, and for so many logs."""
    k = count[NEXT, 0]
    while k < times.shape[0] and times[k] <= end:
        k += 1
    room = out_t.shape[1] - filled[0]
    return k - count[NEXT, 0] + 1 <= room and rank_rows[0] + logs <= rank_log.shape[0]


@inlined
def shorten(real, count, h, change, limits):
    """Try a step of h times `change` next; False if that is too short."""
    count[REJECTS, 0] += 1
    count[REJECTED, 0] = 1
    real[H, 0] = h * change
    return real[H, 0] > limits[0]


@inlined
def landed(kernels, point, ts, p, onto, count, rows, fixed, ends):
    """Project the end of a step, and count the rows that are dependent there.

    `onto` is what `projected` takes beside state and time; `ends` tells that the step is to end
    here even if rows are. Returns by how much h is to change if the step is to be rejected, else 1,
    0 for a fixed step that cannot be put on its constraints; the dependent rows; the least pivot of
    the others.
    """
    count[PROJECTIONS, 0] += projected(kernels, point, ts, p, *onto)
    pivots, contracted, change = onto[0], onto[5], 1.0
    note_sizes(pivots, rows, 0)
    deficit = deficit_of(pivots, rows, 0)
    if fixed and not contracted[0] and missed_most(onto[1], 0) > FIXED_LIMIT:
        change = 0.0
    elif not fixed and not contracted[0]:
        change = FAILED_PROJECTION
    elif not fixed and deficit > count[DEFICIT, 0] and not ends and count[AVOIDED, 0] < AVOIDANCES:
        # A singular position is passed in a step, not stopped at, as in `explicit`.
        count[AVOIDED, 0] += 1
        change = AVOIDANCE
    return change, deficit, least_pivot(pivots, rows, count[DEFICIT, 0], 0)


@inlined
def note_events(previous, t, y, event_values, event_before, g_new, events):
    """Remember where a step began, and the event functions at both of its ends."""
    previous[0, 0, 0] = t
    for i in range(y.shape[0]):
        previous[1, i, 0] = y[i, 0]
    for k in range(events):
        event_before[k, 0], event_values[k, 0] = event_values[k, 0], g_new[k, 0]


@inlined
def end_step(real, count, h, end, change, last, y, times, every_step, out_t, out_y, filled):
    """End a step at y: its time, the length of the next one, and what is saved there."""
    real[T, 0] = end
    if not last or change < 1.0:
        real[H, 0] = h * change
    if last:
        count[ACTIVE, 0] = 0
    k = count[NEXT, 0]
    on_time = k < times.shape[0] and times[k] <= end
    if every_step or on_time:
        save(end, y, out_t, out_y, filled, 0)
        if on_time:
            count[NEXT, 0] = k + 1
