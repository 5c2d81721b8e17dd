"""Integrators: positions where constraint rows lose rank, found within the steps that pass them.

The relative pivots of the position rows come with every projection. On the way through a singular
position the least of them falls to zero and rises again like the square of the distance, while the
ends of steps keep away from it. So when it fell over the last step and rises at the end of this one
after a deep dip, its minimum is looked for on Hermite's cubic between the ends. Off the constraints
as that curve is, by some 1e-4, pivots on it come down to the square of that.

While it falls, that cubic and the root of the pivot, a distance, are continued: what is ahead is
known before a step comes there, and the step is placed so that no stage does (`foresee`, `placed`).

Everything here is of one lane; a kernel called for it computes all lanes, the others in vain.
"""

from __future__ import annotations

import numpy as np

from zwang.codegen.jit import inlined, loop
from zwang.integrators.memory import (
    AHEAD,
    APPROACHES,
    DEFICIT,
    ENDED,
    FALLING,
    HIGHEST,
    PIVOT,
    RANK_PIVOT,
    T,
)
from zwang.integrators.projection import pivot_of, project_once
from zwang.integrators.records import (
    LoopEquations,
    LoopMemory,
    OutputBuffers,
    RankRoom,
    StepEnds,
)

__all__ = [
    "LOG",
    "STATE",
    "away",
    "comes_near",
    "deficit_of",
    "expect",
    "foresee",
    "foreseeable",
    "least_pivot",
    "look_closer",
    "lowest_pivot",
    "may_pass",
    "placed",
    "remember",
    "rounding",
    "slowed",
    "watch_rank",
]

# Entries of a row of the log before the state: when, how many rows are dependent, and for longer?
MOMENT, DEPENDENT, LASTING, STATE = 0, 1, 2, 3
LOG = STATE

SINGULAR_PIVOT = 1e-4  # relative pivots passed on the cubic that count as zero: a distance of 1e-2
NEAR_PIVOT = 0.1  # parts of the largest pivot below which its root falls like the distance
CLEAR = 0.02  # of a step from a stage, as its place is an extrapolation, that do at first
GAP_MARGIN = 0.25  # of a gap between stages at each end, for its place is an extrapolation
ROUNDING = 2e-14  # some hundred units in the last place
MOST_ROUNDING = 1e3  # tolerances
REACH = 2.0  # steps within which a position ahead matters
FORESEEN = 3.0  # the same where it is extrapolated from the ends of the last step alone
# Parts of the way ahead where distances are looked at: on this side of it, and of the better guess.
HALF_WAY, ALMOST = 0.5, 0.8
# Steps of usual length come to the singular position in two or three. More than that are as short
# as the errors of their stages make them, on and on.
APPROACHING = 4
DIP = 0.3  # no minimum is looked for unless the pivot falls below this part of its largest value
# Pivots so near are the same: a row that is larger than of late has the pivot 1, but for rounding.
ALIKE = 1e-9
NEAR_END = 0.99  # of a step, where it is seen whether the pivot rises at the end
GOLDEN = 0.6180339887498949
PLACED = 1e-4  # of a step, to which the minimum is found; the cubic is no better
GUESSED = 0.05  # of a step that a first guess keeps away from its ends
NARROWINGS = 24  # of the interval of the minimum, more than golden parts alone need
# A parabola through zero has c h² ≤ 4 max(ends), so that the best of an interval w h around it is
# at most 4 w² max(ends); four times that leaves room for other shapes.
DEPTH = 16.0


@inlined
def deficit_of(pivots, rows, lane):
    """How many rows depend on others at the end of a step."""
    deficit = 0
    for k in range(rows):
        if pivot_of(pivots, k, rows, lane) < RANK_PIVOT:
            deficit += 1
    return deficit


@inlined
def lowest_pivot(pivots, rows, lane):
    """The least pivot, infinite if there is none: `least_pivot` where no row is dependent."""
    least = np.inf
    for k in range(rows):
        pivot = pivot_of(pivots, k, rows, lane)
        least = pivot if -np.inf < pivot < least else least
    return least


@inlined
def least_pivot(pivots, rows, dependent, lane):
    """The least pivot but for those of rows known to be dependent; infinite if there is none."""
    value, passed = -np.inf, 0
    for _ in range(dependent + 1):
        least, times = np.inf, 0
        for k in range(rows):
            pivot = pivot_of(pivots, k, rows, lane)
            if value < pivot < least:
                least, times = pivot, 1
            elif pivot == least:
                times += 1
        value, passed = least, passed + times
        if passed > dependent or times == 0:
            return value
    return value


