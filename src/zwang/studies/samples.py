"""What varies in a study, and how: each kind gives the values of any of its rows by itself.

Rows are computed from their numbers alone, so that every task makes its own, on any machine, and
none is sent anywhere.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from zwang.studies.distributions import Distribution, correlated
from zwang.terms import FloatArray

__all__ = [
    "MOST_SOBOL",
    "GridSamples",
    "ListedSamples",
    "RandomSamples",
    "SampleBlock",
    "product_rows",
]

#: Random numbers are drawn in blocks of so many rows, each from its own key.
BLOCK = 1024
#: Binary digits of the points of a Sobol sequence, and so how many different ones there are.
SOBOL_BITS = 30
MOST_SOBOL = 2**SOBOL_BITS


class SampleBlock(ABC):
    """Rows of values by name.

    Attributes
    ----------
    names : what varies.
    count : how many rows.
    """

    names: tuple[str, ...]

    @property
    @abstractmethod
    def count(self) -> int:
        """How many rows."""

    @abstractmethod
    def values(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Name → values at some rows (N,)."""


@dataclass(frozen=True)
class GridSamples(SampleBlock):
    """All combinations of values; the last name varies fastest."""

    names: tuple[str, ...]
    axes: tuple[np.ndarray, ...]

    @property
    def count(self) -> int:
        """How many rows."""
        return math.prod(len(axis) for axis in self.axes)

    def values(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Name → values at some rows (N,)."""
        places = np.unravel_index(rows, [len(axis) for axis in self.axes])
        return {name: axis[k] for name, axis, k in zip(self.names, self.axes, places, strict=True)}


@dataclass(frozen=True)
class ListedSamples(SampleBlock):
    """Rows as they are listed."""

    names: tuple[str, ...]
    columns: tuple[np.ndarray, ...]

    @property
    def count(self) -> int:
        """How many rows."""
        return len(self.columns[0])

    def values(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Name → values at some rows (N,)."""
        return {n: column[rows] for n, column in zip(self.names, self.columns, strict=True)}


@dataclass(frozen=True)
class RandomSamples(SampleBlock):
    """Points of the unit cube, by distributions.

    Attributes
    ----------
    method : ``"random"``, ``"sobol"`` or ``"latin_hypercube"``.
    factor : of the correlation of normal scores, lower triangular; None for independent values.
    """

    names: tuple[str, ...]
    samples: int
    method: str
    distributions: tuple[Distribution, ...]
    seed: int
    factor: FloatArray | None = None

    @property
    def count(self) -> int:
        """How many rows."""
        return self.samples

    def values(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Name → values at some rows (N,)."""
        u = correlated(self._cube(rows), self.factor)
        return {
            name: distribution.values(u[:, k])
            for k, (name, distribution) in enumerate(
                zip(self.names, self.distributions, strict=True)
            )
        }

    def _cube(self, rows: np.ndarray) -> FloatArray:
        """Points (N, d), none of them 0 or 1."""
        dimension = len(self.names)
        if self.method == "latin_hypercube":
            return _latin_hypercube(dimension, self.count, self.seed)[rows]
        draw = _random_block if self.method == "random" else _sobol_block
        result = np.empty((len(rows), dimension))
        blocks = rows // BLOCK
        for block in np.unique(blocks).tolist():
            here = blocks == block
            result[here] = draw(dimension, self.seed, block)[rows[here] % BLOCK]
        return result


#: Least and largest number that a distribution is asked for.
_INSIDE = 2.0**-54


def _random_block(dimension: int, seed: int, block: int) -> FloatArray:
    generator = np.random.Generator(np.random.Philox(key=[seed, block]))
    return np.maximum(generator.random((BLOCK, dimension)), _INSIDE)


def _sobol_block(dimension: int, seed: int, block: int) -> FloatArray:
    """Points of a block, without those before it.

    Point i is the exclusive or of numbers that belong to the binary digits of i, and of point 0: so
    the first point of a block follows from those of the powers of two in its number, and the
    others differ from it as those of the first block from point 0.
    """
    place, number = 0, block
    points = _sobol_points(dimension, seed, 0, BLOCK)
    origin = found = points[0]
    while number:
        if number & 1:
            found = found ^ origin ^ _sobol_points(dimension, seed, BLOCK << place, 1)[0]
        place, number = place + 1, number >> 1
    scaled = (points ^ origin ^ found) / 2.0**SOBOL_BITS
    return np.clip(scaled, _INSIDE, 1.0 - _INSIDE)


@lru_cache(maxsize=256)
def _sobol_points(dimension: int, seed: int, first: int, count: int) -> np.ndarray:
    """Points first ≤ i < first + count of a scrambled Sobol sequence, as whole numbers."""
    from scipy.stats import qmc

    engine = qmc.Sobol(dimension, scramble=True, bits=SOBOL_BITS, rng=np.random.default_rng(seed))
    if first:
        engine.fast_forward(first)
    return (engine.random(count) * 2.0**SOBOL_BITS).astype(np.int64)


@lru_cache(maxsize=2)
def _latin_hypercube(dimension: int, count: int, seed: int) -> FloatArray:
    from scipy.stats import qmc

    engine = qmc.LatinHypercube(dimension, rng=np.random.default_rng(seed))
    return np.clip(engine.random(count), _INSIDE, 1.0 - _INSIDE)


def product_rows(blocks: Sequence[SampleBlock], first: int, last: int) -> dict[str, Any]:
    """Name → values of rows first ≤ i < last of all combinations; the last block is fastest."""
    rows = np.arange(first, last, dtype=np.int64)
    result: dict[str, Any] = {}
    for block in reversed(blocks):
        result = {**block.values(rows % block.count), **result}
        rows = rows // block.count
    return result
