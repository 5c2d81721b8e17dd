"""Accelerations alone, of rows that are independent: nothing regularised, little divided.

Rows that depend on others need the regularised factor of `fused`, and a correction for it, so that
they share a force. Where none does but in singular positions, the system

    [[M, Aᵀ], [A, 0]] (v̇, μ) = (f, b),   μ = −λ,

is eliminated as it is, each unknown by a pivot of its own or, better, two at once. A row that acts
on velocity j with a constant factor a says v̇_j = (b − Σ w_k v̇_k)/a, and the equation of v̇_j then
gives the multiplier. With u the couplings of v̇_j to others, what is left is

    K − (u wᵀ + w uᵀ)/a + m_j w wᵀ/a²:

no division, no root, and as far as it goes no square of A, whose rows are in A M⁻¹ Aᵀ twice. A pin
does that for the centre of a body, so that a linkage in a plane is solved in the angles of its
bodies and in the rows that close its loops: a four-bar takes 169 operations in place of 364.

The pivot −d of any other row has d ≥ δR, with R = Σⱼ a_ij²/M_jj its size or, where some of its
entries are constant, the share of these: a state that is singular to rounding gets a finite answer,
and all others what the rows say.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from zwang.engine.elimination import analyse
from zwang.engine.fused import DELTA, Expressions, entries_of, triplets

if TYPE_CHECKING:
    import casadi

__all__ = ["VANISHING", "accelerations", "is_direct"]

#: Least pivot of a row that vanishes: smaller than that of any row of a mechanism.
VANISHING = 1e-100


def is_direct(e: Expressions) -> bool:
    """Whether accelerations of a system can be had without its multipliers."""
    solved = e.acceleration is None and e.law is None and not e.singular_mass
    return solved and (e.independent or e.distinct)


def accelerations(e: Expressions) -> casadi.SX:
    """v̇, shape (nv, 1)."""
    return _Solve(e).run()


class _Solve:
    """Gauss's elimination of K y = x, K symmetric, on symbols."""

    def __init__(self, e: Expressions) -> None:
        import casadi as ca

        self.e, self.n = e, e.M.shape[0]
        n, m = self.n, e.A.shape[0]
        self.rows = rows = list(triplets(e.A))
        self.K = {(i, j): value for i, j, value in triplets(e.M) if i >= j}
        self.K |= {(n + row, j): value for row, j, value in rows}
        self.inverse_mass = [1.0 / value for value in entries_of(ca.diag(e.M))]
        self.x = [*entries_of(e.force), *entries_of(e.b)]
        self.y: dict[int, casadi.SX] = {}
        mass = [(i, j) for i, j in self.K if i < n]
        acting = [(row, j) for row, j, _ in rows]
        self.plan = analyse(n, m, mass, acting, _constant(rows))

    def run(self) -> casadi.SX:
        """v̇ of y = (v̇, μ)."""
        import casadi as ca

        back = [
            self._single(*pivot, below) if len(pivot) == 1 else self._pair(*pivot, below)
            for pivot, below in zip(self.plan.pivots, self.plan.below, strict=True)
        ]
        for solve in reversed(back):
            solve()
        return ca.vertcat(*(self.y[j] for j in range(self.n)))

    def _coupled(self, k: int, below: tuple[int, ...]) -> dict[int, casadi.SX]:
        """Entries of column k of K."""
        found = {i: self.K.get((max(i, k), min(i, k))) for i in below}
        return {i: value for i, value in found.items() if value is not None}

    def _change(self, i: int, j: int, by: casadi.SX) -> None:
        key = (max(i, j), min(i, j))
        self.K[key] = self.K[key] + by if key in self.K else by

    def _single(self, k: int, below: tuple[int, ...]) -> Callable[[], None]:
        """Eliminate by the pivot of k; what finds y_k once those below are known."""
        column, inverse = self._coupled(k, below), 1.0 / self._pivot(k)
        factors = {i: value * inverse for i, value in column.items()}
        for i, j in combinations_with_replacement(column, 2):
            self._change(i, j, -(factors[i] * column[j]))
        for i, factor in factors.items():
            self.x[i] = self.x[i] - factor * self.x[k]

        def solve() -> None:
            self.y[k] = self._less(self.x[k] * inverse, factors)

        return solve

    def _pivot(self, k: int) -> casadi.SX:
        """D of a single pivot."""
        import casadi as ca

        if k < self.n or self.e.independent:
            return self.K[k, k]
        row = [(j, a) for i, j, a in self.rows if i == k - self.n]
        entries = [(j, a) for j, a in row if a.is_constant()] or row
        size = sum((a * a * self.inverse_mass[j] for j, a in entries), start=ca.SX(0))
        return ca.fmin(self.K.get((k, k), ca.SX(0)), -(DELTA * size + VANISHING))

    def _pair(self, j: int, row: int, below: tuple[int, ...]) -> Callable[[], None]:
        """Eliminate velocity j by a row, and the multiplier of the row by the equation of j."""
        u, w = self._coupled(j, below), self._coupled(row, below)
        inverse, m = 1.0 / self.K[row, j], self.K[j, j]
        share = {k: value * inverse for k, value in w.items()}
        for i, k in combinations_with_replacement(share, 2):
            self._change(i, k, m * share[i] * share[k])
        for i, coupling in u.items():
            for k, factor in share.items():
                change = coupling * factor
                self._change(i, k, -2.0 * change if i == k else -change)
        given = self.x[row] * inverse
        rest = self.x[j] - m * given
        for i, coupling in u.items():
            self.x[i] = self.x[i] - coupling * given
        for k, factor in share.items():
            self.x[k] = self.x[k] - factor * rest

        def solve() -> None:
            y = self.y[j] = self._less(given, share)
            self.y[row] = self._less(self.x[j] - m * y, u) * inverse

        return solve

    def _less(self, value: casadi.SX, factors: dict[int, casadi.SX]) -> casadi.SX:
        """What is left of a value without the shares of unknowns that are known."""
        for i, factor in factors.items():
            value = value - factor * self.y[i]
        return value


def _constant(rows: list[tuple[int, int, casadi.SX]]) -> list[tuple[int, int]]:
    """(row, velocity) of the entries of A that a velocity can be eliminated by.

    Constant, and as large as any constant of their row: what they are divided by, masses are
    multiplied with.
    """
    numbers = {(row, j): abs(float(a)) for row, j, a in rows if a.is_constant()}
    largest: dict[int, float] = {}
    for (row, _), size in numbers.items():
        largest[row] = max(largest.get(row, 0.0), size)
    return [(row, j) for (row, j), size in numbers.items() if size == largest[row] > 0.0]
