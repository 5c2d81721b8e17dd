"""Block programs with friction: accelerations where forces depend on reactions.

With C(λ) among the forces, v̇ and λ solve

    M v̇ = f + C(λ) + Aᵀλ,     A v̇ = b.

Newton's method, from λ = 0, on the residuals of these equations: with B = A + (∂C/∂λ)ᵀ,

    u = v̇ + W (f + C + Aᵀλ − M v̇),   A W Bᵀ Δλ = b − A u,   v̇ = u + W BᵀΔλ.

C of a constraint acts on its own nodes and looks at its own λ, so that A W Bᵀ has the blocks of
A W Aᵀ, and is eliminated in the same order. Mass that was added, and the regularisation of rows,
change the way to the solution and not the solution.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from zwang.programs.blocks import algebra, kernels
from zwang.programs.blocks import friction_kernels as of
from zwang.programs.blocks.call_list import P, Place, place
from zwang.programs.blocks.elimination import SUMMANDS, Sweep
from zwang.programs.blocks.layout import BlockFriction
from zwang.programs.blocks.pattern import Side
from zwang.programs.factor import LAW_STEPS

__all__ = ["LawSweep"]


class LawSweep(Sweep):
    """A tape of accelerations with laws of the reaction in the making."""

    @property
    def _laws(self) -> dict[int, BlockFriction]:
        """Constraint → its law."""
        return {law.constraint: law for law in self.s.laws}

    def accelerate(self, v_dot: Callable[[int], Place]) -> Callable[[int], Place]:
        """v̇ of all nodes, and where λ is."""
        self._lawful = self._laws
        for e in range(len(self.rows)):
            self._state(e)
        lam, names = self._zero_rows, ("lam", "lam2")
        # The first step gives the reaction without what depends on it.
        for step in range(1 + LAW_STEPS):
            last = step == LAW_STEPS
            on_nodes = self._apply(lam)
            for n in range(len(self.s.nodes)):
                self._predict(n, on_nodes.get(n, []), lam, first=step == 0)
            self._eliminate()
            change = self.right_side("x")
            self._substitute(change)
            total = self.right_side(names[step % 2])
            for e, r in enumerate(self.rows):
                self.tape.call(algebra.reduce_sum(r, 2), lam(e), change(e), total(e))
            lam = total
            verdict = self._verdict(change, lam) if last else None
            for n, node in enumerate(self.s.nodes):
                ends, given = self._pull(n, None, change, self._response, self._lawful)
                moved = [self._node("u", n), self._node("W", n), *given]
                if verdict is not None:
                    function = of.agreed(node.type, ends)
                    self.tape.call(function, *moved, verdict, v_dot(n))
                elif node.type.shift:
                    function = kernels.kicked(node.type, ends)
                    self.tape.call(function, *moved, self._node("a", n))
        return lam

    def _zero_rows(self, e: int) -> Place:
        """Zeros in place of the multipliers of a constraint."""
        size = self.rows[e]
        at = self._zeros.get(size)
        if at is None:
            at = self._zeros[size] = self.work.new(size)
            self.tape.call(algebra.zeros(size), at)
        return at

    # --- blocks -----------------------------------------------------------------------------------

    def _response(self, side: Side) -> Place:
        """The response of a node to a constraint: A, or B of one with a law."""
        blocks = self._responses if side.constraint in self._lawful else self._blocks_of
        return blocks(side.constraint)[side.block]

    def _responses(self, e: int) -> list[Place]:
        rows, nodes = self.rows[e], self._moving(e)
        sizes = [rows * self.s.nodes[n].type.nv for n in nodes]
        return [self.work.at(("B", e, k), size) for k, size in enumerate(sizes)]

    def _square(self, what: str, e: int) -> Place:
        return self._block(what, e, e)

    def _weights(self, e: int) -> list[Place]:
        return [self._node("W", n) for n in self._moving(e)]

    def _state(self, e: int) -> None:
        """A, b and the sizes of the rows of a constraint."""
        element = self.s.constraints[e]
        given = [*self.arguments(element), *self._weights(e)]
        results = [*self._blocks_of(e), self._row("b", e)]
        results += [] if self.regular else [self._size(e)]
        self.tape.call(of.stated(element.type, sized=not self.regular), *given, *results)

    def _apply(self, lam: Callable[[int], Place]) -> dict[int, list[Place]]:
        """C and B of all laws; where the forces on each node are."""
        found: dict[int, list[Place]] = {}
        for e, law in self._lawful.items():
            given = [*self.arguments(self.s.constraints[e]), place(P, law.numbers[0]), lam(e)]
            nodes = self._moving(e)
            forces = [
                self.work.at(("C", e, k), self.s.nodes[n].type.nv) for k, n in enumerate(nodes)
            ]
            self.tape.call(of.law(law.type), *given, *forces, *self._responses(e))
            for n, force in zip(nodes, forces, strict=True):
                found.setdefault(n, []).append(force)
        return found

    def _predict(
        self, n: int, forces: list[Place], lam: Callable[[int], Place], *, first: bool
    ) -> None:
        """U of a node."""
        node = self.s.nodes[n].type
        self.node(n)
        parts = [self._node("f", n), *(self._effort(k)[i] for k, i in self._on_node[n]), *forces]
        ends, given = self.pull(n, self._sum(n, parts), lam)
        W, u = self._node("W", n), self._node("u", n)
        if not node.shift:
            self.tape.call(kernels.freely(node, ends), W, *given, u)
            return
        a = self.nothing(n) if first else self._node("a", n)
        self.tape.call(kernels.corrected(node, ends), a, self._node("M", n), W, *given, u)

    # --- elimination ------------------------------------------------------------------------------

    def _eliminate(self) -> None:
        """Blocks of A W Bᵀ and right sides, column by column, up to the last."""
        self._S = {}
        self._blocks: dict[tuple[int, int], Place] = {}
        for e, element in enumerate(self.s.constraints):
            self._right_side(e)
            full = e in self._lawful
            given = [*self._blocks_of(e), *self._weights(e), *(self._responses(e) if full else [])]
            given += [] if self.regular else [self._size(e)]
            function = of.diagonal(element.type, full=full, regular=self.regular)
            self.tape.call(function, *given, self._square("D", e))
            self._S[e] = self._square("D", e)
        for (late, early), meetings in self.pattern.meetings.items():
            self._couple(late, early, [(m.node, m.late, m.early) for m in meetings])
            self._couple(early, late, [(m.node, m.early, m.late) for m in meetings])
        for e in self.pattern.order.order:
            r, below = self.rows[e], self.pattern.order.below[e]
            inverse = self._square("inverse", e)
            self.tape.call(of.inverted(r), self._S[e], inverse)
            for i in below:
                c = self._next(i)
                given = [self._blocks[i, e], inverse, self._c[e], self._c[i]]
                self.tape.call(of.behind(self.rows[i], r), *given, self._block("P", i, e), c)
                self._c[i] = c
            for i in below:
                for j in below:
                    self._update(i, j, e)

    def _right_side(self, e: int) -> None:
        """B − A u of a constraint."""
        nodes = self._moving(e)
        at = [self._node("u", n) for n in nodes]
        pairs = [x for pair in zip(self._blocks_of(e), at, strict=True) for x in pair]
        function = kernels.missed(self.s.constraints[e].type)
        self.tape.call(function, self._row("b", e), *pairs, self._row("c", e))
        self._c[e] = self._row("c", e)

    def _couple(self, i: int, j: int, meetings: list[tuple[int, Side, Side]]) -> None:
        """The block A_i W B_jᵀ, through all nodes at which two constraints meet."""
        kinds = self.s.constraints[i].type, self.s.constraints[j].type
        names, before = ["S", "S2"], []
        for k, (n, own, other) in enumerate(meetings):
            target = self._block(names[k % 2], i, j)
            function = of.coupled(
                *(kinds[0], own.place, kinds[1], other.place),
                full=j in self._lawful,
                more=bool(before),
            )
            given = [self._A(own), self._node("W", n), self._response(other), *before]
            self.tape.call(function, *given, target)
            before = [target]
        self._blocks[i, j] = before[0]

    def _update(self, row: int, column: int, e: int) -> None:
        """What eliminating e changes in a block."""
        given = [self._block("P", row, e), self._blocks[e, column]]
        if row == column:
            one, two = self._square("D", row), self._square("D2", row)
            before = [self._S[row]]
        else:
            one, two = self._block("S", row, column), self._block("S2", row, column)
            before = [self._blocks[row, column]] if (row, column) in self._blocks else []
        target = self._other(before[0], one, two) if before else one
        sizes = self.rows[row], self.rows[column], self.rows[e]
        self.tape.call(of.eliminated(*sizes, first=not before), *given, *before, target)
        if row == column:
            self._S[row] = target
        else:
            self._blocks[row, column] = target

    def _substitute(self, x: Callable[[int], Place]) -> None:
        """Δλ, from the last column back."""
        for e in reversed(self.pattern.order.order):
            at, terms = self._c[e], list(self.pattern.order.below[e])
            while True:
                now, terms = terms[:SUMMANDS], terms[SUMMANDS:]
                parts = [y for i in now for y in (self._blocks[e, i], x(i))]
                widths = tuple(self.rows[i] for i in now)
                function = of.substituted(self.rows[e], widths, last=not terms)
                if not terms:
                    self.tape.call(function, at, *parts, self._square("inverse", e), x(e))
                    break
                target = self._other(at, self._row("part", e), self._row("part2", e))
                self.tape.call(function, at, *parts, target)
                at = target

    def _verdict(self, change: Callable[[int], Place], lam: Callable[[int], Place]) -> Place:
        """|Δλ| of constraints with laws, and |λ| of all, added up."""
        places = [self.work.at(("tally", k), 2) for k in range(len(self.rows) + 1)]
        self.tape.call(algebra.zeros(2), places[0])
        for e, (before, after) in enumerate(pairwise(places)):
            function = of.tally(self.rows[e], lawful=e in self._lawful)
            self.tape.call(function, before, change(e), lam(e), after)
        return places[-1]
