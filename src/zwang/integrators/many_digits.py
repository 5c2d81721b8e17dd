"""Coefficients of integrators in many digits, rounded once: the same bits on every processor.

Coefficients are constants of compiled loops, which are kept on disk by what they are written in. A
linear solver of NumPy rounds as its processor adds up: code that was kept under one setting would
go on with other coefficients than the next that is compiled, and lanes would differ from company.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Digits", "in_digits", "many_digits", "rounded", "solved"]

#: Digits to compute with; what cancels takes some ten of them, and 17 are kept.
DIGITS = 60

Digits = NDArray[np.object_]


@contextmanager
def many_digits() -> Iterator[None]:
    """Within it, arithmetic of `in_digits` has that many."""
    with localcontext(prec=DIGITS):
        yield


def in_digits(numbers: Any) -> Digits:
    """Numbers, exactly as they are, to go on with in many digits."""
    found = np.array(numbers, dtype=object)
    return np.array([Decimal(float(x)) for x in found.flat], dtype=object).reshape(found.shape)


def rounded(digits: Digits) -> NDArray[np.float64]:
    """The nearest floating-point numbers."""
    return np.ascontiguousarray(digits.astype(np.float64))


def solved(A: Digits, B: Digits) -> Digits:
    """X of A X = B, by elimination with row exchanges."""
    A, B = A.copy(), B.copy()
    n = len(A)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(A[i, k]))
        A[[k, pivot]], B[[k, pivot]] = A[[pivot, k]], B[[pivot, k]]
        for i in range(n):
            if i != k:
                factor = A[i, k] / A[k, k]
                A[i], B[i] = A[i] - factor * A[k], B[i] - factor * B[k]
    return B / A.diagonal()[:, None]
