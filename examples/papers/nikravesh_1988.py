"""Nikravesh (1988), chapter 11: the table, the example, the problems and the counts.

Computed are: rows of the table by stating each condition and differentiating it, accelerations of
a body by Euler's equations in angular velocities. The table's entries are evaluated as they stand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import zwang as zw
from comparison import Result, report
from zwang.multibody import nikravesh
from zwang.rotation import euler_parameters as ep
from zwang.rotation import quaternion as qt
from zwang.rotation.arrays import tilde

TITLE = "Nikravesh: Computer-Aided Analysis of Mechanical Systems (1988), chapter 11"

FIGURES: dict[str, str] = {}

RNG = np.random.default_rng(11)
S_I, S_J, B_I, B_J = RNG.standard_normal((4, 3))
Q = RNG.standard_normal((2, 7))
Q[:, 3:] /= np.linalg.norm(Q[:, 3:], axis=1, keepdims=True)
V = RNG.standard_normal((2, 6))
A_I, A_J = (ep.rotation_matrix(q[3:]) for q in Q)
W_I, W_J = tilde(A_I @ V[0, 3:]), tilde(A_J @ V[1, 3:])
s, z, p_i, p_j = A_I @ S_I, A_J @ S_J, A_I @ B_I, A_J @ B_J
ds, dz, dp_i, dp_j = W_I @ s, W_J @ z, W_I @ p_i, W_J @ p_j
d, dd = Q[1, :3] + p_j - Q[0, :3] - p_i, V[1, :3] + dp_j - V[0, :3] - dp_i
BEND = W_I @ dp_i - W_J @ dp_j
INERTIA = np.diag([1.0, 1.5, 2.0])


def traced(condition: Callable[[Any], Any]) -> tuple[np.ndarray, np.ndarray]:
    """Jacobian and γ# of a condition between two bodies."""
    pair = zw.Mechanism()
    bodies = [pair.body(name, mass=1.0, inertia=(1, 1, 1)) for name in "ij"]
    pair.constraint("row", bodies, condition)
    terms = pair.terms(Q.ravel(), V.ravel())
    return terms.constraint_matrix, terms.constraint_rhs


def _between(bodies: Any) -> Any:
    return bodies[1].point(B_J) - bodies[0].point(B_I)


def table() -> list[Result]:
    """Table 11.1: Jacobian and γ# of the six rows."""
    zero, one = np.zeros((3, 3)), np.eye(3)
    t = tilde
    rows = [
        (
            "n1",
            lambda bodies: bodies[0].vector(S_I) @ bodies[1].vector(S_J),
            [0 * s, -z @ t(s) @ A_I, 0 * s, -s @ t(z) @ A_J],
            -2 * ds @ dz + ds @ W_I @ z + dz @ W_J @ s,
            None,
        ),
        (
            "n2",
            lambda bodies: bodies[0].vector(S_I) @ _between(bodies),
            [-s, -(d + p_i) @ t(s) @ A_I, s, -s @ t(p_j) @ A_J],
            -2 * dd @ ds - d @ W_I @ ds + s @ BEND,
            None,
        ),
        (
            "p1",
            lambda bodies: np.cross(bodies[0].vector(S_I), bodies[1].vector(S_J)),
            [zero, t(z) @ t(s) @ A_I, zero, -t(s) @ t(z) @ A_J],
            -2 * t(s) @ dz + t(z) @ W_I @ ds - t(s) @ W_J @ dz,
            -2 * t(ds) @ dz + t(z) @ W_I @ ds - t(s) @ W_J @ dz,
        ),
        (
            "p2",
            lambda bodies: np.cross(bodies[0].vector(S_I), _between(bodies)),
            [-t(s), (t(s) @ t(p_i) + t(d) @ t(s)) @ A_I, t(s), -t(s) @ t(p_j) @ A_J],
            -2 * t(s) @ dd + t(s) @ BEND + t(d) @ W_I @ ds,
            -2 * t(ds) @ dd + t(s) @ BEND + t(d) @ W_I @ ds,
        ),
        (
            "s",
            lambda bodies: -_between(bodies),
            [one, -t(p_i) @ A_I, -one, t(p_j) @ A_J],
            -BEND,
            None,
        ),
        (
            "s-s",
            lambda bodies: _between(bodies) @ _between(bodies) - 1.0,
            [-2 * d, 2 * d @ t(p_i) @ A_I, 2 * d, -2 * d @ t(p_j) @ A_J],
            -2 * d @ d + 2 * d @ BEND,
            -2 * dd @ dd + 2 * d @ BEND,
        ),
    ]
    found = []
    for name, condition, blocks, printed, corrected in rows:
        jacobian, rhs = traced(condition)
        entries = np.hstack([np.atleast_2d(block) for block in blocks])
        right = None if corrected is None else np.atleast_1d(corrected)
        why = "" if corrected is None else "dots lost in the first term"
        place = f"Table 11.1, {name}"
        found += [
            Result(place, "Jacobian", jacobian, entries),
            Result(place, "γ#", rhs, np.atleast_1d(printed), right, why),
        ]
    return found


