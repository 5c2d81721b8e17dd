"""Integrals of functions that are costly in calls and cheap in values.

A function is sampled on pieces at Gauss–Legendre nodes, all pieces in one call, and written as sums
of Legendre polynomials. Where the last of these still count, a piece is divided.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from zwang.terms import FloatArray

__all__ = ["Antiderivative"]

#: Nodes of a piece. On half a step of an integrator ten have errors of 1e-9 or so, by the distance
#: at which its steps take a motion for analytic.
NODES = 10
#: Pieces that a step is divided into first, and a piece whose last polynomials count.
FIRST, THEN = 2, 4
#: How often pieces are divided: beyond, a function jumps.
DIVISIONS = 4


class Antiderivative:
    """∫ f dt from the first time on, for several functions at once.

    Parameters
    ----------
    f : values (k, n) at n ascending times.
    first, last : where it is known.
    length : within which it is smooth, about.
    error : of f that is allowed, relative to its largest value or to `size`.
    """

    def __init__(
        self,
        f: Callable[[FloatArray], FloatArray],
        first: float,
        last: float,
        length: float,
        error: float,
        size: float,
    ) -> None:
        count = max(int(np.ceil(FIRST * (last - first) / length)), 1)
        edges = np.linspace(first, last, count + 1)
        found = _coefficients(f, edges[:-1], edges[1:])
        for _ in range(DIVISIONS):
            most = np.maximum(np.abs(found[..., 0]).max(axis=1, keepdims=True), size)
            tail = np.abs(found[..., -2:]).max(axis=2)
            rough = (tail > error * most).any(axis=0)
            if not rough.any():
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
        P = np.polynomial.legendre.legvander((t - a) / half - 1.0, NODES)
        k = np.arange(1, NODES)
        integral = np.empty((len(t), NODES))
        integral[:, 0] = P[:, 0] + P[:, 1]
        integral[:, 1:] = (P[:, 2:] - P[:, :-2]) / (2 * k + 1)
        inner = np.einsum("kni,ni->kn", self._coefficients[:, piece], integral)
        return self._before[:, piece] + half * inner


def _divided(
    f: Callable[[FloatArray], FloatArray],
    edges: FloatArray,
    found: FloatArray,
    rough: np.ndarray,
) -> tuple[FloatArray, FloatArray]:
    """Edges and coefficients with rough pieces divided."""
    shares = np.linspace(0.0, 1.0, THEN + 1)
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
