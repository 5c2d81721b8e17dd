"""Multibody models: values that users' functions of bodies return, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.errors import InputError, shown
from zwang.rotation.quaternion import rotation_matrix
from zwang.tracing.symbol import Symbol, SymbolArray

__all__ = ["moment", "rotation", "single", "three"]


def single(what: str, value: Any) -> Any:
    """One symbol or number."""
    entries = _entries(what, value, "one value")
    if entries.size != 1:
        raise InputError(what, must="give one value", but=f"gives {entries.size}")
    return entries[0]


def three(what: str, value: Any, pair: tuple[int, int] | None = None) -> Any:
    """Three symbols or numbers; two are those along the axes of a plane, if that is given."""
    entries = _entries(what, value, "three values")
    if pair is not None and entries.size == 2:
        entries = _placed(entries, pair)
    if entries.size != 3:
        raise InputError(what, must="give three values", but=f"gives {entries.size}")
    return entries.view(SymbolArray)


def moment(what: str, value: Any, normal: int | None = None) -> Any:
    """Three symbols or numbers; one is that about the normal of a plane, if that is given."""
    entries = _entries(what, value, "three values")
    if normal is not None and entries.size == 1:
        entries = _placed(entries, (normal,))
    return three(what, entries)


def rotation(what: str, value: Any) -> Any:
    """A rotation matrix, from one or from a quaternion."""
    expected = "a rotation matrix or a quaternion (w, x, y, z)"
    array = np.asarray(value, dtype=object)
    if array.shape == (4,):
        array = np.asarray(rotation_matrix(array.view(SymbolArray)), dtype=object)
    if array.shape != (3, 3):
        raise InputError(what, must=f"give {expected}", but=f"gives shape {array.shape}")
    _entries(what, array, expected)
    return array.view(SymbolArray)


def _entries(what: str, value: Any, expected: str) -> np.ndarray:
    if value is None:
        raise InputError(
            what,
            must=f"give {expected}",
            but="returns None",
            advice="Is a 'return' missing?",
        )
    listed = value if isinstance(value, np.ndarray | list | tuple) else [value]
    entries = np.empty(np.size(listed) if isinstance(listed, np.ndarray) else len(listed), object)
    entries[:] = listed.ravel() if isinstance(listed, np.ndarray) else listed
    for entry in entries:
        number = isinstance(entry, int | float | np.number)
        if not number and not isinstance(entry, Symbol):
            raise InputError(what, must=f"give {expected}", but=f"gives {shown(entry)}")
        if number and not np.isfinite(entry):
            raise InputError(what, must="give finite numbers", but=f"gives {shown(entry)}")
    return entries


def _placed(entries: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    placed = np.zeros(3, dtype=object)
    placed[list(axes)] = entries
    return placed
