"""Error control of explicit integrators: how large the error of a step is, in units of the allowed.

Both pairs of `tableaus` estimate the error from their stages. Where the step is projected, that is
more than counts: see `tangential_error`.
"""

from __future__ import annotations

import numpy as np

from zwang.codegen.jit import inlined, loop
from zwang.codegen.simd import side_by_side
from zwang.integrators.explicit.records import (
    FIRST,
    NEW,
    POINT,
    SECOND,
    ExplicitMethod,
    ExplicitStep,
)
from zwang.integrators.explicit.stage_sums import errors_of, shifts_of
from zwang.integrators.explicit.tableaus import ORDER_5, ORDER_8
from zwang.integrators.memory import PIVOT
from zwang.integrators.projection import pivot_of, project_once
from zwang.integrators.records import LoopChoices, LoopEquations, LoopMemory

__all__ = ["EIGHT", "LARGEST_ERROR", "error_norm", "tangential_error"]

EIGHT = ORDER_8.stages  # a tableau is recognized by its stages
LARGEST_ERROR = 1e6  # above this the step is not looked at any further
ALONG = 0.1  # an error is one along the constraints if projecting leaves this part of it
FREE_PIVOT = 0.005  # relative pivots above this belong to rows far from losing rank
# Where rows vanish pivots show nothing, being relative to the rows. But the first estimate is of
# higher order and below this part of the second, unless it holds the rounding of stages.
HIGHER = 0.1

errors_8, errors_5 = errors_of(ORDER_8), errors_of(ORDER_5)
first_shift_8, second_shift_8 = shifts_of(ORDER_8)
first_shift_5, second_shift_5 = shifts_of(ORDER_5)


@inlined
def error_norm(method: ExplicitMethod, y, step: ExplicitStep, choices: LoopChoices, lanes):
    """Error of a step from y to x[NEW], root mean square over the entries, for each lane.

    Order 8 combines its two estimates (Hairer, Nørsett & Wanner, section II.10). The sums of their
    squares, divided by h², are left in step.squares; x[FIRST] and x[SECOND] are worked with.
    """
    n, size, tolerance = y.shape[0], choices.entry_sizes, choices.tolerance
    new, first, second = step.x[NEW], step.x[FIRST], step.x[SECOND]
    if method.stages == EIGHT:
        errors_8(lanes, (first, second), step.K, y, new, size[0], size[1], tolerance)
    else:
        errors_5(lanes, (first, second), step.K, y, new, size[0], size[1], tolerance)
    for lane in side_by_side(lanes):
        e5 = e3 = 0.0
        for i in range(n):
            e5 += first[i, lane]
            e3 += second[i, lane]
        step.squares[0, lane], step.squares[1, lane] = e5, e3
        step.error[lane] = step.h[lane] * combined(method.stages, e5, e3, n)


@inlined
def combined(stages, e5, e3, n):
    """What two sums of squares of estimates make together."""
    if stages != EIGHT:
        return np.sqrt(e5 / n)
    return 0.0 if e5 == 0.0 else e5 / np.sqrt((e5 + 0.01 * e3) * n)


@loop
def shift(estimate, stages, K, y, h, out, lanes):
    """Write y plus an error estimate to out."""
    if stages == EIGHT:
        if estimate == 0:
            first_shift_8(lanes, (out,), y, h, K)
        else:
            second_shift_8(lanes, (out,), y, h, K)
    elif estimate == 0:
        first_shift_5(lanes, (out,), y, h, K)
    else:
        second_shift_5(lanes, (out,), y, h, K)


@inlined
def far_from_singular(equations: LoopEquations, memory: LoopMemory, pivots, free):
    """Mark lanes whose pivots are large at both ends of the step."""
    rows = equations.rows
    for lane in range(len(equations.lanes)):
        least = memory.real[PIVOT, lane]
        for i in range(rows):
            least = min(least, pivot_of(pivots, i, rows, lane))
        free[lane] = least > FREE_PIVOT


@inlined
def projected_squares(
    equations: LoopEquations, method: ExplicitMethod, y, step: ExplicitStep, choices: LoopChoices,
    pivots,
):  # fmt: skip
    """The sums of squares of both estimates, of what a projection leaves of them, in step.sums."""
    base, new, first, second = step.x[POINT], step.x[NEW], step.x[FIRST], step.x[SECOND]
    size, tolerance, sums, lanes = (
        choices.entry_sizes,
        choices.tolerance,
        step.sums,
        equations.lanes,
    )
    for k in range(2):
        shift(k, method.stages, step.K, new, step.h, first, lanes)
        project_once(equations, first, step.end, second, pivots)
        for lane in range(len(lanes)):
            sums[k, lane] = 0.0
        for i in range(y.shape[0]):
            for lane in range(len(lanes)):
                larger = max(abs(y[i, lane]), abs(new[i, lane]))
                allowed = tolerance * (size[0, i, lane] + size[1, i, lane] * larger)
                sums[k, lane] += ((second[i, lane] - base[i, lane]) / allowed) ** 2


@loop
def tangential_error(
    equations: LoopEquations, method: ExplicitMethod, memory: LoopMemory, step: ExplicitStep,
    choices: LoopChoices, pivots,
):  # fmt: skip
    """Replace an error above one by that of the projected solution, per lane.

    Near a singular position the stages carry a large error across the constraints, along which
    the motion is hardly held there. At the end of the step it is held again, and the projection
    takes that error away; only what lies along the constraints counts. step.across marks where most
    of the error was of that kind.

    Along few free directions one of the two estimates is easily near zero by chance, and with it
    their combination. So of both the first one counts alone, and the error is not taken to fall by
    more than the larger of their shares along the constraints. Near a singular position it is:
    there the first estimate holds little but the rounding of stages, which no smaller step makes
    smaller.
    What projecting removes leaves its square along the constraints, which curve, and which do no
    work: a velocity gains across them what it loses along them.
    """
    y, across, error = memory.y, step.across, step.error
    h, sums, squares = step.h, step.sums, step.squares
    project_once(equations, step.x[NEW], step.end, step.x[POINT], pivots)
    far_from_singular(equations, memory, pivots, across)  # kept there until it is known
    projected_squares(equations, method, y, step, choices, pivots)
    for lane in range(len(equations.lanes)):
        free = across[lane]
        across[lane] = True
        if 1.0 <= error[lane] < LARGEST_ERROR:
            along = np.sqrt(sums[0, lane] / y.shape[0])
            along = max(along, choices.tolerance * error[lane] ** 2)
            across[lane] = not along > ALONG * error[lane]
            free = free and h[lane] ** 2 * squares[0, lane] <= HIGHER**2 * sums[1, lane]
            for k in range(2):
                if free and squares[k, lane] > 0.0:
                    share = np.sqrt(sums[k, lane] / squares[k, lane]) / h[lane]
                    along = max(along, error[lane] * share)
            error[lane] = min(error[lane], along)
