"""Parameters of a system: by name, and as one flat array."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from operator import is_
from typing import Any

import numpy as np

from zwang.errors import InputError, UnknownNameError, shown
from zwang.terms import FloatArray
from zwang.tracing.definition import parameter_value

__all__ = ["Parameters"]


class Parameters:
    """Defaults of parameters, and where each of them is in the flat array p.

    Parameters
    ----------
    defaults : name → value.
    """

    def __init__(self, defaults: Mapping[str, np.ndarray]) -> None:
        self._values: dict[str, Any] = {}
        self._slots: dict[str, tuple[int, int, tuple[int, ...]]] = {}
        start = 0
        for name, value in defaults.items():
            # Arrays that cannot be written to: runs share them.
            self._values[name] = float(value) if value.ndim == 0 else value.copy()
            if value.ndim:
                self._values[name].setflags(write=False)
            self._slots[name] = (start, start + value.size, value.shape)
            start += value.size
        self._vector = np.concatenate([np.zeros(0), *(x.ravel() for x in defaults.values())])

    def by_name(self, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """All values by name, defaults replaced by those given."""
        return {**self._values, **(given or {})}

    def is_default(self, name: str, value: Any) -> bool:
        """Whether a value is the very default that `by_name` gave."""
        return value is self._values[name]

    def are_defaults(self, given: Mapping[str, Any]) -> bool:
        """Whether values are all of the very defaults that `by_name` gave, in their order."""
        return given.keys() == self._values.keys() and all(
            map(is_, given.values(), self._values.values())
        )

    def vector(self, given: Mapping[str, Any] | None = None) -> FloatArray:
        """All values as one flat array; names and shapes that do not fit are refused."""
        result = self._vector.copy()
        if not isinstance(given, Mapping | None):
            raise InputError(
                "parameters", found=shown(given), expected="a dictionary of names and values"
            )
        if not given or self.are_defaults(given):
            return result
        for name, value in given.items():
            if name not in self._slots:
                raise UnknownNameError("parameter", name, self._slots)
            if self.is_default(name, value):
                continue
            start, end, shape = self._slots[name]
            if not shape and type(value) is float and isfinite(value):
                result[start] = value  # by far the most frequent case
                continue
            array = parameter_value(name, value)
            if array.shape != shape:
                raise InputError(
                    f"parameter {name!r}",
                    found=f"shape {array.shape}",
                    expected=f"shape {shape}, as in the model",
                )
            result[start:end] = array.ravel()
        return result
