"""The records of the explicit loop: its method, and its step under way."""

from __future__ import annotations

from typing import NamedTuple

from zwang.codegen.jit import inlined
from zwang.integrators.records import BoolArray, FloatArray, IntArray

__all__ = [
    "FIRST",
    "INTEGERS",
    "MARKS",
    "NEW",
    "NUMBERS",
    "OUTCOMES",
    "POINT",
    "SECOND",
    "SPARE",
    "VECTORS",
    "ExplicitMethod",
    "ExplicitRoom",
    "ExplicitStep",
    "step_of",
]

# Vectors like y that the loop works with: the stage or the projected point, the new point before
# it is projected, two for whatever comes, and one to keep the point in.
POINT, NEW, FIRST, SECOND, SPARE = 0, 1, 2, 3, 4
VECTORS = 5
# Rows of the other arrays, see `step_of`; OUTCOMES is that of the integers which is `outcome`.
NUMBERS, MARKS, INTEGERS, OUTCOMES = 8, 10, 5, 4


class ExplicitMethod(NamedTuple):
    """Coefficients, see `zwang.integrators.explicit.tableaus`."""

    A: FloatArray
    B: FloatArray
    C: FloatArray
    P: FloatArray
    S: FloatArray
    stability: float
    stages: int
    order: int
    loosest: float


class ExplicitRoom(NamedTuple):
    """The arrays that `ExplicitStep` names the rows of.

    Attributes
    ----------
    K, x, spent : as there.
    moments : two times (2, lanes).
    numbers, marks, integers : NUMBERS, MARKS and INTEGERS rows (…, lanes).
    sample_times, samples, leaving : see `zwang.integrators.stiffness`.
    """

    K: FloatArray
    x: FloatArray
    moments: FloatArray
    numbers: FloatArray
    marks: BoolArray
    integers: IntArray
    spent: IntArray
    sample_times: FloatArray
    samples: FloatArray
    leaving: FloatArray


class ExplicitStep(NamedTuple):
    """The step under way of each lane, and room to work in.

    Attributes
    ----------
    K : stages (all stages, n, lanes); the first is remembered between steps.
    x : VECTORS like y.
    start, end : times (1, lanes); while stages are computed, end is the time of the stage.
    h, error : length, and error in units of what is allowed.
    arrived : least pivot at the new point but for those of rows known to be dependent.
    change : of h, if the step is accepted.
    squares, sums : of error estimates, before and after a projection (2, lanes).
    active : whether a lane runs.
    full : whether there is no room for what it may put out.
    near : whether its stages are projected.
    short : whether it was shortened to place a singular position between stages.
    last : whether it is the last of its lane.
    across : whether most of the error is one that projecting removes.
    avoided : whether it is repeated because it would end where rank is lost.
    accepted : whether it is accepted.
    within : whether stages of the interpolant are projected.
    some : marks for whatever comes.
    deficit : dependent rows at the new point.
    evaluations, projections : counted before the step, for where it is repeated.
    taken : corrections of the projection.
    outcome : why a lane has ended, see `zwang.integrators.memory`.
    spent : steps of this call (1,).
    sample_times, samples : states that were sampled (SAMPLES, n, lanes), and when.
    leaving : when to leave to another method, see `zwang.integrators.stiffness`.
    """

    K: FloatArray
    x: FloatArray
    start: FloatArray
    end: FloatArray
    h: FloatArray
    error: FloatArray
    arrived: FloatArray
    change: FloatArray
    squares: FloatArray
    sums: FloatArray
    active: BoolArray
    full: BoolArray
    near: BoolArray
    short: BoolArray
    last: BoolArray
    across: BoolArray
    avoided: BoolArray
    accepted: BoolArray
    within: BoolArray
    some: BoolArray
    deficit: IntArray
    evaluations: IntArray
    projections: IntArray
    taken: IntArray
    outcome: IntArray
    spent: IntArray
    sample_times: FloatArray
    samples: FloatArray
    leaving: FloatArray


@inlined
def step_of(room: ExplicitRoom):
    """The step under way, by names."""
    numbers, marks, integers = room.numbers, room.marks, room.integers
    return ExplicitStep(
        K=room.K,
        x=room.x,
        start=room.moments[0:1],
        end=room.moments[1:2],
        h=numbers[0],
        error=numbers[1],
        arrived=numbers[2],
        change=numbers[3],
        squares=numbers[4:6],
        sums=numbers[6:8],
        active=marks[0],
        full=marks[1],
        near=marks[2],
        short=marks[3],
        last=marks[4],
        across=marks[5],
        avoided=marks[6],
        accepted=marks[7],
        within=marks[8],
        some=marks[9],
        deficit=integers[0],
        evaluations=integers[1],
        projections=integers[2],
        taken=integers[3],
        outcome=integers[OUTCOMES],
        spent=room.spent,
        sample_times=room.sample_times,
        samples=room.samples,
        leaving=room.leaving,
    )
