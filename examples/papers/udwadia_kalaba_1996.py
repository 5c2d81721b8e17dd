"""Udwadia and Kalaba (1996): the three examples, the figure and the remark on it.

Computed are accelerations and forces by another formulation than the paper's, Lagrange's with
multipliers, from constraints that are stated as functions and differentiated by the library.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import zwang as zw
from comparison import Result, report

TITLE = "Udwadia & Kalaba: Equations of motion for mechanical systems (1996)"

FIGURES = {
    "udwadia_kalaba_1996": "Fig. 1: the ellipse, sectors of equal times, and directions of forces."
}

#: Kepler's ellipse r = εx + p and twice the area swept in a second.
EPSILON, P, AREA = 0.5, 1.0, 1.0


def pendulum() -> list[Result]:
    """Example 1, (24)–(28)."""
    m, g, length = 2.0, 10.0, 2.0
    x, v = np.array([1.2, 1.6, 0.0]), np.array([0.8, -0.6, 1.0])
    system = zw.library.spherical_pendulum(m=m, g=g, L=length)
    s = system.solve(x, v, formulation="saddle_point")
    weight = np.array([0.0, m * g, 0.0])

    def motion(square: Any) -> np.ndarray:
        return (weight - m * (square + g * x[1]) / length**2 * x) / m

    def multiplier(square: Any) -> float:
        return -m * (square + g * x[1]) / length**2

    run = system.simulate(x, v, until=2.0, tolerance=1e-11)
    energy = np.ptp(run.energy) / np.abs(run.energy).max()
    why = "dots lost in the bracket"
    return [
        Result("(26)", "A", s.terms.constraint_matrix, x[None]),
        Result("(26)", "b", s.terms.constraint_rhs, [-(v @ v)]),
        Result("(28)", "ẍ", s.acceleration, motion(x @ x), motion(v @ v), why),
        Result("after (28)", "λ", s.multipliers[0], multiplier(x @ x), multiplier(v @ v), why),
        Result("Ex. 1", "change of energy in 2 s, to six digits", round(energy, 6), 0.0),
    ]


def on_the_ellipse(angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Position and Keplerian velocity at a true anomaly seen from the focus."""
    r = P / (1 - EPSILON * np.cos(angle))
    x = r * np.array([np.cos(angle), np.sin(angle)])
    rate = AREA / r**2
    r_rate = -P * EPSILON * np.sin(angle) / (1 - EPSILON * np.cos(angle)) ** 2 * rate
    return x, r_rate * x / r + rate * np.array([-x[1], x[0]])


def kepler() -> list[Result]:
    """Example 2, (29)–(34), and the period that follows."""
    m = 3.0
    system = zw.library.kepler_laws(m=m, epsilon=EPSILON, p=P, c=AREA)
    x, v = on_the_ellipse(0.9)
    r = np.hypot(*x)
    s = system.solve(x, v, formulation="saddle_point")
    A, b = s.terms.constraint_matrix, s.terms.constraint_rhs
    # The library's rows may be scaled otherwise than the paper's; what they say is the same.
    paper_A = np.array([[x[0] - r * EPSILON, x[1]], [x[1], -x[0]]])
    paper_b = -np.array([AREA**2 / r**2, 0.0])
    inverse = np.array([[x[0], x[1]], [x[1], -(x[0] - r * EPSILON)]]) / (r * P)
    ellipse = zw.library.kepler_ellipse(m=m, epsilon=EPSILON, p=P)
    alone = ellipse.solve(x, v, formulation="saddle_point").constraint_force
    normal = np.array([x[0] / r - EPSILON, x[1] / r])  # across the path, not along the radius
    axis = P / (1 - EPSILON**2)
    period = 2 * np.pi * np.sqrt(axis**3 * P) / AREA
    start, speed = on_the_ellipse(0.0)
    run = system.simulate(start, speed, until=period, tolerance=1e-11)
    return [
        Result("(32)", "ẍ from A and b", s.acceleration, np.linalg.solve(paper_A, paper_b)),
        Result("(32)", "ẍ from the library's rows", s.acceleration, np.linalg.solve(A, b)),
        Result("(33)", "A⁻¹", np.linalg.inv(paper_A), inverse),
        Result("(34)", "force", s.constraint_force, -(AREA**2) / P * m / r**3 * x),
        Result(
            "(31)",
            "area swept, doubled",
            AREA,
            x[0] * x[1] - x[1] * v[0],
            x[0] * v[1] - x[1] * v[0],
            "dot lost on y",
        ),
        Result("Ex. 2", "back after one period, x", run.at(period).q.round(6), start),
        Result(
            "remark",
            "ellipse alone: force, not central",
            alone,
            -m * AREA**2 / r**3 * normal / (normal @ normal),
        ),
    ]


