"""The disk of Blajer (1992), section 6, in all its forms, and the equations as corrected."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp
from derived_by_sympy import (
    COUNT,
    Derivation,
    assert_close,
    assert_consistent,
    assert_same_motion,
)

from zwang import library
from zwang.library import disk_equations as de
from zwang.library.disk import ROLLING_FORMS, SLIDING_FORMS

P = {"m": 1.3, "r": 0.6, "J": 0.2, "g": 9.4}  # J differs from mr²/4 on purpose
m, r, J, g = P.values()
k = m * r**2


def frame(phi, theta):
    """ξ, η, ζ as columns."""
    xi = sp.Matrix([sp.cos(phi), sp.sin(phi), 0])
    eta = sp.Matrix([-sp.sin(theta) * sp.sin(phi), sp.sin(theta) * sp.cos(phi), sp.cos(theta)])
    return sp.Matrix.hstack(xi, eta, xi.cross(eta))


@cache
def spin():
    """Angular velocity along axes fixed in the disk, from RᵀṘ; and its symbols."""
    angles, rates = sp.symbols("phi theta psi"), sp.symbols("dphi dtheta dpsi")
    cos, sin = sp.cos(angles[2]), sp.sin(angles[2])
    R = frame(*angles[:2]) * sp.Matrix([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])
    R_dot = sum((R.diff(x) * rate for x, rate in zip(angles, rates, strict=True)), sp.zeros(3))
    S = R.T * R_dot
    return [sp.simplify(x) for x in (S[2, 1], S[0, 2], S[1, 0])], (*angles, *rates)


def disk_energy(q, w, t, p):
    """From the place of the centre and from the disk's own angular velocity."""
    place = sp.Matrix(q[:3] if len(q) == 6 else (*q[:2], 0))
    centre = place + p.r * frame(q[-3], q[-2])[:, 1]
    velocity = centre.jacobian(q) * sp.Matrix(w)
    omega, symbols = spin()
    here = dict(zip(symbols, (*q[-3:], *w[-3:]), strict=True))
    first, second, third = (x.xreplace(here) for x in omega)
    turning = p.J * (first**2 + second**2) + 2 * p.J * third**2
    return (p.m * velocity.dot(velocity) + turning) / 2


def disk_potential(q, t, p):
    height, theta = (q[2], q[4]) if len(q) == 6 else (0, q[3])
    return p.m * p.g * (height + p.r * sp.cos(theta))


def velocities_in_words(q, w, p):
    """v as the paper says: velocity of G, angular velocity of the disk, along ξ, η, ζ."""
    axes = frame(q[3], q[4])
    centre = sp.Matrix(q[:3]) + p.r * axes[:, 1]
    velocity = axes.T * centre.jacobian(q) * sp.Matrix(w)
    axes_dot = sum((axes.diff(x) * x_dot for x, x_dot in zip(q, w, strict=True)), sp.zeros(3))
    S = axes.T * axes_dot
    omega = sp.Matrix([S[2, 1], S[0, 2], S[1, 0] + w[5]])  # the disk spins by ψ̇ about ζ
    return sp.Matrix.vstack(velocity, omega)


def kinematics(q, p):
    """A of (6.2), corrected; the test of its inverse is below."""
    s, c, t, r = sp.sin(q[4]), sp.cos(q[4]), sp.tan(q[4]), p.r
    sp_, cp = sp.sin(q[3]), sp.cos(q[3])
    return sp.Matrix(
        [
            [cp, -s * sp_, c * sp_, -r * c * sp_, r * t * cp, 0],
            [sp_, s * cp, -c * cp, r * c * cp, r * t * sp_, 0],
            [0, c, s, -r * s, 0, 0],
            [0, 0, 0, 0, 1 / c, 0],
            [0, 0, 0, -1, 0, 0],
            [0, 0, 0, 0, -t, 1],
        ]
    )


def rolling(q, w, t, p):
    """(6.1a, b) in rates of the coordinates."""
    phi, psi_dot = (q[3], w[5]) if len(q) == 6 else (q[2], w[4])
    return [w[0] + p.r * psi_dot * sp.cos(phi), w[1] + p.r * psi_dot * sp.sin(phi)]


