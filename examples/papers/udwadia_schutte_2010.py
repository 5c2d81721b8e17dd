"""Udwadia and Schutte (2010), section 4: the rotating body in quaternions, equation by equation.

Computed are: terms by tracing Lagrange's function of four free components, accelerations by a
saddle-point solve, powers of matrices by their eigenvalues.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import zwang as zw
from comparison import Result, rate, report

TITLE = "Udwadia & Schutte: Equations of motion for general constrained systems (2010), section 4"

FIGURES: dict[str, str] = {}

INERTIA = np.diag([1.0, 1.5, 2.0])
U = np.array([0.8, 0.4, -0.4, 0.2])
OMEGA = np.array([1.0, 2.0, 0.5])
TORQUE = np.array([1.0, 2.0, 3.0, 4.0])  # Γ_u, with a part along u
ALPHA, Z = 1.7, 5.0


def matrix_e(u: Any) -> Any:
    """E, (80)."""
    u0, u1, u2, u3 = u
    return np.array([[-u1, u0, u3, -u2], [-u2, -u3, u0, u1], [-u3, u2, -u1, u0]])


E = matrix_e(U)
U_DOT = 0.5 * E.T @ OMEGA
E_DOT = matrix_e(U_DOT)
MASS = 4 * E.T @ INERTIA @ E
AUGMENTED = MASS + ALPHA**2 * np.outer(U, U)
FORCE = -8 * E_DOT.T @ INERTIA @ E @ U_DOT + TORQUE
SPIN = OMEGA @ INERTIA @ OMEGA
NORM = U_DOT @ U_DOT
TILDE = np.cross(OMEGA, np.eye(3)).T  # ω̃ y = ω × y


def traced() -> zw.System:
    """Lagrange's system with four free components and the constraint, from the energy alone."""

    def kinetic(q: Any, v: Any) -> Any:
        omega = 2 * matrix_e(q) @ v
        return (omega[0] ** 2 + 1.5 * omega[1] ** 2 + 2 * omega[2] ** 2) / 2

    return zw.System.from_lagrangian(
        coordinates=["u0", "u1", "u2", "u3"],
        T=kinetic,
        forces=lambda: TORQUE,
        constraints={"unit": zw.position(lambda q: (q @ q - 1) / 2)},
    )


