"""Small seeded systems of every kind, and the plain formulas they are compared with.

Constraint matrices hold small integers, so that planted dependencies are exact, and right sides are
A x for an integer x, so that the constraints agree exactly. All samples have a condition number
below `CONDITION`, which makes one tolerance serve all identities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import linalg

from zwang.terms import EquationTerms, FloatArray

#: Bound on the condition numbers of M (on its range), A (on its range) and of the whole system.
CONDITION = 1e3

#: Identities are compared to this, relative to their largest entry. Rounding is 2e-16, and the
#: formulas lose at most the condition number twice over, through A⁺ and through M^(−1/2) or M_s⁺:
#: 2e-16 · 1e6 = 2e-10 in the worst case, 1e-12 as measured. A wrong formula is off by 0.01 or more.
ROUNDING = 2e-10


@dataclass(frozen=True)
class Sample:
    """One system, or a batch of one kind and rank: arrays as a user would give them."""

    kind: str
    M: FloatArray
    Q: FloatArray
    A: FloatArray
    b: FloatArray
    C: FloatArray
    rank: int

    @property
    def terms(self) -> EquationTerms:
        return EquationTerms.of(self.M, self.Q, self.A, self.b, self.C)

    @property
    def n(self) -> int:
        return self.M.shape[-1]

    @property
    def m(self) -> int:
        return self.A.shape[-2]

    @property
    def batch(self) -> tuple[int, ...]:
        return self.M.shape[:-2]

    @property
    def ideal(self) -> Sample:
        """The same system without a non-ideal force."""
        return replace(self, C=np.zeros_like(self.C))

    def systems(self) -> Iterator[Sample]:
        """The systems of the batch one by one, in order; a single system gives itself."""
        for index in np.ndindex(self.batch):
            parts = (self.M[index], self.Q[index], self.A[index], self.b[index], self.C[index])
            yield Sample(self.kind, *parts, self.rank)

    def split(self, array: FloatArray) -> list[FloatArray]:
        """An array with the batch in front, system by system, in the order of `systems`."""
        return [array[index] for index in np.ndindex(self.batch)]

    def each(self, formula: Callable[..., FloatArray], *arrays: FloatArray) -> FloatArray:
        """The formula for each system and its part of the arrays; the batch stays in front."""
        parts = zip(self.systems(), *(self.split(array) for array in arrays), strict=True)
        values = np.array([np.asarray(formula(*part), dtype=float) for part in parts])
        return values.reshape((*self.batch, *values.shape[1:]))


# --- the samples ----------------------------------------------------------------------------------

#: kind → (n, rows, rank of A, rank of M, batch)
SHAPES: dict[str, tuple[int, int, int, int, tuple[int, ...]]] = {
    "independent rows": (5, 2, 2, 5, ()),
    "redundant rows": (6, 5, 3, 6, ()),
    "one row": (3, 1, 1, 3, ()),
    "no rows": (4, 0, 0, 4, ()),
    "full column rank": (4, 6, 4, 4, ()),
    "batch, redundant rows": (5, 4, 2, 5, (3,)),
    "singular mass": (6, 3, 3, 4, ()),
    "singular mass, redundant rows": (6, 5, 3, 4, ()),
    "singular mass, full column rank": (4, 5, 4, 2, ()),
    "no mass at all": (3, 4, 3, 0, ()),
    "batch, singular mass": (5, 4, 3, 3, (2, 2)),
}


def sample(kind: str, seed: int = 0) -> Sample:
    """A seeded system of a kind; the same for the same arguments."""
    n, m, rank, mass_rank, batch = SHAPES[kind]
    rng = np.random.default_rng([seed, *map(ord, kind)])
    found = [_single(rng, n, m, rank, mass_rank) for _ in np.ndindex(batch)]
    M, Q, A, b, C = (
        np.array(parts).reshape(*batch, *parts[0].shape) for parts in zip(*found, strict=True)
    )
    return Sample(kind, M, Q, A, b, C, rank)


def _single(
    rng: np.random.Generator, n: int, m: int, rank: int, mass_rank: int
) -> tuple[FloatArray, ...]:
    while True:
        R = rng.integers(-2, 3, size=(n, mass_rank)).astype(float)
        M = R @ R.T + (np.eye(n) if mass_rank == n else 0.0)
        A = rng.integers(-2, 3, size=(rank, n)).astype(float)
        if m > rank:  # dependent rows: combinations of the others, in a random order
            A = np.vstack([A, rng.integers(-2, 3, size=(m - rank, rank)) @ A])
            A = A[rng.permutation(m)]
        if _usable(M, A, rank, mass_rank):
            break
    b = A @ rng.integers(-3, 4, size=n).astype(float)
    return M, 3.0 * rng.standard_normal(n), A, b, rng.standard_normal(n)


def _usable(M: FloatArray, A: FloatArray, rank: int, mass_rank: int) -> bool:
    n, m = M.shape[0], A.shape[0]
    saddle = np.block([[M, A.T], [A, np.zeros((m, m))]])
    return (
        _condition(M, mass_rank) < CONDITION
        and _condition(A, rank) < CONDITION
        and _condition(saddle, n + rank) < CONDITION
        and np.all(np.any(A != 0.0, axis=1))
    )


def _condition(B: FloatArray, rank: int) -> float:
    if rank == 0:
        return 1.0
    s = np.linalg.svd(B, compute_uv=False)
    return float(s[0] / s[rank - 1]) if s[rank - 1] > 1e-9 * s[0] else np.inf


SEEDS = (0,)  # more are a matter of patience: the kinds are what differs
DEFINITE_KINDS = [kind for kind, shape in SHAPES.items() if shape[3] == shape[0]]
SINGULAR_KINDS = [kind for kind, shape in SHAPES.items() if shape[3] < shape[0]]


def _given(kinds: list[str]) -> list:
    return [pytest.param(sample(k, seed), id=f"{k}-{seed}") for k in kinds for seed in SEEDS]


#: Decorators: the test runs for each sample, given to it as the argument `given`.
with_definite_mass = pytest.mark.parametrize("given", _given(DEFINITE_KINDS))
with_singular_mass = pytest.mark.parametrize("given", _given(SINGULAR_KINDS))
with_any_mass = pytest.mark.parametrize("given", _given([*DEFINITE_KINDS, *SINGULAR_KINDS]))


# --- plain formulas, by other means than the library's --------------------------------------------


def root(M: FloatArray) -> FloatArray:
    """M^(1/2) by Schur's method."""
    return np.real(linalg.sqrtm(M))


