"""Block programs: the elimination for forces, which tells how far it is to be trusted."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from zwang.programs.blocks import kernels
from zwang.programs.blocks.algebra import zeros
from zwang.programs.blocks.call_list import OUT, CallList, Place, place
from zwang.programs.blocks.elimination import Sweep
from zwang.programs.blocks.kernels import remembered
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
        total = self.work.new(2)
        self.tape.call(zeros(2), total)
        if not self.again:
            total = self._moved(total, v_dot)
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

    def _moved(self, total: Place, v_dot: Callable[[int], Place]) -> Place:
        """What |b − A v̇| is compared with, of all nodes that constraints act on."""
        for n, node in enumerate(self.s.nodes):
            if self.pattern.sides[n]:
                target = self.work.new(2)
                given = v_dot(n), self._node("W", n), self.force(n)
                self.tape.call(_moving(node.type), total, *given, target)
                total = target
        return total


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
def _moving(kind: NodeType) -> casadi.Function:
    """(total, v̇, W, f) → total + (0, |v̇|²), or a share of what v̇ is without constraints."""
    import casadi as ca

    total, a, f = ca.SX.sym("total", 2), ca.SX.sym("a", kind.nv), ca.SX.sym("f", kind.nv)
    W = ca.SX.sym("W", kernels.inverse_pattern(kind))
    size = ca.sumsqr(a) + NEXT_TO_NOTHING**2 * ca.sumsqr(ca.mtimes(W, f))
    added = ca.vertcat(total[0], total[1] + size)
    return ca.Function("moving", [total, a, W, f], [added])
