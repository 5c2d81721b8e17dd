"""The records of the collocation loop: its method, its nodes, and the step under way."""

from __future__ import annotations

from typing import NamedTuple

from zwang.codegen.node_sums import NODES
from zwang.integrators.records import FloatArray, IntArray

__all__ = [
    "FIRST",
    "LAST",
    "LENGTH",
    "ORIGIN",
    "PAST",
    "POINT",
    "RATE",
    "SECOND",
    "SPECTRUM",
    "THIRD",
    "VECTORS",
    "CollocationMethod",
    "CollocationStep",
    "NodeSweeps",
    "StepBefore",
]

# What is remembered of the step before: its length, where in it the present step begins (0 or 1),
# the rate at which its sweeps converged, the length of the last accepted step, and the sizes of the
# coefficients of its polynomial.
LENGTH, ORIGIN, RATE, LAST, SPECTRUM = 0, 1, 2, 3, 4
PAST = SPECTRUM + NODES

# Vectors like y to work with: the new point, and six for whatever comes.
POINT, FIRST, SECOND, THIRD = 0, 1, 2, 3
VECTORS = 7


class CollocationMethod(NamedTuple):
    """Coefficients, see `zwang.integrators.collocation.coefficients`, and kernels for all nodes.

    Attributes
    ----------
    kernels : addresses of acceleration, rates or 0, project or 0.
    """

    kernels: IntArray
    nodes: FloatArray
    weights: FloatArray
    integral: FloatArray
    analysis: FloatArray


class StepBefore(NamedTuple):
    """What is remembered of the step before.

    Attributes
    ----------
    F : derivatives at its nodes (n, NODES).
    numbers : PAST numbers, named above.
    """

    F: FloatArray
    numbers: FloatArray


class NodeSweeps(NamedTuple):
    """The nodes of the step under way; arrays are (n, NODES) where nothing else is said.

    Attributes
    ----------
    Y : states.
    F, G : derivatives before and after a sweep, in turn.
    projected : two arrays of projected states.
    times : (1, NODES).
    pivots : pivots and sizes of rows at the nodes, as those at the end of the step.
    part_of : what an error of an entry counts as, times h (n,).
    total : sums of squares (NODES,).
    tables : three arrays (NODES, NODES) to work with.
    zeros : a vector of zeros, at least NODES long.
    """

    Y: FloatArray
    F: FloatArray
    G: FloatArray
    projected: FloatArray
    times: FloatArray
    pivots: FloatArray
    part_of: FloatArray
    total: FloatArray
    tables: FloatArray
    zeros: FloatArray


class CollocationStep(NamedTuple):
    """The ends of the step under way, and room to work in.

    Attributes
    ----------
    start, end : times (1, 1).
    x : VECTORS like y.
    """

    start: FloatArray
    end: FloatArray
    x: FloatArray
