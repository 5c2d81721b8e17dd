"""Orientation by a quaternion of four coordinates: kinematics, energy, Lagrange's equations.

Udwadia & Schutte (2010), section 4, equations (76)–(93), (110)–(118). The unit quaternion is not
built in: its four components are coordinates, and that they have length one is a constraint.

    theirs     here                          shape      equation
    u          u, order (w, x, y, z)         (…, 4)     (77)
    N(u)       `square_norm`                 (…)        (78)
    ω          omega, in body axes           (…, 3)     (79)
    E          `matrix_E`                    (…, 3, 4)  (80)
    Ė          `matrix_E` of u̇, E is linear  (…, 3, 4)
    J          J, about the mass centre in   (…, 3, 3)  (76)
               body axes; any symmetric one
    M, Q       `mass_matrix`, `force`                   (91)
    A, b       `unit_norm_row`                          (93)
    Γ_u, Γ_B   `torque_u`, `torque_B`        4 and 3    (113), (114)
    ω̃          `tilde`                       (…, 3, 3)  (111)

Leading axes are a batch. What does not invert J also takes symbols, so that the functions of a
`zwang.System` can call it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.errors import InputError
from zwang.rotation.arrays import (
    array,
    dot,
    from_entries,
    identity_plus,
    matvec,
    outer,
    tilde,
    transpose,
)
from zwang.terms import FloatArray

__all__ = [
    "E_dot_transposed",
    "angular_velocity",
    "angular_velocity_by_E_dot",
    "energy_gradient",
    "force",
    "from_axis_angle",
    "from_rotation_matrix",
    "kinetic_energy",
    "kinetic_energy_by_E_dot",
    "kinetic_energy_by_rate",
    "lagrange_residual",
    "mass_matrix",
    "matrix_E",
    "momentum_rate",
    "rate",
    "require_unit",
    "rotation_matrix",
    "second_rate",
    "square_norm",
    "tilde",
    "torque_B",
    "torque_u",
    "unit_norm_row",
]

#: How far from 1 the square of a unit quaternion's length may be. Normalising in double precision
#: leaves 2e-16; a quaternion typed with seven digits is off by 1e-7 and is refused.
UNIT_TOLERANCE = 1e-9


# --- kinematics ----------------------------------------------------------------------------------


def from_axis_angle(axis: Any, angle: Any) -> FloatArray:
    """Unit quaternion u = (cos θ/2, e sin θ/2) of a rotation by θ about e, (77).

    Parameters
    ----------
    axis : direction e, shape (…, 3), of any length but zero.
    angle : θ [rad], shape (…).

    Examples
    --------
    >>> from_axis_angle([0, 0, 2], np.pi).round(15)
    array([0., 0., 0., 1.])
    """
    axis, half = array(axis), array(angle) / 2
    length = np.sqrt(dot(axis, axis))
    if not np.all(length > 0):
        raise InputError("rotation axis", expected="a nonzero vector")
    e = axis / length[..., None]
    parts = [np.cos(half)[..., None], e * np.sin(half)[..., None]]
    batch = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return np.concatenate([np.broadcast_to(p, (*batch, p.shape[-1])) for p in parts], axis=-1)


def from_rotation_matrix(R: Any) -> FloatArray:
    """The unit quaternion, first nonzero entry positive, of a rotation matrix (3, 3).

    The largest of the four 4uᵢ² = 1 ± R₁₁ ± R₂₂ ± R₃₃ is taken, so that no digits are lost.
    """
    R = np.asarray(R, dtype=float)
    a, b, c = np.diagonal(R)
    k = int(np.argmax([a + b + c, a, b, c]))
    if k == 0:
        u = [1.0 + a + b + c, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    elif k == 1:
        u = [R[2, 1] - R[1, 2], 1.0 + a - b - c, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]]
    elif k == 2:
        u = [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1.0 - a + b - c, R[1, 2] + R[2, 1]]
    else:
        u = [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1.0 - a - b + c]
    result = np.array(u) / np.linalg.norm(u)
    first = result[np.flatnonzero(result)[0]]
    return result if first > 0.0 else -result


def square_norm(u: Any) -> FloatArray:
    """N(u) = uᵀu, (78), of a quaternion or of any vector."""
    u = array(u)
    return dot(u, u)


def require_unit(u: Any, what: str = "quaternion") -> FloatArray:
    """The quaternion itself if N(u) = 1, (78), else an error with its length."""
    u = array(u)
    off = np.abs(square_norm(u) - 1.0)
    if not np.all(off <= UNIT_TOLERANCE):
        length = np.sqrt(np.ravel(square_norm(u))[np.argmax(off)])
        raise InputError(
            what,
            must="have length 1",
            but=f"has length {length:.9g}",
            advice="Divide it by its length.",
        )
    return u


def matrix_E(u: Any) -> FloatArray:
    """E(u), (80), shape (…, 3, 4): ω = 2 E u̇ in body axes. Ė is `matrix_E` of u̇.

    For N(u) = 1: E u = 0, Ė u̇ = 0, EᵀE + u uᵀ = I, E Eᵀ = I, (83)–(86).

    Examples
    --------
    >>> matrix_E([1.0, 0.0, 0.0, 0.0]) @ [0.0, 0.1, 0.2, 0.3]
    array([0.1, 0.2, 0.3])
    """
    u = array(u)
    u0, u1, u2, u3 = (u[..., k] for k in range(4))
    return from_entries([[-u1, u0, u3, -u2], [-u2, -u3, u0, u1], [-u3, u2, -u1, u0]])


def E_dot_transposed(u: Any, omega: Any) -> FloatArray:
    """Ėᵀ = ½ Eᵀω̃ − ½ u ωᵀ, (118), shape (…, 4, 3); with E Ėᵀ = ½ ω̃, (110)."""
    u, omega = array(u), array(omega)
    return 0.5 * (transpose(matrix_E(u)) @ tilde(omega) - outer(u, omega))


def angular_velocity(u: Any, u_dot: Any) -> FloatArray:
    """ω = 2 E u̇ in body axes, (79)."""
    return 2.0 * matvec(matrix_E(u), array(u_dot))


def angular_velocity_by_E_dot(u: Any, u_dot: Any) -> FloatArray:
    """ω = −2 Ė u, the other form of (79)."""
    return -2.0 * matvec(matrix_E(u_dot), array(u))


def rate(u: Any, omega: Any) -> FloatArray:
    """u̇ = ½ Eᵀω, (79), for ω in body axes."""
    return 0.5 * matvec(transpose(matrix_E(u)), array(omega))


def second_rate(u: Any, omega: Any, omega_dot: Any) -> FloatArray:
    """ü = ½ Eᵀω̇ − ¼ N(ω) u: (79) differentiated, with Ėᵀω = −½ N(ω) u from (118)."""
    u, omega = array(u), array(omega)
    along = 0.25 * square_norm(omega)[..., None] * u
    return 0.5 * matvec(transpose(matrix_E(u)), array(omega_dot)) - along


def rotation_matrix(u: Any) -> FloatArray:
    """R_WB = (2u₀² − 1) I + 2 (e eᵀ + u₀ ẽ), shape (…, 3, 3): body components to world ones.

    Examples
    --------
    >>> rotation_matrix(from_axis_angle([0, 0, 1], np.pi / 2)).round(12) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    u = array(u)
    u0, e = u[..., 0], u[..., 1:]
    twice = 2.0 * (outer(e, e) + u0[..., None, None] * tilde(e))
    return identity_plus(np.asarray(2.0 * u0 * u0 - 1.0), twice)


