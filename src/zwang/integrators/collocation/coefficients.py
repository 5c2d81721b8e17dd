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

__all__ = ["Collocation", "gauss"]

FloatArray = NDArray[np.float64]


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


def _integrals(x: FloatArray, s: int) -> FloatArray:
    """½ ∫₋₁ˣ P_m for m < s, (places, s): (P_{m+1} − P_{m−1}) / (2m + 1), halved."""
    P = legendre.legvander(x, s)
    columns = [0.5 * (x + 1.0)]
    columns += [0.5 * (P[..., m + 1] - P[..., m - 1]) / (2 * m + 1) for m in range(1, s)]
    return np.stack(columns, axis=-1)


@cache
def gauss(s: int) -> Collocation:
    """Collocation at the s points of Gauss.

    The analysis is by quadrature, a_m = (2m + 1) Σ b_k P_m(x_k) F[k], exact for what is meant.
    """
    x, w = legendre.leggauss(s)
    analysis = (legendre.legvander(x, s - 1) * w[:, None]) * (np.arange(s) + 0.5)
    integral = (_integrals(x, s) @ analysis.T).T
    tables = (0.5 * (x + 1.0), 0.5 * w, integral, analysis)
    return Collocation(*(np.ascontiguousarray(table) for table in tables))
