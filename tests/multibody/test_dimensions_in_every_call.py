"""A parameter of dimensions means the same in every call: `with_parameters` is the reference."""

import inspect

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang.mechanism import MechanismSystem

#: Another length than the default 1; results agree to rounding, searches to their tolerance.
LENGTH, SAME = 2.5, 1e-8
TIMES = np.linspace(0.0, 1.0, 5)
#: Calls that are given values for other purposes: those of a program, or checked arrays.
NOT_OF_MECHANISMS = {"with_program", "control_force", "from_lagrangian", "from_acceleration_energy"}
INTERNAL = {"arguments", "parameter_values", "parameter_vector", "assembled_near"}
INTERNAL |= {"assembled_placement", "joint_states"}


def crane(*, turning=False):
    """A cart and what hangs on it, or hangs on a shaft, by a rod of length L."""
    m = zw.Mechanism(gravity=(0, 0, -9.81), **({} if turning else {"plane": "xz"}))
    L = m.parameter("L", 1.0)
    cart = m.body("cart", mass=2.0, inertia=[0.1, 0.1, 0.1] if turning else 0.1)
    bob = m.body(
        "bob",
        mass=0.5,
        inertia=[0.01, 0.01, 0.01] if turning else 0.01,
        position=(0.6 * L, 0, -0.8 * L),
    )
    if turning:
        m.revolute("shaft", m.ground, cart, at=(0, 0, 0), axis="z")
        m.revolute("theta", cart, bob, at=(0, 0, 0), axis="y")
        return m
    m.prismatic("x", m.ground, cart, at=(0, 0, 0), axis="x")
    m.revolute("theta", cart, bob, at=(0, 0, 0))
    return m


def held(m, k):
    return m.equilibrium(hold={"x.displacement": 0.0}, **k)


def driven(m):
    m.drive("motor", "x.displacement", lambda t: 0.1 * t)
    m.drive("swing", "theta.angle", lambda t: 0.2 * t)
    return m


def reduced(m, k):
    less = m.system.reduce(**k)
    return less.solve(less.way_in(m.assemble(**k), **k), **k).acceleration


CALLS = {
    "assemble": lambda m, k: m.assemble(hold={"theta.angle": 0.3}, **k).q,
    "certify": lambda m, k: m.certify(**k),
    "degrees_of_freedom": lambda m, k: m.degrees_of_freedom(**k),
    "derive": lambda m, k: m.derive(**k).acceleration,
    "derive of bodies": lambda m, k: m.system.derive(solve=False, **k).at("A", m.assemble(**k)),
    "determinate": lambda m, k: m.system.determinate(
        m.assemble(**k), None, 0.0, k.get("parameters")
    ),
    "energy": lambda m, k: m.energy(**k),
    "equilibria": lambda m, k: [
        e.q for e in m.equilibria(hold={"x.displacement": 0.0}, count=4, **k)
    ],
    "equilibrium": lambda m, k: held(m, k).q,
    "explain": lambda m, k: m.explain(**k),
    "forward_velocities": lambda m, k: (
        m.system.forward_velocities(
            lambda v: [v[0], v[5]], m.assemble(**k), np.zeros(6), **k
        ).acceleration
    ),
    "ideal_terms": lambda m, k: m.ideal_terms(**k).constraint_matrix,
    "in_euler_parameters": lambda m, k: (
        m.system.in_euler_parameters().solve(m.assemble(**k).q, **k).acceleration
    ),
    "integrability": lambda m, k: m.system.integrability(**k),
    "inverse_dynamics": lambda m, k: m.inverse_dynamics(
        (TIMES, {"x.displacement": 0.1 * TIMES**3, "theta.angle": 0.2 * TIMES**3}),
        ["x.displacement", "theta.angle"],
        **k,
    ).effort["theta.angle"],
    "joint_coordinate": lambda m, k: m.system.joint_coordinate("theta.angle", m.assemble(**k), **k),
    "kinematics": lambda m, k: driven(m).kinematics([0.0, 0.5], **k).q,
    "linearize": lambda m, k: m.linearize(held(m, k), **k).A,
    "load_path": lambda m, k: driven(m).load_path("gravity.z", [-9.81, -5.0], **k).q,
    "passport": lambda m, k: m.passport(**k),
    "position_rate": lambda m, k: m.position_rate(**k),
    "quasi_velocities": lambda m, k: m.system.quasi_velocities(**k),
    "reaction_solutions": lambda m, k: [s.acceleration for s in m.reaction_solutions(**k)],
    "reduce": reduced,
    "residuals": lambda m, k: m.residuals(**k).position,
    "root_locus": lambda m, k: (
        m.root_locus("bob.mass", [0.5, 0.6], hold={"x.displacement": 0.0}, **k).eigenvalues
    ),
    "servo": lambda m, k: (
        m.servo({"x.displacement": lambda t: 0.1 * t**3}, ["x.displacement"], **k).solve(TIMES).q
    ),
    "simulate": lambda m, k: m.simulate(until=0.2, save=[0.1, 0.2], **k).q,
    "solve": lambda m, k: m.solve(**k).acceleration,
    "splits": lambda m, k: m.splits(**k),
    "steady_motion": lambda m, k: m.steady_motion({"shaft.angle_rate": 5.0}, **k).q,
    "terms": lambda m, k: m.terms(**k).constraint_matrix,
    "velocity_from_rate": lambda m, k: m.velocity_from_rate(
        m.assemble(**k), np.zeros(len(m.system.coordinates)), **k
    ),
}


