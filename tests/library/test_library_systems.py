"""Every system of the library against an independent derivation at random consistent states.

Rolling disk, rotating body and rough wire have files of their own.
"""

import itertools

import numpy as np
import pytest
import sympy as sp
from derived_by_sympy import (
    COUNT,
    TOLERANCE,
    Derivation,
    assert_close,
    assert_consistent,
    assert_same_motion,
)

from zwang import library
from zwang.errors import InputError, UnknownNameError
from zwang.library.satellites import formation_program
from zwang.state import State


def half(mass, w):
    return mass * sum(x**2 for x in w) / 2


def particle(q, w, t, p):
    return half(p.m, w)


def ellipse(q, v, t, p):
    return sp.sqrt(q[0] ** 2 + q[1] ** 2) - p.epsilon * q[0] - p.p


def sleigh_energy(q, w, t, p):
    """From the position of the centre of mass, differentiated along the motion."""
    centre = sp.Matrix([q[0] + p.a * sp.cos(q[2]), q[1] + p.a * sp.sin(q[2])])
    return half(p.m, centre.jacobian(q) * sp.Matrix(w)) + p.I * w[2] ** 2 / 2


def axle_across(arm, steering):
    """Velocity of the end of an arm of the board across the wheels there, by differentiation."""

    def psi(q, w, t, p):
        place = sp.Matrix([q[0] + arm * p.l * sp.cos(q[2]), q[1] + arm * p.l * sp.sin(q[2])])
        rate = place.jacobian(q) * sp.Matrix(w)
        heading = q[2] + q[steering]
        return rate[1] * sp.cos(heading) - rate[0] * sp.sin(heading)

    return ("rate", psi)


def board_energy(q, w, t, p):
    turning = p.J * w[2] ** 2 + p.J_rotor * (w[2] + w[3]) ** 2
    return half(p.m, w[:2]) + turning / 2 + half(p.J_wheel, [w[2] + w[4], w[2] + w[5]])


def ride(t):
    return [0.8 * sp.sin(2 * t), 0.1 * sp.cos(t), -0.1 * sp.cos(t)]


def absolute(part):
    """Energy of the chain from where its masses are: q[0], q[1] + q[2], …"""

    def energy(q, w, t, p):
        speeds = [w[0], *(w[k] + w[k + 1] for k in range(1, len(w), 2))]
        return sum(getattr(p, f"m{k + 1}") * s**2 for k, s in enumerate(speeds)) / 2

    def potential(q, t, p):
        stretches = [q[0], *q[2::2]]
        return sum(getattr(p, f"k{k + 1}") * s**2 for k, s in enumerate(stretches)) / 2

    return {"T": energy, "V": potential}[part]


def in_space(q, t, p):
    """Place of a deputy in axes that do not turn."""
    n = sp.sqrt(p.mu / p.R**3)
    c, s = sp.cos(n * t), sp.sin(n * t)
    return sp.Matrix([c * (p.R + q[0]) - s * q[1], s * (p.R + q[0]) + c * q[1], q[2]])


def satellite_energy(q, w, t, p):
    place = in_space(q, t, p)
    rate = place.jacobian(q) * sp.Matrix(w) + place.diff(t)
    return half(p.m, rate)


def satellite_potential(q, t, p):
    place = in_space(q, t, p)
    return -p.mu * p.m / sp.sqrt(place.dot(place))


def turned(angle, point):
    """A point of a body that is turned by an angle."""
    c, s = sp.cos(angle), sp.sin(angle)
    return sp.Matrix([c * point[0] - s * point[1], s * point[0] + c * point[1]])


