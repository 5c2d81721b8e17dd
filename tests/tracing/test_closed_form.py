"""Closed forms: worked examples of Udwadia & Kalaba and Blajer symbol by symbol, and their use."""

import re
import sys

import numpy as np
import pytest
import sympy as sp
from same_expressions import TOLERANCE, assert_equal, assert_same_numbers, is_zero
from sympy import symbols

import zwang as zw
from zwang import library
from zwang.closed_form.motion import independent_rows
from zwang.errors import InputError, MissingExtraError, NotApplicableError, UnknownNameError

# --- Udwadia & Kalaba (1996) ---------------------------------------------------------------------


@pytest.mark.inventory("UK-16", "XX-07")
def test_spherical_pendulum_is_27_and_on_the_sphere_28():
    m, g, L, x, y, z, u, v, w = symbols("m g L x y z x_dot y_dot z_dot")
    place, e = sp.Matrix([x, y, z]), -(u**2 + v**2 + w**2) - g * y
    system = library.spherical_pendulum()
    form = system.derive()
    assert_equal(form.M, m * sp.eye(3))  # (24)
    assert_equal(form.Q, [0, m * g, 0])
    assert_equal(form.A, [[x, y, z]])  # (26)
    assert_equal(form.b, [-(u**2) - v**2 - w**2])
    force = m / (x**2 + y**2 + z**2) * place * e
    assert_equal(form.constraint_force, force)  # (27)
    assert_equal(form.M * form.acceleration, form.Q + force)

    on_sphere = system.derive(use_constraints=True)
    assert_equal(on_sphere.constraint_force, m * e / L**2 * place)  # (28)
    assert_equal(on_sphere.multipliers, [m * e / L**2])
    assert on_sphere.multipliers[0].free_symbols == {m, g, L, y, u, v, w}
    # (28) holds with x² + y² + z² = L², where L² − y² is as good as x² + z²
    difference = on_sphere.M * on_sphere.acceleration - form.Q - m * e / L**2 * place
    assert_equal(difference.subs(L, sp.sqrt(x**2 + y**2 + z**2)), sp.zeros(3, 1))
    state = library.states("spherical_pendulum", np.random.default_rng(0), 20)
    for each in (form, on_sphere):
        assert_same_numbers(
            each, system, state, ("acceleration", "constraint_force", "multipliers")
        )


@pytest.mark.inventory("UK-17", "XX-07")
def test_kepler_laws_give_34():
    m, p, c, epsilon, x, y, u, v = symbols("m p c epsilon x y x_dot y_dot")
    r = sp.sqrt(x**2 + y**2)
    system = library.kepler_laws()
    form = system.derive()
    # (32), with r times our first row, and b by c = xẏ − yẋ
    assert_equal(form.A * sp.Integer(1), [[x / r - epsilon, y / r], [y, -x]])
    assert_equal(form.b, [-((x * v - y * u) ** 2) / r**3, 0])
    on_laws = system.derive(use_constraints=True)
    newton = -(c**2) / p * m / r**2 * sp.Matrix([x, y]) / r
    assert_equal(on_laws.constraint_force, newton)  # (34)
    assert_equal(on_laws.M * on_laws.acceleration, newton)
    # the same from the form that holds everywhere, by polar coordinates along the motion
    angle = sp.Symbol("angle", positive=True)
    radius = p / (1 - epsilon * sp.cos(angle))
    along = sp.Matrix([radius * sp.cos(angle), radius * sp.sin(angle)])
    rate = along.diff(angle) * c / radius**2
    positive = {p: sp.Symbol("p", positive=True)}
    motion = {x: along[0], y: along[1], u: rate[0], v: rate[1]}
    for found, expected in zip(form.constraint_force, newton, strict=True):
        difference = (found - expected).subs(motion).subs(r.subs(motion), radius).subs(positive)
        at = {angle: 0.7, epsilon: 0.3, c: 1.1, m: 2, positive[p]: 1.5}
        assert abs(difference.evalf(30, subs=at)) < 1e-25
    assert_same_numbers(
        on_laws, system, library.states("kepler_laws", np.random.default_rng(1), 20)
    )


@pytest.mark.inventory("UK-18")
def test_force_of_the_ellipse_alone_is_not_central():
    x, y = symbols("x y")
    force = library.kepler_ellipse().derive().constraint_force
    assert sp.simplify(force[0] * y - force[1] * x) != 0
    assert_equal([force.dot(sp.Matrix([y, sp.sqrt(x**2 + y**2) * sp.Symbol("epsilon") - x]))], [0])


