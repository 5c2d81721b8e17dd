"""Linearization: small motions about a state that is constant in its own frame.

Displacements δπ and velocities δv near a relative equilibrium, q̇ = N w(q) and v̇ = y(q, v) with a
symmetry (w, y) of the system that is zero at rest, follow the linearization of q̇ − N w, v̇ − y:

    δπ̇ = δv − w_π δπ
    M δa + E_π δπ + E_v δv = (A + C_λᵀ)ᵀ δλ + f,     A δa + H_π δπ + H_v δv = h
    δv̇ = δa − y_π δπ − y_v δv

It keeps to the states that satisfy the constraints, φ_π δπ = 0 and ψ_π δπ + A δv = 0, on which
N(A) is the space of free velocities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from zwang.analysis.equations_of import EquationsOf, Spaces, spaces_of
from zwang.analysis.second_derivatives import Slopes
from zwang.caching import computed_once
from zwang.errors import NotUniqueError
from zwang.linalg.one_thread import product
from zwang.linalg.rank import DEFAULT_TOLERANCES
from zwang.terms import FloatArray

__all__ = ["MovingFrame", "Response", "SmallMotions", "Tangents"]


#: Reciprocal condition of the reduced mass matrix above which it has no freedom without mass.
CLEARLY_MASSIVE = 1e-8


class MovingFrame(NamedTuple):
    """Derivatives of the symmetry along which a state moves: w by π, y by π and v, (n, n) each."""

    w_pi: FloatArray
    y_pi: FloatArray
    y_v: FloatArray


class Tangents(NamedTuple):
    """States that satisfy the constraints, near a state.

    Attributes
    ----------
    pi, v : displacements and velocities, one column for each state, shape (n, f).
    positions : how many of them, the first, have displacements; the others are velocities alone.
    """

    pi: FloatArray
    v: FloatArray
    positions: int

    def times(self, S: FloatArray) -> Tangents:
        """The same states combined by the columns of S."""
        return Tangents(self.pi @ S, self.v @ S, self.positions)


@dataclass(frozen=True)
class Response:
    """How displacements and velocities go on, one column for each case.

    Attributes
    ----------
    pi_dot, v_dot : shape (n, k).
    """

    pi_dot: FloatArray
    v_dot: FloatArray
    _reactions: Callable[[], FloatArray]

    @computed_once
    def multipliers(self) -> FloatArray:
        """Reactions, the least ones, shape (m, k); computed where an output asks for them."""
        return self._reactions()


@dataclass(frozen=True)
class SmallMotions:
    """The linearized equations at a state.

    Attributes
    ----------
    slopes : derivatives there.
    frame : those of the symmetry, or None at rest.
    free : rows that restrict accelerations alone, boolean, shape (m,): those of acceleration level
        and those of drivers that are inputs.
    spaces : of all rows.
    """

    equations: EquationsOf
    slopes: Slopes
    frame: MovingFrame | None
    free: np.ndarray
    spaces: Spaces

    @computed_once
    def own_mass(self) -> tuple[FloatArray, FloatArray | None]:
        """DᵀM D, and its Cholesky factor where it is far from singular, else None."""
        from scipy.linalg import lapack as routines

        lapack: Any = routines
        D = self.spaces.basis
        own = product(product(D.T, self.slopes.M), D)
        if not own.size:
            return own, None
        factor, info = lapack.dpotrf(own, lower=1, clean=1)
        if info:
            return own, None
        inverse_condition, _ = lapack.dpocon(factor, np.abs(own).sum(axis=0).max(), uplo="L")
        return own, factor if inverse_condition > CLEARLY_MASSIVE else None

    def _of_rows(self, chosen: np.ndarray) -> Spaces:
        """Of some rows; of all of them they are known."""
        x = self.slopes
        return self.spaces if chosen.all() else spaces_of(x.M, x.A[chosen])

    def tangents(self) -> Tangents:
        """A basis of the states that satisfy the constraints."""
        x, equations = self.slopes, self.equations
        at_position = equations.is_position & ~self.free
        rated = equations.is_rated & ~self.free
        D_q = self._of_rows(at_position).basis
        moving = self._of_rows(rated)
        psi_pi = x.psi_pi[~self.free[equations.is_rated]]
        P = -moving.particular(psi_pi @ D_q) if psi_pi.any() else np.zeros_like(D_q)
        fq, fv = D_q.shape[1], moving.basis.shape[1]
        n = equations.nv
        pi = np.hstack([D_q, np.zeros((n, fv))])
        return Tangents(pi, np.hstack([P, moving.basis]), fq)

    def response(
        self,
        pi: FloatArray,
        v: FloatArray,
        force: FloatArray | None = None,
        right: FloatArray | None = None,
    ) -> Response:
        """What follows from displacements, velocities, forces f and right sides h, in columns."""
        x = self.slopes
        f = (0.0 if force is None else force) - _sum(x.E_pi, pi, x.E_v, v)
        h = (0.0 if right is None else right) - _sum(x.H_pi, pi, x.H_v, v)
        a, lam = self._solved(f, h)
        if self.frame is None:
            return Response(v + product(x.drift, pi) if x.drift.any() else v, a, lam)
        w_pi, y_pi, y_v = self.frame
        return Response(v - w_pi @ pi, a - y_pi @ pi - y_v @ v, lam)

    def _solved(self, f: FloatArray, h: FloatArray) -> tuple[FloatArray, Callable[[], FloatArray]]:
        """δa and the least δλ of M δa − (A + C_λᵀ)ᵀδλ = f, A δa = h."""
        x, spaces = self.slopes, self.spaces
        if x.C_lam.any():
            a, lam = self._solved_with_law(f, h, spaces)
            return a, lambda: lam
        D = spaces.basis
        own, factor = self.own_mass
        if h.any():
            part = spaces.particular(h)
            right = product(D.T, f - product(x.M, part))
        else:  # at rest, where rows say A δa = 0
            part, right = 0.0, product(D.T, f)
        if factor is None:
            self.require_mass(own, spaces)
            a = part + D @ np.linalg.solve(own, right)
        else:
            from scipy.linalg import lapack as routines

            lapack: Any = routines
            a = part + D @ lapack.dpotrs(factor, right, lower=1)[0]
        return a, lambda: spaces.multipliers(product(x.M, a) - f)

    def _solved_with_law(
        self, f: FloatArray, h: FloatArray, spaces: Spaces
    ) -> tuple[FloatArray, FloatArray]:
        """The same where a law of the reactions acts: all unknowns at once, scaled."""
        x = self.slopes
        m, n = x.A.shape
        d, e = spaces.d, spaces.e
        K = np.zeros((n + m, n + m))
        K[:n, :n] = d[:, None] * x.M * d
        K[:n, n:] = -d[:, None] * (x.A.T + x.C_lam) * e
        K[n:, :n] = e[:, None] * x.A * d
        rhs = np.vstack([d[:, None] * f, e[:, None] * h])
        found = np.linalg.lstsq(K, rhs, rcond=DEFAULT_TOLERANCES.rank)[0]
        return d[:, None] * found[:n], e[:, None] * found[n:]

    def require_mass(self, own: FloatArray, spaces: Spaces) -> None:
        """Refuse freedoms without mass, by name; `massless` condenses those of springs."""
        if not own.size:
            return
        values, U = np.linalg.eigh(own)
        if values[0] > DEFAULT_TOLERANCES.definite * max(values[-1], 0.0):
            return
        loose = spaces.basis @ U[:, values <= DEFAULT_TOLERANCES.definite * max(values[-1], 1e-300)]
        raise NotUniqueError(
            "linearization",
            directions=loose,
            must="have mass, inertia, a spring or a damper in every free motion",
            but=f"there are {loose.shape[1]} without mass",
            advice="Give the parts mass.",
        )


def _sum(X: FloatArray, x: FloatArray, Y: FloatArray, y: FloatArray) -> FloatArray:
    """X x + Y y; Y is zero at rest where nothing damps."""
    return product(X, x) + product(Y, y) if Y.any() else product(X, x)
