"""The equation of motion in quaternions with a positive definite mass matrix.

Udwadia & Schutte (2010), section 4, equations (94)–(109), (112), (116), (119)–(123). The singular
M = 4EᵀJE of Lagrange's equation is replaced by that of an auxiliary system, with the same
acceleration and, for z = α²b, the same constraint torque. α ≠ 0 and z are free.

    theirs          here                                        equation
    M_A             `auxiliary_mass`                            (94)
    M_A^k           `auxiliary_mass_power`                      (101)
    Q_z             `auxiliary_force`                           (94)
    V, M̂, W         `rank_proof`                                (96)
    a_{A,z}         `auxiliary_free_acceleration`               (102)
    A a_{A,z}       `along_row`                                 (103)
    b − A a_{A,z}   `dissatisfaction`                           (104)
    B_A⁺            `weighted_row_pinv`                         (105)
    M_A^½ B_A⁺      `gain`                                      (106)
    Q^c_{A,z}       `auxiliary_constraint_torque`               (120)
    Q^c             `constraint_torque`                         (121)
    Q_{α²b}         `given_force`                               (122)

For α < 0, α^{2k} is read as (α²)^k, so that B_A⁺ = |α| u. Symbols as in
`zwang.rotation.quaternion`; shapes u, u̇, Γ_u (…, 4), ω, Γ_B (…, 3), J (…, 3, 3), α, z (…).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.rotation.arrays import array, dot, matvec, outer, solve, tilde, transpose
from zwang.rotation.quaternion import (
    angular_velocity,
    force,
    kinetic_energy,
    mass_matrix,
    matrix_E,
    square_norm,
    torque_u,
)
from zwang.terms import FloatArray

__all__ = [
    "acceleration",
    "acceleration_by_omega",
    "acceleration_expanded",
    "acceleration_unsimplified",
    "along_row",
    "auxiliary_constraint_torque",
    "auxiliary_force",
    "auxiliary_free_acceleration",
    "auxiliary_mass",
    "auxiliary_mass_power",
    "constraint_torque",
    "dissatisfaction",
    "gain",
    "given_force",
    "rank_proof",
    "right_side",
    "right_side_by_omega",
    "weighted_row_pinv",
]


def _times(scalar: Any, u: FloatArray) -> FloatArray:
    return array(scalar)[..., None] * u


def _twice_energy(u: Any, u_dot: Any, J: Any) -> FloatArray:
    """ωᵀJω."""
    return 2.0 * kinetic_energy(angular_velocity(u, u_dot), J)


# --- the auxiliary system ------------------------------------------------------------------------


def auxiliary_mass(u: Any, J: Any, alpha: Any = 1.0) -> FloatArray:
    """M_A = 4EᵀJE + α² u uᵀ, (94), shape (…, 4, 4), positive definite for α ≠ 0."""
    u, alpha = array(u), array(alpha)
    return mass_matrix(u, J) + array(alpha * alpha)[..., None, None] * outer(u, u)


def auxiliary_mass_power(u: Any, J: Any, alpha: Any, k: float) -> FloatArray:
    """M_A^k = 4^k Eᵀ J^k E + (α²)^k u uᵀ, (101), for any real k; the paper needs ±1 and ±½."""
    u, J, alpha = array(u), array(J), array(alpha)
    values, axes = np.linalg.eigh(J)
    J_k = (axes * values[..., None, :] ** k) @ transpose(axes)
    E = matrix_E(u)
    along = array((alpha * alpha) ** k)[..., None, None] * outer(u, u)
    return 4.0**k * transpose(E) @ J_k @ E + along


def auxiliary_force(u: Any, u_dot: Any, J: Any, torque: Any = 0.0, z: Any = 0.0) -> FloatArray:
    """Q_z = −8ĖᵀJE u̇ + u z + Γ_u, (94)."""
    return force(u, u_dot, J, torque) + _times(z, array(u))


def rank_proof(u: Any, J: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """V, M̂ = [M; A] and W of (96), shapes (…, 5, 5), (…, 5, 4), (…, 4, 4).

    V Vᵀ = I, (97), and W is the inverse of 4EᵀJE + u uᵀ, (98); V M̂ W = [I; 0], (99), so M̂ has
    rank four and M_A is positive definite.
    """
    u, J = array(u), array(J)
    E, row = matrix_E(u), u[..., None, :]
    zero = np.zeros_like(row[..., :1])
    V = np.concatenate(
        [
            np.concatenate([transpose(E) @ E, transpose(row)], axis=-1),
            np.concatenate([row, zero], axis=-1),
        ],
        axis=-2,
    )
    M_hat = np.concatenate([mass_matrix(u, J), row], axis=-2)
    W = 0.25 * transpose(E) @ np.linalg.inv(J) @ E + outer(u, u)
    return V, M_hat, W


def auxiliary_free_acceleration(
    u: Any, u_dot: Any, J: Any, torque: Any = 0.0, alpha: Any = 1.0, z: Any = 0.0
) -> FloatArray:
    """a_{A,z} = (¼EᵀJ⁻¹E + u uᵀ/α²) Q_z, (102)."""
    inverse = auxiliary_mass_power(u, J, alpha, -1)
    return matvec(inverse, auxiliary_force(u, u_dot, J, torque, z))


def along_row(
    u: Any, u_dot: Any, J: Any, torque: Any = 0.0, alpha: Any = 1.0, z: Any = 0.0
) -> FloatArray:
    """A a_{A,z} = (2ωᵀJω + z + uᵀΓ_u) / α², (103), shape (…)."""
    u, alpha = array(u), array(alpha)
    total = 2.0 * _twice_energy(u, u_dot, J) + array(z) + dot(u, array(torque))
    return total / (alpha * alpha)


def dissatisfaction(
    u: Any, u_dot: Any, J: Any, torque: Any = 0.0, alpha: Any = 1.0, z: Any = 0.0
) -> FloatArray:
    """b − A a_{A,z} = −N(u̇) − (2ωᵀJω + z + uᵀΓ_u) / α², (104), shape (…)."""
    return -square_norm(u_dot) - along_row(u, u_dot, J, torque, alpha, z)


def weighted_row_pinv(u: Any, alpha: Any = 1.0) -> FloatArray:
    """B_A⁺ = (uᵀM_A^(−½))⁺ = |α| u, (105), as a vector (…, 4)."""
    return _times(np.abs(array(alpha)), array(u))


def gain(u: Any, alpha: Any = 1.0) -> FloatArray:
    """M_A^(½) B_A⁺ = α² u, (106), as a vector (…, 4)."""
    alpha = array(alpha)
    return _times(alpha * alpha, array(u))


# --- the equation of motion ----------------------------------------------------------------------


def right_side(u: Any, u_dot: Any, J: Any, torque: Any = 0.0, alpha: Any = 1.0) -> FloatArray:
    """Right side of M_A ü = −8ĖᵀJE u̇ − α²N(u̇)u − 2(ωᵀJω)u + (I − u uᵀ)Γ_u, (107)."""
    return given_force(u, u_dot, J, torque, alpha) + constraint_torque(u, u_dot, J, torque)


def right_side_by_omega(
    u: Any, omega: Any, J: Any, torque_body: Any = 0.0, alpha: Any = 1.0
) -> FloatArray:
    """Right side of M_A ü = −2Eᵀω̃Jω − ¼α²N(ω)u + 2EᵀΓ_B, (119)."""
    u, omega, alpha = array(u), array(omega), array(alpha)
    gyroscopic = matvec(tilde(omega), matvec(array(J), omega))
    along = 0.25 * alpha * alpha * square_norm(omega)
    return torque_u(u, array(torque_body) - gyroscopic) - _times(along, u)


def acceleration_unsimplified(
    u: Any, u_dot: Any, J: Any, torque: Any = 0.0, alpha: Any = 1.0
) -> FloatArray:
    """ü = (¼EᵀJ⁻¹E + u uᵀ/α²) times the right side of (107), equation (108)."""
    inverse = auxiliary_mass_power(u, J, alpha, -1)
    return matvec(inverse, right_side(u, u_dot, J, torque, alpha))


def acceleration_expanded(
    u: Any, u_dot: Any, J: Any, torque: Any = 0.0, alpha: Any = 1.0
) -> FloatArray:
    """Expanded ü, (109); its last part, over α², vanishes.

    ü = −2EᵀJ⁻¹EĖᵀJE u̇ − N(u̇)u + ¼EᵀJ⁻¹EΓ_u − (8uuᵀĖᵀJE u̇ + 2u ωᵀJω) / α².
    """
    u, u_dot, alpha = array(u), array(u_dot), array(alpha)
    E = matrix_E(u)
    free = force(u, u_dot, J, torque)
    turning = matvec(transpose(E), solve(array(J), matvec(E, free)))
    along = -dot(u, force(u, u_dot, J)) + 2.0 * _twice_energy(u, u_dot, J)
    return 0.25 * turning - _times(square_norm(u_dot) + along / (alpha * alpha), u)


def acceleration(u: Any, u_dot: Any, J: Any, torque: Any = 0.0) -> FloatArray:
    """ü = −½EᵀJ⁻¹ω̃Jω − N(u̇)u + ¼EᵀJ⁻¹EΓ_u, (112).

    Examples
    --------
    A body turning steadily about a principal axis keeps turning, ü = −N(u̇) u:

    >>> acceleration([1.0, 0, 0, 0], [0, 0.5, 0, 0], np.diag([1.0, 2.0, 3.0])) + 0.0
    array([-0.25,  0.  ,  0.  ,  0.  ])
    """
    u, J = array(u), array(J)
    omega = angular_velocity(u, u_dot)
    E = matrix_E(u)
    moment = 0.5 * matvec(E, array(torque) + np.zeros(4)) - matvec(tilde(omega), matvec(J, omega))
    turning = solve(J, moment)
    return 0.5 * matvec(transpose(E), turning) - _times(square_norm(u_dot), u)


def acceleration_by_omega(u: Any, omega: Any, J: Any, torque_body: Any = 0.0) -> FloatArray:
    """ü = −½EᵀJ⁻¹ω̃Jω − ¼N(ω)u + ½EᵀJ⁻¹Γ_B, (116), with N(u̇) = ¼N(ω), (115)."""
    u, omega, J = array(u), array(omega), array(J)
    moment = array(torque_body) - matvec(tilde(omega), matvec(J, omega))
    turning = solve(J, moment)
    return 0.5 * matvec(transpose(matrix_E(u)), turning) - _times(0.25 * square_norm(omega), u)


# --- the constraint torque -----------------------------------------------------------------------


def auxiliary_constraint_torque(
    u: Any, u_dot: Any, J: Any, torque: Any = 0.0, alpha: Any = 1.0, z: Any = 0.0
) -> FloatArray:
    """Q^c_{A,z} = α²u [−N(u̇) − (2ωᵀJω + z + uᵀΓ_u)/α²], (120)."""
    return _times(dissatisfaction(u, u_dot, J, torque, alpha, z), gain(u, alpha))


def constraint_torque(u: Any, u_dot: Any, J: Any, torque: Any = 0.0) -> FloatArray:
    """Q^c = −2(ωᵀJω)u − u uᵀΓ_u, (121): what keeps the quaternion's length at one."""
    u = array(u)
    along = dot(u, array(torque))
    return -_times(2.0 * _twice_energy(u, u_dot, J) + along, u)


def given_force(u: Any, u_dot: Any, J: Any, torque: Any = 0.0, alpha: Any = 1.0) -> FloatArray:
    """Q_{α²b} = −8ĖᵀJE u̇ − α²N(u̇)u + Γ_u, (122), to which (123) adds `constraint_torque`."""
    alpha = array(alpha)
    return auxiliary_force(u, u_dot, J, torque, -alpha * alpha * square_norm(u_dot))
