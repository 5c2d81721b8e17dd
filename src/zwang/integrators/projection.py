"""Integrators: projection of states onto the constraints, with pivots that show lost rank."""

from __future__ import annotations

import numpy as np

from zwang.codegen.call import call, part
from zwang.codegen.jit import inlined, loop
from zwang.codegen.simd import all_of, side_by_side
from zwang.integrators.memory import ENDED, RANK_PIVOT, T
from zwang.integrators.records import (
    DERIVATIVE,
    FURTHER,
    PROJECT,
    RESIDUAL,
    LoopEquations,
    LoopMemory,
    ProjectionRoom,
)

__all__ = [
    "arrive",
    "copy_lanes",
    "derivative",
    "evaluate",
    "keep_sizes",
    "largest_residual",
    "note_sizes",
    "pivot_of",
    "project_between",
    "project_once",
    "project_start",
    "projected",
    "size_of",
]

CORRECTIONS = 4  # of a projection, at most
CONTRACTION = 0.25  # a Newton correction must be below this part of the one before
NEGLIGIBLE = 0.01  # a correction of this part of the tolerance, which need not contract any more
RESIDUAL_LIMIT = 1e-13  # of a projected state, relative
# Fixed steps end far from their constraints, so that corrections need not contract by as much as of
# steps with error control; but they must lead there.
FIXED_LIMIT = 1e-10
# A state between steps is off the constraints by its error, and so is its velocity: in tolerances
# the first is usual, the second, in parts of the velocity, is a turn to another branch.
USUAL, TURNED = 100.0, 1e-3
# Far from singular positions no pivot, relative to its row, is below this.
REGULAR_PIVOT = 0.1
# How projecting one went: as usual; from unusually far; or the state was left as it was.
PROJECTED, FAR_OFF, LEFT = 0, 1, 2
# The array of pivots has parts, each with an entry for every position row. The kernel that
# projects writes two: pivots relative to the size of the row, and that size. Then come the sizes at
# the end of the step under way, and the largest of late, which pivots are really relative to: where
# a row vanishes it loses rank as one does that depends on others, and its own size does not tell.
# The last two are room for what the kernel writes when it is called for some of the lanes.
LARGEST, SPARE, PIVOT_ARRAYS = 3, 4, 6
# Largest sizes are forgotten at this pace, a step at a time: rows that shrink by less than a
# fortieth in a step only become smaller (sizes are squares).
FORGOTTEN = 0.95


@inlined
def evaluate(equations: LoopEquations, y, t, out):
    """Out = (q̇, v̇) at y = (q, v), all lanes."""
    nq = equations.nq
    call(
        equations.kernels[DERIVATIVE],
        *(y, part(y, nq), t, equations.parameters, out, part(out, nq), equations.work),
    )


@loop
def derivative(equations: LoopEquations, y, t, out):
    """`evaluate`, to be called from Python."""
    evaluate(equations, y, t, out)


@inlined
def size_of(entry_sizes, i, value, lane):
    """What an error of entry i counts relative to: its absolute size, and its value if that adds.

    The absolute sizes and the shares of the values, 1 or 0 as for angles, are in `entry_sizes`.
    """
    return entry_sizes[0, i, lane] + entry_sizes[1, i, lane] * value


@inlined
def copy_lanes(x, out, lanes):
    """Write a vector like y to another, all lanes."""
    for lane in side_by_side(lanes):
        for i in range(x.shape[0]):
            out[i, lane] = x[i, lane]


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
def project_once(equations: LoopEquations, y, t, out, pivots):
    """Out = y after one correction onto the constraints, and the pivots at y, all lanes."""
    nq = equations.nq
    call(
        equations.kernels[PROJECT],
        *(y, part(y, nq), t, equations.parameters, out, part(out, nq), pivots, equations.work),
    )


@inlined
def contract(y, nq, onto: ProjectionRoom, lane):
    """Take the correction of a lane; one that does not contract settles it as not ok."""
    corrected, size = onto.scratch, 0.0
    for i in range(nq):
        size = max(size, abs(corrected[i, lane] - y[i, lane]) / onto.atol[i])
    if not size < np.inf or (size > CONTRACTION * onto.before[lane] and size > NEGLIGIBLE):
        onto.ok[lane], onto.settled[lane] = False, True
    onto.before[lane] = size
    for i in range(y.shape[0]):
        y[i, lane] = corrected[i, lane]


@inlined
def settle(onto: ProjectionRoom, lanes):
    """Settle the lanes whose residuals are within the limit; whether all are settled."""
    for lane in side_by_side(lanes):
        worst = 0.0
        for k in range(onto.residuals.shape[0]):
            worst = max(worst, abs(onto.residuals[k, lane]))
        onto.settled[lane] = onto.settled[lane] or worst <= RESIDUAL_LIMIT
    return all_of(onto.settled, lanes)