def slope() -> list[Result]:
    """Example 3, (35)–(37), with α = sin t."""
    m, t = 2.0, 0.7
    given = np.array([1.0, -2.0, 0.5])
    system = zw.library.nonholonomic_particle(m=m, force=lambda _: list(given))
    x = np.array([0.3, -0.4, 1.5])
    v = np.array([0.8, 1.5 * 0.8 + np.sin(t), -0.6])
    s = system.solve(x, v, t, formulation="saddle_point")
    row = np.array([-x[2], 1.0, 0.0])

    def motion(b: Any) -> np.ndarray:
        push = (m * b + x[2] * given[0] - given[1]) / (x[2] ** 2 + 1)
        return (given + push * row) / m

    wrong, right = x[2] * v[0] + np.cos(t), v[2] * v[0] + np.cos(t)
    return [
        Result("(35)", "A", s.terms.constraint_matrix, row[None]),
        Result("(36)", "b", s.terms.constraint_rhs, [wrong], [right], "dot lost on z"),
        Result("(37)", "ẍ", s.acceleration, motion(wrong), motion(right), "dot lost on z"),
    ]


def results() -> list[Result]:
    """All results."""
    return [*pendulum(), *kepler(), *slope()]


def figures() -> dict[str, Any]:
    """The ellipse, sectors swept in equal times, and directions of forces."""
    import matplotlib.pyplot as plt

    system = zw.library.kepler_laws(epsilon=EPSILON, p=P, c=AREA)
    ellipse = zw.library.kepler_ellipse(epsilon=EPSILON, p=P)
    period = 2 * np.pi * np.sqrt((P / (1 - EPSILON**2)) ** 3 * P) / AREA
    start, speed = on_the_ellipse(0.0)
    run = system.simulate(start, speed, until=period, tolerance=1e-10)
    path = np.array([run.at(t).q for t in np.linspace(0, period, 400)])
    figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    axes.plot(*path.T, color="C0")
    for first in (0.08, 0.45, 0.68):
        part = np.array([run.at(t).q for t in np.linspace(first, first + 0.09, 30) * period])
        axes.fill(*np.vstack([[0, 0], part]).T, color="C0", alpha=0.25, lw=0)
    for share in (0.0, 0.2, 0.32, 0.6, 0.8):
        state = run.at(share * period)
        for which, colour in ((system, "C3"), (ellipse, "C2")):
            force = which.solve(state.q, state.v).constraint_force
            axes.annotate(
                "",
                state.q + 0.4 * force / np.hypot(*force),
                state.q,
                arrowprops={"arrowstyle": "->", "color": colour, "lw": 1.5},
            )
    axes.plot([0], [0], "o", color="k", ms=4)
    axes.annotate("O", (0, 0), (-8, -12), textcoords="offset points")
    axes.plot([], [], color="C3", label="force of both laws, (34): to the focus O")
    axes.plot([], [], color="C2", label="force of the ellipse alone: across the path")
    axes.fill([], [], color="C0", alpha=0.25, label="swept in equal times")
    axes.set(aspect="equal", ylim=(-2.05, 1.3))
    axes.legend(loc="lower right", fontsize=8)
    return {"udwadia_kalaba_1996": figure}


def main() -> None:
    """Print the table."""
    report(TITLE, results())


if __name__ == "__main__":
    main()