CONTACT = [
    ("velocity", lambda q, v, t, p: [v[0] + p.r * v[5], v[1], v[2] - p.r * v[3]]),
]
PLANE = [("position", lambda q, v, t, p: q[2])]
ROLL = [("rate", rolling)]


def compare(name, form, constraints, N=None):
    derivation = Derivation(
        6 if form in ("dependent", "inertial") else 5,
        P,
        disk_energy,
        V=disk_potential,
        N=N,
        constraints=constraints,
    )
    system = getattr(library, name)(form)
    state = library.states(name, np.random.default_rng(21), COUNT, form=form, r=r)
    assert_consistent(system, state, P)
    expected = derivation.at(state, P)
    assert_same_motion(system, state, P, expected)
    kinetic, potential = system.energy(state, parameters=P)
    assert_close(kinetic, 0.5 * np.einsum("ki,kij,kj->k", state.v, expected.M, state.v))
    lean = state.q[:, -2]
    assert_close(potential, m * g * r * np.cos(lean))


@pytest.mark.inventory("BL-34", "BL-35", "BL-36", "BL-37", "BL-38", "BL-39")
def test_dependent_form_equals_lagranges_equations_in_quasi_velocities():
    compare("rolling_disk", "dependent", CONTACT, kinematics)


@pytest.mark.inventory("BL-35")
def test_inertial_form_equals_lagranges_equations_in_quasi_velocities():
    compare("rolling_disk", "inertial", [*ROLL, *PLANE], kinematics)


@pytest.mark.inventory("BL-46")
def test_five_coordinates_with_rolling_equal_lagranges_equations():
    compare("rolling_disk", "coordinates", ROLL)


@pytest.mark.inventory("BL-47", "BL-48")
def test_three_quasi_velocities_equal_the_projected_lagranges_equations():
    def directions(q, p):
        heading = sp.Matrix([-p.r * sp.cos(q[2]), -p.r * sp.sin(q[2]), 0, 0, 1])
        return sp.Matrix.hstack(*(sp.eye(5)[:, k] for k in (2, 3)), heading)

    compare("rolling_disk", "velocities", [], directions)


@pytest.mark.inventory("BL-43")
def test_smooth_plane_in_quasi_velocities_equals_lagranges_equations():
    compare("sliding_disk", "dependent", PLANE, kinematics)


@pytest.mark.inventory("BL-44")
def test_smooth_plane_in_five_coordinates_equals_lagranges_equations():
    compare("sliding_disk", "coordinates", [])


# ------------------------------------------------------------------- equations of the paper by hand


def at(name, form):
    state = library.states(name, np.random.default_rng(22), COUNT, form=form, r=r)
    return state, getattr(library, name)(form).solve(state, parameters=P)


def columns(*entries):
    return np.stack(np.broadcast_arrays(*entries), axis=-1)


@pytest.mark.inventory("BL-36")
def test_kinematic_matrices_are_inverse_with_the_corrected_entries():
    # (6.2), (6.3): A₂ with −tan θ, A₃ with −r sin θ, B₃ = −B₁A₃B₂
    for phi, theta in np.random.default_rng(3).uniform(-1.2, 1.2, (20, 2)):
        A, B = de.kinematics(phi, theta, r), de.inverse_kinematics(phi, theta, r)
        np.testing.assert_allclose(A @ B, np.eye(6), atol=1e-14)
        A1, A3, B1, B2, B3 = A[:3, :3], A[:3, 3:], B[:3, :3], B[3:, 3:], B[:3, 3:]
        np.testing.assert_allclose(B1, A1.T, atol=1e-15)
        np.testing.assert_allclose(B3, -B1 @ A3 @ B2, atol=1e-14)
        assert A[5, 4] == -np.tan(theta)
        assert A[2, 3] == -r * np.sin(theta)


