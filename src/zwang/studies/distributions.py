"""Distributions of what varies in a study: numbers from (0, 1) as values.

| name | numbers |
| --- | --- |
| uniform | low, high |
| normal | mean, standard deviation |
| truncated_normal | mean, standard deviation, low, high |
| lognormal | median, standard deviation of the logarithm |
| triangular | low, mode, high |
| exponential | mean |
| weibull | shape, scale |
| beta | a, b, low, high |
| choice | the values, all alike |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from zwang.terms import FloatArray

__all__ = ["DISTRIBUTIONS", "Distribution", "correlated"]


@dataclass(frozen=True)
class Distribution:
    """A distribution with its numbers.

    Attributes
    ----------
    kind : one of `DISTRIBUTIONS`.
    numbers : see there; of ``choice`` the values, which may be text.
    """

    kind: str
    numbers: tuple[Any, ...]

    def values(self, u: FloatArray) -> Any:
        """Values (N,) for numbers u (N,) from (0, 1)."""
        if self.kind == "choice":
            place = np.minimum((u * len(self.numbers)).astype(int), len(self.numbers) - 1)
            return np.array(self.numbers)[place]
        return DISTRIBUTIONS[self.kind].inverse(u, *self.numbers)

    def problem(self) -> str:
        """What the numbers must be and are not; empty if they make a distribution."""
        return "" if self.kind == "choice" else DISTRIBUTIONS[self.kind].problem(self.numbers)


@dataclass(frozen=True)
class _Family:
    """A family of distributions: what its numbers are, which they may be, and its inverse."""

    numbers: tuple[str, ...]
    inverse: Callable[..., FloatArray]
    positive: tuple[int, ...] = ()
    ascending: tuple[int, ...] = ()

    def problem(self, given: Sequence[float]) -> str:
        wanted = ", ".join(self.numbers)
        if len(given) != len(self.numbers):
            return f"{len(self.numbers)} numbers: {wanted}"
        for k in self.positive:
            if not given[k] > 0.0:
                return f"[{wanted}] with a positive {self.numbers[k]}"
        ordered = [given[k] for k in self.ascending]
        if any(not a <= b for a, b in pairwise(ordered)) or (
            ordered and not ordered[0] < ordered[-1]
        ):
            names = " < ".join(self.numbers[k] for k in self.ascending)
            return f"[{wanted}] with {names}"
        return ""


def _normal(u: FloatArray, mean: float, deviation: float) -> FloatArray:
    from scipy.special import ndtri

    return mean + deviation * ndtri(u)


def _truncated(u: FloatArray, mean: float, deviation: float, low: float, high: float) -> FloatArray:
    from scipy.special import ndtr, ndtri

    a, b = ndtr((low - mean) / deviation), ndtr((high - mean) / deviation)
    return np.clip(mean + deviation * ndtri(a + u * (b - a)), low, high)


def _triangular(u: FloatArray, low: float, mode: float, high: float) -> FloatArray:
    at = (mode - low) / (high - low)
    rising = low + np.sqrt(u * (high - low) * (mode - low))
    falling = high - np.sqrt((1.0 - u) * (high - low) * (high - mode))
    return np.where(u < at, rising, falling)


def _beta(u: FloatArray, a: float, b: float, low: float, high: float) -> FloatArray:
    from scipy.special import betaincinv

    return low + (high - low) * betaincinv(a, b, u)


DISTRIBUTIONS: dict[str, _Family] = {
    "uniform": _Family(("low", "high"), lambda u, a, b: a + u * (b - a), ascending=(0, 1)),
    "normal": _Family(("mean", "standard deviation"), _normal, positive=(1,)),
    "truncated_normal": _Family(
        ("mean", "standard deviation", "low", "high"), _truncated, (1,), ascending=(2, 3)
    ),
    "lognormal": _Family(
        ("median", "standard deviation of the logarithm"),
        lambda u, m, s: m * np.exp(_normal(u, 0.0, s)),
        positive=(0, 1),
    ),
    "triangular": _Family(("low", "mode", "high"), _triangular, ascending=(0, 1, 2)),
    "exponential": _Family(("mean",), lambda u, m: -m * np.log1p(-u), positive=(0,)),
    "weibull": _Family(
        ("shape", "scale"), lambda u, k, s: s * (-np.log1p(-u)) ** (1.0 / k), positive=(0, 1)
    ),
    "beta": _Family(("a", "b", "low", "high"), _beta, (0, 1), ascending=(2, 3)),
}


def correlated(u: FloatArray, factor: FloatArray | None) -> FloatArray:
    """Numbers u (N, d) from (0, 1) whose normal scores have the correlation C = L Lᵀ.

    Parameters
    ----------
    factor : L (d, d), lower triangular; None for independent ones.
    """
    if factor is None:
        return u
    from scipy.special import ndtr, ndtri

    return ndtr(ndtri(u) @ factor.T)
