"""Kinematic analysis: positions, velocities and accelerations at given values along a path.

All values at once: interpolated between the nodes of a path, then corrected by Newton's method with
s held, A Δ = −φ, and at the end

    v = −A⁺ φ_s,      v̇ = A⁺ b̂(x, (v, 1))

Next to a change point A is nearly singular and φ/σ is rounding by itself. The motion is smooth
there, and is interpolated across it from four places on both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from zwang.analysis.path_following import CHANGE, Follower, Path, cubic
from zwang.terms import FloatArray

__all__ = ["Samples", "sampled"]

#: Rounds of Newton's method; the third already works with rounding.
ROUNDS = 8
#: Correction, scaled, that ends them.
SETTLED = 1e-14
#: Arc from a change point to the first place that interpolation across it uses; the second is twice
#: as far. Errors of order eight are then 1e-12, and those of A⁺ at the places 1e-15/0.06.
ACROSS = 0.06


@dataclass(frozen=True)
class Samples:
    """States along a path.

    Attributes
    ----------
    q, v, acceleration : coordinates, and their first and second derivatives by s as velocities.
    branch : +1 on the side of singular places where the path began, −1 on the other, shape (n,).
    spread : least pivot of the scaled rows A: how far singular positions are, (n,).
    residual : largest |φ|, shape (n,).
    """

    q: FloatArray
    v: FloatArray
    acceleration: FloatArray
    branch: FloatArray
    spread: FloatArray
    residual: FloatArray


def sampled(follower: Follower, path: Path, s: FloatArray) -> Samples:
    """States at values of s that the path covers."""
    x, branch = _interpolated(path, s)
    result = _solved(follower, x, branch)
    for place in path.singular:
        if place.kind == CHANGE:
            _bridge(follower, path, float(place.x[-1]), place.after, s, result)
    return result


def _interpolated(path: Path, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """x at values of s by cubic interpolation, and the sign of the branch there."""
    nodes = path.nodes
    known = np.array([node.s for node in nodes])
    forward = len(nodes) < 2 or known[1] >= known[0]
    order = known if forward else -known
    where = np.clip(
        np.searchsorted(order, s if forward else -s, side="right") - 1, 0, max(len(nodes) - 2, 0)
    )
    if len(nodes) < 2:
        x = np.tile(nodes[0].x, (len(s), 1))
    else:
        X, slopes = np.array([n.x for n in nodes]), np.array([n.slope for n in nodes])
        H = np.diff([n.length for n in nodes])[where][:, None]
        ends = X[where], X[where + 1], H * slopes[where], H * slopes[where + 1]
        a, b, slope_a, slope_b = (e[:, -1] for e in ends)
        shares = _shares(a, b, slope_a, slope_b, s)
        x = cubic(shares[:, None], *ends)
        if path.dense is not None:
            x = _on_dense(path.dense, np.array([n.length for n in nodes]), where, s)
    x[:, -1] = s
    crossed = np.array([p.x[-1] for p in path.singular if p.kind == CHANGE])
    passed = (s[:, None] >= crossed) if forward else (s[:, None] <= crossed)
    return x, np.where(np.sum(passed, axis=1) % 2 == 0, 1.0, -1.0)


def _shares(
    a: FloatArray, b: FloatArray, slope_a: FloatArray, slope_b: FloatArray, s: FloatArray
) -> FloatArray:
    """Shares of each arc at which the interpolated s, monotonous there, has given values."""
    low, high = np.zeros(len(s)), np.ones(len(s))
    for _ in range(40):
        middle = 0.5 * (low + high)
        beyond = (cubic(middle, a, b, slope_a, slope_b) - s) * (b - a) > 0.0
        high, low = np.where(beyond, middle, high), np.where(beyond, low, middle)
    return 0.5 * (low + high)


def _on_dense(
    dense: Callable[[FloatArray], FloatArray], lengths: FloatArray, where: np.ndarray, s: FloatArray
) -> FloatArray:
    """x of an integrated path at values of s."""
    low, high = lengths[where], lengths[where + 1]
    rising = dense(lengths[-1:])[0, -1] > dense(lengths[:1])[0, -1]
    for _ in range(54):
        middle = 0.5 * (low + high)
        beyond = (dense(middle)[:, -1] > s) == rising
        high, low = np.where(beyond, middle, high), np.where(beyond, low, middle)
    return dense(0.5 * (low + high))


def _solved(follower: Follower, x: FloatArray, branch: FloatArray) -> Samples:
    """Newton's method with s held, then velocities and accelerations."""
    equations = follower.equations
    x = equations.unit(x)
    last = np.full(len(x), np.inf)
    active = np.ones(len(x), dtype=bool)
    for _ in range(ROUNDS):
        at = equations.geometry(x[active])
        step = np.zeros((len(at.phi), equations.nv + 1))
        step[:, :-1] = _Inverse(follower, at.rows[..., :-1])(-at.phi)
        size = np.linalg.norm(step[:, :-1] / follower.D[:-1], axis=1)
        x[active] = equations.moved(x[active], step)
        running = (size > SETTLED) & (size < 0.5 * last[active])
        last[active] = size
        active[active] = running
        if not active.any():
            break
    at = equations.geometry(x)
    inverse = _Inverse(follower, at.rows[..., :-1])
    v = inverse(-at.rows[..., -1])
    w = np.concatenate([v, np.ones((len(v), 1))], axis=1)
    acceleration = inverse(equations.bias(x, w))
    residual = np.abs(at.phi).max(axis=1, initial=0.0)
    return Samples(x[:, :-1], v, acceleration, branch, inverse.spread, residual)


