"""A and b of textbook constraints, each a few lines long, against complex steps.

The reference calls the same function with complex numbers and knows nothing of symbols:

    A     by complex steps along the columns of N
    b     ψ_q q̇ + ψ_t by a complex step along the motion; φ̈ at v̇ = 0 by Cauchy's integral over a
          circle in the plane of complex time, along q(τ) = q + q̇ τ + q̈ τ²/2

and some constraints are compared with A and b written out by hand as well.
"""

import inspect
from types import SimpleNamespace

import numpy as np
import pytest

import zwang as zw

#: Cauchy's integral with radius 0.1 loses 1e-16 / 0.1² of values of order one.
AGREEMENT = 1e-11

P = {"L": 1.3, "r": 0.4, "k": 0.7, "w": 1.9, "c": 0.8}

TEXTBOOK = {}


def textbook(level, n):
    def register(f):
        TEXTBOOK[f.__name__] = (level, n, f)
        return f

    return register


position, velocity = (
    lambda n, level=level: textbook(level, n) for level in ("position", "velocity")
)


# --- positions ------------------------------------------------------------------------------------


@position(3)
def spherical_pendulum(q, p):
    return q @ q - p.L**2


@position(3)
def sphere_whose_centre_moves(q, t, p):
    d = q - np.array([np.sin(p.w * t), 0.1 * t, 0.0])
    return d @ d - p.L**2


@position(2)
def rod_that_is_drawn_in(q, t, p):
    return q @ q - (p.L - p.k * t) ** 2


@position(4)
def double_pendulum_with_rods(q, p):
    first, second = q[:2], q[2:] - q[:2]
    return [first @ first - p.L**2, second @ second - p.r**2]


@position(2)
def gear_pair(q, p):
    return p.r * q[0] + p.L * q[1]


@position(2)
def screw(q, p):
    return q[0] - p.L / (2 * np.pi) * q[1]


@position(2)
def rack_and_pinion(q, p):
    return q[0] - p.r * q[1]


@position(3)
def pin_in_the_slot_of_a_turning_arm(q):
    return q[0] * np.sin(q[2]) - q[1] * np.cos(q[2])


@position(2)
def eccentric_cam_and_follower(q, p):
    return q[1] - p.r * np.cos(q[0]) - np.sqrt(p.L**2 - p.r**2 * np.sin(q[0]) ** 2)


@position(2)
def scotch_yoke(q, p):
    return q[1] - p.r * np.cos(q[0])


@position(2)
def point_on_an_ellipse(q, p):
    return (q[0] / p.L) ** 2 + (q[1] / p.r) ** 2 - 1.0


@position(2)
def keplers_ellipse_about_its_focus(q, p):
    return np.sqrt(q @ q) + p.k * q[0] - p.L


@position(2)
def bead_on_a_wavy_wire(q, p):
    return q[1] - p.r * np.sin(p.w * q[0])


@position(3)
def bead_on_a_turning_helix(q, t, p):
    angle = p.w * q[2] + p.k * t
    return [q[0] - p.r * np.cos(angle), q[1] - p.r * np.sin(angle)]


@position(3)
def point_on_a_saddle(q, p):
    return q[2] - p.k * (q[0] ** 2 - q[1] ** 2)


@position(3)
def point_on_a_torus(q, p):
    return (np.sqrt(q[0] ** 2 + q[1] ** 2) - p.L) ** 2 + q[2] ** 2 - p.r**2


@position(2)
def prescribed_motion(q, t, p):
    return q[0] - p.L * np.sin(p.w * t)


@position(2)
def block_on_a_moving_ramp(q, t, p):
    return q[1] - (q[0] - 0.5 * p.k * t**2) * np.tan(p.c)


@position(2)
def bead_on_a_turning_wire(q, t, p):
    return q[0] * np.sin(p.w * t) - q[1] * np.cos(p.w * t)


@position(3)
def isochronous_pendulum_on_a_cycloid(q, p):
    return [q[0] - p.r * (q[2] + np.sin(q[2])), q[1] - p.r * (1 - np.cos(q[2]))]


@position(3)
def four_bar_linkage(q, p):
    x = p.r * np.cos(q[0]) + p.L * np.cos(q[1]) - p.w * np.cos(q[2]) - 1.0
    return [x, p.r * np.sin(q[0]) + p.L * np.sin(q[1]) - p.w * np.sin(q[2])]


