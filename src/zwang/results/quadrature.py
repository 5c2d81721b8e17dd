"""Energy balance of a run: integrals of powers over its steps.

Where a function is known at many times, polynomials through ten neighbors are integrated from each
to the next, and those through eight tell the error (`integrals_of_samples`). Where that is too
large, it is sampled on pieces at Gauss–Legendre nodes, all pieces in one call, and written as sums
of Legendre polynomials; where the last of these still count, a piece is divided (`Antiderivative`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from zwang.terms import FloatArray

__all__ = ["Antiderivative", "integrals_of_samples"]

#: Nodes of a piece. On half a step of an integrator ten have errors of 1e-9 or so, by the distance
#: at which its steps take a motion for analytic.
NODES = 10
#: New pieces of one whose last polynomials count; as many in all take as long to be sampled as they
#: take to be asked for.
THEN, CHEAP = 4, 16
#: How often pieces are divided; and how often where no more than a few are rough, which a function
#: jumps in: until the piece with the jump is a millionth of the others and less.
DIVISIONS, AT_JUMPS, FEW = 4, 9, 16
#: Pieces shorter than this, relative to the times, are not divided: their times are rounding.
SHORTEST = 1e-12
#: Neighbors that a polynomial goes through, and those of the one that it is compared with.
NEIGHBORS, FEWER = 10, 8
#: So many times the allowed error may be made on one interval, and its inverse on all together.
AT_ENDS = 10.0
#: Spacings that differ by less, relative, are even; so many windows with others are worth weights
#: of their own.
EVEN, UNEVEN = 1e-9, 100


class Antiderivative:
    """∫ f dt from the first time on, for several functions at once; zero over no time.

    Parameters
    ----------
    f : values (k, n) at n ascending times.
    edges : of the first pieces, between which it is smooth, about.
    error : of f that is allowed, relative to its largest value or to `size`.
    """

    def __init__(
        self,
        f: Callable[[FloatArray], FloatArray],
        edges: FloatArray,
        error: float,
        size: float,
    ) -> None:
        if len(edges) == 1:
            edges = np.repeat(edges, 2)
        found = _coefficients(f, edges[:-1], edges[1:])
        for division in range(AT_JUMPS):
            most = np.maximum(np.abs(found[..., 0]).max(axis=1, keepdims=True), size)
            tail = np.abs(found[..., -2:]).max(axis=2)
            rough = (tail > error * most).any(axis=0)
            rough &= np.diff(edges) > SHORTEST * np.abs(edges).max()
            if not rough.any() or (division >= DIVISIONS and np.count_nonzero(rough) > FEW):
                break
            edges, found = _divided(f, edges, found, rough)
        self.edges, self._coefficients = edges, found
        whole = found[..., 0] * np.diff(edges)
        self._before = np.concatenate([np.zeros((len(whole), 1)), np.cumsum(whole, axis=1)], axis=1)

    def __call__(self, t: FloatArray) -> FloatArray:
        """The integrals up to times within, shape (k, n)."""
        piece = np.clip(np.searchsorted(self.edges, t, side="right") - 1, 0, len(self.edges) - 2)
        a, b = self.edges[piece], self.edges[piece + 1]
        half = 0.5 * (b - a)
        # ∫ Pₖ from −1 to x is (Pₖ₊₁ − Pₖ₋₁)/(2k + 1), and 1 + x of P₀.
        P = _legendre(np.divide(t - a, half, out=np.zeros_like(t), where=half > 0.0) - 1.0)
        integral = np.empty((NODES, len(t)))
        np.add(P[0], P[1], out=integral[0])
        np.divide(P[2:] - P[:-2], _ODD, out=integral[1:])
        inner = np.einsum("kni,in->kn", self._coefficients[:, piece], integral)
        return self._before[:, piece] + half * inner


_ODD = 2.0 * np.arange(1, NODES)[:, None] + 1.0


def _legendre(x: FloatArray) -> FloatArray:
    """Pₖ(x) for k up to NODES, (NODES + 1, n), by their recurrence."""
    P = np.empty((NODES + 1, len(x)))
    P[0], P[1] = 1.0, x
    for k in range(2, NODES + 1):
        np.multiply(P[k - 1], x, out=P[k])
        P[k] *= 2 * k - 1
        P[k] -= (k - 1) * P[k - 2]
        P[k] /= k  # last, so that they are ±1 at the ends to the bit
    return P


def integrals_of_samples(
    t: FloatArray, f: FloatArray, error: float, size: float
) -> tuple[FloatArray, slice] | None:
    """∫ f dt from each of ascending times to the next, (k, n − 1), from values (k, n) there.

    With the intervals, from the first to the last, on which f is not smooth enough between the
    times: by more than `error` of its largest value, or of `size`. What is found there is of no
    use. None where times are too few or too uneven, or f is not smooth on more than half of them.
    """
    steps = np.diff(t)
    if len(t) < 2 * NEIGHBORS or not np.all(steps > 0.0):
        return None
    mean = float(np.partition(steps, len(steps) // 2)[len(steps) // 2])  # shorter next to events
    uneven = np.flatnonzero(np.abs(steps - mean) > EVEN * mean)
    high, low = (_from_each_to_next(t, f, n, mean, uneven) for n in (NEIGHBORS, FEWER))
    if high is None or low is None:
        return None
    most = np.maximum(np.abs(f).max(axis=1, keepdims=True), size)
    apart = np.abs(high - low)
    where = np.flatnonzero((apart > error / AT_ENDS * most * steps).any(axis=0))
    rough = slice(int(where[0]), int(where[-1]) + 1) if len(where) else slice(0, 0)
    if 2 * (rough.stop - rough.start) > len(steps):  # perhaps the ends alone
        rough = slice(0, 0)
        if np.any(apart > AT_ENDS * error * most * steps):
            return None
    apart[:, rough] = 0.0
    # Errors add up to that of the last integral; next to the ends they are larger than within.
    whole = apart.sum(axis=1, keepdims=True) <= error * most * (t[-1] - t[0]) / AT_ENDS
    return (high, rough) if whole.all() else None


def _from_each_to_next(
    t: FloatArray, f: FloatArray, neighbors: int, mean: float, uneven: np.ndarray
) -> FloatArray | None:
    """Integrals from each time to the next of polynomials through so many neighbors, (k, n − 1).

    Parameters
    ----------
    mean, uneven : distance of most times, and the intervals that are of another length.
    """
    n, half = len(t), neighbors // 2 - 1
    first = np.clip(np.arange(n - 1) - half, 0, n - neighbors)  # of the window of each interval
    within = np.searchsorted(uneven, np.stack([first, first + neighbors - 1]))
    own = within[1] > within[0]  # windows that need weights of their own
    odd = np.flatnonzero(own)
    if len(odd) > UNEVEN:
        return None
    weights = mean * _even_weights(neighbors)
    windows = np.lib.stride_tricks.sliding_window_view(f, neighbors, axis=1)
    found = np.empty((len(f), n - 1))
    inner = slice(half, n - neighbors + half + 1)
    found[:, inner] = windows @ weights[half]
    found[:, :half] = windows[:, 0] @ weights[:half].T
    found[:, inner.stop :] = windows[:, -1] @ weights[half + 1 :].T
    if len(odd):
        at = first[odd, None] + np.arange(neighbors)
        found[:, odd] = np.einsum(
            "knj,nj->kn", windows[:, first[odd]], _weights(t[at], t[odd], t[odd + 1])
        )
    return found


@cache
def _even_weights(neighbors: int) -> FloatArray:
    """Weights for each interval between even times of unit distance, (neighbors − 1, neighbors)."""
    x = np.arange(float(neighbors))
    return _weights(np.tile(x, (neighbors - 1, 1)), x[:-1], x[1:])


def _weights(nodes: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Weights at nodes (n, m) of the integrals from a to b of polynomials through them."""
    middle, half = 0.5 * (nodes[:, 0] + nodes[:, -1]), 0.5 * (nodes[:, -1] - nodes[:, 0])
    count = nodes.shape[1]
    places = np.concatenate([nodes, a[:, None], b[:, None]], axis=1)
    P = np.polynomial.legendre.legvander((places - middle[:, None]) / half[:, None], count)
    moments = np.empty((len(nodes), count))
    change = P[:, -1] - P[:, -2]  # ∫ Pₖ = (Pₖ₊₁ − Pₖ₋₁)/(2k + 1)
    moments[:, 0] = change[:, 1]
    moments[:, 1:] = (change[:, 2:] - change[:, :-2]) / (2 * np.arange(1, count) + 1)
    inner = np.swapaxes(P[:, :count, :count], 1, 2)
    found = np.linalg.solve(inner, moments[:, :, None])[..., 0]
    return half[:, None] * found


