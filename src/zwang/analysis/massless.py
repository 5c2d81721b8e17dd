"""Linearization where degrees of freedom have no mass: what springs and dampers make of them.

With M z̈ + B ż + K z = f in free displacements z = (z₁, z₂), z₂ those of N(M), the second equations
hold no acceleration:

    without damping   K₂₁ z₁ + K₂₂ z₂ = 0:       z₂ follows z₁; two eigenvalues of each are infinite
    with damping      B₂₂ ż₂ = −K₂₁ z₁ − …:      z₂ is a state, ż₂ is not; one of each is infinite

Both are as for a mass that tends to zero, if K₂₂, or else B₂₂, is positive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zwang.analysis.flow import Response, SmallMotions, Tangents
from zwang.errors import NotUniqueError
from zwang.linalg.rank import DEFAULT_TOLERANCES
from zwang.terms import FloatArray

__all__ = ["Condensed", "condensed"]

#: Damping of massless freedoms below this share of all damping is none.
NO_DAMPING = 1e-10


class Condensed(NamedTuple):
    """Small motions without the accelerations of massless freedoms.

    Attributes
    ----------
    tangents : states that are left.
    infinite : number of infinite eigenvalues.
    words : the massless motions, by name.
    """

    motions: SmallMotions
    tangents: Tangents
    infinite: int
    words: tuple[str, ...]
    basis: FloatArray
    massive: FloatArray
    follow: FloatArray
    damped: bool

    def response(
        self,
        pi: FloatArray,
        v: FloatArray,
        force: FloatArray | None = None,
        right: FloatArray | None = None,
    ) -> Response:
        """As `SmallMotions.response`, for states that satisfy the massless equations."""
        del right
        x, D = self.motions.slopes, self.basis
        U1, U2 = self.massive, self.follow
        f = -(x.E_pi @ pi + x.E_v @ v) + (0.0 if force is None else force)
        M11 = U1.T @ D.T @ x.M @ D @ U1
        if not self.damped:
            T = D @ self.carried()
            a = T @ np.linalg.solve(M11, T.T @ f)
            return Response(v, a, lambda: self.motions.spaces.multipliers(x.M @ a - f))
        z1 = np.linalg.solve(M11, (D @ U1).T @ f)
        K, B = D.T @ x.E_pi @ D, D.T @ x.E_v @ D
        inner = np.linalg.solve(U2.T @ B @ U2, U2.T)
        rate = np.linalg.lstsq(D, v, rcond=None)[0]
        z2 = -inner @ (K @ rate + B @ (U1 @ z1))
        a = D @ (U1 @ z1 + U2 @ z2)
        return Response(v, a, lambda: self.motions.spaces.multipliers(x.M @ a - f))

    def carried(self) -> FloatArray:
        """U₁ − U₂ K₂₂⁻¹ K₂₁: massive displacements with what follows them."""
        K = self.basis.T @ self.motions.slopes.E_pi @ self.basis
        U1, U2 = self.massive, self.follow
        return U1 - U2 @ np.linalg.solve(U2.T @ K @ U2, U2.T @ K @ U1)


def condensed(motions: SmallMotions, q: FloatArray) -> Condensed | None:
    """Small motions with massless freedoms taken out, or None where there are none.

    At rest, and where rows restrict positions.
    """
    x, spaces = motions.slopes, motions.spaces
    D = spaces.basis
    own, factor = motions.own_mass
    if not own.size or factor is not None:
        return None
    values, U = np.linalg.eigh(own)
    light = values <= DEFAULT_TOLERANCES.definite * max(float(values[-1]), 1e-300)
    if not light.any():
        return None
    U1, U2 = U[:, ~light], U[:, light]
    words = tuple(motions.equations.motion_in_words(q, D @ u) for u in U2.T)
    tangents = motions.tangents()
    if motions.frame is not None or tangents.positions != D.shape[1] or motions.free.any():
        raise _refused(D @ U2, words, "a motion, or rows of velocities, beside them")
    K, B = D.T @ x.E_pi @ D, D.T @ x.E_v @ D
    damping = float(np.abs(B).max(initial=0.0))
    if np.abs(B @ U2).max(initial=0.0) <= NO_DAMPING * max(damping, 1e-300) or damping == 0.0:
        K22 = U2.T @ K @ U2
        _require_regular(K22, D @ U2, words, "spring")
        found = Condensed(motions, tangents, 2 * U2.shape[1], words, D, U1, U2, damped=False)
        T = D @ found.carried()
        zero = np.zeros_like(T)
        states = Tangents(np.hstack([T, zero]), np.hstack([zero, T]), T.shape[1])
        return found._replace(tangents=states)
    B22 = U2.T @ B @ U2
    _require_regular(B22, D @ U2, words, "damper")
    inner = np.linalg.solve(B22, U2.T)
    at_pi = -D @ U2 @ (inner @ K)
    v1 = D @ (U1 - U2 @ (inner @ B @ U1))
    pi = np.hstack([D, np.zeros_like(v1)])
    states = Tangents(pi, np.hstack([at_pi, v1]), D.shape[1])
    return Condensed(motions, states, U2.shape[1], words, D, U1, U2, damped=True)


def _require_regular(
    X: FloatArray, directions: FloatArray, words: tuple[str, ...], what: str
) -> None:
    s = np.linalg.svd(X, compute_uv=False)
    if not s[-1] > DEFAULT_TOLERANCES.rank * s[0]:
        raise _refused(directions, words, f"no {what} that resists each of them")


def _refused(directions: FloatArray, words: tuple[str, ...], found: str) -> NotUniqueError:
    return NotUniqueError(
        f"linearization, motions without mass ({'; '.join(words[:3])})",
        directions=directions,
        must="have mass, or a spring or a damper for each, about a state of rest",
        but=f"there is {found}",
        advice="Give the parts mass.",
    )