@pytest.mark.inventory("BL-34", "BL-36")
def test_quasi_velocities_are_what_the_paper_says_in_words():
    q, w, p = sp.symbols("q0:6"), sp.symbols("w0:6"), SimpleNamespace(r=sp.Symbol("r"))
    derived = sp.lambdify([q, w, p.r], velocities_in_words(q, w, p))
    generator = np.random.default_rng(4)
    for _ in range(20):
        place, rate = generator.uniform(-1.2, 1.2, (2, 6))
        v = derived(place, rate, r)[:, 0]
        np.testing.assert_allclose(de.inverse_kinematics(*place[3:5], r) @ rate, v, atol=1e-14)


@pytest.mark.inventory("BL-37", "BL-38", "BL-39")
def test_terms_of_the_dependent_form():
    # (6.6)–(6.10)
    state, s = at("rolling_disk", "dependent")
    C = [[1, 0, 0, 0, 0, r], [0, 1, 0, 0, 0, 0], [0, 0, 1, -r, 0, 0]]
    D = [[-r, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 0], [0, 0, r, 1, 0, 0]]
    assert_close(s.terms.constraint_matrix, np.broadcast_to(C, (COUNT, 3, 6)))
    assert_close(s.terms.constraint_rhs, np.zeros((COUNT, 3)))
    np.testing.assert_allclose(np.array(C) @ np.transpose(D), 0, atol=1e-15)
    M = np.diag([m, m, m, J, J, 2 * J])
    assert_close(s.terms.mass_matrix, np.broadcast_to(M, (COUNT, 6, 6)))
    v1, v2, v3, v4, v5, v6 = state.v.T
    theta = state.q[:, 4]
    tan = np.tan(theta)
    h = columns(
        m * v5 * (v2 * tan - v3),
        m * (v4 * v3 - v5 * v1 * tan - g * np.cos(theta)),
        m * (v5 * v1 - v4 * v2 - g * np.sin(theta)),
        J * v5 * (v5 * tan - 2 * v6),
        J * v4 * (2 * v6 - v5 * tan),
        0.0,
    )
    assert_close(s.terms.applied_force, h)


@pytest.mark.inventory("BL-40", "BL-41", "BL-42")
def test_tangent_projection_and_multipliers_of_the_dependent_form():
    # (6.11), (6.12), (6.13), corrected
    state, s = at("rolling_disk", "dependent")
    v1, v2, v3, v4, v5, v6 = state.v.T
    a1, _, a3, a4, a5, a6 = s.acceleration.T
    theta = state.q[:, 4]
    sin, cos, tan = np.sin(theta), np.cos(theta), np.tan(theta)
    assert_close(-m * r * a1 + 2 * J * a6, -m * r * v5 * (v2 * tan - v3))
    assert_close(J * a5, J * v4 * (2 * v6 - v5 * tan))
    right = m * r * (v5 * v1 - v4 * v2 - g * sin) + J * v5 * (v5 * tan - 2 * v6)
    assert_close(m * r * a3 + J * a4, right)
    mu1, mu2 = 2 * m * J / (k + 2 * J), m * J / (k + J)
    lam = -columns(
        mu1 * v5 * (v2 * tan - v3),
        m * (v4 * v3 - v5 * v1 * tan - g * cos),
        mu2 * (v5 * v1 - v4 * v2 - g * sin - r * v5 * (v5 * tan - 2 * v6)),
    )
    assert_close(s.multipliers, lam)
    zero = np.zeros(COUNT)
    reaction = columns(lam[:, 0], lam[:, 1], lam[:, 2], -r * lam[:, 2], zero, r * lam[:, 0])
    assert_close(s.constraint_force, reaction)