class _Inverse:
    """A⁺ at many places, for several right sides; of least norm where motions are idle.

    Attributes
    ----------
    spread : least pivot or singular value of the scaled rows that is not of an idle motion, (n,).
    """

    def __init__(self, follower: Follower, A: FloatArray) -> None:
        self.follower = follower
        self.scaled = follower.E[:, None] * A * follower.D[:-1]
        self.rank = A.shape[-1] - follower.idle
        if follower.idle:
            self.first, self.values, last = np.linalg.svd(self.scaled, full_matrices=False)
            self.last = np.swapaxes(last, 1, 2)
            self.spread = self.values[:, self.rank - 1]
        else:
            self.first, self.last = np.linalg.qr(self.scaled)
            self.spread = np.abs(np.einsum("nii->ni", self.last)).min(axis=1, initial=np.inf)

    def __call__(self, right: FloatArray) -> FloatArray:
        """Least-squares solutions of A w = right, shape (n, nv)."""
        right, r = self.follower.E * right, self.rank
        seen = np.einsum("nij,ni->nj", self.first[..., :r], right)
        if self.follower.idle:
            found = np.einsum("nij,nj->ni", self.last[..., :r], seen / self.values[:, :r])
        else:
            try:
                found = np.linalg.solve(self.last, seen[..., None])[..., 0]
            except np.linalg.LinAlgError:  # one of them is singular to the last bit
                found = np.einsum("nij,nj->ni", np.linalg.pinv(self.scaled), right)
        return self.follower.D[:-1] * found


def _bridge(
    follower: Follower, path: Path, place: float, after: int, s: FloatArray, result: Samples
) -> None:
    """Replace states next to a change point by interpolated ones."""
    from scipy.interpolate import KroghInterpolator

    a, b = path.nodes[after], path.nodes[after + 1]
    reach = ACROSS * abs(b.s - a.s) / (b.length - a.length)
    ends = sorted((path.nodes[0].s, path.nodes[-1].s))
    reach = min(reach, 0.5 * (place - ends[0]), 0.5 * (ends[1] - place))
    near = np.abs(s - place) < reach
    if not near.any() or reach <= 0.0:
        return
    at = place + reach * np.array([-2.0, -1.0, 1.0, 2.0])
    known = _solved(follower, *_interpolated(path, at))
    x = np.concatenate([known.q, at[:, None]], axis=1)
    w = np.concatenate([known.v, np.ones((4, 1))], axis=1)
    rate = follower.equations.rate(x, w)[:, :-1]
    twice = np.repeat((at - place) / reach, 2)

    def across(value: FloatArray, slope: FloatArray) -> KroghInterpolator:
        return KroghInterpolator(twice, np.stack([value, reach * slope], axis=1).reshape(8, -1))

    u = (s[near] - place) / reach
    q = across(known.q, rate)(u)
    result.q[near] = follower.equations.unit(np.column_stack([q, s[near]]))[:, :-1]
    v = across(known.v, known.acceleration)
    result.v[near], result.acceleration[near] = v(u), v.derivative(u) / reach
    phi = follower.equations.geometry(np.column_stack([result.q[near], s[near]])).phi
    result.residual[near] = np.abs(phi).max(axis=1, initial=0.0)
