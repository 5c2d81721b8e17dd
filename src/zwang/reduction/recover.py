"""Reduction: all variables and reactions from the independent ones, as numbers, and the reverse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.assembly.branches import spread
from zwang.assembly.nearest import restore
from zwang.assembly.points import ConditionPoint, Metric, PointConditions
from zwang.assembly.request import generic_values
from zwang.errors import InputError, UnknownNameError
from zwang.linalg.products import matvec, transpose, transpose_matvec
from zwang.linalg.rank import pinv_of_rank
from zwang.linalg.scaling import ScaledTerms
from zwang.terms import EquationTerms, FloatArray

__all__ = ["Lifted", "Recovered", "recover", "solve_map"]

#: Starts tried to find independent coordinates of a given configuration.
ATTEMPTS = 32

#: A state lies on the image of the map when it is met to this fraction of its size.
ON_MAP = 1e-9


@dataclass(frozen=True)
class Lifted:
    """All variables at a state of the independent ones.

    Attributes
    ----------
    q, v, t : the state, shapes (…, nq), (…, nv) and (…).
    partial_velocities : Dᵀ = ∂v/∂u, shape (…, nv, k).
    bias : a_u with v̇ = Dᵀ u̇ + a_u, shape (…, nv).
    """

    q: FloatArray
    v: FloatArray
    t: FloatArray
    partial_velocities: FloatArray
    bias: FloatArray

    def acceleration(self, u_dot: FloatArray) -> FloatArray:
        """v̇ = Dᵀ u̇ + a_u (4.5), (5.5), shape (…, nv)."""
        return matvec(self.partial_velocities, u_dot) + self.bias


@dataclass(frozen=True)
class Recovered:
    """Motion and reactions of the system with all its variables. Unpacks as ``q, v = …``.

    Attributes
    ----------
    q, v, t : the state.
    acceleration : v̇, shape (…, nv).
    constraint_force : Q_c = M v̇ − Q, shape (…, nv).
    multipliers : λ of all its constraint rows, of least norm, shape (…, m).
    implied_force : the part of Q_c that none of its constraints explains; zero unless the map
        restricts the motion by more than the constraints do. Shape (…, nv).
    terms : of that system at that state.
    groups : constraint → its row numbers.
    """

    q: FloatArray
    v: FloatArray
    t: FloatArray
    acceleration: FloatArray
    constraint_force: FloatArray
    multipliers: FloatArray
    implied_force: FloatArray
    terms: EquationTerms
    groups: dict[str, list[int]]

    def __iter__(self) -> Iterator[FloatArray]:
        return iter((self.q, self.v))

    def reaction(self, name: str) -> FloatArray:
        """A_gᵀ λ_g, the ideal force of one constraint (3.7), shape (…, nv)."""
        if name not in self.groups:
            raise UnknownNameError("constraint", name, self.groups)
        rows = self.groups[name]
        A = self.terms.constraint_matrix[..., rows, :]
        return transpose_matvec(A, self.multipliers[..., rows])


def recover(
    q: FloatArray,
    v: FloatArray,
    t: FloatArray,
    acceleration: FloatArray,
    terms: EquationTerms,
    groups: dict[str, list[int]],
) -> Recovered:
    """Reactions from the balance of forces, Aᵀλ = M v̇ − Q − C (2.8a)."""
    force = matvec(terms.mass_matrix, acceleration) - terms.applied_force
    ideal = force - terms.nonideal_force
    system = ScaledTerms.of(terms)
    d = system.velocity_scale.reshape(ideal.shape)
    A, f = terms.constraint_matrix * d[..., None, :], ideal * d
    count = int(np.prod(terms.batch_shape))
    flat_A, flat_f = A.reshape(count, *A.shape[-2:]), f.reshape(count, f.shape[-1])
    lam = np.zeros((count, terms.constraint_count))
    for rank in np.unique(system.constraint_ranks):
        i = np.flatnonzero(np.ravel(system.constraint_ranks) == rank)
        inverse = pinv_of_rank(transpose(flat_A[i]), int(rank))
        lam[i] = matvec(inverse, flat_f[i])
        lam[i] += matvec(inverse, flat_f[i] - transpose_matvec(flat_A[i], lam[i]))
    lam = lam.reshape(*terms.batch_shape, terms.constraint_count)
    rest = ideal - transpose_matvec(terms.constraint_matrix, lam)
    size = np.abs(ideal).max(axis=-1, keepdims=True, initial=0.0)
    rest = np.where(np.abs(rest) > ON_MAP * size, rest, 0.0)
    return Recovered(q, v, t, acceleration, force, lam, rest, terms, groups)


def solve_map(
    what: str,
    at: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    wanted: FloatArray,
    count: int,
    start: Any,
) -> FloatArray:
    """The x with f(x) = wanted, by Gauss–Newton from one or several starts, shape (count,).

    Parameters
    ----------
    at : x → f(x), shape (m,), and its derivative, shape (m, count).
    """
    size = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))

    def point(x: FloatArray) -> ConditionPoint:
        value, slope = at(x)
        limit = np.full(len(value), 1e-14 * size)
        return ConditionPoint(x, value - wanted, slope, limit, np.linalg.norm(slope, axis=1))

    conditions = PointConditions(point, lambda x, _: np.zeros((len(x), len(x))))
    starts = [generic_values(count)] if start is None else [np.asarray(start, dtype=float)]
    starts += [(1.0 + turn % 3) * spread(turn, count) for turn in range(ATTEMPTS)]
    best: ConditionPoint | None = None
    for x in starts:
        end, _ = restore(conditions, x, Metric.of(np.eye(count)), iterations=60)
        if end.finite and (best is None or np.abs(end.value).max() < np.abs(best.value).max()):
            best = end
        if best is not None and np.abs(best.value).max(initial=0.0) <= ON_MAP * size:
            return best.x
    left = "no finite value" if best is None else f"a difference of {np.abs(best.value).max():.3g}"
    raise InputError(
        what,
        must="satisfy the constraints",
        but=f"no independent values give it; the nearest leave {left}",
    )