def squeezer_bodies(q, p):
    """Origin and angle of the seven bodies of Andrews' mechanism, pin by pin from the ground."""
    beta, theta, gamma, phi, delta, omega, epsilon = q
    A, B = sp.Matrix([p.xa, p.ya]), sp.Matrix([p.xb, p.yb])
    return [
        (sp.zeros(2, 1), beta),
        (turned(beta, (p.rr, 0)), beta + theta),
        (B, gamma),
        (A + turned(delta, (p.zt, 0)), phi + delta),
        (A, delta),
        (A + turned(epsilon, (0, -p.u)), omega + epsilon),
        (A, epsilon),
    ]


def squeezer_energy(q, w, t, p):
    centres = [
        *((p.ra, 0), (-p.da, 0), (p.sb, -p.sa), (0, p.ea - p.e)),
        *((p.ta, p.tb), (p.zf - p.fa, 0), (-p.ub, -p.ua)),
    ]
    energy, rate = 0, sp.Matrix(w)
    for k, ((origin, angle), centre) in enumerate(zip(squeezer_bodies(q, p), centres, strict=True)):
        place = origin + turned(angle, centre)
        turning = (sp.Matrix([angle]).jacobian(q) * rate)[0]
        energy += half(getattr(p, f"m{k + 1}"), place.jacobian(q) * rate)
        energy += getattr(p, f"I{k + 1}") * turning**2 / 2
    return energy


def squeezer_spring(q, t, p):
    origin, angle = squeezer_bodies(q, p)[2]
    spring = origin + turned(angle, (p.sd, -p.sc)) - sp.Matrix([p.xc, p.yc])
    return p.c0 * (sp.sqrt(spring.dot(spring)) - p.l0) ** 2 / 2


def squeezer_pin(body, point):
    """The second body's point E against that of another."""

    def phi(q, v, t, p):
        places = squeezer_bodies(q, p)
        (x, a), (y, b) = places[1], places[body]
        return x + turned(a, (-p.d, 0)) - y - turned(b, point(p))

    return ("position", phi)


SQUEEZER = {
    **library.andrews_squeezer().parameters,
    **{f"m{k}": 0.01 * k + 0.003 for k in range(1, 8)},
    **{f"I{k}": 1e-6 * (9 - k) for k in range(1, 8)},
}


def road(t, p):
    y = p.r * sp.sin(p.w * t)
    return sp.Matrix([sp.sqrt(p.L**2 - y**2), y])


def axle_potential(q, t, p):
    left, right = sp.Matrix(q[:2]), sp.Matrix(q[2:]) - road(t, p)
    stretches = [sp.sqrt(x.dot(x)) - p.L0 for x in (left, right)]
    return half(1, stretches) + p.M * p.eps**2 / 2 * p.g * (q[1] + q[3])


def rods(count):
    """Ends of the 2N + 1 rods of N four-bars."""

    def ends(q, p):
        tops = [sp.Matrix(q[2 * i : 2 * i + 2]) for i in range(count + 1)]
        pins = [sp.Matrix([i * p.L, 0]) for i in range(count + 1)]
        return [*zip(pins, tops, strict=True), *itertools.pairwise(tops)]

    return ends