@position(4)
def coupler_point(q, p):
    tip = p.L * np.array([np.cos(q[0]), np.sin(q[0])])
    return q[2:] - tip - p.r * np.array([np.cos(q[0] + q[1]), np.sin(q[0] + q[1])])


@position(2)
def slider_crank(q, p):
    return p.r * np.cos(q[0]) + np.sqrt(p.L**2 - p.r**2 * np.sin(q[0]) ** 2) - q[1]


@position(2)
def universal_joint(q, p):
    return np.sin(q[1]) * np.cos(q[0]) * np.cos(p.c) - np.sin(q[0]) * np.cos(q[1])


@position(3)
def rope_over_a_pulley(q, p):
    return np.sqrt(q[0] ** 2 + q[1] ** 2) + q[2] - p.L


@position(3)
def belt_with_a_tightener(q, p):
    return p.r * q[0] - p.L * q[1] + 2.0 * np.sqrt(p.w**2 + q[2] ** 2) - 2.0 * p.w


@position(4)
def unit_quaternion(q):
    return q @ q - 1.0


@position(6)
def two_directions_at_right_angles(q):
    return [q[:3] @ q[3:], q[:3] @ q[:3] - 1.0, q[3:] @ q[3:] - 1.0]


# --- velocities -----------------------------------------------------------------------------------


@velocity(3)
def knife_edge(q, v):
    return v[0] * np.sin(q[2]) - v[1] * np.cos(q[2])


@velocity(3)
def chaplygin_sleigh(q, v, p):
    return -v[0] * np.sin(q[2]) + v[1] * np.cos(q[2]) - p.r * v[2]


@velocity(4)
def upright_rolling_coin(q, v, p):
    return [v[0] - p.r * v[3] * np.cos(q[2]), v[1] - p.r * v[3] * np.sin(q[2])]


@velocity(5)
def inclined_rolling_disk(q, v, p):
    x = v[0] + p.r * (v[4] * np.cos(q[2]) + v[2] * np.cos(q[3]) * np.cos(q[2]))
    y = v[1] + p.r * (v[4] * np.sin(q[2]) + v[2] * np.cos(q[3]) * np.sin(q[2]))
    side = v[3] * np.sin(q[3]) * p.r
    return [x - side * np.sin(q[2]), y + side * np.cos(q[2])]


@velocity(5)
def ball_on_a_turntable(q, v, p):
    return [v[0] - p.r * v[3] + p.w * q[1], v[1] + p.r * v[2] - p.w * q[0]]


@velocity(4)
def car_with_a_steered_axle(q, v, p):
    forward = v[0] * np.cos(q[2]) + v[1] * np.sin(q[2])
    return [v[0] * np.sin(q[2]) - v[1] * np.cos(q[2]), v[2] * p.L - forward * np.tan(q[3])]


@velocity(5)
def snakeboard(q, v, p):
    ends = np.array([1.0, -1.0])
    axle = q[2] + ends * q[4]
    return -v[0] * np.sin(axle) + v[1] * np.cos(axle) + ends * p.L * v[2] * np.cos(q[4])


@velocity(3)
def wheel_with_a_slip_angle(q, v, p):
    forward = v[0] * np.cos(q[2]) + v[1] * np.sin(q[2])
    return -v[0] * np.sin(q[2]) + v[1] * np.cos(q[2]) - np.tan(p.k) * forward


@velocity(3)
def nonholonomic_particle_in_time(q, v, t, p):
    return v[1] - q[2] * v[0] - p.k * np.sin(p.w * t)


@velocity(2)
def pursuit_of_a_target(q, v, t, p):
    return v[0] * (p.c * t - q[1]) - v[1] * (p.L * np.cos(t) - q[0])


@velocity(2)
def keplers_law_of_areas(q, v, p):
    return q[0] * v[1] - q[1] * v[0] - p.c


@velocity(2)
def rhumb_line_on_a_sphere(q, v, p):
    return v[1] * np.cos(q[0]) - np.tan(p.k) * v[0]


@velocity(3)
def constant_speed(v, p):
    return v @ v - p.c**2


