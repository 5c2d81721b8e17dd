"""Equations of a large mechanism: inactive rows, detected by the pivots of an elimination.

Pivots are those of A M⁻¹Aᵀ, and in a ring of bodies whose masses differ by a factor of 1e8 most of
them are tiny. Whether rows depend on each other has nothing to do with masses: they are looked at
with masses that are all alike, and what has a small pivot then is compared with the other rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zwang.equations.active_rows import ActiveRows
from zwang.programs.contract import Program
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
#: Rows up to which those without a pivot are compared with all others.
COMPARED = 400


def rows_without_pivot(
    program: Program,
    q: FloatArray,
    t: float,
    p: FloatArray,
    rows_at: Callable[[FloatArray], FloatArray],
    limit: float = PIVOT,
) -> ActiveRows:
    """Rows that depend on others at all of some states near by, among those that have pivots.

    As `redundant_rows` of `zwang.equations.active_rows`, with one factorisation a state in place of
    singular values; the later row in the order of elimination goes.

    Parameters
    ----------
    p : parameters, with masses that are alike.
    rows_at : A of the rows that have pivots, at coordinates.
    """
    project, rates = program.kernel("project"), program.kernel("derivative")
    nv, rows = program.nv, program.rows[0]
    generator, found, fewest = np.random.default_rng(0), np.ones(rows, dtype=bool), rows
    first = q
    for k in range(STATES_OF_PIVOTS):
        pivots = np.zeros(rows)
        for _ in range(3):  # back onto the constraints
            q, _, pivots = project(q, np.zeros(nv), [t], p)
        first = q if k == 0 else first
        small = pivots[:rows] < limit
        found &= small
        fewest = min(fewest, int(small.sum()))
        if not fewest:
            return ActiveRows()
        _, v, _ = project(q, generator.standard_normal(nv), [t], p)
        q_dot, _ = rates(q, v, [t], p)
        q = q + STEP_OF_PIVOTS / max(1e-300, float(np.abs(q_dot).max())) * q_dot
    if rows <= COMPARED:
        kept = np.flatnonzero(~found)
        order = np.concatenate([kept, np.flatnonzero(found)])
        dependent = order[dependent_on_earlier(rows_at(first)[order])]
        fewest = min(fewest, len(dependent))
        found &= np.isin(np.arange(rows), dependent)
    gone = tuple(int(i) for i in np.flatnonzero(found))
    return ActiveRows(gone, len(gone) == fewest)


def dependent_on_earlier(A: FloatArray) -> list[int]:
    """Rows that follow from those before them."""
    A = A[:, A.any(axis=0)]
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
