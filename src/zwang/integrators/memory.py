"""What all compiled time loops share: why they return, what they remember, how they project.

State, memory and counts of a loop are arrays [entry][lane]; the constants below name the entries.
What a loop remembers is enough to stop anywhere and go on with the same bits.
"""

from __future__ import annotations

import numpy as np

from zwang.codegen.call import call, part
from zwang.codegen.jit import inlined, loop
from zwang.codegen.simd import all_of, side_by_side

__all__ = [
    "BUDGET",
    "DONE",
    "EVENT",
    "FULL",
    "HANDOVER",
    "NOT_FINITE",
    "NO_ROOT",
    "OFF_CONSTRAINTS",
    "SINGULAR",
    "TOO_SMALL",
    "UNDER_WAY",
    "arrive",
    "begin_step",
    "change_of_step",
    "derivative",
    "evaluate",
    "first_step",
    "keep_sizes",
    "missed_most",
    "note_sizes",
    "pivot_of",
    "project_between",
    "project_once",
    "project_start",
    "projected",
    "room_for_pivots",
    "save",
    "size_of",
]

# Why the loop returned.
DONE, FULL, BUDGET, EVENT, TOO_SMALL, NOT_FINITE, NO_ROOT, SINGULAR = 0, 1, 2, 3, 4, 5, 6, 7
HANDOVER = 8  # one of several lanes has ended
OFF_CONSTRAINTS = 9  # a fixed step ended where it could not be put on its constraints
#: The same loop goes on from there.
UNDER_WAY = frozenset({FULL, BUDGET, EVENT, SINGULAR})

# Real numbers the loop remembers for each lane.
T, H, ERROR, SAVED, PIVOT, HIGHEST, AHEAD = 0, 1, 2, 3, 4, 5, 6
REALS = 7
# Whole numbers the loop remembers for each lane.
(
    REJECTED,
    NEAR,
    ACCEPTS,
    REJECTS,
    EVALUATIONS,
    PROJECTIONS,
    NEXT,
    DEFICIT,
    ACTIVE,
    AVOIDED,
    JACOBIANS,
    FACTORISATIONS,
    AT_STABILITY,
    ENDED,
    FALLING,
    APPROACHES,
    WARY,  # whether steps that pass singular positions need projected stages
) = range(17)
COUNTS = 17

CORRECTIONS = 4  # of a projection, at most
CONTRACTION = 0.25  # a Newton correction must be below this part of the one before
NEGLIGIBLE = 0.01  # a correction of this part of the tolerance, which need not contract any more
RESIDUAL_LIMIT = 1e-13  # of a projected state, relative
# Fixed steps end far from their constraints, so that corrections need not contract by as much as of
# steps with error control; but they must lead there.
FIXED_LIMIT = 1e-10
FAILED_PROJECTION = 0.6  # change of h after a projection that did not contract
AVOIDANCE = 0.7  # change of h when the new point would lie where the rows have just lost rank
AVOIDANCES = 4  # how often in a row; then the loss is taken to be lasting
PI_BETA = 0.05  # weight of the previous error in step control
LEAST_ERROR = np.log(1e-4)  # logarithm of the error of the step before, at least
NO_ERROR = 1e-9  # errors count as no less, so that they have logarithms
LAST_STEP = 1.0000001  # so much longer, and a step takes the place of a tiny one after it
SAFETY = 0.9
GROWTH, SHRINK = 6.0, 0.2  # largest and smallest change of h in a step
# A state between steps is off the constraints by its error, and so is its velocity: in tolerances
# the first is usual, the second, in parts of the velocity, is a turn to another branch.
USUAL, TURNED = 100.0, 1e-3
# How projecting one went: as usual; from unusually far; or the state was left as it was.
PROJECTED, FAR_OFF, LEFT = 0, 1, 2
STAGES_KEPT = 3  # accepted steps with projected stages after a rejection or such a position
RANK_PIVOT = 1e-7  # relative pivots below this belong to dependent rows (1e5 times δ)
# A first step is no shorter, in parts of the time and of what is ahead. Where derivatives overflow,
# the rule that chooses it asks for a step of no length, which would be accepted for ever.
SHORTEST_FIRST = 1e-15

