"""Andrews' squeezer with its spring and torque, and the stiff flyball governor."""

from __future__ import annotations

import numpy as np

from benchmarks.cases.model import Body, Joint, Spring, Work, Y
from benchmarks.references import governor_states, known_motion

__all__ = ["andrews", "governor"]

# --- Andrews' squeezer: letters and numbers of the Test Set for IVP Solvers, "andrews" ------------

#: Points of the ground and lengths [m], as complex numbers x + i z.
A, B, C = -0.06934 - 0.00227j, -0.03635 + 0.03273j, 0.014 + 0.072j
D, E, RR, SS, U, ZF, ZT = 0.028, 0.02, 0.007, 0.035, 0.04, 0.02, 0.04
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498)
MOMENTS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
TORQUE, STIFFNESS, LENGTH = 0.033, 4530.0, 0.07785


def _squeezer(angles: np.ndarray) -> tuple[list[complex], dict[str, complex]]:
    """Centres of the seven bodies, and the pins, for (β, Θ, γ, Φ, δ, Ω, ε)."""
    beta, theta, gamma, phi, delta, omega, epsilon = angles
    turn = [np.exp(1j * x) for x in (beta, beta + theta, gamma, phi + delta, delta)]
    turn += [np.exp(1j * x) for x in (omega + epsilon, epsilon)]
    F = RR * turn[0]
    pins = {"O": 0j, "F": F, "E": F - D * turn[1], "A": A, "B": B}
    pins["G"], pins["H"] = A + ZT * turn[4], A - 1j * U * turn[6]
    pins["spring"] = B + (0.02 - 0.018j) * turn[2]
    origins = (0j, F, B, pins["G"], A, pins["H"], A)
    inside = (
        0.00092,
        -0.0115,
        0.01043 - 0.01874j,
        1j * (0.01421 - E),
        0.02308 + 0.00916j,
        ZF - 0.01421,
        -0.00449 - 0.01228j,
    )
    return [o + t * c for o, t, c in zip(origins, turn, inside, strict=True)], pins


def _space(x: complex) -> np.ndarray:
    return np.array([x.real, 0.0, x.imag])


def andrews() -> Work:
    """Andrews' squeezer: seven bodies, ten pins, a spring and a constant torque, 30 ms."""
    motion = known_motion("andrews_squeezer")
    centers, pins = _squeezer(np.array(motion["q"]))
    bodies = [
        Body(_space(c), np.eye(3), mass=mass, inertia=np.full(3, moment))
        for c, mass, moment in zip(centers, MASSES, MOMENTS, strict=True)
    ]
    tree = [(-1, 0, "O"), (0, 1, "F"), (-1, 2, "B"), (-1, 4, "A"), (4, 3, "G"), (-1, 6, "A")]
    tree.append((6, 5, "H"))
    joints = [Joint(a, b, _space(pins[at]), Y) for a, b, at in tree]
    joints += [Joint(1, b, _space(pins["E"]), Y, closing=True) for b in (2, 3, 5)]
    spring = Spring(-1, 2, _space(C), _space(pins["spring"]), STIFFNESS, 0.0, LENGTH)

    def places() -> np.ndarray:
        return np.array([[_space(c) for c in _squeezer(np.array(motion[k]))[0]] for k in ENDS])

    return Work(
        "andrews",
        "Andrews' squeezer: seven bodies, spring, torque, 0.03 s; compared at the end",
        np.array([0.0, motion["until"]]),
        places,
        "one coordinate, by quadrature in 36 digits (tests/reference/squeezer.py)",
        None,
        tuple(bodies),
        tuple(joints),
        (spring,),
        ((0, -TORQUE * Y),),  # angles are counted from x to z, against the rotation about y
        gravity=np.zeros(3),
        planar=True,
    )


ENDS = ("q", "q_end")

# --- IFToMM A05 -----------------------------------------------------------------------------------

SLIDER, BAR, BALL, AXIAL, TRANSVERSE = 3.0, 0.3, 5.0, 5e-6, 0.0250025
ARM, TOP, HALF, SPIN = 0.05, 1.0, 0.5, 2.0 * np.pi
X, Z = np.eye(3)[0], np.eye(3)[2]


def governor() -> Work:
    """The governor A05: a shaft, a slider on it, two rods with balls, stiff springs and dampers."""
    mass = BAR + BALL
    along = HALF * (1.0 + BALL / mass)  # from the hinge to the centre of rod and ball
    moment = TRANSVERSE + (BAR * BALL / mass) * HALF**2

    def rod_center(psi: float, a: float, side: float) -> np.ndarray:
        r = ARM + along * np.cos(a)
        return np.array([side * r * np.cos(psi), side * r * np.sin(psi), TOP - along * np.sin(a)])

    bodies = [
        Body(np.array([0.0, 0.0, TOP]), np.eye(3), omega=SPIN * Z, inertia=np.full(3, AXIAL)),
        Body(
            np.array([0.0, 0.0, TOP - HALF]),
            np.eye(3),
            omega=SPIN * Z,
            mass=SLIDER,
            inertia=np.full(3, 0.005),
        ),
    ]
    joints = [Joint(-1, 0, np.array([0.0, 0.0, TOP]), Z, rate=SPIN)]
    joints.append(Joint(0, 1, np.array([0.0, 0.0, TOP - HALF]), Z, kind="slide"))
    springs = []
    for side, k in ((1.0, 2), (-1.0, 3)):
        c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
        x = np.array([side * c, 0.0, -s])
        axes = np.column_stack([x, Y, np.cross(x, Y)])
        center = rod_center(0.0, np.pi / 6, side)
        hinge, middle = (
            np.array([side * ARM, 0.0, TOP]),
            np.array([side * ARM, 0.0, TOP]) + HALF * x,
        )
        bodies.append(
            Body(
                center,
                axes,
                velocity=np.cross(SPIN * Z, center),
                omega=SPIN * Z,
                mass=mass,
                inertia=np.array([AXIAL, moment, moment]),
            )
        )
        joints.append(Joint(0, k, hinge, Y))
        at_slider = np.array([side * ARM, 0.0, TOP - HALF])
        springs.append(Spring(k, 1, middle, at_slider, 8e5, 4e4, 0.5))

    def places() -> np.ndarray:
        _, states = governor_states()
        start = [0.0, TOP - HALF, np.pi / 6, 0.0, 0.0]
        return np.array(
            [
                [
                    [0.0, 0.0, TOP],
                    [0.0, 0.0, s],
                    rod_center(psi, a, 1.0),
                    rod_center(psi, a, -1.0),
                ]
                for psi, s, a, _, _ in [start, *states]
            ]
        )

    return Work(
        "governor",
        "IFToMM A05: flyball governor with stiff springs and dampers, 10 s",
        np.linspace(0.0, 10.0, 11),
        places,
        "two degrees of freedom (Routh), DOP853 and Radau agreeing to 1e-9 (tests/reference)",
        None,
        tuple(bodies),
        tuple(joints),
        tuple(springs),
        stiff=True,
    )
