"""Requested values of an assembly: coordinates or velocities that are held, preferred or free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.errors import InputError, UnknownNameError
from zwang.terms import FloatArray

__all__ = ["RequestedValues", "generic_values", "start_values"]


@dataclass(frozen=True)
class RequestedValues:
    """Held, preferred and free entries of one vector, by number; independent of any order given.

    Attributes
    ----------
    kind : ``"coordinate"`` or ``"velocity"``, for messages.
    names : all names.
    held, preferred : ascending numbers of the entries held and preferred.
    values : held and preferred values where given, start values elsewhere, shape (n,).
    weights : of the preferred entries, shape (len(preferred),), or None if none were given.
    """

    kind: str
    names: tuple[str, ...]
    held: np.ndarray
    preferred: np.ndarray
    values: FloatArray
    weights: FloatArray | None

    @classmethod
    def of(
        cls,
        kind: str,
        names: tuple[str, ...],
        hold: Mapping[str, Any] | None,
        prefer: Mapping[str, Any] | None,
        weights: Mapping[str, Any] | None,
        start: FloatArray,
    ) -> RequestedValues:
        """Check names and numbers; `start` gives the values of the free entries."""
        held = _numbers(f"held {kind}", names, hold)
        preferred = _numbers(f"preferred {kind}", names, prefer)
        given = _numbers(f"weight of {kind}", names, weights)
        for j in held:
            if j in preferred:
                raise InputError(f"{kind} {names[j]!r}", must="be held or preferred", but="is both")
        for j, weight in given.items():
            if j not in preferred:
                raise InputError(
                    f"weight of {kind} {names[j]!r}",
                    must="belong to a preferred value",
                    but=f"{names[j]!r} has none",
                )
            if weight <= 0.0:
                raise InputError(
                    f"weight of {kind} {names[j]!r}",
                    found=f"{weight:g}",
                    expected="a positive number",
                )
        values = start.copy()
        for j, value in (held | preferred).items():
            values[j] = value
        order = np.array(sorted(preferred), dtype=int)
        return cls(
            kind,
            names,
            np.array(sorted(held), dtype=int),
            order,
            values,
            np.array([given.get(int(j), 1.0) for j in order]) if given else None,
        )

    @property
    def unknown(self) -> np.ndarray:
        """Numbers of the entries that are not held."""
        return np.setdiff1d(np.arange(len(self.names)), self.held)

    @property
    def preferred_unknown(self) -> np.ndarray:
        """Where the preferred entries are among the unknown ones."""
        return np.searchsorted(self.unknown, self.preferred)

    def moved(self, result: FloatArray) -> dict[str, float]:
        """Name → result minus preferred value."""
        return {self.names[j]: float(result[j] - self.values[j]) for j in self.preferred}


def _numbers(
    what: str, names: tuple[str, ...], given: Mapping[str, Any] | None
) -> dict[int, float]:
    if given is not None and not isinstance(given, Mapping):
        raise InputError(
            f"{what} values", found=repr(given), expected="a mapping such as {'x': 1.0}"
        )
    result: dict[int, float] = {}
    for name, value in (given or {}).items():
        if name not in names:
            raise UnknownNameError(what, name, names)
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            raise InputError(f"{what} {name!r}", found=repr(value), expected="a number") from error
        if not np.isfinite(number):
            raise InputError(f"{what} {name!r}", found=str(value), expected="a finite number")
        result[names.index(name)] = number
    return result


def generic_values(count: int, turn: int = 0) -> FloatArray:
    """Numbers between 0.1 and 0.5 without any regularity among them, the same every time.

    Starts such as zeros or ones are often symmetric, and there constraints lose their slope.
    """
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    k = np.arange(1, count + 1) + 97 * turn
    return 0.1 + 0.4 * np.mod(k * golden + 0.3 * np.sqrt(k), 1.0)


def start_values(
    kind: str, names: Sequence[str], start: Any, otherwise: FloatArray
) -> tuple[FloatArray, bool]:
    """Start values from an array, or from a mapping of some names; and whether any were given."""
    if start is None:
        return otherwise, False
    values = otherwise.copy()
    if isinstance(start, Mapping):
        known = tuple(names)
        for j, value in _numbers(f"start of {kind}", known, start).items():
            values[j] = value
        return values, True
    array = np.asarray(start, dtype=float)
    if array.shape != values.shape or not np.isfinite(array).all():
        raise InputError(
            f"start of {kind}",
            expected=f"{len(values)} finite numbers ({', '.join(names)})",
            found=f"an array of shape {array.shape}"
            if array.shape != values.shape
            else "values that are not finite",
        )
    return array, True
