"""What a user gives for one state or many, as checked arrays: numbers, or mappings by name."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

from zwang.errors import InputError, UnknownNameError, shown
from zwang.terms import FloatArray, finite
from zwang.tracing.trace import counted

__all__ = ["named_vector", "single_time", "state_arrays"]


def state_arrays(
    q: Any, v: Any, t: Any, coordinates: tuple[str, ...], velocities: tuple[str, ...]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Arrays q (…, nq), v (…, nv), t (…) with the same leading axes.

    Parameters
    ----------
    q, v, t : numbers, v None for rest; or in place of q a state that has all three.
    coordinates, velocities : names of the entries.
    """
    if hasattr(q, "q") and hasattr(q, "v"):  # a State, an Assembly
        if v is None:
            v = q.v
        t = getattr(q, "t", t)
        q = q.q
    q = named_vector("q", q, coordinates)
    v = np.zeros(len(velocities)) if v is None else named_vector("v", v, velocities)
    try:
        t = np.asarray(t, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError("time t", found=shown(t), expected="numbers") from error
    if not (finite(t) if t.ndim else isfinite(t)):
        raise InputError("time t", found=shown(t), expected="a finite number")
    if q.ndim == v.ndim == 1 and not t.ndim:
        return q, v, t
    shapes = q.shape[:-1], v.shape[:-1], t.shape
    try:
        batch = np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise InputError(
            "q, v, t",
            must="have shapes that are equal or fit each other",
            but=f"are batches of shapes {shapes[0]}, {shapes[1]} and {shapes[2]}",
        ) from error
    q = np.broadcast_to(q, (*batch, q.shape[-1]))
    v = np.broadcast_to(v, (*batch, v.shape[-1]))
    return q, v, np.broadcast_to(t, batch)


def named_vector(letter: str, value: Any, names: tuple[str, ...]) -> FloatArray:
    """Finite numbers (…, n) for n names, from an array or a mapping by name."""
    if type(value) is not np.ndarray and isinstance(value, Mapping):
        for name in value:
            if name not in names:
                raise UnknownNameError(f"{letter}", name, names)
        missing = [name for name in names if name not in value]
        if missing:
            raise InputError(
                letter,
                must="have a value for each name",
                but=f"has no value for {', '.join(missing)}",
                advice="system.assemble computes the values that constraints determine.",
            )
        value = [value[name] for name in names]
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(letter, found=shown(value), expected="numbers") from error
    if array.ndim == 0 or array.shape[-1] != len(names):
        found = f"shape {array.shape}" if array.ndim != 1 else counted(array.size)
        raise InputError(
            letter, must=f"have {len(names)} values ({', '.join(names)})", but=f"has {found}"
        )
    if not finite(array):
        where = tuple(np.argwhere(~np.isfinite(array))[0])
        raise InputError(
            f"{letter} of {names[where[-1]]!r}",
            found=str(array[where]),
            expected="a finite number",
        )
    return array


def single_time(t: Any) -> float:
    """A single finite time."""
    if isinstance(t, float) and isfinite(t):
        return float(t)  # by far the most frequent case
    try:
        time = np.asarray(t, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError("time t", found=shown(t), expected="a finite number") from error
    if time.ndim or not np.isfinite(time):
        raise InputError("time t", found=str(t), expected="a finite number")
    return float(time)
