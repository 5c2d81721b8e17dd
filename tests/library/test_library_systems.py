"""Every system of the library against an independent derivation at random consistent states.

Rolling disk, rotating body and rough wire have files of their own.
"""

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
from zwang.errors import UnknownNameError
from zwang.library.satellites import formation_program


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


KEPT = [
    ("position", lambda q, v, t, p: (q[1] ** 2 + q[2] ** 2 - p.rho**2) / 2),
    ("position", lambda q, v, t, p: q[2] - 2 * q[0]),
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
    "satellite_formation, free": {
        "parameters": {"m": 1.3, "mu": 1.1, "R": 0.9, "rho": 0.4},
        "build": {"kept": False},
        "states": {"mu": 1.1, "R": 0.9, "rho": 0.4},
        "size": 3,
        "T": satellite_energy,
        "V": satellite_potential,
    },
}


@pytest.mark.parametrize("case", SYSTEMS)
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