def numbers(found):
    if isinstance(found, tuple | list | np.ndarray | float | int):
        return np.concatenate([np.ravel(np.asarray(x)) for x in np.atleast_1d(found)])
    return None


@pytest.mark.parametrize("name", CALLS)
def test_a_dimension_given_in_a_call_is_that_of_the_mechanism(name):
    call, turning = CALLS[name], name == "steady_motion"
    found = call(crane(turning=turning), {"parameters": {"L": LENGTH}})
    wanted = call(crane(turning=turning).with_parameters(L=LENGTH), {})
    if numbers(found) is None:
        assert str(found) == str(wanted)
    else:
        np.testing.assert_allclose(numbers(found), numbers(wanted), atol=SAME)


def test_every_call_that_takes_parameters_is_among_them():
    taking = {
        name
        for name, function in inspect.getmembers(MechanismSystem, callable)
        if not name.startswith("_") and "parameters" in inspect.signature(function).parameters
    }
    missing = taking - CALLS.keys() - NOT_OF_MECHANISMS - INTERNAL - {"simulate_many"}
    assert not missing  # many: tests/multibody/test_geometry_parameters.py


def test_a_dimension_stays_a_letter_where_one_is_given():
    m, L = crane(), sp.Symbol("L")
    form, plain = m.derive(parameters={"L": L}), m.derive()
    assert form.parameters["L"] == 1.0
    assert "L" not in plain.parameters
    assert "L = 1" in plain.notes[-1]
    for length in (0.7, LENGTH):
        want = m.derive(parameters={"L": length})
        q, v = np.array([0.1, 0.4]), np.array([0.3, -0.8])
        got = form.at("acceleration", q, v, parameters={"L": length})
        np.testing.assert_allclose(got, want.at("acceleration", q, v), rtol=1e-12)


def test_a_dimension_that_is_no_polynomial_is_refused_as_a_letter():
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    w = m.parameter("w", 0.3)
    rod = m.body("rod", mass=1.0, inertia=0.1, position=(np.cos(w), 0, np.sin(w)))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0))
    with pytest.raises(
        zw.InputError, match=r"dimension 'w' must enter .* polynomial .* Give a number"
    ):
        m.derive(parameters={"w": sp.Symbol("w")})
    assert "w" not in m.derive(parameters={"w": 0.2}).parameters


def test_a_mass_that_is_a_letter_too_is_one_in_moments_of_inertia():
    """A rod swings with 3 g / (2 L), whatever its mass."""
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    L, mass = m.parameter("L", 1.0), m.parameter("mu", 2.0)
    rod = m.body("rod", inertia=zw.inertia.rod(mass, L, axis="z"), position=(0, 0, -L / 2))
    m.revolute("theta", m.ground, rod, at=(0, 0, 0))
    form = m.derive(parameters={name: sp.Symbol(name) for name in ("L", "mu")})
    g, length, theta = sp.symbols("g L theta")
    assert sp.simplify(form.acceleration[0] + 3 * g * sp.sin(theta) / (2 * length)) == 0
    assert form.notes == ("rod.mass, rod.inertia follow from L, mu",)


def test_moments_of_inertia_that_follow_from_a_letter_are_told():
    m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
    L = m.parameter("L", 1.0)
    rod = m.body("rod", inertia=zw.inertia.rod(1.0, L), position=(L / 2, 0, 0))
    m.revolute("pin", m.ground, rod, at=(0, 0, 0))
    form = m.derive(parameters={"L": sp.Symbol("L")})
    (note,) = form.notes
    assert note.startswith("rod.inertia follows from L; if computed from the mass")
    assert "for m_rod = 1 alone" in note
    got = form.at("acceleration", [0.2], [0.0], parameters={"L": LENGTH})
    want = 9.81 * np.cos(0.2) * LENGTH / 2 / (LENGTH**2 / 3)
    np.testing.assert_allclose(got, [want], rtol=1e-12)