def rod_energy(q, w, t, p):
    """From the speed of every point of a rod, integrated along it."""
    s, rate, energy = sp.Symbol("s"), sp.Matrix(w), 0
    for a, b in rods(len(q) // 2 - 1)(q, p):
        point = ((1 - s) * a + s * b).jacobian(q) * rate
        energy += sp.integrate(sp.expand(half(p.m, point)), (s, 0, 1))
    return energy


def rod_potential(q, t, p):
    return sum(p.m * p.g * (a[1] + b[1]) / 2 for a, b in rods(len(q) // 2 - 1)(q, p))


def rod_length(count, index):
    def phi(q, v, t, p):
        a, b = rods(count)(q, p)[index]
        return ((b - a).dot(b - a) - p.L**2) / 2

    return ("position", phi)


KEPT = [
    ("position", lambda q, v, t, p: (q[1] ** 2 + q[2] ** 2 - p.rho**2) / 2),
    ("position", lambda q, v, t, p: q[2] - 2 * q[0]),
]


def governor_energy(q, w, t, p):
    """Places of all masses in axes that do not turn; ½ tr(Ṙ J Ṙᵀ) for the rods' rotation."""
    along = sp.diag(p.transverse - p.axial / 2, p.axial / 2, p.axial / 2)

    def rate(x):
        return x.applyfunc(lambda e: sum(e.diff(a) * b for a, b in zip(q, w, strict=True)))

    energy = (p.inertia * w[0] ** 2 + p.slider * w[1] ** 2) / 2
    for k, turned in ((2, 0), (5, sp.pi)):
        R = sp.rot_axis3(-q[0] - turned) * sp.rot_axis2(-q[k + 2])
        centre = sp.rot_axis3(-q[0] - turned) * sp.Matrix([q[k], 0, q[k + 1]])
        ball = centre + R * sp.Matrix([p.length / 2, 0, 0])
        energy += half(p.rod, rate(centre)) + half(p.ball, rate(ball))
        energy += (rate(R) * along * rate(R).T).trace() / 2
    return energy


def governor_springs(q, p):
    return [sp.sqrt((q[k] - p.arm) ** 2 + (q[k + 1] - q[1]) ** 2) for k in (2, 5)]


def governor_potential(q, t, p):
    ends = [q[k] - p.length / 2 * sp.sin(q[k + 1]) for k in (3, 6)]
    weight = p.slider * q[1] + p.rod * (q[3] + q[6]) + p.ball * sum(ends)
    return p.g * weight + p.stiffness / 2 * sum((d - p.rest) ** 2 for d in governor_springs(q, p))


def governor_dampers(q, w, t, p):
    lengths = governor_springs(q, p)
    rates = [sum(d.diff(a) * b for a, b in zip(q, w, strict=True)) for d in lengths]
    return [-sum(p.damping * r * d.diff(x) for d, r in zip(lengths, rates, strict=True)) for x in q]


GOVERNOR_HINGES = [
    (
        "position",
        lambda q, v, t, p, k=k: [
            q[k] - p.length / 2 * sp.cos(q[k + 2]) - p.arm,
            q[k + 1] + p.length / 2 * sp.sin(q[k + 2]) - p.height,
        ],
    )
    for k in (2, 5)
]
MASSES = {"m1": 1.3, "m2": 0.7, "m3": 2.1, "k1": 11.0, "k2": 17.0, "k3": 5.0}

# name → parameters to use, options of the states, the derivation's T, V, forces, constraints,
# and options of the builder
SYSTEMS = {
    "spherical_pendulum": {
        "parameters": {"m": 1.7, "g": 8.3, "L": 1.2},
        "states": {"L": 1.2},
        "size": 3,
        "T": particle,
        "V": lambda q, t, p: -p.m * p.g * q[1],
        "constraints": [("position", lambda q, v, t, p: (sum(x**2 for x in q) - p.L**2) / 2)],
    },
    "kepler_laws": {
        "parameters": {"m": 2.3, "epsilon": 0.6, "p": 1.4, "c": 0.8},
        "states": {"epsilon": 0.6, "p": 1.4, "c": 0.8},
        "size": 2,
        "T": particle,
        "constraints": [
            ("position", ellipse),
            ("velocity", lambda q, v, t, p: p.c - (q[0] * v[1] - q[1] * v[0])),
        ],
    },
    "kepler_ellipse": {
        "parameters": {"m": 2.3, "epsilon": 0.6, "p": 1.4},
        "states": {"epsilon": 0.6, "p": 1.4},
        "size": 2,
        "T": particle,
        "constraints": [("position", ellipse)],
    },
    "nonholonomic_particle": {
        "parameters": {"m": 0.6},
        "size": 3,
        "T": particle,
        "forces": lambda q, w, t, p: [sp.cos(t), 1 + sp.sin(2 * t), t - 1],
        "constraints": [("velocity", lambda q, v, t, p: v[1] - q[2] * v[0] - sp.sin(t))],
    },
    "constant_speed_particle": {
        "parameters": {"m": 1.9, "g": 7.7, "s": 2.5},
        "states": {"speed": 2.5},
        "size": 3,
        "T": particle,
        "V": lambda q, t, p: p.m * p.g * q[2],
        "constraints": [("velocity", lambda q, v, t, p: (sum(x**2 for x in v) - p.s**2) / 2)],
    },
    "appell_hamel": {
        "parameters": {"m": 1.9, "g": 7.7, "kappa": 0.8},
        "states": {"ratio": 0.8},
        "size": 3,
        "T": particle,
        "V": lambda q, t, p: p.m * p.g * q[2],
        "constraints": [
            (
                "velocity",
                lambda q, v, t, p: (v[0] ** 2 + v[1] ** 2 - p.kappa**2 * v[2] ** 2) / 2,
            )
        ],
    },
    "knife_edge": {
        "parameters": {"m": 1.4, "I": 0.3, "g": 8.9, "slope": 0.7},
        "size": 3,
        "T": lambda q, w, t, p: half(p.m, w[:2]) + p.I * w[2] ** 2 / 2,
        "V": lambda q, t, p: -p.m * p.g * q[0] * sp.sin(p.slope),
        "constraints": [("velocity", lambda q, v, t, p: v[0] * sp.sin(q[2]) - v[1] * sp.cos(q[2]))],
    },
    "chaplygin_sleigh": {
        "parameters": {"m": 1.4, "I": 0.3, "a": 0.9},
        "size": 3,
        "T": sleigh_energy,
        "constraints": [
            ("velocity", lambda q, v, t, p: -v[0] * sp.sin(q[2]) + v[1] * sp.cos(q[2]))
        ],
    },
    "snakeboard": {
        "parameters": {"m": 3.0, "J": 0.4, "J_rotor": 0.5, "J_wheel": 0.1, "l": 0.6},
        "states": {"length": 0.6},
        "size": 6,
        "T": board_energy,
        "forces": lambda q, w, t, p: [0, 0, 0, *ride(t)],
        "constraints": [axle_across(-1, 4), axle_across(1, 5)],
    },
    "snakeboard, mirrored": {
        "parameters": {"m": 3.0, "J": 0.4, "J_rotor": 0.5, "J_wheel": 0.1, "l": 0.6},
        "build": {"mirrored": True},
        "states": {"length": 0.6, "mirrored": True},
        "size": 6,
        "T": board_energy,
        "forces": lambda q, w, t, p: [0, 0, 0, *ride(t)],
        "constraints": [
            axle_across(-1, 4),
            axle_across(1, 5),
            ("position", lambda q, v, t, p: q[4] + q[5]),
        ],
    },
    "two_mass_chain": {
        "parameters": {k: x for k, x in MASSES.items() if k[-1] in "12"},
        "size": 3,
        "T": absolute("T"),
        "V": absolute("V"),
        "constraints": [("position", lambda q, v, t, p: q[0] - q[1])],
    },
    "three_mass_chain": {
        "parameters": MASSES,
        "size": 5,
        "T": absolute("T"),
        "V": absolute("V"),
        "constraints": [
            ("position", lambda q, v, t, p: q[0] - q[1]),
            ("position", lambda q, v, t, p: q[1] + q[2] - q[3]),
        ],
    },
    "satellite_formation": {
        "parameters": {"m": 1.3, "mu": 1.1, "R": 0.9, "rho": 0.4},
        "states": {"mu": 1.1, "R": 0.9, "rho": 0.4},
        "size": 3,
        "T": satellite_energy,
        "V": satellite_potential,
        "constraints": KEPT,
    },
    "satellite_formation, of the Earth": {
        "parameters": {"m": 100.0, "mu": 3.986004418e14, "R": 7.0e6, "rho": 1000.0},
        "digits": 40,  # the derivation subtracts numbers that agree in ten digits
        "size": 3,
        "T": satellite_energy,
        "V": satellite_potential,
        "constraints": KEPT,
    },
    "flyball_governor": {
        "parameters": {
            "slider": 2.7,
            "rod": 0.4,
            "ball": 4.1,
            "inertia": 0.3,
            "axial": 0.02,
            "transverse": 0.05,
            "arm": 0.07,
            "height": 1.1,
            "length": 0.9,
            "stiffness": 300.0,
            "damping": 20.0,
            "rest": 0.6,
            "g": 8.3,
        },
        "states": {"arm": 0.07, "height": 1.1, "length": 0.9},
        "size": 8,
        "T": governor_energy,
        "V": governor_potential,
        "forces": governor_dampers,
        "constraints": GOVERNOR_HINGES,
    },
    "satellite_formation, free": {
        "parameters": {"m": 1.3, "mu": 1.1, "R": 0.9, "rho": 0.4},
        "build": {"kept": False},
        "states": {"mu": 1.1, "R": 0.9, "rho": 0.4},
        "size": 3,
        "T": satellite_energy,
        "V": satellite_potential,
    },
    "andrews_squeezer": {
        "parameters": SQUEEZER,
        "size": 7,
        "T": squeezer_energy,
        "V": squeezer_spring,
        "forces": lambda q, w, t, p: [p.mom, 0, 0, 0, 0, 0, 0],
        "constraints": [
            squeezer_pin(2, lambda p: (0, -p.ss)),
            squeezer_pin(3, lambda p: (0, -p.e)),
            squeezer_pin(5, lambda p: (p.zf, 0)),
        ],
    },
    "car_axis": {
        "parameters": {
            "M": 7.0,
            "eps": 0.1,
            "L": 1.2,
            "L0": 0.4,
            "r": 0.2,
            "w": 3.0,
            "g": 0.8,
        },
        "states": {"L": 1.2, "r": 0.2, "w": 3.0},
        "size": 4,
        "T": lambda q, w, t, p: half(p.M * p.eps**2 / 2, w),
        "V": axle_potential,
        "constraints": [
            ("position", lambda q, v, t, p: sp.Matrix(q[:2]).dot(road(t, p))),
            (
                "position",
                lambda q, v, t, p: (q[0] - q[2]) ** 2 + (q[1] - q[3]) ** 2 - p.L**2,
            ),
        ],
    },
    "n_four_bar": {
        "parameters": {"m": 1.7, "L": 0.8, "g": 8.3},
        "build": {"n": 3},
        "states": {"n": 3, "L": 0.8},
        "size": 8,
        "T": rod_energy,
        "V": rod_potential,
        "constraints": [rod_length(3, k) for k in range(7)],
    },
}


# SymPy takes many seconds over these; their motion has a test of its own in each run of the suite.
LONG = {"flyball_governor"}


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[pytest.mark.campaign] * (case in LONG)) for case in SYSTEMS],
)
def test_terms_and_motion_equal_those_derived_by_sympy(case):
    given, name = SYSTEMS[case], case.partition(",")[0]
    parameters = given["parameters"]
    rest = {k: given[k] for k in ("V", "forces", "constraints") if k in given}
    derivation = Derivation(given["size"], parameters, given["T"], **rest)
    system = getattr(library, name)(**given.get("build", {}))
    rng = np.random.default_rng(len(case))
    state = library.states(name, rng, COUNT, **given.get("states", {}))
    assert_consistent(system, state, parameters)
    expected = derivation.at(state, parameters, given.get("digits"))
    assert_same_motion(system, state, parameters, expected)


