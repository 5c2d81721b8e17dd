"""The records of the fixed-step loop: the stages of its method, and its step under way."""

from __future__ import annotations

from typing import NamedTuple

from zwang.integrators.records import FloatArray, IntArray

__all__ = ["DiscreteStage", "DiscreteStep", "RootProblem"]


class DiscreteStage(NamedTuple):
    """A stage of a method, the root of its residual.

    Attributes
    ----------
    address : of its kernel.
    rows, columns : of the entries of its iteration matrix.
    unknowns : how many; a stage without any is none.
    """

    address: int
    rows: IntArray
    columns: IntArray
    unknowns: int


class RootProblem(NamedTuple):
    """What the residual of a stage depends on besides its unknowns.

    Attributes
    ----------
    y : state where the stage begins.
    memory : what the method remembers there.
    scalars : t, h and the coefficients of the method.
    parameters : of the system.
    """

    y: FloatArray
    memory: FloatArray
    scalars: FloatArray
    parameters: FloatArray


class DiscreteStep(NamedTuple):
    """The step under way, and room to work in; vectors are like y.

    Attributes
    ----------
    scalars : t, h and the coefficients of the method.
    memory : what the method remembers; memory_start and memory_new are it within the step.
    start, new : state where a stage begins, and to which it leads.
    unknowns : of the stages.
    rate, rate_new : derivatives at both ends.
    between : a state within the step.
    looked : two vectors for the search for lost rank.
    moment : a time (1, 1).
    """

    scalars: FloatArray
    memory: FloatArray
    memory_start: FloatArray
    memory_new: FloatArray
    start: FloatArray
    new: FloatArray
    unknowns: FloatArray
    rate: FloatArray
    rate_new: FloatArray
    between: FloatArray
    looked: FloatArray
    moment: FloatArray