# --- energy and Lagrange's equations -------------------------------------------------------------


def kinetic_energy(omega: Any, J: Any) -> FloatArray:
    """T = ½ ωᵀJω, (76)."""
    omega = array(omega)
    return 0.5 * dot(omega, matvec(array(J), omega))


def kinetic_energy_by_rate(u: Any, u_dot: Any, J: Any) -> FloatArray:
    """T = 2 u̇ᵀEᵀJE u̇, (81); zero for u̇ along u, so not definite, (82)."""
    w = matvec(matrix_E(u), array(u_dot))
    return 2.0 * dot(w, matvec(array(J), w))


def kinetic_energy_by_E_dot(u: Any, u_dot: Any, J: Any) -> FloatArray:
    """T = 2 uᵀĖᵀJĖ u, (81)."""
    return kinetic_energy_by_rate(u_dot, u, J)


def mass_matrix(u: Any, J: Any) -> FloatArray:
    """M = 4 EᵀJE, (91), shape (…, 4, 4), rank 3: M u = 0."""
    E = matrix_E(u)
    return 4.0 * transpose(E) @ array(J) @ E


def force(u: Any, u_dot: Any, J: Any, torque: Any = 0.0) -> FloatArray:
    """Q = −8 ĖᵀJE u̇ + Γ_u, (91), shape (…, 4)."""
    momentum = matvec(array(J), matvec(matrix_E(u), array(u_dot)))
    return array(torque) - 8.0 * matvec(transpose(matrix_E(u_dot)), momentum)