# The array of pivots has parts, each with an entry for every position row. The kernel that
# projects writes two: pivots relative to the size of the row, and that size. Then come the sizes at
# the end of the step under way, and the largest of late, which pivots are really relative to: where
# a row vanishes it loses rank as one does that depends on others, and its own size does not tell.
# The last two are room for what the kernel writes when it is called for some of the lanes.
LARGEST, SPARE, PARTS = 3, 4, 6
# Largest sizes are forgotten at this pace, a step at a time: rows that shrink by less than a
# fortieth in a step only become smaller (sizes are squares).
FORGOTTEN = 0.95


@inlined
def evaluate(kernels, y, t, p, out, work, nq):
    """Out = (q̇, v̇) at y = (q, v), all lanes."""
    call(kernels[0], y, part(y, nq), t, p, out, part(out, nq), work)


@loop
def derivative(kernels, y, t, p, out, work, nq):
    """`evaluate`, to be called from Python."""
    evaluate(kernels, y, t, p, out, work, nq)


@inlined
def size_of(size, i, value, lane):
    """What an error of entry i counts relative to: its absolute size, and its value if that adds.

    The absolute sizes and the shares of the values, 1 or 0 as for angles, are in `size` (2, n, W).
    """
    return size[0, i, lane] + size[1, i, lane] * value


def room_for_pivots(rows, lanes):
    """The array that `project_once` and others know as pivots."""
    return np.zeros((PARTS * max(rows, 1), lanes))


@inlined
def pivot_of(pivots, k, rows, lane):
    """Pivot of a row relative to the largest size it had of late."""
    size, largest = pivots[rows + k, lane], pivots[LARGEST * rows + k, lane]
    return pivots[k, lane] if size >= largest else pivots[k, lane] * (size / largest)


@inlined
def note_sizes(pivots, rows, lane):
    """Note sizes of rows at the end of a step, until it is known whether it is accepted."""
    for k in range(rows):
        pivots[2 * rows + k, lane] = pivots[rows + k, lane]


@inlined
def keep_sizes(pivots, rows, lane):
    """Compare rows with these sizes as well from here on: the step is accepted."""
    for k in range(rows):
        largest = FORGOTTEN * pivots[LARGEST * rows + k, lane]
        pivots[LARGEST * rows + k, lane] = max(largest, pivots[2 * rows + k, lane])


@inlined
def project_once(kernels, y, t, p, out, pivots, work, nq):
    """Out = y after one correction onto the constraints, and the pivots at y, all lanes."""
    call(kernels[1], y, part(y, nq), t, p, out, part(out, nq), pivots, work)


@inlined
def contract(y, corrected, nq, atol, ok, before, settled, lane):
    """Take the correction of a lane; one that does not contract settles it as not ok."""
    size = 0.0
    for i in range(nq):
        size = max(size, abs(corrected[i, lane] - y[i, lane]) / atol[i])
    if not size < np.inf or (size > CONTRACTION * before[lane] and size > NEGLIGIBLE):
        ok[lane], settled[lane] = False, True
    before[lane] = size
    for i in range(y.shape[0]):
        y[i, lane] = corrected[i, lane]


@inlined
def settle(ratio, settled, lanes):
    """Settle the lanes whose residuals are within the limit; whether all are settled."""
    for lane in side_by_side(lanes):
        worst = 0.0
        for k in range(ratio.shape[0]):
            worst = max(worst, abs(ratio[k, lane]))
        settled[lane] = settled[lane] or worst <= RESIDUAL_LIMIT
    return all_of(settled, lanes)


