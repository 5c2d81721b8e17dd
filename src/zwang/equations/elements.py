"""Equations of a large mechanism, evaluated element by element in place of one expression.

Terms, residuals and energies come from all instances of a kind at once; accelerations, multipliers
and corrections from the block program, whose cost grows with the number of elements.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.caching import computed_once
from zwang.codegen.expression import read
from zwang.codegen.kernel import Kernel
from zwang.diagnosis.determinate import open_multipliers
from zwang.diagnosis.wording import listing
from zwang.equations.active_pivots import PIVOT, PIVOT_OF_MASSLESS, rows_without_pivot
from zwang.equations.active_rows import ActiveRows
from zwang.equations.block_layout import structure_of
from zwang.equations.contract import SolveRequest
from zwang.equations.mechanism import MechanismEquations, MechanismExpression
from zwang.errors import PainleveError
from zwang.linalg.rank import AT_A_STATE, DEFAULT_TOLERANCES
from zwang.linalg.residual_rounding import free_acceleration, rounding_of_rows
from zwang.multibody.constants import with_equal_masses
from zwang.multibody.element import Element
from zwang.multibody.element_batches import bulk_rows
from zwang.multibody.joint_coordinates import JointChannel
from zwang.multibody.motion_words import one_by_one, spins_in_place, undetermined_error
from zwang.multibody.sparse_explanation import SparseDiagnosis
from zwang.multibody.terms import MechanismSymbols
from zwang.programs.at_states import largest_miss
from zwang.programs.blocks.program import BlockProgram, block_program
from zwang.programs.cache import BlockKey
from zwang.programs.cost import COST
from zwang.solvers.solution import Ranks, Solution
from zwang.state import Residuals
from zwang.terms import EquationTerms, FloatArray
from zwang.tracing.differentiate import Symbols
from zwang.tracing.evaluator import Evaluator
from zwang.tracing.open_laws import NONE_OPEN, OpenLaws
from zwang.tracing.rhs_rounding import rhs_rounding
from zwang.tracing.traced_model import TracedModel

if TYPE_CHECKING:
    import casadi

    from zwang.multibody.forces.friction import JointFriction

__all__ = ["Balance", "ElementEquations", "SparseSolution"]

#: Corrections after which what is left of random accelerations is undetermined, and how much of
#: what is determined may be left: each correction takes away all but about 1e-6 of it.
SETTLING, SETTLED = 8, 1e-6
#: Undetermined motions that are looked for at most: those of one body, and a few more.
MOST_DIRECTIONS = 12
#: Part of a reaction by which it is changed where friction may use what is left open of it, and the
#: part of friction that may change by rounding.
SHIFT, UNCHANGED = 0.1, 1e-8


class Balance(NamedTuple):
    """Both sides of the equations of motion at many states, and the powers in them.

    Attributes
    ----------
    force : |M v̇ − Q − C − Aᵀλ|, the gradient of Gauss's function on the constraints, shape (nt,).
    constraint : |A v̇ − b|, shape (nt,).
    applied_power, constraint_power, nonideal_power : Q·v, λ·(A v) and C·v, shape (nt,).
    """

    force: FloatArray
    constraint: FloatArray
    applied_power: FloatArray
    constraint_power: FloatArray
    nonideal_power: FloatArray


def _beyond(miss: FloatArray, rounding: FloatArray) -> FloatArray:
    """The largest of each state's residuals less the largest rounding among them, shape (nt,)."""
    largest = np.abs(miss).max(axis=1, initial=0.0)
    return np.maximum(largest - rounding.max(axis=1, initial=0.0), 0.0)


class SparseSolution(NamedTuple):
    """Terms by their entries at one state, v̇ and the λ of least norm."""

    diagnosis: SparseDiagnosis
    acceleration: FloatArray
    multipliers: FloatArray


