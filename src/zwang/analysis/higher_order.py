"""Stability of rest beyond the second variation: what a neutral displacement meets farther on.

Where Kz = 0, nothing resists z to second order: rest may be one of a family along z, or terms of
higher order decide. The reduced energy W(s) is that at the displacement s z on the constraints with
all that K resists at rest (Lyapunov and Schmidt), and

    −W′(s) = zᵀ(Q + C + Aᵀλ) = c sᵖ + …

is computed at displacements of all sizes, as no length is known beside which they are small. A
family has W′ = 0. Otherwise p and the sign of c on both sides follow from where the powers of s are
clean, and the force below is what they say: a stop farther on is no such term.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from zwang.analysis.equations_of import EquationsOf
from zwang.analysis.search import Point, point_at
from zwang.analysis.stability import NEUTRAL, Variation
from zwang.errors import ZwangError
from zwang.terms import FloatArray

__all__ = ["HigherOrder", "beyond_second_order"]

#: Ratio of displacements, and its exponents: from what rounding leaves to far away.
RATIO, SIZES = 4.0, np.arange(-24.0, 13.0)
#: Some of them: where no force is found at several, rest is one of a family.
FEW = (-8.0, -2.0, 0.0, 3.0, 6.0, 12.0)
#: Velocities up to which it is looked at.
MOST = 60
#: A force below this share of all forces may be rounding.
ROUNDING = 1e-12
#: Displacements in a row over which a power is clean, how far it may be off, and by how much the
#: force at smaller ones may differ from it.
CLEAN, OFF, BELOW = 3, 0.05, 0.2
#: Orders of the force that are looked for; the first would be one of K.
ORDERS = range(2, 8)
#: Corrections of what K resists, when they have come to rest, and by how much they must contract.
ROUNDS, SETTLED, CONTRACTED = 20, 1e-13, 0.5
#: What rounding may keep them from, beside the displacement.
STALLED = 1e-6
#: Directions that are drawn where several displacements are neutral, beside these.
DRAWN = 4


class HigherOrder(NamedTuple):
    """What decides where the second variation does not.

    Attributes
    ----------
    stability : ``"marginal"`` where nothing else is found.
    order : of the force along the neutral displacements, the lowest; 0 where there is none.
    """

    stability: str
    order: int


def beyond_second_order(equations: EquationsOf, at: Point, variation: Variation) -> HigherOrder:
    """Stability of a rest that is marginal by its second variation.

    One neutral displacement is decided either way; of several, one that the force drives on makes
    rest unstable, and those that are looked at cannot show that it is stable.
    """
    Z = variation.neutral
    if not Z.shape[1] or equations.nv > MOST:
        return HigherOrder("marginal", 0)
    neutral = np.linalg.qr(Z / at.spaces.d[:, None])[0]
    drawn = np.random.default_rng(0).standard_normal((neutral.shape[1], DRAWN))
    ways = np.eye(1) if neutral.shape[1] == 1 else np.hstack([np.eye(len(drawn)), drawn])
    reduced = _ReducedEnergy(equations, at, variation)
    orders, driven, resisted = [], False, False
    for way in ways.T:
        z = neutral @ (way / np.linalg.norm(way))
        sides = [reduced.leading(z * sign) for sign in (1.0, -1.0)]
        orders += [abs(p) for p in sides if p]
        driven |= any(p > 0 for p in sides)
        resisted |= all(p < 0 for p in sides)
    if driven:
        return HigherOrder("unstable", min(orders))
    if not resisted:
        return HigherOrder("marginal", 0)
    return HigherOrder("stable" if neutral.shape[1] == 1 else "undecided", min(orders))


class _ReducedEnergy:
    """Forces along neutral displacements with all others at rest."""

    def __init__(self, equations: EquationsOf, at: Point, variation: Variation) -> None:
        self.equations, self.at, d = equations, at, at.spaces.d
        self.size = float(np.abs(d * at.force).max(initial=0.0))
        self.size = max(self.size, float(np.abs(at.values.A.T @ at.lam * d).max(initial=0.0)))
        values, vectors = np.linalg.eigh(0.5 * (variation.K + variation.K.T))
        resisted = np.abs(values) > NEUTRAL * variation.scale
        D = variation.basis @ vectors[:, resisted]
        self.D, self.stiff = D, values[resisted]
        self.length = float(np.abs(at.q).max(initial=0.0)) or 1.0

    def leading(self, z: FloatArray) -> int:
        """The order of the force along z, negative where it resists; 0 of none that is clean."""
        least = ROUNDING * self.size
        few = self.forces(z, FEW)
        if np.isfinite(few).sum() > 1 and not (np.abs(few) > least).any():
            return 0
        force = self.forces(z, SIZES)
        told = np.abs(force) > least
        for i in range(len(force) - CLEAN + 1):
            own = force[i : i + CLEAN]
            if not told[i : i + CLEAN].all():
                continue
            powers = np.log(np.abs(own[1:] / own[:-1])) / np.log(RATIO)
            p = round(float(powers[0]))
            clean = bool((np.abs(RATIO ** (powers - p) - 1.0) < OFF).all())
            if not clean or p not in ORDERS or np.ptp(np.sign(own)):
                return 0
            expected = own[0] * RATIO ** (p * np.arange(-i, 0.0))
            off = np.abs(force[:i] - expected)
            small = np.isnan(off) & (np.abs(expected) < least)  # beside the last digits of q
            if not (small | (off <= BELOW * np.abs(expected) + least)).all():
                return 0
            return p if own[0] > 0.0 else -p
        return 0

    def forces(self, z: FloatArray, sizes: Iterable[float]) -> FloatArray:
        """−W′ at s z, z in scaled displacements, for sizes of s; NaN where none is found."""
        found = []
        with np.errstate(all="ignore"):
            for k in sizes:
                try:
                    left = self._left(z, self.length * RATIO**k)
                except (
                    ZwangError,
                    np.linalg.LinAlgError,
                ):  # too far away for what functions are of
                    left = None
                found.append(np.nan if left is None else float(z @ (self.at.spaces.d * left)))
        return np.array(found)

    def _left(self, z: FloatArray, s: float) -> FloatArray | None:
        """Forces that are left at s z with all that K resists at rest."""
        equations, d, last = self.equations, self.at.spaces.d, np.inf
        q, met = equations.corrected(equations.moved(self.at.q, s * d * z, self.at.values.N))
        for _ in range(ROUNDS):
            if not met or not np.isfinite(q).all():
                return None
            now = point_at(equations, q)
            left = now.force + now.values.A.T @ now.lam
            if not len(self.stiff):
                return left
            step = self.D @ ((self.D.T @ left) / self.stiff)
            size = float(np.abs(step / d).max(initial=0.0))
            if size <= SETTLED * s:
                return left
            if size > CONTRACTED * last:  # rounding, or too far away
                return left if size <= STALLED * s else None
            q, met = equations.corrected(equations.moved(q, step, now.values.N))
            last = size
        return None
