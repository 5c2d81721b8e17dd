"""One free rigid body in Euler parameters: moments, and Formulations I, II and III.

P. E. Nikravesh: Computer-Aided Analysis of Mechanical Systems (1988), sections 11.1 and 11.2.

    his        here                               shape      equation
    p          p = (e₀, e₁, e₂, e₃), unit         (…, 4)     (11.6)
    L, G       `matrix_L`, `matrix_G`             (…, 3, 4)
    A          `rotation_matrix`, A = G Lᵀ        (…, 3, 3)
    ω′, ω      omega in body, in world axes       (…, 3)     ω′ = 2Lṗ, ω = 2Gṗ
    J′         J in body axes                     (…, 3, 3)
    n′, n, n*  moment in body axes, world axes,   3, 3, 4    (11.1)–(11.4)
               with the Euler parameters
    s̄          `bar`                              (…, 4, 4)  (b)
    J*, H      `euler_inertia`, `matrix_H`        (…, 4, 4)  (11.11), (11.12)
    σ          `sigma`                            (…)        (11.13)

L is E of Udwadia & Schutte, and −σp their constraint torque. Leading axes are a batch. What does
not solve for an acceleration also takes symbols.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zwang.rotation.arrays import (
    array,
    dot,
    from_entries,
    identity_plus,
    matvec,
    outer,
    solve,
    tilde,
    transpose,
)
from zwang.rotation.quaternion import matrix_E as matrix_L
from zwang.rotation.quaternion import rotation_matrix, second_rate
from zwang.terms import FloatArray

__all__ = [
    "FreeBodyMotion",
    "acceleration_1",
    "acceleration_2",
    "bar",
    "body_moment",
    "euler_equations",
    "euler_inertia",
    "euler_moment",
    "euler_moment_of_global",
    "formulation_1",
    "formulation_2",
    "formulation_3",
    "four_equations",
    "global_moment",
    "inverse_1",
    "inverse_2",
    "matrix_G",
    "matrix_H",
    "matrix_L",
    "moment_of_force",
    "norm_acceleration",
    "point_jacobian",
    "point_jacobian_reduced",
    "point_position",
    "rotation_matrix",
    "sigma",
]


def matrix_G(p: Any) -> FloatArray:
    """G = [−e, ẽ + e₀I], shape (…, 3, 4): ω = 2Gṗ in world axes."""
    p = array(p)
    e = p[..., 1:]
    return np.concatenate([-e[..., None], identity_plus(p[..., 0], tilde(e))], axis=-1)


def bar(s: Any) -> FloatArray:
    """s̄ = [[0, −sᵀ], [s, −s̃]], shape (…, 4, 4), with L s̄ = −s̃L + s pᵀ, (b)."""
    s = array(s)
    x, y, z = (s[..., k] for k in range(3))
    return from_entries([[0.0, -x, -y, -z], [x, 0.0, z, -y], [y, -z, 0.0, x], [z, y, -x, 0.0]])


# --- moments, 11.1 -------------------------------------------------------------------------------


def euler_moment(p: Any, moment_body: Any) -> FloatArray:
    """n* = 2Lᵀn′, (11.1): the same power as ω′ᵀn′ is ṗᵀn*, (a)."""
    return 2.0 * matvec(transpose(matrix_L(p)), array(moment_body))


def euler_moment_of_global(p: Any, moment_global: Any) -> FloatArray:
    """n* = 2Gᵀn, (11.2)."""
    return 2.0 * matvec(transpose(matrix_G(p)), array(moment_global))


def body_moment(p: Any, moment_euler: Any) -> FloatArray:
    """n′ = ½Ln*, (11.3)."""
    return 0.5 * matvec(matrix_L(p), array(moment_euler))


def global_moment(p: Any, moment_euler: Any) -> FloatArray:
    """n = ½Gn*, (11.4)."""
    return 0.5 * matvec(matrix_G(p), array(moment_euler))


def point_position(r: Any, p: Any, s: Any) -> FloatArray:
    """r^P = r + A s′, (11.5): a point of the body, s′ in body axes."""
    return array(r) + matvec(rotation_matrix(p), array(s))


def point_jacobian(p: Any, s: Any) -> FloatArray:
    """∂(A s′)/∂p = 2G s̄′ + 2s′pᵀ, (b), shape (…, 3, 4).

    Exact for A = (2e₀² − 1)I + 2(eeᵀ + e₀ẽ); on the unit sphere other ways to write A agree only
    in directions with pᵀδp = 0.
    """
    p, s = array(p), array(s)
    return 2.0 * matrix_G(p) @ bar(s) + 2.0 * outer(s, p)


def point_jacobian_reduced(p: Any, s: Any) -> FloatArray:
    """−2s̃G with s = A s′: what `point_jacobian` comes to where pᵀδp = 0, (11.6)."""
    return -2.0 * tilde(matvec(rotation_matrix(p), array(s))) @ matrix_G(p)


def moment_of_force(s: Any, force_body: Any) -> FloatArray:
    """n′ = s̃′f′, (11.7): the moment about the mass centre of a force at s′, in body axes.

    Examples
    --------
    Problem 11.6:

    >>> moment_of_force([1, -1, 2], [3, -2, -1])
    array([5., 7., 1.])
    """
    return matvec(tilde(s), array(force_body))


# --- equations of motion, 11.2 -------------------------------------------------------------------


def euler_inertia(p: Any, J: Any) -> FloatArray:
    """J* = 4LᵀJ′L, (11.11), shape (…, 4, 4), singular: J*p = 0."""
    L = matrix_L(p)
    return 4.0 * transpose(L) @ array(J) @ L


def matrix_H(p: Any, p_dot: Any, J: Any) -> FloatArray:
    """H = 4L̇ᵀJ′L, (11.12), shape (…, 4, 4)."""
    return 4.0 * transpose(matrix_L(p_dot)) @ array(J) @ matrix_L(p)


def sigma(p: Any, p_dot: Any, J: Any) -> FloatArray:
    """σ = 8ṗᵀLᵀJ′Lṗ = 2ω′ᵀJ′ω′, (11.13), of a free body, shape (…)."""
    w = matvec(matrix_L(p), array(p_dot))
    return 8.0 * dot(w, matvec(array(J), w))


def euler_equations(p: Any, p_dot: Any, p_ddot: Any, J: Any) -> FloatArray:
    """Left side of 2J′Lp̈ + 4LL̇ᵀJ′Lṗ = n′, (11.9): three equations."""
    L, J, p_dot = matrix_L(p), array(J), array(p_dot)
    H_p_dot = matvec(matrix_H(p, p_dot, J), p_dot)
    return 2.0 * matvec(J, matvec(L, array(p_ddot))) + matvec(L, H_p_dot)


def four_equations(p: Any, p_dot: Any, p_ddot: Any, J: Any) -> FloatArray:
    """Left side of J*p̈ + σp + 2Hṗ = n*, (11.14); the same as with 2LᵀLHṗ, (11.10)."""
    p, p_dot = array(p), array(p_dot)
    inertia = matvec(euler_inertia(p, J), array(p_ddot))
    gyroscopic = 2.0 * matvec(matrix_H(p, p_dot, J), p_dot)
    return inertia + sigma(p, p_dot, J)[..., None] * p + gyroscopic


def norm_acceleration(p: Any, p_dot: Any, p_ddot: Any) -> FloatArray:
    """pᵀp̈ + ṗᵀṗ, (11.15): zero while pᵀp = 1 holds."""
    p_dot = array(p_dot)
    return dot(array(p), array(p_ddot)) + dot(p_dot, p_dot)


class FreeBodyMotion(NamedTuple):
    """What a formulation of a free body gives.

    Attributes
    ----------
    p_ddot : p̈, shape (…, 4).
    unknowns : what was solved for: (p̈, σ), p̈ or ω̇′, shape (…, 5), (…, 4) or (…, 3).
    matrix, right_side : the linear system, matrix · unknowns = right side.
    """

    p_ddot: FloatArray
    unknowns: FloatArray
    matrix: FloatArray
    right_side: FloatArray


def formulation_1(p: Any, p_dot: Any, J: Any, moment_euler: Any) -> FreeBodyMotion:
    """Formulation I, (11.16): [[J*, p], [pᵀ, 0]] [p̈; σ] = [n* − 2Hṗ; −ṗᵀṗ], five equations."""
    p, p_dot = array(p), array(p_dot)
    row = p[..., None, :]
    upper = _joined(euler_inertia(p, J), p[..., None], axis=-1)
    lower = np.concatenate([row, np.zeros_like(row[..., :1])], axis=-1)
    matrix = _joined(upper, lower, axis=-2)
    first = array(moment_euler) - 2.0 * matvec(matrix_H(p, p_dot, J), p_dot)
    right = _joined(first, -dot(p_dot, p_dot)[..., None], axis=-1)
    answer = solve(matrix, right)
    return FreeBodyMotion(answer[..., :4], answer, matrix, right)


def formulation_2(p: Any, p_dot: Any, J: Any, moment_body: Any) -> FreeBodyMotion:
    """Formulation II, (11.17): [2J′L; pᵀ] p̈ = [n′ − LHṗ; −ṗᵀṗ], four equations."""
    p, p_dot = array(p), array(p_dot)
    L = matrix_L(p)
    matrix = _joined(2.0 * array(J) @ L, p[..., None, :], axis=-2)
    first = array(moment_body) - matvec(L, matvec(matrix_H(p, p_dot, J), p_dot))
    right = _joined(first, -dot(p_dot, p_dot)[..., None], axis=-1)
    p_ddot = solve(matrix, right)
    return FreeBodyMotion(p_ddot, p_ddot, matrix, right)


def formulation_3(p: Any, omega: Any, J: Any, moment_body: Any) -> FreeBodyMotion:
    """Formulation III, (11.18): J′ω̇′ = n′ − ω̃′J′ω′, three equations.

    p̈ = ½Lᵀω̇′ − ¼ω²p follows from it and is given for comparison.

    Examples
    --------
    >>> free = formulation_3([1, 0, 0, 0], [0, 0, 2], np.diag([1.0, 2.0, 3.0]), [3.0, 0, 0])
    >>> free.p_ddot
    array([-1. ,  1.5,  0. ,  0. ])
    """
    omega, J = array(omega), array(J)
    right = array(moment_body) - matvec(tilde(omega), matvec(J, omega))
    omega_dot = solve(J, right)
    return FreeBodyMotion(second_rate(p, omega, omega_dot), omega_dot, J, right)


# --- solved by hand, problems 11.3 and 11.4 -------------------------------------------------------


def inverse_1(p: Any, J: Any) -> FloatArray:
    """[[¼LᵀJ′⁻¹L, p], [pᵀ, 0]], the inverse of the matrix of (11.16), problem 11.3; (…, 5, 5)."""
    p, L = array(p), matrix_L(p)
    row = p[..., None, :]
    upper = _joined(0.25 * transpose(L) @ np.linalg.inv(array(J)) @ L, p[..., None], axis=-1)
    lower = np.concatenate([row, np.zeros_like(row[..., :1])], axis=-1)
    return _joined(upper, lower, axis=-2)


def acceleration_1(p: Any, p_dot: Any, J: Any, moment_euler: Any) -> tuple[FloatArray, FloatArray]:
    """p̈ = ¼LᵀJ′⁻¹L(n* − 2Hṗ) − (ṗᵀṗ)p and σ = pᵀ(n* − 2Hṗ), problem 11.3.

    For the n* of a moment, which is orthogonal to p, σ is that of (11.13).
    """
    p, p_dot, L = array(p), array(p_dot), matrix_L(p)
    force = array(moment_euler) - 2.0 * matvec(matrix_H(p, p_dot, J), p_dot)
    turning = 0.25 * matvec(transpose(L), solve(array(J), matvec(L, force)))
    return turning - dot(p_dot, p_dot)[..., None] * p, dot(p, force)


def inverse_2(p: Any, J: Any) -> FloatArray:
    """[½LᵀJ′⁻¹, p], the inverse of the matrix of (11.17), problem 11.4; shape (…, 4, 4)."""
    p = array(p)
    return _joined(0.5 * transpose(matrix_L(p)) @ np.linalg.inv(array(J)), p[..., None], axis=-1)


def acceleration_2(p: Any, p_dot: Any, J: Any, moment_body: Any) -> FloatArray:
    """p̈ = ½LᵀJ′⁻¹(n′ − LHṗ) − (ṗᵀṗ)p, problem 11.4."""
    p, p_dot, L = array(p), array(p_dot), matrix_L(p)
    moment = array(moment_body) - matvec(L, matvec(matrix_H(p, p_dot, J), p_dot))
    turning = 0.5 * matvec(transpose(L), solve(array(J), moment))
    return turning - dot(p_dot, p_dot)[..., None] * p


def _joined(first: FloatArray, second: FloatArray, axis: int) -> FloatArray:
    """Concatenation with leading axes broadcast."""
    depth = 1 if axis == -1 else 2
    batch = np.broadcast_shapes(first.shape[:-depth], second.shape[:-depth])
    parts = [np.broadcast_to(x, (*batch, *x.shape[-depth:])) for x in (first, second)]
    return np.concatenate(parts, axis=axis)
