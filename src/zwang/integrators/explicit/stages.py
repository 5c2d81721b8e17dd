"""The stages of an explicit step, at raw or at projected states."""

from __future__ import annotations

from zwang.codegen.jit import inlined, loop
from zwang.codegen.simd import any_of
from zwang.integrators.explicit.error_norm import EIGHT
from zwang.integrators.explicit.records import (
    FIRST,
    NEW,
    POINT,
    SECOND,
    SPARE,
    ExplicitMethod,
    ExplicitStep,
)
from zwang.integrators.explicit.stage_sums import stages_of
from zwang.integrators.explicit.tableaus import ORDER_5, ORDER_8
from zwang.integrators.projection import evaluate, project_once
from zwang.integrators.records import LoopEquations

__all__ = ["NEAR_EVALUATIONS", "at_stability", "integrated", "near_stage", "take_stages"]

NEAR_EVALUATIONS = 4  # of a stage that is projected


@loop
def near_stage(equations: LoopEquations, state, t, out, x, pivots, near):
    """Derivative at a state; where `near`, v̇ is taken at the projected state and q̇ at the raw.

    Returns how many evaluations that took. x[FIRST] and x[SECOND] are worked with.
    """
    first, second = x[FIRST], x[SECOND]
    evaluate(equations, state, t, out)
    # A stage may be far off; the second correction takes the factor at the corrected position.
    project_once(equations, state, t, second, pivots)
    project_once(equations, second, t, first, pivots)
    evaluate(equations, first, t, second)
    for lane in range(len(equations.lanes)):
        if near[lane]:
            for i in range(equations.nq, state.shape[0]):
                out[i, lane] = second[i, lane]
    return NEAR_EVALUATIONS


@inlined
def stage(equations: LoopEquations, state, t, out, x, pivots, near, any_near):
    """Derivative at a state; how many evaluations that took."""
    if any_near:
        return near_stage(equations, state, t, out, x, pivots, near)
    evaluate(equations, state, t, out)
    return 1


stages_8, stages_5 = stages_of(ORDER_8, stage), stages_of(ORDER_5, stage)


@inlined
def take_stages(
    equations: LoopEquations, method: ExplicitMethod, y, step: ExplicitStep, ts, pivots, any_near
):
    """All stages and the solution in x[NEW]; how many evaluations that took."""
    point, new = step.x[POINT], step.x[NEW]
    if method.stages == EIGHT:
        return stages_8(
            *(equations, y, step.start, step.h, step.K, ts, point, new),
            *(step.x, pivots, step.near, any_near),
        )
    return stages_5(
        *(equations, y, step.start, step.h, step.K, ts, point, new),
        *(step.x, pivots, step.near, any_near),
    )


@loop
def integrated(
    equations: LoopEquations, method: ExplicitMethod, y, step: ExplicitStep, moment, pivots
):
    """Write the end of a step to x[NEW], as from projected stages where `near`.

    The stages K are those of this step then; x[POINT] is left as it was. Returns how many
    evaluations that took.
    """
    x, lanes = step.x, equations.lanes
    for lane in range(len(lanes)):
        for i in range(y.shape[0]):
            x[SPARE, i, lane] = x[POINT, i, lane]
    done = take_stages(equations, method, y, step, moment, pivots, any_of(step.near, lanes))
    for lane in range(len(lanes)):
        for i in range(y.shape[0]):
            x[POINT, i, lane] = x[SPARE, i, lane]
    return done


@loop
def at_stability(method: ExplicitMethod, h, K, lane):
    """Whether h is about as long as stability allows (Hairer & Wanner, section IV.2).

    The last stage and the new point have the same time; what f changes between them, relative to
    the distance, is a lower bound of the size of its Jacobian.
    """
    A, B, stages, limit = method.A, method.B, method.stages, method.stability
    moved = changed = 0.0
    for i in range(K.shape[1]):
        distance = 0.0
        for j in range(stages):
            distance += (A[stages - 1, j] - B[j]) * K[j, i, lane]
        moved += (h * distance) ** 2
        changed += (K[stages - 1, i, lane] - K[stages, i, lane]) ** 2
    return h * h * changed > limit * limit * moved > 0.0