@inlined
def missed_most(ratio, lane):
    """The largest residual of a lane, relative; infinite if one is no number."""
    worst = 0.0
    for k in range(ratio.shape[0]):
        size = abs(ratio[k, lane])
        if not size <= worst:
            worst = size if size < np.inf else np.inf  # noqa: FURB136 - NaN too
    return worst


@inlined
def corrected_once(kernels, y, t, p, pivots, work, nq, atol, ok, before, settled, scratch, lanes):
    """A correction of the lanes that are not settled, and no more: alone they take no more."""
    rows = pivots.shape[0] // PARTS
    spare = pivots if len(lanes) == 1 else pivots[SPARE * rows :]
    project_once(kernels, y, t, p, scratch, spare, work, nq)
    for lane in side_by_side(lanes):
        if not settled[lane]:
            contract(y, scratch, nq, atol, ok, before, settled, lane)
            for k in range(2 * rows):
                pivots[k, lane] = spare[k, lane]


@inlined
def unsettled(ok, before, settled, lanes):
    """All lanes as before their first correction."""
    for lane in side_by_side(lanes):
        ok[lane], settled[lane], before[lane] = True, False, np.inf


@loop
def projected(kernels, y, t, p, pivots, ratio, work, nq, atol, ok, before, settled, scratch, lanes):
    """Project y onto the constraints in place, all lanes; ok[lane] tells whether it contracted.

    Returns the number of corrections.
    """
    unsettled(ok, before, settled, lanes)
    for corrections in range(1, CORRECTIONS + 1):
        corrected_once(
            kernels, y, t, p, pivots, work, nq, atol, ok, before, settled, scratch, lanes
        )
        call(kernels[2], y, part(y, nq), t, p, ratio, work)
        if settle(ratio, settled, lanes):
            return corrections
    return CORRECTIONS


@inlined
def turned(y, raw, size, limit, nq, lane):
    """Whether a projection has changed the velocity by more than a part of it."""
    for i in range(nq, y.shape[0]):
        allowed = limit * size_of(size, i, abs(raw[i, lane]), lane)
        if not abs(y[i, lane] - raw[i, lane]) <= allowed:
            return True
    return False


@loop
def project_between(kernels, y, raw, t, p, onto, size, tolerance, lane):
    """As `projected`, for a state between steps of one lane; how that went.

    Next to a singular position directions across the constraints change within the error of the
    state, so that the velocity is projected once more at the position found. If that turns it, to
    another branch, the state stays as it was, as which it is kept in raw. `onto` is what
    `projected` takes beside state and time.
    """
    nq = onto[3]
    for i in range(y.shape[0]):
        raw[i, lane] = y[i, lane]
    projected(kernels, y, t, p, *onto)
    if not turned(y, raw, size, USUAL * tolerance, nq, lane):
        return PROJECTED
    for i in range(nq, y.shape[0]):
        y[i, lane] = raw[i, lane]
    projected(kernels, y, t, p, *onto)
    if not turned(y, raw, size, max(USUAL * tolerance, TURNED), nq, lane):
        return FAR_OFF
    for i in range(y.shape[0]):
        y[i, lane] = raw[i, lane]
    return LEFT


@loop
def project_start(kernels, y, real, count, p, pivots, sizes, work, atol, lanes):
    """Project the state that a loop begins with, and count the rows that are dependent there.

    Found dependent again at the end of a step, they were so from the start.
    """
    W = len(lanes)
    ratio, scratch, before = np.empty((max(sizes[2], 1), W)), np.empty_like(y), np.empty(W)
    ok, settled = np.empty(W, np.bool_), np.empty(W, np.bool_)
    projected(
        kernels, y, real[T : T + 1], p, pivots, ratio, work, sizes[0], atol, ok, before, settled,
        scratch, lanes,
    )  # fmt: skip
    for lane in range(W):
        count[ENDED, lane] = 0
        for k in range(sizes[1]):
            if pivots[k, lane] < RANK_PIVOT:
                count[ENDED, lane] += 1


