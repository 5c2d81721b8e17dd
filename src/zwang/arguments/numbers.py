"""Numbers and vectors that users give: finite, or refused with a sentence."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from zwang.errors import InputError, shown
from zwang.terms import FloatArray

__all__ = ["number", "positive", "vector"]


def number(what: str, value: Any) -> float:
    """One finite number."""
    try:
        given = float(value)
    except (TypeError, ValueError):
        raise InputError(what, found=shown(value), expected="a number") from None
    if not isfinite(given):
        raise InputError(what, found=shown(value), expected="a finite number")
    return given


def positive(what: str, value: Any) -> float:
    """One positive number."""
    given = number(what, value)
    if not given > 0.0:
        raise InputError(what, found=f"{given:g}", expected="a positive number")
    return given


def vector(what: str, value: Any) -> FloatArray:
    """Three finite numbers."""
    try:
        result = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(what, found=shown(value), expected="three numbers") from None
    if result.shape != (3,) or not all(map(isfinite, result.tolist())):
        raise InputError(what, found=shown(value), expected="three finite numbers")
    return result