@velocity(3)
def appell_hamel(v, p):
    return v[0] ** 2 + v[1] ** 2 - p.k**2 * v[2] ** 2


@velocity(4)
def constant_kinetic_energy(q, v, t, p):
    return (1.0 + q[0] ** 2) * (v[:2] @ v[:2]) + p.L * (v[2:] @ v[2:]) - p.c * (1.0 + t)


@velocity(3)
def geodesic_pace_on_a_moving_surface(q, v, t, p):
    rise = v[2] - p.k * (q[0] * v[0] + np.sin(t) * v[1])
    return [rise, np.sqrt(v @ v) - p.c * np.exp(-t)]


@velocity(4)
def parallel_velocities(v):
    return v[0] * v[3] - v[1] * v[2]


# --- the two ways to A and b ----------------------------------------------------------------------


def skew_kinematics(n):
    """N(q) and n₀(q, t) that mix all velocities, regular for all q."""

    def N(q):
        turn = 0.3 * np.sin(q)
        return np.eye(n) + np.outer(turn, np.linspace(0.5, 1.0, n)) / n

    return N, lambda q, t: 0.2 * np.cos(q + t)


def plain_kinematics(n):
    return lambda q: np.eye(n), lambda q, t: np.zeros(n)


def traced(name, kinematics):
    level, n, f = TEXTBOOK[name]
    names = {} if kinematics is None else {"velocities": [f"u{k}" for k in range(n)]}
    if kinematics is not None:
        names["kinematics"] = kinematics
    return zw.System(
        [f"x{k}" for k in range(n)],
        mass=lambda: np.eye(n),
        parameters=P,
        constraints={name: zw.position(f) if level == "position" else zw.velocity(f)},
        **names,
    )


H = 1e-30


def by_complex_steps(name, q, v, t, N, n0):
    """A and b of a textbook constraint."""
    level, n, f = TEXTBOOK[name]
    wanted = inspect.signature(f).parameters

    def value(q, v, t):
        given = {"q": q, "v": v, "t": t, "p": SimpleNamespace(**P)}
        return np.atleast_1d(np.array(f(**{key: given[key] for key in wanted})))

    q_dot = N(q) @ v + n0(q, t)
    moved, later = q + 1j * H * q_dot, t + 1j * H
    q_ddot = np.imag(N(moved) @ v + n0(moved, later)) / H
    if level == "velocity":
        A = [np.imag(value(q + 0j, v + 1j * H * e, t)) / H for e in np.eye(n)]
        return np.array(A).T, -np.imag(value(moved, v, later)) / H
    A = [np.imag(value(q + 1j * H * column, v, t)) / H for column in N(q).T]
    turns = np.exp(2j * np.pi * np.arange(32) / 32)
    radius = 0.1
    along = [value(q + q_dot * s + 0.5 * q_ddot * s**2, v, t + s) for s in radius * turns]
    second = 2.0 * np.mean(np.array(along) * turns[:, None] ** -2, axis=0) / radius**2
    return np.array(A).T, -np.real(second)


@pytest.mark.inventory("UK-02", "US-02", "BL-04")
@pytest.mark.parametrize("kind", ["velocities", "quasi-velocities"])
@pytest.mark.parametrize("name", TEXTBOOK)
def test_rows_equal_complex_steps(name, kind):
    _, n, _ = TEXTBOOK[name]
    quasi = kind == "quasi-velocities"
    N, n0 = skew_kinematics(n) if quasi else plain_kinematics(n)
    system = traced(name, (N, n0) if quasi else None)
    rng = np.random.default_rng(len(name))
    for _ in range(5):
        q, v, t = rng.uniform(0.4, 1.1, size=n), rng.normal(size=n), rng.uniform(0.1, 0.9)
        terms = system.terms(q, v, t)
        A, b = by_complex_steps(name, q, v, t, N, n0)
        for got, want in ((terms.constraint_matrix, A), (terms.constraint_rhs, b)):
            size = max(1.0, np.max(np.abs(want)))
            np.testing.assert_allclose(got, want, rtol=0, atol=AGREEMENT * size)


