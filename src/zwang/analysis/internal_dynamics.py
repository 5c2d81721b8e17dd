"""Analysis of servo constraints: motion and efforts over time, forward or by boundary values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zwang.analysis.bounded_motion import internal_motion
from zwang.analysis.derivative_array import DerivativeArray
from zwang.analysis.realizability import NOTHING, Realizability
from zwang.errors import InputError, NotApplicableError
from zwang.terms import FloatArray

__all__ = ["MARGINAL", "REST", "Inversion", "require_rest"]

#: Local error of internal dynamics that is integrated, and of its boundary-value problem.
FORWARD, BOUNDARY = 1e-11, 1e-5
#: Places at which the boundary-value problem is guessed.
PLACES = 41
#: Places over the times at which jets are kept as first guesses for their neighbors.
NEIGHBORS = 400
#: How far a program may be from rest at its ends, as a share of its travel, where boundary values
#: need rest.
REST = 1e-6
#: Places, beside the times that are asked for, at which is looked how far and how fast it goes.
LOOKED_AT = 200
#: Corrections of coordinates, of bodies beside their sizes, from which a shorter step is taken:
#: half a turn away is another position of the same program.
BRANCH = 0.1
#: Halvings of a step over which the derivatives of one instant predict the next.
HALVINGS = 12

MARGINAL = (
    "internal dynamics is marginal: what the program leaves free does not settle by itself, so "
    "that all of its motion depends on how it starts"
)


class Inversion:
    """One servo problem over its times.

    Parameters
    ----------
    array : of the order of the index.
    wanted : (order, t) → program and derivatives.
    z : start, shape (nz,).
    """

    def __init__(
        self,
        array: DerivativeArray,
        wanted: Callable[[int, float], FloatArray],
        facts: Realizability,
        times: FloatArray,
        z: FloatArray,
    ) -> None:
        self.array, self.facts, self.times = array, facts, times
        self.wanted = lambda t: wanted(array.order, t)
        self.nx = array.nq + array.nv
        guess = np.zeros((array.order + 2, array.nz))
        guess[0] = z
        root = array.solve(guess, self.wanted(times[0]), times[0], self._pin(z[: self.nx]))
        if not root.holds:
            root = array.solve(guess, self.wanted(times[0]), times[0])
        if not root.holds:
            raise self._lost(times[0])
        self.first = root.jets
        self.known = np.ones(self.first.shape, dtype=bool)

    def solve(self) -> tuple[FloatArray, str, list[str]]:
        """Jets at all times, how they were found, and notes."""
        kind = self.facts.internal
        if kind == "none":
            return self._differentiated(), "differentiation", []
        if kind in ("stable", "marginal"):
            return self._forward(), "initial value problem", [MARGINAL] * (kind == "marginal")
        if kind == "not hyperbolic":
            shown = ", ".join(f"{x:.4g}" for x in self.facts.internal_eigenvalues)
            raise NotApplicableError(
                f"program {self._name}",
                must="leave internal dynamics that is stable, or without eigenvalues on the "
                "imaginary axis, so that it can be inverted",
                but=f"leaves one that is unstable with such eigenvalues ({shown})",
                advice="Program another quantity, or add an actuator.",
            )
        return self._bounded(), "boundary value problem", []

    @property
    def _name(self) -> str:
        return ", ".join(map(repr, self.facts.programs))

    def _lost(self, t: float) -> NotApplicableError:
        return NotApplicableError(
            f"program {self._name}",
            must="be one that the system can follow from its start",
            but=f"no motion that follows it was found at t = {t:.6g}",
        )

    def _pin(self, x: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        P = self.facts.directions
        return (P, P @ x) if len(P) else None

    # --- differentiation --------------------------------------------------------------------------

    def _differentiated(self) -> FloatArray:
        t = float(self.times[0])
        free = self.array.free(self.first, self.wanted(t), t, given=False)
        self.known = np.abs(free).max(axis=2, initial=0.0) < NOTHING
        found = [self.first]
        for a, b in zip(self.times[:-1], self.times[1:], strict=True):
            found.append(self._carried(found[-1], float(a), float(b), HALVINGS))
        return np.array(found)

    def _carried(self, jets: FloatArray, a: float, b: float, depth: int) -> FloatArray:
        """Jets at b from those at a, in steps as short as Newton's method needs."""
        # The highest derivatives are not determined by an array of this order, and predict nothing.
        ahead = shifted(np.where(self.known, jets, 0.0), b - a)
        root = self.array.solve(ahead, self.wanted(b), b)
        nq = self.array.nq
        change = np.abs(root.jets[0] - ahead[0])[:nq]
        far = (change / self.array.sizes[:nq] if self.array.of_bodies else change).max(initial=0.0)
        if root.holds and (far < BRANCH or not depth):
            return root.jets
        if not depth:
            raise self._lost(b)
        middle = 0.5 * (a + b)
        half = self._carried(jets, a, middle, depth - 1)
        return self._carried(half, middle, b, depth - 1)

    # --- forward ----------------------------------------------------------------------------------

    def _at(self, t: float, x: FloatArray, near: FloatArray) -> FloatArray:
        """Jets at a time with the internal motion of a state."""
        guess = near.copy()
        guess[0, : self.nx] = x
        root = self.array.solve(guess, self.wanted(t), t, self._pin(x))
        if not root.holds:
            raise self._lost(t)
        return root.jets

    def _forward(self) -> FloatArray:
        from scipy.integrate import solve_ivp

        near = [self.first]

        def rate(t: float, x: FloatArray) -> FloatArray:
            near[0] = self._at(t, x, near[0])
            return near[0][1, : self.nx]

        ends = float(self.times[0]), float(self.times[-1])
        x = self.first[0, : self.nx]
        run = solve_ivp(rate, ends, x, "DOP853", t_eval=self.times, rtol=FORWARD, atol=FORWARD)
        if not run.success:
            raise self._lost(float(run.t[-1]) if len(run.t) else ends[0])
        near[0] = self.first
        found = []
        for t, state in zip(self.times, run.y.T, strict=True):
            near[0] = self._at(float(t), state, near[0])
            found.append(near[0])
        return np.array(found)

    # --- boundary values --------------------------------------------------------------------------

    def _bounded(self) -> FloatArray:
        require_rest(lambda _, t: self.wanted(t), self.times, self._name)
        P, W = self.facts.directions, self.facts.matrix
        found: Any = np.linalg.eig(W.T)
        values, left = found
        stable = _real(left[:, np.real(values) < 0.0])
        unstable = _real(left[:, np.real(values) > 0.0])
        at_rest = P @ self.first[0, : self.nx]
        at_end = self._equilibrium(at_rest)
        span = float(self.times[-1] - self.times[0])
        kept: dict[int, FloatArray] = {}
        last = [self.first]

        def jets(t: float, xi: FloatArray) -> FloatArray:
            place = round(NEIGHBORS * (t - self.times[0]) / span)
            root = self.array.solve(kept.get(place, last[0]), self.wanted(t), t, (P, xi))
            if not root.holds:
                raise self._lost(t)
            kept[place] = last[0] = root.jets
            return root.jets

        def rate(t: FloatArray, xi: FloatArray) -> FloatArray:
            pairs = zip(t, xi.T, strict=True)
            return np.array([P @ jets(float(s), x)[1, : self.nx] for s, x in pairs]).T

        def ends(a: FloatArray, b: FloatArray) -> FloatArray:
            return np.concatenate([stable @ (a - at_rest), unstable @ (b - at_end)])

        rest = at_rest, at_end
        found = internal_motion(rate, ends, self.times, rest, (PLACES, BOUNDARY), self._name)
        return np.array(
            [jets(float(t), x) for t, x in zip(self.times, found(self.times).T, strict=True)]
        )

    def _equilibrium(self, xi: FloatArray) -> FloatArray:
        """The internal state at rest at the end."""
        from scipy.optimize import fsolve

        P, t = self.facts.directions, float(self.times[-1])
        near = self._carried_at_rest()

        def rate(x: FloatArray) -> FloatArray:
            return P @ self.array.solve(near, self.wanted(t), t, (P, x)).jets[1, : self.nx]

        start = P @ near[0, : self.nx] if near is not None else xi
        return np.asarray(fsolve(rate, start, xtol=1e-12))

    def _carried_at_rest(self) -> FloatArray:
        """Jets near rest at the last time."""
        guess = self.first.copy()
        guess[0, self.array.nq : self.nx] = 0.0
        guess[1:] = 0.0
        t = float(self.times[-1])
        return self.array.solve(guess, self.wanted(t), t).jets


