"""Ready-made thin disk: its equations in Blajer (1992), section 6, as corrected.

x_P, y_P, z_P is the lowest point P of the rim, φ the heading, θ the lean (0 is upright), ψ the
spin. The frame ξηζ at the centre G leans and turns with the disk but does not spin:

    ξ = (cos φ, sin φ, 0),   η = (−sin θ sin φ, sin θ cos φ, cos θ),   ζ = ξ × η,   G = P + rη.

    his     here                                            equation
    x       q = (x_P, y_P, z_P, phi, theta, psi)
    v       v1…v3 velocity of G, v4…v6 angular velocity     (6.2), (6.3)
            of the disk, both along ξ, η, ζ
    A, B    `kinematics`, `inverse_kinematics`, q̇ = A v     (6.2), (6.3)
    C, D    `contact_rows`, `contact_directions`            (6.7), (6.8)
    M, h*   `free_mass`, `free_force`                       (6.9), (6.10)
            `reaction_free_equations`                       (6.6), (6.11)
    λ, r*   `contact_forces`, `reactions`                   (6.12), (6.13)
    q, u    q = (x_P, y_P, phi, theta, psi), v = q̇          (6.14)
    C, c0*  `plane_row`                                     (6.15), (6.16)
    M_d, h  `coordinate_mass`, `coordinate_force`           (6.17), (6.18)
    λ       `normal_force`                                  (6.19)
    D       `rolling_directions`, u = Dᵀω                   (6.24), (6.25)
    M_ω, h  `rolling_mass`, `rolling_force`                 (6.27), (6.28)
    ω       omega = (φ̇, θ̇, ψ̇)
    J       p.J = J_ξξ = J_ηη = ½ J_ζζ                      (6.9)

The angles are singular at θ = ±π/2, where the disk lies flat. Functions take numbers or symbols;
p holds the parameters m, r, J, g as attributes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "contact_directions",
    "contact_forces",
    "contact_rows",
    "coordinate_force",
    "coordinate_mass",
    "free_force",
    "free_mass",
    "inverse_kinematics",
    "kinematics",
    "normal_force",
    "plane_row",
    "reaction_free_equations",
    "reactions",
    "rolling_directions",
    "rolling_force",
    "rolling_mass",
]


def kinematics(phi: Any, theta: Any, r: Any) -> Any:
    """A of q̇ = A v, (6.2), corrected: −tan θ in A₂ and −r sin θ in A₃; shape (6, 6)."""
    s, c, tan = np.sin(theta), np.cos(theta), np.tan(theta)
    sp, cp = np.sin(phi), np.cos(phi)
    return np.array(
        [
            [cp, -s * sp, c * sp, -r * c * sp, r * tan * cp, 0],
            [sp, s * cp, -c * cp, r * c * cp, r * tan * sp, 0],
            [0, c, s, -r * s, 0, 0],
            [0, 0, 0, 0, 1 / c, 0],
            [0, 0, 0, -1, 0, 0],
            [0, 0, 0, 0, -tan, 1],
        ]
    )


def inverse_kinematics(phi: Any, theta: Any, r: Any) -> Any:
    """B of v = B q̇, (6.3), shape (6, 6); without its third column B̃ of (6.14)."""
    s, c = np.sin(theta), np.cos(theta)
    sp, cp = np.sin(phi), np.cos(phi)
    return np.array(
        [
            [cp, sp, 0, -r * s, 0, 0],
            [-s * sp, s * cp, c, 0, 0, 0],
            [c * sp, -c * cp, s, 0, -r, 0],
            [0, 0, 0, 0, -1, 0],
            [0, 0, 0, c, 0, 0],
            [0, 0, 0, s, 0, 1],
        ]
    )


def contact_rows(r: Any) -> Any:
    """C of C v̇ = 0, (6.7), shape (3, 6): the point of the disk at P stays at rest, (6.5), (6.6)."""
    return np.array([[1, 0, 0, 0, 0, r], [0, 1, 0, 0, 0, 0], [0, 0, 1, -r, 0, 0]])


def contact_directions(r: Any) -> Any:
    """D of (6.8), shape (3, 6), with C Dᵀ = 0."""
    return np.array([[-r, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 0], [0, 0, r, 1, 0, 0]])


def free_mass(p: Any) -> list[list[Any]]:
    """M = diag(m, m, m, J, J, 2J) of the free disk, (6.9)."""
    entries = [p.m, p.m, p.m, p.J, p.J, 2 * p.J]
    return [[x if i == k else 0 for k in range(6)] for i, x in enumerate(entries)]


def free_force(theta: Any, v: Any, p: Any) -> list[Any]:
    """h* of the free disk in the frame ξηζ, (6.10): gyroscopic terms and weight."""
    s, c, tan = np.sin(theta), np.cos(theta), np.tan(theta)
    v1, v2, v3, v4, v5, v6 = v
    spin = v5 * tan - 2 * v6
    return [
        p.m * v5 * (v2 * tan - v3),
        p.m * (v4 * v3 - v5 * v1 * tan - p.g * c),
        p.m * (v5 * v1 - v4 * v2 - p.g * s),
        p.J * v5 * spin,
        -p.J * v4 * spin,
        0.0,
    ]


def reaction_free_equations(theta: Any, v: Any, p: Any) -> tuple[Any, Any]:
    """[C; D M] v̇ = [0; D h*]: (6.6), and below them (6.11), corrected: g sin θ without the r.

    Returns
    -------
    tuple
        Matrix and right side, shapes (6, 6) and (6,).
    """
    s, tan = np.sin(theta), np.tan(theta)
    v1, v2, v3, v4, v5, v6 = v
    spin, mr = v5 * tan - 2 * v6, p.m * p.r
    tangent = [
        [-mr, 0, 0, 0, 0, 2 * p.J],
        [0, 0, 0, 0, p.J, 0],
        [0, 0, mr, p.J, 0, 0],
    ]
    right = [
        0,
        0,
        0,
        -mr * v5 * (v2 * tan - v3),
        -p.J * v4 * spin,
        mr * (v5 * v1 - v4 * v2 - p.g * s) + p.J * v5 * spin,
    ]
    return np.concatenate([contact_rows(p.r), np.array(tangent)]), np.array(right)


def contact_forces(theta: Any, v: Any, p: Any) -> list[Any]:
    """λ of the rolling disk, (6.12), corrected: the force of the ground along ξ, η, ζ."""
    s, c, tan = np.sin(theta), np.cos(theta), np.tan(theta)
    v1, v2, v3, v4, v5, v6 = v
    k = p.m * p.r**2
    mu1, mu2 = 2 * p.m * p.J / (k + 2 * p.J), p.m * p.J / (k + p.J)
    spin = v5 * tan - 2 * v6
    return [
        -mu1 * v5 * (v2 * tan - v3),
        -p.m * (v4 * v3 - v5 * v1 * tan - p.g * c),
        -mu2 * (v5 * v1 - v4 * v2 - p.g * s - p.r * v5 * spin),
    ]


def reactions(r: Any, forces: Any) -> Any:
    """r₁*, r₂*, r₃*, (6.13), shape (3, 6): the rows of C, each times its λ."""
    return contact_rows(r) * np.array(forces)[:, None]


def plane_row(q: Any, v: Any, r: Any) -> tuple[Any, Any]:
    """C and c0* of z_P = 0 on a smooth plane, (6.15), (6.16); shape (6,) and a number.

    q and v are the six coordinates and the six quasi-velocities; C v̇ + c0* = 0.
    """
    s, c = np.sin(q[4]), np.cos(q[4])
    rate = kinematics(q[3], q[4], r) @ v
    bias = rate[4] * (rate[0] * np.sin(q[3]) - rate[1] * np.cos(q[3]))
    return np.array([0, c, s, -r * s, 0, 0]), bias


def normal_force(q: Any, v: Any, p: Any) -> Any:
    """λ on a smooth plane from (x_P, y_P, φ, θ, ψ) and its rates, (6.19), corrected."""
    s, c = np.sin(q[3]), np.cos(q[3])
    _, _, phi, theta, psi = v  # rates
    share = p.m * p.J / (p.J + p.m * p.r**2 * s**2)
    return share * (p.g - p.r * theta**2 * c - p.r * phi * s * c * (2 * psi + phi * s))


def coordinate_mass(q: Any, p: Any) -> list[list[Any]]:
    """M_d for (x_P, y_P, φ, θ, ψ), (6.17)."""
    s, c = np.sin(q[3]), np.cos(q[3])
    sp, cp = np.sin(q[2]), np.cos(q[2])
    mr, k = p.m * p.r, p.m * p.r**2
    return [
        [p.m, 0, -mr * s * cp, -mr * c * sp, 0],
        [0, p.m, -mr * s * sp, mr * c * cp, 0],
        [-mr * s * cp, -mr * s * sp, (k + p.J) * s**2 + p.J, 0, 2 * p.J * s],
        [-mr * c * sp, mr * c * cp, 0, k + p.J, 0],
        [0, 0, 2 * p.J * s, 0, 2 * p.J],
    ]


def coordinate_force(q: Any, v: Any, p: Any) -> list[Any]:
    """h_u* for (x_P, y_P, φ, θ, ψ), (6.18), fourth row corrected."""
    s, c = np.sin(q[3]), np.cos(q[3])
    sp, cp = np.sin(q[2]), np.cos(q[2])
    _, _, phi, theta, psi = v  # rates
    mr, k = p.m * p.r, p.m * p.r**2
    pull, twist = (phi**2 + theta**2) * s, 2 * phi * theta * c
    return [
        -mr * (pull * sp - twist * cp),
        mr * (pull * cp + twist * sp),
        -(k + p.J) * twist * s - 2 * p.J * psi * theta * c,
        (k - p.J) * phi**2 * s * c + 2 * p.J * phi * (psi + phi * s) * c + p.m * p.g * p.r * s,
        -p.J * twist,
    ]


def rolling_directions(q: Any, r: Any) -> Any:
    """D, (6.24), shape (3, 5): u = Dᵀω satisfies the rolling constraints."""
    return np.array(
        [
            [0, 0, 1, 0, 0],
            [0, 0, 0, 1, 0],
            [-r * np.cos(q[2]), -r * np.sin(q[2]), 0, 0, 1],
        ]
    )


def rolling_mass(theta: Any, p: Any) -> list[list[Any]]:
    """M_ω for (φ̇, θ̇, ψ̇), (6.27), entries 13 and 31 corrected."""
    s, k = np.sin(theta), p.m * p.r**2
    return [
        [(k + p.J) * s**2 + p.J, 0, (k + 2 * p.J) * s],
        [0, k + p.J, 0],
        [(k + 2 * p.J) * s, 0, k + 2 * p.J],
    ]


def rolling_force(theta: Any, omega: Any, p: Any) -> list[Any]:
    """h_ω* for (φ̇, θ̇, ψ̇), (6.28), corrected."""
    s, c, k = np.sin(theta), np.cos(theta), p.m * p.r**2
    w1, w2, w3 = omega
    return [
        -2 * (k + p.J) * w1 * w2 * s * c - 2 * p.J * w2 * w3 * c,
        (k + p.J) * w1**2 * s * c + (k + 2 * p.J) * w1 * w3 * c + p.m * p.g * p.r * s,
        -2 * (k + p.J) * w1 * w2 * c,
    ]
