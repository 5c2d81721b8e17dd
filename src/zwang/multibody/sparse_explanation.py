"""Multibody diagnosis of large mechanisms with sparse matrices: mobility, redundancy, reactions.

The answers of `zwang.explain` and `zwang.passport`, from sparse matrices. Of the rows of A only
those in some dependency, the support of N(Aᵀ), are looked at as dense matrices; the redundancy of a
set of joints follows from the basis Z of N(Aᵀ): dependencies of its rows R alone are those
combinations of Z that vanish outside R, as many as there are singular values 1 of Z_R.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from zwang.caching import computed_once
from zwang.diagnosis.circuits import SUPPORT_TOLERANCE, reduced_basis
from zwang.diagnosis.determinate import dependencies, regularised, unit_rows
from zwang.diagnosis.explain import explain_terms
from zwang.diagnosis.explanation import Contradiction, DependentGroup
from zwang.diagnosis.passport import GroupPassport, Passport, Status
from zwang.diagnosis.wording import tidy
from zwang.linalg.least_change import least_change
from zwang.linalg.rank import DEFAULT_TOLERANCES
from zwang.multibody.connections import bodies_in_words, connections
from zwang.multibody.explanation import (
    JointSet,
    MechanismExplanation,
    in_bodies,
    joined,
    motions,
    without_inertia,
)
from zwang.multibody.frozen import Parts
from zwang.multibody.graph import loops
from zwang.multibody.motion_words import joint_rates
from zwang.multibody.unknown_tooth_forces import UNTOLD, untold_joints
from zwang.terms import EquationTerms, FloatArray

__all__ = ["SparseDiagnosis"]

#: Rows of unit dependencies below this take no part in them; the basis is good to 1e-11 or so.
NO_PART = 1e-8
#: Dependent rows of which groups and contradictions are looked for, densely.
DEPENDENT_ROWS = 600
#: Degrees of freedom up to which all are computed, and motions listed of more.
FREEDOMS = 150
TOLD = 12
#: A dependency of the whole lies in some rows when its part outside has less than this length.
OUTSIDE = 1e-6
#: Motions led by one joint must have the rates asked for to this.
LED = 1e-6


@dataclass(frozen=True)
class SparseDiagnosis:
    """Sparse terms of a mechanism at a state, and what follows from them.

    Attributes
    ----------
    parts : the mechanism.
    q : coordinates, shape (nq,).
    terms : M, Q, A, b, C with sparse M and A.
    independent : whether no rows can depend on others, as in trees.
    """

    parts: Parts
    q: FloatArray
    terms: EquationTerms
    independent: bool

    @computed_once
    def _scaled(self) -> tuple[Any, FloatArray]:
        return unit_rows(self.terms.mass_matrix, self.terms.constraint_matrix)

    @computed_once
    def dependencies(self) -> FloatArray:
        """Orthonormal basis of N(Sᵀ), for A with rows of unit length, shape (m, k)."""
        S, _ = self._scaled
        Z = np.zeros((S.shape[0], 0)) if self.independent or not S.shape[0] else dependencies(S)
        Z[np.linalg.norm(Z, axis=1) <= NO_PART] = 0.0
        return Z

    @property
    def rank(self) -> int:
        """Of A."""
        return self.terms.constraint_count - self.dependencies.shape[1]

    @computed_once
    def mass_rank(self) -> int:
        """Of M, body by body."""
        M: Any = self.terms.mass_matrix
        _, starts = self.parts.places
        blocks = [M[a:b, a:b].toarray() for a, b in pairwise(starts)]
        return sum(
            int(np.linalg.matrix_rank(block, tol=DEFAULT_TOLERANCES.rank * np.abs(block).max()))
            for block in blocks
            if block.any()
        )

    def least(self, multipliers: FloatArray) -> FloatArray:
        """The multipliers of least norm that give the same forces."""
        _, length = self._scaled
        Z = np.linalg.qr(self.dependencies / length[:, None]).Q
        for _ in range(2):
            multipliers = multipliers - Z @ (Z.T @ multipliers)
        return multipliers

    # --- explain ----------------------------------------------------------------------------------

    def explanation(self, undetermined: FloatArray) -> MechanismExplanation:
        """The diagnosis; of many degrees of freedom only the first are in it.

        Parameters
        ----------
        undetermined : basis of the motions with neither mass nor constraint, shape (nv, k).
        """
        terms, parts = self.terms, self.parts
        n = terms.coordinate_count
        groups, contradictions, complete = self._dependent()
        unique = undetermined.shape[1] == 0
        owners = [parts.owner(name.split("[")[0]) for name in terms.names]
        acting = [j for j in parts.joints.values() if j.name in self._rows_of_joints]
        freedoms, said = self._motions(n - self.rank)
        named = [tuple(dict.fromkeys(owners[i] for i in g.rows)) for g in groups]
        conflicts = [
            tuple(dict.fromkeys(parts.described(owners[i]) for i in c.rows))
            for c in contradictions or ()
        ]
        return MechanismExplanation(
            coordinates=terms.coordinates,
            names=terms.names,
            ranks={"A": self.rank, "M": self.mass_rank, "[M; A]": n - undetermined.shape[1]},
            dependent_groups=groups,
            groups_complete=complete,
            contradictions=contradictions,
            freedoms=freedoms,
            undetermined=undetermined,
            semidefinite=True,  # masses and tensors of bodies are checked when they are given
            uniqueness_tests={"rank [M; A] = n": unique},
            exists=unique and not contradictions,
            notes=(*terms.notes, *(f"{j.name} {UNTOLD}" for j in untold_joints(parts))),
            bodies=tuple(b.name for b in parts.bodies),
            bodies_counted=bodies_in_words(b.kind for b in parts.bodies),
            joints=tuple(j.name for j in acting),
            connections=connections(acting),
            loops=tuple(self._set(loop, loop=True) for loop in loops(acting)),
            dependent_joints=tuple(self._set(group, loop=False) for group in joined(named)),
            motions=tuple(said),
            undetermined_motions=tuple(in_bodies(parts, self.q, d) for d in undetermined.T),
            conflicts=tuple(dict.fromkeys(conflicts)),
            without_inertia=without_inertia(parts, terms.mass_matrix.diagonal()),
        )

    @computed_once
    def _rows_of_joints(self) -> dict[str, list[int]]:
        rows: dict[str, list[int]] = {}
        for i, name in enumerate(self.terms.names):
            rows.setdefault(name.split("[")[0], []).append(i)
        return rows

    def _set(self, joints: tuple[str, ...], *, loop: bool) -> JointSet:
        """Degrees of freedom and redundant equations of some joints by themselves."""
        members = [self.parts.joints[name] for name in joints]
        rows = [i for j in members for i in self._rows_of_joints.get(j.name, ())]
        bodies = {b for j in members for b in j.bodies}
        columns = sum(self.parts.bodies[b].kind.nv for b in bodies if b >= 0)
        redundancy = 0
        if self.dependencies.shape[1]:
            within = np.linalg.svd(self.dependencies[rows], compute_uv=False)
            redundancy = int(np.sum(within > np.sqrt(1.0 - OUTSIDE**2)))
        rigid = 0 if -1 in bodies else {3: 3, 6: 6}.get(self.parts.kind.nv, 0)
        freedoms = columns - (len(rows) - redundancy) - rigid
        return JointSet(joints, max(0, freedoms), redundancy, loop)

    def _dependent(
        self,
    ) -> tuple[tuple[DependentGroup, ...], tuple[Contradiction, ...] | None, bool]:
        """Dependent groups, contradictions (None if not looked for), and whether all are listed."""
        Z, terms = self.dependencies, self.terms
        if not Z.shape[1]:
            return (), (), True
        rows = np.flatnonzero(Z.any(axis=1))
        if len(rows) > DEPENDENT_ROWS:
            _, length = self._scaled
            reduced, _ = reduced_basis(Z[rows], SUPPORT_TOLERANCE)
            groups = []
            for c in reduced:
                own = rows[c != 0.0]
                weights = tidy(c[c != 0.0] / length[own])
                named = tuple(terms.name(int(i)) for i in own)
                groups.append(DependentGroup(tuple(own.tolist()), named, weights))
            return tuple(groups), None, False
        A: Any = terms.constraint_matrix[rows]
        M: Any = terms.mass_matrix
        columns = np.unique(A.nonzero()[1])
        part = EquationTerms.of(
            M[columns][:, columns].toarray(),
            terms.applied_force[columns],
            A[:, columns].toarray(),
            terms.constraint_rhs[rows],
            names=[terms.name(int(i)) for i in rows],
            coordinates=[terms.coordinate(int(j)) for j in columns],
        )
        part = replace(part, at_state=terms.at_state)
        if terms.rhs_rounding is not None:
            part = replace(part, rhs_rounding=terms.rhs_rounding[rows])
        found = explain_terms(part)
        told = found.dependent_groups
        groups = tuple(replace(g, rows=tuple(int(rows[i]) for i in g.rows)) for g in told)
        clashes = found.contradictions or ()
        contradictions = tuple(
            replace(c, rows=tuple(int(rows[i]) for i in c.rows)) for c in clashes
        )
        return groups, contradictions, found.groups_complete

    def _motions(self, count: int) -> tuple[FloatArray, list[str]]:
        """Degrees of freedom and words for them: all, or of more than `FREEDOMS` the first."""
        n = self.terms.coordinate_count
        if not count:
            return np.zeros((n, 0)), []
        rates = joint_rates(self.parts, self.q)
        if count > FREEDOMS and len(rates.names) == count:
            led = self._led_by_joints(rates)
            if led is not None:
                return motions(self.parts, self.q, led)
        return motions(self.parts, self.q, self._allowed(count, rates))

    def _rate_matrix(self, rates: Any) -> Any:
        from scipy.sparse import csr_array

        shape = len(rates.names), self.terms.coordinate_count
        return csr_array((rates.entries, (rates.rows, rates.columns)), shape=shape)

    def _led_by_joints(self, rates: Any) -> FloatArray | None:
        """The motion of each of the first joints, all others at rest, if joints distinguish all."""
        from scipy.sparse import vstack

        J = self._rate_matrix(rates)
        B: Any = vstack([self.terms.constraint_matrix, J], format="csr")
        wanted = np.zeros((B.shape[0], TOLD))
        wanted[self.terms.constraint_count + np.arange(TOLD), np.arange(TOLD)] = 1.0
        V = np.zeros((B.shape[1], TOLD))
        for _ in range(3):  # each correction removes all but about 1e-8 of the residual
            V = V + least_change(B, wanted - B @ V, np.ones(B.shape[1]))
        return V if np.abs(B @ V - wanted).max() < LED else None

    def _allowed(self, count: int, rates: Any) -> FloatArray:
        """Independent motions in N(A): all of few, else those nearest to the first joints' own."""
        S, _ = self._scaled
        m, n = S.shape
        mass = self.terms.mass_matrix.diagonal()
        D = 1.0 / np.sqrt(np.where(mass > 0.0, mass, 1.0))
        if count <= FREEDOMS:
            ways = np.random.default_rng(0).standard_normal((n, count))
        else:
            first = self._rate_matrix(rates)[: 2 * TOLD].toarray().T
            ways = np.column_stack([first, np.eye(n, 2 * TOLD)])
        if m:
            solve, right = regularised(S), np.zeros((n + m, ways.shape[1]))
            for _ in range(2):
                right[:n] = ways
                ways = solve(right)[:n]
        left, values, _ = np.linalg.svd(ways, full_matrices=False)
        kept = left[:, values > DEFAULT_TOLERANCES.rank * values.max(initial=0.0)]
        return D[:, None] * kept[:, : count if count <= FREEDOMS else TOLD]

    # --- passport ---------------------------------------------------------------------------------

    def passport(
        self,
        acceleration: FloatArray,
        multipliers: FloatArray,
        groups: Mapping[str, Sequence[int]],
    ) -> Passport:
        """Determinacy of each multiplier and of each group's force, for the least multipliers."""
        terms, (_, length) = self.terms, self._scaled
        A: Any = terms.constraint_matrix
        fixed = np.logical_not(self.dependencies.any(axis=1))
        circuits = np.zeros_like(self.dependencies)
        if circuits.shape[1]:
            used = np.flatnonzero(~fixed)
            reduced, _ = reduced_basis(self.dependencies[used], SUPPORT_TOLERANCE)
            circuits[used] = np.array([tidy(row / length[used]) for row in reduced]).T
        return Passport(
            names=terms.names,
            coordinates=terms.coordinates,
            multipliers=multipliers,
            basis=circuits,
            statuses=tuple(Status.DETERMINATE if f else Status.INDETERMINATE for f in fixed),
            groups={
                name: self._group(name, list(rows), multipliers, circuits)
                for name, rows in groups.items()
            },
            acceleration=acceleration,
            ideal_force=A.T @ multipliers,
        )

    def _group(
        self, name: str, rows: list[int], multipliers: FloatArray, circuits: FloatArray
    ) -> GroupPassport:
        """The force of one group, in the velocities that its rows act on."""
        S, _ = self._scaled
        A: Any = self.terms.constraint_matrix[rows]
        n, k = self.terms.coordinate_count, circuits.shape[1]
        columns = np.unique(A.nonzero()[1])
        own, scaled = A[:, columns].toarray(), S[rows][:, columns].toarray()
        share = scaled.T @ self.dependencies[rows]
        force, basis = np.zeros(n), np.zeros((n, k))
        force[columns] = own.T @ multipliers[rows]
        known = np.ones(n, dtype=bool)
        known[columns] = np.linalg.norm(share, axis=1) <= NO_PART
        left, values, _ = np.linalg.svd(share, full_matrices=False)
        undecided = int(np.sum(values > NO_PART))
        acting = np.linalg.svd(scaled.T, full_matrices=False)
        rank = int(np.sum(acting[1] > DEFAULT_TOLERANCES.rank * acting[1].max(initial=0.0)))
        status = Status.DETERMINATE
        if undecided:
            status = Status.PARTLY if undecided < rank else Status.INDETERMINATE
            basis[columns] = own.T @ circuits[rows]
            basis[known] = 0.0
        # Scaled forces are D times the given ones; both subspaces are transformed.
        mass = self.terms.mass_matrix.diagonal()[columns]
        root = np.sqrt(np.where(mass > 0.0, mass, 1.0))[:, None]
        sure = np.linalg.qr(acting[0][:, :rank] * root).Q
        if undecided:
            within = sure.T @ np.linalg.qr(left[:, :undecided] * root).Q
            sure = sure @ np.linalg.qr(within, mode="complete").Q[:, undecided:]
        directions = np.zeros((n, sure.shape[1]))
        directions[columns] = sure
        return GroupPassport(name, tuple(rows), status, force, basis, known, directions)