class ElementEquations(MechanismEquations):
    """A mechanism that is evaluated element by element; nothing is written down as a whole.

    Parameters
    ----------
    parts : bodies, joints and forces as data.
    """

    @property
    def by_elements(self) -> ElementEquations:
        """These."""
        return self

    @computed_once
    def whole(self) -> MechanismExpression:
        """The same as one expression, in the same symbols: slow to make, and seldom needed."""
        return MechanismExpression(self.parts, self.element_symbols)

    @computed_once
    def model(self) -> TracedModel:
        """All terms as one expression."""
        return self.whole.model

    @computed_once
    def evaluator(self) -> Evaluator:
        """The compiled kernels of the whole."""
        return self.whole.evaluator

    @computed_once
    def element_symbols(self) -> MechanismSymbols:
        """Symbols that elements and further functions are placed on."""
        return MechanismSymbols.of(self.parts)

    @computed_once
    def symbols(self) -> Symbols:
        """The same as a state without terms: an event looks at few of them."""
        return self.element_symbols.state()

    # --- names, without the model -----------------------------------------------------------------

    @computed_once
    def opaque(self) -> tuple[str, ...]:
        """None: elements are traced."""
        return ()

    @property
    def reaction_dependent(self) -> bool:
        """Whether there is friction in joints."""
        return bool(self.parts.frictions)

    @property
    def groups(self) -> dict[str, list[int]]:
        """Constraint name → its row numbers."""
        return self._groups

    @cached_property
    def _groups(self) -> dict[str, list[int]]:
        starts, found = self.parts.row_starts, dict[str, list[int]]()
        for i, e in enumerate(self.parts.constraints):
            found.setdefault(self.parts.owner(e.name), []).extend(range(starts[i], starts[i + 1]))
        return found

    @property
    def levels(self) -> dict[str, str]:
        """Constraint name → position or velocity."""
        result: dict[str, str] = {}
        for e in self.parts.constraints:
            owner, level = self.parts.owner(e.name), self.parts.traced[e.law.key].level
            result[owner] = f"{result[owner]} and {level}" if owner in result else level
        return result

    @computed_once
    def _row_levels(self) -> list[str]:
        traced = [self.parts.traced[e.law.key] for e in self.parts.constraints]
        return [found.level for found in traced for _ in range(found.rows)]

    # --- terms ------------------------------------------------------------------------------------

    def ideal_terms_at(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> EquationTerms:
        """M, Q, A, b for what `arguments` returns."""
        batch, nv = q.shape[:-1], len(self.velocities)
        flat = _flat(q, v, t)
        masses, force, _, _ = self.bulk.bodies(flat[0], flat[1], p)
        force = force + self.bulk.forces(*flat, p)[0]
        found = self.bulk.rows(*flat, p)
        count, m = len(force), self.parts.row_starts[-1]
        M = np.zeros((count, nv, nv))
        _, starts = self.parts.places
        for i, block in enumerate(masses):
            here = slice(starts[i], starts[i + 1])
            M[:, here, here] = block
        A = np.array([bulk_rows(found, k, (m, nv)) for k in range(count)]).reshape(count, m, nv)
        terms = EquationTerms.of(
            M.reshape(*batch, nv, nv),
            force.reshape(*batch, nv),
            A.reshape(*batch, m, nv),
            found.b.reshape(*batch, m),
            names=self.row_names,
            coordinates=self.velocities,
        )
        return self._with_rounding(replace(terms, at_state=True), q, v, t, p)

    def _right_sides(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> FloatArray:
        """b alone."""
        return self.bulk.rows(*_flat(q, v, t), p).b.reshape(*q.shape[:-1], -1)

    def _with_nonideal(
        self, terms: EquationTerms, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> EquationTerms:
        if not self.parts.frictions:
            return self._with_teeth(terms, q, v, t, p)
        flat = _flat(q, v, t)
        C = self.bulk.friction(*flat, p, self._agreeing_multipliers(*flat, p))
        return terms.with_forces(terms.applied_force, C.reshape(v.shape))

    def require_law(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> OpenLaws:
        """Refuse a state at which no reaction was found that agrees with the friction it causes."""
        lam = self._agreeing_multipliers(*_flat(q, v, t), p)
        return self._open_laws(q, v, t, p, lam[0])

    def open_laws_at(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> OpenLaws:
        """Which friction uses a reaction that is not determinate."""
        lam = self._agreeing_multipliers(*_flat(q, v, t), p)
        return self._open_laws(q, v, t, p, lam[0])

    def _open_laws(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray, multipliers: FloatArray
    ) -> OpenLaws:
        """By how friction changes along random directions of the multipliers left open."""
        laws = [x for x in self.parts.frictions if x.of_reaction]
        if self.rows_independent or not laws:
            return NONE_OPEN
        flat = _flat(q, v, t)
        free = open_multipliers(*self.sparse_matrices(*flat, p))
        if not free.any():
            return NONE_OPEN
        names = [self.parts.owner(self.parts.constraints[x.constraint].name) for x in laws]
        using = [self._uses(law, flat, p, multipliers, free) for law in laws]
        found = [name for name, uses in zip(names, using, strict=True) if uses]
        return OpenLaws(1, tuple(dict.fromkeys(found)))

    def _uses(
        self,
        law: JointFriction,
        flat: tuple[FloatArray, FloatArray, FloatArray],
        p: FloatArray,
        multipliers: FloatArray,
        free: FloatArray,
    ) -> bool:
        """Whether friction changes where the reaction of its joint does along `free` (m, k)."""
        own = slice(*self.parts.row_starts[law.constraint :][:2])
        most = float(np.abs(free[own]).max(initial=0.0))
        if not most:
            return False
        change = SHIFT * float(np.abs(multipliers[own]).max()) / most * free
        found = [
            self.bulk.laws([law], *flat, p, (multipliers + sign * shift)[None])
            for shift in change.T
            for sign in (1.0, -1.0)
        ]
        changes = [np.abs(x - y).max() for x, y in zip(found[::2], found[1::2], strict=True)]
        return max(changes) > UNCHANGED * float(np.abs(found).max())

    def _agreeing_multipliers(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> FloatArray:
        """λ with the friction it causes, at B states, shape (B, m)."""
        kernel = self.block_program().kernel("forces")
        pairs = [kernel(q[i], v[i], [t[i]], p) for i in range(len(q))]
        if not all(np.isfinite(a).all() for a, _ in pairs):
            names = [self.parts.constraints[x.constraint].name for x in self.parts.frictions]
            raise PainleveError(
                f"friction in {listing(names)}",
                names=names,
                must="allow exactly one reaction at this state",
                but="allows none",
                advice="In a Painlevé situation rigid bodies with such friction have no unique "
                "motion: reduce the coefficient or the radius.",
            )
        return np.array([lam for _, lam in pairs]).reshape(len(q), self.parts.row_starts[-1])

    def require_unique(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> None:
        """Refuse a state at which the motion of some body is not determined, by name.

        Corrections of any acceleration, without forces, take away all that mass or constraints
        determine. What spins about its own centre without inertia may go on.
        """
        basis = self.undetermined_motions(q, v, t, p)
        if basis.size:
            raise undetermined_error(self.parts, q, basis)

    def undetermined_motions(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> FloatArray:
        """Motions that neither mass nor constraints determine, shape (nv, k)."""
        basis = np.zeros((len(v), 0))
        if not self._may_be_loose:
            return basis
        generator = np.random.default_rng(0)
        while True:
            left = self._undetermined(q, generator.standard_normal(v.shape), t, p)
            left = left - basis @ (basis.T @ left)
            size = float(np.linalg.norm(left))
            if size < SETTLED or basis.shape[1] == MOST_DIRECTIONS:
                break
            basis = np.column_stack([basis, left / size])
        return one_by_one(self.parts, basis) if basis.size else basis

    @cached_property
    def _may_be_loose(self) -> bool:
        """Whether some body, or some motion of it, may lack inertia."""
        return any(body.singular for body in self.parts.bodies)

    def _undetermined(
        self, q: FloatArray, a: FloatArray, t: FloatArray, p: FloatArray
    ) -> FloatArray:
        """What is left of an acceleration after corrections, but for bodies that spin in place."""
        settle = self.block_program().kernel("settle")
        for _ in range(SETTLING):
            (a,) = settle(q, a, np.atleast_1d(t), p)
        _, starts = self.parts.places
        for body in self.parts.bodies:
            own = np.zeros_like(a)
            here = slice(starts[body.index], starts[body.index + 1])
            own[here] = a[here]
            if np.abs(own).max() < SETTLED or spins_in_place(self.parts, own):
                a[here] = 0.0
        return a

    def mass_is_singular(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> bool:
        """Whether M is singular at one state."""
        return self.whole.mass_is_singular(q, v, t, p)

    @computed_once
    def mass_is_constant(self) -> bool:
        """Whether M depends on parameters alone."""
        return self.whole.mass_is_constant

    def require_agreement(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> None:
        """Refuse constraints that contradict each other about accelerations, by name."""
        self.whole.require_agreement(q, v, t, p)

    def agree(self, Y: FloatArray, t: float, P: FloatArray, a: FloatArray) -> np.ndarray:
        """Left to the residuals of rows that do not act: the equations are too many to compare."""
        del t, P, a
        return np.ones(len(Y), dtype=bool)

    def residuals_at(self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray) -> Residuals:
        """φ, φ̇ and ψ for what `arguments` returns."""
        value, rate = self.bulk.misses(*_flat(q, v, t), p)
        batch = q.shape[:-1]
        return Residuals(value.reshape(*batch, -1), rate.reshape(*batch, -1), *self.residual_names)

    def largest_miss(self, y: FloatArray, t: FloatArray, p: FloatArray) -> float:
        """Largest of |φ| and |ψ| at states y (rows, n), times (rows,); infinite if not finite."""
        return largest_miss(self._misses, len(self.coordinates), y, t, p)

    @computed_once
    def _misses(self) -> Kernel:
        """(q, v, t, p) → (φ, ψ), from the elements."""
        return self.block_program().kernel("misses")

    def energy_at(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Kinetic and potential energy, shape (…)."""
        flat = _flat(q, v, t)
        _, _, T, V = self.bulk.bodies(flat[0], flat[1], p)
        V = V + self.bulk.forces(*flat, p)[1]
        return T.reshape(q.shape[:-1]), V.reshape(q.shape[:-1])

    # --- answers at one state ---------------------------------------------------------------------

    def diagnosis_at(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray, C: FloatArray
    ) -> SparseDiagnosis:
        """The terms at one state by their entries."""
        flat = _flat(q, v, t)
        M, A = self.sparse_matrices(*flat, p)
        force = self.bulk.bodies(flat[0], flat[1], p)[1] + self.bulk.forces(*flat, p)[0]
        b = self.bulk.rows(*flat, p).b[0]
        terms = EquationTerms(M, force[0], A, b, C, self.row_names, self.velocities, at_state=True)
        terms = self._with_rounding(terms, q, v, t, p)
        return SparseDiagnosis(self.parts, q, terms, self.rows_independent)

    def sparse_solution_at(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> SparseSolution | None:
        """The solution at one state by sparse matrices.

        None where dense ones are fast, or where it does not satisfy the equations.
        """
        if not self.too_large_for_dense:
            return None
        self.require_unique(q, v, t, p)
        a, lam = self.block_program().kernel("forces")(q, v, np.atleast_1d(t), p)
        if not (np.isfinite(a).all() and np.isfinite(lam).all()):
            return None
        flat = _flat(q, v, t)
        reactions, pushed = self._apart(*flat, p, lam[None])
        lam, C = reactions[0], self.bulk.friction(*flat, p, lam[None]) + pushed
        found = self.diagnosis_at(q, v, t, p, C[0])
        A, b = found.terms.constraint_matrix, found.terms.constraint_rhs
        size = np.abs(b).max(initial=0.0) + float(np.linalg.norm(a))
        if np.abs(A @ a - b).max(initial=0.0) > AT_A_STATE * size:
            return None
        return SparseSolution(found, a, found.least(lam) if found.dependencies.size else lam)

    def _solved(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray, request: SolveRequest
    ) -> Solution:
        """Acceleration, constraint force and multipliers, of what is very large by blocks."""
        plain = request.formulation == "auto" and not request.family and request.shift is None
        single = plain and q.ndim == 1
        solved = self.sparse_solution_at(q, v, t, p) if single else None
        if solved is None:
            return super()._solved(q, v, t, p, request)
        found, a, lam = solved
        terms, n = found.terms, len(v)
        A: Any = terms.constraint_matrix
        reason = f"the mechanism is large ({n} velocities): eliminated element by element"
        return Solution(
            terms,
            a,
            A.T @ lam + terms.nonideal_force,
            lam,
            Ranks(found.rank, found.mass_rank, n),
            "saddle_point",
            reason,
            (),
            np.zeros((n, 0)),
        )

    @property
    def too_large_for_dense(self) -> bool:
        """Whether dense matrices would keep a user waiting."""
        return len(self.velocities) > COST.dense_velocities

    # --- the block program ------------------------------------------------------------------------

    def block_program(
        self, left_out: tuple[int, ...] = (), lanes: int = 1, *, distinct: bool = False
    ) -> BlockProgram:
        """The compiled program; rows that are left out do not act, see `structure_of`."""

        def made() -> BlockProgram:
            structure = structure_of(self.parts, frozenset(left_out), distinct=distinct)
            return block_program(structure, lanes=lanes, left_out=left_out)

        return self.cache.program(BlockKey(left_out, lanes, distinct), made)

    def fast_forces(
        self,
        q: FloatArray,
        v: FloatArray,
        t: FloatArray,
        parameters: Mapping[str, Any],
        left_out: tuple[int, ...] = (),
    ) -> tuple[FloatArray, FloatArray]:
        """Accelerations (nt, nv) and multipliers (nt, m) at many states, by the block program."""
        a, lam = self._forces_of_motion(q, v, t, parameters, left_out)
        return a, self._apart(q, v, t, self.parameter_vector(parameters), lam)[0]

    def _apart(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray, multipliers: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Multipliers with what bearings take of teeth that push apart, and these forces."""
        if not self.parts.workless:
            return multipliers, np.zeros_like(v)
        from zwang.solvers.sparse import solve_sparse, sparse_terms

        pushed = self.bulk.laws(self.parts.workless, q, v, t, p, multipliers)
        taken = np.empty_like(multipliers)
        for i, force in enumerate(pushed):
            M, A = self.sparse_matrices(q[i : i + 1], v[i : i + 1], t[i : i + 1], p)
            none = np.zeros(A.shape[0])
            terms = sparse_terms(M, force, A, none, coordinates=self.velocities)
            taken[i] = solve_sparse(terms, DEFAULT_TOLERANCES).multipliers
        return multipliers + taken, pushed

    def _forces_of_motion(
        self,
        q: FloatArray,
        v: FloatArray,
        t: FloatArray,
        parameters: Mapping[str, Any],
        left_out: tuple[int, ...],
    ) -> tuple[FloatArray, FloatArray]:
        """`fast_forces` without forces that the motion does not depend on."""
        p = self.parameter_vector(parameters)
        program = self.block_program(left_out)
        kernel = program.kernel("forces")
        acting = np.setdiff1d(np.arange(self.parts.row_starts[-1]), left_out)
        a, lam = np.empty_like(v), np.zeros((len(q), self.parts.row_starts[-1]))
        for i in range(len(q)):
            a[i], lam[i, acting] = kernel(q[i], v[i], [t[i]], p)
        return a, lam

    def group_force(
        self,
        name: str,
        q: FloatArray,
        v: FloatArray,
        t: FloatArray,
        multipliers: FloatArray,
        parameters: Mapping[str, Any],
    ) -> FloatArray:
        """Generalized force A_gᵀ λ_g of one constraint at many states, shape (nt, nv)."""
        p = self.parameter_vector(parameters)
        total, (_, starts), first = np.zeros_like(v), self.parts.places, 0
        for element in self.parts.constraints:
            if self.parts.owner(element.name) != name:
                continue
            found = self.parts.traced[element.law.key]
            lam = multipliers[:, first : first + found.rows]
            first += found.rows
            _, _, _, *blocks = self._one(element, element.law.key, found.function, (q, v, t), p)
            for body, block in zip(element.bodies, blocks, strict=True):
                if body >= 0:
                    n = self.parts.bodies[body].kind.nv
                    A = np.swapaxes(block[0].reshape(len(q), n, found.rows), 1, 2)
                    total[:, starts[body] : starts[body + 1]] += np.einsum("trn,tr->tn", A, lam)
        return total

    def _one(
        self,
        element: Element,
        key: Any,
        function: casadi.Function,
        state: tuple[FloatArray, FloatArray, FloatArray],
        p: FloatArray,
    ) -> list[FloatArray]:
        """A function of one element at many states, outputs (1, nt, size)."""
        configs = self.bulk.configs(state[0], dict.fromkeys(i for i in element.bodies if i >= 0))
        return self.bulk.evaluate(key, function, [element], state, p, configs)

    def _impulse_response(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray, normal: FloatArray
    ) -> tuple[FloatArray, float]:
        """Of an impulse along `normal`, by sparse matrices."""
        from zwang.solvers.sparse import solve_sparse, sparse_terms  # loads SciPy's sparse matrices

        M, A = self.sparse_matrices(*_flat(q, v, t), p)
        terms = sparse_terms(M, normal, A, np.zeros(A.shape[0]), coordinates=self.velocities)
        direction = solve_sparse(terms, DEFAULT_TOLERANCES).acceleration
        return direction, float(M.diagonal().mean())

    def sparse_matrices(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> tuple[Any, Any]:
        """M and A at one state, by their entries."""
        from scipy.sparse import block_diag

        masses, *_ = self.bulk.bodies(q, v, p)
        _, _, A = self.sparse_rows(q, v, float(t[0]), p)
        return block_diag([M[0] for M in masses], format="csr"), A

    def greatest_load(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray, acceleration: FloatArray
    ) -> float:
        """The greatest force of inertia, or applied one, at states (nt, …), without constraints."""
        masses, turning, _, _ = self.bulk.bodies(q, v, p)
        _, starts = self.parts.places
        sizes = [np.abs(turning + self.bulk.forces(q, v, t, p)[0]).max(initial=0.0)]
        for i, M in enumerate(masses):
            here = acceleration[:, starts[i] : starts[i + 1]]
            sizes.append(np.abs(np.einsum("tij,tj->ti", M, here)).max(initial=0.0))
        return float(max(sizes))

    def balance(
        self, q: FloatArray, v: FloatArray, t: FloatArray, parameters: Mapping[str, Any]
    ) -> Balance:
        """How well accelerations and multipliers satisfy the equations, relative, and powers.

        The equations come from the elements one by one, not from the program that solved them.
        """
        p = self.parameter_vector(parameters)
        left_out = self.active_rows(q[0], float(t[0]), p).inactive
        a, lam = self.fast_forces(q, v, t, parameters, left_out)
        masses, turning, _, _ = self.bulk.bodies(q, v, p)
        applied = turning + self.bulk.forces(q, v, t, p)[0]
        laws = [*self.parts.frictions, *self.parts.workless]
        friction = self.bulk.laws(laws, q, v, t, p, lam)
        force = applied + friction
        rows = self.bulk.rows(q, v, t, p)
        _, starts = self.parts.places
        inertial, inertia = np.empty_like(v), np.empty_like(v)
        for i, M in enumerate(masses):
            here = slice(starts[i], starts[i + 1])
            inertial[:, here] = np.einsum("tij,tj->ti", M, a[:, here])
            inertia[:, here] = M.diagonal(axis1=-2, axis2=-1)
        pushed = np.abs(force)
        reaction, swept, moved = np.zeros_like(v), np.zeros_like(lam), np.zeros_like(lam)
        summed, (i, j) = np.abs(rows.b), (rows.rows, rows.columns)
        for k, entries in enumerate(rows.entries):
            reaction[k] = np.bincount(j, entries * lam[k, i], v.shape[1])
            pushed[k] += np.bincount(j, np.abs(entries * lam[k, i]), v.shape[1])
            swept[k] = np.bincount(i, entries * a[k, j], lam.shape[1])
            moved[k] = np.bincount(i, entries * v[k, j], lam.shape[1])
        free = free_acceleration(pushed, inertia)
        for k, entries in enumerate(rows.entries):
            most = np.abs(entries) * (np.abs(a[k, j]) + free[k, j])
            summed[k] += np.bincount(i, most, lam.shape[1])
        # Where nothing accelerates, both sides are rounding.
        in_force = rhs_rounding(lambda w: self.bulk.bodies(q, w, p)[1], inertia, v, turning)
        in_rows = rhs_rounding(lambda w: self.bulk.rows(q, w, t, p).b, inertia, v, rows.b)
        in_rows = rounding_of_rows(summed, v.shape[1], in_rows)
        sizes = [np.abs(x).max(axis=1, initial=0.0) for x in (inertial, force, reaction)]
        sides = [np.abs(x).max(axis=1, initial=0.0) for x in (swept, rows.b)]
        tiny = np.finfo(float).tiny
        return Balance(
            _beyond(inertial - force - reaction, in_force) / (np.sum(sizes, axis=0) + tiny),
            _beyond(swept - rows.b, in_rows)
            / (np.sum(sides, axis=0) + np.abs(a).max(axis=1) + tiny),
            np.sum(applied * v, axis=1),
            np.sum(lam * moved, axis=1),
            np.sum(friction * v, axis=1),
        )

    def full_terms(self, q: FloatArray, v: FloatArray, t: float, p: FloatArray) -> tuple[Any, ...]:
        """M, Q, A, b, φ, ψ, q̇ at one state from the elements, matrices by their entries if large.

        Also the law of friction, λ → (C, None), and multipliers that the program says agree with
        it, where there is friction; else None.
        """
        flat = _flat(q, v, np.asarray(t))
        masses, force, _, _ = self.bulk.bodies(flat[0], flat[1], p)
        force = force + self.bulk.forces(*flat, p)[0]
        found = self.bulk.rows(*flat, p)
        shape = self.parts.row_starts[-1], len(v)
        if self.too_large_for_dense:
            M, A = self.sparse_matrices(*flat, p)
        else:
            A = bulk_rows(found, 0, shape)
            M, (_, starts) = np.zeros((len(v), len(v))), self.parts.places
            for i, block in enumerate(masses):
                here = slice(starts[i], starts[i + 1])
                M[here, here] = block[0]
        law = witness = None
        if self.parts.frictions:
            witness = self._agreeing_multipliers(*flat, p)[0]
            law = partial(self._friction, *flat, p)
        residuals = found.value[0], found.rate[0], self.bulk.rates(q, v)
        return M, force[0], A, found.b[0], *residuals, law, witness

    def _friction(
        self, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray, lam: FloatArray
    ) -> tuple[FloatArray, None]:
        """C with some multipliers at one state."""
        return self.bulk.friction(q, v, t, p, lam[None])[0], None

    def residual_ratios(
        self, q: FloatArray, v: FloatArray, t: FloatArray, parameters: Mapping[str, Any]
    ) -> FloatArray:
        """Residuals as the integrator limits them, shape (nt, rows)."""
        p, kernel = self.parameter_vector(parameters), self.block_program().kernel("residual")
        return np.array([kernel(q[i], v[i], [t[i]], p)[0] for i in range(len(q))])

    def elements_digest(self) -> str:
        """A hash of the functions of all kinds of elements, and of what they connect."""
        parts, traced = self.parts, self.parts.traced
        kinds = {key: k for k, key in enumerate(traced)}
        functions = [read(found.function).digest for found in traced.values()]
        bodies = [(body.name, body.kind.name) for body in parts.bodies]
        traced_ones = parts.constraints + parts.forces
        elements = [(e.name, kinds[e.law.key], e.bodies, *e.law.shapes) for e in traced_ones]
        text = f"{functions} {bodies} {elements}"
        if parts.frictions:
            text += f" {[(x.constraint, read(x.function).digest) for x in parts.frictions]}"
        return hashlib.sha256(text.encode()).hexdigest()

    # --- joint coordinates ------------------------------------------------------------------------

    def joint_states_at(
        self, channel: JointChannel, q: FloatArray, v: FloatArray, t: FloatArray, p: FloatArray
    ) -> FloatArray:
        """(value, rate), or (sin, cos, rate), of a joint's element alone; last axis."""
        function = self.joint_channels.function(channel)
        (found,) = self._one(channel.element, channel.key, function, _flat(q, v, t), p)
        return found[0].reshape(*q.shape[:-1], -1)

    def active_rows(self, q: FloatArray, t: float, p: FloatArray) -> ActiveRows:
        """Which rows act; those that depend on others do not."""
        if self.parts.row_starts[-1] == 0 or self.rows_independent or self.parts.frictions:
            return ActiveRows(distinct=False)  # friction may look at the multiplier of any row
        program = self.block_program()
        limit = PIVOT_OF_MASSLESS if program.structure.singular else PIVOT
        alike = with_equal_masses(self.parts, p)

        def rows(q: FloatArray) -> FloatArray:
            return self.sparse_rows(q, np.zeros(len(self.velocities)), t, p)[2].toarray()

        return rows_without_pivot(program, q, t, alike, rows, limit)

    def sparse_rows(
        self, q: FloatArray, v: FloatArray, t: float, p: FloatArray
    ) -> tuple[FloatArray, FloatArray, Any]:
        """φ of positions, ψ of all constraints, and A by its entries, at one state."""
        from scipy.sparse import csr_array

        found = self.bulk.rows(*_flat(q, v, np.asarray(t)), p)
        shape = self.parts.row_starts[-1], len(self.velocities)
        A = csr_array((found.entries[0], (found.rows, found.columns)), shape=shape)
        A.sum_duplicates()
        return found.value[0], found.rate[0], A


def _flat(q: FloatArray, v: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """States as arrays of rows."""
    return (
        np.ascontiguousarray(q.reshape(-1, q.shape[-1])),
        np.ascontiguousarray(v.reshape(-1, v.shape[-1])),
        np.ascontiguousarray(np.asarray(t).reshape(-1)),
    )