def test_every_system_of_the_library_has_such_a_test():
    elsewhere = {"rolling_disk", "sliding_disk", "rotating_body", "rough_wire_bead"}
    assert {case.partition(",")[0] for case in SYSTEMS} | elsewhere == set(library.names())


@pytest.mark.parametrize("name", library.names())
def test_states_of_the_defaults_are_consistent_and_reproducible(name):
    system = getattr(library, name)()
    first, again = (library.states(name, np.random.default_rng(7), 20) for _ in range(2))
    assert first.q.shape == (20, len(system.coordinates))
    assert first.v.shape == (20, len(system.velocities))
    np.testing.assert_array_equal(first.q, again.q)
    assert_consistent(system, first)


def test_unknown_names_and_forms_are_refused_with_the_known_ones():
    assert "rolling_disk" in dir(library)
    with pytest.raises(AttributeError, match="spherical_pendulum"):
        library.spherical_pendulums  # noqa: B018
    with pytest.raises(UnknownNameError, match="Did you mean 'knife_edge'"):
        library.states("knive_edge", np.random.default_rng(0), 1)
    for build in (library.rolling_disk, library.sliding_disk, library.rotating_body):
        with pytest.raises(UnknownNameError, match="form of"):
            build("lagrangian")
    for name in ("rolling_disk", "rotating_body"):
        with pytest.raises(UnknownNameError, match="form of"):
            library.states(name, np.random.default_rng(0), 1, form="lagrangian")