def momentum_rate(u: Any, u_dot: Any, u_ddot: Any, J: Any) -> FloatArray:
    """d/dt ∂T/∂u̇ = 4 EᵀJE ü + 4 ĖᵀJE u̇ + 4 EᵀJĖ u̇, (88)."""
    u_dot, J = array(u_dot), array(J)
    E, E_dot = matrix_E(u), matrix_E(u_dot)
    w = matvec(E, u_dot)
    inner = matvec(J, matvec(E, array(u_ddot)) + matvec(E_dot, u_dot))
    return 4.0 * (matvec(transpose(E), inner) + matvec(transpose(E_dot), matvec(J, w)))


def energy_gradient(u: Any, u_dot: Any, J: Any) -> FloatArray:
    """∂T/∂u = 4 ĖᵀJĖ u, (89), equal to −4 ĖᵀJE u̇."""
    E_dot = matrix_E(u_dot)
    return 4.0 * matvec(transpose(E_dot), matvec(array(J), matvec(E_dot, array(u))))


def lagrange_residual(u: Any, u_dot: Any, u_ddot: Any, J: Any, torque: Any = 0.0) -> FloatArray:
    """d/dt ∂T/∂u̇ − ∂T/∂u − Γ_u, (87), (90): zero if the four components were free.

    Along uᵀ the equation has no solution in general: uᵀM = 0 but uᵀQ = 2ωᵀJω + uᵀΓ_u. The
    constraint torque of the unit norm removes exactly that part.
    """
    return momentum_rate(u, u_dot, u_ddot, J) - energy_gradient(u, u_dot, J) - array(torque)


def unit_norm_row(u: Any, u_dot: Any) -> tuple[FloatArray, FloatArray]:
    """A = uᵀ, shape (…, 1, 4), and b = −N(u̇), shape (…, 1), of uᵀu = 1, (93)."""
    return array(u)[..., None, :], -square_norm(u_dot)[..., None]


# --- torques -------------------------------------------------------------------------------------


def torque_u(u: Any, torque_body: Any) -> FloatArray:
    """Γ_u = 2 EᵀΓ_B, (113): four components from the torque in body axes."""
    return 2.0 * matvec(transpose(matrix_E(u)), array(torque_body))


def torque_B(u: Any, torque_quaternion: Any) -> FloatArray:
    """Γ_B = ½ E Γ_u, (114); a part of Γ_u along u does no work and is lost."""
    return 0.5 * matvec(matrix_E(u), array(torque_quaternion))