def require_rest(wanted: Callable[[int, float], FloatArray], times: FloatArray, name: str) -> None:
    """Refuse a program that moves at the first or the last time, in its own time and travel.

    At rest its rate over the whole time, and its acceleration over this and the time that its
    travel takes at its fastest, would lead it a share of its travel.
    """
    span = float(times[-1] - times[0])
    some = np.unique(np.append(times, np.linspace(times[0], times[-1], LOOKED_AT)))
    values = np.array([wanted(1, float(t))[:2] for t in some])
    travel = np.ptp(values[:, 0], axis=0)
    fastest = np.maximum(np.abs(values[:, 1]).max(axis=0), travel / span)
    still, limit = REST * travel / span, REST * fastest / span
    for t in (times[0], times[-1]):
        _, rate, acceleration = np.abs(wanted(2, float(t))[:3])
        if (rate > still).any() or (acceleration > limit).any():
            raise InputError(
                f"program {name}",
                must="be one that begins and ends at rest, with time before and after it, as "
                "internal dynamics is unstable",
                but=f"moves at t = {t:.6g}, at a rate of {rate.max():.3g}"
                if (rate > still).any()
                else f"moves at t = {t:.6g}, with an acceleration of {acceleration.max():.3g}",
            )


def shifted(jets: FloatArray, h: float) -> FloatArray:
    """Jets a time h later by Taylor's series."""
    n = len(jets)
    result = np.zeros_like(jets)
    for j in range(n):
        factor = 1.0
        for k in range(j, n):
            result[j] += factor * jets[k]
            factor *= h / (k - j + 1)
    return result


def _real(vectors: FloatArray) -> FloatArray:
    """Real rows with the span of conjugate columns."""
    if not vectors.shape[1]:
        return np.zeros((0, len(vectors)))
    both = np.hstack([vectors.real, vectors.imag])
    U, _, _ = np.linalg.svd(both)
    return U[:, : vectors.shape[1]].T