@loop
def pivot_between(equations: LoopEquations, ends: StepEnds, theta, room: RankRoom, dependent, lane):
    """The least pivot on the cubic at t₀ + θ h; the state is left in x[0]."""
    y0, f0, y1, f1, t0, t1 = ends
    state, out, h = room.x[0], room.x[1], t1 - t0
    a, b = 1.0 - theta, theta
    for i in range(y0.shape[0]):
        rise = y1[i, lane] - y0[i, lane]
        slope = a * (h * f0[i, lane] - rise) - b * (h * f1[i, lane] - rise)
        value = a * y0[i, lane] + b * y1[i, lane] + a * b * slope
        for other in range(y0.shape[1]):
            state[i, other] = value
    for other in range(y0.shape[1]):
        room.moment[0, other] = t0 + theta * h
    project_once(equations, state, room.moment, out, room.pivots)
    return least_pivot(room.pivots, equations.rows, dependent, lane)


@inlined
def next_trial(low, high, best, least, second, at_second, third, at_third, moved, further):
    """Where Brent's method looks next: how far from the best, and how far the step before was.

    The vertex of the parabola through the three least values so far, and the golden part of the
    interval where that is outside of it or comes no nearer.
    """
    middle = 0.5 * (low + high)
    one, two = (best - second) * (least - at_third), (best - third) * (least - at_second)
    bend = 2.0 * (two - one)
    vertex = best - ((best - third) * two - (best - second) * one) / bend if bend else -1.0
    if low < vertex < high and abs(vertex - best) < 0.5 * abs(further):
        further, moved = moved, vertex - best
    else:
        further = high - best if best < middle else low - best
        moved = (1.0 - GOLDEN) * further
    if abs(moved) < PLACED:
        moved = PLACED if best < middle else -PLACED
    return moved, further


@loop
def passage(
    equations: LoopEquations, ends: StepEnds, before, after, room: RankRoom, dependent, lane
):
    """θ of the singular position within a step, or −1; x[0] and the pivots are those of it.

    The minimum of the pivot on the cubic, by Brent's method.
    """
    late = pivot_between(equations, ends, NEAR_END, room, dependent, lane)
    if not late <= after * (1.0 + ALIKE):
        return -1.0  # it falls until the end: the next step will show
    low, high, depth = 0.0, 1.0, DEPTH * max(before, after)
    # Roots of pivots are distances; where the ends are on both sides of it, it is here.
    best = min(max(np.sqrt(before) / (np.sqrt(before) + np.sqrt(after)), GUESSED), 1.0 - GUESSED)
    least = pivot_between(equations, ends, best, room, dependent, lane)
    second, at_second, third, at_third = 0.0, before, 1.0, after
    if after < before:
        second, at_second, third, at_third = third, at_third, second, at_second
    moved = further = 1.0
    for _ in range(NARROWINGS):
        middle, width = 0.5 * (low + high), high - low
        if min(least, before) > depth * width * width + SINGULAR_PIVOT:
            return -1.0
        if abs(best - middle) <= 2.0 * PLACED - 0.5 * width:
            break
        moved, further = next_trial(
            low, high, best, least, second, at_second, third, at_third, moved, further
        )
        tried = best + moved
        value = pivot_between(equations, ends, tried, room, dependent, lane)
        if value <= least:
            if tried < best:
                high = best
            else:
                low = best
            third, at_third, second, at_second = second, at_second, best, least
            best, least = tried, value
            continue
        if tried < best:
            low = tried
        else:
            high = tried
        if value <= at_second:
            third, at_third, second, at_second = second, at_second, tried, value
        elif value <= at_third:
            third, at_third = tried, value
    if before < least:  # it was passed at the very end of the step before
        best = 0.0
    least = pivot_between(equations, ends, best, room, dependent, lane)
    return best if least < SINGULAR_PIVOT else -1.0


@inlined
def may_pass(memory: LoopMemory, after, lane):
    """Whether the step may have passed a singular position: its derivatives are needed."""
    real, count = memory.real, memory.counts
    before, highest = real[PIVOT, lane], max(real[HIGHEST, lane], after)
    deep = not before < np.inf or min(before, after) < DIP * highest
    # In one long step it may have fallen, and risen again at its end.
    return deep and (count[FALLING, lane] != 0 or after < min(before, NEAR_PIVOT * highest))


