"""Block programs: the elimination for forces, which tells how far it is to be trusted."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from zwang.programs.blocks import kernels
from zwang.programs.blocks.algebra import zeros
from zwang.programs.blocks.call_list import OUT, CallList, Place, place
from zwang.programs.blocks.elimination import Sweep
from zwang.programs.blocks.kernels import Ends, remembered
from zwang.programs.blocks.layout import BlockLayout, ElementType, NodeType
from zwang.programs.blocks.least_norm import squares
from zwang.programs.blocks.pattern import Pattern

if TYPE_CHECKING:
    import casadi

__all__ = ["ForceSweep", "no_doubt"]

#: Accelerations that are next to nothing beside those without constraints, by this share, are
#: judged by the latter.
NEXT_TO_NOTHING = 1e-3


class ForceSweep(Sweep):
    """A tape of forces in the making.

    It makes one correction less than that of accelerations, as it tells how large the last one was.
    """

    corrections = 2

    def __init__(
        self, structure: BlockLayout, pattern: Pattern, tape: CallList, purpose: str
    ) -> None:
        super().__init__(structure, pattern, tape, purpose)
        self.with_b = not self.regular
        self._moved = self.work.new(2)  # the sums of `tell_doubt`, of the nodes so far
        if not self.regular:
            self.tape.call(zeros(2), self._moved)

    def pivot(self, e: int) -> Place:
        """The pivots of a constraint, relative to its rows."""
        return self._row("pivot", e)

    def tell_doubt(self, v_dot: Callable[[int], Place], lam: Callable[[int], Place]) -> None:
        """Squares of errors and of what they are errors of, to the beginning of the output.

        Where mass was added, the last correction and λ. Where rows may depend on each other,
        b − A v̇ and its parts. Else nothing can go wrong.
        """
        if self.regular or not self.rows:
            self.tape.call(no_doubt(), place(OUT, 0))
            return
        total = self._moved
        for e, element in enumerate(self.s.constraints):
            target = place(OUT, 0) if e == len(self.rows) - 1 else self.work.new(2)
            if self.again:
                self.tape.call(squares(self.rows[e]), total, self._row("x2", e), lam(e), target)
            else:
                given = [total, self._row("b", e)]
                for n, A in zip(self._moving(e), self._blocks_of(e), strict=True):
                    given += [A, v_dot(n)]
                self.tape.call(_missed(element.type), *given, target)
            total = target

    def _freely(self, n: int, lam: Callable[[int], Place], v_dot: Callable[[int], Place]) -> None:
        """v̇ of a node, and with it what |b − A v̇| is compared with, unless v̇ is corrected."""
        if self.again or self.regular or not self.pattern.sides[n]:
            super()._freely(n, lam, v_dot)
            return
        ends, given = self.pull(n, self.force(n), lam)
        before, self._moved = self._moved, self.work.new(2)
        function, W = _moved_freely(self.s.nodes[n].type, ends), self._node("W", n)
        self.tape.call(function, before, W, *given, v_dot(n), self._moved)


@cache
def no_doubt() -> casadi.Function:
    """() → an error of nothing."""
    import casadi as ca

    return ca.Function("no_doubt", [], [ca.SX([0.0, 1.0])])


@remembered
def _missed(kind: ElementType) -> casadi.Function:
    """(total, b, (A, v̇)…) → total + (|b − A v̇|², |b|²)."""
    import casadi as ca

    total, b = ca.SX.sym("total", 2), ca.SX.sym("b", kind.rows)
    left, given = b, []
    for k in kernels.moving_nodes(kind):
        node = kind.kinds[k]
        assert node is not None
        A, a = ca.SX.sym(f"A{k}", kernels.block_patterns(kind)[k]), ca.SX.sym(f"a{k}", node.nv)
        given += [A, a]
        left = left - ca.mtimes(A, a)
    added = total + ca.vertcat(ca.sumsqr(left), ca.sumsqr(b))
    return ca.Function("missed_squares", [total, b, *given], [added])


@remembered
def _moved_freely(kind: NodeType, ends: Ends) -> casadi.Function:
    """(total, W, f, (A, λ)…) → v̇ = W (f + Σ Aᵀλ), total + (0, |v̇|²), or a share of |W f|²."""
    import casadi as ca

    total, f = ca.SX.sym("total", 2), ca.SX.sym("f", kind.nv)
    W = ca.SX.sym("W", kernels.inverse_pattern(kind))
    pull, inputs = kernels.pull_of(ends, kind.nv)
    a = ca.densify(ca.mtimes(W, f + pull))
    size = ca.sumsqr(a) + NEXT_TO_NOTHING**2 * ca.sumsqr(ca.mtimes(W, f))
    added = ca.vertcat(total[0], total[1] + size)
    return ca.Function("moved_freely", [total, W, f, *inputs], [a, added])
