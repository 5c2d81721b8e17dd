"""The control force that keeps servo constraints exactly (Udwadia & Kalaba 1996, conclusion).

Physical constraints and programmed ones are rows of the same kind, but not of the same origin: the
physical reaction comes by itself and costs nothing, the control force u must be supplied.

    M v̇ = Q + C + A_pᵀ λ + u,      A_p v̇ = b_p,      A_c v̇ = b_c

leaves u open by whatever the reaction takes up and whatever the program does not ask for; of all
such u the one with the least uᵀ W u is given. With a basis N of the motions that all rows leave
free, and P of the displacements w with A_p w = 0 that are at right angles to them (NᵀM w = 0),

    u is a control  ⟺  Pᵀ u = Pᵀ (M A⁺b − Q − C)

and u = W⁻¹P (Pᵀ W⁻¹ P)⁻¹ Pᵀ(…). For W = M⁻¹, Nature's own choice, no matrix is inverted but PᵀMP,
M may be singular, and v̇ is that of the system with the program as ideal constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zwang.display import Displayed
from zwang.errors import InconsistentConstraintsError, InputError, UnreachableError
from zwang.linalg.rank import AT_A_STATE, DEFAULT_TOLERANCES, pinv, svd
from zwang.linalg.scaling import ScaledTerms
from zwang.solvers.dense import solve_terms
from zwang.terms import EquationTerms, FloatArray
from zwang.tracing.nonideal import NonidealLaw, agreeing_reactions

__all__ = ["Control", "ControlForce", "control_forces"]


@dataclass(frozen=True, repr=False)
class ControlForce(Displayed):
    """What it takes to follow a program, at one state or at many.

    Attributes
    ----------
    force : the control force u, shape (…, n).
    acceleration : v̇ of the controlled system, shape (…, n).
    reaction : force of the physical constraints, A_pᵀ λ + C, shape (…, n).
    multipliers : λ of the physical rows, shape (…, m).
    cost : uᵀ W u, or τᵀ W τ where actuators have their own weight, shape (…).
    actuation : τ with u = B τ, shape (…, k), or None when every force is available.
    error : φ of the program's position rows, shape (…, mp); zero on the program.
    error_rate : φ̇ and ψ of its position and velocity rows, shape (…, mv).
    error_names, rate_names : the names of these rows.
    notes : sentences on anything unusual.
    """

    force: FloatArray
    acceleration: FloatArray
    reaction: FloatArray
    multipliers: FloatArray
    cost: FloatArray
    actuation: FloatArray | None
    error: FloatArray
    error_rate: FloatArray
    error_names: tuple[str, ...]
    rate_names: tuple[str, ...]
    notes: tuple[str, ...] = ()


class Control(NamedTuple):
    """Control, motion and reaction of one state."""

    force: FloatArray
    acceleration: FloatArray
    reaction: FloatArray
    multipliers: FloatArray
    cost: float
    actuation: FloatArray | None


def control_forces(
    terms: EquationTerms,
    program: Sequence[int],
    weights: Callable[[int], FloatArray | None],
    actuators: Callable[[int], FloatArray | None],
    laws: Callable[[int], NonidealLaw] | None,
) -> list[Control]:
    """The controls of all states of a batch, in order.

    Parameters
    ----------
    terms : of physical and programmed rows together, without laws that depend on the reaction.
    program : numbers of the programmed rows.
    weights, actuators, laws : of the state with a number; no laws if C does not depend on λ.
    """
    batch = terms.batch_shape
    result = []
    for i in range(int(np.prod(batch, dtype=int))):
        place = tuple(int(k) for k in np.unravel_index(i, batch)) if batch else ()
        one = terms.system(place) if batch else terms
        try:
            task = Task(one, program, weights(i), actuators(i))
            result.append(task.solve() if laws is None else task.solve_with(laws(i)))
        except (InconsistentConstraintsError, UnreachableError) as error:
            raise (error.in_batch("state", batch, i) if batch else error) from None
    return result


class Task:
    """One state: which controls are possible, and the cheapest.

    In scaled terms (`ScaledTerms`), where forces are D u.
    """

    def __init__(
        self,
        terms: EquationTerms,
        program: Sequence[int],
        weight: FloatArray | None,
        actuators: FloatArray | None,
    ) -> None:
        self.terms, self.weight, self.actuators = terms, weight, actuators
        self.program = list(program)
        self.physical = [i for i in range(terms.constraint_count) if i not in set(program)]
        self._require_possible()
        self.whole = ScaledTerms.of(terms)
        self.own = ScaledTerms.of(self._physical_terms(terms.total_force))
        d = self.scale = self.whole.velocity_scale
        scaled = self.whole.scaled
        self.A_p = scaled.constraint_matrix[self.physical]
        self.M = scaled.mass_matrix
        N = self.whole.geometry.null_space
        # P spans N(Fᵀ), F = [M N, A_pᵀ]; its size is what the program adds to the rank.
        count = self.whole.geometry.rank - self.own.geometry.rank
        F = np.hstack([self.M @ N, self.A_p.T])
        U, _, _ = svd(F)
        self.P = U[:, U.shape[1] - count :]
        self.normal = self.M @ self.whole.geometry.least_norm(scaled.constraint_rhs)
        self.B = None if actuators is None else d[:, None] * actuators
        self.W = self._weight()

    def _physical_terms(self, force: FloatArray) -> EquationTerms:
        terms, rows = self.terms, self.physical
        return EquationTerms(
            terms.mass_matrix,
            force,
            terms.constraint_matrix[rows],
            terms.constraint_rhs[rows],
            np.zeros(terms.coordinate_count),
            tuple(terms.name(i) for i in rows),
            terms.coordinates,
        )

    def _require_possible(self) -> None:
        """A motion that satisfies all rows exists and is unique; else an error by name."""
        try:
            solve_terms(self.terms)
        except InconsistentConstraintsError as error:
            mine = [self.terms.name(i) for i in error.rows if i in set(self.program)]
            if not mine:
                raise
            others = [self.terms.name(i) for i in error.rows if i not in set(self.program)]
            against = f"physical constraint {_listed(others)}" if others else "itself"
            raise InconsistentConstraintsError(
                f"program {_listed(mine)}",
                rows=error.rows,
                names=error.names,
                must="be a motion that the system can follow",
                but=f"contradicts {against}",
                advice="Remove one of these, or prescribe a motion that is physically possible.",
            ) from error

    def _weight(self) -> FloatArray | None:
        """The weight of scaled forces or of τ, factored checks done; None for M⁻¹ on all forces."""
        W = self.weight
        if W is not None:
            symmetric = 0.5 * (W + W.T)
            unit = np.sqrt(np.abs(np.diagonal(symmetric)))
            unit = np.where(unit > 0.0, unit, 1.0)
            smallest = np.linalg.eigvalsh(symmetric / unit / unit[:, None])[0]
            if np.max(np.abs(W - W.T)) > 1e-10 * np.max(np.abs(W)) or not smallest > 1e-14:
                raise InputError(
                    "weight of the control", expected="a symmetric positive definite matrix"
                )
            return symmetric if self.B is not None else symmetric / self.scale / self.scale[:, None]
        if self.B is None:
            if not self.own.unique:
                raise InputError(
                    "weight of the control",
                    must="be given where only the program supplies mass or constraint, as M⁻¹ "
                    "does not exist there",
                )
            return None
        if not self.whole.positive_definite:
            raise InputError(
                "weight of the actuators",
                must="be given where the mass matrix is singular, as M⁻¹ does not exist",
            )
        return self.B.T @ np.linalg.solve(self.M, self.B)

    def solve(self, C: FloatArray | None = None) -> Control:
        """The cheapest control, under the non-ideal force of the terms or another."""
        C = self.terms.nonideal_force if C is None else C
        applied = self.terms.applied_force + C
        needed = self.P.T @ (self.normal - self.scale * applied)
        tau = None
        if self.B is None:
            u, cost = self._cheapest(needed)
        else:
            tau, cost = self._cheapest_actuation(needed)
            u = self.B @ tau
        force = u / self.scale
        acceleration, reaction, multipliers = self._motion(applied + force, u, applied)
        return Control(force, acceleration, reaction + C, multipliers, cost, tau)

    def _cheapest(self, needed: FloatArray) -> tuple[FloatArray, float]:
        P = self.P
        spread = self.M @ P if self.W is None else np.linalg.solve(self.W, P)  # W⁻¹ P
        y = np.linalg.solve(P.T @ spread, needed)
        return spread @ y, float(needed @ y)

    def _cheapest_actuation(self, needed: FloatArray) -> tuple[FloatArray, float]:
        # X τ = needed has the solutions X⁺ needed + Z y; the cost may be singular along Z.
        assert self.B is not None
        assert self.W is not None
        unit = np.linalg.norm(self.B, axis=0)
        unit = np.where(unit > 0.0, 1.0 / unit, 1.0)
        X, R = self.P.T @ self.B * unit, self.W * unit * unit[:, None]
        X_pinv = pinv(X)
        tau = X_pinv @ needed
        missed = needed - X @ tau
        size = np.linalg.norm(needed) + np.linalg.norm(self.P.T @ self.normal)
        if np.linalg.norm(missed) > AT_A_STATE * size:
            raise self._unreachable(missed)
        _, s, Vt = svd(X)
        rank = int(np.sum(s > DEFAULT_TOLERANCES.rank * np.max(s, initial=0.0)))
        Z = Vt[rank:].T
        if Z.shape[1]:
            # What costs nothing against R itself stays as it is; its inverse would be of rounding.
            values, vectors = np.linalg.eigh(Z.T @ R @ Z)
            costly = values > DEFAULT_TOLERANCES.rank * np.linalg.norm(R)
            V = Z @ vectors[:, costly]
            tau = tau - V @ ((V.T @ (R @ tau)) / values[costly])
        return tau * unit, float(tau @ R @ tau)

    def _unreachable(self, missed: FloatArray) -> UnreachableError:
        """Bᵀw = 0 for w = P · missed: no actuator does work along it, yet the program needs it."""
        w = self.P @ missed
        moved = np.abs(self.whole.scaled.constraint_matrix[self.program] @ w)
        names = [
            self.terms.name(row)
            for row, part in zip(self.program, moved, strict=True)
            if part > 1e-6 * np.max(moved)
        ]
        direction = self.scale * w
        direction = direction / np.max(np.abs(direction))
        moving = [
            f"{self.terms.coordinate(j)} {part:+.3g}"
            for j, part in enumerate(direction)
            if abs(part) > 1e-6
        ]
        return UnreachableError(
            f"program {_listed(names)}",
            names=names,
            direction=direction,
            must="be within reach of the actuators",
            but=f"no actuator does work along the displacement it requires ({', '.join(moving)})",
        )

    def _motion(
        self, force: FloatArray, u: FloatArray, applied: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """v̇, A_pᵀ λ and λ under applied force and control."""
        if self.own.unique:
            s = solve_terms(self._physical_terms(force))
            return s.acceleration, s.constraint_force, s.multipliers
        # Only physical and programmed rows together fix v̇: M N z − A_pᵀ λ = applied + u − M A⁺b.
        N = self.whole.geometry.null_space
        right = self.scale * applied + u - self.normal
        x = np.linalg.lstsq(np.hstack([self.M @ N, -self.A_p.T]), right)[0]
        z, lam = x[: N.shape[1]], x[N.shape[1] :]
        scaled = self.whole.geometry.least_norm(self.whole.scaled.constraint_rhs) + N @ z
        reaction = (lam @ self.A_p) / self.scale
        return self.scale * scaled, reaction, self.whole.row_scale[self.physical] * lam

    def solve_with(self, law: NonidealLaw) -> Control:
        """The same where C depends on the physical reaction, which depends on the control."""
        # λ is linear in C for the cheapest control too; see `zwang.tracing.nonideal`.
        n, m = self.terms.coordinate_count, self.terms.constraint_count
        none = np.zeros(n)

        def multipliers(C: FloatArray) -> FloatArray:
            lam = np.zeros(m)
            lam[self.physical] = self.solve(C).multipliers
            return lam

        ideal = multipliers(none)
        unit = max(1.0, float(np.max(np.abs(self.terms.applied_force))))
        columns = [(multipliers(unit * e) - ideal) / unit for e in np.eye(n)]
        return self.solve(agreeing_reactions(law, ideal, np.array(columns).T).only(law))


def _listed(names: Sequence[str]) -> str:
    return " and ".join(repr(name) for name in names)
