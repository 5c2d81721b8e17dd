"""Analysis of servo constraints: the bounded motion of what a program leaves free and unstable.

For programs along which actuators push. With ξ = R (q − q₀) and η = Zᵀv/ρ in the directions Z that
constraints and program leave free at the start, the program and (ξ, η) determine the state, and

    ξ′ = R q̇/ρ,    η′ = Zᵀ v̇/ρ²

is solved as a boundary-value problem (Devasia, Chen & Paden 1996): at the beginning the deviation
from rest lies on the unstable manifold there, at the end on the stable one, by their tangents.
Lengths are measured by the size of the system and time by the rate ρ of its fastest motion: all is
the same in any units.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zwang.analysis.direct_program import DirectProgram, FollowedState, LostError
from zwang.errors import NotApplicableError
from zwang.terms import FloatArray

__all__ = ["bounded_states", "internal_motion"]

#: Relative error of rates, places at first and at most.
BOUNDARY, PLACES, MOST = 1e-6, 61, 4000
#: Places over the times at which configurations are kept as first guesses for their neighbors.
NEIGHBORS = 400
#: Steps to a state of rest, the largest angle of one [rad, or beside the size of coordinates that
#: may be angles], and the last of them.
STEPS, TURN, AT_REST = 20, 0.3, 1e-9
#: Difference for derivatives of rates, and the share of the largest eigenvalue below which a real
#: part is zero.
STEP, AXIS = 1e-6, 1e-3


def bounded_states(
    program: DirectProgram, q: FloatArray, v: FloatArray, times: FloatArray, rate: float
) -> list[FollowedState] | None:
    """States at times; None with constraints on velocities, or without hyperbolic rest.

    Parameters
    ----------
    rate : ρ, the largest of the internal motion [1/s].
    """
    free = program.free(q, v, float(times[0]))
    if free is None:
        return None
    first, last = float(times[0]), float(times[-1])
    coordinates = _Internal(program, free, q, first, last, rate)
    n = 2 * free.shape[1]
    try:
        at_rest = coordinates.rest(np.zeros(n), first)
        at_end = coordinates.rest(at_rest, last)
        unwanted = [
            coordinates.tangents(at_rest, first, growing=False),
            coordinates.tangents(at_end, last, growing=True),
        ]
        if sum(map(len, unwanted)) != n:
            return None
        return _solved(coordinates, program, times, (at_rest, at_end), unwanted)
    except LostError:
        return None


def _solved(
    coordinates: _Internal,
    program: DirectProgram,
    times: FloatArray,
    rest: tuple[FloatArray, FloatArray],
    unwanted: list[FloatArray],
) -> list[FollowedState]:
    def rates(t: FloatArray, x: FloatArray) -> FloatArray:
        pairs = zip(t / coordinates.rho, x.T, strict=True)
        return np.array([coordinates.rate(float(s), y) for s, y in pairs]).T

    def ends(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.concatenate([unwanted[0] @ (a - rest[0]), unwanted[1] @ (b - rest[1])])

    scaled = coordinates.rho * times
    solution = internal_motion(rates, ends, scaled, rest, (PLACES, BOUNDARY), program.name)
    found = []
    for t, x in zip(times, solution(scaled).T, strict=True):
        state = coordinates.state(float(t), x)
        found.append(program.followed(*state, float(t)))
    return found


def internal_motion(
    rates: Callable[[FloatArray, FloatArray], FloatArray],
    ends: Callable[[FloatArray, FloatArray], FloatArray],
    times: FloatArray,
    rest: tuple[FloatArray, FloatArray],
    mesh: tuple[int, float],
    name: str,
) -> Callable[[FloatArray], FloatArray]:
    """What a program leaves free, as a function of time, between states of rest.

    Parameters
    ----------
    rates : (t (k,), x (n, k)) → ẋ (n, k).
    ends : what is zero of the first and the last state.
    mesh : places at which it is guessed, on the line from one rest to the other, and the relative
        error of rates.
    name : of the program, for messages.
    """
    from scipy.integrate import solve_bvp

    (places, tolerance), (begin, end) = mesh, times[[0, -1]]
    at, guess = np.linspace(begin, end, places), np.linspace(*rest, places).T
    solution: Any = solve_bvp(rates, ends, at, guess, tol=tolerance, max_nodes=MOST)
    if solution.status:
        raise NotApplicableError(
            f"program {name}",
            must="be slow enough for a bounded internal motion",
            but=f"none was found ({solution.message.rstrip('.')})",
            advice="Give longer times of rest before and after it, or a slower program.",
        )
    return solution.sol


class _Internal:
    """(ξ, η) of what a program leaves free, and the states that go with them."""

    def __init__(
        self,
        program: DirectProgram,
        Z: FloatArray,
        q: FloatArray,
        first: float,
        last: float,
        rho: float,
    ) -> None:
        self.program, self.Z, self.q, self.first, self.rho = program, Z, q, first, rho
        self.span = last - first
        self.R = Z.T @ np.linalg.pinv(program.displacements(q, first))
        self.kept: dict[int, FloatArray] = {}

    def state(self, t: float, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """q and v of (ξ, η) at a time."""
        place, n = round(NEIGHBORS * (t - self.first) / self.span), self.Z.shape[1]
        near = self.kept.get(place, self.kept.get(place - 1, self.q))
        q, v = self.program.pinned(near, t, (self.R, self.q, x[:n]), (self.Z, self.rho * x[n:]))
        self.kept[place] = q
        return q, v

    def rate(self, t: float, x: FloatArray) -> FloatArray:
        """Derivatives of (ξ, η) by ρ t."""
        q, v = self.state(t, x)
        a, _, q_dot = self.program.solved(q, v, t)
        return np.concatenate([self.R @ q_dot / self.rho, self.Z.T @ a / self.rho**2])

    def rest(self, near: FloatArray, t: float) -> FloatArray:
        """(ξ, η) at rest at a time."""
        x = near.copy()
        for _ in range(STEPS):
            step = -np.linalg.lstsq(self.slopes(x, t), self.rate(t, x), rcond=1e-12)[0]
            x = x + step * min(1.0, TURN / max(self.turn(x, step, t), 1e-300))
            if np.abs(step).max() < AT_REST:
                return x
        raise LostError

    def turn(self, x: FloatArray, step: FloatArray, t: float) -> float:
        """The largest angle by which a step from (ξ, η) turns anything."""
        n, sizes = self.Z.shape[1], self.program.sizes
        q, _ = self.state(t, x)
        change = np.abs(self.program.internal_change(q, t, self.R, step[:n])) / sizes.q
        return float(change[sizes.turning].max(initial=0.0))

    def slopes(self, x: FloatArray, t: float) -> FloatArray:
        """Derivatives of the rates by (ξ, η)."""
        columns = [
            (self.rate(t, x + STEP * e) - self.rate(t, x - STEP * e)) / (2.0 * STEP)
            for e in np.eye(len(x))
        ]
        return np.array(columns).T

    def tangents(self, x: FloatArray, t: float, *, growing: bool) -> FloatArray:
        """Rows that vanish on deviations from rest without parts that grow, or that decay."""
        found: Any = np.linalg.eig(self.slopes(x, t).T)
        values, left = found
        sign = 1.0 if growing else -1.0
        chosen = left[:, sign * np.real(values) > AXIS * np.abs(values).max()]
        if not chosen.shape[1]:
            return np.zeros((0, len(x)))
        U, _, _ = np.linalg.svd(np.hstack([chosen.real, chosen.imag]))
        return U[:, : chosen.shape[1]].T
