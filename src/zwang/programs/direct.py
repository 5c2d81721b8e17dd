"""Programs with independent rows: accelerations and corrections without regularization.

Rows that depend on others need the regularised factor of `factor`, and a correction for it, so that
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

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, NamedTuple

from zwang.codegen.casadi_operators import divided, inverse, is_zero, minus, plus, smaller, times
from zwang.programs.elimination import analyse
from zwang.programs.factor import DELTA, ProgramExpressions, entries_of, triplets

if TYPE_CHECKING:
    import casadi

__all__ = ["VANISHING", "Direct", "is_direct"]

#: Least pivot of a row that vanishes: smaller than that of any row of a mechanism.
VANISHING = 1e-100


def is_direct(e: ProgramExpressions) -> bool:
    """Whether a system can be solved so, and nothing of it asks for its multipliers."""
    solved = e.acceleration is None and e.law is None and not e.singular_mass
    return solved and (e.independent or e.distinct)


class Direct:
    """Gauss's elimination of K, symmetric, on symbols.

    Attributes
    ----------
    pivots : those of the rows relative to R, shape (m, 1): near 1 for a row by itself, near zero
        for one that depends on rows eliminated before it; 1 for a row that went with a velocity.
    sizes : R, and 1 for a row that went with a velocity, shape (m, 1).
    """

    def __init__(self, e: ProgramExpressions, A: casadi.SX) -> None:
        import casadi as ca

        self.n, self.m, self.independent = e.M.shape[0], A.shape[0], e.independent
        n = self.n
        rows = list(triplets(A))
        self.K = {(i, j): value for i, j, value in triplets(e.M) if i >= j}
        self.K |= {(n + row, j): value for row, j, value in rows}
        self.inverse_mass = [inverse(value) for value in entries_of(ca.diag(e.M))]
        mass = [(i, j) for i, j in self.K if i < n]
        acting = [(row, j) for row, j, _ in rows]
        plan = analyse(n, self.m, mass, acting, _constant(rows))
        self._entries: dict[int, list[tuple[int, casadi.SX]]] = {}
        for row, j, value in rows:
            self._entries.setdefault(row, []).append((j, value))
        self._relative, self._sizes = [ca.SX(1)] * self.m, [ca.SX(1)] * self.m
        self.steps = [
            self._single(*pivot, below) if len(pivot) == 1 else self._pair(*pivot, below)
            for pivot, below in zip(plan.pivots, plan.below, strict=True)
        ]
        self.pivots, self.sizes = ca.vertcat(*self._relative), ca.vertcat(*self._sizes)

    def move(self, force: casadi.SX, rhs: casadi.SX) -> casadi.SX:
        """v̇ of M v̇ = force + Aᵀλ, A v̇ = rhs."""
        import casadi as ca

        x = [*entries_of(force), *entries_of(rhs)]
        for step in self.steps:
            step.forward(x)
        for step in reversed(self.steps):
            step.back(x)
        return ca.vertcat(*x[: self.n])

    def _coupled(self, k: int, below: tuple[int, ...]) -> dict[int, casadi.SX]:
        """Entries of column k of K."""
        found = {i: self.K.get((max(i, k), min(i, k))) for i in below}
        return {i: value for i, value in found.items() if value is not None}

    def _change(self, i: int, j: int, by: casadi.SX) -> None:
        key = (max(i, j), min(i, j))
        self.K[key] = plus(self.K[key], by) if key in self.K else by

    def _single(self, k: int, below: tuple[int, ...]) -> _Single:
        """Eliminate by the pivot of k."""
        column, reciprocal = self._coupled(k, below), inverse(self._pivot(k))
        factors = {i: times(value, reciprocal) for i, value in column.items()}
        for i, j in combinations_with_replacement(column, 2):
            self._change(i, j, -times(factors[i], column[j]))
        return _Single(k, reciprocal, factors)

    def _pivot(self, k: int) -> casadi.SX:
        """D of a single pivot."""
        import casadi as ca

        if k < self.n:
            return self.K[k, k]
        pivot, row = self.K.get((k, k), ca.SX(0)), k - self.n
        entries = self._entries.get(row, [])
        size = self._sizes[row] = self._size(entries)
        self._relative[row] = divided(-pivot, plus(size, is_zero(size)))
        if self.independent:
            return pivot
        least = self._size([(j, a) for j, a in entries if a.is_constant()] or entries)
        return smaller(pivot, -plus(times(ca.SX(DELTA), least), ca.SX(VANISHING)))

    def _size(self, entries: list[tuple[int, casadi.SX]]) -> casadi.SX:
        """Σⱼ a_ij²/M_jj."""
        import casadi as ca

        total = ca.SX(0)
        for j, a in entries:
            total = plus(total, times(times(a, a), self.inverse_mass[j]))
        return total

    def _pair(self, j: int, row: int, below: tuple[int, ...]) -> _Pair:
        """Eliminate velocity j by a row, and the multiplier of the row by the equation of j."""
        u, w = self._coupled(j, below), self._coupled(row, below)
        reciprocal, m = inverse(self.K[row, j]), self.K[j, j]
        share = {k: times(value, reciprocal) for k, value in w.items()}
        for i, k in combinations_with_replacement(share, 2):
            self._change(i, k, times(times(m, share[i]), share[k]))
        for i, coupling in u.items():
            for k, factor in share.items():
                change = times(coupling, factor)
                self._change(i, k, -2.0 * change if i == k else -change)
        return _Pair(j, row, reciprocal, m, u, share)


class _Single(NamedTuple):
    """Elimination of unknown k by its own equation."""

    k: int
    inverse: casadi.SX
    factors: dict[int, casadi.SX]

    def forward(self, x: list[casadi.SX]) -> None:
        """Take the share of k out of the right sides that are left."""
        for i, factor in self.factors.items():
            x[i] = minus(x[i], times(factor, x[self.k]))

    def back(self, x: list[casadi.SX]) -> None:
        """Put the unknown in the place of its right side, once those after it are there."""
        x[self.k] = _less(times(x[self.k], self.inverse), self.factors, x)


class _Pair(NamedTuple):
    """Elimination of velocity j by a row, and of its multiplier by the equation of j."""

    j: int
    row: int
    inverse: casadi.SX
    mass: casadi.SX
    couplings: dict[int, casadi.SX]
    share: dict[int, casadi.SX]

    def forward(self, x: list[casadi.SX]) -> None:
        """Take the share of both out of the right sides that are left."""
        given = x[self.row] = times(x[self.row], self.inverse)
        rest = minus(x[self.j], times(self.mass, given))
        for i, coupling in self.couplings.items():
            x[i] = minus(x[i], times(coupling, given))
        for k, factor in self.share.items():
            x[k] = minus(x[k], times(factor, rest))

    def back(self, x: list[casadi.SX]) -> None:
        """Put both in the places of their right sides, once those after them are there."""
        force, y = x[self.j], _less(x[self.row], self.share, x)
        x[self.j] = y
        force = minus(force, times(self.mass, y))
        x[self.row] = times(_less(force, self.couplings, x), self.inverse)


def _less(value: casadi.SX, factors: dict[int, casadi.SX], x: list[casadi.SX]) -> casadi.SX:
    """What is left of a value without the shares of unknowns that are known."""
    for i, factor in factors.items():
        value = minus(value, times(factor, x[i]))
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
