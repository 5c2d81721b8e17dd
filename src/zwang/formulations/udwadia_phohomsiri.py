"""Udwadia & Phohomsiri (2006), as (8) and (47) of Udwadia & Schutte (2010): one pseudoinverse.

| author | here | equation |
| --- | --- | --- |
| M̃ = [(I − A⁺A) M; A] | `stacked_matrix` | (8) |
| [Q + C; b] | `stacked_rhs` | (8) |

    v̇ = M̃⁺ [Q + C; b]

M may be singular and A of any rank, as long as rank [M; A] = n; then M̃ has full column rank.
"""

from __future__ import annotations

import numpy as np

from zwang.caching import computed_once
from zwang.formulations.contract import Formulation
from zwang.linalg.products import matvec
from zwang.linalg.rank import pinv_of_rank
from zwang.terms import FloatArray

__all__ = ["UdwadiaPhohomsiri"]


class UdwadiaPhohomsiri(Formulation):
    """Acceleration through the pseudoinverse of the stacked matrix."""

    name = "udwadia_phohomsiri"

    def respond(self, force: FloatArray, rhs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Acceleration by (8), multipliers from the balance of forces."""
        # (8): v̇ = [(I − A⁺A) M; A]⁺ [Q + C; b]; then Aᵀλ = M v̇ − (Q + C)
        acceleration = matvec(self._stacked_pinv, np.concatenate([force, rhs], axis=-1))
        ideal_force = matvec(self.terms.mass_matrix, acceleration) - force
        return acceleration, self.geometry.multipliers(ideal_force)

    @computed_once
    def stacked_matrix(self) -> FloatArray:
        """M̃ = [(I − A⁺A) M; A], shape (…, n+m, n)."""
        top = self.geometry.tangent_projector @ self.terms.mass_matrix
        return np.concatenate([top, self.terms.constraint_matrix], axis=-2)

    @computed_once
    def stacked_rhs(self) -> FloatArray:
        """[Q + C; b], shape (…, n+m)."""
        return np.concatenate([self.terms.total_force, self.terms.constraint_rhs], axis=-1)

    @computed_once
    def _stacked_pinv(self) -> FloatArray:
        return pinv_of_rank(self.stacked_matrix, self.terms.coordinate_count)

    @property
    def constraint_force(self) -> FloatArray:
        """Q_c = M v̇ − Q, (64) of Udwadia & Schutte (2010)."""
        return matvec(self.terms.mass_matrix, self.acceleration) - self.terms.applied_force
