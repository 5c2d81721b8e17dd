"""Blajer (1992), section 6: the rolling disk, every matrix and vector.

Computed are: kinematics from the geometry of the disk, by complex steps; forces of the free disk by
Newton and Euler in the turning frame; multipliers and accelerations by the general solver. The
paper's formulas are evaluated as they stand and as corrected.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import zwang as zw
from comparison import Result, jacobian, rate, report

TITLE = "Blajer: A generalized projection method (1992), section 6"

FIGURES = {"blajer_1992": "Fig. 1, the disk and its frame; the energy as printed and as corrected."}

MASS, RADIUS, G = 2.0, 0.5, 10.0
J = MASS * RADIUS**2 / 4
K = MASS * RADIUS**2
PHI, THETA = 0.3, 0.4
S, C, TAN = np.sin(THETA), np.cos(THETA), np.tan(THETA)
SP, CP = np.sin(PHI), np.cos(PHI)
X = np.array([0.7, -0.2, 0.0, PHI, THETA, 0.0])
OMEGA = np.array([1.0, 2.0, -1.5])  # φ̇, θ̇, ψ̇
ROLL = -RADIUS * OMEGA[2] * np.array([CP, SP])
INERTIA = np.diag([MASS, MASS, MASS, J, J, 2 * J])


def frame(x: Any) -> Any:
    """Rows ξ, η, ζ in world axes."""
    phi, theta = x[3], x[4]
    xi = np.array([np.cos(phi), np.sin(phi), 0 * phi])
    eta = np.array([-np.sin(theta) * np.sin(phi), np.sin(theta) * np.cos(phi), np.cos(theta)])
    return np.array([xi, eta, np.cross(xi, eta)])


def rate_to_velocity(x: Any) -> Any:
    """B of v = Bẋ: velocity of the centre and angular velocity of the disk, along ξ, η, ζ."""
    turn = np.zeros((3, 6), dtype=np.asarray(x).dtype)
    axes = frame(x)
    # heading about z, lean about −ξ, spin about ζ
    turn[:, 3] = axes[:, 2]
    turn[:, 4] = [-1.0, 0.0, 0.0]
    turn[:, 5] = [0.0, 0.0, 1.0]
    # G = P + rη: the rate of η in closed form, so that it can be differentiated again
    phi, theta = x[3], x[4]
    eta_phi = [-np.sin(theta) * np.cos(phi), -np.sin(theta) * np.sin(phi), 0 * phi]
    eta_theta = [-np.cos(theta) * np.sin(phi), np.cos(theta) * np.cos(phi), -np.sin(theta)]
    centre = np.zeros((3, 6), dtype=np.asarray(x).dtype)
    centre[:, :3] = np.eye(3)
    centre[:, 3], centre[:, 4] = RADIUS * np.array(eta_phi), RADIUS * np.array(eta_theta)
    return np.vstack([axes @ centre, turn])


B = rate_to_velocity(X)
FIVE = [0, 1, 3, 4, 5]


def five(x: Any) -> Any:
    """B̃, for the five coordinates."""
    return rate_to_velocity(x)[:, FIVE]


def free_force(v: Any) -> np.ndarray:
    """h* by Newton and Euler in the frame ξηζ, which turns with (v₄, v₅, v₅ tan θ)."""
    turning = np.array([v[3], v[4], v[4] * TAN])
    weight = MASS * frame(X) @ [0.0, 0.0, -G]
    spin = np.array([J, J, 2 * J]) * v[3:]
    return np.concatenate([weight - MASS * np.cross(turning, v[:3]), -np.cross(turning, spin)])


V = B @ np.array([*ROLL, 0.0, *OMEGA])  # rolling
V_SLIDING = B @ np.array([0.4, -0.9, 0.0, *OMEGA])  # on a smooth plane
U_SLIDING = np.array([0.4, -0.9, *OMEGA])


def kinematics() -> list[Result]:
    """(6.2)–(6.6)."""
    printed_A = np.zeros((6, 6))
    printed_A[:3, :3] = [[CP, -S * SP, C * SP], [SP, S * CP, -C * CP], [0, C, S]]
    printed_A[3:, 3:] = [[0, 1 / C, 0], [-1, 0, 0], [0, TAN, 1]]
    printed_A[:3, 3:] = [
        [-RADIUS * C * SP, RADIUS * TAN * CP, 0],
        [RADIUS * C * CP, RADIUS * TAN * SP, 0],
        [-RADIUS * SP, 0, 0],
    ]
    fixed = printed_A.copy()
    fixed[5, 4], fixed[2, 3] = -TAN, -RADIUS * S
    printed_B = np.zeros((6, 6))
    printed_B[:3, :3] = printed_A[:3, :3].T
    printed_B[3:, 3:] = [[0, -1, 0], [C, 0, 0], [S, 0, 1]]
    printed_B[:3, 3:] = [[-RADIUS * S, 0, 0], [0, 0, 0], [0, -RADIUS, 0]]
    numeric = jacobian(lambda x: x[:3] + RADIUS * frame(x)[1], X)  # G(x), once more
    contact = np.array([V[0] + RADIUS * V[5], V[1], V[2] - RADIUS * V[3]])
    return [
        Result("(6.2)", "A of ẋ = Av", np.linalg.inv(B), printed_A, fixed, "tan θ, sin φ in A"),
        Result("(6.3)", "B of v = Bẋ", B, printed_B),
        Result("(6.3)", "velocity of the centre", frame(X) @ numeric, printed_B[:3]),
        Result("(6.5)", "velocity at the contact, rolling", np.zeros(3), contact),
    ]


def dependent() -> list[Result]:
    """(6.7)–(6.13): six quasi-velocities."""
    rows = np.zeros((3, 6))
    rows[0, [0, 5]], rows[1, 1], rows[2, [2, 3]] = [1, RADIUS], 1, [1, -RADIUS]
    basis = np.zeros((3, 6))
    basis[0, [0, 5]], basis[1, 4], basis[2, [2, 3]] = [-RADIUS, 1], 1, [RADIUS, 1]
    disk = zw.library.rolling_disk(m=MASS, r=RADIUS, g=G)
    traced = disk.terms(X, V)
    v1, v2, v3, v4, v5, v6 = V
    h = free_force(V)
    spin = v5 * TAN - 2 * v6
    printed_h = [
        MASS * v5 * (v2 * TAN - v3),
        MASS * (v4 * v3 - v5 * v1 * TAN - G * C),
        MASS * (v5 * v1 - v4 * v2 - G * S),
        J * v5 * spin,
        -J * v4 * spin,
        0.0,
    ]

    def third(weight: float) -> float:
        return MASS * RADIUS * (v5 * v1 - v4 * v2 - weight * S) + J * v5 * spin

    solved = zw.solve(INERTIA, h, rows, np.zeros(3), formulation="saddle_point")
    mu1, mu2 = 2 * MASS * J / (K + 2 * J), MASS * J / (K + J)
    first, second = mu1 * v5 * (v2 * TAN - v3), MASS * (v4 * v3 - v5 * v1 * TAN - G * C)
    along = v5 * v1 - v4 * v2 - G * S
    printed = np.array([first, second, mu2 * (along - v5**2 / RADIUS * spin)])
    fixed = -np.array([first, second, mu2 * (along - RADIUS * v5 * spin)])
    return [
        Result("(6.7)", "C", traced.constraint_matrix, rows),
        Result("(6.8)", "DCᵀ = 0", np.zeros((3, 3)), basis @ rows.T),
        Result("(6.9)", "M", traced.mass_matrix, INERTIA),
        Result("(6.10)", "h* of the free disk", h, printed_h),
        Result(
            "(6.11)",
            "third right side",
            (basis @ h)[2],
            third(G * RADIUS),
            third(G),
            "one r too many",
        ),
        Result("(6.12)", "force of the ground", solved.multipliers, printed, fixed, "sign; v₅²/r"),
        Result(
            "(6.13)",
            "sum of the reactions",
            solved.constraint_force,
            rows.T @ solved.multipliers,
        ),
    ]


def first_stage() -> list[Result]:
    """(6.14)–(6.20): five coordinates, a smooth plane."""
    disk = zw.library.sliding_disk(m=MASS, r=RADIUS, g=G)
    traced = disk.terms(X, V_SLIDING)
    w1, w2, w3 = OMEGA
    turning = np.array([0, 0, 0, *OMEGA])
    tilde = five(X)
    mass = tilde.T @ INERTIA @ tilde
    h = tilde.T @ (free_force(V_SLIDING) - INERTIA @ rate(five, X, turning) @ U_SLIDING)
    mr = MASS * RADIUS
    printed_mass = np.array(
        [
            [MASS, 0, -mr * S * CP, -mr * C * SP, 0],
            [0, MASS, -mr * S * SP, mr * C * CP, 0],
            [-mr * S * CP, -mr * S * SP, (K + J) * S**2 + J, 0, 2 * J * S],
            [-mr * C * SP, mr * C * CP, 0, K + J, 0],
            [0, 0, 2 * J * S, 0, 2 * J],
        ]
    )

    def force(fourth: float) -> list[float]:
        pull, twist = (w1**2 + w2**2) * S, 2 * w1 * w2 * C
        return [
            -mr * (pull * SP - twist * CP),
            mr * (pull * CP + twist * SP),
            -(K + J) * twist * S - 2 * J * w3 * w2 * C,
            (K - J) * w1**2 * S * C + fourth,
            -J * twist,
        ]

    spin = 2 * J * w1 * (w3 + w1 * S)
    row = np.array([[0, C, S, -RADIUS * S, 0, 0]])
    normal = zw.solve(INERTIA, free_force(V_SLIDING), row, traced.constraint_rhs)
    printed_normal = MASS * G - mr * w1 * (w3 * C + w1 * S * C) * S
    fixed_normal = (
        MASS
        * J
        / (J + K * S**2)
        * (G - RADIUS * w2**2 * C - RADIUS * w1 * S * C * (2 * w3 + w1 * S))
    )
    at_rest = disk.solve(X).multipliers[0]
    return [
        Result("(6.15)", "C of the plane", traced.constraint_matrix, row),
        Result(
            "(6.16)",
            "c₀* of the plane",
            -traced.constraint_rhs,
            [w2 * (U_SLIDING[0] * SP - U_SLIDING[1] * CP)],
        ),
        Result("(6.17)", "M_d", mass, printed_mass),
        Result(
            "(6.18)",
            "h_u*",
            h,
            force(spin * S + MASS * G * C),
            force(spin * C + MASS * G * RADIUS * S),
            "fourth row",
        ),
        Result(
            "(6.19)", "normal force", normal.multipliers[0], printed_normal, fixed_normal, "formula"
        ),
        Result(
            "(6.19)",
            "normal force at rest",
            at_rest,
            MASS * G,
            MASS * G * J / (J + K * S**2),
            "formula",
        ),
    ]


def rolling_terms(theta: float, omega: Any, *, printed: bool) -> tuple[np.ndarray, np.ndarray]:
    """M_ω and h_ω*, (6.27), (6.28)."""
    s, c = np.sin(theta), np.cos(theta)
    w1, w2, w3 = omega
    side = (K + J if printed else K + 2 * J) * s
    mass = np.array([[(K + J) * s**2 + J, 0, side], [0, K + J, 0], [side, 0, K + 2 * J]])
    if printed:
        force = [
            K * w2 * w3 * c,
            (K + J) * w1**2 * s * c + (K + 2 * J) * w1 * w1 * c + MASS * G * c,
            -K * w2 * w1 * c,
        ]
    else:
        force = [
            -2 * (K + J) * w1 * w2 * s * c - 2 * J * w2 * w3 * c,
            (K + J) * w1**2 * s * c + (K + 2 * J) * w1 * w3 * c + MASS * G * RADIUS * s,
            -2 * (K + J) * w1 * w2 * c,
        ]
    return mass, np.array(force)


def second_stage() -> list[Result]:
    """(6.21)–(6.29): three velocities."""
    disk = zw.library.rolling_disk("coordinates", m=MASS, r=RADIUS, g=G)
    q, u = X[FIVE], np.array([*ROLL, *OMEGA])
    terms = disk.terms(q, u)
    solved = disk.solve(q, u)
    rows = np.array([[1, 0, 0, 0, RADIUS * CP], [0, 1, 0, 0, RADIUS * SP]])
    bias = RADIUS * OMEGA[0] * OMEGA[2] * np.array([-SP, CP])
    basis = np.array([[0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [-RADIUS * CP, -RADIUS * SP, 0, 0, 1]])
    mass = basis @ terms.mass_matrix @ basis.T
    force = mass @ solved.acceleration[2:]  # what makes the acceleration that was found
    printed, fixed = (rolling_terms(THETA, OMEGA, printed=flag) for flag in (True, False))
    # the ground: along ξ, η, ζ by six velocities, turned into world axes; and m(g + z̈_G)
    six = zw.library.rolling_disk(m=MASS, r=RADIUS, g=G).solve(X, V).multipliers
    lift = -RADIUS * (S * solved.acceleration[3] + C * OMEGA[1] ** 2)
    world = frame(X).T @ six
    return [
        Result("(6.22)", "C of rolling", terms.constraint_matrix, rows),
        Result("(6.23)", "c₀* of rolling", -terms.constraint_rhs, bias),
        Result("(6.24)", "DCᵀ = 0", np.zeros((3, 2)), basis @ rows.T),
        Result("(6.27)", "M_ω", mass, printed[0], fixed[0], "entries 13 and 31"),
        Result("(6.28)", "h_ω*", force, printed[1], fixed[1], "all three rows"),
        Result(
            "(6.26)",
            "ω̇",
            solved.acceleration[2:],
            np.linalg.solve(*printed),
            np.linalg.solve(*fixed),
            "(6.27), (6.28)",
        ),
        Result("end", "forces of rolling, by (6.21) and by (6.12)", solved.multipliers, world[:2]),
        Result("end", "vertical force, m(g + z̈_G)", MASS * (G + lift), world[2]),
    ]


def energy_curves() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Energy along the motion by (6.26)–(6.28), as printed and as corrected: t and E/E₀."""
    curves = {}
    for name, printed in (("as printed", True), ("corrected", False)):

        def motion(_: float, y: Any, printed: bool = printed) -> np.ndarray:  # noqa: FBT001 - bound early
            return np.concatenate(
                [y[3:], np.linalg.solve(*rolling_terms(y[1], y[3:], printed=printed))]
            )

        run = solve_ivp(
            motion,
            (0.0, 0.5),
            [PHI, THETA, 0.0, *OMEGA],
            "DOP853",
            rtol=1e-12,
            atol=1e-12,
            max_step=0.01,
        )
        energy = [
            0.5 * y[3:] @ rolling_terms(y[1], y[3:], printed=False)[0] @ y[3:]
            + MASS * G * RADIUS * np.cos(y[1])
            for y in run.y.T
        ]
        curves[name] = run.t, np.array(energy) / energy[0]
    return curves


