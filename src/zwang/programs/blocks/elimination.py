"""Block programs: the elimination of a large system written as a call list.

Everything is written when it is first needed, so that what belongs together is computed together:
along a chain of bodies a sweep forwards evaluates bodies and joints and eliminates column after
column, and a sweep backwards finds multipliers and accelerations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from zwang.programs.blocks import algebra, kernels
from zwang.programs.blocks.call_list import CallList, P, Place, Q, T, V, place
from zwang.programs.blocks.layout import BlockElement, BlockLayout, ElementType
from zwang.programs.blocks.pattern import Meeting, Pattern, Side

if TYPE_CHECKING:
    import casadi

__all__ = ["Sweep"]

#: So many terms are added in one call.
SUMMANDS = 4
#: Corrections where mass was added to what has none. The first answer is off by the share of it in
#: the masses that move along, about 1e-6, and so is each correction.
CORRECTIONS = 3


class Sweep:
    """One tape in the making.

    Attributes
    ----------
    corrections : how many there are where mass was added.
    with_b : whether b is kept beside the right side that is made of it.

    Parameters
    ----------
    purpose : what constraints are evaluated for, see `kernels.constraint`.
    q_dot : where the rates of the coordinates of each node go; work, if not given.
    pivots : space of the outputs to which relative pivots go and then sizes of rows, or None.
    """

    corrections = CORRECTIONS

    def __init__(
        self,
        structure: BlockLayout,
        pattern: Pattern,
        tape: CallList,
        purpose: str,
        *,
        q_dot: Callable[[int], Place] | None = None,
        pivots: int | None = None,
    ) -> None:
        self.s, self.pattern, self.work, self.tape = structure, pattern, tape.work, tape
        self.purpose, self.pivots = purpose, pivots
        self.rows = [e.type.rows for e in structure.constraints]
        self._row_count = sum(self.rows)
        self.regular = structure.independent and not structure.singular
        self.kept = structure.distinct and not (self.regular or structure.singular)
        self.sized = not self.regular or pivots is not None
        self.again = structure.singular and purpose == "accelerate"
        self.with_b = self.again
        self.once = self.regular and purpose == "accelerate"
        self.time = place(T, 0)
        self._q_starts, self._v_starts = structure.q_starts, structure.v_starts
        self._q_dot = q_dot or (lambda n: self._node("q_dot", n))
        self._nodes: set[int] = set()
        self._constraints: set[int] = set()
        self._applied: set[int] = set()
        self._on_node: list[list[tuple[int, int]]] = [[] for _ in structure.nodes]
        for k, element in enumerate(structure.forces):
            for i, n in enumerate(n for n in element.nodes if n >= 0):
                self._on_node[n].append((k, i))
        # Where things are: of nodes, of constraints and of pairs of them by name and number.
        self._of_nodes: defaultdict[str, dict[int, Place]] = defaultdict(dict)
        self._of_rows: defaultdict[str, dict[int, Place]] = defaultdict(dict)
        self._of_blocks: defaultdict[str, dict[int, Place]] = defaultdict(dict)
        self._matrices: dict[int, list[Place]] = {}
        self._force: dict[int, Place] = {}
        self._zeros: dict[int, Place] = {}
        self._scaled: set[int] = set()  # constraints whose y is divided by D already
        # Where the present state of blocks and right sides is: updates go back and forth.
        self._S: dict[int, Place] = {}
        self._c: dict[int, Place] = {}
        self._B: dict[tuple[int, int], Place] = {}

    # --- places -----------------------------------------------------------------------------------

    def q(self, n: int) -> Place:
        """Coordinates of a node."""
        return place(Q, self._q_starts[n])

    def v(self, n: int) -> Place:
        """Velocities of a node."""
        return place(V, self._v_starts[n])

    def _node(self, what: str, n: int) -> Place:
        places = self._of_nodes[what]
        at = places.get(n)
        if at is None:
            kind = self.s.nodes[n].type
            at = places[n] = self.work.new(kernels.node_sizes(kind).get(what, kind.nv))
        return at

    def _row(self, what: str, e: int) -> Place:
        places = self._of_rows[what]
        at = places.get(e)
        if at is None:
            r = self.rows[e]
            sizes = {"S": r * (r + 1) // 2, "S2": r * (r + 1) // 2, "low": r * (r - 1) // 2}
            at = places[e] = self.work.new(sizes.get(what, r))
        return at

    def _size(self, e: int) -> Place:
        """The size of each row of a constraint."""
        if self.pivots is None:
            return self._row("size", e)
        return place(self.pivots, self._row_count + self.s.constraints[e].row)

    def _block(self, what: str, row: int, column: int) -> Place:
        places, key = self._of_blocks[what], row * len(self.rows) + column
        at = places.get(key)
        if at is None:
            at = places[key] = self.work.new(self.rows[row] * self.rows[column])
        return at

    def _A(self, side: Side) -> Place:
        return self._blocks_of(side.constraint)[side.block]

    def _blocks_of(self, e: int) -> list[Place]:
        """A of one constraint on each of its nodes that is no ground."""
        found = self._matrices.get(e)
        if found is None:
            element = self.s.constraints[e]
            sizes = zip(kernels.block_sizes(element.type), element.nodes, strict=True)
            found = self._matrices[e] = [self.work.new(size) for size, n in sizes if n >= 0]
        return found

    def _moving(self, e: int) -> list[int]:
        return [n for n in self.s.constraints[e].nodes if n >= 0]

    def _other(self, at: Place, one: Place, two: Place) -> Place:
        """The place of two at which something is not."""
        return two if at == one else one

    # --- nodes, forces and constraints ------------------------------------------------------------

    def node(self, n: int) -> None:
        """Configuration, inverse mass, and for accelerations rates and force, of a node."""
        if n in self._nodes:
            return
        self._nodes.add(n)
        node = self.s.nodes[n]
        numbers, shared = place(P, node.data[0]), place(P, self.s.node_shared[0])
        given = [self.q(n), self.v(n), numbers, shared]
        config = self._node("config", n)
        if self.purpose == "check":
            self.tape.call(kernels.placed_config(node.type), self.q(n), config)
            return
        if self.purpose == "place":
            found = [self._node("unit_q", n), config, self._node("W", n)]
            self.tape.call(kernels.placed_node(node.type), *given, *found)
            return
        found = [config, self._q_dot(n), self._node("f", n), self._node("W", n)]
        found += [self._node("M", n)] if node.type.shift else []
        self.tape.call(kernels.node(node.type), *given, *found)

    def rates(self, q_dot: Callable[[int], Place]) -> None:
        """Rates of the coordinates of all nodes."""
        for n, node in enumerate(self.s.nodes):
            self.tape.call(kernels.node_rate(node.type), self.q(n), self.v(n), q_dot(n))

    def arguments(self, element: BlockElement) -> list[Place]:
        """What an element's function takes, with any place for the ground."""
        places = [n for n in element.nodes if n >= 0]
        for n in places:
            self.node(n)
        nothing = self.time
        return [
            *(self._node("config", n) if n >= 0 else nothing for n in element.nodes),
            *(self.v(n) if n >= 0 else nothing for n in element.nodes),
            self.time,
            place(P, element.numbers[0]),
            place(P, self.s.shared[0]),
        ]

    def force(self, n: int) -> Place:
        """Force on a node, of its own and of all elements."""
        if n not in self._force:
            self.node(n)
            parts = [self._node("f", n)]
            parts += [self._effort(k)[i] for k, i in self._on_node[n]]
            self._force[n] = self._sum(n, parts)
        return self._force[n]

    def _effort(self, k: int) -> list[Place]:
        """What a force element exerts on each of its nodes."""
        element = self.s.forces[k]
        moving = [n for n in element.nodes if n >= 0]
        places = [
            self.work.at(("applied", k, i), self.s.nodes[n].type.nv) for i, n in enumerate(moving)
        ]
        if k not in self._applied:
            self._applied.add(k)
            self.tape.call(kernels.force(element.type), *self.arguments(element), *places)
        return places

    def _sum(self, n: int, parts: list[Place]) -> Place:
        """Sum of vectors of a node, a few at a time."""
        size = self.s.nodes[n].type.nv
        one, two = (self.work.at((name, n), size) for name in ("sum", "sum2"))
        while len(parts) > 1:
            now, parts = parts[:SUMMANDS], parts[SUMMANDS:]
            target = self._other(now[0], one, two)
            self.tape.call(algebra.reduce_sum(size, len(now)), *now, target)
            parts = [target, *parts]
        return parts[0]

    def constraint(self, e: int) -> None:
        """A, S and the right side of a constraint."""
        if e in self._constraints:
            return
        self._constraints.add(e)
        element = self.s.constraints[e]
        given = self.arguments(element)
        for n in self._moving(e):
            given.append(self._node("W", n))
            if self.purpose == "accelerate":
                given.append(self.force(n))
            elif self.purpose == "settle" and self.s.nodes[n].type.shift:
                given += [self.v(n), self._node("M", n)]
        results = [*self._blocks_of(e), self._row("S", e), self._row("c", e)]
        results += [self._size(e)] if self.sized else []
        results += [self._row("b", e)] if self.with_b else []
        function = kernels.constraint(
            element.type, self.purpose, sized=self.sized, with_b=self.with_b
        )
        self.tape.call(function, *given, *results)
        self._S[e], self._c[e] = self._row("S", e), self._row("c", e)

    # --- factor and solve -------------------------------------------------------------------------

    def factor(self) -> None:
        """S = L D Lᵀ, column by column, and y = L⁻¹ c for the first right side."""
        for e in self.pattern.order.order:
            self.constraint(e)
            below = self.pattern.order.below[e]
            for row in below:
                self.constraint(row)
            size = [self._size(e)] if self.sized else []
            given = [self._S[e], self._c[e], *size]
            meetings = [self.pattern.meetings.get((row, e), []) for row in below]
            single = len(below) == 1 and len(meetings[0]) == 1 and (below[0], e) not in self._B
            once = self.once and (single or not below)
            if once:
                self._scaled.add(e)
            found = [self._row("low", e), *([] if once else [self._row("d", e)]), self._row("y", e)]
            if self.sized:
                row = self.s.constraints[e].row
                pivot = self._row("pivot", e) if self.pivots is None else place(self.pivots, row)
                found.append(pivot)
            if single:
                self._single(e, below[0], meetings[0][0], given, found)
                continue
            function = algebra.factor(
                self.rows[e], regular=self.regular, kept=self.kept, sized=self.sized, once=once
            )
            self.tape.call(function, *given, *found)
            for row, at in zip(below, meetings, strict=True):
                self._panel(row, e, at)
            for k, row in enumerate(below):
                for column in below[: k + 1]:
                    self._update(row, column, e)

    def _updated(self, row: int) -> tuple[Place, Place]:
        """Where S and c of a constraint go next."""
        S = self._other(self._S[row], self._row("S", row), self._row("S2", row))
        return S, self._next(row)

    def _next(self, row: int) -> Place:
        return self._other(self._c[row], self._row("c", row), self._row("c2", row))

    def _types(self, m: Meeting) -> tuple[ElementType, int, ElementType, int]:
        s = self.s.constraints
        return s[m.early.constraint].type, m.early.place, s[m.late.constraint].type, m.late.place

    def _single(self, e: int, row: int, m: Meeting, given: list[Place], found: list[Place]) -> None:
        """A column with one block below, in one call."""
        S, c = self._updated(row)
        function = kernels.column(
            *self._types(m), regular=self.regular, kept=self.kept, sized=self.sized, once=self.once
        )
        self.tape.call(
            function,
            *given,
            self._A(m.early),
            self._node("W", m.node),
            self._A(m.late),
            self._S[row],
            self._c[row],
            *found,
            self._block("P", row, e),
            S,
            c,
        )
        self._S[row], self._c[row] = S, c

    def _panel(self, row: int, e: int, meetings: list[Meeting]) -> None:
        """One block below a diagonal: its coupling, through L and D."""
        at = self._B.get((row, e))
        for m in meetings:
            more = [] if at is None else [at]
            target = self._block("B", row, e)
            target = target if at is None else self._other(at, target, self._block("B2", row, e))
            function = kernels.pair(*self._types(m), more=at is not None)
            self.tape.call(
                function, self._A(m.early), self._node("W", m.node), self._A(m.late), *more, target
            )
            at = target
        assert at is not None
        c = self._next(row)
        self.tape.call(
            algebra.panel(self.rows[row], self.rows[e]),
            at,
            self._row("low", e),
            self._row("d", e),
            self._row("y", e),
            self._c[row],
            self._block("X", row, e),
            self._block("P", row, e),
            c,
        )
        self._c[row] = c

    def _update(self, row: int, column: int, e: int) -> None:
        """What eliminating e changes in a block."""
        F, X = self._block("P", row, e), self._block("X", column, e)
        if row == column:
            S, _ = self._updated(row)
            function = algebra.update_diagonal(self.rows[row], self.rows[e])
            self.tape.call(function, self._S[row], F, X, S)
            self._S[row] = S
            return
        at = self._B.get((row, column))
        sizes = self.rows[row], self.rows[column], self.rows[e]
        one, two = (self._block(name, row, column) for name in ("B", "B2"))
        target = one if at is None else self._other(at, one, two)
        more = [] if at is None else [at]
        self.tape.call(algebra.update(*sizes, first=at is None), *more, F, X, target)
        self._B[row, column] = target

    def right_side(self, what: str) -> Callable[[int], Place]:
        """Places for right sides or multipliers by a name."""
        return lambda e: self._row(what, e)

    def of_nodes(self, what: str) -> Callable[[int], Place]:
        """Places for something of the nodes by a name."""
        return lambda n: self._node(what, n)

    def forward(self, c: Callable[[int], Place]) -> None:
        """y = L⁻¹ c for a further right side."""
        for e in self.pattern.order.order:
            at, terms = c(e), list(self.pattern.reach[e])
            while True:
                now, terms = terms[:SUMMANDS], terms[SUMMANDS:]
                parts = [x for j in now for x in (self._block("P", e, j), self._row("y", j))]
                widths = tuple(self.rows[j] for j in now)
                function = algebra.forward(self.rows[e], widths, last=not terms)
                if not terms:
                    self.tape.call(function, at, *parts, self._row("low", e), self._row("y", e))
                    break
                target = self._other(at, self._row("part", e), self._row("part2", e))
                self.tape.call(function, at, *parts, target)
                at = target

    def back(self, x: Callable[[int], Place], then: Callable[[int], None] | None = None) -> None:
        """x = L⁻ᵀ D⁻¹ y; `then` is told of each constraint whose multipliers are known."""
        for e in reversed(self.pattern.order.order):
            at, terms = self._row("y", e), list(self.pattern.order.below[e])
            first = e not in self._scaled
            while True:
                now, terms = terms[:SUMMANDS], terms[SUMMANDS:]
                parts = [at_i for i in now for at_i in (self._block("P", i, e), x(i))]
                widths = tuple(self.rows[i] for i in now)
                scale = [self._row("d", e)] if first else []
                function = algebra.back(self.rows[e], widths, first=first, last=not terms)
                if not terms:
                    self.tape.call(function, at, *scale, *parts, self._row("low", e), x(e))
                    break
                target = self._other(at, self._row("part", e), self._row("part2", e))
                self.tape.call(function, at, *scale, *parts, target)
                at, first = target, False
            if then is not None:
                then(e)

    def multipliers(self, then: Callable[[int], None] | None = None) -> Callable[[int], Place]:
        """λ of S λ = c after `factor` or `forward`, and where it is.

        Where rows may depend on each other the first answer solves (S + δR) λ₁ = c, so that
        c − S λ₁ = δR λ₁ is what it misses, and it is corrected once.
        """
        x = self.right_side("x")
        if self.regular or self.kept:
            self.back(x, then)
            return x
        self.back(x)
        for e, r in enumerate(self.rows):
            self.tape.call(algebra.missing(r), x(e), self._size(e), self._row("c", e))
        self.forward(self.right_side("c"))
        more, lam = self.right_side("x2"), self.right_side("lam")

        def add(e: int) -> None:
            self.tape.call(algebra.reduce_sum(self.rows[e], 2), x(e), more(e), lam(e))
            if then is not None:
                then(e)

        self.back(more, add)
        return lam

    # --- motion of nodes --------------------------------------------------------------------------

    def pull(
        self, n: int, f: Place | None, lam: Callable[[int], Place]
    ) -> tuple[kernels.Ends, list[Place]]:
        """(f, (A, λ)…) of a node, few enough for one call, and what its ends are."""
        return self._pull(n, f, lam, self._A, frozenset())

    def ends(
        self, sides: list[Side], lam: Callable[[int], Place]
    ) -> tuple[kernels.Ends, list[Place]]:
        """(A, λ)… of some ends of constraints at a node, and what these are."""
        types = [self.s.constraints[side.constraint].type for side in sides]
        given = [x for side in sides for x in (self._A(side), lam(side.constraint))]
        kinds = zip(types, sides, strict=True)
        return tuple((kind, side.place, False) for kind, side in kinds), given

    def _pull(
        self,
        n: int,
        f: Place | None,
        lam: Callable[[int], Place],
        block: Callable[[Side], Place],
        full: Collection[int],
    ) -> tuple[kernels.Ends, list[Place]]:
        """The same with other blocks than A; those of the constraints in `full` have no pattern."""
        kind, sides = self.s.nodes[n].type, self.pattern.sides[n]
        at = self.nothing(n) if f is None else f
        while True:
            now, sides = sides[:SUMMANDS], sides[SUMMANDS:]
            ends = tuple(
                (self.s.constraints[side.constraint].type, side.place, side.constraint in full)
                for side in now
            )
            given = [at, *(x for side in now for x in (block(side), lam(side.constraint)))]
            if not sides:
                return ends, given
            one, two = (self.work.at((name, n), kind.nv) for name in ("pull", "pull2"))
            target = self._other(at, one, two)
            self.tape.call(kernels.pulled(kind, ends), *given, target)
            at = target

    def nothing(self, n: int) -> Place:
        """Zeros for a node."""
        size = self.s.nodes[n].type.nv
        at = self._zeros.get(size)
        if at is None:
            at = self._zeros[size] = self.work.new(size)
            self.tape.call(algebra.zeros(size), at)
        return at

    def complete(self, act: Callable[[int], None]) -> Callable[[int], None]:
        """What to do when multipliers become known: act on nodes all of whose ends are known."""
        waiting = [len({side.constraint for side in sides}) for sides in self.pattern.sides]

        def then(e: int) -> None:
            for n in dict.fromkeys(self._moving(e)):
                waiting[n] -= 1
                if not waiting[n]:
                    act(n)

        return then

    def unheld(self) -> list[int]:
        """Nodes that no constraint acts on."""
        return [n for n, sides in enumerate(self.pattern.sides) if not sides]

    def accelerate(self, v_dot: Callable[[int], Place]) -> Callable[[int], Place]:
        """v̇ of all nodes, and where λ is."""

        def free(n: int) -> None:
            self._freely(n, x, v_dot)

        once = self.regular or self.kept or self.again
        x = self.right_side("x" if once else "lam")
        self.factor()
        for n in self.unheld():
            self.force(n)
            free(n)
        if not self.again:
            return self.multipliers(self.complete(free))
        self.back(x, self.complete(free))
        return self._again(v_dot)

    def _freely(self, n: int, lam: Callable[[int], Place], v_dot: Callable[[int], Place]) -> None:
        ends, given = self.pull(n, self.force(n), lam)
        function = kernels.freely(self.s.nodes[n].type, ends)
        self.tape.call(function, self._node("W", n), *given, v_dot(n))

    def _again(self, v_dot: Callable[[int], Place]) -> Callable[[int], Place]:
        """Corrections by the residual of the equations without added mass.

        v̇ + W(f + Aᵀλ − M v̇) where mass was added, Δλ of S Δλ = b − A v̇, v̇ + W Aᵀ Δλ.
        """
        lam, more = self.right_side("x"), self.right_side("x2")
        shifted = [n for n, node in enumerate(self.s.nodes) if node.type.shift]
        regular = [n for n, node in enumerate(self.s.nodes) if not node.type.shift]
        moved = {n: self._node("a", n) for n in shifted}
        for turn in range(self.corrections):
            for n in shifted:
                ends, given = self.pull(n, self.force(n), lam)
                function = kernels.corrected(self.s.nodes[n].type, ends)
                places = [v_dot(n), self._node("M", n), self._node("W", n)]
                self.tape.call(function, *places, *given, moved[n])
            for e, element in enumerate(self.s.constraints):
                nodes = self._moving(e)
                at = [moved.get(n) or v_dot(n) for n in nodes]
                pairs = [x for pair in zip(self._blocks_of(e), at, strict=True) for x in pair]
                function = kernels.missed(element.type)
                self.tape.call(function, self._row("b", e), *pairs, self._row("c", e))
            self.forward(self.right_side("c"))
            self.back(more)
            total = self.right_side("lam" if turn % 2 == 0 else "x")
            for e, r in enumerate(self.rows):
                self.tape.call(algebra.reduce_sum(r, 2), lam(e), more(e), total(e))
            for n in shifted:
                ends, given = self.pull(n, None, more)
                function = kernels.kicked(self.s.nodes[n].type, ends)
                self.tape.call(function, moved[n], self._node("W", n), *given, v_dot(n))
            lam = total
            for n in regular:
                self._freely(n, lam, v_dot)
        return lam

    def settle(self, v_dot: Callable[[int], Place]) -> None:
        """One correction of given accelerations without forces; see `kernels.constraint`.

        What neither mass nor constraint determines is all that corrections leave.
        """
        self.factor()
        x = self.right_side("x")
        self.back(x)
        for n, node in enumerate(self.s.nodes):
            self.node(n)
            ends, given = self.pull(n, None, x)
            W = self._node("W", n)
            if not node.type.shift:
                self.tape.call(kernels.freely(node.type, ends), W, *given, v_dot(n))
                continue
            M = self._node("M", n)
            moved = self._node("a", n)
            self.tape.call(
                kernels.corrected(node.type, ()), self.v(n), M, W, self.nothing(n), moved
            )
            self.tape.call(kernels.kicked(node.type, ends), moved, W, *given, v_dot(n))

    def project(self, q: Callable[[int], Place], v: Callable[[int], Place]) -> None:
        """One correction of coordinates and velocities."""
        self.factor()
        x = self.right_side("x")
        self.back(x)
        for n, node in enumerate(self.s.nodes):
            self.node(n)
            ends, given = self.pull(n, None, x)
            self.tape.call(
                kernels.shifted_node(node.type, ends),
                self._node("unit_q", n),
                self._node("W", n),
                *given,
                q(n),
                self._node("config", n),
            )
        for e, element in enumerate(self.s.constraints):
            self.tape.call(kernels.rates(element.type), *self.arguments(element), self._row("c", e))
        self.forward(self.right_side("c"))
        lam = self.multipliers()
        for n, node in enumerate(self.s.nodes):
            ends, given = self.pull(n, None, lam)
            self.tape.call(
                kernels.kicked(node.type, ends), self.v(n), self._node("W", n), *given, v(n)
            )

    # --- residuals --------------------------------------------------------------------------------

    def ratios(self, space: int) -> None:
        """φ of position rows, ψ of all rows and lengths of unit groups, each relative."""
        placed = sum(e.type.rows for e in self.s.constraints if e.type.position)
        end = self._checked(kernels.residual, (space, 0), (space, placed))
        for n, node in enumerate(self.s.nodes):
            if node.type.unit:
                self.tape.call(kernels.unit_miss(node.type), self.q(n), place(space, end))
                end += 1

    def misses(self, positions: int, rates: int) -> None:
        """φ of position rows and ψ of all rows, to two outputs."""
        self._checked(kernels.misses, (positions, 0), (rates, 0))

    def _checked(
        self,
        function: Callable[[ElementType], casadi.Function],
        phi: tuple[int, int],
        psi: tuple[int, int],
    ) -> int:
        """Write (φ, ψ) of each constraint by a function of its type; where ψ ends.

        `phi` and `psi` are the spaces and offsets at which they begin.
        """
        (positions, first), (rates, at) = phi, psi
        for e in self.s.constraints:
            outputs = [place(rates, at)]
            at += e.type.rows
            if e.type.position:
                outputs.insert(0, place(positions, first))
                first += e.type.rows
            self.tape.call(function(e.type), *self.arguments(e), *outputs)
        return at