@inlined
def clearance(ahead, nodes, stages):
    """How far from a position in a step its start and the nearest stage are, in parts of it."""
    least = ahead
    for k in range(stages + 1):
        least = min(least, abs(nodes[k] - ahead))
    return least


@inlined
def placed(step, real, gap, nodes, stages, near, lane):
    """Whether to shorten a step, and to what, so that stages keep away from a position ahead.

    A stage beside one says little, and after a few steps that were rejected for it and shorter ones
    that end before it, h is as small as the distance left: rounding, divided by that, decides then.
    So a step is shortened only if stages come to lie further away. Raw stages, not `near`, keep to
    a step in which none comes very near: most pass without more.
    """
    margin = GAP_MARGIN * (gap[1] - gap[0])
    low, high = gap[0] + margin, gap[1] - margin
    ahead = (real[AHEAD, lane] - real[T, lane]) / step
    if not 0.0 < ahead < 1.0 + low or low < ahead < high:
        return False, step
    if not near and ahead < 1.0 and clearance(ahead, nodes, stages) > CLEAR:
        return False, step
    middle = 0.5 * (low + high)
    if ahead >= high:  # end where the next step can pass it
        return True, step * (ahead - middle)
    shorter = ahead / middle
    if clearance(ahead, nodes, stages) >= 0.5 * (gap[1] - gap[0]) * shorter:
        return False, step
    return True, step * shorter


@inlined
def rounding(pivot, tolerance):
    """Error that rounding may have next to a singular position, in units of the tolerance.

    A position is known to rounding divided by the distance, its velocity to that divided by the
    distance once more, and the square of the distance is the pivot.
    """
    return min(ROUNDING / (tolerance * max(pivot, RANK_PIVOT)), MOST_ROUNDING)


@inlined
def away(real, after, lane):
    """Whether a step ends so far from singular positions that the next one is another."""
    return not after < NEAR_PIVOT * real[HIGHEST, lane]


@inlined
def comes_near(step, real, lane):
    """Whether a singular position is near enough ahead to place steps around it."""
    return real[AHEAD, lane] < real[T, lane] + REACH * step


@inlined
def foreseeable(real, t0, t1, lane):
    """Whether it is worth while to tell more exactly when a position ahead will be reached."""
    return real[AHEAD, lane] < t1 + FORESEEN * (t1 - t0)


@inlined
def slowed(memory: LoopMemory, lane):
    """Whether steps become shorter and shorter before a singular position."""
    return memory.real[AHEAD, lane] < np.inf and memory.counts[APPROACHES, lane] >= APPROACHING


@loop
def foresee(equations: LoopEquations, memory: LoopMemory, ends: StepEnds, room: RankRoom, lane):
    """Predict more exactly when a singular position ahead will be reached.

    The cubic of the step is continued beyond it, and so is the line through two distances on it;
    both points are on this side of the position, where distances fall.
    """
    real, t1 = memory.real, ends.t1
    h, here = t1 - ends.t0, np.sqrt(real[PIVOT, lane])
    dependent = memory.counts[DEFICIT, lane]
    first = HALF_WAY * (real[AHEAD, lane] - t1) / h
    one = np.sqrt(pivot_between(equations, ends, 1.0 + first, room, dependent, lane))
    real[AHEAD, lane] = np.inf
    if one < here:  # otherwise it was passed, or the motion turns back
        second = ALMOST * first * here / (here - one)
        two = np.sqrt(pivot_between(equations, ends, 1.0 + second, room, dependent, lane))
        if second > first and two < one:
            real[AHEAD, lane] = t1 + h * (second + (second - first) * two / (one - two))
        else:
            real[AHEAD, lane] = t1 + h * second / ALMOST


@loop
def record(t, dependent, lasting, y, output: OutputBuffers, lane):
    """Write a change of rank to the log."""
    log, row = output.rank_log, output.rank_rows[lane]
    log[row, MOMENT, lane] = t
    log[row, DEPENDENT, lane] = dependent
    log[row, LASTING, lane] = lasting
    for i in range(y.shape[0]):
        log[row, STATE + i, lane] = y[i, lane]
    output.rank_rows[lane] += 1


