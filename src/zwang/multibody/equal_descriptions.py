"""Mechanisms that are equal by description: exact keys of what they were built from.

Whoever repeats the calls of a description builds the same mechanism, so that what was traced and
compiled for one serves the other. Descriptions count as equal only where everything in them has the
same type and the same bits, in the same order: 0.0 is not −0.0, and 1 not 1.0. A Python function is
equal to none, not even to itself: what it reads besides its arguments, a variable of its module, a
list, a file, may have changed between two mechanisms, and nothing shows it. Formulas of model files
are text, and are compared.
"""

from __future__ import annotations

import hashlib
import struct
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from os import PathLike
from threading import local
from types import BuiltinFunctionType, FunctionType
from typing import Any, Generic, TypeVar

import numpy as np

from zwang.multibody.handles import BodyHandle, MarkerExpression, MarkerHandle
from zwang.multibody.inertia import Inertia, Shape
from zwang.multibody.mesh import MeshFile
from zwang.multibody.parameter_expression import (
    InertiaExpression,
    ParameterExpression,
    ParameterValue,
)
from zwang.multibody.pickling import Recipe

__all__ = ["Comparable", "LatestOfEach", "NotComparableError", "exact_key", "recipe_key"]

T = TypeVar("T")


class NotComparableError(Exception):
    """Something in a description cannot be compared exactly."""


class Comparable(ABC):
    """A function that knows all that it depends on."""

    @abstractmethod
    def exact_key(self) -> Hashable:
        """Equal for equal functions alone, see `exact_key`."""


def recipe_key(recipe: Recipe) -> Hashable | None:
    """Equal for mechanisms that are equal by description; None where that cannot be told."""
    if any(isinstance(c.arguments.get("mesh"), str | PathLike) for c in recipe.calls):
        return None  # a file may have changed since it was read
    try:
        given = exact_key(recipe.given)
        return given, tuple((c.method, exact_key(c.arguments)) for c in recipe.calls)
    except NotComparableError:
        return None


def exact_key(value: Any) -> Hashable:
    """What is equal for values of the same types and bits alone.

    Raises
    ------
    NotComparableError : for whatever may differ without showing it.
    """
    kind = type(value)
    make = _KEYS.get(kind)
    if make is not None:
        return kind, make(value)
    if isinstance(value, np.generic) and not isinstance(value, np.object_ | np.void):
        return kind, value.tobytes()
    if isinstance(value, Comparable):
        return kind, value.exact_key()
    raise NotComparableError(kind)


def _of_array(value: np.ndarray) -> Hashable:
    """Entries, and how they lie in memory: sums may be rounded by that."""
    if value.dtype == object:  # expressions of parameters, for one
        return value.shape, tuple(map(exact_key, value.ravel()))
    if value.dtype.names is not None:
        raise NotComparableError(value.dtype)
    return value.dtype.str, value.shape, value.strides, value.tobytes()


def _of_expression(x: ParameterExpression) -> Hashable:
    """A digest: an expression may be part of many, and keys are compared as a whole."""
    return x.digest(_digest_of)


def _digest_of(x: ParameterExpression) -> bytes:
    key = _own_function(x.function), exact_key(x.arguments), exact_key(x.keywords)
    return hashlib.sha256(repr(key).encode()).digest()


def _of_partial(x: partial[Any]) -> Hashable:
    return _own_function(x.func), exact_key(x.args), exact_key(x.keywords)


def _own_function(function: Any) -> Hashable:
    """A function that nobody changes: of NumPy, an operator, or at the top of a module here."""
    kind, module = type(function), getattr(function, "__module__", None) or ""
    ours = kind is FunctionType and module.startswith("zwang.")
    if (
        kind is np.ufunc
        or (kind is BuiltinFunctionType and module == "_operator")
        or (ours and "<locals>" not in function.__qualname__)
    ):
        return function
    raise NotComparableError(function)


def _of_inertia(x: Inertia) -> Hashable:
    return exact_key((x.mass, x.center, x.tensor, x.shapes, x.check, x.points))


def _of_mesh(x: MeshFile) -> Hashable:
    """What it was read from, and where it is put."""
    return exact_key((str(x.file), x.scale, x.position, x.rotation, x.content, x.colors))


def _of_entries(value: Any) -> Hashable:
    return tuple(map(exact_key, value))


def _of_table(value: Mapping[Any, Any]) -> Hashable:
    return tuple((exact_key(k), exact_key(x)) for k, x in value.items())


def _itself(value: Any) -> Hashable:
    return value


_KEYS: dict[type, Callable[[Any], Hashable]] = {
    **dict.fromkeys((type(None), bool, int, str, bytes), _itself),
    float: struct.Struct("d").pack,
    list: _of_entries,
    tuple: _of_entries,
    dict: _of_table,
    np.ndarray: _of_array,
    Inertia: _of_inertia,
    Shape: lambda x: exact_key((x.kind, x.size, x.center, x.axes)),
    MeshFile: _of_mesh,
    partial: _of_partial,
    ParameterExpression: _of_expression,
    InertiaExpression: _of_expression,
    ParameterValue: lambda x: (x.name, x.shape),
    MarkerExpression: lambda x: (x.body.name, exact_key(x.arguments)),
    # Those of a description belong to its builder, or were refused.
    BodyHandle: lambda x: x.name,
    MarkerHandle: lambda x: (x.body.name, exact_key(x.at), exact_key(x.axes)),
}


class LatestOfEach(Generic[T]):
    """The latest of the objects that are equal by a key; those that were not met for long go.

    Each thread has its own: what threads do not share needs no lock.

    Parameters
    ----------
    most : keys that are kept.
    largest : sum of the sizes of what is kept; a larger object is not kept at all.
    """

    def __init__(self, most: int, largest: int) -> None:
        self.most, self.largest = most, largest
        self._of_thread = local()

    def _kept(self) -> OrderedDict[Hashable, tuple[T, int]]:
        kept = getattr(self._of_thread, "kept", None)
        if kept is None:
            kept = self._of_thread.kept = OrderedDict()
        return kept

    def __len__(self) -> int:
        return len(self._kept())

    def find(self, key: Hashable) -> T | None:
        """The latest one of a key."""
        found = self._kept().get(key)
        return None if found is None else found[0]

    def keep(self, key: Hashable, value: T, size: int) -> None:
        """Know one, in place of what was known of its key."""
        kept = self._kept()
        kept.pop(key, None)
        if size <= self.largest:
            kept[key] = value, size
        while len(kept) > self.most or sum(size for _, size in kept.values()) > self.largest:
            kept.popitem(last=False)

    def clear(self) -> None:
        """Forget all of this thread."""
        self._kept().clear()
