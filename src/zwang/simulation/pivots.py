"""Dependent constraint rows told by elimination, where singular values would cost too much."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.simulation.redundancy import Acting
from zwang.terms import FloatArray

__all__ = ["PIVOT", "PIVOT_OF_MASSLESS", "dependent_on_earlier", "rows_without_pivot"]

#: States at which pivots are looked at, and how far apart they are.
STATES_OF_PIVOTS = 4
STEP_OF_PIVOTS = 0.05
#: Relative pivots below this belong to dependent rows: 1e5 times the regularisation. A row on a
#: body without mass has a large pivot at first, of which the masses behind it leave a millionth.
PIVOT, PIVOT_OF_MASSLESS = 1e-5, 1e-9
#: What is left of a row after those before it is zero below this, relative.
REMAINDER = 1e-9


def rows_without_pivot(
    program: Any, q: FloatArray, t: float, p: FloatArray, limit: float = PIVOT
) -> Acting:
    """Rows that depend on others at all of some states near by, among those that have pivots.

    As `redundant_rows` of `zwang.simulation.redundancy`, with one factorisation a state in place of
    singular values; the later row in the order of elimination goes.
    """
    project, rates = program.kernel("project"), program.kernel("derivative")
    nv, rows = program.nv, program.rows[0]
    generator, found, fewest = np.random.default_rng(0), np.ones(rows, dtype=bool), rows
    for _ in range(STATES_OF_PIVOTS):
        pivots = np.zeros(rows)
        for _ in range(3):  # back onto the constraints
            q, _, pivots = project(q, np.zeros(nv), [t], p)
        small = pivots[:rows] < limit
        found &= small
        fewest = min(fewest, int(small.sum()))
        if not fewest:
            return Acting()
        _, v, _ = project(q, generator.standard_normal(nv), [t], p)
        q_dot, _ = rates(q, v, [t], p)
        q = q + STEP_OF_PIVOTS / max(1e-300, float(np.abs(q_dot).max())) * q_dot
    gone = tuple(int(i) for i in np.flatnonzero(found))
    return Acting(gone, len(gone) == fewest)


def dependent_on_earlier(A: FloatArray) -> list[int]:
    """Rows that follow from those before them."""
    basis, count, found = np.zeros(A.shape), 0, []
    for i, row in enumerate(A):
        rest = row
        for _ in range(2):  # once more, for what rounding left
            rest = rest - (basis[:count] @ rest) @ basis[:count]
        size = float(np.linalg.norm(rest))
        if size <= REMAINDER * max(float(np.linalg.norm(row)), 1e-300):
            found.append(i)
        else:
            basis[count], count = rest / size, count + 1
    return found
