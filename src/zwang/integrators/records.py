"""Integrators: the records that time loops pass on; what belongs together has one name.

Loops resolve the fields of records while they are compiled, so that these cost nothing. Arrays are
[entry][lane]; loops of one trajectory have one lane.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DERIVATIVE",
    "EVENTS",
    "FURTHER",
    "PROJECT",
    "RESIDUAL",
    "BoolArray",
    "EventMemory",
    "FloatArray",
    "IntArray",
    "LoopChoices",
    "LoopEquations",
    "LoopMemory",
    "MotionSamples",
    "OutputBuffers",
    "ProjectionRoom",
    "RankRoom",
    "StepEnds",
]

FloatArray = NDArray[Any]  # of float64, which NumPy's own functions do not promise
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

# The kernels of a loop, in the order of their addresses; FURTHER is the one that a method has of
# its own (see `Loop.KERNELS`).
DERIVATIVE, PROJECT, RESIDUAL, EVENTS, FURTHER = 0, 1, 2, 3, 4


class LoopEquations(NamedTuple):
    """The equations of motion as kernels, and what these are called with.

    Attributes
    ----------
    kernels : addresses, in the order above.
    parameters : (np, lanes).
    work : room for the kernels to work in.
    nq : coordinates; a state is q, then v.
    rows : position rows, whose pivots tell where rank is lost.
    event_functions : how many there are.
    lanes : a tuple as long as there are lanes, which is known to the compiler.
    """

    kernels: IntArray
    parameters: FloatArray
    work: FloatArray
    nq: int
    rows: int
    event_functions: int
    lanes: tuple[int, ...]


class LoopMemory(NamedTuple):
    """The state of a loop and what it remembers of its steps, see `zwang.integrators.memory`.

    Attributes
    ----------
    y : state (n, lanes).
    real, counts : REALS and COUNTS numbers of each lane.
    """

    y: FloatArray
    real: FloatArray
    counts: IntArray


class LoopChoices(NamedTuple):
    """What was asked for: length and accuracy of steps, what to save and to watch.

    Attributes
    ----------
    until : end of the simulation [s].
    smallest, largest, fixed : lengths of steps; fixed is 0 where the error decides.
    tolerance : error of a step.
    entry_sizes : absolute magnitude of each entry of y that errors are relative to, and the share
        of |y| that is added to it (2, n, lanes).
    times : times to save at, the same for all lanes.
    project : whether states are projected onto the constraints.
    every_step : whether every step is saved.
    watch_events : whether there are event functions.
    stop_where_singular : whether to return where rank is lost.
    may_leave : whether to return where another method would do with less work.
    keeps_clear : whether rows are left out of those that act, and other ones may take their place:
        collocation returns before rows that act come near to depending on each other, explicit
        methods pass such positions by stages on the constraints.
    """

    until: float
    smallest: float
    largest: float
    fixed: float
    tolerance: float
    entry_sizes: FloatArray
    times: FloatArray
    project: bool
    every_step: bool
    watch_events: bool
    stop_where_singular: bool
    may_leave: bool
    keeps_clear: bool


class OutputBuffers(NamedTuple):
    """Saved states and changes of rank, see `zwang.integrators.output.LoopOutput`.

    Attributes
    ----------
    t, y : saved times (lanes, rows) and states (lanes, rows, n).
    filled : rows filled, per lane.
    rank_log : (rows, LOG + n, lanes), see `zwang.integrators.rank_loss`.
    rank_rows : rows of it filled, per lane.
    """

    t: FloatArray
    y: FloatArray
    filled: IntArray
    rank_log: FloatArray
    rank_rows: IntArray


class EventMemory(NamedTuple):
    """Event functions at the ends of the last step.

    Attributes
    ----------
    values, before : at the present state, and where the last step began (functions, lanes).
    new : at the end of the step under way.
    previous : time and state where the last step began.
    """

    values: FloatArray
    before: FloatArray
    new: FloatArray
    previous: FloatArray


class ProjectionRoom(NamedTuple):
    """What a projection onto the constraints works with.

    Attributes
    ----------
    pivots : of the position rows and their sizes, see `zwang.integrators.projection`.
    residuals : relative (rows, lanes).
    atol : absolute part of the tolerance (n,).
    ok : whether the corrections of a lane contracted.
    before : size of the last correction of a lane.
    settled : whether a lane needs no more corrections.
    scratch : a vector like y.
    """

    pivots: FloatArray
    residuals: FloatArray
    atol: FloatArray
    ok: BoolArray
    before: FloatArray
    settled: BoolArray
    scratch: FloatArray


class StepEnds(NamedTuple):
    """State and derivative at the start t0 and at the end t1 of a step, or of a part of one."""

    y0: FloatArray
    f0: FloatArray
    y1: FloatArray
    f1: FloatArray
    t0: float
    t1: float


class MotionSamples(NamedTuple):
    """States along a motion, from which it is seen to be stiff, see `stiffness`.

    Attributes
    ----------
    times, states : of the samples (SAMPLES, lanes), (SAMPLES, n, lanes).
    numbers : when to leave to another method, PATIENCE and COST.
    """

    times: FloatArray
    states: FloatArray
    numbers: FloatArray


class RankRoom(NamedTuple):
    """What the search for lost rank works with.

    Attributes
    ----------
    x : two vectors like y; the first holds the state that was looked at last.
    moment : a time (1, lanes).
    pivots : as in `ProjectionRoom`.
    """

    x: FloatArray
    moment: FloatArray
    pivots: FloatArray
