"""Udwadia and Mogharabin (2022): the equations with singular mass, and both figures.

Computed are accelerations and forces by Lagrange's saddle point, and pseudoinverses by singular
values. The system is one of five coordinates with a singular mass matrix, dependent constraints
and a non-ideal force; the paper has no numbers of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import zwang as zw
from comparison import Result, report

TITLE = "Udwadia & Mogharabin: An alternative form of the equation of motion (2022)"

FIGURES = {
    "udwadia_mogharabin_2022_1": "Fig. 1: one particle, whose MA⁺b stands upright on N(A).",
    "udwadia_mogharabin_2022_2": "Fig. 2: a general system, whose MA⁺b leans.",
}

RNG = np.random.default_rng(2022)
FACTOR = RNG.standard_normal((5, 3))
SINGULAR = FACTOR @ FACTOR.T  # rank 3
ROWS = RNG.standard_normal((3, 5))
ROWS[2] = ROWS[0] - 2 * ROWS[1]  # rank 2
START = RNG.standard_normal(5)
RHS = ROWS @ START
GIVEN, NONIDEAL = RNG.standard_normal((2, 5))


def quantities(M: np.ndarray) -> dict[str, np.ndarray]:
    """The paper's matrices, written as it writes them."""
    pinv = np.linalg.pinv(ROWS)
    project = np.eye(5) - pinv @ ROWS
    M_s = project @ M @ project
    V2 = np.linalg.svd(ROWS)[2][2:].T
    return {
        "pinv": pinv,
        "N": project,
        "M_s": M_s,
        "M_s+": np.linalg.pinv(M_s, rcond=1e-10),
        "V2": V2,
        "delta": GIVEN + NONIDEAL - M @ pinv @ RHS,
    }


def singular_mass() -> list[Result]:
    """(8)–(55)."""
    s = zw.solve(SINGULAR, GIVEN, ROWS, RHS, NONIDEAL, formulation="saddle_point")
    k = quantities(SINGULAR)
    N, up, delta = k["N"], k["pinv"] @ RHS, k["delta"]
    stack = np.vstack([k["M_s"], ROWS])
    right = np.concatenate([N @ delta, RHS])
    reduced = np.linalg.inv(k["V2"].T @ SINGULAR @ k["V2"])
    force = (SINGULAR @ k["M_s+"] - np.eye(5)) @ delta
    return [
        Result("(9)", "(I − A⁺A)Q^c", N @ s.constraint_force, N @ NONIDEAL),
        Result("(12)", "part of q̈ fixed by the constraints", k["pinv"] @ ROWS @ s.acceleration, up),
        Result("(18)", "q̈ by the stacked matrix", s.acceleration, np.linalg.pinv(stack) @ right),
        Result("(24)", "q̈ by M_s⁺", s.acceleration, k["M_s+"] @ delta + up),
        Result("(32)", "Q^c", s.constraint_force, force + NONIDEAL),
        Result(
            "(33)",
            "Q^c across the constraints",
            s.constraint_force - N @ s.constraint_force,
            force + NONIDEAL - N @ NONIDEAL,
        ),
        Result(
            "(45)", "M_s = V₂(V₂ᵀMV₂)V₂ᵀ", k["M_s"], k["V2"] @ np.linalg.inv(reduced) @ k["V2"].T
        ),
        Result("Lemma 5", "M_s⁺ = V₂(V₂ᵀMV₂)⁻¹V₂ᵀ", k["M_s+"], k["V2"] @ reduced @ k["V2"].T),
        Result("(54)", "q̈ by V₂", s.acceleration, k["V2"] @ reduced @ k["V2"].T @ delta + up),
    ]


def definite_mass() -> list[Result]:
    """(28), (39), (40), (58)–(62)."""
    M = SINGULAR + np.eye(5)
    s = zw.solve(M, GIVEN, ROWS, RHS, NONIDEAL, formulation="saddle_point")
    k = quantities(M)
    values, vectors = np.linalg.eigh(M)
    half, minus = (vectors * values**0.5) @ vectors.T, (vectors * values**-0.5) @ vectors.T
    B = ROWS @ minus
    left = np.eye(5) - np.linalg.pinv(B) @ B
    a = np.linalg.solve(M, GIVEN)
    fundamental = a + minus @ np.linalg.pinv(B) @ (RHS - ROWS @ a) + minus @ left @ minus @ NONIDEAL
    particle = zw.solve(2 * np.eye(5), GIVEN, ROWS, RHS, NONIDEAL, formulation="saddle_point")
    full = RNG.standard_normal((6, 5))
    held = zw.solve(SINGULAR, GIVEN, full, full @ START, formulation="saddle_point")
    return [
        Result(
            "(28)",
            "q̈ of one particle, m₀ = 2",
            particle.acceleration,
            k["N"] @ (GIVEN + NONIDEAL) / 2 + k["pinv"] @ RHS,
        ),
        Result(
            "(39)", "q̈, fully constrained", held.acceleration, np.linalg.pinv(full) @ full @ START
        ),
        Result("(40)", "Q^c, fully constrained", held.constraint_force, SINGULAR @ START - GIVEN),
        Result("(58)", "I − M_s⁺M", np.eye(5) - k["M_s+"] @ M, minus @ np.linalg.pinv(B) @ ROWS),
        Result(
            "(60)",
            "M^(1/2)M_s⁺M^(1/2) + B⁺B",
            np.eye(5),
            half @ np.linalg.inv(M) @ half + np.linalg.pinv(B) @ B,
            half @ k["M_s+"] @ half + np.linalg.pinv(B) @ B,
            "index s lost",
        ),
        Result("(61)", "M_s⁺", k["M_s+"], minus @ left @ minus),
        Result("(62)", "q̈ by the fundamental equation", s.acceleration, fundamental),
    ]


def bounds() -> list[Result]:
    """The bounds of Remark 2, as numbers: each is met, so the larger beside the larger."""
    picture = zw.portrait(SINGULAR, GIVEN, ROWS, RHS, NONIDEAL)
    k = quantities(SINGULAR)
    tangent = np.linalg.norm(k["M_s+"], 2) * np.linalg.norm(k["delta"])
    normal = np.linalg.norm(SINGULAR @ k["pinv"] @ RHS) / np.linalg.norm(SINGULAR, 2)
    inside, across = picture.acceleration.lengths
    return [
        Result("Remark 2", "bound on ‖q̈_N‖", max(tangent, inside), tangent),
        Result("Remark 2", "bound on ‖q̈_⊥‖", min(normal, across), normal),
    ]


def results() -> list[Result]:
    """All results."""
    return [*singular_mass(), *definite_mass(), *bounds()]


def figures() -> dict[str, Any]:
    """The geometry of a particle, and of a general system."""
    row, rhs, a, d = [[0.6, 0.8]], [1.5], np.array([2.0, -0.5]), np.array([0.5, 0.5])
    particle = zw.portrait(2 * np.eye(2), 2 * a, row, rhs, 2 * d)
    general = zw.portrait([[1.5, 0.6], [0.6, 0.8]], [2.0, 0.3], row, rhs, [0.4, 0.2])
    names = list(FIGURES)
    return {names[0]: particle.plot(), names[1]: general.plot()}


def main() -> None:
    """Print the table."""
    report(TITLE, results())


if __name__ == "__main__":
    main()