def test_starts_are_the_published_ones_and_consistent():
    for name in ("andrews_squeezer", "car_axis", "n_four_bar", "flyball_governor"):
        system, start = getattr(library, name)(), library.start(name)
        assert_consistent(system, State(start.q[None], start.v[None], np.zeros(1)))
    assert list(library.start("car_axis").v) == [-0.5, 0.0, -0.5, 0.0]
    assert list(library.start("n_four_bar", n=1).v) == [1.0, 0.0, 1.0, 0.0]
    # Test Set for IVP Solvers, "andrews": the accelerations at rest
    first = library.andrews_squeezer().solve(library.start("andrews_squeezer")).acceleration
    np.testing.assert_allclose(first[:2], [14222.4439199541138, -10666.8329399655854], rtol=1e-12)
    assert np.abs(first[2:]).max() < 1e-8
    with pytest.raises(UnknownNameError, match="andrews_squeezer"):
        library.start("knife_edge")
    with pytest.raises(
        InputError, match="n of n_four_bar must be at least 1, the number of linkages, not 0"
    ):
        library.n_four_bar(0)


# -------------------------------------------------------------- closed forms beside the derivations


def test_constant_speed_costs_the_power_of_gravity():
    system = library.constant_speed_particle(m=2.0, speed=3.0)
    state = library.states("constant_speed_particle", np.random.default_rng(1), COUNT)
    solution = system.solve(state)
    assert_close(solution.multipliers[:, 0], 2.0 * 9.81 * state.v[:, 2] / 9.0)
    assert_close((solution.constraint_force * state.v).sum(-1), 2.0 * 9.81 * state.v[:, 2])