@inlined
def watch_rank(
    equations: LoopEquations, memory: LoopMemory, ends: StepEnds, deficit, after, last,
    output: OutputBuffers, room: RankRoom, lane,
):  # fmt: skip
    """Log a change of rank within an accepted step or at its ends; whether rank was lost.

    Parameters
    ----------
    ends : of the step; derivatives are looked at where `may_pass` holds.
    deficit, after : rows that are dependent at the end, and the least pivot of the others there.
    last : whether it is the last step.
    """
    if deficit == memory.counts[DEFICIT, lane] and not may_pass(memory, after, lane):
        remember(memory, deficit, after, 0, ends.t0, ends.t1, lane)
        return False
    return look_closer(equations, memory, ends, deficit, after, last, output, room, lane)


@inlined
def remember(memory: LoopMemory, deficit, after, passed, t0, t1, lane):
    """What the next step will be compared with, and where a singular position is to be expected."""
    real, count = memory.real, memory.counts
    expect(memory, real[PIVOT, lane], after, passed, t0, t1, lane)
    count[ENDED, lane] = deficit
    count[FALLING, lane] = 1 if after < real[PIVOT, lane] and not passed else 0
    real[PIVOT, lane] = after
    real[HIGHEST, lane] = max(real[HIGHEST, lane], after)


@inlined
def expect(memory: LoopMemory, before, after, passed, t0, t1, lane):
    """Where a singular position is to be expected, from pivots at t0 and t1."""
    real, count = memory.real, memory.counts
    real[AHEAD, lane], close = np.inf, False
    if after < before < np.inf and not passed:
        # Distances are square roots of pivots.
        near, far = np.sqrt(after), np.sqrt(before)
        steps, close = near / (far - near), after < NEAR_PIVOT * real[HIGHEST, lane]
        real[AHEAD, lane] = t1 + (t1 - t0) * steps if close or steps < FORESEEN else np.inf
    count[APPROACHES, lane] = count[APPROACHES, lane] + 1 if close else 0


@loop
def look_closer(
    equations: LoopEquations, memory: LoopMemory, ends: StepEnds, deficit, after, last,
    output: OutputBuffers, room: RankRoom, lane,
):  # fmt: skip
    """`watch_rank` where there may have been a change.

    Rows that are dependent at the ends of two steps running stay so; at one end alone, that was a
    singular position which the step happened to meet.
    """
    real, count = memory.real, memory.counts
    known, ended = count[DEFICIT, lane], count[ENDED, lane]
    if deficit < known:
        record(ends.t1, deficit, 1.0, ends.y1, output, lane)
    elif deficit > known and ended > known:
        deficit = min(deficit, ended)
        record(ends.t0, deficit, 1.0, ends.y0, output, lane)
    else:
        passed = False
        if deficit > known and last:
            record(ends.t1, deficit, 0.0, ends.y1, output, lane)
            passed = True
        elif may_pass(memory, after, lane):
            passed = record_passage(equations, memory, ends, after, output, room, lane)
        remember(memory, deficit, after, passed, ends.t0, ends.t1, lane)
        return passed
    # Another pivot is the least one to watch from here on: one that is not known if rank was lost,
    # and if it was regained one that has just risen from zero.
    lost = deficit > known
    count[DEFICIT, lane] = count[ENDED, lane] = deficit
    count[FALLING, lane] = 1 if lost else 0
    real[PIVOT, lane], real[AHEAD, lane] = np.inf if lost else 0.0, np.inf
    real[HIGHEST, lane] = 0.0
    return lost


@inlined
def record_passage(
    equations: LoopEquations, memory: LoopMemory, ends: StepEnds, after, output: OutputBuffers,
    room: RankRoom, lane,
):  # fmt: skip
    """Log the singular position that a step passes; whether it does."""
    known, before = memory.counts[DEFICIT, lane], memory.real[PIVOT, lane]
    if not before < np.inf:
        before = pivot_between(equations, ends, 0.0, room, known, lane)
        memory.real[PIVOT, lane] = before
    theta = passage(equations, ends, before, after, room, known, lane)
    if not theta >= 0.0:
        return False
    dependent = 0
    for k in range(equations.rows):
        if pivot_of(room.pivots, k, equations.rows, lane) < SINGULAR_PIVOT:
            dependent += 1
    record(ends.t0 + theta * (ends.t1 - ends.t0), dependent, 0.0, room.x[0], output, lane)
    return True
