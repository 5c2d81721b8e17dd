"""The plain saddle-point system, the baseline everyone knows.

| usual | here | |
| --- | --- | --- |
| [[M, Aᵀ], [A, 0]] | `saddle_matrix` | Lagrange's equations of the first kind |
| [v̇; −λ] | | |

    [ M  Aᵀ ] [  v̇ ]   [ Q + C ]
    [ A  0  ] [ −λ ] = [   b   ]

With dependent rows the matrix is singular; of all solutions the one of least norm is taken, which
has the least-norm λ since v̇ is the same in all of them.
"""

from __future__ import annotations

import numpy as np

from zwang.caching import computed_once
from zwang.formulations.contract import Formulation
from zwang.linalg.products import matvec, transpose
from zwang.terms import FloatArray

__all__ = ["SaddlePoint"]


class SaddlePoint(Formulation):
    """Least-norm solution of the saddle-point system, for any M with rank [M; A] = n."""

    name = "saddle_point"

    def respond(self, force: FloatArray, rhs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Both from one solve."""
        solution = matvec(self._inverse, np.concatenate([force, rhs], axis=-1))
        n = self.terms.coordinate_count
        return solution[..., :n], -solution[..., n:]

    @computed_once
    def saddle_matrix(self) -> FloatArray:
        """[[M, Aᵀ], [A, 0]], shape (…, n+m, n+m)."""
        M, A = self.terms.mass_matrix, self.terms.constraint_matrix
        m = self.terms.constraint_count
        zero = np.zeros((*self.terms.batch_shape, m, m))
        return np.concatenate(
            [np.concatenate([M, transpose(A)], axis=-1), np.concatenate([A, zero], axis=-1)],
            axis=-2,
        )

    @computed_once
    def _inverse(self) -> FloatArray:
        """Pseudoinverse from the eigenvalues, of which all but m − r count."""
        values, vectors = np.linalg.eigh(self.saddle_matrix)
        size = np.abs(values)
        keep = self.terms.coordinate_count + self.geometry.rank
        order = np.argsort(-size, axis=-1)[..., :keep]
        values = np.take_along_axis(values, order, axis=-1)
        vectors = np.take_along_axis(vectors, order[..., None, :], axis=-1)
        return (vectors / values[..., None, :]) @ transpose(vectors)

    @property
    def multipliers(self) -> FloatArray:
        """The least-norm λ, straight from the solution."""
        return self._response[1]
