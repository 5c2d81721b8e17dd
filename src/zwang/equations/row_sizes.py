"""Equations near cancellation: how much is left of a constraint row of the terms summed in it.

The entries of a row are sums of products: arms, axes, cosines. Where these cancel on paper, nothing
is left but rounding, which has a direction like any row and, scaled to unit length, would hold a
motion as one. How large the terms were, the row itself does not tell. It shows when what the row is
made of is shifted: coordinates and numbers that differ by a share of their size change a row by
about that share of its terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.equations.contract import Equations

__all__ = ["LEFT", "shares_left", "shifted"]

#: Share of their size by which coordinates and numbers are shifted; rows are smooth over it.
SHIFT = 2.0**-10
#: Shifts that are looked at: by chance, one may change a row little.
SHIFTS = 2
#: What is left of a row, relative to its terms, down to which it is scaled to unit length. A state
#: is on its constraints to some 1e-15, so that a row that vanishes on paper is left with 1e-12 in
#: place of one, below what counts as dependent; a row that is shorter than this on purpose, one in
#: metres for a mechanism of micrometres, keeps a length of a thousandth.
LEFT = 1e-3


def shifted(system: Equations, q: FloatArray, p: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """Coordinates and parameters a little off, in directions by chance."""
    generator = np.random.default_rng(0)
    sizes = SHIFT * np.concatenate([np.maximum(1.0, np.abs(q)), system.parameter_sizes(p)])
    found = []
    for _ in range(SHIFTS):
        shift = sizes * generator.choice([-1.0, 1.0], sizes.size)
        shift *= generator.uniform(0.5, 1.0, sizes.size)
        found.append((q + shift[: q.size], p + shift[q.size :]))
    return found


def shares_left(rows: FloatArray, others: Sequence[FloatArray]) -> FloatArray:
    """What is left of each row, relative to its terms, one at most; shape (m,).

    Parameters
    ----------
    rows : A with velocities scaled, (m, n).
    others : the same at the states that `shifted` gives.
    """
    length = np.abs(rows).max(axis=1, initial=0.0)
    changes = [np.nan_to_num(np.abs(other - rows)).max(axis=1, initial=0.0) for other in others]
    terms = np.max(changes, axis=0, initial=0.0) / SHIFT
    return np.divide(length, terms, out=np.ones_like(length), where=terms > length)
