"""Constraint rows A v̇ = b that formulations take, from constraints of any level.

With ẋ = N v + n₀ (Blajer 1992, (2.1)), a constraint is differentiated as often as its level asks:

    f(x, t) = 0       A = f_x N,   b = −(f_x N)˙ v − (f_x n₀ + f_t)˙        two times
    φ(v, x, t) = 0    A = φ_v,     b = −φ_x (N v + n₀) − φ_t                once
    A v̇ = b           as it is

(Blajer (2.5), (2.6); Udwadia & Kalaba (2), (3)). These functions take the derivatives as numbers.
`integrable` distinguishes true generalized velocities from quasi-velocities.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.arguments.keywords import no_longer
from zwang.linalg.products import matvec, transpose
from zwang.terms import FloatArray

__all__ = ["integrable", "position_rows", "stabilized_rhs", "velocity_rows", "violated"]


def position_rows(
    jacobian: ArrayLike,
    jacobian_rate: ArrayLike,
    velocity: ArrayLike,
    *,
    kinematics: ArrayLike | None = None,
    kinematics_rate: ArrayLike | None = None,
    drift_rate: ArrayLike = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """A and b of f(x, t) = 0: A = f_x N, b = −(f_x N)˙ v − (f_x n₀ + f_t)˙.

    Parameters
    ----------
    jacobian, jacobian_rate : f_x and its time derivative along the motion, shape (…, m, nx).
    velocity : v, shape (…, n).
    kinematics, kinematics_rate : N and its time derivative, shape (…, nx, n); identity if None.
    drift_rate : (f_x n₀ + f_t)˙, shape (…, m).
    """
    J, J_dot = np.asarray(jacobian, float), np.asarray(jacobian_rate, float)
    v = np.asarray(velocity, float)
    if kinematics is None:
        return J, -matvec(J_dot, v) - np.asarray(drift_rate, float)
    N = np.asarray(kinematics, float)
    N_dot = np.zeros_like(N) if kinematics_rate is None else np.asarray(kinematics_rate, float)
    return J @ N, -matvec(J_dot @ N + J @ N_dot, v) - np.asarray(drift_rate, float)


def velocity_rows(
    velocity_jacobian: ArrayLike,
    position_jacobian: ArrayLike,
    position_rate: ArrayLike,
    time_derivative: ArrayLike = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """A and b of φ(v, x, t) = 0, linear in v or not: A = φ_v, b = −φ_x ẋ − φ_t.

    Parameters
    ----------
    velocity_jacobian : φ_v, shape (…, m, n).
    position_jacobian : φ_x, shape (…, m, nx).
    position_rate : ẋ = N v + n₀, shape (…, nx).
    time_derivative : φ_t, shape (…, m).
    """
    A = np.asarray(velocity_jacobian, float)
    rate = matvec(np.asarray(position_jacobian, float), np.asarray(position_rate, float))
    return A, -rate - np.asarray(time_derivative, float)


def violated(residual: ArrayLike, scale: ArrayLike, tolerance: float = 1e-9) -> np.ndarray:
    """Which constraints an initial state violates: |residual| > tolerance · scale, shape (…, m).

    Position-level constraints ask f = 0 and ḟ = 0 of a start, velocity-level ones φ = 0; `scale`
    is the size of the terms that make up the residual.
    """
    return np.abs(np.asarray(residual, float)) > tolerance * np.asarray(scale, float)


def stabilized_rhs(
    rhs: ArrayLike, residual: ArrayLike, rate: ArrayLike, *, frequency: float
) -> FloatArray:
    """b − 2ω ḟ − ω² f: violations f of position-level rows decay as in f̈ + 2ω ḟ + ω² f = 0.

    Parameters
    ----------
    rhs : b, shape (…, m).
    residual, rate : f and ḟ at the state, shape (…, m).
    frequency : ω [1/s]; violations fade within some 5/ω. Zero changes nothing.

    Notes
    -----
    Baumgarte (1972), critically damped; named by Blajer at the start of section 4.
    """
    f, f_dot = np.asarray(residual, float), np.asarray(rate, float)
    return np.asarray(rhs, float) - 2.0 * frequency * f_dot - frequency**2 * f


def integrable(row_jacobians: ArrayLike, tolerance: float = 1e-9) -> np.ndarray:
    """Which v_i = b_iᵀẋ are true generalized velocities: those with symmetric ∂b_i/∂x.

    Parameters
    ----------
    row_jacobians : ∂b_i/∂x for each row b_i of B, shape (…, n, nx, nx).
    """
    J = np.asarray(row_jacobians, float)
    skew = np.linalg.norm(J - transpose(J), axis=(-2, -1))
    return skew <= tolerance * np.linalg.norm(J, axis=(-2, -1))


def __getattr__(name: str) -> Any:
    no_longer(
        "module 'zwang.formulations.constraint_rows'", name, {"stabilised_rhs": "stabilized_rhs"}
    )
