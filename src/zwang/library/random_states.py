"""Random states of ready-made systems: directions, tangents, and the packing of columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.state import State
from zwang.terms import FloatArray

__all__ = ["columns", "instants", "normal", "state", "tangent", "unit"]


def normal(rng: np.random.Generator, count: int, size: int) -> FloatArray:
    """Standard normal numbers, shape (count, size)."""
    return rng.standard_normal((count, size))


def unit(rng: np.random.Generator, count: int, size: int) -> FloatArray:
    """Directions, shape (count, size), each of length one."""
    x = normal(rng, count, size)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def tangent(rng: np.random.Generator, direction: FloatArray) -> FloatArray:
    """Vectors at right angles to unit vectors, same shape."""
    x = rng.standard_normal(direction.shape)
    return x - (x * direction).sum(-1, keepdims=True) * direction


def instants(rng: np.random.Generator, count: int) -> FloatArray:
    """Times between 0 and 5, shape (count,)."""
    return rng.uniform(0.0, 5.0, count)


def columns(*parts: Any) -> FloatArray:
    """Entries of shape (count,) side by side, shape (count, n)."""
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


def state(rng: np.random.Generator, q: FloatArray, v: FloatArray, t: Any = None) -> State:
    """A state at the given times, or at random ones."""
    return State(q, v, instants(rng, len(q)) if t is None else t)