@pytest.mark.inventory("UK-19", "XX-07")
def test_nonholonomic_particle_is_37():
    m, z, u, w, X, Y, Z, rate = symbols("m z x_dot z_dot X Y Z rate")
    system = zw.System(
        coordinates=["x", "y", "z"],
        parameters={"m": 2.0, "X": 1.0, "Y": -3.0, "Z": 0.5, "rate": 0.7},
        mass=lambda p: p.m * np.eye(3),
        force=lambda p: [p.X, p.Y, p.Z],
        constraints={"slope": zw.velocity(lambda q, v, t, p: v[1] - q[2] * v[0] - p.rate * t)},
    )
    form = system.derive()  # α(t) = rate·t
    assert_equal(form.A, [[-z, 1, 0]])  # (35)
    assert_equal(form.b, [w * u + rate])  # (36)
    given = sp.Matrix([X, Y, Z])
    force = (m * (w * u + rate) + z * X - Y) / (z**2 + 1) * sp.Matrix([-z, 1, 0])
    assert_equal(form.constraint_force, force)
    assert_equal(form.M * form.acceleration, given + force)  # (37)

    t = sp.Symbol("t")
    swinging = library.nonholonomic_particle().derive()  # α = sin t
    push = sp.Matrix([sp.cos(t), 1 + sp.sin(2 * t), t - 1])
    force = (m * (w * u + sp.cos(t)) + z * push[0] - push[1]) / (z**2 + 1) * sp.Matrix([-z, 1, 0])
    assert_equal(swinging.constraint_force, force)
    assert_equal(swinging.M * swinging.acceleration, push + force)


# --- Blajer (1992), section 6, as corrected ------------------------------------------------------

M, J, R, G_ = symbols("m J r g")
THETA, PHI = symbols("theta phi")
V = sp.Matrix(symbols("v1:7"))
S, C = sp.sin(THETA), sp.cos(THETA)
K = M * R**2
D_68 = sp.Matrix([[-R, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 0], [0, 0, R, 1, 0, 0]])


@pytest.mark.inventory("BL-37", "BL-38", "BL-39", "BL-40")
def test_rolling_disk_is_6_11_corrected():
    v1, v2, v3, v4, v5, v6 = V
    form = library.rolling_disk("dependent").derive()
    assert_equal(form.A, [[1, 0, 0, 0, 0, R], [0, 1, 0, 0, 0, 0], [0, 0, 1, -R, 0, 0]])  # (6.7)
    assert_equal(form.A * D_68.T, sp.zeros(3, 3))  # (6.8)
    assert_equal(form.M, sp.diag(M, M, M, J, J, 2 * J))  # (6.9)
    spin = v5 * sp.tan(THETA) - 2 * v6
    right = sp.Matrix(
        [
            -M * R * v5 * (v2 * sp.tan(THETA) - v3),
            -J * v4 * spin,
            M * R * (v5 * v1 - v4 * v2 - G_ * S) + J * v5 * spin,
        ]
    )
    left = sp.Matrix([[-M * R, 0, 0, 0, 0, 2 * J], [0, 0, 0, 0, J, 0], [0, 0, M * R, J, 0, 0]])
    assert_equal(D_68 * form.M, left)
    assert_equal(D_68 * form.Q, right)
    assert_equal(left * form.acceleration, right)
    assert_equal(form.A * form.acceleration, [0, 0, 0])  # (6.6)


@pytest.mark.inventory("BL-41", "BL-42", "XX-07")
def test_multipliers_of_the_rolling_disk_are_6_12_corrected():
    v1, v2, v3, v4, v5, v6 = V
    tan = sp.tan(THETA)
    system = library.rolling_disk("dependent")
    form = system.derive()
    mu1, mu2 = 2 * M * J / (K + 2 * J), M * J / (K + J)
    expected = -sp.Matrix(
        [
            mu1 * v5 * (v2 * tan - v3),
            M * (v4 * v3 - v5 * v1 * tan - G_ * C),
            mu2 * (v5 * v1 - v4 * v2 - G_ * S - R * v5 * (v5 * tan - 2 * v6)),
        ]
    )
    assert_equal(form.multipliers, expected)
    # (6.13): along ξ, η, ζ at the centre, and what moments they have about it
    l1, l2, l3 = expected
    assert_equal(form.constraint_force, [l1, l2, l3, -R * l3, 0, R * l1])
    state = library.states("rolling_disk", np.random.default_rng(2), 20)
    assert_same_numbers(form, system, state, ("acceleration", "constraint_force", "multipliers"))


def disk_from_its_energy():
    """Five coordinates (x_P, y_P, φ, θ, ψ) on a smooth plane, by Lagrange."""

    def kinetic(q, v, p):
        _, _, phi, theta, _ = q
        x_dot, y_dot, phi_dot, theta_dot, psi_dot = v
        s, c, sp_, cp = np.sin(theta), np.cos(theta), np.sin(phi), np.cos(phi)
        # G = P + rη, η = (−sin θ sin φ, sin θ cos φ, cos θ)
        centre = [
            x_dot - p.r * (c * theta_dot * sp_ + s * cp * phi_dot),
            y_dot + p.r * (c * theta_dot * cp - s * sp_ * phi_dot),
            -p.r * s * theta_dot,
        ]
        turn = [-theta_dot, phi_dot * c, psi_dot + phi_dot * s]
        moving = p.m * sum(x**2 for x in centre)
        return (moving + p.J * (turn[0] ** 2 + turn[1] ** 2 + 2 * turn[2] ** 2)) / 2

    return zw.System.from_lagrangian(
        coordinates=["x_P", "y_P", "phi", "theta", "psi"],
        parameters={"m": 1.2, "r": 0.5, "J": 0.1, "g": 9.81},
        T=kinetic,
        V=lambda q, p: p.m * p.g * p.r * np.cos(q[3]),
        constraints={
            "roll_x": zw.velocity(lambda q, v, p: v[0] + p.r * v[4] * np.cos(q[2])),
            "roll_y": zw.velocity(lambda q, v, p: v[1] + p.r * v[4] * np.sin(q[2])),
        },
    )