def test_weight_of_appell_and_hamels_machine_falls_steadily():
    system = library.appell_hamel(ratio=1.5)
    state = library.states("appell_hamel", np.random.default_rng(1), COUNT)
    solution = system.solve(state)
    assert_close(solution.acceleration[:, 2], np.full(COUNT, -9.81 / (1 + 1.5**2)))
    assert_close(solution.multipliers[:, 0], -9.81 / ((1 + 1.5**2) * state.v[:, 2]))


def test_sleigh_obeys_chaplygins_equations():
    m, I, a = 2.0, 0.7, 0.4
    state = library.states("chaplygin_sleigh", np.random.default_rng(1), COUNT)
    solution = library.chaplygin_sleigh(m=m, I=I, a=a).solve(state)
    cos, sin, omega = np.cos(state.q[:, 2]), np.sin(state.q[:, 2]), state.v[:, 2]
    u = state.v[:, 0] * cos + state.v[:, 1] * sin
    u_dot, omega_dot = a * omega**2, -m * a * u * omega / (I + m * a**2)
    expected = [u_dot * cos - u * omega * sin, u_dot * sin + u * omega * cos, omega_dot]
    assert_close(solution.acceleration, np.stack(expected, axis=-1))
    assert_close(solution.multipliers[:, 0], m * (u * omega + a * omega_dot))


