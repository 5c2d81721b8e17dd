"""Equilibria of large mechanisms by sparse matrices: descent on the constraint manifold.

A step minimizes the energy to second order along the constraints,

    [ K + μ D   Aᵀ ] [ s ]   [ Q ]
    [ A         −δ ] [ λ ] = [ 0 ]

with K the stiffness of the forces and of the reactions (the geometric stiffness, symmetrized), D
the diagonal of M and μ a damping that falls as long as steps lower the energy (Levenberg and
Marquardt). After a step the joints are closed again. The signs of the pivots of the same matrix
with μ = 0 count the directions in which the energy falls, which decides stability.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang.analysis.equations_of import EquationsOf
from zwang.analysis.sparse_terms import (
    DELTA,
    require_plain_joints,
    sparse_reactions,
    sparse_slopes,
    sparse_terms,
)
from zwang.analysis.time_dependence import changes_with_time
from zwang.caching import computed_once
from zwang.errors import NoEquilibriumError, NotApplicableError, UnknownNameError
from zwang.multibody.element_batches import Bulk
from zwang.state import State
from zwang.terms import FloatArray

if TYPE_CHECKING:
    from zwang.analysis.sparse_modes import SparseLinearization
    from zwang.results.run import Run
    from zwang.system import System

__all__ = ["SparseEquilibrium", "sparse_equilibrium"]

#: Share of all forces that rounding may leave at rest; of the last digits that a search looks for.
AT_REST = 1e-11
#: Steps at most, and halvings of the radius or of the damping in each.
STEPS, TRIES = 500, 30
#: Damping at first, in squares of a typical frequency.
FIRST_DAMPING = 1.0
#: Corrections that close the joints after a step, and the relative gap at which they are closed.
CORRECTIONS, CLOSED = 12, 1e-13
#: How much a turn [rad²] counts beside a shift [m²] where joints are closed.
TURNING = 1e-6
#: Displacement, relative to the size of the coordinates, beyond which nothing holds it.
FAR = 2e3
#: Stiffness, relative to the largest, that counts as none.
NEUTRAL = 1e-9


class _SparsePoint(NamedTuple):
    """Forces, rows and reactions at a configuration, and what is unbalanced, scaled."""

    q: FloatArray
    M: Any
    force: FloatArray
    A: Any
    lam: FloatArray
    left: FloatArray
    share: float


@dataclass(frozen=True)
class SparseEquilibrium:
    """A large mechanism at rest.

    Attributes
    ----------
    q : coordinates, shape (nq,).
    t : time [s] at which forces and drivers are taken.
    stability : ``"stable"``, ``"unstable"`` or ``"marginal"``; ``"undecided"`` where something
        changes with time.
    residual : force that is left, relative to all that act.
    method, steps : how it was found.
    notes : what else there is to know, as sentences.
    """

    q: FloatArray = field(repr=False)
    t: float
    stability: str
    residual: float
    method: str
    steps: int
    notes: tuple[str, ...]
    _equations: EquationsOf = field(repr=False)
    _point: _SparsePoint = field(repr=False)

    @property
    def system(self) -> System:
        """The system that is at rest."""
        return self._equations.system

    @property
    def v(self) -> FloatArray:
        """Velocities, all zero, shape (nv,)."""
        return np.zeros(self._equations.nv)

    @property
    def state(self) -> State:
        """The state, for `simulate` or `linearize`."""
        return State(self.q, self.v, self.t)

    @property
    def parameters(self) -> dict[str, Any] | None:
        """Values that replaced defaults."""
        return self._equations.parameters

    @property
    def linearization(self) -> SparseLinearization:
        """The linearized motion about it; see `zwang.System.linearize`."""
        found: Any = self.system.linearize(self.state, parameters=self.parameters)
        return found

    def multipliers(self, name: str) -> FloatArray:
        """λ of a joint, shape (rows,)."""
        groups = self.system.groups
        if name not in groups:
            raise UnknownNameError("constraint or joint", str(name), groups)
        return self._point.lam[groups[name]]

    def reaction(self, name: str) -> Any:
        """What a joint exerts, as `StaticReaction`; determinate where all rows are independent."""
        from zwang.analysis.statics import StaticReaction
        from zwang.multibody.wrench import joint_wrench

        rows, parts = self.multipliers(name), self._equations.parts
        generalized = self._point.A[self.system.groups[name]].T @ rows
        joint = parts.joints.get(name)
        if joint is None or joint.a is None or joint.b is None:
            return StaticReaction(name, generalized, self._independent)
        found = joint_wrench(parts, joint, generalized[None], self.q[None])
        return StaticReaction(
            name,
            generalized,
            self._independent,
            found.force[0],
            found.moment[0],
            found.point[0],
        )

    @computed_once
    def _independent(self) -> bool:
        """Whether no row depends on others, by the pivots of A M⁻¹Aᵀ."""
        return _rank_deficiency(self._point) == 0

    def as_run(self) -> Run:
        """The equilibrium as a run of one state, to be drawn: ``eq.as_run().view()``."""
        from zwang.analysis.mode_motion import still_run

        return still_run(self._equations, self.q, f"equilibrium, {self.stability}")

    def __str__(self) -> str:
        how = f"{self.stability}, found by {self.method} in {self.steps} steps"
        lines = [f"Equilibrium of a large mechanism, {how}."]
        lines.append(f"Forces balance to {self.residual:.1e} of all.")
        return "\n".join([*lines, *self.notes])


def sparse_equilibrium(
    equations: EquationsOf, start: Any, hold: Mapping[str, Any] | None, prefer: Any
) -> SparseEquilibrium:
    """A configuration at rest, searched without dense matrices; see `zwang.System.equilibrium`."""
    require_plain_joints("equilibrium of a large mechanism", equations)
    if hold:
        raise NotApplicableError(
            "equilibrium of a large mechanism",
            must="have no held coordinates beyond 300 velocities",
            but="some are given",
            advice="Hold them by drivers.",
        )
    system = equations.system
    found: Any = system.assemble(
        None, prefer, t=equations.t, parameters=equations.parameters, start=start
    )
    search = _Search(equations)
    at, steps = search.from_start(np.array(found.q, dtype=float))
    notes = []
    if _rank_deficiency(at):
        notes.append("Reactions are indeterminate; they are shared as stiffness by masses would.")
    stability = search.stability(at)
    changes = changes_with_time(equations, at.q, at.lam)
    notes += changes.notes_at_rest(stability)
    if changes.now:
        stability = "undecided"
    return SparseEquilibrium(
        at.q, equations.t, stability, at.share, "descent", steps, tuple(notes), equations, at
    )


class _Search:
    """Descent of the energy on the constraints, by sparse factors."""

    def __init__(self, equations: EquationsOf) -> None:
        self.equations, self.bulk = equations, Bulk(equations.parts)
        self._element: Any = equations.system.equations
        # Joints are closed by shifts as far as possible: turns were chosen by the step.
        turns = ["omega" in ending for body in equations.parts.bodies for ending in body.kind.v]
        self._mobility = np.where(turns, TURNING, 1.0)

    def from_start(self, q: FloatArray) -> tuple[_SparsePoint, int]:
        """The equilibrium that the energy falls to, and the number of steps."""
        at, size = self._at(q), self._size(q)
        V, mu, radius = self._energy(q), FIRST_DAMPING * self._typical(at), 0.5
        for count in range(STEPS):
            if at.share <= AT_REST:
                return at, count
            K = self._stiffness(at)
            for _ in range(TRIES):
                step = self._step(at, K, mu)
                if step is None:  # the energy is not convex along the constraints
                    mu *= 4.0
                    continue
                step *= min(1.0, radius / float(np.abs(step).max()))
                moved = self._closed(self._moved(at.q, step))
                if moved is not None:
                    there = self._energy(moved)
                    if self._is_lower(V, there, at, moved, step):
                        break
                radius, mu = 0.3 * min(radius, float(np.abs(step).max())), 2.0 * mu
            else:
                break
            at, V, mu, radius = self._at(moved), there, 0.2 * mu, 2.0 * radius
            if np.abs(at.q - q).max() > FAR * size:
                raise self._none(at, count, "nothing holds the motion")
        raise self._none(at, STEPS, "the search ended")

    def stability(self, at: _SparsePoint) -> str:
        """By the signs of the pivots: how many directions lower the energy, with and without ε."""
        K = self._stiffness(at)
        size = NEUTRAL * float(abs(K).max() if K.nnz else 1.0)
        more, fewer = (self._falling(at, K, x * size) for x in (-1.0, 1.0))
        if fewer:
            return "unstable"
        return "marginal" if more else "stable"

    # --- at a configuration -----------------------------------------------------------------------

    def _at(self, q: FloatArray) -> _SparsePoint:
        M, force, A = sparse_terms(self.equations, self.bulk, q)
        lam = sparse_reactions(M, A, force)
        left = force + A.T @ lam
        d = 1.0 / np.sqrt(_weights(M))
        size = float(np.linalg.norm(d * force))
        share = float(np.linalg.norm(d * left)) / size if size > 0.0 else 0.0
        return _SparsePoint(q, M, force, A, lam, left, share)

    def _energy(self, q: FloatArray) -> float:
        V = self.equations.energy(q)
        return 0.0 if V is None else V

    def _size(self, q: FloatArray) -> float:
        return max(1.0, float(np.abs(q).max()))

    def _typical(self, at: _SparsePoint) -> float:
        """A typical stiffness for a unit of mass [1/s²]: forces, over masses and a length."""
        d2 = 1.0 / _weights(at.M)
        rate = np.abs(at.force * d2)
        return float(rate.max(initial=0.0)) / self._size(at.q) or 1.0

    def _stiffness(self, at: _SparsePoint) -> Any:
        K, _ = sparse_slopes(self.equations, self.bulk, at.q, at.lam)
        return 0.5 * (K + K.T)

    # --- steps ------------------------------------------------------------------------------------

    def _factor(self, at: _SparsePoint, K: Any) -> tuple[Any, Any]:
        """The factor of [K Aᵀ; A −δ] without exchanges of rows, rows scaled to the size of K."""
        from scipy import sparse
        from scipy.sparse.linalg import splu

        m = at.A.shape[0]
        size = float(abs(K).max()) if K.nnz else 1.0
        lengths = np.sqrt((at.A**2).sum(axis=1))
        e = sparse.diags_array(size / np.maximum(lengths, 1e-300))
        rows = e @ at.A
        matrix: Any = sparse.block_array(
            [[K, rows.T], [rows, -DELTA * size * sparse.eye_array(m)]], format="csc"
        )
        return splu(matrix, diag_pivot_thresh=0.0, options={"SymmetricMode": True}), rows

    def _step(self, at: _SparsePoint, K: Any, mu: float) -> FloatArray | None:
        """s of the damped equations, if the energy is convex along the constraints."""
        from scipy import sparse

        n = len(at.force)
        try:
            damped = K + sparse.diags_array(mu * _weights(at.M))
            factor, _ = self._factor(at, damped)
        except RuntimeError:  # singular
            return None
        if np.count_nonzero(factor.U.diagonal() < 0.0) > at.A.shape[0]:
            return None
        step = factor.solve(np.concatenate([at.left, np.zeros(at.A.shape[0])]))[:n]
        if not np.isfinite(step).all() or not float(at.left @ step) > 0.0:
            return None
        return step

    def _moved(self, q: FloatArray, step: FloatArray) -> FloatArray:
        moved = q + self.bulk.rates(q, np.ascontiguousarray(step))
        return self.equations.on_unit_length(moved)

    def _closed(self, q: FloatArray) -> FloatArray | None:
        """The joints closed again, or None where they are not."""
        from scipy import sparse
        from scipy.sparse.linalg import splu

        zero, last = np.zeros(self.equations.nv), np.inf
        W = sparse.diags_array(self._mobility)
        for _ in range(CORRECTIONS):
            rows: Any = self._element.sparse_rows(q, zero, self.equations.t, self.equations.p)
            phi, _, A = rows
            gap = float(np.abs(phi).max(initial=0.0))
            if gap <= CLOSED * self._size(q):
                return q
            if not np.isfinite(gap) or gap > 4.0 * last:
                return None
            last = gap
            S = A @ W @ A.T
            e = sparse.diags_array(1.0 / np.sqrt(np.maximum(S.diagonal(), 1e-300)))
            S = e @ S @ e
            factor = splu((S + DELTA * sparse.eye_array(A.shape[0])).tocsc())
            y = factor.solve(e @ phi)
            y = y + factor.solve(e @ phi - S @ y)
            q = self._moved(q, -(W @ (A.T @ (e @ y))))
        return q if last <= 1e3 * CLOSED * self._size(q) else None

    def _is_lower(
        self, V: float, there: float, at: _SparsePoint, moved: FloatArray, step: FloatArray
    ) -> bool:
        if there <= V - 1e-4 * float(at.left @ step):
            return True
        rounding = 1e-13 * (abs(V) + abs(there) + float(np.abs(at.force).sum()))
        return there <= V + rounding and self._at(moved).share < 0.9 * at.share

    def _falling(self, at: _SparsePoint, K: Any, shift: float) -> int:
        """How many directions of K + shift, along the constraints, lower the energy."""
        from scipy import sparse

        weights = _weights(at.M)
        scaled = shift * weights / float(weights.max())
        try:
            factor, rows = self._factor(at, K + sparse.diags_array(scaled))
        except RuntimeError:
            return 1
        negative = int(np.count_nonzero(factor.U.diagonal() < 0.0))
        return negative - rows.shape[0]

    def _none(self, at: _SparsePoint, steps: int, how: str) -> NoEquilibriumError:
        k = int(np.abs(at.left / np.sqrt(_weights(at.M))).argmax())
        name = self.equations.system.velocities[k]
        return NoEquilibriumError(
            "equilibrium of a large mechanism",
            direction=at.left,
            must="be a configuration in which all forces balance",
            but=f"{how} after {steps} steps: {name} is driven by {at.left[k]:.6g} "
            f"({at.share:.1e} of all forces)",
            advice="Support it by a joint or a spring, or give a start nearer to it.",
        )


def _weights(M: Any) -> FloatArray:
    """The diagonal of M, without zeros."""
    diagonal = M.diagonal()
    return np.maximum(diagonal, 1e-6 * float(diagonal.mean()))


def _rank_deficiency(at: _SparsePoint) -> int:
    """How many rows depend on others: pivots of the scaled A M⁻¹Aᵀ that are regularization."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    m = at.A.shape[0]
    if not m:
        return 0
    W = sparse.diags_array(1.0 / _weights(at.M))
    S = at.A @ W @ at.A.T
    e = sparse.diags_array(1.0 / np.sqrt(np.maximum(S.diagonal(), 1e-300)))
    matrix: Any = (e @ S @ e + DELTA * sparse.eye_array(m)).tocsc()
    factor = splu(matrix, diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return int(np.count_nonzero(np.abs(factor.U.diagonal()) < 1e5 * DELTA))
