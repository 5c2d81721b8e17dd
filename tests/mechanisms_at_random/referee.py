"""What motions are compared with: full terms, all rows, plain NumPy.

    A = U S Vᵀ,  a = V₁ S₁⁻¹ U₁ᵀ b + V₂ y,  V₂ᵀ M V₂ y = V₂ᵀ (Q + C − M a₀)

The rank is that of the freedoms counted by hand, so that nothing is decided by a tolerance. Of the
library only M, Q, A, b of the system as it was given are used: no choice of rows or coordinates, no
factor, no compiled loop. Friction is written down here a second time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from drawing import Drawn, Friction
from scipy.integrate import solve_ivp

__all__ = ["IllPlaced", "Referee"]

#: Singular values of A, rows of length one: those of independent rows are above, of others below.
#: Placements nearer to a singular position are drawn again.
INDEPENDENT, DEPENDENT = 0.01, 1e-11
#: Error of the motion that others are compared with, local and relative.
TIGHT = 1e-11

#: Evaluations of a motion, at most; away from singular positions hundreds do.
MOST_EVALUATIONS = 4_000


class IllPlaced(ArithmeticError):  # noqa: N818
    """A placement next to a singular position, or one whose freedoms were counted wrongly."""


@dataclass
class Referee:
    """Accelerations and motion of a mechanism that was drawn."""

    drawn: Drawn

    def __post_init__(self) -> None:
        self.system = self.drawn.mechanism.system
        self.velocities = list(self.system.velocities)
        self.rank = len(self.velocities) - self.drawn.freedoms
        self.evaluations = 0

    def start(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The placement with velocities that its constraints allow, or at rest."""
        q, _ = self.system.equations.placement
        nothing = np.zeros(len(self.velocities))
        terms = self.system.ideal_terms(q, nothing, 0.0)
        A = terms.constraint_matrix
        lengths = np.linalg.norm(A, axis=1, keepdims=True)
        A = A / np.where(lengths > 0.0, lengths, 1.0)
        sizes = np.linalg.svd(A, compute_uv=False)
        sizes = np.concatenate([sizes, np.zeros(max(0, self.rank - len(sizes)))])
        if self.rank and sizes[self.rank - 1] < INDEPENDENT * sizes[0]:
            raise IllPlaced(f"independent rows down to {sizes[self.rank - 1]:.1e}")
        if len(sizes) > self.rank and sizes[self.rank] > DEPENDENT * sizes[0]:
            raise IllPlaced(f"more independent rows than counted: {sizes[self.rank]:.1e}")
        # φ̇ = A v + φ_t: what time alone does is the residual at rest.
        moved = self._driven(q)
        v = _least(A, moved / np.where(lengths > 0.0, lengths, 1.0)[:, 0], self.rank)
        if self.drawn.exact is None and self.drawn.freedoms:
            N = np.linalg.svd(A)[2][self.rank :].T
            free = N @ rng.standard_normal(N.shape[1])
            v = v + free * rng.uniform(0.3, 1.5) / np.abs(free).max()
        return q, v

    def _driven(self, q: np.ndarray) -> np.ndarray:
        """What A v must be: minus the rate of drivers, by their residuals in time."""
        nothing = np.zeros(len(self.velocities))
        found = self.system.residuals(q, nothing, 0.0)
        names = list(found.velocity_names)
        at_rest = dict(zip(names, np.atleast_1d(found.velocity), strict=True))
        return np.array([-at_rest[name] for name in self.system.row_names])

    def acceleration(self, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> np.ndarray:
        """v̇ at a state."""
        self.evaluations += 1
        terms = self.system.ideal_terms(q, v, t)
        M, F = terms.mass_matrix, terms.applied_force
        A, b = terms.constraint_matrix, terms.constraint_rhs
        lengths = np.linalg.norm(A, axis=1)
        lengths[lengths == 0.0] = 1.0
        A, b = A / lengths[:, None], b / lengths
        U, S, Vt = np.linalg.svd(A)
        r = self.rank
        a0 = Vt[:r].T @ ((U[:, :r].T @ b) / S[:r])
        N = Vt[r:].T
        if not self.drawn.friction:
            return a0 + N @ _reduced(M, N, F - M @ a0)
        # Dry friction depends on the reaction; repeated until both agree.
        C = np.zeros_like(F)
        for _ in range(60):
            a = a0 + N @ _reduced(M, N, F + C - M @ a0)
            pull = M @ a - F - C
            lam = U[:, :r] @ ((Vt[:r] @ pull) / S[:r])
            found = np.zeros_like(F)
            for friction in self.drawn.friction:
                found += self._rubs(friction, terms, A, lam, q, v)
            if np.abs(found - C).max() <= 1e-13 * max(1.0, np.abs(F).max()):
                break
            C = found
        return a

    def _rubs(self, f: Friction, terms, A, lam, q, v) -> np.ndarray:
        """Force of friction in a hinge: −(μ r N tanh(θ̇/u) + c θ̇) about its axis."""
        Ra, Rb = (np.eye(3) if n is None else self._rotation(q, n) for n in (f.a, f.b))
        placed = (
            np.eye(3) if f.a is None else self._rotation(self.system.equations.placement[0], f.a)
        )
        z = Ra @ placed.T @ f.axis
        wa = np.zeros(3) if f.a is None else Ra @ v[self._omega(f.a)]
        rate = (Rb @ v[self._omega(f.b)] - wa) @ z
        rows = [i for i in range(len(lam)) if terms.name(i).rpartition("[")[0] == f.joint]
        first = self.velocities.index(f"{f.b}.vx")
        push = A[rows, first : first + 3].T @ lam[rows]
        normal = np.linalg.norm(push - (push @ z) * z)
        dry = f.coefficient * f.radius * normal * np.tanh(rate / f.velocity)
        moment = -(dry + f.viscous * rate) * z
        force = np.zeros(len(v))
        force[self._omega(f.b)] += Rb.T @ moment
        if f.a is not None:
            force[self._omega(f.a)] -= Ra.T @ moment
        return force

    def _omega(self, body: str) -> slice:
        first = self.velocities.index(f"{body}.omega1")
        return slice(first, first + 3)

    def _rotation(self, q: np.ndarray, body: str) -> np.ndarray:
        first = list(self.system.coordinates).index(f"{body}.e0")
        w, x, y, z = q[first : first + 4] / np.linalg.norm(q[first : first + 4])
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )

    def motion(self, q: np.ndarray, v: np.ndarray, times: np.ndarray) -> np.ndarray:
        """States (q, v) at times, one a row."""
        nq, most = len(q), self.evaluations + MOST_EVALUATIONS

        def rate(t: float, y: np.ndarray) -> np.ndarray:
            if self.evaluations > most:
                raise IllPlaced(f"steps shrink at t = {t:g} s, as next to a singular position")
            a = self.acceleration(y[:nq], y[nq:], t)
            return np.concatenate([self.system.position_rate(y[:nq], y[nq:], t), a])

        found = solve_ivp(
            rate, (0.0, times[-1]), np.concatenate([q, v]), "DOP853", times, rtol=TIGHT, atol=TIGHT
        )
        if not found.success:
            raise IllPlaced(found.message)
        Y = found.y.T
        for t, y in zip(times[1:], Y[1:], strict=True):
            A = self.system.ideal_terms(y[:nq], y[nq:], t).constraint_matrix
            sizes = np.linalg.svd(A / np.linalg.norm(A, axis=1, keepdims=True), compute_uv=False)
            if self.rank and sizes[self.rank - 1] < INDEPENDENT * sizes[0]:
                raise IllPlaced("the motion comes near a singular position")
        if self.missed(Y[-1], times[-1]) > 1e-8 * max(1.0, np.abs(Y).max()):
            raise IllPlaced("the linkage does not move as counted: it leaves its constraints")
        return Y

    def missed(self, y: np.ndarray, t: float) -> float:
        """Largest residual of all rows."""
        nq = len(self.system.coordinates)
        found = self.system.residuals(y[:nq], y[nq:], t)
        return float(np.abs(np.concatenate([found.position, found.velocity, [0.0]])).max())

    def energy(self, q: np.ndarray, v: np.ndarray) -> float:
        """½ vᵀM v − Σ m g·r."""
        M = self.system.ideal_terms(q, v, 0.0).mass_matrix
        names = list(self.system.coordinates)
        found = 0.5 * v @ M @ v
        for body, mass in self.drawn.masses.items():
            for axis, g in zip("xyz", self.drawn.gravity, strict=True):
                if f"{body}.{axis}" in names:
                    found -= mass * g * q[names.index(f"{body}.{axis}")]
        return float(found)


def _least(A: np.ndarray, b: np.ndarray, rank: int) -> np.ndarray:
    U, S, Vt = np.linalg.svd(A, full_matrices=False)
    return Vt[:rank].T @ ((U[:, :rank].T @ b) / S[:rank])


def _reduced(M: np.ndarray, N: np.ndarray, force: np.ndarray) -> np.ndarray:
    """y of NᵀM N y = Nᵀ force; by the root of M where it has one, which halves the condition."""
    if not N.shape[1]:
        return np.zeros(0)
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return np.linalg.solve(N.T @ M @ N, N.T @ force)
    return np.linalg.lstsq(L.T @ N, np.linalg.solve(L, force), rcond=None)[0]