def test_ice_holds_the_skate_sideways():
    m, g, slope = 1.0, 9.81, 0.4
    state = library.states("knife_edge", np.random.default_rng(1), COUNT)
    solution = library.knife_edge(m=m, g=g, slope=slope).solve(state)
    cos, sin, turn = np.cos(state.q[:, 2]), np.sin(state.q[:, 2]), state.v[:, 2]
    u = state.v[:, 0] * cos + state.v[:, 1] * sin
    assert_close(solution.multipliers[:, 0], -m * (u * turn + g * np.sin(slope) * sin))
    assert_close(solution.acceleration[:, 2] + 1, np.ones(COUNT))


def test_joints_of_the_cut_chain_carry_the_springs_forces():
    # As one chain in absolute places: m X″ = spring to the left and to the right
    m, k = np.array([1.0, 2.0, 0.5]), np.array([30.0, 20.0, 10.0])
    state = library.states("three_mass_chain", np.random.default_rng(1), COUNT)
    solution = library.three_mass_chain().solve(state)
    tension = state.q[:, [0, 2, 4]] * k
    places = (np.append(tension[:, 1:], np.zeros((COUNT, 1)), axis=1) - tension) / m
    x1, q1, x2, q2, x3 = solution.acceleration.T
    assert_close(np.stack([x1, q1 + x2, q2 + x3], axis=-1), places)
    assert_close(np.stack([q1, q2], axis=-1), places[:, :2])
    assert_close(solution.multipliers, tension[:, 1:])
    assert set(solution.ranks.mass) == {3}


def test_formation_at_the_size_of_the_earth_needs_the_control_of_the_linearised_orbit():
    # At 1 km of 7000 km, Hill's equations hold to ρ/R; turning at the rate n they need no force.
    n = np.sqrt(3.986004418e14 / 7.0e6**3)
    angle = np.linspace(0, 6, 50)
    cos, sin = 1000.0 * np.cos(angle), 1000.0 * np.sin(angle)
    q = np.stack([sin / 2, cos, sin], axis=-1)
    v = n * np.stack([cos / 2, -sin, cos], axis=-1)
    force = library.satellite_formation().solve(q, v).constraint_force
    assert np.abs(force).max() < 100.0 * n**2 * 1000.0 * 5e-4
    assert np.abs(force).max() > 0
    wrong_way = library.satellite_formation().solve(q, -v).constraint_force
    assert np.abs(wrong_way).max() > 100.0 * n**2 * 1000.0 * 0.5


def test_deputies_do_not_touch_each_other():
    rng = np.random.default_rng(2)
    state = library.states("satellite_formation", rng, COUNT, deputies=2)
    both = library.satellite_formation(deputies=2).solve(state)
    alone = library.satellite_formation()
    for k in range(2):
        part = slice(3 * k, 3 * k + 3)
        single = alone.solve(state.q[:, part], state.v[:, part], state.t)
        assert_close(both.acceleration[:, part], single.acceleration, TOLERANCE)
        assert_close(both.multipliers[:, 2 * k : 2 * k + 2], single.multipliers, TOLERANCE)


@pytest.mark.inventory("UK-20")
def test_control_that_keeps_free_deputies_on_the_program_is_the_force_of_the_kept_ones():
    rng = np.random.default_rng(3)
    state = library.states("satellite_formation", rng, COUNT, deputies=2)
    kept = library.satellite_formation(deputies=2).solve(state)
    free = library.satellite_formation(deputies=2, kept=False)
    control = free.control_force(state, program=formation_program(2))
    assert_close(control.force, kept.constraint_force)
    assert_close(control.acceleration, kept.acceleration)
    assert np.abs(control.reaction).max() == 0
