"""Joint coordinates: the equations of a mechanism in them.

The tree of its joints gives every body's place and velocity from q̂ and v̂; joints that close loops,
drivers and a user's conditions stay constraints of the links. Where there are none, v̂̇ comes from
the articulated-body recursion, else from M̂ v̂̇ = Q̂ + Âᵀλ, Â v̂̇ = b̂ like those of any system.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from zwang.caching import computed_once
from zwang.coordinates.joint.equations import Recursion
from zwang.coordinates.joint.from_bodies import FromBodiesByExpression, symbolic
from zwang.coordinates.joint.link_constants import LinkConstants
from zwang.coordinates.joint.tree import MOTIONS, Tree
from zwang.equations.contract import Equations
from zwang.equations.expression import ExpressionEquations
from zwang.multibody.constants import Pattern, folded, sizes_of
from zwang.programs.cache import TreeKey
from zwang.programs.coordinate_change import CoordinateChangeByExpression
from zwang.programs.factor import ProgramExpressions
from zwang.programs.whole import WholeProgram, fuse
from zwang.terms import FloatArray
from zwang.tracing.constraint import Constraint
from zwang.tracing.differentiate import Symbols, TracedConstraint
from zwang.tracing.traced_model import Definition, TracedModel

__all__ = ["JointEquations", "TreeExpressions"]

#: Entries of Â below this vanish, and states at which they are looked at.
ZERO = 1e-10
STATES = 3


@dataclass(frozen=True)
class TreeExpressions:
    """What is written down of a tree, whichever of its rows vanish.

    Attributes
    ----------
    tree, recursion : links and what is left of the constraints; their equations.
    carrier : the way into the coordinates of the joints and back.
    definition : their names.
    """

    tree: Tree
    recursion: Recursion
    carrier: CoordinateChangeByExpression
    definition: Definition

    @classmethod
    def of(
        cls,
        mechanism: Equations,
        tree: Tree,
        constants: Pattern,
        numbers: LinkConstants,
        vector_of: Callable[[FloatArray], FloatArray],
    ) -> TreeExpressions:
        """Of a mechanism with these parameters, and all others of the same structure.

        `vector_of` gives the link constants as one array, for any parameters.
        """
        import casadi as ca

        count = tree.parts.defaults.size
        more = numbers.vector.size
        symbols = (
            ca.SX.sym("q", tree.nq),
            ca.SX.sym("v", tree.nv),
            ca.SX.sym("t"),
            ca.SX.sym("p", count + more),
        )
        own = folded(symbols[3][:count], constants)
        entries = symbolic(tree, folded(symbols[3][count:], numbers.pattern()))
        recursion = Recursion(tree, *symbols[:3], own, entries)
        entry = FromBodiesByExpression(mechanism, tree, vector_of)
        q, v = recursion.state()
        carrier = CoordinateChangeByExpression("joint", entry.into, entry.scales, symbols, q, v)
        entry.carrier = entry.written = carrier
        p = tree.parts.defaults
        return cls(tree, recursion, carrier, _definition(tree, np.concatenate([p, vector_of(p)])))


class JointEquations(ExpressionEquations):
    """A mechanism in the coordinates of its joints.

    Parameters
    ----------
    written : the expressions of its tree.
    vanished : numbers, among the mechanism's, of rows that the tree fulfils whatever its
        coordinates, like a second hinge does.

    Attributes
    ----------
    tree, recursion, carrier : as written.
    rows : numbers, among the mechanism's, of the constraint rows that are left.
    """

    def __init__(self, written: TreeExpressions, vanished: tuple[int, ...] = ()) -> None:
        super().__init__(written.definition, self._written_model)
        self.written = written
        self.tree, self.recursion, self.carrier = written.tree, written.recursion, written.carrier
        starts, self.vanished = self.tree.parts.row_starts, vanished
        rows = (r for i, _ in self.tree.constraints for r in range(starts[i], starts[i + 1]))
        self.rows = tuple(row for row in rows if row not in vanished)

    @computed_once
    def fulfilled(self) -> tuple[int, ...]:
        """Those of the rows that vanish whose values do not change with time either."""
        import casadi as ca

        found, starts = [], self.tree.parts.row_starts
        for number, element in self.tree.constraints if self.vanished else ():
            first, rows = starts[number], self.recursion.rows(number, element)
            gone = [k for k in range(rows.A.shape[0]) if first + k in self.vanished]
            told = [x[gone] for x in (rows.value, rows.rate, rows.b) if x is not None]
            if gone and not ca.depends_on(ca.vertcat(*told), self.carrier.inputs[2]):
                found += [first + k for k in gone]
        return tuple(found)

    @computed_once
    def placement(self) -> tuple[FloatArray, FloatArray]:
        """Coordinates of the joints as the mechanism was described."""
        parts = self.tree.parts
        return self.carrier.placed(*parts.start, parts.defaults)

    def for_parameters(self, p: FloatArray, numbers: LinkConstants) -> JointEquations:
        """The same without the rows that vanish with these parameters."""
        gone = self._vanishing(p, numbers)
        if not gone:
            return self
        if gone not in self._less:
            self._less[gone] = JointEquations(self.written, gone)
        return self._less[gone]

    @computed_once
    def _less(self) -> dict[tuple[int, ...], JointEquations]:
        """What was asked of `for_parameters`, by the rows that vanish."""
        return {}

    def _vanishing(self, p: FloatArray, numbers: LinkConstants) -> tuple[int, ...]:
        """Rows of Â that are zero at some states of the tree, whatever they are.

        It moves there: a prescribed speed |v| has no row at rest.
        """
        if not self.rows:
            return ()
        tree, generator, moving = self.tree, np.random.default_rng(0), np.random.default_rng(1)
        p_joint = np.concatenate([p, numbers.vector])
        largest = np.zeros(len(self.rows))
        for _ in range(STATES):
            q, v = generator.uniform(-1.0, 1.0, tree.nq), moving.uniform(-1.0, 1.0, tree.nv)
            for group in tree.unit:
                q[list(group)] /= np.linalg.norm(q[list(group)])
            A = np.array(self._all_rows(q, v, 0.0, p_joint))
            largest = np.maximum(largest, np.abs(A).max(axis=1, initial=0.0))
        # Directions are of length one, points move with the size of the mechanism.
        size = max(1.0, float(np.abs(numbers.d).max(initial=0.0)))
        return tuple(row for row, a in zip(self.rows, largest, strict=True) if a < ZERO * size)

    @cached_property
    def _all_rows(self) -> Any:
        import casadi as ca

        A = ca.vertcat(*(self.recursion.rows(i, e).A for i, e in self.tree.constraints))
        return ca.Function("rows", list(self.carrier.inputs), [ca.densify(A)])

    def parameter_sizes(self, p: FloatArray) -> FloatArray:
        """To which size each parameter is rounded; the link constants come last."""
        own = self.tree.parts.defaults.size
        places = LinkConstants.places(self.tree)
        links = np.abs(p[own:])
        for name in ("E", "R", "marker_R", "offset", "parameters", "E_parameters"):
            links[places[name].ravel()] = 1.0
        lengths = np.concatenate([places[name].ravel() for name in ("d", "h", "at", "marker_at")])
        links[lengths] = np.max(links[lengths], initial=0.0)
        return np.concatenate([sizes_of(self.tree.parts, p[:own]), links])

    @property
    def rows_independent(self) -> bool:
        """Whether the tree fulfils all: what else constrains closes loops, or is the user's own."""
        return not self.rows

    def _written_model(self) -> TracedModel:
        """M̂, Q̂, Â and b̂ as expressions."""
        import casadi as ca

        rec, (q, v, t, p) = self.recursion, self.carrier.inputs
        N = rec.kinematics()
        M, Q = rec.mass_and_force()
        blocks = {e.name: self._kept(i, rec.rows(i, e)) for i, e in self.tree.constraints}
        blocks = {name: rows for name, rows in blocks.items() if rows.A.shape[0]}
        return TracedModel(
            self.definition,
            Symbols(q, v, t, p, ca.mtimes(N, v)),
            N,
            ca.SX.zeros(self.tree.nq, 1),
            M,
            Q,
            0.5 * ca.mtimes([v.T, M, v]),
            None,
            blocks,
            ca.SX.sym("lambda", len(self.rows)),
            ca.SX.zeros(self.tree.nv, 1),
            unit=self.tree.unit,
        )

    def _kept(self, number: int, rows: TracedConstraint) -> TracedConstraint:
        """The rows of an element that do not vanish."""
        first = self.tree.parts.row_starts[number]
        kept = [k for k in range(rows.A.shape[0]) if first + k not in self.vanished]
        value = None if rows.value is None else rows.value[kept]
        rate = None if rows.rate is None else rows.rate[kept]
        return TracedConstraint(rows.level, value, rate, rows.A[kept, :], rows.b[kept])

    def tree_program(self, lanes: int) -> WholeProgram:
        """The articulated-body recursion, for trees that nothing else constrains."""
        return self.cache.program(TreeKey(lanes), lambda: fuse(self._unconstrained, lanes=lanes))

    @cached_property
    def _unconstrained(self) -> ProgramExpressions:
        import casadi as ca

        rec, (q, v, t, p) = self.recursion, self.carrier.inputs
        N, none, no_rows = rec.kinematics(), ca.SX(0, 1), ca.SX(0, self.tree.nv)
        return ProgramExpressions(
            *(q, v, t, p),
            N=N,
            q_dot=ca.mtimes(N, v),
            M=ca.SX(self.tree.nv, self.tree.nv),
            force=ca.SX.zeros(self.tree.nv, 1),
            A=no_rows,
            b=none,
            phi=none,
            A_position=no_rows,
            psi=none,
            A_rate=no_rows,
            value_of_row=none,
            rate_of_row=none,
            levels=(),
            checked=(none, none),
            unit=self.tree.unit,
            acceleration=rec.accelerations(),
        )


def _definition(tree: Tree, defaults: FloatArray) -> Definition:
    """Names of the tree's coordinates, for errors."""
    names: list[tuple[str, str]] = []
    for branch in tree.branches:
        name = tree.parts.bodies[branch.child].name if branch.joint is None else branch.joint.name
        for k in branch.links:
            nq, nv = MOTIONS[tree.links[k].motion]
            names += [("q", f"{name}.{k}.{i}") for i in range(nq)]
            names += [("v", f"{name}.{k}.rate{i}") for i in range(nv)]
    return Definition(
        coordinates=tuple(name for kind, name in names if kind == "q"),
        velocities=tuple(name for kind, name in names if kind == "v"),
        parameters={"numbers": defaults},
        mass=None,
        force=None,
        constraints={
            e.name: Constraint(tree.parts.traced[e.law.key].level, (_by_elements,))
            for _, e in tree.constraints
        },
    )


def _by_elements() -> None:
    message = "a mechanism is not traced from functions"
    raise AssertionError(message)
