"""Random systems over conditions, scales, ranks and precisions, with ranks planted exactly.

Independent rows have singular values spread over a chosen condition, on a grid of 46 bits; other
rows are small integer combinations of them, so that every sum is exact and a planted dependency is
a fact. Units of coordinates and rows are powers of two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["FAMILIES", "Drawn", "contradictory", "draw", "in_single_precision", "last_bits"]

FloatArray = NDArray[np.floating]

FAMILIES = ("plain", "units", "masses")
BITS = 46


@dataclass(frozen=True)
class Drawn:
    """One system; `dependent` are rows that are combinations of others (or zero)."""

    M: FloatArray
    Q: FloatArray
    A: FloatArray
    b: FloatArray
    dependent: tuple[int, ...]

    @property
    def terms(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """In the order that `zwang.solve` takes."""
        return self.M, self.Q, self.A, self.b

    @property
    def mass_ratio(self) -> float:
        """Largest over smallest diagonal entry of M that is not zero."""
        inertia = np.diag(self.M)[np.diag(self.M) > 0.0]
        return float(inertia.max() / inertia.min()) if inertia.size else 1.0

    def scales(self) -> tuple[FloatArray, FloatArray]:
        """Scales of velocities and rows that bring masses and rows near one."""
        inertia = np.diag(self.M)
        d = 1.0 / np.sqrt(np.where(inertia > 0.0, inertia, 1.0))
        e = np.ones(len(self.A))
        for _ in range(4):
            e = _inverse(np.abs(self.A * d).max(axis=1, initial=0.0))
            columns = _inverse(np.abs(self.A * e[:, None]).max(axis=0, initial=0.0))
            d = np.where(inertia > 0.0, d, columns)
        return d, _inverse(np.linalg.norm(self.A * d, axis=1))

    def condition(self, constraint_rank: int, mass_rank: int) -> float:
        """The largest of the condition numbers of scaled A, M, and M where A leaves motion."""
        d, e = self.scales()
        M, worst, free = self.M * d * d[:, None], 1.0, np.eye(len(d))
        if constraint_rank:
            _, s, Vt = np.linalg.svd(self.A * d * e[:, None])
            worst, free = s[0] / max(s[constraint_rank - 1], 1e-300), Vt[constraint_rank:].T
        w = np.sort(np.linalg.eigvalsh(M))[::-1]
        if mass_rank:
            worst = max(worst, w[0] / max(w[mass_rank - 1], 1e-300))
        if free.shape[1]:
            least = np.linalg.eigvalsh(free.T @ M @ free)[0]
            worst = max(worst, w[0] / max(least, 1e-300))
        return float(worst)


def draw(rng: np.random.Generator, family: str, most: float = 13.0) -> Drawn:
    """A consistent system whose condition is spread up to about 10**most."""
    n, m = int(rng.integers(1, 9)), int(rng.integers(0, 11))
    rank = min(n, m) if rng.random() < 0.5 else int(rng.integers(0, min(n, m) + 1))
    spread_A = 10.0 ** rng.uniform(0.0, most)
    spread_M = 10.0 ** rng.uniform(0.0, most if rng.random() < 0.3 else min(most, 2.0))
    R = np.zeros((0, n))
    if rank:
        R = _orthonormal(rng, rank, rank) * _spread(rng, rank, spread_A)
        R = _grid(R @ _orthonormal(rng, n, rank).T)
    T = np.zeros((m, rank))
    T[:rank] = np.eye(rank)
    for i in range(rank, m if rank else 0):
        chosen = rng.permutation(rank)[:3]
        T[i, chosen] = rng.integers(-2, 3, len(chosen))
    order = rng.permutation(m)
    T = T[order]
    right = R @ _grid(rng.standard_normal(n), 20)
    right = right + (rng.standard_normal(rank) if rng.random() < 0.3 else 0.0)
    right = _grid(right) * (rng.random() > 0.15)
    M = _mass(rng, n, rank, spread_M)
    Q = _grid(rng.standard_normal(n)) * (rng.random() > 0.1)
    A, b = T @ R, T @ right
    if family == "units":
        unit, weight = 2.0 ** rng.integers(-100, 101, n), 2.0 ** rng.integers(-200, 201, m)
        M, Q, A, b = M * unit * unit[:, None], Q * unit, A * unit * weight[:, None], b * weight
    elif family == "masses":  # up to 2⁶⁰ apart, and half of them up to 2²⁰
        unit = (
            2.0 ** rng.integers(-15, 16, n) if rng.random() < 0.5 else 2.0 ** rng.integers(-5, 6, n)
        )
        M, Q = M * unit * unit[:, None], Q * unit
    return Drawn(M, Q, A, b, tuple(int(i) for i in np.flatnonzero(order >= rank)))


def last_bits(rng: np.random.Generator, one: Drawn) -> Drawn:
    """The same with b off by a rounding or none: dependent rows miss each other by that."""
    eps = np.finfo(float).eps
    return replace(one, b=one.b * (1.0 + rng.integers(-1, 2, len(one.b)) * eps))


def contradictory(rng: np.random.Generator, one: Drawn, size: float) -> tuple[Drawn, int] | None:
    """The same with the right side of one dependent row off by `size`, in scaled rows."""
    if not one.dependent:
        return None
    row = int(rng.choice(one.dependent))
    _, e = one.scales()
    b = one.b.copy()
    b[row] += size / e[row]
    return replace(one, b=b), row


def in_single_precision(one: Drawn) -> Drawn:
    """The same handed in as float32."""
    M, Q, A, b = (x.astype(np.float32) for x in one.terms)
    return replace(one, M=M, Q=Q, A=A, b=b)


def _mass(rng: np.random.Generator, n: int, rank: int, spread: float) -> FloatArray:
    kind = rng.integers(0, 4)
    if kind == 0:
        return np.diag(_grid(_spread(rng, n, spread)))
    if kind == 1 and rank:  # singular
        F = rng.integers(-3, 4, (n, max(n - rank, 1))).astype(float)
        return F @ F.T
    F = _orthonormal(rng, n, n) * np.sqrt(_spread(rng, n, spread))
    M = F @ F.T
    return _grid((M + M.T) / 2, 50)


def _grid(x: FloatArray, bits: int = BITS) -> FloatArray:
    """Rounded to a multiple of 2^−bits of the largest entry."""
    top = np.abs(x).max(initial=0.0)
    if top == 0.0:
        return x
    unit = 2.0 ** (np.ceil(np.log2(top)) - bits)
    return np.round(x / unit) * unit


def _orthonormal(rng: np.random.Generator, n: int, r: int) -> FloatArray:
    return np.linalg.qr(rng.standard_normal((n, r))).Q


def _spread(rng: np.random.Generator, count: int, condition: float) -> FloatArray:
    s = condition ** -rng.uniform(0.0, 1.0, count)
    s[0] = 1.0
    if count > 1:
        s[-1] = 1.0 / condition
    return s


def _inverse(x: FloatArray) -> FloatArray:
    return 1.0 / np.where(x > 0.0, x, 1.0)