@pytest.mark.inventory("BL-43", "BL-45")
def test_normal_force_on_a_smooth_plane():
    # (6.15), (6.16), (6.19), (6.20), corrected
    state, s = at("sliding_disk", "dependent")
    phi, theta = state.q[:, 3], state.q[:, 4]
    sin, cos, zero = np.sin(theta), np.cos(theta), np.zeros(COUNT)
    row = columns(zero, cos, sin, -r * sin, zero, zero)
    assert_close(s.terms.constraint_matrix[:, 0], row)
    matrices = np.array([de.kinematics(a, b, r) for a, b in zip(phi, theta, strict=True)])
    rate = np.einsum("kij,kj->ki", matrices, state.v)
    x, y, phi_dot, theta_dot, psi_dot = rate[:, [0, 1, 3, 4, 5]].T
    c0 = theta_dot * (x * np.sin(phi) - y * np.cos(phi))
    assert_close(s.terms.constraint_rhs[:, 0], -c0)
    bracket = g - r * theta_dot**2 * cos - r * phi_dot * sin * cos * (2 * psi_dot + phi_dot * sin)
    normal = m * J / (J + k * sin**2) * bracket
    assert_close(s.multipliers[:, 0], normal)
    assert_close(s.constraint_force, normal[:, None] * row)


@pytest.mark.inventory("BL-43", "BL-44")
def test_first_stage_is_the_projection_of_the_free_disk():
    # (6.14)–(6.18): M_d = B̃ᵀMB̃ and the same motion as with the constraint kept
    q, s = at("sliding_disk", "coordinates")
    _, full = at("sliding_disk", "dependent")
    M = np.diag([m, m, m, J, J, 2 * J])
    for state, mass in zip(q.q, s.terms.mass_matrix, strict=True):
        B = np.delete(de.inverse_kinematics(state[2], state[3], r), 2, axis=1)
        np.testing.assert_allclose(mass, B.T @ M @ B, atol=1e-13)
    phi_dot, _, psi_dot = q.v[:, 2:].T
    sin, cos = np.sin(q.q[:, 3]), np.cos(q.q[:, 3])
    fourth = (
        (k - J) * phi_dot**2 * sin * cos
        + 2 * J * phi_dot * (psi_dot + phi_dot * sin) * cos
        + m * g * r * sin
    )
    assert_close(s.terms.applied_force[:, 3], fourth)
    # The states are drawn alike; θ̈ = −v̇4 joins the two forms.
    assert_close(s.acceleration[:, 3], -full.acceleration[:, 3])


@pytest.mark.inventory("BL-46")
def test_rows_of_the_second_stage():
    # (6.22), (6.23)
    state, s = at("rolling_disk", "coordinates")
    phi, phi_dot, psi_dot = state.q[:, 2], state.v[:, 2], state.v[:, 4]
    zero, one = np.zeros(COUNT), np.ones(COUNT)
    first = columns(one, zero, zero, zero, r * np.cos(phi))
    second = columns(zero, one, zero, zero, r * np.sin(phi))
    assert_close(s.terms.constraint_matrix, np.stack([first, second], axis=1))
    c0 = r * (phi_dot * psi_dot)[:, None] * columns(-np.sin(phi), np.cos(phi))
    assert_close(s.terms.constraint_rhs, -c0)


@pytest.mark.inventory("BL-47", "BL-48", "XX-07")
def test_final_equations_of_the_second_stage():
    # (6.25)–(6.28), corrected; φ̈ cos θ = −2θ̇ψ̇ follows
    state, s = at("rolling_disk", "velocities")
    theta = state.q[:, 3]
    sin, cos, zero = np.sin(theta), np.cos(theta), np.zeros(COUNT)
    w1, w2, w3 = state.v.T
    M = np.stack(
        [
            columns((k + J) * sin**2 + J, zero, (k + 2 * J) * sin),
            columns(zero, k + J, zero),
            columns((k + 2 * J) * sin, zero, k + 2 * J),
        ],
        axis=1,
    )
    h = columns(
        -2 * (k + J) * w1 * w2 * sin * cos - 2 * J * w2 * w3 * cos,
        (k + J) * w1**2 * sin * cos + (k + 2 * J) * w1 * w3 * cos + m * g * r * sin,
        -2 * (k + J) * w1 * w2 * cos,
    )
    assert_close(s.terms.mass_matrix, M)
    assert_close(s.terms.applied_force, h)
    assert_close(s.acceleration[:, 0] * cos, -2 * w2 * w3)
    rate = library.rolling_disk("velocities").position_rate(state, parameters=P)
    roll = -r * w3[:, None] * columns(np.cos(state.q[:, 2]), np.sin(state.q[:, 2]))
    assert_close(rate, np.concatenate([roll, state.v], axis=1))


