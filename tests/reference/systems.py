"""Random systems whose ranks are planted exactly, the same on every machine and version.

Mass matrices are products F Fᵀ of small integers, dependent constraint rows are small integer
combinations of others, and units of coordinates and rows are powers of two or small integers. All
of it is exact in float64, so that rank deficiency is a fact and not a matter of rounding, and an
exact solver may take the numbers at their word. Bits come from PCG64, whose stream NumPy promises
not to change, and are turned into integers here.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["Draws", "Systems", "condition", "random_systems"]

FloatArray = NDArray[np.float64]


class Draws:
    """Small random integers from a stable stream."""

    def __init__(self, *seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def integers(self, low: int, high: int, *shape: int) -> FloatArray:
        """Integers from low to high, both included, as floats."""
        raw = np.asarray(self._bits.random_raw(int(np.prod(shape)))).reshape(shape)
        return (low + (raw >> np.uint64(11)) % np.uint64(high - low + 1).astype(float)).astype(
            float
        )

    def integer(self, low: int, high: int) -> int:
        """One integer."""
        return low + (int(self._bits.random_raw()) >> 11) % (high - low + 1)

    def order(self, count: int) -> np.ndarray:
        """A random permutation."""
        return np.argsort(self._bits.random_raw(count))


@dataclass(frozen=True)
class Systems:
    """A batch of terms M (k, n, n), Q (k, n), A (k, m, n), b (k, m), C (k, n)."""

    M: FloatArray
    Q: FloatArray
    A: FloatArray
    b: FloatArray
    C: FloatArray

    @property
    def terms(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """In the order that `zwang.solve` takes."""
        return self.M, self.Q, self.A, self.b, self.C

    def __len__(self) -> int:
        return len(self.M)

    def __getitem__(self, index: int | np.ndarray) -> Systems:
        return Systems(*(part[index] for part in self.terms))

    def with_rows(self, A: FloatArray, b: FloatArray) -> Systems:
        """The same masses and forces under other constraint rows."""
        return replace(self, A=A, b=b)

    def checksum(self) -> str:
        """A short digest of all numbers, to tell stored results from those of another system."""
        digest = hashlib.sha256()
        for part in self.terms:
            digest.update(np.ascontiguousarray(part + 0.0, dtype="<f8").tobytes())
        return digest.hexdigest()[:16]


def random_systems(
    draws: Draws, count: int, n: int, m: int, *, most: float = 1e4, weak: bool = False
) -> Systems:
    """Systems of one size, each with its own ranks of A and M, and of condition κ ≤ `most`.

    A finite κ also means that rank [M; A] = n. With `weak`, a constraint row is nearly dependent
    or a mass nearly zero, by a power of two, so that κ spreads up to about 1e8.
    """
    found: list[Systems] = []
    while count:
        drawn = [_system(draws, n, m, weak=weak) for _ in range(count)]
        systems = Systems(*(np.stack(part) for part in zip(*drawn, strict=True)))
        found.append(systems[condition(systems) <= most])
        count -= len(found[-1])
    parts = zip(*(systems.terms for systems in found), strict=True)
    return Systems(*(np.concatenate(part) for part in parts))


def condition(systems: Systems) -> FloatArray:
    """κ: largest over smallest nonzero |eigenvalue| of [[M, Aᵀ], [A, 0]], M and rows near unit.

    The count of nonzero ones is n + rank A; where rank [M; A] < n, κ is rounding, 1e14 and more.
    """
    M, A = systems.M, systems.A
    k, m, n = A.shape
    inertia = np.einsum("kii->ki", M)
    d = 1.0 / np.sqrt(np.where(inertia > 0.0, inertia, 1.0))
    e = np.ones((k, m))
    for _ in range(4):  # coordinates without mass and rows in turn, to a largest entry of one
        e = _inverse(np.max(np.abs(A) * d[:, None, :], axis=-1, initial=0.0))
        column = np.max(np.abs(A) * e[..., None], axis=-2, initial=0.0)
        d = np.where(inertia > 0.0, d, _inverse(column))
    saddle = np.zeros((k, n + m, n + m))
    saddle[:, :n, :n] = M * d[:, None, :] * d[..., None]
    saddle[:, n:, :n] = A * d[:, None, :] * e[..., None]
    saddle[:, :n, n:] = saddle[:, n:, :n].mT
    size = np.sort(np.abs(np.linalg.eigvalsh(saddle)), axis=-1)[:, ::-1]
    rank = np.linalg.matrix_rank(saddle[:, n:, :n], rtol=1e-11) if m else np.zeros(k, dtype=int)
    smallest = np.take_along_axis(size, n + rank[:, None] - 1, axis=-1)[:, 0]
    return np.divide(size[:, 0], smallest, out=np.full(k, np.inf), where=smallest > 0.0)


def _inverse(x: FloatArray) -> FloatArray:
    """1/x, and 1 for zero."""
    return 1.0 / np.where(x > 0.0, x, 1.0)


def _system(draws: Draws, n: int, m: int, *, weak: bool) -> tuple[FloatArray, ...]:
    rank = _rank(draws, min(n, m))
    M = _mass_matrix(draws, n, rank, weak=weak)
    A = _constraint_rows(draws, n, m, rank, weak=weak)
    b = A @ draws.integers(-4, 4, n)
    Q = draws.integers(-9, 9, n)
    C = draws.integers(-9, 9, n) if draws.integer(0, 2) else np.zeros(n)
    # Units: q_j → 2^(−u_j) q_j, row i times w_i. Both are exact.
    unit = 2.0 ** draws.integers(-3, 3, n)
    weight = np.array([1.0, 2.0, 0.125, 3.0, 10.0, 1000.0])[draws.integers(0, 5, m).astype(int)]
    weight = weight if draws.integer(0, 1) else np.ones(m)
    return (
        M * unit * unit[:, None],
        Q * unit,
        A * unit * weight[:, None],
        b * weight,
        C * unit,
    )


def _rank(draws: Draws, most: int) -> int:
    """Half of the time the largest possible, else any."""
    return most if draws.integer(0, 1) else draws.integer(0, most)


def _mass_matrix(draws: Draws, n: int, rank: int, *, weak: bool) -> FloatArray:
    """F Fᵀ, positive definite or of any rank that A of the given rank can make up for."""
    kind = draws.integer(0, 3)
    if kind == 0 and rank:  # singular
        F = draws.integers(-3, 3, n, draws.integer(max(n - rank, 0), n - 1))
    elif kind == 1 and rank:  # coordinates without mass
        F = draws.integers(-3, 3, n, 2 * n)
        F[draws.order(n)[: draws.integer(1, rank)]] = 0.0
    elif kind == 2:  # uncoupled
        F = np.diag(draws.integers(1, 5, n))
    else:
        F = draws.integers(-3, 3, n, 2 * n)
    if weak and F.shape[1] and draws.integer(0, 1):
        F = F[:, : max(n - rank, 1)] if kind in (0, 1) else F[:, :n]
        F[:, -1] *= 2.0 ** -draws.integer(0, 12)
    return F @ F.T


def _constraint_rows(draws: Draws, n: int, m: int, rank: int, *, weak: bool) -> FloatArray:
    """`rank` rows of small integers, and combinations of up to three of them."""
    R = draws.integers(-3, 3, rank, n)
    if draws.integer(0, 1):  # sparse, as constraints of mechanisms are
        R *= draws.integers(0, 9, rank, n) < max(3.0, 30.0 / n)
    if weak and rank > 1 and draws.integer(0, 1):
        R[-1] = R[0] + 2.0 ** -draws.integer(0, 24) * R[-1]
    T = np.zeros((m, rank))
    T[:rank] = np.eye(rank)
    for i in range(rank, m if rank else 0):
        chosen = draws.order(rank)[:3]
        T[i, chosen] = draws.integers(-2, 2, len(chosen))
    return T[draws.order(m)] @ R
