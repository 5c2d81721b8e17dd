"""Ready-made systems of functions that programs for constrained motion are measured by.

The problems are stated completely by their sources, start included; ``library.start(name)`` gives
that start.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.errors import InputError
from zwang.library import random_states
from zwang.state import State
from zwang.system import System
from zwang.tracing.constraint import Constraint, position

__all__ = [
    "SQUEEZER",
    "andrews_squeezer",
    "andrews_squeezer_start",
    "andrews_squeezer_states",
    "car_axis",
    "car_axis_start",
    "car_axis_states",
    "n_four_bar",
    "n_four_bar_start",
    "n_four_bar_states",
]

# --- Andrews' squeezer ----------------------------------------------------------------------------

#: Masses [kg] and moments of inertia [kg·m²] of the seven bodies.
_MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
_INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
#: Points of the ground, lengths along the bodies and places of their mass centres [m].
_POINTS = {"xa": -0.06934, "ya": -0.00227, "xb": -0.03635, "yb": 0.03273, "xc": 0.014, "yc": 0.072}
_LENGTHS = {"d": 0.028, "e": 0.02, "rr": 0.007, "ss": 0.035, "u": 0.04, "zf": 0.02, "zt": 0.04}
_CENTRES_1_TO_3 = {"ra": 0.00092, "da": 0.0115, "sa": 0.01874, "sb": 0.01043}
_CENTRES_4_TO_5 = {"ea": 0.01421, "ta": 0.02308, "tb": 0.00916}
_CENTRES_6_TO_7 = {"fa": 0.01421, "ua": 0.01228, "ub": 0.00449}
#: End of the spring on the third body [m], its stiffness [N/m] and length [m]; the torque [N·m].
_DRIVE = {"sc": 0.018, "sd": 0.02, "c0": 4530.0, "l0": 0.07785, "mom": 0.033}
#: All of the squeezer's, by the letters of the source.
SQUEEZER = {
    **{f"m{k}": m for k, m in enumerate(_MASSES, start=1)},
    **{f"I{k}": inertia for k, inertia in enumerate(_INERTIAS, start=1)},
    **_POINTS,
    **_LENGTHS,
    **_CENTRES_1_TO_3,
    **_CENTRES_4_TO_5,
    **_CENTRES_6_TO_7,
    **_DRIVE,
}


def andrews_squeezer() -> System:
    """Andrews' squeezing mechanism: seven bodies in the plane, a spring and a constant torque.

    q = (beta, theta, gamma, phi, delta, omega, epsilon): the bodies have the angles β, β + Θ, γ,
    Φ + δ, δ, Ω + ε, ε. The crank turns about O and carries F = rr (cos β, sin β); the second body
    leads from F to the pin E that it shares with bodies 3, 4 and 6, each part of a chain to the
    ground: ``pin_3``, ``pin_4`` and ``pin_6``,

        E = F − d (cos, sin)(β + Θ) = B + ss (sin γ, −cos γ)
          = A + zt (cos δ, sin δ) + e (sin, −cos)(Φ + δ)
          = A + u (sin ε, −cos ε) + zf (cos, sin)(Ω + ε).

    The torque `mom` acts on the crank, the spring c0, l0 between C and the third body. There is
    no gravity, and the energy with −mom β for the torque is constant.

    Source: E. Hairer, G. Wanner: Solving Ordinary Differential Equations II, sections VI.9 and
    VII.7; W. Schiehlen (ed.): Multibody Systems Handbook (1990); Test Set for IVP Solvers,
    "andrews". The parameters have the letters used there.

    Examples
    --------
    >>> squeezer = andrews_squeezer()
    >>> squeezer.solve(andrews_squeezer_start()).acceleration[:2].round(6)
    array([ 14222.44392, -10666.83294])
    """
    return System.from_lagrangian(
        coordinates=["beta", "theta", "gamma", "phi", "delta", "omega", "epsilon"],
        parameters=SQUEEZER,
        T=lambda q, v, p: v @ np.array(_squeezer_mass(q, p)) @ v / 2,
        V=_squeezer_potential,
        constraints=_squeezer_loops(),
    )


def _squeezer_mass(q: Any, p: Any) -> list[list[Any]]:
    """Bodies 1 and 2, 4 and 5, 6 and 7 are coupled in pairs."""
    e, f = p.e - p.ea, p.zf - p.fa
    second, first = p.m2 * p.da**2 + p.I2, p.m2 * p.rr * p.da * np.cos(q[1])
    fourth, upper = p.m4 * e**2 + p.I4, p.m4 * p.zt * e * np.sin(q[3])
    sixth, lower = p.m6 * f**2 + p.I6, -p.m6 * p.u * f * np.sin(q[5])
    crank = p.m1 * p.ra**2 + p.I1 + p.m2 * p.rr**2
    third = p.m3 * (p.sa**2 + p.sb**2) + p.I3
    fifth = p.m4 * p.zt**2 + p.m5 * (p.ta**2 + p.tb**2) + p.I5
    seventh = p.m6 * p.u**2 + p.m7 * (p.ua**2 + p.ub**2) + p.I7
    return [
        [crank + second - 2 * first, second - first, 0, 0, 0, 0, 0],
        [second - first, second, 0, 0, 0, 0, 0],
        [0, 0, third, 0, 0, 0, 0],
        [0, 0, 0, fourth, fourth + upper, 0, 0],
        [0, 0, 0, fourth + upper, fifth + fourth + 2 * upper, 0, 0],
        [0, 0, 0, 0, 0, sixth, sixth + lower],
        [0, 0, 0, 0, 0, sixth + lower, seventh + sixth + 2 * lower],
    ]


def _squeezer_potential(q: Any, p: Any) -> Any:
    """Spring from C to the point (sd, −sc) of the third body, and the torque."""
    c, s = np.cos(q[2]), np.sin(q[2])
    x = p.xb + p.sd * c + p.sc * s - p.xc
    y = p.yb + p.sd * s - p.sc * c - p.yc
    return p.c0 * (np.sqrt(x**2 + y**2) - p.l0) ** 2 / 2 - p.mom * q[0]


def _squeezer_loops() -> dict[str, Constraint]:
    def point(q: Any, p: Any) -> Any:
        """E from the crank."""
        angle = q[0] + q[1]
        return [
            p.rr * np.cos(q[0]) - p.d * np.cos(angle),
            p.rr * np.sin(q[0]) - p.d * np.sin(angle),
        ]

    def over_third(q: Any, p: Any) -> Any:
        x, y = point(q, p)
        return [x - p.ss * np.sin(q[2]) - p.xb, y + p.ss * np.cos(q[2]) - p.yb]

    def over_fifth(q: Any, p: Any) -> Any:
        (x, y), angle = point(q, p), q[3] + q[4]
        return [
            x - p.e * np.sin(angle) - p.zt * np.cos(q[4]) - p.xa,
            y + p.e * np.cos(angle) - p.zt * np.sin(q[4]) - p.ya,
        ]

    def over_seventh(q: Any, p: Any) -> Any:
        (x, y), angle = point(q, p), q[5] + q[6]
        return [
            x - p.zf * np.cos(angle) - p.u * np.sin(q[6]) - p.xa,
            y - p.zf * np.sin(angle) + p.u * np.cos(q[6]) - p.ya,
        ]

    return {
        "pin_3": position(over_third),
        "pin_4": position(over_fifth),
        "pin_6": position(over_seventh),
    }


def andrews_squeezer_start() -> State:
    """At rest, with Θ = 0."""
    q = [
        -0.0617138900142764496358948458001,
        0.0,
        0.455279819163070380255912382449,
        0.222668390165885884674473185609,
        0.487364979543842550225598953530,
        -0.222668390165885884674473185609,
        1.23054744454982119249735015568,
    ]
    return State(np.array(q), np.zeros(7), 0.0)


def andrews_squeezer_states(rng: np.random.Generator, count: int) -> State:
    """Any crank angle, any speed; the loops closed as at the start."""
    p = SQUEEZER
    beta, rate = rng.uniform(0.0, 2 * np.pi, count), 100.0 * random_states.normal(rng, count, 1)
    A, B = complex(p["xa"], p["ya"]), complex(p["xb"], p["yb"])
    F = p["rr"] * np.exp(1j * beta)
    E = _tip(F, p["d"], B, p["ss"], 1)
    G, H = _tip(A, p["zt"], E, p["e"], 1), _tip(A, p["u"], E, p["zf"], -1)
    delta, epsilon = np.angle(G - A), np.angle(1j * (H - A))
    theta, gamma = np.angle((F - E) / np.exp(1j * beta)), np.angle(1j * (E - B))
    phi = np.angle(1j * (E - G) / np.exp(1j * delta))
    omega = np.angle((E - H) / np.exp(1j * epsilon))
    q = random_states.columns(beta, theta, gamma, phi, delta, omega, epsilon)
    # The loops give the other rates for β̇ = 1.
    A_rows = andrews_squeezer().terms(q).constraint_matrix
    others = np.linalg.solve(A_rows[:, :, 1:], -A_rows[:, :, :1])[..., 0]
    return random_states.state(rng, q, rate * np.concatenate([np.ones((count, 1)), others], axis=1))


def _tip(a: Any, ra: float, b: Any, rb: float, side: int) -> Any:
    """Points at distance ra from a and rb from b in the complex plane, left (+1) of a → b."""
    along = (abs(b - a) ** 2 + ra**2 - rb**2) / (2 * abs(b - a) ** 2)
    return a + (b - a) * (along + side * 1j * np.sqrt(ra**2 / abs(b - a) ** 2 - along**2))


# --- car axis -------------------------------------------------------------------------------------


def car_axis(
    *,
    M: float = 10.0,
    eps: float = 0.01,
    L: float = 1.0,
    L0: float = 0.5,
    r: float = 0.1,
    w: float = 10.0,
    g: float = 1.0,
) -> System:
    """The axle of a car on a bumpy road; q = (x_l, y_l, x_r, y_r), the ends of the axle.

    The left wheel stands at the origin, the right one at (x_b, y_b), y_b = r sin wt,
    x_b = √(L² − y_b²). Springs of length L0 lead from the wheels to the ends of the axle, which
    carry the mass Mε²/2 each; the smaller ε, the faster the oscillation. ``left``: the left end
    stays at right angles to the line between the wheels, x_l x_b + y_l y_b = 0. ``axle``: its
    length is L.

    Source: Test Set for IVP Solvers (F. Mazzia, C. Magherini), "caraxis", after S. Schneider.

    Examples
    --------
    >>> axle = car_axis()
    >>> abs(axle.solve(car_axis_start()).multipliers).max() < 1e-12
    np.True_
    """

    def base(t: Any, p: Any) -> tuple[Any, Any]:
        y = p.r * np.sin(p.w * t)
        return np.sqrt(p.L**2 - y**2), y

    def potential(q: Any, t: Any, p: Any) -> Any:
        x_b, y_b = base(t, p)
        left = np.sqrt(q[0] ** 2 + q[1] ** 2)
        right = np.sqrt((q[2] - x_b) ** 2 + (q[3] - y_b) ** 2)
        weight = p.M * p.eps**2 / 2 * p.g * (q[1] + q[3])
        return ((left - p.L0) ** 2 + (right - p.L0) ** 2) / 2 + weight

    def left(q: Any, t: Any, p: Any) -> Any:
        x_b, y_b = base(t, p)
        return x_b * q[0] + y_b * q[1]

    return System(
        coordinates=["x_l", "y_l", "x_r", "y_r"],
        parameters={"M": M, "eps": eps, "L": L, "L0": L0, "r": r, "w": w, "g": g},
        mass=lambda p: p.M * p.eps**2 / 2 * np.eye(4),
        potential=potential,
        constraints={
            "left": position(left),
            "axle": position(lambda q, p: (q[0] - q[2]) ** 2 + (q[1] - q[3]) ** 2 - p.L**2),
        },
    )


def car_axis_start(*, L: float = 1.0, L0: float = 0.5, r: float = 0.1, w: float = 10.0) -> State:
    """Upright springs of their own length; the left end is carried along by the road."""
    across = -L0 * r * w / L
    return State(np.array([0.0, L0, L, L0]), np.array([across, 0.0, across, 0.0]), 0.0)


def car_axis_states(
    rng: np.random.Generator, count: int, *, L: float = 1.0, r: float = 0.1, w: float = 10.0
) -> State:
    """The left end anywhere on its line, the axle near level, at any instant."""
    t = random_states.instants(rng, count)
    s, alpha = rng.uniform(0.3, 0.7, count), rng.uniform(-0.3, 0.3, count)
    s_dot, alpha_dot = random_states.normal(rng, count, 2).T
    y_b, rate = r * np.sin(w * t), r * w * np.cos(w * t)
    # The line between the wheels has the angle β, sin β = y_b/L; the left end is at s i e^{iβ}.
    turn = np.exp(1j * np.arcsin(y_b / L))
    beta_dot = rate / np.sqrt(L**2 - y_b**2)
    left, left_rate = 1j * s * turn, (1j * s_dot - s * beta_dot) * turn
    axle = L * np.exp(1j * alpha)
    right, right_rate = left + axle, left_rate + 1j * alpha_dot * axle
    q = random_states.columns(left.real, left.imag, right.real, right.imag)
    v = random_states.columns(left_rate.real, left_rate.imag, right_rate.real, right_rate.imag)
    return random_states.state(rng, q, v, t)


# --- N four-bars ----------------------------------------------------------------------------------


def n_four_bar(n: int = 2, *, m: float = 1.0, L: float = 1.0, g: float = 9.81) -> System:
    """N four-bar linkages side by side, each sharing a crank with the next; q = (x0, y0, x1, …).

    Coordinates are those of the upper ends B₀ … B_N of the cranks, which are pinned to the ground
    at (iL, 0), y upwards. All 2N + 1 rods are uniform, of mass m and length L; a rod between two
    points with velocities a and b has the kinetic energy m(a·a + a·b + b·b)/6. ``crank0`` …:
    ½(|B_i − A_i|² − L²) = 0. ``coupler1`` …: ½(|B_i − B_{i−1}|² − L²) = 0.

    One degree of freedom as long as all stay parallelograms. Where they lie flat the constraints
    lose rank, and each linkage might fold into an antiparallelogram: N + 1 degrees of freedom for
    an instant.

    Source: IFToMM library of computational benchmark problems, A02, "N-four-bar mechanism";
    M. González, D. Dopico, U. Lugrís, J. Cuadrado: A benchmarking system for MBS simulation
    software, Multibody System Dynamics 16 (2006) 179–190.

    Parameters
    ----------
    n : number of linkages N.
    m, L, g : mass [kg] and length [m] of each rod, gravity [m/s²].

    Examples
    --------
    >>> linkages = n_four_bar(2)
    >>> linkages.constraints
    ('crank0', 'crank1', 'crank2', 'coupler1', 'coupler2')
    """
    if not n >= 1:
        raise InputError(
            "n of n_four_bar", expected="at least 1, the number of linkages", found=repr(n)
        )

    def mass(p: Any) -> Any:
        rods = np.zeros((n + 1, n + 1)) + np.eye(n + 1) / 3  # cranks
        for i in range(n):  # couplers
            rods[i : i + 2, i : i + 2] += np.array([[2.0, 1.0], [1.0, 2.0]]) / 6
        return p.m * np.kron(rods, np.eye(2))

    def crank(i: int) -> Constraint:
        return position(lambda q, p: ((q[2 * i] - i * p.L) ** 2 + q[2 * i + 1] ** 2 - p.L**2) / 2)

    def coupler(i: int) -> Constraint:
        return position(
            lambda q, p: (
                ((q[2 * i] - q[2 * i - 2]) ** 2 + (q[2 * i + 1] - q[2 * i - 1]) ** 2 - p.L**2) / 2
            )
        )

    # Each end carries half of its crank, and half of the coupler on either side.
    shares = np.array([1.0 if i in (0, n) else 1.5 for i in range(n + 1)])
    return System(
        coordinates=[f"{axis}{i}" for i in range(n + 1) for axis in "xy"],
        parameters={"m": m, "L": L, "g": g},
        mass=mass,
        potential=lambda q, p: p.m * p.g * (shares @ q[1::2]),
        constraints={
            **{f"crank{i}": crank(i) for i in range(n + 1)},
            **{f"coupler{i}": coupler(i) for i in range(1, n + 1)},
        },
    )


def n_four_bar_start(n: int = 2, *, L: float = 1.0) -> State:
    """Cranks upright and turning clockwise, so that B₀ moves with 1 m/s in x."""
    q, v = _parallelograms(np.zeros(1), np.full(1, 1.0 / L), n, L)
    return State(q[0], v[0], 0.0)


def n_four_bar_states(rng: np.random.Generator, count: int, *, n: int = 2, L: float = 1.0) -> State:
    """Parallelograms at any angle that is not near flat, at any speed."""
    angle = rng.uniform(-1.2, 1.2, count) + np.pi * rng.integers(0, 2, count)
    return random_states.state(
        rng, *_parallelograms(angle, random_states.normal(rng, count, 1)[:, 0], n, L)
    )


def _parallelograms(angle: Any, rate: Any, n: int, L: float) -> tuple[Any, Any]:
    """q and v with parallel cranks, the angle clockwise from the upward vertical."""
    x, y = L * np.sin(angle), L * np.cos(angle)
    q = random_states.columns(*(part for i in range(n + 1) for part in (i * L + x, y)))
    return q, random_states.columns(*[rate * y, -rate * x] * (n + 1))
