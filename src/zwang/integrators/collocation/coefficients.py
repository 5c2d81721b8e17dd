"""Coefficients of collocation at Gauss's points, computed from Legendre polynomials.

A step of length h has the nodes t + c_j h, c_j the zeros of the shifted Legendre polynomial of
degree s. With F[k] = f(t + c_k h, Y[k]) the polynomial of degree s − 1 through them is

    f(t + θh) = Σ_m a_m P_m(2θ − 1),     a = analysis · F,

and collocation asks that y is its integral: Y[j] = y + h Σ_k A[j, k] F[k], and at the end of the
step y + h Σ_k b_k F[k]. That has order 2s there and s + 1 within the step (Hairer, Nørsett &
Wanner, section II.7).

Tables are [node k][what comes out], as `zwang.codegen.node_sums` wants them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from zwang.integrators.many_digits import Digits, in_digits, many_digits, rounded

__all__ = ["Collocation", "gauss"]

FloatArray = NDArray[np.float64]

#: Iterations after those in double precision, each of which doubles the digits.
NEWTON = 3


@dataclass(frozen=True)
class Collocation:
    """Coefficients for s nodes.

    Attributes
    ----------
    c, b : nodes and weights, (s,).
    integral : integrals up to the nodes, A[j, k] at [k, j], (s, s).
    analysis : coefficients of Legendre polynomials, a_m at [k, m], (s, s).
    """

    c: FloatArray
    b: FloatArray
    integral: FloatArray
    analysis: FloatArray


def _legendre(x: Digits, s: int) -> list[Digits]:
    """P_0 … P_s at some places, by (m + 1) P_{m+1} = (2m + 1) x P_m − m P_{m−1}."""
    P = [0 * x + 1, x]
    for m in range(1, s):
        P.append(((2 * m + 1) * x * P[m] - m * P[m - 1]) / (m + 1))
    return P


def _points(s: int) -> tuple[Digits, Digits]:
    """Zeros of P_s and weights of their quadrature, 2 / ((1 − x²) P_s′²), by Newton's iteration."""
    x = in_digits(legendre.leggauss(s)[0])
    for _ in range(NEWTON):
        P, slope = _with_slope(x, s)
        x = x - P / slope
    _, slope = _with_slope(x, s)
    return x, 2 / ((1 - x * x) * slope * slope)


def _with_slope(x: Digits, s: int) -> tuple[Digits, Digits]:
    """P_s and its slope, s (P_{s−1} − x P_s) / (1 − x²)."""
    *_, before, P = _legendre(x, s)
    return P, s * (before - x * P) / (1 - x * x)


@cache
def gauss(s: int) -> Collocation:
    """Collocation at the s points of Gauss.

    The analysis is by quadrature, a_m = (2m + 1) Σ b_k P_m(x_k) F[k], exact for what is meant; the
    integrals ½ ∫₋₁ˣ P_m are (P_{m+1} − P_{m−1}) / (2m + 1), halved.
    """
    with many_digits():
        x, w = _points(s)
        P = _legendre(x, s)
        analysis = np.stack([w * P[m] * (2 * m + 1) / 2 for m in range(s)], axis=-1)
        columns = [(x + 1) / 2]
        columns += [(P[m + 1] - P[m - 1]) / (4 * m + 2) for m in range(1, s)]
        integral = analysis @ np.stack(columns, axis=0)
        tables = ((x + 1) / 2, w / 2, integral, analysis)
        return Collocation(*(rounded(table) for table in tables))
