"""Block programs: forces where none of the rows, or one, depends on the others.

The pivots of S = A M⁻¹ Aᵀ, relative to the rows, tell how many rows depend on others. Where none
does, one elimination gives the only multipliers there are. Where one does, N(Aᵀ) is a line. Its
direction z is what is left of any vector after

    y ← δR (S + δR)⁻¹ y

twice, good to rounding divided by σ² though its length is not, and λ − z (z·λ)/(z·z) is of least
norm. Neither needs A Aᵀ, see `least_norm`, which is for any number of dependencies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from zwang.programs.blocks.algebra import missing, zeros
from zwang.programs.blocks.call_list import CallList, Place
from zwang.programs.blocks.force_sweep import ForceSweep
from zwang.programs.blocks.layout import BlockLayout
from zwang.programs.blocks.pattern import Pattern

if TYPE_CHECKING:
    import casadi

__all__ = ["KNOWN_RANKS", "KnownRankSweep", "mark_of", "tell_rank"]

#: Numbers of dependent rows for which there is a kernel of its own.
KNOWN_RANKS = (0, 1)
#: Pivots, relative to their rows, above which rows are independent: rounding costs ε/1e-6 then.
INDEPENDENT = 1e-6
#: Pivots up to which a row depends on others. What is between is left to `least_norm`.
DEPENDENT = 1e-9
#: By how much z may change when it is reduced again. Rounding leaves ε/δ = 1e-4 or so, and what is
#: no dependency all of it.
CHANGED = 0.1
#: Constraints whose pivots are looked at in one call.
TOGETHER = 8


class KnownRankSweep(ForceSweep):
    """A tape of forces where so many rows depend on others.

    Parameters
    ----------
    dependent : of `KNOWN_RANKS`.
    """

    def __init__(
        self, structure: BlockLayout, pattern: Pattern, tape: CallList, dependent: int
    ) -> None:
        super().__init__(replace(structure, distinct=not dependent), pattern, tape, "accelerate")
        self.dependent = dependent

    def least(
        self, lam: Callable[[int], Place], start: Callable[[int], Place], other: Place
    ) -> Callable[[int], Place]:
        """The multipliers of least norm, and where they are; `other` as of `tell_rank`.

        Parameters
        ----------
        start : a random vector.
        """
        if not self.dependent:
            tell_rank(self, other, self.dependent)
            return lam
        rank, products = self.work.new(1), self._products(lam, *self._dependency(start))
        tell_rank(self, rank, self.dependent)
        self.tape.call(_found(), rank, products, other)
        least, z = self.right_side("least"), self.right_side("z")
        for e, r in enumerate(self.rows):
            self.tape.call(_without(r), lam(e), z(e), products, least(e))
        return least

    def _dependency(
        self, start: Callable[[int], Place]
    ) -> tuple[Callable[[int], Place], Callable[[int], Place]]:
        """z of N(Aᵀ) by one reduction, and by two."""
        once, c, z = (self.right_side(name) for name in ("z1", "c", "z"))
        self.forward(start)
        self.back(once)
        for e, r in enumerate(self.rows):
            self.tape.call(missing(r), once(e), self._size(e), c(e))
        self.forward(c)
        self.back(z)
        return once, z

    def _products(
        self,
        lam: Callable[[int], Place],
        once: Callable[[int], Place],
        z: Callable[[int], Place],
    ) -> Place:
        """z·λ, z·z and |z − z₁|²."""
        total = self.work.new(3)
        self.tape.call(zeros(3), total)
        for e, r in enumerate(self.rows):
            target = self.work.new(3)
            self.tape.call(_added_products(r), total, lam(e), once(e), z(e), target)
            total = target
        return total


def mark_of(dependent: int | None) -> int:
    """What a kernel says of states that are those of the kernel for so many dependent rows."""
    return 1 + (len(KNOWN_RANKS) if dependent is None else KNOWN_RANKS.index(dependent))


def tell_rank(sweep: ForceSweep, other: Place, dependent: int | None) -> None:
    """The mark of the kernel that a state is that of, to a place; 0 where it is this one.

    With None for all numbers of dependent rows but those of `KNOWN_RANKS`.
    """
    total = sweep.work.new(2)
    sweep.tape.call(zeros(2), total)
    for first in range(0, len(sweep.rows), TOGETHER):
        sizes, target = tuple(sweep.rows[first : first + TOGETHER]), sweep.work.new(2)
        pivots = [sweep.pivot(first + k) for k in range(len(sizes))]
        sweep.tape.call(_small_pivots(sizes), total, *pivots, target)
        total = target
    sweep.tape.call(_other_rank(dependent), total, other)


@cache
def _small_pivots(sizes: tuple[int, ...]) -> casadi.Function:
    """(total, pivots…) → total + (how many are not of independent rows, of dependent ones)."""
    import casadi as ca

    total, given = ca.SX.sym("total", 2), [ca.SX.sym(f"pivots{k}", r) for k, r in enumerate(sizes)]
    pivots = ca.vertcat(*given)
    # What is no number is neither: it is counted among the first.
    small = sum(sizes) - ca.sum1(pivots >= INDEPENDENT)
    gone = ca.sum1(pivots <= DEPENDENT)
    return ca.Function("small_pivots", [total, *given], [total + ca.vertcat(small, gone)])


@cache
def _other_rank(dependent: int | None) -> casadi.Function:
    import casadi as ca

    total = ca.SX.sym("total", 2)
    small, gone = total[0], total[1]
    mark = ca.SX(mark_of(None))
    for rank in KNOWN_RANKS:
        here = ca.logic_and(small == gone, small == rank)
        mark = mark + here * (mark_of(rank) - mark_of(None))
    other = mark * (mark != mark_of(dependent))
    return ca.Function("other_rank", [total], [ca.densify(other)])


@cache
def _added_products(size: int) -> casadi.Function:
    """(total, λ, z₁, z) → total + (z·λ, z·z, |z − z₁|²)."""
    import casadi as ca

    total = ca.SX.sym("total", 3)
    lam, once, z = (ca.SX.sym(name, size) for name in ("lam", "once", "z"))
    products = ca.vertcat(ca.dot(z, lam), ca.sumsqr(z), ca.sumsqr(z - once))
    return ca.Function("products", [total, lam, once, z], [total + products])


@cache
def _found() -> casadi.Function:
    """(other, products) → other, and −1 in place of 0 where z is no dependency."""
    import casadi as ca

    other, products = ca.SX.sym("other"), ca.SX.sym("products", 3)
    same = products[2] <= CHANGED**2 * products[1]
    return ca.Function("found", [other, products], [other - (1.0 - same) * (other == 0.0)])


@cache
def _without(size: int) -> casadi.Function:
    """(λ, z, products) → λ − z (z·λ)/(z·z)."""
    import casadi as ca

    lam, z, products = ca.SX.sym("lam", size), ca.SX.sym("z", size), ca.SX.sym("products", 3)
    return ca.Function("without", [lam, z, products], [lam - z * (products[0] / products[1])])
