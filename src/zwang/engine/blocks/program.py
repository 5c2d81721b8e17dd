"""The program of a large system: tapes for derivative, projection, residual and forces.

    derivative   nodes → forces → constraints (A, S, c) → couplings → factor → λ, corrected → v̇
    project      nodes of unit length → φ, A, S → factor → q; ψ there → same factor → v, corrected
    residual     φ and ψ of all rows, and lengths of unit groups
    arrival      derivative and residual in one
    forces       as derivative, with λ

All share one layout of the work array. The cost is that of the kernels, in proportion to the
number of elements where the order of elimination has no fill.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.engine.blocks import kernels as k
from zwang.engine.blocks.order import BlockOrder, block_order
from zwang.engine.blocks.play import TapeKernel
from zwang.engine.blocks.structure import Element, Structure
from zwang.engine.blocks.tape import OUT, P, Place, Q, T, Tape, V, Work
from zwang.kernels.element import Kernel
from zwang.kernels.expression import Port

if TYPE_CHECKING:
    pass

__all__ = ["BlockProgram", "block_program"]

#: So many vectors are added in one call.
SUMMANDS = 4


@dataclass(frozen=True)
class BlockProgram:
    """Equations of motion of a large system; the same interface as `zwang.engine.program.Program`.

    Attributes
    ----------
    nq, nv, rows, lanes, left_out, carrier : as there.
    structure : what it was made from.
    """

    nq: int
    nv: int
    rows: tuple[int, int, int]
    lanes: int
    structure: Structure = field(repr=False)
    layout: _Layout = field(repr=False)
    left_out: tuple[int, ...] = ()
    carrier: None = None
    _kernels: dict[str, Kernel] = field(default_factory=dict, repr=False)

    def kernel(self, name: str) -> Kernel:
        """A kernel, made when it is first asked for."""
        if name not in self._kernels:
            self._kernels[name] = self.layout.kernel(name)
        return self._kernels[name]

    def _used(self, events: Kernel | None, further: Sequence[str]) -> list[Kernel | None]:
        names = ("derivative", "project", "residual")
        common = [self.kernel(n) if self.rows[1] or n == "derivative" else None for n in names]
        return [*common, events, *(self.kernel(name) for name in further)]

    def addresses(self, events: Kernel | None = None, further: Sequence[str] = ()) -> np.ndarray:
        """Addresses of derivative, project, residual, events, and of `further` kernels."""
        used = self._used(events, further)
        return np.array([0 if x is None else x.address for x in used], dtype=np.int64)

    def work(self, events: Kernel | None = None, further: Sequence[str] = ()) -> np.ndarray:
        """A work array large enough for every one of these kernels."""
        used = [x for x in self._used(events, further) if x is not None]
        return max(used, key=lambda kernel: kernel.work_size).work()

    def failure(self) -> None:
        """Nothing here calls Python."""


def block_program(
    structure: Structure, *, lanes: int = 1, left_out: tuple[int, ...] = ()
) -> BlockProgram:
    """The program of a large system."""
    nq, nv = structure.q_starts[-1], structure.v_starts[-1]
    layout = _Layout(structure, lanes)
    m = structure.rows
    position = sum(e.type.rows for e in structure.constraints if e.type.position)
    unit = sum(1 for node in structure.nodes if node.type.unit)
    return BlockProgram(nq, nv, (m, position + m + unit, m), lanes, structure, layout, left_out)


class _Layout:
    """Where everything is in the work array, and the tapes that use it."""

    def __init__(self, structure: Structure, lanes: int) -> None:
        self.s, self.lanes, self.work = structure, lanes, Work()
        s, take = structure, self.work.take
        self.q = [Place(Q, i) for i in s.q_starts]
        self.v = [Place(V, i) for i in s.v_starts]
        self.t = Place(T, 0)
        self.shared, self.node_shared = Place(P, s.shared[0]), Place(P, s.node_shared[0])
        types = [node.type for node in s.nodes]
        self.config = [take(kind.config) for kind in types]
        self.unit_q = [take(kind.nq) for kind in types]
        self.W = [take(k.inverse_pattern(kind).nnz()) for kind in types]
        self.f = [take(kind.nv) for kind in types]
        # Two places to add up forces, two for efforts: both sums of a node are needed at once.
        self.force_sums = [(take(kind.nv), take(kind.nv)) for kind in types]
        self.effort_sums = [(take(kind.nv), take(kind.nv)) for kind in types]
        self.A: list[list[Place]] = []
        self.effort: list[list[Place]] = []
        self.S, self.c, self.b, self.y, self.x, self.low, self.d, self.pivot, self.other = (
            (
                [take(n) for n in sizes]
                for sizes in zip(
                    *(
                        (r * r, r, r, r, r, r * (r - 1) // 2, r, r, r * r)
                        for r in (e.type.rows for e in s.constraints)
                    ),
                    strict=True,
                )
            )
            if s.constraints
            else ([] for _ in range(9))
        )
        self.size = [take(e.type.rows) for e in s.constraints]
        self.lam = [take(e.type.rows) for e in s.constraints]
        self.more = [(take(e.type.rows), take(e.type.rows)) for e in s.constraints]
        for e in s.constraints:
            patterns = k.block_patterns(e.type)
            moving = [i for i, node in enumerate(e.nodes) if node >= 0]
            self.A.append([take(patterns[i].nnz()) for i in moving])
            self.effort.append([take(s.nodes[e.nodes[i]].type.nv) for i in moving])
        self.applied = [[take(s.nodes[n].type.nv) for n in e.nodes if n >= 0] for e in s.forces]
        self._couple()
        self.scratch = 0

    # --- pattern ----------------------------------------------------------------------------------

    def _couple(self) -> None:
        """Which constraints meet at which nodes, the order, and the blocks of the factor."""
        s, take = self.s, self.work.take
        sides: list[list[tuple[int, int, int]]] = [[] for _ in s.nodes]
        for e, element in enumerate(s.constraints):
            moving = [i for i, node in enumerate(element.nodes) if node >= 0]
            for place, i in enumerate(moving):
                sides[element.nodes[i]].append((e, i, place))
        self.sides = sides
        meetings: list[tuple[int, tuple[int, int, int], tuple[int, int, int]]] = []
        for n, at in enumerate(sides):
            for first in range(len(at)):
                for second in range(first + 1, len(at)):
                    if at[first][0] != at[second][0]:
                        meetings.append((n, at[first], at[second]))
        sizes = [e.type.rows for e in s.constraints]
        self.order: BlockOrder = block_order(sizes, [(a[0], b[0]) for _, a, b in meetings])
        rank = {block: i for i, block in enumerate(self.order.order)}
        self.block: dict[tuple[int, int], tuple[Place, Place, Place, Place]] = {}
        for column, below in self.order.below.items():
            for row in below:
                n = sizes[row] * sizes[column]
                self.block[row, column] = (take(n), take(n), take(n), take(n))
        # Couplings by the block they add to; several where two constraints share two nodes.
        self.couplings: dict[tuple[int, int], list[tuple[int, Any, Any]]] = {}
        for n, a, b in meetings:
            early, late = (a, b) if rank[a[0]] < rank[b[0]] else (b, a)
            self.couplings.setdefault((late[0], early[0]), []).append((n, early, late))

    # --- kernels ----------------------------------------------------------------------------------

    def kernel(self, name: str) -> Kernel:
        """One tape as a kernel."""
        tape = Tape(self.lanes)
        nq, nv, m = self.s.q_starts[-1], self.s.v_starts[-1], self.s.rows
        outputs = {
            "derivative": (Port("q_dot", nq), Port("v_dot", nv)),
            "arrival": (Port("q_dot", nq), Port("v_dot", nv), Port("ratios", self._checked_rows())),
            "forces": (Port("v_dot", nv), Port("multipliers", m)),
            "project": (Port("q", nq), Port("v", nv), Port("pivots", max(m, 1))),
            "residual": (Port("ratios", self._checked_rows()),),
        }[name]
        getattr(self, f"_{name}")(tape)
        inputs = (Port("q", nq), Port("v", nv), Port("t", 1), Port("p", self.s.parameters))
        scratch = self.work.take(0).offset
        size = (scratch + 8) * self.lanes + tape.work_size
        return TapeKernel(name, inputs, outputs, self.lanes, size, tape.tables(scratch))

    def _checked_rows(self) -> int:
        s = self.s
        position = sum(e.type.rows for e in s.constraints if e.type.position)
        return position + s.rows + sum(1 for node in s.nodes if node.type.unit)

    def _derivative(self, tape: Tape) -> None:
        """(q̇, v̇)."""
        q_dot = [Place(OUT, i) for i in self.s.q_starts[:-1]]
        v_dot = [Place(OUT + 1, i) for i in self.s.v_starts[:-1]]
        self._accelerate(tape, q_dot, v_dot)

    def _arrival(self, tape: Tape) -> None:
        """(q̇, v̇) and the ratios of `_residual`."""
        self._derivative(tape)
        self._ratios(tape, OUT + 2)

    def _forces(self, tape: Tape) -> None:
        """(v̇, λ)."""
        v_dot = [Place(OUT, i) for i in self.s.v_starts[:-1]]
        lam = self._accelerate(tape, self.unit_q, v_dot)
        for e, element in enumerate(self.s.constraints):
            tape.call(k.reduce_sum(element.type.rows, 1), lam[e], Place(OUT + 1, element.row))

    def _accelerate(self, tape: Tape, q_dot: list[Place], v_dot: list[Place]) -> list[Place]:
        """q̇ and v̇; returns where λ is."""
        s = self.s
        for kind, members in _by_type(s.nodes):
            function = k.node(kind)
            for n in members:
                data = Place(P, s.nodes[n].data[0])
                tape.call(
                    function,
                    self.q[n],
                    self.v[n],
                    data,
                    self.node_shared,
                    self.config[n],
                    q_dot[n],
                    self.f[n],
                    self.W[n],
                )
        f = self._add_forces(tape)
        for kind, members in _by_type(s.constraints):
            function = k.constraint(kind, "accelerate")
            for e in members:
                element = s.constraints[e]
                nodes = [n for n in element.nodes if n >= 0]
                more = [place for n in nodes for place in (self.W[n], f[n])]
                tape.call(
                    function,
                    *self._arguments(element, self.config, self.v),
                    *more,
                    *self.A[e],
                    self.S[e],
                    self.c[e],
                )
        self._factor(tape, pivots=False)
        lam = self._multipliers(tape, self.c)
        self._efforts(tape, lam)
        for n, node in enumerate(s.nodes):
            efforts = self._on_node(tape, n)
            function = k.freely(node.type, len(efforts))
            tape.call(function, f[n], self.W[n], *efforts, v_dot[n])
        return lam

    def _multipliers(self, tape: Tape, c: list[Place]) -> list[Place]:
        """λ of S λ = c. Where rows may depend on each other, the first answer is corrected.

        It solves (S + δR) λ₁ = c, so that c − S λ₁ = δR λ₁ is what it misses.
        """
        self._solve(tape, c, self.x)
        if self.s.independent:
            return self.x
        sizes = [e.type.rows for e in self.s.constraints]
        for e, r in enumerate(sizes):
            tape.call(k.missing(r), self.x[e], self.size[e], self.b[e])
        more = [place for place, _ in self.more]
        self._solve(tape, self.b, more)
        for e, r in enumerate(sizes):
            tape.call(k.reduce_sum(r, 2), self.x[e], more[e], self.lam[e])
        return self.lam

    def _project(self, tape: Tape) -> None:
        """(q, v, pivots)."""
        s = self.s
        for kind, members in _by_type(s.nodes):
            function = k.placed_node(kind)
            for n in members:
                data = Place(P, s.nodes[n].data[0])
                tape.call(
                    function,
                    self.q[n],
                    self.v[n],
                    data,
                    self.node_shared,
                    self.unit_q[n],
                    self.config[n],
                    self.W[n],
                )
        for kind, members in _by_type(s.constraints):
            function = k.constraint(kind, "place")
            for e in members:
                element = s.constraints[e]
                masses = [self.W[n] for n in element.nodes if n >= 0]
                arguments = self._arguments(element, self.config, self.v)
                tape.call(function, *arguments, *masses, *self.A[e], self.S[e], self.c[e])
        self._factor(tape, pivots=True)
        self._solve(tape, self.c, self.x)
        self._efforts(tape, self.x)
        q_out = [Place(OUT, i) for i in s.q_starts[:-1]]
        for n, node in enumerate(s.nodes):
            efforts = self._on_node(tape, n)
            tape.call(
                k.shifted_node(node.type, len(efforts)),
                self.unit_q[n],
                self.W[n],
                *efforts,
                q_out[n],
                self.config[n],
            )
        for kind, members in _by_type(s.constraints):
            function = k.rates(kind)
            for e in members:
                arguments = self._arguments(s.constraints[e], self.config, self.v)
                tape.call(function, *arguments, self.c[e])
        lam = self._multipliers(tape, self.c)
        self._efforts(tape, lam)
        for n, node in enumerate(s.nodes):
            efforts = self._on_node(tape, n)
            function = k.accelerate(node.type, len(efforts))
            tape.call(function, self.v[n], self.W[n], *efforts, Place(OUT + 1, s.v_starts[n]))

    def _residual(self, tape: Tape) -> None:
        """Ratios: φ of position rows, ψ of all rows, lengths of unit groups."""
        for kind, members in _by_type(self.s.nodes):
            function = k.placed_config(kind)
            for n in members:
                tape.call(function, self.q[n], self.config[n])
        self._ratios(tape, OUT)

    def _ratios(self, tape: Tape, space: int) -> None:
        """Residuals from the configurations at hand."""
        s = self.s
        position = sum(e.type.rows for e in s.constraints if e.type.position)
        phi, psi = 0, position
        for e in s.constraints:
            outputs = [Place(space, psi)]
            psi += e.type.rows
            if e.type.position:
                outputs.insert(0, Place(space, phi))
                phi += e.type.rows
            tape.call(k.residual(e.type), *self._arguments(e, self.config, self.v), *outputs)
        for n, node in enumerate(s.nodes):
            if node.type.unit:
                tape.call(k.unit_miss(node.type), self.q[n], Place(space, psi))
                psi += 1

    # --- pieces -----------------------------------------------------------------------------------

    def _arguments(self, element: Element, config: list[Place], v: list[Place]) -> list[Place]:
        """What an element's function takes, with any place for the ground."""
        nothing = self.t
        return [
            *(config[n] if n >= 0 else nothing for n in element.nodes),
            *(v[n] if n >= 0 else nothing for n in element.nodes),
            self.t,
            Place(P, element.numbers[0]),
            self.shared,
        ]

    def _add_forces(self, tape: Tape) -> list[Place]:
        """Forces of elements added to those of the nodes."""
        s = self.s
        on: list[list[Place]] = [[] for _ in s.nodes]
        for kind, members in _by_type(s.forces):
            function = k.force(kind)
            for e in members:
                element = s.forces[e]
                tape.call(
                    function, *self._arguments(element, self.config, self.v), *self.applied[e]
                )
                for place, n in enumerate(n for n in element.nodes if n >= 0):
                    on[n].append(self.applied[e][place])
        result = []
        for n, node in enumerate(s.nodes):
            if on[n]:
                result.append(
                    self._sum(tape, node.type.nv, [self.f[n], *on[n]], self.force_sums[n])
                )
            else:
                result.append(self.f[n])
        return result

    def _sum(self, tape: Tape, size: int, parts: list[Place], spare: tuple[Place, Place]) -> Place:
        """Sum of many vectors, a few at a time, back and forth between two places."""
        while len(parts) > 1:
            now, parts = parts[:SUMMANDS], parts[SUMMANDS:]
            target = spare[0] if now[0] is not spare[0] else spare[1]
            tape.call(k.reduce_sum(size, len(now)), *now, target)
            parts = [target, *parts]
        return parts[0]

    def _efforts(self, tape: Tape, lam: list[Place]) -> None:
        """Aᵀλ of every constraint on each of its nodes."""
        for kind, members in _by_type(self.s.constraints):
            function = k.effort(kind)
            for e in members:
                tape.call(function, *self.A[e], lam[e], *self.effort[e])

    def _on_node(self, tape: Tape, n: int) -> list[Place]:
        """The efforts of constraints on a node, few enough for one call."""
        efforts = [self.effort[e][place] for e, _, place in self.sides[n]]
        if len(efforts) <= SUMMANDS:
            return efforts
        return [self._sum(tape, self.s.nodes[n].type.nv, efforts, self.effort_sums[n])]

    def _factor(self, tape: Tape, *, pivots: bool) -> None:
        """Couplings, then column after column: updates from the columns before, factor, panel."""
        s = self.s
        sizes = [e.type.rows for e in s.constraints]
        current: dict[tuple[int, int], Place] = {}
        for (row, column), meetings in self.couplings.items():
            for count, (n, early, late) in enumerate(meetings):
                function = k.pair(
                    s.constraints[early[0]].type, early[1], s.constraints[late[0]].type, late[1]
                )
                A, B = self.A[early[0]][early[2]], self.A[late[0]][late[2]]
                target = self.block[row, column][0]
                if count == 0:
                    tape.call(function, A, self.W[n], B, target)
                    continue
                spare = self.block[row, column][1]
                tape.call(function, A, self.W[n], B, spare)
                total = self.block[row, column][2]
                tape.call(k.reduce_sum(sizes[row] * sizes[column], 2), target, spare, total)
                tape.call(k.reduce_sum(sizes[row] * sizes[column], 1), total, target)
            current[row, column] = self.block[row, column][0]
        for e in range(len(s.constraints)):
            tape.call(k.diagonal(sizes[e]), self.S[e], self.size[e])
        # Columns to the left that reach a block, in order.
        reach: dict[int, list[int]] = {}
        for column in self.order.order:
            r = sizes[column]
            rows = [column, *self.order.below[column]]
            for row in rows:
                at = self.S[column] if row == column else current.get((row, column))
                for j in reach.get(column, []):
                    if row != column and (row, j) not in self.block:
                        continue
                    X = self.block[column, j][2]
                    F = self.block[row, j][3]
                    if row == column:
                        place = (
                            self.other[column] if at is not self.other[column] else self.S[column]
                        )
                    else:
                        two = self.block[row, column]
                        place = two[1] if at is not two[1] else two[0]
                    if at is None:
                        tape.call(k.first_update(sizes[row], r, sizes[j]), F, X, place)
                    else:
                        tape.call(k.update(sizes[row], r, sizes[j]), at, F, X, place)
                    at = place
                if row == column:
                    assert at is not None
                    pivot = self.pivot[column]
                    if pivots:
                        pivot = Place(OUT + 2, s.constraints[column].row)
                    tape.call(
                        k.factor(r, regular=s.independent),
                        at,
                        self.size[column],
                        self.low[column],
                        self.d[column],
                        pivot,
                    )
                else:
                    assert at is not None
                    block = self.block[row, column]
                    tape.call(
                        k.panel(sizes[row], r),
                        at,
                        self.low[column],
                        self.d[column],
                        block[2],
                        block[3],
                    )
            for row in self.order.below[column]:
                reach.setdefault(row, []).append(column)
        self.reach = reach

    def _solve(self, tape: Tape, c: list[Place], x: list[Place]) -> None:
        """Multipliers from right sides, with the factor at hand."""
        sizes = [e.type.rows for e in self.s.constraints]
        for column in self.order.order:
            at, terms = c[column], list(self.reach.get(column, []))
            spare = self.more[column][1], self.pivot[column]
            while True:
                now, terms = terms[:SUMMANDS], terms[SUMMANDS:]
                parts = [place for j in now for place in (self.block[column, j][3], self.y[j])]
                widths = tuple(sizes[j] for j in now)
                if not terms:
                    function = k.forward(sizes[column], widths, last=True)
                    tape.call(function, at, *parts, self.low[column], self.y[column])
                    break
                target = spare[0] if at is not spare[0] else spare[1]
                function = k.forward(sizes[column], widths, last=False)
                tape.call(function, at, *parts, target)
                at = target
        for column in reversed(self.order.order):
            at, terms, first = self.y[column], list(self.order.below[column]), True
            spare = self.more[column][1], self.pivot[column]
            while True:
                now, terms = terms[:SUMMANDS], terms[SUMMANDS:]
                parts = [place for i in now for place in (self.block[i, column][3], x[i])]
                widths = tuple(sizes[i] for i in now)
                scale = [self.d[column]] if first else []
                if not terms:
                    function = k.back(sizes[column], widths, first=first, last=True)
                    tape.call(function, at, *scale, *parts, self.low[column], x[column])
                    break
                target = spare[0] if at is not spare[0] else spare[1]
                function = k.back(sizes[column], widths, first=first, last=False)
                tape.call(function, at, *scale, *parts, target)
                at, first = target, False


def _by_type(things: Sequence[Any]) -> list[tuple[Any, list[int]]]:
    """Types in order of appearance, each with the indices of its instances."""
    groups: dict[int, tuple[Any, list[int]]] = {}
    for i, thing in enumerate(things):
        groups.setdefault(id(thing.type), (thing.type, []))[1].append(i)
    return list(groups.values())