@inlined
def arrive(
    kernels, y, t, p, out, pivots, ratio, work, nq, atol, ok, before, settled, taken, scratch, lanes
):
    """As `projected`, with the derivative at the projected state in out.

    Each lane is told how many corrections it took.
    """
    unsettled(ok, before, settled, lanes)
    for lane in side_by_side(lanes):
        taken[lane] = 0
    for corrections in range(1, CORRECTIONS + 1):
        for lane in side_by_side(lanes):
            if not settled[lane]:
                taken[lane] += 1
        corrected_once(
            kernels, y, t, p, pivots, work, nq, atol, ok, before, settled, scratch, lanes
        )
        call(kernels[4], y, part(y, nq), t, p, out, part(out, nq), ratio, work)
        if settle(ratio, settled, lanes):
            return corrections
    return CORRECTIONS


@inlined
def change_of_step(logarithm, before, order):
    """By how much h may change after an accepted step: error^(0.75 β − 1/order) before^β.

    Proportional and integral control; of both errors the logarithm is given.
    """
    slope = 0.75 * PI_BETA - 1.0 / order
    factor = SAFETY * np.exp(slope * logarithm + PI_BETA * before)
    return min(GROWTH, max(SHRINK, factor))


@inlined
def save(t, y, out_t, out_y, filled, lane):
    """Write a state of a lane to the output."""
    row = filled[lane]
    out_t[lane, row] = t
    for i in range(y.shape[0]):
        out_y[lane, row, i] = y[i, lane]
    filled[lane] = row + 1


@loop
def first_step(kernels, y, t, p, k0, work, nq, tolerance, size, order, span, h, lanes):
    """A first h for each lane (Hairer, Nørsett & Wanner II.4), and k0 the derivative at y."""
    n = y.shape[0]
    evaluate(kernels, y, t, p, k0, work, nq)
    trial, k1, t1 = np.empty_like(y), np.empty_like(y), np.empty_like(t)
    for lane in side_by_side(lanes):
        d0 = d1 = 0.0
        for i in range(n):
            sc = tolerance * size_of(size, i, abs(y[i, lane]), lane)
            d0 += (y[i, lane] / sc) ** 2
            d1 += (k0[i, lane] / sc) ** 2
        d0, d1 = np.sqrt(d0 / n), np.sqrt(d1 / n)
        first = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
        least = SHORTEST_FIRST * (abs(t[0, lane]) + span[lane])
        h[lane] = min(max(least, first), span[lane])  # in this order NaN gives the least
        t1[0, lane] = t[0, lane] + h[lane]
        for i in range(n):
            trial[i, lane] = y[i, lane] + h[lane] * k0[i, lane]
    evaluate(kernels, trial, t1, p, k1, work, nq)
    for lane in side_by_side(lanes):
        d1 = d2 = 0.0
        for i in range(n):
            sc = tolerance * size_of(size, i, abs(y[i, lane]), lane)
            d1 += (k0[i, lane] / sc) ** 2
            d2 += ((k1[i, lane] - k0[i, lane]) / sc) ** 2
        d1, d2 = np.sqrt(d1 / n), np.sqrt(d2 / n) / h[lane]
        top = max(d1, d2)
        better = max(1e-6, h[lane] * 1e-3) if not top > 1e-15 else (0.01 / top) ** (1.0 / order)
        least = SHORTEST_FIRST * (abs(t[0, lane]) + span[lane])
        h[lane] = min(100.0 * h[lane], max(least, better), span[lane])


@loop
def begin_step(
    kernels, y, real, count, p, k0, work, nq, tolerance, size, order, until, h_max, lanes
):
    """`first_step` for a loop that begins: what it remembers and counts."""
    span = np.empty(len(lanes))
    for lane in range(len(lanes)):
        span[lane] = min(until - real[T, lane], h_max)
        count[EVALUATIONS, lane] += 2
    first_step(
        kernels, y, real[T : T + 1], p, k0, work, nq, tolerance, size, order, span, real[H], lanes
    )