@pytest.mark.inventory("BL-41", "BL-42", "BL-50", "XX-07")
def test_ground_force_is_the_same_three_ways():
    # (6.12) turned into inertial axes, the multipliers of (6.21), and m(g + z̈_G)
    state, dependent = at("rolling_disk", "dependent")
    _, inertial = at("rolling_disk", "inertial")
    five, coordinates = at("rolling_disk", "coordinates")
    phi, theta = state.q[:, 3], state.q[:, 4]
    axes = np.array([de.kinematics(a, b, r)[:3, :3] for a, b in zip(phi, theta, strict=True)])
    ground = np.einsum("kij,kj->ki", axes, dependent.multipliers)
    assert_close(coordinates.multipliers, ground[:, :2])
    # z_G = r cos θ
    theta_dot, theta_ddot = five.v[:, 3], coordinates.acceleration[:, 3]
    z_ddot = -r * (theta_ddot * np.sin(theta) + theta_dot**2 * np.cos(theta))
    assert_close(ground[:, 2], m * (g + z_ddot))
    assert_close(inertial.multipliers, ground)


@pytest.mark.inventory("BL-48", "BL-50")
def test_all_four_forms_move_alike():
    five, coordinates = at("rolling_disk", "coordinates")
    _, velocities = at("rolling_disk", "velocities")
    _, dependent = at("rolling_disk", "dependent")
    _, inertial = at("rolling_disk", "inertial")
    assert_close(velocities.acceleration, coordinates.acceleration[:, 2:])
    assert_close(inertial.acceleration, dependent.acceleration)
    # v4 = −θ̇, v5 = φ̇ cos θ, v6 = ψ̇ + φ̇ sin θ, differentiated
    (phi, theta, _), (a, b, c) = five.v[:, 2:].T, coordinates.acceleration[:, 2:].T
    sin, cos = np.sin(five.q[:, 3]), np.cos(five.q[:, 3])
    expected = columns(-b, a * cos - phi * theta * sin, c + a * sin + phi * theta * cos)
    assert_close(dependent.acceleration[:, 3:], expected)


@pytest.mark.inventory("XX-07")
def test_disk_standing_upright_and_disk_on_a_steady_circle():
    upright = library.rolling_disk().solve(q=[0, 0, 0, 0.4, 0, 0], parameters=P)
    np.testing.assert_allclose(upright.multipliers, [0, m * g, 0], atol=1e-13)
    # (k + J)φ̇² sin θ + (k + 2J)φ̇ψ̇ + mgr tan θ = 0
    theta, phi_dot = 0.3, 1.7
    psi_dot = -((k + J) * phi_dot**2 * np.sin(theta) + m * g * r * np.tan(theta))
    psi_dot /= (k + 2 * J) * phi_dot
    circle = library.rolling_disk("velocities").solve(
        q=[0, 0, 0.2, theta, 0], v=[phi_dot, 0.0, psi_dot], parameters=P
    )
    np.testing.assert_allclose(circle.acceleration, 0, atol=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_any_radius_mass_and_inertia_will_do(seed):
    """The weight has no moment about the centre: a sum that cancels for some radii only."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        given = {"m": 10 ** rng.uniform(-6, 6), "r": 10 ** rng.uniform(-3, 3)}
        if rng.random() < 0.5:
            given["J"] = given["m"] * given["r"] ** 2 * 10 ** rng.uniform(-3, 1)
        disk = library.rolling_disk(str(rng.choice(ROLLING_FORMS)), **given)
        sliding = library.sliding_disk(str(rng.choice(SLIDING_FORMS)), **given)
        for system in (disk, sliding):
            upright = np.zeros(len(system.coordinates))
            at_rest = np.abs(system.solve(q=upright).acceleration)
            assert at_rest.max() * min(given["r"], 1.0) < 1e-12
