"""Block programs: accelerations, multipliers and wrenches of a large system at many states.

Each kernel has one output, side by side for several states. With every state come its doubts: how
well v̇ satisfies the constraints, whether multipliers of least norm have the same force, and whether
as many rows depend on others as the kernel is for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zwang.caching import computed_once
from zwang.codegen.expression import Port
from zwang.programs.at_states import DOUBTS, SIDE_BY_SIDE
from zwang.programs.blocks import kernels
from zwang.programs.blocks.algebra import reduce_sum, zeros
from zwang.programs.blocks.call_list import OUT, CallList, P, Place, place
from zwang.programs.blocks.elimination import Sweep
from zwang.programs.blocks.force_sweep import ForceSweep, no_doubt
from zwang.programs.blocks.friction import LawSweep
from zwang.programs.blocks.kernels import Ends, pull_of, remembered
from zwang.programs.blocks.known_rank import KNOWN_RANKS, KnownRankSweep, tell_rank
from zwang.programs.blocks.layout import BlockLayout, NodeType
from zwang.programs.blocks.least_norm import DependencySweep, with_unit_masses
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
        self._kernels: dict[tuple[str, int | None, bytes, bytes], Kernel] = {}

    @property
    def may_depend(self) -> bool:
        """Whether rows may depend on each other and no law looks at their multipliers."""
        return not (self.s.independent or self.s.laws)

    @property
    def ranks(self) -> tuple[int | None, ...]:
        """Numbers of dependent rows with a kernel of their own, and None for the one for others."""
        return (*KNOWN_RANKS, None) if self.may_depend and not self.s.singular else (None,)

    def kernel(self, name: str, p: FloatArray, dependent: int | None = None) -> Kernel:
        """``wrenches``, ``motion`` or ``shares``, made when it is first asked for.

            wrenches   doubt, what is told of each end
            motion     doubt, v̇, λ, Aᵀλ
            shares     for each end the share of its force in a random dependency, squared

        The last, and all where a row depends on others, take m random numbers after those of the
        ends.

        Parameters
        ----------
        p : parameters and what follows them; zeros and ones among them may be built in.
        dependent : of `ranks`, how many rows depend on others.
        """
        special = (p == 0.0) | (np.abs(p) == 1.0) if self._many_alike else np.zeros(0, dtype=bool)
        key = name, dependent, special.tobytes(), p[special].tobytes() if special.size else b""
        if key not in self._kernels:
            constants = {int(i): float(p[i]) for i in np.flatnonzero(special)}
            tape = CallList(SIDE_BY_SIDE, constants or None, shared=True)
            writers = {"wrenches": self._wrenches, "motion": self._motion, "shares": self._shares}
            size = writers[name](tape, dependent)
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
        self,
        tape: CallList,
        dependent: int | None,
        v_dot: Callable[[int], Place] | None = None,
    ) -> tuple[Sweep, Callable[[int], Place]]:
        """The sweep that has solved for v̇, and where the multipliers of least norm are."""
        if dependent is not None:
            return self._solved_by_rank(tape, dependent, v_dot)
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
            tape.call(no_doubt(), place(OUT, 0))
        if len(self.ranks) > 1:
            assert isinstance(sweep, ForceSweep)
            tell_rank(sweep, place(OUT, 4), None)
        else:
            tape.call(zeros(1), place(OUT, 4))
        if self.may_depend:
            dependencies = DependencySweep(with_unit_masses(self.s), self.pattern, tape)
            lam = dependencies.least(lam, place(OUT, 2))
        else:
            tape.call(no_doubt(), place(OUT, 2))
        return sweep, lam

    def _solved_by_rank(
        self, tape: CallList, dependent: int, v_dot: Callable[[int], Place] | None
    ) -> tuple[Sweep, Callable[[int], Place]]:
        """The same where so many rows depend on others."""
        sweep = KnownRankSweep(self.s, self.pattern, tape, dependent)
        at = v_dot or sweep.of_nodes("v_dot")
        lam = sweep.accelerate(at)
        sweep.tell_doubt(at, lam)
        tape.call(no_doubt(), place(OUT, 2))
        return sweep, sweep.least(lam, self._random, place(OUT, 4))

    def _random(self, e: int) -> Place:
        """Random numbers for the rows of a constraint."""
        return place(P, self.s.parameters + self.numbers + self.s.constraints[e].row)

    def _wrenches(self, tape: CallList, dependent: int | None) -> int:
        sweep, lam = self._solved(tape, dependent)
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

    def _motion(self, tape: CallList, dependent: int | None) -> int:
        starts = self.s.v_starts
        sweep, lam = self._solved(tape, dependent, lambda n: place(OUT, DOUBTS + starts[n]))
        first = DOUBTS + self.nv
        for e, element in enumerate(self.s.constraints):
            tape.call(reduce_sum(element.type.rows, 1), lam(e), place(OUT, first + element.row))
        first += self.m
        for n, node in enumerate(self.s.nodes):
            ends, given = sweep.pull(n, None, lam)
            tape.call(kernels.pulled(node.type, ends), *given, place(OUT, first + starts[n]))
        return first + self.nv

    def _shares(self, tape: CallList, _: int | None) -> int:
        sweep = DependencySweep(with_unit_masses(self.s), self.pattern, tape)
        y = sweep.dependent_part(self._random, REPETITIONS)
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