def _divided(
    f: Callable[[FloatArray], FloatArray],
    edges: FloatArray,
    found: FloatArray,
    rough: np.ndarray,
) -> tuple[FloatArray, FloatArray]:
    """Edges and coefficients with rough pieces divided."""
    shares = np.linspace(0.0, 1.0, max(THEN, CHEAP // np.count_nonzero(rough)) + 1)
    new = edges[:-1][rough, None] + np.diff(edges)[rough, None] * shares
    new[:, -1] = edges[1:][rough]
    starts, ends = new[:, :-1].ravel(), new[:, 1:].ravel()
    every = np.concatenate([edges[:-1][~rough], starts])
    order = np.argsort(every)
    more = _coefficients(f, starts, ends)
    found = np.concatenate([found[:, ~rough], more], axis=1)[:, order]
    return np.append(every[order], edges[-1]), found


def _coefficients(
    f: Callable[[FloatArray], FloatArray], starts: FloatArray, ends: FloatArray
) -> FloatArray:
    """Of Legendre polynomials on each piece, shape (k, pieces, NODES)."""
    nodes, transform = _rule()
    half = 0.5 * (ends - starts)
    times = starts[:, None] + half[:, None] * (1.0 + nodes)
    values = f(times.ravel())
    return values.reshape(len(values), len(starts), NODES) @ transform


@cache
def _rule() -> tuple[FloatArray, FloatArray]:
    """Nodes, and the matrix from values there to coefficients."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    P = np.polynomial.legendre.legvander(nodes, NODES - 1)
    return nodes, weights[:, None] * P * (np.arange(NODES) + 0.5)