def test_there_are_more_than_thirty_and_each_takes_at_most_six_lines():
    assert len(TEXTBOOK) >= 30
    for level, _, f in TEXTBOOK.values():
        lines = [x for x in inspect.getsource(f).splitlines() if not x.lstrip().startswith("@")]
        assert len([x for x in lines if x.strip()]) <= 6, f.__name__
        assert level in ("position", "velocity")


# --- by hand --------------------------------------------------------------------------------------

BY_HAND = {
    "spherical_pendulum": lambda q, v, t: (2 * q, -2 * v @ v),
    "rod_that_is_drawn_in": lambda q, v, t: (2 * q, -2 * v @ v + 2 * 0.7**2),
    "gear_pair": lambda q, v, t: ([0.4, 1.3], 0.0),
    "pin_in_the_slot_of_a_turning_arm": lambda q, v, t: (
        [np.sin(q[2]), -np.cos(q[2]), q[0] * np.cos(q[2]) + q[1] * np.sin(q[2])],
        -2 * v[2] * (v[0] * np.cos(q[2]) + v[1] * np.sin(q[2]))
        + v[2] ** 2 * (q[0] * np.sin(q[2]) - q[1] * np.cos(q[2])),
    ),
    "prescribed_motion": lambda q, v, t: ([1.0, 0.0], -1.3 * 1.9**2 * np.sin(1.9 * t)),
    "block_on_a_moving_ramp": lambda q, v, t: ([-np.tan(0.8), 1.0], -0.7 * np.tan(0.8)),
    "knife_edge": lambda q, v, t: (
        [np.sin(q[2]), -np.cos(q[2]), 0.0],
        -v[2] * (v[0] * np.cos(q[2]) + v[1] * np.sin(q[2])),
    ),
    "nonholonomic_particle_in_time": lambda q, v, t: (
        [-q[2], 1.0, 0.0],
        v[2] * v[0] + 0.7 * 1.9 * np.cos(1.9 * t),
    ),
    "keplers_law_of_areas": lambda q, v, t: ([-q[1], q[0]], 0.0),
    "constant_speed": lambda q, v, t: (2 * v, 0.0),
    "appell_hamel": lambda q, v, t: ([2 * v[0], 2 * v[1], -2 * 0.49 * v[2]], 0.0),
    "unit_quaternion": lambda q, v, t: (2 * q, -2 * v @ v),
}


@pytest.mark.inventory("UK-02", "BL-04")
@pytest.mark.parametrize("name", BY_HAND)
def test_rows_equal_those_written_out_by_hand(name):
    rng = np.random.default_rng(5)
    n = TEXTBOOK[name][1]
    q, v, t = rng.normal(size=n), rng.normal(size=n), 0.4
    terms = traced(name, None).terms(q, v, t)
    A, b = BY_HAND[name](q, v, t)
    np.testing.assert_allclose(terms.constraint_matrix[0], A, atol=1e-14)
    np.testing.assert_allclose(terms.constraint_rhs[0], b, atol=1e-13)


@pytest.mark.inventory("BL-32")
def test_acceleration_constraints_are_taken_as_they_are():
    # Tangential acceleration k: v · a = k |v|; given as a function of a, and as A and b.
    def system(constraint):
        return zw.System(
            ["x", "y"], mass=lambda: np.eye(2), parameters=P, constraints={"throttle": constraint}
        )

    one = system(zw.constraint(lambda v, a, p: v @ a - p.k * np.sqrt(v @ v)))
    two = system(zw.acceleration(lambda v: v, lambda v, p: p.k * np.sqrt(v @ v)))
    v = np.array([0.6, -0.8])
    for s in (one, two):
        assert s.levels == {"throttle": "acceleration"}
        terms = s.terms([1.0, 2.0], v)
        np.testing.assert_allclose(terms.constraint_matrix, [v], rtol=1e-15)
        np.testing.assert_allclose(terms.constraint_rhs, [0.7], rtol=1e-15)
        np.testing.assert_allclose(s.solve([1.0, 2.0], v).acceleration @ v, 0.7, rtol=1e-14)


@pytest.mark.inventory("BL-04")
def test_the_level_of_a_bare_function_is_found():
    for name, (level, n, f) in TEXTBOOK.items():
        s = zw.System(
            [f"x{k}" for k in range(n)],
            mass=lambda n=n: np.eye(n),
            parameters=P,
            constraints={name: f},
        )
        assert s.levels == {name: level}
