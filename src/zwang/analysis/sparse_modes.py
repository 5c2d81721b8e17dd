"""Modes of large mechanisms at rest, element by element and without dense matrices.

With K = E_π, B = E_v and rows A, eigenvalues s of M π̈ + B π̇ + K π = Aᵀλ, A π = 0 nearest to a
shift σ are those of (𝒜 − σ)⁻¹ that are largest: for (π₀, v₀) it gives (π, π₀ + σ π) with

    (K + σ B + σ² M) π − Aᵀλ = −M v₀ − (B + σ M) π₀,     A π = 0

so that one sparse factor of the left side serves all steps of Arnoldi's method (ARPACK).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zwang.analysis.equations_of import EquationsOf
from zwang.analysis.mode_motion import ModeOrigin
from zwang.analysis.modes import Mode
from zwang.analysis.sparse_terms import (
    DELTA,
    REFINEMENTS,
    require_plain_joints,
    sparse_reactions,
    sparse_slopes,
    sparse_terms,
)
from zwang.analysis.time_dependence import changes_with_time
from zwang.caching import computed_once
from zwang.errors import InputError, shown
from zwang.linalg.rank import inverse_power_of_two
from zwang.multibody.element_batches import Bulk
from zwang.state import State
from zwang.terms import FloatArray

__all__ = ["SparseLinearization", "sparse_linearization"]

#: Share of all forces that may be left at rest.
AT_REST = 1e-7
#: The shift, where none is given, in units of a typical frequency: next to zero, and not on it.
NEXT_TO_ZERO = 1e-3


@dataclass(frozen=True)
class SparseLinearization:
    """Small motions of a large mechanism about rest, for its modes.

    Attributes
    ----------
    state : that about which it is.
    mass, stiffness, damping, rows : sparse matrices of M π̈ + B π̇ + K π = Aᵀλ, A π = 0 in the
        displacements of all bodies.
    notes : what changes with time, as sentences.
    """

    state: State
    mass: Any = field(repr=False)
    stiffness: Any = field(repr=False)
    damping: Any = field(repr=False)
    rows: Any = field(repr=False)
    notes: tuple[str, ...]
    _equations: EquationsOf = field(repr=False)
    _bulk: Bulk = field(repr=False)

    def modes(self, count: int = 20, near: complex = 0.0) -> list[Mode]:
        """Modes by rising frequency, those whose eigenvalues are nearest to a number.

        Parameters
        ----------
        count : how many eigenvalue pairs at most.
        near : an eigenvalue [1/s]: 0 for the lowest frequencies, ``100j`` for those near 100 rad/s.
        """
        from scipy.sparse import linalg

        n = self.mass.shape[0]
        if not isinstance(count, int | np.integer) or not 0 < count < n // 2:
            raise InputError("count", found=shown(count), expected=f"1 to {n // 2 - 1} modes")
        sigma = complex(near)
        if abs(sigma) < NEXT_TO_ZERO * self._typical:
            sigma = complex(NEXT_TO_ZERO * self._typical)
        sigma_or_real: Any = sigma if sigma.imag else sigma.real
        solve = self._inverse(sigma_or_real)
        dtype = complex if sigma.imag else float
        arpack: Any = linalg
        operator = arpack.LinearOperator((2 * n, 2 * n), matvec=solve, dtype=dtype)
        start = solve(np.random.default_rng(0).standard_normal(2 * n).astype(dtype))
        pairs = 2 * count if not sigma.imag else count
        values, vectors = arpack.eigs(operator, k=pairs, v0=start, tol=1e-13)
        found = []
        for theta, z in zip(values, vectors.T, strict=True):
            s = sigma + 1.0 / theta
            if s.imag < -1e-9 * abs(s):
                continue
            found.append(self._mode(complex(s), z[:n]))
        return sorted(found, key=lambda mode: (mode.frequency, mode.eigenvalue.real))[:count]

    def _mode(self, s: complex, pi: FloatArray) -> Mode:
        q = np.asarray(self.state.q)
        moved = self._bulk.rates(q, np.ascontiguousarray(pi.real)) + 1j * self._bulk.rates(
            q, np.ascontiguousarray(pi.imag)
        )
        factor = moved[int(np.abs(moved).argmax())]
        moved, pi = moved / factor, pi / factor
        names = self._equations.system.coordinates
        shape = {n: complex(x) for n, x in zip(names, moved, strict=True)}
        return Mode(s, shape, moved, ModeOrigin(self._equations, q, pi))

    @computed_once
    def _typical(self) -> float:
        """A typical frequency [rad/s]."""
        K, M = abs(self.stiffness).sum(), abs(self.mass).sum()
        return float(np.sqrt(K / M)) if K > 0.0 and M > 0.0 else 1.0

    def _inverse(self, sigma: Any) -> Any:
        """(𝒜 − σ)⁻¹ as a function of (π₀, v₀)."""
        from scipy import sparse
        from scipy.sparse.linalg import splu

        M, B, A = self.mass, self.damping, self.rows
        left = self.stiffness + sigma * B + sigma**2 * M
        n, m = M.shape[0], A.shape[0]
        size = float(abs(left).max()) if left.nnz else 1.0
        e = sparse.diags_array(size * inverse_power_of_two(np.sqrt((A**2).sum(axis=1))))
        rows = e @ A
        exact: Any = sparse.block_array([[left, -rows.T], [rows, None]], format="csc")
        loose: Any = sparse.block_array(
            [[left, -rows.T], [rows, DELTA * size * sparse.eye_array(m)]], format="csc"
        )
        factor = splu(loose)
        if m == 0:
            exact = loose
        beside = B + sigma * M

        def solve(x: FloatArray) -> FloatArray:
            pi, v = x[:n], x[n:]
            rhs = np.concatenate([-(M @ v) - beside @ pi, np.zeros(m)])
            y = factor.solve(rhs)
            for _ in range(REFINEMENTS):
                y = y + factor.solve(rhs - exact @ y)
            return np.concatenate([y[:n], pi + sigma * y[:n]])

        return solve

    def __str__(self) -> str:
        n, m = self.mass.shape[0], self.rows.shape[0]
        return (
            f"Linearization of a large mechanism: {n} velocities, {m} rows; modes(count) on call."
        )


def sparse_linearization(equations: EquationsOf, q: FloatArray) -> SparseLinearization:
    """Small motions of a large mechanism about rest."""
    require_plain_joints("linearization of a large mechanism", equations)
    bulk = Bulk(equations.parts)
    M, force, A = sparse_terms(equations, bulk, q)
    lam = sparse_reactions(M, A, force)
    _require_rest(equations, q, M, A, force, lam)
    K, B = sparse_slopes(equations, bulk, q, lam)
    state = State(q, np.zeros(equations.nv), equations.t)
    notes = tuple(changes_with_time(equations, q, lam).notes_on_eigenvalues())
    return SparseLinearization(state, M, K, B, A, notes, equations, bulk)


def _require_rest(
    equations: EquationsOf, q: FloatArray, M: Any, A: Any, force: FloatArray, lam: FloatArray
) -> None:
    left = force + A.T @ lam
    d = 1.0 / np.sqrt(np.maximum(M.diagonal(), M.diagonal().mean() * 1e-6))
    share = float(np.linalg.norm(d * left)) / max(float(np.linalg.norm(d * force)), 1e-300)
    if share > AT_REST:
        k = int(np.abs(d * left).argmax())
        raise InputError(
            "state",
            must="be one in which all forces balance",
            but=f"{equations.system.velocities[k]} is driven by {left[k]:.6g} "
            f"({share:.1e} of all forces)",
        )
    del q
