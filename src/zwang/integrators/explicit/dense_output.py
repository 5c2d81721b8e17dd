"""States within an explicit step, from its interpolant, projected."""

from __future__ import annotations

import numpy as np

from zwang.codegen.jit import inlined, loop
from zwang.codegen.simd import any_of
from zwang.integrators.explicit.error_norm import EIGHT
from zwang.integrators.explicit.records import NEW, SECOND, ExplicitMethod, ExplicitStep
from zwang.integrators.explicit.stage_sums import interpolation_of
from zwang.integrators.explicit.stages import integrated, near_stage
from zwang.integrators.explicit.tableaus import ORDER_5, ORDER_8
from zwang.integrators.memory import EVALUATIONS, NEXT, SAVED
from zwang.integrators.output import save
from zwang.integrators.projection import LEFT, PROJECTED, evaluate, project_between
from zwang.integrators.records import (
    LoopChoices,
    LoopEquations,
    LoopMemory,
    OutputBuffers,
    ProjectionRoom,
)

__all__ = ["save_between"]

interpolation_8, interpolation_5 = interpolation_of(ORDER_8), interpolation_of(ORDER_5)


@loop
def interpolant(
    equations: LoopEquations, method: ExplicitMethod, y, step: ExplicitStep, moment, pivots
):
    """The stages that only the interpolant needs; how many evaluations each took at most.

    They are projected where step.within holds. Where step.near does, those that correct the
    interpolant are left out: one of them is in the gap in which a singular position is passed.
    """
    C, S, K, h, lanes = method.C, method.S, step.K, step.h, equations.lanes
    state, correcting = step.x[NEW], C.shape[0] - S.shape[0]
    any_near, done = any_of(step.within, lanes), 1
    for s in range(method.stages + 1, C.shape[0]):
        if method.stages == EIGHT:
            interpolation_8(s, lanes, (state,), y, h, K)
        else:
            interpolation_5(s, lanes, (state,), y, h, K)
        for lane in range(len(lanes)):
            moment[0, lane] = step.start[0, lane] + C[s] * h[lane]
        if any_near:
            done = near_stage(equations, state, moment, K[s], step.x, pivots, step.within)
        else:
            evaluate(equations, state, moment, K[s])
        for lane in range(len(lanes)):
            if step.near[lane] and s >= correcting:
                for i in range(y.shape[0]):
                    slope = 0.0
                    for j in range(correcting):
                        slope += S[s - correcting, j] * K[j, i, lane]
                    K[s, i, lane] = slope
    return done


@inlined
def interpolated(K, P, y, h, theta, out, lane, lanes):
    """The state of a lane at θ of the step, written for all lanes."""
    for i in range(y.shape[0]):
        total = 0.0
        for s in range(P.shape[0]):
            value = P[s, P.shape[1] - 1]
            for j in range(P.shape[1] - 2, -1, -1):
                value = value * theta + P[s, j]
            total += value * theta * K[s, i, lane]
        for other in range(len(lanes)):
            out[i, other] = y[i, lane] + h[lane] * total


@inlined
def count_interpolant(method: ExplicitMethod, memory: LoopMemory, step: ExplicitStep, times, done):
    """Count the evaluations of the interpolant in the lanes that save something."""
    count, further = memory.counts, method.P.shape[0] - method.stages - 1
    for lane in range(step.h.shape[0]):
        k = count[NEXT, lane]
        if step.accepted[lane] and k < times.shape[0] and times[k] < step.end[0, lane]:
            count[EVALUATIONS, lane] += further * (done if step.within[lane] else 1)


@loop
def save_between(
    equations: LoopEquations, method: ExplicitMethod, memory: LoopMemory, step: ExplicitStep,
    choices: LoopChoices, output: OutputBuffers, onto: ProjectionRoom,
):  # fmt: skip
    """Save the states at times within the step from the interpolant, projected."""
    y, moment, times = memory.y, memory.real[SAVED : SAVED + 1], choices.times
    done = interpolant(equations, method, y, step, moment, onto.pivots)
    count_interpolant(method, memory, step, times, done)
    for lane in range(len(equations.lanes)):
        if step.accepted[lane]:
            save_lane(equations, method, memory, step, choices, output, onto, lane)


@inlined
def save_lane(
    equations: LoopEquations, method: ExplicitMethod, memory: LoopMemory, step: ExplicitStep,
    choices: LoopChoices, output: OutputBuffers, onto: ProjectionRoom, lane,
):  # fmt: skip
    """`save_between` for one lane.

    A step that passes a singular position with raw stages may be far off the constraints on its
    way: where that shows, it is repeated with projected ones. If a stage is so near that position
    that this does not help either, states are integrated to, each by a step of its own.
    """
    y, count, moment = memory.y, memory.counts, memory.real[SAVED : SAVED + 1]
    state, times, h = step.x[NEW], choices.times, step.h
    start, end = step.start[0, lane], step.end[0, lane]
    further = method.P.shape[0] - method.stages - 1
    usual = choices.tolerance if choices.fixed == 0.0 else np.inf
    k, again, lost, whole_step = count[NEXT, lane], False, False, h[lane]
    while k < times.shape[0] and times[k] < end:
        if lost:
            h[lane] = times[k] - start
            count[EVALUATIONS, lane] += integrated(equations, method, y, step, moment, onto.pivots)
            h[lane] = whole_step
        else:
            theta = (times[k] - start) / whole_step
            interpolated(step.K, method.P, y, h, theta, state, lane, equations.lanes)
        for other in range(len(equations.lanes)):
            moment[0, other] = times[k]
        if choices.project:
            how = project_between(
                equations, state, step.x[SECOND], moment, onto, choices.entry_sizes, usual, lane
            )
            if how != PROJECTED and not step.near[lane]:
                step.near[lane] = step.within[lane] = again = True
                count[EVALUATIONS, lane] += integrated(
                    equations, method, y, step, moment, onto.pivots
                ) + further * interpolant(equations, method, y, step, moment, onto.pivots)
                continue
            if how == LEFT and again and not lost:
                lost = True
                continue
            if how == LEFT and lost:  # the last stage is in that position: no better
                count[EVALUATIONS, lane] += integrated(
                    equations, method, y, step, moment, onto.pivots
                ) + further * interpolant(equations, method, y, step, moment, onto.pivots)
                theta = (times[k] - start) / whole_step
                interpolated(step.K, method.P, y, h, theta, state, lane, equations.lanes)
        save(times[k], state, output, lane)
        k += 1
    count[NEXT, lane] = k
