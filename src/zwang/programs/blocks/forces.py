"""Block programs: accelerations, multipliers and wrenches of a large system at many states.

Each kernel has one output, side by side for several states. With every state come its doubts: how
well v̇ satisfies the constraints, and whether multipliers of least norm have the same force.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zwang.caching import computed_once
from zwang.codegen.expression import Port
from zwang.programs.at_states import SIDE_BY_SIDE
from zwang.programs.blocks import kernels
from zwang.programs.blocks.algebra import reduce_sum, zeros
from zwang.programs.blocks.call_list import OUT, CallList, P, Place, place
from zwang.programs.blocks.elimination import Sweep
from zwang.programs.blocks.friction import LawSweep
from zwang.programs.blocks.kernels import Ends, pull_of, remembered
from zwang.programs.blocks.layout import BlockLayout, ElementType, NodeType
from zwang.programs.blocks.least_norm import DependencySweep, squares, with_unit_masses
from zwang.programs.blocks.pattern import Pattern, Side
from zwang.programs.blocks.run_calls import CallListKernel

if TYPE_CHECKING:
    import casadi

    from zwang.codegen.kernel import Kernel
    from zwang.terms import FloatArray

__all__ = ["BlockForces", "JointEnd"]

#: As often as that random vectors are reduced to their part in N(Aᵀ), of which σ² = 1e-9 keeps
#: nothing.
REPETITIONS = 5

#: Numbers of a force and a moment.
WRENCH = 6
#: Elements of a kind, in the mean, from which on it pays to compile for zeros and ones among
#: the parameters: of links that are alike there are many.
ALIKE = 20

#: What is told of the force of a joint: (config, force, arm) → numbers.
Telling = Callable[["casadi.SX", "casadi.SX", "casadi.SX"], "casadi.SX"]


class JointEnd(NamedTuple):
    """Where the force of a joint is told.

    Attributes
    ----------
    rows : numbers of its equations.
    node : the body.
    arm : place of the point on the body, three numbers, after p.
    telling : what is told, `WRENCH` numbers; one function for all ends that are alike.
    """

    rows: Sequence[int]
    node: int
    arm: int
    telling: Telling


class BlockForces:
    """Writes the kernels of forces of a large system.

    Parameters
    ----------
    structure : all rows of the system.
    ends : of the joints.
    numbers : how many numbers come after p: arms of the ends.
    """

    def __init__(self, structure: BlockLayout, ends: Sequence[JointEnd], numbers: int) -> None:
        self.s, self.ends, self.numbers = structure, ends, numbers
        self.pattern = Pattern(structure)
        self.nq, self.nv, self.m = structure.q_starts[-1], structure.v_starts[-1], structure.rows
        self._kernels: dict[tuple[str, bytes, bytes], Kernel] = {}

    @property
    def may_depend(self) -> bool:
        """Whether rows may depend on each other and no law looks at their multipliers."""
        return not (self.s.independent or self.s.laws)

    def kernel(self, name: str, p: FloatArray) -> Kernel:
        """``wrenches``, ``motion`` or ``shares``, made when it is first asked for.

            wrenches   doubt, what is told of each end
            motion     doubt, v̇, λ, Aᵀλ
            shares     for each end the share of its force in a random dependency, squared

        The last takes m random numbers after those of the ends.

        Parameters
        ----------
        p : parameters and what follows them; zeros and ones among them may be built in.
        """
        special = (p == 0.0) | (np.abs(p) == 1.0) if self._many_alike else np.zeros(0, dtype=bool)
        key = name, special.tobytes(), p[special].tobytes() if special.size else b""
        if key not in self._kernels:
            constants = {int(i): float(p[i]) for i in np.flatnonzero(special)}
            tape = CallList(SIDE_BY_SIDE, constants or None, shared=True)
            writers = {"wrenches": self._wrenches, "motion": self._motion, "shares": self._shares}
            size = writers[name](tape)
            inputs = Port("q", self.nq), Port("v", self.nv), Port("t", 1), Port("p", len(p))
            outputs = (Port(name, size),)
            stream = tape.stream()
            self._kernels[key] = CallListKernel(
                name, inputs, outputs, SIDE_BY_SIDE, stream, shared=True
            )
        return self._kernels[key]

    @computed_once
    def _many_alike(self) -> bool:
        """Whether there are many elements of each kind."""
        kinds = {id(e.type) for e in (*self.s.constraints, *self.s.forces)}
        return len(self.s.constraints) + len(self.s.forces) >= ALIKE * len(kinds)

    # --- what each of them computes ---------------------------------------------------------------

    def _solved(
        self, tape: CallList, v_dot: Callable[[int], Place] | None = None
    ) -> tuple[Sweep, Callable[[int], Place]]:
        """The sweep that has solved for v̇, and where the multipliers of least norm are."""
        kind = LawSweep if self.s.laws else ForceSweep
        sweep = kind(self.s, self.pattern, tape, "accelerate")
        at = v_dot or sweep.of_nodes("v_dot")
        if sweep.regular and v_dot is None and not self.s.laws:
            sweep.factor()
            lam = sweep.multipliers()  # nothing else is needed, and nothing can be in doubt
        else:
            lam = sweep.accelerate(at)
        if isinstance(sweep, ForceSweep):
            sweep.tell_doubt(at, lam)
        else:  # v̇ is no number where no reaction agrees with a law
            tape.call(_no_doubt(), place(OUT, 0))
        if self.may_depend:
            dependencies = DependencySweep(with_unit_masses(self.s), self.pattern, tape)
            lam = dependencies.least(lam, place(OUT, 2))
        else:
            tape.call(_no_doubt(), place(OUT, 2))
        return sweep, lam

    def _wrenches(self, tape: CallList) -> int:
        sweep, lam = self._solved(tape)
        at = DOUBTS
        for end in self.ends:
            kind, sides = self.s.nodes[end.node].type, self._sides(end)
            ends, given = sweep.ends(sides, lam)
            config = sweep.of_nodes("config")(end.node)
            arm = place(P, self.s.parameters + end.arm)
            function = _told(kind, ends, end.telling)
            tape.call(function, config, *given, arm, place(OUT, at))
            at += WRENCH
        return at

    def _motion(self, tape: CallList) -> int:
        starts = self.s.v_starts
        sweep, lam = self._solved(tape, lambda n: place(OUT, DOUBTS + starts[n]))
        first = DOUBTS + self.nv
        for e, element in enumerate(self.s.constraints):
            tape.call(reduce_sum(element.type.rows, 1), lam(e), place(OUT, first + element.row))
        first += self.m
        for n, node in enumerate(self.s.nodes):
            ends, given = sweep.pull(n, None, lam)
            tape.call(kernels.pulled(node.type, ends), *given, place(OUT, first + starts[n]))
        return first + self.nv

    def _shares(self, tape: CallList) -> int:
        sweep = DependencySweep(with_unit_masses(self.s), self.pattern, tape)
        first = self.s.parameters + self.numbers
        rows = [element.row for element in self.s.constraints]
        y = sweep.dependent_part(lambda e: place(P, first + rows[e]), REPETITIONS)
        for k, end in enumerate(self.ends):
            ends, given = sweep.ends(self._sides(end), y)
            kind = sweep.s.nodes[end.node].type
            tape.call(_share(kind, ends), *given, place(OUT, k))
        return len(self.ends)

    def _sides(self, end: JointEnd) -> list[Side]:
        """The ends of a joint's constraints at its node."""
        rows = set(end.rows)
        sides = self.pattern.sides[end.node]
        return [side for side in sides if self.s.constraints[side.constraint].row in rows]