def example() -> list[Result]:
    """Example 11.1, equations 1 to 4."""
    jacobian, rhs = traced(lambda bodies: bodies[0].vector(S_I) @ bodies[1].vector(S_J))
    w_i, w_j = V[0, 3:], V[1, 3:]
    A_i_dot, A_j_dot = W_I @ A_I, W_J @ A_J
    t_i, t_j = tilde(S_I), tilde(S_J)
    printed = (dz @ A_I - z @ A_i_dot) @ t_i @ w_i + (-ds @ A_J - s @ A_j_dot) @ t_i @ w_i
    right = (-dz @ A_I - z @ A_i_dot) @ t_i @ w_i + (-ds @ A_J - s @ A_j_dot) @ t_j @ w_j
    third = -2 * ds @ dz - z @ W_I @ ds - s @ W_I @ dz
    third_right = -2 * ds @ dz - z @ W_I @ ds - s @ W_J @ dz
    velocity = -z @ A_I @ t_i @ w_i - s @ A_J @ t_j @ w_j
    return [
        Result("Ex. 11.1, 1", "velocity equation", (jacobian @ V.ravel())[0], velocity),
        Result(
            "Ex. 11.1, 2",
            "block of ω_i′",
            jacobian[0, 3:6],
            -s @ A_I @ t_i,
            -z @ A_I @ t_i,
            "s_i for s_j",
        ),
        Result("Ex. 11.1, 3", "−γ#", -rhs[0], printed, right, "sign and indices"),
        Result("Ex. 11.1, 4", "γ#, third line", rhs[0], third, third_right, "ω_i for ω_j"),
    ]


def free_body() -> list[Result]:
    """(11.9)–(11.18), problems 11.1 to 11.5."""
    p, omega = Q[0, 3:], np.array([1.0, 2.0, 0.5])
    p_dot, moment = qt.rate(p, omega), np.array([5.0, 7.0, 1.0])
    L, H = ep.matrix_L(p), ep.matrix_H(p, p_dot, INERTIA)
    turning = np.linalg.solve(INERTIA, moment - np.cross(omega, INERTIA @ omega))
    p_ddot = 0.5 * L.T @ turning - omega @ omega / 4 * p
    star, inverse = 2 * L.T @ moment, np.linalg.inv(INERTIA)
    J_star = 4 * L.T @ INERTIA @ L
    five = np.block([[J_star, p[:, None]], [p[None], np.zeros((1, 1))]])
    first = np.linalg.solve(five, np.append(star - 2 * H @ p_dot, -p_dot @ p_dot))
    four = np.vstack([2 * INERTIA @ L, p])
    second = np.linalg.solve(four, np.append(moment - L @ H @ p_dot, -p_dot @ p_dot))
    quarter = L.T @ inverse @ L / 4
    inverse_five = np.block([[quarter, p[:, None]], [p[None], np.zeros((1, 1))]])
    spin = omega @ INERTIA @ omega
    G, A = ep.matrix_G(p), ep.rotation_matrix(p)
    return [
        Result("(11.16)", "p̈ by Formulation I", p_ddot, first[:4]),
        Result("(11.13)", "σ = 8ṗᵀLᵀJ′Lṗ", 2 * spin, 8 * p_dot @ L.T @ INERTIA @ L @ p_dot),
        Result("(11.16)", "σ by Formulation I", 2 * spin, first[4]),
        Result("(11.17)", "p̈ by Formulation II", p_ddot, second),
        Result("Problem 11.1", "J*p", np.zeros(4), J_star @ p),
        Result("Problem 11.2", "J* = 4GᵀJG", J_star, 4 * G.T @ A @ INERTIA @ A.T @ G),
        Result("Problem 11.3", "inverse of the five equations", np.linalg.inv(five), inverse_five),
        Result(
            "Problem 11.4",
            "inverse of the four equations",
            np.linalg.inv(four),
            np.column_stack([L.T @ inverse / 2, p]),
        ),
        Result("Problem 11.5", "energy, ½ṗᵀJ*ṗ", spin / 2, p_dot @ J_star @ p_dot / 2),
    ]