def rolling_6_27_and_6_28():
    w1, w2, w3 = symbols("phi_dot theta_dot psi_dot")
    mass = sp.Matrix(
        [
            [(K + J) * S**2 + J, 0, (K + 2 * J) * S],
            [0, K + J, 0],
            [(K + 2 * J) * S, 0, K + 2 * J],
        ]
    )
    force = sp.Matrix(
        [
            -2 * (K + J) * w1 * w2 * S * C - 2 * J * w2 * w3 * C,
            (K + J) * w1**2 * S * C + (K + 2 * J) * w1 * w3 * C + M * G_ * R * S,
            -2 * (K + J) * w1 * w2 * C,
        ]
    )
    return mass, force


@pytest.mark.inventory("BL-44", "BL-46", "BL-48")
def test_reduced_rolling_disk_is_6_27_and_6_28_corrected():
    w1, w2, w3 = symbols("phi_dot theta_dot psi_dot")
    sf, cf = sp.sin(PHI), sp.cos(PHI)
    form = disk_from_its_energy().derive()
    # (6.17), and (6.18) with its fourth row corrected
    mr = M * R
    assert_equal(
        form.M,
        [
            [M, 0, -mr * S * cf, -mr * C * sf, 0],
            [0, M, -mr * S * sf, mr * C * cf, 0],
            [-mr * S * cf, -mr * S * sf, (K + J) * S**2 + J, 0, 2 * J * S],
            [-mr * C * sf, mr * C * cf, 0, K + J, 0],
            [0, 0, 2 * J * S, 0, 2 * J],
        ],
    )
    assert_equal(
        form.Q,
        [
            -mr * ((w1**2 + w2**2) * S * sf - 2 * w1 * w2 * C * cf),
            mr * ((w1**2 + w2**2) * S * cf + 2 * w1 * w2 * C * sf),
            -2 * (K + J) * w1 * w2 * S * C - 2 * J * w3 * w2 * C,
            (K - J) * w1**2 * S * C + 2 * J * w1 * (w3 + w1 * S) * C + M * G_ * R * S,
            -2 * J * w1 * w2 * C,
        ],
    )
    assert_equal(form.A, [[1, 0, 0, 0, R * cf], [0, 1, 0, 0, R * sf]])  # (6.22)
    assert_equal(form.b, [R * w1 * w3 * sf, -R * w1 * w3 * cf])  # minus (6.23)
    # (6.24): u = Dᵀω
    D = sp.Matrix([[0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [-R * cf, -R * sf, 0, 0, 1]])
    omega = sp.Matrix([w1, w2, w3])
    D_dot = D.diff(PHI) * w1
    mass, force = rolling_6_27_and_6_28()
    assert_equal(D * form.M * D.T, mass)  # (6.27)
    assert_equal(D * (form.Q - form.M * D_dot.T * omega), force)  # (6.28)
    turning = form.acceleration[2:, :]
    assert_equal(mass * turning, force)  # (6.26)
    assert_equal([turning[0] * C], [-2 * w2 * w3])


@pytest.mark.inventory("BL-48")
def test_disk_in_independent_velocities_is_solved_to_the_same():
    form = library.rolling_disk("velocities").derive()
    mass, force = rolling_6_27_and_6_28()
    rates = dict(zip(symbols("phi_dot theta_dot psi_dot"), symbols("omega1:4"), strict=True))
    assert_equal(form.M, mass)
    assert_equal(form.Q, force.subs(rates))
    assert_equal(mass * form.acceleration, force.subs(rates))
    cf, sf, w3 = sp.cos(PHI), sp.sin(PHI), sp.Symbol("omega3")
    kinematics = {e.lhs.name: e.rhs for e in form.equations()[:5]}
    assert kinematics["x_P_dot"] == -R * w3 * cf  # (6.29)
    assert kinematics["y_P_dot"] == -R * w3 * sf


@pytest.mark.inventory("BL-47", "BL-48", "BL-49")
def test_reduction_by_6_25_derives_6_27_and_6_28_corrected():
    disk = disk_from_its_energy().reduce(
        velocities=["omega1", "omega2", "omega3"],
        map=lambda q, u, p: [*(-p.r * u[2] * f(q[2]) for f in (np.cos, np.sin)), *u],
    )
    form = disk.derive()
    mass, force = rolling_6_27_and_6_28()
    rates = dict(zip(symbols("phi_dot theta_dot psi_dot"), symbols("omega1:4"), strict=True))
    assert_equal(form.M, mass)
    assert_equal(form.Q, force.subs(rates))


def test_reduced_pendulum_is_the_textbook_one():
    system = pendulum({"rod": zw.position(rod)})
    by_angle = system.reduce(["s"], map=lambda s, p: [p.L * np.sin(s[0]), -p.L * np.cos(s[0])])
    g, L, s, x, y, u = symbols("g L s x y x_dot")
    assert by_angle.derive().acceleration[0] == -g * sp.sin(s) / L
    by_x = system.reduce(velocities=["x_dot"]).derive()
    assert [e.lhs.name for e in by_x.equations(solved=True)] == ["y_dot", "x_ddot"]
    assert is_zero(by_x.equations()[0].rhs + x * u / y)
    assert by_x.names.latex[by_x.names.accelerations[0]] == r"\ddot{x}"


@pytest.mark.inventory("BL-45")
def test_normal_force_of_the_sliding_disk_is_6_19_corrected():
    w1, w2, w3 = symbols("phi_dot theta_dot psi_dot")
    form = library.sliding_disk("dependent").derive()
    expected = M * J / (J + K * S**2)
    expected *= G_ - R * w2**2 * C - R * w1 * S * C * (2 * w3 + w1 * S)
    # v4 = −θ̇, v5 = φ̇ cos θ, v6 = ψ̇ + φ̇ sin θ, (6.3)
    rates = {V[3]: -w2, V[4]: w1 * C, V[5]: w3 + w1 * S}
    assert_equal(form.multipliers.subs(rates), [expected])


# --- other systems -------------------------------------------------------------------------------

SMALL = {
    "kepler_ellipse": {},
    "constant_speed_particle": {},
    "appell_hamel": {},
    "knife_edge": {},
    "chaplygin_sleigh": {},
    "three_mass_chain": {},
    "rolling_disk": {"form": "inertial"},
}


@pytest.mark.parametrize(
    ("name", "use_constraints"),
    [(name, False) for name in SMALL] + [(name, True) for name in SMALL if name != "rolling_disk"],
)
def test_closed_forms_of_the_library_equal_its_numbers(name, use_constraints):
    system = getattr(library, name)(**SMALL[name])
    form = system.derive(use_constraints=use_constraints)
    state = library.states(name, np.random.default_rng(3), 20, **SMALL[name])
    assert_same_numbers(form, system, state, ("acceleration", "constraint_force", "multipliers"))
    terms = system.terms(state)
    for letter, expected in (("M", terms.mass_matrix), ("A", terms.constraint_matrix)):
        np.testing.assert_allclose(form.at(letter, state), expected, atol=TOLERANCE)
    np.testing.assert_allclose(form.at("Q", state), terms.applied_force, atol=TOLERANCE)
    np.testing.assert_allclose(form.at("b", state), terms.constraint_rhs, atol=TOLERANCE)


def test_closed_forms_of_textbooks_come_out_as_printed_there():
    g, kappa, m, z_dot = symbols("g kappa m z_dot")
    machine = library.appell_hamel().derive(use_constraints=True)
    assert machine.acceleration[2] == -g / (kappa**2 + 1)
    assert machine.multipliers[0] == -g * m / (z_dot * (kappa**2 + 1))
    k2, x2 = symbols("k2 x2")
    chain = library.two_mass_chain().derive()  # singular mass matrix
    assert chain.multipliers[0] == k2 * x2
    J1, J2, J3, w1, w2, w3 = symbols("J1 J2 J3 omega1 omega2 omega3")
    euler = library.rotating_body("velocities").derive(parameters={"J": sp.diag(J1, J2, J3)})
    assert_equal(
        euler.acceleration,
        [w2 * w3 * (J2 - J3) / J1, w3 * w1 * (J3 - J1) / J2, w1 * w2 * (J1 - J2) / J3],
    )


def test_double_pendulum_in_absolute_angles_is_the_textbook_one():
    """Sums of angles that were expanded on the way come back: everything is in a − b."""
    form = zw.System.from_lagrangian(
        ["a", "b"],
        parameters={"m1": 1.0, "m2": 1.0, "l1": 1.0, "l2": 1.0, "g": 9.81},
        T=lambda q, v, p: (
            0.5 * (p.m1 + p.m2) * p.l1**2 * v[0] ** 2
            + 0.5 * p.m2 * p.l2**2 * v[1] ** 2
            + p.m2 * p.l1 * p.l2 * v[0] * v[1] * np.cos(q[0] - q[1])
        ),
        V=lambda q, p: (
            -(p.m1 + p.m2) * p.g * p.l1 * np.cos(q[0]) - p.m2 * p.g * p.l2 * np.cos(q[1])
        ),
    ).derive()
    m1, m2, l1, l2, g, a, b, va, vb = symbols("m1 m2 l1 l2 g a b a_dot b_dot")
    d, below = sp.sin(a - b), m1 + m2 * sp.sin(a - b) ** 2
    inner = va**2 * l1 * sp.cos(a - b) + vb**2 * l2 + g * sp.cos(b)
    first, second = form["acceleration"]
    assert first == (-g * m1 * sp.sin(a) - m2 * inner * d) / (l1 * below)
    assert second.count_ops() <= 40


def pendulum(constraints, **more):
    return zw.System(
        coordinates=["x", "y"],
        parameters={"m": 2.0, "g": 9.81, "L": 1.5, **more.pop("parameters", {})},
        mass=lambda p: p.m * np.eye(2),
        force=lambda p: [0.0, -p.m * p.g],
        constraints=constraints,
        **more,
    )


def rod(q, p):
    return q @ q - p.L**2


def test_repeated_rows_share_their_force_by_least_norm_and_are_named():
    single = pendulum({"rod": zw.position(rod)}).derive()
    system = pendulum({"rod": zw.position(rod), "strap": zw.position(lambda q, p: 3 * rod(q, p))})
    form = system.derive()
    assert_equal(form.acceleration, single.acceleration)
    assert_equal(form.constraint_force, single.constraint_force)
    assert_equal(form.multipliers, [single.multipliers[0] / 10, 3 * single.multipliers[0] / 10])
    assert form.notes == (
        "row follows from the others: strap; multipliers are the least-norm ones",
    )
    assert str(form).endswith(form.notes[0])
    assert_same_numbers(form, system, system.assemble(prefer={"x": 1.0}), ("multipliers",))


def test_rows_whose_values_contradict_each_other_are_not_said_to_follow():
    """Two circles of different size have equal accelerations, and no state on both."""
    far = zw.position(lambda q, p: q @ q - 4 * p.L**2)
    form = pendulum({"rod": zw.position(rod), "far": far}).derive()
    contradiction, row = form.notes
    assert contradiction.startswith("rod and far contradict each other at all states that were")
    assert row.startswith("row follows, at the level of accelerations alone, from the others: far;")


def test_contradicting_constraints_with_independent_rows_are_named():
    form = pendulum({"rod": zw.position(rod), "wall": zw.position(lambda q: q[0] - 3)}).derive()
    (note,) = form.notes
    assert note.startswith("rod and wall contradict each other")


def test_contradicting_joints_of_a_mechanism_are_named():
    def on_links(length):
        m = zw.Mechanism(plane="xz", gravity=(0, 0, -9.81))
        ball = m.body("ball", mass=1.0, inertia=0.1, position=(1, 0))
        m.spherical_link("rod", m.ground, ball, at=((0, 0), (1, 0)))
        m.spherical_link("other", m.ground, ball, at=((0, 0), (1, 0)), length=length)
        return m.derive().notes

    agreeing, contradicting = on_links(1.0), on_links(2.0)
    assert agreeing == ("row follows from the others: other; multipliers are the least-norm ones",)
    assert contradicting[0].startswith("rod and other contradict each other")
    assert contradicting[1].startswith("row follows, at the level of accelerations alone, from")


def test_rows_that_depend_on_the_constraints_only_are_found_too():
    other = zw.position(lambda q, p: (q @ q) ** 2 + q[0] * rod(q, p) - p.L**4)
    system = pendulum({"rod": zw.position(rod), "other": other})
    form = system.derive()
    single = pendulum({"rod": zw.position(rod)}).derive()
    assert_equal(form.acceleration, single.acceleration)
    state = system.assemble(prefer={"x": 1.0, "y": -1.0})
    assert_same_numbers(form, system, state, ("acceleration", "constraint_force", "multipliers"))


def test_independent_rows_are_the_first_ones():
    A = np.array([[[1, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0], [0, 0, 1]]], float)
    assert independent_rows(A) == [0, 2, 5]


def test_drag_along_a_constraint_appears_as_C():
    drag, x_dot, y_dot = symbols("drag x_dot y_dot")
    system = pendulum(
        {"rod": zw.position(rod)},
        parameters={"drag": 0.3},
        nonideal={"rod": lambda v, p: -p.drag * v},
    )
    form = system.derive(use_constraints=True)
    assert_equal(form.C, [-drag * x_dot, -drag * y_dot])
    state = system.assemble(prefer={"x": 1.0}, velocity={"prefer": {"x_dot": 1.0}})
    assert_same_numbers(form, system, state, ("acceleration", "constraint_force", "multipliers"))


def ramp(law):
    return zw.System(
        coordinates=["x", "y"],
        parameters={"m": 2.0, "g": 9.81, "mu": 0.2},
        mass=lambda p: p.m * np.eye(2),
        force=lambda p: [0.0, -p.m * p.g],
        constraints={"floor": zw.position(lambda q: q[1])},
        nonideal={"floor": law},
    )


def test_law_linear_in_its_reaction_is_solved():
    mu, g, m, lam = symbols("mu g m lambda_floor")
    system = ramp(lambda p, reaction: [-p.mu * reaction.multipliers[0], 0.0])
    form = system.derive()
    assert_equal(form.C, [-mu * lam, 0])
    assert_equal(form.multipliers, [m * g])
    assert_equal(form.acceleration, [-mu * g, 0])
    assert_equal(form.constraint_force, [-mu * m * g, m * g])


def test_law_not_linear_in_its_reaction_gives_its_terms_only():
    system = ramp(lambda v, p, reaction: [-p.mu * abs(reaction.multipliers[0]) * np.sign(v[0]), 0])
    with pytest.raises(
        NotApplicableError,
        match=r"must have a force C\(q, v, t, p\),.*but does not exist for a non-ideal law",
    ):
        system.derive()
    form = system.derive(solve=False)
    mu, lam, x_dot = symbols("mu lambda_floor x_dot")
    assert form.C[0] == -mu * sp.Abs(lam) * sp.sign(x_dot)


def test_parameters_may_be_replaced_by_numbers_and_expressions():
    system = pendulum({"rod": zw.position(rod)})
    g, h = symbols("g h")
    form = system.derive(parameters={"m": 2, "g": g / h})
    assert 2 * sp.eye(2) == form.M
    assert_equal(form.Q, [0, -2 * g / h])
    with pytest.raises(UnknownNameError, match="Did you mean 'g'"):
        system.derive(parameters={"gg": 1})
    with pytest.raises(InputError, match="shape"):
        system.derive(parameters={"g": [1, 2]})
    with pytest.raises(InputError, match="numbers or SymPy expressions"):
        system.derive(parameters={"g": "h"})


# --- reading -------------------------------------------------------------------------------------


def test_equations_come_unsolved_and_solved():
    form = pendulum({"rod": zw.position(rod)}).derive()
    x, y, u, v, a, b, m, g, lam = symbols("x y x_dot y_dot x_ddot y_ddot m g lambda_rod")
    first, second, third = form.equations()
    assert first == sp.Eq(m * a, 2 * lam * x)
    assert second == sp.Eq(m * b, 2 * lam * y - g * m)
    assert sp.expand(third.lhs - 2 * x * a - 2 * y * b) == 0
    assert sp.expand(third.rhs + 2 * u**2 + 2 * v**2) == 0
    solved = form.equations(solved=True)
    assert [e.lhs for e in solved] == [a, b, lam]
    assert [e.rhs for e in solved] == [*form.acceleration, *form.multipliers]
    assert str(form).splitlines()[0] == f"x_ddot = {form.acceleration[0]}"


def test_latex_has_dots_over_letters_and_greek():
    form = library.rolling_disk("coordinates").derive(solve=False)
    text = form.latex()
    assert r"\dot{x}_{P}" not in text  # rates of P do not appear in these terms
    for part in (r"\dot{\phi}", r"\sin{\left(\theta \right)}", "M &=", "A &=", "b &="):
        assert part in text
    assert "C &=" not in text
    assert form.latex("A") in text
    full = pendulum({"rod": zw.position(rod)}).derive()
    assert r"\ddot{x}" in full.latex()
    assert full.names.latex[sp.Symbol("lambda_rod")] == r"\lambda_{\mathrm{rod}}"
    assert full._repr_latex_().startswith("$\\displaystyle \\begin{aligned}")
    quasi = library.rolling_disk("velocities").derive(solve=False)
    assert r"\omega_{1}" in quasi.latex()
    assert "N &=" in quasi.latex()


def test_names_of_arrays_rows_and_time():
    system = zw.System(
        coordinates=["t", "x_P"],
        parameters={"k": [1.0, 2.0]},
        mass=lambda p: [[p.k[0], 0], [0, p.k[1]]],
        constraints={"pin": zw.position(lambda q, t: [q[0] - t**2, q[1] - np.sin(t)])},
    )
    form = system.derive()
    time = sp.Symbol("time")
    assert form.names.time == time
    assert [s.name for s in form.names.multipliers] == ["lambda_pin_0", "lambda_pin_1"]
    assert form.names.latex[sp.Symbol("lambda_pin_1")] == r"\lambda_{\mathrm{pin},1}"
    assert form.names.latex[sp.Symbol("x_P_ddot")] == r"\ddot{x}_{P}"
    assert_equal(form.acceleration, [2, -sp.sin(time)])
    assert_equal(form.multipliers, [2 * sp.Symbol("k_0"), -sp.Symbol("k_1") * sp.sin(time)])
    assert form.parameters == {"k_0": 1.0, "k_1": 2.0}
    np.testing.assert_allclose(
        form.at("multipliers", [0, 0], t=[0.1, 0.2], parameters={"k_0": 5.0}),
        np.stack([[10.0, 10.0], -2 * np.sin([0.1, 0.2])], axis=-1),
    )
    with pytest.raises(UnknownNameError):
        form.at("b", [0, 0], parameters={"k": 1.0})


def test_unsolved_forms_say_so():
    form = pendulum({"rod": zw.position(rod)}).derive(solve=False)
    with pytest.raises(
        NotApplicableError, match="acceleration is not available, as the terms were not solved"
    ):
        _ = form.acceleration
    with pytest.raises(UnknownNameError, match="quantity"):
        form.latex("W")
    assert str(form).startswith("m*x_ddot = ")


def test_unsimplified_forms_are_the_traced_ones():
    form = library.knife_edge().derive(simplify=False)
    state = library.states("knife_edge", np.random.default_rng(4), 5)
    assert_same_numbers(form, library.knife_edge(), state)


# --- limits and refusals -------------------------------------------------------------------------


def test_systems_too_large_are_refused_with_the_way_out():
    chain = zw.System.from_lagrangian(
        coordinates=[f"a{k}" for k in range(5)],
        parameters={f"l{k}": 1.0 + 0.1 * k for k in range(5)},
        T=lambda q, v, p: (
            sum(
                sum(p[f"l{k}"] * np.cos(q[k]) * v[k] for k in range(n + 1)) ** 2
                + sum(p[f"l{k}"] * np.sin(q[k]) * v[k] for k in range(n + 1)) ** 2
                for n in range(5)
            )
            / 2
        ),
    )
    with pytest.raises(NotApplicableError, match=r"derive\(solve=False\) for the terms alone"):
        chain.derive()
    assert chain.derive(solve=False, simplify=False).M.shape == (5, 5)


def test_opaque_functions_have_no_closed_form():
    table = zw.opaque(lambda x: float(np.interp(x, [0, 1], [0, 1])), name="table")
    system = zw.System(coordinates=["x"], mass=lambda: [[1.0]], force=lambda q: [table(q[0])])
    with pytest.raises(
        InputError,
        match=r"'table' must be traceable for a closed.*but is called numerically and has no",
    ):
        system.derive()


def test_missing_sympy_names_the_extra(monkeypatch):
    system = pendulum({"rod": zw.position(rod)})
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(MissingExtraError, match=r"zwang\[symbolic\]"):
        system.derive()


def test_a_closed_form_that_disagrees_is_not_handed_out(monkeypatch):
    from zwang.closed_form import motion

    def wrong(matrix, vector, algebra, limit):
        return [2 * x for x in right(matrix, vector, algebra, limit)]

    right = motion.product
    monkeypatch.setattr(motion, "product", wrong)
    with pytest.raises(
        NotApplicableError,
        match=r"must agree with the numerical.*but differs by 1\.0e\+00, relative, at a",
    ):
        pendulum({"rod": zw.position(rod)}).derive()


def test_a_notebook_typesets_a_form_and_leaves_out_forces_of_no_constraints():
    system = zw.System.from_lagrangian(
        ["a"], T=lambda v: 0.5 * v[0] ** 2, V=lambda q: -9.81 * np.cos(q[0])
    )
    form = system.derive()
    assert "Q_c" not in form.latex()
    shown = form._repr_html_()  # notebooks prefer it to the plain LaTeX
    assert shown.startswith(r"$\displaystyle \begin{aligned}")
    assert r"\\" in shown
    assert "&amp;=" in shown


def test_latex_tells_parameters_from_matrices_and_keeps_notes():
    """A parameter M beside the mass matrix, and a row given twice."""
    twice = zw.System(
        ["x", "y"],
        parameters={"M": 1.0, "g": 9.81},
        mass=lambda p: p.M * np.eye(2),
        force=lambda p: [0.0, -p.M * p.g],
        constraints={"rod": lambda q: q @ q - 1.0, "rod_b": lambda q: 2.0 * (q @ q) - 2.0},
    )
    text = twice.derive().latex()
    assert r"\mathbf{M} &= " in text
    assert r"\mathbf{Q}_c &=" in text
    assert r"\ddot{x} &= " in text
    assert r"\lambda_{\mathrm{rod}} &= " in text
    assert r"least-norm" in text
    assert r"rod\_b" in text.partition("Note")[2]


def test_latex_without_a_clash_has_plain_letters():
    one = zw.System(["x"], parameters={"m": 1.0}, mass=lambda p: [[p.m]], force=lambda: [1.0])
    text = one.derive().latex()
    assert text.splitlines()[1].startswith("M &= ")
    assert "Note" not in text


def inclined(degrees):
    """A block on a rough ramp."""
    slope = np.radians(degrees)
    along = np.array([np.cos(slope), -np.sin(slope)])
    normal = np.array([np.sin(slope), np.cos(slope)])
    return zw.System(
        ["x", "y"],
        parameters={"m": 3.0, "g": 9.81, "mu": 0.2},
        mass=lambda p: p.m * np.eye(2),
        force=lambda p: [0.0, -p.m * p.g],
        constraints={"ramp": zw.position(lambda q: q @ normal)},
        nonideal={"ramp": lambda p, reaction: -p.mu * reaction.multipliers[0] * along},
    )


def test_functions_of_simple_angles_are_roots_and_others_short_decimals():
    g, mu = sp.symbols("g mu")
    acceleration = inclined(30).derive().acceleration[0]
    assert sp.expand(acceleration - g * (sp.sqrt(3) - 3 * mu) / 4) == 0
    found = inclined(20).derive().acceleration[0]
    expected = g * sp.cos(sp.pi / 9) * (sp.sin(sp.pi / 9) - mu * sp.cos(sp.pi / 9))
    for values in ({g: 9.81, mu: 0.2}, {g: 1.0, mu: 0.9}):
        assert abs(float((found - expected).subs(values))) < 1e-11
    assert len(str(found)) < 50
    assert all(abs(x.p) < 100 and x.q < 100 for x in found.atoms(sp.Rational))


@pytest.mark.parametrize("name", ["lambda_rod", "x_ddot", "t"])
def test_what_is_called_like_a_result_stays_itself(name):
    """λ of the rod, ẍ and t get other letters where a parameter has theirs."""
    s = zw.System(
        ["x", "y"],
        parameters={name: 4.0},
        mass=lambda: np.eye(2),
        force=lambda t: [np.sin(t), -9.81],
        constraints={"rod": lambda q, p: q @ q - getattr(p, name)},
    )
    form = s.derive(use_constraints=True)
    own = [*form.names.multipliers, *form.names.accelerations, form.names.time]
    letter = form.names.parameters[name]
    assert letter.name == name
    assert letter not in own
    assert len(set(own)) == len(own)
    other = {"lambda_rod": "multiplier_rod", "x_ddot": "x_acceleration", "t": "time"}[name]
    assert other in {x.name for x in own}
    assert all(not e.rhs.has(e.lhs) for e in form.equations(solved=True))
    if name == "lambda_rod":
        assert r"\mathrm{multiplier}_{\mathrm{rod}} &=" in form.latex()
    state = s.assemble(hold={"x": 1.2}, velocity={"prefer": {"x_dot": 0.4}}, t=0.3)
    expected = s.solve(state)
    found = form.at("multipliers", state.q, state.v, 0.3)
    assert np.ravel(found) == pytest.approx(expected.multipliers, rel=1e-12)


def test_rows_and_constraints_of_one_name_have_two_multipliers():
    s = zw.System(
        ["x", "y", "z"],
        mass=lambda: np.eye(3),
        constraints={"w": lambda q: [q @ q - 1, q[0] - q[1]], "w_0": lambda q: q[2]},
    )
    names = [x.name for x in s.derive().names.multipliers]
    assert names == ["lambda_w_0", "lambda_w_1", "multiplier_w_0"]


def test_letters_of_coordinates_do_not_replace_parameters():
    s = zw.System(["x"], parameters={"k": 4.0}, mass=np.eye(1), force=lambda q, p: [-p.k * q[0]])
    with pytest.raises(zw.InputError, match="x_dot is a coordinate or velocity"):
        s.derive(parameters={"k": sp.Symbol("x_dot")})


def test_constraints_that_agree_on_themselves_alone_are_told_how_to_be_derived():
    """A ball that rolls on a surface and is held to it: the two agree on the surface alone."""
    m = zw.Mechanism(gravity=(0, 0, -9.81))
    radius = 0.1
    v = np.array([0.1, 0.2, 0.06])
    ball = m.body(
        "ball",
        mass=1.0,
        inertia=(0.004, 0.004, 0.004),
        position=(0.2, 0.1, 0.02),
        velocity=tuple(v),
        free=True,
    )

    def surface(bodies):
        x, _, z = bodies[0].position
        return z - 0.5 * x**2

    def roll(bodies):
        one = bodies[0]
        x, _, _ = one.position
        normal = np.array([-x, 0.0 * x, 1.0 + 0.0 * x]) / np.sqrt(1.0 + x**2)
        return one.velocity - radius * np.cross(one.angular_velocity, normal)

    m.constraint("surface", [ball], surface)
    m.constraint("roll", [ball], roll)
    with pytest.raises(NotApplicableError, match="which are off the constraints") as caught:
        m.derive(seconds=60)
    assert "surface and roll contradict each other" in str(caught.value)
    assert "derive(use_constraints=True)" in str(caught.value)
    form = m.derive(use_constraints=True, simplify=False, seconds=120)
    assert len(form.acceleration) == 6


def test_help_on_quantities_names_what_there_is():
    from zwang.closed_form.closed_form import ClosedForm

    told = re.findall(r"`(\w+)`", ClosedForm.quantities.__doc__)
    assert told
    assert all(hasattr(ClosedForm, name) for name in told)


def hung(rod):
    """A particle on a rod of length R."""
    return zw.System(
        ["x", "y", "z"],
        parameters={"m": 1.0, "g": 9.81, "R": 1.0},
        mass=lambda p: p.m * np.eye(3),
        force=lambda p: [0, 0, -p.m * p.g],
        constraints={"rod": rod},
    )


def test_a_length_written_with_its_root_shortens_as_its_square_does():
    square = hung(lambda q, p: q @ q - p.R**2).derive(use_constraints=True)
    system = hung(lambda q, p: np.sqrt(q @ q) - p.R)
    root = system.derive(use_constraints=True)
    assert root.acceleration == square.acceleration
    m, g, R, z, u, v, w = symbols("m g R z x_dot y_dot z_dot")
    assert is_zero(root.multipliers[0] - m * (g * z - u**2 - v**2 - w**2) / R)
    for k in range(3):
        place = np.random.default_rng(k).normal(size=3)
        state = system.assemble(prefer=dict(zip("xyz", place, strict=True)))
        expected = system.solve(state)
        assert np.abs(root.at("acceleration", state) - expected.acceleration).max() < 1e-12
        assert np.abs(root.at("multipliers", state) - expected.multipliers).max() < 1e-12


def test_coordinates_that_are_functions_of_time_are_put_in_where_that_is_shorter():
    system = zw.System(
        ["a", "b"],
        parameters={"J": 2.0, "m": 1.5},
        mass=lambda q, p: np.array(
            [[p.J + p.m * np.sin(q[1]) ** 2, p.m * np.cos(q[1])], [p.m * np.cos(q[1]), p.m]]
        ),
        constraints={"motor": lambda q, t: np.sin(q[0] - t**2)},
    )
    form = system.derive(use_constraints=True)
    t = symbols("t")
    assert form.acceleration[0] == 2
    assert is_zero(form.acceleration[1] + 2 * sp.cos(symbols("b")))
    q, v = np.array([0.49, 0.3]), np.array([1.4, -0.8])
    expected = system.solve(q, v, 0.7)
    for name in ("acceleration", "constraint_force", "multipliers"):
        assert np.abs(form.at(name, q, v, 0.7) - getattr(expected, name)).max() < 1e-12
    assert not form.multipliers.has(t)


def test_one_of_several_values_that_a_constraint_allows_is_noted():
    """Half a turn from the one that was put in, the formulas were wrong without a word."""
    system = zw.System(
        ["a", "b"],
        mass=np.eye(2),
        force=lambda q: [0.0, np.exp(np.cos(q[0]))],
        constraints={"stop": lambda q: np.sin(q[0])},
    )
    form = system.derive(use_constraints=True)
    (note,) = form.notes
    assert note.startswith("these formulas hold for a = 0, and not for other values")
    q, v = np.array([np.pi, 0.2]), np.zeros(2)
    expected = system.solve(q, v).acceleration
    plain = system.derive()
    assert not plain.notes
    assert np.allclose(plain.at("acceleration", q, v), expected, rtol=1e-13, atol=1e-15)
    assert not np.allclose(form.at("acceleration", q, v), expected, rtol=0.1)
    linear = zw.System(["a"], mass=[[1.0]], constraints={"stop": lambda q, t: q[0] - t})
    assert not linear.derive(use_constraints=True).notes