def power(matrix: np.ndarray, k: float) -> np.ndarray:
    """A power of a positive definite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * values**k) @ vectors.T


def kinematics() -> list[Result]:
    """(79)–(86), (110), (118)."""
    turned = rate(lambda u: matrix_e(u) @ U, U, U_DOT)  # Ėu
    return [
        Result("(79)", "ω = 2Eu̇", OMEGA, 2 * E @ U_DOT),
        Result("(79)", "ω = −2Ėu", OMEGA, -2 * turned),
        Result("(81)", "energy, 2u̇ᵀEᵀJEu̇", SPIN / 2, 2 * U_DOT @ E.T @ INERTIA @ E @ U_DOT),
        Result("(81)", "energy, 2uᵀĖᵀJĖu", SPIN / 2, 2 * U @ E_DOT.T @ INERTIA @ E_DOT @ U),
        Result("(83)", "Eu", np.zeros(3), E @ U),
        Result(
            "(84)", "Ėu̇, printed as Eu once more", np.zeros(3), E @ U, E_DOT @ U_DOT, "repeats (83)"
        ),
        Result("(85)", "EᵀE + uuᵀ", np.eye(4), E.T @ E + np.outer(U, U)),
        Result("(86)", "EEᵀ", np.eye(3), E @ E.T),
        Result("(110)", "EĖᵀ = ½ω̃", E @ E_DOT.T, TILDE / 2),
        Result("(118)", "Ėᵀ", E_DOT.T, E.T @ TILDE / 2 - np.outer(U, OMEGA) / 2),
    ]


def lagrange() -> list[Result]:
    """(91)–(99)."""
    terms = traced().terms(U, U_DOT)
    V = np.block([[E.T @ E, U[:, None]], [U[None], np.zeros((1, 1))]])
    W = E.T @ np.linalg.inv(INERTIA) @ E / 4 + np.outer(U, U)
    stack = np.vstack([MASS, U])
    unit = np.vstack([np.eye(4), np.zeros(4)])
    return [
        Result("(91)", "M = 4EᵀJE", terms.mass_matrix, MASS),
        Result("(91)", "Q", terms.applied_force, FORCE),
        Result("(93)", "A", terms.constraint_matrix, U[None]),
        Result("(93)", "b", terms.constraint_rhs, [-NORM]),
        Result("(97)", "VVᵀ", np.eye(5), V @ V.T),
        Result("(99)", "VM̂W", unit, V @ stack @ W),
    ]


def auxiliary() -> list[Result]:
    """(101)–(106)."""
    powers = [
        Result(
            "(101)",
            f"M_A to the power {k:g}".replace("-", "−"),
            power(AUGMENTED, k),
            4**k * E.T @ power(INERTIA, k) @ E + (ALPHA**2) ** k * np.outer(U, U),
        )
        for k in (1, -1, 0.5, -0.5)
    ]
    free = np.linalg.solve(AUGMENTED, FORCE + U * Z)
    closed = E.T @ np.linalg.inv(INERTIA) @ E / 4 + np.outer(U, U) / ALPHA**2
    along = (2 * SPIN + Z + U @ TORQUE) / ALPHA**2
    gain = np.linalg.pinv(U[None] @ power(AUGMENTED, -0.5))[:, 0]
    return [
        *powers,
        Result("(102)", "a_{A,z}", free, closed @ (FORCE + U * Z)),
        Result("(103)", "Aa_{A,z}", U @ free, along),
        Result("(104)", "b − Aa_{A,z}", -NORM - U @ free, -NORM - along),
        Result("(105)", "B_A⁺", gain, ALPHA * U),
        Result("(106)", "M_A^(1/2)B_A⁺", power(AUGMENTED, 0.5) @ gain, ALPHA**2 * U),
    ]


def motion() -> list[Result]:
    """(107)–(123)."""
    solved = traced().solve(U, U_DOT, formulation="saddle_point")
    inverse = np.linalg.inv(INERTIA)
    projected = (np.eye(4) - np.outer(U, U)) @ TORQUE
    right = -8 * E_DOT.T @ INERTIA @ E @ U_DOT - ALPHA**2 * NORM * U - 2 * SPIN * U + projected
    gyroscopic = -0.5 * E.T @ inverse @ TILDE @ INERTIA @ OMEGA
    body = E @ TORQUE / 2  # Γ_B, (114)
    by_omega = gyroscopic - OMEGA @ OMEGA / 4 * U + E.T @ inverse @ body / 2
    mass_form = (
        -2 * E.T @ TILDE @ INERTIA @ OMEGA - ALPHA**2 / 4 * OMEGA @ OMEGA * U + 2 * E.T @ body
    )
    pull = -2 * SPIN * U - U * (U @ TORQUE)
    split = -8 * E_DOT.T @ INERTIA @ E @ U_DOT - ALPHA**2 * NORM * U + TORQUE
    long_way = (
        -2 * E.T @ inverse @ E @ E_DOT.T @ INERTIA @ E @ U_DOT
        - NORM * U
        + E.T @ inverse @ E @ TORQUE / 4
    )
    return [
        Result("(107)", "M_A ü", AUGMENTED @ solved.acceleration, right),
        Result("(109)", "ü, expanded", solved.acceleration, long_way),
        Result(
            "(112)",
            "ü",
            solved.acceleration,
            gyroscopic - NORM * U + E.T @ inverse @ E @ TORQUE / 4,
        ),
        Result("(115)", "N(u̇) = ¼N(ω)", NORM, OMEGA @ OMEGA / 4),
        Result("(116)", "ü by ω and the body's torque", solved.acceleration, by_omega),
        Result("(119)", "M_A ü by ω", AUGMENTED @ solved.acceleration, mass_form),
        Result("(121)", "constraint torque", solved.constraint_force, pull),
        Result("(123)", "M_A ü, split", AUGMENTED @ solved.acceleration, split + pull),
    ]


def results() -> list[Result]:
    """All results of the section."""
    return [*kinematics(), *lagrange(), *auxiliary(), *motion()]


def figures() -> dict[str, Any]:
    """The paper has none."""
    return {}


def main() -> None:
    """Print the table."""
    report(TITLE, results())


if __name__ == "__main__":
    main()