def problems() -> list[Result]:
    """Problems 11.6 and 11.7, and the counts of 11.5."""
    p = np.array([0.5, 0.7, -0.5, 0.1])
    A, L = ep.rotation_matrix(p), ep.matrix_L(p)
    moment = np.cross([1.0, -1.0, 2.0], [3.0, -2.0, -1.0])
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    one = m.body("one", mass=3.0, inertia=(0.3, 0.4, 0.5), angular_velocity=(0.4, -1.0, 0.7))
    two = m.body("two", mass=2.0, inertia=(0.2, 0.25, 0.1), position=(1.1, 0.5, -0.3))
    m.spherical("P", one, two, at=(0.6, 0.2, 0.1))
    m.force("f1", one, (0, 25, 0), torque=(1, 2, -1))
    m.force("n2", two, torque=(0.5, -3, 2))
    solved = m.solve(m.assemble(), formulation="projection")
    reaction = solved.constraint_force.reshape(2, 2, 3)
    by_three = m.solve(m.assemble(), formulation="nikravesh_3").multipliers
    bodies = nikravesh.Bodies(
        mass=[3.0, 2.0],
        J=[INERTIA, INERTIA],
        p=Q[:, 3:],
        p_dot=[qt.rate(q[3:], v[3:]) for q, v in zip(Q, V, strict=True)],
        force=np.ones((2, 3)),
        moment=np.ones((2, 3)),
    )
    forms = (nikravesh.formulation_1, nikravesh.formulation_2, nikravesh.formulation_3)
    sizes = [form(bodies, np.eye(14)[:3], np.zeros(3)).right_side.size for form in forms]
    by_hand = "no answer given; worked by hand"
    return [
        Result("Problem 11.6 (a)", "n′", moment, [5.0, 7.0, 1.0], None, by_hand),
        Result("Problem 11.6 (b)", "n", A @ moment, [-3.56, -3.80, 6.92], None, by_hand),
        Result("Problem 11.6 (c)", "n*", 2 * L.T @ moment, [-0.2, 2.6, 6.6, 15.8], None, by_hand),
        Result("Problem 11.7 (c)", "λ on body i, −λ on body j", reaction[0, 0], -reaction[1, 0]),
        Result("Problem 11.7 (c)", "−λ by (11.49)", reaction[0, 0], -by_three),
        Result(
            "Problem 11.7 (c)",
            "moment s̃′Aᵀλ on body i",
            reaction[0, 1],
            np.cross([0.6, 0.2, 0.1], reaction[0, 0]),
        ),
        Result("11.5", "8b + m, 7b + m, 6b + m equations, b = 2, m = 3", sizes, [19, 17, 15]),
    ]


def results() -> list[Result]:
    """All results of the chapter."""
    return [*table(), *example(), *free_body(), *problems()]


def figures() -> dict[str, Any]:
    """Fig. 11.1 and that of problem 11.7 are sketches without numbers."""
    return {}


def main() -> None:
    """Print the table."""
    report(TITLE, results())


if __name__ == "__main__":
    main()
