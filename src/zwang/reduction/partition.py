"""Reduction by coordinate partitioning: independent velocities chosen among those there are.

At a state, the velocities that the linear constraints A v + η = 0 allow form the space N(A), of
dimension k. With an orthonormal basis Z of it (velocities measured by their masses), the k
velocities u = v_i are independent when the rows Z_i are; how well, the smallest singular value of
Z_i decides: 1 if the allowed motions are motions of v_i alone, 0 if some allowed motion leaves all
v_i at rest. The others follow from as many independent rows,

    v_d = −A_d⁻¹ (A_i u + η)

as an expression, so that the equations hold wherever A_d stays invertible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import InputError, UnknownNameError
from zwang.linalg.rank import equilibrate, nullspace
from zwang.reduction.lift import Lift, velocity_lift_of
from zwang.terms import FloatArray
from zwang.tracing.differentiate import depends_on, jacobian

if TYPE_CHECKING:
    import casadi

    from zwang.tracing.traced_model import TracedModel

__all__ = ["Partition", "leading_columns", "linear_rows", "partition_lift", "rates_of_rows"]

#: Independent velocities asked for by name must be this independent, at least.
WORST = 1e-6


@dataclass(frozen=True)
class Partition:
    """Which velocities are independent, and the rows that give the others.

    Attributes
    ----------
    independent, dependent : numbers of the velocities, ascending.
    rows : numbers of constraint rows, as many as there are dependent velocities.
    """

    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    rows: tuple[int, ...]

    @classmethod
    def at(
        cls,
        A: FloatArray,
        M: FloatArray,
        rows: Sequence[int],
        names: Sequence[str],
        chosen: Sequence[str] | None,
    ) -> Partition:
        """The best partition at a state, or the one with the chosen velocities.

        Parameters
        ----------
        A : the linear constraint rows there, shape (m, nv).
        rows : their numbers among all rows.
        names : of the velocities.
        chosen : names of the independent ones, or None.
        """
        Z, scaled = _allowed(A, M)
        k = Z.shape[1]
        if chosen is None:
            independent = leading_columns(Z.T, k)
        else:
            independent = _numbers(names, chosen)
            if len(independent) != k:
                raise InputError(
                    f"independent velocities {', '.join(chosen)}",
                    must=f"be {k}, as many as there are degrees of freedom",
                    but=f"there are {len(independent)}",
                )
        dependent = [j for j in range(len(names)) if j not in independent]
        partition = cls(
            tuple(independent),
            tuple(dependent),
            tuple(int(rows[i]) for i in leading_columns(scaled[:, dependent].T, len(dependent))),
        )
        if partition.quality(A, M) < WORST:
            listed = ", ".join(names[j] for j in independent)
            raise InputError(
                f"independent velocities {listed}",
                must="determine all others",
                but="at this state there is a motion that leaves them all at rest",
                advice="Omit the choice, or give another state: at=….",
            )
        return partition

    def quality(self, A: FloatArray, M: FloatArray) -> float:
        """How independent the chosen velocities are at a state, from 0 to 1.

        Parameters
        ----------
        A : the linear constraint rows there, shape (m, nv).
        """
        Z, _ = _allowed(A, M)
        if Z.shape[1] != len(self.independent):
            return 0.0  # a singular position: more motions are allowed than the partition has
        own = np.linalg.svd(Z[list(self.independent)], compute_uv=False)
        return float(own[-1]) if own.size else 1.0


def _allowed(A: FloatArray, M: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Z and the scaled rows; the scale is exact, so that units change nothing."""
    d, e = equilibrate(M, A)
    mass = M.diagonal()
    d = np.where(mass > 0.0, 1.0 / np.sqrt(np.where(mass > 0.0, mass, 1.0)), d)
    scaled = e[:, None] * A * d
    return nullspace(scaled), scaled


def leading_columns(B: FloatArray, count: int) -> list[int]:
    """Numbers of the most independent columns, by elimination with pivoting, ascending."""
    from scipy.linalg import qr

    if count == 0:
        return []
    order: Any = qr(B, mode="r", pivoting=True)[-1]
    return sorted(int(j) for j in order[:count])


def _numbers(names: Sequence[str], chosen: Sequence[str]) -> list[int]:
    for name in chosen:
        if name not in names:
            raise UnknownNameError("independent velocity", name, names)
    return sorted(list(names).index(name) for name in chosen)


def linear_rows(model: TracedModel, keep: Sequence[str]) -> list[int]:
    """Numbers of the rows A v + η = 0 that can be solved for velocities."""
    s = model.state
    return [
        row
        for name, numbers in model.rows_of_blocks.items()
        for row in numbers
        if model.owner(name) not in keep
        and model.blocks[name].rate is not None
        and not depends_on(model.blocks[name].A, s.v, s)
    ]


def partition_lift(model: TracedModel, partition: Partition) -> Lift:
    """v as an expression of its independent entries."""
    import casadi as ca

    s = model.state
    rows = rates_of_rows(model)
    rates = ca.vertcat(ca.SX(0, 1), *(rows[i] for i in partition.rows))
    independent, dependent = list(partition.independent), list(partition.dependent)
    A = jacobian(rates, s.v, s)
    (eta,) = ca.substitute([rates], [s.v], [ca.SX.zeros(s.v.shape)])
    u = ca.SX.sym("u", len(independent))
    v = ca.SX.zeros(s.v.shape)
    v[independent] = u
    if dependent:
        v[dependent] = -ca.solve(A[:, dependent], ca.mtimes(A[:, independent], u) + eta)
    return velocity_lift_of(model, u, v)


def rates_of_rows(model: TracedModel) -> dict[int, casadi.SX]:
    """Row number → φ̇ or ψ."""
    found: dict[int, casadi.SX] = {}
    for name, numbers in model.rows_of_blocks.items():
        rate = model.blocks[name].rate
        if rate is not None:
            found |= {row: rate[k] for k, row in enumerate(numbers)}
    return found