def inverse_root(M: FloatArray) -> FloatArray:
    """M^(−1/2)."""
    return np.linalg.inv(root(M))


def plus(B: FloatArray, size: float | None = None) -> FloatArray:
    """B⁺; singular values below 1e-9 of the largest, or of the given size, are zero.

    The samples have conditions below 1e3, so nothing lies between 1e-3 and rounding.
    """
    if B.size == 0:
        return np.zeros(B.shape[::-1])
    largest = np.linalg.norm(B, 2)
    if size is not None and largest <= 1e-9 * size:
        return np.zeros(B.shape[::-1])
    return np.linalg.pinv(B, rcond=1e-9 if size is None else 1e-9 * size / largest)


def tangent(A: FloatArray) -> FloatArray:
    """I − A⁺A."""
    return np.eye(A.shape[1]) - plus(A) @ A


def motion(s: Sample) -> FloatArray:
    """v̇ from the definition: M v̇ − Aᵀλ = Q + C and A v̇ = b, least squares, all rows kept."""
    saddle = np.block([[s.M, -s.A.T], [s.A, np.zeros((s.m, s.m))]])
    right = np.concatenate([s.Q + s.C, s.b])
    return np.linalg.lstsq(saddle, right, rcond=1e-10)[0][: s.n]


def constraint_force(s: Sample) -> FloatArray:
    """Q_c = M v̇ − Q, from the definition."""
    return s.M @ motion(s) - s.Q


# --- comparing ------------------------------------------------------------------------------------


def assert_close(actual: object, expected: object, tolerance: float = ROUNDING) -> None:
    """Same shape, and equal to `tolerance` of the largest entry (of one, if that is smaller)."""
    x, y = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert x.shape == y.shape
    assert np.isfinite(x).all()
    largest = max(1.0, float(np.max(np.abs(y), initial=0.0)))
    assert float(np.max(np.abs(x - y), initial=0.0)) <= tolerance * largest


def assert_zero(actual: object, tolerance: float = ROUNDING) -> None:
    """All entries vanish to `tolerance`; the quantities around them are of the order of one."""
    assert_close(actual, np.zeros_like(np.asarray(actual, dtype=float)), tolerance)
