"""Numbers in laws: constants, or numbers of the element where they may change with geometry."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.terms import FloatArray

__all__ = ["LawConstants"]


class LawConstants:
    """Points and values that a law needs besides the poses of its bodies.

    Attributes
    ----------
    numbers : of the element, those that may change with a parameter.
    """

    def __init__(self) -> None:
        self._fixed: dict[str, Any] = {}
        self.numbers: dict[str, FloatArray] = {}

    def add(self, name: str, value: Any, *, varies: bool) -> None:
        """A constant, or a number of the element if it varies with parameters."""
        if varies:
            self.numbers[name] = np.array(value, dtype=float)
        else:
            self._fixed[name] = value

    def get(self, name: str, data: Any) -> Any:
        """The value while the law is traced with an element's numbers."""
        return getattr(data, name) if name in self.numbers else self._fixed[name]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the numbers."""
        return {name: np.shape(value) for name, value in self.numbers.items()}