@inlined
def largest_residual(residuals, lane):
    """The largest residual of a lane, relative; infinite if one is no number."""
    worst = 0.0
    for k in range(residuals.shape[0]):
        size = abs(residuals[k, lane])
        if not size <= worst:
            worst = size if size < np.inf else np.inf  # noqa: FURB136 - NaN too
    return worst


@inlined
def corrected_once(equations: LoopEquations, y, t, onto: ProjectionRoom):
    """A correction of the lanes that are not settled, and no more: alone they take no more."""
    pivots, lanes = onto.pivots, equations.lanes
    rows = pivots.shape[0] // PIVOT_ARRAYS
    spare = pivots if len(lanes) == 1 else pivots[SPARE * rows :]
    project_once(equations, y, t, onto.scratch, spare)
    for lane in side_by_side(lanes):
        if not onto.settled[lane]:
            contract(y, equations.nq, onto, lane)
            for k in range(2 * rows):
                pivots[k, lane] = spare[k, lane]


@inlined
def unsettled(onto: ProjectionRoom, lanes):
    """All lanes as before their first correction."""
    for lane in side_by_side(lanes):
        onto.ok[lane], onto.settled[lane], onto.before[lane] = True, False, np.inf


@loop
def projected(equations: LoopEquations, y, t, onto: ProjectionRoom):
    """Project y onto the constraints in place, all lanes; ok[lane] tells whether it contracted.

    Returns the number of corrections.
    """
    nq = equations.nq
    unsettled(onto, equations.lanes)
    for corrections in range(1, CORRECTIONS + 1):
        corrected_once(equations, y, t, onto)
        call(
            equations.kernels[RESIDUAL],
            *(y, part(y, nq), t, equations.parameters, onto.residuals, equations.work),
        )
        if settle(onto, equations.lanes):
            return corrections
    return CORRECTIONS


@inlined
def turned(y, raw, entry_sizes, limit, nq, lane):
    """Whether a projection has changed the velocity by more than a part of it."""
    for i in range(nq, y.shape[0]):
        allowed = limit * size_of(entry_sizes, i, abs(raw[i, lane]), lane)
        if not abs(y[i, lane] - raw[i, lane]) <= allowed:
            return True
    return False


@inlined
def regular(pivots, rows, lane):
    """Whether no row is near to depending on others."""
    for k in range(rows):
        if not pivot_of(pivots, k, rows, lane) > REGULAR_PIVOT:
            return False
    return rows > 0


@loop
def project_between(
    equations: LoopEquations, y, raw, t, onto: ProjectionRoom, entry_sizes, tolerance, lane
):
    """As `projected`, for a state between steps of one lane; how that went.

    Next to a singular position directions across the constraints change within the error of the
    state, so that the velocity is projected once more at the projected position. If that turns it,
    to another branch, the state stays as it was, as which it is kept in raw; unless no singular
    position is near.
    """
    nq = equations.nq
    for i in range(y.shape[0]):
        raw[i, lane] = y[i, lane]
    projected(equations, y, t, onto)
    if not turned(y, raw, entry_sizes, USUAL * tolerance, nq, lane):
        return PROJECTED
    for i in range(nq, y.shape[0]):
        y[i, lane] = raw[i, lane]
    projected(equations, y, t, onto)
    if not turned(y, raw, entry_sizes, max(USUAL * tolerance, TURNED), nq, lane):
        return FAR_OFF
    if onto.ok[lane] and regular(onto.pivots, equations.rows, lane):
        return FAR_OFF  # there is no other branch: the interpolant is wrong, as over a kink
    for i in range(y.shape[0]):
        y[i, lane] = raw[i, lane]
    return LEFT


@loop
def project_start(equations: LoopEquations, memory: LoopMemory, onto: ProjectionRoom):
    """Project the state that a loop begins with, and count the rows that are dependent there.

    If they are dependent at the end of a step too, they were so from the start.
    """
    projected(equations, memory.y, memory.real[T : T + 1], onto)
    for lane in range(len(equations.lanes)):
        memory.counts[ENDED, lane] = 0
        for k in range(equations.rows):
            if onto.pivots[k, lane] < RANK_PIVOT:
                memory.counts[ENDED, lane] += 1


@inlined
def arrive(equations: LoopEquations, y, t, out, onto: ProjectionRoom, taken):
    """As `projected`, with the derivative at the projected state in out.

    The number of corrections of each lane is written to `taken`.
    """
    nq, lanes = equations.nq, equations.lanes
    unsettled(onto, lanes)
    for lane in side_by_side(lanes):
        taken[lane] = 0
    for corrections in range(1, CORRECTIONS + 1):
        for lane in side_by_side(lanes):
            if not onto.settled[lane]:
                taken[lane] += 1
        corrected_once(equations, y, t, onto)
        call(
            equations.kernels[FURTHER],
            *(y, part(y, nq), t, equations.parameters, out, part(out, nq)),
            *(onto.residuals, equations.work),
        )
        if settle(onto, lanes):
            return corrections
    return CORRECTIONS