#: Numbers that each output begins with: squares of an error and of what it is an error of, twice.
DOUBTS = 4
#: Accelerations that are next to nothing beside those without constraints, by this share, are
#: judged by the latter.
NEXT_TO_NOTHING = 1e-3


class ForceSweep(Sweep):
    """A tape of forces in the making.

    It makes one correction less than that of accelerations, as it tells how large the last one was.
    """

    corrections = 2

    def tell_doubt(self, v_dot: Callable[[int], Place], lam: Callable[[int], Place]) -> None:
        """Squares of errors and of what they are errors of, to the beginning of the output.

        Where mass was added, the last correction and λ. Where rows may depend on each other,
        b − A v̇ and its parts. Else nothing can go wrong.
        """
        if self.regular or not self.rows:
            self.tape.call(_no_doubt(), place(OUT, 0))
            return
        total = self.work.new(2)
        self.tape.call(zeros(2), total)
        for e, element in enumerate(self.s.constraints):
            target = place(OUT, 0) if e == len(self.rows) - 1 else self.work.new(2)
            if self.again:
                self.tape.call(squares(self.rows[e]), total, self._row("x2", e), lam(e), target)
            else:
                given = [total, *self.arguments(element)]
                for n, A in zip(self._moving(e), self._blocks_of(e), strict=True):
                    given += [A, v_dot(n), self._node("W", n), self.force(n)]
                self.tape.call(_missed(element.type), *given, target)
            total = target


@cache
def _no_doubt() -> casadi.Function:
    import casadi as ca

    return ca.Function("no_doubt", [], [ca.SX([0.0, 1.0])])


@remembered
def _missed(kind: ElementType) -> casadi.Function:
    """(total, …, (A, v̇, W, f)…) → total + (|b − A v̇|², |b|² + |v̇|²), … as for all elements."""
    import casadi as ca

    total, given = ca.SX.sym("total", 2), kernels.inputs_of(kind)
    _, _, b, *_ = kernels.equations_of(kind)
    left, size, more = b, ca.sumsqr(b), []
    for k in kernels.moving_nodes(kind):
        node = kind.kinds[k]
        assert node is not None
        A, a = ca.SX.sym(f"A{k}", kernels.block_patterns(kind)[k]), ca.SX.sym(f"a{k}", node.nv)
        W, f = ca.SX.sym(f"W{k}", kernels.inverse_pattern(node)), ca.SX.sym(f"f{k}", node.nv)
        more += [A, a, W, f]
        left = left - ca.mtimes(A, a)
        size = size + ca.sumsqr(a) + NEXT_TO_NOTHING**2 * ca.sumsqr(ca.mtimes(W, f))
    added = total + ca.vertcat(ca.sumsqr(left), size)
    return ca.Function("missed", [total, *given, *more], [added])


@remembered
def _told(kind: NodeType, ends: Ends, telling: Telling) -> casadi.Function:
    """(config, (A, λ)…, arm) → what is told of Σ Aᵀλ."""
    import casadi as ca

    pull, inputs = pull_of(ends, kind.nv)
    config, arm = ca.SX.sym("config", kind.config), ca.SX.sym("arm", 3)
    told = ca.densify(telling(config, pull, arm))
    return ca.Function("told", [config, *inputs, arm], [told])


@remembered
def _share(kind: NodeType, ends: Ends) -> casadi.Function:
    """((A, y)…) → |Σ Aᵀy|² / Σ |A|²."""
    import casadi as ca

    pull, inputs = pull_of(ends, kind.nv)
    size = sum((ca.sumsqr(A) for A in inputs[::2]), ca.SX(0))
    return ca.Function("share", inputs, [ca.densify(ca.sumsqr(pull) / (size + (size == 0.0)))])