def motion() -> list[Result]:
    """The motion of half a second."""
    curves = energy_curves()
    disk = zw.library.rolling_disk("velocities", m=MASS, r=RADIUS, g=G)
    run = disk.simulate(X[FIVE], OMEGA, until=0.5, tolerance=1e-12)
    kept = run.energy[-1] / run.energy[0]
    return [
        Result(
            "(6.29)",
            "energy after 0.5 s, as a share of that at the start",
            round(kept, 6),
            curves["as printed"][1][-1],
            round(curves["corrected"][1][-1], 6),
            "(6.27), (6.28)",
        )
    ]


def results() -> list[Result]:
    """All results of the section."""
    return [*kinematics(), *dependent(), *first_stage(), *second_stage(), *motion()]


def figures() -> dict[str, Any]:
    """Fig. 1, and the energy by the printed equations."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(8.4, 3.8), layout="constrained")
    disk: Any = figure.add_subplot(1, 2, 1, projection="3d")
    energy = figure.add_subplot(1, 2, 2)
    contact, directions = np.zeros(3), frame(X)
    centre = contact + RADIUS * directions[1]
    turn = np.linspace(0, 2 * np.pi, 100)[:, None]
    rim = centre + RADIUS * (np.cos(turn) * directions[0] + np.sin(turn) * directions[1])
    disk.plot(*rim.T, color="C0")
    for name, direction, colour in zip("ξηζ", directions, ("C1", "C2", "C3"), strict=True):
        tip = centre + 0.45 * direction
        disk.plot(*np.array([centre, tip]).T, color=colour)
        disk.text(*(centre + 0.55 * direction), name, color=colour, ha="center", va="center")
    for name, axis in zip("xyz", np.eye(3), strict=True):
        start = np.array([-0.3, -0.6, 0.0])
        disk.plot(*np.array([start, start + 0.25 * axis]).T, color="0.5", lw=1)
        disk.text(*(start + 0.32 * axis), name, color="0.4", ha="center", va="center")
    tangent = np.array([-0.6, 0.6])[:, None] * directions[0]
    disk.plot(*tangent.T, color="0.6", lw=1, ls="--")
    disk.text(0.05, -0.1, -0.08, "P")
    disk.text(*(centre + [0.0, -0.06, 0.05]), "G", ha="right")
    disk.set(xlim=(-0.5, 0.5), ylim=(-0.6, 0.4), zlim=(0.0, 0.9))
    disk.set_box_aspect((1, 1, 1))
    disk.set_axis_off()
    disk.view_init(14, -40)
    for name, (t, share) in energy_curves().items():
        energy.plot(t, share, label=name)
    energy.set(
        xlabel="t [s]", ylabel="energy / energy at the start", title="Motion by (6.26)–(6.28)"
    )
    energy.legend()
    return {"blajer_1992": figure}


def main() -> None:
    """Print the table."""
    report(TITLE, results())


if __name__ == "__main__":
    main()
