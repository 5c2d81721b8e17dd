"""Block programs: multipliers of least norm, and what dependencies leave open.

With rows that may depend on each other, λ + z gives the same forces for every z in N(Aᵀ). The part
of a vector y in N(Aᵀ) is what is left of it after

    y ← δ (A Aᵀ + δ)⁻¹ y

a few times: what belongs to a singular value σ of A shrinks by δ/(σ² + δ) each time. A Aᵀ is the
matrix S = A M⁻¹ Aᵀ of a system whose masses are all one, and is eliminated like it. Rounding leaves
an error of ε/δ of that part, so that it is taken away several times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from zwang.programs.blocks import kernels
from zwang.programs.blocks.algebra import missing, reduce_sum, zeros
from zwang.programs.blocks.call_list import CallList, Place
from zwang.programs.blocks.elimination import Sweep
from zwang.programs.blocks.layout import BlockElement, BlockLayout, ElementType, NodeType
from zwang.programs.blocks.pattern import Pattern

if TYPE_CHECKING:
    import casadi

__all__ = ["DependencySweep", "squares", "with_unit_masses"]

#: δ, in units of that of `zwang.programs.factor`, is 1e-10 for all rows: it must be beyond rounding
#: of A Aᵀ, whose entries are squares of lengths.
SIZE = 100.0
#: Repetitions: what belongs to σ² = 1e-7 has shrunk by 1e-12 after four.
REPETITIONS = 4
#: How often the part in N(Aᵀ) is taken away: rounding leaves 1e-4 of it each time.
TURNS = 3
#: What is taken away in the last turn is in doubt by this share: where each turn leaves ρ of what
#: the one before it left, three leave ρ³ of λ, 1e-9 where the last takes ρ² = 1e-6. Arms of more
#: than some ten meters leave more, as A Aᵀ has their squares.
LAST_IN_DOUBT = 1e-4


def with_unit_masses(s: BlockLayout) -> BlockLayout:
    """The same constraints between nodes without forces, whose masses are all one."""
    nodes: dict[int, NodeType] = {}
    elements: dict[int, ElementType] = {}

    def node_type(kind: NodeType) -> NodeType:
        if id(kind) not in nodes:
            nodes[id(kind)] = _unit_mass(kind)
        return nodes[id(kind)]

    def element(e: BlockElement) -> BlockElement:
        kind = e.type
        if id(kind) not in elements:
            kinds = tuple(None if k is None else node_type(k) for k in kind.kinds)
            elements[id(kind)] = ElementType(kind.terms, kind.rows, kind.position, kinds, kind.same)
        return replace(e, type=elements[id(kind)])

    return replace(
        s,
        nodes=[replace(node, type=node_type(node.type)) for node in s.nodes],
        constraints=[element(e) for e in s.constraints],
        forces=[],
        independent=False,
        distinct=False,
        laws=(),
    )


def _unit_mass(kind: NodeType) -> NodeType:
    import casadi as ca

    inputs = [ca.SX.sym(f"i{k}", kind.terms.sparsity_in(k)) for k in range(4)]
    config, N, _, _ = kind.terms.call(inputs)
    terms = [config, N, ca.SX.eye(kind.nv), ca.SX.zeros(kind.nv, 1)]
    return NodeType(
        kind.nq, kind.nv, kind.config, ca.Function("unit_mass", inputs, terms), kind.unit
    )


class DependencySweep(Sweep):
    """A tape that takes the part in N(Aᵀ) of multipliers, in the making.

    Parameters
    ----------
    structure : of `with_unit_masses`.
    """

    def __init__(self, structure: BlockLayout, pattern: Pattern, tape: CallList) -> None:
        super().__init__(structure, pattern, tape, "settle")
        self.factor()

    def constraint(self, e: int) -> None:
        """A and S of a constraint; every row counts alike, whatever its length."""
        new = e not in self._constraints
        super().constraint(e)
        if new:
            self.tape.call(_sizes(self.rows[e]), self._size(e))

    def dependent_part(
        self, y: Callable[[int], Place], repetitions: int = REPETITIONS
    ) -> Callable[[int], Place]:
        """The part of y in N(Aᵀ), and where it is."""
        c, x = self.right_side("c"), self.right_side("x")
        for _ in range(repetitions):
            self.forward(y)
            self.back(x)
            for e, r in enumerate(self.rows):
                self.tape.call(missing(r), x(e), self._size(e), c(e))
            y = c
        return y

    def least(self, lam: Callable[[int], Place], doubt: Place) -> Callable[[int], Place]:
        """The multipliers of least norm with the force of λ, and where they are.

        The squares of the force of what was taken away, and of λ, go to `doubt`: next to a singular
        position something has a little force that is no dependency any more. So does a share of
        what the last turn took away, which is more where rounding leaves much.
        """
        given = part = lam
        for turn in range(TURNS):
            part = self.dependent_part(lam)
            better = self.right_side("even" if turn % 2 else "odd")
            for e, r in enumerate(self.rows):
                self.tape.call(_difference(r), lam(e), part(e), better(e))
            lam = better
        taken = self.right_side("taken")
        total = self._nothing_of(2)
        for e, r in enumerate(self.rows):
            self.tape.call(_difference(r), given(e), lam(e), taken(e))
            last = self.work.new(r)
            self.tape.call(_in_doubt(r), part(e), last)
            total = self._added(total, r, last, lam(e))
        for n, node in enumerate(self.s.nodes):
            pull = self._node("force", n)
            ends, places = self.pull(n, None, taken)
            self.tape.call(kernels.pulled(node.type, ends), *places, pull)
            total = self._added(total, node.type.nv, pull, self.nothing(n))
        self.tape.call(reduce_sum(2, 1), total, doubt)
        return lam

    def _nothing_of(self, size: int) -> Place:
        at = self._zeros.get(size)
        if at is None:
            at = self._zeros[size] = self.work.new(size)
            self.tape.call(zeros(size), at)
        return at

    def _added(self, total: Place, size: int, error: Place, whole: Place) -> Place:
        target = self.work.new(2)
        self.tape.call(squares(size), total, error, whole, target)
        return target


@cache
def squares(size: int) -> casadi.Function:
    """(total, error, whole) → total + (|error|², |whole|²)."""
    import casadi as ca

    total, error, whole = ca.SX.sym("total", 2), ca.SX.sym("d", size), ca.SX.sym("x", size)
    added = total + ca.vertcat(ca.sumsqr(error), ca.sumsqr(whole))
    return ca.Function("squares", [total, error, whole], [added])


@cache
def _sizes(size: int) -> casadi.Function:
    import casadi as ca

    return ca.Function("sizes", [], [SIZE * ca.SX.ones(size, 1)])


@cache
def _in_doubt(size: int) -> casadi.Function:
    import casadi as ca

    part = ca.SX.sym("part", size)
    return ca.Function("in_doubt", [part], [LAST_IN_DOUBT * part])


@cache
def _difference(size: int) -> casadi.Function:
    import casadi as ca

    a, b = ca.SX.sym("a", size), ca.SX.sym("b", size)
    return ca.Function("difference", [a, b], [a - b])
